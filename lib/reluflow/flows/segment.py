"""The affine flow inside one activation cell, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.boundaries import tangent_projector
from reluflow.flows.compensated import refine

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Segment:
    """w(t) = w0 + V (b (1 - exp(-rates (t - t0)))) from t0 on; w0 (d,), V (d, r), b, rates (r,)."""

    t0: float
    w0: NDArray
    V: NDArray
    b: NDArray
    rates: NDArray

    def at(self, t: NDArray) -> NDArray:
        """States (k, d) at times t (k,), infinity allowed."""
        decay = -np.expm1(-self.rates * (t - self.t0)[:, None])
        return self.w0 + (decay * self.b) @ self.V.T

    @property
    def limit(self) -> NDArray:
        """The state (d,) that the closed form tends to."""
        return self.w0 + self.V @ self.b


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


def segment(
    X: NDArray, y: NDArray, w: NDArray, on: NDArray, normals: NDArray, t0: float
) -> Segment:
    """The affine flow of the data `on` (n,) from w, held on the hyperplanes `normals` (k, d)."""
    A, target = X[on], y[on]
    if len(normals):
        A = A @ tangent_projector(normals, len(w))
    if len(A) == 0 or not A.any():
        d = len(w)
        return Segment(t0, w, np.zeros((d, 0)), np.zeros(0), np.zeros(0))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.sum(s > s[0] * max(A.shape) * _EPS))
    U, s, V = U[:, :rank], s[:rank], Vt[:rank].T
    rates = s**2
    # The fitted point in w + span(V); where squaring the condition number would show, corrected.
    best = w + V @ (U.T @ (target - A @ w) / s)
    if s[0] > 10.0 * s[-1]:
        best = refine(A, target, best, V, rates)
    # Two routes to the amplitudes: each is exact where the other one cancels.
    force = A.T @ (target - A @ w)
    along, to_best = V.T @ force / rates, V.T @ (best - w)
    closer = rates * np.linalg.norm(best - w) <= np.linalg.norm(force)
    return Segment(t0, w, V, np.where(closer, to_best, along), rates)


def slopes_of(X: NDArray, current: Segment) -> NDArray:
    """Amplitudes (n, r) of x_j.w(t) - x_j.w0, those that are rounding alone set to zero."""
    slopes = (X @ current.V) * current.b
    rounding = 4 * _EPS * (np.abs(X) @ np.abs(current.V)) * np.abs(current.b)
    return np.where(np.abs(slopes) <= rounding, 0.0, slopes)
