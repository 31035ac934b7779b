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
from reluflow.flows.alignment_exact import Polygon
from reluflow.papers.min2024early.pictures.circle import NEGATIVE, PALE, POSITIVE, regions

_WINDOW = 2.0
"""Half the width of a panel, in lengths of the longest start."""


@in_house_style
def polygons(X: ArrayLike, y: ArrayLike, paths: Sequence[tuple[int, Polygon]]) -> Figure:
    """The polygons of neurons in the plane, those with v_j > 0 in one panel, the others in another.

    Parameters: X (n, 2), y (n,), paths the sign of each neuron with its path.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    size = max(float(np.linalg.norm(np.array(path.corners[0], float))) for _, path in paths)
    titles = ("(a) neurons with $v_j > 0$", "(b) neurons with $v_j < 0$")
    fig, axes = panels(1, 2, height=4.5, titles=titles)
    for ax, sign in zip(axes, (1, -1), strict=True):
        _weights(ax, X, y, size)
        for own, path in paths:
            if own == sign:
                colour = POSITIVE if sign > 0 else NEGATIVE
                _path(ax, path, sign * (y * np.array(path.patterns[-1])) @ X, colour, size)
    legend_below(fig, columns=4)
    return fig


def _weights(ax: Axes, X: NDArray, y: NDArray, size: float) -> None:
    """The plane of weights: the three cones, the boundaries and the directions of the data."""
    edge = _WINDOW * size
    ax.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    for name, where in regions(X, y).items():
        for a, b in where:
            ax.add_patch(Wedge((0.0, 0.0), 2.0 * edge, *np.degrees([a, b]), color=PALE[name],
                               lw=0.0, zorder=0.1))  # fmt: skip
        style.legend_entry(ax, name, color=PALE[name], lw=7.0)
    longest = np.linalg.norm(X, axis=1).max()
    for x, label in zip(X, y, strict=True):
        normal = 2.0 * edge * np.array([-x[1], x[0]]) / np.linalg.norm(x)
        ax.plot(*np.array([-normal, normal]).T, color=style.QUIET, lw=0.6, ls=(0, (1, 2)),
                zorder=0.5)  # fmt: skip
        ax.plot(*(0.75 * size * x / longest), ls="", ms=8, mew=2.0, zorder=2.0, **_datum(label))
    ax.add_patch(Circle((0.0, 0.0), size, fill=False, ec=style.QUIET, lw=0.5, zorder=0.6))
    style.legend_entry(ax, "boundary of a datum", color=style.QUIET, lw=0.6, ls=(0, (1, 2)))
    for sign in np.unique(y):
        words = f"datum, $y = {'+' if sign > 0 else '-'}1$"
        style.legend_entry(ax, words, ls="", ms=8, mew=2.0, **_datum(sign))


def _datum(label: float) -> dict[str, object]:
    return {"marker": "+", "color": POSITIVE} if label > 0 else {"marker": "_", "color": NEGATIVE}


def _path(ax: Axes, path: Polygon, last: NDArray, colour: str, size: float) -> None:
    """One polygon: a disc at its start, a dot at every bend, an arrow along `last` or a ring."""
    points = np.array(path.corners, float)
    ax.plot(*points[0], ls="", marker="o", ms=5.0, color=colour, zorder=4.0)
    ax.plot(*points.T, color=colour, lw=1.2, zorder=3.0)
    ax.plot(*points[1:].T, ls="", marker="o", ms=2.6, color=colour, zorder=3.5)
    if path.status == "dead":
        ax.plot(*points[-1], ls="", marker="o", ms=5.5, mfc="white", mec=colour, zorder=4.0)
        style.legend_entry(ax, "a neuron dies", ls="", marker="o", ms=5.5, mfc="white", mec=colour)
    elif np.any(last):
        end = points[-1] + 0.55 * size * last / np.linalg.norm(last)
        ax.annotate("", end, points[-1], zorder=3.0, annotation_clip=True,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2, "shrinkA": 0,
                                "shrinkB": 0, "mutation_scale": 9})  # fmt: skip
