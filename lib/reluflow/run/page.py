"""An executed notebook for its reader: one HTML file with all it needs."""

from __future__ import annotations

import base64
import io
import re
import shutil
import tempfile
from html import escape
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

import nbformat
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from reluflow.errors import InputError
from reluflow.places import BIBLIOGRAPHY, BOOK
from reluflow.site import board

_DOC = "page"
_CONFIG: dict[str, Any] = {
    "extensions": ["myst_nb", "sphinx_design", "sphinxcontrib.bibtex"],
    "root_doc": _DOC,
    "bibtex_bibfiles": [BIBLIOGRAPHY.name],
    "bibtex_reference_style": "author_year",
    "myst_enable_extensions": ["colon_fence", "dollarmath"],
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},
    "nb_code_prompt_show": "Show the code",
    "nb_code_prompt_hide": "Hide the code",
    "html_theme": "basic",
    "html_copy_source": False,
    "pygments_style": "sphinx",
}
_REFERENCES = "## References\n\n```{bibliography}\n:filter: docname in docnames\n```"
_STYLES = ("pygments.css", "mystnb*.css", "sphinx-design.min.css")
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml", ".jpeg": "image/jpeg"}
_UNRESOLVED = re.compile(r"WARNING: (.*(?:mystnb\.glue|bibtex).*)")


def html(notebook: NotebookNode) -> str:
    """The page as it looks in the book, without its frame: glued numbers and citations are
    resolved, and links to other pages of the book are words.

    Raises ValueError where a glued number or a citation is not known.
    """
    with tempfile.TemporaryDirectory() as name:
        source, output = Path(name) / "source", Path(name) / "html"
        source.mkdir()
        shutil.copy(BIBLIOGRAPHY, source)
        cells = [*notebook.cells, nbformat.v4.new_markdown_cell(_REFERENCES)]
        nbformat.write(NotebookNode({**notebook, "cells": cells}), source / f"{_DOC}.ipynb")
        found: dict[str, Any] = {}
        warnings = io.StringIO()
        with docutils_namespace():
            app = Sphinx(str(source), None, str(output), str(output / "trees"), "html",
                         _CONFIG, status=None, warning=warnings)  # fmt: skip
            app.connect("doctree-read", board.dress)
            app.connect("html-page-context", lambda _, doc, __, context, ___:
                        found.update(context) if doc == _DOC else None)  # fmt: skip
            app.build()
        if left := _UNRESOLVED.search(warnings.getvalue()):
            raise ValueError(f"the page is not whole: {left[1]}")
        # A link to another page of the book is its words.
        body = re.sub(r'<a [^>]*><span class="xref myst">(.*?)</span></a>', r"\1",
                      _with_pictures(found["body"], output), flags=re.S)  # fmt: skip
        styles = [file.read_text("utf-8") for each in _STYLES
                  for file in sorted((output / "_static").glob(each))]  # fmt: skip
    styles.append((BOOK / "_static" / "book.css").read_text("utf-8"))
    skeleton = Template((BOOK / "_templates" / "run.html").read_text("utf-8"))
    return skeleton.substitute(
        title=escape(re.sub("<[^>]*>", "", found["title"])),
        styles="\n".join(styles),
        body=body,
        mathjax=_mathjax() if 'class="math' in body else "",
    )


def _with_pictures(body: str, output: Path) -> str:
    def address(match: re.Match[str]) -> str:
        file = output / match[1]
        kind = _PICTURES[file.suffix]
        return f'src="data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"'

    body = re.sub(r'src="(_images/[^"]+)"', address, body)
    return re.sub(r'<a class="[^"]*image-reference"[^>]*>(<img [^>]*>)\s*</a>', r"\1", body)


def _mathjax() -> str:
    """MathJax with its glyphs as outlines, so that it asks for no font."""
    package = find_spec("sphinx-mathjax-offline")
    if package is None or not package.submodule_search_locations:
        raise InputError("MathJax is missing: pip install sphinx-mathjax-offline.")
    folder = Path(package.submodule_search_locations[0])
    script = (folder / "static" / "mathjax" / "tex-svg.js").read_text("utf-8")
    return script.replace("</script", r"<\/script")
