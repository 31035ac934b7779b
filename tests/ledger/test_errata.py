"""The errata pages are the ledger's, and short."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest
from reluflow.ledger.cards import errata
from reluflow.ledger.inventory import load_inventories
from reluflow.ledger.rows import NOT_REPRODUCED, REFUTED, REPRODUCED, WITH_READING, Row
from reluflow.ledger.scoreboard import WEIGHTS, Instead, Scoreboard, causes, read, true_instead
from reluflow.places import BIBLIOGRAPHY, CHAPTERS

NAMES = [
    re.compile(pattern)
    for pattern in (
        r"\(([A-Z][A-Za-z]*\d?)\)(?!\w)",  # (GF), (A1)
        r"\b[AB]\d\b(?!\.)",
        r"\\zeta_\d|\\xi\b|\bm_2\b|\bn_a\b|X_\{\\m..\}|S_[+-]\^\{\\zeta\}",
    )
]
"""What a paper gives a name: its assumptions, and the constants of Min et al."""
PAGES = sorted((CHAPTERS / "errata").glob("*.md"))


@pytest.fixture(scope="module")
def rows() -> tuple:
    return read(CHAPTERS)


def of(paper: str, rows: tuple) -> list[Row]:
    return [row for row in rows if row.claim.paper == paper]


def html_of(paper: str, rows: tuple, told: dict[str, Instead]) -> str:
    of_paper = tuple(each for each in load_inventories() if each.paper == paper)
    return errata(Scoreboard(of_paper, tuple(of(paper, rows))), told)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_asks_for_the_errata_of_its_paper(page: Path) -> None:
    assert f"```{{errata}} {page.stem}\n```" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", [page.stem for page in PAGES])
def test_a_page_defines_what_its_statements_name(paper: str, rows: tuple) -> None:
    """It can be sent alone: (Init), A1, zeta_1 and their like stand in front."""
    mine = of(paper, rows)
    html = html_of(paper, rows, {row.claim.id: Instead("", "a slip", "part") for row in mine})
    assert html.startswith('<section class="stands">')
    setting = html.partition('<section class="setting">')[2]
    says = " ".join(row.claim.says for row in mine if row.verdict in (REFUTED, NOT_REPRODUCED))
    for names in NAMES:
        assert set(names.findall(says)) <= set(names.findall(setting))


def test_two_papers_of_one_year_are_told_apart_in_print() -> None:
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    years = dict(re.findall(r"@\w+\{(\w+),.*?year\s*= \{(\w+)\}", text, flags=re.DOTALL))
    firsts = re.findall(r"author\s*= \{(\w+),", text)
    assert len(set(zip(firsts, years.values(), strict=True))) == len(years)
    labels = {each.paper: each.label for each in load_inventories() if not each.ours}
    assert {paper: label.split()[-1] for paper, label in labels.items()}.items() <= years.items()
    assert len(labels) == len(PAGES)


@pytest.mark.parametrize("paper", [page.stem for page in PAGES])
def test_what_fell_stands_there_with_its_counterexample_and_what_held_does_not(paper, rows):
    mine = of(paper, rows)
    ours = {row.claim.id for row in mine if ".ours." in row.claim.id}
    told = {row.claim.id: Instead(row.claim.id, row.claim.id, "part") for row in mine}
    whole = html_of(paper, rows, told)
    assert whole.count("<section") == whole.count("</section>")
    stands, _, html = whole.partition("</section>")
    for row in (row for row in mine if row.claim.id not in ours and row.claim.kind == "theorem"):
        assert (f'#{row.claim.anchor}"' in stands) == (row.verdict == REPRODUCED), row.claim.id
    for row in mine:
        stands = row.verdict in (REFUTED, NOT_REPRODUCED, WITH_READING) and row.claim.id not in ours
        assert (f'#{row.claim.anchor}"' in html) == stands, row.claim.id
        assert not stands or f"{escape(row.claim.at)} (<a" in html, row.claim.id
    false = [row for row in mine if row.verdict == REFUTED and row.claim.id not in ours]
    assert html.count('<tr class="erratum">') == html.count("<em>Counterexample:</em>")
    assert html.count('<tr class="erratum">') == len(false)


def test_claims_with_one_sentence_share_an_erratum_with_one_counterexample(rows: tuple) -> None:
    fell = [row.claim.id for row in of("vardi2022margin", rows) if row.verdict == REFUTED]
    told = dict.fromkeys(fell, Instead("true if $a < b$", "one sign", "theorem"))
    html = html_of("vardi2022margin", rows, told)
    said = "are false as stated, from 1 cause: a numbered statement is false (1)"
    assert f"{len(fell)} {said}" in html
    assert html.count('class="erratum"') == html.count("true if") == 1
    assert r"\(a &lt; b\)" in html


def test_the_heaviest_comes_first_and_one_cause_stands_together(rows: tuple) -> None:
    fell = [row.claim.id for row in of("lee2022support", rows) if row.verdict == REFUTED]
    weights = ["misprint", "theorem", "remark", "part"] * len(fell)
    told = {id: Instead(f"{id}!", f"cause {k % 3}", weights[k]) for k, id in enumerate(fell)}
    html = html_of("lee2022support", rows, told)
    shown = [told[id] for id in re.findall(r"<td>([^!<]+)!</td>", html)]
    slips = re.findall(r"<em>Instead:</em> ([^!]+)!", html)
    assert {told[id].weight for id in slips} == {"misprint"}
    assert sorted([*slips, *(each.sentence[:-1] for each in shown)]) == sorted(fell)
    found = causes(told, [id for id in fell if id not in slips])
    order = list(dict.fromkeys(each.cause for each in shown))
    assert [each.cause for each in shown] == sorted((each.cause for each in shown), key=order.index)
    ranks = [list(WEIGHTS).index(found[cause]) for cause in order]
    assert ranks == sorted(ranks)


def test_every_refuted_claim_has_its_counterexample_in_a_sentence(rows: tuple) -> None:
    told = true_instead(page.stem for page in PAGES)
    refuted = [row.claim.id for row in rows if row.verdict == REFUTED]
    assert [id for id in refuted if not told[id].shows] == []
