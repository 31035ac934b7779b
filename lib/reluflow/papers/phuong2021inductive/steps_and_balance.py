"""Steps that are not infinitesimal, and neurons that are not balanced at the start.

Neither changes which limits there are: a limit is a KKT point of (77), and under (OS) those are all
of the form (8). What they change is who gets there, and when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.minibatch_ensembles import minibatch_ensemble
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import LOGISTIC
from reluflow.margin import limits
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive.alignments import units
from reluflow.papers.phuong2021inductive.limit import limit
from reluflow.papers.phuong2021inductive.synthetic_claims import in_most
from reluflow.papers.phuong2021inductive.synthetic_seen import Course
from reluflow.supports import supported

STEPS, RATIOS = (0.05, 0.2, 1.0), (0.01, 0.1, 10.0, 100.0)
"""For data of mean norm 1, the sum of their losses and full batches; and |a_j| / |w_j|."""
NEAR = 1e-6
_NORM, _NEURONS, _TIME = 1e-2, 6, 100.0
READING = Reading(
    taken="a small step is one that multiplies a neuron near zero by less than two; not crucial "
    "means that networks which learn both labels have the limit (8)",
    others="where |a_j| < |w_j| signs of a_j change, in the flow, too: Lemma A.4 goes, and with it "
    "who is dead. A hundred times the paper's rate sets long neurons against their a_j, and more "
    "diverges",
)


@dataclass(frozen=True)
class Ended:
    """Where one network went.

    loss      of the data after the descent
    distance  of (8) in the limit of the flow from there; NaN where none was confirmed
    learnt    whether the limit serves both labels
    flipped   how many of the a_j changed their sign
    """

    loss: float
    distance: float
    learnt: bool
    flipped: int


def ended(seed: int, step: float, ratio: float, count: int) -> list[Ended]:
    """Descent with this step in full batches from |w_j| = 0.01 and |a_j| = ratio |w_j|, on
    data in the plane that satisfy (OS) and (Span); and the limit of the flow from where it ends.

    Descent takes a time of 100 in steps of the given size, at least a hundred of them.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        item = supported(2, (2, 2), rng)
        X, y = item["X"] / np.linalg.norm(item["X"], axis=1).mean(), item["y"]
        W = _NORM * units(rng.standard_normal((_NEURONS, 2)))
        a = ratio * np.linalg.norm(W, axis=1) * np.tile([1.0, -1.0], _NEURONS // 2)
        steps = max(100, round(_TIME / step))
        ((_, (V, b), loss),) = minibatch_ensemble(
            [W[None], a[None, None]], X[None], y[None], step, len(y), [steps], [rng], mean=False
        )
        found.append(_limit(X, y, V[0], b[0, 0], float(len(y) * loss[0]), a))
    return found


def _limit(X: NDArray, y: NDArray, W: NDArray, a: NDArray, loss: float, before: NDArray) -> Ended:
    flipped = int(np.sum(np.sign(a) != np.sign(before)))
    found = limits.limit(
        fully_connected([2, len(W)]), LOGISTIC, X, y, np.append(W.ravel(), a), at_zero=0.0
    )
    if not found.converged:
        served = [bool(((X[y == s] @ W.T > 0.0) & (a * s > 0.0)).any()) for s in (1.0, -1.0)]
        return Ended(loss, np.nan, all(served), flipped)
    V, b = found.theta[: W.size].reshape(W.shape), found.theta[W.size :]
    lengths = np.maximum(np.linalg.norm(V, axis=1), 1e-300)
    distance = limit(X, y).distances(V / lengths[:, None], np.log(lengths), np.sign(b))[0]
    return Ended(loss, distance, True, flipped)


def survives(
    seed: int,
    count: int,
    rates: Mapping[str, Sequence[Course]],
    outer: Mapping[str, Sequence[Course]],
) -> list[Evidence]:
    """os.assumptions.3: with constant steps, and neurons that are not balanced, networks still come
    to the limit (8); in Section 5.1's setting over `rates` and factors of the last layer, `outer`,
    and in the plane in the limit itself."""
    stepped = {step: ended(seed, step, 1.0, count) for step in STEPS}
    uneven = {ratio: ended(seed, 0.05, ratio, count) for ratio in RATIOS}
    each = [one for many in (*stepped.values(), *uneven.values()) for one in many]
    learnt = [one for one in each if one.learnt]
    small = [course for rate in ("0.01", "0.1", "1") for course in rates[rate]]
    moved = [course for factor in outer for course in outer[factor] if float(factor) <= 100.0]
    return [
        fact("in the plane: networks that learn both labels and have another limit than (8)",
             sum(not one.distance <= NEAR for one in learnt), 0, tried=len(learnt)),
        note("networks that leave a label without neurons", len(each) - len(learnt)),
        note(f"a_j that change their sign where |a_j| / |w_j| is {RATIOS}",
             tuple(sum(one.flipped for one in many) for many in uneven.values())),
        note("neurons of each", _NEURONS * count),
        *in_most("rates 0.01, 0.1, 1: more than half of the neurons have a cosine above 0.9",
                 [course.end.high > 0.5 for course in small]),
        *in_most("last layer times 0.001 to 100: the same",
                 [course.end.high > 0.5 for course in moved]),
        bound("largest gap between the median shares of rates 0.01 and 1",
              abs(_middle(rates["0.01"], "high") - _middle(rates["1"], "high")), "<=", 0.05, "",
              digits=2),
        note(f"by rate {tuple(rates)}: median share above 0.9", _by(rates, "high"), digits=2),
        note("by rate: median distance of (8)", _by(rates, "distance"), digits=2),
        note("by rate: median share of long neurons nearer to the other sign's vector",
             _by(rates, "astray"), digits=2),
        note(f"by factor {tuple(outer)}: median share above 0.9", _by(outer, "high"), digits=2),
        note("by factor: median share of the a_j that change their sign",
             _by(outer, "flipped"), digits=2),
    ]  # fmt: skip


def _middle(courses: Sequence[Course], field: str) -> float:
    return float(np.median([getattr(course.end, field) for course in courses]))


def _by(surveys: Mapping[str, Sequence[Course]], field: str) -> tuple[float, ...]:
    return tuple(_middle(courses, field) for courses in surveys.values())
