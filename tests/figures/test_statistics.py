"""Intervals of shares and means, against SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.statistics import SURE, student_interval, wilson
from scipy.stats import binomtest, ttest_1samp

LEVELS = st.sampled_from([0.95, 0.999, 0.999999])


@given(st.integers(1, 400), LEVELS, st.data())
def test_wilsons_interval(n: int, level: float, data: st.DataObject) -> None:
    hits = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=3))
    known = [binomtest(k, n).proportion_ci(level, "wilson") for k in hits]
    assert np.transpose(wilson(hits, n, level)) == pytest.approx(np.array(known), abs=1e-12)
    assert [wilson(0, n)[0], wilson(n, n)[1], SURE] == [0.0, 1.0, 0.999999]


@pytest.mark.parametrize(("hits", "trials"), [(3, 2), (-1, 2), (0, 0)])
def test_counts_that_cannot_be(hits: int, trials: int) -> None:
    with pytest.raises(InputError, match="hits must lie"):
        wilson(hits, trials)


@given(
    st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=9).filter(lambda v: np.ptp(v) > 1e-3),
    LEVELS,
)
def test_students_interval(values: list[float], level: float) -> None:
    known = ttest_1samp(values, 0.0).confidence_interval(level)
    found = student_interval(np.array(values), level)
    assert found == pytest.approx((known.low, known.high), rel=1e-8, abs=1e-8)
