"""How likely Theorem 3.2's start is: closed forms, areas, draws through torch."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from reluflow.papers.vardi2022margin import suboptimality
from reluflow.papers.vardi2022margin.suboptimality import (
    SQUARE,
    area,
    clipped,
    gaussian_share,
    square_share,
)

HALF = (Fraction(0), Fraction(1))


def test_the_cone_has_the_angle_of_its_tangent() -> None:
    """tan(2 atan(1/4)) = 8/15."""
    assert suboptimality.cone_angle(suboptimality.PRINTED) == pytest.approx(math.atan(8 / 15))
    assert suboptimality.cone_angle([[1, 0], [0, 1]]) == pytest.approx(math.pi / 2)
    assert suboptimality.cone_angle([[1, 0], [1, 0]]) == pytest.approx(math.pi)
    assert suboptimality.isotropic_probability() == pytest.approx(0.003040, abs=1e-6)


@pytest.mark.parametrize("slope", [0.0, 0.25, 1.0, 30.0])
def test_quadrature_gives_the_angle(slope: float) -> None:
    assert gaussian_share(slope) == pytest.approx(math.atan(slope) / math.pi, abs=1e-12)


def test_areas_are_those_of_known_polygons() -> None:
    assert area(SQUARE) == 4
    assert area(clipped(SQUARE, HALF)) == 2
    assert square_share([HALF, (Fraction(0), Fraction(-1))]) == 0
    assert square_share([HALF, (Fraction(1), Fraction(0))]) == Fraction(1, 4)
    assert square_share(
        [(Fraction(1), Fraction(1, 4)), (Fraction(-1), Fraction(1, 4))]
    ) == Fraction(1, 16)


def test_what_is_asked_for_is_each_condition() -> None:
    W, v = np.array([[0.1, 1.0], [0.1, -1.0]]), np.array([1.0, -5.0])
    assert suboptimality.asked_for(W, v)
    assert not suboptimality.asked_for(W, -v)
    assert not suboptimality.asked_for(-W, v)
    assert not suboptimality.asked_for(np.array([[0.3, 1.0], [0.1, -1.0]]), v)
    assert not suboptimality.asked_for(np.array([[0.1, 1.0], [-0.3, -1.0]]), v)


def test_stacked_layers_have_the_scale_of_single_ones() -> None:
    """A single layer of 2 units on 2 inputs, and of 1 unit on 2: standard deviations."""
    single = {
        "Xavier, normal": (torch.nn.init.xavier_normal_, 0.5, 2 / 3),
        "Xavier, uniform": (torch.nn.init.xavier_uniform_, 0.5, 2 / 3),
        "He, normal": (torch.nn.init.kaiming_normal_, 1.0, 1.0),
        "He, uniform": (torch.nn.init.kaiming_uniform_, 1.0, 1.0),
        "PyTorch's default": (None, 1 / 6, 1 / 6),
    }
    for scheme in suboptimality.schemes():
        W, v = suboptimality.starts(scheme, 0, 20_000)
        fill, first, last = single[scheme.name]
        assert W.var() == pytest.approx(first, rel=0.05)
        assert v.var() == pytest.approx(last, rel=0.05)
        if fill is not None:
            torch.manual_seed(1)
            alone = torch.stack([fill(torch.empty(2, 2)) for _ in range(3000)])
            assert float(alone.var()) == pytest.approx(first, rel=0.1)


def test_draws_leave_torchs_own_seed_alone() -> None:
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    suboptimality.starts(suboptimality.schemes()[0], 0, 10)
    assert torch.rand(1) == before


def test_orthogonal_rows_never_lie_in_opposite_cones() -> None:
    W = suboptimality.orthogonal_starts(0, 500)
    np.testing.assert_allclose(W @ W.transpose(0, 2, 1), np.tile(np.eye(2), (500, 1, 1)), atol=1e-6)
    assert not suboptimality.asked_for(W, np.ones((500, 2))).any()
