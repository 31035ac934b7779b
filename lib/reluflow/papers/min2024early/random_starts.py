"""Gaussian starts: how near a neuron comes to the direction that (A2) forbids it, and how likely it
is active on a datum of its label.

A Gaussian vector has a uniform direction. A direction u of R^D is at an angle of at most a <= pi/2
from a given one with probability I_s((D - 1)/2, 1/2) / 2, s = sin(a)^2, I the regularised
incomplete beta function; in R^1 there are two directions, and the probability is 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from reluflow.flows.alignment import align
from reluflow.ledger import Evidence, Reading, deviation, fact, note
from reluflow.papers.min2024early.constants import clearance
from reluflow.papers.min2024early.random_starts_exact import (
    cap_share,
    plane_share,
    sign_patterns,
    space_share,
)
from reluflow.separable import separable, separable_draws
from reluflow.statistics import wilson

SURE = 1.0 - 1e-6
"""Confidence of the intervals: of a million runs one misses a probability that is right."""


def chance_of_clearance(z: ArrayLike, h: int, D: int) -> NDArray:
    """P(zeta_2 <= z) for h Gaussian neurons in R^D, whatever their signs, 0 <= z < 1."""
    z = np.asarray(z, float)
    near = 0.5 * betainc(0.5 * (D - 1), 0.5, z) if D > 1 else np.full(z.shape, 0.5)
    return 1.0 - (1.0 - near) ** h


def assumption_2_is_sure(seed: int, count: int) -> list[Evidence]:
    """ea.random-init.1: Gaussian starts meet (A2) with probability one, in R^D with D >= 2.

    P(zeta_2 <= z) -> 0 as z -> 0. In R^1 it does not: (A2) leaves each neuron one direction of two,
    and h neurons meet it with probability 2^-h. Closed forms by two routes; `count` draws in each
    of three dimensions, with data of both labels.
    """
    angles = np.linspace(0.02, 1.5, 60)
    gap = max(
        float(np.max(np.abs(chance_of_clearance(np.sin(angles) ** 2, 1, D) - cap_share(angles, D))))
        for D in (2, 3, 4, 5)
    )
    rng, outside, parallel = np.random.default_rng(seed), 0, 0
    for D in (2, 3, 20):
        X, y = separable(4, D, 0.3, rng)
        W = rng.standard_normal((count, D))
        signs = rng.choice([-1.0, 1.0], count)
        nearest = np.array([clearance(X, y, W[k : k + 1], signs[k : k + 1]) for k in range(count)])
        parallel += int((nearest == 0.0).sum())
        for z in (0.05, 0.5):
            low, high = wilson(int((nearest <= z).sum()), count, SURE)
            outside += not low <= chance_of_clearance(z, 1, D) <= high
    return [
        deviation("closed form of P(ζ₂ ≤ z) against that of a cap", gap, ""),
        fact("shares in R², R³, R²⁰ outside their intervals", outside, 0),
        fact("neurons along the forbidden direction", parallel, 0, tried=3 * count),
        *on_a_line(seed, count),
    ]


def on_a_line(seed: int, count: int) -> list[Evidence]:
    """In R^1, x_1 = 1 and x_2 = -1 of labels 1, -1: (A2) holds with probability 2^-h."""
    rng, h = np.random.default_rng(seed + 1), 3
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    W, signs = rng.standard_normal((count, h, 1)), rng.choice([-1.0, 1.0], (count, h))
    met = sum(clearance(X, y, w, s) > 0.0 for w, s in zip(W, signs, strict=True))
    low, high = wilson(met, count, SURE)
    allowed, all_of_them = sign_patterns(h)
    return [
        fact(f"of the {all_of_them} signs of {h} neurons in R¹, allowed by (A2)", allowed, 1),
        fact("2⁻ʰ is in the interval of the draws", bool(low <= 2.0**-h <= high), True),
    ]


def two_dimensions() -> Reading:
    """(A2) and the number of directions."""
    return Reading(
        "D ≥ 2",
        "in R¹ a neuron has two directions, (A2) forbids one of them, and if the signs do not "
        "depend on W₀ h neurons meet it with probability 2⁻ʰ",
    )


def active_share(X: NDArray, y: NDArray, W: NDArray, sign: float = 1.0) -> float:
    """The share of the neurons W (k, d) that are active on a datum of the label `sign`."""
    own = X[np.asarray(y) == sign]
    return float(np.mean(np.any(W @ own.T > 0.0, axis=1)))


def half_start_active(seed: int, count: int, followed: int) -> list[Evidence]:
    """ea.random-init.2: a Gaussian neuron of V_+ is active on a positive datum with probability 1/2
    or more, so that of m some is in S_+ at t_1 with probability 1 - 2^-m or more.

    <x_i, w> > 0 alone has probability 1/2, which is all if n_+ = 1. In the plane it is
    1/2 + alpha/(2 pi), alpha the angle that the positive data span; in space with three of them
    7/8 - sum arcsin rho_ij / (4 pi). `count` draws for each of several data; `followed` neurons
    that begin so go to S_+ in the limit flow.
    """
    rng = np.random.default_rng(seed)
    W = {D: rng.standard_normal((count, D)) for D in (2, 3, 10)}
    cases: list[tuple[NDArray, NDArray, float]] = []
    for _ in range(6):
        X, y = separable(6, 2, float(rng.uniform(0.1, 0.9)), rng)
        cases.append((X, y, plane_share(X[y > 0.0])))
        X, y = separable(3, 3, float(rng.uniform(0.1, 0.9)), rng)
        Z = y[:, None] * X
        cases.append((Z, np.ones(3), space_share(Z)))
    outside = sum(_misses(active_share(X, y, W[X.shape[1]]), p, count) for X, y, p in cases)
    least, below = 1.0, 0
    for k in range(20):
        D = (2, 3, 10)[k % 3]
        X, y = separable(6, D, float(10.0 ** rng.uniform(-3.0, -0.1)), rng)
        for sign in (1.0, -1.0):
            share = active_share(X, y, W[D], sign)
            least = min(least, share)
            below += float(wilson(round(share * count), count, SURE)[1]) < 0.5
    lost = _followed(rng, followed)
    return [
        fact("shares that miss their closed form", outside, 0),
        fact("shares below 1/2", below, 0),
        fact("neurons active on a positive datum that do not end in S₊", lost, 0, tried=followed),
        *single_datum(seed, count),
        note("smallest share", least, digits=2),
    ]


def single_datum(seed: int, count: int) -> list[Evidence]:
    """n_+ = 1, x_1 = (1, 0) and x_2 = (-1, 0): the chance is 1/2, and with m = 3 it is 7/8.

    With signs that look at W_0 it can be 0: v_j > 0 for the neurons with <x_1, w_j> <= 0 alone.
    All of them die.
    """
    rng, m = np.random.default_rng(seed + 1), 3
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    W = rng.standard_normal((count, m, 2))
    hits = int(np.any(W[:, :, 0] > 0.0, axis=1).sum())
    low, high = wilson(hits, count, SURE)
    chosen = W[:, 0][W[:, 0, 0] <= 0.0][:100]
    ends = [align(X, y, w).status for w in chosen]
    return [
        fact("1 − 2⁻³ is in the interval of three neurons", bool(low <= 0.875 <= high), True),
        fact("signs that look: neurons of V₊ that die", ends.count("dead"), len(ends)),
    ]


def independent_signs() -> Reading:
    """What the count of m neurons needs."""
    return Reading(
        "the signs are drawn without a look at W₀, and ε is small enough for the W₀ that came",
        "with signs that may depend on W₀ the chance can be 0: for x = (1, 0) and (−1, 0) of "
        "labels 1 and −1 let vⱼ > 0 only where ⟨x₁, wⱼ⟩ ≤ 0, and all of V₊ dies; and no ε is "
        "small enough for every W₀",
    )


def _misses(share: float, probability: float, count: int) -> bool:
    low, high = wilson(round(share * count), count, SURE)
    return not low <= probability <= high


def _followed(rng: np.random.Generator, number: int) -> int:
    """Of Gaussian neurons that begin active on a positive datum, those that do not end in S_+."""
    kinds, lost, done = list(separable_draws((2, 20)).values()), 0, 0
    while done < number:
        item: Any = kinds[done % len(kinds)](rng)
        w = rng.standard_normal(item["X"].shape[1])
        if np.any(item["X"][item["y"] > 0.0] @ w > 0.0):
            lost += align(item["X"], item["y"], w).status != "serves"
            done += 1
    return lost


def shares_below(mu: Sequence[float], h: int, dims: Sequence[int]) -> NDArray:
    """P(zeta_2 <= mu^2) (len(dims), len(mu)): how often the start, not the data, decides m_2."""
    return np.array([[chance_of_clearance(m**2, h, D) for m in mu] for D in dims])
