"""Every settled claim has an address, and only one: the function whose docstring it opens."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from reluflow.ledger import read
from reluflow.ledger.addresses import addresses
from reluflow.ledger.inventory import load_inventories
from reluflow.places import CHAPTERS

ROOMS = sorted({row.claim.paper for row in read(CHAPTERS)})


@pytest.mark.parametrize("paper", ROOMS)
def test_a_paper_with_a_chapter_has_an_address_for_every_claim(paper: str) -> None:
    """Inventory ids = ids in docstrings = settled ids, each at one function."""
    claims = {c.id for i in load_inventories() if i.paper == paper for c in i.claims}
    settled = {row.claim.id for row in read(CHAPTERS) if row.claim.paper == paper}
    found = defaultdict(list)
    for at in addresses():
        if paper in at.file.parts:
            found[at.id].append(str(at))
    assert claims == settled
    assert sorted(claims ^ found.keys()) == []
    assert {id: places for id, places in found.items() if len(places) > 1} == {}


def test_ids_are_read_from_the_opening_of_a_docstring(tmp_path: Path) -> None:
    text = '''
def one():
    """ab.thm1: said. It speaks of ab.thm9, too."""

def two():
    """ab.lem2.1, ab.lem2.2: both."""

class Three:
    """Ours, ab.ours.x: not at the opening."""

def four():
    """ab.fig1. A picture."""
'''
    (tmp_path / "room.py").write_text(text, encoding="utf-8")
    assert [(at.id, at.function) for at in addresses(tmp_path)] == [
        ("ab.thm1", "one"),
        ("ab.lem2.1", "two"),
        ("ab.lem2.2", "two"),
        ("ab.fig1", "four"),
    ]
