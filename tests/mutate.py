"""`python tests/mutate.py --sample 100 --seed S`: plants faults in the library, one at a time.

Each fault is put into a copy of the project and tried by the tests: first the unit tests that speak
most of the faulty module, then the stored outputs of the chapters that it serves, then all other
unit tests. A fault that nothing notices is printed as a difference: read it, and write the test
that was missing, or see that the fault changes nothing.

Cosmic Ray makes the faults; `Renamed` adds those of numerical code, such as a dropped `abs`. The
sample is drawn from the places where a fault fits, and then from the faults that fit there, so that
the eleven operators that can stand for a plus do not outweigh the rest.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names
from parso.tree import NodeOrLeaf

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "reluflow"
WHERE = ("flows", "geometry*", "ledger", "falsify*", "papers")
# Tests that run chapters or builds, and those of style, are no unit tests.
NOT_ASKED = {f"test_{name}.py" for name in ["notebooks", "papermill", "book", "style", "commands"]}
CHAPTERS = {"lee2022support": "01_*", "lee2023magnitude": "02_*"}
# One operator stands for another of its family: of another one, it would only raise a TypeError.
FAMILIES = (
    {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"},
    {"BitOr", "BitAnd", "BitXor"},
    {"Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"},
    {"Is", "IsNot"},
)
FIRST = 2  # test files that make a room
# A name that is called, and what is called in its place.
OPPOSITES = {"max": "min", "argmax": "argmin", "maximum": "minimum", "fmax": "fmin", "any": "all",
             "cos": "sin", "floor": "ceil", "zeros": "ones", "hstack": "vstack"}  # fmt: skip
OTHER = OPPOSITES | {b: a for a, b in OPPOSITES.items()} | {"expm1": "exp", "log1p": "log"}


class Renamed(Operator):
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

    @classmethod
    def examples(cls) -> tuple:
        return ()


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
    found: list[type[Operator]] = [Renamed]
    for name in operator_names():
        swap = re.search(r"Replace(?:Binary|Comparison)Operator_(\w+)_(\w+)", name)
        alike = swap is None or any(set(swap.groups()) <= family for family in FAMILIES)
        if alike and not get_operator(name).arguments():
            found.append(get_operator(name))
    return found


def faults(modules: Sequence[Path]) -> dict[tuple[Path, tuple[int, int]], list[Fault]]:
    """All faults by the place where they are planted."""
    places = defaultdict(list)
    for module in modules:
        nodes = list(ast_nodes(get_ast(module.read_text(encoding="utf-8"))))
        for kind in operators():
            # An occurrence's number counts those in type hints, too, where nothing would change.
            found = ((n, start) for n in nodes for start, _ in kind().mutation_positions(n))
            for occurrence, (node, start) in enumerate(found):
                if not _in_hint(node):
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


def rooms(module: Path, tests: Sequence[Path]) -> list[Path]:
    """The test files, those first that speak most of what the module defines."""
    text = module.read_text(encoding="utf-8")
    names = {*re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE), module.stem}
    words = {test: re.findall(r"\w+", test.read_text(encoding="utf-8")) for test in tests}
    return sorted(tests, key=lambda test: -len(names.intersection(words[test])))


class Laboratory:
    """A copy of the project, in which one module at a time is faulty."""

    def __init__(self, folder: Path, hang: int) -> None:
        self.root = folder / "copy"
        self.hang = hang
        unneeded = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__")
        shutil.copytree(ROOT, self.root, ignore=unneeded)
        found = sorted((self.root / "tests").glob("test_*.py"))
        self.tests = [path for path in found if path.name not in NOT_ASKED]
        self.sound: set[Path] = set()  # tests that were seen to pass

    def passes(self, tests: Sequence[Path]) -> bool:
        """Whether these tests or notebooks pass; a unit test of over `hang` seconds does not."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        if tests[0].suffix == ".ipynb":
            command += ["--nbval", "--nbval-current-env", "-p", "nbval_numbers"]
            command += [f"--nbval-cell-timeout={self.hang}"]
            options = []
        else:
            command += ["-m", "not long"]
            options = [f"faulthandler_timeout={self.hang}", "faulthandler_exit_on_timeout=true"]
        command += [part for o in ["addopts=", *options] for part in ("-o", o)]
        paths = (str(self.root / folder) for folder in ("lib", "tests"))
        run = subprocess.run(
            [*command, *map(str, tests)],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            check=False,
        )
        return run.returncode == 0

    def notices(self, fault: Fault, tests: Sequence[Path]) -> bool:
        """Whether one of these tests, all of which pass without it, fails with the fault."""
        new = [test for test in tests if test not in self.sound]
        if new and not self.passes(new):
            names = ", ".join(test.name for test in new)
            sys.exit(f"mutate: without a fault, too, a test fails in {names}: mend that first.")
        self.sound.update(new)
        module = self.root / fault.module.relative_to(ROOT)
        module.write_text(fault.planted(), encoding="utf-8")
        try:
            return not self.passes(tests)
        finally:
            shutil.copy(fault.module, module)

    def survives(self, fault: Fault, everywhere: bool) -> bool:
        """Whether no test of its room notices the fault and, `everywhere`, no other either."""
        order = rooms(fault.module, self.tests)
        stages = [order[:FIRST], self.chapters(fault.module), order[FIRST:]]
        return not any(self.notices(fault, tests) for tests in stages[: 3 if everywhere else 1])

    def chapters(self, module: Path) -> list[Path]:
        """The notebooks whose outputs the module may change."""
        served = [p for room, p in CHAPTERS.items() if room in module.parts] or CHAPTERS.values()
        return [path for p in served for path in sorted((self.root / "chapters").glob(p))]


def main() -> int:
    """Plant the sample; return 1 where more than 5 % survive."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sample", type=int, default=100, help="faults to plant (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--hang", type=int, default=600, help="seconds a test may take (600)")
    parser.add_argument("--rooms", action="store_true", help="ask only the tests nearest to it")
    parser.add_argument("where", nargs="*", default=WHERE, help="modules or folders in reluflow")
    options = parser.parse_args()
    found = [path for name in options.where for path in sorted(PACKAGE.glob(name))]
    modules = [m for p in found for m in (sorted(p.rglob("*.py")) if p.is_dir() else [p])]
    places = faults(modules)
    rng = random.Random(options.seed)
    drawn = rng.sample(sorted(places), min(options.sample, len(places)))
    print(f"{len(drawn)} of {len(places)} places in {len(modules)} modules", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder), options.hang)
        for number, place in enumerate(drawn, start=1):
            fault, start = rng.choice(places[place]), time.monotonic()
            lives = laboratory.survives(fault, not options.rooms)
            survivors += [fault] * lives
            name = f"{fault.module.relative_to(PACKAGE)}:{fault.line} {fault.operator.__name__}"
            spent = f"{time.monotonic() - start:.0f} s"
            print(f"{number:3} {'SURVIVES' if lives else 'noticed '} {name} ({spent})", flush=True)
            if lives:
                print(fault.difference(), flush=True)
    share = len(survivors) / len(drawn)
    print(f"{len(survivors)} of {len(drawn)} survive ({share:.1%})")
    return int(share > 0.05)


if __name__ == "__main__":
    sys.exit(main())
