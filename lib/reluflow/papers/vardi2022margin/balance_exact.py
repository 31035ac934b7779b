"""Networks of class N in rational arithmetic: how fast squared norms change under gradient flow.

Every float is a rational number, so whether two rates agree is decided without rounding. Nothing of
the library's own networks is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

Row = list[fmpq]
Rows = list[Row]


def rationals(values: ArrayLike) -> list:
    """Numbers as the rationals that they are, in nested lists of the same shape."""
    array = np.asarray(values)
    if array.ndim > 1:
        return [rationals(part) for part in array]
    return [fmpq(*v.as_integer_ratio()) for v in array.tolist()]


@dataclass(frozen=True)
class Layer:
    """One layer of a network that follows a gradient: its weights, and their velocity.

    u, du   the parameters (p_l), and how fast they change
    W, dW   the matrix (h_l, h_(l-1)) of weights, and how fast it changes
    """

    u: Row
    du: Row
    W: Rows
    dW: Rows

    @property
    def parameters(self) -> fmpq:
        """<u, du>, half the rate of |u|^2."""
        return _inner(self.u, self.du)

    @property
    def matrix(self) -> fmpq:
        """<W, dW>, half the rate of the matrix's squared Frobenius norm."""
        return sum(self.incoming, fmpq(0))

    @property
    def incoming(self) -> Row:
        """Half the rates of the squared norms of the rows, each a neuron's incoming weights."""
        return [_inner(w, dw) for w, dw in zip(self.W, self.dW, strict=True)]

    @property
    def outgoing(self) -> Row:
        """Half the rates of the squared norms of the columns, the weights behind each neuron."""
        pairs = zip(zip(*self.W, strict=True), zip(*self.dW, strict=True), strict=True)
        return [_inner(w, dw) for w, dw in pairs]


def _inner(a: Sequence[fmpq], b: Sequence[fmpq]) -> fmpq:
    return sum((p * q for p, q in zip(a, b, strict=True)), fmpq(0))


def ascent(
    maps: Sequence[NDArray],
    theta: ArrayLike,
    X: ArrayLike,
    c: ArrayLike,
    at_zero: ArrayLike | None,
) -> list[Layer]:
    """The layers of a network that follows grad_theta sum_i c_i Phi(theta; x_i), exactly.

    maps     g_l (h_l, h_(l-1)), 0 for a missing weight and k for the layer's parameter k
    theta    (p,), X (n, d); c (n,) are any numbers: under gradient flow of sum_i l(y_i Phi) they
             are -y_i l'(y_i Phi), for whatever l
    at_zero  sigma'(0) of each hidden unit on each datum, (n, units) in [0, 1]: every choice, and
             so every element of Clarke's subdifferential; None for a linear network
    """
    values, layers, first = rationals(np.asarray(theta)), [], 0
    for g in (np.asarray(g).tolist() for g in maps):
        count = max(max(row) for row in g)
        u = values[first : first + count]
        W = [[u[k - 1] if k else fmpq(0) for k in row] for row in g]
        layers.append((g, u, W, [fmpq(0)] * count))
        first += count
    for i, x in enumerate(rationals(np.asarray(X))):
        slopes = None if at_zero is None else rationals(np.asarray(at_zero)[i])
        pull = rationals(np.asarray(c)[i : i + 1])[0]
        _backward(layers, *_forward([W for _, _, W, _ in layers], x, slopes), pull)
    out = []
    for g, u, W, du in layers:
        out.append(Layer(u, du, W, [[du[k - 1] if k else fmpq(0) for k in row] for row in g]))
    return out


def _forward(matrices: Sequence[Rows], x: Row, at_zero: Row | None) -> tuple[Rows, Rows]:
    """The inputs of every layer for one datum, and the slopes of the units behind each."""
    inputs, slopes, unit = [x], [], 0
    for W in matrices[:-1]:
        h = [_inner(w, inputs[-1]) for w in W]
        slope = [fmpq(1)] * len(h)
        if at_zero is not None:
            kinks = at_zero[unit : unit + len(h)]
            slope = [fmpq(int(v > 0)) if v != 0 else s for v, s in zip(h, kinks, strict=True)]
        unit += len(h)
        slopes.append(slope)
        inputs.append([v * s for v, s in zip(h, slope, strict=True)])
    return inputs, slopes


def _backward(layers: Sequence[tuple], inputs: Rows, slopes: Rows, pull: fmpq) -> None:
    """Add one datum's part of the gradient to every layer's."""
    delta = [pull]
    for layer in range(len(layers) - 1, -1, -1):
        g, _, W, du = layers[layer]
        for row, push in zip(g, delta, strict=True):
            for k, value in zip(row, inputs[layer], strict=True):
                if k:
                    du[k - 1] += push * value
        if layer:
            columns = zip(*W, strict=True)
            delta = [
                s * _inner(column, delta)
                for s, column in zip(slopes[layer - 1], columns, strict=True)
            ]


def small_maps(largest: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Every depth-2 network of class N with up to `largest` inputs and neurons, all weights
    present, one of each numbering of its parameters: in each layer every partition of the weights
    into those that are one parameter."""
    for d, k in product(range(1, largest + 1), repeat=2):
        for first in _partitions(d * k):
            for second in _partitions(k):
                yield np.array(first).reshape(k, d), np.array(second).reshape(1, k)


def _partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Restricted growth strings: every partition of n things into numbered classes, once."""
    if n == 1:
        yield (1,)
        return
    for head in _partitions(n - 1):
        for last in range(1, max(head) + 2):
            yield (*head, last)


def neuron_gaps(layers: Sequence[Layer]) -> Row:
    """Rate of each hidden neuron's incoming less that of its outgoing weights, layer by layer."""
    return [
        a - b
        for layer, behind in pairwise(layers)
        for a, b in zip(layer.incoming, behind.outgoing, strict=True)
    ]


def size(layers: Sequence[Layer]) -> fmpq:
    """Sum over all parameters of |u_k du_k|, the size of which a gap is a part."""
    pairs = ((u, du) for layer in layers for u, du in zip(layer.u, layer.du, strict=True))
    return sum((abs(u * du) for u, du in pairs), fmpq(0))
