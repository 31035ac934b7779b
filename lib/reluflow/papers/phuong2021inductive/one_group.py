"""Abstract: a combination of two classifiers whatever the width, one of them perhaps with the
weight 0. How often one group is empty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.papers.phuong2021inductive.dead_starts import Fates, fates
from reluflow.papers.phuong2021inductive.long_flow import Late, Start, follow
from reluflow.papers.phuong2021inductive.two_extremal import spans

WIDTHS = (1, 2, 3, 5, 10, 20)
X = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0])
SMALL = -10.0


def both_groups(plus: float, minus: float, p: NDArray) -> NDArray:
    """The chance that both groups have a neuron, for fair signs, p neurons, and the chances `plus`
    and `minus` that one neuron is in J_+ and in J_-."""
    return np.asarray(1.0 - (1.0 - plus) ** p - (1.0 - minus) ** p + (1.0 - plus - minus) ** p)


def shares(found: Fates) -> NDArray:
    """That chance at WIDTHS (6,), from the fates of many directions."""
    plus, minus = (0.5 * (1.0 - float(np.mean(dead))) for dead in (found.positive, found.negative))
    return both_groups(plus, minus, np.array(WIDTHS, float))


def positive_only(p: int) -> Late:
    """The flow of p neurons with a_j > 0 from norm e^-10, to a loss e^-300 of the positive data."""
    return _from(
        np.stack([np.ones(p), np.linspace(-0.5, 0.5, p) if p > 1 else np.zeros(1)], axis=1)
    )


def leaves_the_other() -> Late:
    """The same of one neuron that at first is active on a datum of either label."""
    return _from(np.array([[1.0, 3.0]]))


def _from(W0: NDArray) -> Late:
    late = follow(Start(X, Y, W0, np.full(len(W0), SMALL), np.ones(len(W0))), 300.0)
    assert late is not None
    return late


def loss_of_negatives(late: Late) -> float:
    """The loss of the negative data at the end."""
    return float(np.exp(late.log_loss(-1.0)[-1]))


ONE_IS_ENOUGH = Reading(
    "a combination may give one of the two classifiers the weight 0, as Theorem 1 does with u = 0 "
    "or z = 0",
    "if both must have a positive weight: one neuron never learns both, and if all a_j(0) > 0, "
    "which (Init) allows, no width does; the negative data then keep a loss of log 2 each",
)
NEAR = 1e-3
"""Largest distance in (8) and (9) at a loss of e^-300."""


def one_or_two(seed: int, count: int) -> list[Evidence]:
    """os.thm1.nonempty: whatever the width, what is learnt is u w_+ and z w_-, perhaps u or z = 0.

    That both groups learn is settled by os.thm1.W; here all neurons are in one group.
    """
    table = shares(fates(X, Y, count, np.random.default_rng(seed)))
    lates = [positive_only(p) for p in WIDTHS]
    lone = loss_of_negatives(lates[0])
    return [
        fact("(OS) and (Span)", bool(np.all(X @ X.T * np.outer(Y, Y) > 0.0))
             and spans(X, Y, 1.0) and spans(X, Y, -1.0), True),
        bound("widths 1, 2, 3, 5, 10, 20, all a_j > 0: largest distance to (8) and (9) with z = 0, "
              "at a loss of e^-300 of the positive data",
              max(float(late.distances[-1].max()) for late in lates), "<=", NEAR, "", digits=2),
        bound("least chance that both groups have neurons, by width, less 1 - 2 (3/4)^p, fair "
              "signs",
              float(np.min(table - (1.0 - 2.0 * 0.75 ** np.array(WIDTHS)))), ">=", -1e-9, "",
              digits=2),
        note("chance that both groups have neurons, widths 1, 2, 3, 5, 10, 20, fair signs",
             tuple(table.tolist()), digits=2),
        note("one neuron, a > 0: loss of the two negative data in the end", lone),
    ]  # fmt: skip
