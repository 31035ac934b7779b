"""Inputs of a check that are wrong on purpose, and that the check sees them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pandas as pd
from reluflow.ledger import Evidence
from reluflow.ledger.inventory import Claim, claims_by_id, held, load_inventories

Found = Iterable[Evidence]
Planted = Callable[[], Found]


def where(check: Planted, module: ModuleType, **made: Any) -> list[Evidence]:
    """What a check says where these constants, or makers of its input, of a module are others."""
    with patch.multiple(module, **made):
        return list(check())


def under(module: ModuleType, name: str, other: Any, check: Planted) -> Planted:
    """The check where one constant or function of a module is another one."""
    return lambda: where(check, module, **{name: other})


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


@cache
def _claims() -> dict[str, Claim]:
    return claims_by_id(load_inventories())


def judged(id: str, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The evidence, held against the limits of the inventory."""
    return held(tuple(evidence), _claims()[id].limits, id)


def seen(id: str, *planted: Iterable[Evidence], sure: Collection[str] = ()) -> list[Evidence]:
    """The evidence of planted inputs, held against the limits of the inventory: each input breaks
    some of it, and each piece that decides is broken by some input, but for those that begin with
    a word of `sure`, which no input reaches."""
    found = [judged(id, items) for items in planted]
    broken = [{item.what for item in items if item.decides and not item.holds} for items in found]
    assert all(broken), f"{id}: planted input {[*map(bool, broken)].index(False)} is not seen"
    decides = {item.what for item in chain(*found) if item.decides}
    left = {w for w in decides.difference(*broken) if not w.startswith(tuple(sure))}
    assert not left, f"{id}: nothing breaks {sorted(left)}"
    return [*chain(*found)]
