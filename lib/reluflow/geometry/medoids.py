"""Three clusters of points, exactly: the three points nearest to which all others lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError


def three_medoids(P: NDArray) -> tuple[NDArray, NDArray]:
    r"""The three of the points P (n, d), n >= 3, that minimise $\sum_i \min_k |p_i - p_{m_k}|$.

    All triples are tried, so there is no start to draw and no local optimum. Distances count, not
    their squares as in k-means: a few stray points do not get a cluster of their own.

    Returns the rows (3,) of the medoids and the cluster (n,) of each point, 0, 1 or 2.
    Raises InputError for fewer than three points.
    """
    n = len(P)
    if n < 3:
        raise InputError(f"three clusters need at least three points, not {n}.")
    distance = np.linalg.norm(P[:, None] - P[None], axis=2)
    least, found = np.inf, (0, 1, 2)
    for i in range(n - 2):
        to_two = np.minimum(distance[i], distance[i + 1 :])
        for j in range(i + 1, n - 1):
            costs = np.minimum(to_two[j - i - 1], distance[j + 1 :]).sum(axis=1)
            k = int(costs.argmin())
            if costs[k] < least:
                least, found = float(costs[k]), (i, j, j + 1 + k)
    rows = np.array(found)
    return rows, distance[rows].argmin(axis=0)
