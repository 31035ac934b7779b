"""Do (OS) data lie in opposite orthants? In the plane they do; in space they need not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.geometry.separability import signed
from reluflow.ledger import Counterexample, Evidence, bound, fact
from reluflow.papers.phuong2021inductive.orthants_exact import certificate
from reluflow.papers.phuong2021inductive.two_extremal import spans
from reluflow.supports import right_angles, support_draws

FIVE = np.array([[3, 3, -1], [3, 2, 2], [3, -1, 3], [3, -3, -1], [3, -1, -3]])
"""Five positive data; with NEGATIVE all eight are support examples, and each label spans R^3."""
NEGATIVE = np.array([[-9, 1, 0], [-9, 0, 1], [-9, -1, -1]])


def in_opposite_orthants() -> Statement:
    """os.orthants: in the plane (OS) data lie in opposite orthants of some orthonormal basis.

    The z_i = y_i x_i have angles of at most 90 degrees with each other, so they lie in an arc of 90
    degrees, and its first end is a basis vector. The slack is the least cosine of a z_i with the
    two vectors of that basis.
    """
    draws = {
        kind: _in_the_plane(draw)
        for kind, draw in {**support_draws(2), "right angles": right_angles}.items()
    }
    return Statement("in the plane: least cosine with the basis of the first datum of the arc",
                     draws, _in_a_quadrant, tolerance=1e-12,
                     hypotheses={"d = 2": lambda item: item["X"].shape[1] == 2})  # fmt: skip


def _in_the_plane(draw):  # type: ignore[no-untyped-def]
    def one(rng: np.random.Generator) -> Instance:
        while True:
            item = draw(rng)
            if item["X"].shape[1] == 2:
                return item

    return one


def _in_a_quadrant(item: Instance) -> float:
    Z = signed(item["X"], item["y"])
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    turned = np.stack([-Z[:, 1], Z[:, 0]], axis=1)
    least = np.minimum((Z @ Z.T).min(axis=0), (Z @ turned.T).min(axis=0))
    return float(least.max())


def spread_of_a_basis(points: NDArray = FIVE) -> float:
    """The least of 3 <e, c>^2 / |e|^2 over the e with <e, p> >= 0 for all points p (n, 3), c the
    first axis; above 1 no three of them are orthonormal, for then the <e, c>^2 sum to 1.

    Over the corners of that cone: the normals of pairs of points on which no point is negative. On
    a cone about c it is least at a corner. 0 if some corner is not on the side of c.
    """
    shares = []
    for i in range(len(points)):
        for j in range(len(points)):
            e = np.cross(points[i], points[j])
            if e.any() and np.all(points @ e >= 0):
                shares.append(3 * float(e[0]) ** 2 / float(e @ e) if e[0] > 0 else 0.0)
    return min(shares)


def five_points() -> list[Evidence]:
    """In space: five positive and three negative data, (OS), in no orthant of any basis."""
    fits = spread_of_a_basis() <= 1.0
    return [
        fact("an orthonormal basis of R³ may have five positive data in one orthant", fits, True)
    ]


def in_no_orthant() -> Counterexample:
    """The five data, by the corners of their dual cone and by a copositive matrix."""
    X = np.vstack([FIVE, NEGATIVE])
    y = np.repeat([1, -1], [5, 3])
    P = X @ X.T * np.outer(y, y)
    return Counterexample(
        instance={"positive data": FIVE, "negative data": NEGATIVE},
        assumptions={
            "(OS): positive inner products within a label": bool(min(P[:5, :5].min(),
                                                                     P[5:, 5:].min()) > 0),
            "(OS): none above 0 across the labels": bool(P[5:, :5].min() >= 0),
            "(Span)": spans(X.astype(float), y.astype(float), 1.0)
                      and spans(X.astype(float), y.astype(float), -1.0),
        },
        breaks=(
            bound("3 ⟨e, c⟩² / |e|² of every e with ⟨e, x⟩ ≥ 0 for the five data, c = (1, 0, 0): "
                  "the "
                  "least; three orthonormal ones need", spread_of_a_basis(), "<=", 1, ""),
        ),
        recheck=(
            bound("⟨H, G⟩ for their Gram matrix G, in the worst order, and Horn's copositive "
                  "matrix H, which points "
                  "in an orthant of any R^N need", certificate(FIVE.tolist()), ">=", 0, ""),
        ),
        route="Horn's matrix: for points with coordinates >= 0 the sum over the coordinates of "
        "v^T H v is not negative",
    )  # fmt: skip
