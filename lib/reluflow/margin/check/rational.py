"""A network at a point in rational arithmetic: floats are rational numbers, so nothing is rounded.

It reads the network's index maps and its activation, and evaluates it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, fmpq, fmpq_mat
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.networks.indexed import Network

Numbers = list[fmpq]
KINK = fmpq(1, 10**9)
"""An input of a unit that is, over the lengths of its two factors, not larger than this is 0: the
point is a limit in floats, and stands for all points so near to it."""


class Wrong(Exception):
    """What is wrong with a certificate, in one sentence."""


def rational(value: float) -> fmpq:
    """A float as the rational number that it is."""
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def numbers(values: ArrayLike) -> Numbers:
    """Floats (k,) as rational numbers."""
    return [rational(value) for value in np.asarray(values, float).ravel().tolist()]


def dot(a: Iterable[fmpq], b: Iterable[fmpq]) -> fmpq:
    """a.b."""
    return sum((u * v for u, v in zip(a, b, strict=True)), fmpq(0))


def square(a: Sequence[fmpq]) -> fmpq:
    """|a|^2."""
    return dot(a, a)


def combination(weights: Sequence[fmpq], rows: Sequence[Sequence[fmpq]], size: int) -> Numbers:
    """sum_i weights_i rows_i, (size,)."""
    pairs = [(w, row) for w, row in zip(weights, rows, strict=True) if w != 0]
    return [sum((w * row[k] for w, row in pairs), fmpq(0)) for k in range(size)]


def upper(value: arb) -> float:
    """A float that is not below the numbers of a ball."""
    return float(np.nextafter(float(value.mid()) + float(value.rad()), np.inf))


@dataclass(frozen=True)
class Point:
    """A network at theta with its data, in rational numbers: theta (p,), X (n, d), y (n,)."""

    network: Network
    theta: Numbers
    X: list[Numbers]
    y: Numbers

    @cached_property
    def maps(self) -> list[list[list[int]]]:
        """The index maps as lists."""
        return [g.tolist() for g in self.network.maps]

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.network.maps)

    @property
    def relus(self) -> int:
        """Number of layers with a ReLU: all but the last, or none."""
        return self.depth - 1 if self.network.activation == "relu" else 0

    def span(self, layer: int) -> slice:
        """Where the parameters of a layer, from 1, stand in theta."""
        counts = [int(g.max(initial=0)) for g in self.network.maps]
        return slice(sum(counts[: layer - 1]), sum(counts[:layer]))

    def weights(self, layer: int) -> list[Numbers]:
        """The matrix of a layer, from 1."""
        own = [fmpq(0), *self.theta[self.span(layer)]]
        return [[own[k] for k in row] for row in self.maps[layer - 1]]

    @cached_property
    def inputs(self) -> list[list[Numbers]]:
        """The inputs of every layer for every datum, and behind them the output: [layer][i]."""
        found = [self.X]
        for layer in range(1, self.depth + 1):
            W = self.weights(layer)
            before = [[dot(row, x) for row in W] for x in found[-1]]
            relu = layer <= self.relus
            found.append([[max(h, fmpq(0)) if relu else h for h in hs] for hs in before])
        return found

    @cached_property
    def margins(self) -> Numbers:
        """y_i f(theta; x_i), (n,)."""
        return [y * out[0] for y, out in zip(self.y, self.inputs[-1], strict=True)]

    @property
    def least(self) -> fmpq:
        """The least margin."""
        return min(self.margins)

    def signs(self, layer: int) -> list[list[int]]:
        """Of a layer with a ReLU, for every datum and unit: 1 or -1, the sign of the unit's input,
        or 0 where it is 0 but for `KINK`."""
        W = self.weights(layer)
        return [[_sign(row, x) for row in W] for x in self.inputs[layer - 1]]


def _sign(row: Numbers, x: Numbers) -> int:
    h = dot(row, x)
    if h * h <= KINK * KINK * square(row) * square(x):
        return 0
    return 1 if h > 0 else -1


def point(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> Point:
    """The network at theta (p,) with data X (n, d) and labels y (n,).

    Raises InputError for numbers that are not finite or do not fit the network, for labels that are
    not +1 or -1, and for a network with a ReLU behind its output.
    """
    theta, X, y = (np.asarray(given, float) for given in (theta, X, y))
    shapes = (network.size,), (len(y), network.maps[0].shape[1])
    if theta.shape != shapes[0] or X.shape != shapes[1]:
        raise InputError(f"theta and X must have the shapes {shapes}.")
    if not all(np.all(np.isfinite(given)) for given in (theta, X)) or np.any(np.abs(y) != 1.0):
        raise InputError("theta and X must be finite, and labels +1 or -1.")
    if network.rectified:
        raise InputError("the output must have no ReLU behind it.")
    return Point(network, numbers(theta), [numbers(x) for x in X], numbers(y))


def is_empty(rows: Sequence[Numbers]) -> bool:
    """Whether {u : r.u > 0 for all rows r} is proved empty: some mu >= 0, not all 0, has sum mu_k
    r_k = 0 (Gordan). Floats propose the rows that take part, rational numbers prove it."""
    if any(square(row) == 0 for row in rows):
        return True
    A = np.array([[float(v) for v in row] for row in rows])
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    mu, residual = nnls(np.vstack([A.T, np.ones(len(A))]), np.append(np.zeros(A.shape[1]), 1.0))
    if residual > 1e-6:
        return False
    chosen = [rows[k] for k in np.flatnonzero(mu > 0.0).tolist()]
    return any(_same_sign(v) for v in _left_null(chosen))


def _left_null(rows: Sequence[Numbers]) -> list[Numbers]:
    """A basis of {mu : sum mu_k rows_k = 0}."""
    R, rank = fmpq_mat([list(column) for column in zip(*rows, strict=True)]).rref()
    lead = [next(c for c in range(len(rows)) if R[k, c] != 0) for k in range(rank)]
    basis = []
    for free in (c for c in range(len(rows)) if c not in lead):
        v = [fmpq(int(c == free)) for c in range(len(rows))]
        for k, c in enumerate(lead):
            v[c] = -R[k, free]
        basis.append(v)
    return basis


def _same_sign(v: Numbers) -> bool:
    return all(value >= 0 for value in v) or all(value <= 0 for value in v)


def missing(rows: Sequence[Numbers], given: set[tuple[bool, ...]]) -> tuple[bool, ...] | None:
    """Signs (True: positive) of u on the rows that are not among those given, though nothing proves
    that no u has them; None if there are none. A shorter answer is a beginning of such signs."""

    def below(prefix: tuple[bool, ...]) -> tuple[bool, ...] | None:
        k = len(prefix)
        if not any(pattern[:k] == prefix for pattern in given):
            cone = [[v if s else -v for v in row] for s, row in zip(prefix, rows, strict=False)]
            return None if cone and is_empty(cone) else prefix
        if k == len(rows):
            return None
        for side in (True, False):
            found = below((*prefix, side))
            if found is not None:
                return found
        return None

    return below(())


def as_patterns(active: NDArray) -> tuple[bool, ...]:
    """Booleans (k,) as a tuple, which can stand in a set."""
    return tuple(bool(a) for a in np.asarray(active).ravel())
