"""How far sample and step take descent from the population's flow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from reluflow.approx import approx
from reluflow.flows.population import PopulationPath
from reluflow.papers.lee2023magnitude.runs import Run


def distance(one: PopulationPath, other: PopulationPath) -> tuple[float, float]:
    """The largest difference over all steps: of the angle, in radians, and of |w|, in |w*|."""
    angle = np.abs(one.theta - other.theta).max()
    return float(angle), float(np.abs(one.length - other.length).max() / one.target)


def gap_table(runs: Sequence[Run]) -> pd.DataFrame:
    """By panel: descent on data against the population's, and that against the flow."""
    rows = []
    for run in runs:
        row: dict[str, object] = {"panel": run.setting.name}
        step = distance(run.population, run.flow)
        sample = (math.nan, math.nan)
        if run.empirical is not None:
            sample = distance(run.empirical, run.population)
        for name, values in (("sample", sample), ("step", step)):
            for what, value in zip(("angle", "|w|/|w*|"), values, strict=True):
                row[f"{name}: {what}"] = "–" if math.isnan(value) else approx(value, 2)
        rows.append(row)
    return pd.DataFrame(rows).set_index("panel")
