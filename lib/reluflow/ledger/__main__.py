"""`python -m reluflow.ledger [--json] [PATH ...]`: the settled claims of executed notebooks."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from reluflow.ledger.errors import LedgerError
from reluflow.ledger.inventory import CHAPTERS
from reluflow.ledger.rows import Row
from reluflow.ledger.scoreboard import Scoreboard, aligned, one_line, scoreboard
from reluflow.ledger.verdict import VERDICTS

_WIDTH = 90


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or the JSON list, of the notebooks named; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m reluflow.ledger", description="The claims that executed notebooks settle."
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", type=Path, help="notebooks or folders (the book's own)"
    )
    options = parser.parse_args(arguments)
    try:
        board = scoreboard(options.paths or [CHAPTERS])
    except LedgerError as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 1
    print(as_json(board.rows) if options.json else as_table(board))
    return 0


def as_json(rows: Sequence[Row]) -> str:
    """The rows as a JSON list."""
    objects = [row.record() | {"chapter": row.chapter, "cell": row.cell} for row in rows]
    return json.dumps(objects, indent=2, ensure_ascii=False)


def as_table(board: Scoreboard) -> str:
    """The rows as a table, then how many claims have which verdict and how many are open."""
    lines = [["id", "verdict", "at", "chapter", "evidence"]]
    for row in board.rows:
        evidence = one_line(row)
        evidence = evidence if len(evidence) <= _WIDTH else evidence[: _WIDTH - 1] + "…"
        lines.append([row.claim.id, row.verdict, row.claim.at, row.chapter, evidence])
    verdicts = [row.verdict for row in board.rows]
    counts = [f"{verdicts.count(v)} {v}" for v in VERDICTS if v in verdicts]
    claims = sum(len(inventory.claims) for inventory in board.inventories)
    counts.append(f"{claims - len(board.rows)} of {claims} claims open")
    return f"{aligned(lines)}\n\n{', '.join(counts)}"


if __name__ == "__main__":
    sys.exit(main())
