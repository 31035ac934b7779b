"""Gradient descent by closed forms, against the loop that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2022support.descent import affine_descent

FEW = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def loop(X, y, w, step: float, n_steps: int):
    """Every state (n_steps + 1, d) and every event (step, datum, kind) of plain descent."""
    X, y, w = np.asarray(X, float), np.asarray(y, float), np.asarray(w, float)
    states, events = [w], []
    for k in range(1, n_steps + 1):
        before = X @ w > 0
        w = w - step * (X[before].T @ (X[before] @ w - y[before]))
        for j in np.nonzero((X @ w > 0) != before)[0]:
            events.append((float(k), int(j), "activate" if before[j] == 0 else "deactivate"))
        states.append(w)
    return np.array(states), events


def told(path):
    return [(e.t, e.datum, e.kind) for e in path.events]


def agrees(X, y, w0, step, n_steps, tolerance=1e-12):
    states, events = loop(X, y, w0, step, n_steps)
    path = affine_descent(X, y, w0, step, n_steps)
    assert told(path) == events
    scale = np.maximum.accumulate(np.abs(states).max(axis=1))[:, None]
    error = np.abs(path.at(np.arange(n_steps + 1)) - states) / scale
    assert error.max() <= tolerance
    np.testing.assert_allclose(path.end, states[-1], rtol=0, atol=tolerance * scale[-1, 0])
    assert path.status == "horizon"
    return path


def random_case(seed: int, signs: str):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    X, y = rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n)
    if signs == "mixed":
        y *= rng.choice([-1.0, 1.0], n)
    return X, y, rng.normal(size=d)


def clear_of_boundaries(X, states) -> bool:
    """Whether rounding cannot decide an activation anywhere on the path."""
    h = np.abs(states @ X.T)
    size = np.linalg.norm(X, axis=1) * np.linalg.norm(states, axis=1)[:, None]
    return bool((h > 1e-10 * size).all())


# Small steps, and those near and above the inverse of an eigenvalue; where the flow of labels of
# either sign slides, descent zigzags: a flip every few steps.
@pytest.mark.parametrize(
    ("signs", "paces", "steps", "tolerance"),
    [
        ("positive", (0.01, 0.7), 400, 1e-12),
        ("mixed", (0.02, 0.3), 300, 1e-9),
        ("positive", (0.9, 2.3), 60, 1e-9),
    ],
)
@FEW
@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 1.0))
def test_it_is_the_loop(signs, paces, steps, tolerance, seed, share) -> None:
    X, y, w0 = random_case(seed, signs)
    step = (paces[0] + share * (paces[1] - paces[0])) / np.linalg.norm(X, 2) ** 2
    states, _ = loop(X, y, w0, step, steps)
    assume(clear_of_boundaries(X, states))
    agrees(X, y, w0, step, steps, tolerance)


def test_a_step_that_lands_on_the_minimum() -> None:
    # step * eigenvalue = 1 exactly, then just below it, where (1 - step l)^k is tiny.
    for pace in (1.0, 1.0 - 2.0**-52, 1.0 - 1e-12):
        agrees([[2.0, 0.0], [0.0, 1.0]], [6.0, 1.0], [1.0, 3.0], pace / 4, 40)


def test_a_flip_at_the_first_step_and_at_the_last() -> None:
    X, y, w0 = [[1.0, 0.0], [-1.0, 0.1]], [4.0, 0.05], [0.01, 0.5]
    assert told(agrees(X, y, w0, 0.5, 1)) == [(1.0, 1, "deactivate")]
    first = agrees(X, y, w0, 1e-4, 400).events[0].t
    assert first > 20  # not among the steps that are looked at one by one
    assert agrees(X, y, w0, 1e-4, int(first)).events[-1].t == first
    assert agrees(X, y, w0, 1e-4, int(first) - 1).events == ()


def test_the_boundary_counts_as_inactive() -> None:
    path = affine_descent([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [0.0, 0.0], 0.1, 100)
    np.testing.assert_array_equal(path.end, [0.0, 0.0])
    path = agrees([[1.0, 0.0], [0.5, 1.0]], [1.0, 2.0], [0.0, 1.0], 0.1, 50)
    assert told(path)[0] == (1.0, 0, "activate")


def test_a_visit_between_two_steps_leaves_no_trace() -> None:
    # x_3.w = 1e-6 (-3 + (w_1 - 1) 0.85^k - 16 0.4^k) after k steps; for some starts w_1 it is
    # above zero for some real k and for no whole one.
    X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1e-6, -1e-6]]), np.array([1.0, 8.0, 1e-9])
    k, passed, seen = np.linspace(0, 40, 4001), 0, 0
    for w1 in np.linspace(7.5, 8.1, 61):
        path = agrees(X, y, [w1, 20.0], 0.15, 40)
        peak = (-3 + (w1 - 1) * 0.85**k - 16 * 0.4**k).max()
        passed += peak > 1e-3 and not path.events
        seen += len(path.events) == 2
    assert passed
    assert seen


def test_a_late_flip_is_found_to_the_step() -> None:
    # w_2 falls as (1 - s)^k 1 + 0 while w_1 stays: x_3.w = w_2 - 0.3 changes its sign once.
    s = 1e-7
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-3e-9, 1e-8]]), np.array([1.0, 1e-9, 1e-20])
    path = affine_descent(X, y, [1.0, 1.0], s, 10**8)
    (event,) = path.events
    assert (event.datum, event.kind) == (2, "deactivate")
    assert event.t == np.ceil(np.log((0.3 - 1e-9) / (1 - 1e-9)) / np.log1p(-s))
    k = int(event.t)
    assert X[2] @ path.at(k - 1) > 0 >= X[2] @ path.at(k)


def test_divergence_is_said() -> None:
    path = affine_descent([[1.0], [-1.0]], [1.0, 1.0], [3.0], 4.0, 10**6)
    assert path.status == "diverged"
    assert "overflow" in path.detail
    assert not path.has_limit
    assert path.t[-1] < 1000
    dead = affine_descent([[2.0, 1.0]], [1.0], [3.0, 1.0], 1.0, 10**6)  # thrown over the boundary
    assert dead.status == "horizon"
    assert told(dead) == [(1.0, 0, "deactivate")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"step": 0.0}, "step must be a positive number"),
        ({"n_steps": 1.5}, "n_steps must be a whole number"),
    ],
)
def test_bad_input_is_named(change, words) -> None:
    good = {"X": [[1.0, 2.0]], "y": [1.0], "w0": [1.0, 1.0], "step": 0.1, "n_steps": 5}
    with pytest.raises(InputError, match=words):
        affine_descent(**(good | change))
