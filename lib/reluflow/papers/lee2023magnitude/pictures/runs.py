"""Figures 1 and 2 of Lee, Sim & Ye 2022b, redrawn from full-scale runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.flows.population import PopulationPath
from reluflow.papers.lee2023magnitude.compliance import angle_curves, magnitude_curves
from reluflow.papers.lee2023magnitude.gaps import distance
from reluflow.papers.lee2023magnitude.runs import Run

UPPER, LOWER, NEW_UPPER, NEW_LOWER = "#E69F00", "#009E73", "#C0392B", "#8E44AD"
"""The paper's colours: orange and green, red and purple where the bounds start again."""
DATA, DASHES = "#0072B2", (0, (3.5, 2.0))
POINTS, MARKS = 300, 12


@in_house_style
def angles(runs: Sequence[Run]) -> Figure:
    """Figure 1: phi(T) with both bounds, a row a depth and a column a norm.

    Descent on data over the population's descent and flow, and how far they are apart.
    """
    fig, axes = _grid(runs)
    for ax, run in zip(axes, runs, strict=True):
        T = _shown(run)
        below, above = angle_curves(run, run.population)
        ax.plot(T, (np.pi - below)[T], color=UPPER, label="upper bound", zorder=2)
        ax.plot(T, (np.pi - above)[T], color=LOWER, label="lower bound", zorder=2)
        _paths(ax, run, T, lambda path: np.pi - path.theta)
        ax.axhline(np.pi, color=style.QUIET, lw=0.8, zorder=1)
        shown = [np.maximum(np.pi - above[T], 0.0), run.trained.phi[T]]
        ax.set_ylim(float(np.min(shown)) - 0.1, 3.3)
        _gap(ax, run, 0, 0.04)
    _labels(axes, runs, "angle $\\varphi(T)$")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def magnitudes(runs: Sequence[Run]) -> Figure:
    """Figure 2: |w(T)|/|w*| with its bounds, and with those that start again at a fifth of the
    steps.

    Only the runs of one and two layers, unless there are none. For more layers the bounds are those
    of Theorem 3.8 in its right form, at the times eta T.
    """
    chosen = [run for run in runs if run.setting.layers <= 2] or list(runs)
    fig, axes = _grid(chosen)
    for ax, run in zip(axes, chosen, strict=True):
        T = _shown(run)
        for start, upper, lower, word in (
            (0, UPPER, LOWER, ""),
            (run.setting.restart, NEW_UPPER, NEW_LOWER, ", restarted"),
        ):
            at = T[start <= T]
            curves = magnitude_curves(run.setting, run.trained, start)
            below, above = (curve[at - start] / run.target for curve in curves)
            ax.plot(at, above, color=upper, label=f"upper bound{word}", zorder=2)
            ax.plot(at, below, color=lower, label=f"lower bound{word}", zorder=2)
        _paths(ax, run, T, lambda path: path.length / path.target)
        place = run.setting.restart
        ax.plot(place, run.trained.length[place] / run.target, "o", ms=5, color=style.INK,
                label="restart", zorder=5)  # fmt: skip
        ax.set_ylim(bottom=0.0)
        _gap(ax, run, 1, 0.58)
    _labels(axes, chosen, "magnitude $|w(T)|\\,/\\,|w^*|$")
    legend_below(fig, columns=4)
    return fig


def _grid(runs: Sequence[Run]) -> tuple[Figure, NDArray]:
    """A row for each depth, a column for each norm, titles with the panel's name."""
    columns = len({run.setting.norm for run in runs})
    titles = [f"({chr(97 + k)}) {run.setting.name}" for k, run in enumerate(runs)]
    rows = len(runs) // columns
    return panels(rows, columns, height=2.05 * rows + 0.9, titles=titles, sharex=True)


def _shown(run: Run) -> NDArray:
    """The steps drawn: evenly spaced ones and dense early ones, the restart among them."""
    last = run.setting.steps
    early = np.geomspace(1, last, POINTS)
    even = np.linspace(0, last, POINTS)
    return np.unique(np.round([*even, *early, run.setting.restart])).astype(int)


def _paths(ax: Axes, run: Run, T: NDArray, value: Callable[[PopulationPath], NDArray]) -> None:
    """The run on data, thick, and over it the population's descent and flow."""
    if run.empirical is not None:
        ax.plot(T, value(run.empirical)[T], color=DATA, lw=2.6, label="descent on data", zorder=3)
    ax.plot(T, value(run.population)[T], color=style.INK, lw=1.1, ls=DASHES, zorder=3.2,
            label="descent on the population")  # fmt: skip
    few = T[np.unique(np.searchsorted(T, np.linspace(0, T[-1], MARKS)))]
    ax.plot(few, value(run.flow)[few], ls="", marker="o", ms=3.2, mfc="white", mew=0.9,
            mec=style.INK, label="flow of the population", zorder=3.4)  # fmt: skip


def _gap(ax: Axes, run: Run, which: int, height: float) -> None:
    """Write the largest distances: data from population (sample), descent from flow (step)."""
    words = [f"step {distance(run.population, run.flow)[which]:.0e}"]
    if run.empirical is not None:
        words.insert(0, f"sample {distance(run.empirical, run.population)[which]:.0e}")
    ax.text(0.97, height, "\n".join(words), transform=ax.transAxes, ha="right", va="bottom",
            fontsize=7.5, color=style.INK)  # fmt: skip


def _labels(axes: NDArray, runs: Sequence[Run], name: str) -> None:
    columns = len({run.setting.norm for run in runs})
    for ax in axes[-columns:]:
        ax.set_xlabel("step $T$")
    for ax in axes[::columns]:
        ax.set_ylabel(name)
    last = runs[0].setting.steps
    for ax in axes:
        ax.set_xlim(0, last)
        ax.set_xticks([0, last // 2, last])
        ax.ticklabel_format(axis="x", style="sci", scilimits=(0, 0))
