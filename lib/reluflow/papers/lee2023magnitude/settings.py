"""The settings of Figures 1 and 2 (Section 5, Appendix D.3), and how they carry over to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RATES = {1: 0.0003, 2: 0.000008, 3: 0.000002}
"""D.3's learning rate by the number of layers."""
SCALES = {1: 1.0, 2: 0.5, 3: 0.3}
"""D.3's k* by the number of layers: the target is drawn from N(0, k* I)."""
NORMS = {0.1: "SN", 1.0: "MN", 2.0: "LN"}
"""k/k* of small, middle and large norm: the start is drawn from N(0, k I)."""
DIMENSION, DATA, STEPS = 100, 10_000, 100_000
"""D.3's d and n, and the number of steps of Figures 1 and 2."""
RESTART = 5
"""Figure 2 restarts its bounds at w(20000), after a fifth of the steps."""


@dataclass(frozen=True)
class Setting:
    """One panel's training.

    layers  m + 1: the vector w and m factors v_1, ..., v_m
    norm    k/k*, the ratio of the start's to the target's standard deviation
    scale   k*, the standard deviation of an entry of the target (see `scale.py`)
    rate    the learning rate eta
    d, n    entries of a datum, number of data
    steps   number of descent steps
    seed    of the data, the target and the start
    """

    layers: int
    norm: float
    scale: float
    rate: float
    d: int
    n: int
    steps: int
    seed: int

    @property
    def m(self) -> int:
        """The number of factors besides w."""
        return self.layers - 1

    @property
    def name(self) -> str:
        """The panel's short name, "2L-SN" for two layers and small norm."""
        return f"{self.layers}L-{NORMS.get(self.norm, f'{self.norm:g}k*')}"

    @property
    def restart(self) -> int:
        """The step at which the bounds of the magnitude start again."""
        return self.steps // RESTART

    def target(self) -> np.ndarray:
        """The target w* (d,), the same for all norms of one depth."""
        rng = np.random.default_rng([self.seed, 1, self.layers])
        return self.scale * rng.standard_normal(self.d)

    def start(self) -> np.ndarray:
        """The start w_0 (d,)."""
        rng = np.random.default_rng([self.seed, 2, self.layers, round(1e6 * self.norm)])
        return self.norm * self.scale * rng.standard_normal(self.d)

    def data(self) -> np.ndarray:
        """The data x_i (n, d), the same for all panels."""
        return np.random.default_rng([self.seed, 0]).standard_normal((self.n, self.d))


@dataclass(frozen=True)
class Experiment:
    """Several panels that share their data; `data` is "empirical" or "population"."""

    settings: tuple[Setting, ...]
    data: str

    @property
    def as_printed(self) -> bool:
        """Whether these are all nine panels of D.3, trained on data; the seed is free."""
        first = self.settings[0]
        paper = experiment(seed=first.seed)
        return self.data == "empirical" and set(paper.settings) <= set(self.settings)


def experiment(
    layers: Sequence[int] = tuple(RATES),
    norms: Sequence[float] = tuple(NORMS),
    d: int = DIMENSION,
    n: int = DATA,
    steps: int = STEPS,
    learning_rate: float | None = None,
    seed: int = 0,
    data: str = "empirical",
) -> Experiment:
    """The panels of all `layers` and `norms`; D.3's by default.

    A learning rate that is None is D.3's. Where D.3 has none, for more than three layers, k* is
    that of three, and the rate is the one for which eta k*^(2m) d^m, the progress a step makes, is
    the same as for D.3's three layers.
    """
    panels = tuple(
        Setting(
            int(k), float(norm), _scale(k), learning_rate or _rate(k, d), int(d), int(n),
            int(steps), int(seed),
        )
        for k in layers
        for norm in norms
    )  # fmt: skip
    return Experiment(panels, data)


def constants(v0: float, target: float) -> tuple[float, float]:
    """D.3's (r, R) of Theorems 4.2 and A.2: r = min(|w_0|, |w*|/2), R = max(|w_0|, |w*|).

    D.3 lists three cases, (|w_0|, |w*|) for small, (|w*|/2, max(|w_0|, |w*|)) for middle and
    (|w*|/2, |w_0|) for large norm; this is all three in one.
    """
    return min(v0, 0.5 * target), max(v0, target)


def _scale(layers: int) -> float:
    return SCALES.get(layers, SCALES[max(SCALES)])


def _rate(layers: int, d: int) -> float:
    if layers in RATES:
        return RATES[layers]
    deepest = max(RATES)
    pace = RATES[deepest] * (SCALES[deepest] ** 2 * DIMENSION) ** (deepest - 1)
    return pace / (_scale(layers) ** 2 * d) ** (layers - 1)
