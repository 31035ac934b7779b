"""Theorem 1, part 2, Appendix D.3: the first layer comes down to two directions, and less.

From t_1 on either group is a linear network, and W_+^T W_+ - v_+ v_+^T stays. Of a group of squared
length a along a unit vector p, and another of b along q, the two singular values give

    |W|_F^2 / |W|_2^2 = 2 (a + b) / (a + b + r),    r^2 = (a - b)^2 + 4 a b <p, q>^2,

which is at most 2 / (1 + |<p, q>|), and that where a = b.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.falsify import Instance, Statement, given
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, bound, deviation, fact, note
from reluflow.margin.max_margin import MaxMargin, max_margin
from reluflow.papers.min2024early.limit_time import both_labels, odd
from reluflow.papers.min2024early.low_rank_exact import sharp_pair
from reluflow.papers.min2024early.whole import Moments, Whole
from reluflow.papers.min2024early.whole_draws import Survey, followed, late
from reluflow.separable import separable_draws

ROUNDING = 1e-9
"""Singular values of unit vectors in floats, relatively."""
CITED = "Ji and Telgarsky 2020, Theorem 3.1, and Lyu and Li 2020 on points of KKT"
"""Directional convergence of homogeneous networks, and where they go."""
LIMIT = 1e-3
"""How near the stable rank must be to its limit where log(1/L) = 1e6, relatively."""


def stable_rank(p: NDArray, q: NDArray, a: float, b: float) -> float:
    """|W|_F^2 / |W|_2^2 of two groups: squared length a along p (d,), and b along q (d,)."""
    cosine = float(p @ q) / float(np.linalg.norm(p) * np.linalg.norm(q))
    root = np.sqrt((a - b) ** 2 + 4.0 * a * b * cosine**2)
    return float(2.0 * (a + b) / (a + b + root))


def max_margins(X: NDArray, y: NDArray) -> tuple[MaxMargin, MaxMargin]:
    """The shortest u_+ with <x_i, u_+> >= 1 on I_+, and the shortest u_- with the same on I_-."""
    plus, minus = (max_margin(X[y == s], np.ones(int(np.sum(y == s)))) for s in (1.0, -1.0))
    return plus, minus


def limit_rank(X: NDArray, y: NDArray) -> float:
    """The limit of |W|_F^2 / |W|_2^2: the groups point along u_+ and u_-, and their squared lengths
    are as |u_+| to |u_-|, since log(1/L) of either is its squared length over |u|."""
    plus, minus = max_margins(X, y)
    return stable_rank(plus.u, minus.u, plus.length, minus.length)


def stable_ranks(moments: Moments) -> NDArray:
    """|W|_F^2 / |W|_2^2 (m,) at moments."""
    whole = np.exp(2.0 * (moments.R - moments.R.max(axis=1, keepdims=True))).sum(axis=1)
    return np.asarray(whole / _largest(moments))


def excess(each: Whole, moments: Moments) -> NDArray:
    """(2 |W|_2^2 + 4 sqrt(h) eps W_max^2 - |W|_F^2) / |W|_F^2 at moments (m,), >= 0 by D.3."""
    return _less(each, moments, 2.0 * _largest(moments)[:, None])


def excess_of_groups(each: Whole, moments: Moments) -> NDArray:
    """The same with |W_+|_2^2 + |W_-|_2^2 in place of 2 |W|_2^2, the sharper bound on the way."""
    groups = [
        replace(moments, R=np.where(each.given.signs == s, moments.R, -np.inf)) for s in (1.0, -1.0)
    ]
    top = moments.R.max(axis=1)
    return _less(each, moments, np.stack([_largest(g, top) for g in groups], axis=1))


def _largest(moments: Moments, top: NDArray | None = None) -> NDArray:
    """|W|_2^2 e^(-2 top) (m,), top (m,) the largest log norm unless given."""
    top = moments.R.max(axis=1) if top is None else top
    W = np.exp(moments.R - top[:, None])[..., None] * moments.U
    return np.asarray(np.linalg.svd(W, compute_uv=False)[:, 0] ** 2)


def _less(each: Whole, moments: Moments, squares: NDArray) -> NDArray:
    given, top = each.given, moments.R.max(axis=1)
    whole = np.exp(2.0 * (moments.R - top[:, None])).sum(axis=1)
    start = given.start
    with np.errstate(over="ignore"):
        room = 4.0 * np.sqrt(start.h) * start.W_max**2 * np.exp(given.log_eps - 2.0 * top)
    return np.asarray((squares.sum(axis=1) + room - whole) / whole)


def nearly_two(survey: Survey) -> list[Evidence]:
    """ea.thm1.rank.1: |W|_F^2 <= 2 |W|_2^2 + 4 sqrt(h) eps W_max^2 for all t >= t_1 (Theorem 1,
    part 2, with the constant of D.3)."""
    worst, sharper, late = [], [], []
    for each in survey.found:
        for moments in (each.waiting, each.falling):
            worst.append(float(excess(each, moments).min()))
            sharper.append(float(excess_of_groups(each, moments).min()))
        late.append(float(excess(each, moments)[-1]))
    return [
        fact("trajectories on which the bound fails from t₁ to ln L = -10⁶",
             sum(s < -ROUNDING for s in worst), 0, tried=len(survey.found)),
        fact("those on which |W|_F² ≤ |W₊|₂² + |W₋|₂² + 4 √h ε W_max² fails",
             sum(s < -ROUNDING for s in sharper), 0, tried=len(survey.found)),
        note("2 |W|₂² / |W|_F² - 1 at the end: least, largest", (min(late), max(late)), digits=2),
        *followed(survey),
    ]  # fmt: skip


def at_most_two(survey: Survey) -> list[Evidence]:
    """ea.thm1.rank.2: |W| -> infinity, and limsup |W|_F^2 / |W|_2^2 <= 2 (Theorem 1, part 2)."""
    ends = [_end(each) for each in survey.found]
    grown = sum(not _grows(each) for each in survey.found)
    return [
        bound("largest stable rank where ln L = -10⁶", max(rank for rank, _ in ends), "<=", 2.0,
              "", digits=3),
        fact("trajectories whose norm does not grow to where ln L = -10⁶", grown, 0,
             tried=len(ends)),
        bound("largest relative deviation there from the limit in closed form",
              max(abs(rank / limit - 1.0) for rank, limit in ends), "<=", LIMIT, "", digits=2),
        *followed(survey),
    ]  # fmt: skip


def _end(each: Whole) -> tuple[float, float]:
    """The stable rank at the end of a trajectory, and its limit."""
    return float(stable_ranks(each.falling)[-1]), limit_rank(each.given.X, each.given.y)


def _grows(each: Whole) -> bool:
    """Whether |W|^2 is at least log(1/L) / X_max - log n / X_max at the end, as the outputs ask."""
    last = each.falling
    data = each.given.data
    needed = (-last.log_loss[-1] - np.log(2.0 * data.n)) / data.X_max
    return bool(np.exp(2.0 * last.R[-1]).sum() >= (1.0 - ROUNDING) * needed)


def below_two() -> Statement:
    """ea.ours.rank: the stable rank tends to a limit, at most 2/(1 + mu) < 2 (sharpens D.3).

    The slack is 2/(1 + mu) less the limit in closed form.
    """

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        mu = separation(X, y)
        try:
            limit = limit_rank(X, y) if mu > 1e-6 else np.nan
        except InputError:  # lengths over twelve decades: no margin that rounding can tell
            limit = np.nan
        return float(2.0 / (1.0 + mu) - limit)

    return Statement(
        "the limit of |W|_F² / |W|₂² is at most 2 / (1 + μ)",
        {**separable_draws(sizes=(2, 8)), "odd": odd},
        slack,
        given("ea.ours.rank", setting=both_labels),
        tolerance=1e-7,
        fixed=("y",),
    )  # fmt: skip


def reaches_its_limit(survey: Survey, behind: Survey) -> list[Evidence]:
    """Flows against the closed form, those `behind` from late starts among them, and the pair of
    data on which 2/(1 + mu) is reached."""
    ends = [_end(each) for each in (*survey.found, *behind.found)]
    X, y = np.array([[5.0, 0.0], [-3.0, 4.0]]), np.array([1.0, -1.0])
    return [
        deviation("stable rank where ln L = -10⁶ against its limit, relatively",
                  max(abs(rank / limit - 1.0) for rank, limit in ends), "", digits=2),
        late(behind),
        fact("limit for the data (5, 0) and (-3, 4), in exact arithmetic", sharp_pair(), "5/4"),
        deviation("the same in floats against 2/(1 + 3/5)", abs(limit_rank(X, y) - 1.25), ""),
    ]  # fmt: skip
