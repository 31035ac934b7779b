"""The book's ledger, read once in a build."""

from __future__ import annotations

from functools import cache

from sphinx.errors import ExtensionError

from reluflow.ledger.cards import listing
from reluflow.ledger.evidence import LedgerError
from reluflow.ledger.scoreboard import Instead, Scoreboard, scoreboard, true_instead
from reluflow.places import CHAPTERS


@cache
def board() -> Scoreboard:
    """The claims of all papers, and the rows of the executed notebooks; an ExtensionError, which
    says what to mend, where they cannot be read."""
    try:
        return scoreboard(CHAPTERS)
    except LedgerError as error:
        raise ExtensionError(str(error)) from None


@cache
def told() -> dict[str, Instead]:
    """What is true instead, by the claim's id."""
    return true_instead(inventory.paper for inventory in board().inventories)


@cache
def records() -> list[dict[str, str]]:
    """The settled claims as flat records."""
    return listing(board().rows, told())
