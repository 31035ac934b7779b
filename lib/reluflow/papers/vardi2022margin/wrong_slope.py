"""A constant sigma'(0), as Section 2 allows, that leads gradient flow to no KKT point.

One filter w in R^2 looks at four patches, and two output weights serve two patches each,

    Phi(theta; x) = a [s(w.p_1) + s(w.p_3)] + b [s(w.p_2) + s(w.p_4)].

Datum A, y = 1, has p_1 = (1, 0), p_2 = (-1, 0), p_3 = (0, 1), p_4 = 0; datum B, y = -1, has p_4 =
(0, 1) and no other patch. Where w = (0, beta), a = alpha, b = -alpha, the first two patches of A
have input 0, but a s(w_1) + b s(-w_1) = alpha w_1: there Phi has the slope alpha in w_1. With
sigma'(0) = 0 the flow takes it to be 0, and never leaves. The balanced end of that ray, 2 alpha^2 =
beta^2, would need lambda_A alpha = 0 for w_1, and lambda_A beta = alpha for a.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from reluflow.ledger import Counterexample, Evidence, bound, fact
from reluflow.losses import EXPONENTIAL
from reluflow.margin.kkt import kkt
from reluflow.margin.limits import Limit, limit
from reluflow.networks.indexed import Network

PATCHES = 4
NETWORK = Network(
    (np.kron(np.eye(PATCHES, dtype=int), np.array([[1, 2]])), np.array([[1, 2, 1, 2]]))
)
X = np.array([[1.0, 0, -1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]])
Y = np.array([1.0, -1.0])
START = np.array([0.0, 2.0, 1.0, -1.0])
"""w = (0, 2), a = 1, b = -1."""
SLOPE = 0.0
"""sigma'(0) of the counterexample."""


def ended(value: float) -> Limit:
    """Where the flow goes with sigma'(0) = value."""
    return limit(NETWORK, EXPONENTIAL, X, Y, START, at_zero=value)


def effect() -> list[Evidence]:
    """Whether this network's flow goes to a KKT point for every sigma'(0) in {0, 1/2, 1}."""
    ends = [ended(value) for value in (0.0, 0.5, 1.0)]
    return [fact("values of σ'(0) in {0, 1/2, 1} with which a flow with shared weights converges "
                 "to no KKT point", sum(not end.converged for end in ends), 0)]  # fmt: skip


def no_kkt_point() -> Counterexample:
    """mm.thm2.1.slope: with sigma'(0) = 0 the flow of the exponential loss converges in direction
    to no KKT point, and with 1/2 to a shorter one that is."""
    stays, leaves = ended(SLOPE), ended(0.5)
    seen = kkt(NETWORK, stays.theta, X, Y)
    lengths = [float(end.theta @ end.theta) for end in (stays, leaves)]
    alpha, beta = 2.0**-0.25, 2.0**0.25
    return Counterexample(
        instance={"network": "a [σ(⟨w, p_1⟩) + σ(⟨w, p_3⟩)] + b [σ(⟨w, p_2⟩) + σ(⟨w, p_4⟩)]: a "
                  "filter w on four patches", "loss": "exponential",
                  "p_1, ..., p_4 of datum A": X[0].reshape(PATCHES, 2).astype(int),
                  "p_1, ..., p_4 of datum B": X[1].reshape(PATCHES, 2).astype(int),
                  "labels of A and B": (1, -1), "w(0)": (0, 2), "(a, b)(0)": (1, -1),
                  "σ'(0)": int(SLOPE)},
        assumptions={"the network is in the class N, of depth 2, with shared weights":
                         len(NETWORK.maps) == 2 and NETWORK.size < sum((g > 0).sum()
                                                                       for g in NETWORK.maps),
                     "L(0) = 2 e⁻² < 1": bool(np.exp(-NETWORK.output(START, X) * Y).sum() < 1.0),
                     "σ'(0) is a constant in [0, 1]": 0.0 <= SLOPE <= 1.0},
        breaks=(
            bound("distance of the limit from the KKT conditions, over |θ|", seen.residual, "<=",
                  1e-9, "", digits=4),
            bound("|θ|² of the limit with σ'(0) = 0, less that with σ'(0) = 1/2",
                  lengths[0] - lengths[1], "<=", 1e-6, "", digits=4),
        ),
        recheck=(
            fact("slope of Φ in w₁ for A at the start: difference quotients at h = ±1/8, ±1/64",
                 slopes(Fraction(2), Fraction(1)), (0, 0, 0, 0)),
            bound("λ_A α in the equation of w₁, with λ_A = α/β from that of a, at α = 2^(-1/4), "
                  "β = 2^(1/4)", alpha**2 / beta, "<=", 0, "", digits=4),
        ),
        route="Φ at the start in fractions: the slope that σ'(0) = 0 gives is 0, and the true one "
        "is 1; and the KKT equations of the ray by hand",
    )  # fmt: skip


def slopes(beta: Fraction, alpha: Fraction) -> tuple[int, ...]:
    """Difference quotients of Phi(.; A) in w_1 at w = (0, beta), a = alpha, b = -alpha."""
    found = []
    for h in (Fraction(1, 8), Fraction(-1, 8), Fraction(1, 64), Fraction(-1, 64)):
        quotient = (_value((h, beta), alpha) - _value((Fraction(0), beta), alpha)) / h
        found.append(int(quotient) if quotient.denominator == 1 else 10**9)
    return tuple(found)


def _value(w: Sequence[Fraction], alpha: Fraction) -> Fraction:
    """Phi(.; A) with a = alpha, b = -alpha, written out."""
    first, second, third = (max(z, Fraction(0)) for z in (w[0], -w[0], w[1]))
    return alpha * (first + third) - alpha * second
