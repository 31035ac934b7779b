"""Many two-layer ReLU networks side by side on the same few data: their descents and their flows.

The networks f(x) = sum_j v_j [w_j.x]_+ know nothing of each other; they share the loop. A neuron
that is active on no datum has no gradient and never moves again, so it leaves the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.segment import check_steps
from reluflow.losses import Loss

_CLEARED = 200
"""Steps between two looks at which neurons have died."""


@dataclass(frozen=True)
class Ensemble:
    """Paths of S networks of h neurons, on a clock that counts steps of descent, or time.

    knots    (r,) the recorded values of the clock, with W (r, S, h, d) and v (r, S, h) there
    clock    (m,) the values at which the loss was taken, with `loss` (m, S)
    """

    knots: NDArray
    W: NDArray
    v: NDArray
    clock: NDArray
    loss: NDArray

    def at(self, knot: float) -> tuple[NDArray, NDArray]:
        """W (S, h, d) and v (S, h) at one of the recorded values; ValueError for another one."""
        (found,) = np.nonzero(np.isclose(self.knots, knot, rtol=1e-9))
        if not found.size:
            raise ValueError(f"{knot} was not recorded")
        return self.W[found[0]], self.v[found[0]]


def normal_starts(
    seed: int, networks: int, h: int, d: int, sigma: float
) -> tuple[NDArray, NDArray]:
    """W (networks, h, d) and v (networks, h) with independent normal entries of deviation sigma.

    Network k is the same for every number of networks.
    """
    drawn = [np.random.default_rng([seed, k]).standard_normal((h, d + 1)) for k in range(networks)]
    theta = sigma * np.array(drawn)
    return theta[..., :d], theta[..., d]


def balanced_starts(
    seed: int, networks: int, h: int, d: int, sigma: float
) -> tuple[NDArray, NDArray]:
    """`normal_starts` with v_j made as large as |w_j|, of the same sign."""
    W, v = normal_starts(seed, networks, h, d, sigma)
    return W, np.sign(v) * np.linalg.norm(W, axis=2)


def ensemble_descent(
    X: ArrayLike,
    y: ArrayLike,
    W0: ArrayLike,
    v0: ArrayLike,
    loss: Loss,
    step: float,
    record: ArrayLike,
    every: int = 20,
) -> Ensemble:
    """Gradient descent in all w_j and v_j at once, of L = sum_i l(f(x_i), y_i).

    With pulls c_i = -dl/df(x_i), a step is w_j <- w_j + step v_j sum_i c_i x_i and
    v_j <- v_j + step sum_i c_i w_j.x_i, both sums over the data with w_j.x_i > 0. For a mean in
    place of the sum divide the step by n.

    Parameters: X (n, d), y (n,), W0 (S, h, d), v0 (S, h), step > 0, `record` the steps whose
    weights are kept (the last of them ends the descent), `every` the steps from one loss to the
    next. Returns an `Ensemble` on the clock of steps. Raises InputError for arrays that do not fit.
    """
    record = np.unique(np.asarray(record, int))
    check_steps(step, int(record[-1]))

    def euler(stacked: _Stacked, W: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        dW, dv = stacked.rates(W, v)
        return W + step * dW, v + step * dv

    return _followed(X, y, W0, v0, loss, euler, record, every, 1.0)


def ensemble_flow(
    X: ArrayLike,
    y: ArrayLike,
    W0: ArrayLike,
    v0: ArrayLike,
    loss: Loss,
    step: float,
    record: ArrayLike,
    every: int = 1,
) -> Ensemble:
    """The gradient flow of the same loss, by Runge and Kutta's method of order 4.

    The method loses its order where a neuron crosses a boundary: an error of a fraction of `step`
    in the time of the crossing, which the alignment then shrinks. Parameters as for
    `ensemble_descent`, with `record` the times, rounded to multiples of `step`. Returns an
    `Ensemble` on the clock of time.
    """
    counts = np.unique(np.round(np.asarray(record, float) / step).astype(int))
    check_steps(step, int(counts[-1]))

    def runge_kutta(stacked: _Stacked, W: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        slopes = [stacked.rates(W, v)]
        for share in (0.5, 0.5, 1.0):
            dW, dv = slopes[-1]
            slopes.append(stacked.rates(W + share * step * dW, v + share * step * dv))
        parts = [
            step / 6.0 * (a + 2.0 * b + 2.0 * c + e) for a, b, c, e in zip(*slopes, strict=True)
        ]
        return W + parts[0], v + parts[1]

    return _followed(X, y, W0, v0, loss, runge_kutta, counts, every, step)


Move = Callable[["_Stacked", NDArray, NDArray], tuple[NDArray, NDArray]]


def _followed(
    X: ArrayLike,
    y: ArrayLike,
    W0: ArrayLike,
    v0: ArrayLike,
    loss: Loss,
    move: Move,
    record: NDArray,
    every: int,
    unit: float,
) -> Ensemble:
    """Move on from one count in `record` to the next; the clock is the count times `unit`."""
    X, y, W0, v0 = (np.asarray(a, float) for a in (X, y, W0, v0))
    if W0.ndim != 3 or X.ndim != 2 or W0.shape[2] != X.shape[1]:
        raise InputError(f"W0 has shape {W0.shape}, not (networks, h, {X.shape[-1]}).")
    if v0.shape != W0.shape[:2] or y.shape != X.shape[:1]:
        raise InputError(f"v0 has shape {v0.shape}, not {W0.shape[:2]}, or y does not fit X.")
    stacked = _Stacked(X, y, W0, v0, loss)
    W, v = stacked.living()
    states, losses, wanted = [], [], set(record.tolist())
    for k in range(int(record[-1]) + 1):
        if k % every == 0:
            losses.append(loss.value(stacked.outputs(W, v), y))
        if k in wanted:
            states.append(stacked.all(W, v))
        if k % _CLEARED == 0:
            W, v = stacked.cleared(W, v)
        W, v = move(stacked, W, v)
    kept_W, kept_v = (np.array(part) for part in zip(*states, strict=True))
    clock = unit * every * np.arange(len(losses))
    return Ensemble(unit * record, kept_W, kept_v, clock, np.array(losses))


class _Stacked:
    """All living neurons in one row, W (d, N) and v (N,), network by network; and the dead."""

    def __init__(self, X: NDArray, y: NDArray, W: NDArray, v: NDArray, loss: Loss) -> None:
        self._X, self._y, self._loss, self._shape = X, y, loss, W.shape
        self._W, self._v = W.reshape(-1, W.shape[2]).T.copy(), v.ravel().copy()
        self._home = np.repeat(np.arange(len(W)), W.shape[1])
        self._kept = np.arange(v.size)

    def living(self) -> tuple[NDArray, NDArray]:
        """W and v of the neurons listed in `_kept`."""
        home = self._home[self._kept]
        self._first, self._counts = np.unique(home, return_index=True, return_counts=True)[1:]
        return np.ascontiguousarray(self._W[:, self._kept]), self._v[self._kept]

    def outputs(self, W: NDArray, v: NDArray) -> NDArray:
        """The outputs (S, n)."""
        return self._sums(self._X @ W, v)

    def _sums(self, H: NDArray, v: NDArray) -> NDArray:
        return np.add.reduceat(np.maximum(H, 0.0) * v, self._first, axis=1).T

    def rates(self, W: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        """-dL/dW (d, N) and -dL/dv (N,)."""
        H = self._X @ W
        pull = self._loss.pull(self._sums(H, v), self._y).T
        C = np.repeat(pull, self._counts, axis=1) * (H > 0.0)
        dW = self._X.T @ C
        dW *= v
        return dW, np.einsum("ij,ij->j", C, H)

    def all(self, W: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        """W (S, h, d) and v (S, h) of the living and the dead."""
        self._W[:, self._kept], self._v[self._kept] = W, v
        return self._W.T.reshape(self._shape).copy(), self._v.reshape(self._shape[:2]).copy()

    def cleared(self, W: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        """Without the dead, but for the first neuron of a network: none may be without neurons."""
        alive = (self._X @ W > 0.0).any(axis=0)
        alive[self._first] = True
        if alive.all():
            return W, v
        self.all(W, v)
        self._kept = self._kept[alive]
        return self.living()
