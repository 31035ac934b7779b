"""Population descents that the statements on descent are tried on.

An instance is a start and a descent: "psi" and "rho" (1,), the coordinates of `population_descent`,
"target" (1,) = |w*|, "step" (1,), "steps" (1,) how many are taken, "m" (1,), and "loose" (2,) > 1:
the r and R that a theorem asks for are taken that much outside the norms of the run. A step is
called small against a number X if it is at most X/10, X/100 or X/1000, by the kind of draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.population import PopulationPath, population_descent, pull
from reluflow.papers.lee2023magnitude.descent_corrected import Ranges, step_limit

Item = Mapping[str, NDArray]
Draws = Mapping[str, Callable[[np.random.Generator], dict[str, NDArray]]]

SMALLNESS = (10.0, 100.0, 1000.0)
"""A step is tried at these fractions of what it is to be small against."""

ROUNDING = 1e-12
"""A slack below this share of the quantity is rounding."""


def number(item: Item, name: str) -> float:
    """The instance's number of that name."""
    return float(item[name][0])


def path_of(item: Item) -> PopulationPath:
    """The instance's descent, every step of it."""
    return _path(*(number(item, name) for name in ("psi", "rho", "target", "step", "steps", "m")))


@lru_cache(maxsize=4)
def _path(psi: float, rho: float, target: float, step: float, steps: float, m: float):
    return population_descent(psi, rho, int(m), step, int(steps), target)


def start_of(item: Item) -> tuple[float, float, float, float]:
    """phi0, |w0|, |w*| and the step."""
    target = number(item, "target")
    phi0 = 2.0 * math.atan(math.exp(number(item, "psi")))
    return phi0, target * math.exp(number(item, "rho")), target, number(item, "step")


def gap_of(item: Item) -> float:
    """theta0 = pi - phi0, all digits of it."""
    return 2.0 * math.atan(math.exp(-number(item, "psi")))


def norm_range(item: Item) -> tuple[float, float]:
    """An r and an R with r < |w(T)| < R for all T > 0, those after the run included.

    After it |w| stays above the smaller of its value and v* (1 - eps)^(1/(m+1)), and below the
    larger of its value and v* (1 + eta v*^(2m)).
    """
    path, m = path_of(item), int(number(item, "m"))
    target, length = path.target, path.length[1:]
    rest = target * float(pull(path.phi[-1])) ** (1.0 / (m + 1))
    top = target * (1.0 + number(item, "step") * target ** (2 * m)) if m else target
    loose = item["loose"]
    return min(length.min(), rest) / float(loose[0]), max(length.max(), top) * float(loose[1])


def draws(
    layers: tuple[int, ...],
    limit: Callable[[float, float, float, int], float],
    psi: tuple[float, float] = (-3.0, 9.0),
    rho: tuple[float, float] = (-3.0, 1.5),
) -> Draws:
    """Starts with psi and rho in these ranges; the step is a tenth, hundredth or thousandth of
    about limit(phi0, |w0|, |w*|, m)."""

    def kind(share: float) -> Callable[[np.random.Generator], dict[str, NDArray]]:
        def draw(rng: np.random.Generator) -> dict[str, NDArray]:
            m = int(rng.choice(layers))
            target = float(10.0 ** rng.uniform(-0.5, 0.5))
            at, log = rng.uniform(*psi), rng.uniform(*rho)
            X = limit(2.0 * math.atan(math.exp(at)), target * math.exp(log), target, m)
            return {
                "psi": np.array([at]),
                "rho": np.array([log]),
                "target": np.array([target]),
                "step": np.array([X / share * rng.uniform(0.5, 1.0)]),
                "steps": np.array([int(rng.choice([20, 100, 400], p=[0.3, 0.4, 0.3]))]),
                "m": np.array([m]),
                "loose": 1.0 + 10.0 ** rng.uniform(-6.0, 0.0, 2),
                "smallness": np.array([int(share)]),
            }

        return draw

    return {f"step below X/{share:g}": kind(share) for share in SMALLNESS}


FIXED = ("smallness", "m", "steps")


def gentle(item: Item) -> bool:
    """No step overshoots: eta times the squared product of the factors and the target is below 1.

    The theorems do not ask for it where they let v0 be large; it leaves out runs that diverge.
    """
    size = number(item, "target") * max(1.0, math.exp(number(item, "rho")))
    return number(item, "step") * size ** (2 * number(item, "m")) <= 1.0


def is_loose(item: Item) -> bool:
    """Whether r and R are strictly outside the norms of the run."""
    return bool(np.all(item["loose"] > 1.0))


def is_below(item: Item, limit: float) -> bool:
    """Whether the step is at most the limit over 10, 100 or 1000."""
    return number(item, "step") * float(item["smallness"][0]) <= limit


def angle_step(item: Item) -> bool:
    """Whether the step is small against the limit of Theorems 4.2 and A.2."""
    phi0, _, target, _ = start_of(item)
    return is_below(item, step_limit(phi0, *norm_range(item), target, int(number(item, "m"))))


def limit_guess(phi0: float, v0: float, target: float, m: int) -> float:
    """About what the step of an angle bound must be small against, before the run is known."""
    r, R = min(v0, target) * min(1.0, math.sin(phi0 / 2.0)), max(v0, target)
    return min(step_limit(phi0, r, R, target, m), 1.0 / R ** (2 * m))


def ranges(item: Item) -> Ranges:
    """The ranges of v_1...v_m / |w| and v_1...v_m over the run."""
    path = path_of(item)
    product = path.layers.prod(axis=1)
    ratio = product / path.length
    return Ranges(float(ratio.min()), float(ratio.max()), float(product.max()))
