"""Small starts in the plane: where they end, and how their norm goes (Theorem 4.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, pairwise, permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from reluflow.approx import counted, on_grain
from reluflow.exact import rationals
from reluflow.falsify import Draws, Instance, Statement, extended, given, statement
from reluflow.flows.affine import affine_flow
from reluflow.flows.segment import Data, Segment, segment
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import rank
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2022support import rational
from reluflow.papers.lee2022support.landscape import gradient, local_minima, loss
from reluflow.papers.lee2022support.setting import (
    KINDS,
    NORMS,
    ORDINARY,
    Crossing,
    assumptions,
    crossings,
    data_draws,
    deactivated,
    directed,
    draw_many,
    meets,
    nontrivial,
    plain_descent,
    reactivations,
    small,
    small_flows,
    smallest_force,
    visited_cells,
)
from reluflow.statistics import wilson

# --- Small starts in the plane: where they end, from the data alone (Lemma 4.6, Theorem 4.7) ------
#
# Under A1-A3 every cell of the plane with active data keeps the first k or the last k of the data
# in the order of their angles (Lemma 4.5). A flow from |w0| < delta_0 with q(w0) > 0 keeps all
# data, or gives up the steepest ones, or the flattest ones, class by class, until a cell holds its
# own virtual minimum, boundary included; there it ends. The chapter proves it.

NEAR = 1e-6
"""Limits count as equal up to this share of their norm."""


class PlanarData(NamedTuple):
    """What B data sets of the plane tell of the flows from small starts; B rows each."""

    limit: NDArray  # where small starts end, (B, 2)
    kept: NDArray  # whether a datum is active there, (B, n); one on its boundary is
    loss: NDArray  # the loss there
    least: NDArray  # the least loss of all
    most: NDArray  # the largest number of data active at any local minimum


def planar_data(X: NDArray, y: NDArray) -> PlanarData:
    """`PlanarData` of X (B, n, 2) and y (B, n), under A1-A3, taken as the rationals that they are:
    all signs are told in whole numbers. A datum on its boundary counts as active at the limit, for
    no event has switched it off."""
    (X, long), (y, unit) = _whole(X), _whole(y)
    total = X.sum(axis=2)
    # Fine enough that only parallel data have one slope.
    slopes = (X[..., 1] << 2 * int(total.max()).bit_length()) // total
    order = np.argsort(slopes, axis=1, kind="stable")
    p, q, y, slopes = (np.take_along_axis(v, order, 1) for v in (X[..., 0], X[..., 1], y, slopes))
    n, rows, back = y.shape[1], np.arange(len(y)), np.argsort(order, axis=1)
    # Patterns 0 .. n-1 keep the flattest k+1 data, patterns n .. 2n-1 the data from k on.
    flatter = slopes[:, None] <= slopes[..., None]
    on = np.concatenate([flatter, slopes[:, None] >= slopes[..., None]], axis=1)
    terms = np.stack([p * p, p * q, q * q, y * p, y * q], axis=2)
    a, b, c, f, g = np.moveaxis(on.astype(object) @ terms, 2, 0)
    det = a * c - b * b
    line = det == 0  # data of one direction: the shortest fit
    u, v = np.where(line, f, c * f - b * g), np.where(line, g, a * g - b * f)
    det = np.where(line, a + c, det)
    h = p[:, None] * u[..., None] + q[:, None] * v[..., None]
    outer = h[:, np.arange(2 * n), np.tile(np.arange(n), 2)] < 0  # of the datum given up next
    k = np.where(outer[:, n], n, n - 1)
    while (moves := outer[rows, k]).any():
        k = k + moves * np.where(k < n, -1, 1)
    holds = np.where(on, h > 0, h <= 0).all(axis=2) | line
    y, h = (y / unit).astype(float), (h / (det * unit)[..., None]).astype(float)
    losses = 0.5 * ((np.maximum(h, 0.0) - y[:, None]) ** 2).sum(axis=2)
    w = (np.stack([u, v], axis=2)[rows, k] * long / (det * unit)[rows, k, None]).astype(float)
    return PlanarData(
        limit=w,
        kept=np.take_along_axis(on[rows, k], back, 1),
        loss=losses[rows, k],
        least=np.minimum(losses.min(axis=1), 0.5 * (y**2).sum(axis=1)),
        most=np.where(holds, on.sum(axis=2), 0).max(axis=1),
    )  # fmt: skip


def _whole(values: NDArray) -> tuple[NDArray, int]:
    """Whole numbers, and the power of two of which they are so many times the values."""
    ratios = [v.as_integer_ratio() for v in np.ravel(values).astype(float).tolist()]
    unit = max(below for _, below in ratios)
    whole = np.array([over * (unit // below) for over, below in ratios], object)
    return whole.reshape(np.shape(values)), unit


def resting_point(item: Instance) -> tuple[NDArray, NDArray]:
    """The data (n,) of an instance active where small starts end, and that point (2,)."""
    told = planar_data(item["X"][None], item["y"][None])
    return told.kept[0], told.limit[0]


# --- Theorem 4.7 and Lemma F.8: where small starts end, and whether that is global ----------------
#
# An instance is a data set "X" (n, d), "y" (n,) and a direction "u" (d,) of the start.

MISSED = 1e-9
"""A limit whose loss is above the least loss by more than this share of L(0) is not global."""


def nontrivial_draws(d: int, sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Data sets, each with a direction u for which q > 0, random or near a boundary."""
    return extended(data_draws(d, sizes), directed)


def keeps_all(item: Instance) -> bool:
    """Whether the all-active cell holds its virtual minimum."""
    return bool(resting_point(item)[0].all())


ASSUMED: Mapping[str, Callable[[Instance], bool]] = {
    "A2: y > 0": lambda item: bool(np.all(item["y"] > 0.0)),
    "A3: rank X = d": lambda item: rank(item["X"]) == item["X"].shape[1],
}
"""What the draws guarantee and the search could lose; A1 it keeps, for it keeps signs."""


def planar(item: Instance) -> bool:
    """Whether A1, A2 and A3 hold in the plane."""
    return meets(item, "A1", "A2", "A3", d=2)


def _at_rest(says: str, draws: Draws, hypotheses: Mapping, gone: bool) -> Statement:
    """Flows from `NORMS` of delta_0 along u end in the resting point, and take no datum back; where
    `gone`, they do not even give one up."""

    def slack(item: Instance) -> float:
        paths = small_flows(item, NORMS)
        if not all(path.has_limit for path in paths):
            return np.nan  # rounding could not tell a state from a boundary
        if any(deactivated(path) if gone else reactivations(path) for path in paths):
            return -1.0
        w = resting_point(item)[1]
        return min(float(NEAR - np.linalg.norm(p.end - w) / np.linalg.norm(w)) for p in paths)

    return Statement(says, draws, slack, hypotheses, fixed=("u",))


def ends_at_rest() -> Statement:
    """sv.ours.small.plane: the flow ends in the `resting_point`."""
    hypotheses = given("sv.ours.small.plane", data=planar, start=small)
    return _at_rest("small starts end where the data say, and take nothing back",
                    nontrivial_draws(2), hypotheses, gone=False)  # fmt: skip


def keeps_all_data() -> Statement:
    """sv.lemF.8.1: where the all-active cell holds its virtual minimum."""
    hypotheses = {**ASSUMED, "q(w0) > 0": nontrivial,
                  "the all-active cell holds its minimum": keeps_all}  # fmt: skip
    return _at_rest("all data kept, limit is the all-active minimum", nontrivial_draws(2),
                    hypotheses, gone=True)  # fmt: skip


def survey_plane(seed: int, count: int) -> pd.DataFrame:
    """What each of `count` planar data sets of every kind tells of small starts, a row each: its
    `kind`, and of their end, the resting point, whether it

    gives_up     has lost a datum
    missed       is not a global minimum
    not_largest  has fewer support vectors than some local minimum
    """
    items = list(draw_many(count * len(KINDS), 2, seed))
    sizes, tables = np.array([len(item.y) for item in items]), []
    for size in np.unique(sizes):
        at = np.flatnonzero(sizes == size)
        y = np.array([items[k].y for k in at])
        told = planar_data(np.array([items[k].X for k in at]), y)
        tables.append(pd.DataFrame({
            "kind": [items[k].kind for k in at],
            "gives_up": ~told.kept.all(axis=1),
            "missed": told.loss > told.least + MISSED * 0.5 * (y**2).sum(axis=1),
            "not_largest": told.most > told.kept.sum(axis=1),
        }, at))  # fmt: skip
    return pd.concat(tables).sort_index()


def share_missed(plane: pd.DataFrame, kinds: Sequence[str] = ORDINARY) -> tuple[float, ...]:
    """The share of the data sets of these kinds that miss, and its 95 % interval (Wilson)."""
    missed = plane.missed[plane.kind.isin(kinds)]
    return (float(missed.mean()), *map(float, wilson(missed.sum(), len(missed))))


def table_of_kinds(plane: pd.DataFrame) -> pd.DataFrame:
    """One row a kind: data sets, how many give up a datum, and the share that misses."""
    rows = {}
    groups = {kind: (kind,) for kind in KINDS} | {"the first five together": ORDINARY}
    for name, kinds in groups.items():
        part = plane[plane.kind.isin(kinds)]
        share, low, high = (on_grain(100.0 * v, 0.1) for v in share_missed(plane, kinds))
        rows[name] = {"data sets": len(part), "give up a datum": counted(int(part.gives_up.sum())),
                      "miss the global minimum": f"{share} % ({low} to {high})",
                      "another minimum has more support":
                          counted(int(part.not_largest.sum()))}  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index")


def not_global(
    plane: pd.DataFrame, seed: int, X: NDArray, y: NDArray
) -> tuple[list[Evidence], Counterexample]:
    """sv.thm4.7.1: by `survey_plane`, and by the data X, y that refute Theorem 3.6."""
    w0 = np.array([1e-4, 1e-4])
    end, best = affine_flow(X, y, w0).end, rational.fit(X, y, [0, 2])
    above = float(loss(X, y, end)) - local_minima(X, y)[0].loss
    loop = plain_descent(X, y, w0, 0.01, 5000)[-1]
    by_loop = rational.neuron_loss(X, y, rationals(loop)) - best.loss
    evidence = [fact("data sets whose limit is not a global minimum", int(plane.missed.sum()), 0),
                fact("the limit is global on the data of the counterexample", above <= 1e-9, True),
                note("data sets", len(plane)), note("seed", seed)]  # fmt: skip
    return evidence, Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int), "w0": w0},
        assumptions={**assumptions(X, y), "q(w0) > 0": smallest_force(X, y, [w0]) > 0},
        breaks=(bound("L(limit) - least loss, exact flow and enumerated minima",
                      above, "<=", 0, ""),),
        recheck=(bound("L(limit) - L(2, -1), limit by a plain descent loop", float(by_loop),
                       "<=", 0, ""),),
        route="5000 plain steps of descent from w0, losses in rational arithmetic",
    )  # fmt: skip


# --- The norm along the flow: g(w) = -1/2 d|w|^2/dt (Definition D.3 and Lemma F.7) ----------------


def norm_rate(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> NDArray:
    """g(w) = w.(H(w) w - q(w)) = -1/2 d|w|^2/dt (Definition D.3, Lemma F.7), w (..., d)."""
    w = np.asarray(w, float)
    return (w * gradient(X, y, w)).sum(axis=-1)


def pieces(X: ArrayLike, y: ArrayLike, path: Trajectory) -> Iterator[tuple[Segment, float]]:
    """A flow that slides along no boundary, from event to event, and when each piece ends."""
    data = Data(np.asarray(X, float), np.asarray(y, float))
    times = list(dict.fromkeys([0.0, *(event.t for event in path.events)]))
    starts = path.states[np.searchsorted(path.t, times)]
    ends = [*times[1:], np.inf if path.has_limit else path.t[-1]]
    for on, w, t, end in zip(visited_cells(data.X, path), starts, times, ends, strict=True):
        yield segment(data, w, on, t), end


def norm_lost(X: ArrayLike, y: ArrayLike, path: Trajectory) -> float:
    """The largest |w(s)|^2 - |w(t)|^2 over s < t. Where all of |w|^2's maxima and minima are is
    told by the zeros of its derivative on each piece of the path, a sum of exponentials,
    d|w|^2/ds = sum_k 2 l_k b_k (v_k.limit e^(-l_k s) - b_k e^(-2 l_k s)), v_k the columns of V."""
    states = [path.states[:1]]
    for piece, end in pieces(X, y, path):
        slopes = piece.rates * piece.b
        rates, which = np.unique([piece.rates, 2.0 * piece.rates], return_inverse=True)
        parts = np.ravel([slopes * (piece.limit @ piece.V), -slopes * piece.b])
        turns = np.array(sign_changes(np.bincount(which.ravel(), parts), rates))
        last = path.at([end]) if np.isfinite(end) else path.end[None]
        states += [piece.after(turns[turns < end - piece.t0]), last]
    squares = (np.vstack(states) ** 2).sum(axis=1)
    return float(np.max(np.maximum.accumulate(squares) - squares))


def sign_changes(c: NDArray, rates: NDArray) -> list[float]:
    """Where sum_k c_k e^(-rates_k s), rates ascending, changes its sign in s > 0, in order. Times
    e^(rates_0 s) it has a derivative of one term less, and one zero at most between two of that.

    `exponential_sums` has the form for early times: what is left late would be rounding in it."""
    c, rates = c[c != 0.0], rates[c != 0.0]
    if len(c) < 2:
        return []
    rates = rates - rates[0]
    # From `far` on the first term, now a constant, outweighs the others.
    far = max(0.0, *np.log(len(c) * np.abs(c[1:] / c[0])) / rates[1:])
    inner = [s for s in sign_changes(-c[1:] * rates[1:], rates[1:]) if s < far]

    def value(s: float) -> float:
        return float(c @ np.exp(-rates * s))

    return [
        float(brentq(value, lo, hi, xtol=1e-12 / rates[-1]))
        for lo, hi in pairwise([0.0, *inner, far])
        if np.sign(value(lo)) * np.sign(value(hi)) < 0.0
    ]


def _by_a_boundary(item: Instance, rng: np.random.Generator) -> Instance:
    """w on the boundary of the first datum, and v of any size."""
    p, q = item["X"][0]
    w = np.array([-q, p]) * rng.choice([-1.0, 1.0])
    return {"w": w, "v": rng.normal(size=2) * 10.0 ** rng.uniform(-9.0, 0.0) * np.linalg.norm(w)}


@statement("g is continuous across boundaries", extended(data_draws(2), _by_a_boundary),
           fixed=("X", "y"))  # fmt: skip
def rate_is_continuous(X: NDArray, y: NDArray, w: NDArray, v: NDArray) -> float:
    """sv.lemF.7: part 2, |g(w + v) - g(w)| <= sum |x_i.v| (2 |x_i.w| + |x_i.v| + y_i)."""
    moved, h = np.abs(X @ v), np.abs(X @ w)
    allowed = float(moved @ (2.0 * h + moved + y))
    jump = abs(float(norm_rate(X, y, w + v) - norm_rate(X, y, w)))
    terms = np.abs(X) @ (np.abs(w) + np.abs(v))  # of h: rounding sees them one by one
    noise = 1e-13 * float(terms @ (terms + y))
    return (allowed - jump + noise) / (allowed + noise)


def rate_at_minima(seed: int, count: int) -> list[Evidence]:
    """Lemma F.7, part 3: g = 0 at the local minima of `count` planar data sets."""
    rng, worst, flat = np.random.default_rng(seed), 0.0, 0
    for draw in islice(cycle(nontrivial_draws(2, (2, 5)).values()), count):
        item = draw(rng)
        X, y = item["X"], item["y"]
        for minimum in local_minima(X, y):
            h = np.abs(X @ minimum.w)
            worst = max(worst, abs(float(norm_rate(X, y, minimum.w))) / float(h @ h + y @ y))
            flat += not minimum.support
    return [
        bound("largest |g| at an enumerated local minimum", worst, "<=", 1e-9, "of |Xw|^2 + |y|^2"),
        note("data sets whose minima were enumerated", count),
        note("of them with a dead plateau, g = 0 all around its points", flat),
    ]


INCREASING = Reading(
    taken="the norm increases at a moment if its square has a positive derivative then; a "
    "local minimum is on the boundary of the norm-increasing subset if g = 0 there, as the "
    "statement explains it",
    others="if to increase means to be strictly increasing near the moment, part 1 fails: "
    "a norm can strictly increase through a moment with g = 0, and the flow above does. "
    "If the boundary is the topological one, part 3 fails on dead plateaus: for n = d = 1, "
    "x = y = 1 the minimum w = -1 has g = 0 in a whole neighbourhood.",
)


# --- Conditions B1-B4 of Theorem F.6 at a crossing, and what they come to in the plane ------------


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
    def hold(self) -> bool:
        """Whether B1-B4 all hold."""
        return self.full and min(self.B1, self.B2, self.B4) > 0.0


def conditions(X: ArrayLike, y: ArrayLike, crossing: Crossing) -> Conditions:
    """B1-B4 at a crossing, read in the paper's favour where it leaves something open. The signs of
    e_k make c_k^* >= 0 (Definition D.2); the eigenvectors of H~ are taken in the order and with the
    signs that bring them nearest to those of H. X (n, d), y (n,)."""
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
    orders = (turned[:, list(order)] for order in permutations(range(d)))
    x, label = X[crossing.datum], y[crossing.datum]
    inner = 1.0 - float(np.sum((x @ E / roots) ** 2))
    # The bracket of B2 times c_k, so that c_k = 0 needs no division.
    bracket = (target - c) / rates - np.linalg.norm(new - w0) / size / rates[-1] * c
    right = x @ old + inner / np.linalg.norm(x) * float(np.min(bracket * rates**2))
    B1 = max(float(np.min(room - _apart(E, other))) for other in orders)
    B4 = float(-(x @ old) / (np.linalg.norm(x) * np.linalg.norm(old)))
    return Conditions(B1, float((right - label) / label), True, B4, inner)


def _apart(E: NDArray, turned: NDArray) -> NDArray:
    """|Delta e_k| (d,) under the better sign of each turned eigenvector."""
    same, opposite = (np.linalg.norm(turned - sign * E, axis=0) for sign in (1.0, -1.0))
    return np.minimum(same, opposite)


def at_crossings(item: Instance, norm: float = NORMS[1]) -> list[tuple[Crossing, Conditions]]:
    """The crossings of a small start's flow, and B1-B4 at each."""
    X, y = item["X"], item["y"]
    return [(step, conditions(X, y, step)) for step in crossings(X, small_flows(item, [norm])[0])]


def leaving_draws(sizes: tuple[int, int] = (3, 8)) -> Draws:
    """Planar data sets drawn again until the all-active cell does not hold its minimum."""

    base = data_draws(2, sizes)

    def outside(kind: str, rng: np.random.Generator) -> Instance:
        drawn = (base[kind](rng) for _ in range(40))
        return next((item for item in drawn if not keeps_all(item)), base[kind](rng))

    return {kind: partial(outside, kind) for kind in base}


def plane_never_meets_B2() -> Statement:
    """sv.ours.crossing.plane: where the flow leaves the all-active cell."""

    def leaves(item: Instance) -> bool:
        return nontrivial(item) and not keeps_all(item)

    def at(item: Instance, norm: float) -> float:
        lost = [met for step, met in at_crossings(item, norm) if step.before.all()]
        return min((-min(m.B2, m.B4) if m.full else np.nan for m in lost), default=np.nan)

    def slack(item: Instance) -> float:
        value = at(item, NORMS[1])
        return value if not value <= 0.0 else max(at(item, norm) for norm in NORMS)

    return Statement("B2, B3 and B4 do not all hold where the flow leaves the all-active cell",
                     extended(leaving_draws((3, 6)), directed), slack,
                     given("sv.ours.crossing.plane", data=planar, leaves=leaves),
                     steady=False)  # fmt: skip
