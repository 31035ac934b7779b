"""Bounds of the flow's magnitude (Theorems 3.3 and 3.8) that start again, and where they bend."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reluflow.falsify import survey
from reluflow.flows.population import pull
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.lee2023magnitude.bounds import layered_magnitude_bounds
from reluflow.papers.lee2023magnitude.starts import Start


def inflection(level: float, m: int) -> float:
    """The value at which a solution of u' = -1/2 u^m (u^(m+1) - level^(m+1)) below `level` turns
    from convex to concave: level (m/(2m+1))^(1/(m+1)). Above `level` it is convex.

    Since u'' = f'(u) f(u) with f(u) the right side, and f' = -1/2 u^(m-1) ((2m+1) u^(m+1) - m
    level^(m+1)).
    """
    return level * (m / (2 * m + 1)) ** (1.0 / (m + 1))


def survey_bounds(seed: int, count: int) -> pd.DataFrame:
    """Random starts with phi_0 in (0, pi), |w_0|/|w*| in (0.01, 10), m = 0, ..., 3.

    lower, upper  how far these bounds, restarted at a random time, are outside of those from the
                  start, over |w*|; <= 0 inside
    bent          how often u'' had another sign than `inflection` says, of `looked`
    convex        whether the lower bound starts below its end, where it is said to be convex, and
                  is not; `between`, whether with v_0 > (1 - eps_0) v* all the same
    """
    rng, t = np.random.default_rng(seed), np.linspace(0.0, 12.0, 25)

    def measure(m: int) -> dict[str, float | bool]:
        phi0 = float(rng.uniform(0.02, np.pi - 0.02))
        v0, at = float(10.0 ** rng.uniform(-2, 1)), float(10.0 ** rng.uniform(-2, 1))
        old = layered_magnitude_bounds(at + t, phi0, v0, 1.0, m)
        path = Start.at(phi0, v0, m).flow([at])
        new = layered_magnitude_bounds(t, float(path.phi[0]), float(path.length[0]), 1.0, m)
        level = float(pull(phi0)) ** (1.0 / (m + 1))
        bent, looked = _bends(v0, phi0, level, m)
        return {
            "lower": float(np.max(old[0] - new[0])),
            "upper": float(np.max(new[1] - old[1])),
            "bent": bent,
            "looked": looked,
            "convex": v0 < level,
            "between": level ** (m + 1) < v0 < level,
        }

    return survey((int(rng.integers(4)) for _ in range(count)), measure)


def _bends(v0: float, phi0: float, level: float, m: int) -> tuple[int, int]:
    """How often second differences of the lower bound have another sign than `inflection` says,
    and how often they were looked at; near the inflection and near the level they are not."""
    h = 1e-3 / max(1.0, v0, level) ** (2 * m)
    t = np.linspace(0.0, 8.0, 40)[:, None] + h * np.arange(3)
    u = layered_magnitude_bounds(t.ravel(), phi0, v0, 1.0, m)[0].reshape(t.shape)
    bend = u[:, 0] - 2.0 * u[:, 1] + u[:, 2]
    said = np.where(u[:, 1] > level, 1.0, np.sign(inflection(level, m) - u[:, 1]))
    clear = np.abs(bend) > 1e-12 * u[:, 1]
    clear &= np.abs(u[:, 1] / max(inflection(level, m), 1e-300) - 1.0) > 1e-2
    return int(np.sum(clear & (np.sign(bend) != said))), int(clear.sum())


def nested_bounds(found: pd.DataFrame) -> list[Evidence]:
    """ma.ours.restart.nested: for the flow every restarted bound lies inside the ones before it."""
    return [
        bound(f"largest distance of a restarted {side} bound {way} the first",
              float(found[side].max()), "<=", 1e-9, "|w*|")
        for side, way in (("lower", "below"), ("upper", "above"))
    ] + [note("random starts, one restart each, one to four layers", len(found))]  # fmt: skip


def bent_bounds(found: pd.DataFrame) -> list[Evidence]:
    """ma.ours.restart.bend: where the bounds of the flow are convex and where they are concave."""
    return [
        fact("second differences of another sign", int(found.bent.sum()), 0),
        bound("second differences looked at", int(found.looked.sum()), ">", 0, ""),
        bound("lower bounds that start below their end, where D.1's 'convex' fails",
              int(found.convex.sum()), ">", 0, ""),
        note("of them with v_0 > (1 - eps_0) v*, where D.1 says that convexity holds",
             int(found.between.sum())),
    ]  # fmt: skip
