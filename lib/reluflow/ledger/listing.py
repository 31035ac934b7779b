"""Every settled claim as one flat record of words, for a table, a file or an index."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from reluflow.ledger.evidence import Evidence
from reluflow.ledger.instead import Instead
from reluflow.ledger.rows import Row
from reluflow.ledger.scoreboard import page
from reluflow.ledger.words import told, vector

COLUMNS = (
    "id", "paper", "at", "kind", "given", "says", "verdict", "known", "by", "instances", "why",
    "reading", "instead", "cause", "weight", "page", "chapter", "cell",
)  # fmt: skip
"""`known` is the strongest way in which the claim is known, `by` all of them in words; `instances`
how many were tried, of several statements the fewest; `why` the evidence or the counterexample;
`instead` what is true instead, `cause` and `weight` why the claim falls, and how much; `page` the
claim's card, below the folder of the chapters."""


def listing(rows: Iterable[Row], told: Mapping[str, Instead]) -> list[dict[str, str]]:
    """The records, with `COLUMNS` as keys. `told`: id -> what is true instead."""
    return [_record(row, told.get(row.claim.id)) for row in rows]


def as_csv(records: Iterable[Mapping[str, str]]) -> str:
    """Records as the text of a CSV file, with a head."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _record(row: Row, told: Instead | None) -> dict[str, str]:
    claim = row.claim
    tried = [item.tried for item in row.evidence if item.tried]
    values = (
        claim.id,
        claim.paper,
        claim.at,
        claim.kind,
        " ".join((claim.given or {}).values()),
        claim.says,
        row.verdict,
        row.known[0].how if row.known else "",
        "; ".join(map(str, row.known)),
        str(min(tried, default="")),
        "; ".join(why(row)),
        row.reading.taken if row.reading else "",
        told.sentence if told else "; ".join(_words(row.instead)),
        told.cause if told else "",
        told.weight if told else "",
        f"{page(row)}#{claim.anchor}",
        row.chapter,
        row.cell,
    )
    return dict(zip(COLUMNS, values, strict=True))


def why(row: Row) -> list[str]:
    """What decided: the counterexample and what fails there, or the evidence, line by line."""
    if row.why:
        return [row.why]
    if case := row.counterexample:
        instance = ", ".join(f"{name} = {vector(value)}" for name, value in case.instance.items())
        return [instance, *_words(case.breaks)]
    return _words(row.evidence)


def _words(evidence: Sequence[Evidence]) -> list[str]:
    return [line.words for line in told(evidence)]
