"""Curves of flows over time: preactivations h_i(t) = x_i.w(t) and losses L(w(t)).

All are drawn against iterations: the time t of a flow is iteration t / step.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import drawing_times
from reluflow.figures.style import in_house_style
from reluflow.flows.trajectory import Trajectory
from reluflow.networks import loss

Paths = Mapping[str, Trajectory]

# A path looks settled when its distance to its end is below this share of its farthest one.
SETTLED = 0.004


def states(path: Trajectory, at: NDArray, step: float) -> NDArray:
    """Return the states (k, d) at iterations (k,), dividing and multiplying safely.

    A path without limit must not be asked for a moment after its last knot, not even by rounding.
    """
    clock = np.maximum(at * step, path.t[0])
    return path.at(clock if path.has_limit else np.minimum(clock, path.t[-1]))


def clock_values(paths: Paths, step: float, until: float | None) -> dict[str, NDArray]:
    """Return the iterations at which each flow is drawn, on a logarithmic axis.

    The axis begins four decades before its end, or where needed up to eight, so that the first
    event is on it.
    """
    native = {name: drawing_times(path) / step for name, path in paths.items()}
    end = _settled(paths, native, step) if until is None else float(until)
    events = (event.t / step for path in paths.values() for event in path.events)
    start = min((t for t in events if t > 0), default=end) / 2
    start = max(end * 1e-8, min(end * 1e-4, start))
    clocks = {}
    for name, path in paths.items():
        own = native[name][(native[name] <= end) & (native[name] > start)]
        # A path without limit is known up to its last knot only.
        last = end if path.has_limit else min(end, float(path.t[-1]) / step)
        clocks[name] = np.sort(np.concatenate([own, np.geomspace(start, max(last, start), 200)]))
    return clocks


def _settled(paths: Paths, native: Mapping[str, NDArray], step: float) -> float:
    """Where the axis ends by default: every path is as close to its end as the eye can tell.

    The result is rounded up to two digits.
    """
    ends = []
    for name, path in paths.items():
        gap = np.linalg.norm(states(path, native[name], step) - path.end, axis=1)
        late = np.flatnonzero(gap > SETTLED * max(float(gap.max()), 1e-300))
        last = native[name][min(late[-1] + 1, len(gap) - 1)] if len(late) else native[name][-1]
        ends.append(float(last))
    end = 1.1 * max(ends)
    grain = 10.0 ** (np.floor(np.log10(end)) - 1)
    return float(np.ceil(end / grain) * grain)


def time_axis(ax: Axes, clocks: Mapping[str, NDArray]) -> None:
    """Set scale, limits and label of the time axis."""
    ax.set_xscale("log")
    ax.set_xlim(min(t[0] for t in clocks.values()), max(t[-1] for t in clocks.values()))
    ax.set_xlabel("iteration  ($t$ / step)")


@in_house_style
def preactivations(
    ax: Axes,
    trajectories: Paths,
    x: ArrayLike,
    y_i: float,
    *,
    datum: int,
    step: float,
    until: float | None = None,
) -> None:
    """Draw h_i(t) = x_i.w(t) of each flow, with the levels 0 and y_i, limits and events.

    Where h_i is negative the datum is switched off (shaded). A triangle at the right edge is the
    limit of h_i; diamonds are the events of this datum.

    Parameters: `trajectories` by the names of `style.CURVES`; x (d,) and y_i, the datum and its
    label; `datum` its 0-based number; `until` the last iteration, by default where all is settled.
    """
    x = np.asarray(x, float)
    clocks = clock_values(trajectories, step, until)
    time_axis(ax, clocks)
    i = datum + 1
    ax.axhline(y_i, color=style.datum_colour(datum), ls=(0, (6.0, 3.0)), lw=1.4, zorder=1.5,
               label=f"$y_{{{i}}}$")  # fmt: skip
    ax.axhline(0.0, color=style.INK, lw=0.9, zorder=1.4)
    for k, (name, path) in enumerate(trajectories.items()):
        curve, t = style.CURVES[name], clocks[name]
        h = states(path, t, step) @ x
        ax.plot(t, h, label=name, **curve.look)
        own = [e for e in path.events if e.datum == datum]
        when = np.array([e.t for e in own]) / step
        low, high = ax.get_xlim()
        for e, at in zip(own, when, strict=True):
            if low <= at <= high:
                # Coinciding events of two paths both show, one at the very start in full.
                ax.plot(at, float(path.at(np.array([e.t]))[0] @ x), ls="", marker="D",
                        ms=max(8.5 - 2.5 * k, 3.5), mec=curve.colour, mew=1.3, clip_on=False,
                        mfc=curve.colour if e.kind == "deactivate" else "white",
                        zorder=5.0)  # fmt: skip
        ax.plot(1.015, float(path.end @ x), ls="", marker="<", ms=7, mew=0.0, color=curve.colour,
                clip_on=False, transform=ax.get_yaxis_transform(), zorder=5.0)  # fmt: skip
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    low, high = float(drawn.min()), float(drawn.max())
    pad = 0.07 * (high - low) if high > low else 1.0
    bottom = ax.set_ylim(low - pad, high + pad)[0]
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
    step: float,
    until: float | None = None,
) -> None:
    """Draw the loss along each flow, of its own network, on a logarithmic scale; losses below 1e-12
    of the largest are not drawn. `until` as in `preactivations`."""
    clocks = clock_values(trajectories, step, until)
    time_axis(ax, clocks)
    ax.set_yscale("log")
    ax.set_ylabel("loss $L(w)$")
    values = {name: loss(X, y, states(path, clocks[name], step), style.CURVES[name].activation)
              for name, path in trajectories.items()}  # fmt: skip
    low = top = max(float(np.max(v)) for v in values.values())
    floor = 1e-12 * top  # below it a loss that tends to zero is rounding noise, not a curve
    for name, v in values.items():
        low = min(low, float(np.min(v[v > floor], initial=top)))
        drawn = np.where(v > floor, v, np.nan)
        ax.plot(clocks[name], drawn, label=name, **style.CURVES[name].look)
    if top > 0:  # else every path stands at zero loss, where a logarithmic axis shows nothing
        pad = max((top / low) ** 0.06, 1.05)
        ax.set_ylim(low / pad, top * pad)
