"""How the engines' time and memory grow with one size, beside the work that no exact method avoids.

Each yields, for one size of one problem, the run, the number of its events, and its floor: the
factorisations and evaluations of that very run alone, as bare calls of LAPACK, BLAS and NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from reluflow.flows.affine import affine_flow
from reluflow.flows.alignment import align
from reluflow.flows.charts import LOG_LOSS, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.flows.trajectory import Event
from reluflow.losses import EXPONENTIAL
from reluflow.networks.indexed import fully_connected
from scipy.linalg import lu_factor

REPEATS = 3
"""Problems of each size."""
DECADES = 10.0
"""Flows of two layers are followed to log10(1/L) = 10."""
SIZES = {
    "data n": (50, 100, 200, 400, 800, 1600),
    "dimensions d": (4, 8, 16, 32, 64),
    "events": (4, 8, 16, 32, 64),
    "data of an alignment": (30, 100, 300, 1000, 3000),
    "neurons h": (2, 4, 8, 16, 32),
}


@dataclass(frozen=True)
class Work:
    """A run, its number of events, and its floor."""

    run: Callable[[], object]
    events: int
    floor: Callable[[], object]


def works(size: str, value: int, rng: np.random.Generator) -> Work:
    """The work of one problem where this size has this value."""
    n, d, most = 200, 10, 100_000
    if size == "neurons h":
        return _two_layers(value, rng)
    if size == "data of an alignment":
        return _alignment(value, rng)
    if size == "data n":
        n = value
    elif size == "dimensions d":
        d = value
    else:
        n, d, most = 400, 20, value
    X, y = rng.normal(size=(n, d)), rng.uniform(1.0, 2.0, n)
    return one_neuron(X, y, rng.normal(size=d), most)


def one_neuron(X: NDArray, y: NDArray, w0: NDArray, most: int = 100_000) -> Work:
    """A flow; the singular values of each of its cells, and all data's x.w at each of its ends."""
    flow = affine_flow(X, y, w0, max_events=most)
    roots = [np.linalg.qr(X[on], mode="r") for on in _patterns(X @ w0 > 0.0, flow.events)]
    states = [*flow.states, flow.end]

    def floor() -> None:
        for root, w in zip(roots, states, strict=False):
            np.linalg.svd(root)
            X @ w

    return Work(partial(affine_flow, X, y, w0, max_events=most), len(flow.events), floor)


def _patterns(on: NDArray, events: tuple[Event, ...]) -> Iterator[NDArray]:
    """The active data (n,) of each cell of a flow, from its start on."""
    yield on
    for event in events:
        on = on.copy()
        on[event.datum] = event.kind == "activate"
        yield on


def _alignment(n: int, rng: np.random.Generator) -> Work:
    """A direction's path; the pull of each of its cells, and all data's x.u at each of its ends."""
    X, start = rng.normal(size=(n, 5)), rng.normal(size=5)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    path = align(X, y, start)
    cells = list(zip(path.patterns, path.directions, strict=True))

    def floor() -> None:
        for on, u in cells:
            (on * y) @ X
            X @ u

    return Work(partial(align, X, y, start), len(path.events), floor)


@dataclass(frozen=True)
class Recorded(GradientFlow):
    """A field that keeps where it was evaluated."""

    asked: list[tuple[NDArray, NDArray, bool]] = field(default_factory=list)

    def velocity(self, z: NDArray, active: NDArray) -> NDArray:
        self.asked.append((z.copy(), active, False))
        return super().velocity(z, active)

    def jacobian(self, z: NDArray, active: NDArray) -> NDArray | None:
        self.asked.append((z.copy(), active, True))
        return super().jacobian(z, active)


def _two_layers(h: int, rng: np.random.Generator) -> Work:
    """A flow of two layers; the velocities and Jacobians that its integrator wants, and these
    factorised."""
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    X = y[:, None] * np.abs(rng.normal(size=(20, 5)))
    network = fully_connected([5, h])
    chart = Polar(network)
    z = chart.coordinates(rng.normal(size=network.size) / (5 * h) ** 0.25)
    flow = GradientFlow(chart, EXPONENTIAL, X, y, LOG_LOSS)
    recorded = Recorded(chart, EXPONENTIAL, X, y, LOG_LOSS)
    to = DECADES * np.log(10.0)
    path = integrate(recorded, z, to, rtol=1e-6)

    def floor() -> None:
        for z, active, derivative in recorded.asked:
            if derivative:
                lu_factor(np.eye(len(z)) - 0.1 * flow.jacobian(z, active))
            else:
                flow.velocity(z, active)

    return Work(partial(integrate, flow, z, to, rtol=1e-6), len(path.events), floor)
