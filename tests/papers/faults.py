"""Each claim that is settled without a Statement: its check fails where a fault is planted.

A paper's `test_planted.py` has for each such claim a function without arguments: the deciding
evidence of that claim, of an input that is wrong on purpose. Where several pieces of evidence
decide it has pairs instead: some words, and a function; every piece with these words has to fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
from reluflow.falsify.attempt import FIXED, WITNESS
from reluflow.ledger import Evidence, Row, read
from reluflow.ledger.inventory import Claim, claims_by_id, held, load_inventories
from reluflow.places import CHAPTERS

COUNT = re.compile(r"\d+")
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
    return tuple(held(item, _claims()[id].limits, id) for item in evidence)


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


@cache
def settled_without() -> dict[str, Row]:
    """The rows of claims that stand, and whose evidence has no statement with a witness."""
    witnessed = {WITNESS, FIXED}
    return {
        row.claim.id: row
        for row in read(CHAPTERS)
        if row.counterexample is None and witnessed.isdisjoint(item.what for item in row.evidence)
    }


def sees(planted: Mapping[str, Planted | Sequence[tuple[str, Planted]]]) -> Callable[..., None]:
    """The test of a paper's planted inputs."""
    faults = [
        (id, words, fault)
        for id, one in sorted(planted.items())
        for words, fault in ([("", one)] if callable(one) else one)
    ]

    @pytest.mark.parametrize(
        ("id", "words", "fault"), faults, ids=[f"{id}: {words}" for id, words, _ in faults]
    )
    def test(id: str, words: str, fault: Planted) -> None:
        """What fails is evidence by which the claim's page decides, counts in its words aside."""
        row = settled_without()[id]
        page = {COUNT.sub("", item.what) for item in row.evidence if item.decides}
        found = [held(item, row.claim.limits, id) for item in fault() if item.decides]
        known = [item for item in found if COUNT.sub("", item.what) in page]
        named = [item for item in known if words == item.what]
        aimed = named or [item for item in known if words in item.what]
        assert aimed, f"{id}: the page decides by nothing with the words {words!r}"
        assert (any if words == "" else all)(not item.holds for item in aimed), f"{id} holds"

    return test
