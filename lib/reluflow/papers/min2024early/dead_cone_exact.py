"""Whether {w : <x_i, w> <= 0} holds more than 0, by its rays: a second method, exact."""

from __future__ import annotations

from itertools import combinations

from numpy.typing import NDArray

from reluflow.exact import fractions, null_vectors


def has_dead_ray(X: NDArray) -> bool:
    """Whether some w != 0 has <x_i, w> <= 0 for all rows of X (n, d).

    Data that do not span R^d leave a w orthogonal to all of them. If they span, the cone holds no
    line, and so it is the sum of its rays, on each of which d - 1 independent conditions are
    equations.
    """
    rows, d = fractions(X), X.shape[1]
    if null_vectors(rows.tolist(), d):
        return True
    for chosen in combinations(range(len(rows)), d - 1):
        lines = null_vectors([rows[i].tolist() for i in chosen], d)
        if len(lines) != 1:
            continue
        inputs = [sum(a * b for a, b in zip(row, lines[0], strict=True)) for row in rows]
        if all(h <= 0 for h in inputs) or all(h >= 0 for h in inputs):
            return True
    return False
