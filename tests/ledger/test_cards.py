"""Claims as readers see them: cards, errata and lists say what the records say, in texts that can
be set; each settled claim has one address, each proof one place; a change breaks the seal."""

import re
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape
from reluflow.ledger import Counterexample, LedgerError, Reading, Row, cards, proved
from reluflow.ledger import seal as sealing
from reluflow.ledger.evidence import bound, fact, note, told
from reluflow.ledger.inventory import Claim, load_inventories, year
from reluflow.ledger.rows import NOT_APPLICABLE, NOT_REPRODUCED, REFUTED, REPRODUCED, WITH_READING
from reluflow.ledger.scoreboard import WEIGHTS, Instead, Scoreboard, causes, read, true_instead
from reluflow.ledger.seal import broken, main, seal
from reluflow.places import BIBLIOGRAPHY, CHAPTERS, INSTEAD, SEAL

ROOT = Path(__file__).resolve().parents[2]
CLAIM = Claim("xx.thm1", "paper", "Theorem 1", "theorem", r"a < b and $x_1 < \lambda$.")


@cache
def rows() -> tuple[Row, ...]:
    return read(CHAPTERS)


@cache
def instead() -> dict[str, Instead]:
    return true_instead(row.claim.paper for row in rows())


# --- A card on a built page -----------------------------------------------------------------------

PAGE = "chapters/03_x/section"
CASE = Counterexample(
    {"X": [[1, 0], [0, 1]], "y": [1, -1], "note": "any start"},
    {"the data are separable": True},
    (fact("zero loss is reached", False, True),),
    (bound("the loss by quadrature", 0.5, "<=", 0.1, ""),),
    "quadrature",
)
SURVEY = [
    fact("it grows: instances that break it", 0, 0, tried=115),
    fact("it grows: broken by a search of 60 evaluations from the worst", False, False),
    note("instances tried, and drawn", (115, 120)),
    note("seed", 0),
]


@pytest.mark.parametrize(("broken", "searched"), [(0, False), (2, False), (0, True), (2, True)])
def test_a_survey_and_its_search_share_a_line_and_either_can_fail(broken, searched):
    count, search = SURVEY[0].what, SURVEY[1].what
    items = [fact(count, broken, 0, tried=115), fact(search, searched, False), *SURVEY[2:]]
    (line,) = told(items)
    assert line.mark == ("✗" if broken or searched else "✓")
    assert f"broken by {broken or 'none'} of 115 instances" in line.words
    assert ("broke it" in line.words) == searched


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("t_1 < T_max", "<sub>1</sub>"),
        ("e^(-1e6)", "e<sup>−10<sup>6</sup></sup>"),
        ("≈3e-07", "≈3·10<sup>−7</sup>"),
        ("ln eps = -200", "ln ε = −200"),
        ("L(w2) - L(w1) = -1", "L(w<sub>2</sub>) − L(w<sub>1</sub>) = −1"),
        ("-grad L(w0).x_1", "−∇L(w<sub>0</sub>)·x<sub>1</sub>"),
        ("x_1.H^-1 w", "x<sub>1</sub>·H<sup>−1</sup> w"),
        ("|w(inf)| -> sqrt|x|, angle(w0, w*)", "|w(∞)| → √|x|, ∠(w<sub>0</sub>, w*)"),
        ("1, ..., 12665 relu units", "1, …, 12\u202f665 ReLU units"),
        ("0.12345 at 1/3145728", "0.12345 at 1/3\u202f145\u202f728"),
        ("||w(T)|| of ||a_j| - |w_j||", "‖w(T)‖ of ||a<sub>j</sub>| − |w<sub>j</sub>||"),
        ("metal and Ludum", "metal and Ludum"),
        (r"$x_1 < 2$", r"\(x_1 &lt; 2\)"),
    ],
)
def test_mathematics_is_set_in_type(typed: str, shown: str) -> None:
    assert shown in cards.typeset(typed)


def planar(paper: str, **instance: object) -> Row:
    """A refuted claim of a paper, with this instance."""
    case = replace(CASE, instance=instance)
    return Row(replace(CLAIM, paper=paper), REFUTED, CASE.breaks, counterexample=case)


AXES = [[1, 0], [0, 1]]
TOLD = Instead("", "", "", "At $x = 1$ it fails.", "orbits?m=10&v=1")
SOURCE = cards.Address("xx.thm1", "f", ROOT / "tests" / "ledger" / "test_cards.py", 1, 3)
OPEN = '<details class="claim" id="claim-xx-thm1"'
WHY = Row(CLAIM, NOT_APPLICABLE, why="No t_1 & no machine")
CHECKED = Row(replace(CLAIM, id="sv.thm3.6"), REFUTED, counterexample=CASE)
READ = Row(CLAIM, WITH_READING, tuple(SURVEY), Reading("the sum <of> losses", "the mean: slower"))
OTHERWISE = Row(CLAIM, NOT_REPRODUCED, CASE.breaks, instead=(note("steps", 9),))
SURVIVED = Row(CLAIM, REPRODUCED, tuple(SURVEY))


@pytest.mark.parametrize(
    ("row", "given", "shown", "hidden"),
    [
        (SURVIVED, {}, [f"{OPEN}><summary>", "reproduced", "Theorem 1", "survived 115",
                        r"\(x_1 &lt;", "</summary>", "../scoreboard.html"], "Counterexample"),
        (planar("paper", X=AXES, y=[1, -1]), {},
         [f"{OPEN} open>", "</summary>", "(1, 0), (0, 1)", "(1, −1)", "the data are separable",
          "zero loss", "quadrature", "the loss by quadrature"], "explorer.html"),
        (planar("paper", X=AXES), {"told": TOLD},
         [f"{OPEN}><summary>", "<em>Counterexample:</em> At <span", "</summary>",
          'href="../02_magnitude_angle.html#live-orbits?m=10&amp;v=1"'], " open>"),
        (Row(CLAIM, REPRODUCED), {"told": TOLD}, [OPEN], "Counterexample"),
        (CHECKED, {}, ['href="../errata/checks/sv.thm3.6.py"', "Theorem 3.6 fails."], "explorer"),
        (replace(CHECKED, verdict=REPRODUCED, counterexample=None), {}, [], "errata/checks"),
        (READ, {"at": [SOURCE]}, ["the sum &lt;of&gt; losses", "the mean: slower",
                                  "<pre>&#34;&#34;&#34;Claims as"], "<of>"),
        (WHY, {}, ["Why:</em> No t<sub>1</sub> &amp; no machine</p>"], "instead"),
        (OTHERWISE, {}, ["What appeared instead:", "steps: 9"], "machine"),
        (planar("lee2022support", X=AXES, y=[2, 1], w0=[0.5, -1]), {},
         ['href="../explorer.html#X=1,0;0,1&amp;y=2,1&amp;w=0.5,-1"'], " w0=eps"),
        # Without a start, one along the velocity at 0.
        (planar("lee2022support", X=AXES, y=[2, 3]), {}, ["w=0.0002,0.0003"], "w=-"),
        (planar("lee2022support", X=AXES, y=[2, 3], w0="eps (-1, 2), eps > 0"), {},
         ["w=-0.0001,0.0002"], "w=0"),
        # A teacher's labels are never below zero.
        (planar("lee2023magnitude", **{"x, each with probability 1/2": AXES, "w*": [2, -3]}), {},
         ["X=1,0;0,1&amp;y=2,0&amp;w=0.0002,0"], "y=2,-3"),
    ],
)  # fmt: skip
def test_a_card_says_what_its_row_says(row: Row, given: dict, shown: list, hidden: str) -> None:
    """In this order, and nothing that is another row's."""
    html = cards.page_card(row, given.get("at", []), PAGE, told=given.get("told"))
    assert re.search(".*".join(map(re.escape, shown)), html, re.DOTALL)
    assert hidden not in html


def test_a_card_leads_to_the_proof() -> None:
    row = replace(SURVIVED, claim=replace(CLAIM, id="xx.thmA.1"), said=proved("this section"))
    for page, way in (("chapters/03_x/sections", ""), ("chapters/scoreboard", "03_x/")):
        link = f'href="{way}sections.html#proof-xx-thma-1">to the proof'
        assert link in cards.page_card(row, [], page, "03_x/sections.ipynb")
    assert "to the proof" not in cards.page_card(row, [], PAGE)


@given(st.text())
def test_no_text_breaks_the_page(text: str) -> None:
    tags = re.findall(r"<[^>]*>", cards.typeset(text))
    math = '<span class="math notranslate nohighlight">'
    assert set(tags) <= {"<sub>", "</sub>", "<sup>", "</sup>", math, "</span>"}
    assert tags.count("<sub>") == tags.count("</sub>")
    assert tags.count("<sup>") == tags.count("</sup>")


# --- Where a claim is stated, and where it is proved ----------------------------------------------


def test_every_claim_is_settled_and_has_one_address() -> None:
    """Inventory ids = ids in docstrings = settled ids, each at one function of its paper."""
    claims = {claim.id: claim.paper for each in load_inventories() for claim in each.claims}
    assert claims == {row.claim.id: row.claim.paper for row in rows()}
    found = cards.addresses()
    assert Counter(at.id for at in found) == Counter(list(claims))
    assert all(claims[at.id] in at.file.parts for at in found)


def test_what_is_proved_here_has_its_proof_on_a_page_of_its_chapter() -> None:
    """An anchor each, none twice and none for another claim; a paragraph stands behind it."""
    known = {cards.proof_label(row.claim.id): row for row in rows()
              if any(way.how.startswith("proved") for way in row.known)}  # fmt: skip
    found = cards.proofs()
    assert sorted(label for label, _ in found) == sorted(known)
    for label, page in found:
        assert page[:2] == known[label].chapter[:2], label
        cells = nbformat.read(CHAPTERS / page, as_version=4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        # Behind the anchor, and others that stand there, a paragraph or a list opens.
        opens = re.search(rf"^\({label}\)=\n(?:\([\w-]+\)=\n)*((?:.+\n)+)", text, re.M)[1]
        assert len(opens) > 40, label
        assert not opens.startswith(("#", "```", ":::", "|")), label


def test_proofs_are_read_from_their_anchors(tmp_path: Path) -> None:
    labels, opens = "(proof-ab-thm1)=\n(proof-ab-lem2-1)=\n", "(how)=\n**Proof.** So\nit is."
    text = f"Said.\n\n{labels}{opens}\n\nNo more."
    other = "- (proof-ab-thm3)= is none\n\n(proof-ab-thm4)=\n"
    cells = [nbformat.v4.new_markdown_cell(each) for each in (text, other)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    labels = ("proof-ab-thm1", "proof-ab-lem2-1", "proof-ab-thm4")
    assert cards.proofs(tmp_path) == [(label, "one.ipynb") for label in labels]


# --- Errata ---------------------------------------------------------------------------------------

NAMES = (
    r"\(([A-Z][A-Za-z]*\d?)\)(?!\w)",  # (GF), (A1)
    r"\b[AB]\d\b(?!\.)",
    r"\\zeta_\d|\\xi\b|\bm_2\b|\bn_a\b|X_\{\\m..\}|S_[+-]\^\{\\zeta\}",
)
"""What a paper gives a name: its assumptions, and the constants of Min et al."""
PAGES = sorted((CHAPTERS / "errata").glob("*.md"))
PAPERS = [page.stem for page in PAGES]
FELL = (REFUTED, NOT_REPRODUCED)


def of(paper: str) -> list[Row]:
    return [row for row in rows() if row.claim.paper == paper]


def html_of(paper: str, told: dict[str, Instead]) -> str:
    of_paper = tuple(each for each in load_inventories() if each.paper == paper)
    return cards.errata(Scoreboard(of_paper, tuple(of(paper))), told)


def test_two_papers_of_one_year_are_told_apart_in_print() -> None:
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    years = dict(re.findall(r"@\w+\{(\w+),.*?year\s*= \{(\w+)\}", text, flags=re.DOTALL))
    firsts = re.findall(r"author\s*= \{(\w+),", text)
    assert len(set(zip(firsts, years.values(), strict=True))) == len(years)
    labels = {each.paper: each.label for each in load_inventories() if not each.ours}
    assert {paper: label.split()[-1] for paper, label in labels.items()}.items() <= years.items()
    assert len(labels) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=PAPERS)
def test_what_fell_stands_there_with_its_counterexample_and_what_held_does_not(page):
    """And what its statements name, (Init), A1, zeta_1 and their like: it can be sent alone."""
    assert f"```{{errata}} {page.stem}\n```" in page.read_text(encoding="utf-8")
    mine = of(page.stem)
    ours = {row.claim.id for row in mine if ".ours." in row.claim.id}
    told = {row.claim.id: Instead(row.claim.id, row.claim.id, "part") for row in mine}
    whole = html_of(page.stem, told)
    assert whole.startswith('<section class="stands">')
    assert whole.count("<section") == whole.count("</section>")
    stands, _, html = whole.partition("</section>")
    held = [row.claim for row in mine if row.verdict == REPRODUCED and row.claim.id not in ours]
    others = sum(claim.kind != "theorem" for claim in held)
    assert f"and {others} statements of figures" in stands or not others
    for row in (row for row in mine if row.claim.id not in ours and row.claim.kind == "theorem"):
        assert (f'#{row.claim.anchor}"' in stands) == (row.verdict == REPRODUCED), row.claim.id
    for row in mine:
        stands = row.verdict in (*FELL, WITH_READING) and row.claim.id not in ours
        assert (f'#{row.claim.anchor}"' in html) == stands, row.claim.id
        assert not stands or f"{escape(row.claim.at)} (<a" in html, row.claim.id
    false = [row for row in mine if row.verdict == REFUTED and row.claim.id not in ours]
    assert html.count('<tr class="erratum">') == html.count("<em>Counterexample:</em>")
    assert html.count('<tr class="erratum">') == len(false)
    setting = html.partition('<section class="setting">')[2]
    says = " ".join(row.claim.says for row in mine if row.verdict in FELL)
    for names in NAMES:
        assert set(re.findall(names, says)) <= set(re.findall(names, setting))


def test_claims_with_one_sentence_share_an_erratum_and_one_without_is_named() -> None:
    with pytest.raises(LedgerError, match=r"mm\.[\w.]+ is refuted: say in data/instead"):
        html_of("vardi2022margin", {})
    fell = [row.claim.id for row in of("vardi2022margin") if row.verdict == REFUTED]
    told = dict.fromkeys(fell, Instead("true if $a < b$", "one sign", "theorem"))
    html = html_of("vardi2022margin", told)
    said = "are false as stated, from 1 cause: a numbered statement is false (1)"
    assert f"{len(fell)} {said}" in html
    assert html.count('class="erratum"') == html.count("true if") == 1
    assert r"\(a &lt; b\)" in html


def test_the_heaviest_comes_first_and_one_cause_stands_together() -> None:
    fell = [row.claim.id for row in of("lee2022support") if row.verdict == REFUTED]
    weights = ["misprint", "theorem", "remark", "part"] * len(fell)
    told = {id: Instead(f"{id}!", f"cause {k % 3}", weights[k]) for k, id in enumerate(fell)}
    absent = [row.claim.id for row in of("lee2022support") if row.verdict == NOT_REPRODUCED]
    whole = html_of("lee2022support", told | dict.fromkeys(absent, Instead("", "none", "part")))
    html = whole.partition("Tried as printed")[0]
    shown = [told[id] for id in re.findall(r"<td>([^!<]+)!</td>", html)]
    slips = re.findall(r"<em>Instead:</em> ([^!]+)!", html)
    assert {told[id].weight for id in slips} == {"misprint"}
    assert sorted([*slips, *(each.sentence[:-1] for each in shown)]) == sorted(fell)
    found = causes(told, [id for id in fell if id not in slips])
    order = list(dict.fromkeys(each.cause for each in shown))
    assert [each.cause for each in shown] == sorted((each.cause for each in shown), key=order.index)
    ranks = [list(WEIGHTS).index(found[cause]) for cause in order]
    assert ranks == sorted(ranks)


# --- What is asked of texts beyond the format that the loaders check ------------------------------


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


@pytest.mark.parametrize(
    "given", load_inventories(), ids=lambda given: f"{given.paper} {given.ours}"
)
def test_claims_hypotheses_and_settings_are_sentences_with_formulas_that_can_be_set(given) -> None:
    texts = [claim.says for claim in given.claims]
    for says in texts:
        assert len(says.split()) >= 6
        assert not says.startswith(("Same ", "The same with", "In this ", "In that ", "For these "))
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
    monkeypatch.setattr("reluflow.ledger.inventory.BIBLIOGRAPHY", tmp_path / "references.bib")
    years = [year(key) for key in ("undated2022", "dated2023", "none")]
    assert years == ["", "2023b", ""]


@pytest.mark.parametrize("field", ["cause", "weight"])
def test_an_entry_without_a_cause_or_a_weight_is_refused(field, tmp_path, monkeypatch):
    entry = {"claims": ["sv.thm3.6"], "cause": "a sign", "weight": "part", "instead": "True."}
    monkeypatch.setattr(sys.modules[true_instead.__module__], "INSTEAD", tmp_path)
    del entry[field]
    (tmp_path / "lee2022support.yml").write_text(yaml.safe_dump([entry]), encoding="utf-8")
    with pytest.raises(LedgerError, match=field):
        true_instead(["lee2022support"])


def test_a_count_is_one_of_the_evidence_or_what_it_leaves() -> None:
    shown = defaultdict[str, set[tuple[str, str]]](set)
    for row in rows():
        if each := instead().get(row.claim.id):
            shown[each.sentence] |= {*re.findall(r"(\d+)(?: of |, )(\d+)", str(row.evidence))}
    for sentence, counts in shown.items():
        for k, n in re.findall(r"(\d+) of (\d+)", sentence):
            assert {(k, n), (str(int(n) - int(k)), n)} & counts, sentence


def test_every_claim_that_falls_has_one_and_none_that_holds() -> None:
    """And every refuted one its counterexample in a sentence; each file speaks of its paper."""
    told = instead()
    for paper in PAPERS:
        entries = yaml.safe_load((INSTEAD / f"{paper}.yml").read_text(encoding="utf-8"))
        claims = Counter(id for entry in entries for id in entry["claims"])
        assert claims.keys() <= {row.claim.id for row in of(paper)}
        assert claims.total() == len(claims)
        assert len({entry["instead"] for entry in entries}) == len(entries)
    assert {row.claim.paper for row in rows()} == set(PAPERS)
    assert {file.stem for file in INSTEAD.glob("*.yml")} == set(PAPERS)
    assert {row.claim.id for row in rows() if row.verdict in FELL} <= told.keys()
    assert not told.keys() & {row.claim.id for row in rows() if row.verdict == REPRODUCED}
    assert [each.sentence for each in told.values() if faults(each.sentence)] == []
    assert [r.claim.id for r in rows() if r.verdict == REFUTED and not told[r.claim.id].shows] == []


# --- The list -------------------------------------------------------------------------------------


FOUND = "X = (1, 0), (0, 1), y = (1, -1), note = any start; zero loss is reached: no (asked: yes)"


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        (Row(CLAIM, REFUTED, CASE.breaks, counterexample=CASE), "why", FOUND),
        (WHY, "why", "No t_1 & no machine"),
        (READ, "reading", "the sum <of> losses"),
        (READ, "instances", "115"),
        (replace(READ, evidence=(fact("x", 0, 0, tried=9), *SURVEY)), "instances", "9"),
        (replace(OTHERWISE, chapter="01/a.ipynb"), "page", "01/a.html#claim-xx-thm1"),
        (OTHERWISE, "instead", "steps: 9"),
        (OTHERWISE, "weight", ""),
    ],
)
def test_each_verdict_says_what_it_rests_on(row: Row, column: str, words: str) -> None:
    (record,) = cards.listing([row], {})
    assert record[column] == words
    (record,) = cards.listing([row], {row.claim.id: Instead("true if", "a sign", "part")})
    assert [record[k] for k in ("instead", "cause", "weight")] == ["true if", "a sign", "part"]


# --- The seal: what was weakened, left out or worded anew is a line of its difference -------------

OWN, FALSE = "sv.ours.small.agree", "sv.thm3.6"


def test_the_book_is_as_it_was_sealed() -> None:
    found = broken(SEAL.read_text("utf-8"), seal(rows(), instead()))
    asked = "read what changed, then run `python -m reluflow.ledger.seal`:"
    assert not found, "\n".join([asked, *found])


def test_a_claim_that_is_gone_or_another_is_a_line() -> None:
    """Which of its parts count is seen at the seal of the book."""
    left = [row for row in rows() if row.claim.id != OWN]
    lines = broken(seal(rows(), instead()), seal(left, instead()))
    assert len(lines) == 3
    assert sum(OWN in line for line in lines) == 1
    assert {f"-{len(rows())} claims", f"+{len(left)} claims"} < set(lines)
    read_so = [replace(row, reading=Reading("a", "b")) if row.claim.id == OWN else row
               for row in rows()]  # fmt: skip
    other = instead() | {FALSE: replace(instead()[FALSE], sentence="All is well.")}
    for changed, id in ((seal(read_so, instead()), OWN), (seal(rows(), other), FALSE)):
        lines = broken(seal(rows(), instead()), changed)
        assert [line.split()[0] for line in lines] == [f"-{id}", f"+{id}"]


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
