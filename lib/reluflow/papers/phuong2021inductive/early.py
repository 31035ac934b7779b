"""Lemma 1: where small neurons are by the time their limit flow is at home, and how small is
small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.flows.alignment import align
from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.geometry.separability import serves, silent
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import LOGISTIC
from reluflow.papers.phuong2021inductive.critical import any_data, summits
from reluflow.supports import supported

LOG_SIZES = (1.0, 0.0, -1.0, -2.0, -3.0, -4.0, -12.0)
"""ln of the largest norm at the start."""
_TOO_SMALL = -400.0


@dataclass(frozen=True)
class Directions:
    """Data X (n, d), y (n,), first directions W0 (p, d) and signs (p,) of a_j."""

    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray

    @property
    def times(self) -> NDArray:
        """When each neuron (p,) comes home in the limit of small weights; pulls are y / 2 there."""
        found = [align(self.X, self.y, w, s) for w, s in zip(self.W0, self.signs, strict=True)]
        return np.array([2.0 * one.time for one in found])


def at_home(given: Directions, log_size: float) -> NDArray:
    """Whether each neuron (p,) is in the extremal sector of its sign, or dead, by twice the time
    at which the last one would be in the limit; all begin with norm e^log_size."""
    chart = Neurons(given.signs, given.X.shape[1])
    field = GradientFlow(chart, LOGISTIC, given.X, given.y, TIME)
    until = 2.0 * float(given.times.max()) + 1e-3
    path = integrate(field, chart.along(given.W0, log_size), until, at_zero=0.0, rtol=1e-7,
                     method=DOP853)  # fmt: skip
    U = chart.split(path.end)[0]
    for event in path.events:  # a neuron that died lies on a boundary, on either side by rounding
        if event.kind == "deactivate":
            U = np.where(np.arange(len(U))[:, None] == event.neuron,
                         _pushed(U, given.X[event.datum]), U)  # fmt: skip
    home = np.where(given.signs > 0.0, serves(given.X, given.y, U, 1.0),
                    serves(given.X, given.y, U, -1.0))  # fmt: skip
    return np.asarray(home | silent(given.X, U))


def _pushed(U: NDArray, x: NDArray) -> NDArray:
    """Directions moved off the boundary of a datum by 1e-9 if they are nearer than that."""
    unit = x / np.linalg.norm(x)
    near = np.abs(U @ unit) < 1e-9
    return np.where(near[:, None], U - 1e-9 * unit, U)


def drawn(rng: np.random.Generator, p: int = 5) -> Directions:
    """(OS) data with (Span) in the plane or in space, and p Gaussian directions of mixed signs."""
    d = int(rng.integers(2, 4))
    item = supported(d, (d, d), rng)
    signs = np.where(np.arange(p) % 2 == 0, 1.0, -1.0)
    return Directions(item["X"], item["y"], rng.standard_normal((p, d)), signs)


def homecomings(seed: int, count: int) -> tuple[NDArray, int]:
    """How many neurons of `count` networks are at home at each of LOG_SIZES (7,), and their
    number."""
    rng = np.random.default_rng(seed)
    starts = [drawn(rng) for _ in range(count)]
    home = [[at_home(one, size).sum() for one in starts] for size in LOG_SIZES[:-1]]
    home.append([_in_the_end(one).sum() for one in starts])
    return np.array(home).sum(axis=1), sum(len(one.signs) for one in starts)


def _in_the_end(given: Directions) -> NDArray:
    """Whether each neuron (p,) is at home at the smallest of LOG_SIZES, or at a smaller size that
    its direction needs."""
    home = at_home(given, LOG_SIZES[-1])
    for factor in (2.0, 4.0, 8.0, 16.0):
        if home.all():
            break
        home = home | at_home(given, factor * LOG_SIZES[-1])
    return home


def needed(given: Directions, which: int) -> float:
    """ln of the largest start at which the neuron `which` is at home by then: bisection to 0.1."""
    low, high = _TOO_SMALL, 3.0
    while high - low > 0.1:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at_home(given, middle)[which] else (low, middle)
    return low


def beside(log_angle: float) -> Directions:
    """Three neurons on four data in the plane: one along the sum of either label, and one with
    a > 0 at the angle e^log_angle from the negative sum, on the side of the nearer positive
    data."""
    X = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-1.0, 2.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    middle = np.arctan2(3.0, -3.0) - np.exp(log_angle)
    W0 = np.array([[4.0, 0.0], [-3.0, 3.0], [np.cos(middle), np.sin(middle)]])
    return Directions(X, y, W0, np.array([1.0, -1.0, 1.0]))


def small_enough(found: tuple[NDArray, int], seed: int, count: int) -> list[Evidence]:
    """os.lem1: for each start there is a size below which all neurons are in the extremal sector of
    their sign, or dead.

    (OS) data: at the smallest of LOG_SIZES all are. Any data in the plane, most of them not (OS):
    in the limit of small weights every neuron ends at an extremal direction or dead, also on
    boundaries.
    """
    home, total = found
    rng = np.random.default_rng(seed)
    astray = corners = dead = 0
    for k in range(count):
        item = list(any_data().values())[k % 2](rng)
        sign = 1.0 if k % 4 < 2 else -1.0
        end = align(item["X"], item["y"], rng.standard_normal(2), sign)
        corners += end.status == "sliding"
        dead += end.status == "dead"
        if end.status != "dead":
            goals = summits(item["X"], item["y"], sign)
            astray += not len(goals) or np.min(np.linalg.norm(goals - end.end, axis=1)) > 1e-5
    return [
        fact(f"(OS): neurons at home for starts of norm e^{LOG_SIZES[-1]:g}, or of a smaller one "
             "where their direction needs it", int(home[-1]), total,
             tried=total),
        fact("any data: neurons that end elsewhere than at an extremal direction, or dead",
             astray, 0, tried=count),
        note("of these dead, and on a boundary", (dead, corners)),
        note("(OS): at home for starts of norms e, 1, 1/e, ...", tuple(home.tolist())),
    ]  # fmt: skip
