"""Descent against the bounds of Section 4 and Appendix A of Lee, Sim & Ye 2022b."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluflow.figures import style
from reluflow.figures.frame import fresh
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.lee2023magnitude.bounds import two_layer_magnitude_bounds
from reluflow.papers.lee2023magnitude.descent_layers import excess, near_descent
from reluflow.papers.lee2023magnitude.profiles import (
    Profile,
    approximation_errors,
    largest_errors,
)
from reluflow.papers.lee2023magnitude.starts import Start

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
DASHES = ("-", "--", ":")

Pair = tuple[float, float]
"""phi0 and |w0| = v_1 = ..., in units of v*."""


@in_house_style
def bounds_missed(
    steps: Sequence[float], low: Pair, high: Pair, gaps: Sequence[float], reach: float = 12.0
) -> Figure:
    """(a) Theorem A.3, v* = 1: by how many eta descent is below its lower bound from the start
    `low`, and |w| above the upper one from `high`, against eta T <= `reach`. (b) Theorem 4.2,
    m = v* = 1: the largest excess over its bounds, in parts of pi - phi and of eta, against
    (pi - phi0) / eta, the `gaps`.

    Parameters: the steps eta, one dash each; positive values are violations.
    """
    titles = ("(a) Theorem A.3", "(b) Theorem 4.2")
    fig, (left, right) = panels(1, 2, height=4.0, titles=titles)
    for step, dash in zip(steps, DASHES, strict=True):
        _two_layers(left, step, dash, (low, high), reach)
        _angles(right, step, dash, gaps)
        left.plot([], [], color=style.INK, ls=dash, label=f"step 1/{1 / step:.0f}")
    for ax in (left, right):
        ax.axhline(0.0, color=style.QUIET, lw=0.9, zorder=1)
    left.set(xlabel="step size times $T$", ylabel="how far outside / step", xlim=(0.0, reach),
             ylim=(-0.1, 0.55))  # fmt: skip
    right.set(xscale="log", xlabel=r"$(\pi - \varphi_0)$ / step", ylim=(-0.05, 0.4),
              xlim=(min(gaps), max(gaps)),
              ylabel=r"largest excess / ($\pi - \varphi$) / step")  # fmt: skip
    legend_below(fig, columns=3)
    return fig


def _two_layers(ax: Axes, step: float, dash: str, starts: tuple[Pair, Pair], reach: float) -> None:
    curves = {}
    for side, (phi0, norm) in enumerate(starts):
        path = Start.at(phi0, norm, 1).descent(step, math.ceil(reach / step))
        lower, upper = two_layer_magnitude_bounds(path.t, phi0, norm, 1.0, step)
        if side == 0:
            curves["lower bound less $|w|$"] = lower - path.length
            curves["lower bound less $v_1$"] = lower - path.layers[:, 0]
        else:
            curves["$|w|$ less upper bound"] = path.length - upper
    for (label, outside), colour in zip(curves.items(), COLOURS, strict=False):
        # |w| and v_1 nearly coincide: the later one is drawn thinner, on top.
        ax.plot(step * path.t, outside / step, color=colour, ls=dash, label=fresh(ax, label),
                lw=2.6 if colour == COLOURS[0] else 1.2)  # fmt: skip


def _angles(ax: Axes, step: float, dash: str, gaps: Sequence[float]) -> None:
    cases = (("lower bound of $\\varphi$, $|w_0| = 1/2$", 0.5, 1),
             ("upper bound of $\\varphi$, $|w_0| = 2$", 2.0, 0))  # fmt: skip
    for (label, norm, side), colour in zip(cases, ("#E69F00", COLOURS[3]), strict=True):
        most = []
        for gap in gaps:
            path = near_descent(gap * step, norm, step, math.ceil(2.0 / step))
            most.append(excess(path, step, 1.0, 1.0, side)[1:].max() / step)
        ax.plot(gaps, most, color=colour, ls=dash, label=fresh(ax, label))


@in_house_style
def approximation(
    profiles: Sequence[tuple[str, Profile]], step: float, steps: Sequence[float], span: float
) -> Figure:
    """Theorem 4.1, c = 1: (a) |w(T) - g((1 - eta)^T)| along descent of one step size, against
    eta T; (b) its largest value up to eta T = `span` against eta, and lines eta and sqrt(eta)."""
    fig, (left, right) = panels(
        1, 2, height=4.0, titles=(f"(a) step 1/{1 / step:.0f}", "(b) largest error")
    )
    for (name, profile), colour in zip(profiles, COLOURS, strict=True):
        errors = approximation_errors(profile, 1.0, step, math.ceil(span / step))
        T = np.arange(1, len(errors))
        left.plot(step * T, errors[1:], color=colour, label=name)
        most = largest_errors(profile, 1.0, steps, span)
        right.plot(steps, most, color=colour, marker="o", ms=4, label=name)
    ends = np.array([min(steps), max(steps)])
    right.plot(ends, ends, color=style.QUIET, ls="--", lw=1.0, label="step size")
    right.plot(ends, np.sqrt(ends), color=style.QUIET, ls=":", lw=1.2, label="its square root")
    left.set(yscale="log", xlabel="step size times $T$", ylim=(1e-7, 2.0),
             ylabel=r"$|w(T) - g((1 - c\eta)^T)|$", xlim=(0.0, span))  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel=r"step size $\eta$, with $c = 1$")
    legend_below(fig, columns=3)
    return fig
