"""The errata's checks: programs of sixty lines that need nothing of ours, one a refuted claim."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from reluflow.ledger.cards import CHECKS
from reluflow.ledger.rows import REFUTED
from reluflow.ledger.scoreboard import read
from reluflow.places import CHAPTERS

FILES = sorted(CHECKS.glob("*.py"))
LINES = 60
ALLOWED = {"numpy", *sys.stdlib_module_names}
# The library is out of reach, and so is every module but NumPy and Python's own.
BARE = """
import runpy, sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "reluflow":
            raise ImportError(name)
sys.meta_path.insert(0, Refused())
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def run(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", BARE, str(file)], capture_output=True, text=True, timeout=120
    )


def test_every_refuted_claim_has_one() -> None:
    refuted = {row.claim.id for row in read(CHAPTERS) if row.verdict == REFUTED}
    assert {file.stem for file in FILES} == refuted


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_is_short_and_needs_nothing_of_ours(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.strip()]) <= LINES
    nodes = list(ast.walk(ast.parse(text)))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported <= ALLOWED


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_shows_the_failure(file: Path) -> None:
    done = run(file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("yes: ") >= 3
    assert "NO: " not in done.stdout


@pytest.mark.parametrize(
    ("id", "right", "wrong"),
    [
        ("sv.thm3.6", "[2, 1, 1]", "[2, 2, 1]"),
        ("sv.thm4.7.1", "[2, 1, 1]", "[2, -1, 1]"),
        ("sv.prop4.4", "716, 536", "716, 537"),
        ("ma.propB.2", "(-1, -1)]", "(-1, -2)]"),
        ("ma.thm4.1.1", "-sqrt(-w)", "w"),
        ("os.orthants", "(3, 2, 2)", "(3, -2, 2)"),
        ("os.assumptions.1", "[-2, 1]", "[2, 1]"),
        ("ea.thm1.align.1", "log_eps = 1, 2, -200.0", "log_eps = 1, 2, -100.0"),
        ("mm.thm2.1.1", "(1, -4), (0, 1)", "(1, 4), (0, 1)"),
        ("mm.thm4.4.perturbation", "e, w = D(1) / 4", "e, w = D(1) / 5"),
    ],
)
def test_a_fault_in_it_is_seen(id: str, right: str, wrong: str, tmp_path: Path) -> None:
    text = (CHECKS / f"{id}.py").read_text(encoding="utf-8")
    assert right in text
    (tmp_path / "wrong.py").write_text(text.replace(right, wrong, 1), encoding="utf-8")
    done = run(tmp_path / "wrong.py")
    assert done.returncode != 0
    assert "NO: " in done.stdout
