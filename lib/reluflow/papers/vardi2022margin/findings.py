"""What is true instead, for the claims of Vardi et al. 2022 that do not hold as they stand."""

from __future__ import annotations

from reluflow.ledger.instead import what_is_true

INSTEAD = what_is_true(["vardi2022margin"])
