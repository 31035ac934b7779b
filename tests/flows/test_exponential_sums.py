"""Zeros of sums of exponentials, against all zeros in many digits, and in closed form."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.typing import NDArray
from reference_flow import zeros_of
from reluflow.flows.exponential_sums import Sums, plain, zeros

MANY = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 10**6)


def found(a: float, b, rates, sign: float | None = None) -> tuple[NDArray, NDArray]:
    """Crossings and touches of one sum."""
    start = np.array([np.sign(a) if sign is None else sign])
    each = zeros(plain(np.array([a]), np.array([b], float), np.array(rates)), start)
    return each.t[each.crosses], each.t[~each.crosses]


def wanted(a: float, b, rates) -> list[float]:
    """All crossings, in many digits."""
    with mp.workdps(80):
        b = [mpf(float(v)) for v in b]
        terms = zip(map(float, rates), [-v for v in b], strict=True)
        return [float(t) for t, _ in zeros_of(mpf(a) + mp.fsum(b), terms)]


KINDS = ("eight decades on either side", "alternating", "from next to zero", "next to each other",
         "whole")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@settings(MANY, max_examples=20)
@given(seed=SEEDS)
def test_every_zero_is_found(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, 7))
    rates = np.sort(10.0 ** rng.uniform(-8.0, 8.0, r))
    a, b = rng.normal(), rng.normal(size=r)
    if kind == "next to each other":
        rates = 1.0 + np.sort(10.0 ** rng.uniform(-9.0, -1.0, r))
    elif kind == "alternating":
        b = np.abs(b) * (-1.0) ** np.arange(r)
        a = -0.3 * np.sign(b[-1]) * abs(a)
    elif kind == "from next to zero":
        a *= 10.0 ** rng.uniform(-30.0, -5.0)
    elif kind == "whole":  # polynomials in exp(-t)
        rates = 1.0 + np.sort(rng.permutation(14)[: rng.integers(1, 12)])
        a, *b = rng.choice([-1.0, 1.0], len(rates) + 1) * rng.integers(1, 10, len(rates) + 1)
    crossings, touches = found(a, b, rates)
    assert len(touches) == 0
    np.testing.assert_allclose(crossings, wanted(a, b, rates), rtol=1e-7)


@MANY
@given(st.integers(2, 14), st.integers(10, 60), st.integers(1, 15), st.booleans())
def test_a_double_zero_is_two_crossings_or_a_touch(sixteenths, power, other, up) -> None:
    """(z - r)(z - r - gap)(z - s): between the two close zeros f is about gap^2. A gap up to 2^-19
    rounds nothing, and a smaller one is as good as none."""
    assume(abs(other - sixteenths) > 1)
    r, gap, s = Fraction(sixteenths, 16), Fraction(1, 2**power), Fraction(other, 16)
    p = [Fraction(1 if up else -1)]
    for zero in (r, r + gap * (power < 20), s):
        p = [u - zero * v for u, v in zip([0, *p], [*p, 0], strict=True)]
    crossings, touches = found(float(sum(p)), [-float(v) for v in p[1:]], np.arange(1.0, 4.0))
    if power < 20:
        assert len(touches) == 0
        np.testing.assert_allclose(crossings, np.sort([-log(z) for z in (r, r + gap, s)]), 1e-6)
    else:
        np.testing.assert_allclose(crossings, [-log(s)], rtol=1e-9)
        np.testing.assert_allclose(touches, -log(r), rtol=1e-6)
        assert len(touches) > 0


@MANY
@given(SEEDS, st.floats(0.0, 3.0))
def test_many_sums_are_as_each_alone_and_nothing_is_past_the_end(seed, until) -> None:
    rng = np.random.default_rng(seed)
    m, r = int(rng.integers(0, 6)), int(rng.integers(0, 10))
    a, b, rates = rng.normal(size=m), rng.normal(size=(m, r)), rng.uniform(0.1, 9.0, r)
    many = zeros(plain(a, b, rates), np.sign(a), until)
    for j in range(m):
        alone, _ = found(a[j], b[j], rates)
        mine = many.t[(many.row == j) & many.crosses]
        np.testing.assert_allclose(mine, alone[alone <= until], 1e-9)


def test_a_zero_right_after_the_start_keeps_its_digits() -> None:
    # f = -c + 3 (1 - exp(-2t)) with tiny c: t = c/6 to many digits, where 3 - c would be 3.
    for c in (1e-300, 1e-100, 1e-20):
        (crossing,), _ = found(-c, [3.0, 0.0], [2.0, 5.0])
        assert crossing == pytest.approx(c / 6, rel=1e-12, abs=0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_zero_in_the_limit_only_is_none(sign) -> None:
    # The slow amplitude is rounding: whether f crosses, far out in its tail, cannot be told.
    b = sign * np.array([1.44852309e-12, -1584.01937466])
    with np.errstate(all="raise", under="ignore"):
        crossings, _ = found(sign * 1584.01937466, b, [56.0, 170.0])
    assert len(crossings) == 0


@pytest.mark.parametrize("r", [2, 3, 8])
@pytest.mark.parametrize("noise", [0.0, 1e-18, -1e-18, 3e-16, -3e-16, 1e-13, -1e-13])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_tangential_start_is_no_zero(r, noise, sign) -> None:
    # f(0) = 0 and f'(0) = 0 but for rounding, f''(0) has the given sign: as where sliding ends.
    # f = sign * ((1 - e^-t) 2 - (1 - e^-2t)) = sign * (1 - e^-t)^2 > 0, and rates without weight.
    b = np.zeros(r)
    b[:2] = sign * np.array([2.0 + noise, -1.0])
    crossings, touches = found(0.0, b, np.arange(1.0, r + 1), sign)
    assert len(crossings) == len(touches) == 0


@pytest.mark.parametrize("apart", [1e-15, 1e-9])
def test_a_sum_that_stays_at_zero_to_rounding_claims_no_crossing(apart) -> None:
    """Weights that cancel on rates that are next to equal, as of a datum at rest on its boundary:
    nothing is claimed of what is rounding alone for a long time, and it takes no time to say so."""
    crossings, _ = found(0.0, [1.0, -2.0, 1.0], 1.0 + apart * np.arange(3), 1.0)
    assert len(crossings) == 0


def test_a_sign_that_an_error_may_have_made_crosses_nothing() -> None:
    a, b, rates, limit = np.array([1.0]), np.array([[-2.0]]), np.array([1.0]), np.array([-1.0])
    for error, crossings in ((0.0, [np.log(2.0)]), (1.1, [])):
        errors = np.array([error]), np.zeros((1, 1)), np.array([error])
        found = zeros(Sums(a, b, rates, limit, errors), np.array([1.0]))
        np.testing.assert_allclose(found.t[found.crosses], crossings, rtol=1e-15)
