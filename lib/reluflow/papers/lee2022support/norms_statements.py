"""Theorem F.6 and Lemmas F.7-F.9, and what is true instead, as statements for `falsify`.

An instance is a data set "X" (n, d), "y" (n,), a direction "u" (d,) of the start where it has one
(by default along X^T y, which activates all data), and what else a statement names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Report, Statement, falsify
from reluflow.flows.activity import crossings
from reluflow.flows.trajectory import largest_norm_drop, norm_lost
from reluflow.geometry import enumerate_cells, virtual_minimum
from reluflow.instances import data_draws, extended
from reluflow.networks import loss
from reluflow.papers.lee2022support.norms import (
    Conditions,
    aligned_labels,
    all_active_direction,
    conditions,
    first_resting_cell,
    least_planar_loss,
    norm_rate,
    resting_places,
)
from reluflow.papers.lee2022support.small_ends import (
    ASSUMED,
    Draws,
    keeps_all,
    keeps_all_data,
    nontrivial_draws,
)
from reluflow.papers.lee2022support.small_plane import resting_point
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    flows_of,
    gentle_radius,
    guaranteed_radius,
    nontrivial,
    norm_drops,
    small_flows,
    start_direction,
    starts_of,
)

ORIGIN = 1e-6
"""Norm of the starts, in units of delta_0, that stand for the flow that leaves 0 itself."""

ROUNDING = 1e-11
"""A loss of |w|^2 below this share of |w(inf)|^2 is rounding."""


def all_active_draws(sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Planar data sets, each with a random direction u of the all-active cell."""
    return extended(
        data_draws(2, sizes), lambda item, rng: {"u": all_active_direction(item["X"], rng)}
    )


def aligned_draws(sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Planar data sets whose labels are X e_1, so that the slow coordinate c_2^* is zero."""
    base = extended(
        all_active_draws(sizes),
        lambda item, rng: {"y": aligned_labels(item["X"], 10.0 ** rng.uniform(-1.0, 1.0))},
    )
    return {f"aligned, {kind}": one for kind, one in base.items()}


def leaving_draws(sizes: tuple[int, int] = (3, 8), tries: int = 40) -> Draws:
    """Planar data sets drawn again until the all-active cell does not hold its minimum."""

    def outside(base):
        def one(rng: np.random.Generator) -> dict[str, NDArray]:
            drawn = (base(rng) for _ in range(tries))
            return next((item for item in drawn if not keeps_all(item)), base(rng))

        return one

    return {kind: outside(base) for kind, base in data_draws(2, sizes).items()}


def _all_active(item: Instance) -> bool:
    return bool(np.all(item["X"] @ item["u"] > 0.0))


def rate_is_continuous() -> Statement:
    """Lemma F.7, part 2: |g(w + v) - g(w)| <= sum |x_i.v| (2 |x_i.w| + |x_i.v| + y_i), with w on
    the boundary of the first datum and v of any size."""

    def more(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        p, q = item["X"][0]
        w = np.array([-q, p]) * rng.choice([-1.0, 1.0])
        v = rng.normal(size=2) * 10.0 ** rng.uniform(-9.0, 0.0) * np.linalg.norm(w)
        return {"w": w, "v": v}

    def slack(item: Instance) -> float:
        X, y, w, v = item["X"], item["y"], item["w"], item["v"]
        moved, h = np.abs(X @ v), np.abs(X @ w)
        allowed = float(moved @ (2.0 * h + moved + y))
        jump = abs(float(norm_rate(X, y, w + v) - norm_rate(X, y, w)))
        noise = 1e-13 * float((h + moved) @ (h + moved + y))
        return (allowed - jump + noise) / (allowed + noise)

    return Statement("g is continuous across boundaries", extended(data_draws(2), more), slack,
                     fixed=("X", "y"))  # fmt: skip


def rate_is_the_slope() -> Statement:
    """Lemma F.7, part 1: -g(w(t)) is the derivative of |w|^2 / 2 at every t, events included."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        path = small_flows(item, [float(item["norm"])])[0]
        times = np.append(path.grid(8)[1:-1], [e.t for e in path.events])
        W, stiff = path.at(times), np.linalg.norm(X, 2)
        size = np.linalg.norm(W, axis=1)
        fastest = stiff * (stiff * size + np.linalg.norm(y))  # at least |dw/dt| nearby
        step = np.minimum(1e-6 * size / fastest, times)
        late, early = times + step, times - step  # as rounded: late times are coarse
        ahead, behind = path.at(late), path.at(early)
        # Neither late times nor the first moments leave digits for a difference.
        seen = (step > 1e-11 * times) & (step > 1e-9 * size / fastest)
        gap = np.where(seen, late - early, np.inf)
        slope = ((ahead - behind) * (ahead + behind)).sum(axis=1) / (2.0 * gap)
        allowed = 1e-4 * size * fastest
        apart = np.abs(slope + norm_rate(X, y, W))[np.isfinite(gap)] / allowed[np.isfinite(gap)]
        return 1.0 - float(np.max(apart, initial=0.0))

    draws = extended(
        nontrivial_draws(2), lambda item, rng: {"norm": np.array(10.0 ** rng.uniform(-4, 3))}
    )
    return Statement("-g is half the derivative of |w|^2", draws, slack, fixed=("u",))


def _excess(item: Instance, end: NDArray) -> float:
    """L(end) less the least loss, in units of L(0)."""
    X, y = item["X"], item["y"]
    return float(loss(X, y, end) - least_planar_loss(X, y)) / (0.5 * float(y @ y))


def _excess_at_rest(item: Instance) -> float:
    return _excess(item, resting_point(item["X"], item["y"])[1])


def all_active_is_global() -> Statement:
    """The last clause of Lemma F.8: that limit is a global minimum."""
    return Statement(
        "the all-active minimum is global",
        data_draws(2),
        lambda item: 1e-9 - _excess_at_rest(item),
        {**ASSUMED, "the all-active cell holds its minimum": keeps_all},
    )


def share_is_at_most(limit: float) -> Statement:
    """(L(limit) - least loss) / L(0) <= `limit` for small starts in the plane."""
    return Statement(f"the limit's excess loss is at most {limit:g} L(0)", data_draws(2, (3, 5)),
                     lambda item: limit - _excess_at_rest(item), ASSUMED)  # fmt: skip


def realisable_is_global() -> Statement:
    """Theorem 4.7 restored: with labels y = X w_GM > 0, starts with q > 0 and |w0| < delta_0 reach
    a minimum of loss 0."""

    def derive(item: Instance) -> dict[str, NDArray]:
        return {**item, "y": item["X"] @ item["w_GM"]}

    def more(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        w = all_active_direction(item["X"], rng) * 10.0 ** rng.uniform(-1.0, 1.0)
        new = derive({**item, "w_GM": w})
        return {**new, "u": start_direction(new["X"], np.abs(new["y"]), rng)}

    def share(item: Instance, end: NDArray) -> float:
        return 1e-9 - float(loss(item["X"], item["y"], end)) / (0.5 * float(item["y"] @ item["y"]))

    def batch(items: Sequence[Instance]) -> NDArray:
        found = [
            np.where(flows.decided, [share(*v) for v in zip(items, flows.ends, strict=True)],
                     np.nan)
            for flows in flows_of(items, NORMS)
        ]  # fmt: skip
        return np.min(found, axis=0)

    return Statement(
        "labels y = X w_GM: the limit has loss zero",
        extended(data_draws(2), more),
        lambda item: min(share(item, path.end) for path in small_flows(item, NORMS)),
        {**ASSUMED, "q(w0) > 0": nontrivial},
        batch=batch,
        fixed=("y", "u"),
        derive=derive,
    )


def _drop(item: Instance, norms: Sequence[float], radius: Callable) -> float:
    """The drop of |w(t)| between neighbours of a grid, least over the norms, of |w(inf)|."""
    return min(largest_norm_drop(path) for path in small_flows(item, norms, radius))


def _drops(items: Sequence[Instance], norms: Sequence[float], radius: Callable) -> NDArray:
    return np.min([norm_drops(flows) for flows in flows_of(items, norms, radius)], axis=0)


def norm_never_drops() -> Statement:
    """Lemma F.9, first half, with the coincidence c_2^* = 0 among the draws: |w(t)| never drops."""

    return Statement("the norm never drops", {**all_active_draws(), **aligned_draws()},
                     lambda item: -_drop(item, NORMS, gentle_radius),
                     {**ASSUMED, "w0 in the all-active cell": _all_active}, tolerance=ROUNDING,
                     batch=lambda items: -_drops(items, NORMS, gentle_radius))  # fmt: skip


def norm_drops_little() -> Statement:
    """What is true instead, for w0 in the all-active cell, |w0| < rho (`gentle_radius`):
    |w(s)|^2 - |w(t)|^2 <= |w0|^2 for s < t."""

    def slack(item: Instance) -> float:
        starts = starts_of(item, NORMS, gentle_radius)
        paths = small_flows(item, NORMS, gentle_radius)
        return min(
            1.0 - (norm_lost(path) - ROUNDING * float(path.end @ path.end)) / float(w0 @ w0)
            for w0, path in zip(starts, paths, strict=True)
        )

    return Statement("the square of the norm drops by at most |w0|^2",
                     {**all_active_draws(), **aligned_draws()}, slack,
                     {**ASSUMED, "w0 in the all-active cell": _all_active},
                     tolerance=1e-6)  # fmt: skip


def limit_flow_never_drops() -> Statement:
    """The flow that leaves 0 itself: its norm never drops. Started at `ORIGIN` along X^T y."""
    norms = (ORIGIN,)
    return Statement("the flow from 0 never loses norm", data_draws(2, (3, 8)),
                     lambda item: -_drop(item, norms, guaranteed_radius), ASSUMED,
                     tolerance=ROUNDING,
                     batch=lambda items: -_drops(items, norms, guaranteed_radius))  # fmt: skip


def off_boundaries(item: Instance) -> bool:
    """Whether no cell of full rank has its virtual minimum on the boundary of a datum.

    Where one has, a flow can converge to that boundary, to a point that is no local minimum.
    """
    X, y = np.asarray(item["X"], float), np.asarray(item["y"], float)
    for active in enumerate_cells(X).patterns:
        w, free = virtual_minimum(X, y, active)
        sizes = np.linalg.norm(X, axis=1) * np.linalg.norm(w)
        if free.shape[1] == 0 and np.any(np.abs(X @ w) <= 1e-9 * sizes):
            return False
    return True


def converges_in_first_resting_cell() -> Statement:
    """Lemma F.9, second half: the last cell is the first one met that holds a stationary point.

    The hypothesis on virtual minima is ours; the flow of (1, 0), (0, 1), (1, 1), y = (3, 1, 1)
    needs it.
    """

    def slack(item: Instance) -> float:
        path = small_flows(item, NORMS[:1], gentle_radius)[0]
        if path.status != "converged":  # rounding hides how the flow goes on: it has no last cell
            return np.nan
        first, last = first_resting_cell(item["X"], item["y"], path)
        return 1.0 if first == last else -1.0

    def batch(items: Sequence[Instance]) -> NDArray:
        flows = flows_of(items, NORMS[:1], gentle_radius)[0]
        out = np.full(len(items), np.nan)
        for k in np.nonzero(flows.decided)[0]:
            X, y = items[k]["X"], items[k]["y"]
            ends = np.append(np.diff(flows.times[k, : flows.count[k]]) > 0.0, True)
            cells = [
                flows.patterns[k, 0],
                *flows.patterns[k, 1:][: flows.count[k]][ends[: flows.count[k]]],
            ]
            first, last = resting_places(X, y, [on[: len(y)] for on in cells])
            out[k] = 1.0 if first == last else -1.0
        return out

    return Statement("converges in the first cell with a stationary point",
                     all_active_draws((3, 8)), slack,
                     {**ASSUMED, "w0 in the all-active cell": _all_active,
                      "no virtual minimum on a boundary": off_boundaries},
                     batch=batch)  # fmt: skip


def first_deactivation(item: Instance, norm: float) -> Conditions | None:
    """B1-B4 where a small start's flow first leaves the all-active cell, or None if it does not."""
    for step in crossings(item["X"], small_flows(item, [norm])[0]):
        if step.before.all():
            return conditions(item["X"], item["y"], step)
    return None


def plane_never_meets_B2() -> Statement:
    """Ours: d = 2, small starts. Where the flow leaves the all-active cell, B2 and B4 do not both
    hold."""

    def at(item: Instance, norm: float) -> float:
        found = first_deactivation(item, norm)
        return -min(found.B2, found.B4) if found is not None and found.full else np.nan

    def slack(item: Instance) -> float:
        value = at(item, NORMS[1])
        return value if not value <= 0.0 else max(at(item, norm) for norm in NORMS)

    return Statement("B2 and B4 fail where the flow leaves the all-active cell",
                     leaving_draws((3, 6)), slack,
                     {**ASSUMED, "the all-active cell does not hold its minimum":
                      lambda item: not keeps_all(item)})  # fmt: skip


def built_crossings(rng: np.random.Generator) -> dict[str, Any]:
    """Data made to meet B1-B4: two data fitted by w_P^* in the fourth quadrant, and a third one
    almost orthogonal to w_P^*, on whose inactive side the start is."""
    tilt = rng.uniform(0.1, 0.7)
    target = np.array([np.cos(tilt), -np.sin(tilt)])
    angles = rng.uniform(0.0, np.pi / 2 - tilt - 0.05, 2)
    X = 10.0 ** rng.uniform(-0.5, 0.5, (2, 1)) * np.column_stack([np.cos(angles), np.sin(angles)])
    over = np.pi / 2 - tilt + tilt * 10.0 ** rng.uniform(-4.0, -1.0)
    x = 10.0 ** rng.uniform(-2.0, 0.0) * np.array([np.cos(over), np.sin(over)])
    beyond = -float(x @ target)
    inner = float(x @ np.linalg.solve(X.T @ X, x))
    label = beyond / inner * (1.0 + 10.0 ** rng.uniform(-2.0, 1.0))
    wall = np.array([np.sin(over), -np.cos(over)])
    return {
        "X": np.vstack([X, x]),
        "y": np.append(X @ target, label),
        "u": wall - 0.1 * tilt * rng.uniform(0.0, 1.0) * x / np.linalg.norm(x),
    }


def all_crossings_meet(item: Instance, norm: float = NORMS[1]) -> bool:
    """Whether a small start's flow crosses a boundary, and meets B1-B4 at every one it crosses."""
    found = crossings(item["X"], small_flows(item, [norm])[0])
    return bool(found) and all(conditions(item["X"], item["y"], c).hold for c in found)


def _inner_positive(item: Instance) -> bool:
    found = crossings(item["X"], small_flows(item, NORMS[1:2])[0])
    return all(conditions(item["X"], item["y"], c).inner > 0.0 for c in found)


def strict_under_conditions() -> Statement:
    """Theorem F.6 repaired: among flows that do cross boundaries, with B1-B4 and
    x_0.H^-1 x_0 < 1 at each, the norm never drops."""
    return Statement("under B1-B4 at one crossing or more the norm never drops",
                     {"built": built_crossings},
                     lambda item: -_drop(item, NORMS, guaranteed_radius),
                     {**ASSUMED, "crosses, with B1-B4 at every crossing": all_crossings_meet,
                      "x_0.H^-1 x_0 < 1 at every crossing": _inner_positive},
                     tolerance=ROUNDING)  # fmt: skip


def try_small_starts(seed: int, count: int) -> dict[str, Report]:
    """Try every statement on small starts once; the keys are those of `norms_evidence`."""
    tries = {
        "kept": (keeps_all_data(), count),
        "global": (all_active_is_global(), count),
        "realisable": (realisable_is_global(), count),
        "drops": (norm_never_drops(), 2 * count),
        "little": (norm_drops_little(), count // 3),
        "limit": (limit_flow_never_drops(), 2 * count),
        "first": (converges_in_first_resting_cell(), count),
        "leaving": (plane_never_meets_B2(), count // 2),
        # Few of these draws meet the conditions: so many that some do, at any effort.
        "strict": (strict_under_conditions(), max(count // 2, 50)),
        "half": (share_is_at_most(0.5), count // 2),
    }
    return {
        name: falsify(statement, seed, k, evaluations=0 if name == "drops" else k // 4)
        for name, (statement, k) in tries.items()
    }
