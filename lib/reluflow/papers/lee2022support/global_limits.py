"""Whether small flows in the plane end in a global minimum (Lemma F.8, Theorem 4.7): with labels of
zero loss they do, otherwise the limit can be as bad as w = 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow import rational
from reluflow.approx import approx
from reluflow.falsify import Instance, Report, Statement, given
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.instances import Arrays, data_draws, extended
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.networks import loss
from reluflow.papers.lee2022support.assumptions import assumptions, meets
from reluflow.papers.lee2022support.norm_loss import all_active_direction
from reluflow.papers.lee2022support.small_ends import ASSUMED, keeps_all
from reluflow.papers.lee2022support.small_plane import resting_point
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    flows_of,
    small,
    small_flows,
    start_direction,
)


def least_planar_loss(X: ArrayLike, y: ArrayLike) -> float:
    """The least loss over the plane, under A1 and A2: min of L(w_P^*) over all cells P.

    The global minimum is among these points, and no point has less. By Lemma 4.5 the active data
    of a cell are, in the order of their angles, the first k or the last k. X (n, 2), y (n,).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    order = np.argsort(np.arctan2(X[:, 1], X[:, 0]), kind="stable")
    best = 0.5 * float(y @ y)
    for some in (order, order[::-1]):
        for k in range(1, len(y) + 1):
            w = np.linalg.lstsq(X[some[:k]], y[some[:k]], rcond=None)[0]
            best = min(best, float(loss(X, y, w)))
    return best


def excess_at_rest(item: Instance) -> float:
    """L less the least loss, in units of L(0), where small flows end."""
    X, y = item["X"], item["y"]
    end = resting_point(X, y)[1]
    return float(loss(X, y, end) - least_planar_loss(X, y)) / (0.5 * float(y @ y))


def all_active_is_global() -> Statement:
    """sv.lemF.8.2: the minimum in the all-active cell, the limit of small flows, is a global one
    (Lemma F.8, last clause)."""
    return Statement(
        "the all-active minimum is global",
        data_draws(2),
        lambda item: 1e-9 - excess_at_rest(item),
        {**ASSUMED, "the all-active cell holds its minimum": keeps_all},
    )


def better_without_the_second(X: NDArray, y: NDArray) -> Counterexample:
    """Three data whose second one the better minimum ignores."""
    all_three, two = rational.fit(X, y, [0, 1, 2]), rational.fit(X, y, [0, 2])
    found = {m.support: m.loss for m in local_minima(X, y)}
    above = found[(0, 1, 2)] - min(found.values())
    return Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int), "w*": all_three.w},
        assumptions={
            **assumptions(X, y),
            "d = 2": X.shape[1] == 2,
            "w* is a stationary point in the all-active cell": rational.is_local_minimum(
                all_three, [0, 1, 2]
            ),
        },
        breaks=(bound("L(w*) - least loss, enumerated minima", above, "<=", 0, ""),),
        recheck=(bound("L(w*) - L(2, -1), rational arithmetic",
                       all_three.loss - rational.neuron_loss(X, y, two.w), "<=", 0, ""),),
        route="both fits and their losses in rational arithmetic",
    )  # fmt: skip


def not_global(report: Report, case: Counterexample) -> list[Evidence]:
    """How often the all-active minimum is not global, and that it is not in this case."""
    return [
        fact("data sets whose all-active minimum is not global", sum(report.violations.values()),
             0),
        fact("the all-active minimum of the counterexample's data is global",
             case.breaks[0].value <= 1e-9, True),
        note("data sets with a minimum in the all-active cell", report.tried),
        note("seed", report.seed),
    ]  # fmt: skip


def realisable_is_global() -> Statement:
    """sv.ours.small.realisable: Theorem 4.7 restored. With labels y = X w_GM > 0, starts with q > 0
    and |w0| < delta_0 reach a minimum of loss 0."""

    def derive(item: Instance) -> Arrays:
        return {**item, "y": item["X"] @ item["w_GM"]}

    def more(item: Arrays, rng: np.random.Generator) -> Arrays:
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
        given(
            "sv.ours.small.realisable",
            data=lambda item: meets(item, "A1", "A3", d=2),
            labels=lambda item: bool(np.all(item["y"] > 0.0)),
            start=small,
        ),
        batch=batch,
        fixed=("y", "u"),
        derive=derive,
    )


def missing_family(m: int) -> tuple[NDArray, NDArray]:
    """Our family x = (1, 0), (0, m), (m, m), y = (m, 1, 1), m >= 2, of integers X (3, 2), y (3,).

    The all-active minimum (2m, 2/m) / (m^2 + 2) has loss m^4 / (2 (m^2 + 2)); (m, 1/m - m), which
    ignores x_2, has loss 1/2; and L(0) = (m^2 + 2) / 2.
    """
    return np.array([[1, 0], [0, m], [m, m]]), np.array([m, 1, 1])


def how_far(m: int) -> list[Evidence]:
    """How bad the limit of a small start can be: a member of `missing_family`, in rationals."""
    X, y = missing_family(m)
    kept, other = rational.fit(X, y, [0, 1, 2]), rational.fit(X, y, [0, 2])
    start = rational.neuron_loss(X, y, (Fraction(0), Fraction(0)))
    sound = rational.is_local_minimum(kept, [0, 1, 2]) and rational.is_local_minimum(other, [0, 2])
    return [
        fact(f"x = (1, 0), (0, m), (m, m), y = (m, 1, 1), m = {m}: the all-active fit and "
             "(m, 1/m - m) are local minima", sound, True),
        note("there: L(limit) / L(m, 1/m - m)", kept.loss / other.loss),
        note("there: (L(limit) - L(m, 1/m - m)) / L(0)", (kept.loss - other.loss) / start),
    ]  # fmt: skip


def family_table(sizes: Iterable[int]) -> pd.DataFrame:
    """The small start's limit on `missing_family` against the least loss."""
    rows = {}
    for m in sizes:
        X, y = missing_family(m)
        end = affine_flow(X, y, [1e-6, 1e-6]).end
        reached, least = float(loss(X, y, end)), local_minima(X, y)[0].loss
        rows[m] = {"L(limit)": approx(reached), "least loss": approx(least),
                   "ratio": approx(reached / least),
                   "excess / L(0)": approx((reached - least) / (0.5 * float(y @ y)))}  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("m")
