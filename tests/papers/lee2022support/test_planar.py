"""Flows in the plane, many at a time: parity with `affine_flow`, invariants, honest refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import largest_norm_drop
from reluflow.instances import KINDS, ORDINARY, draw_many
from reluflow.networks import gradient
from reluflow.papers.lee2022support.planar import planar_flows, planar_flows_of, turned_by
from reluflow.papers.lee2022support.setting import norm_drops

steady = settings(derandomize=True, max_examples=12, deadline=None)
seeds = st.integers(0, 10**6)

SHARES = {"uniform": 0.99, "directions": 0.98, "integers": 0.97, "near-parallel": 0.97}


def instances(kind: str, scale: float, count: int, seed: int = 0) -> list[dict]:
    """Data of this kind, each with a start of this size relative to labels over inputs."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    items = []
    for item in draw_many(count, 2, seed, kinds=(kind,)):
        unit = item.y.max() / np.linalg.norm(item.X, axis=1).max()
        items.append({"X": item.X, "y": item.y, "w0": scale * unit * rng.normal(size=2)})
    return items


def signed(seed: int, B: int = 10):
    """Random data with inputs of either sign, and starts over many sizes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    X, y = rng.normal(size=(B, n, 2)), rng.uniform(0.1, 1.5, (B, n))
    return X, y, 10.0 ** rng.uniform(-6, 2, (B, 1)) * rng.normal(size=(B, 2)), rng


def same_as_affine(flows, k: int, problem: dict) -> None:
    """Row k against `affine_flow`: the same events in the same order, times, states and end."""
    path, c = affine_flow(**problem), int(flows.count[k])
    assert path.status == "converged"
    assert flows.datum[k, :c].tolist() == [e.datum for e in path.events]
    assert flows.rising[k, :c].tolist() == [e.kind == "activate" for e in path.events]
    np.testing.assert_allclose(flows.times[k, :c], [e.t for e in path.events], rtol=1e-8)
    size = np.linalg.norm(path.end)
    assert np.linalg.norm(flows.ends[k] - path.end) <= 1e-9 * size
    there = path.at(flows.times[k, :c])
    gap = np.linalg.norm(flows.states[k, 1 : c + 1] - there, axis=1)
    assert np.all(gap <= 1e-7 * np.linalg.norm(there, axis=1))
    assert np.isinf(flows.times[k, c:]).all()
    assert (flows.datum[k, c:] == -1).all()


@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", [*ORDINARY, "degenerate"])
def test_decided_flows_are_those_of_affine_flow(kind, scale):
    problems = instances(kind, scale, 50)
    flows = planar_flows_of(problems)
    assert flows.decided.mean() >= SHARES.get(kind, 0.85)
    for k in np.nonzero(flows.decided)[0]:
        same_as_affine(flows, k, problems[k])


@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", sorted({*KINDS} - {*ORDINARY, "degenerate"}))
def test_flows_that_doubles_can_hardly_follow(kind, scale):
    """Units of many decades and directions 1e-9 apart: half of the flows at least are decided, and
    of these all but one in ten have as many events as `affine_flow` finds, and the same end."""
    problems = instances(kind, scale, 60)
    flows = planar_flows_of(problems)
    decided = np.nonzero(flows.decided)[0]
    assert len(decided) >= 30
    alike = 0
    for k in decided:
        path = affine_flow(**problems[k])
        near = np.linalg.norm(flows.ends[k] - path.end) <= 1e-6 * np.linalg.norm(path.end)
        alike += near and flows.count[k] == len(path.events)
    assert alike >= 0.9 * len(decided)


@given(seeds)
@steady
def test_inputs_of_either_sign(seed):
    X, y, w0, rng = signed(seed)
    if seed % 2:  # parallel and opposite data, which change together
        X[:, -1] = rng.choice([-2.0, -1.0, 0.5, 1.0], (len(X), 1)) * X[:, 0]
    flows = planar_flows(X, y, w0)
    assert flows.decided.mean() >= 0.8
    for k in np.nonzero(flows.decided)[0]:
        same_as_affine(flows, k, {"X": X[k], "y": y[k], "w0": w0[k]})


@given(seeds)
@steady
def test_states_solve_the_equation_and_patterns_are_those_of_the_states(seed):
    X, y, w0, _ = signed(seed)
    flows = planar_flows(X, y, w0)
    starts = np.concatenate([np.zeros((len(X), 1)), flows.times], axis=1)
    k, i = np.nonzero(np.isfinite(starts) & flows.decided[:, None])
    left, right = starts[k, i], np.append(starts, starts[:, :1] + np.inf, axis=1)[k, i + 1]
    length = np.minimum(right, left + 1.0) - left
    t = left[:, None] + length[:, None] * np.array([0.3, 0.5, 0.7])
    states = flows.at(t.ravel())[np.repeat(k, 3), np.arange(t.size)].reshape(len(k), 3, 2)
    patterns = flows.patterns[k, i]
    for row in np.nonzero(length > 0.0)[0]:  # parallel data change at one time
        w, span, A, labels = states[row], length[row], X[k[row]], y[k[row]]
        assert np.array_equal(w @ A.T > 0.0, np.tile(patterns[row], (3, 1)))
        # Simpson's rule for the velocity is exact up to the fourth order.
        velocity = -gradient(A, labels, w)
        step = 0.4 * span / 6.0 * (np.array([1.0, 4.0, 1.0]) @ velocity)
        error = (np.square(A).sum() * span) ** 4 * np.abs(velocity).max() * span
        assert np.abs(w[2] - w[0] - step).max() <= 0.01 * error + 1e-12 * np.abs(w).max()


@given(seeds)
@steady
def test_permutations_padding_and_the_company_of_other_rows_change_nothing(seed):
    X, y, w0, rng = signed(seed, 4)
    flows, order = planar_flows(X, y, w0), rng.permutation(X.shape[1])
    shuffled = planar_flows(X[:, order], y[:, order], w0)
    both = flows.decided & shuffled.decided
    assert np.array_equal(flows.count[both], shuffled.count[both])
    np.testing.assert_allclose(shuffled.ends[both], flows.ends[both], rtol=1e-9)
    items = [{"X": X[k, : 1 + k % X.shape[1]], "y": y[k, : 1 + k % X.shape[1]], "w0": w0[k]}
             for k in range(len(X))]  # fmt: skip
    mixed = planar_flows_of(items)
    for k, item in enumerate(items):
        n, alone = len(item["y"]), planar_flows_of([item])
        assert not mixed.patterns[k, :, n:].any()
        assert mixed.decided[k] == alone.decided[0]
        if mixed.decided[k]:
            np.testing.assert_allclose(mixed.ends[k], alone.ends[0], rtol=1e-12)
            assert np.array_equal(mixed.datum[k, : alone.count[0]], alone.datum[0])


@pytest.mark.parametrize("scale", [1e-4, 30.0])
def test_numbers_drawn_from_the_paths(scale):
    problems = instances("directions", scale, 60, seed=4)
    flows = planar_flows_of(problems)
    t = np.array([0.0, 1e-6, 1e-3, 0.02, 0.3, 5.0])
    states, drops = flows.at(t), norm_drops(flows, 40)
    again = dropped = 0
    for k in np.nonzero(flows.decided)[0]:
        path = affine_flow(**problems[k])
        np.testing.assert_allclose(states[k], path.at(t), rtol=1e-8, atol=1e-9 * scale)
        gone, back = set(), 0
        for event in path.events:
            back += event.kind == "activate" and event.datum in gone
            gone |= {event.datum} if event.kind == "deactivate" else set()
        falls = sum(event.kind == "deactivate" for event in path.events)
        assert (flows.reactivations()[k], flows.deactivations()[k]) == (back, falls)
        again += back
        if np.linalg.norm(path.end) < 1e-8 * np.abs(path.states).max():
            continue
        assert drops[k] == pytest.approx(largest_norm_drop(path, 40), rel=1e-6, abs=1e-12)
        dropped += drops[k] > 1e-3
    if scale > 1.0:
        assert min(again, dropped) > 0


CHOICES = {
    "a start on a boundary": ([[1, 0], [0, 1]], [1, 1], [0.0, 1.0]),
    "a start at the origin": ([[1, 0], [0, 1]], [1, 1], [0.0, 0.0]),
    "a minimum on a boundary": ([[1, 0], [0, 1], [1, -1]], [1, 1, 1], [0.1, 0.5]),
    "a line of limits that reaches a boundary": ([[1, 0], [1, 1]], [1, 1], [0.5, -1.0]),
    "a touch": ([[2, 0], [0, 1], [1, -1]], [36, 21, 1], [2.0, 13.0]),
    "a touch just missed": ([[2, 0], [0, 1], [1, -1]], [36, 21, 1], [2.0, 13.0 + 1e-12]),
    "a touch just too deep": ([[2, 0], [0, 1], [1, -1]], [36, 21, 1], [2.0, 13.0 - 1e-12]),
    "boundaries as good as one": ([[1, 0], [1, 1], [1, 1 + 1e-12]], [3, 1, 1], [0.5, -1.0]),
    "a valley of slope 1e-15": ([[1, 1], [1, 1 + 1e-7]], [1, 2], [1.0, 1.0]),
    "a rank that rounding hides": ([[1, 1], [1, 1 + 1e-12]], [1, 2], [1.0, 1.0]),
}


@pytest.mark.parametrize(("X", "y", "w0"), CHOICES.values(), ids=CHOICES)
def test_what_arithmetic_leaves_open_is_not_decided(X, y, w0):
    flows = planar_flows([X], [y], [w0])
    assert not flows.decided[0]
    assert flows.count[0] == 0
    assert np.isnan(flows.ends[0]).all()
    assert np.isnan(norm_drops(flows)[0])
    assert np.isnan(flows.at([0.0, 1.0])).all()


def test_starts_between_two_fates_are_decided_rightly_or_not_at_all():
    # Halving between two starts whose flows meet different events ends at a flow that touches a
    # boundary, comes to rest on one, or starts on one.
    problems = instances("directions", 3.0, 16, seed=9)
    data = planar_flows_of(problems)
    X, y, low = data.X, data.y, data.states[:, 0]
    high = low[:, ::-1] * np.array([1.0, -1.0]) + 0.3 * low

    def fates(w0):
        flows = planar_flows(X, y, w0)
        signs = np.where(flows.rising, 1, -1) * (flows.datum + 1)
        return flows, [(tuple(s[:c]), p.tobytes()) for s, c, p in
                       zip(signs, flows.count, flows.patterns[:, 0], strict=True)]  # fmt: skip

    first, from_low = fates(low)
    last, from_high = fates(high)
    halving = np.array([a != b for a, b in zip(from_low, from_high, strict=True)])
    halving &= first.decided & last.decided
    assert halving.sum() >= 8
    checked = 0
    for step in range(60):
        middle = 0.5 * (low + high)
        flows, here = fates(middle)
        for k in np.nonzero(halving & flows.decided)[0] if step % 3 == 2 else ():
            n = len(problems[k]["y"])
            same_as_affine(flows, k, {"X": X[k, :n], "y": y[k, :n], "w0": middle[k]})
            checked += 1
        halving &= flows.decided
        below = np.array([a == b for a, b in zip(here, from_low, strict=True)])[:, None]
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    assert checked >= 50
    assert not halving.any()


@pytest.mark.parametrize(("shift", "events"), [(1e-6, 0), (-1e-3, 1)])
def test_beside_a_touch(shift, events):
    # With x = exp(-t), h_3 = -3 - 16 x^4 + 8 x touches zero from below at x = 1/2.
    flows = planar_flows([[[2, 0], [0, 1], [1, -1]]], [[36, 21, 1]], [[2.0, 13.0 + shift]])
    assert flows.decided[0]
    assert (flows.datum[0] == 2).sum() >= events
    assert flows.count[0] >= events
    same_as_affine(flows, 0, {"X": flows.X[0], "y": flows.y[0], "w0": flows.states[0, 0]})


def test_small_coordinates_are_known_to_rounding_of_themselves():
    rng = np.random.default_rng(5)
    angle = rng.uniform(0.1, 1.4, 50)
    c, s = np.cos(angle), np.sin(angle)
    p, q = c + 1e-9 * rng.normal(size=50), s + 1e-9 * rng.normal(size=50)
    across = turned_by(p, q, c, s)[1]
    exact = [
        float(Fraction(b) * Fraction(u) - Fraction(a) * Fraction(v))
        for a, b, u, v in zip(p, q, c, s, strict=True)
    ]
    np.testing.assert_allclose(across, exact, rtol=1e-14)


def test_far_starts_lose_no_digits_of_times():
    problems = instances("uniform", 1e6, 40, seed=3)
    flows = planar_flows_of(problems)
    assert flows.decided.mean() >= 0.95
    for k in np.nonzero(flows.decided)[0]:
        times = [event.t for event in affine_flow(**problems[k]).events]
        np.testing.assert_allclose(flows.times[k, : flows.count[k]], times, rtol=3e-12)


def test_a_late_event_forgets_a_far_start():
    # h_2 = w_2 - w_1 goes from -10^6 to 1/1000; w_1 = 1 + (10^6 - 1) exp(-t) meets w_2 late.
    flows = planar_flows([[[1, 0], [-1, 1]]], [[1, 1]], [[1e6, 1.001]])
    assert flows.decided[0]
    expected = np.log((1e6 - 1.0) / (1.001 - 1.0))
    np.testing.assert_allclose(flows.times[0, 0], expected, rtol=1e-13)


@pytest.mark.parametrize("kind", ["uniform", "degenerate"])
def test_a_row_is_a_trajectory(kind):
    flows = planar_flows_of(problems := instances(kind, 30.0, 60, seed=7))
    together = 0
    for k in np.nonzero(flows.decided)[0]:
        path, known = flows[k], affine_flow(**problems[k])
        assert (path.status, path.clock, path.has_limit) == ("converged", "time", True)
        assert [(e.datum, e.kind) for e in path.events] == [(e.datum, e.kind) for e in known.events]
        assert path.t[0] == 0.0
        assert (np.diff(path.t) > 0).all()
        assert path.t == pytest.approx(known.t, rel=1e-8)
        np.testing.assert_allclose(path.at(path.t), path.states, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(path.at(np.inf), path.end)
        grid = path.grid(20)
        assert grid[-1] == pytest.approx(known.grid(20)[-1], rel=1e-6)
        np.testing.assert_allclose(path.at(grid), known.at(grid), rtol=1e-6, atol=1e-8)
        assert path.at(grid.reshape(1, -1)).shape == (1, len(grid), 2)
        together += len(path.t) < 1 + len(path.events)
    assert (together > 0) == (kind == "degenerate")


def test_undecided_rows_are_those_of_affine_flow():
    problems = instances("integers", 1.0, 100, seed=2)
    for k in range(0, 100, 2):  # starts on boundaries, for which affine_flow may find one way
        x = problems[k]["X"][np.argmax(problems[k]["X"].any(axis=1))]
        problems[k]["w0"] = np.array([-x[1], x[0]]) * (1 if k % 4 else -1)
    flows = planar_flows_of(problems)
    assert not flows.decided[::2].any()
    limits = 0
    for k in range(0, 100, 2):
        path, known = flows[k], affine_flow(**problems[k])
        assert path.status == known.status
        # Zero rows fill up the data of the batch: sums may round in another order.
        assert [(e.datum, e.kind) for e in path.events] == [(e.datum, e.kind) for e in known.events]
        assert path.t == pytest.approx(known.t, rel=1e-9)
        np.testing.assert_allclose(path.end, known.end, rtol=1e-9, atol=1e-12)
        limits += path.has_limit
    assert 15 < limits < 50


def test_times_of_their_own():
    flows = planar_flows_of(instances("directions", 30.0, 30, seed=4))
    grid = flows.grid(10)
    states = flows.at(grid)
    for k in np.nonzero(flows.decided)[0]:
        np.testing.assert_array_equal(states[k], flows.at(grid[k])[k])
    with pytest.raises(InputError, match="one a flow"):
        flows.at(grid[:-1])


def test_rows_that_need_more_events_are_given_up():
    problems = instances("uniform", 1e3, 60)
    flows = planar_flows_of(problems)
    short = planar_flows_of(problems, max_events=2)
    assert np.array_equal(short.decided, flows.decided & (flows.count <= 2))
    assert 0 < short.decided.sum() < flows.decided.sum()


def test_no_data_no_motion_no_rows():
    still = planar_flows([[[1.0, 0.0], [0.0, 0.0]]], [[1.0, 1.0]], [[-1.0, 2.0]])
    assert still.decided[0]
    np.testing.assert_array_equal(still.ends, [[-1.0, 2.0]])
    np.testing.assert_array_equal(still.at([0.0, 1.0, np.inf])[0], [[-1.0, 2.0]] * 3)
    assert norm_drops(still)[0] == 0.0
    assert still[0].t.tolist() == [0.0]
    none = planar_flows_of([])
    assert len(none) == len(norm_drops(none)) == 0
    assert none.at([1.0]).shape == (0, 1, 2)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"y": [[1.0, 0.0]]}, "y must be positive"),
        ({"y": [[1.0, -1.0]]}, "y must be positive"),
        ({"y": [1.0, 1.0]}, "y must have shape"),
        ({"X": np.ones((1, 2, 3))}, "X must have shape"),
        ({"w0": [[1.0, 2.0, 3.0]]}, "w0 must have shape"),
        ({"w0": [[1.0, np.nan]]}, "not finite"),
    ],
)
def test_bad_arrays_get_a_sentence(change, word):
    arrays = {"X": np.ones((1, 2, 2)), "y": [[1.0, 1.0]], "w0": [[1.0, 2.0]]}
    with pytest.raises(InputError, match=word):
        planar_flows(**{**arrays, **change})
    with pytest.raises(ValueError, match="at least 0"):
        planar_flows(**arrays).at([-1.0])
    short = {"X": np.ones((2, 2)), "y": [1.0], "w0": [1.0, 2.0]}
    long = {"X": np.ones((1, 2)), "y": [1.0, 1.0], "w0": [1.0, 2.0]}
    with pytest.raises(InputError, match="label for each row"):
        planar_flows_of([short, long])
