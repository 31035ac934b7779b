"""Minibatches: an epoch takes every datum once, and the steps are the optimiser's."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from reluflow.papers.phuong2021inductive.training import minibatch_steps


@pytest.mark.parametrize(("n", "batch"), [(10, 4), (9, 4), (12, 4), (3, 8), (1, 1)])
def test_an_epoch_takes_every_datum_once(n, batch):
    seen = []

    def loss(rows):
        seen.append(rows.tolist())
        return w.sum() * 0.0

    w = torch.zeros(2, requires_grad=True)
    steps = minibatch_steps(torch.optim.SGD([w], 1.0), loss, n, batch, np.random.default_rng(0))
    each = -(-n // batch)
    list(islice(steps, 2 * each))
    first, second = seen[:each], seen[each:]
    for epoch in (first, second):
        assert sorted(k for rows in epoch for k in rows) == list(range(n))
        assert [len(rows) for rows in epoch[:-1]] == [batch] * (each - 1)
    if n > 3:
        assert first != second


def test_adam_by_hand():
    rng = np.random.default_rng(1)
    A, start = rng.standard_normal((7, 3)), rng.standard_normal(3)
    w = torch.tensor(start, requires_grad=True)
    targets = torch.tensor(A)

    def loss(rows):
        return ((targets[rows] @ w - 1.0) ** 2).mean()

    optimiser = torch.optim.Adam([w], lr=0.01)
    steps = minibatch_steps(optimiser, loss, 7, 7, np.random.default_rng(2))
    v, m, s = start.copy(), np.zeros(3), np.zeros(3)
    for k in range(1, 6):
        value = next(steps)
        assert value == pytest.approx(np.mean((A @ v - 1.0) ** 2))
        g = 2.0 * A.T @ (A @ v - 1.0) / 7
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        v = v - 0.01 * (m / (1 - 0.9**k)) / (np.sqrt(s / (1 - 0.999**k)) + 1e-8)
        np.testing.assert_allclose(w.detach().numpy(), v, rtol=1e-9)
