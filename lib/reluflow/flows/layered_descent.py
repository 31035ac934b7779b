"""Full-batch descent of one neuron, or of a chain of single neurons, on many data.

A step needs the data only through the active set's H and q, so it costs d^2 in place of n d until
a datum flips. Steps are taken in blocks on the supposition that no datum flips; `ActiveSet.follow`
then says where in the block that first failed, and the block is cut there.

`affine_descent` is the tool for few data: it jumps from flip to flip, each jump at the cost of a
decomposition and of the zeros of n sums of exponentials. This one pays for every step, but little,
and knows chains; it is the tool where flips are many, n is much larger than d, or there are layers.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from reluflow.errors import InputError
from reluflow.flows.active_set import ActiveSet
from reluflow.flows.segment import check_steps, problem
from reluflow.flows.trajectory import Event, Trajectory

_BLOCK = 128
"""Steps taken at most before the data are looked at."""
_PLAIN = 16
"""Steps taken with all data after a step on which very many data flip."""
_LISTED = 10**6
"""Events listed at most; their numbers per step are always complete."""
_OVERFLOW = 1e150


@dataclass(frozen=True)
class LayeredTrajectory(Trajectory):
    """A path of descent of f(x) = v_m ... v_1 [w.x]_+; as a `Trajectory`, the path of w.

    t        (r,) recorded steps, `states` (r, d) the weights w there
    layers   (k + 1, m) the factors v after each of the k steps, from the start on
    flips    (k + 1,) number of data that each step flips; the first 10^6 are listed in `events`
    """

    layers: NDArray
    flips: NDArray

    def grid(self, points: int = 200) -> NDArray:
        """Recorded steps for drawing: about `points` evenly spaced ones and as many dense early."""
        last = len(self.t) - 1
        even = np.linspace(0, last, points)
        early = np.geomspace(1, last, points) if last else np.zeros(1)
        return self.t[np.unique(np.round(np.concatenate([[0], even, early])).astype(int))]


def neuron_descent(
    X: ArrayLike,
    y: ArrayLike,
    w0: ArrayLike,
    step: float,
    n_steps: int,
    v0: ArrayLike = (),
    every: int = 1,
) -> LayeredTrajectory:
    """Gradient descent of L = 1/2 sum_i (v_m ... v_1 [w.x_i]_+ - y_i)^2 in w and all v_k at once.

    With p = v_m ... v_1 a step is w <- w - step p (p H w - q), v_k <- v_k - step (p / v_k)
    (p w.H w - q.w) (Lee et al. 2022b, eqs. 1 and 3; 14 for v_k). For a mean in place of the sum
    divide the step by n. The paper's network is this product while v_2, ..., v_m are positive.

    Parameters: X (n, d), y (n,), w0 (d,), step > 0, n_steps >= 0, v0 (m,) with m = 0 for the neuron
    alone, every >= 1: w is recorded at the multiples of it and at the end. A datum with w.x = 0 is
    inactive.

    Returns a `LayeredTrajectory` on the clock "steps"; an event's t is the first step after which
    the datum has changed. Equal to the plain loop to rounding, and the same for any number of BLAS
    threads: the process has one while this runs. Memory: the states recorded, 8 n d bytes twice and
    little else. Status "horizon", or "diverged" where w or v passes 1e150.

    Raises InputError for arrays that do not fit, a step that is not positive, n_steps < 0 or every
    < 1.
    """
    X, y, w = problem(X, y, w0)
    v = np.asarray(v0, float)
    if v.ndim != 1 or not np.isfinite(v).all():
        raise InputError(f"v0 must be a list of finite numbers, not {v0!r}")
    check_steps(step, n_steps)
    if int(every) != every or every < 1:
        raise InputError(f"every must be a whole number from 1 on, not {every!r}")
    X, n_steps, step = np.ascontiguousarray(X), int(n_steps), float(step)
    record = _Record(w, v, n_steps, int(every))
    with _one_thread(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sound = _descend(X, y, w, v.tolist(), step, n_steps, record)
    return record.trajectory(X, y, step, sound)


def _one_thread() -> AbstractContextManager:
    """BLAS on one thread: a second one slows d^2 products, and may change their last digits."""
    return _blas().limit(limits=1, user_api="blas")


@cache
def _blas() -> ThreadpoolController:
    """NumPy's and SciPy's BLAS, found once: to find them takes longer than a short run."""
    return ThreadpoolController()


def _descend(X, y, w, v, step, n_steps, record: _Record) -> bool:
    """Take the steps and record them; false where the weights overflow."""
    active = ActiveSet(X, y, w)
    W, V = np.empty((_BLOCK, len(w))), np.empty((_BLOCK, len(v)))
    length, plain = 1, _PLAIN
    while record.done < n_steps:
        length = min(length, n_steps - record.done)
        _steps(active.H, active.q, w, v, step, W[:length], V[:length])
        kept, flipped = active.follow(W[:length])
        taken = min(kept + 1, length)
        if not record.add(W[:taken], V[:taken]):
            return False
        w, v = W[taken - 1].copy(), V[taken - 1].tolist()
        if flipped.size * len(w) <= len(X):
            plain = _PLAIN
            if flipped.size:
                active.change(flipped)
                record.flip(flipped, active.on)
            length = int(min(active.calm + 2.0, 2 * length + 2, _BLOCK))
        else:  # as many rank-one updates would cost more than some steps with all data
            record.flip(flipped, ~active.on)
            on = X @ w > 0.0
            for _ in range(min(plain, n_steps - record.done)):
                w, v = _plain_step(X, y, w, v, step)
                if not record.add(w[None], np.array([v])):
                    return False
                before, on = on, X @ w > 0.0
                record.flip(np.nonzero(on != before)[0], on)
            active.reset(w)
            length, plain = 1, 2 * plain
    return True


def _steps(H, q, w, v: list[float], step: float, W: NDArray, V: NDArray) -> None:
    """Fill W (k, d) and V (k, m) with the next k states while H and q stay what they are."""
    g, product, factors = np.empty_like(w), H.dot, []
    for row in W:
        p = math.prod(v)
        product(w, g)
        if v:
            g *= p
        g -= q
        if v:
            pull = step * float(w.dot(g))
            v = [a - pull * rest for a, rest in zip(v, _others(v), strict=True)]
            factors.append(v)
        g *= step * p
        w = np.subtract(w, g, row)
    if v:
        V[:] = factors


def _plain_step(X, y, w, v: list[float], step: float) -> tuple[NDArray, list[float]]:
    """One step that looks at all the data."""
    p, h = math.prod(v), X @ w
    residual = np.where(h > 0.0, p * h - y, 0.0)
    pull = step * float(residual @ h)
    v = [a - pull * rest for a, rest in zip(v, _others(v), strict=True)]
    return w - step * p * (residual @ X), v


def _others(v: list[float]) -> list[float]:
    """The product of all but one, for each one; no division, for a factor may be 0."""
    return [math.prod(v[:k]) * math.prod(v[k + 1 :]) for k in range(len(v))]


class _Record:
    """What a descent has been through so far."""

    def __init__(self, w: NDArray, v: NDArray, n_steps: int, every: int) -> None:
        self.done = 0
        self._n_steps, self._every = n_steps, every
        self._t = np.union1d(np.arange(0, n_steps + 1, every), [n_steps])
        self._states = np.empty((len(self._t), len(w)))
        self._layers = np.empty((n_steps + 1, len(v)))
        self._flips = np.zeros(n_steps + 1, np.int64)
        self._events: list[Event] = []
        self._states[0], self._layers[0], self._end = w, v, w
        self._filled = 1

    def add(self, W: NDArray, V: NDArray) -> bool:
        """Append states (k, d) and factors (k, m); false, and cut there, at one that overflows."""
        sound = bool(np.abs(W).max() <= _OVERFLOW and np.abs(V).max(initial=0.0) <= _OVERFLOW)
        if not sound:
            good = (np.abs(np.hstack([W, V])) <= _OVERFLOW).all(axis=1)
            W, V = W[: np.argmin(good) + 1], V[: np.argmin(good) + 1]
        first, self.done = self.done + 1, self.done + len(W)
        self._layers[first : self.done + 1] = V
        until = int(np.searchsorted(self._t, self.done, "right"))
        mine = self._t[self._filled : until]
        self._states[self._filled : until] = W[mine - first]
        self._filled, self._end = until, W[-1].copy()
        return sound

    def flip(self, data: NDArray, on: NDArray) -> None:
        """The data (f,) have flipped at the last step added; `on` (n,) is how they are now."""
        self._flips[self.done] = len(data)
        for j in map(int, np.sort(data)[: _LISTED - len(self._events)]):
            kind = "activate" if on[j] else "deactivate"
            self._events.append(Event(float(self.done), j, kind))

    def trajectory(self, X: NDArray, y: NDArray, step: float, sound: bool) -> LayeredTrajectory:
        """The result; the states between the recorded ones are found by taking the steps again."""
        t, states = self._t[: self._filled], self._states[: self._filled]
        if t[-1] < self.done:  # overflow between two recorded steps
            t, states = np.append(t, self.done), np.vstack([states, self._end])
        layers, flips = self._layers[: self.done + 1], self._flips[: self.done + 1]
        detail = f"stopped after {self.done} steps" if sound else f"overflow near step {self.done}"
        if flips.sum() > len(self._events):
            detail += f", the first {len(self._events)} of {flips.sum()} flips listed"

        def interpolant(wanted: NDArray) -> NDArray:
            if np.any(wanted != np.round(wanted)):
                raise ValueError("descent has whole steps only")
            wanted = wanted.astype(int)
            knot = np.searchsorted(t, wanted, "right") - 1
            out = states[knot]
            with _one_thread():
                for k in np.unique(knot[t[knot] != wanted]):
                    w, v, mine = states[k], layers[t[k]].tolist(), knot == k
                    walk = [w]
                    for _ in range(int(wanted[mine].max()) - t[k]):
                        w, v = _plain_step(X, y, w, v, step)
                        walk.append(w)
                    out[mine] = np.array(walk)[wanted[mine] - t[k]]
            return out

        return LayeredTrajectory(
            t=t.astype(float),
            states=states,
            events=tuple(self._events),
            status="horizon" if sound else "diverged",
            clock="steps",
            end=self._end,
            detail=detail,
            interpolant=interpolant,
            settled=float(self.done),
            layers=layers,
            flips=flips,
        )
