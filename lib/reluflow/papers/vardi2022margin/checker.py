"""An exact checker of certificates of optimality, which trusts none of those who made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.networks.indexed import Network

# --- Certificates of optimality: plain numbers that someone can check who trusts nothing ----------
#
# A point theta of the margin problem min 1/2 |theta|^2 s.t. y_i f(theta; x_i) >= 1, with least
# margin 1, is no local optimum if shorter feasible points lie as near as one likes (`Shorter`), and
# it is an optimum if a bound from below meets 1/2 |theta|^2: for all parameters, or for those near
# theta (`Cellwise`, `Aligned`, `Layer`).


@dataclass(frozen=True)
class Shorter:
    """Parameters nearer and nearer to theta whose direction costs less than theta's.

    points  (k, p); each, scaled to the least margin 1, is feasible and shorter than theta; for the
            problem of one layer only this layer differs from theta, and is what is scaled
    layer   the layer of the problem, counted from 1, or None for all parameters
    """

    points: NDArray
    layer: int | None = None


@dataclass(frozen=True)
class Column:
    """A closed cell of one neuron of a network of depth 2, on which its term is linear.

    active  (n,) whether the neuron is taken as active on the datum, w.x_i >= 0
    rows    (n,) on which data that is a condition of the cell; none for a linear network
    sign    of the output weight, +1 or -1; a linear network needs one sign only
    slopes  (n,) multipliers >= 0 of the conditions (2 active - 1) w.x_i >= 0; 0 outside `rows`
    """

    active: NDArray
    rows: NDArray
    sign: int
    slopes: NDArray


@dataclass(frozen=True)
class Cellwise:
    """One dual point for all combinations of a column of every neuron of a network of depth 2.

        1/2 |theta|^2 >= sum_j |v_j| |w_j| >= sum_i lambda_i

    for every feasible theta with neuron j in one of columns[j], if for each of these, with the data
    x^j that the neuron sees,

        | sum_i (sign lambda_i y_i active_i + slopes_i (2 active_i - 1)) x_i^j | <= 1.

    multipliers  lambda (n,) >= 0
    columns      of each neuron: all of its cells, or those that meet theta
    everywhere   whether all cells are there, so that theta is a global optimum and not only a local
    """

    multipliers: NDArray
    columns: tuple[tuple[Column, ...], ...]
    everywhere: bool


@dataclass(frozen=True)
class Aligned:
    """A bound for fully connected linear networks of depth m, whatever their widths:

        1/2 |theta|^2 >= m/2 |beta|^(2/m),    |beta| >= sum_i lambda_i / |sum_i lambda_i y_i x_i|,

    with beta the predictor: |beta| is at most the product of the layers' norms.
    """

    multipliers: NDArray


@dataclass(frozen=True)
class Layer:
    """A dual point for one layer's parameters u, where no input of a unit of this layer or above it
    is 0, so that f is linear in u around theta:

        1/2 |u|^2 >= sum_i lambda_i - 1/2 |sum_i lambda_i y_i grad f_i|^2

    for all u nearby with y_i f >= 1; for all u if the network is linear in the layer.

    multipliers  lambda (n,) >= 0
    """

    layer: int
    multipliers: NDArray


Certificate = Shorter | Cellwise | Aligned | Layer


# --- A network at a point in rational arithmetic: floats are rational, so nothing is rounded ------
#
# It reads the network's index maps and its activation, and evaluates it by itself.

Numbers = NDArray
"""Rational numbers (fmpq) in an array."""
KINK = fmpq(1, 10**9)
"""An input of a unit that is, over the lengths of its two factors, not larger than this is 0: the
point is a limit in floats, and stands for all points so near to it."""


def numbers(values: ArrayLike) -> Numbers:
    """Floats as the rational numbers that they are, in an array of the same shape."""
    values = np.asarray(values, float)
    exact = [fmpq(*v.as_integer_ratio()) for v in values.ravel().tolist()]
    return np.array(exact, object).reshape(values.shape)


class Wrong(Exception):
    """What is wrong with a certificate, in one sentence."""


def square(a: Numbers) -> fmpq:
    """|a|^2."""
    return (a * a).sum()


def upper(value: arb) -> float:
    """A float that is not below the numbers of a ball."""
    return float(np.nextafter(float(value.mid()) + float(value.rad()), np.inf))


@dataclass(frozen=True)
class Point:
    """A network at theta with its data, in rational numbers: theta (p,), X (n, d), y (n,)."""

    network: Network
    theta: Numbers
    X: Numbers
    y: Numbers

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.network.maps)

    @property
    def relus(self) -> int:
        """Number of layers with a ReLU: all but the last, or none."""
        return self.depth - 1 if self.network.activation == "relu" else 0

    def span(self, layer: int) -> slice:
        """Where the parameters of a layer, from 1, stand in theta. Raises Wrong for no layer."""
        if not 1 <= layer <= self.depth:
            raise Wrong("there is no such layer")
        counts = [int(g.max(initial=0)) for g in self.network.maps]
        return slice(sum(counts[: layer - 1]), sum(counts[:layer]))

    @cached_property
    def weights(self) -> list[Numbers]:
        """The matrices of the layers."""
        parts = (self.theta[self.span(layer)] for layer in range(1, self.depth + 1))
        return [np.concatenate([[fmpq(0)], part])[g]
                for part, g in zip(parts, self.network.maps, strict=True)]  # fmt: skip

    @cached_property
    def inputs(self) -> list[Numbers]:
        """The inputs (n, h) of every layer, and behind them the output (n, 1)."""
        found = [self.X]
        for layer, W in enumerate(self.weights, start=1):
            h = found[-1] @ W.T
            found.append(h * (h > 0) if layer <= self.relus else h)
        return found

    @cached_property
    def margins(self) -> Numbers:
        """y_i f(theta; x_i), (n,)."""
        return self.y * self.inputs[-1][:, 0]

    @property
    def least(self) -> fmpq:
        """The least margin."""
        return min(self.margins)

    def signs(self, layer: int) -> NDArray:
        """Of a ReLU layer, (n, h): the sign of a unit's input, 0 where it is 0 but for `KINK`."""
        W, x = self.weights[layer - 1], self.inputs[layer - 1]
        h, sizes = x @ W.T, np.outer((x * x).sum(axis=1), (W * W).sum(axis=1))
        return np.where(h * h <= KINK**2 * sizes, 0, np.where(h > 0, 1, -1))


def point(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> Point:
    """The network at theta (p,) with data X (n, d) and labels y (n,).

    Raises InputError for numbers that are not finite or do not fit the network, and for labels that
    are not +1 or -1.
    """
    theta, X, y = (np.asarray(given, float) for given in (theta, X, y))
    shapes = (network.size,), (len(y), network.maps[0].shape[1])
    if theta.shape != shapes[0] or X.shape != shapes[1]:
        raise InputError(f"theta and X must have the shapes {shapes}.")
    if not all(np.all(np.isfinite(given)) for given in (theta, X)) or np.any(np.abs(y) != 1.0):
        raise InputError("theta and X must be finite, and labels +1 or -1.")
    return Point(network, numbers(theta), numbers(X), numbers(y))


def is_empty(rows: Numbers) -> bool:
    """Whether {u : r.u > 0 for all rows r (k, q)} is proved empty: some mu >= 0, not all 0, has sum
    mu_k r_k = 0 (Gordan). Floats propose the rows that take part, rational numbers prove it."""
    if not (rows != 0).any(axis=1).all():
        return True
    A = rows.astype(float)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    mu, residual = nnls(np.vstack([A.T, np.ones(len(A))]), np.append(np.zeros(A.shape[1]), 1.0))
    if residual > 1e-6:
        return False
    whole, _ = fmpq_mat(rows[mu > 0.0].T.tolist()).numer_denom()
    null, dimension = whole.nullspace()
    basis = list(zip(*null.tolist(), strict=True))[:dimension]
    return any(min(v) >= 0 or max(v) <= 0 for v in basis)


def missing(rows: Numbers, given: set[tuple[bool, ...]]) -> tuple[bool, ...] | None:
    """Signs (True: positive) of u on the rows, none of them 0, that are not among those given,
    though nothing proves that no u has them; None if there are none. A shorter answer is a
    beginning of such signs."""
    begun = {pattern[:k] for pattern in given for k in range(len(rows) + 1)}

    def below(prefix: tuple[bool, ...]) -> tuple[bool, ...] | None:
        k = len(prefix)
        if prefix not in begun:
            signed = rows[:k] * np.where(prefix, 1, -1)[:, None]
            return None if prefix and is_empty(signed) else prefix
        if k == len(rows):
            return None
        return below((*prefix, True)) or below((*prefix, False))

    return below(())


def weighted(point: Point, multipliers: ArrayLike) -> tuple[fmpq, Numbers]:
    """The sum of a proof's multipliers lambda, and the pulls lambda_i y_i (n,). Raises Wrong."""
    weights = numbers(multipliers)
    if weights.shape != point.y.shape or min(weights) < 0:
        raise Wrong("a multiplier is negative, or they are not as many as the data")
    return weights.sum(), weights * point.y


# --- Dual points of networks of depth 2: is every bound right, and is no cell missing? ------------


@dataclass(frozen=True)
class Seen:
    """A neuron that is joined to the output, as a proof must treat it.

    rows   the data where it sees them (n, p_j)
    fixed  (n,) 1 or -1: the activity that it keeps, 0: both have to be looked at
    sign   of its output weight, 0: both have to be looked at
    """

    rows: Numbers
    fixed: NDArray
    sign: int


def cells_slack(point: Point, proof: Cellwise) -> arb:
    """1 - bound / value of a proof that theta is an optimum. Raises Wrong."""
    shared = any(np.any(np.bincount(g[g > 0].ravel()) > 1) for g in point.network.maps)
    if point.depth != 2 or shared:
        raise Wrong("the proof is for networks of depth 2 without shared weights")
    given = seen(point, proof.everywhere)
    if len(proof.columns) != len(given) or not all(proof.columns):
        raise Wrong("the proof does not speak of every neuron")
    total, pulls = weighted(point, proof.multipliers)
    longest = fmpq(0)
    for neuron, columns in zip(given, proof.columns, strict=True):
        longest = max(longest, *(_length(point, neuron, column, pulls) for column in columns))
        _complete(point, neuron, columns)
    # All multipliers over the longest vector give a dual point, however long that vector is.
    share = total * 2 * point.least / square(point.theta)
    return 1 - arb(share * share / longest).sqrt() if longest > 0 else arb(-1)


def seen(point: Point, everywhere: bool) -> list[Seen]:
    """The neurons that have an input and reach the output, near theta or everywhere."""
    first, last = point.network.maps
    W, v = point.weights[0], point.weights[1][0]
    none = np.zeros((len(point.y), len(first)), int)
    signs, lengths = point.signs(1) if point.relus else none, (W * W).sum(axis=1)
    least, found = KINK**2 * max(lengths), []
    for j in range(len(first)):
        if not first[j].any() or not last[0, j]:
            continue
        rows = point.X[:, first[j] > 0]
        if everywhere or lengths[j] <= least:
            found.append(Seen(rows, none[:, j], 0))
        elif v[j] ** 2 <= least:
            raise Wrong("a neuron with incoming weights has no outgoing one")
        else:
            found.append(Seen(rows, signs[:, j], 1 if v[j] > 0 else -1))
    return found


def _length(point: Point, neuron: Seen, column: Column, pulls: Numbers) -> fmpq:
    """The square of the length that must not exceed 1, of a column that says what is so."""
    slopes, relu = numbers(column.slopes), point.relus > 0
    active, rows = (np.asarray(part, bool) for part in (column.active, column.rows))
    if column.sign not in (1, -1) or {active.shape, rows.shape} != {point.y.shape}:
        raise Wrong("a column has no sign, or not as many entries as there are data")
    if slopes.shape != point.y.shape or min(slopes) < 0:
        raise Wrong("a condition of a cell has a negative multiplier")
    if (slopes[~rows | (not relu)] != 0).any():
        raise Wrong("a multiplier belongs to no condition of the cell")
    if relu and ((neuron.rows != 0).any(axis=1) & ~rows & (neuron.fixed == 0)).any():
        raise Wrong("a neuron's activity is taken for granted where it may change")
    active = active | (not relu)
    weights = np.where(active, column.sign * pulls + slopes, -slopes)
    return square(weights @ neuron.rows)


def _complete(point: Point, neuron: Seen, columns: Sequence[Column]) -> None:
    """Raise Wrong unless the columns hold all cells that the neuron can be in."""
    linear = point.relus == 0
    # A datum of which the neuron sees nothing has no side: among the others it would excuse all.
    sided = (neuron.fixed == 0) & (neuron.rows != 0).any(axis=1) & (not linear)
    kept = (neuron.fixed != 0) & (not linear)
    patterns = [(np.asarray(one.active, bool), one.sign) for one in columns]
    signs = [neuron.sign] if neuron.sign else ([1] if linear else [1, -1])
    for sign in signs:
        given = {
            tuple(active[sided].tolist())
            for active, s in patterns
            if (s == sign or linear) and (active == (neuron.fixed > 0))[kept].all()
        }
        if missing(neuron.rows[sided], given) is not None:
            raise Wrong("a cell of a neuron is missing")


# --- Dual points of the problem of one layer ------------------------------------------------------


def layer_slack(point: Point, proof: Layer) -> arb:
    """1 - bound / value of a proof that theta is an optimum of a layer's problem. Raises Wrong."""
    u = point.theta[point.span(proof.layer)]
    moves = point.inputs[proof.layer - 1] != 0
    for k in range(proof.layer, point.relus + 1):
        moves = moves @ (point.network.maps[k - 1].T > 0)  # by what weights ever
        if (moves & (point.signs(k) == 0)).any():
            raise Wrong("the input of a unit is 0")
    total, pulls = weighted(point, proof.multipliers)
    force = square(pulls @ gradients(point, proof.layer))
    # The best multiple of the dual point.
    return 1 - arb((total * point.least) ** 2 / (force * square(u))) if force > 0 else arb(-1)


def gradients(point: Point, layer: int) -> Numbers:
    """The gradients of f in a layer's parameters, (n, q); that of the ReLU is 0 at 0."""
    g = point.network.maps[layer - 1]
    shares = (g[..., None] == 1 + np.arange(g.max(initial=0))).astype(int)
    rows = np.tensordot(point.inputs[layer - 1], shares, (1, 1))
    for k in range(layer, point.depth):
        if k <= point.relus:
            rows = (point.inputs[k] > 0)[..., None] * rows
        rows = point.weights[k] @ rows
    return rows[:, 0]


# --- Is a certificate of optimality right? Every kind of it, in rational arithmetic ---------------

NEAR = 1e-3  # shorter points must come nearer than this, over |theta|
SAVED = fmpq(1, 10**14)  # and save this share at least: theta in another unit, rounded, is none
SLACK = 1e-7  # a bound that comes so near to a value, as a share of it, meets it

BITS = 256  # precision of roots, which are balls; all else is rational


@dataclass(frozen=True)
class Checked:
    """What a certificate proves.

    verdict  "global", "local", "not local", or "refused"
    slack    of an optimum: no point of the cells looked at is shorter by a larger share of half the
             squared length; of "not local": the distance of the nearest shorter point, over |theta|
    detail   what was verified, or what is wrong
    """

    verdict: str
    slack: float
    detail: str


def check(
    network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike, certificate: Certificate
) -> Checked:
    """What a certificate proves of theta's direction in the margin problem, or of one of its
    layers.

    Parameters: theta (p,), of any length, X (n, d), y (n,) of +-1. Returns `Checked`; a wrong
    certificate is refused, with the reason. Raises InputError for arrays that do not fit the
    network.
    """
    with ctx.workprec(BITS):
        at = point(network, theta, X, y)
        if at.least <= 0:
            return Checked("refused", np.inf, "theta does not classify every datum correctly")
        try:
            if isinstance(certificate, Shorter):
                distance = _shorter(at, certificate)
                return Checked("not local", distance, "every point is feasible and shorter")
            if isinstance(certificate, Aligned):
                found, everywhere = _aligned(at, certificate), True
            elif isinstance(certificate, Cellwise):
                found, everywhere = cells_slack(at, certificate), certificate.everywhere
            else:
                # Where the network is linear in it there is one cell: what is local is global.
                found, everywhere = layer_slack(at, certificate), certificate.layer > at.relus
        except Wrong as reason:
            return Checked("refused", np.inf, str(reason))
        slack, above = max(upper(found), 0.0), found < -SLACK
    if slack > SLACK:
        return Checked("refused", slack, "the bound does not meet the value")
    if above:
        return Checked("refused", slack, "the bound is larger than the value that it should bound")
    verdict = "global" if everywhere else "local"
    return Checked(verdict, slack, "the bound meets the value, and no cell is missing")


def _shorter(at: Point, proof: Shorter) -> float:
    """The distance of the nearest point, once all points are found to be shorter. Raises Wrong."""
    where, degree = slice(0, len(at.theta)), at.depth
    if proof.layer is not None:
        where, degree = at.span(proof.layer), 1
    own, found = square(at.theta[where]) ** degree / at.least**2, [np.inf]
    for values in proof.points:
        other = replace(at, theta=numbers(values))
        if len(other.theta) != len(at.theta):
            raise Wrong("a point has not as many parameters as the network")
        if (np.delete(other.theta, where) != np.delete(at.theta, where)).any():
            raise Wrong("a point differs from theta in another layer")
        if other.least <= 0:
            raise Wrong("a point does not classify every datum correctly")
        if square(other.theta[where]) ** degree / other.least**2 > own * (1 - SAVED):
            raise Wrong("a point is not shorter")
        found.append(_distance(at, other, where, degree))
    if any(b >= a for a, b in pairwise(found)):
        raise Wrong("the points do not come nearer and nearer")
    if found[-1] > NEAR:
        raise Wrong("no shorter point is near to theta")
    return found[-1]


def _distance(at: Point, other: Point, where: slice, degree: int) -> float:
    """|theta' - theta| / |theta| with theta' (or its layer) scaled to theta's least margin."""
    scale = arb(at.least / other.least).root(degree)
    first, second = at.theta[where], other.theta[where]
    cross, length = (first * second).sum(), square(at.theta)
    total = scale**2 * arb(square(second)) - 2 * scale * arb(cross) + arb(square(first))
    return upper(abs(total / arb(length)).sqrt())


def _aligned(at: Point, proof: Aligned) -> arb:
    """1 - bound / value of a fully connected linear network. Raises Wrong."""
    full = all(np.array_equal(np.sort(g.ravel()), np.arange(1, g.size + 1))
               for g in at.network.maps)  # fmt: skip
    if at.network.activation != "linear" or not full:
        raise Wrong("the proof is for fully connected linear networks")
    total, pulls = weighted(at, proof.multipliers)
    length = square(pulls @ at.X)
    if length == 0:
        raise Wrong("the multipliers give no bound")
    m = at.depth
    # (bound / value)^m, both for |theta|^2: m^m (sum / length)^2 over |theta|^(2m) / margin^2.
    share = fmpq(m) ** m * total**2 / length * at.least**2 / square(at.theta) ** m
    return 1 - arb(share).root(m)
