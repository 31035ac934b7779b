"""Limits of gradient flow: what is taken for one, and flows without any."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flows import assert_jacobian
from numpy.typing import ArrayLike, NDArray
from reluflow.errors import InputError
from reluflow.flows.charts import LOG_LOSS, LOG_SIZE, Frozen, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin import limits
from reluflow.margin.confirm import Seen, Stationary, candidate, doubt, growth, vanishing
from reluflow.margin.kkt import kkt
from reluflow.margin.limits import Limit, _turning, curvature, departs, limit
from reluflow.networks.indexed import Network, diagonal, fully_connected

APART = np.array([[1.0, 0.25], [-1.0, 0.25]])
THREE = np.vstack([APART, [0.0, -1.0]])
ROUND = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
TWO = fully_connected([2, 2])
ONE = np.ones(1)


def seen(*states: NDArray, pulls: ArrayLike = ONE) -> list[Seen]:
    """States of a flow, one after the other."""
    return [Seen(v / np.linalg.norm(v), float(k), np.array(pulls)) for k, v in enumerate(states)]


def test_the_flow_must_confirm_a_candidate() -> None:
    """The second neuron of the last test is the larger one for long, and alone a KKT point too."""
    network = Network((np.array([[1, 0], [0, 2]]), np.array([[1, 2]])), "linear")
    X, y = np.array([[1.0, 0.9]]), np.ones(1)
    wrong = np.array([0.0, 1.0, 0.0, 1.0]) / np.sqrt(0.9)
    assert kkt(network, wrong, X, y).residual < 1e-12
    point = Stationary(wrong, np.array([1.0 / 0.9]), [], 0.0)
    u = np.array([0.1, 1.0, 0.1, 1.0])
    trail = seen(u * [0.9, 1, 0.9, 1], u)
    assert growth(network, X, y, trail[-1].u, point) == pytest.approx(1.0 / 0.9)
    assert "expected rate" in doubt(network, X, y, trail, point, 1e-8)
    resting = [trail[1], replace(trail[1], rho=2.0)]
    assert "expected rate" in doubt(network, X, y, resting, point, 1e-8)
    # The equations from there lead to that point all the same.
    assert np.linalg.norm(candidate(network, X, y, trail[-1]).theta - wrong) < 1e-9


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
    point = Stationary(np.array(theta), np.array(multipliers), [], residual)
    trail = seen(*(STATES["theta"] + k * IDLE for k in idle), pulls=pulls)
    found = doubt(TWO, APART, np.ones(2), trail, point, 1e-8)
    assert why in found if why else not found


def test_flows_without_a_limit_end_in_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fully_connected([1, 1], "linear")
    wrong = limit(one, LOGISTIC, [[1.0]], np.ones(1), [-0.5, 0.5])
    assert wrong.status == "stalled"
    assert wrong.reached < 0.17
    assert np.isinf(wrong.error)
    dead = limit(fully_connected([1, 1]), LOGISTIC, [[1.0]], np.ones(1), [-1.0, 1.0])
    assert dead.status == "at rest"
    apart = limit(one, EXPONENTIAL, [[1.0], [1.0]], np.array([1.0, -1.0]), [1.0, 1.0])
    assert apart.status in ("stalled", "stiff")
    with pytest.raises(InputError, match="no direction"):
        limit(one, LOGISTIC, [[1.0]], np.ones(1), [0.0, 0.0])
    right = limit(one, LOGISTIC, [[1.0]], ONE, [1.0, 1.0], reach=1e2)
    monkeypatch.setattr(limits, "_followed", lambda *given: right.path)
    assert right.converged
    assert limit(one, LOGISTIC, [[1.0]], ONE, [1.0, 1.0], reach=1e3).status == "stiff"


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
        np.testing.assert_allclose(_turning(field, np.array([z, z]))[1], turning, atol=1e-9)


@pytest.mark.parametrize("pulls", [[0.33, 0.33, 0.339, 0.001], [0.5, 0.5, 0.0, 0.0]])
def test_data_leave_and_enter_by_their_multipliers_and_margins(pulls: list) -> None:
    X = np.vstack([THREE, [4.0, -1.5]])
    exact = np.array([0.0, 2.0, 0.0, -1.0, 2.0, 1.0])
    found = candidate(TWO, X, np.ones(4), *seen(exact, pulls=pulls))
    np.testing.assert_allclose(found.theta, exact, atol=1e-12)
    assert found.multipliers[3] == 0.0


def test_a_kink_begins_with_the_given_slope() -> None:
    """In Theorem 4.2 (2) two data pull against each other, so that each slope will do."""
    theta = np.concatenate([ROUND.ravel(), np.ones(4)])
    state = seen(theta, pulls=np.full(4, 0.25))
    found = candidate(fully_connected([2, 4]), ROUND, np.ones(4), *state, at_zero=0.5)
    np.testing.assert_array_equal(found.patterns[0], (1.0 + ROUND @ ROUND.T) / 2)


def test_a_candidate_in_another_cell_is_none() -> None:
    """The first neuron is inactive on datum 4 in the limit, and active where the flow is."""
    X, exact = np.vstack([THREE, [4.0, -1.5]]), np.array([0.0, 2.0, 0.0, -1.0, 2.0, 1.0])
    point = Stationary(exact, np.array([2.0, 2.0, 1.0, 0.0]), [], 0.0)
    here, shares = np.array([0.8, 2.0, 0.0, -1.0, 2.0, 1.0]), point.multipliers / 5.0
    for nearer, there in ((1.0, True), (0.1, False)):
        trail = seen(*(exact + nearer * k * (here - exact) for k in (2.0, 1.0)), pulls=shares)
        assert ("another cell" in doubt(TWO, X, np.ones(4), trail, point, 1e-8)) is there


@pytest.mark.parametrize("unit", [1e-9, 1e3])
@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_the_unit_of_the_data_and_the_size_of_the_start_do_not_matter(unit, size) -> None:
    """Phi(theta; c x) = Phi(c^(1/m) theta; x): the limit is c^(-1/m) times that for x."""
    start = size * np.array([0.0, 3.0, 0.0, -2.0, 3.0, 2.0]) / np.sqrt(unit)
    found = limit(TWO, LOGISTIC, unit * THREE, np.ones(3), start, reach=1e3)
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
    found = limit(network, LOGISTIC, X, np.ones(2), start, reach=1e3)
    assert found.converged
    assert found.path.clock == "time, then log(1/loss), then log log(1/loss)"


# --- Whether a flow stays: races with a known winner, saddles, symmetries -------------------------


def raced(x, a, m: int = 3, activation: str = "linear") -> Limit:
    return limit(diagonal(len(x), m, activation), EXPONENTIAL, [x], ONE, np.tile(a, m))


def winners(found: Limit, d: int) -> list[int]:
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
    [(7, 1e-2, 4, "linear"), (7, 1e-4, 3, "relu"), (7, 1e-4, 4, "linear"),
     *((3, gap, 3, "linear") for gap in (1e-6, 1e-12))],
)  # fmt: skip
def test_a_race_has_its_winner_or_is_left_open(
    seed: int, gap: float, m: int, activation: str
) -> None:
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
    assert found.theta[1::2] == pytest.approx(3e-7)


def test_what_a_flow_has_no_part_in_does_not_count() -> None:
    """A tie from equal starts is the limit; a part of 1e-12 in the difference makes it none."""
    network, X = diagonal(2, 3, "linear"), np.ones((1, 2))
    found = raced([1.0, 1.0], [1.0, 1.0])
    assert found.converged
    assert winners(found, 2) == [0, 1]
    point = Stationary(found.theta, found.multipliers, [], 0.0)
    away, _ = curvature(network, X, ONE, point)
    u = found.theta / np.linalg.norm(found.theta)
    paths, off = [(found.path, 1e-6)], u + 1e-12 * away[:, 0]
    assert not departs(network, X, [u, u], point, away, paths)
    begun: Any = SimpleNamespace(states=[np.append(off, 0.0)])
    for trail, way in (([u, off], paths), ([off, u], paths), ([u, u], [(begun, 1e-6)])):
        assert "leads away" in departs(network, X, trail, point, away, way)
    assert "saddle" in departs(network, X, [u, u], point, away[:, :0], [(found.path, 1e-2)])


def test_a_unit_that_leaves_its_kink_is_seen() -> None:
    network, X = fully_connected([2, 1]), np.array([[1.0, 0.0], [0.0, 1.0]])
    found = limit(network, EXPONENTIAL, X, np.ones(2), [1.0, 1.0, 1.0], reach=1e3)
    theta, none = np.array([1.0, 0.0, 1.0]), np.zeros((3, 0))
    point = Stationary(theta, np.ones(2), [np.ones((2, 1))], 0.0)
    nearer, farther = (np.array([1.0, h, 1.0]) for h in (1e-11, 2e-11))
    paths = [(found.path, 1e-6)]
    assert "kink" in departs(network, X, [nearer, farther], point, none, paths)
    assert not departs(network, X, [farther, nearer], point, none, paths)


def test_a_unit_that_grows_again_is_not_hidden_by_one_that_dies() -> None:
    """The distance to (1, 0, 0) falls, and the second unit comes nearer to 1 all the same."""
    network = diagonal(3, 2, "linear")
    X, theta = np.array([[1.0, 0.9, 0.1]]), np.array([1.0, 0.0, 0.0] * 2)
    point = Stationary(theta, ONE, [], 0.0)
    assert [own.nonzero()[0].tolist() for own in vanishing(network, theta)] == [[1, 4], [2, 5]]
    for end, why in ((0.009, ""), (0.02, "a unit")):
        trail = seen(*(np.tile([1.0, *pair], 2) for pair in ((0.01, 0.2), (end, 0.08))))
        found = doubt(network, X, ONE, trail, point, 1e-8)
        assert why in found if why else not found
