"""The errata's checks: programs of sixty lines that need nothing of ours, one a refuted claim."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
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
for file in sys.argv[1:]:
    print("file:", file)
    runpy.run_path(file, run_name="__main__")
"""


def run(*files: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", BARE, *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


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


@pytest.mark.long
def test_they_show_the_failures() -> None:
    """In one process: to import NumPy takes longer than most of them."""
    done = run(*FILES)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = done.stdout.split("file:")[1:]
    assert len(shown) == len(FILES)
    assert [told.split()[0] for told in shown if told.count("yes: ") < 3] == []
    assert "NO: " not in done.stdout


SLOW = [
    ("sv.prop4.4", "3, 53", "3, 54"),
    ("sv.ex5.1.a", ".6111", "-.6111"),
    ("sv.ex5.1.b", ".6111", "-.6111"),
    ("sv.lemF.9.2", "[3, 1, 1]", "[3, 1, -1]"),
    ("ma.eq11.2", "1.0, pi / 2", "0.5, pi / 2"),
    ("ma.thm3.3.3", "= 3 * pi / 4", "= pi / 4"),
    ("ma.thm4.1.1", "-sqrt(-w)", "w"),
    ("os.assumptions.1", "[-2, 1]", "[2, 1]"),
    ("mm.thm2.1.1", "(1, -4), (0, 1)", "(1, 4), (0, 1)"),
    ("mm.thm2.1.2", "(1, -4), (0, 1)", "(1, 4), (0, 1)"),
    ("mm.thm5.2", "2.0, b, 0.0", "2.0, -b, 0.0"),
]
"""Programs that take too long to run once a number: one fault in each."""
SURE = {
    # An identity; an edge of data whose first entries are positive; 0 at every quotient.
    "mm.thm2.1.fit": {"'Phi = v w x is homogeneous of degree 2 in (v, w)'"},
    "os.orthants": {"'the first entry of every edge is positive'"},
    "sv.prop4.1.2": {"'it is not positive'"},
}
"""What the others check and no changed number breaks."""


@pytest.mark.long
@pytest.mark.parametrize(("id", "right", "wrong"), SLOW)
def test_a_fault_in_it_is_seen(id: str, right: str, wrong: str, tmp_path: Path) -> None:
    text = (CHECKS / f"{id}.py").read_text(encoding="utf-8")
    assert right in text
    (tmp_path / "wrong.py").write_text(text.replace(right, wrong, 1), encoding="utf-8")
    done = run(tmp_path / "wrong.py")
    assert done.returncode != 0
    assert "NO: " in done.stdout


def is_check(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check"
    )


def failed(tree: ast.Module) -> set[str]:
    """The checks that fail, by their text; what comes after an error is not run."""
    found = set[str]()
    names = {"__name__": "__main__", "print": lambda *_: None}
    with suppress(Exception), np.errstate(all="ignore"):
        exec(
            compile(tree, "check", "exec"), names | {"check": lambda k, true: true or found.add(k)}
        )
    return found


def altered(tree: ast.Module, apart: set[int]) -> Iterator[ast.Module]:
    """The program with another number, or with zeros for all numbers of one tuple or list."""
    nodes = sorted(ast.walk(tree), key=lambda node: isinstance(node, (ast.Tuple, ast.List)))
    for top in (node for node in nodes if id(node) not in apart):
        inner = ast.walk(top) if isinstance(top, (ast.Constant, ast.Tuple, ast.List)) else ()
        numbers = [
            n for n in inner if isinstance(n, ast.Constant) and type(n.value) in (int, float)
        ]
        right = [n.value for n in numbers]
        v = right[0] if top in numbers else 0
        for other in (-v, v + 1, 0, 2 * v, v - 1) if top in numbers else (0,):
            for number in numbers:
                number.value = other
            yield tree
        for number, value in zip(numbers, right, strict=True):
            number.value = value


@pytest.mark.long
@pytest.mark.parametrize(
    "file",
    [f for f in FILES if f.stem not in {id for id, _, _ in SLOW}],
    ids=lambda file: file.stem,
)
def test_each_of_its_checks_fails_at_other_numbers(file: Path) -> None:
    """Hypotheses and failure alike; the numbers of the check itself stay."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [n for n in tree.body if getattr(n, "name", "") != "check"]
    checks = [node for node in ast.walk(tree) if is_check(node)]
    left = {ast.unparse(node.args[0]) for node in checks}
    for node in checks:
        node.args[0] = ast.copy_location(ast.Constant(ast.unparse(node.args[0])), node)
    still = [n for n in ast.walk(tree) if is_check(n) or isinstance(n, ast.JoinedStr)]
    assert not failed(tree)
    for other in altered(tree, {id(n) for top in still for n in ast.walk(top)}):
        left -= failed(other)
        if left <= SURE.get(file.stem, set()):
            break
    assert left == SURE.get(file.stem, set())
