"""Appendices B and C: the network against plain loops and torch, and evidence that can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.falsify import falsify, survey
from reluflow.flows import affine
from reluflow.networks.indexed import backpropagate, descend
from reluflow.papers.lee2022support import deep
from reluflow.papers.lee2022support.deep import (
    autograd,
    labels_of,
    network_draws,
    side_by_side,
    weights_of,
)


def draw(kind: str, seed: int):
    item = network_draws()[kind](np.random.default_rng(seed))
    return weights_of(item), item["X"], item["Y"]


def loops(weights, X, Y):
    """Gradients and labels by one plain loop over data, layers, units and weights."""
    gradients = [np.zeros(W.shape) for W in weights]
    labels = []
    for x, y in zip(X, Y, strict=True):
        inputs, outputs = [list(x)], []
        for m, W in enumerate(weights):
            o = [sum(W[j][k] * inputs[m][k] for k in range(len(inputs[m]))) for j in range(len(W))]
            if m < len(weights) - 1:
                o = [v if v > 0 else 0.0 for v in o]
            outputs.append(o)
            inputs.append(o)
        delta = [o - t for o, t in zip(outputs[-1], y, strict=True)]
        mine = [list(y)]
        for m in reversed(range(len(weights))):
            for j in range(len(delta)):
                for k in range(len(inputs[m])):
                    gradients[m][j, k] += delta[j] * inputs[m][k]
            if m > 0:
                back = [
                    sum(weights[m][j][k] * delta[j] for j in range(len(delta)))
                    for k in range(len(outputs[m - 1]))
                ]
                delta = [b if o > 0 else 0.0 for b, o in zip(back, outputs[m - 1], strict=True)]
                mine.insert(0, [o - d for o, d in zip(outputs[m - 1], delta, strict=True)])
        labels.append(mine)
    return gradients, labels


@settings(max_examples=20)
@given(st.sampled_from(sorted(network_draws())), st.integers(0, 10**6))
def test_both_passes_agree_with_plain_loops_and_torch(kind, seed) -> None:
    weights, X, Y = draw(kind, seed)
    found = backpropagate(weights, X, Y)
    gradients, labels = loops(weights, X, Y)
    value, other = autograd(weights, X, Y)
    for m in range(len(weights)):
        scale = 1e-12 * (1.0 + np.abs(gradients[m]).max())
        np.testing.assert_allclose(found.gradients[m], gradients[m], rtol=1e-10, atol=scale)
        np.testing.assert_allclose(found.gradients[m], other[m], rtol=1e-10, atol=scale)
        mine = np.array([datum[m] for datum in labels])
        np.testing.assert_allclose(labels_of(found, Y)[m], mine, rtol=1e-10, atol=scale)
    assert value == pytest.approx(0.5 * ((found.outputs[-1] - Y) ** 2).sum(), rel=1e-12)


def test_the_labels_in_training_are_those_that_loops_count() -> None:
    found = deep.labels_in_training(4, seed=6, steps=(0, 5), step=0.03)
    weights, X, Y = side_by_side(4, (3, 6, 6, 1), 8, np.random.default_rng(6))
    weights = descend(weights, X, Y, 0.03, 5)
    for k in range(4):
        _, labels = loops([W[k] for W in weights], X[k], Y[k])
        hidden = np.array([[*datum[0], *datum[1]] for datum in labels])  # (data, units)
        on = np.hstack(backpropagate([W[k] for W in weights], X[k], Y[k]).outputs[:2]) > 0
        row = found.loc[5, k]
        assert row.positive == (hidden > 0).mean()
        assert row.active == on.mean()
        assert row.suited == (hidden > 0).all(axis=0).mean()
        assert row.negative == pytest.approx((hidden[on] <= 0).mean())
    assert len(deep.label_table(found)) == 2


def test_a_network_whose_steps_are_too_long_does_not_hide_the_order() -> None:
    # With seed 17 one network oscillates at the largest step and makes up most of the mean drift.
    networks = deep.three_layers(30, seed=17)
    descent = deep.descents(networks)
    drifts = [descent.drift[step].mean() for step in descent.index.unique("step")]
    assert drifts[0] / drifts[1] > 3
    decides = [e for e in deep.balanced(descent, deep.flows(networks)) if e.decides]
    assert all(item.holds for item in decides)
    least, largest = (e.value for e in decides if "factor" in e.what)
    assert 1.95 < least <= largest < 2.05


def test_everything_measured_can_fail_its_claim() -> None:
    networks = deep.three_layers(20, 0)
    trained = survey(deep.random_layers(2, 0), deep.train)
    descent, flows = deep.descents(networks), deep.flows(networks)
    steps = descent.index.get_level_values("step")
    refined = np.log2(steps[0] / steps)  # 0, 1, 2
    for found in (
        deep.trained(trained.assign(descent=1e-8)),
        deep.trained(trained.assign(flow=1e-5)),
        deep.balanced(descent.assign(off=1e-6), flows),
        deep.balanced(descent, flows.assign(drift=1e-6)),
        deep.balanced(descent.assign(drift=descent.drift.to_numpy()[::-1]), flows),
        deep.balanced(descent.assign(drift=descent.drift**2), flows),
        deep.balanced(descent.assign(drift=descent.drift * 1.3**refined), flows),
    ):
        assert any(not item.holds for item in found if item.decides)


@pytest.mark.parametrize("off", [1e-3, -1e-3])
@pytest.mark.parametrize(
    ("statement", "name", "rounded"),
    # Beside a loss of 1e9 and more, 1e-3 is rounding: a draw or two of the widest kinds.
    [(deep.independent_neurons, "gradient", 2), (deep.independent_neurons, "loss", 2),
     (deep.label_backpropagation, "gradient", 0)],
)  # fmt: skip
def test_layers_and_labels_are_compared_both_ways(statement, name, rounded, off, monkeypatch):
    """An error of either sign is an error: each of these checks was once one-sided unnoticed."""
    right = getattr(deep, name)
    monkeypatch.setattr(deep, name, lambda *given: right(*given) + off)
    report = falsify(statement(), seed=0, count=30, evaluations=0)
    assert sum(report.violations.values()) >= report.tried - rounded


@pytest.mark.parametrize("off", [1e-3, -1e-3])
@pytest.mark.parametrize("layer", [0, 1])
def test_balance_is_compared_both_ways(layer, off, monkeypatch) -> None:
    """So too here. A gradient with a part along W adds or takes |w|^2, in every unit."""

    def wrong(W, X, Y):
        value, gradients = autograd(W, X, Y)
        gradients = [
            g + off * w * (k == layer) for k, (g, w) in enumerate(zip(gradients, W, strict=True))
        ]
        return value, gradients

    monkeypatch.setattr(deep, "autograd", wrong)
    report = falsify(deep.balance(), seed=0, count=30, evaluations=0)
    assert sum(report.violations.values()) == report.tried


def test_the_whole_layers_flow_sees_a_wrong_neuron(monkeypatch) -> None:
    true = affine.affine_flow
    monkeypatch.setattr(deep, "affine_flow", lambda X, y, w: true(X, 1.001 * y, w))
    assert survey(deep.random_layers(2, seed=5), deep.train).flow.max() > 1e-5


def test_descent_with_wrong_gradients_owes_another_drift(monkeypatch) -> None:
    def false(weights, X, Y):
        found = backpropagate(weights, X, Y)
        return replace(found, deltas=(1.01 * found.deltas[0], *found.deltas[1:]))

    monkeypatch.setattr(deep, "backpropagate", false)
    assert deep.descents(deep.three_layers(10, seed=8)).off.max() > 1e-6
