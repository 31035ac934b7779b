"""A pytest plugin by which nbval compares measured numbers as numbers.

    PYTHONPATH=tests python -m pytest --nbval --nbval-current-env -p nbval_numbers chapters

nbval compares texts. On another CPU a sum comes out with other last digits, and where it is close
to the edge between two rounded values another value is printed. So, before nbval compares, a
measured number in the new output that is within the tolerance of the stored one is replaced by it.
Everything else is left to nbval, which refuses every difference.

The stored output itself declares which numbers were measured, and how well: in text by the mark of
`reluflow.approx` and the number of digits written, in a claim's record by `digits`. The tolerance
is two units of the last digit: a rounding edge takes one of them, and the other is room. Words,
numbers without a mark, and how many digits are written must be the same.

Pictures that show the same up to rounding (`pictures`) are taken for the same; metadata, which
nbval passes over, hold the names of glued numbers and the alternative texts, and are compared.

The terminal summary says how many measured numbers differ, and by what share of the tolerance.
"""

import re
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from nbval.plugin import IPyNbCell
from pictures import alike
from reluflow.approx import MARK, approx

# What nbval by itself leaves out: pictures, the names of glued numbers, and the words that stand
# for a picture where it cannot be seen.
SVG = "image/svg+xml"
COMPARED = (SVG, "metadata")
UNITS = 2  # the tolerance, in units of the last digit written
NUMBER = re.compile(rf"(?<={MARK})-?\d+(?:\.\d+)?(?:e-?\d+)?")


Note = Callable[[float], object]
"""What takes how far a measured number is from the stored one, as a share of the tolerance."""


def distance(test: str, ref: str) -> float | None:
    """Return how far two numbers, as written, are apart, as a share of the tolerance.

    None where they are not written to the same precision: to the same last place, or to as many
    significant digits.
    """
    a, b = Decimal(test), Decimal(ref)
    places = [number.as_tuple().exponent for number in (a, b)]
    if places[0] != places[1] and len(a.as_tuple().digits) != len(b.as_tuple().digits):
        return None
    unit = Decimal(1).scaleb(min(places))
    return float(abs(a - b) / (UNITS * unit))


def reconciled_text(test: str, ref: str, note: Note) -> str:
    """Return `test` with the measured numbers of `ref` that it matches within the tolerance.

    It is returned as it is where any word, or the count of measured numbers, differs.
    """
    if NUMBER.split(test) != NUMBER.split(ref):
        return test
    stored = iter(NUMBER.findall(ref))

    def nearest(found: re.Match[str]) -> str:
        wanted = next(stored)
        share = distance(found.group(), wanted)
        if share is None or share > 1:
            return found.group()
        note(share)
        return wanted

    return NUMBER.sub(nearest, test)


def reconciled(test: Any, ref: Any, note: Note, digits: int | None = None) -> Any:
    """Return the data of an output with the measured numbers that match within the tolerance.

    Parameters: `test` and `ref`, texts or JSON data; `digits` to which floats here were measured,
    None where they are exact. A mapping with `digits` declares them for its `value` alone.
    """
    if isinstance(test, str) and isinstance(ref, str):
        return reconciled_text(test, ref, note)
    if isinstance(test, dict) and isinstance(ref, dict) and test.keys() == ref.keys():
        said = ref.get("digits") if test.get("digits") == ref.get("digits") else None
        return type(test)(
            (key, reconciled(test[key], ref[key], note, said if key == "value" else None))
            for key in test
        )
    if isinstance(test, list) and isinstance(ref, list) and len(test) == len(ref):
        return [reconciled(a, b, note, digits) for a, b in zip(test, ref, strict=True)]
    if digits is not None and isinstance(test, float) and isinstance(ref, float):
        written = [approx(value, digits) for value in (test, ref)]
        return ref if reconciled_text(*written, note) == written[1] else test
    return test


def reconciled_outputs(test: list[Any], ref: list[Any], note: Note) -> list[Any]:
    """Return a cell's new outputs with the measured numbers that match those stored."""
    if len(test) != len(ref):
        return test
    outputs = deepcopy(test)
    for mine, stored in zip(outputs, ref, strict=True):
        _take_alike(mine.get("data", {}), stored.get("data", {}), SVG)
        about = (each.get("metadata", {}).get(SVG, {}) for each in (mine, stored))
        _take_alike(*about, "narrow")
        for part in ("text", "data"):
            if part in mine and part in stored:
                mine[part] = reconciled(mine[part], stored[part], note)
    return outputs


def _take_alike(mine: dict[str, Any], stored: dict[str, Any], key: str) -> None:
    """Put the stored picture in the place of one that looks like it."""
    if key in mine and key in stored and alike(mine[key], stored[key]):
        mine[key] = stored[key]


class Plugin:
    """Stands between a cell's run and nbval's comparison."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.original = IPyNbCell.compare_outputs

    def pytest_sessionstart(self) -> None:
        def compare(cell: IPyNbCell, test: list, ref: list, skip_compare: Any = None) -> bool:
            told = reconciled_outputs(test, ref, self.shares.append)
            skipped = skip_compare or cell.parent.skip_compare
            kept = tuple(key for key in skipped if key not in COMPARED)
            return self.original(cell, told, ref, kept)

        IPyNbCell.compare_outputs = compare

    def pytest_sessionfinish(self) -> None:
        IPyNbCell.compare_outputs = self.original

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        differ, worst = sum(share > 0 for share in self.shares), max(self.shares, default=0.0)
        terminalreporter.write_line(
            f"{len(self.shares)} measured numbers compared, {differ} differ, "
            f"by at most {100 * worst:.0f} % of the tolerance"
        )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Plugin(), "nbval-numbers")
