"""What a committed chapter must not be: each guard lists what is wrong with a notebook.

A guard takes a notebook node and returns one short complaint for each fault; none is a pass.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import numpy as np
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from pictures import size
from reluflow.ledger.rows import NOT_APPLICABLE, RECORD
from reluflow.refresh import cells_digest

SCREEN = 25  # lines

# Cells whose output nbval may leave uncompared: cell id -> why.  Only timings belong here.
ALLOWED_MARKERS: dict[str, str] = {}

# nbval's own markers, as comments or as tags, and the tags that nbclient and papermill heed.
MARKER = re.compile(r"(NBVAL|PYTEST_VALIDATE)_[A-Z_]+")
MARKER_TAG = re.compile(r"(nbval|pytest-validate)-|raises-exception|skip-execution")
HIDING = re.compile(r"%%capture|capture_output|clear_output|redirect_std\w+")
MACHINE_PATH = re.compile(
    r"(?<![\w.~/:-])/(root|work|tmp|home|mnt|opt|var|srv|usr|Users|private)/[\w.-]+"
    r"|\b[A-Za-z]:\\\\?[Uu]sers\b"
)


def cells_out_of_order(notebook: NotebookNode) -> list[str]:
    """Outputs of one run from top to bottom are numbered 1, 2, 3, ...; what was never run is None,
    and nbval would pass it."""
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


def code_in_sight(notebook: NotebookNode) -> list[str]:
    """No machinery stands between paragraphs: a cell that only sets up, settles a claim, whose card
    has the source of the check, or hands a number to the text shows no code; one that draws has it
    folded."""
    return [
        f"cell {i} {what}, and is not tagged {tag}"
        for i, cell in _code(notebook)
        for what, tag in [_does(cell)]
        if tag and not {tag, "hide-cell", "remove-cell"} & set(cell.metadata.get("tags", []))
    ]


def _does(cell: NotebookNode) -> tuple[str, str]:
    """What a cell does that a reader need not see, and its tag; two empty words for any other."""
    if cell.source.startswith(("import ", "from ")) and not cell.outputs:
        return "only sets up", "remove-input"
    tree = ast.parse(TransformerManager().transform_cell(cell.source))
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    names = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
    if names & {"settle", "settle_with", "glue"}:
        return "settles a claim or hands a number to the text", "remove-input"
    return ("draws", "hide-input") if "show" in names else ("", "")


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
    """Each picture is followed by its description in text, of its name and its size."""
    complaints = []
    for i, cell in _code(notebook):
        data = [output.get("data", {}) for output in cell.outputs]
        plain = ["".join(d.get("text/plain", "")) for d in data]
        shown = [k for k, d in enumerate(data) if any(kind.startswith("image/") for kind in d)]
        told = [k for k, text in enumerate(plain) if text.startswith("fingerprint of ")]
        if told != [k + 1 for k in shown]:
            complaints.append(f"cell {i}: pictures and fingerprints do not come in pairs")
            continue
        for k in shown:
            name = plain[k].removeprefix("<Figure ").removesuffix(">")
            words = re.match(r"fingerprint of (\S+)\nfigure (\S+) x (\S+) in", plain[k + 1])
            drawn = size("".join(data[k].get("image/svg+xml", "")))
            if not words or words[1] != name or drawn is None:
                complaints.append(f"cell {i}: the picture {name} is not what its fingerprint says")
            elif not np.allclose(drawn, [float(words[n]) for n in (2, 3)], rtol=1e-4):
                complaints.append(f"cell {i}: the picture {name} has another size than it says")
    return complaints


def hidden_outputs(notebook: NotebookNode) -> list[str]:
    """What a cell shows is stored: nothing swallows it, and every figure that it names is there."""
    complaints = []
    for i, cell in _code(notebook):
        complaints += [f"cell {i} hides its output: {m}" for m in HIDING.findall(cell.source)]
        shown = {str(output.get("data", {}).get("text/plain")) for output in cell.outputs}
        for node in ast.walk(ast.parse(TransformerManager().transform_cell(cell.source))):
            called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "show"
            named = node.args[1:2] if called else []
            for name in (a.value for a in named if isinstance(a, ast.Constant)):
                if f"<Figure {name}>" not in shown:
                    complaints.append(f"cell {i} does not show its figure {name}")
    return complaints


def glued_for_nothing(notebook: NotebookNode) -> list[str]:
    """A number that was glued stands in the text by its name; a typed one would not follow it."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    pasted = set(re.findall(r"\{glue:\w*\}[` ]([\w.-]+)", prose))
    return [
        f"cell {i} glues {name}, which the text does not use"
        for i, output in _outputs(notebook)
        if (name := output.get("metadata", {}).get("scrapbook", {}).get("name"))
        and name not in pasted
    ]


def edited_by_hand(notebook: NotebookNode) -> list[str]:
    """After the run that stored the outputs no cell was changed, neither its words nor what it
    shows: `python -m reluflow.refresh` stores a digest of both."""
    stored = notebook.metadata.get("reluflow", {}).get("cells")
    if stored == cells_digest(notebook):
        return []
    return ["a cell was changed after the run: run python -m reluflow.refresh again"]


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
    cells_out_of_order,
    error_outputs,
    stderr_outputs,
    markers,
    machine_paths,
    long_cells,
    code_in_sight,
    definitions,
    claims_left_open,
    figures_without_fingerprint,
    hidden_outputs,
    glued_for_nothing,
    edited_by_hand,
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
