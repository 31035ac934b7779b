"""The hypotheses of a claim of our own: printed in the inventory, tested by its statements."""

from __future__ import annotations

from collections.abc import Callable

from reluflow.falsify.statement import Instance
from reluflow.ledger.inventory import claims_by_id, load_inventories


def given(id: str, **tests: Callable[[Instance], bool]) -> dict[str, Callable[[Instance], bool]]:
    """The hypotheses of a statement on a claim of our own: each sentence of its `given` with the
    test of that name.

    Parameters: `id` of the claim; `tests`, one for each name in the claim's `given`.
    Raises ValueError for a claim without `given`, and where the names are others.
    """
    claim = claims_by_id(load_inventories()).get(id)
    if claim is None or not claim.given:
        raise ValueError(f"no claim of our own {id!r} has hypotheses in the inventory")
    if unlike := sorted(claim.given.keys() ^ tests.keys()):
        where = "tested" if unlike[0] in tests else "in the inventory"
        raise ValueError(f"{id}: the hypothesis {unlike[0]!r} is only {where}")
    return {sentence: tests[name] for name, sentence in claim.given.items()}
