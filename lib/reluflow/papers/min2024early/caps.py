"""The caps of Lemmas 8 and 9: the largest zeta_1 and the largest xi, in closed form.

zeta_1 = min cos(u, z_i)^2 over u = x_+, -x_- and all i: a point at the angle a from u has
<z_i, w> > 0 for all i as long as sin a < cos(u, z_i).

xi = mu^2. If w is in neither cone, <z_i, w> <= 0 and <z_j, w> >= 0 for some i, j. Then for z in K
the angle between w and z is at least pi/2 - angle(z, z_i), and so |cos(z, w)| <= sin(arccos mu) by
Lemma 5. For a pair with cos(z_i, z_j) = mu, w = +-(z_j - mu |z_j| z_i/|z_i|), with the sign y_i, is
on the boundary of i that its cone excludes, and |cos(z_j, w)| = sqrt(1 - mu^2).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, bound, fact
from reluflow.papers.min2024early.caps_search import data_in_space, search_cap, search_gap
from reluflow.papers.min2024early.cone_draws import (
    BOTH_LABELS,
    SEPARABLE,
    a_sign,
    beside,
    data,
    weights,
)
from reluflow.papers.min2024early.constants import cap
from reluflow.papers.min2024early.whole_numbers import (
    serves_exactly,
    signed_whole,
    squared_cosines,
    whole,
)
from reluflow.separable import separable_draws


def cap_exactly(X: NDArray, y: NDArray, sign: float | None = None) -> Fraction:
    """zeta_1 as a fraction, of both cones or with `sign` of one."""
    Z, y = signed_whole(X, y), np.asarray(y)
    signs = sorted(set(y.tolist())) if sign is None else [sign]
    return squared_cosines(np.array([Z[y == s].sum(axis=0) for s in signs]), Z).min()


def caps_serve() -> Statement:
    """ea.lem5-9.4: cos(w, x_+) >= sqrt(1 - zeta) puts w in S_+ for every zeta < zeta_1, and
    cos(w, x_-) in S_- (Lemma 8, eq 19).

    zeta_1 is the lesser of the two cones' own largest values; the one of S_+ alone is not enough
    for S_-. Slack: the least cos^2 of w with the z_i (turned for S_-), with its sign.
    """
    return Statement(
        "the caps of every ζ < ζ₁ are in S₊ and in S₋",
        beside(separable_draws(), _in_cap),
        lambda item: float(_least_in_cap(item)),
        {**BOTH_LABELS, "w is in the cap of some ζ < ζ₁": _is_in_cap},
        strict=True,
        fixed=("y", "sign"),
    )


def cap_is_largest(items: list[Instance], excess: Fraction = Fraction(1, 10**6)) -> Evidence:
    """How many of the data have a point of the cap of (1 + excess)^2 zeta_1 outside its cone.

    With i and u where c = cos(u, z_i) is least, |u| = |z_i| = 1, w = u - (1 + excess) c z_i has
    <z_i, w> < 0 and sin(u, w)^2 = (1 + excess)^2 c^2 (1 - c^2)/(1 - c^2 + excess^2 c^2). Data on
    one line have zeta_1 = 1, and there is no larger cap.
    """
    beyond = sum(_leaves(item, excess) for item in items)
    return fact(
        "data where the cap of (1 + 10⁻⁶)² ζ₁ leaves its cone", (beyond, len(items)),
        (len(items), len(items)), tried=len(items),
    )  # fmt: skip


def one_cap_is_too_large() -> list[Evidence]:
    """x_1 = (1, 1) of label 1, (0, -1) and (-3, -1) of label -1: each cone's own largest zeta, and
    a point that is in the cap of S_+'s about x_-, and not in S_-."""
    X, y = np.array([[1.0, 1.0], [0.0, -1.0], [-3.0, -1.0]]), np.array([1.0, -1.0, -1.0])
    w, x_minus = whole([-1, 0]), whole(X[1] + X[2])
    in_cap = squared_cosines(w[None], x_minus[None])[0, 0] >= 1 - cap_exactly(X, y, 1.0)
    return [
        fact("the largest ζ for S₊ alone", cap_exactly(X, y, 1.0), Fraction(1, 2)),
        fact("the largest ζ for S₋ alone", cap_exactly(X, y, -1.0), Fraction(4, 13)),
        fact("(−1, 0) is within 1/2 about x₋", bool(in_cap), True),
        fact("(−1, 0) is in S₋", serves_exactly(X, y, w, -1.0), False),
    ]


def by_search(seed: int, count: int) -> list[Evidence]:
    """zeta_1 and mu^2 against constrained optimisation: largest differences over `count` data."""
    cap_gap, xi_gap = 0.0, 0.0
    for k, (X, y) in enumerate(data_in_space(seed, count)):
        cap_gap = max(cap_gap, abs(search_cap(X, y, seed + k) - cap(X, y)))
        xi_gap = max(xi_gap, abs(search_gap(X, y, seed + k) - separation(X, y) ** 2))
    return [
        bound("ζ₁: difference from optimisation", cap_gap, "<=", 1e-6, ""),
        bound("ξ: difference from optimisation", xi_gap, "<=", 1e-6, ""),
    ]


def outside_is_far() -> Statement:
    """ea.lem5-9.5: |cos(z, w)| <= sqrt(1 - mu^2) for z in K and w in neither S_+ nor S_- (Lemma 9).

    So xi = mu^2 serves. Slack 1 - mu^2 - cos^2, as a fraction.
    """
    return Statement(
        "|cos(z, w)| ≤ √(1 − μ²) for z in K and w in neither cone",
        beside(data(), _outside),
        _room_outside,
        {**SEPARABLE, "w is in neither cone": _is_outside},
        fixed=("y",),
    )


def gap_is_largest(items: list[Instance]) -> Evidence:
    """|cos(z_j, w)| = sqrt(1 - mu^2) for a w in neither cone: no xi beyond mu^2 serves."""
    reached = sum(_reaches(item) for item in items)
    return fact(
        "data where a w in neither cone reaches √(1 − μ²) exactly", (reached, len(items)),
        (len(items), len(items)), tried=len(items),
    )  # fmt: skip


def plain(seed: int, number: int, dims: tuple[int, int] = (2, 50)) -> list[Instance]:
    """Data of all kinds of draws with both labels, in turn."""
    rng, kinds = np.random.default_rng(seed), list(separable_draws(dims).values())
    return [kinds[k % len(kinds)](rng) for k in range(number)]


def _in_cap(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """w near the edge of the cap of zeta_1 about x_+ or -x_-, a third of them towards a datum's
    boundary. A datum along u is no way from it, and what rounding leaves of it is none."""
    sign = a_sign(rng)
    Z = item["X"] * item["y"][:, None]
    u = Z[item["y"] == sign].sum(axis=0)
    u /= np.linalg.norm(u)
    anywhere, datum = rng.standard_normal(len(u)), Z[rng.integers(len(Z))]
    along = np.linalg.norm(datum - (datum @ u) * u) <= 1e-9 * np.linalg.norm(datum)
    away = anywhere if along or rng.integers(3) else -datum
    away = away - (away @ u) * u
    away /= np.linalg.norm(away)
    share = 1.0 - 10.0 ** rng.uniform(-8.0, 0.0)
    sine = np.sqrt(share * float(cap_exactly(item["X"], item["y"])))
    return {"w": float(sign) * (np.sqrt(1.0 - sine**2) * u + sine * away), "sign": sign}


def _is_in_cap(item: Instance) -> bool:
    """cos(sign w, u)^2 > 1 - zeta_1, and cos > 0."""
    if not np.any(item["w"]):
        return False
    sign, Z = int(item["sign"]), signed_whole(item["X"], item["y"])
    u = Z[np.asarray(item["y"]) == sign].sum(axis=0)
    found = squared_cosines(sign * whole(item["w"])[None], u[None])[0, 0]
    return bool(found > 0 and found > 1 - cap_exactly(item["X"], item["y"]))


def _least_in_cap(item: Instance) -> Fraction:
    Z = signed_whole(item["X"], item["y"])
    return squared_cosines(int(item["sign"]) * whole(item["w"])[None], Z).min()


def _leaves(item: Instance, excess: Fraction) -> bool:
    X, y = item["X"], np.asarray(item["y"])
    Z = signed_whole(X, y)
    signs = sorted(set(y.tolist()))
    U = np.array([Z[y == s].sum(axis=0) for s in signs])
    cosines = squared_cosines(U, Z)
    if cosines.min() == 1:
        return True
    k, i = np.unravel_index(int(np.argmin(cosines)), cosines.shape)
    u, z = U[k], Z[i]
    w = u - (1 + excess) * Fraction(z.dot(u), z.dot(z)) * z
    in_cap = squared_cosines(w[None], u[None])[0, 0] >= 1 - (1 + excess) ** 2 * cosines.min()
    return bool(in_cap and not serves_exactly(X, y, int(signs[k]) * w, signs[k]))


def _outside(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Coefficients a of z in K, and w: any direction, or near the boundary of a datum and as near
    to z as it can be there, with either sign."""
    Z = item["X"] * item["y"][:, None]
    a = weights(len(Z), rng)
    if rng.integers(4) == 0:
        return {"a": a, "w": rng.standard_normal(Z.shape[1])}
    z, x = a @ Z, Z[rng.integers(len(Z))]
    beyond = 1.0 + 10.0 ** rng.uniform(-12.0, 0.0)
    return {"a": a, "w": float(a_sign(rng)) * (z - beyond * (x @ z) / (x @ x) * x)}


def _is_outside(item: Instance) -> bool:
    X, y = item["X"], item["y"]
    w = whole(item["w"])
    any_of = w.any() and np.any(item["a"])
    return bool(any_of) and not any(serves_exactly(X, y, w, s) for s in (1.0, -1.0))


def _room_outside(item: Instance) -> float:
    Z = signed_whole(item["X"], item["y"])
    z = whole(item["a"]).dot(Z)
    squared = abs(squared_cosines(z[None], whole(item["w"])[None])[0, 0])
    return float(1 - squared_cosines(Z, Z).min() - squared)


def _reaches(item: Instance) -> bool:
    X, y = item["X"], np.asarray(item["y"])
    Z = signed_whole(X, y)
    C = squared_cosines(Z, Z)
    i, j = np.unravel_index(int(np.argmin(C)), C.shape)
    w = int(y[i]) * (Z[i].dot(Z[i]) * Z[j] - Z[i].dot(Z[j]) * Z[i])
    if not w.any():  # mu = 1: all data on one line, where every w orthogonal to it does
        return bool(C.min() == 1)
    outside = not any(serves_exactly(X, y, w, s) for s in (1.0, -1.0))
    return outside and abs(squared_cosines(Z[j][None], w[None])[0, 0]) == 1 - C.min()
