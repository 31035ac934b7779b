"""Appendices B and C: evidence that can fail."""

from __future__ import annotations

import pytest
from reluflow.falsify import falsify
from reluflow.papers.lee2022support import deep


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
    layer, name = (name, "by_complex_steps") if isinstance(name, int) else (None, name)
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
