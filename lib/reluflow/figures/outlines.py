"""Describe curves by what does not depend on where they happen to be sampled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.approx import on_grain
from reluflow.figures.rounding import Ruler

PLACES = 8
# Shares of a curve's way at which its places are written. The offset keeps them away from the
# joints of several equal pieces, where noise would decide between an end and a beginning.
SHARES = (np.arange(PLACES) + 0.5137293) / PLACES
POINT = 1e-5  # a curve shorter than this share of the axes is a point

Rulers = Sequence[Ruler]


def outline(pieces: Sequence[NDArray], rulers: Rulers) -> str:
    """Describe curves by length, range, mean, ends, and places at fixed shares of their way.

    All of it is measured on the axes' scales, lengths in lengths of the axes. Two samplings of one
    curve give the same up to the square of their spacing.

    Parameters: `pieces`, each a curve (k, d) in data coordinates, NaN where it is interrupted;
    `rulers`, the d axes. A curve's mean is over x where it is a graph over x, else over its way.
    """
    read = [
        np.column_stack([r.in_reach(c) for r, c in zip(rulers, p.T, strict=True)]) for p in pieces
    ]
    whole = [part for piece in read for part in _unbroken(piece)]
    if not whole:
        return " ".join(f"{r.name} nowhere" for r in rulers)
    spans = np.array([r.span for r in rulers])
    steps = [np.linalg.norm(np.diff(part, axis=0) / spans, axis=1) for part in whole]
    length = float(sum(s.sum() for s in steps))
    points = np.concatenate(whole)
    if length < POINT:
        return f"at {_place(points[0], rulers)}"
    middles = np.concatenate([0.5 * (part[1:] + part[:-1]) for part in whole])
    weights = np.concatenate(steps)
    if len(whole) == 1 and len(rulers) == 2 and _is_graph(np.diff(points[:, 0]) / spans[0]):
        weights = np.abs(np.diff(points[:, 0]))
    mean = weights @ middles / weights.sum()
    # Between two pieces nothing is drawn, and the way does not grow.
    way = np.cumsum(np.concatenate([part for s in steps for part in ([0.0], s)]))
    along = np.column_stack([np.interp(SHARES * length, way, column) for column in points.T])
    ranges = "; ".join(r.extent(column) for r, column in zip(rulers, points.T, strict=True))
    places = " ".join(_place(p, rulers) for p in (points[0], *along, points[-1]))
    return (
        f"length {on_grain(length, 10 * rulers[0].place)}; {ranges}; "
        f"mean {_place(mean, rulers)}; along {places}"
    )


def closed(piece: NDArray) -> NDArray:
    """Return the curve (k, d) with its first point once more at its end."""
    return np.concatenate([piece, piece[:1]])


def _is_graph(moves: NDArray) -> bool:
    """Whether x moves (shares of its axis) go one way, but for noise, and go somewhere."""
    back, forth = sorted((-moves[moves < 0].sum(), moves[moves > 0].sum()))
    return back <= POINT < 100 * POINT <= forth


def _unbroken(piece: NDArray) -> list[NDArray]:
    """The stretches of a curve between its gaps."""
    finite = np.isfinite(piece).all(axis=1)
    cuts = np.flatnonzero(np.diff(finite.astype(int))) + 1
    parts = np.split(piece, cuts)
    return [p for p, kept in zip(parts, np.split(finite, cuts), strict=True) if len(p) and kept[0]]


def _place(read: NDArray, rulers: Rulers) -> str:
    """Write a point that was read on the axes' scales."""
    return f"({', '.join(r.written(float(v)) for r, v in zip(rulers, read, strict=True))})"
