"""What is kept of a network of Section 5 of Phuong & Lampert 2021, live or from a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.papers.phuong2021inductive.alignments import (
    GAP,
    GROWN,
    HIGH,
    ZERO,
    alignment,
    correlations,
    singular,
    units,
)
from reluflow.papers.phuong2021inductive.limit import Limit
from reluflow.papers.phuong2021inductive.synthetic import Look, Run

SPECTRUM = 10


@dataclass(frozen=True)
class Seen:
    """A network after some epochs. Lists with an entry a layer are of W_1 to W_(L-1).

    singular  the ten largest singular values of each layer
    moved     the third singular value of W_l - W_l(0) over the second, 0 at the start
    near, between, agreement  as in `Alignment`; the last one with the sign of the last layer
    cosines   of each row of W_1 with w_+ or w_-, by the sign of a_j for two layers, else the
              closer; a record keeps those of the last look
    high      the share of them that the paper calls high
    group     the cosines of the mean of the rows with a_j > 0 and w_+, and of the others and w_-
    spread    the median cosine of a row of W_1 with the mean of its group
    distance  of W_1 from eq (8)
    flipped   the share of the a_j whose sign is not that of the start
    astray    the share of the long rows of W_1 that are nearer to the other sign's vector
    balance   sum |a_j^2 - |w_j|^2| over sum |w_j|^2
    sum_high, sum_group  as `high` and `group`, with the sums of the labels' data in place of w_+
              and w_-; records other than "deep" do not have them
    """

    epoch: int
    loss: float
    singular: list[list[float]]
    moved: list[float]
    near: list[float]
    between: list[float]
    agreement: list[float]
    cosines: list[float]
    high: float
    group: list[float]
    spread: float
    distance: float
    flipped: float
    astray: float
    balance: float
    sum_high: float = np.nan
    sum_group: list[float] = field(default_factory=list)

    def clear(self, layer: int = 0) -> int:
        """How many singular values are at least ZERO of the largest."""
        s = np.array(self.singular[layer])
        return int(np.sum(s >= ZERO * s[0]))

    def gap(self, layer: int = 0) -> bool:
        """Whether the second singular value is GAP times the third."""
        s = self.singular[layer]
        return s[1] >= GAP * s[2]


@dataclass(frozen=True)
class Course:
    """One network along its training, the first look at the start."""

    looks: tuple[Seen, ...]

    @property
    def start(self) -> Seen:
        """Before training."""
        return self.looks[0]

    @property
    def end(self) -> Seen:
        """After it."""
        return self.looks[-1]

    def after(self, epoch: int) -> Seen:
        """The look after that many epochs."""
        return next(look for look in self.looks if look.epoch == epoch)

    def rank_two(self, layer: int = 0) -> bool:
        """Whether two singular values of a layer have become GROWN times as large as its largest
        one at the start, and all others are no larger than that."""
        level, s = self.start.singular[layer][0], self.end.singular[layer]
        return s[1] >= GROWN * level and s[2] <= level * (1.0 + ROUNDED)


ROUNDED = 0.05
"""By so much a singular value at the level of the start may exceed it."""


def course(run: Run) -> Course:
    """What is kept of a run."""
    sums = Limit({sign: run.X[run.y == sign].sum(axis=0) for sign in (1.0, -1.0)})
    return Course(tuple(seen(look, run.looks[0], run.limit, sums) for look in run.looks))


def seen(look: Look, start: Look, goal: Limit, sums: Limit) -> Seen:
    """What is kept of a look; `sums` has the sums of the labels' data in place of w_+ and w_-."""
    hidden, positive = look.weights[:-1], look.a > 0.0
    found = [alignment(W) for W in hidden]
    lengths = np.linalg.norm(look.W, axis=1)
    signs = np.where(positive, 1.0, -1.0)
    groups = {s: look.W[signs == s].sum(axis=0) for s in (1.0, -1.0)}
    mine = np.array([groups[s] for s in signs])
    own = signs if len(hidden) == 1 else None
    cosines = correlations(look.W, goal, own)
    return Seen(
        epoch=look.epoch,
        loss=look.loss,
        singular=[singular(W)[:SPECTRUM].tolist() for W in hidden],
        moved=[_third(W - V) for W, V in zip(hidden, start.weights, strict=False)],
        near=[each.near for each in found],
        between=[each.between for each in found],
        agreement=[each.agreement(positive) for each in found],
        cosines=cosines.tolist(),
        high=float(np.mean(cosines > HIGH)),
        group=[float(units(groups[s]) @ units(goal.vectors[s])) for s in (1.0, -1.0)],
        spread=float(np.median(np.sum(units(look.W) * units(mine), axis=1))),
        distance=goal.distances(units(look.W), np.log(lengths), signs)[0],
        flipped=float(np.mean(positive != (start.a > 0.0))),
        astray=float(np.mean((cosines < correlations(look.W, goal))[found[0].long])),
        balance=float(
            np.abs((look.a / lengths.max()) ** 2 - (lengths / lengths.max()) ** 2).sum()
            / np.sum((lengths / lengths.max()) ** 2)
        ),
        sum_high=float(np.mean(correlations(look.W, sums, own) > HIGH)),
        sum_group=[float(units(groups[s]) @ units(sums.vectors[s])) for s in (1.0, -1.0)],
    )


def _third(change: NDArray) -> float:
    s = singular(change)
    return float(s[2] / s[1]) if s[1] > 0.0 else 0.0


def kept(found: Course) -> list[dict[str, Any]]:
    """A course as a record keeps it, to four digits."""
    last = len(found.looks) - 1
    shorter = [replace(look, cosines=look.cosines if k == last else [])
               for k, look in enumerate(found.looks)]  # fmt: skip
    return [_short(asdict(look)) for look in shorter]


def from_record(looks: Sequence[Mapping[str, Any]]) -> Course:
    """A course from a record."""
    return Course(tuple(Seen(**{**look, "loss": look["loss"] or np.nan}) for look in looks))


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.4g}") if np.isfinite(value) else None
