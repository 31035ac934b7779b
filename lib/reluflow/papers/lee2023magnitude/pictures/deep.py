"""Figures 3 and 4 of Lee, Sim & Ye 2022b, redrawn from computed runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.lee2023magnitude.deep import DeepRun
from reluflow.papers.lee2023magnitude.restarts import Restarts

TRAINED, LOWER, UPPER = "#0072B2", "#009E73", "#E69F00"
LAYERS = ("one layer", "two layers")
MAGNITUDE_COLOURS = ("#0072B2", "#D55E00", "#CC79A7")
_SMALLER = {"lw": 1.1, "ls": (0, (4.0, 2.0))}


@in_house_style
def restarted_bounds(drawn: Sequence[Restarts]) -> Figure:
    """Figure 3: |w(T)| over |w*|, and the bounds that start at four points of it.

    Parameters: the panels from left to right.
    """
    titles = [f"({chr(97 + k)}) {LAYERS[p.setting.layers - 1]}" for k, p in enumerate(drawn)]
    fig, axes = panels(1, len(drawn), height=4.3, titles=titles)
    for ax, panel in zip(axes, drawn, strict=True):
        for j, (at, (low, high)) in enumerate(zip(panel.points, panel.bounds, strict=True)):
            few = _few(len(low))
            keys = {"lw": 1.3, "alpha": 0.45 + 0.18 * j}
            T = panel.path.t[at:][few]
            ax.plot(T, high[few] / panel.target, color=UPPER, ls=(0, (5, 2)),
                    label="upper bounds" if j == 3 else "_nolegend_", **keys)  # fmt: skip
            ax.plot(T, low[few] / panel.target, color=LOWER, ls=(0, (2, 1.5)),
                    label="lower bounds" if j == 3 else "_nolegend_", **keys)  # fmt: skip
        few = _few(len(panel.path.t))
        ax.plot(panel.path.t[few], panel.v[few] / panel.target, color=TRAINED, lw=2.2,
                label=r"$\|w(T)\|$, descent on data")  # fmt: skip
        again = list(panel.points)  # t is the number of the step
        ax.plot(again, panel.v[again] / panel.target, ls="", marker="o", ms=5.5, mec="white",
                color=style.INK, zorder=5, label="points of restart")  # fmt: skip
        ax.set_xlabel("step $T$")
        ax.set_xlim(0, panel.path.t[-1])
        ax.margins(y=0.06)
    axes[0].set_ylabel(r"magnitude over $\|w^*\|$")
    legend_below(fig, columns=4)
    return fig


@in_house_style
def deep_magnitudes(recorded: Sequence[DeepRun], drawn: Sequence[DeepRun]) -> Figure:
    """Figure 4: magnitudes of a network of depth 5 in training, relative to their start, above;
    the loss over the zero function's below.

    Parameters: the runs (a) and (b) at full scale, solid, and smaller ones, dashed; of these one
    that diverges is left out.
    """
    titles = ("(a) small start, $k = 0.04$", "(b) large start, $k = 0.44$", "", "")
    fig, axes = panels(2, 2, height=6.4, titles=titles)
    for column, (run, other) in enumerate(zip(recorded, drawn, strict=True)):
        top, bottom = axes[column], axes[2 + column]
        colours = dict(zip(run.magnitudes, MAGNITUDE_COLOURS, strict=True))
        for name, values in run.magnitudes.items():
            if not name.startswith("product"):
                top.plot(run.steps, values / values[0], color=colours[name], label=_tex(name))
        bottom.plot(run.steps, run.losses / run.zero, color=style.INK, lw=1.5,
                    label="loss over that of $f = 0$")  # fmt: skip
        if not other.diverged:
            first = other.norms[:, 0] / other.norms[0, 0]
            top.plot(other.steps, first, color=MAGNITUDE_COLOURS[0], **_SMALLER,
                     label=r"$\|W_1\|$, flow on fewer data")  # fmt: skip
            bottom.plot(other.steps, other.losses / other.zero, color=style.INK, **_SMALLER,
                        label="its loss")  # fmt: skip
        bottom.set_yscale("log")
        bottom.set_xlabel("step $T$")
        for ax in (top, bottom):
            _steps_axis(ax, run, logarithmic=column == 1)
    axes[0].set_ylabel("magnitude over its start")
    axes[2].set_ylabel("loss")
    legend_below(fig)
    return fig


def _tex(name: str) -> str:
    return r"first layer $\|W_1\|$" if name.startswith("first") else "all weights"


def _steps_axis(ax: Axes, run: DeepRun, logarithmic: bool) -> None:
    if logarithmic:
        ax.set_xscale("symlog", linthresh=1.0, linscale=0.4)
        ticks = [0, 1, 10, 100, 1000, 10000]
        ax.set_xticks(ticks, ["0", "1", "10", "100", "1000", "10000"])
        ax.minorticks_off()
    ax.set_xlim(0, run.setting.n_steps)


def _few(size: int) -> NDArray:
    """Indices that resolve a curve of `size` points: dense early, evenly spaced later."""
    early, even = np.geomspace(1, size - 1, 150), np.linspace(0, size - 1, 300)
    return np.unique(np.round(np.concatenate([[0], early, even])).astype(int))
