"""The figures of Lee, Sim & Ye 2022a, and ours beside them, from computed objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.curves import loss_curves, preactivations
from reluflow.figures.frame import Window, fresh
from reluflow.figures.shares import share_points
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.figures.weight_flow import EVENT_WORDS, annotate_minima, flow, stationary_sets
from reluflow.figures.weight_space import (
    activation_boundaries,
    cells,
    loss_levels,
    solution_lines,
    weight_plane,
)
from reluflow.figures.weight_space3d import box_around, flow3d, plane, weight_box
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet, local_minima, virtual_minimum
from reluflow.papers.lee2022support.examples import Experiment


@in_house_style
def terminology(X2: NDArray, y2: NDArray, X6: NDArray, y6: NDArray, cell: ArrayLike) -> Figure:
    """Figure 1: (a) one datum's boundary and solution line, (b) the stationary set of two data, (c)
    six data's cells, and the virtual minimum of the cell of weight `cell` (2,) outside it."""
    fig, (a, b, c) = panels(
        1, 3, height=3.7, titles=("(a) one datum", "(b) n = d = 2", "(c) n = 6")
    )
    window = (-1.6, 2.4, -1.6, 2.4)
    for ax in (a, b, c):
        weight_plane(ax, window, equal=True)
    activation_boundaries(a, X2[:1])
    solution_lines(a, X2[:1], y2[:1])
    cells(a, X2[:1], names=False)
    a.text(0.95, 0.93, "active\n$x_1 \\cdot w > 0$", ha="right", va="top", transform=a.transAxes)
    a.text(0.05, 0.07, "inactive\n$x_1 \\cdot w < 0$", transform=a.transAxes)
    minima = local_minima(X2, y2)
    activation_boundaries(b, X2)
    solution_lines(b, X2, y2)
    stationary_sets(b, minima, X2)
    activation_boundaries(c, X6)
    cells(c, X6, names=False)
    active = X6 @ np.asarray(cell) > 0
    w, _ = virtual_minimum(X6, y6, active)
    c.plot(*np.asarray(cell), ls="", marker="o", ms=5, color=style.INK, label="a weight $w$")
    c.plot(*w, ls="", label="virtual minimum of the cell of $w$", marker="P", ms=9,
           mfc="#F0E442", mec=style.INK, zorder=5)  # fmt: skip
    legend_below(fig)
    return fig


def window_of_interest(minima: Sequence[StationarySet], paths: Sequence[Trajectory]) -> Window:
    """A window on the origin, the isolated minima and the ends of the paths, with room around."""
    points = [np.zeros(2), *(m.w for m in minima if m.dimension == 0), *(p.end for p in paths)]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    # Starts that are not far out are shown, too; a curve from farther out says where it began.
    middle, reach = 0.5 * (low + high), float(np.max(high - low))
    points += [p.states[0] for p in paths if np.all(np.abs(p.states[0] - middle) <= 0.75 * reach)]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    room = 0.3 * np.maximum(high - low, 0.3 * float(np.max(high - low)))
    return (
        float(low[0] - room[0]),
        float(high[0] + room[0]),
        float(low[1] - room[1]),
        float(high[1] + room[1]),
    )


@in_house_style
def plane_flows(
    X: NDArray,
    y: NDArray,
    minima: Sequence[StationarySet],
    paths: Sequence[Trajectory],
    window: Window | None = None,
    circles: Mapping[str, float] | None = None,
) -> Figure:
    """Figure 3: level curves, cells, all stationary sets and the flows in the weight plane, and
    `circles` about the origin, {name: radius}, which make the scales of both axes equal."""
    fig, (ax,) = panels(1, 1, height=6.4 if circles else 5.4)
    weight_plane(ax, window or window_of_interest(minima, paths), equal=bool(circles))
    loss_levels(ax, X, y, floor=minima[0].loss if minima else None)
    stationary_sets(ax, minima, X)
    for path in paths:
        flow(ax, path)
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    for (name, radius), line in zip((circles or {}).items(), ("--", ":"), strict=False):
        ax.plot(radius * np.cos(turn), radius * np.sin(turn), color="#C62828", ls=line, lw=1.4,
                label=name, zorder=2.9)  # fmt: skip
    activation_boundaries(ax, X)
    cells(ax, X)
    annotate_minima(ax, minima, lambda m: f"$L = {m.loss:.3f}$")
    legend_below(fig)
    return fig


@in_house_style
def space_flows(
    relu: Sequence[Trajectory], linear: Sequence[Trajectory], X: Sequence[NDArray],
    planes: Sequence[Sequence[int]], titles: Sequence[str] = (),
) -> Figure:  # fmt: skip
    """Figure 4: ReLU and linear flow in three dimensions, one panel each data set, with the
    activation planes of the data `planes` (from 0). Diamonds are the ReLU flow's switches,
    triangles the changes of sign along the linear flow."""
    fig, axes = panels(1, len(relu), height=5.6, projection="3d", titles=titles)
    for ax, path, line, data, shown in zip(axes, relu, linear, X, planes, strict=True):
        weight_box(ax, box_around(path, line))
        for j in shown:
            plane(ax, data[j], datum=j)
        flow3d(ax, line, "linear flow", events=False)
        for event in line.events:
            falls = event.kind == "deactivate"
            label = EVENT_WORDS["linear"][event.kind].replace("_i", f"_{{{event.datum + 1}}}")
            ax.plot(*line.at(np.array([event.t])).T, ls="", marker="v" if falls else "^", ms=7.5,
                    mfc=style.CURVES["linear flow"].colour if falls else "white",
                    mec=style.CURVES["linear flow"].colour, zorder=5.0,
                    label=fresh(ax, label))  # fmt: skip
        flow3d(ax, path, "ReLU flow")
    legend_below(fig)
    return fig


def weight_space(run: Experiment) -> Figure:
    """The flows of an experiment where they can be seen: the plane, the box, or their curves."""
    if run.X.shape[1] == 2:
        return plane_flows(run.X, run.y, run.minima, run.flows)
    if run.X.shape[1] == 3:
        shown = sorted({e.datum for e in run.flows[0].events})[:2]
        return space_flows(run.flows[:1], run.linear_flows[:1], [run.X], [shown])
    return activity_curves(run)


def activity_curves(run: Experiment, most: int = 5) -> Figure:
    """Loss and x_i.w along the flows from the start whose ReLU flow has most events: the data with
    events first, `most` of them."""
    k = max(range(len(run.flows)), key=lambda k: len(run.flows[k].events))
    relu, linear = run.flows[k], run.linear_flows[k]
    order = [e.datum for e in (*relu.events, *linear.events)] + list(range(len(run.y)))
    data = sorted(list(dict.fromkeys(order))[:most])
    return losses_and_preactivations(run.X, run.y, relu, linear, run.step, None, data)


def example_curves(run: Experiment) -> Figure:
    """Figures 12 and 13: `losses_and_preactivations` of all data over the printed iterations."""
    return losses_and_preactivations(
        run.X, run.y, run.flows[0], run.linear_flows[0], run.step, run.iterations
    )


@in_house_style
def losses_and_preactivations(
    X: NDArray,
    y: NDArray,
    relu: Trajectory,
    linear: Trajectory,
    step: float,
    until: float | None = None,
    data: Sequence[int] | None = None,
) -> Figure:
    """Figures 12 and 13: loss curves, and x_i.w along both flows, against iterations t / step."""
    data = list(range(len(X))) if data is None else list(data)
    rows = 1 + len(data) // 2
    fig, axes = panels(rows, 2, height=2.35 * rows + 0.7)
    paths = {"linear flow": linear, "ReLU flow": relu}
    loss_curves(axes[0], paths, X, y, step=step, xscale="log", until=until)
    for ax, j in zip(axes[1:], data, strict=False):
        preactivations(ax, paths, X[j], y[j], datum=j, step=step, xscale="log", until=until)
    for ax in axes[1 + len(data) :]:
        ax.set_axis_off()
    legend_below(fig)
    return fig


@in_house_style
def segment_losses(
    X: NDArray, y: NDArray, w1: NDArray, w2: NDArray, names: tuple[str, str]
) -> Figure:
    """The loss, and L_P of the cell of w1, on the segment from w1 (s = 0) to w2 (s = 1)."""
    s = np.linspace(0.0, 1.0, 201)
    W = (1.0 - s)[:, None] * w1 + s[:, None] * w2
    h = W @ X.T
    own = X @ w1 > 0
    fig, (ax,) = panels(1, 1, height=3.6)
    inside = 0.5 * ((h[:, own] - y[own]) ** 2).sum(axis=1) + 0.5 * (y[~own] ** 2).sum()
    ax.plot(s, inside, color="#D55E00", ls="--", lw=1.8, label="$L_P$: no datum of the cell let go")
    ax.plot(s, 0.5 * ((np.maximum(h, 0.0) - y) ** 2).sum(axis=1), color="#0072B2", lw=2.4,
            label="loss $L$")  # fmt: skip
    for at, value, name in ((0.0, inside[0], names[0]), (1.0, 0.0, names[1])):
        value = 0.5 * ((np.maximum(h[int(at * 200)], 0.0) - y) ** 2).sum()
        ax.plot(at, value, ls="", marker="o", ms=7, color=style.INK, clip_on=False, zorder=5)
        ax.annotate(name, (at, value), (12 if at == 0 else -12, -16), textcoords="offset points",
                    ha="left" if at == 0 else "right")  # fmt: skip
    ax.set(xlabel="$s$ on the segment $(1-s)\\,w_1^* + s\\,w_2^*$", ylabel="loss")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(0.0, 1.08 * float(inside.max()))
    legend_below(fig)
    return fig


@in_house_style
def parting(paths: dict[str, Trajectory], X: NDArray, datum: int, touch: float) -> Figure:
    """x_j.w(t) of starts that part where the boundary is touched: whole, and near the time `touch`.

    The paths are drawn in their order, later ones thinner, so that those that coincide all show.
    """
    fig, (left, right) = panels(1, 2, height=3.9)
    looks = (("#0072B2", "-", 4.5), ("#D55E00", "-", 4.5), ("#56B4E9", "--", 2.2),
             ("#F0C090", "--", 2.2))  # fmt: skip
    for ax, t in (
        (left, np.linspace(0.0, 4.0 * touch, 801)),
        (right, np.linspace(0.95 * touch, 1.05 * touch, 401)),
    ):
        for (name, path), (colour, line, width) in zip(paths.items(), looks, strict=False):
            ax.plot(t, path.at(t) @ X[datum], color=colour, ls=line, label=name, lw=width)
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.set(xlabel="time $t$", ylabel=f"$x_{{{datum + 1}}}\\cdot w(t)$", xlim=(t[0], t[-1]))
    left.set_yscale("symlog", linthresh=30.0)
    left.set(ylim=(-1000, 300), title="(a) the whole flow, linear below 30")
    right.set(ylim=(-0.6, 0.3), title="(b) near the touch")
    legend_below(fig, columns=2)
    return fig


@in_house_style
def norm_shares(
    norms: NDArray, start: NDArray, share: NDArray, loss_gap: NDArray, n: int
) -> Figure:
    """Share of data active at the start and in the limit, and the limit's loss gap, against |w0|.

    Parameters: norms (k,), the others (k, m), one row a norm; n data in each of the m data sets.
    """
    fig, (left, right) = panels(1, 2, height=3.9)
    hits = np.rint(share * n).sum(axis=1)
    trials = np.full(len(norms), n * share.shape[1])
    label = "norm of the start, $\\|w_0\\| / \\|w_{lin}\\|$"
    share_points(left, norms, np.rint(start * n).sum(axis=1), trials, "active at the start",
                 series=1, xlabel=label, ylabel="share of the data")  # fmt: skip
    share_points(left, norms, hits, trials, "active in the limit", xlabel=label,
                 ylabel="share of the data")  # fmt: skip
    quartiles = np.quantile(loss_gap, (0.25, 0.5, 0.75), axis=1)
    right.fill_between(norms, quartiles[0], quartiles[2], color="#0072B2", alpha=0.2, lw=0,
                       label="middle half of the data sets")  # fmt: skip
    right.plot(norms, loss_gap.mean(axis=1), color="#0072B2", marker="o", ms=5,
               label="mean over the data sets")  # fmt: skip
    right.set(xscale="log", xlabel=label, ylabel="loss above global, in units of $L(0)$")
    right.set_ylim(bottom=-0.02)
    legend_below(fig)
    return fig
