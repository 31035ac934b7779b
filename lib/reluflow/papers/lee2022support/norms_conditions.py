"""What B1 of Theorem F.6 implies in the plane: x_0.H^-1 x_0 < 1 where x_0 is activated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.flows.activity import Crossing
from reluflow.papers.lee2022support.norms import Conditions, conditions


def _draw(kind: str):
    def one(rng: np.random.Generator) -> dict[str, NDArray]:
        """H = diag(1, s), the crossing point at an angle, and x_0 with x_0.H^-1 x_0 = size."""
        s = 1.0 - 10.0 ** rng.uniform(-5.0, 0.0) if kind == "nearly round" else rng.uniform(0, 1)
        # B1 needs a small turn: the point near the axis along which x_0 turns the eigenvectors.
        angle = 10.0 ** rng.uniform(-4.0, 0.0) if rng.integers(2) else rng.uniform(0.0, np.pi / 2)
        angle = angle if rng.integers(2) else np.pi / 2 - angle
        return {
            "s": np.array([abs(s) + 1e-6]),
            "point": np.abs([np.cos(angle), np.sin(angle)]),
            "size": np.array([rng.uniform(0.0, 1.5)]),
        }

    return one


def _crossing(item: Instance) -> Conditions:
    """B1-B4 where H = diag(1, s) and x_0, orthogonal to the crossing point, is activated."""
    s, (a, b) = float(item["s"][0]), item["point"] / np.linalg.norm(item["point"])
    x = np.array([-b, a]) * np.sqrt(item["size"][0] / (b * b + a * a / s))
    X = np.vstack([np.diag([1.0, np.sqrt(s)]), x])
    y = np.array([2.0, 2.0 * np.sqrt(s), 1.0])  # so that w_P^* = (2, 2)
    before = np.array([True, True, False])
    return conditions(X, y, Crossing(0.0, 2, np.array([a, b]), before, np.ones(3, bool)))


def inner_from_B1() -> Statement:
    """Ours: d = 2, x_0 activated. B1 implies x_0.H^-1 x_0 < 1, whatever H, the point and x_0."""
    return Statement(
        "x_0.H⁻¹x_0 < 1 where B1 holds at an activation",
        {kind: _draw(kind) for kind in ("any", "nearly round")},
        lambda item: _crossing(item).inner,
        {
            "H is positive, its larger eigenvalue 1": lambda item: bool(0.0 < item["s"][0] <= 1.0),
            "B1": lambda item: _crossing(item).B1 > 0.0,
        },
        strict=True,
    )
