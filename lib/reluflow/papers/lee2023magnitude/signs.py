"""The page `signs`: Proposition 3.5."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Statement
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.chains import (
    ChainPath,
    chain_flow,
    chain_gradient,
    chain_output,
    chain_population_gradient,
    neuron_descent,
    time_scale,
)

# --- Second route: when the smallest factor of a chain in dimension 1 reaches 0, by mpmath's
# quadrature ---------------------------------------------------------------------------------------


def reached_zero_at(v: ArrayLike, w: float, target: float, second_moment: float) -> float:
    """When the smallest factor reaches 0 in dimension 1, by mpmath's quadrature; w, target > 0.

    The chain's loss is s/2 (w prod v + c)^2 with the target -c x for x > 0 and s = E[1{x>0} x^2].
    Then w^2 - v_k^2 and v_j^2 - v_k^2 stay what they are, so that all sizes are functions of the
    smallest one, a, and

        T = int_0^a0 da / (s (w prod v + c) w prod_(j != k) v_j).

    Parameters: v (m,) and w positive, `target` = c > 0, `second_moment` = s.
    """
    sizes = sorted([mpmath.mpf(float(a)) for a in [*np.asarray(v, float), w]])
    if sizes[0] == sizes[1]:
        return math.inf
    gaps = [a**2 - sizes[0] ** 2 for a in sizes[1:]]

    def pace(a: mpmath.mpf) -> mpmath.mpf:
        rest = mpmath.fprod(mpmath.sqrt(a**2 + gap) for gap in gaps)
        return 1 / (second_moment * (a * rest + target) * rest)

    return float(mpmath.quad(pace, [0, sizes[0] / 2, sizes[0]]))


# --- Proposition 3.5: do the factors v_2, ..., v_m of a chain of single ReLU neurons keep
# their signs? -------------------------------------------------------------------------------------
#
# s'(0) = 0 as the paper has it; nothing is supposed about the sign of what the chain is to learn.


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
    return chain_output(item["X"], item["target"], item["factors"])


def _slack(item: Item, y: NDArray, all_factors: bool = False) -> float:
    """The least v_k(t) / v_k(0) over the positive factors with k >= 2, where the signs are kept; -1
    where they are not; NaN where the flow could not be followed. `all_factors`: v_1 as well."""
    X, w, v = item["X"], item["w0"], item["v0"]
    horizon = HORIZON / time_scale(X, y, w, v)
    try:
        path = chain_flow(chain_gradient(X, y), w, v, horizon)
    except ArithmeticError:
        return math.nan
    share = path.smallest_share
    if all_factors:
        share = min(share, float(np.min(path.v[:, 0]) / path.v[0, 0]))
    return share if path.keeps_signs else -1.0


_STARTS = {"v_1 > 0": lambda item: bool(item["v0"][0] > 0.0)}


def positive_target() -> Statement:
    """ma.prop3.5: where a network with positive factors gives the labels, the signs are kept."""
    return Statement(
        "sample-based flows, positive target: v_2, ..., v_m keep their signs",
        {kind: _data(kind) for kind in KINDS},
        lambda item: _slack(item, _labels(item)),
        {**_STARTS, "v_1*, ..., v_m* > 0": lambda item: bool(np.all(item["factors"] > 0.0))},
        strict=True,
    )


def _planar(length: float, phi: float) -> NDArray:
    """Weights of that length at the angle pi - phi from the target (1, 0)."""
    return length * np.array([-math.cos(phi), math.sin(phi)])


def population_path(
    length: float, v: NDArray, phi: float, factor: float, horizon: float
) -> ChainPath:
    """The flow for x ~ N(0, I) and the target factor * [x_1]_+."""
    gradient = chain_population_gradient([1.0, 0.0], factor)
    return chain_flow(gradient, _planar(length, phi), v, horizon)


def population_horizon(length: float, v: NDArray, factor: float) -> float:
    at = time_scale(np.eye(2), np.full(2, abs(factor)), np.array([length, 0.0]), v)
    return 200.0 / at


def _descents_that_flip(seed: int, count: int) -> tuple[int, int]:
    """Descents of a step of a tenth of `time_scale`'s unit on drawn data: those on which some v_k
    leaves the positive numbers within 500 steps, and the number of descents."""
    rng = np.random.default_rng(seed)
    flips = total = 0
    for k in range(count):
        item = _data(KINDS[k % 3])(rng)
        y = _labels(item)
        step = 0.1 / time_scale(item["X"], y, item["w0"], item["v0"]) / len(y)
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


def negative_example() -> tuple[ChainPath, float]:
    """The smallest example, its flow on the datum x = 1, y = -1, and the time by quadrature."""
    v, w = SMALLEST
    path = chain_flow(chain_gradient([[1.0]], [-1.0]), [w], v, 1.0)
    return path, reached_zero_at(v, w, 1.0, 1.0)


def sign_paths() -> tuple[ChainPath, ChainPath]:
    """The smallest example, taught -[x]_+ and [x]_+ by the one datum x = 1."""
    v, w = SMALLEST
    left, right = (chain_flow(chain_gradient([[1.0]], [y]), [w], v, 0.2) for y in (-1.0, 1.0))
    return left, right


def flows_and_descents(seed: int, count: int) -> list[Evidence]:
    """Proposition 3.5 on population flows and on descents, and whether its check can fail."""
    rng = np.random.default_rng(seed)
    lost, tried = 0, max(count // 10, 6)
    for k in range(tried):
        v, length = np.exp(rng.normal(size=2 + k % 2)), math.exp(rng.normal())
        phi = (1e-3, 1.0, 3.0)[k % 3]
        path = population_path(length, v, phi, 1.0, population_horizon(length, v, 1.0))
        lost += not path.keeps_signs
    flips, descents = _descents_that_flip(seed, count // 2)
    return [
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
    ]


def positive() -> Reading:
    """Section 3.2's assumption of a positive target, and what becomes of others."""
    negative, time = negative_example()
    (v1, v2), w = SMALLEST
    kinked = chain_gradient([[1.0]], [1.0], at_zero=1.0)(np.ones(1), np.array([1.0, 0.0]))[1]
    return Reading(
        taken="the target's factors are positive: the sentence that assumes it throughout "
        "Section 3.2 stands after the proposition",
        others="Section 2 admits a target of negative output, v_1* < 0, and for it the "
        f"proposition is false: with x = 1 and y = -1 the flow from w = {w:g}, "
        f"v = ({v1:g}, {v2:g}) has v_{negative.factor} = 0 at t = {negative.zero:.4g} "
        f"({time:.4g} by quadrature), where it stops. The convention relu'(0) = 0 matters for "
        f"v_k = 0: with relu'(0) = 1 such a factor moves, x = y = w = v_1 = 1, v_2 = 0 have "
        f"dv_2/dt = {-kinked[1]:g}.",
    )
