"""How a flow ends or goes on at switching surfaces, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from reluflow.flows.affine import affine_flow
from reluflow.flows.charts import LOG_LOSS, Plain, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE
from reluflow.networks.indexed import fully_connected, neuron

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
    flow = GradientFlow(Plain(neuron(2)), SQUARE, X, np.array([1.0, 2.0]))
    path = integrate(flow, [0.0, 1.0], 1.0)
    assert path.status == "horizon"
    assert path.end[0] > 0.1
    np.testing.assert_allclose(path.end, affine_flow(X, flow.y, [1e-12, 1.0]).at(1.0), atol=1e-8)
    # Downwards: the second datum pulls it off the first one's side.
    flow = GradientFlow(Plain(neuron(2)), SQUARE, X, np.array([-0.1, 0.2]))
    path = integrate(flow, [0.0, 1.0], 1.0)
    assert path.end[0] < -0.1


def least_squares(seed: int = 0) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(6, 2)), rng.normal(size=6)


@pytest.mark.parametrize("chart", [Plain, Polar], ids=lambda chart: chart.__name__)
def test_a_loss_that_falls_no_further_stops_its_clock(chart: type) -> None:
    """Least squares: log(1/L) has the minimum's value for its end, which the path comes to."""
    X, y = least_squares()
    flow = GradientFlow(chart(neuron(2, "linear")), SQUARE, X, y, LOG_LOSS)
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
    field = Explosion(Plain(neuron(1, "linear")), SQUARE, np.ones((1, 1)), np.ones(1))
    path = integrate(field, [1.0], 2.0)
    assert path.status == "stiff"
    assert path.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert path.at(0.5) == pytest.approx(2.0, rel=1e-6)


def test_neurons_of_very_different_sizes_do_not_cross_together() -> None:
    """A neuron 1e-12 of the other one's size has surfaces of its own, far from the other's."""
    X, y = np.array([[1.0, 0.2], [0.3, 1.0]]), np.array([1.0, 1.0])
    theta = np.array([1.0, -0.5, -1e-12, 5e-13, 1.0, -1e-12])
    chart = Polar(fully_connected([2, 2]))
    path = integrate(GradientFlow(chart, LOGISTIC, X, y), chart.coordinates(theta), 5.0, rtol=1e-7)
    assert {(e.datum, e.neuron, e.kind) for e in path.events} == {
        (1, 0, "activate"),
        (1, 1, "deactivate"),
    }
    one, two = path.events
    assert abs(one.t - two.t) > 0.01


@pytest.mark.parametrize("seed", [1004, 1032])
def test_a_neuron_that_rests_is_not_woken_by_rounding(seed: int) -> None:
    """A neuron dies and lies on its last datum's boundary; the others go on."""
    rng = np.random.default_rng(seed)
    network = fully_connected([2, 4])
    X = rng.normal(size=(6, 2))
    y, theta = np.where(X[:, 0] > 0, 1.0, -1.0), 0.5 * rng.normal(size=network.size)
    plain, polar = (GradientFlow(c(network), LOGISTIC, X, y) for c in (Plain, Polar))
    one = integrate(plain, theta, 1.0, rtol=1e-7)
    two = integrate(polar, polar.chart.coordinates(theta), 1.0, rtol=1e-7)
    assert one.events
    assert one.status == two.status
    assert [(e.datum, e.neuron, e.kind) for e in one.events] == [
        (e.datum, e.neuron, e.kind) for e in two.events
    ]


# Draws on which the activity in layer 2 changes, and in both layers.
@pytest.mark.parametrize("seed", [10, 26])
def test_surfaces_of_the_second_layer_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = fully_connected([2, 3, 2])
    X, y, w = rng.normal(size=(5, 2)), rng.normal(size=5), rng.normal(size=network.size)
    path = integrate(GradientFlow(Plain(network), SQUARE, X, y), w, 1.5, rtol=1e-6)
    assert any(e.neuron >= 3 for e in path.events)
    if seed == 26:  # layer 2 has no input from datum 2 any more, and no surface of its own there
        found = [(e.datum, e.neuron, e.kind) for e in path.events]
        assert found == [(3, 4, "deactivate"), (2, 0, "deactivate"), (2, 2, "slide")]
    step = path.t[-1] / 2000
    for _ in range(2000):  # Heun's method, which knows of no surface
        slope = network.gradient(w, X, network.output(w, X) - y)
        ahead = w - step * slope
        w = w - 0.5 * step * (slope + network.gradient(ahead, X, network.output(ahead, X) - y))
    np.testing.assert_allclose(path.end, w, atol=1e-3)


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
