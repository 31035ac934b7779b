"""Lemma 3.2 by exact steps off the boundaries of integer data."""

from __future__ import annotations

from fractions import Fraction

from reluflow import rational
from reluflow.instances import draw_many
from reluflow.ledger import Evidence, fact, note


def left_downwards(seed: int, count: int) -> list[Evidence]:
    """Lemma 3.2 on `count` integer data sets in the plane, by `exact_falls`."""
    tried, wrong = exact_falls(seed, count)
    return [
        fact("boundary points of integer data that no exact step leaves downwards", wrong, 0),
        note("such points, and steps on each", (tried, 3)),
    ]


def exact_falls(seed: int, count: int) -> tuple[int, int]:
    """Points on boundaries of `count` integer data sets in the plane, and how many of them are not
    left downwards by w +- eps x_j, three eps, as far as promised; in rational arithmetic."""
    tried = wrong = 0
    for item in draw_many(count, 2, seed, kinds=("integers",), sizes=(2, 5)):
        X, y = rational.rationals(item.X), rational.rationals(item.y)
        for j, (a, b) in enumerate(X):
            size = a * a + b * b
            kappa = sum((a * p + b * q) ** 2 for p, q in X)
            for t in (Fraction(-2), Fraction(-1, 3), Fraction(0), Fraction(1, 2), Fraction(3)):
                w, tried = (-t * b, t * a), tried + 1
                here = rational.neuron_loss(item.X, item.y, w)
                for share in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 2000)):
                    eps = share * y[j] * size / kappa
                    least = min(
                        rational.neuron_loss(item.X, item.y, (w[0] + s * a, w[1] + s * b))
                        for s in (eps, -eps)
                    )
                    if here - least < eps * (y[j] * size - eps * kappa) / 2:
                        wrong += 1
                        break
    return tried, wrong
