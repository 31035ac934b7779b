"""`{explorer}`: what a reader of the explorer can choose from, from the book's own data; and
`{live} NAME`: a picture that moves under the reader's hand, in the place of a still one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from reluflow.datasets import load
from reluflow.flows.affine import affine_flow
from reluflow.ledger.cards import LIVE, Setting, errata, setting
from reluflow.ledger.evidence import printed
from reluflow.ledger.scoreboard import Scoreboard
from reluflow.papers.lee2022support.examples import settings
from reluflow.papers.lee2022support.landscape import local_minima, loss
from reluflow.site import book
from reluflow.site.book import board

# --- `{errata} PAPER`: what a paper prints that does not hold -------------------------------------


class Errata(Directive):
    """The errata of the paper that the directive names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The errata as they are on the day of the build."""
        (paper,) = self.arguments
        whole = book.board()
        of_paper = tuple(each for each in whole.inventories if each.paper == paper)
        if not of_paper:
            raise self.error(f"errata: no paper {paper!r} in the inventory")
        rows = tuple(row for row in whole.rows if row.claim.paper == paper)
        html = errata(Scoreboard(of_paper, rows), book.told())
        return [nodes.raw(text=html, format="html")]


# What the paper says of the flows in its Figure 3.
NEAR = "The paper says that this small start ends at the global minimum"
FAR = "The paper says that this start, far out, ends at a minimum that is not global"
# How a flow can end, on data as small as can be.
ENDS = (
    (
        "It slides along a boundary",
        Setting(((1.0, 0.0), (1.0, 1.0)), (-3.0, 2.0), (2.0, 0.5)),
        "A label below zero can make a boundary attract from both sides.",
    ),
    (
        "It starts where more than one flow leaves",
        Setting(((1.0, 0.0), (0.0, 1.0)), (1.0, 2.0), (0.0, 1.0)),
        "Both sides of this boundary repel, and the start lies on it.",
    ),
    (
        "It starts dead",
        Setting(((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)), (2.0, 1.0, 1.0), (-1.0, -1.0)),
        "Where no datum is active nothing moves the neuron.",
    ),
)

# The examples that the list offers, by their names, and what a reader can find out with each.
QUESTIONS = {
    "Example 5.1 from (0, 45)": "Does a far start miss the global minimum?",
    "Example 5.1 from (0.0001, 0.0001)": "Does a tiny start find the global minimum?",
    "Theorem 3.6": "Do more active data mean a smaller loss?",
    "It slides along a boundary": "Can a flow stay on a boundary?",
    "It starts where more than one flow leaves": "Can one start have two futures?",
    "It starts dead": "Can a neuron never move at all?",
}


def _answer(question: str, case: Setting) -> str:
    X, y, w = (np.array(part, float) for part in (case.X, case.y, case.w))
    flow, minima = affine_flow(X, y, w), local_minima(X, y)
    best = float(loss(X, y, flow.end)) <= minima[0].loss + 1e-9 * (y @ y)
    ends = f"from here the flow {'reaches' if best else 'misses'} the global minimum"
    worse = any({*a.support} > {*b.support} and a.rank > b.rank for a in minima for b in minima)
    slides, parts = flow.status == "sliding", flow.status == "non-unique"
    rests = not flow.events and not (X @ w > 0.0).any()
    yes, why = {
        "Does a far start miss the global minimum?": (not best, ends),
        "Does a tiny start find the global minimum?": (best, ends),
        "Do more active data mean a smaller loss?": (
            not worse, f"{'a' if worse else 'no'} minimum here has more of them and a larger loss"),
        "Can a flow stay on a boundary?": (
            slides, f"this one {'slides along it' if slides else 'does not'}"),
        "Can one start have two futures?": (
            parts, f"{'more than one flow leaves' if parts else 'one flow alone leaves'} this one"),
        "Can a neuron never move at all?": (
            rests, f"this one {'stays where it is' if rests else 'moves'}"),
    }[question]  # fmt: skip
    return f"{'Yes' if yes else 'No'}: {why}."


def examples() -> list[dict[str, Any]]:
    """The examples in the order of the list: `name`, `question`, `answer`, `X`, `y`, `w`, `says`,
    `card`.

    Example 5.1 from the starts of its Figure 3, the planar counterexamples of refuted claims, each
    with the address of its card, and three ways to end.
    """
    data, printed_starts = load("example-5.1"), settings("example-5.1")
    X, y = data.X.tolist(), data.y.tolist()
    large, small = printed_starts.initial_points, printed_starts.small_points
    assert large is not None
    assert small is not None
    starts = [(w, f"{FAR if max(w) > 1 else NEAR} (Figure 3(a)).") for w in large.tolist()[::-1]]
    starts += [(w, f"{NEAR} (Figure 3(b)).") for w in small.tolist()]
    found = [
        _example(f"Example 5.1 from {_point(w)}", Setting(X, y, w), says) for w, says in starts
    ]
    for row in board().rows:
        case = setting(row)
        if case is not None:
            says = f"The counterexample to {row.claim.at}."
            address = f"{row.chapter.removesuffix('.ipynb')}.html#{row.claim.anchor}"
            found.append(_example(row.claim.at, case, says, address))
    return found + [_example(name, case, says) for name, case, says in ENDS]


def _example(name: str, case: Setting, says: str, card: str = "") -> dict[str, Any]:
    question = QUESTIONS.get(name, "")
    answer = _answer(question, case) if question else ""
    told = {"question": question, "answer": answer, "says": says, "card": card}
    return {"name": name, **asdict(case), **told}


def _point(w: list[float]) -> str:
    return f"({', '.join(map(printed, w))})"


class Explorer(Directive):
    """The examples as JSON, for the script of the page."""

    def run(self) -> list[nodes.Node]:
        """The examples as they are on the day of the build."""
        told = json.dumps(examples(), ensure_ascii=False).replace("<", "\\u003c")
        html = f'<script type="application/json" id="explorer-examples">{told}</script>'
        return [nodes.raw(text=html, format="html")]


# --- `{live} NAME` --------------------------------------------------------------------------------

_NEEDS = re.compile(r"^// needs (\S+)$", re.MULTILINE)


class Live(Directive):
    """The place of a live picture. Its content stays where there is no script."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The element that the picture's script fills."""
        (name,) = self.arguments
        static = Path(self.state.document.settings.env.srcdir) / "_static" / "live"
        if not (static / name).is_dir():
            raise self.error(f"live: no picture {name!r} in _static/live")
        head = f'<div class="live" id="live-{name}" data-picture="{name}">'
        content = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, content)
        begin = nodes.raw(text=head, format="html", picture=name)
        return [begin, *content.children, nodes.raw(text="</div>", format="html")]


OFFERED = {
    LIVE["orbits"]: ("orbits", "magnitude-phase-portrait"),
    LIVE["polygon"]: ("polygon", "figure-1"),
    LIVE["turning"]: ("turning", "turning"),
    "chapters/05_margin_maximization": ("silent", "two-points"),
    "chapters/05_margin_maximization/suboptimality": ("race", "race"),
}
"""The live picture of a page, and the figure below whose caption a reader can open it."""


def _offered(body: str, picture: str, figure: str) -> str:
    """The page with the place of a live picture below the caption of a figure."""
    caption = r'class="[^"]*drawn-{}[" ].*?<strong>Figure \d+\.</strong>.*?</p>'
    found = re.search(caption.format(re.escape(figure)), body, re.DOTALL)
    if found is None:
        raise ExtensionError(f"live: no figure {figure!r} with a caption, for {picture!r}")
    place = f'<div class="live" id="live-{picture}" data-picture="{picture}"></div>'
    fold = f'<details class="offer" hidden><summary>Move it yourself</summary>{place}</details>'
    return f"{body[: found.end()]}{fold}{body[found.end() :]}"


def files(static: Path, *folders: str) -> Iterator[str]:
    """The scripts and styles of these folders, those of `live` before them and what they need
    before themselves, each once."""
    found: dict[str, None] = {}

    def add(file: Path) -> None:
        if file.suffix == ".js":
            for other in _NEEDS.findall(file.read_text("utf-8")):
                add((static / "live" / other).resolve())
        found[file.relative_to(static.resolve()).as_posix()] = None

    for folder in ("live", *folders):
        for file in sorted((static / folder).resolve().iterdir()):
            if file.is_file():
                add(file)
    yield from found


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Give a page the scripts of its live pictures, and of the explorer, and no others."""
    raw = tree.findall(nodes.raw) if tree is not None else ()
    folders = [f"live/{node['picture']}" for node in raw if "picture" in node]
    if page == "chapters/explorer":
        folders.append("explorer")
    if page in OFFERED:
        context["body"] = _offered(context["body"], *OFFERED[page])
        folders.append(f"live/{OFFERED[page][0]}")
    if folders:
        for file in files(Path(app.srcdir) / "_static", *folders):
            (app.add_js_file if file.endswith(".js") else app.add_css_file)(file)
