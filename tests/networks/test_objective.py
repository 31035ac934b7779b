"""Network and loss: closed forms, automatic differentiation and index maps against each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import ArrayLike, NDArray
from reluflow import networks
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, Loss
from reluflow.networks.autograd import Autograd
from reluflow.networks.indexed import (
    Network,
    Patterns,
    chain,
    convolutional,
    fully_connected,
    neuron,
)
from torch import Tensor


@dataclass(frozen=True)
class Objective:
    """L(theta) of `network` on X (n, d), y (n,); with `patterns` the units' activity is held fixed.

    With `relative`, derivatives are those of log L, which no size of L spoils.
    """

    network: Network | Autograd
    loss: Loss
    X: NDArray
    y: NDArray

    def log_value(self, theta: ArrayLike, patterns: Patterns | None = None) -> float:
        """log L(theta)."""
        return float(self.loss.log_value(self.network.output(theta, self.X, patterns), self.y))

    def value(self, theta: ArrayLike, patterns: Patterns | None = None) -> float:
        """L(theta), 0 where it is too small for a float."""
        return float(np.exp(self.log_value(theta, patterns)))

    def margins(self, theta: ArrayLike) -> NDArray:
        """y_i f(theta; x_i), shape (n,)."""
        return self.y * self.network.output(theta, self.X)

    def gradient(
        self, theta: ArrayLike, patterns: Patterns | None = None, relative: bool = False
    ) -> NDArray:
        """grad L, or grad log L, shape (p,)."""
        z = self.network.output(theta, self.X, patterns)
        return -self.network.gradient(theta, self.X, self.loss.pull(z, self.y, relative), patterns)

    def hessian_product(
        self,
        theta: ArrayLike,
        v: ArrayLike,
        patterns: Patterns | None = None,
        relative: bool = False,
    ) -> NDArray:
        """The Hessian of L, or of log L, times v (p,):

            sum_i l''_i <grad f_i, v> grad f_i + sum_i l'_i Hess f_i v,

        over L and less grad log L <grad log L, v> for log L. Returns shape (p,).
        """
        network, X = self.network, self.X
        z = network.output(theta, X, patterns)
        pull = self.loss.pull(z, self.y, relative)
        turned, along = network.turned(theta, X, pull, v, patterns)
        c = self.loss.bend(z, self.y, relative) * along
        if relative:
            c = c - pull * (pull @ along)
        # The last term of log L's Hessian is J^T pull (pull . J v), of the same form.
        bent = network.gradient(theta, X, c, patterns)
        return bent - turned


LOSSES = (SQUARE, EXPONENTIAL, LOGISTIC)
TORCH_LOSSES = {
    "square": lambda z, y: 0.5 * (z - y) ** 2,
    "exponential": lambda z, y: torch.exp(-y * z),
    "logistic": lambda z, y: torch.log1p(torch.exp(-y * z)),
}


def residual(theta: Tensor, X: Tensor, relu) -> Tensor:
    """Two layers with a skip: v . ([W x]_+ + U [W x]_+), of no fixed shape of class N."""
    W, U, v = theta[:6].reshape(2, 3), theta[6:10].reshape(2, 2), theta[10:]
    h = relu(X @ W.T)
    return (h * theta[12] + relu(h @ U.T)) @ v[:2]


def filters(theta: Tensor, X: Tensor, relu) -> Tensor:
    """One filter of width 1 on three patches."""
    return relu(X * theta[0]) @ theta[1:]


def layered(theta: Tensor, X: Tensor, relu) -> Tensor:
    return relu(relu(X @ theta[:12].reshape(4, 3).T) @ theta[12:20].reshape(2, 4).T) @ theta[20:]


TWINS = {
    "neuron": (neuron(3), Autograd(lambda w, X, relu: relu(X @ w), 3, 1, (1,))),
    "linear": (
        neuron(3, "linear"),
        Autograd(lambda w, X, relu: X @ w, 3, 1, ()),
    ),
    "chain": (
        chain(3, 2),
        Autograd(lambda w, X, relu: w[4] * relu(w[3] * relu(X @ w[:3])), 5, 3, (1, 1)),
    ),
    "filter": (convolutional(1, 3), Autograd(filters, 4, 2, (3,))),
    "three layers": (fully_connected([3, 4, 2]), Autograd(layered, 22, 3, (4, 2))),
}


def drawn(seed: int, size: int) -> tuple[NDArray, ...]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(7, 3)), rng.normal(size=7), *rng.normal(size=(2, size))


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", TWINS)
def test_index_maps_and_autograd_agree(name: str, loss: Loss, relative: bool) -> None:
    for seed in range(3):
        network, twin = TWINS[name]
        X, y, theta, v = drawn(seed, network.size)
        one, two = (Objective(f, loss, X, y) for f in (network, twin))
        assert two.network.widths == one.network.widths
        assert one.log_value(theta) == pytest.approx(two.log_value(theta), abs=1e-12)
        np.testing.assert_allclose(one.margins(theta), two.margins(theta), atol=1e-12)
        slopes = [f.gradient(theta, relative=relative) for f in (one, two)]
        np.testing.assert_allclose(*slopes, rtol=1e-9, atol=1e-11)
        turns = [f.hessian_product(theta, v, relative=relative) for f in (one, two)]
        np.testing.assert_allclose(*turns, rtol=1e-9, atol=1e-10 * np.abs(turns[0]).max())
        for a, b in zip(network.preactivations(theta, X), twin.preactivations(theta, X), strict=1):
            np.testing.assert_allclose(a, b.reshape(a.shape), atol=1e-13)
        (hidden, out), (others, other) = (f.rates(theta, X, v) for f in (network, twin))
        np.testing.assert_allclose(out, other, atol=1e-12)
        for a, b in zip(hidden, others, strict=True):
            np.testing.assert_allclose(a, b.reshape(a.shape), atol=1e-12)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_derivatives_are_those_of_the_loss_itself(loss: Loss, relative: bool) -> None:
    """Torch differentiates the whole of L, or log L; a residual network is of no index map."""
    model = Autograd(residual, 13, 3, (2, 2))
    X, y, theta, v = drawn(4, 13)

    def whole(at: Tensor) -> Tensor:
        z = residual(at, torch.tensor(X), torch.relu)
        L = TORCH_LOSSES[loss.name](z, torch.tensor(y)).sum()
        return torch.log(L) if relative else L

    objective, at = Objective(model, loss, X, y), torch.tensor(theta)
    assert objective.value(theta) == pytest.approx(objective.loss.value(model.output(theta, X), y))
    slope = torch.autograd.functional.vjp(whole, at)[1]
    found = objective.gradient(theta, relative=relative)
    np.testing.assert_allclose(found, slope, rtol=1e-10, atol=1e-12)
    turn = torch.autograd.functional.hvp(whole, at, torch.tensor(v))[1]
    found = objective.hessian_product(theta, v, relative=relative)
    np.testing.assert_allclose(found, turn, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_one_neuron_in_closed_form(activation: str) -> None:
    """Lee et al. 2022a, eqs. (1) and (2); its Hessian is H(w)."""
    X, y, w, v = drawn(1, 3)
    objective = Objective(neuron(3, activation), SQUARE, X, y)
    assert objective.value(w) == pytest.approx(float(networks.loss(X, y, w, activation)))
    expected = networks.gradient(X, y, w, activation)
    np.testing.assert_allclose(objective.gradient(w), expected, atol=1e-12)
    on = X[X @ w > 0.0] if activation == "relu" else X
    np.testing.assert_allclose(objective.hessian_product(w, v), on.T @ (on @ v), atol=1e-12)


def test_a_chain_in_closed_form() -> None:
    """Lee et al. 2022b, eqs. (1) and (14): p (p H w - q) in w, (p / v_k) (p w.H w - q.w) in v_k."""
    X, y, theta, _ = drawn(2, 5)
    w, v = theta[:3], np.abs(theta[3:])
    on = X @ w > 0.0
    H, q, p = X[on].T @ X[on], X[on].T @ y[on], v.prod()
    expected = np.append(p * (p * H @ w - q), p / v * (p * w @ H @ w - q @ w))
    found = Objective(chain(3, 2), SQUARE, X, y).gradient(np.append(w, v))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_two_layers_in_closed_form(loss: Loss) -> None:
    """grad_(w_j) = v_j sum_i l'_i 1{w_j.x_i > 0} x_i and grad_(v_j) = sum_i l'_i [w_j.x_i]_+."""
    X, y, theta, _ = drawn(3, 16)
    W, v = theta[:12].reshape(4, 3), theta[12:]
    h = X @ W.T
    slopes = -loss.pull(np.maximum(h, 0.0) @ v, y)
    in_W = v[:, None] * ((h > 0.0) * slopes[:, None]).T @ X
    expected = np.append(in_W, slopes @ np.maximum(h, 0.0))
    found = Objective(fully_connected([3, 4]), loss, X, y).gradient(theta)
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_second_derivatives_of_a_loss_that_no_float_holds() -> None:
    """f = u v at u = v = 1e3, one datum: log L = -u v has the Hessian ((0, -1), (-1, 0))."""
    network = Network((np.array([[1]]), np.array([[1]])), "linear")
    objective = Objective(network, EXPONENTIAL, np.ones((1, 1)), np.ones(1))
    theta = np.array([1e3, 1e3])
    assert objective.value(theta) == 0.0
    assert objective.log_value(theta) == -1e6
    np.testing.assert_allclose(objective.gradient(theta, relative=True), [-1e3, -1e3])
    found = objective.hessian_product(theta, np.array([2.0, 5.0]), relative=True)
    np.testing.assert_allclose(found, [-5.0, -2.0], atol=1e-8)


def test_factors_stand_in_for_the_derivative_at_zero() -> None:
    """A pattern may hold numbers in [0, 1]: sigma'(0) as the caller states it."""
    X, y, theta = np.eye(2), np.ones(2), np.array([0.0, 1.0, 1.0])
    for network in (
        fully_connected([2, 1]),
        Autograd(lambda w, X, relu: relu(X @ w[:2, None])[:, 0] * w[2], 3, 2, (1,)),
    ):
        for share in (0.0, 0.5, 1.0):
            half = [np.array([[share], [1.0]])]
            found = Objective(network, SQUARE, X, y).gradient(theta, half)
            np.testing.assert_allclose(found, [-share, 0.0, 0.0], atol=1e-15)
            np.testing.assert_allclose(network.cosines(theta, X)[0][0], 0.0)
