"""The two directions nearest to which vectors lie, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError


def two_directions(P: NDArray) -> tuple[NDArray, NDArray]:
    r"""Two of the vectors P (n, d) whose directions e_1, e_2 maximise
    $\sum_i |p_i| \max_k \cos(p_i, e_k)$: long vectors count more. All pairs are tried.

    Returns the unit vectors (2, d) and which of the two each p_i is nearer to, (n,).
    Raises InputError for fewer than two vectors, or one that is 0.
    """
    lengths = np.linalg.norm(P, axis=1)
    if len(P) < 2 or not np.all(lengths > 0.0):
        raise InputError("two directions need at least two vectors, none of them 0.")
    U = P / lengths[:, None]
    C = U @ U.T
    best, pair = -np.inf, (0, 1)
    for i in range(len(P) - 1):
        sums = lengths @ np.maximum(C[:, i : i + 1], C[:, i + 1 :])
        k = int(sums.argmax())
        if sums[k] > best:
            best, pair = float(sums[k]), (i, i + 1 + k)
    rows = list(pair)
    return U[rows], C[:, rows].argmax(axis=1)
