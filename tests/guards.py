"""What a committed chapter must not be: each guard lists what is wrong with a notebook.

A guard takes a notebook node and gives one short complaint for each fault; none is a pass.
"""

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from reluflow.ledger.rows import NOT_APPLICABLE, RECORD
from reluflow.refresh import KERNEL, LANGUAGE, cells_digest

SCREEN = 25  # lines

# nbval's own markers, as comments or as tags, and the tags that nbclient and papermill heed.
MARKER = re.compile(r"(NBVAL|PYTEST_VALIDATE)_[A-Z_]+")
MARKER_TAG = re.compile(r"(nbval|pytest-validate)-|raises-exception|skip-execution")
HIDING = re.compile(r"%%capture|capture_output|clear_output|redirect_std\w+")
MACHINE_PATH = re.compile(
    r"(?<![\w.~/:-])/(root|work|tmp|home|mnt|opt|var|srv|usr|Users|private)/[\w.-]+"
    r"|\b[A-Za-z]:\\\\?[Uu]sers\b"
)

Guard = Callable[[NotebookNode], Iterator[str]]
GUARDS: list[Guard] = []


def guard(found: Guard) -> Guard:
    GUARDS.append(found)
    return found


def complaints(notebook: NotebookNode) -> list[str]:
    return [complaint for guard in GUARDS for complaint in guard(notebook)]


@guard
def stderr_outputs(notebook: NotebookNode) -> Iterator[str]:
    """A warning is mended, or explained in the text; it is not shown."""
    for i, output in _outputs(notebook):
        if output.output_type == "stream" and output.name == "stderr":
            yield f"cell {i} writes to stderr: {output.text.strip()[:60]}"


@guard
def markers(notebook: NotebookNode) -> Iterator[str]:
    """Nothing is exempt from comparison."""
    for i, cell in _code(notebook):
        found = [match.group() for match in MARKER.finditer(cell.source)]
        found += [tag for tag in cell.metadata.get("tags", []) if MARKER_TAG.match(tag)]
        if found:
            yield f"cell {i} carries {', '.join(found)}"


@guard
def machine_paths(notebook: NotebookNode) -> Iterator[str]:
    """Nothing that a reader sees names a folder of the machine that made it."""
    for i, cell in enumerate(notebook.cells, start=1):
        for match in filter(None, map(MACHINE_PATH.search, _texts(cell))):
            yield f"cell {i} has the path {match.group()}"


@guard
def long_cells(notebook: NotebookNode) -> Iterator[str]:
    """A cell fits on a screen: what is longer belongs in the library."""
    for i, cell in _code(notebook):
        if (lines := len(cell.source.strip().splitlines())) > SCREEN:
            yield f"cell {i} has {lines} lines, more than {SCREEN}"


@guard
def code_in_sight(notebook: NotebookNode) -> Iterator[str]:
    """No machinery stands between paragraphs: a cell that only sets up, settles a claim, whose card
    has the source of the check, or hands a number to the text shows no code; one that draws has it
    folded."""
    for i, cell in _code(notebook):
        what, tag = _does(cell)
        if tag and not {tag, "hide-cell", "remove-cell"} & set(cell.metadata.get("tags", [])):
            yield f"cell {i} {what}, and is not tagged {tag}"


def _does(cell: NotebookNode) -> tuple[str, str]:
    """What a cell does that a reader need not see, and its tag; two empty words for any other."""
    if cell.source.startswith(("import ", "from ")) and not cell.outputs:
        return "only sets up", "remove-input"
    calls = (node.func for node in _nodes(cell) if isinstance(node, ast.Call))
    names = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
    if names & {"settle", "settle_with", "glue"}:
        return "settles a claim or hands a number to the text", "remove-input"
    return ("draws", "hide-input") if "show" in names else ("", "")


@guard
def definitions(notebook: NotebookNode) -> Iterator[str]:
    """A chapter says what, the library says how: a cell defines no function and no class."""
    for i, cell in _code(notebook):
        for node in _nodes(cell):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield f"cell {i} defines {node.name}"


@guard
def claims_left_open(notebook: NotebookNode) -> Iterator[str]:
    """ "not applicable" is for a reader's data; the committed run is on the paper's."""
    for i, output in _outputs(notebook):
        record = output.get("data", {}).get(RECORD, {})
        if record.get("verdict") == NOT_APPLICABLE:
            yield f"cell {i} shows {record['id']} as {NOT_APPLICABLE}"


@guard
def pictures_of_others(notebook: NotebookNode) -> Iterator[str]:
    """Each picture is one of `show`, with its name, and no word of it is cut off."""
    for i, output in _outputs(notebook):
        data = output.get("data", {})
        named = re.fullmatch(r"<Figure [a-z0-9-]+>", "".join(data.get("text/plain", "")))
        if any(kind.startswith("image/") for kind in data) and not named:
            yield f"cell {i}: a picture is not one of `show`, or has words that are cut off"


@guard
def hidden_outputs(notebook: NotebookNode) -> Iterator[str]:
    """What a cell shows is stored: nothing swallows it, and every figure that it names is there."""
    for i, cell in _code(notebook):
        yield from (f"cell {i} hides its output: {m}" for m in HIDING.findall(cell.source))
        shown = {str(output.get("data", {}).get("text/plain")) for output in cell.outputs}
        for node in _nodes(cell):
            called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "show"
            named = node.args[1:2] if called else []
            for name in (a.value for a in named if isinstance(a, ast.Constant)):
                if f"<Figure {name}>" not in shown:
                    yield f"cell {i} does not show its figure {name}"


@guard
def said_twice(notebook: NotebookNode) -> Iterator[str]:
    """No paragraph is printed twice in a row."""
    told = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for one, other in pairwise(part for part in told.split("\n\n") if part.strip()):
        if one == other:
            yield f"twice in a row: {one[:60]}"


@guard
def glued_for_nothing(notebook: NotebookNode) -> Iterator[str]:
    """A number that was glued stands in the text by its name; a typed one would not follow it."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    pasted = set(re.findall(r"\{glue:\w*\}[` ]([\w.-]+)", prose))
    for i, output in _outputs(notebook):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        if name and name not in pasted:
            yield f"cell {i} glues {name}, which the text does not use"


@guard
def not_as_stored(notebook: NotebookNode) -> Iterator[str]:
    """What `python -m reluflow.refresh` stored, which runs the cells in order and ends at an error:
    nothing is changed afterwards, no word, output or count, and no tool left what is its own."""
    told = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    if notebook.metadata != told | {"reluflow": {"cells": cells_digest(notebook)}}:
        yield "a cell or what is said of all was changed: run python -m reluflow.refresh again"


def _nodes(cell: NotebookNode) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(TransformerManager().transform_cell(cell.source)))


def _code(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """The code cells, each with its number among all cells, counted from 1."""
    for i, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code":
            yield i, cell


def _outputs(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    for i, cell in _code(notebook):
        for output in cell.outputs:
            yield i, output


def _texts(part: Any) -> Iterator[str]:
    """All texts in a part of a notebook; pictures are left out, whose bytes spell anything."""
    if isinstance(part, dict):
        kept = (v for k, v in part.items() if isinstance(v, dict) or not k.startswith("image/"))
        yield from _texts([*part, *kept])
    elif isinstance(part, list):
        for inner in part:
            yield from _texts(inner)
    else:
        yield str(part)
