"""Figures 1 and 2 of Phuong & Lampert 2021 over many seeds, and where their numbers come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.phuong2021inductive.alignments import HIGH
from reluflow.papers.phuong2021inductive.broken_separability import (
    EDGES,
    NEURONS,
    SIGNS,
    Case,
    X,
    Y,
    counts,
)
from reluflow.papers.phuong2021inductive.convolutional import top_plane
from reluflow.papers.phuong2021inductive.limit import Limit
from reluflow.papers.phuong2021inductive.long_flow import Late
from reluflow.papers.phuong2021inductive.pictures.convolutional import BLUE, ORANGE
from reluflow.papers.phuong2021inductive.synthetic import Look
from reluflow.papers.phuong2021inductive.synthetic_seen import SPECTRUM, Course
from reluflow.statistics import wilson

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
        values = np.array([found.singular[layer] for found in each])
        ax.plot(np.tile(ranks, len(each)), values.ravel(), ls="", mew=0.9, **look)
        style.legend_entry(ax, name, ls="", **look)
    ax.set_ylim(bottom=0.0)
    ax.set_xticks(ranks[::3])
    ax.set_xlabel("number, the largest first")


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
    ax.set_xlabel("first singular direction")
    ax.set_ylabel("second")


def _correlations(ax: Axes, runs: Sequence[Course]) -> None:
    counts = np.array([np.histogram(run.end.cosines, _BINS)[0] for run in runs])
    ax.stairs(counts.mean(axis=0), _BINS, fill=True, color=BLUE, alpha=0.35,
              label="neurons a bin, mean of the runs")  # fmt: skip
    ax.axvline(HIGH, color=style.INK, lw=0.9, ls=(0, (2, 2)))
    ax.set_xlabel("cosine with $w_+$ or $w_-$")
    ax.set_ylabel("neurons")
    ax.set_yticks([0, 20, 40])


@in_house_style
def dials(
    long: Sequence[Course], scales: Mapping[str, Sequence[Course]], late: Late, n: int
) -> Figure:
    """Singular values along training; the share of high correlations from starts of several scales;
    and the angle between a group and its max-margin vector against log10(1/l), in the runs `long`
    on n data, of which the first has those of `late`, and along the flow of two neurons."""
    fig, axes = panels(1, 3, height=3.4, titles=["(a) singular values", "(b) cosines above 0.9",
                                                 "(c) angle to $w_\\pm$"])  # fmt: skip
    looks = [look for look in long[0].looks if look.epoch]
    epochs = [look.epoch for look in looks]
    for k in range(4):
        means = np.mean([[look.singular[0][k] for look in run.looks if look.epoch] for run in long],
                        axis=0)  # fmt: skip
        axes[0].loglog(epochs, means, color=BLUE if k < 2 else style.QUIET, lw=1.5)
    axes[0].axhline(long[0].start.singular[0][0], color=style.INK, lw=0.9, ls=(0, (2, 2)),
                    label="largest at the start")  # fmt: skip
    for (name, runs), shade in zip(scales.items(), np.linspace(0.25, 1.0, len(scales)),
                                   strict=True):  # fmt: skip
        at = [look.epoch for look in runs[0].looks[1:]]
        shares = np.mean([[look.high for look in run.looks[1:]] for run in runs], axis=0)
        axes[1].semilogx(at, shares, "o-", color=BLUE, alpha=shade, lw=1.4, ms=3.5)
        axes[1].annotate(f"× {name}", (at[-1], shares[-1]), xytext=(5, -3), fontsize=8,
                         textcoords="offset points", annotation_clip=False)  # fmt: skip
    axes[1].set_ylim(-0.04, 1.04)
    axes[1].set_xlim(30, 3e4)
    for k, (sign, colour) in enumerate(((1.0, ORANGE), (-1.0, BLUE))):
        w = late.limit.vectors[sign]
        angles = np.degrees(np.arccos(np.clip(late.U[:, k] @ w / np.linalg.norm(w), -1.0, 1.0)))
        axes[2].loglog(late.tau / np.log(10.0), angles, color=colour, lw=1.4,
                       label=f"flow, $a_j {'>' if sign > 0 else '<'} 0$")  # fmt: skip
        seen = [(-np.log10(look.loss * n), np.degrees(np.arccos(look.group[k])))
                for look in looks if look.loss * n < 0.3]  # fmt: skip
        axes[2].plot(*np.array(seen).T, "o", color=colour, ms=3.8, mew=0.0)
    axes[2].set_ylabel("degrees")
    axes[2].set_xlim(0.5, 1e4)
    axes[2].set_ylim(0.1, 40.0)
    axes[2].set_xlabel("$\\log_{10}(1/\\ell)$")
    for ax in axes[:2]:
        ax.set_xlabel("epochs")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def broken(found: Sequence[Case]) -> Figure:
    """Left: the share of limits other than (8), and of data with several extremal directions of one
    sign, by the least cosine mu. Right: the smallest instance, where its neurons go, and w_+."""
    fig, (left, right) = panels(1, 2, height=3.5, titles=["(a) data in space", "(b) four data"])
    hits, trials = counts(found)
    kept = [case for case in found if case.learnt]
    mu = np.array([case.mu for case in kept])
    several = np.histogram(mu[[case.extremal > 1 for case in kept]], EDGES)[0]
    at = np.array([np.median(mu[(mu >= low) & (mu < high)]) for low, high in pairwise(EDGES)])
    for count, colour, mark, name in (
        (hits, ORANGE, "o", "limit other than (8)"),
        (several, BLUE, "s", "several extremal directions"),
    ):
        low, high = wilson(count, trials)
        share = count / trials
        left.errorbar(at, share, [share - low, high - share], color=colour, marker=mark, ms=4.5,
                      lw=1.3, capsize=2, label=name)  # fmt: skip
    left.axvline(0.0, color=style.INK, lw=0.9, ls=(0, (2, 2)))
    left.annotate("(OS)", (0.02, 0.9), fontsize=9)
    left.set_xlabel("$\\mu$, least cosine of two $y_i x_i$")
    left.set_ylabel("share")
    left.set_ylim(-0.04, 1.04)
    for sign, colour, mark in ((1.0, ORANGE, "o"), (-1.0, BLUE, "s")):
        right.plot(*X[sign == Y].T, mark, color=colour, ms=7, mew=0.0)
        for way in NEURONS[sign == SIGNS]:
            end = 3.4 * way / np.linalg.norm(way)
            right.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour})
    right.annotate("", (3.0, 0.0), (0, 0), arrowprops={"arrowstyle": "-|>", "color": style.QUIET,
                                                      "ls": "--"})  # fmt: skip
    right.annotate("$w_+$", (2.3, 0.2), color=style.QUIET)
    right.plot([0], [0], "+", color=style.INK, ms=6)
    right.set_xlim(-3.8, 3.2)
    right.set_ylim(-3.3, 3.3)
    right.set_aspect("equal")
    legend_below(fig, columns=2)
    return fig
