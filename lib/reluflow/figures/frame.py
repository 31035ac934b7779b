"""Small tools shared by the drawing functions: the window of an axes, text, and free places.

Whether words hide something is a question of distances on the page, measured here in points
(1/72 inch) from the lower left corner of the axes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from numpy.typing import NDArray

Window = tuple[float, float, float, float]  # lower and upper end of w_1, then of w_2


def window_of(ax: Axes) -> Window:
    """Return the limits of 2-D axes as one tuple."""
    (a, b), (c, d) = ax.get_xlim(), ax.get_ylim()
    return float(a), float(b), float(c), float(d)


def corner_and_size(window: Window) -> tuple[NDArray, NDArray]:
    """Return the window's lower left corner (2,) and its extent (2,)."""
    bounds = np.asarray(window, float).reshape(2, 2)
    return bounds[:, 0], bounds[:, 1] - bounds[:, 0]


def inside(W: NDArray, window: Window) -> NDArray:
    """Return which of the points W (m, 2) lie in the window."""
    low, size = corner_and_size(window)
    return np.all((low <= W) & (low + size >= W), axis=1)


def fresh(ax: Axes, label: str) -> str:
    """Return the label if the axes have none like it yet, else matplotlib's word for no label."""
    return "_nolegend_" if label in ax.get_legend_handles_labels()[1] else label


def white_edge() -> list[effects.AbstractPathEffect]:
    """Return the effect that keeps text readable on top of lines."""
    return [effects.withStroke(linewidth=2.6, foreground="white", alpha=0.85)]


def halo_text(ax: Axes, place: NDArray, text: str, **font: object) -> None:
    """Write centred text with a white edge; `font` are keywords of `Axes.text`.

    It takes no part in the layout: words inside the axes must not move the axes.
    """
    words = ax.text(*place, text, ha="center", va="center", path_effects=white_edge(), **font)
    words.set_in_layout(False)


@dataclass(frozen=True)
class Page:
    """The map between weights and points on the page, before the layout has settled its scale."""

    low: NDArray  # (2,) the window's lower left corner
    scale: NDArray  # (2,) points on the page per unit of weight
    size: NDArray  # (2,) the axes' extent in points

    def points(self, w: NDArray) -> NDArray:
        """Return the place (..., 2) of weights (..., 2) on the page."""
        return (np.asarray(w, float) - self.low) * self.scale

    def weights(self, places: NDArray) -> NDArray:
        """Return the weights (..., 2) at places (..., 2) on the page."""
        return self.low + np.asarray(places, float) / self.scale


def page_of(ax: Axes) -> Page:
    """Return the map from weights to the page, as far as it is known before the layout."""
    low, size = corner_and_size(window_of(ax))
    scale = ax.get_window_extent().size * 72.0 / ax.figure.dpi / size
    if ax.get_aspect() == 1:  # equal scales: the narrower direction decides
        scale = np.full(2, scale.min())
    return Page(low, scale, scale * size)


def obstacles(ax: Axes) -> NDArray:
    """Return the segments (k, 2, 2), on the page, of all lines, markers and words so far.

    A marker is a segment of length 0. Long curves are thinned: text needs no fine detail.
    """
    page = page_of(ax)
    segments = [np.empty((0, 2, 2))]
    for line in ax.lines:
        if not all(line.get_transform().contains_branch_seperately(ax.transData)):
            continue
        p = page.points(line.get_xydata())
        p = p[:: len(p) // 100] if len(p) > 100 else p
        segments.append(np.stack([p[:-1], p[1:]] if len(p) > 1 else [p, p], axis=1))
    for cloud in ax.collections:
        if isinstance(cloud, PathCollection):
            p = page.points(cloud.get_offsets())
            segments.append(np.stack([p, p], axis=1))
    for text in ax.texts:
        if text.get_text():
            p = page.points(text.get_position())[None]
            segments.append(np.stack([p, p], axis=1))
    return np.concatenate(segments)


def distances(places: NDArray, segments: NDArray) -> NDArray:
    """Return the distance (m,) of each place (m, 2) to the nearest of the segments (k, 2, 2)."""
    if len(segments) == 0:
        return np.full(len(places), np.inf)
    a, u = segments[:, 0], segments[:, 1] - segments[:, 0]
    square = np.maximum(np.sum(u * u, axis=1), 1e-300)
    s = np.clip(np.einsum("mkd,kd->mk", places[:, None] - a, u) / square, 0.0, 1.0)
    gap = places[:, None] - a - s[..., None] * u
    return np.sqrt(np.sum(gap * gap, axis=2)).min(axis=1)


def best_place(places: NDArray, scores: NDArray) -> NDArray:
    """Return the place with the highest score; of places that tie to rounding, the first."""
    return places[int(np.argmax(np.round(scores, 6)))]


def centroid(p: NDArray) -> NDArray:
    """Return the centre of mass (2,) of a simple polygon (k, 2)."""
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    return ((p + q) * cross[:, None]).sum(axis=0) / (3.0 * cross.sum())


def edges(p: NDArray) -> NDArray:
    """Return the edges (k, 2, 2) of a polygon (k, 2)."""
    return np.stack([p, np.roll(p, -1, axis=0)], axis=1)


def pattern_of(n: int, support: Iterable[int]) -> NDArray:
    """Return booleans (n,) that are true on the support."""
    pattern = np.zeros(n, bool)
    pattern[[int(i) for i in support]] = True
    return pattern
