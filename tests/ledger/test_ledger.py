"""The ledger: evidence, verdicts, rows in notebooks, the scoreboard and the command."""

from __future__ import annotations

import json
import math
import operator
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow import ledger
from reluflow.ledger import (
    Counterexample,
    Evidence,
    LedgerError,
    Reading,
    bound,
    computed,
    deviation,
    exact,
    fact,
    note,
    proved,
    with_this_seed,
)
from reluflow.ledger.__main__ import main
from reluflow.ledger.evidence import FINITE, from_json, plain, printed, recorded, sentence, to_json
from reluflow.ledger.inventory import Claim, Limit, claims_by_id, held, load_inventories
from reluflow.ledger.rows import (
    COMPUTED,
    COUNTEREXAMPLE,
    SAID,
    SURVIVED,
    Known,
    Ledger,
    Row,
    row_from_record,
)
from reluflow.ledger.scoreboard import link
from reluflow.places import CHAPTERS

PRINTED = next(iter(claims_by_id(load_inventories())["sv.ex5.1.a"].limits))
HOLDS = fact("support", (0, 1), (0, 1))
FAILS = fact("rank", 2, 1)
SECOND = bound("loss above the minimum", 0.25, "<=", 0.0, "loss")
CASE = Counterexample({"X": [[1, 0]]}, {"A1": True}, (FAILS,), (SECOND,), "a plain loop")
READING = Reading("small means |w₀| ≤ δ", "nothing is claimed")

floats = st.floats(allow_nan=False, allow_infinity=False)
finite = st.one_of(st.integers(-(10**20), 10**20), st.fractions(), floats)
near_one = st.floats(0.999, 1.001)
shares = st.sampled_from([0.0, 0.5, 0.99999, 1.0])
tiny = st.sampled_from([s * limit for limit in (1e-9, 1.23406e-12, 1.23404e-12) for s in (1, -1)])
texts = st.text(min_size=1, max_size=30).filter(lambda s: s.strip())


def claim_of(kind: str = "theorem", within: float | None = None) -> Claim:
    """A claim whose measured values are held against one limit, or one that stands nowhere."""
    limits = None if within is None else {"…": Limit("<=", within)}
    return Claim("sv.x.1", "paper", "Figure <i>1</i>", kind, "a < <b>b</b> & c", limits)


def book(kind: str = "theorem", within: float | None = None) -> Ledger:
    claim = claim_of(kind, within)
    return Ledger("paper", {claim.id: claim})


def notebook(path: Path, rows: list[Row], executed: bool = True) -> Path:
    """A notebook file whose cells show these rows, written as Jupyter writes it."""
    cells = []
    for number, row in enumerate(rows, start=1):
        cell = nbformat.v4.new_code_cell("...", execution_count=number if executed else None)
        cell["id"] = f"cell-{number}"
        data = json.loads(json.dumps(row._repr_mimebundle_()))
        cell["outputs"] = [nbformat.v4.new_output("display_data", data=data)]
        cells.append(cell)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def edited(path: Path, old: str, new: str) -> Path:
    """The notebook after somebody changed its file with an editor."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


# Evidence


@given(
    st.sampled_from([operator.lt, operator.le, operator.gt, operator.ge]),
    st.one_of(
        st.tuples(st.one_of(finite, st.just(math.nan)), finite),
        st.tuples(near_one, near_one),
        near_one.map(lambda x: (x, x)),
        st.tuples(st.floats(-1e-8, 1e-8), st.floats(-1e-8, 1e-8)),
        st.builds(lambda share, limit: (share * limit, limit), shares, tiny),
    ),
    st.integers(2, 4),
    st.booleans(),
)
def test_rounding_changes_no_outcome_and_no_tolerance(compare, numbers, digits, chosen):
    op = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[compare.__name__]
    exact = bound("b", numbers[0], op, numbers[1], "", digits)
    if chosen:  # the limit of a deviation is chosen, not computed
        exact, compare = replace(exact, form="deviation", op="<="), operator.le
    rounded = recorded(exact)
    assert rounded.holds == exact.holds == compare(*numbers)
    assert not rounded.clipped or abs(rounded.value) >= abs(exact.value)
    assert not chosen or rounded.limit == exact.limit
    for before, after in ((exact.value, rounded.value), (exact.limit, rounded.limit)):
        if not isinstance(before, float):
            assert after == before
        elif not (rounded.clipped and before == exact.value) and math.isfinite(after):
            assert abs(after - before) <= 10.0 ** (1 - digits) * abs(before) + 1e-320


@given(st.floats(0, 1e-10), st.floats(0, 1e-10))
def test_rounding_errors_leave_the_same_record(one: float, other: float) -> None:
    rows = [book(within=1e-6).settle("sv.x.1", [deviation("d", v, "in w")]) for v in (one, other)]
    assert rows[0].record() == rows[1].record()
    assert "at most 1e-9 in w (asked: ≤ 1e-6)" in sentence(rows[0].evidence[0])
    low = [recorded(bound("least", -v, ">=", -1e-6, "")) for v in (one, other)]
    assert low[0] == low[1]
    assert "at least -1e-9" in sentence(low[0])


@given(st.one_of(finite, st.just(math.inf), st.just(math.nan)), finite)
def test_evidence_returns_from_its_json(value: float, limit: float) -> None:
    pieces = [note("n", (value, "text", True)), fact("f", (1, Fraction(1, 3)), (1, Fraction(1, 2)))]
    pieces.append(recorded(bound("b", value, "<=", limit, "u")))
    for item in pieces:
        data = json.loads(json.dumps(to_json(item, "measured"), allow_nan=False))
        again = to_json(from_json(data), "measured")
        assert again == data
        assert sentence(from_json(data)) == sentence(item)
        if item.decides:
            assert from_json(data).holds == item.holds


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: deviation("d", -1e-9, ""), "must not be negative"),
        (lambda: deviation("d", True, ""), "one real number"),
        (lambda: deviation(" ", 1, ""), "needs a text"),
        (lambda: deviation("d", 1, None), "needs its unit"),
        (lambda: fact("f", 1.0, 1), "must be exact"),
        (lambda: fact("f", (1, (True,)), (1, (1,))), "different type"),
        (lambda: bound("b", 1, "==", 1, ""), "one of < <= > >="),
        (lambda: bound("b", 1, "<", math.nan, ""), "must be finite"),
        (lambda: note("n", None), "one real number"),
        *((lambda other=other: from_json(to_json(SECOND, "measured") | other), message)
          for other, message in (({"op": "=>"}, "one of"), ({"op": "=="}, "one of"),
                                 ({"digits": 1}, "the digits"))),
    ],
)  # fmt: skip
def test_evidence_that_says_nothing_is_refused(make: object, message: str) -> None:
    with pytest.raises(LedgerError, match=message):
        make()


# Verdicts


@given(
    st.sampled_from(["theorem", "figure", "example", "table", "text"]),
    st.lists(st.sampled_from([HOLDS, FAILS, note("seed", 1)]), max_size=4),
    *(st.sampled_from([None, given]) for given in (READING, CASE, "something else")),
)
def test_the_verdict_is_computed(kind, evidence, reading, case, instead):
    deciding = [item for item in evidence if item.decides]
    expected = None
    if deciding and FAILS not in evidence and not case and not instead:
        expected = "reproduced-with-reading" if reading else "reproduced"
    elif FAILS in evidence and case and not instead:
        expected = "refuted"
    elif FAILS in evidence and instead and not case and kind != "theorem":
        expected = "not-reproduced"
    claims = book(kind)
    if expected is None:
        with pytest.raises(LedgerError):
            claims.settle("sv.x.1", evidence, reading, case, instead)
        assert not claims.settled
        return
    row = claims.settle("sv.x.1", evidence, reading, case, instead)
    assert row.verdict == row_from_record(row.record(), claims.claims).verdict == expected


@pytest.mark.parametrize(
    ("evidence", "arguments", "message"),
    [
        ([deviation("d", 0, "")], {}, "no limit for 'd'"),
        (HOLDS, {}, "must be a list"),
        ([HOLDS], {"reading": "mine"}, "no Reading"),
        ([FAILS], {"counterexample": {"X": 1}}, "no Counterexample"),
        *(([FAILS], {"instead": instead}, "instead") for instead in ([FAILS], "", " ", [])),
        ([FAILS], {"counterexample": CASE, "known": proved("here")}, "cannot be said"),
        *(([HOLDS], {"known": Known(how, "trust me")}, "cannot be said")
          for how in (SURVIVED, COUNTEREXAMPLE)),
    ],
)  # fmt: skip
def test_what_cannot_be_settled(evidence: object, arguments: dict, message: str) -> None:
    claims = book("figure")
    with pytest.raises(LedgerError, match=message) as caught:
        claims.settle("sv.x.1", evidence, **arguments)
    assert "\n" not in str(caught.value)
    assert not claims.settled
    assert claims.settle("sv.x.1", [HOLDS]).verdict == "reproduced"


NAMED = {
    "gap": Limit("<=", 0.05),
    "time at x = …": Limit(">", Fraction(1, 4), "the bar"),
    "ratio": Limit("<", None),
    "sum: instances that break it": Limit("rounding", 1e-9),
}


def test_a_fact_about_no_instance_does_not_hold() -> None:
    assert fact("wrong ones", 0, 0, tried=1).holds
    assert not fact("wrong ones", 0, 0, tried=0).holds
    assert fact("not about instances", 0, 0).holds


def test_limits_are_those_of_the_inventory_and_no_wider() -> None:
    items = (
        deviation("gap", 0.01, ""),
        bound("time at x = 7", 0.5, ">", 0.25, "s"),
        bound("ratio", 1.0, "<", 1.3127, ""),
        bound("a sign", 1.0, ">", 0, ""),
        fact("sum: instances that break it", 0, 0, tried=9, rounding=1e-9),
    )
    kept = [held(item, NAMED, "x") for item in items]
    assert [item.holds for item in kept] == [True] * 5
    assert kept[0].limit == 0.05
    assert kept[1].after == "the bar"
    assert kept[2:] == [*items[2:]]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (bound("gap", 0.01, "<=", 0.5, ""), "held against ≤ 0.5, and the inventory says ≤ 0.05"),
        (bound("gap", 0.01, "<", 0.05, ""), "held against < 0.05"),
        (bound("time at x = 7", 0.5, ">", 0.2, "s"), "the inventory says > 1/4"),
        (bound("ratio", 1.0, "<=", 1.3127, ""), "the inventory says < measured"),
        (bound("other", 1.0, "<=", 2, ""), "no limit for 'other'"),
        (deviation("other", 1.0, ""), "no limit for 'other'"),
        (deviation("ratio", 1.0, ""), "held against"),
        (fact("sum: instances that break it", 0, 0, rounding=1e-3), "held against rounding 0.001"),
        (fact("it: instances that break it", 0, 0, rounding=1e-9), "no limit"),
    ],
)
def test_a_limit_that_the_inventory_does_not_have_is_refused(item: Evidence, message: str) -> None:
    with pytest.raises(LedgerError, match=re.escape(message)):
        held(item, NAMED, "x")


def test_a_counterexample_is_held_against_the_limits_too() -> None:
    case = replace(CASE, breaks=(deviation("d", 9, ""),))
    row = book("figure", 0.05).settle("sv.x.1", [FAILS], counterexample=case)
    assert row.verdict == "refuted"
    wide = replace(case, breaks=(bound("d", 9, "<=", 1.0, ""),))
    with pytest.raises(LedgerError, match=r"the inventory says ≤ 0.05"):
        book("figure", 0.05).settle("sv.x.1", [FAILS], counterexample=wide)


def test_each_claim_is_settled_once_and_ledgers_share_nothing() -> None:
    claims = ledger.open("lee2022support")
    for call in (
        lambda: claims.settle("sv.thm3.6", [HOLDS]),
        lambda: claims.out_of_reach("sv.lemF.1", "no computation"),
        lambda: claims.not_applicable("sv.ex5.2", "other data"),
    ):
        call()
        with pytest.raises(LedgerError, match="settled already"):
            call()
    assert repr(claims).startswith("<ledger of lee2022support: 3 of ")
    assert ledger.open("lee2022support").settle("sv.thm3.6", [HOLDS]).verdict == "reproduced"


def test_unknown_names_are_refused_with_the_nearest_one() -> None:
    claims = ledger.open("lee2022support")
    with pytest.raises(LedgerError, match=r"no claim 'sv.thm4.33'.*did you mean 'sv.thm4.3'"):
        claims.settle("sv.thm4.33", [HOLDS])
    with pytest.raises(LedgerError, match="no paper 'lee2022'"):
        ledger.open("lee2022")


def test_verdicts_without_evidence_need_a_reason() -> None:
    for why in ("", " "):
        with pytest.raises(LedgerError, match="says why"):
            book().out_of_reach("sv.x.1", why)


def test_what_appears_instead_may_be_made_of_what_failed() -> None:
    both = [bound("steps", -3, "<=", 0, ""), deviation("gap", 2e-9, "|w|")]
    found = book("figure", 1e-9).settle("sv.x.1", both, instead=with_this_seed)
    assert found.verdict == "not-reproduced"
    assert found.instead[0].value == "with this seed it is otherwise: gap"
    held = book("figure", 1e-8).settle("sv.x.1", both, instead=with_this_seed)
    assert (held.verdict, held.instead) == ("reproduced", ())


# Counterexamples


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance": {}}, "needs an instance"),
        ({"instance": {"X": [[math.nan]]}}, "must be finite"),
        ({"assumptions": {}}, "needs the assumptions"),
        ({"assumptions": {"A1": True, "A2": False}}, "does not satisfy assumption 'A2'"),
        ({"assumptions": {"A1": 1}}, "true or false"),
        ({"recheck": ()}, "needs a recheck"),
        ({"route": " "}, "needs a recheck and the route"),
        ({"breaks": (HOLDS,)}, "breaks nothing"),
        ({"breaks": (FAILS, HOLDS)}, "breaks nothing"),
        ({"recheck": (HOLDS,)}, "breaks nothing"),
        ({"breaks": ()}, "not a note"),
        ({"recheck": (note("n", 1),)}, "not a note"),
        ({"recheck": (bound("b", math.nan, "<", 1, ""),)}, "is NaN"),
        ({"recheck": (fact("rank", 3, 1),)}, "name the route"),
        ({"breaks": FAILS}, "must be a list"),
    ],
)
def test_a_counterexample_that_shows_nothing_is_refused(change: dict, message: str) -> None:
    assert book().settle("sv.x.1", [FAILS], counterexample=CASE).verdict
    with pytest.raises(LedgerError, match=message):
        book().settle("sv.x.1", [FAILS], counterexample=replace(CASE, **change))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_instances_are_printed_exactly(value: float) -> None:
    assert float(printed(value)) == value
    assert printed(plain(np.array([value]), "x", FINITE)) == f"[{printed(value)}]"
    assert len(printed(value)) <= len(repr(value))


# The row in a notebook


@settings(max_examples=25)
@given(texts, texts, texts)
def test_markup_in_any_text_is_shown_and_not_obeyed(one: str, two: str, three: str) -> None:
    one, two, three = (f"{t}<script>&lt;'\"</script>" for t in (one, two, three))
    case = Counterexample({one: two}, {two: True}, (fact(three, one, one + two),), (SECOND,), one)
    row = book().settle("sv.x.1", [bound(one, 1, "<", 0, two)], Reading(two, three), case)
    html = BeautifulSoup(row._repr_mimebundle_()["text/html"], "html.parser")
    assert not html.select("script, b, i")
    squeezed = html.get_text().replace("\r\n", "\n").replace("\r", "\n")
    for text in (one, two, three, "a < <b>b</b> & c", "Figure <i>1</i>"):
        assert text.replace("\r\n", "\n").replace("\r", "\n") in squeezed


def settled() -> list[Row]:
    """Rows of every verdict."""
    claims = ledger.open("lee2022support")
    return [
        claims.settle("sv.ex5.1.a", [deviation(PRINTED, 2e-8, "in w")]),
        claims.settle("sv.prop4.4", [HOLDS], reading=READING),
        claims.settle("sv.thm4.3", [FAILS], counterexample=CASE),
        claims.settle("sv.fig1", [FAILS], instead="five components"),
        claims.out_of_reach("sv.lemF.5", "a proof"),
        claims.not_applicable("sv.ex5.2", "own data"),
    ]


def chapter_with_sections(folder: Path, rows: list[Row]) -> Path:
    """Write a chapter's page with the first row, and the others into two sections."""
    (folder / "05_five").mkdir()
    notebook(folder / "05_five" / "tables.ipynb", rows[1:3])
    notebook(folder / "05_five" / "balance.ipynb", rows[3:])
    return notebook(folder / "05_five.ipynb", rows[:1])


def test_rows_are_read_with_their_page_and_cell_each_once(tmp_path: Path) -> None:
    rows = settled()
    chapter = chapter_with_sections(tmp_path, rows)
    found = {row.claim.id: row for row in ledger.read(tmp_path)}
    assert list(found) == [i for i in ledger.open("lee2022support").claims if i in found]
    for row in rows:
        assert found[row.claim.id].record() == json.loads(json.dumps(row.record()))
    places = ["05_five.ipynb", *["05_five/tables.ipynb"] * 2, *["05_five/balance.ipynb"] * 3]
    assert [found[row.claim.id].chapter for row in rows] == places
    assert found["sv.thm4.3"].cell == "cell-2"
    inside = ledger.read(str(tmp_path / "05_five"))
    assert {row.claim.id for row in inside} == {row.claim.id for row in rows[1:]}
    assert len(ledger.read([chapter, tmp_path])) == len(rows) == len(found)
    notebook(tmp_path / "05_five" / "again.ipynb", rows[:1])
    message = r"^05_five.ipynb, cell .* is settled already in 05_five/again.ipynb, cell cell-"
    with pytest.raises(LedgerError, match=message):
        ledger.read(tmp_path)
    with pytest.raises(LedgerError, match=r"cell-2: .* settled already in 1.ipynb, cell cell-1"):
        ledger.read(notebook(tmp_path / "1.ipynb", [rows[0], rows[0]]))


def test_a_chapter_sums_up_its_sections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[ledger.Scoreboard.__module__], "CHAPTERS", tmp_path)
    rows = settled()
    chapter_with_sections(tmp_path, rows)
    claims = ledger.open("lee2022support")
    claims.settle("sv.lem3.2", [HOLDS])
    board = ledger.summary(claims, "05_five")
    ids = [row.claim.id for row in board.rows]
    assert ids == [id for id in claims.claims if id in ids]
    assert set(ids) == {row.claim.id for row in rows[1:]} | {"sv.lem3.2"}
    links = [re.search('href="(.*?)"', link(row))[1] for row in board.rows]
    assert "#claim-sv-lem3-2" in links
    assert "05_five/tables.html#claim-sv-thm4-3" in links
    other = ledger.open("lee2023magnitude")
    assert ledger.summary(other, "05_five").rows == ()
    claims.settle("sv.thm4.3", [FAILS], counterexample=CASE)
    with pytest.raises(LedgerError, match=r"sv.thm4.3 is settled in 05_five/tables.ipynb, too"):
        ledger.summary(claims, "05_five")


def test_a_front_end_that_writes_2_for_2_point_0_changes_nothing(tmp_path: Path) -> None:
    claims = ledger.open("lee2022support")
    rows = [claims.settle("sv.thm3.6", [bound("slack", 2.0, ">", 0.0, "")])]
    path = notebook(tmp_path / "a.ipynb", rows)
    edited(path, '"value": 2.0', '"value": 2')
    assert ledger.read(path)[0].verdict == "reproduced"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"verdict": "refuted"', '"verdict": "reproduced"', "its evidence says 'refuted'"),
        ('"verdict": "refuted"', '"verdict": "out-of-reach"', "its evidence says 'refuted'"),
        ('"verdict": "reproduced"', '"verdict": "refuted"', "its evidence says 'reproduced'"),
        ('"value": 2e-08', '"value": 2e-05', "say what appeared 'instead'"),
        ('"value": 2e-08', '"value": 1e-08', "edited by hand"),
        ('"limit": 1e-06', '"limit": 0.001', "edited by hand"),
        ("asked: ≤ 1e-6", "asked: ≤ 1e-3", "edited by hand"),
        ('"holds": true', '"holds": false', "edited by hand"),
        ('"kind": "theorem"', '"kind": "text"', "edited by hand"),
        ('"id": "sv.thm4.3"', '"id": "sv.thm4.33"', "'sv.thm4.33' is in no inventory"),
        ('"id": "sv.thm4.3"', '"id": "sv.prop4.4"', "sv.prop4.4"),
        ('"route": "a plain loop"', '"route": ""', "needs a recheck and the route"),
        ('"met": true', '"met": false', "does not satisfy"),
        ('"form": "deviation"', '"form": "guess"', "unknown form"),
        ('"role": "measured"', '"role": "hoped"', "cannot be read"),
        ('"verdict": "out-of-reach"', '"verdict": "reproduced"', "reproduced needs evidence"),
        ('"execution_count": 3', '"execution_count": null', "never executed"),
    ],
)
def test_rows_edited_by_hand_are_refused(tmp_path, old, new, message, capsys):
    path = edited(notebook(tmp_path / "01_one.ipynb", settled()[:5]), old, new)
    with pytest.raises(LedgerError, match=re.escape(message)) as caught:
        ledger.read(path)
    assert "01_one.ipynb, cell cell-" in str(caught.value)
    assert main([str(path)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


def test_a_reason_does_not_stand_in_for_failed_evidence() -> None:
    row = book("figure").settle("sv.x.1", [FAILS], instead="other")
    record = row.record()
    record["evidence"][1] |= {"role": "why", "what": "why"}
    for verdict, message in (("out-of-reach", "takes no evidence"), ("reproduced", "needs")):
        with pytest.raises(LedgerError, match=message):
            row_from_record(record | {"verdict": verdict}, book().claims)


NO_NOTEBOOKS = ["", "{", "[]", "{}", '{"cells": [1]}', '{"cells": {"a": 1}}', "[" * 100_000]


@pytest.mark.parametrize("content", NO_NOTEBOOKS, ids=lambda text: text[:9])
def test_files_that_are_no_notebooks_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.ipynb").write_text(content)
    with pytest.raises(LedgerError, match=r"a\.ipynb is not a notebook"):
        ledger.read(tmp_path)
    with pytest.raises(LedgerError, match="no notebook or folder"):
        ledger.read(tmp_path / "b.ipynb")


@pytest.mark.parametrize("content", [b"\x80\x00", b"a: [", b"paper: \xff", b"[" * 3_000, b"\x00"])
def test_inventories_that_are_no_yaml_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.yml").write_bytes(content)
    with pytest.raises(LedgerError, match=r"a\.yml is not YAML") as caught:
        load_inventories(tmp_path)
    assert "\n" not in str(caught.value)


# The command and the scoreboard


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sv.ex5.1.aa"], "no claim and no file 'sv.ex5.1.aa'; did you mean 'sv.ex5.1.a'?"),
        (["ma.lem2.1"], "claim ma.lem2.1 is open: no notebook settles it"),
        (["--rerun"], "--rerun needs the id of a claim"),
        *((["--compare", name], f"--compare: {name} is no list that --json printed")
          for name in ("no.json", "page.json", "ids.json", "deep.json")),
        (["--compare", ""], "--compare: . is no list that --json printed"),
    ],
)  # fmt: skip
def test_what_the_command_cannot_show(arguments, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path / "01_one.ipynb", settled())
    Path("page.json").write_text("{}")
    Path("deep.json").write_text("[" * 100_000)
    Path("ids.json").write_text('[{"id": "sv.thm3.6"}]')
    assert main([*arguments, str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"ledger: {told}\n"


def test_rows_unlike_those_of_a_frozen_list_are_named(tmp_path, capsys):
    notebook(tmp_path / "01_one.ipynb", settled())
    assert main(["--json", str(tmp_path)]) == 0
    rows = json.loads(capsys.readouterr().out)
    file = tmp_path / "frozen.json"

    def compared(rows: list[dict]) -> tuple[int, str]:
        file.write_text(json.dumps(rows), encoding="utf-8")
        return main(["--compare", str(file), str(tmp_path)]), capsys.readouterr().out

    assert compared(rows) == (0, f"0 of {len(rows)} claims differ\n")
    rows[0]["evidence"][0]["what"] += "!"
    status, told = compared(rows)
    assert (status, told.splitlines()[0]) == (1, f"{rows[0]['id']}: another evidence")
    status, told = compared(rows[1:])
    assert (status, told.splitlines()[0]) == (1, f"{rows[0]['id']}: not in the list")


def test_a_check_is_run_again(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """In its folder; the new record is shown with its page and the lines of the check, and a check
    that fails is one sentence."""
    chapter_with_sections(tmp_path, settled())
    file = tmp_path / "05_five" / "balance.ipynb"
    book = json.loads(file.read_text(encoding="utf-8"))
    (cell,) = (c for c in book["cells"] if '"sv.lemF.5"' in json.dumps(c.get("outputs", [])))
    again = [
        "from pathlib import Path\n",
        "from reluflow import ledger\n",
        "claims = ledger.open('lee2022support')\n",
        "claims.settle('sv.lemF.5', [ledger.fact('here', Path.cwd().name, '05_five')])",
    ]
    for source, verdict in ((again, "reproduced"), (["1 / 0"], "")):
        cell["source"] = source
        file.write_text(json.dumps(book), encoding="utf-8")
        assert main(["sv.lemF.5", "--rerun", str(file)]) == int(not verdict)
        shown = capsys.readouterr()
        assert verdict in shown.out
        if verdict:
            where = (
                f"  page: 05_five/balance.html#claim-sv-lemF-5, cell {cell['id']}\n  check: lib/"
            )
            assert where in shown.out
    assert shown.err.startswith("ledger: sv.lemF.5 cannot be settled again: cell ")


@pytest.mark.parametrize(
    ("command", "ended"),
    [
        ("{} --json | head -n 1", (0, b"[\n", b"")),  # which closes the pipe
        ("{} {page} > /dev/full", (1, b"", b"ledger: No space left on device\n")),
        (
            "PYTHONIOENCODING=ascii {} {page} sv.thm3.6 | grep -q ✗ && echo shown",
            (0, b"shown\n", b""),
        ),
    ],
)
def test_the_command_ends_well_whatever_its_output_is(command: str, ended: tuple) -> None:
    page = CHAPTERS / "01_support_vectors.ipynb"
    command = command.format(f'"{sys.executable}" -m reluflow.ledger', page=page)
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == ended


# The inventory


GOOD = {"id": "ab.thm1", "at": "Theorem 1", "kind": "theorem", "says": "s", "check": "c"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (GOOD | {"kind": "lemma"}, "'kind' must be one of theorem, .*, not 'lemma'"),
        (GOOD | {"id": "thm1"}, "parted by dots"),
        (GOOD | {"id": "ab.ours.1"}, "belong together"),
        (GOOD | {"says": ""}, "'says' must be a text"),
        (GOOD | {"at": 3}, "'at' must be a text"),
        (GOOD | {"limits": ["<= 1e-6"]}, "must be a mapping"),
        (GOOD | {"limits": {"gap": 1e-6}}, "written like '<= 1e-6'"),
        (GOOD | {"limits": {"gap": "= 1e-6"}}, "written like '<= 1e-6'"),
        (GOOD | {"limits": {"gap": {"after": "the bar"}}}, "written like '<= 1e-6'"),
        (GOOD | {"limits": {"gap": "rounding measured"}}, "written like '<= 1e-6'"),
        (GOOD | {"limits": {"gap": "<= small"}}, "'small' of 'gap' is no finite number"),
        (GOOD | {"limits": {"gap": "<= 1/0"}}, "no finite number"),
        (GOOD | {"limits": {"gap": "<= inf"}}, "no finite number"),
        (GOOD | {"given": {"x": "It is."}}, "'given' belong together"),
        *((GOOD | {"id": "ab.ours.1", "given": bad}, "'given'")
          for bad in ({}, "x > 0", {"a b": "x."}, {"a": ""}, {"a": 1})),
        (GOOD | {"verdict": "refuted"}, "'verdict' is unknown"),
        ({"id": "ab.thm1"}, "'at' is missing"),
        ("ab.thm1", "is not"),
    ],
)  # fmt: skip
def test_a_broken_inventory_is_refused(tmp_path: Path, entry: object, message: str) -> None:
    head = {"paper": "ab2020", "title": "T", "authors": "A B, C D"}
    (tmp_path / "ab2020.yml").write_text(json.dumps(head | {"claims": [GOOD]}))
    assert load_inventories(tmp_path)[0].label == "B & D"
    ours = "given" in entry and ".ours." in entry["id"]
    file = tmp_path / ("ours_ab.yml" if ours else "ab2020.yml")
    file.write_text(json.dumps(head | {"claims": [entry]}))
    with pytest.raises(LedgerError, match=message):
        load_inventories(tmp_path)


def test_inventories_agree_with_each_other(tmp_path: Path) -> None:
    head = {"paper": "ab2020", "title": "T"}
    with pytest.raises(LedgerError, match="no claims inventory"):
        load_inventories(tmp_path)
    (tmp_path / "ours_ab.yml").write_text(json.dumps(head | {"claims": []}))
    with pytest.raises(LedgerError, match="needs one inventory"):
        load_inventories(tmp_path)
    (tmp_path / "ab2020.yml").write_text(json.dumps(head | {"claims": [GOOD, GOOD]}))
    with pytest.raises(LedgerError, match=r"'ab.thm1' stands twice"):
        load_inventories(tmp_path)
    (tmp_path / "ab2020.yml").write_text(json.dumps(head | {"claims": [GOOD]}))
    assert [i.ours for i in load_inventories(tmp_path)] == [False, True]


# --- digits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "text", "data"),
    [
        (deviation("gap", 3.312e-5, "", digits=2), "≈3.3e-5", {"value": 3.3e-5, "digits": 2}),
        (bound("gap", 0.01, "<=", 0.02, "", digits=2), "≈0.010", {"value": 0.01, "digits": 2}),
        (bound("gap", 3, "<=", 4, ""), "3", {"value": 3}),
        (bound("gap", 0.0, "<=", 0.0, ""), "0", {"value": 0.0}),
        (note("gap", (0.5, 2, 1e-12)), "≈0.5000, 2, 0", {"value": [0.5, 2, 0.0], "digits": 4}),
        (note("step", 0.005, digits=None), "0.005", {"value": 0.005}),
    ],
)
def test_evidence_says_to_how_many_digits_it_was_measured(item, text, data):
    """What is exact, and what is at rounding level, declares none."""
    limits = {"gap": Limit("<=", 0.03)} if item.form == "deviation" else None
    kept = recorded(held(item, limits, "x"))
    assert f": {text}" in sentence(kept)
    written = to_json(kept, "measured")
    assert {key: written[key] for key in ("value", "digits") if key in written} == data
    assert from_json(json.loads(json.dumps(written))) == kept


# --- how a claim is known ------------------------------------------------------------------------

TRIED = fact("instances that break it", 0, 0, tried=150)
FEWER = fact("instances that break the converse", 0, 0, tried=30)


def returned(row: Row) -> Row:
    """The row after its record went through a notebook's file."""
    return row_from_record(json.loads(json.dumps(row.record())), {"sv.x.1": claim_of()})


MANY, BOTH = Known(SURVIVED, "150 instances"), "30 instances or more, of each of 2 statements"


@pytest.mark.parametrize(
    ("evidence", "more", "known"),
    [
        *(([HOLDS], {"known": say("by hand")}, [say("by hand")])
          for say in (proved, exact, computed)),
        ([HOLDS, TRIED], {}, [MANY]),
        ([TRIED, FEWER], {}, [Known(SURVIVED, BOTH)]),  # the statement tried least
        ([TRIED], {"known": proved("here")}, [proved("here"), MANY]),
        ([FAILS, TRIED], {"counterexample": CASE}, [Known(COUNTEREXAMPLE, CASE.route)]),
    ],
)  # fmt: skip
def test_how_a_claim_is_known_is_recorded_and_shown(evidence, more, known) -> None:
    row = book().settle("sv.x.1", evidence, **more)
    assert [*row.known] == known
    assert all(way.text in text for way in known for text in (str(row), row.card()))
    assert returned(row) == row


@pytest.mark.parametrize("how", [*(way for way in SAID if way != COMPUTED), "divination"])
def test_a_way_is_one_of_few_and_needs_its_place(how: str) -> None:
    with pytest.raises(LedgerError, match=r"says where or by what|known as one of"):
        Known(how, " ")


@pytest.mark.parametrize(
    "forged", [[], [{"how": "survived", "text": "9 instances"}], [{"how": "proved here"}]]
)
def test_a_forged_way_is_refused(forged: list) -> None:
    record = book().settle("sv.x.1", [HOLDS, TRIED]).record() | {"known": forged}
    with pytest.raises(LedgerError):
        row_from_record(record, {"sv.x.1": claim_of()})
