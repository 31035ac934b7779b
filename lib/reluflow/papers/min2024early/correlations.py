"""Whether images satisfy Assumption 1: the inner products of all pairs (Min et al. 2024, Section 4,
first plot of Figure 5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.images import Pair
from reluflow.packed import packed, unpacked

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


def least_before(pair: Pair) -> int:
    """The least inner product of two images of different digits before centring, in whole grey
    levels, exact; the pixels that are the same in all images are left out, whose products are >= 0.
    """
    levels, plus = pair.levels.astype(float), pair.y > 0  # products stay far below 2^53
    return min(int((part @ levels[~plus].T).min()) for part in _parts(levels[plus]))


def least_after(pair: Pair) -> float:
    """The same after the mean is taken off, in the unit of the centred images."""
    plus = pair.y > 0
    return min(float((part @ pair.X[~plus].T).min()) for part in _parts(pair.X[plus]))


def left_over(pair: Pair) -> int:
    """n (x_+ + x_-) in whole grey levels, its largest entry in size: sum_i (x_i - mean), exact."""
    n, levels, plus = len(pair.y), pair.levels.astype(np.int64), pair.y > 0
    total = levels.sum(axis=0)
    sums = [n * levels[rows].sum(axis=0) - int(rows.sum()) * total for rows in (plus, ~plus)]
    return int(np.abs(sums[0] + sums[1]).max())


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
    text = packed(np.round(products / unit * 127), "i1")
    plus = pair.y > 0
    sums = [pair.X[rows].sum(axis=0) for rows in (plus, ~plus)]
    lengths = [float(np.linalg.norm(x)) for x in sums]
    return {
        "positive": int(plus.sum()),
        "negative": int((~plus).sum()),
        "pixels": int(pair.moves.sum()),
        "shares": shares(pair),
        "mu": mu(pair),
        "least_before": least_before(pair),
        "least_after": least_after(pair),
        "left_over": left_over(pair),
        "pull": lengths[0] / len(pair.y),
        "heatmap": {"unit": unit, "products": text},
    }


def recorded_heatmap(facts: dict[str, Any]) -> NDArray:
    """The heatmap of a record, to half a 127th of its largest entry."""
    raw = unpacked(facts["heatmap"]["products"], "i1")
    side = round(len(raw) ** 0.5)
    return raw.reshape(side, side) * (facts["heatmap"]["unit"] / 127)


def _parts(X: NDArray) -> list[NDArray]:
    return [X[k : k + _BLOCK] for k in range(0, len(X), _BLOCK)]
