"""The toy experiments of chapter 3: ensembles, places, the law of those left behind, fates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.geometry.separability import serves, silent
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.papers.min2024early import figures, toys
from reluflow.papers.min2024early.setting import separable
from reluflow.papers.min2024early.toys import chance_astray, ensemble, euler, normal_starts
from scipy.integrate import quad

from tests.papers.min2024early.test_lemmas import velocities

# Many networks side by side, against one network at a time.


X = np.array([[1.0, 0.2, 0.8], [0.4, 0.9, 0.9], [-0.8, -0.7, 1.0], [-0.2, -1.1, 0.7]])
Y = np.array([1.0, 1.0, -1.0, -1.0])


def test_as_one_network_at_a_time_by_autograd() -> None:
    W, v = normal_starts(3, 3, 9, 3, 0.4)
    run = ensemble(X, Y, W, v, LOGISTIC, 0.05, [0, 201, 250], 50, euler)
    for k, (w, u) in enumerate(zip(W, v, strict=True)):
        for step in range(250):
            if step % 50 == 0:
                loss = LOGISTIC.value(np.maximum(X @ w.T, 0.0) @ u, Y)
                assert run.loss[step // 50, k] == pytest.approx(float(loss), rel=1e-12)
            dw, du = velocities(w, u, X, Y, 0.0, LOGISTIC)
            w, u = w + 0.05 * dw, u + 0.05 * du
        np.testing.assert_allclose(run.at(250)[0][k], w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(run.at(250)[1][k], u, rtol=1e-9, atol=1e-12)
    dead = np.all(run.at(201)[0] @ X.T <= 0.0, axis=-1)
    assert dead.any()
    assert np.array_equal(run.at(201)[0][dead], run.at(250)[0][dead])
    assert not np.array_equal(run.at(0)[0], run.at(250)[0])
    assert np.array_equal(run.clock, np.arange(0, 251, 50))


def test_order_four_away_from_boundaries() -> None:
    W, v = np.array([[[0.5, 0.6], [0.7, 0.4]]]), np.array([[0.3, 0.8]])
    x, y = np.array([[1.0, 0.1], [0.2, 1.0]]), np.ones(2)
    ends = [ensemble(x, y, W, v, EXPONENTIAL, 2.0 / k, [k]).W for k in (5, 10, 20, 160)]
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert errors[0] > 8.0 * errors[1] > 64.0 * errors[2] > 0.0


def test_refusals() -> None:
    W, v = normal_starts(0, 2, 3, 3, 1.0)
    with pytest.raises(InputError, match="step must be"):
        ensemble(X, Y, W, v, LOGISTIC, 0.0, [5])
    with pytest.raises(ValueError, match="was not recorded"):
        ensemble(X, Y, W, v, LOGISTIC, 0.1, [5]).at(4)


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


def curve(falls: list[tuple[float, float]], width: float) -> np.ndarray:
    t = np.arange(0.0, 1000.0)
    return sum(size / (1.0 + np.exp((t - at) / width)) for at, size in falls)


@pytest.mark.parametrize(
    ("falls", "count"),
    [
        ([(300, 1.0)], 1),
        ([(300, 1.0), (700, 1.0)], 2),
        ([(200, 1.0), (500, 0.5), (800, 1.0)], 3),
        ([(300, 1.0), (700, 0.05)], 1),  # too low
        ([(300, 1.0), (380, 1.0)], 1),  # a shallow valley
        ([(300, 1.0), (460, 1.0)], 2),
    ],
)
def test_falls_are_counted_by_the_rule(falls: list[tuple[float, float]], count: int) -> None:
    found = toys.falls(curve(falls, 20.0))
    assert len(found) == count
    assert len(falls) > 1 or abs(found[0] - falls[0][0]) <= 1


def test_excluded_directions_are_recognised() -> None:
    (test,) = toys.all_arrive_or_die().hypotheses.values()
    X, y = np.array([[1.0, 0.0], [-1.0, 1.0], [-2.0, 0.0]]), np.array([1.0, -1.0, -1.0])
    assert not test({"X": X, "y": y, "w": np.array([-6.0, 2.0])})
    assert test({"X": X, "y": y, "w": np.array([6.0, -2.0])})
    assert test({"X": X, "y": y, "w": np.array([-6.0, 2.1])})


@pytest.mark.parametrize(("n", "mu"), [(2, 0.5), (3, 0.1), (8, 0.02), (1, 0.9)])
def test_regions_are_where_the_cones_are(n: int, mu: float) -> None:
    X, y = separable(n, 2, mu, np.random.default_rng(n)) if n > 1 else toys.FIGURE_7
    turn = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 2000)
    U = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    dead, found = silent(X, U), figures.regions(X, y)
    for name, truth in (("$S_+$", serves(X, y, U) & ~dead), ("$S_{dead}$", dead),
                        ("$S_-$", serves(X, y, U, -1.0) & ~dead)):  # fmt: skip
        arcs = found.get(name, [])
        told = [np.mod(turn - a, 2.0 * np.pi) < b - a for a, b in arcs]
        assert np.array_equal(np.any(told, axis=0) if arcs else 0.0 * turn, truth), name


def test_a_curve_ends_on_the_boundary_whichever_way_its_end_was_rounded() -> None:
    X, y = toys.FIGURE_7
    edge = np.arctan2(X[1, 0], -X[1, 1])  # where <x_2, w> = 0 beside S_dead
    for off in (3e-16, -3e-16, 0.0):
        turn = np.concatenate([np.linspace(edge - 0.5, edge, 20), np.full(10, edge)]) + off
        W = np.stack([np.cos(turn), np.sin(turn)], axis=1)[:, None]
        fig = figures.angles(X, y, np.arange(30.0), W, np.ones((30, 1)), "time")
        (line,) = [line for line in fig.axes[0].lines if len(line.get_xdata()) == 30]
        assert np.isfinite(line.get_ydata()).sum() == 20
