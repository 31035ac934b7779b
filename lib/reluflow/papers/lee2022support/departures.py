"""Where a flow can go from a point on one or more activation boundaries: Propositions 3.1 and F.4.

To first order a flow that leaves w with velocity v activates exactly those data of J, the data on
whose boundary w lies, for which x_j.v > 0; so v = v_0 + sum_{j in J, x_j.v > 0} y_j x_j, where v_0
is -grad L(w) as eq. (2) has it. All subsets of J are tried; no code is shared with the exact flow.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.instances import extended
from reluflow.papers.lee2022support.activation import MIXED

ON = 1e-9
"""A point is on the boundary of a datum up to this cosine."""

SURE = 1e-9
"""A rate x_j.v below this share of |x_j| times all forces is not trusted to have a sign."""


def first_departures(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> list[tuple[NDArray, NDArray]]:
    """All departures from w (d,): the data (n,) active after it, and the velocity (d,) there.

    Data X (n, d), y (n,). Departures with a rate x_j.v, j in J, that is zero to rounding are left
    out. At most 2^|J| subsets are tried.
    """
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h, length = X @ w, np.linalg.norm(X, axis=1)
    on = np.abs(h) <= ON * length * np.linalg.norm(w)
    before = np.where(on, False, h > 0.0)
    v0 = (y - h)[before] @ X[before]
    unit = length * (np.linalg.norm(v0) + length[on] @ np.abs(y[on]))
    found = []
    for chosen in product((False, True), repeat=int(on.sum())):
        active = before.copy()
        active[on] = chosen
        v = v0 + y[on & active] @ X[on & active]
        rates = np.where(active, 1.0, -1.0)[on] * (X[on] @ v)
        if np.all(rates > SURE * unit[on]):
            found.append((active, v))
    return found


def _several(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """A direction and, to put it there, up to d data on whose boundary the point is to lie."""
    n, d = item["X"].shape
    return {"some": rng.permutation(n)[: rng.integers(1, d + 1)], "z": rng.normal(size=d)}


def _signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"X": rng.choice([-1.0, 1.0], item["X"].shape) * item["X"]}


def _point(item: Instance) -> NDArray:
    """The point on the boundaries of the chosen data that is nearest to z: 0 if they span space."""
    X, z = item["X"][item["some"]], item["z"]
    left = z - X.T @ np.linalg.lstsq(X.T, z, rcond=None)[0]
    return np.where(np.linalg.norm(left) > 1e-9 * np.linalg.norm(z), left, 0.0)


def some_flow_leaves() -> Statement:
    """Proposition F.4, existence: under A2, from every point a flow leaves into a cell, strictly.
    Data under A1, and with inputs of either sign."""

    def slack(item: Instance) -> float:
        return float(len(first_departures(item["X"], item["y"], _point(item))))

    plain = extended(MIXED, _several)
    signed = {f"signed, {kind}": one for kind, one in extended(plain, _signed).items()}
    return Statement("from points on boundaries some flow leaves", plain | signed, slack,
                     strict=True, fixed=("some",))  # fmt: skip


def _forced(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """The direction z or -z, at a length from a tenth to ten times that at which the forces of the
    active data outweigh y_j |x_j|^2 for some x_j of the point's boundaries: beyond, x_j leaves."""
    X, y, some = item["X"], item["y"], item["some"]
    best = np.inf
    for z in (item["z"], -item["z"]):
        w = _point({**item, "z": z})
        h, length = X @ w, np.linalg.norm(X, axis=1)
        active = np.where(np.abs(h) > ON * length * np.linalg.norm(w), np.maximum(h, 0.0), 0.0)
        grows = active @ X @ X[some].T
        held = (y * (active > 0.0)) @ X @ X[some].T + y[some] * length[some] ** 2
        needed = np.min(held / np.where(grows > 0.0, grows, np.nan), initial=np.inf,
                        where=grows > 0.0)  # fmt: skip
        if needed < best:
            best, chosen = needed, z
    return {} if np.isinf(best) else {"z": chosen * best * 10.0 ** rng.uniform(-1.0, 1.0)}


def _leaving(item: Instance) -> tuple[NDArray, list[NDArray]]:
    """The data (n,) on whose boundary the point is, and those that each departure deactivates."""
    X, w = item["X"], _point(item)
    on = np.abs(X @ w) <= ON * np.linalg.norm(X, axis=1) * np.linalg.norm(w)
    off = [on & ~active for active, _ in first_departures(X, item["y"], w)]
    return on, [some for some in off if some.any()]


def deactivates_only_if() -> Statement:
    """Proposition 3.1, only if: grad L(w).x_j >= 0 wherever a flow deactivates x_j, on one boundary
    or on several at once. A1 and A2."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        h, (on, off) = X @ _point(item), _leaving(item)
        force = np.where(on, 0.0, np.maximum(h, 0.0) - y * (h > 0.0)) @ X
        size = np.linalg.norm(X, axis=1) * (np.linalg.norm(force) + 1e-300)
        return min(float(np.min((X @ force / size)[some])) for some in off)

    return Statement("grad L(w).x >= 0 where a flow deactivates x",
                     extended(extended(MIXED, _several), _forced), slack,
                     {"some flow deactivates a datum": lambda item: bool(_leaving(item)[1])},
                     tolerance=1e-9, fixed=("some",))  # fmt: skip
