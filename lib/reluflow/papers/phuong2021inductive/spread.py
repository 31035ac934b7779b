"""What the start leaves behind: the distance of (8) for starts of any size, in closed form.

From the last change of a pattern on, W_+ W_+^T - a_+ a_+^T = D_+ is constant, with a diagonal of 0.
Let alpha be the limit of a_+ / |a_+|. What W_+ has beside its first singular direction comes to the
size delta_+ = -alpha^T D_+ alpha = sum_jk alpha_j alpha_k |w_j| |w_k| (1 - cos(w_j, w_k)).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement, given, planted
from reluflow.ledger import Evidence, note
from reluflow.margin.max_margin import max_margin
from reluflow.papers.phuong2021inductive.convergence import (
    balanced,
    both_alive,
    replayed,
    separable,
    spoiled,
)
from reluflow.papers.phuong2021inductive.linear_groups import settles
from reluflow.papers.phuong2021inductive.long_flow import Late
from reluflow.papers.phuong2021inductive.start_draws import Survey

NEAR = 0.05
"""How near the slope must be to its limit where log(1/L) = 1e6."""
_LEAST = 1e-2
"""Where the limit is less, 1 / log(1/L) decides the distance up to there."""


def leftover(each: Late, sign: float) -> float:
    """delta_+ (sign 1) or delta_-, from the first moment behind the last change of a pattern."""
    k = int(np.searchsorted(each.tau, settles(each) * np.log(10.0), side="left"))
    mine = each.own(sign)
    U, sizes = each.U[k, mine], np.exp(each.R[k, mine])
    alpha = np.exp(each.R[-1, mine] - np.logaddexp.reduce(2.0 * each.R[-1, mine]) / 2.0)
    apart = np.sum((U[:, None] - U[None]) ** 2, axis=-1) / 2.0
    v = alpha * sizes
    return float(v @ apart @ v)


def dead_square(each: Late) -> float:
    """|W_0|_F^2, of the neurons that stay behind."""
    grown = np.concatenate([each.own(sign) for sign in each.alive])
    rest = np.setdiff1d(np.arange(len(each.given.signs)), grown)
    return float(np.exp(2.0 * each.R[-1, rest]).sum())


def constant(each: Late) -> float:
    """The limit of distance^2 log(1/L): (|W_0|_F^2 + delta_+ + delta_-) / (|w_+| + |w_-|)."""
    left = dead_square(each) + sum(leftover(each, sign) for sign in each.alive)
    return left / each.limit.total


def measured(each: Late) -> NDArray:
    """distance^2 log(1/L) at the moments of a flow, (m,)."""
    return np.asarray(each.distances[:, 0] ** 2 * each.tau)


def by_slope(each: Late) -> float:
    """The limit of distance^2 log(1/L) as the slope of log(1/L) over 1 / distance^2, over the last
    tenth of the clock or from the last change of a pattern on. When that came does not count here;
    in `measured` it does, and is forgotten like 1 / log(1/L) only."""
    first = max(0.1 * each.tau[-1], settles(each) * np.log(10.0))
    k = min(int(np.searchsorted(each.tau, first)), len(each.tau) - 2)
    inverse = each.distances[[k, -1], 0] ** -2.0
    return float((each.tau[-1] - each.tau[k]) / (inverse[1] - inverse[0]))


def _carried(X: NDArray) -> bool:
    """Whether the support examples of X (n, d) span, and all have a positive multiplier."""
    found = max_margin(X, np.ones(len(X)))
    tight, carry = np.abs(X @ found.u - 1.0) < 1e-9, found.multipliers > 0.0
    return bool(np.array_equal(tight, carry) and np.linalg.matrix_rank(X[tight]) == X.shape[1])


def follows_the_law(survey: Survey) -> Statement:
    """os.ours.rate: under (Span), for almost all data, distance of (8)^2 log(1/L) ->
    (|W_0|_F^2 + delta_+ + delta_-) / (|w_+| + |w_-|). The slack is what NEAR leaves of the relative
    distance of the slope of log(1/L) over 1 / distance^2 from the limit; a start that leaves
    almost nothing behind is undecided."""

    def slack(item: Instance) -> float:
        late = item["flow"]
        end = constant(late)
        return (
            NEAR - planted(item) * abs(by_slope(late) / end - 1.0) if end > _LEAST else float("nan")
        )

    def spanning(item: Instance) -> bool:
        data = item["flow"].given
        return separable(item) and all(_carried(data.X[data.y == sign]) for sign in (1.0, -1.0))

    return Statement(
        "the slope of log(1/L) over 1 / distance², up to L = e^(-1e6), comes to its limit",
        replayed(survey),
        slack,
        given("os.ours.rate", data=spanning, flow=balanced, alive=both_alive),
        witness=spoiled(survey, lambda late: constant(late) > _LEAST),
    )


def of_the_law(survey: Survey) -> list[Evidence]:
    """How near the slopes of the flows come."""
    kept = [each for each in survey.found if constant(each) > _LEAST]
    off = [abs(by_slope(each) / constant(each) - 1.0) for each in kept]
    return [
        note("largest relative distance of the slope from the limit", max(off, default=np.nan),
             digits=1),
        note("distance² log(1/L) where L = e^(-1e6), over the limit: least and largest",
             tuple(float(f([measured(e)[-1] / constant(e) for e in kept], default=np.nan))
                   for f in (min, max)), digits=2),
        *survey.kept,
    ]  # fmt: skip


def curves(found: Sequence[Late]) -> list[tuple[float, NDArray, NDArray, float]]:
    """Of every flow: the largest log norm at the start, log(1/L), distance of (8), and the limit of
    distance^2 log(1/L)."""
    return [(float(e.given.log_norms.max()), e.tau, e.distances[:, 0], constant(e)) for e in found]
