"""The page `laws`: Lemma 2.1, Propositions 3.1, 3.6, B.1, B.2 and C.1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, ndtr
from scipy.stats import norm

from reluflow.exact import fractions, null_vectors, rationals
from reluflow.falsify import Draws, Instance, Statement, given, planted, statement
from reluflow.geometry import Cells, enumerate_cells, rank
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import population
from reluflow.papers.lee2023magnitude.setting import Start, drawn

# --- Second route: the matrices of Lemma 2.1 and Proposition B.1 by quadrature over the sector ----
#
# In coordinates a = u.x and b across it in the plane, c across the plane; the Gaussian law's are
# Cartesian, unlike the proof's polar ones.

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)


def _quadrature(edges: Sequence[float]) -> tuple[NDArray, NDArray]:
    """Nodes and weights (k,) for the integral over all intervals between these edges."""
    low, half = np.array(edges)[:-1, None], 0.5 * np.diff(edges)[:, None]
    return (low + half * (_NODES + 1.0)).ravel(), (half * _WEIGHTS).ravel()


def _sector_matrix(u: NDArray, v: NDArray, moments: NDArray) -> NDArray:
    """E[1{u.x>0} 1{v.x>0} xx^T] (d, d), `moments` the integrals E[a^2], E[a b], E[b^2], E[c^2]."""
    aa, ab, bb, rest = moments
    across = v - (u @ v) * u
    e = across / np.linalg.norm(across)
    inner = aa * np.outer(u, u) + bb * np.outer(e, e)
    plane = np.outer(u, u) + np.outer(e, e)
    return inner + ab * (np.outer(u, e) + np.outer(e, u)) + rest * (np.eye(len(u)) - plane)


def gaussian_sector(theta: float, u: NDArray, v: NDArray) -> NDArray:
    """E[1{u.x>0} 1{v.x>0} xx^T] (d, d) for x ~ N(0, I) by quadrature over a = u.x > 0. On the
    sector b > c(a) = -a cot(theta), and the truncated normal law gives P(b > c) = Q(c), E[1 b] =
    f(c), E[1 b^2] = Q(c) + c f(c), f the normal density. Unit vectors u, v (d,) at the angle theta
    in (0, pi)."""
    cot = 1.0 / math.tan(theta)
    # Where cot is large everything happens below 1 / |cot|.
    near = [k / max(1.0, abs(cot)) for k in (0.3, 1.0, 3.0, 10.0, 40.0)]
    a, weights = _quadrature(sorted({0.0, *near, 3.0, 10.0, 40.0}))
    c = -a * cot
    f, Q = norm.pdf(c), ndtr(-c)
    terms = np.stack([a * a * Q, a * f, Q + c * f, Q])
    return _sector_matrix(u, v, terms @ (weights * norm.pdf(a)))


def sphere_sector(theta: float, u: NDArray, v: NDArray) -> NDArray:
    """The same for the uniform law on the unit sphere, d >= 2. With x = sin(t) (cos alpha, sin
    alpha) in the plane, t has density (d - 2) sin t cos^(d-3) t on (0, pi/2), alpha is uniform, and
    an orthogonal coordinate has E[c^2 | t] = cos^2 t / (d - 2). In the plane itself, d = 2, t =
    pi/2."""
    d, inner, outer = len(u), 1.0, 0.0
    if d > 2:
        t, weights = _quadrature([0.0, 0.5 * math.pi])
        inner = weights @ ((d - 2) * np.sin(t) ** 3 * np.cos(t) ** (d - 3))
        outer = weights @ (np.sin(t) * np.cos(t) ** (d - 1))
    alpha, weights = _quadrature([theta - 0.5 * math.pi, 0.5 * math.pi])
    x, y = np.cos(alpha), np.sin(alpha)
    terms = np.stack([inner * x**2, inner * x * y, inner * y**2, np.full_like(x, outer)])
    return _sector_matrix(u, v, terms @ weights / (2.0 * math.pi))


# --- Lemma 2.1 and Proposition B.1: second moments of a law on a half-space and on a sector -------
#
# E[1{u.x > 0} 1{v.x > 0} xx^T] as printed, and by quadrature.

ANGLES = (1e-6, 1e-3, 0.3, 1.0, math.pi / 2, 2.0, 3.0, math.pi - 1e-3, math.pi - 1e-6)
"""Angles between u and v: the two ends, where the printed formula cancels, and between."""


def sectors_angle(u: NDArray, v: NDArray) -> float:
    """The angle between two unit vectors (d,), with all its digits near 0 and near pi."""
    return float(2.0 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)))


def printed_sector_moment(u: NDArray, v: NDArray) -> NDArray:
    """E[1{u.x>0} 1{v.x>0} xx^T] (d, d) for x ~ N(0, I), unit vectors u, v (d,), as in Lemma 2.1:

    1/2 (1 - theta/pi) I + 1/(2 pi sin theta) [-cos theta (uu^T + vv^T) + vu^T + uv^T].
    """
    theta = sectors_angle(u, v)
    both, mixed = np.outer(u, u) + np.outer(v, v), np.outer(v, u) + np.outer(u, v)
    bracket = (-np.cos(theta) * both + mixed) / (2.0 * np.pi * np.sin(theta))
    return 0.5 * (1.0 - theta / np.pi) * np.eye(len(u)) + bracket


def relu_correlation(theta: ArrayLike) -> NDArray:
    """E[s(u.x) s(v.x)] = 1/2 (1 - theta/pi) cos theta + sin theta / (2 pi) of Lemma 2.1, s the
    ReLU, for angles theta (...) in [0, pi]."""
    theta = np.asarray(theta, float)
    return 0.5 * (1.0 - theta / np.pi) * np.cos(theta) + np.sin(theta) / (2.0 * np.pi)


def _largest(
    seed: int, count: int, gaps: Callable[[NDArray, NDArray], tuple[NDArray, ...]]
) -> tuple[NDArray, list[Evidence]]:
    """The largest entry of each of the gaps over unit vectors u, v in random planes, d = 2, 3, 5,
    10, at ANGLES and count/10 random angles; and how many pairs."""
    rng, found = np.random.default_rng(seed), []
    for theta in (*ANGLES, *rng.uniform(0.0, math.pi, count // 10)):
        for d in (2, 3, 5, 10):
            u, e = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
            v = math.cos(theta) * u + math.sin(theta) * e
            pair = u / np.linalg.norm(u), v / np.linalg.norm(v)
            found.append([np.abs(gap).max() for gap in gaps(*pair)])
    tried = [note("pairs u, v in d = 2, 3, 5, 10", len(found)), note("seed", seed)]
    return np.max(found, axis=0), tried


def sector_moments(seed: int, count: int) -> list[Evidence]:
    """ma.lem2.1: the printed matrices against quadrature."""

    def gaps(u: NDArray, v: NDArray) -> tuple[NDArray, ...]:
        theta = sectors_angle(u, v)
        measured = gaussian_sector(theta, u, v)
        both = measured + gaussian_sector(math.pi - theta, u, -v) - 0.5 * np.eye(len(u))
        product = u @ measured @ v - relu_correlation(theta)
        return measured - printed_sector_moment(u, v), both, product

    (worst, half, product), tried = _largest(seed, count, gaps)
    return [
        deviation("largest error of an entry for the sector, against quadrature", worst, ""),
        deviation("the sectors of v and of -v together, against I/2", half, ""),
        deviation("largest error of E[s(u.x) s(v.x)], against quadrature", product, ""),
        *tried,
    ]


AT_OPPOSITE = Reading(
    taken="at v = -u, which is distinct from u, the formula is read as its limit, 0: the "
    "sector is empty there",
    others="letter by letter it is 0/0 at v = -u; for d = 1 that is the only pair of distinct "
    "unit vectors",
)


def sphere_moments(seed: int, count: int) -> list[Evidence]:
    """ma.propB.1: the matrices of the unit sphere are 1/d times those of N(0, I)."""

    def gaps(u: NDArray, v: NDArray) -> tuple[NDArray, ...]:
        d, theta = len(u), sectors_angle(u, v)
        on_sphere = sphere_sector(theta, u, v)
        both = on_sphere + sphere_sector(math.pi - theta, u, -v)
        return d * on_sphere - gaussian_sector(theta, u, v), d * both - 0.5 * np.eye(d)

    (worst, half), tried = _largest(seed, count, gaps)
    return [
        deviation("largest |d M_sphere - M_Gauss|, both by quadrature", worst, ""),
        deviation("the half-space, d M_sphere against I/2", half, ""),
        *tried,
    ]


# --- Proposition C.1: the cosine of two independent Gaussian vectors, its exact tail, its bounds --
#
# The cosine c of independent u, v ~ N(0, I) in R^d has density proportional to (1 - c^2)^((d-3)/2),
# so (1 + c)/2 has the law Beta((d-1)/2, (d-1)/2); for d = 1 it is 1 or -1.


def upper_tail(eps: ArrayLike, d: ArrayLike) -> NDArray:
    """P(u.v / (|u||v|) >= eps) = 1/2 I_(1 - eps^2)((d-1)/2, 1/2), I the regularised incomplete beta
    function; eps >= 0 and d >= 1 broadcast. It is 0 for eps > 1, and 1/2 for d = 1, eps <= 1."""
    eps, d = np.asarray(eps, float), np.asarray(d, float)
    inside = np.clip((1.0 - eps) * (1.0 + eps), 0.0, 1.0)
    tail = 0.5 * betainc(np.maximum(d - 1.0, 1.0) / 2.0, 0.5, inside)
    return np.where(d == 1.0, np.where(eps <= 1.0, 0.5, 0.0), tail)


def printed_bound(eps: ArrayLike, d: ArrayLike) -> NDArray:
    """2 exp(-d eps^2 / 2), which Proposition C.1 puts above the tail P(... >= eps)."""
    return 2.0 * np.exp(-0.5 * np.asarray(d, float) * np.asarray(eps, float) ** 2)


def half_bound(eps: ArrayLike, d: ArrayLike) -> NDArray:
    """1/2 exp(-d eps^2 / 2), four times smaller; at eps = 0 it is the tail itself."""
    return 0.25 * printed_bound(eps, d)


def central_angles(d: int, share: float) -> tuple[float, float]:
    """The angles, in degrees, between which the angle of u and v lies with probability `share`."""
    half = np.degrees(np.arcsin(np.sqrt(1.0 - betaincinv((d - 1) / 2.0, 0.5, 1.0 - share))))
    return float(90.0 - half), float(90.0 + half)


def second_turn() -> float:
    """For d = 2: `half_bound` less `upper_tail` at its second turn, its least value inside (0, 1).
    There its derivative has the sign of -log(pi) - 1/2 log(1 - e^2) - log(e) + e^2, which falls up
    to e^2 = 1 - 1/sqrt(2) and rises from there."""

    def sign(eps: float) -> float:
        return -math.log(math.pi * eps) - 0.5 * math.log1p(-(eps**2)) + eps**2

    eps = brentq(sign, math.sqrt(1.0 - math.sqrt(0.5)), 0.99)
    return float(half_bound(eps, 2) - upper_tail(eps, 2))


def _angle(
    least: int, level: Callable[..., float], top: float, rng: np.random.Generator
) -> Instance:
    """A dimension d from `least` to 10^top, and eps > 0."""
    d = np.array(max(least, int(10.0 ** rng.uniform(0.0, top))))
    return {"d": d, "eps": np.array(level(rng, d))}


def _tail_below(
    says: str, bound: Callable[..., NDArray], least: int, tests: Mapping[str, Any]
) -> Statement:
    """That the tail is below its bound for d >= least, eps everywhere, far out, and near 1."""

    def slack(item: Instance) -> float:
        limit = float(bound(item["eps"], item["d"]))  # not decided where it is no float
        return 1.0 - float(upper_tail(item["eps"], item["d"])) / limit if limit > 0.0 else math.nan

    levels: Mapping[str, tuple[Callable[..., float], float]] = {
        "anywhere": (lambda rng, d: 10.0 ** rng.uniform(-6.0, 0.5) / math.sqrt(d) ** 0.5, 5.0),
        "far out": (lambda rng, d: math.sqrt(10.0 ** rng.uniform(0.0, 3.0) / d), 5.0),
        "near 1": (lambda rng, _: 1.0 - 10.0 ** rng.uniform(-12.0, -0.3), 2.5),
    }
    draws = {name: partial(_angle, least, *pair) for name, pair in levels.items()}
    return Statement(says, draws, slack, tests, tolerance=1e-12)


def concentration() -> Statement:
    """ma.propC.1: P(cos >= eps) <= 2 exp(-d eps^2 / 2)."""
    tests = {"eps > 0": lambda item: bool(item["eps"] > 0.0)}
    return _tail_below("P(cos >= eps) <= 2 exp(-d eps^2 / 2)", printed_bound, 1, tests)


def half_concentration() -> Statement:
    """ma.ours.angle.half: a quarter of the bound will do for d >= 2."""
    tests = given(
        "ma.ours.angle.half",
        pair=lambda item: bool(item["d"] >= 2),
        level=lambda item: bool(item["eps"] > 0.0),
    )
    return _tail_below("P(cos >= eps) <= 1/2 exp(-d eps^2 / 2)", half_bound, 2, tests)


# --- Propositions 3.1 and 3.6: (5)-(7) and (9)-(10) by SymPy from the loss in polar coordinates ---
#
# E f(x) = (1/pi) int_0^(2 pi) f(cos a, sin a) da for f homogeneous of degree 2; no Lemma 2.1.

RHO, LENGTH, BEST, THETA, ANGLE = sp.symbols("rho v v_star theta a", positive=True)
"""|w|, the common magnitude of a balanced neuron, |w*| = v_k*, angle(w, w*), and a direction."""


@cache
def overlap() -> sp.Expr:
    """E[u.x]_+ [u*.x]_+ at the angle THETA: an integral over the directions active for both."""
    product = sp.expand_trig(sp.cos(ANGLE - THETA)) * sp.cos(ANGLE)
    return sp.integrate(sp.expand(product), (ANGLE, THETA - sp.pi / 2, sp.pi / 2)) / sp.pi


def identities(m: int) -> Mapping[str, bool]:
    """Which equations follow from L for m factors besides w; (5)-(7) for m = 0, (9)-(10) else. In
    the plane w' = -L_rho e_rho - (1/rho) L_theta e_theta. The vector equation is compared along
    both, the angle's as phi' = -theta'. Returns {equation: whether the difference is zero}."""
    v = sp.symbols(f"v_1:{m + 1}", positive=True)
    here, there = sp.prod(v) * RHO, BEST ** (m + 1)
    single = sp.integrate(sp.cos(ANGLE) ** 2, (ANGLE, -sp.pi / 2, sp.pi / 2)) / sp.pi
    loss = (single * (here**2 + there**2) - 2 * here * there * overlap()) / 2
    balanced = dict.fromkeys((*v, RHO), LENGTH)
    outward, around = -sp.diff(loss, RHO), -sp.diff(loss, THETA) / RHO
    phi = sp.pi - THETA
    pull = (sp.sin(phi) - phi * sp.cos(phi)) / sp.pi
    size, least = LENGTH**m, BEST**m
    # e_rho and e_theta have the components cos theta and -sin theta along w*.
    along = size * least * phi / sp.pi * BEST / 2
    rest = size * least * BEST * sp.sin(phi) / sp.pi / 2 - size**2 * LENGTH / 2
    magnitude = -size * (LENGTH ** (m + 1) - BEST ** (m + 1) * pull) / 2
    angle = LENGTH ** (m - 1) * BEST ** (m + 1) * phi * sp.sin(phi) / (2 * sp.pi)
    vector = "(5)" if m == 0 else "the vector equation of Prop. 3.6"
    radial, turning = ("(6)", "(7)") if m == 0 else ("(9)", "(10)")
    left = {
        f"{vector}, along w": outward.subs(balanced) - along * sp.cos(THETA) - rest,
        f"{vector}, across w": around.subs(balanced) + along * sp.sin(THETA),
        f"{radial}, for |w|": outward.subs(balanced) - magnitude,
        turning: -(around / RHO).subs(balanced) - angle,
    }
    for k, symbol in enumerate(v, 1):
        slope = sp.diff(loss, symbol)
        left[f"{radial}, for v_{k}"] = -slope.subs(balanced) - magnitude
        left[f"v_{k} v_{k}' = |w| |w|', balanced or not"] = symbol * slope + RHO * outward
    return {name: sp.expand(value.rewrite(sp.exp)) == 0 for name, value in left.items()}


def turning_of_field() -> sp.Expr:
    """|dG/dphi|^2 - (sin(phi)/pi)^2, which is 0, for the part of (5) that bends, G = (phi w*/|w*| +
    sin(phi) w/|w|) / (2 pi)."""
    phi = sp.Symbol("phi", positive=True)
    G = sp.Matrix([phi - sp.sin(phi) * sp.cos(phi), sp.sin(phi) ** 2]) / (2 * sp.pi)
    slope = G.diff(phi)
    return sp.expand((slope.dot(slope) - (sp.sin(phi) / sp.pi) ** 2).rewrite(sp.exp))


def one_layer_system() -> list[Evidence]:
    """ma.prop3.1: (5)-(7) follow from the loss, and (5) has one solution (Proposition 3.1)."""
    proved = identities(0)
    return [
        fact("identities of (5)-(7) that follow from the loss (SymPy)", sum(proved.values()),
             len(proved)),
        fact("(5) is Lipschitz away from 0: its bent part turns by sin(φ)/π (SymPy)",
             turning_of_field() == 0, True),
    ]  # fmt: skip


def layered_system() -> list[Evidence]:
    """ma.prop3.6: (9)-(10) follow from the loss in all parameters, and balance is kept."""
    proved = [holds for m in (1, 2, 3, 4) for holds in identities(m).values()]
    return [
        fact("identities that follow from the loss, m = 1..4 (SymPy)", sum(proved), len(proved))
    ]


# --- Eq. (11), its first line: v = |w| falls exactly beyond v* (1 - eps)^(1/(m+1)), the nullcline -


def starts(layers: Sequence[int], edge: float = 12.0) -> Draws:
    """Starts of every kind that might be special: moderate ones, phi_0 near 0 and near pi, tiny and
    huge norms, and both at once. `edge` is the largest |psi_0| and |rho_0|."""
    middle, low, high = (-2.0, 2.0), (-edge, -2.0), (2.0, edge)
    moderate, tiny, huge = (-1.0, 1.0), (-edge, -3.0), (3.0, edge)
    kinds = {
        "moderate": (middle, moderate),
        "phi0 near 0": (low, moderate),
        "phi0 near pi": (high, moderate),
        "tiny norm": (middle, tiny),
        "huge norm": (middle, huge),
        "phi0 near 0, tiny norm": (low, tiny),
        "phi0 near 0, huge norm": (low, huge),
        "phi0 near pi, huge norm": (high, huge),
    }
    return drawn(layers, kinds)


def resting(start: Start) -> float:
    """The norm on the nullcline at a start's angle, |w*| = 1."""
    return float(population.nullcline(start.phi, start.m))


def beside_nullcline(layers: Sequence[int], rng: np.random.Generator) -> Instance:
    """A start off the nullcline by a relative 1e-6 to 0.1, to either side."""
    psi, m = rng.uniform(-2.0, 2.0), int(rng.choice(layers))
    rho = math.log(float(population.nullcline(population.angle(psi), m)))
    rho += rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-5.9, -1.0)
    return {"psi": np.array(psi), "rho": np.array(rho), "m": np.array(m)}


@statement(
    "|w| and all v_k fall exactly where v > v* (1 - ε)^(1/(m+1))",
    {"near the nullcline": partial(beside_nullcline, range(6)), **starts(range(6), edge=3.5)},
    {
        "off the nullcline by more than 1e-6": lambda item: (
            abs(resting(Start.of(item)) / Start.of(item).v - 1.0) > 1e-6
        )
    },
)
def falls_above_nullcline(item: Instance) -> float:
    """ma.eq11.1: dv/dt < 0 if and only if v > v* (1 - eps)^(1/(m+1)) (eq. (11), its first line).
    The sign of dv/dt is that of the loss's own gradient by quadrature, in all parameters. Starts on
    the nullcline to within 1e-6 are left out: rounding decides their sign."""
    start = Start.of(item)
    m, v = start.m, start.v
    w = v * np.array([math.sin(start.phi), -math.cos(start.phi)])
    slope, slopes = population.quadrature_gradient(w, [0.0, 1.0], np.full(m, v), np.ones(m))
    rates = np.array([-float(slope @ w) / v, *(-slopes)])
    return 1.0 if np.all((rates < 0.0) == (v > planted(item) * resting(start))) else -1.0


# --- Laws on finitely many points with rational coordinates and weights, and draws of them --------

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class FiniteLaw:
    """A law on finitely many points (n, d), of n positive weights of sum 1, in rational numbers."""

    points: tuple[Vector, ...]
    weights: Vector

    @property
    def d(self) -> int:
        """The dimension."""
        return len(self.points[0])

    @property
    def has_zero_mean(self) -> bool:
        """Whether E x = 0, exactly."""
        return not (np.array(self.weights) @ np.array(self.points)).any()

    @property
    def has_full_rank(self) -> bool:
        """Whether E xx^T is regular: whether the points span the space."""
        return rank(np.array(self.points)) == self.d

    @property
    def is_symmetric(self) -> bool:
        """Whether x and -x have the same law."""
        mass: Any = Counter()
        for p, x in zip(self.weights, self.points, strict=True):
            mass[x] += p
        return all(mass[tuple(-a for a in x)] == p for x, p in mass.items())

    def inputs(self, w: Any) -> NDArray:
        """x.w at all points x (n,), exactly."""
        return np.array(self.points) @ np.array(rationals(w))


def finite_law(points: Any, weights: Any = None) -> FiniteLaw:
    """A law on points (n, d), weights equal if not given (n,); decimals are taken as they print."""
    points = rationals(points)
    weights = (Fraction(1, len(points)),) * len(points) if weights is None else rationals(weights)
    return FiniteLaw(points, weights)


def random_law(rng: np.random.Generator, d: int, n: int, symmetric: bool | None) -> FiniteLaw:
    """A law with zero mean and regular covariance on small whole points. Symmetric: n points and
    their negatives, with equal weights in pairs. Otherwise n random points and one more that makes
    the mean zero. Drawn again until the covariance is regular. None: any law on n points."""
    while True:
        points, weights = rng.integers(-3, 4, (n, d)), rng.integers(1, 4, n)
        if symmetric is None:
            return finite_law(points, fractions(weights) / weights.sum())
        more, their = (-points, weights) if symmetric else ([-weights @ points], [1])
        weights = fractions(np.append(weights, their))
        law = finite_law(np.vstack([points, more]), weights / weights.sum())
        if law.has_full_rank:
            return law


# --- Proposition B.2: is the teacher w* the only minimiser of L(w) = 1/2 E ([w.x]_+ - [w*.x]_+)^2?
#
# The minimisers are {w : w.x = w*.x where w*.x > 0, w.x <= 0 where w*.x <= 0}; w* is the only one
# exactly if v = 0 is the only v with v.x = 0 where w*.x > 0 and v.x <= 0 where w*.x = 0, which is
# decided over the rationals.

MERCEDES = ((1, 0), (0, 1), (-1, -1))
"""Three points of mean zero that span the plane: the smallest law with several minimisers."""

TEACHER = (-1, -1)


def is_only_minimiser(law: FiniteLaw, target: Any) -> bool:
    """Whether w* is the only minimiser of (13), by rational arithmetic. With N a basis of {v : v.x
    = 0 where w*.x > 0} and M the rows x.N of the points on the boundary w*.x = 0, v = Nc, it asks
    that Mc <= 0 only for c = 0. If M has full column rank, that cone is pointed, and it holds more
    than 0 exactly if it has a ray orthogonal to all but one dimension of rows; all such rays are
    tried."""
    X, heights = np.array(law.points), law.inputs(target)
    basis = null_vectors(X[heights > 0], law.d)
    if not basis:
        return True
    rows, k = X[heights == 0] @ np.array(basis).T, len(basis)
    if null_vectors(rows, k):
        return False
    for chosen in combinations(rows, k - 1):
        rays = null_vectors(np.array(chosen), k)
        signs = rows @ np.array(rays[0])
        if len(rays) == 1 and (max(signs) <= 0 or min(signs) >= 0):
            return False
    return True


@lru_cache(maxsize=4)
def law_cells(law: FiniteLaw) -> Cells:
    """The activation cells of the law's points."""
    return enumerate_cells(np.array(law.points, float))


def spans_every_side(law: FiniteLaw) -> bool:
    """Whether the points on the positive side of every hyperplane through 0 that holds none of the
    points (but 0) span the space: exactly then every w* is the only minimiser of its loss."""
    X = np.array(law.points, float)
    return all(pattern.any() and rank(X[pattern]) == law.d for pattern in law_cells(law).patterns)


def mercedes() -> Counterexample:
    """ma.propB.2: a law of mean zero and full rank has one minimiser, against three points."""
    law, zero = finite_law(MERCEDES), Fraction(0)

    def loss(a: Fraction, b: Fraction) -> Fraction:
        gaps = (max(a * c + b * d, zero) - Fraction(max(-c - d, 0)) for c, d in MERCEDES)
        return sum((gap**2 for gap in gaps), zero) / 6

    others = [(Fraction(-2), zero), (Fraction(-3, 2), Fraction(-1, 2)), (zero, Fraction(-2))]
    found = sum(loss(*w) == 0 for w in others)
    return Counterexample(
        instance={
            "x, each with probability 1/3": np.array(MERCEDES),
            "w*": np.array(TEACHER),
            "other minimisers": "w = (-2 + s, -s), 0 <= s <= 2",
        },
        assumptions={
            "E x = 0": law.has_zero_mean,
            "E xx^T has full rank": law.has_full_rank,
        },
        breaks=(fact("w* is the only minimiser, by rational null vectors",
                     is_only_minimiser(law, TEACHER), True),),
        recheck=(fact("of (-2, 0), (-3/2, -1/2) and (0, -2), those with L = 0", found, 0),),
        route="the loss (13) itself, summed in rational arithmetic",
    )  # fmt: skip


# --- For which laws on finitely many points w* is the only minimiser of (13), whatever w* is ------


def telling_targets(law: FiniteLaw, rng: np.random.Generator, count: int) -> Iterator[NDArray]:
    """Teachers to try: one inside each activation cell, `count` on random points' boundaries, and
    `count` of small whole numbers."""
    X = np.array(law.points, float)
    yield from np.round(law_cells(law).witnesses, 6)
    for _ in range(count):
        rows = X[rng.integers(0, len(X), law.d - 1)]
        for v in null_vectors(rationals(rows), law.d):
            yield int(rng.choice([-1, 1])) * np.array(v)
    yield from rng.integers(-2, 3, (count, law.d))


def unique_minimisers(seed: int, count: int) -> tuple[list[Evidence], list[Evidence]]:
    """ma.ours.unique.symmetric, ma.ours.unique.finite: w* is the only minimiser for laws of x that
    are laws of -x too; all w* are exactly if the points on every side span. Of half of the laws
    neither mean nor rank is asked, and every other one of the rest is symmetric."""
    rng, alike = np.random.default_rng(seed), []
    wrong, spanning = 0, 0
    for k in range(2 * count):
        d = 1 + k % 3
        kind = None if k >= count else k % 2 == 0
        law = random_law(rng, d, int(rng.integers(d, 2 * d + 4)), kind)
        spans = spans_every_side(law)
        unique = all(is_only_minimiser(law, w) for w in telling_targets(law, rng, 3))
        if law.is_symmetric and law.has_full_rank:
            alike.append(unique)
        wrong += spans != unique
        spanning += spans
    return [
        fact("symmetric laws of full rank with several minimisers", alike.count(False), 0),
        bound("symmetric laws of full rank", len(alike), ">", 0, ""),
        note("seed", seed),
    ], [
        fact("laws for which the condition and the teachers tried disagree", wrong, 0),
        bound("laws that meet the condition", spanning, ">", 0, ""),
        bound("laws that do not", 2 * count - spanning, ">", 0, ""),
        note("seed", seed),
    ]


# --- Proposition B.2 for laws with a density: mixtures of uniform laws on triangles, exactly ------
#
# A law is an array (k, 3, 2) of the corners of triangles, all as likely.


def smeared(points: ArrayLike, size: Fraction) -> NDArray:
    """The uniform law on the points (n, 2), each spread over a triangle around it of extent size.
    The corners are the point + size (1, 0), size (0, 1), size (-1, -1), so its mean stays."""
    return fractions(points)[:, None] + size * fractions([(1, 0), (0, 1), (-1, -1)])


def told_apart(law: NDArray, w: ArrayLike, target: ArrayLike) -> int:
    """Corners at which [w.x]_+ is not [w*.x]_+. Near one they differ, too: the loss is not 0."""
    student, teacher = (np.maximum(law.reshape(-1, 2) @ fractions(v), 0) for v in (w, target))
    return int((student != teacher).sum())


def minimiser_of_densities(seed: int, count: int) -> list[Evidence]:
    """ma.ours.unique.density: w* is the only minimiser where no hyperplane through 0 has mass. Laws
    on points with several minimisers, each point spread over a triangle, are tried at an old
    minimiser, exactly."""
    rng, kept = np.random.default_rng(seed), 0
    for _ in range(count):
        points, target, other = _several_minimisers(rng)
        law = smeared(points, Fraction(1, int(rng.integers(2, 200))))
        kept += law.sum(axis=(0, 1)).any() or not told_apart(law, other, target)
    return [
        fact("laws on points with several minimisers, each point spread over a triangle: those "
             "without a corner at which another old minimiser's output is not w*'s", int(kept), 0),
        note("laws", count),
        note("seed", seed),
    ]  # fmt: skip


def _several_minimisers(rng: np.random.Generator) -> tuple[list[Any], Any, Any]:
    """Points (k, 2) of mean 0 that span the plane, a teacher w* that is active on the last of them
    alone, and another minimiser, all rational: w* + s v with v orthogonal to that point."""
    along, k = rng.integers([1, -3], 4), int(rng.integers(1, 3))
    across, (back, more, aside) = along[::-1] * [-1, 1], rng.integers(1, 4, (3, k))
    sides = np.outer(aside, across)
    X = [sides - np.outer(back, along), -sides - np.outer(more, along), (back + more).sum() * along]
    other = fractions(along) + Fraction(1, 2 * int(aside.max())) * fractions(across)
    return list(map(tuple, np.vstack(X).tolist())), tuple(along.tolist()), tuple(other)
