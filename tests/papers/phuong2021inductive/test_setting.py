"""The data of Section 5.1 of Phuong & Lampert 2021; inner products by kind, against two loops."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
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
@settings(max_examples=30)
def test_all_pairs_one_at_a_time(drawn, rows):
    X, y = drawn
    X, y = np.vstack([X, np.eye(4, 3)]), np.r_[y, 1.0, 1.0, -1.0, -1.0]
    with patch.object(setting, "_ROWS", rows):
        found = pair_products(X, y)
    expect = slow(X, y)
    assert found.square == pytest.approx(np.mean([x @ x for x in X]), rel=1e-5)
    for kind, values in expect.items():
        assert found.pairs[kind] == len(values)
        assert found.violations[kind] == sum(v > 0 if kind == ACROSS else v <= 0 for v in values)
        assert found.means[kind] * found.square == pytest.approx(np.mean(values), rel=1e-4)
        bins = found.square * np.linspace(*found.edges, 81)
        inside = sum(bins[0] - 4e-4 <= v <= bins[-1] + 4e-4 for v in values)
        assert sum(found.counts[kind]) == inside
    for kind in (PLUS, MINUS):
        wins = [(a > b) + (a == b) / 2 for a in expect[kind] for b in expect[ACROSS]]
        assert found.right[kind] == pytest.approx(np.mean(wins), rel=1e-5)
    least, most = (f(np.quantile(v, q) for v in expect.values()) / found.square
                   for f, q in ((min, 0.001), (max, 0.999)))  # fmt: skip
    assert found.edges == pytest.approx([least, most], rel=1e-4, abs=1e-9)
    assert found.number == sum(map(len, expect.values()))


@given(data, st.integers(1, 5))
@settings(max_examples=30)
def test_what_has_to_be_left_out_by_trying_all_subsets(drawn, rows):
    X, y = drawn
    with patch.object(setting, "_ROWS", rows):
        low, high = left_out(X, y)
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
