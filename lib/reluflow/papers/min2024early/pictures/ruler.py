"""The alignment of neurons in the plane as polygons in weight space, drawn with a ruler.

While the same data activate w, the direction of w is that of a point that runs straight along
s x_a(w). Where the line meets a boundary <x_i, w> = 0 it bends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.flows.alignment import Alignment
from reluflow.papers.min2024early.pictures.circle import NEGATIVE, PALE, POSITIVE, regions

_WINDOW = 2.0
"""Half the width of a panel; starts have the length 1."""


def corners(path: Alignment) -> NDArray:
    """The polygon's points (k + 1, d): the start, of length 1, and one for each event.

    On a leg towards c, w moves along c and <w, e> stays the same: the next corner is the multiple
    of the direction there that has the same <., e>.
    """
    points = [path.directions[0]]
    for leg, direction in zip(path.legs[:-1], path.directions[1:], strict=True):
        share = direction @ leg.e
        points.append(direction * (points[-1] @ leg.e / share if share else 1.0))
    return np.array(points)


@in_house_style
def polygons(X: ArrayLike, y: ArrayLike, paths: Sequence[tuple[float, Alignment]]) -> Figure:
    """The polygons of neurons in the plane, those with v_j > 0 in one panel, the others in another.

    Parameters: X (n, 2), y (n,), paths the sign of each neuron with its path.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    titles = ("(a) $v_j > 0$: from the start, on the circle", "(b) $v_j < 0$")
    fig, axes = panels(1, 2, height=4.2, titles=titles)
    for ax, sign in zip(axes, (1.0, -1.0), strict=True):
        _weights(ax, X, y)
        for path in (path for own, path in paths if own == sign):
            _path(ax, path, POSITIVE if sign > 0 else NEGATIVE)
    legend_below(fig, columns=4)
    return fig


def _weights(ax: Axes, X: NDArray, y: NDArray) -> None:
    """The plane of weights: the three cones, the boundaries and the directions of the data."""
    ax.set(xlim=(-_WINDOW, _WINDOW), ylim=(-_WINDOW, _WINDOW), aspect="equal")
    ax.set_axis_off()
    for name, where in regions(X, y).items():
        for a, b in where:
            ax.add_patch(Wedge((0.0, 0.0), 2.0 * _WINDOW, *np.degrees([a, b]), color=PALE[name],
                               lw=0.0, zorder=0.1))  # fmt: skip
        style.legend_entry(ax, name, color=PALE[name], lw=7.0)
    longest = np.linalg.norm(X, axis=1).max()
    for x, label in zip(X, y, strict=True):
        colour = POSITIVE if label > 0 else NEGATIVE
        normal = 2.0 * _WINDOW * np.array([-x[1], x[0]]) / np.linalg.norm(x)
        ax.plot(*np.array([-normal, normal]).T, color=style.QUIET, lw=0.6, ls=(0, (1, 2)),
                zorder=0.5)  # fmt: skip
        ax.plot(*(0.75 * x / longest), ls="", marker="+" if label > 0 else "_", ms=8, mew=2.0,
                color=colour, zorder=2.0)  # fmt: skip
    style.legend_entry(ax, "boundary of a datum", color=style.QUIET, lw=0.6, ls=(0, (1, 2)))
    for sign, marker, colour in ((1.0, "+", POSITIVE), (-1.0, "_", NEGATIVE)):
        if np.any(y == sign):
            words = f"datum, $y = {'+' if sign > 0 else '-'}1$"
            style.legend_entry(ax, words, ls="", marker=marker, ms=8, mew=2.0, color=colour)
    ax.add_patch(Circle((0.0, 0.0), 1.0, fill=False, ec=style.QUIET, lw=0.6, zorder=0.6))


def _path(ax: Axes, path: Alignment, colour: str) -> None:
    """One polygon: a disc at its start, a dot at every bend, an arrow or a ring at its end."""
    points = corners(path)
    ax.plot(*points[0], ls="", marker="o", ms=5.0, color=colour, zorder=4.0)
    ax.plot(*points.T, color=colour, lw=1.2, zorder=3.0)
    ax.plot(*points[1:].T, ls="", marker="o", ms=2.6, color=colour, zorder=3.5)
    if path.status == "dead":
        ax.plot(*points[-1], ls="", marker="o", ms=5.5, mfc="white", mec=colour, zorder=4.0)
        style.legend_entry(ax, "dead", ls="", marker="o", ms=5.5, mfc="white", mec=colour)
    elif path.legs[-1].rate:
        end = points[-1] + 0.55 * path.legs[-1].c
        ax.annotate("", end, points[-1], zorder=3.0, annotation_clip=True,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2, "shrinkA": 0,
                                "shrinkB": 0, "mutation_scale": 9})  # fmt: skip
