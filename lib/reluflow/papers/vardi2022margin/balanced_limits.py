"""Lemma C.4: in the limit each hidden neuron's incoming weights are as long as its outgoing one.

A KKT point of Problem (2) has |w_j| = |v_j| whatever led there, so a limit that was polished to one
proves nothing: here the flow itself is followed until |theta|^2 is far larger than at the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.falsify import survey
from reluflow.flows.charts import LOG_LOG, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Evidence, bound, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin.balance import squared_differences
from reluflow.papers.vardi2022margin.network_draws import full, unshared

REACH = (1e2, 1e5, 1e8)
"""Values of log(1/L) at which the lengths are compared."""


@dataclass(frozen=True)
class Case:
    """A depth-2 network without shared weights at a start that classifies its data correctly."""

    network: Network
    loss: Loss
    X: NDArray
    y: NDArray
    theta: NDArray


def cases(seed: int, count: int) -> Iterator[Case]:
    """Linear and ReLU networks of 2 to 4 neurons, both losses; the labels are those of the start.

    Every start is unbalanced: of each neuron the weights on one side are 1e-3 to 1e3 times those on
    the other. In every second ReLU network the last neuron is inactive on all data, so that it
    keeps its weights for ever. The start is then scaled until L < 1/2.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        widths = [int(rng.integers(1, 4)), int(rng.integers(2, 5)), 1]
        network = Network((full, unshared)[k % 2](rng, widths), ("relu", "linear")[k // 2 % 2])
        X = rng.standard_normal((int(rng.integers(1, 4)), widths[0]))
        W, v = network.weights(rng.standard_normal(network.size))
        if network.activation == "relu" and k // 4 % 2:
            X = np.abs(X)
            W[-1] = -np.abs(W[-1])
        tilt = 10.0 ** rng.uniform(-1.5, 1.5, widths[1])
        parts = network.parameters([W * tilt[:, None], v / tilt])
        z = network.output(parts, X)
        if not np.all(np.abs(z) > 1e-3 * np.abs(z).max()):
            continue  # a datum that the network cannot see, or hardly
        scale = np.sqrt((1.0 + np.log(2.0 * len(X))) / np.abs(z).min())
        yield Case(network, (EXPONENTIAL, LOGISTIC)[k // 3 % 2], X, np.sign(z), scale * parts)


def _lengths(case: Case) -> dict[str, float | str] | None:
    """One flow: the largest ||w_j| - |v_j|| / |theta| at each of REACH, and what Lemma C.3 says."""
    chart = Polar(case.network)
    field = GradientFlow(chart, case.loss, case.X, case.y, LOG_LOG)
    start, end = chart.coordinates(case.theta), float(np.log(REACH[-1]))
    path = integrate(field, start, end, rtol=1e-6, max_steps=500)
    if path.status != "horizon":
        return {"status": path.status}
    u, rho = chart.parameters(path.at(np.log(REACH)))
    W, v = case.network.weights(u)
    sizes = np.linalg.norm(W, axis=-1), np.abs(v[:, 0])
    row = {f"gap {at:g}": float(gap) for at, gap in
           zip(REACH, np.abs(sizes[0] - sizes[1]).max(axis=1), strict=True)}  # fmt: skip
    first = squared_differences(case.network, case.theta[None])[1][0]
    drawn = squared_differences(case.network, u)[1] - np.exp(-2.0 * rho)[:, None] * first
    return {**row, "off": float(np.abs(drawn).max()), "status": path.status,
            "grown": float(rho[-1] - np.log(np.linalg.norm(case.theta))),
            "bounded": int((sizes[0][-1] + sizes[1][-1] < 1e-2).sum()),
            "apart": float(np.abs(first).max() / (case.theta @ case.theta))}  # fmt: skip


def lengths(seed: int, count: int) -> pd.DataFrame:
    """The flows of `count` cases to log(1/L) = 1e8, one row each.

    gap 100, gap 1e+05, gap 1e+08   the largest ||w_j| - |v_j|| / |theta| when log(1/L) is that
    off                             the largest error of (|w_j|^2 - v_j^2) / |theta|^2 against the
                                    start's |w_j|^2 - v_j^2 over the present |theta|^2
    grown, bounded, apart           log of the growth of |theta|; neurons of less than a hundredth
                                    of |theta| at the end; the largest ||w_j|^2 - v_j^2| / |theta|^2
                                    at the start
    """
    return survey(cases(seed, count), _lengths)


def balanced_in_the_limit(found: pd.DataFrame) -> list[Evidence]:
    """mm.lemC.4: ||w_l| - |v_l|| / |theta| tends to 0 for every hidden neuron (Lemma C.4).

    By Lemma C.3 it is at most the root of | |w_l|^2 - v_l^2 |, which stays, over |theta|.
    """
    ended = found[found.status == "horizon"]
    gaps = [ended[f"gap {at:g}"].to_numpy() for at in REACH]
    fall, (early, late) = gaps[-2] / np.maximum(gaps[-1], 1e-16), np.log10(REACH[-2:])
    return [
        bound(f"largest ||w_j| - |v_j|| where log(1/L) = 1e{late:.0f}", float(gaps[-1].max()), "<=",
              0.1, "of |theta|", digits=2),
        bound(f"least factor by which it falls from log(1/L) = 1e{early:.0f} on",
              float(fall.min()), ">=", 10.0, "", digits=2),
        bound("largest error of |w_j|^2 - v_j^2, which stays by Lemma C.3", float(ended.off.max()),
              "<=", 1e-4, "of |theta|^2", digits=2),
        note("largest ||w_j|^2 - v_j^2| at a start", float(ended.apart.max()), "of |theta|^2",
             digits=2),
        note("flows, and their neurons that stay bounded",
             (len(ended), int(ended.bounded.sum()))),
        note("flows left out since they come to slide along a kink, or cannot be followed",
             len(found) - len(ended)),
    ]  # fmt: skip
