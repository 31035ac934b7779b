"""Every settled claim has an address, and only one: the function whose docstring it opens."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import nbformat
import pytest
from reluflow.ledger import read
from reluflow.ledger.cards import addresses, proof_label, proofs
from reluflow.ledger.inventory import load_inventories
from reluflow.ledger.rows import CITED, PROVED_HERE
from reluflow.places import CHAPTERS

listed = cache(addresses)
ROOMS = sorted({row.claim.paper for row in read(CHAPTERS)})


@pytest.mark.parametrize("paper", ROOMS)
def test_a_paper_with_a_chapter_has_an_address_for_every_claim(paper: str) -> None:
    """Inventory ids = ids in docstrings = settled ids, each at one function."""
    claims = {c.id for i in load_inventories() if i.paper == paper for c in i.claims}
    settled = {row.claim.id for row in read(CHAPTERS) if row.claim.paper == paper}
    found = defaultdict(list)
    for at in listed():
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


def test_what_is_proved_here_has_its_proof_on_a_page_of_its_chapter() -> None:
    """An anchor each, none twice and none for another claim; a paragraph stands behind it."""
    proved = {proof_label(row.claim.id): row for row in read(CHAPTERS)
              if any(way.how in (PROVED_HERE, CITED) for way in row.known)}  # fmt: skip
    found = proofs()
    assert sorted(proof.label for proof in found) == sorted(proved)
    for proof in found:
        assert proof.page[:2] == proved[proof.label].chapter[:2], proof
        assert len(proof.opens) > 40, proof
        assert not proof.opens.startswith(("#", "```", ":::", "|")), proof


def test_proofs_are_read_from_their_anchors(tmp_path: Path) -> None:
    labels, opens = "(proof-ab-thm1)=\n(proof-ab-lem2-1)=\n", "(how)=\n**Proof.** So\nit is."
    text = f"Said.\n\n{labels}{opens}\n\nNo more."
    other = "- (proof-ab-thm3)= is none\n\n(proof-ab-thm4)=\n"
    cells = [nbformat.v4.new_markdown_cell(each) for each in (text, other)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    found = [(proof.label, proof.page, proof.opens) for proof in proofs(tmp_path)]
    assert found == [
        ("proof-ab-thm1", "one.ipynb", opens),
        ("proof-ab-lem2-1", "one.ipynb", opens),
        ("proof-ab-thm4", "one.ipynb", ""),
    ]
