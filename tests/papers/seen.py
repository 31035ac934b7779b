"""What planted inputs share: where a fault is put, and that a check sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any
from unittest.mock import patch

from reluflow.ledger import Evidence
from reluflow.ledger.inventory import Claim, claims_by_id, held, load_inventories


@cache
def _claims() -> dict[str, Claim]:
    return claims_by_id(load_inventories())


def judged(id: str, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The evidence, held against the limits of the inventory."""
    return held(tuple(evidence), _claims()[id].limits, id)


def where(
    check: Callable[[], Iterable[Evidence]], module: ModuleType, **made: Any
) -> list[Evidence]:
    """What a check says where these constants, or makers of its input, of a module are others."""
    with patch.multiple(module, **made):
        return list(check())


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
