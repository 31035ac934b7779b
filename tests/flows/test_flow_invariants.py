"""Invariants of flows, descents and landscapes, and parity with slow, obvious implementations."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flows import FLOWS, Flow, best_of_many, draw
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.flows import exponential_sums
from reluflow.flows.affine import affine_descent, affine_flow
from reluflow.geometry import CELL_LIMIT, cell_bound, enumerate_cells, local_minima
from reluflow.networks import gradient, loss
from reluflow.papers.lee2022support.setting import integrate, plain_descent

steady = settings(derandomize=True, max_examples=40, deadline=None)
seeds = st.integers(0, 10**6)


@pytest.fixture(
    scope="module", params=[(name, seed) for name in FLOWS for seed in range(3)], ids=str
)
def flow(request: pytest.FixtureRequest) -> Flow:
    return made(*request.param)


@cache
def made(name: str, seed: int) -> Flow:
    return FLOWS[name](seed)


def moments(path, count: int = 13) -> NDArray:
    """Clock values from the start to the end, or to where a path with a limit is settled."""
    last = max(path.t[-1], path.settled) if path.has_limit else path.t[-1]
    t = np.linspace(path.t[0], last, count)
    return np.unique(np.round(t)) if path.clock == "steps" else t


def test_every_path_is_a_consistent_trajectory(flow):
    path = flow.path
    assert (np.diff(path.t) > 0).all()
    assert path.states.shape[0] == len(path.t)
    np.testing.assert_allclose(path.at(path.t), path.states, rtol=0, atol=flow.accuracy)
    assert [e.t for e in path.events] == sorted(e.t for e in path.events)
    assert all(isinstance(e.t, float) and isinstance(e.datum, int) for e in path.events)
    assert {e.kind for e in path.events} <= {"activate", "deactivate", "slide"}
    assert all(path.t[0] <= e.t <= path.t[-1] for e in path.events)
    assert path.status in ("converged", "horizon", "sliding", "stalled")
    assert path.detail
    if path.has_limit:
        np.testing.assert_array_equal(path.at(np.inf), path.end)
    else:
        np.testing.assert_array_equal(path.states[-1], path.end)
        with pytest.raises(ValueError, match="at most"):
            path.at(path.t[-1] + 1.0)
    with pytest.raises(ValueError, match="at least"):
        path.at(path.t[0] - 1.0)
    with pytest.raises(FrozenInstanceError):
        path.status = "diverged"


def test_the_list_is_not_idle():
    """Paths that move, and among them some with events on every kind of surface."""
    paths = {name: [made(name, seed).path for seed in range(3)] for name in FLOWS}
    assert all(any(len(p.t) > 1 for p in three) for three in paths.values())
    assert {len(p.legs) for p in paths["two legs"]} == {2}
    idle = [name for name, three in paths.items() if not any(p.events for p in three)]
    assert [name for name in idle if "descent" not in name and "population" not in name] == [
        "filters",
        "stabilised",
    ]


def test_no_loss_rises(flow):
    values = flow.value(flow.path.at(moments(flow.path)))
    scale = np.abs(values).max()
    assert (np.diff(values) <= 1e-9 * scale + 1e-15).all()


def test_no_flow_has_a_memory(flow):
    """From half-way on it goes the same way."""
    path = flow.path
    if flow.again is None or len(path.t) == 1:
        pytest.skip("it cannot be started again, or rests where it starts")
    half, last = moments(path)[[len(moments(path)) // 2, -1]]
    rest = flow.again(path.at(half), last - half)
    end = rest.at(min(rest.t[0] + last - half, np.inf if rest.has_limit else rest.t[-1]))
    np.testing.assert_allclose(end, path.at(last), rtol=1e-5, atol=10 * flow.accuracy)


def test_activity_changes_at_events_only_and_there_on_its_surface(flow):
    path = flow.path
    if flow.surfaces is None:
        pytest.skip("its events are the first steps after a change, or there are none")
    for event in path.events:
        if event.kind == "slide":
            continue  # it stays on the surface
        near = 1e-5 * (1.0 + event.t)
        before, after = flow.surfaces(path.at([event.t - near, min(event.t + near, path.t[-1])]))[
            :, event.datum, event.neuron
        ]
        assert before * after <= 1e-7  # a unit that rests there has 0 behind it
    changes = np.unique([path.t[0], *(e.t for e in path.events), moments(path)[-1]])
    for left, right in pairwise(changes):
        if right - left > 1e-6 * (1.0 + right):
            h = flow.surfaces(path.at(left + np.array([0.2, 0.5, 0.8]) * (right - left)))
            clear = (np.abs(h) > 1e-7).all(axis=0)
            assert (((h > 0) == (h[:1] > 0)) | ~clear).all()


@given(seeds)
@example(1001)
@steady
def test_the_loss_never_increases(seed):
    X, y, w0 = draw(seed, signed=True)
    path = affine_flow(X, y, w0)
    if path.status == "non-unique":  # with a label below 0 a slide may end at 0: flows begin there
        assert np.linalg.norm(path.end) <= 1e-12 * np.linalg.norm(w0)
    else:
        assert path.status in ("converged", "sliding")
    values = loss(X, y, path.at(path.grid(40)))
    assert np.all(np.diff(values) <= 1e-12 * values[0])


@given(seeds)
@steady
def test_the_limit_is_stationary_and_events_sit_on_boundaries(seed):
    X, y, w0 = draw(seed)
    path = affine_flow(X, y, w0)
    scale = np.abs(X).T @ (np.abs(y) + np.abs(X) @ np.abs(path.end))
    assert np.linalg.norm(gradient(X, y, path.end)) <= 1e-9 * np.linalg.norm(scale)
    for event in path.events:
        w = path.at(event.t)
        assert abs(X[event.datum] @ w) <= 1e-9 * np.abs(X[event.datum]) @ np.abs(w) + 1e-12
    for left, right in zip(path.t, [*path.t[1:], path.settled + 1.0], strict=True):
        active = X @ path.at(left + np.array([0.2, 0.8]) * (right - left)).T > 0
        assert np.array_equal(active[:, 0], active[:, 1])


@given(seeds, st.floats(0.2, 5.0), st.floats(0.2, 5.0))
@steady
def test_scaling_laws(seed, a, b):
    X, y, w0 = draw(seed)
    path, t = affine_flow(X, y, w0), np.array([0.1, 0.7, 3.0])
    np.testing.assert_allclose(
        affine_flow(X, a * y, a * w0).at(t), a * path.at(t), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(
        affine_flow(b * X, y, w0 / b).at(t / b**2), path.at(t) / b, rtol=1e-8, atol=1e-10
    )


@given(seeds)
@steady
def test_rotations_permutations_and_restarts(seed):
    X, y, w0 = draw(seed)
    rng = np.random.default_rng(seed)
    path, t = affine_flow(X, y, w0), np.array([0.05, 0.4, 2.0])
    Q = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0]
    np.testing.assert_allclose(affine_flow(X @ Q, y, w0 @ Q).at(t), path.at(t) @ Q, atol=1e-8)
    order = rng.permutation(len(y))
    shuffled = affine_flow(X[order], y[order], w0)
    assert [order[e.datum] for e in shuffled.events] == [e.datum for e in path.events]
    again = affine_flow(X, y, path.at(0.3))
    np.testing.assert_allclose(again.at(t), path.at(0.3 + t), atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_flow_agrees_with_a_general_ode_solver(seed):
    X, y, w0 = draw(seed)
    # DOP853 resolves each kink to its largest step, 1/1000.
    np.testing.assert_allclose(
        integrate(X, y, w0, 2.0), affine_flow(X, y, w0).at(2.0), atol=1e-4 * (1 + np.abs(w0).max())
    )


def test_sliding_is_entered_and_left():
    # y_1 < 0 attracts from both sides; the pull of the others carries the flow off again.
    X = np.array([[1.0, 0.5], [0.2, 1.0]])
    path = affine_flow(X, np.array([-1.0, 1.0]), [0.5, 0.5])
    assert path.status == "sliding"
    assert [(e.datum, e.kind) for e in path.events] == [(0, "slide")]
    later = path.at(path.events[0].t + np.array([0.1, 1.0, 10.0]))
    assert np.abs(later @ X[0]).max() <= 1e-12


@pytest.mark.parametrize("start", [[0.5, -0.5], [0.0, 0.0]])
def test_a_repelling_boundary_is_said_to_be_one(start):
    path = affine_flow([[1.0, 1.0]], [1.0], start)
    assert path.status == "non-unique"
    assert "not unique" in path.detail
    np.testing.assert_array_equal(path.end, start)


@pytest.mark.parametrize(("eps", "ends"), [(1e-3, (118.67, -86.67)), (1e-7, (118.67, -86.67))])
def test_starts_part_at_an_exact_touch(eps, ends):
    X = np.array([[0, 0, 3], [0, 3, 0], [1, 2, 2], [2, 1, 1]])
    y = np.array([179, 1795, 716, 536])
    first = [affine_flow(X, y, eps * np.array(v)).end[0] for v in ((1.0, 1, 1), (1.0, 3, 3))]
    np.testing.assert_allclose(first, ends, atol=0.01)


@given(seeds)
@steady
def test_descent_equals_a_plain_loop(seed):
    X, y, w0 = draw(seed, signed=True)
    rng = np.random.default_rng(seed)
    step = 10.0 ** rng.uniform(-3, -0.5)
    loop = plain_descent(X, y, w0, step, 300)
    assume(np.abs(loop).max() < 1e6)
    path = affine_descent(X, y, w0, step, 300)
    assert np.abs(path.at(np.arange(301)) - loop).max() <= 1e-10 * np.abs(loop).max()
    flips = np.nonzero((loop[1:] @ X.T > 0) != (loop[:-1] @ X.T > 0))
    assert sorted((e.t, e.datum) for e in path.events) == sorted(
        zip(flips[0] + 1.0, flips[1], strict=True)
    )


def random_sums(seed: int, r: int):
    rng = np.random.default_rng(seed)
    rates = np.sort(10.0 ** rng.uniform(-2, 2, r))
    b = rng.normal(size=(6, r)) * 10.0 ** rng.uniform(-2, 1, (6, r))
    a = rng.normal(size=6) * 10.0 ** rng.uniform(-3, 1, 6)
    return a, b, rates


@given(seeds, st.integers(1, 6))
@steady
def test_the_two_isolators_agree(seed, r):
    a, b, rates = random_sums(seed, r)
    tower = exponential_sums.rolle(a, b, rates, np.sign(a))
    halved = exponential_sums.bounds(a, b, rates, np.sign(a), first_only=False)
    for one, other in zip(tower.crossings, halved.crossings, strict=True):
        one, other = one[np.isfinite(one)], other[np.isfinite(other)]
        assert len(one) == len(other) <= r
        np.testing.assert_allclose(one, other, rtol=1e-7)


@given(seeds, st.integers(2, 12))
@steady
def test_no_zero_is_stepped_over(seed, r):
    a, b, rates = random_sums(seed, r)
    found = exponential_sums.zeros(a, b, rates, np.sign(a))
    t = np.concatenate([[0.0], np.geomspace(1e-8, 1e5, 4000)])
    signs = np.sign(exponential_sums.evaluate(a, b, rates, np.tile(t, (6, 1))))
    for row in range(6):
        seen = int(np.sum(signs[row, 1:] * signs[row, :-1] < 0))
        assert np.isfinite(found.crossings[row]).sum() >= seen


@pytest.mark.parametrize(("n", "d", "seed"), [(5, 2, 0), (6, 3, 1), (5, 4, 2), (7, 3, 3)])
@pytest.mark.parametrize("integers", [False, True])
def test_cells_are_those_that_samples_meet(n, d, seed, integers):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)).astype(float) if integers else rng.normal(size=(n, d))
    X[-1] = 2.0 * X[0]
    found = enumerate_cells(X)
    H = rng.normal(size=(60_000, d)) @ X.T
    sampled = np.unique(H[(H != 0)[:, X.any(axis=1)].all(axis=1)] > 0, axis=0)
    assert {tuple(p) for p in sampled} == {tuple(p) for p in found.patterns}
    assert np.array_equal(found.witnesses @ X.T > 0, found.patterns)
    assert len(found) <= cell_bound(n, d)


def test_too_many_cells_are_refused():
    with pytest.raises(InputError, match="too many to enumerate"):
        enumerate_cells(np.random.default_rng(0).normal(size=(60, 6)))
    assert cell_bound(60, 6) > CELL_LIMIT


@pytest.mark.parametrize("seed", range(8))
def test_local_minima_hold_what_descents_find(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    X, y = rng.uniform(0, 1, (n, d)), rng.uniform(0.2, 1, n)
    minima = local_minima(X, y)
    for m in minima:
        assert np.linalg.norm(gradient(X, y, m.w)) <= 1e-10
        near = m.w + 1e-6 * rng.normal(size=(200, d))
        assert loss(X, y, near).min() >= m.loss - 1e-12
        assert m.rank == 1 + len({round(k.loss, 9) for k in minima if k.loss < m.loss - 1e-9})
    starts = 5.0 * rng.normal(size=(200, d))
    _, least = best_of_many(X, y, starts, 0.1, 4000)
    assert minima[0].loss <= least + 1e-9
    ends = np.array([affine_flow(X, y, w0).end for w0 in starts[:20]])
    losses = np.array([m.loss for m in minima])
    assert all(np.abs(losses - value).min() <= 1e-9 for value in loss(X, y, ends))


@pytest.mark.parametrize(
    ("X", "y", "w0", "word"),
    [
        ([[1.0, 2.0]], [1.0, 2.0], [0.0, 1.0], "y must have shape"),
        ([[1.0, 2.0]], [1.0], [0.0], "w0 must have shape"),
        ([[1.0, np.nan]], [1.0], [0.0, 1.0], "not finite"),
        (np.zeros((0, 2)), [], [0.0, 1.0], "X must have shape"),
    ],
)
def test_bad_arrays_get_a_sentence(X, y, w0, word):
    with pytest.raises(InputError, match=word):
        affine_flow(X, y, w0)
    with pytest.raises(InputError, match=word):
        affine_descent(X, y, w0, 0.1, 10)
