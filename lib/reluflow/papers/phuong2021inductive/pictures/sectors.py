"""Pictures of G on the circle, of neurons that come home, and of the chance that they die."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.shares import share_points
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.geometry.separability import serves, silent
from reluflow.papers.phuong2021inductive.dead_starts import WIDTHS, Counts, chances, plane
from reluflow.papers.phuong2021inductive.extremal import extremal_directions, height
from reluflow.statistics import wilson

POSITIVE, NEGATIVE = "#D55E00", "#0072B2"
"""Colours of whatever belongs to a positive, or to a negative, label or output weight."""
PALE = {"$S_{\\sigma^+}$": "#FBE0CF", "$S_{\\sigma^-}$": "#D3E6F4", "no datum active": "#D9D9D9"}
_FINE = 1441


@in_house_style
def hills(data: Sequence[tuple[str, NDArray, NDArray]]) -> Figure:
    """For each (title, X (n, 2), y (n,)): the data on the circle, and G along it with its strict
    local maxima and minima; the sectors (13) and (14) and the silent directions are coloured."""
    fig, axes = panels(2, len(data), height=6.2, titles=[title for title, _, _ in data])
    for k, (_, X, y) in enumerate(data):
        _circle(axes[k], X, y)
        _hill(axes[len(data) + k], X, y)
    axes[len(data)].set_ylabel("$G$")
    legend_below(fig, columns=4)
    return fig


@in_house_style
def coming_home(log_sizes: Sequence[float], home: NDArray, total: int, log_angles: Sequence[float],
                needed: Sequence[float]) -> Figure:  # fmt: skip
    """Left: share of neurons at home against the size of the start. Right: the largest start at
    which one neuron is at home, against its angle to the direction that it is driven away from."""
    fig, (left, right) = panels(1, 2, height=3.6, titles=("(a)", "(b)"))
    share_points(left, np.exp(log_sizes), home, total, "neurons at home, or dead",
                 xlabel="norm at the start", ylabel="share of neurons")  # fmt: skip
    angles = np.exp(log_angles)
    right.loglog(angles, np.exp(needed), "o", color=POSITIVE, label="largest norm that does")
    right.loglog(angles, angles, ls="--", color=style.INK, label="norm = angle")
    right.set(xlabel="angle to the negative sum", ylabel="norm at the start")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def dying(found: Mapping[str, Counts], gaps: NDArray, measured: NDArray, trials: int) -> Figure:
    """Left: the chance that one neuron dies against the angle between the labels, with fair signs
    and with signs chosen afterwards (2, m), and the closed forms. Right: that all p die, fair signs
    and data near the bound, against 2^-p."""
    fig, (left, right) = panels(1, 2, height=3.7, titles=("(a) one neuron", "(b) all neurons"))
    fine = np.linspace(90.0, 175.0, 120)
    exact = np.array([chances(*plane(g)) for g in fine])
    lines = (0.5 * (exact[:, 0] + exact[:, 1]), exact[:, 2])
    for line, shares, colour, marker, label in zip(
        lines, measured, (NEGATIVE, POSITIVE), "os", ("sign drawn by itself", "sign chosen after "
                                                                              "$w_j(0)$"),
        strict=True,
    ):  # fmt: skip
        left.plot(fine, line, color=colour, lw=1.3)
        low, high = wilson(np.rint(shares * trials).astype(int), trials)
        left.errorbar(gaps, shares,
                      yerr=[np.maximum(shares - low, 0.0), np.maximum(high - shares, 0.0)],
                      color=colour, marker=marker, ls="", ms=5, capsize=2.5,
                      label=label)  # fmt: skip
    left.axhline(0.5, color=style.INK, lw=0.9, ls=":", label="bound of the proof")
    left.set(xlabel="angle between the labels (degrees)", ylabel="chance to die", ylim=(0.0, 0.85))
    p = np.array(WIDTHS, float)
    right.plot(p, 2.0**-p, color=style.INK, ls=":", marker="_", ms=11, mew=1.6)
    names = list(found)
    for k, (one, colour, marker) in enumerate(zip(found.values(), (NEGATIVE, "#117733", "#AA4499"),
                                                  "o^D", strict=True)):  # fmt: skip
        share = one.drawn / one.trials
        low, high = wilson(one.drawn, one.trials)
        right.errorbar(p + 0.09 * (k - 1), share, color=colour, marker=marker, ls="", ms=5,
                       capsize=2.5,
                       yerr=[np.maximum(share - low, 0.0), np.maximum(high - share, 0.0)],
                       label=f"fair signs, {names[k]}")  # fmt: skip
    right.set(xlabel="width $p$", ylabel="chance that all die", ylim=(-0.02, 0.6))
    right.xaxis.set_major_locator(MultipleLocator(1))
    legend_below(fig, columns=3)
    return fig


def sectors(X: NDArray, y: NDArray, U: NDArray) -> dict[str, NDArray]:
    """Which directions U (m, 2) lie in the sectors (13), (14), and in none that sees a datum."""
    dead = silent(X, U)
    return dict(zip(PALE, (serves(X, y, U, 1.0) & ~dead, serves(X, y, U, -1.0) & ~dead, dead),
                    strict=True))  # fmt: skip


def _circle(ax: Axes, X: NDArray, y: NDArray) -> None:
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    turns = np.linspace(-np.pi, np.pi, _FINE)
    U = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for name, inside in sectors(X, y, U).items():
        for a, b in arcs(turns, inside):
            ax.add_patch(Wedge((0.0, 0.0), 1.0, *np.degrees([a, b]), color=PALE[name], lw=0.0))
    ax.add_patch(Circle((0.0, 0.0), 1.0, fill=False, ec=style.QUIET, lw=0.8))
    longest = np.linalg.norm(X, axis=1).max()
    for x, label in zip(X, y, strict=True):
        colour = POSITIVE if label > 0 else NEGATIVE
        tip = 0.85 * x / longest
        ax.plot([0.0, tip[0]], [0.0, tip[1]], color=colour, lw=0.9)
        ax.plot(*tip, marker="+" if label > 0 else "_", ls="", ms=8, mew=1.8, color=colour)
    for sign, colour, marker in ((1.0, POSITIVE, "^"), (-1.0, NEGATIVE, "v")):
        for w in extremal_directions(X, y, sign):
            ax.plot(*(1.1 * w), marker=marker, ls="", ms=7, color=colour)


def _hill(ax: Axes, X: NDArray, y: NDArray) -> None:
    turns = np.linspace(-np.pi, np.pi, _FINE)
    U = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for name, inside in sectors(X, y, U).items():
        for a, b in arcs(turns, inside):
            ax.axvspan(*np.degrees([a, b]), color=PALE[name], lw=0.0, zorder=0.1)
        style.legend_entry(ax, name, color=PALE[name], lw=7.0)
    ax.plot(np.degrees(turns), height(X, y, U), color=style.INK, lw=1.3)
    for sign, colour, marker, name in ((1.0, POSITIVE, "^", "strict maximum"),
                                       (-1.0, NEGATIVE, "v", "strict minimum")):  # fmt: skip
        for w in extremal_directions(X, y, sign):
            ax.plot(np.degrees(np.arctan2(w[1], w[0])), height(X, y, w), marker=marker, ls="", ms=8,
                    color=colour, zorder=5)  # fmt: skip
        style.legend_entry(ax, name, ls="", marker=marker, ms=7, color=colour)
    for label, colour, marker, name in ((1.0, POSITIVE, "+", "datum, $y = +1$"),
                                        (-1.0, NEGATIVE, "_", "datum, $y = -1$")):  # fmt: skip
        if np.any(y == label):
            style.legend_entry(ax, name, ls="", marker=marker, ms=8, mew=1.8, color=colour)
    ax.set(xlim=(-180, 180), xlabel="direction (degrees)")
    ax.xaxis.set_major_locator(MultipleLocator(90))


def arcs(turns: NDArray, inside: NDArray) -> list[tuple[float, float]]:
    """The stretches (from, to) of `turns` on which `inside` holds."""
    edges = np.diff(np.concatenate([[False], inside, [False]]).astype(int))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return [(float(turns[a]), float(turns[b])) for a, b in zip(starts, ends, strict=True)]
