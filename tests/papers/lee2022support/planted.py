"""A planted input for each claim of the paper that is settled without a Statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reluflow.ledger import Evidence

PLANTED: dict[str, Callable[[], Iterable[Evidence]]] = {}
