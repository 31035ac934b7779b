"""Full-batch gradient descent of one neuron, step for step, without taking the steps one by one.

While the activations do not change, k steps of size s multiply the distance to the fitted point by
(1 - s l)^k along each eigenvector of H: a sum of exponentials in k. So the step at which the next
datum flips is found as the flow's events are, and a stretch of any length costs one closed form.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.exponential_sums import zeros
from reluflow.flows.segment import Data, Segment, check_steps, one_thread, problem, segment
from reluflow.flows.trajectory import Event, Interpolant, Trajectory, piecewise

_OVERFLOW = 1e150  # a larger weight has diverged
_PLAIN_STEPS = 16
"""After a flip this many steps are taken one by one, for another one often follows at once."""


def affine_descent(
    X: ArrayLike, y: ArrayLike, w0: ArrayLike, step: float, n_steps: int
) -> Trajectory:
    """Gradient descent w <- w - step (H(w) w - q(w)), n_steps times (Lee et al. 2022a, G.1).

    Parameters: X (n, d), y (n,), w0 (d,), step > 0 in units of time, n_steps >= 0. A datum on its
    boundary counts as inactive, as in the paper's eq. (2).

    Returns a `Trajectory` on the clock "steps": knots at the start, after every flip and at the
    end, any step between by `at`. An event's t is the first step after which the datum has
    changed. Status "horizon", or "diverged" where the weights overflow.

    For n much larger than d, for very many flips, or for layers there is `lockstep_descent`.

    Raises InputError for arrays that do not fit, a step that is not positive, n_steps < 0.
    """
    X, y, w = problem(X, y, w0)
    check_steps(step, n_steps)
    data = Data(X, y)
    k, sides, status, detail = 0, X @ w > 0.0, "horizon", f"stopped after {n_steps} steps"
    events: list[Event] = []
    knots, states, starts = [0], [w], [0]
    pieces: list[Interpolant] = [lambda t, w=w: np.tile(w, (len(t), 1))]  # type: ignore[misc]
    while k < n_steps:
        piece = _stretch(data, w, sides, step, float(k))
        starts.append(k)
        if piece is None:  # some step * eigenvalue reaches 1: no closed form in real exponentials
            walk = _walk(X, y, w, sides, step, n_steps - k)
            pieces.append(lambda t, walk=walk, k=k: walk[t.astype(int) - k])  # type: ignore[misc]
            k, w = k + len(walk) - 1, walk[-1]
        else:
            pieces.append(piece.at)
            k += min(_steps_to_flip(piece, sides), n_steps - k)
            w = piece.at(np.array([k], float))[0]
        knots.append(k)
        states.append(w)
        if not np.abs(w).max() <= _OVERFLOW:
            status, detail = "diverged", f"overflow near step {k}"
            break
        now = X @ w > 0.0
        for j in np.flatnonzero(now != sides).tolist():
            events.append(Event(float(k), j, "activate" if now[j] else "deactivate"))
        sides = now
    between = piecewise(starts, pieces, len(w))

    def at_whole_steps(t: NDArray) -> NDArray:
        if np.any(t != np.round(t)):
            raise ValueError("descent has whole steps only")
        return between(t)

    return Trajectory(
        t=np.array(knots, float),
        states=np.array(states),
        events=tuple(events),
        status=status,
        clock="steps",
        end=w,
        detail=detail,
        interpolant=at_whole_steps,
        settled=float(k),
    )


def _stretch(data: Data, w, on, step: float, k: float) -> Segment | None:
    """The steps from number k on as a segment whose rates are per step, or None."""
    with one_thread():
        flow = segment(data, w, on, k)
    if flow.rates.size and step * flow.rates.max() >= 1.0:
        return None
    return replace(flow, rates=-np.log1p(-step * flow.rates))


def _steps_to_flip(piece: Segment, sides: NDArray) -> int:
    """Number of steps after which the first datum is on the other side (a huge one if never)."""
    X, never = piece.data.X, np.iinfo(np.int64).max
    if piece.rates.size == 0:
        return never
    early = np.arange(1, _PLAIN_STEPS + 1, dtype=float)
    flipped = ((piece.at(piece.t0 + early) @ X.T > 0.0) != sides).any(axis=1)
    if flipped.any():
        return int(np.argmax(flipped)) + 1
    sums = replace(piece.sums(np.arange(len(X))), errors=())
    moving = np.flatnonzero(sums.b.any(axis=1))
    for root in np.sort(zeros(sums[moving], np.where(sides[moving], 1.0, -1.0)).t):
        # A visit to the other side that falls between two steps leaves no trace in descent.
        for length in range(max(1, int(root) - 1), int(root) + 3):
            h = X @ piece.at(np.array([piece.t0 + length]))[0]
            if ((h > 0.0) != sides).any():
                return length
    return never


def _walk(X, y, w, sides, step: float, most: int) -> NDArray:
    """The states (k + 1, d) of single steps until a datum flips, `most` are done or the weights
    overflow."""
    A, target, states = X[sides], y[sides], [w]
    for _ in range(most):
        w = w - step * (A.T @ (A @ w - target))
        states.append(w)
        if ((X @ w > 0.0) != sides).any() or not np.abs(w).max() <= _OVERFLOW:
            break
    return np.array(states)


def path_distance(flow: Trajectory, descent: Trajectory, step: float) -> float:
    """Largest distance between descent's steps k and the flow at t = k step, over the whole run,
    relative to the flow's largest distance from its start."""
    k = np.unique(np.concatenate([descent.grid(400), np.arange(0, min(2000, descent.t[-1]) + 1)]))
    on_flow = flow.at(k * step)
    apart = np.linalg.norm(on_flow - descent.at(k), axis=1).max()
    return float(apart / np.linalg.norm(on_flow - flow.states[0], axis=1).max())
