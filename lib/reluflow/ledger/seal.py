"""`python -m reluflow.ledger.seal`: what the ledger says and asks, a line a claim, written down.

`data/claims/seal.txt` holds how many claims there are and, for each, its verdict, what its evidence
is held against, and digests of its texts. A test compares it with the inventory and the pages: what
was weakened, left out or worded anew is a line of the seal's difference, and stands there until the
command writes the seal again.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from reluflow.errors import InputError
from reluflow.ledger.evidence import Evidence, LedgerError, encoded, printed
from reluflow.ledger.rows import SURVIVED, Row
from reluflow.ledger.scoreboard import Instead, scoreboard, true_instead
from reluflow.parameters import Parser
from reluflow.places import CHAPTERS, SEAL

NOTHING = "-"
_WIDTH = 27


def seal(rows: Sequence[Row], told: Mapping[str, Instead]) -> str:
    """The lines of the seal: the number of rows, then a line for each, by id."""
    lines = [_line(row, told.get(row.claim.id)) for row in rows]
    return "\n".join([f"{len(lines)} claims", *sorted(lines)]) + "\n"


def broken(old: str, new: str) -> list[str]:
    """The lines in which two seals differ, - for the old and + for the new one."""
    found = unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return [line for line in found if line[0] in "+-" and line[:3] not in ("+++", "---")]


def digest(content: Any) -> str:
    """A few hexadecimal digits that change with the content; a dash where there is none."""
    if not content:
        return NOTHING
    return hashlib.sha256(repr(content).encode()).hexdigest()[:8]


def _line(row: Row, told: Instead | None) -> str:
    claim, case = row.claim, row.counterexample
    deciding = [item for item in row.all_evidence if item.decides]
    asked = [
        (item.form, item.what, item.unit, item.after, item.op, repr(encoded(item.limit)))
        for item in deciding
    ]
    parts = {
        "says": digest((claim.kind, claim.at, claim.says)),
        "check": digest(claim.check),
        "held": digest(claim.limits and {name: str(limit) for name, limit in claim.limits.items()}),
        "given": digest(claim.given and tuple(claim.given.items())),
        "asks": digest(asked),
        "tried": ",".join(str(item.tried) for item in deciding if item.tried) or NOTHING,
        "known": digest([str(way) for way in row.known if way.how != SURVIVED]),
        "reading": digest(row.reading and (row.reading.taken, row.reading.others)),
        "case": digest(case and (case.to_json()["instance"], *case.met())),
        "instead": digest(told and (told.sentence, told.cause, told.weight, told.shows)),
    }
    texts = " ".join(f"{name} {value}" for name, value in parts.items())
    return f"{claim.id} {row.verdict} {texts} limits {_limits(deciding)}"


def _limits(deciding: Sequence[Evidence]) -> str:
    """What the evidence is held against, each kind once, behind how many pieces ask for it."""
    flat = (" ".join(f"{item.op} {printed(item.limit)}".split()) for item in deciding)
    asked = Counter(text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…" for text in flat)
    return "; ".join(f"{limit} ({times})" for limit, times in asked.items()) or NOTHING


def of_the_book() -> str:
    """The seal that the book as it stands would have."""
    board = scoreboard([CHAPTERS])
    return seal(board.rows, true_instead(row.claim.paper for row in board.rows))


def main(arguments: Sequence[str] | None = None, place: Path = SEAL) -> int:
    """Write the seal anew and print what changed."""
    try:
        Parser(prog="seal", description=__doc__).parse_args(arguments)
        new = of_the_book()
        old = place.read_text("utf-8") if place.is_file() else ""
        place.write_text(new, "utf-8")
    except (LedgerError, InputError, OSError) as error:
        print(f"seal: {error}", file=sys.stderr)
        return 1
    print("\n".join(broken(old, new)) or "nothing has changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
