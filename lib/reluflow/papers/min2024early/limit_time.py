"""How long a neuron needs to its cone as eps -> 0: a bound without n, and data that reach it.

The limit flow of a direction, for a neuron of V_+: with w' = |w| b(w), b the sum of z_i = y_i x_i
over the active data, and F = <b, w> / |w|, which is continuous,

    (1)  |w|' = F |w|,    F' = |b|^2 - F^2 >= X_min^2 - F^2    as long as a datum is active,
    (2)  <z_j, w>' >= mu |z_j| |b| |w|                        for every j.

Let F = 0 and |w| = 1 at the time t_0; if F > 0 at the start, t_0 = 0, and if F < 0 up to the time
t, t_0 = t (then -F(t - s) >= X_min tanh(X_min s), and what follows holds with beta = 0). By (1) |w|
>= cosh(X_min (t - t_0)) on both sides, and by (2) <z_j, w> / |z_j| grows by mu sinh(X_min |t -
t_0|) or more. Outside S_- some <z_j, w> >= 0 at the start, and some <z_k, w> <= 0 as long as the
neuron is not home. At t_0 these two z have the latitudes alpha >= 0 and -beta <= 0 over the plane
across w, with

    sin alpha >= mu sinh(X_min t_0),    sin beta >= mu sinh(X_min (t - t_0)),

and alpha + beta is at most their angle, arccos mu. arsinh(sin(.) / mu) is concave, so that the sum
of the two times is largest at alpha = beta, where sin alpha = sqrt((1 - mu) / 2).

Inside S_- nothing changes: the angle theta to x_- has log tan(theta/2) grow at the rate |x_-|, and
theta < pi/2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Statement, given
from reluflow.flows.alignment import Alignment, Beside, align
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.min2024early.constants import DataConstants, data_constants
from reluflow.separable import separable_draws

TOLERANCE = 1e-8
"""Rounding of a time, in units of 1 / X_min; the times themselves are 0 to 60 such units."""
MUS = (1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99)
GAPS = (1e-3, 1e-6, 1e-9)
"""The parameter of the slowest data."""


def uniform_time(mu: float, X_min: float = 1.0) -> float:
    """t_* = (2 / X_min) arsinh(sqrt((1 - mu) / 2) / mu), of mu in (0, 1] and X_min > 0."""
    return 2.0 / X_min * float(np.arcsinh(np.sqrt(0.5 * (1.0 - min(mu, 1.0))) / mu))


def stay(X: NDArray, y: NDArray, log_angle: float, sign: float) -> float:
    """log(cot(theta/2)) / |x_-|, the longest stay in S_- from an angle theta = e^log_angle to x_-.

    With sign -1 it is x_+ and S_+.
    """
    rate = float(np.linalg.norm(X[y == -sign].sum(axis=0)))
    return (np.log(2.0) - log_angle) / rate if log_angle < -20.0 else float(
        -np.log(np.tan(0.5 * np.exp(log_angle))) / rate
    )  # fmt: skip


def shortest(X: NDArray) -> float:
    """X_min of X (n, d)."""
    return float(np.linalg.norm(X, axis=1).min())


def start_of(item: Mapping[str, Any]) -> NDArray | Beside:
    """The start of an instance: a direction w (d,), or one beside the direction excluded."""
    return Beside(item["w"], float(item["log_angle"])) if "log_angle" in item else item["w"]


def path(item: Mapping[str, Any]) -> Alignment:
    """The limit flow of an instance X (n, d), y (n,), sign and start."""
    return align(item["X"], item["y"], start_of(item), float(item["sign"]))


def excluded(item: Mapping[str, Any]) -> bool:
    """Whether the neuron starts in the cone of the other label: S_- for V_+."""
    X, y, w = item["X"], item["y"], item["w"]
    return bool(np.array_equal(X @ w > 0.0, y == -float(item["sign"])))


def separated(item: Mapping[str, Any]) -> bool:
    """(A1) with mu >= 1e-7, of which floats still know eight digits."""
    return bool(np.isfinite(item["X"]).all()) and separation(item["X"], item["y"]) >= 1e-7


def starts() -> dict[str, Draw]:
    """Data of every kind with a neuron that starts anywhere, hardly active, or at a boundary."""

    def anywhere(data: Draw) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = data(rng)
            w = rng.standard_normal(item["X"].shape[1])
            return {**item, "w": w, "sign": float(rng.choice([-1.0, 1.0]))}

        return one

    def edge(rng: np.random.Generator) -> dict[str, Any]:
        """Beside the centre of the other label, pushed out until one of its data is inactive."""
        item = separable_draws()["narrow"](rng)
        X, y, sign = item["X"], item["y"], float(rng.choice([-1.0, 1.0]))
        units = X / np.linalg.norm(X, axis=1, keepdims=True)
        other = units[y == -sign]
        k = rng.integers(len(other))
        w = other.sum(axis=0) + 0.3 * rng.standard_normal(X.shape[1])
        return {**item, "w": w - (1.0 + 1e-9) * (w @ other[k]) * other[k], "sign": sign}

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

    drawn = {name: anywhere(draw) for name, draw in separable_draws().items()}
    return {**drawn, "edge": edge, "slowest": slow}


def excluded_starts(deepest: float = 300.0) -> dict[str, Draw]:
    """The same data with a neuron at the angle theta from x_- (x_+ for V_-), log theta down to
    -`deepest`."""

    def beside(start: Draw) -> Draw:
        return lambda rng: {**start(rng), "log_angle": -float(rng.uniform(1.0, deepest))}

    return {name: beside(draw) for name, draw in starts().items()}


def everywhere() -> dict[str, Draw]:
    """Starts of every kind, and starts beside the direction excluded."""
    beside = {f"{name}, beside": draw for name, draw in excluded_starts().items()}
    return {**starts(), **beside}


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


def angle_from_excluded(item: Mapping[str, Any]) -> float:
    """log of the angle between the start and x_- (x_+ for the sign -1), by the chord."""
    if "log_angle" in item:
        return float(item["log_angle"])
    away = item["X"][item["y"] == -float(item["sign"])].sum(axis=0)
    chord = item["w"] / np.linalg.norm(item["w"]) - away / np.linalg.norm(away)
    with np.errstate(divide="ignore"):
        return float(np.log(2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(chord), 1.0))))


def vector(item: Mapping[str, Any]) -> NDArray:
    """The start as a direction (d,), an angle below 1e-8 as 0."""
    if "log_angle" not in item:
        return np.asarray(item["w"])
    away = item["X"][item["y"] == -float(item["sign"])].sum(axis=0)
    away = away / np.linalg.norm(away)
    across = item["w"] - (item["w"] @ away) * away
    angle = np.exp(max(float(item["log_angle"]), -50.0))
    return np.asarray(np.cos(angle) * away + np.sin(angle) * across / np.linalg.norm(across))


def both_labels(item: Mapping[str, Any]) -> bool:
    """(A1), with data of both labels."""
    known = np.isfinite(item["X"]).all() and len(set(np.asarray(item["y"]))) == 2
    return bool(known and separation(item["X"], item["y"]) > 0.0)


def allowed_start(item: Mapping[str, Any]) -> bool:
    """A neuron that is not 0 and, by (A2), no multiple of the sum that is forbidden to it."""
    return bool(np.any(item["w"])) and angle_from_excluded(item) > (
        -np.inf if "log_angle" in item else np.log(1e-12)
    )


def home_by(bound: Callable[[DataConstants], float], item: Mapping[str, Any]) -> float:
    """By how much, in units of 1 / X_min, a neuron is home before `bound`, and before the stay that
    its angle allows it after that if it starts in the cone of the other label.

    NaN for mu < 1e-7, of which floats no longer know eight digits, for a start so near to the
    direction excluded that only `Beside` can tell the angle.
    """
    X, y, log_angle = item["X"], item["y"], angle_from_excluded(item)
    if separation(X, y) < 1e-7 or ("log_angle" not in item and log_angle < np.log(1e-7)):
        return float("nan")
    data, found = data_constants(X, y), path(item)
    inside = excluded({**item, "w": vector(item)})
    longest = stay(X, y, log_angle, float(item["sign"])) if inside else 0.0
    needed = found.time if found.status in ("serves", "dead") else np.inf
    return (bound(data) + longest - needed) * data.X_min


def home_in_time() -> Statement:
    """ea.ours.time: a neuron is home by t_*, and one that starts in the cone of the other label, at
    the angle theta from its centre, by t_* + log(cot(theta/2)) / |x_-|.

    Neurons of V_- with the labels exchanged. The pulls at f = 0 are those of the exponential loss.
    """
    return Statement(
        "a neuron is home by its time",
        {**everywhere(), "odd": odd},
        lambda item: home_by(lambda data: uniform_time(data.mu, data.X_min), item),
        given("ea.ours.time", data=both_labels, start=allowed_start),
        tolerance=TOLERANCE,
        fixed=("y", "sign", "log_angle"),
    )


def slowest(mu: float, gap: float) -> dict[str, Any]:
    """Four unit vectors in space, and a start outside S_-, that need nearly t_*; gap -> 0.

    With sin d = sqrt((1 - mu) / 2): z_2, z_4 = (+-sin d, cos d, 0) and z_1, z_3 = (-+gap, p, r), p
    so that cos(z_1, z_2) = cos(z_3, z_4) = mu. x_1, x_2 = -z_1, -z_2 are negative. The neuron
    starts active on x_1 alone, beside the boundary of x_2, moves across to where x_3 takes over,
    and is home when x_4 wakes. Needs gap^2 small against 1 - mu.
    """
    s, c = np.sqrt(0.5 * (1.0 - mu)), np.sqrt(0.5 * (1.0 + mu))
    p = (mu + gap * s) / c
    r = np.sqrt(1.0 - p**2 - gap**2)
    Z = np.array([[-gap, p, r], [s, c, 0.0], [gap, p, r], [-s, c, 0.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    w = np.array([1.0, 0.0, 0.0]) - (1.0 - gap) * s / mu * Z[0]
    return {"X": y[:, None] * Z, "y": y, "w": w, "sign": 1.0}


def time_is_reached() -> list[Evidence]:
    """ea.ours.reached: the slowest data satisfy (A1) with this mu, and 1 - time / t_* -> 0."""
    items = [(mu, gap, slowest(mu, gap)) for mu in MUS for gap in GAPS]
    off = max(abs(separation(item["X"], item["y"]) / mu - 1.0) for mu, _, item in items)
    short = {
        gap: max(1.0 - path(item).time / uniform_time(mu) for mu, g, item in items if g == gap)
        for gap in GAPS
    }
    inside = sum(excluded(item) for _, _, item in items)
    return [
        fact("of these neurons start in S₋", inside, 0),
        bound("|μ of the data / μ - 1|", off, "<=", 1e-8, ""),
        *(
            bound(f"1 - time / t_* at gap {gap:g}, the largest over μ", one, "<=", 20.0 * gap, "",
                  digits=2)
            for gap, one in short.items()
        ),
        note("values of μ", MUS, digits=None),
    ]  # fmt: skip


def least_constant() -> float:
    """The least c with t_* X_min <= c log n / sqrt(mu) for all mu in (0, 1] and n >= 2."""
    grid = np.exp(np.linspace(np.log(1e-9), 0.0, 20_001))
    return float(np.max(np.sqrt(grid) * [uniform_time(mu) for mu in grid]) / np.log(2.0))
