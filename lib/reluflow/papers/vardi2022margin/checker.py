"""An exact checker of certificates of optimality, which trusts none of those who made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import combinations, count, pairwise
from math import prod

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin.proofs import (
    Aligned,
    Cellwise,
    Certificate,
    Column,
    Family,
    LayerCell,
    LayerCells,
    SecondOrder,
    Shorter,
)

# --- A network at a point in rational arithmetic: floats are rational, so nothing is rounded ------
#
# It reads the network's index maps and its activation, and evaluates it by itself.

Numbers = NDArray
"""Rational numbers (fmpq) in an array; balls (arb) where theta is only known to lie in them."""
KINK = fmpq(1, 10**9)
"""An input of a unit that is, over the lengths of its two factors, not larger than this is 0: the
point is a limit in floats, and stands for all points so near to it."""


class Wrong(Exception):
    """What is wrong with a certificate, in one sentence."""


def numbers(values: ArrayLike) -> Numbers:
    """Floats as the rational numbers that they are, in an array of the same shape."""
    values = np.asarray(values, float)
    exact = [fmpq(*v.as_integer_ratio()) for v in values.ravel().tolist()]
    return np.array(exact, object).reshape(values.shape)


def square(a: Numbers) -> fmpq:
    """|a|^2."""
    return (a * a).sum()


def upper(value: arb) -> float:
    """A float that is not below the numbers of a ball."""
    return float(np.nextafter(float(value.mid()) + float(value.rad()), np.inf))


@dataclass(frozen=True)
class Point:
    """A network at theta with its data, in rational numbers: theta (p,), X (n, d), y (n,). Where
    theta is only known to lie in balls, so are its margins."""

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
            found.append(_positive_part(h) if layer <= self.relus else h)
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
        """Of a layer with a ReLU, (n, h): 1 or -1, the sign of a unit's input, or 0 where it is 0
        but for `KINK`."""
        W, x = self.weights[layer - 1], self.inputs[layer - 1]
        h, sizes = x @ W.T, np.outer((x * x).sum(axis=1), (W * W).sum(axis=1))
        return np.where(h * h <= KINK**2 * sizes, 0, np.where(h > 0, 1, -1))


_positive_part = np.vectorize(
    lambda h: h.max(arb(0)) if isinstance(h, arb) else max(h, fmpq(0)), otypes=[object]
)


def point(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> Point:
    """The network at theta (p,) with data X (n, d) and labels y (n,).

    Raises InputError for numbers that are not finite or do not fit the network, for labels that are
    not +1 or -1, and for a network with a ReLU behind its output.
    """
    theta, X, y = (np.asarray(given, float) for given in (theta, X, y))
    shapes = (network.size,), (len(y), network.maps[0].shape[1])
    if theta.shape != shapes[0] or X.shape != shapes[1]:
        raise InputError(f"theta and X must have the shapes {shapes}.")
    if not all(np.all(np.isfinite(given)) for given in (theta, X)) or np.any(np.abs(y) != 1.0):
        raise InputError("theta and X must be finite, and labels +1 or -1.")
    if network.rectified:
        raise InputError("the output must have no ReLU behind it.")
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

STEPS = 100_000  # after so many steps the search for a missing combination of cells gives up

Key = tuple[tuple[bool, ...], int]
"""What a column stands for: its pattern, and the sign of the output weight."""


@dataclass(frozen=True)
class Seen:
    """A neuron that is joined to the output, as a proof must treat it.

    inputs  the coordinates that it sees
    rows    its data there (n, p_j)
    fixed   (n,) 1 or -1: the activity that it keeps, 0: both have to be looked at
    sign    of its output weight, 0: both have to be looked at
    """

    inputs: tuple[int, ...]
    rows: Numbers
    fixed: NDArray
    sign: int


def cells_slack(point: Point, proof: Cellwise) -> arb:
    """1 - bound / value of a proof that theta is an optimum. Raises Wrong."""
    shared = any(np.any(np.bincount(g[g > 0].ravel()) > 1) for g in point.network.maps)
    if point.depth != 2 or shared:
        raise Wrong("the proof is for networks of depth 2 without shared weights")
    if not proof.families:
        raise Wrong("there is no family of cells")
    given = seen(point, proof.everywhere)
    for family in proof.families:
        if len(family.columns) != len(given) or not all(family.columns):
            raise Wrong("a family does not speak of every neuron")
    least = min(_cells_bound(point, given, family) for family in proof.families)
    _cells_covered(point, given, proof.families)
    value = square(point.theta) / (2 * point.least)
    return 1 - arb(least).sqrt() / arb(value)


def seen(point: Point, everywhere: bool) -> list[Seen]:
    """The neurons that have an input and reach the output, near theta or everywhere."""
    first, last = point.network.maps
    W, v = point.weights[0], point.weights[1][0]
    none = np.zeros((len(point.y), len(first)), int)
    signs, lengths = point.signs(1) if point.relus else none, (W * W).sum(axis=1)
    least, found = KINK**2 * max(lengths), []
    for j in range(len(first)):
        inputs = tuple(np.flatnonzero(first[j]).tolist())
        if not inputs or not last[0, j]:
            continue
        rows = point.X[:, list(inputs)]
        if everywhere or lengths[j] <= least:
            found.append(Seen(inputs, rows, none[:, j], 0))
        elif v[j] ** 2 <= least:
            raise Wrong("a neuron with incoming weights has no outgoing one")
        else:
            found.append(Seen(inputs, rows, signs[:, j], 1 if v[j] > 0 else -1))
    return found


def _cells_bound(point: Point, given: Sequence[Seen], family: Family) -> fmpq:
    """The square of a family's bound from below on sum |v_j| |w_j|."""
    total, pulls = weighted(point, family.multipliers)
    longest = max(
        _length(point, neuron, column, pulls)
        for neuron, columns in zip(given, family.columns, strict=True)
        for column in columns
    )
    # All multipliers over the longest vector give a dual point, however long that vector is.
    return total * total / longest if longest > 0 else fmpq(10) ** 300


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


def _cells_covered(point: Point, given: Sequence[Seen], families: Sequence[Family]) -> None:
    """Raise Wrong unless every combination of cells and signs is in some family.

    Neurons that see the same and may be anywhere can be exchanged, so that it is enough to look at
    columns in falling order.
    """
    boxes = [[frozenset(_key(column) for column in columns) for columns in family.columns]
             for family in families]  # fmt: skip
    groups = [neuron.inputs if neuron.sign == 0 else j for j, neuron in enumerate(given)]
    keys: dict[object, set[Key]] = {group: set() for group in groups}
    for box in boxes:
        for group, own in zip(groups, box, strict=True):
            keys[group] |= own
    for group, neuron in dict(zip(groups, given, strict=True)).items():
        _complete(point, neuron, keys[group])

    steps = count()

    def below(box: list[frozenset[Key]]) -> None:
        for k, group in enumerate(groups):
            if group in groups[:k]:
                last = max(box[max(j for j in range(k) if groups[j] == group)])
                box[k] = frozenset(key for key in box[k] if key <= last)
        if any(all(b <= c for b, c in zip(box, cells, strict=True)) for cells in boxes):
            return
        if next(steps) > STEPS:
            raise Wrong("there are too many combinations of cells to look at")
        for k, own in enumerate(box):
            if len(own) > 1:
                for key in own:
                    below([*box[:k], frozenset([key]), *box[k + 1 :]])
                return
        raise Wrong("a combination of cells is missing")

    below([frozenset(keys[group]) for group in groups])


def _complete(point: Point, neuron: Seen, keys: set[Key]) -> None:
    """Raise Wrong unless the columns hold all cells that the neuron can be in."""
    linear = point.relus == 0
    # A datum of which the neuron sees nothing has no side: among the others it would excuse all.
    sided = (neuron.fixed == 0) & (neuron.rows != 0).any(axis=1)
    free = [] if linear else np.flatnonzero(sided).tolist()
    own = {i: neuron.fixed[i] > 0 for i in np.flatnonzero(neuron.fixed).tolist()}
    signs = [neuron.sign] if neuron.sign else ([1] if linear else [1, -1])
    for sign in signs:
        given = {
            tuple(pattern[i] for i in free)
            for pattern, s in keys
            if (s == sign or linear) and all(linear or pattern[i] == a for i, a in own.items())
        }
        if missing(neuron.rows[free], given) is not None:
            raise Wrong("a cell of a neuron is missing")


def _key(column: Column) -> Key:
    return tuple(map(bool, np.ravel(column.active))), int(column.sign)


# --- Dual points of the problem of one layer: is every bound right, and is no cell missing? -------


def layer_slack(point: Point, proof: LayerCells) -> arb:
    """1 - bound / value of a proof that theta is an optimum of a layer's problem. Raises Wrong."""
    u = point.theta[point.span(proof.layer)]
    if not proof.cells:
        raise Wrong("there is no cell")
    for cell in proof.cells:
        shapes = [np.shape(pattern) for pattern in cell.patterns]
        wanted = [(len(point.X), len(point.network.maps[k])) for k in range(point.relus)]
        if shapes != wanted or [np.shape(s) for s in cell.slopes] != wanted:
            raise Wrong("a cell has patterns or multipliers of another shape")
    least = min(_layer_bound(point, proof.layer, cell) for cell in proof.cells)
    _layer_covered(point, proof)
    value = square(u) / (2 * point.least**2)
    return 1 - arb(least) / arb(value)


def _layer_bound(point: Point, layer: int, cell: LayerCell) -> fmpq:
    """A cell's bound from below on 1/2 |u|^2: the best multiple of its dual point's."""
    total, pulls = weighted(point, cell.multipliers)
    outputs, turns = linear_parts(point, layer, cell)
    force = pulls @ outputs
    for k, (pattern, given) in enumerate(zip(cell.patterns, cell.slopes, strict=True), start=1):
        slopes = numbers(given)
        if (slopes < 0).any() or (k < layer and (slopes != 0).any()):
            raise Wrong("a multiplier is negative or belongs to no condition of the cell")
        if k >= layer:
            signed = np.where(pattern, slopes, -slopes)
            force = force + (signed[..., None] * turns[k - layer]).sum(axis=(0, 1))
    length = square(force)
    return total * total / (2 * length) if length > 0 else fmpq(10) ** 300


def linear_parts(point: Point, layer: int, cell: LayerCell) -> tuple[Numbers, list[Numbers]]:
    """f (n, q), and of each layer from this one on the inputs of units (n, h, q), as linear
    functions of the layer's parameters u: their coefficients."""
    rows, turns = unit_rows(point, layer), []
    for k in range(layer, point.depth):
        if k <= point.relus:
            turns.append(rows)
            rows = np.asarray(cell.patterns[k - 1], bool)[..., None] * rows
        rows = point.weights[k] @ rows
    return rows[:, 0], turns


def unit_rows(point: Point, layer: int) -> Numbers:
    """Inputs of units as linear functions of their layer's parameters u: coefficients (n, h, q)."""
    g = point.network.maps[layer - 1]
    shares = (g[..., None] == 1 + np.arange(g.max(initial=0))).astype(int)
    return np.tensordot(point.inputs[layer - 1], shares, (1, 1))


def _layer_covered(point: Point, proof: LayerCells) -> None:
    """Raise Wrong unless every cell of the layer that meets theta is there."""
    layer = proof.layer
    if layer > point.relus:
        return  # the network is linear in this layer
    rows = unit_rows(point, layer)
    cells = [[np.asarray(pattern, bool) for pattern in cell.patterns] for cell in proof.cells]
    blocks: list[tuple[int, int, NDArray, Numbers]] = []
    for k in range(layer, point.relus + 1):
        signs = point.signs(k)
        # What is 0 in the layer itself whatever its weights are has no side.
        real = (rows != 0).any(axis=2) if k == layer else np.ones(signs.shape, bool)
        sure = real & (signs != 0)
        cells = [c for c in cells if np.array_equal(c[k - 1][sure], signs[sure] > 0)]
        for unit, data in enumerate((real & (signs == 0)).T):
            here = np.flatnonzero(data)
            # Weights of one unit are moved together; what stands above, each for itself.
            if k == layer:
                blocks.append((k, unit, here, rows[here, unit]))
            else:
                blocks += [(k, unit, here[[i]], numbers([[1]])) for i in range(len(here))]
    given = {tuple(tuple(c[k - 1][here, unit].tolist()) for k, unit, here, _ in blocks)
             for c in cells}  # fmt: skip
    sides = [{cell[number] for cell in given} for number in range(len(blocks))]
    lacks = any(missing(own, some) is not None
                for (*_, own), some in zip(blocks, sides, strict=True))  # fmt: skip
    if lacks or len(given) < prod(map(len, sides)):
        raise Wrong("a cell of the layer is missing")


# --- First and second order where no unit's input is 0, exactly at the given floats ---------------

TIGHT = fmpq(1, 10**6)
"""A multiplier, or the excess of a margin, that is a smaller share of the largest one is 0."""
STIFF = fmpq(10**6)
"""The weight of the held directions, in units of the largest entry of the Hessian."""


def residual(point: Point, proof: SecondOrder) -> arb:
    """|theta - sum lambda_i y_i grad f_i| / |theta|, once the Lagrangian is found to curve up by at
    least half of what is claimed on the directions that no tight margin resists. Raises Wrong.

    f is a polynomial around theta. H + c sum g_i g_i' > 0 for some c proves H > 0 where all g_i.d =
    0 (Finsler); with g_i = grad f_i wherever lambda_i > 0 these d are the critical directions.
    """
    seen = point.X != 0
    for k, g in enumerate(point.network.maps[: point.relus], start=1):
        seen = seen @ (g.T > 0)  # by what weights ever: other inputs are 0 around theta, too
        if (seen & (point.signs(k) == 0)).any():
            raise Wrong("the input of a unit is 0")
    _, pulls = weighted(point, proof.multipliers)
    largest = max(map(abs, pulls))
    held = [i for i, pull in enumerate(pulls) if abs(pull) > TIGHT * largest]
    for pull, margin in zip(pulls, point.margins, strict=True):
        if pull != 0 and margin > point.least * (1 + TIGHT):
            raise Wrong("a margin that is not the least has a multiplier")
    # theta may have any length: with margins mu the multipliers of the scaled problem go with it.
    p = len(point.theta)
    gradients = np.array([[_along(point, i, k) for k in range(p)] for i in range(len(point.y))])
    off, H = point.theta - pulls @ gradients, numbers(np.eye(p))
    for i in np.flatnonzero(pulls != 0).tolist():
        for a, b in combinations(range(p), 2):
            H[a, b] = H[b, a] = H[a, b] - pulls[i] * _along(point, i, a, b)
    least = min(fmpq(1), numbers([min(proof.least, 1.0)])[0]) / 2
    if least <= 0:
        raise Wrong("no curvature is claimed")
    stiff = STIFF * abs(H).max()
    for i in held:
        g, length = gradients[i], square(gradients[i])
        if length == 0:
            raise Wrong("a gradient is 0")
        H = H + stiff / length * np.outer(g, g)
    H = H - least * numbers(np.eye(p))
    # Sylvester: all leading minors are positive.
    if any(fmpq_mat(H[:k, :k].tolist()).det() <= 0 for k in range(1, p + 1)):
        raise Wrong("the Lagrangian does not curve up as much as it says")
    return (arb(square(off)) / arb(square(point.theta))).sqrt()


def _along(point: Point, i: int, *directions: int) -> fmpq:
    """The mixed derivative of f(theta; x_i) along unit vectors of different layers: f is linear in
    each layer, so that these layers' weights are replaced by the unit vectors'. Two of one layer
    give 0."""
    chosen: dict[int, int] = {}
    for k in directions:
        layer = next(m for m in range(1, point.depth + 1) if k < point.span(m).stop)
        if layer in chosen:
            return fmpq(0)
        chosen[layer] = k - point.span(layer).start + 1
    values = point.X[i]
    for m, g in enumerate(point.network.maps, start=1):
        matrix = (g == chosen[m]).astype(int) if m in chosen else point.weights[m - 1]
        values = matrix @ values
        if m <= point.relus:
            values = (point.inputs[m][i] > 0) * values
    return values[0]


# --- Is a certificate of optimality right? Every kind of it, in rational arithmetic ---------------

NEAR = 1e-3  # shorter points must come nearer than this, over |theta|
SLACK = 1e-6  # a bound that comes so near to a value, as a share of it, meets it

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
    network: Network,
    theta: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    certificate: Certificate,
    error: float = 0.0,
) -> Checked:
    """What a certificate proves of theta's direction in the margin problem, or of one of its
    layers.

    Parameters: theta (p,), of any length, X (n, d), y (n,) of +-1. With `error` theta stands for a
    limit that is known up to error |theta|: shorter points count if they are shorter than all that
    is so near to theta. Returns `Checked`; a wrong certificate is refused, with the reason. Raises
    InputError for arrays that do not fit the network.
    """
    with ctx.workprec(BITS):
        at = point(network, theta, X, y)
        if at.least <= 0:
            return Checked("refused", np.inf, "theta does not classify every datum correctly")
        try:
            if isinstance(certificate, Shorter):
                distance = _shorter(at, certificate, error)
                return Checked("not local", distance, "every point is feasible and shorter")
            if isinstance(certificate, Aligned):
                found, everywhere = _aligned(at, certificate), True
            elif isinstance(certificate, Cellwise):
                found, everywhere = cells_slack(at, certificate), certificate.everywhere
            elif isinstance(certificate, LayerCells):
                # Where the network is linear in it there is one cell: what is local is global.
                found, everywhere = layer_slack(at, certificate), certificate.layer > at.relus
            else:
                found, everywhere = residual(at, certificate), False
        except Wrong as reason:
            return Checked("refused", np.inf, str(reason))
        slack, above = max(upper(found), 0.0), found < -SLACK
    if slack > SLACK:
        return Checked("refused", slack, "the bound does not meet the value")
    if above:
        return Checked("refused", slack, "the bound is larger than the value that it should bound")
    verdict = "global" if everywhere else "local"
    return Checked(verdict, slack, "the bound meets the value, and no cell is missing")


def _shorter(at: Point, proof: Shorter, error: float) -> float:
    """The distance of the nearest point, once all points are found to be shorter. Raises Wrong."""
    if len(proof.points) != len(proof.distances):
        raise Wrong("there is not one distance for each point")
    where, degree = slice(0, len(at.theta)), at.depth
    if proof.layer is not None:
        where, degree = at.span(proof.layer), 1
    ball = arb(0, 1) * arb(error) * arb(square(at.theta)).sqrt()
    near = replace(at, theta=np.array([arb(value) + ball for value in at.theta]))
    length = arb(square(at.theta[where])).sqrt()
    own, least = _cost(at, length, degree), _cost(near, length + ball, degree)
    found: list[float] = []
    sure: list[float] = []
    for values, claimed in zip(proof.points, proof.distances, strict=True):
        other = replace(at, theta=numbers(values))
        if len(other.theta) != len(at.theta):
            raise Wrong("a point has not as many parameters as the network")
        if (np.delete(other.theta, where) != np.delete(at.theta, where)).any():
            raise Wrong("a point differs from theta in another layer")
        if other.least <= 0:
            raise Wrong("a point does not classify every datum correctly")
        length = arb(square(other.theta[where])).sqrt()
        if not _cost(other, length, degree) < own:
            raise Wrong("a point is not shorter")
        found.append(_distance(at, other, where, degree))
        if found[-1] > 1.001 * float(claimed) + 1e-12:
            raise Wrong("a point is farther from theta than it says")
        moved = near.theta.copy()  # the other layers are those of the limit
        moved[where] = other.theta[where]
        if _cost(replace(at, theta=moved), length, degree) < least:
            sure.append(found[-1] + error)
    if any(b >= a for a, b in pairwise(found)):
        raise Wrong("the points do not come nearer and nearer")
    if not sure or sure[-1] > NEAR:
        raise Wrong("no shorter point is near to theta")
    return sure[-1]


def _cost(at: Point, length: arb, degree: int) -> arb:
    """length^(2 degree) / (least margin)^2 of all parameters in the balls of theta; a ball that
    decides nothing where a margin may be 0."""
    return length ** (2 * degree) / reduce(arb.min, map(arb, at.margins)) ** 2


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
