"""Planted inputs for each claim of the paper that is settled without a Statement.

Of several values that decide one is at fault, and just outside, so that the worst of them counts.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from flint import fmpq_poly
from numpy.typing import ArrayLike, NDArray
from papers.faults import Check, Found, changed, sees, under
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Event, Trajectory
from reluflow.papers.lee2022support import dynamics, examples, geometry, linear, theorem_3_6
from reluflow.papers.lee2022support.geometry import excess_in_cell
from reluflow.papers.lee2022support.rational import equation, fitted
from reluflow.papers.lee2022support.setting import DataSet, virtual_minimum

THREE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


# --- Figure 1, Example 3.5 and Proposition 3.3 ----------------------------------------------------


def terms(X: NDArray = THREE, w: Sequence[float] = (2, 2), odd: bool = False) -> Found:
    """Figure 1's evidence of three data: six cells, and a virtual minimum in its own one."""
    usual = DataSet(np.array([[1.0, 0.3], [0.4, 1.0]]), np.array([1.0, 1.2]), "by hand")
    parallel = DataSet(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([1.0, 1.2]), "by hand")
    return geometry.terminology(
        X, np.ones(len(X)), np.array(w), [usual, parallel if odd else usual]
    )


def let_go(y: ArrayLike = (4, 1, 1), norms: Sequence[float] = (0.01, 1, 100)) -> Found:
    """Example 3.5's evidence; the last norm counts as far out."""
    return dynamics.must_deactivate(THREE, y, 1, norms, 5, 0)[0]


def beside(X: NDArray, y: NDArray, active: NDArray) -> tuple[NDArray, NDArray]:
    """A virtual minimum that is none: of labels of which the last is another one."""
    return virtual_minimum(X, np.append(y[:-1], 2.0 * y[-1]), active)


def some_other_first(X: NDArray, y: NDArray, w0: NDArray) -> Trajectory:
    """Flows of which some lose another datum before all that they lose."""
    path, first = affine_flow(X, y, w0), (Event(0.0, 0, "deactivate"),) * bool(w0[0] > w0[1])
    return replace(path, events=(*first, *path.events))


def cells(**last: bool) -> Found:
    """Cells of two surveys, of which the last one of the second is another one."""
    one = geometry.survey_cells([DataSet(printed(EX_1).X, printed(EX_1).y, "printed")])
    full = one[~one.deficient]
    return geometry.cells_of_full_rank([one, changed(full, **last)])


def excess(share: float, X: NDArray, y: NDArray, active: NDArray) -> float:
    """The excess, but of cells on one side of 1e-9: they have this share, on the other side."""
    true, limit = excess_in_cell(X, y, active), 1e-9 * np.linalg.norm(y[active])
    return float(share * limit if (true <= limit) == (share > 1.0) else true)


# --- The norm of the start, Theorem F.11 ----------------------------------------------------------


def norms(*gains: Sequence[float]) -> Found:
    """The evidence of a survey of two norms, by what each data set gains at either."""
    gained = np.array(gains)
    tables = {"start": 0.5 + 0.0 * gained, "share": 0.5 + gained, "excess": gained}
    frame = {k: pd.DataFrame(v, index=[0.01, 100.0]) for k, v in tables.items()}
    return theorem_3_6.norm_of_start(pd.concat(frame, axis=1), 0)[0]


UP, DOWN, BOTH = (0.2, 0.3, 0.2, 0.3), (-0.2, -0.3, -0.2, -0.3), (0.9, -0.2, -0.3, 0.0)


def diagonal(d: int, example: fmpq_poly) -> Check:
    """Theorem F.11's evidence in dimensions 1 to 5, of which one has another equation."""
    known = linear.diagonal_example
    other = lambda k: example if k == d else known(k)  # noqa: E731
    return under(
        linear, "diagonal_example", other, lambda: linear.diagonal_crossings((1, 2, 3, 4, 5))
    )


# --- Section 5 and Appendix G ---------------------------------------------------------------------

EX_1, EX_2, EX_3 = "example-5.1", "example-5.2", "example-5.3"
OFF, ON, ALSO = Event(0.7, 0, "deactivate"), Event(2.0, 0, "activate"), Event(0.7, 1, "deactivate")
EARLY, LATE = Event(0.044, 3, "deactivate"), Event(20.16, 3, "activate")


@cache
def printed(name: str) -> examples.Experiment:
    run = examples.study("paper", None, 0.005, 0).printed(name)
    assert run is not None
    return run


def altered(name: str, **known: Any) -> examples.Experiment:
    """The printed example with other flows, descents, minima or limits than its own; a dictionary
    stands for the first of them alone, with other parts."""
    run = printed(name)
    other = replace(run)
    first = {part: (replace(getattr(run, part)[0], **value),)
             for part, value in known.items() if isinstance(value, dict)}  # fmt: skip
    vars(other).update({**vars(run), **known, **first})
    return other


def moved(name: str, by: float, since: float = 0.0) -> tuple[Trajectory]:
    """The ReLU flow, from a time on away from itself by so much in the last coordinate."""
    path = printed(name).flows[0]
    away = by * np.eye(len(path.end))[-1]

    def states(t: NDArray) -> NDArray:
        return path.interpolant(t) + np.outer(np.asarray(t) >= since, away)

    return (replace(path, interpolant=states, end=path.end + away),)


def descended(share: float = 1.0, iterations: int = 200_000, events: bool = True) -> Found:
    """Example 5.1's evidence where the second of three descents is another one."""
    run = printed(EX_1)
    first, _, last = run.descents
    path = examples.descent(run.X, run.y, share * run.starts[1], run.step, iterations)
    other = altered(EX_1, descents=(first, path, last))
    judge = partial(examples.descent_for_flow, other)
    return judge() if events else under(examples, "flips", lambda X, path: [], judge)()


def left_for_good(**known: Any) -> Found:
    return examples.deactivation(altered(EX_2, **known))


def comes_back(**known: Any) -> Found:
    return examples.reactivation(altered(EX_3, **known))


def told(first: float, second: float) -> Check:
    """The evidence of both captions, where they print other iterations."""
    counts = {EX_2: (0, "deactivate", first), EX_3: (3, "activate", second)}
    judge = lambda: examples.caption_iteration(printed(EX_2), 0)["evidence"]  # noqa: E731
    return under(examples, "CAPTIONS", counts, judge)


def dashed() -> Found:
    """Figure 13's evidence where all labels are fitted but one, which is too large by 2 %."""
    run = altered(EX_3)
    y = (run.X @ run.flows[0].end) * [1.0, 1.0, 1.02, 1.0]
    other = replace(run, dataset=replace(run.dataset, y=y))
    vars(other).update(flows=run.flows)
    return examples.caption_asymptotes(other)["evidence"]


CAPTIONS = (  # under eq. (1), and half their number times as many under PyTorch's mean
    ("", told(156.4, 4031.4 * 1.06)),  # one of the two is off
    ("", told(156.4 * 1.06, 4031.4)),
    ("", told(156.4, 2 * 4031.4)),  # each suits another normalisation
)

PLANTED: dict[str, Sequence[tuple[str, Check]]] = {
    "sv.fig1": (
        ("data sets with n = d = 2", lambda: terms(odd=True)),
        ("cells of the six data", terms),
        ("the virtual minimum lies", terms),
    ),
    "sv.ex3.5": (
        ("data inactive", lambda: let_go((1, 1, 1))),
        ("the optimum of the other two", lambda: let_go((1, 1, 1))),
        ("|w0| = 100: starts whose flow loses x_2", lambda: let_go(norms=(0.01, 100, 1000))),
        ("their limits", lambda: let_go(norms=(0.01, 100, 1000))),
        ("starts whose flow loses x_2", under(dynamics, "affine_flow", some_other_first, let_go)),
    ),
    "sv.prop3.3.1": (
        ("", lambda: cells(agree=False)),
        ("", under(geometry, "virtual_minimum", beside, cells)),
        ("", under(geometry, "excess_in_cell", partial(excess, 0.9), cells)),
        ("", under(geometry, "excess_in_cell", partial(excess, 1.1), cells)),
    ),
    "sv.init.norm": (
        ("smallest norm: gain", lambda: norms(BOTH, DOWN)),
        ("largest norm: gain", lambda: norms(UP, [-x for x in BOTH])),
        ("support at the smallest norm", lambda: norms(BOTH, (0.0, 0.0, 0.0, 0.0))),
    ),
    "sv.thmF.11.2": (
        ("crossings", diagonal(3, fitted((1, 4), [Fraction(1, 2), Fraction(1, 4)]))),
        ("each of them", diagonal(1, equation((4, -4), (1, 2), 1))),
    ),
    "sv.ex5.1.gd": (
        ("over the whole path", lambda: descended(1.06)),
        ("left after the last", lambda: descended(iterations=13_000)),
        ("the same order", lambda: descended(events=False)),
    ),
    "sv.ex5.2": (
        ("nothing else happens", lambda: left_for_good(flows={"events": (OFF, ON)})),
        ("re-activates", lambda: left_for_good(linear_flows=printed(EX_2).flows[:1])),
        ("up to then", lambda: left_for_good(linear_flows=moved(EX_2, 1.1e-8, 0.78))),
        ("one unit of time later", lambda: left_for_good(linear_flows=moved(EX_2, 9e-4))),
        ("rank of the ReLU limit", lambda: left_for_good(limits={"rank": 1})),
        ("x_1 is a support", lambda: left_for_good(limits={"support": (0, 2)})),
        ("global minima", lambda: left_for_good(minima=2 * printed(EX_2).minima[:1])),
        ("all data active", lambda: left_for_good(minima={"support": (1, 2)})),
    ),
    "sv.ex5.3": (
        ("events of the ReLU flow", lambda: comes_back(flows={"events": (EARLY, LATE, OFF)})),
        ("this share", lambda: comes_back(flows={"events": (replace(EARLY, t=0.21), LATE)})),
        ("largest distance", lambda: comes_back(linear_flows=moved(EX_3, 9e-4))),
        ("distance of their limits", lambda: comes_back(linear_flows=moved(EX_3, 1.1e-8))),
        ("rank of the limit", lambda: comes_back(limits={"rank": 2})),
        ("global minima", lambda: comes_back(minima=2 * printed(EX_3).minima[:1])),
        ("data active there", lambda: comes_back(limits={"support": (0, 1, 2)})),
    ),
    "sv.fig12.iteration": CAPTIONS,
    "sv.fig13.iteration": CAPTIONS,
    "sv.fig13.asymptotes": (("", dashed),),
}

test_a_planted_input_is_seen = sees(PLANTED)
