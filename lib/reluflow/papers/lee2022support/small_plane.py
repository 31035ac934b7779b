"""Small starts in the plane: where they end, told from the data alone (Lemma 4.6, Theorem 4.7).

Under A1-A3 every cell of the plane with active data keeps the first k or the last k of the data in
the order of their angles (Lemma 4.5). A flow from |w0| < delta_0 with q(w0) > 0 keeps all data, or
gives up the steepest ones, or the flattest ones, class by class, until a cell holds its own virtual
minimum, boundary included; there it ends. The chapter proves it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import fractions, solve
from reluflow.flows.planar_cells import virtual_minima
from reluflow.geometry import rank
from reluflow.papers.lee2022support.small_starts import root_radius

SURE = 1e-9
"""A cosine below this is decided in rational arithmetic."""

NEAR = 1e-6
"""Limits count as equal up to this share of their norm."""


def resting_point(X: ArrayLike, y: ArrayLike) -> tuple[NDArray, NDArray]:
    """The data (n,) active where small starts end, and that point (2,), in rational arithmetic.

    X (n, 2) and y (n,) under A1-A3, taken as the rationals that they are. A datum on its boundary
    there counts as active, for no event has switched it off.
    """
    X, y = fractions(X), fractions(y)
    flat = sorted(range(len(X)), key=lambda j: X[j, 1] / X[j].sum())
    w = _fit(X[flat], y[flat])
    if X[flat[0]] @ w < 0:
        flat = flat[::-1]  # the flattest are given up, in place of the steepest
    while X[flat[-1]] @ w < 0:
        flat = flat[:-1]
        w = _fit(X[flat], y[flat])
    return np.isin(np.arange(len(X)), flat), w.astype(float)


def has_settled(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> bool:
    """Whether w (2,) is a virtual minimum of its closed cell, as the limit of every flow is.

    Data within SURE of their boundary may count on either side. Where rates differ by more than
    double precision holds, a path in doubles can stop short of its limit; here that shows.
    """
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h, units = X @ w, np.linalg.norm(X, axis=1) * np.linalg.norm(w)
    rows, labels = fractions(X), fractions(y)
    for on in (h > SURE * units, h >= -SURE * units):
        if on.any() and rank(X[on]) == 2:
            fitted = _fit(rows[on], labels[on])
            if np.any(np.where(on, 1, -1) * (rows @ fitted) < 0):
                continue
            fit = fitted.astype(float)
        else:
            fit = w + np.linalg.lstsq(X[on], (y - h)[on])[0]
        if np.linalg.norm(fit - w) <= NEAR * np.linalg.norm(fit):
            return True
    return False


def _fit(X: NDArray, y: NDArray) -> NDArray:
    """The least-squares fit (2,) of data in fractions that span the plane."""
    return np.array(solve(X.T @ X, X.T @ y), object)


@dataclass(frozen=True)
class PlanarData:
    """What B data sets of the plane tell of the flows from small starts.

    radius   (B,) delta_0, by a route that enumerates no cells
    limit    (B, 2) where small starts end
    support  (B,) number of data active there
    loss     (B,) the loss there, and `least` (B,) the least loss of all
    most     (B,) the largest number of data active at any local minimum
    """

    radius: NDArray
    limit: NDArray
    support: NDArray
    loss: NDArray
    least: NDArray
    most: NDArray


def planar_data(X: NDArray, y: NDArray) -> PlanarData:
    """`PlanarData` of X (B, n, 2), zero rows standing for no datum, and y (B, n), under A1-A3."""
    real = X.any(axis=2)
    angle = np.where(real, np.arctan2(X[..., 1], X[..., 0]), np.inf)
    order = np.argsort(angle, axis=1, kind="stable")
    X, y = np.take_along_axis(X, order[..., None], 1), np.take_along_axis(y, order, 1)
    real = np.take_along_axis(real, order, 1)
    y = np.where(real, y, 0.0)
    B, n = y.shape
    rows, last = np.arange(B), real.sum(axis=1) - 1
    lower = np.tri(n, dtype=bool)
    # Patterns 0 .. n-1 keep the flattest k+1 data, patterns n .. 2n-1 the data from k on.
    on = np.concatenate([lower, lower.T])[None] & real[:, None, :]
    same = X[:, :, None, 0] * X[:, None, :, 1] == X[:, :, None, 1] * X[:, None, :, 0]
    on = (on[:, :, :, None] & same[:, None] & real[:, None, None, :]).any(axis=2)
    w, rates = virtual_minima(X[:, None], y[:, None], on)
    h = (X[:, None] * w[:, :, None, :]).sum(axis=3)
    size = np.hypot(X[..., 0], X[..., 1])
    units = size[:, None] * np.linalg.norm(w, axis=2)[..., None]
    losses = 0.5 * ((np.maximum(h, 0.0) - y[:, None]) ** 2).sum(axis=2)
    zero = 0.5 * (y**2).sum(axis=1)
    k = _resting_pattern(h, units, last)
    for b in np.nonzero(np.isnan(k))[0]:
        kept, _ = resting_point(X[b, : last[b] + 1], y[b, : last[b] + 1])
        k[b] = kept.sum() - 1 if kept[0] else n + np.argmax(kept)
    k = k.astype(int)
    inside = np.where(on, h > 0, h <= 0) | ~real[:, None]
    holds = inside.all(axis=2) | (rates[..., 1] == 0.0)
    q = (on * y[:, None])[..., None] * X[:, None]
    q = q.sum(axis=2)
    ahead = (X[:, None] * q[:, :, None, :]).sum(axis=3) / np.where(real, size, 1.0)[:, None]
    ahead = np.where((q > 0).all(axis=2)[..., None] & real[:, None], ahead, np.inf)
    full = q[rows, last]
    return PlanarData(
        radius=root_radius(ahead.min(axis=(1, 2)), np.linalg.norm(full, axis=1),
                           rates[rows, last, 0]),
        limit=w[rows, k],
        support=on[rows, k].sum(axis=1),
        loss=losses[rows, k],
        least=np.minimum(losses.min(axis=1), zero),
        most=np.where(holds, on.sum(axis=2), 0).max(axis=1),
    )  # fmt: skip


def _resting_pattern(h: NDArray, units: NDArray, last: NDArray) -> NDArray:
    """Which pattern (B,) of `planar_data` holds its own minimum first; NaN where that is not sure.

    h, units (B, 2n, n): pre-activations at the virtual minima, and the size of their terms.
    """
    B, n = h.shape[0], h.shape[2]
    rows, at = np.arange(B), np.arange(n)
    cosine = np.divide(h, units, out=np.zeros_like(h), where=units > 0)
    steep = cosine[:, at, at]  # the steepest of the k + 1 flattest
    flat = cosine[:, n + at, at]  # the flattest of the data from k on
    up = cosine[rows, last, last] < 0
    down = cosine[rows, last, 0] < 0
    steep = np.where(at <= last[:, None], steep, -1.0)
    flat = np.where(at <= last[:, None], flat, -1.0)
    first = n - 1 - np.argmax(steep[:, ::-1] >= 0, axis=1)
    then = np.argmax(flat >= 0, axis=1)
    k = np.where(up, first, np.where(down, n + then, last)).astype(float)
    passed = np.where(up[:, None], (at >= first[:, None]) & (at <= last[:, None]), False)
    doubt = (passed & (np.abs(steep) < SURE)).any(axis=1)
    passed = np.where(down[:, None], at <= then[:, None], False)
    doubt |= (passed & (np.abs(flat) < SURE)).any(axis=1)
    edges = np.minimum(np.abs(cosine[rows, last, last]), np.abs(cosine[rows, last, 0]))
    return np.where(doubt | (edges < SURE), np.nan, k)
