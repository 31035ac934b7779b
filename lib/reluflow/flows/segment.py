"""The affine flow inside one activation cell, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dgejsv

from reluflow.errors import InputError
from reluflow.flows.compensated import refine
from reluflow.flows.factor import Factor
from reluflow.flows.switching import tangent_basis

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Segment:
    """w(t) = w0 + V (b (1 - exp(-rates (t - t0)))) = limit - V (b exp(-rates (t - t0))) from t0 on.

    Shapes: w0 and limit (d,), V (d, r), b and rates (r,). The first form keeps the digits early,
    the second one late, when a far start is forgotten. An `opening` knows no limit (it is inf).
    """

    t0: float
    w0: NDArray
    V: NDArray
    b: NDArray
    rates: NDArray
    limit: NDArray

    def at(self, t: NDArray) -> NDArray:
        """States (k, d) at times t (k,), infinity allowed."""
        return self.after(t - self.t0)

    def after(self, s: NDArray) -> NDArray:
        """States (k, d) at the times s (k,) from the segment's start on."""
        gone = -np.expm1(-self.rates * s[:, None])
        if np.isinf(self.limit[0]):
            return self.w0 + (gone * self.b) @ self.V.T
        left = np.exp(-self.rates * s[:, None])
        early, late = self._sizes(s)
        return np.where(
            (early <= late)[:, None],
            self.w0 + (gone * self.b) @ self.V.T,
            self.limit - (left * self.b) @ self.V.T,
        )

    def _sizes(self, s: NDArray) -> tuple[NDArray, NDArray]:
        decay = -self.rates * s[:, None]
        early = np.linalg.norm(self.w0) - np.expm1(decay) @ np.abs(self.b)
        return early, np.linalg.norm(self.limit) + np.exp(decay) @ np.abs(self.b)

    def summed(self, s: float) -> float:
        """The size of what the state at the time s is added up from, in the better of the forms:
        its rounding is that of this size, and not of a far start that is forgotten."""
        return float(min(self._sizes(np.array([s])))[0])

    def velocity(self, s: float) -> NDArray:
        """dw/dt (d,) at the time s from the segment's start on."""
        return self.V @ (self.b * self.rates * np.exp(-self.rates * s))

    def polished(self, x: NDArray, s: float) -> float:
        """The zero s of x.w, known to rounding of the early form, to rounding of the late form."""
        if np.isinf(self.limit[0]):
            return s
        slopes = (x @ self.V) * self.b
        for _ in range(2):
            left = np.exp(-self.rates * s)
            early = np.abs(x) @ np.abs(self.w0) + np.abs(slopes) @ (1.0 - left)
            late = np.abs(x) @ np.abs(self.limit) + np.abs(slopes) @ left
            value, slope = x @ self.limit - slopes @ left, slopes @ (self.rates * left)
            if not late < early or not abs(value) < 1e-8 * abs(slope) * s:
                break
            s = s - value / slope
        return float(s)


def problem(X: ArrayLike, y: ArrayLike, w0: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Data, labels and start as float arrays of fitting shapes (n, d), (n,), (d,).

    Raises InputError naming what is wrong: shape, size or a value that is not finite.
    """
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise InputError(f"X must have shape (n, d) with n, d >= 1, not {X.shape}")
    if y.shape != X.shape[:1]:
        raise InputError(f"y must have shape ({X.shape[0]},) to go with X, not {y.shape}")
    if w0.shape != X.shape[1:]:
        raise InputError(f"w0 must have shape ({X.shape[1]},) to go with X, not {w0.shape}")
    for name, value in (("X", X), ("y", y), ("w0", w0)):
        if not np.isfinite(value).all():
            raise InputError(f"{name} has an entry that is not finite")
    return X, y, w0


def check_steps(step: float, n_steps: int) -> None:
    """Raise InputError for a step of descent that is not positive, or n_steps not in 0, 1, ..."""
    if not (np.isfinite(step) and step > 0):
        raise InputError(f"step must be a positive number, not {step!r}")
    if int(n_steps) != n_steps or n_steps < 0:
        raise InputError(f"n_steps must be a whole number from 0 on, not {n_steps!r}")


def segment(
    X: NDArray, y: NDArray, w: NDArray, on: NDArray, normals: NDArray, t0: float
) -> Segment:
    """The affine flow of the data `on` (n,) from w, held on the hyperplanes `normals` (k, d)."""
    Q = tangent_basis(normals, len(w))
    A, target, u = X[on] @ Q, y[on], Q.T @ w  # the same problem in the hyperplanes' coordinates
    if not A.size or not A.any():
        return _still(w, t0)
    U, s, V = _decomposed(A)
    # Rounding moves s_k by its share of every column. What is left of data that are orthogonal to
    # the hyperplanes is rounding of these data.
    sizes = np.linalg.norm(A, axis=0)
    if len(normals):
        sizes = np.full(len(V), max(sizes.max(), np.linalg.norm(X[on], axis=1).max()))
    kept = s > max(A.shape) * _EPS * (sizes @ np.abs(V))
    U, s, V = U[:, kept], s[kept], V[:, kept]
    if s.size == 0:
        return _still(w, t0)
    rates = s**2
    # The fitted point in u + span(V); where squaring the condition number would show, corrected.
    best = u + V @ (U.T @ (target - A @ u) / s)
    if s[0] > 10.0 * s[-1] or np.linalg.norm(u) > 10.0 * np.linalg.norm(best):
        best = refine(A, target, best, V, rates)
    # Two routes to the amplitudes: each is exact where the other one cancels.
    force = A.T @ (target - A @ u)
    along, to_best = V.T @ force / rates, V.T @ (best - u)
    closer = rates * np.linalg.norm(best - u) <= np.linalg.norm(force)
    limit = Q @ best + (w - Q @ u if len(normals) else 0.0)
    return Segment(t0, w, Q @ V, np.where(closer, to_best, along), rates, limit)


def _decomposed(A: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """U, s, V of A (m, k) = U diag(s) V^T, by Jacobi's method (Drmac & Veselic 2008).

    Rows or columns of very different size, such as features in different units, cost no digits.
    """
    m, k = A.shape
    tall = np.vstack([A, np.zeros((max(k - m, 0), k))])
    s, U, V, work, _, failed = dgejsv(tall, joba=2)
    if failed:
        raise np.linalg.LinAlgError(f"Jacobi's method did not converge ({failed})")
    return U[:m], s * (work[0] / work[1]), V


def opening(factor: Factor, force: NDArray, w: NDArray, t0: float) -> tuple[Segment, float]:
    """The first stretch of `segment` without hyperplanes, and its length, which may be zero.

    While l_max s < 100 the force A^T (y - A w) tells the amplitudes to rounding, however small the
    other rates. So there is no need for the limit, whose digits are dear.
    """
    rates = factor.s**2
    if rates.size == 0:
        return _still(w, t0), np.inf
    b = force @ factor.V / rates
    length, limit = 100.0 / rates[0], w + factor.V @ b
    left = np.exp(-rates * length)
    early = np.sqrt(w @ w) + (1.0 - left) @ np.abs(b)
    late = np.sqrt(limit @ limit) + left @ np.abs(b)
    start = Segment(t0, w, factor.V, b, rates, np.full(len(w), np.inf))
    # Where a far start is forgotten on the way, the limit is needed for the digits.
    return start, length if early <= 4.0 * late else 0.0


def _still(w: NDArray, t0: float) -> Segment:
    return Segment(t0, w, np.zeros((len(w), 0)), np.zeros(0), np.zeros(0), w)


def slopes_of(X: NDArray, current: Segment) -> NDArray:
    """Amplitudes (n, r) of x_j.w(t) - x_j.w0, those that are rounding alone set to zero."""
    slopes = (X @ current.V) * current.b
    rounding = 4 * _EPS * (np.abs(X) @ np.abs(current.V)) * np.abs(current.b)
    return np.where(np.abs(slopes) <= rounding, 0.0, slopes)
