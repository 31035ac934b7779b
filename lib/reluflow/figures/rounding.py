"""Round positions to a share of their axis, safely against rounding noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.transforms import Transform
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import on_grain

PLACE = 1e-4  # positions are written to about this share of the axis


@dataclass(frozen=True)
class Ruler:
    """One coordinate axis: its name, its scale and how finely positions on it are told apart."""

    name: str
    transform: Transform | None  # from data to the axis's own scale, say log10; None is linear
    low: float
    high: float
    place: float = PLACE

    @property
    def nonlinear(self) -> bool:
        """Whether positions are read on a logarithmic or other curved scale."""
        return self.transform is not None and not self.transform.is_affine

    @property
    def title(self) -> str:
        """The axis's name, with a word on how it is read."""
        return self.name + (" (log)" if self.nonlinear else "")

    def on_axis(self, values: ArrayLike) -> NDArray:
        """Read values on the axis's scale; off a curved axis they count as its end."""
        values = np.atleast_1d(np.asarray(values, float))
        if self.transform is None or not self.nonlinear:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            read, ends = map(self.transform.transform, (values, np.array([self.low, self.high])))
        ends = np.sort(ends)
        return np.clip(read, *ends)

    def in_reach(self, values: ArrayLike) -> NDArray:
        """Read values on the axis's scale; farther than its length off it they count as there."""
        low, high = np.sort(self.on_axis([self.low, self.high]))
        return np.clip(self.on_axis(values), low - self.span, high + self.span)

    @property
    def span(self) -> float:
        """The length of the axis on its own scale."""
        low, high = self.on_axis([self.low, self.high])
        return abs(float(high - low)) or 1.0

    def shown(self, value: float) -> str:
        """Write one position, to about a ten-thousandth of the axis."""
        return self.written(float(self.on_axis(value)[0]))

    def written(self, read: float) -> str:
        """Write a position that was read on the axis's scale."""
        return on_grain(read, self._grain(self.place, abs(read)))

    def extent(self, values: NDArray) -> str:
        """Write the name and the range of positions (on the axis's scale, none of them NaN)."""
        reach = float(np.max(np.abs(values)))
        low, high = (
            on_grain(v, self._grain(self.place, reach)) for v in (values.min(), values.max())
        )
        return f"{self.title} [{low}, {high}]"

    def summary(self, values: ArrayLike) -> str:
        """Summarise positions in their order: range, mean, first and last, and the way between."""
        v = self.on_axis(np.asarray(values, float))
        kept = v[np.isfinite(v)]
        if len(kept) == 0:
            return f"{self.name} nowhere"
        reach = float(np.max(np.abs(kept)))
        way = float(np.sum(np.abs(np.diff(kept))))
        coarse, fine = self._grain(self.place, reach), self._grain(self.place / 10, reach)
        words = f"{self.extent(kept)} mean {on_grain(kept.mean(), fine)}"
        words += f" ends {on_grain(kept[0], coarse)} {on_grain(kept[-1], coarse)}"
        words += f" way {on_grain(way, self._grain(10 * self.place, max(reach, way)))}"
        return words if len(kept) == len(v) else f"{words} gaps {len(v) - len(kept)}"

    def _grain(self, share: float, reach: float) -> float:
        """The step of rounding: a power of ten near `share` of the axis, well above noise."""
        wanted = max(share * self.span, 1e-9 * reach)
        return 10.0 ** math.floor(math.log10(wanted * (1.0 + 1e-6)))
