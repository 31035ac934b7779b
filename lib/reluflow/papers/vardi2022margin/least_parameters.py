"""Section 2: what the least |theta|^2 says about the predictor of a linear network of depth L.

For a predictor beta it is, over all parameters with that predictor,

    L |beta|_2^(2/L)                    fully connected, of any widths
    L sum_j |beta_j|^(2/L)              diagonal
    L/D sum_f |fft(beta)_f|^(2/L)       circular convolutions of full width D, and a full last layer

so each is an increasing function of the norm that the paper names, and the predictor of a global
optimum of Problem (2) has the least such norm. Why: beta_j, or fft(beta)_f, is a product of one
factor from each layer (and |beta|_2 at most the product of the layers' norms), sums of squares over
the parameters are sums of squares of these factors (over D, by Parseval), and the mean of L squares
is at least their product to the power 1/L. Equal factors reach it. Real filters lose nothing: the
factors at f and -f may be chosen conjugate, and at f = 0 and D/2 a product of L real numbers has
any sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from reluflow.falsify import Instance, Statement
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.margin.programs import least_sum
from reluflow.networks.indexed import Network, diagonal, fully_connected
from reluflow.papers.vardi2022margin.fully_connected import aligned_limit

_ROUNDING = 1e-9
"""Errors of the closed forms, relative to the value."""
_MET = 1e-7
_BELOW, _WITHIN = 1e-6, 1e-4
"""Errors of the conditions that direct minimisation leaves."""


def circular(d: int, depth: int) -> Network:
    """L - 1 layers of circular convolutions of full width d, then a full row of weights:
    h_i = sum_k w_k x_(i + k mod d), as Gunasekar et al. (2018) have it but for their 1/sqrt(d)."""
    shift = 1 + (np.arange(d)[None] - np.arange(d)[:, None]) % d
    return Network((*[shift] * (depth - 1), 1 + np.arange(d)[None]), "linear")


def predictor(network: Network, theta: ArrayLike) -> NDArray:
    """beta (..., d) of a linear network's parameters theta (..., p)."""
    return network.output(theta, np.eye(network.maps[0].shape[1]))


@dataclass(frozen=True)
class Family:
    """A kind of linear networks, and the least |theta|^2 for a predictor.

    network    (d, L, rng): a network of this kind on d inputs
    cost       (beta, L): the least |theta|^2
    minimiser  (network, beta): parameters that reach it
    """

    name: str
    network: Callable[[int, int, np.random.Generator], Network]
    cost: Callable[[NDArray, int], float]
    minimiser: Callable[[Network, NDArray], NDArray]


def _full_minimiser(network: Network, beta: NDArray) -> NDArray:
    if not beta.any():
        return np.zeros(network.size)
    hidden = [np.eye(len(g))[0] for g in network.maps[:-1]]
    return network.parameters(aligned_limit(beta, hidden))


def _diagonal_minimiser(network: Network, beta: NDArray) -> NDArray:
    root = np.abs(beta) ** (1.0 / network.degree)
    return np.concatenate([*[root] * (network.degree - 1), np.sign(beta) * root])


def spectrum(beta: NDArray) -> NDArray:
    """fft(beta)_f for f = 0, ..., D/2; what rounding leaves of a 0 is 0, for small powers of it are
    not small."""
    values = np.fft.rfft(beta)
    return np.where(np.abs(values) > 1e-13 * np.abs(values).max(), values, 0.0)


def _circular_cost(beta: NDArray, depth: int) -> float:
    d = len(beta)
    twice = np.where(2 * np.arange(d // 2 + 1) % d == 0, 1.0, 2.0)
    return depth / d * float(np.sum(twice * np.abs(spectrum(beta)) ** (2.0 / depth)))


def _circular_minimiser(network: Network, beta: NDArray) -> NDArray:
    """The filters have the transforms |fft(beta)|^(1/L), the row the same times the phases."""
    d, values = len(beta), spectrum(beta)
    root = np.abs(values) ** (1.0 / network.degree)
    phase = values / np.where(root > 0.0, np.abs(values), 1.0)
    filters = [np.fft.irfft(root, d)] * (network.degree - 1)
    return np.concatenate([*filters, np.fft.irfft(root * phase, d)])


FULL = Family(
    "fully connected",
    lambda d, depth, rng: fully_connected([d, *rng.integers(1, 4, depth - 1).tolist()], "linear"),
    lambda beta, depth: depth * float(np.linalg.norm(beta)) ** (2.0 / depth),
    _full_minimiser,
)
DIAGONAL = Family(
    "diagonal",
    lambda d, depth, rng: diagonal(d, depth, "linear"),
    lambda beta, depth: depth * float(np.sum(np.abs(beta) ** (2.0 / depth))),
    _diagonal_minimiser,
)
CIRCULAR = Family(
    "circular convolutions",
    lambda d, depth, rng: circular(d, depth),
    _circular_cost,
    _circular_minimiser,
)


def _draws(family: Family) -> dict[str, Callable[[np.random.Generator], dict[str, Any]]]:
    """Draws of {"network", "theta" (p,)}: depths 2 to 5, up to 6 inputs, and wild parameters; and
    parameters next to the least ones of a predictor, where there is nearly equality."""

    def network(rng: np.random.Generator) -> Network:
        return family.network(int(rng.integers(1, 7)), int(rng.integers(2, 6)), rng)

    def by(entries: Callable[[np.random.Generator, int], NDArray]) -> Callable:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            some = network(rng)
            return {"network": some, "theta": entries(rng, some.size)}

        return one

    def near(rng: np.random.Generator) -> dict[str, Any]:
        some = network(rng)
        theta = family.minimiser(some, rng.normal(size=(some.maps[0].shape[1],)))
        return {"network": some, "theta": theta * (1.0 + 1e-3 * rng.standard_normal(some.size))}

    return {
        "normal": by(lambda rng, p: rng.standard_normal(p)),
        "decades": by(lambda rng, p: rng.standard_normal(p) * 10.0 ** rng.uniform(-6, 3, p)),
        "integers": by(lambda rng, p: rng.integers(-2, 3, p).astype(float)),
        "near the least": near,
    }


def _no_shorter(family: Family, says: str) -> Statement:
    def slack(item: Instance) -> float:
        network, theta = item["network"], item["theta"]
        cost = family.cost(predictor(network, theta), network.degree)
        return float(theta @ theta) / cost - 1.0 if cost > 0.0 else np.inf

    return Statement(says, _draws(family), slack, tolerance=_ROUNDING)


def least_by_length() -> Statement:
    """mm.sec2.l2: |theta|^2 >= L |beta|_2^(2/L) for fully connected linear networks."""
    return _no_shorter(FULL, "|theta|² is at least L |β|₂^(2/L)")


def least_by_coordinates() -> Statement:
    """mm.sec2.l2L: |theta|^2 >= L sum_j |beta_j|^(2/L) for diagonal linear networks."""
    return _no_shorter(DIAGONAL, "|theta|² is at least L Σ |β_j|^(2/L)")


def least_by_frequencies() -> Statement:
    """mm.sec2.fourier: |theta|^2 >= L/D sum_f |fft(beta)_f|^(2/L) for circular convolutions."""
    return _no_shorter(CIRCULAR, "|theta|² is at least L/D Σ |fft(β)_f|^(2/L)")


def _predictors(rng: np.random.Generator, count: int) -> list[NDArray]:
    """Predictors with zeros, equal entries and negative sums among them, of sizes 1e-6 to 1e6."""
    found = []
    for k in range(count):
        beta = rng.standard_normal(int(rng.integers(1, 7)))
        beta = [beta, np.round(beta), -np.abs(beta), np.full(len(beta), -1.0)][k % 4]
        found.append(beta * 10.0 ** rng.uniform(-6.0, 6.0))
    return found


def _shortest(
    network: Network, start: NDArray, kind: str, gap: Callable[[NDArray], NDArray], inputs: NDArray
) -> NDArray | None:
    """min |theta|^2 with predictor conditions gap(beta) = 0 ("eq") or >= 0 ("ineq") by SLSQP from a
    start (p,); gap is affine, with rows `inputs`. None where it does not end at such parameters."""

    def slopes(theta: NDArray) -> NDArray:
        return np.array([network.gradient(theta, x[None], [1.0]) for x in inputs])

    found = minimize(
        lambda theta: (float(theta @ theta), 2.0 * theta),
        start,
        jac=True,
        method="SLSQP",
        constraints={"type": kind, "fun": lambda theta: gap(predictor(network, theta)),
                     "jac": slopes},
        options={"maxiter": 300, "ftol": 1e-12},
    )  # fmt: skip
    off = gap(predictor(network, found.x))
    broken = np.abs(off) if kind == "eq" else -off
    return found.x if broken.max() <= _MET else None


def least_for_predictor(network: Network, beta: NDArray, start: NDArray) -> float:
    """min |theta|^2 over parameters whose predictor is beta (d,), infinite where not found."""
    best = _shortest(network, start, "eq", lambda found: found - beta, np.eye(len(beta)))
    return np.inf if best is None else float(best @ best)


def least_for_data(network: Network, Z: NDArray, start: NDArray) -> float:
    """Problem (2) for y_i x_i, the rows of Z (n, d): min |theta|^2, infinite where not found."""
    best = _shortest(network, start, "ineq", lambda found: Z @ found - 1.0, Z)
    return np.inf if best is None else float(best @ best)


def least_norm(family: Family, Z: NDArray) -> float:
    """The convex program of the predictor for depth 2, times the constant of the closed form: the
    least |beta|_2, |beta|_1 or sum_f |fft(beta)_f| subject to Z beta >= 1, Z (n, d)."""
    d, ones = Z.shape[1], np.ones(len(Z))
    if family is FULL:
        return 2.0 * least_sum([Z], ones).value
    if family is DIAGONAL:
        return 2.0 * least_sum([Z[:, [j]] for j in range(d)], ones).value
    turns = 2.0 * np.pi * np.outer(np.arange(d), np.arange(d // 2 + 1)) / d
    blocks = np.stack([Z @ np.cos(turns), -(Z @ np.sin(turns))], axis=-1) / d
    # A frequency and its negative are one block, of the length of both.
    return 2.0 / d * least_sum([blocks[:, f] for f in range(d // 2 + 1)], ones).value


def reached(family: Family, seed: int, count: int, starts: int = 6) -> list[Evidence]:
    """That the closed form's value is reached, and that at depth 2 Problem (2) has the value of the
    program for the predictor; by closed forms, and by direct minimisation from several starts."""
    rng = np.random.default_rng(seed)
    wrong, tried = 0, 10 * count
    for beta in _predictors(rng, tried):
        network = family.network(len(beta), int(rng.integers(2, 6)), rng)
        theta = family.minimiser(network, beta)
        off = np.abs(predictor(network, theta) - beta).max() / max(np.abs(beta).max(), 1e-300)
        cost = family.cost(beta, network.degree)
        wrong += bool(off > _ROUNDING or abs(theta @ theta - cost) > _ROUNDING * cost)
    ratios: dict[str, list[float]] = {"predictor": [], "data": []}
    for k in range(count):
        d, depth = int(rng.integers(1, 4)), 2 + k % 3
        network, beta = family.network(d, depth, rng), rng.standard_normal(d)
        best = min(least_for_predictor(network, beta, rng.standard_normal(network.size))
                   for _ in range(starts))  # fmt: skip
        ratios["predictor"].append(best / family.cost(beta, depth))
        network, X = family.network(d, 2, rng), rng.standard_normal((int(rng.integers(1, 4)), d))
        Z = X * np.sign(X @ beta)[:, None]
        best = min(least_for_data(network, Z, rng.standard_normal(network.size))
                   for _ in range(starts))  # fmt: skip
        ratios["data"].append(best / least_norm(family, Z))
    found = {name: np.array(values) for name, values in ratios.items()}
    return [
        fact("predictors whose least parameters have another predictor or another length", wrong,
             0, tried=tried),
        fact(f"predictors for which direct minimisation ends more than {_BELOW:g} below the closed "
             "form", int((found["predictor"] < 1.0 - _BELOW).sum()), 0, tried=count),
        fact("data sets for which it ends so far below the predictor's convex program, depth 2",
             int((found["data"] < 1.0 - _BELOW).sum()), 0, tried=count),
        *(bound(f"share of these {what} for which the best of its ends is within {_WITHIN:g}",
                float((found[name] < 1.0 + _WITHIN).mean()), ">=", 0.5, "", digits=2)
          for name, what in (("predictor", "predictors"), ("data", "data sets"))),
        note("starts of each minimisation", starts),
    ]  # fmt: skip
