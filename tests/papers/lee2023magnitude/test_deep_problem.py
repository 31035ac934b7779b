"""A fully connected network's loss and gradient by hand, against torch's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from reluflow.papers.lee2023magnitude.figures_3_and_4 import DeepProblem, DeepSetting, matrices
from torch import Tensor


def drawn(n: int, dtype: torch.dtype = torch.float64) -> tuple[DeepProblem, Tensor]:
    """The loss of n data with a teacher's labels, and weights."""
    setting = DeepSetting(start=0.5, teacher=1.0, step=0.1, n_steps=1, n=n, d=4, width=5, depth=4)
    problem = DeepProblem(setting, 3, dtype)
    return problem, problem.start


def plain(problem: DeepProblem, w: Tensor) -> tuple[float, Tensor]:
    """The loss and its gradient, by automatic differentiation on all the data at once."""
    at = w.clone().requires_grad_()
    h, weights = problem.X, matrices(at, problem.setting.shapes)
    for W in weights[:-1]:
        h = torch.relu(h @ W.T)
    loss = 0.5 * ((h @ weights[-1].T)[:, 0] - problem.y).square().mean()
    return float(loss.detach()), torch.autograd.grad(loss, at)[0]


@pytest.mark.parametrize("n", [37, 1000, 2050])
def test_the_gradient_is_torchs_own(n: int) -> None:
    problem, w = drawn(n)
    loss, direction = problem.loss_and_direction(w)
    expected, gradient = plain(problem, w)
    assert loss == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(direction, -gradient, rtol=1e-10, atol=1e-13)


def test_single_precision_is_near_and_its_sums_are_double() -> None:
    problem, w = drawn(2050, torch.float32)
    loss, direction = problem.loss_and_direction(w)
    expected, gradient = plain(problem, w)
    assert direction.dtype == torch.float64
    assert loss == pytest.approx(expected, rel=1e-5)
    assert loss != pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(direction, -gradient, rtol=1e-3, atol=1e-5)


def test_weights_are_read_row_by_row() -> None:
    problem, w = drawn(1)
    layers = problem.layers(w)
    assert [tuple(W.shape) for W in layers] == [(5, 4), (5, 5), (5, 5), (1, 5)]
    assert layers[0][1, 2] == w[4 + 2]
    assert layers[3][0, 1] == w[-4]
    np.testing.assert_allclose(problem.norms(w), [np.linalg.norm(W) for W in layers])
