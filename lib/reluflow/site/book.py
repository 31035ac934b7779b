"""The book's ledger, read once in a build."""

from __future__ import annotations

from functools import cache

from sphinx.errors import ExtensionError

from reluflow.ledger.errors import LedgerError
from reluflow.ledger.instead import Instead, true_instead
from reluflow.ledger.listing import listing
from reluflow.ledger.scoreboard import Scoreboard, scoreboard
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
