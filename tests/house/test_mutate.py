"""The faults that `mutate.py` plants: they fit, they change something, and hints have none."""

from __future__ import annotations

import ast

import mutate
import pytest

SOURCE = """
from __future__ import annotations
import numpy as np

def size(x: list | None, most: int | float = 3) -> int | None:
    kept: list | None = x
    list(zip(x, x, strict=True))
    given = {"small": lambda v: v < 1e-06 and x and kept, "large": 0.5}
    while (x > 1) & (x < 2):
        break
    return max(abs(v) for v in kept) + np.abs(x).max() - most
"""
RIGHT = ast.unparse(ast.parse(SOURCE))


def planted(kind: mutate.Faults) -> list[str]:
    """Every faulty version of the module."""
    return [text for place in mutate.places(SOURCE, kind) for text in place.faults(kind)]


def test_every_fault_is_a_program_and_another_one() -> None:
    texts = planted(mutate.any_fault)
    assert len(texts) > 40
    assert len({RIGHT, *(ast.unparse(ast.parse(text)) for text in texts)}) == len(texts) + 1


@pytest.mark.parametrize(
    ("old", "new", "weakens"),
    [
        ("max((abs(v)", "min((abs(v)", True),
        ("abs(v)", "v", True),
        ("v < 1e-06 and x and kept", "True", True),
        ("v < 1e-06 and x and kept", "v < 1e-06 and x", True),
        ("v < 1e-06", "v < 1e-05", True),
        ("(x > 1) & (x < 2)", "x < 2", True),
        ("v < 1e-06 and x and kept", "v < 1e-06 or x or kept", False),
        ("+ np", "- np", False),
        ("0.5", "-0.5", False),
        ("(x > 1) & (x < 2)", "not (x > 1) & (x < 2)", False),
        ("break", "continue", False),
    ],
)
def test_faults_of_numerical_code_are_among_them(old: str, new: str, weakens: bool) -> None:
    assert RIGHT.count(old) == 1
    wrong = RIGHT.replace(old, new)
    assert wrong in planted(mutate.any_fault)
    assert (wrong in planted(mutate.weaker)) == weakens
