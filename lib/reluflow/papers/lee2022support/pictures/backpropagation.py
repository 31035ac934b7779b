"""Figure 5 of Lee, Sim & Ye 2022a: label back-propagation, drawn from a computed network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below
from reluflow.networks.layered import Passes, backpropagate
from reluflow.papers.lee2022support.backpropagation import labels_of

FORWARD, BACKWARD, LABEL = "#0072B2", "#D55E00", "#117733"
IDLE = "#BBBBBB"


@in_house_style
def label_backpropagation(weights: Sequence[NDArray], x: NDArray, y: NDArray) -> Figure:
    """A network of a few units on one datum: (a) outputs o, errors delta and labels at every unit;
    (b) every layer alone, whose labels pull its outputs.

    Parameters: weights W^(m) (h_m, h_{m-1}), x (d,), y (h_l,).
    """
    found = backpropagate(weights, x[None], y[None])
    labels = [of_layer[0] for of_layer in labels_of(found, y[None])]
    layers = len(weights)
    fig = Figure(figsize=(style.TEXT_WIDTH, 6.6), layout="constrained")
    rows = fig.add_gridspec(2, layers, height_ratios=(3.4, 2.6))
    network = fig.add_subplot(rows[0, :])
    network.set_title("(a) the network on one datum")
    _network(network, weights, x, found, labels)
    axes: list[Axes] = []
    for m in range(layers):
        ax = fig.add_subplot(rows[1, m], sharey=axes[0] if axes else None)
        axes.append(ax)
        kind = "ReLU" if m < layers - 1 else "linear"
        ax.set_title(("(b) " if m == 0 else "") + f"layer {m + 1} alone, {kind}")
        _layer(ax, found, labels, m)
    axes[0].set_ylabel("value")
    legend_below(fig)
    return fig


def _network(
    ax: Axes, weights: Sequence[NDArray], x: NDArray, found: Passes, labels: Sequence[NDArray]
) -> None:
    """Units in columns, one a layer, with the weights on the edges between them."""
    columns = [x, *(o[0] for o in found.outputs)]
    places = [_heights(len(column)) for column in columns]
    for m, W in enumerate(weights):
        for j, k in np.ndindex(W.shape):
            ends = np.array([[m, places[m][k]], [m + 1, places[m + 1][j]]])
            used = columns[m][k] != 0 and (m == len(weights) - 1 or columns[m + 1][j] > 0)
            ax.plot(*ends.T, color=style.QUIET if used else IDLE, lw=1.0 if used else 0.6,
                    ls="-" if used else ":", zorder=1)  # fmt: skip
            at = ends[0] + (0.33 + 0.16 * (k % 2)) * (ends[1] - ends[0])
            ax.text(*at, _number(float(W[j, k])), ha="center", va="center", fontsize=8, zorder=2,
                    color=style.INK if used else style.QUIET,
                    bbox={"fc": "white", "ec": "none", "pad": 1.0})  # fmt: skip
    for m, (column, heights) in enumerate(zip(columns, places, strict=True)):
        for j, (value, height) in enumerate(zip(column, heights, strict=True)):
            hidden = 0 < m < len(columns) - 1
            idle = hidden and value <= 0
            ax.plot(m, height, ls="", marker="o", ms=22, mfc="#EEEEEE" if idle else "white",
                    mec=IDLE if idle else FORWARD, mew=1.6, zorder=3)  # fmt: skip
            ax.text(m, height, _number(value), ha="center", va="center", zorder=4,
                    color=style.QUIET if idle else FORWARD, fontweight="bold")  # fmt: skip
            if m > 0:
                delta, label = found.deltas[m - 1][0, j], labels[m - 1][j]
                ax.text(m, height - 0.33, rf"$\delta = {_number(delta)}$", ha="center", va="center",
                        color=BACKWARD, zorder=4)  # fmt: skip
                ax.text(m, height - 0.53, rf"$y = {_number(label)}$", ha="center", va="center",
                        color=LABEL, zorder=4)  # fmt: skip
    top = max(h.max() for h in places) + 0.55
    for m in range(len(columns)):
        name = "input $x$" if m == 0 else f"layer {m}: $o^{{({m})}}$"
        ax.text(m, top, name, ha="center", va="center")
    bottom = min(h.min() for h in places) - 0.65
    ax.text(0, bottom, "forward: outputs $o$ \u2192", ha="center", va="center", color=FORWARD)
    ax.text(m, bottom, "\u2190 backward: $\\delta$, labels $y$", ha="right", va="center",
            color=BACKWARD)  # fmt: skip
    ax.set_xlim(-0.35, len(columns) - 0.65)
    ax.set_ylim(bottom - 0.15, top + 0.2)
    ax.axis("off")


def _layer(ax: Axes, found: Passes, labels: Sequence[NDArray], m: int) -> None:
    """Outputs and labels of one layer, an arrow of length -delta from the one to the other."""
    outputs = found.outputs[m][0]
    values = np.concatenate([*labels, *(o[0] for o in found.outputs)])
    lowest = float(values.min()) - 1.0
    if m < len(labels) - 1:
        ax.axhspan(lowest, 0.0, color="#EEEEEE", lw=0, zorder=0, label="out of reach of a ReLU")
    units = np.arange(1, len(outputs) + 1)
    for unit, o, label in zip(units, outputs, labels[m], strict=True):
        if o != label:
            ax.annotate("", (unit, label), (unit, o), zorder=2,
                        arrowprops={"arrowstyle": "-|>", "color": BACKWARD, "lw": 1.6,
                                    "shrinkA": 4, "shrinkB": 4})  # fmt: skip
    ax.plot(units, outputs, ls="", marker="o", ms=8, mfc="white", mec=FORWARD, mew=1.8, zorder=3,
            label="output $o$")  # fmt: skip
    ax.plot(units, labels[m], ls="", marker="D", ms=5.5, color=LABEL, zorder=4,
            label="back-propagated label $y = o - \\delta$")  # fmt: skip
    ax.plot([], [], color=BACKWARD, lw=1.6, marker=">", ms=5, label="the pull, $-\\delta$")
    ax.set_xticks(units, [f"unit {k}" for k in units])
    ax.set_xlim(0.4, len(units) + 0.6)
    ax.set_ylim(lowest, float(values.max()) + 1.0)
    inputs = ", ".join(_number(v) for v in found.inputs[m][0])
    ax.set_xlabel(rf"data $x^{{({m + 1})}} = ({inputs})$")


def _heights(units: int) -> NDArray:
    """Places of the units of a layer, from the top, evenly around 0."""
    return 1.15 * (0.5 * (units - 1) - np.arange(units))


def _number(value: float) -> str:
    """A value with at most two decimals, the minus sign a proper one."""
    return f"{value + 0.0:.3g}".replace("-", "\u2212")
