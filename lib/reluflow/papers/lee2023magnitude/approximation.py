"""Theorem 4.1, where it holds: descent beside g(e^(-ct)) uniformly in time, and the converse."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from reluflow.approx import approx, on_grain
from reluflow.falsify import Statement, given
from reluflow.flows.population import pull
from reluflow.ledger import Evidence, Reading, bound, deviation, note
from reluflow.papers.lee2023magnitude.bounds import magnitude_bounds
from reluflow.papers.lee2023magnitude.profiles import (
    Profile,
    approximation_errors,
    bent,
    errors_at,
    flat_inside,
    flat_start,
    largest_errors,
    order,
    proof_constant,
    regular_bound,
)

Item = Mapping[str, NDArray]

STEPS = (1e-2, 1e-3, 1e-4)
"""c eta of the orders that are measured; c = 1."""

PLANE_STEPS = (0.1, 0.01, 0.001)
"""Steps of the descent in the plane."""

SPAN = 1.5
"""Flat profiles are followed up to c eta T of this: past x = 1/2 at log 2, before w underflows."""

SHOWN = (
    ("regular", bent(-0.6, 2.0)),
    ("regular, of Theorem A.3", bent(3.0, -0.5)),
    ("g' = 0 inside", flat_inside()),
    ("g' = 0 at the start", flat_start()),
)
"""One-to-one functions in C^2([0, 1]) and what to call them."""


def _over_claim(profile: Profile, step: float) -> float:
    """The largest |w(T) - g((1 - c eta)^T)| / (T eta^2), which (12) says is bounded; c = 1."""
    errors = approximation_errors(profile, 1.0, step, math.ceil(SPAN / step))
    return float((errors[1:] / np.arange(1, len(errors)) / step**2).max())


def growth(profile: Profile) -> float:
    """How much that largest quotient grows from c eta = 1/100 to 1/10000."""
    return _over_claim(profile, STEPS[-1]) / _over_claim(profile, STEPS[0])


def order_table() -> pd.DataFrame:
    """The error's order in the step at T = 3 and uniformly in T, and growth over T eta^2."""
    rows = []
    for name, profile in SHOWN:
        largest = largest_errors(profile, 1.0, STEPS, SPAN)
        rows.append({
            "g": f"{name}: {profile.name}",
            "order at T = 3": on_grain(order(STEPS, errors_at(profile, 1.0, STEPS, 3)), 0.1),
            "order, all T": on_grain(abs(order(STEPS, largest)), 0.01),
            "growth over T eta^2": approx(growth(profile), 3),
            "largest error, c eta = 1e-4": approx(largest[-1], 2),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("g")


def _random_bent(rng: np.random.Generator) -> Profile:
    return bent(10.0 ** rng.uniform(-1.0, 1.0) if rng.random() < 0.5 else -rng.uniform(0.05, 0.8),
                rng.choice([-1.0, -0.5, 0.5, 2.0, 3.0]))  # fmt: skip


def uniform_in_time(seed: int, count: int) -> list[Evidence]:
    """ma.thm4.1.2: uniformly in T where g' has no zero."""
    rng = np.random.default_rng(seed)
    fixed, uniform, grown = [], [], []
    for _ in range(count):
        profile = _random_bent(rng)
        fixed.append(order(STEPS[:2], errors_at(profile, 1.0, STEPS[:2], 3)))
        uniform.append(order(STEPS[:2], largest_errors(profile, 1.0, STEPS[:2], 10.0)))
        grown.append(_over_claim(profile, STEPS[1]) / _over_claim(profile, STEPS[0]))
    return [
        bound("least order in the step of the largest error, all T", min(uniform), ">=", 0.9,
              ""),
        bound("least order in the step of the error at T = 3", min(fixed), ">=", 1.7, ""),
        bound("largest growth of error/(T eta^2), eta to eta/10", max(grown), "<=", 1.5, ""),
        note("g = x - 0.45 x^2, c eta = 1/10: largest error over the proof's "
             "c eta max|g''|/(2 (2 - c eta))", _over_proof(), digits=3),
        note("w in the plane, see the reading: eta, and eta T at which the error exceeds 1",
             tuple((step, round(step * escapes(step), 6)) for step in PLANE_STEPS), digits=3),
         note("functions g", count),
        note("seed", seed),
    ]  # fmt: skip


def converse(seed: int, count: int) -> list[Evidence]:
    """ma.thm4.1.3: the converse, for linear g, and for `count` equations that no g was made for."""
    rng = np.random.default_rng(seed)
    linear, gaps = _converse(rng, count), []
    for _ in range(count):
        bend, w0, t = rng.uniform(-0.9, 0.9), rng.uniform(0.3, 3.0), np.array([0.5, 1.0, 2.0, 4.0])

        def rate(w: ArrayLike, bend: float = bend) -> NDArray:
            return -np.asarray(w) * (1.0 + bend * np.sin(w))

        exact = {"rtol": 1e-11, "atol": 1e-14}  # errors to be halved are from 1e-6 on
        flow = solve_ivp(lambda _, w, f=rate: f(w), (0, 4), [w0], "DOP853", t, **exact).y[0]
        whole, half = (_read_off(rate, w0, step, np.exp(-t)) for step in (2e-3, 1e-3))
        gaps.append([np.abs(g - flow).max() for g in (whole, half, 2.0 * half - whole)])
    whole, half, both = np.array(gaps).T
    return [
        deviation("linear g: descent from g((1 - c eta)^T), and flow from g(e^(-ct))", linear,
                  "of |w*|"),
        bound("dw/dt = -w (1 + b sin w): largest distance of g(e^(-t)) from the integrated flow, g "
              "extrapolated from descents at (1 - eta)^T, eta = 1/500 and 1/1000",
              float(both.max()), "<=", 1e-4, ""),
        bound("the same for eta = 1/1000 alone, over that for 1/500",
              float(half.max() / whole.max()), "<=", 0.6, ""),
        note("linear functions g, and numbers b", (count, count)),
        note("seed", seed),
    ]  # fmt: skip


def _read_off(rate: Callable[..., NDArray], w0: float, step: float, y: NDArray) -> NDArray:
    """g(y) for the g with w(T) = g((1 - step)^T) along descent from w0, linear between steps."""
    T = np.log(y) / math.log1p(-step)
    path = [w0]
    for _ in range(math.ceil(T.max())):
        path.append(path[-1] + step * float(rate(path[-1])))
    return np.interp(T, np.arange(len(path)), path)


A_NUMBER = Reading(
    taken="w is a number: the paper sets it like one, not bold as its vectors, and its proof uses "
    "the derivative of g^-1",
    others="for w in the plane it is false: at L = -cos(theta) - (|w| - 1)^2/2 the flow from "
    "theta = pi/2 stays on the unit circle, g(x) = (cos 2 arctan x, sin 2 arctan x) is smooth and "
    "one-to-one with a smooth inverse, and descent leaves the circle and escapes at every step",
)


def plane_descent(step: float, n_steps: int) -> tuple[NDArray, NDArray]:
    """Descent of L = -cos(theta) - (|w| - 1)^2 / 2 from w = (0, 1), and its flow's g at (1 -
    step)^T, g(x) = (cos 2 arctan x, sin 2 arctan x): two arrays (n_steps + 1, 2)."""
    w, path = np.array([0.0, 1.0]), np.empty((n_steps + 1, 2))
    for k in range(n_steps + 1):
        path[k] = w
        length = math.hypot(*w)
        out, along = w / length, np.array([-w[1], w[0]]) / length
        # -grad L is |w| - 1 along the ray and -sin(theta) / |w| across it.
        w = w + step * ((length - 1.0) * out - out[1] / length * along)
    angle = 2.0 * np.arctan((1.0 - step) ** np.arange(n_steps + 1.0))
    return path, np.column_stack([np.cos(angle), np.sin(angle)])


def escapes(step: float) -> int:
    """The first T at which `plane_descent` is farther than 1 from g((1 - step)^T)."""
    path, flow = plane_descent(step, math.ceil(15.0 / step))
    return int(np.argmax(np.linalg.norm(path - flow, axis=1) > 1.0))


CONVERSE = Reading(
    taken="w is a number; one g serves all small eta, and descent is g((1 - c eta)^T) up to O(eta)",
    others="equality for all small eta leaves affine g only, since at T = 0 it says "
    "g(1 - c eta) = g(1) + eta F(w(0)); for a single eta nothing follows, as every "
    "sequence is some function of (1 - c eta)^T",
)


def _over_proof() -> float:
    profile = bent(-0.9, 2.0)
    return largest_errors(profile, 1.0, (0.1,), 10.0)[0] / proof_constant(profile, 1.0, 0.1)


def _converse(rng: np.random.Generator, count: int) -> float:
    """The converse on u' = (a - u)/2: its descent is Theorem A.1's lower bound, a function of
    (1 - eta/2)^T, and its flow Theorem 3.3's; the largest deviation of the two pairs."""
    worst = 0.0
    for _ in range(count):
        phi0, v0 = rng.uniform(0.3, 3.0), 10.0 ** rng.uniform(-1.0, 1.0)
        step, a = 10.0 ** rng.uniform(-3.0, -1.0), float(pull(phi0))
        u = v0
        for _ in range(50):
            u += 0.5 * step * (a - u)
        flow = solve_ivp(lambda _, u, a=a: 0.5 * (a - u), (0, 5), [v0], rtol=1e-12, atol=1e-12)
        found = (
            magnitude_bounds(50, phi0, v0, 1.0, step)[0] - u,
            magnitude_bounds(np.array([5.0]), phi0, v0, 1.0)[0][0] - flow.y[0, -1],
        )
        worst = max(worst, *(abs(float(x)) for x in found))
    return worst


def _profile_of(item: Item) -> Profile:
    return bent(float(item["beta"][0]), float(item["power"][0]))


def _steepness(item: Item) -> tuple[float, float, float]:
    return _profile_of(item).steepness


def regular_approximation() -> Statement:
    """ma.ours.descent.approx: `regular_bound` holds at every step up to c eta T = 12."""

    def kind(negative: bool) -> Callable[[np.random.Generator], dict[str, NDArray]]:
        def draw(rng: np.random.Generator) -> dict[str, NDArray]:
            beta = -rng.uniform(0.05, 0.9) if negative else 10.0 ** rng.uniform(-1.5, 1.0)
            power = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.5, 2.0, 3.0])
            least, _, curvature = bent(beta, power).steepness
            limit = min(0.25, least / curvature)
            return {"beta": np.array([beta]), "power": np.array([power]),
                    "rate": np.array([limit * 10.0 ** rng.uniform(-1.0, 0.0)])}  # fmt: skip

        return draw

    def slack(item: Item) -> float:
        profile, rate, beta = _profile_of(item), float(item["rate"][0]), float(item["beta"][0])
        if rate < 1e-3 or beta < -0.95 or abs(beta) < 0.03:
            return math.nan  # rounding would decide
        T = np.arange(math.ceil(12.0 / rate) + 1)
        limit = regular_bound(profile, 1.0, rate, T)
        errors = approximation_errors(profile, 1.0, rate, int(T[-1]))
        return float(((limit - errors) / limit)[1:].min())

    return Statement(
        "|w(T) - g(y)| <= max|g'| (e^(2 c eta mu) - 1) y",
        {"beta < 0": kind(True), "beta > 0": kind(False)},
        slack,
        given(
            "ma.ours.descent.approx",
            function=lambda item: (
                -1.0 < float(item["beta"][0]) != 0.0 and _steepness(item)[0] > 0.0
            ),
            step=lambda item: (
                0.0 < float(item["rate"][0]) <= 0.25
                and float(item["rate"][0]) * _steepness(item)[2] <= _steepness(item)[0]
            ),
        ),
        tolerance=1e-12,
        fixed=("power",),
    )
