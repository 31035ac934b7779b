"""The reference flow against hand-solved cases, the definition of a solution, and SciPy's DOP853.

Nothing here uses the library: the reference must stand on its own before the library is held
against it.
"""

import numpy as np
import pytest
from mpmath import mp, mpf
from reference_flow import DIGITS, NotTransversal, ReferenceFlow, reference_flow

FIFTY = mpf(10) ** -50
# Seeds of random_instance with activations, deactivations and both.
WITH_EVENTS = pytest.mark.parametrize(
    ("seed", "activation"),
    [(s, "relu") for s in (15, 18, 19, 20, 24, 25)] + [(s, "linear") for s in (2, 6, 25, 27)],
)


@pytest.fixture(autouse=True)
def _hundred_digits():
    with mp.workdps(DIGITS):
        yield


def random_instance(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(2, 5))
    return rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n), 2 * rng.normal(size=d)


def assert_close(actual, expected):
    for a, e in zip(actual, expected, strict=True):
        assert abs(a - e) <= FIFTY * max(1, abs(e))


# Cases solved by hand


def near_tangency(gap: float) -> ReferenceFlow:
    """Datum 3 is inactive with h_3 = -(z - 1/2)^2 - gap, z = exp(-t); the doubles are exact."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, -1.0]])
    y = np.array([1.0, 1.25, 1.25 + 2 * gap, 1.0])
    return reference_flow(X, y, np.array([2.0, 2.25 + gap]))


def test_a_minimum_just_below_zero_is_no_event():
    assert near_tangency(2.0**-40).data == ()


def test_two_zeros_close_together_are_seen():
    flow = near_tangency(-(2.0**-40))
    assert (flow.data[0], flow.kinds[0]) == (3, "activate")
    assert_close(flow.times[:1], [-mp.log(mpf(1) / 2 + mpf(2) ** -20)])


def test_a_true_tangency_is_refused():
    with pytest.raises(NotTransversal, match="touches zero"):
        near_tangency(0.0)


@pytest.mark.parametrize(
    ("X", "y", "w0", "message"),
    [
        ([[1.0, 0.0]], [1.0], [0.0, 1.0], "boundary"),
        ([[1.0, 0.0], [-1.0, 2.0]], [-1.0, -1.0], [1.0, 1.0], "turns back"),
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, 1.0], [1.0, 1.0], "x_j"),
    ],
)
def test_unsupported_input_is_refused(X, y, w0, message):
    with pytest.raises(ValueError, match=message):
        reference_flow(np.array(X), np.array(y), np.array(w0))


# The definition of a solution


def velocity(X, y, w, active) -> list[mpf]:
    """Return -sum over the active data of (w.x_i - y_i) x_i, term by term."""
    v = [mpf(0)] * len(w)
    for x, label, on in zip(X, y, active, strict=True):
        if on:
            residual = sum(mpf(float(a)) * b for a, b in zip(x, w, strict=True)) - mpf(float(label))
            v = [vk - residual * mpf(float(a)) for vk, a in zip(v, x, strict=True)]
    return v


def preactivations(X, w) -> list[mpf]:
    return [sum(mpf(float(a)) * b for a, b in zip(x, w, strict=True)) for x in X]


@WITH_EVENTS
def test_the_flow_solves_its_equation(seed, activation):
    X, y, w0 = random_instance(seed)
    flow = reference_flow(X, y, w0, activation)
    assert flow.times
    assert_close(flow.at(0), [mpf(float(v)) for v in w0])
    knots = [mpf(0), *flow.times]
    horizon = knots[-1] + 200 / min(flow.segments[-1].rates)
    assert_close(flow.at(horizon), flow.end)

    # Between events: the right side is the derivative, and no pre-activation changes its sign.
    for a, z in zip(knots, [*flow.times, horizon], strict=True):
        signs = [h > 0 for h in preactivations(X, flow.at((a + z) / 2))]
        inside = np.linspace(0, 1, 52)[1:-1]
        for t in [a + (z - a) * mpf(float(u)) ** 3 for u in inside]:
            assert [h > 0 for h in preactivations(X, flow.at(t))] == signs
        for t in (a + (z - a) / 7, (a + z) / 2):
            step = mpf(10) ** -30 * (z - a)
            slope = (flow.at(t + step) - flow.at(t - step)) / (2 * step)
            active = signs if activation == "relu" else [True] * len(X)
            expected = velocity(X, y, flow.at(t), active)
            assert max(abs(s - e) for s, e in zip(slope, expected, strict=True)) < mpf(10) ** -40

    # At events: continuous, on the boundary of the datum, which goes to the side its kind says.
    for t, j, kind in zip(flow.times, flow.data, flow.kinds, strict=True):
        step = mpf(10) ** -30
        before, at, after = (preactivations(X, flow.at(s))[j] for s in (t - step, t, t + step))
        assert abs(at) < FIFTY
        assert (before < 0 < after) if kind == "activate" else (after < 0 < before)


# SciPy
