"""What is true where a claim of Phuong & Lampert 2021 does not hold as it stands."""

from __future__ import annotations

from reluflow.ledger.instead import what_is_true

INSTEAD = what_is_true(["phuong2021inductive"])
