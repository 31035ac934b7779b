"""Angle and magnitude of single ReLU neurons: phase portraits, times against |w_0|, dips and depth.

m is the number of factors besides w, phi = pi - angle(w, w*), |w*| = 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from reluflow.figures import style
from reluflow.figures.frame import fresh, halo_text
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.flows.half_angles import angle, log_tan
from reluflow.flows.orbit import orbits
from reluflow.flows.passage_times import time_to_angle, time_to_loss
from reluflow.flows.phases import (
    dip_from_teacher_norm,
    nullcline,
    phases,
    threshold_norm,
)
from reluflow.flows.population import pull
from reluflow.papers.lee2023magnitude.times import best_norm

FLOW, NULLCLINE, SEPARATRIX, TURN = "#0072B2", "#D55E00", "#117733", "#AA4499"
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
    ax.plot(phi, v, color=FLOW, lw=1.2, zorder=3, label=fresh(ax, "flow"))
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(phi), np.diff(v)))])
    k = int(np.searchsorted(length, 0.38 * length[-1]))
    ax.annotate("", (phi[k + 1], v[k + 1]), (phi[k], v[k]), zorder=3,
                arrowprops={"arrowstyle": "-|>", "color": FLOW, "lw": 0, "mutation_scale": 10},
                )  # fmt: skip


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
    right.loglog(layers, 1.0 - least, "o-", ms=3.5, lw=1.2, color=FLOW, label="fall of $|w|$")
    right.loglog(layers, 1.0 - allowed, color=FLOW, ls=(0, (5, 2)), lw=1.1,
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
