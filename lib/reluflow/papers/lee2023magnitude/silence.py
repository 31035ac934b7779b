"""A target of negative output silences a chain, at a time and an angle that one integral gives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from reluflow.flows.chain import chain_population_gradient
from reluflow.flows.half_angles import angle, log_tan
from reluflow.flows.population import pull
from reluflow.ledger import Evidence, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude.signs import (
    negative_example,
    population_horizon,
    population_path,
)


@dataclass(frozen=True)
class Silence:
    """What the conserved differences of squares say of chains under a negative target.

    time   (k,) when v_j, j >= 2, reaches 0; infinite where none can
    phi    (k,) the angle pi - angle(w, w*) then; NaN where none can
    """

    time: NDArray
    phi: NDArray


def silence(w: ArrayLike, v: ArrayLike, phi: ArrayLike, strength: ArrayLike) -> Silence:
    """When and at what angle chains fall silent, from an integral over a = the smallest size.

    All squares |w|^2, v_j^2 keep their differences, so that a stays the smallest of the sizes and
    every other one is sqrt(a^2 + gap) > 0. If a is a factor, R the product of the others, p = aR
    and P = `strength` = |v_1* ... v_m*| |w*|, then eq. (14) and Lemma 2.1 give, with
    psi = log tan(phi/2),

        dt/da   = -2 / (R |w| (p |w| + P pull(phi))),
        dpsi/da = a P phi / (pi |w|^2 (p |w| + P pull(phi))).

    Parameters: |w| (k,), v (k, m) positive, phi (k,) in (0, pi), strength (k,) positive. All are
    integrated at once, in s = 1 - a / a(0).
    """
    sizes = np.column_stack([np.asarray(v, float), np.asarray(w, float)])
    psi, strength = log_tan(phi), np.asarray(strength, float)
    first = np.argmin(sizes, axis=1)
    a0 = sizes.min(axis=1)
    gaps = sizes**2 - a0[:, None] ** 2
    alone = np.sum(gaps <= 0.0, axis=1) == 1
    silenced = alone & (first >= 1) & (first < sizes.shape[1] - 1)
    a0, gaps, psi, strength = (x[silenced] for x in (a0, gaps, psi, strength))
    others = np.arange(sizes.shape[1]) != first[silenced, None]

    def rates(s: float, state: NDArray) -> NDArray:
        a, phi = (1.0 - s) * a0, angle(state[: len(a0)])
        now = np.sqrt(a[:, None] ** 2 + gaps)
        length = now[:, -1]
        rest = np.prod(np.where(others, now, 1.0), axis=1) / length
        common = a * rest * length + strength * pull(phi)
        turn = a * strength * phi / (np.pi * length**2 * common)
        return np.concatenate([-a0 * turn, 2.0 * a0 / (rest * length * common)])

    start = np.concatenate([psi, np.zeros(len(a0))])
    psi, time = (
        solve_ivp(rates, (0.0, 1.0), start, "DOP853", rtol=1e-9, atol=1e-12).y[:, -1].reshape(2, -1)
    )
    times, angles = np.full(len(first), np.inf), np.full(len(first), np.nan)
    times[silenced], angles[silenced] = time, angle(psi)
    return Silence(times, angles)


def _orders(rng: np.random.Generator, count: int) -> list[tuple[float, NDArray, float, str]]:
    """Starts |w|, v, phi in which the smallest size is, in turn, some v_k with k >= 2, v_1, |w|, or
    two factors with k >= 2 at once."""
    starts = []
    for k in range(count):
        kind = ("v_k", "v_1", "|w|", "tie")[k % 4]
        sizes = np.sort(np.exp(0.5 * rng.normal(size=4)))
        sizes[1:] += 0.1
        rest = rng.permutation(sizes[1:])
        v = {
            "v_k": np.array([rest[0], sizes[0], rest[1]]),
            "v_1": np.array([sizes[0], rest[0], rest[1]]),
            "|w|": rest,
            "tie": np.array([rest[0], sizes[0], sizes[0]]),
        }[kind]
        if kind == "v_k" and rng.random() < 0.5:
            v[[1, 2]] = v[[2, 1]]
        length = sizes[0] if kind == "|w|" else rest[2]
        starts.append((float(length), v, float(rng.uniform(0.3, math.pi)), kind))
    return starts


def _decade(value: float) -> float:
    """The power of ten above an error of integration, whose digits mean nothing."""
    return 10.0 ** math.ceil(math.log10(max(value, 1e-12)))


def negative_target(seed: int, count: int) -> list[Evidence]:
    """ma.ours.signs.negative: a negative target silences a chain if some v_k is smallest."""
    rng = np.random.default_rng(seed)
    wrong, gap, hits, moved = 0, 0.0, 0, 0.0
    starts = _orders(rng, count)
    for length, v, phi, kind in starts:
        said = silence([length], [v], [phi], [1.0]).time[0]
        reach = 2.0 * said if kind == "v_k" else population_horizon(length, v, 1.0)
        path = population_path(length, v, phi, -1.0, reach)
        expected = 1 + int(np.argmin(v)) if kind == "v_k" else 0
        wrong += path.factor != expected
        if path.factor:
            hits += 1
            gap = max(gap, abs(path.zero / said - 1.0))
            still = chain_population_gradient([1.0, 0.0], -1.0)(
                path.w[-1], np.where(np.arange(len(v)) == path.factor - 1, 0.0, path.v[-1])
            )
            moved = max(moved, *(float(np.abs(part).max()) for part in still))
    many = silence(
        np.exp(0.7 * rng.normal(size=20 * count)),
        np.exp(0.7 * rng.normal(size=(20 * count, 3))),
        rng.uniform(0.3, math.pi, 20 * count),
        np.exp(rng.normal(size=20 * count)),
    )
    reached = np.isfinite(many.time)
    opposite = population_path(2.0, np.array([2.0, 1.0]), 0.0, -1.0, 20.0)
    example, time = negative_example()
    return [
        fact("flows that silence another factor than said, or one where none is said",
             wrong, 0),
        deviation("their times against the integral over the smallest size, at most",
                  _decade(gap), "relative", digits=1),
        deviation("x = 1, y = -1, w = 3, v = (2, 1): time against mpmath's quadrature, at most",
                  _decade(abs(example.zero / time - 1.0)), "relative", digits=1),
        bound("largest entry of the gradient once a factor is 0", moved, "<=", 0, ""),
        bound("least angle phi left when a factor reaches 0, over the integrals",
              float(np.nanmin(many.phi)), ">", 0, "rad"),
        fact("w0 opposite to w*, v = (2, 1), |w| = 2: a factor reaches 0 by t = 20",
             not opposite.keeps_signs, False),
        note("flows, those that fall silent", (len(starts), hits)),
        note("starts integrated over the smallest size", int(reached.sum())),
        note("seed", seed),
    ]  # fmt: skip
