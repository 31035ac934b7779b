"""The page `starts`: Theorems 4.2 and 4.3, Lemmas 4.6 and F.5, Proposition 4.4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement, extended, given, planted, statement
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import enumerate_cells, rank
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2022support import setting
from reluflow.papers.lee2022support.rational import preactivation_polynomial, zeros_between
from reluflow.papers.lee2022support.small_flows import (
    at_rest,
    leaving_draws,
    nontrivial_draws,
    pieces,
    planar,
    sign_changes,
)
from reluflow.places import RECORDS
from reluflow.statistics import wilson

# --- Theorems 4.2 and 4.3: interpolated data, and how far from w_GM a flow starts -----------------


def protected(X: ArrayLike, y: ArrayLike, w0: ArrayLike, w_gm: ArrayLike) -> NDArray:
    """Which data (n,) Theorem 4.2 promises to keep active: eq. (6) and x_j.w0 > 0."""
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    radius = np.linalg.norm(w0 - np.asarray(w_gm, float))
    return (y / np.linalg.norm(X, axis=1) > radius) & (X @ w0 > 0)


def _interpolated(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Inputs X (n, d) >= 0 of any rank, and w_GM (d,) with X w_GM > 0."""
    d, n = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    X = rng.uniform(0.0, 1.0, (n, d)) ** 2 * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
    w = rng.normal(size=d)
    return X, w if np.all(X @ w > 0) else np.abs(w)


def _inside(straight: bool, rng: np.random.Generator) -> dict[str, NDArray]:
    """A start in the ball of a datum, up to its edge: anywhere, or straight towards a boundary."""
    X, w = _interpolated(rng)
    step = -X[rng.integers(len(X))] if straight else rng.normal(size=len(w))
    reach = rng.choice(X @ w / np.linalg.norm(X, axis=1)) * rng.choice([0.3, 0.9, 0.999999])
    return {"X": X, "w_gm": w, "w0": w + reach * step / np.linalg.norm(step)}


@statement("data that (6) protects stay active, within its bound",
           {"anywhere": partial(_inside, False), "towards a boundary": partial(_inside, True)},
           {"L(w_GM) = 0": lambda X, w_gm: np.all(X @ w_gm > 0), "(6) holds for a datum":
            lambda X, w_gm, w0: protected(X, X @ w_gm, w0, w_gm).any()},
           tolerance=1e-8)  # fmt: skip
def protected_stay(item: Instance) -> float:
    """sv.thm4.2: the least (x_j.w(t) - (y_j - |x_j| |w0 - w_GM|)) / y_j of the protected data,
    which the proof makes >= 0; -1 where an event deactivates one, or where all are protected and
    some datum switches or is not fitted by the limit."""
    X, w_gm, w0 = item["X"], item["w_gm"], item["w0"]
    y, path = X @ w_gm, affine_flow(X, X @ w_gm, w0)
    safe = protected(X, y, w0, w_gm)
    fitted = not path.events and np.abs(X @ path.end / y - 1.0).max() <= 1e-8
    if safe[setting.deactivated(path)].any() or (safe.all() and not fitted):
        return -1.0
    lower = y - np.linalg.norm(X, axis=1) * np.linalg.norm(w0 - w_gm)
    return float(((planted(item) * path.at(path.grid(60)) @ X.T - lower) / y)[:, safe].min())


def _around(at_the_edge: bool, rng: np.random.Generator) -> dict[str, NDArray]:
    """A start at equality in (7), or farther out."""
    X, w = _interpolated(rng)
    u, radii = rng.normal(size=len(w)), X @ w / np.linalg.norm(X, axis=1)
    reach = rng.choice(radii) if at_the_edge else np.max(radii) * 10.0 ** rng.uniform(0.0, 1.5)
    return {"X": X, "w_gm": w, "w0": w + reach * u / np.linalg.norm(u)}


def _past_a_boundary(rng: np.random.Generator) -> dict[str, NDArray]:
    """A start just behind the point of a boundary that is nearest to w_GM."""
    X, w = _interpolated(rng)
    x = X[rng.integers(len(X))]
    reach, unit = x @ w / np.linalg.norm(x), x / np.linalg.norm(x)
    side = 10.0 ** rng.uniform(-8.0, -1.0) * rng.normal(size=len(w))
    w0 = w + reach * (side - (side @ unit) * unit)
    return {"X": X, "w_gm": w, "w0": w0 - (1 + 10.0 ** rng.uniform(-12.0, -1.0)) * reach * unit}


@statement("a limit with data off lies outside (7)",
           {"anywhere": partial(_around, False), "past a boundary": _past_a_boundary,
            "at equality": partial(_around, True)},
           {"A1": lambda X: np.all(X >= 0) and X.any(axis=1).all(),
            "L(w_GM) = 0": lambda X, w_gm: np.all(X @ w_gm > 0)}, tolerance=1e-12)  # fmt: skip
def limits_outside(X: NDArray, w_gm: NDArray, w0: NDArray) -> float:
    """sv.thm4.3: turned round, where the flow from w0 converges to a local minimum with data off,
    |w0 - w_GM| exceeds their largest y_j/|x_j|. A3 is not assumed."""
    lengths, path = np.linalg.norm(X, axis=1), affine_flow(X, X @ w_gm, w0)
    cosine = X @ path.end / (lengths * max(np.linalg.norm(path.end), 1e-300))
    # By Lemma 3.2 a limit on a boundary is no local minimum.
    if path.status != "converged" or np.any(np.abs(cosine) <= 1e-12) or np.all(cosine > 0):
        return np.nan
    return float(np.linalg.norm(w0 - w_gm) / (X @ w_gm / lengths)[cosine < 0].max() - 1.0)


# --- Lemma F.5: small starts with q(w0) > 0 enter the all-active cell; how small is enough --------

ENTRY = setting.in_dimensions((2, 3, 4), 8)
"""Draws of data, in four dimensions, too."""


def entered(X: ArrayLike, path: Trajectory) -> bool:
    """Whether all data are active at some time of the path, told from its events."""
    return any(on.all() for on in setting.visited_cells(X, path))


def _met(item: Instance) -> bool:
    return setting.meets(item, "A1", "A2", "A3")


def _just_within(item: Instance) -> NDArray:
    """The start along "u" whose norm is just below delta_0."""
    length = (1.0 - 1e-9) * setting.guaranteed_radius(item["X"], item["y"])
    return length / np.linalg.norm(item["u"]) * item["u"]


@statement("small starts with q > 0 enter the all-active cell", extended(ENTRY, setting.directed),
           {"q(u) > 0": setting.nontrivial}, strict=True)  # fmt: skip
def entry_printed(item: Instance) -> float:
    """sv.lemF.5: the largest min_j x_j.w / |x_j| over the path from the norm delta_0, in units of
    |w0|; NaN if the path is not unique, as from a start that is on a boundary to rounding."""
    X, w0 = item["X"], _just_within(item)
    path = affine_flow(X, item["y"], w0)
    if path.status != "converged":
        return np.nan
    cosines = path.at(path.grid(16)) @ (X / np.linalg.norm(X, axis=1, keepdims=True)).T
    return float(cosines.min(axis=1).max() / np.linalg.norm(w0))


def entry_within() -> Statement:
    """sv.ours.delta: an explicit delta for Lemma F.5."""

    def inside(item: Instance) -> bool:
        least = setting.guaranteed_radius(item["X"], item["y"])
        return setting.nontrivial(item) and float(np.linalg.norm(_just_within(item))) < least

    tests = given("sv.ours.delta", data=_met, start=inside)
    return replace(entry_printed(), says="starts with q > 0 and |w0| < δ₀ enter", hypotheses=tests)


# --- Lemma 4.6 and Proposition 4.4: flows from smaller and smaller starts -------------------------

SHARES = (1e-2, 1e-5, 1e-8)
"""Norms of starts, in units of delta_0 of Lemma F.5, which depends on the data."""

ROOM = 1e-3
"""A cosine, or a share of a speed, above this is told from zero."""


def _any_direction(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    near = bool(rng.integers(2))
    u = setting.near_boundary_start(dict(item), rng)["w0"] if near else rng.normal(size=2)
    # Away from the dead cell, where nothing moves.
    return {"u": u if np.any(item["X"] @ u > 0.0) else -u}


_PLANE = setting.data_draws(2, (3, 8))
_PLANE |= {f"leaving, {kind}": one for kind, one in leaving_draws().items()}


@statement("no datum comes back, starts of any direction", extended(_PLANE, _any_direction),
           {"the flow deactivates a datum":
            lambda item: setting.deactivated(setting.small_flows(item, SHARES[1:2])[0])},
           tolerance=1e-9, fixed=("u",))  # fmt: skip
def never_reactivates(item: Instance) -> float:
    """sv.lem4.6: the cosine at which a lost datum stays off, at the first of three norms at which
    none comes back. Starts of all directions, q(w0) > 0 or not."""
    worst = -np.inf
    for norm in (SHARES[1], SHARES[2], SHARES[0]):
        (path,) = setting.small_flows(item, [norm])
        gone = item["X"][setting.deactivated(path)]
        cosines = gone @ path.end / (np.linalg.norm(gone, axis=1) * np.linalg.norm(path.end))
        back = setting.reactivations(path) > 0
        worst = max(worst, -1.0 if back else -np.max(cosines, initial=-np.inf))
        if worst >= 0.0:
            break
    return worst


@setting.remembered
def _limit_rooms(X: NDArray, y: NDArray) -> tuple[float, float]:
    """How far the flow that leaves 0 is from the exceptions of Proposition 4.4.

    At its end: the least |cosine| of a datum, or the smallest singular value of the active data, in
    units of a thousandth of the largest. On its way: the least normal share of a velocity at a
    crossing, the least share of time between two crossings, and the least |cosine| at which an
    x_j.w turns. Both are zero for a flow that does not converge, as one that touches a boundary.
    """
    (path,) = setting.small_flows({"X": X, "y": y}, SHARES[-1:])
    if path.status != "converged":
        return 0.0, 0.0
    lengths, steps = np.linalg.norm(X, axis=1), setting.crossings(X, path)
    active = X[setting.visited_cells(X, path)[-1]]
    s = np.linalg.svd(active, compute_uv=False)
    cosines = np.abs(X @ path.end) / (lengths * np.linalg.norm(path.end))
    regular = 1e3 * s[-1] / s[0] if rank(active) == X.shape[1] else 0.0
    way = [_least_turn(X, y, path)]
    for step in steps:
        rates = [
            X[step.datum] @ v / (lengths[step.datum] * np.linalg.norm(v))
            for v in ((y - X @ step.w)[on] @ X[on] for on in (step.before, step.after))
        ]
        way.append(min(rates) if step.activates else -max(rates))
    way += [1.0 - a.t / b.t for a, b in pairwise(steps)]
    return float(min(cosines.min(), regular)), float(min(way))


def _least_turn(X: NDArray, y: NDArray, path: Trajectory) -> float:
    """The least |cosine| of an x_j.w at a moment between events at which it turns; 1 if none."""
    least = 1.0
    for piece, end in pieces(X, y, path):
        rates, which = np.unique(piece.rates, return_inverse=True)
        for x in X:
            slopes = np.bincount(which.ravel(), piece.rates * piece.b * (x @ piece.V))
            turns = np.array(sign_changes(slopes, rates))
            for v in piece.after(turns[turns < end - piece.t0]):
                least = min(least, abs(float(x @ v)) / float(np.linalg.norm(x) * np.linalg.norm(v)))
    return least


def small_starts_agree() -> Statement:
    """sv.ours.small.agree: how far apart small starts end, at the first of three norms, from the
    smallest on, at which they agree; undecided where an exception is as near as ROOM."""

    def rooms(item: Instance) -> tuple[float, float]:
        return _limit_rooms(item["X"], item["y"])

    def crosses_at_speed(item: Instance) -> bool:
        # Rounding decides what is crossed next to an end that all but lies on a boundary.
        end, way = rooms(item)
        return way > 0.0 or 0.0 < end <= ROOM

    def more(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        drawn = [setting.start_direction(item["X"], item["y"], rng) for _ in range(3)]
        return {"U": np.array(drawn)}

    def slack(item: Instance) -> float:
        if min(rooms(item)) <= ROOM:
            return np.nan
        X, y = item["X"], item["y"]
        along = [y @ X, *(u for u in item["U"] if setting.forced(X, y, u))]
        worst = -np.inf
        for norm in SHARES[::-1]:
            ends = np.array([setting.small_flows({**item, "u": u}, [norm])[0].end for u in along])
            apart = np.linalg.norm(ends - ends[0], axis=1).max() / np.linalg.norm(ends[0])
            worst = max(worst, float(1e-6 - apart))
            if worst >= 0.0:
                break
        return worst

    tests = given(
        "sv.ours.small.agree",
        data=_met,
        limit=lambda item: rooms(item)[0] > 0.0,
        crossings=crosses_at_speed,
    )
    says = "small starts agree where the flow from 0 crosses at speed, d = 3"
    draws = extended(setting.data_draws(3, (4, 7)), more)
    return Statement(says, draws, slack, tests, fixed=("U",))


def parting_starts(
    X: NDArray, y: NDArray, lose: Sequence[int], keep: Sequence[int]
) -> tuple[list[Evidence], Counterexample]:
    """sv.prop4.4: data whose limiting flow touches the boundary of x_1: from eps `lose` (d,) the
    flow loses x_1, from eps `keep` (d,) it keeps it, however small eps."""
    starts = [np.asarray(v, float) for v in (lose, keep)]
    paths = [affine_flow(X, y, 1e-9 * v) for v in starts]
    apart = float(np.linalg.norm(paths[0].end - paths[1].end))
    exact = [preactivation_polynomial(X, y, 0, [Fraction(c, 10**9) for c in v])
             for v in (lose, keep)]  # fmt: skip
    zeros = [zeros_between(polynomial, 0, 1) for polynomial in exact]
    evidence = [bound("distance of the limits of two small starts", apart, "<=", 1e-6, "")]
    return evidence, Counterexample(
        instance={"X": X, "y": y, "w0": f"eps {tuple(lose)} and eps {tuple(keep)}, eps > 0"},
        assumptions={
            **setting.assumptions(X, y),
            "-grad L(w0) > 0 at both": setting.smallest_force(X, y, [1e-9 * v for v in starts]) > 0,
            "H of full rank in every cell with q > 0": all(
                rank(X[on]) == X.shape[1]
                for on in enumerate_cells(X).patterns
                if np.all(y[on] @ X[on] > 0)
            ),
            "H of full rank along both flows": all(
                rank(X[on]) == X.shape[1] for path in paths for on in setting.visited_cells(X, path)
            ),
        },
        breaks=(bound("distance of the limits, exact flows, eps = 1e-9", apart,
                      "<=", 1e-6, ""),),
        recheck=(
            fact("both starts keep x_1 active, or both lose it (exact polynomials)",
                 (zeros[0] == 0) == (zeros[1] == 0), True),
            note("zeros of x_1.w on t > 0 from the two starts, eps = 1e-9", tuple(zeros)),
        ),
        route="Sturm's theorem on exact polynomials in exp(-t)",
    )  # fmt: skip


def ends_at_rest() -> Statement:
    """sv.ours.small.plane: the flow ends in the `resting_point`."""
    hypotheses = given("sv.ours.small.plane", data=planar, start=setting.small)
    return at_rest("small starts end where the data say, and take nothing back",
                   nontrivial_draws(2), hypotheses, gone=False)  # fmt: skip


# --- How often, in more data and more dimensions --------------------------------------------------


def recorded_misses() -> pd.DataFrame:
    """Of uniform data, by the number `n` of data and the dimension `d`, a row each: the `share` of
    the data sets that the small start misses, and its 95 % interval, `low` to `high` (Wilson). Read
    from `small_starts.csv` among the records, a sweep over the notebook beside it."""
    runs = pd.read_csv(RECORDS / "small_starts.csv")
    found = runs.groupby(["n", "d"])[["glued: missed", "draws"]].sum().reset_index()
    missed, draws = found.pop("glued: missed"), found.pop("draws")
    low, high = wilson(missed, draws)
    return found.assign(share=missed / draws, low=low, high=high)
