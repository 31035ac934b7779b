"""The loss of a two-layer ReLU network where most data see one of a few linear maps.

Data on which the same neurons are active have outputs V.x with one vector V, and one sum of c_i x_i
serves all these neurons: two products of a matrix and a vector in place of two with h columns. Who
is active is known without looking as long as no direction w_j/|w_j| has moved by as much as
x_i/|x_i| is away from the neuron's boundary. All other data are looked at in each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reluflow.networks.shallow import Neurons, ShallowLoss

_SHARE = 50
"""A pattern that one in so many data has makes a group."""
_PATIENCE = 8
"""Data are sorted afresh once the work on single ones is that of so many passes over all."""


@dataclass(frozen=True)
class _Group:
    """Data X (m, d), y (m,) with one pattern, `active` (h,) as 0 and 1, and by how much a direction
    must at least move to change it, (m,), in ascending order."""

    X: Tensor
    y: Tensor
    active: Tensor
    room: NDArray


@dataclass(frozen=True)
class _Sorted:
    """The data as they were sorted at some directions (h, d): groups, and the others."""

    directions: Tensor
    groups: list[_Group]
    others: tuple[Tensor, Tensor]


class GroupedLoss:
    """The same function as `problem`, to rounding, for weights that change a little at a time.

    Parameters: `problem`, of whose data this keeps a sorted copy.
    """

    def __init__(self, problem: ShallowLoss) -> None:
        self.problem, self.n = problem, problem.n
        sizes = problem.X.double().norm(dim=1)
        self._sizes = torch.where(sizes > 0.0, sizes, 1.0)
        # What rounding may add to a product of unit vectors.
        self._slack = 2.0 * problem.X.shape[1] * torch.finfo(problem.dtype).eps
        self._sorted: _Sorted | None = None
        self._spent = 0

    def value_and_slope(self, neurons: Neurons) -> tuple[float, Neurons]:
        """L and - grad L, for both layers."""
        directions = _directions(neurons)
        if self._sorted is None or self._spent > _PATIENCE * self.n:
            self._sorted, self._spent = self._sort(neurons, directions), 0
        seen = self._sorted
        moved = float((directions - seen.directions).norm(dim=1).max()) + self._slack
        total, pulled = torch.zeros((), dtype=torch.float64), torch.zeros_like(neurons.W)
        singly = [seen.others]
        W, loss = neurons.W.to(self.problem.dtype), self.problem.loss
        for group in seen.groups:
            k = int(np.searchsorted(group.room, moved, side="right"))
            singly.append((group.X[:k], group.y[:k]))
            V = torch.mv(W.T, neurons.v.to(W.dtype) * group.active)
            margins = group.y[k:] * torch.mv(group.X[k:], V)
            total += loss.value(margins).sum(dtype=torch.float64)
            pull = torch.mv(group.X[k:].T, loss.pull(margins) * group.y[k:])
            pulled += torch.outer(group.active, pull)
        self._spent += sum(len(y) for _, y in singly)
        rest, by_single = self.problem.sums(neurons, singly)
        return self.problem.slope_of(neurons, total + rest, pulled + by_single)

    def _sort(self, neurons: Neurons, directions: Tensor) -> _Sorted:
        """Group the data by their patterns at these weights."""
        X, y = self.problem.X, self.problem.y
        before = torch.mm(X, directions.to(X.dtype).T)
        room = (before.abs().amin(dim=1) / self._sizes).numpy()
        packed = np.packbits((before > 0.0).numpy(), axis=1)
        words = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
        _, kind, count = np.unique(words, return_inverse=True, return_counts=True)
        groups, single = [], np.ones(self.n, bool)
        for k in np.nonzero(count * _SHARE >= self.n)[0]:
            rows = np.nonzero(kind == k)[0]
            rows = rows[np.argsort(room[rows], kind="stable")]
            single[rows] = False
            taken = torch.from_numpy(rows)
            active = (before[rows[0]] > 0.0).to(X.dtype)
            groups.append(_Group(X[taken], y[taken], active, room[rows]))
        left = torch.from_numpy(np.nonzero(single)[0])
        return _Sorted(directions, groups, (X[left], y[left]))


def _directions(neurons: Neurons) -> Tensor:
    sizes = neurons.W.norm(dim=1, keepdim=True)
    return neurons.W / torch.where(sizes > 0.0, sizes, 1.0)
