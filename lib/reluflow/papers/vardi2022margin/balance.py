"""The page `balance`: Lemmas C.1 to C.5."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Draw, Instance, Statement, planted, survey
from reluflow.flows.charts import LOG_LOG, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Evidence, Known, bound, fact, note, proved
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.networks.indexed import Network, diagonal, fully_connected
from reluflow.papers.vardi2022margin.certificates import aligned_limit
from reluflow.papers.vardi2022margin.setting import (
    Layer,
    Maps,
    ascent,
    class_n_draws,
    full,
    network_draws_shared,
    neuron_gaps,
    rationals,
    size,
    unshared,
)

# --- Lemmas C.1 to C.3: which differences of squared norms gradient flow leaves as they are -------
#
# The rates are compared in rational arithmetic, for pulls c_i of any size and sign: so for any
# loss.


def exact_layers(item: Instance) -> list[Layer]:
    """The layers of a drawn network with their exact velocities."""
    network = item["network"]
    at_zero = item["at_zero"] if network.activation == "relu" else None
    return ascent(network.maps, item["theta"], item["X"], item["c"], at_zero)


def _alike(
    says: str, maps: Sequence[Maps], gaps: Callable[[list[Layer]], list[fmpq]], depths=(2, 4)
) -> Statement:
    """The gaps between rates are 0: in rational arithmetic, so that no tolerance is needed."""

    def slack(item: Instance) -> float:
        first, *others = exact_layers(item)
        factor = rationals(planted(item))
        layers = [replace(first, du=factor * first.du, dW=factor * first.dW), *others]
        worst = max((abs(gap) for gap in gaps(layers)), default=fmpq(0))
        part = worst / size(layers) if worst else fmpq(0)
        return -(int(part.p) / int(part.q))

    return Statement(says, class_n_draws(maps, depths), slack,
                     fixed=("theta", "X", "c", "at_zero"))  # fmt: skip


def _between_layers(layers: list[Layer]) -> list[fmpq]:
    return [a.parameters - b.parameters for a, b in pairwise(layers)]


def layers_alike() -> Statement:
    """mm.lemC.1.1: rates of |W_j|_F^2 and |W_(j+1)|_F^2 in fully connected networks."""
    return _alike("squared norms of adjacent layers change alike", [full], _between_layers)


def neurons_alike() -> Statement:
    """mm.lemC.1.2: rates of |W_j[i, :]|^2 and |W_(j+1)[:, i]|^2 in fully connected networks."""
    return _alike("weights into and out of a neuron change alike", [full], neuron_gaps)


def parameters_alike() -> Statement:
    """mm.lemC.2: rates of |u^(j)|^2 and |u^(j+1)|^2 in networks of class N."""
    says = "squared norms of adjacent layers' parameters change alike"
    return _alike(says, [unshared, network_draws_shared], _between_layers)


def hidden_neurons_alike() -> Statement:
    """mm.lemC.3: rates of |w_j|^2 and v_j^2 in networks of depth 2 without shared weights."""
    says = "|w_j|^2 and v_j^2 change alike"
    return _alike(says, [full, unshared], neuron_gaps, depths=(2, 2))


def squared_differences(network: Network, thetas: NDArray) -> tuple[NDArray, NDArray]:
    """|u^(j)|^2 - |u^(j+1)|^2 of adjacent layers (k, m - 1), and the squared norm of the incoming
    less that of the outgoing weights of every hidden neuron (k, units), of parameters (k, p)."""
    ends = np.cumsum(network.sizes)[:-1]
    norms = np.array([(u**2).sum(axis=1) for u in np.split(thetas, ends, axis=1)])
    weights = network.weights(thetas)
    neurons = [(a**2).sum(axis=-1) - (b**2).sum(axis=-2) for a, b in pairwise(weights)]
    return -np.diff(norms, axis=0).T, np.concatenate(neurons, axis=1)


# --- Lemma C.4: in the limit |w_j| = |v_j| for each hidden neuron ---------------------------------
#
# A KKT point of Problem (2) has |w_j| = |v_j| whatever led there, so a limit that was polished to
# one proves nothing: here the flow itself is followed until |theta|^2 is far larger than at the
# start.


REACH = (1e2, 1e5, 1e8)
"""Values of log(1/L) at which the lengths are compared."""


class Case(NamedTuple):
    """A depth-2 network without shared weights at a start that classifies its data correctly."""

    network: Network
    loss: Loss
    X: NDArray
    y: NDArray
    theta: NDArray


def cases(seed: int, count: int) -> Iterator[Case]:
    """Linear and ReLU networks of 2 to 4 neurons, both losses; the labels are those of the start.

    Every start is unbalanced: of each neuron the weights on one side are 1e-3 to 1e3 times those on
    the other. In every second ReLU network the last neuron is inactive on all data, so that it
    keeps its weights for ever. The start is then scaled until L < 1/2.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        widths = [int(rng.integers(1, 4)), int(rng.integers(2, 5)), 1]
        network = Network((full, unshared)[k % 2](rng, widths), ("relu", "linear")[k // 2 % 2])
        X = rng.standard_normal((int(rng.integers(1, 4)), widths[0]))
        W, v = network.weights(rng.standard_normal(network.size))
        if network.activation == "relu" and k // 4 % 2:
            X = np.abs(X)
            W[-1] = -np.abs(W[-1])
        tilt = 10.0 ** rng.uniform(-1.5, 1.5, widths[1])
        parts = network.parameters([W * tilt[:, None], v / tilt])
        z = network.output(parts, X)
        if not np.all(np.abs(z) > 1e-3 * np.abs(z).max()):
            continue  # a datum that the network cannot see, or hardly
        scale = np.sqrt((1.0 + np.log(2.0 * len(X))) / np.abs(z).min())
        yield Case(network, (EXPONENTIAL, LOGISTIC)[k // 3 % 2], X, np.sign(z), scale * parts)


def _lengths(case: Case) -> dict[str, float | str] | None:
    """One flow: the largest ||w_j| - |v_j|| / |theta| at each of REACH, and what Lemma C.3 says."""
    chart = Polar(case.network)
    field = GradientFlow(chart, case.loss, case.X, case.y, LOG_LOG)
    start, end = chart.coordinates(case.theta), float(np.log(REACH[-1]))
    path = integrate(field, start, end, rtol=1e-6, max_steps=500)
    if path.status != "horizon":
        return {"status": path.status}
    u, rho = chart.parameters(path.at(np.log(REACH)))
    W, v = case.network.weights(u)
    sizes = np.linalg.norm(W, axis=-1), np.abs(v[:, 0])
    row = {f"gap {at:g}": float(gap) for at, gap in
           zip(REACH, np.abs(sizes[0] - sizes[1]).max(axis=1), strict=True)}  # fmt: skip
    first = squared_differences(case.network, case.theta[None])[1][0]
    drawn = squared_differences(case.network, u)[1] - np.exp(-2.0 * rho)[:, None] * first
    return {**row, "off": float(np.abs(drawn).max()), "status": path.status,
            "grown": float(rho[-1] - np.log(np.linalg.norm(case.theta))),
            "bounded": int((sizes[0][-1] + sizes[1][-1] < 1e-2).sum()),
            "apart": float(np.abs(first).max() / (case.theta @ case.theta))}  # fmt: skip


def lengths(seed: int, count: int) -> pd.DataFrame:
    """The flows of `count` cases to log(1/L) = 1e8, a row each: the largest gap ||w_j| - |v_j|| /
    |theta| at each of REACH; how far (|w_j|^2 - v_j^2) / |theta|^2 is `off` what the start says;
    the log of how |theta| has `grown`; neurons of less than a hundredth of it, `bounded`; and the
    largest ||w_j|^2 - v_j^2| / |theta|^2 at the start, `apart`."""
    return survey(cases(seed, count), _lengths)


def balanced_in_the_limit(found: pd.DataFrame) -> list[Evidence]:
    """mm.lemC.4: the largest ||w_l| - |v_l|| / |theta| along flows, and what Lemma C.3 says."""
    ended = found[found.status == "horizon"]
    gaps = [ended[f"gap {at:g}"].to_numpy() for at in REACH]
    fall, (early, late) = gaps[-2] / np.maximum(gaps[-1], 1e-16), np.log10(REACH[-2:])
    return [
        bound(f"largest ||w_j| - |v_j|| where log(1/L) = 1e{late:.0f}", float(gaps[-1].max()), "<=",
              0.1, "of |theta|", digits=2),
        bound(f"least factor by which it falls from log(1/L) = 1e{early:.0f} on",
              float(fall.min()), ">=", 10.0, "", digits=2),
        bound("largest error of |w_j|^2 - v_j^2, which stays by Lemma C.3", float(ended.off.max()),
              "<=", 1e-4, "of |theta|^2", digits=2),
        note("largest ||w_j|^2 - v_j^2| at a start", float(ended.apart.max()), "of |theta|^2",
             digits=2),
        note("flows, and their neurons that stay bounded",
             (len(ended), int(ended.bounded.sum()))),
        note("flows left out since they come to slide along a kink, or cannot be followed",
             len(found) - len(ended)),
    ]  # fmt: skip


# --- Lemma C.5: numbers with a large product have a large sum of squares --------------------------


def squares_of_factors() -> Statement:
    """mm.lemC.5: `excess` for prod_j a_j >= C^m with real a_j and C >= 0, in fractions."""
    return Statement(
        "Lemma C.5",
        {name: partial(_factors, sizes) for name, sizes in SIZES.items()},
        excess,
        {"C >= 0": lambda item: float(item["C"]) >= 0.0, "the product is at least C^m": _large},
        fixed=("C",),
        derive=lambda item: {**item, "C": np.array(root_below(item["a"]))},
    )


def why_squares_are_large() -> Known:
    """How Lemma C.5 is known."""
    return proved("the geometric mean |∏ aⱼ|^(2/m) ≥ C² of the aⱼ² is at most their mean")


def excess(item: Instance) -> float:
    """(sum_j a_j^2 - m C^2) / sum_j a_j^2, rounded once; 0 where all a_j are 0."""
    factors, C = _fractions(item["a"]), Fraction(float(item["C"]))
    total = sum((a * a for a in factors), Fraction(0))
    rest = total - len(factors) * C * C
    return float(rest / total) if total else float(rest)


def root_below(a: NDArray) -> float:
    """A C >= 0 with C^m <= prod_j a_j, the largest but for rounding; 0 where there is none."""
    a = np.asarray(a, float)
    if not np.all(a) or np.prod(np.sign(a)) < 0.0:
        return 0.0
    C = math.exp(float(np.mean(np.log(np.abs(a)))))
    # Below 1 by more than a root in floats is wrong.
    return C if _large({"a": a, "C": np.array(C)}) else C * (1.0 - 2.0**-48)


def _large(item: Instance) -> bool:
    factors = _fractions(item["a"])
    return math.prod(factors, start=Fraction(1)) >= Fraction(float(item["C"])) ** len(factors)


def _fractions(a: NDArray) -> list[Fraction]:
    return [Fraction(v) for v in np.asarray(a, float).tolist()]


def _factors(
    sizes: Callable[[np.random.Generator, int], NDArray], rng: np.random.Generator
) -> dict[str, NDArray]:
    """m = 1 to 8 factors, an even number of them negative; C is as large as it may be, or less."""
    a = sizes(rng, int(rng.integers(1, 9)))
    a = a * rng.choice([-1.0, 1.0], len(a))
    if np.prod(np.sign(a)) < 0.0:
        a[0] = -a[0]
    share = 1.0 if rng.integers(2) else float(rng.random())
    return {"a": a, "C": np.array(share * root_below(a))}


def _spread(rng: np.random.Generator, m: int) -> NDArray:
    return rng.normal(size=m) * 10.0 ** rng.uniform(-12.0, 6.0, m)


def _equal(rng: np.random.Generator, m: int) -> NDArray:
    return np.full(m, rng.random() * 10.0 ** rng.uniform(-12.0, 6.0))


def _near(rng: np.random.Generator, m: int) -> NDArray:
    return _equal(rng, m) * (1.0 + 10.0 ** rng.uniform(-12.0, -1.0) * rng.normal(size=m))


SIZES: dict[str, Callable[[np.random.Generator, int], NDArray]] = {
    "any signs": _spread,
    "equal sizes": _equal,
    "nearly equal": _near,
    "some are 0": lambda rng, m: _spread(rng, m) * (rng.random(m) < 0.7),
    "whole numbers": lambda rng, m: rng.integers(1, 5, m).astype(float),
}


# --- Section 2: the least |theta|^2 for the predictor of a linear network of depth L --------------
#
# For a predictor beta it is, over all parameters with that predictor,
#
#   L |beta|_2^(2/L)                    fully connected, of any widths
#   L sum_j |beta_j|^(2/L)              diagonal
#   L/D sum_f |fft(beta)_f|^(2/L)       circular convolutions of full width D, and a full last layer
#
# so each is an increasing function of the norm that the paper names: the sums of squares are sums
# over the factors of beta_j, or of fft(beta)_f, one from each layer.


_ROUNDING = 1e-9
"""Errors of the closed forms, relative to the value."""


def circular(d: int, depth: int) -> Network:
    """L - 1 layers of circular convolutions of full width d, then a full row of weights:
    h_i = sum_k w_k x_(i + k mod d), as Gunasekar et al. (2018) have it but for their 1/sqrt(d)."""
    shift = 1 + (np.arange(d)[None] - np.arange(d)[:, None]) % d
    return Network((*[shift] * (depth - 1), 1 + np.arange(d)[None]), "linear")


def predictor(network: Network, theta: ArrayLike) -> NDArray:
    """beta (..., d) of a linear network's parameters theta (..., p)."""
    return network.output(theta, np.eye(network.maps[0].shape[1]))


class Family(NamedTuple):
    """A kind of linear networks on d inputs, of depth L, the least |theta|^2 for a predictor, and
    parameters that reach it."""

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
    lambda d, depth, rng: fully_connected([d, *rng.integers(1, 4, depth - 1).tolist()], "linear"),
    lambda beta, depth: depth * float(np.linalg.norm(beta)) ** (2.0 / depth),
    _full_minimiser,
)
DIAGONAL = Family(
    lambda d, depth, rng: diagonal(d, depth, "linear"),
    lambda beta, depth: depth * float(np.sum(np.abs(beta) ** (2.0 / depth))),
    _diagonal_minimiser,
)
CIRCULAR = Family(lambda d, depth, rng: circular(d, depth), _circular_cost, _circular_minimiser)


def _draws(family: Family) -> dict[str, Draw]:
    """Draws of {"network", "theta" (p,)}: depths 2 to 5, up to 6 inputs, and wild parameters; and
    parameters next to the least ones of a predictor, where there is nearly equality."""

    def one(
        entries: Callable[[np.random.Generator, Network], NDArray], rng: np.random.Generator
    ) -> dict[str, Any]:
        some = family.network(int(rng.integers(1, 7)), int(rng.integers(2, 6)), rng)
        return {"network": some, "theta": entries(rng, some)}

    def decades(rng: np.random.Generator, net: Network) -> NDArray:
        return rng.standard_normal(net.size) * 10.0 ** rng.uniform(-6, 3, net.size)

    def near(rng: np.random.Generator, some: Network) -> NDArray:
        theta = family.minimiser(some, rng.normal(size=(some.maps[0].shape[1],)))
        return theta * (1.0 + 1e-3 * rng.standard_normal(some.size))

    return {
        "normal": partial(one, lambda rng, net: rng.standard_normal(net.size)),
        "decades": partial(one, decades),
        "integers": partial(one, lambda rng, net: rng.integers(-2, 3, net.size).astype(float)),
        "near the least": partial(one, near),
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


def reached(family: Family, seed: int, count: int) -> list[Evidence]:
    """That the closed form's value is reached by parameters that are in closed form, too, of
    predictors with zeros, equal entries and negative sums among them, of sizes 1e-6 to 1e6."""
    rng, predictors = np.random.default_rng(seed), []
    for k in range(count):
        beta = rng.standard_normal(int(rng.integers(1, 7)))
        beta = [beta, np.round(beta), -np.abs(beta), np.full(len(beta), -1.0)][k % 4]
        predictors.append(beta * 10.0 ** rng.uniform(-6.0, 6.0))
    wrong = 0
    for beta in predictors:
        network = family.network(len(beta), int(rng.integers(2, 6)), rng)
        theta = family.minimiser(network, beta)
        off = np.abs(predictor(network, theta) - beta).max() / max(np.abs(beta).max(), 1e-300)
        cost = family.cost(beta, network.degree)
        wrong += bool(off > _ROUNDING or abs(theta @ theta - cost) > _ROUNDING * cost)
    return [fact("predictors whose least parameters have another predictor or another length",
                 wrong, 0, tried=count)]  # fmt: skip
