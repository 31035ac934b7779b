"""A claim's card on a built page says what its record says, in a reader's words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.ledger.cards import Address, Proof, page_card, told, typeset
from reluflow.ledger.evidence import bound, fact, note
from reluflow.ledger.inventory import Claim
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


@pytest.mark.parametrize(("broken", "searched"), [(0, False), (2, False), (0, True), (2, True)])
def test_a_survey_and_its_search_share_a_line_and_either_can_fail(broken, searched):
    count, search = SURVEY[0].what, SURVEY[1].what
    items = [fact(count, broken, 0, tried=115), fact(search, searched, False), *SURVEY[2:]]
    (line,) = words(items)
    assert line.startswith("✗" if broken or searched else "✓")
    assert f"broken by {broken or 'none'} of 115 instances" in line
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
    assert shown in typeset(typed)


def planar(paper: str, **instance: object) -> Row:
    """A refuted claim of a paper, with this instance."""
    case = replace(CASE, instance=instance)
    return Row(replace(CLAIM, paper=paper), REFUTED, CASE.breaks, counterexample=case)


AXES = [[1, 0], [0, 1]]
TOLD = Instead("", "", "", "At $x = 1$ it fails.", "orbits?m=10&v=1")
SOURCE = Address("xx.thm1", "f", ROOT / "tests" / "ledger" / "test_page_card.py", 1, 3)
OPEN = '<details class="claim" id="claim-xx-thm1"'
WHY = Row(CLAIM, OUT_OF_REACH, why="No t_1 & no machine")
CHECKED = Row(replace(CLAIM, id="sv.thm3.6"), REFUTED, counterexample=CASE)
READ = Row(CLAIM, WITH_READING, tuple(SURVEY), Reading("the sum <of> losses", "the mean: slower"))
INSTEAD = Row(CLAIM, NOT_REPRODUCED, CASE.breaks, instead=(note("steps", 9),))
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
                                  "<pre>&quot;&quot;&quot;A claim&#x27;s"], "<of>"),
        (WHY, {}, ["<p>No t<sub>1</sub> &amp; no machine</p>"], "instead"),
        (INSTEAD, {}, ["What appeared instead:", "steps: 9"], "machine"),
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
    html = page_card(row, given.get("at", []), PAGE, None, given.get("told"))
    assert re.search(".*".join(map(re.escape, shown)), html, re.DOTALL)
    assert hidden not in html


def test_a_card_leads_to_the_proof() -> None:
    proof = Proof("proof-xx-thmA-1", "03_x/sections.ipynb", "**Proof.** Look.")
    row = replace(SURVIVED, said=proved("this section"))
    for page, way in (("chapters/03_x/sections", ""), ("chapters/scoreboard", "03_x/")):
        link = f'href="{way}sections.html#proof-xx-thma-1">to the proof'
        assert link in page_card(row, [], page, proof)
    assert "to the proof" not in page_card(row, [], PAGE)


@given(st.text())
def test_no_text_breaks_the_page(text: str) -> None:
    tags = re.findall(r"<[^>]*>", typeset(text))
    math = '<span class="math notranslate nohighlight">'
    assert set(tags) <= {"<sub>", "</sub>", "<sup>", "</sup>", math, "</span>"}
    assert tags.count("<sub>") == tags.count("</sub>")
    assert tags.count("<sup>") == tags.count("</sup>")


def test_every_settled_claim_of_the_book_has_a_card_with_its_evidence() -> None:
    for row in read(ROOT / "chapters"):
        html = page_card(row, [], PAGE)
        for line in told(row.evidence):
            assert typeset(line.words).split(" below")[0] in html
        assert html.count("<details") == html.count("</details>")
