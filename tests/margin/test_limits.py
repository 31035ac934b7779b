"""KKT points and residuals, max-margin vectors, and the limits of flows: what is taken for one, and
flows without any."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flows import assert_jacobian
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from reluflow.errors import InputError
from reluflow.flows.charts import LOG_LOSS, LOG_SIZE, Frozen, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin import confirm, limits
from reluflow.margin.kkt import cells, kkt, margins, scaled
from reluflow.margin.max_margin import _proved, least_length, max_margin
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from scipy.optimize import approx_fprime

APART = np.array([[1.0, 0.25], [-1.0, 0.25]])
THREE = np.vstack([APART, [0.0, -1.0]])
ROUND = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
TWO = fully_connected([2, 2])
ONE = np.ones(1)


def test_a_scaled_point_has_least_margin_one_at_any_length() -> None:
    theta = np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])
    for factor in (1e-120, 1.0, 1e120):
        np.testing.assert_allclose(scaled(TWO, factor * theta, APART, np.ones(2)), theta)
    np.testing.assert_allclose(margins(TWO, theta, APART, -np.ones(2)), [-1.0, -1.0])
    with pytest.raises(InputError, match="classify"):
        scaled(TWO, theta, APART, -np.ones(2))


def test_a_kink_may_take_any_subgradient() -> None:
    """Theorem 4.2 (2): every neuron is on two kinks, and the two data pull against each other."""
    theta = np.concatenate([ROUND.ravel(), np.ones(4)])
    found = kkt(fully_connected([2, 4]), theta, ROUND, np.ones(4))
    assert found.residual < 1e-12
    np.testing.assert_allclose(found.multipliers, 1.0)
    # One datum alone on a kink: w = (1, 0), v = 1 with x_2 = (0, 1) free to help, x_1 = (1, -a).
    # theta = l_1 g_1 + l_2 mu g_2 needs mu = a l_1 / l_2 in [0, 1], and margin 1 of both data.
    network = fully_connected([2, 2])
    X = np.array([[1.0, -0.5], [0.0, 1.0]])
    theta = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])  # the second neuron classifies datum 2
    good = kkt(network, theta, X, np.ones(2))
    assert good.residual < 1e-12
    assert good.factors[0][1, 0] == pytest.approx(0.5)
    X[0, 1] = -1.5  # mu would have to be 3/2
    assert kkt(network, theta, X, np.ones(2)).residual > 0.05
    # v is shared, so that a unit without incoming weights is none that does nothing.
    shared = Network((np.array([[1, 2, 0], [0, 0, 2]]), np.array([[1, 1]])))
    found = kkt(shared, [1.0, 0.0, 1.0], [[1.0, 1.0, -2.0]], np.ones(1))
    assert (found.residual, found.factors[0][0, 1]) == pytest.approx((0.0, 0.5))


def test_points_that_are_no_kkt_points_have_a_residual() -> None:
    theta = np.array([0.1, 2.0, 0.0, 0.0, 2.0, 0.0])
    assert kkt(TWO, theta, APART, np.ones(2)).residual > 0.01
    # Feasible and of the right form, with a datum that pulls the wrong way: lambda would be < 0.
    wide = np.array([[1.0, 0.25], [1.0, -0.75]])
    assert kkt(TWO, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0], wide, np.ones(2)).residual > 0.1
    # A margin that is a millionth too large carries nothing.
    almost = kkt(fully_connected([2, 1]), [1, 1, 2**0.5], np.diag([1, 1 + 1e-6]), np.ones(2))
    assert almost.residual > 0.1


def test_cells_of_a_shared_filter_are_those_that_exist() -> None:
    """Both patches are (x, -x): one side is active or the other, never both."""
    network = convolutional(2, 2)
    theta = np.array([0.0, 1.0, 1.0, 1.0])
    seen = {tuple(cell[0].tolist()) for cell in cells(network, theta, np.array([1.0, 0, -1, 0]))}
    assert seen == {(True, False), (False, True)}
    apart = cells(TWO, np.array([0.0, 1.0, 0.0, 2.0, 1.0, 1.0]), np.array([1.0, 0.0]))
    free = {tuple(cell[0].tolist()) for cell in apart}
    assert len(free) == 4


def test_a_step_does_not_run_along_a_manifold() -> None:
    """Two hidden layers joined by a rotation of which the state shows the angle: -0.0436/0.5757."""
    maps = (np.array([[1, 2], [0, 3], [0, 0]]), np.array([[0, 1, 2], [3, 4, 0], [0, 5, 6]]),
            np.array([[0, 1, 2]]))  # fmt: skip
    network = Network(maps, "linear")
    X = np.array([[0.21383522572037922, -1.1472838649378465],
                  [0.3405705337781045, -0.4861719071399926]])  # fmt: skip
    u = np.array([-0.0036, -0.0012, 0.5774, -0.0075, -0.0045, 0.0074, -0.0437, 0.5757, 0.0016,
                  -0.0435, 0.5756])  # fmt: skip
    y = -np.ones(2)
    theta = scaled(network, u, X, y)
    found = confirm.polished(network, theta, np.array([0.0, theta @ theta / 3.0]), X, y,
                     np.array([False, True]), [], [])  # fmt: skip
    assert found.residual < 1e-12
    assert found.theta[6] / found.theta[7] == pytest.approx(-0.0436 / 0.5757, abs=2e-3)


@pytest.mark.parametrize("kinks", [[], [(0, 0, 1)], [(0, 2, 0), (0, 0, 1)]])
def test_the_equations_of_the_polish_have_their_derivative(kinks: list) -> None:
    """In theta, in the multipliers, and in the factors of units that stay on their kinks."""
    rng = np.random.default_rng(4)
    network, X, y = fully_connected([3, 2]), rng.normal(size=(3, 3)), np.array([1.0, -1.0, 1.0])
    patterns = [rng.integers(0, 2, (3, 2)).astype(float)]
    system = confirm._System(network, X, y, np.array([0, 2]), patterns, kinks)
    W, v = rng.normal(size=(2, 3)), rng.normal(size=2)
    for _, i, j in kinks:
        W[j] -= (W[j] @ X[i]) / (X[i] @ X[i]) * X[i]
    theta = network.parameters([W, v[None]])
    z = np.concatenate([theta, rng.normal(size=2), rng.uniform(size=len(kinks))])
    slopes = approx_fprime(z, lambda z: system.at(z)[0], 1e-7)
    np.testing.assert_allclose(system.at(z)[1], slopes, atol=1e-5)


# --- The linear max-margin vector: its bound from below, which proves it --------------------------


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), d=st.integers(1, 5))
def test_the_least_length_is_certified_by_its_bound(seed: int, n: int, d: int) -> None:
    """Of rows of unlike lengths in any unit, some of which may ask for no more than 0; or a ray
    along which the dual grows."""
    rng = np.random.default_rng(seed)
    spread, unit = rng.choice([1.0, 3.0]), 10.0 ** rng.uniform(-6, 6)
    G = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-spread, spread, (n, 1)) * unit
    y = np.where(G @ rng.normal(size=d) > 0, 1.0, -1.0)
    found = max_margin(G, y)
    np.testing.assert_allclose((y * (G @ found.u)).min(), 1.0, rtol=1e-9)
    G, h = G * (y[:, None] if seed % 2 else 1.0), rng.choice([-1.0, 0.0, 1.0], n)
    h = h if seed % 3 else np.abs(h)
    least = least_length(G, h)
    (u,), z = least.blocks, least.multipliers
    value = z @ h - 0.5 * (z @ G) @ (z @ G)
    assert np.all(z >= 0.0)
    if np.isfinite(least.value):
        assert np.all(G @ u >= h - 1e-9 * (1.0 + np.linalg.norm(G, axis=1) * np.linalg.norm(u)))
        assert value == pytest.approx(least.value, rel=1e-6, abs=0)
        assert least.value == pytest.approx(0.5 * u @ u, rel=1e-6, abs=0)
    else:
        assert not seed % 2
        assert (z @ h, value) == pytest.approx((1e6, 1e6), rel=0.1)


@pytest.mark.parametrize(
    ("X", "y", "why"),
    [([[1, 0], [1, 0]], [1, -1], "separates"), ([[1.0], [-1.0]], [1, 1], "separates"),
     ([[0.0, 0.0]], [1], "separates"), (np.zeros((0, 2)), [], "no data"),
     *(([[c, 0.0]], [1], "another unit") for c in (1e160, 1e-160, np.nan))],
)  # fmt: skip
def test_data_without_a_margin_are_refused(X, y, why) -> None:
    """SciPy's least squares end the process on a matrix without columns; squares of sizes beyond
    1e153 are no floats."""
    with pytest.raises(InputError, match=why):
        max_margin(X, y)
    if why != "separates":
        with pytest.raises(InputError, match=why):
            limits.limit(fully_connected([2, 1]), EXPONENTIAL, X, y, np.ones(3))


def test_a_small_margin_is_found_to_rounding() -> None:
    """Multipliers of 0 that rounding makes negative cost no accuracy, long data no hyperplane."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    X = np.random.default_rng(2).normal(size=(12, 3))
    flat = np.hstack([np.vstack([X, -X]), np.full((24, 1), 1e-6)])
    found = max_margin(flat @ turn, np.ones(24))
    assert found.length == pytest.approx(1e6, rel=1e-8)
    far = max_margin([[1e9, 1.0], [1.0, 0.0], [-1e9, 1e3]], np.ones(3))
    assert far.length == pytest.approx(1e6, rel=1e-5)


def test_a_vector_that_may_be_longer_than_need_be_is_refused() -> None:
    """Z = I: (3, 3) is along (1, 1), which lambda = (1, 1) proves the shortest; lambda = (1, 0)
    bounds |u| by 1."""
    right = _proved(np.full(2, 3.0), np.ones(2), np.eye(2))
    assert right is not None
    assert right.u.tolist() == [1.0, 1.0]
    for u, dual in ([3, 3.01], [1, 1]), ([1, 1], [1, 0]), ([1, -1], [1, 1]), ([1, 1], [1, -1]):
        assert _proved(np.array(u), np.array(dual), np.eye(2)) is None


# --- Limits: what is confirmed --------------------------------------------------------------------


def seen(*states: NDArray, pulls: ArrayLike = ONE) -> list[confirm.Seen]:
    """States of a flow, one after the other."""
    return [
        confirm.Seen(v / np.linalg.norm(v), float(k), np.array(pulls)) for k, v in enumerate(states)
    ]


def test_the_flow_must_confirm_a_candidate() -> None:
    """The second neuron of the last test is the larger one for long, and alone a KKT point too."""
    network = Network((np.array([[1, 0], [0, 2]]), np.array([[1, 2]])), "linear")
    X, y = np.array([[1.0, 0.9]]), np.ones(1)
    wrong = np.array([0.0, 1.0, 0.0, 1.0]) / np.sqrt(0.9)
    assert kkt(network, wrong, X, y).residual < 1e-12
    point = confirm.Stationary(wrong, np.array([1.0 / 0.9]), [], 0.0)
    u = np.array([0.1, 1.0, 0.1, 1.0])
    trail = seen(u * [0.9, 1, 0.9, 1], u)
    assert confirm.growth(network, X, y, trail[-1].u, point) == pytest.approx(1.0 / 0.9)
    assert "expected rate" in confirm.doubt(network, X, y, trail, point, 1e-8)
    resting = [trail[1], replace(trail[1], rho=2.0)]
    assert "expected rate" in confirm.doubt(network, X, y, resting, point, 1e-8)
    # The equations from there lead to that point all the same.
    assert np.linalg.norm(confirm.candidate(network, X, y, trail[-1]).theta - wrong) < 1e-9


IDLE = np.array([0.0, 0.0, 0.0, -1e-3, 0.0, 1e-3])
STATES = {"theta": [0.0, 2.0, 0.0, 0.0, 2.0, 0.0], "multipliers": [2.0, 2.0], "residual": 0.0,
          "idle": (3.0, 1.0), "pulls": [0.5, 0.5]}  # fmt: skip


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("", {}),
        ("feasible", {"theta": [0.0, 1.9, 0.0, 0.0, 1.9, 0.0]}),
        ("no KKT point", {"theta": [0.2, 2.5, 0.0, 0.0, 2.5, 0.0]}),
        ("negative", {"multipliers": [5.0, -1.0]}),
        ("not solved", {"residual": 1e-3}),
        ("expected rate", {"idle": (1.0, 3.0)}),
        ("far", {"idle": (903.0, 801.0)}),
        ("pulls", {"pulls": [0.9, 0.1]}),
    ],
)
def test_every_part_of_the_certificate_is_looked_at(why: str, change: dict) -> None:
    theta, multipliers, residual, idle, pulls = (STATES | change).values()
    point = confirm.Stationary(np.array(theta), np.array(multipliers), [], residual)
    trail = seen(*(STATES["theta"] + k * IDLE for k in idle), pulls=pulls)
    found = confirm.doubt(TWO, APART, np.ones(2), trail, point, 1e-8)
    assert why in found if why else not found


def test_flows_without_a_limit_end_in_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fully_connected([1, 1], "linear")
    wrong = limits.limit(one, LOGISTIC, [[1.0]], np.ones(1), [-0.5, 0.5])
    assert wrong.status == "stalled"
    assert wrong.reached < 0.17
    assert np.isinf(wrong.error)
    dead = limits.limit(fully_connected([1, 1]), LOGISTIC, [[1.0]], np.ones(1), [-1.0, 1.0])
    assert dead.status == "at rest"
    apart = limits.limit(one, EXPONENTIAL, [[1.0], [1.0]], np.array([1.0, -1.0]), [1.0, 1.0])
    assert apart.status in ("stalled", "stiff")
    with pytest.raises(InputError, match="no direction"):
        limits.limit(one, LOGISTIC, [[1.0]], np.ones(1), [0.0, 0.0])
    right = limits.limit(one, LOGISTIC, [[1.0]], ONE, [1.0, 1.0], reach=1e2)
    monkeypatch.setattr(limits, "_followed", lambda *given: right.path)
    assert right.converged
    assert limits.limit(one, LOGISTIC, [[1.0]], ONE, [1.0, 1.0], reach=1e3).status == "stiff"


def test_the_frozen_flow_has_its_jacobian_and_the_late_flows_direction() -> None:
    rng = np.random.default_rng(0)
    network = fully_connected([2, 3])
    X, theta = rng.uniform(0.2, 1.0, (3, 2)), rng.uniform(0.2, 1.0, network.size)
    flow = GradientFlow(Frozen(network, 5.0), EXPONENTIAL, X, np.ones(3), LOG_SIZE)
    z = Polar(network).coordinates(theta)
    assert_jacobian(flow, z, 1e-7)
    active = (flow.surfaces(z) > 0.0).astype(float)
    assert flow.velocity(z, active)[:-1] @ z[:-1] == pytest.approx(0.0, abs=1e-12)
    assert flow.velocity(z, active)[-1] == 1.0
    for field in (flow, GradientFlow(Polar(network), LOGISTIC, X, np.ones(3), LOG_LOSS)):
        v, J = field.linearised(z, active)  # of one state, and on a clock
        w = v / np.linalg.norm(v)
        turning = (J - np.outer(w, w @ J)) / np.linalg.norm(v)
        np.testing.assert_allclose(limits._turning(field, np.array([z, z]))[1], turning, atol=1e-9)


@pytest.mark.parametrize("pulls", [[0.33, 0.33, 0.339, 0.001], [0.5, 0.5, 0.0, 0.0]])
def test_data_leave_and_enter_by_their_multipliers_and_margins(pulls: list) -> None:
    X = np.vstack([THREE, [4.0, -1.5]])
    exact = np.array([0.0, 2.0, 0.0, -1.0, 2.0, 1.0])
    found = confirm.candidate(TWO, X, np.ones(4), *seen(exact, pulls=pulls))
    np.testing.assert_allclose(found.theta, exact, atol=1e-12)
    assert found.multipliers[3] == 0.0


def test_a_kink_begins_with_the_given_slope() -> None:
    """In Theorem 4.2 (2) two data pull against each other, so that each slope will do."""
    theta = np.concatenate([ROUND.ravel(), np.ones(4)])
    state = seen(theta, pulls=np.full(4, 0.25))
    found = confirm.candidate(fully_connected([2, 4]), ROUND, np.ones(4), *state, at_zero=0.5)
    np.testing.assert_array_equal(found.patterns[0], (1.0 + ROUND @ ROUND.T) / 2)


def test_a_candidate_in_another_cell_is_none() -> None:
    """The first neuron is inactive on datum 4 in the limit, and active where the flow is."""
    X, exact = np.vstack([THREE, [4.0, -1.5]]), np.array([0.0, 2.0, 0.0, -1.0, 2.0, 1.0])
    point = confirm.Stationary(exact, np.array([2.0, 2.0, 1.0, 0.0]), [], 0.0)
    here, shares = np.array([0.8, 2.0, 0.0, -1.0, 2.0, 1.0]), point.multipliers / 5.0
    for nearer, there in ((1.0, True), (0.1, False)):
        trail = seen(*(exact + nearer * k * (here - exact) for k in (2.0, 1.0)), pulls=shares)
        assert ("another cell" in confirm.doubt(TWO, X, np.ones(4), trail, point, 1e-8)) is there


@pytest.mark.parametrize("unit", [1e-9, 1e3])
@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_the_unit_of_the_data_and_the_size_of_the_start_do_not_matter(unit, size) -> None:
    """Phi(theta; c x) = Phi(c^(1/m) theta; x): the limit is c^(-1/m) times that for x."""
    start = size * np.array([0.0, 3.0, 0.0, -2.0, 3.0, 2.0]) / np.sqrt(unit)
    found = limits.limit(TWO, LOGISTIC, unit * THREE, np.ones(3), start, reach=1e3)
    assert found.converged
    np.testing.assert_allclose(found.theta * np.sqrt(unit), [0, 2, 0, -1, 2, 1], atol=1e-11)
    assert found.reached == pytest.approx(1e3, rel=1e-4)
    assert max(found.residual, found.error) < 1e-12
    assert np.flatnonzero(found.theta == 0.0).tolist() == [0, 2]
    np.testing.assert_allclose(found.multipliers * unit, [2.0, 2.0, 1.0], rtol=1e-9)


def test_a_start_too_small_for_the_loss_to_tell_is_followed_in_time() -> None:
    """Outputs of 1e-20: L is 2 log 2 to all digits for long."""
    rng = np.random.default_rng(4)
    network, X = fully_connected([2, 2], "linear"), rng.normal(size=(2, 2))
    start = 1e-10 * rng.normal(size=network.size)
    found = limits.limit(network, LOGISTIC, X, np.ones(2), start, reach=1e3)
    assert found.converged
    assert found.path.clock == "time, then log(1/loss), then log log(1/loss)"


# --- Whether a flow stays: races with a known winner, saddles, symmetries -------------------------


def raced(x, a, m: int = 3, activation: str = "linear") -> limits.Limit:
    return limits.limit(diagonal(len(x), m, activation), EXPONENTIAL, [x], ONE, np.tile(a, m))


def winners(found: limits.Limit, d: int) -> list[int]:
    return np.flatnonzero(np.abs(found.theta.reshape(-1, d)).min(axis=0)).tolist()


def tied(seed: int, m: int, gap: float):
    """Data and start of three coordinates: the winner's, one that is behind by `gap`, a third."""
    rng = np.random.default_rng(seed)
    x, a = rng.uniform(0.5, 1.5, (2, 3))
    first, second, third = rng.permutation(3).tolist()
    score = a[first] ** (2 - m) / x[first]
    x[second] = a[second] ** (2 - m) / (score * (1.0 + gap))
    x[third] = a[third] ** (2 - m) / (score * rng.uniform(1.15, 2.0))
    return x, a, first


@pytest.mark.parametrize(
    ("seed", "gap", "m", "activation"),
    [(7, 1e-2, 4, "linear"), (7, 1e-4, 3, "relu"),
     *((3, gap, 3, "linear") for gap in (1e-6, 1e-12))],
)  # fmt: skip
def test_a_race_has_its_winner_or_is_left_open(seed, gap, m, activation) -> None:
    x, a, first = tied(seed, m, gap)
    found = raced(x, a, m, activation)
    assert found.converged or (gap < 1e-5 and found.status == "undecided")
    assert winners(found, 3) == [first] or not found.converged


def test_a_dying_unit_hides_no_other_that_leaves() -> None:
    """The third coordinate's decay is most of the distance to the saddle of the first two."""
    x = [0.63086529, 0.7750592, 0.54148489]
    found = raced(x, [1.01592941, 0.82596008, 0.94448012])
    assert found.converged
    assert winners(found, 3) == [0]
    # It tells the larger residual, of its own equations (here 0) and of the KKT conditions.
    own = kkt(diagonal(3, 3, "linear"), found.theta, [x], ONE).residual
    assert found.error >= found.residual >= own


def test_of_a_manifold_the_flow_picks_a_point_to_its_own_error() -> None:
    """In depth 2 all points of a tie are KKT points, however unlike their coordinates."""
    found = raced([1.0, 1.0], [1.0, 3e-7], 2)
    assert found.error >= 1e-6
    assert found.theta[1::2] == pytest.approx(3e-7, rel=1e-6, abs=0)


def test_what_a_flow_has_no_part_in_does_not_count() -> None:
    """A tie from equal starts is the limit; a part of 1e-12 in the difference makes it none."""
    network, X = diagonal(2, 3, "linear"), np.ones((1, 2))
    found = raced([1.0, 1.0], [1.0, 1.0])
    assert found.converged
    assert winners(found, 2) == [0, 1]
    point = confirm.Stationary(found.theta, found.multipliers, [], 0.0)
    away, _ = limits.curvature(network, X, ONE, point)
    u = found.theta / np.linalg.norm(found.theta)
    paths, off = [(found.path, 1e-6)], u + 1e-12 * away[:, 0]
    assert not limits.departs(network, X, [u, u], point, away, paths)
    begun: Any = SimpleNamespace(states=[np.append(off, 0.0)])
    for trail, way in (([u, off], paths), ([off, u], paths), ([u, u], [(begun, 1e-6)])):
        assert "leads away" in limits.departs(network, X, trail, point, away, way)
    assert "saddle" in limits.departs(network, X, [u, u], point, away[:, :0], [(found.path, 1e-2)])


def test_a_unit_that_leaves_its_kink_is_seen() -> None:
    network, X = fully_connected([2, 1]), np.array([[1.0, 0.0], [0.0, 1.0]])
    found = limits.limit(network, EXPONENTIAL, X, np.ones(2), [1.0, 1.0, 1.0], reach=1e3)
    theta, none = np.array([1.0, 0.0, 1.0]), np.zeros((3, 0))
    point = confirm.Stationary(theta, np.ones(2), [np.ones((2, 1))], 0.0)
    nearer, farther = (np.array([1.0, h, 1.0]) for h in (1e-11, 2e-11))
    paths = [(found.path, 1e-6)]
    assert "kink" in limits.departs(network, X, [nearer, farther], point, none, paths)
    assert not limits.departs(network, X, [farther, nearer], point, none, paths)


def test_a_unit_that_grows_again_is_not_hidden_by_one_that_dies() -> None:
    """The distance to (1, 0, 0) falls, and the second unit comes nearer to 1 all the same."""
    network = diagonal(3, 2, "linear")
    X, theta = np.array([[1.0, 0.9, 0.1]]), np.array([1.0, 0.0, 0.0] * 2)
    point = confirm.Stationary(theta, ONE, [], 0.0)
    assert [own.nonzero()[0].tolist() for own in confirm.vanishing(network, theta)] == [
        [1, 4],
        [2, 5],
    ]
    for end, why in ((0.009, ""), (0.02, "a unit")):
        trail = seen(*(np.tile([1.0, *pair], 2) for pair in ((0.01, 0.2), (end, 0.08))))
        found = confirm.doubt(network, X, ONE, trail, point, 1e-8)
        assert why in found if why else not found
