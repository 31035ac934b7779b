"""Figures 9 and 11 of Lee, Sim & Ye 2022a, redrawn from computed flows; the norm's overshoot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import Window, fresh
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.figures.weight_flow import flow
from reluflow.figures.weight_space import activation_boundaries, weight_plane
from reluflow.flows.activity import Crossing, crossings
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import enumerate_cells, virtual_minimum

OLD, NEW, RATE = "#009E73", "#CC79A7", "#E69F00"
VIRTUAL = {"marker": "P", "ms": 9, "mec": style.INK, "zorder": 5.0, "ls": ""}
"""Below the end of a path, which may lie on it."""


def _eigenbasis(X: NDArray, y: NDArray, active: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Virtual minimum (2,), eigenvectors as columns (2, 2), fastest first and c_k^* >= 0, rates."""
    w, _ = virtual_minimum(X, y, active)
    rates, E = np.linalg.eigh(X[active].T @ X[active])
    rates, E = rates[::-1], E[:, ::-1]
    return w, E * np.where(E.T @ w < 0.0, -1.0, 1.0), rates


def _rectangle(ax: Axes, w: NDArray, E: NDArray, colour: str, label: str, line: str = "-") -> None:
    """The hyperrectangle {sum c_k e_k, 0 <= c_k <= c_k^*} of the virtual minimum w (2,)."""
    a, b = (E.T @ w)[:, None] * E.T
    corners = np.array([0 * a, a, a + b, b, 0 * a])
    ax.plot(*corners.T, color=colour, ls=line, lw=1.6, label=fresh(ax, label), zorder=3)


def _ellipse(ax: Axes, w: NDArray, E: NDArray, rates: NDArray) -> None:
    """The curve g_P(w) = w.H (w - w_P^*) = 0 of a cell, centred at w_P^* / 2."""
    turn = np.linspace(0.0, 2.0 * np.pi, 241)
    size = 0.5 * np.sqrt(np.sum(rates * (E.T @ w) ** 2))
    coordinates = size / np.sqrt(rates)[:, None] * np.array([np.cos(turn), np.sin(turn)])
    ax.plot(*(0.5 * w[:, None] + E @ coordinates), color=RATE, lw=1.4,
            label=fresh(ax, "$g_P = 0$: inside, the norm grows"), zorder=2.8)  # fmt: skip


def _arrows(ax: Axes, origin: NDArray, E: NDArray, length: float, colour: str, mark: str) -> None:
    """The eigenvectors as arrows from `origin` (2,), named."""
    for k in range(2):
        tip = origin + length * E[:, k]
        ax.annotate("", tip, origin, zorder=5,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4})  # fmt: skip
        ax.text(*(origin + 1.22 * length * E[:, k]), f"${mark}_{k + 1}$", color=colour,
                ha="center", va="center", fontsize=9, zorder=6)  # fmt: skip


def _shade(ax: Axes, X: NDArray, active: NDArray, colour: str, label: str) -> None:
    """The cell with these active data, shaded."""
    (a, b), (c, d) = ax.get_xlim(), ax.get_ylim()
    grid = np.stack(np.meshgrid(np.linspace(a, b, 240), np.linspace(c, d, 240)), axis=-1)
    inside = ((grid @ X.T > 0.0) == active).all(axis=-1)
    ax.contourf(grid[..., 0], grid[..., 1], inside.astype(float), levels=[0.5, 1.5],
                colors=[colour], alpha=0.13, zorder=0.2)  # fmt: skip
    ax.plot([], [], color=colour, lw=7, alpha=0.25, label=fresh(ax, label))


def _virtual(ax: Axes, w: NDArray, colour: str, label: str) -> None:
    ax.plot(*w, mfc=colour, label=fresh(ax, label), **VIRTUAL)


@in_house_style
def crossing(X: NDArray, y: NDArray, path: Trajectory, window: Window) -> Figure:
    """Figure 9: the first crossing of a planar flow, from P to P~: both hyperrectangles, both pairs
    of eigenvectors, both virtual minima."""
    step = crossings(X, path)[0]
    fig, (ax,) = panels(1, 1, height=6.2)
    weight_plane(ax, window, equal=True)
    reach = 0.09 * (window[1] - window[0])
    corner = np.array([window[1] - 4.6 * reach, window[3] - 1.6 * reach])
    for active, colour, tilde, line in (
        (step.before, OLD, "", "-"),
        (step.after, NEW, "\\tilde ", "--"),
    ):
        w, E, _ = _eigenbasis(X, y, active)
        _shade(ax, X, active, colour, f"cell ${tilde}P$")
        _rectangle(ax, w, E, colour, f"hyperrectangle of ${tilde}P$", line)
        _virtual(ax, w, colour, f"virtual minimum of ${tilde}P$")
        shift = np.array([2.6 * reach if tilde else 0.0, 0.0])
        _arrows(ax, corner + shift, E, reach, colour, f"{tilde}e")
    activation_boundaries(ax, X, [step.datum])
    flow(ax, path)
    legend_below(fig)
    return fig


@in_house_style
def cell_dynamics(
    cases: Sequence[tuple[NDArray, NDArray, int]], windows: Sequence[Window]
) -> Figure:
    """Figure 11: a cell P that the flow from 0 enters by losing x_0 at w_0. (a) eigenvectors, the
    line through w_P^* along e_2, and flows; (b) w_P^* in P; (c) w_P^* outside P, which is left.

    `cases` are (X, y, k) for the three panels: P is entered at crossing k (from 0) of the flow.
    """
    titles = ("(a) flows in $P$", "(b) $w_P^*$ in $P$", "(c) $w_P^*$ outside $P$")
    fig, axes = panels(1, 3, height=4.15, titles=titles, sharey=True)
    for ax, (X, y, k), window in zip(axes, cases, windows, strict=True):
        weight_plane(ax, window, equal=True)
        path = affine_flow(X, y, 1e-9 * X.T @ y)
        step = crossings(X, path)[k]
        w, E, rates = _eigenbasis(X, y, step.after)
        _shade(ax, X, step.after, OLD, "cell $P$")
        slow = w[:, None] + E[:, 1:] * np.array([-9.0, 9.0]) * np.linalg.norm(w)
        ax.plot(*slow, color=style.QUIET, ls=":", lw=1.4, zorder=2,
                label=fresh(ax, "line through $w_P^*$ along $e_2$"))  # fmt: skip
        _virtual(ax, w, OLD, "virtual minimum $w_P^*$")
        if ax is axes[0]:
            length = 0.2 * (window[1] - window[0])
            _arrows(ax, np.array([window[0] + 1.4 * length, window[2] + 0.6 * length]), E, length,
                    style.INK, "e")  # fmt: skip
            _other_flows(ax, X, y, step)
        else:
            _ellipse(ax, w, E, rates)
            _rectangle(ax, w, E, OLD, "hyperrectangle of $P$")
        flow(ax, path, "ReLU flow", arrows=1)
        activation_boundaries(ax, X, _edges(X, step.after))
    for ax in axes[1:]:
        ax.set_ylabel("")
    legend_below(fig)
    return fig


def _edges(X: NDArray, active: NDArray) -> list[int]:
    """The data on whose boundaries the cell ends, no two of them parallel."""
    cells = {tuple(row) for row in enumerate_cells(X).patterns.tolist()}
    across = active ^ np.eye(len(active), dtype=bool)
    return [j for j, row in enumerate(across.tolist()) if tuple(row) in cells]


def _other_flows(ax: Axes, X: NDArray, y: NDArray, step: Crossing) -> None:
    """Flows from other points of the boundary on which w_0 lies, thin."""
    for share in (0.35, 0.65, 1.4, 1.9):
        only = affine_flow(X[step.after], y[step.after], share * step.w, activation="linear")
        W = only.at(only.grid(120))
        inside = (step.after == (X @ W.T > 0.0).T).all(axis=1)
        inside[0] = True
        stop = len(inside) if inside.all() else int(np.argmin(inside))
        ax.plot(*W[:stop].T, color="#6A3D9A", lw=1.0, zorder=3,
                label=fresh(ax, "flow of $P$ from another point"))  # fmt: skip


@in_house_style
def overshoot(X: ArrayLike, y: ArrayLike, v: ArrayLike, sizes: Sequence[float]) -> Figure:
    """|w(t)|^2 - |w^*|^2 from w0 = eps v: (a) over eps^2, it rises above zero and falls back;
    (b) its largest value against eps."""
    fig, (left, right) = panels(
        1, 2, height=3.7, titles=("(a) along the flow", "(b) largest value")
    )
    X, y, v = (np.asarray(value, float) for value in (X, y, v))
    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
    for eps, colour in zip(sizes, colours, strict=False):
        path = affine_flow(X, y, eps * v)
        t = np.linspace(0.0, 5.0, 1001)
        above = (path.at(t) ** 2).sum(axis=1) - path.end @ path.end
        left.plot(t, above / eps**2, color=colour, label=f"$\\varepsilon = {eps:g}$")
    left.axhline(0.0, color=style.INK, lw=0.9)
    left.set(xlabel="time $t$", ylim=(-0.02, 0.08), xlim=(0.0, 5.0),
             ylabel="$(|w(t)|^2 - |w^*|^2)\\,/\\,\\varepsilon^2$")  # fmt: skip
    many = np.geomspace(min(sizes) / 3, 3 * max(sizes), 13)
    most = []
    for eps in many:
        path = affine_flow(X, y, eps * v)
        most.append(np.max((path.at(path.grid(400)) ** 2).sum(axis=1)) - path.end @ path.end)
    right.loglog(many, most, color=style.INK, label="largest $|w(t)|^2 - |w^*|^2$")
    right.loglog(many, many**2, color=style.QUIET, ls="--", label="$|w_0|^2 = \\varepsilon^2$")
    law = 7.0 / 18.0 * 36.0 ** (-2.0 / 7.0)
    right.loglog(many, law * many ** (18.0 / 7.0), color="#D55E00", ls=":", lw=2.6,
                 label=f"${law:.2f}\\,\\varepsilon^{{18/7}}$")  # fmt: skip
    right.set(xlabel="$\\varepsilon$")
    legend_below(fig, columns=3)
    return fig
