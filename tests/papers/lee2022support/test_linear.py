"""Appendices D and E, Lemma F.10, Theorem F.11: closed forms, exact counts, slow loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support import linear

RING = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])


def test_linear_neuron_of_data() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]), np.array([3.0, -1.0, 2.0])
    for labels in (y, -y, y[::-1]):
        net = linear.linear_neuron(X, labels)
        assert np.all(net.c >= 0)
        assert np.allclose(net.vertices[[0, 3]], [np.zeros(2), np.linalg.lstsq(X, labels)[0]])
        assert np.allclose(net.g(net.vertices), 0.0, atol=1e-12)
        assert net.g(0.5 * net.minimum) == pytest.approx(-net.height)
    with pytest.raises(ValueError, match="rank d"):
        linear.linear_neuron(X[:1], y[:1])


def test_late_states_agree_with_the_flow_at_any_rank() -> None:
    rng = np.random.default_rng(3)
    for full in (True, False):
        for draw in linear.factored_draws(full).values():
            item = draw(rng)
            X, y = linear.data_of(item)
            assert (np.linalg.matrix_rank(X) == X.shape[1]) == full
            slowest = np.linalg.svd(X, compute_uv=False)[np.linalg.matrix_rank(X) - 1] ** 2
            path = affine_flow(X, y, item["w0"], "linear")
            state = linear.late(X, y, item["w0"], decays=2.0)
            assert np.allclose(path.at(2.0 / slowest), state, atol=1e-8)


def test_the_ring_has_no_nonnegative_coordinates_and_smaller_data_have() -> None:
    assert linear.search_nonnegative(RING, 0, 2000).min() < -0.05
    assert [linear.supports_exist(RING, width) for width in (3, 4)] == [False, True]
    three = np.random.default_rng(0).uniform(0.05, 1.0, (3, 5))
    found = linear.search_nonnegative(three, 0, 2000)
    assert found.min() >= 0.0
    assert np.allclose(found @ found.T, three @ three.T)
    X = np.array([[1.0, 0, 1, 0], [0, 1.0, 0, 1], [1, 2, 1, 2]])
    Z = linear.plane_coordinates(X)
    assert np.allclose(Z @ Z.T, X @ X.T)
    assert Z.min() >= -1e-12


def test_alternation_agrees_with_all_choices_of_values() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        f, k = rng.normal(size=7), int(rng.integers(1, 5))
        slow = {
            first: max(
                min(first * (-1) ** step * v for step, v in enumerate(chosen))
                for chosen in combinations(f, k)
            )
            for first in (1, -1)
        }
        slow[None] = max(slow.values())
        for first, depth in slow.items():
            found = linear.alternation(f, k, first)
            assert found == depth if depth > 0.0 else found <= 0.0
    f = np.array([1.0, -0.25, 0.5, -1e-3, 1.0])  # what is rounding has no sign
    assert linear.share_of_alternation(f, 1e-2, 3) == 0.25
    assert linear.share_of_alternation(f, 1e-2, 4) <= 0.0
    assert linear.share_of_alternation(f, 1e-4, 5) == 1e-3
    assert np.isnan(linear.share_of_alternation(f, 1.0, 2))


def test_rounding_is_no_crossing() -> None:
    # q is an eigenvector of H, so the flow from 0 is a straight line, and the hyperplane through
    # two of its points contains it: v.w(t) - c is nothing but rounding.
    line = {"X": np.array([[2.0, 3.0], [1.0, 0.0], [2.0, 0.0]]), "y": np.array([5.0, 1.0, 2.0]),
            "w0": np.zeros(2), "places": np.array([0.2, 0.7])}  # fmt: skip
    flow = linear.spectrum(line["X"], line["y"], line["w0"])
    v, c = linear.through(flow.at(np.array([0.01, 1.0])))
    f = flow.at(flow.times(300)) @ v - c
    assert 0.0 < np.abs(f).max() <= flow.rounding(v, c) < 1e-13
    statement = linear.crossings_bound(2)
    assert np.isnan(statement.slack(line))
    # One sign change less than the limit is found all the same, on a flow that is bent.
    bent = {**line, "y": np.array([5.0, 1.0, 6.0])}
    assert linear.crossings_bound(2, most=1).broken_by(bent)
    assert not statement.broken_by(bent)


def test_spectrum_is_the_linear_flow() -> None:
    rng = np.random.default_rng(2)
    problem = rng.uniform(size=(4, 3)), rng.uniform(size=4), rng.normal(size=3)
    t = np.array([0.0, 0.3, 2.0, 50.0])
    expected = affine_flow(*problem, "linear").at(t)
    assert np.allclose(linear.spectrum(*problem).at(t), expected, atol=1e-9)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_a_flow_beside_the_span_is_seen_on_either_side(factor: float) -> None:
    item = {"A": np.eye(1), "B": np.ones((1, 2)), "y": np.ones(1), "w0": np.array([0.1, 0.1])}
    assert linear.flow_stays_along_span("linear", item) > -1e-12
    assert linear.flow_stays_along_span("linear", {**item, "planted": factor}) < -0.1
