"""Curves over time: preactivations h_i(t) = x_i.w(t) and losses L(w(t))."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style
from reluflow.figures.time_axis import Paths, clock_values, states, time_axis, unit
from reluflow.networks import loss

# Below this share of the largest loss a loss that tends to zero is rounding noise, not a curve.
LOSS_FLOOR = 1e-12


@in_house_style
def preactivations(
    ax: Axes,
    trajectories: Paths,
    x: ArrayLike,
    y_i: float,
    *,
    datum: int,
    step: float | None = None,
    xscale: str = "linear",
    start: float | None = None,
    until: float | None = None,
    points: int = 200,
) -> None:
    """Draw h_i(t) = x_i.w(t) of each trajectory, with the levels 0 and y_i, limits and events.

    Where h_i is negative the datum is switched off (shaded). A triangle at the right edge is the
    limit of h_i; diamonds are the events of this datum.

    Parameters: `trajectories` by name, each name starting with a kind of `style.CURVES`; x (d,) and
    y_i, the datum and its label; `datum` its 0-based number; `step` draws all against iterations,
    a flow's time t at iteration t / step (needed to mix flows and descents); `xscale` "linear" or
    "log"; `start` (log axis) and `until` the ends of the axis, in the axis's unit.
    """
    x = np.asarray(x, float)
    clocks = clock_values(trajectories, step, xscale, start, until, points)
    time_axis(ax, clocks, trajectories, step, xscale)
    i = datum + 1
    ax.axhline(
        y_i,
        color=style.datum_colour(datum),
        ls=(0, (6.0, 3.0)),
        lw=1.4,
        zorder=1.5,
    )
    style.legend_entry(ax, "label $y_i$", color=style.QUIET, ls=(0, (6.0, 3.0)), lw=1.4)
    ax.axhline(0.0, color=style.INK, lw=0.9, zorder=1.4)
    styles = style.curve_styles(list(trajectories))
    for k, (name, path) in enumerate(trajectories.items()):
        curve, t = styles[name], clocks[name]
        h = states(path, t, step) @ x
        ax.plot(
            t, h, color=curve.colour, ls=curve.line, lw=curve.width, label=name, zorder=curve.zorder
        )
        own = [e for e in path.events if e.datum == datum]
        when = np.array([e.t for e in own]) / unit(path, step)
        low, high = ax.get_xlim()
        for e, at in zip(own, when, strict=True):
            if low <= at <= high:
                ax.plot(
                    at,
                    float(path.at(np.array([e.t]))[0] @ x),
                    ls="",
                    marker="D",
                    ms=max(8.5 - 2.5 * k, 3.5),  # coinciding events of two paths both show
                    zorder=5.0,
                    clip_on=False,  # an event at the very start shows in full
                    mec=curve.colour,
                    mew=1.3,
                    mfc=curve.colour if e.kind == "deactivate" else "white",
                )
                word = "negative" if e.kind == "deactivate" else "positive"
                style.legend_entry(
                    ax,
                    f"event: $h_i$ turns {word}",
                    ls="",
                    marker="D",
                    ms=6,
                    mew=1.3,
                    mec=style.QUIET,
                    mfc=style.QUIET if word == "negative" else "white",
                )
        ax.plot(
            1.015,
            float(path.end @ x),
            marker="<",
            ms=7,
            mew=0.0,
            color=curve.colour,
            clip_on=False,
            transform=ax.get_yaxis_transform(),
            ls="",
            zorder=5.0,
        )
    limits = all(path.has_limit for path in trajectories.values())
    name = "limit of $h_i$" if limits else "end value of $h_i$"
    style.legend_entry(ax, name, ls="", marker="<", ms=7, mew=0.0, color=style.QUIET)
    bottom, top = _range([line.get_ydata() for line in ax.lines if len(line.get_ydata()) > 0])
    ax.set_ylim(bottom, top)
    if bottom < 0:
        ax.axhspan(bottom, 0.0, color="#EFEFEF", lw=0, zorder=0.1)
    ax.set_ylabel(rf"$h_{{{i}}} = x_{{{i}}}\cdot w$")


@in_house_style
def loss_curves(
    ax: Axes,
    trajectories: Paths,
    X: ArrayLike,
    y: ArrayLike,
    *,
    activation: Mapping[str, str] | None = None,
    step: float | None = None,
    xscale: str = "linear",
    until: float | None = None,
) -> None:
    """Draw the loss along each trajectory on a logarithmic scale, against time or iterations.

    A trajectory is judged by its own network: the ReLU loss for names that start with "ReLU", the
    linear one for "linear"; `activation` says otherwise by name. Losses below 1e-12 of the largest
    are not drawn.

    Parameters: X (n, d), y (n,), the others as in `preactivations`.
    """
    clocks = clock_values(trajectories, step, xscale, None, until)
    time_axis(ax, clocks, trajectories, step, xscale)
    ax.set_yscale("log")
    ax.set_ylabel("loss $L(w)$")
    styles = style.curve_styles(list(trajectories))
    values = {}
    for name, path in trajectories.items():
        kind = (activation or {}).get(name, styles[name].activation)
        values[name] = loss(X, y, states(path, clocks[name], step), kind)
    top = max(float(np.max(v)) for v in values.values())
    floor = LOSS_FLOOR * top
    low = top
    for name, v in values.items():
        curve = styles[name]
        drawn = np.where(v > floor, v, np.nan)
        low = min(low, float(np.min(v[v > floor], initial=top)))
        ax.plot(
            clocks[name],
            drawn,
            color=curve.colour,
            ls=curve.line,
            lw=curve.width,
            label=name,
            zorder=curve.zorder,
        )
    if top > 0:  # else every path stands at zero loss, where a logarithmic axis shows nothing
        pad = max((top / low) ** 0.06, 1.05)
        ax.set_ylim(low / pad, top * pad)


def _range(values: list[NDArray]) -> tuple[float, float]:
    low = min(float(np.min(v)) for v in values)
    high = max(float(np.max(v)) for v in values)
    pad = 0.07 * (high - low) if high > low else 1.0
    return low - pad, high + pad
