"""What a committed chapter must not be: each guard lists what is wrong with a notebook.

A guard takes a notebook node and returns one short complaint for each fault; none is a pass.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from reluflow.ledger.display import RECORD
from reluflow.ledger.verdict import NOT_APPLICABLE

SCREEN = 25  # lines

# Cells whose output nbval may leave uncompared: cell id -> why.  Only timings belong here.
ALLOWED_MARKERS: dict[str, str] = {}

# nbval's own markers, as comments or as tags, and the tags that nbclient and papermill heed.
MARKER = re.compile(r"(NBVAL|PYTEST_VALIDATE)_[A-Z_]+")
MARKER_TAG = re.compile(r"(nbval|pytest-validate)-|raises-exception|skip-execution")
MACHINE_PATH = re.compile(
    r"(?<![\w.~/:-])/(root|work|tmp|home|mnt|opt|var|srv|usr|Users|private)/[\w.-]+"
    r"|\b[A-Za-z]:\\\\?[Uu]sers\b"
)


def unexecuted_cells(notebook: NotebookNode) -> list[str]:
    """nbval passes a cell without an execution count, and compares nothing."""
    return [
        f"cell {i} was never executed"
        for i, cell in _code(notebook)
        if cell.execution_count is None and cell.source.strip()
    ]


def cells_out_of_order(notebook: NotebookNode) -> list[str]:
    """Outputs of one run from top to bottom are numbered 1, 2, 3, ..."""
    counts = [cell.execution_count for _, cell in _code(notebook) if cell.source.strip()]
    if counts == list(range(1, len(counts) + 1)):
        return []
    return [f"execution counts are {counts}, not 1 to {len(counts)}"]


def error_outputs(notebook: NotebookNode) -> list[str]:
    """A chapter that failed is not committed."""
    return [
        f"cell {i} shows an error: {output.ename}"
        for i, output in _outputs(notebook)
        if output.output_type == "error"
    ]


def stderr_outputs(notebook: NotebookNode) -> list[str]:
    """A warning is mended, or explained in the text; it is not shown."""
    return [
        f"cell {i} writes to stderr: {output.text.strip()[:60]}"
        for i, output in _outputs(notebook)
        if output.output_type == "stream" and output.name == "stderr"
    ]


def markers(notebook: NotebookNode) -> list[str]:
    """Nothing but a timing is exempt from comparison."""
    complaints = []
    for i, cell in _code(notebook):
        found = [match.group() for match in MARKER.finditer(cell.source)]
        found += [tag for tag in cell.metadata.get("tags", []) if MARKER_TAG.match(tag)]
        if found and cell.get("id") not in ALLOWED_MARKERS:
            complaints.append(f"cell {i} carries {', '.join(found)}")
    return complaints


def machine_paths(notebook: NotebookNode) -> list[str]:
    """Nothing that a reader sees names a folder of the machine that made it."""
    texts = [(f"cell {i}", cell.source) for i, cell in enumerate(notebook.cells, start=1)]
    texts += [(f"metadata of cell {i}", str(c.metadata)) for i, c in enumerate(notebook.cells, 1)]
    texts += [(f"output of cell {i}", text) for i, out in _outputs(notebook) for text in _text(out)]
    texts.append(("metadata", str(notebook.metadata)))
    return [
        f"{where} has the path {match.group()}"
        for where, text in texts
        if (match := MACHINE_PATH.search(text))
    ]


def long_cells(notebook: NotebookNode) -> list[str]:
    """A cell fits on a screen: what is longer belongs in the library."""
    return [
        f"cell {i} has {lines} lines, more than {SCREEN}"
        for i, cell in _code(notebook)
        if (lines := len(cell.source.strip().splitlines())) > SCREEN
    ]


def definitions(notebook: NotebookNode) -> list[str]:
    """A chapter says what, the library says how: a cell defines no function and no class."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    complaints = []
    for i, cell in _code(notebook):
        tree = ast.parse(TransformerManager().transform_cell(cell.source))
        complaints += [
            f"cell {i} defines {node.name}" for node in ast.walk(tree) if isinstance(node, kinds)
        ]
    return complaints


def claims_left_open(notebook: NotebookNode) -> list[str]:
    """ "not applicable" is for a reader's data; the committed run is on the paper's."""
    return [
        f"cell {i} shows {output.data[RECORD]['id']} as {NOT_APPLICABLE}"
        for i, output in _outputs(notebook)
        if output.get("data", {}).get(RECORD, {}).get("verdict") == NOT_APPLICABLE
    ]


def figures_without_fingerprint(notebook: NotebookNode) -> list[str]:
    """nbval ignores pictures, so each is followed by its description in text."""
    complaints = []
    for i, cell in _code(notebook):
        plain = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
        for k, output in enumerate(cell.outputs):
            picture = any(kind.startswith("image/") for kind in output.get("data", {}))
            if picture and not "".join(plain[k + 1 : k + 2]).startswith("fingerprint of "):
                complaints.append(f"cell {i} shows a picture without its fingerprint")
    return complaints


def leftovers(notebook: NotebookNode) -> list[str]:
    """Times, file names and injected cells come from a tool's run, not from the chapter."""
    complaints = []
    if "papermill" in notebook.metadata:
        complaints.append("the metadata is papermill's: this is the output of a run")
    for i, cell in enumerate(notebook.cells, start=1):
        tags = cell.metadata.get("tags", [])
        if "execution" in cell.metadata or "papermill" in cell.metadata:
            complaints.append(f"cell {i} records when it was executed")
        if any(tag in ("injected-parameters", "papermill-error-cell-tag") for tag in tags):
            complaints.append(f"cell {i} was injected by papermill")
    return complaints


def foreign_kernel(notebook: NotebookNode) -> list[str]:
    """Only the name python3 means, in every environment, the Python of that environment."""
    name = notebook.metadata.get("kernelspec", {}).get("name")
    return [] if name == "python3" else [f"the kernel is {name}, not python3"]


GUARDS: tuple[Callable[[NotebookNode], list[str]], ...] = (
    unexecuted_cells,
    cells_out_of_order,
    error_outputs,
    stderr_outputs,
    markers,
    machine_paths,
    long_cells,
    definitions,
    claims_left_open,
    figures_without_fingerprint,
    leftovers,
    foreign_kernel,
)


def _code(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """The code cells, each with its number among all cells, counted from 1."""
    for i, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code":
            yield i, cell


def _outputs(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    for i, cell in _code(notebook):
        for output in cell.outputs:
            yield i, output


def _text(output: NotebookNode) -> Iterator[str]:
    """All that an output says in words; pictures are left out, whose bytes spell anything."""
    yield str(output.get("text", ""))
    yield from map(str, output.get("traceback", []))
    yield from (
        str(value) for kind, value in output.get("data", {}).items() if not kind.startswith("image")
    )
    yield str(output.get("metadata", ""))
