"""Faults that the papers' planted.py plant: inputs of a check that are wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pandas as pd
from reluflow.ledger import Evidence

Found = Iterable[Evidence]
Planted = Callable[[], Found]


def under(where: ModuleType, name: str, other: Any, judge: Planted) -> Planted:
    """What `judge` finds where a constant or a function of a module is another one."""

    def judged() -> Found:
        with patch.object(where, name, other):
            return judge()

    return judged


def changed(table: pd.DataFrame, **cells: Any) -> pd.DataFrame:
    """The table with other values in its last row."""
    table = table.copy()
    for name, value in cells.items():
        table.loc[table.index[-1], name] = value
    return table


def but(known: Callable[..., Any], when: Callable[..., bool], wrong: Callable[..., Any]) -> Any:
    """The function, with another result for arguments at which `when` holds."""

    def other(*args: Any) -> Any:
        found = known(*args)
        return wrong(found) if when(*args) else found

    return other


def each(words: str, *faults: Planted) -> tuple[tuple[str, Planted], ...]:
    """Several faults that one piece of evidence has to see."""
    return tuple((words, fault) for fault in faults)
