"""Theorem 1: times and scales, trajectories against closed forms and a plain integrator."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from reluflow.flows.alignment import Beside, align
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.papers.min2024early import alignment, convergence, setting, theorem_1
from reluflow.papers.min2024early.theorem_1 import enclosed
from scipy.integrate import solve_ivp

from tests.papers.min2024early.test_toys import velocities

PLANE, LABELS = setting.PRINTED["figure-6"].X, setting.PRINTED["figure-6"].y
SIGNS = np.array([1.0, -1.0, 1.0, -1.0])


def test_one_datum_a_label_has_a_closed_form() -> None:
    """z = |w|^2 obeys dz/dt = 2 z e^-z, and L = 2 e^-z: times up to 10^400000."""
    start = convergence.one_against(1)
    each = convergence.follow(start)
    assert each is not None
    expected = (mpmath.ei(0.25) - mpmath.euler - 2 * start.log_eps) / 2
    assert each.fall == pytest.approx(float(expected), rel=1e-5)
    assert each.t_2[1.0] == pytest.approx(each.t_2[-1.0], rel=1e-9)
    falling = each.falling
    for k in (40, 120, 200, -1):
        z = mpmath.mpf(-falling.log_loss[k] + np.log(2.0))
        log_time = float(mpmath.log((mpmath.ei(z) - mpmath.ei(0.25)) / 2))
        assert falling.log_time[k] == pytest.approx(log_time, rel=1e-4, abs=1e-3)
        np.testing.assert_allclose(np.exp(2.0 * falling.R[k]), float(z), rtol=1e-4)
    assert convergence.times_loss(each) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC], ids=lambda loss: loss.name)
def test_against_a_plain_integrator_of_all_weights(loss) -> None:
    """From eps = e^-6, where floats hold the weights, by automatic differentiation."""
    rng = np.random.default_rng(5)
    W0 = convergence.neurons(PLANE, LABELS, SIGNS, rng)
    W0 /= np.linalg.norm(W0, axis=1, keepdims=True)
    W0[2] = [1.0, 2.0]
    each = convergence.begin(setting.Start(PLANE, LABELS, W0, SIGNS, -6.0, loss), t_1=1.0)
    assert each is not None

    def rate(_: float, z: np.ndarray) -> np.ndarray:
        parts = velocities(z[:8].reshape(4, 2), z[8:], PLANE, LABELS, loss)
        return np.concatenate([part.ravel() for part in parts])

    start = np.exp(-6.0) * np.concatenate([W0.ravel(), SIGNS * np.linalg.norm(W0, axis=1)])
    end = solve_ivp(rate, (0.0, each.fall), start, rtol=1e-10, atol=1e-14).y[:, -1]
    moment = each.at(np.array([each.fall]))
    ours = np.exp(moment.R[0])[:, None] * moment.U[0]
    np.testing.assert_allclose(ours, end[:8].reshape(4, 2), rtol=1e-3, atol=1e-4)
    outputs = np.abs(np.maximum(PLANE @ end[:8].reshape(4, 2).T, 0.0) @ end[8:])
    assert min(outputs[:2].max(), outputs[2:].max()) == pytest.approx(0.25, abs=1e-3)


def test_hypotheses_that_fail_at_t_1_are_told() -> None:
    """A cone without a neuron; a neuron that is late; a flow that is lost."""
    alone = setting.Start(PLANE, LABELS, np.array([[1.0, 0.2], [1.0, 0.1]]), np.ones(2), -2000.0)
    assert convergence.begin(alone, t_1=5.0) is None
    x = PLANE[2:].sum(axis=0)
    W0 = np.array([[1.0, 0.2], [-1.0, -2.0], x + 1e-9 * np.array([1.0, 0.0])])
    behind = setting.Start(PLANE, LABELS, W0, np.array([1.0, -1.0, 1.0]), -2000.0)
    assert convergence.begin(behind, t_1=0.5) is None
    assert convergence.begin(behind, t_1=30.0) is not None


@pytest.mark.parametrize("lost", [0, 2])
def test_a_flow_that_is_lost_is_told(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before t_2, and on the way down."""
    legs, then = iter(range(9)), convergence.then
    monkeypatch.setattr(convergence, "then", lambda *at, **how: then(
        *at, **how, **({"max_steps": 1} if next(legs) == lost else {})))  # fmt: skip
    with pytest.raises(convergence.Lost):
        convergence.follow(convergence.one_against(1))


def test_the_enclosure_holds_the_limit_flow() -> None:
    certain = enclosed(Fraction(1, 10**7), -200)
    found = align(theorem_1.X, theorem_1.Y, Beside([1.0, 0.0], np.log(2e-7))).times[1]
    assert float(certain.exit.mid()) == pytest.approx(found, abs=1e-9)
    assert not enclosed(Fraction(1, 10**7), -1).small
    assert not enclosed(Fraction(1, 10), -200).exit > certain.t_1


def test_the_flow_of_a_tiny_start_is_the_limit() -> None:
    rng = np.random.default_rng(4)
    X, y = setting.separable(4, 3, 0.2, rng)
    W, signs = rng.standard_normal((5, 3)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    limit = [align(X, y, w, s) for w, s in zip(W, signs, strict=True)]
    found = setting.Start(X, y, W, signs, -300.0).flow(3.0)
    assert np.allclose(setting.alignment_times(found), [one.time for one in limit], atol=1e-6)
    ends = setting.neurons(found, 2.0)[0]
    assert np.allclose(ends, [one.at(2.0) for one in limit], atol=1e-6)
    last = list(setting.patterns(found))[-1][1]
    assert np.array_equal(last.T, [one.patterns[-1] for one in limit])


def test_outputs_on_a_boundary_are_the_largest_of_eq_29() -> None:
    item = alignment.turns_across().draws["wide"](np.random.default_rng(8))
    data, (W, outputs) = setting.data_constants(item["X"], item["y"]), alignment.placed(item)
    of_neurons = item["signs"] * np.linalg.norm(W, axis=1)
    assert set(item["signs"]) == {1.0, -1.0}
    told = np.maximum(item["X"] @ W.T, 0.0) @ of_neurons
    assert outputs / np.abs(outputs).max() == pytest.approx(told / np.abs(told).max())
    most = data.mu**2.5 * data.X_min / (4.0 * data.n * data.X_max)
    assert np.abs(outputs).max() == pytest.approx(most, rel=1e-9)
    assert abs(item["X"][0] @ W[0]) < 1e-12


def test_the_excluded_angle_is_that_of_the_neuron_in_the_wrong_cone() -> None:
    start = theorem_1.start()
    other = replace(start, signs=-start.signs)
    assert theorem_1.excluded_angle(start) == pytest.approx(2e-7, rel=1e-6)
    assert theorem_1.excluded_angle(other) == np.pi / 2
    plain = theorem_1.enough_time(other)
    assert plain == pytest.approx(1.5 * theorem_1.uniform_time(start.data.mu), rel=1e-14)
    assert theorem_1.enough_time(start) == pytest.approx(plain + 2.0 * np.log(1e7), rel=1e-6)
