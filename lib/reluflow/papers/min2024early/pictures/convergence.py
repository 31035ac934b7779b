"""From the alignment to the end of training in pictures: one whole trajectory, t_2, the rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.min2024early.fall_time import bounds, measured
from reluflow.papers.min2024early.loss_decay import slack_of_decay
from reluflow.papers.min2024early.low_rank import limit_rank, stable_ranks
from reluflow.papers.min2024early.refined import Best
from reluflow.papers.min2024early.whole import Whole

POSITIVE, NEGATIVE, DEAD = "#D55E00", "#0072B2", "#999999"
_DASHED = (0, (4, 1.5))
_LN10 = float(np.log(10.0))
_LOSSES = {
    "exponential": ("#0072B2", "-", "o"),
    "2 logistic": ("#D55E00", (0, (5, 2)), "s"),
    "logistic": ("#117733", (0, (1, 1.2)), "D"),
}
_NAMES = {
    "exponential": "exponential",
    "2 logistic": "$2 \\log(1 + e^{-yf})$",
    "logistic": "$\\log(1 + e^{-yf})$",
}


@in_house_style
def whole(each: Whole) -> Figure:
    """One trajectory in three stretches of time: (a) up to t_1, in log10 t, the cosine of every
    neuron with x_+ (orange, v_j > 0) or x_- (blue); (b) from t_1 to t_2, in t, its log10 norm; from
    t_2 on, in log10 (t - t_2), (c) log10 of 1/L and (d) the stable rank.
    """
    titles = ["(a) alignment", "(b) waiting", "(c) falling", "(d) falling"]
    fig, (first, second, third, fourth) = panels(2, 2, height=5.6, titles=titles)
    aligning, waiting, falling = _places(each)
    for j, sign in enumerate(each.given.signs):
        centre = each.given.centre(sign)
        cosine = each.aligning.U[:, j] @ centre / np.linalg.norm(centre)
        first.plot(aligning, cosine, **_neuron(each, j))
        second.plot(waiting, each.waiting.R[:, j] / _LN10, **_neuron(each, j))
    third.plot(falling, -each.falling.log_loss / _LN10, color=style.INK)
    fourth.plot(falling, stable_ranks(each.falling), color=style.INK)
    fourth.axhline(limit_rank(each.given.X, each.given.y), color=style.QUIET, lw=0.9,
                   ls=(0, (4, 2)), label="limit in closed form")  # fmt: skip
    room = 0.04 * (waiting[-1] - waiting[0])  # t_2 is the last moment: not on the frame
    first.set(xlim=(aligning[0], aligning[-1]), ylim=(-1.05, 1.05), xlabel="$\\log_{10} t$",
              ylabel="cos with $x_\\pm$")  # fmt: skip
    second.set(xlim=(waiting[0], waiting[-1] + room), xlabel="$t$",
               ylabel="$\\log_{10}\\|w_j\\|$")  # fmt: skip
    for ax, name in ((third, "$\\log_{10}(1/L)$"), (fourth, "stable rank")):
        ax.set(xlim=(falling[0], falling[-1]), xlabel="$\\log_{10}(t-t_2)$", ylabel=name)
    for sign, colour, name in ((1.0, POSITIVE, "$t_2^+$"), (-1.0, NEGATIVE, "$t_2^-$")):
        second.axvline(each.t_2[sign], color=colour, lw=0.9, ls=(0, (4, 2)), zorder=1, label=name)
    style.legend_entry(first, "$v_j > 0$, with $x_+$", color=POSITIVE, lw=1.6)
    style.legend_entry(first, "$v_j < 0$, with $x_-$", color=NEGATIVE, lw=1.6, ls=_DASHED)
    style.legend_entry(first, "dies", color=DEAD, lw=1.2, ls=(0, (1, 1.2)))
    legend_below(fig, columns=3)
    return fig


def _neuron(each: Whole, j: int) -> dict[str, object]:
    if not each.lives[j]:
        return {"color": DEAD, "lw": 1.2, "ls": (0, (1, 1.2))}
    if each.given.signs[j] > 0.0:
        return {"color": POSITIVE, "lw": 1.3}
    return {"color": NEGATIVE, "lw": 1.3, "ls": _DASHED, "zorder": 2.5}


def _places(each: Whole) -> tuple[NDArray, NDArray, NDArray]:
    """Where the moments lie: log10 t, t, log10 (t - t_2) from the first one after t_2."""
    last = each.falling.log_time / _LN10
    last[0] = min(0.0, float(last[1]))
    return each.aligning.log_time / _LN10, np.exp(each.waiting.log_time), last


@in_house_style
def fall_times(found: Sequence[Whole], family: Sequence[tuple[str, NDArray, NDArray]]) -> Figure:
    """Left: t_2 and the bound (39) against log(1/eps)/min(|x_+|, |x_-|). Right: curves (name, n,
    n t_2 / log(1/(sqrt(h) eps)))."""
    fig, (left, right) = panels(
        1, 2, height=4.0, titles=["when the loss falls", "the printed order"]
    )
    rows = measured(found)
    law = rows[:, 6] * rows[:, 4] / rows[:, 2:4].min(axis=1)
    left.loglog(law, rows[:, 5], ls="", marker="o", ms=5, mfc=POSITIVE, mec="white", mew=0.6,
                label="$t_2$", zorder=4)  # fmt: skip
    left.loglog(law, [max(bounds(each).values()) for each in found], ls="", marker="v", ms=5,
                mfc="white", mec=style.QUIET, label="bound (39)")  # fmt: skip
    ends = np.array([law.min() / 2.0, law.max() * 2.0])
    left.loglog(ends, ends, color=style.INK, lw=0.9, label="$t_2$ = its law")
    left.set(xlabel="$\\log(1/\\varepsilon) / \\min(\\|x_+\\|, \\|x_-\\|)$", ylabel="time")
    for (name, n, values), (colour, dash, marker) in zip(family, _LOSSES.values(), strict=False):
        right.loglog(n, values, color=colour, ls=dash, marker=marker, ms=4.5, label=name)
    right.set(xlabel="$n$", ylabel="$n\\, t_2 / \\log(1/\\sqrt{h} \\varepsilon)$")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def refined(runs: Sequence[Best]) -> Figure:
    """Left: the largest angle of the neurons of S_+ to x_+ along the flows of the first run, one
    curve a scale. Right: the least of each curve against eps, all runs."""
    fig, (left, right) = panels(
        1, 2, height=3.9, titles=["one start, several scales", "at its least"]
    )
    shades = np.linspace(0.75, 0.0, len(runs[0].log_eps))
    for k, shade in enumerate(shades):
        left.semilogy(runs[0].times, runs[0].curves[k], lw=1.5, color=(shade, shade, shade),
                      label=f"ln ε = {runs[0].log_eps[k]:g}")  # fmt: skip
    left.axvline(2.0 / 3.0, color=style.QUIET, lw=0.9, ls=(0, (4, 2)), label="two thirds")
    left.set(xlabel="$t / t_2^+$", ylabel="angle to $x_+$", xlim=(0.0, 1.0))
    for k, run in enumerate(runs):  # rings of growing size, for starts may lie on one another
        colour = (POSITIVE, NEGATIVE)[k % 2]
        right.loglog(np.exp(run.log_eps), run.angles, color=colour, lw=1.0, marker="o",
                     ms=4 + 4 * k, mfc="none", mew=1.2, label=f"start {k + 1}")  # fmt: skip
    eps = np.exp(runs[0].log_eps)
    right.loglog(eps, 0.4 * runs[0].angles[0] * (eps / eps[0]) ** (2.0 / 3.0), color=style.INK,
                 lw=0.9, label="slope 2/3")  # fmt: skip
    right.set(xlabel="$\\varepsilon$")
    legend_below(fig, columns=5)
    return fig


@in_house_style
def ranks(found: Sequence[Whole]) -> Figure:
    """|W|_F^2/|W|_2^2 of the trajectories against log10(1/L), dots for the limits, bars for
    2/(1 + mu)."""
    fig, (left, right) = panels(1, 2, height=3.9, titles=["after $t_2$", "at the end"], sharey=True)
    for each in found:
        colour, dash, _ = _LOSSES[each.given.loss.name]
        after = each.falling.log_loss < -1.0
        x, values = -each.falling.log_loss[after] / _LN10, stable_ranks(each.falling)[after]
        left.semilogx(x, values, color=colour, ls=dash, lw=1.2, label=_NAMES[each.given.loss.name])
    mu = np.array([each.given.data.mu for each in found])
    right.plot(mu, [stable_ranks(each.falling)[-1] for each in found], ls="", marker="o", ms=6,
               mfc=POSITIVE, mec="white", mew=0.6, label="flows, $L = e^{-10^6}$")  # fmt: skip
    right.plot(mu, [limit_rank(each.given.X, each.given.y) for each in found], ls="", marker="+",
               ms=9, mec=style.INK, label="closed form")  # fmt: skip
    grid = np.linspace(0.0, 1.0, 100)
    right.plot(grid, 2.0 / (1.0 + grid), color=style.INK, lw=1.0, label="$2 / (1 + \\mu)$")
    left.set(xlabel="$\\log_{10}(1/L)$", ylabel="stable rank", ylim=(0.95, 2.05))
    right.set(xlabel="$\\mu$", xlim=(0.0, 1.0))
    legend_below(fig, columns=3)
    return fig


@in_house_style
def decay(found: Sequence[Whole]) -> Figure:
    """How much faster than the bound 1/L grows: the quotient of both sides against log10(1/L)."""
    fig, (ax,) = panels(1, 1, height=3.6)
    for each in found:
        colour, dash, _ = _LOSSES[each.given.loss.name]
        tau = -each.falling.log_loss[1:]
        shown = tau > 1.0
        ax.loglog(tau[shown] / _LN10, np.exp(slack_of_decay(each))[shown], color=colour, ls=dash,
                  lw=1.2, label=_NAMES[each.given.loss.name])  # fmt: skip
    ax.axhline(1.0, color=style.INK, lw=0.9, label="the bound")
    ax.set(xlabel="$\\log_{10}(1/L)$", ylabel="$(1/L - 1/L_2)\\,/\\,\\alpha (t - t_2)$")
    legend_below(fig, columns=4)
    return fig
