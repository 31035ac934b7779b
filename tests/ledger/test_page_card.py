"""A claim's card on a built page says what its record says, in a reader's words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.ledger.cards import Address, Proof, page_card, small_print, told, typeset
from reluflow.ledger.evidence import bound, deviation, fact, note
from reluflow.ledger.inventory import Claim, Limit, held
from reluflow.ledger.rows import (
    NOT_REPRODUCED,
    OUT_OF_REACH,
    REFUTED,
    REPRODUCED,
    WITH_READING,
    Counterexample,
    Reading,
    Row,
    proved,
)
from reluflow.ledger.scoreboard import Instead, read

ROOT = Path(__file__).resolve().parents[2]
CLAIM = Claim("xx.thm1", "paper", "Theorem 1", "theorem", r"a < b and $x_1 < \lambda$.")
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


def words(evidence: list) -> list[str]:
    return [f"{line.mark} {line.words}" for line in told(evidence)]


def test_a_survey_and_its_search_share_a_line() -> None:
    assert words(SURVEY) == [
        "✓ it grows: broken by none of 115 instances; a search of 60 more from the worst found none"
    ]
    assert small_print(SURVEY) == "instances tried, and drawn: 115, 120; seed: 0"


@pytest.mark.parametrize(("broken", "searched"), [(2, False), (0, True), (2, True)])
def test_either_half_of_a_survey_can_fail(broken: int, searched: bool) -> None:
    items = [
        fact("it grows: instances that break it", broken, 0, tried=115),
        fact("it grows: broken by a search of 60 evaluations from the worst", searched, False),
    ]
    (line,) = words(items)
    assert line.startswith("✗")
    assert ("broken by 2 of 115" in line) == (broken == 2)
    assert ("broke it" in line) == searched


def test_what_was_asked_stands_where_it_differs_from_what_was_found() -> None:
    items = [
        fact("flows lost", 0, 0, tried=3),
        fact("flows lost there", 1, 0, tried=3),
        fact("the end is stable", True, True),
        fact("the end is unstable", False, False),
        fact("the end is a saddle", True, False),
        bound("distance", 3e-7, "<=", 0.01, "m", digits=2),
        note("pairs", ((1, 0), (0, 1))),
    ]
    assert words(items) == [
        "✓ flows lost: 0 of 3",
        "✗ flows lost there: 1 (asked: 0)",
        "✓ the end is stable",
        "✓ the end is unstable: no",
        "✗ the end is a saddle: yes (asked: no)",
        "✓ distance: ≈3.0e-7 m (asked: ≤ 0.01)",
        "· pairs: (1, 0), (0, 1)",
    ]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("t_1 < T_max", "<sub>1</sub>"),
        ("e^(-1e6)", "e<sup>−10<sup>6</sup></sup>"),
        ("≈3e-07", "≈3·10<sup>−7</sup>"),
        ("ln eps = -200", "ln ε = −200"),
        ("L(w2) - L(w1) = -1", "L(w<sub>2</sub>) − L(w<sub>1</sub>) = −1"),
        ("under B1-B4 and (9)-(10), as float32", "B1-B4 and (9)-(10), as float32"),
        ("-grad L(w0).x_1", "−∇L(w<sub>0</sub>)·x<sub>1</sub>"),
        ("x_1.H^-1 w", "x<sub>1</sub>·H<sup>−1</sup> w"),
        ("Section 3.x of D.1", "Section 3.x of D.1"),
        ("|w(inf)| -> sqrt|x|, angle(w0, w*)", "|w(∞)| → √|x|, ∠(w<sub>0</sub>, w*)"),
        ("1, ..., 12665 relu units", "1, …, 12\u202f665 ReLU units"),
        ("0.12345 at 1/3145728", "0.12345 at 1/3\u202f145\u202f728"),
        (
            "v^(1/(m+1)) of min_j w̃_j, |G_m+1|^2",
            "v<sup>1/(m+1)</sup> of min<sub>j</sub> w̃<sub>j</sub>, |G<sub>m+1</sub>|<sup>2</sup>",
        ),
        ("||w(T)|| of ||a_j| - |w_j||", "‖w(T)‖ of ||a<sub>j</sub>| − |w<sub>j</sub>||"),
        ("a <= b", "a ≤ b"),
        ("log10(1/L)", "log<sub>10</sub>(1/L)"),
        ("x_+ and x_-", "x<sub>+</sub> and x<sub>-</sub>"),
        ("the lambda of it", "the λ of it"),
        ("metal and Ludum", "metal and Ludum"),
        (r"$x_1 < 2$", r"\(x_1 &lt; 2\)"),
    ],
)
def test_mathematics_is_set_in_type(typed: str, shown: str) -> None:
    assert shown in typeset(typed)


@given(st.text())
def test_no_text_breaks_the_page(text: str) -> None:
    tags = re.findall(r"<[^>]*>", typeset(text))
    assert set(tags) <= {
        "<sub>",
        "</sub>",
        "<sup>",
        "</sup>",
        '<span class="math notranslate nohighlight">',
        "</span>",
    }
    assert tags.count("<sub>") == tags.count("</sub>")
    assert tags.count("<sup>") == tags.count("</sup>")


def test_a_folded_card_has_verdict_place_statement_and_how_it_is_known() -> None:
    html = page_card(Row(CLAIM, REPRODUCED, tuple(SURVEY)), [], PAGE)
    assert html.startswith('<details class="claim" id="claim-xx-thm1"><summary>')
    summary = html.split("</summary>")[0]
    for shown in (
        "reproduced",
        "Theorem 1",
        "survived 115",
        "a &lt; b",
        r"\(x_1 &lt;",
    ):
        assert shown in summary
    assert 'href="../scoreboard.html"' in html
    assert 'href="#claim-xx-thm1"' in html
    assert "reluflow.ledger xx.thm1 --rerun" in html


def test_a_refuted_card_is_open_on_its_counterexample() -> None:
    evidence = held((deviation("error", 1.0, ""),), {"error": Limit("<=", 0.5)}, "x")
    html = page_card(Row(CLAIM, REFUTED, evidence, counterexample=CASE), [], "chapters/03_x")
    assert html.startswith('<details class="claim" id="claim-xx-thm1" open>')
    order = ["</summary>", "(1, 0), (0, 1)", "(1, −1)", "the data are separable",
             "zero loss", "quadrature", "the loss by quadrature", "error"]  # fmt: skip
    assert re.search(".*".join(map(re.escape, order)), html, re.DOTALL)
    assert 'href="scoreboard.html"' in html


def test_a_refuted_card_is_folded_where_a_sentence_says_what_it_shows() -> None:
    told = Instead("", "", "", "At $x = 1$ it fails.", "orbits?m=10&v=1")
    html = page_card(Row(CLAIM, REFUTED, counterexample=CASE), [], PAGE, None, told)
    assert 'href="../02_magnitude_angle.html#live-orbits?m=10&amp;v=1"' in html
    summary = html.split("</summary>")[0]
    assert summary.startswith('<details class="claim" id="claim-xx-thm1"><summary>')
    assert r"<em>Counterexample:</em> At <span" in summary
    held = page_card(Row(CLAIM, REPRODUCED), [], PAGE, None, told)
    assert "Counterexample" not in held


def test_a_refuted_card_has_the_check_that_stands_alone() -> None:
    claim = replace(CLAIM, id="sv.thm3.6")
    html = page_card(Row(claim, REFUTED, counterexample=CASE), [], "chapters/01_x/y")
    assert 'href="../errata/checks/sv.thm3.6.py"' in html
    assert "Theorem 3.6 fails." in html
    assert "errata/checks" not in page_card(Row(claim, REPRODUCED), [], PAGE)


def test_reading_and_source_are_on_the_card() -> None:
    reading = Reading("the sum <of> losses", "the mean: slower")
    address = Address("xx.thm1", "f", ROOT / "tests" / "ledger" / "test_page_card.py", 1, 3)
    row = Row(CLAIM, WITH_READING, tuple(SURVEY), reading)
    html = page_card(row, [address], PAGE)
    assert "the sum &lt;of&gt; losses" in html
    assert "the mean: slower" in html
    assert "<pre>&quot;&quot;&quot;A claim&#x27;s" in html


def test_a_reason_and_what_appeared_instead_are_on_the_card() -> None:
    html = page_card(Row(CLAIM, OUT_OF_REACH, why="No t_1 & no machine"), [], PAGE)
    assert "<p>No t<sub>1</sub> &amp; no machine</p>" in html
    row = Row(CLAIM, NOT_REPRODUCED, (fact("it turns", False, True),), instead=(note("steps", 9),))
    html = page_card(row, [], PAGE)
    assert re.search(r"What appeared instead:.*steps: 9", html)


def test_a_planar_counterexample_leads_to_the_explorer() -> None:
    claim = replace(CLAIM, paper="lee2022support")
    instance = {"X": [[1, 0], [0, 1]], "y": [2, 1], "w0": [0.5, -1]}
    row = Row(claim, REFUTED, CASE.breaks, counterexample=replace(CASE, instance=instance))
    link = 'href="../explorer.html#X=1,0;0,1&amp;y=2,1&amp;w=0.5,-1"'
    assert link in page_card(row, [], PAGE)
    instance = {"X": [[1, 0], [0, 1]], "y": [2, 3]}  # without a start one along the velocity at 0
    row = replace(row, counterexample=replace(CASE, instance=instance))
    assert "w=0.0002,0.0003" in page_card(row, [], PAGE)
    instance["w0"] = "eps (-1, 2), eps > 0"
    row = replace(row, counterexample=replace(CASE, instance=instance))
    assert "w=-0.0001,0.0002" in page_card(row, [], PAGE)
    assert "explorer.html" not in page_card(replace(row, claim=CLAIM), [], PAGE)


def test_the_teachers_labels_of_a_finite_law_are_never_below_zero() -> None:
    law = {"x, each with probability 1/2": [[1, 0], [0, 1]], "w*": [2, -3]}
    claim = replace(CLAIM, paper="lee2023magnitude")
    row = Row(claim, REFUTED, CASE.breaks, counterexample=replace(CASE, instance=law))
    assert "X=1,0;0,1&amp;y=2,0&amp;w=0.0002,0" in page_card(row, [], PAGE)


def test_every_settled_claim_of_the_book_has_a_card_with_its_evidence() -> None:
    for row in read(ROOT / "chapters"):
        html = page_card(row, [], PAGE)
        for line in told(row.evidence):
            assert typeset(line.words).split(" below")[0] in html
        assert html.count("<details") == html.count("</details>")


def test_a_card_leads_to_the_proof() -> None:
    proof = Proof("proof-xx-thmA-1", "03_x/sections.ipynb", "**Proof.** Look.")
    row = Row(CLAIM, REPRODUCED, tuple(SURVEY), said=proved("this section"))
    for page, way in (
        ("chapters/03_x/sections", "sections.html"),
        (PAGE, "sections.html"),
        ("chapters/scoreboard", "03_x/sections.html"),
    ):
        assert f'href="{way}#proof-xx-thma-1">to the proof' in page_card(row, [], page, proof)
    assert "to the proof" not in page_card(row, [], PAGE)
