"""Many neurons and many layers: Appendices B and C of Lee et al. 2022 as falsifiable statements.

The networks' gradients come from torch's automatic differentiation, which shares no code with the
single-neuron formulas that they are held against. torch is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from reluflow.falsify import Draw, Instance, Statement
from reluflow.flows.affine import affine_descent, affine_flow
from reluflow.instances import data_draws, extended
from reluflow.networks import backpropagate, gradient, loss

ROUNDING = 1e-12
"""Gaps of this size, relative to the sum of the sizes of all terms, are rounding."""

Weights = Sequence[NDArray]


def autograd(
    weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike, last: str = "linear"
) -> tuple[float, list[NDArray]]:
    """Loss 1/2 sum_i |f(x_i) - y_i|^2 of a deep ReLU network and its gradients, by torch.

    Parameters: weights W^(m) (h_m, h_{m-1}), X (n, d), Y (n, h_l), the last layer "linear" or
    "relu". Returns the loss and dL/dW^(m), one array for each layer.
    """
    import torch

    layers = [torch.tensor(np.asarray(W, float), requires_grad=True) for W in weights]
    out = torch.tensor(np.asarray(X, float))
    for m, W in enumerate(layers, start=1):
        out = out @ W.T
        if m < len(layers) or last == "relu":
            out = torch.relu(out)
    value = 0.5 * ((out - torch.tensor(np.asarray(Y, float))) ** 2).sum()
    found = torch.autograd.grad(value, layers)
    return float(value.detach()), [g.numpy() for g in found]


# --- Appendix B: one layer of many neurons --------------------------------------------------------


def _layer_draws() -> dict[str, Draw]:
    """Data of every kind, labels of either sign for 1 to 4 neurons, and the neurons' weights."""

    def layer(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        X, outputs = item["X"], int(rng.integers(1, 5))
        size = np.abs(item["y"]).max()
        Y = size * rng.uniform(-1.0, 1.0, (len(X), outputs))
        W = rng.normal(size=(outputs, X.shape[1]))
        return {"Y": Y, "W": W * size / np.abs(X).max()}

    def lattice(rng: np.random.Generator) -> dict[str, NDArray]:
        n, d, outputs = (int(rng.integers(1, k)) for k in (6, 4, 5))
        return {
            "X": rng.integers(-2, 3, (n, d)).astype(float),
            "Y": rng.integers(-3, 4, (n, outputs)).astype(float),
            "W": rng.integers(-2, 3, (outputs, d)).astype(float),
        }

    return {**extended(data_draws(2, (2, 6)), layer), "on the boundaries": lattice}


def _layer_gap(item: Instance) -> float:
    X, Y, W = item["X"], item["Y"], item["W"]
    value, (G,) = autograd([W], X, Y, "relu")
    neurons = [(loss(X, y, w), gradient(X, y, w)) for y, w in zip(Y.T, W, strict=True)]
    size = np.abs(X) @ np.abs(W).T + np.abs(Y)
    apart = np.abs(G - [g for _, g in neurons]).max() / max((size.T @ np.abs(X)).max(), 1e-300)
    return -max(apart, abs(value - sum(v for v, _ in neurons)) / max((size**2).sum(), 1e-300))


def independent_neurons() -> Statement:
    """Appendix B: loss and gradient of a layer are the neurons' own, added up and stacked."""
    return Statement(
        says="loss and gradient of a layer are those of its neurons",
        draws=_layer_draws(),
        slack=_layer_gap,
        tolerance=ROUNDING,
        fixed=("y",),
    )


def layer_gradient(indicator: bool) -> Statement:
    """Appendix B's gradient dL/dw_j = sum_i ([w_j.x_i]_+ - (y_i)_j) x_i, as printed, or with the
    `indicator` 1{w_j.x_i > 0} in every term."""

    def slack(item: Instance) -> float:
        X, Y, W = item["X"], item["Y"], item["W"]
        h = X @ W.T
        terms = np.maximum(h, 0.0) - Y
        formula = (np.where(h > 0.0, terms, 0.0) if indicator else terms).T @ X
        size = (np.abs(X) @ np.abs(W).T + np.abs(Y)).T @ np.abs(X)
        true = autograd([W], X, Y, "relu")[1][0]
        return -float(np.abs(formula - true).max()) / max(size.max(), 1e-300)

    return Statement(
        says="gradient with the indicator" if indicator else "gradient as printed",
        draws=_layer_draws(),
        slack=slack,
        tolerance=ROUNDING,
        fixed=("y",),
    )


@dataclass(frozen=True)
class LayerSurvey:
    """Whole layers trained as one, against their neurons trained alone.

    layers   layers tried; `neurons` all their neurons; `events` changes of activation on the way
    descent  largest distance, relative to |W|, of 100 steps of descent on the whole layer from the
             neurons' own descents
    flow     the same of a layer's flow by DOP853 from the neurons' exact flows
    """

    layers: int
    neurons: int
    events: int
    descent: float
    flow: float


def survey_layers(count: int, seed: int) -> LayerSurvey:
    """Train random layers of 3 neurons on random data, as a whole and neuron by neuron.

    The labels are positive, so that no flow slides; descent sees labels of either sign too.
    """
    rng = np.random.default_rng(seed)
    events, descent, flow = 0, 0.0, 0.0
    for _ in range(count):
        n, d, outputs = int(rng.integers(3, 7)), int(rng.integers(2, 4)), 3
        X, Y = rng.uniform(0.0, 1.0, (n, d)), rng.uniform(0.1, 1.0, (n, outputs))
        W = rng.normal(size=(outputs, d))
        stiffest = np.linalg.eigvalsh(X.T @ X)[-1]
        signed = Y * rng.choice([-1.0, 1.0], Y.shape)
        whole, step = W, 0.5 / stiffest
        for _ in range(100):
            whole = whole - step * autograd([whole], X, signed, "relu")[1][0]
        alone = [affine_descent(X, y, w, step, 100) for y, w in zip(signed.T, W, strict=True)]
        descent = max(descent, _distance(whole, [path.end for path in alone]))
        until = 25.0 / stiffest
        paths = [affine_flow(X, y, w) for y, w in zip(Y.T, W, strict=True)]
        events += sum(len([e for e in path.events if e.t <= until]) for path in paths)
        followed = _layer_flow(X, Y, W, until)
        flow = max(flow, _distance(followed, [path.at(until) for path in paths]))
    return LayerSurvey(count, 3 * count, events, descent, flow)


def _distance(W: NDArray, rows: Sequence[NDArray]) -> float:
    return float(np.linalg.norm(W - np.array(rows)) / np.linalg.norm(W))


def _layer_flow(X: NDArray, Y: NDArray, W: NDArray, until: float) -> NDArray:
    """The flow of the whole layer's loss at t = `until`, by DOP853 on the matrix W."""

    def velocity(_: float, flat: NDArray) -> NDArray:
        H = X @ flat.reshape(W.shape).T
        return (np.where(H > 0.0, Y - H, 0.0).T @ X).ravel()

    found = solve_ivp(velocity, (0.0, until), W.ravel(), method="DOP853", rtol=1e-12, atol=1e-14)
    return found.y[:, -1].reshape(W.shape)


# --- Appendix C: many layers ----------------------------------------------------------------------


def weights_of(item: Instance) -> list[NDArray]:
    """The weights W1, W2, ... of an instance in order."""
    return [item[f"W{m}"] for m in range(1, 1 + sum(name.startswith("W") for name in item))]


def _network(rng: np.random.Generator, entries, data) -> dict[str, NDArray]:
    """A network of 2 to 5 layers of 1 to 6 units, with 1 to 4 data; the two draw their arrays."""
    sizes = [int(k) for k in rng.integers(1, 7, int(rng.integers(3, 7)))]
    n = int(rng.integers(1, 5))
    item = {"X": data((n, sizes[0])), "Y": data((n, sizes[-1]))}
    for m, (fan_in, out) in enumerate(pairwise(sizes), start=1):
        item[f"W{m}"] = entries((out, fan_in))
    return item


def network_draws() -> dict[str, Draw]:
    """Random networks: normal weights; nonnegative data; weights of sizes from 1e-2 to 1e2; small
    integers, where many units sit exactly on a kink; and a layer with no active unit."""

    def normal(rng: np.random.Generator) -> dict[str, NDArray]:
        return _network(rng, rng.standard_normal, rng.standard_normal)

    def nonnegative(rng: np.random.Generator) -> dict[str, NDArray]:
        return _network(rng, rng.standard_normal, lambda shape: rng.uniform(0.0, 1.0, shape))

    def uneven(rng: np.random.Generator) -> dict[str, NDArray]:
        def entries(shape: tuple[int, int]) -> NDArray:
            return rng.standard_normal(shape) * 10.0 ** rng.uniform(-2.0, 2.0)

        return _network(rng, entries, rng.standard_normal)

    def kinks(rng: np.random.Generator) -> dict[str, NDArray]:
        def whole(shape: tuple[int, int]) -> NDArray:
            return rng.integers(-1, 2, shape).astype(float)

        return _network(rng, whole, whole)

    def dead(rng: np.random.Generator) -> dict[str, NDArray]:
        item = nonnegative(rng)
        return {**item, "W1": -np.abs(item["W1"])}

    return {
        "normal": normal,
        "nonnegative data": nonnegative,
        "uneven": uneven,
        "kinks": kinks,
        "dead layer": dead,
    }


def _sizes(item: Instance) -> tuple[NDArray, ...]:
    """Gradients of the network of absolute values: sums of the sizes of all terms of the true."""
    W = [np.abs(w) for w in weights_of(item)]
    return backpropagate(W, np.abs(item["X"]), -np.abs(item["Y"])).gradients


def _label_gap(item: Instance) -> float:
    W, X, Y = weights_of(item), item["X"], item["Y"]
    found = backpropagate(W, X, Y)
    _, gradients = autograd(W, X, Y)
    gap = 0.0
    for m, (G, size) in enumerate(zip(gradients, _sizes(item), strict=True)):
        network = "linear" if m == len(W) - 1 else "relu"
        x, labels = found.inputs[m], found.labels[m]
        rows = [gradient(x, labels[:, j], W[m][j], network) for j in range(len(W[m]))]
        # The single-neuron formula takes y^(m) from o^(m) again: both are among its terms.
        terms = (found.outputs[m] + np.abs(labels)).T @ np.abs(x) if m < len(W) - 1 else size
        gap = max(gap, float(np.abs(G - rows).max()) / max(size.max(), terms.max(), 1e-300))
    return -gap


def label_backpropagation() -> Statement:
    """Proposition C.1: dL/dW^(m) is the gradient of the single-neuron networks, one for every row
    of W^(m), on the data x^(m) with the back-propagated labels y^(m); linear for m = l."""
    return Statement(
        says="each layer's gradient is that of its single-neuron problems",
        draws=network_draws(),
        slack=_label_gap,
        tolerance=ROUNDING,
    )


def balance(units: bool = False) -> Statement:
    """Lemma C.2: <W^(m), dL/dW^(m)> = <W^(m+1), dL/dW^(m+1)>, so that the squared norms of adjoined
    layers change alike; with `units` for the row of each unit's weights and its column behind."""

    def slack(item: Instance) -> float:
        W = weights_of(item)
        _, G = autograd(W, item["X"], item["Y"])
        size = max(float((np.abs(W[0]) * _sizes(item)[0]).sum()), 1e-300)
        gap = 0.0
        for m in range(len(W) - 1):
            apart = (W[m] * G[m]).sum(axis=1) - (W[m + 1] * G[m + 1]).sum(axis=0)
            gap = max(gap, float(np.abs(apart).max() if units else np.abs(apart.sum())))
        return -gap / size

    return Statement(
        says="every unit's two squared norms change alike" if units
        else "squared norms of adjoined layers change alike",
        draws=network_draws(),
        slack=slack,
        tolerance=ROUNDING,
    )  # fmt: skip


def hidden_labels() -> Statement:
    """Ours: where a hidden unit is inactive its back-propagated label is 0, so A2 fails for it."""

    def slack(item: Instance) -> float:
        found = backpropagate(weights_of(item), item["X"], item["Y"])
        hidden = zip(found.outputs[:-1], found.labels[:-1], strict=True)
        return -max(float(np.abs(y[o == 0.0]).max(initial=0.0)) for o, y in hidden)

    return Statement(
        says="the label of a hidden unit is 0 where it is inactive",
        draws=network_draws(),
        slack=slack,
    )
