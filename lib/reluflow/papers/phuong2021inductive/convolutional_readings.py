"""Appendix D of Phuong & Lampert 2021 under other readings and from other seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from reluflow.approx import approx
from reluflow.papers.phuong2021inductive.convolutional import AFTER, BEFORE, READINGS
from reluflow.papers.phuong2021inductive.convolutional_claims import clear, clusters
from reluflow.papers.phuong2021inductive.convolutional_record import FOLDER
from reluflow.papers.phuong2021inductive.convolutional_shown import Shown, recorded


def all_recorded() -> dict[str, Shown]:
    """Every record, the paper's run first, then its other seeds, then the other readings; by what a
    table calls them."""
    stems = [path.stem for path in FOLDER.glob("phuong2021inductive-cnn-*.json")]
    runs = [recorded(stem.removeprefix("phuong2021inductive-cnn-")) for stem in stems]
    order = list(READINGS)
    named = sorted(runs, key=lambda run: (order.index(reading_of(run)), run.seed))
    return {f"{reading_of(run)}, seed {run.seed}": run for run in named}


def reading_of(run: Shown) -> str:
    """The name of the reading that a run follows, whatever its number of epochs."""
    names = [
        name
        for name, setting in READINGS.items()
        if replace(run.setting, epochs=setting.epochs) == setting
    ]
    return names[0]


def table(runs: Mapping[str, Shown]) -> pd.DataFrame:
    """A row a run: what the paper's words about Figures 3 and 4 are about. The last columns are the
    shares of the rarer sign of W_8 in the cluster near the origin and in the two others."""
    rows = {}
    for name, run in runs.items():
        near, sides = clusters(run.plane, run.second)
        positive = [float((run.second[group] > 0).mean()) for group in (near, *sides)]
        rare = [min(share, 1.0 - share) for share in positive]
        rows[name] = {
            "epochs": run.setting.epochs,
            "loss": approx(run.losses[-1], 1),
            "violate (OS)": approx(run.whole["train"][BEFORE].share, 2),
            "after the ReLU": approx(run.whole["train"][AFTER].share, 2),
            "to leave out": run.left_out["train"][1],
            "clear $\\sigma$": clear(run.singular),
            "$\\sigma_3/\\sigma_1$": approx(run.singular[2] / run.singular[0], 2),
            "near": approx(rare[0], 2),
            "far": approx(max(rare[1:]), 2),
        }
    return pd.DataFrame(rows).T
