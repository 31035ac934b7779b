"""All runs of a sweep as one table and one page: the runs that flipped a verdict first.

Seaborn draws the means and their intervals. Rows of older code are in the table, marked, and
in no picture.
"""

from __future__ import annotations

import base64
import io
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from reluflow.figures.style import QUIET, house, panels
from reluflow.figures.vector import svg
from reluflow.ledger.rows import OPEN, badge
from reluflow.statistics import student_interval, wilson
from reluflow.sweep.plan import Plan
from reluflow.sweep.runs import DONE

RUN, STALE = ("key", "status", "seconds", "error"), "run.stale"
KINDS = ("parameters", "verdicts", "evidence")
SEED = "seed"
# Columns that are no parameters: no parameter's name has a dot or a blank.
SHARE, CLAIM, ALL = "run.share", "the claim", "all runs"
MOST_CURVES, MOST_LISTED, MOST_LABELS = 24, 200, 40
_STYLE = """body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}
img{max-width:100%;background:#fff}pre{overflow-x:auto;font-size:.8rem}figure{margin:1.5rem 0}
.old{border-left:.3rem solid #b42318;padding-left:.6rem}
h1{overflow-wrap:anywhere}table{display:block;overflow-x:auto;border-collapse:collapse}
th,td{padding:.2em .5em;border-bottom:1px solid #bbb;text-align:left}"""


class Swept:
    """The rows of a sweep as one table: a row a run in the order of the grid, those of other grids
    behind it and those of older code last, with its key, status and error, its parameters, the
    verdict on each claim, and every number of evidence by "claim: what was measured".

    fresh, ended  the rows of this code, and those of them in which no cell raised an error
    names         the columns, by what they are
    varied        the parameters with more than one value among the fresh rows, and their values
    flipped       the claims with more than one verdict among the runs that ended, the most frequent
                  first, and how often each
    limits        what evidence is held against
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], asked: Plan) -> None:
        places = {key: k for k, key in enumerate(asked.points)}
        every = sorted(rows, key=lambda row: places.get(row["key"], len(places)))
        every.sort(key=lambda row: row["code"] != asked.code)
        self.names = {kind: list(dict.fromkeys(name for row in every for name in row[kind]))
                      for kind in KINDS}  # fmt: skip
        self.limits = {name: v for row in every for name, v in row["limits"].items()}
        cells = []
        for row in every:
            given = {
                n: _told(v) if isinstance(v, list) else v for n, v in row["parameters"].items()
            }
            about = {f"run.{name}": row[name] for name in RUN} | {STALE: row["code"] != asked.code}
            cells.append(about | given | row["verdicts"] | row["evidence"])
        columns = chain((f"run.{name}" for name in RUN), [STALE], *self.names.values())
        frame = pd.DataFrame(cells, columns=list(columns))
        for name in self.names["parameters"]:  # a column of Parquet has one type
            several = frame[name].map(type).nunique() > 1
            if several and not pd.api.types.is_numeric_dtype(frame[name]):
                frame[name] = frame[name].map(_told)
        self.table = frame.astype(dict.fromkeys(self.names["evidence"], float))
        self.fresh = self.table[~self.table[STALE].astype(bool)]
        self.ended = self.fresh[self.fresh["run.status"] == DONE].fillna(
            dict.fromkeys(self.names["verdicts"], OPEN)
        )
        unlike = {name: self.fresh[name].drop_duplicates() for name in self.names["parameters"]}
        self.varied = {name: list(v) for name, v in unlike.items() if len(v) > 1}
        counts = {id: self.ended[id].value_counts() for id in self.names["verdicts"]}
        self.flipped = {id: given for id, given in counts.items() if len(given) > 1}


def _told(value: Any) -> str:
    """NaN, which a table makes of None, as null."""
    return value if isinstance(value, str) else json.dumps(value if value == value else None)


# --- The page -------------------------------------------------------------------------------------


def files(title: str, command: str, swept: Swept) -> Iterator[tuple[str, bytes]]:
    """What is to be written of a sweep: its table in two forms, and one page of HTML that needs
    nothing else: what flipped, what failed, where, and how far."""
    data = io.BytesIO()
    swept.table.to_parquet(data, index=False)
    yield "table.parquet", data.getvalue()
    yield "table.csv", swept.table.to_csv(index=False).encode()
    parts = [*_flips(swept), *_failures(swept)]
    if len(swept.ended):
        parts += [*_map(swept), *_curves(swept)]
    yield (
        "index.html",
        (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
            f"<body><h1>{escape(title)}</h1>{''.join(_summary(swept))}<p>Made by</p>"
            f"<pre>{escape(command)}</pre>{''.join(parts)}</body></html>\n"
        ).encode(),
    )


def _summary(swept: Swept) -> Iterator[str]:
    runs, old = len(swept.fresh), len(swept.table) - len(swept.fresh)
    over = "; ".join(f"{name}, {len(v)} values" for name, v in swept.varied.items()) or "one point"
    claims = f"{len(swept.flipped)} of {len(swept.names['verdicts'])}"
    yield f"<p>Runs: {runs}, over {escape(over)}; failed: {runs - len(swept.ended)}. "
    yield f"Claims with another verdict in some run than in others: {claims}. "
    yield 'All numbers are in <a href="table.csv">table.csv</a> and table.parquet.</p>'
    if old:
        yield f'<p class="old">Rows of older code or data: {old}, '
        yield "in the table with run.stale, and in no picture.</p>"


def _flips(swept: Swept) -> Iterator[str]:
    if not swept.flipped:
        return
    lines = [
        {"run": _link(row["run.key"])}
        | {name: escape(_told(row[name])) for name in swept.varied}
        | {"claim": id, "verdict here": badge(row[id]), "in most runs": badge(counts.index[0])}
        for _, row in swept.ended.iterrows()
        for id, counts in swept.flipped.items()
        if row[id] != counts.index[0]
    ]
    shown = pd.DataFrame(lines[:MOST_LISTED]).to_html(index=False, escape=False, border=0)
    yield f"<h2>Flipped verdicts</h2>{shown}"
    yield _left_out(len(lines), MOST_LISTED, "flipped verdicts")


def _failures(swept: Swept) -> Iterator[str]:
    failed = swept.fresh[swept.fresh["run.status"] != DONE]
    yield f"<h2>Failed runs: {len(failed)}</h2>" if len(failed) else ""
    for _, row in failed[:MOST_LISTED].iterrows():
        values = ", ".join(f"{name}={_told(row[name])}" for name in swept.varied)
        last = (row["run.error"].strip().splitlines() or [row["run.status"]])[-1]
        yield f"<details><summary>{escape(values)}: {escape(last)}</summary>"
        yield f"<p>{_link(row['run.key'])}</p><pre>{escape(row['run.error'])}</pre></details>"
    yield _left_out(len(failed), MOST_LISTED, "failed runs")


def _link(key: str) -> str:
    return f'<a href="runs/{key}.ipynb">{key[:8]}</a>'


def _left_out(found: int, most: int, what: str) -> str:
    return f"<p>More {what}, in the table: {found - most}.</p>" if found > most else ""


# --- Verdicts over the grid -----------------------------------------------------------------------


def _map(swept: Swept) -> Iterator[str]:
    """In how many runs at each point of two parameters a claim has its most frequent verdict."""
    yield "<h2>Verdicts over the grid</h2>"
    if not swept.flipped:
        yield "<p>Every claim has one verdict, the same in all runs that ended.</p>"
        return
    axes = sorted((n for n in swept.varied if n != SEED), key=lambda n: -len(swept.varied[n]))[:2]
    at = swept.ended[axes].map(_told) if axes else swept.ended[[]].assign(**{ALL: ""})
    points = [
        at.assign(**{CLAIM: f"{id}, {given.index[0]}", SHARE: swept.ended[id] == given.index[0]})
        for id, given in swept.flipped.items()
    ]
    counts = pd.concat(points).pivot_table(
        SHARE, [CLAIM, *at.columns[1:]], at.columns[0], ["mean", "sum", "size"], sort=False
    )
    shown = counts[:MOST_LABELS]
    told = shown["sum"].map("{:g}".format) + " of " + shown["size"].map("{:g}".format)
    title = "Runs in which each claim is as in most of them"
    with house():
        fig, (ax,) = panels(height=1.2 + 0.42 * len(shown), titles=[title])
        sns.heatmap(
            shown["mean"], annot=told, fmt="", vmin=0.0, vmax=1.0, cmap="cividis", ax=ax,
            linewidths=0.5, annot_kws={"size": 8}, cbar=False,
        )  # fmt: skip
        ax.tick_params(axis="y", rotation=0)
    least = shown["mean"].stack().idxmin()
    yield _shown(fig, f"{title}: least often at {', '.join(least)}, {told.stack()[least]}")
    yield _left_out(len(counts), MOST_LABELS, "lines of this picture")


# --- Evidence against a parameter -----------------------------------------------------------------


def interval(values: pd.Series) -> tuple[float, float]:
    """A mean's 95 % interval: Wilson's for shares of zeros and ones, else Student's."""
    numbers = values.to_numpy()
    if np.isin(numbers, (0.0, 1.0)).all():
        low, high = wilson(int(numbers.sum()), len(numbers))
        return float(low), float(high)
    return student_interval(numbers)


def _curves(swept: Swept) -> Iterator[str]:
    """Evidence that is not the same in all runs, that of flipped claims first, against the
    parameter with the most values; a second one has a colour each."""
    varied = swept.varied
    numeric = [n for n, v in varied.items()
               if all(isinstance(e, int | float) and e == e for e in v)]  # fmt: skip
    if not numeric:
        return
    x = min(numeric, key=lambda n: (n == SEED, -len(varied[n])))
    hue = next((n for n in varied if n not in (x, SEED) and len(varied[n]) <= 6), None)
    frame = swept.ended.replace([np.inf, -np.inf], np.nan)
    frame = frame.assign(**{hue: frame[hue].map(_told)}) if hue else frame
    names = [n for n in swept.names["evidence"] if frame[n].nunique() > 1]
    names.sort(key=lambda name: name.split(":")[0] not in swept.flipped)
    yield f"<h2>Evidence against {escape(x)}</h2><p>Means over the runs at each point, with 95 % "
    yield "intervals (Student's; Wilson's for shares); dashed: the limit that the claim needs.</p>"
    for name in names[:MOST_CURVES]:
        yield _curve(frame.dropna(subset=name), x, name, hue, swept.limits.get(name))
    yield _left_out(len(names), MOST_CURVES, "measured numbers that vary")


def _curve(frame: pd.DataFrame, x: str, name: str, hue: str | None, limit: float | None) -> str:
    with house():
        fig, (ax,) = panels(height=3.0, titles=[textwrap.fill(name, 80)])
        sns.lineplot(
            frame, x=x, y=name, hue=hue, palette="colorblind" if hue else None, marker="o",
            errorbar=interval, err_style="bars", ax=ax,
        )  # fmt: skip
        if hue:
            sns.move_legend(ax, "upper left", bbox_to_anchor=(1.0, 1.0))
        if limit is not None and np.isfinite(limit):
            ax.axhline(limit, color=QUIET, ls="--", lw=1.0)
        ax.set_ylabel("mean")
        for values, logarithmic in ((frame[x], ax.set_xscale), (frame[name], ax.set_yscale)):
            if 0.0 < 100.0 * values.min() <= values.max():
                logarithmic("log")
    means = frame.groupby([x, *([hue] if hue else [])])[name].mean()
    return _shown(fig, f"{name} against {x}: means from {means.min():.3g} to {means.max():.3g}")


def _shown(fig: Figure, words: str) -> str:
    data = base64.b64encode(svg(fig).encode()).decode()
    alt = escape(words, quote=True)
    return f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{data}"></figure>'
