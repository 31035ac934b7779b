"""The affine flow inside one activation cell, in closed form."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dnrm2
from scipy.linalg.lapack import dgejsv
from scipy.spatial import ConvexHull
from threadpoolctl import ThreadpoolController

from reluflow.errors import InputError
from reluflow.geometry import enumerate_cells

# --- Least squares of ill-conditioned designs: residuals in twice the precision -------------------
#
# The normal equations lose cond(H) digits in their right-hand side alone. Evaluating that
# right-hand side with error-free products (Dekker 1971; Ogita, Rump & Oishi 2005) and correcting
# the solution by a step or two (Björck 1967) gives them back.

_SPLITTER = 134217729.0  # 2^27 + 1


def two_sum(a: NDArray, b: NDArray) -> tuple[NDArray, NDArray]:
    """Sum and exact rounding error of a + b, elementwise."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def two_product(a: NDArray, b: NDArray) -> tuple[NDArray, NDArray]:
    """Product and exact rounding error of a * b, elementwise (no overflow assumed)."""
    p = a * b
    ca, cb = _SPLITTER * a, _SPLITTER * b
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def dot(A: NDArray, v: NDArray, v_low: NDArray | float = 0.0) -> tuple[NDArray, NDArray]:
    """A @ (v + v_low) as an unevaluated sum high + low, as if computed in twice the precision."""
    products, low = two_product(A, np.broadcast_to(v, A.shape))
    low = (low + A * v_low).sum(axis=1)
    while products.shape[1] > 1:  # the columns in pairs, and these in pairs again
        pairs = products.shape[1] // 2
        high, error = two_sum(products[:, :pairs], products[:, pairs : 2 * pairs])
        low = low + error.sum(axis=1)
        products = np.hstack([high, products[:, 2 * pairs :]])
    return two_sum(products.sum(axis=1), low)


def refine(A: NDArray, b: NDArray, w: NDArray, V: NDArray, P: NDArray, rates: NDArray) -> NDArray:
    """Least-squares solution of A w = b improved from w inside span(V).

    V (d, r) and rates (r,) are the eigenvectors and eigenvalues of A^T A, and P (m, r) is A V. Two
    corrections take a relative error of cond(H) * 1e-16 below rounding.
    """
    for _ in range(2):
        # A^T (b - A w), correct to about one unit of rounding of the terms' condensed sum.
        high, low = dot(A, w)
        r, error = two_sum(b, -high)
        g, g_low = dot(np.ascontiguousarray(A.T), r, error - low)
        g = g + g_low
        surer = np.sqrt(g @ g) <= np.sqrt(rates * (r @ r))
        w = w + V @ (np.where(surer, V.T @ g, P.T @ r) / rates)
    return w


_EPS = np.finfo(float).eps


def length_of(v: NDArray) -> float:
    """|v| of v (d,), also where its square underflows."""
    plain = float(np.sqrt(v @ v))
    return plain if plain > 1e-140 else float(dnrm2(v))


# --- Switching surfaces of a gradient flow, and where it slides along them ------------------------
#
# On the boundary x.w = 0 the velocity jumps by y |x|^2 along x. With a label y < 0 both sides can
# point towards the boundary, and the flow slides along it (Filippov).


@dataclass(frozen=True)
class SwitchingSurface:
    """Boundaries of parallel data seen as one hyperplane, normal.w = 0.

    normal  (d,) unit vector
    data    indices of the data whose boundary it is
    plus    those active where normal.w > 0; the others are active on the other side
    jump    (p_minus, p_plus): what the surface's data add to the velocity, along the normal, on
            either side. Sliding adds something in between.
    """

    normal: NDArray
    data: tuple[int, ...]
    plus: tuple[int, ...]
    jump: tuple[float, float]

    @property
    def minus(self) -> tuple[int, ...]:
        """The data active where normal.w < 0."""
        return tuple(j for j in self.data if j not in self.plus)


def span_of(X: NDArray, norms: NDArray, data: NDArray) -> NDArray:
    """Orthonormal vectors (r, d) in whose span the normals of the boundaries of the `data` (n,)
    are, which are by far independent."""
    s, Vt = np.linalg.svd(X[data] / norms[data, None], full_matrices=False)[1:]
    return Vt[s > 1e-3]


def switching_surfaces(X: NDArray, y: NDArray, data: NDArray) -> tuple[SwitchingSurface, ...]:
    """Group `data` (indices) into surfaces: data parallel to rounding share one."""
    found: list[tuple[NDArray, list[int]]] = []
    for j in map(int, data):
        unit = X[j] / np.linalg.norm(X[j])
        for normal, members in found:
            if np.linalg.norm(unit - (unit @ normal) * normal) <= 1e-12:
                members.append(j)
                break
        else:
            found.append((unit, [j]))
    result = []
    for normal, members in found:
        along = {j: float(X[j] @ normal) for j in members}
        plus = tuple(j for j in members if along[j] > 0)
        jump_plus = sum(y[j] * along[j] for j in plus)
        jump_minus = sum(y[j] * along[j] for j in members if along[j] < 0)
        result.append(SwitchingSurface(normal, tuple(members), plus, (jump_minus, jump_plus)))
    return tuple(result)


def tangent_basis(normals: NDArray, d: int) -> NDArray:
    """Orthonormal basis (d, k) of {v: normals v = 0}, normals of unit length (m, d)."""
    if len(normals) == 0:
        return np.eye(d)
    _, s, vt = np.linalg.svd(normals)
    return vt[int(np.sum(s > 1e-12 * s[0])) :].T


def tangent_projector(normals: NDArray, d: int) -> NDArray:
    """Orthogonal projector (d, d) onto {v: normals v = 0}, normals of unit length (m, d)."""
    if len(normals) == 1:
        return np.eye(d) - np.outer(normals, normals)
    Q = tangent_basis(normals, d)
    return Q @ Q.T


def sliding_condition(X: NDArray, stay: tuple[SwitchingSurface, ...]) -> tuple[NDArray, NDArray]:
    """Facets F (m, d), c (m,): the surfaces `stay` hold the flow while F v <= c.

    Here v (d,) is the velocity that the data off these surfaces give. What the surfaces can add
    to it is any mean of what they add in the cells around (Filippov), and that must cancel v's
    normal part.
    """
    N = np.array([surface.normal for surface in stay]).reshape(len(stay), X.shape[1])
    jumps = np.array([surface.jump for surface in stay]).reshape(-1, 2)
    low, high = np.sort(jumps, axis=1).T
    if len(stay) == 0 or np.linalg.matrix_rank(N, tol=1e-12) == len(N):
        M = np.linalg.pinv(N).T  # the surfaces add -M v along their normals
        return np.concatenate([-M, M]), np.concatenate([high, -low])
    # Of dependent normals not every choice of sides is a cell.
    cells = enumerate_cells(X[[surface.data[0] for surface in stay]]).patterns
    sums = np.where(cells, jumps[:, 1], jumps[:, 0]) @ N
    centre = sums.mean(axis=0)
    _, s, vt = np.linalg.svd(sums - centre)
    r = int(np.sum(s > 1e-12 * max(s[0], np.abs(jumps).max())))
    flat, across = vt[:r], vt[r:]
    points = (sums - centre) @ flat.T
    if r >= 2:
        hull = ConvexHull(points).equations
    else:
        hull = np.array([[1.0, -points.max()], [-1.0, points.min()]]) if r else np.zeros((0, 1))
    # The tangential part of v is no jump's business: only directions among the normals count.
    across = across @ (np.eye(len(vt)) - tangent_projector(N, len(vt)))
    across = across[np.linalg.norm(across, axis=1) > 1e-6]
    F = np.concatenate([-hull[:, :r] @ flat, across, -across])
    c = np.concatenate([-hull[:, r], np.zeros(2 * len(across))])
    return F, c - F @ centre


_Products = tuple[NDArray, NDArray]  # x.w (n,), and what they are known to (n,)


@dataclass(frozen=True)
class Segment:
    """w(t) = w0 + V (b (1 - exp(-rates (t - t0)))) = limit - V (b exp(-rates (t - t0))) from t0 on.

    Shapes: w0 (d,), V (d, r), b and rates (r,). The limit is `rest` + `fit` (d,): the part of w0
    off span(V), and V c. c (r,) do not depend on w0; `errors` (2, r) are those of b and of c. The
    first form keeps the digits early, the second one late, when a far start is forgotten. An
    `opening` knows no limit (fit is inf, and there is no c).

    Of an active datum `place` (n,) is the row of its part along V in P (m, r). The singular vectors
    tell P to the rounding of M (m, r), of s_k where this is less than the datum's length: so a
    datum keeps its digits that is fitted while the weights are far away. Others have -1.
    """

    t0: float
    w0: NDArray
    V: NDArray
    b: NDArray
    rates: NDArray
    rest: NDArray
    fit: NDArray
    c: NDArray
    errors: NDArray
    P: NDArray
    M: NDArray
    place: NDArray

    @property
    def opens(self) -> bool:
        """Whether this is an `opening`."""
        return bool(np.isinf(self.fit[0]))

    @cached_property
    def limit(self) -> NDArray:
        """Where the segment leads (d,)."""
        return self.rest + self.fit

    @cached_property
    def moves(self) -> bool:
        """Whether a part of w0 stays off span(V)."""
        return bool(self.rest.any())

    @cached_property
    def span(self) -> tuple[float, float]:
        """The slowest and the fastest rate."""
        return float(self.rates.min()), float(self.rates.max())

    @cached_property
    def _widths(self) -> tuple[float, float, NDArray]:
        """The lengths of w0 and of the limit, and |b| (r,)."""
        return length_of(self.w0), length_of(self.limit), np.abs(self.b)

    def at(self, t: NDArray) -> NDArray:
        """States (k, d) at times t (k,), infinity allowed."""
        return self.after(t - self.t0)

    def after(self, s: NDArray) -> NDArray:
        """States (k, d) at the times s (k,) from the segment's start on."""
        decay = -self.rates * s[:, None]
        gone, left = -np.expm1(decay), np.exp(decay)
        w0, limit, width = self._widths
        return np.where(
            (w0 + gone @ width <= limit + left @ width)[:, None],
            self.w0 + (gone * self.b) @ self.V.T,
            self.limit - (left * self.b) @ self.V.T,
        )

    def moment(self, s: float) -> Moment:
        """The segment at the time s from its start on."""
        decay = -self.rates * np.array([[s]])
        gone, left = -np.expm1(decay), np.exp(decay)
        w0, limit, width = self._widths
        sizes = w0 + (gone @ width).item(), limit + (left @ width).item()
        return Moment(self, s, gone, left, sizes)

    def velocity(self, s: float) -> NDArray:
        """dw/dt (d,) at the time s from the segment's start on."""
        return self.V @ (self.b * self.rates * np.exp(-self.rates * s))


@dataclass(frozen=True)
class Moment:
    """A segment at the time s from its start on: of its part along the k-th eigenvector a share
    `gone` (1, r) is behind it, and a share `left` (1, r) ahead. `sizes` are those of what either
    form of the state is added up from."""

    flow: Segment
    s: float
    gone: NDArray
    left: NDArray
    sizes: tuple[float, float]

    @property
    def state(self) -> NDArray:
        """The weights (d,)."""
        early, late = self.sizes
        if early <= late:
            return (self.flow.w0 + (self.gone * self.flow.b) @ self.flow.V.T)[0]
        return (self.flow.limit - (self.left * self.flow.b) @ self.flow.V.T)[0]

    @property
    def summed(self) -> float:
        """The size of what the state is added up from, in the better of the forms: its rounding is
        that of this size, and not of a far start that is forgotten."""
        early, late = self.sizes
        # The rounding of rates s is one of exp(-rates s), as many times as large.
        decay = np.minimum(self.flow.rates * self.s, 1e3)
        return float(min(early, late + (decay * np.exp(-decay)) @ self.flow._widths[2]))

    @property
    def rounding(self) -> float:
        """A bound on the rounding of x.w for x of length one."""
        return 4.0 * (len(self.flow.w0) + 8) * _EPS * self.summed

    def products(self, X: NDArray, norms: NDArray, h: NDArray, known: NDArray) -> _Products:
        """The x.w (n,) and their errors, from h (n,) at the start on, which is `known` (n,) to
        these; a far `rest` is no part of their rounding for the data that do not feel it."""
        flow = self.flow
        error = self.rounding * norms
        if self.sizes[0] <= self.sizes[1]:
            way = flow.b * self.gone[0]
            value = h + X @ (flow.V @ way)
            error = known + 4 * (X.shape[1] + 8) * _EPS * (np.abs(h) + length_of(way) * norms)
        elif flow.moves:
            value = _felt(X, flow.rest) + X @ (flow.fit - flow.V @ (flow.b * self.left[0]))
        else:
            value = X @ self.state
        if not flow.P.size:
            return value, error
        (slowest, fastest), on = flow.span, np.flatnonzero(flow.place >= 0)
        if slowest < 1e-3 * fastest or (np.abs(value[on]) <= 1e3 * error[on]).any():
            gone, left, size = self.gone[0], self.left[0], 4 * _EPS * np.abs(flow.b)
            of_b, of_c = flow.errors
            wide, P = flow.M, np.abs(flow.P)
            early = known[on] + wide @ (gone * size) + P @ (gone * of_b)
            decay = np.minimum(flow.rates * self.s, 1e3)
            late = wide @ (left * (1.0 + decay) * size) + P @ (left * of_b + of_c)
            late += wide @ (4 * _EPS * np.abs(flow.c))
            first = early <= late
            other = np.where(
                first, h[on] + flow.P @ (flow.b * gone), flow.P @ (flow.c - flow.b * left)
            )
            least = np.minimum(early, late)
            better = least < error[on]
            value[on[better]], error[on[better]] = other[better], least[better]
        return value, error


_NOTHING = np.zeros((0, 0)), np.zeros((0, 0)), np.full(1, -1)  # of active data, P, M and place


def problem(X: ArrayLike, y: ArrayLike, w0: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Data, labels and start as float arrays of fitting shapes (n, d), (n,), (d,).

    Raises InputError naming what is wrong: shape, size or a value that is not finite.
    """
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise InputError(f"X must have shape (n, d) with n, d >= 1, not {X.shape}")
    for name, value, length in (("y", y, X.shape[0]), ("w0", w0, X.shape[1])):
        if value.shape != (length,):
            raise InputError(f"{name} must have shape ({length},) to go with X, not {value.shape}")
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
    products: _Products | None = None,
) -> Segment:
    """The affine flow of the data `on` (n,) from w, held on the hyperplanes `normals` (k, d).

    `products` are X w and its error, where they are known better than from w. To be called on
    `one_thread`."""
    Q = tangent_basis(normals, len(w))
    A, target, u = X[on] @ Q, y[on], Q.T @ w  # the same problem in the hyperplanes' coordinates
    if not A.size or not A.any():
        return _still(w, t0)
    U, s, V = _decomposed(A)
    # Data that are dependent but for rounding have a direction less: none is longer there than a
    # hundred roundings of its own terms or, within hyperplanes, than one of its length.
    P, M = A @ V, np.linalg.norm(A, axis=1)[:, None]
    wide = np.linalg.norm(X[on], axis=1)[:, None] if len(normals) else np.abs(A) @ np.abs(V)
    share = np.linalg.norm(A, axis=0)[:, None] * np.abs(V)
    sure = np.abs(A) @ np.where(share > 4 * _EPS * share.max(axis=0), np.abs(V), 0.0)
    part = np.minimum(np.minimum(np.abs(P), sure), np.abs(U) * s)  # not of a V that is rounding
    clear = (part / np.where(wide, wide, 1.0)).max(axis=0)
    kept = clear > (1 if len(normals) else 100) * max(A.shape) * _EPS
    U, s, V, P = U[:, kept], s[kept], V[:, kept], P[:, kept]
    if s.size == 0:
        return _still(w, t0)
    rates, rest = s**2, _off(V, u)
    P, M = np.where(s > M, P, U * s), np.minimum(M, s)
    P = np.where(np.abs(P) <= 4 * _EPS * M, 0.0, P)
    M = np.where(P, M, 0.0)
    # The fitted point in span(V); where squaring the condition number would show, corrected.
    fit, of_fit = V @ (U.T @ target / s), np.abs(target) @ np.abs(U) / s
    if s[0] > 10.0 * s[-1]:
        fit, of_fit = refine(A, target, fit, V, P, rates), of_fit * np.minimum(_EPS * s[0] / s, 1.0)
    h, known = products_of(X, w) if products is None else products

    def coordinates(way: NDArray, size: NDArray, force: NDArray, error: NDArray):
        # Two routes: each is exact where the other one cancels.
        errors = np.array([4 * _EPS * size, error @ M / rates])
        closer = errors[0] <= errors[1]
        return np.where(closer, V.T @ way, force @ P / rates), errors.min(axis=0)

    # What cancels in the fit has the rounding of its terms.
    gap, far = target - h[on], np.abs(fit) @ np.abs(V) + of_fit
    rounding = 4 * _EPS * (np.abs(target) + np.abs(h[on])) + known[on]
    # A start is what it is; later on each weight has the rounding of all.
    size = length_of(u) if t0 else (np.abs(u) + np.abs(rest)) @ np.abs(V)
    b, of_b = coordinates(fit + rest - u, far + size, gap, rounding)
    c, of_c = coordinates(fit, far, target, 4 * _EPS * np.abs(target))
    place = np.where(on, np.cumsum(on) - 1, -1)
    errors = np.stack([of_b, of_c])
    return Segment(t0, w, Q @ V, b, rates, Q @ rest, Q @ fit, c, errors, P, M, place)


@cache
def _blas() -> ThreadpoolController:
    """NumPy's and SciPy's BLAS, found once: to find them takes longer than a short run."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager:
    """BLAS on one thread: a second one may change last digits, and spins where matrices are small
    (Jacobi's method of a 5 x 2 matrix takes milliseconds instead of microseconds)."""
    return _blas().limit(limits=1, user_api="blas")


def _decomposed(A: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """U, s, V of A (m, k) = U diag(s) V^T, by Jacobi's method (Drmac & Veselic 2008).

    Rows or columns of very different size, such as features in different units, cost no digits.
    """
    m, k = A.shape
    tall = np.vstack([A, np.zeros((k - m, k))]) if m < k else A
    s, U, V, work, _, failed = dgejsv(tall, joba=2)
    if failed:
        raise np.linalg.LinAlgError(f"Jacobi's method did not converge ({failed})")
    return U[:m], s * (work[0] / work[1]), V


def opening(A: NDArray, force: NDArray, w: NDArray, t0: float) -> tuple[Segment, float]:
    """The first stretch of `segment` of the data A (m, d), without hyperplanes, and its length,
    which may be zero.

    While l_max s < 100 the force A^T (y - A w) tells the amplitudes to rounding, however small the
    other rates. So there is no need for the limit, whose digits are dear.
    """
    # H itself would lose half the digits of its small eigenvalues.
    s, Vt = np.linalg.svd(np.linalg.qr(A, mode="r"), full_matrices=False)[1:]
    kept = s > s.max(initial=0.0) * max(A.shape) * _EPS
    rates, V = s[kept] ** 2, Vt[kept].T
    if rates.size == 0:
        return _still(w, t0), np.inf
    b, u = force @ V / rates, w @ V
    length, unknown = 100.0 / rates[0], np.zeros(0)
    start = Segment(
        t0, w, V, b, rates, _off(V, w), np.full(len(w), np.inf), unknown, unknown, *_NOTHING
    )
    # Where a far start is forgotten, in any direction, the limit is needed for the digits.
    gone, left, limit = np.expm1(-rates * length) * b, np.exp(-rates * length) * b, w + V @ b
    early = np.sqrt(w @ w) + np.sqrt(gone @ gone)
    late = np.sqrt(limit @ limit) + np.sqrt(left @ left)
    near = early <= 4.0 * late and np.sqrt(u @ u) <= 10.0 * np.sqrt((u + b) @ (u + b))
    # And where rates are far apart, `segment` keeps the digits of what is fitted soon.
    return start, length if near and rates[-1] > 1e-8 * rates[0] else 0.0


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
    none, V, errors = np.zeros(0), np.zeros((len(w), 0)), np.zeros((2, 0))
    return Segment(t0, w, V, none, none, w, np.zeros(len(w)), none, errors, *_NOTHING)


def products_of(X: NDArray, w: NDArray) -> _Products:
    """X w and what rounding can make of it."""
    return X @ w, 4 * _EPS * (np.abs(X) @ np.abs(w))


def slopes_of(X: NDArray, rows: NDArray, current: Segment) -> NDArray:
    """Amplitudes (k, r) of x_j.w(t) - x_j.w0 of the data `rows` (k,), those that are rounding alone
    set to zero."""
    return _along(X, rows, current) * current.b


def limits_of(
    X: NDArray, rows: NDArray, h: NDArray, known: NDArray, current: Segment
) -> tuple[NDArray | None, tuple[NDArray, ...] | None]:
    """Limits (k,) of x_j.w(t) of the data `rows` (k,), those that are rounding alone set to zero,
    and the errors of h, of the amplitudes (k, r) and of these limits; None for an opening.

    h (n,) at the start is `known` (n,) to these errors. A limit is h plus the amplitudes or, where
    these drown, as beside a far h, what the limit's coordinates give."""
    if current.opens:
        return None, None
    along, still = _along(X, rows, current), _felt(X[rows], current.rest)
    h, known = h[rows], known[rows]
    width = np.abs(X[rows]) @ np.abs(current.V)
    inside = current.place[rows] >= 0 if current.P.size else np.zeros(len(rows), bool)
    width[inside], still[inside] = current.M[current.place[rows[inside]]], 0.0
    width = 4 * _EPS * np.where(along, width, 0.0)
    of_b = width * np.abs(current.b) + np.abs(along) * current.errors[0]
    early = known + of_b.sum(axis=1)
    late = 4 * _EPS * np.abs(still) + width @ np.abs(current.c) + np.abs(along) @ current.errors[1]
    limit = np.where(early < late, h + along @ current.b, along @ current.c + still)
    error = np.minimum(early, late)
    return np.where(np.abs(limit) <= 8 * error, 0.0, limit), (known, of_b, error)


def _along(X: NDArray, rows: NDArray, current: Segment) -> NDArray:
    """The parts (k, r) of the data `rows` along V, those that are rounding alone set to zero."""
    along = rounded(X[rows], current.V)
    if current.P.size:
        place = current.place[rows]
        along[place >= 0] = current.P[place[place >= 0]]
    return along


def rounded(A: NDArray, V: NDArray) -> NDArray:
    """A V, entries that are rounding alone set to zero."""
    product = A @ V
    return np.where(np.abs(product) <= 4 * _EPS * (np.abs(A) @ np.abs(V)), 0.0, product)
