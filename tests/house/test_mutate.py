"""The faults that `mutate.py` plants: they fit, they change something, and hints have none."""

from __future__ import annotations

import ast
from pathlib import Path

import mutate
import pytest

SOURCE = """
from __future__ import annotations
import numpy as np

def size(x: list | None, most: int | float = 3) -> int | None:
    kept: list | None = x
    list(zip(x, x, strict=True))
    given = {"small": lambda v: v < 1e-6 and x and kept, "large": 0.5}
    return max(abs(v) for v in kept) + np.abs(x).max() - most
"""


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Every faulty version of the module."""
    module = tmp_path / "module.py"
    module.write_text(SOURCE, encoding="utf-8")
    return {f.planted() for kinds in mutate.faults([module]).values() for f in kinds}


def test_every_fault_is_a_program_and_another_one(planted: set[str]) -> None:
    assert len(planted) > 15
    trees = {ast.dump(ast.parse(text)) for text in planted}
    assert ast.dump(ast.parse(SOURCE)) not in trees
    assert len(trees) == len(planted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max(abs(v)", "min(abs(v)"),
        ("max(abs(v)", "max((v)"),
        ("np.abs(x)", "np.positive(x)"),
        (".max()", ".min()"),
        ("+ np", "- np"),
        ("= 3", "= 4"),
        ("lambda v: v < 1e-6 and x and kept", "lambda v: True"),
        ("v < 1e-6 and x and kept", "x and kept"),
        ("v < 1e-6 and x and kept", "v < 1e-6 and kept"),
        ("v < 1e-6 and x and kept", "v < 1e-6 and x"),
        ("v < 1e-6", "v < 1e-05"),
        ("0.5", "5"),
    ],
)
def test_faults_of_numerical_code_are_among_them(planted: set[str], old: str, new: str) -> None:
    assert SOURCE.replace(old, new) in planted


TEXT = """import numpy as np
MOST = 3

def size(x, most=MOST):
    if most > 2:
        return max(
            x
        )
    return most
"""


@pytest.mark.parametrize(
    ("line", "first", "last"), [(2, 1, 9), (4, 4, 9), (5, 5, 5), (7, 6, 8), (9, 9, 9)]
)
def test_the_lines_that_run_with_one(line: int, first: int, last: int) -> None:
    assert mutate.lines_of(TEXT, line) == range(first, last + 1)
