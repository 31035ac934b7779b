"""Small tools shared by the drawing functions: the window of an axes, text, and free places.

Whether words hide something is a question of distances on the page, measured here in points
(1/72 inch) from the lower left corner of the axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.flows.trajectory import Trajectory

# --- At which times a flow is drawn ---------------------------------------------------------------

MOST = 6000  # so many points are enough for any curve, however many events it has


def drawing_times(flow: Trajectory) -> NDArray:
    """Return the increasing times (k,) at which a flow is drawn.

    They are its own `grid`, with 200 a stretch unless there are very many stretches. Their number
    does not depend on rounding: two values that differ by rounding only are one.
    """
    t = np.sort(flow.grid(max(10, min(200, MOST // len(flow.t)))))
    fresh = np.diff(t) > 8 * np.finfo(float).eps * np.abs(t[1:])
    return t[np.concatenate([[True], fresh])]


# --- The window of an axes, and words in it -------------------------------------------------------

Window = tuple[float, float, float, float]  # lower and upper end of w_1, then of w_2


def inside(ax: Axes, W: NDArray) -> NDArray:
    """Return which of the points W (m, 2), or the one (2,), lie in the window of the axes."""
    return np.all((ax.viewLim.min <= W) & (ax.viewLim.max >= W), axis=-1)


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


def distances(places: NDArray, segments: NDArray) -> NDArray:
    """Return the distance (m,) of each place (m, 2) to the nearest of the segments (k, 2, 2)."""
    if len(segments) == 0:
        return np.full(len(places), np.inf)
    a, u = segments[:, 0], segments[:, 1] - segments[:, 0]
    square = np.maximum(np.sum(u * u, axis=1), 1e-300)
    found = []
    for part in np.array_split(places, 1 + len(places) * len(a) // _AT_ONCE):
        x, y = part[:, :1] - a[:, 0], part[:, 1:] - a[:, 1]  # apart: faster than (m, k, 2)
        s = np.clip((x * u[:, 0] + y * u[:, 1]) / square, 0.0, 1.0)
        found.append(((x - s * u[:, 0]) ** 2 + (y - s * u[:, 1]) ** 2).min(axis=1))
    return np.sqrt(np.concatenate(found))


# --- Words inside a picture: names of curves beside them, and what is to be seen at a point -------

_AT_ONCE = 20_000  # distances, which stay within a processor's cache
_MANY = 2000  # points of a curve from which on those go that nobody can see
_STOPS = 40  # places along a curve at which its name may stand
_TURN = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
_AROUND = 1.35 * np.column_stack([np.sin(_TURN), np.cos(_TURN)])
_GRID = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 31)] * 2), axis=-1).reshape(-1, 2)


class CurveName(Text):
    """The name of a curve beside it, or of a part of the plane inside it, where it hides least.

    The place is found whenever the figure is drawn, for the panels of a page and of a phone differ
    in shape; it is one (in data) at which `holds` is true. A part without room has no name.
    """

    def __init__(
        self,
        words: str,
        line: Line2D | None = None,
        holds: Callable[[NDArray], NDArray] | None = None,
        **font: Any,
    ) -> None:
        colour = style.INK
        if line is not None and line.get_linestyle() != "None":
            colour = style.ink(to_hex(line.get_color()))
        font = {"color": colour, "fontsize": 9, "zorder": 6.5} | font
        super().__init__(text=words, **font)
        self.set(ha="center", va="center", path_effects=white_edge(), in_layout=False)
        self.line, self.holds, self.stands = line, holds, False

    def draw(self, renderer: RendererBase) -> None:
        """Go to the place that is clearest of lines, markers and words, and be drawn there."""
        ax, size = self.axes, self.get_window_extent(renderer).size
        half, to_data = 0.5 * size + 1.5 * self.figure.dpi / 72.0, ax.transData.inverted().transform
        low, high = ax.bbox.min / half + 1.0, ax.bbox.max / half - 1.0
        if self.line is None:
            own, way, around = np.empty((0, 2, 2)), low + _GRID * (high - low), np.zeros((1, 2))
        else:
            own = _segments(self.line, half)
            way, around = _stops(own), _AROUND
        places = (way[:, None] + around).reshape(-1, 2)
        fits = np.all((places >= low) & (places <= high), axis=1)
        if self.holds is not None:
            fits &= self.holds(to_data(places * half))
        self.stands = bool(fits.any())  # else the curve has left the axes
        if self.stands:
            places = places[fits]
            lines = [_segments(line, half) for line in ax.lines if line is not self.line]
            # Names are placed one after the other: those behind have no place yet.
            here = ax.texts.index(self)
            words = [
                _edges(text, renderer, half)
                for k, text in enumerate(ax.texts)
                if text.get_text()
                and (not isinstance(text, CurveName) or (k < here and text.stands))
            ]
            others = np.concatenate([np.empty((0, 2, 2)), *lines, *words])
            room = distances(places, others)
            if self.line is None:
                self.stands = bool(room.max() >= 1.0)
                room = np.minimum(room, 2.0)
                room -= 0.05 * np.linalg.norm(places - places.mean(axis=0), axis=1)
            else:
                room = np.minimum(room, 2.0) + 2.0 * np.minimum(distances(places, own), 1.3)
                room += np.repeat(np.minimum(distances(way, others), 2.0), len(around))[fits]
            best = int(np.argmax(np.round(room, 6)))  # of places that tie to rounding the first
            self.set_position(to_data(places[best] * half))
        if self.stands:
            super().draw(renderer)


def _stops(own: NDArray) -> NDArray:
    """Places (k, 2) evenly along the segments of a line, or at its markers."""
    steps = np.linalg.norm(own[:, 1] - own[:, 0], axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if length[-1] > 0.0:
        at = np.linspace(0.0, length[-1], _STOPS)
        k = np.clip(np.searchsorted(length, at, side="right") - 1, 0, len(own) - 1)
    else:  # markers
        at, k = np.zeros(len(own)), np.arange(len(own))
    share = ((at - length[k]) / np.maximum(steps[k], 1e-9))[:, None]
    return (1.0 - share) * own[k, 0] + share * own[k, 1]


def _segments(line: Line2D, half: NDArray) -> NDArray:
    """The segments (k, 2, 2) of a line in its axes, in halves of a word; of a marker, length 0."""
    path = line.get_transform().transform_path(line.get_path())
    if line.get_linestyle() == "None":
        p = path.vertices[np.isfinite(path.vertices).all(axis=1)] / half
        return np.stack([p, p], axis=1)
    clear = path.cleaned(remove_nans=True, clip=line.axes.bbox.extents, simplify=len(path) > _MANY)
    p = clear.vertices / half
    kept = clear.codes[1:] == Path.LINETO
    return np.stack([p[:-1], p[1:]], axis=1)[kept]


def _edges(text: Text, renderer: RendererBase, half: NDArray) -> NDArray:
    """The two long edges and the middle line (3, 2, 2) of a text, in halves of a word."""
    if isinstance(text, Annotation):
        text.update_positions(renderer)  # it may be drawn later, and stands nowhere before
    box = Text.get_window_extent(text, renderer)
    rows = [[[box.x0, y], [box.x1, y]] for y in (box.y0, 0.5 * (box.y0 + box.y1), box.y1)]
    return np.array(rows) / half


def name_curves(ax: Axes, *alike: Axes) -> None:
    """Write the label of each line of `ax` beside it instead of into the legend.

    Call it after everything is drawn. Panels `alike` have the same curves, and no names.
    """
    named = {}
    for line in list(ax.lines):
        words = str(line.get_label())
        if words and not words.startswith("_") and len(line.get_xydata()):
            ax.add_artist(CurveName(words, line))
            named[words] = line
    for line in (line for panel in (ax, *alike) for line in panel.lines):
        if line.get_label() in named:
            line.set_label(f"_{line.get_label()}")


def point_out(ax: Axes, words: str, at: tuple[float, float], offset: tuple[float, float]) -> None:
    """Write what is to be seen at a point of the picture, with a thin line to it.

    Parameters: `at` in data, `offset` of the words' middle from it, in points on the page.
    """
    leader = {"arrowstyle": "-", "color": style.QUIET, "lw": 0.8, "shrinkA": 0, "shrinkB": 3}
    note = ax.annotate(words, at, offset, textcoords="offset points", arrowprops=leader, fontsize=9,
                       ha="center", va="center", path_effects=white_edge(), zorder=6.6)  # fmt: skip
    note.set_in_layout(False)
