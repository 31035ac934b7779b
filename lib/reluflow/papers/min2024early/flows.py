"""(GF) from (Init): balanced neurons of given directions, signs and norms, at any small scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, Stop, integrate
from reluflow.losses import EXPONENTIAL, Loss


def flow(
    X: ArrayLike,
    y: ArrayLike,
    W0: ArrayLike,
    signs: ArrayLike,
    log_eps: float,
    until: float,
    loss: Loss = EXPONENTIAL,
    stop: Stop | None = None,
    leak: float = 0.0,
    **options: Any,
) -> FlowPath:
    """The regular solution of (GF), eq (2), from (Init), eq (3), in the chart of the neurons.

    X (n, d), y (n,), W0 (h, d) with rows w_j without a 0, signs (h,) of the v_j, log_eps the
    logarithm of eps: the start is w_j(0) = eps W0_j, v_j(0) = sign_j |w_j(0)|. The flow runs on the
    clock "time" up to `until`, or until `stop`; `leak` is the slope of the activation below 0, and
    options are those of `integrate`. Each state holds
    the unit directions u_j and the logarithms of |w_j|: `neurons` takes them apart.
    """
    W0 = np.asarray(W0, float)
    chart = Neurons(np.asarray(signs, float), W0.shape[1], leak)
    field = GradientFlow(chart, loss, np.asarray(X, float), np.asarray(y, float), TIME)
    start = chart.along(W0, log_eps + np.log(np.linalg.norm(W0, axis=1)))
    return integrate(field, start, until, stop=stop, at_zero=0.0, **options)


def parts(path: FlowPath) -> tuple[GradientFlow, Neurons]:
    """The flow that a path follows, and its chart."""
    field = path.field
    assert isinstance(field, GradientFlow)
    assert isinstance(field.chart, Neurons)
    return field, field.chart


def neurons(path: FlowPath, t: ArrayLike | None = None) -> tuple[NDArray, NDArray]:
    """Directions (..., h, d) and log |w_j| (..., h) at times t (...), or at the path's end."""
    return parts(path)[1].split(path.end if t is None else path.at(t))


def patterns(path: FlowPath) -> Iterator[tuple[float, NDArray]]:
    """The time and the active data (n, h) at the start, and behind every event.

    They follow the events, not the signs of <x_i, w_j>: a neuron that has died lies on a boundary.
    """
    U = neurons(path, path.t[0])[0]
    active = parts(path)[0].X @ U.T > 0.0
    yield float(path.t[0]), active
    for event in path.events:
        active = active.copy()
        active[event.datum, event.neuron] = event.kind == "activate"
        yield event.t, active


def alignment_times(path: FlowPath) -> NDArray:
    """Since when each neuron (h,) is in S_+ (S_- for v_j < 0) or in S_dead; infinite where not."""
    field, chart = parts(path)
    own = field.y[:, None] == chart.signs
    times = np.full(own.shape[1], np.inf)
    for t, active in patterns(path):
        home = np.all(active == own, axis=0) | ~active.any(axis=0)
        times = np.where(home, np.minimum(times, t), np.inf)
    return times
