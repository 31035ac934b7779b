"""Early alignment: the sharp time, the printed one, and the scales, each against another way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from reluflow.flows.alignment import Beside, align
from reluflow.papers.min2024early import alignment, theorem_1
from reluflow.papers.min2024early.setting import (
    Start,
    alignment_times,
    data_constants,
    neurons,
    patterns,
    separable,
)
from reluflow.papers.min2024early.theorem_1 import enclosed


@pytest.mark.parametrize("mu", [1e-6, 0.01, 0.3, 0.9, 1.0])
def test_the_uniform_time_is_the_largest_sum_of_both_sides(mu: float) -> None:
    """Over all latitudes alpha + beta = arccos mu, by trying them."""
    alpha = np.linspace(0.0, np.arccos(mu), 20_001)
    total = np.arcsinh(np.sin(alpha) / mu) + np.arcsinh(np.sin(np.arccos(mu) - alpha) / mu)
    assert theorem_1.uniform_time(mu) == pytest.approx(total.max(), rel=1e-7, abs=1e-12)
    assert theorem_1.uniform_time(mu, 4.0) == theorem_1.uniform_time(mu) / 4.0
    assert theorem_1.uniform_time(mu) < 2.0 * np.log(2.0 / mu)


def test_the_enclosure_holds_the_limit_flow() -> None:
    certain = enclosed(Fraction(1, 10**7), -200)
    found = align(theorem_1.X, theorem_1.Y, Beside([1.0, 0.0], np.log(2e-7))).times[1]
    assert float(certain.exit.mid()) == pytest.approx(found, abs=1e-9)
    assert not enclosed(Fraction(1, 10**7), -1).small
    assert not enclosed(Fraction(1, 10), -200).exit > certain.t_1


def test_the_flow_of_a_tiny_start_is_the_limit() -> None:
    rng = np.random.default_rng(4)
    X, y = separable(4, 3, 0.2, rng)
    W, signs = rng.standard_normal((5, 3)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    limit = [align(X, y, w, s) for w, s in zip(W, signs, strict=True)]
    found = Start(X, y, W, signs, -300.0).flow(3.0)
    assert np.allclose(alignment_times(found), [one.time for one in limit], atol=1e-6)
    ends = neurons(found, 2.0)[0]
    assert np.allclose(ends, [one.at(2.0) for one in limit], atol=1e-6)
    last = list(patterns(found))[-1][1]
    assert np.array_equal(last.T, [one.patterns[-1] for one in limit])


def test_the_flow_is_regular_where_an_antipode_would_wake() -> None:
    X, y = np.array([[1.0, 0.0], [-2.0, 0.0]]), np.array([1.0, -1.0])
    found = Start(X, y, np.array([[-1.0, 1.0]]), np.ones(1), -20.0).flow(3.0)
    assert [(e.datum, e.kind) for e in found.events] == [(1, "deactivate")]
    assert alignment_times(found)[0] == pytest.approx(align(X, y, [-1.0, 1.0]).time, abs=1e-7)


def test_outputs_on_a_boundary_are_the_largest_of_eq_29() -> None:
    item = alignment.turns_across().draws["wide"](np.random.default_rng(8))
    data, (W, outputs) = data_constants(item["X"], item["y"]), alignment.placed(item)
    of_neurons = item["signs"] * np.linalg.norm(W, axis=1)
    assert set(item["signs"]) == {1.0, -1.0}
    told = np.maximum(item["X"] @ W.T, 0.0) @ of_neurons
    assert outputs / np.abs(outputs).max() == pytest.approx(told / np.abs(told).max())
    most = data.mu**2.5 * data.X_min / (4.0 * data.n * data.X_max)
    assert np.abs(outputs).max() == pytest.approx(most, rel=1e-9)
    assert abs(item["X"][0] @ W[0]) < 1e-12


def test_the_excluded_angle_is_that_of_the_neuron_in_the_wrong_cone() -> None:
    start = theorem_1.start()
    other = replace(start, signs=-start.signs)
    assert theorem_1.excluded_angle(start) == pytest.approx(2e-7, rel=1e-6)
    assert theorem_1.excluded_angle(other) == np.pi / 2
    plain = theorem_1.enough_time(other)
    assert plain == pytest.approx(1.5 * theorem_1.uniform_time(start.data.mu), rel=1e-14)
    assert theorem_1.enough_time(start) == pytest.approx(plain + 2.0 * np.log(1e7), rel=1e-6)
