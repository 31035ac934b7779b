"""Data sets: the papers' printed ones, and a reader's own CSV.

Data are X of shape (n, d), one sample a row, and y of shape (n,).  The papers print the samples as
the columns of a matrix; the files under `data/datasets` hold them as rows.
"""

from __future__ import annotations

import csv
import errno
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reluflow.errors import InputError, meant
from reluflow.places import DATASETS

PAPER = ("example-5.1", "example-5.2", "example-5.3")
# Products of four such numbers, as in a loss times a squared norm, neither overflow nor vanish.
LEAST, LARGEST = 1e-30, 1e30
# What a spreadsheet writes. Python's own `float` also takes 1_000 and the digits of every script.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_LABELS = ("y", "label", "labels", "target")


@dataclass(frozen=True, eq=False)
class Dataset:
    """n samples x_i in R^d with one label y_i each.

    name     the name in the book, or the CSV's file name
    X        (n, d) inputs, one sample a row, read-only
    y        (n,) labels, read-only
    printed  whether these are the numbers that a paper prints
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    printed: bool

    def __post_init__(self) -> None:
        self.X.setflags(write=False)
        self.y.setflags(write=False)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """Dimension of the inputs, and so of weight space."""
        return self.X.shape[1]


def load(name: str) -> Dataset:
    """The data set with this name in the book, or the one in this CSV file.

    name    "example-5.1", "example-5.2", "example-5.3" (Lee, Sim & Ye 2022, Appendix G), or the
            path of a CSV file: a header, then one sample a line, the label in the last column.
    Raises InputError, in one sentence, for an unknown name or a file that is not such a CSV.
    """
    if name in PAPER:
        return Dataset(name, *_read(DATASETS / f"{name}.csv"), printed=True)
    path = Path(name)
    if path.suffix.lower() != ".csv" and not _exists(path):
        names = ("paper", *PAPER)
        hint = meant(name.lower(), names)
        raise InputError(f'dataset "{_short(name)}" is neither a known name nor a CSV file: {hint}')
    return Dataset(path.name, *_read(path), printed=False)


def load_signs(name: str, known: Sequence[str], sizes: tuple[int, int]) -> Dataset:
    """The CSV file of this name, with labels 1 and -1, for a page that has data of its own.

    known   the names of the page's own data, one of which may be meant
    sizes   the least and the largest number of data that the page takes
    Raises InputError for another name, as `load` does, and for other labels and sizes.
    """
    if Path(name).suffix.lower() != ".csv":
        hint = meant(name.lower(), known)
        raise InputError(f'dataset "{_short(name)}" is neither a known one nor a CSV file: {hint}')
    given = load(name)
    for i, label in enumerate(given.y, start=1):
        if label not in (-1.0, 1.0):
            raise InputError(
                f"{given.name}, {data_row(i)}: the label is {label:g}, and must be 1 or -1."
            )
    least, most = sizes
    if not least <= given.n <= most:
        raise InputError(
            f'dataset "{given.name}": the page takes {least} to {most} data, not {given.n}.'
        )
    return given


def data_row(i: int) -> str:
    """How every message names a row: the number that a spreadsheet without its header shows."""
    return f"data row {i} (counted from 1 below the header)"


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and y (n,) of a CSV file whose last column is the label."""
    rows = _rows(path)
    if not rows or not rows[0]:
        raise InputError(f"{path} is empty: a header such as x1,x2,y and data rows are needed.")
    header, body = [cell.strip() for cell in rows[0]], rows[1:]
    if all(_is_number(cell) for cell in header):
        raise InputError(f"{path} has no header: its first line must name the columns: x1,x2,y.")
    if len(header) < 2:
        raise InputError(
            f"{path} has no feature column: it needs at least x1,y, separated by a comma."
        )
    for k, name in enumerate(header[:-1], start=1):
        if name.lower() in _LABELS:
            raise InputError(
                f'{path} has its label "{name}" in column {k}: the label must be the last column.'
            )
    for k, name in enumerate(header, start=1):
        if not name:
            raise InputError(f"{path} has no name for column {k}: give every column a name.")
        if name in header[: k - 1]:
            raise InputError(f'{path} has two columns with the name "{_short(name)}".')
    if not body:
        raise InputError(f"{path} has no data rows (n = 0): at least one is needed.")
    table = np.empty((len(body), len(header)))
    for i, row in enumerate(body, start=1):
        if len(row) != len(header):
            there = "there is 1 value" if len(row) == 1 else f"there are {len(row)} values"
            there = f"{there if row else 'the line is empty'} where the header has"
            raise InputError(f"{path}, {data_row(i)}: {there} {len(header)} columns.")
        for k, cell in enumerate(row):
            table[i - 1, k] = _number(cell, f"{path}, {data_row(i)}, column {header[k]}")
    return table[:, :-1].copy(), table[:, -1].copy()


def _rows(path: Path) -> list[list[str]]:
    """The lines of a CSV file as lists of cells, without empty lines at its end."""
    shown = _short(str(path))
    if not _exists(path):
        raise InputError(f'dataset: there is no file "{shown}".')
    try:
        if not (path.is_file() or path.is_dir()):  # reading would wait without end
            raise InputError(f'dataset: "{shown}" is a pipe or a device, not a file.')
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise InputError(f'dataset: "{shown}" cannot be read ({error.strerror}).') from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f'dataset: "{shown}" is not a CSV text file.') from None
    while rows and not any(cell.strip() for cell in rows[-1]):
        rows.pop()
    return rows


def _exists(path: Path) -> bool:
    """Whether there is anything by this name, also where the system does not let us look."""
    try:
        return path.exists()
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG


def _short(text: str) -> str:
    """A reader's own text as a message shows it: printable, and not longer than a line."""
    line = " ".join(text.split())
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return shown if len(shown) <= 60 else f"{shown[:29]}…{shown[-30:]}"


def _is_number(cell: str) -> bool:
    cell = cell.strip()
    return bool(_NUMBER.fullmatch(cell) or _NOT_FINITE.fullmatch(cell))


def _number(cell: str, where: str) -> float:
    """The number in a cell, finite and of a size that can be computed with."""
    if not _is_number(cell):
        shown = cell if len(cell) <= 20 else cell[:20] + "…"
        wrong = f'"{shown}" is not a number' if cell.strip() else "there is no value"
        raise InputError(f"{where}: {wrong}; write a number, such as 0.5, or leave the row out.")
    return sized(float(cell), where)


def sized(value: float, where: str) -> float:
    """The value, or InputError where it is not finite or its powers leave the range of floats."""
    if not np.isfinite(value):
        raise InputError(f"{where}: {value} is not a finite number.")
    if value != 0.0 and not LEAST <= abs(value) <= LARGEST:
        size = "large" if abs(value) > LARGEST else "small"
        raise InputError(
            f"{where}: {value:g} is too {size}; what is not 0 must lie between {LEAST:g} and "
            f"{LARGEST:g} in size, so choose another unit."
        )
    return value
