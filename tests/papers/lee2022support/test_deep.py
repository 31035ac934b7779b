"""Appendices B and C: the network against plain loops and torch, and evidence that can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reluflow.falsify import falsify
from reluflow.networks.indexed import backpropagate
from reluflow.papers.lee2022support import deep


def test_a_network_whose_steps_are_too_long_does_not_hide_the_order() -> None:
    # With seed 17 one network oscillates at the largest step and makes up most of the mean drift.
    networks = deep.three_layers(30, seed=17)
    descent = deep.descents(networks)
    drifts = [descent.drift[step].mean() for step in descent.index.unique("step")]
    assert drifts[0] / drifts[1] > 3
    decides = [e for e in deep.balanced(descent) if e.decides]
    assert all(item.holds for item in decides)
    least, largest = (e.value for e in decides if "factor" in e.what)
    assert 1.95 < least <= largest < 2.05


def test_everything_measured_can_fail_its_claim() -> None:
    networks = deep.three_layers(20, 0)
    descent = deep.descents(networks)
    steps = descent.index.get_level_values("step")
    refined = np.log2(steps[0] / steps)  # 0, 1, 2
    for found in (
        {"off": 1e-6},
        {"drift": descent.drift.to_numpy()[::-1]},
        {"drift": descent.drift**2},
        {"drift": descent.drift * 1.3**refined},
    ):
        judged = deep.balanced(descent.assign(**found))
        assert any(not item.holds for item in judged if item.decides)


@pytest.mark.parametrize("off", [1e-3, -1e-3])
@pytest.mark.parametrize(
    ("statement", "name", "rounded"),
    # Beside a loss of 1e9 and more, 1e-3 is rounding: a draw or two of the widest kinds.
    [(deep.independent_neurons, "gradient", 2), (deep.independent_neurons, "loss", 2),
     (deep.label_backpropagation, "gradient", 0), (deep.balance, 0, 0), (deep.balance, 1, 0)],
)  # fmt: skip
def test_both_sides_are_compared_both_ways(statement, name, rounded, off, monkeypatch):
    """An error of either sign is an error: each of these checks was once one-sided unnoticed. A
    gradient with a part along W, in one layer, adds or takes |w|^2, in every unit."""
    layer, name = (name, "autograd") if isinstance(name, int) else (None, name)
    right = getattr(deep, name)

    def wrong(*given):
        if layer is None:
            return right(*given) + off
        value, gradients = right(*given)
        pairs = enumerate(zip(gradients, given[0], strict=True))
        return value, [g + off * w * (k == layer) for k, (g, w) in pairs]

    monkeypatch.setattr(deep, name, wrong)
    report = falsify(statement(), seed=0, count=30, evaluations=0)
    assert sum(report.violations.values()) >= report.tried - rounded


def test_wrong_gradients_owe_another_drift(monkeypatch) -> None:
    def false(weights, X, Y):
        found = backpropagate(weights, X, Y)
        return replace(found, deltas=(1.01 * found.deltas[0], *found.deltas[1:]))

    monkeypatch.setattr(deep, "backpropagate", false)
    assert deep.descents(deep.three_layers(10, seed=8)).off.max() > 1e-6
