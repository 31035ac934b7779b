"""The page `alignment`: Section 3.3, Lemma 12 and the paths of Appendix C.2."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import accumulate, product
from math import log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853, quad, solve_ivp
from scipy.optimize import brentq

from reluflow.falsify import Instance, extended, statement, survey
from reluflow.flows.integrate import FlowPath
from reluflow.geometry.separability import separation
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early import setting, theorem_1
from reluflow.papers.min2024early.setting import none_lost, none_of
from reluflow.papers.min2024early.theorem_1 import PART_1, everywhere, where_mu_is_known

# --- Section 3.3: how a neuron changes its active data, and for how long it keeps them ------------

ROUNDING = 1e-8
APPENDIX_LOSS = Reading(
    "the logistic loss is 2 log(1 + e^(-yf)), as in Appendix B",
    "with log(1 + e^(-yf)) of Section 2.1 the sign is the same and the rate half as large: for μ "
    "near 1 it can be just below the bound of the proof, at outputs that eq (29) allows",
)


def _network(item: Instance, rng: np.random.Generator) -> Instance:
    """W (h, d) and signs (h,), for `placed`."""
    h = int(rng.integers(1, 6))
    W = rng.standard_normal((h, item["X"].shape[1])) * 10.0 ** rng.uniform(-2.0, 2.0, (h, 1))
    return {"W": W, "signs": rng.choice([-1.0, 1.0], h)}


def placed(item: Instance) -> tuple[NDArray, NDArray]:
    """W (h, d), first row on the boundary of datum 1, and the outputs (n,) in eq (29)'s scale."""
    X, y, signs, W = item["X"], item["y"], item["signs"], np.array(item["W"])
    x = X[0] / np.linalg.norm(X[0])
    W[0] -= (W[0] @ x) * x
    active = X @ W.T > 0.0
    active[0, 0] = False
    outputs = ((X @ W.T) * active) @ (signs * np.linalg.norm(W, axis=1))
    data = setting.data_constants(X, y)
    most = data.mu**2 * np.sqrt(data.mu) * data.X_min / (4.0 * data.n * data.X_max)
    size = np.abs(outputs).max()
    return W, outputs * most / size if size > 0.0 else outputs


@statement("on a boundary the neuron turns to the right side, by the rate of the proof",
           extended(setting.separable_draws(), _network), {"(A1)": theorem_1.separated},
           tolerance=ROUNDING, fixed=("y", "signs"))  # fmt: skip
@where_mu_is_known
def turns_across(item: Instance) -> float:
    """ea.eq7-8.1: on the boundary of x_i, s d/dt cos(w_j, y_i x_i) / (mu^(3/2) X_min / 2) - 1."""
    X, y = item["X"], item["y"]
    W, outputs = placed(item)
    active = X @ W[0] > 0.0
    active[0] = False
    if not active.any():
        return np.inf
    data, worst = setting.data_constants(X, y), np.inf
    for loss in (EXPONENTIAL, TWICE_LOGISTIC):
        g = (loss.pull(outputs, y) * active) @ X
        rate = y[0] * float(X[0] @ g) / float(np.linalg.norm(X[0]))
        worst = min(worst, rate / (0.5 * data.mu**1.5 * data.X_min) - 1.0)
    return worst


@statement("own data are only gained, others only lost, n changes at most", everywhere(),
           PART_1, fixed=("y", "sign", "log_angle"))  # fmt: skip
@where_mu_is_known
def changes_one_way(item: Instance) -> float:
    """ea.eq7-8.2: as eps -> 0 no neuron loses a datum of its own label or gains another one, and
    each makes at most n changes; the slack counts what is wrong."""
    events, own = theorem_1.path(item).events, item["y"] == float(item["sign"])
    wrong = sum((event.kind == "activate") != own[event.datum] for event in events)
    return -float(wrong + max(len(events) - len(own), 0))


@statement("a pattern ends in time, ζ = min(ζ_1, ζ_2)", everywhere(), PART_1,
           fixed=("y", "sign", "log_angle"))  # fmt: skip
@where_mu_is_known
def needed_durations(item: Instance) -> float:
    """ea.pattern-time: with min(zeta_1, zeta_2) no pattern but that of the own cone lasts longer
    than 4/(m_2 sqrt(mu) X_min n_a), m_2 = min(zeta, xi); the slack is relative."""
    found, data = theorem_1.path(item), setting.data_constants(item["X"], item["y"])
    m_2 = min(*theorem_1.zetas(item), data.xi)
    active = found.patterns.sum(axis=1)[:-1]
    allowed = 4.0 / (m_2 * np.sqrt(data.mu) * data.X_min * active)
    return float(np.min(1.0 - found.durations / allowed, initial=1.0))


@statement("a neuron comes no nearer to the centre of the other label", everywhere(),
           PART_1, tolerance=ROUNDING, fixed=("y", "sign", "log_angle"))  # fmt: skip
@where_mu_is_known
def never_nearer(item: Instance) -> float:
    """A neuron of V_+ never comes nearer to x_- than it began, or than a right angle, so that it
    enters no cap S_-^zeta: the least difference of the cosines."""
    found, sign = theorem_1.path(item), float(item["sign"])
    u = -sign * setting.centres(item["X"], item["y"])[-sign]
    grid = np.linspace(0.0, found.time, 20) if found.time > 0.0 else np.zeros(1)
    cosines = found.at(np.union1d(grid, found.times)) @ u / np.linalg.norm(u)
    return float(max(cosines[0], 0.0) - cosines.max())


def logs(seed: int, count: int) -> pd.DataFrame:
    """Flows of (GF) far beyond the alignment, from norms of 1e-6 to 10, all losses. Columns:
    wrong (events that lose an own datum or gain another one), changes (most of a neuron, over n),
    left (neurons that leave their own cone or S_dead), caught (neurons that end in the cone of the
    other label), full (neurons that make all n changes), share (`longest_way` times mu), status."""
    rng = np.random.default_rng(seed)

    def one(k: int) -> Mapping[str, Any]:
        n, d = int(rng.integers(2, 7)), int(rng.integers(2, 7))
        X, y = setting.separable(n, d, float(rng.uniform(0.05, 0.8)), rng)
        signs = np.array([1.0, -1.0, 1.0, -1.0])
        W = rng.standard_normal((4, d))
        W[:2] = 0.2 * W[:2] + np.array([y[y == -s] @ X[y == -s] * -s for s in signs[:2]])
        log_eps = float(rng.uniform(-6.0, 1.0) * np.log(10.0))
        loss = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)[k % 3]
        found = setting.Start(X, y, W, signs, log_eps, loss).flow(20.0, method=DOP853, rtol=1e-6)
        own = y[:, None] == signs
        wrong = sum((e.kind == "activate") != bool(own[e.datum, e.neuron]) for e in found.events)
        seen = [active for _, active in setting.patterns(found)]
        home = np.array([np.all(at == own, axis=0) | ~at.any(axis=0) for at in seen])
        changes = np.array([sum(e.neuron == j for e in found.events) for j in range(4)])
        began, caught = (int(np.sum(np.all(at != own, axis=0))) for at in (seen[0], seen[-1]))
        return {"wrong": wrong, "changes": float(changes.max() / n),
                "left": int(np.sum(home[:-1] & ~home[1:])),
                "began": began, "full": int(np.sum(changes == n)), "caught": caught,
                "share": longest_way(found) * separation(X, y), "status": found.status}  # fmt: skip

    return survey(range(count), one)


def longest_way(flown: FlowPath) -> float:
    """The largest length of a neuron's path while it is not home, over |w_j(0)|, by chords."""
    begins, ends = flown.t[0], np.minimum(setting.alignment_times(flown), flown.t[-1])
    ways = list[float]()
    for j, grid in enumerate(np.linspace(begins, ends, 40).T):  # a column a neuron
        U, R = (each[:, j] for each in setting.neurons(flown, grid))
        W = np.exp(R - R[0])[:, None] * U
        ways.append(float(np.linalg.norm(np.diff(W, axis=0), axis=1).sum()))
    return max(ways)


def logs_are_one_way(found: pd.DataFrame) -> list[Evidence]:
    """What `logs` shows for the changes."""
    return [
        none_of("flows of (GF): events that lose an own datum or gain another one", found.wrong),
        none_of("flows with a neuron that changes more than n times", found.changes > 1.0),
        note("neurons that make all n changes, of those that start in the cone of the other label",
             (int(found.full.sum()), int(found.began.sum()))),
        none_lost(found.status),
    ]  # fmt: skip


def growth_is_bounded(found: pd.DataFrame) -> list[Evidence]:
    """ea.ours.growth: in `logs` no neuron's path is longer than |w_j(0)|/mu before it is home."""
    return [
        fact(f"of {len(found)} flows, those in which a neuron's path is longer than ‖wⱼ(0)‖/μ "
             "before it is home", int((~(found.share <= 1.0)).sum()), 0),
        note("largest share of ‖wⱼ(0)‖/μ", float(found.share.max()), digits=2),
        none_lost(found.status),
    ]  # fmt: skip


def cones_are_not_left(found: pd.DataFrame) -> list[Evidence]:
    """ea.thm1.trap.1: in `logs` no neuron leaves the cone of its label, and nearly all leave the
    other one: what holds them is not that cones are wide."""
    return [
        none_of("flows of (GF): neurons that leave the cone of their label or S_dead", found.left),
        note("neurons that begin in the cone of the other label, and that end there",
             (int(found.began.sum()), int(found.caught.sum()))),
        none_lost(found.status),
    ]  # fmt: skip


# --- The paths of Appendix C.2: sequences of (active positive data, active negative data) ---------

Place = tuple[int, int]


def paths(n_plus: int, n_minus: int) -> Iterator[tuple[Place, ...]]:
    """All paths to (n_+, 0) that avoid (0, 0), with k_+ never falling and k_- never growing."""
    places = [p for p in product(range(n_plus + 1), range(n_minus + 1)) if p != (0, 0)]

    def before(path: tuple[Place, ...]) -> Iterator[tuple[Place, ...]]:
        yield path
        for a, b in places:
            if (a, b) != path[0] and a <= path[0][0] and b >= path[0][1]:
                yield from before(((a, b), *path))

    if (n_plus, 0) in places:
        yield from before(((n_plus, 0),))


def travel_time(path: tuple[Place, ...]) -> Fraction:
    """The sum of 1 / (k_+ + k_-), all places but the last: a time over 4 / (m_2 sqrt(mu) X_min)."""
    return sum((Fraction(1, a + b) for a, b in path[:-1]), Fraction(0))


def longest(n_plus: int, n_minus: int) -> tuple[Place, ...]:
    """The path of Figure 15, from (0, n_-) down, over (1, 1), and up to (n_+, 0)."""
    down = [(0, k) for k in range(n_minus, 0, -1)]
    over = [(1, 1)] if n_minus else []
    return (*down, *over, *((k, 0) for k in range(1, n_plus + 1)))


WANDERING = ((0, 1), (1, 1), (1, 0), (2, 1), (2, 0))
"""Loses the negative datum, gains it again with a positive one, and loses it again."""


def monotone() -> Reading:
    """Which condition on two places of a path is meant."""
    times = " and ".join(str(travel_time(path)) for path in (WANDERING, longest(2, 1)))
    return Reading(
        "k₊ never falls along a path and k₋ never grows, as the steps are described and drawn",
        "the order of k₊ and k₋ in the printed condition cannot be read in the text that we have. "
        "If it says only that k₊ has grown or k₋ has fallen, then a path may lose a negative datum "
        "and gain it again: with two positive data and a negative one (0, 1), (1, 1), (1, 0), "
        f"(2, 1), (2, 0) is longer than the path of Figure 15 and takes longer, {times} in units "
        "of 4 / (m₂ √μ Xₘᵢₙ). With both signs the other way Figure 15 itself is not a path",
    )


def figure_15_is_longest(most: int = 5, far: int = 60) -> list[Evidence]:
    """ea.path: of all paths the one of Figure 15 is longest, has length n and the largest time, at
    most 4 log n = t_1; by enumeration for n <= `most`, and its time for all n <= `far`."""
    rows = []
    for a, b in [(p, q) for p in range(1, most + 1) for q in range(most - p + 1) if p + q >= 2]:
        each, own = list(paths(a, b)), longest(a, b)
        rows.append((a + b, max(map(len, each)) - 1, max(map(travel_time, each)), len(own) - 1,
                     travel_time(own), b > 0))  # fmt: skip
    beyond = sum(length > n or time > slow for n, length, time, _, slow, _ in rows)
    reached = sum((steps, slow) != (n, time) for n, _, time, steps, slow, both in rows if both)
    sums = accumulate(Fraction(1, k) for k in range(1, far + 1))
    fails = [n for n, H in enumerate(sums, 1) if n > 1 and 2 * H + Fraction(1, 2) > 4 * log(n)]
    late = sum(
        travel_time(longest(a, n - a)) > Fraction(4 * log(n)) for n in range(2, far + 1)
        for a in range(1, n + 1)
    )  # fmt: skip
    return [
        fact(f"pairs (n₊, n₋), n ≤ {most}, with a path of monotone counts beyond that of Figure 15",
             beyond, 0, tried=len(rows)),
        fact("pairs with both labels for which Figure 15 is not the largest", reached, 0),
        fact(f"pairs, 2 ≤ n ≤ {far}, for which its time is above t₁", late, 0),
        note(f"n from 2 to {far} at which the estimate on the way, 2 (1 + 1/2 + … + 1/n) + 1/2 "
             "≤ 4 log n, fails (the upper end of its sum is hard to read)", fails),
    ]  # fmt: skip


# --- Second route: the solution that leaves S_dead, by a plain integrator from its own start ------


def followed(t: float) -> float:
    """w_1(t) from w = (0, 1), v = 1 by the velocity of the side on which x_1 is active, eq (47).
    w_1 > 0 for t > 0, so that this is the velocity of (GF) at every t > 0."""

    def rate(_: float, z: NDArray) -> list[float]:
        w, v = z
        slope = math.exp(-v * w)
        return [v * slope, w * slope]

    return float(solve_ivp(rate, (0.0, t), [0.0, 1.0], rtol=1e-11, atol=1e-13).y[0, -1])


# --- Lemma 12 without (R): a solution of (GF) that begins in S_dead and leaves it -----------------
#
# The paper's own example E.4, eq (47), with a second datum, so that there are both labels: the
# neuron lies on both boundaries, in S_dead, and may rest there. But w = (sinh tau, 1), v = cosh tau
# with tau' = exp(-sinh tau cosh tau), tau(0) = 0, solves the equation at every t > 0 too.

X = np.array([[1.0, 0.0], [-1.0, 0.0]])
Y = np.array([1.0, -1.0])
START = np.array([0.0, 1.0])
TIME = 1.0


def clock(tau: float) -> float:
    """t(tau) = integral of exp(sinh s cosh s) over s from 0 to tau."""
    return float(quad(lambda s: np.exp(np.sinh(s) * np.cosh(s)), 0.0, tau)[0])


def leaving(t: float) -> tuple[float, float]:
    """(w_1, v) at time t >= 0 of the solution that leaves S_dead at once."""
    tau = float(brentq(lambda s: clock(s) - t, 0.0, 3.0)) if t > 0.0 else 0.0
    return float(np.sinh(tau)), float(np.cosh(tau))


def departure_residual(end: float) -> float:
    """The residual up to tau = `end` of the integral equation of w_1' = v e^(-v w_1) and
    v' = w_1 e^(-v w_1). By Gauss' rule, which does not touch w_1 = 0: one moment changes nothing.
    """
    nodes, weights = np.polynomial.legendre.leggauss(40)
    s = 0.5 * end * (1.0 + nodes)
    pull = np.exp(-np.sinh(s) * np.cosh(s))
    dt = 0.5 * end * weights * np.exp(0.5 * np.sinh(2.0 * s))
    gaps = np.sinh(end) - pull * np.cosh(s) @ dt, np.cosh(end) - 1.0 - pull * np.sinh(s) @ dt
    return float(np.abs(gaps).max())


def rests_and_leaves() -> Evidence:
    """ea.thm1.trap.2: every solution that is in S_dead once stays there; of two from one start, the
    constant one does, whose velocity is 0 as no datum is active, and the other one does not."""
    rests = not np.any(X @ START > 0.0)
    stays = leaving(TIME)[0] <= 0.0
    return fact("of two solutions from one start in S_dead stay there", int(rests) + int(stays), 2,
                tried=2)  # fmt: skip


def leaves_the_dead() -> Counterexample:
    """The neuron is in S_dead until t = 1 and not at t = 2: the lemma may mean t_1 > 0."""
    return Counterexample(
        instance={"x_1": (1, 0), "y_1": 1, "x_2": (-1, 0), "y_2": -1, "w_1(0)": (0, 1),
                  "v_1(0)": 1, "solution (E.4, eq (47))": "at rest until t = 1, then w = (sinh τ, "
                  "1), v = cosh τ, τ' = exp(-sinh τ cosh τ), τ(1) = 0"},
        assumptions={
            "(A1), μ = 1": bool(np.all(np.outer(Y, Y) * (X @ X.T) == 1.0)),
            "(A2): w₁(0) is no multiple of x₋ = x₂":
                bool(np.linalg.matrix_rank([START, X[1]]) == 2),
            "(Init): |w₁(0)| = v₁(0)": bool(np.linalg.norm(START) == 1.0),
            "w₁ is in S_dead until t = 1, and nothing moves it": not np.any(X @ START > 0.0),
            "(GF): the integral equation holds on [1, 2], to 1e-7":
                departure_residual(float(np.arcsinh(leaving(TIME)[0]))) <= 1e-7,
        },
        breaks=(
            bound("⟨x₁, w₁(2)⟩ of the solution written down", leaving(TIME)[0], "<=", 0, ""),
        ),
        recheck=(
            bound("⟨x₁, w₁(2)⟩ by integrating the velocity of the active side from t = 1 on",
                  followed(TIME), "<=", 0, ""),
        ),
        route="an integrator that starts at the edge, with the velocity that (GF) has at all t > 1 "
        "where ⟨x₁, w₁⟩ > 0",
    )  # fmt: skip
