"""What the book's theme leaves out of a page: what the page is about, and names for its parts."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 300
# A formula with the brackets and stops that touch it.
_TOUCHED = re.compile(r"([(\[]*)(<span class=\"math[^>]*>[^<]*</span>)([.,;:?!)\]]*)")


def dress(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Complete what the page's template is given, after the theme has had its turn."""
    context["page_description"] = description(tree) if tree else ""
    # No page runs its cells on a server, and Sphinx would declare this script's names twice.
    context["script_files"] = [js for js in context["script_files"] if not _runs_cells(js)]
    # No line begins with the comma behind a formula.
    body = _TOUCHED.sub(_tied, context.get("body", ""))
    # The bibliography is a list, and docutils does not call its entries list items.
    context["body"] = body.replace('"doc-biblioentry"', '"listitem"')
    # The theme gives the buttons that unfold the sidebar no name.
    tree_of_pages = context["generate_toctree_html"]

    def named(*args: Any, **options: Any) -> Any:
        soup = tree_of_pages(*args, **options)
        for button in soup.select("summary") if soup else ():
            button["aria-label"] = f"Pages below {button.find_parent('li').a.get_text(strip=True)}"
        return soup

    context["generate_toctree_html"] = named


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


def _runs_cells(script: Any) -> bool:
    return "thebe" in f"{script.filename} {script.attributes.get('body')}"
