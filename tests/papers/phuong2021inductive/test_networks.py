"""Section 5 of Phuong & Lampert 2021: networks and records."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from reluflow.papers.phuong2021inductive import networks
from reluflow.papers.phuong2021inductive.setting import limit
from torch.nn import functional


def torch_loss(weights, X, y):
    f = X @ weights[0].T
    for W in weights[1:-1]:
        f = f + torch.relu(f) @ W.T
    return -functional.logsigmoid(y * (torch.relu(f) @ weights[-1].T)[:, 0])


@pytest.mark.parametrize(
    ("depth", "mean", "size"),
    [(2, True, 1), (2, True, 1e4), (3, True, 1), (3, False, 1), (4, False, 1)],
)
def test_slopes_and_minibatches_are_those_of_a_plain_loop(depth, mean, size):
    """For outputs of any size."""
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal((3, *shape)) for shape in networks.shapes(depth, 5, 4)]
    X, y = rng.standard_normal((3, 10, 4)), rng.choice([-1.0, 1.0], (3, 10))
    weights[-1] *= size
    gradients, loss = networks.slopes(weights, X, y)
    rngs = [np.random.default_rng(k) for k in range(3)]
    (epoch, _, _), (later, ended, _) = networks.minibatch_ensemble(
        weights, X, y, 0.1, 4, [0, 2], rngs, mean
    )
    assert (epoch, later) == (0, 2)
    (still,) = networks.minibatch_ensemble(weights, X, y, 0.0, 4, [1], rngs)
    assert still[2] == pytest.approx(loss / 10.0)
    for k in range(3):
        rng = np.random.default_rng(k)
        mine = [torch.tensor(W[k], requires_grad=True) for W in weights]
        optimiser = torch.optim.SGD(mine, 0.1)
        all_x, all_y = torch.tensor(X[k]), torch.tensor(y[k])
        total = torch_loss(mine, all_x, all_y).sum()
        total.backward()
        assert loss[k] == pytest.approx(float(total.detach()))
        for W, gradient in zip(mine, gradients, strict=True):
            np.testing.assert_allclose(gradient[k], W.grad.numpy(), rtol=1e-9, atol=1e-12)
        for _ in range(2):
            for rows in np.split(rng.permutation(10), [4, 8]):
                optimiser.zero_grad()
                each = torch_loss(mine, all_x[rows], all_y[rows])
                (each.mean() if mean else each.sum()).backward()
                optimiser.step()
        for W, found in zip(mine, ended, strict=True):
            np.testing.assert_allclose(found[k], W.detach().numpy(), rtol=1e-8, atol=1e-10)


def test_two_directions_by_trying_all_pairs():
    P = np.random.default_rng(1).standard_normal((9, 3))
    U = P / np.linalg.norm(P, axis=1, keepdims=True)
    values = {(i, j): np.maximum(P @ U[i], P @ U[j]).sum() for i, j in combinations(range(9), 2)}
    i, j = max(values, key=values.get)
    assert {tuple(e) for e in networks.two_directions(P)} == {tuple(U[i]), tuple(U[j])}


def test_angles_and_correlations_by_hand():
    assert networks.turned([-1.0 - 2e-16, 1.0 + 3e-16]).tolist() == [180.0, 0.0]
    goal = limit(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0]))
    rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    signs = np.array([1.0, -1.0, 1.0])
    np.testing.assert_allclose(networks.correlations(rows, goal, signs), [1, 0.5**0.5, 0])
    np.testing.assert_allclose(networks.correlations(rows, goal), [1, 0.5**0.5, 1])
    one_long = np.array([[9.0, 0.0], [0.0, 1.0]])  # the second row is a direction all the same
    np.testing.assert_allclose(networks.alignment(one_long, signs[:2] > 0.0), [1, 90, 1])


def same(found, recorded):
    for name in vars(found):
        mine, kept_ = getattr(found, name), getattr(recorded, name)
        if name == "cosines" and not kept_:
            continue
        if name.startswith("sum_") and not recorded.sum_group:  # not in that record
            continue
        np.testing.assert_allclose(mine, kept_, 2e-3, 2e-3 * (name != "loss"), err_msg=name)


DEEP = pytest.param("deep", "500 epochs", marks=pytest.mark.long)


@pytest.mark.parametrize(
    ("name", "key"), [("readings", "biases"), ("steps", "1"), ("balance", "10"), DEEP]
)
def test_a_slice_of_a_record_comes_out_again(name, key):
    survey, recorded = networks.SURVEYS[name][key], networks.recorded(name)[key]
    assert len(recorded) == survey.networks
    (run,) = networks.train(survey.setting, 0, [0])
    for mine, look in zip(networks.course(run).looks, recorded[0].looks, strict=True):
        same(mine, look)
    if name == "deep":
        found, kept = networks.one_deep(run), networks.SHELF.read(networks.ONE_DEEP)
        for mine, W in zip(found["weights"], kept["weights"], strict=True):
            np.testing.assert_allclose(mine, W, rtol=2e-3, atol=2e-4)
        for mine, inner in zip(found["inner"], kept["inner"], strict=True):
            assert mine == {goal: pytest.approx(each, abs=0.1) for goal, each in inner.items()}


def test_separability_by_hand():
    X, y, two = networks.X, networks.Y, np.array([1.0, -1.0])
    assert networks.feasible(X, y)
    # w_+ is active on the negative datum
    assert not networks.feasible(np.array([[1.0, 1.0], [1.0, 0.9]]), two)
    assert networks.partial(X, y, np.array([[1.0, 2.0], [-1.0, 0.0]]), two)
    assert not networks.partial(X, y, np.array([[1.0, 0.0], [-1.0, 0.0]]), two)


@pytest.mark.long
def test_the_record_of_broken_data_comes_out_again():
    recorded = networks.recorded_cases()
    again = networks.cases(0, len(recorded), first=40)
    assert len(again) == 40
    for mine, case in zip(again, recorded, strict=False):
        assert (mine.extremal, mine.feasible) == (case.extremal, case.feasible)
        assert mine.mu == pytest.approx(case.mu)
    assert sum(a.partial != b.partial for a, b in zip(again, recorded, strict=False)) <= 1


def test_readings_change_what_their_names_say():
    starts = {name: networks.train(replace(setting, epochs=0), 0, [0])[0].looks[0]
              for name, setting in networks.READINGS.items()}  # fmt: skip
    size = {name: float(np.std(look.W)) for name, look in starts.items()}
    assert size["taken"] == pytest.approx(0.05 / 60**0.5, rel=0.05)
    assert size["He"] == pytest.approx(0.05 * 0.1**0.5, rel=0.05)
    assert size["normal"] == pytest.approx(0.05, rel=0.05)
    np.testing.assert_allclose(starts["not times 0.05"].W, 20.0 * starts["taken"].W)
    assert np.std(starts["taken"].a) < 0.5 * np.std(starts["Glorot"].a)
    assert all(look.W.shape == (100, 20) for look in starts.values())
