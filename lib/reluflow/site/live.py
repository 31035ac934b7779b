"""`{live} NAME`: a picture that moves under the reader's hand, in the place of a still one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

_NEEDS = re.compile(r"^// needs (\S+)$", re.MULTILINE)


class Live(Directive):
    """The place of a live picture. Its content, or else the output of the cell before it, is the
    figure that stays where there is no script."""

    required_arguments = 1
    has_content = True
    option_spec = {"state": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """The element that the picture's script fills."""
        (name,) = self.arguments
        static = Path(self.state.document.settings.env.srcdir) / "_static" / "live"
        if not (static / name).is_dir():
            raise self.error(f"live: no picture {name!r} in _static/live")
        opens = escape(self.options.get("state", ""))
        head = f'<div class="live" id="live-{name}" data-picture="{name}" data-state="{opens}">'
        content = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, content)
        begin = nodes.raw(text=head, format="html", picture=name)
        return [begin, *content.children, nodes.raw(text="</div>", format="html")]


OFFERED = {
    "chapters/02_magnitude_angle": ("orbits", "magnitude-phase-portrait"),
    "chapters/03_early_alignment": ("polygon", "figure-1"),
    "chapters/04_orthogonal_separability": ("turning", "turning"),
    "chapters/05_margin_maximization": ("silent", "two-points"),
    "chapters/05_margin_maximization/suboptimality": ("race", "race"),
}
"""The live picture of a page, and the figure below whose caption a reader can open it."""


def _offered(body: str, picture: str, figure: str) -> str:
    """The page with the place of a live picture below the caption of a figure."""
    caption = r"fingerprint of {}</summary>.*?<strong>Figure \d+\.</strong>.*?</p>"
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
