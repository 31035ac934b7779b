"""Where a claim is stated or settled: the function whose docstring opens with the claim's id."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAPERS = Path(__file__).resolve().parents[1] / "papers"
_IDS = re.compile(r"[a-z]+(?:\.[A-Za-z0-9-]+)+(?:,\s+[a-z]+(?:\.[A-Za-z0-9-]+)+)*(?=[.:] )")


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
