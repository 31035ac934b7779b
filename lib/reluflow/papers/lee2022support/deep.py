"""The page `deep`: Appendices B and C, layers and networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Draws, Instance, Report, extended, planted, statement
from reluflow.ledger import Counterexample, bound
from reluflow.networks.indexed import backward, forward
from reluflow.papers.lee2022support import rational
from reluflow.papers.lee2022support.landscape import gradient, loss
from reluflow.papers.lee2022support.setting import assumptions, data_draws

# --- Layered ReLU networks with any number of outputs: f(x) = W^(l) [... [W^(1) x]_+ ...]_+ -------


@dataclass(frozen=True)
class Passes:
    """Forward and backward pass under L = 1/2 sum_i |f(x_i) - y_i|^2, layer by layer.

    All are tuples over the layers m = 1, ..., l; layer m has h_m units, and h_0 = d.

    inputs   x^(m) (..., n, h_{m-1}): x^(1) = x and x^(m) = o^(m-1)
    outputs  o^(m) (..., n, h_m): [W^(m) x^(m)]_+, without the ReLU in the last layer
    deltas   delta^(m) (..., n, h_m): o^(l) - y, and 1{o^(m) > 0} * W^(m+1)T delta^(m+1) before it
    """

    inputs: tuple[NDArray, ...]
    outputs: tuple[NDArray, ...]
    deltas: tuple[NDArray, ...]

    @property
    def gradients(self) -> tuple[NDArray, ...]:
        """dL/dW^(m) = sum_i delta_i^(m) x_i^(m)T, each (..., h_m, h_{m-1})."""
        pairs = zip(self.deltas, self.inputs, strict=True)
        return tuple(np.swapaxes(delta, -1, -2) @ x for delta, x in pairs)


def backpropagate(weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike) -> Passes:
    """Both passes for X (..., n, d) and Y (..., n, h_l); the derivative of ReLU at 0 is 0."""
    layers = [np.asarray(W, float) for W in weights]
    inputs, before, active = forward(layers, np.asarray(X, float), len(layers) - 1, None)
    deltas = backward(layers, active, before[-1] - np.asarray(Y, float))
    return Passes(tuple(inputs), (*inputs[1:], before[-1]), tuple(deltas))


# --- Random layered networks on random data, ordinary and adversarial -----------------------------

Entries = Callable[[np.random.Generator, tuple[int, int]], NDArray]
"""A matrix of this shape."""

ENTRIES: Mapping[str, tuple[Entries, Entries]] = {
    "normal": (np.random.Generator.standard_normal, np.random.Generator.standard_normal),
    "nonnegative data": (np.random.Generator.standard_normal,
                         lambda rng, shape: rng.uniform(0.0, 1.0, shape)),
    "uneven": (lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.uniform(-2.0, 2.0),
               np.random.Generator.standard_normal),
    "kinks": 2 * (lambda rng, shape: rng.integers(-1, 2, shape).astype(float),),
}  # fmt: skip
"""Weights, and data, of a kind of networks: normal weights; nonnegative data; weights of sizes from
1e-2 to 1e2; small integers, where many units sit exactly on a kink."""


def network_draws() -> Draws:
    """Draws of {"X", "Y", "W1", "W2", ...}: 2 to 5 layers of 1 to 6 units, 1 to 4 data. The kinds
    of `ENTRIES`, and networks on nonnegative data with a layer without an active unit."""

    def dead(rng: np.random.Generator) -> Instance:
        item = _network("nonnegative data", rng)
        return {**item, "W1": -np.abs(item["W1"])}

    return {**{kind: partial(_network, kind) for kind in ENTRIES}, "dead layer": dead}


def _network(kind: str, rng: np.random.Generator) -> Instance:
    entries, data = ENTRIES[kind]
    sizes = [int(k) for k in rng.integers(1, 7, int(rng.integers(3, 7)))]
    n = int(rng.integers(1, 5))
    item = {"X": data(rng, (n, sizes[0])), "Y": data(rng, (n, sizes[-1]))}
    for m, (fan_in, out) in enumerate(pairwise(sizes), start=1):
        item[f"W{m}"] = entries(rng, (out, fan_in))
    return item


def weights_of(item: Mapping[str, NDArray]) -> list[NDArray]:
    """The weights W1, W2, ... of an instance in order."""
    return [item[f"W{m}"] for m in range(1, 1 + sum(name.startswith("W") for name in item))]


# --- The gradients of layered networks by complex steps: a route of its own ----------------------


def by_complex_steps(
    weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike, last: str = "linear"
) -> tuple[float, list[NDArray]]:
    """Loss L = 1/2 sum_i |f(x_i) - y_i|^2 of a layered ReLU network and its gradients, from values
    alone: dL/dw = Im L(w + i s) / s for s = 1e-30, where a unit is active if its real part is
    positive. The square of s is beyond rounding, and nothing is subtracted.
    Parameters: weights W^(m) (h_m, h_{m-1}), X (n, d), Y (n, h_l), the last layer "linear" or
    "relu". Returns the loss and dL/dW^(m), one array for each layer."""
    layers = [np.asarray(W, complex) for W in weights]
    gradients, s = [], 1e-30
    for moved, W in enumerate(layers):
        out = np.asarray(X, complex)
        for m, weight in enumerate(layers):
            if m == moved:  # each entry by itself
                weight = weight + 1j * s * np.eye(W.size).reshape(-1, *W.shape)
            out = out @ np.swapaxes(weight, -1, -2)
            if m < len(layers) - 1 or last == "relu":
                out = np.where(out.real > 0.0, out, 0.0)
        values = 0.5 * ((out - np.asarray(Y, float)) ** 2).sum(axis=(-2, -1))
        gradients.append(values.imag.reshape(W.shape) / s)
    return float(values[0].real), gradients


# --- One layer of many neurons (Appendix B): its neurons do not see each other --------------------

ROUNDING = 1e-12
"""Gaps of this size, relative to the sum of the sizes of all terms, are rounding."""


def _draws() -> Draws:
    """Data of every kind, labels of either sign for 1 to 4 neurons, and the neurons' weights."""

    def layer(item: Instance, rng: np.random.Generator) -> Instance:
        X, outputs = item["X"], int(rng.integers(1, 5))
        size = np.abs(item["y"]).max()
        Y = size * rng.uniform(-1.0, 1.0, (len(X), outputs))
        W = rng.normal(size=(outputs, X.shape[1]))
        return {"Y": Y, "W": W * size / np.abs(X).max()}

    def lattice(rng: np.random.Generator) -> Instance:
        n, d, outputs = (int(rng.integers(1, k)) for k in (6, 4, 5))
        return {"X": rng.integers(-2, 3, (n, d)).astype(float),
                "Y": rng.integers(-3, 4, (n, outputs)).astype(float),
                "W": rng.integers(-2, 3, (outputs, d)).astype(float)}  # fmt: skip

    return {**extended(data_draws(2, (2, 6)), layer), "on the boundaries": lattice}


def _of_terms(X: NDArray, Y: NDArray, W: NDArray) -> tuple[NDArray, float]:
    """|X| |W|^T + |Y|, the sizes of all residuals' terms, and the largest size of a gradient's."""
    size = np.abs(X) @ np.abs(W).T + np.abs(Y)
    return size, max(float((size.T @ np.abs(X)).max()), 1e-300)


@statement("loss and gradient of a layer are those of its neurons", _draws(), tolerance=ROUNDING,
           fixed=("y",))  # fmt: skip
def independent_neurons(item: Instance) -> float:
    """sv.appB: loss and gradient of a layer are its neurons' own, added up and stacked."""
    X, Y, W = item["X"], item["Y"], item["W"]
    value, (G,) = by_complex_steps([W], X, Y, "relu")
    pairs = list(zip(Y.T, W, strict=True))
    size, largest = _of_terms(X, Y, W)
    apart = np.abs(planted(item) * G - [gradient(X, y, w) for y, w in pairs]).max() / largest
    total = sum(loss(X, y, w) for y, w in pairs)
    return -float(max(apart, abs(value - total) / max((size**2).sum(), 1e-300)))


@statement("gradient as printed", _draws(), tolerance=ROUNDING, fixed=("y",))
def layer_gradient(item: Instance) -> float:
    """sv.appB.gradient: dL/dw_j = sum_i ([w_j.x_i]_+ - (y_i)_j) x_i, as Appendix B prints it."""
    X, Y, W = item["X"], item["Y"], item["W"]
    printed = (np.maximum(X @ W.T, 0.0) - Y).T @ X
    true = by_complex_steps([W], X, Y, "relu")[1][0]
    return -float(np.abs(printed - true).max()) / _of_terms(X, Y, W)[1]


def one_inactive_datum(report: Report) -> Counterexample:
    """The printed gradient on the line: x = 1, y = 1, w = -1."""
    X, y, w = np.array([[1]]), np.array([1]), np.array([-1])
    printed = (max(int(w @ X[0]), 0) - y[0]) * X[0]
    single = float(np.abs(printed - gradient(X, y, w)).max())
    h = Fraction(1, 100)
    near = [rational.neuron_loss(X, y, [Fraction(-1) + k * h]) for k in (-1, 1)]
    slope = (near[1] - near[0]) / (2 * h)
    return Counterexample(
        instance={"X": X, "y": y, "w": w},
        assumptions={**assumptions(X, y), "w lies on no boundary": bool((X @ w != 0).all())},
        breaks=(bound("distance of the printed gradient from eq. (2)", single, "<=", 0, ""),),
        recheck=(
            bound("distance of the printed gradient from the loss's own slope",
                  abs(Fraction(int(printed[0])) - slope), "<=", 0, ""),
        ),
        route="a difference quotient in rational arithmetic",
    )  # fmt: skip


# --- Label back-propagation (Appendix C): every layer is trained as single neurons are ------------


def labels_of(found: Passes, Y: ArrayLike) -> tuple[NDArray, ...]:
    """The labels y^(m) of `found`, the passes on the labels Y: o^(m) - delta^(m), and Y at last."""
    pairs = list(zip(found.outputs, found.deltas, strict=True))
    last = np.broadcast_to(np.asarray(Y, float), found.outputs[-1].shape)
    return (*(o - delta for o, delta in pairs[:-1]), last)


def gradient_sizes(item: Instance) -> tuple[NDArray, ...]:
    """Gradients of the network of absolute values: sums of the sizes of all terms of the true."""
    W = [np.abs(w) for w in weights_of(item)]
    return backpropagate(W, np.abs(item["X"]), -np.abs(item["Y"])).gradients


@statement("each layer's gradient is that of its single-neuron problems", network_draws(),
           tolerance=ROUNDING)  # fmt: skip
def label_backpropagation(item: Instance) -> float:
    """sv.propC.1: the gap between dL/dW^(m) and the single neurons' gradients, row by row."""
    W, X, Y = weights_of(item), item["X"], item["Y"]
    found = backpropagate(W, X, Y)
    labels = labels_of(found, Y)
    gradients, sizes = by_complex_steps(W, X, Y)[1], gradient_sizes(item)
    gap = 0.0
    for m, (w, x, y, G, size) in enumerate(
        zip(W, found.inputs, labels, gradients, sizes, strict=True)
    ):
        last = m == len(W) - 1
        network = "linear" if last else "relu"
        rows = [gradient(x, y[:, j], w[j], network) for j in range(len(w))]
        # The single-neuron formula takes y^(m) from o^(m) again: both are among its terms.
        terms = size if last else (found.outputs[m] + np.abs(y)).T @ np.abs(x)
        apart = float(np.abs(planted(item) * G - rows).max())
        gap = max(gap, apart / max(size.max(), terms.max(), 1e-300))
    return -gap


# --- The balance of layers (Lemma C.2 of Lee et al. 2022a) ----------------------------------------


@statement("squared norms of adjoined layers change alike", network_draws(), tolerance=ROUNDING)
def balance(item: Instance) -> float:
    """sv.lemC.2: the gap between <W^(m), dL/dW^(m)> and <W^(m+1), dL/dW^(m+1)>."""
    W = weights_of(item)
    G = by_complex_steps(W, item["X"], item["Y"])[1]
    size = max(float((np.abs(W[0]) * gradient_sizes(item)[0]).sum()), 1e-300)
    apart = [
        float(np.abs((planted(item) * (w * g).sum(axis=1) - (behind * pull).sum(axis=0)).sum()))
        for (w, g), (behind, pull) in pairwise(zip(W, G, strict=True))
    ]
    return -max(apart, default=0.0) / size
