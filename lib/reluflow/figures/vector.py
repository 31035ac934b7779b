"""The one way by which a figure enters a chapter: vector graphics for a page and for a phone."""

from __future__ import annotations

import html
import io
import re
from dataclasses import dataclass
from functools import lru_cache

from IPython.display import display
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.textpath import TextToPath

from reluflow.errors import InputError
from reluflow.figures.fingerprint import beyond_the_edge, cut_off, describe_drawn
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
    words.mathtext_parser.parse = lru_cache(maxsize=None)(words.mathtext_parser.parse)

    def __init__(self, fig: Figure) -> None:
        super().__init__(fig)
        fig.set_dpi(POINTS)
        width, height = POINTS * fig.get_size_inches()
        self.text, dpi = io.StringIO(), RC["figure.dpi"]
        self.renderer = RendererSVG(width, height, self.text, image_dpi=dpi, metadata=_UNDATED)
        self.renderer._text2path = self.words

    def get_renderer(self) -> RendererSVG:
        """What measures words."""
        return self.renderer


def svg(fig: Figure) -> str:
    """Draw a figure as one line of SVG, letters as outlines; equal figures give equal texts.

    Paths are written to a hundredth of a point: less than can be seen, and half the length.
    """
    canvas = _Canvas(fig)
    with house():
        fig.draw(canvas.renderer)
        canvas.renderer.finalize()
    drawn = " ".join(canvas.text.getvalue().split())
    return _PATH.sub(lambda path: _LONG.sub(_rounded, path[0]), drawn)


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
    drawn = svg(fig)
    for _ in range(HIGHER):
        if not beyond_the_edge(fig):
            break
        if cut_off(fig):  # even when it is laid out once more
            fig.set_figheight(1.15 * fig.get_figheight())
        drawn = svg(fig)
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

    def __repr__(self) -> str:
        return f"<Figure {self.name}>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, dict[str, object]]]:
        about = {"width": self.width, "alt": self.alt, "narrow": self.narrow}
        return {SVG: self.wide, "text/plain": repr(self)}, {SVG: about}


@dataclass(frozen=True)
class Fingerprint:
    """What a figure shows, as text: folded away on a page, compared by nbval."""

    name: str
    text: str

    def __repr__(self) -> str:
        return f"fingerprint of {self.name}\n{self.text}"

    def _repr_html_(self) -> str:
        return (
            f'<details class="fingerprint"><summary>fingerprint of {html.escape(self.name)}'
            f"</summary><pre>{html.escape(self.text)}</pre></details>"
        )


def show(fig: Figure, name: str, *, alt: str) -> None:
    """Display a figure and, folded away, its fingerprint; then close it.

    Parameters: `name` in small letters, digits and hyphens ("fig-3a"), `alt` one or two sentences
    that say what can be seen, for readers who cannot see it.
    Raises InputError for an ill-formed name or an empty `alt`.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name {name!r} must consist of small letters, digits and hyphens")
    if not alt.strip():
        raise InputError(f"alt of figure {name!r} is empty: say in words what can be seen")
    wide = svg(fig)
    text, width = describe_drawn(fig), round(100 * fig.get_figwidth())
    display(Picture(name, " ".join(alt.split()), wide, stacked(fig), width))
    display(Fingerprint(name, text))
    plt.close(fig)  # a figure that pyplot knows would be shown again at the end of the cell
