"""Curves over time: preactivations h_i(t) = x_i.w(t) and losses L(w(t))."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.figures import style
from reluflow.figures.frame import drawing_times
from reluflow.figures.style import in_house_style
from reluflow.flows.trajectory import Trajectory
from reluflow.networks import loss

# --- One time axis for flows and descents: which values are drawn, in which unit, until when ------


Paths = Mapping[str, Trajectory]

# A path looks settled when its distance to its end is below this share of its farthest one.
SETTLED = 0.004


def unit(path: Trajectory, step: float | None) -> float:
    """How much of the trajectory's own clock one unit of the axis is."""
    return 1.0 if path.clock == "steps" or step is None else float(step)


def states(path: Trajectory, at: NDArray, step: float | None) -> NDArray:
    """Return the states (k, d) at positions (k,) on the time axis, dividing and multiplying safely.

    A path without limit must not be asked for a moment after its last knot, not even by rounding.
    """
    clock = np.maximum(at * unit(path, step), path.t[0])
    return path.at(clock if path.has_limit else np.minimum(clock, path.t[-1]))


def clock_values(
    paths: Paths,
    step: float | None,
    xscale: str,
    start: float | None,
    until: float | None,
    points: int = 200,
) -> dict[str, NDArray]:
    """Return the positions on the time axis at which each trajectory is drawn."""
    if not paths:
        raise InputError("trajectories is empty: there is nothing to draw")
    if step is not None and not step > 0:
        raise InputError(f"step must be positive, got {step!r}")
    if xscale not in ("linear", "log"):
        raise InputError(f"xscale must be 'linear' or 'log', got {xscale!r}")
    kinds = {p.clock for p in paths.values()}
    if len(kinds) > 1 and step is None:
        raise InputError(
            f"step is needed to draw trajectories with the clocks {', '.join(sorted(kinds))} "
            "against iterations"
        )
    native = {k: drawing_times(p, points) / unit(p, step) for k, p in paths.items()}
    end = _settled(paths, native, step) if until is None else float(until)
    clocks = {}
    for name, path in paths.items():
        own = native[name][native[name] <= end]
        last = end
        if not path.has_limit:  # a path without limit is known up to its last knot only
            last = min(end, float(path.t[-1]) / unit(path, step))
        extra = np.linspace(0.0, last, points)
        if xscale == "log":
            first = _log_start(paths, step, end, start)
            extra = np.geomspace(first, max(last, first), points)
            own = own[own > first]
        if path.clock == "steps":
            first = extra[0] if xscale == "linear" else 1.0
            extra = np.unique(np.clip(np.round(extra), first, last))
        clocks[name] = np.sort(np.concatenate([own, extra]))
    return clocks


def _settled(paths: Paths, native: Mapping[str, NDArray], step: float | None) -> float:
    """Where the axis ends by default: every path is as close to its end as the eye can tell.

    That is 0.4 % of its farthest distance; the result is rounded up to two digits.
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


def _log_start(paths: Paths, step: float | None, end: float, start: float | None) -> float:
    """Where a logarithmic axis begins: as asked for, else four decades before its end, or where
    needed up to eight, so that the first event is on it."""
    if start is not None:
        if not start > 0:
            raise InputError(f"start must be positive on a logarithmic axis, got {start!r}")
        return float(start)
    events = (event.t / unit(path, step) for path in paths.values() for event in path.events)
    first = min((t for t in events if t > 0), default=end)
    return max(end * 1e-8, min(end * 1e-4, first / 2))


def time_axis(
    ax: Axes, clocks: Mapping[str, NDArray], paths: Paths, step: float | None, xscale: str
) -> None:
    """Set scale, limits and label of the time axis."""
    iterations = step is not None or all(p.clock == "steps" for p in paths.values())
    ax.set_xscale(xscale)
    ax.set_xlim(min(t[0] for t in clocks.values()), max(t[-1] for t in clocks.values()))
    flows = any(p.clock != "steps" for p in paths.values())
    words = "iteration" if iterations else "time $t$"
    if iterations and flows:
        words = "iteration  ($t$ / step)"
    ax.set_xlabel(words)


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
    ax.axhline(y_i, color=style.datum_colour(datum), ls=(0, (6.0, 3.0)), lw=1.4, zorder=1.5,
               label=f"$y_{{{i}}}$")  # fmt: skip
    ax.axhline(0.0, color=style.INK, lw=0.9, zorder=1.4)
    styles = style.curve_styles(list(trajectories))
    for k, (name, path) in enumerate(trajectories.items()):
        curve, t = styles[name], clocks[name]
        h = states(path, t, step) @ x
        ax.plot(t, h, label=name, **curve.look)
        own = [e for e in path.events if e.datum == datum]
        when = np.array([e.t for e in own]) / unit(path, step)
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
    step: float | None = None,
    xscale: str = "linear",
    until: float | None = None,
) -> None:
    """Draw the loss along each trajectory on a logarithmic scale, against time or iterations.

    A trajectory is judged by its own network: the ReLU loss for names that start with "ReLU", the
    linear one for "linear". Losses below 1e-12 of the largest are not drawn.

    Parameters: X (n, d), y (n,), the others as in `preactivations`.
    """
    clocks = clock_values(trajectories, step, xscale, None, until)
    time_axis(ax, clocks, trajectories, step, xscale)
    ax.set_yscale("log")
    ax.set_ylabel("loss $L(w)$")
    styles = style.curve_styles(list(trajectories))
    values = {name: loss(X, y, states(path, clocks[name], step), styles[name].activation)
              for name, path in trajectories.items()}  # fmt: skip
    low = top = max(float(np.max(v)) for v in values.values())
    floor = LOSS_FLOOR * top
    for name, v in values.items():
        low = min(low, float(np.min(v[v > floor], initial=top)))
        drawn = np.where(v > floor, v, np.nan)
        ax.plot(clocks[name], drawn, label=name, **styles[name].look)
    if top > 0:  # else every path stands at zero loss, where a logarithmic axis shows nothing
        pad = max((top / low) ** 0.06, 1.05)
        ax.set_ylim(low / pad, top * pad)
