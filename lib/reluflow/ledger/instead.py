"""What is true instead, for claims that do not hold as they stand: `data/instead/*.yml`, a file for
each paper.

An entry has a list of `claims`, the sentence `instead` that they share, the `cause`, a phrase that
is the same for all claims that fall by one slip, and the `weight` of what falls, one of `WEIGHTS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from reluflow.ledger.errors import LedgerError
from reluflow.ledger.inventory import LOADER
from reluflow.ledger.scoreboard import Scoreboard
from reluflow.ledger.verdict import NOT_REPRODUCED, REFUTED
from reluflow.places import INSTEAD

WEIGHTS = {
    "theorem": "a numbered statement is false",
    "part": "a clause or a constant of a numbered statement is false",
    "proof": "a step of a proof is false, and the statement stands",
    "remark": "a sentence of the text, a caption or an example is false",
    "misprint": "a misprint",
}
"""What falls, the heaviest first."""


@dataclass(frozen=True)
class Instead:
    """What is true instead of a claim, why the claim falls, and how much falls with it."""

    sentence: str
    cause: str
    weight: str


def true_instead(papers: Iterable[str]) -> dict[str, Instead]:
    """What is true instead of the claims of these papers, by the claim's id.

    Raises `LedgerError` for an entry without a cause, or whose weight is none of `WEIGHTS`.
    """
    files = (INSTEAD / f"{paper}.yml" for paper in dict.fromkeys(papers))
    read = (yaml.load(file.read_text("utf-8"), LOADER) for file in files if file.is_file())
    return {
        id: _entry(entry, id) for entries in read for entry in entries for id in entry["claims"]
    }


def what_is_true(papers: Iterable[str]) -> dict[str, str]:
    """The sentences alone: id -> sentence."""
    return {id: each.sentence for id, each in true_instead(papers).items()}


def causes(told: Mapping[str, Instead], ids: Iterable[str]) -> dict[str, str]:
    """The causes by which these claims fall, each with the heaviest weight of its claims, in the
    order of the claims."""
    order = list(WEIGHTS)
    found: dict[str, str] = {}
    for each in (told[id] for id in ids if id in told):
        heaviest = min(found.get(each.cause, each.weight), each.weight, key=order.index)
        found[each.cause] = heaviest
    return found


def in_short(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """How many of the papers' claims of a board are false, from how many causes, and what falls
    with them."""
    theirs = [row for row in board.rows if ".ours." not in row.claim.id]
    claims = sum(len(each.claims) for each in board.inventories if not each.ours)
    false = [row.claim.id for row in theirs if row.verdict == REFUTED]
    weights = Counter(causes(told, false).values())
    number = weights.total()
    listed = "; ".join(f"{what} ({weights[w]})" for w, what in WEIGHTS.items() if weights[w])
    why = f", from {number} cause{'s' * (number > 1)}: {listed}" if false else ""
    absent = sum(row.verdict == NOT_REPRODUCED for row in theirs)
    missed = f" {absent} more, tried as printed, did not come out again." if absent else ""
    return f"Of {claims} claims, {len(false)} are false as stated{why}.{missed}"


def _entry(entry: Mapping[str, Any], id: str) -> Instead:
    cause, weight = entry.get("cause", entry["instead"]), entry.get("weight", "remark")
    if not isinstance(cause, str) or not cause.strip():
        raise LedgerError(f"what is true instead of {id} needs a 'cause'")
    if weight not in WEIGHTS:
        raise LedgerError(f"{id}: weight {weight!r} is none of {', '.join(WEIGHTS)}")
    return Instead(entry["instead"], cause, weight)
