"""The page `limit`: Theorem 1, Corollary 1, Lemmas A.4 and C.1, eqs (15) to (22)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import PLANTED, Draw, Instance, Statement, extended, given, planted, statement
from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.losses import LOGISTIC, Loss
from reluflow.margin.kkt import kkt, margins
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive import flows, sectors, setting
from reluflow.papers.phuong2021inductive.flows import Late, Start, Survey
from reluflow.papers.phuong2021inductive.sectors import BOTH_SIGNS, home, is_separable, spans
from reluflow.papers.phuong2021inductive.setting import Limit, limit, own_margin

# --- Lemma A.4: balanced neurons stay balanced and keep their signs; and the rate it prints -------


def rates(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """d|w_j|^2/dt, d a_j^2/dt, and what (58) prints for both, each (p,)."""
    dW, da = sectors.velocity(X, y, W, a)
    return 2.0 * np.sum(W * dW, axis=1), 2.0 * a * da, a * da


def _neurons(item: Instance, rng: np.random.Generator) -> Instance:
    """Three balanced neurons "W" (3, d), "a" (3,), of lengths from 0.01 to 10."""
    W = rng.standard_normal((3, item["X"].shape[1])) * 10.0 ** rng.uniform(-2.0, 1.0, (3, 1))
    return {"W": W, "a": rng.choice([-1.0, 1.0], 3) * np.linalg.norm(W, axis=1)}


@statement(
    "d|w|²/dt = da²/dt = twice what (58) prints",
    extended({**setting.support_draws(), **sectors.ANY_DATA}, _neurons),
    tolerance=1e-9,
    fixed=("y", "a"),
)
def both_ends_equal(
    X: NDArray, y: NDArray, W: NDArray, a: NDArray, planted: float = 1.0
) -> np.floating:
    """os.lemA.4: |w_j|^2 - a_j^2 stays (eq 57): d|w_j|^2/dt = d a_j^2/dt = 2 times (58)."""
    inner, outer, printed = rates(X, y, W, a)
    off = max(np.abs(inner - outer).max(), np.abs(outer - 2 * planted * printed).max())
    return -off / (np.sum(a**2) * np.abs(X).max() * len(y))


def lacks_a_factor() -> list[Evidence]:
    """os.lemA.4.rate: d|w|^2/dt and d a^2/dt against (58), for w = a = 1 on one datum x = y = 1."""
    one = np.ones((1, 1))
    inner, outer, printed = rates(one, np.ones(1), one, np.ones(1))
    return [
        deviation("w = a = x = y = 1: d|w|²/dt less what (58) prints",
                  float(abs(inner[0] - printed[0])), "", digits=3),
        note("d|w|²/dt, da²/dt and the printed rate",
             (float(inner[0]), float(outer[0]), float(printed[0])), digits=3),
    ]  # fmt: skip


def quotient() -> str:
    """d|w|^2/dt over what (58) prints at w = a = x = y = 1, symbolically, from w(t)^2 itself."""
    import sympy  # takes half a second, and most pages do not ask

    t, u = sympy.symbols("t u")
    w, a = sympy.Function("w")(t), sympy.Function("a")(t)
    slope = sympy.diff(sympy.log(1 + sympy.exp(-u)), u).subs(u, a * w)
    true = sympy.diff(w**2, t).subs(sympy.diff(w, t), -slope * a)
    return str(sympy.simplify((true / (-slope * a * w)).subs({a: 1, w: 1})))


def half_the_rate() -> Counterexample:
    """The instance: in floats, and by the symbolic derivative of w(t)^2."""
    w, a, x = np.ones((1, 1)), np.ones(1), np.ones((1, 1))
    inner, _, printed = rates(x, np.ones(1), w, a)
    return Counterexample(
        instance={"x": 1, "y": 1, "w": 1, "a": 1},
        assumptions={"balanced, logistic loss": bool(np.linalg.norm(w) == abs(a[0])),
                     "differentiable there": bool(np.all(x @ w.T != 0.0))},
        breaks=(bound("d|w|²/dt over what (58) prints, less 1",
                      float(abs(inner[0] / printed[0] - 1.0)), "<=", 1e-6, "", digits=3),),
        recheck=(fact("quotient of the two, in exact arithmetic", quotient(), "1"),),
        route="the flow of one neuron on one datum differentiated symbolically",
    )  # fmt: skip


# --- Which activation patterns a neuron of a KKT point of (77) may have, in the plane, exactly ----
#
# Stationarity asks of a neuron with a > 0 that w lies in the cone of the vectors y_i x_i of the
# data on which it is active, and of those on its boundary. All faces of the arrangement are tried.


def other_faces(X: NDArray, y: NDArray) -> int:
    """The number of faces that may hold a neuron of a KKT point, of either sign, other than that
    of (8): active on all data of its label, and on none of the other, of which some may lie on the
    boundary."""
    return sum(bool(np.any((X @ w > 0) != (labels > 0)))
               for labels in (y, -y) for w in possible(X, labels))  # fmt: skip


def possible(X: NDArray, y: NDArray) -> list[NDArray]:
    """A vector of every face that may hold a neuron with a > 0 of a KKT point. The boundaries come
    in opposite rays, so that no sector between two of them exceeds 180 degrees."""
    Z, normals = y[:, None] * X, np.concatenate([X, -X])[:, ::-1] * [-1, 1]
    normals //= np.gcd.reduce(normals, axis=1)[:, None]
    turns = np.arctan2(*normals.T[::-1])  # of small whole numbers: none nearer than 1e-3
    rays = normals[np.unique(turns, return_index=True)[1]]
    found = [w for w in rays if _in_cone(w, Z[X @ w >= 0])]
    for low, high in pairwise([*rays, rays[0]]):
        middle = low + high if _cross(low, high) else low[::-1] * [-1, 1]
        cone = Z[X @ middle >= 0]
        inside = np.any((_cross(low, cone) > 0) & (_cross(cone, high) > 0))
        if inside or _in_cone(middle, cone):
            found.append(middle)
    return found


def _cross(u: NDArray, v: NDArray) -> NDArray:
    return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])


def _in_cone(w: NDArray, cone: NDArray) -> bool:
    """Whether w != 0 is a sum of vectors (k, 2) of the cone with weights >= 0."""
    c = _cross(cone, w)
    beside = _cross(cone[c > 0, None], cone[c < 0])
    return bool(np.any((c == 0) & (cone @ w > 0)) or np.any(beside > 0))


# --- The KKT points of the margin problem (77) under (OS): those of Lemma C.1 and no others -------

ROUNDING = 1e-7
"""Residuals and values of problems that are solved to 1e-9."""


def point(X: NDArray, y: NDArray, u: NDArray, z: NDArray) -> tuple[NDArray, NDArray]:
    """W (p, d) and a (p,) of eqs (75)-(76), for u, z (p,) >= 0 of disjoint support, which are
    scaled to |u|^2 = 1/|w_+| and |z|^2 = 1/|w_-|."""
    w = limit(X, y).vectors
    sizes = {s: np.linalg.norm(w[s]) for s in w}
    u = u / np.linalg.norm(u) / np.sqrt(sizes[1.0])
    z = z / np.linalg.norm(z) / np.sqrt(sizes[-1.0])
    return np.outer(u, w[1.0]) + np.outer(z, w[-1.0]), sizes[1.0] * u - sizes[-1.0] * z


def _coefficients(item: Instance, rng: np.random.Generator) -> Instance:
    """u, z (5,) of disjoint support, with a neuron that has neither."""
    u, z = rng.exponential(size=(2, 5)) * 10.0 ** rng.uniform(-3.0, 0.0, (2, 5))
    return {"u": u * [1, 1, 0, 0, 0], "z": z * [0, 0, 1, 1, 0]}


@statement(
    "the KKT conditions of (77) hold",
    extended(setting.support_draws(), _coefficients),
    tolerance=ROUNDING,
    fixed=("X", "y", "u", "z"),
)
def is_kkt_point(X: NDArray, y: NDArray, u: NDArray, z: NDArray) -> float:
    """os.lemC.1: (75)-(76) is a KKT point of (77). The slack is minus the residual over |theta|, by
    the nearest multipliers that there are, or how far the least margin is from 1: `kkt` is the same
    for all lengths of theta."""
    W, a = point(X, y, u, z)
    network, theta = fully_connected([X.shape[1], len(a)]), np.append(W.ravel(), a)
    off = abs(float(margins(network, theta, X, y).min()) - 1.0)
    return -max(kkt(network, theta, X, y).residual, off)


def _planar(rng: np.random.Generator) -> Instance:
    """Data of whole numbers in the plane that satisfy (OS), with right angles or without."""
    while True:
        if rng.random() < 0.5:
            X, y = (part.astype(int) for part in setting.right_angles(rng).values())
            if X.shape[1] != 2:
                continue
        else:
            y = rng.permutation(np.where(np.arange(int(rng.integers(2, 7))) % 2 == 0, 1, -1))
            X = rng.integers(-5, 6, (len(y), 2))
        if is_separable(X, y):
            return {"X": X, "y": y}


@statement(
    "no face, but those of (8), holds a neuron of a KKT point (exact, in the plane)",
    {"whole numbers": _planar},
    given(
        "os.ours.kkt", data=lambda item: is_separable(**item) and len({*item["y"].tolist()}) == 2
    ),
    fixed=("X", "y"),
)
def no_other_points(X: NDArray, y: NDArray) -> int:
    """os.ours.kkt: under (OS) every KKT point of (77) is one of Lemma C.1. The slack is minus the
    number of faces of the arrangement, other than those of (8), that can hold a neuron of one."""
    return -other_faces(X, y)


def products(X: NDArray, y: NDArray, sign: float) -> tuple[NDArray, NDArray]:
    """<w_+, x_i> and y_i <w_-, x_i> for the data of one label, over |w| |x_i|."""
    w, own = limit(X, y).vectors, X[y == sign]
    size = np.linalg.norm(own, axis=1)
    one, other = (own @ w[s] / (size * np.linalg.norm(w[s])) for s in BOTH_SIGNS)
    return one, sign * other


@statement("⟨w₊, xᵢ⟩ > 0 and yᵢ⟨w₋, xᵢ⟩ ≤ 0 on positive data", setting.support_draws(), strict=True,
           fixed=("X", "y"))  # fmt: skip
def on_positive_data(X: NDArray, y: NDArray) -> float:
    """os.eq79-80.1: <w_+, x_i> > 0 and y_i <w_-, x_i> <= 0 where y_i = 1 (eq 79)."""
    one, other = products(X, y, 1.0)
    return min(one.min(), -other.max() if other.max() > ROUNDING else 1.0)


def sign_of_80() -> Counterexample:
    """The instance: two data on a line."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    w = limit(X, y).vectors[-1.0]
    x_2 = y_2 = -1
    shortest = min((w for w in range(-5, 6) if w * x_2 >= 1), key=abs)
    return Counterexample(
        instance={"X": X, "y": y, "w_-": -1},
        assumptions={"(OS)": is_separable(X, y),
                     "(Span)": all(spans(X, y, sign) for sign in BOTH_SIGNS)},
        breaks=(bound("y_2 ⟨w₋, x_2⟩", float(y[1] * (X[1] @ w)), ">", 0, ""),),
        recheck=(bound("the same in whole numbers", y_2 * shortest * x_2, ">", 0, ""),),
        route="w_- = -1 is the shortest number with w (-1) >= 1; its product in whole numbers",
    )  # fmt: skip


def breaks_80(seed: int) -> list[Evidence]:
    """os.eq79-80.2: how many data sets satisfy <w_+, x_i> <= 0 and y_i <w_-, x_i> > 0 where y_i =
    -1, (80) as printed: none can, by (7)."""
    broken = 0
    for item in setting.in_turn(setting.support_draws(), np.random.default_rng(seed), 30):
        one, other = products(**item, sign=-1.0)
        broken += bool(one.max() > ROUNDING or other.min() <= 0.0)
    return [fact("data sets that break (80)", broken, 0, tried=30)]


# --- Equations (15)-(16): from some time on the two groups are linear networks on their own data --

GROUPS = Reading(
    f"two dimensions or more, and: {sectors.SIZE_LAST}",
    f"{sectors.SIZE_FIRST} It is in none of J_0, J_+ and J_-, and adds to f on that datum. On the "
    "line a neuron that starts on the wrong side keeps its direction and only shrinks: it is "
    "active on the wrong label for ever, at any size.",
)
"""How os.eq15-16 is read."""
CLOSE = 1e-3
"""How near linear networks must come to the groups of the full flow: both are followed at 1e-6."""
_HORIZON = 100.0


def settles(each: Late) -> float:
    """log10(1/L) behind which no pattern changes any more, at most that of the end."""
    last = flows.patterns(each)[-1][0]
    if last <= each.begun:
        return float(each.tau[0] / np.log(10.0))
    leg = each.path.legs[-1]
    return float(np.exp(leg.t[0] + last - each.begun) / np.log(10.0))


def linear_group(each: Late, sign: float) -> float:
    """How far a linear network that is trained on the data of one label alone, from where the
    group is at L = e^-2, is from the group after 100 units of time: largest difference of
    directions and log norms."""
    field = each.path.legs[0].field
    chart = cast(Neurons, field.chart)
    begin, mine, kept = each.path.legs[0].end, each.own(sign), each.given.y == sign
    U, R = chart.split(begin)
    linear = Neurons(each.given.signs[mine], chart.d, leak=1.0)
    alone = GradientFlow(linear, each.given.loss, each.given.X[kept], each.given.y[kept], TIME)
    end = integrate(alone, linear.along(U[mine], R[mine]), _HORIZON, rtol=1e-6).end
    whole = integrate(field, begin, _HORIZON, at_zero=0.0, rtol=1e-6).end
    pairs = zip(linear.split(end), chart.split(whole), strict=True)
    return float(max(np.abs(found - full[mine]).max() for found, full in pairs))


def groups_become_linear(survey: Survey) -> list[Evidence]:
    """os.eq15-16: from some time T on no pattern changes, and each group moves as a linear network
    trained on the data of its label alone (eqs 15, 16); and that the size of the start has to be
    chosen after its directions."""
    early = [each for each in survey.found if settles(each) <= each.tau[0] / np.log(10.0)]
    gaps = [linear_group(each, sign) for each in early for sign in each.alive]
    tried = len(survey.found)
    return [
        fact("flows that end with a neuron active on some, not all, of its data or on others",
             sum(not home(each)[-1].all() for each in survey.found), 0, tried=tried),
        fact("flows with a change of pattern past log10(1/L) = 1000",
             sum(settles(each) > 1000.0 for each in survey.found), 0, tried=tried),
        bound("largest distance of a linear network from its group, t = 100 later",
              max(gaps, default=np.nan), "<=", CLOSE, "", digits=2),
        *survey.followed,
        *sectors.waiting_size_comes_last(sectors.ends()),
    ]  # fmt: skip


# --- Theorem 1 and Corollary 1 along flows to L = e^(-1e6): distances, their rate, the constants --

NEAR_LIMIT = 1e-2
"""How near a flow must be to its limit where log(1/L) = 1e6; the slowest rate found is that of
1 / sqrt(log(1/L)), times the norm of the start."""
_PART, _EARLY = 0.1, 1e3
FAR = 0.1
"""From a start of norm 10 the same rate leaves up to 10 / sqrt(1e6) for each neuron."""
PLANE = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 1.0]])
PLANE_LABELS = np.array([1.0, 1.0, -1.0, -1.0])
PLANE_NEURONS = np.array([[6.0, -8.0], [10.0, 0.0], [6.0, -8.0], [0.0, 10.0]])
PLANE_SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


def directions_converge(survey: Survey) -> list[Evidence]:
    """os.thm1.W: |W/|W|_F - (u w_+^T + z w_-^T)|_F -> 0 (eq 8), only u/|u| and z/|z| fitted."""
    far = [float(each.distances[-1, 0]) for each in survey.found]
    return [
        bound("largest distance of (8) where L = e^(-1e6)", max(far), "<=", NEAR_LIMIT, "",
              digits=2),
        fact(f"flows whose distance does not fall to {_PART:g} of itself from log(1/L) = "
             f"{_EARLY:g} to 1e6", sum(not _falls(each) for each in survey.found), 0,
             tried=len(far)),
        *survey.followed,
    ]  # fmt: skip


def outer_weights_converge(survey: Survey) -> list[Evidence]:
    """os.thm1.a: |a/|a| - (u |w_+| - z |w_-|)| -> 0 (eq 9), with the u and z of (8)."""
    turned = sum(int(np.sum(each.U[-1, each.own(sign)] @ w <= 0.0))
                 for each in survey.found for sign, w in each.limit.vectors.items())  # fmt: skip
    return [
        bound("largest distance of (9) where L = e^(-1e6)",
              float(max(e.distances[-1, 1] for e in survey.found)), "<=", NEAR_LIMIT, "", digits=2),
        fact("neurons of a group whose a_j has the other sign", turned, 0),
        *survey.followed,
    ]  # fmt: skip


def _falls(each: Late, column: int = 0) -> bool:
    """Whether the distance of (8), or (9), falls to _PART of itself from log(1/L) = _EARLY to 1e6,
    or to 1e-9: a rate of 1 / sqrt(log(1/L)) would take it to a 31st."""
    far = each.distances[:, column]
    early = np.interp(np.log10(_EARLY), np.log10(each.tau), far)
    return bool(far[-1] <= max(_PART * early, 1e-9))


def function_gap(each: Late, rng: int | np.random.Generator) -> float:
    """max |f / |theta|^2 - (10)| over 200 random points, over the size of (10) there."""
    points = np.random.default_rng(rng).standard_normal((200, each.given.X.shape[1]))
    sizes = np.exp(2.0 * (each.R[-1] - each.R[-1].max()))
    f = np.maximum(points @ each.U[-1].T, 0.0) @ (each.given.signs * sizes) / (2.0 * sizes.sum())
    goal = each.limit.function(points)
    return float(np.abs(f - goal).max() / np.abs(goal).max())


def functions_converge(survey: Survey, seed: int) -> list[Evidence]:
    """os.cor1: f / |theta|^2 -> u rho(w_+.x) - z rho(w_-.x) (eq 10), both constants 1 / (2 s)."""
    rng = np.random.default_rng(seed)
    gaps = [function_gap(each, rng) for each in survey.found]
    return [
        bound("largest relative distance from (10) at random points, where L = e^(-1e6)",
              max(gaps), "<=", NEAR_LIMIT, "", digits=2),
        *survey.followed,
    ]  # fmt: skip


def two_neurons(goal: Limit, points: NDArray) -> NDArray:
    """f / |theta|^2 (m,) of the pruned network: neurons w_+ / |w_+|^(1/2) and w_- / |w_-|^(1/2)."""
    f, square = np.zeros(len(points)), 0.0
    for sign, w in goal.vectors.items():
        size = np.sqrt(np.linalg.norm(w))
        f += sign * size * np.maximum(points @ (w / size), 0.0)
        square += 2.0 * size**2
    return f / square


def two_neurons_suffice(survey: Survey, seed: int) -> list[Evidence]:
    """os.prune: one neuron along w_+ and one along w_- have the same f / |theta|^2 as the limit."""
    rng = np.random.default_rng(seed)
    gaps = []
    for each in survey.found:
        points = rng.standard_normal((100, each.given.X.shape[1]))
        off = np.abs(two_neurons(each.limit, points) - each.limit.function(points)).max()
        gaps.append(float(off / each.limit.constant))
    return [
        deviation("two neurons against (10) at random points, relatively", max(gaps), ""),
        *functions_converge(survey, seed),
    ]


def span_can_go(few: Survey) -> list[Evidence]:
    """os.assumptions.4: without (Span) the limit is the same."""
    far = np.array([each.distances[-1] for each in few.found])
    return [
        bound("largest distance of (8) where L = e^(-1e6), support examples that do not span",
              float(far[:, 0].max()), "<=", NEAR_LIMIT, "", digits=2),
        bound("largest distance of (9)", float(far[:, 1].max()), "<=", NEAR_LIMIT, "", digits=2),
        *few.followed,
    ]  # fmt: skip


def _of_flows(
    survey: Survey,
    says: str,
    slack: Callable[[Instance], float],
    tests: Mapping[str, Callable[[Instance], bool]],
    spoken_of: Callable[[Late], bool] = lambda late: True,
) -> Statement:
    """A statement about the flows of a survey, its draws in their order; the first flow of which it
    speaks, with a planted factor, must break it."""
    items, told = iter(survey.found), filter(spoken_of, survey.found)
    spoiled = next(({"flow": late, PLANTED: 1e6} for late in told), None)
    draws: dict[str, Draw] = {"flows": lambda _: {"flow": next(items)}}
    return Statement(says, draws, slack, tests, witness=spoiled)


def separable(item: Instance) -> bool:
    """(OS), with data of both labels."""
    given = item["flow"].given
    return len(set(given.y.tolist())) == 2 and is_separable(given.X, given.y)


def balanced(item: Instance) -> bool:
    """(Loss), and a start with |a_j| = |w_j| > 0: what the chart of a flow can hold at all."""
    given = item["flow"].given
    return given.loss is LOGISTIC and bool(np.isfinite(given.log_norms).all())


def both_alive(item: Instance) -> bool:
    """At the end a neuron of either sign is active on a datum of its label."""
    late = item["flow"]
    return all(len(late.own(sign)) for sign in BOTH_SIGNS)


def every_start(survey: Survey, seed: int) -> Statement:
    """os.ours.start: from every balanced start that leaves both labels a neuron the limit is that
    of Theorem 1, and t L stays bounded. The slack is what FAR leaves of the distances of (8), (9)
    and, at random points, (10) where L = e^(-1e6), and -1 where from log(1/L) = 1e3 on those of (8)
    and (9) do not fall to a tenth, or t L is larger at some moment."""

    def slack(item: Instance) -> float:
        late = item["flow"]
        far = planted(item) * max(*late.distances[-1], function_gap(late, seed))
        rate = (late.log_t - late.tau)[np.searchsorted(late.tau, _EARLY) :]
        falls = all(_falls(late, column) for column in (0, 1)) and rate.max() == rate[0]
        return FAR - far if falls else -1.0

    tests = given("os.ours.start", data=separable, flow=balanced, alive=both_alive)
    return _of_flows(survey, "the distances of (8), (9) and (10) fall towards 0", slack, tests)


def near_zero_is_needed(survey: Survey) -> list[Evidence]:
    """os.assumptions.1: starts that are not near zero stay away from (8), as the claim asks."""
    return [
        bound("largest distance of (8) where L = e^(-1e6), over the flows drawn from starts of "
              "norm 1/2 and more",
              float(max(each.distances[-1, 0] for each in survey.found
                        if each.given.log_norms.max() > np.log(0.5))), ">=", FAR, "", digits=2),
        *survey.followed,
    ]  # fmt: skip


def not_needed() -> Counterexample:
    """The instance: data of whole numbers that satisfy (OS) and (Span), and four neurons of norm
    10, one of either sign active on the wrong label alone, that end at (8)."""
    sizes = np.log(np.linalg.norm(PLANE_NEURONS, axis=1))
    late = flows.followed(Start(PLANE, PLANE_LABELS, PLANE_NEURONS, sizes, PLANE_SIGNS))
    left = other_faces(PLANE.astype(int), PLANE_LABELS.astype(int))
    return Counterexample(
        instance={"X": PLANE, "y": PLANE_LABELS, "W(0)": PLANE_NEURONS,
                  "signs of a(0)": PLANE_SIGNS},
        assumptions={
            "(OS)": is_separable(PLANE, PLANE_LABELS),
            "(Span)": all(spans(PLANE, PLANE_LABELS, sign) for sign in BOTH_SIGNS),
            "balanced, and not near zero": bool(late.given.log_norms.min() >= 2.0),
        },
        breaks=(bound("distance of (8) where L = e^(-1e6)", float(late.distances[-1, 0]), ">=", 0.1,
                      "", digits=2),),
        recheck=(fact("a neuron of a KKT point of (77) can have another pattern than in (8)",
                      left > 0, True),),
        route="every face of the arrangement of these data tried in whole numbers: which ones can "
              "hold a neuron of a KKT point, to which every flow converges (no flow computed)",
    )  # fmt: skip


SIGNS_FIRST = Reading(
    "the signs of a_j(0) are chosen before the directions are drawn, and the printed probability "
    "is a lower bound, as in the proof",
    "If a_j(0) may be chosen after w_j(0) is seen, all neurons may die with a probability up to "
    "(3/4)^p in the plane, not 2^-p, and W then stays small; see the claim on the probability. "
    "Read as an equality the probability is wrong for all data, d ≥ 2: a neuron of which (8) does "
    "not follow has ⟨w_j(0), x⟩ ≤ 0 on all data of its label, by (Span) two that are not parallel "
    "among them, and a chance below 1/2.",
)
"""How os.thm1.W, os.thm1.a and os.cor1 are read."""


# --- Equations (19)-(22): the norms, the normalised margin and the loss of a group ----------------

LOSS_GROWTH_NEAR = 1e-3
"""How near |W_+|^2 / log t must be to its limit at log(1/L) = 1e6: off by log log t / log t."""
NEAR_MARGIN, NEAR_LOSS = 1e-3, 0.1


def log_gap(log_loss: NDArray) -> NDArray:
    """g(log 1/l) = -log(e^l - 1), from log l."""
    small = np.exp(log_loss)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(small > 1e-12, np.expm1(small) / small, 1.0)
    return np.asarray(-log_loss - np.log(ratio))


def _groups(survey: Survey) -> list[tuple[Late, float, float]]:
    """Every living group: its flow, sign and |w_+| or |w_-|."""
    return [(each, sign, float(np.linalg.norm(w))) for each in survey.found
            for sign, w in each.limit.vectors.items()]  # fmt: skip


def norms_grow_like_log(survey: Survey) -> list[Evidence]:
    """os.norm.log.1: |W_+|_F^2 / log t -> nu_+ > 0, |W_-|_F^2 / log t -> nu_- (eqs 20-22)."""
    off = [
        float(np.exp(each.log_square(sign)[-1])) / each.log_t[-1] / size - 1.0
        for each, sign, size in _groups(survey)
    ]
    whole = [float(np.exp(np.logaddexp.reduce(2.0 * e.R[-1]))) / e.log_t[-1] / e.limit.total - 1.0
             for e in survey.found]  # fmt: skip
    return [
        bound("|W_±|² / log t where L = e^(-1e6), largest relative distance from |w_±|",
              max(map(abs, off)), "<=", LOSS_GROWTH_NEAR, "", digits=2),
        bound("|W|² / log t, largest relative distance from |w₊| + |w₋|", max(map(abs, whole)),
              "<=", LOSS_GROWTH_NEAR, "", digits=2),
        *survey.followed,
    ]  # fmt: skip


def loss_and_margin(survey: Survey) -> list[Evidence]:
    """os.norm.log.2: margin -> 1 / (2 nu_+), l^+ = Theta(1/(t log t)) (eqs 19-21)."""
    margins, products = [], []
    for each, sign, size in _groups(survey):
        log_l = each.log_loss(sign)
        found = log_gap(log_l) * np.exp(-each.log_square(sign)) / 2.0  # gamma~ of eq (19)
        margins.append(float(abs(2.0 * size * found[-1] - 1.0)))
        # Further on a float's log l says too little of l itself.
        k = int(np.searchsorted(each.tau, 1e4))
        log_t = each.log_t[k]
        products.append(float(2.0 * np.exp(log_t + np.log(log_t) + log_l[k]) / size))
    return [
        bound("normalised margin where L = e^(-1e6), largest relative distance from 1 / (2 |w_±|)",
              max(margins), "<=", NEAR_MARGIN, "", digits=2),
        bound("2 t log t ℓ / |w_±| at log(1/L) = 1e4: largest distance from 1",
              max(abs(v - 1.0) for v in products), "<=", NEAR_LOSS, "", digits=2),
        *survey.followed,
    ]  # fmt: skip


def _grown(draw: Draw, rng: np.random.Generator) -> Instance:
    """Positive data, and three neurons (3, d) active on all of them, of lengths 0.1 to 30."""
    item = draw(rng)
    X = item["X"][item["y"] > 0.0]
    W = rng.exponential(size=(3, len(X))) @ X
    W = W + 0.3 * rng.standard_normal(W.shape) * np.linalg.norm(W, axis=1, keepdims=True)
    lengths = 10.0 ** rng.uniform(-1.0, 1.5, (3, 1))
    return {"X": X, "W": W / np.linalg.norm(W, axis=1, keepdims=True) * lengths}


@statement("the normalised margin rises",
           {kind: partial(_grown, draw) for kind, draw in setting.support_draws().items()},
           {"all neurons are active on all positive data": lambda X, W: np.all(X @ W.T > 0.0)},
           tolerance=1e-9, fixed=("X",))  # fmt: skip
def margin_rises(X: NDArray, W: NDArray) -> float:
    """The normalised margin does not decrease where a group is linear: with c_i = -l'_i its rate
    has the sign of |grad l|^2 / (1 - e^-l) |W|^2 - 2 g sum_i c_i f_i, the slack over its terms."""
    a = np.linalg.norm(W, axis=1)
    f, y = X @ (a @ W), np.ones(len(X))
    log_l = LOGISTIC.log_value(f, y)
    c = LOGISTIC.pull(f, y, log_l)  # over l
    G = c @ X
    square = (a @ a) * (G @ G) + float(np.sum((W @ G) ** 2))
    loss = np.exp(log_l)
    factor = loss / -np.expm1(-loss) if loss > 1e-300 else 1.0
    first = factor * square * float(np.sum(W * W))
    second = 2.0 * float(log_gap(np.array(log_l))) * float(c @ f)
    return (first - second) / (first + abs(second))


def leaves_the_other() -> Late:
    """The flow of a neuron, at first active on a datum of either label, to a loss of e^-1e6."""
    return flows.followed(sectors.one_group(np.array([[1.0, 3.0]])))


def constants_hold(survey: Survey, seed: int) -> Statement:
    """os.ours.constants: the closed form of all constants; a group that is empty has the constant
    0, and each of its data keeps a loss of log 2. The slack is what is left of the bars, in parts;
    from starts of more than norm 1 that of (8), (9) and (10) is FAR."""

    def slack(item: Instance) -> float:
        late, one = item["flow"], replace(survey, found=[item["flow"]], lost=0)
        near = NEAR_LIMIT if late.given.log_norms.max() <= 0.0 else FAR
        off = [max(function_gap(late, seed), *late.distances[-1]) / near]
        off += [e.value / e.limit for e in [*norms_grow_like_log(one)[:2],
                                            *loss_and_margin(one)[1:2]]]  # fmt: skip
        for sign in set(BOTH_SIGNS) - set(late.alive):
            off.append(0.0 if (sign * late.outputs(sign)).max() <= 1e-9 else 2.0)
        return 1.0 - planted(item) * max(off)

    tests = given("os.ours.constants", data=separable, flow=balanced,
                  alive=lambda item: any(len(item["flow"].own(s)) for s in item["flow"].alive)
                  )  # fmt: skip
    return _of_flows(survey, "norms, losses and f come to the closed form", slack, tests)


# --- What the start leaves behind: the distance of (8) for starts of any size, in closed form -----

SPREAD_NEAR = 0.05
"""How near the slope must be to its limit where log(1/L) = 1e6."""
_LEAST = 1e-2
"""Where the limit is less, 1 / log(1/L) decides the distance up to there."""


def leftover(each: Late, sign: float) -> float:
    """delta_+ (sign 1) or delta_-, from the first moment behind the last change of a pattern."""
    k = int(np.searchsorted(each.tau, settles(each) * np.log(10.0), side="left"))
    mine = each.growing(sign)
    U, sizes = each.U[k, mine], np.exp(each.R[k, mine])
    alpha = np.exp(each.R[-1, mine] - np.logaddexp.reduce(2.0 * each.R[-1, mine]) / 2.0)
    apart = np.sum((U[:, None] - U[None]) ** 2, axis=-1) / 2.0
    v = alpha * sizes
    return float(v @ apart @ v)


def constant(each: Late) -> float:
    """The limit of distance^2 log(1/L) (os.ours.rate); W_0 are the neurons that stay behind."""
    grown = np.concatenate([each.growing(sign) for sign in each.alive])
    rest = np.setdiff1d(np.arange(len(each.given.signs)), grown)
    dead = float(np.exp(2.0 * each.R[-1, rest]).sum())
    return (dead + sum(leftover(each, sign) for sign in each.alive)) / each.limit.total


def by_slope(each: Late) -> float:
    """The limit of distance^2 log(1/L) as the slope of log(1/L) over 1 / distance^2, over the last
    tenth of the clock or from the last change of a pattern on, whose own time does not count."""
    first = max(0.1 * each.tau[-1], settles(each) * np.log(10.0))
    k = min(int(np.searchsorted(each.tau, first)), len(each.tau) - 2)
    inverse = each.distances[[k, -1], 0] ** -2.0
    return float((each.tau[-1] - each.tau[k]) / (inverse[1] - inverse[0]))


def follows_the_law(survey: Survey) -> Statement:
    """os.ours.rate: under (Span), for almost all data, distance of (8)^2 log(1/L) -> `constant`.
    The slack is what SPREAD_NEAR leaves of the slope's relative distance from it; a start that
    leaves almost nothing behind is undecided."""

    def slack(item: Instance) -> float:
        late, end = item["flow"], constant(item["flow"])
        if not end > _LEAST:
            return float("nan")
        return SPREAD_NEAR - planted(item) * abs(by_slope(late) / end - 1.0)

    def carried(X: NDArray, y: NDArray, sign: float) -> bool:
        found, support = own_margin(X, y, sign)
        return spans(X, y, sign) and np.sum(found.multipliers > 0.0) == len(support)

    def spanning(item: Instance) -> bool:
        data = item["flow"].given
        return separable(item) and all(carried(data.X, data.y, sign) for sign in BOTH_SIGNS)

    says = "the slope of log(1/L) over 1 / distance², up to L = e^(-1e6), comes to its limit"
    tests = given("os.ours.rate", data=spanning, flow=balanced, alive=both_alive)
    return _of_flows(survey, says, slack, tests, lambda late: constant(late) > _LEAST)


# --- Section 2: the linear loss, for which the results are said to hold, and do not ---------------

LINEAR = Loss(
    "linear",
    lambda z, y: np.full(np.shape(z), np.nan),  # -y z has no logarithm; no clock of the loss here
    lambda z, y: np.zeros(np.shape(z)),
    lambda z, y: np.broadcast_to(np.sign(y), np.shape(z)),
    lambda z, y: np.full(np.shape(z), -np.inf),
)
"""l = -y z: the pull is y everywhere."""
X = np.array([[2.0, 1.0], [1.0, 2.0], [3.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]])
Y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
NEURONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


@cache
def general_loss_ends() -> tuple[float, float]:
    """For four neurons of norm e^-20 on five data in the plane, when all outputs have passed 1e30:
    the distance of W / |W|_F from all u w_+^T + z w_-^T, whatever u and z; and that of the positive
    directions from the sum of the positive data."""
    chart = Neurons(SIGNS, 2)
    field = GradientFlow(chart, LINEAR, X, Y, TIME)
    path = integrate(
        field,
        chart.along(NEURONS, -20.0),
        100.0,
        at_zero=0.0,
        rtol=1e-8,
        stop=lambda _, z: 30.0 - np.log10(np.abs(chart.outputs(z, X)) + 1e-99).min(),
    )
    U, R = chart.split(path.end)
    goal = limit(X, Y)
    s = X[Y > 0.0].sum(axis=0)
    off = np.abs(U[:2] - s / np.linalg.norm(s)).max()
    W = np.exp(R - R.max())[:, None] * U
    W /= np.linalg.norm(W)
    rays = np.array([goal.vectors[sign] / np.linalg.norm(goal.vectors[sign]) for sign in SIGNS])
    left = W - np.maximum((W * rays).sum(axis=1), 0.0)[:, None] * rays
    return float(np.linalg.norm(left)), float(off)


def goes_to_the_sum() -> list[Evidence]:
    """os.loss.general: with l_i(u) = -y_i u the distance of (8) should tend to 0 (Section 2)."""
    distance, off = general_loss_ends()
    return [
        bound("linear loss: distance of (8), outputs past 1e30", distance, "<=", 1e-2,
              "", digits=3),
        note("directions of the positive neurons, less that of the sum of the positive data, below "
             "1e-9", off < 1e-9),
    ]  # fmt: skip


def tangent() -> Fraction:
    """|tan| of the angle between the sum of the positive data and w_+, exactly.

    w_+ solves <w, x> = 1 on (2, 1) and (1, 2), is (x_1 + x_2) / 9 with weights >= 0, and has
    <w, x> = 4/3 on (3, 1): so it is the shortest.
    """
    positive = X[Y > 0.0].astype(int).tolist()
    w = (Fraction(1, 3), Fraction(1, 3))
    assert min(w[0] * a + w[1] * b for a, b in positive) == 1
    s = [sum(column) for column in zip(*positive, strict=True)]
    return abs(s[0] * w[1] - s[1] * w[0]) / (s[0] * w[0] + s[1] * w[1])


def linear_loss() -> Counterexample:
    """The instance: by the flow, and from its solution in closed form."""
    distance, _ = general_loss_ends()
    return Counterexample(
        instance={"X": X, "y": Y, "W(0) e^20": NEURONS, "signs of a(0)": SIGNS, "l_i(u)": "-y_i u"},
        assumptions={
            "(OS)": is_separable(X, Y),
            "(Span)": all(spans(X, Y, sign) for sign in BOTH_SIGNS),
            "the slopes -y_i are bounded, Lipschitz, and -y_i l_i' = 1 > 0": "they are constants",
            "(Init): |a_j| = |w_j| = e^-20": bool(np.all(np.linalg.norm(NEURONS, axis=1) == 1.0)),
            "not for these data alone": "an angle other than 0 stays so for all data near these",
        },
        breaks=(bound("distance of (8) when the outputs have passed 1e30", distance, "<=", 1e-2, "",
                      digits=3),),
        recheck=(bound("tangent of the angle between w₊ and the limit of the positive neurons",
                       tangent(), "<=", 0, ""),),
        route="the linear flow solved: a group's directions tend to the sum of its data; both "
              "directions in whole numbers",
    )  # fmt: skip
