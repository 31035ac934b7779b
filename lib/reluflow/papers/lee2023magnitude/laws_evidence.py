"""Lemma 2.1 and Propositions B.1, B.2 and C.1, and what is true instead, as evidence.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.falsify import Statement, falsify
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import angles, densities, laws, minimiser
from reluflow.rational import rationals

Settlement = dict[str, Any]

ANGLES = (1e-6, 1e-3, 0.3, 1.0, math.pi / 2, 2.0, 3.0, math.pi - 1e-3, math.pi - 1e-6)
"""Angles between u and v: the two ends, where the printed formula cancels, and between."""

STANDARD_ERRORS = 7.0
"""A sampled mean may be this far off: of 1000 entries that are right none is, whatever the seed."""

MERCEDES = ((1, 0), (0, 1), (-1, -1))
"""Three points of mean zero that span the plane: the smallest law with several minimisers."""

TEACHER = (-1, -1)


def _pairs(rng: np.random.Generator, count: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Unit vectors u, v in random planes, d = 2, 3, 5, 10, at ANGLES and `count` random angles."""
    for theta in (*ANGLES, *rng.uniform(0.0, math.pi, count)):
        for d in (2, 3, 5, 10):
            u, e = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
            v = math.cos(theta) * u + math.sin(theta) * e
            yield u / np.linalg.norm(u), v / np.linalg.norm(v)


def sector_moments(seed: int, count: int) -> Settlement:
    """Lemma 2.1: the printed matrices against quadrature and against samples of N(0, I)."""
    rng = np.random.default_rng(seed)
    worst = half = product = 0.0
    pairs = list(_pairs(rng, count // 10))
    for u, v in pairs:
        theta, eye = laws.angle(u, v), np.eye(len(u))
        measured = laws.gaussian_sector(theta).matrix(u, v)
        worst = max(worst, float(np.abs(measured - laws.printed_sector_moment(u, v)).max()))
        other = laws.gaussian_sector(math.pi - theta).matrix(u, -v)
        half = max(half, float(np.abs(measured + other - 0.5 * eye).max()))
        product = max(product, abs(float(u @ measured @ v) - float(laws.relu_correlation(theta))))
    sampled = max(laws.sampled_gap(laws.GAUSSIAN, u, v, 100 * count, rng) for u, v in pairs[8:24])
    limit = max(float(np.abs(laws.sector_moment(u, -u)).max()) for u, _ in pairs)
    opposite = laws.printed_sector_moment([1.0], [-1.0])
    return {
        "evidence": [
            deviation("largest error of an entry for the sector, against quadrature", worst, ""),
            deviation("the sectors of v and of -v together, against I/2", half, ""),
            deviation("largest error of E[s(u.x) s(v.x)], against quadrature", product, ""),
            bound("largest distance of an entry from its sampled mean", sampled, "<=",
                  STANDARD_ERRORS, "standard errors"),
            deviation("the sector's matrix continued to v = -u, against 0", limit, ""),
            note("pairs u, v in d = 2, 3, 5, 10", len(pairs)),
            note("seed", seed),
        ],
        "tolerance": 1e-9,
        "reading": Reading(
            taken="at v = -u, which is distinct from u, the formula is read as its limit, 0: the "
            "sector is empty there",
            others="letter by letter it is 0/0 at v = -u"
            + (
                "; for d = 1 that is the only pair of distinct unit vectors"
                if np.isnan(opposite).all()
                else ""
            ),
        ),
    }  # fmt: skip


def sphere_moments(seed: int, count: int) -> Settlement:
    """Proposition B.1: the matrices of the unit sphere are 1/d times those of N(0, I)."""
    rng = np.random.default_rng(seed)
    worst = half = 0.0
    pairs = list(_pairs(rng, count // 10))
    for u, v in pairs:
        d, theta = len(u), laws.angle(u, v)
        on_sphere = laws.sphere_sector(theta, d).matrix(u, v)
        gaussian = laws.gaussian_sector(theta).matrix(u, v)
        worst = max(worst, float(np.abs(d * on_sphere - gaussian).max()))
        other = laws.sphere_sector(math.pi - theta, d).matrix(u, -v)
        half = max(half, float(np.abs(d * (on_sphere + other) - 0.5 * np.eye(d)).max()))
    sampled = max(laws.sampled_gap(laws.SPHERE, u, v, 100 * count, rng) for u, v in pairs[8:24])
    # d = 1: x is 1 or -1, and u = 1, v = -1 is the only pair.
    line = [sum(x * x for x in (-1, 1) if x > 0) / 2, sum(x * x for x in (-1, 1) if x > 0 > x) / 2]
    return {
        "evidence": [
            deviation("largest |d M_sphere - M_Gauss|, both by quadrature", worst, ""),
            deviation("the half-space, d M_sphere against I/2", half, ""),
            fact("d = 1: the two matrices are 1/2 and 0", line == [0.5, 0], True),
            bound("largest distance of an entry from its sampled mean", sampled, "<=",
                  STANDARD_ERRORS, "standard errors"),
            note("pairs u, v in d = 2, 3, 5, 10", len(pairs)),
            note("seed", seed),
        ],
        "tolerance": 1e-9,
    }  # fmt: skip


def radial_moments(seed: int, count: int) -> Settlement:
    """Other spherically symmetric laws: the factor is E|x|^2 / d, if that is finite."""
    rng = np.random.default_rng(seed)
    pairs = list(_pairs(rng, 0))[8:24]
    gaps = [
        laws.sampled_gap(law, u, v, 100 * count, rng)
        for law in (laws.BALL, laws.STUDENT, laws.SHELLS)
        for u, v in pairs
    ]
    near, far = (_cauchy_square(radius) for radius in (1e2, 1e4))
    return {
        "evidence": [
            bound("largest distance of an entry from its sampled mean: unit ball, Student's law "
                  "with 9 degrees of freedom, 0 or radius 3 evenly", max(gaps), "<=",
                  STANDARD_ERRORS, "standard errors"),
            bound("Cauchy's law, d = 2: E[|x|^2; |x| < 10^4] over E[|x|^2; |x| < 10^2]",
                  far / near, ">", 50.0, ""),
            note("matrices sampled", len(gaps)),
            note("seed", seed),
        ]
    }  # fmt: skip


def _cauchy_square(radius: float) -> float:
    """E[|x|^2; |x| < radius] for the density r / (1 + r^2)^(3/2) of |x|."""
    return math.sqrt(1.0 + radius**2) + 1.0 / math.sqrt(1.0 + radius**2) - 2.0


def small_laws_table() -> pd.DataFrame:
    """Uniform laws of mean zero and full rank on n points of {-1, 0, 1}^d, enumerated."""
    rows = [minimiser.small_laws(d, n) for d, n in ((1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (2, 5))]
    return pd.DataFrame(
        [
            {"d": s.d, "points": s.n, "laws": s.laws, "pairs of law and w*": s.pairs,
             "with several minimisers": s.several}
            for s in rows
        ]
    ).set_index(["d", "points"])  # fmt: skip


def unique_minimiser(seed: int, count: int) -> Settlement:
    """Proposition B.2: refuted by three points in the plane."""
    rng = np.random.default_rng(seed)
    random = [minimiser.random_law(rng, 3, 5, False) for _ in range(count)]
    several = sum(not minimiser.is_only_minimiser(law, rng.integers(-3, 4, 3)) for law in random)
    line = [minimiser.small_laws(1, n).several for n in (2, 3)]
    law = minimiser.finite_law(MERCEDES)
    low, high = minimiser.extent(law, TEACHER, (1.0, 0.0))
    others = [(Fraction(-2), Fraction(0)), (Fraction(-3, 2), Fraction(-1, 2)), (0, -2)]
    zero = sum(minimiser.population_loss(law, w, TEACHER) == 0 for w in others)
    return {
        "evidence": [
            fact("random laws on six points of space, each with a random w*: those with several "
                 "minimisers", several, 0),
            fact("uniform laws on 3 points of {-1, 0, 1}^2, pairs with several minimisers",
                 minimiser.small_laws(2, 3).several, 0),
            fact("the same in d = 1, on 2 and on 3 points", sum(line), 0),
            note("random laws", count),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
            instance={
                "x, each with probability 1/3": np.array(MERCEDES),
                "w*": np.array(TEACHER),
                "other minimisers": "w = (-2 + s, -s), 0 <= s <= 2",
            },
            assumptions={
                "E x = 0": law.has_zero_mean,
                "E xx^T has full rank": law.has_full_rank,
            },
            breaks=(bound("width along w_1 of the set of minimisers, by linear programming",
                          high - low, "<=", 0, ""),),
            recheck=(fact("of (-2, 0), (-3/2, -1/2) and (0, -2), those with L = 0", zero, 0),),
            route="the loss (13) itself, summed in rational arithmetic",
        ),
    }  # fmt: skip


def _decided(
    pairs: list[tuple[minimiser.FiniteLaw, NDArray]],
) -> tuple[list[bool], list[Evidence]]:
    """Whether w* is the only minimiser, for each pair, and that linear programming agrees."""
    only = [minimiser.is_only_minimiser(law, target) for law, target in pairs]
    wide = [minimiser.width(law, target) > 1e-7 for law, target in pairs]
    differ = sum(a == b for a, b in zip(only, wide, strict=True))
    return only, [
        fact("pairs on which linear programming disagrees", differ, 0),
        note("pairs of a law and a teacher", len(pairs)),
    ]


def symmetric_minimiser(seed: int, count: int) -> Settlement:
    """Proposition B.2 for laws of x that are laws of -x too."""
    rng = np.random.default_rng(seed)
    pairs = []
    for k in range(count):
        d = 1 + k % 3
        law = minimiser.random_law(rng, d, int(rng.integers(d, d + 3)), True)
        targets = list(minimiser.telling_targets(law, rng, 2))
        # Inside a cell, or one of those on boundaries.
        pairs.append((law, targets[0 if k % 3 == 0 else -1 - k % len(targets[-4:])]))
    on_edge = sum(any(minimiser.dot(x, rationals(w)) == 0 for x in law.points) for law, w in pairs)
    only, agreed = _decided(pairs)
    return {
        "evidence": [
            fact("symmetric laws of full rank with several minimisers", only.count(False), 0),
            fact("of these laws, those that are symmetric, of mean zero and of full rank",
                 sum(law.is_symmetric and law.has_zero_mean and law.has_full_rank
                     for law, _ in pairs), len(pairs)),
            *agreed,
            note("teachers with a point on their boundary", on_edge),
            note("seed", seed),
        ]
    }  # fmt: skip


def minimiser_of_finite_laws(seed: int, count: int) -> Settlement:
    """For which laws on finitely many points all w* are unique: every side spans."""
    rng = np.random.default_rng(seed)
    wrong, spanning, pairs = 0, 0, []
    for k in range(count):
        d = 1 + k % 3
        law = minimiser.random_law(rng, d, int(rng.integers(d, 2 * d + 4)), k % 5 == 0)
        targets = list(minimiser.telling_targets(law, rng, 3))
        spans = minimiser.spans_every_side(law)
        wrong += spans != all(minimiser.is_only_minimiser(law, target) for target in targets)
        spanning += spans
        pairs.append((law, targets[int(rng.integers(len(targets)))]))
    _, agreed = _decided(pairs)
    return {
        "evidence": [
            fact("laws for which the condition and the teachers tried disagree", wrong, 0),
            bound("laws that meet the condition", spanning, ">", 0, ""),
            bound("laws that do not", count - spanning, ">", 0, ""),
            *agreed,
            note("seed", seed),
        ]
    }


def minimiser_of_densities(seed: int, count: int) -> Settlement:
    """Laws that give no hyperplane through 0 any mass: laws on points with several minimisers, each
    point spread over a triangle, are tried at an old minimiser, exactly."""
    rng, zero, least = np.random.default_rng(seed), 0, []
    for _ in range(count):
        points, target, other = _several_minimisers(rng)
        size = Fraction(1, int(rng.integers(2, 200)))
        law = densities.smeared(points, size)
        loss = densities.density_loss(law, other, target)
        zero += loss == 0 or not law.has_zero_mean
        least.append(loss / size**2)
    spread = densities.smeared([(-3, 1), (-2, -1), (-4, 0)], Fraction(1, 10))
    dead = densities.density_loss(spread, (2, 0), (1, 0))
    losses = [
        densities.density_loss(densities.smeared(MERCEDES, size), (-2, 0), TEACHER)
        for size in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
    ]
    return {
        "evidence": [
            fact("laws on points with several minimisers, each point spread over a triangle: those "
                 "with L = 0 at another old minimiser", zero, 0, tried=count),
            fact("the same for a law of mean other than 0, all on the silent side of w*: L(2 w*)",
                 dead, 0),
            bound("the three points spread over triangles of size 1/100: L(-2, 0)", losses[-1],
                  ">", 0, ""),
            note("the same at size 1/2, 1/10, 1/100",
                 tuple(map(float, losses))),
            note("least L/size^2 of the laws drawn", float(min(least)), digits=2),
            note("seed", seed),
        ]
    }  # fmt: skip


def _several_minimisers(rng: np.random.Generator) -> tuple[list[Any], Any, Any]:
    """Points (k, 2) of mean 0 that span the plane, a teacher that is active on one line of them
    alone, and another minimiser, all rational: w* + s v with v orthogonal to the active points."""
    while True:
        points = [
            tuple(int(a) for a in x) for x in rng.integers(-3, 4, (int(rng.integers(2, 5)), 2))
        ]
        points.append(tuple(-sum(x[i] for x in points) for i in range(2)))
        target = tuple(int(a) for a in rng.integers(-3, 4, 2))
        heights = [minimiser.dot(x, target) for x in points]
        active = [x for x, h in zip(points, heights, strict=True) if h > 0]
        if not active or np.linalg.matrix_rank(active) > 1 or np.linalg.matrix_rank(points) < 2:
            continue
        across = (-active[0][1], active[0][0])
        steep = [(minimiser.dot(x, across), h) for x, h in zip(points, heights, strict=True)]
        limits = [Fraction(-h, up) for up, h in steep if h <= 0 and up > 0]
        share = min([Fraction(2), *limits]) / 2
        if share > 0:
            return points, target, tuple(a + share * b for a, b in zip(target, across, strict=True))


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


def _tail_statement(says: str, cap: Any, least: int) -> Statement:
    return Statement(
        says,
        _angle_draws(least),
        lambda item: float(1.0 - angles.upper_tail(item["eps"], item["d"])
                           / cap(item["eps"], item["d"])),
        {"d eps^2 <= 1400, so that the bound is a float":
         lambda item: bool(item["d"] * item["eps"] ** 2 <= 1400.0)},
        tolerance=1e-12,
    )  # fmt: skip


def angle_concentration(seed: int, count: int) -> Settlement:
    """Proposition C.1 against the exact tail, which samples confirm."""
    rng = np.random.default_rng(seed)
    eps = np.linspace(0.0, 1.0, 201)
    known = max(
        float(np.abs(angles.upper_tail(eps, 3) - (1.0 - eps) / 2.0).max()),
        float(np.abs(angles.upper_tail(eps, 2) - np.arccos(eps) / np.pi).max()),
    )
    levels = (0.05, 0.1, 0.2, 0.4, 0.8)
    sampled = [
        angles.sampled_tail_gap(d, levels, 20 * count, rng) for d in (1, 2, 3, 5, 10, 30, 100)
    ]
    report = falsify(
        _tail_statement("P(cos >= eps) <= 2 exp(-d eps^2 / 2)", angles.printed_bound, 1),
        seed, 10 * count, count,
    )  # fmt: skip
    in_proof = float(angles.upper_tail(0.99, 2) / angles.proof_bound(0.99, 2))
    return {
        "evidence": [
            *report.evidence(),
            deviation("the tail at d = 2 and 3 against arccos(eps)/pi and (1 - eps)/2", known, ""),
            bound("sampled tails, d = 1, ..., 100, from the exact ones", max(sampled), "<=",
                  STANDARD_ERRORS, "standard errors"),
            note("eps up to which the bound says nothing, d = 100",
                 float(angles.vacuous_until(100))),
            note("bound and exact tail at d = 100, eps = 0.2",
                 tuple(float(f(0.2, 100))
                       for f in (angles.printed_bound, angles.upper_tail))),
            note("tail over the proof's (1 - eps^2)^(d/2) at d = 2, eps = 0.99",
                 float(in_proof)),
        ],
        "tolerance": 1e-9,
    }  # fmt: skip


def angle_half(seed: int, count: int) -> Settlement:
    """The tail is at most half of exp(-d eps^2 / 2) for d >= 2, and this fails for d = 1."""
    report = falsify(
        _tail_statement("P(cos >= eps) <= 1/2 exp(-d eps^2 / 2)", angles.half_bound, 2),
        seed, 10 * count, count,
    )  # fmt: skip
    return {
        "evidence": [
            *report.evidence(),
            fact("it holds at d = 1, eps = 1/2",
                 bool(angles.upper_tail(0.5, 1) <= angles.half_bound(0.5, 1)), False),
        ]
    }  # fmt: skip
