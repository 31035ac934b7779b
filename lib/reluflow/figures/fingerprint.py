"""What a figure shows, written down in text, so that a test can compare it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, LineCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import AxLine, Line2D
from matplotlib.patches import Patch
from matplotlib.quiver import Quiver
from matplotlib.spines import Spine
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedFormatter, FuncFormatter
from matplotlib.transforms import BboxBase, Transform
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import approx, on_grain
from reluflow.figures.frame import CurveName

# --- Round positions to a share of their axis, safely against rounding noise ----------------------

PLACE = 1e-4  # positions are written to about this share of the axis


@dataclass(frozen=True)
class Ruler:
    """One coordinate axis: its name, its scale and its ends."""

    name: str
    transform: Transform | None  # from data to the axis's own scale, say log10; None is linear
    low: float
    high: float

    def on_axis(self, values: ArrayLike) -> NDArray:
        """Read values on the axis's scale; off a curved axis they count as its end."""
        values = np.atleast_1d(np.asarray(values, float))
        if self.transform is None or self.transform.is_affine:
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
        return on_grain(read, self._grain(PLACE, abs(read)))

    def extent(self, values: NDArray) -> str:
        """Write the name and the range of positions (on the axis's scale, none of them NaN)."""
        grain = self._grain(PLACE, float(np.max(np.abs(values))))
        low, high = (on_grain(v, grain) for v in (values.min(), values.max()))
        curved = self.transform is not None and not self.transform.is_affine
        return f"{self.name}{' (log)' if curved else ''} [{low}, {high}]"

    def summary(self, values: ArrayLike) -> str:
        """Summarise positions in their order: range, mean, first and last, and the way between."""
        v = self.on_axis(np.asarray(values, float))
        kept = v[np.isfinite(v)]
        if len(kept) == 0:
            return f"{self.name} nowhere"
        reach = float(np.max(np.abs(kept)))
        way = float(np.sum(np.abs(np.diff(kept))))
        coarse, fine = self._grain(PLACE, reach), self._grain(PLACE / 10, reach)
        words = f"{self.extent(kept)} mean {on_grain(kept.mean(), fine)}"
        words += f" ends {on_grain(kept[0], coarse)} {on_grain(kept[-1], coarse)}"
        words += f" way {on_grain(way, self._grain(10 * PLACE, max(reach, way)))}"
        return words if len(kept) == len(v) else f"{words} gaps {len(v) - len(kept)}"

    def _grain(self, share: float, reach: float) -> float:
        """The step of rounding: a power of ten near `share` of the axis, well above noise."""
        wanted = max(share * self.span, 1e-9 * reach)
        return 10.0 ** math.floor(math.log10(wanted * (1.0 + 1e-6)))


# --- Describe curves by what does not depend on where they happen to be sampled -------------------

PLACES = 8
# Shares of a curve's way at which its places are written. The offset keeps them away from the
# joints of several equal pieces, where noise would decide between an end and a beginning.
SHARES = (np.arange(PLACES) + 0.5137293) / PLACES
POINT = 1e-5  # a curve shorter than this share of the axes is a point

Rulers = Sequence[Ruler]


def outline(pieces: Sequence[NDArray], rulers: Rulers) -> str:
    """Describe curves by length, range, mean, ends, and places at fixed shares of their way.

    All of it is measured on the axes' scales, lengths in lengths of the axes. Two samplings of one
    curve give the same up to the square of their spacing.

    Parameters: `pieces`, each a curve (k, d) in data coordinates, NaN where it is interrupted;
    `rulers`, the d axes. A curve's mean is over x where it is a graph over x, else over its way.
    """
    read = [
        np.column_stack([r.in_reach(c) for r, c in zip(rulers, p.T, strict=True)]) for p in pieces
    ]
    whole = [part for piece in read for part in _unbroken(piece)]
    if not whole:
        return " ".join(f"{r.name} nowhere" for r in rulers)
    spans = np.array([r.span for r in rulers])
    steps = [np.linalg.norm(np.diff(part, axis=0) / spans, axis=1) for part in whole]
    length = float(sum(s.sum() for s in steps))
    points = np.concatenate(whole)
    if length < POINT:
        return f"at {_outlines_place(points[0], rulers)}"
    middles = np.concatenate([0.5 * (part[1:] + part[:-1]) for part in whole])
    weights = np.concatenate(steps)
    if len(whole) == 1 and len(rulers) == 2 and _is_graph(np.diff(points[:, 0]) / spans[0]):
        weights = np.abs(np.diff(points[:, 0]))
    mean = weights @ middles / weights.sum()
    # Between two pieces nothing is drawn, and the way does not grow.
    way = np.cumsum(np.concatenate([part for s in steps for part in ([0.0], s)]))
    along = np.column_stack([np.interp(SHARES * length, way, column) for column in points.T])
    ranges = "; ".join(r.extent(column) for r, column in zip(rulers, points.T, strict=True))
    places = " ".join(_outlines_place(p, rulers) for p in (points[0], *along, points[-1]))
    return (
        f"length {on_grain(length, 10 * PLACE)}; {ranges}; "
        f"mean {_outlines_place(mean, rulers)}; along {places}"
    )


def closed(piece: NDArray) -> NDArray:
    """Return the curve (k, d) with its first point once more at its end."""
    return np.concatenate([piece, piece[:1]])


def _is_graph(moves: NDArray) -> bool:
    """Whether x moves (shares of its axis) go one way, but for noise, and go somewhere."""
    back, forth = sorted((-moves[moves < 0].sum(), moves[moves > 0].sum()))
    return back <= POINT < 100 * POINT <= forth


def _unbroken(piece: NDArray) -> list[NDArray]:
    """The stretches of a curve between its gaps."""
    finite = np.isfinite(piece).all(axis=1)
    cuts = np.flatnonzero(np.diff(finite.astype(int))) + 1
    parts = np.split(piece, cuts)
    return [p for p, kept in zip(parts, np.split(finite, cuts), strict=True) if len(p) and kept[0]]


def _outlines_place(read: NDArray, rulers: Rulers) -> str:
    return f"({', '.join(r.written(float(v)) for r, v in zip(rulers, read, strict=True))})"


# --- Describe one drawn artist in one line: its kind, label, colours and where its points lie -----

NO_NUMBERS = "no points"
FEW = 6  # up to so many points are listed one by one


def describe(artist: Artist | BarContainer, ax: Axes, rulers: Rulers) -> str:
    """Describe one artist in one line."""
    if isinstance(artist, Legend):
        return legend_line(artist)
    kind, look, data = _kind_look_data(artist, rulers)
    name = str(artist.get_label() or "")
    label = "" if name.startswith("_") or isinstance(artist, Text) or not name else repr(name)
    where = "" if isinstance(artist, Text | BarContainer) else _shares(artist, ax)
    return " ".join(part for part in (kind, label, look, where, data) if part)


def _kind_look_data(artist: Artist | BarContainer, rulers: Rulers) -> tuple[str, str, str]:
    match artist:
        case BarContainer():  # by the lower left and upper right corner of each
            boxes = np.array([b.get_bbox().get_points() for b in artist.patches])
            each = [f"{_artists_place(a, rulers)}-{_artists_place(b, rulers)}" for a, b in boxes]
            data = " ".join(each) if len(boxes) <= FEW else numbers(boxes.reshape(-1, 2).T, rulers)
            look = _colours([b.get_facecolor() for b in artist.patches])
            return f"bars {len(boxes)}", look, data
        case Annotation():
            arrow = " arrow" if artist.arrow_patch is not None else ""
            where = _artists_place(artist.xy, rulers)
            if artist.anncoords == "data":
                where += " from " + _artists_place(artist.get_position(), rulers)
            return f"note{arrow}", repr(artist.get_text()) if artist.get_text() else "", where
        case CurveName():  # where it stands follows from the curves
            return "name", repr(artist.get_text()), ""
        case Text():
            return "text", repr(artist.get_text()), _artists_place(artist.get_position(), rulers)
        case AxLine():
            there, here = artist.get_xy2(), _artists_place(artist.get_xy1(), rulers)
            slope = f"slope {approx(artist.get_slope(), 5)}" if there is None else ""
            end = slope or _artists_place(there, rulers)
            return "endless line", _line_look(artist), f"{here} {end}"
        case Line2D():
            return "line", _line_look(artist), _line(artist, artist.get_xydata().T, rulers)
        case ContourSet():
            return "contour", _colours(artist.get_edgecolor()), _contour_numbers(artist, rulers)
        case Quiver():
            u, v = (np.asarray(c, float).ravel() for c in (artist.U, artist.V))
            data = numbers(np.asarray(artist.get_offsets(), float).T, rulers)
            data += f"; {_values(u, 'u')}; {_values(v, 'v')}"
            return "quiver", _colours(artist.get_facecolor()), data
        case QuadMesh():
            corners = np.asarray(artist.get_coordinates(), float).reshape(-1, 2)
            return "mesh", "", numbers(corners.T, rulers) + _mapped(artist)
        case PathCollection():
            data = numbers(np.asarray(artist.get_offsets(), float).T, rulers)
            return "scatter", _colours(artist.get_facecolor()), data + _mapped(artist)
        case LineCollection():
            segments = [np.asarray(s, float) for s in artist.get_segments()]
            data = curves(segments, rulers)
            return f"lines of {len(segments)}", _colours(artist.get_edgecolor()), data
        case Collection():
            edges = [e for p in artist.get_paths() for e in p.to_polygons(closed_only=False)]
            data = curves([closed(e) for e in edges if len(e)], rulers)
            return "region", _colours(artist.get_facecolor()), data + _mapped(artist)
        case AxesImage():
            values = np.asarray(artist.get_array(), float)
            left, right, bottom, top = artist.get_extent()
            extent = numbers([[left, right], [bottom, top]], rulers)
            return f"image {values.shape}", "", f"{_values(values.ravel(), 'c')}; {extent}"
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
        return " ".join(_artists_place(point, rulers) for point in zip(*columns, strict=True))
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
    columns: list[NDArray] = [np.ma.filled(np.ma.asarray(c, float), np.nan) for c in data]
    if line.get_linestyle() == "None" or len(columns[0]) <= FEW:
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
        centre = _artists_place(moment / length, rulers) if length > 0 else ""
        words.append(f"{approx(level, 5)}: {on_grain(length, 10 * PLACE)} at {centre}")
    return " | ".join(words)


def _artists_place(point: Iterable[float], rulers: Rulers) -> str:
    return f"({', '.join(r.shown(v) for r, v in zip(rulers, point, strict=True))})"


def _values(values: NDArray, name: str) -> str:
    finite = values[np.isfinite(values)]
    size = float(np.max(np.abs(finite), initial=0.0)) or 1.0
    return Ruler(name, None, -size, size).summary(values)


def _mapped(collection: Collection) -> str:
    array = collection.get_array()
    if array is None:
        return ""
    return "; " + _values(np.ma.filled(np.ma.asarray(array, float), np.nan).ravel(), "c")


def _marker(line: Line2D) -> str:
    marker = line.get_marker()
    return "" if marker in ("None", "none", " ", "", None) else str(marker)


def _line_look(line: Line2D) -> str:
    has_line = line.get_linestyle() != "None"
    look = [to_hex(line.get_color() if has_line else line.get_markerfacecolor())]
    if has_line:
        unscaled = getattr(line, "_unscaled_dash_pattern", (0, None))[1]
        look.append("dashed " + " ".join(f"{d:g}" for d in unscaled) if unscaled else "solid")
    if marker := _marker(line):
        look.append(f"marker {marker}")
    return " ".join(look)


def _colours(rgba: ArrayLike) -> str:
    most = 4
    table = np.atleast_2d(np.asarray(rgba, float))
    if table.size == 0:
        return "none"
    distinct = list(dict.fromkeys(to_hex(c, keep_alpha=c[-1] < 1) for c in table))
    more = f" and {len(distinct) - most} more" if len(distinct) > most else ""
    return ",".join(distinct[:most]) + more


def legend_line(legend: Legend) -> str:
    """List the entries of a legend."""
    return "legend " + " / ".join(t.get_text() for t in legend.get_texts())


def _shares(artist: Artist, ax: Axes) -> str:
    """Say which coordinates are shares of the axes' width or height instead of positions."""
    placed = isinstance(artist, PathCollection | Quiver)
    transform = artist.get_offset_transform() if placed else artist.get_transform()
    x, y = transform.contains_branch_seperately(ax.transData)
    return "" if x and y else "(y in shares)" if x else "(x in shares)" if y else "(in shares)"


# --- All of a figure ------------------------------------------------------------------------------
#
# nbval ignores pictures. The fingerprint lists for every axes its title, labels, scales and limits,
# and for every artist its kind, its label, its colours, how many points it has and where they lie.
#
# Positions are rounded to a fixed share of the axis, never to a number of digits of their own, so a
# value that is zero to rounding prints as zero. They carry the mark of a measured number
# (`reluflow.approx`): on another CPU the last digit may be its neighbour, and a comparison lets it.


def fingerprint_of(fig: Figure) -> str:
    """Return the text that describes everything drawn in a figure, one line an artist."""
    fig.draw_without_rendering()  # limits, layout and legends settle when a figure is drawn
    return describe_drawn(fig)


def describe_drawn(fig: Figure) -> str:
    """Return the fingerprint of a figure that has been drawn before and not changed since."""
    width, height = fig.get_size_inches()
    lines = [f"figure {width:g} x {height:g} in"]
    if fig.get_suptitle():
        lines[0] += f" {fig.get_suptitle()!r}"
    for text in fig.texts:
        if text.get_visible() and text.get_text() and text.get_text() != fig.get_suptitle():
            lines.append(f"  text {text.get_text()!r}")
    lines += [f"  {legend_line(legend)}" for legend in fig.legends if legend.get_visible()]
    shown = (ax for ax in fig.axes if ax.get_visible())
    for number, ax in enumerate(shown, start=1):
        lines += _axes(ax, number)
    lines += [f"cut off: {text!r}" for text in beyond_the_edge(fig)]
    return "\n".join(lines)


def _axes(ax: Axes, number: int) -> list[str]:
    titles = [ax.get_title(loc=loc) for loc in ("left", "center", "right")]
    head = " ".join([f"axes {number}", *(repr(t) for t in titles if t)])
    if not ax.axison:
        head += " without frame"
    lines, axes = [head], (ax.xaxis, ax.yaxis)
    rulers = [
        Ruler(name, axis.get_transform(), *axis.get_view_interval())
        for name, axis in zip("xy", axes, strict=True)
    ]
    for ruler, axis in zip(rulers, axes, strict=True):
        line = f"  {ruler.name} {axis.get_label_text()!r} {axis.get_scale()} "
        line += f"[{ruler.shown(ruler.low)}, {ruler.shown(ruler.high)}]"
        formatter = axis.get_major_formatter()
        if isinstance(formatter, FixedFormatter | FuncFormatter) and axis.get_visible():
            ticks = [t.get_text() for t in axis.get_ticklabels()]
            line += f" ticks {', '.join(ticks)}"
        lines.append(line)
    return lines + ["  " + describe(artist, ax, rulers) for artist in _drawn(ax)]


def _drawn(ax: Axes) -> Iterable[Artist | BarContainer]:
    """Yield the artists that show something, in the order in which they were added."""
    furniture = {id(ax.patch), id(ax.title), id(ax._left_title), id(ax._right_title)}
    bars = {id(b): c for c in ax.containers if isinstance(c, BarContainer) for b in c.patches}
    done: set[int] = set()
    for artist in ax.get_children():
        series = bars.get(id(artist))
        if series is not None:  # all bars of a series are one artist
            if id(series) not in done:
                done.add(id(series))
                yield series
            continue
        if id(artist) in furniture or isinstance(artist, Spine | Axis | Axes):
            continue
        shows = (
            not isinstance(artist, Text)
            or artist.get_text()
            or getattr(artist, "arrow_patch", None)
        )
        if artist.get_visible() and shows:
            yield artist


def cut_off(fig: Figure) -> list[str]:
    """Return the words of the figure that reach beyond its edge and so cannot be read in full."""
    fig.draw_without_rendering()
    return beyond_the_edge(fig)


def beyond_the_edge(fig: Figure) -> list[str]:
    """The same of a figure that has been drawn before and not changed since."""
    page = fig.bbox.padded(0.5)  # pixels
    boxes = [words for ax in fig.axes if ax.get_visible() for words in _words(ax)]
    texts = [t for legend in fig.legends for t in legend.get_texts()] + fig.texts
    boxes += [(t.get_text(), t.get_window_extent()) for t in texts if t.get_text()]
    return [
        words for words, box in boxes if not (page.contains(*box.min) and page.contains(*box.max))
    ]


def _words(ax: Axes) -> Iterable[tuple[str, BboxBase]]:
    for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
        box = axis.get_tightbbox() if axis.get_visible() else None
        if box is not None:
            yield axis.get_label_text() or f"ticks along {axis.axis_name}", box
    texts = [ax.title, ax._left_title, ax._right_title]
    texts += [t for t in ax.texts if not t.get_clip_on()]
    if ax.get_legend() is not None:
        texts += ax.get_legend().get_texts()
    for text in texts:
        if text.get_visible() and text.get_text():
            yield text.get_text(), Text.get_window_extent(text)  # of a note without its arrow
