"""Pictures of the weight plane (d = 2): boundaries, solution lines, cells and level curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.figures import frame, style
from reluflow.figures.frame import CurveName, Window, drawing_times
from reluflow.figures.style import in_house_style
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet

_GRID = 301  # points along each axis
SLACK = 1e-9  # families often lie in the boundary of their own cell, where a sign is rounding
MANY_DATA = 9  # above this the lines of the data are thin and carry no names


@in_house_style
def weight_plane(ax: Axes, window: Window, *, equal: bool = False) -> None:
    """Prepare axes as the weight plane: limits (lo_1, hi_1, lo_2, hi_2) and labels w₁ and w₂.

    Call it before the other functions for d = 2, which draw inside the limits that they find.
    `equal` gives both axes the same scale, so that right angles look right.
    """
    ax.set(xlim=window[:2], ylim=window[2:], xlabel="$w_1$", ylabel="$w_2$", autoscale_on=False)
    if equal:
        ax.set_aspect("equal")


@in_house_style
def activation_boundaries(
    ax: Axes, X: ArrayLike, data: Iterable[int] | None = None, *, names: bool = True
) -> None:
    """Draw the lines {w : x_i.w = 0}, each in the colour of its datum and named x₁, x₂, ...

    The name stands on the side where the datum is active; more than nine data have none. `data`
    are 0-based, by default all.
    """
    X = _plane_data(X)
    for i, line in _datum_lines(ax, X, np.zeros(len(X)), data, "-").items():
        if names:
            active = partial(_sides, X[[i]], [True])
            ax.add_artist(
                CurveName(style.datum_name(i), line, active, fontsize=10, fontweight="bold")
            )


@in_house_style
def solution_lines(ax: Axes, X: ArrayLike, y: ArrayLike) -> None:
    """Draw the solution lines {w : x_i.w = y_i}, dashed, each in the colour of its datum."""
    _datum_lines(ax, _plane_data(X), y, None, (0, (4.0, 2.5)))


@in_house_style
def loss_levels(ax: Axes, X: ArrayLike, y: ArrayLike, *, floor: float | None = None) -> None:
    """Draw level curves of L(w) = 1/2 sum_i ([x_i.w]_+ - y_i)^2.

    The levels grow geometrically (factor 2) above `floor`, the loss of the global minimum (default:
    the lowest value on the grid). They avoid the loss 1/2 |y|^2 of the dead plateau, where no curve
    is defined.
    """
    X, y = _plane_data(X), np.asarray(y, float)
    (a, b), (c, d) = ax.get_xlim(), ax.get_ylim()
    w1, w2 = np.linspace(a, b, _GRID), np.linspace(c, d, _GRID)
    L = np.zeros((_GRID, _GRID))
    for x, label in zip(X, y, strict=True):  # one datum at a time keeps memory small for large n
        h = np.add.outer(x[1] * w2, x[0] * w1)
        L += 0.5 * (np.maximum(h, 0.0) - label) ** 2
    lowest = float(L.min()) if floor is None else float(floor)
    above, height = float(L.max()) - lowest, 0.5 * float(y @ y) - lowest
    if height <= 0:  # the plateau itself is the lowest
        height = max(above, 1.0) / 64
    most = max(int(np.ceil(np.log2(max(above / height, 1.0)))), 1)
    levels = lowest + height * 2.0 ** (np.arange(-7, most) + 0.5)  # seven under the plateau
    ax.contour(w1, w2, L, levels=levels, colors="#9AA3AD", linewidths=0.7, zorder=1.0)


@in_house_style
def cells(ax: Axes, X: ArrayLike, *, names: bool = True) -> None:
    """Shade the activation cells, darker where more data are active, and write active sets such as
    {1, 3} into those that are large enough, for up to nine data."""
    X = _plane_data(X)
    shapes, shades = [], []
    for pattern, corners in _cones(X, _reach(ax)):
        shapes.append(corners)
        shades.append(style.pale("#3B5B7A", 0.04 + 0.14 * float(pattern.mean())))
        if names and len(X) <= MANY_DATA:
            active = ", ".join(str(i + 1) for i in np.flatnonzero(pattern))
            words, here = f"{{{active}}}" if active else "∅", partial(_sides, X, pattern)
            ax.add_artist(CurveName(words, holds=here, color=style.QUIET, fontsize=8))
    ax.add_collection(PolyCollection(shapes, facecolors=shades, edgecolors="none", zorder=0.2))


def _reach(ax: Axes) -> float:
    """So far from the origin everything is outside of the window, and not drawn."""
    return 4.0 * float(np.abs(ax.viewLim.get_points()).max())


def _cones(X: NDArray, reach: float) -> Iterator[tuple[NDArray, NDArray]]:
    """The cells of data X (n, 2): which data are active (n,), and the corners of the cone."""
    across = np.arctan2(X[:, 1], X[:, 0])
    ends = np.sort(np.concatenate([across + np.pi / 2, across - np.pi / 2]) % (2.0 * np.pi))
    for low, high in zip(ends, np.append(ends[1:], ends[0] + 2.0 * np.pi), strict=True):
        if high - low < SLACK:  # one boundary of several data
            continue
        angles = np.linspace(low, high, 3)  # of an end, the middle and an end
        around = np.column_stack([np.cos(angles), np.sin(angles)])
        yield X @ around[1] > 0.0, reach * np.vstack([np.zeros(2), around])


def _datum_lines(
    ax: Axes, X: NDArray, values: ArrayLike, data: Iterable[int] | None, line: object
) -> dict[int, Line2D]:
    """The lines {w : x_i.w = values_i}, the upper end first, by their data; none of very many."""
    chosen = list(range(len(X)) if data is None else data)
    x = X[chosen] / np.linalg.norm(X[chosen], axis=1, keepdims=True)
    feet = np.asarray(values, float)[chosen, None] * x / np.linalg.norm(X[chosen], axis=1)[:, None]
    along = np.column_stack([-x[:, 1], x[:, 0]]) * np.where(x[:, [0]] < 0.0, -1.0, 1.0)
    ends = np.stack([feet + _reach(ax) * along, feet - _reach(ax) * along], axis=1)
    colours = [style.datum_colour(i) for i in chosen]
    if len(chosen) > MANY_DATA:
        thin = LineCollection(ends, colors=colours, linestyles=line, lw=0.6, alpha=0.6, zorder=1.4)
        ax.add_collection(thin)
        return {}
    return {
        i: ax.plot(*pair.T, color=colour, ls=line, lw=1.5, zorder=1.5)[0]
        for i, pair, colour in zip(chosen, ends, colours, strict=True)
    }


def _sides(X: NDArray, active: ArrayLike, W: NDArray) -> NDArray:
    """Whether the weights W (k, 2) activate the `active` ones (n,) of the data and no others."""
    return np.all((W @ X.T > 0.0) == active, axis=1)


def _plane_data(X: ArrayLike) -> NDArray:
    X = np.asarray(X, float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise InputError(f"X has shape {X.shape}, but the weight plane needs data with d = 2")
    return X


# --- Flows with their events, and stationary sets -------------------------------------------------

CROWD = 25  # so many events of a kind are drawn small
# What an event means: the linear neuron has no switches, its x_i.w merely changes sign.
WEIGHT_FLOW_EVENT_WORDS = {
    "ReLU flow": {
        "deactivate": "a datum switches off",
        "activate": "a datum switches on",
        "slide": "the path starts to slide",
    },
    "linear flow": {
        "deactivate": r"$x_i\cdot w$ turns negative (linear)",
        "activate": r"$x_i\cdot w$ turns positive (linear)",
    },
}


@in_house_style
def flow(
    ax: Axes,
    trajectory: Trajectory,
    name: str = "ReLU flow",
    *,
    arrows: int = 2,
    events: bool = True,
) -> None:
    """Draw a trajectory in the weight plane: its curve, its start, its events and its end.

    A start outside the window is written where the curve comes in.

    Parameters: `name`, one of `style.CURVES`, is the legend's entry; `arrows` heads along the
    visible part; `events` whether to mark them (filled: a datum switches off; hollow: it switches
    on) in the datum's colour.
    """
    curve = style.CURVES[name]
    W = trajectory.at(drawing_times(trajectory))
    ax.plot(*W.T, label=frame.fresh(ax, name), **curve)
    head_look = {"arrowstyle": "-|>,head_width=0.28,head_length=0.6", "color": curve["color"],
                 "lw": 0.0, "mutation_scale": 12, "shrinkA": 0, "shrinkB": 0}  # fmt: skip
    for tail, head in arrow_heads(ax, W, arrows):
        ax.annotate("", head, tail, annotation_clip=True, zorder=curve["zorder"] + 0.05,
                    arrowprops=head_look)  # fmt: skip
    if events:
        mark_events(ax, trajectory, name)
    seen = frame.inside(ax, W)
    if seen[0]:
        ax.plot(*W[0], ls="", zorder=5.4, **style.MARKERS["initial point"])
    elif seen.any():
        _announce_entry(ax, W, int(np.argmax(seen)))
    if seen[-1]:
        ax.plot(*W[-1], ls="", zorder=5.5, **style.MARKERS["limit"])


@in_house_style
def mark_events(ax: Axes, trajectory: Trajectory, name: str) -> None:
    """Mark the events of a trajectory in the weight plane by diamonds in their data's colours."""
    for kind, label in WEIGHT_FLOW_EVENT_WORDS[name].items():
        events = [e for e in trajectory.events if e.kind == kind]
        if not events:
            continue
        W = trajectory.at(np.array([e.t for e in events]))
        colours = [style.datum_colour(e.datum) for e in events]
        filled = kind == "deactivate"
        crowd = len(events) > CROWD
        ax.scatter(
            *W.T,
            s=9 if crowd else 34,
            marker="D",
            zorder=5.2,
            linewidths=0.4 if crowd else 0.8 if filled else 1.4,
            facecolors=colours if filled else "white",
            edgecolors="white" if filled else colours,
        )
        first = W[int(np.argmax(frame.inside(ax, W)))]
        ax.plot(*first, ls="", marker="o", ms=0.0, label=frame.fresh(ax, label))


@in_house_style
def stationary_sets(ax: Axes, minima: Sequence[StationarySet], X: ArrayLike) -> None:
    """Draw all stationary sets: points, half-lines and plateaus, gold where globally minimal.

    A family {w + D s} is cut to the closed cell in which its support is active:
    a point is a star (global minimum) or a square, a line is thick and dashed, a plane is hatched.
    """
    X = np.asarray(X, float)
    reach = _reach(ax)
    for minimum in minima:
        best = minimum.rank == 1
        w = np.asarray(minimum.w, float)
        active = np.isin(np.arange(len(X)), minimum.support)
        if minimum.dimension == 0:
            if frame.inside(ax, w):  # a marker outside the frame would not show
                marker = style.MARKERS["global minimum" if best else "local minimum"]
                ax.plot(*w, ls="", zorder=5.0, **marker)
        elif minimum.dimension == 1:
            u = np.asarray(minimum.directions, float)[:, 0]
            sides = np.where(active, 1.0, -1.0)
            rates, rooms = sides * (X @ u), sides * (X @ w)
            turning = np.abs(rates) > SLACK * np.linalg.norm(X, axis=1) * np.linalg.norm(u)
            s = -rooms[turning] / rates[turning]
            low = np.max(s[rates[turning] > 0], initial=-reach)
            high = np.min(s[rates[turning] < 0], initial=reach)
            if frame.inside(ax, w + np.linspace(low, high, 999)[:, None] * u).any():
                label = "line of global minima" if best else "line of local minima"
                ax.plot(
                    *(w + np.outer([low, high], u)).T,
                    color=style.GLOBAL if best else style.INK,
                    ls=(0, (2.2, 1.1)),
                    lw=3.6,
                    label=frame.fresh(ax, label),
                    zorder=2.6,
                )
        else:
            look = {"facecolor": style.GLOBAL if best else "#E4E4E4", "edgecolor": "#A6A6A6"}
            for pattern, corners in _cones(X, reach):  # one is too narrow to be seen, or it is here
                if np.all(pattern == active):
                    ax.fill(*corners.T, zorder=0.6, hatch="///", lw=0.8, **look)
            words = "plateau of global minima" if best else "dead"
            ax.add_artist(CurveName(words, holds=partial(_sides, X, active), fontsize=8.5))


def arrow_heads(ax: Axes, W: NDArray, count: int) -> list[tuple[NDArray, NDArray]]:
    """Return (tail, head) of `count` arrow heads spread evenly over the visible part of a path
    W (m, 2): none where that is shorter than a tenth of the window, one below a third."""
    low, size, seen = ax.viewLim.min, ax.viewLim.size, frame.inside(ax, W)
    steps = np.linalg.norm(np.diff((W - low) / size, axis=0), axis=1) * (seen[1:] & seen[:-1])
    length = np.concatenate([[0.0], np.cumsum(steps)])  # stretches out of sight have no length
    total = float(length[-1])
    if total < 0.1:
        return []
    count = min(count, 1) if total < 0.33 else count
    shares = [total * (k + 0.6) / count for k in range(count)]
    ends = [np.array([np.interp(s, length, w) for w in W.T]) for t in shares for s in (t - 0.02, t)]
    return list(zip(ends[::2], ends[1::2], strict=True))


def _announce_entry(ax: Axes, W: NDArray, first: int) -> None:
    """Write "from (0, 45)" where a path that starts outside the window comes in."""
    words = f"from ({', '.join(f'{c:.4g}' for c in W[0])})"
    if words in [text.get_text() for text in ax.texts]:
        return  # another path from the same start has said it
    place = (W[first] - ax.viewLim.min) / ax.viewLim.size
    across = -1.0 if place[0] > 0.75 else 1.0
    down = 1.0 if place[1] < 0.5 else -1.0
    note = ax.annotate(
        words,
        tuple(W[first]),
        (7.0 * across, 4.0 * down),
        fontsize=8.5,
        zorder=6.0,
        textcoords="offset points",
        path_effects=frame.white_edge(),
        ha="left" if across > 0 else "right",
        va="bottom" if down > 0 else "top",
    )
    note.set_in_layout(False)
