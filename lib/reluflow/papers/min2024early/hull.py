"""K, the hull of the signed data: its narrowness (Lemma 5) and its place in the cones (Lemma 7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.papers.min2024early.cone_draws import SEPARABLE, a_sign, beside, data, weights
from reluflow.papers.min2024early.whole_numbers import signed_whole, squared_cosines, whole


def narrow() -> Statement:
    """ea.lem5-9.1: cos(z_1, z_2) >= mu for all z_1, z_2 of K other than 0 (Lemma 5).

    With z_1 = sum_i a_i z_i, z_2 = sum_j b_j z_j: <z_1, z_2> >= mu sum_i a_i |z_i| sum_j b_j |z_j|,
    which is mu |z_1| |z_2| or more. Equality at two generators. Slack cos^2 / mu^2 - 1, as a
    fraction.
    """
    return Statement(
        "cos(z₁, z₂) ≥ μ on K",
        beside(data(), lambda item, rng: {"a": _drawn(item, rng), "b": _drawn(item, rng)}),
        _excess,
        {**SEPARABLE, "z_1 and z_2 are not 0": _not_zero},
        fixed=("y",),
    )


def inside() -> Statement:
    """ea.lem5-9.3: the ball of angle arcsin mu about each direction of K is in S_+, and about each
    of -K in S_- (Lemma 7).

    <z_i, z> >= mu |z_i| |z| on K by Lemma 5, so w = z + e with |e| < mu |z| has <z_i, w> > 0 for
    all i. The proof's margin, mu X_min for unit z, is reached where x_i is shortest and at the
    angle arccos mu from z. Slack: the least cos^2 of w with the z_i, with the sign of cos.
    """
    return Statement(
        "what is nearer to K than arcsin μ is in S₊, with the other sign in S₋",
        beside(data(), _near_hull),
        lambda item: float(_least_squared_cosine(item)),
        {**SEPARABLE, "|e| < μ |z|": _is_near},
        strict=True,
        fixed=("y", "sign"),
    )


def margin() -> Statement:
    """<z_i, z> >= mu X_min |z| for z in K, the margin of Lemma 7's proof, by its square."""
    return Statement(
        "⟨yᵢxᵢ, z⟩ ≥ μ X_min ‖z‖ on K",
        beside(data(), lambda item, rng: {"a": _drawn(item, rng)}),
        _margin_excess,
        {**SEPARABLE, "z is not 0": lambda item: bool(np.any(item["a"]))},
        fixed=("y",),
    )


def _drawn(item: Instance, rng: np.random.Generator) -> NDArray:
    return weights(len(item["y"]), rng)


def _not_zero(item: Instance) -> bool:
    return bool(np.any(item["a"]) and np.any(item["b"]))


def _excess(item: Instance) -> float:
    Z = signed_whole(item["X"], item["y"])
    ends = [whole(item[name]).dot(Z)[None] for name in ("a", "b")]
    least = squared_cosines(Z, Z).min()
    return float(squared_cosines(*ends)[0, 0] / least - 1)


def _margin_excess(item: Instance) -> float:
    """<z_i, z>^2 / (mu X_min |z|)^2 - 1, the least over i; all inner products are positive."""
    Z = signed_whole(item["X"], item["y"])
    z = whole(item["a"]).dot(Z)
    asked = squared_cosines(Z, Z).min() * min(row.dot(row) for row in Z) * z.dot(z)
    least = min(row.dot(z) for row in Z)
    return float(least * abs(least) / asked - 1)


def _near_hull(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Coefficients a of z in K, a vector e with |e| < mu |z|, and the sign of the cone.

    A third of the e points straight away from a datum, where room is least.
    """
    Z = item["X"] * item["y"][:, None]
    a = weights(len(Z), rng)
    away = rng.standard_normal(Z.shape[1])
    if rng.integers(3) == 0:
        away = -Z[rng.integers(len(Z))]
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    reach = float((unit @ unit.T).min()) * np.linalg.norm(a @ Z)
    share = 1.0 - 10.0 ** rng.uniform(-9.0, 0.0)
    return {"a": a, "e": share * reach * away / np.linalg.norm(away), "sign": a_sign(rng)}


def _parts(item: Instance) -> tuple[NDArray, NDArray, NDArray]:
    """z_i (n, d), z (d,) and e (d,), all times one whole number."""
    stacked = whole(np.vstack([item["X"], item["e"][None]]))
    Z = stacked[:-1] * whole(item["y"])[:, None]
    a = whole(np.append(item["a"], 1.0))
    return Z, a[:-1].dot(Z), a[-1] * stacked[-1]


def _is_near(item: Instance) -> bool:
    if not np.any(item["a"]):
        return False
    Z, z, e = _parts(item)
    return bool(e.dot(e) < squared_cosines(Z, Z).min() * z.dot(z))


def _least_squared_cosine(item: Instance) -> Any:
    """Of w = sign (z + e): the least over i of sign(c) c^2, c = sign cos(z_i, w)."""
    Z, z, e = _parts(item)
    w = int(item["sign"]) * (z + e)
    return squared_cosines(int(item["sign"]) * w[None], Z).min()
