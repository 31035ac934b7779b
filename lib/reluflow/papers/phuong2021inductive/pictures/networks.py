"""Figures 1 and 2 of Phuong & Lampert 2021 over many seeds, and where their numbers come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.phuong2021inductive.alignments import HIGH
from reluflow.papers.phuong2021inductive.convolutional import top_plane
from reluflow.papers.phuong2021inductive.limit import Limit
from reluflow.papers.phuong2021inductive.pictures.convolutional import BLUE, ORANGE
from reluflow.papers.phuong2021inductive.synthetic import Look
from reluflow.papers.phuong2021inductive.synthetic_seen import SPECTRUM, Course

_BINS = np.linspace(-0.2, 1.0, 25)


@in_house_style
def two_layers(runs: Sequence[Course], look: Look, goal: Limit) -> Figure:
    """Figure 1: singular values of all runs; the neurons of one run; correlations of all runs."""
    fig, axes = panels(1, 3, height=3.3, titles=["(a) singular values", "(b) neurons of one run",
                                                 "(c) correlations"])  # fmt: skip
    _spectra(axes[0], runs, 0)
    _neurons(axes[1], look.W, look.a, goal)
    _correlations(axes[2], runs)
    legend_below(fig, columns=3)
    return fig


@in_house_style
def four_layers(
    runs: Sequence[Course], look: Look, goal: Limit, others: Mapping[str, Sequence[Course]]
) -> Figure:
    """Figure 2: the same for the three hidden layers of a residual net, and its first layer's
    correlations; beside them those of two `others`, by name."""
    hidden = look.weights[:-1]
    titles = [f"({chr(97 + k)}) $W_{k + 1}$: singular values" for k in range(3)]
    titles += [f"({chr(100 + k)}) $W_{k + 1}$: rows, one run" for k in range(3)]
    titles += [
        f"({chr(103 + k)}) {name}" for k, name in enumerate(["$W_1$: correlations", *others])
    ]
    fig, axes = panels(3, 3, height=8.0, titles=titles)
    for k, W in enumerate(hidden):
        _spectra(axes[k], runs, k)
        _neurons(axes[3 + k], W, look.a, goal if k == 0 else None)
    for ax, each in zip(axes[6:], [runs, *others.values()], strict=True):
        _correlations(ax, each)
    legend_below(fig, columns=3)
    return fig


def _spectra(ax: Axes, runs: Sequence[Course], layer: int) -> None:
    ranks = np.arange(1, SPECTRUM + 1)
    for name, each, look in (
        ("end of training, all runs", [run.end for run in runs],
         {"marker": "o", "color": BLUE, "ms": 4.5, "alpha": 0.6}),
        ("start", [run.start for run in runs], {"marker": "_", "color": style.INK, "ms": 8}),
    ):  # fmt: skip
        for found in each:
            ax.plot(ranks, found.singular[layer], ls="", mew=0.9, **look)
        style.legend_entry(ax, name, ls="", **look)
    ax.set_ylim(bottom=0.0)
    ax.set_xticks(ranks[::3])


def _neurons(ax: Axes, W: NDArray, a: NDArray, goal: Limit | None) -> None:
    """The rows of W in its top two singular directions, and the directions of w_+ and w_-."""
    plane = top_plane(W)
    for positive, colour in ((True, ORANGE), (False, BLUE)):
        rows = (a > 0.0) == positive
        ax.plot(*plane[rows].T, "o", color=colour, ms=3.4, mew=0.0, alpha=0.75,
                label=f"$a_j {'>' if positive else '<'} 0$")  # fmt: skip
    if goal is not None:
        basis = np.linalg.lstsq(W, plane, rcond=None)[0]
        longest = np.linalg.norm(plane, axis=1).max()
        for sign, dash in ((1.0, "-"), (-1.0, (0, (4, 2)))):
            way = goal.vectors[sign] @ basis
            way *= longest / np.linalg.norm(way)
            ax.plot(*np.array([[0.0, 0.0], way]).T, color=style.INK, lw=1.0, ls=dash, zorder=0,
                    label=f"$w_{'+' if sign > 0 else '-'}$")  # fmt: skip
    ax.set_aspect("equal", adjustable="datalim")


def _correlations(ax: Axes, runs: Sequence[Course]) -> None:
    counts = np.array([np.histogram(run.end.cosines, _BINS)[0] for run in runs])
    ax.stairs(counts.mean(axis=0), _BINS, fill=True, color=BLUE, alpha=0.35,
              label="neurons a bin, mean of the runs")  # fmt: skip
    ax.axvline(HIGH, color=style.INK, lw=0.9, ls=(0, (2, 2)))
    ax.set_xlabel("cosine with $w_+$ or $w_-$")
    ax.set_yticks([0, 20, 40])
