"""Figure 2: the forces along a ray (Proposition 4.1), a datum that must be let go (Example 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, repeat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow import rational
from reluflow.exact import fractions
from reluflow.falsify import Instance, Statement, survey
from reluflow.flows.affine import affine_flow
from reluflow.geometry import virtual_minimum
from reluflow.instances import extended
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.networks import gradient
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.boundary_points import MIXED


def alpha_star(X: ArrayLike, y: ArrayLike, w0: ArrayLike, j: int) -> Fraction | None:
    """x_j.q / x_j.H w0 on the cell of w0, exactly; None where the denominator is zero."""
    X, y, w = fractions(X), fractions(y), fractions(w0)
    h = X @ w
    along = (X @ X[j]) * (h > 0)
    return y @ along / (h @ along) if h @ along else None


def slope_along(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int, alpha: Fraction) -> Fraction:
    """grad L(alpha w).x_j, exactly, as in eq. (2)."""
    X, y, point = fractions(X), fractions(y), alpha * fractions(w)
    h = X @ point
    return ((h - y) * (h > 0)) @ X @ X[j]


def alpha_statement() -> Statement:
    """sv.prop4.1.1: grad L(alpha w0).x_j >= 0 if and only if alpha >= alpha_j* (Proposition 4.1).

    For x_1 under A1, at alpha below, at and above alpha_1*, in rational arithmetic; alpha_1* is
    defined if x_1 is not orthogonal to all active data.
    """

    def start(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        return {"w0": rng.normal(size=item["X"].shape[1])}

    def slack(item: Instance) -> float:
        star = alpha_star(item["X"], item["y"], item["w0"], 0)
        if star is None:
            return np.nan
        tried = {Fraction(1, 2), Fraction(1), Fraction(2)}
        tried |= {k * star for k in (Fraction(1, 2), Fraction(1), Fraction(2)) if star > 0}
        agrees = [(slope_along(item["X"], item["y"], item["w0"], 0, a) >= 0) == (a >= star)
                  for a in tried]  # fmt: skip
        return 1.0 if all(agrees) else -1.0

    def defined(item: Instance) -> bool:
        on = item["X"] @ item["w0"] > 0
        return bool(np.any(item["X"][on] @ item["X"][0] > 0))

    return Statement("grad L(α w0).x_j ≥ 0 iff α ≥ α_j*", extended(MIXED, start), slack,
                     {"α_j* is defined": defined})  # fmt: skip


def undefined_and_reversed() -> Reading:
    """How Proposition 4.1 is read, and what x_j orthogonal to all active data, or A1 broken, do."""
    undefined = alpha_star([[1, 0], [0, 1]], [1, 1], [1, -1], 1) is None
    opposite = [slope_along([[1], [-1]], [1, 1], [1], 1, Fraction(a)) for a in (1, 2)]
    return Reading(
        taken="alpha > 0, and x_j is not orthogonal to all data active at w0; then x_j.H w0 > "
        "0 by A1",
        others="If x_j is orthogonal to all active data, alpha_j* is 0/0 and grad L.x_j = 0 "
        f"for all alpha, as for x = (1,0), (0,1), w0 = (1,-1), j = 2 ({_yes(undefined)}). "
        "Without A1 the denominator can be negative, which reverses the inequality: for x = 1, "
        f"-1, y = (1,1), w0 = 1, alpha_2* = 1 but grad L(2 w0).x_2 = {opposite[1]} "
        f"({_yes(opposite[0] == 0 > opposite[1])}).",
    )


def _yes(value: bool) -> str:
    return "checked" if value else "not so"


def still_at_alpha_star() -> tuple[list[Evidence], Counterexample]:
    """sv.prop4.1.2: -grad L(alpha w0).x_j > 0 up to alpha = min alpha_j* (proof of Prop. 4.1).

    For x = y = w0 = 1 it is an equality at alpha = min alpha_j*.
    """
    X, y, w0 = np.ones((1, 1), int), np.ones(1, int), np.ones(1, int)
    stars, step = [alpha_star(X, y, w0, j) for j in range(len(y))], Fraction(1, 1000)
    star = min(value for value in stars if value is not None)
    loss_at = [rational.neuron_loss(X, y, [star + k * step]) for k in (-1, 1)]
    slope = (loss_at[1] - loss_at[0]) / (2 * step)
    force = -float(gradient(X, y, float(star) * w0)[0])
    above = "x = y = w0 = 1: -grad L(alpha w0).x > 0 at alpha = min alpha_j*"
    return [fact(above, force > 0, True)], Counterexample(
        instance={"X": X, "y": y, "w0": w0, "alpha": star},
        assumptions={**assumptions(X, y), "0 < alpha <= min_j alpha_j*": star > 0,
                     "all alpha_j* are defined": None not in stars},
        breaks=(bound("-grad L(alpha w0).x_1", force, ">", 0, ""),),
        recheck=(bound("difference quotient of -L at alpha w0 along x_1", -slope, ">", 0, ""),),
        route="losses in rational arithmetic; the central quotient of a quadratic is exact",
    )  # fmt: skip


def _all_active_starts(
    X: NDArray, norms: Sequence[float], count: int, seed: int
) -> Iterator[tuple[float, NDArray]]:
    """At each of the norms, `count` random starts (2,) of the all-active cell."""
    rng = np.random.default_rng(seed)
    for norm in norms:
        inside = (u for u in (rng.normal(size=2) for _ in repeat(None)) if np.all(X @ u > 0))
        yield from ((norm, norm * u / np.linalg.norm(u)) for u in islice(inside, count))


def must_deactivate(
    X: ArrayLike, y: ArrayLike, datum: int, norms: Sequence[float], count: int, seed: int
) -> tuple[list[Evidence], Reading]:
    """sv.ex3.5: where the all-active cell has no minimum, its flows lose a datum (Example 3.5).

    On our data: `count` starts in the all-active cell at each of the `norms`, the last of which is
    far out; the virtual minimum of that cell has `datum` (from 0) inactive.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    rest = [j for j in range(len(y)) if j != datum]
    whole, kept = rational.fit(X, y, list(range(len(y)))), rational.fit(X, y, rest)

    def measure(start: tuple[float, NDArray]) -> dict[str, float]:
        path = affine_flow(X, y, start[1])
        lost = bool(path.events) and path.events[0].datum == datum
        apart = np.linalg.norm(path.end - np.array(kept.w, float))
        return {"norm": start[0], "lost": lost, "apart": float(apart)}

    found = survey(_all_active_starts(X, norms, count, seed), measure)
    lost = found.groupby("norm")["lost"].sum()
    is_far = found["norm"] == norms[-1]
    kept_far, elsewhere = int(lost[norms[-1]]), int((found["apart"][is_far] > 1e-6).sum())
    virtual, _ = virtual_minimum(X, y, np.ones(len(y), bool))
    negative = tuple(j + 1 for j, h in enumerate(whole.preactivations) if h < 0)
    evidence = [
        fact("data inactive at the virtual minimum of the all-active cell", negative,
             (datum + 1,)),
        fact("the optimum of the other two is a local minimum",
             rational.is_local_minimum(kept, rest), True),
        *[fact(f"|w0| = {norm:g}: starts whose flow loses x_{datum + 1} first", int(lost[norm]),
               count) for norm in norms[:-1]],
        deviation("their limits against the optimum of the other two, exact fit",
                  float(found["apart"][~is_far].max()), ""),
        deviation("virtual minimum against the exact fit",
                  float(np.linalg.norm(virtual - np.array(whole.w, float))), ""),
        note("virtual minimum, and optimum of the other two", (whole.w, kept.w)),
        note(f"|w0| = {norms[-1]:g}: starts whose flow loses x_{datum + 1} first",
             (kept_far, count)),
        note(f"|w0| = {norms[-1]:g}: starts with another limit", (elsewhere, count)),
        note("seed", seed),
    ]  # fmt: skip
    return evidence, Reading(
        "The figure prints no data: they are ours. The flow is that of a start near the "
        "origin, as Section 4.1 recalls the figure.",
        f"For all starts in the cell it is false: at |w0| = {norms[-1]:g}, "
        f"{count - kept_far} of {count} flows do not lose x_{datum + 1} first, "
        f"and {elsewhere} end elsewhere.",
    )
