"""Bounds of Lee, Sim & Ye 2022b, Section 3, round flows: as printed, and as they should read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.frame import fresh
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.flows.phases import nullcline
from reluflow.papers.lee2023magnitude import bounds
from reluflow.papers.lee2023magnitude.flow_bounds import norm_range
from reluflow.papers.lee2023magnitude.small_norms import room
from reluflow.papers.lee2023magnitude.starts import Start

FLOW, LOWER, UPPER, PRINTED = "#0072B2", "#009E73", "#E69F00", "#D55E00"
SIZES = ("#CC79A7", "#56B4E9", "#332288")


@in_house_style
def comparison_solutions(phi0: float, m: int, below: float, above: float, until: float) -> Figure:
    """Theorem 3.8, |w*| = 1: the flow from (a) v_0 = `below` and (b) v_0 = `above` the branch point
    of the printed formula, the comparison solutions, and the printed u(t; 0) where it exists.

    The lower comparison solution rests at a = (1 - eps_0)^(1/(m+1)) v*."""
    titles = (f"(a) below the branch, $v_0 = {below:g}$", f"(b) above it, $v_0 = {above:g}$")
    fig, axes = panels(1, 2, height=3.9, titles=titles)
    t = np.linspace(0.0, until, 301)
    rest = float(nullcline(phi0, m))
    for ax, v0 in zip(axes, (below, above), strict=True):
        v = Start.at(phi0, v0, m).flow(t).length
        lower, upper = bounds.layered_magnitude_bounds(t, phi0, v0, 1.0, m)
        ax.fill_between(t, lower, upper, color=style.QUIET, alpha=0.12, lw=0)
        ax.plot(t, upper, color=UPPER, label=fresh(ax, "$u(t; 0)$, right"))
        ax.plot(t, v, color=FLOW, lw=2.2, label=fresh(ax, "$v(t)$, flow"))
        ax.plot(t, lower, color=LOWER, label=fresh(ax, r"$u(t; \varepsilon_0)$, right"))
        printed = bounds.implicit_printed(t, phi0, v0, 1.0, m, 1.0)
        if np.isfinite(printed).all():
            ax.plot(t, printed, color=PRINTED, ls="--", label=fresh(ax, "$u(t; 0)$, printed"))
        else:
            ax.text(0.97, 0.93, "$u(t; 0)$, printed: no real value", color=PRINTED, ha="right",
                    va="top", transform=ax.transAxes)  # fmt: skip
        for height, name in ((rest, r"$\ell$"), (1.0, "$v^*$")):
            ax.axhline(height, color=style.QUIET, ls=":", lw=1.0, zorder=0.5)
            ax.annotate(name, (until, height), (4, 0), textcoords="offset points", va="center",
                        color=style.QUIET)  # fmt: skip
        ax.set(xlabel="time $t$", xlim=(0.0, until), ylim=(0.0, None))
    axes[0].set_ylabel("magnitude")
    legend_below(fig, columns=4)
    return fig


@in_house_style
def one_layer_bounds(phi0: float, norms: Sequence[float], until: float) -> Figure:
    """Theorems 3.3 and 3.4, |w*| = 1: (a) |w(t)| from several norms, (b) phi(t) from the first of
    them, (c) the first order of eq. (8)'s error for small norms against phi_0."""
    titles = ("(a) magnitude", "(b) angle", "(c) eq. (8), small norms")
    fig, axes = panels(1, 3, height=3.7, titles=titles)
    t = np.linspace(0.0, until, 201)
    for v0 in norms:
        v = Start.at(phi0, v0, 0).flow(t).length
        _enclosed(axes[0], t, v, *bounds.magnitude_bounds(t, phi0, v0, 1.0))
    axes[0].set(xlabel="time $t$", ylabel="$|w(t)|$", xlim=(0.0, until), ylim=(0.0, None))
    start = Start.at(phi0, norms[0], 0)
    path = start.flow(t)
    least, most = bounds.gap_bounds(t, start.psi, *norm_range(start, path), 1.0, 0)
    lower = np.pi - most
    _enclosed(axes[1], t, path.phi, lower, np.minimum(np.pi - least, np.pi))
    axes[1].fill_between(
        t,
        phi0 - 0.6,
        phi0,
        where=lower <= phi0,
        color=style.QUIET,
        lw=0,
        alpha=0.25,
        label="lower bound says less than $\\varphi_0 < \\varphi$",
    )
    axes[1].axhline(np.pi, color=style.QUIET, ls=":", lw=1.0)
    axes[1].annotate(r"$\pi$", (until, np.pi), (-2, 3), textcoords="offset points", ha="right",
                     color=style.QUIET)  # fmt: skip
    axes[1].set(xlabel="time $t$", ylabel=r"$\varphi(t)$", xlim=(0.0, until),
                ylim=(phi0 - 0.6, np.pi + 0.25))  # fmt: skip
    _first_order(axes[2])
    legend_below(fig, columns=3)
    return fig


def _enclosed(ax: Axes, t: NDArray, value: NDArray, lower: NDArray, upper: NDArray) -> None:
    ax.fill_between(t, lower, upper, color=style.QUIET, alpha=0.12, lw=0)
    ax.plot(t, upper, color=UPPER, lw=1.3, label=fresh(ax, "upper bound"))
    ax.plot(t, value, color=FLOW, lw=2.0, label=fresh(ax, "flow"))
    ax.plot(t, lower, color=LOWER, lw=1.3, label=fresh(ax, "lower bound"))


def _first_order(ax: Axes, t: float = 1.0) -> None:
    """((1 - e^(-t/2)) |w*| - |w(t)|) / (|w_0| e^(-t/2)) at t against phi_0, and its limit."""
    phi = np.linspace(0.8, 3.1, 120)
    ax.plot(phi, (np.sin(phi) + np.pi * np.cos(phi)) / phi, color=style.INK, lw=1.3,
            label=r"$(\sin\varphi_0 + \pi\cos\varphi_0)/\varphi_0$")  # fmt: skip
    at = np.linspace(1.0, 3.0, 6)
    for v0, colour, mark in zip((0.3, 0.1, 0.001), SIZES, "osD", strict=True):
        ax.plot(at, [room(phi0, t, v0) for phi0 in at], ls="", marker=mark, ms=5, color=colour,
                label=f"flow, $|w_0| = {v0:g}\\,|w^*|$")  # fmt: skip
    ax.axhline(0.0, color=style.QUIET, lw=0.8)
    ax.axhspan(-1.25, 0.0, color=PRINTED, alpha=0.12, lw=0)
    ax.text(0.85, -0.6, "(8) fails", color=PRINTED, va="center")
    ax.set(xlabel=r"$\varphi_0$", xlim=(0.8, 3.2), ylim=(-1.25, None),
           ylabel="scaled room below (8)")  # fmt: skip
