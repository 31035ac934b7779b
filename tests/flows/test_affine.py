"""The exact flow of one neuron: against integration, against closed forms, and by its invariants.

Accuracy to many digits is `test_affine_accuracy`'s business; here it is the course of events.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.flows.segment import segment, slopes_of
from reluflow.networks import gradient, loss
from reluflow.rational import fit
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear

FEW = settings(
    derandomize=True, deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
SEEDS = st.integers(0, 10**6)

# All data active, the flow from 0 has rates 3, 9, 21, and x_1.w touches zero at exp(-3t) = 1/4.
TANGENT_X = np.array([[0.0, 0.0, 3.0], [0.0, 3.0, 0.0], [1.0, 2.0, 2.0], [2.0, 1.0, 1.0]])
TANGENT_Y = np.array([179.0, 1795.0, 716.0, 536.0])


def random_problem(seed: int, signs: str = "positive"):
    """Data, labels and a start in general position; labels positive, or of either sign."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 5))
    y = rng.uniform(0.2, 2.0, n)
    if signs == "mixed":
        y *= rng.choice([-1.0, 1.0], n)
    return rng.normal(size=(n, d)), y, rng.normal(size=d)


def descended(X, y, w, T: float, steps: int) -> np.ndarray:
    """The plainest integration: full-batch gradient descent with step T / steps."""
    w = np.array(w, float)
    for _ in range(steps):
        w = w - T / steps * gradient(X, y, w)
    return w


def summary(flow):
    return [(e.datum, e.kind) for e in flow.events]


# --- Against other integrators --------------------------------------------------------------------


@FEW
@given(SEEDS)
def test_agrees_with_an_integrator(seed) -> None:
    X, y, w0 = random_problem(seed)
    flow = affine_flow(X, y, w0)
    assert flow.status == "converged"
    # One datum flips at a time, at a speed that an integrator can see.
    for event, w in zip(flow.events, flow.at([e.t for e in flow.events]), strict=True):
        speeds = [X[event.datum] @ gradient(X, y, w + s * X[event.datum]) for s in (1e-9, -1e-9)]
        assume(min(map(abs, speeds)) > 1e-2)
    T = np.linspace(0.0, 3.0 / np.linalg.norm(X, 2) ** 2, 7)[1:]
    by_steps = solve_ivp(
        lambda t, w: -gradient(X, y, w), (0, T[-1]), w0, "LSODA", T, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(flow.at(T), by_steps.y.T, rtol=0, atol=1e-6)


@FEW
@given(SEEDS)
def test_agrees_with_small_steps_where_it_slides(seed) -> None:
    X, y, w0 = random_problem(seed, "mixed")
    flow = affine_flow(X, y, w0)
    assume(any(e.kind == "slide" for e in flow.events))
    T = 3.0 / np.linalg.norm(X, 2) ** 2
    by_steps = descended(X, y, w0, T, 3000)
    # Descent zigzags across the boundary with an amplitude of the order of its step.
    scale = np.abs(X).max() * (np.abs(y).sum() + np.linalg.norm(X) * np.linalg.norm(w0))
    np.testing.assert_allclose(flow.at(T), by_steps, rtol=0, atol=3 * T / 3000 * scale)


@FEW
@given(SEEDS)
def test_the_limit_is_a_stationary_point(seed) -> None:
    X, y, w0 = random_problem(seed, "mixed")
    flow = affine_flow(X, y, w0)
    assume(flow.status != "non-unique")  # it may slide into the origin
    assert flow.status in ("converged", "sliding")
    assert (flow.status == "sliding") == (flow.detail.startswith("converged while sliding"))
    h = X @ flow.end
    on = np.abs(h) <= 1e-9
    assert on.any() or flow.status == "converged"
    active = (h > 0) & ~on
    force = X[active].T @ (y[active] - h[active])
    if on.any():  # zero is a mean of the velocities around
        pull = (X[on] * y[on, None]).T
        fit = lsq_linear(pull, -force, (0.0, 1.0), method="bvls", tol=1e-15)
        force = force + pull @ fit.x
    np.testing.assert_allclose(force, 0.0, atol=1e-8)


# --- Invariants -----------------------------------------------------------------------------------


@pytest.mark.parametrize("signs", ["positive", "mixed"])
@FEW
@given(seed=SEEDS)
def test_the_loss_never_increases(signs, seed) -> None:
    X, y, w0 = random_problem(seed, signs)
    flow = affine_flow(X, y, w0)
    values = loss(X, y, flow.at(flow.grid(40)))
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert loss(X, y, flow.end) <= values.min() + 1e-12 * values[0]


@pytest.mark.parametrize("signs", ["positive", "mixed"])
@FEW
@given(seed=SEEDS)
def test_events_are_where_data_meet_their_boundary(signs, seed) -> None:
    X, y, w0 = random_problem(seed, signs)
    flow = affine_flow(X, y, w0)
    size = np.linalg.norm(X, axis=1) * max(np.linalg.norm(flow.states, axis=1).max(), 1.0)
    active, sliding = X @ w0 > 0, np.zeros(len(y), bool)
    stops = flow.t
    if flow.has_limit:
        stops = np.append(stops, stops[-1] + 1.0 / np.linalg.norm(X, 2) ** 2)
    assert np.isin([e.t for e in flow.events], flow.t).all()
    events = list(flow.events)
    for start, stop in pairwise(stops):
        while events and events[0].t <= start:
            event = events.pop(0)
            j = event.datum
            assert abs(X[j] @ flow.at(event.t)) <= 1e-9 * size[j]
            assert event.kind == "slide" or active[j] != (event.kind == "activate") or sliding[j]
            active[j], sliding[j] = event.kind == "activate", event.kind == "slide"
        h = X @ flow.at(np.linspace(start, stop, 12)[1:-1]).T
        slack = 1e-9 * size[:, None]
        assert (np.abs(h) <= slack)[sliding].all()
        assert (h >= -slack)[active & ~sliding].all()
        assert (h <= slack)[~active & ~sliding].all()
    assert not events


@pytest.mark.parametrize("signs", ["positive", "mixed"])
@FEW
@given(seed=SEEDS, scale=st.sampled_from([1e-3, 0.37, 2.0, 1e4]))
def test_scaling_labels_and_start_scales_the_path(signs, seed, scale) -> None:
    X, y, w0 = random_problem(seed, signs)
    flow, scaled = affine_flow(X, y, w0), affine_flow(X, scale * y, scale * w0)
    assert summary(flow) == summary(scaled)
    assert flow.status == scaled.status
    np.testing.assert_allclose(scaled.t, flow.t, rtol=1e-8)
    tolerance = 1e-9 * scale * (1 + np.abs(flow.states).max())
    np.testing.assert_allclose(scaled.states, scale * flow.states, rtol=0, atol=tolerance)
    np.testing.assert_allclose(scaled.end, scale * flow.end, rtol=0, atol=tolerance)


@pytest.mark.parametrize("signs", ["positive", "mixed"])
@FEW
@given(seed=SEEDS, scale=st.sampled_from([1e-2, 0.37, 2.0, 1e2]))
def test_scaling_the_data_scales_time_and_weights(signs, seed, scale) -> None:
    X, y, w0 = random_problem(seed, signs)
    flow, scaled = affine_flow(X, y, w0), affine_flow(scale * X, y, w0 / scale)
    assert summary(flow) == summary(scaled)
    np.testing.assert_allclose(scaled.t * scale**2, flow.t, rtol=1e-8)
    tolerance = 1e-9 * (1 + np.abs(flow.states).max())
    np.testing.assert_allclose(scaled.states * scale, flow.states, rtol=0, atol=tolerance)
    np.testing.assert_allclose(scaled.end * scale, flow.end, rtol=0, atol=tolerance)


@pytest.mark.parametrize("signs", ["positive", "mixed"])
@FEW
@given(seed=SEEDS)
def test_turning_everything_turns_the_path(signs, seed) -> None:
    X, y, w0 = random_problem(seed, signs)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(w0), len(w0))))[0]
    flow, turned = affine_flow(X, y, w0), affine_flow(X @ Q, y, w0 @ Q)
    assert summary(flow) == summary(turned)
    np.testing.assert_allclose(turned.t, flow.t, rtol=1e-8)
    np.testing.assert_allclose(turned.states, flow.states @ Q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(turned.end, flow.end @ Q, rtol=0, atol=1e-9)


@pytest.mark.parametrize("signs", ["positive", "mixed"])
@FEW
@given(seed=SEEDS)
def test_the_order_of_the_data_does_not_matter(signs, seed) -> None:
    X, y, w0 = random_problem(seed, signs)
    order = np.random.default_rng(seed).permutation(len(y))
    flow, mixed = affine_flow(X, y, w0), affine_flow(X[order], y[order], w0)
    assert sorted(summary(flow)) == sorted((int(order[j]), kind) for j, kind in summary(mixed))
    np.testing.assert_allclose(mixed.t, flow.t, rtol=1e-8)
    np.testing.assert_allclose(mixed.end, flow.end, rtol=0, atol=1e-9)


@pytest.mark.parametrize("signs", ["positive", "mixed"])
@FEW
@given(seed=SEEDS, part=st.floats(0.05, 0.95))
def test_a_restart_gives_the_rest_of_the_path(signs, seed, part) -> None:
    X, y, w0 = random_problem(seed, signs)
    flow = affine_flow(X, y, w0)
    assume(flow.has_limit)
    stop = part * (1.5 * flow.t[-1] + 1.0 / np.linalg.norm(X, 2) ** 2)
    assume(np.abs(flow.t - stop).min() > 1e-6 * stop)
    rest = affine_flow(X, y, flow.at(stop))
    later = [e for e in flow.events if e.t > stop]
    again = [e for e in rest.events if e.t > 1e-9]  # at once: what slides starts to slide
    assert [(e.datum, e.kind) for e in later] == [(e.datum, e.kind) for e in again]
    np.testing.assert_allclose([e.t + stop for e in again], [e.t for e in later], rtol=1e-7)
    np.testing.assert_allclose(rest.end, flow.end, rtol=0, atol=1e-8)
    times = stop + np.linspace(0.0, 2.0, 9)
    np.testing.assert_allclose(rest.at(times - stop), flow.at(times), rtol=0, atol=1e-8)


# --- Small and special data -----------------------------------------------------------------------


def test_one_datum_in_closed_form() -> None:
    # w(t) = 3 - 2 exp(-4t), as H = 4 and q = 12.
    flow = affine_flow([[2.0]], [6.0], [1.0])
    t = np.array([0.0, 0.1, 1.0, np.inf])
    np.testing.assert_allclose(flow.at(t)[:, 0], 3 - 2 * np.exp(-4 * t), rtol=1e-14)
    assert (flow.status, flow.clock, flow.events) == ("converged", "time", ())


def test_no_active_datum() -> None:
    flow = affine_flow([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [-1.0, -2.0])
    assert (flow.status, flow.detail) == (
        "converged",
        "no datum is active, so the flow stays where it is",
    )
    np.testing.assert_array_equal(flow.at([0.0, 5.0, np.inf]), [[-1.0, -2.0]] * 3)
    np.testing.assert_array_equal(flow.end, [-1.0, -2.0])


def test_zero_rows_change_nothing() -> None:
    X, y, w0 = np.array([[1.0, 2.0], [-1.0, 1.0]]), np.array([1.0, 2.0]), np.array([1.0, -2.0])
    flow = affine_flow(X, y, w0)
    more = affine_flow(np.vstack([[0.0, 0.0], X]), np.append(5.0, y), w0)
    assert [(j + 1, kind) for j, kind in summary(flow)] == summary(more)
    np.testing.assert_allclose(more.end, flow.end, rtol=1e-14)


def test_repeated_eigenvalues() -> None:
    # H = 1: w runs straight to (2, 3) and passes x_3.w = 0 where -1 + 2u = 4 - u.
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]), np.array([2.0, 3.0, 0.1])
    w0 = np.array([6.0, 1.0])
    flow = affine_flow(X, y, w0)
    # x_3 is active from the start, off when x_3.w = 0, and the rest is a straight line.
    assert summary(flow) == [(2, "deactivate")]
    s = flow.t[1] + np.array([0.1, 0.5, 2.0])
    w1 = flow.at(flow.t[1])
    line = np.array([2.0, 3.0]) + np.exp(-(s - flow.t[1]))[:, None] * (w1 - [2.0, 3.0])
    np.testing.assert_allclose(flow.at(s), line, rtol=1e-13)


@pytest.mark.parametrize("d", [3, 6])
def test_fewer_data_than_dimensions_leave_the_rest_alone(d) -> None:
    # Outside the span of the data nothing moves; inside, the flow is the small one.
    rng = np.random.default_rng(d)
    small, y = np.array([[1.0, 0.5], [0.3, 1.0]]), np.array([1.0, 2.0])
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = np.hstack([small, np.zeros((2, d - 2))]) @ Q
    inside, outside = np.array([-1.0, 0.5]), rng.normal(size=d - 2)
    flow, plane = affine_flow(X, y, np.append(inside, outside) @ Q), affine_flow(small, y, inside)
    assert summary(flow) == summary(plane) != []
    np.testing.assert_allclose(flow.end @ Q.T, np.append(plane.end, outside), atol=1e-12)


def test_duplicate_and_parallel_data_flip_together() -> None:
    X = np.array([[1.0, 1.0], [2.0, -1.0], [2.0, -1.0], [4.0, -2.0], [-1.0, 0.5], [-1.0, 3.0]])
    y = np.array([4.0, 0.5, 0.2, 0.3, 0.6, 14.0])
    flow = affine_flow(X, y, [2.0, 1.0])
    first = flow.events[0].t
    together = [(e.datum, e.kind) for e in flow.events if e.t == first]
    assert together == [(1, "deactivate"), (2, "deactivate"), (3, "deactivate"), (4, "activate")]
    assert len({e.t for e in flow.events}) == len(flow.t) - 1
    by_steps = descended(X, y, [2.0, 1.0], 0.5, 20000)
    np.testing.assert_allclose(flow.at(0.5), by_steps, atol=1e-3)


def test_a_datum_can_come_back() -> None:
    # x_3.w = -2.7 + 8.3 z - 16 z^4 with z = exp(-t) while x_3 sleeps: above zero for some t.
    X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1e-3, -1e-3]]), np.array([1.0, 8.0, 1e-9])
    flow = affine_flow(X, y, [9.3, 20.0])
    assert summary(flow) == [(2, "activate"), (2, "deactivate")]
    zeros = np.roots([-16, 0, 0, 8.3, -3.0])
    zeros = np.sort(-np.log(zeros[(abs(zeros.imag) < 1e-12) & (zeros.real > 0)].real))
    np.testing.assert_allclose([e.t for e in flow.events], zeros, rtol=1e-5)


# --- Tangency -------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [1e-2, 1e-5, 1e-8])
def test_next_to_a_tangency_each_side_goes_its_way(eps) -> None:
    off = affine_flow(TANGENT_X, TANGENT_Y, eps * np.array([1.0, 1.0, 1.0]))
    assert summary(off)[0] == (0, "deactivate")
    stays = affine_flow(TANGENT_X, TANGENT_Y, eps * np.array([0.01, 1.0, 0.01]))
    assert summary(stays) == []
    assert np.linalg.norm(off.end - stays.end) > 100


def test_an_exact_tangency_is_not_unique() -> None:
    # The all-active flow from 0 at exp(-3t) = 1/2, times 3: rational, before the contact.
    start = np.array([38.0, 1459.5, 45.5])
    flow = affine_flow(3 * TANGENT_X, 9 * TANGENT_Y, start)
    assert flow.status == "non-unique"
    assert "x_1" in flow.detail
    assert summary(flow) == []
    assert flow.t[-1] == pytest.approx(log(2.0) / 27, rel=1e-7)
    assert abs(TANGENT_X[0] @ flow.end) < 1e-9


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


@pytest.mark.parametrize(("y3", "unique"), [(1.0, False), (-1.0, True)])
def test_a_touch_from_the_inactive_side(y3, unique) -> None:
    # x_3.w = -3 + 8 z - 16 z^4, z = exp(-t), touches zero from below at z = 1/2.
    X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -1.0]]), np.array([1.0, 8.0, y3])
    flow = affine_flow(X, y, [9.0, 20.0])
    assert summary(flow) == []
    assert flow.status == ("converged" if unique else "non-unique")
    if unique:
        np.testing.assert_allclose(flow.end, [1.0, 4.0], rtol=1e-12)
    else:
        assert flow.t[-1] == pytest.approx(log(2.0), rel=1e-6)
        # Both flows exist: starts a little to either side part.
        paths = [affine_flow(X, y, flow.end + np.array([s, 0.0])).at(0.1) for s in (1e-7, -1e-7)]
        assert np.linalg.norm(paths[0] - paths[1]) > 1e-2


# --- Sliding --------------------------------------------------------------------------------------

# On x_1.w = 0 with y_1 = -1: w_2' = -5 w_2 + y_2 + 2 y_3, and x_2 and x_3 jump with the force
# w_2 + y_2 - y_3, which x_1 can hold while it is between 0 and 1.
SLIDE_X = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 2.0]])


@pytest.mark.parametrize("w1", [0.0, -1e-3, 1e-3])
def test_a_flow_slides_and_is_released_to_the_active_side(w1) -> None:
    y = np.array([-1.0, 2.0, 2.0])
    flow = affine_flow(SLIDE_X, y, [w1, 0.5])
    assert summary(flow)[:1] == [(0, "slide")]
    assert (0, "activate") in summary(flow)
    release = next(e.t for e in flow.events if e.kind == "activate")
    assert release == pytest.approx(log(3.5) / 5, rel=1e-2 if w1 else 1e-12)
    t = np.linspace(flow.t[1] if w1 else 0.0, release, 20)
    np.testing.assert_allclose(flow.at(t)[:, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(flow.at(release), [0.0, 1.0], rtol=1e-12, atol=1e-15)
    assert flow.at(release + 0.3)[0] > 1e-3
    T = release + 0.3
    np.testing.assert_allclose(flow.at(T), descended(SLIDE_X, y, [w1, 0.5], T, 20000), atol=1e-3)


def test_a_flow_slides_and_is_released_to_the_inactive_side() -> None:
    y = np.array([-1.0, 1.0, 2.5])
    flow = affine_flow(SLIDE_X, y, [0.0, 2.0])
    assert summary(flow) == [(0, "slide"), (0, "deactivate")]
    assert flow.events[1].t == pytest.approx(log(8 / 3) / 5, rel=1e-12)
    assert flow.status == "converged"
    np.testing.assert_allclose(flow.end, [-1 / 6, 7 / 6], rtol=1e-12)


def test_a_flow_slides_for_ever() -> None:
    flow = affine_flow([[1.0, 0.0], [0.5, 1.0]], [-1.0, 2.0], [0.3, 1.0])
    assert summary(flow) == [(0, "slide")]
    assert flow.status == "sliding"
    assert flow.has_limit
    assert "x_1" in flow.detail
    np.testing.assert_allclose(flow.end, [0.0, 2.0], atol=1e-15)


def test_parallel_data_hold_together() -> None:
    # The three data of the surface add -1.5 w_1 on one side and +0.2 on the other, in all.
    X = np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [0.5, 1.0]])
    y = np.array([-0.5, -0.5, -0.2, 2.0])
    flow = affine_flow(X, y, [0.0, 1.0])
    assert summary(flow) == [(0, "slide"), (1, "slide"), (2, "slide")]
    np.testing.assert_allclose(flow.end, [0.0, 2.0], atol=1e-15)
    # With labels that sum to a jump the other way they let through.
    through = affine_flow(X, np.array([2.0, -0.5, -0.2, 2.0]), [-0.1, 1.0])
    assert [k for _, k in summary(through)] == ["activate", "activate", "deactivate"]
    assert through.status == "converged"


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_a_flow_slides_on_two_surfaces_and_is_released_from_one(turn) -> None:
    # x_1 and x_2 hold w_1 = w_2 = 0; x_3 drives w_3 up and jumps on x_1 with (2 - w_3) / 4; x_4
    # jumps on x_2 while it is active.
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.25, 0.0, 1.0], [0.0, -0.5, -2.0]])
    y = np.array([-1.0, -1.0, 2.0, 1.0])
    Q = np.eye(3) if turn == 0 else np.linalg.qr(np.random.default_rng(turn).normal(size=(3, 3)))[0]
    w0 = np.array([0.0, 0.0, -0.2])
    flow = affine_flow(X @ Q, y, w0 @ Q)
    T = 1.3
    by_steps = descended(X, y, w0 + np.array([1e-9, 1e-9, 0.0]), T, 20000)
    np.testing.assert_allclose(flow.at(T) @ Q.T, by_steps, atol=2e-3)
    h = X @ (flow.at(np.linspace(0, T, 50)) @ Q.T).T
    held = (np.abs(h[:2]) < 1e-12).all(axis=0)
    assert held.any()


def test_dependent_surfaces_hold_more_than_any_two_of_them() -> None:
    # On the line w_1 = w_2 = 0 three surfaces meet, with normals (1,0), (0,1), (1,1). The force
    # (1.8, 1.8) is within their common jumps, and within those of no two of them.
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.6, 0.6, 1.0]])
    flow = affine_flow(X, [-1.0, -1.0, -1.0, 4.0], [0.0, 0.0, 1.0])
    assert flow.status == "sliding"
    assert summary(flow) == [(0, "slide"), (1, "slide"), (2, "slide")]
    np.testing.assert_allclose(flow.end, [0.0, 0.0, 4.0], atol=1e-12)
    # From w_3 = 0 the force (2.4, 2.4) is too much at first; it fades to what they can hold.
    out = affine_flow(X, [-1.0, -1.0, -1.0, 4.0], [0.0, 0.0, 0.0 + 1e-3])
    assert [k for _, k in summary(out)] == ["activate"] * 3 + ["slide"] * 3


def test_a_datum_that_rests_on_its_boundary_wakes() -> None:
    # x_1.w = 0 until x_4 activates, when the flow starts to leave w_3 = 0.
    X = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, -1.0, 1.0]])
    y, w0 = np.array([-1.0, 3.0, 1.0, 5.0]), np.array([0.5, 1.0, 0.0])
    for turn in range(4):
        rng = np.random.default_rng(turn)
        Q = np.eye(3) if turn == 0 else np.linalg.qr(rng.normal(size=(3, 3)))[0]
        flow = affine_flow(X @ Q, y, w0 @ Q)
        assert summary(flow)[:2] == [(0, "activate"), (3, "activate")]
        assert flow.events[0].t == flow.events[1].t == pytest.approx(log(1.25), rel=1e-12)
        by_steps = descended(X, y, w0 - [0, 0, 1e-9], 1.0, 20000)
        np.testing.assert_allclose(flow.at(1.0) @ Q.T, by_steps, atol=1e-3)


def test_a_flat_of_sliding_moves_only_within_itself() -> None:
    # Two surfaces leave one direction; rounding in the data must not make a second, very slow one.
    X = np.array([[2, -1, -2], [1, -1, -2], [-1, -1, -1], [-2, -1, -1], [2, -2, -1]], float)
    y = np.array([1.0, -1.0, 1.0, -2.0, 2.0])
    flow = affine_flow(X, y, [-1.0, -1.0, 0.0], max_events=50)
    assert flow.status == "sliding"
    assert flow.t[-1] < 10
    np.testing.assert_allclose(X[[1, 3]] @ flow.end, 0.0, atol=1e-12)


def test_many_data_with_labels_of_either_sign() -> None:
    # A release from sliding starts tangentially; rounding made the same contact come back for ever.
    rng = np.random.default_rng(320)
    X, y = rng.standard_normal((300, 20)), rng.standard_normal(300)
    flow = affine_flow(X, y, 1e-2 * rng.standard_normal(20), max_events=1000)
    assert flow.status == "sliding"
    values = loss(X, y, flow.states)
    assert (np.diff(values) < 0).all()
    active = (X @ flow.end > 1e-9) * 1.0
    on = np.abs(X @ flow.end) <= 1e-9
    assert on.sum() > 6
    force = X.T @ (active * (y - X @ flow.end))
    pull = (X[on] * y[on, None]).T
    fit = lsq_linear(pull, -force, (0.0, 1.0), method="bvls", tol=1e-15)
    np.testing.assert_allclose(pull @ fit.x, -force, atol=1e-7)


# --- Starts where more than one flow leaves -------------------------------------------------------


def test_a_start_on_a_repelling_boundary() -> None:
    # At w_1 = 0 the other data jump with -1/2: left on the inactive side, right (y_1 = 1) on the
    # active one.
    X, y = np.array([[1.0, 0.0], [-0.5, 1.0]]), np.array([1.0, 2.0])
    flow = affine_flow(X, y, [0.0, 1.0])
    assert flow.status == "non-unique"
    assert not flow.has_limit
    assert flow.events == ()
    np.testing.assert_array_equal(flow.t, [0.0])
    np.testing.assert_array_equal(flow.end, [0.0, 1.0])
    assert "at least 3 different flows" in flow.detail
    assert "x_1" in flow.detail
    ends = [affine_flow(X, y, [s, 1.0]).end for s in (1e-9, -1e-9)]
    assert np.linalg.norm(ends[0] - ends[1]) > 0.1


def test_a_repelling_boundary_met_on_the_way() -> None:
    # x_4 stops and turns at the very moment ... so a flow can also arrive at such a point: here two
    # boundaries are met at once, and the one with y > 0 is tangent to the path.
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.array([2.0, 1.0, 1.0])
    flow = affine_flow(X, y, [1.0, 0.0])
    assert flow.status == "non-unique"


@pytest.mark.parametrize(("w0", "kind"), [([0.0, 1.0], "activate"), ([0.0, -1.0], None)])
def test_a_start_on_a_boundary_that_is_crossed(w0, kind) -> None:
    X, y = np.array([[1.0, 0.0], [0.5, 1.0]]), np.array([1.0, 2.0])
    flow = affine_flow(X, y, w0)
    if kind:
        assert summary(flow) == [(0, kind)]
        assert flow.events[0].t == 0.0
        assert flow.status == "converged"
        np.testing.assert_allclose(X @ flow.end, y, rtol=1e-12)
    else:  # nothing else is active: it may stay, or be carried off by x_1
        assert flow.status == "non-unique"


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40, 300])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_the_start_at_the_origin_is_never_unique(n, d) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, d)), rng.uniform(0.5, 2.0, n)
    flow = affine_flow(X, y, np.zeros(d))
    assert flow.status == "non-unique"
    assert not flow.end.any()


@pytest.mark.parametrize("n", [1, 3, 7, 30])
def test_labels_below_zero_hold_the_origin(n) -> None:
    rng = np.random.default_rng(n)
    flow = affine_flow(rng.normal(size=(n, 2)), -rng.uniform(0.5, 2.0, n), np.zeros(2))
    assert flow.status in ("converged", "sliding")
    np.testing.assert_array_equal(flow.end, [0.0, 0.0])


def test_sliding_into_the_origin() -> None:
    # Pairs of opposite data with labels below zero: the loss has its only minimum at the origin.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 2))
    X, y = np.vstack([X, -X]), -rng.uniform(0.5, 2.0, 18)
    flow = affine_flow(X, y, [1.0, 0.7])
    assert flow.status == "sliding"
    np.testing.assert_allclose(flow.end, 0.0, atol=1e-12)


@settings(FEW, max_examples=120)
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


@settings(FEW, max_examples=40)
@given(SEEDS)
@example(10_000)
def test_where_flows_part_starts_nearby_part(seed) -> None:
    # One boundary y > 0 through the start, other data active: said to be not unique exactly if
    # starts on its two sides move apart.
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    X, y, w0 = rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n), rng.normal(size=d)
    for _ in range(2):
        w0 -= X[0] * (X[0] @ w0) / (X[0] @ X[0])
    flow = affine_flow(X, y, w0)
    sides = [affine_flow(X, y, w0 + s * X[0]) for s in (1e-9, -1e-9)]
    t = 1e-2 / np.linalg.norm(X, 2) ** 2
    # Their velocities differ by y x; a slow start on the wrong side needs a while to cross.
    gap = np.linalg.norm(sides[0].at(t) - sides[1].at(t))
    apart = gap > 0.5 * t * y[0] * np.linalg.norm(X[0])
    assert (flow.status == "non-unique" and flow.t[-1] == 0.0) == apart


# --- The linear neuron ----------------------------------------------------------------------------


@FEW
@given(SEEDS)
def test_the_linear_flow(seed) -> None:
    X, y, w0 = random_problem(seed, "mixed")
    flow = affine_flow(X, y, w0, activation="linear")
    assert flow.status == "converged"
    t = np.linspace(0.0, 3.0, 5)
    H, q = X.T @ X, X.T @ y
    rates, V = np.linalg.eigh(H)
    growth = [np.where(rates > 1e-10, -np.expm1(-rates * s) / rates, s) for s in t]
    expected = [
        V @ (np.exp(-rates * s) * (V.T @ w0) + g * (V.T @ q))
        for s, g in zip(t, growth, strict=True)
    ]
    np.testing.assert_allclose(flow.at(t), expected, atol=1e-9)
    # A hyperplane is crossed at most d times (Theorem F.11), in turn from either side.
    for j in range(len(y)):
        times = [e.t for e in flow.events if e.datum == j]
        assert len(times) <= len(w0)
        active = X[j] @ w0 > 0
        stops = [0.0, *times, (times or [0.0])[-1] + 50.0]
        for k, event in enumerate(e for e in flow.events if e.datum == j):
            assert event.kind == ("deactivate" if active == (k % 2 == 0) else "activate")
        for k in range(len(stops) - 1):
            inner = np.linspace(stops[k], stops[k + 1], 9)[1:-1]
            h = flow.at(inner) @ X[j] * (1 if active == (k % 2 == 0) else -1)
            assert (h > -1e-9).all()


def test_a_hyperplane_can_be_crossed_d_times() -> None:
    # x_4.w = (z - 0.3)(z^2 - 0.6^2)... with rates 1, 2, 3 for z = exp(-t): three zeros in (0, 1).
    zeros = np.array([0.2, 0.5, 0.8])
    p = np.poly(zeros)[::-1]  # z^0 .. z^3
    X = np.array([[1.0, 0, 0], [0, np.sqrt(2.0), 0], [0, 0, np.sqrt(3.0)], [1e-4, 1e-4, 1e-4]])
    target = np.array([p[0], 0.0, 0.0])
    y = np.append(X[:3] @ target, 1e-4 * target.sum())
    flow = affine_flow(X, y, target + p[1:], activation="linear")
    mine = [e for e in flow.events if e.datum == 3]
    assert [e.kind for e in mine] == ["deactivate", "activate", "deactivate"]
    np.testing.assert_allclose([e.t for e in mine], -np.log(zeros[::-1]), rtol=1e-6)


def test_the_linear_flow_meets_parallel_data_at_once() -> None:
    flow = affine_flow([[3.7], [-0.3], [1.1]], [2.0, -1.0, 0.5], [-1.3], activation="linear")
    assert len(flow.events) == 3
    assert len({e.t for e in flow.events}) == 1
    assert summary(flow) == [(0, "activate"), (1, "deactivate"), (2, "activate")]
    assert len(flow.t) == 2


def test_a_linear_flow_that_starts_on_a_boundary() -> None:
    flow = affine_flow([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [0.0, 0.0], activation="linear")
    assert flow.events == ()
    np.testing.assert_allclose(flow.end, [1.0, 1.0], rtol=1e-14)


# --- Horizon, limits, errors ----------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_a_horizon_cuts_the_path(activation) -> None:
    X, y, w0 = random_problem(4)
    flow = affine_flow(X, y, w0, activation)
    assert len(flow.events) >= 2
    stop = 0.5 * (flow.t[1] + flow.t[2])
    cut = affine_flow(X, y, w0, activation, horizon=stop)
    assert cut.status == "horizon"
    assert not cut.has_limit
    assert cut.t[-1] == stop
    assert cut.events == tuple(e for e in flow.events if e.t <= stop)
    np.testing.assert_allclose(cut.end, flow.at(stop), rtol=1e-13)
    np.testing.assert_array_equal(cut.states[-1], cut.end)
    with pytest.raises(ValueError, match="at most"):
        cut.at(2 * stop)


def test_a_limit_on_the_number_of_events() -> None:
    X, y, w0 = random_problem(4)
    full = affine_flow(X, y, w0)
    cut = affine_flow(X, y, w0, max_events=1)
    assert cut.status == "horizon"
    assert "1 events" in cut.detail
    assert cut.events == full.events[:1]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (([1.0, 2.0], [1.0], [1.0]), r"X must have shape \(n, d\)"),
        ((np.zeros((0, 2)), [], [1.0, 1.0]), r"n, d >= 1"),
        (([[1.0, 2.0]], [1.0, 2.0], [1.0, 1.0]), r"y must have shape \(1,\)"),
        (([[1.0, 2.0]], [1.0], [1.0]), r"w0 must have shape \(2,\)"),
        (([[1.0, np.nan]], [1.0], [1.0, 1.0]), "X has an entry that is not finite"),
        (([[1.0, 2.0]], [np.inf], [1.0, 1.0]), "y has an entry that is not finite"),
        (([[1.0, 2.0]], [1.0], [1.0, np.nan]), "w0 has an entry that is not finite"),
        (([[1.0, 2.0]], [1.0], [1.0, 1.0], "tanh"), 'activation must be "relu" or "linear"'),
    ],
)
def test_bad_input_is_named(args, words) -> None:
    with pytest.raises(InputError, match=words):
        affine_flow(*args)


def test_too_many_boundaries_in_one_point_are_refused() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.choice([-1.0, 1.0], 60)
    with pytest.raises(InputError, match="60 non-parallel activation boundaries meet"):
        affine_flow(X, y, np.zeros(5))


def test_what_doubles_cannot_tell_is_one_clear_sentence(monkeypatch) -> None:
    def singular(*_):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr("reluflow.flows.affine.continuations", singular)
    with pytest.raises(InputError, match="boundaries of x_1 meet at angles too small to tell"):
        affine_flow([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [0.0, 1.0])


def test_a_slow_crossing_is_not_taken_for_a_branching_by_rounding() -> None:
    """Data within 1e-5 of one direction: the flow crosses the boundary of x_3 so slowly that the
    rounding of w turns its speed there around. It must end at the fit of the other data."""
    X = np.array([
        [6.6264606328757735e-07, 1.6532569183766072e-01],
        [1.3328162243344255e-06, 4.2111506849585578e-01],
        [3.8444337089133199e-08, 3.2543804235585228e-03],
        [1.6317279103586043e-06, 4.4310537485864082e-01],
        [5.5264560491941896e-07, 2.9660067524814160e-01],
        [2.3035583752888456e-07, 1.1302550439714953e-01],
        [1.4072343507977163e-07, 1.2925669999067640e-01],
        [4.3464898093057395e-08, 1.8462512400455722e-01],
    ])  # fmt: skip
    y = np.array([0.0486082931350761, 0.08160392283644792, 0.11088663525915018,
                  0.04191033024269614, 0.11784418244036579, 0.03987158293416976,
                  0.05085433627343769, 0.06945219802773978])  # fmt: skip
    others = [0, 1, 3, 4, 5, 6, 7]
    path = affine_flow(X, y, 1e-8 * np.array([0.98, 0.18]))
    assert [(e.datum, e.kind) for e in path.events] == [(2, "deactivate")]
    assert path.status == "converged"
    fitted = fit(X, y, others)
    assert fitted.preactivations[2] < 0 < min(fitted.preactivations[j] for j in others)
    assert path.end == pytest.approx([float(v) for v in fitted.w], rel=1e-4)


# --- One segment ----------------------------------------------------------------------------------


def test_a_segment_solves_its_equation() -> None:
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4)
    on = np.array([True, True, False, True, True, True])
    for normals in (np.zeros((0, 4)), np.eye(4)[:1], np.eye(4)[1:3]):
        w0 = w.copy()
        w0[np.flatnonzero(normals.sum(axis=0))] = 0.0
        piece = segment(X, y, w0, on, normals, 2.0)
        P = np.diag(1.0 - normals.sum(axis=0))
        t = np.array([2.0, 2.1, 3.0])
        states = piece.at(t)
        velocity = (piece.at(t + 1e-6) - piece.at(t - 1e-6)) / 2e-6
        expected = (y[on] - states @ X[on].T) @ X[on] @ P
        np.testing.assert_allclose(velocity, expected, atol=1e-7)
        np.testing.assert_allclose(states[0], w0, rtol=1e-15)
        np.testing.assert_allclose(piece.at(np.array([np.inf]))[0], piece.limit, rtol=1e-14)
        np.testing.assert_allclose(piece.limit, w0 + piece.V @ piece.b, rtol=1e-12)
        slopes = slopes_of(X, piece)
        h = X @ w0 + slopes @ -np.expm1(-piece.rates * 0.7)
        np.testing.assert_allclose(h, X @ piece.after(np.array([0.7]))[0], atol=1e-13)


@pytest.mark.parametrize(
    ("X", "y", "w0", "status", "end"),
    [
        (
            [(-1, -1), (-3, -1), (2, -2), (1, -2), (0, 1), (3, -1), (-2, 1)],
            (-4, 2, -4, -1, 0, 4, -4),
            (-1, 1),
            "non-unique",
            (0, 0),
        ),
        (
            [(-2, -2), (3, -1), (2, 1), (-1, 2), (-3, 2), (3, 0)],
            (-4, -3, 0, -4, 3, -1),
            (6, -6),
            "sliding",
            (-3 / 34, 3 / 34),
        ),
    ],
)
def test_a_slide_that_reaches_the_origin_is_there(
    X: list, y: tuple, w0: tuple, status: str, end: tuple
) -> None:
    """All boundaries meet there: a rounding away from it they would be crossed one by one."""
    path = affine_flow(X, y, w0)
    assert path.status == status
    np.testing.assert_allclose(path.end, end, atol=1e-12)
    assert len({(event.datum, event.kind) for event in path.events}) == len(path.events)


@pytest.mark.parametrize("far", [1.0, 1e6, 1e12])
def test_a_far_start_that_is_forgotten_is_no_measure_of_rounding(far: float) -> None:
    """At the crossing |w| is 0.01, and is not 0 against a start of 1e12."""
    path = affine_flow([[2.0, 0.0], [0.0, 1.0]], [0.02, -1.0], [far, far])
    assert [(event.datum, event.kind) for event in path.events] == [(1, "deactivate")]
    assert (path.status, path.events[0].t) == ("converged", pytest.approx(np.log1p(far)))
    np.testing.assert_allclose(path.end, [0.01, 0.0], atol=1e-14)


# --- Data along two orthogonal directions: two flows on the line, by hand -------------------------


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
    for _ in range(1000):
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
    assert left_open < 10


@pytest.mark.parametrize(
    ("X", "y", "w", "end"),
    [
        ([[3, -3], [-2, -1], [-2, 4], [-1, 3], [-1, 1], [-3, -4], [6, 8]], [21, 3, 2, 0, 2, 2, 0],
         [4.01322122088338, -3.0067409709372344], [4, -3]),
        ([[-2, -3], [-1, 3], [1, -1], [-1, -2], [-2, 8], [-1, 4]], [11, 1, 1, 6, 3, -1],
         [-3.98624755824228, -0.9967112388019578], [-4, -1]),
    ],
)  # fmt: skip
def test_a_start_near_a_limit_on_a_boundary_stays_there(
    X: list, y: list, w: list, end: list
) -> None:
    """By 100 digits there is no event: what fits the active data is on the boundary of others."""
    flow = affine_flow(X, y, w)
    assert flow.events == ()
    np.testing.assert_allclose(flow.end, end, atol=1e-9)
