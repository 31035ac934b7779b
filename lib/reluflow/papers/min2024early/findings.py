"""What is true instead, for the claims of Min et al. 2024 that do not hold as they stand."""

from __future__ import annotations

from collections.abc import Mapping

INSTEAD: Mapping[str, str] = {}
"""The claim's id -> one sentence, mathematics between dollars; its verdict is computed."""
