"""Every statement on descent, tried once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from reluflow.falsify import Report, Statement, falsify
from reluflow.papers.lee2023magnitude import descent_layers as layers
from reluflow.papers.lee2023magnitude import descent_one_layer as one
from reluflow.papers.lee2023magnitude import descent_two_layers as two

Statements = Mapping[str, Callable[[], Statement]]

ONE_LAYER: Statements = {
    "A.1": one.magnitude,
    "A.1 small": one.small_magnitude,
    "A.2 lower": lambda: one.angle((0,), 0, "A.2: lower bound of phi(T), T >= 0"),
    "A.2 small": one.small_angle,
    "A.2 repaired": one.repaired_angle,
    "A.2 upper": one.angle_away,
}
"""Theorem A.1 and what is true of Theorem A.2."""

MORE_LAYERS: Statements = {
    "4.2 corrected": layers.corrected_angle,
    "A.3 corrected": two.corrected_two_layers,
}
"""Factors per step that serve all starts, and a repair of Theorem A.3."""

AWAY: Statements = {"4.2 away": layers.angle_away, "4.3 away": layers.steps_away}
"""Theorem 4.2 and Corollary 4.3 away from phi0 = 0 and pi, at one fraction for all starts."""

PRINTED: Statements = {name: partial(two.two_layers, name) for name in two.TWO_LAYERS}
"""Theorem A.3 as printed, which fails but for one reading."""


def try_one_layer(seed: int, count: int) -> dict[str, Report]:
    """Try `ONE_LAYER` with `count` draws each, and a search of three evaluations a draw, for the
    statements have six variables."""
    return _tried(ONE_LAYER, seed, count, 3 * count)


def try_more_layers(seed: int, count: int) -> dict[str, Report]:
    """Try all the others, those of `AWAY` with five times as many draws and evaluations. What
    is known to fail is not searched further."""
    return (
        _tried(MORE_LAYERS, seed, count, 3 * count)
        | _tried(AWAY, seed, 5 * count, 5 * count)
        | _tried(PRINTED, seed, count, 0)
    )


def _tried(statements: Statements, seed: int, count: int, evaluations: int) -> dict[str, Report]:
    return {name: falsify(made(), seed, count, evaluations) for name, made in statements.items()}
