"""The seal: what was weakened, left out or worded anew is a line of its difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from reluflow.ledger import seal as sealing
from reluflow.ledger.rows import Reading, Row, proved
from reluflow.ledger.scoreboard import Instead, scoreboard, true_instead
from reluflow.ledger.seal import broken, main, of_the_book, seal
from reluflow.places import CHAPTERS, SEAL

OWN, CASE, BOUND = "sv.ours.small.agree", "sv.thm3.6", "sv.thm4.2"


@cache
def rows() -> tuple[Row, ...]:
    return tuple(scoreboard([CHAPTERS]).rows)


@cache
def told() -> dict[str, Instead]:
    return true_instead(row.claim.paper for row in rows())


def sealed(id: str, change: Callable[[Row], Row]) -> list[str]:
    """How the seal of one row of the book differs where it is another."""
    (row,) = (row for row in rows() if row.claim.id == id)
    return broken(seal([row], told()), seal([change(row)], told()))


def test_the_book_is_as_it_was_sealed() -> None:
    found = broken(SEAL.read_text("utf-8"), of_the_book())
    assert not found, "\n".join(
        ["read what changed, then run `python -m reluflow.ledger.seal`:", *found]
    )


def first(row: Row, **fields: object) -> Row:
    """The row with other fields of its first piece of evidence that decides."""
    k = next(k for k, item in enumerate(row.evidence) if item.decides)
    item = replace(row.evidence[k], **fields)
    return replace(row, evidence=(*row.evidence[:k], item, *row.evidence[k + 1 :]))


def worded(row: Row, **fields: object) -> Row:
    return replace(row, claim=replace(row.claim, **fields))


@pytest.mark.parametrize(
    ("id", "change", "column"),
    [
        (OWN, lambda r: worded(r, says=f"For one datum: {r.claim.says}"), "says"),
        (OWN, lambda r: worded(r, kind="text"), "says"),
        (OWN, lambda r: worded(r, check="Look at it."), "check"),
        (OWN, lambda r: worded(r, given={"data": "Data of one dimension."}), "given"),
        (OWN, lambda r: first(r, tried=2), "tried"),
        (OWN, lambda r: first(r, what="half of it"), "asks"),
        (OWN, lambda r: first(r, after="all of it"), "asks"),
        (BOUND, lambda r: first(r, limit=1000), "limits"),
        (BOUND, lambda r: replace(r, evidence=r.evidence[:1]), "limits"),
        (BOUND, lambda r: replace(r, said=proved("Appendix Z")), "known"),
        (BOUND, lambda r: replace(r, reading=Reading("d >= 7", "none")), "reading"),
        (CASE, lambda r: replace(r, counterexample=None), "case"),
        (OWN, lambda r: replace(r, verdict="refuted"), OWN),
    ],
)
def test_a_row_that_changes_is_one_line(id: str, change: Callable, column: str) -> None:
    old, new = (line[1:].split(" limits ") for line in sealed(id, change))
    assert old[0].split()[0] == new[0].split()[0] == id
    cells = [
        dict(zip(line.split()[::2], line.split()[1::2], strict=True)) for line, _ in (old, new)
    ]
    if column == "limits":
        assert old[1] != new[1]
    else:
        assert cells[0][column] != cells[1][column]


def test_a_claim_that_is_gone_is_a_line_and_their_number() -> None:
    left = [row for row in rows() if row.claim.id != OWN]
    lines = broken(seal(rows(), told()), seal(left, told()))
    assert len(lines) == 3
    assert sum(OWN in line for line in lines) == 1
    assert {f"-{len(rows())} claims", f"+{len(left)} claims"} < set(lines)


def test_what_is_true_instead_is_sealed() -> None:
    other = told() | {CASE: replace(told()[CASE], sentence="All is well.")}
    assert len(broken(seal(rows(), told()), seal(rows(), other))) == 2


def test_the_command_says_what_changed_and_seals_it(tmp_path, monkeypatch, capsys):
    place, made = tmp_path / "seal.txt", "1 claims\na.b reproduced\n"
    monkeypatch.setattr(sealing, "of_the_book", lambda: made)
    assert main([], place) == main([], place) == 0
    assert main(["--all"], place) == main([], tmp_path) == 1  # neither is taken
    assert place.read_text("utf-8") == made
    told = ["+1 claims", "+a.b reproduced", "nothing has changed"]
    said = capsys.readouterr()
    assert said.out.splitlines() == told
    assert [line.split(":")[0] for line in said.err.splitlines()] == ["seal", "seal"]
