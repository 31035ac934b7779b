"""Each claim that is settled without a Statement: its check fails where a fault is planted.

A paper's `planted.py` has for each such claim a function without arguments: the deciding evidence
of that claim, of an input that is wrong on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module

import pytest
from reluflow.falsify.attempt import FIXED, WITNESS
from reluflow.ledger import Evidence, Row, read
from reluflow.places import CHAPTERS

PAPERS = ("lee2022support", "lee2023magnitude", "min2024early", "phuong2021inductive",
          "vardi2022margin")  # fmt: skip
COUNT = re.compile(r"\d+")
Planted = Callable[[], Iterable[Evidence]]
PLANTED: dict[str, Planted] = {
    id: fault
    for paper in PAPERS
    for id, fault in import_module(f"papers.{paper}.planted").PLANTED.items()
}


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


@pytest.mark.parametrize("id", sorted(PLANTED))
def test_a_planted_input_is_seen(id: str) -> None:
    """What fails is evidence by which the claim's page decides, counts in its words aside."""
    failed = {COUNT.sub("", item.what) for item in PLANTED[id]() if item.decides and not item.holds}
    decides = [item.what for item in settled_without()[id].evidence if item.decides]
    assert failed.intersection(COUNT.sub("", what) for what in decides)
