"""Figures 6 and 7 of Lee, Sim & Ye 2022a, and boundaries that linear flows cross many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import fresh
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.figures.weight_flow import flow
from reluflow.figures.weight_space import weight_plane
from reluflow.figures.weight_space3d import flow3d, weight_box
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support.linear import LinearNeuron

RECTANGLE = "#E69F00"
ELLIPSE = "#0072B2"
SPAN = "#44AA99"
AXES = "#882255"


@in_house_style
def hyperrectangles(space: LinearNeuron, plane: LinearNeuron) -> Figure:
    """Figure 6: (a) the hyperrectangle of H for d = 3 with its axes and the linear flow from 0; (b)
    for d = 2 the rectangle in the norm-increasing ellipse g < 0, both centred at w*/2."""
    fig, (left, right) = panels(1, 2, height=4.7)
    place = left.get_subplotspec()
    left.remove()
    box = fig.add_subplot(place, projection="3d")
    box.set_title("(a) d = 3", loc="left")
    right.set_title("(b) d = 2", loc="left")
    _rectangle_in_space(box, space)
    _rectangle_in_plane(right, plane)
    legend_below(fig)
    fig.draw_without_rendering()  # axes in space and in the plane settle in two rounds of layout
    return fig


def _rectangle_in_space(ax: Axes3D, net: LinearNeuron) -> None:
    corners = net.vertices
    low, high = corners.min(axis=0), corners.max(axis=0)
    pad = 0.12 * float(np.max(high - low))
    box = tuple(float(v) for pair in zip(low - pad, high + pad, strict=True) for v in pair)
    weight_box(ax, box, elevation=20, azimuth=-25)
    for k, bit in enumerate((1, 2, 4)):
        others = [b for b in (1, 2, 4) if b != bit]
        ring = [0, others[0], sum(others), others[1]]
        faces = [corners[ring], corners[[v + bit for v in ring]]]
        ax.add_collection3d(
            Poly3DCollection(faces, facecolors=RECTANGLE, alpha=0.10, edgecolors="none", zorder=1.0)
        )
        for start in (0, others[0], others[1], sum(others)):
            ax.plot(*corners[[start, start + bit]].T, color=RECTANGLE, lw=1.3, zorder=1.4,
                    label=fresh(ax, "hyperrectangle of $H$"))  # fmt: skip
        tip = 0.45 * pad / 0.12 * net.axes[:, k]
        ax.plot(*np.array([np.zeros(3), tip]).T, color=AXES, lw=1.6, ls=(0, (1.0, 1.2)), zorder=2.5,
                label=fresh(ax, "eigenvector $e_k$ of $H$"))  # fmt: skip
        ax.text(*(1.12 * tip), f"$e_{k + 1}$", color=AXES, fontsize=10, ha="center", zorder=6)
    path = affine_flow(net.X, net.y, np.zeros(3), "linear")
    flow3d(ax, path, "linear flow", events=False)
    ax.plot(*net.minimum[:, None], ls="", zorder=5.0, label="minimum $w^*$",
            **style.MARKERS["global minimum"])  # fmt: skip


def _rectangle_in_plane(ax: Axes, net: LinearNeuron) -> None:
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    half_axes = np.sqrt(net.height / net.eigenvalues)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    ellipse = 0.5 * net.minimum + net.at(circle * half_axes)
    low, high = ellipse.min(axis=0), ellipse.max(axis=0)
    pad = 0.10 * float(np.max(high - low))
    weight_plane(ax, (low[0] - pad, high[0] + pad, low[1] - pad, high[1] + pad), equal=True)
    ax.fill(*ellipse.T, color=ELLIPSE, alpha=0.08, lw=0, zorder=0.5)
    ax.plot(*ellipse.T, color=ELLIPSE, lw=1.8, label="norm-increasing subset: edge $g = 0$")
    ring = net.vertices[[0, 1, 3, 2, 0]]
    ax.plot(*ring.T, color=RECTANGLE, lw=1.8, label="hyperrectangle of $H$")
    for k in range(2):
        ends = 0.5 * net.minimum + np.outer([-1.0, 1.0], half_axes[k] * net.axes[:, k])
        ax.plot(*ends.T, color=AXES, lw=1.2, ls=(0, (1.0, 1.2)), label="eigenvector $e_k$ of $H$")
    ax.plot(*(0.5 * net.minimum), ls="", marker="x", color=style.INK, ms=7, label="centre $w^*/2$")
    flow(ax, affine_flow(net.X, net.y, np.zeros(2), "linear"), "linear flow", events=False)
    ax.plot(*net.minimum, ls="", zorder=5.0, **style.MARKERS["global minimum"])


@in_house_style
def reduction(X: NDArray, y: NDArray, starts: Sequence[ArrayLike]) -> Figure:
    """Figure 7: linear flows from `starts` in R^3 on data X (n, 3) of rank 2 (the first two
    independent), their projections onto the span, and the line of minima, which meets it once."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    B, R = np.linalg.qr(X[:2].T)
    B = B * np.sign(np.diag(R))  # x_1 along the first axis: the same corners on every machine
    across = np.cross(*B.T)
    paths = [affine_flow(X, y, w0, "linear") for w0 in starts]
    points = np.vstack([p.at(p.grid(40)) for p in paths])
    shadows = points @ B @ B.T
    low = np.minimum(points, shadows).min(axis=0)
    high = np.maximum(points, shadows).max(axis=0)
    pad = 0.15 * float(np.max(high - low))
    fig, (ax,) = panels(1, 1, height=5.4, projection="3d")
    box = tuple(float(v) for pair in zip(low - pad, high + pad, strict=True) for v in pair)
    weight_box(ax, box, elevation=16, azimuth=-50)
    flat = points @ B
    (a, b), (c, d) = flat.min(axis=0) - pad, flat.max(axis=0) + pad
    corners = np.array([[a, b], [c, b], [c, d], [a, d]]) @ B.T
    ax.add_collection3d(
        Poly3DCollection([corners], facecolors=SPAN, alpha=0.22, edgecolors=SPAN, zorder=1.0,
                         label=r"span of the data $\overline{W}$")
    )  # fmt: skip
    foot = B @ (B.T @ paths[0].end)
    heights = points @ across
    ends = foot + np.outer([heights.min() - pad, heights.max() + pad], across)
    ax.plot(*ends.T, color=style.GLOBAL, lw=3.0, zorder=1.6, label="line of minima")
    for path in paths:
        W = path.at(path.grid(100))
        for end in (0, -1):
            w = W[end]
            ends = np.array([w, B @ (B.T @ w)])
            ax.plot(*ends.T, color=style.QUIET, lw=1.2, ls=":", zorder=2.0,
                    label=fresh(ax, r"projection $\varphi$"))  # fmt: skip
        flow3d(ax, path, "linear flow", events=False)
    shadow = paths[0].at(paths[0].grid(100)) @ B @ B.T
    ax.plot(
        *shadow.T, color=style.INK, lw=1.8, zorder=3.0, label="projected flow, the same for both"
    )
    ax.plot(*foot[:, None], ls="", zorder=6.0, label=r"minimum in $\overline{W}$",
            **style.MARKERS["global minimum"])  # fmt: skip
    legend_below(fig)
    return fig


@in_house_style
def boundary_crossings(
    examples: Mapping[str, tuple[ArrayLike, ArrayLike]], datum: int = 0
) -> Figure:
    """x_j.w(t) along linear flows from 0, one panel for each data set X, y; crossings of zero are
    marked. The vertical scale is logarithmic away from zero, so that all of them can be seen."""
    fig, axes = panels(1, len(examples), height=3.6, titles=list(examples))
    for ax, (X, y) in zip(axes, examples.values(), strict=True):
        X, y = np.asarray(X, float), np.asarray(y, float)
        path = affine_flow(X, y, np.zeros(X.shape[1]), "linear")
        rates = np.linalg.svd(X, compute_uv=False) ** 2
        at = np.array([e.t for e in path.events if e.datum == datum])
        t = np.geomspace(0.1 / rates[0], max(8.0 / rates[-1], 2.0 * at.max(initial=0.0)), 600)
        h = path.at(t) @ X[datum]
        between = [np.abs(part).max() for part in np.split(h, np.searchsorted(t, at)) if len(part)]
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.plot(t, h, label="linear flow", color=style.CURVES["linear flow"].colour, lw=1.8)
        ax.plot(at, 0.0 * at, ls="", marker="D", ms=5.5, mfc=style.datum_colour(datum), mec="white",
                label=f"crossing of the boundary of $x_{{{datum + 1}}}$", zorder=4)  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("symlog", linthresh=0.2 * min(between))
        ax.minorticks_off()
        low, high = int(np.ceil(np.log10(t[0]))), int(np.log10(t[-1]))
        powers = np.arange(low, high + 1, 1 + (high - low) // 4)
        raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")  # plain text draws fast
        ax.set_xticks(10.0**powers, ["10" + str(k).translate(raised) for k in powers])
        largest = 10.0 ** np.floor(np.log10(np.abs(h).max()))
        sizes = [v for v in (-largest, 0.0, largest) if h.min() <= v <= h.max()]
        ax.set_yticks(sizes, [f"{v:g}".replace("-", "−") for v in sizes])
        ax.set(xlabel="time $t$", xlim=(t[0], t[-1]))
    axes[0].set_ylabel(f"$x_{{{datum + 1}}}\\cdot w(t)$")
    legend_below(fig)
    return fig
