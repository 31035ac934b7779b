"""What the sections of chapter 5 share: printed constructions, networks, draws, and whether a point
of the margin problem is an optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin.kkt import KINK, scaled
from reluflow.margin.limits import UNDECIDED, Limit, limit
from reluflow.margin.max_margin import least_length, sized
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from reluflow.papers.vardi2022margin import two_layers
from reluflow.papers.vardi2022margin.checker import Aligned, Certificate, Layer, Shorter
from reluflow.papers.vardi2022margin.local_optima import local_proof, shorter, span
from reluflow.parameters import SECTION, Parameter, between, one_of

# --- What the parameters cells of chapter 5 may hold ----------------------------------------------

NETWORKS = ("fully connected", "diagonal", "convolutional", "sparse")
LOSSES = {"exponential": EXPONENTIAL, "logistic": LOGISTIC}

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str, "the name of a printed data set, or the path of a CSV file with labels +1 and -1",
        bool, "a name or a path, not empty",
    ),
    "network": Parameter(str, "the family of the network", *one_of(*NETWORKS)),
    "depth": Parameter(int, "number of layers m", *between(2, 8)),
    "width": Parameter(
        int, "hidden units in each layer; weights of the filter of a convolutional network; not "
        "used by a diagonal one", *between(1, 64),
    ),
    "activation": Parameter(str, "what the hidden units do", *one_of("relu", "linear")),
    "start": Parameter(
        str, "where the flow starts; None for the printed start where there is one, else gaussian",
        *one_of("paper", "gaussian", "uniform", "xavier"), optional=True,
    ),
    "scale": Parameter(float, "factor of the weights of a drawn start", *between(1e-3, 10)),
    "loss": Parameter(str, "the loss", *one_of(*LOSSES)),
    "reach": Parameter(
        float, "how far the flow is followed at first, as log10(1/loss)", *between(10, 1e9)
    ),
    **SECTION,
}  # fmt: skip


# --- The paper's printed constructions: data, start, limit, a shorter feasible point --------------
#
# Every number is an exact one (SymPy); floats are made of them on demand. The limits are those that
# the paper claims: whether the flow goes there is for others to find out.

EPS = sympy.Symbol("epsilon", positive=True)
"""The size of a perturbation, the paper's epsilon."""

Exact = tuple[sympy.Expr, ...]


@dataclass(frozen=True)
class Construction:
    """One printed example, `name` where it is printed: data (n, d), labels +1 or -1, start, the
    point of Problem (2) in whose direction theta(t) is said to converge, and the shorter feasible
    point theta'(EPS), 0 < EPS < reach; without EPS in Lemma C.6. Parameters theta (p,) are in the
    order of `network`: layer 1 first."""

    name: str
    network: Network
    exact_X: tuple[Exact, ...]
    labels: tuple[int, ...]
    exact_start: Exact
    exact_limit: Exact
    exact_better: Exact
    reach: sympy.Expr

    @property
    def X(self) -> NDArray:
        """The data as floats (n, d)."""
        return np.array([floats(x) for x in self.exact_X])

    @property
    def y(self) -> NDArray:
        """The labels as floats (n,)."""
        return np.array(self.labels, float)

    @property
    def start(self) -> NDArray:
        """theta(0) as floats (p,)."""
        return floats(self.exact_start)

    @property
    def limit(self) -> NDArray:
        """The claimed limit as floats (p,), scaled so that the least margin is 1."""
        return floats(self.exact_limit)

    def better(self, eps: ArrayLike = 0.0) -> NDArray:
        """theta'(eps) as floats (..., p), of numbers eps (...)."""
        entries = sympy.lambdify(EPS, self.exact_better, "numpy")(np.asarray(eps, float))
        return np.stack(np.broadcast_arrays(eps, *entries)[1:], axis=-1).astype(float)


def floats(values: Sequence[sympy.Expr]) -> NDArray:
    """Exact numbers (k,) as the nearest floats (k,)."""
    return np.array([float(sympy.N(value, 30)) for value in values])


def fraction(value: sympy.Expr) -> Fraction:
    """An exact number that is rational. Raises AttributeError for another."""
    exact = sympy.radsimp(sympy.expand(value))
    return Fraction(int(exact.p), int(exact.q))


def theorem_3_2() -> Construction:
    """Two ReLU neurons, of which one is dead in the limit and could help (Theorem 3.2, C.3).

    The theorem takes every start with w_1.x_i > 0 > w_2.x_i and v_1 > 0; this is one of them.
    """
    root = sympy.sqrt(2 * EPS)
    return Construction(
        "Theorem 3.2", fully_connected((2, 2)),
        (_numbers("1 1/4"), _numbers("-1 1/4")), (1, 1),
        _numbers("1/8 1 1/8 -1 1/2 1"),
        _numbers("0 2 0 0 2 0"),
        (EPS / 2, 2 - 2 * EPS, -root, sympy.Integer(0), sympy.Integer(2), root),
        sympy.Rational(1, 9),
    )  # fmt: skip


def theorem_4_1(activation: str = "linear") -> Construction:
    """A diagonal network of depth 2 whose second coordinate starts at 0 (Theorem 4.1, C.4)."""
    layer = (sympy.sqrt(1 - EPS), sympy.sqrt(EPS / 2))
    return Construction(
        "Theorem 4.1", diagonal(2, 2, activation),
        (_numbers("1 2"),), (1,),
        _numbers("1 0 1 0"),
        _numbers("1 0 1 0"),
        (*layer, *layer),
        sympy.Integer(1),
    )  # fmt: skip


def theorem_4_2() -> Construction:
    """Four ReLU neurons along the data, each on the boundary of two others' data: part 2 of Theorem
    4.2 (C.5.2), and Theorem 5.3.

    EPS is the proof's epsilon', a 1/sqrt(8) of its epsilon < 1.
    """
    data = ("0 1", "1 0", "0 -1", "-1 0")
    first, one = " ".join(data), " 1 1 1 1"
    turned = (EPS, 1 - EPS, 1 - EPS, -EPS, -EPS, EPS - 1, EPS - 1, EPS)
    return Construction(
        "Theorem 4.2 (2)", fully_connected((2, 4)),
        tuple(_numbers(x) for x in data), (1, 1, 1, 1),
        tuple(2 * value for value in _numbers(first + one)),
        _numbers(first + one),
        (*turned, *_numbers(one)),
        1 / sympy.sqrt(8),
    )  # fmt: skip


def lemma_C_6() -> Construction:
    """Two ReLU neurons, one alone with two data and one with a third: a local optimum, and a far
    point that is shorter (Theorem 4.3, Lemma C.6; Theorem 5.4). Here alpha = 2 and beta = 1."""
    x = _numbers("1 1/4")
    length = sympy.sqrt(sum(value**2 for value in x))
    return Construction(
        "Lemma C.6", fully_connected((2, 2)),
        (x, _numbers("-1 1/4"), _numbers("0 -1")), (1, 1, 1),
        _numbers("0 3 0 -2 3 2"),
        _numbers("0 2 0 -1 2 1"),
        (*(value / (2 * length) for value in x), *_numbers("-5/4 -1 2 1")),
        sympy.Integer(0),
    )  # fmt: skip


def theorem_4_4(activation: str = "linear") -> Construction:
    """Two patches that share one filter (Theorem 4.4, C.7): theta = (w, v)."""
    half, root = 1 / sympy.sqrt(2), sympy.sqrt(EPS)
    limit = (*_numbers("0 1"), half, half)
    return Construction(
        "Theorem 4.4", convolutional(2, 2, activation),
        ((sympy.Integer(4), half, sympy.Integer(-4), half),), (1,),
        limit,
        limit,
        (root, 1 - EPS, half + root / 2, half - root / 2),
        sympy.Rational(1, 2),
    )  # fmt: skip


def theorem_5_1(depth: int = 3, activation: str = "linear") -> Construction:
    """A diagonal network of depth m >= 3 with two equal coordinates (Theorem 5.1, C.8)."""
    power = sympy.Rational(1, depth)
    return Construction(
        f"Theorem 5.1, m = {depth}", diagonal(2, depth, activation),
        (_numbers("1 1"),), (1,),
        (sympy.Integer(1),) * (2 * depth),
        (sympy.Rational(1, 2) ** power,) * (2 * depth),
        (((1 + EPS) / 2) ** power, ((1 - EPS) / 2) ** power) * depth,
        sympy.Rational(1, 2),
    )  # fmt: skip


def _numbers(text: str) -> Exact:
    """Rational numbers, written with spaces between."""
    return tuple(sympy.Rational(word) for word in text.split())


# --- A network's outputs in any arithmetic --------------------------------------------------------


def output(network: Network, theta: Sequence[Any], x: Sequence[Any], slope: Callable) -> Any:
    """f(theta; x) for numbers of any kind that can be added and multiplied, theta (p,), layer 1
    first, x (d,), and the `slope` of the ReLU at a unit's input."""
    first, values = 0, list(x)
    for layer, g in enumerate(network.maps, start=1):
        inputs = [
            sum((theta[first + k - 1] * v for k, v in zip(row, values, strict=True) if k), 0 * x[0])
            for row in g.tolist()
        ]
        hidden = network.activation == "relu" and layer < len(network.maps)
        values = [h * slope(h) for h in inputs] if hidden else inputs
        first += int(g.max())
    return values[0]


# --- Random networks of class N: index maps with holes and shared weights, and wild numbers -------

Draw = Callable[[np.random.Generator], dict[str, Any]]
Maps = Callable[[np.random.Generator, Sequence[int]], tuple[NDArray, ...]]
"""Index maps of layers of these widths, the number of inputs first and 1 last."""


def full(rng: np.random.Generator, widths: Sequence[int]) -> tuple[NDArray, ...]:
    """Every weight is a parameter."""
    return fully_connected(list(widths[:-1])).maps


def unshared(rng: np.random.Generator, widths: Sequence[int]) -> tuple[NDArray, ...]:
    """Weights are missing with a probability that is drawn, and none is shared."""
    sizes = pairwise(widths)
    return tuple(_numbered(rng.random((b, a)) >= rng.uniform(0.0, 0.6)) for a, b in sizes)


def network_draws_shared(rng: np.random.Generator, widths: Sequence[int]) -> tuple[NDArray, ...]:
    """Weights are missing, and each of the others is a random one of a few parameters."""
    return tuple(_renumbered(there > 0, rng) for there in unshared(rng, widths))


def _renumbered(there: NDArray, rng: np.random.Generator) -> NDArray:
    some = rng.integers(1, 1 + rng.integers(1, there.size + 1), there.shape)
    return np.where(there, 1 + np.searchsorted(np.unique(some[there]), some), 0)


def _whole_entries(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    return rng.integers(-2, 3, shape).astype(float)


PARALLEL, FIRST_0 = "parallel data", "first layer 0"
ENTRIES: Mapping[str, Callable[..., NDArray]] = {
    "normal": np.random.Generator.standard_normal,
    "integers": _whole_entries,
    "decades": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.uniform(-12, 6, shape),
    PARALLEL: _whole_entries,
    FIRST_0: np.random.Generator.standard_normal,
}


def class_n_draws(maps: Sequence[Maps], depths: tuple[int, int] = (2, 4)) -> dict[str, Draw]:
    """Draws of {"network", "theta" (p,), "X" (n, d), "c" (n,), "at_zero" (n, units)} of these maps.

    Linear and ReLU in turn, of a depth between `depths`, 1 to 3 inputs and units a layer and 1 to 3
    data. The c are pulls of any sign, at_zero holds sigma'(0) of each unit on each datum. Normal
    numbers; small integers, where many units sit exactly on a kink; sizes from 1e-12 to 1e6; data
    that are multiples of one another; a first layer that is 0.
    """

    def one(kind: str, activation: str, rng: np.random.Generator) -> dict[str, Any]:
        depth = int(rng.integers(depths[0], depths[1] + 1))
        widths = [*rng.integers(1, 4, depth).tolist(), 1]
        network = Network(maps[int(rng.integers(len(maps)))](rng, widths), activation)
        n, entries = int(rng.integers(1, 4)), ENTRIES[kind]
        theta, X = entries(rng, (network.size,)), entries(rng, (n, widths[0]))
        if kind == PARALLEL:
            X = rng.integers(-2, 3, (n, 1)) * X[:1]
        if kind == FIRST_0:
            theta[: network.sizes[0]] = 0.0
        c = entries(rng, (n,))
        at_zero = rng.choice([0.0, 0.5, 1.0, rng.random()], (n, sum(widths[1:-1])))
        return {"network": network, "theta": theta, "X": X, "c": c, "at_zero": at_zero}

    pairs = product(ENTRIES, ("linear", "relu"))
    return {f"{kind}, {activation}": partial(one, kind, activation) for kind, activation in pairs}


# --- Random networks, data and starts from which the paper's positive theorems can speak ----------
#
# From most random starts of a ReLU network some neurons die, and theorems whose neurons must live
# say nothing. So here the labels are those of the start, neurons start near data, and data that the
# start hardly tells apart are left out; what the limit is remains for the flow to find out.

CLEAR = 0.1
"""A datum stays if the start's output over its length is at least this share of the largest."""
MOST = 5
"""Data, at most."""
Data = Callable[[np.random.Generator, int], NDArray]
Start = Callable[[np.random.Generator, Network, NDArray], NDArray]
Coordinates = Callable[[np.random.Generator], NDArray]
"""The index map of a first layer."""


def full_linear(depths: tuple[int, int]) -> dict[str, Draw]:
    """Fully connected linear networks of depths from .. to (Theorem 3.1)."""

    def network(rng: np.random.Generator) -> Network:
        depth = int(rng.integers(depths[0], depths[1] + 1))
        return fully_connected(rng.integers(1, 4, depth).tolist(), "linear")

    return _on_all_data(network, _normal)


def _on_all_data(of: Callable[[np.random.Generator], Network], start: Start) -> dict[str, Draw]:
    return {f"{kind} data": partial(_with_start, of, data, start) for kind, data in DATA.items()}


def _sparse(kinds: Mapping[str, Coordinates], activation: str, start: Start) -> dict[str, Draw]:
    """Networks of depth 2 without shared weights, whose neurons see these kinds of coordinates."""

    def network(coordinates: Coordinates, rng: np.random.Generator) -> Network:
        first = coordinates(rng)
        return Network((first, 1 + np.arange(len(first))[None]), activation)

    return {
        f"neurons that see {name} coordinates, {kind} data": partial(
            _with_start, partial(network, see), data, start
        )
        for kind, data in DATA.items()
        for name, see in kinds.items()
    }


def sparse_linear() -> dict[str, Draw]:
    """Linear networks of depth 2 without shared weights (Theorem 4.2): neurons that see the same
    coordinates, disjoint ones, or any; diagonal networks among them."""
    return _sparse({"equal": _equal, "disjoint": _disjoint, "any": _any}, "linear", _normal)


def sparse_relu() -> dict[str, Draw]:
    """ReLU networks of depth 2, weights not shared, neurons near data (Theorem 4.3)."""
    return _sparse({"equal": _equal, "any": _any}, "relu", _near_data)


def trained_networks_shared(activation: str) -> dict[str, Draw]:
    """Networks of depth 2 to 4 with holes and shared weights (Theorems 5.2 and 5.4); with ReLU most
    starts are positive, so that signals come through."""

    def network(rng: np.random.Generator) -> Network:
        widths = [*rng.integers(1, 4, int(rng.integers(2, 5))), 1]
        return Network(tuple(_shared(rng, b, a) for a, b in pairwise(widths)), activation)

    return _on_all_data(network, _normal if activation == "linear" else _mostly_positive)


# Data.


def _ordinary(rng: np.random.Generator, d: int) -> NDArray:
    return rng.normal(size=(int(rng.integers(1, MOST + 1)), d))


def _whole(rng: np.random.Generator, d: int) -> NDArray:
    """Small whole numbers: data that are parallel, equal or orthogonal."""
    X = rng.integers(-2, 3, (int(rng.integers(1, MOST + 1)), d)).astype(float)
    return np.where(X.any(axis=1, keepdims=True), X, 1.0)


def _units(rng: np.random.Generator, d: int) -> NDArray:
    """In units from 1e-12 to 1e6, and lengths that differ by 10."""
    X = _ordinary(rng, d)
    return X * 10.0 ** rng.uniform(-12.0, 6.0) * 10.0 ** rng.uniform(-0.5, 0.5, (len(X), 1))


DATA: Mapping[str, Data] = {
    "ordinary": _ordinary, "whole": _whole, "scaled": _units,
    "lopsided": lambda rng, d: _ordinary(rng, d) * 10.0 ** rng.uniform(-1.0, 1.0, d),
}  # fmt: skip


# Index maps.


def _numbered(there: NDArray) -> NDArray:
    return np.where(there, np.cumsum(there).reshape(there.shape), 0)


def _equal(rng: np.random.Generator) -> NDArray:
    return _numbered(np.ones(rng.integers(1, 4, 2), bool))


def _disjoint(rng: np.random.Generator) -> NDArray:
    sizes = rng.integers(1, 3, int(rng.integers(1, 4)))
    return _numbered(np.repeat(np.eye(len(sizes), dtype=bool), sizes, axis=1))


def _any(rng: np.random.Generator) -> NDArray:
    k, d = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    there = rng.random((k, d)) < 0.6
    there[np.arange(k), rng.integers(0, d, k)] = True
    return _numbered(there)


def _shared(rng: np.random.Generator, rows: int, columns: int) -> NDArray:
    """Some weights missing, the others random ones of a few parameters; no row is empty."""
    there = rng.random((rows, columns)) < 0.8
    there[np.arange(rows), rng.integers(0, columns, rows)] = True
    return _renumbered(there, rng)


# Starts.


def _normal(rng: np.random.Generator, network: Network, X: NDArray) -> NDArray:
    return rng.normal(size=network.size)


def _mostly_positive(rng: np.random.Generator, network: Network, X: NDArray) -> NDArray:
    theta = rng.normal(size=network.size)
    return np.where(rng.random(network.size) < 0.7, np.abs(theta), theta)


def _near_data(rng: np.random.Generator, network: Network, X: NDArray) -> NDArray:
    """Neuron j near datum j, counted round; output weights of like length and any sign."""
    first, last = network.maps
    directions = X / np.linalg.norm(X, axis=1)[:, None]
    W = directions[np.arange(len(first)) % len(X)] + 0.2 * rng.normal(size=first.shape)
    W = np.where(first > 0, W, 0.0) * rng.uniform(0.5, 2.0, (len(W), 1))
    v = np.linalg.norm(W, axis=1) * rng.uniform(0.5, 2.0, len(W)) * rng.choice([-1.0, 1.0], len(W))
    return network.parameters([W, np.where(last > 0, v, 0.0)])


def _with_start(
    of: Callable[[np.random.Generator], Network], data: Data, start: Start, rng: np.random.Generator
) -> dict[str, Any]:
    """The instance whose labels are the start's: {"network", "X", "y", "start", "logistic"}.

    Half of the starts classify the data so clearly that L < log 2 at once, and half have outputs so
    small that the flow has yet to come there.
    """
    network = of(rng)
    X = data(rng, network.maps[0].shape[1])
    lengths = np.linalg.norm(X, axis=1)
    for _ in range(100):
        theta = start(rng, network, X)
        if (f := network.output(theta, X) / lengths).any():
            break
    kept = np.abs(f) >= CLEAR * np.abs(f).max()
    X, f = X[kept], (f * lengths)[kept]
    if rng.random() < 0.5:
        goal, now = np.log(len(X) + 1.0) + rng.uniform(0.5, 2.0), np.abs(f).min()
    else:
        goal, now = 0.3, np.abs(f).max()
    if now > 0.0:
        theta = theta * (goal / now) ** (1.0 / network.degree)
    return {"network": network, "X": X, "y": np.where(f >= 0.0, 1.0, -1.0), "start": theta,
            "logistic": np.array(int(rng.integers(0, 2)))}  # fmt: skip


# --- The limit of a flow, followed again with smaller steps where it is left open -----------------


_SETTLED: dict[tuple[object, ...], Limit] = {}
"""Limits by all that decides them: several claims ask for some."""


def settled_limit(network: Network, loss: str, X: NDArray, y: NDArray, start: NDArray) -> Limit:
    """The limit in direction of the flow on "exponential" or "logistic"; one flow is followed once,
    however often it is asked for."""
    arrays = (*network.maps, X, y, start)
    key = (network.activation, loss, *(np.asarray(a, float).tobytes() for a in arrays))
    if key not in _SETTLED:
        given = network, LOSSES[loss], X, y, start
        found = limit(*given)
        again = found.status == UNDECIDED
        _SETTLED[key] = limit(*given, rtol=1e-8) if again else found
    return _SETTLED[key]


# --- The derivatives of the ReLUs where a unit's input may be 0 -----------------------------------


def slopes(network: Network, theta: ArrayLike, X: ArrayLike, at_zero: ArrayLike) -> list[NDArray]:
    """sigma' of every ReLU, (n, h_l) for each layer, with sigma'(0) = at_zero: one number, or those
    of each unit on each datum (n, units), so that every element of Clarke's subdifferential is met.
    """
    ends = np.cumsum([len(g) for g in network.maps[:-1]])
    each = np.split(np.broadcast_to(at_zero, (len(np.asarray(X)), ends[-1])), ends[:-1], axis=1)
    before = network.preactivations(theta, X)  # none of a linear network
    return [np.where(h == 0.0, own, h > 0.0) for h, own in zip(before, each, strict=False)]


# --- Is a point of the margin problem a global or a local optimum? With a certificate -------------

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
