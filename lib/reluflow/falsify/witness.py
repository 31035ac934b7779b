"""Witnesses: an instance at which a statement fails, for every statement that stands.

A check that cannot fail proves nothing. So a statement has an instance outside its hypotheses, or
outside of what it is drawn from, at which its slack must be negative; one whose conclusion no
instance breaks has an instance at which a stronger one would fail. The record has the slack there.
Each hypothesis has an instance that it must reject. An attempt to falsify ends in an error where
one of this does not come out.

They stand in `data/witnesses`, one file a paper, by the statement's phrase, and were found by
`tests/witnesses.py`; some stand in the code.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from reluflow.falsify.statement import Instance, Statement
from reluflow.places import WITNESSES


@dataclass(frozen=True)
class Witness:
    """The instance of a statement; `stands` where only a stronger statement fails there; `rejects`,
    hypothesis -> an instance that does not meet it."""

    at: Instance
    stands: bool = False
    rejects: Mapping[str, Instance] = field(default_factory=dict)


def witness(statement: Statement, folder: Path = WITNESSES) -> Witness | None:
    """The witness of a statement, if it has one."""
    if statement.witness is not None:
        return Witness(statement.witness)
    for file in sorted(folder.glob("*.json")):
        found = json.loads(file.read_text(encoding="utf-8")).get(statement.says)
        if found is not None:
            rejects = {name: decoded(at) for name, at in found.get("rejects", {}).items()}
            return Witness(decoded(found["at"]), "stands" in found, rejects)
    return None


def slack_at(statement: Statement, known: Witness) -> float:
    """The slack at the witness.

    Raises ValueError where the statement does not fail there though it must, and for a hypothesis
    that is gone or does not reject its instance any more.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a witness may lie where no code expects an instance
        slack = float(statement.slack(known.at))
        rejects = {name: _rejects(statement, name, at) for name, at in known.rejects.items()}
    if statement.fails(slack) == known.stands:
        breaks = "breaks it" if known.stands else "breaks nothing"
        raise ValueError(
            f"{statement.says}: the slack at its witness is {slack:.3g}, which {breaks}: the check "
            f"is another one than that for which the witness was found"
        )
    for name, wrong in rejects.items():
        if wrong:
            raise ValueError(f"{statement.says}: the hypothesis {name!r} {wrong}")
    return slack


def _rejects(statement: Statement, name: str, at: Instance) -> str:
    """What is wrong with a hypothesis that must reject an instance; empty where nothing is."""
    if (test := statement.hypotheses.get(name)) is None:
        return "is gone"
    return "does not reject the instance that it must" if test(at) else ""


def encoded(instance: Instance) -> dict[str, Any]:
    """An instance of arrays, numbers and texts as JSON data. Raises TypeError for other values."""
    return {name: _encoded(value) for name, value in instance.items()}


def _encoded(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        return {"array": value.tolist(), "of": value.dtype.kind}
    if isinstance(value, np.generic) and value.dtype.kind in "iufb":
        return value.item()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [_encoded(item) for item in value]}
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        parts = {part.name: _encoded(getattr(value, part.name)) for part in fields(value)}
        return {"made": f"{kind.__module__}:{kind.__qualname__}", "of": parts}
    raise TypeError(f"{value!r} is no array, number or text, and not made of those")


def decoded(data: Mapping[str, Any]) -> dict[str, Any]:
    """The instance that `encoded` wrote."""
    return {name: _decoded(value) for name, value in data.items()}


def _decoded(data: Any) -> Any:
    if not isinstance(data, Mapping):
        return data
    if "array" in data:
        kinds = {"i": int, "u": np.uint64, "f": float, "b": bool}
        return np.array(data["array"], dtype=kinds[data["of"]])
    if "made" in data:
        module, name = data["made"].split(":")
        return getattr(import_module(module), name)(**decoded(data["of"]))
    (kind,) = data
    items = [_decoded(item) for item in data[kind]]
    return tuple(items) if kind == "tuple" else items
