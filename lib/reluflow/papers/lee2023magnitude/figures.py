"""Pictures of chapter 2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.linalg import null_space

from reluflow.figures import style, weight_space
from reluflow.figures.frame import Window, halo_text, name_curves, point_out
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.flows.affine import affine_flow
from reluflow.geometry import StationarySet
from reluflow.papers.lee2023magnitude import population, setting
from reluflow.papers.lee2023magnitude.bounds import room
from reluflow.papers.lee2023magnitude.descent import Profile, approximation_errors, largest_errors
from reluflow.papers.lee2023magnitude.runs import Run, angle_curves, distance, magnitude_curves
from reluflow.papers.lee2023magnitude.setting import Start, two_layer_magnitude_bounds

if TYPE_CHECKING:  # these train networks, which the figures do not
    from reluflow.papers.lee2023magnitude.deep_network import DeepRun
    from reluflow.papers.lee2023magnitude.experiments import Restarts

# --- Angle and magnitude, |w*| = 1: phase portraits, times against |w_0|, dips and depth ----------

MOVES, LOWER, UPPER, PRINTED = "#0072B2", "#009E73", "#E69F00", "#D55E00"
FAMILY = ("#24135F", "#5B3FA8", "#8E74CC", "#B49FE0", "#D0C3EC")
"""One colour, one meaning: what moves, its bounds, what is printed and fails; shades tell apart
depths, steps and other numbers."""
DEPTH_LINES = ("-", (0, (6, 2)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2, 2, 2)), "--")

_TOP = 2.2
_STARTS = [(phi, r) for r in (0.12, _TOP) for phi in (0.25, 0.9, 1.6, 2.3)]
_STARTS += [(2.75, _TOP), (2.9, 1.5)]
"""Starts (phi, |w|) at the lower and upper edge of the phase plane."""


@in_house_style
def phase_portraits() -> Figure:
    """Student and teacher as vectors, and flows in the plane of phi and |w|/|w*|, a panel a depth,
    with the curve on which eq. (11) stops |w|, and for m = 0 the separatrix."""
    titles = ["(a) student and teacher, $m = 0$", *(f"({'bcd'[m]}) $m = {m}$" for m in range(3))]
    fig, (vectors, *axes) = panels(2, 2, height=5.5, titles=titles)
    _vectors(vectors)
    phi = np.linspace(1e-3, math.pi, 400)
    for m, ax in enumerate(axes):
        edge = population.nullcline(phi, m)
        ax.fill_between(phi, edge, _TOP, color=style.QUIET, alpha=0.12, lw=0)
        for start in _STARTS:
            _flow(ax, *_curve(*start, m))
        for phi0, r in _STARTS:  # where those flows turn from falling to rising
            found = population.phases(float(population.log_tan(phi0)), math.log(r), m)
            if math.isfinite(found.psi):
                ax.plot(population.angle(found.psi), found.least, "o", ms=4.5, mfc=style.INK,
                        mec="white", mew=0.7, zorder=5, ls="")  # fmt: skip
        ax.plot(phi, edge, color=style.INK, lw=2.0, ls=(0, (5, 1.5)), zorder=4,
                label="eq. (11): $|w|$ turns")  # fmt: skip
        if m == 0:
            edge = population.threshold_norm(phi)
            ax.plot(phi[edge < _TOP], edge[edge < _TOP], color=style.INK, lw=2.2, ls=(0, (1, 1)),
                    zorder=4, label="beyond, $|w|$ only falls")  # fmt: skip
        ax.plot([math.pi], [1.0], clip_on=False, ls="", **style.MARKERS["global minimum"], zorder=7)
        ax.set(xlim=(0.0, math.pi), ylim=(0.0, _TOP), xlabel="$\\varphi$", ylabel="$|w| / |w^*|$")
        ax.set_xticks([0.0, 0.5 * math.pi, math.pi], ["0", "π/2", "π"])
    halo_text(axes[0], np.array([0.8, 0.82 * _TOP]), "$|w|$ falls", fontsize=9, zorder=6)
    halo_text(axes[0], np.array([2.2, 0.3]), "$|w|$ rises", fontsize=9, zorder=6)
    name_curves(axes[0], *axes[1:])
    return fig


def _vectors(ax: Axes) -> None:
    """The tip of w on its way from a right angle to the teacher, inside the circle |w| = |w*|."""
    phi, v = _curve(0.5 * math.pi, 1.0, 0)
    k = int(np.searchsorted(phi, 0.68 * math.pi))
    W = np.array([-v * np.cos(phi), v * np.sin(phi)])
    turn = np.linspace(0.0, 0.5 * math.pi, 91)
    ax.plot(np.cos(turn), np.sin(turn), color=style.QUIET, ls=":", label="$|w| = |w^*|$")
    _flow(ax, *W)
    for tip, colour, name, place in (((1.0, 0.0), style.INK, "teacher $w^*$", (0.62, -0.09)),
                                     (W[:, k], MOVES, "student $w$", (0.08, 0.42))):  # fmt: skip
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2.0, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tip, (0.0, 0.0), arrowprops=arrow)
        halo_text(ax, np.array(place), name, color=colour, fontsize=9)
    arc = np.linspace(0.0, math.pi - phi[k], 40)
    ax.plot(0.25 * np.cos(arc), 0.25 * np.sin(arc), color=style.INK, lw=1.0)
    halo_text(ax, np.array([0.36, 0.14]), r"$\pi - \varphi$", fontsize=9)
    ax.plot(1.0, 0.0, ls="", **style.MARKERS["global minimum"], zorder=7)
    ax.plot(0.0, 1.0, ls="", **style.MARKERS["initial point"], zorder=7)
    point_out(ax, "the student first shrinks", tuple(W[:, k // 2]), (-10.0, -38.0))
    ax.set(xlim=(-0.12, 1.15), ylim=(-0.18, 1.1), aspect="equal")
    ax.set_axis_off()
    name_curves(ax)


def _curve(phi0: float, r: float, m: int) -> tuple[NDArray, NDArray]:
    """phi and |w|/|w*| along the orbit from a start: its points, and cubics with their slopes."""
    path = population.orbits(population.log_tan(phi0), math.log(r), m)
    psi, rho = path.psi[0], path.rho[0]
    phi = population.angle(psi)
    slope = np.pi / phi * (population.pull(phi) - np.exp((m + 1) * rho))
    first = psi[0] + np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 20)])
    dense = np.concatenate([first, np.linspace(psi[0] + 0.15, psi[-1], 240)])
    return population.angle(dense), np.exp(CubicHermiteSpline(psi, rho, slope)(dense))


def _flow(ax: Axes, phi: NDArray, v: NDArray) -> None:
    ax.plot(phi, v, color=MOVES, lw=1.2, zorder=3)
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(phi), np.diff(v)))])
    k = int(np.searchsorted(length, 0.38 * length[-1]))
    arrow = {"arrowstyle": "-|>", "color": MOVES, "lw": 0, "mutation_scale": 10}
    ax.annotate("", (phi[k + 1], v[k + 1]), (phi[k], v[k]), zorder=3, arrowprops=arrow)


@in_house_style
def passage_times() -> Figure:
    """Time against |w_0| from phi_0 = pi/2, (a) to an angle, with powers 1 - m, (b) to a loss."""
    titles = ("(a) to the angle $\\varphi = 3\\pi/4$", "(b) to the loss $10^{-4}\\,|w^*|^{2(m+1)}$")
    fig, (left, right) = panels(1, 2, height=3.6, titles=titles)
    sizes, level, psi = np.geomspace(1e-3, 1e2, 41), 1e-4, population.log_tan(0.75 * math.pi)
    for m, colour, line in zip(range(4), FAMILY, DEPTH_LINES, strict=False):
        times = population.time_to_angle(0.0, np.log(sizes), m, psi)
        look = {"color": colour, "ls": line, "label": f"$m = {m}$"}
        left.loglog(sizes, times, **look)
        right.semilogx(sizes, population.time_to_loss(0.0, np.log(sizes), m, level), **look)
        if m != 1:
            guide = 1.7 * times[0] * (sizes[:14] / sizes[0]) ** (1.0 - m)
            left.loglog(sizes[:14], guide, color=style.QUIET, lw=0.9)
            halo_text(left, np.array([sizes[6], 2.4 * guide[6]]), f"power ${1 - m}$",
                      color=style.QUIET, fontsize=9)  # fmt: skip
    left.set(xlabel="$|w_0| / |w^*|$", ylabel="time $s = |w^*|^{2m}\\, t$", ylim=(2e-3, 2e7))
    right.set(xlabel="$|w_0| / |w^*|$", ylim=(0.0, 30.0))
    for ax in (left, right):
        name_curves(ax)
    return fig


@in_house_style
def dips_and_depth(phi0: float) -> Figure:
    """From |w_0| = |w*| at the angle phi0: (a) |w| against phi, (b) how far |w| and the output's
    scale v_1 ... v_m |w| fall, against m, with the bounds of eq. (11)."""
    fig, (left, right) = panels(1, 2, height=3.4, titles=("(a) the dip", "(b) how far it falls"))
    for m, colour, line in zip((0, 1, 2, 4, 16), FAMILY, DEPTH_LINES, strict=False):
        left.plot(*_curve(phi0, 1.0, m), color=colour, ls=line, label=f"$m = {m}$")
        found = population.dip_from_teacher_norm(phi0, m)
        left.plot(population.angle(found.psi), found.least, "o", ms=5, mfc=style.INK,
                  mec="white", mew=0.7, ls="", zorder=5)  # fmt: skip
    left.set(xlabel="$\\varphi$", ylabel="$|w| / |w^*|$", xlim=(phi0, math.pi))
    left.set_xticks([0.5 * math.pi, 0.75 * math.pi, math.pi], ["π/2", "3π/4", "π"])
    layers, pulled = np.arange(1, 34), population.nullcline(phi0, 0)
    least = np.array([population.dip_from_teacher_norm(phi0, int(k) - 1).least for k in layers])
    for fall, bound, colour, mark, name, limit in (
        (1.0 - least, 1.0 - pulled ** (1.0 / layers), MOVES, "o-", "fall of $|w|$", "its bound"),
        (1.0 - least**layers, np.full(len(layers), 1.0 - pulled), style.INK, "s-",
         "fall of $v_1\\cdots v_m|w|$", "its limit $\\varepsilon_0$"),
    ):  # fmt: skip
        right.loglog(layers, fall, mark, ms=3.5, lw=1.2, color=colour, label=name)
        right.loglog(layers, bound, color=colour, ls=(0, (5, 2)), lw=1.1, label=limit)
    right.set(xlabel="layers $m + 1$", ylabel="fall, relative", ylim=(0.02, 1.0))
    right.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    right.set_xticks([], minor=True)
    for ax in (left, right):
        name_curves(ax)
    return fig


# --- Figures 1 and 2, redrawn from full-scale runs ------------------------------------------------


@in_house_style
def angles(runs: Sequence[Run]) -> Figure:
    """Figure 1: phi(T) between both bounds, a row a depth and a column a norm."""
    fig, axes = _grid(runs, "angle $\\varphi(T)$")
    for ax, run in zip(axes, runs, strict=True):
        T = _shown(run.setting.steps, 300, run.setting.restart)
        lower, upper = (np.pi - bound[T] for bound in angle_curves(run, run.population)[::-1])
        _between(ax, T, lower, upper, "-", "bound")
        _paths(ax, run, T, lambda path: np.pi - path.theta)
        shown = [np.maximum(lower, 0.0), run.trained.phi[T]]
        ax.set_ylim(float(np.min(shown)) - 0.1, 3.3)
        _gap(ax, run, 0)
    name_curves(axes[-len({run.setting.norm for run in runs})], *axes)
    return fig


@in_house_style
def magnitudes(runs: Sequence[Run]) -> Figure:
    """Figure 2: |w(T)|/|w*| with its bounds, and with those that start again at a fifth of the
    steps. Only the runs of one and two layers, unless there are none."""
    chosen = [run for run in runs if run.setting.layers <= 2] or list(runs)
    fig, axes = _grid(chosen, "$|w(T)|\\,/\\,|w^*|$")
    for ax, run in zip(axes, chosen, strict=True):
        T = _shown(run.setting.steps, 300, run.setting.restart)
        place = run.setting.restart
        for start, line, word in ((0, "-", "bound"), (place, "--", "restarted")):
            at = T[start <= T]
            curves = magnitude_curves(run.setting, run.trained, start, at)
            lower, upper = (curve / run.start.target for curve in curves)
            _between(ax, at, lower, upper, line, word)
        _paths(ax, run, T, lambda path: path.length / path.target)
        dot = run.trained.length[place] / run.start.target
        ax.plot(place, dot, "o", ms=5, color=style.INK, zorder=5)
        ax.set_ylim(bottom=0.0)
        _gap(ax, run, 1)
    legend_below(fig, columns=5)
    return fig


def _grid(runs: Sequence[Run], name: str) -> tuple[Figure, NDArray]:
    """A row for each depth, a column for each norm, titles with the panel's start."""
    columns = len({run.setting.norm for run in runs})
    words, titles = {0.1: "small", 1.0: "middle", 2.0: "large"}, []
    for run in runs:
        layers = f"{run.setting.layers} layer" + ("s" if run.setting.layers > 1 else "")
        titles.append(f"{layers}, {words.get(run.setting.norm, f'{run.setting.norm:g}')} start")
    rows, last = len(runs) // columns, runs[0].setting.steps
    fig, axes = panels(rows, columns, height=1.6 * rows + 0.5, titles=titles, sharex=True)
    for k, ax in enumerate(axes):
        ax.set(xlim=(0, last), xticks=[0, last // 2, last])
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.title.set_fontsize(9.5)
        if k % columns == 0:
            ax.set_ylabel(name)
        if k >= len(axes) - columns:
            ax.set_xlabel("step $T$")
    return fig, axes


def _shown(last: int, early: int, *more: int) -> NDArray:
    """The steps drawn: evenly spaced ones, dense early ones, and some more."""
    dense, even = np.geomspace(1, last, early), np.linspace(0, last, 300)
    return np.unique(np.round([*even, *dense, *more])).astype(int)


def _between(ax: Axes, T: NDArray, lower: NDArray, upper: NDArray, line: str, word: str) -> None:
    """The bounds of a curve, and what they leave."""
    ax.fill_between(T, lower, upper, color=style.QUIET, alpha=0.1, lw=0)
    ax.plot(T, upper, color=UPPER, lw=1.4, ls=line, label=f"upper {word}", zorder=2)
    ax.plot(T, lower, color=LOWER, lw=1.4, ls=line, label=f"lower {word}", zorder=2)


def _paths(
    ax: Axes, run: Run, T: NDArray, value: Callable[[population.PopulationPath], NDArray]
) -> None:
    """The run on data, thick, and over it the population's descent."""
    if run.empirical is not None:
        ax.plot(T, value(run.empirical)[T], color=MOVES, lw=2.6, label="descent on data", zorder=3)
    ax.plot(T, value(run.population)[T], color=style.INK, lw=1.0, ls=(0, (3.5, 2.0)), zorder=3.2)


def _gap(ax: Axes, run: Run, which: int) -> None:
    """Write the largest distances: data from population, and the population's descent from flow."""
    words = f"flow: {distance(run.population, run.flow)[which]:.1g}"
    if run.empirical is not None:
        words = f"data: {distance(run.empirical, run.population)[which]:.1g}\n{words}"
    ax.text(0.97, 0.04, words, transform=ax.transAxes, ha="right", va="bottom", fontsize=8)


# --- Proposition B.2 in pictures ------------------------------------------------------------------


@in_house_style
def segment_of_minimisers(
    points: ArrayLike, target: ArrayLike, starts: ArrayLike, window: Window
) -> Figure:
    """Proposition B.2: the loss (13) over w, its minimisers and flows (a) of the uniform law on the
    points (n, 2), (b) of the same points and their opposites; starts (k, 2)."""
    points, target = np.asarray(points, float), np.asarray(target, float)
    fig, axes = panels(1, 2, height=3.6, titles=("(a) the points", "(b) and their opposites"))
    for ax, X in zip(axes, (points, np.vstack([points, -points])), strict=True):
        y = np.maximum(X @ target, 0.0)
        weight_space.weight_plane(ax, window, equal=True)
        weight_space.loss_levels(ax, X, y, floor=0.0)
        weight_space.stationary_sets(ax, [_fits(X, target)], X)
        for w0 in np.asarray(starts, float):
            weight_space.flow(ax, affine_flow(X, y, w0), "ReLU flow", arrows=1, events=False)
        ax.plot(*target, ls="", marker="x", ms=8, mew=2.0, color=style.INK, zorder=7,
                label="teacher $w^*$")  # fmt: skip
        weight_space.activation_boundaries(ax, X, range(len(points)))  # opposites share theirs
        name_curves(ax)
    return fig


def _fits(X: NDArray, target: NDArray) -> StationarySet:
    """The w with [x.w]_+ = [x.w*]_+ on all data X (n, d): they fit the active data as w* does."""
    active = X @ target > 0.0
    free = null_space(X[active])
    free *= np.where(free[0] < 0.0, -1.0, 1.0)  # the same way on every machine
    support = tuple(np.flatnonzero(active).tolist())
    return StationarySet(target, 0.0, support, free.shape[1], free, rank=1)


# --- Bounds of Section 3 round flows: as printed, and as they should read -------------------------


@in_house_style
def comparison_solutions(phi0: float, m: int, below: float, above: float, until: float) -> Figure:
    """Theorem 3.8, |w*| = 1: the flow from (a) v_0 = `below` and (b) v_0 = `above` the branch point
    of the printed formula, the comparison solutions, and the printed u(t; 0) where it exists."""
    titles = (f"(a) below the branch, $v_0 = {below:g}$", f"(b) above it, $v_0 = {above:g}$")
    fig, axes = panels(1, 2, height=3.4, titles=titles)
    t = np.linspace(0.0, until, 301)
    rest = float(population.nullcline(phi0, m))
    for ax, v0 in zip(axes, (below, above), strict=True):
        v = Start.at(phi0, v0, m).flow(t).length
        lower, upper = setting.layered_magnitude_bounds(t, phi0, v0, 1.0, m)
        _enclosed(ax, t, v, lower, upper)
        printed = setting.implicit_printed(t, phi0, v0, 1.0, m, 1.0)
        if np.isfinite(printed).all():
            ax.plot(t, printed, color=PRINTED, ls="--", label="printed upper bound")
            k = int(np.argmax(printed > v)) or len(t) // 2
            point_out(ax, "below the flow", (t[k // 2], printed[k // 2]), (40.0, -25.0))
        else:
            ax.text(0.97, 0.93, "printed upper bound:\nno real value", color=PRINTED, ha="right",
                    va="top", transform=ax.transAxes)  # fmt: skip
        for height, name in ((rest, r"$\ell$"), (1.0, "$v^*$")):
            ax.axhline(height, color=style.QUIET, ls=":", lw=1.0, zorder=0.5)
            ax.annotate(name, (until, height), (4, 0), textcoords="offset points", va="center",
                        color=style.QUIET)  # fmt: skip
        ax.set(xlabel="time $t$", xlim=(0.0, until), ylim=(0.0, None))
        name_curves(ax)
    axes[0].set_ylabel("magnitude")
    return fig


@in_house_style
def one_layer_bounds(phi0: float, norms: Sequence[float], until: float) -> Figure:
    """Theorem 3.3, |w*| = 1: (a) |w(t)| from several norms between its bounds, (b) eq. (8)'s error,
    ((1 - e^(-t/2)) |w*| - |w(t)|) / (|w_0| e^(-t/2)) at t = 1, and its limit for small norms."""
    titles = ("(a) magnitude", "(b) eq. (8), small norms")
    fig, (left, ax) = panels(1, 2, height=3.4, titles=titles)
    t = np.linspace(0.0, until, 201)
    for v0 in norms:
        v = Start.at(phi0, v0, 0).flow(t).length
        _enclosed(left, t, v, *setting.magnitude_bounds(t, phi0, v0, 1.0))
    left.set(xlabel="time $t$", ylabel="$|w(t)|$", xlim=(0.0, until), ylim=(0.0, None))
    phi, few = np.linspace(0.8, 3.1, 120), np.linspace(1.0, 3.0, 6)
    ax.plot(phi, (np.sin(phi) + np.pi * np.cos(phi)) / phi, color=style.INK, lw=1.3,
            label="limit $|w_0| \\to 0$")  # fmt: skip
    for v0, colour, mark in zip((0.001, 0.1, 0.3), FAMILY, "Dso", strict=False):
        ax.plot(few, [room(each, 1.0, v0) for each in few], ls="", marker=mark, ms=5, color=colour,
                label=f"$|w_0| = {v0:g}$")  # fmt: skip
    ax.axhline(0.0, color=style.QUIET, lw=0.8)
    ax.axhspan(-1.25, 0.0, color=PRINTED, alpha=0.12, lw=0)
    ax.text(0.85, -0.6, "(8) fails", color=PRINTED, va="center")
    ax.set(xlabel=r"$\varphi_0$", xlim=(0.8, 3.2), ylim=(-1.25, None),
           ylabel="scaled room below (8)")  # fmt: skip
    name_curves(left)
    name_curves(ax)
    return fig


def _enclosed(ax: Axes, t: NDArray, value: NDArray, lower: NDArray, upper: NDArray) -> None:
    _between(ax, t, lower, upper, "-", "bound")
    ax.plot(t, value, color=MOVES, lw=2.0, label="flow", zorder=3)


# --- Descent against the bounds of Section 4 and Appendix A ---------------------------------------

Pair = tuple[float, float]
"""phi0 and |w0| = v_1 = ..., in units of v*."""


@in_house_style
def bounds_missed(steps: Sequence[float], low: Pair, high: Pair) -> Figure:
    """By how many eta descent is outside the bounds of Theorem A.3, v* = 1, against eta T, a colour
    each step eta: |w| (a) below the lower bound from `low`, (b) above the upper one from `high`."""
    titles = ("(a) below its lower bound", "(b) above its upper bound")
    fig, axes = panels(1, 2, height=3.0, titles=titles)
    for step, colour in zip(steps, FAMILY, strict=False):
        for ax, (phi0, norm), side in ((axes[0], low, 0), (axes[1], high, 1)):
            path = Start.at(phi0, norm, 1).descent(step, math.ceil(12.0 / step))
            bound = two_layer_magnitude_bounds(path.t, phi0, norm, 1.0, step)[side]
            outside = (path.length - bound) * (1.0 if side else -1.0)
            ax.plot(step * path.t, outside / step, color=colour, label=f"step 1/{1 / step:.0f}")
    for ax, height in zip(axes, ((-0.1, 0.55), (-0.1, 0.1)), strict=True):
        ax.axhline(0.0, color=style.QUIET, lw=0.9, zorder=1)
        ax.set(xlabel="step size times $T$", xlim=(0.0, 12.0), ylim=height)
    axes[0].set_ylabel("how far outside / step")
    name_curves(axes[0], axes[1])
    return fig


@in_house_style
def approximation(
    profiles: Sequence[tuple[str, Profile]], step: float, steps: Sequence[float], span: float
) -> Figure:
    """Theorem 4.1, c = 1: (a) the error along descent of one step size, against eta T; (b) its
    largest value up to eta T = `span` against eta, and lines eta and sqrt(eta)."""
    titles = f"(a) step 1/{1 / step:.0f}", "(b) largest error"
    fig, (left, right) = panels(1, 2, height=3.6, titles=titles)
    for (name, profile), colour in zip(profiles, FAMILY, strict=False):
        look = {"color": colour, "label": name.replace("regular", "g' ≠ 0")}
        errors = approximation_errors(profile, step, math.ceil(span / step))
        T = np.arange(1, len(errors))
        left.plot(step * T, errors[1:], **look)
        late = len(T) // 5 + int(np.argmin(errors[1 + len(T) // 5 :]))
        if errors[1 + late] < 1e-2 * errors[1 : 1 + late].max():
            point_out(left, "the error\nchanges sign", (step * T[late], 1e-6), (48.0, 0.0))
        most = largest_errors(profile, steps, span)
        right.plot(steps, most, marker="o", ms=4, **look)
    ends = np.array([min(steps), max(steps)])
    right.plot(ends, ends, color=style.QUIET, ls="--", lw=1.0, label="step size")
    right.plot(ends, np.sqrt(ends), color=style.QUIET, ls=":", lw=1.2, label="its square root")
    left.set(yscale="log", xlabel="step size times $T$", ylim=(1e-7, 2.0),
             ylabel=r"$|w(T) - g((1 - c\eta)^T)|$", xlim=(0.0, span))  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel=r"step size $\eta$, with $c = 1$")
    for ax in (left, right):
        name_curves(ax)
    return fig


# --- Figures 3 and 4, redrawn from computed runs --------------------------------------------------


@in_house_style
def restarted_bounds(drawn: Sequence[Restarts]) -> Figure:
    """Figure 3: |w(T)| over |w*|, and the bounds that start at four points of it, a panel each."""
    names = {1: "one layer", 2: "two layers"}
    titles = [f"({chr(97 + k)}) {names[p.setting.layers]}" for k, p in enumerate(drawn)]
    fig, axes = panels(1, len(drawn), height=3.7, titles=titles)
    for ax, panel in zip(axes, drawn, strict=True):
        t, v, target = panel.path.t, panel.path.length, panel.path.target
        for j, (at, curves) in enumerate(zip(panel.points, panel.bounds, strict=True)):
            few = _shown(len(curves[0]) - 1, 150)
            looks = ((LOWER, "lower bounds"), (UPPER, "upper bounds"))
            for curve, (colour, name) in zip(curves, looks, strict=True):
                ax.plot(t[at:][few], curve[few] / target, color=colour, lw=1.3,
                        alpha=0.45 + 0.18 * j, ls=(0, (5, 2)),
                        label=name if j == 0 else "_nolegend_")  # fmt: skip
        few, again = _shown(len(t) - 1, 150), list(panel.points)  # t is the number of the step
        ax.plot(t[few], v[few] / target, color=MOVES, lw=2.2, label=r"$|w(T)|$")
        ax.plot(again, v[again] / target, ls="", marker="o", ms=5.5, mec="white", color=style.INK,
                zorder=5)  # fmt: skip
        ax.set(xlabel="step $T$", xlim=(0, t[-1]))
        ax.margins(y=0.06)
        name_curves(ax)
    axes[0].set_ylabel(r"magnitude over $|w^*|$")
    return fig


@in_house_style
def deep_magnitudes(recorded: Sequence[DeepRun]) -> Figure:
    """Figure 4: magnitudes of a network of depth 5 in training, relative to their start, above; the
    loss over the zero function's below, of the runs (a) and (b) at full scale."""
    titles = ("(a) small start, $k = 0.04$", "(b) large start, $k = 0.44$", "", "")
    fig, axes = panels(2, 2, height=5.4, titles=titles)
    for column, run in enumerate(recorded):
        top, bottom = axes[column], axes[2 + column]
        for name, values in run.magnitudes.items():
            if not name.startswith("product"):
                first = name.startswith("first")
                top.plot(run.steps, values / values[0], color=MOVES if first else style.QUIET,
                         label="$|W_1|$" if first else "all weights")  # fmt: skip
        bottom.plot(run.steps, run.losses / run.zero, color=style.INK, lw=1.5, label="loss")
        bottom.set_yscale("log")
        bottom.set_xlabel("step $T$")
        for ax in (top, bottom):
            if column == 1:
                ax.set_xscale("symlog", linthresh=1.0, linscale=0.4)
                ticks = [0, 1, 10, 100, 1000, 10000]
                ax.set_xticks(ticks, list(map(str, ticks)))
                ax.minorticks_off()
            ax.set_xlim(0, run.setting.n_steps)
            name_curves(ax)
    axes[0].set_ylabel("magnitude over its start")
    axes[2].set_ylabel("loss over that of $f = 0$")
    return fig
