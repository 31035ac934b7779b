"""Many instances measured: one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import pandas as pd

T = TypeVar("T")


def survey(
    instances: Iterable[T], measure: Callable[[T], Mapping[str, Any] | None]
) -> pd.DataFrame:
    """What `measure` says of every instance, a row each; None leaves an instance out.

    Counts, shares and extremes are then one expression: `(found.gap < 0).sum()`.
    """
    return pd.DataFrame([row for item in instances if (row := measure(item)) is not None])
