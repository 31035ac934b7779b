"""The command that runs a page with many seeds: what it injects, leaves out and reports."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from reluflow import seeds

CELLS = (
    ("parameters", "seed = 0\neffort = 1.0"),
    ("", "from reluflow import ledger\nfrom reluflow.figures import show\n"
         "from reluflow.papers.lee2022support import figures as pictures\n"
         "claims = ledger.open('lee2022support')"),
    ("", "figure = pictures.no_such_picture(seed).axes\nshow(figure, 'a name', alt='')"),
    ("", "bad = 1 / 0 if seed == 2 else 0"),
    ("", "luck = seed < 3 and effort == 0.5 and bad == 0\n"
         "held = ledger.Reading('a', 'b') if luck else None"),
    ("", "claims.settle('sv.lem4.5', [ledger.fact('it holds', True, True)], reading=held)"),
)  # fmt: skip


@pytest.fixture
def page(tmp_path: Path) -> Path:
    notebook = nbformat.v4.new_notebook()
    for tag, source in CELLS:
        cell = nbformat.v4.new_code_cell(source)
        cell.metadata["tags"] = [tag] if tag else []
        notebook.cells.append(cell)
    nbformat.write(notebook, tmp_path / "page.ipynb")
    return tmp_path / "page.ipynb"


def test_parameters_are_injected_and_figures_left_out(page: Path) -> None:
    assert seeds.run(page, {"seed": 1, "effort": 0.5}) == (
        {"sv.lem4.5": "reproduced-with-reading"}, [],
    )  # fmt: skip
    assert seeds.run(page, {"seed": 1}) == ({"sv.lem4.5": "reproduced"}, [])


def test_what_fails_is_reported_once(page: Path) -> None:
    verdicts, (line,) = seeds.run(page, {"seed": 2, "effort": 0.5})
    assert verdicts == {}
    assert "ZeroDivisionError" in line


def test_the_command(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seeds.main([str(page), "--seeds", "0-1", "--effort", "0.5"]) == 0
    assert "0 of 2 seeds" in capsys.readouterr().out
    assert seeds.main([str(page), "--seeds", "0,2-3", "--effort", "0.5"]) == 1
    out = capsys.readouterr().out
    assert "sv.lem4.5: open, and reproduced-with-reading with the first seed" in out
    assert "sv.lem4.5: reproduced, and reproduced-with-reading with the first seed" in out
    assert "2 of 3 seeds" in out
    assert seeds.main([str(page), "--seeds", "4", "-p", "effort", "0.5"]) == 0


def test_several_pages(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is compared with its own first seed, and one that changes is enough."""
    inside = page.with_suffix("") / "section.ipynb"
    inside.parent.mkdir()
    inside.write_bytes(page.read_bytes())
    assert seeds.main([str(inside), str(page), "--seeds", "1,3", "--effort", "0.5"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith("ipynb")] == [
        "page/section.ipynb",
        "page.ipynb",
    ]
    assert sum(line.startswith("1 of 2 seeds") for line in lines) == 2
    assert seeds.main([str(inside), str(page), "--seeds", "0-1", "--effort", "0.5"]) == 0
