"""Remark 4.1: the limit's predictor against the linear programme of Problem (3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from reluflow.ledger import Evidence, bound, fact, note
from reluflow.networks.indexed import diagonal
from reluflow.papers.vardi2022margin.settled import settled_limit

CLOSE = 1e-7
"""The l_1 norms may differ by this share."""


@dataclass(frozen=True)
class Predicted:
    """The end of a flow on a depth-2 diagonal linear network of d coordinates.

    kind    of the data and the start
    status  of the limit
    zeros   coordinates j whose weights vanish in the limit
    d       number of coordinates
    excess  |beta~|_1 over the optimum of Problem (3), less 1
    """

    kind: str
    status: str
    zeros: int
    d: int
    excess: float


def least_l1_norm(X: NDArray, y: NDArray) -> float:
    """The value of Problem (3), min |beta|_1 with y_i beta.x_i >= 1, by HiGHS, beta = p - q.

    Parameters: X (n, d), y (n,). Rows and columns are measured in powers of two, so that data in
    any unit give one programme. Raises ValueError where no beta is feasible.
    """
    Z = y[:, None] * X
    sizes = 2.0 ** np.rint(np.log2(np.abs(Z).max(axis=1)))
    Z = Z / sizes[:, None]
    least = float(sizes.min())
    found = linprog(np.ones(2 * X.shape[1]), A_ub=-np.hstack([Z, -Z]), b_ub=-least / sizes,
                    method="highs")  # fmt: skip
    if not found.success:
        raise ValueError(found.message)
    return float(found.fun) / least


def flows_of_diagonal_networks(seed: int, tried: int) -> list[Predicted]:
    """`tried` flows, the kinds in turn: data whose optimum has full support, few data, integer data
    of many ties, and integer data with starts in which some coordinates are 0."""
    rng, kinds = np.random.default_rng(seed), list(KINDS.items())
    found = []
    for k in range(tried):
        name, draw = kinds[k % len(kinds)]
        found.append(_followed(name, *draw(rng), ("exponential", "logistic")[k // len(kinds) % 2]))
    return found


def _followed(kind: str, X: NDArray, y: NDArray, start: NDArray, loss: str) -> Predicted:
    d = X.shape[1]
    found = settled_limit(diagonal(d, 2, "linear"), loss, X, y, start)
    if not found.converged:
        return Predicted(kind, found.status, 0, d, float("nan"))
    first, last = found.theta.reshape(2, d)
    norm = float(np.abs(first * last).sum())
    return Predicted(kind, found.status, int((first == 0.0).sum()), d,
                     norm / least_l1_norm(X, y) - 1.0)  # fmt: skip


Draw = Callable[[np.random.Generator], tuple[NDArray, NDArray, NDArray]]


def _full(rng: np.random.Generator) -> tuple[NDArray, NDArray, NDArray]:
    """One datum for each coordinate, mostly along it: every coordinate is needed."""
    d = int(rng.integers(2, 5))
    X = np.eye(d) + rng.uniform(-0.4, 0.4, (d, d)) / d
    X *= 10.0 ** (rng.uniform(-3.0, 3.0) + rng.uniform(-0.2, 0.2, (d, 1)))
    return X, rng.choice([-1.0, 1.0], d), _start(rng, d)


def _few(rng: np.random.Generator) -> tuple[NDArray, NDArray, NDArray]:
    """Fewer data than coordinates: no vertex has full support."""
    d = int(rng.integers(2, 6))
    n = int(rng.integers(1, d))
    return rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n), _start(rng, d)


def _ties(rng: np.random.Generator) -> tuple[NDArray, NDArray, NDArray]:
    """Entries 1 and -1, few data: edges of optima, with points of full support."""
    d = int(rng.integers(2, 5))
    n = int(rng.integers(1, max(d - 1, 2)))
    X = rng.choice([-1.0, 1.0], (n, d))
    # Labels of some predictor, so that there is a solution also where rows are opposite.
    y = np.sign(X @ rng.normal(size=d))
    return X, y, _start(rng, d)


def _silent(rng: np.random.Generator) -> tuple[NDArray, NDArray, NDArray]:
    """A start in which one coordinate has no weights, as in Theorem 4.1."""
    d = int(rng.integers(2, 5))
    X, start = rng.integers(1, 4, (1, d)).astype(float), _start(rng, d)
    start[[0, d]] = 0.0
    return X, np.ones(1), start


def _start(rng: np.random.Generator, d: int) -> NDArray:
    return 10.0 ** rng.uniform(-2.0, 0.5) * rng.normal(size=2 * d)


KINDS: dict[str, Draw] = {"full support": _full, "few data": _few, "ties": _ties,
                          "a silent coordinate": _silent}  # fmt: skip


def shortest_without_zeros(found: list[Predicted]) -> list[Evidence]:
    """mm.rem4.1.2: where no coordinate vanishes in the limit its predictor has the least l_1 norm
    of Problem (3). Where one does, the theorem is silent: how often the norm is least then too."""
    ended = [each for each in found if each.status == "converged"]
    inside = [each for each in ended if each.zeros == 0]
    least = [abs(each.excess) <= CLOSE for each in inside]
    return [
        note("flows whose limit was found, of all", (len(ended), len(found))),
        fact("limits without a zero coordinate whose ‖β̃‖₁ is the linear programme's", sum(least),
             len(inside), tried=len(inside)),
        bound("limits without a zero coordinate", len(inside), ">=", 2, ""),
        *(note(f"{kind}: limits with no zero coordinate, with one or more and least ‖β̃‖₁, with one "
               "or more and longer", _counted(ended, kind)) for kind in KINDS),
    ]  # fmt: skip


def _counted(ended: list[Predicted], kind: str) -> tuple[int, int, int]:
    mine = [each for each in ended if each.kind == kind]
    zero = [each for each in mine if each.zeros > 0]
    least = sum(abs(each.excess) <= CLOSE for each in zero)
    return len(mine) - len(zero), least, len(zero) - least
