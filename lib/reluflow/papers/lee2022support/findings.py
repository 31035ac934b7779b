"""What is true instead, for the claims of Lee et al. 2022a that do not hold as they stand."""

from __future__ import annotations

from reluflow.ledger.instead import what_is_true

INSTEAD = what_is_true(["lee2022support"])
