"""What Figures 3 and 4 of Phuong & Lampert 2021 show, of a recorded run or of one just made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry.pair_products import ACROSS, MINUS, PLUS
from reluflow.papers.phuong2021inductive.convolutional import AFTER, BEFORE, Setting, Task, train
from reluflow.papers.phuong2021inductive.convolutional_record import LOOKED, file_of, summary

KINDS = (PLUS, MINUS, ACROSS)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The inner products of all pairs of some images' features, as far as they are kept.

    pairs, violations  {kind: how many}: pairs, and those that violate (OS)
    right   {kind of one class: the chance that a pair of it lies to the right of one across}
    square  the mean of |x_i|^2
    means   {kind: the mean in units of it}
    edges, counts  histograms in these units: (low, high), and {kind: (bins,)}
    """

    pairs: Mapping[str, int]
    violations: Mapping[str, int]
    right: Mapping[str, float]
    square: float
    means: Mapping[str, float]
    edges: tuple[float, float]
    counts: Mapping[str, list[int]]

    @property
    def violating(self) -> int:
        """How many pairs violate (OS)."""
        return sum(self.violations.values())

    @property
    def number(self) -> int:
        """How many pairs there are."""
        return sum(self.pairs.values())

    @property
    def share(self) -> float:
        """The share of all pairs that violate (OS)."""
        return self.violating / self.number

    @property
    def chance(self) -> float:
        """The chance that a pair of one class, either with one half, lies to the right."""
        return float(np.mean([self.right[PLUS], self.right[MINUS]]))

    def mean(self, kind: str, raw: bool) -> float:
        """The mean product of a kind, `raw` or in units of the mean of |x_i|^2."""
        return self.means[kind] * (self.square if raw else 1.0)


@dataclass(frozen=True, eq=False)
class Shown:
    """A run of Appendix D.

    seconds        of one core that a record took, 0 for a run just made
    steps, losses  (k,) the steps at which there was a look, the mean loss of the steps before it
    epochs         (k,) the same steps in epochs
    violated       {side of the ReLU: (k,) the share of pairs of a sample that violate (OS)}
    spectra        (k, 12) the largest singular values of W_7 at these steps
    layers         of the pixels, and of each layer 1 to 7 by side of the ReLU, on a sample
    whole          of layer 7 by side, on all images trained on, and with "test" on the others
    errors         how many images of these parts the network gets wrong
    left_out       least and most images of these parts that have to be left out for the features of
                   the others, before the ReLU, to be orthogonally separable
    singular       (h,) all singular values of W_7 at the end
    plane          (h, 2) its rows in its top two singular directions
    second         (h,) the entries of W_8
    """

    setting: Setting
    seed: int
    images: int
    seconds: int
    steps: NDArray
    epochs: NDArray
    losses: NDArray
    violated: Mapping[str, NDArray]
    spectra: NDArray
    layers: list[Mapping[str, Pairs]]
    whole: Mapping[str, Mapping[str, Pairs]]
    errors: Mapping[str, int]
    left_out: Mapping[str, tuple[int, int]]
    singular: NDArray
    plane: NDArray
    second: NDArray

    def before(self) -> list[Pairs]:
        """The pixels and the layers 1 to 7, before the ReLU."""
        return [each[BEFORE] for each in self.layers]


def shown(facts: Mapping[str, Any]) -> Shown:
    """A run from what is kept of it."""
    setting, looks = Setting(**facts["setting"]), facts["looks"]
    steps = np.array([each["step"] for each in looks])
    pairs = {side: [sum(each[side]["violations"]) for each in looks] for side in (BEFORE, AFTER)}
    number = _pairs_of_a_look(facts["whole"]["train"][BEFORE]["pairs"])
    kept = facts["neurons"]
    return Shown(
        setting=setting,
        seed=facts["seed"],
        images=facts["images"],
        seconds=facts.get("cpu_s", 0),
        steps=steps,
        epochs=steps / -(-facts["images"] // setting.batch),
        losses=np.array([each.get("loss", np.nan) for each in looks]),
        violated={side: np.array(values) / number for side, values in pairs.items()},
        spectra=np.array([each["singular"] for each in looks]),
        layers=[{side: _pairs(each[side]) for side in each} for each in facts["layers"]],
        whole={
            part: {side: _pairs(each[side]) for side in (BEFORE, AFTER)}
            for part, each in facts["whole"].items()
        },
        errors={part: each["errors"] for part, each in facts["whole"].items()},
        left_out={part: tuple(each["left_out"]) for part, each in facts["whole"].items()},
        singular=np.array(kept["singular"]),
        plane=np.array(kept["plane"]),
        second=np.array(kept["second"]),
    )


def recorded(name: str) -> Shown:
    """The record with this name."""
    return shown(json.loads(file_of(name).read_text(encoding="utf-8")))


def trained(data: Task, setting: Setting, seed: int, looks: int) -> Shown:
    """Train now, with so many looks evenly spaced over the steps and one at the start."""
    each = -(-len(data.y) // setting.batch)
    steps = np.unique(np.linspace(0, setting.epochs * each, looks + 1).astype(int)).tolist()
    return shown(summary(train(data, setting, seed, steps, data.some(LOOKED)), data, seed))


def _pairs_of_a_look(pairs: Mapping[str, int]) -> int:
    """How many pairs the sample of a look has, from the numbers of pairs of all images."""
    sizes = [isqrt(2 * pairs[kind]) + 1 for kind in (PLUS, MINUS)]  # n from n (n - 1) / 2
    return comb(sum(min(size, LOOKED) for size in sizes), 2)


def _pairs(kept: Mapping[str, Any]) -> Pairs:
    fields = ("pairs", "violations", "right", "square", "means", "edges", "counts")
    return Pairs(**{field: kept[field] for field in fields})
