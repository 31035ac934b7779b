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

from reluflow.flows.alignment import align
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.phuong2021inductive.dead_starts_exact import arc_of_either, arcs_by_hand
from reluflow.papers.phuong2021inductive.two_extremal import spans
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
"""Four data of equal length, (OS), each a support example: the counterexample's."""
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
    return Fates(*(np.array([align(X, y, w, s).status == "dead" for w in W]) for s in (1.0, -1.0)))


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
    """os.thm1.prob: all p neurons die with probability at most 2^-p, for a_j(0) drawn by itself and
    for a_j(0) chosen with w_j(0) in view, which (Init) does not exclude."""
    items = []
    for name, one in found.items():
        for what, hits in (("drawn", one.drawn), ("chosen after w_j(0)", one.chosen)):
            low, _ = wilson(hits, one.trials, SURE)
            above = int(np.sum(low > 2.0 ** -np.array(WIDTHS, float)))
            items.append(fact(f"{name}, signs {what}: widths p = 1 to 5 at which all die more "
                              f"often than "
                              "2⁻ᵖ", above, 0, tried=int(one.trials[0])))  # fmt: skip
    return [*items, chosen_signs(), tight()]


def chosen_signs() -> Evidence:
    """The exact chance for the integer data and signs chosen afterwards."""
    return bound("(33, ±4) and (-4, 33), (-9, 32): chance that one neuron dies, its sign chosen "
                 "after w(0)",
                 chances(INTEGERS, LABELS)[2], "<=", 0.5, "")  # fmt: skip


def tight() -> Evidence:
    """With fair signs the chance comes to 1/2 as both labels shrink to rays 90 degrees apart."""
    widths = (2.0, 0.2, 0.002)
    values = tuple(0.5 * sum(chances(*plane(90.0, w))[:2]) for w in widths)
    return note("chance that a neuron dies, labels 90° apart and 2°, 0.2°, 0.002° wide", values)


def beats_the_bound() -> Counterexample:
    """Four data and p = 1: a < 0 for the directions that die with a < 0, else a > 0."""
    turns = 2.0 * np.pi * (np.arange(_AROUND) + 0.5) / _AROUND
    W = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    dying = [any(align(INTEGERS, LABELS, w, s).status == "dead" for s in (1.0, -1.0)) for w in W]
    P = INTEGERS @ INTEGERS.T * np.outer(LABELS, LABELS)
    return Counterexample(
        instance={"positive data": INTEGERS[:2], "negative data": INTEGERS[2:], "p": 1,
                  "a(0)": "λ where w(0) lies between 101.3 and 230 degrees, else −λ"},
        assumptions={
            "(OS)": bool(P.min() >= 0.0 and P[0, 1] > 0.0 and P[2, 3] > 0.0),
            "(Span)": spans(INTEGERS, LABELS, 1.0) and spans(INTEGERS, LABELS, -1.0),
        },
        breaks=(bound(f"share of {_AROUND} directions around the circle from which the neuron "
                      f"dies, in "
                      "the limit of small weights", sum(dying) / _AROUND, "<=", 0.5, "",
                      digits=2),),
        recheck=(bound("1 less the angle between the two sums over 360 degrees: the arcs by hand",
                       arc_of_either(INTEGERS[:2].tolist(), INTEGERS[2:].tolist()), "<=", 0.5,
                       ""),),
        route="the arcs of the circle from which a neuron can be made to die, without a flow",
    )  # fmt: skip
