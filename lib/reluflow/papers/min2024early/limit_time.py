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

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Statement
from reluflow.flows.alignment import Alignment, Beside, align
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, bound, fact, note
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


def home_in_time() -> Statement:
    """ea.ours.time: outside S_- the time needed is at most t_*; the slack is in units of 1/X_min.

    Neurons of V_- with the labels exchanged. The pulls at f = 0 are those of the exponential loss.
    """

    def slack(item: Mapping[str, Any]) -> float:
        found, X_min = path(item), shortest(item["X"])
        mu = separation(item["X"], item["y"])
        return uniform_time(mu) - _needed(found) * X_min

    return Statement(
        "a neuron outside the cone of the other label is home by t_*",
        starts(),
        slack,
        {
            "(A1)": separated,
            "outside the cone of the other label": lambda item: not excluded(item),
        },
        tolerance=TOLERANCE,
        fixed=("y", "sign"),
    )


def home_from_beside() -> Statement:
    """From the angle theta to x_- the time needed is at most t_* + log(cot(theta/2)) / |x_-|."""

    def slack(item: Mapping[str, Any]) -> float:
        X, y, X_min = item["X"], item["y"], shortest(item["X"])
        found, longest = path(item), stay(X, y, float(item["log_angle"]), float(item["sign"]))
        allowed = uniform_time(separation(X, y), X_min) + longest
        return (allowed - _needed(found)) * X_min

    return Statement(
        "a neuron at an angle θ from the centre of the other label is home by its time",
        excluded_starts(),
        slack,
        {"(A1)": separated},
        tolerance=TOLERANCE,
        fixed=("y", "sign", "log_angle"),
    )


def _needed(found: Alignment) -> float:
    return found.time if found.status in ("serves", "dead") else np.inf


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
        fact("of these neurons start in S_-", inside, 0, tried=len(items)),
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
