"""Orthogonal and separable data of chapter 3: paths in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from reluflow.exact import fractions
from reluflow.geometry.separability import cosines, serves, silent
from reluflow.losses import EXPONENTIAL
from reluflow.papers.min2024early import toys
from reluflow.papers.min2024early.setting import polygon, separable_draws
from reluflow.papers.min2024early.toys import ensemble_flow


@pytest.mark.parametrize("kind", ["wide", "integers", "parallel", "one against many"])
def test_fates_in_fractions_are_those_of_tiny_flows(kind: str) -> None:
    rng = np.random.default_rng(3)
    draw = separable_draws((2, 3), (2, 5))[kind]
    for _ in range(3):
        item = draw(rng)
        X, y = item["X"], item["y"]
        # Where x_k = -c x_i both cross together. A neuron active on nothing else is dead there, and
        # a step of finite length carries it over.
        antipodal = bool((cosines(X) < -1.0 + 1e-12).any())
        W = rng.standard_normal((1, 24, X.shape[1]))
        v = np.linalg.norm(W, axis=-1)
        # Weights of 1e-140 feel no output: the limit of tiny weights, in floats.
        scale = 1e-140
        step = 0.03 / np.linalg.norm(y @ X)
        run = ensemble_flow(X, y, scale * W, scale * v, EXPONENTIAL, step, [1500 * step])
        ends = np.where(serves(X, y, run.W[-1, 0]), "serves",
                        np.where(silent(X, run.W[-1, 0]), "dead", "late"))  # fmt: skip
        exact = [polygon(fractions(X), y, row) for row in fractions(W[0])]
        for end, path in zip(ends, exact, strict=True):
            assert path.status in ("serves", "dead")
            assert end in (path.status, "late") or (antipodal and path.status == "dead")
            assert len(path.events) <= len(X)
        assert np.mean(ends == "late") < 0.5


def test_excluded_directions_are_recognised() -> None:
    (test,) = toys.all_arrive_or_die().hypotheses.values()
    X, y = np.array([[1.0, 0.0], [-1.0, 1.0], [-2.0, 0.0]]), np.array([1.0, -1.0, -1.0])
    assert not test({"X": X, "y": y, "w": np.array([-6.0, 2.0])})
    assert test({"X": X, "y": y, "w": np.array([6.0, -2.0])})
    assert test({"X": X, "y": y, "w": np.array([-6.0, 2.1])})


def test_fates_by_hand() -> None:
    X, near, minus = [[1, 0], [0, 1]], [[1, 0], [Fraction(1, 1000), 1]], [[1, 0], [-1, 1]]
    for data, y, w, status, changes in (
        (X, [1, 1], [1, 1], "serves", 0),
        (X, [1, 1], [-1, -1], "dead", 0),
        (X, [1, 1], [1, -1], "rests", 0),  # orthogonal data
        (near, [1, 1], [1, -1], "serves", 1),
        (minus, [1, -1], [-1, 1], "rests", 0),
        (minus, [1, -1], [Fraction(-999, 1000), 1], "serves", 2),
    ):
        path = polygon(data, y, w)
        assert (path.status, len(path.events)) == (status, changes)
