"""The toy experiments of chapter 3: ensembles, places, the law of those left behind, fates."""

import math
from itertools import islice

import numpy as np
import pytest
import torch
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early import figures, mnist, toys
from reluflow.papers.min2024early.toys import chance_astray, ensemble, euler, normal_starts
from scipy.integrate import quad

FORMULAS = {
    EXPONENTIAL.name: lambda q: torch.exp(-q),
    LOGISTIC.name: lambda q: torch.nn.functional.softplus(-q),
    TWICE_LOGISTIC.name: lambda q: 2.0 * torch.nn.functional.softplus(-q),
}


def velocities(
    W: np.ndarray, v: np.ndarray, X: np.ndarray, y: np.ndarray, loss: Loss
) -> tuple[np.ndarray, ...]:
    """-grad L by PyTorch's automatic differentiation of the formulas."""
    weights, outer = torch.tensor(W, requires_grad=True), torch.tensor(v, requires_grad=True)
    f = torch.relu(torch.tensor(X) @ weights.T) @ outer
    L = FORMULAS[loss.name](torch.tensor(y) * f).sum()
    return tuple(-g.numpy() for g in torch.autograd.grad(L, (weights, outer)))


# Many networks side by side, against one network at a time.


X = np.array([[1.0, 0.2, 0.8], [0.4, 0.9, 0.9], [-0.8, -0.7, 1.0], [-0.2, -1.1, 0.7]])
Y = np.array([1.0, 1.0, -1.0, -1.0])


def test_as_one_network_at_a_time() -> None:
    """By the descent of the page `mnist`, whose slope is autograd's."""
    W, v = normal_starts(3, 3, 9, 3, 0.4)
    run, problem = ensemble(X, Y, W, v, LOGISTIC, 0.05, [0, 201, 250], 50, euler), (X, Y, LOGISTIC)
    assert np.array_equal(run.clock, np.arange(0, 251, 50))
    for k, start in enumerate(map(mnist.Neurons, W, v)):
        states = list(islice(mnist.descent(mnist.ShallowLoss(*problem, 1.0), start, 0.05), 251))
        np.testing.assert_allclose(run.loss[:, k], [s.loss for s in states[::50]], rtol=1e-12)
        for step in (0, 201, 250):
            found = mnist.Neurons(*(part[k] for part in run.at(step))).flat
            np.testing.assert_allclose(found, states[step].neurons.flat, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="was not recorded"):
        run.at(4)


def test_order_four_away_from_boundaries() -> None:
    W, v = np.array([[[0.5, 0.6], [0.7, 0.4]]]), np.array([[0.3, 0.8]])
    x, y = np.array([[1.0, 0.1], [0.2, 1.0]]), np.ones(2)
    ends = [ensemble(x, y, W, v, EXPONENTIAL, 2.0 / k, [k]).W for k in (5, 10, 20, 160)]
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert errors[0] > 8.0 * errors[1] > 64.0 * errors[2] > 0.0


# Places, the law and the falls.


def test_places_one_neuron_at_a_time() -> None:
    X, y = toys.FIGURE_6["two and two"]
    W, v = normal_starts(0, 3, 40, 2, 1.0)
    found = toys.places((X, y), W, v)
    for at in np.ndindex(3, 40):
        on, own = [float(x @ W[at]) > 0.0 for x in X], y == np.sign(v[at])
        goal, home = X[own].sum(axis=0), on == own.tolist()
        told = found.live[at], found.arrived[at], found.astray[at]
        assert told == (any(on), home, any(on) and not home)
        cosine = goal @ W[at] / np.linalg.norm(goal) / np.linalg.norm(W[at])
        assert found.aligned[at] == pytest.approx(cosine)


@pytest.mark.parametrize(("tau", "angle"), [(0.5, 1.0), (3.0, 0.1), (7.0, 0.001), (2.0, 0.0)])
def test_the_law_by_quadrature(tau: float, angle: float) -> None:
    C, S = math.cosh(tau), math.sinh(tau)

    def density(t: float) -> float:
        a = math.tan(angle) * (C * math.cos(t) + S * math.sin(t))
        return (1.0 - a / math.hypot(1.0, a)) / (2.0 * math.pi)

    value, _ = quad(density, -math.atan(S / C), math.pi / 2, limit=500, points=[0.0])
    assert chance_astray(tau, angle) == pytest.approx(value, rel=1e-6)


def test_falls_are_counted_by_the_rule() -> None:
    """The fifth set has a fall that is too low, the sixth a shallow valley."""
    for count, *falls in (
        (1, (300, 1.0)), (2, (300, 1.0), (700, 1.0)), (3, (200, 1.0), (500, 0.5), (800, 1.0)),
        (2, (300, 1.0), (460, 1.0)), (1, (300, 1.0), (700, 0.05)), (1, (300, 1.0), (380, 1.0)),
    ):  # fmt: skip
        curves = [size / (1.0 + np.exp((np.arange(1000.0) - at) / 20.0)) for at, size in falls]
        found = toys.falls(np.sum(curves, axis=0))
        assert len(found) == count, falls
        assert len(falls) > 1 or abs(found[0] - falls[0][0]) <= 1


def test_excluded_directions_are_recognised() -> None:
    (test,) = toys.all_arrive_or_die().hypotheses.values()
    X, y = np.array([[1.0, 0.0], [-1.0, 1.0], [-2.0, 0.0]]), np.array([1.0, -1.0, -1.0])
    assert not test({"X": X, "y": y, "w": np.array([-6.0, 2.0])})
    assert test({"X": X, "y": y, "w": np.array([6.0, -2.0])})
    assert test({"X": X, "y": y, "w": np.array([-6.0, 2.1])})


def test_a_curve_ends_on_the_boundary_whichever_way_its_end_was_rounded() -> None:
    X, y = toys.FIGURE_7
    edge = np.arctan2(X[1, 0], -X[1, 1])  # where <x_2, w> = 0 beside S_dead
    for off in (3e-16, -3e-16, 0.0):
        turn = np.concatenate([np.linspace(edge - 0.5, edge, 20), np.full(10, edge)]) + off
        W = np.stack([np.cos(turn), np.sin(turn)], axis=1)[:, None]
        fig = figures.angles(X, y, np.arange(30.0), W, np.ones((30, 1)), "time")
        (line,) = [line for line in fig.axes[0].lines if len(line.get_xdata()) == 30]
        assert np.isfinite(line.get_ydata()).sum() == 20
