"""Appendix D of Phuong & Lampert 2021 under other readings and from other seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from reluflow.approx import approx
from reluflow.papers.phuong2021inductive.convolutional import AFTER, BEFORE, READINGS
from reluflow.papers.phuong2021inductive.convolutional_claims import clear, clusters, silhouette
from reluflow.papers.phuong2021inductive.convolutional_record import DIGITS, FOLDER
from reluflow.papers.phuong2021inductive.convolutional_shown import Shown, recorded


def all_recorded() -> dict[str, Shown]:
    """Every record on MNIST, by what a table calls it: the paper's run first, then its other seeds,
    then the other readings."""
    stems = [path.stem for path in FOLDER.glob("phuong2021inductive-cnn-*.json")]
    names = [stem.removeprefix("phuong2021inductive-cnn-") for stem in stems]
    runs = [recorded(name) for name in names if name != DIGITS]
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


AT = 5
"""Epochs after which all records can be compared."""


def table(runs: Mapping[str, Shown]) -> pd.DataFrame:
    """A row a run. After AT epochs: the share of a sample's pairs that violate (OS), and how many
    singular values of W_7 are clearly not 0. At the end: the share among all pairs, the same after
    the ReLU, images to leave out, the share of the rarer sign of W_8 in the cluster near the
    origin, and in the worse of the two others, and the silhouette of the three."""
    rows = {}
    for name, run in runs.items():
        at = int(np.flatnonzero(run.epochs <= AT)[-1])
        near, sides = clusters(run.plane, run.second)
        positive = [float((run.second[group] > 0).mean()) for group in (near, *sides)]
        rare = [min(share, 1.0 - share) for share in positive]
        rows[name] = {
            f"at {AT}: violate": approx(run.violated[BEFORE][at], 1),
            "clear": clear(run.spectra[at]),
            "end": run.setting.epochs,
            "violate": approx(run.whole["train"][BEFORE].share, 2),
            "after ReLU": approx(run.whole["train"][AFTER].share, 2),
            "out": run.left_out["train"][1],
            "near": approx(rare[0], 2),
            "far": approx(max(rare[1:]), 2),
            "silhouette": approx(silhouette(run.plane, run.second), 2),
        }
    return pd.DataFrame(rows).T
