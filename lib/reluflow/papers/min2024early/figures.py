"""Pictures of chapter 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import fresh, halo_text, name_curves
from reluflow.figures.style import INK, in_house_style, legend_below, panels
from reluflow.geometry.separability import serves, signed, silent
from reluflow.losses import LOGISTIC
from reluflow.papers.min2024early.convergence import Best, Trajectory, limit_rank, stable_ranks
from reluflow.papers.min2024early.lemmas import Followed
from reluflow.papers.min2024early.setting import Polygon, cap, centres
from reluflow.papers.min2024early.theorem_1 import maps_printed_time

if TYPE_CHECKING:  # these train networks, which the figures do not
    from reluflow.papers.min2024early.own_data import Turned

# --- Where the neurons of a network in the plane point: cones, data and neurons on one circle -----
#
# Drawn everywhere alike: S_+ pale red, S_- pale blue, S_dead grey; data inside the circle, "+" red
# and "-" blue; neurons on the circle, discs where v_j > 0 and triangles where v_j < 0, pale where
# they are dead.

POSITIVE, NEGATIVE = "#D55E00", "#0072B2"
"""Colours of whatever belongs to a positive, or to a negative, label or output weight."""
LOSS, NORM, RANK = INK, "#AA4499", "#117733"
PALE = {"$S_+$": "#FBE0CF", "$S_-$": "#D3E6F4", "$S_{dead}$": "#D9D9D9"}
_BIN = np.pi / 60.0
"""Neurons less than this apart are stacked."""
_EDGE = 1e-9
"""A cosine this small is 0: the neurons that die as eps -> 0 rest on a boundary."""
_STACK = 0.4
"""Height of the highest stack, in radii of the circle."""


def arcs(X: NDArray, inside: Callable[[NDArray], NDArray]) -> list[tuple[float, float]]:
    """The arcs (from, to), in radians, on which `inside` holds of the directions (k, 2). Nothing
    changes but where a direction is orthogonal to a datum, so arcs between two such places are
    asked in their middle; neighbours are joined."""
    corners = (np.arctan2(X[:, 1], X[:, 0])[:, None] + [-np.pi / 2, np.pi / 2]).ravel()
    corners = np.sort(np.unique(np.round(np.mod(corners, 2.0 * np.pi), 12)))
    ends = np.append(corners, corners[0] + 2.0 * np.pi)
    middle = 0.5 * (ends[:-1] + ends[1:])
    kept = inside(np.stack([np.cos(middle), np.sin(middle)], axis=1))
    found: list[tuple[float, float]] = []
    for k in np.flatnonzero(kept).tolist():
        if found and found[-1][1] == ends[k]:
            found[-1] = found[-1][0], float(ends[k + 1])
        else:
            found.append((float(ends[k]), float(ends[k + 1])))
    if len(found) > 1 and found[-1][1] == found[0][0] + 2.0 * np.pi:
        found = [(found.pop()[0], found[0][1] + 2.0 * np.pi), *found[1:]]
    return found


def regions(X: NDArray, y: NDArray) -> dict[str, list[tuple[float, float]]]:
    """The arcs of S_+, S_- and S_dead by name; a name is left out where it has none."""
    tests: dict[str, Callable[[NDArray], NDArray]] = {
        "$S_+$": lambda U: serves(X, y, U, 1.0) & ~silent(X, U),
        "$S_-$": lambda U: serves(X, y, U, -1.0) & ~silent(X, U),
        "$S_{dead}$": lambda U: silent(X, U),
    }
    found = {name: arcs(X, test) for name, test in tests.items()}
    return {name: where for name, where in found.items() if where}


@in_house_style
def circles(panes: Sequence[tuple[str, NDArray, NDArray, NDArray, NDArray]]) -> Figure:
    """A plane for each title, data X (n, 2), y (n,) and neurons W (m, 2), v (m,), three in a row:
    every neuron's direction is a mark on a circle. Marks less than 3 degrees apart are stacked
    outwards; a mark is larger where the neuron has at least a tenth of the largest norm there."""
    rows = -(-len(panes) // 3)
    titles = [title for title, *_ in panes]
    fig, axes = panels(rows, 3, height=0.3 + rows * (0.25 + 6.6 / 3), titles=titles)
    for ax, (_, X, y, W, v) in zip(axes, panes, strict=False):
        plane(ax, X, y)
        _neurons(ax, X, W, v)
    for ax in axes[len(panes) :]:
        ax.set_visible(False)
    legend_below(fig, columns=4)
    # The layout takes for free what a square panel leaves of its height, and cuts the titles.
    fig.get_layout_engine().set(h_pad=0.12)  # type: ignore[union-attr]
    return fig


@in_house_style
def angles(X: ArrayLike, y: ArrayLike, t: ArrayLike, W: ArrayLike, v: ArrayLike, xlabel: str,
           fall: float | None = None) -> Figure:  # fmt: skip
    """The circle unrolled: every neuron's angle against time, the cones as bands. Parameters: t
    (r,), W (r, m, 2), v (r, m), `fall` a time to be marked by a line. The circle is cut in the
    middle of the widest arc outside S_+ and S_-; a curve is broken where its neuron crosses the
    cut, and ends where the neuron dies."""
    X, y, t, W, v = (np.asarray(a, float) for a in (X, y, t, W, v))
    outside = arcs(X, lambda U: silent(X, U) | ~(serves(X, y, U, 1.0) | serves(X, y, U, -1.0)))
    a, b = max(outside, key=lambda arc: arc[1] - arc[0], default=(0.0, 0.0))
    cut = float(np.mod(0.5 * (a + b), 2.0 * np.pi)) - 2.0 * np.pi
    fig, (ax,) = panels(1, 1, height=3.2)
    for name, where in regions(X, y).items():
        for a, b in where:
            low = np.mod(a - cut, 2.0 * np.pi) + cut
            for shift in (0.0, -2.0 * np.pi):
                ax.axhspan(*np.degrees([low + shift, low + shift + b - a]), color=PALE[name],
                           lw=0.0, zorder=0.1)  # fmt: skip
        style.legend_entry(ax, name, color=PALE[name], lw=7.0)
    turn = np.mod(np.arctan2(W[..., 1], W[..., 0]) - cut, 2.0 * np.pi) + cut
    dead = silent(X, W, _EDGE)
    turn[1:][dead[1:] & dead[:-1]] = np.nan
    jump = np.abs(np.diff(turn, axis=0)) > np.pi
    turn[1:][jump] = np.nan
    for sign, colour, line in ((1.0, POSITIVE, "-"), (-1.0, NEGATIVE, (0, (4.0, 1.6)))):
        mine = np.sign(v[-1]) == sign
        if mine.any():
            ax.plot(t, np.degrees(turn[:, mine]), color=colour, ls=line, lw=0.8, alpha=0.85)
            words = "neurons with $v_j > 0$" if sign > 0 else "neurons with $v_j < 0$"
            style.legend_entry(ax, words, color=colour, ls=line, lw=1.4)
    for i, x in enumerate(X):
        turned = np.mod(np.arctan2(x[1], x[0]) - cut, 2.0 * np.pi) + cut
        ax.plot(1.015, np.degrees(turned), clip_on=False, ls="", zorder=5, ms=7, mew=1.8,
                transform=ax.get_yaxis_transform(), **_datum(y[i]))  # fmt: skip
    if fall is not None:
        ax.axvline(fall, color=style.INK, lw=0.9, ls=":", label="the loss begins to fall")
    ax.set(xlim=(t[0], t[-1]), ylim=np.degrees([cut, cut + 2.0 * np.pi]), xlabel=xlabel,
           ylabel="direction (degrees)")  # fmt: skip
    legend_below(fig, columns=3)
    return fig


def plane(ax: Axes, X: NDArray, y: NDArray, reach: float = 1.0) -> None:
    """The unit circle, the cones as sectors up to `reach`, the data at their directions."""
    side = 1.5 if reach == 1.0 else 2.0
    ax.set(xlim=(-side, side), ylim=(-side, side), aspect="equal")
    _bare(ax)
    for name, where in regions(X, y).items():
        for a, b in where:
            ax.add_patch(Wedge((0.0, 0.0), reach, *np.degrees([a, b]), color=PALE[name], lw=0.0,
                               zorder=0.2))  # fmt: skip
            middle = 0.5 * (a + b)
            place = 0.5 * reach * np.array([np.cos(middle), np.sin(middle)])
            halo_text(ax, place, name, fontsize=8)
    ax.add_patch(Circle((0.0, 0.0), 1.0, fill=False, ec=style.QUIET, lw=0.8, zorder=1.0))
    longest = np.linalg.norm(X, axis=1).max()
    for x, label in zip(X, y, strict=True):
        tip = 0.8 * x / longest
        mark = _datum(label)
        ax.plot([0.0, tip[0]], [0.0, tip[1]], color=mark["color"], lw=0.9, zorder=1.5)
        ax.plot(*tip, ls="", ms=7, mew=1.8, zorder=2.0, **mark)
    for sign in np.unique(y):
        mark = _datum(sign)
        style.legend_entry(ax, f"datum, $y = {'+' if sign > 0 else '-'}1$", ls="", ms=7, mew=1.8,
                           **mark)  # fmt: skip


def _datum(label: float) -> dict[str, object]:
    return {"marker": "+", "color": POSITIVE} if label > 0 else {"marker": "_", "color": NEGATIVE}


def _neurons(ax: Axes, X: NDArray, W: NDArray, v: NDArray) -> None:
    turn, size = np.arctan2(W[:, 1], W[:, 0]), np.linalg.norm(W, axis=1)
    dead, large = silent(X, W, _EDGE), size >= 0.1 * size.max(initial=0.0)
    box = pd.Series(np.round(turn / _BIN)).loc[np.argsort(turn, kind="stable")]
    rank = box.groupby(box).cumcount().sort_index().to_numpy()
    radius = 1.07 + min(0.085, _STACK / max(rank.max(), 1)) * rank
    for sign, colour, marker in ((1.0, POSITIVE, "o"), (-1.0, NEGATIVE, "^")):
        for is_dead in (False, True):
            mine = (np.sign(v) == sign) & (dead == is_dead)
            place = radius[mine, None] * np.stack([np.cos(turn[mine]), np.sin(turn[mine])], axis=1)
            face = "white" if is_dead else colour
            ax.scatter(*place.T, s=np.where(large[mine], 20.0, 8.0), marker=marker, lw=0.7,
                       facecolor=face, edgecolor=colour, alpha=0.6 if is_dead else 1.0,
                       zorder=3.0)  # fmt: skip
        words = f"$v_j {'>' if sign > 0 else '<'} 0$ (hollow: dead)"
        style.legend_entry(ax, words, ls="", marker=marker, ms=4.5, color=colour)


# --- The alignment of neurons in the plane as polygons in weight space, drawn with a ruler --------
#
# While the same data activate w, the direction of w is that of a point that runs straight along
# s x_a(w). Where the line meets a boundary <x_i, w> = 0 it bends.


@in_house_style
def polygons(X: ArrayLike, y: ArrayLike, paths: Sequence[tuple[int, Polygon]]) -> Figure:
    """The polygons of neurons in the plane, those with v_j > 0 in one panel, the others in another.
    Parameters: X (n, 2), y (n,), paths the sign of each neuron with its path."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    size = max(float(np.linalg.norm(np.array(path.corners[0], float))) for _, path in paths)
    titles = ("(a) neurons with $v_j > 0$", "(b) neurons with $v_j < 0$")
    fig, axes = panels(1, 2, height=4.5, titles=titles)
    for ax, sign in zip(axes, (1, -1), strict=True):
        plane(ax, X, y, 3.0)
        for x in X:
            ax.axline((0.0, 0.0), (-x[1], x[0]), color=style.QUIET, lw=0.6, ls=(0, (1, 2)),
                      zorder=0.5, label=fresh(ax, "boundary of a datum"))  # fmt: skip
        for own, path in paths:
            if own == sign:
                colour = POSITIVE if sign > 0 else NEGATIVE
                _path(ax, path, sign * (y * np.array(path.patterns[-1])) @ X, colour, size)
    legend_below(fig, columns=4)
    return fig


def _path(ax: Axes, path: Polygon, last: NDArray, colour: str, size: float) -> None:
    """One polygon: a disc at its start, a dot at every bend, an arrow along `last` or a ring."""
    points = np.array(path.corners, float) / size
    ax.plot(*points[0], ls="", marker="o", ms=5.0, color=colour, zorder=4.0)
    ax.plot(*points.T, color=colour, lw=1.2, zorder=3.0)
    ax.plot(*points[1:].T, ls="", marker="o", ms=2.6, color=colour, zorder=3.5)
    if path.status == "dead":
        ax.plot(*points[-1], ls="", marker="o", ms=5.5, mfc="white", mec=colour, zorder=4.0)
        style.legend_entry(ax, "a neuron dies", ls="", marker="o", ms=5.5, mfc="white", mec=colour)
    elif np.any(last):
        end = points[-1] + 0.55 * last / np.linalg.norm(last)
        ax.annotate("", end, points[-1], zorder=3.0, annotation_clip=True,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2, "shrinkA": 0,
                                "shrinkB": 0, "mutation_scale": 9})  # fmt: skip


# --- Figures of the alignment: times against bounds, scales against bounds ------------------------

PRINTED, OURS, NEEDED = "#D55E00", "#0072B2", INK
_DASHES = ((0, (5, 2)), (0, (1.5, 1.2)))


@in_house_style
def times_against_mu(found: pd.DataFrame, mus: NDArray, ours: NDArray, slowest: NDArray) -> Figure:
    """The time that neurons need over mu, both logarithmic, with the printed t_1 and with t_*.
    `found` is of `theorem_1.needed_times`; `ours` (m,) is t_* at `mus` (m,), `slowest` the times of
    the data that come nearest to it, at the values of mu that `found` has."""
    fig, (ax,) = panels(1, 1, height=3.9)
    ns = sorted(found.n.unique())
    for n, dash in zip((ns[0], ns[-1]), _DASHES, strict=False):
        ax.plot(mus, [maps_printed_time(n, mu) for mu in mus], color=PRINTED, ls=dash,
                label=f"$t_1$ of the paper, $n = {n}$")  # fmt: skip
    ax.plot(mus, ours, color=OURS, label="$t_*$, for every $n$")
    drawn = sorted(found.mu.unique())
    ax.plot(drawn, slowest, ls="", marker="*", ms=9, mfc="#F2B701", mec=INK, mew=0.7,
            label="data that come nearest to $t_*$")  # fmt: skip
    for n, marker in zip(ns, "osD^v", strict=False):
        part = found[found.n == n].groupby("mu").needed.max()
        ax.plot(part.index, part, ls="", marker=marker, ms=4.5, mfc="white", mec=NEEDED, mew=0.9,
                label=f"slowest neuron drawn, $n = {n}$")  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="separation $\\mu$",
           ylabel="time until home, in $1 / X_{\\min}$")  # fmt: skip
    ax.minorticks_off()
    legend_below(fig, columns=3)
    return fig


@in_house_style
def beside_the_excluded(found: pd.DataFrame) -> Figure:
    """A neuron's time over decades of its angle from x_-: needed, t_*, t_1 (`beside_times`)."""
    fig, (ax,) = panels(1, 1, height=3.2)
    ax.plot(found.decades, found.needed, color=NEEDED, label="needed")
    ax.plot(found.decades, found.ours, color=OURS, ls=_DASHES[0],
            label="$t_* + \\log(\\cot(\\theta/2))\\,/\\,|x_-|$")  # fmt: skip
    ax.axhline(found.printed[0], color=PRINTED, ls=_DASHES[1], label="$t_1$ as printed")
    ax.fill_between(found.decades, found.printed, found.needed, where=found.needed > found.printed,
                    color=PALE["$S_+$"], lw=0)  # fmt: skip
    ax.set(xlabel="decades $k$: the neuron starts at the angle $10^{-k}$ from $x_-$",
           ylabel="time", xlim=(found.decades.min(), found.decades.max()),
           ylim=(0.0, None))  # fmt: skip
    halo_text(ax, np.array([0.8, 0.4]) * [found.decades.max(), found.needed.max()],
              "not home at $t_1$", color=PRINTED)  # fmt: skip
    name_curves(ax)
    return fig


@in_house_style
def scales(slices: Mapping[str, pd.DataFrame]) -> Figure:
    """-ln eps over mu, n and h, one panel each: what (Small) asks for, what is enough, what does.
    `slices` are `theorem_1.scales_along`."""
    names = {"mu": "separation $\\mu$", "n": "data $n$", "h": "neurons $h$"}
    fig, axes = panels(1, len(slices), height=3.3, sharey=True)
    for ax, (name, frame) in zip(axes, slices.items(), strict=True):
        rows = (
            ("small", PRINTED, "s", "(Small), with the minimum"),
            ("ours", OURS, "o", "enough, proved"),
            ("needed", NEEDED, "D", "enough, measured"),
        )
        for column, colour, marker, label in rows:
            values = np.maximum(-frame[column], 0.25)
            ax.plot(frame[name], values, color=colour, marker=marker, ms=5, mfc="white", mec=colour,
                    label=label)  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel=names[name])
        ax.set_xticks(list(frame[name]), [f"{value:g}" for value in frame[name]])
        ax.minorticks_off()
    axes[0].set_ylabel("$-\\ln\\,\\varepsilon$")
    name_curves(axes[0], *axes[1:])
    return fig


# --- From the alignment to the end of training: one whole trajectory, t_2, the rank ---------------

_LN10 = float(np.log(10.0))
_LOSSES = {"exponential": ("#0072B2", "-"), "2 logistic": ("#D55E00", (0, (5, 2))),
           "logistic": ("#117733", (0, (1, 1.2)))}  # fmt: skip
_NAMES = {"exponential": "exponential", "2 logistic": "$2 \\log(1 + e^{-yf})$",
          "logistic": "$\\log(1 + e^{-yf})$"}  # fmt: skip


@in_house_style
def whole(each: Trajectory) -> Figure:
    """One trajectory in its three stretches of time, shaded: up to t_1, in log10 t, the cosine of
    every neuron with x_+ (orange, v_j > 0) or x_- (blue); from t_1 to t_2, in t, its log10 norm;
    from t_2 on, in log10 (t - t_2), log10 of the loss."""
    titles = ["1 they turn", "2 they grow", "3 the loss falls"]
    fig, (first, second, third) = panels(1, 3, height=3.1, titles=titles)
    # Where the moments lie: log10 t, t, log10 (t - t_2) from the first one after t_2.
    aligning, waiting = each.aligning.log_time / _LN10, np.exp(each.waiting.log_time)
    falling = each.falling.log_time / _LN10
    falling[0] = min(0.0, float(falling[1]))
    for j, sign in enumerate(each.given.signs):
        centre = each.given.centre(sign)
        cosine = each.aligning.U[:, j] @ centre / np.linalg.norm(centre)
        first.plot(aligning, cosine, **_neuron(first, each, j))
        second.plot(waiting, each.waiting.R[:, j] / _LN10, **_neuron(second, each, j))
    third.plot(falling, each.falling.log_loss / _LN10, color=style.INK)
    room = 0.04 * (waiting[-1] - waiting[0])  # t_2 is the last moment: not on the frame
    first.set(xlim=(aligning[0], aligning[-1]), ylim=(-1.05, 1.05), xlabel="$\\log_{10} t$",
              ylabel="cosine with $x_+$ or $x_-$")  # fmt: skip
    second.set(xlim=(waiting[0], waiting[-1] + room), xlabel="$t$",
               ylabel="$\\log_{10}\\|w_j\\|$")  # fmt: skip
    third.set(xlim=(falling[0], falling[-1]), xlabel="$\\log_{10}(t-t_2)$",
              ylabel="$\\log_{10}L$")  # fmt: skip
    for sign, colour, name in ((1.0, POSITIVE, "$t_2^+$"), (-1.0, NEGATIVE, "$t_2^-$")):
        second.axvline(each.t_2[sign], color=colour, lw=0.9, ls=(0, (4, 2)), zorder=1, label=name)
    for ax, shade in zip((first, second, third), ("#F4EFE6", "#E9F1EC", "#ECEDF5"), strict=True):
        ax.patch.set_facecolor(shade)
        name_curves(ax)
    end = stable_ranks(each.falling)[-1], limit_rank(each.given.X, each.given.y)
    third.text(0.95, 0.95, f"stable rank\n{end[0]:.2f} at the end,\n{end[1]:.2f} in the limit",
               transform=third.transAxes, ha="right", va="top", fontsize=9)  # fmt: skip
    return fig


def _neuron(ax: Axes, each: Trajectory, j: int) -> dict[str, object]:
    name = ("$v_j > 0$" if each.given.signs[j] > 0.0 else "$v_j < 0$") if each.lives[j] else "dies"
    look = {"dies": {"color": "#999999", "lw": 1.2, "ls": (0, (1, 1.2))},
            "$v_j > 0$": {"color": POSITIVE, "lw": 1.3},
            "$v_j < 0$": {"color": NEGATIVE, "lw": 1.3, "ls": (0, (4, 1.5)),
                          "zorder": 2.5}}  # fmt: skip
    return {"label": fresh(ax, name), **look[name]}


@in_house_style
def fall_times(found: Sequence[Trajectory]) -> Figure:
    """t_2 and the bound (39) against log(1/eps)/min(|x_+|, |x_-|)."""
    fig, (ax,) = panels(1, 1, height=3.6)
    law = np.array([
        (-2.0 if each.given.loss is LOGISTIC else -1.0) * each.given.log_eps
        / min(float(np.linalg.norm(each.given.centre(s))) for s in (1.0, -1.0)) for each in found
    ])  # fmt: skip
    ax.loglog(law, [each.fall for each in found], ls="", marker="o", ms=5, mfc=POSITIVE,
              mec="white", mew=0.6, label="$t_2$", zorder=4)  # fmt: skip
    ax.loglog(law, [max(each.bounds.values()) for each in found], ls="", marker="v", ms=5,
              mfc="white", mec=style.QUIET, label="bound (39)")  # fmt: skip
    ends = np.array([law.min() / 2.0, law.max() * 2.0])
    ax.loglog(ends, ends, color=style.INK, lw=0.9, label="$t_2$ = its law")
    ax.set(xlabel="$\\log(1/\\varepsilon) / \\min(\\|x_+\\|, \\|x_-\\|)$", ylabel="time")
    ax.minorticks_off()
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
    left.minorticks_off()
    right.minorticks_off()
    legend_below(fig, columns=5)
    return fig


@in_house_style
def ranks(found: Sequence[Trajectory]) -> Figure:
    """|W|_F^2/|W|_2^2 against log10(1/L); dots are the limits, bars 2/(1 + mu)."""
    fig, (left, right) = panels(1, 2, height=3.9, titles=["after $t_2$", "at the end"], sharey=True)
    for each in found:
        colour, dash = _LOSSES[each.given.loss.name]
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
    left.minorticks_off()
    right.set(xlabel="$\\mu$", xlim=(0.0, 1.0))
    legend_below(fig, columns=3)
    return fig


# --- A reader's neurons while they turn: where they point, and when each of them is home ----------


def turning(turned: Turned) -> Figure:
    """The directions in the limit eps -> 0 against time, to a little beyond the last neuron's home:
    angles in the plane, else cosines."""
    last = float(turned.homes.max())
    t = np.linspace(0.0, 1.3 * last if last > 0.0 else 1.0, 400)
    W, signs = turned.directions(t), turned.own.signs
    if W.shape[-1] == 2:
        X, y = turned.own.X, turned.own.y
        return angles(X, y, t, W, np.broadcast_to(signs, W.shape[:2]), "$t$")
    return _cosines(turned, t, W)


@in_house_style
def _cosines(turned: Turned, t: np.ndarray, W: np.ndarray) -> Figure:
    """cos(w_j, x_+) where v_j > 0, in one panel, and cos(w_j, x_-) where v_j < 0, in another."""
    own = turned.own
    fig, axes = panels(1, 2, height=3.2, sharey=True)
    sides = (1.0, POSITIVE, "x_+", ">"), (-1.0, NEGATIVE, "x_-", "<")
    for ax, (sign, colour, name, order) in zip(axes, sides, strict=True):
        x = own.X[own.y == sign].sum(axis=0)
        if x.any():
            cosines = W[:, own.signs == sign] @ x / np.linalg.norm(x)
            ax.plot(t, cosines, color=colour, lw=0.7, alpha=0.8)
        ax.set(xlabel="$t$", ylabel=f"$\\cos(w_j, {name})$", ylim=(-1.05, 1.05))
        ax.set_title(f"neurons with $v_j {order} 0$")
    return fig


@in_house_style
def homes(turned: Turned, bounds: Sequence[tuple[str, float]]) -> Figure:
    """The share of the neurons whose active data change no more, against time, and times by which
    all should be there: `bounds`, a name and a time each."""
    homes = np.sort(turned.homes)
    later = [time for _, time in bounds]
    positive = homes[homes > 0.0]
    first = 0.3 * float(positive.min()) if positive.size else 0.1
    last = 2.0 * max([*later, float(homes.max(initial=1.0))])
    t = np.concatenate([[first], homes[homes > first], [last]])
    share = np.searchsorted(homes, t, side="right") / len(homes)
    fig, (ax,) = panels(1, 1, height=2.7)
    ax.semilogx(t, share, drawstyle="steps-post", color=style.INK, label="arrived")
    lines = (POSITIVE, (0, (1, 1.5))), (POSITIVE, (0, (5, 2))), (NEGATIVE, "-")
    for (name, time), (colour, line) in zip(bounds, lines, strict=False):
        ax.axvline(time, color=colour, ls=line, lw=1.4, label=name)
    ax.set(xlim=(first, last), ylim=(0.0, 1.05), xlabel="$t$", ylabel="share of the neurons")
    ax.minorticks_off()
    legend_below(fig)
    return fig


@in_house_style
def training(curves: pd.DataFrame) -> Figure:
    """A descent as the paper shows it: (a) the cosine of either group's mean neuron to the sum of
    its data, and that of its worst neuron (thin); (b) the loss, |W|_2^2 and the stable rank, which
    is cut off at 2.5."""
    titles = ("(a) first they turn", "(b) then the loss falls")
    fig, axes = panels(1, 2, height=3.2, titles=titles)
    _training(axes[0], axes[1], curves)
    for ax in axes:
        name_curves(ax)
    return fig


@in_house_style
def trainings(runs: Mapping[str, pd.DataFrame]) -> Figure:
    """`training` of several runs, a row each."""
    fig, axes = panels(len(runs), 2, height=0.5 + 2.3 * len(runs))
    for k, (name, curves) in enumerate(runs.items()):
        axes[2 * k].set_title(name)
        _training(axes[2 * k], axes[2 * k + 1], curves)
    legend_below(fig, columns=4)
    return fig


def _training(left: Axes, right: Axes, curves: pd.DataFrame) -> None:
    for side, colour, sign, dash in (("plus", POSITIVE, "+", "solid"),
                                     ("minus", NEGATIVE, "-", "dashed")):  # fmt: skip
        if np.isfinite(curves[side]).any():
            left.plot(curves.step, curves[f"{side}_least"], color=colour, ls=dash, lw=0.8,
                      label=f"worst, $v_j {'>' if sign == '+' else '<'} 0$")  # fmt: skip
            left.plot(curves.step, curves[side], color=colour, ls=dash,
                      label=f"mean to $x_{sign}$")  # fmt: skip
    least = float(np.nanmin([-0.1, *curves.plus_least, *curves.minus_least]))
    left.set(ylim=(least - 0.05, 1.05), ylabel="cosine")
    size = max(float(curves.spectral.max()), 1e-300)
    for values, name, colour, dash in (
        (curves.loss / curves.loss[0], "loss / start", LOSS, "solid"),
        (curves.spectral / size, "$\\|W\\|_2^2$ / end", NORM, "dashed"),
        (curves.stable_rank, "stable rank", RANK, "dotted"),
    ):
        right.plot(curves.step, values, color=colour, ls=dash, label=name)
    right.set(ylim=(0.0, 2.5))
    for ax in (left, right):
        ax.set(xlim=(curves.step.iloc[0], curves.step.iloc[-1]), xlabel="step")
        ax.locator_params(axis="x", nbins=4)


# --- Pictures of the cones in the plane -----------------------------------------------------------

HULL, CAP = "#117733", "#AA4499"


def hull(X: NDArray, y: NDArray) -> NDArray:
    """The angles (2,) between which K lies in the plane."""
    Z = signed(X, y)
    u = (Z / np.linalg.norm(Z, axis=1, keepdims=True)).sum(axis=0)
    turns = np.arctan2(Z @ np.array([-u[1], u[0]]), Z @ u)
    return np.arctan2(u[1], u[0]) + np.array([turns.min(), turns.max()])


@in_house_style
def cones_in_plane(data: Sequence[tuple[str, NDArray, NDArray]]) -> Figure:
    """The cones of data in the plane, a panel for each (title, X (n, 2), y (n,))."""
    fig, axes = panels(1, len(data), height=4.5, titles=[title for title, _, _ in data])
    for ax, (_, X, y) in zip(axes, data, strict=True):
        plane(ax, X, y)
        K, half = hull(X, y), np.arcsin(np.sqrt(cap(X, y))) * np.array([-1.0, 1.0])
        rings = [("$K$", HULL, 1.12, K, 0.9), ("$-K$", HULL, 1.12, K + np.pi, 0.35)]
        for sign, u in centres(X, y).items():
            end = sign * u / np.linalg.norm(u)
            rings.append(("caps of $\\zeta_1$", CAP, 1.28, np.arctan2(*end[::-1]) + half, 0.7))
            ax.plot(*np.array([0.0 * end, end]).T, color=CAP, lw=1.4, ls="--", zorder=1.4)
            halo_text(ax, 1.4 * end, "$x_+$" if sign > 0 else "$x_-$", fontsize=10, color=CAP)
        for words, colour, radius, ends, alpha in rings:
            ax.add_patch(Wedge((0.0, 0.0), radius, *np.degrees(ends), width=0.1, color=colour,
                               lw=0.0, alpha=alpha, label=fresh(ax, words)))  # fmt: skip
    legend_below(fig, columns=4)
    return fig


def _bare(ax: Axes) -> None:
    """No frame and no ticks; `axis("off")` would leave the title out of the layout."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


# --- What happens on a boundary of activity: the examples of Appendix E -----------------------

BOUNDARIES_COLOURS = ("#0072B2", "#D55E00", "#117733", "#AA4499")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)))


@in_house_style
def no_and_many(
    polygons: Sequence[tuple[str, NDArray, NDArray]],
    departure: tuple[NDArray, NDArray],
    delays: Sequence[float],
    until: float,
) -> Figure:
    """p = <x, w> against time: E.3, Euler polygons (name, times, p), and E.4, its solutions.
    Parameters: `departure`, times and p of the path that leaves at once; `delays`, the moments t_0
    at which the solutions shown leave; `until`, the end of E.4's axis."""
    titles = ("E.3: $y = -1$, $σ'(0) = 1/2$", "E.4: $y = +1$, $σ'(0) = 0$")
    fig, (left, right) = panels(1, 2, height=3.8, titles=titles)
    for k, (name, times, p) in enumerate(polygons):
        left.plot(times, p, color=BOUNDARIES_COLOURS[k % 4], ls=DASHES[k % 4], label=name)
    _sides(left, "active, the flow goes down", "dead, at rest")
    left.set(xlabel="$t$", ylabel="$p = \\langle x, w\\rangle$", xlim=(0.0, 1.0))
    left.set_ylim(-0.12, 0.05)
    left.locator_params("y", nbins=4)
    t, p = departure
    for k, t0 in enumerate(delays):
        moments = np.concatenate([[0.0, t0], t0 + t[1:]])
        right.plot(moments, np.concatenate([[0.0, 0.0], p[1:]]), color=BOUNDARIES_COLOURS[k % 4],
                   ls=DASHES[k % 4], label=f"leaves at $t_0 = {t0:g}$")  # fmt: skip
    right.plot([0.0, until], [0.0, 0.0], color=style.INK, lw=2.4, label="stays for ever")
    _sides(right, "active, the flow goes up", "dead, at rest")
    right.set(xlabel="$t$", xlim=(0.0, until), ylim=(-0.35, 1.9))
    legend_below(fig, columns=3)
    return fig


def _sides(ax: Axes, above: str, below: str) -> None:
    ax.axhline(0.0, color=style.INK, lw=0.9)
    for place, word, anchor in ((0.97, above, "top"), (0.03, below, "bottom")):
        ax.text(0.03, place, word, transform=ax.transAxes, va=anchor, fontsize=8.5,
                color=style.QUIET)  # fmt: skip


# --- The lemmas on small neurons: how long their bounds hold --------------------------------------


@in_house_style
def lasting(random: Followed, worst: Followed) -> Figure:
    """max_j |w_j|^2 over its bound against t / T: random flows, and those of one neuron along one
    datum, whose ln eps the legend names. T is printed, 2 T proved."""
    fig, (ax,) = panels(1, 1, height=3.9)
    for _, along in random:
        ax.plot(along.times, along.log_ratios[:, 1] / np.log(10.0), color=style.QUIET, lw=0.6,
                alpha=0.5)  # fmt: skip
    for (start, along), dash in zip(worst, ("-", (0, (5, 2)), ":"), strict=False):
        ax.plot(along.times, along.log_ratios[:, 1] / np.log(10.0), color=NORM, ls=dash, lw=2.0,
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


# --- Pictures of two digits being told apart: Figures 5 and 10 to 13 of Min et al. 2024 -----------


@in_house_style
def heatmaps(products: Mapping[str, NDArray]) -> Figure:
    """The inner products of centred images, name -> (2m, 2m), the first m of one digit, the others
    of the other, in units of the mean square of a length. Blue is negative, red positive."""
    fig, axes = panels(1, len(products), height=2.5, titles=list(products))
    for ax, values in zip(axes, products.values(), strict=True):
        drawn = ax.imshow(values / np.diagonal(values).mean(), cmap="RdBu_r", vmin=-1.0, vmax=1.0,
                          interpolation="nearest")  # fmt: skip
        half = len(values) / 2
        for line in (ax.axhline, ax.axvline):
            line(half - 0.5, color=INK, lw=0.8)
        _bare(ax)
    fig.colorbar(drawn, ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0.03,
                 label="inner product over the mean square of a length")  # fmt: skip
    return fig


@in_house_style
def neurons(runs: Mapping[str, Mapping[str, NDArray]]) -> Figure:
    """The class means and the mean neurons as images, a row a run; blue is negative, red positive,
    each image in units of its own largest entry."""
    fig, axes = panels(len(runs), 4, height=1.25 * len(runs) + 0.7)
    columns = {"x_plus": "$x_+/n_+$", "x_minus": "$x_-/n_-$", "w_plus": "$w_+$", "w_minus": "$w_-$"}
    for row, (name, shown) in enumerate(runs.items()):
        for column, (key, title) in enumerate(columns.items()):
            ax, image = axes[4 * row + column], shown[key]
            top = float(np.abs(image).max())
            drawn = ax.imshow(image / top, cmap="RdBu_r", vmin=-1.0, vmax=1.0,
                              interpolation="nearest")  # fmt: skip
            _bare(ax)
            if row == 0:
                ax.set_title(title, loc="center")
            if column == 0:
                ax.set_ylabel(name)
    fig.colorbar(drawn, ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0.02,
                 label="entry over the largest of its image")  # fmt: skip
    return fig


@in_house_style
def phases(runs: Mapping[str, pd.DataFrame]) -> Figure:
    """The loss and the two changes over the epochs, a panel a way of training. Both axes are
    logarithmic: the changes of directions from scattered starts are huge."""
    fig, axes = panels(1, len(runs), height=3.5, titles=list(runs))
    for ax, run in zip(axes, runs.values(), strict=True):
        late = run[run.epoch > 0]
        ax.plot(late.epoch, late.loss, color=LOSS, label="loss $\\mathcal{L}$")
        ax.plot(late.epoch, late.norms, color=NORM, ls=(0, (4, 1.5)), label="changes in norms")
        ax.plot(late.epoch, late.directions, color=RANK, ls=(0, (1, 1.2)), lw=2.0,
                label="changes in directions")  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="epoch", ylim=(1e-5, 1e3))
        ax.minorticks_off()
    legend_below(fig)
    return fig


# --- Figures 6 to 9 over many starts: falls of the loss, neurons left behind ----------------------

_SCALES = ((NEGATIVE, "o", "-"), (POSITIVE, "s", (0, (5.0, 2.0))), (RANK, "D", (0, (1.0, 1.2))))


@in_house_style
def toys_losses(
    clocks: Mapping[str, NDArray], curves: Mapping[str, NDArray], marks: Mapping[str, NDArray]
) -> Figure:
    """The loss relative to its first value against the iteration, one panel for each data set.
    Parameters: by title the clock (m,), the curves (m, S) of S starts, and `marks` (k,), the places
    in the clock at which the first start's loss falls."""
    rows = -(-len(curves) // 3)
    fig, axes = panels(rows, 3, height=0.6 + 1.75 * rows, titles=list(curves), sharex=True,
                       sharey=True)  # fmt: skip
    for ax, (name, loss) in zip(axes, curves.items(), strict=False):
        share = loss / loss[0]
        ax.plot(clocks[name], share[:, 1:], color=style.QUIET, lw=0.5, alpha=0.5)
        ax.plot(clocks[name], share[:, 0], color=NEGATIVE, lw=1.6)
        at = marks[name]
        ax.plot(clocks[name][at], share[at, 0], ls="", **style.MARKERS["event"], zorder=5)
        ax.set(ylim=(-0.03, 1.08), xlim=(0.0, clocks[name][-1]))
    for ax in axes[-3:]:
        ax.set_xlabel("iteration")
    for ax in axes[::3]:
        ax.set_ylabel("$L / L_0$")
    style.legend_entry(axes[0], "one start", color=NEGATIVE, lw=1.6)
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
    Parameters: `counts` (S,), neurons outside in each start; `law` (k,), the probabilities of 0, 1,
    ... of them; `series` with a label and rows (angle, outside, neurons, chance by the law)."""
    fig, (bars, ax) = panels(1, 2, height=3.5, titles=["(a) in one start", "(b) in general"])
    shown = np.arange(len(law))
    share = np.array([(counts == k).mean() for k in shown[:-1]] + [(counts >= shown[-1]).mean()])
    bars.bar(shown, share, width=0.62, color=NEGATIVE, alpha=0.55, label="starts")
    bars.plot(
        shown, law, ls="", marker="_", ms=22, mew=2.0, color=style.INK, label="the law, in (a)"
    )
    bars.set_xticks(shown, [*map(str, shown[:-1]), f"{shown[-1]}+"])
    bars.set(xlabel="neurons outside $S_+$ at iteration 21 000", ylabel="share of the starts")
    for (label, rows), (colour, marker, line) in zip(series, _SCALES, strict=False):
        angle, hits, tried, chance = (np.array(column) for column in zip(*rows, strict=True))
        ax.plot(np.sin(angle), chance, color=colour, ls=line, lw=1.4, zorder=2.0,
                label=f"the law, {label}")  # fmt: skip
        some = hits > 0
        if some.any():
            style.shares(ax, np.sin(angle[some]), hits[some], tried[some], color=colour, ls="",
                         marker=marker, label=f"the flow, {label}", zorder=3.0)  # fmt: skip
    ax.set(xscale="log", yscale="log", ylim=(1e-4, 1.0), xlabel="$\\mu$",
           ylabel="share of the neurons")  # fmt: skip
    ax.minorticks_off()
    legend_below(fig, columns=3)
    return fig
