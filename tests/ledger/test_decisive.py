"""The number on a folded card is the one on which the claim's verdict hangs."""

from __future__ import annotations

from pathlib import Path

import pytest
from reluflow.ledger.cards import decisive
from reluflow.ledger.evidence import Evidence, bound, deviation, fact, note
from reluflow.ledger.inventory import Claim, Limit, held
from reluflow.ledger.rows import NOT_REPRODUCED, REFUTED, REPRODUCED, Counterexample, Row
from reluflow.ledger.scoreboard import read

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
CLAIM = Claim("xx.thm1", "paper", "Theorem 1", "theorem", "It holds.")
SURVEY = fact("it grows: instances that break it", 0, 0, tried=115)
SMALLER = fact("it turns: instances that break it", 0, 0, tried=30)
FAR, NEAR = bound("depth", 1.0, "<=", 9.0, ""), bound("rank", 1.9, "<=", 2.0, "")
ZERO = bound("gain", 0.1, ">", 0, "")


def rounding(what: str) -> Evidence:
    """A deviation that stands for anything at rounding level."""
    (item,) = held((deviation(what, 1e-12, ""),), {what: Limit("<=", 1e-9)}, "x")
    return Evidence("deviation", what, 1e-9, op="<=", limit=item.limit, clipped=True)


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        ([FAR, SURVEY], ("0 of 115", "instances break it")),
        ([SURVEY, SMALLER], ("0 of 30 or more", "instances break it, in each of 2 surveys")),
        ([FAR, NEAR, ZERO], ("≈1.900 ≤ 2", "rank")),
        ([rounding("error"), FAR], ("≈1.000 ≤ 9", "depth")),
        ([rounding("error")], ("at most 1e-9", "error")),
        ([fact("flows lost", 0, 0, tried=8), NEAR], ("0 of 8", "flows lost")),
        ([fact("it finds", "Global", "Global"), NEAR], ("Global", "it finds")),
        ([fact("it is stable", True, True), ZERO], ("≈0.1000 > 0", "gain")),
        ([fact("it is stable", True, True, tried=9)], ("", "it is stable")),
        ([fact("it is unstable", False, False)], ("", "it is unstable: no")),
        ([fact("panels", 9, 9), fact("it is", True, True), fact("left", 0, 0)], ("0", "left")),
        ([fact(f"{k} lost", 0, 0) for k in "ab"], ("0", "a lost, and 1 more like it")),
        ([note("seed", 7), NEAR, bound("the same", 1.9, ">=", 1.89, "")], ("≈1.900 ≤ 2", "rank")),
        ([], ("", "")),
    ],
)  # fmt: skip
def test_where_the_claim_holds(evidence: list[Evidence], shown: tuple[str, str]) -> None:
    assert decisive(Row(CLAIM, REPRODUCED, tuple(evidence))) == shown


@pytest.mark.parametrize(
    ("breaks", "evidence", "shown"),
    [
        (bound("gap", -0.5, ">=", 0, ""), FAR, ("≈-0.5000, not ≥ 0", "gap")),
        (fact("flips", 2, 1), FAR, ("2, not 1", "flips")),
        (
            fact("it ends", False, True),
            fact("cells without", 35, 0),
            ("35, not 0", "cells without"),
        ),
        (
            fact("it ends", False, True),
            fact("it ends: instances that break it", 28, 0, tried=35),
            ("28 of 35", "instances break it"),
        ),
        (
            fact("it ends", False, True),
            fact("it goes on", False, True),
            ("", "it ends: no"),
        ),
    ],
)
def test_where_the_claim_is_refuted(
    breaks: Evidence, evidence: Evidence, shown: tuple[str, str]
) -> None:
    case = Counterexample({"x": 1}, {"x > 0": True}, (breaks,), (breaks,), "by hand")
    assert decisive(Row(CLAIM, REFUTED, (FAR, evidence), counterexample=case)) == shown


def test_what_is_printed_stands_beside_what_appeared_nearest() -> None:
    failed = bound("step of the event, against the printed 500", 0.06, "<=", 0.05, "")
    instead = (note("step, sum", 156), note("step, half the mean", 469), note("seeds", (1, 2)))
    row = Row(CLAIM, NOT_REPRODUCED, (failed,), instead=instead)
    assert decisive(row) == ("469, printed 500", "step, half the mean")
    assert decisive(Row(CLAIM, NOT_REPRODUCED, (failed,)))[0] == "≈0.06000, not ≤ 0.05"


def test_every_claim_of_the_book_that_has_evidence_has_a_number_or_a_finding() -> None:
    for row in read(CHAPTERS):
        number, what = decisive(row)
        assert bool(what) == (row.why is None), row.claim.id
        assert not number.startswith(("yes", "no")), row.claim.id
        failed = row.verdict in (REFUTED, NOT_REPRODUCED)
        claimed = ("not ", ": no", "printed ", " of ")
        assert not failed or any(word in f"{number} {what}" for word in claimed), row.claim.id
