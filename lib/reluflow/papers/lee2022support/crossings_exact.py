"""Lemma F.10 and Theorem F.11 over the rationals, and signs with sixty digits.

With whole exponents a sum of exponentials is a polynomial in u = exp(t), whose zeros Sturm's
theorem counts; that no sum has more zeros than the lemma says is a determinant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
import numpy as np
from numpy.typing import ArrayLike

from reluflow.exact import ExponentialEquation, determinant, fitted, solve
from reluflow.falsify import Instance, Statement
from reluflow.ledger import Evidence, fact, note
from reluflow.papers.lee2022support.linear_exact import reflection

MOST = 6
"""The Vandermonde construction is carried out for n = 1..MOST."""


def points_of_zeros(zero_exponent: bool = False) -> Statement:
    """sv.lemF.10: as a determinant, no sum of 1 and n exponentials vanishes at n + 1 points.

    For exponents 0, b_1, ..., b_n, all different, and u_0 < ... < u_n the matrix u_j^(b_i) has a
    positive determinant, columns in ascending order of the exponent; so only the zero sum vanishes
    at all u_j = exp(t_j). Exact: u_j = points_j / 12 with whole points_j. With `zero_exponent` one
    b_i is 0 as well, which the lemma as printed does not exclude.
    """

    def draw(kind: str) -> Callable[[np.random.Generator], Instance]:
        def one(rng: np.random.Generator) -> Instance:
            n = int(rng.integers(1, 6))
            nonzero = np.delete(np.arange(-6, 7), 6)
            b = rng.permutation(nonzero)[:n]
            if zero_exponent:
                b[0] = 0
            first = {"wide": 1, "close": 10**4}[kind]
            return {
                "b": b,
                "points": first + rng.permutation(60 if kind == "wide" else 12)[: n + 1],
            }

        return one

    def slack(instance: Instance) -> float:
        exponents = sorted([0, *map(int, instance["b"])])
        points = sorted(Fraction(int(v), 12) for v in instance["points"])
        det = determinant([[u**k for k in exponents] for u in points])
        return float((det > 0) - (det < 0))

    return Statement(
        says="no sum of 1 and n exponentials vanishes at n + 1 points",
        draws={kind: draw(kind) for kind in ("wide", "close")},
        slack=slack,
        strict=True,
    )


def random_equation(rng: np.random.Generator, most: int = 5) -> ExponentialEquation:
    """Whole exponents, different and not zero, and small whole coefficients; half of the equations
    are fitted to n zeros instead."""
    n = int(rng.integers(1, most + 1))
    b = tuple(map(int, rng.permutation([-4, -3, -2, -1, 1, 2, 3, 4, 5])[:n]))
    if rng.uniform() < 0.5:
        return fitted(b, [Fraction(int(v), 3) for v in rng.permutation(np.arange(1, 10))[:n]])
    a = rng.integers(-6, 7, n)
    a[0] = a[0] or 1  # with all a_i = 0 and c = 0 every t would be a zero
    return ExponentialEquation(tuple(map(int, a)), b, int(rng.integers(-5, 6)))


def zeros_attained() -> list[Evidence]:
    """The construction in the proof of Lemma F.10: n zeros, all simple, for n = 1..MOST."""
    attained = []
    for n in range(1, MOST + 1):
        b = [(k + 1) // 2 * (-1) ** k for k in range(1, n + 1)]  # -1, 1, -2, 2, ...
        zeros = [2**k for k in range(n)]  # t = 0, 1, ..., n - 1 in units of log 2
        equation = fitted(b, zeros)
        attained.append(equation.zeros() if equation.crosses(zeros) else -1)
    says = "zeros of the Vandermonde equations for n = 1, 2, ..., all simple"
    return [fact(says, tuple(attained), tuple(range(1, MOST + 1)))]


def hyperplanes_attained(seed: int, count: int) -> list[Evidence]:
    """sv.ours.linear.hyperplane: any d times are the crossing times of one hyperplane.

    Tried exactly on `count` flows, d = 1..4: each row of a rational rotation E appears l_k times
    among the data, so that H has the eigenvalues l_k, all different; w0 and w* have no equal
    coordinate; the points lie at rational u = exp(-t). The hyperplane comes from a linear system,
    its crossings on t > 0 from Sturm's theorem.
    """
    rng = np.random.default_rng(seed)
    failing = 0
    for _ in range(count):
        d = int(rng.integers(1, 5))
        E = reflection(d, rng)
        rates = [int(v) for v in rng.permutation(6)[:d] + 1]
        start, gap = (rng.integers(low, 6, d) for low in (-5, 1))
        zeros = [Fraction(int(v), 20) for v in rng.permutation(np.arange(1, 20))[:d]]
        coordinates = [
            [int(a) + int(b) * (1 - u**k) for a, b, k in zip(start, gap, rates, strict=True)]
            for u in zeros
        ]
        try:
            v = solve([np.array(row, object) @ E for row in coordinates], [1] * d)
        except ValueError:  # the hyperplane contains the origin
            continue
        along = E @ np.array(v, object)
        constant = 1 - along @ np.array([int(v) for v in start + gap], object)
        equation = ExponentialEquation(
            tuple(-p * int(b) for p, b in zip(along, gap, strict=True)), tuple(rates), constant
        )
        failing += not (equation.crosses(zeros) and equation.zeros(0, 1) == d)
    says = "flows whose hyperplane through d points is not crossed there and only there (Sturm)"
    return [fact(says, failing, 0), note("flows, d = 1 to 4", count), note("seed", seed)]


def diagonal_example(d: int) -> tuple[ExponentialEquation, tuple[Fraction, ...]]:
    """Data k e_k with labels k, k = 1..d: A1 to A3 hold, and from 0 the flow is 1 - exp(-k^2 t).

    Returns v.w(t) = 1 as an equation in u = exp(-t), for the hyperplane met at u = 1/2, ..., 1/2^d,
    and its normal v.
    """
    zeros = [Fraction(1, 2**k) for k in range(1, d + 1)]
    v = tuple(solve([[1 - u ** (k * k) for k in range(1, d + 1)] for u in zeros], [1] * d))
    powers = tuple(k * k for k in range(1, d + 1))
    return ExponentialEquation(tuple(-c for c in v), powers, 1 - sum(v)), v


def diagonal_crossings(dimensions: Sequence[int]) -> list[Evidence]:
    """sv.thmF.11.2: d crossings at t > 0 on data that satisfy A1 to A3, in these dimensions."""
    equations = [diagonal_example(d)[0] for d in dimensions]
    turning = [
        e.crosses(Fraction(1, 2**k) for k in range(1, d + 1))
        for d, e in zip(dimensions, equations, strict=True)
    ]
    return [
        fact(f"crossings at t > 0 of the diagonal example, d = {tuple(dimensions)} (Sturm)",
             tuple(e.zeros(0, 1) for e in equations), tuple(dimensions)),
        fact("each of them changes the sign", all(turning), True),
    ]  # fmt: skip


def exact_signs(
    X: ArrayLike, y: ArrayLike, j: int, times: Sequence[Fraction], digits: int = 60
) -> tuple[int, ...]:
    """Signs of x_j.w(t) along the linear flow from 0, by mpmath's matrix exponential.

    w(t) is the last column of exp(t [[-H, q], [0, 0]]): no eigenvectors, `digits` decimal digits.
    """
    X, y = np.asarray(X, int), np.asarray(y, int)
    H, q, d = X.T @ X, X.T @ y, X.shape[1]
    generator = np.zeros((d + 1, d + 1), int)
    generator[:-1, :-1], generator[:-1, -1] = -H, q
    with mpmath.workdps(digits):
        signs = []
        for t in times:
            A = mpmath.matrix(generator.tolist()) * (mpmath.mpf(t.numerator) / t.denominator)
            state = mpmath.expm(A)[:d, d]
            signs.append(
                int(mpmath.sign(sum(int(x) * s for x, s in zip(X[j], state, strict=True))))
            )
    return tuple(signs)
