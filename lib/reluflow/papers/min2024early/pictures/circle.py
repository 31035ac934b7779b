"""Where the neurons of a network in the plane point: cones, data and neurons on one circle.

Drawn everywhere alike: S_+ pale red, S_- pale blue, S_dead grey; data inside the circle, "+" red
and "-" blue; neurons on the circle, discs where v_j > 0 and triangles where v_j < 0, pale where
they are dead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import white_edge
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.geometry.separability import serves, silent

POSITIVE, NEGATIVE = "#D55E00", "#0072B2"
"""Colours of whatever belongs to a positive, or to a negative, label or output weight."""
PALE = {"$S_+$": "#FBE0CF", "$S_-$": "#D3E6F4", "$S_{dead}$": "#D9D9D9"}
_BIN = np.pi / 60.0
"""Neurons less than this apart are stacked."""
_EDGE = 1e-9
"""A cosine this small is 0: the neurons that die as eps -> 0 rest on a boundary."""
_STACK = 0.62
"""Height of the highest stack, in radii of the circle."""


@dataclass(frozen=True)
class Stage:
    """Neurons at one time: a title, W (m, 2) and v (m,) of which only the signs are looked at."""

    title: str
    W: NDArray
    v: NDArray


def arcs(X: NDArray, inside: Callable[[NDArray], NDArray]) -> list[tuple[float, float]]:
    """The arcs (from, to), in radians, on which `inside` holds of the directions (k, 2).

    Nothing changes but where a direction is orthogonal to a datum, so arcs between two such places
    are asked in their middle; neighbours are joined.
    """
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
def small_multiples(
    X: ArrayLike, y: ArrayLike, stages: Sequence[Stage], columns: int = 3
) -> Figure:
    """One circle for each stage, with every neuron's direction as a mark on it.

    Marks less than 3 degrees apart are stacked outwards; a mark is larger where the neuron has at
    least a tenth of the largest norm of its stage. Parameters: X (n, 2), y (n,).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    return _planes([(X, y, stage) for stage in stages], columns, _neurons)


def roses(X: ArrayLike, y: ArrayLike, stages: Sequence[Stage], columns: int = 3) -> Figure:
    """One circle for each stage, with the share of the neurons in every direction as a bar.

    For many neurons: the bars outside the circle are those of v_j > 0, the bars inside those of
    v_j < 0; dead neurons have no bars, their share is told below. The highest bar of a panel has a
    fixed height, and heights are square roots of shares. Parameters as for `small_multiples`.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    return roses_of_each([(X, y, stage) for stage in stages], columns)


@in_house_style
def roses_of_each(panes: Sequence[tuple[NDArray, NDArray, Stage]], columns: int = 3) -> Figure:
    """`roses`, with the data X (n, 2), y (n,) of each stage beside it."""
    return _planes(panes, columns, _bars)


def _planes(
    panes: Sequence[tuple[NDArray, NDArray, Stage]],
    columns: int,
    draw: Callable[[Axes, NDArray, Stage], None],
) -> Figure:
    """A plane with its data for each pane, in rows of `columns`, and what `draw` adds to it."""
    rows = -(-len(panes) // columns)
    height = 0.5 + rows * (0.35 + 6.6 / columns)
    fig, axes = panels(rows, columns, height=height, titles=[pane[2].title for pane in panes])
    for ax, (X, y, stage) in zip(axes, panes, strict=False):
        plane(ax, X, y)
        draw(ax, X, stage)
    for ax in axes[len(panes) :]:
        ax.set_visible(False)
    legend_below(fig, columns=5)
    _room_for_titles(fig)
    return fig


@in_house_style
def angles(X: ArrayLike, y: ArrayLike, t: ArrayLike, W: ArrayLike, v: ArrayLike, xlabel: str,
           fall: float | None = None) -> Figure:  # fmt: skip
    """The circle unrolled: every neuron's angle against time, the cones as bands.

    Parameters: t (r,), W (r, m, 2), v (r, m), `fall` a time to be marked by a line. The circle is
    cut in the middle of the widest arc outside S_+ and S_-; a curve is broken where its neuron
    crosses the cut, and ends where the neuron dies.
    """
    X, y, t, W, v = (np.asarray(a, float) for a in (X, y, t, W, v))
    cut = _cut(X, y)
    fig, (ax,) = panels(1, 1, height=3.9)
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


def _cut(X: NDArray, y: NDArray) -> float:
    """An angle in [-2 pi, 0) far from S_+ and S_-."""
    outside = arcs(X, lambda U: silent(X, U) | ~(serves(X, y, U, 1.0) | serves(X, y, U, -1.0)))
    a, b = max(outside, key=lambda arc: arc[1] - arc[0], default=(0.0, 0.0))
    return float(np.mod(0.5 * (a + b), 2.0 * np.pi)) - 2.0 * np.pi


def _room_for_titles(fig: Figure) -> None:
    """The layout takes for free what a square panel leaves of its height, and cuts the titles."""
    fig.get_layout_engine().set(h_pad=0.12)  # type: ignore[union-attr]


def plane(ax: Axes, X: NDArray, y: NDArray) -> None:
    """The circle, its cones as sectors, and the data at their directions; lengths are relative."""
    ax.set(xlim=(-1.72, 1.72), ylim=(-1.72, 1.72), aspect="equal")
    ax.set_axis_off()
    for name, where in regions(X, y).items():
        for a, b in where:
            ax.add_patch(Wedge((0.0, 0.0), 1.0, *np.degrees([a, b]), color=PALE[name], lw=0.0,
                               zorder=0.2))  # fmt: skip
        style.legend_entry(ax, name, color=PALE[name], lw=7.0)
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


def _neurons(ax: Axes, X: NDArray, stage: Stage) -> None:
    W, v = np.asarray(stage.W, float), np.asarray(stage.v, float)
    turn, size = np.arctan2(W[:, 1], W[:, 0]), np.linalg.norm(W, axis=1)
    dead, large = silent(X, W, _EDGE), size >= 0.1 * size.max(initial=0.0)
    box = np.round(turn / _BIN).astype(int)
    order = np.argsort(turn, kind="stable")
    rank = np.empty(len(turn), int)
    for b in np.unique(box):
        mine = order[box[order] == b]
        rank[mine] = np.arange(len(mine))
    highest = int(rank.max(initial=0))
    radius = 1.07 + min(0.085, _STACK / max(highest, 1)) * rank
    for sign, colour, marker in ((1.0, POSITIVE, "o"), (-1.0, NEGATIVE, "^")):
        for is_dead in (False, True):
            mine = (np.sign(v) == sign) & (dead == is_dead)
            place = radius[mine, None] * np.stack([np.cos(turn[mine]), np.sin(turn[mine])], axis=1)
            face = "white" if is_dead else colour
            ax.scatter(*place.T, s=np.where(large[mine], 20.0, 8.0), marker=marker, lw=0.7,
                       facecolor=face, edgecolor=colour, alpha=0.6 if is_dead else 1.0,
                       zorder=3.0)  # fmt: skip
        words = f"neuron, $v_j {'>' if sign > 0 else '<'} 0$ (hollow: dead)"
        style.legend_entry(ax, words, ls="", marker=marker, ms=4.5, color=colour)


def _bars(ax: Axes, X: NDArray, stage: Stage) -> None:
    W, v = np.asarray(stage.W, float), np.asarray(stage.v, float)
    turn, live = np.arctan2(W[:, 1], W[:, 0]), ~silent(X, W, _EDGE)
    edges = np.arange(-np.pi - 0.5 * _BIN, np.pi + _BIN, _BIN)
    for sign, colour, foot in ((1.0, POSITIVE, 1.0), (-1.0, NEGATIVE, -1.0)):
        counts = np.histogram(turn[live & (np.sign(v) == sign)], edges)[0]
        if not counts.any():
            continue
        heights = (_STACK if sign > 0 else 0.4) * np.sqrt(counts / counts.max())
        for a, b, height in zip(edges[:-1], edges[1:], heights, strict=True):
            if height:
                inner, outer = (1.0, 1.0 + height) if foot > 0 else (1.0 - height, 1.0)
                ax.add_patch(Wedge((0.0, 0.0), outer, *np.degrees([a, b]), width=outer - inner,
                                   color=colour, lw=0.0, zorder=3.0, alpha=0.9))  # fmt: skip
        words = f"live neurons, $v_j {'>' if sign > 0 else '<'} 0$"
        style.legend_entry(ax, words, color=colour, lw=5.0)
    share = 1.0 - float(np.mean(live))
    words = ax.text(0.0, -1.68, f"dead: {100.0 * share:.0f} %", ha="center", va="bottom",
                    fontsize=8.0, color=style.INK, path_effects=white_edge())  # fmt: skip
    words.set_in_layout(False)
