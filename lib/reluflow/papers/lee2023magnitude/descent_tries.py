"""Every statement on descent, tried once."""

from __future__ import annotations

from reluflow.falsify import Report, falsify
from reluflow.papers.lee2023magnitude import descent_layers as layers
from reluflow.papers.lee2023magnitude import descent_one_layer as one
from reluflow.papers.lee2023magnitude import descent_steps as steps
from reluflow.papers.lee2023magnitude import descent_two_layers as two


def try_descent(seed: int, count: int) -> dict[str, Report]:
    """Try every statement on descent with `count` draws, or five times as many where no proof is
    known, away from phi0 = pi.

    Statements that are known to fail are not searched further; the others are searched with three
    evaluations a draw, for they have six variables, and away from phi0 = pi with more.
    """
    holding = {
        "A.1": one.magnitude(),
        "A.1 small": one.small_magnitude(),
        "A.2 lower": one.angle((0,), 0, "A.2: lower bound of phi(T), T >= 0"),
        "A.2 upper": one.angle((0,), 1, "A.2: upper bound of phi(T), T >= 0"),
        "A.2 small": one.small_angle(),
        "4.2 corrected": layers.corrected_angle(),
        "4.2 euler": layers.euler_angle(),
        "4.3 corrected": steps.steps(corrected=True),
        "A.3 corrected": two.corrected_two_layers(),
        "balance": two.imbalance(),
    }
    failing = {
        "4.2 lower": one.angle((1, 2, 3), 0, "4.2: lower bound of phi(T)"),
        "4.2 upper": one.angle((1, 2, 3), 1, "4.2: upper bound of phi(T)"),
        "4.3": steps.steps(corrected=False),
        **{name: two.two_layers(name) for name in two.TWO_LAYERS},
    }
    away = {"4.2 away": layers.angle_away(), "4.3 away": steps.steps_away()}
    found = {name: falsify(item, seed, count, 3 * count) for name, item in holding.items()}
    found |= {name: falsify(item, seed, 5 * count, 5 * count) for name, item in away.items()}
    return found | {name: falsify(item, seed, count, 0) for name, item in failing.items()}
