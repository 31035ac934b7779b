"""The sentences on what is true instead: for claims that there are, and well set."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from reluflow import ledger
from reluflow.ledger import LedgerError
from reluflow.ledger.scoreboard import true_instead
from reluflow.places import CHAPTERS, INSTEAD

from tests.ledger.test_inventory import faults

FILES = sorted(INSTEAD.glob("*.yml"))
PAPERS = [file.stem for file in FILES]
TOLD = {id: each.sentence for id, each in true_instead(PAPERS).items()}


@pytest.mark.parametrize("file", FILES, ids=PAPERS)
def test_the_sentences_speak_each_of_claims_of_their_paper_and_once(file: Path) -> None:
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    claims = [id for entry in entries for id in entry["claims"]]
    assert set(claims) <= ledger.open(file.stem).claims.keys()
    assert len(claims) == len(set(claims))
    assert len({entry["instead"] for entry in entries}) == len(entries)


@pytest.mark.parametrize("field", ["cause", "weight"])
def test_an_entry_without_a_cause_or_a_weight_is_refused(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"claims": ["sv.thm3.6"], "cause": "a sign", "weight": "part", "instead": "True."}
    monkeypatch.setattr(sys.modules[true_instead.__module__], "INSTEAD", tmp_path)
    del entry[field]
    (tmp_path / "lee2022support.yml").write_text(yaml.safe_dump([entry]), encoding="utf-8")
    with pytest.raises(LedgerError, match=field):
        true_instead(["lee2022support"])


@pytest.mark.parametrize("sentence", dict.fromkeys(TOLD.values()))
def test_a_sentence_can_be_set(sentence: str) -> None:
    assert faults(sentence) == []


def test_every_claim_that_falls_has_one_and_none_that_holds() -> None:
    """Read from the executed pages."""
    rows = ledger.read(CHAPTERS)
    assert {row.claim.paper for row in rows} == set(PAPERS)
    fallen = {row.claim.id for row in rows if row.verdict in ("refuted", "not-reproduced")}
    assert fallen <= TOLD.keys()
    held = {row.claim.id for row in rows if row.verdict == "reproduced"}
    assert not held & TOLD.keys()
