"""Pictures of chapter 2."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline

from reluflow.figures import style
from reluflow.figures.frame import Window, fresh, halo_text
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.figures.weight_space import (
    activation_boundaries,
    flow,
    loss_levels,
    stationary_sets,
    weight_plane,
)
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.papers.lee2023magnitude import laws, setting
from reluflow.papers.lee2023magnitude.bounds import norm_range, room
from reluflow.papers.lee2023magnitude.chains import ChainPath
from reluflow.papers.lee2023magnitude.descent import Profile, approximation_errors, largest_errors
from reluflow.papers.lee2023magnitude.experiments import distance
from reluflow.papers.lee2023magnitude.figures_3_and_4 import DeepRun, Restarts
from reluflow.papers.lee2023magnitude.layers import excess, near_descent
from reluflow.papers.lee2023magnitude.population import (
    PopulationPath,
    angle,
    dip_from_teacher_norm,
    log_tan,
    nullcline,
    orbits,
    phases,
    pull,
    threshold_norm,
    time_to_angle,
    time_to_loss,
)
from reluflow.papers.lee2023magnitude.rates import best_norm
from reluflow.papers.lee2023magnitude.runs import Run, angle_curves, magnitude_curves
from reluflow.papers.lee2023magnitude.setting import Start, two_layer_magnitude_bounds

# --- Angle and magnitude of single ReLU neurons: phase portraits, times against |w_0|, dips
# and depth ----------------------------------------------------------------------------------------
#
# m is the number of factors besides w, phi = pi - angle(w, w*), |w*| = 1.


DYNAMICS_FLOW, NULLCLINE, SEPARATRIX, TURN = "#0072B2", "#D55E00", "#117733", "#AA4499"
DEPTH_COLOURS = ("#332288", "#0072B2", "#117733", "#D55E00", "#AA4499", "#777777")
DEPTH_LINES = ("-", (0, (6, 2)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2, 2, 2)), "--")

_START_ANGLES = (0.25, 0.9, 1.6, 2.3)
_START_NORMS = (0.12, 2.2)


@in_house_style
def phase_portraits(depths: Sequence[int] = (0, 1, 2), top: float = 2.2) -> Figure:
    """Flows in the plane of phi and |w|/|w*|, one panel a depth, with the curve on which eq. (11)
    stops |w|, the turns on it, and for m = 0 the separatrix beyond which |w| falls for ever."""
    titles = [f"$m = {m}$" for m in depths]
    fig, axes = panels(1, len(depths), height=3.9, titles=titles, sharey=True)
    phi = np.linspace(1e-3, math.pi, 400)
    for ax, m in zip(axes, depths, strict=True):
        ax.fill_between(phi, nullcline(phi, m), top, color=NULLCLINE, alpha=0.09, lw=0,
                        label="$|w|$ falls")  # fmt: skip
        for start in _starts(top):
            _flow(ax, *_curve(*start, m))
        _turns(ax, m, top)
        ax.plot(phi, nullcline(phi, m), color=NULLCLINE, lw=2.0, ls=(0, (5, 1.5)), zorder=4,
                label="eq. (11): $v = v^*(1-\\varepsilon)^{1/(m+1)}$")  # fmt: skip
        if m == 0:
            at = phi[threshold_norm(phi) < top]
            ax.plot(at, threshold_norm(at), color=SEPARATRIX, lw=2.2, ls=(0, (1, 1)), zorder=4,
                    label="separatrix: above it $|w|$ falls for ever")  # fmt: skip
        ax.plot([math.pi], [1.0], clip_on=False, label=fresh(ax, "teacher"),
                ls="", **style.MARKERS["global minimum"], zorder=7)  # fmt: skip
        ax.set(xlim=(0.0, math.pi), ylim=(0.0, top), xlabel="$\\varphi$")
        ax.set_xticks([0.0, 0.5 * math.pi, math.pi], ["0", "π/2", "π"])
    axes[0].set_ylabel("$|w| / |w^*|$")
    legend_below(fig)
    return fig


def _starts(top: float) -> list[tuple[float, float]]:
    """Starts (phi, |w|) at the lower and upper edge."""
    edges = [(phi, r) for r in (_START_NORMS[0], top) for phi in _START_ANGLES]
    return [*edges, (2.75, top), (2.9, 1.5)]


def _curve(phi0: float, r: float, m: int, points: int = 240) -> tuple[NDArray, NDArray]:
    """phi and |w|/|w*| along the orbit from a start: its points, and cubics with their slopes."""
    path = orbits(log_tan(phi0), math.log(r), m)
    psi, rho = path.psi[0], path.rho[0]
    slope = np.pi / angle(psi) * (pull(angle(psi)) - np.exp((m + 1) * rho))
    first = psi[0] + np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 20)])
    dense = np.concatenate([first, np.linspace(psi[0] + 0.15, psi[-1], points)])
    rho = CubicHermiteSpline(psi, rho, slope)(dense)
    return angle(dense), np.exp(rho)


def _flow(ax: Axes, phi: NDArray, v: NDArray) -> None:
    ax.plot(phi, v, color=DYNAMICS_FLOW, lw=1.2, zorder=3, label=fresh(ax, "flow"))
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(phi), np.diff(v)))])
    k = int(np.searchsorted(length, 0.38 * length[-1]))
    ax.annotate(
        "",
        (phi[k + 1], v[k + 1]),
        (phi[k], v[k]),
        zorder=3,
        arrowprops={"arrowstyle": "-|>", "color": DYNAMICS_FLOW, "lw": 0, "mutation_scale": 10},
    )


def _turns(ax: Axes, m: int, top: float) -> None:
    """Where those flows turn from falling to rising."""
    for phi0, r in _starts(top):
        found = phases(float(log_tan(phi0)), math.log(r), m)
        if math.isfinite(found.psi):
            ax.plot(angle(found.psi), found.least, "o", ms=4.5, mfc=TURN,
                    mec="white", mew=0.7, zorder=5, ls="", label=fresh(ax, "turn"))  # fmt: skip


@in_house_style
def passage_times(depths: Sequence[int] = (0, 1, 2, 3), level: float = 1e-4) -> Figure:
    """Time against |w_0|, from phi_0 = pi/2: (a) to phi = 3 pi/4, with the powers 1 - m; (b) to the
    loss `level`, in units of |w*|^(2(m+1)), and for m = 0 from phi_0 = 3 pi/4 too, with the norm
    that is best for small losses."""
    titles = ("(a) to the angle $\\varphi = 3\\pi/4$", f"(b) to the loss ${_power(level)}$")
    fig, (left, right) = panels(1, 2, height=4.2, titles=titles)
    sizes = np.geomspace(1e-3, 1e2, 41)
    nearer = 0.75 * math.pi
    psi = log_tan(nearer)
    for m, colour, line in zip(depths, DEPTH_COLOURS, DEPTH_LINES, strict=False):
        name = f"$m = {m}$, $\\varphi_0 = \\pi/2$"
        times = time_to_angle(0.0, np.log(sizes), m, psi)
        left.loglog(sizes, times, color=colour, ls=line, label=name)
        right.semilogx(sizes, time_to_loss(0.0, np.log(sizes), m, level), color=colour, ls=line)
        if m != 1:
            guide = 1.7 * times[0] * (sizes[:14] / sizes[0]) ** (1.0 - m)
            left.loglog(sizes[:14], guide, color=style.QUIET, lw=0.9,
                        label=fresh(left, "powers $1 - m$ of $|w_0|$"))  # fmt: skip
            halo_text(left, np.array([sizes[6], 2.4 * guide[6]]), f"${1 - m}$",
                      color=style.QUIET, fontsize=9)  # fmt: skip
    right.semilogx(sizes, time_to_loss(psi, np.log(sizes), 0, level), color=TURN, lw=1.5,
                   label="$m = 0$, $\\varphi_0 = 3\\pi/4$")  # fmt: skip
    best = float(best_norm(nearer))
    right.semilogx([best], time_to_loss(psi, math.log(best), 0, level), "o", ms=6, mfc=TURN,
                   mec="white", ls="", label="its best $|w_0|$ for small losses")  # fmt: skip
    for ax in (left, right):
        ax.set(xlabel="$|w_0| / |w^*|$")
    left.set(ylabel="time $s = |w^*|^{2m}\\, t$", ylim=(2e-3, 2e7))
    right.set(ylim=(0.0, 30.0))
    legend_below(fig)
    return fig


def _power(level: float) -> str:
    return f"10^{{{round(math.log10(level))}}}\\,|w^*|^{{2(m+1)}}"


@in_house_style
def dips_and_depth(phi0: float, depths: Sequence[int] = (0, 1, 2, 4, 16)) -> Figure:
    """From |w_0| = |w*| at the angle phi0: (a) |w| against phi, (b) how far |w| and the output's
    scale v_1 ... v_m |w| fall, against m, with the bounds of eq. (11)."""
    fig, (left, right) = panels(1, 2, height=4.0, titles=("(a) the dip", "(b) how far it falls"))
    for m, colour, line in zip(depths, DEPTH_COLOURS, DEPTH_LINES, strict=False):
        left.plot(*_curve(phi0, 1.0, m), color=colour, ls=line, label=f"$m = {m}$")
    for m in depths:
        found = dip_from_teacher_norm(phi0, m)
        left.plot(angle(found.psi), found.least, "o", ms=5, mfc=TURN,
                  mec="white", mew=0.7, ls="", zorder=5, label=fresh(left, "turn"))  # fmt: skip
    left.set(xlabel="$\\varphi$", ylabel="$|w| / |w^*|$", xlim=(phi0, math.pi))
    left.set_xticks([0.5 * math.pi, 0.75 * math.pi, math.pi], ["π/2", "3π/4", "π"])
    many = np.arange(0, 33)
    least = np.array([dip_from_teacher_norm(phi0, int(m)).least for m in many])
    allowed = nullcline(phi0, 0) ** (1.0 / (many + 1))
    layers = many + 1
    right.loglog(
        layers, 1.0 - least, "o-", ms=3.5, lw=1.2, color=DYNAMICS_FLOW, label="fall of $|w|$"
    )
    right.loglog(layers, 1.0 - allowed, color=DYNAMICS_FLOW, ls=(0, (5, 2)), lw=1.1,
                 label="at most $1 - (1-\\varepsilon_0)^{1/(m+1)}$")  # fmt: skip
    right.loglog(layers, 1.0 - least**layers, "s-", ms=3.5, lw=1.2, color=NULLCLINE,
                 label="fall of $v_1\\cdots v_m|w|$")  # fmt: skip
    right.axhline(1.0 - float(nullcline(phi0, 0)), color=NULLCLINE, ls=(0, (5, 2)), lw=1.1,
                  label="limit $\\varepsilon_0$ for $m \\to \\infty$")  # fmt: skip
    right.set(xlabel="layers $m + 1$", ylabel="fall, relative", ylim=(0.02, 1.0))
    right.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    right.set_xticks([], minor=True)
    legend_below(fig)
    return fig


# --- Figures 1 and 2 of Lee, Sim & Ye 2022b, redrawn from full-scale runs -------------------------


RUNS_UPPER, RUNS_LOWER, NEW_UPPER, NEW_LOWER = "#E69F00", "#009E73", "#C0392B", "#8E44AD"
"""The paper's colours: orange and green, red and purple where the bounds start again."""
DATA, RUNS_DASHES = "#0072B2", (0, (3.5, 2.0))
POINTS, MARKS = 300, 12


@in_house_style
def angles(runs: Sequence[Run]) -> Figure:
    """Figure 1: phi(T) with both bounds, a row a depth and a column a norm.

    Descent on data over the population's descent and flow, and how far they are apart.
    """
    fig, axes = _grid(runs)
    for ax, run in zip(axes, runs, strict=True):
        T = _shown(run)
        below, above = angle_curves(run, run.population)
        ax.plot(T, (np.pi - below)[T], color=RUNS_UPPER, label="upper bound", zorder=2)
        ax.plot(T, (np.pi - above)[T], color=RUNS_LOWER, label="lower bound", zorder=2)
        _paths(ax, run, T, lambda path: np.pi - path.theta)
        ax.axhline(np.pi, color=style.QUIET, lw=0.8, zorder=1)
        shown = [np.maximum(np.pi - above[T], 0.0), run.trained.phi[T]]
        ax.set_ylim(float(np.min(shown)) - 0.1, 3.3)
        _gap(ax, run, 0, 0.04)
    _labels(axes, runs, "angle $\\varphi(T)$")
    legend_below(fig, columns=3)
    return fig


@in_house_style
def magnitudes(runs: Sequence[Run]) -> Figure:
    """Figure 2: |w(T)|/|w*| with its bounds, and with those that start again at a fifth of the
    steps.

    Only the runs of one and two layers, unless there are none. For more layers the bounds are those
    of Theorem 3.8 in its right form, at the times eta T.
    """
    chosen = [run for run in runs if run.setting.layers <= 2] or list(runs)
    fig, axes = _grid(chosen)
    for ax, run in zip(axes, chosen, strict=True):
        T = _shown(run)
        for start, upper, lower, word in (
            (0, RUNS_UPPER, RUNS_LOWER, ""),
            (run.setting.restart, NEW_UPPER, NEW_LOWER, ", restarted"),
        ):
            at = T[start <= T]
            curves = magnitude_curves(run.setting, run.trained, start)
            below, above = (curve[at - start] / run.target for curve in curves)
            ax.plot(at, above, color=upper, label=f"upper bound{word}", zorder=2)
            ax.plot(at, below, color=lower, label=f"lower bound{word}", zorder=2)
        _paths(ax, run, T, lambda path: path.length / path.target)
        place = run.setting.restart
        ax.plot(place, run.trained.length[place] / run.target, "o", ms=5, color=style.INK,
                label="restart", zorder=5)  # fmt: skip
        ax.set_ylim(bottom=0.0)
        _gap(ax, run, 1, 0.58)
    _labels(axes, chosen, "magnitude $|w(T)|\\,/\\,|w^*|$")
    legend_below(fig, columns=4)
    return fig


def _grid(runs: Sequence[Run]) -> tuple[Figure, NDArray]:
    """A row for each depth, a column for each norm, titles with the panel's name."""
    columns = len({run.setting.norm for run in runs})
    titles = [f"({chr(97 + k)}) {run.setting.name}" for k, run in enumerate(runs)]
    rows = len(runs) // columns
    return panels(rows, columns, height=2.05 * rows + 0.9, titles=titles, sharex=True)


def _shown(run: Run) -> NDArray:
    """The steps drawn: evenly spaced ones and dense early ones, the restart among them."""
    last = run.setting.steps
    early = np.geomspace(1, last, POINTS)
    even = np.linspace(0, last, POINTS)
    return np.unique(np.round([*even, *early, run.setting.restart])).astype(int)


def _paths(ax: Axes, run: Run, T: NDArray, value: Callable[[PopulationPath], NDArray]) -> None:
    """The run on data, thick, and over it the population's descent and flow."""
    if run.empirical is not None:
        ax.plot(T, value(run.empirical)[T], color=DATA, lw=2.6, label="descent on data", zorder=3)
    ax.plot(T, value(run.population)[T], color=style.INK, lw=1.1, ls=RUNS_DASHES, zorder=3.2,
            label="descent on the population")  # fmt: skip
    few = T[np.unique(np.searchsorted(T, np.linspace(0, T[-1], MARKS)))]
    ax.plot(few, value(run.flow)[few], ls="", marker="o", ms=3.2, mfc="white", mew=0.9,
            mec=style.INK, label="flow of the population", zorder=3.4)  # fmt: skip


def _gap(ax: Axes, run: Run, which: int, height: float) -> None:
    """Write the largest distances: data from population (sample), descent from flow (step)."""
    words = [f"step {distance(run.population, run.flow)[which]:.0e}"]
    if run.empirical is not None:
        words.insert(0, f"sample {distance(run.empirical, run.population)[which]:.0e}")
    ax.text(0.97, height, "\n".join(words), transform=ax.transAxes, ha="right", va="bottom",
            fontsize=7.5, color=style.INK)  # fmt: skip


def _labels(axes: NDArray, runs: Sequence[Run], name: str) -> None:
    columns = len({run.setting.norm for run in runs})
    for ax in axes[-columns:]:
        ax.set_xlabel("step $T$")
    for ax in axes[::columns]:
        ax.set_ylabel(name)
    last = runs[0].setting.steps
    for ax in axes:
        ax.set_xlim(0, last)
        ax.set_xticks([0, last // 2, last])
        ax.ticklabel_format(axis="x", style="sci", scilimits=(0, 0))


# --- Propositions B.2, C.1 and 3.5 of Lee, Sim & Ye 2022b in pictures: several minimisers,
# the angle of two random vectors, factors that keep their signs or fall silent --------------------


LAWS_COLOURS = ("#0072B2", "#D55E00", "#009E73")
_SAMPLED = {"ls": "", "marker": "o", "ms": 4.5, "mec": "white", "mew": 0.6}


@in_house_style
def segment_of_minimisers(
    points: ArrayLike, target: ArrayLike, starts: ArrayLike, window: Window
) -> Figure:
    """Proposition B.2: the loss (13) over w, its minimisers and flows (a) of the uniform law on the
    points (n, 2), (b) of the same points and their opposites; starts (k, 2)."""
    points, target = np.asarray(points, float), np.asarray(target, float)
    fig, axes = panels(1, 2, height=4.6, titles=("(a) the points", "(b) and their opposites"))
    for ax, X in zip(axes, (points, np.vstack([points, -points])), strict=True):
        _landscape(ax, X, target, np.asarray(starts, float), window, len(points))
    legend_below(fig, columns=2)
    return fig


def _landscape(
    ax: Axes, X: NDArray, target: NDArray, starts: NDArray, window: Window, drawn: int
) -> None:
    y = np.maximum(X @ target, 0.0)
    weight_plane(ax, window, equal=True)
    loss_levels(ax, X, y, floor=0.0)
    best = [m for m in local_minima(X, y) if m.rank == 1]
    stationary_sets(ax, best, X)
    for w0 in starts:
        flow(ax, affine_flow(X, y, w0), "ReLU flow", arrows=1, events=False)
    ax.plot(*target, ls="", marker="x", ms=8, mew=2.0, color=style.INK, zorder=7,
            label=fresh(ax, "teacher $w^*$"))  # fmt: skip
    activation_boundaries(ax, X, range(drawn))  # opposites share theirs


@in_house_style
def angle_tails(
    levels: Sequence[float], dimensions: ArrayLike, samples: Mapping[float, ArrayLike]
) -> Figure:
    """Proposition C.1: (a) the exact tail P(cos >= eps) over d with its bounds and sampled shares;
    (b) the angles that hold 95 % of all pairs of vectors.

    Parameters: `levels` the values of eps, at most three, `dimensions` (k,) values d >= 2, and
    `samples` {eps: shares (k,)}.
    """
    d = np.asarray(dimensions, int)
    fig, (left, right) = panels(
        1, 2, height=4.0, titles=("(a) the tail and its bounds", "(b) the angle of u and v")
    )
    every = np.unique(np.geomspace(d.min(), d.max(), 120).astype(int))
    for eps, colour in zip(levels, LAWS_COLOURS, strict=False):
        left.plot(every, laws.upper_tail(eps, every), color=colour, lw=1.8,
                  label=rf"exact tail, $\varepsilon = {eps:g}$")  # fmt: skip
        left.plot(every, laws.printed_bound(eps, every), color=colour, lw=1.3, ls="--")
        left.plot(every, laws.half_bound(eps, every), color=colour, lw=1.3, ls=":")
        share = np.asarray(samples[eps], float)
        seen = share > 0.0
        left.plot(d[seen], share[seen], color=colour, **_SAMPLED)
    # The colour tells eps, the line what is drawn.
    for what, line in (
        (r"$2\,e^{-d\varepsilon^2/2}$, printed", {"ls": "--", "lw": 1.3}),
        (r"$\frac{1}{2}\,e^{-d\varepsilon^2/2}$, ours", {"ls": ":", "lw": 1.3}),
        ("sampled share", _SAMPLED),
    ):
        style.legend_entry(left, what, color=style.QUIET, **line)
    left.axhline(1.0, color=style.INK, lw=0.8)
    left.set(xscale="log", yscale="log", ylim=(1e-5, 3.0), xlabel="dimension $d$",
             ylabel=r"$P(\cos \geq \varepsilon)$")  # fmt: skip
    ends = np.array([laws.central_angles(int(k), 0.95) for k in every])
    right.fill_between(every, ends[:, 0], ends[:, 1], color=LAWS_COLOURS[0], alpha=0.18, lw=0,
                       label="95 % of all pairs")  # fmt: skip
    right.axhline(90.0, color=style.INK, lw=0.9)
    right.axvline(100.0, color=style.QUIET, lw=1.0, ls=(0, (4.0, 2.5)), label="$d = 100$")
    right.set(xscale="log", xlabel="dimension $d$", ylabel="angle of $u$ and $v$ in degrees",
              ylim=(0.0, 180.0), yticks=[0, 45, 90, 135, 180])  # fmt: skip
    legend_below(fig, columns=3)
    return fig


@in_house_style
def factor_signs(negative: ChainPath, positive: ChainPath) -> Figure:
    """Proposition 3.5: the factors v_1, v_2 and |w| over time for (a) a target of negative and (b)
    one of positive output; a diamond is where a factor reaches 0 and the chain falls silent, dotted
    what it stays at."""
    titles = ("(a) target $-[x]_+$", "(b) target $[x]_+$")
    fig, axes = panels(1, 2, height=3.7, titles=titles, sharex=True, sharey=True)
    until = max(negative.t[-1], positive.t[-1])
    for ax, path in zip(axes, (negative, positive), strict=True):
        sizes = np.column_stack([path.v, np.linalg.norm(path.w, axis=1)])
        names = [*(f"$v_{k + 1}$" for k in range(path.v.shape[1])), r"$|w|$"]
        end = path.t[-1]
        for values, name, colour in zip(sizes.T, names, LAWS_COLOURS, strict=True):
            ax.plot(path.t, values, color=colour, label=fresh(ax, name))
            if path.factor:
                ax.plot([end, until], [values[-1]] * 2, color=colour, lw=1.2, ls=":")
        if path.factor:
            ax.plot(path.zero, 0.0, ls="", marker="D", ms=7, color=style.INK, zorder=5,
                    clip_on=False, label="a factor reaches 0")  # fmt: skip
        ax.axhline(0.0, color=style.INK, lw=0.9)
        ax.set(xlabel="time $t$", xlim=(0.0, until))
        ax.locator_params(axis="x", nbins=5)
        ax.xaxis.set_major_formatter("{x:g}")
    axes[0].set_ylabel("factors and magnitude")
    legend_below(fig, columns=4)
    return fig


# --- Bounds of Lee, Sim & Ye 2022b, Section 3, round flows: as printed, and as they should
# read ---------------------------------------------------------------------------------------------


BOUNDS_FLOW, BOUNDS_LOWER, BOUNDS_UPPER, PRINTED = "#0072B2", "#009E73", "#E69F00", "#D55E00"
SIZES = ("#CC79A7", "#56B4E9", "#332288")


@in_house_style
def comparison_solutions(phi0: float, m: int, below: float, above: float, until: float) -> Figure:
    """Theorem 3.8, |w*| = 1: the flow from (a) v_0 = `below` and (b) v_0 = `above` the branch point
    of the printed formula, the comparison solutions, and the printed u(t; 0) where it exists.

    The lower comparison solution rests at a = (1 - eps_0)^(1/(m+1)) v*."""
    titles = (f"(a) below the branch, $v_0 = {below:g}$", f"(b) above it, $v_0 = {above:g}$")
    fig, axes = panels(1, 2, height=3.9, titles=titles)
    t = np.linspace(0.0, until, 301)
    rest = float(nullcline(phi0, m))
    for ax, v0 in zip(axes, (below, above), strict=True):
        v = Start.at(phi0, v0, m).flow(t).length
        lower, upper = setting.layered_magnitude_bounds(t, phi0, v0, 1.0, m)
        ax.fill_between(t, lower, upper, color=style.QUIET, alpha=0.12, lw=0)
        ax.plot(t, upper, color=BOUNDS_UPPER, label=fresh(ax, "$u(t; 0)$, right"))
        ax.plot(t, v, color=BOUNDS_FLOW, lw=2.2, label=fresh(ax, "$v(t)$, flow"))
        ax.plot(t, lower, color=BOUNDS_LOWER, label=fresh(ax, r"$u(t; \varepsilon_0)$, right"))
        printed = setting.implicit_printed(t, phi0, v0, 1.0, m, 1.0)
        if np.isfinite(printed).all():
            ax.plot(t, printed, color=PRINTED, ls="--", label=fresh(ax, "$u(t; 0)$, printed"))
        else:
            ax.text(0.97, 0.93, "$u(t; 0)$, printed: no real value", color=PRINTED, ha="right",
                    va="top", transform=ax.transAxes)  # fmt: skip
        for height, name in ((rest, r"$\ell$"), (1.0, "$v^*$")):
            ax.axhline(height, color=style.QUIET, ls=":", lw=1.0, zorder=0.5)
            ax.annotate(name, (until, height), (4, 0), textcoords="offset points", va="center",
                        color=style.QUIET)  # fmt: skip
        ax.set(xlabel="time $t$", xlim=(0.0, until), ylim=(0.0, None))
    axes[0].set_ylabel("magnitude")
    legend_below(fig, columns=4)
    return fig


@in_house_style
def one_layer_bounds(phi0: float, norms: Sequence[float], until: float) -> Figure:
    """Theorems 3.3 and 3.4, |w*| = 1: (a) |w(t)| from several norms, (b) phi(t) from the first of
    them, (c) the first order of eq. (8)'s error for small norms against phi_0."""
    titles = ("(a) magnitude", "(b) angle", "(c) eq. (8), small norms")
    fig, axes = panels(1, 3, height=3.7, titles=titles)
    t = np.linspace(0.0, until, 201)
    for v0 in norms:
        v = Start.at(phi0, v0, 0).flow(t).length
        _enclosed(axes[0], t, v, *setting.magnitude_bounds(t, phi0, v0, 1.0))
    axes[0].set(xlabel="time $t$", ylabel="$|w(t)|$", xlim=(0.0, until), ylim=(0.0, None))
    start = Start.at(phi0, norms[0], 0)
    path = start.flow(t)
    least, most = setting.gap_bounds(t, start.psi, *norm_range(start, path), 1.0, 0)
    lower = np.pi - most
    _enclosed(axes[1], t, path.phi, lower, np.minimum(np.pi - least, np.pi))
    axes[1].fill_between(
        t,
        phi0 - 0.6,
        phi0,
        where=lower <= phi0,
        color=style.QUIET,
        lw=0,
        alpha=0.25,
        label="lower bound says less than $\\varphi_0 < \\varphi$",
    )
    axes[1].axhline(np.pi, color=style.QUIET, ls=":", lw=1.0)
    axes[1].annotate(r"$\pi$", (until, np.pi), (-2, 3), textcoords="offset points", ha="right",
                     color=style.QUIET)  # fmt: skip
    axes[1].set(xlabel="time $t$", ylabel=r"$\varphi(t)$", xlim=(0.0, until),
                ylim=(phi0 - 0.6, np.pi + 0.25))  # fmt: skip
    _first_order(axes[2])
    legend_below(fig, columns=3)
    return fig


def _enclosed(ax: Axes, t: NDArray, value: NDArray, lower: NDArray, upper: NDArray) -> None:
    ax.fill_between(t, lower, upper, color=style.QUIET, alpha=0.12, lw=0)
    ax.plot(t, upper, color=BOUNDS_UPPER, lw=1.3, label=fresh(ax, "upper bound"))
    ax.plot(t, value, color=BOUNDS_FLOW, lw=2.0, label=fresh(ax, "flow"))
    ax.plot(t, lower, color=BOUNDS_LOWER, lw=1.3, label=fresh(ax, "lower bound"))


def _first_order(ax: Axes, t: float = 1.0) -> None:
    """((1 - e^(-t/2)) |w*| - |w(t)|) / (|w_0| e^(-t/2)) at t against phi_0, and its limit."""
    phi = np.linspace(0.8, 3.1, 120)
    ax.plot(phi, (np.sin(phi) + np.pi * np.cos(phi)) / phi, color=style.INK, lw=1.3,
            label=r"$(\sin\varphi_0 + \pi\cos\varphi_0)/\varphi_0$")  # fmt: skip
    at = np.linspace(1.0, 3.0, 6)
    for v0, colour, mark in zip((0.3, 0.1, 0.001), SIZES, "osD", strict=True):
        ax.plot(at, [room(phi0, t, v0) for phi0 in at], ls="", marker=mark, ms=5, color=colour,
                label=f"flow, $|w_0| = {v0:g}\\,|w^*|$")  # fmt: skip
    ax.axhline(0.0, color=style.QUIET, lw=0.8)
    ax.axhspan(-1.25, 0.0, color=PRINTED, alpha=0.12, lw=0)
    ax.text(0.85, -0.6, "(8) fails", color=PRINTED, va="center")
    ax.set(xlabel=r"$\varphi_0$", xlim=(0.8, 3.2), ylim=(-1.25, None),
           ylabel="scaled room below (8)")  # fmt: skip


# --- Descent against the bounds of Section 4 and Appendix A of Lee, Sim & Ye 2022b ----------------


DESCENT_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
DESCENT_DASHES = ("-", "--", ":")

Pair = tuple[float, float]
"""phi0 and |w0| = v_1 = ..., in units of v*."""


@in_house_style
def bounds_missed(
    steps: Sequence[float], low: Pair, high: Pair, gaps: Sequence[float], reach: float = 12.0
) -> Figure:
    """(a) Theorem A.3, v* = 1: by how many eta descent is below its lower bound from the start
    `low`, and |w| above the upper one from `high`, against eta T <= `reach`. (b) Theorem 4.2,
    m = v* = 1: the largest excess over its bounds, in parts of pi - phi and of eta, against
    (pi - phi0) / eta, the `gaps`.

    Parameters: the steps eta, one dash each; positive values are violations.
    """
    titles = ("(a) Theorem A.3", "(b) Theorem 4.2")
    fig, (left, right) = panels(1, 2, height=4.0, titles=titles)
    for step, dash in zip(steps, DESCENT_DASHES, strict=True):
        _two_layers(left, step, dash, (low, high), reach)
        _angles(right, step, dash, gaps)
        left.plot([], [], color=style.INK, ls=dash, label=f"step 1/{1 / step:.0f}")
    for ax in (left, right):
        ax.axhline(0.0, color=style.QUIET, lw=0.9, zorder=1)
    left.set(xlabel="step size times $T$", ylabel="how far outside / step", xlim=(0.0, reach),
             ylim=(-0.1, 0.55))  # fmt: skip
    right.set(xscale="log", xlabel=r"$(\pi - \varphi_0)$ / step", ylim=(-0.05, 0.4),
              xlim=(min(gaps), max(gaps)),
              ylabel=r"largest excess / ($\pi - \varphi$) / step")  # fmt: skip
    legend_below(fig, columns=3)
    return fig


def _two_layers(ax: Axes, step: float, dash: str, starts: tuple[Pair, Pair], reach: float) -> None:
    curves = {}
    for side, (phi0, norm) in enumerate(starts):
        path = Start.at(phi0, norm, 1).descent(step, math.ceil(reach / step))
        lower, upper = two_layer_magnitude_bounds(path.t, phi0, norm, 1.0, step)
        if side == 0:
            curves["lower bound less $|w|$"] = lower - path.length
            curves["lower bound less $v_1$"] = lower - path.layers[:, 0]
        else:
            curves["$|w|$ less upper bound"] = path.length - upper
    for (label, outside), colour in zip(curves.items(), DESCENT_COLOURS, strict=False):
        # |w| and v_1 nearly coincide: the later one is drawn thinner, on top.
        ax.plot(step * path.t, outside / step, color=colour, ls=dash, label=fresh(ax, label),
                lw=2.6 if colour == DESCENT_COLOURS[0] else 1.2)  # fmt: skip


def _angles(ax: Axes, step: float, dash: str, gaps: Sequence[float]) -> None:
    cases = (("lower bound of $\\varphi$, $|w_0| = 1/2$", 0.5, 1),
             ("upper bound of $\\varphi$, $|w_0| = 2$", 2.0, 0))  # fmt: skip
    for (label, norm, side), colour in zip(cases, ("#E69F00", DESCENT_COLOURS[3]), strict=True):
        most = []
        for gap in gaps:
            path = near_descent(gap * step, norm, step, math.ceil(2.0 / step))
            most.append(excess(path, step, 1.0, 1.0, side)[1:].max() / step)
        ax.plot(gaps, most, color=colour, ls=dash, label=fresh(ax, label))


@in_house_style
def approximation(
    profiles: Sequence[tuple[str, Profile]], step: float, steps: Sequence[float], span: float
) -> Figure:
    """Theorem 4.1, c = 1: (a) |w(T) - g((1 - eta)^T)| along descent of one step size, against
    eta T; (b) its largest value up to eta T = `span` against eta, and lines eta and sqrt(eta)."""
    fig, (left, right) = panels(
        1, 2, height=4.0, titles=(f"(a) step 1/{1 / step:.0f}", "(b) largest error")
    )
    for (name, profile), colour in zip(profiles, DESCENT_COLOURS, strict=True):
        errors = approximation_errors(profile, 1.0, step, math.ceil(span / step))
        T = np.arange(1, len(errors))
        left.plot(step * T, errors[1:], color=colour, label=name)
        most = largest_errors(profile, 1.0, steps, span)
        right.plot(steps, most, color=colour, marker="o", ms=4, label=name)
    ends = np.array([min(steps), max(steps)])
    right.plot(ends, ends, color=style.QUIET, ls="--", lw=1.0, label="step size")
    right.plot(ends, np.sqrt(ends), color=style.QUIET, ls=":", lw=1.2, label="its square root")
    left.set(yscale="log", xlabel="step size times $T$", ylim=(1e-7, 2.0),
             ylabel=r"$|w(T) - g((1 - c\eta)^T)|$", xlim=(0.0, span))  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel=r"step size $\eta$, with $c = 1$")
    legend_below(fig, columns=3)
    return fig


# --- Figures 3 and 4 of Lee, Sim & Ye 2022b, redrawn from computed runs ---------------------------


TRAINED, DEEP_LOWER, DEEP_UPPER = "#0072B2", "#009E73", "#E69F00"
LAYERS = ("one layer", "two layers")
MAGNITUDE_COLOURS = ("#0072B2", "#D55E00", "#CC79A7")
_SMALLER = {"lw": 1.1, "ls": (0, (4.0, 2.0))}


@in_house_style
def restarted_bounds(drawn: Sequence[Restarts]) -> Figure:
    """Figure 3: |w(T)| over |w*|, and the bounds that start at four points of it.

    Parameters: the panels from left to right.
    """
    titles = [f"({chr(97 + k)}) {LAYERS[p.setting.layers - 1]}" for k, p in enumerate(drawn)]
    fig, axes = panels(1, len(drawn), height=4.3, titles=titles)
    for ax, panel in zip(axes, drawn, strict=True):
        for j, (at, (low, high)) in enumerate(zip(panel.points, panel.bounds, strict=True)):
            few = _few(len(low))
            keys = {"lw": 1.3, "alpha": 0.45 + 0.18 * j}
            T = panel.path.t[at:][few]
            ax.plot(T, high[few] / panel.target, color=DEEP_UPPER, ls=(0, (5, 2)),
                    label="upper bounds" if j == 3 else "_nolegend_", **keys)  # fmt: skip
            ax.plot(T, low[few] / panel.target, color=DEEP_LOWER, ls=(0, (2, 1.5)),
                    label="lower bounds" if j == 3 else "_nolegend_", **keys)  # fmt: skip
        few = _few(len(panel.path.t))
        ax.plot(panel.path.t[few], panel.v[few] / panel.target, color=TRAINED, lw=2.2,
                label=r"$\|w(T)\|$, descent on data")  # fmt: skip
        again = list(panel.points)  # t is the number of the step
        ax.plot(again, panel.v[again] / panel.target, ls="", marker="o", ms=5.5, mec="white",
                color=style.INK, zorder=5, label="points of restart")  # fmt: skip
        ax.set_xlabel("step $T$")
        ax.set_xlim(0, panel.path.t[-1])
        ax.margins(y=0.06)
    axes[0].set_ylabel(r"magnitude over $\|w^*\|$")
    legend_below(fig, columns=4)
    return fig


@in_house_style
def deep_magnitudes(recorded: Sequence[DeepRun], drawn: Sequence[DeepRun]) -> Figure:
    """Figure 4: magnitudes of a network of depth 5 in training, relative to their start, above;
    the loss over the zero function's below.

    Parameters: the runs (a) and (b) at full scale, solid, and smaller ones, dashed; of these one
    that diverges is left out.
    """
    titles = ("(a) small start, $k = 0.04$", "(b) large start, $k = 0.44$", "", "")
    fig, axes = panels(2, 2, height=6.4, titles=titles)
    for column, (run, other) in enumerate(zip(recorded, drawn, strict=True)):
        top, bottom = axes[column], axes[2 + column]
        colours = dict(zip(run.magnitudes, MAGNITUDE_COLOURS, strict=True))
        for name, values in run.magnitudes.items():
            if not name.startswith("product"):
                top.plot(run.steps, values / values[0], color=colours[name], label=_tex(name))
        bottom.plot(run.steps, run.losses / run.zero, color=style.INK, lw=1.5,
                    label="loss over that of $f = 0$")  # fmt: skip
        if not other.diverged:
            first = other.norms[:, 0] / other.norms[0, 0]
            top.plot(other.steps, first, color=MAGNITUDE_COLOURS[0], **_SMALLER,
                     label=r"$\|W_1\|$, flow on fewer data")  # fmt: skip
            bottom.plot(other.steps, other.losses / other.zero, color=style.INK, **_SMALLER,
                        label="its loss")  # fmt: skip
        bottom.set_yscale("log")
        bottom.set_xlabel("step $T$")
        for ax in (top, bottom):
            _steps_axis(ax, run, logarithmic=column == 1)
    axes[0].set_ylabel("magnitude over its start")
    axes[2].set_ylabel("loss")
    legend_below(fig)
    return fig


def _tex(name: str) -> str:
    return r"first layer $\|W_1\|$" if name.startswith("first") else "all weights"


def _steps_axis(ax: Axes, run: DeepRun, logarithmic: bool) -> None:
    if logarithmic:
        ax.set_xscale("symlog", linthresh=1.0, linscale=0.4)
        ticks = [0, 1, 10, 100, 1000, 10000]
        ax.set_xticks(ticks, ["0", "1", "10", "100", "1000", "10000"])
        ax.minorticks_off()
    ax.set_xlim(0, run.setting.n_steps)


def _few(size: int) -> NDArray:
    """Indices that resolve a curve of `size` points: dense early, evenly spaced later."""
    early, even = np.geomspace(1, size - 1, 150), np.linspace(0, size - 1, 300)
    return np.unique(np.round(np.concatenate([[0], early, even])).astype(int))
