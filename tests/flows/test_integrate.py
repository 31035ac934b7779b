"""The flow of any network: against closed forms, another chart, another solver, and invariants."""

from itertools import product

import numpy as np
import pytest
from flows import Alone, assert_jacobian
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.flows import charts
from reluflow.flows.affine import affine_flow
from reluflow.flows.charts import LOG_LOSS, Neurons, Plain, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, _Path, integrate, then
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, TWICE_LOGISTIC
from reluflow.networks.indexed import convolutional, diagonal, fully_connected
from scipy.integrate import DOP853, solve_ivp

DECADE = np.log(10.0)
# Vardi et al. 2022, Theorem 3.2: one neuron active on both data, the other on none.
APART = np.array([[1.0, 0.25], [-1.0, 0.25]])
TWO = fully_connected([2, 2])
THETA = np.array([0.1, 1.0, 0.05, -1.0, 1.0, 0.3])


def neuron_flow(X: NDArray, y: NDArray, w0: NDArray, until: float) -> FlowPath:
    return integrate(
        GradientFlow(Alone(fully_connected([X.shape[1], 1])), SQUARE, X, y), w0, until, rtol=1e-10
    )


# Parallel data switch together: in the last case the first one alone would push the flow back.
@pytest.mark.parametrize("case", [0, 1, 2, 3, (1.0, 1.0, 3.0), (-2.0, 1.0, 3.0)], ids=str)
def test_one_neuron_follows_its_exact_flow_with_the_same_events(case) -> None:
    if isinstance(case, tuple):
        X, y, w0 = map(np.array, ([(1.0, 0.0), (2.0, 0.0), (0.3, 1.0)], case, [-0.4, 0.5]))
    else:
        rng = np.random.default_rng(case)
        X, y, w0 = rng.uniform(0, 1, (5, 3)), rng.uniform(0, 1, 5), rng.normal(size=3)
    exact, path = affine_flow(X, y, w0), neuron_flow(X, y, w0, 5.0)
    times = np.linspace(0.0, 5.0, 23)
    np.testing.assert_allclose(path.at(times), exact.at(times), atol=1e-7)
    events, found = ([e for e in one.events if e.t < 4.9] for one in (exact, path))
    assert [(e.datum, e.kind) for e in found] == [(e.datum, e.kind) for e in events]
    assert len({e.t for e in found}) == len({e.t for e in events})
    np.testing.assert_allclose([e.t for e in found], [e.t for e in events], atol=1e-6)


def separable(rng: np.random.Generator, n: int) -> tuple[NDArray, NDArray]:
    """Orthogonally separable data in the plane: positive ones in a quadrant, negative opposite."""
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return np.abs(rng.normal(size=(n, 2))) * y[:, None], y


@pytest.mark.parametrize("leak", [0.0, 0.3, 1.0])
def test_leaky_neurons_are_the_descent_of_their_own_loss(leak: float) -> None:
    """Against the flow of max(p, a p) in the weights, whatever is active."""
    rng = np.random.default_rng(6)
    X, y = separable(rng, 5)
    signs, U = np.array([1.0, -1.0, 1.0, -1.0]), rng.normal(size=(4, 2))
    chart = Neurons(signs, 2, leak)
    flow = GradientFlow(chart, TWICE_LOGISTIC, X, y)
    path = integrate(flow, chart.along(U, -1.0), 1.0)
    assert path.status == "horizon"
    assert path.events

    def descent(_, weights):
        W, v = weights[:8].reshape(4, 2), weights[8:]
        slopes = np.where(X @ W.T > 0.0, 1.0, leak)
        outputs = slopes * (X @ W.T)
        pull = 2.0 * y / (1.0 + np.exp(y * (outputs @ v)))
        return np.append((slopes * v * pull[:, None]).T @ X, pull @ outputs)

    sizes = np.exp(-1.0) * np.append((U.T / np.linalg.norm(U, axis=1)).T, signs)
    end = solve_ivp(descent, (0.0, 1.0), sizes, rtol=1e-8, atol=1e-10).y[:, -1]
    directions, R = chart.split(path.end)
    found = np.append(np.exp(R)[:, None] * directions, signs * np.exp(R))
    np.testing.assert_allclose(found, end, atol=1e-5)


@pytest.mark.parametrize("loss", [SQUARE, LOGISTIC], ids=lambda loss: loss.name)
def test_no_step_leaps_over_the_moment_at_which_a_size_is_1(loss) -> None:
    """From ln eps = -3000 all is still for a long time, and then over within a moment."""
    rng = np.random.default_rng(3)
    X, y = separable(rng, 6)
    chart = Polar(fully_connected([2, 3]))
    start = chart.coordinates(np.random.default_rng(3).normal(size=9), -3000.0)
    path = integrate(GradientFlow(chart, loss, X, y), start, 4000.0, rtol=1e-7)
    assert path.status == "horizon"
    assert path.log_loss[-1] < path.log_loss[0] - 0.1  # one label has neurons, the other none
    assert path.end[-1] > -1.0


def test_charts_and_clocks_change_on_the_way() -> None:
    """Balanced neurons, then polar, then plain coordinates give what plain ones give throughout."""
    rng = np.random.default_rng(4)
    X, y = separable(rng, 6)
    signs, U = np.array([1.0, -1.0, 1.0]), rng.normal(size=(3, 2))
    network = fully_connected([2, 3])
    charts = Neurons(signs, 2), Polar(network), Plain(network)
    flows = [GradientFlow(chart, LOGISTIC, X, y) for chart in charts]
    start = charts[0].along(U, [-3.0, -2.0, -2.5])
    path = integrate(flows[0], start, 0.8)
    path = then(then(path, flows[1], 0.7), flows[2], 0.9)
    theta, scale = charts[0].parameters(start)
    whole = integrate(flows[2], charts[2].coordinates(theta, scale), 2.4)
    assert (len(path.legs), path.clock, path.status) == (3, "time", "horizon")
    assert path.t[-1] == pytest.approx(2.4)
    times = np.linspace(0.0, 2.4, 13)
    np.testing.assert_allclose(path.at(times), whole.at(times), atol=1e-7)
    np.testing.assert_allclose(path.states, whole.at(np.minimum(path.t, 2.4)), atol=1e-7)
    assert whole.events
    assert [(e.datum, e.neuron) for e in path.events] == [(e.datum, e.neuron) for e in whole.events]
    np.testing.assert_allclose([e.t for e in path.events], [e.t for e in whole.events], atol=1e-6)
    # Back to balanced neurons, which these still are.
    back = charts[0].coordinates(path.end)
    assert charts[0].parameters(back)[1] == pytest.approx(back[6:].max())
    # A path that cannot go on is returned as it is.
    rest = integrate(
        GradientFlow(Plain(fully_connected([1], "linear")), SQUARE, np.ones((1, 1)), np.ones(1)),
        [1.0],
        2,
    )
    assert then(rest, rest.field, 5.0) is rest


def test_input_that_cannot_be_integrated_is_refused() -> None:
    problem = (Plain(TWO), EXPONENTIAL, APART, np.ones(2))
    with pytest.raises(InputError, match="clock"):
        GradientFlow(*problem, "steps")
    for chart, clock in (
        (Plain(TWO), charts.LOG_SIZE),
        (Neurons(np.ones(2), 2), charts.LOG_SIZE),
        (charts.Frozen(TWO, 9.0), LOG_LOSS),
    ):
        with pytest.raises(InputError, match="clock"):
            GradientFlow(chart, EXPONENTIAL, APART, np.ones(2), clock)
    with pytest.raises(InputError, match="finite"):
        integrate(GradientFlow(*problem), np.full(6, np.nan), 1.0)
    with pytest.raises(InputError, match="not after the start"):
        integrate(GradientFlow(*problem, LOG_LOSS), THETA, -50.0)
    with pytest.raises(InputError, match="no direction"):
        Polar(TWO).coordinates(np.zeros(6))
    chart = Neurons(np.ones(2), 2)
    with pytest.raises(InputError, match="neuron 1 is 0"):
        chart.along([[1, 0], [0, 0]], 0.0)
    with pytest.raises(InputError, match="shape"):
        chart.along([[1, 0]], 0.0)
    with pytest.raises(InputError, match="neuron 1 is not balanced"):
        chart.coordinates([3.0, 4.0, 1.0, 0.0, 5.0, -1.0])


def test_a_budget_of_steps_ends_as_stiff() -> None:
    flow = GradientFlow(Plain(TWO), EXPONENTIAL, APART, np.ones(2))
    path = integrate(flow, THETA, 1e6, max_steps=5)
    assert path.status == "stiff"
    assert "no progress" in path.detail


NETWORKS = TWO, fully_connected([2, 3, 2]), convolutional(1, 2), diagonal(2, 4, "linear")


@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC, SQUARE], ids=lambda loss: loss.name)
def test_the_jacobian_is_the_velocitys_derivative(loss) -> None:
    rng = np.random.default_rng(5)
    for clock, chart in product((LOG_LOSS, charts.LOG_LOG), map(Polar, NETWORKS)):
        X, theta = rng.uniform(0.5, 1.5, (3, 2)), rng.uniform(0.5, 1.5, chart.network.size)
        flow = GradientFlow(chart, loss, X, np.ones(3), clock)
        assert_jacobian(flow, chart.coordinates(theta), 1e-7)
    for clock, leak in product((charts.TIME, LOG_LOSS, charts.LOG_LOG), (0.0, 0.2)):
        chart = Neurons(np.array([1.0, -1.0, 1.0, -1.0]), 3, leak)
        X, y = rng.normal(size=(5, 3)), np.array([1.0, -2.0, 1.0, -1.0, 0.5])
        z = chart.along(rng.normal(size=(4, 3)), rng.uniform(-1.0, 1.0, 4))
        assert_jacobian(GradientFlow(chart, loss, X, y, clock), z, 1e-7)


def test_a_datum_on_which_the_network_is_dead_hides_no_other_in_the_jacobian() -> None:
    chart, X = Polar(TWO), np.array([[1.0, 0.0], [-1.0, 0.0]])
    z = chart.coordinates([2.0, 4.0, 4.0, -2.0, 5.0, 6.0])
    assert chart.outputs(z, X).tolist() == pytest.approx([34.0, 0.0])  # pulls e^-34 and 1
    assert_jacobian(GradientFlow(chart, EXPONENTIAL, X, np.ones(2), LOG_LOSS), z, 1e-6)


def test_the_clock_of_the_logarithm_goes_the_same_way() -> None:
    """log log(1/L) from 1 to a loss of 1e-1000, and log(1/L) to the same."""
    chart = Polar(TWO)
    one, two = (
        GradientFlow(chart, EXPONENTIAL, APART, np.ones(2), c) for c in (LOG_LOSS, charts.LOG_LOG)
    )
    start = chart.coordinates(4.0 * THETA)
    slow = integrate(one, start, 1e3 * DECADE, rtol=1e-9)
    fast = integrate(two, start, float(np.log(1e3 * DECADE)), rtol=1e-9)
    assert fast.t[0] == pytest.approx(np.log(slow.t[0]))
    np.testing.assert_allclose(fast.end, slow.end, atol=1e-7)
    with pytest.raises(InputError, match="loss below 1"):
        integrate(two, chart.coordinates(1e-3 * THETA), 1.0)


class _Lines(GradientFlow):
    """Two surfaces: -t, which leaves its start on 0 at once, and 1/2 - t."""

    def surfaces(self, z):
        return np.stack([-z, 0.5 - z], axis=-1)


def test_a_surface_that_was_left_on_zero_comes_before_a_later_crossing() -> None:
    """Parallel data cross together; rounding may put a twin on 0 exactly, and not beyond it."""
    path = _Path(_Lines(Plain(TWO), SQUARE, APART, np.ones(2)), 1.0, None, None, DOP853, {}, 10)
    at, crossed = path.first_crossing(lambda t: np.array([t]), 0.0, 1.0, np.ones((1, 2)))
    assert at == 0.0
    assert crossed.tolist() == [[True, False]]


# --- How a flow ends or goes on at switching surfaces, and how it says so -------------------------


EDGE = np.array([0.0, 1.0, 1.0])
"""w = (0, 1) on the boundary of the half-plane in which it is dead, v = 1 (Min et al. 2024)."""


def edge(label: float) -> GradientFlow:
    """One neuron and one datum x = (1, 0), Min et al. 2024, Appendices E.3 and E.4."""
    X, y = np.array([[1.0, 0.0]]), np.array([label])
    return GradientFlow(Plain(fully_connected([2, 1])), EXPONENTIAL, X, y)


def test_two_flows_that_leave_are_not_chosen_between() -> None:
    """Appendix E.4: with sigma'(0) = 0 it may stay or leave at any time; the caller says which."""
    path = integrate(edge(1.0), EDGE, 3.0)
    assert (path.status, len(path.t)) == ("non-unique", 1)
    assert "both sides" in path.detail
    stays = integrate(edge(1.0), EDGE, 3.0, at_zero=0.0)
    assert (stays.status, stays.end.tolist()) == ("converged", EDGE.tolist())
    for share in (0.5, 1.0):
        leaves = integrate(edge(1.0), EDGE, 3.0, at_zero=share)
        assert leaves.status == "horizon"
        assert leaves.end[0] > 1.0


def test_a_neuron_rests_on_the_boundary_unless_its_derivative_there_pushes_it() -> None:
    """Appendix E.3: for sigma'(0) > 0 there is no Caratheodory solution."""
    for share in (None, 0.0):
        path = integrate(edge(-1.0), EDGE, 3.0, at_zero=share)
        assert (path.status, path.end.tolist()) == ("converged", EDGE.tolist())
    for share in (0.5, 1.0):
        assert integrate(edge(-1.0), EDGE, 3.0, at_zero=share).status == "sliding"
    # The same when it arrives there: the flow is e^-t-like down to w_1 = 0.
    start = np.array([0.3, 1.0, 1.0])
    assert integrate(edge(-1.0), start, 9.0).status == "converged"
    assert integrate(edge(-1.0), start, 9.0, at_zero=1.0).status == "sliding"


def test_a_start_on_a_surface_that_is_crossed_goes_on() -> None:
    """The other datum carries the flow over the first one's boundary, either way."""
    X = np.array([[1.0, 0.0], [0.6, 0.8]])
    flow = GradientFlow(Alone(fully_connected([2, 1])), SQUARE, X, np.array([1.0, 2.0]))
    path = integrate(flow, [0.0, 1.0], 1.0)
    assert path.status == "horizon"
    assert path.end[0] > 0.1
    np.testing.assert_allclose(path.end, affine_flow(X, flow.y, [1e-12, 1.0]).at(1.0), atol=1e-8)
    # Downwards: the second datum pulls it off the first one's side.
    flow = GradientFlow(Alone(fully_connected([2, 1])), SQUARE, X, np.array([-0.1, 0.2]))
    path = integrate(flow, [0.0, 1.0], 1.0)
    assert path.end[0] < -0.1
    # A neuron that is 1e-14 of another one's size is judged by its own speed.
    chart = Polar(fully_connected([2, 2]))
    start = chart.coordinates([1.0, -0.5, 0.0, 1e-14, 1.0, 1e-14])
    assert integrate(GradientFlow(chart, SQUARE, X, np.array([1.0, 2.0])), start, 1.0).events == ()


def least_squares(seed: int = 0) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(6, 2)), rng.normal(size=6)


@pytest.mark.parametrize("chart", [Plain, Polar], ids=lambda chart: chart.__name__)
def test_a_loss_that_falls_no_further_stops_its_clock(chart: type) -> None:
    """Least squares: log(1/L) has the minimum's value for its end, which the path comes to."""
    X, y = least_squares()
    flow = GradientFlow(chart(fully_connected([2], "linear")), SQUARE, X, y, LOG_LOSS)
    path = integrate(flow, flow.chart.coordinates([1.0, 2.0]), 50.0, rtol=1e-5)
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    assert path.status == "stalled"
    assert "stopped falling" in path.detail
    theta, scale = flow.chart.parameters(path.end)
    np.testing.assert_allclose(np.exp(scale) * theta, best, atol=1e-3)


class Explosion(GradientFlow):
    """z' = z^2, which is infinite at time 1 from z = 1."""

    def velocity(self, z: NDArray, active: NDArray) -> NDArray:
        return z * z


def test_a_flow_without_end_is_stiff_not_a_number() -> None:
    field = Explosion(Plain(fully_connected([1], "linear")), SQUARE, np.ones((1, 1)), np.ones(1))
    path = integrate(field, [1.0], 2.0)
    assert path.status == "stiff"
    assert path.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert path.at(0.5) == pytest.approx(2.0, rel=1e-6)


def problem(kind: str, seed: int):
    """Network, loss, X, y, start and time of flows whose surfaces are hard to tell apart."""
    rng = np.random.default_rng(seed)
    if kind == "sizes":  # the surfaces of a neuron 1e-12 of the other one's size are far from its
        theta = np.array([1.0, -0.5, -1e-12, 5e-13, 1.0, -1e-12])
        X = np.array([[1.0, 0.2], [0.3, 1.0]])
        return fully_connected([2, 2]), LOGISTIC, X, np.ones(2), theta, 5.0
    if kind == "rest":  # a neuron dies and lies on its last datum's boundary; the others go on
        network, X = fully_connected([2, 4]), rng.normal(size=(6, 2))
        y, theta = np.where(X[:, 0] > 0, 1.0, -1.0), 0.5 * rng.normal(size=network.size)
        return network, LOGISTIC, X, y, theta, 1.0
    network = fully_connected([2, 3, 2])  # activity in layer 2 changes, and in both layers
    X, y, theta = rng.normal(size=(5, 2)), rng.normal(size=5), rng.normal(size=network.size)
    return network, SQUARE, X, y, theta, 1.5


@pytest.mark.parametrize(
    ("kind", "seed", "changes"),
    [
        ("sizes", 0, [(1, 1, "deactivate"), (1, 0, "activate")]),
        ("rest", 1004, [(1, 2, "deactivate"), (2, 2, "deactivate")]),
        ("rest", 1032, [(3, 3, "deactivate"), (2, 3, "deactivate"), (0, 1, "slide")]),
        ("layers", 10, [(4, 3, "deactivate")]),
        # Layer 2 has no input from datum 2 any more, and no surface of its own there.
        ("layers", 26, [(3, 4, "deactivate"), (2, 0, "deactivate"), (2, 2, "slide")]),
    ],
)
def test_flows_in_any_chart_are_the_descent_by_steps(kind, seed, changes) -> None:
    """By an integrator that knows of no surface."""
    network, loss, X, y, theta, until = problem(kind, seed)
    rtol = 1e-6 if kind == "layers" else 1e-7
    for chart in (Plain(network), Polar(network)):
        path = integrate(
            GradientFlow(chart, loss, X, y), chart.coordinates(theta), until, rtol=rtol
        )
        assert [(e.datum, e.neuron, e.kind) for e in path.events] == changes

        def descent(_, w):
            return network.gradient(w, X, loss.pull(network.output(w, X), y, 0.0))

        end = solve_ivp(descent, (0.0, path.t[-1]), theta, rtol=1e-6, atol=1e-8).y[:, -1]
        found, log_scale = chart.parameters(path.end)
        np.testing.assert_allclose(np.exp(log_scale) * found, end, atol=1e-3)


class Rounded(GradientFlow):
    """A kernel whose rounding puts the first datum on 0 exactly where it is just behind."""

    def surfaces(self, z: NDArray) -> NDArray:
        h = super().surfaces(z)
        first = h[..., 0, :]
        first[(first < 0.0) & (first > -1e-9)] = 0.0
        return h


@pytest.mark.parametrize("seed", range(5))
def test_opposite_data_change_together_even_where_one_lies_on_zero(seed: int) -> None:
    """A neuron that loses its last datum u gains none: -u does not switch alone."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=2)
    X, y = np.array([u, -rng.uniform(0.2, 3.0) * u]), np.array([-1.0, 1.0])
    start = rng.normal(size=2)
    theta = np.append(start * np.sign(start @ u), 1.0 + np.linalg.norm(start))
    flow = Rounded(Plain(fully_connected([2, 1])), EXPONENTIAL, X, y)
    path = integrate(flow, theta, 50.0, at_zero=0.0, rtol=1e-6)
    assert [(e.datum, e.kind) for e in path.events] == [(0, "deactivate")]
    assert path.status == "converged"
