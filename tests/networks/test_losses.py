"""The losses, plain and in the log domain."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, TWICE_LOGISTIC, Loss, scaled

LOSSES = (SQUARE, EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, scaled(EXPONENTIAL, 0.25))
PLAIN = {
    "square": lambda z, y: (z - y) ** 2 / 2,
    "exponential": lambda z, y: mpmath.exp(-y * z),
    "logistic": lambda z, y: mpmath.log1p(mpmath.exp(-y * z)),
    "2 logistic": lambda z, y: 2 * mpmath.log1p(mpmath.exp(-y * z)),
    "0.25 exponential": lambda z, y: mpmath.exp(-y * z) / 4,
}
numbers = st.lists(st.floats(-30.0, 30.0), min_size=1, max_size=5)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@settings(max_examples=25)
@given(z=numbers, label=st.sampled_from([-2.0, -1.0, 1.0]))
def test_values_and_derivatives_are_those_of_the_formula(loss, z, label) -> None:
    y = np.full(len(z), label)
    with mpmath.workdps(60):
        total, slopes, bends = (
            [mpmath.diff(lambda s: PLAIN[loss.name](s, label), mpmath.mpf(a), k) for a in z]
            for k in range(3)
        )
        whole, slopes = mpmath.fsum(total), [-s for s in slopes]
        shares = [[float(v / whole) for v in each] if whole else [] for each in (slopes, bends)]
    assert loss.value(np.array(z), y) == pytest.approx(float(whole), rel=1e-12, abs=1e-300)
    for found, expected, share in ((loss.pull, slopes, shares[0]), (loss.bend, bends, shares[1])):
        exact = [float(v) for v in expected]
        np.testing.assert_allclose(found(np.array(z), y), exact, rtol=1e-10)
        if whole:
            relative = found(np.array(z), y, loss.log_value(np.array(z), y))
            np.testing.assert_allclose(relative, share, rtol=1e-9)


@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC], ids=lambda loss: loss.name)
def test_losses_that_no_float_can_hold_keep_their_logarithm(loss: Loss) -> None:
    z, y = np.array([1e6, -2e6, 1e6 + 1.0]), np.array([1.0, -1.0, 1.0])
    assert loss.value(z, y) == 0.0
    assert loss.log_value(z, y) == pytest.approx(-1e6 + np.log1p(np.exp(-1.0)), rel=1e-15)
    shares = np.array([1.0, 0.0, np.exp(-1.0)]) / (1.0 + np.exp(-1.0))
    for slopes in (loss.pull, loss.bend):
        np.testing.assert_allclose(slopes(z, y, loss.log_value(z, y)), shares, rtol=1e-9)


def test_a_factor_is_a_positive_number() -> None:
    for factor in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="positive number"):
            scaled(LOGISTIC, factor)
