"""How (Fit) is read in statements on a limit that is given."""

from __future__ import annotations

from reluflow.ledger import Reading

GIVEN_LIMIT = Reading(
    "the limit in direction exists and is a KKT point of Problem (2), as where L < ℓ(0) at some "
    "time: 1 for the exponential loss, log 2 for the logistic one",
    "by L < 1 alone, and with the logistic loss, there need be no such limit (mm.thm2.1.fit)",
)
"""The statement's own hypothesis: it speaks of the KKT point to which the flow converges."""
