"""The exact checker: right certificates pass, and every planted wrong one is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.geometry import enumerate_cells
from reluflow.networks.indexed import Network, diagonal, fully_connected
from reluflow.papers.vardi2022margin.checker import (
    check,
    gradients,
    is_empty,
    missing,
    numbers,
    point,
)
from reluflow.papers.vardi2022margin.optimum import classify_optimum, global_optimum
from reluflow.papers.vardi2022margin.proofs import (
    Aligned,
    Cellwise,
    Certificate,
    Column,
    Layer,
    Shorter,
)

RNG = np.random.default_rng
SHARED = Network(
    (np.array([[1, 2, 0], [2, 0, 3]]), np.array([[1, 1], [2, 3], [0, 4]]), np.array([[2, 1, 1]]))
)


# --- The network in rational numbers --------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_margins_and_gradients_are_the_networks(activation: str) -> None:
    rng, y = RNG(0), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    for network in (fully_connected((3, 4, 2), activation), replace(SHARED, activation=activation)):
        theta, X = rng.normal(size=network.size), rng.normal(size=(5, 3))
        at, ends = point(network, theta, X, y), np.cumsum(network.sizes)[:-1]
        expected = y * network.output(theta, X)
        np.testing.assert_allclose(at.margins.astype(float), expected, rtol=1e-12, atol=1e-14)
        of_each = np.array([network.gradient(theta, X, each) for each in np.eye(5)])
        for layer, part in enumerate(np.split(of_each, ends, axis=1), start=1):
            np.testing.assert_allclose(gradients(at, layer).astype(float), part, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_missing_knows_the_cells(d: int) -> None:
    rng, lacking = RNG(d), 0
    for _ in range(30):
        X = rng.integers(-2, 3, (int(rng.integers(1, 6)), d)).astype(float)
        X = X[X.any(axis=1)]
        if not len(X):
            continue
        cells = {tuple(map(bool, p)) for p in enumerate_cells(X).patterns}
        rows = numbers(X)
        assert missing(rows, cells) is None
        # Whatever is left out is a cell with an interior, or nothing is proved to be one.
        for pattern in cells:
            assert missing(rows, cells - {pattern}) is not None
            lacking += 1
        for pattern in product([True, False], repeat=len(X)):
            signed = rows * np.where(pattern, 1, -1)[:, None]
            assert is_empty(signed) == (pattern not in cells)
    assert lacking > 50
    assert is_empty(numbers([[0.0] * d]))


# --- Shorter --------------------------------------------------------------------------------------


def shorter_case() -> tuple[Network, NDArray, NDArray, NDArray, Shorter]:
    """The limit of Theorem 4.1, and (sqrt(1 - e), sqrt(e / 2)) twice."""
    network, X = diagonal(2, 2, "linear"), np.array([[1.0, 2.0]])
    theta = np.array([1.0, 0.0, 1.0, 0.0])
    eps = 10.0 ** -np.arange(1, 9)
    points = np.stack([np.sqrt(1 - eps), np.sqrt(eps / 2)] * 2, axis=1)
    return network, theta, X, np.ones(1), Shorter(points)


def test_shorter_points_pass_at_any_scale() -> None:
    network, theta, X, y, proof = shorter_case()
    found = check(network, theta, X, y, proof)
    assert found.verdict == "not local"
    assert found.slack == pytest.approx(np.linalg.norm(proof.points[-1] - theta) / np.sqrt(2.0))
    for a, b in ((1e6, 1e-3), (1e-5, 7.0)):
        scaled = replace(proof, points=b * proof.points)
        assert check(network, a * theta, X, y, scaled).verdict == "not local"


SHORTER: dict[str, Callable[[Shorter], Shorter]] = {
    "none": lambda p: Shorter(p.points[:0]),
    "one longer": lambda p: replace(p, points=np.vstack([p.points[:-1], [[1, 0, 1, 1e-9]]])),
    "shorter by rounding": lambda p: replace(p, points=np.vstack([p.points, [[1, 1e-8] * 2]])),
    "the point itself": lambda p: replace(p, points=np.vstack([p.points[:-1], [[2, 0, 2, 0]]])),
    "infeasible": lambda p: replace(p, points=p.points * [-1, -1, 1, 1]),
    "going away": lambda p: replace(p, points=p.points[::-1]),
    "to and fro": lambda p: Shorter(p.points[[0, 7, 5]]),
    "far only": lambda p: Shorter(p.points[:2]),
    "another layer": lambda p: replace(p, layer=1),
    "no such layer": lambda p: replace(p, layer=0),
    "a parameter missing": lambda p: replace(p, points=p.points[:, :-1]),
}


def test_points_of_a_layer_are_measured_in_that_layer() -> None:
    # Theorem 5.3: the first layer turns; a longer second layer would not be noticed there.
    network = fully_connected((2, 4))
    X = np.array([[0.0, 1], [1, 0], [0, -1], [-1, 0]])
    theta = np.concatenate([X.ravel(), np.ones(4)])
    eps = 10.0 ** -np.arange(1, 7)
    W = np.stack([X + e * (np.array([[1.0, 0], [0, -1], [-1, 0], [0, 1]]) - X) for e in eps])
    points = np.hstack([W.reshape(len(eps), -1), np.ones((len(eps), 4))])
    proof = Shorter(points, 1)
    assert check(network, theta, X, np.ones(4), proof).verdict == "not local"
    for layer in (2, -1):
        other = replace(proof, layer=layer)
        assert check(network, theta, X, np.ones(4), other).verdict == "refused"
    # The network is of degree 1 in a layer: its length is no matter.
    longer = replace(proof, points=proof.points * np.repeat([3.0, 1.0], [8, 4]))
    assert check(network, theta, X, np.ones(4), longer).verdict == "not local"


# --- Cellwise -------------------------------------------------------------------------------------


def cellwise_case() -> tuple[Network, NDArray, NDArray, NDArray, Cellwise]:
    """Two data, a neuron along each and a third neuron that is 0: it could be in four columns."""
    network = fully_connected((2, 3))
    X, y = np.array([[0.0, 1.0], [0.0, -1.0]]), np.ones(2)
    theta = np.array([0, 1, 0, -1, 0, 0, 1, 1, 0.0])
    none, both = np.zeros(2, bool), np.ones(2, bool)
    up, down = np.array([True, False]), np.array([False, True])
    zero = np.zeros(2)
    free = tuple(Column(a, both, s, zero) for a in (up, down) for s in (1, -1))
    columns = (Column(up, none, 1, zero),), (Column(down, none, 1, zero),), free
    return network, theta, X, y, Cellwise(np.ones(2), columns, False)


def of_columns(proof: Cellwise, neuron: int, kept: Iterable[int], **changes: object) -> Cellwise:
    """The proof with some columns of a neuron, the first of which is changed."""
    columns = list(proof.columns)
    first, *rest = (columns[neuron][k] for k in kept)
    columns[neuron] = (replace(first, **changes), *rest)  # type: ignore[arg-type]
    return replace(proof, columns=tuple(columns))


def test_a_zero_neuron_is_looked_at_in_all_cells() -> None:
    network, theta, X, y, proof = cellwise_case()
    for scale in (1.0, 1e5, 1e-7):
        found = check(network, scale * theta, X, y, proof)
        assert found.verdict == "local"
        assert found.slack < 1e-15
    halved = replace(proof, multipliers=0.1 * np.ones(2))
    assert check(network, theta, X, y, halved).verdict == "local"


CELLWISE: dict[str, Callable[[Cellwise], Cellwise]] = {
    "negative multiplier": lambda p: replace(p, multipliers=np.array([1.0, -1.0])),
    "a multiplier too many": lambda p: replace(p, multipliers=np.ones(3)),
    "bad multipliers": lambda p: replace(p, multipliers=np.array([1.0, 0.5])),
    "a neuron is missing": lambda p: replace(p, columns=p.columns[:2]),
    "a neuron has no column": lambda p: replace(p, columns=(*p.columns[:2], ())),
    "claims all cells": lambda p: replace(p, everywhere=True),
    "another activity": lambda p: of_columns(p, 0, [0], active=np.array([False, True])),
    "dead": lambda p: of_columns(p, 0, [0], active=np.zeros(2, bool)),
    "another sign": lambda p: of_columns(p, 0, [0], sign=-1),
    "no sign": lambda p: of_columns(p, 0, [0], sign=0),
    "activity for granted": lambda p: of_columns(p, 2, range(4), rows=np.zeros(2, bool)),
    "half granted": lambda p: of_columns(p, 2, range(4), rows=np.array([True, False])),
    "slope of nothing": lambda p: of_columns(p, 0, [0], slopes=np.array([0.0, 0.5])),
    "negative slope": lambda p: of_columns(p, 2, range(4), slopes=np.array([-0.5, 0.0])),
    **{
        f"column {k} is missing": (lambda p, k=k: of_columns(p, 2, {*range(4)} - {k}))
        for k in range(4)
    },
}


def test_a_datum_that_a_neuron_cannot_see_excuses_no_cell() -> None:
    # The second neuron alone is longer; only without the active cell of the first is it the least.
    network, X, y = diagonal(2, 2), np.array([[0.0, 1.0], [1.0, 0.5]]), np.ones(2)
    yes, zero, lam = np.ones(2, bool), np.zeros(2), np.array([0.0, 2.0])
    kinds = [[Column(np.array([True, a]), yes, s, zero) for a in (True, False) for s in (1, -1)],
             [Column(a * yes, yes, s, zero) for a in (True, False) for s in (1, -1)]]  # fmt: skip
    longer = np.sqrt([0.0, 2.0, 0.0, 2.0])
    forged = Cellwise(lam, (tuple(kinds[0][2:]), tuple(kinds[1])), True)
    found = check(network, longer, X, y, forged)
    assert (found.verdict, found.detail) == ("refused", "a cell of a neuron is missing")
    best, lam = np.sqrt([0.5, 1.0, 0.5, 1.0]), np.array([0.5, 1.0])
    whole = Cellwise(lam, (tuple(kinds[0]), tuple(kinds[1])), True)
    assert check(network, best, X, y, whole).verdict == "global"


def kinked_case(slope: float = 1.0) -> Cellwise:
    """Two neurons, each on the boundary of the other's datum, whose label pushes it away there."""
    columns = []
    for j, sign in enumerate((1, -1)):
        other = np.arange(2) != j
        off = Column(~other, other, sign, np.zeros(2))
        columns.append((Column(np.ones(2, bool), other, sign, slope * other), off))
    return Cellwise(np.ones(2), tuple(columns), False)


def test_slopes_help_where_they_are_conditions() -> None:
    network, theta = fully_connected((2, 2)), np.array([0, 1, 1, 0, 1, -1.0])
    X, y = np.eye(2)[::-1], np.array([1.0, -1.0])
    assert check(network, theta, X, y, kinked_case()).verdict == "local"
    for slope in (0.0, 0.9, 1.1, -1.0):
        assert check(network, theta, X, y, kinked_case(slope)).verdict == "refused"


def test_what_is_nearly_a_kink_is_one() -> None:
    network, X, y = fully_connected((2, 2)), np.eye(2)[::-1], np.array([1.0, -1.0])
    proof = kinked_case()
    for turn, other_sides in ((1e-12, True), (1e-7, False)):
        theta = np.array([turn, 1, 1, turn, 1, -1.0])
        assert check(network, theta, X, y, proof).verdict == "local"
        # Without the cells on the other side of the boundary that is near, or is not.
        fewer = replace(proof, columns=tuple((c[0],) for c in proof.columns))
        found = check(network, theta, X, y, fewer).verdict
        assert found == ("refused" if other_sides else "local")


def test_a_neuron_without_an_outgoing_weight_has_no_sign() -> None:
    network, theta, X, y, proof = cellwise_case()
    theta[5] = 1e-5
    found = check(network, theta, X, y, of_columns(proof, 2, (1, 3)))  # those of the sign -1
    assert "no outgoing one" in found.detail


def test_shared_weights_would_break_the_bound() -> None:
    network = Network((np.array([[1], [1]]), np.array([[1, 2]])), "linear")
    on, no = np.array([True]), np.array([False])
    columns = ((Column(on, no, 1, np.zeros(1)),),) * 2
    proof = Cellwise(np.ones(1), columns, True)
    found = check(network, np.ones(3), np.ones((1, 1)), np.ones(1), proof)
    assert "without shared weights" in found.detail
    apart = Network((np.array([[1], [2]]), np.array([[1, 2]])), "linear")
    assert check(apart, np.ones(4), np.ones((1, 1)), np.ones(1), proof).verdict == "global"


def test_multipliers_that_cancel_are_refused() -> None:
    network, (theta, y), X = fully_connected((1, 1), "linear"), np.ones((2, 2)), np.ones((2, 1))
    on, no = np.ones(2, bool), np.zeros(2, bool)
    column = Column(on, no, 1, np.zeros(2))
    for weights, expected in (([1.0, 0.0], "global"), ([2.0, -1.0], "refused")):
        proof = Cellwise(np.array(weights), ((column,),), True)
        assert check(network, theta, X, y, proof).verdict == expected


def test_a_linear_network_has_no_conditions() -> None:
    # A condition of no cell would shorten (1, 2) to a unit vector, and the bound would be met.
    network, theta = fully_connected((2, 1), "linear"), np.array([1.0, 0.0, 1.0])
    X, y = np.array([[1.0, 2.0], [-1.0, -2.0]]), np.array([1.0, -1.0])
    slopes = np.array([0.0, 1.0 - np.sqrt(0.2)])
    column = Column(np.ones(2, bool), np.ones(2, bool), 1, slopes)
    proof = Cellwise(np.full(2, 0.5), ((column,),), True)
    assert "no condition" in check(network, theta, X, y, proof).detail


# --- Aligned --------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_the_bound_of_linear_networks(depth: int) -> None:
    network = fully_connected((2, *[1] * (depth - 1)), "linear")
    theta = np.concatenate([[3.0, 4.0], 5.0 * np.ones(depth - 1)])
    X, y = np.array([[0.6, 0.8], [6.0, 8.0]]), np.ones(2)
    proof = Aligned(np.array([2.0, 0.0]))
    found = check(network, theta, X, y, proof)
    assert found.verdict == "global"
    assert found.slack < 1e-15
    for bad in ([0.0, 1.0], [-2.0, 0.0], [0.0, 0.0], [1.0], [1.0, 1.0]):
        assert check(network, theta, X, y, Aligned(np.array(bad))).verdict == "refused"
    unequal = theta * np.concatenate([[1.1, 1.1], np.ones(depth - 1)])
    assert check(network, unequal, X, y, proof).verdict == "refused"
    # Layers that are nearly equal: the share is that of the squared lengths.
    near = theta * np.concatenate([[1.0003, 1.0003], np.ones(depth - 1)])
    share = depth * (1.0003 * 5.0**depth) ** (2.0 / depth) / (near @ near)
    assert check(network, near, X, y, proof).slack == pytest.approx(1.0 - share, rel=1e-4)
    relu = replace(network, activation="relu")
    assert check(relu, theta, X, y, proof).verdict == "refused"
    found = check(diagonal(2, depth, "linear"), np.ones(2 * depth), X, y, proof)
    assert "fully connected" in found.detail


# --- Layer ----------------------------------------------------------------------------------------


def layer_case() -> tuple[Network, NDArray, NDArray, NDArray, Layer]:
    """Lemma C.6: two neurons, whose inputs are not 0."""
    X = np.array([[1.0, 0.25], [-1.0, 0.25], [0.0, -1.0]])
    theta = np.array([0, 2, 0, -1, 2, 1.0])
    return fully_connected((2, 2)), theta, X, np.ones(3), Layer(1, np.array([2.0, 2.0, 1.0]))


def test_a_layer_in_the_cell_of_theta() -> None:
    network, theta, X, y, proof = layer_case()
    for layer, verdict in ((1, "local"), (2, "global")):
        for scale in (1.0, 3.0, 1e-4):
            found = check(network, scale * theta, X, y, replace(proof, layer=layer))
            assert found.verdict == verdict
            assert found.slack < 1e-15
    # The bound of a dual point is that of its best multiple.
    other = replace(proof, multipliers=0.3 * proof.multipliers)
    assert check(network, theta, X, y, other).verdict == "local"


LAYER: dict[str, Callable[[Layer], Layer]] = {
    "no such layer": lambda p: replace(p, layer=3),
    "negative multiplier": lambda p: replace(p, multipliers=np.array([4.0, -4.0, 1.0])),
    "bad multipliers": lambda p: replace(p, multipliers=np.array([4.0, 1.0, 1.0])),
    "none": lambda p: replace(p, multipliers=np.zeros(3)),
    "a multiplier too many": lambda p: replace(p, multipliers=np.ones(4)),
}


def test_an_input_0_in_the_layer_or_above_it_is_refused() -> None:
    network, X, y = fully_connected((1, 1, 2)), np.ones((1, 1)), np.ones(1)
    theta = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    for layer, verdict in ((1, "refused"), (2, "refused"), (3, "global")):
        assert check(network, theta, X, y, Layer(layer, np.ones(1))).verdict == verdict
    # Below the layer it may be 0, and where a unit sees nothing whatever its weights are.
    alone, dead = diagonal(2, 2), np.array([1.0, 0.0, 1.0, 0.0])
    unseen = np.array([[1.0, 0.0]])
    assert check(alone, dead, unseen, y, Layer(1, np.ones(1))).verdict == "local"
    # Two data that are one: multipliers 2 and -1 give what 1 and 0 do, and are refused.
    twice = Layer(3, np.array([2.0, -1.0]))
    assert check(network, theta, np.ones((2, 1)), np.ones(2), twice).verdict == "refused"


# --- All of them ----------------------------------------------------------------------------------

FAULTS = [(shorter_case, SHORTER), (cellwise_case, CELLWISE), (layer_case, LAYER)]


@pytest.mark.parametrize(("case", "fault"), [(c, f) for c, own in FAULTS for f in own.items()])
def test_a_proof_with_a_fault_is_refused(case: Callable, fault: tuple[str, Callable]) -> None:
    network, theta, X, y, proof = case()
    assert check(network, theta, X, y, fault[1](proof)).verdict == "refused"


def test_a_point_that_errs_is_refused_and_bad_arrays_are_an_error() -> None:
    network, theta, X, y, proof = shorter_case()
    proofs: list[Certificate] = [proof, Aligned(np.ones(1)), cellwise_case()[-1], layer_case()[-1]]
    for each in proofs:
        assert "classify" in check(network, theta, X, -y, each).detail
    for bad in (np.ones(3), np.full(4, np.nan)):
        with pytest.raises(InputError):
            check(network, bad, X, y, proof)
    with pytest.raises(InputError):
        check(network, theta, X, 2.0 * y, proof)


def test_the_engines_certificates_pass() -> None:
    rng, seen = RNG(5), set()
    for number in range(20):
        d, h = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        network = fully_connected((d, h), ("relu", "linear")[number % 2])
        n = int(rng.integers(1, 5))
        whole = rng.integers(-2, 3, (n, d)).astype(float)
        X = whole if rng.integers(2) else rng.normal(size=(n, d))
        y = rng.choice([-1.0, 1.0], n)
        try:
            best = global_optimum(network, X, y)
        except InputError:
            continue
        assert check(network, best.theta, X, y, best.certificate).verdict == "global"
        for layer in (None, 1, 2):
            for theta in (best.theta, best.theta + 0.1 * rng.normal(size=network.size)):
                if np.min(y * network.output(theta, X)) <= 0.0:
                    continue
                found = classify_optimum(network, theta, X, y, layer)
                if found.certificate is not None:
                    again = check(network, found.theta, X, y, found.certificate)
                    assert again.verdict == found.verdict
                    seen.add((type(found.certificate).__name__, found.verdict))
    assert {("Shorter", "not local"), ("Cellwise", "global"), ("Layer", "global")} <= seen
