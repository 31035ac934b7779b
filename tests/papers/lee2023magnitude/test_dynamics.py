"""Dynamics of single ReLU neurons: what the statements on phases and convergence notice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import population, rates
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
