"""The front page: its picture, and the counts of the papers' claims.

`{count}` is the number of the papers' claims of a verdict, or of all, or of the causes by which
claims are false, of all of them or those of one weight; `{bar}` the verdicts on one paper as a bar;
`{legend}` the badges of all verdicts with their numbers; `{first-picture}` Example 5.1. Claims of
our own are not counted.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from functools import cache
from html import escape
from typing import Any, cast

import pandas as pd
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.directives.images import Image
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from reluflow.figures.vector import svg
from reluflow.ledger.rows import COLOURS, REFUTED, VERDICTS, WAYS, badge, mathematics
from reluflow.ledger.scoreboard import WEIGHTS, causes, in_order, link
from reluflow.papers.lee2022support.examples import study
from reluflow.papers.lee2022support.figures import surprise
from reluflow.site.book import board, told

# --- What the book's theme leaves out of a page: what it is about, and names for its parts --------

LONGEST = 300
DEFINITIONS = "chapters/definitions"
_DEFINED = re.compile(r'definitions\.html#(def-[\w-]+)"')
# A formula with the brackets and stops that touch it.
_TOUCHED = re.compile(r"([(\[]*)(<span class=\"math[^>]*>[^<]*</span>)([.,;:?!)\]]*)")


def dress(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Complete what the page's template is given, after the theme has had its turn."""
    context["page_description"] = description(tree) if tree else ""
    # No page runs its cells on a server, and Sphinx would declare this script's names twice.
    context["script_files"] = [
        js
        for js in context["script_files"]
        if "thebe" not in f"{js.filename} {js.attributes.get('body')}"
    ]
    body = context.get("body", "")
    # No line begins with the comma behind a formula.
    body = _TOUCHED.sub(_tied, body + definitions(app, body))
    # The bibliography is a list, and docutils does not call its entries list items.
    body = body.replace('"doc-biblioentry"', '"listitem"')
    # What unfolds a cell is called what is written on it.
    context["body"] = body.replace(' aria-label="Toggle hidden content"', "")
    # The theme gives the buttons that unfold the sidebar no name.
    tree_of_pages = context["generate_toctree_html"]

    def named(*args: Any, **options: Any) -> Any:
        soup = tree_of_pages(*args, **options)
        for button in soup.select("summary") if soup else ():
            button["aria-label"] = f"Pages below {button.find_parent('li').a.get_text(strip=True)}"
        return soup

    context["generate_toctree_html"] = named


def definitions(app: Sphinx, body: str) -> str:
    """The definitions to which a page leads, each as what book.js shows beside its word."""
    wanted = set(_DEFINED.findall(body))
    builder = cast(StandaloneHTMLBuilder, app.builder)
    shown = []
    for said in app.env.get_doctree(DEFINITIONS).findall(nodes.paragraph) if wanted else ():
        for id in wanted.intersection(said["ids"]):
            html = builder.render_partial(nodes.inline("", "", *said.deepcopy().children))
            shown.append(f'<div popover class="definition" id="{id}">{html["fragment"]}</div>')
    return "".join(shown)


def description(tree: nodes.document) -> str:
    """The first sentences of a page, after the line that names its paper."""
    told = ""
    for paragraph in tree.findall(nodes.paragraph):
        if not isinstance(paragraph[0], nodes.emphasis):
            for sentence in re.split(r"(?<=[.?!])(?<! al\.) ", paragraph.astext()):
                if told and len(told) + len(sentence) > LONGEST:
                    break
                told = f"{told} {sentence}".strip()
            break
    return " ".join(told.split())


def _tied(found: re.Match[str]) -> str:
    return f'<span class="tie">{found[0]}</span>' if found[1] or found[3] else found[0]


# --- The library's docstrings, which are plain text, as reStructuredText for the reference page ---

_ENTRY = re.compile(r"(\{?[\w.]+\}?) {2,}(\S.*)")
_LITERAL = re.compile(r"(`[^`]+`)")
_PARTS = re.compile(r"^(Parameters|Returns|Raises)\b")
_MARKUP = re.compile(r"([*|\\])|(?<=\w)(_)(?!\w)")


def plain(app: Sphinx, what: str, name: str, object: Any, options: Any, lines: list[str]) -> None:
    """Turn columns of names and what they mean into a list, and backticks into code; what else
    would be markup stands for itself."""
    shown: list[str] = []
    within = False  # a list of names, whose lines go on where they are indented
    for line in lines:
        if entry := _ENTRY.fullmatch(line):
            shown += [_typed(entry[1]), f"    {_typed(entry[2])}"]
            within = True
        elif within and line.startswith(" "):
            shown.append(f"    {_typed(line.strip())}")
        else:
            within = False
            shown += (
                ["", f"**{part[1]}**{_typed(line[part.end() :])}"]
                if (part := _PARTS.match(line))
                else [_typed(line)]
            )
    lines[:] = shown


def _typed(words: str) -> str:
    pieces = _LITERAL.split(words)
    return "".join(f"`{p}`" if p.startswith("`") else _MARKUP.sub(r"\\\1\2", p) for p in pieces)


ALL = "all"
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
    found = {ALL: given.total(), "causes": weights.total()}
    found |= {verdict: given[verdict] for verdict in VERDICTS}
    found |= {weight: weights[weight] for weight in WEIGHTS}
    if what not in found:
        return _refused(f"no verdict and no weight {what!r}", raw, line, inliner)
    return [nodes.Text(str(found[what]))], []


def verdicts(name: str, raw: str, paper: str, line: int, inliner: Inliner, *_: Any) -> Made:
    """Role: the verdicts on a paper, or on all, each with its number: in a `bar` as wide as they
    are many, in a `legend` as badges."""
    if paper not in tally():
        return _refused(f"no paper {paper!r} in the inventory", raw, line, inliner)
    given = in_order(tally()[paper])
    if name == "legend":
        each = ", ".join(
            f'<span style="white-space:nowrap">{number} {badge(verdict)}</span>'
            for verdict, number in given
        )
        return _html(f'<span class="legend">{each}</span>')
    words = escape(", ".join(f"{number} {verdict}" for verdict, number in given))
    parts = "".join(
        f'<span style="flex-grow:{number};background:{COLOURS[verdict]}">{number}</span>'
        for verdict, number in given
    )
    return _html(f'<span class="verdicts" role="img" aria-label="{words}">{parts}</span>')


class FirstPicture(Image):
    """Directive: Example 5.1 as computed on the day of the build."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """The picture, within the page."""
        drawn = svg(surprise(study("example-5.1", None, 0.005, 0).main)).encode()
        self.arguments = [f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}"]
        return super().run()


# --- How the claims are known: the ledger's rows counted, and what was chosen after seeing --------


class HowKnown(Directive):
    """Directive: `ways` counts the claims of each paper by how they are known, `after` lists the
    limits that were chosen after seeing, `absent` the claims that no verdict settles."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table or the list as HTML."""
        made = {"ways": _ways, "after": _after, "absent": _absent}
        if (what := self.arguments[0]) not in made:
            raise self.error(f"how-known: {what!r} is none of {', '.join(made)}")
        return [nodes.raw(text=made[what](), format="html")]


def _ways() -> str:
    labels = {each.paper: each.label for each in board().inventories if not each.ours}
    ours = "our own claims"
    pairs = [(ours if ".ours." in row.claim.id else labels[row.claim.paper], way.how)
             for row in board().rows for way in row.known[:1]]  # fmt: skip
    counts = pd.crosstab(*zip(*pairs, strict=True), margins=True, margins_name=ALL)
    ways = [way for way in (*WAYS, ALL) if way in counts]
    shown = counts.reindex([*labels.values(), ours, ALL], columns=ways, fill_value=0)
    html = shown.to_html(border=0, index_names=False)
    return f'<div class="pst-scrollable-table-container" style="margin:0 0 1rem">{html}</div>'


def _after() -> str:
    items = dict.fromkeys(
        f"<li>{link(row)}: {mathematics(limit.after)}</li>"
        for row in board().rows
        for limit in (row.claim.limits or {}).values()
        if limit.after
    )
    return f"<ul>{''.join(items)}</ul>"


def _absent() -> str:
    settled = {row.claim.id for row in board().rows}
    claims = (claim for each in board().inventories for claim in each.claims)
    missing = [claim.id for claim in claims if claim.id not in settled]
    return f"<p>Claims of the inventory without a verdict: {', '.join(missing) or 'none'}.</p>"


def _html(html: str) -> Made:
    return [nodes.raw(text=html, format="html")], []


def _refused(why: str, raw: str, line: int, inliner: Inliner) -> Made:
    message = inliner.reporter.error(why, line=line)
    return [inliner.problematic(raw, raw, message)], [message]
