"""Pictures of chapter 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import frame, style
from reluflow.figures.frame import CurveName, Window, fresh, name_curves, point_out
from reluflow.figures.style import datum_colour, in_house_style, legend_below, panels
from reluflow.figures.weight_space import (
    activation_boundaries,
    cells,
    flow,
    loss_levels,
    solution_lines,
    stationary_sets,
    weight_plane,
)
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet, enumerate_cells
from reluflow.papers.lee2022support.deep import backpropagate, labels_of
from reluflow.papers.lee2022support.dynamics import alpha_star
from reluflow.papers.lee2022support.examples import Experiment
from reluflow.papers.lee2022support.landscape import gradient, local_minima, loss
from reluflow.papers.lee2022support.linear import LinearNeuron, linear_neuron
from reluflow.papers.lee2022support.setting import crossings, virtual_minimum

# --- The figures of Lee, Sim & Ye 2022a, and ours beside them, from computed objects --------------


@in_house_style
def terminology(X2: NDArray, y2: NDArray, X6: NDArray, y6: NDArray, cell: ArrayLike) -> Figure:
    """Figure 1: (a) one datum's boundary and solution line, (b) the stationary set of two data, (c)
    six data's cells, and the virtual minimum of the cell of weight `cell` (2,) outside it."""
    titles = ("(a) one datum", "(b) two data", "(c) the cells of six data")
    fig, (a, b, c) = panels(1, 3, height=2.9, titles=titles)
    window = (-1.6, 2.4, -1.6, 2.4)
    for ax in (a, b, c):
        weight_plane(ax, window, equal=True)
    activation_boundaries(a, X2[:1])
    solution_lines(a, X2[:1], y2[:1])
    cells(a, X2[:1], names=False)
    for at, words in (((1.4, 2.0), "active\n$x_1 \\cdot w > 0$"),
                      ((-0.7, -1.1), "inactive\n$x_1 \\cdot w < 0$"),
                      ((1.3, -0.4), "$x_1\\cdot w = y_1$")):  # fmt: skip
        frame.halo_text(a, np.array(at), words, fontsize=8.5)
    minima = local_minima(X2, y2)
    activation_boundaries(b, X2)
    solution_lines(b, X2, y2)
    stationary_sets(b, minima, X2)
    annotate_minima(b, minima, _rank)
    activation_boundaries(c, X6)
    cells(c, X6, names=False)
    active = X6 @ np.asarray(cell) > 0
    w, _ = virtual_minimum(X6, y6, active)
    c.plot(*np.asarray(cell), ls="", marker="o", ms=5, color=style.INK, label="$w$")
    c.plot(*w, ls="", label="$w_P^*$", marker="P", ms=9, mfc="#F0E442", mec=style.INK, zorder=5)
    for ax in (b, c):
        name_curves(ax)
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
    return (float(low[0] - room[0]), float(high[0] + room[0]), float(low[1] - room[1]),
            float(high[1] + room[1]))  # fmt: skip


@in_house_style
def plane_flows(
    X: NDArray, y: NDArray, minima: Sequence[StationarySet], paths: Sequence[Trajectory],
    window: Window | None = None, radius: float | None = None,
) -> Figure:  # fmt: skip
    """Figure 3: level curves, cells, all stationary sets and the flows in the weight plane, and the
    circle of starts of a norm `radius`, which makes the scales of both axes equal."""
    fig, (ax,) = panels(height=5.6 if radius else 4.6)
    weight_plane(ax, window or window_of_interest(minima, paths), equal=bool(radius))
    loss_levels(ax, X, y, floor=minima[0].loss if minima else None)
    stationary_sets(ax, minima, X)
    for path in paths:
        flow(ax, path)
    if radius:
        turn = np.linspace(0.0, 2.0 * np.pi, 361)
        ax.plot(radius * np.cos(turn), radius * np.sin(turn), color=style.INK, ls="--", lw=1.4,
                label=f"$|w_0| = {radius:g}$", zorder=2.9)  # fmt: skip
    activation_boundaries(ax, X)
    cells(ax, X)
    annotate_minima(ax, minima, _loss_at)
    if len(paths) > 5:  # words beside a curve would lie on others
        for line in ax.lines:  # what stands for an event in the legend has no size on the picture
            if not line.get_markersize():
                hollow = line.get_label() != "a datum switches off"
                line.set(
                    marker="D", ms=4.5, mec=style.QUIET, mfc="white" if hollow else style.QUIET
                )
        legend_below(fig)
    else:
        name_curves(ax)
    return fig


@in_house_style
def switching(runs: Sequence[Experiment], data: Sequence[int], titles: Sequence[str]) -> Figure:
    """x_k.w along the ReLU and the linear flow, a panel an experiment, its datum k from 0."""
    fig, axes = panels(1, len(runs), height=3.0, titles=titles)
    for ax, run, k in zip(axes, runs, data, strict=True):
        preactivations(ax, _both(run, 0), run.X[k], run.y[k], datum=k, step=run.step)
        name_curves(ax)
    return fig


def _both(run: Experiment, start: int) -> Paths:
    """The flows of both neurons from one of the starts."""
    return {"linear flow": run.linear_flows[start], "ReLU flow": run.flows[start]}


def weight_space(run: Experiment) -> Figure:
    """The flows of an experiment where they can be seen: the plane, or else their curves."""
    if run.X.shape[1] == 2:
        return plane_flows(run.X, run.y, run.minima, run.flows)
    return activity_curves(run)


def activity_curves(run: Experiment) -> Figure:
    """The curves of five data, those with events first, from the start with most events."""
    k = max(range(len(run.flows)), key=lambda k: len(run.flows[k].events))
    events = (*run.flows[k].events, *run.linear_flows[k].events)
    order = dict.fromkeys([*(event.datum for event in events), *range(len(run.y))])
    return losses_and_preactivations(run, k, sorted(list(order)[:5]))


def example_curves(run: Experiment) -> Figure:
    """Figures 12 and 13: `losses_and_preactivations` of all data over the printed iterations."""
    return losses_and_preactivations(run, 0, range(len(run.y)), run.iterations)


@in_house_style
def losses_and_preactivations(
    run: Experiment, start: int, data: Sequence[int], until: float | None = None
) -> Figure:
    """Figures 12 and 13: loss curves, and x_i.w of some data along both flows from one of the
    starts, against iterations t / step."""
    columns = 2 if len(data) in (1, 3) else 3
    rows = -(-(1 + len(data)) // columns)
    fig, axes = panels(rows, columns, height=2.2 * rows)
    paths = _both(run, start)
    loss_curves(axes[0], paths, run.X, run.y, step=run.step, until=until)
    for ax, j in zip(axes[1:], data, strict=False):
        preactivations(ax, paths, run.X[j], run.y[j], datum=j, step=run.step, until=until)
        kinds = [e.kind for e in run.flows[start].events if e.datum == j]
        ends = {"deactivate": " is lost", "activate": " comes back"}
        ax.set_title(style.datum_name(j) + (ends.get(kinds[-1], "") if kinds else ""))
    for ax in axes[1 + len(data) :]:
        ax.set_visible(False)
    for k, ax in enumerate(axes):
        name_curves(ax, *axes[k + 1 :])
    return fig


@in_house_style
def segment_losses(
    X: NDArray, y: NDArray, w1: NDArray, w2: NDArray, names: tuple[str, str]
) -> Figure:
    """The loss, and L_P of the cell of w1, on the segment from w1 (s = 0) to w2 (s = 1)."""
    s = np.linspace(0.0, 1.0, 201)
    h = ((1.0 - s)[:, None] * w1 + s[:, None] * w2) @ X.T
    own = X @ w1 > 0
    fig, (ax,) = panels(height=3.0)
    inside = 0.5 * ((h[:, own] - y[own]) ** 2).sum(axis=1) + 0.5 * (y[~own] ** 2).sum()
    L = 0.5 * ((np.maximum(h, 0.0) - y) ** 2).sum(axis=1)
    words = "$L_P$, which the proof goes on with"
    ax.plot(s, inside, color="#D55E00", ls="--", lw=1.8, label=words)
    ax.plot(s, L, color="#0072B2", lw=2.4, label="loss $L$")
    for k, name, offset in ((0, names[0], (46.0, -14.0)), (200, names[1], (-50.0, 18.0))):
        ax.plot(s[k], L[k], ls="", marker="o", ms=7, color=style.INK, clip_on=False, zorder=5)
        point_out(ax, name, (s[k], L[k]), offset)
    kink = int(np.argmax(L))
    gone = int(np.flatnonzero((h[kink + 2] <= 0) & own)[0])
    point_out(ax, f"{style.datum_name(gone)} is let go", (s[kink], L[kink]), (-20.0, 28.0))
    ax.set(xlabel="$s$ on the segment $(1-s)\\,w_1^* + s\\,w_2^*$", ylabel="loss")
    ax.set(xlim=(-0.02, 1.02), ylim=(L.min() - 0.2 * np.ptp(L), L.max() + 0.8 * np.ptp(L)))
    name_curves(ax)
    return fig


@in_house_style
def parting(paths: dict[str, Trajectory], X: NDArray, datum: int, touch: float) -> Figure:
    """x_j.w(t) of starts that part at the time `touch`, where the boundary is touched. The paths
    are drawn in their order, later ones thinner, so that those that coincide all show."""
    fig, (ax,) = panels(height=3.3)
    looks = (("#0072B2", "-", 4.5), (style.QUIET, "-", 4.5), ("#A6D2EC", "--", 2.2),
             ("#D0D0D0", "--", 2.2))  # fmt: skip
    t = np.linspace(0.0, 4.0 * touch, 801)
    for (name, path), (colour, line, width) in zip(paths.items(), looks, strict=False):
        ax.plot(t, path.at(t) @ X[datum], color=colour, ls=line, label=name, lw=width)
    ax.set(xlabel="time $t$", ylabel=f"$x_{{{datum + 1}}}\\cdot w(t)$", xlim=(t[0], t[-1]))
    ax.axhline(0.0, color=style.INK, lw=0.9)
    ax.text(0.02, 0.03, "inactive", transform=ax.transAxes, color=style.QUIET, fontsize=8.5)
    name_curves(ax)
    return fig


@in_house_style
def norm_shares(found: pd.DataFrame, n: int) -> Figure:
    """Of `survey_norms`, data sets of n data each: the shares of data active at the start and in
    the limit, and the limit's loss gap, against |w0|."""
    import seaborn as sns  # with SciPy's laws, half a second for which no other picture waits

    fig, (left, right) = panels(1, 2, height=3.2)
    norms, loss_gap = found.index.to_numpy(), found["excess"].to_numpy()
    trials = np.full(len(norms), n * loss_gap.shape[1])
    label = "norm of the start, $\\|w_0\\| / \\|w_{lin}\\|$"
    gap = float(np.diff(np.sort(np.log10(norms))).min())  # in decades
    reach = 10.0 ** (0.7 * gap)
    left.set(xscale="log", xlim=(norms.min() / reach, norms.max() * reach), xlabel=label)
    # One series stands a little sideways, so that intervals do not coincide.
    for at, column, name, colour, marker in (
        (norms * 10.0 ** (0.1 * gap), "start", "active at the start", "#117733", "D"),
        (norms, "share", "active in the limit", "#0072B2", "o"),
    ):
        hits = np.rint(found[column] * n).sum(axis=1)
        style.shares(left, at, hits, trials, color=colour, marker=marker, lw=1.4, label=name)
    left.set(ylim=(-0.03, 1.03), ylabel="share of the data")
    sns.lineplot(x=np.repeat(norms, loss_gap.shape[1]), y=loss_gap.ravel(), errorbar=("pi", 50),
                 ax=right, color="#0072B2", err_kws={"lw": 0}, marker="o",
                 label="mean of the data sets", legend=False)  # fmt: skip
    end = np.array([norms[-2], 0.9 * np.quantile(loss_gap[-1], 0.75)])
    frame.halo_text(right, end, "middle half", color="#0072B2")
    right.set(xscale="log", xlabel=label, ylabel="loss above global, in units of $L(0)$")
    right.set_ylim(bottom=-0.02)
    for ax in (left, right):
        name_curves(ax)
    return fig


@in_house_style
def missed(found: pd.DataFrame) -> Figure:
    """The shares of `recorded_misses` over n and d, each with its interval, in percent."""
    import seaborn as sns

    ends = 100.0 * found[["share", "low", "high"]]
    words = [f"{s:.1f} %\n({a:.0f} to {b:.0f})" for s, a, b in ends.itertuples(index=False)]
    shares, told = (
        found.assign(told=words, share=ends.share).pivot(index="d", columns="n", values=name)
        for name in ("share", "told")
    )
    fig, (ax,) = panels(height=3.0)
    sns.heatmap(
        shares, annot=told, fmt="", cmap="Blues", vmin=0.0, vmax=50.0, ax=ax, linewidths=0.5,
        annot_kws={"size": 8, "color": style.INK}, cbar=False,
    )  # fmt: skip
    ax.set(xlabel="data, $n$", ylabel="dimensions, $d$")
    ax.tick_params(axis="y", rotation=0)
    return fig


# --- The book's first picture: Example 5.1, small enough for half a page and for a phone ----------


@in_house_style
def surprise(run: Experiment) -> Figure:
    """The flows of an experiment in the plane, and its isolated local minima with their ranks."""
    minima = [minimum for minimum in run.minima if minimum.dimension == 0]
    fig = Figure(figsize=(4.9, 3.4), layout="constrained")
    ax = fig.subplots()
    weight_plane(ax, window_of_interest(minima, run.flows))
    loss_levels(ax, run.X, run.y, floor=minima[0].loss)
    stationary_sets(ax, minima, run.X)
    for path in run.flows:
        flow(ax, path, events=False)
    ax.annotate("small start", (0.0, 0.0), (8.0, -9.0), textcoords="offset points")
    annotate_minima(ax, minima, _rank)
    return fig


def _loss_at(minimum: StationarySet) -> str:
    return ("global minimum\n" if minimum.rank == 1 else "") + f"$L = {minimum.loss:.3f}$"


def _rank(minimum: StationarySet) -> str:
    return "global minimum" if minimum.rank == 1 else f"rank {minimum.rank}"


# --- Figures 6 and 7, and boundaries that linear flows cross many times ---------------------------

RECTANGLE = OLD = "#009E73"
ELLIPSE, NEW = "#E69F00", "#CC79A7"
PULL = "#C62828"
SPAN = "#44AA99"


@in_house_style
def hyperrectangle(net: LinearNeuron) -> Figure:
    """Figure 6 (b): for d = 2 the rectangle of H in the norm-increasing ellipse g < 0, both centred
    at w*/2, and the linear flow from 0."""
    fig, (ax,) = panels(height=3.6)
    edge = _ellipse(net, np.linspace(0.0, 2.0 * np.pi, 361))
    low, high = edge.min(axis=0), edge.max(axis=0)
    pad = 0.10 * float(np.max(high - low))
    room = 0.45 * np.ptp(edge[:, 1])  # for the names beside the ellipse
    weight_plane(ax, (low[0] - room, high[0] + room, low[1] - pad, high[1] + pad), equal=True)
    ax.fill(*edge.T, color=ELLIPSE, alpha=0.10, lw=0, zorder=0.5)
    ax.plot(*edge.T, color=ELLIPSE, lw=1.8, label="$g = 0$: inside, the norm grows")
    _rectangle(ax, net, RECTANGLE)
    for k, half in enumerate(np.sqrt(net.height / net.eigenvalues)):
        ends = 0.5 * net.minimum + np.outer([-1.0, 1.0], half * net.axes[:, k])
        ax.plot(*ends.T, color=style.QUIET, lw=1.2, ls=(0, (1.0, 1.2)), label=f"$e_{k + 1}$")
    ax.plot(*(0.5 * net.minimum), ls="", marker="x", color=style.INK, ms=7, label="$w^*/2$")
    flow(ax, affine_flow(net.X, net.y, np.zeros(2), "linear"), "linear flow", events=False)
    ax.plot(*net.minimum, ls="", zorder=5.0, label="$w^*$", **style.MARKERS["global minimum"])
    name_curves(ax)
    return fig


def _ellipse(net: LinearNeuron, turn: NDArray) -> NDArray:
    """Points (k, 2) of the curve g = 0 of a neuron in the plane, at the angles turn (k,)."""
    half_axes = np.sqrt(net.height / net.eigenvalues)
    return 0.5 * net.minimum + net.at(np.column_stack([np.cos(turn), np.sin(turn)]) * half_axes)


@in_house_style
def reduction(X: NDArray, y: NDArray, starts: Sequence[ArrayLike]) -> Figure:
    """Figure 7, seen from the side: linear flows from `starts` in R^3 on data X (n, 3) of rank 2,
    by their height over the span of the data and by how far their projections onto it have come;
    the starts have one projection. The minima are a line across the span."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    across = np.cross(X[0], X[1])
    across /= np.linalg.norm(across)
    paths = [affine_flow(X, y, w0, "linear") for w0 in starts]
    way = paths[0].end - paths[0].at(np.zeros(1))[0]
    fig, (ax,) = panels(height=2.8)
    reach = 1.25 * max(abs(float(np.asarray(w0, float) @ across)) for w0 in starts)
    ax.set(xlim=(-0.15, 1.3), ylim=(-reach, reach), xlabel="share of the way in the span",
           ylabel="height over the span")  # fmt: skip
    ax.axhline(0.0, color=SPAN, lw=3.0, alpha=0.5)
    ax.plot([1.0, 1.0], [-reach, reach], color=style.GLOBAL, lw=3.0, label="line of minima")
    curve = style.CURVES["linear flow"]
    for path in paths:
        W = path.at(path.grid(100))
        share, height = (W - W[0]) @ way / (way @ way), W @ across
        ax.plot(share, height, color=curve["color"], ls=curve["ls"], lw=curve["lw"],
                label=fresh(ax, "linear flow"))  # fmt: skip
        ax.plot([share[0]] * 2, [height[0], 0.0], color=style.QUIET, lw=1.2, ls=":",
                label=fresh(ax, r"projection $\varphi$"))  # fmt: skip
        ax.plot(share[:1], height[:1], ls="", **style.MARKERS["initial point"])
    ax.plot([0.0, 1.0], [0.0, 0.0], color=style.INK, lw=1.8, label="projected flow, of both")
    ax.plot([1.0], [0.0], ls="", zorder=6.0, **style.MARKERS["global minimum"])
    point_out(ax, r"span $\overline{W}$", (1.2, 0.0), (0.0, 18.0))
    name_curves(ax)
    return fig


# --- Figures 9 and 11, redrawn from computed flows; the norm's overshoot --------------------------

NORMS_VIRTUAL = {"marker": "P", "ms": 9, "mec": style.INK, "zorder": 5.0, "ls": ""}
"""Below the end of a path, which may lie on it."""


def _rectangle(ax: Axes, net: LinearNeuron, colour: str, line: str = "-") -> None:
    ring = net.vertices[[0, 2, 3, 1, 0]]
    ax.plot(*ring.T, color=colour, ls=line, lw=1.6, label="hyperrectangle", zorder=3)


def _arrows(
    ax: Axes, origin: NDArray, net: LinearNeuron, length: float, colour: str, mark: str
) -> None:
    """The eigenvectors, the fastest one first, as arrows from `origin` (2,), named."""
    for k, e in enumerate(net.axes.T[::-1], start=1):
        ax.annotate("", origin + length * e, origin, zorder=5,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4})  # fmt: skip
        ax.text(*(origin + 1.22 * length * e), f"${mark}_{k}$", color=colour, ha="center",
                va="center", fontsize=9, zorder=6)  # fmt: skip


def _shade(ax: Axes, X: NDArray, y: NDArray, active: NDArray, colour: str) -> LinearNeuron:
    """The linear neuron of the cell with these active data, which is shaded."""
    (a, b), (c, d) = ax.get_xlim(), ax.get_ylim()
    grid = np.stack(np.meshgrid(np.linspace(a, b, 240), np.linspace(c, d, 240)), axis=-1)
    inside = ((grid @ X.T > 0.0) == active).all(axis=-1)
    ax.contourf(grid[..., 0], grid[..., 1], inside.astype(float), levels=[0.5, 1.5],
                colors=[colour], alpha=0.13, zorder=0.2)  # fmt: skip
    return linear_neuron(X[active], y[active])


@in_house_style
def crossing(X: NDArray, y: NDArray, path: Trajectory, window: Window) -> Figure:
    """Figure 9: the first crossing of a flow: rectangles, eigenvectors, virtual minima."""
    step = crossings(X, path)[0]
    fig, (ax,) = panels(height=4.9)
    weight_plane(ax, window, equal=True)
    reach = 0.09 * (window[1] - window[0])
    corner = np.array([window[1] - 4.6 * reach, window[3] - 1.6 * reach])
    for active, colour, tilde, line in (
        (step.before, OLD, "", "-"),
        (step.after, NEW, "\\tilde ", "--"),
    ):
        net = _shade(ax, X, y, active, colour)
        _rectangle(ax, net, colour, line)
        ax.plot(*net.minimum, mfc=colour, label=f"$w^*_{{{tilde}P}}$", **NORMS_VIRTUAL)
        shift = np.array([2.6 * reach if tilde else 0.0, 0.0])
        _arrows(ax, corner + shift, net, reach, colour, f"{tilde}e")
        side = window[2] if active[step.datum] == (X[step.datum][1] < 0) else window[3]
        frame.halo_text(ax, np.array([window[0] + reach, side - np.sign(side) * reach]),
                        f"cell ${tilde}P$", color=colour, fontsize=9)  # fmt: skip
    activation_boundaries(ax, X, [step.datum])
    flow(ax, path)
    name_curves(ax)
    return fig


@in_house_style
def cell_dynamics(X: NDArray, y: NDArray, window: Window) -> Figure:
    """Figure 11: the two cells that the flow from 0 enters by losing a datum, their w_P^*,
    hyperrectangle and ellipse; (a) with eigenvectors, (b) the cell that holds its w_P^*."""
    titles = ("(a) $w_P^*$ outside $P$: the flow leaves", "(b) $w_P^*$ in $P$: the flow stays")
    fig, axes = panels(1, 2, height=4.2, titles=titles, sharey=True)
    path = affine_flow(X, y, 1e-9 * X.T @ y)
    for ax, step in zip(axes, crossings(X, path), strict=True):
        weight_plane(ax, window, equal=True)
        net = _shade(ax, X, y, step.after, OLD)
        if ax is axes[0]:
            along = np.linalg.norm(net.minimum) * net.axes[:, 0]
            slow = net.minimum + np.outer([-9.0, 9.0], along)
            ax.plot(*slow.T, color=style.QUIET, ls=":", lw=1.4, zorder=2, label="along $e_2$")
            length = 0.15 * (window[1] - window[0])
            corner = np.array([window[0] + 1.6 * length, window[2] + 0.6 * length])
            _arrows(ax, corner, net, length, style.INK, "e")
        ax.plot(*net.minimum, mfc=OLD, label="$w_P^*$", **NORMS_VIRTUAL)
        edge = _ellipse(net, 0.5 * np.pi - np.linspace(0.0, 2.0 * np.pi, 241))
        ax.plot(*edge.T, color=ELLIPSE, lw=1.4, label="$g_P = 0$: inside, the norm grows",
                zorder=2.8)  # fmt: skip
        _rectangle(ax, net, OLD)
        flow(ax, path, "ReLU flow", arrows=1)
        activation_boundaries(ax, X, _edges(X, step.after))
        name_curves(ax)
    axes[1].set_ylabel("")
    return fig


def _edges(X: NDArray, active: NDArray) -> list[int]:
    """The data on whose boundaries the cell ends, no two of them parallel."""
    cells = {tuple(row) for row in enumerate_cells(X).patterns.tolist()}
    across = active ^ np.eye(len(active), dtype=bool)
    return [j for j, row in enumerate(across.tolist()) if tuple(row) in cells]


@in_house_style
def overshoot(X: ArrayLike, y: ArrayLike, v: ArrayLike, sizes: Sequence[float]) -> Figure:
    """|w(t)|^2 - |w^*|^2 over eps^2 along flows from eps v: it rises above zero and falls back."""
    fig, (ax,) = panels(height=3.2)
    t = np.linspace(0.0, 3.5, 1001)
    for k, eps in enumerate(sizes):
        path = affine_flow(X, y, eps * np.asarray(v, float))
        above = ((path.at(t) ** 2).sum(axis=1) - path.end @ path.end) / eps**2
        ax.plot(t, above, color=style.pale("#0072B2", 1.0 - 0.32 * k),
                label=f"$\\varepsilon = {eps:g}$")  # fmt: skip
        if k == 0:
            top = int(np.argmax(above))
            point_out(ax, "above its limit,\nand back", (t[top], above[top]), (75.0, 22.0))
    ax.axhline(0.0, color=style.INK, lw=0.9)
    ax.set(xlabel="time $t$", ylim=(-0.02, 0.06), xlim=(0.0, 3.5),
           ylabel="$(|w(t)|^2 - |w^*|^2)\\,/\\,\\varepsilon^2$")  # fmt: skip
    name_curves(ax)
    return fig


# --- Figures 8 and 10, from computed objects: a boundary, and all the cells -----------------------


@in_house_style
def circle_of_cells(X: NDArray) -> Figure:
    """Figure 10: the cells of X (n, 2) around the circle, clockwise from the third quadrant on,
    so that the second comes next, and the active data of each."""
    fig, (plane,) = panels(height=4.3)
    weight_plane(plane, (-1.5, 1.5, -1.5, 1.5), equal=True)
    activation_boundaries(plane, X, names=False)
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    plane.plot(np.cos(turn), np.sin(turn), color=style.INK, lw=1.2)
    # Angles in degrees, 225 down to -135, at which the circle meets the boundaries.
    across = np.degrees(np.arctan2(X[:, 1], X[:, 0]))
    both = np.concatenate([across + 90.0, across - 90.0])
    ends = np.unique(np.round(np.where(both <= -135.0, both + 360.0, both), 9))[::-1]
    middles = 0.5 * (ends + np.append(ends[1:], ends[0] - 360.0))
    for k, a in enumerate(np.deg2rad(middles), start=1):
        active = np.flatnonzero(X @ (np.cos(a), np.sin(a)) > 0) + 1
        names = "{" + ", ".join(map(str, active)) + "}" if len(active) else "∅"
        for radius, words, colour in ((1.3, names, style.QUIET), (0.78, f"$P_{k}$", style.INK)):
            at = radius * np.array([np.cos(a), np.sin(a)])
            frame.halo_text(plane, at, words, color=colour, fontsize=8.5, zorder=4)
    cells(plane, X, names=False)
    plane.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    return fig


@in_house_style
def across_boundary(X: NDArray, y: NDArray, w: NDArray, datum: int, window: Window) -> Figure:
    """Figure 8: (a) a point w on the boundary of x_j, the least of L there, and the line through it
    along x_j; (b) the loss on that line, with its two slopes at w, the line's parabolas."""
    x = X[datum] / np.linalg.norm(X[datum])
    fig, (plane, line) = panels(
        1, 2, height=3.4, titles=("(a) weight space", f"(b) the loss along $x_{datum + 1}$")
    )
    minima = local_minima(X, y)
    weight_plane(plane, window)
    loss_levels(plane, X, y, floor=minima[0].loss)
    stationary_sets(plane, minima, X)
    activation_boundaries(plane, X)
    reach = 1.35
    plane.plot(*np.array([w - reach * x, w + reach * x]).T, color="#0072B2", lw=2.2, zorder=3)
    s = np.linspace(-reach, reach, 271)
    line.plot(s, loss(X, y, w + s[:, None] * x), color="#0072B2", lw=2.2, label="loss $L$")
    here = float(loss(X, y, w))
    for side, name in ((1.0, "slope from $P_+$"), (-1.0, "slope from $P_-$")):
        slope = float(loss(X, y, w + side * 1e-6 * x) - here) / (side * 1e-6)
        ends = np.array([-0.75, 0.75])
        line.plot(ends, here + slope * ends, color=style.QUIET, ls="--", lw=1.4, label=name)
    plane.plot(*w, ls="", marker="o", ms=7, color=style.INK, zorder=5, label="$w^*$")
    line.plot(0.0, here, ls="", marker="o", ms=7, color=style.INK, zorder=5)
    point_out(line, "a kink upwards:\nnot a minimum", (0.0, here), (0.0, 70.0))
    line.axvline(0.0, color=style.datum_colour(datum), lw=1.2)
    line.text(0.03, 0.05, "$P_-$", transform=line.transAxes)
    line.text(0.97, 0.05, "$P_+$", transform=line.transAxes, ha="right")
    line.set(xlabel=f"$s$ in $w^* + s\\,x_{datum + 1}/|x_{datum + 1}|$", ylabel="loss")
    line.set_xlim(-reach, reach)
    annotate_minima(plane, minima, _loss_at)
    for ax in (plane, line):
        name_curves(ax)
    return fig


# --- Figure 5 of Lee, Sim & Ye 2022a: label back-propagation, drawn from a computed network -------

FORWARD, LABEL = "#0072B2", style.INK
IDLE = "#BBBBBB"


@in_house_style
def label_backpropagation(weights: Sequence[NDArray], x: NDArray, y: NDArray) -> Figure:
    """A network of a few units on one datum, in columns, one a layer: the outputs o, errors delta
    and labels of its units, and the weights on the edges between them. Parameters: weights W^(m)
    (h_m, h_{m-1}), x (d,), y (h_l,)."""
    found = backpropagate(weights, x[None], y[None])
    labels = [of_layer[0] for of_layer in labels_of(found, y[None])]
    fig, (ax,) = panels(height=3.9)
    put, columns = partial(ax.text, ha="center", va="center"), [x, *(o[0] for o in found.outputs)]
    # Units of a layer from the top, evenly around 0.
    places = [1.15 * (0.5 * (len(o) - 1) - np.arange(len(o))) for o in columns]
    for m, W in enumerate(weights):
        for j, k in np.ndindex(W.shape):
            ends = np.array([[m, places[m][k]], [m + 1, places[m + 1][j]]])
            used = columns[m][k] != 0 and (m == len(weights) - 1 or columns[m + 1][j] > 0)
            ax.plot(*ends.T, color=style.QUIET if used else IDLE, lw=1.0 if used else 0.6,
                    ls="-" if used else ":", zorder=1)  # fmt: skip
            at = ends[0] + (0.33 + 0.16 * (k % 2)) * (ends[1] - ends[0])
            put(*at, _number(float(W[j, k])), color=style.INK if used else style.QUIET, fontsize=8,
                zorder=2, bbox={"fc": "white", "ec": "none", "pad": 1.0})  # fmt: skip
    for m, (column, heights) in enumerate(zip(columns, places, strict=True)):
        for j, (value, height) in enumerate(zip(column, heights, strict=True)):
            idle = 0 < m < len(columns) - 1 and value <= 0
            ax.plot(m, height, ls="", marker="o", ms=22, mfc="#EEEEEE" if idle else "white",
                    mec=IDLE if idle else FORWARD, mew=1.6, zorder=3)  # fmt: skip
            put(m, height, _number(value), color=style.QUIET if idle else FORWARD, zorder=4,
                fontweight="bold")  # fmt: skip
            if m > 0:
                delta, label = _number(found.deltas[m - 1][0, j]), _number(labels[m - 1][j])
                put(m, height - 0.33, rf"$\delta = {delta}$", color=PULL, zorder=4)
                put(m, height - 0.53, rf"$y = {label}$", color=LABEL, zorder=4)
    top = max(h.max() for h in places) + 0.55
    for m in range(len(columns)):
        put(m, top, "input $x$" if m == 0 else f"layer {m}: $o^{{({m})}}$")
    bottom = min(h.min() for h in places) - 0.65
    put(0, bottom, "forward: outputs $o$ \u2192", color=FORWARD)
    put(m, bottom, "\u2190 backward: $\\delta$, labels $y$", color=PULL, ha="right")
    ax.set(xlim=(-0.35, len(columns) - 0.65), ylim=(bottom - 0.15, top + 0.2))
    ax.axis("off")
    return fig


def _number(value: float) -> str:
    """A value with at most two decimals, the minus sign a proper one."""
    return f"{value + 0.0:.3g}".replace("-", "\u2212")


# --- Figure 2 of Lee, Sim & Ye 2022a, and ours on what happens at an activation boundary ----------


@in_house_style
def training_dynamics(
    deactivated: tuple[NDArray, NDArray, Trajectory, Window],
    scaled: tuple[NDArray, NDArray, NDArray, Sequence[Trajectory], Window],
) -> Figure:
    """Figure 2: (a) the flow that lets a datum go; (b) the gradients along a ray, and flows.
    Parameters: (a) X (n, 2), y (n,), the flow and the window; (b) X, y, a point w0 (2,) on the ray,
    flows and the window."""
    fig = Figure(figsize=(style.TEXT_WIDTH, 4.3), layout="constrained")
    a, b = fig.subplots(1, 2, width_ratios=(2, 3))
    a.set_title("(a) a datum is let go")
    b.set_title("(b) along a ray")
    X, y, path, window = deactivated
    weight_plane(a, window, equal=True)
    solution_lines(a, X, y)
    flow(a, path)
    everything = np.ones(len(y), bool)
    for active, name in ((everything, "$w^*_{P_0}$"), (X @ path.end > 0, "$w^*_{P_1}$")):
        w, _ = virtual_minimum(X, y, active)
        a.plot(*w, label=name, mfc=OLD, **NORMS_VIRTUAL)
    activation_boundaries(a, X)
    cells(a, X)
    X, y, w0, paths, window = scaled
    weight_plane(b, window, equal=True)
    for path in paths:
        flow(b, path, arrows=1, events=False)
    stars = [float(alpha_star(X, y, w0, j) or np.nan) for j in range(len(y))]
    b.plot(*np.outer(w0, [0.0, 1.6 * max(stars)]), color=style.QUIET, lw=1.0, ls=":",
           label=r"ray $\alpha w_0$", zorder=2.4)  # fmt: skip
    points = np.outer(np.linspace(0.15, 1.5, 9) * max(stars), w0)
    arrows = np.array([-gradient(X, y, w) for w in points])
    reach = 0.16 * (window[1] - window[0]) / np.linalg.norm(arrows, axis=1).max()
    _quiver(b, points, reach * arrows, PULL)
    tip = points[-1] + reach * arrows[-1]
    point_out(b, r"$-\nabla L(\alpha w_0)$", (tip[0], tip[1]), (-14.0, -34.0))
    for j, star in enumerate(stars):
        b.plot(*(star * np.asarray(w0)), ls="", marker="^", ms=8, mfc=datum_colour(j),
               mec=style.INK, mew=0.8, zorder=5.8, label=rf"$\alpha_{j + 1}^* w_0$")  # fmt: skip
    activation_boundaries(b, X)
    cells(b, X)
    for ax in (a, b):
        name_curves(ax)
    return fig


def _quiver(ax: Axes, starts: NDArray, v: NDArray, colour: str) -> None:
    """Arrows v (k, 2) at `starts` (k, 2), as long as they are."""
    ax.quiver(*starts.T, *v.T, angles="xy", scale_units="xy", scale=1.0, color=colour, width=0.006,
              zorder=4.2)  # fmt: skip


@in_house_style
def boundary_cases(
    X: NDArray, y: NDArray, points: ArrayLike, step: float, window: Window
) -> Figure:
    """What a flow does on the boundary of x_1: at each of the `points` (k, 2) on it, the direction
    of the velocity on either side, drawn from the point shifted into it by `step`."""
    fig, (ax,) = panels(height=4.2)
    weight_plane(ax, window, equal=True)
    unit, points = X[0] / np.linalg.norm(X[0]), np.asarray(points, float)
    for sign, colour, name, offset in (
        (1.0, PULL, "velocity where\n$x_1$ is active", (70.0, 25.0)),
        (-1.0, style.INK, "velocity where\n$x_1$ is inactive", (-20.0, -65.0)),
    ):
        starts = points + sign * step * unit
        v = np.array([-gradient(X, y, w) for w in starts])
        v *= 0.5 / np.linalg.norm(v, axis=1, keepdims=True)
        _quiver(ax, starts, v, colour)
        tip = starts[1] + v[1]
        point_out(ax, name, (tip[0], tip[1]), offset)
    ax.plot(*points.T, ls="", marker="o", ms=5, color=style.INK, zorder=5.0)
    activation_boundaries(ax, X)
    cells(ax, X)
    return fig


# --- Curves over time: preactivations h_i(t) = x_i.w(t) and losses L(w(t)) ------------------------
#
# All are drawn against iterations: the time t of a flow is iteration t / step.

Paths = Mapping[str, Trajectory]


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
    # Two fifths of the time to 1e-12 leave of a transient a share that no eye can tell from 0.
    settled = (max(float(path.t[-1]), 0.4 * path.settled) / step for path in paths.values())
    end = max(settled) if until is None else float(until)
    events = (event.t / step for path in paths.values() for event in path.events)
    start = min((t for t in events if t > 0), default=end) / 2
    start = max(end * 1e-8, min(end * 1e-4, start))
    clocks = {}
    for name, path in paths.items():
        # A path without limit is known up to its last knot only.
        last = end if path.has_limit else min(end, float(path.t[-1]) / step)
        own, last = path.t / step, max(last, start)
        knots = own[(own <= last) & (own > start)]
        clocks[name] = np.sort(np.concatenate([knots, np.geomspace(start, last, 400)]))
    return clocks


def time_axis(ax: Axes, clocks: Mapping[str, NDArray]) -> None:
    """Set scale, limits and label of the time axis."""
    ax.set_xscale("log")
    ax.xaxis.minorticks_off()  # of four decades and more
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
        ax.plot(t, h, label=name, **curve)
        own = [e for e in path.events if e.datum == datum]
        when = np.array([e.t for e in own]) / step
        low, high = ax.get_xlim()
        for e, at in zip(own, when, strict=True):
            if low <= at <= high:
                # Coinciding events of two paths both show, one at the very start in full.
                ax.plot(at, float(path.at(np.array([e.t]))[0] @ x), ls="", marker="D",
                        ms=max(8.5 - 2.5 * k, 3.5), mec=curve["color"], mew=1.3, clip_on=False,
                        mfc=curve["color"] if e.kind == "deactivate" else "white",
                        zorder=5.0)  # fmt: skip
        ax.plot(1.015, float(path.end @ x), ls="", marker="<", ms=7, mew=0.0, color=curve["color"],
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
    values = {name: loss(X, y, states(path, clocks[name], step), name.split()[0].lower())
              for name, path in trajectories.items()}  # fmt: skip
    low = top = max(float(np.max(v)) for v in values.values())
    floor = 1e-12 * top  # below it a loss that tends to zero is rounding noise, not a curve
    for name, v in values.items():
        low = min(low, float(np.min(v[v > floor], initial=top)))
        drawn = np.where(v > floor, v, np.nan)
        ax.plot(clocks[name], drawn, label=name, **style.CURVES[name])
    if top > 0:  # else every path stands at zero loss, where a logarithmic axis shows nothing
        pad = max((top / low) ** 0.06, 1.05)
        ax.set_ylim(low / pad, top * pad)


# --- What several of these pictures draw ----------------------------------------------------------


@in_house_style
def annotate_minima(
    ax: Axes, minima: Sequence[StationarySet], text: Callable[[StationarySet], str]
) -> None:
    """Write text(minimum) beside each isolated minimum in the window, clear of what is drawn."""
    for minimum in minima:
        w = np.asarray(minimum.w, float)
        if minimum.dimension == 0 and frame.inside(ax, w):
            (place,) = ax.plot(*w, ls="", marker="o", ms=0.0)
            ax.add_artist(CurveName(text(minimum), place))
