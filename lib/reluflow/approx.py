"""Measured numbers in text, with a mark by which a comparison of outputs knows them.

`≈0.002114` says that the number was measured and is good to about its last digit: on another CPU
the same computation may print a neighbour. A number without the mark is exact. How many digits are
written is the tolerance that the output declares (tests/nbval_numbers.py).
"""

from __future__ import annotations

import math

MARK = "≈"
DIGITS = 4  # significant digits of a measured number, unless it is known to fewer

# The edges between two rounded values must not lie where computed values like to lie. Values such
# as 0.5 or the mean of two printed numbers sit exactly on an edge of decimal rounding, and noise
# in the last bit would throw them either way; a tiny shift moves the edges off all short decimals.
SHIFT = 0.0137293


def approx(value: float, digits: int = DIGITS) -> str:
    """Write a measured number with so many significant digits, and the mark.

    Zero, infinities and NaN have no digits and get no mark.
    """
    value = float(value)
    if value == 0.0 or not math.isfinite(value):
        return f"{value + 0.0:g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if -4 <= int(exponent) < digits:
        return f"{MARK}{float(f'{value:.{digits - 1}e}'):.{digits - 1 - int(exponent)}f}"
    return f"{MARK}{mantissa}e{int(exponent)}"


def written(text: str) -> float:
    """Return a number that was written with or without the mark."""
    return float(text.removeprefix(MARK))


def on_grain(value: float, grain: float) -> str:
    """Write a measured number as a multiple of `grain` (a power of ten), and the mark.

    The last digit is that of the grain, also where it is a zero; nothing is ever "-0".
    """
    if not math.isfinite(value):
        return f"{value:g}"
    place = round(math.log10(grain))
    units = math.floor(float(value) / grain + 0.5 + SHIFT)
    if place <= 0:
        return f"{MARK}{units * grain + 0.0:.{-place}f}"
    digits = max(len(str(abs(units))) - 1, 0)
    return f"{MARK}{units / 10**digits:.{digits}f}e{place + digits}"


def counted(number: int, digits: int = 3) -> str:
    """Write a measured count with so many significant digits, and the mark.  A smaller one is
    written exactly, without decimals that no count has."""
    places = len(str(number)) - digits
    return str(number) if places < 0 else on_grain(number, 10.0**places)
