"""The affine flow inside one activation cell, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
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
from reluflow.flows.exponential_sums import Sums, plain
from reluflow.geometry import enumerate_cells

# --- Least squares of ill-conditioned designs: residuals in twice the precision -------------------
#
# The normal equations lose cond(H) digits in their right-hand side alone. Evaluating that
# right-hand side with error-free products (Dekker 1971; Ogita, Rump & Oishi 2005) and correcting
# the solution by a step (Björck 1967) gives them back.

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

    V (d, r) and rates (r,) are the eigenvectors and eigenvalues of A^T A, and P (m, r) is A V. The
    correction takes a relative error of cond(H) * 1e-16 below rounding.
    """
    # A^T (b - A w), correct to about one unit of rounding of the terms' condensed sum.
    high, low = dot(A, w)
    r, error = two_sum(b, -high)
    g, g_low = dot(np.ascontiguousarray(A.T), r, error - low)
    g = g + g_low
    surer = np.sqrt(g @ g) <= np.sqrt(rates * (r @ r))
    return w + V @ (np.where(surer, V.T @ g, P.T @ r) / rates)


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
    units = {j: X[j] / np.linalg.norm(X[j]) for j in map(int, data)}
    groups: dict[int, list[int]] = {}
    for j, unit in units.items():
        near = (k for k in groups if np.linalg.norm(unit - (unit @ units[k]) * units[k]) <= 1e-12)
        groups.setdefault(next(near, j), []).append(j)
    result = []
    for k, members in groups.items():
        along = {j: float(X[j] @ units[k]) for j in members}
        plus = tuple(j for j in members if along[j] > 0)
        minus = sum(y[j] * along[j] for j in members if along[j] < 0)
        jump = minus, sum(y[j] * along[j] for j in plus)
        result.append(SwitchingSurface(units[k], tuple(members), plus, jump))
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


def sliding_condition(
    X: NDArray, stay: tuple[SwitchingSurface, ...]
) -> tuple[NDArray, NDArray, NDArray]:
    """Facets F (m, d), c (m,): the surfaces `stay` hold the flow while F v <= c; and the sizes (m,)
    of what c is added up from.

    Here v (d,) is the velocity that the data off these surfaces give. What the surfaces can add
    to it is any mean of what they add in the cells around (Filippov), and that must cancel v's
    normal part.
    """
    N = np.array([surface.normal for surface in stay])
    jumps = np.array([surface.jump for surface in stay])
    if np.linalg.matrix_rank(N, tol=1e-12) == len(N):
        M = np.linalg.pinv(N).T  # the surfaces add -M v along their normals
        low, high = np.sort(jumps, axis=1).T
        F, c = np.concatenate([-M, M]), np.concatenate([high, -low])
    else:  # not every choice of sides is a cell
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
        c = np.concatenate([-hull[:, r], np.zeros(2 * len(across))]) - F @ centre
    size = np.abs(c)
    if len(N) > 1:  # c is added up from their jumps
        size = size + np.abs(F) @ (np.abs(jumps).max(axis=1) @ np.abs(N))
    return F, c, size


Products = tuple[NDArray, NDArray]  # x.w (n,), and what they are known to (n,)


@dataclass(frozen=True)
class Data:
    """Data X (n, d) and labels y (n,)."""

    X: NDArray
    y: NDArray

    @cached_property
    def norms(self) -> NDArray:
        """Their lengths (n,)."""
        return np.linalg.norm(self.X, axis=1)


@dataclass(frozen=True)
class Fit:
    """What is known of a segment's limit: its coordinates c (r,) along V, which do not depend on
    w0, and the `errors` (2, r) of b and of c.

    Of an active datum `place` (n,) is the row of its part along V in P (m, r). The singular vectors
    tell P to the rounding of M (m, r), of s_k where this is less than the datum's length: so a
    datum keeps its digits that is fitted while the weights are far away. Others have -1.
    """

    c: NDArray
    errors: NDArray
    P: NDArray
    M: NDArray
    place: NDArray


@dataclass(frozen=True)
class Segment:
    """w(t) = w0 + V (b (1 - exp(-rates (t - t0)))) = limit - V (b exp(-rates (t - t0))) from t0 on.

    Shapes: w0 (d,), V (d, r), b and rates (r,). The limit is the part `rest` (d,) of w0 off span(V)
    and V c (d,), which is `end`. The first form keeps the digits early, the second one late, when a
    far start is forgotten. An `opening` has no `fit`, and its end is inf.
    `start` are the products x.w0 of the `data`, and their errors.
    """

    data: Data
    t0: float
    w0: NDArray
    start: Products
    V: NDArray
    b: NDArray
    rates: NDArray
    rest: NDArray
    end: NDArray
    fit: Fit | None = None

    @cached_property
    def limit(self) -> NDArray:
        """Where the segment leads (d,)."""
        return self.rest + self.end

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

    def velocity(self, s: float) -> NDArray:
        """dw/dt (d,) at the time s from the segment's start on."""
        return self.V @ (self.b * self.rates * np.exp(-self.rates * s))

    def along(self, rows: NDArray) -> NDArray:
        """The parts (k, r) of the data `rows` (k,) along V; those that are rounding alone are 0."""
        found = _rounded(self.data.X[rows], self.V)
        if self.fit is not None:
            place = self.fit.place[rows]
            found[place >= 0] = self.fit.P[place[place >= 0]]
        return found

    def sums(self, rows: NDArray) -> Sums:
        """The x_j.w of the data `rows` (k,): amplitudes and limits that are rounding alone are 0.

        A limit is the start plus the amplitudes or, where these drown, as beside a far start, what
        the limit's coordinates give.
        """
        along, fit, (h, known) = self.along(rows), self.fit, (v[rows] for v in self.start)
        slopes = along * self.b
        if fit is None:
            return plain(h, slopes, self.rates)
        X, inside = self.data.X[rows], fit.place[rows] >= 0
        width, still = np.abs(X) @ np.abs(self.V), _felt(X, self.rest)
        width[inside], still[inside] = fit.M[fit.place[rows[inside]]], 0.0
        width = 4 * _EPS * np.where(along, width, 0.0)
        of_b = width * np.abs(self.b) + np.abs(along) * fit.errors[0]
        early = known + of_b.sum(axis=1)
        late = 4 * _EPS * np.abs(still) + width @ np.abs(fit.c) + np.abs(along) @ fit.errors[1]
        limit = np.where(early < late, h + along @ self.b, along @ fit.c + still)
        error = np.minimum(early, late)
        limit = np.where(np.abs(limit) <= 8 * error, 0.0, limit)
        return Sums(h, slopes, self.rates, limit, (known, of_b, error))


@dataclass(frozen=True)
class Moment:
    """A segment at the time s from its start on."""

    flow: Segment
    s: float

    @cached_property
    def gone(self) -> NDArray:
        """The shares (r,) of the ways along the eigenvectors that are behind it."""
        return -np.expm1(-self.flow.rates * self.s)

    @cached_property
    def left(self) -> NDArray:
        """The shares (r,) that are ahead."""
        return np.exp(-self.flow.rates * self.s)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The sizes of what either form of the state is added up from."""
        w0, limit, width = self.flow._widths
        return w0 + float(self.gone @ width), limit + float(self.left @ width)

    @property
    def state(self) -> NDArray:
        """The weights (d,)."""
        return self.flow.after(np.array([self.s]))[0]

    @cached_property
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

    @cached_property
    def products(self) -> Products:
        """The x.w (n,) and their errors; a far `rest` adds none for data that do not feel it."""
        flow, gone, left, (h, known) = self.flow, self.gone, self.left, self.flow.start
        X, norms, fit = flow.data.X, flow.data.norms, flow.fit
        error = self.rounding * norms
        if self.sizes[0] <= self.sizes[1]:
            way = flow.b * gone
            value = h + X @ (flow.V @ way)
            error = known + 4 * (X.shape[1] + 8) * _EPS * (np.abs(h) + length_of(way) * norms)
        elif flow.moves:
            value = _felt(X, flow.rest) + X @ (flow.end - flow.V @ (flow.b * left))
        else:
            value = X @ self.state
        if fit is None:
            return value, error
        (slowest, fastest), on = flow.span, np.flatnonzero(fit.place >= 0)
        if slowest < 1e-3 * fastest or (np.abs(value[on]) <= 1e3 * error[on]).any():
            size, (of_b, of_c), P = 4 * _EPS * np.abs(flow.b), fit.errors, np.abs(fit.P)
            early = known[on] + fit.M @ (gone * size) + P @ (gone * of_b)
            decay = np.minimum(flow.rates * self.s, 1e3)
            late = fit.M @ (left * (1.0 + decay) * size) + P @ (left * of_b + of_c)
            late += fit.M @ (4 * _EPS * np.abs(fit.c))
            other = np.where(early <= late, h[on] + fit.P @ (flow.b * gone),
                             fit.P @ (fit.c - flow.b * left))  # fmt: skip
            least = np.minimum(early, late)
            better = least < error[on]
            value[on[better]], error[on[better]] = other[better], least[better]
        return value, error


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
    data: Data,
    w: NDArray,
    on: NDArray,
    t0: float = 0.0,
    normals: Sequence[NDArray] = (),
    start: Products | None = None,
) -> Segment:
    """The affine flow of the data `on` (n,) from w, held on hyperplanes with unit `normals` (d,).

    `start` are x.w and their errors, where they are known better than from w. To be called on
    `one_thread`."""
    X, held, start = data.X, len(normals) > 0, start or products_of(data.X, w)
    Q = tangent_basis(np.array(normals), len(w))
    # The same problem in the hyperplanes' coordinates.
    A, target, u = X[on] @ Q, data.y[on], Q.T @ w
    if not A.any():
        return _still(data, t0, w, start)
    U, s, V = _decomposed(A)
    # Data that are dependent but for rounding have a direction less: none is longer there than a
    # hundred roundings of its own terms or, within hyperplanes, than one of its length.
    P, M = A @ V, np.linalg.norm(A, axis=1)[:, None]
    wide = np.linalg.norm(X[on], axis=1)[:, None] if held else np.abs(A) @ np.abs(V)
    share = np.linalg.norm(A, axis=0)[:, None] * np.abs(V)
    sure = np.abs(A) @ np.where(share > 4 * _EPS * share.max(axis=0), np.abs(V), 0.0)
    part = np.minimum(np.minimum(np.abs(P), sure), np.abs(U) * s)  # not of a V that is rounding
    clear = (part / np.where(wide, wide, 1.0)).max(axis=0)
    kept = clear > (1 if held else 100) * max(A.shape) * _EPS
    U, s, V, P = U[:, kept], s[kept], V[:, kept], P[:, kept]
    if s.size == 0:
        return _still(data, t0, w, start)
    rates, rest = s**2, _off(V, u)
    P, M = np.where(s > M, P, U * s), np.minimum(M, s)
    P = np.where(np.abs(P) <= 4 * _EPS * M, 0.0, P)
    M = np.where(P, M, 0.0)
    # The fitted point in span(V); where squaring the condition number would show, corrected.
    end, of_end = V @ (U.T @ target / s), np.abs(target) @ np.abs(U) / s
    if s[0] > 10.0 * s[-1]:
        end, of_end = refine(A, target, end, V, P, rates), of_end * np.minimum(_EPS * s[0] / s, 1.0)

    def coordinates(way: NDArray, size: NDArray, force: NDArray, error: NDArray):
        # Two routes: each is exact where the other one cancels.
        errors = np.array([4 * _EPS * size, error @ M / rates])
        closer = errors[0] <= errors[1]
        return np.where(closer, V.T @ way, force @ P / rates), errors.min(axis=0)

    # What cancels in the fit has the rounding of its terms.
    (h, known), far = (v[on] for v in start), np.abs(end) @ np.abs(V) + of_end
    rounding = 4 * _EPS * (np.abs(target) + np.abs(h)) + known
    # A start is what it is; later on each weight has the rounding of all.
    size = length_of(u) if t0 else (np.abs(u) + np.abs(rest)) @ np.abs(V)
    b, of_b = coordinates(end + rest - u, far + size, target - h, rounding)
    c, of_c = coordinates(end, far, target, 4 * _EPS * np.abs(target))
    fit = Fit(c, np.stack([of_b, of_c]), P, M, np.where(on, np.cumsum(on) - 1, -1))
    return Segment(data, t0, w, start, Q @ V, b, rates, Q @ rest, Q @ end, fit)


_blas = cache(ThreadpoolController)  # found once: to find them takes longer than a short run


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


def opening(
    data: Data, w: NDArray, on: NDArray, t0: float, start: Products
) -> tuple[Segment, float]:
    """The first stretch of `segment`, without hyperplanes, and its length, which may be zero.

    While l_max s < 100 the force A^T (y - A w) tells the amplitudes to rounding, however small the
    other rates. So there is no need for the limit, whose digits are dear.
    """
    # H itself would lose half the digits of its small eigenvalues.
    A = data.X[on]
    s, Vt = np.linalg.svd(np.linalg.qr(A, mode="r"), full_matrices=False)[1:]
    kept = s > s.max(initial=0.0) * max(A.shape) * _EPS
    rates, V = s[kept] ** 2, Vt[kept].T
    if rates.size == 0:
        return _still(data, t0, w, start), np.inf
    b, u = (on * (data.y - start[0])) @ data.X @ V / rates, w @ V
    flow = Segment(data, t0, w, start, V, b, rates, _off(V, w), np.full(len(w), np.inf))
    # Where a far start is forgotten, in any direction, the limit is needed for the digits.
    length = 100.0 / rates[0]
    gone, left, limit = np.expm1(-rates * length) * b, np.exp(-rates * length) * b, w + V @ b
    early = np.sqrt(w @ w) + np.sqrt(gone @ gone)
    late = np.sqrt(limit @ limit) + np.sqrt(left @ left)
    near = early <= 4.0 * late and np.sqrt(u @ u) <= 10.0 * np.sqrt((u + b) @ (u + b))
    # And where rates are far apart, `segment` keeps the digits of what is fitted soon.
    return flow, length if near and rates[-1] > 1e-8 * rates[0] else 0.0


def _off(V: NDArray, w: NDArray) -> NDArray:
    """The part of w (d,) orthogonal to the columns of V (d, r), zero where it is rounding alone."""
    terms = 8 * _EPS * (np.abs(w) + np.abs(V) @ np.abs(V.T @ w))
    for _ in range(2):  # the second time what rounding has left
        w = w - V @ (V.T @ w)
    return w if (np.abs(w) > terms).any() and V.shape[0] > V.shape[1] else np.zeros(len(w))


def _felt(X: NDArray, rest: NDArray) -> NDArray:
    """The products of `rest` with the rows of X, those that are rounding alone as zero."""
    product = X @ rest
    rounding = 4 * (len(rest) + 8) * _EPS * (np.abs(X) @ np.abs(rest))
    return np.where(np.abs(product) <= rounding, 0.0, product)


def _still(data: Data, t0: float, w: NDArray, start: Products) -> Segment:
    none = np.zeros(0)
    return Segment(data, t0, w, start, np.zeros((len(w), 0)), none, none, w, np.zeros(len(w)))


def products_of(X: NDArray, w: NDArray) -> Products:
    """X w and what rounding can make of it."""
    return X @ w, 4 * _EPS * (np.abs(X) @ np.abs(w))


def _rounded(A: NDArray, V: NDArray) -> NDArray:
    """A V, entries that are rounding alone set to zero."""
    product = A @ V
    return np.where(np.abs(product) <= 4 * _EPS * (np.abs(A) @ np.abs(V)), 0.0, product)
