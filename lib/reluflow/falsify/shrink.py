"""The smallest readable instance that contradicts a statement, by Hypothesis or by rounding."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample

from reluflow.falsify.statement import Instance, Statement


def shrink(statement: Statement, found: Instance, seed: int, examples: int = 3000) -> Instance:
    """A small readable instance that contradicts the statement, at worst `found` itself.

    Hypothesis seeks one among `examples` of the statement's readable instances and simplifies it;
    failing that, the arrays of `found` are rounded to the fewest significant digits that still
    contradict, first all of them alike and then each by itself. Raises ValueError where `found`
    does not contradict the statement.
    """
    if not statement.broken_by(found):
        raise ValueError(f"the instance does not contradict: {statement.says}")
    small = readable(statement, seed, examples)
    if small is not None:
        return small
    best = found
    for names in (list(found), *([name] for name in found)):
        for digits in range(1, 17):
            shorter = {name: _significant(best[name], digits) for name in names}
            rounded = statement.derived({**best, **shorter})
            if statement.broken_by(rounded):
                best = rounded
                break
    return best


def readable(statement: Statement, seed: int, examples: int) -> Instance | None:
    """The simplest of the readable instances that contradict the statement, if one is found."""
    if statement.readable is None:
        return None

    def breaks(instance: Instance) -> bool:
        try:
            return statement.broken_by(instance)
        except Exception as error:
            raise _Raised(error) from error

    quiet = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        return find(statement.readable, breaks, settings=quiet, random=random.Random(seed))
    except NoSuchExample:
        return None
    except _Raised as stop:
        raise stop.error from None


class _Raised(BaseException):
    """Carries an exception out of Hypothesis, which would shrink it, or hide it behind another."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def _significant(given: Any, digits: int) -> Any:
    values = np.asarray(given)
    if values.dtype.kind != "f":
        return given
    flat = [float(f"{v:.{digits - 1}e}") for v in values.ravel()]
    return np.array(flat).reshape(values.shape)
