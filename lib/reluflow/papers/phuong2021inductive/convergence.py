"""Theorem 1 and Corollary 1 along flows to L = e^(-1e6): distances, their rate, the constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import PLANTED, Draw, Instance, Statement, given, planted
from reluflow.geometry.separability import violations
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.losses import LOGISTIC
from reluflow.papers.phuong2021inductive.kkt_points_exact import other_faces
from reluflow.papers.phuong2021inductive.limit import Limit
from reluflow.papers.phuong2021inductive.long_flow import Late, Start, follow
from reluflow.papers.phuong2021inductive.start_draws import DRAWN_ANEW, Survey
from reluflow.statistics import student_interval

NEAR = 1e-2
"""How near a flow must be to its limit where log(1/L) = 1e6; the slowest rate found is that of
1 / sqrt(log(1/L)), times the norm of the start."""
FAR = 0.1
_PART, _EARLY = 0.1, 1e3
"""From a start of norm 10 the same rate leaves up to 10 / sqrt(1e6) for each neuron."""
_FIT_FROM = 1e4
PLANE = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 1.0]])
PLANE_LABELS = np.array([1.0, 1.0, -1.0, -1.0])
PLANE_NEURONS = np.array([[6.0, -8.0], [10.0, 0.0], [6.0, -8.0], [0.0, 10.0]])
PLANE_SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


def ends(found: Sequence[Late]) -> NDArray:
    """The norms in (8) and (9) at the ends of flows, (k, 2)."""
    return np.array([each.distances[-1] for each in found])


def slope(each: Late) -> float:
    """d log(distance of (8)) / d log log(1/L), fitted from log(1/L) = 1e4 on."""
    kept = each.tau >= _FIT_FROM
    return float(np.polyfit(np.log(each.tau[kept]), np.log(each.distances[kept, 0]), 1)[0])


def slopes(found: Sequence[Late]) -> NDArray:
    """The fitted rates of flows, (k,); NaN where the limit is reached to rounding."""
    return np.array([slope(e) if e.distances[-1, 0] > 1e-9 else np.nan for e in found])


def rate(found: Sequence[Late]) -> Evidence:
    """The mean fitted rate with its interval, as a note."""
    kept = slopes(found)
    kept = kept[np.isfinite(kept)]
    low, high = student_interval(kept) if len(kept) > 1 else (np.nan, np.nan)
    what = "d log(distance) / d log log(1/L), fitted from log(1/L) = 1e4: mean, 95 % interval"
    return note(what, (float(kept.mean()), float(low), float(high)), digits=2)


def directions_converge(survey: Survey) -> list[Evidence]:
    """os.thm1.W: |W/|W|_F - (u w_+^T + z w_-^T)|_F -> 0 (eq 8), with |u| and |z| of
    the closed form and only their directions fitted."""
    far = ends(survey.found)[:, 0]
    return [
        bound("largest distance of (8) where L = e^(-1e6)", float(far.max()), "<=", NEAR, "",
              digits=2),
        fact(f"flows whose distance does not fall to {_PART:g} of itself from log(1/L) = "
             f"{_EARLY:g} to 1e6", sum(not _falls(each, 0) for each in survey.found), 0,
             tried=len(far)),
        rate(survey.found),
        *survey.followed,
    ]  # fmt: skip


def outer_weights_converge(survey: Survey) -> list[Evidence]:
    """os.thm1.a: |a/|a| - (u |w_+| - z |w_-|)| -> 0 (eq 9), with the u and z of (8)."""
    return [
        bound("largest distance of (9) where L = e^(-1e6)", float(ends(survey.found)[:, 1].max()),
              "<=", NEAR, "", digits=2),
        fact("neurons of a group whose a_j has the other sign",
             sum(_wrong_signs(each) for each in survey.found), 0),
        *survey.followed,
    ]  # fmt: skip


def _falls(each: Late, which: int) -> bool:
    """Whether a distance falls to _PART of itself from log(1/L) = _EARLY to 1e6, or to 1e-9: a rate
    of 1 / sqrt(log(1/L)) would take it to a 31st."""
    early = np.interp(np.log10(_EARLY), np.log10(each.tau), each.distances[:, which])
    return bool(each.distances[-1, which] <= max(_PART * early, 1e-9))


def _wrong_signs(each: Late) -> int:
    """Neurons that grow, and point away from the vector of their sign."""
    count = 0
    for sign, w in each.limit.vectors.items():
        count += int(np.sum(each.U[-1, each.own(sign)] @ w <= 0.0))
    return count


def function_gap(each: Late, points: NDArray) -> float:
    """max |f / |theta|^2 - (10)| over points (m, d), over the size of (10) there."""
    R = each.R[-1]
    square = 2.0 * np.exp(2.0 * (R - R.max())).sum()
    units = np.maximum(points @ each.U[-1].T, 0.0)
    f = units @ (each.given.signs * np.exp(2.0 * (R - R.max()))) / square
    goal = each.limit.function(points)
    return float(np.abs(f - goal).max() / np.abs(goal).max())


def functions_converge(survey: Survey, seed: int, points: int = 200) -> list[Evidence]:
    """os.cor1: f / |theta|^2 -> u rho(w_+.x) - z rho(w_-.x) (eq 10), both constants 1 / (2 s)."""
    rng = np.random.default_rng(seed)
    gaps = [function_gap(each, rng.standard_normal((points, each.given.X.shape[1])))
            for each in survey.found]  # fmt: skip
    return [
        bound("largest relative distance from (10) at random points, where L = e^(-1e6)",
              max(gaps), "<=", NEAR, "", digits=2),
        *survey.followed,
    ]  # fmt: skip


def two_neurons(goal: Limit, points: NDArray) -> NDArray:
    """f / |theta|^2 (m,) of the pruned network: neurons w_+ / |w_+|^(1/2) and w_- / |w_-|^(1/2)."""
    f, square = np.zeros(len(points)), 0.0
    for sign, w in goal.vectors.items():
        size = np.sqrt(np.linalg.norm(w))
        f += sign * size * np.maximum(points @ (w / size), 0.0)
        square += 2.0 * size**2
    return f / square


def two_neurons_suffice(survey: Survey, seed: int) -> list[Evidence]:
    """os.prune: one neuron along w_+ and one along w_- have the same f / |theta|^2 as the limit."""
    rng = np.random.default_rng(seed)
    gaps = []
    for each in survey.found:
        points = rng.standard_normal((100, each.given.X.shape[1]))
        off = np.abs(two_neurons(each.limit, points) - each.limit.function(points)).max()
        gaps.append(float(off / each.limit.constant))
    ranks = [_third_singular_value(each) for each in survey.found]
    return [
        deviation("two neurons against (10) at random points, relatively", max(gaps), ""),
        bound("largest third singular value of W, over the first, where L = e^(-1e6)", max(ranks),
              "<=", NEAR, "", digits=2),
        *functions_converge(survey, seed),
    ]  # fmt: skip


def _third_singular_value(each: Late) -> float:
    values = np.linalg.svd(np.exp(each.R[-1] - each.R[-1].max())[:, None] * each.U[-1],
                           compute_uv=False)  # fmt: skip
    return float(values[2] / values[0]) if len(values) > 2 else 0.0


def span_can_go(few: Survey, spanning: Survey) -> list[Evidence]:
    """os.assumptions.4: without (Span) the limit is the same; it is reached like
    1 / sqrt(log(1/L)), not like 1 / log(1/L)."""
    far = ends(few.found)
    return [
        bound("largest distance of (8) where L = e^(-1e6), support examples that do not span",
              float(far[:, 0].max()), "<=", NEAR, "", digits=2),
        bound("largest distance of (9)", float(far[:, 1].max()), "<=", NEAR, "", digits=2),
        rate(few.found),
        note("the mean for support examples that span",
             float(np.nanmean(slopes(spanning.found))), digits=2),
        *few.followed,
    ]  # fmt: skip


def replayed(survey: Survey) -> dict[str, Draw]:
    """Draws that give the flows of a survey again, in their order."""
    items = iter(survey.found)
    return {"flows": lambda _: {"flow": next(items)}}


def spoiled(
    survey: Survey, spoken_of: Callable[[Late], bool] = lambda late: True
) -> Instance | None:
    """The first flow of a survey of which a statement speaks, with a planted factor."""
    found = filter(spoken_of, survey.found)
    return next(({"flow": late, PLANTED: 1e6} for late in found), None)


def separable(item: Instance) -> bool:
    """(OS), with data of both labels."""
    given = item["flow"].given
    both = len(set(given.y.tolist())) == 2
    return both and not len(violations(given.X, given.y, strict=False)) and _acute(given)


def _acute(given: Start) -> bool:
    same = np.equal.outer(given.y, given.y)
    return bool(np.all((given.X @ given.X.T)[same] > 0.0))


def balanced(item: Instance) -> bool:
    """(Loss), and a start with |a_j| = |w_j| > 0: what the chart of a flow can hold at all."""
    given = item["flow"].given
    return given.loss is LOGISTIC and bool(np.isfinite(given.log_norms).all())


def both_alive(item: Instance) -> bool:
    """At the end a neuron of either sign is active on a datum of its label."""
    late = item["flow"]
    return all(len(late.own(sign)) for sign in (1.0, -1.0))


def every_start(survey: Survey) -> Statement:
    """os.ours.start: from every balanced start that leaves both labels a neuron the limit is that
    of Theorem 1, with the closed form's constants, whether support examples span or not. The slack
    is what FAR leaves of the distances of (8) and (9) where L = e^(-1e6), and -1 where that of (8)
    does not fall to a tenth from log(1/L) = 1e3 on."""

    def slack(item: Instance) -> float:
        late = item["flow"]
        far = planted(item) * float(late.distances[-1].max())
        return FAR - far if _falls(late, 0) else -1.0

    tests = given("os.ours.start", data=separable, flow=balanced, alive=both_alive)
    return Statement("the distances of (8) and (9) fall towards 0", replayed(survey), slack, tests,
                     witness=spoiled(survey))  # fmt: skip


def of_every_start(survey: Survey) -> list[Evidence]:
    """How near the flows of `every_start` come, and what is not drawn."""
    far = ends(survey.found)
    return [
        note("largest distance of (8), and of (9), where L = e^(-1e6)",
             (float(far[:, 0].max()), float(far[:, 1].max())), digits=1),
        note("norms of the neurons at the start, up to",
             round(float(np.exp(max(e.given.log_norms.max() for e in survey.found)))), digits=None),
        DRAWN_ANEW,
        *survey.kept,
    ]  # fmt: skip


def large_start() -> Start:
    """Data of whole numbers in the plane that satisfy (OS) and (Span), four neurons of norm 10, one
    of either sign active on the wrong label alone."""
    sizes = np.log(np.linalg.norm(PLANE_NEURONS, axis=1))
    return Start(PLANE, PLANE_LABELS, PLANE_NEURONS, sizes, PLANE_SIGNS)


def near_zero_is_needed(survey: Survey) -> list[Evidence]:
    """os.assumptions.1: starts that are not near zero stay away from (8), as the claim asks."""
    return [
        bound("largest distance of (8) where L = e^(-1e6), over the flows drawn from starts of "
              "norm 1/2 and more",
              float(max(each.distances[-1, 0] for each in survey.found
                        if each.given.log_norms.max() > np.log(0.5))), ">=", FAR, "", digits=2),
        note("balanced starts that leave a neuron alive and end elsewhere", "none: os.ours.start"),
        *survey.followed,
    ]  # fmt: skip


def not_needed() -> Counterexample:
    """The instance: a start of norm 10 that ends at (8)."""
    late = follow(large_start())
    assert late is not None
    left = other_faces(PLANE.astype(int).tolist(), PLANE_LABELS.astype(int).tolist())
    return Counterexample(
        instance={"X": PLANE, "y": PLANE_LABELS, "W(0)": PLANE_NEURONS,
                  "signs of a(0)": PLANE_SIGNS},
        assumptions={
            "(OS)": bool(np.all((PLANE @ PLANE.T) * np.outer(PLANE_LABELS, PLANE_LABELS) >= 0.0)),
            "(Span)": all(bool(np.all(np.abs(PLANE[s == PLANE_LABELS] @ w - 1.0) < 1e-9))
                          for s, w in late.limit.vectors.items()),
            "balanced, and not near zero": bool(late.given.log_norms.min() >= 2.0),
        },
        breaks=(bound("distance of (8) where L = e^(-1e6)", float(late.distances[-1, 0]), ">=", 0.1,
                      "", digits=2),
                note("the same where L = e^-100, e^(-1e4), e^(-1e6)",
                     tuple(np.interp([2.0, 4.0, 6.0], np.log10(late.tau), late.distances[:, 0])),
                     digits=1)),
        recheck=(fact("a neuron of a KKT point of (77) can have another pattern than in (8)",
                      left > 0, True),),
        route="every face of the arrangement of these data tried in whole numbers: which ones can "
              "hold a neuron of a KKT point, to which every flow converges (no flow computed)",
    )  # fmt: skip


SIGNS_FIRST = Reading(
    "the signs of a_j(0) are chosen before the directions are drawn, and the printed probability "
    "is a lower bound, as in the proof",
    "If a_j(0) may be chosen after w_j(0) is seen, all neurons may die with a probability up to "
    "(3/4)^p in the plane, not 2^-p, and W then stays small; see the claim on the probability. "
    "Read as an equality the probability is wrong for most data: where no half-plane holds the "
    "data of a plane no neuron dies, and it is 1.",
)
"""How os.thm1.W, os.thm1.a and os.cor1 are read."""
