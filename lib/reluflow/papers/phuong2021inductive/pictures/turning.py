"""Neurons in the plane from tiny weights to the limit: they turn, grow, and turn again."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.phuong2021inductive.long_flow import Late
from reluflow.papers.phuong2021inductive.pictures.sectors import (
    NEGATIVE,
    PALE,
    POSITIVE,
    arcs,
    sectors,
)

_FINE = 1441
_POINTS = 400
_START = 0.4
_ACTIVE = "positive data active", "negative data active", "no datum active"


@in_house_style
def turning(late: Late) -> Figure:
    """The paths of all neurons of a flow in the plane, those with a_j > 0 in one panel and those
    with a_j < 0 in the other: the angle is the direction, the radius grows with log |w_j|."""
    titles = ("(a) neurons with $a_j > 0$", "(b) neurons with $a_j < 0$")
    fig, axes = panels(1, 2, height=4.4, titles=titles)
    U, R = _moments(late)
    start = float(R[0].mean())
    radii = np.maximum(_START + (1.0 - _START) * (R - start) / (R.max() - start), 0.0)
    for ax, sign, colour in zip(axes, (1.0, -1.0), (POSITIVE, NEGATIVE), strict=True):
        _cones(ax, late.given.X, late.given.y)
        _targets(ax, late, sign, colour)
        living = set(late.own(sign).tolist())
        for j in np.flatnonzero(late.given.signs == sign).tolist():
            points = radii[:, j, None] * U[:, j]
            ax.plot(*points.T, color=colour, lw=1.3, zorder=3.0)
            ax.plot(*points[0], ls="", marker="o", ms=4.5, color=colour, zorder=4.0)
            if j not in living:
                ax.plot(*points[-1], ls="", marker="o", ms=6.0, mfc="white", mec=colour, zorder=5.0)
        style.legend_entry(ax, "a neuron dies", ls="", marker="o", ms=6.0, mfc="white",
                           mec=style.INK)  # fmt: skip
    legend_below(fig, columns=4)
    return fig


def _moments(late: Late) -> tuple[NDArray, NDArray]:
    """U (m, p, 2) and R (m, p): the first leg evenly in time, and the moments of the second."""
    t = np.linspace(0.0, late.begun, _POINTS)
    p = len(late.given.signs)
    Z = late.path.at(t)
    U = np.concatenate([Z[:, : 2 * p].reshape(len(t), p, 2), late.U])
    R = np.concatenate([Z[:, 2 * p :], late.R])
    return U / np.linalg.norm(U, axis=2, keepdims=True), R


def _cones(ax: Axes, X: NDArray, y: NDArray) -> None:
    ax.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    turns = np.linspace(-np.pi, np.pi, _FINE)
    around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for words, (name, inside) in zip(_ACTIVE, sectors(X, y, around).items(), strict=True):
        for a, b in arcs(turns, inside):
            ax.add_patch(Wedge((0.0, 0.0), 1.0, *np.degrees([a, b]), color=PALE[name], lw=0.0))
        style.legend_entry(ax, words, color=PALE[name], lw=7.0)
    ax.add_patch(Circle((0.0, 0.0), _START, fill=False, ec=style.QUIET, lw=0.7))
    style.legend_entry(ax, "the start", color=style.QUIET, lw=0.7)


def _targets(ax: Axes, late: Late, sign: float, colour: str) -> None:
    """The sum of the data of a label, where its neurons go first, and its max-margin vector."""
    total = late.given.X[late.given.y == sign].sum(axis=0)
    for v, dash, name in (
        (total, (0, (1.0, 1.5)), "sum of the data"),
        (late.limit.vectors[sign], (0, (5.0, 2.0)), "$w_+$ or $w_-$"),
    ):
        tip = 1.08 * v / np.linalg.norm(v)
        ax.plot([0.0, tip[0]], [0.0, tip[1]], color=style.INK, lw=1.0, ls=dash, zorder=2.0)
        style.legend_entry(ax, name, color=style.INK, lw=1.0, ls=dash)
