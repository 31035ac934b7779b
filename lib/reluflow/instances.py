"""Draws of instances on which universally quantified claims are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

Arrays = Mapping[str, Any]
Draws = dict[str, Callable[[np.random.Generator], Arrays]]


def extended(draws: Draws, more: Callable[[Arrays, np.random.Generator], Arrays]) -> Draws:
    """The draws, each instance with the arrays that `more(instance, rng)` adds or replaces."""

    def one(rng: np.random.Generator, base: Callable[[np.random.Generator], Arrays]) -> Arrays:
        item = base(rng)
        return {**item, **more(item, rng)}

    return {kind: partial(one, base=base) for kind, base in draws.items()}
