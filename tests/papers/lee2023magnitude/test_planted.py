"""Planted inputs for each claim of the paper that is settled without a Statement.

Of several values that decide one is at fault, and just outside, so that the worst of them counts.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp
from papers.faults import Check, Found, but, each, sees, under
from reluflow.papers.lee2023magnitude import bounds, descent, experiments, laws, runs
from reluflow.papers.lee2023magnitude import deep_network as deep
from reluflow.papers.lee2023magnitude.population import OTHER

# --- Figures 1 and 2: all nine panels at full length, of which every path is the flow -------------


@cache
def panels() -> tuple[runs.Run, ...]:
    made = []
    for setting in runs.experiment():
        start = runs.drawn_start(setting)
        flow = start.flow(setting.rate * np.arange(setting.steps + 1.0))
        made.append(runs.Run(setting, start, flow, flow, flow))
    return tuple(made)


def moved(k: int, path: str, at: slice, psi: float = 0.0, rho: float = 0.0) -> list[runs.Run]:
    """The panels, one path of the k-th of which is elsewhere at some steps."""
    old = panels()[k].flow
    there = np.zeros(len(old.t))
    there[at] = 1.0
    new = replace(old, psi=old.psi + psi * there, rho=old.rho + rho * there)
    return [replace(run, **{path: new}) if j == k else run for j, run in enumerate(panels())]


def angles(*at: Any, **by: float) -> Check:
    return lambda: runs.figure_1(moved(*at, **by))


def magnitudes(*at: Any, **by: float) -> Check:
    return lambda: runs.figure_2(moved(*at, **by))


SOON, ONCE, LAST = slice(10, 11), slice(30_000, 30_001), slice(-1, None)
PERCENT, RESTART = slice(1000, 1001), slice(20_000, 20_001)

PATHS = {
    "empirical": "by the run on data",
    "population": "by descent on the population",
    "flow": "by the population's flow",
}
FIGURE_1 = (
    ("panels", lambda: runs.figure_1([*panels(), panels()[0]])),
    ("steps checked", under(runs, "STEPS", 99_999, lambda: runs.figure_1(panels()))),
    *((words, angles(4, path, ONCE, psi=psi)) for path, words in PATHS.items()
      for psi in (0.8, -0.72)),
    ("one layer", angles(1, "empirical", PERCENT, psi=3.0)),
    ("three layers", angles(7, "empirical", slice(1, 95_000), psi=-9.0)),
)  # fmt: skip
FIGURE_2 = (
    ("panels", lambda: runs.figure_2([*panels(), panels()[0]])),
    *each("largest excess", magnitudes(1, "empirical", slice(10, 2000), rho=0.022),
          magnitudes(1, "empirical", SOON, rho=-0.022),
          magnitudes(3, "empirical", LAST, rho=-0.14)),  # of restarted bounds only
    *each("by the population's flow", magnitudes(2, "flow", SOON, rho=0.01),
          magnitudes(2, "flow", SOON, rho=-0.01), magnitudes(3, "flow", LAST, rho=-0.14)),
    ("lower bound is the nearer", magnitudes(4, "empirical", PERCENT, rho=0.035)),
    ("upper bound is the nearer", magnitudes(4, "empirical", LAST, rho=-0.27)),
    ("restarted bounds are closer", magnitudes(4, "empirical", RESTART, psi=-2.0)),
    *each("as Section 5.2 says", magnitudes(0, "empirical", slice(5000, 5100), rho=-0.1),
          magnitudes(4, "empirical", slice(70_000, 70_100), rho=-0.1)),
)  # fmt: skip


# --- Figure 3: two panels and the population's starts, of which one is another --------------------


@cache
def restarts(layers: int) -> experiments.Restarts:
    return experiments.tightening(layers, 1.0, 0, 1)[0]


def figure_3(panel: experiments.Restarts, drawn: bool, others: int = 5, count: int = 1) -> Found:
    """Figure 3's evidence where one of its two panels, or `count` of many starts, is this one."""
    one, two = restarts(1), restarts(2)
    pair = [one, panel] if drawn else [one, two]
    return experiments.bounds_restarted(
        pair, [two] * others + ([two] if drawn else [panel] * count)
    )


def ordered(sign: int) -> experiments.Restarts:
    """A panel whose |w| only rises, or only falls."""
    panel = restarts(2)
    return replace(panel, path=replace(panel.path, rho=np.sort(panel.path.rho)[::sign]))


def widened(at: slice, *which: int, low: float = 0.0, high: float = 0.0) -> experiments.Restarts:
    """A panel with other bounds after these restarts, at some steps, by these shares of |w*|."""
    panel = restarts(2)
    found = [(a.copy(), b.copy()) for a, b in panel.bounds]
    for k in which:
        found[k][0][at] += low * panel.path.target
        found[k][1][at] += high * panel.path.target
    return replace(panel, bounds=tuple(found))


def either(words: str, where: str, *made: Callable[[], experiments.Restarts]) -> Any:
    """Faults of the second of the figure's panels, or of one of the population's starts."""
    drawn = where == "2L"
    return each(f"{where}: {words}", *(partial(lambda m: figure_3(m(), drawn), m) for m in made))


EARLY, MIDST = slice(1, 20), slice(700, 701)
FIGURE_3 = (
    *(
        fault
        for where, falls, shrinks in (
            ("2L", "|w| falls", "the gap"),
            ("population", "starts that do not fall", "starts whose gaps"),
        )
        for words, *made in (
            (falls, partial(ordered, 1), partial(ordered, -1)),
            (shrinks, partial(widened, slice(None), 2, high=1.0)),
            ("a restarted bound outside", partial(widened, MIDST, 1, low=-0.5),
             partial(widened, MIDST, 3, high=0.5)),
        )
        for fault in either(words, where, *made)
    ),
    *either("restarts after which the upper", "2L", partial(widened, LAST, 1, high=1.0)),
    *either("|w| outside", "2L", partial(widened, MIDST, 1, low=0.5),
            partial(widened, MIDST, 3, high=-0.5)),
    ("lower end of the interval", lambda: figure_3(widened(EARLY, 0, 1, low=-1.0), False, 12, 8)),
)  # fmt: skip


# --- Figure 4: the records, altered ---------------------------------------------------------------


@cache
def record(panel: str) -> deep.Record:
    return deep.load(panel)


def told(panel: str, **ways: Any) -> deep.Record:
    """A record that tells something else of all steps of |W_1|."""
    facts = record(panel).facts
    said = facts["monotone"]
    monotone = said | {deep.FIRST: said[deep.FIRST] | ways}
    return replace(record(panel), facts=facts | {"monotone": monotone})


def curved(panel: str, *at: tuple[float, float]) -> deep.Record:
    """A record whose |W_1| goes through these points (share of the steps, share of its way)."""
    known = record(panel)
    norms, shares = known.norms.copy(), known.steps / known.setting.n_steps
    first, last = norms[[0, -1], 0]
    norms[:, 0] = first + (last - first) * np.interp(shares, *zip(*at, strict=True))
    return replace(known, norms=norms)


def forged(panel: str, half: bool, by: float) -> deep.Record:
    """A record with a layer's norm at one of the steps that are taken again, in shares of a way."""
    known = record(panel)
    first = int(np.searchsorted(known.steps, known.facts["half"])) if half else 0
    norms = known.norms.copy()
    kept = norms[first : first + 6]
    norms[first + 5, 2] += by * np.abs(kept - kept[0]).max()
    return replace(known, norms=norms)


def panel_a(made: deep.Record) -> Found:
    return deep.small_start(made, record("a-teacher-0.4"), np.array([True, False] * 20))


def panel_b(made: deep.Record) -> Found:
    return deep.large_start(made, pd.DataFrame({"fell": [True] * 40}))


def still(judge: Callable[..., Found], *made: deep.Record) -> Found:
    """What `judge` finds, without taking steps again."""
    return under(deep, "again", lambda *_: 0.0, lambda: judge(*made))()


def arriving(share: float) -> Found:
    """|W_1| of (a) has nine tenths of its way behind it at this share of the steps."""
    return deep.slower(curved("a", (0.0, 0.0), (share, 0.91), (1.0, 1.0)), curved("b", *STRAIGHT))


def converges(*made: Any) -> Found:
    (small, *a), (large, *b) = made
    return deep.converges(curved(small, *a), record("a-teacher-0.4"), curved(large, *b))


BACK = (0.0, 0.0), (0.9, 1.011), (1.0, 1.0)  # the last tenth goes back, by 1.1 % of the way
STRAIGHT, ARRIVED = ((0.0, 0.0), (1.0, 1.0)), ((0.0, 0.0), (0.5, 1.0), (1.0, 1.0))
RETURNS = (0.0, 0.0), (0.5, 1.0), (1.0, 0.0)
FIGURE_4A = (
    ("from half-way again", lambda: panel_a(forged("a", True, -0.011))),
    ("that goes down", lambda: still(panel_a, told("a", way_down=1.02, way_up=98.98))),
    ("at the end over its start", lambda: still(panel_a, curved("a", *RETURNS))),
)  # fmt: skip
FIGURE_4B = (
    ("from half-way again", lambda: panel_b(forged("b", False, 0.011))),
    ("does not fall", lambda: still(panel_b, told("b", falls=29_999))),
    ("at the end over its start", lambda: still(panel_b, curved("b", *RETURNS))),
)  # fmt: skip
CONVERGES = tuple(
    fault
    for way in (BACK, ((0.0, 0.0), (0.9, 0.989), (1.0, 1.0)))
    for fault in (
        ("(a) way", partial(converges, ("a", *way), ("b", *ARRIVED))),
        ("(b) way", partial(converges, ("b", *ARRIVED), ("b", *way))),
    )
)
SLOWER = (
    ("steps until", lambda: arriving(0.25)),
    ("times eta T", lambda: arriving(0.03)),
)


# --- Lemma 2.1, Propositions B.1, 3.1 and 3.6, and unique minimisers ------------------------------


def wrong(name: str, judge: Check, when: Callable[..., bool], change: Callable[..., Any]) -> Any:
    """What `judge` finds where a function of the laws is another one in some cases."""
    return under(laws, name, but(getattr(laws, name), when, change), judge)


def both(name: str, judge: Check, when: Callable[..., bool], by: Any) -> list[Check]:
    """The function's numbers too large, and too small."""
    return [wrong(name, judge, when, lambda x, off=off: x + off) for off in (by, -by)]


lemma, sphere = partial(laws.sector_moments, 1, 10), partial(laws.sphere_moments, 1, 10)
CORNER = 2e-9 * np.outer(np.eye(5)[0], np.eye(5)[4])
in_five, in_ten = (lambda *given, d=d: len(given[-1]) == d for d in (5, 10))
right_angle = lambda theta, *_: abs(theta - 0.5 * math.pi) < 1e-9  # noqa: E731
quarter = lambda *given: right_angle(*given) and in_five(*given)  # noqa: E731
LEMMA_2_1 = (
    *each("largest error of an entry", *both("printed_sector_moment", lemma, in_five, CORNER)),
    *each("together, against I/2", *both("gaussian_sector", lemma, quarter, 1e-9 * np.eye(5))),
    *each("E[s(u.x) s(v.x)]", *both("relu_correlation", lemma, right_angle, 2e-9)),
)  # fmt: skip
B_1 = (
    *each("both by quadrature", *both("sphere_sector", sphere, in_ten, 2e-10 * np.eye(10))),
    *each("the half-space", *both("sphere_sector", sphere, in_ten, 1e-10 * np.eye(10))),
)


def other_overlap() -> sp.Expr:
    return overlap() + sp.cos(laws.THETA) / 1000


def last_is_false(proved: dict[str, bool]) -> dict[str, bool]:
    return proved | {list(proved)[-1]: False}


overlap = laws.overlap
PROP_3_1 = (
    *each("identities", under(laws, "overlap", other_overlap, laws.one_layer_system),
          wrong("identities", laws.one_layer_system, lambda m: True, last_is_false)),
    ("Lipschitz", under(laws, "turning_of_field", lambda: sp.Rational(1, 1000),
                        laws.one_layer_system)),
)  # fmt: skip
PROP_3_6 = each(
    "identities", under(laws, "overlap", other_overlap, laws.layered_system),
    wrong("identities", laws.layered_system, lambda m: m == 2, last_is_false),
)  # fmt: skip


def law_in(dims: Sequence[int], points: Any, judge: Check) -> Check:
    """What `judge` finds where the laws drawn in these dimensions are this one."""
    law = laws.finite_law(points)
    return wrong("random_law", judge, lambda rng, d, *_: d in dims, lambda _: law)


def several(rng: np.random.Generator, same: bool, mean: int) -> Any:
    """Points as drawn; three of them with the teacher for the other minimiser, or another mean."""
    points, target, other = drawn(rng)
    if len(points) == 3:
        points = [*points[:-1], (points[-1][0] + mean, points[-1][1])]
        other = target if same else other
    return points, target, other


drawn = laws._several_minimisers
symmetric, finite = (lambda k=k: laws.unique_minimisers(0, 12)[k] for k in range(2))
density = partial(laws.minimiser_of_densities, 0, 8)
CROSS = [(1, 0), (-1, 0), (0, 1), (0, -1)]
UNIQUE_SYMMETRIC = (
    ("with several minimisers", wrong("is_only_minimiser", symmetric,
                                      lambda law, _: law.is_symmetric, lambda _: False)),
    ("symmetric laws of full rank", law_in([1, 2, 3], laws.MERCEDES, symmetric)),
)  # fmt: skip
UNIQUE_FINITE = (
    *each("the teachers tried disagree", *(
        wrong("spans_every_side", law_in([2], points, finite), lambda law: law.d == 2,
              lambda _, spans=spans: spans)
        for points, spans in ((laws.MERCEDES, True), (CROSS, False))
    )),
    ("laws that meet", law_in([1, 2, 3], laws.MERCEDES, finite)),
    ("laws that do not", law_in([1, 2, 3], CROSS, finite)),
)  # fmt: skip
UNIQUE_DENSITY = (
    *each("without a corner", *(
        under(laws, "_several_minimisers", partial(several, same=same, mean=mean), density)
        for same, mean in ((True, 0), (False, 1))
    )),
)  # fmt: skip


# --- The bend of the bounds, small starts, Theorem 4.1 --------------------------------------------

BEND = each(
    "u'' is", under(experiments, "inflection", lambda m: m / (2 * m + 2), experiments.bent_bounds)
)
first = partial(bounds.first_order, (1.0, 1.889, 2.6), 1.0)


def room(size: float, other: Callable[[float], float], judge: Check = first) -> Check:
    """What `judge` finds where |w(t)| is another one at the steepest angle and one norm."""
    at = lambda phi0, t, v0: phi0 == 2.6 and v0 == size  # noqa: E731
    return under(bounds, "room", but(bounds.room, at, other), judge)


SMALL_FIRST = (
    *each("coefficient", room(1e-5, lambda x: x + 0.011), room(1e-5, lambda x: x - 0.011)),
    *each("the sign of", under(bounds, "THRESHOLD", 1.9, first), room(1e-5, lambda x: -x)),
)  # fmt: skip


def profiles(*made: descent.Profile) -> Check:
    """Theorem 4.1's evidence of these functions g."""

    def judged() -> Found:
        left = iter(made)
        judge = lambda: descent.uniform_in_time(0, len(made))  # noqa: E731
        return under(descent, "_random_bent", lambda rng: next(left), judge)()

    return judged


REGULAR = descent.bent(-0.6, 2.0)
UNIFORM = (("of the largest error", profiles(descent.flat_inside(), REGULAR)),)

converse = partial(descent.converse, 0, 4)
CONVERSE = each("dw/dt", *(
    under(descent, "_read_off", but(descent._read_off, lambda rate, w0, step, y, at=at: step in at,
                                    lambda g, by=by: g + by * np.eye(4)[2]), converse)
    for at, by in (((2e-3, 1e-3), 1.1e-4), ((2e-3, 1e-3), -1.1e-4), ((2e-3,), 1.2e-4))
))  # fmt: skip


# --- Section 5 and Appendix D.3 -------------------------------------------------------------------


five = partial(experiments.norm_scale, 0, 5)


def ratios(*last: float, judge: Check = five) -> Check:
    """The evidence on the scale of the norms, of draws the last of which is this one."""
    made = np.array([[0.1, 1.0, 2.1]] * 4 + [last])
    return under(experiments, "ratios", lambda *_: made, judge)


scale = partial(experiments.norm_scale, 0, 20)
SCALE = (
    *each("small < middle", ratios(1.1, 1.0, 2.1), ratios(0.1, 2.2, 2.1)),
    ("small norm: largest", ratios(0.21, 1.0, 2.1)),
    *each("middle norm: largest", ratios(0.1, 0.49, 2.1), ratios(0.1, 2.05, 2.1)),
    ("how much likelier", under(runs, "NORMS", {0.1: "SN", 1.0: "MN", 3.0: "LN"}, scale)),
    ("largest over smallest", under(runs, "RATES", {1: 3e-4, 2: 1.2e-5, 3: 1e-6}, scale)),
)


def shapes(k: int, which: Sequence[int], **cells: Any) -> Found:
    """Section 5.2's evidence of surveys that show what it says, but for some rows of the k-th."""
    rows = [{"panel": panel, "shape": runs.said_of(panel), "turn": 9000.0, "stray": False}
            for panel in runs.experiment(layers=(1, 2)) for _ in range(40)]  # fmt: skip
    surveys = [pd.DataFrame(rows) for _ in range(3)]
    for name, value in cells.items():
        surveys[k].loc[list(which), name] = value
    return experiments.two_phases(*surveys)


TWO_PHASES = (
    ("population: least", lambda: shapes(0, range(5), shape=OTHER)),
    ("data: the lower end", lambda: shapes(1, range(0, 240, 5), shape=OTHER)),
    ("up to the last step", lambda: shapes(0, [5], stray=True)),
    ("latest mean step", lambda: shapes(0, range(40, 80), turn=1e5)),
)

PLANTED: dict[str, Sequence[tuple[str, Check]]] = {
    "ma.fig1": FIGURE_1, "ma.fig2": FIGURE_2, "ma.fig3": FIGURE_3, "ma.fig4.a": FIGURE_4A,
    "ma.fig4.b": FIGURE_4B, "ma.fig4.converges": CONVERGES, "ma.fig4.slower": SLOWER,
    "ma.lem2.1": LEMMA_2_1, "ma.ours.restart.bend": BEND, "ma.ours.small.first": SMALL_FIRST,
    "ma.ours.unique.density": UNIQUE_DENSITY, "ma.ours.unique.finite": UNIQUE_FINITE,
    "ma.ours.unique.symmetric": UNIQUE_SYMMETRIC, "ma.prop3.1": PROP_3_1, "ma.prop3.6": PROP_3_6,
    "ma.propB.1": B_1, "ma.text.scaleconv.1": SCALE,
    "ma.text.scaleconv.2": each("", ratios(
        0.1, 1.0, 2.0, judge=lambda: experiments.large_norm(0, 5)[0])),
    "ma.text.twophase.1": TWO_PHASES, "ma.thm4.1.2": UNIFORM, "ma.thm4.1.3": CONVERSE,
}  # fmt: skip

test_a_planted_input_is_seen = sees(PLANTED)
