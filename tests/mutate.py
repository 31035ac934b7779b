"""`python tests/mutate.py --sample 100 --seed S`: plants faults in the library, one at a time.

The unit tests run once to see which of them runs which line. Then each fault is put into a copy of
the project and tried by the tests that run its line, those that speak most of its module first, and
by the stored outputs of the chapters that it serves, and at last by the long tests in the folder of
its own name, as those that make records again. A fault that nothing notices is printed as a
difference: read it, and write the test that was missing, or see that the fault changes nothing.

Cosmic Ray makes the faults; `Renamed` adds those of numerical code, such as a dropped `abs`, and
`WEAKER` what lets a check pass more than it should: `--weaken` draws from these alone. The
sample is drawn from the places where a fault fits, and then from the faults that fit there, so that
the eleven operators that can stand for a plus do not outweigh the rest.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import coverage
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names
from parso.python.tree import Keyword, Number
from parso.tree import BaseNode, NodeOrLeaf
from reluflow import pages

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "reluflow"
WHERE = ("flows", "geometry*", "ledger", "falsify*", "margin", "papers")
# Tests that run chapters, builds or browsers, and those of style, are no unit tests.
NOT_ASKED = "test_(notebooks|papermill|book|style|commands|browser.*)$"
CHAPTERS = {"lee2022support": "01_", "lee2023magnitude": "02_", "min2024early": "03_",
            "phuong2021inductive": "04_", "vardi2022margin": "05_"}  # fmt: skip
# One operator stands for another of its family: of another one, it would only raise a TypeError.
FAMILIES = (
    {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"},
    {"BitOr", "BitAnd", "BitXor"},
    {"Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"},
    {"Is", "IsNot"},
)
PYTEST = ["pytest", "-x", "-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
UNIT = [*PYTEST, "-m", "not long and not matrix"]
# A name that is called, and what is called in its place.
OPPOSITES = {"max": "min", "argmax": "argmin", "maximum": "minimum", "fmax": "fmin", "any": "all",
             "cos": "sin", "floor": "ceil", "zeros": "ones", "hstack": "vstack"}  # fmt: skip
OTHER = OPPOSITES | {b: a for a, b in OPPOSITES.items()} | {"expm1": "exp", "log1p": "log"}


class Ours(Operator):
    """An operator without the examples that Cosmic Ray asks for."""

    @classmethod
    def examples(cls) -> tuple:
        return ()


class Renamed(Ours):
    """A function stands for its opposite, or for the identity."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple]:
        if getattr(node, "type", "") == "name" and self._other(node) is not None:
            after = node.get_next_leaf()
            if after is not None and after.value == "(":
                yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        node.value = self._other(node)
        return node

    def _other(self, node: NodeOrLeaf) -> str | None:
        if node.value == "abs":  # np.positive(x) is x, and so is (x)
            before = node.get_previous_leaf()
            return "positive" if before is not None and before.value == "." else ""
        return OTHER.get(node.value)


class Fewer(Ours):
    """One of several conditions that all must hold, or one of several values of a mask, is left
    out."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple]:
        joined = {"and_test": "and", "and_expr": "&"}.get(getattr(node, "type", ""))
        if joined is not None:
            for part in node.children[::2]:
                yield part.start_pos, part.end_pos

    def mutate(self, node: BaseNode, index: int) -> NodeOrLeaf:
        first = max(2 * index - 1, 0)  # the operand, and the sign that joins it
        del node.children[first : first + 2]
        return node


class Wider(Ours):
    """A small number, as limits and tolerances are, is ten times what it was."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple]:
        small = r"[\d.]+e-\d+|0\.\d*[1-9]\d*"  # ten times 0.0 is 0.0
        if getattr(node, "type", "") == "number" and re.fullmatch(small, node.value):
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        return Number(f"{10.0 * float(node.value):g}", node.start_pos, node.prefix)


class Granted(Ours):
    """A test that stands by name in a mapping, as hypotheses do, is always met."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple]:
        above = node.parent
        if node.type == "lambdef" and above is not None and above.type == "dictorsetmaker":
            yield node.children[-1].start_pos, node.children[-1].end_pos

    def mutate(self, node: BaseNode, index: int) -> NodeOrLeaf:
        node.children[-1] = Keyword("True", node.children[-1].start_pos, " ")
        return node


WEAKER = (Fewer, Wider, Granted)


@dataclass(frozen=True)
class Fault:
    """One change of one module: `operator` at its `occurrence`, which begins in `line`."""

    module: Path
    line: int
    operator: type[Operator]
    occurrence: int

    def planted(self) -> str:
        """The module's text with the fault in it."""
        source = self.module.read_text(encoding="utf-8")
        return mutate_code(source, self.operator(), self.occurrence)

    def difference(self) -> str:
        """The fault as a difference of two lines."""
        name = str(self.module.relative_to(ROOT))
        texts = (self.module.read_text(encoding="utf-8"), self.planted())
        return "\n".join(
            difflib.unified_diff(*(t.splitlines() for t in texts), name, name, n=1, lineterm="")
        )


def operators() -> list[type[Operator]]:
    """Cosmic Ray's operators that need no arguments and stay in their family, and ours."""
    found: list[type[Operator]] = [Renamed, *WEAKER]
    for name in operator_names():
        swap = re.search(r"Replace(?:Binary|Comparison)Operator_(\w+)_(\w+)", name)
        alike = swap is None or any(set(swap.groups()) <= family for family in FAMILIES)
        if alike and not get_operator(name).arguments():
            found.append(get_operator(name))
    return found


def faults(
    modules: Sequence[Path], kinds: Sequence[type[Operator]] | None = None
) -> dict[tuple[Path, tuple[int, int]], list[Fault]]:
    """All faults of some kinds, or of all, by the place where they are planted."""
    places = defaultdict(list)
    for module in modules:
        nodes = list(ast_nodes(get_ast(module.read_text(encoding="utf-8"))))
        for kind in operators() if kinds is None else kinds:
            # An occurrence's number counts those in type hints, too, where nothing would change.
            found = ((n, start) for n in nodes for start, _ in kind().mutation_positions(n))
            for occurrence, (node, start) in enumerate(found):
                if not _in_hint(node) and not _is_guard(node):
                    places[module, start].append(Fault(module, start[0], kind, occurrence))
    return places


def _in_hint(node: NodeOrLeaf) -> bool:
    """Whether the node is part of a type hint: nothing evaluates those."""
    while (above := node.parent) is not None:
        hints = {"annassign": above.children[1:2], "tfpdef": above.children[2:]}.get(above.type, [])
        if any(node is hint for hint in [*hints, getattr(above, "annotation", None)]):
            return True
        node = above
    return False


def _is_guard(node: NodeOrLeaf) -> bool:
    """Whether the node is the value of `strict=`, which changes nothing where lengths agree."""
    return node.parent is not None and node.parent.get_code().strip().startswith("strict=")


def rooms(module: Path, tests: Sequence[Path]) -> list[Path]:
    """The test files, those first that speak most of what the module defines."""
    text = module.read_text(encoding="utf-8")
    names = {*re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE), module.stem}
    words = {test: re.findall(r"\w+", test.read_text(encoding="utf-8")) for test in tests}
    return sorted(tests, key=lambda test: -len(names.intersection(words[test])))


def lines_of(source: str, line: int) -> range:
    """The lines that run with the statement of `line`: all of the function where `line` is in its
    head, all of the module where it runs on import."""
    statements = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt)]
    around = [n for n in statements if _first(n) <= line <= (n.end_lineno or 0)]
    around.sort(key=lambda n: (_first(n), -(n.end_lineno or 0)))
    if not any(isinstance(n, ast.FunctionDef) for n in around):
        return range(1, source.count("\n") + 1)
    inner = around[-1]
    body = [] if isinstance(inner, ast.FunctionDef) else getattr(inner, "body", [])
    return range(_first(inner), body[0].lineno if body else (inner.end_lineno or line) + 1)


def _first(node: ast.stmt) -> int:
    return min(part.lineno for part in [node, *getattr(node, "decorator_list", [])])


class Laboratory:
    """A copy of the project, in which one module at a time is faulty."""

    def __init__(self, folder: Path, hang: int, like: Laboratory | None = None) -> None:
        self.root = Path(tempfile.mkdtemp(dir=folder))
        self.hang = hang
        unneeded = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__")
        shutil.copytree(ROOT, self.root, ignore=unneeded, dirs_exist_ok=True)
        found = sorted((self.root / "tests").rglob("test_*.py"))
        self.tests = [path for path in found if not re.match(NOT_ASKED, path.stem)]
        self.watched: Path = like.watched if like else self.root  # where the tests were watched
        self.seen = like.seen if like else coverage.CoverageData(str(self.root / ".coverage"))

    def run(self, *command: str) -> subprocess.CompletedProcess:
        """`python -m` this command, in the copy and with its library."""
        paths = (str(self.root / folder) for folder in ("lib", "tests"))
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    def watch(self) -> None:
        """Run all unit tests and note which test runs which line; exit where one fails."""
        measure = ["coverage", "run", f"--source={self.root / 'lib'}", "-m"]
        done = self.run(*measure, *UNIT, "-p", "who_runs", *map(str, self.tests))
        if done.returncode:
            sys.exit(f"mutate: without a fault, too, a test fails: mend that first.\n{done.stdout}")
        self.seen.read()

    def asked(self, fault: Fault) -> list[str]:
        """The tests that run the faulty line, those first that speak most of its module."""
        source = fault.module.read_text(encoding="utf-8")
        by_line = self.seen.contexts_by_lineno(str(self.watched / fault.module.relative_to(ROOT)))
        tests = {t for k in lines_of(source, fault.line) for t in by_line.get(k, []) if t}
        whole = {t for t in tests if "::" not in t}
        tests = {t for t in tests if t.split("::")[0] not in whole} | whole
        order = [str(path.relative_to(self.root)) for path in rooms(fault.module, self.tests)]
        return sorted(tests, key=lambda test: (order.index(test.split("::")[0]), test))

    def chapters(self, fault: Fault) -> list[str]:
        """The notebooks whose outputs the module may change, those first that speak most of it."""
        served = [start for room, start in CHAPTERS.items() if room in fault.module.parts]
        beginnings = tuple(served or CHAPTERS.values())
        found = pages.in_order(self.root / "chapters")
        asked = [path for path in found if pages.name(path).startswith(beginnings)]
        word = re.compile(rf"\b{fault.module.stem}\b")
        return sorted(map(str, asked), key=lambda p: -len(word.findall(Path(p).read_text("utf-8"))))

    def beside(self, fault: Fault) -> list[str]:
        """The test files in folders of the same name as the module's."""
        return [str(p) for p in self.tests if p.parent.name == fault.module.parent.name]

    def survives(self, fault: Fault, unit_only: bool) -> bool:
        """Whether no unit test notices the fault, no stored output, and no long test beside it."""
        module, tests = self.root / fault.module.relative_to(ROOT), self.asked(fault)
        hang = f"faulthandler_timeout={self.hang}"
        hangs = ["-o", hang, "-o", "faulthandler_exit_on_timeout=true"]
        module.write_text(fault.planted(), encoding="utf-8")
        try:
            if tests and self.run(*UNIT, *hangs, *tests).returncode:
                return False
            nbval = ["--nbval", "--nbval-current-env", "-p", "nbval_numbers"]
            nbval += [f"--nbval-cell-timeout={self.hang}"]
            if unit_only or self.run(*PYTEST, *nbval, *self.chapters(fault)).returncode:
                return unit_only
            beside = self.beside(fault)
            asked = [*PYTEST, *hangs, "-m", "long", *beside]
            return not beside or self.run(*asked).returncode in (0, 5)  # 5: there is none
        finally:
            shutil.copy(fault.module, module)


def main() -> int:
    """Plant the sample; return 1 where more than 5 % survive."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sample", type=int, default=100, help="faults to plant (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--hang", type=int, default=600, help="seconds a test may take (600)")
    parser.add_argument("--jobs", type=int, default=2, help="faults tried at once (2)")
    parser.add_argument("--unit", action="store_true", help="ask the unit tests only")
    parser.add_argument("where", nargs="*", default=WHERE, help="modules or folders in reluflow")
    parser.add_argument("--weaken", action="store_true", help="only faults that weaken a check")
    options = parser.parse_args()
    found = [path for name in options.where for path in sorted(PACKAGE.glob(name))]
    modules = [m for p in found for m in (sorted(p.rglob("*.py")) if p.is_dir() else [p])]
    places = faults(modules, [Renamed, *WEAKER] if options.weaken else operators())
    rng = random.Random(options.seed)
    drawn = rng.sample(sorted(places), min(options.sample, len(places)))
    print(f"{len(drawn)} of {len(places)} places in {len(modules)} modules", flush=True)
    chosen = [rng.choice(places[place]) for place in drawn]
    with tempfile.TemporaryDirectory() as folder:
        first = Laboratory(Path(folder), options.hang)
        first.watch()
        free: queue.Queue[Laboratory] = queue.Queue()
        for k in range(options.jobs):
            free.put(Laboratory(Path(folder), options.hang, first) if k else first)

        def planted(fault: Fault) -> bool:
            """Whether the fault survives in the next laboratory that is free."""
            laboratory, start = free.get(), time.monotonic()
            try:
                lives = laboratory.survives(fault, options.unit)
            finally:
                free.put(laboratory)
            name = f"{fault.module.relative_to(PACKAGE)}:{fault.line} {fault.operator.__name__}"
            told = (
                f"{'SURVIVES' if lives else 'noticed '} {name} ({time.monotonic() - start:.0f} s)"
            )
            print("\n".join([told, fault.difference()] if lives else [told]), flush=True)
            return lives

        with ThreadPoolExecutor(options.jobs) as pool:
            survivors = sum(pool.map(planted, chosen))
    share = survivors / len(drawn)
    print(f"{survivors} of {len(drawn)} survive ({share:.1%})")
    return int(share > 0.05)


if __name__ == "__main__":
    sys.exit(main())
