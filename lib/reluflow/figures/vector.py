"""The one way by which a figure enters a chapter: vector graphics for a page and for a phone."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from IPython.display import display
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.gridspec import GridSpec
from matplotlib.text import Text
from matplotlib.textpath import TextToPath
from matplotlib.transforms import BboxBase

from reluflow.errors import InputError
from reluflow.figures.style import RC, house, legend_below

SVG = "image/svg+xml"
POINTS = 72  # to an inch, as SVG has them
PHONE = 4.2  # inches; at 100 px an inch a little more than a phone's column: letters stay readable
TALL = 0.85  # of its height is enough for a panel that becomes narrower
HIGHER = 3  # times a figure may grow so that no label is cut off
MANY = 4  # more panels than these, three or more in a row, stand in two columns

_PATH = re.compile(r'(?<= d=")[^"]*')
_LONG = re.compile(r"-?\d+\.\d{3,}")
_UNDATED = dict.fromkeys(("Date", "Creator", "Format", "Type"))


class _Canvas(FigureCanvasBase):
    """Words are measured by what draws them, and are parsed once for all figures of a process."""

    words = TextToPath()
    words.mathtext_parser.parse = cache(words.mathtext_parser.parse)
    words.get_text_width_height_descent = cache(words.get_text_width_height_descent)

    def __init__(self, fig: Figure) -> None:
        super().__init__(fig)
        fig.set_dpi(POINTS)
        width, height = POINTS * fig.get_size_inches()
        self.text, dpi = io.StringIO(), RC["figure.dpi"]
        self.renderer = RendererSVG(width, height, self.text, image_dpi=dpi, metadata=_UNDATED)
        self.renderer._text2path = self.words
        self.renderer._get_font_height_metrics = _line  # or `Text` asks the font's file each time

    def get_renderer(self) -> RendererSVG:
        """What measures words."""
        return self.renderer


@cache
def _line(prop: FontProperties) -> tuple[float, ...]:
    """Ascent, descent and gap of a font's lines in points, as `Text` has them."""
    font = get_font(fontManager._find_fonts_by_props(prop))
    scale = 1 / font.get_sfnt_table("head")["unitsPerEm"] * prop.get_size_in_points() * POINTS / 72
    signs = {"sTypoAscender": 1, "sTypoDescender": -1, "sTypoLineGap": 1}
    return tuple(sign * font.get_sfnt_table("OS/2")[name] * scale for name, sign in signs.items())


def svg(fig: Figure) -> str:
    """Draw a figure as one line of SVG, letters as outlines; equal figures give equal texts.

    Paths are written to a hundredth of a point: less than can be seen, and half the length.
    """
    return _drawn(fig)[0]


def _drawn(fig: Figure) -> tuple[str, tuple[str, ...]]:
    """A figure as SVG, and what is cut off."""
    canvas = _Canvas(fig)
    with house(), _still(fig):
        fig.draw(canvas.renderer)
        canvas.renderer.finalize()
        cut = tuple(_beyond_the_edge(fig))
    drawn = " ".join(canvas.text.getvalue().split())
    return _PATH.sub(lambda path: _LONG.sub(_rounded, path[0]), drawn), cut


@contextmanager
def _still(fig: Figure) -> Iterator[None]:
    """Within, an axis that has not moved gives the ticks, and the boxes of their labels, that it
    gave before: to lay out and draw a figure asks each of them dozens of times."""
    axes = [axis for ax in fig.axes for axis in (ax.xaxis, ax.yaxis)]
    asked = [(axis, name) for axis in axes for name in ("_update_ticks", "_get_ticklabel_bboxes")]
    for axis, name in asked:
        setattr(axis, name, _once(axis, getattr(axis, name)))
    try:
        yield
    finally:
        for axis, name in asked:
            delattr(axis, name)


def _once(axis: Axis, ask: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """`ask`, asked again where the limits or the place of its axes have changed."""
    told: dict[tuple[float, ...], list[Any]] = {}

    def answer(*given: Any) -> list[Any]:
        now = (*axis.axes.viewLim.bounds, *axis.axes.bbox.bounds)
        if now not in told:
            told.clear()  # what the ticks are now is of the last place
            told[now] = ask(*given)
        return told[now]

    return answer


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def stacked(fig: Figure) -> str:
    """Put the panels of a figure one below another, in the order in which they are read, and draw
    it; empty, and the figure is left alone, where its axes do not stand on one grid."""
    axes = [ax for ax in fig.axes if ax.get_visible() and ax.get_subplotspec() is not None]
    if len({id(ax.get_gridspec()) for ax in axes}) != 1:
        return ""
    grid, legends = axes[0].get_gridspec(), list(fig.legends)
    places = {ax: (ax.get_subplotspec().rowspan, ax.get_subplotspec().colspan) for ax in axes}
    order = sorted(set(places.values()), key=lambda place: [place[0].start, place[1].start])
    columns = 2 if grid.ncols > 2 and len(order) > MANY else 1
    row = (fig.get_figheight() - _high(fig)) / grid.nrows * (TALL if grid.ncols == 1 else 1.0)
    heights = [
        row * max(len(place[0]) for place in order[k : k + columns])
        for k in range(0, len(order), columns)
    ]
    with house():
        below = GridSpec(len(heights), columns, figure=fig, height_ratios=heights)
        for ax, place in places.items():
            ax.set_subplotspec(below[order.index(place)])
            _label(ax)
        fig.set_figwidth(min(PHONE, fig.get_figwidth()))
        for legend in legends:
            legend.remove()
            legend_below(fig)
        fig.set_figheight(sum(heights) + _high(fig))
    drawn, cut = _drawn(fig)
    for _ in range(HIGHER):
        if not cut:
            break
        again = not cut_off(fig)  # for it is laid out once more
        if not again:
            fig.set_figheight(1.15 * fig.get_figheight())
        drawn, cut = _drawn(fig)
        if again:
            break
    return drawn


def _high(fig: Figure) -> float:
    """The height of the legends of a figure, in inches."""
    return sum(legend.get_window_extent().height for legend in fig.legends) / fig.dpi


def _label(ax: Axes) -> None:
    """Write at a panel what it had left to another with which it shares an axis."""
    for axis, shared in ((ax.xaxis, ax.get_shared_x_axes()), (ax.yaxis, ax.get_shared_y_axes())):
        others = [o.xaxis if axis is ax.xaxis else o.yaxis for o in shared.get_siblings(ax)]
        if len(others) > 1:
            axis.set_tick_params(**{"labelbottom" if axis is ax.xaxis else "labelleft": True})
            axis.set_label_text(next(filter(None, (o.get_label_text() for o in others)), ""))


# --- Words that nobody can read in full ----------------------------------------------------------


def cut_off(fig: Figure) -> list[str]:
    """Return the words of the figure that reach beyond its edge and so cannot be read in full."""
    fig.draw_without_rendering()
    return _beyond_the_edge(fig)


def _beyond_the_edge(fig: Figure) -> list[str]:
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


# --- What a notebook stores, and a page shows ----------------------------------------------------

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Picture:
    """A drawn figure: its name, what can be seen in it, and its drawings as SVG.

    `narrow`, for a phone, is empty where the panels cannot be put one below another. It travels
    with the picture, as metadata: `reluflow.site.book` sets both into a page.
    """

    name: str
    alt: str
    wide: str
    narrow: str
    width: int  # pixels on the page
    cut: tuple[str, ...] = ()  # words beyond the edge of the wide one

    def __repr__(self) -> str:
        return f"<Figure {self.name}{f', cut off: {self.cut}' if self.cut else ''}>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, dict[str, object]]]:
        about = {"name": self.name, "width": self.width, "alt": self.alt, "narrow": self.narrow}
        return {SVG: self.wide, "text/plain": repr(self)}, {SVG: about}


def show(fig: Figure, name: str, *, alt: str) -> None:
    """Display a figure, and close it.

    Parameters: `name` in small letters, digits and hyphens ("fig-3a"), `alt` one or two sentences
    that say what can be seen, for readers who cannot see it.
    Raises InputError for an ill-formed name or an empty `alt`.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name {name!r} must consist of small letters, digits and hyphens")
    if not alt.strip():
        raise InputError(f"alt of figure {name!r} is empty: say in words what can be seen")
    (wide, cut), width = _drawn(fig), round(100 * fig.get_figwidth())
    display(Picture(name, " ".join(alt.split()), wide, stacked(fig), width, cut))
    plt.close(fig)  # a figure that pyplot knows would be shown again at the end of the cell
