"""One list of flows, one for each integrator and chart, on which every invariant is tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from reluflow.flows.affine import affine_flow
from reluflow.flows.charts import LOG_LOSS, TIME, Neurons, Plain, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate, then
from reluflow.flows.trajectory import Trajectory
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, Loss
from reluflow.networks.indexed import Network, convolutional, fully_connected
from reluflow.papers.lee2022support.landscape import loss


@dataclass(frozen=True)
class Flow:
    """A path, and what its invariants need.

    value     a function that falls along the path, states (k, d) -> (k,)
    again     the path from a state (d,) on, for as long a clock as given
    surfaces  functions (k, n, units) of states (k, d) that are 0 where activity changes
    accuracy  absolute error of a state
    """

    path: Trajectory
    value: Callable[[NDArray], NDArray]
    again: Callable[[NDArray, float], Trajectory] | None = None
    surfaces: Callable[[NDArray], NDArray] | None = None
    accuracy: float = 1e-8


def draw(seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Data of either sign of input, labels above 0, and a start."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    y = rng.uniform(0.1, 1.5, n)
    return X, y, 10.0 ** rng.uniform(-3, 1) * rng.normal(size=d)


def exact(seed: int, below: bool = False) -> Flow:
    """With labels `below` zero, too, a flow may slide."""
    X, y, w = draw(seed)
    if below:
        y *= np.where(np.random.default_rng(seed).random(len(y)) < 0.5, -1.0, 1.0)
    return Flow(
        affine_flow(X, y, w),
        lambda W: loss(X, y, W),
        lambda w, _: affine_flow(X, y, w),
        lambda W: (W @ X.T)[..., None],
        1e-9 * (1.0 + float(np.abs(w).max())),
    )


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

    def made(seed: int) -> Flow:
        rng = np.random.default_rng(seed)
        d = network.maps[0].shape[1]
        X, y = rng.normal(size=(6, d)), np.where(rng.random(6) < 0.6, 1.0, -1.0)
        flow = GradientFlow(chart(network), kind, X, y, clock)
        start = flow.chart.coordinates(np.abs(rng.normal(size=network.size)))
        return of_field(flow, integrate(flow, start, flow.begin(start) + length))

    return made


def of_field(flow: GradientFlow, path: FlowPath) -> Flow:
    return Flow(
        path,
        lambda Z: np.array([flow.log_loss(z) for z in Z]),
        lambda z, left: integrate(flow, z, flow.begin(z) + left),
        lambda Z: np.array([flow.surfaces(z) for z in Z]),
        1e-6,
    )


def balanced(seed: int) -> tuple[GradientFlow, NDArray]:
    """Three neurons of norm e^-4 on data that a line through 0 divides by their labels."""
    rng = np.random.default_rng(seed)
    y = np.array([1.0, -1.0, 1.0, -1.0])
    chart = Neurons(np.array([1.0, -1.0, 1.0]), 2)
    X = np.abs(rng.normal(size=(4, 2))) * y[:, None]
    return GradientFlow(chart, EXPONENTIAL, X, y), chart.along(rng.normal(size=(3, 2)), -4.0)


def aligning(seed: int) -> Flow:
    flow, start = balanced(seed)
    return of_field(flow, integrate(flow, start, 2.0))


def of_two_legs(seed: int) -> Flow:
    """Time, then log(1/loss); the invariants need no clock but the path's own."""
    flow, start = balanced(seed)
    late = GradientFlow(flow.chart, flow.loss, flow.X, flow.y, LOG_LOSS)
    path = integrate(flow, start, 1.0)
    path = then(path, late, 1.0 - path.log_loss[-1])
    return Flow(path, of_field(late, path).value, None, of_field(late, path).surfaces, 1e-6)


def assert_jacobian(flow: GradientFlow, z: NDArray, tolerance: float) -> None:
    """The derivative is that by central differences, to this share of its largest entry."""
    active, h = (flow.surfaces(z) > 0.0).astype(float), 1e-6
    ahead, behind = ([flow.velocity(z + s * e, active) for e in np.eye(len(z))] for s in (h, -h))
    wanted = (np.array(ahead) - np.array(behind)).T / (2.0 * h)
    atol = tolerance * np.abs(wanted).max()
    np.testing.assert_allclose(flow.jacobian(z, active), wanted, rtol=0, atol=atol)


CHAIN = Network((np.array([[1, 2, 3]]), np.ones((1, 1), int), np.ones((1, 1), int)))
SHARED = Network((np.array([[1, 2], [2, 0]]), np.array([[1, 2], [1, 3]]), np.array([[1, 2]])))
FLOWS: dict[str, Callable[[int], Flow]] = {
    "exact": exact,
    "exact, labels of either sign": lambda seed: exact(seed, below=True),
    "neuron": in_chart(Alone, fully_connected([3, 1]), SQUARE, TIME, 2.0),
    "chain": in_chart(Plain, CHAIN, SQUARE, TIME, 1.0),
    "two layers": in_chart(Plain, fully_connected([2, 3]), LOGISTIC, TIME, 2.0),
    "two layers, polar": in_chart(Polar, fully_connected([2, 3]), EXPONENTIAL, LOG_LOSS, 0.5),
    "three layers, shared": in_chart(Polar, SHARED, LOGISTIC, TIME, 1.0),
    "filters": in_chart(Plain, convolutional(1, 2), LOGISTIC, LOG_LOSS, 0.05),
    "aligning": aligning,
    "two legs": of_two_legs,
}
