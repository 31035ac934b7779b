"""The book's score: claims by paper and verdict, and links to their cards."""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import yaml

from reluflow import pages
from reluflow.ledger.evidence import LedgerError, need
from reluflow.ledger.inventory import (
    LOADER,
    TEXT,
    Claim,
    Inventory,
    claims_by_id,
    fields,
    load_inventories,
)
from reluflow.ledger.rows import (
    COLOURS,
    NOT_REPRODUCED,
    OPEN,
    PLAIN,
    RECORD,
    REFUTED,
    VERDICTS,
    Ledger,
    Row,
    badge,
    row_from_record,
)
from reluflow.places import CHAPTERS, INSTEAD

# --- Rows read back from executed notebooks: the only place of the book's verdicts ----------------


def read(places: str | Path | Sequence[str | Path]) -> tuple[Row, ...]:
    """Read the settled claims out of executed notebooks, in the inventory's order.

    Parameters: `places`, a notebook, a folder of notebooks with the sections of each, or several of
    both. Returns the rows, each with its `chapter` (file name, `FOLDER/NAME.ipynb` for a section)
    and `cell` (id).
    Raises `LedgerError` for a place that is not there or holds no notebook, a file that is none, an
    id that is in no inventory, a claim settled twice, and a row that its evidence or its display
    contradicts.
    """
    claims = claims_by_id(load_inventories())
    found: dict[str, Row] = {}
    for file in notebooks(places):
        for cell, data in _recorded_outputs(file):
            name = pages.name(file)
            where = f"{name}, cell {cell}"
            try:
                row = replace(_believed(data, claims), chapter=name, cell=cell)
            except LedgerError as error:
                raise LedgerError(f"{where}: {error}") from None
            first = found.setdefault(row.claim.id, row)
            again = f"claim {row.claim.id} is settled already in {first.chapter}, cell {first.cell}"
            need(first is row, f"{where}: {again}")
    return tuple(found[id] for id in claims if id in found)


def notebooks(places: str | Path | Sequence[str | Path]) -> list[Path]:
    """The notebook files of several places, each once; LedgerError for a place without one."""
    files: list[Path] = []
    for place in [places] if isinstance(places, (str, Path)) else places:
        path = Path(place)
        need(path.is_dir() or path.is_file(), f"no notebook or folder {str(place)!r}")
        inside = pages.in_order(path) if path.is_dir() else [path]
        need(inside, f"no notebook in the folder {str(place)!r}")
        files += inside
    # The same notebook named twice, as itself and by its folder, is one notebook.
    return list({file.resolve(): file for file in files}.values())


def _recorded_outputs(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        notebook = json.loads(file.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        outputs = [(cell, output) for cell in cells for output in cell["outputs"]]
        carrying = [(c, o["data"]) for c, o in outputs if RECORD in o.get("data", {})]
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        raise LedgerError(f"{pages.name(file)} is not a notebook") from None
    for cell, data in carrying:
        name = cell.get("id", f"number {cells.index(cell) + 1}")
        never = f"{pages.name(file)}, cell {name}: a row in a cell that was never executed"
        need(cell.get("execution_count") is not None, never)
        yield name, data


def _believed(data: dict[str, Any], claims: dict[str, Claim]) -> Row:
    """The row of one output, if what it shows is what its record says."""
    need(isinstance(data[RECORD], dict), "a row's record is not a mapping")
    row = row_from_record(data[RECORD], claims)
    shown = {key: "".join(v) if isinstance(v, list) else v for key, v in data.items()}
    edited = f"the row of {row.claim.id} was edited by hand or is out of date: execute the notebook"
    need(shown == row._repr_mimebundle_(), edited)
    return row


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
    def counts(self) -> list[tuple[Inventory, Counter[str]]]:
        """How many claims of each inventory have which verdict, claims without a row `OPEN`."""
        verdicts = {row.claim.id: row.verdict for row in self.rows}
        return [
            (inventory, Counter(verdicts.get(claim.id, OPEN) for claim in inventory.claims))
            for inventory in self.inventories
        ]


def scoreboard(places: str | Path | Sequence[str | Path]) -> Scoreboard:
    """Read the rows of executed notebooks, as `read` does, and set them against the inventory."""
    return Scoreboard(load_inventories(), read(places))


def summary(claims: Ledger, sections: str = "") -> Scoreboard:
    """The score of one paper, for the chapter's page that has just settled the claims of a ledger.

    `sections` is the chapter's name where it has sections: the rows of the book's executed ones
    count, too. A claim that two of the pages settle is a `LedgerError`, as all that `read` refuses.
    """
    rows = list(claims.settled.values())
    for row in read(CHAPTERS / sections) if sections else ():
        twice = row.claim.id in claims.settled
        need(not twice, f"claim {row.claim.id} is settled in {row.chapter}, too")
        rows += [row] if row.claim.paper == claims.paper else []
    of_paper = tuple(i for i in load_inventories() if i.paper == claims.paper)
    order = {claim.id: k for k, claim in enumerate(c for i in of_paper for c in i.claims)}
    return Scoreboard(of_paper, tuple(sorted(rows, key=lambda row: order[row.claim.id])))


def page(row: Row, folder: str = "") -> str:
    """The built page of the row, relative to `folder`; empty for a row of the page that asks."""
    if not row.chapter:
        return ""
    return posixpath.relpath(posixpath.splitext(row.chapter)[0] + ".html", folder or ".")


def link(row: Row, folder: str = "") -> str:
    """The claim's name, linked to its card, for a page in `folder`."""
    target = f"{escape(page(row, folder))}#{row.claim.anchor}"
    return f'<a href="{target}" style="{PLAIN}">{row.claim.id}</a>'


# --- What is true instead of claims that do not hold as they stand: `data/instead/PAPER.yml` ------
#
# An entry has a list of `claims`, the sentence `instead` that they share, the `cause`, a phrase
# that is the same for all claims that fall by one slip, and the `weight` of what falls, one of
# `WEIGHTS`.

WEIGHTS = {
    "theorem": "a numbered statement is false",
    "part": "a clause or a constant of a numbered statement is false",
    "proof": "a step of a proof is false, and the statement stands",
    "remark": "a sentence of the text, a caption or an example is false",
    "misprint": "a misprint",
}
"""What falls, the heaviest first."""
_ENTRY = {
    "instead": (TEXT, "a text"),
    "cause": (TEXT, "a text"),
    "weight": ("|".join(WEIGHTS), f"one of {', '.join(WEIGHTS)}"),
}


@dataclass(frozen=True)
class Instead:
    """What is true instead of a claim, why the claim falls, how much falls with it, and what the
    counterexample of a refuted one shows, in a sentence, and in which live picture it is seen."""

    sentence: str
    cause: str
    weight: str
    shows: str = ""
    live: str = ""


def true_instead(papers: Iterable[str]) -> dict[str, Instead]:
    """What is true instead of the claims of these papers, by the claim's id.

    Raises `LedgerError` for an entry without a cause, or whose weight is none of `WEIGHTS`.
    """
    files = (INSTEAD / f"{paper}.yml" for paper in dict.fromkeys(papers))
    found: dict[str, Instead] = {}
    for entry in (e for f in files if f.is_file() for e in yaml.load(f.read_bytes(), LOADER)):
        fields(entry, _ENTRY, f"what is true instead of {entry['claims'][0]}")
        told = Instead(*(entry.get(f, "") for f in ("instead", "cause", "weight", "shows", "live")))
        found |= dict.fromkeys(entry["claims"], told)
    return found


def causes(told: Mapping[str, Instead], ids: Iterable[str]) -> dict[str, str]:
    """The causes by which these claims fall, each with its heaviest weight, in claims' order."""
    found: dict[str, str] = {}
    for each in (told[id] for id in ids if id in told):
        both = found.get(each.cause, each.weight), each.weight
        found[each.cause] = min(both, key=list(WEIGHTS).index)
    return found


def in_short(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """How many of the papers' claims are false, from how many causes, and what falls with them."""
    theirs = [row for row in board.rows if ".ours." not in row.claim.id]
    claims = sum(len(each.claims) for each in board.inventories if not each.ours)
    false = [row.claim.id for row in theirs if row.verdict == REFUTED]
    weights = Counter(causes(told, false).values())
    number = weights.total()
    listed = "; ".join(f"{what} ({weights[w]})" for w, what in WEIGHTS.items() if weights[w])
    why = f", from {number} cause{'s' * (number > 1)}: {listed}" if false else ""
    absent = sum(row.verdict == NOT_REPRODUCED for row in theirs)
    missed = f" {absent} more, tried as printed, did not come out again." if absent else ""
    return f"Of {claims} claims, {len(false)} are false as stated{why}.{missed}"


# --- What a chapter finds: how many of each verdict, and what falls -----------------------------


def verdict_bar(board: Scoreboard) -> View:
    """A bar with a part for each verdict on the paper's claims, open ones last; and the counts,
    those of our own claims apart."""
    counts = {
        ours: sum((given for each, given in board.counts if each.ours == ours), Counter[str]())
        for ours in (False, True)
    }
    parts = "".join(
        f'<span style="flex:{number};min-width:.2em;background:{COLOURS[verdict]}"></span>'
        for verdict, number in in_order(counts[False])
    )
    lines = [(given, "of our own" if ours else "claims") for ours, given in counts.items() if given]
    words = "; ".join(_counted(given, what, str) for given, what in lines)
    legend = "<br>".join(_counted(given, what, badge) for given, what in lines)
    strip = f'<div role="img" aria-label="{escape(words)}" style="display:flex;height:1em">'
    return View(f'{strip}{parts}</div><div style="line-height:1.8">{legend}</div>', words)


def in_order(given: Counter[str]) -> list[tuple[str, int]]:
    """The verdicts that occur, open ones last, each with its number."""
    return [(verdict, given[verdict]) for verdict in (*VERDICTS, OPEN) if given[verdict]]


def _counted(given: Counter[str], what: str, name: Callable[[str], str]) -> str:
    listed = ", ".join(f"{number} {name(verdict)}" for verdict, number in in_order(given))
    return f"{given.total()} {what}: {listed}"
