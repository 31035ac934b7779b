"""How likely is it that all neurons die? Theorem 1's 2^-p, data that reach it, and signs that beat
it.

In the plane let the data lie within a half-plane: the positive ones at angles from p_1 to p_2, the
negative ones from n_1 >= p_2 + 90 to n_2 < p_1 + 180, m_+ and m_- the angles of the two sums. A
neuron with a > 0 dies exactly if it begins between m_- and p_1 + 270, one with a < 0 between n_2 +
90 and m_+ + 360. If no half-plane holds the data, none dies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.alignment import align, align_past_opposites
from reluflow.ledger import Evidence, Reading, fact, note
from reluflow.papers.phuong2021inductive.dead_starts_exact import arc_of_either, arcs_by_hand
from reluflow.statistics import wilson

SURE = 1.0 - 1e-6
"""Confidence of the intervals that decide."""
WIDTHS = (1, 2, 3, 4, 5)
_AROUND = 360


def plane(gap: float, width: float = 2.0) -> tuple[NDArray, NDArray]:
    """Two unit data of each label, `width` degrees apart, the labels' nearest ones at `gap` >=
    90."""
    degrees = np.array([-width, 0.0, gap, gap + width])
    turns = np.radians(degrees)
    X = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return X, np.array([1.0, 1.0, -1.0, -1.0])


INTEGERS = np.array([[33.0, 4.0], [33.0, -4.0], [-4.0, 33.0], [-9.0, 32.0]])
"""Four data of equal length, (OS), each a support example."""
LABELS = np.array([1.0, 1.0, -1.0, -1.0])


@dataclass(frozen=True)
class Fates:
    """Which of many directions die with a > 0, and with a < 0, in the limit of small weights:
    (k,)."""

    positive: NDArray
    negative: NDArray

    @property
    def by_chance(self) -> tuple[float, float]:
        """Shares that die with a fair sign drawn by itself, and with the sign chosen afterwards."""
        drawn = 0.5 * float(np.mean(self.positive) + np.mean(self.negative))
        return drawn, float(np.mean(self.positive | self.negative))


def fates(X: NDArray, y: NDArray, count: int, rng: np.random.Generator) -> Fates:
    """The fates of `count` Gaussian directions."""
    W = rng.standard_normal((count, X.shape[1]))
    return Fates(*(np.array([align_past_opposites(X, y, w, s).status == "dead" for w in W])
                   for s in (1.0, -1.0)))  # fmt: skip


def chances(X: NDArray, y: NDArray) -> tuple[float, float, float]:
    """P(dies | a > 0), P(dies | a < 0) and P(dies for one of the signs), by the arcs above."""
    return arcs_by_hand(X[y > 0.0].tolist(), X[y < 0.0].tolist())


def networks_dead(dead: NDArray, p: int) -> tuple[int, int]:
    """Of neurons (k,) taken p at a time, the networks all of whose neurons are dead, and all."""
    rows = dead[: len(dead) // p * p].reshape(-1, p)
    return int(rows.all(axis=1).sum()), len(rows)


def families() -> Mapping[str, tuple[NDArray, NDArray]]:
    """Data near the bound, usual ones, and such whose silent cone is empty."""
    return {
        "90 degrees": plane(90.0),
        "135 degrees": plane(135.0),
        "full circle": plane(179.0, 4.0),
    }


@dataclass(frozen=True)
class Counts:
    """Networks that die, of `trials`, by width (5,): with fair signs, and with signs chosen
    after."""

    drawn: NDArray
    chosen: NDArray
    trials: NDArray


def counts(X: NDArray, y: NDArray, count: int, rng: np.random.Generator) -> Counts:
    """Of `count` neurons, grouped into networks of each of WIDTHS."""
    found = fates(X, y, count, rng)
    drawn = np.where(rng.random(count) < 0.5, found.positive, found.negative)
    either = found.positive | found.negative
    rows = [(networks_dead(drawn, p), networks_dead(either, p)) for p in WIDTHS]
    return Counts(*np.array([[a[0], b[0], a[1]] for a, b in rows]).T)


def at_most(found: Mapping[str, Counts]) -> list[Evidence]:
    """os.thm1.prob: all p neurons die with probability at most 2^-p if a_j(0) is drawn without a
    look at w_j(0); if it is chosen with w_j(0) in view, they may die more often."""
    items = []
    for name, one in found.items():
        beyond = {
            what: _beyond(hits, one.trials)
            for what, hits in (("drawn", one.drawn), ("chosen after w_j(0)", one.chosen))
        }
        says = f"{name}: widths p = 1 to 5 at which all die more often than 2^-p"
        items.append(fact(f"{says}, signs drawn", beyond["drawn"], 0, tried=len(WIDTHS)))
        items.append(note(f"{says}, signs chosen after w_j(0)", beyond["chosen after w_j(0)"]))
    return [*items, tight(), *chosen_signs()]


def _beyond(hits: NDArray, trials: NDArray) -> int:
    """Of WIDTHS, those at which networks surely die more often than 2^-p."""
    low, _ = wilson(hits, trials, SURE)
    return int(np.sum(low > 2.0 ** -np.array(WIDTHS, float)))


SIGNS_DRAWN = Reading(
    "a_j(0) is drawn by itself, or fixed, before w_j(0) is seen: all that the proof speaks of",
    "The paper says no more than that a_j(0) is λ_j or -λ_j. With w_j(0) in view it can be chosen "
    "so that a neuron dies with a probability up to 3/4 in the plane; for (33, ±4) against "
    "(-4, 33) and (-9, 32) with 0.72 in place of 1/2.",
)
"""How os.thm1.prob is read."""


def chosen_signs() -> list[Evidence]:
    """The chance that a neuron dies whose sign is chosen after its direction, for integer data: by
    the alignment of directions around the circle, and by the angle of the two sums."""
    turns = 2.0 * np.pi * (np.arange(_AROUND) + 0.5) / _AROUND
    W = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    dying = [any(align(INTEGERS, LABELS, w, s).status == "dead" for s in (1.0, -1.0)) for w in W]
    says = "(33, ±4) and (-4, 33), (-9, 32), sign chosen after w(0): chance that one neuron dies"
    angle = arc_of_either(INTEGERS[:2].tolist(), INTEGERS[2:].tolist())
    return [
        note(f"{says}, of {_AROUND} directions", sum(dying) / _AROUND, digits=2),
        note("the same, 1 less the angle between the two sums over 360 degrees", angle),
    ]


def tight() -> Evidence:
    """With fair signs the chance comes to 1/2 as both labels shrink to rays 90 degrees apart."""
    widths = (2.0, 0.2, 0.002)
    values = tuple(0.5 * sum(chances(*plane(90.0, w))[:2]) for w in widths)
    return note("chance that a neuron dies, labels 90° apart and 2°, 0.2°, 0.002° wide", values)
