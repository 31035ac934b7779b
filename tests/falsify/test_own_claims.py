"""Claims of our own: their hypotheses are printed and tested, their verdicts are theirs alone."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace

import pytest
from reluflow.falsify import Statement, falsify, given, settle
from reluflow.ledger import LedgerError, Row, cited, fact, proved
from reluflow.ledger.cards import page_card
from reluflow.ledger.inventory import Claim, Inventory
from reluflow.ledger.rows import Ledger, row_from_record

SENTENCES = {"positive": "$x > 0$.", "small": "$x < 10$."}
CLAIM = Claim("sv.ours.x", "paper", "repaired", "theorem", "$x^2 > 0$.", None, SENTENCES)
TESTS = {"$x > 0$.": lambda item: item["x"] > 0, "$x < 10$.": lambda item: item["x"] < 10}


def ledger_of_our_own() -> Ledger:
    return Ledger("paper", {CLAIM.id: CLAIM})


def statement(hypotheses: dict) -> Statement:
    draws = {"any": lambda rng: {"x": rng.normal()}}
    return Statement("squares", draws, lambda item: item["x"] ** 2, hypotheses, strict=True)


def settled(tests: dict) -> Row:
    return settle(ledger_of_our_own(), CLAIM.id, (statement(tests), 20, 0))


def returned(row: Row, claim: Claim = CLAIM) -> Row:
    """The row after its record went through a notebook's file."""
    return row_from_record(json.loads(json.dumps(row.record())), {CLAIM.id: claim})


def test_a_survey_under_the_printed_hypotheses_settles_and_under_others_does_not() -> None:
    row = settled(TESTS)
    assert row.verdict == "survived"
    assert returned(row) == row
    for left_out in TESTS:
        tests = {sentence: test for sentence, test in TESTS.items() if sentence != left_out}
        message = re.escape(f"does not test the hypothesis {left_out!r}")
        with pytest.raises(LedgerError, match=message):
            settled(tests)
    with pytest.raises(LedgerError, match=r"tests the hypothesis '\$d = 5\$\.'"):
        settled(TESTS | {"$d = 5$.": lambda item: True})
    # A sentence that is narrowed in the inventory no longer fits the record.
    with pytest.raises(LedgerError, match="the hypothesis"):
        returned(row, replace(CLAIM, given=SENTENCES | {"small": "$x < 1$."}))


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
    assert returned(row) == row
    with pytest.raises(LedgerError, match="its evidence says"):
        returned(replace(row, verdict="reproduced"))


def test_what_was_chosen_after_seeing_is_told_and_recorded() -> None:
    late = fact("bar", 1, 1, after="set when a fifth of the run was over")
    row = ledger_of_our_own().settle(CLAIM.id, [late], known=proved("here"))
    told = "chosen after seeing: set when a fifth of the run was over"
    assert told in str(row)
    assert told in page_card(row, [], "chapters/x")
    assert returned(row) == row


# The hypotheses in the inventory


def test_a_statement_takes_its_hypotheses_from_the_inventory(monkeypatch) -> None:
    ours = Inventory("paper", "t", "", True, (CLAIM,))
    monkeypatch.setattr(sys.modules[given.__module__], "load_inventories", lambda: [ours])
    tests = dict(zip(SENTENCES, TESTS.values(), strict=True))
    found = given(CLAIM.id, **dict(reversed(tests.items())))
    assert [*found.items()] == [*TESTS.items()]
    assert falsify(statement(found), 0, 20, 0).checks()[0].given == tuple(SENTENCES.values())
    with pytest.raises(ValueError, match="the hypothesis 'positive' is only in the inventory"):
        given(CLAIM.id, small=tests["small"])
    with pytest.raises(ValueError, match="the hypothesis 'tame' is only tested"):
        given(CLAIM.id, **tests, tame=lambda item: True)
    with pytest.raises(ValueError, match=r"no claim of our own 'sv\.ours\.y'"):
        given("sv.ours.y", **tests)
