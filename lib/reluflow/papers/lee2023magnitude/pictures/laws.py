"""Propositions B.2, C.1 and 3.5 of Lee, Sim & Ye 2022b in pictures: several minimisers, the angle
of two random vectors, factors that keep their signs or fall silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import Window, fresh
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.figures.weight_flow import flow, stationary_sets
from reluflow.figures.weight_space import activation_boundaries, loss_levels, weight_plane
from reluflow.flows.affine import affine_flow
from reluflow.flows.chain import ChainPath
from reluflow.geometry import local_minima
from reluflow.papers.lee2023magnitude import angles

COLOURS = ("#0072B2", "#D55E00", "#009E73")
_SAMPLED = {"ls": "", "marker": "o", "ms": 4.5, "mec": "white", "mew": 0.6}


@in_house_style
def segment_of_minimisers(
    points: ArrayLike, target: ArrayLike, starts: ArrayLike, window: Window
) -> Figure:
    """Proposition B.2: the loss (13) over w, its minimisers and flows (a) of the uniform law on the
    points (n, 2), (b) of the same points and their opposites; starts (k, 2)."""
    points, target = np.asarray(points, float), np.asarray(target, float)
    fig, axes = panels(1, 2, height=4.6, titles=("(a) the points", "(b) and their opposites"))
    for ax, X in zip(axes, (points, np.vstack([points, -points])), strict=True):
        _landscape(ax, X, target, np.asarray(starts, float), window, len(points))
    legend_below(fig, columns=2)
    return fig


def _landscape(
    ax: Axes, X: NDArray, target: NDArray, starts: NDArray, window: Window, drawn: int
) -> None:
    y = np.maximum(X @ target, 0.0)
    weight_plane(ax, window, equal=True)
    loss_levels(ax, X, y, floor=0.0)
    best = [m for m in local_minima(X, y) if m.rank == 1]
    stationary_sets(ax, best, X)
    for w0 in starts:
        flow(ax, affine_flow(X, y, w0), "ReLU flow", arrows=1, events=False)
    ax.plot(*target, ls="", marker="x", ms=8, mew=2.0, color=style.INK, zorder=7,
            label=fresh(ax, "teacher $w^*$"))  # fmt: skip
    activation_boundaries(ax, X, range(drawn))  # opposites share theirs


@in_house_style
def angle_tails(
    levels: Sequence[float], dimensions: ArrayLike, samples: Mapping[float, ArrayLike]
) -> Figure:
    """Proposition C.1: (a) the exact tail P(cos >= eps) over d with its bounds and sampled shares;
    (b) the angles that hold 95 % of all pairs of vectors.

    Parameters: `levels` the values of eps, at most three, `dimensions` (k,) values d >= 2, and
    `samples` {eps: shares (k,)}.
    """
    d = np.asarray(dimensions, int)
    fig, (left, right) = panels(
        1, 2, height=4.0, titles=("(a) the tail and its bounds", "(b) the angle of u and v")
    )
    every = np.unique(np.geomspace(d.min(), d.max(), 120).astype(int))
    for eps, colour in zip(levels, COLOURS, strict=False):
        left.plot(every, angles.upper_tail(eps, every), color=colour, lw=1.8,
                  label=rf"exact tail, $\varepsilon = {eps:g}$")  # fmt: skip
        left.plot(every, angles.printed_bound(eps, every), color=colour, lw=1.3, ls="--")
        left.plot(every, angles.half_bound(eps, every), color=colour, lw=1.3, ls=":")
        share = np.asarray(samples[eps], float)
        seen = share > 0.0
        left.plot(d[seen], share[seen], color=colour, **_SAMPLED)
    # The colour tells eps, the line what is drawn.
    for what, line in (
        (r"$2\,e^{-d\varepsilon^2/2}$, printed", {"ls": "--", "lw": 1.3}),
        (r"$\frac{1}{2}\,e^{-d\varepsilon^2/2}$, ours", {"ls": ":", "lw": 1.3}),
        ("sampled share", _SAMPLED),
    ):
        style.legend_entry(left, what, color=style.QUIET, **line)
    left.axhline(1.0, color=style.INK, lw=0.8)
    left.set(xscale="log", yscale="log", ylim=(1e-5, 3.0), xlabel="dimension $d$",
             ylabel=r"$P(\cos \geq \varepsilon)$")  # fmt: skip
    ends = np.array([angles.central_angles(int(k), 0.95) for k in every])
    right.fill_between(every, ends[:, 0], ends[:, 1], color=COLOURS[0], alpha=0.18, lw=0,
                       label="95 % of all pairs")  # fmt: skip
    right.axhline(90.0, color=style.INK, lw=0.9)
    right.axvline(100.0, color=style.QUIET, lw=1.0, ls=(0, (4.0, 2.5)), label="$d = 100$")
    right.set(xscale="log", xlabel="dimension $d$", ylabel="angle of $u$ and $v$ in degrees",
              ylim=(0.0, 180.0), yticks=[0, 45, 90, 135, 180])  # fmt: skip
    legend_below(fig, columns=3)
    return fig


@in_house_style
def factor_signs(negative: ChainPath, positive: ChainPath) -> Figure:
    """Proposition 3.5: the factors v_1, v_2 and |w| over time for (a) a target of negative and (b)
    one of positive output; a diamond is where a factor reaches 0 and the chain falls silent, dotted
    what it stays at."""
    titles = ("(a) target $-[x]_+$", "(b) target $[x]_+$")
    fig, axes = panels(1, 2, height=3.7, titles=titles, sharex=True, sharey=True)
    until = max(negative.t[-1], positive.t[-1])
    for ax, path in zip(axes, (negative, positive), strict=True):
        sizes = np.column_stack([path.v, np.linalg.norm(path.w, axis=1)])
        names = [*(f"$v_{k + 1}$" for k in range(path.v.shape[1])), r"$|w|$"]
        end = path.t[-1]
        for values, name, colour in zip(sizes.T, names, COLOURS, strict=True):
            ax.plot(path.t, values, color=colour, label=fresh(ax, name))
            if path.factor:
                ax.plot([end, until], [values[-1]] * 2, color=colour, lw=1.2, ls=":")
        if path.factor:
            ax.plot(path.zero, 0.0, ls="", marker="D", ms=7, color=style.INK, zorder=5,
                    clip_on=False, label="a factor reaches 0")  # fmt: skip
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.set(xlabel="time $t$", xlim=(0.0, until))
        ax.locator_params(axis="x", nbins=5)
        ax.xaxis.set_major_formatter("{x:g}")
    axes[0].set_ylabel("factors and magnitude")
    legend_below(fig, columns=4)
    return fig
