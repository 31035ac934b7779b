"""Inner products by kind of pair, against two loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reluflow.papers.phuong2021inductive import setting
from reluflow.papers.phuong2021inductive.setting import ACROSS, MINUS, PLUS, left_out, pair_products

data = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        arrays(float, (n, 3), elements=st.integers(-3, 3).map(float)),
        arrays(float, n, elements=st.sampled_from([-1.0, 1.0])),
    )
)


def slow(X, y):
    """All pairs, one at a time."""
    found = {PLUS: [], MINUS: [], ACROSS: []}
    for i in range(len(y)):
        for j in range(i):
            kind = ACROSS if y[i] != y[j] else PLUS if y[i] > 0 else MINUS
            found[kind].append(sum(a * b for a, b in zip(X[i], X[j], strict=True)))
    return {kind: sorted(values) for kind, values in found.items()}


@given(data, st.integers(1, 5))
def test_all_pairs_one_at_a_time(drawn, rows):
    X, y = drawn
    before, setting._ROWS = setting._ROWS, rows
    try:
        found = pair_products(X, y)
    finally:
        setting._ROWS = before
    expect = slow(X, y)
    assert {kind: list(values) for kind, values in found.products.items()} == expect
    assert found.pairs == len(y) * (len(y) - 1) // 2
    assert found.zeros == sum(not x.any() for x in X)
    assert found.square == pytest.approx(np.mean([x @ x for x in X]))
    wrong = [v <= 0 for kind in (PLUS, MINUS) for v in expect[kind]]
    wrong += [v > 0 for v in expect[ACROSS]]
    assert found.violated == pytest.approx(sum(wrong) / len(wrong))
    for kind in (PLUS, MINUS):
        if expect[kind] and expect[ACROSS]:
            wins = [(a > b) + (a == b) / 2 for a in expect[kind] for b in expect[ACROSS]]
            assert found.right_of_across(kind) == pytest.approx(np.mean(wins))
    for kind, values in expect.items():
        if values and found.square:
            assert found.mean(kind) * found.square == pytest.approx(np.mean(values))


@pytest.mark.parametrize("scale", [1e-12, 1e6])
def test_units_change_nothing_but_the_unit(scale):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((60, 5)), rng.choice([-1.0, 1.0], 60)
    a, b = pair_products(X, y), pair_products(scale * X, y)
    assert b.square == pytest.approx(scale**2 * a.square)
    assert a.violated == b.violated
    levels = np.array([0.0, 0.3, 1.0])
    for kind in a.products:
        np.testing.assert_allclose(a.quantiles(kind, levels), b.quantiles(kind, levels))
        assert a.mean(kind) == pytest.approx(b.mean(kind))


@given(data, st.integers(1, 5))
def test_what_has_to_be_left_out_by_trying_all_subsets(drawn, rows):
    X, y = drawn
    before, setting._ROWS = setting._ROWS, rows
    try:
        low, high = left_out(X, y)
    finally:
        setting._ROWS = before
    n = len(y)

    def separable(kept):
        pairs = [(i, j, X[i] @ X[j]) for i in kept for j in kept if j <= i]
        return all(v > 0 if y[i] == y[j] else v <= 0 for i, j, v in pairs)

    least = min(out for out in range(n + 1) if any(map(separable, combinations(range(n), n - out))))
    assert low <= least <= high
    assert (high == 0) == separable(range(n))


def test_one_bad_datum_is_one_datum():
    X = np.abs(np.random.default_rng(0).standard_normal((9, 3)))
    y = np.repeat([1.0, -1.0], [5, 4])
    X *= y[:, None]
    assert left_out(X, y) == (0, 0)
    assert left_out(X, np.r_[-1.0, y[1:]]) == (1, 1)
