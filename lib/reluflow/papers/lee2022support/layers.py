"""One layer of many neurons (Appendix B of Lee et al. 2022a): its neurons do not see each other.

The layer's gradients come from torch's automatic differentiation, which shares no code with the
single-neuron formulas that they are held against.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow import rational
from reluflow.falsify import Instance, Report, Statement, planted
from reluflow.flows.affine import affine_descent, affine_flow
from reluflow.instances import Arrays, Draws, data_draws, extended
from reluflow.ledger import Counterexample, Evidence, bound, note
from reluflow.networks import gradient, loss
from reluflow.networks.layered_autograd import autograd
from reluflow.papers.lee2022support.assumptions import assumptions

ROUNDING = 1e-12
"""Gaps of this size, relative to the sum of the sizes of all terms, are rounding."""


def _draws() -> Draws:
    """Data of every kind, labels of either sign for 1 to 4 neurons, and the neurons' weights."""

    def layer(item: Arrays, rng: np.random.Generator) -> Arrays:
        X, outputs = item["X"], int(rng.integers(1, 5))
        size = np.abs(item["y"]).max()
        Y = size * rng.uniform(-1.0, 1.0, (len(X), outputs))
        W = rng.normal(size=(outputs, X.shape[1]))
        return {"Y": Y, "W": W * size / np.abs(X).max()}

    def lattice(rng: np.random.Generator) -> Arrays:
        n, d, outputs = (int(rng.integers(1, k)) for k in (6, 4, 5))
        return {
            "X": rng.integers(-2, 3, (n, d)).astype(float),
            "Y": rng.integers(-3, 4, (n, outputs)).astype(float),
            "W": rng.integers(-2, 3, (outputs, d)).astype(float),
        }

    return {**extended(data_draws(2, (2, 6)), layer), "on the boundaries": lattice}


def _of_terms(X: NDArray, Y: NDArray, W: NDArray) -> tuple[NDArray, float]:
    """|X| |W|^T + |Y|, the sizes of all residuals' terms, and the largest size of a gradient's."""
    size = np.abs(X) @ np.abs(W).T + np.abs(Y)
    return size, max(float((size.T @ np.abs(X)).max()), 1e-300)


def independent_neurons() -> Statement:
    """sv.appB: loss and gradient of a layer are its neurons' own, added up and stacked."""

    def slack(item: Instance) -> float:
        X, Y, W = item["X"], item["Y"], item["W"]
        value, (G,) = autograd([W], X, Y, "relu")
        pairs = list(zip(Y.T, W, strict=True))
        size, largest = _of_terms(X, Y, W)
        apart = np.abs(planted(item) * G - [gradient(X, y, w) for y, w in pairs]).max() / largest
        total = sum(loss(X, y, w) for y, w in pairs)
        return -float(max(apart, abs(value - total) / max((size**2).sum(), 1e-300)))

    return Statement("loss and gradient of a layer are those of its neurons", _draws(), slack,
                     tolerance=ROUNDING, fixed=("y",))  # fmt: skip


def layer_gradient() -> Statement:
    """sv.appB.gradient: dL/dw_j = sum_i ([w_j.x_i]_+ - (y_i)_j) x_i, as Appendix B prints it."""

    def slack(item: Instance) -> float:
        X, Y, W = item["X"], item["Y"], item["W"]
        printed = (np.maximum(X @ W.T, 0.0) - Y).T @ X
        true = autograd([W], X, Y, "relu")[1][0]
        return -float(np.abs(printed - true).max()) / _of_terms(X, Y, W)[1]

    return Statement("gradient as printed", _draws(), slack, tolerance=ROUNDING, fixed=("y",))


def one_inactive_datum(report: Report) -> Counterexample:
    """The printed gradient on the line: x = 1, y = 1, w = -1."""
    X, y, w = np.array([[1]]), np.array([1]), np.array([-1])
    printed = (max(int(w @ X[0]), 0) - y[0]) * X[0]
    single = float(np.abs(printed - gradient(X, y, w)).max())
    torch = float(np.abs(printed - autograd([w[None]], X, y[:, None], "relu")[1][0][0]).max())
    h = Fraction(1, 100)
    near = [rational.neuron_loss(X, y, [Fraction(-1) + k * h]) for k in (-1, 1)]
    slope = (near[1] - near[0]) / (2 * h)
    return Counterexample(
        instance={"X": X, "y": y, "w": w},
        assumptions={**assumptions(X, y), "w lies on no boundary": bool((X @ w != 0).all())},
        breaks=(bound("distance of the printed gradient from eq. (2)", single, "<=", 0, ""),),
        recheck=(
            bound("distance of the printed gradient from torch's", torch, "<=", 0, ""),
            bound("distance of the printed gradient from the loss's own slope",
                  abs(Fraction(int(printed[0])) - slope), "<=", 0, ""),
        ),
        route="automatic differentiation, and a difference quotient in rational arithmetic",
    )  # fmt: skip


def random_layers(count: int, seed: int) -> Iterator[Arrays]:
    """Layers of 3 neurons on random data with positive labels, so that no flow slides; `signs` make
    labels of either sign, for descent."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, d = int(rng.integers(3, 7)), int(rng.integers(2, 4))
        X, Y = rng.uniform(0.0, 1.0, (n, d)), rng.uniform(0.1, 1.0, (n, 3))
        W = rng.normal(size=(3, d))
        yield {"X": X, "Y": Y, "W": W, "signs": rng.choice([-1.0, 1.0], Y.shape)}


def train(layer: Arrays) -> dict[str, float]:
    """A whole layer trained as one, against its neurons trained alone.

    neurons  their number, and `events` the changes of activation on their flows
    descent  distance, relative to |W|, of 100 steps of descent from the neurons' own descents
    flow     the same of the layer's flow by DOP853 from the neurons' exact flows
    """
    X, Y, W, signed = layer["X"], layer["Y"], layer["W"], layer["Y"] * layer["signs"]
    stiffest = np.linalg.eigvalsh(X.T @ X)[-1]
    whole, step, until = W, 0.5 / stiffest, 25.0 / stiffest
    for _ in range(100):
        whole = whole - step * autograd([whole], X, signed, "relu")[1][0]
    alone = [affine_descent(X, y, w, step, 100) for y, w in zip(signed.T, W, strict=True)]
    paths = [affine_flow(X, y, w) for y, w in zip(Y.T, W, strict=True)]
    return {
        "neurons": len(W),
        "events": sum(event.t <= until for path in paths for event in path.events),
        "descent": _distance(whole, [path.end for path in alone]),
        "flow": _distance(_flow(X, Y, W, until), [path.at(until) for path in paths]),
    }


def _distance(W: NDArray, rows: Sequence[NDArray]) -> float:
    return float(np.linalg.norm(W - np.array(rows)) / np.linalg.norm(W))


def _flow(X: NDArray, Y: NDArray, W: NDArray, until: float) -> NDArray:
    """The flow of the whole layer's loss at t = `until`, by DOP853 on the matrix W."""

    def velocity(_: float, flat: NDArray) -> NDArray:
        H = X @ flat.reshape(W.shape).T
        return (np.where(H > 0.0, Y - H, 0.0).T @ X).ravel()

    found = solve_ivp(velocity, (0.0, until), W.ravel(), method="DOP853", rtol=1e-12, atol=1e-14)
    return found.y[:, -1].reshape(W.shape)


def trained(found: pd.DataFrame) -> list[Evidence]:
    """What `train` says of many layers."""
    return [
        bound("largest distance of a layer's descent from its neurons' own",
              float(found.descent.max()), "<=", 1e-9, "of |W|"),
        bound("largest distance of a layer's flow from its neurons' exact flows",
              float(found.flow.max()), "<=", 1e-6, "of |W|"),
        note("layers trained, and their neurons", (len(found), int(found.neurons.sum()))),
        note("changes of activation on these flows", int(found.events.sum())),
    ]  # fmt: skip
