"""One time axis for flows and descents: which values are drawn, in which unit, until when."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.figures.sampling import drawing_times
from reluflow.flows.trajectory import Trajectory

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
            extra = np.unique(
                np.clip(np.round(extra), extra[0] if xscale == "linear" else 1.0, last)
            )
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
    ax: Axes,
    clocks: Mapping[str, NDArray],
    paths: Paths,
    step: float | None,
    xscale: str,
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
