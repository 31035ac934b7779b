"""The exact flow of one neuron: against integration, against closed forms, and by its invariants.

Accuracy to many digits is `test_affine_accuracy`'s business; here it is the course of events.
"""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support.landscape import gradient, loss
from scipy.optimize import lsq_linear

# All data active, the flow from 0 has rates 3, 9, 21, and x_1.w touches zero at exp(-3t) = 1/4.
TANGENT_X = np.array([[0.0, 0.0, 3.0], [0.0, 3.0, 0.0], [1.0, 2.0, 2.0], [2.0, 1.0, 1.0]])


def descended(X, y, w, T: float, steps: int) -> np.ndarray:
    """The plainest integration: full-batch gradient descent with step T / steps."""
    w = np.array(w, float)
    for _ in range(steps):
        w = w - T / steps * gradient(X, y, w)
    return w


def summary(flow):
    return [(e.datum, e.kind) for e in flow.events]


def assert_stationary(X, y, w) -> None:
    """Zero is a mean of the velocities around w."""
    h = X @ w
    on = np.abs(h) <= 1e-9
    active = (h > 0) & ~on
    force = X[active].T @ (y[active] - h[active])
    if on.any():
        pull = (X[on] * y[on, None]).T
        force = force + pull @ lsq_linear(pull, -force, (0.0, 1.0), method="bvls", tol=1e-15).x
    np.testing.assert_allclose(force, 0.0, atol=1e-8)


@pytest.mark.parametrize("seed", [51, 307, 607, 907, 1407])
def test_data_that_are_parallel_to_rounding_are_not_left_behind(seed) -> None:
    """A rounded multiple may be on its boundary, or past it, before its twin is said to be."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 11))
    X, _, w0 = rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n), rng.normal(size=d)
    X = np.vstack([X, X[: n // 2] * rng.uniform(0.5, 2.0), -X[: n // 3]])
    y = rng.uniform(0.2, 2.0, len(X))
    flow = affine_flow(X, y, w0)
    assert flow.status == "converged"
    assert_stationary(X, y, flow.end)


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
@pytest.mark.parametrize(("y1", "unique"), [(3.0, False), (-2.0, True)])
def test_a_touch_from_the_active_side(y1, unique, turn) -> None:
    # x_1.w = 12 (u - 1/2)^2 (u + 1) with u = exp(-3t). A label y_1 < 0 jumps back from the other
    # side, so that the touch passes; y_1 > 0 does not.
    s = 3.0 - y1
    y = np.array([3.0, 30.0, 22.0, 11.0]) - s * np.array([1.0, 1.0, -2.0, 1.0])
    Q = np.eye(3) if turn == 0 else np.linalg.qr(np.random.default_rng(turn).normal(size=(3, 3)))[0]
    flow = affine_flow(TANGENT_X @ Q, y, np.array([12.0, 3.0, 2.0]) @ Q)
    assert flow.status == ("converged" if unique else "non-unique")
    assert summary(flow) == []
    if unique:
        np.testing.assert_allclose(flow.end @ Q.T, [0.0, 10.0, 1.0], atol=1e-9)
    else:
        assert flow.t[-1] == pytest.approx(log(2.0) / 3, rel=1e-6)


def test_a_datum_that_rests_on_its_boundary_wakes() -> None:
    # x_1.w = 0 until x_4 activates, when the flow starts to leave w_3 = 0.
    X = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, -1.0, 1.0]])
    y, w0 = np.array([-1.0, 3.0, 1.0, 5.0]), np.array([0.5, 1.0, 0.0])
    by_steps = descended(X, y, w0 - [0, 0, 1e-9], 1.0, 20000)
    for turn in range(4):
        rng = np.random.default_rng(turn)
        Q = np.eye(3) if turn == 0 else np.linalg.qr(rng.normal(size=(3, 3)))[0]
        flow = affine_flow(X @ Q, y, w0 @ Q)
        assert summary(flow)[:2] == [(0, "activate"), (3, "activate")]
        assert flow.events[0].t == flow.events[1].t == pytest.approx(log(1.25), rel=1e-12)
        np.testing.assert_allclose(flow.at(1.0) @ Q.T, by_steps, atol=1e-3)


def test_many_data_with_labels_of_either_sign() -> None:
    # A release from sliding starts tangentially; rounding made the same contact come back for ever.
    rng = np.random.default_rng(320)
    X, y = rng.standard_normal((300, 20)), rng.standard_normal(300)
    flow = affine_flow(X, y, 1e-2 * rng.standard_normal(20), max_events=1000)
    assert flow.status == "sliding"
    values = loss(X, y, flow.states)
    assert (np.diff(values) < 0).all()
    assert (np.abs(X @ flow.end) <= 1e-9).sum() > 6
    assert_stationary(X, y, flow.end)


def test_a_start_on_a_repelling_boundary() -> None:
    # At w_1 = 0 the other data jump with -1/2: left on the inactive side, right (y_1 = 1) on the
    # active one.
    X, y = np.array([[1.0, 0.0], [-0.5, 1.0]]), np.array([1.0, 2.0])
    flow = affine_flow(X, y, [0.0, 1.0])
    assert (flow.status, flow.has_limit, flow.events) == ("non-unique", False, ())
    assert (flow.t.tolist(), flow.end.tolist()) == ([0.0], [0.0, 1.0])
    assert "at least 3 different flows" in flow.detail
    assert "x_1" in flow.detail
    # Two boundaries are met at once on the way, and the one with y > 0 is tangent to the path.
    both = affine_flow([[1, 0], [0, 1], [0, -1]], [2, 1, 1], [1, 0])
    # Nothing else is active: the start may stay, or be carried off by x_1.
    dead = affine_flow([[1.0, 0.0], [0.5, 1.0]], [1.0, 2.0], [0.0, -1.0])
    assert both.status == dead.status == "non-unique"


@pytest.mark.parametrize("n", [1, 3, 40, 300])
@pytest.mark.parametrize("d", [1, 2, 8])
def test_the_origin_is_left_in_many_ways_and_held_by_labels_below_zero(n, d) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, d)), rng.uniform(0.5, 2.0, n)
    flow = affine_flow(X, y, np.zeros(d))
    assert flow.status == "non-unique"
    assert not flow.end.any()
    if d == 2 and n <= 40:
        held = affine_flow(X, -y, np.zeros(d))
        assert held.status in ("converged", "sliding")
        assert not held.end.any()


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(1, 3).flatmap(
        lambda d: st.tuples(
            st.lists(st.lists(st.integers(-2, 2), min_size=d, max_size=d), min_size=1, max_size=5),
            st.lists(st.sampled_from([-2.0, -1.0, 1.0, 2.0, 3.0]), min_size=5, max_size=5),
            st.lists(st.integers(-2, 2), min_size=d, max_size=d),
        )
    )
)
def test_nothing_is_chosen_in_silence(case) -> None:
    # Small integer data meet boundaries exactly. If the flow is said to be unique, flows from
    # starts nearby must stay near it, whichever side of the boundaries they are on. (At a contact
    # of third order a start off by 1e-10 is off by its cube root soon after.)
    X, w0 = np.array(case[0], float), np.array(case[2], float)
    y = np.array(case[1][: len(X)])
    flow = affine_flow(X, y, w0, max_events=200)
    assert "undecided" not in flow.detail
    assert flow.status != "horizon"
    T = 0.4 / max(np.linalg.norm(X, 2) ** 2, 1.0)
    if flow.status == "non-unique":
        T = flow.t[-1]
    rng = np.random.default_rng(0)
    for _ in range(4):
        near = affine_flow(X, y, w0 + 1e-10 * rng.normal(size=len(w0)))
        if near.has_limit:
            np.testing.assert_allclose(near.at(T), flow.at(T), atol=2e-3)


def test_a_path_may_be_cut_after_some_events() -> None:
    rng = np.random.default_rng(4)
    X, y, w0 = rng.normal(size=(6, 3)), rng.uniform(0.2, 2.0, 6), rng.normal(size=3)
    flow, short = affine_flow(X, y, w0), affine_flow(X, y, w0, max_events=1)
    assert (short.status, short.events) == ("horizon", flow.events[:1])
    np.testing.assert_allclose(short.end, flow.at(short.t[-1]), rtol=1e-13)
    assert "1 events" in short.detail


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (([1.0, 2.0], [1.0], [1.0]), r"X must have shape \(n, d\)"),
        (([[1.0, 2.0]], [1.0, 2.0], [1.0, 1.0]), r"y must have shape \(1,\)"),
        (([[1.0, 2.0]], [1.0], [1.0]), r"w0 must have shape \(2,\)"),
        (([[1.0, 2.0]], [1.0], [1.0, np.nan]), "w0 has an entry that is not finite"),
        (([[1.0, 2.0]], [1.0], [1.0, 1.0], "tanh"), 'activation must be "relu" or "linear"'),
    ],
)
def test_bad_input_is_named(args, words) -> None:
    with pytest.raises(InputError, match=words):
        affine_flow(*args)


def test_what_doubles_cannot_tell_is_one_clear_sentence(monkeypatch) -> None:
    def singular(*_):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr("reluflow.flows.affine.continuations", singular)
    with pytest.raises(InputError, match="boundaries of x_1 meet at angles too small to tell"):
        affine_flow([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [0.0, 1.0])


def end_on_the_line(x: list[int], y: list[int], u: Fraction) -> Fraction:
    """Where a neuron on the line ends that starts from u != 0: each sign has a cell of its own."""
    for side in (1 if u > 0 else -1, -1 if u > 0 else 1):
        pull = {s: sum(a * b for a, b in zip(x, y, strict=True) if a * s > 0) for s in (1, -1)}
        if not any(a * side > 0 for a in x):
            return u
        if pull[side] * side >= 0:  # it comes to 0 in no finite time
            return Fraction(pull[side], sum(a * a for a in x if a * side > 0))
        if pull[-side] * side >= 0:  # it is held there
            return Fraction(0)
        u = Fraction(-side)
    raise AssertionError("unreachable: the second cell holds the flow")


@pytest.mark.parametrize("log_size", [-9.0, 0.0, 6.0])
def test_a_limit_on_a_boundary_is_not_crossed(log_size: float) -> None:
    """Labels 0 and opposite data: a flow that fades on its boundary would part from the exact one
    for good if rounding took it across."""
    rng, left_open = np.random.default_rng(0), 0
    for _ in range(120):
        p = rng.integers(-4, 5, 2)
        if not p.any():
            continue
        along, n = rng.random(6) < 0.5, int(rng.integers(2, 7))
        times, y = rng.choice([-3, -2, -1, 1, 2, 3], n), rng.integers(-3, 4, n)
        axes, w = (p, np.array([-p[1], p[0]])), rng.normal(size=2) * 10.0**log_size
        own = [along[:n], ~along[:n]]
        exact = np.zeros(2)
        for axis, rows in zip(axes, own, strict=True):
            start = sum(Fraction(float(a)) * int(b) for a, b in zip(w, axis, strict=True))
            size = int(axis @ axis)
            x = [int(k) * size for k in times[rows]]
            exact += float(end_on_the_line(x, y[rows].tolist(), start / size)) * axis
        flow = affine_flow(np.where(own[0][:, None], *axes) * times[:, None], y, w)
        if flow.status == "non-unique":
            left_open += 1
            continue
        np.testing.assert_allclose(flow.end, exact, atol=1e-9 * max(1.0, np.abs(w).max()))
    assert left_open < 2


FAILED = {  # X, y, w0; the status, all events or their number, the end or None
    "a flat of sliding moves only within itself, and no second, very slow way comes of rounding": (
        [(2, -1, -2), (1, -1, -2), (-1, -1, -1), (-2, -1, -1), (2, -2, -1)], (1, -1, 1, -2, 2),
        (-1, -1, 0), "sliding", 6, (20 / 83, -100 / 83, 60 / 83)),
    "a slide that reaches the origin is there: a rounding away boundaries are crossed one by one": (
        [(-1, -1), (-3, -1), (2, -2), (1, -2), (0, 1), (3, -1), (-2, 1)], (-4, 2, -4, -1, 0, 4, -4),
        (-1, 1), "non-unique", 1, (0, 0)),
    "the same": (
        [(-2, -2), (3, -1), (2, 1), (-1, 2), (-3, 2), (3, 0)], (-4, -3, 0, -4, 3, -1), (6, -6),
        "sliding", 9, (-3 / 34, 3 / 34)),
    "a start near a limit on a boundary: by 100 digits there is no event": (
        [(3, -3), (-2, -1), (-2, 4), (-1, 3), (-1, 1), (-3, -4), (6, 8)], (21, 3, 2, 0, 2, 2, 0),
        (4.01322122088338, -3.0067409709372344), "converged", [], (4, -3)),
    "the same, of six": (
        [(-2, -3), (-1, 3), (1, -1), (-1, -2), (-2, 8), (-1, 4)], (11, 1, 1, 6, 3, -1),
        (-3.98624755824228, -0.9967112388019578), "converged", [], (-4, -1)),
    "a boundary that is followed without a jump, as an inactive datum allows, is no slide": (
        np.eye(2), (-1, 2), (0, 1), "converged", [], (0, 2)),
    "a datum that leaves its boundary starts from zero, whatever side rounding puts it on": (
        [(-1, -0.3), (-0.1, -0.2), (-0.9, -0.5), (0.9, 0.8)], (-0.6, -0.9, 1.1, -0.5), (0.9, 2.3),
        "converged", 5, None),
    "a datum that lets go in space does not stall": (
        [(0.77, 0.98, 1.98), (-0.41, 0.77, 1.04), (0.24, 1.62, 0.44)], (-0.2, 0.5, 1.8),
        (-0.294, 0.231, 0), "converged", [(0, "activate"), (0, "slide"), (0, "deactivate")], None),
    "a start twenty roundings inside of a boundary": (
        [(1, -1)], (1,), (1, 1 - 2.0**-48), "converged", [], (1.5, 0.5)),
    "a start twenty roundings outside": (
        [(1, -1)], (1,), (1, 1 + 2.0**-48), "converged", [], (1, 1 + 2.0**-48)),
    "the rounding that a slide brings from farther away does not hide that its end is 0": (
        [(-2.4052999908657564, 0.7206191788137917), (0.9635589156875939, -0.7429322712552711),
         (-0.11946193574208293, -0.877218774012344), (1.1246319313173596, -0.7885972562446044)],
        (-0.5837466853015344, -0.8424489775019054, -0.5079600975874302, 0.5723286754296721),
        (-1.5960534456894047, 0.3408508930900613), "non-unique", 4, (0, 0)),
    "dependent boundaries, x_5 = x_7 - x_1, are met at once; a hold of cancelling jumps fades": (
        [(-1, -1, 0, 1), (1, 0, -1, 0), (0, 1, 0, -1), (-1, 1, -1, -1), (1, 0, 1, -1),
         (-1, -1, 1, -1), (0, -1, 1, 0)], (-1, 0, 0, -1, 0, 1, -1),
        (0.13548585944998648, -1.3704076401837166, -0.051139903075536924, 1.487840671700908),
        "sliding", [(6, "deactivate"), (0, "slide"), (4, "slide"), (6, "slide")],
        0.24137423708465 * np.array([1, 1, 1, 2])),
    "a direction that is rounding, all that a datum has of it, has no rate": (
        [(1, -1, -1, -1), (-1, 0, 0, 0), (1, -1, -1, 0), (1, 0, 0, -1), (1, -1, -1, -1),
         (1, 0, -1, 1), (0, -1, 0, -1), (0, -1, 0, 1)], (1, 0, 1, 0, 1, 1, 1, 1), (1, -1, -1, 1),
        "converged", [(6, "activate"), (3, "activate"), (3, "deactivate")], None),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILED)
def test_flows_that_once_went_wrong(case: str) -> None:
    X, y, w0, status, events, end = FAILED[case]
    path = affine_flow(X, y, w0, max_events=50)
    assert path.status == status
    assert events in (len(path.events), summary(path))
    if end is not None:
        np.testing.assert_allclose(path.end, end, atol=1e-9)
    if path.has_limit:
        assert_stationary(np.array(X, float), np.array(y, float), path.end)


def test_many_data_on_one_boundary_are_counted() -> None:
    """Eight equal data, on whose boundary the flow may stay or leave: six are named."""
    path = affine_flow(np.tile([1.0, 0.0], (8, 1)), np.ones(8), [0.0, 1.0])
    assert path.status == "non-unique"
    assert "x_1, x_2, x_3, x_4, x_5, x_6 and 2 more" in path.detail


@pytest.mark.parametrize("scale", [1e-250, 1e-200, 1e-170, 1.0, 1e100])
def test_a_start_whose_square_underflows_is_not_the_origin(scale) -> None:
    flow = affine_flow(np.eye(3), scale * np.array([1, 1, -1]), scale * np.array([1e-3, -1e-3, 1]))
    assert summary(flow) == [(2, "deactivate")]
    np.testing.assert_allclose(flow.end, scale * np.array([1, -1e-3, 0]), atol=1e-15 * scale)
