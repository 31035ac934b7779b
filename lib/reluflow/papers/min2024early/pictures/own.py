"""A reader's neurons while they turn: where they point, and when each of them is home."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.min2024early.mnist import Curves
from reluflow.papers.min2024early.own_flows import Turned
from reluflow.papers.min2024early.pictures.circle import NEGATIVE, POSITIVE, angles

_POINTS = 400
_LONGER = 1.3
"""The figure goes on for so much longer than the last neuron needs."""


def turning(turned: Turned) -> Figure:
    """The directions against time in the limit eps -> 0: angles in the plane, else cosines."""
    last = float(turned.homes.max())
    t = np.linspace(0.0, _LONGER * last if last > 0.0 else 1.0, _POINTS)
    W, signs = turned.directions(t), turned.own.signs
    if W.shape[-1] == 2:
        X, y = turned.own.X, turned.own.y
        return angles(X, y, t, W, np.broadcast_to(signs, W.shape[:2]), "$t$")
    return _cosines(turned, t, W)


@in_house_style
def _cosines(turned: Turned, t: np.ndarray, W: np.ndarray) -> Figure:
    """cos(w_j, x_+) where v_j > 0, in one panel, and cos(w_j, x_-) where v_j < 0, in another."""
    own = turned.own
    fig, axes = panels(1, 2, height=3.2, sharey=True)
    sides = (1.0, POSITIVE, "x_+", ">"), (-1.0, NEGATIVE, "x_-", "<")
    for ax, (sign, colour, name, order) in zip(axes, sides, strict=True):
        x = own.X[own.y == sign].sum(axis=0)
        if x.any():
            cosines = W[:, own.signs == sign] @ x / np.linalg.norm(x)
            ax.plot(t, cosines, color=colour, lw=0.7, alpha=0.8)
        ax.set(xlabel="$t$", ylabel=f"$\\cos(w_j, {name})$", ylim=(-1.05, 1.05))
        ax.set_title(f"neurons with $v_j {order} 0$")
    return fig


@in_house_style
def homes(turned: Turned, bounds: Sequence[tuple[str, float]]) -> Figure:
    """The share of the neurons whose active data change no more, against time, and times by which
    all should be there: `bounds`, a name and a time each."""
    homes = np.sort(turned.homes)
    later = [time for _, time in bounds]
    positive = homes[homes > 0.0]
    first = 0.3 * float(positive.min()) if positive.size else 0.1
    last = 2.0 * max([*later, float(homes.max(initial=1.0))])
    t = np.concatenate([[first], homes[homes > first], [last]])
    share = np.searchsorted(homes, t, side="right") / len(homes)
    fig, (ax,) = panels(1, 1, height=2.9)
    ax.semilogx(
        t, share, drawstyle="steps-post", color=style.INK, label="neurons that have arrived"
    )
    lines = (POSITIVE, (0, (1, 1.5))), (POSITIVE, (0, (5, 2))), (NEGATIVE, "-")
    for (name, time), (colour, line) in zip(bounds, lines, strict=False):
        ax.axvline(time, color=colour, ls=line, lw=1.4, label=name)
    ax.set(xlim=(first, last), ylim=(0.0, 1.05), xlabel="$t$", ylabel="share of the neurons")
    legend_below(fig, columns=4)
    return fig


@in_house_style
def training(curves: Curves) -> Figure:
    """A descent as the paper shows it: (a) the cosine of either group's mean neuron to the sum of
    its data, with the band of the group, whose worst neuron is a thin line; (b) the loss, |W|_2^2
    and the stable rank, which is cut off at 2.5."""
    titles = ("(a) alignment", "(b) growth")
    fig, (left, right) = panels(1, 2, height=3.5, titles=titles)
    sides = (curves.plus, POSITIVE, "+", "solid"), (curves.minus, NEGATIVE, "-", "dashed")
    for side, colour, sign, dash in sides:
        if np.isfinite(side[:, 0]).any():
            left.fill_between(curves.step, side[:, 1], side[:, 2], color=colour, alpha=0.15, lw=0.0)
            left.plot(curves.step, side[:, 1], color=colour, ls=dash, lw=0.8)
            left.plot(curves.step, side[:, 0], color=colour, ls=dash,
                      label=f"$\\cos(w_{sign}, x_{sign})$")  # fmt: skip
    style.legend_entry(left, "worst (thin line) to best of the group", color="#CCCCCC", lw=7.0)
    drawn = np.concatenate([curves.plus, curves.minus])
    least = float(drawn[np.isfinite(drawn)].min(initial=-0.1))
    left.set(ylim=(least - 0.05, 1.05), ylabel="cosine")
    size = max(float(curves.spectral.max()), 1e-300)
    for values, name, colour, dash in (
        (curves.loss / curves.loss[0], "loss, relative to the start", style.INK, "solid"),
        (curves.spectral / size, "$\\|W\\|_2^2$, relative to the end", "#AA4499", "dashed"),
        (curves.stable_rank, "stable rank of $W$", "#117733", "dotted"),
    ):
        right.plot(curves.step, values, color=colour, ls=dash, label=name)
    right.set(ylim=(0.0, 2.5))
    for ax in (left, right):
        ax.set(xlim=(curves.step[0], curves.step[-1]), xlabel="step")
        ax.locator_params(axis="x", nbins=4)
    legend_below(fig, columns=3)
    return fig
