"""`python tests/mutate.py --sample 100 --seed S`: plants faults in the library, one at a time.

Each fault is put into a copy of the project and tried by the unit tests, those files first that
speak most of its module, by the stored outputs of the chapters that it serves, and at last by the
long tests in the folder of its own name, as those that make records again. A fault that nothing
notices is printed as a difference: read it, and write the test that was missing, or see that the
fault changes nothing.

The sample is drawn from the places where a fault fits, and then from the faults that fit there, so
that the six signs that can stand for a plus do not outweigh the rest.
"""

import argparse
import ast
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from reluflow import pages

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "reluflow"
WHERE = ("flows", "geometry*", "ledger", "falsify*", "margin", "papers")
# Tests that run chapters, builds or browsers, and those of style, are no unit tests.
NOT_ASKED = "test_(notebooks|book|repository|commands|browser.*)$"
CHAPTERS = {"lee2022support": "01_", "lee2023magnitude": "02_", "min2024early": "03_",
            "phuong2021inductive": "04_", "vardi2022margin": "05_"}  # fmt: skip
SECONDS = 600  # what takes longer hangs
FEW = 5  # files that are asked before the others are even read
PYTEST = ["pytest", "-x", "-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib",
          "-o", f"faulthandler_timeout={SECONDS}",
          "-o", "faulthandler_exit_on_timeout=true"]  # fmt: skip
# One sign stands for another of its family: one of another family would only raise a TypeError.
FAMILIES = (
    (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
    (ast.BitOr, ast.BitAnd, ast.BitXor),
    (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.And, ast.Or),
)
# A name that is called, and what is called in its place.
OPPOSITES = {"max": "min", "argmax": "argmin", "maximum": "minimum", "fmax": "fmin", "any": "all",
             "cos": "sin", "floor": "ceil", "zeros": "ones", "hstack": "vstack"}  # fmt: skip
OTHER = OPPOSITES | {b: a for a, b in OPPOSITES.items()} | {"expm1": "exp", "log1p": "log"}


def any_fault(node: ast.AST, above: ast.AST) -> Iterator[Any]:
    """What may stand in the place of a node below another: a condition left out or turned round, a
    limit ten times as wide, a hypothesis that is always met; a function that is its opposite, or
    the identity; another sign, another number, no loop."""
    called = isinstance(above, ast.Call) and above.func is node
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            for k in range(len(values)):
                left = values[:k] + values[k + 1 :]
                yield ast.BoolOp(ast.And(), left) if len(left) > 1 else left[0]
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            yield from (left, right)
        case ast.Constant(value=float(value)) if 0.0 < value < 1.0:
            yield ast.Constant(float(f"{10.0 * value:g}"))
        case ast.Lambda(args=args) if isinstance(above, ast.Dict):
            yield ast.Lambda(args, ast.Constant(True))
        case ast.Call(func=ast.Name("abs") | ast.Attribute(attr="abs"), args=[inner]):
            yield inner
        case ast.Name(id=name) if called and name in OTHER:
            yield ast.Name(OTHER[name])
        case ast.Attribute(value, name) if called and name in OTHER:
            yield ast.Attribute(value, OTHER[name])
    match node:
        case ast.operator() | ast.cmpop() | ast.boolop():
            for family in FAMILIES:
                yield from (k() for k in family if type(node) in family and k is not type(node))
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Break() | ast.Continue():
            yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()
    if isinstance(above, (ast.If, ast.IfExp, ast.While)) and above.test is node:
        yield ast.UnaryOp(ast.Not(), node)
    if isinstance(above, ast.For) and above.iter is node:
        yield ast.List([], ast.Load())


class Place(NamedTuple):
    """A place in a module's tree, in this part of the node above it; it begins near this line."""

    tree: ast.Module
    above: ast.AST
    part: Any
    key: Any
    line: int

    def faults(self) -> list[str]:
        """The faulty texts of the module."""
        right, texts = self.part[self.key], []
        for wrong in list(any_fault(right, self.above)):
            self.part[self.key] = wrong
            texts.append(ast.unparse(self.tree))
        self.part[self.key] = right
        return texts


def places(source: str) -> list[Place]:
    """Where in a module a fault fits: not in type hints, which nothing evaluates, nor at `strict=`,
    which changes nothing where lengths agree."""
    tree, found = ast.parse(source), []
    todo: list[tuple[ast.AST, int]] = [(tree, 1)]
    for above, line in todo:
        for name, inner in ast.iter_fields(above):
            if name in ("annotation", "returns") or getattr(above, "arg", "") == "strict":
                continue
            listed = isinstance(inner, list)
            part, keys = (inner, range(len(inner))) if listed else (vars(above), [name])
            for key in (key for key in keys if isinstance(part[key], ast.AST)):
                todo.append((part[key], getattr(part[key], "lineno", line)))
                if any(any_fault(part[key], above)):
                    found.append(Place(tree, above, part, key, todo[-1][1]))
    return found


def difference(module: Path, text: str) -> str:
    """The fault as a difference; formatting and comments are none."""
    right = ast.unparse(ast.parse(module.read_text("utf-8")))
    name = str(module.relative_to(ROOT))
    lines = (right.splitlines(), text.splitlines())
    return "\n".join(difflib.unified_diff(*lines, name, name, n=1, lineterm=""))


def asked(module: Path, tests: list[Path]) -> list[Path]:
    """The files, those first that speak most of what the module defines."""
    text = module.read_text("utf-8")
    names = {*re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE), module.stem}
    words = {test: re.findall(r"\w+", test.read_text("utf-8")) for test in tests}
    return sorted(tests, key=lambda test: -len(names.intersection(words[test])))


def chapters(module: Path) -> list[Path]:
    """The notebooks whose outputs the module may change, those first that speak most of it."""
    served = [start for room, start in CHAPTERS.items() if room in module.parts]
    starts = tuple(served or CHAPTERS.values())
    found = [p for p in pages.in_order(ROOT / "chapters") if pages.name(p).startswith(starts)]
    word = re.compile(rf"\b{module.stem}\b")
    return sorted(found, key=lambda page: -len(word.findall(page.read_text("utf-8"))))


def survives(module: Path, text: str, unit_only: bool) -> bool:
    """Whether no unit test notices the text in the module's place, no stored output, and no long
    test beside it."""
    found = sorted((ROOT / "tests").rglob("test_*.py"))
    tests = asked(module, [path for path in found if not re.match(NOT_ASKED, path.stem)])
    beside = [path for path in tests if path.parent.name == module.parent.name]
    nbval = ["--nbval", "--nbval-current-env", "-p", "nbval_numbers"]
    nbval += [f"--nbval-cell-timeout={SECONDS}"]
    unit = [*PYTEST, "-m", "not long and not matrix"]
    asks = [[*unit, *tests[:FEW]], [*unit, *tests[FEW:]]]
    if not unit_only:
        asks += [[*PYTEST, *nbval, *chapters(module)]]
        asks += [[*PYTEST, "-m", "long", *beside]] if beside else []
    with tempfile.TemporaryDirectory() as folder:
        unneeded = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=unneeded, dirs_exist_ok=True)
        (folder / module.relative_to(ROOT)).write_text(text, "utf-8")
        paths = os.pathsep.join(f"{folder}/{name}" for name in ("lib", "tests"))
        env = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
        for ask in asks:
            here = [p.relative_to(ROOT) if isinstance(p, Path) else p for p in ask]
            command = [sys.executable, "-m", *map(str, here)]
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
            if done.returncode not in (0, 5):  # 5: there is no such test
                return False
    return True


def main() -> int:
    """Plant the sample; return 1 where more than 5 % survive."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sample", type=int, default=100, help="faults to plant (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--jobs", type=int, default=2, help="faults tried at once (2)")
    parser.add_argument("--unit", action="store_true", help="ask the unit tests only")
    parser.add_argument("where", nargs="*", default=WHERE, help="modules or folders in reluflow")
    options = parser.parse_args()
    found = [path for name in options.where for path in sorted(PACKAGE.glob(name))]
    modules = [m for p in found for m in (sorted(p.rglob("*.py")) if p.is_dir() else [p])]
    fitting = [(m, place) for m in modules for place in places(m.read_text("utf-8"))]
    rng = random.Random(options.seed)
    drawn = rng.sample(fitting, min(options.sample, len(fitting)))
    print(f"{len(drawn)} of {len(fitting)} places in {len(modules)} modules", flush=True)
    planted = [(m, place.line, rng.choice(place.faults())) for m, place in drawn]
    if not survives(modules[0], modules[0].read_text("utf-8"), unit_only=True):
        sys.exit("mutate: without a fault, too, a unit test fails: mend that first.")

    def lives(fault: tuple[Path, int, str]) -> bool:
        module, line, text = fault
        found = survives(module, text, options.unit)
        told = f"{'SURVIVES' if found else 'noticed '} {module.relative_to(PACKAGE)}:{line}"
        print("\n".join([told, difference(module, text)] if found else [told]), flush=True)
        return found

    with ThreadPoolExecutor(options.jobs) as pool:
        share = sum(pool.map(lives, planted)) / len(planted)
    print(f"{share:.1%} of {len(planted)} survive")
    return int(share > 0.05)


if __name__ == "__main__":
    sys.exit(main())
