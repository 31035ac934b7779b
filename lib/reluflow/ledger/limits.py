"""What measured values are held against: the limits of a claim, fixed in the inventory."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from reluflow.ledger.errors import LedgerError
from reluflow.ledger.evidence import SIGNS, Evidence
from reluflow.ledger.numbers import Number, printed

ROUNDING = "rounding"
"""In the place of a sign: a slack of at most this size counts as none."""

MEASURED = "measured"
"""In the place of a number: another value of the same run."""

ANYTHING = "…"
"""In the name of what is measured: any text, a parameter of the run."""

_WRITTEN = re.compile(rf"(<=|>=|<|>|{ROUNDING}) (\S+)")


@dataclass(frozen=True)
class Limit:
    """What one measured value is held against.

    `sign` is one of < <= > >= or `rounding`; `number` is None where it is another measured value;
    `after` says what of it was chosen after something had been seen.
    """

    sign: str
    number: Number | None
    after: str = ""

    def __str__(self) -> str:
        number = MEASURED if self.number is None else printed(self.number)
        return f"{SIGNS.get(self.sign, self.sign)} {number}"

    def is_that_of(self, item: Evidence) -> bool:
        """Whether the evidence is held against this, and against no wider."""
        if self.sign == ROUNDING:
            return item.rounding == self.number
        return item.op == self.sign and self.number in (None, item.limit)


def read(entry: object, here: str) -> dict[str, Limit]:
    """Read the field `limits` of a claim, what is measured -> "<= 1e-6"; `here` is for errors.

    A limit that was chosen after something had been seen is a mapping with the keys `is` and
    `after`. Raises LedgerError for anything else.
    """
    if not isinstance(entry, Mapping):
        raise LedgerError(f"{here}: field 'limits' must be a mapping, what is measured: its limit")
    found = {}
    for what, given in entry.items():
        after = given.get("after", "") if isinstance(given, Mapping) else ""
        text = given.get("is") if isinstance(given, Mapping) else given
        written = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
        if not isinstance(what, str) or written is None or not isinstance(after, str):
            raise LedgerError(f"{here}: the limit of {what!r} must be written like '<= 1e-6'")
        found[what] = Limit(written[1], _number(written[2], f"{here}: {what!r}"), after)
    return found


def _number(text: str, here: str) -> Number | None:
    if text == MEASURED:
        return None
    try:
        number: Number = Fraction(text) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError):
        raise LedgerError(f"{here} has the limit {text!r}, which is no number") from None
    if not math.isfinite(number):
        raise LedgerError(f"{here} has the limit {text!r}, which is not finite")
    return number


def named(limits: Mapping[str, Limit], what: str) -> str | None:
    """The name in `limits` that what was measured goes by, if there is one."""
    if what in limits:
        return what
    patterns = (name for name in limits if ANYTHING in name)
    parts = ((name, ".*".join(map(re.escape, name.split(ANYTHING)))) for name in patterns)
    return next((name for name, part in parts if re.fullmatch(part, what, re.DOTALL)), None)


def needs_limit(item: Evidence) -> bool:
    """Whether what the evidence is held against is a number that somebody chose: no sign (a bound
    that is 0) and no exact fact."""
    if item.form == "bound":
        return bool(item.limit != 0)
    return item.form == "deviation" or item.rounding > 0


def held(
    items: tuple[Evidence, ...], limits: Mapping[str, Limit] | None, id: str
) -> tuple[Evidence, ...]:
    """Hold evidence against the limits of the claim `id`.

    A deviation takes its limit from there; that of a bound, and the rounding of a survey, must be
    the same as there. `limits` is None for a claim that is in no inventory.
    Raises LedgerError for a limit that is not in the inventory, or another one there.
    """
    return tuple(_held(item, limits, id) if needs_limit(item) else item for item in items)


def _held(item: Evidence, limits: Mapping[str, Limit] | None, id: str) -> Evidence:
    if limits is None and item.form != "deviation":
        return item
    name = named(limits or {}, item.what)
    if limits is None or name is None:
        raise LedgerError(f"{id}: the inventory has no limit for {item.what!r}")
    limit = limits[name]
    if item.form == "deviation":
        item = replace(item, limit=limit.number)
    if not limit.is_that_of(item):
        raise LedgerError(
            f"{id}: {item.what!r} is held against {asked(item)}, and the inventory says {limit}"
        )
    if limit.after and item.after != limit.after:
        return replace(item, after="; ".join(filter(None, (item.after, limit.after))))
    return item


def asked(item: Evidence) -> Limit:
    """What the evidence is held against."""
    return Limit(ROUNDING, item.rounding) if item.rounding else Limit(item.op, item.limit)
