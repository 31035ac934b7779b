"""The page on costs: its records, and what is drawn and tabulated of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from reluflow.figures.frame import name_curves
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.parameters import Parameter
from reluflow.places import RECORDS

OURS, BOOK = "affine_flow", "this book"
VERDICTS = {"right": "#117733", "said so": "#DDCC77", "silent": "#AA3377"}
NAMES = {"right": "right", "said so": "wrong, and said so", "silent": "wrong in silence"}


def record(name: str) -> pd.DataFrame:
    """The table `name` of data/records, without the line on the machine."""
    return pd.read_csv(RECORDS / f"cost_{name}.csv", comment="#", keep_default_na=False)


def machine(name: str) -> str:
    """On what the record `name` was measured, as its first line says."""
    return (RECORDS / f"cost_{name}.csv").read_text("utf-8").splitlines()[0].removeprefix("# ")


PARAMETERS: Mapping[str, Parameter] = {
    "solver": Parameter(
        str,
        "whose silent failures are listed",
        lambda name: name in set(record("silent")["solver"]),
        "a solver of Figure 1, as it is spelt there",
    ),
}


# --- Who is wrong in silence ----------------------------------------------------------------------


def verdicts() -> pd.DataFrame:
    """How many of the hard flows each solver has right, wrong and said so, wrong in silence."""
    found = record("silent").groupby(["solver", "verdict"]).size().unstack(fill_value=0)
    found = found.reindex(columns=list(VERDICTS), fill_value=0)
    return found.sort_values(["silent", "right"], ascending=[True, False])


@in_house_style
def silent() -> Figure:
    """The verdicts of each solver as bars, the one with fewest silent failures first."""
    found = verdicts()
    fig, (ax,) = panels(height=0.32 * len(found) + 1.2)
    left = np.zeros(len(found))
    for verdict, colour in VERDICTS.items():
        wide = found[verdict].to_numpy(float)
        ax.barh(list(found.index), wide, left=left, color=colour, label=NAMES[verdict])
        left += wide
    ax.invert_yaxis()
    ax.set(xlabel="hard flows", xlim=(0, left.max()))
    legend_below(fig)
    return fig


@in_house_style
def kinds() -> Figure:
    """Silent failures in per cent, by kind of difficulty and by family of solvers."""
    table = record("silent")
    events = np.where(table["solver"].str.contains("events"), ", events", "")
    table["family"] = table["solver"].replace(OURS, "exact").str.split("[ ,]").str[0] + events
    shown = 100 * table["verdict"].eq("silent").groupby([table["kind"], table["family"]]).mean()
    fig, (ax,) = panels(height=4.2)
    sns.heatmap(shown.unstack(), annot=True, fmt=".0f", cmap="rocket_r", cbar=False, ax=ax)
    ax.set(xlabel="", ylabel="")
    ax.tick_params(axis="x", labelrotation=90)
    return fig


def failures(solver: str) -> pd.DataFrame:
    """The flows that this solver has wrong in silence."""
    table = record("silent")
    wrong = table[(table["solver"] == solver) & (table["verdict"] == "silent")]
    return wrong[["kind", "case"]].reset_index(drop=True)


# --- Work against precision -----------------------------------------------------------------------


@in_house_style
def precision(against: str = "seconds", name: str = "precision") -> Figure:
    """Errors against `against`, "seconds" or "evaluations", three problems a row, of a `record`."""
    table = record(name)
    table = table[table["error"].ne("")].astype({"error": float, against: float})
    table["error"] = table["error"].clip(lower=1e-17)
    table["method"] = table["solver"].str.replace("affine_flow", "exact flow")
    problems, methods = table["problem"].unique(), list(table["method"].unique())
    rows = -(-len(problems) // 3)
    fig, axes = panels(rows, 3, height=1.0 + 3.4 * rows, titles=list(problems), sharey=True)
    for ax, problem in zip(axes, problems, strict=False):
        sns.lineplot(
            table[table["problem"] == problem], x=against, y="error", hue="method", style="method",
            hue_order=methods, style_order=methods, markers=True, dashes=False, sort=False,
            estimator=None, legend="full", ax=ax,
        )  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel=against, ylabel="relative error")
        ax.set_xlim(10.0 ** np.round(np.add(np.log10(ax.get_xlim()), [-0.5, 0.5])))  # two ticks
        ax.minorticks_off()  # half the time of the picture
    for part in (*(ax.get_legend() for ax in axes[: len(problems)]), *axes[len(problems) :]):
        part.remove()
    legend_below(fig)
    return fig


def fastest(error: float = 1e-6) -> pd.DataFrame:
    """The seconds to an error of at most `error`, of each flow of the record "flows": this book's,
    and the fastest other method's."""
    table = record("flows")
    good = table[pd.to_numeric(table["error"], errors="coerce") <= error].sort_values("seconds")
    best = good.groupby(["problem", good["solver"] == BOOK]).first()[["solver", "seconds"]]
    best = best.unstack().reindex(table["problem"].unique())
    ours, theirs = best["seconds", True], best["seconds", False]
    found = pd.DataFrame({BOOK: ours, "seconds": theirs, "ratio": theirs / ours})
    found = found.map("{:.2g}".format).replace("nan", "")
    found.insert(1, "fastest other", best["solver", False].fillna("none"))
    return found.rename_axis("flow").reset_index()


# --- Growth ---------------------------------------------------------------------------------------


def grown() -> pd.DataFrame:
    """The record of growth, with megabytes, and `over`: the time over the floor's."""
    table = record("growth")
    return table.assign(megabytes=table["bytes"] / 2**20, over=table["seconds"] / table["floor"])


def exponents(table: pd.DataFrame, what: str) -> pd.Series:
    """By which power of each size the column `what` grows, fitted to the larger half of sizes."""
    found = {}
    for size, part in table.groupby("size", sort=False):
        late = part[part["value"] >= part["value"].median()]
        found[size] = float(np.polyfit(np.log(late["value"]), np.log(late[what]), 1)[0])
    return pd.Series(found)


@in_house_style
def growth() -> Figure:
    """Seconds, megabytes, and seconds over the floor's, against each size: a panel each."""
    table = grown()
    fig, axes = panels(3, 1, height=9.0, titles=("seconds", "megabytes", "time over the floor's"))
    for ax, what in zip(axes, ("seconds", "megabytes", "over"), strict=True):
        sns.lineplot(table, x="value", y=what, hue="size", marker="o", estimator=None,
                     legend=False, ax=ax)  # fmt: skip
        for line, (size, power) in zip(ax.lines, exponents(table, what).items(), strict=True):
            line.set_label(size if what == "over" else f"{size}: {power:.1f}")
        ax.set(xscale="log", yscale="log", xlabel="", ylabel="")
        ax.minorticks_off()
        name_curves(ax)
    axes[2].set(xlabel="size", yticks=(3, 10, 30), yticklabels=("3", "10", "30"))
    return fig


# --- Targets --------------------------------------------------------------------------------------


def targets() -> pd.DataFrame:
    """What was aimed at, what was measured, whether that is met, and what the floor would give."""
    table = record("targets")
    most = table["sense"] == "at most"
    met = np.where(most, table["measured"] <= table["aim"], table["measured"] >= table["aim"])
    shown = table[["target"]].copy()
    shown["aim"] = table["sense"] + " " + table["aim"].map("{:g}".format)
    shown["measured"] = table["measured"].map("{:.3g}".format)
    shown["met"] = np.where(met, "yes", "no")
    floors = pd.to_numeric(table["floor"], errors="coerce")
    shown["floor"] = floors.map("{:.3g}".format).replace("nan", "")
    return shown


def compiled() -> tuple[pd.DataFrame, float, float]:
    """Seconds of each page of chapter 1 and of its flows, the longest first; seconds to load a
    compiler, and to compile one root finder."""
    table = record("compiled").set_index("what")
    load, compiling = (float(table.loc[w, "seconds"]) for w in ("loading Numba", "compiling"))
    pages = table[["flows", "count"]].apply(pd.to_numeric, errors="coerce").dropna()
    return pages.sort_values("flows", ascending=False), load, compiling
