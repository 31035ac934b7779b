"""Sphinx extension: what the built book makes from the ledger alone, one module for each."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from reluflow.site.errata import Errata


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("errata", Errata)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
