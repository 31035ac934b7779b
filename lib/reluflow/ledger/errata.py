"""What a paper prints that does not hold, short enough to send to its authors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from reluflow.ledger.display import badge, mathematics
from reluflow.ledger.findings import FALLEN, alike
from reluflow.ledger.instead import WEIGHTS, Instead, causes, in_short
from reluflow.ledger.page_card import counterexample
from reluflow.ledger.rows import Row
from reluflow.ledger.scoreboard import Scoreboard, link
from reluflow.ledger.verdict import REPRODUCED, WITH_READING


def errata(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """The errata of the paper of a board as HTML: what stands, the paper's setting, so that the
    page can be read alone, then what falls, the heaviest first and claims of one cause together,
    each with what is true instead and a counterexample, and a line for each claim with a reading.

    Parameters: `board` of one paper; `told`, as `reluflow.ledger.instead` reads it.
    """
    theirs = tuple(row for row in board.rows if ".ours." not in row.claim.id)
    board = Scoreboard(board.inventories, theirs, board.folder)
    sentences = {id: each.sentence for id, each in told.items()}
    groups = alike(board, sentences, (*FALLEN, WITH_READING))
    fallen, read = [], []
    for (verdict, what), rows in groups.items():
        if verdict == WITH_READING:
            read.append(f"<li>{_places(rows, board.folder)}: {mathematics(what)}</li>")
        else:
            fallen.append((verdict, what, rows))
    found = causes(told, (row.claim.id for _, _, rows in fallen for row in rows))
    order, weights = list(found), list(WEIGHTS)

    def rank(rows: Sequence[Row]) -> tuple[int, int]:
        cause = told[rows[0].claim.id].cause if rows[0].claim.id in told else ""
        return (weights.index(found[cause]), order.index(cause)) if cause else (len(weights), 0)

    parts, last = [], -1
    for verdict, what, rows in sorted(fallen, key=lambda each: rank(each[2])):
        if (heaviest := rank(rows)[0]) != last and heaviest < len(weights):
            parts.append(f'<p class="weight">{_sentence(WEIGHTS[weights[heaviest]])}</p>')
        parts.append(_erratum(verdict, what, rows, board.folder))
        last = heaviest
    readings = f"<p><em>Holds under one reading only:</em></p><ul>{''.join(read)}</ul>"
    return _stands(board, told) + _setting(board) + "".join(parts) + (readings if read else "")


def _stands(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """What holds as printed, the numbered statements by name, and the score of what does not."""
    held = [row for row in board.rows if row.verdict == REPRODUCED]
    places: dict[str, list[Row]] = {}
    for row in (row for row in held if row.claim.kind == "theorem"):
        places.setdefault(row.claim.at, []).append(row)
    named = ", ".join(
        f"{escape(at)} ({', '.join(link(row, board.folder) for row in rows)})"
        for at, rows in places.items()
    )
    others = sum(row.claim.kind != "theorem" for row in held)
    more = f"<p>{others} more, of figures, examples, tables and the text, do, too.</p>"
    return (
        f'<section class="stands"><p><strong>What stands as printed:</strong> {named}.</p>'
        f"{more if others else ''}<p>{in_short(board, told)}</p></section>"
    )


def _setting(board: Scoreboard) -> str:
    """What the paper's statements share: notation, and the assumptions that they name."""
    given = [each.setting for each in board.inventories if not each.ours]
    parts = "".join(f"<p>{mathematics(part)}</p>" for each in given for part in each.split("\n\n"))
    return f'<section class="setting">{parts}</section>'


def _erratum(verdict: str, what: str, rows: Sequence[Row], folder: str) -> str:
    """One error: where it stands, what is said there, what is true instead, and an instance."""
    says = "".join(f"<p><em>Claimed:</em> {mathematics(row.claim.says)}</p>" for row in rows)
    says += "".join(
        f"<p><em>Read as:</em> {mathematics(text)}</p>"
        for text in dict.fromkeys(row.reading.taken for row in rows if row.reading)
    )
    case = next((row.counterexample for row in rows if row.counterexample), None)
    return (
        f'<section class="erratum"><p><strong>{_places(rows, folder)}</strong> {badge(verdict)}</p>'
        f"<div class='says'>{says}</div><p><em>Instead:</em> {mathematics(what)}</p>"
        f"{counterexample(case) if case else ''}</section>"
    )


def _places(rows: Sequence[Row], folder: str) -> str:
    """Where the claims stand in the paper, each linked to its card."""
    return "; ".join(_place(row, folder) for row in rows)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}:"


def _place(row: Row, folder: str) -> str:
    return f"{escape(row.claim.at)} ({link(row, folder)})"
