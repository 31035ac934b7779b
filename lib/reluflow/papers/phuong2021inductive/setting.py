"""What the sections of chapter 4 share: the limit of Theorem 1, G's extremal directions, data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger.instead import what_is_true
from reluflow.margin.max_margin import max_margin
from reluflow.parameters import EFFORT, SEED, Parameter, between

# --- What the parameters cells of chapter 4 may hold: that of its page, and those of its
# sections -----------------------------------------------------------------------------------------


SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}

OPTIMISERS = ("flow", "sgd")

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str,
        '"section-5.1", "plane", two digits such as "digits:0-1", or the path of a CSV file with '
        "labels +1 and -1",
        bool,
        "a name or a path, not empty",
    ),
    "d": Parameter(int, 'dimension of the data "section-5.1"', *between(2, 100)),
    "n": Parameter(int, 'number of the data "section-5.1"', *between(4, 1000)),
    "width": Parameter(int, "number of neurons", *between(1, 200)),
    "scale": Parameter(float, "norm of every neuron at the start", *between(1e-12, 10)),
    "optimiser": Parameter(
        str,
        'what trains: gradient "flow", or "sgd", descent on minibatches',
        lambda value: value in OPTIMISERS,
        '"flow" or "sgd"',
    ),
    "epochs": Parameter(int, 'how often "sgd" goes through the data', *between(1, 10_000)),
    **SECTION,
}

CNN: Mapping[str, Parameter] = {
    "images": Parameter(
        str,
        'images of 0 and 1 to train on: "digits", which is at hand, or "mnist", half an hour',
        lambda value: value in ("digits", "mnist"),
        '"digits" or "mnist"',
    ),
    "epochs": Parameter(int, "how often training goes through the images", *between(1, 1000)),
    "device": Parameter(str, 'where PyTorch computes: "cpu", "cuda"', bool, "a device's name"),
    **SECTION,
}


# --- What is true where a claim of Phuong & Lampert 2021 does not hold as it stands ---------------


INSTEAD = what_is_true(["phuong2021inductive"])


# --- The data of Section 5.1 of Phuong & Lampert 2021, drawn exactly ------------------------------


def in_orthants(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """X (n, d), y (n,): normal vectors in the first orthant, label +1, or in the opposite one, -1.

    A normal vector in an orthant is one with the signs of that orthant: nothing is drawn in vain.
    """
    X = np.abs(rng.standard_normal((n, d))) * rng.choice([-1.0, 1.0], (n, 1))
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)


def filtered_gaussian(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """The same, of which only those with <x, z> >= 0 are kept, z = (1, -1, 1, -1, ...).

    That keeps one half of either label: for even d the swap of neighbouring coordinates turns its
    sign.
    """
    z = np.where(np.arange(d) % 2 == 0, 1.0, -1.0)
    found: list[NDArray] = []
    while sum(map(len, found)) < n:
        X = in_orthants(d, n, rng)[0]
        found.append(X[X @ z >= 0.0])
    X = np.concatenate(found)[:n]
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)


# --- The limit of Theorem 1 in closed form, and the distance of a network from it -----------------
#
# With s = |w_+| + |w_-|, over the labels whose group is not empty, either group has in the limit
# the share |w_+-| / s of |W|_F^2. So in (8) and (9) only the directions of u and z are free:
#
#     |u|^2 = 1 / (|w_+| s),   |z|^2 = 1 / (|w_-| s),   and both constants of (10) are 1 / (2 s).


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

    def coefficients(self, W: NDArray, signs: NDArray) -> dict[float, NDArray]:
        """The u and z (p,) of these lengths that are nearest to W / |W|_F, for W (p, d)."""
        found = {}
        for sign, w in self.vectors.items():
            along = np.where(signs == sign, np.maximum(W @ w, 0.0), 0.0)
            length = 1.0 / np.sqrt(np.linalg.norm(w) * self.total)
            found[sign] = along * length / (np.linalg.norm(along) or 1.0)
        return found

    def distances(self, U: NDArray, R: NDArray, signs: NDArray) -> tuple[float, float]:
        """The norms in (8) and (9) of balanced neurons of directions U (p, d), log norms R (p,)."""
        sizes = np.exp(R - R.max())
        sizes /= np.linalg.norm(sizes)
        W, a = sizes[:, None] * U, signs * sizes
        for sign, c in self.coefficients(W, signs).items():
            W = W - np.outer(c, self.vectors[sign])
            a = a - sign * c * np.linalg.norm(self.vectors[sign])
        return float(np.linalg.norm(W)), float(np.linalg.norm(a))


def limit(X: NDArray, y: NDArray, alive: tuple[float, ...] = (1.0, -1.0)) -> Limit:
    """The limit for data X (n, d), y (n,), of the labels `alive`. Raises InputError for a label
    that no vector w with <w, x_i> >= 1 serves."""
    labels = [sign for sign in alive if np.any(y == sign)]
    return Limit({s: max_margin(X[y == s], np.ones(int(np.sum(y == s)))).u for s in labels})


# --- Extremal directions: the strict local maxima and minima of G(w) = sum_i y_i [<w, x_i>]_+
# / 2 on the unit sphere (eq 12, Definition 2), found by enumeration -------------------------------
#
# With A the data active at w and Z those with <w, x_i> = 0, G(w + v) = <g, w + v> + h(v) near w,
# where g = sum over A of y_i x_i / 2 and h(v) = sum over Z of y_i [<v, x_i>]_+ / 2. On the subspace
# V orthogonal to Z only the linear part is left, so w is along P g or -P g, P the projection on V
# (Lemma A.1), or V is a line. Off V, for independent Z, g - P g = sum beta_i x_i, and v is free to
# have any <v, x_i>: the first order is not positive exactly if 0 <= beta_i <= -y_i / 2 on Z.


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
    found = [
        w
        for size in range(min(n, d - 1) + 1)
        for zero in combinations(range(n), size)
        for w in _with_zeros(X, y, np.isin(np.arange(n), zero))
    ]
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
    if len(rows) and np.linalg.matrix_rank(rows / np.linalg.norm(rows, axis=1)[:, None]) < len(
        rows
    ):
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
