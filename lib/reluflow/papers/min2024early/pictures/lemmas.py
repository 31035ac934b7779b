"""The lemmas on small neurons: how much room their bounds leave, and for how long they hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early.horizon import Followed

COLOURS = {EXPONENTIAL.name: "#0072B2", TWICE_LOGISTIC.name: "#117733", LOGISTIC.name: "#D55E00"}
NAMES = {
    EXPONENTIAL.name: "exponential",
    TWICE_LOGISTIC.name: "2 log(1 + e$^{-q}$)",
    LOGISTIC.name: "log(1 + e$^{-q}$)",
}
MARKS = {EXPONENTIAL.name: "o", TWICE_LOGISTIC.name: "s", LOGISTIC.name: "^"}
_SIZES = {"ms": 4, "mew": 0.5, "mec": "white", "ls": ""}


@in_house_style
def room(found: Followed) -> Figure:
    """The largest error of a direction (Lemma 1) and the largest |w_j|^2 (Lemma 3) up to T over
    their bounds, against ln(1 / (sqrt(h) eps)): above 0 a bound is broken."""
    fig, axes = panels(1, 2, height=3.9, titles=("Lemma 1: directions", "Lemma 3: norms"))
    for k, ax in enumerate(axes):
        for name, colour in COLOURS.items():
            some = [(start, along) for start, along in found if start.loss.name == name]
            depth = np.array([-start.log_eps - 0.5 * np.log(start.h) for start, _ in some])
            with np.errstate(divide="ignore"):
                ratio = np.log10([along.largest(1.0)[k] for _, along in some])
            kept = np.isfinite(ratio)
            ax.plot(depth[kept], ratio[kept], marker=MARKS[name], mfc=colour,
                    label=NAMES[name], **_SIZES)  # fmt: skip
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.set(xlabel="$\\ln\\,1/(\\sqrt{h}\\,\\varepsilon)$", xscale="log")
    along_axis = np.geomspace(0.45, 120.0, 200)
    top = np.exp(-0.5 * along_axis)
    axes[1].plot(along_axis, np.log10(0.5 * top / (1.0 - 0.5 * top)), color=style.QUIET, lw=1.2,
                 label="bound proved here")  # fmt: skip
    axes[0].set(ylabel="$\\log_{10}$ of the largest value over its bound, $t \\leq T$")
    axes[1].set(ylim=(-30.0, 2.0))
    legend_below(fig, columns=4)
    return fig


@in_house_style
def lasting(random: Followed, worst: Followed) -> Figure:
    """max_j |w_j|^2 over its bound against t / T: random flows, and those of one neuron along one
    datum, whose ln eps the legend names. T is printed, 2 T proved."""
    fig, (ax,) = panels(1, 1, height=3.9)
    for _, along in random:
        ax.plot(along.times, along.log_ratios[:, 1] / np.log(10.0), color=style.QUIET, lw=0.6,
                alpha=0.5)  # fmt: skip
    for (start, along), colour, line in zip(worst, COLOURS.values(), ("-", (0, (5, 2)), ":"),
                                            strict=False):  # fmt: skip
        ax.plot(along.times, along.log_ratios[:, 1] / np.log(10.0), color=colour, ls=line, lw=2.0,
                label=f"one neuron along one datum, $\\ln ε = {start.log_eps:g}$")  # fmt: skip
    style.legend_entry(ax, "random flows", color=style.QUIET, lw=0.8)
    ax.axhline(0.0, color=style.INK, lw=0.9)
    for t, name in ((1.0, "$T$, printed"), (2.0, "$2T$, proved")):
        ax.axvline(t, color=style.INK, lw=0.9, ls=(0, (4, 3)))
        ax.text(t - 0.03, -19.0, name, fontsize=9, ha="right")
    ax.set(xlabel="$t / T$", ylabel="$\\log_{10}\\ \\max_j \\|w_j\\|^2$ over its bound",
           xlim=(0.0, 3.0), ylim=(-20.0, 2.0))  # fmt: skip
    legend_below(fig, columns=2)
    return fig


@in_house_style
def pull_over_loss(losses: Sequence[Loss], margins: tuple[float, float] = (-2.0, 8.0)) -> Figure:
    """(l'/l)^2 against the margin q of a datum: the factor of Lemma 15 is its least value for q >
    0, and eq. (50) needs it to be at most 1. A factor of the loss cancels."""
    fig, (ax,) = panels(1, 1, height=3.6)
    q = np.linspace(*margins, 301)
    for loss in losses:
        with np.errstate(over="ignore"):
            ratio = np.exp(2.0 * (loss.log_pull(q, np.ones(1)) - loss.log_terms(q, np.ones(1))))
        name = loss.name
        label = NAMES[name] if name == EXPONENTIAL.name else "logistic, of either factor"
        ax.plot(q, ratio, color=COLOURS[name], label=label,
                ls="-" if name == EXPONENTIAL.name else (0, (5, 2)))  # fmt: skip
    best = 0.25 / np.log(2.0) ** 2
    ax.plot([0.0], [best], marker="o", ms=6, mfc="white", mec=style.INK, ls="",
            label="$1/(2\\ln 2)^2 = 0.52$, the best factor")  # fmt: skip
    ax.axhline(0.25, color=style.QUIET, lw=1.0, ls=(0, (1, 1.5)), label="1/4, printed")
    ax.axvline(0.0, color=style.INK, lw=0.8)
    ax.set(xlabel="margin $q = y f$", ylabel="$(\\ell' / \\ell)^2$", ylim=(0.0, 1.08), xlim=margins)
    legend_below(fig, columns=2)
    return fig
