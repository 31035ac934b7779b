"""What a figure shows, written down in text, so that a test can compare it.

nbval ignores pictures. The fingerprint lists for every axes its title, labels, scales and limits,
and for every artist its kind, label, words, colours and where its points lie: in shares of the
axes, (0, 0) in the lower left corner and (1, 1) in the upper right one.

Positions are rounded to a fixed share of the axes, never to a number of digits of their own, so
what is zero to rounding prints as zero. They carry the mark of a measured number
(`reluflow.approx`): on another CPU the last digit may be its neighbour, and a comparison lets it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path
from matplotlib.quiver import Quiver
from matplotlib.spines import Spine
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedFormatter, FuncFormatter
from matplotlib.transforms import BboxBase
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import approx, on_grain
from reluflow.figures.frame import CurveName

PLACE = 1e-4  # of the axes: positions are written to this share
POINT = 1e-5  # a curve shorter than this share of the axes is a point
FEW = 6  # up to so many points are listed one by one
# Shares of a curve's way at which its places are written. The offset keeps them away from the
# joints of several equal pieces, where noise would decide between an end and a beginning.
SHARES = (np.arange(8) + 0.5137293) / 8


# --- Curves are described by what does not depend on where they happen to be sampled --------------


def outline(pieces: Sequence[NDArray]) -> str:
    """Describe curves (k, 2), NaN where they are interrupted, by their length, their range, the
    area below them (the integral of y dx) and places at fixed shares of their way.

    Two samplings of one curve give the same up to the square of their spacing. Up to six points in
    all are listed.
    """
    whole = [part for piece in pieces for part in _unbroken(piece)]
    if not whole:
        return "nowhere"
    points, steps = np.concatenate(whole), [np.diff(part, axis=0) for part in whole]
    sizes = [np.linalg.norm(step, axis=1) for step in steps]
    length = sum(size.sum() for size in sizes)
    if len(points) <= FEW or length < POINT:
        return " ".join(map(_place, points if len(points) <= FEW else points[:1]))
    area = sum(s[:, 0] @ (p[1:, 1] + p[:-1, 1]) / 2 for p, s in zip(whole, steps, strict=True))
    # Between two pieces nothing is drawn, and the way does not grow.
    way = np.cumsum(np.concatenate([part for size in sizes for part in ([0.0], size)]))
    along = np.column_stack([np.interp(SHARES * length, way, column) for column in points.T])
    ends = f"{_place(points.min(axis=0))}-{_place(points.max(axis=0))}"
    places = " ".join(map(_place, (points[0], *along, points[-1])))
    return f"length {on_grain(length, 10 * PLACE)} in {ends} area {_written(area)} along {places}"


def _unbroken(piece: NDArray) -> list[NDArray]:
    """The stretches of a curve between its gaps."""
    finite = np.isfinite(piece).all(axis=1)
    cuts = np.flatnonzero(np.diff(finite)) + 1
    parts = np.split(piece, cuts)
    return [p for p, kept in zip(parts, np.split(finite, cuts), strict=True) if len(p) and kept[0]]


def _written(share: float) -> str:
    return on_grain(float(share), PLACE)


def _place(point: ArrayLike) -> str:
    return f"({', '.join(map(_written, np.asarray(point)))})"


def values(numbers: ArrayLike) -> str:
    """Describe numbers in their order, as a curve, in shares of the largest."""
    found: NDArray = np.ma.filled(np.ma.asarray(numbers, float), np.nan).ravel()
    size = float(np.max(np.abs(found[np.isfinite(found)]), initial=0.0)) or 1.0
    curve = np.column_stack([np.linspace(0.0, 1.0, len(found)), found / size])
    return f"n={len(found)} up to {approx(size, 4)} {outline([curve])}"


# --- What an artist is, and where in the axes its points lie --------------------------------------


def pieces(artist: Artist, ax: Axes) -> list[NDArray]:
    """The curves (k, 2) of an artist in shares of the axes. What is farther off than the axes are
    long counts as there, and off a logarithmic axis as its end."""
    transform = artist.get_transform()
    found: list[Any] = []
    match artist:
        case CurveName():  # where it stands follows from the curves
            pass
        case Annotation():
            transform = ax.transData if artist.xycoords == "data" else ax.transAxes
            start = [artist.get_position()] if artist.anncoords == "data" else []
            found = [[artist.xy, *start]]
        case Text():
            found = [[artist.get_position()]]
        case Line2D():
            found = [artist.get_xydata()]
        case PathCollection() | Quiver():
            transform, found = artist.get_offset_transform(), [artist.get_offsets()]
        case QuadMesh():
            found = [artist.get_coordinates().reshape(-1, 2)]
        case AxesImage():
            transform, found = ax.transData, [np.reshape(artist.get_extent(), (2, 2)).T]
        case Collection() | Patch():
            paths = artist.get_paths() if isinstance(artist, Collection) else [artist.get_path()]
            found = [part for path in paths for part in _parts(path)]
    low, high = np.transpose(
        [(-1, 2) if axis.get_scale() == "linear" else (0, 1) for axis in (ax.xaxis, ax.yaxis)]
    )
    return [
        np.clip((transform - ax.transAxes).transform(np.ma.filled(piece, np.nan)), low, high)
        for piece in found
        if len(piece)
    ]


def _parts(path: Path) -> list[NDArray]:
    codes = np.array([]) if path.codes is None else path.codes
    return np.split(path.vertices, np.flatnonzero(codes == Path.MOVETO)[1:])


def describe(artist: Artist, ax: Axes) -> tuple[str, list[NDArray]]:
    """What an artist is, and its curves."""
    if isinstance(artist, Legend):
        return legend_line(artist), []
    name, curves = str(artist.get_label()), pieces(artist, ax)
    words, marked = [type(artist).__name__.lower()], isinstance(artist, PathCollection | Quiver)
    if name and not name.startswith("_") and not isinstance(artist, Text):
        words.append(repr(name))
    match artist:
        case Text():
            words.append("arrow" if getattr(artist, "arrow_patch", None) else "")
            words.append(repr(artist.get_text()) if artist.get_text() else "")
        case Line2D():
            words.append(_line_look(artist))
            marked = bool(_marker(artist))
        case Patch():
            words += [_colours(artist.get_facecolor()), artist.get_hatch() or ""]
        case Collection() | AxesImage():
            array = artist.get_array()
            if array is None or isinstance(artist, ContourSet):
                faces = artist.get_facecolor()
                words.append(_colours(faces if len(faces) else artist.get_edgecolor()))
            if array is not None:
                words += [artist.get_cmap().name, values(array)]
            if isinstance(artist, Quiver):
                words += [values(artist.U), values(artist.V)]
    if marked and curves and len(curves[0]) > FEW:
        words.append(f"n={len(curves[0])}")
    return " ".join(filter(None, words)), curves


def _marker(line: Line2D) -> str:
    return str(line.get_marker() or "").strip().replace("None", "").replace("none", "")


def _line_look(line: Line2D) -> str:
    has_line, marker = line.get_linestyle() != "None", _marker(line)
    look = [to_hex(line.get_color() if has_line else line.get_markerfacecolor())]
    if has_line:
        unscaled = getattr(line, "_unscaled_dash_pattern", (0, None))[1]
        look.append("dashed " + " ".join(f"{d:g}" for d in unscaled) if unscaled else "solid")
    return " ".join([*look, f"marker {marker}"] if marker else look)


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


# --- All of a figure ------------------------------------------------------------------------------


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


def _axes(ax: Axes, number: int) -> Iterator[str]:
    titles = [ax.get_title(loc=loc) for loc in ("left", "center", "right")]
    frame = [] if ax.axison else ["without frame"]
    yield " ".join([f"axes {number}", *map(repr, filter(None, titles)), *frame])
    for axis in (ax.xaxis, ax.yaxis):
        ends = axis.get_transform().transform(axis.get_view_interval())
        grain = 10.0 ** math.floor(math.log10(PLACE * (np.ptp(ends) or 1.0) * (1.0 + 1e-6)))
        low, high = (on_grain(end, grain) for end in ends)
        line = f"  {axis.axis_name} {axis.get_label_text()!r} {axis.get_scale()} [{low}, {high}]"
        formatter = axis.get_major_formatter()
        if isinstance(formatter, FixedFormatter | FuncFormatter) and axis.get_visible():
            line += f" ticks {', '.join(t.get_text() for t in axis.get_ticklabels())}"
        yield line
    told = (describe(artist, ax) for artist in _drawn(ax))
    # Artists that look alike, such as the bars of a series, share a line.
    for words, alike in groupby(told, key=lambda each: each[0]):
        found = [curves for _, curves in alike]
        times = f" x {len(found)}" if len(found) > 1 else ""
        curves = [curve for each in found for curve in each]
        yield f"  {words}{times}{f' {outline(curves)}' if curves else ''}"


def _drawn(ax: Axes) -> Iterator[Artist]:
    """Yield the artists that show something, in the order in which they were added."""
    furniture = (ax.patch, ax.title, ax._left_title, ax._right_title)
    for artist in ax.get_children():
        if artist in furniture or isinstance(artist, Spine | Axis | Axes):
            continue
        words = not isinstance(artist, Text) or artist.get_text()
        if artist.get_visible() and (words or getattr(artist, "arrow_patch", None)):
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
