"""The main page's flows for any data: the limit of tiny weights, one small eps, and descent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from reluflow.approx import approx, on_grain
from reluflow.errors import InputError
from reluflow.flows.alignment import Alignment, align
from reluflow.flows.charts import LOG_LOSS, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath
from reluflow.flows.legs import then
from reluflow.flows.shallow_descent import State, descent
from reluflow.geometry.separability import silent
from reluflow.networks.dense import one_thread
from reluflow.networks.shallow import LOSSES as MARGINS
from reluflow.networks.shallow import Neurons as Shallow
from reluflow.networks.shallow import ShallowLoss
from reluflow.papers.min2024early.experiment import LOSSES, Experiment
from reluflow.papers.min2024early.flows import alignment_times, flow, neurons
from reluflow.papers.min2024early.mnist import Curves, Seen, Side
from reluflow.papers.min2024early.promises import log_eps
from reluflow.progress import progress

_MOST = 320
"""Coordinates of the neurons, h (d + 1), of which the integrator makes a trajectory in seconds."""
_MOST_CROSSINGS = 1000
"""Pairs of a datum and a neuron, n h, each of which may end a stretch of the trajectory."""
_FAR = 1e12
"""The longest flow, in units of the time 1/X_max."""
_DECADES = 100.0
"""log10(1/L) to which the flow is followed."""
_RTOL = 1e-6
"""Relative tolerance of the flow, of which three or four digits are shown."""
_MOST_PRODUCTS = 1e11
"""Steps times data, numbers of a datum and neurons: what a descent does within a minute."""
_LOST = 1e50
"""Weights of a descent that are larger are on their way out of the floats."""
_PICTURES = 150
"""Moments at which a figure looks at a descent."""


@dataclass(frozen=True)
class Turned:
    """The neurons in the limit eps -> 0: what becomes of their directions.

    paths  of the h neurons, for pulls of size 1
    pull   the size |dl/df| of the loss at f = 0; all times are the paths' over it
    """

    own: Experiment
    paths: Sequence[Alignment]
    pull: float

    @property
    def homes(self) -> NDArray:
        """When each neuron came to the set of active data that it keeps, (h,)."""
        return np.array([path.time for path in self.paths]) / self.pull

    def directions(self, t: NDArray) -> NDArray:
        """Unit vectors (k, h, d) at times t (k,)."""
        return np.stack([path.at(self.pull * t) for path in self.paths], axis=1)


def turn(own: Experiment) -> Turned:
    """The limit flow of every neuron of the start."""
    pairs = zip(own.W0, own.signs, strict=True)
    pull = float(own.loss.pull(np.zeros(1), np.ones(1))[0])
    return Turned(own, [align(own.X, own.y, w, float(s)) for w, s in pairs], pull)


def ends_table(turned: Turned) -> pd.DataFrame:
    """Where the neurons of either sign end in the limit eps -> 0, and when the last one is there.

    The last two columns are means over the neurons that live: the share of the data of their own
    label, and of the other one, on which they are active at their end.
    """
    own, rows = turned.own, {}
    for sign, name in ((1.0, "v > 0"), (-1.0, "v < 0")):
        mine = own.signs == sign
        paths = [path for path, own_sign in zip(turned.paths, mine, strict=True) if own_sign]
        ends = [path.status for path in paths]
        live = [path.patterns[-1] for path in paths if path.status != "dead"]
        served, dead = ends.count("serves"), ends.count("dead")
        rows[name] = {
            "in their cone": served,
            "dead": dead,
            "elsewhere": len(paths) - served - dead,
            "last at t": approx(turned.homes[mine].max()),
            "active on own label": _share(live, own.y == sign),
            "on the other": _share(live, own.y != sign),
        }
    return pd.DataFrame(rows).T


def _share(patterns: Sequence[NDArray], data: NDArray) -> str:
    """The mean share of these data on which the patterns are active, in per cent."""
    if not patterns or not data.any():
        return ""
    return f"{on_grain(100.0 * float(np.array(patterns)[:, data].mean()), 1.0)} %"


@dataclass(frozen=True)
class Grown:
    """A flow from ln eps: until its loss is halved on the clock "time", and on to a tiny loss.

    status  "followed", or why it is not
    path    None where it was not even begun
    """

    log_eps: float
    status: str
    path: FlowPath | None = None


def grow(own: Experiment) -> Grown:
    """The flow from e^log_eps W_0 until L = 1e-100, where it goes so far."""
    start, size = log_eps(own), own.W0.size + len(own.W0)
    if size > _MOST:
        return Grown(start, f"not followed: h (D + 1) = {size} > {_MOST}")
    if (pairs := len(own.y) * len(own.W0)) > _MOST_CROSSINGS:
        return Grown(start, f"not followed: n h = {pairs} > {_MOST_CROSSINGS}")
    outset = float(own.loss.log_value(np.zeros(len(own.y)), own.y))
    longest = float(np.linalg.norm(own.X, axis=1).max())

    def loss_over_half(_: float, z: NDArray) -> float:
        return field.log_loss(z) - outset + float(np.log(2.0))

    chart = Neurons(own.signs, own.X.shape[1])
    field = GradientFlow(chart, own.loss, own.X, own.y)
    path = flow(
        own.X, own.y, own.W0, own.signs, start, _FAR / longest, own.loss, loss_over_half, rtol=_RTOL
    )
    if path.status == "stopped":
        clock = replace(cast(GradientFlow, path.field), clock=LOG_LOSS)
        path = then(path, clock, _DECADES * np.log(10.0), at_zero=0.0, rtol=_RTOL)
    return Grown(start, "followed" if path.status == "horizon" else f"ends: {path.status}", path)


def growth_table(own: Experiment, grown: Grown) -> pd.DataFrame:
    """What the flow from a small eps does: when it has aligned, when its loss is half of that at
    the start, and the first layer at its end."""
    told = {"ln ε": approx(grown.log_eps), "the flow": grown.status}
    if grown.path is not None and grown.path.legs:
        first = grown.path.legs[0]
        times = alignment_times(first)
        home = np.isfinite(times)
        told["neurons in their cone or dead"] = f"{home.sum()} of {len(home)}"
        if home.any():
            told["the last of them at t"] = approx(float(times[home].max()))
        told["half of the loss is gone at t"] = approx(float(first.t[-1]))
    if grown.status == "followed" and grown.path is not None:
        U, R = neurons(grown.path)
        values = np.linalg.svd(np.exp(R - R.max())[:, None] * U, compute_uv=False)
        told["stable rank of W at L = 1e-100"] = approx(float(np.sum(values**2) / values[0] ** 2))
    return pd.DataFrame({"": told})


def steps_taken(own: Experiment) -> int:
    """How many steps the descent takes: those asked for, or what a minute allows."""
    return min(own.iterations, int(_MOST_PRODUCTS / (own.X.size * len(own.v))))


def left_out(own: Experiment) -> str:
    """What of the descent is left out, in a sentence."""
    if (steps := steps_taken(own)) == own.iterations:
        return f"All {steps} steps are taken."
    return (
        f"Of {own.iterations} steps {steps} are taken: more would last longer than a minute. With "
        "fewer neurons or data there are more."
    )


def descend(own: Experiment) -> Curves:
    """Descent of the mean loss from weights N(0, sigma^2), neurons that are dead left out of the
    cosines; the weights of 150 steps are looked at.

    Raises InputError where the steps are so large that the weights leave the floats.
    """
    last = steps_taken(own)
    wanted = set(np.linspace(0, last, _PICTURES).astype(int).tolist())
    name = next(name for name, loss in LOSSES.items() if loss is own.loss)
    problem = ShallowLoss(own.X.copy(), own.y.copy(), MARGINS[name], 1.0 / len(own.y))
    start, seen = Shallow(torch.tensor(own.W), torch.tensor(own.v)), list[Seen]()
    with one_thread():
        states = islice(descent(problem, start, own.step, own.step), last + 1)
        for state in progress(states, last + 1, "states"):
            if state.step in wanted:
                if not (np.isfinite(state.loss) and float(state.neurons.flat.abs().max()) < _LOST):
                    raise InputError(
                        f'parameter "step": descent by steps of {own.step:g} diverges within its '
                        f"first {state.step} steps: choose a smaller one, or a smaller scale or "
                        "sigma."
                    )
                seen.append(_seen(own, state))
    return Curves.of(seen)


def _seen(own: Experiment, state: State) -> Seen:
    W, v = state.neurons.W.numpy(), state.neurons.v.numpy()
    values = np.linalg.svd(W, compute_uv=False) ** 2
    live = ~silent(own.X, W)
    sides = (_side(W[live & (s * v > 0.0)], own.X[own.y == s].sum(axis=0)) for s in (1.0, -1.0))
    return Seen(
        state.step,
        state.loss,
        float(values[0]),
        float(values.sum() / values[0]),
        int((v > 0.0).sum()),
        *sides,
    )


def _side(W: NDArray, x: NDArray) -> Side:
    """The cosines of neurons (m, d), and of their mean, to x (d,); NaN where one is 0."""
    if not len(W) or not x.any():
        return Side(np.nan, np.nan, np.nan)
    each, mean = W @ x / np.linalg.norm(W, axis=1), W.mean(axis=0)
    size = np.linalg.norm(x)
    middle = mean @ x / np.linalg.norm(mean)
    return Side(float(middle / size), float(each.min() / size), float(each.max() / size))
