"""Lemma 1 with the size of the start fixed before its directions, for data that are not (OS): an
instance where it fails in another way than that of `waiting`.

Three data in the plane, not (OS): A positive, N and M negative. Seen from N and M the neurons with
a_j < 0 grow along their sum, and one with a_j > 0 at a tiny angle from the sum waits there. Another
one with a_j > 0 is home, on the boundary of N, at once, and for as long as N pulls. Once N is
fitted it leaves, to follow A; if the waiting one is not home by then, they never are together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger import Evidence, fact, note
from reluflow.papers.phuong2021inductive.extremal import extremal_directions
from reluflow.papers.phuong2021inductive.own_flow import WIDTH, follow

_DEGREES, _SIZES = np.radians([-8.0, 77.0, 140.0]), np.array([1.0, 10.0, 1.5])
X = _SIZES[:, None] * np.stack([np.cos(_DEGREES), np.sin(_DEGREES)], axis=1)
Y = np.array([1.0, -1.0, -1.0])
SIGNS = np.array([1.0, -1.0, 1.0])
ANGLE, LARGE, SMALL = 1e-3, 1e-2, 1e-6
"""The waiting neuron's angle from the sum, and two sizes of the start."""


def together(size: float, angle: float) -> NDArray:
    """At moments of the flow to a loss of e^-1e6, whether each of three neurons is in the extremal
    sector of its sign, or dead, (m, 3). They start at the norm `size`: at home, near the minimum,
    and at the `angle` from it."""
    least = np.arctan2(*(X[1] + X[2])[::-1])
    turns = np.array([np.radians(-11.0), least + 0.05, least - angle])
    path = follow(X, Y, size * np.stack([np.cos(turns), np.sin(turns)], axis=1), SIGNS)
    W = np.concatenate([path.early, path.W])
    signs = _signs(W)
    goals = {s: _signs(extremal_directions(X, Y, s)) for s in (1.0, -1.0)}
    home = [np.any(np.all(signs[:, j, None] == goals[s], axis=2), axis=1)
            for j, s in enumerate(SIGNS)]  # fmt: skip
    return np.stack(home, axis=1) | np.all(signs <= 0, axis=2)


def _signs(W: NDArray) -> NDArray:
    """The sector (..., 3) of neurons (..., 2); 0 on boundaries up to the flow's width."""
    cosines = (W / np.linalg.norm(W, axis=-1, keepdims=True)) @ (X / _SIZES[:, None]).T
    return np.where(np.abs(cosines) <= WIDTH, 0, np.sign(cosines)).astype(int)


def size_comes_last() -> list[Evidence]:
    """That the size of the start has to be chosen after its directions."""
    large, small = (together(size, ANGLE) for size in (LARGE, SMALL))
    says = f"not (OS), three neurons, one at the angle {ANGLE:g} from where it is driven away"
    return [
        fact(f"{says}: from norm {SMALL:g} all are home at one time",
             bool(small.all(axis=1).any()), True),
        note(f"from norm {LARGE:g}: all are home at one time", bool(large.all(axis=1).any())),
        note("neurons of the three that are home at some time there", int(large.any(axis=0).sum())),
    ]  # fmt: skip
