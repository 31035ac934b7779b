"""Optima of the margin problem, against direct minimisation and answers that are known; the exact
checker of their certificates passes right ones, and refuses every planted wrong one."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.geometry import enumerate_cells
from reluflow.margin.max_margin import least_length
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from reluflow.papers.vardi2022margin import checker, local_optima, setting, two_layers
from reluflow.papers.vardi2022margin.checker import Cellwise, Layer, Shorter, check, point
from reluflow.papers.vardi2022margin.constructions import values
from reluflow.papers.vardi2022margin.setting import classify_optimum, global_optimum
from scipy.optimize import minimize

RNG = np.random.default_rng
WIDE = np.array([[1.0, 0.25], [-1.0, 0.25]])
DEAD = np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])
HALF = 2.0**-0.5


def descended(network, X, y, rng, starts) -> list[NDArray]:
    """Feasible parameters that SciPy's SLSQP finds from random starts."""
    found = []
    for _ in range(starts):
        run = minimize(
            lambda t: 0.5 * t @ t,
            2.0 * rng.normal(size=network.size),
            jac=lambda t: t,
            constraints={
                "type": "ineq",
                "fun": lambda t: y * network.output(t, X) - 1.0,
                "jac": lambda t: y[:, None] * network.rates(t, X, np.eye(network.size))[1].T,
            },
            method="SLSQP",
            options={"maxiter": 100, "ftol": 1e-14},
        )
        point = local_optima.fitted(network, run.x, X, y, None)
        if point is not None:
            found.append(point)
    return found


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_data_in_any_unit(unit: float) -> None:
    """A power of two in the data changes nothing, exactly; Problem (2) scales by its root."""
    net, theta, X = (c := setting.lemma_C_6()).network, c.limit, c.X
    here, there = (classify_optimum(net, theta, c * X, np.ones(3)) for c in (1.0, unit))
    assert here.verdict == there.verdict == "local"
    best, same = (global_optimum(net, c * X, np.ones(3)).theta for c in (1.0, unit))
    assert np.array_equal(best, same * unit**0.5)


def test_points_that_are_refused() -> None:
    net = fully_connected([2, 2])
    with pytest.raises(InputError, match="classify every datum"):
        classify_optimum(net, -np.ones(6), WIDE, [1, 1])
    with pytest.raises(InputError, match="layer must be from 1 to 2, not 3"):
        classify_optimum(net, DEAD, WIDE, [1, 1], layer=3)
    with pytest.raises(InputError, match="without shared weights"):
        global_optimum(convolutional(2, 2), [[4, HALF, -4, HALF]], [1])
    for none in (np.zeros((0, 2)), [[1e160, 0.0]], [[1e-160, 0.0]], [[np.nan, 0.0]]):
        with pytest.raises(InputError, match=r"no data|another unit"):
            global_optimum(net, none, np.ones(len(none)))
        with pytest.raises(InputError, match=r"no data|another unit"):
            classify_optimum(net, DEAD, none, np.ones(len(none)))
    with pytest.raises(InputError, match="no parameters"):
        global_optimum(net, [[1, 0], [1, 0]], [1, -1])


def problem(seed: int) -> tuple[Network, NDArray, NDArray, np.random.Generator]:
    """A small network of depth 2, full or sparse, and data that it can classify or not."""
    rng = RNG(seed)
    d, k, n = (int(rng.integers(1, high)) for high in (4, 4, 5))
    there = (rng.random((k, d)) < 0.7) | (np.arange(d) == 0)
    maps = np.zeros((k, d), int)
    maps[there] = np.arange(1, there.sum() + 1)
    network = Network((maps, np.arange(1, k + 1)[None]), rng.choice(["relu", "linear"]))
    X = rng.normal(size=(n, d)) if rng.random() < 0.5 else rng.integers(-3, 4, (n, d)).astype(float)
    return network, X, rng.choice([-1.0, 1.0], n), rng


@pytest.mark.long
def test_what_is_certified_is_so() -> None:
    """By the exact checker; no descent ends below a global optimum, nothing near a local one is
    shorter."""
    seen = set()
    for seed in range(24):
        network, X, y, rng = problem(seed)
        points = ends = descended(network, X, y, rng, 2)
        with suppress(InputError):  # too few neurons, or none will do
            best = global_optimum(network, X, y)
            assert check(network, best.theta, X, y, best.certificate).verdict == "global"
            value = values(network, best.theta, X, y)
            assert min((float(t @ t) for t in ends), default=value) >= value * (1.0 - 1e-7)
            assert classify_optimum(network, best.theta, X, y).verdict in ("global", "local")
            points = [*ends, best.theta, best.theta + 0.1 * rng.normal(size=network.size)]
        for theta, layer in product(points, (None, 1, 2)):
            if not np.isfinite(values(network, theta, X, y)):
                continue
            found = classify_optimum(network, theta, X, y, layer)
            if found.certificate is not None:
                again = check(network, found.theta, X, y, found.certificate)
                assert again.verdict == found.verdict
                seen.add((type(found.certificate), found.verdict))
            if layer is None and found.verdict in ("global", "local"):
                least = float(found.theta @ found.theta) * (1.0 - 2e-7)
                for size in (1e-2, 1e-3):
                    shifts = size * rng.normal(size=(100, network.size))
                    costs = values(network, theta + shifts, X, y)
                    assert not (costs < least).any()  # NaN where a datum is on the wrong side
    assert seen == {(Shorter, "not local"), *product((Cellwise, Layer), ("global", "local"))}


@pytest.mark.parametrize("n", [6, 7])
def test_as_many_columns_as_data_are_enough(n: int) -> None:
    """Labels that alternate: the program splits a vector between the cells that it bounds."""
    rng = RNG(2)
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2, -1.0, 1.0)
    best = global_optimum(fully_connected([2, n]), X, y)
    assert best.verdict == "global"
    assert check(fully_connected([2, n]), best.theta, X, y, best.certificate).verdict == "global"
    with pytest.raises(InputError, match="too few"):
        global_optimum(fully_connected([2, 3]), X, y)
    for X in (WIDE, [[1, -3], [-1, 0]]):  # One serves both data; two could do better.
        with pytest.raises(InputError, match="too few"):
            global_optimum(fully_connected([2, 1]), X, [1, 1])


def test_a_bound_is_that_of_the_dual_point() -> None:
    """The program's own value is off by 4e-7 where data with labels in turn hardly differ, and what
    saves less than 1e-7 of a value does not tell."""
    net, y = fully_connected([2, 7]), np.where(np.arange(6) % 2, -1.0, 1.0)
    for seed in (2, 10, 14, 18, 22, 29):
        X = [1.0, 0.0] + 1e-3 * RNG(seed).normal(size=(6, 2))
        found = classify_optimum(net, global_optimum(net, X, y).theta, X, y)
        if found.certificate is not None:
            again = check(net, found.theta, X, y, found.certificate)
            assert again.verdict == found.verdict
            assert (found.saved > 1e-7) == (found.verdict == "not local")


def test_too_many_cells_are_undecided_in_one_sentence() -> None:
    """One neuron serves all data. An idle one could be in any cell; alone it is in one."""
    X = 0.3 * RNG(0).normal(size=(60, 8))
    X[:, 0] = 1.0
    u = least_length(X, np.ones(60)).blocks[0]
    own = np.append(u, np.linalg.norm(u)) / np.linalg.norm(u) ** 0.5
    with_idle = np.concatenate([own[:-1], np.zeros(8), own[-1:], [0.0]])
    for width, theta, verdict, told in (
        (2, with_idle, "undecided", "cells, and 10000 are the limit"),
        (1, own, "local", "whether it is a global one was not asked"),
    ):
        found = classify_optimum(fully_connected([8, width]), theta, X, np.ones(60))
        assert (found.verdict, found.certificate is None) == (verdict, width == 2)
        assert told in found.detail
    with pytest.raises(InputError, match="up to 800 cells are too many for 400 data"):
        two_layers.neurons(fully_connected([2, 3]), RNG(0).normal(size=(400, 2)))


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_a_point_that_saves_a_ten_millionth_is_no_optimum(activation: str) -> None:
    """Theorem 4.1's for x = (1, 1 + 2e-7), nor has it the optimum's proof; nor is a layer one that
    is turned by 5e-4."""
    net, theta, X = diagonal(2, 2, activation), np.array([1.0, 0, 1, 0]), [[1.0, 1.0 + 2e-7]]
    found = classify_optimum(net, theta, X, [1])
    assert found.verdict == check(net, theta, X, [1], found.certificate).verdict == "not local"
    best = global_optimum(net, X, [1]).certificate
    assert check(net, theta, X, [1], best).verdict == "refused"
    turned = theta + 5e-4 * np.eye(4)[1]
    assert classify_optimum(net, turned, X, [1], 1).verdict == "not local"
    assert check(net, turned, X, [1], Layer(1, np.ones(1))).verdict == "refused"
    # A turn by 1e-6 saves 1e-12: less than what a limit's margins may be off.
    assert classify_optimum(net, theta + 1e-6 * np.eye(4)[1], X, [1], 1).verdict == "undecided"


PATH = Network((np.ones((1, 1), int),) * 3, "relu")
UNSEEN = Network((np.array([[1], [2]]), np.array([[1, 0]])), "linear")
TURNED = Network((np.array([[1, 0]]), np.array([[1], [2]]), np.array([[1, 2]])), "linear")


@pytest.mark.parametrize(
    ("network", "theta", "x", "verdict"),
    [
        *((fully_connected([2, 1]), theta, [0.0, 1.0], "not local")  # not balanced
          for theta in ([0, 4, 1.0], [0, 1.01, 1.0], [0, 1, 4.0])),
        (UNSEEN, [1, 0.5, 1], [1.0], "not local"),  # a neuron that reaches no output
        (UNSEEN, [1, 0.0, 1], [1.0], "global"),
        (PATH, [1.0, 1, 1], [1.0], "local"),  # x v u w = 1: the optimum, up to its signs
        (PATH, [2.0, 1, 0.5], [1.0], "not local"),
        # Hidden units may be turned, and a weight is missing, so that no bound speaks of it: a
        # linear network has no idle unit that might be revived.
        (TURNED, [1.0, 1, 0, 1, 0], [1.0, 2.0], "undecided"),
    ],
)  # fmt: skip
def test_what_a_small_point_is(network: Network, theta: list, x: list, verdict: str) -> None:
    found = classify_optimum(network, theta, [x], [1])
    assert found.verdict == verdict
    assert (found.certificate is None) == (verdict in ("local", "undecided"))


@pytest.mark.parametrize("other", [[2.0, 0.0], [0.0, 2.0]])
def test_a_datum_without_a_multiplier_leaves_one_way_down(other: list) -> None:
    """Theorem 5.1's tie falls to either side; a second datum of margin 1 forbids one of them."""
    found = classify_optimum(diagonal(2, 3, "linear"), np.ones(6), [[1.0, 1.0], other], [1, 1])
    assert found.verdict == "not local"


def test_inputs_that_are_0_or_count_as_0() -> None:
    """A unit that sees nothing of a datum has no kink there. Margins that hang on inputs which
    count as 0 decide nothing: without an active datum SciPy's least squares end the process."""
    shared = Network((np.array([[1, 1, 0], [0, 0, 2]]), np.array([[1, 2]])))
    assert classify_optimum(shared, [0, 1, 0, 1], [[0, 0, 1.0]], [1], 1).verdict == "local"
    tiny = [0, 2, 1, 1e-10, 1, -1e10]
    assert classify_optimum(fully_connected([2, 2]), tiny, [[0, 1.0]], [1], 2).certificate is None


MANY = np.vstack([c * WIDE * [1.0, 1.0 + s] for c in (1.0, 2.0, 3.0) for s in (0.0, 0.5)])


def test_a_dead_neuron_below_a_deeper_layer_is_found() -> None:
    """Theorem 3.2 with one more layer: the dead neuron shortens the point; few cells are tried."""
    net, c, y, X = fully_connected([2, 2, 1]), 4.0 ** (1 / 3), np.ones(len(MANY)), MANY
    theta = np.array([0, c, 0, 0, c, 0, c])
    found = classify_optimum(net, theta, X, y)
    assert found.verdict == "not local"
    again = check(net, theta, X, y, found.certificate)
    assert again.verdict == "not local"
    assert again.slack < 1e-4


def test_a_layer_of_idle_units_behind_a_kink() -> None:
    """What is drawn is drawn alike each time."""
    rng = RNG(4)
    net, X = fully_connected([3, 3, 3]), np.array([2.0, 0.0, 0.0]) + rng.normal(size=(9, 3))
    theta = np.zeros(net.size)
    theta[0], theta[9], theta[18] = 1.0, 1.0, 1.0
    first, second = (classify_optimum(net, theta, X, np.ones(9)) for _ in range(2))
    assert first.verdict == second.verdict == "not local"
    assert np.array_equal(first.certificate.points, second.certificate.points)


@pytest.mark.parametrize("strict", [[True, True], [False, True], [True, False]])
def test_a_strict_optimum_of_one_of_two_cells_is_none_of_both(strict, monkeypatch) -> None:
    """The certificate speaks of one smooth cell, and around a kink there are more."""
    proofs = iter(strict)
    monkeypatch.setattr(local_optima, "adjacent", lambda *_: [[], []])
    monkeypatch.setattr(local_optima, "_in_cell", lambda *_: next(proofs))
    monkeypatch.setattr(local_optima, "_revived", lambda *_: None)
    theta = np.array([1.0, 0.0, 1.0, 0.0])
    network = diagonal(2, 2, "linear")
    assert not local_optima.local_proof(network, theta, np.array([[1.0, 2.0]]), np.ones(1))


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
            np.testing.assert_allclose(checker.gradients(at, layer).astype(float), part, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_missing_knows_the_cells(d: int) -> None:
    rng = RNG(d)
    for _ in range(30):
        X = rng.integers(-2, 3, (int(rng.integers(1, 6)), d)).astype(float)
        X = X[X.any(axis=1)]
        if not len(X):
            continue
        cells = {tuple(map(bool, p)) for p in enumerate_cells(X).patterns}
        rows = checker.numbers(X)
        assert checker.missing(rows, cells) is None
        # Whatever is left out is a cell with an interior, or nothing is proved to be one.
        for pattern in cells:
            assert checker.missing(rows, cells - {pattern}) is not None
        for pattern in product([True, False], repeat=len(X)):
            signed = rows * np.where(pattern, 1, -1)[:, None]
            assert checker.is_empty(signed) == (pattern not in cells)
    assert checker.is_empty(checker.numbers([[0.0] * d]))


@pytest.mark.parametrize("third", [1, -1])
def test_floats_propose_rows_and_signs_decide(third: int, monkeypatch) -> None:
    """(1, 1, -third) is the one null vector of the rows, whatever least squares take it for."""
    monkeypatch.setattr(checker, "nnls", lambda *given: (np.ones(3), 0.0))
    assert checker.is_empty(checker.numbers([[1, 0], [0, 1], [third, third]])) == (third < 0)


# --- Shorter --------------------------------------------------------------------------------------


def shorter_case() -> tuple[Network, NDArray, NDArray, NDArray, Shorter]:
    """The limit of Theorem 4.1, and (sqrt(1 - e), sqrt(e / 2)) twice."""
    c = setting.theorem_4_1()
    return c.network, c.limit, c.X, c.y, Shorter(nearer(c, 8))


def nearer(c: setting.Construction, count: int) -> NDArray:
    return c.better(10.0 ** -np.arange(1.0, count + 1.0))


# Each fault under the checker's own reason: what is refused for another shows nothing.
SHORTER: list[tuple[str, Callable[[Shorter], Shorter]]] = [
    ("no shorter point", lambda p: Shorter(p.points[:0])),
    ("not shorter", lambda p: replace(p, points=np.vstack([p.points, [[1, 1e-8] * 2]]))),
    ("not classify", lambda p: replace(p, points=p.points * [-1, -1, 1, 1])),
    ("nearer and nearer", lambda p: Shorter(p.points[[0, 7, 5]])),
    ("nearer and nearer", lambda p: Shorter(p.points[[0, 7, 7]])),
    ("no shorter point", lambda p: Shorter(p.points[:2])),
    ("in another layer", lambda p: replace(p, layer=1)),
    ("no such layer", lambda p: Shorter(np.array([[1.0, 0.0, 1.0, 0.0]]), 0)),
    ("as many parameters", lambda p: replace(p, points=p.points[:, :-1])),
]


# --- Cellwise -------------------------------------------------------------------------------------


def column(active, rows, sign=1, slopes=0.0) -> checker.Column:
    on = np.array(active, bool)
    return checker.Column(on, np.array(rows, bool), sign, np.array(slopes) * np.ones(len(on)))


def cellwise_case() -> tuple[Network, NDArray, NDArray, NDArray, Cellwise]:
    """Two data, a neuron along each and a third neuron that is 0: it could be in four columns."""
    network = fully_connected((2, 3))
    X, y = np.array([[0.0, 1.0], [0.0, -1.0]]), np.ones(2)
    theta = np.array([0, 1, 0, -1, 0, 0, 1, 1, 0.0])
    up, down, none, both = [1, 0], [0, 1], [0, 0], [1, 1]
    free = tuple(column(a, both, s) for a in (up, down) for s in (1, -1))
    columns = (column(up, none),), (column(down, none),), free
    return network, theta, X, y, Cellwise(np.ones(2), columns, False)


def of_columns(proof: Cellwise, neuron: int, kept: Iterable[int], **changes: object) -> Cellwise:
    """The proof with some columns of a neuron, the first of which is changed."""
    columns = list(proof.columns)
    first, *rest = (columns[neuron][k] for k in kept)
    columns[neuron] = (replace(first, **changes), *rest)  # type: ignore[arg-type]
    return replace(proof, columns=tuple(columns))


CELL = "a cell of a neuron is missing"
CELLWISE: list[tuple[str, Callable[[Cellwise], Cellwise]]] = [
    ("larger than the value", lambda p: replace(p, multipliers=np.zeros(2))),
    ("every neuron", lambda p: replace(p, columns=p.columns[:2])),
    ("every neuron", lambda p: replace(p, columns=(*p.columns[:2], ()))),
    ("taken for granted", lambda p: replace(p, everywhere=True)),
    (CELL, lambda p: of_columns(p, 0, [0], active=np.ones(2, bool))),
    (CELL, lambda p: of_columns(p, 0, [0], active=np.zeros(2, bool))),
    ("for granted", lambda p: of_columns(p, 2, range(4), rows=np.array([True, False]))),
    ("negative", lambda p: of_columns(p, 2, range(4), slopes=np.array([-0.5, 0.0]))),
    (CELL, lambda p: of_columns(p, 2, [1, 2, 3])),
    (CELL, lambda p: of_columns(p, 2, [0, 1, 2])),
]


# --- Aligned --------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_the_bound_of_linear_networks(depth: int) -> None:
    network = fully_connected((2, *[1] * (depth - 1)), "linear")
    theta = np.concatenate([[3.0, 4.0], 5.0 * np.ones(depth - 1)])
    X, y = np.array([[0.6, 0.8], [6.0, 8.0]]), np.ones(2)
    proof = checker.Aligned(np.array([2.0, 0.0]))
    found = check(network, theta, X, y, proof)
    assert found.verdict == "global"
    assert found.slack < 1e-15
    for bad in ([0.0, 1.0], [-2.0, 0.0], [0.0, 0.0], [1.0], [1.0, 1.0]):
        assert check(network, theta, X, y, checker.Aligned(np.array(bad))).verdict == "refused"
    unequal = theta * np.concatenate([[1.1, 1.1], np.ones(depth - 1)])
    assert check(network, unequal, X, y, proof).verdict == "refused"
    best, worse = (classify_optimum(network, at, X, y) for at in (theta, unequal))
    assert (best.verdict, worse.verdict) == ("global", "not local")
    assert isinstance(best.certificate, checker.Aligned if depth > 2 else Cellwise)
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
    c = setting.lemma_C_6()
    return c.network, c.limit, c.X, c.y, Layer(1, np.array([2.0, 2.0, 1.0]))


LAYER: list[tuple[str, Callable[[Layer], Layer]]] = [
    ("no such layer", lambda p: replace(p, layer=3)),
    ("does not meet", lambda p: replace(p, multipliers=np.array([4.0, 1.0, 1.0]))),
    ("larger than the value", lambda p: replace(p, multipliers=np.zeros(3))),
    ("as many as the data", lambda p: replace(p, multipliers=np.ones(4))),
]


# --- All of them ----------------------------------------------------------------------------------

RIGHT = [(shorter_case, "not local", 0.5**0.5 * 1e-4), (cellwise_case, "local", 0.0),
         (layer_case, "local", 0.0)]  # fmt: skip


@pytest.mark.parametrize(("case", "verdict", "slack"), RIGHT)
@pytest.mark.parametrize("scale", [1.0, 1e5, 1e-7])
def test_a_right_proof_passes_at_any_scale(case, verdict: str, slack: float, scale: float) -> None:
    """Of theta and of the proof: the bound of a dual point is that of its best multiple."""
    network, theta, X, y, proof = case()
    part = "points" if isinstance(proof, Shorter) else "multipliers"
    for each in (proof, replace(proof, **{part: 0.3 * getattr(proof, part)})):
        found = check(network, scale * theta, X, y, each)
        assert (found.verdict, found.slack) == (verdict, pytest.approx(slack, rel=1e-3, abs=1e-15))


FAULTS = [(shorter_case, SHORTER), (cellwise_case, CELLWISE), (layer_case, LAYER)]


@pytest.mark.parametrize(("case", "told", "fault"), [(c, *f) for c, own in FAULTS for f in own])
def test_a_proof_with_a_fault_is_refused(case: Callable, told: str, fault: Callable) -> None:
    network, theta, X, y, proof = case()
    found = check(network, theta, X, y, fault(proof))
    assert (found.verdict, told in found.detail) == ("refused", True)


def kinked(slope: float = 1.0, turn: float = 0.0, cells: int = 2, rows: bool = True) -> tuple:
    """Two neurons, each on the boundary of the other's datum, but for a turn, whose label pushes it
    away there; of each one cell, or both. Scaled, as a point of any length is the same."""
    theta, columns = 1e4 * np.array([turn, 1, 1, turn, 1, -1.0]), []
    for other, sign in ((np.array([0, 1]), 1), (np.array([1, 0]), -1)):
        own = column([1, 1], rows * other, sign, slope * other), column(1 - other, other, sign)
        columns.append(own[:cells])
    proof = Cellwise(np.ones(2), tuple(columns), False)
    return fully_connected((2, 2)), theta, np.eye(2)[::-1], np.array([1.0, -1.0]), proof


def shorter_in(layer: int, longer: float) -> tuple:
    c = setting.theorem_4_2()
    points = nearer(c, 6) * np.repeat([longer, 1.0], [8, 4])
    return c.network, c.limit, c.X, c.y, Shorter(points, layer)


def without_its_outgoing() -> tuple:
    """A neuron that has incoming weights alone, with its columns of the sign -1."""
    network, theta, X, y, proof = cellwise_case()
    return network, theta + 1e-5 * np.eye(9)[5], X, y, of_columns(proof, 2, (1, 3))


def all_cells(*kept: int) -> Cellwise:
    """Of a diagonal network on (0, 1) and (1, 1/2), of which the first neuron sees one alone; some
    columns of that, of which 1 and 3 are active."""
    one, two = ([column(a, [1, 1], s) for s in (1, -1) for a in sides]
                for sides in (([1, 0], [1, 1]), ([1, 1], [0, 0])))  # fmt: skip
    return Cellwise(np.array([0.0, 2.0]), (tuple(one[k] for k in kept), tuple(two)), True)


SAME = Network((np.array([[1], [1]]), np.array([[1, 2]])), "linear")
APART = Network((np.array([[1], [2]]), np.array([[1, 2]])), "linear")
LINE, DEEP, ONE = fully_connected((1, 1), "linear"), fully_connected((1, 1, 2)), np.ones(1)
IDLE = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
EACH = Cellwise(ONE, ((column([1], [0]),),) * 2, True)
ON = column([1, 1], [0, 0])
TOLD: list[tuple[tuple[Any, ...], str]] = [
    # Theorem 5.3: the first layer turns, at any length.
    (shorter_in(1, 1.0), "not local"), (shorter_in(1, 3.0), "not local"),
    (shorter_in(-1, 1.0), "no such layer"),
    *((kinked(slope), told) for slope, told in ((1.0, "local"), (0.9, "meet"), (1.1, "meet"))),
    # The cells on the other side are needed where the boundary is near.
    *((kinked(turn=turn), "local") for turn in (1e-10, 1e-8)),
    (kinked(turn=1e-10, cells=1), CELL), (kinked(turn=1e-8, cells=1), "local"),
    (kinked(turn=1e-8, cells=1, rows=False), "no condition"),
    (without_its_outgoing(), "no outgoing one"),
    # Only without the active cells of the first neuron is (0, 2) the least.
    *(((diagonal(2, 2), np.sqrt([0, 2, 0, 2]), [[0, 1], [1, 0.5]], np.ones(2), proof), told)
      for proof, told in ((all_cells(0, 2), CELL), (all_cells(0, 1, 2, 3), "does not meet"))),
    ((SAME, np.ones(3), [[1]], ONE, EACH), "without shared weights"),
    ((DEEP, IDLE, [[1]], ONE, EACH), "depth 2"),
    ((APART, np.ones(4), [[1]], ONE, EACH), "global"),
    # Data that are one, with multipliers that cancel; a datum of half the margin; a column of no
    # sign, which would halve a vector.
    *(((LINE, theta, X, np.ones(len(X)), Cellwise(np.array(weights), ((on,),), True)), told)
      for theta, X, weights, on, told in (
          ([1, 1], [[1], [1]], [1, 0], ON, "global"), ([1, 1], [[1], [1]], [2, -1], ON, "negative"),
          ([1, 1], [[1], [0.5]], [1, 0], ON, "does not meet"),
          ([2, 0.5], [[1]], [1], column([1], [0], 8 / 17), "no sign"))),
    # A condition of no cell would shorten (1, 2) to a unit vector, and the bound would be met.
    ((fully_connected((2, 1), "linear"), [1, 0, 1], [[1, 2], [-1, -2]], [1, -1],
      Cellwise(np.full(2, 0.5), ((column([1, 1], [1, 1], 1, [0.0, 1.0 - 0.2**0.5]),),), True)),
     "no condition"),
    # No input may be 0 in the layer or above; but where a unit sees nothing by whatever weights.
    *(((DEEP, IDLE, [[1]], ONE, Layer(layer, ONE)), told)
      for layer, told in ((1, "input"), (2, "input"), (3, "global"))),
    ((diagonal(2, 2), [1, 0, 1, 0], [[1, 0]], ONE, Layer(1, ONE)), "local"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "told"), TOLD)
def test_what_a_proof_proves(given: tuple[Any, ...], told: str) -> None:
    found = check(*given)
    assert told in f"{found.verdict}: {found.detail}"


def test_a_point_that_errs_is_refused_and_bad_arrays_are_an_error() -> None:
    network, theta, X, y, proof = shorter_case()
    proofs: list[checker.Certificate] = [
        proof,
        checker.Aligned(np.ones(1)),
        cellwise_case()[-1],
        layer_case()[-1],
    ]
    for each in proofs:
        assert "classify" in check(network, theta, X, -y, each).detail
    for bad in (np.ones(3), np.full(4, np.nan)):
        with pytest.raises(InputError):
            check(network, bad, X, y, proof)
    with pytest.raises(InputError):
        check(network, theta, X, 2.0 * y, proof)
