"""How a claim is known: what can be said, what follows from evidence, and how it returns."""

from __future__ import annotations

import json

import pytest
from reluflow.ledger import LedgerError, computed, exact, exhausted, fact, proved
from reluflow.ledger.rows import (
    COMPUTED,
    COUNTEREXAMPLE,
    SAID,
    SURVIVED,
    Known,
    card,
    row_from_record,
)

from tests.ledger.test_ledger import CASE, FAILS, HOLDS, book, claim_of

TRIED = fact("instances that break it", 0, 0, tried=150)
FEWER = fact("instances that break the converse", 0, 0, tried=30)


def returned(row):
    """The row after its record went through a notebook's file."""
    record = json.loads(json.dumps(row.record()))
    return row_from_record(record, {"sv.x.1": claim_of()})


@pytest.mark.parametrize("say", [proved, exhausted, exact, computed])
def test_what_is_said_is_recorded_and_shown(say) -> None:
    row = book().settle("sv.x.1", [HOLDS], known=say("all cells, by hand"))
    assert row.known == (say("all cells, by hand"),)
    assert f"{row.known[0].how}: all cells, by hand" in str(row)
    assert "all cells, by hand" in card(row.claim, row.verdict, row.parts)
    assert returned(row) == row


def test_survival_follows_from_the_evidence_and_counts_the_least_tried_statement() -> None:
    one = book().settle("sv.x.1", [HOLDS, TRIED])
    two = book().settle("sv.x.1", [TRIED, FEWER])
    assert one.known == (Known(SURVIVED, "150 instances"),)
    assert two.known[0].text.startswith("30 instances or more, of each of 2")
    both = book().settle("sv.x.1", [TRIED], known=proved("the section above"))
    assert [way.how for way in both.known] == ["proved here", SURVIVED]
    assert all(returned(row) == row for row in (one, two, both))


def test_a_refuted_claim_is_known_by_its_counterexample() -> None:
    row = book().settle("sv.x.1", [FAILS, TRIED], counterexample=CASE)
    assert row.known == (Known(COUNTEREXAMPLE, CASE.route),)
    with pytest.raises(LedgerError, match="cannot be said"):
        book().settle("sv.x.1", [FAILS], counterexample=CASE, known=proved("here"))


@pytest.mark.parametrize("how", ["survived", "counterexample"])
def test_what_follows_from_evidence_cannot_be_said(how: str) -> None:
    with pytest.raises(LedgerError, match="cannot be said"):
        book().settle("sv.x.1", [HOLDS], known=Known(how, "trust me"))


@pytest.mark.parametrize("how", [way for way in SAID if way != COMPUTED])
def test_a_way_needs_its_place(how: str) -> None:
    with pytest.raises(LedgerError, match="says where or by what"):
        Known(how, " ")
    with pytest.raises(LedgerError, match="known as one of"):
        Known("divination", "tea leaves")


@pytest.mark.parametrize(
    "forged", [[], [{"how": "survived", "text": "9 instances"}], [{"how": "proved here"}]]
)
def test_a_forged_way_is_refused(forged: list) -> None:
    record = book().settle("sv.x.1", [HOLDS, TRIED]).record() | {"known": forged}
    with pytest.raises(LedgerError):
        row_from_record(record, {"sv.x.1": claim_of()})
