"""The first steps of Figure 4 of Lee, Sim & Ye 2022b, from many starts and under other readings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from reluflow.approx import approx
from reluflow.falsify import survey
from reluflow.networks.dense import one_thread
from reluflow.papers.lee2023magnitude.deep import (
    LARGE,
    SMALL,
    TEACHER,
    DeepProblem,
    DeepRun,
    DeepSetting,
    deep_descent,
)

READINGS: dict[str, tuple[DeepSetting, int]] = {
    "(a) as taken": (SMALL, 100),
    "(a) k a variance": (replace(SMALL, start=0.04**0.5, teacher=TEACHER**0.5), 10),
    "(b) as taken": (LARGE, 10),
    "(b) k a variance": (replace(LARGE, start=0.44**0.5, teacher=TEACHER**0.5), 10),
    "(b) loss without the 1/2": (replace(LARGE, step=2 * LARGE.step), 10),
    "(b) loss a sum over the data": (replace(LARGE, step=LARGE.n * LARGE.step), 10),
}
"""What D.3 leaves open for Figure 4: a setting, and after how many steps to look."""


def fate(run: DeepRun) -> str:
    """How descent goes: "diverges", "loss rises" (at some step) or "loss falls"."""
    if run.diverged:
        return "diverges"
    return "loss rises" if bool((np.diff(run.losses) > 0.0).any()) else "loss falls"


def fates(seed: int, n: int = 500) -> pd.DataFrame:
    """The first plain steps of every reading, on n data."""
    rows = []
    for name, (setting, n_steps) in READINGS.items():
        run, unstable = _begun(replace(setting, n=n), seed, n_steps)
        way = run.norms[-1, 0] - run.norms[0, 0]
        rows.append(
            {
                "reading": name,
                "eta lambda": approx(unstable, 2),
                "descent": fate(run),
                "steps": len(run.steps) - 1,
                "|W_1| moves": "" if run.diverged else approx(way, 2),
            }
        )
    return pd.DataFrame(rows).set_index("reading")


def _begun(setting: DeepSetting, seed: int, n_steps: int) -> tuple[DeepRun, float]:
    """The first plain steps, and eta lambda at the start, below 2 where descent is stable."""
    with one_thread():
        problem = DeepProblem(setting, seed)
        run, _ = deep_descent(problem, n_steps)
        return run, setting.step * problem.curvature(problem.start)


def overshoots(setting: DeepSetting, seed: int, count: int, n: int = 1000) -> pd.DataFrame:
    """Ten plain steps of descent from `count` starts, each with its own teacher and n data.

    unstable  eta lambda at the start
    jumped    whether the loss at step 1 or 2 is above the start's
    rose      whether the norm of all weights is above its start's after 10 steps
    fell      whether |W_1| falls at each of the 10 steps
    survived  whether the weights stay bounded
    """

    def measure(seed: int) -> dict[str, float | bool]:
        run, unstable = _begun(replace(setting, n=n), seed, 10)
        every = run.magnitudes["all weights"]
        return {
            "unstable": unstable,
            "jumped": bool((run.losses[1:3] > run.losses[0]).any()),
            "rose": bool(every[-1] > every[0]),
            "fell": bool((np.diff(run.norms[:, 0]) < 0.0).all()),
            "survived": not run.diverged,
        }

    return survey(range(seed, seed + count), measure)


def falls_first(setting: DeepSetting, seed: int, count: int, n: int = 1000) -> np.ndarray:
    """Whether the flow's |W_1| falls at first, from `count` starts on n data each; (count,).

    Its slope has the sign of <W_1, - dL/dW_1> = 1/n sum_i (y_i - f(x_i)) f(x_i).
    """

    def falls(seed: int) -> bool:
        problem = DeepProblem(replace(setting, n=n), seed)
        slope = problem.descent_direction(problem.start)
        first, down = problem.layers(problem.start)[0], problem.layers(slope)[0]
        return float((first * down).sum()) < 0.0

    with one_thread():
        return np.array([falls(seed + k) for k in range(count)])
