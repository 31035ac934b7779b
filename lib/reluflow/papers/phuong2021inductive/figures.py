"""Pictures of chapter 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from matplotlib.ticker import LogLocator, MultipleLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray
from scipy.optimize import nnls

from reluflow.figures import style
from reluflow.figures.frame import halo_text, name_curves, point_out
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.geometry.separability import serves, silent
from reluflow.papers.phuong2021inductive import networks, sectors, setting
from reluflow.papers.phuong2021inductive.cnn import ACROSS, MINUS, PLUS, Shown
from reluflow.papers.phuong2021inductive.flows import Late
from reluflow.papers.phuong2021inductive.limit import constant
from reluflow.papers.phuong2021inductive.networks import HIGH, SPECTRUM, Case, Course, Look
from reluflow.papers.phuong2021inductive.own_data import Trained
from reluflow.papers.phuong2021inductive.sectors import Fates, unit
from reluflow.papers.phuong2021inductive.setting import Limit, height, top_plane

# --- Pictures of G on the circle, and of the chance that neurons die ------------------------------

POSITIVE, NEGATIVE = "#D55E00", "#0072B2"
"""Colours of whatever belongs to a positive, or to a negative, label or output weight."""
FIRST, SECOND = "#117733", "#AA4499"
"""Colours of what has no sign."""
PALE = {"$S_{\\sigma^+}$": "#FBE0CF", "$S_{\\sigma^-}$": "#D3E6F4", "no datum active": "#D9D9D9"}
_TURNS = np.linspace(-np.pi, np.pi, 1441)


@in_house_style
def hills(data: Sequence[tuple[str, NDArray, NDArray]]) -> Figure:
    """For each (title, X (n, 2), y (n,)): G along the circle with its strict local maxima and
    minima, and the directions of the data; the sectors (13) and (14) and the silent directions are
    coloured."""
    fig, axes = panels(1, len(data), height=3.6, titles=[title for title, _, _ in data])
    for ax, (_, X, y) in zip(axes, data, strict=True):
        for name, arcs in _arcs(X, y).items():
            for first, last in arcs:
                ax.axvspan(first, last, color=PALE[name], lw=0.0, zorder=0.1)
            style.legend_entry(ax, name, color=PALE[name], lw=7.0)
        ax.plot(np.degrees(_TURNS), height(X, y, unit(_TURNS)), color=style.INK, lw=1.3)
        for sign, colour, marker, name in ((1.0, POSITIVE, "^", "strict maximum"),
                                           (-1.0, NEGATIVE, "v", "strict minimum")):  # fmt: skip
            W = setting.extremal_directions(X, y, sign)
            ax.plot(np.degrees(np.arctan2(*W.T[::-1])), height(X, y, W), marker=marker, ls="", ms=8,
                    color=colour, zorder=5, label=name)  # fmt: skip
        for label, name in ((1.0, "datum, $y = +1$"), (-1.0, "datum, $y = -1$")):
            turns = np.degrees(np.arctan2(*X[y == label].T[::-1]))
            ax.plot(turns, 0.0 * turns, ls="", ms=8, mew=1.8, label=name, **_datum(label))
        ax.set(xlim=(-180, 180), xlabel="direction (degrees)")
        ax.xaxis.set_major_locator(MultipleLocator(90))
    axes[0].set_ylabel("$G$")
    legend_below(fig, columns=4)
    return fig


@in_house_style
def dying(gaps: NDArray, found: Sequence[Fates]) -> Figure:
    """The chance that one neuron dies against the angle between the labels, with signs fixed before
    and with signs chosen afterwards, and the closed forms."""
    fig, (ax,) = panels(1, 1, height=3.5)
    fine = np.linspace(90.0, 175.0, 120)
    plus, minus, either = np.array([sectors.chances(*sectors.plane(gap)) for gap in fine]).T
    for line, hits, colour, label in zip(
        (0.5 * (plus + minus), either), np.transpose([each.dead for each in found]),
        (FIRST, SECOND), ("sign drawn by itself", "sign chosen after $w_j(0)$"), strict=True,
    ):  # fmt: skip
        ax.plot(fine, line, color=colour, lw=1.3, label=label)
        style.shares(ax, gaps, hits, len(found[0].positive), color=colour, marker="o", ls="")
    ax.axhline(0.5, color=style.INK, lw=0.9, ls=":", label="bound of the proof")
    ax.set(xlabel="angle between the labels (degrees)", ylabel="chance", ylim=(0.0, 0.85))
    name_curves(ax)
    return fig


@in_house_style
def separability(data: Sequence[tuple[str, NDArray, NDArray, NDArray | None, str]]) -> Figure:
    """For each (title, X (n, 2), y (n,), w, message): the data, and the half-planes of w if it
    separates the labels, with the line between them."""
    fig, axes = panels(1, len(data), height=3.0, titles=[each[0] for each in data])
    for ax, (_, points, labels, w, message) in zip(axes, data, strict=True):
        _bare(ax, xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
        if w is not None:
            turn = np.degrees(np.arctan2(w[1], w[0]))
            for side, colour in zip((-90.0, 90.0), PALE.values(), strict=False):
                ax.add_patch(Wedge((0.0, 0.0), 3.0, turn + side, turn + side + 180.0, color=colour,
                                   lw=0.0))  # fmt: skip
            ax.axline((0.0, 0.0), (-w[1], w[0]), color=style.INK, lw=0.9, ls=(0, (4, 2)))
        for x, label in zip(points, labels, strict=True):
            ax.plot([0.0, x[0]], [0.0, x[1]], color=_datum(label)["color"], lw=0.9)
            ax.plot(*x, ls="", ms=9, mew=2.0, **_datum(label))
        ax.set_xlabel(message, fontsize=9)
    return fig


@in_house_style
def forces(X: NDArray, y: NDArray, w: NDArray, astray: NDArray) -> Figure:
    """The forces on a neuron with a_j > 0 at a KKT point: (a) those of the support examples add up
    to w (2,), the max-margin vector of the positive data of X (n, 2), y (n,); (b) on the neuron
    `astray` (2,) every datum that activates it exerts one that leads off the negative datum most
    active."""
    titles = "(a) held: the forces add up to $w_+$", "(b) not held: all lead off $x_-$"
    fig, (left, right) = panels(1, 2, height=3.3, titles=titles)
    held = X[y > 0]
    place = np.zeros(2)
    for x, size in zip(held, nnls(held.T, w)[0], strict=True):
        if size > 0.0:
            _force(left, place, place + size * x, POSITIVE)
            halo_text(left, place + 0.5 * size * x + [0.02, -0.01], "force", color=POSITIVE)
            place = place + size * x
    _force(left, np.zeros(2), w, style.INK)
    halo_text(left, 0.55 * w + [-0.01, 0.015], "$w_+$")
    seen = X @ astray > 0.0
    worst = X[seen & (y < 0)][np.argmax(X[seen & (y < 0)] @ astray)]
    turn = np.degrees(np.arctan2(worst[1], worst[0]))
    right.add_patch(Wedge((0.0, 0.0), 3.0, turn - 90.0, turn + 90.0, color=PALE["$S_{\\sigma^-}$"],
                          lw=0.0))  # fmt: skip
    for x, label in zip(X[seen], y[seen], strict=True):
        way, mark = x / np.linalg.norm(x), _datum(label)
        right.plot(*(1.15 * way), ls="", ms=9, mew=2.0, **mark)
        _force(right, np.zeros(2), 0.75 * label * way, mark["color"])
    _force(right, np.zeros(2), astray / np.linalg.norm(astray), style.INK)
    halo_text(right, 1.12 * astray / np.linalg.norm(astray), "$w_j$")
    halo_text(right, 1.35 * worst / np.linalg.norm(worst), "$x_-$", color=NEGATIVE)
    halo_text(right, -0.75 * np.array([1.0, 1.0]), "$x_-$ is active", color=NEGATIVE)
    right.set(xlim=(-1.6, 1.6), ylim=(-1.2, 1.45))
    _bare(left)
    _bare(right)
    return fig


def _bare(ax: Axes, **limits: Any) -> None:
    ax.set(aspect="equal", xticks=[], yticks=[], **limits)
    ax.spines[:].set_visible(False)


def _force(ax: Axes, foot: NDArray, tip: NDArray, colour: str) -> None:
    ax.plot(*np.array([foot, tip]).T, lw=0.0)  # arrows alone do not set the limits
    ax.annotate("", tip, foot, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8,
                                           "shrinkA": 0, "shrinkB": 0})  # fmt: skip


def _arcs(X: NDArray, y: NDArray) -> dict[str, list[list[float]]]:
    """The arcs (from, to) of the circle, in degrees, on which directions lie in the sectors (13),
    (14), and in none that sees a datum, by their name in PALE."""
    U = unit(_TURNS)
    dead = silent(X, U)
    held = serves(X, y, U, 1.0) & ~dead, serves(X, y, U, -1.0) & ~dead, dead
    found = {}
    for name, inside in zip(PALE, held, strict=True):
        arcs = np.ma.clump_unmasked(np.ma.array(_TURNS, mask=~inside))
        found[name] = [np.degrees(_TURNS[[arc.start, arc.stop - 1]]).tolist() for arc in arcs]
    return found


def _datum(label: float) -> dict[str, str]:
    return {"marker": "+", "color": POSITIVE} if label > 0 else {"marker": "_", "color": NEGATIVE}


# --- The distance from the limit of Theorem 1 along flows, in pictures ----------------------------

_LN10 = float(np.log(10.0))
_LIMIT_FLOOR = 1e-7


@in_house_style
def distances(spanning: Sequence[Late], few: Sequence[Late], sizes: Sequence[Late]) -> Figure:
    """Distance of (8) against log10(1/L), logarithmic axes: starts near zero for support examples
    that span and that do not; starts of several norms with their asymptotes."""
    titles = "starts near zero", "starts of norm 0.1, 1 and 10"
    fig, (left, right) = panels(1, 2, height=3.7, sharey=True, titles=titles)
    for found, colour, dash, name in (
        (spanning, FIRST, "-", "support examples span"),
        (few, SECOND, (0, (5, 2)), "they do not"),
    ):
        for k, each in enumerate(found):
            shown = np.where(each.distances[:, 0] > _LIMIT_FLOOR, each.distances[:, 0], np.nan)
            left.loglog(each.tau / _LN10, shown, color=colour, ls=dash, lw=1.3,
                        label="_" if k else name)  # fmt: skip
    for k, each in enumerate(sizes):
        right.loglog(each.tau / _LN10, each.distances[:, 0], color=style.INK, lw=1.2,
                     label="_" if k else "flow")  # fmt: skip
        law = np.sqrt(constant(each) / each.tau)
        right.loglog(each.tau / _LN10, law, color=style.QUIET, ls=(0, (1, 1.2)), lw=1.6,
                     label="_" if k else "closed form")  # fmt: skip
    x = np.array([10.0, 4e5])  # above the flows
    for power, text in ((-1.0, "slope −1"), (-0.5, "slope −1/2")):
        left.loglog(x, 1.5 * (x / x[0]) ** power, color=style.QUIET, lw=0.8, ls=(0, (4, 2)),
                    label=text)  # fmt: skip
    for ax in (left, right):
        ax.set_xlabel("$\\log_{10}(1/\\ell)$")
        name_curves(ax)
    left.set(ylabel="distance of (8)", ylim=(_LIMIT_FLOOR, 3.0))
    return fig


# --- Neurons in the plane from tiny weights to the limit: they turn, grow, and turn again ---------

_START = 0.4


@in_house_style
def turning(late: Late) -> Figure:
    """The paths of all neurons of a flow in the plane, those with a_j > 0 in one panel and those
    with a_j < 0 in the other: the angle is the direction, the radius grows with log |w_j|. The acts
    stand at the path that turns farthest."""
    titles = ("(a) neurons with $a_j > 0$", "(b) neurons with $a_j < 0$")
    fig, axes = panels(1, 2, height=3.9, titles=titles)
    t, p = np.linspace(0.0, late.begun, 400), len(late.given.signs)
    Z = late.path.at(t)  # the first leg evenly in time, and the moments of the second
    U = np.concatenate([Z[:, : 2 * p].reshape(len(t), p, 2), late.U])
    R = np.concatenate([Z[:, 2 * p :], late.R])
    U = U / np.linalg.norm(U, axis=2, keepdims=True)
    start = float(R[0].mean())
    radii = np.maximum(_START + (1.0 - _START) * (R - start) / (R.max() - start), 0.0)
    for ax, sign, colour in zip(axes, (1.0, -1.0), (POSITIVE, NEGATIVE), strict=True):
        _cones(ax, late.given.X, late.given.y, sign)
        _targets(ax, late, sign)
        living = late.own(sign)
        for j in np.flatnonzero(late.given.signs == sign).tolist():
            points = radii[:, j, None] * U[:, j]
            ax.plot(*points.T, color=colour, lw=1.3, zorder=3.0)
            ax.plot(*points[0], ls="", marker="o", ms=4.5, color=colour, zorder=4.0)
            if j not in living:
                ax.plot(*points[-1], ls="", marker="o", ms=6.0, mfc="white", mec=colour, zorder=5.0)
        far = living[np.argmin(np.sum(U[0, living] * U[-1, living], axis=1))]
        path = radii[:, far, None] * U[:, far]
        half = int(np.argmin(np.abs(np.linalg.norm(U[:, far] - U[0, far], axis=1) - 0.5)))
        out = int(np.argmin(np.abs(radii[:, far] - 0.5 * (_START + radii[-1, far]))))
        last = path[-1] / np.linalg.norm(path[-1])
        aside = last - path[out] / np.linalg.norm(path[out])  # from the sum towards the limit
        aside *= 26.0 / np.linalg.norm(aside)
        point_out(ax, "1 turn", tuple(path[half]), tuple(-45.0 * path[half]))
        point_out(ax, "2 grow", tuple(path[out]), tuple(-aside))
        point_out(ax, "3 turn again", tuple(path[-1]), tuple(aside))
        dead = np.setdiff1d(np.flatnonzero(late.given.signs == sign), living)
        if len(dead):
            end = radii[-1, dead[0]] * U[-1, dead[0]]
            point_out(ax, "dies", tuple(end), tuple(60.0 * end))
    return fig


def _cones(ax: Axes, X: NDArray, y: NDArray, sign: float) -> None:
    """The sectors; words in that of the other label, where no path ends; data outside."""
    _bare(ax, xlim=(-1.3, 1.3), ylim=(-1.2, 1.2))
    for name, arcs in _arcs(X, y).items():
        for first, last in arcs:
            ax.add_patch(Wedge((0.0, 0.0), 1.0, first, last, color=PALE[name], lw=0.0))
    ax.add_patch(Circle((0.0, 0.0), _START, fill=False, ec=style.QUIET, lw=0.7))
    word = "negative" if sign > 0 else "positive"
    other = X[y == -sign].sum(axis=0)
    halo_text(ax, 0.7 * other / np.linalg.norm(other), f"active on\nthe {word}\ndata", fontsize=9,
              color=NEGATIVE if sign > 0 else POSITIVE)  # fmt: skip
    for x, label in zip(X, y, strict=True):
        ax.plot(*(1.07 * x / np.linalg.norm(x)), ls="", ms=8, mew=1.8, **_datum(label))


def _targets(ax: Axes, late: Late, sign: float) -> None:
    """The sum of the data of a label, where its neurons go first, and its max-margin vector."""
    total = late.given.X[late.given.y == sign].sum(axis=0)
    for v, dash, name in (
        (total, (0, (1.0, 1.5)), "sum"),
        (late.limit.vectors[sign], (0, (5.0, 2.0)), "$w_+$" if sign > 0 else "$w_-$"),
    ):
        u = v / np.linalg.norm(v)
        ax.plot(*np.array([0.0 * u, u]).T, color=style.INK, lw=1.0, ls=dash, zorder=2.0)
        halo_text(ax, 1.19 * u, name, fontsize=9)


# --- A reader's network while it trains: where its neurons point, and how far the limit is --------


@in_house_style
def training(trained: Trained) -> Figure:
    """(a) Cosines to w_+ or w_- in the first phase. (b) Distance of (8) against log10(1/loss)."""
    titles = ("(a) directions", "(b) the way to the limit")
    fig, (left, right) = panels(1, 2, height=3.4, titles=titles)
    flow = trained.own.optimiser == "flow"
    left.set(xscale="log", xlabel="$t$" if flow else "epoch", ylabel="cosine", ylim=(-1.05, 1.05))
    for sign, colour, dash, name in (
        (1.0, POSITIVE, "-", "$a_j > 0$, to $w_+$"),
        (-1.0, NEGATIVE, (0, (5, 2)), "$a_j < 0$, to $w_-$"),
    ):
        lines = trained.cosines(sign)
        if lines.shape[1]:
            left.plot(trained.path.clock, lines, color=colour, ls=dash, lw=0.9)
            style.legend_entry(left, name, color=colour, ls=dash, lw=0.9)
    shown = (trained.path.tau > 0.0) & (trained.distances > 0.0)
    right.loglog(trained.path.tau[shown] / _LN10, trained.distances[shown], color=style.INK)
    right.set(xlabel="$\\log_{10}(1/\\ell)$", ylabel="distance of (8)")
    legend_below(fig, columns=2)
    return fig


# --- Figures 3 and 4, and how features become separable along training ----------------------------

_KINDS = {
    ACROSS: (SECOND, "a 0 and a 1"),
    MINUS: (NEGATIVE, "two images of 0"),
    PLUS: (POSITIVE, "two images of 1"),
}
"""The three kinds of pair; the label of a 1 is positive."""
_SIDES = ("-", style.INK), ((0, (4.0, 2.0)), style.QUIET)
"""Before the ReLU, and after it."""
_RANKS = "the largest first"
_DIRECTIONS = {"xlabel": "singular direction 1", "ylabel": "singular direction 2"}


@in_house_style
def similarity(run: Shown) -> Figure:
    """Figure 3: the distributions of inner products of pixels and of features, layer by layer and
    before the ReLU, in units of the mean of |f|^2."""
    layers = run.before()
    titles = ["pixels", *(f"layer {k}" for k in range(1, len(layers)))]
    fig, axes = panels(2, 4, height=4.4, titles=titles)
    for ax, pairs in zip(axes, layers, strict=True):
        for kind, (colour, name) in _KINDS.items():  # densities, each with the same area
            counts = np.array(pairs.counts[kind], float)
            edges = np.linspace(pairs.edges[0], pairs.edges[1], len(counts) + 1)
            heights = counts / counts.sum() / np.diff(edges)
            ax.stairs(heights, edges, color=colour, fill=True, alpha=0.25)
            ax.stairs(heights, edges, color=colour, lw=1.2, label=name)
        ax.axvline(0.0, color=style.INK, lw=0.9)
        ax.set(ylim=(0.0, None), yticks=[])
        ax.spines["left"].set_visible(False)
    for ax in axes[-4:]:
        ax.set_xlabel(r"$\langle f_i, f_j\rangle$ / mean $|f|^2$")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def along_training(runs: Mapping[str, Shown]) -> Figure:
    """The share of pairs that violate (OS) against epochs, at layer 7; a panel a run."""
    fig, axes = panels(1, len(runs), height=3.2, titles=list(runs))
    for ax, run in zip(axes, runs.values(), strict=True):
        late = run.epochs > 0
        for (side, violated), (line, colour) in zip(run.violated.items(), _SIDES, strict=True):
            shares = np.maximum(violated[late], _CONVOLUTIONAL_FLOOR)
            ax.loglog(run.epochs[late], shares, ls=line, color=colour, label=side)
        ax.set(xlabel="epoch", ylim=(_CONVOLUTIONAL_FLOOR / 1.5, 1.0))
        wide = run.epochs[-1] > 50 * run.epochs[late][0]
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes[0].set_ylabel("share that violates (OS)")
    name_curves(*axes)
    return fig


_CONVOLUTIONAL_FLOOR = 1e-6
"""Where no pair of a sample violates, the share is drawn here."""


@in_house_style
def weights(runs: Mapping[str, Shown]) -> Figure:
    """Figure 4: W_7's ten largest singular values, and its rows in the top two; a row a run."""
    titles = [f"{name}: {what}" for name in runs for what in ("singular values", "neurons")]
    fig, axes = panels(len(runs), 2, height=2.9 * len(runs) + 0.3, titles=titles)
    for k, run in enumerate(runs.values()):
        left, right = axes[2 * k : 2 * k + 2]
        ranks = np.arange(1, SPECTRUM + 1)
        left.plot(ranks, run.singular[:SPECTRUM], "o", color=FIRST, ms=5)
        left.set(ylim=(0.0, None), xlabel=_RANKS)
        left.locator_params("y", nbins=4)
        left.set_xticks(ranks[::3])
        _signed(right, run.plane, run.second, "W_8[j]")
    legend_below(fig, columns=2)
    return fig


@in_house_style
def rays_and_clusters(planes: Mapping[str, tuple[NDArray, NDArray]]) -> Figure:
    """Neurons in the top two singular directions of their matrix, and the sign of their entry in
    the layer above; a panel a run: the rows (h, 2), and the entries (h,)."""
    titles = [f"({chr(97 + k)}) {name}" for k, name in enumerate(planes)]
    rows = -(-len(planes) // 2)
    fig, axes = panels(rows, 2, height=2.9 * rows + 0.3, titles=titles)
    for ax, (first, second) in zip(axes, planes.values(), strict=True):
        _signed(ax, first, second, "a_j")
    legend_below(fig, columns=2)
    return fig


def _signed(ax: Axes, plane: NDArray, second: NDArray, name: str) -> None:
    for positive, colour in ((True, POSITIVE), (False, NEGATIVE)):
        rows = (second > 0) == positive
        ax.plot(*plane[rows].T, "o", color=colour, ms=4.5, mew=0.0, alpha=0.6,
                label=f"${name} {'>' if positive else '<'} 0$")  # fmt: skip
    ax.axhline(0.0, color=style.QUIET, lw=0.6, zorder=0)
    ax.axvline(0.0, color=style.QUIET, lw=0.6, zorder=0)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(**_DIRECTIONS)


# --- Figures 1 and 2 over many seeds, and where their numbers come from ---------------------------

_BINS = np.linspace(-0.2, 1.0, 25)


@in_house_style
def two_layers(runs: Sequence[Course], look: Look, goal: Limit) -> Figure:
    """Figure 1: singular values of all runs; the neurons of one run; correlations of all runs."""
    fig, axes = panels(1, 3, height=3.3, titles=["(a) singular values", "(b) neurons of one run",
                                                 "(c) correlations"])  # fmt: skip
    _spectra(axes[0], runs, 0)
    _neurons(axes[1], look.W, look.a, goal)
    _correlations(axes[2], runs)
    legend_below(fig, columns=3)
    return fig


@in_house_style
def four_layers(
    runs: Sequence[Course], look: Look, goal: Limit, others: Mapping[str, Sequence[Course]]
) -> Figure:
    """Figure 2: the same for the three hidden layers of a residual net, and its first layer's
    correlations; beside them those of two `others`, by name."""
    hidden = look.weights[:-1]
    titles = [f"({chr(97 + k)}) values, $W_{k + 1}$" for k in range(3)]
    titles += [f"({chr(100 + k)}) rows, $W_{k + 1}$" for k in range(3)]
    names = ["four layers", *others]
    titles += [f"({chr(103 + k)}) {name}" for k, name in enumerate(names)]
    fig, axes = panels(3, 3, height=8.0, titles=titles)
    for k, W in enumerate(hidden):
        _spectra(axes[k], runs, k)
        _neurons(axes[3 + k], W, look.a, goal if k == 0 else None)
    for ax, each in zip(axes[6:], [runs, *others.values()], strict=True):
        _correlations(ax, each)
    legend_below(fig, columns=3)
    return fig


def _spectra(ax: Axes, runs: Sequence[Course], layer: int) -> None:
    ranks = np.arange(1, SPECTRUM + 1)
    for name, each, look in (
        ("end of training, all runs", [run.end for run in runs],
         {"marker": "o", "color": FIRST, "ms": 4.5, "alpha": 0.6}),
        ("start", [run.start for run in runs], {"marker": "_", "color": style.INK, "ms": 8}),
    ):  # fmt: skip
        values = np.array([found.singular[layer] for found in each])
        ax.plot(np.tile(ranks, len(each)), values.ravel(), ls="", mew=0.9, **look)
        style.legend_entry(ax, name, ls="", **look)
    ax.set(ylim=(0.0, None), xticks=ranks[::3], xlabel=_RANKS)


def _neurons(ax: Axes, W: NDArray, a: NDArray, goal: Limit | None) -> None:
    """The rows of W in its top two singular directions, and the directions of w_+ and w_-; in
    words how far from them the mean neurons are in all dimensions."""
    plane = top_plane(W)
    for sign, colour, dash in ((1.0, POSITIVE, "-"), (-1.0, NEGATIVE, (0, (4, 2)))):
        rows = np.sign(a) == sign
        ax.plot(*plane[rows].T, "o", color=colour, ms=5.0, mew=0.0, alpha=0.6)
        ax.plot([], [], "o", color=colour, label=f"$a_j {'>' if sign > 0 else '<'} 0$")
        if goal is None:
            continue
        basis = np.linalg.lstsq(W, plane, rcond=None)[0]
        w, mean = goal.vectors[sign], W[rows].mean(axis=0)
        way = w @ basis
        way *= np.linalg.norm(plane, axis=1).max() / np.linalg.norm(way)
        name = f"w_{'+' if sign > 0 else '-'}"
        ax.plot(*np.array([[0.0, 0.0], way]).T, color=style.INK, lw=1.0, ls=dash, zorder=0)
        words = f"{networks.degrees_between(mean, w):.0f}° to ${name}$"
        place = 0.75 * way + [0.0, 0.3 * np.ptp(plane[:, 1])]
        halo_text(ax, place, words, fontsize=9, color=colour)
    ax.margins(0.08, 0.45)
    ax.locator_params("y", nbins=4)
    ax.set(**_DIRECTIONS)


def _correlations(ax: Axes, runs: Sequence[Course]) -> None:
    counts = np.array([np.histogram(run.end.cosines, _BINS)[0] for run in runs])
    ax.stairs(counts.mean(axis=0), _BINS, fill=True, color=FIRST, alpha=0.35,
              label="neurons a bin, mean of the runs")  # fmt: skip
    ax.axvline(HIGH, color=style.INK, lw=0.9, ls=(0, (2, 2)))
    ax.set(xlabel="cosine with $w_\\pm$", ylabel="neurons", yticks=[0, 20, 40])


@in_house_style
def dials(
    long: Sequence[Course], scales: Mapping[str, Sequence[Course]], late: Late, n: int
) -> Figure:
    """Singular values along training; the share of high correlations from starts of several scales;
    and the angle between a group and its max-margin vector against log10(1/l), in the runs `long`
    on n data, of which the first has those of `late`, and along the flow of two neurons."""
    fig, axes = panels(1, 3, height=3.4, titles=["(a) singular values", "(b) cosines above 0.9",
                                                 "(c) angle to $w_\\pm$"])  # fmt: skip
    looks = [look for look in long[0].looks if look.epoch]
    epochs = [look.epoch for look in looks]
    for k in range(4):
        means = np.mean([[look.singular[0][k] for look in run.looks if look.epoch] for run in long],
                        axis=0)  # fmt: skip
        axes[0].loglog(epochs, means, color=FIRST if k < 2 else style.QUIET, lw=1.5)
    axes[0].axhline(long[0].start.singular[0][0], color=style.INK, lw=0.9, ls=(0, (2, 2)),
                    label="largest at the start")  # fmt: skip
    for (name, runs), shade in zip(scales.items(), np.linspace(0.25, 1.0, len(scales)),
                                   strict=True):  # fmt: skip
        at = [look.epoch for look in runs[0].looks[1:]]
        shares = np.mean([[look.high for look in run.looks[1:]] for run in runs], axis=0)
        axes[1].semilogx(at, shares, "o-", color=FIRST, alpha=shade, lw=1.4, ms=3.5)
        axes[1].annotate(f"× {name}", (at[-1], shares[-1]), xytext=(5, -3), fontsize=8,
                         textcoords="offset points", annotation_clip=False)  # fmt: skip
    axes[1].set(xlim=(30, 3e4), ylim=(-0.04, 1.04))
    for k, (sign, colour) in enumerate(((1.0, POSITIVE), (-1.0, NEGATIVE))):
        w = late.limit.vectors[sign]
        angles = networks.turned(late.U[:, k] @ w / np.linalg.norm(w))
        axes[2].loglog(late.tau / _LN10, angles, color=colour, lw=1.4,
                       label=f"flow, $a_j {'>' if sign > 0 else '<'} 0$")  # fmt: skip
        seen = [(-np.log10(look.loss * n), networks.turned(look.group[k]))
                for look in looks if look.loss * n < 0.3]  # fmt: skip
        axes[2].plot(*np.array(seen).T, "o", color=colour, ms=3.8, mew=0.0)
    axes[2].set(xlim=(0.5, 1e4), ylim=(0.1, 40.0), ylabel="degrees")
    for ax, xlabel in zip(axes, ("epochs", "epochs", "$\\log_{10}(1/\\ell)$"), strict=True):
        ax.set_xlabel(xlabel)
    name_curves(axes[0])
    name_curves(axes[2])
    return fig


@in_house_style
def broken(found: Sequence[Case]) -> Figure:
    """Left: the share of limits other than (8), and of data with several extremal directions of one
    sign, by the least cosine mu. Right: the smallest instance, where its neurons go, and w_+."""
    titles = "(a) data outside of (OS)", "(b) four data, three directions"
    fig, (left, right) = panels(1, 2, height=3.5, titles=titles)
    hits, trials, several = networks.counts(found)
    mu = np.array([case.mu for case in found if case.learnt])
    at = np.array(
        [np.median(mu[(mu >= low) & (mu < high)]) for low, high in pairwise(networks.EDGES)]
    )
    for count, colour, mark, name in (
        (hits, FIRST, "o", "limit other\nthan (8)"),
        (several, SECOND, "s", "several extremal\ndirections"),
    ):
        style.shares(left, at, count, trials, color=colour, marker=mark, lw=1.3, label=name)
    left.axvline(0.0, color=style.INK, lw=0.9, ls=(0, (2, 2)))
    left.annotate("(OS)", (0.02, 0.9), fontsize=9)
    name_curves(left)
    left.set(xlabel="$\\mu$, least cosine of two $y_i x_i$", ylabel="share", ylim=(-0.04, 1.04))
    for sign, colour, mark in ((1.0, POSITIVE, "+"), (-1.0, NEGATIVE, "_")):
        right.plot(*networks.X[sign == networks.Y].T, mark, color=colour, ms=9, mew=2.0)
        for way in networks.NEURONS[sign == networks.SIGNS]:
            end = 3.4 * way / np.linalg.norm(way)
            right.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour})
        word = f"$a_j {'>' if sign > 0 else '<'} 0$"
        halo_text(right, 0.6 * end + [0.0, 0.5], word, fontsize=9, color=colour)
    right.annotate("", (3.0, 0.0), (0, 0), arrowprops={"arrowstyle": "-|>", "color": style.QUIET,
                                                      "ls": "--"})  # fmt: skip
    right.annotate("$w_+$", (2.3, 0.2), color=style.QUIET)
    right.plot([0], [0], "+", color=style.INK, ms=6)
    right.set(xlim=(-3.8, 3.2), ylim=(-3.3, 3.3), aspect="equal")
    return fig
