"""What is true instead, for the claims of Min et al. 2024 that do not hold as they stand."""

from __future__ import annotations

from reluflow.ledger.instead import what_is_true

INSTEAD = what_is_true(["min2024early"])
