"""The paper's assumptions on data (Section 2): A1, A2 and A3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.datasets import data_row
from reluflow.errors import InputError
from reluflow.geometry import rank


def assumptions(X: ArrayLike, y: ArrayLike) -> dict[str, bool]:
    """Which of A1 (x_i >= 0, not 0), A2 (y_i > 0) and A3 (rank X = d) hold for X (n, d), y (n,)."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    broken = {name for name, _ in _faults(X, y)}
    return {"A1": "A1" not in broken, "A2": "A2" not in broken, "A3": rank(X) == X.shape[1]}


def meets(item: Mapping[str, Any], *names: str, d: int | None = None) -> bool:
    """Whether the data "X", "y" of an instance meet the assumptions named, in d dimensions."""
    found = assumptions(item["X"], item["y"])
    return all(found[name] for name in names) and d in (None, np.shape(item["X"])[1])


def check_assumptions(X: NDArray, y: NDArray) -> None:
    """Refuse data X (n, d), y (n,) outside A1 or A2.

    A3 is a choice of coordinates: data that span less are followed in their span, by the reduction
    principle, Corollary E.2. Raises InputError naming the first assumption that fails and the row
    where it does.
    """
    for _, fault in _faults(X, y):
        raise InputError(fault)


def _faults(X: NDArray, y: NDArray) -> Iterator[tuple[str, str]]:
    """Every assumption on rows that a row breaks, and a sentence that says so."""
    for i, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        a1 = f"assumption A1 (x_i >= 0, x_i != 0) fails in {data_row(i)}: "
        if not np.all(x >= 0):
            k = int(np.argmin(x >= 0))
            yield "A1", f"{a1}feature {k + 1} is {x[k]:g}, below zero."
        elif not np.any(x):
            yield "A1", f"{a1}every feature is zero."
        if not label > 0:
            yield "A2", f"assumption A2 (y_i > 0) fails in {data_row(i)}: the label is {label:g}."
