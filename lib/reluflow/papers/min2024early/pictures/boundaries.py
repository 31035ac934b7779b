"""What happens on a boundary of activity: the examples of Appendix E, and crossings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.flows.integrate import FlowPath
from reluflow.papers.min2024early.crossings import Problem

COLOURS = ("#0072B2", "#D55E00", "#117733", "#AA4499")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)))


@in_house_style
def no_and_many(
    polygons: Sequence[tuple[str, NDArray, NDArray]],
    departure: tuple[NDArray, NDArray],
    delays: Sequence[float],
    until: float,
) -> Figure:
    """p = <x, w> against time: E.3, Euler polygons (name, times, p), and E.4, its solutions.

    Parameters: `departure`, times and p of the path that leaves at once; `delays`, the moments t_0
    at which the solutions shown leave; `until`, the end of E.4's axis.
    """
    titles = ("E.3: $y = -1$, $σ'(0) = 1/2$", "E.4: $y = +1$, $σ'(0) = 0$")
    fig, (left, right) = panels(1, 2, height=3.8, titles=titles)
    for k, (name, times, p) in enumerate(polygons):
        left.plot(times, p, color=COLOURS[k % 4], ls=DASHES[k % 4], label=name)
    _sides(left, "active, the flow goes down", "dead, at rest")
    left.set(xlabel="$t$", ylabel="$p = \\langle x, w\\rangle$", xlim=(0.0, 1.0))
    left.set_ylim(-0.12, 0.05)
    t, p = departure
    for k, t0 in enumerate(delays):
        moments = np.concatenate([[0.0, t0], t0 + t[1:]])
        right.plot(moments, np.concatenate([[0.0, 0.0], p[1:]]), color=COLOURS[k % 4],
                   ls=DASHES[k % 4], label=f"leaves at $t_0 = {t0:g}$")  # fmt: skip
    right.plot([0.0, until], [0.0, 0.0], color=style.INK, lw=2.4, label="stays for ever")
    _sides(right, "active, the flow goes up", "dead, at rest")
    right.set(xlabel="$t$", xlim=(0.0, until), ylim=(-0.35, 1.9))
    legend_below(fig, columns=3)
    return fig


def _sides(ax: Axes, above: str, below: str) -> None:
    """A line at p = 0 and what the flow does on its two sides."""
    ax.axhline(0.0, color=style.INK, lw=0.9)
    for place, word, anchor in ((0.97, above, "top"), (0.03, below, "bottom")):
        ax.text(0.03, place, word, transform=ax.transAxes, va=anchor, fontsize=8.5,
                color=style.QUIET)  # fmt: skip


@in_house_style
def crossings(shown: Sequence[tuple[str, FlowPath, Problem]], until: Sequence[float]) -> Figure:
    """y_i sign(v_j) cos(x_i, w_j) of every datum i and neuron j along flows, against time: (title,
    path, problem) each, and where its axis ends. Under (A1) every curve rises through 0 at most
    once."""
    fig, axes = panels(1, len(shown), height=3.6, titles=[title for title, _, _ in shown],
                       sharey=True)  # fmt: skip
    for ax, (_, path, problem), end in zip(axes, shown, until, strict=True):
        times = np.linspace(0.0, min(end, float(path.t[-1])), 300)
        cosines = np.array([problem.chart.cosines(z, problem.X)[0] for z in path.at(times)])
        signed = problem.y[:, None] * problem.signs * cosines
        for i in range(len(problem.X)):
            for j in range(len(problem.signs)):
                ax.plot(times, signed[:, i, j], color=style.datum_colour(i), lw=1.5,
                        label=style.datum_name(i))  # fmt: skip
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.set(xlabel="$t$", xlim=(0.0, times[-1]), ylim=(-1.05, 1.05))
    axes[0].set(ylabel="$y_i\\,$sign$(v_j)\\,\\cos(x_i, w_j)$")
    legend_below(fig, columns=6)
    return fig
