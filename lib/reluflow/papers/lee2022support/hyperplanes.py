"""The page `hyperplanes`: Lemma F.10 and Theorem F.11."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import ExponentialEquation, determinant, fitted, solve
from reluflow.falsify import Instance, Statement
from reluflow.flows import exponential_sums
from reluflow.instances import data_draws, extended
from reluflow.ledger import Evidence, Reading, fact, note

# --- Second route: Lemma F.10 and Theorem F.11 over the rationals, and signs with sixty
# digits -------------------------------------------------------------------------------------------
#
# With whole exponents a sum of exponentials is a polynomial in u = exp(t), whose zeros Sturm's
# theorem counts; that no sum has more zeros than the lemma says is a determinant.


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


# --- How often a linear flow crosses a hyperplane: Lemma F.10, Theorem F.11, boundaries of
# the data -----------------------------------------------------------------------------------------
#
# Along the linear flow v.w(t) - c is a constant plus d exponentials (eq. 19). On sampled curves
# crossings are counted by the depth to which the curve alternates, which a search can raise.


# --- Lemma F.10: zeros of sums of exponentials ----------------------------------------------------


def zeros_by_isolation(equation: ExponentialEquation) -> int:
    """The number of zeros by `exponential_sums` in floating point: t > 0, t < 0 and t = 0.

    Multiplied by a power of u = exp(t), the sum has rates of one sign on each side.
    """
    found = int(equation.value(1) == 0)
    for side in (1, -1):
        terms = {-side * power: float(v) for power, v in equation.terms.items()}
        low = min(terms)
        rates = np.array([power - low for power in terms if power > low], float)
        b = -np.array([[value for power, value in terms.items() if power > low]])
        if rates.size == 0:
            continue
        start = float(equation.value(1))
        slope = float(equation.slope(1)) * side
        sign = np.array([np.sign(start) if start else np.sign(slope)])
        if sign[0] == 0:
            raise ValueError("a zero of higher order at t = 0")
        zeros = exponential_sums.zeros(np.array([start]), b, rates, sign)
        found += int(np.isfinite(zeros.crossings).sum() + np.isfinite(zeros.touches).sum())
    return found


def zeros_counted(seed: int, count: int) -> list[Evidence]:
    """Lemma F.10 on random equations: at most n zeros (Sturm), and as many by the isolation that
    the flows use."""
    rng = np.random.default_rng(seed)
    equations = [random_equation(rng) for _ in range(count)]
    zeros = [equation.zeros() for equation in equations]
    most = [len(equation.a) for equation in equations]
    isolated = [zeros_by_isolation(equation) for equation in equations]
    return [
        fact("equations with more than n zeros (Sturm)",
             sum(k > n for k, n in zip(zeros, most, strict=True)), 0),
        fact("equations whose zeros the flow's own isolation counts differently",
             sum(k != own for k, own in zip(zeros, isolated, strict=True)), 0),
        note("equations, and of them with exactly n zeros",
             (count, sum(k == n for k, n in zip(zeros, most, strict=True)))),
    ]  # fmt: skip


def some_constants() -> Reading:
    """Which constants Lemma F.10 can mean, and two equations that every t solves."""
    constant = ExponentialEquation((1,), (0,), 1)
    stuck = fitted((0, 1, 2), [1, 2, 4])
    checked = ["checked" if each.is_identity else "not so" for each in (constant, stuck)]
    return Reading(
        taken="some constants: any constants, b_i different and not zero, not all of a_i and c "
        "zero",
        others="Literally, that such constants exist, it says nothing. For all constants it is "
        f"false: exp(0 t) = 1 is an identity ({checked[0]}), and so is what "
        f"the construction gives once some b_i is 0 ({checked[1]}).",
    )


# --- Theorem F.11: crossings of a hyperplane ------------------------------------------------------


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
    """sv.thmF.11.1: under A1 to A3 a linear flow crosses a hyperplane at most d times.

    `most` stands for d.
    """
    limit = d if most is None else most
    return Statement(
        says=f"d = {d}: at most {limit} crossings of a hyperplane "
        + ("through d points of the path" if prescribed else "through one point"),
        draws=_starts(d),
        slack=lambda instance: -_crossings(instance, prescribed, limit + 2),
        hypotheses={"singular values of X within a factor 1000": _well_spread},
        tolerance=1e-9,
    )


AT_MOST = Reading(
    taken="no linear flow crosses a hyperplane more than d times, unless it lies in it",
    others="As printed, there is a data set whose flow crosses V at most d times: true of every "
    "data set, and of a flow that never meets V.",
)
ATTAINED = Reading(
    taken="some data set under A1 to A3, some w0 and some V attain d",
    others="As printed, at most d crossings are claimed, and none need be there.",
)
