"""Two digits told apart: what is seen of a run, and what is counted of the images."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from reluflow import images
from reluflow.papers.min2024early import mnist
from reluflow.papers.min2024early.mnist import (
    LOSSES,
    Neurons,
    Setting,
    ShallowLoss,
    Task,
    descent,
)

DIGITS = images.digits()
SMALL = Setting(3, 8, width=7, sigma=1e-3, n_steps=40)


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(SMALL, DIGITS)


def test_dropped_pixels_change_nothing_of_what_is_seen(task: Task) -> None:
    """The same descent with all 64 pixels, by numpy, one neuron at a time."""
    X = np.array([task.pair.picture(x).ravel() for x in task.pair.X])
    y, rng, (start, still) = task.pair.y, np.random.default_rng(4), task.start(4)
    W, v = SMALL.sigma * rng.standard_normal((7, 64)), SMALL.sigma * rng.standard_normal(7)
    path = descent(task.loss, start, 0.05)
    x_plus, x_minus = X[y > 0].sum(axis=0), X[y < 0].sum(axis=0)
    for state in islice(path, 60):
        seen, hidden = task.seen(state, still), np.maximum(X @ W.T, 0.0)
        values = np.linalg.svd(W, compute_uv=False)
        assert seen.spectral == pytest.approx(values[0] ** 2)
        assert seen.stable_rank == pytest.approx((values**2).sum() / values[0] ** 2)
        assert seen.loss == pytest.approx(np.exp(-y * (hidden @ v)).mean())
        assert seen.positive == (v > 0).sum()
        for side, group, x in ((seen[5:8], v > 0, x_plus), (seen[8:], v < 0, x_minus)):
            each = [w @ x / np.linalg.norm(w) / np.linalg.norm(x) for w in W[group]]
            mean = W[group].mean(axis=0)
            together = mean @ x / np.linalg.norm(mean) / np.linalg.norm(x)
            assert side == pytest.approx((together, min(each), max(each)))
        pull = np.exp(-y * (hidden @ v)) * y / len(y)
        G = v[:, None] * ((hidden > 0).T * pull) @ X
        v, W = v + 0.05 * pull @ hidden, W + 0.05 * G


def test_the_flow_stays_beside_small_steps() -> None:
    task = Task(replace(SMALL, sigma=0.2, step=2e-3, n_steps=2000), DIGITS)
    run, last = mnist.stepped(task, 0, 200)
    seen, gradients = mnist.flowed(task, 0, 11)
    flow = mnist.curves(seen)
    assert flow.step.tolist() == run.step.tolist()
    names = ["loss", "plus_least", "minus_least"]
    assert (flow - run)[names].abs().max().max() < 5e-3
    assert gradients < 1500
    assert last.W.shape == (7, task.pair.X.shape[1])
    assert run.loss.iloc[-1] < 0.9 * run.loss[0]


def test_pairs_are_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    few = mnist.first_of(DIGITS, 13)
    pair = images.pair(few, 4, 9)
    slow = dict.fromkeys(("equal", "equal_right", "different", "different_right"), 0)
    least, cosines, before = np.inf, [], []
    for i in range(26):
        for j in range(26):
            product = float(pair.X[i] @ pair.X[j])
            sizes = np.linalg.norm(pair.X[i]) * np.linalg.norm(pair.X[j])
            cosines.append(pair.y[i] * pair.y[j] * product / sizes)
            same = pair.y[i] == pair.y[j]
            if not same:
                least = min(least, product)
                before.append(int(pair.levels[i].astype(int) @ pair.levels[j].astype(int)))
            if i < j:
                slow["equal" if same else "different"] += 1
                right = product > 0 if same else product < 0
                slow["equal_right" if same else "different_right"] += right
    for block in (1000, 7):
        monkeypatch.setattr(mnist, "_BLOCK", block)
        assert mnist.shares(pair) == slow
        assert mnist.least_before(pair) == min(before)
        assert mnist.least_after(pair) == pytest.approx(least)
        assert mnist.mu(pair) == pytest.approx(min(cosines))
    assert mnist.left_over(pair) == 0
    uneven = replace(pair, y=-pair.y, levels=np.vstack([pair.levels[1:], pair.levels[:1]]))
    assert mnist.left_over(uneven) == 0  # an identity, whatever the labels
    kept = mnist.record(pair)
    shown = mnist.recorded_heatmap(kept)
    exact = mnist.heatmap(pair)
    assert np.abs(shown - exact).max() <= 0.51 * np.abs(exact).max() / 127


def test_changes_are_the_derivatives_along_the_flow() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((9, 4)), np.where(np.arange(9) % 2, 1.0, -1.0)
    problem = ShallowLoss(X, y, LOSSES["exponential"], 1 / 9)
    at = Neurons(torch.tensor(rng.standard_normal((5, 4))), torch.tensor(rng.standard_normal(5)))
    still = rng.uniform(size=5)
    found = mnist.rates(3, problem, at, still)
    slope, eps = problem.value_and_slope(at)[1].W, 1e-6

    def at_time(t: float) -> np.ndarray:
        """The weights with one coordinate more, that no gradient moves."""
        W = at.W.numpy() + t * slope.numpy()
        return np.hstack([W, np.sqrt(still)[:, None]])

    ahead, back = at_time(eps), at_time(-eps)
    norms = ((ahead**2).sum() - (back**2).sum()) / (2 * eps)
    units = [W / np.linalg.norm(W, axis=1, keepdims=True) for W in (ahead, back)]
    turns = np.linalg.norm(units[0] - units[1], axis=1).sum() / (2 * eps)
    assert found.norms == pytest.approx(norms, rel=1e-6)
    assert found.directions == pytest.approx(turns, rel=1e-6)
    assert found.loss == pytest.approx(problem.value(at))
    assert found.squares == pytest.approx((at_time(0.0) ** 2).sum())
