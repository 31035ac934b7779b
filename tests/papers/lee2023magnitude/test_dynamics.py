"""What the statements on phases, convergence and descent notice, and leave out."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import descent, descents, layers, population, rates
from reluflow.papers.lee2023magnitude.setting import Start


def item_at(start: Start) -> dict:
    return {name: np.array(getattr(start, name)) for name in ("psi", "rho", "m")}


@pytest.mark.parametrize("turned", [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)])
def test_the_signs_of_all_factors_are_asked(turned, monkeypatch) -> None:
    """Above the nullcline w and both factors fall; the gradient of one of them is turned."""

    right = population.quadrature_gradient

    def other(*given):
        return tuple(s * g for s, g in zip(turned, right(*given), strict=True))

    monkeypatch.setattr(population, "quadrature_gradient", other)
    slack = rates.falls_above_nullcline().slack(item_at(Start.at(2.0, 1.5, 2)))
    assert slack == min(turned)


THRESHOLD, LINE = float(population.threshold_norm(2.5)), float(population.nullcline(2.5, 1))


@pytest.mark.parametrize("found", [*population.SHAPES, "turns twice"])
@pytest.mark.parametrize(
    ("statement", "m", "norm", "expected"),
    [
        (rates.threshold(), 0, 0.01 * THRESHOLD, population.RISING),
        (rates.threshold(), 0, 0.99 * THRESHOLD, population.TURNING),
        (rates.threshold(), 0, 1.01 * THRESHOLD, population.FALLING),
        (rates.two_phases([1]), 1, 0.9999 * LINE, population.RISING),
        (rates.two_phases([1]), 1, 1.0001 * LINE, population.TURNING),
    ],
)
def test_a_magnitude_that_moves_otherwise_is_found(
    statement, m, norm, expected, found, monkeypatch
) -> None:
    """Starts on both sides of a border, followed rightly and wrongly."""
    start = Start.at(2.5, norm, m)
    moves = replace(population.phases(start.psi, start.rho, m), kind=found)
    if found == "turns twice":
        moves = replace(moves, kind=population.TURNING, flips=3)
    monkeypatch.setattr(population, "phases", lambda *_: moves)
    assert statement.fails(statement.slack(item_at(start))) == (found != expected)


# --- Bounds, by floats and by exact numbers -------------------------------------------------------


def test_the_cubic_term_at_the_first_of_the_counterexamples():
    value = 2 * 10**8 * Fraction(29, 30) ** 516 - Fraction(2, 3) * 10**24 * Fraction(9, 10) ** 516
    assert descents.demanded(10) == (516, pytest.approx(float(value), rel=1e-12))


@pytest.mark.parametrize("at", [1, 20])
def test_a_descent_that_leaves_the_range_of_g_is_found(at, monkeypatch):
    """By less than the bound lets it be off, at one step."""
    item = {name: np.array([v]) for name, v in (("beta", -0.75), ("power", 2.0), ("rate", 0.25))}
    statement, right = descent.regular_approximation(), descent.descended
    assert statement.unmet(item) is None
    assert statement.slack(item) > 0.1
    monkeypatch.setattr(
        descent,
        "descended",
        lambda *given: np.where(np.arange(given[2] + 1) == at, -1e-9, right(*given)),
    )
    assert statement.fails(statement.slack(item))


# --- Boundaries of hypotheses ---------------------------------------------------------------------

CALM = {"psi": 0.0, "rho": 0.0, "m": 2, "target": 1.0, "step": 0.1, "steps": 20, "loose": [1, 1]}
NEAR = {"psi": -math.log(math.tan(0.3)), "target": 1.0, "step": 1 / 15, "steps": 50, "m": 1,
        "smallness": 10, "loose": [1.3, 1.9]}  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "item", "unmet"),
    [
        (layers.corrected_angle, CALM, None),
        (layers.corrected_angle, CALM | {"step": 5.0}, "v_k > 0"),  # v turns negative
        (layers.corrected_angle, CALM | {"step": 50.0, "rho": 2.0}, "v_k > 0"),  # |w| overflows
        (layers.angle_away, NEAR | {"rho": math.log(3.8)}, layers.CALM),  # a large one
        (layers.angle_away, NEAR | {"rho": math.log(1.2)}, None),
    ],
)
def test_a_descent_outside_is_left_out(statement, item, unmet):
    found = statement().unmet({name: np.array(value) for name, value in item.items()})
    assert found is None if unmet is None else unmet in found
