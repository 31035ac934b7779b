"""Sphinx extension: what the built book makes from the ledger alone, one module for each."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from reluflow.site.errata import Errata
from reluflow.site.theme import dress


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives, and what completes a page after the theme."""
    app.add_directive("errata", Errata)
    app.connect("html-page-context", dress, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
