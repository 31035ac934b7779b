"""Descents in lock-step on H and q, against the loops over all data that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reluflow.papers.lee2023magnitude import chains

FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def loop(X, y, w, step: float, n_steps: int, m: int = 0):
    """Every w (k + 1, d) and v_1 (k + 1,) of plain descent in float64, from a balanced start with
    all v_k by themselves, and the number of data (k,) that each step flips."""
    X, y, w = (np.asarray(a, float) for a in (X, y, w))
    v = np.full(m, np.linalg.norm(w))
    states, layers, flips = [w], [np.linalg.norm(w)], []
    for _ in range(n_steps):
        h = X @ w
        residual = np.prod(v) * np.maximum(h, 0.0) - y
        pull = residual @ np.maximum(h, 0.0)
        rests = np.array([np.prod(np.delete(v, i)) for i in range(m)])
        w = w - step * np.prod(v) * ((residual * (h > 0.0)) @ X)
        v = v - step * pull * rests
        flips.append(int(((X @ w > 0.0) != (h > 0.0)).sum()))
        states.append(w)
        layers.append(v[0] if m else layers[0])
    return np.array(states), np.array(layers), np.array(flips)


def agree(X, y, w0, step, n_steps, m=(0,), tolerance=1e-12):
    """The loops' flips (r, k), after all runs have been found equal to their loops."""
    X, y, w0 = np.asarray(X, float), np.atleast_2d(y).astype(float), np.atleast_2d(w0).astype(float)
    step, m = np.broadcast_to(step, len(m)).astype(float), np.array(m)
    parts = chains.lockstep_descent(X, y, w0, step, n_steps, m)
    found = [np.concatenate(part) for part in zip(*parts, strict=True)]
    flips = []
    for k in range(len(m)):
        states, layers, flipped = loop(X, y[k], w0[k], step[k], n_steps, int(m[k]))
        scale = np.maximum.accumulate(np.abs(states).max(axis=1))[:, None]
        assert np.abs((found[0][:, k] - states) / scale).max() <= tolerance
        np.testing.assert_allclose(found[1][:, k], layers, rtol=tolerance)
        flips.append(flipped)
    return np.array(flips)


def teachers(seed: int, n: int, d: int, m, start: float = 0.5):
    """Gaussian data, teachers' labels of unit norm (Lee et al. 2022b, Section 5), and starts."""
    rng = np.random.default_rng(seed)
    X, target, w0 = rng.normal(size=(n, d)), *rng.normal(size=(2, len(m), d))
    target /= np.linalg.norm(target, axis=1)[:, None]
    w0 *= start / np.linalg.norm(w0, axis=1)[:, None]
    return X, np.maximum(target @ X.T, 0.0), w0


@pytest.mark.parametrize(
    ("n", "d", "m"), [(40, 3, (4, 0)), (300, 10, (2,)), (1500, 30, (0, 1, 3)), (2000, 1, (0,))]
)
def test_equal_to_the_loop(n, d, m) -> None:
    """One of them flips more than an eighth of the data, after which sums are afresh."""
    X, y, w0 = teachers(n, n, d, m, start=0.7)
    paces = np.array([0.03, 0.02, 0.01])[: len(m)]
    flips = agree(X, y, w0, paces / n, 400, m)
    assert d == 1 or (flips.sum(axis=1) > 5).all()


def test_exactly_on_the_boundary_is_inactive() -> None:
    X, y, w0 = [[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]], [1.0, 2.0, 5.0], [0.0, 1.0]
    assert agree(X, y, w0, 0.1, 50)[0, 0] == 1
    assert agree([[1.0, 0.0]], [1.0], [-1.0, 1.0], 0.1, 5).sum() == 0  # silent: it rests


def test_more_data_on_the_boundary_than_are_asked() -> None:
    rng = np.random.default_rng(0)
    X = np.eye(5)[rng.integers(0, 5, 600)] * rng.choice([-1.0, 1.0], 600)[:, None]
    X = np.vstack([X, rng.normal(size=(200, 5)), np.zeros((100, 5))])
    agree(X, rng.uniform(0.0, 2.0, 900), np.eye(5)[0], 1e-5, 200)


@FEW
@given(st.integers(0, 10**6), st.sampled_from([0.003, 0.03, 0.3]), st.integers(1, 9))
def test_any_data(seed, pace, near) -> None:
    """Lengths over two decades, labels of both signs, few data asked, and two runs."""
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(1, 200)), int(rng.integers(1, 8)), rng.integers(0, 4, 2)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, (n, 1))
    y, w0 = rng.uniform(-0.2, 2.0, (2, n)), rng.normal(size=(2, d))
    step = pace / (np.linalg.norm(X, 2) ** 2 * np.maximum(np.linalg.norm(w0, axis=1), 2) ** (2 * m))
    sizes = np.linalg.norm(X, axis=1)
    for k in range(2):
        states, layers, _ = loop(X, y[k], w0[k], step[k], 150, int(m[k]))
        away = np.abs(states @ X.T) > 1e-11 * sizes * np.linalg.norm(states, axis=1)[:, None]
        if not (away.all() and (layers > 1e-3).all()):
            return  # rounding decides an activation
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains, "_NEAR", near)
        agree(X, y, w0, step, 150, m, tolerance=1e-9)


def test_all_data_flip_on_every_step() -> None:
    # In one dimension, overshooting to the other side: every look finds that all have changed.
    X, y = np.array([[1.0]] * 50 + [[-1.0]] * 50), np.ones(100)
    assert agree(X, y, [0.1], 0.9 / 25, 200).max() in (0, 100)
    X, y, w0 = teachers(3, 500, 30, (0,))
    assert agree(X, -y, w0, 1.5 / 500, 120, tolerance=1e-9).max() > 500 / 30
