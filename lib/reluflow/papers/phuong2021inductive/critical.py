"""Lemma A.1 and Lemma A.2: what G looks like near a point, by grids and in whole fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from reluflow.falsify import Draw, Instance, Statement
from reluflow.ledger import Evidence, fact, note
from reluflow.papers.phuong2021inductive.extremal import drift, extremal_directions, height

_ASIDE = np.geomspace(1e-6, 0.1, 41)
_GRID = 720
_CLOSE = 1e-6


def summits(X: NDArray, y: NDArray, sign: float = 1.0) -> NDArray:
    """Local maxima (sign 1) or minima of G on the circle, (k, 2), without any use of Lemma A.1.

    The kinks and the points of a grid cut the circle into pieces; a piece whose neighbours are
    lower at both ends is searched by golden sections. Plateaus are left out.
    """

    def hill(turn: NDArray | float) -> NDArray:
        W = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        return sign * height(X, y, W)

    kinks = (np.arctan2(X[:, 1], X[:, 0])[:, None] + [-np.pi / 2, np.pi / 2]).ravel()
    # A smooth summit may lie next to a kink, nearer than the grid is fine.
    aside = (kinks[:, None] + np.concatenate([-_ASIDE, _ASIDE])).ravel()
    grid = np.concatenate([aside, np.linspace(0.0, 2.0 * np.pi, _GRID, endpoint=False)])
    turns = np.unique(np.round(np.mod(np.concatenate([kinks, grid]), 2.0 * np.pi), 14))
    turns = np.concatenate([turns[-1:] - 2.0 * np.pi, turns, turns[:1] + 2.0 * np.pi])
    h, found = hill(turns), []
    for k in range(1, len(turns) - 1):
        if h[k] > h[k - 1] and h[k] >= h[k + 1]:
            a, b = float(turns[k - 1]), float(turns[k + 1])
            best = minimize_scalar(lambda s: -float(hill(s)), bounds=(a, b), method="bounded",
                                   options={"xatol": 1e-12})  # fmt: skip
            turn = float(best.x) if -best.fun > h[k] else float(turns[k])
            if max(float(hill(turn - 1e-5)), float(hill(turn + 1e-5))) < float(hill(turn)):
                found.append([np.cos(turn), np.sin(turn)])
    return np.array(found).reshape(-1, 2)


def any_data(labels: bool = True) -> dict[str, Draw]:
    """Data in the plane, hardly any of them (OS): "gaussian" ones and "lengths" over two
    decades."""

    def drawn(decades: float) -> Draw:
        def one(rng: np.random.Generator) -> Instance:
            n = int(rng.integers(1, 7))
            lengths = 10.0 ** rng.uniform(-decades, decades, (n, 1))
            return {"X": rng.standard_normal((n, 2)) * lengths, "y": rng.choice([-1.0, 1.0], n)}

        return one

    return {"gaussian": drawn(0.0), "lengths": drawn(1.0)}


def is_critical() -> Statement:
    """os.lemA.1: g(w) = C w at every extremal direction, of any data.

    In the plane, at the summits and the deepest points of a grid; the slack is what a tolerance of
    1e-6 leaves of the part of g(w) across w, as a part of the largest datum.
    """

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        across = [0.0]
        for sign in (1.0, -1.0):
            for w in summits(X, y, sign):
                near = _settled(X, w)
                g = drift(X, y, near)
                across.append(float(np.linalg.norm(g - (g @ near) * near)) / float(np.abs(X).max()))
        return _CLOSE - max(across)

    return Statement("g(w) is parallel to w, up to 1e-6", any_data(), slack)


def _settled(X: NDArray, w: NDArray) -> NDArray:
    """w, moved onto the kink that is nearer than 1e-7."""
    units = X / np.linalg.norm(X, axis=1)[:, None]
    cosines = units @ w
    k = int(np.argmin(np.abs(cosines)))
    if abs(cosines[k]) > 1e-7:
        return w
    moved = w - cosines[k] * units[k]
    return np.asarray(moved / np.linalg.norm(moved))


def grid_agrees(seed: int, count: int) -> list[Evidence]:
    """The enumeration, which rests on Lemma A.1, finds the summits of the grid, all and no
    others."""
    rng = np.random.default_rng(seed)
    other = total = kinks = 0
    for k in range(count):
        item = list(any_data().values())[k % 2](rng)
        X, y = item["X"], item["y"]
        for sign in (1.0, -1.0):
            grid, listed = summits(X, y, sign), extremal_directions(X, y, sign)
            same = len(grid) == len(listed) and all(
                np.min(np.linalg.norm(listed - w, axis=1)) < 1e-5 for w in grid
            )
            other += not same
            total += len(listed)
            kinks += sum(bool(np.min(np.abs(X @ w)) < 1e-9) for w in listed)
    return [
        fact("data sets whose grid and enumeration differ", other, 0, tried=2 * count),
        note("extremal directions, and of them on a boundary", (total, kinks)),
    ]


def local_formula(seed: int, count: int) -> list[Evidence]:
    """os.lemA.2: eq (37), times |w + eps v|: G(w + eps v) = G(w) + eps sum of y_i <v, x_i> / 2
    over the data with <w + eps v, x_i> > 0, for all eps in [0, eps_max] of eq (40).

    In fractions, for w of any length: whole numbers, w often on boundaries, v = -w in a third of
    the cases. Of eps_max all, a half and a thousandth are tried; where (40) has no largest eps,
    1/1000 and 10 are, unless w + eps v = 0.
    """
    rng = np.random.default_rng(seed)
    broken = tried = boundary = unbounded = too_far = 0
    for k in range(count):
        n, d = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        X, y = rng.integers(-3, 4, (n, d)).tolist(), rng.choice([-1, 1], n).tolist()
        w, v = rng.integers(-2, 3, (2, d)).tolist()
        w = w if any(w) else [1] * d
        v = [-c for c in w] if k % 3 == 0 else v
        largest = eps_max(X, w, v)
        boundary += any(_dot(x, w) == 0 and any(x) for x in X)
        unbounded += largest is None
        steps = [Fraction(1, 1000), Fraction(10)] if largest is None else \
            [largest, largest / 2, largest / 1000]  # fmt: skip
        for eps in steps:
            if any(_moved(w, v, eps)):
                tried += 1
                broken += not formula_holds(X, y, w, v, eps)
        too_far += largest is not None and not formula_holds(X, y, w, v, 3 * largest)
    return [
        fact("steps at which (37) fails", broken, 0, tried=tried),
        note("of so many w, on a boundary", (count, boundary)),
        note("pairs (w, v) for which (40) has no largest step", unbounded),
        note("pairs for which (37) fails at 3 eps_max, beyond the first boundary", too_far),
    ]


def eps_max(X: list[list[int]], w: list[int], v: list[int]) -> Fraction | None:
    """Half the largest eps at which no <w + eps v, x_i> has changed its sign (eq 40); None for no
    largest."""
    ends = [Fraction(-_dot(x, w), _dot(x, v)) for x in X if _dot(x, w) * _dot(x, v) < 0]
    return min(ends) / 2 if ends else None


def formula_holds(X: list[list[int]], y: list[int], w: list[int], v: list[int],
                  eps: Fraction) -> bool:  # fmt: skip
    """Eq (37) without its norms, in fractions."""
    moved = _moved(w, v, eps)
    left = sum(t * max(_dot(x, moved), 0) for t, x in zip(y, X, strict=True))
    start = sum(t * max(_dot(x, w), 0) for t, x in zip(y, X, strict=True))
    slope = sum(t * _dot(x, v) for t, x in zip(y, X, strict=True) if _dot(x, moved) > 0)
    return bool(left == start + eps * slope)


def _moved(w: list[int], v: list[int], eps: Fraction) -> list[Fraction]:
    return [a + eps * b for a, b in zip(w, v, strict=True)]


def _dot(a: list, b: list):  # type: ignore[no-untyped-def, type-arg]
    return sum(p * q for p, q in zip(a, b, strict=True))
