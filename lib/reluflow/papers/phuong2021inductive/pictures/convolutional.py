"""Figures 3 and 4 of Phuong & Lampert 2021, and how features become separable along training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.geometry.pair_products import ACROSS, MINUS, PLUS
from reluflow.papers.phuong2021inductive.convolutional import AFTER, BEFORE
from reluflow.papers.phuong2021inductive.convolutional_shown import Pairs, Shown

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
_KINDS = {
    ACROSS: (BLUE, "a 0 and a 1"),
    MINUS: (ORANGE, "two images of 0"),
    PLUS: (GREEN, "two images of 1"),
}
"""The paper's colours for the three kinds of pair."""
_SIDES = {BEFORE: ("-", style.INK), AFTER: ((0, (4.0, 2.0)), "#AA4499")}
SPECTRUM = 10


@in_house_style
def similarity(run: Shown) -> Figure:
    """Figure 3: the distributions of inner products of pixels and of features, layer by layer and
    before the ReLU, in units of the mean of |f|^2."""
    layers = run.before()
    titles = ["pixels", *(f"layer {k}" for k in range(1, len(layers)))]
    fig, axes = panels(2, 4, height=4.4, titles=titles)
    for ax, pairs in zip(axes, layers, strict=True):
        _distributions(ax, pairs)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    for ax in axes[-4:]:
        ax.set_xlabel(r"$\langle f_i, f_j\rangle$ / mean $|f|^2$")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def sides(run: Shown, part: str) -> Figure:
    """The features of layer 7 on all images of a part, before the ReLU and after it."""
    titles = [f"({chr(97 + k)}) {side}" for k, side in enumerate(run.whole[part])]
    fig, axes = panels(1, 2, height=2.9, titles=titles)
    for ax, pairs in zip(axes, run.whole[part].values(), strict=True):
        tallest = _distributions(ax, pairs)
        zeros = 1.0 - pairs.violations[ACROSS] / pairs.pairs[ACROSS]
        if tallest[ACROSS] > 3 * max(tallest[PLUS], tallest[MINUS]):
            ax.set_ylim(0.0, 1.3 * max(tallest[PLUS], tallest[MINUS]))
            ax.text(0.12, 0.97, f"blue goes on upwards:\n{zeros:.0%} of these pairs at 0 exactly",
                    transform=ax.transAxes, va="top", fontsize=8.5, color=BLUE)  # fmt: skip
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(r"$\langle f_i, f_j\rangle$ / mean $|f|^2$")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def along_training(runs: Mapping[str, Shown]) -> Figure:
    """The share of pairs that violate (OS) against epochs, at layer 7, and below it the largest
    singular values of W_7; a column a run."""
    names = list(runs)
    titles = [*names, *[""] * len(names)]
    fig, axes = panels(2, len(names), height=5.0, titles=titles)
    for k, run in enumerate(runs.values()):
        top, below = axes[k], axes[len(names) + k]
        late = run.epochs > 0
        for side, (line, colour) in _SIDES.items():
            shares = np.maximum(run.violated[side][late], _FLOOR)
            top.plot(run.epochs[late], shares, ls=line, color=colour, label=side)
        top.set_yscale("log")
        top.set_ylim(_FLOOR / 1.5, 1.0)
        below.plot(run.epochs[late], run.spectra[late, :SPECTRUM], color=BLUE, lw=1.1)
        below.set_ylim(bottom=0.0)
        wide = run.epochs[-1] > 50 * run.epochs[late][0]
        for ax in (top, below):
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        below.set_xlabel("epoch")
    axes[0].set_ylabel("share that violates (OS)")
    axes[len(names)].set_ylabel("singular values of $W_7$")
    legend_below(fig, columns=2)
    return fig


_FLOOR = 1e-6
"""Where no pair of a sample violates, the share is drawn here."""


@in_house_style
def weights(runs: Mapping[str, Shown]) -> Figure:
    """Figure 4: the ten largest singular values of W_7, and its rows in the top two singular
    directions; a row a run."""
    titles = []
    for name in runs:
        titles += [f"{name}: singular values", f"{name}: neurons"]
    fig, axes = panels(len(runs), 2, height=2.9 * len(runs) + 0.3, titles=titles)
    for k, run in enumerate(runs.values()):
        left, right = axes[2 * k : 2 * k + 2]
        ranks = np.arange(1, SPECTRUM + 1)
        left.plot(ranks, run.singular[:SPECTRUM], "o", color=BLUE, ms=5)
        left.set_ylim(bottom=0.0)
        left.set_xticks(ranks[::3])
        _signed(right, run.plane, run.second, "W_8[j]")
    legend_below(fig, columns=2)
    return fig


def _distributions(ax: Axes, pairs: Pairs) -> dict[str, float]:
    """Three densities, each with the same area, and a line at 0; returns how high they are."""
    tallest = {}
    for kind, (colour, name) in _KINDS.items():
        counts = np.array(pairs.counts[kind], float)
        edges = np.linspace(*pairs.edges, len(counts) + 1)
        heights = counts / counts.sum() / np.diff(edges)
        tallest[kind] = float(heights.max())
        ax.stairs(heights, edges, color=colour, fill=True, alpha=0.25)
        ax.stairs(heights, edges, color=colour, lw=1.2, label=name)
    ax.axvline(0.0, color=style.INK, lw=0.9)
    ax.set_ylim(bottom=0.0)
    return tallest


@in_house_style
def rays_and_clusters(planes: Mapping[str, tuple[NDArray, NDArray]]) -> Figure:
    """Neurons in the top two singular directions of their matrix, and the sign of their entry in
    the layer above; a panel a run: the rows (h, 2), and the entries (h,)."""
    titles = [f"({chr(97 + k)}) {name}" for k, name in enumerate(planes)]
    rows = -(-len(planes) // 2)
    fig, axes = panels(rows, 2, height=2.9 * rows + 0.3, titles=titles)
    for ax, (plane, second) in zip(axes, planes.values(), strict=True):
        _signed(ax, plane, second, "a_j")
    legend_below(fig, columns=2)
    return fig


def _signed(ax: Axes, plane: NDArray, second: NDArray, name: str) -> None:
    """Neurons (h, 2), by the sign of what they add to the output."""
    for positive, colour in ((True, ORANGE), (False, BLUE)):
        rows = (second > 0) == positive
        ax.plot(*plane[rows].T, "o", color=colour, ms=3.6, mew=0.0, alpha=0.75,
                label=f"${name} {'>' if positive else '<'} 0$")  # fmt: skip
    ax.axhline(0.0, color=style.QUIET, lw=0.6, zorder=0)
    ax.axvline(0.0, color=style.QUIET, lw=0.6, zorder=0)
    ax.set_aspect("equal", adjustable="datalim")
