"""Theorem 1's time t_1 forgets the start: a neuron beside x_- stays in S_- for longer than that.

The text puts zeta = max(zeta_1, zeta_2); then min(zeta, xi) = mu^2, for zeta_1 >= mu^2 = xi, and
the printed t_1 = 16 log n / (mu^2 sqrt(mu) X_min) is the same for every start. But a neuron of V_+
at the angle theta from x_- needs about log(1/theta) / |x_-| to leave S_-.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.alignment import Alignment, Beside, align
from reluflow.geometry.separability import separation
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact
from reluflow.papers.min2024early.constants import (
    alignment_time,
    data_constants,
    log_eps_allowed,
    printed_zeta,
    start_constants,
)
from reluflow.papers.min2024early.excluded_direction_exact import certainly_less, enclosed
from reluflow.papers.min2024early.flows import alignment_times, flow, patterns

LARGEST_CAP = Reading(
    "ζ₁ is the supremum of the numbers that Lemma 8 allows",
    "Lemma 8 says only that there is one. With a smaller ζ₁ the printed bound grows, and fails for "
    "starts that are nearer to x₋, as long as ζ₁ > ζ₂",
)
"""Which zeta_1 is meant."""
HALF_TANGENT = Fraction(1, 10**7)
"""tan(theta/2) of the start's angle theta from x_2."""
LOG_EPS = -200
MUS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
X = np.array([[1.0, 0.0], [-12.0 / 13.0, 5.0 / 13.0]])
Y = np.array([1.0, -1.0])
_UNTIL = 20.0
"""The angle is 2e-7 at first: the tolerances must be far below it."""


def start() -> NDArray:
    """The unit vector (1, 2) at the angle theta from x_2, on the side of x_1."""
    half = float(HALF_TANGENT)
    along, across = (1.0 - half**2) / (1.0 + half**2), 2.0 * half / (1.0 + half**2)
    return (along * X[1] + across * np.array([5.0 / 13.0, 12.0 / 13.0]))[None]


def _times() -> tuple[float, float, float, bool]:
    """By the flow at ln eps = LOG_EPS: when the first pattern ends, and when the neuron is home;
    beside them the printed t_1, and whether (Small) allows this eps."""
    signs = np.ones(1)
    data, begin = data_constants(X, Y), start_constants(X, Y, start(), signs)
    zeta = printed_zeta(data, begin)
    found = flow(X, Y, start(), signs, LOG_EPS, _UNTIL, rtol=1e-12)
    first = [t for t, _ in patterns(found)][1]
    allowed = log_eps_allowed(data, begin, zeta)
    return first, float(alignment_times(found)[0]), alignment_time(data, zeta), allowed >= LOG_EPS


def _example(breaks: Evidence, recheck: Evidence, allowed: bool) -> Counterexample:
    certain = enclosed(HALF_TANGENT, LOG_EPS)
    return Counterexample(
        instance={
            "x_1": (1, 0), "y_1": 1,
            "x_2": (Fraction(-12, 13), Fraction(5, 13)), "y_2": -1,
            "tan(θ/2), θ the angle of w₁(0) from x₂ towards x₁": HALF_TANGENT,
            "v_1(0)": "|w_1(0)|",
            "ln ε": LOG_EPS,
        },
        assumptions={
            "(A1), μ = 12/13": abs(separation(X, Y) - 12.0 / 13.0) < 1e-12,
            "(A2), w₁(0) is no multiple of x₋ = x₂": HALF_TANGENT > 0,
            "(Small), by both routes": allowed and certain.small,
            "(R), the flow is the regular one": "the integrator's is",
        },
        breaks=(breaks,),
        recheck=(recheck,),
        route="in S₋ the angle obeys dθ/dt = e^f sin θ with 0 ≤ f ≤ ε², which puts the time of "
        "the exit between two logarithms, enclosed in ball arithmetic",
    )  # fmt: skip


def _deep(mu: float) -> tuple[Alignment, float]:
    """Two unit data with this mu, as eps -> 0: a neuron of V_+ so near to x_- that it stays there
    for longer than t_1; and the printed t_1."""
    data = np.array([[1.0, 0.0], [-mu, np.sqrt(1.0 - mu**2)]])
    found = data_constants(data, Y)
    t_1 = alignment_time(found, found.xi)
    return align(data, Y, Beside(np.array([1.0, 0.0]), -(t_1 + 5.0))), t_1


def kept_at_every_mu() -> Evidence:
    """How many mu there are with data and a start that keeps its pattern for too long: all."""
    kept = sum(found.durations[0] > t_1 / (4.0 * np.log(2.0)) for found, t_1 in map(_deep, MUS))
    return fact("values of μ for which two data have a start that keeps its active datum for "
                "longer than the printed bound", int(kept), 0, tried=len(MUS))  # fmt: skip


def is_not_home_at_t_1() -> Counterexample:
    """Two data, mu = 12/13, t_1 = 13.5, and a neuron that is in S_- until 15.7."""
    _, home, t_1, allowed = _times()
    certain = enclosed(HALF_TANGENT, LOG_EPS)
    early = certainly_less(certain.exit, certain.t_1)
    return _example(
        bound("time at which the flow brings the neuron home", home, "<=", t_1, "", digits=3),
        fact("the time of the exit from S₋ is enclosed below t₁", early, True),
        allowed,
    )


def keeps_its_pattern() -> Counterexample:
    """The same neuron keeps its one active datum until 15.7, where 4.9 is allowed."""
    first, _, t_1, allowed = _times()
    certain = enclosed(HALF_TANGENT, LOG_EPS)
    early = certainly_less(certain.exit, certain.pattern)
    longest = t_1 / (4.0 * np.log(2.0))  # 4 / (m_2 sqrt(mu) X_min n_a), n_a = 1
    return _example(
        bound("time for which the flow keeps x₂ alone active", first, "<=", longest, "", digits=3),
        fact("the time of the exit from S₋ is enclosed below 4/(m₂ √μ Xₘᵢₙ)", early, True),
        allowed,
    )
