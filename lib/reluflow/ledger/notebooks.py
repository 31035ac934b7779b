"""Rows read back from executed notebooks: the only place where the book's verdicts are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reluflow import pages
from reluflow.ledger.display import RECORD
from reluflow.ledger.errors import LedgerError
from reluflow.ledger.inventory import Claim, claims_by_id, load_inventories
from reluflow.ledger.rows import Row, row_from_record


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
            if (first := found.setdefault(row.claim.id, row)) is not row:
                raise LedgerError(
                    f"{where}: claim {row.claim.id} is settled already in {first.chapter}, "
                    f"cell {first.cell}"
                )
    return tuple(found[id] for id in claims if id in found)


def notebooks(places: str | Path | Sequence[str | Path]) -> list[Path]:
    """The notebook files of several places, each once; LedgerError for a place without one."""
    files: list[Path] = []
    for place in [places] if isinstance(places, (str, Path)) else places:
        path = Path(place)
        if path.is_dir():
            inside = pages.in_order(path)
            if not inside:
                raise LedgerError(f"no notebook in the folder {str(place)!r}")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise LedgerError(f"no notebook or folder {str(place)!r}")
    # The same notebook named twice, as itself and by its folder, is one notebook.
    return list({file.resolve(): file for file in files}.values())


def _recorded_outputs(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cell's id and the data of every output that carries a row."""
    try:
        notebook = json.loads(file.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        outputs = [(cell, output) for cell in cells for output in cell["outputs"]]
        carrying = [(c, o["data"]) for c, o in outputs if RECORD in o.get("data", {})]
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        raise LedgerError(f"{pages.name(file)} is not a notebook") from None
    for cell, data in carrying:
        name = cell.get("id", f"number {cells.index(cell) + 1}")
        if cell.get("execution_count") is None:
            raise LedgerError(
                f"{pages.name(file)}, cell {name}: a row in a cell that was never executed"
            )
        yield name, data


def _believed(data: dict[str, Any], claims: dict[str, Claim]) -> Row:
    """The row of one output, if what it shows is what its record says."""
    if not isinstance(data[RECORD], dict):
        raise LedgerError("a row's record is not a mapping")
    row = row_from_record(data[RECORD], claims)
    shown = {key: "".join(v) if isinstance(v, list) else v for key, v in data.items()}
    if shown != row._repr_mimebundle_():
        raise LedgerError(
            f"the row of {row.claim.id} was edited by hand or is out of date: execute the notebook"
        )
    return row
