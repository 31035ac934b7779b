"""The distance from the limit of Theorem 1 along flows, in pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.phuong2021inductive.long_flow import Late
from reluflow.papers.phuong2021inductive.loss_growth import normalised_margin
from reluflow.papers.phuong2021inductive.spread import constant

POSITIVE, NEGATIVE, OURS = "#D55E00", "#0072B2", "#117733"
_LN10 = float(np.log(10.0))
_FLOOR = 1e-7


@in_house_style
def distances(spanning: Sequence[Late], few: Sequence[Late], sizes: Sequence[Late]) -> Figure:
    """Distance of (8) against log10(1/L), logarithmic axes: starts near zero for support examples
    that span (blue) and that do not (orange); starts of several norms with their asymptotes."""
    fig, (left, right) = panels(1, 2, height=3.9, sharey=True,
                                titles=["starts near zero", "starts of other sizes"])  # fmt: skip
    for found, colour, dash, name in (
        (spanning, NEGATIVE, "-", "support examples span"),
        (few, POSITIVE, (0, (5, 2)), "they do not"),
    ):
        for each in found:
            shown = np.where(each.distances[:, 0] > _FLOOR, each.distances[:, 0], np.nan)
            left.loglog(each.tau / _LN10, shown, color=colour, ls=dash, lw=1.3)
        style.legend_entry(left, name, color=colour, ls=dash, lw=1.3)
    for each in sizes:
        right.loglog(each.tau / _LN10, each.distances[:, 0], color=style.INK, lw=1.2)
        law = np.sqrt(constant(each) / each.tau)
        right.loglog(each.tau / _LN10, law, color=OURS, ls=(0, (1, 1.2)), lw=1.4)
    style.legend_entry(right, "flows", color=style.INK, lw=1.2)
    style.legend_entry(right, "closed form", color=OURS, ls=(0, (1, 1.2)), lw=1.4)
    _slopes(left)
    for ax in (left, right):
        ax.set_xlabel("$\\log_{10}(1/\\ell)$")
    left.set_ylabel("distance of (8)")
    left.set_ylim(_FLOOR, 3.0)
    legend_below(fig, columns=4)
    return fig


def _slopes(ax: Axes) -> None:
    """Two thin lines of slope -1 and -1/2, above the flows."""
    x = np.array([10.0, 4e5])
    for power, text in ((-1.0, "slope −1"), (-0.5, "slope −1/2")):
        ax.loglog(x, 1.5 * (x / x[0]) ** power, color=style.QUIET, lw=0.8, ls=(0, (4, 2)))
        at, beside = (20.0, (-50, -3)) if power == -1.0 else (3e3, (5, 5))
        place = (at, 1.5 * (at / x[0]) ** power)
        ax.annotate(text, place, xytext=beside, textcoords="offset points", fontsize=8,
                    color=style.QUIET)  # fmt: skip


@in_house_style
def growth(found: Sequence[Late]) -> Figure:
    """Left: |W_+|^2 / log t and |W_-|^2 / log t over their limits; right: the normalised margin
    over its limit; against log10 t, both labels of every flow."""
    fig, (left, right) = panels(1, 2, height=3.7, titles=["norms", "normalised margin"])
    for each in found:
        for sign, w in each.limit.vectors.items():
            kept = each.log_t > 3.0
            x = each.log_t[kept] / _LN10
            look = {"color": POSITIVE if sign > 0 else NEGATIVE, "lw": 1.2,
                    "ls": "-" if sign > 0 else (0, (5, 2))}  # fmt: skip
            size = float(np.linalg.norm(w))
            left.semilogx(x, np.exp(each.log_square(sign)[kept]) / each.log_t[kept] / size, **look)
            right.semilogx(x, 2.0 * size * normalised_margin(each, sign)[kept], **look)
    for ax in (left, right):
        ax.axhline(1.0, color=style.INK, lw=0.8, ls=(0, (4, 2)))
        ax.set_xlabel("$\\log_{10} t$")
    left.set_ylabel("$\\|W_\\pm\\|^2 / \\log t$ over $\\|w_\\pm\\|$")
    right.set_ylabel("$\\tilde\\gamma$ over $1 / (2\\|w_\\pm\\|)$")
    style.legend_entry(left, "positive group", color=POSITIVE, lw=1.2)
    style.legend_entry(left, "negative group", color=NEGATIVE, lw=1.2, ls=(0, (5, 2)))
    legend_below(fig, columns=2)
    return fig
