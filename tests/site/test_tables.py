"""What a cell's table says on a page is what pandas stored, set in type."""

from __future__ import annotations

import re
from html import unescape

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st
from looks import TYPED
from reluflow.approx import approx, counted, written
from reluflow.site.board import dress, dressed, in_type


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("T eta^2", "T η<sup>2</sup>"),
        ("phi(T) > pi - eps, alpha^+", "φ(T) &gt; π − ε, α<sup>+</sup>"),
        ("|w0|/|w*|, w_j", "|w<sub>0</sub>|/|w*|, w<sub>j</sub>"),
        ("((1 + -0.6 x)^-0.5 - 1) / -1.5", "((1 − 0.6 x)<sup>−0.5</sup> − 1) / −1.5"),
        ("e^-1000000", "e<sup>−1\u202f000\u202f000</sup>"),
        ("a^12m", "a<sup>12m</sup>"),
        ("≈2.50e3", "≈2500"),
        ("≈1.23e4", "≈12\u202f300"),
        ("≈1.00e6", "≈1.00·10<sup>6</sup>"),
        ("≈1.2e‑5", "≈1.2·10<sup>−5</sup>"),
        ("5e-01", "0.5"),
        ("1e-09", "10<sup>−9</sup>"),
        ("≈-0.41", "≈−0.41"),
        ("32 x 28", "32 × 28"),
        ("94.0% to 97 %", "94.0\u00a0% to 97\u00a0%"),
        ("9 % (8 % to 10 %)", '9\u00a0% <span class="tie">(8\u00a0% to 10\u00a0%)</span>'),
        ("True", "yes"),
        ("None", "–"),
        ("nan", "–"),
        ("True if a < b", "True if a &lt; b"),
        ("near-parallel, 1L-SN", "near-parallel, 1L-SN"),
    ],
)
def test_a_cell_is_set_in_type(stored: str, shown: str) -> None:
    assert in_type(stored) == shown
    assert not TYPED(unescape(re.sub(r"<[^>]*>", "", in_type(stored))))


def grid(table: str) -> list[list[str]]:
    """The words of a table, row by row."""
    rows = BeautifulSoup(table, "html.parser").select("tr")
    return [[cell.get_text().strip() for cell in row.select("th, td")] for row in rows]


PLAIN = st.text("abc <>&'\"", max_size=20).map(str.strip)


@given(st.lists(st.lists(PLAIN, min_size=2, max_size=2), min_size=1, max_size=3))
def test_plain_words_stay_in_their_cells(rows: list[list[str]]) -> None:
    stored = pd.DataFrame(rows, columns=["a_1", "b"]).to_html()
    words = grid(dressed(stored))
    assert words[0] == ["", "a1", "b"]
    asked = [[cell.replace("<sub>", "") for cell in row] for row in grid(stored)[1:]]
    assert [[re.sub(r"\s+", " ", c) for c in row] for row in words[1:]] == [
        [re.sub(r"\s+", " ", c) for c in row] for row in asked
    ]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 4))
def test_no_number_is_changed(value: float, digits: int) -> None:
    stored = approx(value, digits)
    factor, _, power = in_type(stored).partition("10<sup>")
    assert not TYPED(factor)
    factor = re.sub(r"\s", "", factor).replace("−", "-")
    exponent = power.removesuffix("</sup>").replace("−", "-")
    shown = factor.replace("·", "").removeprefix("≈")
    shown += "1" if shown in ("", "-") else ""
    assert written(f"{shown}e{exponent or 0}") == written(stored)


@given(st.integers(0, 10**7))
def test_a_count_is_a_whole_number(number: int) -> None:
    assert float(written(counted(number))).is_integer()
    assert abs(written(counted(number)) - number) <= 0.51 * 10 ** max(0, len(str(number)) - 3)


def test_words_get_room_and_heads_break() -> None:
    frame = pd.DataFrame({"many words make a head": ["many words make a cell", "1 2 3 4 5"]})
    shown = dressed(frame.to_html(classes="sentences"))
    assert '<td class="words">many words' in shown
    assert shown.count('class="words"') == 1


def test_only_tables_of_cells_are_dressed() -> None:
    page = new_document("page")
    table, card = (
        pd.DataFrame({"w_j": ["1e-09"]}).to_html(classes="sentences"),
        "<table><td>w_j</td></table>",
    )
    page += [nodes.raw(text=table, format="html"), nodes.raw(text=card, format="html")]
    dress(None, page)  # type: ignore[arg-type]
    assert "<th>w<sub>j</sub></th>" in page[0].astext()
    assert "<td>10<sup>−9</sup></td>" in page[0].astext()
    assert page[1].astext() == card
