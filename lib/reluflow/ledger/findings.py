"""What a chapter finds, for the head of its page: how many of each verdict, and what falls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape

from reluflow.ledger.display import COLOURS, OPEN, badge, mathematics
from reluflow.ledger.errors import LedgerError
from reluflow.ledger.rows import Row
from reluflow.ledger.scoreboard import Scoreboard, View, html_table, link
from reluflow.ledger.verdict import NOT_REPRODUCED, REFUTED, REPRODUCED, VERDICTS, WITH_READING

_FEW = 5
"""So many places in the paper are named in one line."""
FALLEN = (REFUTED, NOT_REPRODUCED)


def verdict_bar(board: Scoreboard) -> View:
    """A bar with a part for each verdict on the paper's claims, open ones last; and the counts,
    those of our own claims apart."""
    counts = {
        ours: sum((given for each, given in board.counts if each.ours == ours), Counter[str]())
        for ours in (False, True)
    }
    parts = "".join(
        f'<span style="flex:{counts[False][v]};min-width:.2em;background:{COLOURS[v]}"></span>'
        for v in _in_order(counts[False])
    )
    lines = [(given, "of our own" if ours else "claims") for ours, given in counts.items() if given]
    words = "; ".join(_counted(given, what, str) for given, what in lines)
    legend = "<br>".join(_counted(given, what, badge) for given, what in lines)
    strip = f'<div role="img" aria-label="{escape(words)}" style="display:flex;height:1em">'
    return View(f'{strip}{parts}</div><div style="line-height:1.8">{legend}</div>', words)


def _in_order(given: Counter[str]) -> list[str]:
    return [verdict for verdict in (*VERDICTS, OPEN) if given[verdict]]


def _counted(given: Counter[str], what: str, name: Callable[[str], str]) -> str:
    listed = ", ".join(f"{given[verdict]} {name(verdict)}" for verdict in _in_order(given))
    return f"{given.total()} {what}: {listed}"


def findings(board: Scoreboard, told: Mapping[str, str]) -> View:
    """The claims of a board that fall, each linked to its card, with what is true instead, those
    with one sentence together; after them the names of those that hold, with a reading or without.

    Parameters: `told`, the claim's id -> one sentence, mathematics between dollars. A claim without
    one shows what it says. Raises `LedgerError` for an id that no inventory of
    the board has.
    """
    known = {claim.id for inventory in board.inventories for claim in inventory.claims}
    if strangers := sorted(told.keys() - known):
        raise LedgerError(f"no claim {strangers[0]!r} in the inventory")
    cells, lines = [["claim", "where", "verdict"]], []
    for (verdict, what), rows in alike(board, told, FALLEN).items():
        places = list(dict.fromkeys(row.claim.at for row in rows))
        where = ", ".join(places) if len(places) <= _FEW else f"{len(places)} places"
        links = ", ".join(link(row, board.folder) for row in rows)
        cells += [[links, escape(where), badge(verdict)], [mathematics(what)]]
        names = ", ".join(row.claim.id for row in rows)
        lines.append(f"{names} | {where} | {verdict}\n  {what}")
    for verdict, words in ((WITH_READING, "as its card says"), (REPRODUCED, "as stated")):
        if held := [row for row in board.rows if row.verdict == verdict]:
            names = ", ".join(link(row, board.folder) for row in held)
            cells += [[f"{badge(verdict)} {words}: {names}"]]
            lines.append(f"{verdict} {words}: {', '.join(row.claim.id for row in held)}")
    return View(html_table(cells), "\n".join(lines))


def alike(
    board: Scoreboard, told: Mapping[str, str], verdicts: Sequence[str]
) -> dict[tuple[str, str], list[Row]]:
    """The rows of these verdicts, those of one verdict and one sentence together."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in (r for verdict in verdicts for r in board.rows if r.verdict == verdict):
        what = told.get(row.claim.id) or _reading_or_claim(row)
        found.setdefault((row.verdict, what), []).append(row)
    return found


def _reading_or_claim(row: Row) -> str:
    return f"Read as: {row.reading.taken}" if row.reading else f"Claimed: {row.claim.says}"
