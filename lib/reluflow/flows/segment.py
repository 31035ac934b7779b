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

    Shapes: w0 (d,), V (d, r), b and rates (r,). The limit is `rest` + `fit` (d,): the part of w0
    off span(V), and V c. c (r,) are added up from numbers of the sizes `terms` (r,), and do not
    depend on w0. The first form keeps the digits early, the second one late, when a far start is
    forgotten. An `opening` knows no limit (fit is inf, and there is no c).
    """

    t0: float
    w0: NDArray
    V: NDArray
    b: NDArray
    rates: NDArray
    rest: NDArray
    fit: NDArray
    c: NDArray
    terms: NDArray

    @property
    def opens(self) -> bool:
        """Whether this is an `opening`."""
        return bool(np.isinf(self.fit[0]))

    @property
    def limit(self) -> NDArray:
        """Where the segment leads (d,)."""
        return self.rest + self.fit

    def at(self, t: NDArray) -> NDArray:
        """States (k, d) at times t (k,), infinity allowed."""
        return self.after(t - self.t0)

    def after(self, s: NDArray) -> NDArray:
        """States (k, d) at the times s (k,) from the segment's start on."""
        early, late = self._sizes(s)
        gone, left = -np.expm1(-self.rates * s[:, None]), np.exp(-self.rates * s[:, None])
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
        early, late = self._sizes(np.array([s]))
        # The rounding of rates s is one of exp(-rates s), as many times as large.
        decay = np.minimum(self.rates * s, 1e3)
        slack = (decay * np.exp(-decay)) @ np.abs(self.b)
        return float(min(early[0], late[0] + slack))

    def products(self, X: NDArray, h: NDArray, s: float) -> NDArray:
        """The x.w (n,) after the time s, from h (n,) on; a far `rest` is no part of their rounding
        for the data that do not feel it."""
        if not self.rest.any():
            return X @ self.after(np.array([s]))[0]
        early, late = self._sizes(np.array([s]))
        if early <= late:
            return h + X @ (self.V @ (self.b * -np.expm1(-self.rates * s)))
        return _felt(X, self.rest) + X @ (self.fit - self.V @ (self.b * np.exp(-self.rates * s)))

    def velocity(self, s: float) -> NDArray:
        """dw/dt (d,) at the time s from the segment's start on."""
        return self.V @ (self.b * self.rates * np.exp(-self.rates * s))


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
    X: NDArray,
    y: NDArray,
    w: NDArray,
    on: NDArray,
    normals: NDArray,
    t0: float,
    h: NDArray | None = None,
) -> Segment:
    """The affine flow of the data `on` (n,) from w, held on the hyperplanes `normals` (k, d).

    h (n,) is X w, where it is known better than from w."""
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
    rates, rest = s**2, _off(V, u)
    # The fitted point in span(V); where squaring the condition number would show, corrected.
    fit = V @ (U.T @ target / s)
    if s[0] > 10.0 * s[-1]:
        fit = refine(A, target, fit, V, rates)

    def coordinates(way: NDArray, force: NDArray) -> NDArray:
        # Two routes: each is exact where the other one cancels.
        closer = rates * (np.linalg.norm(way) + np.linalg.norm(rest)) <= np.linalg.norm(force)
        return np.where(closer, V.T @ way, V.T @ force / rates)

    gap = target - (A @ u if h is None else h[on])
    b = coordinates(fit + rest - u, A.T @ gap)
    c, terms = coordinates(fit, A.T @ target), np.abs(U).T @ np.abs(target) / s
    return Segment(t0, w, Q @ V, b, rates, Q @ rest, Q @ fit, c, terms)


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
    rates, V = factor.s**2, factor.V
    if rates.size == 0:
        return _still(w, t0), np.inf
    b, u = force @ V / rates, w @ V
    length, unknown = 100.0 / rates[0], np.zeros(0)
    start = Segment(
        t0, w, V, b, rates, _off(V, w), np.full(len(w), np.inf), c=unknown, terms=unknown
    )
    # Where a far start is forgotten, in any direction, the limit is needed for the digits.
    early = np.sqrt(w @ w) - np.expm1(-rates * length) @ np.abs(b)
    limit = w + V @ b
    late = np.sqrt(limit @ limit) + np.exp(-rates * length) @ np.abs(b)
    near = early <= 4.0 * late and np.linalg.norm(u) <= 10.0 * np.linalg.norm(u + b)
    return start, length if near else 0.0


def _off(V: NDArray, w: NDArray) -> NDArray:
    """The part of w (d,) orthogonal to the columns of V (d, r), zero where there is no room."""
    if V.shape[0] == V.shape[1]:
        return np.zeros(len(w))
    for _ in range(2):  # the second time what rounding has left
        w = w - V @ (V.T @ w)
    return w


def _felt(X: NDArray, rest: NDArray) -> NDArray:
    """The products of `rest` with the rows of X, those that are rounding alone as zero."""
    product = X @ rest
    rounding = 4 * (len(rest) + 8) * _EPS * (np.abs(X) @ np.abs(rest))
    return np.where(np.abs(product) <= rounding, 0.0, product)


def _still(w: NDArray, t0: float) -> Segment:
    none = np.zeros(0)
    return Segment(t0, w, np.zeros((len(w), 0)), none, none, w, np.zeros(len(w)), none, none)


def slopes_of(X: NDArray, current: Segment) -> NDArray:
    """Amplitudes (n, r) of x_j.w(t) - x_j.w0, those that are rounding alone set to zero."""
    return _along(X, current) * current.b


def limits_of(X: NDArray, h: NDArray, current: Segment) -> NDArray | None:
    """Limits (n,) of x_j.w(t), which is h (n,) at the start, those that are rounding alone set to
    zero: not h plus the amplitudes, for beside a far h they would drown. None for an opening."""
    if current.opens:
        return None
    along, still = _along(X, current), _felt(X, current.rest)
    limit = along @ current.c + still
    early = np.abs(h) + np.abs(along) @ np.abs(current.b)
    late = np.abs(along) @ current.terms + np.abs(still)
    return np.where(np.abs(limit) <= 32 * _EPS * np.minimum(early, late), 0.0, limit)


def _along(X: NDArray, current: Segment) -> NDArray:
    """The parts (n, r) of the data along V, those that are rounding alone set to zero."""
    along = X @ current.V
    rounding = 4 * _EPS * (np.abs(X) @ np.abs(current.V))
    return np.where(np.abs(along) <= rounding, 0.0, along)
