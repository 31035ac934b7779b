"""The norm that small flows in the plane lose (Theorem 4.7 and the first half of Lemma F.9).

|w(t)| may rise above its limit and fall back, however small the start; what is true instead is that
|w|^2 drops by at most |w0|^2. An instance is a data set "X" (n, 2), "y" (n,) and a direction "u" of
the start, by default along X^T y, which activates all data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Report, Statement, falsify, given, planted
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import largest_norm_drop
from reluflow.instances import Arrays, Draws, data_draws, extended
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.norm_loss_exact import late_sign, rate_polynomial, sharp_share
from reluflow.papers.lee2022support.norm_rate import norm_lost
from reluflow.papers.lee2022support.small_ends import ASSUMED, planar
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    flows_of,
    gentle_radius,
    guaranteed_radius,
    norm_drops,
    small_flows,
    smallest_force,
    starts_of,
    unit_of_norm,
    within,
)

ROUNDING = 1e-11
"""A loss of |w|^2 below this share of |w(inf)|^2 is rounding."""


def all_active_direction(X: ArrayLike, rng: np.random.Generator) -> NDArray:
    """A random unit vector (2,) of the all-active cell, uniform in angle. X (n, 2), A1."""
    angles = np.arctan2(np.asarray(X)[:, 1], np.asarray(X)[:, 0])
    turn = rng.uniform(angles.max() - np.pi / 2, angles.min() + np.pi / 2)
    return np.array([np.cos(turn), np.sin(turn)])


def all_active_draws(sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Planar data sets, each with a random direction u of the all-active cell."""
    return extended(
        data_draws(2, sizes), lambda item, rng: {"u": all_active_direction(item["X"], rng)}
    )


def _draws() -> Draws:
    """Those, and again with labels along X e_1, e_1 the top eigenvector of X^T X: the coincidence
    c_2^* = 0."""

    def aligned(item: Arrays, rng: np.random.Generator) -> Arrays:
        top = np.abs(np.linalg.eigh(item["X"].T @ item["X"])[1][:, -1])
        return {"y": 10.0 ** rng.uniform(-1.0, 1.0) * item["X"] @ top}

    draws = all_active_draws()
    return {**draws, **{f"aligned, {k}": one for k, one in extended(draws, aligned).items()}}


def all_active(item: Instance) -> bool:
    """Whether the instance's direction "u" is in the all-active cell."""
    return bool(np.all(item["X"] @ item["u"] > 0.0))


def gently(item: Instance) -> bool:
    """Whether the starts of `NORMS` are in the all-active cell, and shorter than rho."""
    return all_active(item) and within(item, gentle_radius)


STARTED = {**ASSUMED, "w0 in the all-active cell": all_active}


def never_drops(
    says: str,
    draws: Draws,
    hypotheses: Mapping[str, Callable[[Instance], bool]],
    norms: Sequence[float] = NORMS,
    radius: Callable[[ArrayLike, ArrayLike], float] = guaranteed_radius,
) -> Statement:
    """|w(t)| never drops from starts of these norms, in units of the radius of the data."""

    def batch(items: Sequence[Instance]) -> NDArray:
        return -np.min([norm_drops(flows) for flows in flows_of(items, norms, radius)], axis=0)

    return Statement(
        says,
        draws,
        lambda item: (
            1.0
            - planted(item)
            - min(largest_norm_drop(path) for path in small_flows(item, norms, radius))
        ),
        hypotheses,
        tolerance=ROUNDING,
        batch=batch,
    )


def norm_never_drops() -> Statement:
    """sv.lemF.9.1: small flows from the all-active cell never lose norm (Lemma F.9, first half);
    the coincidence c_2^* = 0 is among the draws."""
    return never_drops("the norm never drops", _draws(), STARTED, radius=gentle_radius)


def norm_drops_little() -> Statement:
    """sv.ours.small.norm: for w0 in the all-active cell, |w0| < rho (`gentle_radius`),
    |w(s)|^2 - |w(t)|^2 <= |w0|^2 for s < t."""

    def slack(item: Instance) -> float:
        starts = starts_of(item, NORMS, gentle_radius)
        paths = small_flows(item, NORMS, gentle_radius)
        lost = [norm_lost(item["X"], item["y"], path) for path in paths]
        return min(
            1.0 - (drop - ROUNDING * float(path.end @ path.end)) / float(w0 @ w0)
            for w0, path, drop in zip(starts, paths, lost, strict=True)
        )

    hypotheses = given("sv.ours.small.norm", data=planar, start=gently)
    return Statement("the square of the norm drops by at most |w0|^2", _draws(), slack, hypotheses,
                     tolerance=1e-6)  # fmt: skip


def drops(report: Report) -> list[Evidence]:
    """Where the norm drops: among labels along the top eigenvector."""
    aligned = sum(n for kind, n in report.violations.items() if kind.startswith("aligned"))
    return [
        fact("instances on which |w(t)| drops, at all norms tried",
             sum(report.violations.values()), 0),
        note("of them with labels along the top eigenvector, c_2* = 0", aligned),
        note("instances tried", report.tried),
        note("seed", report.seed),
    ]  # fmt: skip


OVERSHOOT = (np.array([[1, 2], [2, 1]]), np.array([3, 3]), np.array([1, 0]))
"""Two data X, y and a direction v: from w0 = eps v the norm rises above |w*| and falls back."""

SMALL = (1e-2, 1e-3, 1e-4)


def overshoot() -> Counterexample:
    """The norm drops, however small the start: two data with w* along the top eigenvector of H."""
    X, y, v = OVERSHOOT
    w0 = SMALL[0] * unit_of_norm(X, y) * v
    lost = norm_lost(X, y, affine_flow(X, y, w0)) / float(w0 @ w0)
    polynomial, eps = rate_polynomial(X.tolist(), y.tolist(), v.tolist())
    signs = [late_sign(polynomial, eps, Fraction(1, 10**k)) for k in (4, 7, 10)]
    leading = polynomial.coeff_monomial(polynomial.gen**2)
    return Counterexample(
        instance={"X": X, "y": y, "w0": "eps (1, 0), eps > 0"},
        assumptions={
            **assumptions(X, y),
            "d = 2": X.shape[1] == 2,
            "w0 in the all-active cell": bool(np.all(X @ v > 0)),
            "q(w0) > 0": smallest_force(X, y, [1e-6 * v]) > 0,
            "no boundary is crossed": not any(affine_flow(X, y, size * v).events for size in SMALL),
        },
        breaks=(bound("drop of |w|^2 on the exact flow, |w0| a hundredth of min y_i / |x_i|", lost,
                      "<=", 0, "of |w0|^2"),),
        recheck=(
            fact("eps among 1e-4, 1e-7, 1e-10 with g(w(t)) > 0 at all late t (exact polynomial)",
                 sum(sign > 0 for sign in signs), 0),
            fact("for every eps: coefficient of exp(-2t) in g is eps^2/2 > 0",
                 bool((leading - eps**2 / 2).equals(0)), False),
        ),
        route="g along the flow as a polynomial in exp(-t) and eps, by SymPy over the rationals",
    )  # fmt: skip


def overshoot_law() -> list[Evidence]:
    """sv.thm4.7.2: the norm increases along small flows (Theorem 4.7); but by how much it drops on
    two data, and that this goes as eps^(18/7)."""
    X, y, v = OVERSHOOT
    lost = [norm_lost(X, y, affine_flow(X, y, eps * v)) for eps in SMALL]
    scaled = tuple(drop / eps ** (18 / 7) for drop, eps in zip(lost, SMALL, strict=True))
    return [
        bound(
            "largest drop of |w|^2 on the counterexample's data, from 1e-2 (1, 0)",
            lost[0],
            "<=",
            0,
            "",
        ),
        note(f"drop of |w|^2 over eps^(18/7), eps = {', '.join(f'{e:g}' for e in SMALL)}", scaled),
    ]


def from_zero(seed: int, count: int, evaluations: int) -> list[Evidence]:
    """That the flow that leaves 0 never loses norm, followed from 1e-6 delta_0 along X^T y."""

    statement = never_drops(
        "the flow from 0 loses no norm", data_draws(2, (3, 8)), ASSUMED, (1e-6,)
    )
    found = falsify(statement, seed, count, evaluations)
    return [
        fact("flows from next to 0, along X^T y, whose norm drops",
             sum(found.violations.values()) + found.search_breaks, 0),
        note("such flows, and evaluations of a search", (found.tried, found.evaluations)),
    ]  # fmt: skip


def other_cells() -> list[Evidence]:
    """What is lost from starts in other cells, q(w0) > 0: x = (k, 1), (0, 2j), (m, mk) with
    k^2 = 2j^2 + 1 and large m, labels X (1, k), w0 = eps (1, 1 - k), at which x_1 alone is active.

    H (1, k) is a multiple of (1, k), its top eigenvector, so c_2^* = 0; and x_3 pulls hard, but
    only when w has come to its boundary, far off along x_1.
    """
    m, eps, starts, entries = 1000, 1e-3, [], []
    for k, j in ((3, 2), (17, 12)):
        X = np.array([[k, 1], [0, 2 * j], [m, m * k]])
        y, w0 = X @ [1, k], eps * np.array([1, 1 - k])
        path = affine_flow(X, y, w0)
        entry = path.at(path.events[-1].t)
        lost = norm_lost(X, y, path)
        starts.append(lost / float(w0 @ w0))
        entries.append(lost / float(entry @ entry))
    return [
        bound("x = (k, 1), (0, 2j), 1000 (1, k), y_i = x_i.(1, k), from eps (1, 1 - k), k = 17, "
              "j = 12, where x_1 alone is active: drop of |w|^2", starts[-1], ">", 50,
              "of |w0|^2", digits=3),
        note("the same for k = 3, j = 2 and for k = 17, j = 12", tuple(starts), "of |w0|^2", 3),
        note("the same, T the time at which all data become active", tuple(entries), "of |w(T)|^2",
             3),
    ]  # fmt: skip


def sharp_instance(m: int, eps: Fraction) -> tuple[NDArray, NDArray, tuple[Fraction, Fraction]]:
    """x = (m, m + 1), (m + 1, m), y = (2m + 1)(1, 1) and w0 = eps (m + 2, -m), in the all-active
    cell: an overshoot of nearly |w0|^2. The eigenvalues are N = (2m + 1)^2 and 1, and w* = (1, 1).
    """
    X = np.array([[m, m + 1], [m + 1, m]])
    return X, np.full(2, 2 * m + 1), (eps * (m + 2), -eps * m)


SHARP = ((20, Fraction(99, 100)), (60, Fraction(199, 200)))
"""m and exp(-t) at which the exact drop of the norm is told."""


def sharp_family() -> list[Evidence]:
    """That no smaller constant would do: our family, exactly, and by its flows from eps = 1/100."""
    eps = Fraction(1, 100)
    exact = [float(sharp_share(m, eps, u)) for m, u in SHARP]
    lost = []
    for m, _ in SHARP:
        X, y, w0 = sharp_instance(m, eps)
        path = affine_flow(X, y, [float(v) for v in w0])
        lost.append(norm_lost(X, y, path) / float(w0[0] ** 2 + w0[1] ** 2))
    return [
        bound("drop of |w|^2 on our family after exp(-t) = 199/200, m = 60, rational arithmetic",
              exact[-1], ">", 0.98, "of |w0|^2"),
        fact("exact flows of the family lose at least what rational arithmetic says, at most 1",
             all(e - 1e-6 <= v <= 1.0 for e, v in zip(exact, lost, strict=True)), True),
        note("members of the family, m", tuple(m for m, _ in SHARP)),
    ]  # fmt: skip
