"""Random orthogonally separable data of a given separation, ordinary and adversarial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry.separability import separation

Arrays = Mapping[str, Any]
Draws = dict[str, Callable[[np.random.Generator], Arrays]]


def separable(
    n: int, d: int, mu: float, rng: np.random.Generator, decades: float = 0.5
) -> tuple[NDArray, NDArray]:
    """X (n, d) and y (n,), both labels where n > 1, with the separation `mu` up to rounding.

    z_i = y_i x_i lie about a random axis c: z_i / |z_i| = a c + sqrt(1 - a^2) r_i with unit r_i
    orthogonal to c, and a so that the least cosine is mu. Where even a = 0 leaves more (the r_i are
    that near to each other), they are drawn again. Lengths reach from 10^-decades to 10^decades. In
    the plane two lie at the ends of an arc and the others within. Needs d >= 2 and mu in (0, 1].
    """
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    for _ in count():
        R = rng.standard_normal((n, d - 1))
        R /= np.linalg.norm(R, axis=1, keepdims=True)
        if d == 2:
            R[: min(n, 2), 0] = [1.0, -1.0][: min(n, 2)]
        least = float((R @ R.T).min())
        if n == 1 or least < min(mu, 0.9):
            break
    share = 1.0 if n == 1 else (mu - least) / (1.0 - least)
    U = np.hstack([np.full((n, 1), np.sqrt(share)), np.sqrt(1.0 - share) * R]) @ Q.T
    if d == 2 and n > 2:  # the first two at the ends of the arc, the others between them
        inside = rng.uniform(size=(n - 2, 1))
        U[2:] = (1.0 - inside) * U[0] + inside * U[1]
        U /= np.linalg.norm(U, axis=1, keepdims=True)
    y = _labels(n, rng)
    return y[:, None] * U * 10.0 ** rng.uniform(-decades, decades, (n, 1)), y


def _labels(n: int, rng: np.random.Generator) -> NDArray:
    """Labels y (n,), both of them where n > 1."""
    y = rng.choice([-1.0, 1.0], n)
    y[: min(n, 2)] = [1.0, -1.0][: min(n, 2)]
    return rng.permutation(y)


def separable_draws(dims: tuple[int, int] = (2, 50), sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Draws of {"X", "y"} with mu > 0, d in `dims` and n in `sizes` (both ends), for `falsify`.

    "wide" mu from 0.1 to 0.9; "narrow" mu from 1e-6 to 0.1; "integers" small whole numbers;
    "lengths" over twelve decades; "parallel" data, many of them multiples of each other; "one
    against many", a single datum of one label.
    """

    def drawn(low: float, high: float, decades: float = 0.5) -> Callable[..., Arrays]:
        def one(rng: np.random.Generator) -> Arrays:
            mu = float(np.exp(rng.uniform(np.log(low), np.log(high))))
            n, d = (
                int(rng.integers(sizes[0], sizes[1] + 1)),
                int(rng.integers(dims[0], dims[1] + 1)),
            )
            X, y = separable(n, d, mu, rng, decades)
            return {"X": X, "y": y}

        return one

    def integers(rng: np.random.Generator) -> Arrays:
        n, d = (
            int(rng.integers(sizes[0], min(sizes[1], 5) + 1)),
            int(rng.integers(2, min(dims[1], 4) + 1)),
        )
        while True:
            Z = rng.integers(-2, 4, (n, d)).astype(float)
            y = _labels(n, rng)
            if Z.any(axis=1).all() and separation(Z, np.ones(n)) > 1e-12:
                return {"X": y[:, None] * Z, "y": y}

    def parallel(rng: np.random.Generator) -> Arrays:
        item = drawn(1e-3, 0.9)(rng)
        twin = rng.integers(0, len(item["y"]), len(item["y"]))
        twin[:2] = 0, 1
        Z = (item["X"] * item["y"][:, None])[twin] * 2.0 ** rng.integers(-3, 4, (len(twin), 1))
        return {"X": item["y"][:, None] * Z, "y": item["y"]}

    def against_many(rng: np.random.Generator) -> Arrays:
        item = drawn(1e-3, 0.9)(rng)
        y = rng.choice([-1.0, 1.0]) * np.where(np.arange(len(item["y"])) == 0, -1.0, 1.0)
        return {"X": item["X"] * (item["y"] * y)[:, None], "y": y}

    return {
        "wide": drawn(0.1, 0.9),
        "narrow": drawn(1e-6, 0.1),
        "integers": integers,
        "lengths": drawn(1e-2, 0.9, 6.0),
        "parallel": parallel,
        "one against many": against_many,
    }
