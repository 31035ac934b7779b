"""Balanced chains of single ReLU neurons: their comparison equation, and descents in lock-step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, hyp2f1

# --- The gradient flow of a balanced chain: m + 1 scalars u, the loss (u^(m+1) - a^(m+1))^2 / 4, --
#
#     du/dt = -1/2 u^m (u^(m+1) - a^(m+1)).
#
# In y = u / a and s = a^(2m) t it has no parameter but m, dy/ds = -1/2 y^m (z - 1), z = y^(m+1),
# and
#
#     dl/ds = (m+1)/2 y^(m-1),    l = log(z / |z - 1|),
#
# so that l grows like (m+1)/2 s near the rest point y = 1, on either side of it, without loss of
# digits. `clock(l)` is s, up to a constant; for m >= 2 it is a hypergeometric function of z below
# the rest point and of 1/z above it.

_TERMS = 60
"""Of the series around z = 1, used for |1 - z| <= 1/2 only."""

_ROUNDS, _CLOSE = 100, 3e-14


def balanced_chain(t: ArrayLike, v0: float, a: float, m: int) -> NDArray:
    """u(t) from u(0) = v0 > 0, a > 0, m >= 2, by the inverse of `clock`."""
    t = np.asarray(t, float)
    if v0 == a:
        return np.full(t.shape, float(v0))
    above = v0 > a
    start = clock(log_odds(v0 / a, m), m, above)
    return a * ratio(odds_at(start + a ** (2 * m) * t, m, above), m, above)


def log_odds(y: ArrayLike, m: int) -> NDArray:
    """l = log(z / |z - 1|) = -log|1 - 1/z| for z = y^(m+1), y > 0 and not 1, shape of y."""
    log_z = (m + 1) * np.log(np.asarray(y, float))
    # Far above, 1/z is lost beside 1, and near z = 1 the difference 1 - 1/z is.
    far = np.log1p(-np.exp(-np.maximum(log_z, 0.5)))
    with np.errstate(over="ignore"):
        return -np.where(log_z > 0.5, far, np.log(np.abs(np.expm1(-log_z))))


def ratio(odds: ArrayLike, m: int, above: bool) -> NDArray:
    """y at l = log(z / |z - 1|), on the side y > 1 (`above`) or y < 1; the inverse of log_odds."""
    odds = np.asarray(odds, float)
    # log(1/z): 1/z is 1 - e^-l above, and 1 + e^-l below.
    inverse = np.log(-np.expm1(-odds)) if above else np.logaddexp(0.0, -odds)
    return np.exp(-inverse / (m + 1))


def clock(odds: ArrayLike, m: int, above: bool) -> NDArray:
    """Time s at which the equation reaches l, up to a constant: ds/dl = 2/(m+1) y^(1-m).

    With b = (1-m)/(m+1) and c = 2m/(m+1) it is

        below, z < 1:   -2 y^(1-m)/(m-1) F(1, b; 1+b; z),
        above, z > 1:   y^(-2m)/m F(1, c; 1+c; 1/z).
    """
    odds = np.asarray(odds, float)
    if above:
        inverse, c = -np.expm1(-odds), 2.0 * m / (m + 1)
        return inverse**c / m * unit_hypergeometric(c, inverse, -odds)
    b, z = (1.0 - m) / (m + 1), np.exp(-np.logaddexp(0.0, -odds))
    return -2.0 / (m - 1) * z**b * unit_hypergeometric(b, z, -np.logaddexp(0.0, odds))


def unit_hypergeometric(b: float, z: ArrayLike, log_rest: ArrayLike) -> NDArray:
    """F(1, b; 1+b; z) for 0 <= z < 1, given log(1 - z) with all its digits.

    Up to z = 1/2 SciPy's function; beyond, where SciPy's is wrong for some b > 1, the logarithmic
    series around z = 1 (DLMF 15.8.10 with a = 1):

        b sum_n (b)_n / n! (psi(n+1) - psi(b+n) - log(1-z)) (1-z)^n.
    """
    z, log_rest = np.broadcast_arrays(np.asarray(z, float), np.asarray(log_rest, float))
    near = z > 0.5
    far = hyp2f1(1.0, b, 1.0 + b, np.where(near, 0.0, z))
    n = np.arange(_TERMS)
    weights = np.concatenate([[1.0], np.cumprod((b + n[:-1]) / (n[:-1] + 1.0))])
    powers = np.where(near, np.exp(log_rest), 0.5)[..., None] ** n
    constants = powers @ (weights * (digamma(n + 1.0) - digamma(b + n)))
    return np.where(near, b * (constants - log_rest * (powers @ weights)), far)


def odds_at(s: ArrayLike, m: int, above: bool) -> NDArray:
    """The l at which `clock` shows s (k,), any s below and s > 0 above: Newton in a bracket. The
    clock is concave in l below and convex above, with slope 2/(m+1) far out, which gives the
    bracket, and a start from which Newton's method does not overshoot twice."""
    s = np.asarray(s, float)
    rate = 0.5 * (m + 1)
    if above:
        c = 2.0 * m / (m + 1)
        low, high = rate * s, rate * s + np.euler_gamma + digamma(c)
        # Far above, s = x^c / m to leading order, x = 1/z, and never less.
        x = np.minimum(m * s, 1.0) ** (1.0 / c)
        high = np.where(x < 0.5, -np.log1p(-np.minimum(x, 0.5)), high)
        at = high
    else:
        ahead = rate * (s - float(clock(0.0, m, False)))
        low, high = np.minimum(ahead, 0.0), np.maximum(ahead, 0.0)
        # Far below, s = -2/(m-1) z^b to leading order, and never less.
        log_z = -(m + 1) / (m - 1) * np.log(np.maximum(-0.5 * (m - 1) * s, 1.0))
        first = log_z - np.log1p(-np.exp(np.minimum(log_z, -0.7)))
        high = np.where(log_z < -0.7, np.minimum(high, first), high)
        at = np.where(ahead > 0.0, low, high)
    for _ in range(_ROUNDS):
        # Above, 1/z is about l where that is small, so the digits of l count.
        size = np.abs(at) if above else np.maximum(np.abs(at), 1.0)
        missing = s - clock(at, m, above)
        low, high = np.where(missing > 0.0, at, low), np.where(missing < 0.0, at, high)
        step = at + missing * rate * ratio(at, m, above) ** (m - 1)
        step = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        close = np.all(np.abs(step - at) <= _CLOSE * size)
        at = step
        if close:
            break
    return at


# --- Full-batch descent of balanced chains of single neurons on the same data, in lock-step -------
#
# The square loss of a neuron depends on the data only through H = sum x x^T and q = sum y x over
# the active data, those with w.x > 0, so that a step costs d^2 instead of n d. A look at all the
# data says which of them can flip first: with the next steps along the unit vector e, one whose
# |w.x| / |x| falls by up to its `toward` a length. The _NEAR first are then asked at every step.
# The others keep their sides as long as w is within _CONE S of the segment from where it was to S e
# beyond, S being how far w may go until the first of the others flips; then a new look is due.

_NEAR, _CONE = 64, 1.0 / 32.0
_CHUNK = 64
"""Most steps that are taken before it is asked whether w has stayed within: later ones are lost."""


class _Looked:
    """What a run, on X (n, d) and y (n,), has seen of its data at its last look."""

    def __init__(self, X: NDArray, y: NDArray) -> None:
        norms = np.linalg.norm(X, axis=1)
        self._X, self._y, self._norms = X, y, np.where(norms > 0.0, norms, np.nan)
        self._on, self._flips = np.zeros(len(X), bool), len(X)

    def look(self, w: NDArray, p: float, A: NDArray, b: NDArray) -> tuple[NDArray, NDArray, float]:
        """Fill A (d + k, d) and b (d + k,) with H and q, then with the near data and their labels,
        by which p A w - b is -1/p dL/dw and the residuals of the near data. Returns their sides
        (k,), e (d,) and S."""
        X, d = self._X, len(w)
        h = X @ w
        on = h > 0.0
        flipped = np.flatnonzero(on != self._on)
        self._on, self._flips = on, self._flips + len(flipped)
        if self._flips > len(X) // 8:  # summed afresh, lest rounding errors add up
            rows, self._flips = X[on], 0
            A[:d], b[:d] = rows.T @ rows, self._y[on] @ rows
        else:
            rows, signs = X[flipped], 2.0 * on[flipped] - 1.0
            A[:d] += (signs * rows.T) @ rows
            b[:d] += (signs * self._y[flipped]) @ rows
        e = b[:d] - p * (A[:d] @ w)
        e /= np.linalg.norm(e) or 1.0
        toward = np.where(on, -1.0, 1.0) * (X @ e) / self._norms
        ways = np.abs(h) / self._norms / (np.maximum(toward, 0.0) + _CONE)  # nan for x = 0
        k = len(A) - d
        first = np.argpartition(ways, k - 1)[:k]
        rest = np.delete(ways, first)
        A[d:], b[d:] = X[first], self._y[first]
        return on[first], e, float(np.fmin.reduce(rest, initial=np.inf))


def lockstep_descent(
    X: NDArray, y: NDArray, w0: NDArray, step: NDArray, n_steps: int, m: NDArray
) -> Iterator[tuple[NDArray, NDArray]]:
    """Gradient descent of L = 1/2 sum_i (v_1 ... v_m [w.x_i]_+ - y_i)^2 in w and all v_k at once,
    from v_1 = ... = v_m = |w0|, which stay equal: of r runs, on X (n, d), y (r, n), w0 (r, d) not
    0, steps (r,) and numbers m (r,) from 0 on.

    With p = v^m a step is w <- w - step p (p H w - q), v <- v - step (p / v) (p w.H w - q.w) (Lee
    et al. 2022b, eqs. 1 and 3; 14 for v_k). For a mean in place of the sum divide the step by n. A
    datum with w.x = 0 is inactive, and one whose w.x is rounding alone may be on either side. But
    for these it is the plain loop to rounding, while v > 0.

    Yields the start, and then some steps at a time: w (k, r, d) and v (k, r).
    """
    (runs, d), near = w0.shape, min(_NEAR, len(X))
    looked = [_Looked(X, labels) for labels in y]
    A, b = np.empty((runs, d + near, d)), np.empty((runs, d + near))
    side, e, S = np.empty((runs, near)), np.empty((runs, d)), np.empty(runs)
    w, v = np.array(w0, float), np.linalg.norm(w0, axis=1)
    begun, due, moves, most = w.copy(), np.ones(runs, bool), step * (m > 0), 1
    yield w[None], v[None]
    while n_steps > 0:
        for k in np.flatnonzero(due):
            begun[k] = w[k]
            side[k], e[k], S[k] = looked[k].look(w[k], v[k] ** m[k], A[k], b[k])
        p = v**m
        speed = step * p * np.linalg.norm(p[:, None] * np.matvec(A[:, :d], w) - b[:, :d], axis=1)
        ahead = ((1.0 + _CONE) * S - np.vecdot(e, w - begun)) / np.where(speed > 0.0, speed, 1e-300)
        count = int(np.clip(np.ceil(ahead.min()), 1, min(n_steps, most)))
        W, V = np.empty((count + 1, runs, d)), np.empty((count + 1, runs))
        W[0], V[0] = w, v
        for j in range(count):
            w, v = W[j], V[j]
            p = v**m
            at = np.matvec(A, w)
            turned = (at[:, d:] > 0.0) - side
            at = p[:, None] * at - b
            g = at[:, :d] + np.vecmat(turned * at[:, d:], A[:, d:])
            V[j + 1] = v - moves * np.vecdot(w, g) * p / v
            W[j + 1] = w - (step * p)[:, None] * g
        gone = W[1:] - begun
        along = np.vecdot(gone, e)
        inside = np.clip(along, 0.0, S)
        off = np.vecdot(gone, gone) - inside * (2.0 * along - inside)
        out = ~(off <= (_CONE * S) ** 2)
        end = int(np.argmax(out.any(axis=1))) + 1 if out.any() else count
        due, n_steps, most = out[end - 1], n_steps - end, min(2 * end + 2, _CHUNK)
        w, v = W[end], V[end]
        yield W[1 : end + 1], V[1 : end + 1]
