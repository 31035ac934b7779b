"""What the sections of chapter 4 share: the limit of Theorem 1, G's extremal directions, data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations, cycle, islice, product

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance
from reluflow.margin.max_margin import MaxMargin, max_margin

# --- Random orthogonally separable data -----------------------------------------------------------
#
# Support examples of a label are the data with equality in min |w|, <w, x_i> >= 1 (Phuong & Lampert
# 2021, eqs 6 and 7).


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


def supported(d: int, counts: tuple[int, int], rng: np.random.Generator) -> Instance:
    """X (n, d) and y (n,), orthogonally separable, with counts[0] positive and counts[1] negative
    support examples, each in general position, and one to three more data of either label.

    Both labels lie about one axis, on its two sides, at distances that differ by up to
    10^0.6; their max-margin vectors are opposite unless both caps are turned.
    """
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    while True:
        blocks = []
        for sign, count in zip((1.0, -1.0), counts, strict=True):
            points, R = cap(d, count, int(rng.integers(1, 4)), rng), np.eye(d)
            if d > 1:  # turned by up to 30 degrees
                angle = rng.uniform(-np.pi / 6, np.pi / 6)
                R[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            blocks.append(sign * (points @ R) * 10.0 ** rng.uniform(-0.3, 0.3))
        if np.all(blocks[0] @ blocks[1].T <= 0.0):
            break
    y = np.repeat([1.0, -1.0], [len(b) for b in blocks])
    return {"X": np.vstack(blocks) @ Q, "y": y}


def spanning(least: int, most: int, rng: np.random.Generator) -> Instance:
    """Data in `least` to `most` dimensions whose support examples of either label span."""
    d = int(rng.integers(least, most + 1))
    return supported(d, (d, d), rng)


def right_angles(rng: np.random.Generator) -> Instance:
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


def support_draws(most: int = 4) -> dict[str, Draw]:
    """Draws of {"X", "y"} for `falsify`: "spanning" support examples, "few" of them, and data with
    "right angles" between the labels; up to `most` dimensions."""

    def few(rng: np.random.Generator) -> Instance:
        d = int(rng.integers(2, most + 1))
        return supported(d, (int(rng.integers(1, d)), int(rng.integers(1, d + 1))), rng)

    return {"spanning": partial(spanning, 1, most), "few": few, "right angles": right_angles}


def such(draw: Draw, test: Callable[..., bool], rng: np.random.Generator) -> Instance:
    """The first draw whose X (n, d) and y (n,) pass a test."""
    while not test(**(item := draw(rng))):
        pass
    return item


def in_turn(draws: Mapping[str, Draw], rng: np.random.Generator, count: int) -> Iterator[Instance]:
    """`count` instances, of each kind in turn, each drawn when it is asked for."""
    return (draw(rng) for draw in islice(cycle(draws.values()), count))


def breaks(X: NDArray, y: NDArray, rows: slice = slice(None)) -> NDArray:
    """Which pairs of these rows and all data X (n, d), y (n,) violate (OS), eq (1), (m, n): <x_i,
    x_j> <= 0 in a class, > 0 across; on the diagonal those that are 0."""
    products, same = X[rows] @ X.T, np.equal.outer(y[rows], y)
    return np.where(same, products <= 0.0, products > 0.0)


# --- The data of Section 5.1 of Phuong & Lampert 2021, drawn exactly ------------------------------


def in_orthants(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """X (n, d), y (n,): normal vectors in the first orthant, label +1, or in the opposite one, -1:
    nothing is drawn in vain, as normal vectors are given the signs of that orthant."""
    X = np.abs(rng.standard_normal((n, d))) * rng.choice([-1.0, 1.0], (n, 1))
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)


def filtered_gaussian(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """The same, of which only those with <x, z> >= 0 are kept, z = (1, -1, 1, -1, ...): one half of
    either label for even d, where the swap of neighbouring coordinates turns its sign."""
    z = np.where(np.arange(d) % 2 == 0, 1.0, -1.0)
    found: list[NDArray] = []
    while sum(map(len, found)) < n:
        X = in_orthants(d, n, rng)[0]
        found.append(X[X @ z >= 0.0])
    X = np.concatenate(found)[:n]
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)


# --- The limit of Theorem 1 in closed form, and the distance of a network from it -----------------


@dataclass(frozen=True)
class Limit:
    """w_+ and w_- (eqs 6, 7), each (d,), of the labels whose group is not empty, by sign."""

    vectors: dict[float, NDArray]

    @property
    def total(self) -> float:
        """s = |w_+| + |w_-|."""
        return float(sum(np.linalg.norm(w) for w in self.vectors.values()))

    @property
    def constant(self) -> float:
        """Both constants of (10), 1 / (2 s)."""
        return 0.5 / self.total

    def share(self, sign: float) -> float:
        """The limit of |W_+|_F^2 / |W|_F^2 (sign 1) or |W_-|_F^2 / |W|_F^2."""
        return float(np.linalg.norm(self.vectors[sign])) / self.total

    def function(self, points: NDArray) -> NDArray:
        """The right side of (10) at points (m, d)."""
        parts = [s * np.maximum(points @ w, 0.0) for s, w in self.vectors.items()]
        return self.constant * np.sum(parts, axis=0)

    def distances(self, U: NDArray, R: NDArray, signs: NDArray) -> NDArray:
        """The norms in (8) and (9), (..., 2), of balanced neurons of directions U (..., p, d), log
        norms R (..., p), with the u and z of their lengths that are nearest to W / |W|_F."""
        sizes = np.exp(R - R.max(axis=-1, keepdims=True))
        sizes /= np.linalg.norm(sizes, axis=-1, keepdims=True)
        W = rest = sizes[..., None] * U
        a = signs * sizes
        for sign, w in self.vectors.items():
            along = np.where(signs == sign, np.maximum(W @ w, 0.0), 0.0)
            length = np.sqrt(np.linalg.norm(w) * self.total)
            total = np.linalg.norm(along, axis=-1, keepdims=True)
            c = along / (length * np.where(total > 0.0, total, 1.0))
            rest = rest - c[..., None] * w
            a = a - sign * c * np.linalg.norm(w)
        return np.stack([np.linalg.norm(rest, axis=(-2, -1)), np.linalg.norm(a, axis=-1)], axis=-1)


def own_margin(X: NDArray, y: NDArray, sign: float) -> tuple[MaxMargin, NDArray]:
    """w_+ (sign 1, eq 6) or w_- (eq 7) with its multipliers, and its support examples (k, d), which
    by (Span) span R^d. Raises InputError where no w has <w, x_i> >= 1 on all data of the label."""
    own = X[y == sign]
    found = max_margin(own, np.ones(len(own)))
    return found, own[own @ found.u <= 1.0 + 1e-6]


def limit(X: NDArray, y: NDArray, alive: tuple[float, ...] = (1.0, -1.0)) -> Limit:
    """The limit for data X (n, d), y (n,), of the labels `alive`. Raises InputError for a label
    that no vector w with <w, x_i> >= 1 serves."""
    return Limit({sign: own_margin(X, y, sign)[0].u for sign in alive if np.any(y == sign)})


# --- Extremal directions: the strict local maxima and minima of G(w) = sum_i y_i [<w, x_i>]_+ / 2 -
#
# On the unit sphere (eq 12, Definition 2), by enumeration; the test is derived on `sectors`.

_TIE = 1e-9
"""A cosine, or a part of the largest datum, this small is 0."""


def height(X: NDArray, y: NDArray, W: NDArray) -> NDArray:
    """G (...) of the vectors W (..., d), unit or not: eq (12) for -l'(0) = y / 2."""
    return np.asarray(0.5 * np.maximum(W @ X.T, 0.0) @ y)


def drift(X: NDArray, y: NDArray, w: NDArray) -> NDArray:
    """g(w) (d,) of eq (31): half the sum of y_i P_w x_i over the active data."""
    cosines = X @ w / (np.linalg.norm(X, axis=1) * np.linalg.norm(w))
    zero = np.abs(cosines) <= _TIE
    active = (cosines > _TIE) * y
    return np.asarray(0.5 * active @ X @ _projection(X[zero]))


def extremal_directions(X: NDArray, y: NDArray, sign: float = 1.0) -> NDArray:
    """All positive (sign 1) or negative (sign -1) extremal directions, (k, d), k >= 0.

    For data whose independent subsets are all that can be orthogonal to one direction at once:
    general position, or the plane without parallel data. 2^n patterns are tried: n <= 14.
    """
    n, d = X.shape
    X = X / np.abs(X).max()
    y = sign * y
    kinks = (zero for size in range(min(n, d - 1) + 1) for zero in combinations(range(n), size))
    found = [w for zero in kinks for w in _with_zeros(X, y, np.isin(np.arange(n), zero))]
    return np.array(found).reshape(-1, d)


def sector(X: NDArray, y: NDArray, sign: float = 1.0) -> NDArray:
    """sigma^+ (sign 1, eq 13) or sigma^- (eq 14), (n,), of (OS) data."""
    own = y == sign
    attracted = np.any(X @ X[own].T < 0.0, axis=1)
    return np.where(own, 1, np.where(attracted, -1, 0))


def signs(X: NDArray, w: NDArray) -> NDArray:
    """The sector (n,) that holds w (d,), 0 where a cosine is at most 1e-9."""
    cosines = X @ w / (np.linalg.norm(X, axis=1) * np.linalg.norm(w))
    return np.where(np.abs(cosines) <= _TIE, 0, np.sign(cosines)).astype(int)


def _projection(Z: NDArray) -> NDArray:
    """The orthogonal projection (d, d) onto the complement of the rows of Z (k, d)."""
    if not len(Z):
        return np.eye(Z.shape[1])
    rows = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return np.eye(Z.shape[1]) - np.linalg.pinv(rows) @ rows


def _with_zeros(X: NDArray, y: NDArray, zero: NDArray) -> list[NDArray]:
    """The strict local maxima w of G at which exactly the data `zero` (n,) have <w, x_i> = 0."""
    d, rows = X.shape[1], X[zero]
    units = rows / np.linalg.norm(rows, axis=1)[:, None]
    if len(rows) and np.linalg.matrix_rank(units) < len(rows):
        return []
    P = _projection(rows)
    line = d - len(rows) == 1
    if line:
        axis = P[np.argmax(np.diag(P))]
        tried = np.array([axis, -axis]) / np.linalg.norm(axis)
        patterns = tried @ X[~zero].T > 0.0
    else:
        patterns = np.array(list(product([False, True], repeat=int((~zero).sum()))))
        sums = 0.5 * (patterns * y[~zero]) @ X[~zero] @ P
        lengths = np.linalg.norm(sums, axis=1)
        kept = lengths > _TIE
        tried, patterns = sums[kept] / lengths[kept, None], patterns[kept]
    scales = np.linalg.norm(X[~zero], axis=1)
    cosines = tried @ X[~zero].T / scales
    fits = np.all((np.abs(cosines) > _TIE) & ((cosines > 0.0) == patterns), axis=1)
    found = []
    for w, active in zip(tried[fits], patterns[fits], strict=True):
        g = 0.5 * (active * y[~zero]) @ X[~zero]
        beta = np.linalg.lstsq(rows.T, g - P @ g, rcond=None)[0] if len(rows) else np.zeros(0)
        room = np.concatenate([beta, -0.5 * y[zero] - beta])
        # Uphill at height C <= 0 the sphere's curvature pushes away: then only corners are strict.
        uphill = float(g @ w) > _TIE
        if np.all(room >= -_TIE) if uphill else line and np.all(room > _TIE):
            found.append(w)
    return found


# --- Neurons in the plane of their top two singular directions ------------------------------------


def top_plane(W: NDArray) -> NDArray:
    """The rows of W (h, d) in the top two singular directions, (h, 2), each direction with the sign
    that makes the sum of cubes positive."""
    plane = W @ np.linalg.svd(W, full_matrices=False)[2][:2].T
    return plane * np.sign(np.sum(plane**3, axis=0))
