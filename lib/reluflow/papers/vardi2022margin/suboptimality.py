"""Remark 3.1: the limit can be as much longer than the optimum as one likes, over the data.

In each family the optimum is computed without the closed form that it is then compared with: by
convex programs over all cells, or along the arcs of the circle of filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger import Evidence, bound, fact, note
from reluflow.margin.check import check
from reluflow.margin.curves import span
from reluflow.margin.layer_problem import layer_optimum
from reluflow.margin.optimum import classify_optimum, global_optimum
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin.families import (
    Family,
    flat_patches,
    longer_coordinate,
    opening_angle,
    paired_data,
    paired_layer,
)
from reluflow.papers.vardi2022margin.settled import settled_limit

SIZES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Values of h at which the optimum is computed."""
FLOWS = {0.5: "exponential", 0.25: "logistic"}
"""Values of h at which the flow is followed to its limit, and the loss."""
FACTORS = (10, 100, 1000)
"""The paper's M."""


def grows_with_the_angle() -> list[Evidence]:
    """mm.rem3.1.1: x = (+-1, h) gives |theta~|^2 / |theta*|^2 = 1 / (2 cos(psi/2)) for an angle psi
    >= 2 pi/3 of the data: at least M^2 once pi - psi <= 2 arcsin(1/(2 M^2))."""
    angles = 2.0 * np.arcsin(0.5 / np.square(FACTORS, dtype=float))
    ratios = [_ratio(opening_angle(), float(np.tan(0.5 * angle))) for angle in angles]
    return [
        *unbounded(opening_angle()),
        bound("|θ̃|/|θ*| over M, from 1, at the angle π - 2 arcsin(1/(2M²)), M = 10, 100, 1000",
              float(np.abs(np.array(ratios) / FACTORS - 1.0).max()), "<=", 1e-7, ""),
    ]  # fmt: skip


def grows_with_a_coordinate() -> list[Evidence]:
    """mm.rem3.1.2: x = (1, M^2) and the start (1, 0) of Theorem 4.1 give |theta~| / |theta*| = M,
    for linear and ReLU networks."""
    return _both(longer_coordinate)


def grows_with_flat_data() -> list[Evidence]:
    """mm.rem3.1.3: x_1 = (1, h), x_2 = (-1, h), x_3 = (0, -1) and the start of Lemma C.6 give
    |theta~| / |theta*| near (h sqrt(5))^(-1/2), and no input of a neuron is zero in the limit."""
    return [*unbounded(paired_data()), _inputs(paired_data())]


def grows_with_flat_patches() -> list[Evidence]:
    """mm.rem3.1.4: the patches (1, h), (-1, h) and the start of Theorem 4.4 give |theta~| /
    |theta*| = h^(-1/2), linear, and near (h sqrt(2))^(-1/2) with ReLU."""
    return _both(flat_patches)


def layer_grows_with_flat_data() -> list[Evidence]:
    """mm.rem3.1.5: the data of `grows_with_flat_data` for Problem (4): the first layer of the limit
    is longer than the layer's optimum by a factor near h^(-1/2)."""
    return [*unbounded(paired_layer()), _inputs(paired_layer())]


def unbounded(family: Family) -> list[Evidence]:
    """That the flow's limit is the closed form's, that |theta~| / |theta*| is what the closed form
    says for h = 1e-1, ..., 1e-5, and that it passes every factor M as h^(-1/2)."""
    who = f"{family.name}, {family.network.activation}"
    off = [abs(_ratio(family, h) / family.ratio(h) - 1.0) for h in SIZES]
    flows = [_flow_error(family, h, loss) for h, loss in FLOWS.items()]
    powers = np.diff(np.log([_ratio(family, h) for h in SIZES])) / np.diff(np.log(SIZES))
    return [
        bound(f"{who}: the flow's limit against θ̃, over |θ̃|, at h = 1/2 and 1/4", max(flows), "<=",
              1e-6, ""),
        bound(f"{who}: part of the gradients of the margins across the plane of the flow, all h",
              max(_across(family, h) for h in SIZES), "<=", 1e-12, ""),
        bound(f"{who}: |θ̃|/|θ*| with the optimum computed, against the closed form",
              max(off), "<=", 1e-6, ""),
        fact(f"{who}: certificates of the optima and of θ̃ that the exact checker refuses",
             sum(_refused(family, h) for h in SIZES), 0, tried=len(SIZES)),
        fact(f"{who}: the last exponent of h in |θ̃|/|θ*| is -1/2, up to 1e-4",
             bool(abs(powers[-1] + 0.5) <= 1e-4), True),
        *(bound(f"{who}: |θ̃|/|θ*| for M = {m}, at h = 1/(4M²)", _ratio(family, 0.25 / m**2), ">=",
                m, "") for m in FACTORS),
        note(f"{who}: |θ̃|²/|θ*|²", family.rule),
        note(f"{who}: |θ̃|/|θ*| for h = 1e-1, ..., 1e-5", tuple(_ratio(family, h) for h in SIZES)),
    ]  # fmt: skip


def _both(family: object) -> list[Evidence]:
    assert callable(family)
    return [*unbounded(family("linear")), *unbounded(family("relu"))]


def _ratio(family: Family, h: float) -> float:
    """|theta~| / |theta*| with the optimum computed."""
    own = family.limit(h)[span(family.network, family.layer)]
    return float(np.sqrt(own @ own / _least(family, h)))


def _least(family: Family, h: float) -> float:
    """|theta*|^2, or that of the layer, computed."""
    X, y = family.data(h), family.labels(h)
    if family.layer is not None:
        return 2.0 * layer_optimum(family.network, family.limit(h), X, y, family.layer).value
    if _shares(family.network):
        return shared_filter_optimum(X[0].reshape(-1, 2), family.network.activation)
    theta = global_optimum(family.network, X, y).theta
    return float(theta @ theta)


def shared_filter_optimum(patches: NDArray, activation: str) -> float:
    """min |w|^2 + |v|^2 with sum_j v_j s(w.x_j) >= 1 for one datum of patches x_j (k, 2).

    By Cauchy-Schwarz it is 2 / max |s(A'w)| over |w| = 1. Along the circle the square is a
    quadratic form of w while the same patches are active, so that its maximum is at an eigenvector
    of the form of some active set, or where a patch turns on: all of these are tried.
    """
    k = len(patches)
    ends = np.stack([-patches[:, 1], patches[:, 0]], axis=1)
    tried = [*ends, *-ends]
    for size in range(1, k + 1):
        for chosen in combinations(range(k), size):
            vectors = np.linalg.svd(patches[list(chosen)])[2]
            tried += [*vectors, *-vectors]
    W = np.array(tried)
    inputs = (W / np.linalg.norm(W, axis=1, keepdims=True)) @ patches.T
    values = inputs if activation == "linear" else np.maximum(inputs, 0.0)
    return 2.0 / float(np.linalg.norm(values, axis=1).max())


def _shares(network: Network) -> bool:
    return any(np.any(np.bincount(g[g > 0].ravel()) > 1) for g in network.maps)


def _across(family: Family, h: float) -> float:
    """The largest share of a gradient of the summed margins that leads out of the span of the start
    and of theta~'s neurons, at points of it: the flow stays in this plane, or on this ray, where
    theta~ is the one KKT point."""
    network, X, start = family.network, family.data(h), family.start(h)
    limit_point, shares = family.limit(h), np.random.default_rng(0).uniform(0.5, 2.0, (8, 2))
    out = 0.0
    for share in shares:
        parts = _neurons(network, limit_point)
        theta = share[: len(parts)] @ parts + (start - _onto(parts, start))
        pull = network.gradient(theta, X, np.ones(len(X)))
        out = max(out, float(np.linalg.norm(pull - _onto(parts, pull)) / np.linalg.norm(pull)))
    return out


def _neurons(network: Network, theta: NDArray) -> NDArray:
    """theta's neurons that are not 0, each by itself: rows (k, p); one row for shared weights."""
    if _shares(network):
        return theta[None]
    W, v = network.weights(theta)
    rows = []
    for j in np.flatnonzero(v[0]):
        own = np.arange(len(W)) == j
        rows.append(network.parameters([np.where(own[:, None], W, 0.0), np.where(own, v, 0.0)]))
    return np.array(rows)


def _onto(rows: NDArray, vector: NDArray) -> NDArray:
    """The part of a vector (p,) in the span of orthogonal rows (k, p)."""
    return ((rows @ vector) / (rows**2).sum(axis=1)) @ rows


def _flow_error(family: Family, h: float, loss: str) -> float:
    X, y, exact = family.data(h), family.labels(h), family.limit(h)
    found = settled_limit(family.network, loss, X, y, family.start(h))
    return float(np.linalg.norm(found.theta - exact) / np.linalg.norm(exact))


def _refused(family: Family, h: float) -> int:
    """Certificates that do not prove what they say: of the optimum, and of the limit's verdict."""
    network, X, y, theta = family.network, family.data(h), family.labels(h), family.limit(h)
    cases: Sequence = [classify_optimum(network, theta, X, y, family.layer)]
    if family.layer is None and not _shares(network):
        cases = [*cases, global_optimum(network, X, y)]
    return sum(case.certificate is None
               or check(network, case.theta, X, y, case.certificate).verdict != case.verdict
               for case in cases)  # fmt: skip


def _inputs(family: Family) -> Evidence:
    """The least input of a hidden neuron in the limits, over the family."""
    inputs = [family.network.preactivations(family.limit(h), family.data(h))[0] for h in SIZES]
    least = float(np.abs(inputs).min())
    return bound(f"{family.name}: least |input| of a hidden neuron in θ̃", least, ">", 0.0, "")
