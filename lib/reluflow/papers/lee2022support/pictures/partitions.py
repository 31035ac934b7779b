"""Figures 8 and 10 of Lee, Sim & Ye 2022a, from computed objects: a boundary, and all the cells."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import frame, style
from reluflow.figures.frame import Window
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.figures.weight_flow import annotate_minima, stationary_sets
from reluflow.figures.weight_space import activation_boundaries, cells, loss_levels, weight_plane
from reluflow.geometry import local_minima
from reluflow.networks import loss

QUADRANTS = (("3rd", 225.0, 180.0), ("2nd", 180.0, 90.0), ("1st", 90.0, 0.0), ("4th", 0.0, -90.0),
             ("3rd", -90.0, -135.0))  # fmt: skip


@in_house_style
def circle_of_cells(X: NDArray) -> Figure:
    """Figure 10: the cells of X (n, 2) around the circle, and each datum's activity along it.

    The circle is followed clockwise from the third quadrant, so that the second comes next.
    """
    fig, (plane, strip) = panels(
        1, 2, height=4.3, titles=("(a) the cells and the circle", "(b) active data along it")
    )
    weight_plane(plane, (-1.5, 1.5, -1.5, 1.5), equal=True)
    activation_boundaries(plane, X, names=False)
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    plane.plot(np.cos(turn), np.sin(turn), color=style.INK, lw=1.2, label="circle $|w| = 1$")
    ends = boundary_angles(X)
    middles = 0.5 * (ends + np.append(ends[1:], ends[0] - 360.0))
    for k, at in enumerate(middles, start=1):
        a = np.deg2rad(at)
        active = np.flatnonzero(X @ (np.cos(a), np.sin(a)) > 0) + 1
        names = "{" + ", ".join(map(str, active)) + "}" if len(active) else "∅"
        _words(plane, 1.3 * np.cos(a), 1.3 * np.sin(a), names, style.QUIET)
        _words(plane, 0.78 * np.cos(a), 0.78 * np.sin(a), f"$P_{k}$", style.INK)
        # The last cell lies at both ends of the strip.
        places = [at] if k < len(ends) else [0.5 * (225.0 + ends[0]), 0.5 * (ends[-1] - 135.0)]
        for place in places:
            _words(strip, place, len(X) + 0.9, f"$P_{k}$", style.INK)
    cells(plane, X, names=False)
    _activity(strip, X, ends)
    plane.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    legend_below(fig)
    return fig


def boundary_angles(X: ArrayLike) -> NDArray:
    """Angles in degrees, 225 down to -135, at which the circle meets the boundaries of X (n, 2)."""
    X = np.asarray(X, float)
    across = np.degrees(np.arctan2(X[:, 1], X[:, 0]))
    both = np.concatenate([across + 90.0, across - 90.0])
    turned = np.where(both <= -135.0, both + 360.0, both)
    return np.unique(np.round(turned, 9))[::-1]


def _activity(ax: Axes, X: NDArray, ends: NDArray) -> None:
    """One bar a datum where x_i.w > 0 along the circle, the quadrants named below."""
    n = len(X)
    for i, x in enumerate(X):
        middle = float(np.degrees(np.arctan2(x[1], x[0])))
        ax.plot([middle + 90.0, middle - 90.0], [i + 1, i + 1], lw=7, solid_capstyle="butt",
                color=style.datum_colour(i))  # fmt: skip
    style.legend_entry(ax, "$x_i$ is active", color=style.QUIET, lw=7)
    for end in ends:
        ax.axvline(end, color=style.QUIET, lw=0.6, ls=":")
    for name, start, stop in QUADRANTS:
        if name in ("2nd", "4th"):
            ax.axvspan(stop, start, color="#3B5B7A", alpha=0.10, lw=0)
        _words(ax, 0.5 * (start + stop), 0.35, name, style.QUIET)
    ax.set(
        xlim=(225.0, -135.0),
        ylim=(0.0, n + 1.4),
        yticks=range(1, n + 1),
        yticklabels=[style.datum_name(i) for i in range(n)],
        xticks=(180, 90, 0, -90),
        xticklabels=("180°", "90°", "0°", "−90°"),
        xlabel="angle of $w$, clockwise",
    )


@in_house_style
def across_boundary(X: NDArray, y: NDArray, w: NDArray, datum: int, window: Window) -> Figure:
    """Figure 8: (a) a point w on the boundary of x_j, the least of L there, and the line through it
    along x_j; (b) the loss on that line, with its two slopes at w, the line's parabolas."""
    x = X[datum] / np.linalg.norm(X[datum])
    fig, (plane, line) = panels(
        1, 2, height=4.1, titles=("(a) weight space", f"(b) the loss along $x_{datum + 1}$")
    )
    minima = local_minima(X, y)
    weight_plane(plane, window)
    loss_levels(plane, X, y, floor=minima[0].loss)
    stationary_sets(plane, minima, X)
    activation_boundaries(plane, X)
    reach = 1.35
    plane.plot(*np.array([w - reach * x, w + reach * x]).T, color="#0072B2", lw=2.2,
               label="line through $w^*$", zorder=3)  # fmt: skip
    s = np.linspace(-reach, reach, 271)
    values = loss(X, y, w + s[:, None] * x)
    line.plot(s, values, color="#0072B2", lw=2.2, label="loss $L$ on the line")
    for side, dashes, name in ((1.0, "--", "slope from $P_+$"), (-1.0, ":", "slope from $P_-$")):
        slope = float(loss(X, y, w + side * 1e-6 * x) - loss(X, y, w)) / (side * 1e-6)
        ends = np.array([-0.75, 0.75])
        line.plot(ends, float(loss(X, y, w)) + slope * ends, color="#D55E00", ls=dashes, lw=1.4,
                  label=name)  # fmt: skip
    plane.plot(*w, ls="", marker="o", ms=7, color=style.INK, zorder=5, label="$w^*$")
    line.plot(0.0, float(loss(X, y, w)), ls="", marker="o", ms=7, color=style.INK, zorder=5)
    line.axvline(0.0, color=style.datum_colour(datum), lw=1.2)
    line.text(0.03, 0.05, "$P_-$", transform=line.transAxes)
    line.text(0.97, 0.05, "$P_+$", transform=line.transAxes, ha="right")
    line.set(xlabel=f"$s$ in $w^* + s\\,x_{datum + 1}/|x_{datum + 1}|$", ylabel="loss")
    line.set_xlim(-reach, reach)
    annotate_minima(plane, minima, lambda m: f"$L = {m.loss:.3f}$")
    legend_below(fig)
    return fig


def _words(ax: Axes, at: float, height: float, words: str, colour: str) -> None:
    frame.halo_text(ax, np.array([at, height]), words, color=colour, fontsize=8.5, zorder=4)
