"""Starts of a balanced chain, v_1 = ... = v_m = |w_0|, in the coordinates of `flows.population`.

An instance of a statement on a start holds "psi", "rho" and "m", arrays (), and "target" where it
is not 1; `Start.of` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reluflow.falsify import Instance
from reluflow.flows.half_angles import angle, log_tan
from reluflow.flows.population import PopulationPath, population_descent, population_flow
from reluflow.instances import Arrays, Draws

Range = tuple[float, float]


@dataclass(frozen=True)
class Start:
    """A start and its teacher.

    psi, rho  log tan(phi_0/2) and log(|w_0|/|w*|)
    m         factors v_1, ..., v_m besides w
    target    |w*| = v_k*
    """

    psi: float
    rho: float
    m: int
    target: float = 1.0

    @classmethod
    def at(cls, phi: float, v: float, m: int, target: float = 1.0) -> Start:
        """The start with phi_0 = phi in (0, pi) and |w_0| = v > 0."""
        return cls(float(log_tan(phi)), math.log(v / target), m, target)

    @classmethod
    def near(cls, theta: float, v: float, m: int, target: float = 1.0) -> Start:
        """The start with pi - phi_0 = theta, however small, in (0, pi), and |w_0| = v > 0."""
        return cls(-float(log_tan(theta)), math.log(v / target), m, target)

    @classmethod
    def of(cls, item: Instance) -> Start:
        """The start of an instance."""
        psi, rho, target = (float(item.get(name, 1.0)) for name in ("psi", "rho", "target"))
        return cls(psi, rho, int(item["m"]), target)

    @property
    def phi(self) -> float:
        """phi_0 = pi - angle(w_0, w*)."""
        return float(angle(self.psi))

    @property
    def theta(self) -> float:
        """angle(w_0, w*), with all its digits where it is small."""
        return float(angle(-self.psi))

    @property
    def v(self) -> float:
        """|w_0|."""
        return self.target * math.exp(self.rho)

    def flow(self, t: ArrayLike) -> PopulationPath:
        """The flow from here at times t (k,)."""
        return population_flow(self.psi, self.rho, self.m, t, self.target)

    def descent(self, step: float, n_steps: int) -> PopulationPath:
        """Descent from here, every step of it."""
        return population_descent(self.psi, self.rho, self.m, step, n_steps, self.target)


def drawn(
    layers: Sequence[int],
    ranges: Mapping[str, tuple[Range, Range]],
    sizes: Range | None = None,
) -> Draws:
    """Draws of starts with m in `layers`, by kind, given the ranges of psi and rho; with `sizes`
    also of "target", whose decimal logarithm is in that range."""

    def kind(psi: Range, rho: Range) -> Callable[[np.random.Generator], Arrays]:
        def draw(rng: np.random.Generator) -> Arrays:
            item = {"psi": np.array(rng.uniform(*psi)), "rho": np.array(rng.uniform(*rho))}
            if sizes is not None:
                item["target"] = np.array(10.0 ** rng.uniform(*sizes))
            return {**item, "m": np.array(int(rng.choice(layers)))}

        return draw

    return {name: kind(*pair) for name, pair in ranges.items()}
