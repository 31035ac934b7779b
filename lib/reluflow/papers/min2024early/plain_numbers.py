"""Numbers of any size as a table shows them: thousands in groups in place of a power of ten."""

from __future__ import annotations

import math

from reluflow.approx import DIGITS, MARK, approx

_HIGH = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_THIN = "\u202f"
"""A narrow space at which no line is broken."""
_LONG = 7
"""From this power of ten on it is written as a power."""


def plain(value: float, digits: int = DIGITS) -> str:
    """`approx`, but -14 110 in place of -1.411e4, and 2.789·10⁹ in place of 2.789e9."""
    text = approx(value, digits)
    mantissa, _, power = text.removeprefix(MARK).partition("e")
    if not power:
        return text
    if 0 < int(power) < _LONG and math.isfinite(value):
        return f"{MARK}{float(mantissa + 'e' + power):,.0f}".replace(",", _THIN)
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{MARK}{mantissa}·10{power.translate(_HIGH)}"


def unmarked(value: float, digits: int = DIGITS) -> str:
    """`plain` without the mark, of a number in closed form."""
    return plain(value, digits).removeprefix(MARK)


def read(text: str) -> float:
    """The number that `plain` or `unmarked` wrote."""
    mantissa, _, power = text.removeprefix(MARK).replace(_THIN, "").partition("·10")
    low = power.translate({high: low for low, high in _HIGH.items()})
    return float(mantissa) * 10.0 ** int(low or 0)
