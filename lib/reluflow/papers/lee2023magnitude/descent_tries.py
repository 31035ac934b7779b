"""Every statement on descent, tried once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from reluflow.falsify import Report, Statement, falsify
from reluflow.papers.lee2023magnitude import descent_layers as layers
from reluflow.papers.lee2023magnitude import descent_one_layer as one
from reluflow.papers.lee2023magnitude import descent_steps as steps
from reluflow.papers.lee2023magnitude import descent_two_layers as two

Statements = Mapping[str, Callable[[], Statement]]

ONE_LAYER: Statements = {
    "A.1": one.magnitude,
    "A.1 small": one.small_magnitude,
    "A.2 lower": lambda: one.angle((0,), 0, "A.2: lower bound of phi(T), T >= 0"),
    "A.2 small": one.small_angle,
    "A.2 repaired": one.repaired_angle,
}
"""Theorem A.1 and what is true of Theorem A.2."""

ONE_LAYER_FAILING: Statements = {
    "A.2 upper": lambda: one.angle((0,), 1, "A.2: upper bound of phi(T), T >= 0"),
}
"""The upper bound of Theorem A.2 as printed, which fails near phi0 = 0."""

MORE_LAYERS: Statements = {
    "4.2 corrected": layers.corrected_angle,
    "4.2 euler": layers.euler_angle,
    "4.3 corrected": lambda: steps.steps(corrected=True),
    "A.3 corrected": two.corrected_two_layers,
    "balance": two.imbalance,
}
"""Repairs of Theorem 4.2, Corollary 4.3 and Theorem A.3, which hold as far as is known."""

AWAY: Statements = {"4.2 away": layers.angle_away, "4.3 away": steps.steps_away}
"""Theorem 4.2 and Corollary 4.3 away from phi0 = 0 and pi, where no proof is known."""

FAILING: Statements = {
    "4.2 lower": lambda: one.angle((1, 2, 3), 0, "4.2: lower bound of phi(T)"),
    "4.2 upper": lambda: one.angle((1, 2, 3), 1, "4.2: upper bound of phi(T)"),
    "4.3": lambda: steps.steps(corrected=False),
    **{name: partial(two.two_layers, name) for name in two.TWO_LAYERS},
}
"""Theorem 4.2, Corollary 4.3 and Theorem A.3 as printed, which fail but for one reading."""


def try_one_layer(seed: int, count: int) -> dict[str, Report]:
    """Try `ONE_LAYER` with `count` draws each, and a search of three evaluations a draw, for the
    statements have six variables; and what fails, without a search."""
    return _tried(ONE_LAYER, seed, count, 3 * count) | _tried(ONE_LAYER_FAILING, seed, count, 0)


def try_more_layers(seed: int, count: int) -> dict[str, Report]:
    """Try all the others, those of `AWAY` with five times as many draws and evaluations. Statements
    that are known to fail are not searched further."""
    return (
        _tried(MORE_LAYERS, seed, count, 3 * count)
        | _tried(AWAY, seed, 5 * count, 5 * count)
        | _tried(FAILING, seed, count, 0)
    )


def _tried(statements: Statements, seed: int, count: int, evaluations: int) -> dict[str, Report]:
    return {name: falsify(made(), seed, count, evaluations) for name, made in statements.items()}
