"""Small starts: Proposition 4.4, Lemma 4.6 and Theorem 4.7, tried on many data sets.

"Infinitesimal" is a limit, so every start is tried at several shrinking norms, and a statement
counts as broken by a data set only if it is broken at every one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import sympy
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import differential_evolution
from scipy.stats import binomtest

from reluflow.approx import approx
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import local_minima
from reluflow.instances import Instance
from reluflow.networks import gradient
from reluflow.rational import rationals

NORMS = (1e-4, 1e-7, 1e-10)
"""Norms of the starts, in units of the smallest y_i / |x_i| of the data set."""


def unit_of_norm(X: ArrayLike, y: ArrayLike) -> float:
    """The smallest distance y_i / |x_i| of a solution hyperplane from the origin."""
    return float(np.min(np.asarray(y) / np.linalg.norm(X, axis=1)))


def nontrivial_direction(
    X: ArrayLike, y: ArrayLike, rng: np.random.Generator, tries: int = 100
) -> tuple[NDArray | None, int]:
    """A random unit vector (d,) with q > 0 componentwise, and how many draws it took.

    Near the origin -grad L = q, so this is the hypothesis of Proposition 4.4 and Theorem 4.7.
    Returns None after `tries` draws without one.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    for draw in range(1, tries + 1):
        u = rng.normal(size=X.shape[1])
        u /= np.linalg.norm(u)
        q = np.where(X @ u > 0, y, 0.0) @ X
        if np.all(q > 0):
            return u, draw
    return None, tries


def reactivations(path: Trajectory) -> int:
    """How many events activate a datum that an earlier event had deactivated."""
    gone, count = set(), 0
    for event in path.events:
        if event.kind == "activate" and event.datum in gone:
            count += 1
        elif event.kind == "deactivate":
            gone.add(event.datum)
    return count


def largest_norm_drop(path: Trajectory, points: int = 60) -> float:
    """The largest drop of |w(t)| between neighbouring points of the path, relative to |w(inf)|."""
    norms = np.linalg.norm(path.at(path.grid(points)), axis=1)
    return float(max(0.0, np.max(-np.diff(norms), initial=0.0)) / np.linalg.norm(path.end))


@dataclass(frozen=True)
class SmallStartSurvey:
    """Flows from small starts in the plane, against Lemma 4.6 and Theorem 4.7.

    instances         data sets tried, each from one direction at all NORMS
    rejected          draws of a direction that did not satisfy q(w0) > 0
    flows             exact flows followed
    deactivating      data sets whose flow deactivates something
    reactivating      data sets whose flow re-activates a datum, at every norm
    shrinking         data sets whose flow loses norm by more than 1e-11 of |w(inf)|, at every norm
    largest_drop      largest relative drop of the norm seen between neighbouring points
    disagreeing       data sets whose limits at the norms differ by more than 1e-6
    undecided         data sets with a flow that is not unique
    not_global        data sets whose limit is not a global minimum, at every norm
    not_largest       data sets with a local minimum of more support vectors than the limit's
    excess            sorted L(limit) / L(global) - 1 of those not global, global loss > 0
    by_size           {n: (data sets, not global)}
    """

    instances: int
    rejected: int
    flows: int
    deactivating: int
    reactivating: int
    shrinking: int
    largest_drop: float
    disagreeing: int
    undecided: int
    not_global: int
    not_largest: int
    excess: tuple[float, ...]
    by_size: dict[int, tuple[int, int]]

    def table(self) -> pd.DataFrame:
        """The survey in words and numbers."""
        worst = approx(self.excess[-1], 3) if self.excess else "none"
        sizes = {
            f"… of those with n = {n}": f"{bad} of {tried}"
            for n, (tried, bad) in self.by_size.items()
        }
        rows = {
            "data sets": self.instances,
            "draws of a start rejected, q > 0 not met": self.rejected,
            "flows": self.flows,
            "data sets with a deactivation": self.deactivating,
            "data sets with a re-activation": self.reactivating,
            "data sets whose norm drops": self.shrinking,
            "data sets whose limit changes with the norm": self.disagreeing,
            "data sets whose limit is not global": self.not_global,
            **sizes,
            "largest L(limit) / L(global) - 1 among them": worst,
            "data sets with a minimum of more support vectors": self.not_largest,
        }
        return pd.DataFrame({"count": list(map(str, rows.values()))}, index=list(rows))


def share_interval(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval for a probability, from `hits` in `trials`."""
    interval = binomtest(hits, trials).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def survey_small_starts(instances: Iterable[Instance], seed: int) -> SmallStartSurvey:
    """Follow the exact flow of every data set from shrinking starts in one random direction."""
    rng = np.random.default_rng(seed)
    count = rejected = flows = deactivating = reactivating = shrinking = 0
    disagreeing = undecided = not_global = not_largest = 0
    drop, excess, by_size = 0.0, [], {}
    for item in instances:
        u, draws = nontrivial_direction(item.X, item.y, rng)
        rejected += draws - (u is not None)
        if u is None:
            continue
        unit = unit_of_norm(item.X, item.y)
        paths = [affine_flow(item.X, item.y, norm * unit * u) for norm in NORMS]
        count += 1
        flows += len(paths)
        if any(path.status != "converged" for path in paths):
            undecided += 1
            continue
        drops = [largest_norm_drop(path) for path in paths]
        drop = max(drop, *drops)
        shrinking += min(drops) > 1e-11
        deactivating += any(e.kind == "deactivate" for p in paths for e in p.events)
        reactivating += min(reactivations(path) for path in paths) > 0
        ends = np.array([path.end for path in paths])
        disagreeing += np.ptp(ends, axis=0).max() > 1e-6 * np.linalg.norm(ends[-1])
        minima = local_minima(item.X, item.y)
        best = minima[0].loss
        losses = [_loss_at(item, path.end) for path in paths]
        fails = min(losses) > best + 1e-9 * 0.5 * float(item.y @ item.y)
        not_global += fails
        if fails and best > 1e-12 * 0.5 * float(item.y @ item.y):
            excess.append(float(min(losses) / best - 1.0))
        support = int(np.sum(item.X @ paths[-1].end > 0))
        not_largest += max(len(m.support) for m in minima) > support
        tried, failed = by_size.get(len(item.y), (0, 0))
        by_size[len(item.y)] = (tried + 1, failed + int(fails))
    return SmallStartSurvey(
        count, rejected, flows, deactivating, int(reactivating), int(shrinking), drop,
        int(disagreeing), undecided, int(not_global), int(not_largest), tuple(sorted(excess)),
        dict(sorted(by_size.items())),
    )  # fmt: skip


def _loss_at(item: Instance, w: NDArray) -> float:
    return 0.5 * float(np.sum((np.maximum(item.X @ w, 0.0) - item.y) ** 2))


def smallest_force(X: ArrayLike, y: ArrayLike, starts: ArrayLike) -> float:
    """The smallest component of -grad L over all starts (k, d): positive under the hypothesis."""
    return float(min((-gradient(X, y, w)).min() for w in np.asarray(starts, float)))


@dataclass(frozen=True)
class PreactivationPolynomial:
    """x_j.w(t) of the all-active flow as an exact polynomial in u = exp(-g t), rational g > 0.

    limit    its value at w0 = 0, per power of u: {power: coefficient}
    start    its change per unit of a start w0 = eps v: {power: coefficient}
    rate     g: every eigenvalue of H is a whole multiple of it
    """

    limit: dict[int, Fraction]
    start: dict[int, Fraction]
    rate: Fraction

    def value(self, u: Fraction) -> Fraction:
        """x_j.w at w0 = 0 and exp(-g t) = u."""
        return sum((c * u**p for p, c in self.limit.items()), Fraction(0))

    def slope(self, u: Fraction) -> Fraction:
        """Its derivative by u."""
        return sum((c * p * u ** (p - 1) for p, c in self.limit.items() if p), Fraction(0))

    def zeros(self, eps: Fraction) -> int:
        """How often it vanishes for 0 < u < 1 (all t > 0) from w0 = eps v, by Sturm's theorem."""
        u = sympy.Symbol("u")
        powers = set(self.limit) | set(self.start)
        total = sum(
            _rational(self.limit.get(p, Fraction(0)) + eps * self.start.get(p, Fraction(0))) * u**p
            for p in powers
        )
        inside = sympy.Poly(total, u).count_roots(0, 1)
        ends = sum(sympy.Poly(total, u).eval(end) == 0 for end in (0, 1))
        return int(inside - ends)

    def shift(self, u: Fraction) -> Fraction:
        """What a start w0 = eps v adds to it at u, divided by eps."""
        return sum((c * u**p for p, c in self.start.items()), Fraction(0))


def preactivation_polynomial(
    X: Sequence[Sequence[int]], y: Sequence[int], j: int, v: Sequence[Fraction]
) -> PreactivationPolynomial:
    """The pre-activation of datum j (from 0) along the all-active flow from eps v, exactly.

    Needs integer data whose H = X^T X has rational eigenvalues: then the eigenprojections P_k are
    rational (Lagrange's formula) and
    w(t) = sum_k [(1 - u^(l_k/g)) P_k q / l_k + eps u^(l_k/g) P_k v].
    A second route to the flow in rational arithmetic. Raises ValueError for other spectra.
    """
    A = sympy.Matrix([[sympy.Rational(str(v)) for v in row] for row in rationals(X)])
    labels = sympy.Matrix([sympy.Rational(str(v)) for v in rationals(y)])
    H, q = A.T * A, A.T * labels
    spectrum = H.eigenvals()
    if not all(value.is_rational and value > 0 for value in spectrum):
        raise ValueError("the eigenvalues of H are not all rational and positive")
    eigenvalues = sorted(spectrum)
    common = sympy.ilcm(1, *[value.q for value in eigenvalues])
    g = sympy.Rational(sympy.igcd(0, *[int(value * common) for value in eigenvalues]), common)
    limit, start = {0: Fraction(0)}, {}
    direction = sympy.Matrix([_rational(Fraction(c)) for c in v])
    for value in eigenvalues:
        P = sympy.eye(H.rows)
        for other in eigenvalues:
            if other != value:
                P = P * (H - other * sympy.eye(H.rows)) / (value - other)
        power = int(value / g)
        settled = _fraction((A[j, :] * P * q)[0] / value)
        limit[0] += settled
        limit[power] = -settled
        start[power] = _fraction((A[j, :] * P * direction)[0])
    return PreactivationPolynomial(limit, start, _fraction(g))


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _fraction(value: sympy.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def full_rank_along(X: ArrayLike, path: Trajectory) -> bool:
    """Whether H(w(t)) has rank d between all events and in the limit."""
    X = np.asarray(X, float)
    middles = np.append(0.5 * (path.t[1:] + path.t[:-1]), path.t[-1] + 1.0)
    states = np.vstack([path.at(middles), path.end])
    return all(np.linalg.matrix_rank(X[X @ w > 0]) == X.shape[1] for w in states)


@dataclass(frozen=True)
class AgreementSurvey:
    """Proposition 4.4 on random data: do small starts in several directions agree?

    instances    data sets whose flows all have H of full rank; `rejected` the others
    directions   starts tried on each, all with -grad L > 0
    disagreeing  data sets with two limits farther apart than 1e-6 of their size, at every norm
    """

    instances: int
    rejected: int
    directions: int
    disagreeing: int


def survey_agreement(
    instances: Iterable[Instance], seed: int, directions: int = 4
) -> AgreementSurvey:
    """Follow small starts in several directions on every data set and compare their limits."""
    rng = np.random.default_rng(seed)
    count = rejected = disagreeing = 0
    for item in instances:
        drawn = [nontrivial_direction(item.X, item.y, rng)[0] for _ in range(directions)]
        unit = unit_of_norm(item.X, item.y)
        if any(u is None for u in drawn):
            rejected += 1
            continue
        first = [affine_flow(item.X, item.y, NORMS[1] * unit * u) for u in drawn]
        if not all(p.status == "converged" and full_rank_along(item.X, p) for p in first):
            rejected += 1
            continue
        count += 1
        if _apart(first):
            smaller = [affine_flow(item.X, item.y, NORMS[2] * unit * u) for u in drawn]
            disagreeing += _apart(smaller)
    return AgreementSurvey(count, rejected, directions, disagreeing)


def _apart(paths: Sequence[Trajectory]) -> bool:
    ends = np.array([path.end for path in paths])
    return bool(np.ptp(ends, axis=0).max() > 1e-6 * np.linalg.norm(ends[0]))


def reactivation_margin(X: ArrayLike, y: ArrayLike, u: ArrayLike) -> float:
    """How far the flow from a small start stays from re-activating a datum: below 0 if it does.

    Over all data that an event deactivates, the smallest -x_j.w / (|x_j| |w|) in the limit; where
    nothing is deactivated, 1 plus the smallest such cosine of an active datum in the limit, so that
    a search is led towards deactivation.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    path = affine_flow(X, y, NORMS[1] * unit_of_norm(X, y) * np.asarray(u))
    if reactivations(path):
        return -1.0
    gone = {e.datum: e.t for e in path.events if e.kind == "deactivate"}
    cosine = (X @ path.end) / (np.linalg.norm(X, axis=1) * np.linalg.norm(path.end))
    if not gone:
        return 1.0 + float(np.abs(cosine).min())
    return float(-max(cosine[j] for j in gone))


def search_reactivation(seed: int, evaluations: int, n: int = 4) -> tuple[float, int]:
    """Minimise `reactivation_margin` over planar data sets by differential evolution (SciPy).

    The variables are the angles, log-lengths and log-labels of n data; the start points along
    their mean. Returns the smallest margin found and the number of flows followed.
    """
    used = 0

    def objective(z: NDArray) -> float:
        nonlocal used
        used += 1
        angles, lengths, labels = z[:n], 10.0 ** z[n : 2 * n], 10.0 ** z[2 * n :]
        X = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        u = X.mean(axis=0)
        return reactivation_margin(X, labels, u / np.linalg.norm(u))

    box = [(0.0, np.pi / 2)] * n + [(-2.0, 2.0)] * (2 * n)
    generations = max(1, evaluations // (3 * n * 5) - 1)
    result = differential_evolution(
        objective, box, maxiter=generations, popsize=5, seed=seed, polish=False, tol=0.0
    )
    return float(result.fun), used
