"""The claims inventories, and what is true instead: what is asked of their texts beyond the format
that the loaders check."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml
from reluflow import ledger
from reluflow.ledger import LedgerError, inventory
from reluflow.ledger.inventory import load_inventories
from reluflow.ledger.rows import mathematics
from reluflow.ledger.scoreboard import true_instead
from reluflow.places import CHAPTERS, INSTEAD

INVENTORIES = load_inventories()


def faults(text: str) -> list[str]:
    """What is wrong with a text in which mathematics stands between single dollars, but for what
    MathJax says on the pages."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return ["the dollars are not paired"]
    found = [] if text.rstrip().endswith((".", ".)")) else ["no full stop ends it"]
    words, formulas = parts[::2], parts[1::2]
    found += [f"mathematics outside of dollars: {w!r}" for w in words if re.search(r"[\\{}]", w)]
    return found + ["a formula is empty" for formula in formulas if not formula.strip()]


@pytest.mark.parametrize("given", INVENTORIES, ids=lambda given: f"{given.paper} {given.ours}")
def test_claims_hypotheses_and_settings_are_sentences_with_formulas_that_can_be_set(given) -> None:
    for says in (claim.says for claim in given.claims):
        assert len(says.split()) >= 6
        assert not says.startswith(("Same ", "The same with", "In this ", "In that ", "For these "))
        assert "$" not in mathematics(says)
    texts = [claim.says for claim in given.claims]
    texts += [text for claim in given.claims for text in (claim.given or {}).values()]
    texts += [part for part in given.setting.split("\n\n") if part]
    assert {text: found for text in texts if (found := faults(text))} == {}


@pytest.mark.parametrize(
    "text",
    ["An open $x formula.", "No stop $x$", r"Bare \alpha here.", "Bare {x} here.", "Empty $ $."],
)
def test_a_text_that_cannot_be_set_is_found(text: str) -> None:
    assert faults(text)
    assert not faults(
        r"Plain words, and $\{x : x^\top y_{i_1} \le 0\}$ (see $\left[ 0, 1 \right)$)."
    )


def test_a_year_is_that_of_the_entry_and_of_no_later_one(tmp_path, monkeypatch):
    entries = "@book{undated2022,\n  title = {x},\n}\n@book{dated2023,\n  year = {2023b},\n}"
    (tmp_path / "references.bib").write_text(entries, encoding="utf-8")
    monkeypatch.setattr(inventory, "BIBLIOGRAPHY", tmp_path / "references.bib")
    years = [inventory.year(key) for key in ("undated2022", "dated2023", "none")]
    assert years == ["", "2023b", ""]


# --- what is true instead ------------------------------------------------------------------------

TOLD_IN = sorted(INSTEAD.glob("*.yml"))
PAPERS = [file.stem for file in TOLD_IN]
TOLD = {id: each.sentence for id, each in true_instead(PAPERS).items()}


@pytest.mark.parametrize("file", TOLD_IN, ids=PAPERS)
def test_the_sentences_speak_each_of_claims_of_their_paper_and_once(file: Path) -> None:
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    claims = [id for entry in entries for id in entry["claims"]]
    assert set(claims) <= ledger.open(file.stem).claims.keys()
    assert len(claims) == len(set(claims))
    assert len({entry["instead"] for entry in entries}) == len(entries)


@pytest.mark.parametrize("field", ["cause", "weight"])
def test_an_entry_without_a_cause_or_a_weight_is_refused(field, tmp_path, monkeypatch):
    entry = {"claims": ["sv.thm3.6"], "cause": "a sign", "weight": "part", "instead": "True."}
    monkeypatch.setattr(sys.modules[true_instead.__module__], "INSTEAD", tmp_path)
    del entry[field]
    (tmp_path / "lee2022support.yml").write_text(yaml.safe_dump([entry]), encoding="utf-8")
    with pytest.raises(LedgerError, match=field):
        true_instead(["lee2022support"])


def test_every_claim_that_falls_has_one_and_none_that_holds() -> None:
    """Read from the executed pages."""
    rows = ledger.read(CHAPTERS)
    assert {row.claim.paper for row in rows} == set(PAPERS)
    fallen = {row.claim.id for row in rows if row.verdict in ("refuted", "not-reproduced")}
    assert fallen <= TOLD.keys()
    held = {row.claim.id for row in rows if row.verdict == "reproduced"}
    assert not held & TOLD.keys()
    assert [text for text in TOLD.values() if faults(text)] == []
