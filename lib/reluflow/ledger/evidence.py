"""Evidence: what was measured, and what the claim needs it to be.

Every piece that decides has the form `value op limit`. A note only informs.
"""

from __future__ import annotations

import decimal
import math
import numbers
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from reluflow.approx import DIGITS, approx

# --- The one error of the ledger, and what raises it ----------------------------------------------


class LedgerError(ValueError):
    """A claim cannot be settled, or a recorded row cannot be believed; the text is one sentence."""


def need(truth: object, otherwise: str) -> None:
    """Raise LedgerError with the sentence `otherwise` unless this is true."""
    if not truth:
        raise LedgerError(otherwise)


def is_text(value: object) -> bool:
    """Whether this is a text with something in it."""
    return isinstance(value, str) and bool(value.strip())


# --- Numbers as the ledger takes, records and prints them -----------------------------------------
#
# A measured float is recorded to four significant digits, or to as few as its evidence says, and is
# printed with the mark of `reluflow.approx`: on another CPU its last digit may be the neighbour.
# Integers, fractions, limits and the numbers of a counterexample are exact.


# A float below this is rounding error. Its digits differ from CPU to CPU: only that it is small is
# recorded.
ROUNDING_LEVEL = 1e-9

Number = int | float | Fraction
NEAREST, DOWN, UP = decimal.ROUND_HALF_EVEN, decimal.ROUND_FLOOR, decimal.ROUND_CEILING


def is_finite(number: Number) -> bool:
    """Whether this is neither an infinite float nor NaN."""
    return not isinstance(number, float) or math.isfinite(number)


def as_number(value: Any, where: str) -> Number:
    """Turn one real number of any library into an int, float or Fraction; `where` is for errors."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise LedgerError(f"{where} must be one real number, not {value!r}")
    if isinstance(value, Fraction) and value.denominator > 1:
        return value
    return int(value) if isinstance(value, (numbers.Integral, Fraction)) else float(value)


EXACT, FINITE, TOLD = "exact", "finite", "told"


def plain(value: Any, where: str, kind: str, digits: int | None = None) -> Any:
    """Turn bools, texts, numbers and arrays of any library into tuples of plain values.

    `kind` says which numbers: EXACT takes no float, FINITE rounds nothing, and what is TOLD, and
    only informs, is rounded to `digits`. A measured float at rounding level is told as 0: its
    digits differ from CPU to CPU.
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return tuple(plain(item, where, kind, digits) for item in value)
    found = as_number(value, where)
    if kind == EXACT:
        said = f"{where} must be exact (bool, int, text, fraction, tuple), not {found!r}"
        need(not isinstance(found, float), said)
    if kind == FINITE:
        need(is_finite(found), f"{where} must be finite, not {found}")
    noise = digits and isinstance(found, float) and abs(found) < ROUNDING_LEVEL
    return 0.0 if noise else rounded(found, digits)


def as_digits(digits: int | None, where: str, least: int = 1) -> int | None:
    """Check a number of significant digits; None stands for a number that is exact."""
    whole = isinstance(digits, int) and not isinstance(digits, bool)
    fits = digits is None or (whole and least <= digits <= DIGITS)
    need(fits, f"the digits of {where} must be {least} to {DIGITS}, not {digits!r}")
    return digits


def rounded(value: Number, digits: int | None = DIGITS, direction: str = NEAREST) -> Number:
    """Round a float to significant digits; exact numbers and non-finite floats stay."""
    if digits is None or not isinstance(value, float) or not is_finite(value):
        return value
    context = decimal.Context(prec=digits, rounding=direction)
    # From the shortest decimal that names the float: 1e-8 is on no side of itself.
    near = float(context.create_decimal(repr(value))) + 0.0  # no -0.0
    return near if math.isfinite(near) else value


def encoded(value: Any) -> Any:
    """Write a plain value as JSON data, fractions as "p/q" and non-finite floats as text."""
    if isinstance(value, tuple):
        return [encoded(item) for item in value]
    if isinstance(value, Fraction) or not is_finite(value):
        return str(value)
    return value


def decoded_number(value: Any, where: str) -> Number:
    """Read one number back from JSON data."""
    if not isinstance(value, str):
        return as_number(value, where)
    try:
        return float(value) if value in ("nan", "inf", "-inf") else Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise LedgerError(f"{where} must be one real number, not {value!r}") from None


def has_floats(value: Any) -> bool:
    """Whether a plain value holds a float that has digits: neither zero nor infinite nor NaN."""
    if isinstance(value, tuple):
        return any(map(has_floats, value))
    return isinstance(value, float) and value != 0.0 and is_finite(value)


def printed(value: Any, digits: int | None = None) -> str:
    """Print a plain value, or its JSON data: measured floats to `digits` and with their mark.

    Without `digits` floats have the shortest digits that give them back exactly.
    """
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(printed(item, digits) for item in value) + "]"
    if digits is not None and has_floats(value):
        return approx(value, digits)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return re.sub(r"e([+-])0(?=\d)", r"e\1", str(value)) if isinstance(value, float) else str(value)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
DECIDING = 2
"""Significant digits of a measured value that decides: of fewer a comparison of outputs, which lets
the last one differ, would pass a value that is half as large again."""

SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "="}
_OPS = {"deviation": ("<=",), "bound": ("<", "<=", ">", ">="), "fact": ("==",), "note": ("",)}


@dataclass(frozen=True)
class Evidence:
    """One measured value and what is asked of it; made by `deviation`, `fact`, `bound` or `note`.

    `clipped` says that the value stands for anything at rounding level on its side of zero; `tried`
    is the number of instances on which a fact was tried, None where it is not about instances;
    `digits` is to how many significant digits floats among the value were measured: on another CPU
    the last of them may be its neighbour. None is for a value that is exact. `given` are the
    hypotheses of the instances that were tried, where they were tested; `after` says what of this
    was chosen after something had been seen: a bar, an example, what is left out; `rounding` is the
    slack below zero that instances may have and not break a statement.
    """

    form: str
    what: str
    value: Any
    unit: str = ""
    op: str = ""
    limit: Any = None
    clipped: bool = False
    tried: int | None = None
    digits: int | None = None
    given: tuple[str, ...] = ()
    after: str = ""
    rounding: float = 0.0

    def __post_init__(self) -> None:
        need(is_text(self.what), "evidence needs a text that says what was measured")
        for part, text in (("its unit", self.unit), ("after what it was chosen", self.after)):
            said = f"evidence {self.what!r} needs {part} as a text, not {text!r}"
            need(isinstance(text, str), said)
        ops = _OPS.get(self.form, ())
        need(ops, f"evidence {self.what!r} has the unknown form {self.form!r}")
        said = f"{self.form} {self.what!r} needs one of {' '.join(ops)}, not {self.op!r}"
        need(self.op in ops, said)
        as_digits(self.digits, f"{self.form} {self.what!r}", DECIDING if self.decides else 1)
        if self.clipped or not has_floats(self.value):
            object.__setattr__(self, "digits", None)

    @property
    def decides(self) -> bool:
        """Whether the verdict depends on it."""
        return self.form != "note"

    @property
    def holds(self) -> bool:
        """Whether `value op limit`; a NaN never holds."""
        nothing = f"evidence {self.what!r} has nothing to be compared with"
        need(self.op and self.limit is not None, nothing)
        return _COMPARE[self.op](self.value, self.limit)


def deviation(
    what: str, value: Number, unit: str, digits: int | None = DIGITS, after: str = ""
) -> Evidence:
    """A distance from what the claim says; it holds within the limit that the inventory has for it.

    Parameters: `what` was measured (text), `value` >= 0, `unit` (text, "" for a pure number),
    `digits`, how many significant digits of a float are the same on every CPU, but for the last:
    fewer than four for what a long or an ill-conditioned computation leaves; `after`, as `Evidence`
    has it. Raises `LedgerError` for a negative value or a text that is missing.
    """
    number = as_number(value, f"deviation {what!r}")
    need(not number < 0, f"deviation {what!r} must not be negative, and it is {number!r}")
    return Evidence("deviation", what, number, unit, "<=", digits=digits, after=after)


def fact(
    what: str,
    value: Any,
    expect: Any,
    tried: int | None = None,
    given: Sequence[str] = (),
    after: str = "",
    rounding: float = 0.0,
) -> Evidence:
    """Something exact; it holds when value == expect, and not on no instance at all.

    Parameters: `what` was found (text), `value` and `expect` (bool, int, text, fraction, or tuples
    of them), `tried`, the number of instances that could have broken it, None for what is not about
    instances, `given`, `after` and `rounding`, as `Evidence` has them.
    Raises `LedgerError` for floats, and for two values of different type, such as 1 and True.
    """
    value, expect = (plain(each, f"fact {what!r}", EXACT) for each in (value, expect))
    unlike = f"fact {what!r} compares values of different type: {value!r}, {expect!r}"
    need(_comparable(value, expect), unlike)
    tried = None if tried is None else int(as_number(tried, f"the instances of fact {what!r}"))
    if tried == 0:
        what, value, expect = f"{what}: some instance could tell", False, True
    return Evidence("fact", what, value, op="==", limit=expect, tried=tried,
                    given=tuple(given), after=after, rounding=float(rounding))  # fmt: skip


def bound(
    what: str,
    value: Number,
    op: str,
    limit: Number,
    unit: str,
    digits: int | None = DIGITS,
    after: str = "",
) -> Evidence:
    """An inequality; it holds when `value op limit`.

    Parameters: `what` was measured (text), `value`, `op` (one of < <= > >=), `limit` (finite, in
    the unit of the value), `unit` (text, "" for a pure number), `digits` as for `deviation`,
    `after`, as `Evidence` has it.
    Raises `LedgerError` for another `op` and for a limit that is not finite.
    """
    limit = as_number(limit, f"the limit of bound {what!r}")
    need(is_finite(limit), f"the limit of bound {what!r} must be finite, not {limit}")
    value = as_number(value, f"bound {what!r}")
    return Evidence("bound", what, value, unit, op, limit, digits=digits, after=after)


def note(
    what: str, value: Any, unit: str = "", digits: int | None = DIGITS, after: str = ""
) -> Evidence:
    """Context for the reader (a seed, the number of instances); it never decides.

    Parameters: `digits` as for `deviation`, None for floats that were chosen and not measured;
    `after`, as `Evidence` has it.
    """
    digits = as_digits(digits, f"note {what!r}")
    value = plain(value, f"note {what!r}", TOLD, digits)
    return Evidence("note", what, value, unit, digits=digits, after=after)


def pieces(evidence: Any, where: str) -> tuple[Evidence, ...]:
    """Check that this is a list of evidence; `where` names it in the `LedgerError`."""
    listed = isinstance(evidence, Sequence) and all(isinstance(i, Evidence) for i in evidence)
    need(listed and evidence != "", f"{where} must be a list of deviation, fact, bound and note")
    return tuple(evidence)


def recorded(item: Evidence) -> Evidence:
    """Round the evidence for the record; what held still holds, and what failed still fails."""
    if item.form not in ("deviation", "bound"):
        return item
    if (clipped := _clipped(item)) is not None:
        return clipped
    # Round to nearest; where that would change the outcome round outwards, away from the limit.
    value_out, limit_out = (DOWN, UP) if item.holds == (item.op in ("<", "<=")) else (UP, DOWN)
    near, out = (rounded(item.value, item.digits, way) for way in (NEAREST, value_out))
    if item.form == "deviation":  # a tolerance is chosen, not computed, and stays as it is
        choices = [(near, item.limit), (out, item.limit)]
    else:
        bar, bar_out = rounded(item.limit), rounded(item.limit, direction=limit_out)
        choices = [(near, bar), (out, bar), (out, bar_out)]
    candidates = (replace(item, value=value, limit=limit) for value, limit in choices)
    return next(c for c in candidates if c.holds == item.holds)


def _clipped(item: Evidence) -> Evidence | None:
    """Evidence that holds by a value at rounding level, with the end of that level as value."""
    upper = item.op in ("<", "<=")
    limit = item.limit if item.form == "deviation" else rounded(item.limit)
    room = limit if upper else -limit
    level = min(room, ROUNDING_LEVEL)
    reached = room > ROUNDING_LEVEL or (item.op in ("<=", ">=") and isinstance(limit, float))
    small = isinstance(item.value, float) and level > 0 and abs(item.value) <= level
    if not (small and reached and item.holds):
        return None
    return replace(item, value=level if upper else -level, limit=limit, clipped=True)


def to_json(item: Evidence, role: str) -> dict[str, Any]:
    """Write recorded evidence as JSON data; `role` says what it serves."""
    always: tuple[str, ...] = ("value", "unit", "limit") if item.decides else ("value", "unit")
    found = {part.name: encoded(getattr(item, part.name)) for part in fields(item)}
    always += ("tried",) * (item.tried == 0)
    data = {name: value for name, value in found.items() if value or name in always}
    return {"role": role} | data | ({"holds": item.holds} if item.decides else {})


def from_json(data: dict[str, Any]) -> Evidence:
    """Read recorded evidence back from JSON data."""
    parts = {name: value for name, value in data.items() if name not in ("role", "holds")}
    where, decides = f"{data['form']} {data['what']!r}", data["form"] != "note"
    kind = {"fact": EXACT, "note": TOLD}.get(data["form"])
    for name in ("value", "limit") if decides else ("value",):
        # Fractions of a fact are texts by now, on both sides.
        told = data[name]
        parts[name] = plain(told, where, kind) if kind else decoded_number(told, where)
    if "digits" in data and isinstance(parts["value"], int):  # some front end wrote 2 for 2.0
        parts["value"] = float(parts["value"])
    return Evidence(**parts | {"given": tuple(data.get("given", ()))})


def _comparable(value: Any, expect: Any) -> bool:
    """Whether both are of one type, item by item; Python itself finds that 1 == True."""
    for kind in (bool, str, tuple):
        if isinstance(value, kind) != isinstance(expect, kind):
            return False
    pairs = zip(value, expect, strict=False) if isinstance(value, tuple) else ()
    return all(_comparable(a, b) for a, b in pairs)


# --- Evidence in a reader's words -----------------------------------------------------------------

SURVEY = re.compile(r"(.+): instances that break it")
_SEARCHED = re.compile(r"(.+): broken by a search of (\d+) evaluations from the worst")
SMALL_PRINT = (
    "instances tried, and drawn",
    "instances tried",
    "instances drawn",
    "sizes of 5, 50 and 95 % of their entries, at most",
    "smallest slack of those",
    "smallest slacks",
    "slack at an instance that must break it",
    "slack at a fixed instance",
    "seed",
)
"""Notes on how instances were drawn."""


@dataclass(frozen=True)
class Line:
    """A line of a card: `mark` is ✓, ✗ or a dot where nothing depends on it; empty: no evidence."""

    mark: str
    words: str

    def __str__(self) -> str:
        return f"{self.mark} {self.words}".strip()


def told(evidence: Sequence[Evidence]) -> list[Line]:
    """What was found, without the small print; a survey and the search from its worst instance
    share a line, and so do the two limits of a value, of which the second is called "the same"."""
    lines: list[Line] = []
    for item in (item for item in evidence if not is_small(item)):
        mark, words = ("✓" if item.holds else "✗") if item.decides else "·", sentence(item)
        says, before = _SEARCHED.sub(r"\1: ", item.what), lines[-1] if lines else Line("✓", "")
        if says != item.what and before.words.startswith(f"{says}broken by"):
            words = f"{before.words}; {words.removeprefix(says)}"
        elif item.what == "the same" and item.decides:
            words = f"{before.words.removesuffix(')')} and {_asked(item)})"
        else:
            lines.append(Line(mark, words))
            continue
        lines[-1] = Line(min(before.mark, mark, key="✗·✓".index), words)
    # Lines "case: what was found" of several cases that differ in the case alone are one.
    cases: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        case, colon, rest = line.words.partition(": ")
        cases.setdefault((line.mark, colon, rest), []).append(case)
    return [Line(mark, f"{'; '.join(dict.fromkeys(these))}{colon}{rest}")
            for (mark, colon, rest), these in cases.items()]  # fmt: skip


def is_small(item: Evidence) -> bool:
    """Whether evidence is a note on how instances were drawn."""
    return not item.decides and item.what in SMALL_PRINT


def sentence(item: Evidence) -> str:
    """What one piece of evidence says."""
    # A clipped value is the end of the rounding level that it stands for.
    around = ("at most " if item.op in ("<", "<=") else "at least ") if item.clipped else ""
    value = f"{around}{in_words(item.value, item.digits)} {item.unit}".rstrip()
    if survey := SURVEY.fullmatch(item.what):
        of = f" of {item.tried}" if item.tried else ""
        more = f", by more than {printed(item.rounding)}" if item.rounding else ""
        words = f"{survey[1]}: broken by {item.value or 'none'}{of} instances{more}"
    elif searched := _SEARCHED.fullmatch(item.what):
        found = "found none" if item.holds else "broke it"
        words = f"{searched[1]}: a search of {searched[2]} more from the worst {found}"
    elif item.form == "fact" and item.holds and item.value is True:
        words = item.what
    elif item.form == "fact" and item.holds:
        words = f"{item.what}: {value}{f' of {item.tried}' if item.tried else ''}"
    else:
        words = f"{item.what}: {value}{f' (asked: {_asked(item)})' if item.decides else ''}"
    return f"{words}; chosen after seeing: {item.after}" if item.after else words


def _asked(item: Evidence) -> str:
    sign = "" if item.op == "==" else f"{SIGNS[item.op]} "
    return f"{sign}{in_words(item.limit)}"


def vector(value: object) -> str:
    """A value of an instance: vectors and rows of a matrix in parentheses."""
    flat = isinstance(value, tuple | list) and not any(isinstance(v, tuple | list) for v in value)
    return f"({in_words(value)})" if flat else in_words(value)


def in_words(value: object, digits: int | None = None) -> str:
    """A value as it is printed, with yes and no, lists without and their rows in parentheses."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        each = [in_words(v, digits) for v in value]
        nested = [isinstance(v, tuple | list) for v in value]
        return ", ".join(f"({v})" if deep else v for v, deep in zip(each, nested, strict=True))
    return printed(value, digits)
