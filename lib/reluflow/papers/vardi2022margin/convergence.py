"""Theorem 2.1: L goes to 0, and theta in direction to a KKT point of Problem (2).

It asks for L < 1, "namely" that every datum is classified correctly. For the exponential loss that
follows: each term is below 1. For the logistic loss it does not: a term is below log 2 exactly
where its datum is classified correctly, and log 2 < 1. And a start that meets both, a loss between
log 2 and 1 with every datum right, may lose a datum for ever: `loses_a_datum`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import PLANTED, Draw, Instance, Statement, given, planted
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.losses import LOGISTIC, Loss
from reluflow.margin.limits import Limit, limit
from reluflow.networks.indexed import Network, fully_connected
from reluflow.papers.vardi2022margin.convergence_exact import (
    HALF,
    NEAR,
    entered_below_one,
    second_is_lost,
    two_right_below_one,
)
from reluflow.papers.vardi2022margin.ends import replayed
from reluflow.papers.vardi2022margin.fitted_flows import LOG_2, REACH, THRESHOLD, Fitted
from reluflow.statistics import wilson

RESIDUAL = 1e-8
"""Largest KKT residual of a limit, over |theta|."""


# The threshold.


def classifies(loss: Loss, threshold: float) -> Statement:
    """mm.thm2.1.fit: L(theta) < `threshold` gives y_i Phi(theta; x_i) > 0 for all i.

    Instances are margins q (n,); every q is one of some network. The slack is the least of them.
    """

    def draw(scale: float) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, NDArray]:
            q = rng.standard_normal(int(rng.integers(1, 6))) * scale
            return {"q": q + (-q.min() * rng.choice([0.5, 0.9, 1.0, 1.5]))}

        return one

    def one_short(rng: np.random.Generator) -> dict[str, NDArray]:
        return {"q": np.append(rng.uniform(-0.6, 0.1), rng.uniform(5.0, 40.0, 3))}

    return Statement(
        f"{loss.name} loss, L < {'log 2' if threshold == LOG_2 else f'{threshold:g}'}: "
        "all data are classified correctly",
        {"margins of size 1": draw(1.0), "large": draw(100.0), "small": draw(1e-3),
         "one is short": one_short},
        lambda item: float(item["q"].min()),
        {f"L < {threshold:.3g}": lambda item: bool(
            loss.log_value(item["q"], np.ones(len(item["q"]))) < np.log(threshold))},
        strict=True,
    )  # fmt: skip


def misclassified() -> Counterexample:
    """The wrong-sign start of `START` breaks "L < 1, namely all data are classified correctly"."""
    q = _start_margin()
    return Counterexample(
        instance=INSTANCE,
        assumptions={"logistic loss, L < 1": bool(np.exp(LOGISTIC.log_value(*_as_data(q))) < 1.0)},
        breaks=(bound("y Φ of the network in floats", q, ">", 0.0, ""),),
        recheck=(
            fact(
                "L < 1 and y Φ > 0, by enclosures", entered_below_one() and -HALF * HALF > 0, True
            ),
        ),
        route="w v x as fractions, and log(1 + e^(1/4)) < 1 in ball arithmetic",
    )


# L < 1 and both data are right, and the second one is lost.

BOTH_RIGHT = (
    np.array([[1.0, -4.0], [0.0, 1.0]]),
    np.ones(2),
    np.array([1.5, float(NEAR), 1.0]),
)
"""Two data, their labels, and w(0), v(0) of one ReLU neuron."""


def loses_a_datum() -> Counterexample:
    """mm.thm2.1.1, mm.thm2.1.2: a ReLU neuron that is right on two data, at L(0) = 0.895. The
    first pulls it off the second, which is inactive from then on and costs log 2 for ever."""
    X, y, start = BOTH_RIGHT
    found = _right_once()
    margins = _margins(found)
    return Counterexample(
        instance={"network": "v σ(⟨w, x⟩), one ReLU neuron", "loss": "logistic", "x_1": (1, -4),
                  "x_2": (0, 1), "y_1, y_2": (1, 1), "w(0)": (Fraction(3, 2), NEAR), "v(0)": 1},
        assumptions={
            "homogeneous ReLU network, logistic loss, gradient flow": "the instance is one",
            "L(θ(0)) < 1": two_right_below_one(),
            "both data are classified correctly at the start":
                bool(np.all(y * fully_connected([2, 1]).output(start, X) > 0.0)),
        },
        breaks=(
            bound("L where the flow's clock stops", float(np.exp(found.path.field.log_loss(
                found.path.end))), "<", 0.5, "", digits=2),
            bound("y₂ Φ(x₂) at the direction where the integrated flow ends", margins[1], ">", 0.0,
                  ""),
        ),
        recheck=(
            fact("x₂ is active for ever", not second_is_lost(), True),
        ),
        route="enclosures: near the start ⟨w, x₂⟩ falls, whatever σ'(0), faster than v and "
        "⟨w, x₁⟩ leave their surroundings; without x₂ each step of w is a multiple of x₁, and "
        "⟨x₁, x₂⟩ = -4",
    )  # fmt: skip


# One datum on the wrong side.

START = np.array([-0.5, 0.5])
"""w(0) and v(0) of a linear network of depth 2 with one input and one hidden neuron."""
INSTANCE = {"network": "v w x, linear, depth 2, one neuron", "loss": "logistic", "x": 1, "y": 1,
            "w(0)": -HALF, "v(0)": HALF}  # fmt: skip


def _line() -> Network:
    return fully_connected([1, 1], "linear")


@cache
def _right_once() -> Limit:
    return limit(fully_connected([2, 1]), LOGISTIC, *BOTH_RIGHT)


def _margins(found: Limit) -> list[float]:
    X, y, _ = BOTH_RIGHT
    return [float(m) for m in y * fully_connected([2, 1]).output(found.path.end[:-1], X)]


def _start_margin() -> float:
    return float(_line().output(START, np.ones((1, 1)))[0])


def _as_data(q: float) -> tuple[NDArray, NDArray]:
    return np.array([q]), np.ones(1)


# What the flows of `fitted_flows` say.


def _followed(found: Sequence[Fitted]) -> list[Fitted]:
    """The flows that did not end where the field pushes back to a kink from both sides."""
    return [each for each in found if each.limit.status not in ("sliding", "non-unique")]


def loss_vanishes(found: Sequence[Fitted]) -> list[Evidence]:
    """The flows of `flows` come to L = 1e-10000 and grow; that of `BOTH_RIGHT` does not."""
    followed = _followed(found)
    short = sum(not each.limit.reached >= 0.99 * REACH for each in followed)
    shrunk = sum(not each.limit.path.end[-1] > each.limit.path.states[0][-1] for each in followed)
    return [
        fact("flows from starts that classify all data correctly whose loss is not taken to "
             "1e-10000", short, 0, tried=len(followed)),
        fact("those along which |θ| does not grow", shrunk, 0, tried=len(followed)),
        fact("logistic loss, L(0) = 0.895, a ReLU neuron that is right on both data at the start: "
             "the loss goes to 0", _right_once().reached > 100.0, True),
        note("flows that slide along a kink and were not followed", len(found) - len(followed)),
    ]  # fmt: skip


def directions_are_kkt(found: Sequence[Fitted]) -> list[Evidence]:
    """The flows of `flows` have limits that are KKT points; the flow of `BOTH_RIGHT` has none.

    A limit was polished, so that its residual is small by itself: the angle between theta and the
    gradient is the flow's own.
    """
    followed = _followed(found)
    decided = [each for each in followed if each.limit.converged]
    worst = max((each.limit.residual for each in decided), default=np.nan)
    turned = [each for each in decided if np.isfinite(each.angles).all()]
    # A flow that passes a saddle turns away for a while: a tendency, and no rule.
    nearer = sum(each.angles[1] < each.angles[0] or each.angles[1] < 1e-6 for each in turned)
    least = float(wilson(nearer, len(turned))[0]) if turned else np.nan
    return [
        bound("largest KKT residual of a limit, over |θ|", worst, "<=", RESIDUAL, ""),
        bound("share of the flows of which θ and -∇L are nearer at L = 1e-10000 than at 1e-10: "
              "lower end of its interval", least, ">", 0.5, "", digits=2),
        note("these flows, of those followed so far", (int(nearer), len(turned))),
        fact("logistic loss, L(0) = 0.895, a ReLU neuron that is right on both data at the start: "
             "the direction where it ends is feasible, up to its length",
             min(_margins(_right_once())) > 0.0, True),
        note("limits, of flows followed", (len(decided), len(followed))),
        note("kinds of networks", tuple(sorted({each.kind for each in decided}))),
    ]  # fmt: skip


def repaired(found: Sequence[Fitted]) -> Statement:
    """mm.ours.fit: from L < l(0) on L goes to 0, theta grows and tends to the direction of a KKT
    point; tried on the flows of `flows`. The slack is what is left of RESIDUAL, and -1 for a flow
    that does not come to L = 1e-10000 or whose |theta| does not grow."""

    def slack(item: Instance) -> float:
        (end,) = _followed([item["flow"]]) or (None,)
        if end is None or not end.limit.converged:
            return np.nan
        far = end.limit.reached >= 0.99 * REACH
        grew = end.limit.path.end[-1] > end.limit.path.states[0][-1]
        return RESIDUAL - end.limit.residual - (planted(item) - 1.0) if far and grew else -1.0

    items = [(each.kind, {"flow": each}) for each in found]
    return Statement(
        "the loss goes to 0, and the direction to that of a KKT point",
        replayed(items),
        slack,
        given("mm.ours.fit", network=lambda item: item["flow"].network.degree >= 2,
              flow=lambda item: item["flow"].loss.name in THRESHOLD,
              start=lambda item: item["flow"].starts_below),
        witness={**items[0][1], PLANTED: 2.0} if items else None,
    )  # fmt: skip
