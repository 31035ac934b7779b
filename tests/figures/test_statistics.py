"""Intervals of shares and means, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.statistics import SURE, student_interval, wilson
from scipy.stats import binomtest, norm


@given(st.integers(1, 400), st.data())
def test_wilsons_interval(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    known = binomtest(k, n).proportion_ci(0.95, "wilson")
    assert wilson(k, n) == pytest.approx((known.low, known.high), abs=1e-12)


def test_intervals_of_several_shares_and_of_another_level() -> None:
    low, _ = wilson([9, 5, 0], 10)
    assert low[2] == 0.0
    assert wilson(5, 10, 0.999)[0] < low[1]


def test_what_decides_misses_once_in_a_million() -> None:
    z = norm.isf(0.5e-6)
    assert wilson(0, 100, SURE)[1] == pytest.approx(z**2 / (100 + z**2))


@pytest.mark.parametrize(("hits", "trials"), [(3, 2), (-1, 2), (0, 0)])
def test_counts_that_cannot_be(hits: int, trials: int) -> None:
    with pytest.raises(InputError, match="hits must lie"):
        wilson(hits, trials)


def test_students_interval() -> None:
    low, high = student_interval(np.array([1.0, 2.0, 3.0]), 0.95)
    assert (low + high, high - low) == pytest.approx((4.0, 2 * 4.302652729911275 / 3**0.5))
    wider = student_interval(np.array([1.0, 2.0, 3.0]), 0.999)
    assert wider[0] < low < high < wider[1]
