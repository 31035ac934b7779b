"""The paper's shorter feasible points, each beside the limit that it is to be shorter than.

What is said of all eps is decided in polynomials; that no decade was forgotten, in balls. The flow
has no part here: the limits are the constructions' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy

from reluflow.ledger import Counterexample, Evidence, bound, deviation, fact, note
from reluflow.papers.vardi2022margin.curves import (
    Curve,
    S,
    curve,
    margins_up_to_one,
    positive,
    zeros,
)
from reluflow.papers.vardi2022margin.exact_networks import BITS, beside, decades
from reluflow.papers.vardi2022margin.instances import (
    EPS,
    Construction,
    floats,
    fraction,
    theorem_3_2,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_5_1,
)

ACTIVATIONS = ("linear", "relu")


def dead_neuron_helps() -> list[Evidence]:
    """mm.thm3.2.perturbation: C.3's theta'(eps) has both margins 1, |theta' - theta~| < 3 sqrt(eps)
    and |theta'|^2 = 8 - 4 eps + 17/4 eps^2 < 8, for 0 < eps < 1/9."""
    c = theorem_3_2()
    near, far = (curve(c, S**2 / 2, sympy.sqrt(2 * end)) for end in (c.reach, 4))
    room = 9 * EPS - distance(c)
    edges = zeros(room.subs(EPS, far.size), sympy.Integer(0), sympy.sqrt(8))
    return [
        fact("both margins are 1 for all 0 < ε < 1/9", near.margins_are(sympy.Integer(1)), True),
        fact("|θ'|² is 8 - 4ε + 17/4 ε²", _is_norm(c, 8 - 4 * EPS + 17 * EPS**2 / 4), True),
        fact("|θ'| < |θ̃| = √8 for all 0 < ε < 1/9", near.improves, True),
        fact("|θ' - θ̃| < 3 √ε for all 0 < ε < 1/9", _positive(room, near), True),
        *improving_decades(c),
        note("θ' is feasible and shorter for all ε below", _written(far.last)),
        note("|θ' - θ̃| < 3 √ε for all ε below", [_written(far.size.subs(S, s)) for s in edges[:1]]),
    ]


def silent_coordinate_helps() -> list[Evidence]:
    """The shorter points of Theorem 4.1 (C.4): margin 1 and |theta'|^2 = 2 - eps < 2 wherever they
    are real, 0 < eps <= 1, linear and ReLU."""
    both = [theorem_4_1(name) for name in ACTIVATIONS]
    return [
        fact("the margin is 1 for all 0 < ε < 1, linear and ReLU",
             [margins_up_to_one(c) == [1] for c in both], [True, True]),
        fact("|θ'|² is 2 - ε, less than |θ̃|² = 2", _is_norm(both[0], 2 - EPS), True),
        *improving_decades(*both),
        fact("θ' is shorter for ε = 1 too, the last with a real √(1 - ε)",
             bool(beside(both[0], Fraction(1)).gain > 0), True),
    ]  # fmt: skip


def turning_helps() -> list[Evidence]:
    """The shorter points of Theorems 4.2 (2) and 5.3 (C.5.2, C.10): all margins 1, |theta'|^2 = 8 +
    8 eps' (eps' - 1), |theta' - theta~| = sqrt(8) eps', for eps' below 1/sqrt(8), and how far
    beyond."""
    c = theorem_4_2()
    near, far = (curve(c, S, sympy.sympify(end)) for end in (c.reach, 2))
    return [
        fact("all four margins are 1 for all 0 < ε' < 1/√8",
             near.margins_are(sympy.Integer(1)), True),
        fact("|θ'|² is 8 + 8ε'(ε' - 1)", _is_norm(c, 8 + 8 * EPS * (EPS - 1)), True),
        fact("|θ'| < |θ̃| = √8 for all 0 < ε' < 1/√8", near.improves, True),
        fact("|θ' - θ̃|² is 8ε'²", sympy.expand(distance(c) - 8 * EPS**2) == 0, True),
        fact("layers of θ' that differ from θ̃'s", changed_layers(c), (1,)),
        *improving_decades(c),
        note("θ' is feasible and shorter for all ε' below", _written(far.last)),
    ]  # fmt: skip


def tilting_helps() -> list[Evidence]:
    """The shorter points of Theorem 4.4 (C.7): margin at least 1, |theta'|^2 = 2 - eps/2 + eps^2 <
    2 and |theta' - theta~|^2 = eps^2 + 3/2 eps < 2 eps, for 0 < eps < 1/2, linear and ReLU."""
    both = [theorem_4_4(name) for name in ACTIVATIONS]
    near, far = ([curve(c, 2 * S**2, sympy.sqrt(end / 2)) for c in both]
                 for end in (both[0].reach, sympy.Integer(4)))  # fmt: skip
    room = 2 * EPS - distance(both[0])
    return [
        fact("the margin is at least 1 for all 0 < ε < 1/2, linear and ReLU",
             [each.feasible for each in near], [True, True]),
        *_tilted_norm(),
        fact("|θ' - θ̃|² < 2ε for all 0 < ε < 1/2", _positive(room, near[0]), True),
        *improving_decades(*both),
        note("θ' is feasible and shorter for all ε below, linear and ReLU",
             [_written(each.last) for each in far]),
    ]  # fmt: skip


def _tilted_norm() -> list[Evidence]:
    c = theorem_4_4()
    near = curve(c, 2 * S**2, sympy.sqrt(c.reach / 2))
    return [
        fact("|θ'|² is 2 - ε/2 + ε²", _is_norm(c, 2 - EPS / 2 + EPS**2), True),
        fact("|θ'| < |θ̃| = √2 for all 0 < ε < 1/2", _positive(near.shorter, near), True),
    ]


def tilted_margins() -> list[Evidence]:
    """mm.thm4.4.perturbation: C.7's theta'(eps) has |theta'|^2 = 2 - eps/2 + eps^2 < 2 and margin 1
    + 3 eps for 0 < eps < 1/2, linear and ReLU. With ReLU the margin is larger from 17 - 12 sqrt(2)
    on, where the second patch falls silent: the proof needs only that it is at least 1."""
    printed = 1 + 3 * EPS
    linear, relu = (
        curve(theorem_4_4(name), 2 * S**2, sympy.Rational(1, 2)) for name in ACTIVATIONS
    )
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


def uneven_coordinates_help(depths: Sequence[int] = (3, 4, 5, 6)) -> list[Evidence]:
    """The shorter points of Theorem 5.1 (C.8): margin 1 for 0 < eps < 1, linear and ReLU, and
    |theta'|^2 = m/2^a ((1 + eps)^a + (1 - eps)^a) with a = 2/m.

    t^a is strictly concave for 0 < a < 1, so theta' is shorter for all 0 < eps <= 1: the paper's
    "small enough" is not needed. For m = 2, a = 1, it is never shorter.
    """
    linear, relu = ([theorem_5_1(m, name) for m in depths] for name in ACTIVATIONS)
    powers = [sympy.Rational(2, m) for m in depths]
    norms = [m / 2**a * ((1 + EPS) ** a + (1 - EPS) ** a)
             for m, a in zip(depths, powers, strict=True)]  # fmt: skip
    # |theta~|^2 - |theta'|^2 begins with this times eps^2.
    leading = [m / 2**a * a * (1 - a) for m, a in zip(depths, powers, strict=True)]
    tiny = [beside(c, Fraction(1, 10**300)).gain * 10**600 for c in relu]
    off = [abs(float(gain) / float(first) - 1) for gain, first in zip(tiny, leading, strict=True)]
    return [
        note("depths m", list(depths)),
        fact("depths at which the margin is 1 for all 0 < ε < 1, linear and ReLU",
             [sum(margins_up_to_one(c) == [1] for c in each) for each in (linear, relu)],
             [len(depths)] * 2),
        fact("depths at which |θ'|² is m 2^(-2/m) ((1 + ε)^(2/m) + (1 - ε)^(2/m))",
             sum(_is_norm(c, norm) for c, norm in zip(linear, norms, strict=True)), len(depths)),
        bound("the largest a (a - 1), a = 2/m, the sign of (t^a)''",
              max(fraction(a * (a - 1)) for a in powers), "<", 0, ""),
        *improving_decades(*relu),
        fact("depths at which ε = 1, the largest, improves too",
             sum(bool(beside(c, Fraction(1)).gain > 0) for c in linear), len(depths)),
        bound("|θ̃|² - |θ'|² at ε = 1e-300, over m 2^(-a) a (1 - a) ε²: off 1 by", max(off), "<=",
              1e-8, ""),
    ]  # fmt: skip


def improving_decades(*given: Construction) -> list[Evidence]:
    """That theta'(eps) is feasible and shorter at eps = 1e-1, ..., 1e-300, in balls."""
    tried = [beside(c, eps).improves for c in given for eps in decades()]
    what = f"of ε = 1e-1, ..., 1e-300 feasible and shorter, in balls of {BITS} bits"
    return [fact(what, sum(tried), len(tried), tried=len(tried))]


def shorter_all_the_way(*given: tuple[Construction, sympy.Expr]) -> list[Evidence]:
    """That theta'(eps), eps = size(s), is feasible and shorter for all 0 < eps < reach and begins
    at the limit: given are constructions, each with its size."""
    held = []
    for c, size in given:
        (end,) = sympy.solve(size - c.reach, S)
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
    pairs = list(zip(construction.exact_better, construction.exact_limit, strict=True))
    changed, first = [], 0
    for layer, size in enumerate(construction.network.sizes, start=1):
        if any(sympy.expand(a - b) != 0 for a, b in pairs[first : first + size]):
            changed.append(layer)
        first += size
    return tuple(changed)


def _is_norm(construction: Construction, printed: sympy.Expr) -> bool:
    """Whether |theta'|^2 is this expression in EPS."""
    norm = sum(value**2 for value in construction.exact_better)
    return sympy.simplify(sympy.expand(norm - printed)) == 0


def _positive(value: sympy.Expr, along: Curve) -> bool:
    """Whether an expression in EPS is positive on all of a curve."""
    ends = along.pieces[0].low, along.pieces[-1].high
    return positive(value.subs(EPS, along.size), *ends)


def _written(value: sympy.Expr) -> str:
    """A number a + b√2 as text."""
    return str(sympy.expand(value)).replace("*sqrt(2)", "√2")
