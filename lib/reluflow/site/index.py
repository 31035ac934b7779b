"""The settled claims beside the pages: as a file to download, and for the page that searches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from reluflow.ledger.listing import as_csv
from reluflow.site import book

CSV = "claims.csv"
_SCRIPT = "claims.js"
_SEARCHED = ("id", "at", "says", "verdict", "page")


def write(app: Sphinx, failed: Exception | None) -> None:
    """Write both files below `_static` of the built pages."""
    if failed or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    (static / CSV).write_text(as_csv(book.records()), encoding="utf-8", newline="")
    claims = [{name: record[name] for name in _SEARCHED} for record in book.records()]
    # A script, for a page that is opened from a folder may not read other files.
    script = f"const CLAIMS = {json.dumps(claims, ensure_ascii=False)};\n"
    (static / _SCRIPT).write_text(script, encoding="utf-8")


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Give the search page the claims and what searches them."""
    if page == "search":
        own = (_SCRIPT, "vendor/minisearch/minisearch.js", "pages/search.js")
        # MathJax comes last, for what is found has formulas.
        for name in (*own, app.config.mathjax_path):
            app.add_js_file(name, loading_method="defer")
        app.add_css_file("pages/board.css")
