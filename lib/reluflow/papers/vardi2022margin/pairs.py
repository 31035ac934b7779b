"""Two data of label 1 and the neurons of Theorem 3.2: where the flow goes, for any such data.

The first neuron is active on both data, the second on none. While that is so the second one stays,
and the first one is a linear network of width one: with v_1 > 0 all margins are positive, v_1 grows
and L' <= -v_1(0)^2 |sum_i g_i x_i|^2, g_i the slopes of the loss, so that L -> 0 whatever L(0) is,
if only the data are not opposite. (Fit) is not asked for: it comes.

Does the first neuron stay active? Where w.x_2 comes to 0, v w.x_2 is the smaller margin, so that
g_1 <= g_2 and (w.x_2)' = v (g_1 x_1.x_2 + g_2 |x_2|^2) >= v g_2 min(|x_2|^2, x_2.(x_1 + x_2)). It
stays from every start if x_1.(x_1 + x_2) and x_2.(x_1 + x_2) are positive; and if one of them is
negative, it does not from w.x_1 = w.x_2 > 0 small enough, where both slopes are nearly equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

PRINTED = np.array([[1.0, 0.25], [-1.0, 0.25]])
"""x_1 and x_2 of Theorem 3.2."""


def shortest_predictor(X: ArrayLike) -> tuple[NDArray, NDArray]:
    """The least u (2,) with u.x_i >= 1, and its multipliers mu (2,) >= 0, u = mu_1 x_1 + mu_2 x_2.

    Parameters: X (2, 2), not opposite. Every set of active data is tried.
    """
    X = np.asarray(X, float)
    for i in (0, 1):
        mu = np.zeros(2)
        mu[i] = 1.0 / float(X[i] @ X[i])
        u = mu @ X
        if float(u @ X[1 - i]) >= 1.0:
            return u, mu
    u = np.linalg.solve(X, np.ones(2))
    return u, np.linalg.solve(X.T, u)


def pair_limit(X: ArrayLike) -> NDArray:
    """theta~ = (w~_1, w~_2, v~) of Theorem 3.2 for data X (2, 2): w~_1 = u / |u|^(1/2), v~_1 =
    |u|^(1/2) with the shortest predictor u, and zeros."""
    u, _ = shortest_predictor(X)
    size = float(np.linalg.norm(u)) ** 0.5
    return np.array([*(u / size), 0.0, 0.0, size, 0.0])


def keeps_both(X: ArrayLike) -> float:
    """min_i x_i.(x_1 + x_2): where it is positive the first neuron loses no datum, from any start
    of Theorem 3.2; where it is negative, it does from some."""
    X = np.asarray(X, float)
    return float((X @ X.sum(axis=0)).min())


def help_of_the_second(X: ArrayLike) -> float:
    """max_i lambda_i |x_i| - 1, with u/|u| = sum lambda_i x_i: positive if and only if theta~ is no
    local optimum, and not positive if and only if it is a global one.

    The second neuron, along x_i and of size eps, adds to a margin what is worth lambda_i |x_i| eps
    for a cost of eps. Where the data are at an angle beyond 90 degrees these directions are active
    on one datum only, and otherwise no direction is worth more than its cost; and where no neuron
    can help, lambda proves that |theta|^2 >= 2 sum lambda.
    """
    X = np.asarray(X, float)
    u, mu = shortest_predictor(X)
    if float(X[0] @ X[1]) >= 0.0:
        return -0.0
    return float((mu * np.linalg.norm(X, axis=1)).max() / np.linalg.norm(u)) - 1.0


def nearest_losing() -> NDArray:
    """The data (2, 2) nearest to the printed ones in R^4 with x_2.(x_1 + x_2) = 0; those with
    x_1.(x_1 + x_2) = 0 are as near, by symmetry.

    With p, q the parts of (x_1, x_2) along the eigenvectors of [[0, 1/2], [1/2, 1]] the equation is
    |p|^2 (1 + sqrt 2)/2 = |q|^2 (sqrt 2 - 1)/2: in the plane of |p| and |q| the foot on a line.
    """
    values, vectors = np.linalg.eigh([[0.0, 0.5], [0.5, 1.0]])
    parts = vectors.T @ PRINTED
    sizes = np.linalg.norm(parts, axis=1)
    line = np.sqrt(np.abs(values[::-1]))
    foot = line * (line @ sizes) / (line @ line)
    return vectors @ (parts * (foot / sizes)[:, None])


def losing_distance() -> float:
    """The distance in R^4 of the printed data to the nearest of which some start loses one."""
    return float(np.linalg.norm(nearest_losing() - PRINTED))
