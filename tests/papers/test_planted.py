"""Each claim that is settled without a Statement: its check fails where a fault is planted.

A paper's `planted.py` has for each such claim a function without arguments: the deciding evidence
of that claim, of an input that is wrong on purpose. Where several pieces of evidence decide it has
pairs instead: some words, and a function; every piece with these words has to fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module

import pytest
from reluflow.falsify.attempt import FIXED, WITNESS
from reluflow.ledger import Evidence, Row, read
from reluflow.ledger.inventory import held
from reluflow.places import CHAPTERS

PAPERS = ("lee2022support", "lee2023magnitude", "min2024early", "phuong2021inductive",
          "vardi2022margin")  # fmt: skip
COUNT = re.compile(r"\d+")
Planted = Callable[[], Iterable[Evidence]]
PLANTED: dict[str, Planted | Sequence[tuple[str, Planted]]] = {
    id: fault
    for paper in PAPERS
    for id, fault in import_module(f"papers.{paper}.planted").PLANTED.items()
}
FAULTS = [
    (id, words, fault)
    for id, planted in sorted(PLANTED.items())
    for words, fault in ([("", planted)] if callable(planted) else planted)
]


@cache
def settled_without() -> dict[str, Row]:
    """The rows of claims that stand, and whose evidence has no statement with a witness."""
    witnessed = {WITNESS, FIXED}
    return {
        row.claim.id: row
        for row in read(CHAPTERS)
        if row.counterexample is None and witnessed.isdisjoint(item.what for item in row.evidence)
    }


def test_every_claim_has_one() -> None:
    assert settled_without().keys() == PLANTED.keys()


@pytest.mark.parametrize(
    ("id", "words", "fault"), FAULTS, ids=[f"{id}: {words}" for id, words, _ in FAULTS]
)
def test_a_planted_input_is_seen(id: str, words: str, fault: Planted) -> None:
    """What fails is evidence by which the claim's page decides, counts in its words aside."""
    row = settled_without()[id]
    page = {COUNT.sub("", item.what) for item in row.evidence if item.decides}
    found = held(tuple(item for item in fault() if item.decides), row.claim.limits, id)
    known = [item for item in found if COUNT.sub("", item.what) in page]
    named = [item for item in known if words == item.what]
    aimed = named or [item for item in known if words in item.what]
    assert aimed
    assert (any if words == "" else all)(not item.holds for item in aimed)
