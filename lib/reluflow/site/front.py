"""The front page: its picture, and the counts of the papers' claims.

`{count}` is the number of the papers' claims of a verdict, or of all, or of the causes by which
claims are false, of all of them or those of one weight; `{bar}` the verdicts on one paper as a bar;
`{legend}` the badges of all verdicts with their numbers; `{first-picture}` Example 5.1. Claims of
our own are not counted.
"""

from __future__ import annotations

import base64
import io
from collections import Counter
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst.directives.images import Image
from docutils.parsers.rst.states import Inliner

from reluflow.ledger.display import COLOURS, OPEN, badge
from reluflow.ledger.instead import WEIGHTS, causes
from reluflow.ledger.verdict import REFUTED, VERDICTS
from reluflow.papers.lee2022support.examples import study
from reluflow.papers.lee2022support.figures import surprise
from reluflow.site.book import board, told

ALL = "all"
CAUSES = "causes"
Made = tuple[list[nodes.Node], list[nodes.system_message]]


# Read once in a build: a page asks many times.
@cache
def tally() -> dict[str, Counter[str]]:
    """How many claims of each paper, and under `ALL` of all papers, have which verdict."""
    papers = {each.paper: given for each, given in board().counts if not each.ours}
    return papers | {ALL: sum(papers.values(), Counter())}


def count(name: str, raw: str, what: str, line: int, inliner: Inliner, *_: Any) -> Made:
    """Role: a number of the papers' claims, or of the causes by which they are false."""
    given = tally()[ALL]
    false = (row.claim.id for row in board().rows if row.verdict == REFUTED)
    weights = Counter(causes(told(), (id for id in false if ".ours." not in id)).values())
    found = {ALL: given.total(), CAUSES: weights.total()}
    found |= {verdict: given[verdict] for verdict in VERDICTS}
    found |= {weight: weights[weight] for weight in WEIGHTS}
    if what not in found:
        return _refused(f"no verdict and no weight {what!r}", raw, line, inliner)
    return [nodes.Text(str(found[what]))], []


def bar(name: str, raw: str, paper: str, line: int, inliner: Inliner, *_: Any) -> Made:
    """Role: the verdicts on a paper, as wide as they are many, each with its number."""
    if paper not in tally():
        return _refused(f"no paper {paper!r} in the inventory", raw, line, inliner)
    given = _in_order(tally()[paper])
    words = escape(", ".join(f"{number} {verdict}" for verdict, number in given))
    parts = "".join(
        f'<span style="flex-grow:{number};background:{COLOURS[verdict]}">{number}</span>'
        for verdict, number in given
    )
    return _html(f'<span class="verdicts" role="img" aria-label="{words}">{parts}</span>')


def legend(name: str, raw: str, paper: str, line: int, inliner: Inliner, *_: Any) -> Made:
    """Role: each verdict on a paper, or on all, as a badge behind its number."""
    if paper not in tally():
        return _refused(f"no paper {paper!r} in the inventory", raw, line, inliner)
    given = _in_order(tally()[paper])
    each = ", ".join(
        f'<span style="white-space:nowrap">{number} {badge(verdict)}</span>'
        for verdict, number in given
    )
    return _html(f'<span class="legend">{each}</span>')


class FirstPicture(Image):
    """Directive: Example 5.1 as computed on the day of the build."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """The picture, within the page."""
        drawn = io.BytesIO()
        surprise(study("example-5.1", None, 0.005, 0).main).savefig(drawn, format="png")
        self.arguments = [f"data:image/png;base64,{base64.b64encode(drawn.getvalue()).decode()}"]
        return super().run()


def _in_order(given: Counter[str]) -> list[tuple[str, int]]:
    return [(verdict, given[verdict]) for verdict in (*VERDICTS, OPEN) if given[verdict]]


def _html(html: str) -> Made:
    return [nodes.raw(text=html, format="html")], []


def _refused(why: str, raw: str, line: int, inliner: Inliner) -> Made:
    message = inliner.reporter.error(why, line=line)
    return [inliner.problematic(raw, raw, message)], [message]
