"""Sphinx extension: what the built book makes from the ledger alone, one module for each."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from reluflow.site import downloads, front, reference
from reluflow.site.errata import Errata


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and roles, and what is done with every page."""
    offers = downloads.Downloads()
    app.connect("config-inited", downloads.repository_buttons)
    app.connect("builder-inited", offers.begin)
    app.connect("html-page-context", offers.offer)
    app.connect("autodoc-process-docstring", reference.plain)
    app.connect("build-finished", offers.end)
    app.add_directive("errata", Errata)
    app.add_directive("first-picture", front.FirstPicture)
    app.add_role("count", front.count)
    app.add_role("bar", front.bar)
    app.add_role("legend", front.legend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
