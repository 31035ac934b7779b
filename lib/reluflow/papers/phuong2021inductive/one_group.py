"""Abstract: a combination of two classifiers whatever the width? How often one group is empty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.phuong2021inductive.dead_starts import Fates, fates
from reluflow.papers.phuong2021inductive.long_flow import Late, Start, follow
from reluflow.papers.phuong2021inductive.one_group_exact import descended
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
    W0 = np.stack([np.ones(p), np.linspace(-0.5, 0.5, p) if p > 1 else np.zeros(1)], axis=1)
    late = follow(Start(X, Y, W0, np.full(p, SMALL), np.ones(p)), 300.0)
    assert late is not None
    return late


def loss_of_negatives(late: Late) -> float:
    """The loss of the negative data at the end."""
    return float(np.exp(late.log_loss(-1.0)[-1]))


def always_two(seed: int, count: int) -> list[Evidence]:
    """os.thm1.nonempty: whatever the width, both classifiers are learnt.

    With one neuron never; with fair signs at the chance noted; with all a_j(0) > 0, which (Init)
    allows, at no width.
    """
    table = shares(fates(X, Y, count, np.random.default_rng(seed)))
    late = positive_only(5)
    return [
        fact("chance that a network of width 1 learns both is above 0",
             bool(table[0] > 1e-12), True),
        note("chance that both groups have neurons, widths 1, 2, 3, 5, 10, 20, fair signs",
             tuple(table.tolist()), digits=2),
        note("five neurons, all a_j > 0: loss of the negative data in the end",
             loss_of_negatives(late)),
        note("Theorem 1 itself", "allows u = 0 or z = 0, a single classifier"),
    ]  # fmt: skip


def width_one() -> Counterexample:
    """One neuron on four data: f >= 0 everywhere, so that the negative data keep a loss of log
    2."""
    return Counterexample(
        instance={"positive data": X[:2], "negative data": X[2:], "p": 1, "w(0)": "λ (1, 0)",
                  "a(0)": "λ"},
        assumptions={
            "(OS)": bool(np.all(X @ X.T * np.outer(Y, Y) > 0.0)),
            "(Span)": spans(X, Y, 1.0) and spans(X, Y, -1.0),
            "the neuron is alive, so that (8) and (9) hold": positive_only(1).alive == (1.0,),
        },
        breaks=(bound("loss of the two negative data as log(1/ℓ⁺) comes to 300; it falls below "
                      "log 2 "
                      "where they are classified", loss_of_negatives(positive_only(1)), "<",
                      float(np.log(2.0)), ""),),
        recheck=(bound("the same after 20000 steps of 0.01 of descent in plain Python", descended(),
                       "<", float(np.log(2.0)), ""),),
        route="descent in plain Python from λ = 0.01",
    )  # fmt: skip
