"""Theorem F.6 and Lemmas F.7-F.9, and what is true instead, as statements for `falsify`.

An instance is a data set "X" (n, d), "y" (n,), a direction "u" (d,) of the start where it has one
(by default along X^T y, which activates all data), and what else a statement names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Report, Statement, falsify
from reluflow.flows.planar import planar_flows_of
from reluflow.geometry import enumerate_cells, virtual_minimum
from reluflow.instances import data_draws, extended
from reluflow.networks import loss
from reluflow.papers.lee2022support.norms import (
    Conditions,
    aligned_labels,
    all_active_direction,
    conditions,
    crossings,
    first_resting_cell,
    least_planar_loss,
    norm_lost,
    norm_rate,
    resting_places,
    small_flow,
    start_of,
)
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    largest_norm_drop,
    nontrivial_direction,
)

Item = Mapping[str, NDArray]
Draws = Mapping[str, Callable[[np.random.Generator], dict[str, NDArray]]]

SEEN_NORMS = (1e-2, 1e-3, 1e-4)
"""Norms of starts, in units of `unit_of_norm`, whose squares rounding does not hide."""

ROUNDING = 1e-11
"""A loss of |w|^2 below this share of |w(inf)|^2 is rounding."""

INSIDE = 1e-6
"""A virtual minimum counts as inside its cell if all cosines with the data exceed this."""


def nontrivial_draws(d: int, sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Data sets, each with a random direction u for which q > 0 (else u along X^T y)."""

    def more(item: Item, rng: np.random.Generator) -> dict[str, NDArray]:
        u, _ = nontrivial_direction(item["X"], item["y"], rng)
        return {"u": item["X"].T @ item["y"] if u is None else u}

    return extended(data_draws(d, sizes), more)


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


def leaving_draws(sizes: tuple[int, int] = (3, 8), d: int = 2, tries: int = 200) -> Draws:
    """Data sets drawn again until the all-active cell does not hold its minimum."""

    def outside(base):
        def one(rng: np.random.Generator) -> dict[str, NDArray]:
            drawn = (base(rng) for _ in range(tries))
            return next((item for item in drawn if not _ends_inside(item)), base(rng))

        return one

    return {kind: outside(base) for kind, base in data_draws(d, sizes).items()}


def _all_active(item: Item) -> bool:
    return bool(np.all(item["X"] @ np.asarray(start_of(item, 1.0)) > 0.0))


def _positive_labels(item: Item) -> bool:
    return bool(np.all(item["y"] > 0.0))


def _spans(item: Item) -> bool:
    return np.linalg.matrix_rank(item["X"]) == item["X"].shape[1]


def _nontrivial(item: Item) -> bool:
    active = item["X"] @ start_of(item, 1.0) > 0.0
    return bool(np.all(np.where(active, item["y"], 0.0) @ item["X"] > 0.0))


ASSUMED = {"A2: y > 0": _positive_labels, "A3: rank X = d": _spans}
"""What the draws guarantee and the search could lose; A1 it keeps, for it keeps signs."""


def rate_is_continuous() -> Statement:
    """Lemma F.7, part 2: |g(w + v) - g(w)| <= sum |x_i.v| (2 |x_i.w| + |x_i.v| + y_i), with w on
    the boundary of the first datum and v of any size."""

    def more(item: Item, rng: np.random.Generator) -> dict[str, NDArray]:
        p, q = item["X"][0]
        w = np.array([-q, p]) * rng.choice([-1.0, 1.0])
        v = rng.normal(size=2) * 10.0 ** rng.uniform(-9.0, 0.0) * np.linalg.norm(w)
        return {"w": w, "v": v}

    def slack(item: Item) -> float:
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

    def slack(item: Item) -> float:
        X, y = item["X"], item["y"]
        path = small_flow(item, float(item["norm"]))
        times = np.append(path.grid(8)[1:-1], [e.t for e in path.events])
        W, stiff = path.at(times), np.linalg.norm(X, 2)
        size = np.linalg.norm(W, axis=1)
        fastest = stiff * (stiff * size + np.linalg.norm(y))  # at least |dw/dt| nearby
        step = np.minimum(1e-6 * size / fastest, times)
        late, early = times + step, times - step  # as rounded: late times are coarse
        ahead, behind = path.at(late), path.at(early)
        gap = np.where(step > 1e-11 * times, late - early, np.inf)
        slope = ((ahead - behind) * (ahead + behind)).sum(axis=1) / (2.0 * gap)
        allowed = 1e-4 * size * fastest
        apart = np.abs(slope + norm_rate(X, y, W))[np.isfinite(gap)] / allowed[np.isfinite(gap)]
        return 1.0 - float(np.max(apart, initial=0.0))

    draws = extended(
        nontrivial_draws(2), lambda item, rng: {"norm": np.array(10.0 ** rng.uniform(-4, 1))}
    )
    return Statement("-g is half the derivative of |w|^2", draws, slack, fixed=("u",))


def _ends_inside(item: Item) -> bool:
    w, _ = virtual_minimum(item["X"], item["y"], np.ones(len(item["y"]), bool))
    size = np.linalg.norm(item["X"], axis=1) * np.linalg.norm(w)
    return bool(np.all(item["X"] @ w > INSIDE * size))


def keeps_all_data() -> Statement:
    """Lemma F.8 without its last clause: where the all-active cell holds its virtual minimum, small
    starts with q > 0 deactivate nothing and converge to it."""

    def one(item: Item, norm: float) -> float:
        path = small_flow(item, norm)
        return _kept(item, path.end, any(e.kind == "deactivate" for e in path.events))

    def batch(items: Sequence[Item]) -> NDArray:
        best = np.full(len(items), -np.inf)
        for norm in NORMS:
            flows = _flows(items, norm)
            fell = flows.deactivations() > 0
            kept = [_kept(*row) for row in zip(items, flows.ends, fell, strict=True)]
            best = np.fmax(best, np.where(flows.decided, kept, np.nan))
        return best

    return Statement(
        "all data kept, limit is the all-active minimum",
        nontrivial_draws(2),
        lambda item: max(one(item, norm) for norm in NORMS),
        {
            **ASSUMED,
            "q(w0) > 0": _nontrivial,
            "the all-active cell holds its minimum": _ends_inside,
        },
        batch=batch,
        fixed=("u",),
    )


def _kept(item: Item, end: NDArray, fell: bool) -> float:
    w, _ = virtual_minimum(item["X"], item["y"], np.ones(len(item["y"]), bool))
    return -1.0 if fell else float(1e-6 - np.linalg.norm(end - w) / np.linalg.norm(w))


def _flows(items: Sequence[Item], norm: float):
    return planar_flows_of([{**item, "w0": start_of(item, norm)} for item in items])


def _excess(item: Item, end: NDArray) -> float:
    """L(end) less the least loss, in units of L(0)."""
    X, y = item["X"], item["y"]
    return float(loss(X, y, end) - least_planar_loss(X, y)) / (0.5 * float(y @ y))


def all_active_is_global() -> Statement:
    """The last clause of Lemma F.8: that limit is a global minimum."""
    return Statement(
        "the all-active minimum is global",
        data_draws(2),
        lambda item: (
            1e-9
            - _excess(item, virtual_minimum(item["X"], item["y"], np.ones(len(item["y"]), bool))[0])
        ),
        {**ASSUMED, "the all-active cell holds its minimum": _ends_inside},
    )


def share_is_at_most(limit: float) -> Statement:
    """(L(limit) - least loss) / L(0) <= `limit` for small starts in the plane."""

    def slack(item: Item) -> float:
        return limit - min(_excess(item, small_flow(item, norm).end) for norm in NORMS[1:])

    def batch(items: Sequence[Item]) -> NDArray:
        flows = _flows(items, NORMS[1])
        pairs = zip(items, flows.ends, flows.decided, strict=True)
        return np.array([limit - _excess(i, e) if ok else np.nan for i, e, ok in pairs])

    return Statement(f"the limit's excess loss is at most {limit:g} L(0)", data_draws(2, (3, 5)),
                     slack, ASSUMED, batch=batch)  # fmt: skip


def realisable_is_global() -> Statement:
    """Theorem 4.7 restored: with labels y = X w_GM > 0, small starts reach a minimum of loss 0."""

    def derive(item: Item) -> dict[str, NDArray]:
        return {**item, "y": item["X"] @ item["w_GM"]}

    def more(item: Item, rng: np.random.Generator) -> dict[str, NDArray]:
        w = all_active_direction(item["X"], rng) * 10.0 ** rng.uniform(-1.0, 1.0)
        new = derive({**item, "w_GM": w})
        u, _ = nontrivial_direction(new["X"], new["y"], rng)
        return {**new, "u": new["X"].T @ new["y"] if u is None else u}

    def share(item: Item, end: NDArray) -> float:
        return 1e-9 - float(loss(item["X"], item["y"], end)) / (0.5 * float(item["y"] @ item["y"]))

    def batch(items: Sequence[Item]) -> NDArray:
        flows = _flows(items, NORMS[1])
        pairs = zip(items, flows.ends, flows.decided, strict=True)
        return np.array([share(i, e) if ok else np.nan for i, e, ok in pairs])

    return Statement(
        "labels y = X w_GM: the limit has loss zero",
        extended(data_draws(2), more),
        lambda item: max(share(item, small_flow(item, norm).end) for norm in NORMS),
        {**ASSUMED, "q(w0) > 0": _nontrivial},
        batch=batch,
        fixed=("y", "u"),
        derive=derive,
    )


def _lost(item: Item, norm: float) -> tuple[float, float, float]:
    path = small_flow(item, norm)
    return norm_lost(path), float(path.end @ path.end), float(start_of(item, norm) @ start_of(
        item, norm))  # fmt: skip


def _drop(item: Item, norms: Sequence[float]) -> float:
    """The drop of |w(t)| between neighbours of a grid, least over the norms, of |w(inf)|."""
    return min(largest_norm_drop(small_flow(item, norm)) for norm in norms)


def _drops(items: Sequence[Item], norms: Sequence[float]) -> NDArray:
    return np.min([_flows(items, norm).norm_drop() for norm in norms], axis=0)


def norm_never_drops() -> Statement:
    """Lemma F.9, first half, with the coincidence c_2^* = 0 among the draws: |w(t)| never drops."""

    return Statement("the norm never drops", {**all_active_draws(), **aligned_draws()},
                     lambda item: -_drop(item, SEEN_NORMS),
                     {**ASSUMED, "w0 in the all-active cell": _all_active}, tolerance=ROUNDING,
                     batch=lambda items: -_drops(items, SEEN_NORMS))  # fmt: skip


def norm_drops_little() -> Statement:
    """What is true instead: |w(s)|^2 - |w(t)|^2 <= |w0|^2 for s < t, w0 small and all-active."""

    def slack(item: Item) -> float:
        seen = [_lost(item, norm) for norm in SEEN_NORMS[:2]]
        return max(1.0 - (lost - ROUNDING * size) / start for lost, size, start in seen)

    return Statement("the square of the norm drops by at most |w0|^2",
                     {**all_active_draws(), **aligned_draws()}, slack,
                     {**ASSUMED, "w0 in the all-active cell": _all_active},
                     tolerance=1e-6)  # fmt: skip


def limit_flow_never_drops() -> Statement:
    """The flow that leaves 0 itself: its norm never drops. Started at 1e-10 along X^T y."""

    return Statement("the flow from 0 never loses norm", data_draws(2, (3, 8)),
                     lambda item: -_drop(item, NORMS[-1:]), ASSUMED, tolerance=ROUNDING,
                     batch=lambda items: -_drops(items, NORMS[-1:]))  # fmt: skip


def off_boundaries(item: Item) -> bool:
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

    def slack(item: Item) -> float:
        places = [first_resting_cell(item["X"], item["y"], small_flow(item, n)) for n in NORMS[:2]]
        return max(1.0 if first == last else -1.0 for first, last in places)

    def batch(items: Sequence[Item]) -> NDArray:
        flows = _flows(items, NORMS[1])
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


def first_deactivation(item: Item, norm: float) -> Conditions | None:
    """B1-B4 where a small start's flow first leaves the all-active cell, or None if it does not."""
    path = small_flow(item, norm)
    for step in crossings(item["X"], path):
        if step.before.all():
            return conditions(item["X"], item["y"], step)
    return None


def plane_never_meets_B2() -> Statement:
    """Ours: d = 2, small starts. Where the flow leaves the all-active cell, B2 and B4 do not both
    hold."""

    def at(item: Item, norm: float) -> float:
        found = first_deactivation(item, norm)
        return -min(found.B2, found.B4) if found is not None and found.full else np.nan

    def slack(item: Item) -> float:
        value = at(item, NORMS[1])
        return value if not value <= 0.0 else max(at(item, norm) for norm in NORMS)

    return Statement("B2 and B4 fail where the flow leaves the all-active cell",
                     leaving_draws((3, 6)), slack,
                     {**ASSUMED, "the all-active cell does not hold its minimum":
                      lambda item: not _ends_inside(item)})  # fmt: skip


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


def all_crossings_meet(item: Item, norm: float = NORMS[1]) -> bool:
    """Whether a small start's flow crosses a boundary, and meets B1-B4 at every one it crosses."""
    found = crossings(item["X"], small_flow(item, norm))
    return bool(found) and all(conditions(item["X"], item["y"], c).hold for c in found)


def _inner_positive(item: Item) -> bool:
    found = crossings(item["X"], small_flow(item, NORMS[1]))
    return all(conditions(item["X"], item["y"], c).inner > 0.0 for c in found)


def strict_under_conditions() -> Statement:
    """Theorem F.6 repaired: among flows that do cross boundaries, with B1-B4 and
    x_0.H^-1 x_0 < 1 at each, the norm never drops."""
    return Statement("under B1-B4 at one crossing or more the norm never drops",
                     {"built": built_crossings}, lambda item: -_drop(item, NORMS),
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
        "strict": (strict_under_conditions(), count // 2),
        "half": (share_is_at_most(0.5), count // 2),
    }
    return {
        name: falsify(statement, seed, k, evaluations=0 if name == "drops" else k // 4)
        for name, (statement, k) in tries.items()
    }
