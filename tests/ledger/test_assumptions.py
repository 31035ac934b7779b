"""The assumptions of counterexamples are computed, or say why there is nothing to compute."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from reluflow.places import LIBRARY

SOURCES = sorted((LIBRARY / "papers").rglob("*.py"))


def taken_for_granted(source: str) -> Iterator[str]:
    """The assumptions of a source's counterexamples that are the word True, also where a function
    of the same source makes them."""
    tree = ast.parse(source)
    made = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    given = (k.value for call in calls for k in call.keywords if k.arg == "assumptions")
    for mapping in given:
        assert isinstance(mapping, (ast.Dict, ast.Call)), ast.dump(mapping)
        maker = made.get(getattr(getattr(mapping, "func", None), "id", ""), mapping)
        for node in ast.walk(maker):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                yield from (
                    ast.unparse(key)
                    for key, value in pairs
                    if key and isinstance(value, ast.Constant) and not isinstance(value.value, str)
                )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_assumption_is_taken_for_granted(path: Path) -> None:
    assert not list(taken_for_granted(path.read_text("utf-8")))


def test_the_word_true_is_seen() -> None:
    source = (
        """Counterexample(assumptions={**more(x), "A1": True, "A2": x > 0, "A3": "as drawn"})"""
    )
    assert list(taken_for_granted(source)) == ["'A1'"]
    source = "def given():\n    return {'A1': True}\n\nCounterexample(assumptions=given())"
    assert list(taken_for_granted(source)) == ["'A1'"]
