"""The path of a neuron for tiny weights, event by event, in fractions.

While the active set A of a balanced neuron with v > 0 stays what it is, w moves towards
x_a = sum of y_i x_i over A: in the limit of tiny weights its direction is that of w + s x_a with
growing s. So the path is a polygon with corners at s_i = -<x_i, w> / <x_i, x_a>, and for rational
data its order of events is decided without rounding. Neurons with v < 0 are those with v > 0 of
the data with exchanged labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

Vector = Sequence[Fraction]


def dot(a: Vector, b: Vector) -> Fraction:
    """<a, b>."""
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def fate(X: Sequence[Vector], y: Sequence[int], w: Vector) -> tuple[str, int]:
    """Where a neuron with v > 0 ends, and after how many changes of its active set.

    "serves" in S_+, "dead" in S_dead, "rests" where w is a negative multiple of x_a, so that it
    shrinks to 0 along its line (Assumption 2 excludes it), "astray" where nothing can cross any
    more. At a boundary a positive datum becomes active if others are; one that is alone stays off.
    """
    on = [dot(x, w) > 0 for x in X]
    for changes in range(2 * len(X) + 1):
        if not any(on):
            return "dead", changes
        if all(active == (label > 0) for active, label in zip(on, y, strict=True)):
            return "serves", changes
        xa = [sum((label * x[k] for x, label, active in zip(X, y, on, strict=True) if active),
                  Fraction(0)) for k in range(len(w))]  # fmt: skip
        rates = [dot(x, xa) for x in X]
        heights = [dot(x, w) for x in X]
        # Only a datum that is not yet as its label wants it crosses, and only if it moves there.
        waits = {
            i: -heights[i] / rates[i]
            for i, label in enumerate(y)
            if on[i] != (label > 0) and label * rates[i] > 0
        }
        if not waits:
            return "astray", changes
        s = min(waits.values())
        w = [a + s * b for a, b in zip(w, xa, strict=True)]
        if not any(w):
            return "rests", changes
        crossing = {i for i, wait in waits.items() if wait == s}
        after = [active and i not in crossing for i, active in enumerate(on)]
        if any(after):  # else everything is at or below 0: dead, and it stays there
            after = [active or (i in crossing and y[i] > 0) for i, active in enumerate(after)]
        on = after
    raise ArithmeticError("more changes than a monotone path has")


def orthant_shares(n: int) -> tuple[Fraction, Fraction]:
    """Probabilities that a normal w is active on all, and on some, of n orthogonal data.

    Its inner products are independent and symmetric, so all 2^n sign patterns are alike; counted.
    """
    patterns = list(product((False, True), repeat=n))
    return (Fraction(sum(map(all, patterns)), len(patterns)),
            Fraction(sum(map(any, patterns)), len(patterns)))  # fmt: skip


def neurons_needed(chance: Fraction, wanted: Fraction = Fraction(1, 2)) -> int:
    """The least m for which one of m independent neurons has what each has by `chance`, with a
    probability of at least `wanted`."""
    m, missed = 1, 1 - chance
    while 1 - missed < wanted:
        m, missed = m + 1, missed * (1 - chance)
    return m
