"""Where a claim is stated or settled: the function whose docstring opens with the claim's id; and
where it is proved: the anchor `(proof-ID)=` on a page."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reluflow import pages
from reluflow.places import CHAPTERS

PAPERS = Path(__file__).resolve().parents[1] / "papers"
_IDS = re.compile(r"[a-z]+(?:\.[A-Za-z0-9-]+)+(?:,\s+[a-z]+(?:\.[A-Za-z0-9-]+)+)*(?=[.:] )")

_LABEL = re.compile(r"\((proof-[\w-]+)\)=")
_PROOFS = re.compile(
    r"^((?:\(proof-[\w-]+\)=\n)+)((?:\([\w-]+\)=\n)*[^\n]*(?:\n(?!\s*\n)[^\n]+)*)", re.M
)


@dataclass(frozen=True)
class Address:
    """A claim's function, in `file` from `line` to `end`."""

    id: str
    function: str
    file: Path
    line: int
    end: int

    def __str__(self) -> str:
        below = self.file.relative_to(PAPERS.parents[2])
        return f"{below}:{self.line} ({self.function})"

    @property
    def source(self) -> str:
        """The function's lines."""
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return "\n".join(lines[self.line - 1 : self.end])


@dataclass(frozen=True)
class Proof:
    """The place of a proof: the `label` of the anchor, such as `proof-sv-thm4-7`, the `page`, such
    as `01_support_vectors/plane.ipynb`, and the paragraph or list that `opens` it."""

    label: str
    page: str
    opens: str


def proof_label(id: str) -> str:
    """The label of the anchor at the proof of a claim."""
    return f"proof-{id.replace('.', '-')}"


def proofs(folder: Path = CHAPTERS) -> list[Proof]:
    """All anchors of proofs on the pages below `folder`, in order; a label that occurs twice has
    two."""
    return [found for file in pages.in_order(folder) for found in _proved(file)]


def _proved(file: Path) -> Iterator[Proof]:
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            for found in _PROOFS.finditer("".join(cell["source"])):
                for label in _LABEL.findall(found[1]):
                    yield Proof(label, pages.name(file), found[2].strip())


def addresses(folder: Path = PAPERS) -> list[Address]:
    """All addresses below `folder`; an id that two functions open with has two.

    A docstring opens with its ids, such as "sv.lemF.1: adjacent cells ..." or, for a function that
    states several claims, "sv.propF.3.1, sv.propF.3.2: ...".
    """
    return [found for file in sorted(folder.rglob("*.py")) for found in _in_file(file)]


def _in_file(file: Path) -> Iterator[Address]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            opening = _IDS.match(ast.get_docstring(node) or "")
            for id in re.split(r",\s+", opening.group()) if opening else ():
                yield Address(id, node.name, file, node.lineno, node.end_lineno or node.lineno)
