"""Numbers as the ledger takes, records and prints them.

A measured float is recorded to four significant digits, or to as few as its evidence says, and is
printed with the mark of `reluflow.approx`: on another CPU its last digit may be the neighbour.
Integers, fractions, limits and the numbers of a counterexample are exact.
"""

from __future__ import annotations

import decimal
import math
import numbers
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from reluflow.approx import DIGITS, approx
from reluflow.ledger.errors import LedgerError

# A float below this is rounding error. Its digits differ from CPU to CPU: only that it is small is
# recorded.
ROUNDING_LEVEL = 1e-9

Number = int | float | Fraction
NEAREST, DOWN, UP = decimal.ROUND_HALF_EVEN, decimal.ROUND_FLOOR, decimal.ROUND_CEILING


def as_number(value: Any, where: str) -> Number:
    """Turn one real number of any library into an int, float or Fraction; `where` is for errors."""
    value = _plain(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else value
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    raise LedgerError(f"{where} must be one real number, not {value!r}")


def as_exact(value: Any, where: str) -> Any:
    """Turn bools, ints, texts, fractions and sequences of them into tuples of plain values."""
    value = _plain(value)
    if isinstance(value, (bool, str)):
        return value
    if _is_sequence(value):
        return tuple(as_exact(item, where) for item in value)
    if isinstance(value, (numbers.Integral, Fraction)):
        return as_number(value, where)
    raise LedgerError(f"{where} must be exact (bool, int, text, fraction, tuple), not {value!r}")


def as_instance(value: Any, where: str) -> Any:
    """Turn a finite number, an array or a text into tuples of plain values, nothing rounded."""
    value = _plain(value)
    if isinstance(value, (bool, str)):
        return value
    if _is_sequence(value):
        return tuple(as_instance(item, where) for item in value)
    number = as_number(value, where)
    if isinstance(number, float) and not math.isfinite(number):
        raise LedgerError(f"{where} must be finite, not {number}")
    return number


def as_context(value: Any, where: str, digits: int | None) -> Any:
    """Turn a value that only informs into tuples of plain values, its floats rounded.

    A measured float at rounding level is 0: its digits differ from CPU to CPU.
    """
    value = _plain(value)
    if isinstance(value, (bool, str)):
        return value
    if _is_sequence(value):
        return tuple(as_context(item, where, digits) for item in value)
    number = rounded(as_number(value, where), digits)
    noise = digits is not None and isinstance(number, float) and abs(number) < ROUNDING_LEVEL
    return 0.0 if noise else number


def as_digits(digits: int | None, where: str, least: int = 1) -> int | None:
    """Check a number of significant digits; None stands for a number that is exact."""
    whole = isinstance(digits, int) and not isinstance(digits, bool)
    if digits is not None and not (whole and least <= digits <= DIGITS):
        raise LedgerError(f"the digits of {where} must be {least} to {DIGITS}, not {digits!r}")
    return digits


def rounded(value: Number, digits: int | None = DIGITS, direction: str = NEAREST) -> Number:
    """Round a float to significant digits; exact numbers and non-finite floats stay."""
    if digits is None or not isinstance(value, float) or not math.isfinite(value):
        return value
    context = decimal.Context(prec=digits, rounding=direction)
    # From the shortest decimal that names the float: 1e-8 is on no side of itself.
    near = float(context.create_decimal(repr(value))) + 0.0  # no -0.0
    return near if math.isfinite(near) else value


def encoded(value: Any) -> Any:
    """Write a plain value as JSON data, fractions as "p/q" and non-finite floats as text."""
    if isinstance(value, tuple):
        return [encoded(item) for item in value]
    if isinstance(value, Fraction) or (isinstance(value, float) and not math.isfinite(value)):
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
    return isinstance(value, float) and value != 0.0 and math.isfinite(value)


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


def _plain(value: Any) -> Any:
    """Take scalars and arrays of numpy and torch out of their library."""
    return value.tolist() if hasattr(value, "tolist") else value


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
