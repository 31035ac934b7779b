"""Pictures of chapter 5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike, NDArray

from reluflow.figures import style
from reluflow.figures.frame import fresh, halo_text, name_curves
from reluflow.figures.style import datum_colour, datum_name, in_house_style, legend_below, panels
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin import tables
from reluflow.papers.vardi2022margin.constructions import values
from reluflow.papers.vardi2022margin.setting import Construction

# --- The margin problem: its value around a KKT point, and how fast a flow comes there ------------
#
# The value of a direction is |theta|^2 / (min margin)^(2/m), the squared length of its least
# feasible multiple (`constructions.values`).

COLOURS = ("#0072B2", "#D55E00", "#117733", "#AA4499", "#777777")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2, 2, 2)))


@in_house_style
def over_chart(
    made: Construction,
    limit: ArrayLike,
    at: Callable[[NDArray, NDArray], NDArray],
    axes: Mapping[str, float],
    marks: Mapping[str, ArrayLike],
) -> Figure:
    """The value at parameters `at(a, b)` (..., p) of two numbers, from 0 to the ends of the `axes`,
    by name, over that of the `limit` (p,) at (0, 0), less 1; with `marks`, name -> place."""
    A, B = np.meshgrid(*(np.linspace(0.0, end, 181) for end in axes.values()))
    value, least = (values(made.network, theta, made.X, made.y) for theta in (at(A, B), limit))
    relative = value / least - 1.0
    fig, (ax,) = panels(1, 1, height=4.4)
    (x, right), (y, top) = axes.items()
    ax.set(xlim=(-0.03 * right, right), ylim=(-0.03 * top, top), xlabel=x, ylabel=y)
    steps = [-1.0, -0.2, -0.1, -0.03, 0.0, 0.1, 0.3, 1.01]
    drawn = ax.contourf(A, B, np.clip(relative, -1.0, 1.0), levels=steps, zorder=1,
                        colors=["#2F7FB5", "#6FA9D0", "#A9CDE6", "#DCECF6",
                                "#FDF1E7", "#FBE0C8", "#F6C79C"])  # fmt: skip
    fig.colorbar(drawn, ax=ax, spacing="uniform", ticks=steps[1:-1], aspect=25,
                 format=PercentFormatter(1.0, decimals=0),
                 label="shorter or longer than the limit")  # fmt: skip
    ax.contour(A, B, relative, levels=[0.0], colors=style.INK, linewidths=1.4, zorder=2)
    style.legend_entry(ax, "as long as the limit", color=style.INK, lw=1.4)
    ax.plot(0.0, 0.0, ls="", **style.MARKERS["limit"], label="limit of the flow", zorder=6)
    for k, (name, place) in enumerate(marks.items()):
        ax.plot(*np.asarray(place), ls="", marker="sD^v"[k % 4], ms=7, mfc=style.GLOBAL,
                mec=style.INK, mew=0.9, label=name, zorder=6)  # fmt: skip
    legend_below(fig, columns=2)
    return fig


@in_house_style
def along(curves: Sequence[tuple[str, ArrayLike, ArrayLike]], xlabel: str) -> Figure:
    """Values relative to the limit's, less 1, along curves of parameters: (name, sizes (k,),
    values (k,)). Below 0 a curve is shorter than the limit."""
    fig, (ax,) = panels(1, 1, height=3.8)
    for k, (name, sizes, relative) in enumerate(curves):
        ax.plot(sizes, relative, color=COLOURS[k % 5], ls=DASHES[k % 5], label=name)
    ax.axhline(0.0, color=style.INK, lw=0.9)
    ax.set(xlabel=xlabel, ylabel="$\\|\\theta'\\|^2 / \\|\\tilde\\theta\\|^2 - 1$")
    name_curves(ax)
    return fig


@in_house_style
def approach(runs: Sequence[tuple[str, ArrayLike, ArrayLike]], quantity: str) -> Figure:
    """Errors against log10(1/L) on two logarithmic axes, with the power that fits the last half:
    of `runs`, (name, log10(1/L) > 0 (k,), error (k,)), without errors below 1e-7, of which a flow's
    own accuracy decides, and without runs that have fewer than five others."""
    fig, (ax,) = panels(1, 1, height=4.0)
    for k, (name, decades, errors) in enumerate(runs):
        decades, errors = np.asarray(decades, float), np.asarray(errors, float)
        kept = errors > 1e-7
        decades, errors = decades[kept], errors[kept]
        if len(errors) < 5:
            continue
        colour, middle = COLOURS[k % 5], len(decades) // 2
        power, level = np.polyfit(np.log(decades[middle:]), np.log(errors[middle:]), 1)
        ax.loglog(decades, errors, color=colour, ls=DASHES[k % 5],
                  label=name if len(runs) > 1 else None)  # fmt: skip
        guide = np.exp(level) * decades[middle:] ** power
        ax.loglog(decades[middle:], 1.5 * guide, color=style.QUIET, lw=0.9)
        place = decades[-1] ** 0.8
        height = (2.6 if k % 2 == 0 else 4.0) * np.exp(level) * place**power
        halo_text(ax, np.array([place, height]), f"slope {power:.1f}", color=colour, fontsize=9)
    if ax.lines:
        style.legend_entry(ax, "fitted power, shifted", color=style.QUIET, lw=0.9)
    else:
        ax.set_title("no run is far enough from its limit to be drawn", loc="left")
    ax.set(xlabel="$\\log_{10}(1/L)$", ylabel=quantity)
    legend_below(fig)
    return fig


@in_house_style
def ratios(families: Sequence[tuple[str, ArrayLike, ArrayLike]]) -> Figure:
    """How much longer the limit is than the best point, against the parameter h of the data, on
    logarithmic axes: (name, h (k,) rising, ratio (k,)); and a line of slope -1/2."""
    fig, (ax,) = panels(1, 1, height=4.0)
    for k, (name, sizes, found) in enumerate(families):
        ax.loglog(sizes, found, color=COLOURS[k % 5], ls=DASHES[k % 5], marker="osD^v"[k % 5],
                  ms=4.5, mec="white", mew=0.6, lw=1.3, label=name)  # fmt: skip
    sizes, found = (np.asarray(a, float) for a in families[0][1:])
    ax.loglog(sizes, 0.6 * found[0] * np.sqrt(sizes[0] / sizes), color=style.QUIET, lw=0.9,
              label="power $-1/2$")  # fmt: skip
    ax.axhline(1.0, color=style.INK, lw=0.9)
    ax.set(
        xlabel="$h$, falling: flatter data to the right",
        ylabel="$\\|\\tilde\\theta\\| / \\|\\theta^*\\|$",
    )
    ax.invert_xaxis()
    legend_below(fig)
    return fig


@in_house_style
def race(deltas: Sequence[float]) -> Figure:
    """alpha_2 / alpha_1 against log10(1/L) for the diagonal network of Theorem 5.1 of depth 3 on
    the datum (1 + delta, 1 - delta), all weights 1 at the start: in closed form.

    With s = 1 / alpha_1, which falls from 1 to 0, 1 / alpha_2 = 1 - (x_2 / x_1) (1 - s), and for
    the exponential loss log(1/L) is the margin sum_j x_j alpha_j^3.
    """
    fig, (ax,) = panels(1, 1, height=3.6)
    s = np.geomspace(1e-4, 1.0, 300)
    for k, delta in enumerate(deltas):
        first, second = 1.0 / s, 1.0 / (1.0 - (1.0 - delta) / (1.0 + delta) * (1.0 - s))
        margin = (1.0 + delta) * first**3 + (1.0 - delta) * second**3
        ax.semilogx(margin / np.log(10.0), second / first, color=COLOURS[k % 5], ls=DASHES[k % 5],
                    label=f"$\\delta = {delta:g}$")  # fmt: skip
    ax.set(xlabel="$\\log_{10}(1/L)$", ylabel="$\\alpha_2 / \\alpha_1$", ylim=(-0.03, 1.05))
    name_curves(ax)
    return fig


# --- Figure 1 and its cousins: where the first layer's neurons go ---------------------------------
#
# A neuron's vector is u_j = v_j w_j: its direction is that of the weights, its length what the
# neuron contributes.

NEURONS = ("#0072B2", "#D55E00", "#117733", "#AA4499", "#777777", "#882255")
"""Colours of the neurons, in order; more of them begin again."""


def vectors(network: Network, theta: ArrayLike) -> NDArray:
    """u_j, shape (..., h_1, d), of parameters theta (..., p) of a network of depth 2."""
    first, second = network.weights(theta)
    return second[..., 0, :, None] * first


@in_house_style
def two_times(
    network: Network, X: ArrayLike, thetas: ArrayLike, names: Sequence[str], limit: ArrayLike
) -> Figure:
    """The neurons' vectors u_j in the plane, one panel for each of the parameters thetas (k, p),
    with `names`, and in the last panel u_j / |theta|^2 of all of them and of the limit. The data X
    (n, 2) are rays."""
    X, thetas = np.asarray(X, float), np.asarray(thetas, float)
    titles = [*names, f"({chr(97 + len(names))}) relative to $\\|\\theta\\|^2$"]
    fig, axes = panels(1, len(titles), height=3.3, titles=titles)
    drawn = vectors(network, thetas)
    shares = [vectors(network, t) / np.dot(t, t) for t in (*thetas, np.asarray(limit, float))]
    for ax, theta in zip(axes, thetas, strict=False):
        _around(ax, X, drawn)
        for j, u in enumerate(vectors(network, theta)):
            _arrow(ax, (0.0, 0.0), u, NEURONS[j % len(NEURONS)])
            ax.annotate(f"$u_{{{j + 1}}}$", u, (6, 0), textcoords="offset points", va="center",
                        color=NEURONS[j % len(NEURONS)])  # fmt: skip
    last = axes[-1]
    _around(last, X, np.array(shares))
    moments = [*(f"$t_{{{k + 1}}}$" for k in range(len(thetas))), "limit"]
    for j in range(len(shares[0])):
        places = np.array([share[j] for share in shares])
        colour = NEURONS[j % len(NEURONS)]
        last.plot(*places.T, color=colour, lw=1.0, marker="o", ms=5, mec="white", mew=0.5)
        last.plot(*places[-1], ls="", **style.MARKERS["limit"], zorder=6)
        for place, words in zip(places, moments, strict=True):
            # A word at 0 stands above the rays, which start there.
            lift = 0 if words != "limit" else 5 if np.hypot(*place) > 0.1 else 14
            last.annotate(words, place, (7, lift), color=colour,
                          textcoords="offset points", va="center", fontsize=9)  # fmt: skip
    axes[0].set_ylabel("second entry")
    return fig


def _around(ax: Axes, X: NDArray, U: NDArray) -> None:
    """A window around 0 and the vectors U (..., 2), with the data as rays that bear their names."""
    low, high = (np.append(ends, 0.0) for ends in (U[..., 1].min(), U[..., 1].max()))
    tall = high.max() - low.min()
    _plane(ax, X, tall)
    ends = low.min() - 0.12 * tall, high.max() + 0.12 * tall
    ax.set(ylim=ends, xlim=(-0.55 * tall, 0.55 * tall), xlabel="first entry")
    for i, x in enumerate(X):
        halo_text(ax, 0.45 * tall * x / np.abs(x).max() + [0.0, 0.07 * tall], datum_name(i),
                  color=datum_colour(i))  # fmt: skip


@in_house_style
def points(
    network: Network, X: ArrayLike, thetas: ArrayLike, titles: Sequence[str], words: Sequence[str]
) -> Figure:
    """The data X (n, 2) and the vectors u_j of the parameters thetas (k, p), a panel for each, with
    a title and with a word for each neuron (k h,), in the panels' order."""
    X, thetas = np.asarray(X, float), np.asarray(thetas, float)
    fig, axes = panels(1, len(thetas), height=3.3, titles=titles)
    top, said = 1.15 * np.abs(vectors(network, thetas)).max(), iter(words)
    for ax, theta in zip(axes, thetas, strict=True):
        ax.set(xlim=(-2.2, 2.2), ylim=(-0.45, top), aspect="equal", xticks=[], yticks=[])
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.axhline(0.0, color=style.QUIET, lw=0.6, zorder=0.5)
        for i, x in enumerate(X):
            ax.plot(*x, "o", ms=7, color=datum_colour(i), mec="white", zorder=5)
            halo_text(ax, x + np.array([0.0, 0.3]), datum_name(i), color=datum_colour(i))
        for j, (u, word) in enumerate(zip(vectors(network, theta), said, strict=False)):
            colour = NEURONS[j % len(NEURONS)]
            _arrow(ax, (0.0, 0.0), u, colour, 2.2)
            place = [1.3, 0.8 * u[1]] if u[1] > 1.0 else [-1.25, 1.2]
            halo_text(ax, np.array(place), word, color=colour, fontsize=9)
    return fig


@in_house_style
def ways(network: Network, X: ArrayLike, paths: ArrayLike, names: Sequence[str]) -> Figure:
    """The first layer's weights w_j along flows in the plane, a panel for each of the paths
    (m, k, p), with `names`, an arrow at its last point and a dot at its first. The data X (n, 2)
    are rays."""
    X, paths = np.asarray(X, float), np.asarray(paths, float)
    fig, axes = panels(1, len(names), height=4.3, titles=names)
    weights = network.weights(paths)[0]
    for ax, one in zip(axes, weights, strict=True):
        size = 1.35 * np.abs(weights).max()
        _plane(ax, X, size)
        for i, x in enumerate(X):
            aside = 0.06 * size * np.array([-x[1], x[0]]) / np.abs(x).max()
            halo_text(ax, 0.93 * size * x / np.abs(x).max() + aside, datum_name(i),
                      color=datum_colour(i))  # fmt: skip
        for j in range(one.shape[1]):
            colour, path = NEURONS[j % len(NEURONS)], one[:, j]
            ax.plot(*path.T, color=colour, lw=1.8, label=f"$w_{{{j + 1}}}$")
            aside = 0.12 * np.abs(weights).max() * np.array([1.0, 1.0])
            halo_text(ax, path[-1] + aside, f"$w_{{{j + 1}}}$", color=colour)
            ax.plot(*path[0], "o", ms=4.5, color=colour, zorder=4)
            _arrow(ax, path[-2], path[-1], colour)
    return fig


def _plane(ax: Axes, X: NDArray, size: float) -> None:
    """A square window around 0, with the data as rays and the half-planes where they are active."""
    unit = 10.0 ** np.floor(np.log10(size))
    tick = float(unit * max(k for k in (1.0, 2.0, 5.0) if k <= max(size / unit, 1.0)))
    ends, ticks = (-size, size), [-tick, 0, tick]
    ax.set(xlim=ends, ylim=ends, aspect="equal", xticks=ticks, yticks=ticks)
    ax.axhline(0.0, color=style.QUIET, lw=0.6, zorder=0.5)
    ax.axvline(0.0, color=style.QUIET, lw=0.6, zorder=0.5)
    for i, x in enumerate(X):
        ray = 0.92 * size * x / np.abs(x).max()
        ax.plot([0, ray[0]], [0, ray[1]], color=datum_colour(i), lw=1.2, ls=(0, (1, 1.5)),
                label=fresh(ax, f"direction of {datum_name(i)}"), zorder=1)  # fmt: skip


def _arrow(ax: Axes, start: ArrayLike, end: ArrayLike, colour: str, width: float = 1.8) -> None:
    ax.annotate("", end, start, zorder=4, annotation_clip=False,
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0,
                            "shrinkB": 0, "mutation_scale": 12})  # fmt: skip


@in_house_style
def start_cones(X: ArrayLike) -> Figure:
    """The cones of weights that are active on all data X (n, 2), and on none."""
    X = np.asarray(X, float)
    fig, (ax,) = panels(1, 1, height=3.6)
    _plane(ax, X, 1.0)
    angles = np.deg2rad(np.linspace(-180.0, 180.0, 7201))
    units = np.column_stack([np.cos(angles), np.sin(angles)])
    edges = units[(units @ X.T > 0.0).all(axis=1)]  # the arc on which every datum is active
    for sign, colour, name in ((1, NEURONS[0], "$w_1$: active on all"),
                               (-1, NEURONS[1], "$w_2$: active on none")):  # fmt: skip
        fan = np.vstack([np.zeros(2), 0.9 * sign * edges])
        ax.add_patch(Polygon(fan, closed=True, fc=colour, alpha=0.35, lw=0, label=name))
        halo_text(ax, 0.55 * sign * edges.mean(axis=0), name.split(":")[0], color=colour)
    legend_below(fig)
    return fig


# --- Tables 1 and 2 as grids ----------------------------------------------------------------------

ENTRIES = {tables.GLOBAL: style.GLOBAL, tables.MIXED: "#FBE8AD", tables.LOCAL: "#FBE8AD",
           tables.NOT_LOCAL: "#DDE3EA"}  # fmt: skip
"""Colours of what is found; white where no limit is."""


@in_house_style
def entries(shown: Mapping[str, tables.Table]) -> Figure:
    """Tables of the paper as grids, a panel for each, by title. A cell has the colour of what the
    certificates give, and the paper's entry with its theorem; below stands how many certificates of
    each kind are behind it, or the entry found where that is another."""
    fig, axes = panels(1, len(shown), height=4.3, titles=list(shown))
    found, colours = list(ENTRIES), ListedColormap([*ENTRIES.values(), "#FFFFFF"])
    for ax, table in zip(axes, shown.values(), strict=True):
        cells = [[table[f"{row}.{name}"] for name in tables.NAMES] for row in table.rows]
        kinds = [[found.index(c.found) if c.found in found else len(found) for c in row]
                 for row in cells]  # fmt: skip
        ax.pcolormesh(kinds, cmap=colours, vmin=-0.5, vmax=len(found) + 0.5, ec="white", lw=3)
        for place, c in ((0.5 + np.array([j, i]), c) for i, row in enumerate(cells)
                         for j, c in enumerate(row)):  # fmt: skip
            ax.text(*place, _words(c), ha="center", va="center", size=8, linespacing=1.35)
        ax.set_xticks(0.5 + np.arange(2), list(tables.NAMES.values()))
        ax.set_yticks(0.5 + np.arange(len(cells)),
                      [words.replace(", ", ",\n") for words in table.rows.values()])  # fmt: skip
        ax.invert_yaxis()
        ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
        ax.spines[:].set_visible(False)
    return fig


def _words(cell: tables.Cell) -> str:
    proofs = "\n".join(f"{number} {kind}" for kind, number in sorted(cell.proofs.items()))
    below = f"✓ {proofs}" if cell.found == cell.printed else f"found: {cell.found}"
    return f"{cell.printed}\n{cell.theorem}\n{below}"
