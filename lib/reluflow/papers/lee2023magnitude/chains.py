"""Chains of single ReLU neurons, balanced or not, and descent of layers exactly stepped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.linalg.blas import daxpy, dger
from scipy.special import digamma, hyp2f1

from reluflow.errors import InputError
from reluflow.flows.segment import check_steps, one_thread, problem

# --- The flow of a chain of ReLU neurons f(x) = v_1 s(v_2 s(... v_m s(w.x))), s(h) = max(h, 0) ----
#
# It is integrated in log v_k for k >= 2, so that a slow decay and a zero reached in finite time
# cannot be confused: only the second stops the clock. Nothing is supposed about balance.

Gradient = Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]
"""Of w (d,) and v (m,): the gradients of the loss in w and in v."""

_SMALL, _HALF_WAY, _GONE, _TINY = (math.log(size) for size in (1e-9, 1e-15, 1e-30, 1e-250))


def chain_gradient(X: ArrayLike, y: ArrayLike, at_zero: float = 0.0) -> Gradient:
    """The gradient of 1/(2n) sum_i (f(x_i) - y_i)^2 by back-propagation through the ReLU chain;
    at_zero is s'(0), 0 in the paper. With a_(m+1) = s(w.x) and a_k = s(v_k a_(k+1)), f = v_1 a_2.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)

    def gradient(w: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        h = X @ w
        inputs, slopes = [np.maximum(h, 0.0)], [np.heaviside(h, at_zero)]
        for factor in v[:0:-1]:
            h = factor * inputs[-1]
            inputs.append(np.maximum(h, 0.0))
            slopes.append(np.heaviside(h, at_zero))
        back = (v[0] * inputs[-1] - y) / len(y)
        in_v = np.empty(len(v))
        in_v[0] = back @ inputs[-1]
        back = v[0] * back
        for k in range(1, len(v)):
            back = back * slopes[len(v) - k]
            in_v[k] = back @ inputs[len(v) - 1 - k]
            back = v[k] * back
        return X.T @ (back * slopes[0]), in_v

    return gradient


def chain_output(X: ArrayLike, w: ArrayLike, v: ArrayLike) -> NDArray:
    """f(x_i) = v_1 s(v_2 s(... v_m s(w.x_i))), shape (n,)."""
    out = np.maximum(np.asarray(X, float) @ np.asarray(w, float), 0.0)
    for factor in np.asarray(v, float)[:0:-1]:
        out = np.maximum(factor * out, 0.0)
    return float(np.asarray(v, float)[0]) * out


@dataclass(frozen=True)
class ChainPath:
    """A flow of a chain.

    t       (k,) times, from 0
    w       (k, d) weights
    v       (k, m) factors
    factor  the k >= 2, counted from 1 as in the paper, of the factor v_k that was positive and is 0
            at the end; 0 if there is none
    """

    t: NDArray
    w: NDArray
    v: NDArray
    factor: int

    @property
    def smallest_share(self) -> float:
        """The least v_k(t) / v_k(0) over the positive factors with k >= 2; 1 if there is none."""
        positive = self.v[0, 1:] > 0.0
        return float(np.min(self.v[:, 1:][:, positive] / self.v[0, 1:][positive], initial=1.0))


def chain_flow(gradient: Gradient, w0: ArrayLike, v0: ArrayLike, horizon: float) -> ChainPath:
    """The flow dw/dt = -dL/dw, dv/dt = -dL/dv until the horizon, or until some v_k is 0, k >= 2.

    In log v_k a zero at a finite time T is a pole: v_k falls from 1e-15 to 1e-30 of its start
    within a tiny share of T, or so fast that the steps fall below the spacing of floats at T.
    A factor that has decayed slowly to 1e-250 of its start has kept its sign, and ends the path.
    Raises ArithmeticError where the end is not reached.
    """
    w0, v0 = np.array(w0, float), np.array(v0, float)
    d, m = len(w0), len(v0)
    if np.any(v0[1:] <= 0.0):  # silent: nothing moves, if the gradient is what it should be
        in_w, in_v = gradient(w0, v0)
        w, v = np.array([w0, w0 - horizon * in_w]), np.array([v0, v0 - horizon * in_v])
        turned = np.nonzero(np.sign(v[1, 1:]) != np.sign(v0[1:]))[0]
        return ChainPath(np.array([0.0, horizon]), w, v, 2 + int(turned[0]) if len(turned) else 0)

    def unpack(state: NDArray) -> tuple[NDArray, NDArray]:
        # A trial step near a pole may end anywhere; its error is large in any case.
        v = np.empty(m)
        v[0], v[1:] = state[d], np.exp(np.minimum(state[d + 1 :], 300.0))
        return state[:d], v

    def velocity(_: float, state: NDArray) -> NDArray:
        w, v = unpack(state)
        in_w, in_v = gradient(w, v)
        return np.concatenate([-in_w, -in_v[:1], -in_v[1:] / v[1:]])

    def left(_: float, state: NDArray) -> float:
        return float((state[d + 1 :] - start[d + 1 :]).min(initial=0.0)) - _TINY

    left.terminal = True  # type: ignore[attr-defined]
    start = np.concatenate([w0, v0[:1], np.log(v0[1:])])
    size = float(np.abs(start[: d + 1]).max())
    atol = np.concatenate([np.full(d + 1, 1e-9 * size), np.full(m - 1, 1e-7)])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        path = solve_ivp(velocity, (0.0, horizon), start, events=left, rtol=1e-7, atol=atol)
    t, fallen = path.t, path.y[d + 1 :] - start[d + 1 :, None]
    lowest = fallen.min(axis=0, initial=0.0)
    if path.status == -1 and lowest[-1] > _SMALL:
        raise ArithmeticError(f"the flow cannot be followed beyond t = {t[-1]:g}")
    w, v = map(np.array, zip(*map(unpack, path.y.T), strict=True))
    sudden = lowest[-1] < _GONE and t[-1] - t[lowest >= _HALF_WAY][-1] < 1e-9 * t[-1]
    zero = sudden or path.status == -1
    return ChainPath(t, w, v, 2 + int(np.argmin(fallen[:, -1])) if zero else 0)


def time_scale(X: ArrayLike, y: ArrayLike, w: ArrayLike, v: ArrayLike) -> float:
    """An upper estimate of the flow's fastest rate: its inverse is a natural unit of time. Of the
    Hessian's blocks at the larger of the start and what the labels call for: sizes of (prod v)^2
    E|x|^2 and (prod v / v_k)^2 E(w.x)^2 with every factor at its largest."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    data = float(np.mean(np.sum(X * X, axis=1)))
    sizes = np.append(np.abs(np.asarray(v, float)), np.linalg.norm(w))
    size = max(float(sizes.max()), float(np.mean(y * y) / data) ** (0.5 / len(sizes)))
    return (len(sizes) * data + np.sqrt(data * np.mean(y * y))) * size ** (2 * len(sizes) - 2)


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


# --- The active set's H and q, kept up to date while w moves, by looking at few of the data -------
#
# The square loss of a neuron depends on the data only through H = sum x x^T and q = sum y x over
# the active data, those with w.x > 0. With u = w/|w| and u_ref the direction of an earlier w,
#
#     |u.x| / |x|  >=  |u_ref.x| / |x| - |u - u_ref|,
#
# so a datum whose margin |u_ref.x|/|x| exceeds the drift |u - u_ref| has not flipped. One product
# with all data gives the margins; the data of least margin are copied, and only they are looked at
# until the drift reaches the least margin of the rest.

_EPS = np.finfo(float).eps
_FLIPS = 256
"""After so many rank-one updates (or n/8 of them) H and q are summed afresh."""


class ActiveSet:
    """The data with w.x > 0, their H = sum x x^T and their q = sum y x (Lee et al. 2022a, eq. 2).

    Parameters: X (n, d) in C order, y (n,), w (d,), all finite. `follow` tells which data flip,
    `change` makes the change. A datum whose w.x is zero to within rounding is on the side of the
    computed w.x, as in a plain loop; all others are on their side.

    on (n,)          the activations
    H (d, d), q (d,) the sums over the active data
    calm             forecast, not a bound: steps until the next flip at the present pace
    """

    H: NDArray
    q: NDArray
    _h: NDArray
    _flips: int

    def __init__(self, X: NDArray, y: NDArray, w: NDArray) -> None:
        self._X, self._y, self._norms = X, y, np.sqrt(np.vecdot(X, X))
        # A computed margin, a drift and a product w.x are wrong by at most 2d + 8, d + 8 and d
        # half epsilons (sums of d products, a root, a division). What beats the drift by all of
        # them fixes the sign even of the computed w.x.
        self._slack = 4.0 * (X.shape[1] + 8) * _EPS
        self._near_count = min(len(X), max(32, len(X) // 32))
        h = self._X @ w
        self.on, self.calm = h > 0.0, 0.0
        self._sum()
        self._refer(w, h)

    def follow(self, W: NDArray) -> tuple[int, NDArray]:
        """Walk from the present w along the states W (k, d) until data flip. Returns the number of
        states that keep the present set, and the data (f,) that have flipped at the next one, which
        becomes the present w; f = 0 where all k states keep the set."""
        start, k = 0, len(W)
        while start < k:
            rest = W[start:]
            with np.errstate(invalid="ignore", divide="ignore"):
                cosines = rest @ self._direction / np.sqrt(np.vecdot(rest, rest))
            # The drift squared is 2 - 2 cos, to less than the slack. Not "drift >= reach": it is
            # nan where w = 0 has no direction.
            unsafe = ~(2.0 - 2.0 * cosines + self._slack < self._reach**2)
            count = int(np.argmax(unsafe)) if unsafe.any() else k - start
            if count:
                kept, flipped = self._look(W[start : start + count])
                if flipped.size:
                    return start + kept, flipped
                start += count
            if start < k:  # a new reference, and all the data are looked at
                h = self._X @ W[start]
                flipped = np.nonzero((h > 0.0) != self.on)[0]
                self._refer(W[start], h)
                if flipped.size:
                    return start, flipped
                start += 1
        return k, np.zeros(0, int)

    def change(self, data: NDArray) -> None:
        """Flip the activations of `data` (f,), and H and q with them."""
        self.on[data] ^= True
        self._near_on = self.on[self._near]
        signs = 2.0 * self.on[data] - 1.0
        self._flips += len(data)
        if self._flips > max(_FLIPS, len(self._X) // 8):
            self._sum()
            return
        for sign, x, target in zip(signs, self._X[data], self._y[data], strict=True):
            self.H = dger(sign, x, x, a=self.H, overwrite_a=1)
            self.q = daxpy(x, self.q, a=sign * target)

    def _look(self, W: NDArray) -> tuple[int, NDArray]:
        """`follow` for states (k, d) on which the drift is below the reach."""
        k, H = len(W), self._rows @ W.T
        changed = (H > 0.0) != self._near_on[:, None]
        hit = changed.any(axis=0)
        kept = int(np.argmax(hit)) if hit.any() else k
        flipped = self._near[changed[:, kept]] if kept < k else np.zeros(0, int)
        # At the walk's mean pace h turns zero after k h / (start - end) steps.
        end = H[:, min(kept, k - 1)]
        with np.errstate(divide="ignore", invalid="ignore"):
            nearest = float(np.fmax.reduce((self._h - H[:, -1]) / end, initial=0.0))
        self._h = end
        self.calm = k / nearest if nearest > 0.0 else np.inf
        return kept, flipped

    def _sum(self) -> None:
        rows = self._X[self.on]
        self.H, self.q, self._flips = np.asfortranarray(rows.T @ rows), self._y[self.on] @ rows, 0

    def _refer(self, w: NDArray, h: NDArray) -> None:
        """Make the direction of w (d,) the reference; h (n,) is X w."""
        n, count = len(h), self._near_count
        with np.errstate(invalid="ignore", divide="ignore"):
            length = np.sqrt(w @ w)
            self._direction = w / length
            margins = np.abs(h) / length / self._norms
        # The margin of x = 0 is nan; it is never active, and put last. Where w = 0 all are nan.
        margins[np.isnan(margins)] = np.inf
        self._near, self._reach = np.arange(n), np.inf
        if count < n:
            # Data that tie go together, so that the reach is positive.
            near = margins <= np.partition(margins, count)[count] + 2.0 * self._slack
            self._near = np.nonzero(near)[0]
            self._reach = np.min(margins, where=~near, initial=np.inf) - self._slack
        self._rows, self._h = self._X[self._near], h[self._near]
        self._near_on = self.on[self._near]


# --- Full-batch descent of one neuron, or of a chain of single neurons, on many data --------------
#
# A step needs the data only through the active set's H and q, so it costs d^2 in place of n d until
# a datum flips. Steps are taken in blocks on the supposition that no datum flips;
# `ActiveSet.follow` then says where in the block that first failed, and the block is cut there.

_BLOCK = 128
"""Steps taken at most before the data are looked at."""
_OVERFLOW = 1e150


class Descended(NamedTuple):
    """A path of descent of f(x) = v_m ... v_1 [w.x]_+.

    states    (k + 1, d) the weights w after each of the k steps, from the start on
    layers    (k + 1, m) the factors v
    diverged  whether it ends where w or v passes 1e150
    """

    states: NDArray
    layers: NDArray
    diverged: bool


def neuron_descent(
    X: ArrayLike, y: ArrayLike, w0: ArrayLike, step: float, n_steps: int, v0: ArrayLike = ()
) -> Descended:
    """Gradient descent of L = 1/2 sum_i (v_m ... v_1 [w.x_i]_+ - y_i)^2 in w and all v_k at once.

    With p = v_m ... v_1 a step is w <- w - step p (p H w - q), v_k <- v_k - step (p / v_k)
    (p w.H w - q.w) (Lee et al. 2022b, eqs. 1 and 3; 14 for v_k). For a mean in place of the sum
    divide the step by n. The paper's network is this product while v_2, ..., v_m are positive.

    A datum with w.x = 0 is inactive. Equal to the plain loop to rounding, and the same for any
    number of BLAS threads: the process has one while this runs. Raises InputError for arrays that
    do not fit, a step that is not positive, or n_steps < 0.
    """
    X, y, w = problem(X, y, w0)
    v = np.asarray(v0, float)
    if v.ndim != 1 or not np.isfinite(v).all():
        raise InputError(f"v0 must be a list of finite numbers, not {v0!r}")
    check_steps(step, n_steps)
    X, n_steps, done, sound = np.ascontiguousarray(X), int(n_steps), 0, True
    states, layers = np.empty((n_steps + 1, len(w))), np.empty((n_steps + 1, len(v)))
    states[0], layers[0] = w, v
    with one_thread(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for W, V in _blocks(X, y, w, v.tolist(), float(step), n_steps):
            sound = bool(np.abs(W).max() <= _OVERFLOW and np.abs(V).max(initial=0.0) <= _OVERFLOW)
            if not sound:  # cut at the first state that overflows
                end = np.argmin((np.abs(np.hstack([W, V])) <= _OVERFLOW).all(axis=1)) + 1
                W, V = W[:end], V[:end]
            here = slice(done + 1, done + 1 + len(W))
            states[here], layers[here] = W, V
            done += len(W)
            if not sound:
                break
    return Descended(states[: done + 1], layers[: done + 1], not sound)


def _blocks(
    X: NDArray, y: NDArray, w: NDArray, v: list[float], step: float, left: int
) -> Iterator[tuple[NDArray, NDArray]]:
    """The states (k, d) and factors (k, m) after each of the `left` steps, some at a time."""
    active = ActiveSet(X, y, w)
    W, V = np.empty((_BLOCK, len(w))), np.empty((_BLOCK, len(v)))
    length = 1
    while left:
        length = min(length, left)
        _steps(active.H, active.q, w, v, step, W[:length], V[:length])
        kept, flipped = active.follow(W[:length])
        taken = min(kept + 1, length)
        yield W[:taken], V[:taken]
        left -= taken
        w, v = W[taken - 1].copy(), V[taken - 1].tolist()
        if flipped.size:
            active.change(flipped)
        length = int(min(active.calm + 2.0, 2 * length + 2, _BLOCK))


def _steps(H, q, w, v: list[float], step: float, W: NDArray, V: NDArray) -> None:
    """Fill W (k, d) and V (k, m) with the next k states while H and q stay what they are."""
    g, product, factors = np.empty_like(w), H.dot, []
    for row in W:
        p = math.prod(v)
        product(w, g)
        if v:
            g *= p
        g -= q
        if v:
            pull = step * float(w.dot(g))
            rests = [math.prod(v[:k]) * math.prod(v[k + 1 :]) for k in range(len(v))]
            v = [a - pull * rest for a, rest in zip(v, rests, strict=True)]
            factors.append(v)
        g *= step * p
        w = np.subtract(w, g, row)
    if v:
        V[:] = factors
