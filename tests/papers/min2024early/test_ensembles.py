"""Descents and flows of many small networks side by side, against one network at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.flows.charts import Plain
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.networks.indexed import fully_connected
from reluflow.papers.min2024early.toys import (
    ensemble_descent,
    ensemble_flow,
    normal_starts,
)

X = np.array([[1.0, 0.2, 0.8], [0.4, 0.9, 0.9], [-0.8, -0.7, 1.0], [-0.2, -1.1, 0.7]])
Y = np.array([1.0, 1.0, -1.0, -1.0])
SLOW = {EXPONENTIAL.name: lambda q: torch.exp(-q),
        LOGISTIC.name: lambda q: torch.nn.functional.softplus(-q)}  # fmt: skip


def plain_loop(W: NDArray, v: NDArray, loss: Loss, step: float, steps: int) -> tuple:
    """Descent of one network by automatic differentiation."""
    w, u = (torch.tensor(a, requires_grad=True) for a in (W, v))
    x, y = torch.tensor(X), torch.tensor(Y)
    losses = []
    for _ in range(steps):
        value = SLOW[loss.name](y * (torch.relu(x @ w.T) @ u)).sum()
        losses.append(float(value.detach()))
        gw, gu = torch.autograd.grad(value, (w, u))
        w, u = ((a - step * g).detach().requires_grad_(True) for a, g in ((w, gw), (u, gu)))
    return w.detach().numpy(), u.detach().numpy(), losses


@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC], ids=lambda loss: loss.name)
def test_as_one_network_at_a_time_by_autograd(loss: Loss) -> None:
    W, v = normal_starts(3, 4, 9, 3, 0.4)
    run = ensemble_descent(X, Y, W, v, loss, 0.02, [0, 150, 500], every=50)
    for k in range(4):
        w, u, losses = plain_loop(W[k], v[k], loss, 0.02, 500)
        np.testing.assert_allclose(run.at(500)[0][k], w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(run.at(500)[1][k], u, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(run.loss[:-1, k], losses[::50], rtol=1e-12)
    dead = np.all(run.at(150)[0] @ X.T <= 0.0, axis=-1)
    assert dead.any()  # some neurons left the loop on the way
    assert np.array_equal(run.at(150)[0][dead], run.at(500)[0][dead])
    assert not np.array_equal(run.at(0)[0], run.at(500)[0])
    assert np.array_equal(run.clock, np.arange(0, 501, 50))


def test_a_dead_network_rests_between_two_that_live() -> None:
    W, v = normal_starts(1, 3, 4, 3, 0.3)
    W[1] = -1.0
    X_positive = np.abs(X)
    run = ensemble_descent(X_positive, np.ones(4), W, v, LOGISTIC, 0.05, [0, 600])
    assert np.array_equal(run.W[0, 1], run.W[1, 1])
    assert np.allclose(run.loss[:, 1], 4.0 * np.log(2.0))
    assert not np.array_equal(run.W[0, 2], run.W[1, 2])


def test_flow_as_the_integrator_has_it() -> None:
    W, v = normal_starts(5, 2, 3, 3, 0.3)
    network = fully_connected([3, 3])
    field = GradientFlow(Plain(network), LOGISTIC, X, Y)
    run = ensemble_flow(X, Y, W, v, LOGISTIC, 0.002, [3.0])
    for k in range(2):
        path = integrate(field, np.concatenate([W[k].ravel(), v[k]]), 3.0, at_zero=0.0)
        assert path.status == "horizon"
        found = np.concatenate([run.W[0, k].ravel(), run.v[0, k]])
        np.testing.assert_allclose(found, path.end, atol=2e-3)


def test_order_four_away_from_boundaries() -> None:
    W, v = np.array([[[0.5, 0.6], [0.7, 0.4]]]), np.array([[0.3, 0.8]])
    x, y = np.array([[1.0, 0.1], [0.2, 1.0]]), np.ones(2)
    ends = [ensemble_flow(x, y, W, v, EXPONENTIAL, h, [2.0]).W for h in (0.4, 0.2, 0.1, 0.0125)]
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert errors[0] > 8.0 * errors[1] > 64.0 * errors[2] > 0.0


def test_refusals() -> None:
    W, v = normal_starts(0, 2, 3, 3, 1.0)
    for x, u, step, told in (
        (X[:, :2], v, 0.1, "W0 has shape"),
        (X, v[:, :2], 0.1, "v0 has shape"),
        (X, v, 0.0, "step must be"),
    ):
        with pytest.raises(InputError, match=told):
            ensemble_descent(x, Y, W, u, LOGISTIC, step, [5])
    with pytest.raises(ValueError, match="was not recorded"):
        ensemble_descent(X, Y, W, v, LOGISTIC, 0.1, [5]).at(4)
