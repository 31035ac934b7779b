"""Figure 2 of Lee, Sim & Ye 2022a, and ours on what happens at an activation boundary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import Window
from reluflow.figures.style import datum_colour, in_house_style, legend_below, panels
from reluflow.figures.weight_flow import flow
from reluflow.figures.weight_space import (
    activation_boundaries,
    cells,
    solution_lines,
    weight_plane,
)
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import virtual_minimum
from reluflow.networks import gradient
from reluflow.papers.lee2022support.training_dynamics import alpha_star

VIRTUAL = ("#E69F00", "#F0E442")
"""Colours of the two virtual minima, as in the paper: orange and yellow."""


@in_house_style
def training_dynamics(
    deactivated: tuple[NDArray, NDArray, Trajectory, Window],
    scaled: tuple[NDArray, NDArray, NDArray, Sequence[Trajectory], Window],
) -> Figure:
    """Figure 2: (a) the flow that lets a datum go; (b) the gradients along a ray, and flows.

    Parameters: (a) X (n, 2), y (n,), the flow and the window; (b) X, y, a point w0 (2,) on the ray,
    flows and the window.
    """
    fig, (a, b) = panels(1, 2, height=5.6, titles=("(a) a datum is let go", "(b) along a ray"))
    _deactivation(a, *deactivated)
    _along_ray(b, *scaled)
    legend_below(fig, columns=2)
    return fig


def _deactivation(ax, X, y, path: Trajectory, window: Window) -> None:
    weight_plane(ax, window, equal=True)
    solution_lines(ax, X, y)
    flow(ax, path)
    everything = np.ones(len(y), bool)
    names = ("virtual minimum of $P_0$, all active", "virtual minimum of $P_1$")
    for active, colour, name in zip((everything, X @ path.end > 0), VIRTUAL, names, strict=True):
        w, _ = virtual_minimum(X, y, active)
        ax.plot(*w, ls="", marker="*", ms=15, mfc=colour, mec=style.INK, mew=0.9, label=name,
                zorder=5.6)  # fmt: skip
    activation_boundaries(ax, X)
    cells(ax, X)


def _along_ray(ax, X, y, w0, paths: Sequence[Trajectory], window: Window) -> None:
    weight_plane(ax, window, equal=True)
    for path in paths:
        flow(ax, path, arrows=1)
    stars = [float(alpha_star(X, y, w0, j) or np.nan) for j in range(len(y))]
    ax.plot(*np.outer(w0, [0.0, 1.6 * max(stars)]), color=style.QUIET, lw=1.0, ls=":",
            label=r"ray $\alpha w_0$", zorder=2.4)  # fmt: skip
    alphas = np.linspace(0.15, 1.5, 9) * max(stars)
    points = np.outer(alphas, w0)
    arrows = np.array([-gradient(X, y, w) for w in points])
    reach = 0.16 * (window[1] - window[0]) / np.linalg.norm(arrows, axis=1).max()
    ax.quiver(*points.T, *(reach * arrows).T, angles="xy", scale_units="xy", scale=1.0,
              color="#C62828", width=0.006, zorder=4.2)  # fmt: skip
    style.legend_entry(ax, r"$-\nabla L(\alpha w_0)$", color="#C62828", lw=1.5)
    for j, star in enumerate(stars):
        ax.plot(*(star * np.asarray(w0)), ls="", marker="^", ms=8, mfc=datum_colour(j),
                mec=style.INK, mew=0.8, zorder=5.8)  # fmt: skip
    style.legend_entry(ax, r"$\alpha_j^* w_0$, in the colour of $x_j$", ls="", marker="^", ms=8,
                       mfc=style.QUIET, mec=style.INK, mew=0.8)  # fmt: skip
    activation_boundaries(ax, X)
    cells(ax, X)


@in_house_style
def boundary_cases(
    X: NDArray, y: NDArray, points: ArrayLike, step: float, window: Window
) -> Figure:
    """What a flow does on the boundary of x_1: at each of the `points` (k, 2) on it, the velocity
    on either side, the active side's drawn from the point shifted into it by `step`."""
    fig, (ax,) = panels(1, 1, height=4.6)
    weight_plane(ax, window, equal=True)
    unit = X[0] / np.linalg.norm(X[0])
    for sign, colour, name in ((1.0, "#0072B2", "velocity where $x_1$ is active"),
                               (-1.0, "#D55E00", "velocity where $x_1$ is inactive")):  # fmt: skip
        starts = np.asarray(points, float) + sign * step * unit
        v = np.array([-gradient(X, y, w) for w in starts])
        ax.quiver(*starts.T, *v.T, angles="xy", scale_units="xy", scale=3.0, color=colour,
                  width=0.006, zorder=4.2)  # fmt: skip
        style.legend_entry(ax, name, color=colour, lw=1.8)
    ax.plot(*np.asarray(points, float).T, ls="", marker="o", ms=5, color=style.INK, zorder=5.0)
    activation_boundaries(ax, X)
    cells(ax, X)
    legend_below(fig)
    return fig
