"""How small eps has to be: alignment at a finite eps, from the proof of the limit's time.

For the exponential loss, and for twice the logistic one, a datum pulls with gamma_i y_i x_i, where
e^-phi <= gamma_i <= e^phi as long as all |f(x_i)| <= phi. So a neuron of V_+ moves by

    w' = |w| g,    g = sum gamma_i z_i over the active data, z_i = y_i x_i:

in the cone K of the z_i at every eps. Hence (a) <z_j, w>' >= mu |z_j| |w'|. A neuron not home has
some <z_k, w> <= 0, from -|z_k| |w(0)| at least, so that its path is no longer than |w(0)| / mu.

(b) With b = sum z_i over the same data, |g - b| <= eta |b|, eta = (e^phi - 1) / sqrt(mu), for
|b| >= sqrt(mu) sum |z_i|. Put F = <b, w> / |w| and follow W = N w / |w| with N' = F N. Then

    F' >= (1 - 2 eta) X_min^2 - F^2,    <z_j, W>' >= (mu - eta) |z_j| |b| N,

and the argument of `limit_time` gives t <= (2 / X) arsinh(sin d / (mu - eta)) with X = X_min
sqrt(1 - 2 eta). For phi <= mu^(3/2) / 8 we have eta <= 0.134 mu, and that is at most 1.35 t_*.

(c) In S_- the angle theta to x_- has theta' >= |x_-| (sin theta - eta), which is at least half of
|x_-| sin theta if eta <= sin(theta(0)) / 2.

(d) |w_j|' <= e^phi M |w_j|, M = max(|x_+|, |x_-|), for a sum of part of the z_i of one label is no
longer than that of all. So |f| <= h X_max eps^2 W_max^2 exp(2 e^phi M t), which is at most phi.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.falsify import Statement, given, survey
from reluflow.flows.alignment import Alignment
from reluflow.flows.integrate import FlowPath
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early.constants import (
    centres,
    data_constants,
    log_eps_allowed,
    needed_zeta,
    start_constants,
)
from reluflow.papers.min2024early.flows import alignment_times, flow, neurons
from reluflow.papers.min2024early.limit_time import (
    TOLERANCE,
    odd,
    path,
    starts,
    uniform_time,
)
from reluflow.separable import separable, separable_draws


def excluded_angle(X: NDArray, y: NDArray, W: NDArray, signs: NDArray) -> float | None:
    """The least angle theta to x_- (x_+) of the neurons W (h, d) that start in S_- with sign 1 (in
    S_+ with sign -1), from sines of chords; None if there is no such neuron."""
    angles = []
    for label, u in centres(X, y).items():
        away = label * u / np.linalg.norm(u)
        for w in W[signs == -label]:
            if np.array_equal(X @ w > 0.0, y == label):
                angles.append(2.0 * np.arcsin(0.5 * np.linalg.norm(w / np.linalg.norm(w) - away)))
    return float(min(angles)) if angles else None


def enough_time(X: NDArray, y: NDArray, W: NDArray, signs: NDArray) -> float:
    """T_* = (3/2) t_* + 2 log(cot(theta/2)) / min(|x_+|, |x_-|), of a start W (h, d)."""
    data, theta = data_constants(X, y), excluded_angle(X, y, W, signs)
    time = 1.5 * uniform_time(data.mu, data.X_min)
    if theta is None:
        return time
    least = min(float(np.linalg.norm(u)) for u in centres(X, y).values())
    return time - 2.0 * float(np.log(np.tan(0.5 * theta))) / least


def enough_log_eps(X: NDArray, y: NDArray, W: NDArray, signs: NDArray) -> float:
    """ln of the eps from which all neurons are home at T_*.

    It is sqrt(phi / (h X_max)) exp(-e^phi M T_*) / W_max, phi = sqrt(mu) min(mu, 2 sin theta) / 8.
    """
    data, theta = data_constants(X, y), excluded_angle(X, y, W, signs)
    begin = start_constants(X, y, W, signs)
    reach = data.mu if theta is None else min(data.mu, 2.0 * np.sin(theta))
    phi = np.sqrt(data.mu) * reach / 8.0
    M = max(float(np.linalg.norm(u)) for u in centres(X, y).values())
    growth = np.exp(phi) * M * enough_time(X, y, W, signs)
    return float(0.5 * np.log(phi / (begin.h * data.X_max)) - np.log(begin.W_max) - growth)


def _instance(rng: np.random.Generator, largest: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    n, d, h = (int(rng.integers(2, top + 1)) for top in (6, largest, 8))
    mu = float(np.exp(rng.uniform(np.log(1e-3), np.log(0.9))))
    X, y = separable(n, d, mu, rng)
    signs = rng.choice([-1.0, 1.0], h)
    W = rng.standard_normal((h, d)) * 10.0 ** rng.uniform(-1.0, 1.0, (h, 1))
    u = centres(X, y)[-signs[0]] * -signs[0]
    W[0] = u / np.linalg.norm(u) + 10.0 ** -rng.uniform(0.0, 4.0) * rng.standard_normal(d)
    return X, y, W, signs


def at_our_scale(seed: int, count: int) -> pd.DataFrame:
    """(GF) from the largest eps of `enough_log_eps`: home at T_*?

    The first neuron starts beside the direction excluded. Columns: T, needed, log_eps, and
    log_eps_printed, that of (Small) with min(zeta_1, zeta_2).
    """
    rng = np.random.default_rng(seed)

    def one(k: int) -> Mapping[str, Any]:
        X, y, W, signs = _instance(rng, 8)
        T, log_eps = enough_time(X, y, W, signs), enough_log_eps(X, y, W, signs)
        loss = (EXPONENTIAL, TWICE_LOGISTIC)[k % 2]
        found = flow(X, y, W, signs, log_eps, T, loss, method=DOP853)
        data, begin = data_constants(X, y), start_constants(X, y, W, signs)
        return {
            "T": T,
            "needed": float(alignment_times(found).max()),
            "log_eps": log_eps,
            "log_eps_printed": log_eps_allowed(data, begin, needed_zeta(data, begin)),
        }

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
    ]  # fmt: skip


def _ends(values: pd.Series) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def largest_growth(flown: FlowPath, points: int = 40) -> float:
    """The largest |w_j(t)| / |w_j(0)| of a neuron while it is not home, on a grid of the path."""
    times, until = alignment_times(flown), flown.t[-1]
    most = 0.0
    start = neurons(flown, flown.t[0])[1]
    for j, home in enumerate(times):
        grid = np.linspace(flown.t[0], min(home, until), points)
        most = max(most, float(np.exp((neurons(flown, grid)[1][:, j] - start[j]).max())))
    return most


def relative_length(found: Alignment) -> float:
    """The length of the polygon in weight space up to the last event, over |w(0)|.

    On a leg |w| = p cosh(q) and the way along it is p sinh(q), p the distance of its line from 0.
    """
    size, length = 1.0, 0.0
    for leg, time in zip(found.legs, found.durations, strict=False):
        end = leg.q + leg.rate * time
        p = size / np.cosh(leg.q)
        length += p * (np.sinh(end) - np.sinh(leg.q))
        size = p * np.cosh(end)
    return float(length)


def in_the_setting(item: Mapping[str, Any]) -> bool:
    """(A1), and a neuron that is not 0."""
    known = np.isfinite(item["X"]).all() and np.any(item["w"])
    return bool(known and separation(item["X"], item["y"]) > 0.0)


def polygons_are_short() -> Statement:
    """As eps -> 0 the polygon is no longer than |w(0)| / mu; the slack is relative."""

    def slack(item: Mapping[str, Any]) -> float:
        mu = data_constants(item["X"], item["y"]).mu
        return 1.0 - mu * relative_length(path(item)) if mu >= 1e-7 else float("nan")

    return Statement(
        "the polygon of a neuron is no longer than its start over μ",
        {**starts(), "odd": odd},
        slack,
        given("ea.ours.growth", setting=in_the_setting),
        tolerance=TOLERANCE,
        fixed=("y", "sign"),
    )


def grown_at_every_scale(seed: int, count: int) -> list[Evidence]:
    """ea.ours.growth: from starts of norm 1e-3 to 1e3 no neuron grows by more than 1 + 1/mu before
    it is home; exponential and logistic loss, random data of every kind."""
    rng = np.random.default_rng(seed)
    draws = separable_draws((2, 5), (2, 5))
    kinds = [draws[name] for name in ("wide", "narrow", "integers", "parallel")]

    def one(k: int) -> Mapping[str, Any]:
        item = kinds[k % len(kinds)](rng)
        X, y = item["X"], item["y"]
        h = int(rng.integers(1, 5))
        W, signs = rng.standard_normal((h, X.shape[1])), rng.choice([-1.0, 1.0], h)
        mu = data_constants(X, y).mu
        log_eps = float(rng.uniform(-3.0, 3.0) * np.log(10.0))
        loss = (EXPONENTIAL, LOGISTIC)[k // 4 % 2]
        flown = flow(X, y, W, signs, log_eps, 20.0, loss, method=DOP853)
        return {
            "share": largest_growth(flown) / (1.0 + 1.0 / mu),
            "status": flown.status,
        }

    found = survey(range(count), one)
    return [
        fact(f"of {len(found)} flows, those in which a neuron outgrows 1 + 1/μ before it is home",
             int((~(found.share <= 1.0)).sum()), 0),
        note("largest share of 1 + 1/μ", float(found.share.max()), digits=2),
    ]  # fmt: skip
