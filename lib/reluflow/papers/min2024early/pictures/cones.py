"""Pictures of the cones in the plane and on the sphere, and of the chance of a near start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Wedge
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.frame import fresh, halo_text
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.min2024early import regions
from reluflow.papers.min2024early.constants import cap, centres
from reluflow.papers.min2024early.pictures.circle import NEGATIVE, PALE, POSITIVE

COLOURS = {"S_+": POSITIVE, "S_-": NEGATIVE, "S_dead": style.QUIET}
FILLS = {"S_+": PALE["$S_+$"], "S_-": PALE["$S_-$"], "S_dead": PALE["$S_{dead}$"]}
NAMES = {"S_+": "$S_+$", "S_-": "$S_-$", "S_dead": r"$S_{\mathrm{dead}}$"}
HULL, CAP = "#117733", "#AA4499"
LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), "-.")


@in_house_style
def cones_in_plane(data: Sequence[tuple[str, NDArray, NDArray]]) -> Figure:
    """The cones of data in the plane, a panel for each (title, X (n, 2), y (n,))."""
    fig, axes = panels(1, len(data), height=4.5, titles=[title for title, _, _ in data])
    for ax, (_, X, y) in zip(axes, data, strict=True):
        _plane(ax, X, y)
    legend_below(fig, columns=4)
    return fig


@in_house_style
def cones_in_space(X: NDArray, y: NDArray) -> Figure:
    """The cones of data X (n, 3) on the unit sphere, from the mean of K and from behind."""
    titles = ("(a) from the side of $K$", "(b) from behind")
    fig, axes = panels(1, 2, height=4.6, titles=titles)
    middle = regions.conditions(X, y)["S_+"]
    middle = (middle / np.linalg.norm(middle, axis=1, keepdims=True)).sum(axis=0)
    for ax, side in zip(axes, (1.0, -1.0), strict=True):
        _sphere(ax, X, y, side * middle / np.linalg.norm(middle))
    legend_below(fig, columns=4)
    return fig


@in_house_style
def near_starts(mu: NDArray, chances: Mapping[int, NDArray], h: int) -> Figure:
    """P(zeta_2 <= mu^2) against mu (m,), a curve for each dimension D, for h neurons."""
    fig, (ax,) = panels(1, 1, height=3.4)
    for k, (D, chance) in enumerate(chances.items()):
        ax.plot(mu, chance, ls=LINES[k % 4], color=style.datum_colour(k), label=f"$D = {D}$")
    ax.set(
        xlabel="$\\mu$",
        ylabel=f"$P(\\zeta_2 \\leq \\mu^2)$, $h = {h}$",
        xlim=(0, 1),
        ylim=(0, 1.02),
    )
    legend_below(fig, columns=4)
    return fig


def _plane(ax: Axes, X: NDArray, y: NDArray) -> None:
    ax.set(xlim=(-1.52, 1.52), ylim=(-1.52, 1.52), aspect="equal")
    _bare(ax)
    for name, C in regions.conditions(X, y).items():
        ends = regions.rays(C)
        if len(ends):
            _wedge(ax, ends, 1.0, 1.0, FILLS[name], NAMES[name], 1.0)
            low, high = _degrees(ends)
            place = 0.62 * _unit(np.deg2rad(0.5 * (low + high)))
            halo_text(ax, place, NAMES[name], fontsize=11, color=COLOURS[name], zorder=6)
    K = regions.rays(regions.rays(regions.conditions(X, y)["S_+"]))
    _wedge(ax, K, 1.12, 0.1, HULL, "$K$", 0.9)
    _wedge(ax, -K, 1.12, 0.1, HULL, "$-K$", 0.35)
    half = np.arcsin(np.sqrt(cap(X, y)))
    for sign, u in centres(X, y).items():
        middle = np.arctan2(*(sign * u)[::-1])
        ends = np.array([_unit(middle - half), _unit(middle + half)])
        _wedge(ax, ends, 1.28, 0.1, CAP, "caps of $\\zeta_1$", 0.7)
        _arrow(ax, sign * u, CAP, "$x_+$" if sign > 0 else "$x_-$", 0.92)
    for label, x in zip(y, X, strict=True):
        _arrow(ax, x, COLOURS["S_+" if label > 0 else "S_-"], "", 0.8)


def _bare(ax: Axes) -> None:
    """No frame and no ticks; `axis("off")` would leave the title out of the layout."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _wedge(
    ax: Axes, ends: NDArray, radius: float, width: float, colour: str, label: str, alpha: float
) -> None:
    low, high = _degrees(ends)
    ax.add_patch(
        Wedge((0.0, 0.0), radius, low, high, width=width, facecolor=colour, edgecolor="none",
              alpha=alpha, label=fresh(ax, label), zorder=1)
    )  # fmt: skip


def _degrees(ends: NDArray) -> tuple[float, float]:
    """The angles of a sector's two ends, the second less than half a turn after the first."""
    low, high = np.rad2deg(np.arctan2(ends[:, 1], ends[:, 0]))[[0, -1]]
    if (high - low) % 360.0 > 180.0:
        low, high = high, low
    return float(low), float(low + (high - low) % 360.0)


def _unit(angle: float) -> NDArray:
    return np.array([np.cos(angle), np.sin(angle)])


def _arrow(ax: Axes, x: NDArray, colour: str, name: str, length: float) -> None:
    end = length * x / np.linalg.norm(x)
    line = "--" if name else "-"
    ax.annotate("", end, (0.0, 0.0), zorder=4,
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4, "ls": line,
                            "shrinkA": 0, "shrinkB": 0, "mutation_scale": 10})  # fmt: skip
    if name:
        halo_text(ax, 1.43 * end / length, name, fontsize=10, color=colour)


def _sphere(ax: Axes, X: NDArray, y: NDArray, axis: NDArray) -> None:
    """The half of the sphere that is seen from `axis`, in orthographic projection."""
    ax.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal")
    _bare(ax)
    right, up = regions.frame(axis)

    def flat(points: NDArray) -> NDArray:
        return np.stack([points @ right, points @ up], axis=-1)

    t = np.linspace(0.0, 2.0 * np.pi, 241)
    ax.plot(np.cos(t), np.sin(t), color=style.INK, lw=0.9, zorder=5)
    for name, C in regions.conditions(X, y).items():
        corners = regions.rays(np.vstack([C, axis]))  # the half of the cone that is seen
        if len(corners) > 2:
            path = flat(regions.outline(corners))
            ax.fill(*path.T, color=FILLS[name], lw=0.0, label=NAMES[name], zorder=1)
            ax.plot(*np.vstack([path, path[:1]]).T, color=COLOURS[name], lw=0.8, zorder=2)
    K = regions.rays(regions.rays(regions.conditions(X, y)["S_+"]))
    for sign, name, alpha in ((1.0, "$K$", 0.45), (-1.0, "$-K$", 0.15)):
        if sign * K.mean(axis=0) @ axis > 0.0:
            ax.fill(*flat(regions.outline(sign * K)).T, facecolor=(*to_rgb(HULL), alpha),
                    edgecolor=HULL, lw=1.2, label=name, zorder=2)  # fmt: skip
    for sign, u in centres(X, y).items():
        if sign * u @ axis > 0.0:
            edge = flat(regions.circle(sign * u, np.sqrt(cap(X, y))))
            ax.plot(*edge.T, color=CAP, lw=1.3, ls="--", label="caps of $\\zeta_1$", zorder=3)
            place = flat(sign * u / np.linalg.norm(u))
            ax.plot(*place, "+", color=CAP, ms=8, mew=1.6, zorder=4,
                    label="$x_+$, $x_-$")  # fmt: skip
    for label, x in zip(y, X, strict=True):
        if x @ axis > 0.0:
            name = "positive data" if label > 0 else "negative data"
            ax.plot(*flat(x / np.linalg.norm(x)), "o", color=COLOURS["S_+" if label > 0 else "S_-"],
                    ms=6, mec="white", mew=0.8, zorder=6, label=fresh(ax, name))  # fmt: skip
