"""Small starts: how small they have to be, their directions, and Proposition 4.4.

Lemma F.5 has an explicit radius, delta_0, and what this book says of small starts in the plane
holds at that radius. A statement that names no radius is tried at shrinking shares of delta_0, and
counts as broken by a data set only if it is broken at every one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import differential_evolution

from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import enumerate_cells
from reluflow.instances import near_boundary_start
from reluflow.networks import gradient
from reluflow.rational import rationals

NORMS = (0.9, 1e-2, 1e-4)
"""Norms of the starts, in units of `guaranteed_radius`."""


def unit_of_norm(X: ArrayLike, y: ArrayLike) -> float:
    """The smallest distance y_i / |x_i| of a solution hyperplane from the origin."""
    return float(np.min(np.asarray(y) / np.linalg.norm(X, axis=1)))


def forced(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> bool:
    """Whether q(w) > 0 componentwise; data within rounding of their boundary count as inactive.

    Near the origin -grad L = q, so this is the hypothesis of Proposition 4.4 and Theorem 4.7.
    """
    X, w = np.asarray(X, float), np.asarray(w, float)
    on = X @ w > 1e-13 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)
    return bool(np.all(np.where(on, y, 0.0) @ X > 0.0))


def random_direction(
    X: ArrayLike, y: ArrayLike, rng: np.random.Generator, tries: int = 100
) -> NDArray:
    """A random unit vector (d,) with q > 0; that of X^T y, which activates all data, where `tries`
    draws gave none."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    drawn = (rng.normal(size=X.shape[1]) for _ in range(tries))
    u = next((u for u in drawn if forced(X, y, u)), y @ X)
    return u / np.linalg.norm(u)


def start_direction(
    X: ArrayLike, y: ArrayLike, rng: np.random.Generator, tries: int = 100
) -> NDArray:
    """A unit vector (d,) with q > 0: of random direction, or as often near a datum's boundary."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    if rng.integers(2):
        drawn = (near_boundary_start({"X": X, "y": y}, rng)["w0"] for _ in range(tries))
        w = next((w for w in drawn if forced(X, y, w)), None)
        if w is not None:
            return w / np.linalg.norm(w)
    return random_direction(X, y, rng, tries)


def guaranteed_radius(X: ArrayLike, y: ArrayLike) -> float:
    """delta_0 = (a + Q - sqrt(Q^2 + 2 a Q)) / Lambda: smaller starts with q > 0 activate all data.

    a is the least x_j.q_P / |x_j| over all j and all cells P with q_P > 0, Q = |q| of all data, and
    Lambda the largest eigenvalue of sum x_i x_i^T. Under A1-A3 (A3 makes the cells exist).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    q = np.where(enumerate_cells(X).patterns, y, 0.0) @ X
    q = q[(q > 0).all(axis=1)]
    a = float((q @ (X / np.linalg.norm(X, axis=1, keepdims=True)).T).min())
    top = float(np.linalg.svd(X, compute_uv=False)[0]) ** 2
    return float(root_radius(a, np.linalg.norm(y @ X), top))


def root_radius(a: ArrayLike, Q: ArrayLike, top: ArrayLike) -> NDArray:
    """(a + Q - sqrt(Q^2 + 2 a Q)) / top, in the form without cancellation."""
    a, Q = np.asarray(a, float), np.asarray(Q, float)
    return a / np.asarray(top) * (a / (a + Q + np.sqrt(Q) * np.sqrt(Q + 2.0 * a)))


def gentle_radius(X: ArrayLike, y: ArrayLike) -> float:
    """rho = min_j x_j.q / |x_j| / Lambda, q and Lambda of all data: at all-active points of smaller
    norm every x_j.w increases, for x_j.(q - H w) / |x_j| >= x_j.q / |x_j| - Lambda |w|."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    top = float(np.linalg.svd(X, compute_uv=False)[0]) ** 2
    return float((X @ (y @ X) / np.linalg.norm(X, axis=1)).min()) / top


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


def reactivation_margin(X: ArrayLike, y: ArrayLike, u: ArrayLike) -> float:
    """How far the flow from a small start stays from re-activating a datum: below 0 if it does.

    Over all data that an event deactivates, the smallest -x_j.w / (|x_j| |w|) in the limit; where
    nothing is deactivated, 1 plus the smallest such cosine of an active datum in the limit, so that
    a search is led towards deactivation.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    path = affine_flow(X, y, 1e-6 * guaranteed_radius(X, y) * np.asarray(u))
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
