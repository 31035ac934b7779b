"""A reader's network while it trains: where its neurons point, and how far the limit is."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.phuong2021inductive.own_limit import Trained
from reluflow.papers.phuong2021inductive.pictures.sectors import NEGATIVE, POSITIVE

_TURNED = 0.99
"""The cosine to its start of a neuron that has turned."""


@in_house_style
def training(trained: Trained) -> Figure:
    """(a) The cosine of every neuron to w_+ or w_- in the first phase. (b) The distance of (8)
    against log10(1/loss)."""
    titles = ("(a) directions", "(b) the way to the limit")
    fig, (left, right) = panels(1, 2, height=3.4, titles=titles)
    for sign, colour, dash, name in (
        (1.0, POSITIVE, "-", "$a_j > 0$, to $w_+$"),
        (-1.0, NEGATIVE, (0, (5, 2)), "$a_j < 0$, to $w_-$"),
    ):
        lines = trained.cosines(sign)
        if lines.shape[1]:
            left.plot(trained.path.clock, lines, color=colour, ls=dash, lw=0.9)
            style.legend_entry(left, name, color=colour, ls=dash, lw=0.9)
    flow = trained.own.optimiser == "flow"
    left.set(xscale="log", xlim=_begins(trained), xlabel="$t$" if flow else "epoch",
             ylabel="cosine", ylim=(-1.05, 1.05))  # fmt: skip
    decades, far = trained.path.tau / np.log(10.0), trained.distances
    shown = (decades > 0.1) & (far > 0.0)
    right.set(xscale="log", yscale="log", xlabel="$\\log_{10}(1/\\ell)$", ylabel="distance of (8)")
    right.set(xlim=_whole(decades[shown]), ylim=_whole(far[shown]))
    if shown.any():
        right.plot(decades[shown], far[shown], color=style.INK)
        legend_below(fig, columns=2)
    else:
        right.annotate("no loss or no limit to show", (0.5, 0.5), xycoords="axes fraction",
                       ha="center", color=style.QUIET)  # fmt: skip
    return fig


def _begins(trained: Trained) -> tuple[float, float]:
    """From when the first neuron has turned a little, to the end of the first phase."""
    clock, W = trained.path.clock, trained.path.early
    U = W / np.linalg.norm(W, axis=2, keepdims=True)
    moved = np.sum(U * U[0], axis=2).min(axis=1) < _TURNED
    first = max(int(moved.argmax()) - 1, 1) if moved.any() else 1
    return float(clock[first] if clock[first] < clock[-1] else 0.1 * clock[-1]), float(clock[-1])


def _whole(values: NDArray) -> tuple[float, float]:
    """The decades that hold the values."""
    if not values.size:
        return 0.1, 1.0
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    return float(10.0**low), float(10.0 ** max(high, low + 1.0))
