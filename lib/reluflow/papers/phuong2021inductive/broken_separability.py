"""Linearly separable data that break (OS), and what becomes of Theorem 1 on them.

The dial is mu, the least cosine of two of the y_i x_i: (OS) is mu >= 0, up to right angles within a
label, and data whose y_i x_i lie in a half-space are linearly separable for every mu > -1.

Why it fails: let x_k have a negative product with every other datum. A neuron that is active on x_k
alone moves along x_k, which leaves all others off: it stays alone, with x_k as its limit direction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.minibatch_ensembles import minibatch_ensemble
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.margin.kkt import kkt
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive.alignments import LONG, units
from reluflow.papers.phuong2021inductive.extremal import extremal_directions
from reluflow.papers.phuong2021inductive.limit import limit
from reluflow.papers.phuong2021inductive.long_flow import Lost, Start, follow
from reluflow.papers.phuong2021inductive.synthetic_record import file_of
from reluflow.statistics import share_interval, wilson

EDGES = (-1.0, -0.75, -0.5, -0.25, 0.0, 1.0)
"""Of bins of mu; the last one is (OS)."""
LEARNT, SAME = 0.1, 1e-2
"""A loss below the first is learnt; a limit within the second of (8), where L = e^(-1e6), is it."""
_NEURONS, _DATA, _D = 8, 6, 3
_NORM, _STEP, _STEPS = 1e-3, 0.2, 4000
_REACH = 1e4

X = np.array([[1.0, 2.0], [1.0, -2.0], [-3.0, 1.0], [-3.0, -1.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0])
NEURONS = np.array([[1.0, 2.0], [1.0, -2.0], [-1.0, 0.0]])
SIGNS = np.array([1.0, 1.0, -1.0])
ACROSS = np.array([[4.0, 3.0], [4.0, -3.0], [-2.0, 3.0], [-2.0, -1.0]])
"""Data with the labels Y that break (OS) in one pair, and have the limit (8)."""
READING = Reading(
    taken="crucial means that Theorem 1 would be false with linear separability in its place",
    others="for the single data set (OS) is not needed: many that break it by little, and some "
    "that break it by much, have the limit (8) from a small start",
)


@dataclass(frozen=True)
class Case:
    """A data set, and eight neurons trained on it from norms of 1e-3.

    mu        the least cosine of two y_i x_i
    extremal  how many extremal directions the sign with more of them has
    partial   whether a long neuron is off a datum of its label
    feasible  whether the function of w_+ and w_-, [<w_+, x>]_+ - [<w_-, x>]_+, has margin 1
    loss      at the end of descent
    distance  of (8) where the flow from there has L = e^(-1e6); None if it was not followed
    """

    mu: float
    extremal: int
    partial: bool
    feasible: bool
    loss: float
    distance: float | None = None

    @property
    def other(self) -> bool:
        """Whether the limit is not (8), as far as its activation patterns tell."""
        return self.partial or not self.feasible

    @property
    def learnt(self) -> bool:
        """Whether the loss is small."""
        return self.loss < LEARNT


def half_space(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """X (6, 3), y (6,) with the y_i x_i at angles of 0 to 90 degrees from one axis, evenly, of
    lengths 1/2 to 2; labels in turn."""
    angles = rng.uniform(0.0, np.pi / 2, _DATA)
    around = units(rng.standard_normal((_DATA, _D - 1)))
    Z = np.column_stack([np.cos(angles), np.sin(angles)[:, None] * around])
    y = np.where(np.arange(_DATA) % 2 == 0, 1.0, -1.0)
    return (y * rng.uniform(0.5, 2.0, _DATA))[:, None] * Z, y


def cases(seed: int, count: int, follows: bool = False) -> list[Case]:
    """`count` data sets and networks by descent in full batches; `follows` goes on by the flow."""
    rng = np.random.default_rng(seed)
    drawn = [half_space(rng) for _ in range(count)]
    X, y = (np.array(part) for part in zip(*drawn, strict=True))
    W = _NORM * units(rng.standard_normal((count, _NEURONS, _D)))
    signs = np.where(np.arange(_NEURONS) % 2 == 0, 1.0, -1.0)
    a = np.broadcast_to(_NORM * signs, (count, 1, _NEURONS))
    ends = minibatch_ensemble([W, a], X, y, _STEP, _DATA, [_STEPS], [rng] * count, mean=False)
    ((_, (W, a), loss),) = ends
    return [
        Case(
            separation(X[k], y[k]),
            max(len(extremal_directions(X[k], y[k], sign)) for sign in (1.0, -1.0)),
            partial(X[k], y[k], W[k], a[k, 0]),
            feasible(X[k], y[k]),
            float(_DATA * loss[k]),
            distance(X[k], y[k], W[k], a[k, 0]) if follows else None,
        )
        for k in range(count)
    ]


def partial(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> bool:
    """Whether a neuron longer than LONG of the longest of its sign is off a datum of its label."""
    active = X @ W.T > 0.0
    lengths = np.linalg.norm(W, axis=1)
    for sign in (1.0, -1.0):
        own = a * sign > 0.0
        long = own & (lengths > LONG * lengths[own].max(initial=0.0))
        if not active[y == sign][:, long].all():
            return True
    return False


def feasible(X: NDArray, y: NDArray) -> bool:
    """Whether (8) satisfies the constraints of (77): w_+ and w_- do not spoil each other's data."""
    parts = [np.maximum(X @ w, 0.0) * sign for sign, w in limit(X, y).vectors.items()]
    return bool((y * np.sum(parts, axis=0)).min() >= 1.0 - 1e-7)


def distance(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> float | None:
    """The distance of (8) where the flow from W, a, taken as balanced, has L = e^(-1e6)."""
    log_norms = 0.5 * np.log(np.linalg.norm(W, axis=1) * np.abs(a))
    try:
        late = follow(Start(X, y, units(W), log_norms, np.sign(a)))
    except Lost:
        return None
    return None if late is None or len(late.alive) < 2 else float(late.distances[-1, 0])


def alone(X: NDArray, y: NDArray, k: int) -> bool:
    """Whether datum k has a negative product with every other one: exact for whole numbers."""
    products = X @ X[k]
    return bool(np.all(np.delete(products, k) < 0.0))


def linear_is_not_enough(found: Sequence[Case]) -> list[Evidence]:
    """os.assumptions.2: linearly separable data that break (OS), on which Theorem 1 fails; and how
    often it does, from data that hardly break it to those that strongly do."""
    late = follow(Start(X, Y, units(NEURONS), np.full(3, -20.0), SIGNS))
    survivor = follow(Start(ACROSS, Y, units(ACROSS), np.full(4, -20.0), Y), _REACH)
    assert late is not None
    assert survivor is not None
    sizes = np.array([5.0**-0.25, 5.0**-0.25, 3.0**-0.5])
    theta = np.append((sizes[:, None] * units(NEURONS)).ravel(), sizes * SIGNS)
    hits, trials = counts(found)
    weak, strong = (hits[-1], trials[-1]), (hits[:2].sum(), trials[:2].sum())
    return [
        fact("instance: y_i ⟨e₁, x_i⟩ > 0 for all data", bool(np.all(Y * X[:, 0] > 0.0)), True),
        fact("pairs of it that break (OS)", broken(X, Y), 1),
        fact("each of its first two data has negative products with all others (whole numbers)",
             alone(X, Y, 0) and alone(X, Y, 1), True),
        bound("distance of (8) where L = e^(-1e6), from a start near zero",
              float(late.distances[-1, 0]), ">", 0.1, "", digits=2),
        bound("KKT residual of the point with neurons along (1, 2), (1, -2) and (-1, 0)",
              kkt(fully_connected([2, 3]), theta, X, Y).residual, "<=", 1e-7, "", digits=2),
        fact("limits other than (8) under (OS)", int(weak[0]), 0, tried=int(weak[1])),
        bound("share of other limits where mu < -1/2, lower end of its 95 % interval",
              float(wilson(*strong)[0]), ">", float(wilson(*weak)[1]), "", digits=2),
        *(note(f"share of other limits for mu from {low:g} to {high:g}",
               f"{h} of {t}: {share_interval(int(h), int(t))}")
          for low, high, h, t in zip(EDGES[:-1], EDGES[1:], hits, trials, strict=True)),
        fact("another instance: pairs that break (OS)", broken(ACROSS, Y), 1),
        bound("its distance of (8) where L = e^(-1e4)", float(survivor.distances[-1, 0]), "<=",
              SAME, "", digits=2),
        *_followed(found),
    ]  # fmt: skip


def _followed(found: Sequence[Case]) -> list[Evidence]:
    known = [(case, case.distance) for case in found if case.distance is not None and case.learnt]
    if not known:
        return []
    same = sum(case.other == (far > SAME) for case, far in known)
    held = sum(case.mu < 0.0 and far <= SAME for case, far in known)
    return [
        note("flows followed on to L = e^(-1e6), and among them those that agree",
             (len(known), same)),
        note("flows on data that break (OS), with the limit (8) after all", held),
    ]  # fmt: skip


def broken(X: NDArray, y: NDArray) -> int:
    """How many pairs break (OS)."""
    products = np.outer(y, y) * (X @ X.T)
    wrong = np.where(np.equal.outer(y, y), products <= 0.0, products < 0.0)
    return int(np.triu(wrong, 1).sum())


def counts(found: Sequence[Case]) -> tuple[NDArray, NDArray]:
    """In every bin of mu: how many learnt data sets have another limit than (8), and how many there
    are."""
    kept = [case for case in found if case.learnt]
    mu, other = np.array([case.mu for case in kept]), np.array([case.other for case in kept])
    trials, hits = np.histogram(mu, EDGES)[0], np.histogram(mu[other], EDGES)[0]
    return hits, trials


def record(seed: int = 0, count: int = 200) -> None:
    """Write the record; takes four minutes of one core."""
    kept = [asdict(case) for case in cases(seed, count, follows=True)]
    facts = {"command": "python -m reluflow.papers.phuong2021inductive.broken_separability",
             "seed": seed, "cases": kept}  # fmt: skip
    file_of("separability").write_text(json.dumps(facts).replace("}, ", "},\n") + "\n", "utf-8")


def recorded() -> list[Case]:
    """The cases of the record."""
    facts = json.loads(file_of("separability").read_text(encoding="utf-8"))
    return [Case(**each) for each in facts["cases"]]


if __name__ == "__main__":
    record()
