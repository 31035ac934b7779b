"""The sentences on what is true instead: for claims that there are, and well set."""

from __future__ import annotations

import pytest
from reluflow import ledger
from reluflow.papers.phuong2021inductive.findings import INSTEAD
from reluflow.places import CHAPTERS
from test_inventory import faults

CHAPTER = CHAPTERS / "04_orthogonal_separability.ipynb"
PAGES = [CHAPTER.with_suffix(""), CHAPTER]


@pytest.mark.parametrize("id", INSTEAD)
def test_a_sentence_speaks_of_a_claim_and_can_be_set(id: str) -> None:
    assert id in ledger.open("phuong2021inductive").claims
    assert faults(INSTEAD[id]) == []


def test_every_claim_that_falls_has_one() -> None:
    """Read from the executed pages."""
    rows = [row for row in ledger.read(PAGES) if row.claim.paper == "phuong2021inductive"]
    fallen = {row.claim.id for row in rows if row.verdict in ("refuted", "not-reproduced")}
    assert fallen <= INSTEAD.keys()
    held = {row.claim.id for row in rows if row.verdict == "reproduced"}
    assert not held & INSTEAD.keys()
