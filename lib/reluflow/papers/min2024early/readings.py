"""What Section 4 of Min et al. 2024 leaves open about its MNIST runs, decided from its own numbers.

The numbers, with bars set before any candidate was run, but for the 0.9 of ALIGNED: every neuron
aligned after about 2000 steps and the loss falling after about 3000 (to half a thousand); a loss
that starts at 1, where the axes of Figures 5 and 10 to 12 end; inner products of some tens, as on
the colour bars of Figures 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch

from reluflow.flows.shallow_descent import descent
from reluflow.images import Images
from reluflow.networks.grouped import GroupedLoss
from reluflow.papers.min2024early import correlations
from reluflow.papers.min2024early.mnist import Curves, Seen, Setting, Task
from reluflow.papers.min2024early.plain_numbers import unmarked

ALIGNED, FALLEN = 0.9, 0.1
"""A neuron is well aligned from this cosine on, chosen after first runs; the loss begins to fall
where this much is gone."""
STEPS = {"aligned": (1500, 2500), "falls": (2500, 3500)}
BEGINS = (0.95, 1.05)
PRODUCTS = (20.0, 200.0)
LAST = 6000
"""Steps after which a reading is given up."""
_AFTER = 500
_EVERY = 50


@dataclass(frozen=True)
class Candidate:
    """A reading: a setting, and how many images of each digit; None for all."""

    words: str
    setting: Setting
    first: int | None


def candidates(first: int) -> dict[str, Candidate]:
    """The readings that are tried, on the first images of each digit unless their number is what is
    read: a sum cannot do without the others."""
    plain = Setting(1, 0)
    sum_ = replace(plain, mean=False)
    return {
        "taken": Candidate("mean, exponential, white 1", plain, first),
        "few": Candidate("the same, 200 of each digit", plain, 200),
        "all": Candidate("the same, all images", plain, None),
        "logistic": Candidate("logistic", replace(plain, loss="logistic"), first),
        "twice": Candidate("twice logistic", replace(plain, loss="twice logistic"), first),
        "levels": Candidate("white 255", replace(plain, scale=255.0), first),
        "unit": Candidate("white 3.25 (variance 1)", replace(plain, scale=1 / 0.3081), first),
        "sum": Candidate("sum, all images", sum_, None),
        "sum-logistic": Candidate("sum, logistic, all", replace(sum_, loss="logistic"), None),
        "sum-levels": Candidate("sum, white 1/255, all", replace(sum_, scale=1 / 255), None),
    }


def first_of(images: Images, count: int | None) -> Images:
    """The first `count` images of each digit, or all."""
    if count is None:
        return images
    rows = np.concatenate([np.nonzero(images.digit == k)[0][:count] for k in range(10)])
    return replace(images, levels=images.levels[rows], digit=images.digit[rows])


def tried(candidate: Candidate, images: Images, seed: int, last: int = LAST) -> dict[str, Any]:
    """What a reading gives of the paper's numbers; infinite where it does not come to pass within
    `last` steps, or 500 after the loss begins to fall, or before the weights overflow."""
    task = Task(candidate.setting, first_of(images, candidate.first), torch.float32)
    curves = Curves.of(watched(task, seed, last))
    return {
        "product": float(np.abs(correlations.heatmap(task.pair)).max()),
        "begins": float(curves.loss[0]),
        "aligned": curves.aligned(ALIGNED),
        "falls": curves.fallen(FALLEN),
    }


def watched(task: Task, seed: int, last: int) -> Iterator[Seen]:
    """Descent until all neurons are aligned and the loss falls, or 500 steps after it does, or
    `last` steps, or an overflow; the first 50 steps and every 50th."""
    start, still = task.start(seed)
    aligned, fell, first = False, np.inf, None
    for state in descent(GroupedLoss(task.loss), start, task.setting.step, task.setting.step):
        largest = float(state.neurons.flat.abs().max())
        if not (np.isfinite(state.loss) and largest < 1e6):
            return
        if state.step <= _EVERY or state.step % _EVERY == 0:
            seen = task.seen(state, still)
            yield seen
            first = state.loss if first is None else first
            aligned |= min(seen.plus.least, seen.minus.least) >= ALIGNED
            if state.loss <= (1.0 - FALLEN) * first:
                fell = min(fell, state.step)
        if state.step >= min(last, fell if aligned else fell + _AFTER):
            return


def fits(row: Mapping[str, Any]) -> bool:
    """Whether a reading gives all of the paper's numbers."""
    inside = [
        BEGINS[0] <= row["begins"] <= BEGINS[1],
        PRODUCTS[0] <= row["product"] <= PRODUCTS[1],
        *(low <= row[name] <= high for name, (low, high) in STEPS.items()),
    ]
    return all(inside)


def table(rows: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """The readings side by side with the paper's numbers; each name what differs from the first."""
    words = {name: candidate.words for name, candidate in candidates(1).items()}

    def steps(value: float) -> str:
        return f"{value:.0f}" if np.isfinite(value) else "never"

    lines = [
        {
            "reading": words[name],
            "largest product": unmarked(row["product"], 3),
            "loss begins at": unmarked(row["begins"]),
            "aligned after": steps(row["aligned"]),
            "loss falls after": steps(row["falls"]),
            "fits": "yes" if fits(row) else "no",
        }
        for name, row in rows.items()
    ]
    printed = {
        "reading": "printed",
        "largest product": "some tens",
        "loss begins at": "1",
        "aligned after": "about 2000",
        "loss falls after": "about 3000",
        "fits": "",
    }
    return pd.DataFrame([printed, *lines]).set_index("reading")
