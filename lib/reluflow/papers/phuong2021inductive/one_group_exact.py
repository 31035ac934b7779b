"""One neuron by gradient descent, in plain Python."""

from __future__ import annotations

from math import exp, log1p

DATA = ((2.0, 1.0, 1), (2.0, -1.0, 1), (-2.0, 1.0, -1), (-2.0, -1.0, -1))


def descended(steps: int = 20_000, step: float = 0.01, size: float = 0.01) -> float:
    """The loss of the negative data behind `steps` from w = (size, 0), a = size."""
    u, v, a = size, 0.0, size
    for _ in range(steps):
        du = dv = da = 0.0
        for x, z, y in DATA:
            before = u * x + v * z
            if before > 0.0:
                pull = y / (1.0 + exp(y * a * before))
                du, dv, da = du + pull * a * x, dv + pull * a * z, da + pull * before
        u, v, a = u + step * du, v + step * dv, a + step * da
    return sum(log1p(exp(-y * a * max(u * x + v * z, 0.0))) for x, z, y in DATA if y < 0)
