"""Theorem 4.3, Proposition F.4 and Lemma F.5: what the start of a flow decides.

Each is tried as a `Statement` for `falsify`; Lemma F.5 also with an explicit delta of ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import local_minima
from reluflow.instances import ORDINARY, data_draws, extended
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    forced,
    guaranteed_radius,
    start_direction,
    unit_of_norm,
)


def _interpolated(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Inputs X (n, d) >= 0 of any rank, and w_GM (d,) with X w_GM > 0."""
    d, n = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    X = rng.uniform(0.0, 1.0, (n, d)) ** 2 * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
    w = rng.normal(size=d)
    return X, w if np.all(X @ w > 0) else np.abs(w)


def _anywhere(rng: np.random.Generator) -> dict[str, NDArray]:
    X, w = _interpolated(rng)
    u = rng.normal(size=len(w))
    reach = np.max(X @ w / np.linalg.norm(X, axis=1)) * 10.0 ** rng.uniform(0.0, 1.5)
    return {"X": X, "w_gm": w, "w0": w + reach * u / np.linalg.norm(u)}


def _past_a_boundary(rng: np.random.Generator) -> dict[str, NDArray]:
    """A start just behind the point of a boundary that is nearest to w_GM."""
    X, w = _interpolated(rng)
    x = X[rng.integers(len(X))]
    reach, unit = x @ w / np.linalg.norm(x), x / np.linalg.norm(x)
    side = 10.0 ** rng.uniform(-8.0, -1.0) * rng.normal(size=len(w))
    w0 = w + reach * (side - (side @ unit) * unit)
    return {"X": X, "w_gm": w, "w0": w0 - (1 + 10.0 ** rng.uniform(-12.0, -1.0)) * reach * unit}


def _at_equality(rng: np.random.Generator) -> dict[str, NDArray]:
    X, w = _interpolated(rng)
    u = rng.normal(size=len(w))
    reach = rng.choice(X @ w / np.linalg.norm(X, axis=1))
    return {"X": X, "w_gm": w, "w0": w + reach * u / np.linalg.norm(u)}


def limits_outside() -> Statement:
    """Theorem 4.3 turned round: where the flow from w0 converges to a local minimum with data off,
    |w0 - w_GM| exceeds their largest y_j/|x_j|. A1, A2 and X w_GM = y; A3 is not assumed."""

    def slack(item: Instance) -> float:
        X, w = item["X"], item["w_gm"]
        path = affine_flow(X, X @ w, item["w0"])
        cosine = X @ path.end / (np.linalg.norm(X, axis=1) * max(np.linalg.norm(path.end), 1e-300))
        # By Lemma 3.2 a limit on a boundary is no local minimum.
        if path.status != "converged" or np.any(np.abs(cosine) <= 1e-12) or np.all(cosine > 0):
            return np.nan
        size = (X @ w / np.linalg.norm(X, axis=1))[cosine < 0]
        return float(np.linalg.norm(item["w0"] - w) / size.max() - 1.0)

    return Statement(
        says="a limit with data off lies outside (7)",
        draws={"anywhere": _anywhere, "past a boundary": _past_a_boundary,
               "at equality": _at_equality},
        slack=slack,
        hypotheses={"A1": lambda i: bool(np.all(i["X"] >= 0) and i["X"].any(axis=1).all()),
                    "L(w_GM) = 0": lambda i: bool(np.all(i["X"] @ i["w_gm"] > 0))},
        tolerance=1e-12,
    )  # fmt: skip


def starts_at_equality(count: int, seed: int) -> tuple[int, int]:
    """Flows from |w0 - w_GM| = y_j/|x_j|, and how many limits leave that x_j inactive: by (7) none.

    Starts on the boundary of x_j itself, where that sphere touches it, are left out.
    """
    rng, flows, off = np.random.default_rng(seed), 0, 0
    while flows < count:
        item = _at_equality(rng)
        X, w, w0 = item["X"], item["w_gm"], item["w0"]
        gap = np.abs((X @ w / np.linalg.norm(X, axis=1)) / np.linalg.norm(w0 - w) - 1.0)
        j = int(np.argmin(gap))
        if abs(X[j] @ w0) <= 1e-6 * (X[j] @ w):
            continue
        flows += 1
        off += bool(X[j] @ affine_flow(X, X @ w, w0).end <= 0)
    return flows, off


@dataclass(frozen=True)
class ExclusionSurvey:
    """How often eq. (7) holds for a local minimum with a datum off and a start, both random.

    `pairs` tried and `holding`; `small` those with |w0| < |w_GM| / 10 and `small_holding`;
    `reached` the pairs whose flow converges to the minimum, and `contradicted`, those with (7).
    """

    pairs: int
    holding: int
    small: int
    small_holding: int
    reached: int
    contradicted: int


def survey_exclusion(count: int, seed: int) -> ExclusionSurvey:
    """Eq. (7) on interpolated data, one start each, |w0| from 0.01 to 10 times |w_GM|, against all
    local minima with a datum off."""
    rng = np.random.default_rng(seed)
    pairs = holding = small = small_holding = reached = contradicted = 0
    while pairs < count:
        X, w = _interpolated(rng)
        u, y = rng.normal(size=len(w)), X @ w
        factor = 10.0 ** rng.uniform(-2.0, 1.0)
        w0 = factor * np.linalg.norm(w) * u / np.linalg.norm(u)
        on = set(np.nonzero(X @ affine_flow(X, y, w0).end > 0)[0])
        for minimum in local_minima(X, y):
            off = [j for j in range(len(y)) if j not in minimum.support]
            if not off or pairs == count:
                continue
            y_off = (y / np.linalg.norm(X, axis=1))[off]
            excluded = bool(y_off.max() >= np.linalg.norm(w0 - w))
            pairs += 1
            holding += excluded
            small += factor < 0.1
            small_holding += excluded and factor < 0.1
            reached += on == set(minimum.support)
            contradicted += excluded and on == set(minimum.support)
    return ExclusionSurvey(pairs, holding, small, small_holding, reached, contradicted)


TOLD = {
    f"{kind}, d = {d}": draw
    for d in (2, 3)
    for kind, draw in data_draws(d, kinds=(*ORDINARY, "degenerate")).items()
}
"""Draws for Proposition F.4: at extreme aspect doubles cannot tell a state from a boundary."""


def unique_flow(nonnegative: bool = True) -> Statement:
    """Proposition F.4 for random starts under A2: the flow never comes to a point that more than
    one flow leaves. `nonnegative`: inputs as in A1, else of either sign."""

    def start(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        X = item["X"] if nonnegative else rng.choice([-1.0, 1.0], item["X"].shape) * item["X"]
        u = rng.normal(size=X.shape[1])
        length = unit_of_norm(X, item["y"]) * 10.0 ** rng.uniform(-2.0, 2.0)
        return {"X": X, "w0": length * u / np.linalg.norm(u)}

    def slack(item: Instance) -> float:
        return 1.0 if affine_flow(item["X"], item["y"], item["w0"]).status == "converged" else -1.0

    says = "A2, random start" + ("" if nonnegative else ", inputs of either sign")
    return Statement(f"{says}: one flow", extended(TOLD, start), slack)


def speed_jumps(d: int = 2) -> Statement:
    """What rules out endless switching: at every event of an exact flow |w'|^2 jumps up by at least
    y_j^2 |x_j|^2, j the datum that switches (the velocities on either side, from eq. 3)."""

    def start(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        u = rng.normal(size=d)
        length = unit_of_norm(item["X"], item["y"]) * 10.0 ** rng.uniform(-3.0, 2.0)
        return {"w0": length * u / np.linalg.norm(u)}

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        path = affine_flow(X, y, item["w0"])
        on, least = X @ item["w0"] > 0, np.inf
        for event in path.events:
            w = path.at(event.t)
            after = on.copy()
            after[event.datum] = event.kind == "activate"
            before, new = ((y - X @ w)[row] @ X[row] for row in (on, after))
            jump = (y[event.datum] * np.linalg.norm(X[event.datum])) ** 2
            least = min(least, float((new @ new - before @ before) / jump - 1.0))
            on = after
        return least

    return Statement("|w'|² jumps up by y_j²|x_j|² or more at every event",
                     extended(data_draws(d, kinds=(*ORDINARY, "degenerate")), start), slack,
                     tolerance=1e-6)  # fmt: skip


def sliding_flows(count: int, seed: int) -> int:
    """How many of `count` flows from random starts, with labels of either sign, come to slide."""
    rng, draws = np.random.default_rng(seed), list(TOLD.values())
    hits = 0
    for k in range(count):
        item = draws[k % len(draws)](rng)
        y = rng.choice([-1.0, 1.0], item["y"].shape) * item["y"]
        u = rng.normal(size=item["X"].shape[1]) * unit_of_norm(item["X"], item["y"])
        hits += any(e.kind == "slide" for e in affine_flow(item["X"], y, u).events)
    return hits


def entered(X: ArrayLike, path: Trajectory) -> bool:
    """Whether all data are active at some time of the path, told from its events."""
    X = np.asarray(X, float)
    on = X @ path.states[0] > 0
    if on.all():
        return True
    for event in path.events:
        on[event.datum] = event.kind == "activate"
        if on.all():
            return True
    return False


def _entry_margin(X: NDArray, y: NDArray, w0: NDArray) -> float:
    """Largest value, over the path, of min_j x_j.w / |x_j|, in units of |w0|; NaN if the path is
    not unique, as from a start that is on a boundary to rounding."""
    path = affine_flow(X, y, w0)
    if path.status != "converged":
        return np.nan
    cosines = path.at(path.grid(16)) @ (X / np.linalg.norm(X, axis=1, keepdims=True)).T
    return float(cosines.min(axis=1).max() / np.linalg.norm(w0))


def _forced_direction(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"u": start_direction(item["X"], item["y"], rng)}


def _forced(item: Instance) -> bool:
    return forced(item["X"], item["y"], item["u"])


ENTRY = {f"{kind}, d = {d}": draw for d in (2, 3, 4) for kind, draw in data_draws(d).items()}
"""Draws for Lemma F.5, in four dimensions, too."""


def entry_printed() -> Statement:
    """Lemma F.5: from u times a small enough norm, q(u) > 0, all data become active. Broken where
    that fails at all of `NORMS`."""

    def slack(item: Instance) -> float:
        length = guaranteed_radius(item["X"], item["y"]) / np.linalg.norm(item["u"])
        margin = -np.inf
        for norm in NORMS:
            if margin <= 0.0:  # one norm at which they enter will do
                margin = _entry_margin(item["X"], item["y"], norm * length * item["u"])
        return margin

    return Statement("small starts with q > 0 enter the all-active cell",
                     extended(ENTRY, _forced_direction), slack, {"q(u) > 0": _forced},
                     strict=True)  # fmt: skip


def entry_within(factor: float = 1.0 - 1e-9) -> Statement:
    """Our repair of Lemma F.5 with an explicit delta: the same from `factor` delta_0."""

    def slack(item: Instance) -> float:
        length = factor * guaranteed_radius(item["X"], item["y"]) / np.linalg.norm(item["u"])
        return _entry_margin(item["X"], item["y"], length * item["u"])

    return Statement("starts with q > 0 and |w0| < δ₀ enter", extended(ENTRY, _forced_direction),
                     slack, {"q(u) > 0": _forced}, strict=True)  # fmt: skip


@dataclass(frozen=True)
class EntryRadius:
    """The largest delta of Lemma F.5 for data in the plane.

    radius     least norm found from which a flow with q(w0) > 0 does not activate all data
    direction  (2,) unit vector of that start
    guarantee  delta_0 of `guaranteed_radius`, which bounds it from below
    flows      exact flows followed
    """

    radius: float
    direction: NDArray
    guarantee: float
    flows: int


def largest_entry_radius(
    X: ArrayLike, y: ArrayLike, inside: int = 1, scan: int = 3, halvings: int = 12
) -> EntryRadius:
    """Search all arcs of directions with q > 0 for the start of least norm that does not enter.

    On every arc `inside` directions and both ends are tried; in each, `scan` norms from a twentieth
    of the best so far up to it; where one fails, the norm is halved in on `halvings` times.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    best, where, flows = np.inf, np.full(2, np.nan), 0
    far = 64.0 * unit_of_norm(X, y)
    for u in _arc_directions(X, y, inside):
        low = 0.0
        for norm in min(best, far) * np.geomspace(0.05, 1.0, scan):
            flows += 1
            if not entered(X, affine_flow(X, y, norm * u)):
                best, where = float(norm), u
                break
            low = norm
        else:
            continue
        for _ in range(halvings):
            middle = 0.5 * (low + best)
            flows += 1
            if entered(X, affine_flow(X, y, middle * u)):
                low = middle
            else:
                best = float(middle)
    return EntryRadius(best, where, guaranteed_radius(X, y), flows)


def _arc_directions(X: NDArray, y: NDArray, inside: int) -> list[NDArray]:
    """Unit vectors (2,) in all cells of the plane with q > 0 and a datum off: `inside` of them in
    each, and both ends of the cell just inside it."""
    edges = np.arctan2(X[:, 1], X[:, 0])
    edges = np.unique(np.concatenate([edges + np.pi / 2, edges - np.pi / 2]) % (2.0 * np.pi))
    found = []
    for low, high in zip(edges, np.append(edges[1:], edges[0] + 2.0 * np.pi), strict=True):
        share = np.concatenate([[1e-6], np.arange(1, inside + 1) / (inside + 1), [1.0 - 1e-6]])
        angles = low + share * (high - low)
        cell = np.column_stack([np.cos(angles), np.sin(angles)])
        on = X @ cell[len(cell) // 2] > 0
        if not on.all() and np.all(y[on] @ X[on] > 0):
            found += list(cell)
    return found
