"""Theorems 2.1 and 5.2 without a kink: a linear network whose filter w looks at two patches.

Phi(theta; x) = v_1 w.p_1 + v_2 w.p_2 with w, v in R^2. Datum 1 has the patches (1, -1), (-1, 0) and
datum 2 has 0, (0, 1); both labels are 1, the loss is logistic. Both bilinear forms are symmetric,
so that w = v = (a, b) stays, with the margins q_1 = a (a - 2 b), q_2 = b^2 and

    a' = c_1 (a - b),   b' = c_2 b - c_1 a,   c_i = 1 / (1 + e^(q_i)).

In the strip a >= 2, 0 < b <= 1/4 both data are right, and a grows. On the edge b = 0 b falls, and
on the edge b = 1/4 it grows. The b(0) in [0, 1/4] from which the flow leaves by the one edge are an
open set, and those of the other edge are, too: some b(0) are in neither, and their flows stay.
There a and q_1 are unbounded, c_1 a goes to 0, and so does b, which else would grow to 1/4: L tends
to log 2, and theta to the direction (1, 0; 1, 0), in which datum 2 has the margin 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.losses import LOGISTIC
from reluflow.networks.indexed import convolutional

NETWORK = convolutional(2, 2, "linear")
X = np.array([[1.0, -1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
Y = np.ones(2)
A, EDGE = 2, Fraction(1, 4)
"""The strip: a >= A, 0 <= b <= EDGE; starts are w = v = (A, b)."""
CLOSE = 1e-13
"""How near bisection comes to the b(0) between the two kinds of flows."""
LATE = 30.0
"""The time up to which the flow from there is followed."""


def loss_stays() -> list[Evidence]:
    """That L goes to 0 from the start that bisection finds between the two edges (Theorem 5.2)."""
    b, loss, _ = _between()
    return [
        fact("logistic loss, a linear network with one filter on two patches, both data right all "
             "the time: L goes to 0", loss < 0.5, True),
        note("the b at which flows from w = v = (2, b), 0 < b < 1/4, turn from leaving by b < 0 to "
             "leaving by b > 1/4", b, digits=4),
    ]  # fmt: skip


def neither_end() -> Counterexample:
    """A flow that stays in the strip, where L > 0.66 and datum 2 has its margin from b alone, which
    goes to 0 (Theorems 2.1 and 5.2)."""
    _, loss, theta = _between()
    limit = np.array([1.0, 0.0, 1.0, 0.0])
    return Counterexample(
        instance={"network": "v₁⟨w, p₁⟩ + v₂⟨w, p₂⟩, linear, one filter w on two patches",
                  "loss": "logistic", "patches of datum 1": ((1, -1), (-1, 0)),
                  "patches of datum 2": ((0, 0), (0, 1)), "labels": (1, 1),
                  "w(0) = v(0)": "(2, b), b ≈ 0.0728 between 0 and 1/4"},
        assumptions={"linear network of depth 2 in the class N, logistic loss, gradient flow":
                         "the instance is one",
                     "L(θ(0)) < 1 for all 0 ≤ b ≤ 1/4, by enclosures": enters_below_one(),
                     "both data are right as long as a ≥ 2, 0 < b ≤ 1/4: q₁ ≥ 3 and q₂ = b²":
                         A * (A - 2 * EDGE) == 3 and bool(_margins(theta).min() > 0.0)},
        breaks=(
            bound(f"L at t = {LATE:g} from the b that bisection finds", loss, "<", 0.5, "",
                  digits=2),
            bound("y₂Φ(x₂) in the direction to which θ tends there, w = v = (1, 0)",
                  float(_margins(limit)[1]), ">", 0.0, ""),
        ),
        recheck=(
            fact("each flow from w = v = (2, b), 0 ≤ b ≤ 1/4, leaves the strip a ≥ 2, 0 ≤ b ≤ 1/4",
                 not edges_lead_out(), True),
            fact("L comes below 1/2 in the strip", not loss_is_large(), True),
        ),
        route="enclosures: both edges of the strip lead out, so that the starts that leave by the "
        "one and by the other are two open sets, and do not fill an interval",
    )  # fmt: skip


@cache
def _between() -> tuple[float, float, NDArray]:
    """b(0) at which the flow turns from leaving by b = 0 to leaving by b = EDGE, by the equations
    of a and b; L and theta (4,) at LATE from there, by the network's own gradient."""

    low, high, edge = 0.0, float(EDGE), float(EDGE)

    def out(_: float, ab: NDArray) -> float:
        return float(ab[1] * (edge - ab[1]))

    out.terminal = True  # type: ignore[attr-defined]
    while high - low > CLOSE:
        b = (low + high) / 2.0
        last = _path(_rates, [A, b], 3.0 * LATE, out)[1]
        low, high = (b, high) if last < edge / 2.0 else (low, b)
    end = _path(_velocity, [A, low, A, low], LATE)
    return low, float(LOGISTIC.value(_margins(end), Y)), end


def _path(rates: Any, start: list[float], until: float, out: Any = None) -> NDArray:
    path = solve_ivp(rates, (0.0, until), start, "DOP853", rtol=1e-10, atol=1e-12, events=out)
    return path.y[:, -1]


def _rates(_: float, ab: NDArray) -> list[float]:
    a, b = ab
    first, second = 1.0 / (1.0 + np.exp(a * (a - 2.0 * b))), 1.0 / (1.0 + np.exp(b * b))
    return [first * (a - b), second * b - first * a]


def _velocity(_: float, theta: NDArray) -> NDArray:
    return NETWORK.gradient(theta, X, LOGISTIC.pull(_margins(theta), Y))


def _margins(theta: NDArray) -> NDArray:
    return Y * NETWORK.output(theta, X)


# The strip, by enclosures.


def enters_below_one() -> bool:
    """Whether L(0) < 1 for 0 <= b <= EDGE: q_1 >= A (A - 2 EDGE) and q_2 >= 0 there."""
    return bool((1 + (-_ball(A * (A - 2 * EDGE))).exp()).log() + arb(2).log() < 1)


def edges_lead_out() -> bool:
    """Whether b' > 0 for a >= A, b = EDGE (b' = -c_1 a < 0 for b = 0 is seen).

    There c_1 a < a e^(2 EDGE a - a^2), which falls in a as 1/a < 2 a - 2 EDGE; at a = A it is below
    c_2 EDGE. And a' > 0, as EDGE < A.
    """
    edge = _ball(EDGE)
    pull = A * (2 * A * edge - A**2).exp()
    return bool(pull < edge / (1 + (edge * edge).exp())) and bool(1 / arb(A) < 2 * A - 2 * edge)


def loss_is_large() -> bool:
    """Whether L > 1/2 in the strip, where q_2 <= EDGE^2."""
    return bool((1 + (-_ball(EDGE * EDGE)).exp()).log() > arb(1) / 2)


def _ball(value: Fraction) -> arb:
    return arb(value.numerator) / arb(value.denominator)
