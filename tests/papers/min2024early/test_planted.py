"""Planted inputs for each claim of the paper that is settled without a Statement.

Each input breaks some of the evidence that decides, and each piece of it is broken by some input.
How far an input is beyond a bar does not matter: the bars are on the pages' cards.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from papers.faults import Found, Planted, at, at_call, but, changed, put, sees, where
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early import (
    alignment,
    cones,
    convergence,
    lemmas,
    mnist,
    own_data,
    setting,
    theorem_1,
    toys,
)


def surveyed(judge, survey, *cells) -> Iterator[Found]:
    """What is said of a survey with other values in its last row."""
    found = survey()
    return (judge(changed(found, **each)) for each in cells)


# --- Records of the MNIST figures -----------------------------------------------------------------

KINDS = ("backwards", "stuck", "hurried", "to and fro")


def wrong_curves(run: pd.DataFrame, kind: str) -> pd.DataFrame:
    """A run that goes backwards in time, stays where it starts, goes ten times as fast, or has a
    loss that rises at every other step."""
    clock, rest = run.columns[0], run.columns[1:]
    if kind == "backwards":
        return run[::-1].reset_index(drop=True).assign(**{clock: run[clock]})
    if kind == "stuck":
        return run.assign(**{name: run[name][0] for name in rest})
    if kind == "hurried":
        return run.assign(**{clock: run[clock] // 10})
    return run.assign(loss=run.loss * (1.0 + 0.5 * (run.index % 2)))


@cache
def wrong(kind: str) -> dict[str, mnist.Record]:
    """The records with such curves; images of one digit that repel each other, grey levels below 0,
    sums that are not opposite, and other digits' means nearest to the mean neurons."""
    made = {}
    for name in mnist.FIGURES:
        kept = mnist.load(name)
        data = kept.facts["data"] | {"least_before": -1, "left_over": 1}
        data["shares"] = data["shares"] | {"equal_right": 0}
        cosines = {side: each[::-1] for side, each in kept.facts["cosines"].items()}
        facts = kept.facts | {"data": data, "cosines": cosines}
        made[name] = replace(kept, curves=wrong_curves(kept.curves, kind), facts=facts)
    return made


def recorded(judge, name="", kinds=KINDS, **given) -> Iterator[Found]:
    """What is said of all wrong records, or of those of one figure."""
    return (judge(wrong(kind)[name] if name else wrong(kind), **given) for kind in kinds)


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


def all_in_their_cones() -> Iterator[Found]:
    runs = {name: gathered(each) for name, each in toys.FIGURE_6.items()}
    first = toys.ALIKE[0]
    for which, cosine in ((np.s_[1, :15, 0], 0.0), (np.s_[1, :, 0], 0.985)):
        off = {name: moved(run, which, edge(toys.FIGURE_6[name], cosine))
               for name, run in runs.items()}  # fmt: skip
        yield toys.all_in_their_cones(off, off[first])
    other = moved(runs[first], np.s_[2, :5, 0], edge(toys.FIGURE_6[first]))
    yield toys.all_in_their_cones(runs, other)


def two_sharp_falls() -> Iterator[Found]:
    once = 1.0 / (1.0 + np.exp((np.arange(1000.0)[:, None] - 300.0) / 20.0)) * np.ones(STARTS)
    unequal, found = (
        {name: replace(gathered(each), loss=once) for name, each in sets.items()}
        for sets in (toys.UNEQUAL, toys.FIGURE_6)
    )
    yield toys.two_sharp_falls(found, unequal)


def few_directions() -> Iterator[Found]:
    runs = {name: gathered(each) for name, each in toys.FIGURE_6.items()}
    name = toys.ALIKE[2]
    turned = moved(runs[name], np.s_[2, 7, 0], edge(toys.FIGURE_6[name], 0.99))
    left = put(turned.loss, (2, 7), 0.051)
    yield toys.few_directions(runs | {name: replace(turned, loss=left)})


def all_arrive_and_grow() -> Iterator[Found]:
    run = gathered(toys.FIGURE_7)
    for which, w in (
        (np.s_[1, :9, 0], edge(toys.FIGURE_7)), (np.s_[2, :9, 0], edge(toys.FIGURE_7)),
        (np.s_[1, ::2, 0], edge(toys.FIGURE_7, 0.98)), (np.s_[2, ::2, 0], 1e-2 * run.W[2, 0, 0]),
    ):  # fmt: skip
        yield toys.all_arrive_and_grow(moved(run, which, w))


def outside(starts: int, each: int = 1, w: Sequence[float] = (1.0, -1e-2)) -> toys.Ensemble:
    """`gathered` of the data of Figure 8 with `each` neurons along x_1, outside S_+, in the first
    of its starts."""
    return moved(gathered(toys.FIGURE_8), np.s_[1:, :starts, :each], w)


def slower_when_nearly_orthogonal() -> Iterator[Found]:
    near, judge = gathered(toys.FIGURE_7), toys.slower_when_nearly_orthogonal
    yield judge(moved(near, np.s_[1, :9, 0], edge(toys.FIGURE_7)), outside(STARTS), outside(STARTS))
    yield judge(near, outside(3, w=(1.0, -0.2)), outside(10))


def left_behind() -> Iterator[Found]:
    yield toys.left_behind(outside(2))
    yield toys.left_behind(outside(STARTS, 4))


def where_each_ends() -> Iterator[Found]:
    run = toys.flow(toys.FIGURE_9, 0, 4, np.arange(0, toys.LATE + 1, 1000))
    (_, v0), (W, v) = run.at(0), run.at(toys.LATE)
    alone = tuple(np.argwhere((v0 > 0) & (toys.group(W, v) == 0))[0])
    turned = np.argwhere((v0 < 0) & (toys.group(W, v) < 0))[:1]
    mine = np.argwhere(toys.group(*toys.as_the_loss_begins_to_fall(run)) == 0)
    other = moved(run, (slice(None), *mine.T), [0.9, -0.2])
    other = moved(other, (-1, *alone), [1.0, 1.0])
    yield toys.where_each_ends(replace(other, v=put(run.v, (-1, *turned.T), 1.0),
                                       W=put(other.W, (-1, *turned.T), 1.0)))  # fmt: skip


def who_fits() -> Iterator[Found]:
    part = moved(gathered(toys.FIGURE_9), np.s_[2, 7, 0], [1.0, -1.0])
    weak = replace(part, v=put(part.v, (2, 7, 0), 0.18))  # 0.06 of an output of one start
    fewer = moved(weak, np.s_[2, 9:, 1], [-1.0, 1e-9])
    yield toys.who_fits(fewer, gathered(toys.FIGURE_7))


# --- Trajectories of Theorem 1 --------------------------------------------------------------------


@cache
def followed() -> tuple[convergence.Trajectory, convergence.Trajectory]:
    """Two trajectories: of four data in the plane, and of one datum a label."""
    X, y = setting.PRINTED["figure-6"].X, setting.PRINTED["figure-6"].y
    W0 = np.array([[1.0, 0.2], [-1.0, -2.0], [1.0, 1.0], [-2.0, -1.0]])
    four = setting.Start(X, y, W0, np.array([1.0, -1.0, 1.0, -1.0]), -2000.0)
    first, last = convergence.follow(four, t_1=5.0), convergence.follow(convergence.one_against(1))
    assert first and last  # noqa: PT018
    return first, last


@cache
def surveys() -> dict[str, convergence.Survey[convergence.Trajectory]]:
    """Both trajectories, and between them the first once more, with something wrong with it; a
    third that is lost."""
    each, last = followed()
    both = {"waiting": each.waiting, "falling": each.falling}

    def survey(lost: int = 0, **changed: Any) -> convergence.Survey[convergence.Trajectory]:
        other = replace(each)
        other.__dict__.update(both | changed)
        found = convergence.Survey([each, other, last])
        found.lost = lost
        return found

    def at_moments(**change: Callable[[NDArray], NDArray]) -> Any:
        """Other directions U, log norms R or times at all moments."""
        return survey(**{
            name: replace(seen, **{key: other(getattr(seen, key)) for key, other in change.items()})
            for name, seen in both.items()
        })  # fmt: skip

    return {
        "late": survey(t_2={1.0: 1e12, -1.0: 1e12}), "early": survey(t_2={1.0: 1.0, -1.0: 1.0}),
        "turned": at_moments(U=np.negative), "shrunk": at_moments(R=lambda R: R - 1e6),
        "backwards": at_moments(R=lambda R: R[::-1]),
        "wide": at_moments(U=lambda U: np.broadcast_to(np.eye(4), (len(U), 4, 4)),
                           R=np.zeros_like),
        "slow": at_moments(log_time=lambda t: t + 100.0), "lost": survey(1),
    }  # fmt: skip


def of_surveys(judge: Callable[..., Found], *names: str) -> Iterator[Found]:
    """What is said of the surveys named, and of the one with a flow that is lost."""
    return (judge(surveys()[name]) for name in (*names, "lost"))


def aligns_until_the_fall() -> Iterator[Found]:
    """Angles that fall like eps^power."""
    scales = np.array(convergence.SCALES)
    for power, end in ((0.1, 0.9), (1.5, 0.0)):
        curves = np.array([3.0, 2.0, 1.0]) * np.exp(power * scales)[:, None]
        times = np.array([0.3, 0.6, 1.0])
        best = convergence.Survey([convergence.Best(scales, times, curves, end, 0.9)])
        best.lost = 1
        yield convergence.aligns_until_the_fall(best)


def exact_order() -> Iterator[Found]:
    """Where nothing is integrated: what is measured of the flow from the tenth power is given, or
    that flow is lost."""
    each = followed()[0]
    told = partial(where, partial(convergence.exact_order, convergence.Survey([each])), convergence)
    other = at_call(convergence.gap, 1, lambda found: found - np.array([0.0501, 0.0]))
    yield told(gap=other, begin=lambda *_: each)
    yield told(begin=Mock(side_effect=convergence.Lost))
    yield told(begin=lambda *_: None)  # two losses have no trajectory


# --- Flows and lemmas -----------------------------------------------------------------------------


def signs_stay() -> Iterator[Found]:
    starts = list(lemmas.balanced_starts(0, 6))
    kind, loss, X, y, theta = starts[5]
    h = len(theta) // (X.shape[1] + 1)
    starts[5] = kind, loss, X, y, put(theta, -h, 0.5 * theta[-h])  # not balanced
    with patch.object(lemmas, "balanced_starts", lambda *_: starts):
        found = lemmas.drifts(0, 6)
    yield lemmas.signs_stay(found)
    yield lemmas.signs_stay(changed(found, above=-1.01e-4, status="stiff"))


def passing(judge: Callable[..., Found], at: float, *losses: Any) -> Iterator[Found]:
    """Of three flows one of these losses is over all bounds at one time, by a thousandth."""
    times = np.linspace(0.0, 3.0, 31)
    calm = np.full((31, 3), -2.0)
    over = put(calm, np.isclose(times, at), np.log(1.001))
    for loss in losses:
        yield judge(lemmas.table([
            (replace(lemmas.one_neuron(-9.0), loss=one), lemmas.Slack(times, ratios, status))
            for one, ratios, status in ((EXPONENTIAL, calm, "horizon"), (loss, over, "sliding"),
                                        (LOGISTIC, calm, "stiff"))
        ]))  # fmt: skip


def twice_as_long() -> Iterator[Found]:
    time = lemmas.passing_time
    with patch.object(lemmas, "passing_time", lambda log_eps: time(0.5 * log_eps)):
        yield from passing(lemmas.twice_as_long, 2.0, EXPONENTIAL, TWICE_LOGISTIC)


def crossed_once() -> Iterator[Found]:
    found = lemmas.across_boundaries(0, 3)
    yield lemmas.crossed_once(changed(found, most=2, backward=1))
    separated = np.array([[3, 0, 0], [1, 0, 1], [1, 5, 5]]), np.ones(3), np.array([1, -4, -2])
    yield where(partial(lemmas.crossed_once, found), lemmas, TWICE=separated)


def solutions_exist() -> Iterator[Found]:
    good, judge = lemmas.across_boundaries(0, 2), lemmas.solutions_exist
    for status in ("sliding", "non-unique", "steps"):
        yield judge(changed(good, status=status, revived=True))
    start = lemmas.ANTIPARALLEL
    yield where(partial(judge, good), lemmas, ANTIPARALLEL=replace(start, y=-start.y))


def leaky(leak: Fraction) -> Callable[..., dict[str, Fraction]]:
    """An activation with this slope at negative inputs."""
    slopes = lemmas.slopes
    return lambda at_zero, *_: slopes(at_zero, leak)


QUARTER, HALF, UNIT = lemmas.SLOPES
SLOPES: Sequence[Mapping[str, Any]] = (
    {"SLOPES": (QUARTER, HALF, Fraction(0))}, {"SLOPES": (QUARTER, Fraction(0), UNIT)},
    {"slopes": leaky(Fraction(1))},
)  # fmt: skip


# --- The alignment --------------------------------------------------------------------------------

SLOWEST, UNIFORM = theorem_1.slowest, theorem_1.uniform_time
GROWTH = at(
    theorem_1.growth_of_the_time, theorem_1,
    {"slowest": at_call(SLOWEST, 7, lambda _: SLOWEST(1e-7, 1e-3))},
    {"uniform_time": lambda mu: UNIFORM(mu) * (1.0 + 0.25 * (mu < 0.3))},
)  # fmt: skip


def figure_15_is_longest() -> Iterator[Found]:
    paths, longest = alignment.paths, alignment.longest
    told = partial(where, partial(alignment.figure_15_is_longest, 3, 6), alignment)
    for path in (((0, 1), (1, 0), (0, 1), (2, 0)), ((0, 1), (1, 1), (1, 1), (1, 1), (2, 0))):
        yield told(paths=at_call(paths, 3, lambda found, path=path: [*found, path]))
    for pair, path in (((2, 1), longest(2, 1)[1:]), ((6, 0), ((1, 0),) * 9)):
        other = {pair: path}
        yield told(longest=lambda *at, other=other: other.get(at) or longest(*at))


def cones_are_not_left() -> Iterator[Found]:
    patterns = setting.patterns

    def leaves(found: Sequence[tuple[float, NDArray]]) -> list[tuple[float, NDArray]]:
        (t, last) = list(found)[-1]
        return [*found, (t, put(last, (slice(None), 3), ~last[:, 3]))]

    other = at_call(lambda path: list(patterns(path)), 2, leaves)  # of the second flow
    with patch.object(setting, "patterns", other):
        found = alignment.logs(0, 3)
    yield alignment.cones_are_not_left(changed(found, status="sliding"))


def time_is_reached() -> Iterator[Found]:
    item = SLOWEST(0.1, 1e-3)
    away = item["X"][item["y"] < 0].sum(axis=0)
    for call, other in (
        (6, {**item, "w": away}), (9, SLOWEST(0.5 * (1.0 + 2e-8), 1e-3)),
        *((6 + k, SLOWEST(0.1, 30.0 * gap)) for k, gap in enumerate(theorem_1.GAPS)),
    ):  # fmt: skip
        made = at_call(SLOWEST, call, lambda _, other=other: other)
        yield where(theorem_1.time_is_reached, theorem_1, slowest=made)


# --- Gaussian starts ------------------------------------------------------------------------------


def assumption_2_is_sure() -> Iterator[Found]:
    law, judge = cones.chance_of_clearance, cones.assumption_2_is_sure
    for factor in (0.2, 5.0):
        wrong = but(law, lambda *_: True, lambda p, factor=factor: min(factor * p, 1.0))
        yield where(partial(judge, 0, 400), cones, chance_of_clearance=wrong)
    along = at_call(setting.clearance, 15, lambda _: 0.0)
    yield where(partial(judge, 0, 10), setting, clearance=along)


def half_start_active() -> Iterator[Found]:
    judge, drawn = cones.half_start_active, cones.separable
    for sign in (1.0, -1.0):  # of the last data none of this label can be active
        none = at_call(drawn, 19, lambda of, sign=sign: (of[0] * (of[1] != sign)[:, None], of[1]))
        yield where(partial(judge, 0, 2000, 1), cones, separable=none)
    ended = at_call(cones.align, 3, lambda found: replace(found, status="astray"))
    yield where(partial(judge, 0, 200, 5), cones, align=ended)


PLANTED: dict[str, Planted] = {
    "ea.asm1.centre": partial(recorded, mnist.centring),
    "ea.asm1.mnist": partial(recorded, mnist.right_signs), "ea.balanced.2": signs_stay,
    "ea.E3": at(lemmas.no_solution, lemmas, *SLOPES),
    "ea.E4": at(lemmas.many_solutions, lemmas, {"slopes": leaky(Fraction(-1))},
                {"departure_residual": lambda _: 1.01e-7}),
    "ea.eq46.2": crossed_once,
    "ea.eq46.3": solutions_exist,
    "ea.fig5.align": partial(recorded, mnist.aligns, "figure-5", KINDS[:3],
                             starts=[{"aligned": 2000.0, "falls": 3000.0}]),
    "ea.fig5.antipodal": partial(recorded, mnist.antipodal),
    "ea.fig5.loss": partial(recorded, mnist.falls, "figure-5"),
    "ea.fig5.vis": partial(recorded, mnist.image_figures_visible, "figure-5"),
    "ea.fig6.1": all_in_their_cones, "ea.fig6.2": two_sharp_falls, "ea.fig6.3": few_directions,
    "ea.fig7": all_arrive_and_grow, "ea.fig8.1": slower_when_nearly_orthogonal,
    "ea.fig8.2": left_behind, "ea.fig9.1": where_each_ends, "ea.fig9.2": who_fits,
    "ea.fig10": partial(recorded, mnist.alike, "figure-10", starts=[]),
    "ea.fig11": partial(recorded, mnist.alike, "figure-11", starts=[]),
    "ea.fig12": lambda: (mnist.two_phases(wrong_curves(mnist.load_phases("figure-12"), kind))
                         for kind in ("backwards", "stuck")),
    "ea.fig13": lambda: map(mnist.one_phase, (
        mnist.load_phases("figure-12"), wrong_curves(mnist.load_phases("figure-13"), "stuck"))),
    "ea.lem1": partial(passing, lemmas.directions_follow_their_limit, 1.0, EXPONENTIAL,
                       TWICE_LOGISTIC),
    "ea.lem3": partial(passing, lemmas.neurons_stay_small, 1.0, EXPONENTIAL, TWICE_LOGISTIC,
                       LOGISTIC),
    "ea.lem13": partial(of_surveys, convergence.shrinks_little, "shrunk"),
    "ea.lem14": partial(of_surveys, convergence.grows_from_t_1, "backwards", "turned"),
    "ea.orth.compare.1": at(partial(toys.start_decides, 0, 2), toys, *(
        {"serves": lambda X, y, W, _, ends=ends: np.full(W.shape[:2], ends)}
        for ends in (True, False))),
    "ea.ours.fall": exact_order,
    "ea.ours.growth": partial(surveyed, alignment.growth_is_bounded, partial(alignment.logs, 0, 2),
                              {"share": 1.001, "status": "non-unique"}, {"share": np.nan}),
    "ea.ours.horizon": twice_as_long, "ea.ours.reached": time_is_reached,
    "ea.ours.scale": partial(
        surveyed, theorem_1.scale_is_enough, partial(theorem_1.at_our_scale, 0, 1),
        *({"T": 1.0, "needed": at, "status": "stiff"} for at in (1.001, np.inf, np.nan))),
    "ea.path": figure_15_is_longest,
    "ea.random-init.1": assumption_2_is_sure, "ea.random-init.2": half_start_active,
    "ea.thm1.classify": partial(of_surveys, convergence.classified, "turned"),
    "ea.thm1.loss.1": partial(of_surveys, convergence.falls_like_one_over_t, "slow"),
    "ea.thm1.loss.2": partial(of_surveys, convergence.falls_in_time, "late", "early"),
    "ea.thm1.loss.3": partial(of_surveys, convergence.exact_order_of_the_data, "late", "early"),
    "ea.thm1.rank.1": partial(of_surveys, convergence.nearly_two, "wide"),
    "ea.thm1.rank.2": partial(of_surveys, convergence.at_most_two, "wide"),
    "ea.thm1.refined.2": aligns_until_the_fall,
    "ea.thm1.t1.constants": partial(
        surveyed, own_data.small_grants_both, partial(own_data.under_small, 0, 1),
        {"share": 1.001}, {"share": np.nan}, {"ratio": 1.001, "status": "stiff"}),
    "ea.thm1.t1.scaling": GROWTH, "ea.thm1.trap.1": cones_are_not_left,
}  # fmt: skip

test_a_planted_input_is_seen = sees(PLANTED)
