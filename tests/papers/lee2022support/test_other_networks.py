"""Other networks, the linear neuron and layers: Appendices B to E, evidence that can fail."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.falsify import falsify
from reluflow.papers.lee2022support import deep, linear


def test_linear_neuron_of_data() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]), np.array([3.0, -1.0, 2.0])
    for labels in (y, -y, y[::-1]):
        net = linear.linear_neuron(X, labels)
        assert np.all(net.c >= 0)
        assert np.allclose(net.vertices[[0, 3]], [np.zeros(2), np.linalg.lstsq(X, labels)[0]])
        assert np.allclose(net.g(net.vertices), 0.0, atol=1e-12)
        assert net.g(0.5 * net.minimum) == pytest.approx(-net.height)


def test_data_without_full_rank_have_no_linear_neuron() -> None:
    with pytest.raises(ValueError, match="rank d"):
        linear.linear_neuron([[1.0, 2.0]], [3.0])


def test_coordinates_that_can_be_nonnegative_are_found_so() -> None:
    three = np.random.default_rng(0).uniform(0.05, 1.0, (3, 5))
    found = linear.search_nonnegative(three, 0, 2000)
    assert found.min() >= 0.0
    assert np.allclose(found @ found.T, three @ three.T)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_a_flow_beside_the_span_is_seen_on_either_side(factor: float) -> None:
    item = {"A": np.eye(1), "B": np.ones((1, 2)), "y": np.ones(1), "w0": np.array([0.1, 0.1])}
    assert linear.flow_stays_along_span("linear", item) > -1e-12
    assert linear.flow_stays_along_span("linear", {**item, "planted": factor}) < -0.1


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
