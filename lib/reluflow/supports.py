"""Random orthogonally separable data: support examples that span or do not, or right angles.

Support examples of a label are the data with equality in min |w|, <w, x_i> >= 1 (Phuong & Lampert
2021, eqs 6 and 7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, Any]


def cap(d: int, count: int, extra: int, rng: np.random.Generator) -> NDArray:
    """Points (count + extra, d) whose max-margin vector is e_1.

    The first `count` <= d are e_1 + r_i with r_i orthogonal to e_1, shorter than 0.9, and a
    positive combination of them 0: they are the support examples, and span where count = d. The
    others lie behind them, x_1 >= 1.2, and leave their span where it is not the whole space.
    """
    r = np.zeros((count, d - 1))
    if count > 1:
        r[:, : count - 1] = rng.standard_normal((count, count - 1))
        weights = rng.uniform(0.2, 1.0, count)
        r[-1] = -(weights[:-1] @ r[:-1]) / weights[-1]
        r *= rng.uniform(0.2, 0.9) / np.linalg.norm(r, axis=1).max()
        if d > 2:
            r = r @ np.linalg.qr(rng.standard_normal((d - 1, d - 1)))[0]
    support = np.hstack([np.ones((count, 1)), r])
    far = (rng.dirichlet(np.ones(count), extra) @ support) * rng.uniform(1.2, 3.0, (extra, 1))
    if count < d:
        outside = np.linalg.svd(support)[2][count:]
        far += rng.uniform(-0.5, 0.5, (extra, d - count)) @ outside / np.sqrt(d - count)
    return np.vstack([support, far])


def supported(
    d: int, counts: tuple[int, int], rng: np.random.Generator, decades: float = 0.3
) -> Arrays:
    """X (n, d) and y (n,), orthogonally separable, with counts[0] positive and counts[1] negative
    support examples, each in general position, and one to three more data of either label.

    Both labels lie about one axis, on its two sides, at distances that differ by up to
    10^(2 decades); their max-margin vectors are opposite unless both caps are turned.
    """
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    while True:
        blocks = []
        for sign, count in zip((1.0, -1.0), counts, strict=True):
            turned = cap(d, count, int(rng.integers(1, 4)), rng) @ _tilt(d, rng)
            blocks.append(sign * turned * 10.0 ** rng.uniform(-decades, decades))
        if np.all(blocks[0] @ blocks[1].T <= 0.0):
            break
    y = np.repeat([1.0, -1.0], [len(b) for b in blocks])
    return {"X": np.vstack(blocks) @ Q, "y": y}


def _tilt(d: int, rng: np.random.Generator) -> NDArray:
    """A rotation (d, d) of e_1 by up to 30 degrees."""
    if d == 1:
        return np.eye(1)
    angle = rng.uniform(-np.pi / 6, np.pi / 6)
    R = np.eye(d)
    R[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return R


def right_angles(rng: np.random.Generator) -> Arrays:
    """X (n, d) and y (n,) of small whole numbers, positive data >= 0 and negative ones <= 0 in all
    coordinates, some pairs of different labels orthogonal; of equal labels none."""
    d = int(rng.integers(2, 5))
    while True:
        blocks = []
        for shared in (0, d - 1):
            points = rng.integers(0, 3, (int(rng.integers(1, d + 2)), d)) * (rng.random(d) < 0.5)
            points[:, shared] += 1
            blocks.append(points.astype(float))
        if np.any(blocks[0] @ blocks[1].T == 0.0):
            break
    y = np.repeat([1.0, -1.0], [len(b) for b in blocks])
    return {"X": np.vstack([blocks[0], -blocks[1]]), "y": y}


def support_draws(most: int = 4) -> dict[str, Callable[[np.random.Generator], Arrays]]:
    """Draws of {"X", "y"} for `falsify`: "spanning" support examples, "few" of them, and data with
    "right angles" between the labels; up to `most` dimensions."""

    def spanning(rng: np.random.Generator) -> Arrays:
        d = int(rng.integers(1, most + 1))
        return supported(d, (d, d), rng)

    def few(rng: np.random.Generator) -> Arrays:
        d = int(rng.integers(2, most + 1))
        counts = (int(rng.integers(1, d)), int(rng.integers(1, d + 1)))
        return supported(d, counts, rng)

    return {"spanning": spanning, "few": few, "right angles": right_angles}
