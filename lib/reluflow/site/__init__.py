"""Sphinx extension: what the built book makes from the ledger alone, one module for each."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from reluflow.site import board, book, downloads, explorer, front
from reluflow.site.board import Board
from reluflow.site.explorer import Errata
from reluflow.site.front import dress


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and roles, and what is made of and beside the pages."""
    searched = board.Searched()
    app.connect("config-inited", downloads.repository_buttons)
    app.connect("builder-inited", lambda app: book.board())  # before a page meets a broken row
    app.connect("builder-inited", downloads.begin)
    app.connect("doctree-read", board.dress)
    app.connect("doctree-read", _leave_to_our_search)
    app.connect("html-page-context", downloads.offer)
    app.connect("autodoc-process-docstring", front.plain)
    app.add_directive("first-picture", front.FirstPicture)
    app.add_directive("how-known", front.HowKnown)
    app.add_role("count", front.count)
    app.add_role("bar", front.verdicts)
    app.add_role("legend", front.verdicts)
    app.add_directive("errata", Errata)
    app.add_directive("scoreboard", Board)
    app.add_directive("explorer", explorer.Explorer)
    app.add_directive("live", explorer.Live)
    app.connect("config-inited", _leave_to_the_pages)
    app.connect("html-page-context", board.add_scripts)
    app.connect("html-page-context", explorer.add_scripts)
    app.connect("html-page-context", dress, priority=900)
    app.connect("html-page-context", searched.read)
    app.connect("build-finished", searched.write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _leave_to_the_pages(app: Sphinx, config: Config) -> None:
    """Jupyter Book gives every page all scripts and styles below `_static`. Those in a folder there
    are for the pages that ask for them."""
    for name in ("html_js_files", "html_css_files"):
        config[name] = [file for file in config[name] if "/" not in file]


def _leave_to_our_search(app: Sphinx, document: nodes.document) -> None:
    """No page loads Sphinx's index of all words, which takes long to make."""
    app.env.metadata[app.env.docname]["nosearch"] = ""
