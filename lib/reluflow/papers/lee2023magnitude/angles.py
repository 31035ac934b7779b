"""Proposition C.1: the cosine of two independent Gaussian vectors, its exact tail and its bounds.

The cosine c of independent u, v ~ N(0, I) in R^d has density proportional to (1 - c^2)^((d-3)/2),
so (1 + c)/2 has the law Beta((d-1)/2, (d-1)/2); for d = 1 it is 1 or -1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv

from reluflow.errors import InputError
from reluflow.falsify import Instance, Statement, given
from reluflow.ledger import Evidence, bound, deviation, note
from reluflow.papers.lee2023magnitude.sectors import STANDARD_ERRORS


def upper_tail(eps: ArrayLike, d: ArrayLike) -> NDArray:
    """P(u.v / (|u||v|) >= eps) = 1/2 I_(1 - eps^2)((d-1)/2, 1/2), I the regularised incomplete beta
    function; eps > 0 and d >= 1 broadcast. It is 0 for eps > 1, and 1/2 for d = 1, eps <= 1."""
    eps, d = _checked(eps, d)
    inside = np.clip((1.0 - eps) * (1.0 + eps), 0.0, 1.0)
    tail = 0.5 * betainc(np.maximum(d - 1.0, 1.0) / 2.0, 0.5, inside)
    return np.where(d == 1.0, np.where(eps <= 1.0, 0.5, 0.0), tail)


def printed_bound(eps: ArrayLike, d: ArrayLike) -> NDArray:
    """2 exp(-d eps^2 / 2), which Proposition C.1 puts above the tail P(... >= eps)."""
    eps, d = _checked(eps, d)
    return 2.0 * np.exp(-0.5 * d * eps**2)


def half_bound(eps: ArrayLike, d: ArrayLike) -> NDArray:
    """1/2 exp(-d eps^2 / 2), four times smaller; at eps = 0 it is the tail itself."""
    return 0.25 * printed_bound(eps, d)


def proof_bound(eps: ArrayLike, d: ArrayLike) -> NDArray:
    """(1 - eps^2)^(d/2), 0 for eps > 1, which the proof puts above P(... > eps)."""
    eps, d = _checked(eps, d)
    return np.clip((1.0 - eps) * (1.0 + eps), 0.0, 1.0) ** (d / 2.0)


def sampled_cosines(d: int, n: int, rng: np.random.Generator) -> NDArray:
    """Cosines of n independent pairs of Gaussian vectors in R^d, shape (n,)."""
    u, v = rng.normal(size=(2, n, d))
    return np.sum(u * v, axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)


def sampled_shares(
    levels: Sequence[float], dimensions: ArrayLike, n: int, seed: int
) -> dict[float, NDArray]:
    """{eps: shares (k,)} of n sampled pairs of vectors with cosine >= eps, in every dimension."""
    rng = np.random.default_rng(seed)
    cosines = [sampled_cosines(int(d), n, rng) for d in np.asarray(dimensions)]
    return {eps: np.array([np.mean(c >= eps) for c in cosines]) for eps in levels}


def sampled_tail_gap(d: int, levels: ArrayLike, n: int, rng: np.random.Generator) -> float:
    """Largest distance of sampled shares with cosine >= eps from `upper_tail`, in standard errors
    of a share; levels (k,) are values of eps."""
    levels = np.asarray(levels, float)
    share = np.mean(sampled_cosines(d, n, rng)[:, None] >= levels, axis=0)
    tail = upper_tail(levels, d)
    return float(np.max(np.abs(share - tail) / np.sqrt(np.maximum(tail, 1.0 / n) / n)))


def vacuous_until(d: int) -> float:
    """The eps below which the bound of Proposition C.1 exceeds 1 and says nothing."""
    return float(np.sqrt(2.0 * np.log(2.0) / d))


def central_angles(d: int, share: float) -> tuple[float, float]:
    """The angles, in degrees, between which the angle of u and v lies with probability `share`."""
    if not 0.0 < share < 1.0 or d < 2:
        raise InputError(f"share = {share} must lie between 0 and 1, and d = {d} be 2 or more")
    half = np.degrees(np.arcsin(np.sqrt(1.0 - betaincinv((d - 1) / 2.0, 0.5, 1.0 - share))))
    return float(90.0 - half), float(90.0 + half)


def _checked(eps: ArrayLike, d: ArrayLike) -> tuple[NDArray, NDArray]:
    eps, d = np.asarray(eps, float), np.asarray(d, float)
    if np.any(d < 1.0) or np.any(d != np.round(d)):
        raise InputError("d must be a whole number from 1 on")
    if np.any(eps < 0.0):
        raise InputError("eps must not be negative")
    return eps, d


def second_turn() -> float:
    """For d = 2: `half_bound` less `upper_tail` at its second turn, its least value inside (0, 1).

    There its derivative has the sign of -log(pi) - 1/2 log(1 - e^2) - log(e) + e^2, which falls up
    to e^2 = 1 - 1/sqrt(2) and rises from there.
    """

    def sign(eps: float) -> float:
        return -math.log(math.pi * eps) - 0.5 * math.log1p(-(eps**2)) + eps**2

    eps = brentq(sign, math.sqrt(1.0 - math.sqrt(0.5)), 0.99)
    return float(half_bound(eps, 2) - upper_tail(eps, 2))


def _angle_draws(least: int) -> dict[str, Any]:
    """Dimensions d from `least` on and eps > 0: everywhere, far out, and near 1."""

    def dimension(rng: np.random.Generator, top: float = 5.0) -> NDArray:
        return np.array(max(least, int(10.0 ** rng.uniform(0.0, top))))

    def anywhere(rng: np.random.Generator) -> dict[str, NDArray]:
        d = dimension(rng)
        return {"d": d, "eps": np.array(10.0 ** rng.uniform(-6.0, 0.5) / math.sqrt(d) ** 0.5)}

    def far(rng: np.random.Generator) -> dict[str, NDArray]:
        d = dimension(rng)
        return {"d": d, "eps": np.array(math.sqrt(10.0 ** rng.uniform(0.0, 3.0) / d))}

    def near_one(rng: np.random.Generator) -> dict[str, NDArray]:
        d = dimension(rng, 2.5)
        return {"d": d, "eps": np.array(1.0 - 10.0 ** rng.uniform(-12.0, -0.3))}

    return {"anywhere": anywhere, "far out": far, "near 1": near_one}


Tests = Mapping[str, Callable[[Instance], bool]]


def _tail_statement(says: str, cap: Callable[..., NDArray], least: int, tests: Tests) -> Statement:
    def slack(item: Instance) -> float:
        bound = float(cap(item["eps"], item["d"]))
        # Not decided where the bound is no float.
        return 1.0 - float(upper_tail(item["eps"], item["d"])) / bound if bound > 0.0 else math.nan

    return Statement(
        says,
        _angle_draws(least),
        slack,
        tests,
        tolerance=1e-12,
    )  # fmt: skip


def concentration() -> Statement:
    """ma.propC.1: P(cos >= eps) <= 2 exp(-d eps^2 / 2)."""
    tests = {"eps > 0": lambda item: bool(item["eps"] > 0.0)}
    return _tail_statement("P(cos >= eps) <= 2 exp(-d eps^2 / 2)", printed_bound, 1, tests)


def half_concentration() -> Statement:
    """ma.ours.angle.half: a quarter of the bound will do for d >= 2."""
    tests = given(
        "ma.ours.angle.half",
        pair=lambda item: bool(item["d"] >= 2),
        level=lambda item: bool(item["eps"] > 0.0),
    )
    return _tail_statement("P(cos >= eps) <= 1/2 exp(-d eps^2 / 2)", half_bound, 2, tests)


def tails(seed: int, count: int) -> list[Evidence]:
    """The exact tail against closed forms and samples, and how sharp the bounds are."""
    rng = np.random.default_rng(seed)
    eps = np.linspace(0.0, 1.0, 201)
    known = max(
        float(np.abs(upper_tail(eps, 3) - (1.0 - eps) / 2.0).max()),
        float(np.abs(upper_tail(eps, 2) - np.arccos(eps) / np.pi).max()),
    )
    levels = (0.05, 0.1, 0.2, 0.4, 0.8)
    sampled = [sampled_tail_gap(d, levels, 20 * count, rng) for d in (1, 2, 3, 5, 10, 30, 100)]
    in_proof = float(upper_tail(0.99, 2) / proof_bound(0.99, 2))
    return [
        deviation("the tail at d = 2 and 3 against arccos(eps)/pi and (1 - eps)/2", known, ""),
        bound("sampled tails, d = 1, ..., 100, from the exact ones", max(sampled), "<=",
              STANDARD_ERRORS, "standard errors"),
        note("eps up to which the bound says nothing, d = 100",
             float(vacuous_until(100))),
        note("bound and exact tail at d = 100, eps = 0.2",
             tuple(float(f(0.2, 100))
                   for f in (printed_bound, upper_tail))),
        note("tail over the proof's (1 - eps^2)^(d/2) at d = 2, eps = 0.99",
             float(in_proof)),
    ]  # fmt: skip
