"""`bash book run my.csv [--chapter 3] [-p NAME VALUE]`: a page of the book on a reader's own data.

Writes _runs/my/index.html, one file that needs no network, and the executed notebook beside it.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import papermill
import yaml
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from reluflow import ledger, pages
from reluflow.errors import InputError, meant
from reluflow.parameters import Parser
from reluflow.places import CHAPTERS
from reluflow.run.page import html

OWN = "06_your_data"
INDEX = "index.html"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one page; 2 for input that cannot be used, 1 where the page fails, 130 for Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _main(arguments)
    except InputError as error:
        return _say(str(error), 2)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _say(f"the results cannot be written: {error.strerror}{where}.", 2)
    except KeyboardInterrupt:
        return _say("stopped; results of earlier runs are as they were.", 130)


def _main(arguments: Sequence[str] | None) -> int:
    parser = Parser(prog="bash book run", description=__doc__)
    parser.add_argument("dataset", nargs="?", help="a CSV file: a header, the label last")
    parser.add_argument("--chapter", default=OWN, help="another page, by its number or name")
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="a parameter of the page; --list names them")  # fmt: skip
    parser.add_argument("--out", type=Path, help="the folder of the results")
    parser.add_argument("--list", action="store_true", help="the pages and their parameters")
    given = parser.parse_args(arguments)
    if given.list:
        print(listed())
        return 0
    page = found(given.chapter)
    pairs = [(name, _value(text)) for name, text in given.p]
    pairs += [("dataset", given.dataset)] if given.dataset is not None else []
    values = dict(pairs)
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise InputError(f'parameter "{name}" is given twice: give it once.')
    check(page, values)
    os.environ.update(pages.ONE_THREAD)
    data = str(values.get("dataset", ""))
    data = Path(data).stem if Path(data).is_file() else data.replace(":", "-")
    name = "-".join(part for part in (data, "" if page.stem == OWN else page.stem) if part)
    folder = given.out or Path("_runs") / (name or page.stem)
    try:
        run(page, values, folder)
    except PapermillExecutionError as error:
        if error.ename == InputError.__name__:
            raise InputError(error.evalue) from None
        return _say(f"{pages.name(page)} failed: {error.ename}: {error.evalue}", 1)
    print(folder / INDEX)
    return 0


def _say(sentence: str, status: int) -> int:
    print(f"book run: {sentence}", file=sys.stderr)
    return status


def _value(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return text


def found(name: str) -> Path:
    """The page of a chapter's number, or of a name such as 03_early_alignment/cones."""
    known = {pages.name(path).removesuffix(".ipynb"): path for path in pages.in_order(CHAPTERS)}
    wanted = name.removeprefix("chapters/").removesuffix(".ipynb")
    numbers = {path.stem[:2].lstrip("0"): path for path in CHAPTERS.glob("[0-9]*.ipynb")}
    if wanted in known or wanted.lstrip("0") in numbers:
        return known.get(wanted) or numbers[wanted.lstrip("0")]
    hint = meant(wanted, known, "bash book run --list names the pages.")
    raise InputError(f'there is no chapter "{name}": {hint}')


def listed() -> str:
    """The pages with their parameters and the values that these have."""
    lines = []
    for page in pages.in_order(CHAPTERS):
        values = ", ".join(f"{name}={value!r}" for name, value in pages.parameters(page).items())
        lines.append(f"{pages.name(page).removesuffix('.ipynb')}\n    {values}")
    return "\n".join(lines)


def check(page: Path, values: Mapping[str, Any]) -> None:
    """Refuse parameters and data as the page's first cells do, before anything is written.

    Raises InputError.
    """
    if "dataset" in values and "dataset" not in pages.parameters(page):
        raise InputError(f"{pages.name(page)} draws its own data, and takes no CSV file.")
    pages.ask(page, Path.cwd(), [values])


def run(page: Path, values: Mapping[str, Any], folder: Path) -> None:
    """Run a page and put its results into `folder`, when there are all of them.

    Raises InputError for a folder that holds anything else, such as another page's results or those
    of other data, OSError where it cannot be written, and papermill's error where a cell fails.
    """
    data = str(values.get("dataset", ""))
    data = str(Path(data).resolve()) if Path(data).is_file() else data
    held = sorted(folder.glob("*.ipynb"), key=lambda file: file.name == page.name)
    if folder.exists() and not (held and (folder / INDEX).is_file()):
        raise InputError(f'"{folder}" is there and holds no results: choose another with --out.')
    for file in held:
        about = pages.read(file).metadata if file.name == page.name else {}
        if (theirs := about.get("reluflow", {}).get("dataset")) != data:
            on = f" on {Path(theirs).name or 'its own data'}" if theirs is not None else ""
            raise InputError(f'"{folder}" holds {file.name}{on}: move it, or choose another --out.')
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as stage:
        output = Path(stage, page.name)
        papermill.execute_notebook(
            page, output, dict(values), cwd=os.getcwd(), kernel_name="python3",
            request_save_on_cell_execute=False,  # it is written at the end
            extra_arguments=["--log-level=50"],  # a kernel's warnings are not the page's
        )  # fmt: skip
        notebook = nbformat.read(output, as_version=4)
        notebook.cells = list(told(notebook.cells))
        notebook.metadata["reluflow"] = {"dataset": data}
        if page.stem != OWN:  # that one has a summary of its own
            words = "\n".join(f"- {line}" for line in summary(page, output, values))
            notebook.cells.insert(1, nbformat.v4.new_markdown_cell(words))
        shown = output.with_name(INDEX)
        shown.write_text(html(notebook), "utf-8")
        nbformat.write(notebook, output)
        folder.mkdir(exist_ok=True)
        for file in (shown, output):
            file.replace(folder / file.name)


def summary(page: Path, output: Path, values: Mapping[str, Any]) -> list[str]:
    """What the run `output` of a page was given, and its verdicts beside those of the book."""
    known = pages.parameters(page)
    given = [f"`{name} = {value!r}`" for name, value in values.items()]
    rest = [f"`{name} = {value!r}`" for name, value in known.items() if name not in values]
    here, book = ({row.claim.id: row.verdict for row in ledger.read(place)}
                  for place in (output, page))  # fmt: skip
    counts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(here.values()).most_common())
    changed = [f"`{id}` is {verdict}, and {book.get(id, 'not asked')} in the book"
               for id, verdict in here.items() if verdict != book.get(id)]  # fmt: skip
    left = [f"`{id}`" for id in book if id not in here]
    lines = [
        f"This run was given {', '.join(given) or 'no parameters'}.",
        f"As in the book: {', '.join(rest)}." if rest else "",
        f"Claims that it settles: {len(here)}, {counts}." if here else "It settles no claim.",
        f"Other verdicts than in the book: {'; '.join(changed)}." if changed else "",
        f"Not asked here: {', '.join(left)}." if left else "",
    ]
    if here and not changed and not left:
        lines.append("All verdicts are those that the book shows.")
    return [line for line in lines if line]


def told(cells: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells that say something about these data: of those that the page tags `where-shown`
    not those that show nothing, nor the words to them. Papermill's own cell is folded."""
    shown = True
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        shown = bool(cell.outputs) if cell.cell_type == "code" else shown
        if "injected-parameters" in tags:
            tags.append("hide-input")
        if shown or "where-shown" not in tags:
            yield cell


if __name__ == "__main__":
    sys.exit(main())
