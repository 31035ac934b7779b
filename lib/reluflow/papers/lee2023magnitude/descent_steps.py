"""Corollary 4.3: how many steps are enough for phi > pi - eps, as printed and corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from reluflow.falsify import Statement, survey
from reluflow.instances import Arrays, extended
from reluflow.ledger import Counterexample, bound, fact
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude.bounds import angle_rates, enough_steps
from reluflow.papers.lee2023magnitude.descent_layers import (
    AWAY,
    AWAY_DRAWS,
    OPPOSITE,
    away,
    corrected_factors,
)
from reluflow.papers.lee2023magnitude.descents import (
    ON_THE_ANGLE,
    SMALLNESS,
    Descent,
    everywhere,
    statement,
)
from reluflow.papers.lee2023magnitude.starts import Start

STEPS = tuple(Fraction(2, k) for k in SMALLNESS)
"""A tenth, a hundredth and a thousandth of about 2, the limit of Corollary 4.3 for m = v* = 1."""

SMALL = Fraction(1, 1000)
"""|w0| = v_1 from which Corollary 4.3 fails: the fewer steps it counts the smaller this is."""


def asked(item: Arrays, rng: np.random.Generator) -> Arrays:
    """For `extended`: a number of steps to ask the corollary for."""
    return {"asked": np.array(int(rng.integers(1, 1 + item["steps"])))}


def printed_factor(run: Descent) -> float:
    """The factor of `enough_steps` as printed."""
    start, (r, R) = run.start, run.norm_range()
    return 1.0 - run.step * angle_rates(start.phi, r, R, start.target, start.m)[0]


def corrected_factor(run: Descent) -> float:
    """q_2 of `corrected_factors`."""
    start = run.start
    return corrected_factors(start.phi, run.ranges(), start.target, run.step, start.m)[1]


def steps(corrected: bool) -> Statement:
    """ma.ours.descent.steps: Corollary 4.3 with the corrected factor, or as printed: the eps is the
    one for which it asks for just less than "asked" steps."""
    factor = corrected_factor if corrected else printed_factor

    def slack(run: Descent) -> float:
        # enough_steps(log eps, psi0, factor) = asked.
        path, asked = run.path, run.asked - 1e-6
        log_eps = math.log(2.0) - run.start.psi + math.log(factor(run)) * asked
        return float(log_eps - np.log(path.theta[path.t > asked]).max())

    return statement(
        f"4.3{' corrected' if corrected else ''}: phi(T) > pi - eps after T steps",
        extended(everywhere((1, 2, 3)), asked),
        slack,
        ON_THE_ANGLE,
    )


def steps_away() -> Statement:
    """Corollary 4.3 away from phi0 = 0 and pi."""
    where = f"phi0 >= {OPPOSITE}, pi - phi0 >= {AWAY}, r < |w0|"
    says = f"4.3: phi(T) > pi - eps after T steps, {where}"
    return away(steps(corrected=False), says, extended(AWAY_DRAWS, asked))


def needed() -> pd.DataFrame:
    """Corollary 4.3 for m = v* = 1, |w0| = 1/1000, pi - phi0 = eta/10, eps = (pi - phi0)/20000: by
    step, the steps that it counts, "enough", and those that descent needs.

    Columns: step, eps, enough and needed, and of the descent until eta T = 8 or it is there whether
    it starts "balanced", has |w(T)| > r = 1/2000, "inside", and its step is "small" as asked.
    """

    def measure(step: Fraction) -> Mapping[str, Any]:
        theta0 = float(step) / 10
        start, eps = Start.near(theta0, float(SMALL), 1), theta0 / 20000.0
        rate, _ = angle_rates(start.phi, 1.0, 1.0, 1.0, 1)
        count = enough_steps(math.log(eps), start.psi, 1.0 - rate * float(step))
        path = start.descent(float(step), max(math.ceil(count) + 50, math.ceil(8 / step)))
        return {
            "step": step,
            "eps": eps,
            "enough": math.floor(count) + 1,
            "needed": int(np.argmax(path.theta < eps)),
            "balanced": math.isclose(path.layers[0, 0], path.length[0], rel_tol=1e-12),
            "inside": bool(path.length.min() > 0.0005),
            "limit": 2.0 * math.pi / start.phi,
        }

    return survey(STEPS, measure)


def needed_table() -> pd.DataFrame:
    """`needed`, as a table."""
    found = needed()
    return pd.DataFrame({
        "step": found.step.map(str),
        "enough by Corollary 4.3": found.enough,
        "needed": found.needed,
        "short by": found.needed - found.enough,
    }).set_index("step")  # fmt: skip


def more_steps_needed() -> Counterexample:
    """ma.cor4.3: more steps are needed than it counts, at steps however small."""
    found = needed()
    first = found.iloc[0]
    path = exact.vector_descent(exact.balanced("0.02", "0.001", 1), 1, "0.2", first.enough)
    return Counterexample(
        instance={"m": 1, "v*": 1, "step": list(STEPS), "pi - phi0": "step/10",
                  "|w0| = v_1(0)": SMALL, "eps": "(pi - phi0)/20000",
                  "r": Fraction(1, 2000)},
        assumptions={
            "balanced start": bool(found.balanced.all()),
            "r < |w(T)| along the descents": bool(found.inside.all()),
            "the steps are at most X/10, X/100 and X/1000, X = 2 pi/phi0": all(
                float(s) * k <= X for s, k, X in zip(STEPS, SMALLNESS, found.limit, strict=True)
            ),
        },
        breaks=(fact("of the three steps, how many need more iterations",
                     int((found.needed > found.enough).sum()), 0),),
        recheck=(bound(f"pi - phi(T) at T = {first.enough}, step {first.step}, by 30-digit vector "
                       "steps", float(path[first.enough].theta) / first.eps, "<", 1.0, "of eps"),),
        route="descent of the vector w and of v_1 in 30 digits",
    )  # fmt: skip
