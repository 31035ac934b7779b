"""(GF) on many data, from any balanced start to a loss of e^-1e6, without a look at each crossing.

`long_flow` stops at every boundary that a neuron crosses, thousands of them where data are many.
Here one stiff integrator runs over them all. The slope of the ReLU goes from 0 to 1 over cosines of
up to `WIDTH`, so that a neuron may also slide along a boundary, which data that are not (OS) make
it do: as the width goes to 0 such a path tends to one of the solutions of (4).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import BDF, OdeSolution

from reluflow.flows.charts import LOG_LOG, TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.losses import LOGISTIC
from reluflow.progress import progress

REACH = 1e6
"""log(1/loss) at the end."""
WIDTH = 1e-3
"""Cosines up to this are on a boundary."""
_HOLDS = 0.05
"""A neuron whose slope at a datum is smaller does not see it: dying ones come to 0 as slowly as
e^-t."""
_BEGUN = 2.0
"""log(1/loss) from which the clock is log log(1/loss)."""
_LONGEST = 1e6
"""The longest time, in units of 1 over the squared length of the shortest datum."""
MOST = 3.3e10
"""The `work` after which a flow is given up: half a minute of one core, or a little more."""
_LEAST = -300.0
"""ln of the least norm that is shown: one that shrinks for ever leaves the floats."""
_RTOL = 1e-6
_POINTS = 121

FOLLOWED, RESTS, SLOW = (
    "followed to a loss of e^-1000000",
    "stops at a loss above 0",
    "given up at this loss, after too many steps",
)


@dataclass(frozen=True, eq=False)
class Path:
    """A network along its training.

    status  how it ended, in words
    clock   (m,) time, or epochs, in the first phase
    early   (m, p, d) the weights W there
    kept    (n,) the data that some neuron sees at the end: of these is the loss
    tau     (k,) log(1/loss) at the moments of the last phase, k >= 1
    W, a    (k, p, d) and (k, p) the weights there
    """

    status: str
    clock: NDArray
    early: NDArray
    kept: NDArray
    tau: NDArray
    W: NDArray
    a: NDArray


def slopes(cosines: NDArray) -> NDArray:
    """The slope of the ReLU at cosines (...) of neurons and data: 0 to 1 over -WIDTH to WIDTH."""
    return np.clip(0.5 + 0.5 * cosines / WIDTH, 0.0, 1.0)


def follow(X: NDArray, y: NDArray, W0: NDArray, signs: NDArray, with_bar: bool = False) -> Path:
    """The flow of the summed logistic loss from rows W0 (p, d), none 0, and a_j = signs_j |w_j|, on
    data X (n, d), y (n,).

    On the clock of time until the loss of the data that some neuron sees is below e^-2; from there
    on of these alone, on log log(1/loss). Back to time where a neuron comes to see another datum.
    `with_bar` shows how much of MOST is done.
    """
    chart = Neurons(signs, X.shape[1])
    field = GradientFlow(chart, LOGISTIC, X, y, TIME)
    horizon = _LONGEST / float(np.sum(X * X, axis=1).min())
    first: tuple[NDArray, NDArray] | None = None
    z, left = chart.along(W0, np.log(np.linalg.norm(W0, axis=1))), MOST
    bar = _Bar(with_bar)
    while True:
        clock, states, status, left = _run(
            field, chart, z, horizon, partial(_small, field, chart), left, bar
        )
        first = first or (clock, _weights(chart, states)[0])
        seen = _seen(chart, states[-1], X)
        if status != "stopped":
            bar.close()
            words = RESTS if status == "horizon" else SLOW
            tau = np.array([-field.log_loss(states[-1])])
            return Path(words, *first, seen, tau, *_weights(chart, states[-1:]))
        late = replace(_of(field, seen), clock=LOG_LOG)
        clock, states, status, left = _run(
            late, chart, states[-1], float(np.log(REACH)),
            partial(_sees_more, chart, X, seen), left, bar,
        )  # fmt: skip
        z = states[-1]
        if status != "stopped":
            bar.close()
            tau = np.array([-late.log_loss(z) for z in states])
            words = FOLLOWED if status == "horizon" else SLOW
            return Path(words, *first, seen, tau, *_weights(chart, states))


def work(solver: BDF, X: NDArray, p: int) -> float:
    """What a solver has done on data X (n, d) with p neurons, in units of about a nanosecond:
    velocities, those for Jacobians among them, and factorisations."""
    k = p * (X.shape[1] + 1)
    return (solver.nfev + solver.njev * k) * (p * X.size + 2e5) + solver.nlu * k**3 / 10.0


class _Bar:
    """The share of the longest flow that is done, shown while it lasts where it is to be `seen`."""

    def __init__(self, seen: bool) -> None:
        parts = progress(range(100), 100, "parts at most") if seen else (k for k in range(100))
        self._parts = cast(Generator[int, None, None], parts)
        self._done = 0
        next(self._parts)

    def show(self, left: float) -> None:
        """What is left of MOST."""
        while self._done < min(99, int(100.0 * (1.0 - left / MOST))):
            self._done += 1
            next(self._parts)

    def close(self) -> None:
        """The flow is at its end."""
        self._parts.close()


def _of(field: GradientFlow, data: NDArray) -> GradientFlow:
    """The field of these data (n,) alone."""
    return replace(field, X=field.X[data], y=field.y[data])


def _seen(chart: Neurons, z: NDArray, X: NDArray) -> NDArray:
    """The data (n,) that some neuron sees."""
    return np.asarray((slopes(chart.cosines(z, X)[0]) > _HOLDS).any(axis=1))


def _small(field: GradientFlow, chart: Neurons, z: NDArray) -> bool:
    """Whether the data that are seen have a loss below e^-2."""
    seen = _seen(chart, z, field.X)
    return bool(seen.any() and _of(field, seen).log_loss(z) < -_BEGUN)


def _sees_more(chart: Neurons, X: NDArray, seen: NDArray, z: NDArray) -> bool:
    """Whether some neuron sees a datum that was not `seen` (n,)."""
    return bool((_seen(chart, z, X) & ~seen).any())


def _weights(chart: Neurons, Z: NDArray) -> tuple[NDArray, NDArray]:
    U, R = chart.split(Z)
    sizes = np.exp(np.maximum(R, _LEAST))
    return sizes[..., None] * U, chart.signs * sizes


def _run(
    field: GradientFlow, chart: Neurons, z: NDArray, until: float,
    stop: Callable[[NDArray], bool], left: float, bar: _Bar,
) -> tuple[NDArray, NDArray, str, float]:  # fmt: skip
    """Clock values (m,), states (m, k), how it ended, "horizon" at `until`, "stopped" where `stop`
    holds of a state, else "stiff", and what is left of the work that may be done."""

    def velocity(_: float, z: NDArray) -> NDArray:
        return field.velocity(z, slopes(chart.cosines(z, field.X)[0]))

    t = field.begin(z)
    solver = BDF(velocity, t, z, until, rtol=_RTOL, atol=1e-3 * _RTOL)
    clock, pieces = [t], []
    status, end, p = "stiff", t, len(chart.signs)
    while solver.status == "running" and (done := work(solver, field.X, p)) < left:
        bar.show(left - done)
        # BDF subtracts rows of its table that it has not written yet, whatever the memory holds.
        with np.errstate(invalid="ignore", over="ignore"):
            solver.step()
        if solver.status == "failed":
            break
        piece, before, end = solver.dense_output(), clock[-1], float(solver.t)
        clock.append(end)
        pieces.append(piece)
        if stop(chart.restored(solver.y)):
            status = "stopped"
            end = _first(partial(_holds_at, chart, piece, stop), before, end)
            break
        if solver.status == "finished":
            status = "horizon"
    left -= work(solver, field.X, p)
    if not pieces:
        return np.array([t]), np.array([z]), status, left
    path = OdeSolution(clock, pieces)
    moments = _moments(t, end, field.clock == TIME)
    return moments, np.array([chart.restored(path(each)) for each in moments]), status, left


def _holds_at(
    chart: Neurons, piece: Callable[[float], NDArray], stop: Callable[[NDArray], bool], t: float
) -> bool:
    """Whether `stop` holds at a time of a step."""
    return stop(chart.restored(piece(t)))


def _first(holds: Callable[[float], bool], low: float, high: float) -> float:
    """A time in (low, high] from which something holds, by bisection; it holds at `high`. Steps
    differ from CPU to CPU, and this does not."""
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _moments(begin: float, end: float, logarithmic: bool) -> NDArray:
    """Moments of a stretch, evenly or, from time 0 on, evenly on a logarithmic axis."""
    if logarithmic:
        return begin + (end - begin) * np.append(0.0, np.geomspace(1e-4, 1.0, _POINTS - 1))
    return np.linspace(begin, end, _POINTS)
