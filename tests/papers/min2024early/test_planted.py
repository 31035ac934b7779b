"""A planted input for each claim of the paper that is settled without a Statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pandas as pd
import sympy
from numpy.typing import NDArray
from papers.faults import but, judged, sees, where
from reluflow.ledger import Evidence
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early import (
    alignment,
    cones,
    convergence,
    inclusions,
    lemmas,
    mnist,
    own_data,
    setting,
    theorem_1,
    toys,
)

Faults = Iterator[tuple[str, Sequence[Evidence]]]
"""How the evidence that must fail begins, and the evidence of an input in which it is wrong."""


def each_is_seen(id: str, faults: Callable[[], Faults]) -> list[Evidence]:
    """What fails, of each of the faults; AssertionError for one that is not seen."""
    seen = list[Evidence]()
    for k, (what, evidence) in enumerate(faults()):
        found = [item for item in judged(id, evidence) if item.what.startswith(what)]
        failed = [item for item in found if item.decides and not item.holds]
        assert failed, f"{id}: fault {k}, that of {what!r}, is not seen: {found}"
        seen += failed
    return seen


def put(values: NDArray, where: Any, value: Any) -> NDArray:
    """A copy with other values there."""
    changed = np.array(values)
    changed[where] = value
    return changed


def put_row(found: pd.DataFrame, row: int, **cells: Any) -> pd.DataFrame:
    """A copy with other cells in one row."""
    changed = found.astype(dict.fromkeys(cells, object))
    for name, value in cells.items():
        changed.iloc[row, changed.columns.get_loc(name)] = value
    return changed.infer_objects()


def at_call(function: Callable, number: int, change: Callable[[Any], Any]) -> Callable:
    """The same function, but for the result of one of its calls."""
    calls = iter(range(10**9))

    def called(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        return change(result) if next(calls) == number else result

    return called


# --- Records of the MNIST figures -----------------------------------------------------------------


@cache
def records() -> dict[str, mnist.Record]:
    return {name: mnist.load(name) for name in mnist.FIGURES}


def curves(name: str, **changed: NDArray) -> mnist.Record:
    """A record with other curves."""
    return replace(records()[name], curves=records()[name].curves.assign(**changed))


def data(name: str, **changed: Any) -> dict[str, mnist.Record]:
    """All records, one of them with other facts of its data."""
    kept = records()[name]
    facts = kept.facts | {"data": kept.facts["data"] | changed}
    return records() | {name: replace(kept, facts=facts)}


def likeness(name: str, side: str, digit: int) -> mnist.Record:
    """A record in which another digit's mean is a little nearer to a mean neuron."""
    kept = records()[name]
    cosines = kept.facts["cosines"]
    nearer = put(cosines[side], digit, max(cosines[side]) + 1e-6).tolist()
    return replace(kept, facts=kept.facts | {"cosines": cosines | {side: nearer}})


DIGITS = (("figure-5", "1 and 0", 1.1), ("figure-10", "3 and 8", 2.0),
          ("figure-11", "1 and 7", 2.0))  # fmt: skip
"""Each figure's digits, and what its stable rank must stay below."""


def right_signs() -> Faults:
    shares = records()["figure-5"].facts["data"]["shares"]
    yield "share of all", mnist.right_signs(data("figure-5", shares=shares | {"equal_right": 0}))


def centring() -> Faults:
    for name, digits, _ in DIGITS:
        yield f"{digits}: least product", mnist.centring(data(name, least_before=-1))


def antipodal() -> Faults:
    for name, digits, most in DIGITS:
        yield f"{digits}: n (x₊", mnist.antipodal(data(name, left_over=1))
        wide = curves(name, stable_rank=put(records()[name].curves.stable_rank, -1, most))
        yield f"{digits}: stable rank", mnist.antipodal(records() | {name: wide})


def begins_and_drops(name: str, judge: Callable[..., Sequence[Evidence]]) -> Faults:
    """One neuron that is not orthogonal at the start; a mean neuron that stays as well aligned."""
    for side, sign in (("plus", "x₊"), ("minus", "x₋")):
        mean, least = (records()[name].curves[f"{side}{of}"] for of in ("", "_least"))
        yield "largest cosine", judge(curves(name, **{f"{side}_least": put(least, 0, -0.201)}), [])
        kept_up = curves(name, **{side: put(mean, -1, mean.max() - 0.0099)})
        yield f"drop of the mean neuron's cosine to {sign}", judge(kept_up, [])


def grows(name: str, judge: Callable[[mnist.Record], Sequence[Evidence]]) -> Faults:
    """A norm that ends where it began to grow; a loss, or a norm, that turns once."""
    kept = records()[name].curves
    falls = np.searchsorted(kept.step, mnist.fallen(kept, 0.1))
    for what, curve, at in (
        ("‖W‖₂² where a tenth", "spectral", -1),
        ("both the loss and", "loss", falls + 1),
        ("both the loss and", "spectral", falls + 1),
    ):
        values = kept[curve]
        yield what, judge(curves(name, **{curve: put(values, at, values[falls])}))


def aligns() -> Faults:
    name, kept = "figure-5", records()["figure-5"].curves
    judge = partial(mnist.aligns, starts=[{"aligned": 2000.0, "falls": 3000.0}])
    yield from begins_and_drops(name, lambda record, _: judge(record))
    both = {least: put(kept[least], kept.step >= 1450, 0.95)
            for least in ("plus_least", "minus_least")}  # fmt: skip
    yield "first step at which all", judge(curves(name, **both))
    slow = np.where(kept.step < 2550, np.minimum(kept.plus_least, 0.89), kept.plus_least)
    yield "the same", judge(curves(name, plus_least=slow))
    fallen = put(kept.loss, kept.step == mnist.aligned(kept, 0.9), 0.9 * kept.loss[0])
    yield "all are aligned before", judge(curves(name, loss=fallen))


def falls() -> Faults:
    name, kept = "figure-5", records()["figure-5"].curves
    early = np.where(kept.step >= 2450, np.minimum(kept.loss, 0.9), kept.loss)
    yield "first step at which a tenth", mnist.falls(curves(name, loss=early))
    yield "the same", mnist.falls(curves(name, loss=put(kept.loss, kept.step < 3550, 1.0)))
    yield from grows(name, mnist.falls)
    wide = put(kept.stable_rank, -1, 1.11)
    yield "stable rank", mnist.falls(curves(name, stable_rank=wide))


def looks(name: str, judge: Callable[[mnist.Record], Sequence[Evidence]]) -> Faults:
    for side, sign, digit in (("w_plus", "w₊", 9), ("w_minus", "w₋", 2)):
        yield f"of all ten digits' means the nearest to {sign}", judge(likeness(name, side, digit))


def alike(name: str) -> Faults:
    kept, judge = records()[name].curves, partial(mnist.alike, starts=[])
    yield from begins_and_drops(name, mnist.alike)
    yield from grows(name, judge)
    yield from looks(name, judge)
    raised = np.where(kept.step < mnist.fallen(kept, 0.1), np.minimum(kept.plus_least, 0.89),
                      np.maximum(kept.plus_least, 0.9))  # fmt: skip
    yield "first step at which all", judge(curves(name, plus_least=raised))
    yield "stable rank", judge(curves(name, stable_rank=put(kept.stable_rank, -1, 2.0)))


def two_phases() -> Faults:
    both = mnist.load_phases("figure-12")
    for what, changed in (
        ("epochs at which only",
         {"norms": np.where(both.epoch < 300, -0.0101 * both.norms.max(), both.norms)}),
        ("the loss over its start", {"loss": put(both.loss, 290, 0.899 * both.loss[0])}),
        ("epoch of the largest",
         {"norms": put(both.norms, [291, 292], [1.01 * both.norms.max(), 0.0]),
          "directions": put(both.directions, 292, both.directions[1:].max())}),
        ("sum of |wⱼ|²", {"squares": put(both.squares, -1, both.squares[0])}),
        ("loss at the end", {"loss": put(both.loss, -1, 0.101)}),
    ):  # fmt: skip
        yield what, mnist.two_phases(both.assign(**changed))


def one_phase() -> Faults:
    first = mnist.load_phases("figure-13")
    norms = put(first.norms, 700, -0.0099 * np.abs(first.norms[1:]).max())
    turns = put(first.directions, 700, 0.101 * first.directions[1:].max())
    yield "epochs at whose end", mnist.one_phase(first.assign(norms=norms, directions=turns))
    yield "loss at the end", mnist.one_phase(first.assign(loss=put(first.loss, -1, 0.101)))


# --- Ensembles in the plane -----------------------------------------------------------------------

STARTS, NEURONS = 20, 8
KNOTS = np.array([0.0, toys.EARLY, toys.LATE])


def gathered(data: toys.Data) -> toys.Ensemble:
    """A run that ends as the figures say: half of the neurons along x_+ with v > 0, the others
    along x_- with v < 0, or dead where there is no such datum. Norms grow from 1e-3 to 1, and the
    loss has not begun to fall at the second of three looks and is down to 0.01 at the last."""
    X, y = data
    plus, minus = (X[y == sign].sum(axis=0) for sign in (1.0, -1.0))
    W = np.repeat([plus, minus if minus.any() else -plus], NEURONS // 2, axis=0)
    sizes = np.array([1e-3, 1e-3, 1.0])[:, None, None, None]
    v = np.repeat([1.0, -1.0], NEURONS // 2)
    shape = len(KNOTS), STARTS, NEURONS
    loss = np.array([1.0, 1.0, 0.01])[:, None] * np.ones(STARTS)
    return toys.Ensemble(
        KNOTS, sizes * np.broadcast_to(W, (*shape, 2)), np.broadcast_to(v, shape), KNOTS, loss
    )


def moved(run: toys.Ensemble, where: Any, w: Sequence[float]) -> toys.Ensemble:
    """The same run with other weights of some neurons at some looks."""
    return replace(run, W=put(run.W, where, w))


def edge(data: toys.Data, cosine: float = 0.0) -> NDArray:
    """A vector at this cosine from x_+; with 0, which is no datum's boundary, outside of S_+."""
    plus = data[0][data[1] > 0].sum(axis=0)
    across = np.array([plus[1], -plus[0]])
    return cosine * plus + (1.0 - cosine**2) ** 0.5 * across


def all_in_their_cones() -> Faults:
    runs = {name: gathered(each) for name, each in toys.FIGURE_6.items()}
    first, judge = toys.ALIKE[0], toys.all_in_their_cones
    astray, slanted = dict(runs), dict(runs)
    for name in toys.ALIKE:
        place = edge(toys.FIGURE_6[name])
        astray[name] = moved(runs[name], np.s_[1, :15, 0], place)
        slanted[name] = moved(runs[name], np.s_[1, :, 0], edge(toys.FIGURE_6[name], 0.985))
    yield "share of starts", judge(astray, astray[first])
    yield "share of the neurons", judge(slanted, runs[first])
    other = moved(runs[first], np.s_[2, :5, 0], edge(toys.FIGURE_6[first]))
    yield "share of neurons that the flow", judge(runs, other)


def two_sharp_falls() -> Faults:
    def falling(*falls: int) -> NDArray:
        """A loss curve (1000, 1) with falls at these places."""
        t = np.arange(1000.0)[:, None]
        return np.sum([1.0 / (1.0 + np.exp((t - at) / 20.0)) for at in falls], axis=0)

    twice = np.tile(falling(300, 700), STARTS)
    unequal, found = (
        {name: replace(gathered(each), loss=twice) for name, each in sets.items()}
        for sets in (toys.UNEQUAL, toys.FIGURE_6)
    )
    apart = [name for name, each in toys.FIGURE_6.items() if toys.ratio_of_sums(each) >= 1.4]
    for wrong in ([300], [200, 500, 800]):
        other = replace(found[apart[0]], loss=put(twice, np.s_[:, :18], falling(*wrong)))
        yield "share of starts", toys.two_sharp_falls(found | {apart[0]: other}, unequal)


def few_directions() -> Faults:
    runs = {name: gathered(each) for name, each in toys.FIGURE_6.items()}
    name, judge = toys.ALIKE[2], toys.few_directions
    c, d, ends = np.cos(np.radians(1.01)), np.sin(np.radians(1.01)), runs[name].W[2, 7]
    turned = ends[0] @ np.array([[c, -d], [d, c]])
    yield "widest angle", judge(runs | {name: moved(runs[name], np.s_[2, 7, 0], turned)})
    left = replace(runs[name], loss=put(runs[name].loss, (2, 7), 0.051))
    yield "what is left", judge(runs | {name: left})


def all_arrive_and_grow() -> Faults:
    run, judge = gathered(toys.FIGURE_7), toys.all_arrive_and_grow
    for what, k in (("no live neuron is", 1), ("none is", 2)):
        astray = moved(run, np.s_[k, :9, 0], edge(toys.FIGURE_7))
        yield f"share of starts in which {what}", judge(astray)
    slanted = moved(run, np.s_[1, ::2, 0], edge(toys.FIGURE_7, 0.98))
    yield "share of the neurons in S₊", judge(slanted)
    small = moved(run, np.s_[2, ::2, 0], 99e-3 * run.W[2, 0, 0])
    yield "share of them that grow", judge(small)


def outside(starts: int, each: int = 1) -> toys.Ensemble:
    """`gathered` of the data of Figure 8 with `each` neurons along x_1, outside S_+, in the first
    of its starts."""
    return moved(gathered(toys.FIGURE_8), np.s_[1:, :starts, :each], [1.0, -1e-2])


def slower_when_nearly_orthogonal() -> Faults:
    near, judge = gathered(toys.FIGURE_7), toys.slower_when_nearly_orthogonal
    late = moved(near, np.s_[1, :9, 0], edge(toys.FIGURE_7))
    yield "share of starts", judge(late, outside(STARTS))
    yield "share of starts", judge(near, outside(11, 2))
    slanted = moved(outside(STARTS), np.s_[1, :3, 0], [1.0, -0.2])
    yield "share of those outside", judge(near, slanted)
    law = toys.WIDTH * STARTS * toys.chance_astray_after(toys.EARLY, 0.5 * toys.STEP, 0.001)
    yield "their number against the law", judge(near, outside(int(law - 4.01 * law**0.5)))


def left_behind() -> Faults:
    yield "share of starts", toys.left_behind(outside(2))
    for run in (outside(3), outside(STARTS, 4)):
        yield "number of these neurons", toys.left_behind(run)


def where_each_ends() -> Faults:
    run = toys.flow(toys.FIGURE_9, 0, 4, np.arange(0, toys.LATE + 1, 1000))
    judge = toys.where_each_ends
    (_, v0), (W, v) = run.at(0), run.at(toys.LATE)
    alone = tuple(np.argwhere((v0 > 0) & (toys.group(W, v) == 0))[0])
    yield "neurons with vⱼ > 0", judge(moved(run, (-1, *alone), [1.0, 1.0]))
    turned = np.argwhere((v0 < 0) & (toys.group(W, v) < 0))[:1]
    wrong = replace(run, v=put(run.v, (-1, *turned.T), 1.0), W=put(run.W, (-1, *turned.T), 1.0))
    yield "share of the neurons with vⱼ < 0", judge(wrong)
    mine = np.argwhere(toys.group(*toys.as_the_loss_begins_to_fall(run)) == 0)
    yield "share of the live ones", judge(moved(run, (slice(None), *mine.T), [0.9, -0.2]))


def who_fits() -> Faults:
    part = moved(gathered(toys.FIGURE_9), np.s_[2, 7, 0], [1.0, -1.0])
    weak = replace(part, v=put(part.v, (2, 7, 0), 0.18))  # 0.06 of an output of one start
    fewer = moved(weak, np.s_[2, 9:, 1], [-1.0, 1e-9])
    found = toys.who_fits(fewer, gathered(toys.FIGURE_7))
    yield "least share of an output", found
    yield "share of starts", found


def start_decides() -> Faults:
    for what, ends in (("neurons that end", True), ("neurons that started", False)):
        at = lambda X, y, W, _, ends=ends: np.full(W.shape[:2], ends)  # noqa: E731
        yield what, where(partial(toys.start_decides, 0, 2), toys, serves=at)


# --- Trajectories of Theorem 1 --------------------------------------------------------------------


@cache
def followed() -> tuple[convergence.Whole, convergence.Whole]:
    """Two trajectories: of four data in the plane, and of one datum a label."""
    X = np.array([[2.0, 0.0], [2.0, 1.0], [-1.0, -1.0], [-1.0, -3.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    W0 = np.array([[1.0, 0.2], [-1.0, -2.0], [1.0, 1.0], [-2.0, -1.0]])
    four = convergence.Start(X, y, W0, np.array([1.0, -1.0, 1.0, -1.0]), EXPONENTIAL, -2000.0)
    first, last = (
        convergence.follow(four, t_1=5.0),
        convergence.follow(convergence.one_against(1)),
    )
    assert first is not None
    assert last is not None
    return first, last


def survey(**changed: Any) -> convergence.Survey:
    """Both trajectories, and the first once more, with other moments or times, between them."""
    each, last = followed()
    other = replace(each)
    other.__dict__.update({"waiting": each.waiting, "falling": each.falling} | changed)
    return convergence.Survey([each, other, last], 0, 0)


def at_moment(name: str, k: int, **arrays: Any) -> dict[str, convergence.Moments]:
    """Moments of the first trajectory with other neurons at one of them."""
    moments = getattr(followed()[0], name)
    other = {key: put(getattr(moments, key), k, value) for key, value in arrays.items()}
    return {name: replace(moments, **other)}


ONLY = convergence.OnlyLate(13.0, 15.0, 0.0, 1.0, 99.0)
LATE = convergence.LateNeuron(15.0, 1.0)


LOST = "trajectories that meet"


def lost() -> convergence.Survey:
    return replace(survey(), lost=1)


def falls_in_time() -> Faults:
    each, judge = followed()[0], partial(convergence.falls_in_time, only=ONLY)
    for sign, bound in each.bounds.items():
        yield "times t_2 of either label", judge(survey(t_2=each.t_2 | {sign: 1.001 * bound}))
        yield "times t_2 before t_1", judge(survey(t_2=each.t_2 | {sign: 0.999 * each.t_1}))
    yield LOST, judge(lost())


def exact_order_of_the_data() -> Faults:
    each, judge = followed()[0], convergence.exact_order_of_the_data
    room = setting.horizon(each.given.data, len(each.given.W0), each.given.log_eps)
    yield "least t₂", judge(survey(t_2={1.0: 0.98 * room, -1.0: 0.5 * room}))
    above = 1.001 * max(each.bounds.values())
    yield "trajectories with t₂ above", judge(survey(t_2=each.t_2 | {-1.0: above}))
    yield LOST, judge(lost())


def classified() -> Faults:
    judge = partial(convergence.classified, late=LATE)
    for name, k in (("waiting", 0), ("waiting", 50), ("falling", -1)):
        U = put(getattr(followed()[0], name).U[k], slice(0, None, 2), [0.0, 1.0])
        yield "trajectories that classify", judge(survey(**at_moment(name, k, U=U)))
    yield LOST, judge(lost())


def nearly_two() -> Faults:
    """Neurons in three directions at one moment, all alike but a little."""
    moments, (e1, e2, e3) = followed()[0].falling, np.eye(3)
    U = np.concatenate([moments.U, np.zeros((*moments.R.shape, 1))], axis=-1)
    other = replace(moments, U=put(U, 50, [e1, e2, e3, e1]),
                    R=put(moments.R, 50, [-1e-8, 0.0, 0.0, 0.0]))  # fmt: skip
    yield "trajectories on which", convergence.nearly_two(survey(falling=other))
    yield LOST, convergence.nearly_two(lost())


def at_most_two() -> Faults:
    judge, last = convergence.at_most_two, followed()[0].falling
    wide = replace(last, U=np.eye(4)[None].repeat(len(last.R), 0), R=0.0 * last.R)
    yield "largest stable rank", judge(survey(falling=wide))
    line = np.tile([1.0, 0.0], (4, 1))
    yield "largest relative deviation", judge(survey(**at_moment("falling", -1, U=line)))
    yield LOST, judge(lost())


def shrinks_little() -> Faults:
    judge, each = convergence.shrinks_little, followed()[0]
    rate = 4.0 * each.given.data.n * each.given.data.X_max * each.t_1
    began = each.given.log_eps + np.log(np.linalg.norm(each.given.W0, axis=1))
    own = each.own(1.0)
    R = put(each.waiting.R[0], own, began[own] - 0.5005 * rate)
    yield "groups that shrink", judge(survey(**at_moment("waiting", 0, R=R)))
    yield LOST, judge(lost())


def grows_from_t_1() -> Faults:
    """Moments reversed in time, a sum that falls for a moment, neurons turned round."""
    waiting = followed()[0].waiting
    dip = np.vstack([waiting.R[:1], waiting.R[:1] - 6e-4, waiting.R[2:]])
    for what, changed in (
        ("groups whose sum", {"R": waiting.R[::-1]}), ("groups whose sum", {"R": dip}),
        ("groups with a neuron", {"U": -waiting.U}),
    ):  # fmt: skip
        yield what, convergence.grows_from_t_1(survey(waiting=replace(waiting, **changed)), LATE)
    yield LOST, convergence.grows_from_t_1(lost(), LATE)


def aligned(power: float, size: float = 1.0, shift: float = 0.0) -> convergence.Best:
    """Angles that fall to size eps^power, least where the last of three moments is."""
    scales = np.array(convergence.SCALES)
    curves = np.array([3.0, 2.0, 1.0]) * size * np.exp(power * scales)[:, None]
    return convergence.Best(scales, np.array([0.3, 0.6, 1.0]), curves, 0.9 + shift, 0.9)


def aligns_until_the_fall() -> Faults:
    good, judge = aligned(2.0 / 3.0), convergence.aligns_until_the_fall
    for what, other in (
        ("largest angle", aligned(2.0 / 3.0, 0.0101 * np.exp(32.0 / 3.0))),
        ("least power", aligned(0.616)),
        ("largest power", aligned(0.717)),
        ("cos(w, x₊)", aligned(2.0 / 3.0, shift=0.0101)),
    ):
        yield what, judge([good, other, good])


def exact_order() -> Faults:
    """The laws of t_2, where nothing is integrated: what is measured of a flow is given."""
    log_eps = convergence.one_against(9).log_eps
    first, last = followed()
    slow = convergence.gap_of(last)

    def judge(
        change: float = 0.0, line: float = 0.0, far: Any = slow, outside: int = 0
    ) -> list[Evidence]:
        """`gap` of a start, which changes so, of nine data against one, and of the late one."""

        def gap(given: Any, at: float, rtol: float = 0.0, t_1: Any = None) -> NDArray | None:
            if t_1 is not None:
                return far
            if len(given.y) == 10:
                return np.array([0.0, log_eps + convergence.fall_on_a_line(1, log_eps) + line])
            return convergence.gap_of(first) + np.array([change, 0.0])

        early, late = convergence.Survey([first], 0, 0), convergence.Survey([last], outside, 0)
        return where(partial(convergence.exact_order, early, late), convergence, gap=gap)

    yield "of 4 values", judge(change=0.0501)
    yield "of 4 values", judge(far=None)
    yield "of 4 values", judge(far=slow + np.array([0.0, 0.0501]))
    for line in (0.0501, -0.0501):
        yield "for nine data", judge(line=line)
    yield "of these, late starts", judge(outside=1)


# --- Flows and lemmas -----------------------------------------------------------------------------


def signs_stay() -> Faults:
    judge, starts = lemmas.signs_stay, list(lemmas.balanced_starts(0, 6))
    kind, loss, X, y, theta = starts[5]
    h = len(theta) // (X.shape[1] + 1)
    starts[5] = kind, loss, X, y, put(theta, -h, 0.5 * theta[-h])  # not balanced
    with patch.object(lemmas, "balanced_starts", lambda *_: starts):
        yield "flows along which an output", judge(lemmas.drifts(0, 6))
    found = lemmas.drifts(0, 6)
    yield "flows along which |vⱼ|", judge(put_row(found, 3, above=-1.01e-4))


def passing(loss: Any, which: int, at: float, ratio: float) -> pd.DataFrame:
    """The table of three flows, one of which is over (or at this part of) one bound at one time."""
    times = np.linspace(0.0, 3.0, 31)
    calm = np.full((31, 3), -2.0)
    over = put(calm, (np.isclose(times, at), which), np.log(ratio))
    return lemmas.table(
        [(replace(lemmas.one_neuron(-9.0), loss=one), lemmas.Slack(times, log_ratios, "horizon"))
         for one, log_ratios in ((EXPONENTIAL, calm), (loss, over), (LOGISTIC, calm))]
    )  # fmt: skip


def directions_follow_their_limit() -> Faults:
    judge = lemmas.directions_follow_their_limit
    for loss in (EXPONENTIAL, TWICE_LOGISTIC):
        yield "flows along which", judge(passing(loss, 0, 1.0, 1.0 + 2e-6))
        yield "the largest error", judge(passing(loss, 0, 1.0, 1.001))


def neurons_stay_small() -> Faults:
    judge = lemmas.neurons_stay_small
    for loss, which in ((EXPONENTIAL, 1), (TWICE_LOGISTIC, 2), (LOGISTIC, 1), (LOGISTIC, 2)):
        yield "flows along which |wⱼ|²", judge(passing(loss, which, 1.0, 1.0 + 2e-6))
        yield "flows along which one", judge(passing(loss, which, 1.0, 0.5 * (1.0 + 2e-6)))
        yield "the largest of both", judge(passing(loss, which, 1.0, 1.001))


def twice_as_long() -> Faults:
    judge = lemmas.twice_as_long
    for loss, which in ((EXPONENTIAL, 1), (TWICE_LOGISTIC, 2), (LOGISTIC, 1), (LOGISTIC, 2)):
        yield "of 3 flows", judge(passing(loss, which, 2.0, 1.0 + 2e-6))
    for loss in (EXPONENTIAL, TWICE_LOGISTIC):
        yield "of 2, those", judge(passing(loss, 0, 2.0, 1.0 + 2e-6))
    time = lemmas.passing_time
    with patch.object(lemmas, "passing_time", lambda log_eps: time(0.5 * log_eps)):
        yield "one datum", judge(passing(LOGISTIC, 1, 2.0, 0.1))


def crossed_once() -> Faults:
    found = inclusions.followed(0, 3)
    yield "flows in which", inclusions.crossed_once(put_row(found, 1, most=2), found)
    yield "changes of activity", inclusions.crossed_once(put_row(found, 1, backward=1), found)
    with patch.object(inclusions, "TWICE", inclusions.SEPARATED):
        told = inclusions.crossed_once(found, found)
    yield "without (A1)", told
    yield "and along", told


def solutions_exist() -> Faults:
    far, judge = inclusions.followed(0, 2), inclusions.solutions_exist
    good = inclusions.solved(0, 2)
    for status in ("sliding", "non-unique", "steps"):
        yield "flows that do not go on", judge(put_row(good, 1, status=status), far, far)
        yield "flows that do not go on", judge(good, put_row(far, 1, status=status), far)
    yield "flows in which a dead", judge(put_row(good, 1, revived=True), far, far)
    path = inclusions.Problem.path

    def upward(problem: inclusions.Problem, *args: Any, **options: Any) -> Any:
        """The flow of exchanged labels, of some data."""
        wrong = problem.kind in ("integers", "antiparallel")
        return path(replace(problem, y=-problem.y) if wrong else problem, *args, **options)

    with patch.object(inclusions.Problem, "path", upward):
        told = judge(inclusions.solved(0, 2), far, far)
    yield "largest residual", told
    yield "antiparallel data", told
    for k in range(2):
        larger = at_call(inclusions.residual, k, lambda found: found + 1.01e-5)
        with patch.object(inclusions, "residual", larger):
            yield "the larger residual", judge(good, far, far)


def no_solution() -> Faults:
    told = partial(where, inclusions.no_solution, inclusions)
    quarter, half, one = inclusions.SLOPES
    for what, *slopes in (
        ("ways to leave", quarter, half, Fraction(0)),
        ("their limit", quarter, Fraction(0), one),
        ("s'(0) = 1/2: p after", quarter, Fraction(1, 3), one),
    ):
        yield what, told(SLOPES=tuple(slopes))
    yield "with s'(0) = 0, the ways", told(slopes=leaky(Fraction(1)))


def leaky(leak: Fraction) -> Callable[..., dict[str, Fraction]]:
    """An activation with this slope at negative inputs."""
    slopes = inclusions.slopes
    return lambda at_zero, *_: slopes(at_zero, leak)


def many_solutions() -> Faults:
    judge, velocity, sinh = inclusions.many_solutions, alignment.velocity, sympy.sinh
    told = partial(where, judge, inclusions)
    yield "ways to go on", told(slopes=leaky(Fraction(-1)))
    yield "p = sinh s", where(judge, sympy, sinh=lambda s: sinh(s) + 1)
    moved = lambda p, v, label, _: velocity(p, v, label, 1e-15)  # noqa: E731
    yield "residual of the constant", told(velocity=moved)


# --- The alignment --------------------------------------------------------------------------------


def small_grants_both() -> Faults:
    judge, horizon, allowed = own_data.small_grants_both, setting.horizon, setting.log_eps_allowed

    def drawn(**made: Any) -> pd.DataFrame:
        with patch.multiple(setting, **made):
            return own_data.under_small(0, 4)

    for row, what, time in (
        (4, "flows under the first", "largest t₁"), (5, "the same flows", "the same flows"),
    ):  # fmt: skip
        yield what, judge(drawn(horizon=at_call(horizon, 2 * row, lambda T: 8.0 * T)))
        larger = at_call(allowed, row, lambda log_eps: (1.0 - 4e-9) * log_eps)
        yield time, judge(drawn(log_eps_allowed=larger))
        for share in (1.001, np.nan):
            yield what, judge(put_row(own_data.under_small(0, 4), row, share=share))


def growth_of_the_time() -> Faults:
    slowest, time = theorem_1.slowest, theorem_1.uniform_time
    told = partial(where, theorem_1.growth_of_the_time, theorem_1)
    yield "least growth", told(slowest=at_call(slowest, 7, lambda _: slowest(1e-7, 1e-3)))
    yield "least c", told(uniform_time=lambda mu: time(mu) * (1.0 + 0.25 * (mu < 0.3)))


def figure_15_is_longest() -> Faults:
    paths, longest = alignment.paths, alignment.longest
    slow = ((0, 1), (1, 0), (0, 1), (2, 0))
    long = ((0, 1), (1, 1), (1, 1), (1, 1), (2, 0))
    for path in (slow, long):
        more = at_call(paths, 3, lambda found, path=path: [*found, path])
        with patch.object(alignment, "paths", more):
            yield "pairs (n₊, n₋), n", alignment.figure_15_is_longest(3, 4)
    for what, pair, path in (
        ("pairs with both labels", (2, 1), longest(2, 1)[1:]),
        ("pairs with both labels", (2, 1), (*longest(2, 1)[:-1], (1, 0), (2, 0))),
        ("pairs, 2 ≤ n", (6, 0), ((1, 0),) * 9),
    ):
        other = {pair: path}
        with patch.object(alignment, "longest", lambda *at, o=other: o.get(at) or longest(*at)):
            yield what, alignment.figure_15_is_longest(3, 6)


def cones_are_not_left() -> Faults:
    patterns = setting.patterns

    def leaves(found: Sequence[tuple[float, NDArray]]) -> list[tuple[float, NDArray]]:
        (t, last) = list(found)[-1]
        return [*found, (t, put(last, (slice(None), 3), ~last[:, 3]))]

    with patch.object(setting, "patterns", at_call(lambda path: list(patterns(path)), 1, leaves)):
        found = alignment.logs(0, 3)
    yield "flows of (GF)", alignment.cones_are_not_left(found)


def time_is_reached() -> Faults:
    slowest = theorem_1.slowest
    item = slowest(0.1, 1e-3)
    away = item["X"][item["y"] < 0].sum(axis=0)
    for what, at, other in (
        ("of these neurons", 6, {**item, "w": away}),
        ("|μ of the data", 9, slowest(0.5 * (1.0 + 2e-8), 1e-3)),
        *((f"1 - time / t_* at gap {gap:g}", 6 + k, slowest(0.1, 30.0 * gap))
          for k, gap in enumerate(theorem_1.GAPS)),
    ):  # fmt: skip
        with patch.object(theorem_1, "slowest", at_call(slowest, at, lambda _, other=other: other)):
            yield what, theorem_1.time_is_reached()


def scale_is_enough() -> Faults:
    time = theorem_1.enough_time
    with patch.object(theorem_1, "enough_time", at_call(time, 3, lambda found: 0.01 * found)):
        found = theorem_1.at_our_scale(0, 3)
    yield "of 3 flows", theorem_1.scale_is_enough(found)
    for needed in (1.001 * found["T"].iloc[1], np.inf, np.nan):
        yield "of 3 flows", theorem_1.scale_is_enough(put_row(found, 1, needed=needed))


# --- Gaussian starts ------------------------------------------------------------------------------


def assumption_2_is_sure() -> Faults:
    law, clearance, judge = cones.chance_of_clearance, setting.clearance, cones.assumption_2_is_sure
    for factor in (0.2, 5.0):
        wrong = but(law, lambda *_: True, lambda found, factor=factor: factor * found)
        yield "shares in R²", where(partial(judge, 0, 400), cones, chance_of_clearance=wrong)
    along = at_call(clearance, 15, lambda _: 0.0)
    yield "neurons along", where(partial(judge, 0, 10), setting, clearance=along)
    at = but(clearance, lambda X, *_: X.shape[1] == 1, lambda _: 0.0)
    yield "2⁻ʰ", where(partial(judge, 0, 200), setting, clearance=at)


def half_start_active() -> Faults:
    judge, align, share = cones.half_start_active, cones.align, cones.active_share
    for name in ("plane_share", "space_share"):
        other = at_call(getattr(cones, name), 5, lambda found: 1.2 * found)
        yield "shares that miss", where(partial(judge, 0, 2000, 1), cones, **{name: other})
    for number in (12 + 38, 12 + 39):  # the last of the positive, and of the negative label
        few = at_call(share, number, lambda _: 0.4)
        yield "shares below 1/2", where(partial(judge, 0, 2000, 1), cones, active_share=few)
    for number, what in ((3, "neurons active"), (7, "signs that look")):
        ended = at_call(align, number, lambda found: replace(found, status="astray"))
        yield what, where(partial(judge, 0, 200, 5), cones, align=ended)
    one_sided = lambda rng: Mock(standard_normal=lambda n: np.abs(rng.standard_normal(n)))  # noqa: E731
    other = at_call(np.random.default_rng, 1, one_sided)
    yield "1 − 2⁻³", where(partial(judge, 0, 500, 1), np.random, default_rng=other)


FAULTS: Mapping[str, Callable[[], Faults]] = {
    "ea.asm1.centre": centring, "ea.asm1.mnist": right_signs, "ea.balanced.2": signs_stay,
    "ea.E3": no_solution, "ea.E4": many_solutions, "ea.eq46.2": crossed_once,
    "ea.eq46.3": solutions_exist, "ea.fig5.align": aligns, "ea.fig5.antipodal": antipodal,
    "ea.fig5.loss": falls, "ea.fig5.vis": partial(looks, "figure-5", mnist.image_figures_visible),
    "ea.fig6.1": all_in_their_cones, "ea.fig6.2": two_sharp_falls, "ea.fig6.3": few_directions,
    "ea.fig7": all_arrive_and_grow, "ea.fig8.1": slower_when_nearly_orthogonal,
    "ea.fig8.2": left_behind, "ea.fig9.1": where_each_ends, "ea.fig9.2": who_fits,
    "ea.fig10": partial(alike, "figure-10"), "ea.fig11": partial(alike, "figure-11"),
    "ea.fig12": two_phases, "ea.fig13": one_phase, "ea.lem1": directions_follow_their_limit,
    "ea.lem3": neurons_stay_small, "ea.lem13": shrinks_little, "ea.lem14": grows_from_t_1,
    "ea.orth.compare.1": start_decides, "ea.ours.fall": exact_order,
    "ea.ours.horizon": twice_as_long, "ea.ours.reached": time_is_reached,
    "ea.ours.scale": scale_is_enough, "ea.path": figure_15_is_longest,
    "ea.random-init.1": assumption_2_is_sure, "ea.random-init.2": half_start_active,
    "ea.thm1.classify": classified, "ea.thm1.loss.2": falls_in_time,
    "ea.thm1.loss.3": exact_order_of_the_data, "ea.thm1.rank.1": nearly_two,
    "ea.thm1.rank.2": at_most_two, "ea.thm1.refined.2": aligns_until_the_fall,
    "ea.thm1.t1.constants": small_grants_both, "ea.thm1.t1.scaling": growth_of_the_time,
    "ea.thm1.trap.1": cones_are_not_left,
}  # fmt: skip
PLANTED: dict[str, Callable[[], Iterable[Evidence]]] = {
    id: partial(each_is_seen, id, faults) for id, faults in FAULTS.items()
}

test_a_planted_input_is_seen = sees(PLANTED)
