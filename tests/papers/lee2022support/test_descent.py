"""Gradient descent by closed forms, against the loop that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2022support.examples import affine_descent, flips
from reluflow.papers.lee2022support.setting import plain_descent

FEW = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def agrees(X, y, w0, step, n_steps, tolerance=1e-12):
    """The states, which are those of the loop, and so are the flips."""
    states, path = plain_descent(X, y, w0, step, n_steps), affine_descent(X, y, w0, step, n_steps)
    active = states @ np.asarray(X, float).T > 0
    turned = [(k, int(j), "activate" if active[k, j] else "deactivate")
              for k in range(1, n_steps + 1)
              for j in np.nonzero(active[k] != active[k - 1])[0]]  # fmt: skip
    assert flips(X, path) == turned
    scale = np.maximum.accumulate(np.abs(states).max(axis=1))[:, None]
    assert (np.abs(path - states) / scale).max() <= tolerance
    return path


def random_case(seed: int, signs: str):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    X, y = rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n)
    if signs == "mixed":
        y *= rng.choice([-1.0, 1.0], n)
    return X, y, rng.normal(size=d)


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
    states = plain_descent(X, y, w0, step, steps)
    size = np.linalg.norm(X, axis=1) * np.linalg.norm(states, axis=1)[:, None]
    assume((np.abs(states @ X.T) > 1e-10 * size).all())  # else rounding decides an activation
    agrees(X, y, w0, step, steps, tolerance)


def test_a_step_that_lands_on_the_minimum() -> None:
    # step * eigenvalue = 1 exactly, then just below it, where (1 - step l)^k is tiny.
    for pace in (1.0, 1.0 - 2.0**-52, 1.0 - 1e-12):
        agrees([[2.0, 0.0], [0.0, 1.0]], [6.0, 1.0], [1.0, 3.0], pace / 4, 40)


def test_flips_at_the_first_step_at_the_last_and_beyond_a_stretch() -> None:
    X, y, w0 = [[1.0, 0.0], [-1.0, 0.1]], [4.0, 0.05], [0.01, 0.5]
    assert flips(X, agrees(X, y, w0, 0.5, 1)) == [(1, 1, "deactivate")]
    late, _, _ = flips(X, agrees(X, y, w0, 1e-4, 400))[0]
    assert late > 16  # not in the first stretch that is looked at
    assert len(flips(X, agrees(X, y, w0, 1e-4, late))) == 1
    assert flips(X, agrees(X, y, w0, 1e-4, late - 1)) == []
    agrees(X, y, w0, 1e-5, 10_000)


def test_the_boundary_counts_as_inactive() -> None:
    assert not affine_descent(np.eye(2), [1.0, 1.0], [0.0, 0.0], 0.1, 100).any()
    path = agrees([[1.0, 0.0], [0.5, 1.0]], [1.0, 2.0], [0.0, 1.0], 0.1, 50)
    assert flips([[1.0, 0.0]], path)[0] == (1, 0, "activate")


def test_weights_that_overflow_and_a_neuron_that_is_thrown_over_its_boundary() -> None:
    with np.errstate(all="ignore"):
        assert not np.isfinite(affine_descent([[1.0], [-1.0]], [1.0, 1.0], [3.0], 4.0, 2000)).all()
    dead = affine_descent([[2.0, 1.0]], [1.0], [3.0, 1.0], 1.0, 10**5)
    assert flips([[2.0, 1.0]], dead) == [(1, 0, "deactivate")]


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
