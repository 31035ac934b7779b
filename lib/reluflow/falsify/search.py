"""Descent of a statement's slack from the worst instances that were drawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from reluflow.falsify.statement import Instance, Statement

_SHARE = 20
_HUGE = 1e300
_FAR = 30.0


@dataclass(frozen=True)
class Found:
    """A drawn instance that meets the hypotheses, and its slack."""

    slack: float
    kind: str
    instance: Instance


def worst(found: Sequence[Found], number: int) -> list[Instance]:
    """The worst instance of each of `number` kinds, the worst first; `found` is in order."""
    first: dict[str, Instance] = {}
    for item in found:
        first.setdefault(item.kind, item.instance)
    return list(first.values())[:number]


class Search:
    """Descent of the slack: where it is lowest (`at`), how low, and what was evaluated."""

    def __init__(self, statement: Statement, known: Sequence[Found]) -> None:
        self.statement = statement
        self.at = known[0].instance if known else None
        self.lowest = known[0].slack if known else np.inf
        self.signed = {
            name
            for item in known
            for name, value in item.instance.items()
            if np.asarray(value).dtype.kind == "f" and np.any(np.asarray(value) < 0)
        }
        self.used = self.outside = 0

    def lower(self, starts: Sequence[Instance], budget: int) -> None:
        """Run the simplex from each start, from as many as can have _SHARE steps a variable."""
        paths = [_Coordinates(item, self.statement.fixed, self.signed) for item in starts]
        paths = [path for path in paths if path.size]
        if not paths:
            return
        number = min(max(budget // (_SHARE * paths[0].size), 1), len(paths))
        for k, path in enumerate(paths[:number]):
            self._simplex(path, (budget - self.used) // (number - k))

    def _simplex(self, path: _Coordinates, share: int) -> None:
        """Nelder-Mead, started again with a simplex to the other side wherever it has closed.

        The plain coefficients beat the adaptive ones, Powell's method and differential evolution on
        planted claims of 6 to 12 variables.
        """
        z, step, end = np.zeros(path.size), 0.2, self.used + share
        while self.used < end:
            left = end - self.used
            options = {
                "initial_simplex": np.vstack([z, z + step * np.eye(path.size)]),
                "maxfev": left,
                "maxiter": left,
                "xatol": 1e-4,
                "fatol": 1e-6 * min(abs(self.lowest), 1.0),
            }
            z = minimize(
                lambda at: self._slack(path.instance(at)), z, method="Nelder-Mead", options=options
            ).x
            step = -step

    def _slack(self, moved: Instance) -> float:
        """The slack, huge outside the hypotheses and where it is undecided; never infinite, for the
        simplex takes differences."""
        self.used += 1
        instance = self.statement.derived(moved)
        if self.statement.unmet(instance) is not None:
            self.outside += 1
            return _HUGE
        slack = float(self.statement.slack(instance))
        if slack < self.lowest:
            self.at, self.lowest = instance, slack
        return _HUGE if np.isnan(slack) else float(np.clip(slack, -_HUGE, _HUGE))


class _Coordinates:
    """Coordinates around an instance: the logarithms of the positive entries of an array without
    negative ones, so that signs and zeros stay, and multiples of its size for the entries of a
    `signed` array or one with a negative entry. Only arrays of floats move."""

    def __init__(
        self, start: Instance, fixed: tuple[str, ...], signed: Collection[str] = ()
    ) -> None:
        self.start = start
        self.moving: list[tuple[str, NDArray, NDArray, float]] = []
        self.size = 0
        for name, given in start.items():
            value = np.asarray(given)
            if name in fixed or value.dtype.kind != "f" or not np.isfinite(value).all():
                continue
            length = 0.0
            if name in signed or np.any(value < 0):
                length = float(np.sqrt(np.mean(value**2)))
            free = np.full(value.shape, True) if length else value > 0
            self.moving.append((name, value, free, length))
            self.size += int(free.sum())

    def instance(self, z: NDArray) -> dict[str, NDArray]:
        out, first = dict(self.start), 0
        for name, value, free, length in self.moving:
            step = np.zeros(value.shape)
            last = first + int(free.sum())
            step[free] = z[first:last]
            first = last
            grown = np.exp(np.clip(step, -_FAR, _FAR))
            out[name] = value + length * step if length else value * grown
        return out
