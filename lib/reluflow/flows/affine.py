"""Exact gradient flow of one neuron under the square loss: closed form between events.

Inside an activation cell the flow dw/dt = q - H w (Lee et al. 2022a, eq. 3) is affine, so w(t) is
a constant plus a sum of exponentials, and so is every pre-activation. The next event is the first
zero of all of them (`exponential_sums`); what happens there is decided by `continuations`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import lsq_linear
from scipy.spatial import QhullError

from reluflow.errors import InputError
from reluflow.flows.exponential_sums import Sums, Zeros, zeros
from reluflow.flows.segment import (
    Data,
    Moment,
    Products,
    Segment,
    SwitchingSurface,
    length_of,
    one_thread,
    opening,
    problem,
    products_of,
    segment,
    sliding_condition,
    span_of,
    switching_surfaces,
    tangent_projector,
)
from reluflow.flows.trajectory import Event, Trajectory, piecewise
from reluflow.geometry import cell_bound, enumerate_cells

# --- The next contact of a flow with a boundary, found by looking closely at few of the data ------
#
# From time lo to hi the part of the flow along its k-th eigenvector goes a way d_k, and of it the
# share p_k(t) from 0 to 1. With a rate l_k, and q = (t - lo) / (hi - lo),
#
#     |p_k(t) - q| <= min(1, l_k (hi - lo) / 8),
#
# so w(t) is within e = |d_k min(1, l_k (hi - lo) / 8)| of its chord, and
#
#     |x.w(t)| >= min(|x.w(lo)|, |x.w(hi)|) - e |x|     where x.w(lo) and x.w(hi) have one sign.
#
# The two ends of such a window thus tell which data can meet their boundary in it. One window after
# another is looked at, until one has a contact; only there zeros are searched (`exponential_sums`).
#
# (The largest p - q is (coth z - 1/z) / 2 + log(sinh(z) / z) / (2 z) for z = l_k (hi - lo) / 2; the
# first term is at most z/6, and the second, its mean over (0, z), at most z/12.)

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Contact:
    """The flow meets boundaries at a moment.

    data  (n,) those that are on their boundary, or stay on it
    came  (n,) the side from which each is crossed: 1 from where it is active, -1, or 0 if it may
          not be; 2 where a surface lets go that surely held the flow at first
    """

    moment: Moment
    data: NDArray
    came: NDArray


def first_contact(
    flow: Segment,
    sides: NDArray,
    until: float = np.inf,
    room: Sums | None = None,
    clear: float = 0.0,
) -> Contact | None:
    """The first contact of `flow` at a time up to `until` from its start on; None without one.

    Parameters: sides (n,) 1 for active data, -1 for inactive ones, 0 for those that stay on their
    boundary, where the flow's `start` is zero; room, other sums that must stay positive (`rooms`);
    clear, a time up to which no contact is known from elsewhere.
    """
    if flow.rates.size == 0 or (clear and room is None and _free(Moment(flow, clear), sides)):
        return None
    moment = Moment(flow, 0.0)
    near = sides * flow.start[0]
    while moment.s < until:
        if moment.s and room is None and _free(moment, sides):
            return None
        lo = moment.s
        moment = Moment(flow, min(until, _window(flow, sides, near, lo)))
        far = sides * moment.products[0]
        rows = _suspects(moment, sides, np.minimum(near, far), lo)
        near = far
        if rows.size or room is not None:
            sums, signs = flow.sums(rows), sides[rows]
            if room is not None:
                sums, signs = sums.with_rows(room), np.append(signs, np.ones(len(room.a)))
            contact = _contact(flow, sides, rows, zeros(sums, signs, moment.s), sums.a)
            if contact is not None:
                return contact
    return None


def _window(flow: Segment, sides: NDArray, near: NDArray, lo: float) -> float:
    """Where a window from lo on should end: behind the next contact, if speeds stay as they are."""
    slowest, fastest = flow.span
    if lo * slowest > 1.0:
        return np.inf
    speeds = -sides * (flow.data.X @ flow.velocity(lo))
    pace = (speeds / np.where(near > 0.0, near, np.inf)).max()
    ahead = 2.0 / pace if pace > 0.0 else np.inf
    return min(lo + max(ahead, 0.25 * lo, 2.0**-30 / fastest), max(2.0 * lo, 1.0 / fastest))


def _free(moment: Moment, sides: NDArray) -> bool:
    """Whether the flow surely meets no boundary after the moment: no way that is left, taken
    towards it alone, is as long as the distance."""
    flow, share, norms = moment.flow, moment.left, moment.flow.data.norms
    near, way = sides * moment.products[0], length_of(share * flow.b)
    rounding = moment.rounding + 4.0 * (len(share) + 8) * _EPS * way
    rows = np.nonzero((near <= (way + rounding) * norms) & (sides != 0.0))[0]
    slopes = sides[rows, None] * flow.along(rows) * flow.b
    closest = near[rows] + np.minimum(slopes, 0.0) @ share
    return bool((closest > rounding * norms[rows])[slopes.any(axis=1)].all())


def _suspects(moment: Moment, sides: NDArray, closest: NDArray, lo: float) -> NDArray:
    """The data that may meet their boundary from lo to the moment.

    `closest` (n,) are their distances to it at the nearer end of the window, negative across it.
    """
    flow, rounding, norms = moment.flow, moment.rounding, moment.flow.data.norms
    decay = flow.rates * (moment.s - lo)
    share = np.exp(-flow.rates * lo) * -np.expm1(-decay) * np.minimum(1.0, decay / 8.0)
    rows = np.nonzero(~(closest > (length_of(share * flow.b) + rounding) * norms) & (sides != 0.0))[
        0
    ]
    slopes = flow.along(rows) * flow.b
    # The same bound with each datum's own amplitudes, where slow eigenvectors hardly count.
    keep = ~(closest[rows] > np.abs(slopes) @ share + rounding * norms[rows])
    return rows[keep & slopes.any(axis=1)]


def _contact(
    flow: Segment, sides: NDArray, rows: NDArray, found: Zeros, first: NDArray
) -> Contact | None:
    """The earliest of the zeros `found` of the data `rows`, and of surfaces that let go later, of
    sums that begin at `first`."""
    if not found.t.size:
        return None
    wait, norms = found.t.min(), flow.data.norms
    now = (found.t <= wait * (1 + 4 * _EPS)) & (found.row < len(rows))
    let_go = found.crosses & (found.row >= len(rows)) & (first[found.row] > 0.0)
    data = sides == 0.0
    came = np.where(data & let_go[found.t == wait].any(), 2, 0)
    data[rows[found.row[now]]] = True
    crossed = rows[found.row[now & found.crosses]]
    came[crossed] = sides[crossed]
    moment = Moment(flow, float(wait))
    ahead, error = moment.products
    # Data in the span of these are on their boundaries, too, parallel ones among them. What
    # rounding cannot tell from a contact at the same moment is one, and so is what it put across.
    X = flow.data.X
    span = span_of(X, norms, data) if data.any() else np.zeros((0, X.shape[1]))
    off = np.linalg.norm(X - X @ span.T @ span, axis=1)
    data |= (off <= 1e-12 * norms) & (norms > 0.0)
    maybe = np.nonzero((np.abs(ahead) <= error) & ~data)[0]
    if maybe.size:
        sums = flow.sums(maybe)
        value, terms = (v[:, 0] for v in sums.at(np.full((len(maybe), 1), wait)))
        there = (np.abs(value) <= 8 * _EPS * terms) | (sides[maybe] * ahead[maybe] <= 0.0)
        data[maybe] = sums.b.any(axis=1) & there
    return Contact(moment, data, came)


def rooms(flow: Segment, on: NDArray, stay: tuple[SwitchingSurface, ...]) -> Sums:
    """How far the surfaces `stay` of the flow of the data `on` are from letting go.

    A surface lets go where one of these sums becomes negative: not where what holds it only fades
    as the flow comes to rest, which is a limit of zero. Sums that do not change are left out.
    """
    X, y, fit = flow.data.X, flow.data.y[on], flow.fit
    assert fit is not None
    F, c, size_c = sliding_condition(X, stay)
    G, wide = F @ X[on].T, 8 * _EPS * (np.abs(F) @ np.abs(X[on]).T)

    def room(h: NDArray, known: NDArray) -> tuple[NDArray, NDArray]:
        gap = y - h
        error = 4 * (np.abs(G) @ (known + 4 * _EPS * (np.abs(y) + np.abs(h))))
        return c - G @ gap, 8 * _EPS * size_c + wide @ np.abs(gap) + error

    P, M, errors = fit.P, 4 * _EPS * fit.M, fit.errors
    last, of_last = room(P @ fit.c, M @ np.abs(fit.c) + np.abs(P) @ errors[1])
    slopes = G @ (P * flow.b)
    size = (wide @ np.abs(P) + 4 * (np.abs(G) @ M)) * np.abs(flow.b)
    slopes = np.where(np.abs(slopes) <= size, 0.0, slopes)
    first, of_first = room(*(v[on] for v in flow.start))
    of_slopes = size + np.abs(G @ P) * errors[0]
    of_other = of_last + of_slopes.sum(axis=1)
    first = np.where(of_first <= of_other, first, last - slopes.sum(axis=1))
    of_first = np.minimum(of_first, of_other)
    first = np.where(np.abs(first) <= of_first, 0.0, first)
    last = np.where(np.abs(last) <= of_last, 0.0, last)
    sums = Sums(first, slopes, flow.rates, last, (of_first, of_slopes, of_last))
    return sums[np.flatnonzero(slopes.any(axis=1))]


# --- The ways in which a flow can leave a point on switching surfaces: one, none or several -------
#
# With y > 0 both sides of a boundary can point away from it, and more than one flow leaves.
# Proposition F.4 of Lee et al. 2022a says that this does not happen.
#
# A flow that leaves a point runs, for a while, inside one face of the arrangement of the boundaries
# through it: on some of them, strictly to one side of the others. So the ways to leave are found by
# asking each face whether the flow that it implies stays in it.

SURFACE_LIMIT = 6  # the sides of at most this many boundaries are tried in all combinations

FACE_LIMIT = 2000
"""Boundaries through one point that may have more cells than this are not searched face by face."""

_TOL = 1e-13  # a derivative below this, relative to the terms that it is made of, counts as zero


class Continuation(NamedTuple):
    """One way to go on from a point.

    sides    of the surfaces: +1, -1, or 0 for staying on one
    resting  whether it stays on the surface without a jump, as an inactive datum would
    """

    sides: tuple[int, ...]
    resting: tuple[bool, ...]


def _lexicographic_sign(derivatives: NDArray, scale: NDArray) -> float:
    """Sign of the first entry of `derivatives` that exceeds rounding at its `scale`; else 0."""
    known = derivatives[np.abs(derivatives) > _TOL * scale]
    return float(np.sign(known[0])) if len(known) else 0.0


def continuations(
    X: NDArray,
    y: NDArray,
    products: tuple[NDArray, NDArray],
    active: NDArray,
    here: tuple[SwitchingSurface, ...],
    arrival: int = 0,
) -> tuple[Continuation, ...]:
    """All ways in which a flow can leave a point on the surfaces `here`.

    A face stands if the flow that it implies stays in it for small t > 0, decided on the first
    derivatives that do not vanish. `products` are the data's x.w and their errors, `active` (n,) is
    true for the data strictly active there;
    `arrival` is the side from which a flow is known to cross a single surface, 0 where none is; 2,
    on either side, where it is known to let go.

    Raises ValueError if more surfaces meet at w than can be resolved.
    """
    if len(here) == 1:
        clear = _transversal(X, y, products, active, here[0], arrival)
        if clear is not None:
            return clear
    A, (h, known) = X[active], products
    H, v = A.T @ A, A.T @ (y - h)[active]
    # Rounding of the derivatives is judged by the sums of the absolute values of their terms.
    B = np.abs(A)
    sizes = B.T @ B, B.T @ (np.abs(y) + np.abs(h) + known / _TOL)[active]
    found = []
    for sides in _candidates(X, v, sizes[1], here):
        mode = _consistent(X, y, H, v, sizes, here, sides)
        if mode is not None:
            found.append(mode)
    return tuple(found)


def _transversal(
    X, y, products, active, surface: SwitchingSurface, arrival: int
) -> tuple[Continuation, ...] | None:
    """The continuations from a single surface where first derivatives decide, else None."""
    along, (h, known) = X @ surface.normal, products
    gap = np.where(active, y - h, 0.0)
    speeds = gap @ along + np.array(surface.jump)
    # The sizes of the terms, with what the products are known to.
    wide = 8 * _EPS * (np.abs(gap) @ (np.abs(X) @ np.abs(surface.normal)))
    wide += (active * (_TOL * (np.abs(y) + np.abs(h)) + known)) @ np.abs(along)
    sure = np.abs(speeds) > wide + _TOL * np.abs(surface.jump)
    # A flow that crosses moves away from where it came, however slowly: also where the rounding of
    # w, which `known` does not count, turns that speed around. Where the other side pushes it on
    # even more, it is as sure there.
    sure = np.sign(speeds) * sure
    if abs(arrival) == 2:  # one of the speeds has come to zero, and will have the other's sign
        sure = np.full(2, sure[np.abs(speeds).argmax()])
    elif arrival:
        ahead = surface.jump[1] >= surface.jump[0]
        sure = np.where([arrival < 0 or ahead, arrival > 0 or ahead], -arrival, sure)
    before, after = map(int, sure)
    if before == 0 or after == 0:
        return None
    sides = (before,) if before == after else (0,) if before > 0 else (1, -1, 0)
    return tuple(Continuation((side,), (False,)) for side in sides)


def _candidates(X, v, size, here) -> Iterator[tuple[int, ...]]:
    """Faces of the surfaces, as sides, among which are all that the flow can enter."""
    jumps = np.array([surface.jump for surface in here])
    N = np.array([surface.normal for surface in here])
    rank = np.linalg.matrix_rank(N, tol=1e-12)
    convex = jumps[:, 1] < jumps[:, 0]
    if len(N) <= 3:
        yield from product((1, -1, 0), repeat=len(N))
    elif rank < len(N) and cell_bound(len(N), rank) <= FACE_LIMIT:
        yield from _faces(X[[surface.data[0] for surface in here]])
    elif rank == len(N) and np.sum(~convex) <= SURFACE_LIMIT:
        yield from _narrowed(N, jumps, convex, v, size)
    else:
        _refuse(len(N))


def _refuse(count: int) -> None:
    raise ValueError(
        f"{count} non-parallel activation boundaries meet in one point of the path, "
        "too many to tell how the flow goes on"
    )


def _faces(X: NDArray) -> Iterator[tuple[int, ...]]:
    """All faces of the arrangement of the rows of X (k, d): their signs, 0 on a boundary."""
    seen = set()
    rank = np.linalg.matrix_rank(X)
    for size in range(rank + 1):
        for chosen in combinations(range(len(X)), size):
            s, vt = np.linalg.svd(X[list(chosen)])[1:] if size else ([1.0], np.eye(X.shape[1]))
            if s[-1] <= 1e-12 * s[0]:
                continue
            flat = vt[size:].T
            rest = np.linalg.norm(X @ flat, axis=1) > 1e-10 * np.linalg.norm(X, axis=1)
            if rest.tobytes() in seen:
                continue
            seen.add(rest.tobytes())
            for pattern in enumerate_cells(X[rest] @ flat).patterns:
                sides = np.zeros(len(X), int)
                sides[rest] = np.where(pattern, 1, -1)
                yield tuple(map(int, sides))


def _narrowed(N, jumps, convex, v, size) -> Iterator[tuple[int, ...]]:
    """Faces with each side of the surfaces that can repel; for those that only attract, just the
    sides that first derivatives leave open.

    The attracting surfaces make the velocity the shortest that their jumps allow: a least-squares
    problem with bounds, in place of three sides for each.
    """
    tolerance = _TOL * (np.linalg.norm(size) + np.abs(jumps).max())
    for others in product((1, -1, 0), repeat=int(np.sum(~convex))):
        sides = np.zeros(len(N), int)
        sides[~convex] = others
        fixed = np.where(sides > 0, jumps[:, 1], np.where(sides < 0, jumps[:, 0], 0.0))
        free = sides == 0
        jump, velocity = np.zeros(0), v + fixed @ N
        low = np.where(convex, jumps[:, 1], -np.inf)[free]
        high = np.where(convex, jumps[:, 0], np.inf)[free]
        if free.any():
            jump = lsq_linear(N[free].T, -velocity, (low, high), method="bvls", tol=1e-15).x
            velocity = velocity + jump @ N[free]
        slope = N @ velocity
        inside = np.zeros(len(N), bool)
        inside[free] = (jump > low + tolerance) & (jump < high - tolerance)
        moves = convex & (np.abs(slope) > tolerance)
        sides[moves] = np.sign(slope[moves])
        undecided = np.nonzero(convex & ~moves & ~inside)[0]
        if len(undecided) > SURFACE_LIMIT:
            _refuse(len(N))
        for choice in product((1, -1, 0), repeat=len(undecided)):
            sides[undecided] = choice
            yield tuple(map(int, sides))


def _consistent(X, y, H, v, sizes, here, sides) -> Continuation | None:
    """The mode of the face `sides`, or None if its flow does not stay in it.

    H (d, d) and v (d,) are of the data strictly active, `sizes` the same of absolute values.
    """
    d, (S, size) = X.shape[1], sizes
    stay = tuple(surface for surface, s in zip(here, sides, strict=True) if s == 0)
    for surface, side in zip(here, sides, strict=True):
        if side:
            rows = list(surface.plus if side > 0 else surface.minus)
            H, v = H + X[rows].T @ X[rows], v + surface.jump[side > 0] * surface.normal
            S, size = S + np.abs(X[rows]).T @ np.abs(X[rows]), size + np.abs(y[rows] @ X[rows])
    orders = [size]
    for _ in range(d):
        orders.append(S @ orders[-1])
    scale = np.array(orders)
    N = np.array([surface.normal for surface in stay]).reshape(-1, d)
    P = tangent_projector(N, d)
    free, jet = [v], [P @ v]  # derivatives of q - H w(t), and of w(t)
    for _ in range(d):
        free.append(-H @ jet[-1])
        jet.append(P @ free[-1])
    largest = scale.max(axis=1) + 1e-300  # whose square may overflow
    sizes = largest * np.linalg.norm(scale / largest[:, None], axis=1)
    for surface, side in zip(here, sides, strict=True):
        if side and _lexicographic_sign(np.array(jet) @ surface.normal, sizes) != side:
            return None
    if not stay:
        return Continuation(sides, (False,) * len(sides))
    F, c, size_c = sliding_condition(X, stay)
    room, width = -np.array(free) @ F.T, scale @ np.abs(F).T + 1e-300
    room[0], width[0] = room[0] + c, width[0] + size_c
    if any(_lexicographic_sign(*each) < 0 for each in zip(room.T, width.T, strict=True)):
        return None
    jumps = np.array(free) @ np.linalg.pinv(N)
    idle = np.array([_lexicographic_sign(p, sizes) == 0 for p in jumps.T])
    one_sided = np.array([not surface.plus or not surface.minus for surface in stay])
    resting = np.array(sides) == 0
    resting[resting] = idle & one_sided
    return Continuation(sides, tuple(map(bool, resting)))


_ROUNDING = 40 * _EPS  # a weight vector this small, against what it is added up from, is 0
_FADED = 28.0  # e^-28 is below 10^-12


@dataclass(frozen=True)
class _State:
    """Where an affine flow is: `on` (n,) active data, `held` surfaces along which it slides, and
    surfaces on which it is `resting`, without a jump."""

    on: NDArray
    held: tuple[SwitchingSurface, ...] = ()
    resting: tuple[SwitchingSurface, ...] = ()

    @property
    def stay(self) -> tuple[SwitchingSurface, ...]:
        return self.held + self.resting

    @property
    def normals(self) -> list[NDArray]:
        return [surface.normal for surface in self.stay]


def affine_flow(
    X: ArrayLike, y: ArrayLike, w0: ArrayLike, activation: str = "relu", max_events: int = 100_000
) -> Trajectory:
    """Gradient flow dw/dt = q(w) - H(w) w of one neuron, exactly (Lee et al. 2022a, eq. 3).

    Parameters: X (n, d) data, y (n,) labels of either sign, w0 (d,) start, activation "relu" or
    "linear" (whose events are the sign changes of x_j.w, which do not bend its path).

    Returns a `Trajectory` on the clock "time". Its status is "converged"; "sliding", converged on a
    boundary that attracts from both sides; "non-unique" where more than one flow goes on, with the
    path up to there; or "horizon" after `max_events`.

    Data that are dependent but for a hundred roundings count as dependent. Where lengths, entries
    or units of the data vary over twelve decades, one flow in about a hundred takes, in silence, a
    way that rounding has chosen.

    Raises InputError for arrays that do not fit or are not finite, and where more non-parallel
    boundaries meet in a point of the path than can be resolved.
    """
    *given, w = problem(X, y, w0)
    if activation not in ("relu", "linear"):
        raise InputError(f'activation must be "relu" or "linear", not {activation!r}')
    with one_thread():
        if activation == "linear":
            return _linear_flow(Data(*given), w)
        return _relu_flow(Data(*given), w, max_events)


def _relu_flow(data: Data, w: NDArray, max_events: int) -> Trajectory:
    norms, t = data.norms, 0.0
    h, known = products_of(data.X, w)
    # A datum counts as on its boundary when rounding alone could have put it there.
    on_boundary = (np.abs(h) <= known) & (norms > 0)
    state = _State((h > 0.0) & ~on_boundary)
    came = np.zeros(len(h), int)
    segments: list[Segment] = []
    events: list[Event] = []
    stalled = 0  # contacts in a row that took no time
    knots, states = [0.0], [w]
    status, detail = "", ""
    while not status:
        if on_boundary.any():
            choice = _leave(data, (h, known), state, on_boundary, came)
            if isinstance(choice, str):
                status, detail = "non-unique", choice
                break
            events += _changes(t, state, choice, on_boundary)
            state = choice
        h, known = np.where(on_boundary, 0.0, h), np.where(on_boundary, 0.0, known)
        current, contact = _course(data, w, (h, known), state, t)
        segments.append(current)
        if contact is None:
            w = current.limit
            status, detail = _ending(state)
            if past := _beyond(state, current):
                status, detail = "non-unique", f"rounding hides how {past} ends: undecided"
        elif len(segments) > max_events:
            status, detail = "horizon", f"stopped after {max_events} events"
        else:
            moment, on_boundary, came = contact.moment, contact.data, contact.came
            stalled = stalled + 1 if t + moment.s == t else 0
            t = t + moment.s
            w, (h, known) = moment.state, moment.products
            whole = on_boundary.any() and len(span_of(data.X, norms, on_boundary)) == len(w)
            if whole or length_of(w) <= _ROUNDING * moment.summed:
                # It is 0, where all boundaries meet.
                w, h, known = np.zeros_like(w), np.zeros_like(h), np.zeros_like(h)
                on_boundary = norms > 0.0
            if stalled > 2 * len(h):
                status, detail = "non-unique", f"events pile up at t = {t:g}: undecided"
            if t > knots[-1]:
                knots.append(t)
                states.append(w)
    return _assemble(segments, events, knots, states, status, detail, w)


def _ending(state: _State) -> tuple[str, str]:
    if state.held:
        place = f"the activation boundary of {_names(state.held)}"
        return "sliding", f"converged while sliding along {place}"
    if state.on.any():
        return "converged", "no further event: the limit lies in the closure of the last cell"
    return "converged", "no datum is active, so the flow stays where it is"


def _beyond(state: _State, last: Segment) -> str:
    """A datum that the limit of the last segment does not leave on its side, if there is one.

    Limits that are rounding alone count as zero, which those of flows that fade on a boundary are.
    Whether they are so is asked of the fit in rational arithmetic, where it is one point.
    """
    held, X, y = [j for surface in state.held for j in surface.data], last.data.X, last.data.y
    if last.fit is None or len(held) > 1 or state.resting or X.size > 1000:
        return ""
    sums = last.sums(np.arange(len(X)))
    near = np.setdiff1d(np.flatnonzero(sums.b.any(axis=1) & (sums.limit == 0.0)), held)
    fades = held and (rooms(last, state.on, state.stay).limit == 0.0).any()
    if not near.size and not fades:
        return ""
    # Not by `reluflow.exact`: second routes stand on that, and share with this flow at most FLINT.
    A, target, along = (_rational(v) for v in (X[state.on], y[state.on, None], X[held]))
    d, H, q = X.shape[1], A.transpose() * A, A.transpose() * target
    K, right = H.tolist(), q.tolist()
    if held:  # within its boundary
        normal = along.entries()
        K, right = [[*row, v] for row, v in zip(K, normal, strict=True)], [*right, [fmpq(0)]]
        K.append([*normal, fmpq(0)])
    try:
        w = fmpq_mat(fmpq_mat(K).solve(fmpq_mat(right)).tolist()[:d])
    except ZeroDivisionError:
        return ""
    sides = zip(near, (_rational(X[near]) * w).entries(), strict=True) if near.size else ()
    past = [j for j, h in sides if h and (h > 0) != state.on[j]]
    if fades:
        (push,), (size,) = (along * (q - H * w)).entries(), (along * along.transpose()).entries()
        past += [j for j in held if not 0 <= push <= -fmpq(*y[j].as_integer_ratio()) * size]
    return f"x_{past[0] + 1}" if past else ""


def _rational(v: NDArray) -> fmpq_mat:
    """Doubles (m, k) as the fractions that they are."""
    return fmpq_mat([[fmpq(*x.as_integer_ratio()) for x in row] for row in v.tolist()])


def _names(named: tuple[SwitchingSurface, ...]) -> str:
    data = [f"x_{j + 1}" for surface in named for j in surface.data]
    return ", ".join(data[:6]) + (f" and {len(data) - 6} more" if len(data) > 6 else "")


def _leave(
    data: Data, products: Products, state: _State, on_boundary: NDArray, came: NDArray
) -> _State | str:
    """How the flow goes on from w on some boundaries, or a sentence that says why it cannot.

    `came` (n,) is the side of its boundary from which each datum is known to cross it, or 0.
    """
    here = switching_surfaces(data.X, data.y, np.nonzero(on_boundary)[0])
    crossed = [j for j in here[0].data if came[j]]
    arrival = int(came[crossed[0]] * (1 if crossed[0] in here[0].plus else -1)) if crossed else 0
    strictly, place = state.on & ~on_boundary, f"the activation boundary of {_names(here)}"
    if len(here) > 3 and not strictly.any() and (data.y[on_boundary] > 0.0).all():
        # It may stay: the support function sum y_j [x_j.v]_+ of the velocities around is never
        # negative, so zero is a mean of them. And from any x_j on, v -> sum of y_j x_j over
        # x_j.v >= 0 climbs that function, until it comes to the velocity of its own cell.
        return f"at least 2 different flows leave this point of {place}: the flow is not unique"
    # The point is on its surfaces: the modes are decided as if the contact were exact.
    try:
        modes = continuations(data.X, data.y, products, strictly, here, arrival)
    except (np.linalg.LinAlgError, QhullError):
        raise InputError(
            f"the activation boundaries of {_names(here)} meet at angles too small to tell in "
            "double precision how the flow goes on from there"
        ) from None
    except ValueError as error:
        raise InputError(str(error)) from None
    if not modes:
        return f"no flow could be told to leave {place}: undecided"
    if len(modes) > 1:
        count = f"at least {len(modes)} different flows"
        return f"{count} leave this point of {place}: the flow is not unique"
    on, held, resting = strictly.copy(), list[SwitchingSurface](), list[SwitchingSurface]()
    for surface, side, rests in zip(here, modes[0].sides, modes[0].resting, strict=True):
        on[list(surface.plus)], on[list(surface.minus)] = side > 0, side < 0
        if side == 0:
            (resting if rests else held).append(surface)
    return _State(on, tuple(held), tuple(resting))


def _changes(t: float, old: _State, new: _State, on_boundary: NDArray) -> Iterator[Event]:
    """The events, in the order of the data, by which `old` becomes `new`."""
    sliding, before = ({j for surface in state.held for j in surface.data} for state in (new, old))
    for j in np.flatnonzero(on_boundary).tolist():
        kind = "slide" if j in sliding else "activate" if new.on[j] else "deactivate"
        if (j in sliding) != (j in before) or (j not in before and new.on[j] != old.on[j]):
            yield Event(t, j, kind)


def _course(
    data: Data, w: NDArray, start: Products, state: _State, t: float
) -> tuple[Segment, Contact | None]:
    """The segment from w on, where x.w are the `start`, and the contact that ends it."""
    sides, length, room = 2.0 * state.on - 1.0, 0.0, None
    if not state.stay:
        current, length = opening(data, w, state.on, t, start)
        contact = first_contact(current, sides, length)
        if contact is not None:
            if _goes_on(contact, state.on):
                return current, contact
            length = 0.0
    for surface in state.stay:
        sides[list(surface.data)] = 0.0
    current = segment(data, w, state.on, t, state.normals, start)
    if state.stay and current.rates.size:
        room = rooms(current, state.on, state.stay)
    return current, first_contact(current, sides, room=room, clear=length)


def _goes_on(contact: Contact, on: NDArray) -> bool:
    """Whether what an opening has beyond a contact is more than rounding of its amplitudes, which
    are added up from a force; else only the limit tells whether there is a contact."""
    flow = contact.moment.flow
    along = flow.data.X[contact.data] @ flow.V
    force = np.abs(on * (flow.data.y - flow.start[0])) @ flow.data.norms
    beyond = np.abs((along * flow.b) @ contact.moment.left)
    return bool((beyond > 64 * _EPS * force * (np.abs(along) @ (1.0 / flow.rates))).all())


def _assemble(segments, events, knots, states, status, detail, end) -> Trajectory:
    rest = [lambda t: np.tile(end, (len(t), 1))]  # all of a path that ends where it starts
    starts, pieces = [0.0] + [s.t0 for s in segments], rest + [s.at for s in segments]
    settled = knots[-1]
    if status in ("converged", "sliding") and (last := segments[-1]).rates.size:
        # Until transients are below one part in 10^12, of themselves and of the limit.
        left, size = float(np.abs(last.b).max()), float(np.linalg.norm(end))
        decay = _FADED + np.log(left / size if left > size > 0.0 else 1.0)
        settled = last.t0 + float(decay / last.rates.min())
    return Trajectory(
        t=np.array(knots),
        states=np.array(states),
        events=tuple(events),
        status=status,
        clock="time",
        end=end,
        detail=detail,
        interpolant=piecewise(starts, pieces, len(end)),
        settled=settled,
    )


def _linear_flow(data: Data, w: NDArray) -> Trajectory:
    only, events = segment(data, w, np.ones(len(data.y), bool)), list[Event]()
    here = switching_surfaces(data.X, data.y, np.flatnonzero(data.norms))
    sums = only.sums(np.array([surface.data[0] for surface in here], int))
    side = np.where(sums.a != 0.0, np.sign(sums.a), np.sign(sums.b @ only.rates))
    if only.rates.size:
        found = zeros(sums, side)
        row, t = found.row[found.crosses], found.t[found.crosses]
        for before, k in pairwise(np.argsort(t)):
            if t[k] <= t[before] * (1 + 16 * _EPS):  # as rounding tells
                t[k] = t[before]
        for k, at in zip(row.tolist(), t.tolist(), strict=True):
            side[k] = -side[k]
            for j in here[k].data:  # parallel data, at once
                up = (side[k] > 0) == (j in here[k].plus)
                events.append(Event(at, j, "activate" if up else "deactivate"))
    events.sort(key=lambda event: (event.t, event.datum))
    knots = [0.0, *sorted({e.t for e in events})]
    told = "converged", "the limit of a linear flow"
    return _assemble([only], events, knots, only.at(np.array(knots)), *told, only.limit)
