"""Figures of the alignment: times against bounds, scales against bounds, and paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures.frame import halo_text
from reluflow.figures.style import INK, QUIET, in_house_style, legend_below, legend_entry, panels
from reluflow.flows.alignment import Alignment
from reluflow.papers.min2024early.maps import BesideTimes, printed_time
from reluflow.papers.min2024early.paths import Place
from reluflow.papers.min2024early.pictures.circle import PALE

PRINTED, OURS, NEEDED = "#D55E00", "#0072B2", INK
_MARKERS = "osD^v"
_FILLS = ("white", "#BBBBBB", "#444444")
_DASHES = ((0, (5, 2)), (0, (1.5, 1.2)))


@in_house_style
def times_against_mu(found: pd.DataFrame, mus: NDArray, ours: NDArray, slowest: NDArray) -> Figure:
    """The time that neurons need over mu, both logarithmic, with the printed t_1 and with t_*.

    `found` is of `maps.needed_times`; `ours` (m,) is t_* at `mus` (m,), `slowest` the times of the
    data that come nearest to it, at the values of mu that `found` has.
    """
    fig, (ax,) = panels(1, 1, height=4.6)
    ns = sorted(found.n.unique())
    for n, dash in zip((ns[0], ns[-1]), _DASHES, strict=False):
        ax.plot(mus, [printed_time(n, mu) for mu in mus], color=PRINTED, ls=dash,
                label=f"$t_1$ of the paper, $n = {n}$")  # fmt: skip
    ax.plot(mus, ours, color=OURS, label="$t_*$, for every $n$")
    drawn = sorted(found.mu.unique())
    ax.plot(drawn, slowest, ls="", marker="*", ms=9, mfc="#F2B701", mec=INK, mew=0.7,
            label="data that come nearest to $t_*$")  # fmt: skip
    for n, marker in zip(ns, _MARKERS, strict=False):
        for d, fill in zip(sorted(found.d.unique()), _FILLS, strict=False):
            part = found[(found.n == n) & (found.d == d)]
            ax.plot(part.mu, part.needed, ls="", marker=marker, ms=4.5, mfc=fill, mec=NEEDED,
                    mew=0.9)  # fmt: skip
        legend_entry(ax, f"slowest neuron drawn, $n = {n}$", ls="", marker=marker, ms=4.5,
                     mfc="white", mec=NEEDED, mew=0.9)  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="separation $\\mu$",
           ylabel="time until home, in $1 / X_{\\min}$")  # fmt: skip
    legend_below(fig, columns=3)
    return fig


@in_house_style
def beside_the_excluded(found: BesideTimes) -> Figure:
    """The time of a neuron over the decades of its angle from x_-: needed, t_*'s bound, and t_1."""
    fig, (ax,) = panels(1, 1, height=3.8)
    ax.plot(found.decades, found.needed, color=NEEDED, label="needed")
    ax.plot(found.decades, found.ours, color=OURS, ls=_DASHES[0],
            label="$t_* + \\log(\\cot(\\theta/2))\\,/\\,|x_-|$")  # fmt: skip
    ax.axhline(found.printed, color=PRINTED, ls=_DASHES[1], label="$t_1$ as printed")
    late = found.needed > found.printed
    pale = PALE["$S_+$"]
    ax.fill_between(found.decades, found.printed, found.needed, where=late, color=pale, lw=0,
                    label="not home at $t_1$")  # fmt: skip
    ax.set(xlabel="decades $k$: the neuron starts at the angle $10^{-k}$ from $x_-$",
           ylabel="time", xlim=(found.decades[0], found.decades[-1]), ylim=(0.0, None))  # fmt: skip
    legend_below(fig, columns=2)
    return fig


@in_house_style
def scales(slices: Mapping[str, pd.DataFrame]) -> Figure:
    """-ln eps over mu, n and h, one panel each: what (Small) asks for, what is enough, what does.

    `slices` are `maps.scales_along`.
    """
    names = {"mu": "separation $\\mu$", "n": "data $n$", "h": "neurons $h$"}
    fig, axes = panels(1, len(slices), height=3.9, sharey=True)
    for ax, (name, frame) in zip(axes, slices.items(), strict=True):
        rows = (
            ("small", PRINTED, "s", "(Small), with the minimum"),
            ("ours", OURS, "o", "enough, proved"),
            ("needed", NEEDED, "D", "enough, measured"),
        )
        for column, colour, marker, label in rows:
            values = np.maximum(-frame[column], 0.25)
            ax.plot(frame[name], values, color=colour, marker=marker, ms=5, mfc="white", mec=colour,
                    label=label)  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel=names[name])
        ax.set_xticks(list(frame[name]), [f"{value:g}" for value in frame[name]])
        ax.minorticks_off()
    axes[0].set_ylabel("$-\\ln\\,\\varepsilon$")
    legend_below(fig)
    return fig


@in_house_style
def slack_map(found: pd.DataFrame) -> Figure:
    """log10 of t_1 / (time needed) over n and mu, one panel for each d; `found` as above."""
    ds, ns = sorted(found.d.unique()), sorted(found.n.unique())
    mus = sorted(found.mu.unique())
    fig, axes = panels(1, len(ds), height=3.4, sharey=True, titles=[f"$D = {d}$" for d in ds])
    for ax, d in zip(axes, ds, strict=True):
        part = found[found.d == d].pivot(index="mu", columns="n", values="needed").loc[mus, ns]
        bound = found[found.d == d].pivot(index="mu", columns="n", values="printed").loc[mus, ns]
        slack = np.log10(bound.to_numpy() / part.to_numpy())
        ax.imshow(slack, origin="lower", aspect="auto", cmap="Oranges", vmin=0.0, vmax=14.0)
        for i, row in enumerate(slack):
            for k, value in enumerate(row):
                halo_text(ax, np.array([k, i]), f"{value:.0f}", fontsize=8.5)
        ax.set_xticks(range(len(ns)), [str(n) for n in ns])
        ax.set_yticks(range(len(mus)), [f"{mu:g}" for mu in mus])
        ax.set_xlabel("data $n$")
    axes[0].set_ylabel("separation $\\mu$")
    return fig


def _angle(u: NDArray) -> NDArray:
    return np.degrees(np.arctan2(u[..., 1], u[..., 0]))


@in_house_style
def journeys(
    X: NDArray, y: NDArray, found: Mapping[float, Sequence[Alignment]], until: float
) -> Figure:
    """Directions in the plane over time, a panel for each sign, with the cones behind them.

    Parameters: X (n, 2), y (n,), the alignments by sign, the last time shown.
    """
    titles = {1.0: "$v_j > 0$", -1.0: "$v_j < 0$"}
    fig, axes = panels(1, 2, height=4.3, sharey=True, titles=[titles[s] for s in found])
    times = np.linspace(0.0, until, 241)
    for ax, each in zip(axes, found.values(), strict=True):
        _cones(ax, X, y)
        for one in each:
            angles = _angle(one.at(times))
            jumps = np.flatnonzero(np.abs(np.diff(angles)) > 180.0) + 1
            drawn = np.insert(angles.astype(float), jumps, np.nan)
            ax.plot(np.insert(times, jumps, np.nan), drawn, color=INK, lw=0.9, alpha=0.75)
            shown = [event.t for event in one.events if event.t <= until]
            ax.plot(shown, _angle(one.at(shown)) if shown else [], ls="", marker="o", ms=3.2,
                    mfc="white", mec=INK, mew=0.8)  # fmt: skip
        ax.set(xlim=(0.0, until), ylim=(-180.0, 180.0), xlabel="time")
        ax.set_xticks(np.linspace(0.0, until, 5))
        ax.set_yticks([-180, -90, 0, 90, 180])
    axes[0].set_ylabel("direction, in degrees")
    legend_entry(axes[0], "a datum changes", color=INK, marker="o", ms=3.2, mfc="white", ls="")
    legend_below(fig, columns=4)
    return fig


def _cones(ax: Axes, X: NDArray, y: NDArray) -> None:
    grid = np.linspace(-180.0, 180.0, 3601)
    U = np.stack([np.cos(np.radians(grid)), np.sin(np.radians(grid))], axis=1)
    active = X @ U.T > 0.0
    kinds = {
        "$S_+$": np.all(active == (y == 1.0)[:, None], axis=0),
        "$S_-$": np.all(active == (y == -1.0)[:, None], axis=0),
        "$S_{dead}$": ~active.any(axis=0),
    }
    for label, inside in kinds.items():
        colour = PALE[label]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
        for a, b in edges.reshape(-1, 2):
            ax.axhspan(grid[a], grid[b - 1], color=colour, lw=0, zorder=0)
        if inside.any():
            legend_entry(ax, label, color=colour, lw=7)


@in_house_style
def lattice(paths: Mapping[str, Sequence[Place]], n_plus: int, n_minus: int) -> Figure:
    """Paths of counts on the lattice of (k_+, k_-), one panel each."""
    fig, axes = panels(1, len(paths), height=2.9, sharey=True, titles=list(paths))
    places = [(a, b) for a in range(n_plus + 1) for b in range(n_minus + 1)]
    for ax, path in zip(axes, paths.values(), strict=True):
        ax.plot(*np.array(places).T, ls="", marker="o", ms=6, mfc="white", mec=QUIET)
        ax.plot(0, 0, ls="", marker="x", ms=8, color=PRINTED, mew=1.6)
        for k, (a, b) in enumerate(pairwise(path), start=1):
            bend = "arc3,rad=0.18"
            ax.annotate(
                "",
                b,
                a,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": OURS,
                    "lw": 1.5,
                    "connectionstyle": bend,
                    "shrinkA": 5,
                    "shrinkB": 5,
                },
            )
            middle = 0.5 * (np.array(a) + b)
            across = np.array([b[1] - a[1], a[0] - b[0]], float)
            halo_text(ax, middle + 0.16 * across, str(k), fontsize=9, color=OURS)
        ax.set(xlabel="active positive data $k_+$", xlim=(-0.4, n_plus + 0.4),
               ylim=(-0.4, n_minus + 0.4))  # fmt: skip
        ax.set_xticks(range(n_plus + 1))
        ax.set_yticks(range(n_minus + 1))
    axes[0].set_ylabel("active negative data $k_-$")
    return fig
