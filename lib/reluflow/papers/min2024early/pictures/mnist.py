"""Pictures of two digits being told apart: Figures 5 and 10 to 13 of Min et al. 2024."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures.style import INK, QUIET, in_house_style, legend_below, panels
from reluflow.papers.min2024early.mnist import Curves

PLUS, MINUS, LOSS, RANK = "#D55E00", "#117733", "#0072B2", "#AA4499"
_NAMES = ("$x_+/n_+$", "$x_-/n_-$", "$w_+$", "$w_-$")
_KEYS = ("x_plus", "x_minus", "w_plus", "w_minus")


class PhaseCurves(Protocol):
    """Arrays (m,) over the epochs of SGD."""

    @property
    def epoch(self) -> NDArray: ...
    @property
    def loss(self) -> NDArray: ...
    @property
    def norms(self) -> NDArray: ...
    @property
    def directions(self) -> NDArray: ...


@in_house_style
def heatmaps(products: Mapping[str, NDArray]) -> Figure:
    """The inner products of centred images, name -> (2m, 2m), the first m of one digit, the others
    of the other. Blue is negative, red positive; each panel has its own scale."""
    fig, axes = panels(1, len(products), height=2.5, titles=list(products))
    for ax, values in zip(axes, products.values(), strict=True):
        top = float(np.quantile(np.abs(values), 0.99))
        drawn = ax.imshow(values, cmap="RdBu_r", vmin=-top, vmax=top, interpolation="nearest")
        half = len(values) / 2
        for line in (ax.axhline, ax.axvline):
            line(half - 0.5, color=INK, lw=0.8)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        bar = fig.colorbar(drawn, ax=ax, orientation="horizontal", pad=0.04, aspect=14)
        bar.ax.locator_params(nbins=4)
    return fig


@in_house_style
def alignment(runs: Mapping[str, Curves]) -> Figure:
    """cos(w_+, x_+) and cos(w_-, x_-) with the bands of their groups, and where a tenth of the loss
    is gone (dotted), a panel a run."""
    fig, axes = _grid(runs, sharey=True)
    for ax, (name, curves) in zip(axes, runs.items(), strict=True):
        ax.set_title(name)
        for side, colour, words, line in (
            (curves.plus, PLUS, "$\\cos(w_+, x_+)$", "-"),
            (curves.minus, MINUS, "$\\cos(w_-, x_-)$", (0, (4, 1.5))),
        ):
            ax.fill_between(curves.step, side[:, 1], side[:, 2], color=colour, alpha=0.2, lw=0)
            ax.plot(curves.step, side[:, 0], color=colour, ls=line, label=words)
        if np.isfinite(curves.fallen(0.1)):
            ax.axvline(curves.fallen(0.1), color=QUIET, ls=":", label="loss down by a tenth")
        ax.set(ylim=(-0.5, 1.05), xlabel="step")
    legend_below(fig)
    return fig


@in_house_style
def losses(runs: Mapping[str, Curves]) -> Figure:
    """The loss, the squared spectral norm and the stable rank, a panel a run; the stable rank
    begins far above what is shown."""
    fig, axes = _grid(runs)
    for ax, (name, curves) in zip(axes, runs.items(), strict=True):
        ax.set_title(name)
        ax.plot(curves.step, curves.loss, color=LOSS, label="loss $\\mathcal{L}$")
        ax.plot(curves.step, curves.spectral, color=PLUS, ls=(0, (4, 1.5)),
                label="$\\|W\\|_2^2$")  # fmt: skip
        ax.plot(curves.step, curves.stable_rank, color=RANK, ls=(0, (1, 1.2)), lw=2.0,
                label="$\\|W\\|_F^2 / \\|W\\|_2^2$")  # fmt: skip
        ax.axhline(1.0, color=QUIET, lw=0.7, zorder=0)
        ax.set(ylim=(0.0, 4.0), xlabel="step")
    legend_below(fig)
    return fig


@in_house_style
def neurons(runs: Mapping[str, Mapping[str, NDArray]]) -> Figure:
    """The class means and the mean neurons as images, a row a run; blue is negative, red positive,
    each image in units of its own largest entry."""
    fig, axes = panels(len(runs), 4, height=1.62 * len(runs))
    for row, (name, shown) in enumerate(runs.items()):
        for column, key in enumerate(_KEYS):
            ax, image = axes[4 * row + column], shown[key]
            top = float(np.abs(image).max())
            ax.imshow(image, cmap="RdBu_r", vmin=-top, vmax=top, interpolation="nearest")
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
            if row == 0:
                ax.set_title(_NAMES[column], loc="center")
            if column == 0:
                ax.set_ylabel(name)
    return fig


@in_house_style
def phases(runs: Mapping[str, PhaseCurves]) -> Figure:
    """The loss and the two changes over the epochs, a panel a way of training. Both axes are
    logarithmic: the changes of directions from scattered starts are huge."""
    fig, axes = panels(1, len(runs), height=3.5, titles=list(runs))
    for ax, run in zip(axes, runs.values(), strict=True):
        late = run.epoch > 0
        ax.plot(run.epoch[late], run.loss[late], color=LOSS, label="loss $\\mathcal{L}$")
        ax.plot(run.epoch[late], run.norms[late], color=PLUS, ls=(0, (4, 1.5)),
                label="changes in norms")  # fmt: skip
        ax.plot(run.epoch[late], run.directions[late], color=MINUS, ls=(0, (1, 1.2)), lw=2.0,
                label="changes in directions")  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="epoch", ylim=(1e-5, 1e3))
    legend_below(fig)
    return fig


@in_house_style
def flow_beside_descent(descent: Curves, flow: Curves) -> Figure:
    """The loss and the worst neuron's cosine along descent (lines) and the flow (circles)."""
    fig, (ax,) = panels(1, 1, height=3.2)
    for values, colour, words in (
        (lambda c: c.loss, LOSS, "loss"),
        (lambda c: c.worst, PLUS, "least cosine of a neuron"),
    ):
        ax.plot(descent.step, values(descent), color=colour, label=f"{words}, descent")
        ax.plot(flow.step, values(flow), color=colour, ls="", marker="o", ms=4, mfc="white",
                label=f"{words}, flow")  # fmt: skip
    ax.set(xlabel="step, or time of the flow over the length of a step", ylim=(-0.5, 1.05))
    legend_below(fig, columns=2)
    return fig


def _grid(runs: Mapping[str, Curves], sharey: bool = False) -> tuple[Figure, list[Axes]]:
    rows = -(-len(runs) // 2)
    fig, axes = panels(rows, 2, height=2.4 * rows, sharey=sharey)
    for ax in axes[len(runs) :]:
        ax.set_visible(False)
    return fig, list(axes[: len(runs)])
