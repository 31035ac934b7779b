"""The one number of a claim that its folded card shows: that on which the verdict hangs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reluflow.ledger.evidence import SIGNS, Evidence
from reluflow.ledger.rows import Row
from reluflow.ledger.verdict import NOT_REPRODUCED
from reluflow.ledger.words import SURVEY, THE_SAME, in_words, value_in_words

_PRINTED = re.compile(r"\bprinted (\d+(?:\.\d+)?)$")


def decisive(row: Row) -> tuple[str, str]:
    """The number, and what it is of; two empty texts for a claim without evidence.

    Where the claim fails it is the first number that breaks it, the counterexample's before all
    others. Where it holds it is the smallest survey, if there is one, or the finding that comes
    first, or the measured value that is nearest to its limit.
    """
    case = row.counterexample
    failed = [*(case.breaks if case else ()), *row.evidence]
    if failed := [item for item in failed if item.decides and not item.holds]:
        if row.verdict == NOT_REPRODUCED and (beside := _beside_what_is_printed(row, failed[0])):
            return beside
        return _shown(next(filter(_has_number, failed), failed[0]), [])
    items = [item for item in row.evidence if item.decides and item.what != THE_SAME]
    surveys = [item for item in items if SURVEY.fullmatch(item.what)]
    if surveys:
        number, what = _shown(min(surveys, key=lambda item: item.tried), [])
        if len(surveys) == 1:
            return number, what
        return f"{number} or more", f"{what}, in each of {len(surveys)} surveys"
    if not items:
        return "", ""
    tight = min(items, key=_room)
    if items[0].tried or isinstance(items[0].value, str):
        tight = items[0]
    elif _room(tight) >= 1:  # nothing was measured: then that nothing was found, or else the first
        numbers = list(filter(_has_number, items)) or items
        tight = next((item for item in numbers if item.value == 0), numbers[0])
    return _shown(tight, items)


def _beside_what_is_printed(row: Row, failed: Evidence) -> tuple[str, str] | None:
    """What appeared nearest to the number that the paper prints."""
    printed = _PRINTED.search(failed.what)
    appeared = [item for item in row.instead if isinstance(item.value, int | float)]
    if not (printed and appeared):
        return None
    near = min(appeared, key=lambda item: abs(item.value - float(printed[1])))
    return f"{value_in_words(near)}, printed {printed[1]}", near.what


def _shown(item: Evidence, among: Sequence[Evidence]) -> tuple[str, str]:
    """The number of one piece of evidence, what it is of, and how many others have this number."""
    if SURVEY.fullmatch(item.what):
        return _number(item), "instances break it"
    if not _has_number(item):
        return (
            "",
            item.what if item.value and item.holds else f"{item.what}: {value_in_words(item)}",
        )
    same = {other.what for other in among if _number(other) == _number(item)} - {item.what}
    more = f", and {len(same)} more like it" if same else ""
    return _number(item), f"{item.what}{more}"


def _number(item: Evidence) -> str:
    value, asked = value_in_words(item), in_words(item.limit)
    if item.tried:
        return f"{value} of {item.tried}"
    if item.clipped or (item.op == "==" and item.holds):
        return value
    sign = "" if item.op == "==" else f"{SIGNS[item.op]} "
    return f"{value} {sign}{asked}" if item.holds else f"{value}, not {sign}{asked}"


def _has_number(item: Evidence) -> bool:
    """Whether there is more to show than yes or no."""
    return not isinstance(item.value, bool)


def _room(item: Evidence) -> float:
    """How far a measured value is from its limit, as a part of the larger of the two; 1 for what
    has no such distance."""
    if item.op == "==" or item.clipped or not item.value:
        return 1.0
    return float(abs(item.value - item.limit) / max(abs(item.value), abs(item.limit)))
