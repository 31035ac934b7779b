"""Boundaries: the next contact of a flow, against a search among all data, and what a flow does on
them, each case by hand and all faces by exhaustion."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reluflow.flows import affine, segment
from reluflow.flows import segment as segments
from reluflow.flows.exponential_sums import zeros
from scipy.optimize import linprog
from threadpoolctl import threadpool_info, threadpool_limits

FEW = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def random_flow(seed: int):
    """A flow and its sides: many data, few or many rates, and one datum that comes to its boundary,
    stays by it for a moment, and is just across or just not."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 80)), int(rng.integers(1, 13))
    X = rng.random((n, d)) if seed % 2 else rng.normal(size=(n, d))
    X *= 10.0 ** rng.uniform(-1.5 * (seed % 3), 0.0, d)
    y, w = rng.uniform(0.2, 3.0, n), rng.normal(size=d) * 10.0 ** rng.uniform(-6, 2)
    flow = segment.segment(segment.Data(X, y), w, X @ w > 0)
    if flow.rates.size and d > 2:
        t = rng.exponential() / rng.choice(flow.rates)
        (at,), v, x = flow.after(np.array([t])), flow.velocity(t), rng.normal(size=d)
        Q = np.linalg.qr(np.stack([at, v], axis=1))[0]
        off = 10.0 ** rng.uniform(-6, -1) * rng.choice([-1, 1])
        x += off * at / np.linalg.norm(at) - Q @ Q.T @ x
        X, y, on = np.vstack([X, x]), np.append(y, 1.0), np.append(X @ w > 0, False)
        flow = segment.segment(segment.Data(X, y), w, on)
    sides = np.where(X @ w > 0, 1.0, -1.0)
    if len(X) > n:  # the others that come to theirs before are not asked
        found = zeros(flow.sums(np.arange(n)), sides[:n])
        sides[found.row[found.t < 2.0 * t]] = 0.0
    return flow, sides


def among_all(flow, sides):
    """The time of the first contact, and the datum that has it, found by looking at all data."""
    rows = np.flatnonzero(sides)
    found = zeros(flow.sums(rows), sides[rows])
    return found.t.min(initial=np.inf), rows[found.row[found.t.argmin()]] if found.t.size else -1


@settings(FEW, max_examples=60)
@given(st.integers(0, 10**6), st.booleans())
def test_the_first_contact_is_the_first_of_all_data(seed, stays) -> None:
    """Of all that do not stay on their boundary."""
    flow, sides = random_flow(seed)
    assume(flow.rates.size)
    time, datum = among_all(flow, sides)
    if stays and datum >= 0:
        held, sides[datum] = datum, 0.0
        time, datum = among_all(flow, sides)
    contact = affine.first_contact(flow, sides)
    if np.isinf(time):
        assert contact is None
        return
    assert contact.moment.s == pytest.approx(time, rel=1e-9)
    assert contact.data[datum]
    assert contact.came[datum] in (0.0, sides[datum])
    assert not stays or contact.data[held]
    rounding = 1e-14 * contact.moment.summed * flow.data.norms
    error = np.abs(contact.moment.products[0] - flow.data.X @ contact.moment.state)
    assert (error <= rounding).all()


def test_a_flow_runs_on_one_thread_of_blas(monkeypatch) -> None:
    inside: list[int] = []

    def looked_at(step, *given, **named):
        inside.extend(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")
        return step(*given, **named)

    for module, name in ((affine, "opening"), (segments, "dgejsv")):
        monkeypatch.setattr(module, name, partial(looked_at, getattr(module, name)))
    X, y = np.random.default_rng(3).random((40, 5)), np.linspace(0.1, 1.0, 40)
    with threadpool_limits(2, user_api="blas"):
        before = threadpool_info()
        for activation in ("relu", "linear"):
            affine.affine_flow(X, y, np.ones(5), activation, max_events=9)
        assert threadpool_info() == before
    assert set(inside) == {1}


def test_data_that_are_dependent_but_for_rounding_have_one_rate() -> None:
    A, w = np.outer(np.arange(1.0, 8.0), [0.1, 0.3, 0.7]), np.ones(3)
    for k in range(1, 8):
        data, on = segment.Data(A[:k], np.ones(k)), np.ones(k, bool)
        flow, _ = segments.opening(data, w, on, 0.0, segment.products_of(A[:k], w))
        np.testing.assert_allclose(flow.rates, [np.sum(A[:k] ** 2)], rtol=1e-13)


def test_a_limit_that_is_rounding_alone_is_zero() -> None:
    """Of a datum with label 0, as many data as dimensions: its limit is its label."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X, on = rng.standard_normal((3, 3)), np.ones(3, bool)
        flow = segment.segment(
            segment.Data(X, np.array([1.0, 1.0, 0.0])), rng.standard_normal(3), on
        )
        limit = flow.sums(np.arange(3)).limit
        np.testing.assert_allclose(limit[:2], 1.0, rtol=1e-9)
        assert limit[2] == 0.0


# --- On boundaries ------------------------------------------------------------------------------


def leave(X, y, w, tolerance=1e-9):
    """The ways to leave w, in terms of the surfaces through it."""
    X, y, w = np.asarray(X, float), np.asarray(y, float), np.asarray(w, float)
    on_boundary = (np.abs(X @ w) <= tolerance) & X.any(axis=1)
    here = segment.switching_surfaces(X, y, np.nonzero(on_boundary)[0])
    products = np.where(on_boundary, 0.0, segment.products_of(X, w))
    return here, affine.continuations(X, y, products, (X @ w > 0) & ~on_boundary, here)


def sides(modes):
    return sorted(mode.sides for mode in modes)


def test_parallel_data_share_a_surface() -> None:
    X = np.array([[1.0, 2.0], [3.0, 1.0], [-2.0, -4.0], [1.0, 2.0], [0.5, 1.0 + 1e-9]])
    y = np.array([1.0, 2.0, 3.0, -4.0, 5.0])
    found = segment.switching_surfaces(X, y, np.arange(5))
    assert [surface.data for surface in found] == [(0, 2, 3), (1,), (4,)]
    first = found[0]
    np.testing.assert_allclose(first.normal, np.array([1.0, 2.0]) / np.sqrt(5), rtol=1e-15)
    assert (first.plus, first.minus) == ((0, 3), (2,))
    # Plus: (1 - 4) sqrt(5); minus: 3 * (-2 sqrt(5)).
    np.testing.assert_allclose(first.jump, np.sqrt(5) * np.array([-6.0, -3.0]), rtol=1e-14)


@pytest.mark.parametrize(
    ("y1", "force", "bend", "expected"),
    [
        (1.0, 0.5, 0.0, [(1,)]),  # carried to the active side from either side
        (1.0, -2.0, 0.0, [(-1,)]),  # carried to the inactive side from either side
        (1.0, -0.5, 0.0, [(-1,), (0,), (1,)]),  # both sides jump away
        (-1.0, 0.5, 0.0, [(0,)]),  # both sides jump towards it
        (-1.0, 2.0, 0.0, [(1,)]),
        (-1.0, -0.5, 0.0, [(-1,)]),
        (1.0, 0.0, 1.0, [(1,)]),  # tangent, bending away from the inactive side: x_1 pulls alone
        (1.0, 0.0, -1.0, [(-1,), (0,), (1,)]),
        (-1.0, 0.0, 1.0, [(0,)]),
        (-1.0, 0.0, -1.0, [(-1,)]),
        (1.0, -1e-12, 0.0, [(-1,), (0,), (1,)]),  # not tangent, however slow
    ],
)
def test_one_surface(y1, force, bend, expected) -> None:
    """At w = (0, 1, 1, 1) x_4 pushes with `force`, and x_2 and x_3 with -bend (4 - 2 w_2) and
    2 bend (2 - w_3), which cancel at first; w_3 is the slower one."""
    X = np.array([[1.0, 0, 0, 0], [-bend, 2, 0, 0], [2 * bend, 0, 1, 0], [force, 0, 0, 1]])
    for flip in (1, -1):  # the same with the datum's sign and the axis turned round
        here, modes = leave(X * [flip, 1, 1, 1], [y1, 4, 2, 2], [0, 1, 1, 1])
        assert sides(modes) == expected
        assert here[0].data == (0,)
        assert not any(mode.resting[0] for mode in modes)


@pytest.mark.parametrize(
    ("force", "arrival", "expected"),
    [
        (1e-15, -1, [(1,)]),  # from the inactive side, where nothing but the force moves it
        (-1.0 - 1e-15, 1, [(-1,)]),  # from the active side, where x_1 all but outweighs the force
        (-1.0, 0, [(-1,), (0,), (1,)]),  # a start: x_1 outweighs it just so, and more and more
    ],
)
def test_a_crossing_so_slow_that_its_speed_is_rounding(force, arrival, expected) -> None:
    X, y = np.array([[1.0, 0.0], [force, 1.0]]), np.array([1.0, 2.0])
    here = segment.switching_surfaces(X, y, np.array([0]))
    products = np.array([[0.0, 1.0], [0.0, 1e-16]])
    modes = affine.continuations(X, y, products, np.array([False, True]), here, arrival)
    assert sides(modes) == expected


@FEW
@given(st.integers(0, 10**6), st.integers(4, 5), st.booleans())
def test_no_way_out_is_missed(seed, k, dependent) -> None:
    # Against all 3^k faces; with many surfaces `continuations` looks at few of them.
    rng = np.random.default_rng(seed)
    d = 3 if dependent else k + 1
    X = np.hstack([rng.integers(-3, 4, (k, d - 1)), np.zeros((k, 1))])
    assume(np.linalg.norm(X, axis=1).all())
    # Independent surfaces, or all of them through one line.
    w = np.zeros(d)
    w[-1] = 1.0
    X = np.vstack([X, np.append(rng.normal(size=d - 1), 1.0)])
    y = np.append(rng.choice([-1.0, -2.0, 1.0], k, p=[0.5, 0.3, 0.2]), 2.0)
    here, modes = leave(X, y, w)
    assume(len(here) >= 4)
    H, v, B = np.outer(X[k], X[k]), X[k] * (2.0 - X[k] @ w), np.abs(X[k])
    sizes = np.outer(B, B), B * (2.0 + B @ np.abs(w))
    every = [
        face
        for face in product((1, -1, 0), repeat=len(here))
        if affine._consistent(X, y, H, v, sizes, here, face) is not None
    ]
    assert sides(modes) == sorted(every)


def test_many_surfaces_that_only_attract_are_resolved() -> None:
    # Twelve orthogonal surfaces: every third is entered, crossed back, or held.
    k = 12
    force = np.resize([2.0, -0.5, 0.5], k)
    X = np.vstack([np.eye(k, k + 1), np.append(force, 1.0)])
    w = np.append(np.zeros(k), 1.0)
    _, modes = leave(X, np.append(-np.ones(k), 2.0), w)
    assert sides(modes) == [tuple(np.resize([1, -1, 0], k))]


def test_too_many_surfaces() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    with pytest.raises(ValueError, match="40 non-parallel activation boundaries meet"):
        leave(X, rng.choice([-1.0, 1.0], 40), np.zeros(6))


def test_surfaces_at_a_tiny_angle_hold_what_their_jumps_do() -> None:
    # Their Gram matrix is singular in doubles, for its entries differ by the angle's square.
    X, y = np.array([[1.0, 0.0], [1.0, 1e-9]]), np.array([-1.0, -2.0])
    here = segment.switching_surfaces(X, y, np.arange(2))
    assert len(here) == 2
    F, c, _ = segment.sliding_condition(X, here)
    for shares, holds in (((0.5, 0.5), True), ((0.9, 0.1), True), ((1.5, 0.5), False)):
        v = -(np.array(shares) * y) @ X
        assert bool(np.all(F @ v <= c + 1e-6)) == holds


@FEW
@given(st.integers(0, 10**6), st.sampled_from([(2, 3), (3, 3), (3, 2), (4, 3), (5, 2)]))
def test_what_surfaces_can_hold(seed, shape) -> None:
    # F v <= c, against a linear programme: is -v a mean of the jumps in the cells around, up to
    # what is tangent to all surfaces? The cells are found by sampling.
    k, r = shape
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.integers(-3, 4, (k, r)), np.zeros((k, 1))]).astype(float)
    assume(np.linalg.norm(X, axis=1).all())
    y = rng.choice([-2.0, -1.0, 1.0], k)
    here = segment.switching_surfaces(X, y, np.arange(k))
    samples = rng.normal(size=(20000, r + 1))
    N = np.array([surface.normal for surface in here])
    patterns = np.unique(samples @ N.T > 0, axis=0)
    low_high = np.array([surface.jump for surface in here])
    sums = np.where(patterns, low_high[:, 1], low_high[:, 0]) @ N
    F, c, _ = segment.sliding_condition(X, here)
    Q = segment.tangent_basis(N, r + 1)
    for v in rng.normal(size=(10, r + 1)) * rng.choice([0.5, 2.0, 6.0], (10, 1)):
        slack = (c - F @ v).min(initial=np.inf)
        if abs(slack) < 1e-6:
            continue
        # sum_i a_i sums_i + v tangent to all surfaces, with a >= 0, sum a = 1
        A = np.vstack([(N @ sums.T), np.ones(len(sums))])
        b = np.append(-N @ v, 1.0)
        feasible = linprog(np.zeros(len(sums)), A_eq=A, b_eq=b).status == 0
        assert feasible == (slack > 0)
        # What is tangent to the surfaces is no business of theirs.
        np.testing.assert_allclose(F @ (v + Q @ np.ones(Q.shape[1])), F @ v, atol=1e-9)
