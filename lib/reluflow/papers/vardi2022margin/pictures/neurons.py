"""Figure 1 of Vardi, Shamir & Srebro 2022 and its cousins: where the first layer's neurons go.

A neuron's vector is u_j = v_j w_j in a network of depth 2, and |W_2[:, j]| w_j in a deeper one: its
direction is that of the weights, its length what the neuron contributes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import fresh, halo_text
from reluflow.figures.style import datum_colour, datum_name, in_house_style, legend_below, panels
from reluflow.networks.indexed import Network

NEURONS = ("#0072B2", "#D55E00", "#117733", "#AA4499", "#777777", "#882255")
"""Colours of the neurons, in order; more of them begin again."""
LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)))


def vectors(network: Network, theta: ArrayLike) -> NDArray:
    """u_j, shape (..., h_1, d), of parameters theta (..., p); v_j w_j where the depth is 2."""
    first, second, *deeper = network.weights(theta)
    outgoing = np.linalg.norm(second, axis=-2) if deeper else second[..., 0, :]
    return outgoing[..., None] * first


@in_house_style
def two_times(
    network: Network, X: ArrayLike, thetas: ArrayLike, names: Sequence[str], limit: ArrayLike
) -> Figure:
    """The neurons' vectors u_j in the plane, one panel for each of the parameters thetas (k, p),
    and in the last panel u_j / |theta|^2 of all of them and of the limit.

    Parameters: `names` of the k panels, X (n, 2) the data, drawn as rays.
    """
    X, thetas = np.asarray(X, float), np.asarray(thetas, float)
    titles = [*names, f"({chr(97 + len(names))}) relative to $\\|\\theta\\|^2$"]
    fig, axes = panels(1, len(titles), height=3.5, titles=titles)
    longest = 1.12 * np.abs(vectors(network, thetas)).max()
    for ax, theta in zip(axes, thetas, strict=False):
        _plane(ax, X, longest)
        _arrows(ax, vectors(network, theta))
    last = axes[-1]
    shares = [vectors(network, t) / np.dot(t, t) for t in (*thetas, np.asarray(limit, float))]
    _plane(last, X, 1.25 * np.abs(shares).max())
    for j in range(len(shares[0])):
        places = np.array([share[j] for share in shares])
        colour = NEURONS[j % len(NEURONS)]
        last.plot(*places.T, color=colour, lw=1.0, marker="o", ms=3.5, mec="white", mew=0.5)
        last.plot(*places[-1], ls="", **style.MARKERS["limit"], zorder=6,
                  label=fresh(last, "limit"))  # fmt: skip
    legend_below(fig, columns=4)
    return fig


@in_house_style
def ways(network: Network, X: ArrayLike, paths: ArrayLike, names: Sequence[str]) -> Figure:
    """The first layer's weights w_j along flows in the plane, a panel for each of the paths
    (m, k, p), with an arrow at its last point and a dot at its first.

    Parameters: `names` of the m panels, X (n, 2) the data, drawn as rays.
    """
    X, paths = np.asarray(X, float), np.asarray(paths, float)
    fig, axes = panels(1, len(names), height=4.3, titles=names)
    weights = network.weights(paths)[0]
    for ax, one in zip(axes, weights, strict=True):
        _plane(ax, X, 1.15 * np.abs(weights).max())
        for j in range(one.shape[1]):
            colour, path = NEURONS[j % len(NEURONS)], one[:, j]
            ax.plot(*path.T, color=colour, lw=1.8, label=f"$w_{{{j + 1}}}$")
            ax.plot(*path[0], "o", ms=4.5, color=colour, zorder=4)
            ax.annotate("", path[-1], path[-2], zorder=4,
                        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8,
                                    "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13})  # fmt: skip
    legend_below(fig, columns=4)
    return fig


def _plane(ax: Axes, X: NDArray, size: float) -> None:
    """A square window around 0, with the data as rays and the half-planes where they are active."""
    ax.set(xlim=(-size, size), ylim=(-size, size), aspect="equal")
    ax.axhline(0.0, color=style.QUIET, lw=0.6, zorder=0.5)
    ax.axvline(0.0, color=style.QUIET, lw=0.6, zorder=0.5)
    ax.set_xticks([-_round(size), 0, _round(size)])
    ax.set_yticks([-_round(size), 0, _round(size)])
    for i, x in enumerate(X):
        ray = 0.92 * size * x / np.abs(x).max()
        ax.plot([0, ray[0]], [0, ray[1]], color=datum_colour(i), lw=1.2, ls=(0, (1, 1.5)),
                label=fresh(ax, f"direction of {datum_name(i)}"), zorder=1)  # fmt: skip


def _round(size: float) -> float:
    """A short number below `size`."""
    unit = 10.0 ** np.floor(np.log10(size))
    return float(unit * (5.0 if size >= 5.0 * unit else 2.0 if size >= 2.0 * unit else 1.0))


def _arrows(ax: Axes, U: NDArray) -> None:
    size = ax.get_xlim()[1]
    for j, u in enumerate(U):
        colour = NEURONS[j % len(NEURONS)]
        ax.annotate("", u, (0.0, 0.0), zorder=4, annotation_clip=False,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8,
                                "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11})  # fmt: skip
        style.legend_entry(ax, f"$u_{{{j + 1}}}$", color=colour, lw=1.8)
        if np.linalg.norm(u) < 0.02 * size:
            ax.plot(*u, "o", ms=3.5, color=colour, zorder=4)


@in_house_style
def shares(network: Network, decades: ArrayLike, thetas: ArrayLike) -> Figure:
    """Every neuron's share |u_j| / |theta|^2 of the whole along a flow, against log10(1/L).

    Parameters: decades = log10(1/L) > 0 (k,), thetas (k, p) of any length.
    """
    thetas = np.asarray(thetas, float)
    sizes = np.linalg.norm(vectors(network, thetas), axis=-1)
    whole = np.linalg.norm(thetas, axis=-1)[:, None] ** 2
    fig, (ax,) = panels(1, 1, height=3.2)
    for j, share in enumerate((sizes / whole).T):
        ax.semilogx(np.asarray(decades, float), share, label=f"$u_{{{j + 1}}}$",
                    color=NEURONS[j % len(NEURONS)], ls=LINES[j % len(LINES)])  # fmt: skip
    ax.set(xlabel="$\\log_{10}(1/L)$", ylabel="$\\|u_j\\| / \\|\\theta\\|^2$", ylim=(0.0, None))
    legend_below(fig, columns=6)
    return fig


@in_house_style
def start_cones(X: ArrayLike, shares: Sequence[tuple[str, float]]) -> Figure:
    """(a) The cones of weights that are active on all data X (n, 2), and on none; (b) for each
    scheme (name, probability) how likely a start is to have one neuron in each and v_1 > 0."""
    X = np.asarray(X, float)
    titles = ("(a) where $w_1(0)$ and $w_2(0)$ must lie", "(b) probability of such a start")
    fig, (left, right) = panels(1, 2, height=3.6, titles=titles)
    _plane(left, X, 1.0)
    edges = _cone(X)
    for sign, colour, name in ((1, NEURONS[0], "$w_1$: active on all"),
                               (-1, NEURONS[1], "$w_2$: active on none")):  # fmt: skip
        fan = np.vstack([np.zeros(2), 0.9 * sign * edges])
        left.add_patch(Polygon(fan, closed=True, fc=colour, alpha=0.35, lw=0, label=name))
        halo_text(left, 0.55 * sign * edges.mean(axis=0), name.split(":")[0], color=colour)
    names, values = zip(*shares, strict=True)
    places = np.arange(len(names))[::-1]
    right.barh(places, values, height=0.55, color=NEURONS[0])
    for place, value in zip(places, values, strict=True):
        halo_text(right, np.array([0.5 * max(values), place + 0.42]), f"{value:.5f}", fontsize=9)
    right.set_yticks(places, names)
    right.set_xticks([0.0, 0.001, 0.002, 0.003] if max(values) < 0.004 else [0.0, max(values)])
    right.set(xlabel="probability", xlim=(0.0, 1.1 * max(values)), ylim=(-0.5, len(names) - 0.3))
    legend_below(fig)
    return fig


def _cone(X: NDArray) -> NDArray:
    """Unit vectors along the arc of directions on which every datum is active, shape (k, 2)."""
    angles = np.deg2rad(np.linspace(-180.0, 180.0, 7201))
    units = np.column_stack([np.cos(angles), np.sin(angles)])
    return units[(units @ X.T > 0.0).all(axis=1)]
