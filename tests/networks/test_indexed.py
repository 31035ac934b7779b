"""Networks of class N: against automatic differentiation, and what their maps may be."""

from functools import partial

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from torch.autograd.functional import hvp, jacobian, jvp

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


def by_torch(network, theta, X, given) -> tuple[torch.Tensor, ...]:
    """The inputs of all layers' units, the output last, matrices written entry by entry."""
    out, first, before = torch.tensor(X), 0, []
    for layer, g in enumerate(network.maps, start=1):
        zero = torch.zeros((), dtype=theta.dtype)
        rows = [[theta[first + k - 1] if k else zero for k in row] for row in g.tolist()]
        before.append(out @ torch.stack([torch.stack(row) for row in rows]).T)
        out, first = before[-1], first + int(g.max())
        if network.activation == "relu" and layer < network.degree:
            out = torch.relu(out) if given is None else out * torch.tensor(given[layer - 1])
    return tuple(before)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("patterns", [False, True])
def test_outputs_rates_and_gradients_are_those_of_autograd(name: str, patterns: bool) -> None:
    """Of many parameters at once and of each alone, of the ReLU and with factors in its place."""
    network, rng = NETWORKS[name], np.random.default_rng(patterns)
    thetas, V = rng.normal(size=(2, 2, 3, network.size))
    X, c = rng.normal(size=(6, 3)), rng.normal(size=6)
    given = [rng.uniform(size=(6, h)) for h in network.widths] if patterns else None
    of = partial(by_torch, network, X=X, given=given)

    def total(theta: torch.Tensor) -> torch.Tensor:
        return of(theta)[-1][:, 0] @ torch.tensor(c)

    def computed(theta: NDArray, v: NDArray) -> list[NDArray]:
        turns, moves = network.rates(theta, X, v, given)
        slope, bend = network.gradient(theta, X, c, given), network.turned(theta, X, c, v, given)
        return [network.output(theta, X, given), slope, *bend, moves, *turns]

    many = computed(thetas, V)
    for k in np.ndindex(2, 3):
        at, to = torch.tensor(thetas[k]), torch.tensor(V[k])
        (*_, out), (*turns, moves) = jvp(of, at, to)
        asked = [out[:, 0], jacobian(total, at), hvp(total, at, to)[1], moves[:, 0], moves[:, 0],
                 *turns[: network.layers]]  # fmt: skip
        for one, each, wanted in zip(computed(thetas[k], V[k]), many, asked, strict=True):
            np.testing.assert_allclose(one, wanted, atol=1e-13)
            np.testing.assert_allclose(each[k], one, atol=1e-13)
    own = network.patterns(thetas, X)
    np.testing.assert_array_equal(network.output(thetas, X, own), network.output(thetas, X))


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
