"""Theorems 4.2 and 4.3: interpolated data, and how far from w_GM, X w_GM = y, a flow starts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, repeat
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement, survey
from reluflow.flows.activity import deactivated
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.networks import loss


def protected(X: ArrayLike, y: ArrayLike, w0: ArrayLike, w_gm: ArrayLike) -> NDArray:
    """Which data (n,) Theorem 4.2 promises to keep active: eq. (6) and x_j.w0 > 0.

    Parameters: X (n, d), y (n,), start w0 (d,), an interpolating w_gm (d,), X w_gm = y.
    """
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    radius = np.linalg.norm(w0 - np.asarray(w_gm, float))
    return (y / np.linalg.norm(X, axis=1) > radius) & (X @ w0 > 0)


Start = tuple[NDArray, NDArray, NDArray]
"""Data X (n, d), an interpolating w_gm (d,), and a start w0 (d,)."""


def _starts_inside(count: int, seed: int) -> Iterator[Start]:
    """Starts at distances up to the edge of eq. (6), half of them straight towards a boundary."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        d = int(rng.integers(1, 6))
        n = int(rng.integers(d, d + 5))
        X = rng.uniform(0.0, 1.0, (n, d)) ** 2 * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
        w_gm = rng.normal(size=d)
        if np.any(X @ w_gm <= 0):
            w_gm = np.abs(w_gm)
        radii = X @ w_gm / np.linalg.norm(X, axis=1)
        step = rng.normal(size=d) if k % 2 else -X[rng.integers(n)]
        radius = rng.choice(radii) * rng.choice([0.3, 0.9, 0.999999])
        yield X, w_gm, w_gm + radius * step / np.linalg.norm(step)


def _kept(start: Start) -> dict[str, Any]:
    X, w_gm, w0 = start
    y, safe = X @ w_gm, protected(X, X @ w_gm, w0, w_gm)
    found: dict[str, Any] = {"protected": int(safe.sum())}
    if not safe.any():
        return found
    path = affine_flow(X, y, w0)
    times = path.grid(60)
    floor = y - np.linalg.norm(X, axis=1) * np.linalg.norm(w0 - w_gm)
    room = (path.at(times) @ X.T - floor) / y
    found |= {"deactivated": int(safe[deactivated(path)].sum()), "room": room[:, safe].min()}
    if safe.all():
        linear = affine_flow(X, y, w0, activation="linear")
        apart = np.linalg.norm(path.at(times) - linear.at(times), axis=1).max()
        rest = loss(X, y, path.end) / (0.5 * y @ y)
        found |= {"gap": apart / np.linalg.norm(w_gm), "final_loss": float(rest)}
    return found


def survey_protection(count: int, seed: int) -> pd.DataFrame:
    """Theorem 4.2 on random interpolated data, a row a flow from inside eq. (6).

    protected    how many data are; the others are told where there are some
    deactivated  how often an event deactivates one of them
    room         the smallest (x_j.w(t) - (y_j - |x_j| |w0 - w_GM|)) / y_j: the proof says >= 0
    gap          with all protected, the largest distance from the linear flow, relative to |w_GM|
    final_loss   with all protected, the loss in the limit, relative to 1/2 |y|^2
    """
    columns = ["protected", "deactivated", "room", "gap", "final_loss"]
    return survey(_starts_inside(count, seed), _kept).reindex(columns=columns)


def _starts_outside(count: int, seed: int) -> Iterator[Start]:
    """Starts built to lose a datum from as near as they can.

    The shortest datum x starts just active, and the linear flow carries x.w just below zero by a
    time t between the fast and the slow scale: with p = exp(-H t) x, w0 - w_GM is the shortest z
    with p.z = -1.001 y and x.z = -0.999 y. The interval of losing starts so shrinks onto (6).
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        d = int(rng.integers(2, 6))
        n = int(rng.integers(d, d + 5))
        X = rng.uniform(0.0, 1.0, (n, d)) ** 2 * 10.0 ** rng.uniform(-2.0, 2.0, (n, 1))
        w_gm = np.abs(rng.normal(size=d))
        y = X @ w_gm
        j = int(np.argmin(np.linalg.norm(X, axis=1)))
        rates, E = np.linalg.eigh(X.T @ X)
        t = 10.0 ** rng.uniform(-np.log10(rates.sum()), -np.log10(X[j] @ X[j]))
        p = E @ (np.exp(-rates * t) * (E.T @ X[j]))
        z = np.linalg.lstsq(np.array([p, X[j]]), -y[j] * np.array([1.001, 0.999]), rcond=None)[0]
        yield X, w_gm, w_gm + z


def _lost(start: Start) -> dict[str, Any]:
    X, w_gm, w0 = start
    lost = [j for j in deactivated(affine_flow(X, X @ w_gm, w0)) if X[j] @ w0 > 0]
    shares = np.linalg.norm(X[lost], axis=1) * np.linalg.norm(w0 - w_gm) / (X @ w_gm)[lost]
    return {"lost": len(lost), "nearest": shares.min(initial=np.inf)}


def survey_lost_data(count: int, seed: int) -> pd.DataFrame:
    """The converse question to Theorem 4.2: how near to w_GM can a flow start and lose a datum?

    lost     data active at the start that an event deactivates; a few are decided by rounding
    nearest  the smallest |x_j| |w0 - w_GM| / y_j among them, at least 1 by the theorem; infinite
             where none is lost
    """
    return survey(_starts_outside(count, seed), _lost)


def protection(kept: pd.DataFrame, lost: pd.DataFrame, seed: int) -> list[Evidence]:
    """sv.thm4.2: data that (6) protects stay active; all protected, the flow is linear (Thm 4.2).

    `survey_protection`, and `survey_lost_data`: where no flow loses a datum there is no nearest
    one: NaN, which meets no bound.
    """
    nearest = float(lost["nearest"][lost["lost"] > 0].min())
    return [
        fact("protected data that were deactivated", int(kept["deactivated"].sum()), 0),
        bound("smallest slack of x_j.w(t) >= y_j - |x_j| |w_0 - w_GM|",
              float(kept["room"].fillna(np.inf).min()), ">=", -1e-8, "of y_j"),
        bound("all data protected: largest distance to the linear flow",
              float(kept["gap"].fillna(0.0).max()), "<=", 1e-8, "of |w_GM|"),
        bound("all data protected: largest loss in the limit",
              float(kept["final_loss"].fillna(0.0).max()), "<=", 1e-8, "of L(0)"),
        note("flows", len(kept)),
        fact("flows built to lose a datum lose one", bool(lost["lost"].any()), True),
        bound("smallest |x_j| |w_0 - w_GM| / y_j of a datum that a flow loses", nearest,
              ">=", 1.0, ""),
        note("protected data", int(kept["protected"].sum())),
        note("flows built to lose a datum", len(lost)),
        note("flows with all data protected", int(kept["gap"].count())),
        note("seed", seed),
    ]  # fmt: skip


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
    """sv.thm4.3: no flow from inside (7) converges to that local minimum (Theorem 4.3).

    Turned round: where the flow from w0 converges to a local minimum with data off, |w0 - w_GM|
    exceeds their largest y_j/|x_j|. A1, A2 and X w_GM = y; A3 is not assumed.
    """

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
    rng = np.random.default_rng(seed)
    off: list[bool] = []
    while len(off) < count:
        item = _at_equality(rng)
        X, w, w0 = item["X"], item["w_gm"], item["w0"]
        gap = np.abs((X @ w / np.linalg.norm(X, axis=1)) / np.linalg.norm(w0 - w) - 1.0)
        x = X[np.argmin(gap)]
        if abs(x @ w0) > 1e-6 * (x @ w):
            off.append(bool(x @ affine_flow(X, X @ w, w0).end <= 0))
    return count, sum(off)


def _pairs(rng: np.random.Generator) -> Iterator[dict[str, bool]]:
    for _ in repeat(None):
        X, w = _interpolated(rng)
        u, y = rng.normal(size=len(w)), X @ w
        factor = 10.0 ** rng.uniform(-2.0, 1.0)
        w0 = factor * np.linalg.norm(w) * u / np.linalg.norm(u)
        on = set(np.nonzero(X @ affine_flow(X, y, w0).end > 0)[0])
        for support in (set(minimum.support) for minimum in local_minima(X, y)):
            off = [j for j in range(len(y)) if j not in support]
            if off:
                y_off = (y / np.linalg.norm(X, axis=1))[off]
                yield {"holds": bool(y_off.max() >= np.linalg.norm(w0 - w)),
                       "small": factor < 0.1, "reached": on == support}  # fmt: skip


def survey_exclusion(count: int, seed: int) -> pd.DataFrame:
    """How often eq. (7) holds on interpolated data, a row a pair of a random start and one of the
    local minima with a datum off.

    holds    whether (7) does
    small    whether |w0| < |w_GM| / 10; |w0| is from 0.01 to 10 times |w_GM|
    reached  whether the flow from the start converges to the minimum
    """
    return pd.DataFrame(islice(_pairs(np.random.default_rng(seed)), count))


def exclusion(at_equality: tuple[int, int], pairs: pd.DataFrame) -> list[Evidence]:
    """Theorem 4.3 at equality in (7) (`starts_at_equality`), and how often (7) holds."""
    flows, off = at_equality
    return [
        fact("starts at equality in (7) whose limit lacks the datum", off, 0),
        fact("minima excluded by (7) and reached", int((pairs.holds & pairs.reached).sum()), 0),
        note("starts at equality", flows),
        note("(7) holds, of random pairs of a minimum with data off and a start",
             (int(pairs.holds.sum()), len(pairs))),
        note("the same for |w0| < |w_GM| / 10",
             (int((pairs.holds & pairs.small).sum()), int(pairs.small.sum()))),
        note("minima of those pairs that the flow reaches", int(pairs.reached.sum())),
    ]  # fmt: skip
