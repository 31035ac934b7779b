"""Pictures of the weight plane (d = 2), continued: flows with their events, stationary sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import frame, style
from reluflow.figures.clipping import (
    both,
    cell_half_spaces,
    clip_line,
    clip_plane,
    window_half_spaces,
)
from reluflow.figures.frame import Window
from reluflow.figures.sampling import drawing_times
from reluflow.figures.style import in_house_style
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet

FAMILY_DASHES = (0, (2.2, 1.1))
CROWD = 25  # so many events of a kind are drawn small
# What an event means: the linear neuron has no switches, its x_i.w merely changes sign.
EVENT_WORDS = {
    "relu": {
        "deactivate": "a datum switches off",
        "activate": "a datum switches on",
        "slide": "the path starts to slide",
    },
    "linear": {
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

    Parameters: `name` starts with one of the kinds of `style.CURVES` and is the legend's entry;
    `arrows` heads along the visible part; `events` whether to mark them (filled: a datum switches
    off; hollow: it switches on) in the datum's colour.
    """
    window = frame.window_of(ax)
    curve = style.curve_style(name)
    W = trajectory.at(drawing_times(trajectory))
    ax.plot(
        *W.T,
        color=curve.colour,
        ls=curve.line,
        lw=curve.width,
        label=frame.fresh(ax, name),
        zorder=curve.zorder,
    )
    for tail, head in arrow_heads(W, window, arrows):
        ax.annotate(
            "",
            head,
            tail,
            annotation_clip=True,
            zorder=curve.zorder + 0.05,
            arrowprops={
                "arrowstyle": "-|>,head_width=0.28,head_length=0.6",
                "color": curve.colour,
                "lw": 0.0,
                "mutation_scale": 12,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
    if events:
        mark_events(ax, trajectory, curve.activation)
    seen = frame.inside(W, window)
    if seen[0]:
        ax.plot(
            *W[0],
            ls="",
            label=frame.fresh(ax, "initial point $w_0$"),
            zorder=5.4,
            **style.MARKERS["initial point"],
        )
    elif seen.any():
        _announce_entry(ax, W, int(np.argmax(seen)), window)
    if seen[-1]:
        ax.plot(
            *W[-1],
            ls="",
            label=frame.fresh(ax, "end of the path"),
            zorder=5.5,
            **style.MARKERS["limit"],
        )


@in_house_style
def mark_events(ax: Axes, trajectory: Trajectory, activation: str = "relu") -> None:
    """Mark the events of a trajectory in the weight plane by diamonds in their data's colours."""
    for kind, label in EVENT_WORDS[activation].items():
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
        style.legend_entry(
            ax,
            label,
            ls="",
            marker="D",
            ms=5.5,
            mfc=style.QUIET if filled else "white",
            mec="white" if filled else style.QUIET,
            mew=0.8 if filled else 1.4,
        )


@in_house_style
def stationary_sets(ax: Axes, minima: Sequence[StationarySet], X: ArrayLike) -> None:
    """Draw all stationary sets: points, half-lines and plateaus, gold where globally minimal.

    A family {w + D s} is cut to the window and to the closed cell in which its support is active:
    a point is a star (global minimum) or a square, a line is thick and dashed, a plane is hatched.

    Parameters: `minima` as returned by `local_minima(X, y)`, X (n, 2).
    """
    X = np.asarray(X, float)
    box = window_half_spaces(frame.window_of(ax))
    for minimum in minima:
        best = minimum.rank == 1
        w = np.asarray(minimum.w, float)
        region = both(box, cell_half_spaces(X, frame.pattern_of(len(X), minimum.support)))
        if minimum.dimension == 0:
            if np.any(box[0] @ w > box[1]):
                continue  # a marker outside the frame would not show
            label = "global minimum" if best else "other local minimum"
            marker = style.MARKERS["global minimum" if best else "local minimum"]
            ax.plot(*w, ls="", label=frame.fresh(ax, label), zorder=5.0, **marker)
        elif minimum.dimension == 1:
            ends = clip_line(w, np.asarray(minimum.directions, float)[:, 0], region)
            if ends is not None:
                label = "line of global minima" if best else "line of local minima"
                ax.plot(
                    *ends.T,
                    color=style.GLOBAL if best else style.INK,
                    ls=FAMILY_DASHES,
                    lw=3.6,
                    label=frame.fresh(ax, label),
                    zorder=2.6,
                )
        else:
            corners = clip_plane(w, minimum.directions, region)
            if len(corners) >= 3:
                label = "plateau of global minima" if best else "dead plateau (no datum active)"
                ax.fill(
                    *corners.T,
                    facecolor=style.GLOBAL if best else "#E4E4E4",
                    edgecolor="#A6A6A6",
                    hatch="///",
                    lw=0.8,
                    label=frame.fresh(ax, label),
                    zorder=0.6,
                )


@in_house_style
def annotate_minima(
    ax: Axes, minima: Sequence[StationarySet], text: Callable[[StationarySet], str]
) -> None:
    """Write text(minimum) beside each isolated minimum in the window, clear of what is drawn.

    Call it after flows and boundaries.
    """
    window = frame.window_of(ax)
    for minimum in minima:
        w = np.asarray(minimum.w, float)
        if minimum.dimension == 0 and frame.inside(w[None], window)[0]:
            words = text(minimum)
            offset = _free_offset(ax, w, len(words.replace("$", "")))
            note = ax.annotate(
                words,
                tuple(w),
                tuple(offset),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=8.5,
                path_effects=frame.white_edge(),
                zorder=6.0,
            )
            note.set_in_layout(False)


def _free_offset(ax: Axes, w: NDArray, letters: int) -> NDArray:
    """Return where around w, in points from it, words of so many letters hide least."""
    page = frame.page_of(ax)
    half = np.array([2.6 * letters, 5.0])  # half the width and height of the words
    turns = np.arange(0, 360, 15) * np.pi / 180
    offsets = np.stack([np.cos(turns), np.sin(turns)], axis=1) * (half + 10.0)
    places = page.points(w) + offsets
    visible = np.all((places > half) & (places < page.size - half), axis=1)
    if not visible.any():
        return offsets[3]
    places, offsets = places[visible], offsets[visible]
    room = frame.distances(places / half, frame.obstacles(ax) / half)
    return frame.best_place(offsets, np.minimum(room, 1.6) - 1e-3 * np.arange(len(offsets)))


def arrow_heads(W: ArrayLike, window: Window, count: int) -> list[tuple[NDArray, NDArray]]:
    """Return (tail, head) of `count` arrow heads spread evenly over the visible part of a path.

    Lengths are measured in shares of the window; a path whose visible length is under a tenth of
    the window carries no arrow, one under a third at most one.

    Parameters: W (m, 2) points of the path.
    """
    W = np.asarray(W, float)
    low, size = frame.corner_and_size(window)
    seen = frame.inside(W, window)
    steps = np.linalg.norm(np.diff((W - low) / size, axis=0), axis=1) * (seen[1:] & seen[:-1])
    length = np.concatenate([[0.0], np.cumsum(steps)])  # stretches out of sight have no length
    total = float(length[-1])
    if total < 0.1:
        return []
    count = min(count, 1) if total < 0.33 else count
    shares = [total * (k + 0.6) / count for k in range(count)]
    return [(_at_length(W, length, s - 0.02), _at_length(W, length, s)) for s in shares]


def _at_length(W: NDArray, length: NDArray, s: float) -> NDArray:
    k = int(np.clip(np.searchsorted(length, s, side="left"), 1, len(length) - 1))
    step = length[k] - length[k - 1]
    return W[k - 1] + (W[k] - W[k - 1]) * (0.0 if step == 0 else (s - length[k - 1]) / step)


def _announce_entry(ax: Axes, W: NDArray, first: int, window: Window) -> None:
    """Write "from (0, 45)" where a path that starts outside the window comes in."""
    low, size = frame.corner_and_size(window)
    words = f"from ({', '.join(f'{c:.4g}' for c in W[0])})"
    if words in [text.get_text() for text in ax.texts]:
        return  # another path from the same start has said it
    place = (W[first] - low) / size
    across = -1.0 if place[0] > 0.75 else 1.0
    down = 1.0 if place[1] < 0.5 else -1.0
    note = ax.annotate(
        words,
        tuple(W[first]),
        (7.0 * across, 4.0 * down),
        fontsize=8.5,
        textcoords="offset points",
        ha="left" if across > 0 else "right",
        va="bottom" if down > 0 else "top",
        path_effects=frame.white_edge(),
        zorder=6.0,
    )
    note.set_in_layout(False)
