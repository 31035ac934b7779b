"""Descent on the active set's H and q, against the loop over all data that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude.chains import ActiveSet, neuron_descent
from threadpoolctl import threadpool_info, threadpool_limits

FEW = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def loop(X, y, w, step: float, n_steps: int, v=()):
    """Every w (k + 1, d), every v (k + 1, m) of plain descent in float64, and the number of data
    (k,) that each step flips."""
    X, y, w, v = (np.asarray(a, float) for a in (X, y, w, v))
    states, layers, flips = [w], [v], []
    for _ in range(n_steps):
        h = X @ w
        residual = np.prod(v) * np.maximum(h, 0.0) - y
        pull = residual @ np.maximum(h, 0.0)
        rests = np.array([np.prod(np.delete(v, i)) for i in range(len(v))])
        w = w - step * np.prod(v) * ((residual * (h > 0.0)) @ X)
        v = v - step * pull * rests if len(v) else v
        flips.append(int(((X @ w > 0.0) != (h > 0.0)).sum()))
        states.append(w)
        layers.append(v)
    return np.array(states), np.array(layers).reshape(n_steps + 1, -1), np.array(flips)


def agrees(X, y, w0, step, n_steps, v=(), tolerance=1e-12):
    """The loop's flips, after the path has been found equal to the loop's in states and factors."""
    states, layers, flips = loop(X, y, w0, step, n_steps, v)
    path = neuron_descent(X, y, w0, step, n_steps, v)
    scale = np.maximum.accumulate(np.abs(states).max(axis=1))[:, None]
    assert np.abs((path.states - states) / scale).max() <= tolerance
    np.testing.assert_allclose(path.layers, layers, rtol=tolerance, atol=tolerance)
    assert not path.diverged
    return flips


def teacher(seed: int, n: int, d: int, layers: int = 0, scale: float = 1.0, start: float = 0.5):
    """Gaussian data, a teacher's labels (Lee et al. 2022b, Section 5) and a balanced start."""
    rng = np.random.default_rng(seed)
    X, target, w0 = rng.normal(size=(n, d)), rng.normal(size=d), rng.normal(size=d)
    target *= scale / np.linalg.norm(target)
    w0 *= start / np.linalg.norm(w0)
    y = scale**layers * np.maximum(X @ target, 0.0)
    return X, y, w0, (start,) * layers


# --- Equal to the loop ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "layers"), [(40, 3, 4), (300, 10, 2), (1500, 30, 0), (1500, 30, 1), (2000, 1, 0)]
)
def test_equal_to_the_loop(n, d, layers) -> None:
    X, y, w0, v = teacher(n + layers, n, d, layers, start=0.7)
    flips = agrees(X, y, w0, 0.03 / n, 500, v)
    assert d == 1 or flips.sum() > 5


def test_exactly_on_the_boundary_is_inactive() -> None:
    X, y, w0 = [[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]], [1.0, 2.0, 5.0], [0.0, 1.0]
    assert agrees(X, y, w0, 0.1, 50)[0] == 1
    still = neuron_descent(X, y, [0.0, 0.0], 0.1, 50)
    np.testing.assert_array_equal(still.states, np.zeros((51, 2)))


def test_most_data_on_the_boundary() -> None:
    # More ties than the data that are looked at: rows along the axes, a start along one of them.
    rng = np.random.default_rng(0)
    X = np.eye(5)[rng.integers(0, 5, 600)] * rng.choice([-1.0, 1.0], 600)[:, None]
    X = np.vstack([X, rng.normal(size=(200, 5))])
    w0 = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    agrees(X, rng.uniform(0.0, 2.0, 800), w0, 1e-5, 400)


@FEW
@given(st.integers(0, 10**6), st.integers(0, 3), st.sampled_from([0.003, 0.03, 0.3]))
def test_any_data(seed, layers, pace) -> None:
    """Lengths over two decades, labels of both signs, and factors of both."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 200)), int(rng.integers(1, 8))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, (n, 1))
    y, w0, v = rng.uniform(-2.0, 2.0, n), rng.normal(size=d), rng.uniform(-0.2, 1.0, layers)
    # A chain that starts small ends within a few times the size that the labels ask for.
    step = pace / (np.linalg.norm(X, 2) ** 2 * 3.0**layers)
    states, _, _ = loop(X, y, w0, step, 150, v)
    sizes = np.linalg.norm(X, axis=1) * np.linalg.norm(states, axis=1)[:, None]
    if (np.abs(states @ X.T) > 1e-11 * sizes).all():  # rounding decides no activation
        agrees(X, y, w0, step, 150, v, tolerance=1e-9)


def test_all_data_flip_on_every_step() -> None:
    # In one dimension, overshooting to the other side: every look finds that all have changed.
    X, y = np.array([[1.0]] * 50 + [[-1.0]] * 50), np.ones(100)
    assert agrees(X, y, [0.1], 0.9 / 25, 200).max() in (0, 100)
    X, y, w0, _ = teacher(3, 500, 30)
    wild = agrees(X, -y, w0, 1.5 / 500, 120, tolerance=1e-9)
    assert wild.max() > 500 / 30


# --- The active set -------------------------------------------------------------------------------


@FEW
@given(seed=st.integers(0, 10**6), pace=st.sampled_from([1e-4, 1e-2, 0.3]))
def test_the_set_of_any_walk(seed, pace) -> None:
    # Walks that go straight, bend, pause, jump and pass the origin, unlike descent.
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 400)), int(rng.integers(1, 6))
    X, y, w = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)
    X[rng.random(n) < 0.1] = 0.0
    active, g, scale = ActiveSet(X, y, w), 0.0, max(1.0, float((X**2).sum()))
    for kind in rng.choice(5, 150, p=[0.8, 0.1, 0.05, 0.03, 0.02]):
        g = (g, pace * rng.normal(size=d), 0.0 * w, rng.normal(size=d), w)[kind] + 0.0 * w
        w = w - g
        active.go(w, g)
        on = X @ w > 0.0
        np.testing.assert_array_equal(active.on, on)
        np.testing.assert_allclose(active.H, X[on].T @ X[on], rtol=0, atol=1e-14 * scale)
        np.testing.assert_allclose(active.q, y[on] @ X[on], rtol=0, atol=1e-14 * scale)


def test_a_datum_met_exactly_flips_one_step_later() -> None:
    active = ActiveSet(np.array([[1.0, 0.0]]), np.ones(1), np.array([-1.0, 1.0]))
    for w in np.arange(-0.75, 1.0, 0.25):
        active.go(np.array([w, 1.0]), np.array([-0.25, 0.0]))
        assert active.on.tolist() == [w > 0.0]


# --- Layers ---------------------------------------------------------------------------------------


def test_a_factor_of_zero_is_no_division() -> None:
    X, y, w0, _ = teacher(1, 60, 3, 2)
    agrees(X, y, w0, 1e-3, 200, (0.0, 0.7))
    both = neuron_descent(X, y, w0, 1e-3, 20, (0.0, 0.0))
    np.testing.assert_array_equal(both.states, np.tile(w0, (21, 1)))


# --- The record -----------------------------------------------------------------------------------


def test_the_number_of_blas_threads_changes_nothing() -> None:
    X, y, w0, v = teacher(14, 1000, 110, 1)
    paths = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            before = threadpool_info()
            paths.append(neuron_descent(X, y, w0, 0.05 / 1000, 60, v))
            assert threadpool_info() == before
    np.testing.assert_array_equal(paths[0].states, paths[1].states)
    np.testing.assert_array_equal(paths[0].layers, paths[1].layers)


@pytest.mark.parametrize("v", [(), (1.0, 2.0)])
def test_divergence_is_said(v) -> None:
    X, y, w0, _ = teacher(0, 50, 3)
    path = neuron_descent(X, y, w0, 0.5, 100_000, v)
    assert path.diverged
    assert len(path.layers) == len(path.states) < 2000
    size = np.abs(np.concatenate([path.states[-1], path.layers[-1]]))
    assert not size.max() <= 1e150


def test_a_factor_may_overflow_alone() -> None:
    path = neuron_descent(np.eye(2), [1.0, 1.0], [1.0, 1.0], 1e160, 5, (0.0,))
    assert (path.diverged, len(path.states)) == (True, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0.0}, "step must be a positive number"),
        ({"v0": [np.inf]}, "v0 must be a list of finite numbers"),
    ],
)
def test_bad_input_is_named(change, message) -> None:
    good = {"X": np.eye(2), "y": [1.0, 2.0], "w0": [1.0, 1.0], "step": 0.1, "n_steps": 3}
    with pytest.raises(InputError, match=message):
        neuron_descent(**{**good, **change})
