"""Networks of any depth whose weights are parameters under index maps (Vardi et al. 2022, class N).

Layer l has the matrix W_ab = theta_k with k = g_l(a, b): k = 0 is a missing weight, and a k that
occurs twice is a shared one. So fully connected, diagonal, convolutional and randomly sparse
networks are instances, and so is a chain of neurons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError

Weights = Sequence[NDArray]
"""Matrices W^(m) (..., h_m, h_(m-1)) in order; leading axes are networks side by side."""
Patterns = Sequence[NDArray]
"""Of each layer with an activation, which unit is active on which datum: booleans (..., n, h_l), or
the factors in [0, 1] that stand in for the derivative of the ReLU."""
Pass = tuple[NDArray, Callable[[ArrayLike], NDArray]]


def forward(
    weights: Weights, X: NDArray, hidden: int, patterns: Patterns | None
) -> tuple[list[NDArray], list[NDArray], list[NDArray]]:
    """What goes into every layer, its pre-activations h, and the slopes of the activation behind
    the first `hidden` layers, which passes on h * slope: those given, or those of the ReLU."""
    inputs, before, slopes = [X], [], []
    for layer, W in enumerate(weights):
        h = inputs[-1] @ W.mT
        before.append(h)
        if layer < hidden:
            slopes.append(h > 0.0 if patterns is None else patterns[layer])
            inputs.append(h * slopes[-1])
    return inputs, before, slopes


def backward(weights: Weights, slopes: Patterns, last: NDArray) -> list[NDArray]:
    """delta^(m) = slope^(m) * W^(m+1)T delta^(m+1) of every layer, from the `last` one back."""
    deltas = [last]
    for layer in range(len(weights) - 1, 0, -1):
        deltas.append((deltas[-1] @ weights[layer]) * slopes[layer - 1])
    return deltas[::-1]


@dataclass(frozen=True)
class Network:
    """f(x) = W_m s(W_(m-1) ... s(W_1 x)), with s ReLU or the identity, and one output.

    maps        g_l, whole numbers (h_l, h_(l-1)); the parameters of layer l are numbered 1, 2, ...
                without a gap, and theta (p,) holds those of layer 1 first
    activation  "relu" or "linear"
    Raises InputError for maps that do not fit together or leave a number out.
    """

    maps: tuple[NDArray, ...]
    activation: str = "relu"

    def __post_init__(self) -> None:
        if self.activation not in ("relu", "linear"):
            raise InputError(f'activation must be "relu" or "linear", not {self.activation!r}.')
        object.__setattr__(self, "maps", tuple(np.asarray(g) for g in self.maps))
        before = None
        for number, g in enumerate(self.maps, start=1):
            if g.ndim != 2 or g.dtype.kind not in "iu":
                raise InputError(f"map {number} must be a matrix of whole numbers.")
            if before is not None and g.shape[1] != before:
                raise InputError(f"map {number} has {g.shape[1]} columns for {before} inputs.")
            if set(np.unique(g)) - {0} != set(range(1, int(g.max(initial=0)) + 1)):
                raise InputError(f"map {number} must number its parameters 1, 2, ... without gap.")
            before = g.shape[0]
        if before != 1:
            raise InputError("the last map must have one row: a network has one output.")

    @cached_property
    def degree(self) -> int:
        """The depth m: f(c theta; x) = c^m f(theta; x) for c >= 0."""
        return len(self.maps)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Number of units of each layer with a ReLU."""
        return tuple(len(g) for g in self.maps[: self.layers])

    @property
    def layers(self) -> int:
        """Number of layers with a ReLU: none, or all but the last."""
        return self.degree - 1 if self.activation == "relu" else 0

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of parameters of each layer."""
        return tuple(int(g.max(initial=0)) for g in self.maps)

    @cached_property
    def size(self) -> int:
        """Number of parameters p."""
        return sum(self.sizes)

    @cached_property
    def _gather(self) -> list[tuple[Any, bool]]:
        """Of each layer, the positions of its weights (h_l, h_(l-1)) in (theta, 0), and whether two
        are one parameter; a slice where all weights are there in order."""
        found: list[tuple[Any, bool]] = []
        for g, end in zip(self.maps, np.cumsum(self.sizes).tolist(), strict=True):
            first = end - int(g.max(initial=0))
            if np.array_equal(g.ravel(), 1 + np.arange(g.size)):
                found.append((slice(first, end), False))
            else:
                where = np.where(g > 0, g - 1 + first, self.size)
                found.append((where, np.count_nonzero(g) > g.max(initial=0)))
        return found

    def weights(self, theta: ArrayLike) -> list[NDArray]:
        """The matrices W_l (..., h_l, h_(l-1)) of parameters theta (..., p)."""
        padded, pairs = np.array(theta, float), list(zip(self.maps, self._gather, strict=True))
        lead = padded.shape[:-1]
        if not all(isinstance(where, slice) for _, (where, _) in pairs):
            padded = np.concatenate([padded, np.zeros((*lead, 1))], axis=-1)
        return [padded[..., where].reshape(*lead, *g.shape) for g, (where, _) in pairs]

    def parameters(self, matrices: Sequence[NDArray]) -> NDArray:
        """Sums of matrix entries (..., h_l, h_(l-1)) over the weights that share a parameter.

        The adjoint of `weights`: returns shape (..., p).
        """
        lead = matrices[0].shape[:-2]
        out = np.zeros((*lead, self.size + 1))
        for (where, shared), M in zip(self._gather, matrices, strict=True):
            if shared:
                np.add.at(out, (..., where), M)  # type: ignore[arg-type]
            else:
                out[..., where] = M.reshape(*lead, -1) if isinstance(where, slice) else M
        return out[..., :-1] + 0.0  # a zero has no sign

    def preactivations(self, theta: ArrayLike, X: ArrayLike) -> list[NDArray]:
        """The inputs of the units with an activation, one array (..., n, h_l) for each layer."""
        return self._forward(self.weights(theta), X)[1][: self.layers]

    def cosines(self, theta: ArrayLike, X: ArrayLike) -> list[NDArray]:
        """The pre-activations over the lengths of the unit's weights and of its input, (..., n,
        h_l): cosines of angles, which care for no scale; 0 where a length is 0."""
        W = self.weights(theta)
        inputs, before, _ = self._forward(W, X)
        found = []
        for matrix, x, h in zip(W, inputs, before[: self.layers], strict=False):
            size = lengths(x)[..., :, None] * lengths(matrix)[..., None, :]
            found.append(np.divide(h, size, out=np.zeros_like(h), where=size > 0.0))
        return found

    def patterns(self, theta: ArrayLike, X: ArrayLike) -> list[NDArray]:
        """Which hidden unit is active on which datum; a unit at 0 is not (s'(0) = 0)."""
        return [h > 0.0 for h in self.preactivations(theta, X)]

    def output(self, theta: ArrayLike, X: ArrayLike, patterns: Patterns | None = None) -> NDArray:
        """f(theta; x_i), shape (..., n), for theta (..., p) and X (n, d).

        With `patterns` the network is the polynomial in theta that has these units active.
        """
        return self.evaluated(theta, X, patterns)[0]

    def gradient(
        self, theta: ArrayLike, X: ArrayLike, c: ArrayLike, patterns: Patterns | None = None
    ) -> NDArray:
        """grad_theta sum_i c_i f(theta; x_i), shape (..., p), for c (..., n)."""
        return self.evaluated(theta, X, patterns)[1](c)

    def evaluated(self, theta: ArrayLike, X: ArrayLike, patterns: Patterns | None = None) -> Pass:
        """The `output`, and the `gradient` as a function of c, which goes the same way back."""
        W = self.weights(theta)
        inputs, before, slopes = self._forward(W, X, patterns)

        def gradient(c: ArrayLike) -> NDArray:
            deltas = backward(W, slopes, np.asarray(c, float)[..., None])
            return self.parameters([d.mT @ x for d, x in zip(deltas, inputs, strict=True)])

        return before[-1][..., 0], gradient

    def rates(
        self, theta: ArrayLike, X: ArrayLike, v: ArrayLike, patterns: Patterns | None = None
    ) -> tuple[list[NDArray], NDArray]:
        """Rates of the pre-activations, one (..., n, h_l) a layer with an activation, and of the
        output (..., n), when theta moves with velocity v (..., p), the units' activity held fixed.
        """
        W = self.weights(theta)
        inputs, _, slopes = self._forward(W, X, patterns)
        turns, moved = self._moved(W, self.weights(v), inputs, slopes)
        return turns[: self.layers], moved[-1][..., 0]

    def turned(
        self, theta: ArrayLike, X: ArrayLike, c: ArrayLike, v: ArrayLike,
        patterns: Patterns | None = None,
    ) -> tuple[NDArray, NDArray]:  # fmt: skip
        """Rates of `gradient` (..., p), which are the Hessian of sum_i c_i f(theta; x_i) times v,
        and of the output (..., n), for a velocity v (..., p), the units' activity held fixed.

        Forward differentiation, layer by layer.
        """
        W, V = self.weights(theta), self.weights(v)
        inputs, _, slopes = self._forward(W, X, patterns)
        moved = self._moved(W, V, inputs, slopes)[1]
        delta = np.asarray(c, float)[..., None]
        found, change = [delta.mT @ moved[-2]], delta @ V[-1]
        for layer in range(self.degree - 2, -1, -1):
            change = change * slopes[layer]
            delta = (delta @ W[layer + 1]) * slopes[layer]
            found.append(change.mT @ inputs[layer] + delta.mT @ moved[layer])
            change = change @ W[layer] + delta @ V[layer]
        return self.parameters(found[::-1]), moved[-1][..., 0]

    def _moved(
        self, W: Weights, V: Weights, inputs: Sequence[NDArray], slopes: Patterns
    ) -> tuple[list[NDArray], list[NDArray]]:
        """Rates of all pre-activations, and of what follows each layer, when W has rate V."""
        both = np.broadcast_shapes((*V[0].shape[:-2], 1, 1), inputs[0].shape)
        turns, moved = [], [np.zeros(both)]
        for layer in range(self.degree):
            turn = moved[-1] @ W[layer].mT
            turns.append(turn + inputs[layer] @ V[layer].mT)
            moved.append(turns[-1] * slopes[layer] if layer < self.degree - 1 else turns[-1])
        return turns, moved

    def _forward(
        self, W: Weights, X: ArrayLike, patterns: Patterns | None = None
    ) -> tuple[list[NDArray], list[NDArray], list[NDArray]]:
        """Each layer's inputs and pre-activations, the last the output, and activations' slopes."""
        X = np.asarray(X, float)
        if W[0].ndim > 2:
            X = np.broadcast_to(X, (*W[0].shape[:-2], *X.shape))
        slopes = patterns if self.activation == "relu" else [np.ones(1)] * (self.degree - 1)
        return forward(W, X, self.degree - 1, slopes)


def lengths(rows: NDArray) -> NDArray:
    """The lengths (...) of rows (..., d)."""
    return np.sqrt(np.vecdot(rows, rows))


def fully_connected(widths: Sequence[int], activation: str = "relu") -> Network:
    """The network of layers widths[0] (inputs), widths[1], ..., each weight a parameter; one output
    is added behind the last width."""
    sizes = [*widths, 1]
    maps = [1 + np.arange(b * a).reshape(b, a) for a, b in pairwise(sizes)]
    return Network(tuple(maps), activation)


def diagonal(d: int, depth: int, activation: str = "relu") -> Network:
    """Depth-m diagonal network: m - 1 diagonal layers of d units, then a row of d weights."""
    eye = np.diag(np.arange(1, d + 1))
    return Network((*[eye] * (depth - 1), np.arange(1, d + 1)[None]), activation)


def convolutional(width: int, patches: int, activation: str = "relu") -> Network:
    """Depth 2: one filter of `width` weights on each of the disjoint patches, and a row of weights,
    one for each patch (Vardi et al. 2022, Theorem 4.4)."""
    first = np.kron(np.eye(patches, dtype=int), np.arange(1, width + 1)[None])
    return Network((first, np.arange(1, patches + 1)[None]), activation)
