"""Proposition 3.5 as evidence: positive targets, any labels y >= 0, and negative targets.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Report, Statement, falsify
from reluflow.flows.layered_descent import neuron_descent
from reluflow.ledger import Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import signs

Settlement = dict[str, Any]
Item = Mapping[str, NDArray]
Draw = Callable[[np.random.Generator], dict[str, NDArray]]

HORIZON = 1000.0
"""Flows on data run for so many units of time of `signs.time_scale`."""

SMALLEST = ((2.0, 1.0), 3.0)
"""Factors (v_1, v_2) and w > 0 in dimension 1, taught -[x]_+: v_2 falls silent."""


def _data(kind: str) -> Draw:
    """Data X, a start w0, v0 with v_1 > 0 and m = 2, 3, 4, far from balanced, and labels of a
    network with positive factors."""

    def draw(rng: np.random.Generator) -> dict[str, NDArray]:
        n, d, m = int(rng.integers(1, 8)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
        spread = 2.0 if kind == "far from balanced" else 0.7
        X = rng.normal(size=(n, d))
        if kind == "whole numbers":
            X = rng.integers(-2, 3, (n, d)).astype(float)
            X[0, 0] = 1.0
        v0 = np.exp(spread * rng.normal(size=m))
        if kind == "some v_k <= 0":
            v0[1:] *= rng.integers(-1, 2, m - 1)
        w0 = rng.normal(size=d) * math.exp(spread * rng.normal())
        target, factors = rng.normal(size=d), np.exp(0.7 * rng.normal(size=m))
        if kind == "all active":
            X, w0, target = np.abs(X[:, :1]), np.abs(w0[:1]), np.abs(target[:1])
        if kind == "opposite to the target":
            w0 = -target * np.exp(rng.normal()) + 1e-3 * rng.normal(size=d)
        return {"X": X, "w0": w0, "v0": v0, "target": target, "factors": factors}

    return draw


KINDS = (
    "plain",
    "far from balanced",
    "whole numbers",
    "all active",
    "some v_k <= 0",
    "opposite to the target",
)


def _labels(item: Item) -> NDArray:
    return signs.chain_output(item["X"], item["target"], item["factors"])


def _slack(item: Item, y: NDArray, all_factors: bool = False) -> float:
    """The least v_k(t) / v_k(0) over the positive factors with k >= 2, where the signs are kept; -1
    where they are not; NaN where the flow could not be followed. `all_factors`: v_1 as well."""
    X, w, v = item["X"], item["w0"], item["v0"]
    horizon = HORIZON / signs.time_scale(X, y, w, v)
    try:
        path = signs.chain_flow(signs.chain_gradient(X, y), w, v, horizon)
    except ArithmeticError:
        return math.nan
    share = path.smallest_share
    if all_factors:
        share = min(share, float(np.min(path.v[:, 0]) / path.v[0, 0]))
    return share if path.keeps_signs else -1.0


_STARTS = {"v_1 > 0": lambda item: bool(item["v0"][0] > 0.0)}


def positive_target() -> Statement:
    """Proposition 3.5 on data whose labels a network with positive factors gives."""
    return Statement(
        "sample-based flows, positive target: v_2, ..., v_m keep their signs",
        {kind: _data(kind) for kind in KINDS},
        lambda item: _slack(item, _labels(item)),
        {**_STARTS, "v_1*, ..., v_m* > 0": lambda item: bool(np.all(item["factors"] > 0.0))},
        strict=True,
    )


def any_labels() -> Statement:
    """The same with any labels y >= 0, and v_1 too."""

    def with_labels(draw: Draw) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, NDArray]:
            item = draw(rng)
            y = np.maximum(rng.normal(size=len(item["X"])), 0.0) * math.exp(rng.normal())
            return {"X": item["X"], "y": y, "w0": item["w0"], "v0": item["v0"]}

        return one

    return Statement(
        "labels y >= 0: v_1, ..., v_m keep their signs",
        {kind: with_labels(_data(kind)) for kind in KINDS},
        lambda item: _slack(item, item["y"], all_factors=True),
        {**_STARTS, "y >= 0": lambda item: bool(np.all(item["y"] >= 0.0))},
        strict=True,
    )


def _planar(length: float, phi: float) -> NDArray:
    """Weights of that length at the angle pi - phi from the target (1, 0)."""
    return length * np.array([-math.cos(phi), math.sin(phi)])


def population_path(
    length: float, v: NDArray, phi: float, factor: float, horizon: float
) -> signs.ChainPath:
    """The flow for x ~ N(0, I) and the target factor * [x_1]_+."""
    gradient = signs.chain_population_gradient([1.0, 0.0], factor)
    return signs.chain_flow(gradient, _planar(length, phi), v, horizon)


def _population_horizon(length: float, v: NDArray, factor: float) -> float:
    at = signs.time_scale(np.eye(2), np.full(2, abs(factor)), np.array([length, 0.0]), v)
    return 200.0 / at


def _descents_that_flip(seed: int, count: int) -> tuple[int, int]:
    """Descents of a step of a tenth of `time_scale`'s unit on drawn data: those on which some v_k
    leaves the positive numbers within 500 steps, and the number of descents."""
    rng = np.random.default_rng(seed)
    flips = total = 0
    for k in range(count):
        item = _data(KINDS[k % 3])(rng)
        y = _labels(item)
        step = 0.1 / signs.time_scale(item["X"], y, item["w0"], item["v0"]) / len(y)
        path = neuron_descent(item["X"], y, item["w0"], step, 500, item["v0"], every=500)
        flips += bool((path.layers[:, 1:] <= 0.0).any())
        total += 1
    return flips, total


def _taught_the_opposite(seed: int, count: int) -> int:
    """Of `count` draws with all data active, those on which some v_k, k >= 2, changes its sign if
    the target's sign is turned around: what the check would see if the proposition failed."""
    rng, statement = np.random.default_rng(seed), positive_target()
    items = [_data("all active")(rng) for _ in range(count)]
    turned = [{**item, "factors": np.append(-1.0, item["factors"])} for item in items]
    return sum(statement.fails(statement.slack(item)) for item in turned)


def _negative_example() -> tuple[signs.ChainPath, float]:
    """The smallest example, its flow on the datum x = 1, y = -1, and the time by quadrature."""
    v, w = SMALLEST
    path = signs.chain_flow(signs.chain_gradient([[1.0]], [-1.0]), [w], v, 1.0)
    return path, signs.reached_zero_at(v, w, 1.0, 1.0)


def sign_paths() -> tuple[signs.ChainPath, signs.ChainPath]:
    """The smallest example, taught -[x]_+ and [x]_+ by the one datum x = 1."""
    v, w = SMALLEST
    return tuple(
        signs.chain_flow(signs.chain_gradient([[1.0]], [y]), [w], v, 0.2) for y in (-1.0, 1.0)
    )


def signs_kept(seed: int, count: int) -> Settlement:
    """Proposition 3.5 under Section 3.2's assumption of a positive target."""
    report = falsify(positive_target(), seed, count, count // 4)
    rng = np.random.default_rng(seed)
    lost, tried = 0, max(count // 10, 6)
    for k in range(tried):
        v, length = np.exp(rng.normal(size=2 + k % 2)), math.exp(rng.normal())
        phi = (1e-3, 1.0, 3.0)[k % 3]
        path = population_path(length, v, phi, 1.0, _population_horizon(length, v, 1.0))
        lost += not path.keeps_signs
    flips, descents = _descents_that_flip(seed, count // 2)
    negative, time = _negative_example()
    (v1, v2), w = SMALLEST
    kinked = signs.chain_gradient([[1.0]], [1.0], at_zero=1.0)(np.ones(1), np.array([1.0, 0.0]))[1]
    return {
        "evidence": [
            *report.evidence(),
            fact("population flows, unbalanced starts: those on which a sign changes", lost, 0),
            fact("descents of small steps on which a factor v_k, k >= 2, loses its sign", flips, 0),
            bound(
                "draws with the target's sign turned around: those noticed, of 30",
                _taught_the_opposite(seed, 30),
                ">",
                0,
                "",
            ),
            note("population flows, and descents", (tried, descents)),
        ],
        "reading": Reading(
            taken="the target's factors are positive: the sentence that assumes it throughout "
            "Section 3.2 stands after the proposition",
            others="Section 2 admits a target of negative output, v_1* < 0, and for it the "
            f"proposition is false: with x = 1 and y = -1 the flow from w = {w:g}, "
            f"v = ({v1:g}, {v2:g}) has v_{negative.factor} = 0 at t = {negative.zero:.4g} "
            f"({time:.4g} by quadrature), where it stops. The convention relu'(0) = 0 matters for "
            f"v_k = 0: with relu'(0) = 1 such a factor moves, x = y = w = v_1 = 1, v_2 = 0 have "
            f"dv_2/dt = {-kinked[1]:g}.",
        ),
    }


def labels_kept(seed: int, count: int) -> Settlement:
    """Any labels y >= 0."""
    report: Report = falsify(any_labels(), seed, count, count // 4)
    return {"evidence": report.evidence()}


def _orders(rng: np.random.Generator, count: int) -> list[tuple[float, NDArray, float, str]]:
    """Starts |w|, v, phi in which the smallest size is, in turn, some v_k with k >= 2, v_1, |w|, or
    two factors with k >= 2 at once."""
    starts = []
    for k in range(count):
        kind = ("v_k", "v_1", "|w|", "tie")[k % 4]
        sizes = np.sort(np.exp(0.5 * rng.normal(size=4)))
        sizes[1:] += 0.1
        rest = rng.permutation(sizes[1:])
        v = {
            "v_k": np.array([rest[0], sizes[0], rest[1]]),
            "v_1": np.array([sizes[0], rest[0], rest[1]]),
            "|w|": rest,
            "tie": np.array([rest[0], sizes[0], sizes[0]]),
        }[kind]
        if kind == "v_k" and rng.random() < 0.5:
            v[[1, 2]] = v[[2, 1]]
        length = sizes[0] if kind == "|w|" else rest[2]
        starts.append((float(length), v, float(rng.uniform(0.3, math.pi)), kind))
    return starts


def _decade(value: float) -> float:
    """The power of ten above an error of integration, whose digits mean nothing."""
    return 10.0 ** math.ceil(math.log10(max(value, 1e-12)))


def negative_target(seed: int, count: int) -> Settlement:
    """A target of negative output silences the network exactly if its smallest size is a v_k."""
    rng = np.random.default_rng(seed)
    wrong, gap, hits, moved = 0, 0.0, 0, 0.0
    starts = _orders(rng, count)
    for length, v, phi, kind in starts:
        said = signs.silence([length], [v], [phi], [1.0]).time[0]
        reach = 2.0 * said if kind == "v_k" else _population_horizon(length, v, 1.0)
        path = population_path(length, v, phi, -1.0, reach)
        expected = 1 + int(np.argmin(v)) if kind == "v_k" else 0
        wrong += path.factor != expected
        if path.factor:
            hits += 1
            gap = max(gap, abs(path.zero / said - 1.0))
            still = signs.chain_population_gradient([1.0, 0.0], -1.0)(
                path.w[-1], np.where(np.arange(len(v)) == path.factor - 1, 0.0, path.v[-1])
            )
            moved = max(moved, *(float(np.abs(part).max()) for part in still))
    many = signs.silence(
        np.exp(0.7 * rng.normal(size=20 * count)),
        np.exp(0.7 * rng.normal(size=(20 * count, 3))),
        rng.uniform(0.3, math.pi, 20 * count),
        np.exp(rng.normal(size=20 * count)),
    )
    reached = np.isfinite(many.time)
    opposite = population_path(2.0, np.array([2.0, 1.0]), 0.0, -1.0, 20.0)
    example, time = _negative_example()
    return {
        "evidence": [
            fact("flows that silence another factor than said, or one where none is said",
                 wrong, 0),
            deviation("their times against the integral over the smallest size, at most",
                      _decade(gap), "relative", digits=1),
            deviation("x = 1, y = -1, w = 3, v = (2, 1): time against mpmath's quadrature, at most",
                      _decade(abs(example.zero / time - 1.0)), "relative", digits=1),
            bound("largest entry of the gradient once a factor is 0", moved, "<=", 0, ""),
            bound("least angle phi left when a factor reaches 0, over the integrals",
                  float(np.nanmin(many.phi)), ">", 0, "rad"),
            fact("w0 opposite to w*, v = (2, 1), |w| = 2: a factor reaches 0 by t = 20",
                 not opposite.keeps_signs, False),
            note("flows, those that fall silent", (len(starts), hits)),
            note("starts integrated over the smallest size", int(reached.sum())),
            note("seed", seed),
        ],
        "tolerance": 1e-5,
    }  # fmt: skip
