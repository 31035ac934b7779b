"""Remark 3.2 on Theorem 3.2: its data moved, with the same condition on the start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.vardi2022margin.dead_neuron import (
    CLOSE,
    draw_start,
    followed,
    proved_not_local,
)
from reluflow.papers.vardi2022margin.pairs import (
    PRINTED,
    help_of_the_second,
    keeps_both,
    losing_distance,
    nearest_losing,
    pair_limit,
)
from reluflow.statistics import share_interval

SIZES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Distances in R^4 at which random data are judged by the closed forms."""


def holds_nearby() -> Statement:
    """mm.rem3.2.1: for all data nearer to the printed ones than 0.0813 in R^4, and every start with
    w_1 active on both, w_2 on neither and v_1 > 0, the limit is `pair_limit`, no local optimum.

    Proof: there x_i.(x_1 + x_2) > 0, so that the first neuron stays active (`pairs`); the limit is
    then that of a linear neuron; the data's angle is above 120 degrees, and the second neuron could
    help. Draws: distances from 1e-9 on, half of them beyond 3/4 of that radius.
    """
    radius = losing_distance()

    def kind(sizes: tuple[float, float], loss: str) -> Callable[[np.random.Generator], Instance]:
        def draw(rng: np.random.Generator) -> Instance:
            X = PRINTED + 10.0 ** rng.uniform(*np.log10(sizes)) * _unit(rng, (2, 2))
            return {"X": X, "theta": draw_start(X, rng, (-2.0, 2.0)), "loss": loss}

        return draw

    near, far = (1e-9, 0.75 * radius), (0.75 * radius, radius)
    return Statement(
        "the limit of the moved data is that of the first neuron alone, and no local optimum",
        {f"{loss}, {name}": kind(sizes, loss) for loss in ("exponential", "logistic")
         for name, sizes in (("near", near), ("near the radius", far))},
        _slack,
        {"nearer than the radius": lambda item: bool(_distance(item["X"]) < radius),
         "the start is as asked": lambda item: as_asked(item["theta"], item["X"])},
    )  # fmt: skip


def _slack(item: Instance) -> float:
    found = followed(item["theta"], item["X"], str(item["loss"]))
    if not found.converged:
        return float("nan")
    exact = pair_limit(item["X"])
    off = float(np.linalg.norm(found.theta - exact) / np.linalg.norm(exact))
    return CLOSE - off if proved_not_local(found.theta, item["X"]) else -1.0


def as_asked(theta: NDArray, X: NDArray) -> bool:
    """Whether w_1 is active on both data, w_2 on neither, and v_1 > 0."""
    first, second = X @ theta[:2], X @ theta[2:4]
    return bool((first > 0.0).all() and (second < 0.0).all() and theta[4] > 0.0)


def how_far(seed: int, tried: int = 2000) -> list[Evidence]:
    """How far the data may move: to 0.0813 for every start, and in what share of `tried` random
    directions for each of `SIZES`. Just beyond, a start whose first neuron loses a datum."""
    radius = losing_distance()
    beyond = PRINTED + 1.1 * (nearest_losing() - PRINTED)
    inputs = np.array([[1e-6, 1e-6], [-1.0, -1.0]])
    theta = np.array([*np.linalg.solve(beyond, inputs.T).T.ravel(), 1.0, 1.0])
    lost = followed(theta, beyond, "exponential")
    active = int((beyond @ lost.theta[:2] > 1e-9).sum())
    return [
        bound("distance to the nearest data of which some start loses one", radius, ">", 0.0, ""),
        fact("at 1.1 of it the start ⟨w₁, x_i⟩ = 1e-6, v₁ = 1 is as asked",
             as_asked(theta, beyond), True),
        fact("its flow goes to zero loss", lost.converged, False),
        fact("data on which w₁ is active in its end", active, 1),
        *(note(f"share of directions at distance {size} in which no start loses a datum, and in "
               "which the limit, if none is lost, is no local optimum", _shares(seed, size, tried))
          for size in SIZES),
    ]  # fmt: skip


def _shares(seed: int, size: float, tried: int) -> tuple[str, str]:
    rng = np.random.default_rng(seed)
    moved = [PRINTED + size * _unit(rng, (2, 2)) for _ in range(tried)]
    kept = sum(keeps_both(X) > 0.0 for X in moved)
    helped = sum(help_of_the_second(X) > 0.0 for X in moved)
    return share_interval(kept, tried), share_interval(helped, tried)


def _distance(X: NDArray) -> float:
    return float(np.linalg.norm(X - PRINTED))


def _unit(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    direction = rng.normal(size=shape)
    return direction / np.linalg.norm(direction)
