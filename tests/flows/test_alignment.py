"""The limit flow of directions: against the flow itself, exact arithmetic, and by its own laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.flows.alignment import Beside, align
from reluflow.papers.min2024early.setting import polygon, separable
from scipy.integrate import solve_ivp


@st.composite
def whole(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Small whole numbers, (A1) or not, with parallel data and starts on boundaries."""
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    entries = st.integers(-3, 3)
    X = np.array(draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    w = np.array(draw(st.lists(entries, min_size=d, max_size=d).filter(any)))
    return X, y, w, draw(st.sampled_from([-1, 1]))


@given(whole())
def test_events_are_those_of_exact_arithmetic(item: tuple) -> None:
    X, y, w, sign = item
    found = align(X, y, w, sign)
    exact = polygon(X.tolist(), y.tolist(), w.tolist(), sign)
    assert found.status == exact.status
    assert np.array_equal(found.patterns[-1], exact.patterns[-1])
    together: dict[float, set] = {}
    for event in found.events:
        together.setdefault(event.t, set()).add((event.datum, event.kind == "activate"))
    merged = [set(each) for each in exact.events]
    assert set().union(*together.values()) == set().union(*merged) if merged else not together
    corner = np.array([float(v) for v in exact.corners[-1]])
    size = np.linalg.norm(corner)
    if size > 0.0 and found.status != "unfinished":
        last = found.legs[-1]
        assert np.allclose(last.at(last.t), corner / size, atol=1e-9)


def followed(X: np.ndarray, y: np.ndarray, w: np.ndarray, sign: float, t: float) -> np.ndarray:
    """The direction at time t by steps of an integrator that knows nothing of patterns."""

    def rate(_: float, u: np.ndarray) -> np.ndarray:
        b = sign * (y * (X @ u > 0.0)) @ X
        return b - (b @ u) * u

    u = w / np.linalg.norm(w)
    return solve_ivp(rate, (0.0, t), u, rtol=1e-8, atol=1e-10, max_step=t / 400).y[:, -1]


@pytest.mark.parametrize("seed", range(12))
def test_directions_are_those_of_the_differential_equation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = separable(int(rng.integers(2, 7)), int(rng.integers(2, 6)), 0.1, rng)
    w, sign = rng.standard_normal(X.shape[1]), float(rng.choice([-1.0, 1.0]))
    found = align(X, y, w, sign)
    t = found.time + 0.3 / np.linalg.norm(X, axis=1).max()
    if found.status == "dead":
        t = 0.9 * found.time
    if t > 0.0:
        assert np.allclose(found.at(t), followed(X, y, w, sign, t), atol=1e-4)


@pytest.mark.parametrize("log_angle", [-1.0, -5.0, -12.0])
def test_beside_agrees_with_the_start_that_it_names(log_angle: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        X, y = separable(5, 3, 0.2, rng)
        toward, u = rng.standard_normal(3), X[y == -1.0].sum(axis=0)
        u /= np.linalg.norm(u)
        across = toward - (toward @ u) * u
        across /= np.linalg.norm(across)
        theta = np.exp(log_angle)
        near = align(X, y, np.cos(theta) * u + np.sin(theta) * across)
        beside = align(X, y, Beside(toward, log_angle))
        assert beside.status == near.status
        assert beside.time == pytest.approx(near.time, rel=1e-5, abs=1e-7)


def test_a_start_needs_a_direction() -> None:
    for bad in ([0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0]):
        with pytest.raises(InputError, match="direction"):
            align(np.eye(2), [1.0, -1.0], bad)
    with pytest.raises(InputError, match="beside"):
        align(np.eye(2), [1.0, 1.0], Beside([1.0, 0.0], -3.0))


def test_at_one_place_no_datum_changes_twice() -> None:
    """Three boundaries that meet: what would change again where it has just changed slides."""
    rng = np.random.default_rng(0)
    tied = [([[-1, 0, 1], [0, 0, -2], [1, 1, 0]], [-1, -1, 1], [-1, 1, -1])]
    while len(tied) < 300:
        X, w = rng.integers(-2, 3, (4, 3)), rng.integers(-2, 3, 3)
        if X.any(axis=1).all() and w.any() and (X @ w == 0).sum() > 1:
            tied.append((X, rng.choice([-1, 1], 4), w))
    sliding = 0
    for X, y, w in tied:
        found = align(X, y, w)
        changed = [(event.t, event.datum) for event in found.events]
        assert len(set(changed)) == len(changed)
        sliding += (slides := found.status == "sliding")
        assert not slides or np.array_equal(found.at(found.time + 1.0), found.end)
    assert align(*tied[0]).status == "sliding"
    assert 300 > sliding > 10
