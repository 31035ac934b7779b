"""Deep networks in training: back-propagated labels and the balance of layers (Appendix C of Lee et
al. 2022), on many networks side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow.approx import on_grain
from reluflow.networks import backpropagate


def side_by_side(
    count: int, widths: tuple[int, ...], n: int, rng: np.random.Generator
) -> tuple[list[NDArray], NDArray, NDArray]:
    """`count` networks of these widths (d, h_1, ..., h_l) with n data each: W^(m), X and Y.

    The weights are normal with variance 2 / h_{m-1}, the data uniform in (0, 1): they meet A1, A2.
    """
    weights = [
        rng.normal(0.0, np.sqrt(2.0 / fan_in), (count, out, fan_in))
        for fan_in, out in pairwise(widths)
    ]
    X = rng.uniform(0.0, 1.0, (count, n, widths[0]))
    return weights, X, rng.uniform(0.0, 1.0, (count, n, widths[-1]))


def descend(
    weights: Sequence[NDArray], X: NDArray, Y: NDArray, step: float, n_steps: int
) -> list[NDArray]:
    """The weights after `n_steps` steps of gradient descent on networks side by side."""
    for _ in range(n_steps):
        gradients = backpropagate(weights, X, Y).gradients
        weights = [W - step * G for W, G in zip(weights, gradients, strict=True)]
    return list(weights)


@dataclass(frozen=True)
class LabelSurvey:
    """Back-propagated labels of the hidden units of networks in training.

    steps      (k,) steps of descent after which the labels are looked at
    active     (k, networks) share of the pairs of a hidden unit and a datum that are active
    positive   (k, networks) share of these pairs whose label is positive
    negative   (k, networks) share of the active pairs whose label is not positive
    suited     (k, networks) share of the hidden units whose labels are all positive, as A2 asks
    idle       (k, networks) units with an inactive datum whose labels are yet all positive
    moved      (networks that train,) largest change of a label from the first look to the last,
               relative to the largest label; a network whose gradient is zero does not train
    """

    steps: tuple[int, ...]
    active: NDArray
    positive: NDArray
    negative: NDArray
    suited: NDArray
    idle: NDArray
    moved: NDArray

    @staticmethod
    def interval(shares: NDArray) -> tuple[float, float, float]:
        """The mean over the networks and the ends of its 95 % interval, from their spread."""
        mean = float(shares.mean())
        half = 1.96 * float(shares.std(ddof=1)) / len(shares) ** 0.5
        return mean, mean - half, mean + half

    def table(self) -> pd.DataFrame:
        """The shares in per cent, mean over the networks and 95 % interval, at every look."""
        columns = {
            "pairs active": self.active,
            "pairs with y > 0": self.positive,
            "active pairs with y <= 0": self.negative,
            "units that meet A2": self.suited,
        }
        rows = [
            {
                name: "{} % ({} to {})".format(
                    *(on_grain(100 * v, 0.1) for v in self.interval(at[k]))
                )
                for name, at in columns.items()
            }
            for k in range(len(self.steps))
        ]
        return pd.DataFrame(rows, index=pd.Index(self.steps, name="after steps"))


def survey_labels(
    count: int, seed: int, steps: tuple[int, ...] = (0, 10, 30, 100, 300), step: float = 0.03
) -> LabelSurvey:
    """Train `count` networks with two hidden layers of 6 units on 8 data in three dimensions."""
    weights, X, Y = side_by_side(count, (3, 6, 6, 1), 8, np.random.default_rng(seed))
    first = backpropagate(weights, X, Y)
    looks, taken, seen = [], 0, []
    for at in steps:
        weights, taken = descend(weights, X, Y, step, at - taken), at
        found = backpropagate(weights, X, Y)
        on = np.concatenate([o > 0.0 for o in found.outputs[:-1]], axis=-1)
        labels = np.concatenate(found.labels[:-1], axis=-1)  # (networks, data, units)
        seen.append(labels)
        suited = (labels > 0.0).all(axis=1)
        looks.append(
            (
                on.mean(axis=(1, 2)),
                (labels > 0.0).mean(axis=(1, 2)),
                (on & (labels <= 0.0)).sum(axis=(1, 2)) / np.maximum(on.sum(axis=(1, 2)), 1),
                suited.mean(axis=1),
                (suited & ~on.all(axis=1)).sum(axis=1),
            )
        )
    columns = [np.array(column) for column in zip(*looks, strict=True)]
    trains = np.any([G.any(axis=(1, 2)) for G in first.gradients], axis=0)
    start, end = seen[0][trains], seen[-1][trains]
    moved = np.abs(end - start).max(axis=(1, 2)) / np.abs(start).max(axis=(1, 2))
    return LabelSurvey(steps, *columns, moved)


@dataclass(frozen=True)
class BalanceSurvey:
    """How much |W^(m)|_F^2 - |W^(m+1)|_F^2 drifts; networks of three layers.

    All drifts are relative to the largest |W^(m)|_F^2 at the start.

    steps      step sizes of descent over one stretch of time
    drift      (k, networks) largest drift of descent
    identity   largest gap between the drift and step^2 sum (|G^(m)|^2 - |G^(m+1)|^2), the drift of
               a descent whose flow has none
    flips      networks whose descent at the largest step changes an activation
    flow       largest drift of flows by DOP853, up to the first change of an activation
    flows      flows followed; `reached` those that met such a change before the horizon
    moved      median over these flows of the largest change of a |W^(m)|_F^2
    opposed    networks with two units in the first layer whose norms start in opposite directions
    """

    steps: tuple[float, ...]
    drift: NDArray
    identity: float
    flips: int
    flow: float
    flows: int
    reached: int
    moved: float
    opposed: int


def survey_balance(
    count: int, seed: int, steps: tuple[float, ...] = (0.004, 0.002, 0.001), until: float = 0.2
) -> BalanceSurvey:
    """Train `count` networks by descent at every step size, and follow a tenth by DOP853."""
    weights, X, Y = side_by_side(count, (3, 5, 4, 2), 4, np.random.default_rng(seed))
    norms = _squares(weights)
    size = norms.max(axis=0)
    drift, gaps, ends = [], [], []
    for step in steps:
        W, owed = weights, np.zeros((len(weights) - 1, count))
        for _ in range(round(until / step)):
            G = backpropagate(W, X, Y).gradients
            owed -= step**2 * np.diff(_squares(G), axis=0)
            W = [w - step * g for w, g in zip(W, G, strict=True)]
        made = np.diff(norms, axis=0) - np.diff(_squares(W), axis=0)
        drift.append(np.abs(made).max(axis=0) / size)
        gaps.append(float((np.abs(made - owed) / size).max()))
        ends.append(W)
    flips = (_active(ends[0], X, Y) != _active(weights, X, Y)).any(axis=(1, 2))
    first = backpropagate(weights, X, Y).gradients[0]
    rates = (weights[0] * first).sum(axis=-1)
    opposed = (rates.min(axis=1) < 0.0) & (rates.max(axis=1) > 0.0)
    flow, moved, reached = [], [], 0
    for k in range(max(1, count // 10)):
        end, stopped = flow_to_flip([w[k] for w in weights], X[k], Y[k], until)
        change = (_squares(end) - norms[:, k]) / size[k]
        flow.append(float(np.abs(np.diff(change)).max()))
        moved.append(float(np.abs(change).max()))
        reached += stopped
    return BalanceSurvey(
        steps=steps,
        drift=np.array(drift),
        identity=max(gaps),
        flips=int(flips.sum()),
        flow=max(flow),
        flows=len(flow),
        reached=reached,
        moved=float(np.median(moved)),
        opposed=int(opposed.sum()),
    )


def _squares(weights: Sequence[NDArray]) -> NDArray:
    """|W^(m)|_F^2 of every layer, shape (l, ...)."""
    return np.array([(np.asarray(W) ** 2).sum(axis=(-1, -2)) for W in weights])


def _active(weights: Sequence[NDArray], X: NDArray, Y: NDArray) -> NDArray:
    """Which hidden units are active on which data, (..., n, units)."""
    outputs = backpropagate(weights, X, Y).outputs[:-1]
    return np.concatenate([o > 0.0 for o in outputs], axis=-1)


def flow_to_flip(
    weights: Sequence[NDArray], X: NDArray, Y: NDArray, until: float
) -> tuple[list[NDArray], bool]:
    """The gradient flow of one network by DOP853, up to the first change of an activation.

    Returns the weights there, or at t = `until`, and whether a change came first. A change comes
    where a pre-activation is down to 1e-8 of the largest: a flow can also come to slide along the
    boundary, and there the solver would go on in ever smaller steps.
    """
    ends = np.cumsum([W.size for W in weights])[:-1]

    def layers(flat: NDArray) -> list[NDArray]:
        return [v.reshape(W.shape) for v, W in zip(np.split(flat, ends), weights, strict=True)]

    def hidden(flat: NDArray) -> NDArray:
        *before, _ = layers(flat)
        x, found = X, []
        for W in before:
            found.append(x @ W.T)
            x = np.maximum(found[-1], 0.0)
        return np.concatenate(found, axis=1)

    start = np.concatenate([W.ravel() for W in weights])
    sides, size = np.sign(hidden(start)), float(np.abs(hidden(start)).max())

    def margin(_: float, flat: NDArray) -> float:
        # A unit behind a dead layer is at zero until a unit of that layer changes.
        off = np.min(sides * hidden(flat), initial=size, where=sides != 0.0)
        return float(off) - 1e-8 * size

    margin.terminal = True
    if margin(0.0, start) < 0.0:
        return list(weights), True

    def velocity(_: float, flat: NDArray) -> NDArray:
        found = backpropagate(layers(flat), X, Y).gradients
        return -np.concatenate([G.ravel() for G in found])

    found = solve_ivp(
        velocity, (0.0, until), start, method="DOP853", rtol=1e-11, atol=1e-13, events=margin
    )
    return layers(found.y[:, -1]), found.status == 1
