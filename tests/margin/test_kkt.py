"""KKT residuals: exact points, points that are none, and kinks with their subdifferential."""

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
from scipy.optimize import approx_fprime

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
    assert found.gap < 1e-7
    G, h = G * (y[:, None] if seed % 2 else 1.0), rng.choice([-1.0, 0.0, 1.0], n)
    h = h if seed % 3 else np.abs(h)
    least = least_length(G, h)
    (u,), z = least.blocks, least.multipliers
    value = z @ h - 0.5 * (z @ G) @ (z @ G)
    assert np.all(z >= 0.0)
    if np.isfinite(least.value):
        assert np.all(G @ u >= h - 1e-9 * (1.0 + np.linalg.norm(G, axis=1) * np.linalg.norm(u)))
        assert value == pytest.approx(least.value, rel=1e-6)
        assert least.value == pytest.approx(0.5 * u @ u)
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
            limit(fully_connected([2, 1]), EXPONENTIAL, X, y, np.ones(3))


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


def test_the_gap_is_told_by_length_and_dual_bound() -> None:
    """Z = I: the shortest u is (1, 1), proved by lambda = (1, 1); (6, 3) costs sqrt 5 for margin 1,
    and lambda = (1, 0) bounds |u| by 1."""
    for u, dual, least, excess in (((3, 3), (1, 1), (1, 1), 1.0), ((6, 3), (1, 1), (2, 1), 2.5),
                                   ((1, 1), (1, 0), (1, 1), 2.0)):  # fmt: skip
        found = _proved(np.array(u, float), np.array(dual), np.eye(2))
        np.testing.assert_allclose([*found.u, (1.0 + found.gap) ** 2], [*least, excess])
    for u, dual in ([1.0, -1.0], np.ones(2)), (np.ones(2), [1.0, -1.0]):
        assert _proved(np.array(u), np.array(dual), np.eye(2)) is None
