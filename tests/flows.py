"""What every trajectory promises, and a list of flows, one for each chart, that keep more."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.typing import NDArray
from reluflow.flows.charts import LOG_LOSS, TIME, Neurons, Plain, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate, then
from reluflow.flows.trajectory import Trajectory
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, Loss
from reluflow.networks.indexed import Network, convolutional, fully_connected


def assert_consistent(path: Trajectory, accuracy: float) -> None:
    """It is what a trajectory promises, to this absolute error of a state."""
    assert (np.diff(path.t) > 0).all()
    assert path.states.shape[0] == len(path.t)
    np.testing.assert_allclose(path.at(path.t), path.states, rtol=0, atol=accuracy)
    assert [e.t for e in path.events] == sorted(e.t for e in path.events)
    assert all(isinstance(e.t, float) and isinstance(e.datum, int) for e in path.events)
    assert {e.kind for e in path.events} <= {"activate", "deactivate", "slide"}
    assert all(path.t[0] <= e.t <= path.t[-1] for e in path.events)
    assert path.detail
    if path.has_limit:
        np.testing.assert_allclose(path.at(np.inf), path.end, rtol=1e-14)
    else:
        np.testing.assert_array_equal(path.states[-1], path.end)
        with pytest.raises(ValueError, match="at most"):
            path.at(path.t[-1] + 1.0)
    with pytest.raises(ValueError, match="at least"):
        path.at([path.t[0] - 1.0, np.nan])
    with pytest.raises(FrozenInstanceError):
        path.status = "diverged"
    t = np.full((2, 3), path.t[0])
    t[1] = path.t[-1]
    assert path.at(t).shape == (2, 3, path.states.shape[1])
    np.testing.assert_array_equal(path.at(t)[1, 0], path.at(path.t[-1]))


class Alone(Plain):
    """The weights w (d,) of one neuron [w.x]_+: the output's of a unit, which stays 1, left out."""

    def coordinates(self, theta, log_scale=0.0):
        return super().coordinates(theta, log_scale)[..., :-1]

    def parameters(self, z):
        one = np.ones((*z.shape[:-1], 1))
        return np.concatenate([z, one], axis=-1), np.zeros(z.shape[:-1])

    def rate(self, z, G, clock):
        return super().rate(z, G[..., :-1], clock)


def in_chart(chart: type, network: Network, kind: Loss, clock: str, length: float):
    """Random data in the plane or in space, labels +1 and -1, weights above 0."""

    def made(seed: int) -> FlowPath:
        rng = np.random.default_rng(seed)
        d = network.maps[0].shape[1]
        X, y = rng.normal(size=(6, d)), np.where(rng.random(6) < 0.6, 1.0, -1.0)
        flow = GradientFlow(chart(network), kind, X, y, clock)
        start = flow.chart.coordinates(np.abs(rng.normal(size=network.size)))
        return integrate(flow, start, flow.begin(start) + length)

    return made


def balanced(seed: int) -> tuple[GradientFlow, NDArray]:
    """Three neurons of norm e^-4 on data that a line through 0 divides by their labels."""
    rng = np.random.default_rng(seed)
    y = np.array([1.0, -1.0, 1.0, -1.0])
    chart = Neurons(np.array([1.0, -1.0, 1.0]), 2)
    X = np.abs(rng.normal(size=(4, 2))) * y[:, None]
    return GradientFlow(chart, EXPONENTIAL, X, y), chart.along(rng.normal(size=(3, 2)), -4.0)


def aligning(seed: int) -> FlowPath:
    return integrate(*balanced(seed), 2.0)


def of_two_legs(seed: int) -> FlowPath:
    """Time, then log(1/loss); the invariants need no clock but the path's own."""
    flow, start = balanced(seed)
    late = GradientFlow(flow.chart, flow.loss, flow.X, flow.y, LOG_LOSS)
    path = integrate(flow, start, 1.0)
    return then(path, late, 1.0 - path.log_loss[-1])


def assert_jacobian(flow: GradientFlow, z: NDArray, tolerance: float) -> None:
    """The derivative is that by central differences, to this share of its largest entry."""
    active, h = (flow.surfaces(z) > 0.0).astype(float), 1e-6
    ahead, behind = ([flow.velocity(z + s * e, active) for e in np.eye(len(z))] for s in (h, -h))
    wanted = (np.array(ahead) - np.array(behind)).T / (2.0 * h)
    atol = tolerance * np.abs(wanted).max()
    np.testing.assert_allclose(flow.jacobian(z, active), wanted, rtol=0, atol=atol)


CHAIN = Network((np.array([[1, 2, 3]]), np.ones((1, 1), int), np.ones((1, 1), int)))
SHARED = Network((np.array([[1, 2], [2, 0]]), np.array([[1, 2], [1, 3]]), np.array([[1, 2]])))
FLOWS: dict[str, Callable[[int], FlowPath]] = {
    "neuron": in_chart(Alone, fully_connected([3, 1]), SQUARE, TIME, 2.0),
    "chain": in_chart(Plain, CHAIN, SQUARE, TIME, 1.0),
    "two layers": in_chart(Plain, fully_connected([2, 3]), LOGISTIC, TIME, 2.0),
    "two layers, polar": in_chart(Polar, fully_connected([2, 3]), EXPONENTIAL, LOG_LOSS, 0.5),
    "three layers, shared": in_chart(Polar, SHARED, LOGISTIC, TIME, 1.0),
    "filters": in_chart(Plain, convolutional(1, 2), LOGISTIC, LOG_LOSS, 0.05),
    "aligning": aligning,
    "two legs": of_two_legs,
}
