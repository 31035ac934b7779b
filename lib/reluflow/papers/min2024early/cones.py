"""The page `cones`: Section 3, Lemmas 2, 5 to 9 and 11, Remark 4, Assumptions 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.special import betainc
from scipy.stats import binomtest

from reluflow.falsify import Draws, Instance, Statement, extended, planted, statement
from reluflow.flows.alignment import align
from reluflow.ledger import Evidence, Reading, fact, note
from reluflow.losses import SQUARE
from reluflow.papers.min2024early import lemmas, setting
from reluflow.papers.min2024early.setting import few, separable, separable_draws
from reluflow.statistics import SURE, wilson

# --- Cosines of floats without rounding: a float is a whole number over a power of 2 --------------
#
# A cosine c is a root, and c |c| is a fraction that grows with it: sign(c) c^2 takes its place.


def whole(values: ArrayLike) -> NDArray:
    """The values times one power of 2 that makes them whole, as an object array of ints."""
    array = np.asarray(values)
    ratios = [v.as_integer_ratio() for v in array.ravel().tolist()]
    unit = max((below for _, below in ratios), default=1)  # all of them are powers of 2
    flat = np.empty(len(ratios), object)
    flat[:] = [above * (unit // below) for above, below in ratios]
    return flat.reshape(array.shape)


def signed_whole(X: ArrayLike, y: ArrayLike) -> NDArray:
    """z_i = y_i x_i times one power of 2, object (n, d), for labels +1 and -1."""
    return whole(X) * whole(y)[:, None]


def squared_cosines(A: NDArray, B: NDArray) -> NDArray:
    """sign(c) c^2 of the cosines c between the rows of A (k, d) and B (m, d), fractions (k, m).
    Both hold ints or fractions. Raises ZeroDivisionError for a row 0, which has no angle."""
    inner, left, right = A.dot(B.T), (A * A).sum(axis=1), (B * B).sum(axis=1)
    found = np.empty(inner.shape, object)
    for (i, j), value in np.ndenumerate(inner):
        found[i, j] = Fraction(value * abs(value)) / Fraction(left[i] * right[j])
    return found


def separable_exactly(X: ArrayLike, y: ArrayLike) -> bool:
    """(A1): no datum is 0, and <y_i x_i, y_j x_j> > 0 for all i, j."""
    Z = signed_whole(X, y)
    return bool((Z.dot(Z.T) > 0).all())


def serves_exactly(X: ArrayLike, y: ArrayLike, w: NDArray, sign: float = 1.0) -> bool:
    """Whether w (d,), of ints or fractions, is in S_+ (sign 1) or S_- (sign -1): <x_i, w> > 0 for
    the data of that label, <= 0 for the others. The sign 0, no label, stands for S_dead."""
    inputs = whole(X).dot(w)
    return all((h > 0) == (label == sign) for h, label in zip(inputs, np.asarray(y), strict=True))


# --- Draws of orthogonally separable data with members of their cones -----------------------------

SEPARABLE: Mapping[str, Callable[..., Any]] = {"(A1)": separable_exactly}
BOTH_LABELS: Mapping[str, Callable[..., Any]] = {
    **SEPARABLE,
    "data of both labels": lambda y: len(set(np.asarray(y).tolist())) == 2,
}


def data(dims: tuple[int, int] = (2, 50)) -> Draws:
    """Draws of {"X", "y"} under (A1), data of both labels, two kinds with one label only, a single
    datum and data on a line."""
    return {**separable_draws(dims), **one_label(dims), "few": few}


def one_label(dims: tuple[int, int] = (2, 50)) -> Draws:
    """Draws of {"X", "y"} under (A1) with data of one label only."""
    ordinary = {"data only": separable_draws(dims)["wide"]}

    def alike(item: Instance, _: np.random.Generator, label: float) -> Instance:
        y = np.full(len(item["y"]), label)
        return {"X": item["X"] * (item["y"] * y)[:, None], "y": y}

    return {f"{name} {of}": draw for name, label in (("positive", 1.0), ("negative", -1.0))
            for of, draw in extended(ordinary, partial(alike, label=label)).items()}  # fmt: skip


def weights(n: int, rng: np.random.Generator) -> NDArray:
    """n numbers >= 0, not all 0: one of them alone, alike, or spread, some of them gone."""
    kind = rng.integers(4)
    if kind == 0:
        return np.eye(n)[rng.integers(n)]
    spread = 10.0 ** rng.uniform(*((-1.0, 1.0) if kind == 1 else (-12.0, 6.0)), n)
    kept = rng.random(n) < (0.5 if kind == 3 else 1.0)
    kept[rng.integers(n)] = True
    return spread * kept


def in_hull(item: Instance, rng: np.random.Generator, share: float = 0.0) -> NDArray:
    """A member (d,) of K, up to rounding, moved by at most `share` of its length."""
    Z = item["X"] * item["y"][:, None]
    z = weights(len(Z), rng) @ Z
    away = rng.standard_normal(Z.shape[1])
    return z + share * rng.random() * np.linalg.norm(z) * away / np.linalg.norm(away)


def a_sign(rng: np.random.Generator) -> NDArray:
    """1 or -1, for S_+ or S_-."""
    return np.array(rng.choice([-1.0, 1.0]))


# --- Lemma 6: the cones S_+, S_- and S_dead, memberships decided in whole numbers -----------------


@statement("every datum is in the cone of its label, and a cone without data holds 0 and all −xᵢ",
           data(), SEPARABLE)  # fmt: skip
def cones_hold_their_data(X: NDArray, y: NDArray) -> float:
    """ea.cones.1: x_i is in S_+ where y_i = 1, in S_- where y_i = -1, and neither cone is empty."""
    rows = whole(X)
    held = all(serves_exactly(X, y, x, label) for x, label in zip(rows, y, strict=True))
    for sign in {1.0, -1.0} - set(y.tolist()):
        held &= all(serves_exactly(X, y, w, sign) for w in [0 * rows[0], *-rows])
    return 1.0 if held else -1.0


def _members(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Two members of one of the cones, as `parts` (2, d), and multipliers `times` (2,)."""
    X, y, sign, parts = item["X"], item["y"], a_sign(rng), []
    for _ in range(2):
        near, inside = (float(sign) * in_hull(item, rng, share) for share in (0.3, 0.0))
        parts.append(near if serves_exactly(X, y, whole(near), float(sign)) else inside)
    return {"parts": np.array(parts), "times": _times(rng), "sign": sign}


def _silent_members(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Two members of S_dead, drawn until found, else two zeros, and multipliers."""
    X, parts = item["X"], np.zeros((2, item["X"].shape[1]))
    tries = rng.standard_normal((400, X.shape[1]))
    ends = tries[(tries @ X.T <= 0.0).all(axis=1)][:2]
    parts[: len(ends)] = ends
    return {"parts": parts, "times": _times(rng), "sign": np.array(0.0)}


def _times(rng: np.random.Generator) -> NDArray:
    times = 10.0 ** rng.uniform(-12.0, 6.0, 2)
    times[0] *= rng.integers(2)
    return times


def _are_members(X: NDArray, y: NDArray, parts: NDArray, sign: NDArray) -> bool:
    return bool(np.any(parts)) and all(serves_exactly(X, y, w, float(sign)) for w in whole(parts))


def _closed(X: NDArray, y: NDArray, parts: NDArray, times: NDArray, sign: NDArray) -> float:
    """ea.lem5-9.2: a w_1 + b w_2 is in a cone where w_1, w_2 are, a >= 0, b > 0; 0 is there if no
    datum has the cone's label, and only then."""
    w, label = whole(times).dot(whole(parts)), float(sign)
    held = serves_exactly(X, y, 0 * w, label) == (label not in y)
    return 1.0 if held and serves_exactly(X, y, w, label) else -1.0


sums_stay = statement("sums and multiples of members of S₊ or S₋ are members, and 0 is none",
                      extended(separable_draws(), _members),
                      {**BOTH_LABELS, "w₁ and w₂ are members": _are_members})(_closed)  # fmt: skip
sums_stay_with_one_label = statement(
    "sums and multiples of members are members, for data of one label",
    extended(one_label(), _members), {**SEPARABLE, "w₁ and w₂ are members": _are_members},
)(_closed)  # fmt: skip


silent_sums_stay = statement(
    "sums and multiples of members of S_dead are members", extended(data((2, 12)), _silent_members),
    {**SEPARABLE, "w₁ and w₂ are members": _are_members}, fixed=("sign",),
)(_closed)  # fmt: skip


TWO_LABELS = Reading(
    "there are data of both labels, which Assumption 2 needs in any case",
    "with data of one label, as in Figures 7 to 9, the cone of the other label is S_dead: no "
    "condition is strict, and it holds 0",
)
TWO_CENTRES = Reading(
    TWO_LABELS.taken, "with data of one label the centre of the other is 0, and its cap is no set"
)


# --- Lemmas 5 and 7: K, the hull of the signed data, is narrow, and deep inside the cones ---------


def _coefficients(*names: str) -> Callable[[Instance, np.random.Generator], dict[str, Any]]:
    return lambda item, rng: {name: weights(len(item["y"]), rng) for name in names}


@statement("cos(z₁, z₂) ≥ μ on K", extended(data(), _coefficients("a", "b")),
           {**SEPARABLE, "z_1 and z_2 are not 0": lambda a, b: np.any(a) and np.any(b)},
           fixed=("y",))  # fmt: skip
def narrow(X: NDArray, y: NDArray, a: NDArray, b: NDArray) -> Fraction:
    """ea.lem5-9.1: cos^2 / mu^2 - 1 for z_1 = sum_i a_i z_i and z_2 = sum_j b_j z_j (Lemma 5)."""
    Z = signed_whole(X, y)
    found = squared_cosines(whole(a).dot(Z)[None], whole(b).dot(Z)[None])[0, 0]
    return found / squared_cosines(Z, Z).min() - 1


def _near_hull(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """z = sum_i a_i z_i of K, e with |e| < mu |z|, a third of them straight away from a datum."""
    Z = item["X"] * item["y"][:, None]
    a = weights(len(Z), rng)
    away = rng.standard_normal(Z.shape[1])
    if rng.integers(3) == 0:
        away = -Z[rng.integers(len(Z))]
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    reach = float((unit @ unit.T).min()) * np.linalg.norm(a @ Z)
    share = 1.0 - 10.0 ** rng.uniform(-9.0, 0.0)
    return {"a": a, "e": share * reach * away / np.linalg.norm(away), "sign": a_sign(rng)}


def _parts(X: NDArray, y: NDArray, a: NDArray, e: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """z_i (n, d), z (d,) and e (d,), all times one whole number."""
    stacked, a = whole(np.vstack([X, e[None]])), whole(np.append(a, 1.0))
    Z = stacked[:-1] * whole(y)[:, None]
    return Z, a[:-1].dot(Z), a[-1] * stacked[-1]


def _is_near(X: NDArray, y: NDArray, a: NDArray, e: NDArray) -> bool:
    if not np.any(a):
        return False
    Z, z, e = _parts(X, y, a, e)
    return bool(e.dot(e) < squared_cosines(Z, Z).min() * z.dot(z))


@statement("what is nearer to K than arcsin μ is in S₊, with the other sign in S₋",
           extended(data(), _near_hull), {**SEPARABLE, "|e| < μ |z|": _is_near},
           strict=True, fixed=("y", "sign"))  # fmt: skip
def inside(X: NDArray, y: NDArray, a: NDArray, e: NDArray, sign: NDArray) -> Fraction:
    """ea.lem5-9.3: the least sign(c) c^2, c = sign cos(z_i, w), of w = sign (z + e) (Lemma 7)."""
    Z, z, e = _parts(X, y, a, e)
    w = int(sign) * (z + e)
    return squared_cosines(int(sign) * w[None], Z).min()


# --- The caps of Lemmas 8 and 9: the largest zeta_1 and the largest xi, in closed form ------------


def cap_exactly(X: NDArray, y: NDArray) -> Fraction:
    """zeta_1 as a fraction."""
    Z, y = signed_whole(X, y), np.asarray(y)
    return squared_cosines(np.array([Z[y == s].sum(axis=0) for s in set(y.tolist())]), Z).min()


def _in_cap(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """w near the edge of the cap of zeta_1 about x_+ or -x_-, a third of them towards a datum's
    boundary. A datum along u is no way from it, and what rounding leaves of it is none."""
    sign = a_sign(rng)
    Z = item["X"] * item["y"][:, None]
    u = Z[item["y"] == sign].sum(axis=0)
    u /= np.linalg.norm(u)
    anywhere, datum = rng.standard_normal(len(u)), Z[rng.integers(len(Z))]
    along = np.linalg.norm(datum - (datum @ u) * u) <= 1e-9 * np.linalg.norm(datum)
    away = anywhere if along or rng.integers(3) else -datum
    away = away - (away @ u) * u
    away /= np.linalg.norm(away)
    share = 1.0 - 10.0 ** rng.uniform(-8.0, 0.0)
    sine = np.sqrt(share * float(cap_exactly(item["X"], item["y"])))
    return {"w": float(sign) * (np.sqrt(1.0 - sine**2) * u + sine * away), "sign": sign}


def _is_in_cap(X: NDArray, y: NDArray, w: NDArray, sign: NDArray) -> bool:
    """cos(sign w, u)^2 > 1 - zeta_1, and cos > 0."""
    if not np.any(w):
        return False
    u = signed_whole(X, y)[np.asarray(y) == int(sign)].sum(axis=0)
    found = squared_cosines(int(sign) * whole(w)[None], u[None])[0, 0]
    return bool(found > 0 and found > 1 - cap_exactly(X, y))


@statement("the caps of every ζ < ζ₁ are in S₊ and in S₋", extended(separable_draws(), _in_cap),
           {**BOTH_LABELS, "w is in the cap of some ζ < ζ₁": _is_in_cap},
           strict=True, fixed=("y", "sign"))  # fmt: skip
def caps_serve(X: NDArray, y: NDArray, w: NDArray, sign: NDArray) -> Fraction:
    """ea.lem5-9.4: the least sign(c) c^2 of the cosines c of w with the z_i, turned for S_-, where
    cos(w, x_+) or cos(w, x_-) is at least sqrt(1 - zeta), zeta < zeta_1 (Lemma 8, eq 19)."""
    return squared_cosines(int(sign) * whole(w)[None], signed_whole(X, y)).min()


def _outside(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Coefficients a of z in K, and w: any direction, or near the boundary of a datum and as near
    to z as it can be there, with either sign."""
    Z = item["X"] * item["y"][:, None]
    a = weights(len(Z), rng)
    if rng.integers(4) == 0:
        return {"a": a, "w": rng.standard_normal(Z.shape[1])}
    z, x = a @ Z, Z[rng.integers(len(Z))]
    beyond = 1.0 + 10.0 ** rng.uniform(-12.0, 0.0)
    return {"a": a, "w": float(a_sign(rng)) * (z - beyond * (x @ z) / (x @ x) * x)}


def _is_outside(X: NDArray, y: NDArray, a: NDArray, w: NDArray) -> bool:
    any_of = np.any(whole(w)) and np.any(a)
    return bool(any_of) and not any(serves_exactly(X, y, whole(w), s) for s in (1.0, -1.0))


@statement("|cos(z, w)| ≤ √(1 − μ²) for z in K and w in neither cone", extended(data(), _outside),
           {**SEPARABLE, "w is in neither cone": _is_outside}, fixed=("y",))  # fmt: skip
def outside_is_far(X: NDArray, y: NDArray, a: NDArray, w: NDArray) -> Fraction:
    """ea.lem5-9.5: 1 - mu^2 - cos(z, w)^2, z = sum_i a_i z_i in K, w in neither cone (Lemma 9)."""
    Z = signed_whole(X, y)
    squared = abs(squared_cosines(whole(a).dot(Z)[None], whole(w)[None])[0, 0])
    return 1 - squared_cosines(Z, Z).min() - squared


# --- Lemma 11: how long the sum of the active data is, in whole numbers ---------------------------


def _neuron(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """w in any direction, or about the hull of the data with either sign."""
    if rng.integers(2):
        return {"w": rng.standard_normal(item["X"].shape[1])}
    return {"w": float(a_sign(rng)) * in_hull(item, rng, share=2.0)}


@statement("‖xₐ(w)‖ ≥ √μ nₐ Xₘᵢₙ", extended(data(), _neuron), SEPARABLE, fixed=("y",))
def sums_are_long(X: NDArray, y: NDArray, w: NDArray) -> float | Fraction:
    """ea.lem11: |x_a|^4 / (mu^2 n_a^4 X_min^4) - 1, x_a(w) the sum of n_a active y_i x_i (25)."""
    Z = signed_whole(X, y)
    active = Z[np.array(whole(X).dot(whole(w)) > 0, bool)]
    if not len(active):
        return np.inf
    total, shortest = active.sum(axis=0), min(z.dot(z) for z in Z)
    asked = squared_cosines(Z, Z).min() * (len(active) ** 2 * shortest) ** 2
    return total.dot(total) ** 2 / asked - 1


# --- When S_dead is no more than {0}, and where neurons go then -----------------------------------

WITHOUT = (np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0]))
"""Data (X, y) with S_dead = {0}: x_1 + x_2 + 3 x_3 = 0 with positive weights, and they span."""


def only_zero(X: NDArray) -> bool:
    """Whether S_dead = {0}: no w but 0 has <x_i, w> <= 0 for all rows of X (n, d). The data span
    R^d, and no w with that has a product below 0, by linear programming."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    least = linprog(unit.sum(axis=0), A_ub=unit, b_ub=np.zeros(len(X)), bounds=(-1.0, 1.0))
    return bool(np.linalg.matrix_rank(X) == X.shape[1] and least.fun > -1e-9)


NOTHING_BUT_ZERO = Reading(
    "empty means S_dead = {0}, for weights are never 0; Assumption 2 holds, and ε is small",
    "to the letter it is never empty: 0 satisfies all its conditions, and the sentence would "
    "speak of no data at all",
)


def _spanning(rng: np.random.Generator, d: int) -> dict[str, Any]:
    """Data with S_dead = {0} in R^d, and a start: d independent z_i of one label, and of the other
    a positive combination of them, which (A1) then allows too, or two."""
    while True:
        Z = rng.integers(-2, 5, (d, d))
        if round(np.linalg.det(Z)) and (Z @ Z.T).min() > 0:
            break
    inner = rng.integers(1, 4, (int(rng.integers(1, 3)), d)) @ Z
    label = float(rng.choice([-1.0, 1.0]))
    y = np.repeat([label, -label], [d, len(inner)])
    X = y[:, None] * np.vstack([Z, inner])
    w = rng.integers(-5, 6, d) if rng.integers(2) else X[rng.integers(len(X))] * 1.0
    w = w if np.any(w) else -X[0]
    return {"X": X, "y": y, "w": np.asarray(w, float), "sign": a_sign(rng)}


def _is_allowed(X: NDArray, y: NDArray, w: NDArray, sign: NDArray) -> bool:
    """w is no positive multiple of x_- (sign 1) or x_+ (sign -1)."""
    Z = signed_whole(X, y)
    forbidden = -int(sign) * Z[np.asarray(y) == -int(sign)].sum(axis=0)
    return squared_cosines(whole(w)[None], forbidden[None])[0, 0] != 1


@statement("where S_dead = {0} every neuron ends in the cone of its sign",
           {name: partial(_spanning, d=d) for d, name in ((1, "line"), (2, "plane"), (3, "space"))},
           {**BOTH_LABELS, "S_dead = {0}": only_zero,
            "(A2)": _is_allowed})  # fmt: skip
def every_neuron_serves(X: NDArray, y: NDArray, w: NDArray, sign: NDArray) -> float:
    """ea.cones.2: where S_dead = {0}, every neuron that (A2) allows ends in the cone of its sign:
    directions in the limit eps -> 0, followed as polygons in exact arithmetic. At a finite eps that
    (Small) allows it is Theorem 1."""
    return 1.0 if setting.polygon(X, y, w, int(sign)).status == "serves" else -1.0


# --- Lemma 2: how far the slope of a loss at an output z is from its slope at 0 -------------------

GAPS: Mapping[str, tuple[Callable[[float], float], float, float]] = {
    "exponential": (lambda q: float(abs(np.expm1(-q))), 2.0, 1.0),
    "twice the logistic": (lambda q: float(np.tanh(abs(q) / 2.0)), 0.5, 1e6),
    "square": (abs, 1.0, 1e6),
}
"""Of each loss |-dl/dz - y| at q = y z, the factor of |z| that bounds it, and up to which |z| that
is tried: for two of them it holds for every z."""


def slope_near_0(name: str) -> Statement:
    """ea.lem2.1, ea.lem2.2, ea.lem2.3: |-dl/dz - y| <= 2 |z| for |z| <= 1 and the exponential loss
    (Lemma 2); with 1/2 for 2 log(1 + e^-yz), and 1 for the square loss (Remark 4: Lemma 4 holds
    for it too); relative to |z|."""
    gap, factor, most = GAPS[name]

    def slack(item: Instance) -> float:
        q = float(item["q"])
        return (planted(item) * factor * abs(q) - gap(q)) / abs(q) if q else -gap(q)

    return Statement(
        f"|−ℓ'(ŷ) − y| ≤ {'' if factor == 1.0 else f'{factor:g} '}|ŷ|, {name}",
        {kind: partial(_sizes, low=low, high=high, most=most)
         for kind, low, high in (("ordinary", 0.0, 0.0), ("tiny", -300.0, -1.0),
                                 ("large", -1.0, 6.0))},
        slack,
        {f"|ŷ| ≤ {most:g}": lambda item: abs(float(item["q"])) <= most},
        tolerance=1e-15,
    )  # fmt: skip


lemma_4_with_the_square_loss = partial(lemmas.near_the_limit, SQUARE)
"""Remark 4: the proof of Lemma 4 needs nothing else of a loss."""


def _sizes(rng: np.random.Generator, low: float, high: float, most: float) -> dict[str, Any]:
    """q = y z of either sign: uniform up to 1, or of a size between 10^low and 10^high."""
    size = rng.random() if low == high else min(10.0 ** rng.uniform(low, high), most)
    return {"q": np.array(size * rng.choice([-1.0, 1.0]))}


# --- Gaussian starts: how near what (A2) forbids, how likely active on a datum of its label -------


def chance_of_clearance(z: ArrayLike, h: int, D: int) -> NDArray:
    """P(zeta_2 <= z) for h Gaussian neurons in R^D, whatever their signs, 0 <= z < 1."""
    z = np.asarray(z, float)
    near = 0.5 * betainc(0.5 * (D - 1), 0.5, z) if D > 1 else np.full(z.shape, 0.5)
    return 1.0 - (1.0 - near) ** h


def assumption_2_is_sure(seed: int, count: int) -> list[Evidence]:
    """ea.random-init.1: Gaussian starts meet (A2) with probability one, in R^D with D >= 2. The
    closed form of P(zeta_2 <= z) against `count` draws in each of three dimensions, with data of
    both labels."""
    rng, outside, parallel = np.random.default_rng(seed), 0, 0
    for D in (2, 3, 20):
        X, y = separable(4, D, 0.3, rng)
        W = rng.standard_normal((count, D))
        signs = rng.choice([-1.0, 1.0], count)
        nearest = np.array([setting.clearance(X, y, W[[k]], signs[[k]]) for k in range(count)])
        parallel += int((nearest == 0.0).sum())
        for z in (0.05, 0.5):
            # Exactly: Wilson's interval leaves out rare hits, such as two where 0.1 are expected.
            hits, chance = int((nearest <= z).sum()), chance_of_clearance(z, 1, D)
            outside += binomtest(hits, count, chance).pvalue < 1.0 - SURE
    return [
        fact("shares in R², R³, R²⁰ outside their intervals", outside, 0),
        fact("neurons along the forbidden direction", parallel, 0, tried=3 * count),
    ]


TWO_DIMENSIONS = Reading(
    "D ≥ 2",
    "in R¹ a neuron has two directions, (A2) forbids one of them, and if the signs do not "
    "depend on W₀ h neurons meet it with probability 2⁻ʰ",
)


def half_start_active(seed: int, count: int, followed: int) -> list[Evidence]:
    """ea.random-init.2: a Gaussian neuron of V_+ is active on a positive datum with probability 1/2
    or more, so that of m some is in S_+ at t_1 with probability 1 - 2^-m or more. `count` draws for
    each of several data; `followed` neurons that begin so go to S_+ in the limit flow."""
    rng, least, below = np.random.default_rng(seed), 1.0, 0
    for k in range(20):
        X, y = separable(6, (2, 3, 10)[k % 3], float(10.0 ** rng.uniform(-3.0, -0.1)), rng)
        active = rng.standard_normal((count, X.shape[1])) @ X.T > 0.0
        for sign in (1.0, -1.0):
            hits = int(active[:, y == sign].any(axis=1).sum())
            least = min(least, hits / count)
            below += float(wilson(hits, count, SURE)[1]) < 0.5
    kinds, lost, done = list(separable_draws((2, 20)).values()), 0, 0
    while done < followed:
        item: Any = kinds[done % len(kinds)](rng)
        w = rng.standard_normal(item["X"].shape[1])
        if np.any(item["X"][item["y"] > 0.0] @ w > 0.0):
            lost += align(item["X"], item["y"], w).status != "serves"
            done += 1
    return [
        fact("shares below 1/2", below, 0),
        fact("neurons active on a positive datum that do not end in S₊", lost, 0, tried=followed),
        note("smallest share", least, digits=2),
    ]


INDEPENDENT_SIGNS = Reading(
    "D ≥ 2, the signs are drawn without a look at W₀, and ε is small enough for the W₀ that came",
    "in R¹, with data of both labels, (A2) holds with probability 2⁻ʰ only; with signs that may "
    "depend on W₀ the chance can be 0: for x = (1, 0) and (−1, 0) of labels 1 and −1 let vⱼ > 0 "
    "only where ⟨x₁, wⱼ⟩ ≤ 0, and all of V₊ dies; and no ε is small enough for every W₀",
)
