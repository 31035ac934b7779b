"""Whether a point of the margin problem is a global or a local optimum, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.margin.kkt import KINK, scaled
from reluflow.margin.max_margin import least_length, sized
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin import two_layers
from reluflow.papers.vardi2022margin.local_optima import local_proof, shorter, span
from reluflow.papers.vardi2022margin.proofs import Aligned, Certificate, Layer, Shorter

EQUAL = 1e-7  # a bound that comes so near to a value, as a share of it, meets it


@dataclass(frozen=True)
class Optimum:
    """What is known of a point of the margin problem.

    verdict      "global", "local", "not local" or "undecided"
    theta        (p,) the point, scaled to the least margin 1
    certificate  the proof, which `checker` verifies; None for "undecided", and for a local optimum
                 that second order tells in floats
    detail       one sentence
    saved        the share of |theta|^2, or of the layer's, that the best of the shorter points
                 saves; 0 where there are none
    """

    verdict: str
    theta: NDArray
    certificate: Certificate | None
    detail: str
    saved: float = 0.0


def classify_optimum(
    network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike, layer: int | None = None
) -> Optimum:
    """Whether theta's direction is a local or global optimum of the margin problem (Vardi et al.
    2022, Problem 2), or of that of one layer (Problem 4).

    Parameters: theta (p,), of any length, X (n, d), y (n,) of +-1, `layer` from 1. It looks at the
    point only, at no theorem: convex programs in the cells that meet it where the network is linear
    in the right coordinates, first and second order elsewhere.
    Returns `Optimum`. Raises InputError for a theta that does not classify every datum correctly.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    point = scaled(network, theta, X, y)
    try:
        if layer is None and two_layers.is_plain(network):
            found = _of_two_layers(network, point, X, y)
        elif layer is None:
            found = _of_linear(network, point, X, y)
        else:
            found = None
        return found or _around(network, point, X, y, layer)
    except ArithmeticError as error:
        return Optimum("undecided", point, None, str(error))


def _of_linear(network: Network, theta: NDArray, X: NDArray, y: NDArray) -> Optimum | None:
    """A global optimum where every weight of a linear network is there and a parameter of its own,
    by the bound of the predictor."""
    full = all(np.array_equal(np.sort(g.ravel()), np.arange(1, g.size + 1)) for g in network.maps)
    if not full or network.activation != "linear":
        return None
    best, m = least_length(y[:, None] * X, np.ones(len(y))), network.degree
    if m * (2.0 * best.value) ** (1.0 / m) < (theta @ theta) * (1.0 - EQUAL):
        return None
    detail = "the shortest predictor, with equal layers"
    return Optimum("global", theta, Aligned(best.multipliers), detail)


def _around(network: Network, theta: NDArray, X: NDArray, y: NDArray, layer: int | None) -> Optimum:
    """What first and second order tell in the cells that meet theta."""
    proof = local_proof(network, theta, X, y, layer)
    if isinstance(proof, Shorter):
        return _beaten(theta, proof, span(network, layer))
    if isinstance(proof, Layer):  # one cell, where the network is linear in the layer
        verdict = "global" if proof.layer > network.layers else "local"
        return Optimum(verdict, theta, proof, "no point of its cell is shorter")
    if proof:
        detail = "second order, in floats: the Lagrangian curves up on the critical directions"
        return Optimum("local", theta, None, detail)
    detail = "first and second order do not decide, or too many cells meet the point"
    return Optimum("undecided", theta, None, detail)


def global_optimum(network: Network, X: ArrayLike, y: ArrayLike) -> Optimum:
    """A global optimum of Problem (2) for a network of depth 2 without shared weights, over all
    activation patterns.

    Raises InputError for another network, for too many cells, where no theta is feasible, and where
    the neurons are too few for a point as short as the bound; as many as the data are enough.
    """
    X, y = sized(X), np.asarray(y, float)
    if not two_layers.is_plain(network):
        raise InputError("global_optimum takes networks of depth 2 without shared weights.")
    given = two_layers.neurons(network, X)
    found = two_layers.relaxed(given, y)
    if not np.isfinite(found.value):
        raise InputError("no parameters of this network classify the data correctly.")
    point = two_layers.placed(given, y, found)
    if point is None or point.value > found.value * (1.0 + two_layers.GAP):
        raise InputError("the neurons are too few for the bound that all cells give.")
    theta = two_layers.parameters(network, given, point.omegas, point.signs)
    detail = "a bound for all cells that meets the value"
    return Optimum("global", scaled(network, theta, X, y), found.proof(given, True), detail)


def _beaten(theta: NDArray, proof: Shorter, part: slice = slice(None)) -> Optimum:
    least = min(float(point[part] @ point[part]) for point in proof.points)
    saved = 1.0 - least / float(theta[part] @ theta[part])
    return Optimum("not local", theta, proof, "shorter feasible points nearer and nearer", saved)


def _of_two_layers(network: Network, theta: NDArray, X: NDArray, y: NDArray) -> Optimum | None:
    """What the programs of the cells tell; nothing of neurons whose two layers differ in length."""
    (W, v), value = network.weights(theta), 0.5 * float(theta @ theta)
    chosen, v = two_layers.joined(network), v[0]
    lengths = np.linalg.norm(W, axis=1)
    if value - float(lengths[chosen] @ np.abs(v[chosen])) > EQUAL * value:
        return None
    gone = (lengths <= KINK * lengths.max())[:, None]  # these weights are 0 but for rounding
    beyond, weights = "", (np.where(gone, 0.0, W), v)
    for everywhere in (True, False):
        try:
            near = two_layers.neurons(network, X, None if everywhere else weights)
        except InputError as error:
            if not everywhere:
                return Optimum("undecided", theta, None, str(error))
            beyond = f"; whether it is a global one was not asked: {error}"
            continue
        # One program bounds all combinations at once; it need not be sharp.
        found = two_layers.relaxed(near, y)
        if found.bound >= value * (1.0 - EQUAL):
            verdict, detail = (
                ("global", "no combination of cells holds a shorter point") if everywhere else
                ("local", f"no cell that meets the point holds a shorter one{beyond}"))  # fmt: skip
            return Optimum(verdict, theta, found.proof(near, everywhere), detail)
    if (shortest := two_layers.placed(near, y, found)) is not None:
        start = [np.abs(v[j]) * W[j, near.inputs[group]]
                 for j, group in zip(chosen, near.groups, strict=True)]  # fmt: skip

        def path(r: float) -> NDArray:
            moved = [(1.0 - r) * a + r * b for a, b in zip(start, shortest.omegas, strict=True)]
            return two_layers.parameters(network, near, moved, shortest.signs)

        proof = shorter(network, theta, X, y, path, told=0.0)  # the cells are convex
        if proof is not None and (beaten := _beaten(theta, proof)).saved > EQUAL:
            return beaten
    return Optimum("undecided", theta, None, "the programs around the point do not decide")
