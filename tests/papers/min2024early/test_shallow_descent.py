"""A two-layer network's loss and its descent: by hand, by groups of data, by batches."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reluflow.papers.min2024early import mnist
from reluflow.papers.min2024early.mnist import (
    LOSSES,
    GroupedLoss,
    Neurons,
    ShallowLoss,
    descent,
    stochastic_descent,
)


def draw(seed: int, n: int, d: int, h: int, name="exponential", dtype=torch.float64, size=0.3):
    """Two clouds of data, and neurons of this size."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
    X = rng.standard_normal((n, d)) + 1.5 * y[:, None] * rng.standard_normal(d)
    start = Neurons(
        torch.tensor(size * rng.standard_normal((h, d))),
        torch.tensor(size * rng.standard_normal(h)),
    )
    return ShallowLoss(X, y, LOSSES[name], 1.0 / n, dtype), start


def by_autograd(problem: ShallowLoss, neurons: Neurons) -> tuple[float, Neurons]:
    W, v = neurons.W.clone().requires_grad_(), neurons.v.clone().requires_grad_()
    q = problem.y * (torch.relu(problem.X @ W.T) @ v)
    value = {
        "exponential": torch.exp(-q),
        "logistic": torch.log1p(torch.exp(-q)),
        "twice logistic": 2 * torch.log1p(torch.exp(-q)),
    }[problem.loss.name]
    loss = problem.weight * value.sum()
    loss.backward()
    return float(loss.detach()), Neurons(-W.grad, -v.grad)


@given(
    st.integers(0, 10**6), st.integers(1, 1300), st.integers(1, 9), st.integers(1, 7),
    st.sampled_from(sorted(LOSSES)), st.sampled_from([1e-9, 1e-3, 0.3, 2.0]),
)  # fmt: skip
def test_the_slope_is_autograds(seed, n, d, h, name, size) -> None:
    problem, start = draw(seed, n, d, h, name, size=size)
    loss, slope = problem.value_and_slope(start)
    expected, there = by_autograd(problem, start)
    assert loss == pytest.approx(expected, rel=1e-10)
    largest = max(float(there.flat.abs().max()), 1e-300)
    np.testing.assert_allclose(slope.flat, there.flat, atol=1e-9 * largest)
    together, same = GroupedLoss(problem).value_and_slope(start)
    assert together == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(same.flat, there.flat, atol=1e-9 * largest)


def test_a_neuron_on_the_boundary_or_zero_is_inactive() -> None:
    X, y = [[1.0, 0.0], [0.0, 0.0]], [1.0, -1.0]
    problem = ShallowLoss(X, y, LOSSES["exponential"], 1.0)
    start = Neurons(
        torch.tensor([[0.0, 1.0], [0.0, 0.0]], dtype=torch.float64),
        torch.tensor([1.0, 1.0], dtype=torch.float64),
    )
    for one in (problem, GroupedLoss(problem)):
        loss, slope = one.value_and_slope(start)
        assert loss == 2.0
        assert slope.flat.abs().max() == 0.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("size", [1e-6, 0.5])
def test_groups_of_data_give_the_same_path(dtype: torch.dtype, size: float) -> None:
    problem, start = draw(3, 500, 6, 9, dtype=dtype, size=size)
    ours = GroupedLoss(problem)
    paths = [descent(one, start, 0.05) for one in (problem, ours)]
    tolerance = 1e-12 if dtype == torch.float64 else 1e-4
    for a, b in islice(zip(*paths, strict=False), 600):
        assert a.loss == pytest.approx(b.loss, rel=tolerance)
        gap = (a.neurons.flat - b.neurons.flat).norm() / a.neurons.flat.norm()
        assert gap < tolerance
    assert len(ours._sorted[1]) >= 1


@given(st.integers(0, 10**6), st.sampled_from([1e-12, 1e-6, 1.0, 1e3]))
def test_groups_of_data_keep_to_jumping_weights(seed: int, unit: float) -> None:
    problem, start = draw(seed, 200, 3, 4, size=0.3)
    ours, rng = GroupedLoss(problem), np.random.default_rng(seed)
    for k in range(12):
        W = start.W + 10.0 ** -(k % 5) * torch.tensor(rng.standard_normal((4, 3)))
        at = Neurons(unit * W, start.v / unit)
        loss, slope = ours.value_and_slope(at)
        expected, there = problem.value_and_slope(at)
        assert loss == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(slope.W, there.W, atol=1e-10 * float(there.W.abs().max()))
        np.testing.assert_allclose(slope.v, there.v, atol=1e-10 * float(there.v.abs().max()))


def test_an_epoch_takes_every_datum_once_and_the_mean_of_each_batch() -> None:
    problem, start = draw(2, 23, 3, 4)
    path = stochastic_descent(problem, start, 0.1, 0.0, 10, np.random.default_rng(7))
    end = next(islice(path, 1, None)).neurons
    rng, at = np.random.default_rng(7), start
    order = rng.permutation(23)
    assert sorted(order) == list(range(23))
    for rows in (order[:10], order[10:20], order[20:]):
        part = ShallowLoss(problem.X[rows], problem.y[rows], problem.loss, 1.0 / len(rows))
        at = at.moved(part.value_and_slope(at)[1], 0.1, 0.0)
    np.testing.assert_allclose(end.flat, at.flat, rtol=1e-12)


def test_most_data_are_not_looked_at_singly_once_patterns_rest(monkeypatch) -> None:
    problem, start = draw(3, 500, 6, 9, size=1e-3)
    at = next(islice(descent(problem, start, 0.05), 600, None)).neurons
    ours, seen = GroupedLoss(problem), []
    plain = ShallowLoss.sums

    def counted(self, neurons, parts):
        seen.append(sum(len(y) for _, y in parts))
        return plain(self, neurons, parts)

    monkeypatch.setattr(ShallowLoss, "sums", counted)
    for _ in islice(descent(ours, at, 0.05), 100):
        pass
    assert np.mean(seen) < 0.5 * problem.n
    monkeypatch.setattr(mnist, "_SHARE", 0)  # no group: every datum singly
    seen.clear()
    for _ in islice(descent(GroupedLoss(problem), at, 0.05), 3):
        pass
    assert seen == [problem.n] * len(seen)
