"""Remark 3.2 on Theorems 4.3 and 5.4: the data of Lemma C.6 moved, from the printed start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger import Evidence, bound, fact, note
from reluflow.margin.layer_problem import layer_optimum
from reluflow.margin.limits import UNDECIDED
from reluflow.margin.optimum import global_optimum
from reluflow.papers.vardi2022margin.instances import lemma_C_6
from reluflow.papers.vardi2022margin.pairs import shortest_predictor
from reluflow.papers.vardi2022margin.settled import settled_limit
from reluflow.statistics import share_interval

NEAR = 0.1
"""Data nearer than this to the printed ones, in R^6, are near."""
FAR = (0.2, 0.4, 0.8)
"""Distances of others."""
SURE = 1e-6
"""An optimum must be shorter by this share of |theta~|^2."""


@dataclass(frozen=True)
class MovedTriple:
    """Data X (3, 2) at a distance `size` of the printed ones, and the limit of the flow from the
    printed start, or from one of the same activity.

    status              of the limit
    saved, layer_saved  1 - |theta*|^2 / |theta~|^2, of all parameters and of the first layer; NaN
                        where there is no limit
    off                 of the limit to `two_alone`, over |theta~|
    """

    X: NDArray
    size: float
    status: str
    saved: float = np.nan
    layer_saved: float = np.nan
    off: float = np.nan


def two_alone(X: NDArray) -> NDArray:
    """The limit (6,) if the first neuron has x_1 and x_2 to itself, and the second one x_3."""
    first, last = shortest_predictor(X[:2])[0], X[2] / float(X[2] @ X[2])
    sizes = [float(np.linalg.norm(u)) ** 0.5 for u in (first, last)]
    return np.array([*(first / sizes[0]), *(last / sizes[1]), *sizes])


def moved_triples(seed: int, near: int, far: int, starts: int = 4) -> list[MovedTriple]:
    """Limits for `near` data at distances 1e-9 to `NEAR`, for `far` data at each of `FAR`, and for
    the printed data from `starts` other starts of the same activity; the losses in turn."""
    rng = np.random.default_rng(seed)
    c = lemma_C_6()
    sizes = [*10.0 ** rng.uniform(-9.0, np.log10(NEAR), near), *np.repeat(FAR, far)]
    found = [_followed(c.X + size * _unit(rng), float(size), c.start, k)
             for k, size in enumerate(sizes)]  # fmt: skip
    for k in range(starts):
        turns = rng.uniform(-0.2, 0.2, 2)  # less than atan(1/4): the neurons keep their data
        lengths = 10.0 ** rng.uniform(-1.0, 1.0, 4)
        W = [[np.sin(turns[0]), np.cos(turns[0])], [np.sin(turns[1]), -np.cos(turns[1])]]
        start = np.array([*(lengths[:2, None] * W).ravel(), *lengths[2:]])
        found.append(_followed(c.X, 0.0, start, k))
    return found


def _followed(X: NDArray, size: float, start: NDArray, k: int) -> MovedTriple:
    network, y = lemma_C_6().network, np.ones(3)
    loss = ("exponential", "logistic")[k % 2]
    found = settled_limit(network, loss, X, y, start)
    if not found.converged:
        return MovedTriple(X, size, found.status)
    theta, first = found.theta, network.sizes[0]
    best = global_optimum(network, X, y).theta
    layer = 2.0 * layer_optimum(network, theta, X, y, 1).value
    exact = two_alone(X)
    return MovedTriple(
        X, size, found.status, 1.0 - float(best @ best) / float(theta @ theta),
        1.0 - layer / float(theta[:first] @ theta[:first]),
        float(np.linalg.norm(theta - exact) / np.linalg.norm(exact)),
    )  # fmt: skip


def stays_beaten(found: Sequence[MovedTriple]) -> list[Evidence]:
    """mm.rem3.2.3: for all data within `NEAR` of Lemma C.6's in R^6 the flow from its start goes to
    `two_alone`, which is no global optimum: the optimum is computed for each."""
    return _told(found, [each.saved for each in found], "no global optimum")


def layer_stays_beaten(found: Sequence[MovedTriple]) -> list[Evidence]:
    """mm.rem3.2.5: for the same data the first layer of the limit is no global optimum of Problem
    (4)."""
    return _told(found, [each.layer_saved for each in found], "no global optimum of its layer")


def _told(found: Sequence[MovedTriple], saved: Sequence[float], what: str) -> list[Evidence]:
    pairs = [(each, s) for each, s in zip(found, saved, strict=True) if each.status != UNDECIDED]
    near = [(each, s) for each, s in pairs if 0.0 < each.size < NEAR]
    other = [(each, s) for each, s in pairs if each.size == 0.0]
    beaten = [sum(s > SURE for _, s in some) for some in (near, other)]
    off = max((each.off for each, _ in [*near, *other]), default=np.inf)
    return [
        fact(f"data at distances 1e-9 to {NEAR} of the printed ones whose limit is {what}",
             beaten[0], len(near), tried=len(near)),
        fact(f"other starts of the printed activity whose limit is {what}", beaten[1], len(other),
             tried=len(other)),
        bound("their limits, from the two neurons' own shortest predictors, over |θ̃|", off, "<=",
              1e-7, ""),
        note("least share of the squared length that the optimum saves among them",
             min((s for _, s in [*near, *other]), default=np.nan), digits=2),
        note("flows whose limit was not decided", len(found) - len(pairs)),
        note("distance of data of which the printed start has another activity", Fraction(1, 4)),
        *(note(f"at distance {size}: share of the limits that are {what}",
               _share([s for each, s in pairs if each.size == size])) for size in FAR),
    ]  # fmt: skip


def _share(saved: Sequence[float]) -> str:
    return share_interval(sum(s > SURE for s in saved), len(saved)) if saved else "none tried"


def _unit(rng: np.random.Generator) -> NDArray:
    direction = rng.normal(size=(3, 2))
    return direction / np.linalg.norm(direction)
