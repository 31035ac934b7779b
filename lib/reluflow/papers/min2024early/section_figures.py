"""Pictures of the other sections of chapter 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Wedge
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.frame import fresh, halo_text
from reluflow.figures.style import INK, QUIET, in_house_style, legend_below, legend_entry, panels
from reluflow.flows.integrate import FlowPath
from reluflow.geometry.separability import signed
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early.figures import NEGATIVE, PALE, POSITIVE, regions
from reluflow.papers.min2024early.inclusions import Problem
from reluflow.papers.min2024early.lemmas import Followed
from reluflow.papers.min2024early.setting import cap, centres
from reluflow.papers.min2024early.toys import chance_astray

# --- Pictures of the cones in the plane, and of the chance of a near start ------------------------

CONE_COLOURS = {"$S_+$": POSITIVE, "$S_-$": NEGATIVE, "$S_{dead}$": style.QUIET}
HULL, CAP = "#117733", "#AA4499"
LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), "-.")


def hull(X: NDArray, y: NDArray) -> NDArray:
    """The angles (2,) between which K lies in the plane."""
    Z = signed(X, y)
    u = (Z / np.linalg.norm(Z, axis=1, keepdims=True)).sum(axis=0)
    turns = np.arctan2(Z @ np.array([-u[1], u[0]]), Z @ u)
    return np.arctan2(u[1], u[0]) + np.array([turns.min(), turns.max()])


@in_house_style
def cones_in_plane(data: Sequence[tuple[str, NDArray, NDArray]]) -> Figure:
    """The cones of data in the plane, a panel for each (title, X (n, 2), y (n,))."""
    fig, axes = panels(1, len(data), height=4.5, titles=[title for title, _, _ in data])
    for ax, (_, X, y) in zip(axes, data, strict=True):
        ax.set(xlim=(-1.52, 1.52), ylim=(-1.52, 1.52), aspect="equal")
        _bare(ax)
        for name, where in regions(X, y).items():
            words = name.replace("dead", r"\mathrm{dead}")
            for ends in np.array(where):
                _wedge(ax, ends, 1.0, 1.0, PALE[name], words, 1.0)
                place = 0.62 * np.array([np.cos(ends.mean()), np.sin(ends.mean())])
                halo_text(ax, place, words, fontsize=11, color=CONE_COLOURS[name], zorder=6)
        K = hull(X, y)
        _wedge(ax, K, 1.12, 0.1, HULL, "$K$", 0.9)
        _wedge(ax, K + np.pi, 1.12, 0.1, HULL, "$-K$", 0.35)
        half = np.arcsin(np.sqrt(cap(X, y)))
        for sign, u in centres(X, y).items():
            ends = np.arctan2(*(sign * u)[::-1]) + half * np.array([-1.0, 1.0])
            _wedge(ax, ends, 1.28, 0.1, CAP, "caps of $\\zeta_1$", 0.7)
            _arrow(ax, sign * u, CAP, "$x_+$" if sign > 0 else "$x_-$", 0.92)
        for label, x in zip(y, X, strict=True):
            _arrow(ax, x, POSITIVE if label > 0 else NEGATIVE, "", 0.8)
    legend_below(fig, columns=4)
    return fig


@in_house_style
def near_starts(mu: NDArray, chances: Mapping[int, NDArray], h: int) -> Figure:
    """P(zeta_2 <= mu^2) against mu (m,), a curve for each dimension D, for h neurons."""
    fig, (ax,) = panels(1, 1, height=3.4)
    for k, (D, chance) in enumerate(chances.items()):
        ax.plot(mu, chance, ls=LINES[k % 4], color=style.datum_colour(k), label=f"$D = {D}$")
    ax.set(xlabel="$\\mu$", ylabel=f"$P(\\zeta_2 \\leq \\mu^2)$, $h = {h}$", xlim=(0, 1),
           ylim=(0, 1.02))  # fmt: skip
    legend_below(fig, columns=4)
    return fig


def _bare(ax: Axes) -> None:
    """No frame and no ticks; `axis("off")` would leave the title out of the layout."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _wedge(
    ax: Axes, ends: NDArray, radius: float, width: float, colour: str, label: str, alpha: float
) -> None:
    ax.add_patch(
        Wedge((0.0, 0.0), radius, *np.degrees(ends), width=width, facecolor=colour,
              edgecolor="none", alpha=alpha, label=fresh(ax, label), zorder=1)
    )  # fmt: skip


def _arrow(ax: Axes, x: NDArray, colour: str, name: str, length: float) -> None:
    end = length * x / np.linalg.norm(x)
    line = "--" if name else "-"
    ax.annotate("", end, (0.0, 0.0), zorder=4,
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4, "ls": line,
                            "shrinkA": 0, "shrinkB": 0, "mutation_scale": 10})  # fmt: skip
    if name:
        halo_text(ax, 1.43 * end / length, name, fontsize=10, color=colour)


# --- What happens on a boundary of activity: the examples of Appendix E, and crossings ------------

BOUNDARIES_COLOURS = ("#0072B2", "#D55E00", "#117733", "#AA4499")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)))


@in_house_style
def no_and_many(
    polygons: Sequence[tuple[str, NDArray, NDArray]],
    departure: tuple[NDArray, NDArray],
    delays: Sequence[float],
    until: float,
) -> Figure:
    """p = <x, w> against time: E.3, Euler polygons (name, times, p), and E.4, its solutions.
    Parameters: `departure`, times and p of the path that leaves at once; `delays`, the moments t_0
    at which the solutions shown leave; `until`, the end of E.4's axis."""
    titles = ("E.3: $y = -1$, $σ'(0) = 1/2$", "E.4: $y = +1$, $σ'(0) = 0$")
    fig, (left, right) = panels(1, 2, height=3.8, titles=titles)
    for k, (name, times, p) in enumerate(polygons):
        left.plot(times, p, color=BOUNDARIES_COLOURS[k % 4], ls=DASHES[k % 4], label=name)
    _sides(left, "active, the flow goes down", "dead, at rest")
    left.set(xlabel="$t$", ylabel="$p = \\langle x, w\\rangle$", xlim=(0.0, 1.0))
    left.set_ylim(-0.12, 0.05)
    t, p = departure
    for k, t0 in enumerate(delays):
        moments = np.concatenate([[0.0, t0], t0 + t[1:]])
        right.plot(moments, np.concatenate([[0.0, 0.0], p[1:]]), color=BOUNDARIES_COLOURS[k % 4],
                   ls=DASHES[k % 4], label=f"leaves at $t_0 = {t0:g}$")  # fmt: skip
    right.plot([0.0, until], [0.0, 0.0], color=style.INK, lw=2.4, label="stays for ever")
    _sides(right, "active, the flow goes up", "dead, at rest")
    right.set(xlabel="$t$", xlim=(0.0, until), ylim=(-0.35, 1.9))
    legend_below(fig, columns=3)
    return fig


def _sides(ax: Axes, above: str, below: str) -> None:
    ax.axhline(0.0, color=style.INK, lw=0.9)
    for place, word, anchor in ((0.97, above, "top"), (0.03, below, "bottom")):
        ax.text(0.03, place, word, transform=ax.transAxes, va=anchor, fontsize=8.5,
                color=style.QUIET)  # fmt: skip


@in_house_style
def crossings(shown: Sequence[tuple[str, FlowPath, Problem]], until: Sequence[float]) -> Figure:
    """y_i sign(v_j) cos(x_i, w_j) of every datum i and neuron j along flows, against time: (title,
    path, problem) each, and where its axis ends. Under (A1) every curve rises through 0 at most
    once."""
    fig, axes = panels(1, len(shown), height=3.6, titles=[title for title, _, _ in shown],
                       sharey=True)  # fmt: skip
    for ax, (_, path, problem), end in zip(axes, shown, until, strict=True):
        times = np.linspace(0.0, min(end, float(path.t[-1])), 300)
        cosines = np.array([problem.chart.cosines(z, problem.X)[0] for z in path.at(times)])
        signed = problem.y[:, None] * problem.signs * cosines
        for i in range(len(problem.X)):
            for j in range(len(problem.signs)):
                ax.plot(times, signed[:, i, j], color=style.datum_colour(i), lw=1.5,
                        label=style.datum_name(i))  # fmt: skip
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.set(xlabel="$t$", xlim=(0.0, times[-1]), ylim=(-1.05, 1.05))
    axes[0].set(ylabel="$y_i\\,$sign$(v_j)\\,\\cos(x_i, w_j)$")
    legend_below(fig, columns=6)
    return fig


# --- The lemmas on small neurons: the room of their bounds, and how long they hold ----------------

LEMMAS_COLOURS = {EXPONENTIAL.name: "#0072B2", TWICE_LOGISTIC.name: "#117733",
                  LOGISTIC.name: "#D55E00"}  # fmt: skip
NAMES = {EXPONENTIAL.name: "exponential", TWICE_LOGISTIC.name: "2 log(1 + e$^{-q}$)",
         LOGISTIC.name: "log(1 + e$^{-q}$)"}  # fmt: skip
MARKS = {EXPONENTIAL.name: "o", TWICE_LOGISTIC.name: "s", LOGISTIC.name: "^"}


@in_house_style
def room(found: Followed) -> Figure:
    """The largest error of a direction (Lemma 1) and the largest |w_j|^2 (Lemma 3) up to T over
    their bounds, against ln(1 / (sqrt(h) eps)): above 0 a bound is broken."""
    fig, axes = panels(1, 2, height=3.9, titles=("Lemma 1: directions", "Lemma 3: norms"))
    for k, ax in enumerate(axes):
        for name, colour in LEMMAS_COLOURS.items():
            some = [(start, along) for start, along in found if start.loss.name == name]
            depth = np.array([-start.log_eps - 0.5 * np.log(start.h) for start, _ in some])
            with np.errstate(divide="ignore"):
                ratio = np.log10([along.largest(1.0)[k] for _, along in some])
            kept = np.isfinite(ratio)
            ax.plot(depth[kept], ratio[kept], marker=MARKS[name], mfc=colour, ms=4, mew=0.5,
                    mec="white", ls="", label=NAMES[name])  # fmt: skip
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.set(xlabel="$\\ln\\,1/(\\sqrt{h}\\,\\varepsilon)$", xscale="log")
    along_axis = np.geomspace(0.45, 120.0, 200)
    top = np.exp(-0.5 * along_axis)
    axes[1].plot(along_axis, np.log10(0.5 * top / (1.0 - 0.5 * top)), color=style.QUIET, lw=1.2,
                 label="bound proved here")  # fmt: skip
    axes[0].set(ylabel="$\\log_{10}$ of the largest value over its bound, $t \\leq T$")
    axes[1].set(ylim=(-30.0, 2.0))
    legend_below(fig, columns=4)
    return fig


@in_house_style
def lasting(random: Followed, worst: Followed) -> Figure:
    """max_j |w_j|^2 over its bound against t / T: random flows, and those of one neuron along one
    datum, whose ln eps the legend names. T is printed, 2 T proved."""
    fig, (ax,) = panels(1, 1, height=3.9)
    for _, along in random:
        ax.plot(along.times, along.log_ratios[:, 1] / np.log(10.0), color=style.QUIET, lw=0.6,
                alpha=0.5)  # fmt: skip
    for (start, along), colour, line in zip(worst, LEMMAS_COLOURS.values(), ("-", (0, (5, 2)), ":"),
                                            strict=False):  # fmt: skip
        ax.plot(along.times, along.log_ratios[:, 1] / np.log(10.0), color=colour, ls=line, lw=2.0,
                label=f"one neuron along one datum, $\\ln ε = {start.log_eps:g}$")  # fmt: skip
    style.legend_entry(ax, "random flows", color=style.QUIET, lw=0.8)
    ax.axhline(0.0, color=style.INK, lw=0.9)
    for t, name in ((1.0, "$T$, printed"), (2.0, "$2T$, proved")):
        ax.axvline(t, color=style.INK, lw=0.9, ls=(0, (4, 3)))
        ax.text(t - 0.03, -19.0, name, fontsize=9, ha="right")
    ax.set(xlabel="$t / T$", ylabel="$\\log_{10}\\ \\max_j \\|w_j\\|^2$ over its bound",
           xlim=(0.0, 3.0), ylim=(-20.0, 2.0))  # fmt: skip
    legend_below(fig, columns=2)
    return fig


@in_house_style
def pull_over_loss(losses: Sequence[Loss]) -> Figure:
    """(l'/l)^2 against the margin q of a datum: the factor of Lemma 15 is its least value for q >
    0, and eq. (50) needs it to be at most 1. A factor of the loss cancels."""
    fig, (ax,) = panels(1, 1, height=3.6)
    q = np.linspace(-2.0, 8.0, 301)
    for loss in losses:
        with np.errstate(over="ignore"):
            ratio = np.exp(2.0 * (loss.log_pull(q, np.ones(1)) - loss.log_terms(q, np.ones(1))))
        name = loss.name
        label = NAMES[name] if name == EXPONENTIAL.name else "logistic, of either factor"
        ax.plot(q, ratio, color=LEMMAS_COLOURS[name], label=label,
                ls="-" if name == EXPONENTIAL.name else (0, (5, 2)))  # fmt: skip
    best = 0.25 / np.log(2.0) ** 2
    ax.plot([0.0], [best], marker="o", ms=6, mfc="white", mec=style.INK, ls="",
            label="$1/(2\\ln 2)^2 = 0.52$, the best factor")  # fmt: skip
    ax.axhline(0.25, color=style.QUIET, lw=1.0, ls=(0, (1, 1.5)), label="1/4, printed")
    ax.axvline(0.0, color=style.INK, lw=0.8)
    ax.set(xlabel="margin $q = y f$", ylabel="$(\\ell' / \\ell)^2$", ylim=(0.0, 1.08),
           xlim=(-2.0, 8.0))  # fmt: skip
    legend_below(fig, columns=2)
    return fig


# --- Pictures of two digits being told apart: Figures 5 and 10 to 13 of Min et al. 2024 -----------

LOSS, NORM, RANK = INK, "#AA4499", "#117733"
"""The same colours as in `own.training`, which draws such a run on the chapter's page."""


@in_house_style
def heatmaps(products: Mapping[str, NDArray]) -> Figure:
    """The inner products of centred images, name -> (2m, 2m), the first m of one digit, the others
    of the other, in units of the mean square of a length. Blue is negative, red positive."""
    fig, axes = panels(1, len(products), height=2.5, titles=list(products))
    for ax, values in zip(axes, products.values(), strict=True):
        drawn = ax.imshow(values / np.diagonal(values).mean(), cmap="RdBu_r", vmin=-1.0, vmax=1.0,
                          interpolation="nearest")  # fmt: skip
        half = len(values) / 2
        for line in (ax.axhline, ax.axvline):
            line(half - 0.5, color=INK, lw=0.8)
        _bare(ax)
    fig.colorbar(drawn, ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0.03,
                 label="inner product over the mean square of a length")  # fmt: skip
    return fig


@in_house_style
def alignment(runs: Mapping[str, pd.DataFrame]) -> Figure:
    """cos(w_+, x_+) and cos(w_-, x_-), thin those of the worst neurons of their groups, and where a
    tenth of the loss is gone (dotted), a panel a run."""
    fig, axes = _grid(runs, sharey=True)
    for ax, (name, curves) in zip(axes, runs.items(), strict=True):
        ax.set_title(name)
        for side, colour, words, line in (
            ("plus", POSITIVE, "$\\cos(w_+, x_+)$", "-"),
            ("minus", NEGATIVE, "$\\cos(w_-, x_-)$", (0, (4, 1.5))),
        ):
            ax.plot(curves.step, curves[f"{side}_least"], color=colour, ls=line, lw=0.8)
            ax.plot(curves.step, curves[side], color=colour, ls=line, label=words)
        fall = curves.step[curves.loss <= 0.9 * curves.loss[0]]
        if len(fall):
            ax.axvline(fall.iloc[0], color=QUIET, ls=":", label="loss down by a tenth")
        legend_entry(ax, "worst neuron of the group", color=QUIET, lw=0.8)
        _steps(ax, curves)
        ax.set(ylim=(-0.5, 1.05))
    for ax in axes[::2]:
        ax.set_ylabel("cosine")
    legend_below(fig)
    return fig


@in_house_style
def mnist_losses(runs: Mapping[str, pd.DataFrame]) -> Figure:
    """The loss, the squared spectral norm and the stable rank, a panel a run; the stable rank
    begins far above what is shown."""
    fig, axes = _grid(runs)
    for ax, (name, curves) in zip(axes, runs.items(), strict=True):
        ax.set_title(name)
        ax.plot(curves.step, curves.loss, color=LOSS, label="loss $\\mathcal{L}$")
        ax.plot(curves.step, curves.spectral, color=NORM, ls=(0, (4, 1.5)),
                label="$\\|W\\|_2^2$")  # fmt: skip
        ax.plot(curves.step, curves.stable_rank, color=RANK, ls=(0, (1, 1.2)), lw=2.0,
                label="$\\|W\\|_F^2 / \\|W\\|_2^2$")  # fmt: skip
        ax.axhline(1.0, color=QUIET, lw=0.7, zorder=0)
        _steps(ax, curves)
        ax.set(ylim=(0.0, max(4.0, 1.05 * float(curves.spectral.max()))))
    legend_below(fig)
    return fig


@in_house_style
def neurons(runs: Mapping[str, Mapping[str, NDArray]]) -> Figure:
    """The class means and the mean neurons as images, a row a run; blue is negative, red positive,
    each image in units of its own largest entry."""
    fig, axes = panels(len(runs), 4, height=1.25 * len(runs) + 0.7)
    columns = {"x_plus": "$x_+/n_+$", "x_minus": "$x_-/n_-$", "w_plus": "$w_+$", "w_minus": "$w_-$"}
    for row, (name, shown) in enumerate(runs.items()):
        for column, (key, title) in enumerate(columns.items()):
            ax, image = axes[4 * row + column], shown[key]
            top = float(np.abs(image).max())
            drawn = ax.imshow(image / top, cmap="RdBu_r", vmin=-1.0, vmax=1.0,
                              interpolation="nearest")  # fmt: skip
            _bare(ax)
            if row == 0:
                ax.set_title(title, loc="center")
            if column == 0:
                ax.set_ylabel(name)
    fig.colorbar(drawn, ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0.02,
                 label="entry over the largest of its image")  # fmt: skip
    return fig


@in_house_style
def phases(runs: Mapping[str, pd.DataFrame]) -> Figure:
    """The loss and the two changes over the epochs, a panel a way of training. Both axes are
    logarithmic: the changes of directions from scattered starts are huge."""
    fig, axes = panels(1, len(runs), height=3.5, titles=list(runs))
    for ax, run in zip(axes, runs.values(), strict=True):
        late = run[run.epoch > 0]
        ax.plot(late.epoch, late.loss, color=LOSS, label="loss $\\mathcal{L}$")
        ax.plot(late.epoch, late.norms, color=NORM, ls=(0, (4, 1.5)), label="changes in norms")
        ax.plot(late.epoch, late.directions, color=RANK, ls=(0, (1, 1.2)), lw=2.0,
                label="changes in directions")  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="epoch", ylim=(1e-5, 1e3))
    legend_below(fig)
    return fig


def _steps(ax: Axes, curves: pd.DataFrame) -> None:
    ax.set(xlim=(0, curves.step.iloc[-1]), xlabel="step")
    ax.locator_params(axis="x", nbins=4)


def _grid(runs: Mapping[str, pd.DataFrame], sharey: bool = False) -> tuple[Figure, list[Axes]]:
    rows = -(-len(runs) // 2)
    fig, axes = panels(rows, 2, height=2.4 * rows, sharey=sharey)
    for ax in axes[len(runs) :]:
        ax.set_visible(False)
    return fig, list(axes[: len(runs)])


# --- Figures 6 to 9 over many starts: falls of the loss, neurons left behind ----------------------

_SCALES = ((NEGATIVE, "o", "-"), (POSITIVE, "s", (0, (5.0, 2.0))), (RANK, "D", (0, (1.0, 1.2))))


@in_house_style
def toys_losses(
    clocks: Mapping[str, NDArray], curves: Mapping[str, NDArray], marks: Mapping[str, NDArray]
) -> Figure:
    """The loss relative to its first value against the iteration, one panel for each data set.
    Parameters: by title the clock (m,), the curves (m, S) of S starts, and `marks` (k,), the places
    in the clock at which the first start's loss falls."""
    rows = -(-len(curves) // 3)
    fig, axes = panels(rows, 3, height=0.6 + 1.75 * rows, titles=list(curves), sharex=True,
                       sharey=True)  # fmt: skip
    for ax, (name, loss) in zip(axes, curves.items(), strict=False):
        share = loss / loss[0]
        ax.plot(clocks[name], share[:, 1:], color=style.QUIET, lw=0.5, alpha=0.5)
        ax.plot(clocks[name], share[:, 0], color=NEGATIVE, lw=1.6)
        at = marks[name]
        ax.plot(clocks[name][at], share[at, 0], ls="", **style.MARKERS["event"], zorder=5)
        ax.set(ylim=(-0.03, 1.08), xlim=(0.0, clocks[name][-1]))
    for ax in axes[-3:]:
        ax.set_xlabel("iteration")
    for ax in axes[::3]:
        ax.set_ylabel("$L / L_0$")
    style.legend_entry(axes[0], "one start", color=NEGATIVE, lw=1.6)
    style.legend_entry(axes[0], "others", color=style.QUIET, lw=0.8)
    style.legend_entry(axes[0], "a fall of that one", ls="", **style.MARKERS["event"])
    legend_below(fig)
    return fig


@in_house_style
def left_behind(
    counts: NDArray,
    law: NDArray,
    series: Sequence[tuple[str, Sequence[tuple[float, int, int, float, float]]]],
) -> Figure:
    """Neurons outside S_+ at the end: how many in a start, and what share at other mu and scales.
    Parameters: `counts` (S,), neurons outside in each start; `law` (k,), the probabilities of 0, 1,
    ... of them; `series` with a label and rows (angle, outside, neurons, chance by the law, work).
    Between the angles the law is drawn with the work interpolated."""
    fig, (bars, ax) = panels(1, 2, height=3.5, titles=["(a) in one start", "(b) in general"])
    shown = np.arange(len(law))
    share = np.array([(counts == k).mean() for k in shown[:-1]] + [(counts >= shown[-1]).mean()])
    bars.bar(shown, share, width=0.62, color=NEGATIVE, alpha=0.55, label="starts of descent")
    bars.plot(
        shown, law, ls="", marker="_", ms=22, mew=2.0, color=style.INK, label="the law, in (a)"
    )
    bars.set_xticks(shown, [*map(str, shown[:-1]), f"{shown[-1]}+"])
    bars.set(xlabel="neurons outside $S_+$ at iteration 21 000", ylabel="share of the starts")
    for (label, rows), (colour, marker, line) in zip(series, _SCALES, strict=False):
        angle, hits, tried, _, tau = (np.array(column) for column in zip(*rows, strict=True))
        fine = np.geomspace(angle.min(), angle.max(), 80)
        lengths = [np.sqrt(1.0 + np.sin(a)) for a in (angle, fine)]  # of x_+; tau goes with 1/|x_+|
        done = np.interp(np.log(fine), np.log(angle), tau * lengths[0]) / lengths[1]
        chance = [chance_astray(*both) for both in zip(done.tolist(), fine.tolist(), strict=True)]
        ax.plot(np.sin(fine), chance, color=colour, ls=line, lw=1.4, zorder=2.0,
                label=f"the law, {label}")  # fmt: skip
        some = hits > 0
        if some.any():
            style.shares(ax, np.sin(angle[some]), hits[some], tried[some], color=colour, ls="",
                         marker=marker, label=f"the flow, {label}", zorder=3.0)  # fmt: skip
    ax.set(xscale="log", yscale="log", ylim=(1e-4, 1.0), xlabel="$\\mu$",
           ylabel="share of the neurons")  # fmt: skip
    legend_below(fig, columns=3)
    return fig
