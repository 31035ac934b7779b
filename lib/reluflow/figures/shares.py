"""Shares of random trials against a scale: Wilson intervals and stacked bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.figures.style import in_house_style
from reluflow.statistics import wilson

_NORM = r"norm of the initial point $\|w_0\|$"


@in_house_style
def share_points(
    ax: Axes,
    scale: ArrayLike,
    hits: ArrayLike,
    trials: ArrayLike,
    label: str,
    *,
    series: int = 0,
    xlabel: str = _NORM,
    ylabel: str = "share of trials",
) -> None:
    """Draw shares hits/trials against a logarithmic scale with their 95 % Wilson intervals.

    Parameters: `scale` (m,) positive, `hits` and `trials` (m,) counts, `series` 0, 1, 2 ... chooses
    colour and marker and moves the points a little sideways, so that intervals do not coincide.
    """
    scale, k, n = (
        np.asarray(a, float) for a in (scale, hits, np.broadcast_to(trials, np.shape(hits)))
    )
    _log_axis(ax, scale, xlabel)
    low, high = wilson(k, n)
    colour = ("#0072B2", "#D55E00", "#117733", "#AA4499")[series % 4]
    marker = "osD^"[series % 4]
    at = scale * 10.0 ** (0.05 * series * _gap(scale))
    p = k / n
    ax.errorbar(
        at,
        p,
        yerr=np.maximum([p - low, high - p], 0.0),
        color=colour,
        marker=marker,
        ms=5.5,
        mec="white",
        mew=0.7,
        lw=1.4,
        elinewidth=1.2,
        capsize=2.5,
        label=label,
    )
    ax.set_ylim(-0.03, 1.03)
    ax.set_ylabel(ylabel)


@in_house_style
def share_bars(
    ax: Axes,
    scale: ArrayLike,
    counts: ArrayLike,
    names: Sequence[str],
) -> None:
    """Draw at each value of a logarithmic scale one bar, divided into the shares of the categories.

    Parameters: `scale` (m,) positive, `counts` (m, k) trials in each category, `names` (k,) the
    categories in order, drawn from dark (first, at the bottom) to pale (last).
    """
    scale, counts = np.asarray(scale, float), np.asarray(counts, float)
    if counts.shape != (len(scale), len(names)):
        raise InputError(
            f"counts has shape {counts.shape}, expected ({len(scale)}, {len(names)}): "
            "one row per value of scale, one column per name"
        )
    total = counts.sum(axis=1, keepdims=True)
    if np.any(total == 0):
        raise InputError(f"counts row {int(np.argmin(total[:, 0]))} has no trials")
    _log_axis(ax, scale, _NORM)
    share = counts / total
    foot = np.cumsum(share, axis=1) - share
    reach = 10.0 ** (0.42 * _gap(scale))
    colours = colormaps["cividis"](np.linspace(0.0, 0.95, len(names)))
    for j, name in enumerate(names):
        ax.bar(
            scale / reach,
            share[:, j],
            scale * reach - scale / reach,
            foot[:, j],
            align="edge",
            color=colours[j],
            edgecolor="white",
            lw=0.5,
            label=name,
        )
    ax.set_ylim(0.0, 1.0)
    ax.set_ylabel("share of trials")


def _gap(scale: NDArray) -> float:
    """Return the smallest distance between neighbours, in decades."""
    logs = np.sort(np.log10(scale))
    return float(np.min(np.diff(logs))) if len(logs) > 1 else 1.0


def _log_axis(ax: Axes, scale: NDArray, xlabel: str) -> None:
    if np.any(scale <= 0):
        raise InputError("scale must be positive: its axis is logarithmic")
    ax.set_xscale("log")
    reach = 10.0 ** (0.7 * _gap(scale))
    ax.set_xlim(scale.min() / reach, scale.max() * reach)
    ax.set_xlabel(xlabel)
