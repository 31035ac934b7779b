"""Where the flows of the linear neuron end: Proposition D.1 and Theorem D.5, at any rank.

Data X (n, d) of rank r are drawn as a product A B, so that a search keeps the rank. Signs of data
and labels are free unless said otherwise: Appendix D assumes none of A1 to A3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from reluflow.falsify import Instance, Statement, planted
from reluflow.flows.affine import affine_flow
from reluflow.instances import Draws
from reluflow.ledger import Reading
from reluflow.networks import loss
from reluflow.papers.lee2022support.linear import ROUNDING


def factored_draws(full: bool | None, signs: bool = True) -> Draws:
    """Draws of data X = A B of rank r: A (n, r), B (r, d), y (n,), w0 (d,), z (d,).

    `full`: r = d (True), r < d (False) or either (None); n below, at or above d. With `signs` the
    entries have any sign, else X satisfies A1 and y satisfies A2. A and B are drawn until their
    condition numbers are at most 30, so that r is the rank beyond rounding, too. The kinds are
    "normal" or "uniform" entries, "whole numbers", and "single" (r = 1).
    """

    def one(kind: str) -> Callable[[np.random.Generator], Instance]:
        def draw(rng: np.random.Generator) -> Instance:
            d = int(rng.integers(1 if full is not False else 2, 6))
            low, high = (d if full else 1), (d - 1 if full is False else d)
            r = low if kind == "single" and not full else int(rng.integers(low, high + 1))
            n = r + int(rng.integers(0, 4))
            A, B = _factor(kind, n, r, signs, rng), _factor(kind, r, d, signs, rng)
            y = rng.normal(size=n) if signs else rng.uniform(0.1, 2.0, n)
            return {"A": A, "B": B, "y": y, "w0": rng.normal(size=d), "z": rng.normal(size=d)}

        return draw

    return {kind: one(kind) for kind in ("entries", "whole numbers", "single")}


def _factor(kind: str, n: int, m: int, signs: bool, rng: np.random.Generator) -> NDArray:
    while True:
        if kind == "whole numbers":
            M = rng.integers(-2 if signs else 0, 4, (n, m)).astype(float)
        else:
            M = rng.normal(size=(n, m)) if signs else rng.uniform(size=(n, m))
        if M.any() and np.linalg.cond(M) <= 30.0:
            return M


def data_of(instance: Instance) -> tuple[NDArray, NDArray]:
    """X = A B (n, d) and y (n,)."""
    return instance["A"] @ instance["B"], instance["y"]


FULL_FACTORS = {
    "the factors have full rank beyond rounding": lambda item: bool(
        np.linalg.cond(item["A"]) <= 1e2 and np.linalg.cond(item["B"]) <= 1e2
    )
}


def late(X: NDArray, y: NDArray, w0: NDArray, decays: float = 40.0) -> NDArray:
    """The linear flow's state (d,) after `decays` units of its slowest time, without an eigenbasis:
    SciPy's matrix exponential (a Pade approximant) of the generator [[-H, q], [0, 0]]."""
    H, q = X.T @ X, X.T @ y
    values = np.linalg.svd(X, compute_uv=False)
    slowest = values[values > 1e-9 * values[0]].min() ** 2
    generator = np.zeros((len(q) + 1, len(q) + 1))
    generator[:-1, :-1], generator[:-1, -1] = -H, q
    return (expm(generator * (decays / slowest)) @ np.append(w0, 1.0))[:-1]


MANIFOLD = Reading(
    taken="(i) every flow converges to a global minimum; (ii) r = d; (iii) a linear manifold is an "
    "affine one",
    others="(i) for r < d there is no single global minimum: the limit is the one nearest to w0. "
    "(ii) r > d cannot be. (iii) The manifold contains 0 only if q = 0.",
)


def every_flow_is_optimal() -> Statement:
    """sv.propD.1: from every w0 the flow's late state has the least loss, whatever the rank (i)."""

    def slack(instance: Instance) -> float:
        X, y = data_of(instance)
        fitted = np.linalg.lstsq(X, y, rcond=1e-9)[0]
        w = planted(instance) * late(X, y, instance["w0"])
        excess = float(loss(X, y, w, "linear") - loss(X, y, fitted, "linear"))
        apart = np.linalg.norm(w - affine_flow(X, y, instance["w0"], "linear").end)
        unit = np.linalg.norm(instance["w0"]) + np.linalg.norm(fitted)
        return -max(excess / (0.5 * float(y @ y)), float(apart / unit))

    return Statement(
        says="D.1 (i): every flow reaches the least loss",
        draws=factored_draws(None),
        slack=slack,
        hypotheses=FULL_FACTORS,
        tolerance=ROUNDING,
    )


def limit_from_zero_is_shortest() -> Statement:
    """sv.thmD.5: from w0 = 0 the limit is the minimiser of least norm (part 1; LAPACK's gelsd)."""

    def slack(instance: Instance) -> float:
        X, y = data_of(instance)
        shortest = np.linalg.lstsq(X, y, rcond=1e-9)[0]
        limit = planted(instance) * late(X, y, np.zeros(X.shape[1]))
        apart = np.linalg.norm(limit - shortest)
        return -float(apart / np.linalg.norm(shortest))

    return Statement(
        says="D.5, 1: from 0 the limit is the shortest minimiser",
        draws=factored_draws(None),
        slack=slack,
        hypotheses=FULL_FACTORS,
        tolerance=ROUNDING,
    )


def norm_grows_from_zero(start: float = 0.0) -> Statement:
    """D.5, part 2: |w(t)| never falls along the flow from `start` * w0 (the theorem: start 0)."""

    def slack(instance: Instance) -> float:
        X, y = data_of(instance)
        begin = start + planted(instance) - 1.0
        path = affine_flow(X, y, begin * instance["w0"], "linear")
        W = path.at(path.grid(60))
        growth = np.sum(np.diff(W, axis=0) * (W[1:] + W[:-1]), axis=1)
        return float(growth.min() / (path.end @ path.end))

    return Statement(
        says="D.5, 2: from 0 the norm never falls",
        draws=factored_draws(None),
        slack=slack,
        hypotheses=FULL_FACTORS,
        tolerance=1e-14,
    )
