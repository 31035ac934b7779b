"""Whether images satisfy Assumption 1: the inner products of all pairs (Min et al. 2024, Section 4,
first plot of Figure 5)."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.images import Pair

SHOWN = 48
"""Images of each digit in the recorded heatmap."""
_BLOCK = 1000


def shares(pair: Pair) -> dict[str, int]:
    """How many pairs i < j there are and how many have an inner product of the right sign: positive
    for equal labels, negative for different ones; and how many products are exactly 0."""
    X, y = pair.X, pair.y
    found = dict.fromkeys(("equal", "equal_right", "different", "different_right", "zero"), 0)
    for first in range(0, len(y), _BLOCK):
        rows = slice(first, first + _BLOCK)
        products = X[rows] @ X[first:].T
        above = np.triu(np.ones(products.shape, bool), 1)
        same = y[rows, None] == y[None, first:]
        found["equal"] += int((above & same).sum())
        found["equal_right"] += int((above & same & (products > 0)).sum())
        found["different"] += int((above & ~same).sum())
        found["different_right"] += int((above & ~same & (products < 0)).sum())
        found["zero"] += int((above & (products == 0)).sum())
    return found


def least_before_and_after(pair: Pair) -> tuple[float, float]:
    """The least inner product of images of different digits, before and after the mean is taken
    off."""
    raw, plus = pair.raw, pair.y > 0
    before = min(float((part @ raw[~plus].T).min()) for part in _parts(raw[plus]))
    after = min(float((part @ pair.X[~plus].T).min()) for part in _parts(pair.X[plus]))
    # The mean is taken off and put back in floats: what is 0 may have become a rounding error.
    return (0.0 if abs(before) < 1e-9 else before), after


def mu(pair: Pair) -> float:
    """mu of Assumption 1: the least cosine of y_i x_i and y_j x_j."""
    Z = pair.y[:, None] * pair.X
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return min(float((part @ Z.T).min()) for part in _parts(Z))


def heatmap(pair: Pair, shown: int = SHOWN) -> NDArray:
    """The inner products of the first images of each digit, (2 shown, 2 shown)."""
    rows = np.concatenate([np.nonzero(pair.y == s)[0][:shown] for s in (1.0, -1.0)])
    return pair.X[rows] @ pair.X[rows].T


def record(pair: Pair) -> dict[str, Any]:
    """All of these, as JSON keeps them; the heatmap in bytes, in units of its largest entry."""
    products = heatmap(pair)
    unit = float(np.abs(products).max())
    text = base64.b64encode(np.round(products / unit * 127).astype(np.int8).tobytes()).decode()
    before, after = least_before_and_after(pair)
    plus = pair.y > 0
    sums = [pair.X[rows].sum(axis=0) for rows in (plus, ~plus)]
    lengths = [float(np.linalg.norm(x)) for x in sums]
    return {
        "positive": int(plus.sum()),
        "negative": int((~plus).sum()),
        "pixels": int(pair.moves.sum()),
        "shares": shares(pair),
        "mu": mu(pair),
        "least_before": before,
        "least_after": after,
        "cosine": float(sums[0] @ sums[1] / (lengths[0] * lengths[1])),
        "pull": lengths[0] / len(pair.y),
        "heatmap": {"unit": unit, "products": text},
    }


def recorded_heatmap(facts: dict[str, Any]) -> NDArray:
    """The heatmap of a record, to half a 127th of its largest entry."""
    raw = np.frombuffer(base64.b64decode(facts["heatmap"]["products"]), np.int8)
    side = round(len(raw) ** 0.5)
    return raw.reshape(side, side) * (facts["heatmap"]["unit"] / 127)


def _parts(X: NDArray) -> list[NDArray]:
    return [X[k : k + _BLOCK] for k in range(0, len(X), _BLOCK)]
