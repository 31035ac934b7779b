"""Theorem 1, part 1: by the time t_1 every neuron is in the cone of its label, or dead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from flint import arb, fmpq
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.falsify import Draw, Instance, Statement, extended, given, statement, survey
from reluflow.flows.alignment import Alignment, Beside, align
from reluflow.flows.integrate import FlowPath
from reluflow.geometry.separability import separation
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, TWICE_LOGISTIC
from reluflow.papers.min2024early import setting
from reluflow.papers.min2024early.setting import DataConstants, Start, none_lost, none_of

# --- How long a neuron needs to its cone as eps -> 0: a bound without n, and its worst data -------
#
# The page `alignment` has the proof, under `A bound without n`.

TOLERANCE = 1e-8
"""Rounding of a time, in units of 1 / X_min; the times themselves are 0 to 60 such units."""
BOUND_MUS = (1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99)
GAPS = (1e-3, 1e-6, 1e-9)
"""The parameter of the slowest data."""


def uniform_time(mu: float, X_min: float = 1.0) -> float:
    """t_* = (2 / X_min) arsinh(sqrt((1 - mu) / 2) / mu), of mu in (0, 1] and X_min > 0."""
    return 2.0 / X_min * float(np.arcsinh(np.sqrt(0.5 * (1.0 - min(mu, 1.0))) / mu))


def stay(X: NDArray, y: NDArray, log_angle: float, sign: float) -> float:
    """log(cot(theta/2)) / |x_-|, the longest stay in S_- from an angle theta = e^log_angle to x_-.
    With sign -1 it is x_+ and S_+."""
    half = log_angle - np.log(2.0) if log_angle < -20.0 else np.log(np.tan(0.5 * np.exp(log_angle)))
    return float(-half / np.linalg.norm(X[y == -sign].sum(axis=0)))


def path(item: Mapping[str, Any]) -> Alignment:
    """The limit flow of an instance X (n, d), y (n,), sign and start: a direction w (d,), or one
    beside the direction excluded."""
    w = Beside(item["w"], float(item["log_angle"])) if "log_angle" in item else item["w"]
    return align(item["X"], item["y"], w, float(item["sign"]))


def excluded(found: Alignment, item: Mapping[str, Any]) -> bool:
    """Whether the neuron of a path starts in the cone of the other label: S_- for V_+."""
    return bool(np.array_equal(found.patterns[0], item["y"] == -float(item["sign"])))


def where_mu_is_known(slack: Callable[[Instance], float]) -> Callable[[Instance], float]:
    """The slack, but NaN where floats know less than eight digits of mu > 0."""

    @wraps(slack)
    def known(item: Instance) -> float:
        return slack(item) if not 0.0 < separation(item["X"], item["y"]) < 1e-7 else float("nan")

    return known


def separated(item: Mapping[str, Any]) -> bool:
    """(A1)."""
    return bool(np.isfinite(item["X"]).all()) and separation(item["X"], item["y"]) > 0.0


def both_labels(item: Mapping[str, Any]) -> bool:
    """(A1), with data of both labels."""
    return len(set(np.asarray(item["y"]))) == 2 and separated(item)


def starts() -> dict[str, Draw]:
    """Data of every kind with a neuron that starts anywhere, and the slowest data known."""

    def anywhere(item: Instance, rng: np.random.Generator) -> Instance:
        w = rng.standard_normal(item["X"].shape[1])
        return {"w": w, "sign": float(rng.choice([-1.0, 1.0]))}

    def slow(rng: np.random.Generator) -> dict[str, Any]:
        """The slowest data known, more data among them, all a little moved."""
        item = slowest(float(np.exp(rng.uniform(np.log(1e-3), -0.05))), 1e-3)
        Z = item["y"][:, None] * item["X"]
        more = rng.dirichlet(np.ones(4), int(rng.integers(0, 4))) @ Z
        y = np.append(item["y"], rng.choice([-1.0, 1.0], len(more)))
        Z = np.append(Z, more / np.linalg.norm(more, axis=1, keepdims=True), axis=0)
        moved = 10.0 ** rng.uniform(-9.0, -4.0)
        X = y[:, None] * (Z + moved * rng.standard_normal(Z.shape))
        return {**item, "X": X, "y": y}

    return {**extended(setting.separable_draws(), anywhere), "slowest": slow}


def everywhere() -> dict[str, Draw]:
    """Starts of every kind, and the same data with a neuron at the angle theta from x_- (x_+ for
    V_-), log theta from -300 to -1; the `odd` ones."""
    beside = extended(starts(), lambda _, rng: {"log_angle": -float(rng.uniform(1.0, 300.0))})
    return {**starts(), **{f"{name}, beside": draw for name, draw in beside.items()}, "odd": odd}


def odd(rng: np.random.Generator) -> dict[str, Any]:
    """Small whole numbers in one to three dimensions, in units of 1e-8, 1 or 1e8: duplicates,
    opposite data, starts on boundaries, along data and along their sums."""
    n, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    Z = rng.integers(0, 3, (n, d)).astype(float)
    Z[:, 0] += 1.0
    Z[-1] = Z[0] * rng.integers(1, 3) if rng.random() < 0.5 else Z[-1]
    y = np.where(np.arange(n) == 0, 1.0, rng.choice([-1.0, 1.0], n))
    y[-1] = -1.0
    X = y[:, None] * Z
    along = rng.choice(np.append(X, [X[y > 0.0].sum(axis=0), X[y < 0.0].sum(axis=0)], axis=0))
    w = rng.integers(-2, 3, d) if rng.random() < 0.5 else rng.choice([-1.0, 1.0]) * along
    unit = 10.0 ** float(rng.choice([-8.0, 0.0, 8.0]))
    return {"X": X * unit, "y": y, "w": w.astype(float), "sign": float(rng.choice([-1.0, 1.0]))}


def angle(w: NDArray, u: NDArray) -> float:
    """The angle between two vectors, by their chord."""
    chord = w / np.linalg.norm(w) - u / np.linalg.norm(u)
    return float(2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(chord), 1.0)))


def angle_from_excluded(item: Mapping[str, Any]) -> float:
    """log of the angle between the start and x_- (x_+ for the sign -1)."""
    if "log_angle" in item:
        return float(item["log_angle"])
    with np.errstate(divide="ignore"):
        away = item["X"][item["y"] == -float(item["sign"])].sum(axis=0)
        return float(np.log(angle(item["w"], away)))


def allowed_start(item: Mapping[str, Any]) -> bool:
    """A neuron that is not 0 and, by (A2), no multiple of the sum that is forbidden to it."""
    return bool(np.any(item["w"])) and angle_from_excluded(item) > (
        -np.inf if "log_angle" in item else np.log(1e-12)
    )


PART_1 = {"(A1), data of both labels": both_labels, "(Init) and (A2)": allowed_start}
"""Hypotheses of Theorem 1, part 1, as eps -> 0."""


def home_by(bound: Callable[[DataConstants], float], item: Mapping[str, Any]) -> float:
    """By how much, in units of 1 / X_min, a neuron is home before `bound`, and before the stay that
    its angle allows it after that if it starts in the cone of the other label; NaN where floats
    know less than eight digits of mu or of the angle."""
    X, y, log_angle = item["X"], item["y"], angle_from_excluded(item)
    if separation(X, y) < 1e-7 or ("log_angle" not in item and log_angle < np.log(1e-7)):
        return float("nan")
    data, found = setting.data_constants(X, y), path(item)
    longest = stay(X, y, log_angle, float(item["sign"])) if excluded(found, item) else 0.0
    needed = found.time if found.status in ("serves", "dead") else np.inf
    return (bound(data) + longest - needed) * data.X_min


def home_in_time() -> Statement:
    """ea.ours.time: a neuron is home by t_*, and one that starts in the cone of the other label, at
    the angle theta from its centre, by t_* + log(cot(theta/2)) / |x_-|. Neurons of V_- with the
    labels exchanged. The pulls at f = 0 are those of the exponential loss."""
    return Statement("a neuron is home by its time", everywhere(),
                     lambda item: home_by(lambda data: uniform_time(data.mu, data.X_min), item),
                     given("ea.ours.time", data=both_labels, start=allowed_start),
                     tolerance=TOLERANCE, fixed=("y", "sign", "log_angle"))  # fmt: skip


def slowest(mu: float, gap: float) -> dict[str, Any]:
    """Four unit vectors, a start outside S_-, that need nearly t_*: gap -> 0, gap^2 << 1 - mu."""
    s, c = np.sqrt(0.5 * (1.0 - mu)), np.sqrt(0.5 * (1.0 + mu))
    p = (mu + gap * s) / c
    r = np.sqrt(1.0 - p**2 - gap**2)
    Z = np.array([[-gap, p, r], [s, c, 0.0], [gap, p, r], [-s, c, 0.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    w = np.array([1.0, 0.0, 0.0]) - (1.0 - gap) * s / mu * Z[0]
    return {"X": y[:, None] * Z, "y": y, "w": w, "sign": 1.0}


def time_is_reached() -> list[Evidence]:
    """ea.ours.reached: the slowest data satisfy (A1) with this mu, and 1 - time / t_* -> 0."""
    found = pd.DataFrame(
        [(gap, excluded(path(item), item), abs(separation(item["X"], item["y"]) / mu - 1.0),
          1.0 - path(item).time / uniform_time(mu))
         for mu in BOUND_MUS for gap in GAPS for item in [slowest(mu, gap)]],
        columns=["gap", "inside", "off", "short"],
    )  # fmt: skip
    return [
        fact("of these neurons start in S₋", int(found.inside.sum()), 0),
        bound("|μ of the data / μ - 1|", float(found.off.max()), "<=", 1e-8, ""),
        *(bound(f"1 - time / t_* at gap {gap:g}, the largest over μ",
                float(found.short[found.gap == gap].max()), "<=", 20.0 * gap, "", digits=2)
          for gap in GAPS),
        note("values of μ", BOUND_MUS, digits=None),
    ]  # fmt: skip


# --- How small eps has to be: alignment at a finite eps, from the proof of the limit's time -------
#
# The page `alignment` has the proof, under `How small`, with phi the largest |f(x_i)| allowed.


def excluded_angle(at: Start) -> float:
    """The least angle theta to x_- (x_+) of the neurons that start in S_- with sign 1 (in S_+ with
    sign -1), from sines of chords; pi/2 if there is no such neuron."""
    return min((angle(w, label * u) for label, u in setting.centres(at.X, at.y).items()
                for w in at.W0[at.signs == -label]
                if np.array_equal(at.X @ w > 0.0, at.y == label)), default=np.pi / 2)  # fmt: skip


def _sums(at: Start) -> list[float]:
    """|x_+| and |x_-|."""
    return [float(np.linalg.norm(u)) for u in setting.centres(at.X, at.y).values()]


def enough_time(at: Start) -> float:
    """T_* = (3/2) t_* + 2 log(cot(theta/2)) / min(|x_+|, |x_-|)."""
    stays = 2.0 * float(np.log(np.tan(0.5 * excluded_angle(at)))) / min(_sums(at))
    return 1.5 * uniform_time(at.data.mu, at.data.X_min) - stays


def enough_log_eps(at: Start) -> float:
    """ln of the eps from which all neurons are home at T_*. It is sqrt(phi / (h X_max)) exp(-e^phi
    M T_*) / W_max, phi = sqrt(mu) min(mu, 2 sin theta) / 8."""
    phi = np.sqrt(at.data.mu) * min(at.data.mu, 2.0 * np.sin(excluded_angle(at))) / 8.0
    growth = np.exp(phi) * max(_sums(at)) * enough_time(at)
    size = 0.5 * np.log(phi / (at.h * at.data.X_max)) - np.log(at.lengths.max())
    return float(size - growth)


def at_our_scale(seed: int, count: int) -> pd.DataFrame:
    """(GF) from the largest eps of `enough_log_eps`, one neuron beside the direction excluded.
    Columns: T, needed, status, log_eps, and log_eps_printed, that of (Small) with min(zeta_1,
    zeta_2)."""
    rng = np.random.default_rng(seed)

    def one(k: int) -> Mapping[str, Any]:
        n, d, h = (int(rng.integers(2, top + 1)) for top in (6, 8, 8))
        X, y = setting.separable(n, d, float(np.exp(rng.uniform(np.log(1e-3), np.log(0.9)))), rng)
        signs = rng.choice([-1.0, 1.0], h)
        W = rng.standard_normal((h, d)) * 10.0 ** rng.uniform(-1.0, 1.0, (h, 1))
        u = setting.centres(X, y)[-signs[0]] * -signs[0]
        W[0] = u / np.linalg.norm(u) + 10.0 ** -rng.uniform(0.0, 4.0) * rng.standard_normal(d)
        at = Start(X, y, W, signs, loss=(EXPONENTIAL, TWICE_LOGISTIC)[k % 2])
        T, log_eps = enough_time(at), enough_log_eps(at)
        found = replace(at, log_eps=log_eps).flow(T, method=DOP853, rtol=1e-6)
        needed = setting.alignment_times(found).max()
        return {"T": T, "needed": needed, "status": found.status, "log_eps": log_eps,
                "log_eps_printed": at.log_eps_allowed(at.needed_zeta)}  # fmt: skip

    return survey(range(count), one)


def scale_is_enough(found: pd.DataFrame) -> list[Evidence]:
    """ea.ours.scale: all neurons are home at T_* from ln eps of our bound, and how much larger that
    eps is than the one of (Small)."""
    ratio = found.log_eps_printed / found.log_eps
    return [
        fact(f"of {len(found)} flows at the largest ε allowed here, those with a neuron that is "
             "not home at T⁎", int((~(found.needed <= found["T"])).sum()), 0),
        note("largest share of T⁎ that was needed", float((found.needed / found["T"]).max()),
             digits=2),
        note("ln ε here, from and to", _ends(found.log_eps), digits=3),
        note("ln ε of (Small) over ln ε here, from and to", _ends(ratio), digits=3),
        none_lost(found.status),
    ]  # fmt: skip


def _ends(values: pd.Series) -> tuple[float, float]:
    return float(values.min()), float(values.max())


# --- Theorem 1, part 1: by the time t_1 every neuron is home --------------------------------------
#
# As eps -> 0 by the limit flow, and at the eps that (Small) allows by (GF) itself. The statements
# are given zeta: the maximum of zeta_1 and zeta_2 is printed, the minimum is what the proof uses.

Zeta = Callable[[float, float], float]
RATE = Reading(
    "the hidden constant may depend on the lengths of the data and on the angles of the start, but "
    "not on n and μ",
    "the constant of the proof is 16 / (min(ζ, ξ) Xₘᵢₙ), where ξ = μ² by itself: its bound is of "
    "order log n / √(μ⁵)",
)


def zetas(item: Mapping[str, Any]) -> tuple[float, float]:
    """zeta_1 and zeta_2 of an instance, zeta_2 from the angle of its start where that is given."""
    X, y = item["X"], item["y"]
    if "log_angle" in item:
        return setting.cap(X, y), float(np.sin(np.exp(item["log_angle"])) ** 2)
    sign = np.array([float(item["sign"])])
    return setting.cap(X, y), setting.clearance(X, y, np.asarray(item["w"])[None], sign)


def before_t_1(item: Mapping[str, Any], zeta: Zeta, *ends: str) -> float:
    """How long before t_1, over 1/X_min, with this zeta, the neuron is at an end as eps -> 0."""
    found, data = path(item), setting.data_constants(item["X"], item["y"])
    t_1 = setting.alignment_time(data, zeta(*zetas(item)))
    return (t_1 - found.time) * data.X_min if found.status in ends else -np.inf


def home_at_t_1(zeta: Zeta) -> Statement:
    """ea.thm1.align.1: as eps -> 0 every neuron is home at t_1, with `max` of zeta_1 and zeta_2, as
    it is printed, or with `min`."""
    slack = where_mu_is_known(lambda item: before_t_1(item, zeta, "serves", "dead"))
    return Statement(f"home at t₁ with ζ = {zeta.__name__}(ζ₁, ζ₂)", everywhere(), slack,
                     PART_1, fixed=("y", "sign", "log_angle"))  # fmt: skip


def _hardly_active(item: Instance, rng: np.random.Generator) -> Instance:
    """A start active on one datum of the right label, at an angle of 1e-12 to 0.1 to its boundary,
    and otherwise as near as can be to the centre of the other label."""
    X, y, sign = item["X"], item["y"], float(rng.choice([-1.0, 1.0]))
    own = X[y == sign][rng.integers(int(np.sum(y == sign)))]
    own = own / np.linalg.norm(own)
    w = X[y == -sign].sum(axis=0)
    w = w - (w @ own) * own
    size = 10.0 ** -float(rng.uniform(1.0, 12.0)) * max(np.linalg.norm(w), 1e-6)
    return {"w": w + size * own, "sign": sign}


@statement(
    "active on its own label: serves at t₁",
    {**starts(), "odd": odd, **{f"{name}, hardly active": draw for name, draw in
                                extended(setting.separable_draws(), _hardly_active).items()}},
    {"(A1)": separated,
     "starts active on its own label": lambda X, y, w, sign: np.any(X[y == float(sign)] @ w > 0.0)},
    fixed=("y", "sign"),
)  # fmt: skip
@where_mu_is_known
def own_label_serves(item: Instance) -> float:
    """ea.thm1.align.2: how long before t_1 a neuron that starts active on a datum of its label
    serves it, in units of 1/X_min. With the printed zeta: it is not in the cone of the other label,
    so that zeta_2 does not matter to it."""
    return before_t_1(item, max, "serves")


@statement(
    "home by 3 log n / (√μ Xₘᵢₙ), and log(cot(θ/2)) / |x₋| in the cone of the other label",
    everywhere(), PART_1, fixed=("y", "sign", "log_angle"),
)  # fmt: skip
def home_within_the_order(item: Instance) -> float:
    """ea.thm1.align.order: as eps -> 0 a neuron is home by 3 log n / (sqrt(mu) X_min), and the stay
    that its angle from the direction excluded allows it; the slack is in units of 1/X_min."""
    return home_by(lambda of: 3.0 * float(np.log(of.n)) / (np.sqrt(of.mu) * of.X_min), item)


def growth_of_the_time() -> list[Evidence]:
    """ea.thm1.t1.scaling: t_* X_min <= 3 log n / sqrt(mu) for all n >= 2 and mu, and data whose
    time grows as mu -> 0, like log(1 / mu)."""
    grid = np.exp(np.linspace(np.log(1e-9), 0.0, 20_001))
    least = float(np.max(np.sqrt(grid) * [uniform_time(mu) for mu in grid]) / np.log(2.0))
    mus = 10.0 ** -np.arange(1.0, 9.0)
    times = np.array([path(slowest(mu, 1e-3)).time for mu in mus])
    return [
        bound("least c with t_* Xₘᵢₙ ≤ c log n / √μ for all n ≥ 2 and μ", least, "<=", 3.0, ""),
        bound("least growth of the slowest data's time as μ falls by 10, in log 10",
              float(np.diff(times).min() / np.log(10.0)), ">", 1.0, "", digits=3),
        note("its times, for μ = 1e-1, ..., 1e-8", tuple(times.tolist()), digits=3),
        note("t_* there", tuple(uniform_time(mu) for mu in mus), digits=3),
    ]  # fmt: skip


# --- Second route: a neuron beside x_-, enclosed: x_1 = (1, 0), x_2 = (-12/13, 5/13) --------------
#
# At the angle theta from x_2 towards x_1 a neuron of V_+ is in S_- as long as sin(theta) <= 12/13.
# There d theta/dt = e^f sin(theta), d log|w|/dt = -e^f cos(theta), and 0 <= f <= eps^2, so that the
# exit, at tan(theta/2) = 2/3, is at a time from e^(-eps^2) L to L = log((2/3) / tan(theta(0)/2)).
# Here n = 2, mu = 12/13, X_min = X_max = h = W_max = 1. What is outside of both cones is at the
# angle arccos(5/13) or more from K, from x_1 and from x_2: so xi = zeta_1 = 1 - 25/169.

MU, XI = Fraction(12, 13), Fraction(144, 169)


class Enclosed(NamedTuple):
    """Times with certain error bounds, as balls."""

    exit: arb  # when the neuron leaves S_-
    t_1: arb  # 16 log n / (m_2 sqrt(mu) X_min)
    pattern: arb  # 4 / (m_2 sqrt(mu) X_min n_a), n_a = 1
    small: bool  # whether ln eps is certainly within both bounds of (Small)


def enclosed(half_tangent: Fraction, log_eps: int) -> Enclosed:
    """The times for tan(theta(0)/2) = `half_tangent` < 2/3 and ln eps = `log_eps`, with the printed
    zeta = max(zeta_1, zeta_2), of which m_2 = min(zeta, xi) = 144/169 knows nothing."""
    longest = _ball(Fraction(2, 3) / half_tangent).log()  # tan(theta/2) = 2/3 at the exit
    shortest = longest * (-((2 * arb(log_eps)).exp())).exp()
    root = _ball(XI) * _ball(MU).sqrt()
    t_1, pattern = 16 * arb(2).log() / root, 4 / root
    outputs = (_ball(min(MU, XI)) * _ball(MU).sqrt() / 8).log()
    small = bool(log_eps <= outputs) and bool(log_eps <= -8 * t_1)
    return Enclosed(shortest.union(longest), t_1, pattern, small)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


# --- Theorem 1's time t_1 forgets the start: beside x_- a neuron stays longer in S_- --------------

LARGEST_CAP = Reading(
    "ζ₁ is the supremum of the numbers that Lemma 8 allows",
    "Lemma 8 says only that there is one. With a smaller ζ₁ the printed bound grows, and fails for "
    "starts that are nearer to x₋, as long as ζ₁ > ζ₂",
)
HALF_TANGENT = Fraction(1, 10**7)
"""tan(theta/2) of the start's angle theta from x_2."""
LOG_EPS = -200
X = np.array([[1.0, 0.0], [-12.0 / 13.0, 5.0 / 13.0]])
Y = np.array([1.0, -1.0])


def start() -> Start:
    """The neuron (1, 2), at the angle theta from x_2, on the side of x_1, at ln eps = LOG_EPS."""
    half = float(HALF_TANGENT)
    along, across = (1.0 - half**2) / (1.0 + half**2), 2.0 * half / (1.0 + half**2)
    w = along * X[1] + across * np.array([5.0 / 13.0, 12.0 / 13.0])
    return Start(X, Y, w[None], np.ones(1), LOG_EPS)


def _example(
    what: str, when: Callable[[FlowPath], float], part: float, recheck: Evidence
) -> Counterexample:
    """When something happens along the flow at ln eps = LOG_EPS, over a part of the printed t_1."""
    at = start()
    limit = setting.alignment_time(at.data, at.printed_zeta) / part
    found = at.flow(20.0, rtol=1e-12)  # the angle is 2e-7 at first
    return Counterexample(
        instance={
            "x_1": (1, 0), "y_1": 1,
            "x_2": (Fraction(-12, 13), Fraction(5, 13)), "y_2": -1,
            "tan(θ/2), θ the angle of w₁(0) from x₂ towards x₁": HALF_TANGENT,
            "v_1(0)": "|w_1(0)|",
            "ln ε": LOG_EPS,
        },
        assumptions={
            "(A1), μ = 12/13": abs(separation(X, Y) - 12.0 / 13.0) < 1e-12,
            "(A2), w₁(0) is no multiple of x₋ = x₂": HALF_TANGENT > 0,
            "(Small), by both routes": at.log_eps_allowed(at.printed_zeta) >= LOG_EPS
                                       and enclosed(HALF_TANGENT, LOG_EPS).small,
            "(R), the neuron is never in S_dead":
                all(active.any() for _, active in setting.patterns(found)),
        },
        breaks=(bound(what, when(found), "<=", limit, "", digits=3),),
        recheck=(recheck,),
        route="in S₋ the angle obeys dθ/dt = e^f sin θ with 0 ≤ f ≤ ε², which puts the time of "
        "the exit between two logarithms, enclosed in ball arithmetic",
    )  # fmt: skip


def kept_at_every_mu() -> Evidence:
    """How many mu have two unit data, as eps -> 0, and a neuron of V_+ so near to x_- that it keeps
    its pattern for too long, longer than the printed t_1: all."""
    kept = list[bool]()
    for mu in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        pair = np.array([[1.0, 0.0], [-mu, np.sqrt(1.0 - mu**2)]])
        t_1 = setting.alignment_time(setting.data_constants(pair, Y), mu**2)
        found = align(pair, Y, Beside(np.array([1.0, 0.0]), -(t_1 + 5.0)))
        kept.append(found.durations[0] > t_1 / (4.0 * np.log(2.0)))
    return none_of("values of μ for which two data have a start that keeps its active datum for "
                   "longer than the printed bound", kept)  # fmt: skip


def is_not_home_at_t_1() -> Counterexample:
    """Two data, mu = 12/13, t_1 = 13.5, and a neuron that is in S_- until 15.7."""
    certain = enclosed(HALF_TANGENT, LOG_EPS)
    early = certain.exit < certain.t_1
    return _example("time at which the flow brings the neuron home",
                    lambda flown: float(setting.alignment_times(flown)[0]), 1.0,
                    fact("the time of the exit from S₋ is enclosed below t₁", early,
                         True))  # fmt: skip


def keeps_its_pattern() -> Counterexample:
    """The same neuron keeps its one active datum until 15.7, where 4.9 is allowed: the printed
    4 / (m_2 sqrt(mu) X_min n_a), n_a = 1."""
    certain = enclosed(HALF_TANGENT, LOG_EPS)
    early = certain.exit < certain.pattern
    return _example("time for which the flow keeps x₂ alone active",
                    lambda flown: list(setting.patterns(flown))[1][0], 4.0 * np.log(2.0),
                    fact("the time of the exit from S₋ is enclosed below 4/(m₂ √μ Xₘᵢₙ)", early,
                         True))  # fmt: skip


# --- How much room Theorem 1 leaves: its time and its eps against what data and flows need --------


def maps_printed_time(n: int, mu: float) -> float:
    """t_1 X_min for neurons outside the cone of the other label: min(zeta, xi) = mu^2 at best."""
    return setting.alignment_time(DataConstants(n, 1, n - 1, mu, 1.0, 1.0, mu**2, mu**2), mu**2)


def needed_times(
    seed: int, ns: Sequence[int], ds: Sequence[int], mus: Sequence[float], tries: int
) -> pd.DataFrame:
    """For each n, d and mu the time of the slowest of `tries` neurons of V_+ that begin outside
    S_-, four on the same data of unit length. Columns: n, mu, needed, in units of 1 / X_min."""
    rng = np.random.default_rng(seed)

    def one(place: tuple[int, int, float]) -> Mapping[str, Any]:
        (n, d, mu), needed = place, 0.0
        for _ in range(max(tries // 4, 1)):
            X, y = setting.separable(n, d, mu, rng, 0.0)
            for w in rng.standard_normal((4, d)):
                if not np.array_equal(X @ w > 0.0, y == -1.0):
                    needed = max(needed, align(X, y, w).time * np.linalg.norm(X, axis=1).min())
        return {"n": n, "mu": mu, "needed": needed}

    return survey([(n, d, mu) for n in ns for d in ds for mu in mus], one)


def slowest_times(mus: Sequence[float]) -> NDArray:
    """The times of the data that come nearest to t_*."""
    return np.array([path(slowest(mu, 1e-6)).time for mu in mus])


def beside_times(decades: NDArray) -> pd.DataFrame:
    """Two data with mu = 12/13, and a neuron of V_+ at the angle 10^-k from x_-: a row each of
    `decades` k. Columns: decades, needed (the time as eps -> 0), ours (t_* + log(cot(theta/2)) /
    |x_-|), printed (t_1 with max(zeta_1, zeta_2))."""
    data = setting.data_constants(X, Y)
    logs = -np.log(10.0) * decades
    needed = [align(X, Y, Beside(np.array([1.0, 0.0]), log)).time for log in logs]
    ours = [uniform_time(data.mu) + stay(X, Y, log, 1.0) for log in logs]
    return pd.DataFrame({"decades": decades, "needed": needed, "ours": ours,
                         "printed": setting.alignment_time(data, data.xi)})  # fmt: skip


def largest_log_eps(at: Start, least: float) -> float:
    """The largest ln eps of 0, -1/2, -1, ... at which all neurons are home at T_*, or `least`."""
    until = enough_time(at)

    def home(log_eps: float) -> bool:
        path = replace(at, log_eps=log_eps).flow(until, method=DOP853, rtol=1e-6)
        return bool(np.isfinite(setting.alignment_times(path)).all())

    return next(filter(home, -0.5 * np.arange(np.ceil(-2.0 * least))), least)


SLICES: Mapping[str, Sequence[tuple[int, float, int]]] = {
    "mu": [(4, mu, 8) for mu in (0.001, 0.01, 0.1, 0.5)],
    "n": [(n, 0.1, 8) for n in (2, 4, 8)],
    "h": [(4, 0.1, h) for h in (2, 8, 32)],
}
"""Three lines through (n, mu, h) = (4, 0.1, 8)."""


def scales_along(seed: int) -> dict[str, pd.DataFrame]:
    """ln eps along each of SLICES, of one draw in R^5 a point: that of (Small), ours, and the
    largest that does. Where two lines meet they have the same row. Columns n, mu, h, small, ours,
    needed."""
    rng, d = np.random.default_rng(seed), 5

    def one(cell: tuple[int, float, int]) -> Mapping[str, Any]:
        n, mu, h = cell
        X, y = setting.separable(n, d, mu, rng, 0.0)
        W, signs = rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)
        at = Start(X, y, W / np.linalg.norm(W, axis=1, keepdims=True), signs)
        ours, small = enough_log_eps(at), at.log_eps_allowed(at.needed_zeta)
        needed = largest_log_eps(at, ours)
        return {"n": n, "mu": mu, "h": h, "small": small, "ours": ours, "needed": needed}

    cells = list(dict.fromkeys(cell for line in SLICES.values() for cell in line))
    found = survey(cells, one)
    return {name: found.iloc[[*map(cells.index, line)]] for name, line in SLICES.items()}
