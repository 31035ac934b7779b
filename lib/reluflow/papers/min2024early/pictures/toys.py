"""Figures 6 to 9 of Min et al. 2024 over many starts: falls of the loss, neurons left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.statistics import wilson

BLUE, VERMILLION, GREEN = "#0072B2", "#D55E00", "#117733"
_SCALES = ((BLUE, "o", "-"), (VERMILLION, "s", (0, (5.0, 2.0))), (GREEN, "D", (0, (1.0, 1.2))))


@in_house_style
def losses(
    clocks: Mapping[str, NDArray], curves: Mapping[str, NDArray], marks: Mapping[str, NDArray]
) -> Figure:
    """The loss relative to its first value against the iteration, one panel for each data set.

    Parameters: by title the clock (m,), the curves (m, S) of S starts, and `marks` (k,), the places
    in the clock at which the first start's loss falls.
    """
    rows = -(-len(curves) // 3)
    fig, axes = panels(rows, 3, height=0.6 + 1.75 * rows, titles=list(curves), sharex=True,
                       sharey=True)  # fmt: skip
    for ax, (name, loss) in zip(axes, curves.items(), strict=False):
        share = loss / loss[0]
        ax.plot(clocks[name], share[:, 1:], color=style.QUIET, lw=0.5, alpha=0.5)
        ax.plot(clocks[name], share[:, 0], color=BLUE, lw=1.6)
        at = marks[name]
        ax.plot(clocks[name][at], share[at, 0], ls="", **style.MARKERS["event"], zorder=5)
        ax.set(ylim=(-0.03, 1.08), xlim=(0.0, clocks[name][-1]))
    for ax in axes[-3:]:
        ax.set_xlabel("iteration")
    for ax in axes[::3]:
        ax.set_ylabel("$L / L_0$")
    style.legend_entry(axes[0], "one start", color=BLUE, lw=1.6)
    style.legend_entry(axes[0], "others", color=style.QUIET, lw=0.8)
    style.legend_entry(axes[0], "a fall of that one", ls="", **style.MARKERS["event"])
    legend_below(fig)
    return fig


@in_house_style
def left_behind(
    counts: NDArray,
    law: NDArray,
    series: Sequence[tuple[str, Sequence[tuple[float, int, int, float]]]],
) -> Figure:
    """Neurons outside S_+ at the end: how many in a start, and what share at other mu and scales.

    Parameters: `counts` (S,), neurons outside in each start; `law` (k,), the probabilities of
    0, 1, ... of them; `series` with a label and rows (angle, outside, neurons, chance by the law).
    """
    fig, (bars, ax) = panels(1, 2, height=3.5, titles=["(a) in one start", "(b) in general"])
    shown = np.arange(len(law))
    share = np.array([(counts == k).mean() for k in shown[:-1]] + [(counts >= shown[-1]).mean()])
    bars.bar(shown, share, width=0.62, color=BLUE, alpha=0.55, label="starts of descent")
    bars.plot(shown, law, ls="", marker="_", ms=22, mew=2.0, color=style.INK, label="the law")
    bars.set_xticks(shown, [*map(str, shown[:-1]), f"{shown[-1]}+"])
    bars.set(xlabel="neurons outside $S_+$ at iteration 21 000", ylabel="share of the starts")
    for (label, rows), (colour, marker, line) in zip(series, _SCALES, strict=False):
        angle, hits, tried, chance = (np.array(column) for column in zip(*rows, strict=True))
        mu, p = np.sin(angle), hits / tried
        low, high = wilson(hits, tried)
        ax.plot(mu, chance, color=colour, ls=line, lw=1.4, zorder=2.0)
        some = hits > 0
        ax.errorbar(mu[some], p[some], yerr=np.maximum([p - low, high - p], 0.0)[:, some],
                    color=colour, marker=marker, ls="", ms=5.0, capsize=2.5, elinewidth=1.2,
                    mec="white", mew=0.6, label=label, zorder=3.0)  # fmt: skip
    ax.set(xscale="log", yscale="log", ylim=(1e-4, 1.0), xlabel="$\\mu$",
           ylabel="share of the neurons")  # fmt: skip
    legend_below(fig, columns=5)
    return fig
