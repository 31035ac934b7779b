"""The book's score: claims by paper and verdict, each settled one linked to its cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from reluflow.ledger.display import OPEN, PLAIN, badge, mathematics
from reluflow.ledger.evidence import sentence
from reluflow.ledger.inventory import Claim, Inventory, load_inventories
from reluflow.ledger.notebooks import read
from reluflow.ledger.rows import Ledger, Row
from reluflow.ledger.verdict import VERDICTS

_CELL = "padding:.2em .45em;border-bottom:1px solid rgba(128,128,128,.45);vertical-align:top;"
_TABLE = "border-collapse:collapse;margin:.4em 0;line-height:1.35;font-size:.9em"


@dataclass(frozen=True)
class View:
    """Something that a notebook shows, as HTML and as text."""

    html: str
    text: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


@dataclass(frozen=True)
class Scoreboard:
    """The inventories against the rows that settle their claims."""

    inventories: tuple[Inventory, ...]
    rows: tuple[Row, ...]

    @property
    def totals(self) -> View:
        """How many claims of each paper have which verdict; a verdict that none has is left out."""
        verdicts = {row.claim.id: row.verdict for row in self.rows}
        columns = [inventory for inventory in self.inventories if inventory.claims]
        given = [[verdicts.get(c.id, OPEN) for c in inventory.claims] for inventory in columns]
        heads = ["", *(inventory.label for inventory in columns), "all"]
        table = []
        for verdict in (*VERDICTS, OPEN):
            counts = [column.count(verdict) for column in given]
            if verdict == OPEN or any(counts):
                table.append([verdict, *map(str, counts), str(sum(counts))])
        sizes = list(map(len, given))
        last = ["all", *map(str, sizes), str(sum(sizes))]
        cells = [[badge(verdict), *counts] for verdict, *counts in table]
        html = _html_table([list(map(escape, heads)), *cells, last], numbers=True)
        return View(html, aligned([heads, *table, last]))

    @property
    def settled(self) -> View:
        """Every settled claim, linked to the cell that settles it."""
        if not self.rows:
            return View("<p>No claim is settled yet.</p>", "No claim is settled yet.")
        rows = [["claim", "verdict", "how it is known", "where", "chapter"]]
        cells = [["claim", "verdict", "how it is known", "where"]]
        for row in self.rows:
            known = row.known[0].how if row.known else ""
            rows.append([row.claim.id, row.verdict, known, row.claim.at, row.chapter])
            target = f"{escape(page(row))}#{row.claim.anchor}"
            link = f'<a href="{target}" style="{PLAIN}">{row.claim.id}</a>'
            # Formulas do not break, so the words have the width of the page for themselves.
            cells += [[link, badge(row.verdict), known, escape(row.claim.at)]]
            cells += [[mathematics(row.claim.says)]]
        return View(_html_table(cells), aligned(rows))

    @property
    def open(self) -> View:
        """The claims without a row, paper by paper."""
        settled = {row.claim.id for row in self.rows}
        html, lines = [], []
        for inventory in self.inventories:
            left = [claim for claim in inventory.claims if claim.id not in settled]
            if left:
                html.append(
                    f"<p><strong>{escape(inventory.label)}</strong> ({len(left)}): "
                    f"{', '.join(map(_named, left))}</p>"
                )
                names = ", ".join(claim.id for claim in left)
                lines.append(f"{inventory.label} ({len(left)}): {names}")
        if not lines:
            return View("<p>No claim is open.</p>", "No claim is open.")
        return View("".join(html), "\n".join(lines))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        views = (self.totals, self.settled, self.open)
        html, text = "".join(v.html for v in views), "\n\n".join(v.text for v in views)
        return {"text/plain": text, "text/html": html}


def scoreboard(places: str | Path | Sequence[str | Path] = ".") -> Scoreboard:
    """Read the rows of executed notebooks and set them against the inventory.

    Parameters: `places`, as for `read`; by default the folder of the notebook that asks.
    Raises `LedgerError` as `read` does.
    """
    return Scoreboard(load_inventories(), read(places))


def summary(claims: Ledger) -> Scoreboard:
    """The score of one paper's ledger, for the chapter that has just settled its claims."""
    of_paper = tuple(i for i in load_inventories() if i.paper == claims.paper)
    order = {claim.id: k for k, claim in enumerate(c for i in of_paper for c in i.claims)}
    rows = sorted(claims.settled.values(), key=lambda row: order[row.claim.id])
    return Scoreboard(of_paper, tuple(rows))


def page(row: Row) -> str:
    """The built book's page of the row's chapter, relative to the other chapters; empty for a row
    of the chapter itself."""
    return Path(row.chapter).with_suffix(".html").name if row.chapter else ""


def one_line(row: Row) -> str:
    """The evidence of a row on one line."""
    return row.why or "; ".join(map(sentence, row.evidence))


def aligned(rows: list[list[str]]) -> str:
    """Lines of text with the cells of each column under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _named(claim: Claim) -> str:
    return f'<code title="{escape(claim.at)}" style="{PLAIN}">{claim.id}</code>'


def _html_table(rows: list[list[str]], numbers: bool = False) -> str:
    """A table of cells that are HTML already; the first row is its head, a lone cell spans all."""

    def cells(tag: str, row: list[str]) -> str:
        if len(row) == 1:
            span = f'colspan="{len(rows[0])}" style="{_CELL}padding-bottom:.6em"'
            return f"<{tag} {span}>{row[0]}</{tag}>"
        line = "" if numbers else "border-bottom:0;"
        aligns = ["left"] + ["right" if numbers else "left"] * (len(row) - 1)
        styled = zip(aligns, row, strict=True)
        return "".join(f'<{tag} style="{_CELL}{line}text-align:{a}">{c}</{tag}>' for a, c in styled)

    head, *body = rows
    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in body)
    return (
        f'<div style="overflow-x:auto"><table style="{_TABLE}">'
        f"<thead><tr>{cells('th', head)}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
