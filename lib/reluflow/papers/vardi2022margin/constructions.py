"""The printed examples of the page `counterexamples`, exactly: curves, limits, shorter points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle, pairwise, product
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Draw, Instance
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin.kkt import margins
from reluflow.margin.limits import AT_REST, Limit, limit
from reluflow.networks.indexed import Network, fully_connected
from reluflow.papers.vardi2022margin.checker import check
from reluflow.papers.vardi2022margin.setting import (
    EPS,
    LOSSES,
    Construction,
    Exact,
    classify_optimum,
    floats,
    fraction,
    lemma_C_6,
    output,
    settled_limit,
    theorem_3_2,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_5_1,
)

# --- A network along a curve of parameters that are polynomials in one variable, exactly ----------
#
# A perturbation theta'(eps) is such a curve in s, where eps is a multiple of s or of s^2. Between
# the zeros of the units' inputs each output is one polynomial in s, at any depth, so that what is
# claimed of all eps is decided by counting zeros (Sturm), not by sampling.

S = sympy.Symbol("s", positive=True)
"""The variable of a curve."""


class Piece(NamedTuple):
    """low < s < high where no unit's input changes its sign, and margins in S there, (n,)."""

    low: sympy.Expr
    high: sympy.Expr
    margins: tuple[sympy.Expr, ...]


class Curve(NamedTuple):
    """The perturbation of a construction for 0 < s < end, with eps = size(s): its pieces from left
    to right, and |theta~|^2 - |theta'(s)|^2, a polynomial in S."""

    size: sympy.Expr
    pieces: tuple[Piece, ...]
    shorter: sympy.Expr

    def margins_are(self, value: sympy.Expr) -> bool:
        """Whether all margins are this expression in EPS, on every piece."""
        wanted = sympy.expand(sympy.sympify(value).subs(EPS, self.size))
        return all(sympy.expand(m - wanted) == 0 for p in self.pieces for m in p.margins)

    @property
    def feasible(self) -> bool:
        """Whether all margins are at least 1, on every piece."""
        return all(sympy.expand(m - 1) == 0 or positive(m - 1, p.low, p.high)
                   for p in self.pieces for m in p.margins)  # fmt: skip

    def is_positive(self, value: sympy.Expr) -> bool:
        """Whether an expression in EPS is positive on all of the curve."""
        ends = self.pieces[0].low, self.pieces[-1].high
        return positive(value.subs(EPS, self.size), *ends)

    @property
    def improves(self) -> bool:
        """Whether theta'(s) is feasible and shorter for all 0 < s < end."""
        return self.feasible and self.is_positive(self.shorter)


def curve(construction: Construction, size: sympy.Expr, end: sympy.Expr) -> Curve:
    """The construction's theta'(eps) with eps = size(s), for 0 < s < end. Raises ValueError where
    the zeros of a unit's input are not found exactly."""
    better = tuple(sympy.expand(v.subs(EPS, size)) for v in construction.exact_better)
    pieces = _pieces(construction, better, sympy.Integer(0), sympy.sympify(end))
    limit = sum(value**2 for value in construction.exact_limit)
    shorter = sympy.expand(limit - sum(value**2 for value in better))
    return Curve(size, tuple(pieces), shorter)


def _pieces(
    construction: Construction, better: Exact, low: sympy.Expr, high: sympy.Expr
) -> list[Piece]:
    """The pieces of low < s < high: that one, or where some unit's input, by the activity in its
    middle, has a zero in it, those of the parts between the zeros."""
    c, middle, inputs = construction, between(low, high), []

    def slope(h: sympy.Expr) -> int:
        inputs.append(h)
        return int(bool(sympy.expand(h).subs(S, middle) > 0))

    margins = exact_margins(c, better, slope)
    edges = {low, high} | {root for h in inputs for root in zeros(h, low, high)}
    if len(edges) == 2:
        return [Piece(low, high, tuple(sympy.expand(value) for value in margins))]
    parts = pairwise(sorted(edges))
    return [piece for part in parts for piece in _pieces(c, better, *part)]


def exact_margins(c: Construction, theta: Exact, slope: Callable) -> list[sympy.Expr]:
    """The margins (n,) of theta (p,), with the `slope` of the ReLU at a unit's input."""
    pairs = zip(c.exact_X, c.labels, strict=True)
    return [label * output(c.network, theta, x, slope) for x, label in pairs]


def positive(value: sympy.Expr, low: sympy.Expr, high: sympy.Expr) -> bool:
    """Whether a polynomial in S is positive for all low < s < high."""
    value = sympy.expand(value)
    if value == 0 or zeros(value, low, high):
        return False
    return bool(value.subs(S, between(low, high)) > 0)


def zeros(value: sympy.Expr, low: sympy.Expr, high: sympy.Expr) -> list[sympy.Expr]:
    """The different zeros low < s < high of a polynomial in S whose coefficients have rational
    ratios; none for the polynomial 0. Raises ValueError for other ratios."""
    value = sympy.expand(value)
    if value == 0:
        return []
    monic = sympy.Poly(value, S)
    monic = sympy.Poly([sympy.radsimp(c / monic.LC()) for c in monic.all_coeffs()], S)
    if not all(c.is_Rational for c in monic.all_coeffs()):
        raise ValueError(f"the coefficients of {value} have no rational ratios")
    return [root for root in sorted(set(monic.real_roots())) if low < root < high]


def between(low: sympy.Expr, high: sympy.Expr) -> sympy.Rational:
    """A rational number strictly between two real numbers."""
    middle = sympy.Rational(str(sympy.N((low + high) / 2, 50)))
    if not low < middle < high:
        raise ValueError(f"{low} and {high} are too near to one another")
    return middle


def margins_up_to_one(construction: Construction) -> list[sympy.Expr]:
    """The margins (n,) of theta'(eps) for all 0 < eps < 1 at once, roots in eps allowed: with eps =
    1/(1 + t), t > 0, SymPy knows the sign of each unit's input. Raises ArithmeticError where it
    does not."""
    t = sympy.Symbol("t", positive=True)
    c, eps = construction, 1 / (1 + t)
    better = [sympy.together(value.subs(EPS, eps), deep=True) for value in c.exact_better]

    def slope(h: sympy.Expr) -> int:
        if h.is_positive is None:
            raise ArithmeticError(f"the sign of {h} is not known")
        return int(h.is_positive)

    return [sympy.simplify(margin) for margin in exact_margins(c, tuple(better), slope)]


# --- Printed examples with one more layer: negative entries of Table 2 need depth 3 ---------------
#
# f = v s(sum_j a_j s(w_j.x)), s the ReLU, theta = (w, a, v). Where the first two layers go along
# the printed flow the unit above them stays active, and v grows with them.


def deeper(printed: Construction, factor: sympy.Expr, above: sympy.Expr) -> Construction:
    """The data and the start of a fully connected ReLU network of depth 2 for that with a third
    layer of one unit, v(0) = 4; the limit, to be confirmed, and the better point are the printed
    ones times a factor, with v = `above`."""
    limit, better = ((*(factor * value for value in values), above)
                     for values in (printed.exact_limit, printed.exact_better))  # fmt: skip
    network = fully_connected((2, len(printed.network.maps[0]), 1))
    start = (*printed.exact_start, sympy.Integer(4))
    return replace(printed, name=f"{printed.name}, depth 3", network=network, exact_start=start,
                   exact_limit=limit, exact_better=better)  # fmt: skip


def dead_neuron() -> Construction:
    """Theorem 3.2's with w_1 = (0, c), a_1 = v = c in the limit, c^3 = 4."""
    c = sympy.Integer(4) ** sympy.Rational(1, 3)
    return deeper(theorem_3_2(), c / 2, c)


def deeper_two_groups() -> Construction:
    """Lemma C.6's with w_1 = (0, 2 b), a_1 = 2 b, w_2 = (0, -b), a_2 = b, v = sqrt(5) b in the
    limit, sqrt(5) b^3 = 1. The better point has another first layer: both rows of C.6's, over what
    is above them."""
    b = 5 ** sympy.Rational(-1, 6)
    made = deeper(lemma_C_6(), b, sympy.sqrt(5) * b)
    *_, first, second, v = made.exact_limit
    x, y = made.exact_X[0]
    upper = (value / ((x**2 + y**2) * first * v) for value in (x, y))
    lower = (value / (second * v) for value in (sympy.Rational(-5, 4), sympy.Integer(-1)))
    return replace(made, exact_better=(*upper, *lower, first, second, v))


# --- In exact numbers: a start whose ray the flow never leaves, and a better point ----------------
#
# Where all margins at theta are equal, so are they, and all pulls, at c theta. If moreover sum_i
# y_i grad f(theta; x_i) is a positive multiple of theta, the flow from theta stays on its ray, and
# that is its direction for ever, for every loss.


def keeps_its_ray(construction: Construction, at_zero: float) -> bool:
    """Whether the flow from the start stays on the ray of the printed limit, sigma'(0) = at_zero,
    in exact numbers."""
    start, limit = construction.exact_start, construction.exact_limit
    margins, rates = pulled(construction, start, at_zero)
    if len(margins) > 1 or not min(margins) > 0:
        return False
    return parallel(rates, start) and parallel(rates, limit)


def pulled(
    construction: Construction, theta: Exact, at_zero: float = 0.0
) -> tuple[set[sympy.Expr], list[sympy.Expr]]:
    """The margins at theta (p,) that differ, and sum_i y_i grad f(theta; x_i) (p,), sigma'(0) =
    at_zero, in exact numbers, by the network's own polynomial around theta."""
    names = sympy.symbols(f"u0:{len(theta)}")
    at = dict(zip(names, map(sympy.sympify, theta), strict=True))

    def slope(h: sympy.Expr) -> sympy.Expr:
        exact = sympy.expand(h.subs(at))
        return sympy.nsimplify(at_zero) if exact == 0 else sympy.Integer(int(bool(exact > 0)))

    values = [sympy.expand(margin) for margin in exact_margins(construction, names, slope)]
    rates = [sympy.diff(sum(values), name).subs(at) for name in names]
    return {sympy.expand(value.subs(at)) for value in values}, rates


def better_is_shorter(construction: Construction) -> bool:
    """Whether the better point, one without EPS, is feasible and shorter than the limit."""
    c = construction
    better, limit = (sum(v**2 for v in values) for values in (c.exact_better, c.exact_limit))
    return bool(better < limit) and all(margin >= 1 for margin in _margins(c, c.exact_better))


def parallel(a: Sequence[sympy.Expr], b: Sequence[sympy.Expr]) -> bool:
    """Whether exact vectors are positive multiples of one another."""
    crosses = all(sympy.expand(p * s - q * r) == 0 for p, r in zip(a, b, strict=True)
                  for q, s in zip(a, b, strict=True))  # fmt: skip
    return crosses and bool(sympy.expand(sum(p * r for p, r in zip(a, b, strict=True))) > 0)


# --- Where a trained network ends in direction, and what kind of optimum that is ------------------


@dataclass(frozen=True)
class Judged:
    """A limit in Problem (4) of a `layer`, from 1, or in Problem (2): "global", "local", "not
    local", or "undecided" where no certificate was found or the exact checker refused it; the
    largest share by which a point could be shorter, or for "not local" the share that some point
    saves; and the kind of certificate."""

    layer: int | None
    verdict: str
    gap: float
    proof: str


@dataclass(frozen=True)
class End:
    """The limit of a flow and what it is: whether all hidden neurons have incoming `weights` that
    are not 0 and, of each hidden layer, `inputs` that are not 0 on any datum (None where the
    limit's error does not tell); and the problems at the limit, none where no limit was found."""

    limit: Limit
    weights: bool | None
    inputs: tuple[bool | None, ...]
    judged: tuple[Judged, ...]

    @property
    def fits(self) -> bool:
        """Whether L goes to 0, as far as it is known: not for a flow that comes to rest."""
        return self.limit.status != AT_REST

    def inputs_from(self, layer: int) -> bool | None:
        """Whether no input to the hidden neurons of this layer, from 1, and those above is 0."""
        return _all(self.inputs[layer - 1 :])


def ended(item: Instance, by_layer: bool = False) -> dict[str, object]:
    """An instance {"network", "X", "y", "start", "logistic"} with its "end", an `End`; the problems
    are those of all layers, or Problem (2)."""
    network, X, y = item["network"], item["X"], item["y"]
    loss = LOGISTIC if item["logistic"] else EXPONENTIAL
    found = limit(network, loss, X, y, item["start"], reach=1e4, rtol=1e-5)
    if not found.converged:
        return {**item, "end": End(found, None, (None,) * (network.degree - 1), ())}
    theta, layers = found.theta, range(1, network.degree + 1) if by_layer else (None,)
    lengths = [np.linalg.norm(W, axis=1) for W in network.weights(theta)[:-1]]
    return {**item, "end": End(
        found,
        _all(_apart(row / np.linalg.norm(theta), found.error) for row in lengths),
        tuple(_apart(h, found.error) for h in _cosines(network, theta, X)),
        tuple(judged(network, theta, X, y, layer) for layer in layers),
    )}  # fmt: skip


def judged(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, layer: int | None = None
) -> Judged:
    """What theta (p,) is in Problem (2) or (4), by a certificate that the exact checker accepts."""
    found = classify_optimum(network, theta, X, y, layer)
    if (proof := found.certificate) is None:
        return Judged(layer, "undecided", np.nan, "none")
    kind, seen = type(proof).__name__, check(network, found.theta, X, y, proof)
    if seen.verdict == "refused":
        return Judged(layer, "undecided", np.nan, kind)
    gap = found.saved if seen.verdict == "not local" else seen.slack
    return Judged(layer, seen.verdict, gap, kind)


def trained(
    draws: Mapping[str, Draw], seed: int, count: int, by_layer: bool = False
) -> tuple[tuple[str, Instance], ...]:
    """`count` instances or a few more, as many of each kind, each with its kind and its end."""
    rng, kinds = np.random.default_rng(seed), list(draws)
    each = kinds * -(-count // len(kinds))
    return tuple((kind, ended(draws[kind](rng), by_layer)) for kind in each)


def replayed(found: Sequence[tuple[str, Instance]]) -> dict[str, Draw]:
    """Draws that give these instances, kind by kind, in order: one survey for many statements."""

    def again(kind: str) -> Draw:
        items = iter([item for own, item in found if own == kind])
        return lambda rng: next(items)

    return {kind: again(kind) for kind in dict.fromkeys(kind for kind, _ in found)}


def _cosines(network: Network, theta: NDArray, X: NDArray) -> list[NDArray]:
    """Inputs of the hidden neurons over the lengths of their two factors, (n, h_l) each."""
    if network.activation == "relu":
        return network.cosines(theta, X)
    found = []
    for W in network.weights(theta)[:-1]:
        size = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(W, axis=1)
        h = X @ W.T
        found.append(np.divide(h, size, out=np.zeros_like(h), where=size > 0.0))
        X = h
    return found


def _apart(values: NDArray, error: float) -> bool | None:
    """Whether no value, a length over |theta| or a cosine, is 0, up to 1e-9; None where it is not
    above 1e-6 and ten times the limit's error."""
    least = float(np.abs(values).min())
    return False if least <= 1e-9 else True if least > max(1e-6, 10.0 * error) else None


def _all(told: Iterable[bool | None]) -> bool | None:
    told = list(told)
    return False if False in told else None if None in told else True


def values(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> NDArray:
    """|theta|^2 / (min margin)^(2/m), shape (...), of parameters theta (..., p); NaN where a datum
    is not classified correctly."""
    theta = np.asarray(theta, float)
    least = margins(network, theta, X, y).min(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cost = (theta * theta).sum(axis=-1) / np.maximum(least, 0.0) ** (2.0 / network.degree)
    return np.where(least > 0.0, cost, np.nan)


# --- The paper's shorter feasible points, each beside the limit that it is to be shorter than -----
#
# What is said of all eps is decided in polynomials. The flow has no part here: the limits are the
# constructions' own.

BOTH = ("linear", "relu")


def dead_neuron_helps() -> list[Evidence]:
    """mm.thm3.2.perturbation: margins, length and distance of C.3's theta'(eps), 0 < eps < 1/9."""
    c = theorem_3_2()
    near = curve(c, S**2 / 2, sympy.sqrt(2 * c.reach))
    return [
        fact("both margins are 1 for all 0 < ε < 1/9", near.margins_are(sympy.Integer(1)), True),
        fact("|θ'|² is 8 - 4ε + 17/4 ε²", _is_norm(c, 8 - 4 * EPS + 17 * EPS**2 / 4), True),
        fact("|θ'| < |θ̃| = √8 for all 0 < ε < 1/9", near.improves, True),
        fact("|θ' - θ̃| < 3 √ε for all 0 < ε < 1/9", near.is_positive(9 * EPS - distance(c)), True),
    ]


def _tilted_norm() -> list[Evidence]:
    c = theorem_4_4()
    near = curve(c, 2 * S**2, sympy.sqrt(c.reach / 2))
    return [
        fact("|θ'|² is 2 - ε/2 + ε²", _is_norm(c, 2 - EPS / 2 + EPS**2), True),
        fact("|θ'| < |θ̃| = √2 for all 0 < ε < 1/2", near.is_positive(near.shorter), True),
    ]


def tilted_margins() -> list[Evidence]:
    """mm.thm4.4.perturbation: length and margin of C.7's theta'(eps), linear and ReLU."""
    printed = 1 + 3 * EPS
    linear, relu = (curve(theorem_4_4(name), 2 * S**2, sympy.Rational(1, 2)) for name in BOTH)
    same = relu.pieces[0]
    excess = sympy.expand(relu.pieces[-1].margins[0] - printed.subs(EPS, relu.size))
    return [
        *_tilted_norm(),
        fact("linear: the margin is 1 + 3ε for all 0 < ε < 1/2", linear.margins_are(printed), True),
        fact("ReLU: the margin is 1 + 3ε for all 0 < ε < 1/2", relu.margins_are(printed), True),
        fact("ReLU: the margin is at least 1 for all 0 < ε < 1/2", relu.feasible, True),
        fact("ReLU: where it is not 1 + 3ε it is more",
             positive(excess, same.high, relu.pieces[-1].high), True),
        note("ReLU: the margin is 1 + 3ε for all ε up to", _written(relu.size.subs(S, same.high))),
    ]  # fmt: skip


def silent_patch() -> Counterexample:
    """The margin of C.7's theta'(1/4) in the ReLU network: above the printed 1 + 3/4."""
    c, eps = theorem_4_4("relu"), sympy.Rational(1, 4)
    theta = floats([value.subs(EPS, eps) for value in c.exact_better])
    measured = float(c.network.output(theta, c.X)[0])
    root, quarter = sympy.sqrt(2), sympy.Rational(1, 4)
    w, v = (2 * quarter, 3 * quarter), (1 / root + quarter, 1 / root - quarter)
    inputs = [sign * 4 * w[0] + w[1] / root for sign in (1, -1)]
    by_hand = sympy.expand(sum(a * sympy.Max(h, 0) for a, h in zip(v, inputs, strict=True)))
    return Counterexample(
        instance={"activation": "ReLU", "x": "(4, 1/√2, -4, 1/√2)", "ε": Fraction(1, 4),
                  "w'": "(1/2, 3/4)", "v'": "(1/√2 + 1/4, 1/√2 - 1/4)",
                  "⟨w', x⁽²⁾⟩": _written(inputs[1]), "Φ(θ'; x)": _written(by_hand)},
        assumptions={"0 < ε < 1/2": bool(0 < eps < c.reach),
                     "w' and v' are C.7's for this ε":
                     np.allclose(theta, floats([*w, *v]), rtol=0.0, atol=1e-15)},
        breaks=(deviation("|Φ(θ'; x) - (1 + 3ε)|, in floats", abs(measured - 1.75), ""),),
        recheck=(fact("Φ(θ'; x) = 1 + 3ε, in numbers a + b√2",
                      by_hand == sympy.Rational(7, 4), True),),
        route="the two patches by hand in numbers a + b√2: the second one's input is negative",
    )  # fmt: skip


def shorter_all_the_way(*given: tuple[Construction, sympy.Expr]) -> list[Evidence]:
    """That theta'(eps), eps = size(s), is feasible and shorter for all 0 < eps < reach and begins
    at the limit: given are constructions, each with its size."""
    held = []
    for c, size in given:
        (end,) = (root for root in sympy.roots(size - c.reach, S) if root.is_positive)
        held.append(curve(c, size, end).improves and distance(c).subs(EPS, 0) == 0)
    names = "; ".join(f"{c.name}, 0 < ε < {c.reach}" for c, _ in given).replace("sqrt(2)", "√2")
    return [
        fact("curves θ'(ε) from the limit on of which every point is feasible and shorter",
             sum(held), len(held)),
        note("these curves", names),
    ]  # fmt: skip


def distance(construction: Construction) -> sympy.Expr:
    """|theta' - theta~|^2 as an expression in EPS."""
    pairs = zip(construction.exact_better, construction.exact_limit, strict=True)
    return sympy.expand(sum((a - b) ** 2 for a, b in pairs))


def changed_layers(construction: Construction) -> tuple[int, ...]:
    """The layers, from 1, in which theta' differs from the limit."""
    c = construction
    layers = np.repeat(1 + np.arange(c.network.degree), c.network.sizes).tolist()
    triples = zip(layers, c.exact_better, c.exact_limit, strict=True)
    return tuple(sorted({layer for layer, a, b in triples if sympy.expand(a - b) != 0}))


def _is_norm(construction: Construction, printed: sympy.Expr) -> bool:
    return sympy.simplify(sum(v**2 for v in construction.exact_better) - printed) == 0


def _written(value: sympy.Expr) -> str:
    return str(sympy.expand(value)).replace("*sqrt(2)", "√2")


# --- Lemma C.6: a limit that is locally optimal, and a shorter feasible point far from it ---------


def far_point_is_shorter() -> list[Evidence]:
    """Lemma C.6's second half: each step of the last display on theta'."""
    c = lemma_C_6()
    alpha, beta = c.exact_limit[4:]
    margins = _margins(c, c.exact_better)
    terms = [1 / alpha**2, alpha**2, sympy.Rational(41, 16) / beta**2, beta**2]
    middle = sympy.Rational(1, 4) + alpha**2 + 3 + beta**2
    better, limit = (sum(v**2 for v in values) for values in (c.exact_better, c.exact_limit))
    return [
        fact("α̃, β̃ of the limit", (fraction(alpha), fraction(beta)), (2, 1)),
        fact("its margins", tuple(map(fraction, _margins(c, c.exact_limit))), (1, 1, 1)),
        fact("margins of θ' that are below 1", sum(bool(value < 1) for value in margins), 0),
        fact("|θ'|² is 1/α̃² + α̃² + 41/(16 β̃²) + β̃²", sympy.expand(better - sum(terms)) == 0, True),
        bound("1/α̃², with 1/4: an equality", fraction(terms[0]), "<=", Fraction(1, 4), ""),
        bound("41/(16 β̃²), with 3", fraction(terms[2]), "<", 3, ""),
        bound("|θ'|², with the display's middle", fraction(better), "<", fraction(middle), ""),
        bound("the middle, with |θ̃|² = 2α̃² + 2β̃²", fraction(middle), "<", fraction(limit), ""),
        note("|θ'|² and |θ̃|²", (fraction(better), fraction(limit))),
    ]


def _margins(c: Construction, theta: Exact) -> Exact:
    """The margins (n,), with the signs of exact numbers."""
    found = exact_margins(c, theta, lambda h: int(bool(sympy.expand(h) > 0)))
    return tuple(map(sympy.expand, found))


# --- The printed examples: flow, limit, and what optimum that is ----------------------------------

AT_ZERO = (0.0, 0.5, 1.0)
"""Values of sigma'(0)."""
AS_PRINTED = 1e-9
"""How far, over its length, a computed limit may be from the printed one."""
RESIDUAL = 1e-9
"""The largest KKT residual of a limit, over its length."""


class Followed(NamedTuple):
    """A flow of a construction: how it was run, its limit, and that in Problem (2) or (4)."""

    how: str
    limit: Limit
    judged: Judged


Runs = Sequence[tuple[Construction, Followed]]


def flows(
    constructions: Iterable[Construction],
    layer: int | None = None,
    losses: Sequence[str] = tuple(LOSSES),
) -> Runs:
    """The flows of constructions for these losses, judged in Problem (2) or (4); sigma'(0) = 0."""
    found = []
    for c, name in product(constructions, losses):
        end = settled_limit(c.network, name, c.X, c.y, c.start)
        told = judged(c.network, end.theta, c.X, c.y, layer)
        found.append((c, Followed(name, end, told)))
    return found


def along_rays(*made: Construction) -> Runs:
    """A flow of each construction whose start is on the limit's ray, with the losses in turn: that
    it stays there, for every loss and sigma'(0), is told exactly."""
    pairs = zip(made, cycle(LOSSES), strict=False)
    return [run for c, name in pairs for run in flows([c], losses=(name,))]


def as_printed(runs: Runs, verdict: str, layer: int | None = None) -> list[Evidence]:
    """That the flows of constructions end where the paper says, at KKT points that are what the
    paper says: "not local" or "local", of Problem (2) or of that of one layer."""
    given = list({c.name + c.network.activation: c for c, _ in runs}.values())
    off = max(float(np.linalg.norm(run.limit.theta - c.limit) / np.linalg.norm(c.limit))
              for c, run in runs)  # fmt: skip
    problem = "" if layer is None else f" of Problem (4), layer {layer}"
    words = {"not local": "no local optimum", "local": "local optima", "global": "global optima"}
    near = " (shorter points within 1e-3 of it)" if verdict == "not local" else ""
    found = [
        fact("flows that come to zero loss and a KKT point", sum(
            run.limit.converged for _, run in runs), len(runs), tried=len(runs)),
        bound("the least log10(1/L) reached", min(
            run.limit.reached for _, run in runs), ">=", 1e4, "", digits=3),
        bound("limits from the printed one, over its length", off, "<=", AS_PRINTED, ""),
        bound("KKT residuals over the length", max(
            run.limit.residual for _, run in runs), "<=", RESIDUAL, ""),
        fact(f"limits that are {words[verdict]}{problem}{near}, by certificates checked in "
             "rational arithmetic", sum(run.judged.verdict == verdict for _, run in runs),
             len(runs), tried=len(runs)),
    ]  # fmt: skip
    kept = [keeps_its_ray(c, value) for c in given if parallel(c.exact_start, c.exact_limit)
            for value in (AT_ZERO if c.network.activation == "relu" else (0.0,))]  # fmt: skip
    if kept:
        says = "starts on the printed limit's ray, σ'(0) = 0, 1/2, 1, that stay there, exactly"
        found.append(fact(says, sum(kept), len(kept), tried=len(kept)))
    how = "; ".join(dict.fromkeys(run.how for _, run in runs))
    kind = {"relu": "ReLU", "linear": "linear"}
    names = "; ".join(dict.fromkeys(f"{c.name}, {kind[c.network.activation]}" for c in given))
    return [*found, note("runs", f"{names}: {how}")]


def silent_coordinate() -> list[Evidence]:
    """mm.thm4.1: the flows of Theorem 4.1, shorter points of C.4, 0 < eps < 1; linear and ReLU."""
    both = [theorem_4_1(name) for name in BOTH]
    return [
        *as_printed(along_rays(*both), "not local"),
        fact("the margin is 1 for all 0 < ε < 1, linear and ReLU",
             [margins_up_to_one(c) == [1] for c in both], [True, True]),
        fact("|θ'|² is 2 - ε, less than |θ̃|² = 2", _is_norm(both[0], 2 - EPS), True),
    ]  # fmt: skip


def four_neurons() -> list[Evidence]:
    """mm.thm4.2.2.start: flows from the printed start, shorter points of C.5.2, C.10."""
    c = theorem_4_2()
    near = curve(c, S, c.reach)
    return [
        *as_printed(flows([c]), "not local"),
        *neurons_not_zero([c]),
        fact("all four margins are 1 for all 0 < ε' < 1/√8",
             near.margins_are(sympy.Integer(1)), True),
        fact("|θ'|² is 8 + 8ε'(ε' - 1)", _is_norm(c, 8 + 8 * EPS * (EPS - 1)), True),
        fact("|θ'| < |θ̃| = √8 for all 0 < ε' < 1/√8", near.improves, True),
        fact("|θ' - θ̃|² is 8ε'²", sympy.expand(distance(c) - 8 * EPS**2) == 0, True),
        fact("layers of θ' that differ from θ̃'s", changed_layers(c), (1,)),
    ]  # fmt: skip


def printed_limits_two_groups() -> list[Evidence]:
    """mm.thm4.3.notglobal: the flows of Lemma C.6 to a local optimum, and its shorter point."""
    c = lemma_C_6()
    return [*as_printed(flows([c]), "local"), *inputs_not_zero([c]), *far_point_is_shorter()]


def shared_filter() -> list[Evidence]:
    """mm.thm4.4: the flows of Theorem 4.4, shorter points of C.7, eps < 1/2; linear and ReLU."""
    both = [theorem_4_4(name) for name in BOTH]
    near = [curve(c, 2 * S**2, sympy.sqrt(c.reach / 2)) for c in both]
    room = 2 * EPS - distance(both[0])
    return [
        *as_printed(along_rays(*both), "not local"),
        *inputs_not_zero(both),
        fact("the margin is at least 1 for all 0 < ε < 1/2, linear and ReLU",
             [each.feasible for each in near], [True, True]),
        *_tilted_norm(),
        fact("|θ' - θ̃|² < 2ε for all 0 < ε < 1/2", near[0].is_positive(room), True),
    ]  # fmt: skip


def deep_diagonal(depths: Sequence[int] = (3, 4, 5, 6)) -> list[Evidence]:
    """mm.thm5.1: the flows of Theorem 5.1, and the shorter points of C.8, 0 < eps < 1, linear and
    ReLU: |theta'|^2 is a sum of powers t^(2/m), which are strictly concave for m >= 3."""
    all_of = [theorem_5_1(depth, name) for depth in depths for name in BOTH]
    powers = [sympy.Rational(2, m) for m in depths]
    norms = [m / 2**a * ((1 + EPS) ** a + (1 - EPS) ** a)
             for m, a in zip(depths, powers, strict=True)]  # fmt: skip
    return [
        *as_printed(along_rays(*all_of), "not local"),
        *inputs_not_zero(all_of),
        note("depths m", list(depths)),
        fact("depths at which the margin is 1 for all 0 < ε < 1, linear and ReLU",
             [sum(margins_up_to_one(c) == [1] for c in all_of[k::2]) for k in (0, 1)],
             [len(depths)] * 2),
        fact("depths at which |θ'|² is m 2^(-2/m) ((1 + ε)^(2/m) + (1 - ε)^(2/m))",
             sum(map(_is_norm, all_of[::2], norms)), len(depths)),
        bound("the largest a (a - 1), a = 2/m, the sign of (t^a)''",
              max(fraction(a * (a - 1)) for a in powers), "<", 0, ""),
    ]  # fmt: skip


def first_layer_of_two_groups() -> list[Evidence]:
    """mm.thm5.4.notglobal: the first layer of Lemma C.6's limits, and its shorter point, which
    differs from the limit in the first layer only and is feasible."""
    c = lemma_C_6()
    better, first = (fraction(sum(v**2 for v in u[: c.network.sizes[0]]))
                     for u in (c.exact_better, c.exact_limit))  # fmt: skip
    margins = _margins(c, c.exact_better)
    return [
        *as_printed(flows([c], 1), "local", 1),
        *inputs_not_zero([c]),
        fact("layers of θ' that differ from θ̃'s", changed_layers(c), (1,)),
        fact("margins of θ' that are below 1", sum(bool(value < 1) for value in margins), 0),
        bound("|u⁽¹⁾'|², with |ũ⁽¹⁾|²", better, "<", first, ""),
    ]


def inputs_not_zero(constructions: Sequence[Construction]) -> list[Evidence]:
    """That no input to a hidden neuron is 0 at the printed limits."""
    inputs = [h for c in constructions for h in _cosines(c.network, c.limit, c.X)]
    least = min(float(np.abs(h).min()) for h in inputs)
    return [bound("the smallest |input|, as a cosine, to a hidden neuron at the limits", least,
                  ">", 0, "")]  # fmt: skip


def neurons_not_zero(constructions: Sequence[Construction]) -> list[Evidence]:
    """That no hidden neuron of depth-2 networks has weights 0 at the printed limits."""
    alive = [bool(w.any()) for c in constructions for w in c.network.weights(c.limit)[0]]
    return [fact("hidden neurons whose weights are not 0", sum(alive), len(alive))]


# --- Theorems 4.2 (2) and 5.3 from a start that meets no kink, so that there is one flow only -----
#
# Two data at right angles, four ReLU neurons, each active on one datum, its own, and silent on the
# other one, v_j > 0. With a_j the input from the own datum a_j + v_j keep their ratio, here 4 : 3.


def two_data() -> Construction:
    """Data (0, 1), (1, 0), labels 1; neurons in turn for the first and the second datum. The better
    point tilts each neuron towards the other datum."""
    x = ((0, 1), (1, 0))
    share = [sympy.Rational(k, 5) for k in (4, 4, 3, 3)]
    tilted = ((EPS, 1 - EPS), (1 - EPS, EPS))
    first = [c * value for j, c in enumerate(share) for value in x[j % 2]]
    better = [c * value for j, c in enumerate(share) for value in tilted[j % 2]]
    start = (-1, 2, 2, -1, -1, 1, 1, -1, 2, 2, 2, 2)
    return Construction(
        "off the kinks", fully_connected((2, 4)),
        tuple(tuple(map(sympy.Integer, row)) for row in x), (1, 1),
        tuple(map(sympy.Integer, start)),
        (*first, *share),
        (*better, *share),
        sympy.Integer(1),
    )  # fmt: skip


def two_data_deeper() -> Construction:
    """The same with a third layer of one unit, v = sqrt(2) c in the limit, sqrt(2) c^3 = 1."""
    c = sympy.Rational(1, 2) ** sympy.Rational(1, 6)
    return deeper(two_data(), c, sympy.sqrt(2) * c)


def one_flow_only(layer: int | None = None) -> list[Evidence]:
    """mm.thm4.2.2, mm.thm5.3: the flow from the start of `two_data` meets no kink and ends at no
    local optimum, no neuron 0, of Problem (2) or of that of one layer."""
    c = two_data()
    first, second = c.network.weights(c.start)
    own = np.where(c.network.weights(c.limit)[0] @ c.X.T > 0.0, 1.0, -1.0)
    alone = (own * (first @ c.X.T) > 0.0).all() and (second > 0.0).all()
    return [
        fact("off the kinks: ⟨x₁, x₂⟩, so that no neuron moves along another's datum",
             int(c.X[0] @ c.X[1]), 0),
        fact("off the kinks: at the start each v > 0, and each neuron is active on its own datum "
             "and silent on the other one", bool(alone), True),
        *as_printed(flows([c], layer), "not local", layer),
        *shorter_all_the_way((c, S)),
        fact("off the kinks: layers of θ' that differ from θ̃'s", changed_layers(c), (1,)),
        *neurons_not_zero([c]),
    ]  # fmt: skip


# --- Theorem 5.2 of Problem (2): a shorter point differs in two layers at least -------------------
#
# Where all margins are 1 and sum_i y_i grad f in a layer u is a positive multiple of u, it is u's
# only optimum in Problem (4): f is linear in u, so that no other feasible layer is as short.


def layers_put_back(depths: Sequence[int] = (3, 4, 5, 6)) -> list[Evidence]:
    """mm.thm5.2.two-layers: each layer of the limits of Theorems 4.1, 4.4 and 5.1, linear, is the
    global optimum of Problem (4), so that no other layer in its place is shorter."""
    off = []
    for c in (theorem_4_1(), theorem_4_4(), *(theorem_5_1(m) for m in depths)):
        (margins, rates), first = pulled(c, c.exact_limit), 0
        for size in c.network.sizes:
            part = slice(first, first := first + size)
            off.append(margins != {1} or not parallel(rates[part], c.exact_limit[part]))
    says = "layers of these limits that are not along their gradient, or not of margin 1"
    return [fact(f"{says}, in exact numbers", sum(off), 0, tried=len(off))]


# --- The printed start of Theorems 4.2 (2) and 5.3 has more than one gradient flow ----------------
#
# Every neuron starts on two kinks, and they push away. One flow stays on them, the printed one.
# Another turns all neurons at once: w_1 = (s - 1, s + 1), the others by quarter turns, all v_j = v,
# with s' = v and v' = 2 s from s = 1, v = 2 on.

STAYS = Reading(
    "(GF) is read with one constant σ'(0) and θ' = -∇L at every t, as code takes it: then the flow "
    "from the printed start stays on its kinks",
    "along Clarke's subdifferential, the flow of Theorem 2.1, or with θ' = -∇L at almost every t, "
    "the printed start has many flows: one turns all neurons at once and ends at a global optimum "
    "with no input 0, |θ̃|² = 4√2 in place of 8",
)


def turning(s: Any, v: Any, apart: Any = 1) -> tuple:
    """theta (12,) of the second flow, any numbers; apart = 0 is its direction at the end."""
    a, b = s - apart, s + apart
    return (a, b, b, -a, -a, -b, -b, a, v, v, v, v)


def turns_away() -> list[Evidence]:
    """That the closed form is a flow from the printed start, and where it ends."""
    c = theorem_4_2()
    known, inputs = _gradient()
    v = 2 ** sympy.Rational(-1, 4)
    end = turning(v / sympy.sqrt(2), v, 0)
    square = sympy.simplify(sum(value**2 for value in end))
    return [
        fact("second flow, w₁ = (s - 1, s + 1) and quarter turns: equations of θ' = -∇L that it "
             "breaks for some s > 1, in polynomials", sum(not one for one in known), 0),
        fact("second flow: inputs of hidden neurons that are 0 for some s > 1",
             sum(h.is_zero is not False for h in inputs), 0),
        fact("second flow: it starts at the printed start", turning(1, 2) == c.exact_start, True),
        fact("second flow: its limit, by a certificate in rational arithmetic",
             judged(c.network, floats(end), c.X, c.y).verdict, "global"),
        fact("second flow: |θ̃|² is 4√2, and that of the first one 8",
             [square == 4 * sympy.sqrt(2), sum(value**2 for value in c.exact_limit) == 8],
             [True, True]),
    ]  # fmt: skip


def _gradient() -> tuple[list[bool], list[sympy.Expr]]:
    """For s = 1 + t, t > 0, v > 0: whether the margins are 2 s v, and whether each parameter moves
    along sum_i y_i grad Phi(x_i) with s' = v, v' = 2 s; and all inputs of hidden neurons there."""
    c = theorem_4_2()
    t, v = sympy.symbols("t v", positive=True)
    names = sympy.symbols("u1:13")
    theta = turning(1 + t, v)
    at = dict(zip(names, theta, strict=True))
    inputs: list[sympy.Expr] = []

    def slope(h: sympy.Expr) -> int:
        inputs.append(sympy.expand(h.subs(at)))
        if inputs[-1].is_positive is None:
            raise ArithmeticError(f"the sign of {inputs[-1]} is not known")
        return int(inputs[-1].is_positive)

    outputs = [output(c.network, names, x, slope) for x in c.exact_X]
    told = [sympy.expand(value.subs(at) - 2 * (1 + t) * v) == 0 for value in outputs]
    for name, value in zip(names, theta, strict=True):
        velocity = v * sympy.diff(value, t) + 2 * (1 + t) * sympy.diff(value, v)
        told.append(sympy.expand(sympy.diff(sum(outputs), name).subs(at) - velocity) == 0)
    return told, inputs


def both(s: NDArray) -> NDArray:
    """Points of both flows from the printed start, (2, k, 12), for s >= 1 (k,): s theta(0) of the
    one that stays on its ray, and the second one."""
    turned = np.stack(turning(s, np.sqrt(2.0 * s**2 + 2.0)), axis=-1)
    return np.stack([s[:, None] * theorem_4_2().start, turned])
