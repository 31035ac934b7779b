"""The ledger: evidence, verdicts, rows in notebooks, the scoreboard and the command."""

import json
import math
import operator
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow import ledger
from reluflow.ledger import Counterexample, LedgerError, Reading, bound, deviation, fact, note
from reluflow.ledger.__main__ import main
from reluflow.ledger.evidence import FINITE, from_json, plain, printed, recorded, sentence, to_json
from reluflow.ledger.inventory import Claim, Limit, claims_by_id, held, load_inventories
from reluflow.ledger.rows import COMPUTED, COUNTEREXAMPLE, SAID, SURVIVED, Row, row_from_record
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


def book(kind: str = "theorem", within: float | None = None) -> ledger.Ledger:
    """Of a claim whose measured values are held against one limit, or one that stands nowhere."""
    limits = None if within is None else {"…": Limit("<=", within)}
    claim = Claim("sv.x.1", "paper", "Figure 1", kind, "a < b", limits)
    return ledger.Ledger("paper", {claim.id: claim})


def notebook(path: Path, rows: list[Row]) -> Path:
    """A notebook file whose cells show these rows, written as Jupyter writes it."""
    cells = []
    for number, row in enumerate(rows, start=1):
        cell = nbformat.v4.new_code_cell("...", execution_count=number)
        cell["id"] = f"cell-{number}"
        data = json.loads(json.dumps(row._repr_mimebundle_()))
        cell["outputs"] = [nbformat.v4.new_output("display_data", data=data)]
        cells.append(cell)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
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
    """Also where a front end has written 2 for 2.0."""
    pieces = [note("n", (value, "text", True)), fact("f", (1, Fraction(1, 3)), (1, Fraction(1, 2)))]
    pieces.append(recorded(bound("b", value, "<=", limit, "u")))
    for item in pieces:
        data = json.loads(json.dumps(to_json(item, "measured"), allow_nan=False))
        again = to_json(from_json(data), "measured")
        assert again == data
        if isinstance(data["value"], float) and data["value"].is_integer():
            assert repr(from_json(data | {"value": int(data["value"])})) == repr(from_json(data))
        assert sentence(from_json(data)) == sentence(item)
        if item.decides:
            assert from_json(data).holds == item.holds


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


NAMED = {
    "gap": Limit("<=", 0.05),
    "time at x = …": Limit(">", Fraction(1, 4), "the bar"),
    "ratio": Limit("<", None),
    "sum: instances that break it": Limit("rounding", 1e-9),
}


def test_a_fact_about_no_instance_does_not_hold() -> None:
    assert fact("wrong ones", 0, 0, tried=1).holds
    none = fact("wrong ones", 0, 0, tried=0)
    assert not none.holds
    for how in ({"instead": "other"}, {"counterexample": CASE}):
        with pytest.raises(LedgerError, match="no instance could tell"):
            book("figure").settle("sv.x.1", [HOLDS, none], **how)
        row = book("figure").settle("sv.x.1", [FAILS, none], **how)
        assert [item.tried for item in read_back(row.record())().evidence] == [None, 0]
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
    case = replace(CASE, breaks=(deviation("d", 9, ""),))
    assert book("figure", 0.05).settle("sv.x.1", [FAILS], None, case).verdict == "refuted"


def test_each_claim_is_settled_once_and_ledgers_share_nothing() -> None:
    claims = ledger.open("lee2022support")
    for settle, *how in (
        (claims.settle, "sv.thm3.6", [HOLDS]),
        (claims.not_applicable, "sv.fig1", "!"),
    ):
        settle(*how)
        with pytest.raises(LedgerError, match="settled already"):
            settle(*how)
    assert repr(claims).startswith("<ledger of lee2022support: 2 of ")
    assert ledger.open("lee2022support").settle("sv.thm3.6", [HOLDS]).verdict == "reproduced"


def test_what_appears_instead_may_be_made_of_what_failed() -> None:
    both = [bound("steps", -3, "<=", 0, ""), deviation("gap", 2e-9, "|w|")]
    found = book("figure", 1e-9).settle("sv.x.1", both, instead=ledger.with_this_seed)
    assert found.verdict == "not-reproduced"
    assert found.instead[0].value == "with this seed it is otherwise: gap"
    held = book("figure", 1e-8).settle("sv.x.1", both, instead=ledger.with_this_seed)
    assert (held.verdict, held.instead) == ("reproduced", ())


# Counterexamples


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_instances_are_printed_exactly(value: float) -> None:
    assert float(printed(value)) == value
    assert printed(plain(np.array([value]), "x", FINITE)) == f"[{printed(value)}]"
    assert len(printed(value)) <= len(repr(value))


# What is refused

GAP, MADE = bound("gap", 0.01, "<=", 0.05, ""), deviation("gap", 0.01, "")
WIDE = replace(CASE, breaks=(bound("d", 9, "<=", 1.0, ""),))
FELL = book("figure").settle("sv.x.1", [FAILS], instead="other").record()
REASON = [*FELL["evidence"][:1], FELL["evidence"][1] | {"role": "why", "what": "why"}]
LIVED = book().settle("sv.x.1", [HOLDS, fact("instances", 0, 0, tried=150)]).record()


def settle(*given: object, **named: object) -> Callable[[], Row]:
    return lambda: book("figure", 0.05).settle("sv.x.1", *given, **named)


def read_back(record: dict, **other: object) -> Callable[[], Row]:
    return lambda: row_from_record(record | other, book("figure").claims)


REFUSED = [
    # Evidence that says nothing.
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
    # A limit that the inventory does not have.
    *((lambda item=item: held(item, NAMED, "x"), message) for item, message in (
        (replace(GAP, limit=0.5), "held against ≤ 0.5, and the inventory says ≤ 0.05"),
        (replace(GAP, op="<"), "held against < 0.05"),
        (bound("time at x = 7", 0.5, ">", 0.2, "s"), "the inventory says > 1/4"),
        (bound("ratio", 1.0, "<=", 1.3127, ""), "the inventory says < measured"),
        (replace(GAP, what="other"), "no limit for 'other'"),
        (replace(MADE, what="other"), "no limit for 'other'"),
        (replace(MADE, what="ratio"), "held against"),
        (fact("sum: instances that break it", 0, 0, rounding=1e-3), "against rounding 0.001"),
        (fact("it: instances that break it", 0, 0, rounding=1e-9), "no limit"),
    )),
    # What cannot be settled.
    (lambda: book().settle("sv.x.1", [MADE]), "no limit for 'gap'"),
    (settle(HOLDS), "must be a list"),
    (settle([HOLDS], reading="mine"), "no Reading"),
    (settle([FAILS], counterexample={"X": 1}), "no Counterexample"),
    (settle([FAILS], counterexample=WIDE), "the inventory says ≤ 0.05"),
    *((settle([FAILS], instead=instead), "instead") for instead in ([FAILS], "", " ", [])),
    (settle([FAILS], counterexample=CASE, known=ledger.proved("here")), "cannot be said"),
    *((settle([HOLDS], known=ledger.Known(how, "trust me")), "cannot be said")
      for how in (SURVIVED, COUNTEREXAMPLE)),
    *((lambda how=how: ledger.Known(how, " "), "says where or by what")
      for how in SAID if how != COMPUTED),
    (lambda: ledger.Known("divination", "by hand"), "known as one of"),
    *((lambda why=why: book().not_applicable("sv.x.1", why), "says why") for why in ("", " ")),
    (lambda: ledger.open("lee2022support").settle("sv.thm4.33", [HOLDS]),
     "no claim 'sv.thm4.33' in the inventory of lee2022support; did you mean 'sv.thm4.3"),
    (lambda: ledger.open("lee2022"), "no paper 'lee2022'"),
    # A counterexample that shows nothing.
    *((lambda change=change: settle([FAILS], counterexample=replace(CASE, **change))(), message)
      for change, message in (
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
        ({"recheck": (bound("b", math.nan, "<", 0, ""),)}, "is NaN"),
        ({"recheck": (fact("rank", 3, 1),)}, "name the route"),
        ({"breaks": FAILS}, "must be a list"),
    )),
    # A record in which a reason stands for failed evidence, or that is known in another way.
    (read_back(FELL, evidence=REASON, verdict="not-applicable"), "takes no evidence"),
    (read_back(FELL, evidence=REASON, verdict="reproduced"), "needs"),
    *((read_back(LIVED, known=known), message) for known, message in (
        ([], "not known in the way"),
        ([{"how": "survived", "text": "9 instances"}], "not known in the way"),
        ([{"how": "proved here"}], "cannot be read"))),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_says_nothing_is_refused_in_one_sentence(make: Callable, message: str) -> None:
    with pytest.raises(LedgerError, match=re.escape(message)) as caught:
        make()
    assert "\n" not in str(caught.value)


# The row in a notebook


def settled() -> list[Row]:
    """Rows of every verdict."""
    claims = ledger.open("lee2022support")
    return [
        claims.settle("sv.ex5.1.a", [deviation(PRINTED, 2e-8, "in w")]),
        claims.settle("sv.prop4.4", [HOLDS], reading=READING),
        claims.settle("sv.thm4.3", [FAILS], counterexample=CASE),
        claims.settle("sv.fig1", [FAILS], instead="five components"),
        claims.not_applicable("sv.lemF.5", "own data"),
    ]


def chapter_with_sections(folder: Path, rows: list[Row]) -> Path:
    """Write a chapter's page with the first row, and the others into two sections."""
    (folder / "05_five").mkdir()
    notebook(folder / "05_five" / "tables.ipynb", rows[1:3])
    notebook(folder / "05_five" / "balance.ipynb", rows[3:])
    return notebook(folder / "05_five.ipynb", rows[:1])


def test_rows_are_read_with_their_page_and_cell_each_once(tmp_path, monkeypatch):
    """And a chapter sums up those of its sections."""
    monkeypatch.setattr(sys.modules[ledger.Scoreboard.__module__], "CHAPTERS", tmp_path)
    rows, claims = settled(), ledger.open("lee2022support")
    chapter = chapter_with_sections(tmp_path, rows)
    found = {row.claim.id: row for row in ledger.read(tmp_path)}
    for row in rows:
        assert found[row.claim.id].record() == json.loads(json.dumps(row.record()))
    places = ["05_five.ipynb", *["05_five/tables.ipynb"] * 2, *["05_five/balance.ipynb"] * 2]
    assert [found[row.claim.id].chapter for row in rows] == places
    assert found["sv.thm4.3"].cell == "cell-2"
    assert len(ledger.read([chapter, tmp_path])) == len(rows) == len(found)
    claims.settle("sv.lem3.2", [HOLDS])
    summed = ledger.summary(claims, "05_five").rows
    inside = {row.claim.id for row in ledger.read(str(tmp_path / "05_five"))}
    assert inside == {row.claim.id for row in rows[1:]}
    ids = inside | {"sv.lem3.2"}
    assert [row.claim.id for row in summed] == [id for id in claims.claims if id in ids]
    links = {re.search('href="(.*?)"', link(row))[1] for row in summed}
    assert {"#claim-sv-lem3-2", "05_five/tables.html#claim-sv-thm4-3"} < links
    assert ledger.summary(ledger.open("lee2023magnitude"), "05_five").rows == ()
    claims.settle("sv.thm4.3", [FAILS], counterexample=CASE)
    with pytest.raises(LedgerError, match=r"sv.thm4.3 is settled in 05_five/tables.ipynb, too"):
        ledger.summary(claims, "05_five")
    notebook(tmp_path / "05_five" / "again.ipynb", rows[:1])
    message = r"^05_five.ipynb, cell .* is settled already in 05_five/again.ipynb, cell cell-"
    with pytest.raises(LedgerError, match=message):
        ledger.read(tmp_path)
    with pytest.raises(LedgerError, match=r"cell-2: .* settled already in 1.ipynb, cell cell-1"):
        ledger.read(notebook(tmp_path / "1.ipynb", [rows[0], rows[0]]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"verdict": "refuted"', '"verdict": "reproduced"', "its evidence says 'refuted'"),
        ('"verdict": "refuted"', '"verdict": "not-applicable"', "its evidence says 'refuted'"),
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
        ('"verdict": "not-applicable"', '"verdict": "reproduced"', "reproduced needs evidence"),
        ('"execution_count": 3', '"execution_count": null', "never executed"),
    ],
)
def test_rows_edited_by_hand_are_refused(tmp_path, old, new, message, capsys):
    path = notebook(tmp_path / "01_one.ipynb", settled()[:5])
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(LedgerError, match=re.escape(message)) as caught:
        ledger.read(path)
    assert "01_one.ipynb, cell cell-" in str(caught.value)
    assert main([str(path)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


NO_NOTEBOOKS = ["", "{", "[]", "{}", '{"cells": [1]}', '{"cells": {"a": 1}}', "[" * 3_000]


@pytest.mark.parametrize("content", NO_NOTEBOOKS, ids=lambda text: text[:9])
def test_files_that_are_no_notebooks_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.ipynb").write_text(content)
    with pytest.raises(LedgerError, match=r"a\.ipynb is not a notebook"):
        ledger.read(tmp_path)
    with pytest.raises(LedgerError, match="no notebook or folder"):
        ledger.read(tmp_path / "b.ipynb")


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
        (["--json", "--csv"], "argument --csv: not allowed with argument --json; usage: "),
    ],
)  # fmt: skip
def test_what_the_command_cannot_show(arguments, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path / "01_one.ipynb", settled())
    Path("page.json").write_text("{}")
    Path("deep.json").write_text("[" * 3_000)
    Path("ids.json").write_text('[{"id": "sv.thm3.6"}]')
    assert main([*arguments, str(tmp_path)]) == (2 if told.startswith("argument") else 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ledger: {told}")


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
        # Letters that are no ASCII, to a reader that closes the pipe.
        ("PYTHONIOENCODING=ascii {} --json {pages} | head -n 1", (0, b"[\n", b"")),
        ("{} {pages}/starts.ipynb > /dev/full", (1, b"", b"ledger: No space left on device\n")),
    ],
)
def test_the_command_ends_well_whatever_its_output_is(command: str, ended: tuple) -> None:
    pages = CHAPTERS / "01_support_vectors"
    command = command.format(f'"{sys.executable}" -m reluflow.ledger', pages=pages)
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == ended


# The inventory


GOOD = {"id": "ab.thm1", "at": "Theorem 1", "kind": "theorem", "says": "s", "check": "c"}


def filed(*claims: object) -> bytes:
    head = {"paper": "ab2020", "title": "T", "authors": "A B, C D"}
    return json.dumps(head | {"claims": claims}).encode()


BROKEN = [
    ({}, "no claims inventory"),
    ({"ours_ab.yml": filed()}, "needs one inventory"),
    ({"ab.yml": filed(GOOD, GOOD)}, "'ab.thm1' stands twice"),
    ({"ab.yml": filed("ab.thm1")}, "'ab.thm1' is not"),
    ({"ab.yml": filed({"id": "ab.thm1"})}, "'at' is missing"),
    *(({"a.yml": text}, "a.yml is not YAML")
      for text in (b"\x80\x00", b"a: [", b"paper: \xff", b"[" * 3_000, b"\x00")),
    *(({"ab.yml": filed(GOOD | other)}, message) for other, message in (
        ({"kind": "lemma"}, "'kind' must be one of theorem, figure, example, table, text, not"),
        ({"id": "thm1"}, "parted by dots"),
        ({"id": "ab.ours.1"}, "belong together"),
        ({"given": {"x": "It is."}}, "'given' belong together"),
        ({"says": ""}, "'says' must be a text"),
        ({"at": 3}, "'at' must be a text"),
        ({"verdict": "refuted"}, "'verdict' is unknown"),
        ({"limits": ["<= 1e-6"]}, "must be a mapping"))),
    *(({"ab.yml": filed(GOOD | {"limits": {"gap": limit}})}, message) for limit, message in (
        *((bad, "written like '<= 1e-6'")
          for bad in (1e-6, "= 1e-6", {"after": "the bar"}, "rounding measured")),
        ("<= small", "'small' of 'gap' is no finite number"),
        *((f"<= {bad}", "no finite number") for bad in ("1/0", "inf")))),
    *(({"ab.yml": filed(), "ours_ab.yml": filed(GOOD | {"id": "ab.ours.1", "given": bad})},
       "'given'") for bad in ({}, "x > 0", {"a b": "x."}, {"a": ""}, {"a": 1})),
]  # fmt: skip


@pytest.mark.parametrize(("files", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_broken_inventories_are_refused(files: dict, message: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    with pytest.raises(LedgerError, match=re.escape(message)) as caught:
        load_inventories(tmp_path)
    assert "\n" not in str(caught.value)


def test_inventories_are_read_papers_first(tmp_path: Path) -> None:
    (tmp_path / "ours_ab.yml").write_bytes(filed())
    (tmp_path / "zz.yml").write_bytes(filed(GOOD))
    paper, ours = load_inventories(tmp_path)
    assert (paper.label, paper.ours, ours.ours) == ("B & D", False, True)


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
