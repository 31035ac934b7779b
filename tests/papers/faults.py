"""Each claim that is settled without a Statement: its check fails where a fault is planted.

A paper's `test_planted.py` has for each such claim a function that makes the evidence of one wrong
input after the other, or pairs: words of a piece of evidence that has to fail, and a function.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from types import MappingProxyType, ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from reluflow.falsify.attempt import FIXED, WITNESS
from reluflow.ledger import Evidence, Row, read
from reluflow.ledger.inventory import held
from reluflow.places import CHAPTERS

COUNT = re.compile(r"\d+")
Found = Iterable[Evidence]
Check = Callable[[], Found]
Planted = Callable[[], Iterable[Found]]


def where(check: Check, module: ModuleType, **made: Any) -> list[Evidence]:
    """What a check says where these constants, or makers of its input, of a module are others."""
    with patch.multiple(module, **made):
        return list(check())


def under(module: ModuleType, name: str, other: Any, check: Check) -> Check:
    """The check where one constant or function of a module is another one."""
    return lambda: where(check, module, **{name: other})


def at(check: Check, module: ModuleType, *made: Mapping[str, Any]) -> Planted:
    """The check where these names of a module are others, once for each of the faults."""
    return lambda: (where(check, module, **one) for one in made)


def put(values: NDArray, where: Any, value: Any) -> NDArray:
    """A copy with other values there."""
    other = np.array(values)
    other[where] = value
    return other


def changed(table: pd.DataFrame, **cells: Any) -> pd.DataFrame:
    """The table with other values in its last row."""
    table = table.copy()
    for name, value in cells.items():
        table.loc[table.index[-1], name] = value
    return table


def but(known: Callable[..., Any], when: Callable[..., bool], wrong: Callable[..., Any]) -> Any:
    """The function, with another result for arguments at which `when` holds."""

    def other(*args: Any, **options: Any) -> Any:
        found = known(*args, **options)
        return wrong(found) if when(*args) else found

    return other


def at_call(known: Callable[..., Any], number: int, wrong: Callable[..., Any]) -> Any:
    """The function, with another result for one of its calls."""
    calls = count()
    return but(known, lambda *_: next(calls) == number, wrong)


def each(words: str, *faults: Check) -> tuple[tuple[str, Check], ...]:
    """Several faults that one piece of evidence has to see."""
    return tuple((words, fault) for fault in faults)


@cache
def settled_without() -> dict[str, Row]:
    """The rows of claims that stand, and whose evidence has no statement with a witness."""
    witnessed = {WITNESS, FIXED}
    return {
        row.claim.id: row
        for row in read(CHAPTERS)
        if row.counterexample is None and witnessed.isdisjoint(item.what for item in row.evidence)
    }


def _faults(planted: Planted | Sequence[tuple[str, Check]]) -> Iterator[tuple[str, Found]]:
    """The evidence of one input after the other, and the words of what each is to break."""
    if callable(planted):
        yield from (("", found) for found in planted())
    else:
        yield from ((words, fault()) for words, fault in planted)


def sees(
    planted: Mapping[str, Planted | Sequence[tuple[str, Check]]],
    sure: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Callable[[str], None]:
    """The test of a paper's planted inputs. Each breaks evidence by which the claim's page decides,
    counts in its words aside, and that with its words, if it has some. Each piece that decides is
    broken by one of them, but for those that begin with words of `sure`, which no input reaches."""

    @pytest.mark.parametrize("id", sorted(planted))
    def test(id: str) -> None:
        row = settled_without()[id]
        page = {COUNT.sub("", item.what) for item in row.evidence if item.decides}
        left, broken = set(page), set[str]()
        for number, (words, evidence) in enumerate(_faults(planted[id])):
            found = [held(item, row.claim.limits, id) for item in evidence if item.decides]
            known = [item for item in found if COUNT.sub("", item.what) in page]
            named = [item for item in known if words == item.what]
            aimed = named or [item for item in known if words in item.what]
            assert aimed, f"{id}: the page decides by nothing with the words {words!r}"
            fails = any if words == "" else all
            assert fails(not item.holds for item in aimed), f"fault {number} ({words}) is not seen"
            left |= {item.what for item in found if not words}
            for item in (item for item in found if not item.holds):
                broken |= {item.what, COUNT.sub("", item.what)}
        left = {what for what in left - broken if not what.startswith(tuple(sure.get(id, ())))}
        assert not left, f"{id}: nothing breaks {sorted(left)}"

    return test
