"""Zeros of f(t) = a + sum_k b_k (1 - exp(-l_k t)) on t > 0, isolated and never stepped over.

This is what every pre-activation h_j(t) = x_j.w(t) is between two events. The form keeps its
relative accuracy near t = 0, where a flow from a tiny start lives.

Two isolators. `rolle`: multiplied by exp(l_1 t), the derivative is a sum of the same kind with one
exponential less, so zeros are found from the top of that tower down, one between any two
neighbouring critical points (the counting argument of Lemma F.10 of Lee et al. 2022, made into an
algorithm); the limit of each derivative, b_1 l_1, is carried along, for in the sum of its terms it
would drown. `bounds`: f and its derivative are differences of two monotone functions, hence bounded
on any interval by their ends; intervals are halved until each is certified free of zeros or
monotone. The tower loses digits and time when it is high, so it serves few exponentials, the bounds
serve many. Tests hold the one against the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.exponential_sums.enclosures import bounds
from reluflow.flows.exponential_sums.sums import Zeros, evaluate, evaluated, limit_of, solve
from reluflow.flows.exponential_sums.tower import rolle

__all__ = ["Zeros", "bounds", "evaluate", "first_zeros", "rolle", "zeros"]

TOWER_LIMIT = 6
"""Sums of more exponentials than this are isolated by bounds."""

TOWER_SPAN = 1e8
"""So are sums whose rates span more: so far the tests hold the tower against the bounds."""


def _suits_tower(rates: NDArray) -> bool:
    """Whether the tower is low and its rates, ascending, span no more than tests vouch for."""
    return len(rates) <= TOWER_LIMIT and (len(rates) == 0 or rates[-1] <= TOWER_SPAN * rates[0])


def zeros(
    a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray, limit: NDArray | None = None
) -> Zeros:
    """All zeros in t > 0 of f_j(t) = a_j + sum_k b_jk (1 - exp(-l_k t)), j = 1..m.

    Parameters: a (m,), b (m, r), rates (r,) positive in any order, sign0 (m,) signs of +1 or -1
    just after t = 0; limit (m,) of the sums, where it is known better than by adding up, as beside
    a far a. Returns `Zeros`.
    """
    order = np.argsort(rates)
    b, rates = b[:, order], rates[order]
    if _suits_tower(rates):
        return rolle(a, b, rates, sign0, limit=limit)
    return bounds(a, b, rates, sign0, first_only=False, limit=limit)


def first_zeros(
    a: NDArray,
    b: NDArray,
    rates: NDArray,
    sign0: NDArray,
    until: float = np.inf,
    limit: NDArray | None = None,
) -> Zeros:
    """As `zeros`, but only the earliest zero of all m sums is promised, and one before `until`."""
    order = np.argsort(rates)
    b, rates = b[:, order], rates[order]
    limit = limit_of(a, b) if limit is None else limit
    short = np.isfinite(until) and rates.size
    crossings = _monotone(a, b, rates, sign0, until, limit) if short else None
    if crossings is not None:
        return Zeros(crossings, np.full((len(a), 0), np.inf))
    if _suits_tower(rates):
        return rolle(a, b, rates, sign0, first_only=True, limit=limit, until=until)
    return bounds(a, b, rates, sign0, until=until, limit=limit)


def _monotone(a, b, rates, sign0, until: float, limit: NDArray) -> NDArray | None:
    """The zeros (m, 1) up to `until` of sums that are certainly monotone there; else None."""
    # Towards zero and away from it, exp(l_1 t) f'(t) is a difference of two decreasing sums.
    away = sign0[:, None] * b * rates
    back = np.maximum(-away, 0.0)
    away = away + back
    faded = np.exp(-(rates - rates[0]) * until)
    falls, rises = back @ faded > away.sum(axis=1), away @ faded > back.sum(axis=1)
    # A sum that starts at zero with its slope against sign0 starts tangentially.
    if not (rises | falls & (a != 0.0)).all():
        return None
    end = np.full(len(a), until)
    crossings = np.full((len(a), 1), np.inf)
    final = evaluated(a, b, rates, end[:, None], limit)[0][:, 0]
    row = np.nonzero(falls & (final * sign0 <= 0.0))[0]
    if row.size:
        start = np.zeros(len(row))
        roots = solve(a[row], b[row], rates, start, end[row], sign0[row], limit[row])
        crossings[row, 0] = roots
    return crossings
