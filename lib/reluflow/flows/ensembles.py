"""Full-batch descent of many two-layer ReLU networks side by side on the same few data.

The networks f(x) = sum_j v_j [w_j.x]_+ know nothing of each other; they share the loop. A neuron
that is active on no datum has no gradient and never moves again, so it leaves the loop.
"""

from __future__ import annotations

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
    """Descents of S networks of h neurons.

    steps    (r,) the recorded steps, with W (r, S, h, d) and v (r, S, h) after so many steps
    clock    (m,) the steps at which the loss was taken, with `loss` (m, S)
    """

    steps: NDArray
    W: NDArray
    v: NDArray
    clock: NDArray
    loss: NDArray

    def at(self, step: int) -> tuple[NDArray, NDArray]:
        """W (S, h, d) and v (S, h) at one of the recorded steps; ValueError for another step."""
        (found,) = np.nonzero(self.steps == step)
        if not found.size:
            raise ValueError(f"step {step} was not recorded")
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
    next. Returns an `Ensemble`. Raises InputError for arrays that do not fit.
    """
    X, y, W0, v0 = (np.asarray(a, float) for a in (X, y, W0, v0))
    if W0.ndim != 3 or X.ndim != 2 or W0.shape[2] != X.shape[1]:
        raise InputError(f"W0 has shape {W0.shape}, not (networks, h, {X.shape[-1]}).")
    if v0.shape != W0.shape[:2] or y.shape != X.shape[:1]:
        raise InputError(f"v0 has shape {v0.shape}, not {W0.shape[:2]}, or y does not fit X.")
    record = np.unique(np.asarray(record, int))
    check_steps(step, int(record[-1]))
    stacked = _Stacked(X, y, W0, v0, loss)
    states, losses, wanted = [], [], set(record.tolist())
    for k in range(int(record[-1]) + 1):
        outputs = stacked.look()
        if k % every == 0:
            losses.append(loss.value(outputs, y))
        if k in wanted:
            states.append(stacked.all())
        if k % _CLEARED == 0:
            stacked.clear()
        stacked.move(step)
    W, v = (np.array(part) for part in zip(*states, strict=True))
    clock = every * np.arange(len(losses))
    return Ensemble(record, W, v, clock, np.array(losses))


class _Stacked:
    """All living neurons in one row, network by network, and where each network begins."""

    def __init__(self, X: NDArray, y: NDArray, W: NDArray, v: NDArray, loss: Loss) -> None:
        self._X, self._y, self._loss = X, y, loss
        self._all = W.reshape(-1, W.shape[2]).T.copy(), v.ravel().copy()
        self._shape, self._home = W.shape, np.repeat(np.arange(len(W)), W.shape[1])
        self._kept = np.arange(v.size)
        self._take()

    def _take(self) -> None:
        """Work on the neurons listed in `_kept`."""
        W, v = self._all
        self.W, self.v = np.ascontiguousarray(W[:, self._kept]), v[self._kept]
        home = self._home[self._kept]
        self._first, self._counts = np.unique(home, return_index=True, return_counts=True)[1:]

    def look(self) -> NDArray:
        """The outputs (S, n); pre-activations and pulls are kept for `move`."""
        self.H = self._X @ self.W
        self._on = self.H > 0.0
        parts = np.where(self._on, self.H, 0.0) * self.v
        self._outputs = np.add.reduceat(parts, self._first, axis=1).T
        return self._outputs

    def move(self, step: float) -> None:
        """One step of descent from the state last looked at."""
        pull = self._loss.pull(self._outputs, self._y).T
        C = np.repeat(pull, self._counts, axis=1) * self._on
        turn = self._X.T @ C
        growth = np.einsum("ij,ij->j", C, self.H)
        turn *= step * self.v
        self.W += turn
        self.v += step * growth

    def all(self) -> tuple[NDArray, NDArray]:
        """W (S, h, d) and v (S, h) of the living and the dead."""
        W, v = self._all
        W[:, self._kept], v[self._kept] = self.W, self.v
        return W.T.reshape(self._shape).copy(), v.reshape(self._shape[:2]).copy()

    def clear(self) -> None:
        """Drop the dead, but for the first neuron of a network: none may be without neurons."""
        alive = self._on.any(axis=0)
        alive[self._first] = True
        if not alive.all():
            self.all()
            self._on, self.H = self._on[:, alive], self.H[:, alive]
            self._kept = self._kept[alive]
            self._take()
