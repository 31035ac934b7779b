"""Starts 1e0 to 1e100 times as far as the solution, in any units: no small term is lost.

The slow and obvious ways: data on the axes, whose weights do not know each other, by one logarithm
each in many digits; and all of the flow in more digits than the start is far (`reference_flow`).
"""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.typing import NDArray
from reference_flow import DIGITS, NotTransversal, assert_same, reference_flow
from reluflow.flows.affine import affine_flow

FEW = settings(max_examples=40)
SEEDS, DECADES = st.integers(0, 10**6), st.integers(0, 100)


def draw(seed: int, decades: int) -> tuple[NDArray, NDArray, NDArray]:
    """Gaussian data, labels of either sign and a start so many decades away."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    return rng.normal(size=(n, d)), rng.normal(0.5, 1.0, n), 10.0**decades * rng.normal(size=d)


def changes(path) -> list[tuple[int, str]]:
    return [(e.datum, e.kind) for e in path.events]


@FEW
@given(SEEDS, DECADES, st.integers(-8, 8), st.integers(-30, 30))
def test_data_on_the_axes(seed, decades, size, unit) -> None:
    """x_i w_i goes from its start to y_i with the rate x_i^2, and stops at 0 for y_i < 0."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    x, y = 10.0**size * rng.uniform(0.5, 2.0, d), 10.0**unit * rng.normal(size=d)
    w0 = 10.0 ** (decades + unit - size) * rng.uniform(0.1, 1.0, d)
    path = affine_flow(np.diag(x), y, w0)
    with mp.workdps(DIGITS + 100):
        logs = {
            j: float(mp.log1p(-mpf(x[j]) * mpf(w0[j]) / mpf(y[j])) / mpf(x[j]) ** 2)
            for j in range(d)
            if y[j] < 0
        }
    assert changes(path) == [(j, "deactivate") for j in sorted(logs, key=lambda j: logs[j])]
    np.testing.assert_allclose([e.t for e in path.events], sorted(logs.values()), rtol=1e-14)
    assert path.status == "converged"
    np.testing.assert_allclose(path.end * x, np.maximum(y, 0.0), 1e-13, 1e-12 * np.abs(y).max())


@FEW
@given(SEEDS, DECADES)
def test_any_data(seed, decades) -> None:
    X, y, w0 = draw(seed, decades)
    try:
        exact = reference_flow(X, y, w0, digits=DIGITS + 2 * decades)
    except NotTransversal:
        assume(False)
    path = affine_flow(X, y, w0)
    assert path.has_limit
    assert_same(path, exact, 1e-11, 1.0)


@FEW
@given(SEEDS, DECADES, st.integers(-25, 25), st.integers(-100, 100))
def test_units_change_nothing(seed, decades, size, unit) -> None:
    """Powers of two in place of meters and grams: the same path to the last digit but for time's
    unit, slides and branchings included."""
    X, y, w0 = draw(seed, decades)
    path = affine_flow(X, y, w0)
    a, b = 2.0**size, 2.0**unit
    other = affine_flow(a * X, b * y, b / a * w0)
    assert (other.status, changes(other)) == (path.status, changes(path))
    np.testing.assert_allclose([e.t * a * a for e in other.events], [e.t for e in path.events])
    np.testing.assert_allclose(other.end * a / b, path.end, 1e-9, 1e-9)


def test_a_slide_whose_hold_only_fades_never_lets_go() -> None:
    """On w = s (2, 1), where x_3.w = 0, it is ds/dt = -128/5 s, and the others push x_3.w with
    16 s: less than the 5 by which x_3 pushes back, and more than 0, at all times. So the flow
    slides into the origin, which it does not reach."""
    X, y = np.array([(3, 2), (3, 2), (1, -2), (-2, 2)], float), np.array([-3.0, 3.0, -1.0, -1.0])
    path = affine_flow(X, y, (2.0, -1.0))
    assert path.status == "sliding"
    assert changes(path) == [(2, "slide")]
    np.testing.assert_array_equal(path.end, [0.0, 0.0])
    (event,) = path.events
    s = path.at(event.t) @ [2.0, 1.0] / 5.0
    for wait in (0.1, 0.4):
        expected = s * np.exp(-25.6 * wait) * np.array([2.0, 1.0])
        np.testing.assert_allclose(path.at(event.t + wait), expected, rtol=1e-12)
        force = X[:2].T @ (y[:2] - X[:2] @ path.at(event.t + wait))
        assert 0.0 < force @ X[2] < 5.0
