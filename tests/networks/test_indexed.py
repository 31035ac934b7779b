"""Networks of class N: against automatic differentiation, and what their maps may be."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected

SHARED = Network(
    (np.array([[1, 2, 0], [0, 1, 3], [2, 0, 0]]), np.array([[1, 2, 3], [0, 4, 1]]), [[1, 2]])
)
NETWORKS = {
    "shared": SHARED,
    "linear": Network(SHARED.maps, "linear"),
    "full": fully_connected([3, 4, 2]),
    "diagonal": diagonal(3, 4),
    "filters": convolutional(1, 3, "linear"),
}


def by_torch(network: Network, theta: torch.Tensor, X: NDArray) -> torch.Tensor:
    """The network's outputs, its matrices written entry by entry."""
    out, first = torch.tensor(X), 0
    for layer, g in enumerate(network.maps, start=1):
        zero = torch.zeros((), dtype=theta.dtype)
        rows = [[theta[first + k - 1] if k else zero for k in row] for row in g.tolist()]
        out = out @ torch.stack([torch.stack(row) for row in rows]).T
        if network.activation == "relu" and layer < network.degree:
            out = torch.relu(out)
        first += int(g.max())
    return out[:, 0]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(3))
def test_output_gradient_and_hessian_are_those_of_autograd(name: str, seed: int) -> None:
    network, rng = NETWORKS[name], np.random.default_rng(seed)
    theta, v = rng.normal(size=(2, network.size))
    X, c = rng.normal(size=(6, 3)), rng.normal(size=6)
    at = torch.tensor(theta, requires_grad=True)
    out = by_torch(network, at, X)
    (slope,) = torch.autograd.grad((out * torch.tensor(c)).sum(), at, create_graph=True)
    (turned,) = torch.autograd.grad((slope * torch.tensor(v)).sum(), at)
    np.testing.assert_allclose(network.output(theta, X), out.detach(), atol=1e-14)
    np.testing.assert_allclose(network.gradient(theta, X, c), slope.detach(), atol=1e-13)
    np.testing.assert_allclose(network.turned(theta, X, c, v)[0], turned, atol=1e-13)
    turns, moves = network.rates(theta, X, v)
    np.testing.assert_array_equal(network.turned(theta, X, c, v)[1], moves)
    ahead, behind = (network.preactivations(theta + h * v, X) for h in (1e-7, -1e-7))
    for a, b, turn in zip(ahead, behind, turns, strict=True):
        np.testing.assert_allclose(turn, (a - b) / 2e-7, atol=1e-6)


@pytest.mark.parametrize("name", NETWORKS)
def test_many_parameters_at_once_give_what_each_gives(name: str) -> None:
    network, rng = NETWORKS[name], np.random.default_rng(1)
    thetas, X, c = (
        rng.normal(size=(2, 3, network.size)),
        rng.normal(size=(5, 3)),
        rng.normal(size=5),
    )
    out, slopes = network.output(thetas, X), network.gradient(thetas, X, c)
    turns = network.turned(thetas, X, c, thetas[::-1])[0]
    for k in np.ndindex(2, 3):
        np.testing.assert_allclose(out[k], network.output(thetas[k], X), atol=1e-14)
        np.testing.assert_allclose(slopes[k], network.gradient(thetas[k], X, c), atol=1e-14)
        one = network.turned(thetas[k], X, c, thetas[::-1][k])[0]
        np.testing.assert_allclose(turns[k], one, atol=1e-14)


def test_a_pattern_makes_the_network_a_polynomial() -> None:
    """With the activity held, outputs and gradients do not care for signs."""
    rng = np.random.default_rng(2)
    theta, X = rng.normal(size=SHARED.size), rng.normal(size=(4, 3))
    own = SHARED.patterns(theta, X)
    np.testing.assert_array_equal(SHARED.output(theta, X, own), SHARED.output(theta, X))
    all_on = [np.ones_like(p) for p in own]
    linear = Network(SHARED.maps, "linear")
    np.testing.assert_allclose(SHARED.output(theta, X, all_on), linear.output(theta, X))
    off = [np.zeros_like(p) for p in own]
    assert not SHARED.gradient(theta, X, np.ones(4), off).any()


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        (([[1, 2]], [[1, 2]]), "2 columns for 1"),
        (([[1, 3]],), "without gap"),
        (([[1], [2]],), "one output"),
        (([[0.5]],), "whole numbers"),
    ],
)
def test_maps_that_make_no_network_are_refused(maps: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Network(tuple(np.array(g) for g in maps))
    with pytest.raises(InputError, match="activation"):
        Network((np.array([[1]]),), "tanh")
