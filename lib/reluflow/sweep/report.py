"""All runs of a sweep as one table and one page: the runs that flipped a verdict first.

Seaborn draws the means and their intervals. Rows of older code are in the table, marked, and
in no picture.
"""

from __future__ import annotations

import base64
import io
import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from reluflow.figures.style import QUIET, house, panels
from reluflow.figures.vector import svg
from reluflow.ledger.rows import OPEN, badge
from reluflow.ledger.scoreboard import html_table
from reluflow.statistics import student_interval, wilson
from reluflow.sweep.plan import Plan
from reluflow.sweep.runs import DONE

RUN = ("run.key", "run.status", "run.stale", "run.seconds", "run.error")
SEED = "seed"
# Columns that are no parameters: no parameter's name has a dot or a blank.
SHARE, CLAIM, ALL = "run.share", "the claim", "all runs"
MOST_CURVES, MOST_LISTED, MOST_LABELS = 24, 200, 40
_STYLE = """body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}
img{max-width:100%;background:#fff}pre{overflow-x:auto;font-size:.8rem}figure{margin:1.5rem 0}
.old{border-left:.3rem solid #b42318;padding-left:.6rem}"""


@dataclass(frozen=True)
class Rows:
    """The rows of a sweep, those of this code (`fresh`) and of older code (`stale`)."""

    fresh: list[Mapping[str, Any]]
    stale: list[Mapping[str, Any]]

    @cached_property
    def varied(self) -> dict[str, list[Any]]:
        """The parameters with more than one value among the fresh rows, and their values."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.fresh:
            for name, value in row["parameters"].items():
                found.setdefault(name, {}).setdefault(_told(value), value)
        return {name: list(v.values()) for name, v in found.items() if len(v) > 1}

    @cached_property
    def ended(self) -> list[Mapping[str, Any]]:
        """The fresh rows in which no cell raised an error."""
        return [row for row in self.fresh if row["status"] == DONE]

    @cached_property
    def flipped(self) -> dict[str, Counter[str]]:
        """The claims with more than one verdict among the runs that ended, and how often each."""
        ids = dict.fromkeys(id for row in self.ended for id in row["verdicts"])
        given = {id: Counter(row["verdicts"].get(id, OPEN) for row in self.ended) for id in ids}
        return {id: counts for id, counts in given.items() if len(counts) > 1}


def parted(rows: Iterable[Mapping[str, Any]], asked: Plan) -> Rows:
    """Rows in the order of the grid, then those of other grids; those of older code apart."""
    places = {key: k for k, key in enumerate(asked.points)}
    ordered = sorted(rows, key=lambda row: places.get(row["key"], len(places)))
    fresh = [row for row in ordered if row["code"] == asked.code]
    return Rows(fresh, [row for row in ordered if row["code"] != asked.code])


def table(rows: Rows) -> pd.DataFrame:
    """A row a run: its key, status and error, its parameters, the verdict on each claim, and every
    number of evidence by "claim: what was measured"."""
    every, listed = [*rows.fresh, *rows.stale], []
    for k, row in enumerate(every):
        about = (row["key"], row["status"], k >= len(rows.fresh), row["seconds"], row["error"])
        given = {n: _told(v) if isinstance(v, list) else v for n, v in row["parameters"].items()}
        listed.append(
            dict(zip(RUN, about, strict=True)) | given | row["verdicts"] | row["evidence"]
        )
    kinds = ("parameters", "verdicts", "evidence")
    names = {kind: _names(every, kind) for kind in kinds}
    frame = pd.DataFrame(listed, columns=[*RUN, *(name for kind in kinds for name in names[kind])])
    for name in names["parameters"]:  # a column of Parquet has one type
        if frame[name].map(type).nunique() > 1 and not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].map(_told)
    return frame.astype(dict.fromkeys(names["evidence"], float))


def _names(rows: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row[kind]))


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# --- The page -------------------------------------------------------------------------------------


def files(title: str, command: str, rows: Rows) -> Iterator[tuple[str, bytes]]:
    """What is to be written of a sweep: its table in two forms and its page."""
    frame, data = table(rows), io.BytesIO()
    frame.to_parquet(data, index=False)
    yield "table.parquet", data.getvalue()
    yield "table.csv", frame.to_csv(index=False).encode()
    yield "index.html", page(title, command, rows).encode()


def page(title: str, command: str, rows: Rows) -> str:
    """One page of HTML that needs nothing else: what flipped, what failed, where, and how far."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        *_summary(rows),
        f"<p>Made by</p><pre>{escape(command)}</pre>",
        *_flips(rows),
        *_failures(rows),
        *_map(rows),
        *_curves(rows),
    ]
    head = f"<meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
    )


def _summary(rows: Rows) -> Iterator[str]:
    flipped, claims = len(rows.flipped), len(_names(rows.ended, "verdicts"))
    failed = len(rows.fresh) - len(rows.ended)
    over = "; ".join(f"{name}, {len(v)} values" for name, v in rows.varied.items()) or "one point"
    yield f"<p>{len(rows.fresh)} runs over {escape(over)}. {failed} of them failed. "
    yield f"{flipped} of {claims} claims have another verdict in some run than in others. "
    yield 'All numbers are in <a href="table.csv">table.csv</a> and table.parquet.</p>'
    if rows.stale:
        yield f'<p class="old">{len(rows.stale)} more rows are of older code or data: they '
        yield "are in the table with run.stale, and in no picture.</p>"


def _flips(rows: Rows) -> Iterator[str]:
    if not rows.flipped:
        return
    lines = [["run", *rows.varied, "claim", "verdict here", "in most runs"]]
    for row in rows.ended:
        for id, counts in rows.flipped.items():
            usual, here = counts.most_common(1)[0][0], row["verdicts"].get(id, OPEN)
            if here != usual:
                values = [escape(_told(row["parameters"].get(name))) for name in rows.varied]
                lines.append([_link(row), *values, escape(id), badge(here), badge(usual)])
    yield f"<h2>Flipped verdicts</h2>{html_table(lines[: MOST_LISTED + 1])}"
    yield _left_out(len(lines) - 1, MOST_LISTED, "flipped verdicts")


def _failures(rows: Rows) -> Iterator[str]:
    failed = [row for row in rows.fresh if row["status"] != DONE]
    yield f"<h2>{len(failed)} failed runs</h2>" if failed else ""
    for row in failed[:MOST_LISTED]:
        values = ", ".join(f"{n}={_told(row['parameters'].get(n))}" for n in rows.varied)
        last = (row["error"].strip().splitlines() or [row["status"]])[-1]
        yield f"<details><summary>{escape(values)}: {escape(last)}</summary><p>{_link(row)}</p>"
        yield f"<pre>{escape(row['error'])}</pre></details>"
    yield _left_out(len(failed), MOST_LISTED, "failed runs")


def _link(row: Mapping[str, Any]) -> str:
    return f'<a href="runs/{row["key"]}.ipynb">{row["key"][:8]}</a>'


def _left_out(found: int, most: int, what: str) -> str:
    return f"<p>{found - most} more {what} are in the table.</p>" if found > most else ""


# --- Verdicts over the grid -----------------------------------------------------------------------


def _map(rows: Rows) -> Iterator[str]:
    """In how many of the runs at each point of two parameters a claim has its most frequent
    verdict."""
    yield "<h2>Verdicts over the grid</h2>"
    if not rows.flipped:
        yield "<p>Every claim has one verdict, the same in all runs that ended.</p>"
        return
    axes = sorted((n for n in rows.varied if n != SEED), key=lambda n: -len(rows.varied[n]))[:2]
    axes = axes or [ALL]
    points = [
        {CLAIM: f"{id}, {usual}", SHARE: row["verdicts"].get(id, OPEN) == usual}
        | {name: _told(row["parameters"].get(name)) for name in axes}
        for id, usual in ((id, counts.most_common(1)[0][0]) for id, counts in rows.flipped.items())
        for row in rows.ended
    ]
    counts = pd.DataFrame(points).pivot_table(
        SHARE, [CLAIM, *axes[1:]], axes[0], ["mean", "sum", "size"], sort=False
    )
    shown = counts[:MOST_LABELS]
    told = shown["sum"].map("{:g}".format) + " of " + shown["size"].map("{:g}".format)
    title = "Runs in which each claim is as in most of them"
    with house():
        fig, (ax,) = panels(height=1.2 + 0.42 * len(shown), titles=[title])
        sns.heatmap(
            shown["mean"], annot=told, fmt="", vmin=0.0, vmax=1.0, cmap="cividis", ax=ax,
            linewidths=0.5, annot_kws={"size": 8}, cbar_kws={"label": "share"},
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


def _curves(rows: Rows) -> Iterator[str]:
    """Evidence that is not the same in all runs, that of flipped claims first, against the
    parameter with the most values; a second one has a colour each."""
    numeric = [n for n, v in rows.varied.items() if all(isinstance(e, int | float) for e in v)]
    if not numeric:
        return
    x = min(numeric, key=lambda n: (n == SEED, -len(rows.varied[n])))
    others = [n for n in rows.varied if n not in (x, SEED) and len(rows.varied[n]) <= 6]
    limits = {name: limit for row in rows.ended for name, limit in row["limits"].items()}
    frame = table(Rows(rows.ended, [])).replace([np.inf, -np.inf], np.nan)
    frame = frame.assign(**{n: frame[n].map(_told) for n in others[:1]})
    names = [n for n in _names(rows.ended, "evidence") if frame[n].nunique() > 1]
    names.sort(key=lambda name: name.split(":")[0] not in rows.flipped)
    yield f"<h2>Evidence against {escape(x)}</h2><p>Means over the runs at each point, with 95 % "
    yield "intervals (Student's; Wilson's for shares); dashed: the limit that the claim needs.</p>"
    for name in names[:MOST_CURVES]:
        yield _curve(frame.dropna(subset=name), x, name, next(iter(others), None), limits.get(name))
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
