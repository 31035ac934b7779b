"""Pictures of weight space for d = 3: planes of the data, flows and minima in a box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import frame, style
from reluflow.figures.clipping import (
    both,
    cell_half_spaces,
    clip_line,
    clip_plane,
    clip_solid,
    window_half_spaces,
)
from reluflow.figures.sampling import drawing_times
from reluflow.figures.style import in_house_style
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet

Box = tuple[float, float, float, float, float, float]

EVENT_WORDS = {
    "relu": {
        "deactivate": "$x_{}$ switches off",
        "activate": "$x_{}$ switches on",
        "slide": "the path slides along the boundary of $x_{}$",
    },
    "linear": {
        "deactivate": r"$x_{}\cdot w$ turns negative (linear)",
        "activate": r"$x_{}\cdot w$ turns positive (linear)",
    },
}


@in_house_style
def weight_box(
    ax: Axes3D, box: Sequence[float], *, elevation: float = 22.0, azimuth: float = -58.0
) -> None:
    """Prepare 3-D axes as weight space: limits (lo_1, hi_1, ..., hi_3), labels, angle of view.

    Call it before the other functions of this file, which draw inside the limits that they find.
    Angles are in degrees.
    """
    window_half_spaces(box)  # raises for an empty box
    ax.set(xlim=box[:2], ylim=box[2:4], zlim=box[4:])
    ax.set_xlabel("$w_1$", labelpad=2)
    ax.set_ylabel("$w_2$", labelpad=2)
    ax.view_init(elev=elevation, azim=azimuth)
    ax.tick_params(pad=1)
    alone = ax.get_subplotspec().get_gridspec().ncols == 1
    ax.set_box_aspect((1.0, 1.0, 0.8), zoom=1.12 if alone else 0.9)
    ax.zaxis.set_tick_params(pad=4)
    # The third label stands on top of its axis, the vertical edge that is farthest to the right:
    # beside the tick labels there is no room for it in a narrow panel.
    turn = np.deg2rad(azimuth)
    x, y = box[1] if np.sin(turn) < 0 else box[0], box[3] if np.cos(turn) > 0 else box[2]
    ax.text(x, y, box[5] + 0.1 * (box[5] - box[4]), "$w_3$", ha="center", fontsize=10)
    ax.computed_zorder = False  # curves and markers lie over planes, wherever they are in depth
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.pane.set_facecolor("#FAFAFA")
        axis.set_major_locator(MaxNLocator(5 if alone else 4))


def box_around(*paths: Trajectory, margin: float = 0.08, points: int = 200) -> Box:
    """Return a box that holds all paths with a margin on each side (a share of the width)."""
    W = np.vstack([p.at(drawing_times(p, points)) for p in paths])
    low, high = W.min(axis=0), W.max(axis=0)
    pad = margin * np.maximum(high - low, 1e-9 + 0.05 * float(np.max(high - low)))
    x, y, z = zip((low - pad).tolist(), (high + pad).tolist(), strict=True)
    return (*x, *y, *z)


@in_house_style
def plane(ax: Axes3D, x: ArrayLike, value: float = 0.0, *, datum: int) -> None:
    """Draw the part of the plane {w : x.w = value} in the box, in the colour of its datum.

    Value 0 is the activation boundary (solid edge), value y_i the solution plane (dashed edge).

    Parameters: x (3,), `datum` the 0-based number of x.
    """
    x = np.asarray(x, float)
    _, _, vt = np.linalg.svd(x[None])
    corners = clip_plane(value * x / (x @ x), vt[1:].T, window_half_spaces(_box(ax)))
    if len(corners) < 3:
        return
    colour = style.datum_colour(datum)
    line = "-" if value == 0 else (0, (4.0, 2.5))
    equation = "0" if value == 0 else f"y_{{{datum + 1}}}"
    kind = "boundary" if value == 0 else "solution plane"
    ax.add_collection3d(
        Poly3DCollection([corners], facecolors=colour, alpha=0.16, edgecolors="none", zorder=1.0)
    )
    ring = np.vstack([corners, corners[:1]])
    ax.plot(
        *ring.T,
        color=colour,
        ls=line,
        lw=1.1,
        zorder=1.2,
        label=rf"{kind}  $x_{{{datum + 1}}}\cdot w = {equation}$",
    )


@in_house_style
def flow3d(
    ax: Axes3D,
    trajectory: Trajectory,
    name: str = "ReLU flow",
    *,
    events: bool = True,
) -> None:
    """Draw a trajectory in 3-D weight space: curve, start, events and end.

    Parameters as in `weight_flow.flow`.
    """
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
    if events:
        for event in trajectory.events:
            on = event.kind != "deactivate"
            colour = style.datum_colour(event.datum)
            index = f"{{{event.datum + 1}}}"
            label = EVENT_WORDS[curve.activation][event.kind].format(index)
            marker = {"ms": 6.0, "mfc": "white" if on else colour, "mec": colour if on else "white"}
            ax.plot(
                *trajectory.at(np.array([event.t])).T,
                ls="",
                marker="D",
                zorder=5.2,
                label=frame.fresh(ax, label),
                **marker,
            )
    ax.plot(
        *W[:1].T,
        ls="",
        zorder=5.4,
        label=frame.fresh(ax, "initial point $w_0$"),
        **style.MARKERS["initial point"],
    )
    ax.plot(
        *W[-1:].T,
        ls="",
        zorder=5.5,
        label=frame.fresh(ax, "end of the path"),
        **style.MARKERS["limit"],
    )


@in_house_style
def stationary_sets3d(ax: Axes3D, minima: Sequence[StationarySet], X: ArrayLike) -> None:
    """Draw all stationary sets in the box: points, segments, polygons and the dead polyhedron.

    Parameters: `minima` as returned by `local_minima(X, y)`, X (n, 3).
    """
    X = np.asarray(X, float)
    box = window_half_spaces(_box(ax))
    for minimum in minima:
        best = minimum.rank == 1
        w = np.asarray(minimum.w, float)
        active = frame.pattern_of(len(X), minimum.support)
        region = both(box, cell_half_spaces(X, active))
        if minimum.dimension == 0:
            if np.all(box[0] @ w <= box[1]):
                name = "global minimum" if best else "local minimum"
                label = frame.fresh(ax, "global minimum" if best else "other local minimum")
                ax.plot(*w[:, None], ls="", zorder=5.0, label=label, **style.MARKERS[name])
            continue
        colour = style.GLOBAL if best else style.INK
        shape = {1: "line", 2: "plane", 3: "cell"}[minimum.dimension]
        name = f"{shape} of {'global' if best else 'local'} minima"
        if minimum.dimension == 1:
            ends = clip_line(w, np.asarray(minimum.directions, float)[:, 0], region)
            if ends is not None:
                ax.plot(
                    *ends.T,
                    color=colour,
                    ls=(0, (2.2, 1.1)),
                    lw=3.4,
                    zorder=2.6,
                    label=frame.fresh(ax, name),
                )
            continue
        flat = minimum.dimension == 2
        faces = [clip_plane(w, minimum.directions, region)] if flat else clip_solid(region)
        faces = [f for f in faces if len(f) >= 3]
        if faces:
            ax.add_collection3d(
                Poly3DCollection(
                    faces,
                    alpha=0.15,
                    zorder=0.8,
                    facecolors=style.GLOBAL if best else "#9A9A9A",
                    edgecolors="#8A8A8A",
                    linewidths=0.6,
                    label=frame.fresh(ax, name if flat or best else "dead cell (no datum active)"),
                )
            )


def _box(ax: Axes3D) -> NDArray:
    return np.concatenate([ax.get_xlim3d(), ax.get_ylim3d(), ax.get_zlim3d()])
