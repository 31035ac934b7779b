"""`bash book run`: one HTML file, its notebook, and one sentence for bad input."""

import re
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from papermill.exceptions import PapermillExecutionError
from reluflow import pages
from reluflow.run import __main__ as command
from reluflow.run.page import html

GLUED = "application/papermill.record/"
TEXT = """(a-label)=
# A page

It is {glue:text}`half:.1f`, says {cite:t}`min2024early`, for $x^2$ ([there](02_other), [out](https://a.org)).

```{glue:} table
```

:::{dropdown} Solution
Yes.
:::"""


def glued(name: str, **data: str) -> NotebookNode:
    kinds = {GLUED + kind.replace("_", "/"): text for kind, text in data.items()}
    mark = {"scrapbook": {"name": name, "mime_prefix": GLUED}}
    return new_output("display_data", kinds, metadata=mark)


def notebook(text: str = TEXT) -> NotebookNode:
    outputs = [
        glued("half", text_plain="0.5123"),
        glued("table", text_html="<b>bold</b>", text_plain="bold"),
    ]
    hidden = new_code_cell("glue()", outputs=outputs, metadata={"tags": ["remove-input"]})
    return new_notebook(cells=[new_markdown_cell(text), hidden])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a reader's data, in which the commands are given."""
    monkeypatch.chdir(tmp_path)
    files("my.csv", "x1,x2,y\n3,1,1\n2,3,1\n-5,2,-1\n")
    return tmp_path


def files(names: str, text: str = "") -> None:
    for path in map(Path, names.split()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_page_is_one_file_that_loads_nothing() -> None:
    page = html(notebook())
    body = page[page.index("<main") : page.index("</main>")]
    assert ">0.5</span>, says" in body
    assert "<b>bold</b>" in body
    assert ">2024</a>" in body
    assert r"\(x^2\)" in body
    assert "<details" in body
    assert "02_other" not in body
    assert not re.search(r'<(?:script|img|iframe)[^>]* src="(?!data:)|<link\b', page)
    assert "MathJax" in page


@pytest.mark.parametrize("role", ["glue:text", "cite:t"])
def test_what_nothing_resolves_is_refused(role: str) -> None:
    with pytest.raises(ValueError, match="unknown"):
        html(notebook(f"# A page\n\n{{{role}}}`unknown`"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no.csv"], 'there is no file "no.csv".'),
        (["my.csv", "--chapter", "9"], 'there is no chapter "9"'),
        (["my.csv", "--chapter", "2"], "draws its own data, and takes no CSV file."),
        (["my.csv", "-p", "hh", "3"], 'has no parameter "hh": did you mean "h"?'),
        (["my.csv", "-p", "seed", "1", "-p", "seed", "2"], 'parameter "seed" is given twice'),
        (["zero.csv"], "write -1 for 0."),
        (["my.csv", "--out", "foreign"], "holds no results"),
        (["my.csv", "--out", "site"], '"site" is there and holds no results'),
        *((["my.csv", "--out", taken], f'"{taken}" holds cones.ipynb: move it, or choose another')
          for taken in ("others", "own")),
        (["in/my.csv"], '"_runs/my" holds 06_your_data.ipynb on my.csv: move it, or'),
        (["-p", "dataset", "plane", "--out", "_runs/my"], "06_your_data.ipynb on my.csv: move it"),
    ],
)  # fmt: skip
def test_one_sentence_and_the_status_2(arguments, sentence, place, capsys):
    files("zero.csv", "x,y\n1,0\n2,1\n")
    files("in/my.csv", Path("my.csv").read_text())
    files("foreign/a site/index.html others/index.html others/cones.ipynb own/index.html "
          "own/cones.ipynb own/06_your_data.ipynb")  # fmt: skip
    earlier(place)
    before = sorted(place.rglob("*"))
    assert command.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("book run: ")
    assert sentence in line
    assert sorted(place.rglob("*")) == before


RESULTS = "_runs/my/06_your_data.ipynb _runs/my/index.html"


def earlier(place: Path) -> None:
    """Results on my.csv, as a run leaves them."""
    files(RESULTS, "earlier")
    made = notebook()
    made.metadata["reluflow"] = {"dataset": str(place / "my.csv")}
    nbformat.write(made, place / RESULTS.split()[0])


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (PapermillExecutionError(1, 1, "", "InputError", "the sentence.", []), 2),
        (PapermillExecutionError(1, 1, "", "ZeroDivisionError", "by zero", []), 1),
        (KeyboardInterrupt(), 130),
        (OSError(28, "No space left on device"), 2),
    ],
)
def test_a_run_that_fails_leaves_earlier_results(error, status, place, monkeypatch):
    earlier(place)
    monkeypatch.setattr(command.papermill, "execute_notebook", Mock(side_effect=error))
    assert command.main(["my.csv"]) == status
    assert (place / "_runs" / "my" / "index.html").read_text() == "earlier"
    assert [path.name for path in (place / "_runs").iterdir()] == ["my"]


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_both_files_or_neither(there, place, monkeypatch):
    """And no folder that the next run on the same file would refuse, however it is named."""
    if there:
        earlier(place)
    before, whole = {p: p.read_bytes() for p in sorted(place.rglob("my/*"))}, Path.write_bytes

    def full(self: Path, data: bytes | str, *given: object) -> None:
        if "index.html" in self.name:
            raise OSError(28, "No space left on device")
        whole(self, data if isinstance(data, bytes) else data.encode())

    ends = Mock(side_effect=lambda page, output, *_, **__: nbformat.write(notebook(), output))
    monkeypatch.setattr(command.papermill, "execute_notebook", ends)
    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_text", full)
        disk.setattr(Path, "write_bytes", full)
        assert command.main(["my.csv"]) == 2
    assert {p: p.read_bytes() for p in sorted(place.rglob("my/*"))} == before
    assert [command.main([name]) for name in ("my.csv", str(place / "my.csv"))] == [0, 0]
    assert " ".join(str(p.relative_to(place)) for p in sorted(place.rglob("my/*"))) == RESULTS


def test_another_page_opens_with_its_verdicts(tmp_path: Path) -> None:
    page = command.found("3")
    made = nbformat.read(page, as_version=4)
    first, *_ = (c for c in made.cells if "settle(" in c.source)
    made.cells.remove(first)
    nbformat.write(made, tmp_path / page.name)
    given, rest, counts, *others = command.summary(page, tmp_path / page.name, {"h": 20})
    assert given == "This run was given `h = 20`."
    assert "`loss = 'exponential'`" in rest
    assert re.match(r"Claims that it settles: \d+, \d+ re", counts)
    assert [other.split(":")[0] for other in others] == ["Not asked here"]
    assert command.summary(page, page, {})[-1].startswith("All verdicts are those")


def test_what_shows_nothing_goes_with_the_words_to_it() -> None:
    cells = notebook().cells
    cells += [new_code_cell("None"), new_markdown_cell("Figure 1")]
    cells += [new_code_cell("2", outputs=cells[1].outputs), new_markdown_cell("Figure 2")]
    for cell in cells[2:]:
        cell.metadata["tags"] = ["where-shown"]
    assert list(command.told(cells)) == [*cells[:2], *cells[4:]]


@pytest.mark.long
def test_a_run_from_a_file_to_the_page(place, capsys):
    """On labels that are no signs, of which two layers are not asked."""
    files("my.csv", "x1,x2,y\n0.9,0.1,0.6\n0.4,0.9,0.9\n")
    assert command.main(["my.csv", "-p", "h", "2", "-p", "effort", "0.2"]) == 0
    assert capsys.readouterr().out == "_runs/my/index.html\n"
    page = (place / "_runs" / "my" / "index.html").read_text("utf-8")
    assert page.index("my.csv: 2 data in 2 dimensions") < page.index("<h2>")
    made = nbformat.read(place / "_runs" / "my" / "06_your_data.ipynb", as_version=4)
    assert not any("layers.turned" in cell.source for cell in made.cells)
    assert pages.glued(made.cells)["summary"]["text/plain"].startswith("my.csv: 2 data")
