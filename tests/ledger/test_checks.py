"""The errata's checks: programs of sixty lines that need nothing of ours, one a refuted claim."""

import ast
import contextlib
import io
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from reluflow.ledger.cards import CHECKS
from reluflow.ledger.rows import REFUTED
from reluflow.ledger.scoreboard import read
from reluflow.places import CHAPTERS

FILES = {file.stem: file.read_text(encoding="utf-8") for file in sorted(CHECKS.glob("*.py"))}


def test_every_refuted_claim_has_one() -> None:
    assert FILES.keys() == {row.claim.id for row in read(CHAPTERS) if row.verdict == REFUTED}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_it_is_short_and_needs_nothing_of_ours(text: str) -> None:
    assert len([line for line in text.splitlines() if line.strip()]) <= 60
    nodes = list(ast.walk(ast.parse(text)))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported <= {"numpy", *sys.stdlib_module_names}


def run(text: str) -> str:
    """What a program prints, or an empty text where it says that a check fails."""
    with contextlib.redirect_stdout(io.StringIO()) as shown, np.errstate(all="ignore"):
        try:
            exec(compile(text, "check", "exec"), {"__name__": "__main__"})
        except SystemExit:
            return ""
    return shown.getvalue()


@pytest.mark.long
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_it_shows_the_failure(text: str) -> None:
    shown = run(text)
    assert shown.count("yes: ") >= 3
    assert "NO: " not in shown


SLOW = {
    "sv.prop4.4": ("3, 53", "3, 54"),
    "sv.ex5.1.a": (".6111", "-.6111"),
    "sv.ex5.1.b": (".6111", "-.6111"),
    "sv.lemF.9.2": ("[3, 1, 1]", "[3, 1, -1]"),
    "ma.eq11.2": ("1.0, pi / 2", "0.5, pi / 2"),
    "ma.thm3.3.3": ("= 3 * pi / 4", "= pi / 4"),
    "ma.thm4.1.1": ("-sqrt(-w)", "w"),
    "os.assumptions.1": ("[-2, 1]", "[2, 1]"),
    "mm.thm2.1.1": ("(1, -4), (0, 1)", "(1, 4), (0, 1)"),
    "mm.thm2.1.2": ("(1, -4), (0, 1)", "(1, 4), (0, 1)"),
    "mm.thm5.2": ("until=20", "until=2"),
}
"""Programs that take too long to run once a number: one fault in each."""
SURE = {
    # An identity; an edge of data whose first entries are positive; 0 at every quotient.
    "mm.thm2.1.fit": {"'Phi = v w x is homogeneous of degree 2 in (v, w)'"},
    "os.orthants": {"'the first entry of every edge is positive'"},
    "sv.prop4.1.2": {"'it is not positive'"},
}
"""What the others check and no changed number breaks."""


@pytest.mark.long
@pytest.mark.parametrize("id", SLOW)
def test_a_fault_in_it_is_seen(id: str) -> None:
    right, wrong = SLOW[id]
    assert right in FILES[id]
    assert run(FILES[id].replace(right, wrong, 1)) == ""


def is_check(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check"


def failed(tree: ast.Module) -> set[str]:
    """The checks that fail, by their text; what comes after an error is not run."""
    found = set[str]()
    names = {"__name__": "__main__", "print": lambda *_: None}
    names["check"] = lambda k, true: true or found.add(k)
    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        exec(compile(tree, "check", "exec"), names)
    return found


def altered(tree: ast.Module, apart: set[ast.AST]) -> Iterator[ast.Module]:
    """The program with another number, or with zeros for all numbers of one tuple or list; how
    often a loop runs is no number that a check could rest on."""
    tops = [node for node in ast.walk(tree) if node not in apart]
    found = [n for n in tops if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
    right = {number: number.value for number in found if number.value < 1000}
    listed = (node for node in tops if isinstance(node, (ast.Tuple, ast.List)))
    inside = [[n for n in ast.walk(top) if n in right] for top in listed]
    single = [[number] for number in right]
    for other, groups in (
        (lambda v: -v, single), (lambda v: 0, inside), (lambda v: v + 1, single),
        (lambda v: 0, single), (lambda v: 2 * v, single), (lambda v: v - 1, single),
    ):  # fmt: skip
        for group in groups:
            for number in group:
                number.value = other(right[number])
            yield tree
            for number in group:
                number.value = right[number]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in FILES if name not in SLOW])
def test_each_of_its_checks_fails_at_other_numbers(name: str) -> None:
    """Hypotheses and failure alike; the numbers of the check itself stay."""
    tree = ast.parse(FILES[name])
    tree.body = [n for n in tree.body if getattr(n, "name", "") != "check"]
    checks = [node for node in ast.walk(tree) if is_check(node)]
    left = {ast.unparse(node.args[0]) for node in checks}
    for node in checks:
        node.args[0] = ast.copy_location(ast.Constant(ast.unparse(node.args[0])), node)
    still = [n for n in ast.walk(tree) if is_check(n) or isinstance(n, ast.JoinedStr)]
    for other in altered(tree, {n for top in still for n in ast.walk(top)}):
        left -= failed(other)
        if left <= SURE.get(name, set()):
            break
    assert left == SURE.get(name, set())
