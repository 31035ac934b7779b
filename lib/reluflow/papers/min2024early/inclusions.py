"""The page `inclusions`: Appendices E and F, solutions where neurons meet boundaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.falsify import Instance, Statement, extended, statement, survey
from reluflow.flows.charts import LOG_LOSS
from reluflow.flows.integrate import FlowPath, then
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import Loss
from reluflow.papers.min2024early import lemmas
from reluflow.papers.min2024early.alignment import departure_residual, leaving
from reluflow.papers.min2024early.lemmas import LOSSES
from reluflow.papers.min2024early.setting import Start, none_of, parts, polygon, separable_draws

# --- Appendix E.2: under (A1) each boundary is crossed at most once in all time -------------------

DECADES = 10.0
"""Flows are followed until the loss has fallen by this many powers of ten, or falls no more."""
_ON = 1e-9
"""Cosines up to this size are 0: within it an event is located, and a dead neuron rests."""
_KINDS = ("wide", "integers", "parallel", "one against many")
_HOW: Mapping[str, Any] = {"max_steps": 3000, "method": DOP853}


def far(start: Start) -> FlowPath:
    """The flow until the loss has fallen by many powers of ten, or falls no more. In time while
    neurons are small and turn within a moment of log(1/L); then on that clock."""
    early = start.flow(30.0 / start.X_max, rtol=1e-6, **_HOW,
                       stop=lambda _, z: -1.0 - z[start.W0.size :].max())  # fmt: skip
    field = parts(early)[0]
    late = replace(field, clock=LOG_LOSS)
    until = late.begin(early.end) + DECADES * np.log(10.0)
    return then(early, late, until, at_zero=0.0, rtol=1e-6, **_HOW)


def problems(seed: int, count: int) -> Iterator[Start]:
    """Random starts on orthogonally separable data. Norms from e^-6 to 2 over the size of the data;
    whole-number data come with whole-number weights, many of which lie on boundaries; another
    quarter starts along the data."""
    rng, draws = np.random.default_rng(seed), separable_draws((2, 6), (2, 6))
    for k in range(count):
        item = draws[_KINDS[k % 4]](rng)
        X, y, h = item["X"], item["y"], int(rng.integers(2, 7))
        W = rng.standard_normal((h, X.shape[1]))
        if _KINDS[k % 4] == "integers":
            W = np.round(W)
            W[~W.any(axis=1)] = X[0]
        elif _KINDS[k % 4] == "parallel":
            W[::2] = -X[rng.integers(0, len(X), len(W[::2]))]
        size = rng.uniform(-6.0, 0.7, h) - 0.5 * np.log(np.linalg.norm(X, axis=1).max())
        W *= (np.exp(size) / np.linalg.norm(W, axis=1))[:, None]
        yield Start(X, y, W, np.resize([1.0, -1.0], h), loss=LOSSES[k // 4 % 3])


def crossings(path: FlowPath) -> Counter[tuple[int, int]]:
    """How often each (datum, neuron) changes its activity along a path. A neuron that has died
    within rounding of its boundary may be switched off once more where a leg begins; the same
    change twice in a row is one."""
    times: Counter[tuple[int, int]] = Counter()
    last: dict[tuple[int, int], str] = {}
    for event in path.events:
        pair = event.datum, event.neuron
        if event.kind != "slide" and last.get(pair) != event.kind:
            times[pair] += 1
            last[pair] = event.kind
    return times


def backward(path: FlowPath, start: Start) -> int:
    """How many changes of activity go against y_i sign(v_j): the wrong way by eq. (46)."""
    ways = (1.0 if e.kind == "activate" else -1.0 for e in path.events)
    right = (start.y[e.datum] * start.signs[e.neuron] for e in path.events)
    return sum(way != sign for way, sign in zip(ways, right, strict=True))


def revived(path: FlowPath) -> bool:
    """Whether a neuron is active on a datum after it was active on none."""
    field, chart = parts(path)
    cosines = [chart.cosines(z, field.X)[0] for z in path.at(path.grid(40)[:-1])]
    silent = np.array([np.all(of <= _ON, axis=0) for of in cosines], bool)
    return bool(np.any(silent[:-1] & ~silent[1:]))


def followed(seed: int, count: int) -> pd.DataFrame:
    """One row a flow of `problems`, followed `far`: its status, the number of changes of activity,
    the most of one boundary, those that go backward, whether a dead neuron revives, and whether one
    starts on a boundary."""

    def measured(start: Start) -> dict[str, Any]:
        path = far(start)
        times = crossings(path)
        return {"status": path.status, "changes": sum(times.values()),
                "most": max(times.values(), default=0), "backward": backward(path, start),
                "revived": revived(path),
                "on boundaries": bool(np.any(start.W0 @ start.X.T == 0.0))}  # fmt: skip

    return survey(problems(seed, count), measured)


# A boundary that is crossed twice where (A1) fails.

TWICE = (np.array([[3, 0, 0], [-1, 0, 1], [1, 5, 5]]), np.ones(3), np.array([1, -4, 2]))
"""Data, labels and one neuron with v > 0: it loses the second datum and regains it."""


def exact_changes(X: NDArray, y: NDArray, w: NDArray) -> list[tuple[Fraction, int]]:
    """The changes of activity of a neuron of V_+ in the limit of small weights, in exact numbers:
    the way of w along the sums of y_i x_i over the active data up to a change, and its datum."""
    path = polygon(X, y, w)
    changes = zip(path.ways, path.events, strict=True)
    return [(way, datum) for way, event in changes for datum, _ in event]


def crossed_once(found: pd.DataFrame) -> list[Evidence]:
    """ea.eq46.2: under (A1) each <x_i, w_j> = 0 is crossed at most once (E.2), but not without."""
    return [
        none_of("flows in which some boundary is crossed twice", found.most > 1),
        fact("changes of activity against the direction of eq. (46)", int(found.backward.sum()), 0,
             tried=int(found.changes.sum())),
        fact("without (A1): changes of activity by datum in the example, exactly",
             tuple(datum + 1 for _, datum in exact_changes(*TWICE)), (2, 3, 2)),
        note("most changes of activity in one flow", int(found.changes.max())),
    ]  # fmt: skip


# --- Appendix E.2 and E.5: under (A1) a regular Caratheodory solution exists for all times --------

ANTIPARALLEL = Start(
    np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]),
    np.array([[1.0, 1.0]]), -np.ones(1), -0.5 * np.log(2.0),
)  # fmt: skip
"""A neuron of V_- that is active on the positive datum only. Where it loses that, the other one
would wake: at this moment it is in S_dead. The regular solution keeps it there."""


def solutions_exist(found: pd.DataFrame) -> list[Evidence]:
    """ea.eq46.3: under (A1) a regular Caratheodory solution, s'(0) = 0, exists for all t >= 0."""
    stuck = ~found.status.isin(["horizon", "converged", "stalled"])
    lives = tuple(revived(ANTIPARALLEL.flow(3.0, at_zero=at_zero, rtol=1e-8, **_HOW))
                  for at_zero in (0.0, None))  # fmt: skip
    return [
        none_of("flows that do not go on for ever: that slide, branch or come to a stop", stuck),
        none_of("flows in which a dead neuron comes to life", found.revived),
        note("flows that start on a boundary", int(found["on boundaries"].sum())),
        fact("antiparallel data: the neuron revives, along the regular solution and along another",
             lives, (False, True)),
    ]  # fmt: skip


# --- Eq. (46): under (A1) a neuron moves the same way across all boundaries -----------------------

VELOCITY = Reading(
    "the gradient in (46) is the velocity of the flow: Appendix E.2 writes the flow as θ' = F(θ) "
    "with F = ∇L, and (46) as a product with F",
    "with the gradient of L itself, which is the opposite of the velocity of (2), every active "
    "neuron breaks the inequality: x = 1, y = 1 and w = v = 1 have -1/e for the exponential loss",
)
_A1 = {"(A1)": lambda item: bool(separation(item["X"], item["y"]) > 0.0)}


def _cosines(item: Instance, loss: Loss) -> NDArray:
    """y_i sign(v_j) <x_i, F_j> over |x_i| |F_j|, (n, j), j active on some datum."""
    X, y, W = item["X"], item["y"], item["W"]
    awake = np.any(W @ X.T > 0.0, axis=1)
    Z = y[:, None] * X / np.linalg.norm(X, axis=1)[:, None]
    moving = lemmas.velocity(item, loss)[: W.size].reshape(W.shape)[awake]
    moving = moving * np.sign(item["v"][awake])[:, None]
    return Z @ (moving / np.linalg.norm(moving, axis=1)[:, None]).T


def _with_weights(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Data of one label in a fifth of the draws, and weights of any size, some whole numbers."""
    X, y = item["X"], item["y"]
    if rng.random() < 0.2:
        X, y = y[:, None] * X, np.ones(len(y))
    h, d = int(rng.integers(1, 5)), X.shape[1]
    W, v = rng.standard_normal((h, d)), rng.standard_normal(h)
    if np.all(np.round(X) == X):
        W = np.round(2.0 * W)
    size = 10.0 ** rng.uniform(-6.0, 0.0) / np.linalg.norm(X, axis=1).max()
    return {"X": X, "y": y, "W": W * size, "v": v}


def velocity_points_inward(loss: Loss) -> Statement:
    """ea.eq46.1: y_i sign(v_j) <x_i, F_j> > 0 for all i, active j; F_j = -grad_(w_j) L."""
    return Statement(
        f"{loss.name} loss: yᵢ sign(vⱼ) ⟨xᵢ, −∇L⟩ > 0 for active neurons",
        extended(separable_draws((2, 12), (2, 7)), _with_weights),
        lambda item: float(_cosines(item, loss).min()),
        {**_A1,
         "a neuron is active": lambda item: bool(np.any(item["W"] @ item["X"].T > 0.0)),
         "no vⱼ is 0": lambda item: bool(item["v"].all())},
        strict=True,
        fixed=("y",),
    )  # fmt: skip


# --- Second route: E.3 and E.4 settled exactly: one neuron on the boundary of one datum -----------
#
# x = (1, 0) and w = (p, q): only p and v move. While v > 0 the sign of p' is that of y s'(p): a
# number for p > 0, one for p = 0 and one for p < 0, which decide all (the page has the proof).


def slopes(at_zero: Fraction, leak: Fraction = Fraction()) -> dict[str, Fraction]:
    """The derivative of the activation for p > 0, at p = 0 and for p < 0."""
    return {"above": Fraction(1), "at": at_zero, "below": leak}


def ways(label: int, at_zero: Fraction, leak: Fraction = Fraction()) -> tuple[str, ...]:
    """What a solution from p = 0, v = 1 can do: "stay" at 0, leave "above", leave "below". No way
    at all means that there is no Caratheodory solution on any interval [0, t_0]."""
    pushes = {side: label * slope for side, slope in slopes(at_zero, leak).items()}
    possible = {"stay": pushes["at"] == 0, "above": pushes["above"] > 0,
                "below": pushes["below"] < 0}  # fmt: skip
    return tuple(way for way, can in possible.items() if can)


def euler(at_zero: Fraction, step: Fraction, count: int) -> list[Fraction]:
    """p along `count` explicit Euler steps of E.3, y = -1, from p = 0, v = 1. At p <= 0 the output
    is 0 and the exponential 1, and v stays: p' = -s'(p), and every step is rational."""
    found = [0 * step]
    for _ in range(count):
        found.append(found[-1] - step * slopes(at_zero)["below" if found[-1] else "at"])
    return found


# --- The two examples of Appendix E on a boundary: no solution (E.3), and too many (E.4) ----------
#
# The same neuron: w(0) = (0, 1), v(0) = 1, exponential loss.

SLOPES = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
"""Values of s'(0) for which E.3 is tried; its argument needs only that s'(0) > 0."""


def no_solution() -> list[Evidence]:
    """ea.E3: with s'(0) = a > 0 and y = -1 there is no Caratheodory solution; with s'(0) = 0 there
    is the constant one and no other (Appendix E.3)."""
    left = tuple(len(ways(-1, a)) for a in SLOPES)
    ends = tuple(euler(SLOPES[1], Fraction(1, 10**k), 10)[-1] for k in (1, 2, 3))
    return [
        fact("ways to leave p = 0 or to stay, for s'(0) = 1/4, 1/2, 1", left, (0, 0, 0)),
        fact("with s'(0) = 0, the ways", ways(-1, Fraction(0)), ("stay",)),
        fact("s'(0) = 1/2: p after ten explicit steps of 1/10, 1/100, 1/1000",
             ends, tuple(Fraction(-1, 2 * 10**k) for k in (1, 2, 3))),
    ]  # fmt: skip


def many_solutions() -> list[Evidence]:
    """ea.E4: s'(0) = 0, y = 1: the neuron may rest for ever, or leave at any time (eq. 47)."""
    return [
        fact("ways to go on from p = 0 with s'(0) = 0", ways(1, Fraction(0)),
             ("stay", "above")),
        bound("p = sinh s, v = cosh s, dt = eᵖᵛ ds: residual of its integral equation at s = 1",
              departure_residual(1.0), "<=", 1e-7, ""),
        note("loss at t = 8 of the one that leaves at t_0 = 0; it stays 1 for the constant one",
             float(np.exp(-np.prod(leaving(8.0)))), digits=3),
    ]  # fmt: skip


# --- Appendix F: under (A1) a regular solution of the inclusion is the equation's -----------------


def _on_boundaries(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """A neuron w on the boundaries of some data (`on`), each of which takes a slope in [0, 1]; the
    pulls c are any positive numbers. Not all slopes are 0."""
    X, (n, d) = item["X"], item["X"].shape
    on = np.zeros(n, bool)
    on[rng.permutation(n)[: int(rng.integers(1, min(n, d) + 1))]] = True
    basis = np.linalg.svd(X[on] / np.linalg.norm(X[on], axis=1)[:, None])
    free = basis[2][int((basis[1] > 1e-9).sum()) :]
    w = free.T @ (free @ rng.standard_normal(d))  # whichever basis of its space `free` is
    w = np.where(np.abs(w) > 1e-12, w, 0.0)  # 0 but for rounding
    size = np.linalg.norm(X, axis=1) * max(float(np.linalg.norm(w)), 1e-300)
    active = X @ w > 1e-9 * size  # a multiple of a datum `on` has 0 up to rounding
    slopes = rng.choice([0.0, 1.0, rng.uniform()], n)
    slopes[rng.choice(np.flatnonzero(on))] = rng.uniform(1e-3, 1.0)
    c = 10.0 ** rng.uniform(-3.0, 3.0, n)
    return {"w": w, "on": on, "slopes": np.where(on, slopes, active), "c": c}


@statement("every element of the inclusion that is not 0 crosses the boundaries the same way",
           extended(separable_draws((2, 12), (2, 7)), _on_boundaries),
           {**_A1, "an element that is not 0": lambda item: bool(np.any(item["slopes"] > 0.0))},
           strict=True, fixed=("y", "on"))  # fmt: skip
def selections_point_inward(X: NDArray, y: NDArray, slopes: NDArray, c: NDArray) -> float:
    """ea.appF: on a boundary every element of the differential inclusion that is not 0 crosses it
    the way eq. (46) says, so that a regular solution of Filippov is one of Caratheodory:
    the least cosine of that element and the z_i."""
    Z = y[:, None] * X
    Z = Z / np.linalg.norm(Z, axis=1)[:, None]
    moved = (slopes * c / (slopes * c).max()) @ Z
    return float((Z @ moved).min() / np.linalg.norm(moved))
