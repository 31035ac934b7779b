"""Claims of our own: their hypotheses are printed and tested, their verdicts are theirs alone."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from reluflow.falsify import Statement, falsify, given, settle
from reluflow.ledger import LedgerError, Row, cited, fact, proved
from reluflow.ledger.cards import page_card
from reluflow.ledger.inventory import Claim, load_inventories
from reluflow.ledger.rows import Ledger, row_from_record

from tests.ledger.test_inventory import faults

SENTENCES = {"positive": "$x > 0$.", "small": "$x < 10$."}
CLAIM = Claim("sv.ours.x", "paper", "repaired", "theorem", "$x^2 > 0$.", None, SENTENCES)
TESTS = {"$x > 0$.": lambda item: item["x"] > 0, "$x < 10$.": lambda item: item["x"] < 10}
OURS = [claim for each in load_inventories() if each.ours for claim in each.claims]


def ledger_of_our_own() -> Ledger:
    return Ledger("paper", {CLAIM.id: CLAIM})


def statement(hypotheses: dict) -> Statement:
    return Statement(
        "squares",
        {"any": lambda rng: {"x": rng.normal()}},
        lambda item: item["x"] ** 2,
        hypotheses,
        strict=True,
    )


def settled(tests: dict) -> Row:
    return settle(ledger_of_our_own(), CLAIM.id, (statement(tests), 20, 0))


def test_a_survey_under_the_printed_hypotheses_settles_and_under_others_does_not() -> None:
    row = settled(TESTS)
    assert row.verdict == "survived"
    record = json.loads(json.dumps(row.record()))
    assert row_from_record(record, {CLAIM.id: CLAIM}) == row
    for left_out in TESTS:
        tests = {sentence: test for sentence, test in TESTS.items() if sentence != left_out}
        message = re.escape(f"does not test the hypothesis {left_out!r}")
        with pytest.raises(LedgerError, match=message):
            settled(tests)
    with pytest.raises(LedgerError, match=r"tests the hypothesis '\$d = 5\$\.'"):
        settled(TESTS | {"$d = 5$.": lambda item: True})


def test_a_sentence_narrowed_in_the_inventory_no_longer_fits_the_record() -> None:
    row = settled(TESTS)
    other = replace(CLAIM, given=SENTENCES | {"small": "$x < 1$."})
    with pytest.raises(LedgerError, match="the hypothesis"):
        row_from_record(row.record(), {CLAIM.id: other})


@pytest.mark.parametrize(
    ("known", "verdict"),
    [
        (proved("this section"), "proved"),
        (cited("this section", "Theorem 1 of Some One"), "proved-with-citation"),
    ],
)
def test_a_proof_is_its_own_verdict_and_never_reproduced(known, verdict: str) -> None:
    row = ledger_of_our_own().settle(CLAIM.id, [fact("identity", True, True)], known=known)
    assert row.verdict == verdict
    assert row_from_record(json.loads(json.dumps(row.record())), {CLAIM.id: CLAIM}) == row
    forged = row.record() | {"verdict": "reproduced"}
    with pytest.raises(LedgerError, match="its evidence says"):
        row_from_record(forged, {CLAIM.id: CLAIM})


def test_what_was_chosen_after_seeing_is_told_and_recorded() -> None:
    late = fact("bar", 1, 1, after="set when a fifth of the run was over")
    row = ledger_of_our_own().settle(CLAIM.id, [late], known=proved("here"))
    told = "chosen after seeing: set when a fifth of the run was over"
    assert told in str(row)
    assert told in page_card(row, [], "chapters/x")
    assert row_from_record(json.loads(json.dumps(row.record())), {CLAIM.id: CLAIM}) == row


# The hypotheses in the inventory


def inventory(folder: Path, monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Two files, of a paper and of our own, with a claim of these fields."""
    claim = {"id": "sv.ours.x", "at": "repaired", "kind": "theorem", "says": "It is.", "check": "x"}
    for name, claims in (("paper", []), ("ours_x", [claim | fields])):
        content = {"paper": "paper", "title": "t", "claims": claims}
        (folder / f"{name}.yml").write_text(yaml.safe_dump(content), encoding="utf-8")
    module = sys.modules[given.__module__]
    monkeypatch.setattr(module, "load_inventories", lambda: load_inventories(folder))


def test_a_statement_takes_its_hypotheses_from_the_inventory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inventory(tmp_path, monkeypatch, given=SENTENCES)
    small, positive = (lambda item: item["x"] < 10), (lambda item: item["x"] > 0)
    assert given("sv.ours.x", small=small, positive=positive) == {
        "$x > 0$.": positive,
        "$x < 10$.": small,
    }
    report = falsify(statement(given("sv.ours.x", small=small, positive=positive)), 0, 20, 0)
    assert report.checks()[0].given == tuple(SENTENCES.values())
    with pytest.raises(ValueError, match="the hypothesis 'positive' is only in the inventory"):
        given("sv.ours.x", small=small)
    with pytest.raises(ValueError, match="the hypothesis 'tame' is only tested"):
        given("sv.ours.x", small=small, positive=positive, tame=lambda item: np.all(item["x"]))
    with pytest.raises(ValueError, match=r"no claim of our own 'sv\.ours\.y'"):
        given("sv.ours.y", small=small)


@pytest.mark.parametrize("bad", [{}, "x > 0", {"a b": "x."}, {"a": ""}, {"a": 1}])
def test_hypotheses_are_sentences_with_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: object
) -> None:
    inventory(tmp_path, monkeypatch, given=bad)
    with pytest.raises(LedgerError, match="given"):
        load_inventories(tmp_path)


@pytest.mark.parametrize("claim", OURS, ids=lambda claim: claim.id)
def test_a_hypothesis_is_a_sentence_that_can_be_set(claim: Claim) -> None:
    assert not [fault for sentence in (claim.given or {}).values() for fault in faults(sentence)]
