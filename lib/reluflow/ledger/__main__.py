"""`python -m reluflow.ledger [--json] [PATH ...]`: the settled claims of executed notebooks."""

from __future__ import annotations

import argparse
import json
import os
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
    encoding = sys.stdout.encoding or "ascii"
    utf = encoding.lower().startswith("utf")
    text = as_json(board.rows, not utf) if options.json else as_table(board)
    return _written(text.encode(encoding, "replace").decode(encoding))


def _written(text: str) -> int:
    """Print a text; return the exit status."""
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever reads has read enough, as `head` does
        status = 1
    except OSError as error:
        print(f"ledger: the output cannot be written ({error.strerror})", file=sys.stderr)
        status = 1
    else:
        return 0
    # What is left in the buffer has nowhere to go, and Python would say so at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def as_json(rows: Sequence[Row], ascii_only: bool = False) -> str:
    """The rows as a JSON list; `ascii_only` writes every other letter as an escape."""
    objects = [row.record() | {"chapter": row.chapter, "cell": row.cell} for row in rows]
    return json.dumps(objects, indent=2, ensure_ascii=ascii_only)


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
