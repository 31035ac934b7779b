"""Round positions to a share of their axis, safely against rounding noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.transforms import Transform
from numpy.typing import ArrayLike, NDArray

# The edges between two rounded values must not lie where computed values like to lie. Values such
# as 0.5 or the mean of two printed numbers sit exactly on an edge of decimal rounding, and noise
# in the last bit would throw them either way; a tiny shift moves the edges off all short decimals.
SHIFT = 0.0137293


@dataclass(frozen=True)
class Ruler:
    """One coordinate axis: its name, its scale and how finely positions on it are told apart."""

    name: str
    transform: Transform | None  # from data to the axis's own scale, say log10; None is linear
    low: float
    high: float

    @property
    def nonlinear(self) -> bool:
        """Whether positions are read on a logarithmic or other curved scale."""
        return self.transform is not None and not self.transform.is_affine

    def on_axis(self, values: ArrayLike) -> NDArray:
        """Read values on the axis's scale; off a curved axis they count as its end."""
        values = np.atleast_1d(np.asarray(values, float))
        if not self.nonlinear:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            read = np.asarray(self.transform.transform(values), float)
        ends = np.sort(np.asarray(self.transform.transform(np.array([self.low, self.high])), float))
        return np.clip(read, *ends)

    @property
    def span(self) -> float:
        """The length of the axis on its own scale."""
        low, high = self.on_axis([self.low, self.high])
        return abs(float(high - low)) or 1.0

    def shown(self, value: float) -> str:
        """Write one position, to about a ten-thousandth of the axis."""
        return rounded(float(self.on_axis(value)[0]), self._grain(1e-4, abs(value)))

    def summary(self, values: ArrayLike) -> str:
        """Summarise positions in their order: range, mean, first and last, and the way between."""
        v = self.on_axis(np.asarray(values, float))
        kept = v[np.isfinite(v)]
        if len(kept) == 0:
            return f"{self.name} nowhere"
        reach = float(np.max(np.abs(kept)))
        way = float(np.sum(np.abs(np.diff(kept))))
        coarse, fine = self._grain(1e-4, reach), self._grain(1e-6, reach)
        low, high, first, last = (
            rounded(u, coarse) for u in (kept.min(), kept.max(), kept[0], kept[-1])
        )
        name = self.name + (" (log)" if self.nonlinear else "")
        words = f"{name} [{low}, {high}] mean {rounded(kept.mean(), fine)} ends {first} {last}"
        words += f" way {rounded(way, self._grain(1e-3, max(reach, way)))}"
        return words if len(kept) == len(v) else f"{words} gaps {len(v) - len(kept)}"

    def _grain(self, share: float, reach: float) -> float:
        """The step of rounding: a power of ten near `share` of the axis, well above noise."""
        wanted = max(share * self.span, 1e-9 * reach)
        return 10.0 ** math.floor(math.log10(wanted * (1.0 + 1e-6)))


def rounded(value: float, grain: float) -> str:
    """Write a value rounded to multiples of `grain` (a power of ten), never as "-0"."""
    places = max(0, -round(math.log10(grain)))
    units = math.floor(float(value) / grain + 0.5 + SHIFT)
    return f"{units * grain:.{places}f}" if units else "0"
