"""Whether a flow stays where it has come to: races with a known winner, saddles, symmetries.

One datum x, m equal diagonal layers with positive weights a: coordinate j blows up at a time
proportional to a_j^(2 - m) / x_j, and the first one wins everything.
"""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.losses import EXPONENTIAL
from reluflow.margin.confirm import Seen, Stationary, doubt, vanishing
from reluflow.margin.limits import Limit, curvature, departs, limit
from reluflow.networks.indexed import Network, diagonal, fully_connected

ONE = np.ones(1)


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
     *((3, gap, 3, "linear") for gap in (1e-6, 1e-9, 1e-12))],
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
    found = raced([0.63086529, 0.7750592, 0.54148489], [1.01592941, 0.82596008, 0.94448012])
    assert found.converged
    assert winners(found, 3) == [0]


def test_what_a_flow_has_no_part_in_does_not_count() -> None:
    """A tie from equal starts is the limit; a part of 1e-12 in the difference makes it none."""
    network, X = diagonal(2, 3, "linear"), np.ones((1, 2))
    found = raced([1.0, 1.0], [1.0, 1.0])
    assert found.converged
    assert winners(found, 2) == [0, 1]
    point = Stationary(found.theta, found.multipliers, [], 0.0)
    away, _ = curvature(network, X, ONE, point)
    u = found.theta / np.linalg.norm(found.theta)
    paths = [(found.path, 1e-6)]
    assert not departs(network, X, [u, u], point, away, paths)
    assert "leads away" in departs(network, X, [u, u + 1e-12 * away[:, 0]], point, away, paths)
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
    network = Network((np.diag([1, 2, 3]), np.array([[1, 2, 3]])), "linear")
    X, theta = np.array([[1.0, 0.9, 0.1]]), np.array([1.0, 0.0, 0.0] * 2)
    point = Stationary(theta, ONE, [], 0.0)
    assert [own.nonzero()[0].tolist() for own in vanishing(network, theta)] == [[1, 4], [2, 5]]

    def trail(*units: tuple[float, float]) -> list[Seen]:
        many = [np.tile([1.0, *pair], 2) for pair in units]
        return [Seen(v / np.linalg.norm(v), float(k), ONE) for k, v in enumerate(many)]

    assert not doubt(network, X, ONE, trail((0.01, 0.2), (0.009, 0.08)), point, 1e-8)
    assert "a unit" in doubt(network, X, ONE, trail((0.01, 0.2), (0.02, 0.08)), point, 1e-8)
