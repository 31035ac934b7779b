"""All runs of a sweep as one table and one page: the runs that flipped a verdict first.

What is drawn is computed first; seaborn draws it. Rows of older code are in the table, marked, and
in no picture.
"""

from __future__ import annotations

import base64
import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from reluflow.sweep.runs import DONE

RUN = ("run.key", "run.status", "run.stale", "run.seconds", "run.error")
SEED = "seed"
# Columns that are no parameters: no parameter's name has a dot or a blank.
K, N, SHARE, TOLD = "run.k", "run.n", "run.share", "run.told"
VALUE, MEAN, LOW, HIGH = "run.value", "run.mean", "run.low", "run.high"
CLAIM, ALL = "the claim", "all runs"
MOST_MAPS, MOST_CURVES, MOST_LISTED, MOST_LABELS = 12, 24, 200, 40
_STYLE = """body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}
img{max-width:100%;background:#fff}pre{overflow-x:auto;font-size:.8rem}figure{margin:1.5rem 0}
.old{border-left:.3rem solid #b42318;padding-left:.6rem}"""


@dataclass(frozen=True)
class Rows:
    """The rows of a sweep, those of this code (`fresh`) and of older code (`stale`), each sorted by
    its parameters."""

    fresh: list[Mapping[str, Any]]
    stale: list[Mapping[str, Any]]

    @property
    def varied(self) -> dict[str, list[Any]]:
        """The parameters with more than one value among the fresh rows, and their values."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.fresh:
            for name, value in row["parameters"].items():
                found.setdefault(name, {}).setdefault(_told(value), value)
        return {name: list(v.values()) for name, v in found.items() if len(v) > 1}

    @property
    def ended(self) -> list[Mapping[str, Any]]:
        """The fresh rows in which no cell raised an error."""
        return [row for row in self.fresh if row["status"] == DONE]

    @property
    def flipped(self) -> dict[str, Counter[str]]:
        """The claims with more than one verdict among the runs that ended, and how often each."""
        ids = dict.fromkeys(id for row in self.ended for id in row["verdicts"])
        given = {id: Counter(row["verdicts"].get(id, OPEN) for row in self.ended) for id in ids}
        return {id: counts for id, counts in given.items() if len(counts) > 1}


def sorted_rows(rows: Sequence[Mapping[str, Any]], code: str) -> Rows:
    """Rows in the order of their parameters, apart as they are of this code or of older code."""
    parts: tuple[list[Mapping[str, Any]], ...] = ([], [])
    for row in sorted(rows, key=_order):
        parts[row["code"] != code].append(row)
    return Rows(*parts)


def _order(row: Mapping[str, Any]) -> list[Any]:
    values = row["parameters"].items()
    numbers = [(name, isinstance(v, str | list), v) for name, v in values if v is not None]
    return [[(n, text, _told(v) if text else v) for n, text, v in numbers], row["key"]]


def table(rows: Rows) -> pd.DataFrame:
    """A row a run: its key, status and error, its parameters, the verdict on each claim, and every
    number of evidence by "claim: what was measured"."""
    listed = []
    for row in [*rows.fresh, *rows.stale]:
        about = (row["key"], row["status"], row in rows.stale, row["seconds"], row["error"])
        given = {n: _told(v) if isinstance(v, list) else v for n, v in row["parameters"].items()}
        listed.append(
            dict(zip(RUN, about, strict=True)) | given | row["verdicts"] | row["evidence"]
        )
    kinds = ("parameters", "verdicts", "evidence")
    names = {kind: _names([*rows.fresh, *rows.stale], kind) for kind in kinds}
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


def page(title: str, command: str, rows: Rows) -> str:
    """One page of HTML that needs nothing else: what flipped, what failed, where, and how far."""
    flipped = rows.flipped
    parts = [
        f"<h1>{escape(title)}</h1>",
        *_summary(rows, flipped),
        f"<p>Made by</p><pre>{escape(command)}</pre>",
        *_flips(rows, flipped),
        *_failures(rows),
        *_maps(rows, flipped),
        *_curves(rows, list(flipped)),
    ]
    head = f"<meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
    )


def _summary(rows: Rows, flipped: Mapping[str, Counter[str]]) -> Iterator[str]:
    claims = len(_names(rows.ended, "verdicts"))
    failed = len(rows.fresh) - len(rows.ended)
    over = "; ".join(f"{name}, {len(v)} values" for name, v in rows.varied.items()) or "one point"
    yield f"<p>{len(rows.fresh)} runs over {escape(over)}. {failed} of them failed. "
    yield f"{len(flipped)} of {claims} claims have another verdict in some run than in others. "
    yield 'All numbers are in <a href="table.csv">table.csv</a> and table.parquet.</p>'
    if rows.stale:
        yield f'<p class="old">{len(rows.stale)} more rows are of older code or data: they '
        yield "are in the table with run.stale, and in no picture.</p>"


def _flips(rows: Rows, flipped: Mapping[str, Counter[str]]) -> Iterator[str]:
    if not flipped:
        return
    lines = [["run", *rows.varied, "claim", "verdict here", "in most runs"]]
    for row in rows.ended:
        for id, counts in flipped.items():
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


def counted(rows: Rows, id: str, usual: str, over: Sequence[str]) -> pd.DataFrame:
    """How many of the runs that ended give a claim this verdict (K of N), at each point of the
    parameters `over`."""
    points = [
        [_told(row["parameters"].get(name)) for name in over]
        + [row["verdicts"].get(id, OPEN) == usual]
        for row in rows.ended
    ]
    frame = pd.DataFrame(points, columns=[*over, "run.is"])
    return (
        frame.groupby(list(over), sort=False)["run.is"].agg(**{K: "sum", N: "size"}).reset_index()
    )


def _maps(rows: Rows, flipped: Mapping[str, Counter[str]]) -> Iterator[str]:
    yield "<h2>Verdicts over the grid</h2>"
    axes = sorted((n for n in rows.varied if n != SEED), key=lambda n: -len(rows.varied[n]))[:2]
    if not flipped:
        yield "<p>Every claim has one verdict, the same in all runs that ended.</p>"
        return
    usual = {id: counts.most_common(1)[0][0] for id, counts in flipped.items()}
    if len(axes) < 2:
        frames = []
        for id, verdict in list(usual.items())[:MOST_LABELS]:
            each = counted(rows, id, verdict, axes or [ALL])
            frames.append(each.assign(**{CLAIM: f"{id}, {verdict}"}))
        yield _map(pd.concat(frames), CLAIM, (axes or [ALL])[0], "each claim as in most runs")
        yield _left_out(len(usual), MOST_LABELS, "claims with flipped verdicts")
        return
    for id, verdict in list(usual.items())[:MOST_MAPS]:
        yield _map(counted(rows, id, verdict, axes), axes[1], axes[0], f"{id} is {verdict}")
    yield _left_out(len(usual), MOST_MAPS, "claims with flipped verdicts")


def _map(frame: pd.DataFrame, y: str, x: str, title: str) -> str:
    order = {name: list(dict.fromkeys(frame[name])) for name in (y, x)}
    words = [f"{k} of {n}" for k, n in zip(frame[K], frame[N], strict=True)]
    frame = frame.assign(**{SHARE: frame[K] / frame[N], TOLD: words})
    share, told = (
        frame.pivot(index=y, columns=x, values=each).reindex(index=order[y], columns=order[x])
        for each in (SHARE, TOLD)
    )
    with house():
        fig, (ax,) = panels(height=1.2 + 0.42 * len(order[y]), titles=[f"Runs in which {title}"])
        sns.heatmap(
            share, annot=told.fillna(""), fmt="", vmin=0.0, vmax=1.0, cmap="cividis", ax=ax,
            linewidths=0.5, annot_kws={"size": 8}, cbar_kws={"label": "share"},
        )  # fmt: skip
        ax.tick_params(axis="y", rotation=0)
    lowest = frame.sort_values(SHARE).iloc[0]
    return _shown(fig, f"{title}: least often at {x} {lowest[x]}, {y} {lowest[y]}, {lowest[TOLD]}")


# --- Evidence against a parameter -----------------------------------------------------------------


def intervals(values: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean of VALUE and its 95 % interval over the rows with equal `by`: Wilson's for shares of
    zeros and ones, else Student's; no interval (NaN) for a single value."""

    def ends(each: pd.Series) -> list[float]:
        numbers = each.to_numpy()
        if len(numbers) < 2:
            return [float(each.iloc[0]), np.nan, np.nan]
        if np.isin(numbers, (0.0, 1.0)).all():
            low, high = wilson(int(numbers.sum()), len(numbers))
            return [float(numbers.mean()), float(low), float(high)]
        return [float(numbers.mean()), *student_interval(numbers)]

    found = values.groupby(list(by), sort=True)[VALUE]
    told = [[*(k if isinstance(k, tuple) else (k,)), *ends(each)] for k, each in found]
    return pd.DataFrame(told, columns=[*by, MEAN, LOW, HIGH])


def _curves(rows: Rows, first: Sequence[str]) -> Iterator[str]:
    """Evidence that is not the same in all runs, that of `first` first, against the parameter with
    the most values; a second one has a colour each."""
    numeric = [n for n, v in rows.varied.items() if all(isinstance(e, int | float) for e in v)]
    numeric.sort(key=lambda n: (n == SEED, -len(rows.varied[n])))
    if not numeric:
        return
    x = numeric[0]
    others = [n for n in rows.varied if n not in (x, SEED) and len(rows.varied[n]) <= 6]
    by, limits = [x, *others[:1]], {n: v for row in rows.ended for n, v in row["limits"].items()}
    frame = table(Rows(rows.ended, [])).replace([np.inf, -np.inf], np.nan)
    names = [n for n in _names(rows.ended, "evidence") if frame[n].nunique() > 1]
    names.sort(key=lambda name: name.split(":")[0] not in first)
    frame = frame.assign(**{n: frame[n].map(_told) for n in by[1:]})
    yield f"<h2>Evidence against {escape(x)}</h2><p>Means over the runs at each point, with 95 % "
    yield "intervals (Student's; Wilson's for shares); dashed: the limit that the claim needs.</p>"
    for name in names[:MOST_CURVES]:
        points = frame[[*by, name]].dropna(subset=name).rename(columns={name: VALUE})
        yield _curve(intervals(points, by), by, name, limits.get(name))
    yield _left_out(len(names), MOST_CURVES, "measured numbers that vary")


def _curve(frame: pd.DataFrame, by: Sequence[str], name: str, limit: float | None) -> str:
    hue = by[1] if len(by) > 1 else None
    with house():
        fig, (ax,) = panels(height=3.0, titles=[textwrap.fill(name, 80)])
        colours = sns.color_palette("colorblind", frame[hue].nunique() if hue else 1)
        sns.lineplot(
            frame, x=by[0], y=MEAN, hue=hue, marker="o", errorbar=None, ax=ax,
            palette=colours if hue else None, color=None if hue else colours[0],
        )  # fmt: skip
        parts = frame.groupby(hue, sort=False) if hue else [("", frame)]
        for colour, (_, each) in zip(colours, parts, strict=True):
            ax.vlines(each[by[0]], each[LOW], each[HIGH], color=colour, lw=1.2)
        if hue:
            sns.move_legend(ax, "upper left", bbox_to_anchor=(1.0, 1.0))
        if limit is not None and np.isfinite(limit):
            ax.axhline(limit, color=QUIET, ls="--", lw=1.0)
        ax.set_ylabel("mean")
        # Logarithmic axes where positive values span two decades.
        x, least = frame[by[0]], frame[[MEAN, LOW]].min().min()
        if x.min() > 0 and x.max() >= 100 * x.min():
            ax.set_xscale("log")
        if least > 0 and frame[MEAN].max() >= 100 * frame[MEAN].min():
            ax.set_yscale("log")
    low, high = frame[MEAN].min(), frame[MEAN].max()
    return _shown(fig, f"{name} against {by[0]}: means from {low:.3g} to {high:.3g}")


def _shown(fig: Figure, words: str) -> str:
    data = base64.b64encode(svg(fig).encode()).decode()
    alt = escape(words, quote=True)
    return f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{data}"></figure>'
