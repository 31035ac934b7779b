"""What a paper prints that does not hold, short enough to send to its authors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from reluflow.ledger.display import badge, mathematics
from reluflow.ledger.findings import alike
from reluflow.ledger.page_card import counterexample
from reluflow.ledger.rows import Row
from reluflow.ledger.scoreboard import Scoreboard, link
from reluflow.ledger.verdict import WITH_READING


def errata(board: Scoreboard, told: Mapping[str, str]) -> str:
    """The refuted and the not reproduced claims of a board as HTML, each with a counterexample and
    what is true instead, then a line for each that needs a reading; before them the paper's
    setting, so that the page can be read alone.

    Parameters: `board` of one paper; `told`, as for `reluflow.ledger.findings`.
    """
    ours = {claim.id for each in board.inventories if each.ours for claim in each.claims}
    groups = {
        key: [row for row in rows if row.claim.id not in ours]
        for key, rows in alike(board, told).items()
    }
    fallen, read = [], []
    for (verdict, what), rows in groups.items():
        if rows and verdict == WITH_READING:
            read.append(f"<li>{_places(rows, board.folder)}: {mathematics(what)}</li>")
        elif rows:
            fallen.append(_erratum(verdict, what, rows, board.folder))
    readings = f"<p><em>Holds under one reading only:</em></p><ul>{''.join(read)}</ul>"
    return _setting(board) + "".join(fallen) + (readings if read else "")


def _setting(board: Scoreboard) -> str:
    """What the paper's statements share: notation, and the assumptions that they name."""
    given = [each.setting for each in board.inventories if not each.ours]
    parts = "".join(f"<p>{mathematics(part)}</p>" for each in given for part in each.split("\n\n"))
    return f'<section class="setting">{parts}</section>'


def _erratum(verdict: str, what: str, rows: Sequence[Row], folder: str) -> str:
    """One error: where it stands, what is said there, what is true instead, and an instance."""
    says = "".join(f"<p><em>Claimed:</em> {mathematics(row.claim.says)}</p>" for row in rows)
    case = next((row.counterexample for row in rows if row.counterexample), None)
    return (
        f'<section class="erratum"><p><strong>{_places(rows, folder)}</strong> {badge(verdict)}</p>'
        f"<div class='says'>{says}</div><p><em>Instead:</em> {mathematics(what)}</p>"
        f"{counterexample(case) if case else ''}</section>"
    )


def _places(rows: Sequence[Row], folder: str) -> str:
    """Where the claims stand in the paper, each linked to its card."""
    return "; ".join(f"{escape(row.claim.at)} ({link(row, folder)})" for row in rows)
