"""KKT residuals: exact points, points that are none, and kinks with their subdifferential."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.losses import EXPONENTIAL
from reluflow.margin.confirm import _System, polished
from reluflow.margin.kkt import cells, kkt, margins, scaled
from reluflow.margin.limits import limit
from reluflow.margin.max_margin import _proved, least_length, max_margin
from reluflow.networks.indexed import Network, convolutional, fully_connected

APART = np.array([[1.0, 0.25], [-1.0, 0.25]])
TWO = fully_connected([2, 2])
ROUND = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])


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


def test_points_that_are_no_kkt_points_have_a_residual() -> None:
    theta = np.array([0.1, 2.0, 0.0, 0.0, 2.0, 0.0])
    assert kkt(TWO, theta, APART, np.ones(2)).residual > 0.01
    # Feasible and of the right form, with a datum that pulls the wrong way: lambda would be < 0.
    wide = np.array([[1.0, 0.25], [1.0, -0.75]])
    assert kkt(TWO, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0], wide, np.ones(2)).residual > 0.1


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
    found = polished(network, theta, np.array([0.0, theta @ theta / 3.0]), X, y,
                     np.array([False, True]), [], [])  # fmt: skip
    assert found.residual < 1e-12
    assert found.theta[6] / found.theta[7] == pytest.approx(-0.0436 / 0.5757, abs=2e-3)


@pytest.mark.parametrize("kinks", [[], [(0, 0, 1)], [(0, 2, 0), (0, 0, 1)]])
def test_the_equations_of_the_polish_have_their_derivative(kinks: list) -> None:
    """In theta, in the multipliers, and in the factors of units that stay on their kinks."""
    rng = np.random.default_rng(4)
    network, X, y = fully_connected([3, 2]), rng.normal(size=(3, 3)), np.array([1.0, -1.0, 1.0])
    patterns = [rng.integers(0, 2, (3, 2)).astype(float)]
    system = _System(network, X, y, np.array([0, 2]), patterns, kinks)
    W, v = rng.normal(size=(2, 3)), rng.normal(size=2)
    for _, i, j in kinks:
        W[j] -= (W[j] @ X[i]) / (X[i] @ X[i]) * X[i]
    theta = network.parameters([W, v[None]])
    z = np.concatenate([theta, rng.normal(size=2), rng.uniform(size=len(kinks))])
    ahead, behind = (
        np.array([system.at(z + sign * step)[0] for step in 1e-5 * np.eye(len(z))])
        for sign in (1.0, -1.0)
    )
    np.testing.assert_allclose(system.at(z)[1], (ahead - behind).T / 2e-5, atol=1e-8)


# --- The linear max-margin vector: its bound from below, which proves it --------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), d=st.integers(1, 5))
def test_it_is_certified_by_its_bound(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    spread, unit = rng.choice([1.0, 3.0]), 10.0 ** rng.uniform(-6, 6)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-spread, spread, (n, 1)) * unit
    y = np.where(X @ rng.normal(size=d) > 0, 1.0, -1.0)
    found = max_margin(X, y)
    Z = y[:, None] * X
    np.testing.assert_allclose((Z @ found.u).min(), 1.0, rtol=1e-9)
    assert np.all(found.multipliers >= 0)
    bound = found.multipliers.sum() / np.linalg.norm(found.multipliers @ Z)
    assert bound == pytest.approx(found.length, rel=1e-7)
    np.testing.assert_allclose(found.multipliers @ Z, found.u, rtol=1e-5, atol=1e-6 * found.length)


@pytest.mark.parametrize(
    ("X", "y"), [([[1, 0], [1, 0]], [1, -1]), ([[1.0], [-1.0]], [1, 1]), ([[0.0, 0.0]], [1])]
)
def test_data_that_nothing_separates_are_refused(X, y) -> None:
    with pytest.raises(InputError, match="separates"):
        max_margin(X, y)


@pytest.mark.parametrize("X", [np.zeros((0, 2)), *([[c, 0.0]] for c in (1e160, 1e-160, np.nan))])
def test_no_data_and_those_beyond_floats_are_refused(X) -> None:
    """SciPy's least squares end the process on a matrix without columns; squares of sizes beyond
    1e153 are no floats."""
    net, theta, y = fully_connected([2, 1]), np.ones(3), np.ones(len(X))
    for ask in (lambda: max_margin(X, y), lambda: limit(net, EXPONENTIAL, X, y, theta)):
        with pytest.raises(InputError, match=r"no data|another unit"):
            ask()


def test_a_small_margin_is_found_to_rounding() -> None:
    """Multipliers of 0 that rounding makes negative cost no accuracy, long data no hyperplane."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    X = np.random.default_rng(2).normal(size=(12, 3))
    flat = np.hstack([np.vstack([X, -X]), np.full((24, 1), 1e-6)])
    found = max_margin(flat @ turn, np.ones(24))
    assert found.length == pytest.approx(1e6, rel=1e-8)
    assert found.gap < 1e-8
    far = max_margin([[1e9, 1.0], [1.0, 0.0], [-1e9, 1e3]], np.ones(3))
    assert far.length == pytest.approx(1e6, rel=1e-5)


@pytest.mark.parametrize("h", [[-1.0, -2.0], [0.0, 0.0]])
def test_conditions_that_zero_meets_cost_nothing(h) -> None:
    found = least_length(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array(h))
    assert (found.blocks[0].any(), found.multipliers.any(), found.value) == (False, False, 0.0)


def test_the_gap_is_told_by_length_and_dual_bound() -> None:
    """Z = I: the shortest u is (1, 1), proved by lambda = (1, 1); (6, 3) costs sqrt 5 for margin 1,
    and lambda = (1, 0) bounds |u| by 1."""
    best = _proved(np.array([3.0, 3.0]), np.ones(2), np.eye(2))
    np.testing.assert_allclose(best.u, [1, 1])
    assert best.gap == pytest.approx(0.0, abs=1e-15)
    longer = _proved(np.array([6.0, 3.0]), np.ones(2), np.eye(2))
    np.testing.assert_allclose(longer.u, [2, 1])
    assert longer.gap == pytest.approx(np.sqrt(2.5) - 1.0)
    weaker = _proved(np.array([1.0, 1.0]), np.array([1.0, 0.0]), np.eye(2))
    assert weaker.gap == pytest.approx(np.sqrt(2.0) - 1.0)
    assert _proved(np.array([1.0, -1.0]), np.ones(2), np.eye(2)) is None
    assert _proved(np.ones(2), np.array([1.0, -1.0]), np.eye(2)) is None
