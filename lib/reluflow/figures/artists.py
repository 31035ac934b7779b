"""Describe one drawn artist in one line: its kind, label, colours and where its points lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.contour import ContourSet
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import AxLine, Line2D
from matplotlib.patches import Patch
from matplotlib.quiver import Quiver
from matplotlib.text import Annotation, Text
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import (
    Line3D,
    Line3DCollection,
    Path3DCollection,
    Poly3DCollection,
    Text3D,
)
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import approx, on_grain
from reluflow.figures.outlines import closed, outline
from reluflow.figures.rounding import Ruler

NO_NUMBERS = "no points"
FEW = 6  # up to so many points are listed one by one

Rulers = Sequence[Ruler]


def describe(artist: Artist | BarContainer, ax: Axes, rulers: Rulers) -> str:
    """Describe one artist in one line."""
    if isinstance(artist, BarContainer):
        return _bars(artist, rulers)
    if isinstance(artist, Legend):
        return legend_line(artist)
    kind, look, data = _kind_look_data(artist, rulers)
    name = str(artist.get_label() or "")
    label = "" if name.startswith("_") or isinstance(artist, Text) or not name else repr(name)
    where = "" if isinstance(artist, Text) or _in_data(artist, ax) else _frame(artist, ax)
    return " ".join(part for part in (kind, label, look, where, data) if part)


def _kind_look_data(artist: Artist, rulers: Rulers) -> tuple[str, str, str]:
    """Return what an artist is, its colours and line style, and where its points lie."""
    place = rulers[0].place
    match artist:
        case Text3D():
            return "text3d", repr(artist.get_text()), _place(artist.get_position_3d(), rulers)
        case Annotation():
            arrow = " arrow" if artist.arrow_patch is not None else ""
            where = _place(artist.xy, rulers)
            if artist.anncoords == "data":
                where += " from " + _place(artist.get_position(), rulers)
            return f"note{arrow}", repr(artist.get_text()) if artist.get_text() else "", where
        case Text():
            return "text", repr(artist.get_text()), _place(artist.get_position(), rulers)
        case Line3D():
            return "line3d", _line_look(artist), _line(artist, artist.get_data_3d(), rulers)
        case AxLine():
            there = artist.get_xy2()
            end = (
                f"slope {approx(artist.get_slope(), 5)}" if there is None else _place(there, rulers)
            )
            return "endless line", _line_look(artist), f"{_place(artist.get_xy1(), rulers)} {end}"
        case Line2D():
            return "line", _line_look(artist), _line(artist, artist.get_xydata().T, rulers)
        case ContourSet():
            return "contour", _colours(artist.get_edgecolor()), _contour_numbers(artist, rulers)
        case Quiver():
            u, v = (np.asarray(c, float).ravel() for c in (artist.U, artist.V))
            data = numbers(np.asarray(artist.get_offsets(), float).T, rulers)
            return (
                "quiver",
                _colours(artist.get_facecolor()),
                f"{data}; {_values(u, 'u', place)}; {_values(v, 'v', place)}",
            )
        case Path3DCollection():
            data = numbers([np.ma.filled(c, np.nan) for c in artist._offsets3d], rulers)
            return "scatter3d", _colours(artist.get_facecolor()), data + _mapped(artist, place)
        case Poly3DCollection():
            faces = np.asarray(artist._faces, float)
            used = ~np.broadcast_to(artist._invalid_vertices, faces.shape[:2])
            edges = [closed(face[kept]) for face, kept in zip(faces, used, strict=True)]
            data = curves(edges, rulers)
            return f"faces {len(artist._faces)}", _colours(artist.get_facecolor()), data
        case Line3DCollection():
            segments = [np.asarray(s, float) for s in artist._segments3d]
            return "lines3d", _colours(artist.get_edgecolor()), curves(segments, rulers)
        case QuadMesh():
            corners = np.asarray(artist.get_coordinates(), float).reshape(-1, 2)
            return "mesh", "", numbers(corners.T, rulers) + _mapped(artist, place)
        case PathCollection():
            data = numbers(np.asarray(artist.get_offsets(), float).T, rulers)
            return "scatter", _colours(artist.get_facecolor()), data + _mapped(artist, place)
        case LineCollection():
            segments = [np.asarray(s, float) for s in artist.get_segments()]
            data = curves(segments, rulers)
            return f"lines of {len(segments)}", _colours(artist.get_edgecolor()), data
        case Collection():
            edges = [e for p in artist.get_paths() for e in p.to_polygons(closed_only=False)]
            data = curves([closed(e) for e in edges if len(e)], rulers)
            return "region", _colours(artist.get_facecolor()), data + _mapped(artist, place)
        case AxesImage():
            values = np.asarray(artist.get_array(), float)
            left, right, bottom, top = artist.get_extent()
            extent = numbers([[left, right], [bottom, top]], rulers)
            return f"image {values.shape}", "", f"{_values(values.ravel(), 'c', place)}; {extent}"
        case Patch():
            corners = artist.get_patch_transform().transform(artist.get_path().vertices)
            spans = [r.span for r in rulers]
            if len(corners) > 1 and np.allclose(
                corners[0] / spans, corners[-1] / spans, rtol=0, atol=1e-9
            ):
                corners = corners[:-1]
            hatch = f" {artist.get_hatch()}" if artist.get_hatch() else ""
            look = _colours(artist.get_facecolor()) + hatch
            data = numbers(corners.T, rulers)
            if len(corners) > FEW:
                data = outline([closed(corners)], rulers)
            return type(artist).__name__.lower(), look, data
    return type(artist).__name__.lower(), "", ""


def _bars(bars: BarContainer, rulers: Rulers) -> str:
    """Describe a series of bars by the lower left and upper right corner of each."""
    label = str(bars.get_label() or "")
    boxes = np.array([b.get_bbox().get_points() for b in bars.patches])
    colours = _colours([b.get_facecolor() for b in bars.patches])
    name = "" if label.startswith("_") or not label else f" {label!r}"
    if len(boxes) <= FEW:
        places = [f"{_place(a, rulers)}-{_place(b, rulers)}" for a, b in boxes]
        return f"bars {len(boxes)}{name} {colours} {' '.join(places)}"
    return f"bars {len(boxes)}{name} {colours} {numbers(boxes.reshape(-1, 2).T, rulers)}"


def numbers(coordinates: Any, rulers: Rulers) -> str:
    """Summarise points that are there one by one, in the order in which they are drawn.

    Up to six points are listed. For more the line gives their number and of each coordinate the
    range, the mean, the first and last value and the way (how far it goes up and down in all). A
    point moved by 2 % of the axis changes the mean of a thousand, kept to 1e-5 of the axis; another
    order, or another pairing of the coordinates, changes the way.
    """
    columns: list[NDArray] = [np.ma.filled(np.ma.asarray(c, float), np.nan) for c in coordinates]
    n = len(columns[0]) if columns else 0
    if n == 0:
        return NO_NUMBERS
    if n <= FEW:
        return " ".join(_place(point, rulers) for point in zip(*columns, strict=True))
    summaries = (ruler.summary(c) for ruler, c in zip(rulers, columns, strict=True))
    return "; ".join([f"n={n}", *summaries])


def curves(pieces: Sequence[NDArray], rulers: Rulers) -> str:
    """Summarise curves (k, d); up to six corners in all are listed.

    How many points a curve of more is drawn with is no property of the curve, and is left out.
    """
    corners = sum(map(len, pieces))
    if corners <= FEW:
        return numbers(np.concatenate(pieces).T, rulers) if corners else NO_NUMBERS
    return outline(pieces, rulers)


def _line(line: Line2D, data: Any, rulers: Rulers) -> str:
    """Describe a line as a curve, or as points where only its markers show."""
    columns: list[NDArray] = [np.ma.filled(np.ma.asarray(c, float), np.nan) for c in data]
    if not _has_line(line) or len(columns[0]) <= FEW:
        return numbers(columns, rulers)
    points = f"n={len(columns[0])}; " if _marker(line) else ""
    return points + outline([np.column_stack(columns)], rulers)


def _contour_numbers(contour: ContourSet, rulers: Rulers) -> str:
    """Describe each level by the length and the mean place of its curves.

    Both are sums over the curve, so they do not depend on how many vertices it happens to have.
    """
    levels = np.asarray(contour.levels, float)
    if contour.filled:  # one path a band: the band is named by its lower level
        levels = levels[:-1]
    words = []
    for level, path in zip(levels, contour.get_paths(), strict=True):
        pieces = [p for p in path.to_polygons(closed_only=False) if len(p) > 1]
        if not pieces:
            words.append(f"{approx(level, 5)}: none")
            continue
        spans = np.array([r.span for r in rulers])
        length, moment = 0.0, np.zeros(2)
        for p in pieces:
            steps = np.linalg.norm(np.diff(p, axis=0) / spans, axis=1)
            length += steps.sum()
            moment += steps @ (0.5 * (p[1:] + p[:-1]))
        centre = _place(moment / length, rulers) if length > 0 else ""
        words.append(f"{approx(level, 5)}: {on_grain(length, 10 * rulers[0].place)} at {centre}")
    return " | ".join(words)


def _place(point: Iterable[float], rulers: Rulers) -> str:
    """Write a point, each coordinate rounded on its axis."""
    return f"({', '.join(r.shown(v) for r, v in zip(rulers, point, strict=True))})"


def _values(values: NDArray, name: str, place: float) -> str:
    """Summarise numbers that are not positions, on a ruler of their own size."""
    finite = values[np.isfinite(values)]
    size = float(np.max(np.abs(finite), initial=0.0)) or 1.0
    return Ruler(name, None, -size, size, place).summary(values)


def _mapped(collection: Collection, place: float) -> str:
    """Describe the values behind a colour map, if there are any."""
    array = collection.get_array()
    if array is None:
        return ""
    return "; " + _values(np.ma.filled(np.ma.asarray(array, float), np.nan).ravel(), "c", place)


def _has_line(line: Line2D) -> bool:
    return line.get_linestyle() not in ("None", "none", " ", "")


def _marker(line: Line2D) -> str:
    marker = line.get_marker()
    return "" if marker in ("None", "none", " ", "", None) else str(marker)


def _line_look(line: Line2D) -> str:
    has_line = _has_line(line)
    look = [to_hex(line.get_color())] if has_line else [to_hex(line.get_markerfacecolor())]
    if has_line:
        unscaled = getattr(line, "_unscaled_dash_pattern", (0, None))[1]
        look.append("dashed " + " ".join(f"{d:g}" for d in unscaled) if unscaled else "solid")
    if marker := _marker(line):
        look.append(f"marker {marker}")
    return " ".join(look)


def _colours(rgba: ArrayLike, most: int = 4) -> str:
    """List the distinct colours of an artist, at most four of them."""
    table = np.atleast_2d(np.asarray(rgba, float))
    if table.size == 0:
        return "none"
    distinct = list(dict.fromkeys(to_hex(c, keep_alpha=c[-1] < 1) for c in table))
    more = f" and {len(distinct) - most} more" if len(distinct) > most else ""
    return ",".join(distinct[:most]) + more


def legend_line(legend: Legend) -> str:
    """List the entries of a legend."""
    return "legend " + " / ".join(t.get_text() for t in legend.get_texts())


def _in_data(artist: Artist, ax: Axes) -> bool:
    """Whether the artist's numbers are positions on the axes."""
    if isinstance(ax, Axes3D):
        return True
    transform = artist.get_transform()
    if isinstance(artist, Collection):
        transform = artist.get_offset_transform()
        if not isinstance(artist, PathCollection | Quiver):
            transform = artist.get_transform()
    return all(transform.contains_branch_seperately(ax.transData))


def _frame(artist: Artist, ax: Axes) -> str:
    """Say which coordinates are shares of the axes' width or height instead of positions."""
    x, y = artist.get_transform().contains_branch_seperately(ax.transData)
    return {(False, True): "(x in shares)", (True, False): "(y in shares)"}.get(
        (x, y), "(in shares)"
    )
