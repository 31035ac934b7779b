"""How often a linear flow crosses a hyperplane: Theorem F.11, and the boundaries of the data.

Along the linear flow v.w(t) - c is a constant plus d exponentials (eq. 19). On sampled curves
crossings are counted by the depth to which the curve alternates, which a search can raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.instances import data_draws, extended
from reluflow.papers.lee2022support.crossings_exact import ExponentialEquation, solve
from reluflow.papers.lee2022support.linear_exact import reflection


def alternation(f: ArrayLike, k: int, first: int | None = None) -> float:
    """How deeply f (m,) alternates: the largest h such that k values, in order, alternate in sign
    with |f| >= h. Positive exactly if k values do alternate, so that f has k - 1 sign changes.

    first  sign of the first of the k values, +1 or -1; None for either
    """
    f = np.asarray(f, float)
    if first is None:
        return max(alternation(f, k, 1), alternation(f, k, -1))
    best = np.full(len(f), np.inf)
    for step in range(k):
        best = np.maximum.accumulate(np.minimum(best, first * (-1) ** step * f))
    return float(best[-1])


def share_of_alternation(f: NDArray, rounding: float, k: int) -> float:
    """The `alternation` of f (m,) as a share of its largest size; what is no larger than
    `rounding` has no sign. NaN where that is all of f."""
    top = np.abs(f).max()
    if top <= rounding:
        return float("nan")
    return alternation(np.where(np.abs(f) <= rounding, 0.0, f / top), k)


@dataclass(frozen=True)
class Spectrum:
    """The linear flow from w0 in its eigenbasis: v.w(t) - c = v.w0 - c + sum_k (...)_k.

    rates (d,), axes (d, d) columns, gap (d,) = e_k.(w* - w0), w0 (d,).
    """

    rates: NDArray
    axes: NDArray
    gap: NDArray
    w0: NDArray

    def at(self, t: NDArray) -> NDArray:
        """States (k, d)."""
        return self.w0 + (-np.expm1(-self.rates * t[:, None]) * self.gap) @ self.axes.T

    def rounding(self, v: NDArray, c: float = 0.0) -> float:
        """How far v.at(t) - c, a constant and d exponentials, can be off by rounding at any t: that
        of its terms and of their sums (Higham 2002, ch. 3). Errors of rates, axes and gap only make
        it another constant and other exponentials."""
        terms = np.abs(self.w0) + np.abs(self.axes) @ np.abs(self.gap)
        return float(8 * (len(v) + 2) * np.finfo(float).eps * (np.abs(v) @ terms + abs(c)))

    def times(self, points: int) -> NDArray:
        """Times that resolve every rate, dense in the logarithm."""
        return np.geomspace(1e-3 / self.rates[-1], 40.0 / self.rates[0], points)


def spectrum(X: NDArray, y: NDArray, w0: NDArray) -> Spectrum:
    """The linear flow of data of full rank, through the eigenvectors of H."""
    rates, axes = np.linalg.eigh(X.T @ X)
    return Spectrum(rates, axes, (axes.T @ (X.T @ (y - X @ w0))) / rates, w0)


def _well_spread(instance: Instance) -> bool:
    values = np.linalg.svd(instance["X"], compute_uv=False)
    return bool(values[-1] > 1e-3 * values[0])


def through(points: NDArray) -> tuple[NDArray, float]:
    """The hyperplane v.w = c through d points (d, d), |v|^2 + c^2 = 1."""
    normal = np.linalg.svd(np.column_stack([points, -np.ones(len(points))]))[2][-1]
    return normal[:-1], float(normal[-1])


_KINDS = ("uniform", "directions", "integers")


def _starts(d: int) -> Mapping[str, Callable[[np.random.Generator], Instance]]:
    def more(item: Instance, rng: np.random.Generator) -> Instance:
        size = rng.choice([0.0, 1.0]) * np.linalg.norm(item["y"])
        times = np.sort(rng.uniform(0.0, 1.0, d))
        return {"w0": size * rng.normal(size=d), "places": times, "free": rng.normal(size=d + 1)}

    return extended(data_draws(d, (d, d + 3), _KINDS), more)


def _crossings(instance: Instance, prescribed: bool, k: int) -> float:
    """How deeply v.w(t) - c alternates k times, for a hyperplane through d points of the path or a
    random one through one point; NaN where the flow stays in it, as far as doubles tell."""
    flow = spectrum(instance["X"], instance["y"], instance["w0"])
    span = np.log(1e2 * flow.rates[-1] / flow.rates[0])
    at = 0.1 / flow.rates[-1] * np.exp(np.sort(instance["places"]) * span)
    if prescribed:
        v, c = through(flow.at(at))
    else:
        v = instance["free"][:-1]
        c = float(v @ flow.at(at[:1])[0])
    t = np.sort(np.append(flow.times(300), np.sqrt(at[1:] * at[:-1])))
    return share_of_alternation(flow.at(t) @ v - c, flow.rounding(v, c), k)


def crossings_bound(d: int, prescribed: bool, most: int | None = None) -> Statement:
    """F.11: under A1 to A3 a linear flow crosses a hyperplane at most d times (`most` for d)."""
    limit = d if most is None else most
    return Statement(
        says=f"d = {d}: at most {limit} crossings of a hyperplane "
        + ("through d points of the path" if prescribed else "through one point"),
        draws=_starts(d),
        slack=lambda instance: -_crossings(instance, prescribed, limit + 2),
        hypotheses={"singular values of X within a factor 1000": _well_spread},
        tolerance=1e-9,
    )


def hyperplanes_that_fail(seed: int, count: int) -> int:
    """Ours, exactly: of `count` flows, those where the hyperplane through d points of the path is
    not crossed there and nowhere else on t > 0.

    d = 1..4; each row of a rational rotation E appears l_k times among the data, so that H has the
    eigenvalues l_k, all different; w0 and w* have no equal coordinate; the points lie at rational
    u = exp(-t). The hyperplane comes from a linear system, the crossings from Sturm's theorem.
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
            v = solve([[*(np.array(row, object) @ E), Fraction(1)] for row in coordinates])
        except ValueError:  # the hyperplane contains the origin
            continue
        along = E @ np.array(v, object)
        constant = 1 - along @ np.array([int(v) for v in start + gap], object)
        equation = ExponentialEquation(
            tuple(-p * int(b) for p, b in zip(along, gap, strict=True)), tuple(rates), constant
        )
        simple = all(equation.value(u) == 0 and equation.slope(u) != 0 for u in zeros)
        failing += not (simple and equation.zeros(Fraction(0), Fraction(1)) == d)
    return failing


def boundary_crossings_bound(d: int, most: int | None = None) -> Statement:
    """Ours: from 0 a linear flow crosses a datum's boundary at most d - 1 times after t = 0."""
    limit = d - 1 if most is None else most

    def slack(instance: Instance) -> float:
        flow = spectrum(instance["X"], instance["y"], np.zeros(d))
        h = flow.at(flow.times(200)) @ instance["X"].T
        return -max(
            share_of_alternation(f, flow.rounding(x), limit + 2)
            for f, x in zip(h.T, instance["X"], strict=True)
        )

    return Statement(
        says=f"d = {d}, from 0: at most {limit} crossings of a datum's boundary after t = 0",
        draws=data_draws(d, (d, d + 3), _KINDS),
        slack=slack,
        hypotheses={"singular values of X within a factor 1000": _well_spread},
        tolerance=1e-9,
    )


def diagonal_example(d: int) -> tuple[ExponentialEquation, tuple[Fraction, ...]]:
    """Data k e_k with labels k, k = 1..d: A1 to A3 hold, and from 0 the flow is 1 - exp(-k^2 t).

    Returns v.w(t) = 1 as an equation in u = exp(-t), for the hyperplane met at u = 1/2, ..., 1/2^d,
    and its normal v.
    """
    zeros = [Fraction(1, 2**k) for k in range(1, d + 1)]
    rows = [[1 - u ** (k * k) for k in range(1, d + 1)] + [Fraction(1)] for u in zeros]
    v = tuple(solve(rows))
    powers = tuple(k * k for k in range(1, d + 1))
    return ExponentialEquation(tuple(-c for c in v), powers, 1 - sum(v)), v


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
