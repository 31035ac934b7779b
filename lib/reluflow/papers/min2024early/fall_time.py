"""When the loss begins to fall: t_2 of Theorem 1, part 2, and eqs (36)-(39) of Appendix D.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.papers.min2024early import constants
from reluflow.papers.min2024early.fall_time_exact import collinear_fall
from reluflow.papers.min2024early.late_neuron import AT_THE_NUMBER, OnlyLate
from reluflow.papers.min2024early.whole import Begun, Lost, Start, begin
from reluflow.papers.min2024early.whole_draws import LATE, Survey, allowed, followed, late, starts

MANY = (1, 99)
"""Numbers of positive data that face a single negative one."""
GAP = 0.05
"""By how much |x| t_2 - log(1/eps) may change from the largest eps allowed to its tenth power."""
_AT_MOST = 1000
"""Starts that are looked through for some that are not too small."""
_SMALLEST = -1e5
"""The least log eps allowed of which the tenth power is followed."""


OF_THE_DATA = Reading(
    "The constants may depend on the whole data set, n₊ and n₋ among it, as the theorem says of "
    "its orders; that of t₂ is then log(1/ε), and the factor 1/n says nothing.",
    "With constants that do not know n the order is wrong: for one negative datum against n - 1 "
    "positive ones n t₂ / log(1/(√h ε)) grows like n. (The letter of the order is hard to read in "
    "the text that we have; the proof bounds from above.)",
)
"""How the order of t_2 is read."""


def bounds(each: Begun) -> dict[float, float]:
    """{1: bound (39) on t_2^+, -1: that on t_2^-}."""
    given = each.given
    return {s: constants.fit_time(given.data, given.start, given.log_eps, each.t_1, s)
            for s in each.t_2}  # fmt: skip


def falls_in_time(survey: Survey, only: OnlyLate) -> list[Evidence]:
    """ea.thm1.loss.2: t_2^+ <= t_1 + 6/g + (4/g) (log(2/(eps^2 sqrt(mu) X_min W_min^2)) +
    4 n X_max t_1), g = sqrt(mu) n_+ X_min, the same for t_2^- with n_- (D.2, eqs 36-39)."""
    shares = [limit / each.t_2[s] for each in survey.found for s, limit in bounds(each).items()]
    early = sum(min(each.t_2.values()) < each.t_1 for each in survey.found)
    return [
        fact("times t_2 of either label beyond their bounds", sum(s < 1.0 for s in shares), 0,
             tried=len(shares)),
        fact("times t_2 before t_1", early, 0, tried=len(shares)),
        note("the bound is larger by a factor from, to", (min(shares), max(shares)), digits=2),
        note(f"{AT_THE_NUMBER}, where a late neuron of V₊ is alone in S₋: the bound on t₂⁻, and "
             "f(x₂) from when it is home, for ever", (only.bound, only.output)),
        *followed(survey),
    ]  # fmt: skip


def one_against(many: int, log_eps: float = 0.0) -> Start:
    """`many` positive data (1, 0) against one negative datum (-1, 0), a neuron along each: mu = 1.

    eps is the largest that (Small) allows, or the one that is given.
    """
    X = np.append(np.tile([1.0, 0.0], (many, 1)), [[-1.0, 0.0]], axis=0)
    y = np.append(np.ones(many), -1.0)
    made = Start(X, y, np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]), EXPONENTIAL,
                 log_eps)  # fmt: skip
    return made if log_eps else replace(made, log_eps=allowed(made))


def times_n(each: Begun) -> float:
    """n t_2 / log(1/(sqrt(h) eps)), which is of order 1 if t_2 is of the order that is printed."""
    given = each.given
    return len(given.X) * each.fall / -(0.5 * np.log(len(given.W0)) + given.log_eps)


@cache
def grows_with_n() -> list[tuple[int, float]]:
    """n and n t_2 / log(1/(sqrt(h) eps)) for the family of `one_against`, the same eps for all."""
    log_eps = one_against(MANY[-1]).log_eps
    found = []
    for many in MANY:
        each = begin(one_against(many, log_eps))
        assert each is not None
        found.append((many + 1, times_n(each)))
    return found


def exact_order_of_the_data(survey: Survey) -> list[Evidence]:
    """ea.thm1.loss.3: t_2 is of exact order log(1/(sqrt(h) eps)) / n, with constants that depend
    on the data and the start (Theorem 1, part 2).

    Below is Lemma 3: no output exceeds 1/4 before T = log(1/(sqrt(h) eps)) / (4 n X_max); above is
    `falls_in_time`, and the constant that its bound tends to. That it is not free of n is seen
    along `one_against`, by integration and by the exponential integral.
    """
    early = [
        each.fall / constants.horizon(each.given.data, len(each.given.W0), each.given.log_eps)
        for each in survey.found
    ]
    above = sum(each.fall > max(bounds(each).values()) for each in survey.found)
    family, log_eps = grows_with_n(), one_against(MANY[-1]).log_eps
    exact = [(k + 1) * collinear_fall(1, k, log_eps, 2.0) for k in (MANY[0], MANY[-1])]
    return [
        bound("least t₂ over log(1/(√h ε)) / (4 n X_max)", min(early), ">=", 1.0, "", digits=2),
        fact("trajectories with t₂ above the bounds of the proof, which have n₊ and n₋", above, 0,
             tried=len(survey.found)),
        note(f"n t₂ / log(1/(√h ε)) at n = {family[-1][0]} over that at n = {family[0][0]}, one "
             "negative datum: integrated, and by the exponential integral",
             (family[-1][1] / family[0][1], exact[1] / exact[0])),
        *followed(survey),
    ]  # fmt: skip


def gap(
    given: Start, log_eps: float, rtol: float = 1e-7, t_1: float | None = None
) -> NDArray | None:
    """|x_+-| t_2^+- / k - log(1/eps) for either label, (2,): k = 1, and 2 for the loss
    log(1 + e^(-y f)), whose pull at 0 is half as large. t_1 is the printed one unless it is given;
    None where part 1 does not hold then."""
    each = begin(replace(given, log_eps=log_eps), rtol=rtol, t_1=t_1)
    return None if each is None else gap_of(each)


def gap_of(each: Begun) -> NDArray:
    """The same of a trajectory."""
    given, rate = each.given, 0.5 if each.given.loss is LOGISTIC else 1.0
    return given.log_eps + rate * np.array(
        [float(np.linalg.norm(given.centre(s))) * each.t_2[s] for s in (1.0, -1.0)]
    )


def exact_order(seed: int, count: int, behind: Survey) -> list[Evidence]:
    """ea.ours.fall: |x_+-| t_2^+- - log(1/eps) stays bounded as eps goes to 0.

    So t_2 ~ log(1/eps) / min(|x_+|, |x_-|), and twice that for the loss log(1 + e^(-y f)), whose
    pull at 0 is half as large. t_1 is a time at which part 1 holds: the printed one, or, of the
    trajectories `behind` from late starts, T_*.
    """
    changes, sizes, lost = list[float](), list[float](), 0
    for given in starts(seed, _AT_MOST):
        try:
            near = None if given.log_eps < _SMALLEST else gap(given, given.log_eps)
            far = None if near is None else gap(given, 10.0 * given.log_eps)
        except Lost:
            lost += 1
            continue
        if near is not None and far is not None:
            changes += np.abs(far - near).tolist()
            sizes += np.abs(far).tolist()
        if len(changes) == 2 * count:
            break
    for slow in behind.found:
        near, far = gap_of(slow), gap(slow.given, 10.0 * slow.given.log_eps, LATE, slow.t_1)
        changes += [np.nan] * 2 if far is None else np.abs(far - near).tolist()
        sizes += [] if far is None else np.abs(far).tolist()
    moved = sum(not change <= GAP for change in changes)
    line = one_against(9)
    both = gap(line, line.log_eps), gap_on_a_line(9, line.log_eps)
    apart = np.nan if both[0] is None else abs(float(both[0][1]) - both[1])
    return [
        fact(f"of {len(changes)} values of |x₊| t₂⁺ - log(1/ε) and of |x₋| t₂⁻ - log(1/ε), those "
             f"that change by more than {GAP:g} from the largest ε that is allowed to its tenth "
             "power", moved, 0),
        late(behind),
        fact("for nine data (1, 0) against one (-1, 0) it is what the exponential integral says, "
             f"within {GAP:g}", bool(apart <= GAP), True),
        note("largest size of that difference", max(sizes, default=np.nan), digits=2),
        note("starts besides whose flow could not be followed to there", lost),
    ]  # fmt: skip


def gap_on_a_line(many: int, log_eps: float) -> float:
    """`gap` of the single datum of `one_against`, by the exponential integral."""
    return log_eps - collinear_fall(many, 1, log_eps, 2.0) * (0.5 * np.log(2.0) + log_eps)


def measured(found: Sequence[Begun]) -> NDArray:
    """Rows (n_+, n_-, |x_+|, |x_-|, log(1/eps), t_2, factor of the loss), (k, 7)."""
    rows = []
    for each in found:
        given, data = each.given, each.given.data
        lengths = [float(np.linalg.norm(given.centre(s))) for s in (1.0, -1.0)]
        factor = 2.0 if given.loss is LOGISTIC else 1.0
        rows.append([data.n_plus, data.n_minus, *lengths, -given.log_eps, each.fall, factor])
    return np.array(rows)


def printed_order(sizes: Sequence[int], log_eps: float) -> list[tuple[str, NDArray, NDArray]]:
    """n and n t_2 / log(1/(sqrt(h) eps)) for unit data along a line, one negative datum or as many
    as positive ones, by the exponential integral: (name, n (k,), values (k,))."""
    n = np.asarray(sizes)
    alone = np.array([k * collinear_fall(1, k - 1, log_eps, 2.0) for k in sizes])
    equal = np.array([k * collinear_fall(k // 2, k // 2, log_eps, 2.0) for k in sizes])
    return [("one negative datum", n, alone), ("classes of equal size", n, equal)]
