"""What descent does to the balance |w|^2 = v_1^2, which the flow keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.integrate import simpson

from reluflow.falsify import survey
from reluflow.flows.population import population_descent, population_flow
from reluflow.ledger import Evidence, bound, fact


def imbalance(m: int, psi0: float, rho0: float, fractions: Sequence[float]) -> pd.DataFrame:
    """Descend on the population from a balanced start, at fractions of the largest stable step.

    Each descent goes on until the flow is within 1e-7 of the target. Columns, a row a fraction:

    step   eta
    final  |w|^2 - v_1^2 at the end, in units of |w*|^2
    error  the relative distance of it from eta times the integral of |w|^2 (dphi/dt)^2 over the
           flow
    rest   |w| / |w*| - 1 at the end
    """
    end = 50.0
    while population_flow(psi0, rho0, m, [end]).theta[0] > 1e-7:
        end *= 1.3
    curvature = 0.5 * (m + 1) * math.exp(2 * m * max(rho0, 0.0))
    t = np.linspace(0.0, end, 4001)
    path = population_flow(psi0, rho0, m, t)
    turning = np.exp((m - 1) * path.rho) * path.phi * np.sin(path.phi) / (2.0 * math.pi)
    integral = float(simpson(np.exp(2.0 * path.rho) * turning**2, x=t))

    def descend(step: float) -> dict[str, float]:
        path = population_descent(psi0, rho0, m, step, math.ceil(end / step))
        final = math.exp(2.0 * path.rho[-1]) - path.layers[-1, 0] ** 2
        error = abs(final / (step * integral) - 1.0)
        return {"step": step, "final": final, "error": error, "rest": math.expm1(path.rho[-1])}

    return survey((float(2.0 / curvature * part) for part in fractions), descend)


def imbalances(seed: int, draws: int, fractions: Sequence[float]) -> pd.DataFrame:
    """`imbalance` from random starts of two to four layers in turn, a row a start.

    above   whether all its descents end above |w*|
    coarse  the error at the first fraction, `fine` at the last
    off     the relative distance of |w| / |w*| - 1 from m (|w|^2 - v_1^2) / (2 (m + 1) |w*|^2), at
            the last fraction
    """
    rng = np.random.default_rng(seed)

    def measure(m: int) -> dict[str, float | bool]:
        found = imbalance(m, rng.uniform(-1.0, 1.0), rng.uniform(-0.5, 0.3), fractions)
        first, last = found.iloc[0], found.iloc[-1]
        off = abs(last.rest / (m / (2.0 * (m + 1)) * last.final) - 1.0)
        above = bool((found.rest > 0.0).all())
        return {"above": above, "coarse": first.error, "fine": last.error, "off": off}

    return survey((1 + k % 3 for k in range(draws)), measure)


def balance_lost(found: pd.DataFrame) -> list[Evidence]:
    """ma.ours.run.balance: descent ends above |w*|; |w|^2 - v_1^2 becomes eta times the integral
    of |w|^2 phi'^2. Parameters: `imbalances`.

    The error is c eta + O(eta^2), where c depends on the start and changes sign: near c = 0 one
    start's error may even grow as eta falls. The largest of many starts falls with eta.
    """
    ratio = found.fine.max() / found.coarse.max()
    return [
        fact(f"starts whose descents all end above |w*|, of {len(found)}",
             int(found.above.sum()), len(found)),
        bound("|w|² − v₁² over η ∫|w|²φ̇²dt: largest distance from 1, smallest step",
              float(found.fine.max()), "<", 0.05, ""),
        bound("that largest distance, smallest over largest step",
              float(ratio), "<", 0.5, ""),
        bound("|w|/|w*| − 1 over m(|w|² − v₁²)/(2(m + 1)|w*|²): largest distance from 1",
              float(found.off.max()), "<", 0.05, ""),
    ]  # fmt: skip
