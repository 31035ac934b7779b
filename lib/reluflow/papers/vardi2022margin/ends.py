"""Where a trained network ends in direction, and what kind of optimum that is, exactly checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin.check import check
from reluflow.margin.limits import AT_REST, Limit, limit
from reluflow.margin.optimum import classify_optimum
from reluflow.networks.indexed import Network

LOSSES = {"exponential": EXPONENTIAL, "logistic": LOGISTIC}
ZERO = 1e-9
"""A length over |theta|, or a cosine, that is not larger is 0."""
APART = 1e-6
"""One that is larger than this, and than ten times the limit's error, is not 0."""
REACH, RTOL = 1e4, 1e-5
"""log10(1/L) to which the flows of a survey go, and their relative tolerance."""


@dataclass(frozen=True)
class Judged:
    """A limit in Problem (2), or in Problem (4) of one layer.

    layer    from 1, or None for Problem (2)
    verdict  "global", "local", "not local", or "undecided" where no certificate was found or the
             exact checker refused it
    gap      no shorter point is shorter by a larger share, in rational arithmetic; for "not local"
             the share that some point saves
    proof    the kind of certificate (`reluflow.margin.certificates`)
    """

    layer: int | None
    verdict: str
    gap: float
    proof: str


@dataclass(frozen=True)
class End:
    """The limit of a flow and what it is.

    weights  whether all hidden neurons have incoming weights that are not 0; None if not told
    inputs   of each hidden layer, whether the inputs of its neurons are not 0 on any datum
    judged   the problems at the limit; none where no limit was found
    """

    limit: Limit
    weights: bool | None
    inputs: tuple[bool | None, ...]
    judged: tuple[Judged, ...]

    @property
    def fits(self) -> bool:
        """Whether L goes to 0, as far as it is known: not for a flow that comes to rest."""
        return self.limit.status != AT_REST

    def inputs_from(self, layer: int) -> bool | None:
        """Whether the inputs to all hidden neurons of this layer (from 1) and those above are not
        0 for any datum."""
        return _all(self.inputs[layer - 1 :])


def ended(item: Instance, by_layer: bool = False) -> dict[str, object]:
    """An instance {"network", "X", "y", "start", "logistic"} with its "end", an `End`; the problems
    are those of all layers, or Problem (2)."""
    network, X, y = item["network"], item["X"], item["y"]
    loss = LOGISTIC if item["logistic"] else EXPONENTIAL
    found = limit(network, loss, X, y, item["start"], reach=REACH, rtol=RTOL)
    if not found.converged:
        return {**item, "end": End(found, None, (None,) * (network.degree - 1), ())}
    layers = range(1, network.degree + 1) if by_layer else (None,)
    lengths = [np.linalg.norm(W, axis=1) for W in network.weights(found.theta)[:-1]]
    size = float(np.linalg.norm(found.theta))
    return {**item, "end": End(
        found,
        _all([_apart(row / size, found.error) for row in lengths]),
        tuple(_apart(h, found.error) for h in _cosines(network, found.theta, X)),
        tuple(judged(network, found.theta, X, y, layer) for layer in layers),
    )}  # fmt: skip


def judged(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, layer: int | None = None
) -> Judged:
    """What theta (p,) is in Problem (2) or (4), by a certificate that the exact checker accepts."""
    found = classify_optimum(network, theta, X, y, layer)
    if found.certificate is None:
        return Judged(layer, "undecided", np.nan, "none")
    proof = type(found.certificate).__name__
    seen = check(network, found.theta, X, y, found.certificate)
    if seen.verdict == "refused":
        return Judged(layer, "undecided", np.nan, proof)
    gap = found.slack if seen.verdict == "not local" else seen.slack
    return Judged(layer, seen.verdict, gap, proof)


def trained(
    draws: Mapping[str, Draw], seed: int, count: int, by_layer: bool = False
) -> tuple[tuple[str, Instance], ...]:
    """`count` instances or a few more, as many of each kind, each with its kind and its end."""
    rng, kinds = np.random.default_rng(seed), list(draws)
    each = kinds * -(-count // len(kinds))
    return tuple((kind, ended(draws[kind](rng), by_layer)) for kind in each)


def replayed(found: Sequence[tuple[str, Instance]]) -> dict[str, Draw]:
    """Draws that give these instances again, as many of each kind, in their order: one survey
    serves many statements."""

    def again(kind: str) -> Draw:
        items = iter([item for own, item in found if own == kind])
        return lambda rng: next(items)

    return {kind: again(kind) for kind in dict.fromkeys(kind for kind, _ in found)}


def _cosines(network: Network, theta: NDArray, X: NDArray) -> list[NDArray]:
    """Inputs of the hidden neurons over the lengths of their two factors, (n, h_l) each."""
    if network.activation == "relu":
        return network.cosines(theta, X)
    found = []
    for W in network.weights(theta)[:-1]:
        size = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(W, axis=1)
        h = X @ W.T
        found.append(np.divide(h, size, out=np.zeros_like(h), where=size > 0.0))
        X = h
    return found


def _apart(values: NDArray, error: float) -> bool | None:
    """Whether no value is 0; None where the limit's error does not tell."""
    least = float(np.abs(values).min())
    if least <= ZERO:
        return False
    return True if least > max(APART, 10.0 * error) else None


def _all(told: Iterable[bool | None]) -> bool | None:
    told = list(told)
    return False if False in told else None if None in told else True
