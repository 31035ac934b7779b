"""The page `sectors`: Lemmas 1 to 3, A.1 to A.3 and B.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853
from scipy.optimize import minimize_scalar
from scipy.special import expit

from reluflow.errors import InputError
from reluflow.falsify import Draw, Instance, extended, statement
from reluflow.flows.alignment import align
from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.geometry.separability import cosines, serves, signed, silent
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.losses import LOGISTIC
from reluflow.margin.max_margin import max_margin
from reluflow.papers.phuong2021inductive import setting
from reluflow.papers.phuong2021inductive.flows import Late, Start, followed, patterns
from reluflow.papers.phuong2021inductive.setting import (
    breaks,
    own_margin,
    right_angles,
    such,
    support_draws,
)
from reluflow.statistics import SURE, wilson

BOTH_SIGNS = (1.0, -1.0)


# --- Lemma 2: two extremal directions and their sectors -------------------------------------------

_NEAR = 1e-6


def direction(X: NDArray, y: NDArray, sign: float) -> NDArray:
    """The sum of the data of one label, divided by its length, shape (d,)."""
    total = X[y == sign].sum(axis=0)
    return np.asarray(total / np.linalg.norm(total))


def half_way(rng: np.random.Generator) -> Instance:
    """(OS) data in R^3 of which a negative one is orthogonal to all positive data, which lie in a
    plane, so that (Span) fails; in two of three draws the labels are exchanged."""
    item = setting.supported(2, (int(rng.integers(1, 3)), 1), rng)
    X = np.hstack([item["X"], rng.uniform(0.1, 1.0, (len(item["y"]), 1))])
    X[item["y"] > 0, 2] = 0.0
    y = np.append(item["y"], -1.0)
    X = np.vstack([X, [0.0, 0.0, rng.uniform(0.5, 2.0)]])
    Q = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)[:, None]
    return {"X": X @ Q, "y": y * rng.choice([1.0, -1.0, -1.0])}


def _no_parallels(X: NDArray) -> bool:
    """Whether no two data are multiples of each other; of such the enumeration knows nothing."""
    return bool(np.abs(np.triu(cosines(X), 1)).max() < 1.0 - 1e-9)


def lengthened(decades: float, item: Instance, rng: np.random.Generator) -> Instance:
    """The data multiplied by 10^-decades to 10^decades each, which (OS) survives."""
    return {"X": item["X"] * 10.0 ** rng.uniform(-decades, decades, (len(item["y"]), 1))}


def spans(X: NDArray, y: NDArray, sign: float) -> bool:
    """(Span) for one label: its support examples span R^d."""
    return bool(np.linalg.matrix_rank(own_margin(X, y, sign)[1]) == X.shape[1])


_SMALL = {
    kind: partial(such, support_draws(3)[kind], lambda X, y: X.shape[1] >= 2 and len(y) <= 9)
    for kind in ("spanning", "few")
}
DRAWS: Mapping[str, Draw] = {
    **_SMALL,
    "right angles": partial(such, right_angles, lambda X, y: X.shape[1] == 2 and _no_parallels(X)),
    "orthogonal to all": half_way,
    **extended({"lengths": _SMALL["spanning"]}, partial(lengthened, 2.0)),
}
NO_PARALLELS = {"no two data are parallel": _no_parallels}


@statement(f"one extremal direction of each sign: the sum of the data of its label, to {_NEAR:g}",
           DRAWS, NO_PARALLELS)  # fmt: skip
def one_each(X: NDArray, y: NDArray) -> float:
    """os.lem2.1: (OS) data in two or more dimensions have one positive and one negative extremal
    direction, the sums of the data of either label over their lengths. (Span) is not asked for."""
    for sign in BOTH_SIGNS:
        found = setting.extremal_directions(X, y, sign)
        if len(found) != 1 or np.linalg.norm(found[0] - direction(X, y, sign)) > _NEAR:
            return -1.0
    return 1.0


@statement("the sectors of the extremal directions are those of (13) and (14)", DRAWS, NO_PARALLELS)
def in_the_sectors(X: NDArray, y: NDArray) -> float:
    """os.lem2.2: they lie in the sectors of eqs (13) and (14), the third case included."""
    right = [np.array_equal(setting.signs(X, w), setting.sector(X, y, sign))
             for sign in BOTH_SIGNS for w in setting.extremal_directions(X, y, sign)]  # fmt: skip
    return 1.0 if right and all(right) else -1.0


TWO_DIMENSIONS = Reading(
    "d ≥ 2",
    "in R¹ the sphere is two isolated points, and each is a strict local maximum and a strict "
    "local minimum",
)


def come_to_the_minimum(seed: int, count: int) -> list[Evidence]:
    """os.lem2.neg: neurons with a < 0 come to the negative extremal direction in the limit flow, or
    die with G = 0. That it is a strict local minimum is a part of os.lem2.1."""
    rng = np.random.default_rng(seed)
    died = ended = 0
    high = 0.0
    for item in setting.in_turn(DRAWS, rng, count):
        X, y = item["X"], item["y"]
        found = align(X, y, rng.standard_normal(X.shape[1]), -1.0)
        if found.status == "dead":
            died += 1
            high = max(high, abs(float(setting.height(X, y, found.end))) / float(np.abs(X).max()))
        else:
            ended += bool(np.linalg.norm(found.end - direction(X, y, -1.0)) < _NEAR)
    return [
        fact("of the neurons with a < 0 that stay alive, at the negative extremal direction",
             ended, count - died, tried=count - died),
        bound("|G| of a dead neuron over the largest |xᵢ|, at most", high, "<=", 1e-9, ""),
        note("neurons that die, of all", (died, count)),
    ]  # fmt: skip


# --- Theorem 1's 2^-p: how likely it is that all neurons die --------------------------------------
#
# The closed form in the plane is on the chapter's page.

LABELS = np.array([1.0, 1.0, -1.0, -1.0])
SIGNS_DRAWN = Reading(
    "all signs of a(0) are drawn or fixed before any w_j(0) is seen: all that the proof speaks of",
    "The paper says no more than that a_j(0) is λ_j or -λ_j. With w_j(0) in view it can be chosen "
    "so that a neuron dies with a probability up to 3/4 in the plane.",
)
"""How os.thm1.prob is read."""


def _angles(V: NDArray, origin: float) -> NDArray:
    """The angles of V (..., 2), in degrees, within 180 of `origin`."""
    turns = np.degrees(np.arctan2(V[..., 1], V[..., 0]))
    return np.asarray(origin + (turns - origin + 180.0) % 360.0 - 180.0)


def chances(X: NDArray, y: NDArray) -> tuple[float, float, float]:
    """P(dies | a > 0), P(dies | a < 0) and P(dies for one of the signs) for data in the plane, by
    their angles alone; 0 where no open half-plane holds all: a neuron on the boundaries of two
    opposite data goes on. Data are mirrored where the negative ones lie to the right."""
    (a, b), (c, d) = sums = np.array([X[y == sign].sum(axis=0) for sign in BOTH_SIGNS])
    if a * d < b * c:
        return chances(X * [1.0, -1.0], y)
    plus = float(_angles(sums[0], 0.0))
    minus = plus + float(_angles(sums[1], plus) - plus) % 360.0
    first = float(_angles(X[y > 0.0], plus).min())
    last = float(_angles(X[y < 0.0], minus).max())
    if last - first >= 180.0 - 1e-9:  # up to rounding
        return 0.0, 0.0, 0.0
    turns = first + 270.0 - minus, plus + 270.0 - last, plus + 360.0 - minus
    return turns[0] / 360.0, turns[1] / 360.0, turns[2] / 360.0


def plane(gap: float, width: float = 2.0) -> tuple[NDArray, NDArray]:
    """Two unit data a label, `width` degrees apart, the labels' nearest at `gap` >= 90."""
    return unit(np.radians([-width, 0.0, gap, gap + width])), LABELS


def unit(turns: NDArray) -> NDArray:
    """Unit vectors (m, 2) at these angles (m,)."""
    return np.stack([np.cos(turns), np.sin(turns)], axis=1)


class Fates(NamedTuple):
    """Which of many directions (k,) die with a > 0, and with a < 0, as the weights go to 0."""

    positive: NDArray
    negative: NDArray

    @property
    def dead(self) -> tuple[int, int]:
        """How many die with signs in turn, fixed beforehand, and with signs chosen afterwards."""
        fixed = np.where(np.arange(len(self.positive)) % 2 == 0, self.positive, self.negative)
        return int(fixed.sum()), int((self.positive | self.negative).sum())


def fates(
    X: NDArray, y: NDArray, count: int, rng: np.random.Generator, lives: bool = False
) -> Fates:
    """The fates of `count` Gaussian directions. `lives`: one that sees a datum of its label lives,
    as by Lemma B.1 on (OS) data, and is not followed."""
    W, found = rng.standard_normal((count, X.shape[1])), []
    for sign in BOTH_SIGNS:
        doubtful, dead = ~(lives & np.any(X[y == sign] @ W.T > 0.0, axis=0)), np.zeros(count, bool)
        dead[doubtful] = [align(X, y, w, sign, goes_on=True).status == "dead" for w in W[doubtful]]
        found.append(dead)
    return Fates(*found)


def at_most(found: Sequence[Fates], seed: int, count: int) -> list[Evidence]:
    """os.thm1.prob: all p neurons die with probability at most 2^-p if a_j(0) is drawn without a
    look at w_j(0): with neither sign, given beforehand, does one surely die more often than not;
    and, as the proof has it, none dies that sees a datum of its label at the start: of `count`,
    which see one at a cosine down to 1e-12, beside the sum of the other label or anywhere."""
    often = [wilson(int(dead.sum()), len(dead), SURE)[0] > 0.5 for each in found for dead in each]
    rng, lost = np.random.default_rng(seed), 0
    for k, item in enumerate(setting.in_turn(DRAWS, rng, count)):
        X, y, sign = item["X"], item["y"], BOTH_SIGNS[k % 2]
        x = X[rng.choice(np.flatnonzero(y == sign))]
        x = x / np.linalg.norm(x)
        w = direction(X, y, -sign) + 10.0 ** rng.uniform(-6.0, 2.0) * rng.standard_normal(len(x))
        w = w + (10.0 ** rng.uniform(-12.0, 0.0) - w @ x) * x
        lost += align(X, y, w, sign, goes_on=True).status == "dead"
    return [
        fact("data sets, with either sign, on which more than half of the neurons surely die",
             sum(often), 0, tried=len(often)),
        fact("neurons that see a datum of their label at the start, if hardly, and die", lost, 0,
             tried=count),
    ]  # fmt: skip


# --- Lemma A.1: what G looks like near a point, by grids ------------------------------------------

_ASIDE = np.geomspace(1e-6, 0.1, 41)


def _any_data(decades: float, rng: np.random.Generator) -> Instance:
    """Data in the plane, hardly any of them (OS), of lengths over twice so many decades."""
    n = int(rng.integers(1, 7))
    lengths = 10.0 ** rng.uniform(-decades, decades, (n, 1))
    return {"X": rng.standard_normal((n, 2)) * lengths, "y": rng.choice([-1.0, 1.0], n)}


ANY_DATA = {"gaussian": partial(_any_data, 0.0), "lengths": partial(_any_data, 1.0)}


def summits(X: NDArray, y: NDArray, sign: float = 1.0) -> NDArray:
    """Local maxima (sign 1) or minima of G on the circle, (k, 2), without any use of Lemma A.1: by
    a grid and the kinks, and a search beside its highest points. Plateaus are left out."""

    def hill(turn: NDArray | float) -> NDArray:
        return sign * setting.height(X, y, np.stack([np.cos(turn), np.sin(turn)], axis=-1))

    kinks = (np.arctan2(X[:, 1], X[:, 0])[:, None] + [-np.pi / 2, np.pi / 2]).ravel()
    # A smooth summit may lie next to a kink, nearer than the grid is fine.
    aside = (kinks[:, None] + np.concatenate([-_ASIDE, _ASIDE])).ravel()
    grid = np.concatenate([kinks, aside, np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)])
    turns = np.unique(np.round(np.mod(grid, 2.0 * np.pi), 14))
    turns = np.concatenate([turns[-1:] - 2.0 * np.pi, turns, turns[:1] + 2.0 * np.pi])
    h, found = hill(turns), []
    for k in np.flatnonzero((h[1:-1] > h[:-2]) & (h[1:-1] >= h[2:])) + 1:
        best = minimize_scalar(lambda s: -float(hill(s)), bounds=(turns[k - 1], turns[k + 1]),
                               method="bounded", options={"xatol": 1e-12})  # fmt: skip
        turn = float(best.x) if -best.fun > h[k] else float(turns[k])
        if max(float(hill(turn - 1e-5)), float(hill(turn + 1e-5))) < float(hill(turn)):
            found.append([np.cos(turn), np.sin(turn)])
    return np.array(found).reshape(-1, 2)


@statement("in the plane: g(w) is parallel to w, up to 1e-6", ANY_DATA)
def is_critical(X: NDArray, y: NDArray) -> float:
    """os.lemA.1: g(w) = C w at every extremal direction of any data in the plane. The slack is what
    1e-6 leaves of the part of g(w) across w, over the largest datum."""
    across, units = [0.0], X / np.linalg.norm(X, axis=1)[:, None]
    for w in [*summits(X, y, 1.0), *summits(X, y, -1.0)]:
        near = units @ w
        k = int(np.argmin(np.abs(near)))
        if abs(near[k]) <= 1e-7:  # onto the kink
            w = w - near[k] * units[k]
            w = w / np.linalg.norm(w)
        g = setting.drift(X, y, w)
        across.append(float(np.linalg.norm(g - (g @ w) * w)) / float(np.abs(X).max()))
    return 1e-6 - max(across)


# --- Lemma A.2: G along a line from a point, in whole fractions -----------------------------------


def local_formula(seed: int, count: int) -> list[Evidence]:
    """os.lemA.2: eq (37), times |w + eps v|: G(w + eps v) = G(w) + eps sum of y_i <v, x_i> / 2
    over the data with <w + eps v, x_i> > 0, for all eps in [0, eps_max] of eq (40), 10 where there
    is none. In fractions: whole numbers, w of any length, often on boundaries, v = -w in a third of
    the cases."""
    rng, held = np.random.default_rng(seed), list[bool]()
    for k in range(count):
        n, d = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        X, y = rng.integers(-3, 4, (n, d)).astype(object), rng.choice([-1, 1], n).astype(object)
        w, v = rng.integers(-2, 3, (2, d)).astype(object)
        w = w if w.any() else 0 * w + 1
        v = -w if k % 3 == 0 else v
        largest = eps_max(X, w, v) or Fraction(10)
        steps = largest, largest / 1000
        held += [formula_holds(X, y, w, v, eps) for eps in steps if (w + eps * v).any()]
    return [fact("steps at which (37) fails", held.count(False), 0, tried=len(held))]


def eps_max(X: NDArray, w: NDArray, v: NDArray) -> Fraction | None:
    """Half the largest eps at which no <w + eps v, x_i> has changed its sign (eq 40), or None."""
    ends = [Fraction(-a, b) for a, b in zip(X.dot(w), X.dot(v), strict=True) if a * b < 0]
    return min(ends) / 2 if ends else None


def formula_holds(X: NDArray, y: NDArray, w: NDArray, v: NDArray, eps: Fraction) -> bool:
    """Eq (37) without its norms, in fractions."""
    before, after = X.dot(w), X.dot(w + eps * v)
    slope = (y * X.dot(v))[after > 0].sum()
    return bool(y.dot(np.maximum(after, 0)) == y.dot(np.maximum(before, 0)) + eps * slope)


# --- Lemma A.3: the velocity off boundaries; and how many data are in general position ------------


def velocity(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> tuple[NDArray, NDArray]:
    """The right sides of (46) and (45), (p, d) and (p,), off all boundaries."""
    before = np.maximum(X @ W.T, 0.0)
    pull = y * expit(-y * (before @ a))
    return a[:, None] * (((before > 0.0) * pull[:, None]).T @ X), before.T @ pull


def _any_network(spread: float, rng: np.random.Generator) -> Instance:
    """Any data and any parameters, balanced or not; lengths over twice so many decades."""
    n, d, p = (int(rng.integers(1, top)) for top in (7, 5, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-spread, spread, (n, 1))
    W, a = rng.standard_normal((p, d)), rng.standard_normal(p)
    return {"X": X, "y": rng.choice([-1.0, 1.0], n), "W": W, "a": a}


@statement(
    "(45) and (46) are the derivatives",
    {"gaussian": partial(_any_network, 0.0), "lengths": partial(_any_network, 2.0)},
    {"no neuron is on the boundary of a datum": lambda X, W: np.all(X @ W.T != 0.0)},
    fixed=("y",),
)
def off_boundaries(
    X: NDArray, y: NDArray, W: NDArray, a: NDArray, planted: float = 1.0
) -> np.floating:
    """os.lemA.3: (45) and (46) against automatic derivatives, by steps in an imaginary direction,
    which lose no digits. The slack is what 1e-9 leaves of the relative difference."""
    p, d = W.shape
    steps = np.append(W.ravel(), a) + 1e-30j * np.eye(p * (d + 1))
    before = steps[:, : p * d].reshape(-1, p, d) @ X.T
    outer = steps[:, p * d :, None]
    margins = y * np.sum(np.where(before.real > 0.0, before, 0.0) * outer, axis=1)
    right = margins.real > 0.0
    losses = np.log1p(np.exp(np.where(right, -margins, margins))) - np.where(right, 0.0, margins)
    slopes = losses.imag.sum(axis=1) / 1e-30
    by_W, by_a = slopes[: p * d].reshape(p, d), slopes[p * d :]
    dW, da = velocity(X, y, W, a)
    gap = np.abs(planted * dW + by_W).max() + np.abs(da + by_a).max()
    return 1e-9 - gap / (1.0 + np.abs(dW).max() + np.abs(da).max())


def flat(points: NDArray) -> int:
    """The dimension of the smallest flat that holds points (k, d)."""
    return int(np.linalg.matrix_rank(points[1:] - points[0]))


def position(seed: int, count: int) -> list[Evidence]:
    """os.lemA.3.position: of data sets with (Span), those of whose points, 0 included, no k lie on
    a flat of dimension k - 2. For k = n + 1 >= d + 2 all of them do."""
    rng = np.random.default_rng(seed)
    general = 0
    for _ in range(count):
        d = int(rng.integers(1, 4))
        points = np.vstack([np.zeros(d), rng.standard_normal((2 * d, d))])
        general += flat(points) > len(points) - 2
    return [
        fact("random data sets of 2d points, none k of them and 0 on a flat of dimension k − 2, "
             "any k", general, count, tried=count),
    ]  # fmt: skip


def squared_area(p: int, q: int, r: int) -> int:
    """16 times the squared area of the triangle of three points of a line (Heron)."""
    a, b, c = abs(p - q), abs(q - r), abs(r - p)
    return (a + b + c) * (b + c - a) * (c + a - b) * (a + b - c)


def three_on_a_line() -> Counterexample:
    """x_1 = 1 and x_2 = -1 in R^1, with 0: k = 3 points on a line, which has dimension k - 2."""
    points = np.array([[0.0], [1.0], [-1.0]])
    return Counterexample(
        instance={"x_1": 1, "y_1": 1, "x_2": -1, "y_2": -1, "k": 3},
        assumptions={
            "(OS)": float(points[1, 0] * points[2, 0]) <= 0.0,
            "(Span): a support example of either label is not 0": bool(points[1:].all()),
        },
        breaks=(bound("dimension of the flat through 0, x_1 and x_2, which must exceed k − 2",
                      flat(points), ">", 1, ""),),
        recheck=(bound("16 times the squared area of their triangle, by its sides",
                       squared_area(0, 1, -1), ">", 0, ""),),
        route="Heron's formula: points of a line span no area, and that holds after every small "
              "motion of them in R¹",
    )  # fmt: skip


# --- Lemma 1: where small neurons are by the time their limit flow is at home ---------------------

LOG_SIZE = -12.0
"""ln of the norms at the start."""


def at_home(given: Start, log_size: float) -> NDArray:
    """Whether each neuron (p,) is in the extremal sector of its sign, or dead, by twice the time
    at which the last one would be in the limit; all norms are e^log_size times the given ones."""
    X, y, W0, signs = given.X, given.y, given.W0, given.signs
    chart = Neurons(signs, X.shape[1])
    field = GradientFlow(chart, LOGISTIC, X, y, TIME)
    # Twice, for in the limit the pulls are y / 2.
    times = [2.0 * align(X, y, w, s).time for w, s in zip(W0, signs, strict=True)]
    z = chart.along(W0, given.log_norms + log_size)
    path = integrate(field, z, 2.0 * max(times) + 1e-3, at_zero=0.0, rtol=1e-7, method=DOP853)
    U = chart.split(path.end)[0]
    home = np.where(signs > 0.0, serves(X, y, U, 1.0), serves(X, y, U, -1.0))
    return np.asarray(home | silent(X, U, 1e-9))  # where a neuron died it is on a boundary


def homecomings(seed: int, count: int) -> tuple[int, int]:
    """How many neurons of `count` networks are at home from LOG_SIZE, or from a smaller size if not
    all five of them are at that one, and their number: on (OS) data with (Span) in the plane or in
    space, each with five Gaussian directions of mixed signs, the last one e^-4 times as long as the
    first."""
    rng, total = np.random.default_rng(seed), 0
    for _ in range(count):
        X, y = setting.spanning(2, 3, rng).values()
        W0, signs = rng.standard_normal((5, X.shape[1])), np.array([1.0, -1, 1, -1, 1])
        one = Start(X, y, W0, -np.arange(5.0), signs)
        for factor in (1.0, 2.0, 4.0, 8.0, 16.0):
            home = at_home(one, factor * LOG_SIZE)
            if home.all():
                break
        total += int(home.sum())
    return total, 5 * count


def small_enough(found: tuple[int, int], seed: int, count: int) -> list[Evidence]:
    """os.lem1: for each start there is a size below which all neurons are in the extremal sector of
    their sign, or dead: by `homecomings` on (OS) data, and in the limit flow on any data of
    the plane."""
    home, total = found
    rng = np.random.default_rng(seed)
    astray = 0
    for k, item in enumerate(setting.in_turn(ANY_DATA, rng, count)):
        sign = 1.0 if k % 4 < 2 else -1.0
        end = align(item["X"], item["y"], rng.standard_normal(2), sign)
        if end.status != "dead":
            goals = summits(item["X"], item["y"], sign)
            astray += not len(goals) or np.min(np.linalg.norm(goals - end.end, axis=1)) > 1e-5
    return [
        fact(f"(OS): neurons at home for starts of norm e^{LOG_SIZE:g}, or of a smaller one "
             "where their direction needs it", home, total, tried=total),
        fact("any data in the plane, limit of small weights: neurons that end elsewhere than at an "
             "extremal direction, or dead", astray, 0, tried=count),
    ]  # fmt: skip


# --- Lemma B.1 and Lemma 3: along (GF) <w_j, x_k> moves one way, at every size of the weights -----

_ROUNDING = 1e-12
_FIXED = ("X", "y", "sign", "pulls", "shares")


def _pulls(within: bool, item: Instance, rng: np.random.Generator) -> Instance:
    """Pulls -l_i' of any size with the sign of y_i, shares of the data in [0, 1], and a sign;
    `within`: the shares are those of a neuron in the extremal sector of the sign, 1 on its data, 0
    on all others."""
    n, sign = len(item["y"]), float(rng.choice([-1.0, 1.0]))
    shares = rng.choice([0.0, 1.0, rng.random()], n)
    if within:
        shares = np.where(setting.sector(item["X"], item["y"], sign) > 0, 1.0, 0.0)
    pulls = item["y"] * 10.0 ** rng.uniform(-6.0, 3.0, n)
    return {"pulls": pulls, "shares": shares, "sign": sign}


def _rates(X: NDArray, y: NDArray, pulls: NDArray, shares: NDArray, sign: float) -> NDArray:
    """y_k s d<w, x_k>/dt for each datum (n,), over the sum of the sizes of its summands."""
    lengths = np.linalg.norm(X, axis=1)
    size = np.abs(shares * pulls) @ np.outer(lengths, lengths)
    moved = y * sign * (sign * (shares * pulls)[:, None] * (X @ X.T)).sum(axis=0)
    return np.asarray(np.divide(moved, size, out=np.zeros_like(moved), where=size > 0.0))


_DRAWS: dict[str, Draw] = {**support_draws(), "orthogonal to all": half_way}
_LONG = extended({"lengths": partial(setting.spanning, 2, 3)}, partial(lengthened, 6.0))


@statement(
    "the rates have the signs y_k a_j, or are 0",
    extended({**_DRAWS, **_LONG}, partial(_pulls, False)),
    tolerance=_ROUNDING,
    fixed=_FIXED,
)
def one_way(X: NDArray, y: NDArray, pulls: NDArray, shares: NDArray, sign: float) -> float:
    """os.lemB.1: y_k a_j d<w_j, x_k>/dt >= 0 anywhere, for all of Clarke's subdifferential."""
    return float(_rates(X, y, pulls, shares, float(sign)).min())


@statement("rates in the sector have the signs of the sector",
           extended(_DRAWS, partial(_pulls, True)),
           {"no product is 0 by rounding alone": lambda X: bool(np.all(
               (np.abs(cosines(X)) > 1e-9) | (np.abs(cosines(X)) < 1e-14)))},
           strict=True, tolerance=_ROUNDING / 100, fixed=_FIXED)  # fmt: skip
def stays_in_the_sector(
    X: NDArray, y: NDArray, pulls: NDArray, shares: NDArray, sign: float
) -> float:
    """os.lem3: within the extremal sector of its sign a neuron's <w, x_k> moves in the direction of
    sigma_k, and rests where that is 0. The slack is its least rate."""
    sigma = setting.sector(X, y, float(sign))
    moved = _rates(X, y, pulls, shares, float(sign)) * y * float(sign)
    rests = np.all(np.abs(moved[sigma == 0]) <= _ROUNDING)
    return float((moved * sigma)[sigma != 0].min()) if rests else -1.0


# --- Lemma 1 and equation (15) with the size of the start fixed first, on (OS) and (Span) data ----

WAITING_X = np.array([[10.0, 3.0], [10.0, -3.0], [30.0, 25.0], [-7.0, -5.0], [-5.0, -7.0]])
WAITING_Y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
WAITING_SIGNS = np.array([1.0, 1.0, -1.0])
ANGLE, WAITING_LARGE, WAITING_SMALL = 0.1, 1e-2, 1e-12
"""The waiting neuron's angle from the ridge, and two sizes of the start."""
SIZE_LAST = (
    "for almost all directions of the start there is a size below which it holds, and this size "
    "may depend on the directions"
)
SIZE_FIRST = (
    "With the size first it is false, in the setting of Theorem 1, too: for every size up to 1 "
    "there is an open set of data and of directions, near those of the instance, from which a "
    "neuron comes to see one datum of its label and no other, and stays so for ever."
)
READING = Reading(SIZE_LAST, SIZE_FIRST)
"""How os.lem1 is read."""
EARLY = Reading(f"of the neurons: {SIZE_LAST}", SIZE_FIRST)
"""How os.lem2.neg is read."""


def waiting_start(size: float) -> Start:
    """Neurons of norm `size` along e_1, at ANGLE from the ridge and along it."""
    W0 = unit(np.array([0.0, 1.25 * np.pi - ANGLE, 1.25 * np.pi]))
    return Start(WAITING_X, WAITING_Y, W0, np.full(3, np.log(size)), WAITING_SIGNS)


@cache
def ends() -> list[Late]:
    """The flows from the norms WAITING_LARGE and WAITING_SMALL to a loss of e^-1e6. With all labels
    and signs of a exchanged the W of a flow is the same."""
    return [followed(waiting_start(size)) for size in (WAITING_LARGE, WAITING_SMALL)]


def home(late: Late) -> NDArray:
    """At the start and behind every event of a flow, whether each neuron is dead, or active on
    all data of its label and on no others, (m, p)."""
    own = late.given.y[:, None] == late.given.signs
    return np.array([np.all(active == own, axis=0) | ~active.any(axis=0)
                     for _, active in patterns(late)])  # fmt: skip


def waiting_size_comes_last(found: Sequence[Late]) -> list[Evidence]:
    """That the size of the start has to be chosen after its directions: by the flows of
    `ends`; the page has the proof."""
    large, small = found
    where = f"(OS) and (Span), three neurons, one at the angle {ANGLE:g} from the ridge"
    return [
        fact(f"{where}: from norm {WAITING_SMALL:g} all are home at one time",
             bool(home(small).all(axis=1).any()), True),
        fact(f"{where}: from norm {WAITING_LARGE:g} this one is home at some time, to L = e^(-1e6)",
             bool(home(large)[:, 1].any()), False),
    ]  # fmt: skip


# --- Abstract: a combination of two classifiers whatever the width, one perhaps with the weight 0 -

ONE_GROUP_WIDTHS = (1, 2, 3, 5, 10, 20)
ONE_GROUP_X = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]])
ONE_IS_ENOUGH = Reading(
    "a combination may give one of the two classifiers the weight 0, as Theorem 1 does with u = 0 "
    "or z = 0, and is learnt with a probability of at least 1 - 2^-p: all neurons may die",
    "if both must have a positive weight: one neuron never learns both, and if all a_j(0) > 0, "
    "which (Init) allows, no width does; the negative data then keep a loss of log 2 each",
)


def positive_only(p: int) -> Late:
    """The flow of p neurons with a_j > 0 from norm e^-10, to a loss e^-300 of the positive data."""
    turned = np.linspace(-0.5, 0.5, p) if p > 1 else np.zeros(1)
    return followed(one_group(np.stack([np.ones(p), turned], axis=1)), 300.0)


def one_group(W0: NDArray) -> Start:
    """Neurons W0 (p, 2) with a_j > 0 and of norm e^-10, on ONE_GROUP_X."""
    p = len(W0)
    return Start(ONE_GROUP_X, LABELS, W0, np.full(p, -10.0), np.ones(p))


def one_or_two() -> list[Evidence]:
    """os.thm1.nonempty: whatever the width, what is learnt is u w_+ and z w_-, perhaps u or z = 0,
    as here, where all neurons are in one group."""
    lates = [positive_only(p) for p in ONE_GROUP_WIDTHS]
    span = all(spans(ONE_GROUP_X, LABELS, sign) for sign in BOTH_SIGNS)
    return [
        fact("(OS) and (Span)", is_separable(ONE_GROUP_X, LABELS) and span, True),
        bound("widths 1, 2, 3, 5, 10, 20, all a_j > 0: largest distance to (8) and (9) with z = 0, "
              "at a loss of e^-300 of the positive data",
              max(float(late.distances[-1].max()) for late in lates), "<=", 1e-3, "", digits=2),
        note("one neuron, a > 0: loss of the two negative data in the end",
             float(np.exp(lates[0].log_loss(-1.0)[-1]))),
    ]  # fmt: skip


# --- Do (OS) data lie in opposite orthants? In the plane they do; in space they need not ----------

FIVE = np.array([[3, 3, -1], [3, 2, 2], [3, -1, 3], [3, -3, -1], [3, -1, -3]])
"""Five positive data; with NEGATIVE all eight are support examples, and each label spans R^3."""
NEGATIVE = np.array([[-9, 1, 0], [-9, 0, 1], [-9, -1, -1]])
HORN = np.array([[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1],
                 [-1, 1, 1, -1, 1]])  # fmt: skip
"""v^T H v = (v1-v2+v3+v4-v5)^2 + 4 v2 v4 + 4 v3 (v5-v4) = (v1-v2+v3-v4+v5)^2 + 4 v2 v5 + 4 v1
(v4-v5), so it is not negative for v >= 0: one of v5 - v4 and v4 - v5 is not."""


@statement("in the plane: least cosine with the basis of the first datum of the arc",
           {kind: partial(such, draw, lambda X, y: X.shape[1] == 2)
            for kind, draw in {**support_draws(2), "right angles": right_angles}.items()},
           {"d = 2": lambda X: X.shape[1] == 2}, tolerance=1e-12)  # fmt: skip
def in_opposite_orthants(X: NDArray, y: NDArray) -> float:
    """os.orthants: in the plane (OS) data lie in opposite orthants of some orthonormal basis. The
    slack is the least cosine of a z_i = y_i x_i with the best z_j and its normal."""
    Z = signed(X, y)
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    turned = np.stack([-Z[:, 1], Z[:, 0]], axis=1)
    return float(np.minimum((Z @ Z.T).min(axis=0), (Z @ turned.T).min(axis=0)).max())


def spread_of_a_basis(points: NDArray = FIVE) -> float:
    """The least of 3 <e, c>^2 / |e|^2 over the e with <e, p> >= 0 for all points p (n, 3), c the
    first axis; above 1 no three of them are orthonormal, for then the <e, c>^2 sum to 1.

    Over the corners of that cone: the normals of pairs of points on which no point is negative. On
    a cone about c it is least at a corner. 0 if some corner is not on the side of c.
    """
    normals = [np.cross(p, q) for p in points for q in points]
    corners = [e for e in normals if e.any() and np.all(points @ e >= 0)]
    return min(3 * float(e[0]) ** 2 / float(e @ e) if e[0] > 0 else 0.0 for e in corners)


def certificate(points: Sequence[Sequence[int]]) -> int:
    """The least sum of H_ij <p_i, p_j> over the orders of five points (5, d) of whole numbers: if
    all lay in an orthant, in coordinates v^k_i >= 0, it would be sum_k (v^k)^T H v^k >= 0."""
    gram = np.array(points) @ np.array(points).T
    return min(int((HORN * gram[np.ix_(s, s)]).sum()) for s in permutations(range(5)))


def five_points() -> list[Evidence]:
    """In space: five positive and three negative data, (OS), in no orthant of any basis."""
    says = "an orthonormal basis of R³ may have five positive data in one orthant"
    return [fact(says, spread_of_a_basis() <= 1.0, True)]


def in_no_orthant() -> Counterexample:
    """The five data, by the corners of their dual cone and by a copositive matrix."""
    X, y = np.vstack([FIVE, NEGATIVE]), np.repeat([1, -1], [5, 3])
    P = X @ X.T * np.outer(y, y)
    return Counterexample(
        instance={"positive data": FIVE, "negative data": NEGATIVE},
        assumptions={
            "(OS): positive inner products within a label": bool(min(P[:5, :5].min(),
                                                                     P[5:, 5:].min()) > 0),
            "(OS): none above 0 across the labels": bool(P[5:, :5].min() >= 0),
            "(Span)": all(spans(X.astype(float), y.astype(float), sign) for sign in BOTH_SIGNS),
        },
        breaks=(bound("3 ⟨e, c⟩² / |e|² of every e with ⟨e, x⟩ ≥ 0 for the five data, c = (1, 0, 0)"
                      ": the least; three orthonormal ones need", spread_of_a_basis(), "<=", 1,
                      ""),),
        recheck=(bound("⟨H, G⟩ for their Gram matrix G, in the worst order, and Horn's copositive "
                       "matrix H, which points in an orthant of any R^N need",
                       certificate(FIVE.tolist()), ">=", 0, ""),),
        route="Horn's matrix: for points with coordinates >= 0 the sum over the coordinates of "
        "v^T H v is not negative",
    )  # fmt: skip


# --- Each datum as a separator of all: what (OS) says, and stricter or laxer words ----------------


def is_separable(X: NDArray, y: NDArray) -> bool:
    """(OS), eq (1)."""
    return not breaks(X, y).any()


def half_spaces_hold_one_label(X: NDArray, y: NDArray) -> bool:
    """Some vector separates, and the open half-space about each x_i holds its label's data only."""
    try:
        max_margin(X, y)
    except InputError:
        return False
    return all(np.array_equal(X @ x > 0.0, y == label) for x, label in zip(X, y, strict=True))


def _whole(rng: np.random.Generator) -> dict[str, Any]:
    """One to four data of small whole numbers, some 0 or of one label, about half of them (OS)."""
    n, d = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.choice([-1.0, 1.0], n)
    return {"X": X * np.where(X @ X[0] * y * y[0] < 0.0, -1.0, 1.0)[:, None], "y": y}


@statement("(OS) and that every datum separates the others are one",
           {"whole": _whole, **support_draws()})  # fmt: skip
def separates_all(X: NDArray, y: NDArray, planted: float = 1.0) -> float:
    """os.separator: (OS) holds exactly if the data are linearly separable and every x_i separates
    them: the open half-space <x_i, x> > 0 holds the data of its label and no other."""
    turned = X * np.append(planted, np.ones(len(X) - 1))[:, None]
    return 1.0 if is_separable(X, y) == half_spaces_hold_one_label(turned, y) else -1.0


OPEN_HALF_SPACE = Reading(
    "x_i separates where the open half-space ⟨x_i, x⟩ > 0 holds the data of its own label alone "
    "(for a negative x_i too)",
    "strictly on both sides (OS) does not suffice, and with 0 allowed on both sides (OS) does not "
    "follow: e₁ and e₂, of different labels and of one",
)
