"""The claims as flat records, and as the CSV file that the command writes."""

from __future__ import annotations

import csv
import io
import json

import pytest
from reluflow.ledger import read
from reluflow.ledger.__main__ import main
from reluflow.ledger.cards import COLUMNS, listing
from reluflow.ledger.evidence import fact, note
from reluflow.ledger.inventory import Claim
from reluflow.ledger.rows import (
    NOT_REPRODUCED,
    OUT_OF_REACH,
    REFUTED,
    WITH_READING,
    Counterexample,
    Reading,
    Row,
)
from reluflow.ledger.scoreboard import Instead, true_instead
from reluflow.places import CHAPTERS


@pytest.fixture(scope="module")
def records() -> list[dict[str, str]]:
    rows = read(CHAPTERS)
    return listing(rows, true_instead(row.claim.paper for row in rows))


def printed(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_the_command_prints_every_settled_claim(records, capsys):
    lines = list(csv.DictReader(io.StringIO(printed(["--csv"], capsys))))
    assert lines == records
    assert tuple(lines[0]) == COLUMNS
    objects = json.loads(printed(["--json"], capsys))
    same = ("id", "paper", "at", "kind", "verdict", "chapter", "cell")
    one, other = ([[each[key] for key in same] for each in told] for told in (lines, objects))
    assert one == other
    ways = ["; ".join(": ".join(filter(None, way.values())) for way in o["known"]) for o in objects]
    assert [line["by"] for line in lines] == ways


def test_instances_are_those_of_the_statement_tried_least(records: list[dict[str, str]]) -> None:
    tried = {row.claim.id: [e.tried for e in row.evidence if e.tried] for row in read(CHAPTERS)}
    several = {id: numbers for id, numbers in tried.items() if len(set(numbers)) > 1}
    found = {record["id"]: record["instances"] for record in records}
    assert several
    assert {id: found[id] for id in several} == {id: str(min(n)) for id, n in several.items()}
    assert all(found[id] == "" for id, numbers in tried.items() if not numbers)


CLAIM = Claim("xx.thm1", "paper", "Theorem 1", "theorem", "It holds.")
FALLS = fact("it falls", False, True)
CASE = Counterexample({"x": [1, 2]}, {"x > 0": True}, (FALLS,), (FALLS,), "by hand")


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        (Row(CLAIM, REFUTED, counterexample=CASE), "why", "x = (1, 2); it falls: no (asked: yes)"),
        (Row(CLAIM, OUT_OF_REACH, why="No computation."), "why", "No computation."),
        (Row(CLAIM, WITH_READING, reading=Reading("sum", "mean")), "reading", "sum"),
        (Row(CLAIM, NOT_REPRODUCED, instead=(note("steps", 9),)), "instead", "steps: 9"),
    ],
)
def test_each_verdict_says_what_it_rests_on(row: Row, column: str, words: str) -> None:
    (record,) = listing([row], {})
    assert record[column] == words
    if column == "instead":
        told = {row.claim.id: Instead("true if", "a sign", "part")}
        (record,) = listing([row], told)
        assert [record[k] for k in ("instead", "cause", "weight")] == ["true if", "a sign", "part"]
