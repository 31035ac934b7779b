"""Write down in text what a figure shows, so that a test can compare it.

nbval ignores pictures. The fingerprint lists for every axes its title, labels, scales and limits,
and for every artist its kind, its label, its colours, how many points it has and where they lie.

Positions are rounded to a fixed share of the axis, never to a number of digits of their own, so a
value that is zero to rounding prints as zero. They carry the mark of a measured number
(`reluflow.approx`): on another CPU the last digit may be its neighbour, and a comparison lets it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.spines import Spine
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedFormatter, FuncFormatter
from matplotlib.transforms import Bbox, BboxBase
from mpl_toolkits.mplot3d import Axes3D, proj3d
from mpl_toolkits.mplot3d.art3d import Text3D

from reluflow.figures.artists import describe, legend_line
from reluflow.figures.rounding import PLACE, Ruler


def fingerprint_of(fig: Figure, place: float = PLACE) -> str:
    """Return the text that describes everything drawn in a figure, one line an artist.

    Positions are written to the share `place` of their axis.
    """
    fig.draw_without_rendering()  # limits, layout and legends settle when a figure is drawn
    return describe_drawn(fig, place)


def describe_drawn(fig: Figure, place: float = PLACE) -> str:
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
        lines += _axes(ax, number, place)
    lines += [f"cut off: {text!r}" for text in _beyond_the_edge(fig)]
    return "\n".join(lines)


def _axes(ax: Axes, number: int, place: float) -> list[str]:
    """Describe one axes: a headline, one line per axis of coordinates, one line per artist."""
    kind = "axes3d" if isinstance(ax, Axes3D) else "axes"
    titles = [ax.get_title(loc=loc) for loc in ("left", "center", "right")]
    head = " ".join([f"{kind} {number}", *(repr(t) for t in titles if t)])
    if isinstance(ax, Axes3D):
        head += f" view {ax.elev:g} {ax.azim:g}"
    if not ax.axison and not isinstance(ax, Axes3D):
        head += " without frame"
    lines = [head]
    rulers = _rulers(ax, place)
    for ruler, axis in zip(rulers, _coordinate_axes(ax), strict=True):
        scale = axis.get_scale() if hasattr(axis, "get_scale") else "linear"
        low, high = axis.get_view_interval() if isinstance(ax, Axes3D) else _limits(ax, axis)
        line = f"  {ruler.name} {axis.get_label_text()!r} {scale} "
        line += f"[{ruler.shown(low)}, {ruler.shown(high)}]"
        formatter = axis.get_major_formatter()
        if isinstance(formatter, FixedFormatter | FuncFormatter) and axis.get_visible():
            ticks = [t.get_text() for t in axis.get_ticklabels()]
            line += f" ticks {', '.join(ticks)}"
        lines.append(line)
    for artist in _drawn(ax):
        lines.append("  " + describe(artist, ax, rulers))
    return lines


def _coordinate_axes(ax: Axes) -> list[Axis]:
    return [ax.xaxis, ax.yaxis] + ([ax.zaxis] if isinstance(ax, Axes3D) else [])


def _limits(ax: Axes, axis: Axis) -> tuple[float, float]:
    if isinstance(ax, Axes3D):
        return axis.get_view_interval()
    return ax.get_xlim() if axis is ax.xaxis else ax.get_ylim()


def _rulers(ax: Axes, place: float) -> list[Ruler]:
    names = "xyz"
    return [
        Ruler(names[k], axis.get_transform(), *_limits(ax, axis), place)
        for k, axis in enumerate(_coordinate_axes(ax))
    ]


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
        if not artist.get_visible() or (isinstance(artist, Text) and _says_nothing(artist)):
            continue
        yield artist


def _says_nothing(text: Text) -> bool:
    arrow = isinstance(text, Annotation) and text.arrow_patch is not None
    return not text.get_text() and not arrow


def cut_off(fig: Figure) -> list[str]:
    """Return the words of the figure that reach beyond its edge and so cannot be read in full."""
    fig.draw_without_rendering()
    return _beyond_the_edge(fig)


def _beyond_the_edge(fig: Figure) -> list[str]:
    page = fig.bbox.padded(0.5)  # pixels
    boxes = [words for ax in fig.axes if ax.get_visible() for words in _words(ax)]
    texts = [t for legend in fig.legends for t in legend.get_texts()] + fig.texts
    boxes += [(t.get_text(), t.get_window_extent()) for t in texts if t.get_text()]
    return [
        words for words, box in boxes if not (page.contains(*box.min) and page.contains(*box.max))
    ]


def _words(ax: Axes) -> Iterable[tuple[str, BboxBase]]:
    """Yield titles, axis labels (with their ticks) and free text, each with its place in pixels."""
    framed = ax.axison or isinstance(ax, Axes3D)
    for axis in _coordinate_axes(ax) if framed else []:
        box = axis.get_tightbbox() if axis.get_visible() else None
        if box is not None:
            yield axis.get_label_text() or f"ticks along {axis.axis_name}", box
    texts = [ax.title, ax._left_title, ax._right_title]
    texts += [t for t in ax.texts if not t.get_clip_on()]
    if ax.get_legend() is not None:
        texts += ax.get_legend().get_texts()
    for text in texts:
        if text.get_visible() and text.get_text():
            yield text.get_text(), _extent(text, ax)


def _extent(text: Text, ax: Axes) -> Bbox:
    """Return where words stand, in pixels; those in space stand where their anchor is projected."""
    box = Text.get_window_extent(text)  # of a note without its arrow
    if not isinstance(text, Text3D):
        return box
    anchor = np.array(proj3d.proj_transform(*text.get_position_3d(), ax.get_proj())[:2])
    shift = ax.transData.transform(anchor) - ax.transData.transform(text.get_position())
    return Bbox(box.get_points() + shift)
