"""An exact checker of certificates of optimality, which trusts none of those who made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, count, pairwise
from math import prod
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.margin.certificates import (
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
from reluflow.networks.indexed import Network

# --- A network at a point in rational arithmetic: floats are rational, so nothing is rounded ------
#
# It reads the network's index maps and its activation, and evaluates it by itself.

Numbers = list[fmpq]
KINK = fmpq(1, 10**9)
"""An input of a unit that is, over the lengths of its two factors, not larger than this is 0: the
point is a limit in floats, and stands for all points so near to it."""


class Wrong(Exception):
    """What is wrong with a certificate, in one sentence."""


def numbers(values: ArrayLike) -> Numbers:
    """Floats (k,) as the rational numbers that they are."""
    exact = (v.as_integer_ratio() for v in np.asarray(values, float).ravel().tolist())
    return [fmpq(*ratio) for ratio in exact]


def dot(a: Iterable[fmpq], b: Iterable[fmpq]) -> fmpq:
    """a.b."""
    return sum((u * v for u, v in zip(a, b, strict=True)), fmpq(0))


def square(a: Sequence[fmpq]) -> fmpq:
    """|a|^2."""
    return dot(a, a)


def combination(weights: Sequence[fmpq], rows: Sequence[Sequence[fmpq]], size: int) -> Numbers:
    """sum_i weights_i rows_i, (size,)."""
    pairs = [(w, row) for w, row in zip(weights, rows, strict=True) if w != 0]
    return [sum((w * row[k] for w, row in pairs), fmpq(0)) for k in range(size)]


def upper(value: arb) -> float:
    """A float that is not below the numbers of a ball."""
    return float(np.nextafter(float(value.mid()) + float(value.rad()), np.inf))


@dataclass(frozen=True)
class Point:
    """A network at theta with its data, in rational numbers: theta (p,), X (n, d), y (n,). Where
    theta is only known to lie in balls, so are its margins."""

    network: Network
    theta: Numbers
    X: list[Numbers]
    y: Numbers

    @cached_property
    def maps(self) -> list[list[list[int]]]:
        """The index maps as lists."""
        return [g.tolist() for g in self.network.maps]

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.network.maps)

    @property
    def relus(self) -> int:
        """Number of layers with a ReLU: all but the last, or none."""
        return self.depth - 1 if self.network.activation == "relu" else 0

    def span(self, layer: int) -> slice:
        """Where the parameters of a layer, from 1, stand in theta."""
        counts = [int(g.max(initial=0)) for g in self.network.maps]
        return slice(sum(counts[: layer - 1]), sum(counts[:layer]))

    def weights(self, layer: int) -> list[Numbers]:
        """The matrix of a layer, from 1."""
        own = [fmpq(0), *self.theta[self.span(layer)]]
        return [[own[k] for k in row] for row in self.maps[layer - 1]]

    @cached_property
    def inputs(self) -> list[list[Numbers]]:
        """The inputs of every layer for every datum, and behind them the output: [layer][i]."""
        found = [self.X]
        for layer in range(1, self.depth + 1):
            W = self.weights(layer)
            before = [[dot(row, x) for row in W] for x in found[-1]]
            relu = layer <= self.relus
            found.append([[_positive_part(h) if relu else h for h in hs] for hs in before])
        return found

    @cached_property
    def margins(self) -> Numbers:
        """y_i f(theta; x_i), (n,)."""
        return [y * out[0] for y, out in zip(self.y, self.inputs[-1], strict=True)]

    @property
    def least(self) -> fmpq:
        """The least margin."""
        return min(self.margins)

    def signs(self, layer: int) -> list[list[int]]:
        """Of a layer with a ReLU, for every datum and unit: 1 or -1, the sign of the unit's input,
        or 0 where it is 0 but for `KINK`."""
        W = self.weights(layer)
        return [[_sign(row, x) for row in W] for x in self.inputs[layer - 1]]


def _positive_part(h: Any) -> Any:
    return h.max(arb(0)) if isinstance(h, arb) else max(h, fmpq(0))


def _sign(row: Numbers, x: Numbers) -> int:
    h = dot(row, x)
    if h * h <= KINK * KINK * square(row) * square(x):
        return 0
    return 1 if h > 0 else -1


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
    return Point(network, numbers(theta), [numbers(x) for x in X], numbers(y))


def is_empty(rows: Sequence[Numbers]) -> bool:
    """Whether {u : r.u > 0 for all rows r} is proved empty: some mu >= 0, not all 0, has sum mu_k
    r_k = 0 (Gordan). Floats propose the rows that take part, rational numbers prove it."""
    if any(square(row) == 0 for row in rows):
        return True
    A = np.array([[float(v) for v in row] for row in rows])
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    mu, residual = nnls(np.vstack([A.T, np.ones(len(A))]), np.append(np.zeros(A.shape[1]), 1.0))
    if residual > 1e-6:
        return False
    chosen = [rows[k] for k in np.flatnonzero(mu > 0.0).tolist()]
    whole, _ = fmpq_mat([list(column) for column in zip(*chosen, strict=True)]).numer_denom()
    null, dimension = whole.nullspace()
    basis = list(zip(*null.tolist(), strict=True))[:dimension]
    return any(min(v) >= 0 or max(v) <= 0 for v in basis)


def missing(rows: Sequence[Numbers], given: set[tuple[bool, ...]]) -> tuple[bool, ...] | None:
    """Signs (True: positive) of u on the rows that are not among those given, though nothing proves
    that no u has them; None if there are none. A shorter answer is a beginning of such signs."""

    def below(prefix: tuple[bool, ...]) -> tuple[bool, ...] | None:
        k = len(prefix)
        if not any(pattern[:k] == prefix for pattern in given):
            return None if prefix and is_empty(_signed(rows[:k], prefix)) else prefix
        if k == len(rows):
            return None
        return below((*prefix, True)) or below((*prefix, False))

    return below(())


def weighted(point: Point, multipliers: ArrayLike) -> tuple[fmpq, Numbers]:
    """The sum of a proof's multipliers lambda, and the pulls lambda_i y_i (n,). Raises Wrong."""
    weights = numbers(multipliers)
    if len(weights) != len(point.y) or min(weights) < 0:
        raise Wrong("a multiplier is negative, or they are not as many as the data")
    return sum(weights, fmpq(0)), [w * y for w, y in zip(weights, point.y, strict=True)]


# --- Dual points of networks of depth 2: is every bound right, and is no cell missing? ------------

STEPS = 100_000  # after so many steps the search for a missing combination of cells gives up

Key = tuple[tuple[bool, ...], int]
"""What a column stands for: its pattern, and the sign of the output weight."""


@dataclass(frozen=True)
class Seen:
    """A neuron that is joined to the output, as a proof must treat it.

    inputs  the coordinates that it sees
    rows    its data (n, p_j)
    fixed   (n,) 1 or -1: the activity that it keeps, 0: both have to be looked at
    sign    of its output weight, 0: both have to be looked at
    """

    inputs: tuple[int, ...]
    rows: list[Numbers]
    fixed: tuple[int, ...]
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
    first, last = point.maps
    W, v = point.weights(1), point.weights(2)[0]
    signs = None if point.relus == 0 else point.signs(1)
    longest = max(square(row) for row in W)
    found = []
    for j, row in enumerate(first):
        inputs = tuple(k for k, g in enumerate(row) if g)
        if not inputs or not last[0][j]:
            continue
        rows = [[x[k] for k in inputs] for x in point.X]
        gone = everywhere or square(W[j]) <= KINK**2 * longest
        none = tuple(0 for _ in rows)
        if gone:
            found.append(Seen(inputs, rows, none, 0))
        elif v[j] ** 2 <= KINK**2 * longest:
            raise Wrong("a neuron with incoming weights has no outgoing one")
        else:
            fixed = none if signs is None else tuple(each[j] for each in signs)
            found.append(Seen(inputs, rows, fixed, 1 if v[j] > 0 else -1))
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
    slopes = numbers(column.slopes)
    n = len(point.y)
    if column.sign not in (1, -1) or any(len(part) != n for part in (column.active, column.rows)):
        raise Wrong("a column has no sign, or not as many entries as there are data")
    if len(slopes) != n or min(slopes) < 0:
        raise Wrong("a condition of a cell has a negative multiplier")
    relu = point.relus > 0
    conditions = zip(column.rows, slopes, neuron.rows, neuron.fixed, strict=True)
    for row, slope, x, fixed in conditions:
        if slope != 0 and not (row and relu):
            raise Wrong("a multiplier belongs to no condition of the cell")
        if relu and square(x) > 0 and not row and fixed == 0:
            raise Wrong("a neuron's activity is taken for granted where it may change")
    active = [True] * n if not relu else list(map(bool, column.active))
    weights = [
        (column.sign * pull if a else fmpq(0)) + (slope if a else -slope)
        for pull, slope, a in zip(pulls, slopes, active, strict=True)
    ]
    return square(combination(weights, neuron.rows, len(neuron.inputs)))


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
    for group, neuron in zip(groups, given, strict=True):
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
    free = [i for i, fixed in enumerate(neuron.fixed) if fixed == 0 and point.relus]
    own = {i: fixed > 0 for i, fixed in enumerate(neuron.fixed) if fixed}
    linear = point.relus == 0
    signs = [neuron.sign] if neuron.sign else ([1] if linear else [1, -1])
    for sign in signs:
        given = {
            tuple(pattern[i] for i in free)
            for pattern, s in keys
            if (s == sign or linear) and all(linear or pattern[i] == a for i, a in own.items())
        }
        if missing([neuron.rows[i] for i in free], given) is not None:
            raise Wrong("a cell of a neuron is missing")


def _key(column: Column) -> Key:
    return tuple(map(bool, np.ravel(column.active))), int(column.sign)


# --- Dual points of the problem of one layer: is every bound right, and is no cell missing? -------

Place = tuple[int, int, int]
"""Layer, datum and unit of an input that is 0 at theta."""


def layer_slack(point: Point, proof: LayerCells) -> arb:
    """1 - bound / value of a proof that theta is an optimum of a layer's problem. Raises Wrong."""
    if not 1 <= proof.layer <= point.depth:
        raise Wrong("there is no such layer")
    if not proof.cells:
        raise Wrong("there is no cell")
    for cell in proof.cells:
        shapes = [np.shape(pattern) for pattern in cell.patterns]
        wanted = [(len(point.X), len(point.maps[k])) for k in range(point.relus)]
        if shapes != wanted or [np.shape(s) for s in cell.slopes] != wanted:
            raise Wrong("a cell has patterns or multipliers of another shape")
    least = min(_layer_bound(point, proof.layer, cell) for cell in proof.cells)
    _layer_covered(point, proof)
    u = point.theta[point.span(proof.layer)]
    value = square(u) / (2 * point.least**2)
    return 1 - arb(least) / arb(value)


def _layer_bound(point: Point, layer: int, cell: LayerCell) -> fmpq:
    """A cell's bound from below on 1/2 |u|^2: the best multiple of its dual point's."""
    total, pulls = weighted(point, cell.multipliers)
    rows, turns = linear_parts(point, layer, cell)
    for k, (pattern, slopes) in enumerate(zip(cell.patterns, cell.slopes, strict=True), start=1):
        below = k < layer
        for i, unit in np.argwhere(np.asarray(slopes) != 0.0).tolist():
            slope = numbers([slopes[i][unit]])[0]
            if below or slope < 0:
                raise Wrong("a multiplier is negative or belongs to no condition of the cell")
            rows.append(turns[k - layer][i][unit])
            pulls.append(slope if pattern[i][unit] else -slope)
    size = len(point.theta[point.span(layer)])
    length = square(combination(pulls, rows, size))
    return total * total / (2 * length) if length > 0 else fmpq(10) ** 300


def linear_parts(
    point: Point, layer: int, cell: LayerCell
) -> tuple[list[Numbers], list[list[list[Numbers]]]]:
    """f_i, [i], and the inputs of units, [layer from this one on][i][unit], as linear functions of
    the layer's parameters u: their coefficients (q,)."""
    q = len(point.theta[point.span(layer)])
    outputs: list[Numbers] = []
    turns: list[list[list[Numbers]]] = [[] for _ in range(point.relus - layer + 1)]
    for i in range(len(point.X)):
        rows = [unit_row(point, layer, i, unit) for unit in range(len(point.maps[layer - 1]))]
        for k in range(layer, point.depth):
            if k <= point.relus:
                turns[k - layer].append(rows)
                active = cell.patterns[k - 1][i]
                rows = [r if a else [fmpq(0)] * q for r, a in zip(rows, active, strict=True)]
            rows = [combination(row, rows, q) for row in point.weights(k + 1)]
        outputs.append(rows[0])
    return outputs, turns


def _layer_covered(point: Point, proof: LayerCells) -> None:
    """Raise Wrong unless every cell of the layer that meets theta is there."""
    layer = proof.layer
    if layer > point.relus:
        return  # the network is linear in this layer
    places: list[Place] = []
    cells = list(proof.cells)
    for k in range(layer, point.relus + 1):
        for (i, unit), sign in np.ndenumerate(point.signs(k)):
            if k == layer and square(unit_row(point, k, i, unit)) == 0:
                continue  # 0 whatever the weights are
            if sign == 0:
                places.append((k, i, unit))
            else:
                cells = [c for c in cells if bool(c.patterns[k - 1][i][unit]) == (sign > 0)]
    # Weights of one unit are moved together; units, and what stands above, each for itself.
    blocks = [[at for at in places if at[0] == layer and at[2] == unit]
              for unit in range(len(point.maps[layer - 1]))]  # fmt: skip
    blocks += [[at] for at in places if at[0] > layer]
    given = {tuple(tuple(bool(cell.patterns[k - 1][i][unit]) for k, i, unit in block)
                   for block in blocks) for cell in cells}  # fmt: skip
    sides = [{cell[number] for cell in given} for number in range(len(blocks))]
    for block, own in zip(blocks, sides, strict=True):
        rows = [unit_row(point, *at) if at[0] == layer else [fmpq(1)] for at in block]
        if missing(rows, own) is not None:
            raise Wrong("a cell of the layer is missing")
    if len(given) < prod(map(len, sides)):
        raise Wrong("a cell of the layer is missing")


def unit_row(point: Point, layer: int, datum: int, unit: int) -> Numbers:
    """A unit's input as a linear function of its layer's parameters u: its coefficients (q,)."""
    found = [fmpq(0)] * len(point.theta[point.span(layer)])
    row = point.maps[layer - 1][unit]
    for g, v in zip(row, point.inputs[layer - 1][datum], strict=True):
        if g:
            found[g - 1] += v
    return found


def _signed(rows: Sequence[Numbers], signs: Sequence[bool]) -> list[Numbers]:
    return [[v if s else -v for v in row] for row, s in zip(rows, signs, strict=True)]


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
    if any(0 in signs for k in range(1, point.relus + 1) for signs in point.signs(k)):
        raise Wrong("the input of a unit is 0")
    _, pulls = weighted(point, proof.multipliers)
    largest = max(map(abs, pulls))
    held = [i for i, pull in enumerate(pulls) if abs(pull) > TIGHT * largest]
    for pull, margin in zip(pulls, point.margins, strict=True):
        if pull != 0 and margin > point.least * (1 + TIGHT):
            raise Wrong("a margin that is not the least has a multiplier")
    # theta may have any length: with margins mu the multipliers of the scaled problem go with it.
    p = len(point.theta)
    gradients = [[_along(point, i, k) for k in range(p)] for i in range(len(point.y))]
    force = combination(pulls, gradients, p)
    off = [a - b for a, b in zip(point.theta, force, strict=True)]
    H = [[fmpq(int(a == b)) for b in range(p)] for a in range(p)]
    for i, pull in enumerate(pulls):
        for a, b in combinations(range(p), 2) if pull != 0 else ():
            H[a][b] = H[b][a] = H[a][b] - pull * _along(point, i, a, b)
    least = min(fmpq(1), numbers([min(proof.least, 1.0)])[0]) / 2
    if least <= 0:
        raise Wrong("no curvature is claimed")
    stiff = STIFF * max(abs(h) for row in H for h in row)
    for i in held:
        g, length = gradients[i], square(gradients[i])
        if length == 0:
            raise Wrong("a gradient is 0")
        for a in range(p):
            H[a] = [h + stiff * g[a] * v / length for h, v in zip(H[a], g, strict=True)]
    for a in range(p):
        H[a][a] -= least
    # Sylvester: all leading minors are positive.
    if any(fmpq_mat([row[:k] for row in H[:k]]).det() <= 0 for k in range(1, p + 1)):
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
    for m in range(1, point.depth + 1):
        if m in chosen:
            matrix = [[fmpq(int(g == chosen[m])) for g in row] for row in point.maps[m - 1]]
        else:
            matrix = point.weights(m)
        values = [dot(row, values) for row in matrix]
        if m <= point.relus:
            active = [h > 0 for h in point.inputs[m][i]]
            values = [v if a else fmpq(0) for v, a in zip(values, active, strict=True)]
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
    where = slice(0, len(at.theta)) if proof.layer is None else at.span(proof.layer)
    degree = at.depth if proof.layer is None else 1
    own = square(at.theta[where]) ** degree / at.least**2
    least = _least_cost(at, where, degree, error) if error else arb(own)
    found: list[float] = []
    sure: list[float] = []
    for values, claimed in zip(proof.points, proof.distances, strict=True):
        other = Point(at.network, numbers(values), at.X, at.y)
        if len(other.theta) != len(at.theta):
            raise Wrong("a point has not as many parameters as the network")
        if other.theta[: where.start] + other.theta[where.stop :] != (
            at.theta[: where.start] + at.theta[where.stop :]
        ):
            raise Wrong("a point differs from theta in another layer")
        if other.least <= 0:
            raise Wrong("a point does not classify every datum correctly")
        cost = square(other.theta[where]) ** degree / other.least**2
        if not cost < own:
            raise Wrong("a point is not shorter")
        found.append(_distance(at, other, where, degree))
        if found[-1] > 1.001 * float(claimed) + 1e-12:
            raise Wrong("a point is farther from theta than it says")
        if error == 0 or _most_cost(at, other, where, degree, error) < least:
            sure.append(found[-1] + error)
    if any(b >= a for a, b in pairwise(found)):
        raise Wrong("the points do not come nearer and nearer")
    if not sure or sure[-1] > NEAR:
        raise Wrong("no shorter point is near to theta")
    return sure[-1]


def _least_cost(at: Point, where: slice, degree: int, error: float) -> arb:
    """A ball not above |u|^(2 degree) / (least margin)^2 of all that is so near to theta: u is
    theta, or the layer that may change."""
    radius = arb(error) * arb(square(at.theta)).sqrt()
    near = _margins(at, [arb(value) + radius * arb(0, 1) for value in at.theta])
    most = min((margin.upper() for margin in near), key=float)
    length = arb(square(at.theta[where])).sqrt() - radius
    if not length > 0:
        raise Wrong("theta is not known well enough")
    return length ** (2 * degree) / most**2


def _most_cost(at: Point, other: Point, where: slice, degree: int, error: float) -> arb:
    """A ball not below that of a shorter point, whose other layers are those of the limit."""
    radius = arb(error) * arb(square(at.theta)).sqrt()
    theta = [arb(value) + radius * arb(0, 1) for value in at.theta]
    theta[where] = [arb(value) for value in other.theta[where]]
    least = min((margin.lower() for margin in _margins(at, theta)), key=float)
    if not least > 0:
        return arb("inf")
    return arb(square(other.theta[where])) ** degree / least**2


def _margins(at: Point, theta: list[arb]) -> list[arb]:
    """y_i f(theta; x_i) in balls, (n,)."""
    return replace(at, theta=theta).margins  # type: ignore[arg-type, return-value]


def _distance(at: Point, other: Point, where: slice, degree: int) -> float:
    """|theta' - theta| / |theta| with theta' (or its layer) scaled to theta's least margin."""
    scale = arb(at.least / other.least).root(degree)
    first, second = at.theta[where], other.theta[where]
    cross, length = dot(first, second), square(at.theta)
    total = scale**2 * arb(square(second)) - 2 * scale * arb(cross) + arb(square(first))
    return upper(abs(total / arb(length)).sqrt())


def _aligned(at: Point, proof: Aligned) -> arb:
    """1 - bound / value of a fully connected linear network. Raises Wrong."""
    full = all(np.array_equal(np.sort(g.ravel()), np.arange(1, g.size + 1))
               for g in at.network.maps)  # fmt: skip
    if at.network.activation != "linear" or not full:
        raise Wrong("the proof is for fully connected linear networks")
    total, pulls = weighted(at, proof.multipliers)
    length = square(combination(pulls, at.X, len(at.X[0])))
    if length == 0:
        raise Wrong("the multipliers give no bound")
    m = at.depth
    # (bound / value)^m, both for |theta|^2: m^m (sum / length)^2 over |theta|^(2m) / margin^2.
    share = fmpq(m) ** m * total**2 / length * at.least**2 / square(at.theta) ** m
    return 1 - arb(share).root(m)
