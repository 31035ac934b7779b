"""How often a linear flow crosses a hyperplane: Lemma F.10, Theorem F.11, boundaries of the data.

Along the linear flow v.w(t) - c is a constant plus d exponentials (eq. 19). On sampled curves
crossings are counted by the depth to which the curve alternates, which a search can raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import ExponentialEquation, fitted
from reluflow.falsify import Instance, Statement
from reluflow.flows import exponential_sums
from reluflow.instances import data_draws, extended
from reluflow.ledger import Evidence, Reading, fact, note
from reluflow.papers.lee2022support.crossings_exact import random_equation

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
