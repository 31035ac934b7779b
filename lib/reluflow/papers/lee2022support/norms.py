"""The norm along the flow: g(w) and Lemma F.7, boundary crossings and conditions B1-B4, and where
small starts in the plane go (Theorem F.6, Lemmas F.8 and F.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.activity import Crossing, visited_cells
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import meets_cell, rank
from reluflow.networks import gradient, loss
from reluflow.rational import preactivation_polynomial


def norm_rate(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> NDArray:
    """g(w) = w.(H(w) w - q(w)) = -1/2 d|w|^2/dt (Definition D.3, Lemma F.7).

    Parameters: X (n, d), y (n,), w (..., d). Returns shape (...).
    """
    w = np.asarray(w, float)
    return (w * gradient(X, y, w)).sum(axis=-1)


@dataclass(frozen=True)
class Conditions:
    """B1-B4 of Theorem F.6 at one crossing, each as a slack that is positive where it holds.

    B1     min_k of the right-hand side less |Delta e_k|
    B2     the right-hand side less y_0, in units of y_0; NaN where H or H~ is singular
    full   B3: whether H~ (and H, whose inverse B2 needs) has full rank
    B4     -x_0.w_P^* / (|x_0| |w_P^*|)
    inner  1 - x_0.H^-1 x_0, which the proof takes to be positive
    """

    B1: float
    B2: float
    full: bool
    B4: float
    inner: float

    @property
    def smallest(self) -> float:
        """The least of the slacks; minus infinity where B3 fails."""
        return min(self.B1, self.B2, self.B4) if self.full else -np.inf

    @property
    def hold(self) -> bool:
        """Whether B1-B4 all hold."""
        return self.smallest > 0.0


def conditions(X: ArrayLike, y: ArrayLike, crossing: Crossing) -> Conditions:
    """B1-B4 at a crossing, read in the paper's favour where it leaves something open.

    The signs of e_k make c_k^* >= 0 (Definition D.2); the eigenvectors of H~ are taken in the order
    and with the signs that bring them nearest to those of H. X (n, d), y (n,).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    before, after = X[crossing.before], X[crossing.after]
    d, w0 = X.shape[1], crossing.w
    if rank(before) < d or rank(after) < d:
        return Conditions(np.nan, np.nan, False, np.nan, np.nan)
    old = np.linalg.lstsq(before, y[crossing.before], rcond=0)[0]
    new = np.linalg.lstsq(after, y[crossing.after], rcond=0)[0]
    # From the data, not from H, whose small eigenvalues rounding would hide.
    roots, E = (v[::-1].T for v in np.linalg.svd(before, full_matrices=False)[1:])
    rates = roots**2
    E = E * np.where(E.T @ old < 0.0, -1.0, 1.0)
    turned = np.linalg.svd(after, full_matrices=False)[2][::-1].T
    c, target, size = E.T @ w0, E.T @ old, np.linalg.norm(w0)
    room = rates[0] / rates[-1] * c / size
    x, label = X[crossing.datum], y[crossing.datum]
    inner = 1.0 - float(np.sum((x @ E / roots) ** 2))
    # The bracket of B2 times c_k, so that c_k = 0 needs no division.
    bracket = (target - c) / rates - np.linalg.norm(new - w0) / size / rates[-1] * c
    right = x @ old + inner / np.linalg.norm(x) * float(np.min(bracket * rates**2))
    return Conditions(
        B1=max(float(np.min(room - _apart(E, turned[:, order]))) for order in _orders(d)),
        B2=float((right - label) / label),
        full=True,
        B4=float(-(x @ old) / (np.linalg.norm(x) * np.linalg.norm(old))),
        inner=inner,
    )


def _orders(d: int) -> list[list[int]]:
    return [list(order) for order in permutations(range(d))]


def _apart(E: NDArray, turned: NDArray) -> NDArray:
    """|Delta e_k| (d,) under the better sign of each turned eigenvector."""
    return np.minimum(
        np.linalg.norm(turned - E, axis=0), np.linalg.norm(turned + E, axis=0)
    )  # fmt: skip


def first_resting_cell(X: ArrayLike, y: ArrayLike, path: Trajectory) -> tuple[int, int]:
    """Of the cells that a path passes: the place of the first one that holds a virtual minimum of
    its own (-1 where none does), and the place of the last cell, both from 0."""
    return resting_places(X, y, visited_cells(X, path))


def resting_places(X: ArrayLike, y: ArrayLike, cells: Sequence[NDArray]) -> tuple[int, int]:
    """`first_resting_cell` of cells given by their active data (n,)."""
    place = next((k for k, on in enumerate(cells) if meets_cell(X, y, on)), -1)
    return place, len(cells) - 1


def least_planar_loss(X: ArrayLike, y: ArrayLike) -> float:
    """The least loss over the plane, under A1 and A2: min of L(w_P^*) over all cells P.

    The global minimum is among these points, and no point has less. By Lemma 4.5 the active data
    of a cell are, in the order of their angles, the first k or the last k. X (n, 2), y (n,).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    order = np.argsort(np.arctan2(X[:, 1], X[:, 0]), kind="stable")
    best = 0.5 * float(y @ y)
    for some in (order, order[::-1]):
        for k in range(1, len(y) + 1):
            w = np.linalg.lstsq(X[some[:k]], y[some[:k]], rcond=None)[0]
            best = min(best, float(loss(X, y, w)))
    return best


def all_active_direction(X: ArrayLike, rng: np.random.Generator) -> NDArray:
    """A random unit vector (2,) of the all-active cell, uniform in angle. X (n, 2), A1."""
    angles = np.arctan2(np.asarray(X)[:, 1], np.asarray(X)[:, 0])
    turn = rng.uniform(angles.max() - np.pi / 2, angles.min() + np.pi / 2)
    return np.array([np.cos(turn), np.sin(turn)])


def aligned_labels(X: ArrayLike, scale: float = 1.0) -> NDArray:
    """Labels y = scale X e_1, e_1 the top eigenvector of X^T X: the coincidence c_2^* = 0."""
    X = np.asarray(X, float)
    return scale * X @ np.abs(np.linalg.eigh(X.T @ X)[1][:, -1])


def rate_polynomial(
    X: Sequence[Sequence[int]], y: Sequence[int], v: Sequence[int]
) -> tuple[sympy.Poly, sympy.Symbol]:
    """g along the all-active flow from w0 = eps v, exactly: a polynomial in u = exp(-l t), and eps.

    g = sum_i h_i (h_i - y_i) with the polynomials h_i = x_i.w of `preactivation_polynomial`; l is
    the greatest common measure of the eigenvalues of H, which must be rational.
    """
    u, eps = sympy.symbols("u eps")
    total = sympy.Integer(0)
    for j, label in enumerate(y):
        found = preactivation_polynomial(X, y, j, [Fraction(c) for c in v])
        h = sum(_exact(c) * u**p for p, c in found.limit.items())
        h += eps * sum(_exact(c) * u**p for p, c in found.start.items())
        total += h * (h - sympy.Integer(int(label)))
    return sympy.Poly(sympy.expand(total), u), eps


def _exact(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def late_sign(polynomial: sympy.Poly, eps: sympy.Symbol, value: Fraction) -> int:
    """The sign of g for all late times, u -> 0+, at eps = value: that of its lowest power of u."""
    exact = sympy.Poly(polynomial.as_expr().subs(eps, _exact(value)), polynomial.gen)
    return int(sympy.sign(exact.coeffs()[-1]))


def standstill() -> tuple[dict[str, tuple], sympy.Poly]:
    """A flow whose norm strictly increases through a moment at which g is zero.

    x_1 = (1, 2), x_2 = (2, 1), so that H has eigenvalue 9 on (1, 1) and 1 on (1, -1), and
    w(t) = (a - u^9) (1, 1) + (b - u) (1, -1) with u = exp(-t). Then -g = 2 f(u) u with
    f = b - u + 9 a u^8 - 9 u^17, and a, b are such that f and its slope vanish at u = 1/2.
    Returns the instance, in fractions, and f.
    """
    u = sympy.Symbol("u")
    half = sympy.Rational(1, 2)
    a = (1 + 153 * half**16) / (72 * half**7)
    b = half - 9 * a * half**8 + 9 * half**17
    f = sympy.Poly(b - u + 9 * a * u**8 - 9 * u**17, u)
    as_fraction = lambda value: Fraction(int(value.p), int(value.q))  # noqa: E731
    instance = {
        "X": ((1, 2), (2, 1)),
        "y": (as_fraction(3 * a - b), as_fraction(3 * a + b)),
        "w0": (as_fraction(a + b - 2), as_fraction(a - b)),
    }
    return instance, f


def global_misses(m: int) -> tuple[NDArray, NDArray]:
    """Our family x = (1, 0), (0, m), (m, m), y = (m, 1, 1), m >= 2, of integers X (3, 2), y (3,).

    The all-active minimum (2m, 2/m) / (m^2 + 2) has loss m^4 / (2 (m^2 + 2)); (m, 1/m - m), which
    ignores x_2, has loss 1/2; and L(0) = (m^2 + 2) / 2.
    """
    return np.array([[1, 0], [0, m], [m, m]]), np.array([m, 1, 1])


def sharp_instance(m: int, eps: Fraction) -> tuple[NDArray, NDArray, tuple[Fraction, Fraction]]:
    """x = (m, m + 1), (m + 1, m), y = (2m + 1)(1, 1) and w0 = eps (m + 2, -m), in the all-active
    cell: an overshoot of nearly |w0|^2. The eigenvalues are N = (2m + 1)^2 and 1, and w* = (1, 1).
    """
    X = np.array([[m, m + 1], [m + 1, m]])
    return X, np.full(2, 2 * m + 1), (eps * (m + 2), -eps * m)


def sharp_share(m: int, eps: Fraction, u: Fraction) -> Fraction:
    """(|w|^2 - |w*|^2) / |w0|^2 of `sharp_instance` where exp(-t) = u, exactly:
    w = (1 - (1 - eps) u^N) (1, 1) + eps (m + 1) u (1, -1)."""
    along = 1 - (1 - eps) * u ** (2 * m + 1) ** 2
    return (along**2 + (eps * (m + 1) * u) ** 2 - 1) / (eps**2 * (1 + (m + 1) ** 2))
