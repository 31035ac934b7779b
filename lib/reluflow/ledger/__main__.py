"""`python -m reluflow.ledger [--json | --csv] [PATH ...]`: what executed notebooks settle.

`python -m reluflow.ledger ID ...` shows rows with the page and the lines of their checks; with
`--rerun` each check is run again first, and the new record is shown.

`python -m reluflow.ledger --compare FILE [PATH ...]` names the claims whose row is another one than
in FILE, a list that `--json` printed: what a change of the code must leave as it was.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from reluflow import pages
from reluflow.errors import InputError
from reluflow.ledger.cards import addresses, as_csv, listing, why
from reluflow.ledger.evidence import LedgerError, need
from reluflow.ledger.inventory import claims_by_id, load_inventories
from reluflow.ledger.rows import Ledger, Row
from reluflow.ledger.scoreboard import (
    Instead,
    Scoreboard,
    notebooks,
    page,
    scoreboard,
    true_instead,
    verdict_bar,
)
from reluflow.parameters import Parser
from reluflow.places import CHAPTERS

_WIDTH = 90
_COMPARED = ("verdict", "known", "evidence", "reading", "counterexample")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, the JSON list or the rows asked for; return the exit status."""
    parser = Parser(prog="python -m reluflow.ledger", description=__doc__.split("\n\n")[0])
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a list of objects")
    form.add_argument("--csv", action="store_true", help="print a table for other programs")
    form.add_argument("--compare", metavar="FILE", help="name the rows unlike those of this list")
    parser.add_argument("--rerun", action="store_true", help="run the checks of the IDs again")
    places = "claims, or notebooks or folders (the book's own)"
    parser.add_argument("places", nargs="*", metavar="ID or PATH", help=places)
    try:
        options = parser.parse_intermixed_args(arguments)
        known = claims_by_id(load_inventories())
        ids = [place for place in options.places if place in known]
        for place in options.places:
            close = get_close_matches(place, known, n=1)
            meant = f"no claim and no file {place!r}; did you mean {close and close[0]!r}?"
            need(not close or place in known or Path(place).exists(), meant)
        need(ids or not options.rerun, "--rerun needs the id of a claim")
        told = true_instead(claim.paper for claim in known.values())
        paths = [place for place in options.places if place not in ids]
        board = scoreboard(paths or [CHAPTERS])
        settled = {row.claim.id: row for row in board.rows}
        for id in ids:
            need(id in settled, f"claim {id} is open: no notebook settles it")
        rows = [settled[id] for id in ids] if ids else list(board.rows)
        if options.rerun:
            files = {pages.name(file): file for file in notebooks(paths or [CHAPTERS])}
            rows = [rerun(row, files[row.chapter]) for row in rows]
        if options.compare is not None:
            before = frozen(Path(options.compare))
            different = differences(before, rows, whole=not paths and not ids)
    except (LedgerError, InputError) as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 1 if isinstance(error, LedgerError) else 2
    if options.compare is not None:
        print("\n".join([*different, f"{len(different)} of {len(rows)} claims differ"]))
        return int(bool(different))
    if options.json:
        text = as_json(rows, told)
    elif options.csv:
        text = as_csv(listing(rows, told)).rstrip("\n")
    else:
        text = "\n\n".join(map(in_full, rows)) if ids else as_table(board)
    print(text)
    return 0


def rerun(row: Row, notebook: Path) -> Row:
    """The row of a claim settled again: its cell of the notebook, and the cells that this needs,
    run in this process. Raises LedgerError where a cell fails."""
    cells = pages.code_cells(notebook)
    last = [cell.id for cell in cells].index(row.cell)
    names, failed = pages.run(pages.needed(cells, last), notebook.parent, {})
    ledgers = [value for value in names.values() if isinstance(value, Ledger)]
    settled = [each.settled[row.claim.id] for each in ledgers if row.claim.id in each.settled]
    again = settled and not failed
    need(again, f"{row.claim.id} cannot be settled again: {'; '.join(failed)}")
    return replace(settled[0], chapter=row.chapter, cell=row.cell)


def frozen(file: Path) -> dict[str, dict[str, Any]]:
    """The rows of a list that `--json` printed, by claim. Raises LedgerError where it is none."""
    try:
        listed = json.loads(file.read_text(encoding="utf-8"))[:]  # no mapping
        return {row["id"]: {key: row[key] for key in _COMPARED} for row in listed}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise LedgerError(f"--compare: {file} is no list that --json printed") from None


def differences(
    before: Mapping[str, Mapping[str, Any]], rows: Sequence[Row], whole: bool
) -> list[str]:
    """A line for each claim whose verdict, evidence, reading, counterexample or grounds are not
    those of `before`; of a `whole` ledger also for each that is gone."""
    now = {row.claim.id: json.loads(json.dumps(row.record())) for row in rows}
    lines = [f"{id}: settled by no row" for id in before if whole and id not in now]
    for id, row in now.items():
        old = before.get(id, {})
        parts = [key for key in _COMPARED if old.get(key) != row.get(key)]
        if parts:
            lines.append(f"{id}: another {', '.join(parts)}" if old else f"{id}: not in the list")
    return lines


def in_full(row: Row) -> str:
    """The row, the page of its chapter and the lines of the functions that state or settle it."""
    where = (f"  check: {at}" for at in addresses() if at.id == row.claim.id)
    place = [f"  page: {page(row)}#{row.claim.anchor}, cell {row.cell}"] if row.chapter else []
    return "\n".join([str(row), *place, *where])


def as_json(rows: Sequence[Row], told: Mapping[str, Instead]) -> str:
    """The rows as a JSON list, with the hypotheses of our own claims and with what `told` says of
    those that do not hold, None elsewhere."""
    objects = []
    for row in rows:
        given, each = row.claim.given, told.get(row.claim.id)
        more = {"given": None if given is None else dict(given)}
        more |= {key: getattr(each, key, None) for key in ("sentence", "cause", "weight")}
        more["instead"] = more.pop("sentence")
        objects.append(row.record() | {"chapter": row.chapter, "cell": row.cell} | more)
    return json.dumps(objects, indent=2, ensure_ascii=False)


def as_table(board: Scoreboard) -> str:
    """The rows as a table, then how many claims have which verdict and how many are open."""
    rows = [["id", "verdict", "at", "chapter", "evidence"]]
    for row in board.rows:
        evidence = "; ".join(why(row))
        evidence = evidence if len(evidence) <= _WIDTH else evidence[: _WIDTH - 1] + "…"
        rows.append([row.claim.id, row.verdict, row.claim.at, row.chapter, evidence])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join([*lines, "", verdict_bar(board).text])


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):  # no terminal is asked which letters it knows
        sys.stdout.reconfigure(encoding="utf-8")
    # A reader who has read enough, as `head` does, ends us without a word.
    if hasattr(signal, "SIGPIPE"):  # Windows has none
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        status = main()
        sys.stdout.flush()
    except OSError as error:  # nothing more can be written, at the interpreter's end neither
        print(f"ledger: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(1)
    sys.exit(status)
