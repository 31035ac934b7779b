"""Where a reader's training leads: the rays of its neurons, and how far it is from a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls

from reluflow.approx import approx, on_grain
from reluflow.errors import InputError
from reluflow.papers.phuong2021inductive import own_descent, own_flow
from reluflow.papers.phuong2021inductive.experiment import Experiment
from reluflow.papers.phuong2021inductive.limit import Limit, limit
from reluflow.papers.phuong2021inductive.own_flow import Path

NAMES: Mapping[float, str] = {1.0: "w₊", -1.0: "w₋"}
_TOGETHER = {"flow": 0.999, "sgd": 0.9}
"""Neurons of one sign whose cosine is at least this are on one ray; descent stops on the way."""
_TIGHT = 0.01
_SMALL = 1e-4
"""Rays with a smaller share of |W|_F^2 are told together."""
_MOST = 6


@dataclass(frozen=True, eq=False)
class Trained:
    """An experiment with its path. `goal` is the limit that Theorem 1 names, of the labels with
    a living neuron; None where one of them has no max-margin vector."""

    own: Experiment
    path: Path
    goal: Limit | None

    @property
    def distances(self) -> NDArray:
        """The norm in (8) at the moments (k,); NaN without a goal."""
        if self.goal is None:
            return np.full(len(self.path.W), np.nan)
        return np.array([_distance(self.goal, W, self.own.signs) for W in self.path.W])

    @property
    def gap(self) -> float:
        """How far theta is from a KKT point of (77) at the end: see `gap`."""
        kept = self.path.kept
        return gap(self.own.X[kept], self.own.y[kept], self.path.W[-1], self.path.a[-1])

    def cosines(self, sign: float) -> NDArray:
        """The cosines (m, q) of the neurons with a_j of this sign to w_+ or w_- in the first phase;
        no columns where that vector is not there."""
        vectors = {} if self.goal is None else self.goal.vectors
        W = self.path.early[:, self.own.signs == sign]
        if sign not in vectors:
            return np.zeros((len(W), 0))
        w = vectors[sign]
        lengths = np.linalg.norm(W, axis=2)
        return W @ w / (np.where(lengths > 0.0, lengths, 1.0) * np.linalg.norm(w))


def train(own: Experiment) -> Trained:
    """The path of an experiment, and the limit that it should have."""
    given = own.X, own.y, own.W0, own.signs
    if own.optimiser == "flow":
        path = own_flow.follow(*given, with_bar=True)
    else:
        path = own_descent.descend(*given, own.epochs, np.random.default_rng([own.seed, 1]))
    alive = tuple(s for s in (1.0, -1.0) if _living(own, path)[own.signs == s].any())
    try:
        goal = limit(own.X, own.y, alive) if alive else None
    except InputError:
        goal = None
    return Trained(own, path, goal)


def gap(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> float:
    """The distance of theta from the KKT conditions of (77), over |theta|: from the cone of the
    y_i g_i, g_i the gradient of f at x_i, of data whose margin is the least one up to a hundredth;
    NaN where a datum of X (n, d), y (n,) is on the wrong side.
    """
    sizes = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(W, axis=1))
    before = X @ W.T
    slope = own_flow.slopes(before / np.where(sizes > 0.0, sizes, 1.0))
    margins = y * ((slope * before) @ a)
    if not margins.min(initial=np.inf) > 0.0 or not len(y):
        return np.nan
    tight = margins <= (1.0 + _TIGHT) * margins.min()
    rows = slope[tight] * y[tight, None]
    columns = np.concatenate(
        [((rows * a)[:, :, None] * X[tight][:, None]).reshape(tight.sum(), -1),
         rows * before[tight]], axis=1)  # fmt: skip
    theta = np.append(W.ravel(), a)
    lengths = np.linalg.norm(columns, axis=1)
    kept = lengths > 0.0
    away = nnls((columns[kept] / lengths[kept, None]).T, theta / np.linalg.norm(theta))[1]
    return float(away)


def _distance(goal: Limit, W: NDArray, signs: NDArray) -> float:
    sizes = np.linalg.norm(W, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        U, R = np.where(sizes[:, None] > 0.0, W / sizes[:, None], 0.0), np.log(sizes)
    return goal.distances(U, R, signs)[0]


def _living(own: Experiment, path: Path) -> NDArray:
    """Neurons (p,) that are active on some datum of their own label at the end."""
    W = path.W[-1]
    edges = np.outer(np.linalg.norm(own.X, axis=1), np.linalg.norm(W, axis=1))
    active = own.X @ W.T - own_flow.WIDTH * edges > 0.0
    return np.asarray(np.any(active & (np.outer(own.y, own.signs) > 0.0), axis=0))


def summary(trained: Trained) -> pd.DataFrame:
    """How the training ended: its loss, the dead neurons, the distance of (8), the KKT gap."""
    own, path = trained.own, trained.path
    unseen = int(np.sum(~path.kept))
    away = approx(trained.gap, 2) if trained.gap >= 0.0 else "none, data are on the wrong side"
    told = {
        "the training": path.status,
        "log(1/ℓ) at its end": approx(path.tau[-1], 3),
        "data that no neuron sees": str(unseen) if unseen else "none",
        "neurons that live": f"{_living(own, path).sum()} of {len(own.signs)}",
        "distance of (8)": approx(trained.distances[-1], 2) if trained.goal else "no w₊ or w₋",
        "KKT gap": away if own.optimiser == "flow" else "",
    }
    return pd.DataFrame({"": told})


def rays(trained: Trained) -> pd.DataFrame:
    """The directions in which living neurons end, the longest first: how many, their share of
    |W|_F^2, the cosine to the max-margin vector of their sign, on which data they are active."""
    own, W = trained.own, trained.path.W[-1]
    living = _living(own, trained.path)
    sizes = np.linalg.norm(W, axis=1)
    left = [int(j) for j in np.argsort(-sizes, kind="stable") if living[j]]
    rows, rest, close = list[dict[str, str]](), list[int](), _TOGETHER[own.optimiser]
    while left:
        first = left[0]
        same = [j for j in left if own.signs[j] == own.signs[first]
                and W[j] @ W[first] >= close * sizes[j] * sizes[first]]  # fmt: skip
        left = [j for j in left if j not in same]
        share = float(np.sum(sizes[same] ** 2) / np.sum(sizes**2))
        if len(rows) < _MOST and share >= _SMALL:
            rows.append(_ray(trained, same, share))
        else:
            rest += same
    if rest:
        share = float(np.sum(sizes[rest] ** 2) / np.sum(sizes**2))
        rows.append({"ray": "others", "neurons": str(len(rest)), "share of ‖W‖²": _per_cent(share)})
    columns = ["ray", "neurons", "share of ‖W‖²", "cosine to w₊ or w₋", "active on own label",
               "on the other"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns, dtype=object).fillna("").set_index("ray")


def _ray(trained: Trained, neurons: list[int], share: float) -> dict[str, str]:
    own, w = trained.own, trained.path.W[-1][neurons[0]]
    sign = float(own.signs[neurons[0]])
    goal = None if trained.goal is None else trained.goal.vectors.get(sign)
    active = own.X @ w > 0.0
    cosine = "" if goal is None else on_grain(_cosine(w, goal), 1e-4)
    return {
        "ray": "a > 0" if sign > 0 else "a < 0",
        "neurons": str(len(neurons)),
        "share of ‖W‖²": _per_cent(share),
        "cosine to w₊ or w₋": cosine,
        "active on own label": f"{active[own.y == sign].sum()} of {np.sum(own.y == sign)}",
        "on the other": f"{active[own.y != sign].sum()} of {np.sum(own.y != sign)}",
    }


def _cosine(a: NDArray, b: NDArray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _per_cent(share: float) -> str:
    return f"{on_grain(100.0 * share, 0.1)} %"
