"""Sixty gradient flows of one ReLU neuron that are hard to follow, and where each of them ends.

The list is fixed, and so are the rules by which an answer is judged (`judged`). What is right is
known without any of the solvers: in closed form with a sentence of proof, or, where every contact
is transversal, from the reference flow of the tests in 100-digit arithmetic. Where several flows
leave a point, the end of any of them is right.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from reference_flow import ReferenceFlow, reference_flow
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow

NEAR = 1e-3
"""An end is right within this, relative to its length or to the unit of the weights."""


@dataclass(frozen=True)
class Case:
    """Data X (n, d), y (n,), a start w0 (d,), and what is right.

    ends     (k, d) the ends of all flows from w0; none where the 100-digit reference tells it
    time     when the flow is within 1e-6 of its end, at the latest; 0 for the reference's
    changes  how often a datum's activation changes for good; None where that is not compared
    why      why the ends are right
    digits   of the reference
    """

    name: str
    kind: str
    X: NDArray
    y: NDArray
    w0: NDArray
    why: str
    ends: NDArray
    time: float = 0.0
    changes: int | None = None
    digits: int = 100

    @cached_property
    def reference(self) -> ReferenceFlow:
        """The flow to 50 digits; raises NotTransversal where there is none."""
        return reference_flow(self.X, self.y, self.w0, digits=self.digits)

    @property
    def unit(self) -> float:
        """A length of weights that fit a label: the largest label over the largest datum."""
        return float(np.abs(self.y).max() / np.linalg.norm(self.X, axis=1).max())

    @property
    def truth(self) -> tuple[NDArray, float, int | None]:
        """The ends (k, d), the time to run, and the number of changes."""
        if len(self.ends):
            return self.ends, self.time, self.changes
        flow = self.reference
        rates = [float(rate) for rate in flow.segments[-1].rates]
        time = float(flow.segments[-1].start) + (30.0 / min(rates) if rates else 0.0)
        end = np.array([[float(v) for v in flow.end]])
        return end, time or 1.0, len(flow.times)


@dataclass(frozen=True)
class Answer:
    """What a solver returns: the end (d,), the number of changes or None, and its complaint."""

    end: NDArray
    changes: int | None = None
    said: str = ""


def judged(case: Case, answer: Answer) -> str:
    """ "right", "said so" where the solver itself reports that it failed or that several flows
    leave, or "silent": a wrong end, or a wrong number of changes by a solver that reports them."""
    ends, _, changes = case.truth
    if answer.said:
        several = len(ends) > 1 and answer.said == "several flows"
        return "right" if several else "said so"
    if not np.isfinite(answer.end).all():
        return "said so"
    gaps = np.linalg.norm(ends - answer.end, axis=1)
    if not (gaps <= NEAR * np.maximum(np.linalg.norm(ends, axis=1), case.unit)).any():
        return "silent"
    if None not in (changes, answer.changes) and changes != answer.changes:
        return "silent"
    return "right"


def by_affine_flow(case: Case) -> Answer:
    """Ours: the exact flow. A slide is no change of activation."""
    try:
        flow = affine_flow(case.X, case.y, case.w0)
    except InputError as error:
        return Answer(np.full(len(case.w0), np.nan), said=str(error))
    said = "" if flow.has_limit else flow.status
    if flow.status == "non-unique" and "different flows" in flow.detail:
        said = "several flows"
    return Answer(flow.end, sum(event.kind != "slide" for event in flow.events), said)


CASES: list[Case] = []


def _add(
    name: str,
    kind: str,
    X: ArrayLike,
    y: ArrayLike,
    w0: ArrayLike,
    why: str = "",
    ends: ArrayLike = (),
    turn: tuple[float, float] | None = None,
    **rest,
) -> None:
    """Append a case; with `turn`, a cosine and a sine, its first two axes are turned."""
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    found = np.asarray(ends, float).reshape(-1, len(w0))
    if turn is not None:
        Q = np.eye(len(w0))
        Q[:2, :2] = [[turn[0], -turn[1]], [turn[1], turn[0]]]
        X, w0, found = X @ Q.T, Q @ w0, found @ Q.T
    why = why or "100-digit arithmetic; every contact is transversal"
    CASES.append(Case(name, kind, X, y, w0, why, found, **rest))


THREE_FIFTHS = (0.6, 0.8)
PEAK = 0.75 * 4.0 ** (-1 / 3)  # of exp(-t) - exp(-4t)


def _bump(height: float) -> tuple:
    """While x_3 sleeps, x_3.w = -1 + (1 + height) (exp(-t) - exp(-4t)) / PEAK."""
    c = (1.0 + height) / PEAK
    return [(1, 0), (0, 2), (1, -2)], (1.0, 2.0, 5.0), (1.0 + c, 1.0 + 0.5 * c)


# Two crossings of a sleeping datum's path in one step: it wakes at the first one and stays awake.
for height in (1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10):
    _add(f"a bump {height:g} above zero", "two crossings in a step", *_bump(height))
for height in (-1e-4, -1e-9):
    _add(f"a bump {-height:g} below zero", "two crossings in a step", *_bump(height))
_add("a datum that wakes and sleeps again", "two crossings in a step",
     [(1, 0), (0, 2), (1e-3, -1e-3)], (1, 8, 1e-9), (9.3, 20))  # fmt: skip
_add("a dip of an active datum", "two crossings in a step",
     [(1, 0), (0, 2), (-1e-3, 1e-3)], (1, 8, 1e-9), (9.3, 20))  # fmt: skip

# Tangential touches and roots of even multiplicity.
LOW = [(1, 0), (0, 2), (1, -1)]
TOUCH = "x_3.w = -3 + 8 z - 16 z^4 with z = exp(-t) has a double zero at z = 1/2; "
for label, ends, why in (
    (-1.0, [(1, 4)], "y_3 < 0 pushes back, hence it sleeps on"),
    (0.0, [(1, 4)], "y_3 = 0 adds nothing on the boundary, hence it sleeps on"),
    (1.0, [(1, 4), (7 / 3, 47 / 12)], "y_3 > 0 also carries away a flow that lets x_3 wake, to "
     "the least-squares fit of all three"),
):  # fmt: skip
    if label == 1.0:
        X3, y3 = np.array(LOW, float), np.array([1.0, 8.0, 1.0])
        ends = [(1, 4), np.linalg.lstsq(X3, y3)[0]]
    _add(f"a double zero of a sleeping datum, y = {label:g}", "touch", LOW, (1, 8, label),
         (9, 20), TOUCH + why, ends, time=20.0, changes=0 if len(ends) == 1 else None)  # fmt: skip
_add("a double zero of an active datum", "touch",
     [(0, 0, 3), (0, 3, 0), (1, 2, 2), (2, 1, 1)], (-2, 25, 32, 6), (12, 3, 2),
     "x_1.w = 12 (u - 1/2)^2 (u + 1) with u = exp(-3t); y_1 < 0 pushes back from the other side, "
     "hence the touch passes", [(0, 10, 1)], time=8.0, changes=0)  # fmt: skip

# Several boundaries at once.
SOME = [(1, 1), (2, -1), (2, -1), (4, -2), (-1, 0.5), (-1, 3)]
LABELS = (4, 0.5, 0.2, 0.3, 0.6, 14)
_add("parallel, equal and opposite data", "at once", SOME, LABELS, (2, 1))
_add("two equal data", "at once", SOME[:3] + SOME[5:], (4, 0.5, 0.2, 14), (2, 1))
_add("twenty equal data", "at once", [(1, 1), (-1, 3)] + 20 * [(2, -1)],
     [4, 14] + 20 * [0.25], (2, 1))  # fmt: skip
_add("one datum 2^20 times as long as its copy", "at once",
     [(1, 1), (-1, 3), (2, -1), (2**-19, -(2**-20))], (4, 14, 0.5, 0.2), (2, 1))  # fmt: skip
_add("a datum and its opposite", "at once", SOME[:1] + SOME[3:], (4, 0.3, 0.6, 14), (2, 1))
for d in (3, 4):  # by symmetry w_1 = ... = w_{d-1}, and these meet w_d together
    X = np.vstack([np.eye(d), 0.5 * np.eye(d)[:-1] - 0.5 * np.eye(d)[-1]])
    _add(f"{d - 1} boundaries by symmetry", "at once", X, [1.0] * (d - 1) + [3.0] + [0.1] * (d - 1),
         [2.0] * (d - 1) + [1.0])  # fmt: skip

# The flow slides along a boundary from which both sides push back.
HOLD, WHILE = [(1, 0), (0.5, 1)], "held on w_1 = 0, w_2' = 2 - w_2; the force of x_2 is (2 - w_2)/2"
for turn in (None, THREE_FIFTHS):
    name = "a slide to the end" + (", turned" if turn else "")
    _add(name, "slide", HOLD, (-1, 2), (0.3, 1), WHILE, [(0, 2)], turn=turn, time=20)
SLIDE = [(1, 0), (1, 1), (-1, 2)]
_add("a slide that is let go to the active side", "slide", SLIDE, (-1, 2, 2), (0, 0.5),
     "the force w_2 + y_2 - y_3 passes 1 at w_2 = 1; then all data are active, to their fit",
     np.linalg.lstsq(np.array(SLIDE, float), np.array([-1.0, 2, 2]))[0], time=25.0)  # fmt: skip
_add("a slide that is let go to the inactive side", "slide", SLIDE, (-1, 1, 2.5), (0, 2),
     "the force w_2 + y_2 - y_3 passes 0 at w_2 = 3/2; then x_2 and x_3 are fitted",
     [(-1 / 6, 7 / 6)], time=25.0)  # fmt: skip
_add("a slide of three parallel data", "slide", [(1, 0), (2, 0), (-1, 0), (0.5, 1)],
     (-0.5, -0.5, -0.2, 2), (0, 1), "what they add, -1.5 on one side and 0.2 on the other, holds "
     "(2 - w_2)/2 <= 1/2", [(0, 2)], time=20.0)  # fmt: skip
_add("a slide on three dependent boundaries", "slide",
     [(1, 0, 0), (0, 1, 0), (1, 1, 0), (0.6, 0.6, 1)], (-1, -1, -1, 4), (0, 0, 1),
     "the force 0.6 (4 - w_3) (1, 1) is a mean of their jumps; w_3' = 4 - w_3", [(0, 0, 4)],
     time=20.0)  # fmt: skip
CROSS = np.array([(1, 0.2), (0.3, 1), (-0.5, 0.8)])
_add("a slide into the origin", "slide", np.vstack([CROSS, -CROSS]), (-1, -0.7, -1.2) * 2, (1, 0.7),
     "x and -x with a label below zero: |x.w| times it falls, and the only minimum is 0", [(0, 0)],
     time=20.0)  # fmt: skip
_add("a slide through the origin", "slide",
     [(-2, -2), (3, -1), (2, 1), (-1, 2), (-3, 2), (3, 0)], (-4, -3, 0, -4, 3, -1), (6, -6),
     "", [(-3 / 34, 3 / 34)], time=30.0)  # fmt: skip

# The same, held so strongly or so long that a solver crosses the boundary again and again.
for label in (-1e2, -1e4, -1e6):
    _add(f"held by a label of {label:g}", "chatter", HOLD, (label, 2), (0.3, 1), WHILE, [(0, 2)],
         time=20.0)  # fmt: skip
_add("a slide that takes 20 000 units of time", "chatter", [(1, 0), (0.01, 0.03)], (-1, 0.06),
     (0.3, 1), "held on w_1 = 0, w_2' = 0.03 (0.06 - 0.03 w_2)", [(0, 2)], time=2e4)  # fmt: skip
_add("a slide on two boundaries", "chatter", [(1, 0, 0), (0, 1, 0), (0.5, 0.5, 1)], (-3, -3, 4),
     (0.2, 0.1, 1), "held on w_1 = w_2 = 0, w_3' = 4 - w_3; the forces are (4 - w_3)/2 <= 3",
     [(0, 0, 4)], time=20.0)  # fmt: skip

# A root right after another one, or right after the start.
for angle in (1e-3, 1e-6, 1e-9, 1e-12):
    fan = [(2 + k * angle, -1 + 2 * k * angle) for k in range(5)]
    _add(f"five boundaries at angles of {angle:g}", "root after a root", [(1, 1), (-1, 3), *fan],
         [4, 14] + 5 * [0.25], (2, 1))  # fmt: skip
_add("a boundary 1e-13 from the start", "root after a root", [(1, 0), (0.5, 1)], (1, 2),
     (-1e-13, 1))  # fmt: skip
_add("a datum that wakes for 1e-3", "root after a root", [(1, 0), (0, 2), (1e-5, -1e-5)],
     (1 + 1e-5, 8, 1e-9), (9 + 1e-5, 20))  # fmt: skip
_add("a start on a boundary", "root after a root", [(1, 0), (0.5, 1)], (1, 2), (0, 1),
     "x_2 pushes to where x_1 is active, and both are fitted", [(1, 1.5)], time=60.0)  # fmt: skip

# Sizes whose products underflow.
CIRCLE = [(np.cos(0.157 * k), np.sin(0.157 * k)) for k in range(40)]
RISING = [0.1 + 0.05 * k for k in range(40)]
_add("forty data, a start of 1e-20", "underflow", CIRCLE, RISING, (3e-21, -1e-20),
     digits=140)  # fmt: skip
_add("a start of 1e-200", "underflow", np.eye(3), (1, 1, -1), (1e-200, -1e-200, 1e-200),
     "each w_i goes alone: to 1, nowhere, and to 0 at once", [(1, 0, 0)], time=20.0,
     changes=1)  # fmt: skip
_add("eighty data, all far below one", "underflow", 2.0**-20 * np.array(CIRCLE * 2),
     2.0**-20 * np.array(RISING * 2), (0.1, -1.0))  # fmt: skip

# Starts that are far away, and forgotten.
for far in (1e6, 1e14, 1e100):
    _add(f"a start at {far:g}", "far start", np.eye(2), (1, -1), (far, far),
         "each w_i goes alone: to 1, and to 0, where x_2 sleeps", [(1, 0)],
         time=20 + np.log(far), changes=1)  # fmt: skip
_add("a start at 1e12 of a small fit", "far start", [(2, 0), (0, 1)], (0.02, -1), (1e12, 1e12),
     "each w_i goes alone: to 0.01, and to 0, where x_2 sleeps", [(0.01, 0)], time=60.0,
     changes=1)  # fmt: skip
_add("a far start of data in general position", "far start", SOME, LABELS, (3e7, 2e7), digits=140)

# All data on lines.
LINE = [(1,), (2,), (-1,), (-3,)]
_add("one dimension, from the left", "parallel", LINE, (1, 3, -2, -1), (-2,))
_add("one dimension, from the right", "parallel", LINE, (-1, -3, 2, 1), (2,))
_add("two lines of data", "parallel", [(1, 2), (2, 4), (-1, -2), (2, -1), (-2, 1), (4, -2)],
     (1, 3, 2, 1, 2, -1), (1, 0.4))  # fmt: skip

# Units.
for x, y in ((1e8, 1.0), (1e-8, 1.0), (1.0, 1e8), (1.0, 1e-8)):
    _add(f"inputs times {x:g}, labels times {y:g}", "units", x * np.array(SOME),
         y * np.array(LABELS), np.array([2, 1]) * y / x)  # fmt: skip
for unit in (1e2, 1e4, 1e8):
    columns = np.array([1.0, unit])
    _add(f"the second feature in units of 1/{unit:g}", "units", SOME * columns, LABELS,
         (2, 1) / columns)  # fmt: skip
_add("nearly collinear data", "units", [(1, 1), (1, 1 + 1e-4), (-1, 1e-2)], (1, 1.5, 1), (2, -1.5))
