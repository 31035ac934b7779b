"""Speeds against losses: Lemma 15 from below and eq. (50) from above.

Both rest on |l'| against l, with q = y f: for the exponential loss |l'| = l, for the logistic one,
of either factor, c l <= |l'| <= l where q >= 0, with c = 1 / (2 log 2), reached at q = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.falsify import Statement
from reluflow.ledger import Evidence, bound, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.margin.max_margin import max_margin
from reluflow.networks.indexed import fully_connected

LOSSES = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)
PRINTED = 0.25
"""The factor in eq. (31)."""
BEST = {
    EXPONENTIAL.name: 1.0,
    TWICE_LOGISTIC.name: 0.25 / np.log(2.0) ** 2,
    LOGISTIC.name: 0.25 / np.log(2.0) ** 2,
}
"""The largest factor that can stand there, for each loss: the square of the least |l'| / l."""

Item = Mapping[str, Any]


def rate_of_decay(item: Item, loss: Loss) -> float:
    """-(dL/dt) / (|v|^2 L^2 gamma^2) of the linear network W (h, d), v (h,), with the largest
    margin gamma of the data: the factor of eq. (31), computed without L. NaN where the margin is
    too small for the solver."""
    X, y, W, v = item["X"], item["y"], item["W"], item["v"]
    pull = loss.pull(X @ W.T @ v, y, relative=True) @ X
    speed = (v @ v) * (pull @ pull) + float(np.sum((W @ pull) ** 2))
    try:
        return speed / (v @ v) * max_margin(X, y).length ** 2
    except InputError:
        return np.nan


def linear_loss_falls(loss: Loss, factor: float = PRINTED) -> Statement:
    """ea.lem15: dL/dt <= -|v|^2 L^2 gamma^2 / 4 for a linear network that classifies all data
    correctly (eq. 31), gamma being any margin; the largest one is asked for."""

    def item(rng: np.random.Generator, scale: float, spread: float) -> Item:
        n, d, h = (int(rng.integers(1, top)) for top in (6, 5, 4))
        X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-spread, spread, (n, 1))
        W, v = rng.standard_normal((h, d)), rng.standard_normal(h)
        q = X @ W.T @ v
        return {"X": X, "y": np.where(q > 0.0, 1.0, -1.0), "W": W * scale, "v": v * scale}

    def grown(low: float, high: float, spread: float = 0.5):
        return lambda rng: item(rng, 10.0 ** rng.uniform(low, high), spread)

    def output_weights(rng: np.random.Generator) -> Item:
        made = item(rng, 1.0, 0.0)
        return {**made, "W": made["W"] * 1e-6, "v": made["v"] * 1e2}

    return Statement(
        f"{loss.name} loss: the loss of a linear network falls at {factor:.4g} |v|^2 L^2 gamma^2 "
        "or faster",
        {"small": grown(-6.0, -1.0), "of size 1": grown(-1.0, 0.5), "large": grown(0.5, 3.0),
         "lengths": grown(-1.0, 1.0, 2.0), "long v, short W": output_weights},
        lambda at: rate_of_decay(at, loss) - factor,
        {"all data are classified correctly":
            lambda at: bool(np.all(at["y"] * (at["X"] @ at["W"].T @ at["v"]) > 0.0)),
         "v is not 0": lambda at: bool(at["v"].any())},
        tolerance=1e-6,  # of the largest margin
        fixed=("y",),
    )  # fmt: skip


def best_factors() -> list[Evidence]:
    """The largest factor for each loss, and a network that comes to it: x = y = v = 1, w -> 0."""
    item = {"X": np.ones((1, 1)), "y": np.ones(1), "W": np.full((1, 1), 1e-9), "v": np.ones(1)}
    found = {loss.name: rate_of_decay(item, loss) for loss in LOSSES}
    return [
        bound(f"{name} loss, x = y = v = 1, w = 1e-9: the factor, above the best one",
              value - BEST[name], "<=", 1e-6, "")
        for name, value in found.items()
    ] + [note("the best factor for each of these losses", tuple(found.values()))]  # fmt: skip


def speed(item: Item, loss: Loss) -> float:
    """|F| / L of the two-layer ReLU network W (h, d), v (h,), computed without L."""
    X, y, W, v = item["X"], item["y"], item["W"], item["v"]
    network, theta = fully_connected([X.shape[1], len(v)]), np.concatenate([W.ravel(), v])
    f = network.output(theta, X)
    F = network.gradient(theta, X, loss.pull(f, y, relative=True))
    return float(np.linalg.norm(F))


def speed_is_bounded(loss: Loss) -> Statement:
    """ea.eq50: |F(W, v)| <= X_max L(W(0), v(0)) |(W, v)| where L <= L(W(0), v(0)) (eqs. 48 to 50).

    L itself stands for the larger L(W(0), v(0)), the case that asks most. No assumption on data or
    balance. The slack is relative to X_max |(W, v)|.
    """

    def draw(spread: float, units: float, same: bool):
        def one(rng: np.random.Generator) -> dict[str, NDArray]:
            n, d, h = (int(rng.integers(1, top)) for top in (6, 5, 5))
            X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-units, units, d)
            W, v = rng.standard_normal((h, d)), rng.standard_normal(h)
            if same:  # all data alike, and neurons along them: the bound's own case
                X, W = np.tile(X[:1], (n, 1)), np.tile(X[:1], (h, 1)) + 0.0 * W
            size = 10.0 ** rng.uniform(-spread, spread)
            y = np.full(n, 1.0) if same else rng.choice([-1.0, 1.0], n)
            return {"X": X, "y": y, "W": W * size, "v": v * size}

        return one

    def slack(item: Item) -> float:
        length = np.sqrt(np.sum(item["W"] ** 2) + np.sum(item["v"] ** 2))
        return 1.0 - speed(item, loss) / float(np.linalg.norm(item["X"], axis=1).max() * length)

    return Statement(
        f"{loss.name} loss: |F| <= X_max L |(W, v)|",
        {"of size 1": draw(0.5, 0.0, False), "sizes": draw(3.0, 0.0, False),
         "units": draw(1.0, 6.0, False), "equal data": draw(1.0, 0.0, True)},
        slack,
        tolerance=1e-12,
        fixed=("y",),
    )  # fmt: skip
