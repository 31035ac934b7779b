"""The one error of the ledger."""

from __future__ import annotations


class LedgerError(ValueError):
    """A claim cannot be settled, or a recorded row cannot be believed; the text is one sentence."""
