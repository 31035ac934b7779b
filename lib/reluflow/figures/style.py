"""One house style: sizes, fonts, colours and markers of every figure of the book.

Nothing here touches matplotlib's global settings: figures come from `panels`, and every drawing
function of `reluflow.figures` works inside `house()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

TEXT_WIDTH = 7.0  # inches; at 100 px an inch this is the text column of a Jupyter Book page

RC: dict[str, object] = {
    "figure.dpi": 160,  # shown at 100 px an inch, sharp on a dense screen
    "figure.facecolor": "white",
    "svg.hashsalt": "reluflow",
    "font.family": "DejaVu Sans",  # shipped with matplotlib: the same letters on every machine
    "mathtext.fontset": "dejavusans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.labelsize": 10,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.titlelocation": "left",
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "grid.color": "#DDDDDD",
    "hatch.linewidth": 0.6,
    "path.simplify": True,
}

# Data: Paul Tol's "muted" scheme, safe for the common kinds of colour blindness and apart from the
# two flow colours below. Datum i has the colour i % 9 in every figure.
DATUM_COLOURS = (
    "#CC6677",
    "#117733",
    "#88CCEE",
    "#AA4499",
    "#999933",
    "#44AA99",
    "#882255",
    "#DDCC77",
    "#332288",
)
INK = "#222222"
QUIET = "#777777"
GLOBAL = "#F2B701"  # whatever belongs to the global minimum
LOCAL = "#FFFFFF"  # the other local minima: white inside a dark edge


# Okabe and Ito's blue and vermillion; line styles differ too, so that grey print stays readable.
# The thin curve lies over the thick one: where the two coincide, both remain visible.
CURVES: dict[str, dict[str, Any]] = {
    "ReLU flow": {"color": "#0072B2", "ls": "-", "lw": 2.0, "zorder": 3.0},
    "linear flow": {"color": "#D55E00", "ls": (0, (5.0, 2.0)), "lw": 1.8, "zorder": 3.2},
}
"""How the curve of one kind of dynamics is drawn (keyword arguments of `Axes.plot`)."""

# Markers that mean the same thing in every figure (keyword arguments of `Axes.plot`).
MARKERS: dict[str, dict[str, object]] = {
    "initial point": {"marker": "o", "ms": 6, "mfc": INK, "mec": "white", "mew": 0.8},
    "event": {"marker": "D", "ms": 5.5, "mfc": QUIET, "mec": "white", "mew": 0.8},
    "limit": {"marker": "o", "ms": 4.5, "mfc": "white", "mec": INK, "mew": 1.2},
    "global minimum": {"marker": "*", "ms": 15, "mfc": GLOBAL, "mec": INK, "mew": 0.9},
    "local minimum": {"marker": "s", "ms": 7.5, "mfc": LOCAL, "mec": INK, "mew": 1.2},
}


@contextmanager
def house() -> Iterator[None]:
    """Apply the house style inside a `with` block, and only there."""
    with mpl.rc_context(RC):
        yield


in_house_style = house()
"""Makes a drawing function use the house style whatever the reader's own settings are."""


@in_house_style
def panels(
    rows: int = 1,
    cols: int = 1,
    height: float = 4.2,
    *,
    titles: Sequence[str] = (),
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Figure, np.ndarray]:
    """Make a figure of `rows` x `cols` axes whose labels are never cut off.

    Parameters: `height` in inches, `titles` of the axes, row by row.
    Returns the figure and its axes as an array of shape (rows * cols,), row by row. The figure is
    not known to pyplot, so nothing but `show` displays it.
    """
    fig = Figure(figsize=(TEXT_WIDTH, height), layout="constrained")
    axes = fig.subplots(rows, cols, squeeze=False, sharex=sharex, sharey=sharey)
    for ax, title in zip(axes.ravel(), titles, strict=False):
        ax.set_title(title, loc="left")
    return fig, axes.ravel()


def datum_colour(i: int) -> str:
    """Return the colour of datum i (0-based), the same in every figure."""
    return DATUM_COLOURS[i % len(DATUM_COLOURS)]


def ink(colour: str) -> str:
    """Return a colour, darkened where it is too pale for text on white."""
    red, green, blue = to_rgb(colour)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    dim = min(1.0, 0.45 / max(light, 0.45))
    return to_hex((dim * red, dim * green, dim * blue))


def pale(colour: str, share: float) -> tuple[float, ...]:
    """Return this share of a colour in white."""
    return tuple(1.0 - share * (1.0 - c) for c in to_rgb(colour))


def subscript(i: int) -> str:
    """Write a number with subscript digits: 12 becomes ₁₂."""
    return str(i).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def datum_name(i: int) -> str:
    """Return the printed name of datum i: 0-based in code, x₁ on paper."""
    return f"x{subscript(i + 1)}"


def legend_entry(ax: Axes, label: str, **line: object) -> None:
    """Add an entry to the legend of `ax` without drawing anything (keywords as in `Axes.plot`)."""
    if label not in ax.get_legend_handles_labels()[1]:
        ax.add_line(Line2D([], [], label=label, **line))


@in_house_style
def legend_below(fig: Figure, columns: int = 3) -> Legend | None:
    """Put one legend for all axes under the figure, where it hides nothing.

    Equal labels are shown once, in the order in which they were drawn; without labels there is no
    legend (None). `columns` is reduced until the legend is no wider than the figure.
    """
    found: dict[str, object] = {}
    for ax in fig.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    while found:
        legend = fig.legend(
            list(found.values()), list(found.keys()), loc="outside lower center", ncols=columns
        )
        if columns == 1 or legend.get_window_extent().width <= fig.bbox.width:
            return legend
        legend.remove()
        columns -= 1
    return None


# --- Shares of random trials against a scale, with Wilson intervals -------------------------------


def shares(ax: Axes, at: ArrayLike, hits: ArrayLike, trials: ArrayLike, **line: Any) -> None:
    """Draw shares hits/trials, (m,) each, at `at`: seaborn draws the range of 95 % by Wilson."""
    import seaborn as sns  # with SciPy's laws, half a second for which no other picture waits

    from reluflow.statistics import wilson

    ends = np.array([*wilson(hits, trials), np.divide(hits, trials)])
    sns.lineplot(x=np.tile(at, 3), y=ends.ravel(), estimator="median", errorbar=("pi", 100), ax=ax,
                 err_style="bars", err_kws={"elinewidth": 1.2}, legend=False, **line)  # fmt: skip
