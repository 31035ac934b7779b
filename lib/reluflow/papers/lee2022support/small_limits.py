"""Lemma 4.6 and Proposition 4.4: flows from smaller and smaller starts. No datum comes back in the
plane, and starts of several directions end in one point unless the flow from 0 touches a boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import differential_evolution

from reluflow.bruteforce import integrate
from reluflow.falsify import Instance, Statement, given
from reluflow.flows.activity import crossings, deactivated, reactivations, visited_cells
from reluflow.flows.affine import affine_flow
from reluflow.flows.segment import segment
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import rank
from reluflow.instances import data_draws, extended, near_boundary_start
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions, meets
from reluflow.papers.lee2022support.crossing_conditions import leaving_draws
from reluflow.papers.lee2022support.norm_rate import sign_changes
from reluflow.papers.lee2022support.small_starts import (
    forced,
    guaranteed_radius,
    small_flows,
    smallest_force,
    start_direction,
)
from reluflow.rational import preactivation_polynomial

SHARES = (1e-2, 1e-5, 1e-8)
"""Norms of starts, in units of delta_0 of Lemma F.5, which depends on the data."""

ROOM = 1e-3
"""A cosine, or a share of a speed, above this is told from zero."""


def _lost_cosines(X: NDArray, path: Trajectory) -> NDArray:
    """Cosines between the limit and the data that events deactivate."""
    gone = X[deactivated(path)]
    return gone @ path.end / (np.linalg.norm(gone, axis=1) * np.linalg.norm(path.end))


def never_reactivates() -> Statement:
    """sv.lem4.6: in the plane no small start's flow takes back a datum that it lost (Lemma 4.6).

    In all directions, q(w0) > 0 or not. Broken where a datum comes back at all three norms; the
    slack is the cosine at which a lost datum stays off.
    """

    def loses(item: Instance) -> bool:
        return bool(deactivated(small_flows(item, SHARES[1:2])[0]))

    def towards(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        near = bool(rng.integers(2))
        u = near_boundary_start(dict(item), rng)["w0"] if near else rng.normal(size=2)
        # Away from the dead cell, where nothing moves.
        return {"u": u if np.any(item["X"] @ u > 0.0) else -u}

    def margin(item: Instance, path: Trajectory) -> float:
        if reactivations(path):
            return -1.0
        return float(-np.max(_lost_cosines(item["X"], path), initial=-np.inf))

    plain = {**data_draws(2, (3, 8)), **{f"leaving, {k}": v for k, v in leaving_draws().items()}}
    return Statement(
        "no datum comes back, starts of any direction",
        extended(plain, towards),
        lambda item: max(margin(item, path) for path in small_flows(item, SHARES)),
        {"the flow deactivates a datum": loses},
        tolerance=1e-9,
        fixed=("u",),
    )


def reactivation_margin(X: ArrayLike, y: ArrayLike, u: ArrayLike) -> float:
    """How far the flow from a small start stays from re-activating a datum: below 0 if it does.

    Over all data that an event deactivates, the smallest -x_j.w / (|x_j| |w|) in the limit; where
    nothing is deactivated, 1 plus the smallest such cosine of an active datum in the limit, so that
    a search is led towards deactivation.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    path = affine_flow(X, y, 1e-6 * guaranteed_radius(X, y) * np.asarray(u))
    if reactivations(path):
        return -1.0
    if deactivated(path):
        return float(-_lost_cosines(X, path).max())
    cosines = X @ path.end / (np.linalg.norm(X, axis=1) * np.linalg.norm(path.end))
    return 1.0 + float(np.abs(cosines).min())


def search_reactivation(seed: int, evaluations: int, n: int = 4) -> tuple[float, int]:
    """Minimise `reactivation_margin` over planar data sets by differential evolution (SciPy).

    The variables are the angles, log-lengths and log-labels of n data; the start points along
    their mean. Returns the smallest margin found and the number of flows followed.
    """

    def objective(z: NDArray) -> float:
        angles, lengths, labels = z[:n], 10.0 ** z[n : 2 * n], 10.0 ** z[2 * n :]
        X = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        u = X.mean(axis=0)
        return reactivation_margin(X, labels, u / np.linalg.norm(u))

    box = [(0.0, np.pi / 2)] * n + [(-2.0, 2.0)] * (2 * n)
    generations = max(1, evaluations // (3 * n * 5) - 1)
    result = differential_evolution(
        objective, box, maxiter=generations, popsize=5, seed=seed, polish=False, tol=0.0
    )
    return float(result.fun), int(result.nfev)


def no_reactivation(plane: pd.DataFrame, margin: float, followed: int) -> list[Evidence]:
    """Lemma 4.6: the small starts of `survey_plane`, and the smallest margin that a search found in
    `followed` flows."""
    return [
        fact("flows of the survey that re-activate a datum", int(plane.reactivating.sum()), 0),
        bound("smallest margin found by the search", margin, ">", 0.0, "cosine"),
        note("flows of the survey", float(plane.followed.sum())),
        note("of them with a deactivation", float(plane.deactivating.sum())),
        note("flows of the search", followed),
    ]


def _limit_rooms(item: Instance) -> tuple[float, float]:
    """How far the flow that leaves 0 is from the exceptions of Proposition 4.4.

    At its end: the least |cosine| of a datum, or the smallest singular value of the active data, in
    units of a thousandth of the largest. On its way: the least normal share of a velocity at a
    crossing, the least share of time between two crossings, and the least |cosine| at which an
    x_j.w turns. Both are zero for a flow that does not converge, as one that touches a boundary.
    """
    X, y = item["X"], item["y"]
    (path,) = small_flows({"X": X, "y": y}, SHARES[-1:])
    if path.status != "converged":
        return 0.0, 0.0
    lengths, steps = np.linalg.norm(X, axis=1), crossings(X, path)
    s = np.linalg.svd(X[visited_cells(X, path)[-1]], compute_uv=False)
    cosines = np.abs(X @ path.end) / (lengths * np.linalg.norm(path.end))
    regular = 1e3 * s[-1] / s[0] if len(s) == X.shape[1] else 0.0
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
    least, times = 1.0, list(dict.fromkeys([0.0, *(event.t for event in path.events)]))
    starts, stops = path.states[np.searchsorted(path.t, times)], [*times[1:], np.inf]
    for on, w, t0, t1 in zip(visited_cells(X, path), starts, times, stops, strict=True):
        piece = segment(X, y, w, on, np.zeros((0, len(w))), 0.0)
        rates, which = np.unique(piece.rates, return_inverse=True)
        for x in X:
            slopes = np.bincount(which.ravel(), piece.rates * piece.b * (x @ piece.V))
            moving = (slopes != 0.0) & (rates > 0.0)
            turns = np.array(sign_changes(slopes[moving], rates[moving]))
            for v in piece.after(turns[turns < t1 - t0]):
                least = min(least, abs(float(x @ v)) / float(np.linalg.norm(x) * np.linalg.norm(v)))
    return least


def small_starts_agree(d: int, directions: int = 3) -> Statement:
    """sv.ours.small.agree: where the flow from 0 crosses at speed, small starts with q(w0) > 0 in
    several directions end where it ends. Broken if not so at all three norms; undecided where an
    exception is as near as ROOM, for then the norms may not be small enough."""

    def crosses_at_speed(item: Instance) -> bool:
        # Rounding decides what is crossed next to an end that all but lies on a boundary.
        end, way = _limit_rooms(item)
        return way > 0.0 or 0.0 < end <= ROOM

    def more(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        drawn = [start_direction(item["X"], item["y"], rng) for _ in range(directions)]
        return {"U": np.array(drawn)}

    def slack(item: Instance) -> float:
        if min(_limit_rooms(item)) <= ROOM:
            return np.nan
        X, y = item["X"], item["y"]
        along = [y @ X, *(u for u in item["U"] if forced(X, y, u))]
        paths = [small_flows({**item, "u": u}, SHARES) for u in along]
        ends = np.array([[path.end for path in row] for row in paths])  # (starts, norms, d)
        apart = np.linalg.norm(ends - ends[0], axis=2).max(axis=0)
        return float(1e-6 - (apart / np.linalg.norm(ends[0], axis=1)).min())

    return Statement(
        f"small starts agree where the flow from 0 crosses at speed, d = {d}",
        extended(data_draws(d, (4, 7)), more),
        slack,
        given(
            "sv.ours.small.agree",
            data=lambda item: meets(item, "A1", "A2", "A3"),
            limit=lambda item: _limit_rooms(item)[0] > 0.0,
            crossings=crosses_at_speed,
        ),
        fixed=("U",),
    )


def full_rank_along(X: ArrayLike, path: Trajectory) -> bool:
    """Whether H(w(t)) has rank d in every cell that the path passes."""
    X = np.asarray(X, float)
    return all(rank(X[on]) == X.shape[1] for on in visited_cells(X, path))


def parting_starts(
    X: NDArray, y: NDArray, lose: Sequence[int], keep: Sequence[int]
) -> tuple[list[Evidence], Counterexample]:
    """sv.prop4.4: small starts agree where H has full rank along their flows (Proposition 4.4).

    Refuted by integer data whose limiting flow touches the boundary of x_1: from eps `lose` (d,)
    the flow loses x_1, from eps `keep` (d,) it keeps it, however small eps.
    """
    starts = [np.asarray(v, float) for v in (lose, keep)]
    paths = [affine_flow(X, y, 1e-9 * v) for v in starts]
    apart = float(np.linalg.norm(paths[0].end - paths[1].end))
    exact = [preactivation_polynomial(X, y, 0, [Fraction(c) for c in v]) for v in (lose, keep)]
    zeros = [polynomial.zeros(Fraction(1, 10**9)) for polynomial in exact]
    states = [integrate(X, y, 1e-3 * v, 2.0) for v in starts]
    evidence = [bound("distance of the limits of two small starts", apart, "<=", 1e-6, "")]
    return evidence, Counterexample(
        instance={"X": X, "y": y, "w0": f"eps {tuple(lose)} and eps {tuple(keep)}, eps > 0"},
        assumptions={
            **assumptions(X, y),
            "-grad L(w0) > 0 at both": smallest_force(X, y, [1e-9 * v for v in starts]) > 0,
            "H of full rank along both flows": all(full_rank_along(X, p) for p in paths),
        },
        breaks=(bound("distance of the limits, exact flows, eps = 1e-9", apart,
                      "<=", 1e-6, ""),),
        recheck=(
            fact("both starts keep x_1 active, or both lose it (exact polynomials)",
                 (zeros[0] == 0) == (zeros[1] == 0), True),
            note("zeros of x_1.w on t > 0 from the two starts, eps = 1e-9", tuple(zeros)),
            bound("distance at t = 2 by DOP853, eps = 1e-3",
                  float(np.linalg.norm(states[0] - states[1])), "<=", 1e-6, ""),
        ),
        route="Sturm's theorem on exact polynomials in exp(-3t), and SciPy's DOP853",
    )  # fmt: skip
