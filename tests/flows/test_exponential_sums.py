"""Zeros of sums of exponentials, against exact root counts of polynomials.

With integer rates, f(t) = a + sum_k b_k (1 - exp(-l_k t)) is a polynomial in z = exp(-t), and
Sturm's theorem in rational arithmetic counts its zeros in 0 < z < 1 without finding them.
"""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reluflow import exact
from reluflow.flows import exponential_sums

EXACT = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def zeros_in_z(a: int, b: dict[int, int]) -> tuple[sympy.Poly, int]:
    """a + sum b_k (1 - z^k) as a polynomial, and how many distinct zeros it has in 0 < z < 1."""
    p = {0: a + sum(b.values()), **{k: -v for k, v in b.items()}}
    return sympy.Poly.from_dict(p, sympy.Symbol("z")), exact.zeros_between(p, 0, 1)


def sign_after_zero(a: int, b: dict[int, int]) -> float:
    """Sign of f just after t = 0: of a, or of its first derivative that is not zero."""
    if a:
        return float(np.sign(a))
    for m in range(1, len(b) + 1):
        derivative = (-1) ** (m + 1) * sum(v * k**m for k, v in b.items())
        if derivative:
            return float(np.sign(derivative))
    raise AssertionError("the sum is zero")


def arrays(a: int, b: dict[int, int]):
    rates = np.array(sorted(b), float)
    row = np.array([[b[k] for k in sorted(b)]], float)
    return np.array([float(a)]), row, rates, np.array([sign_after_zero(a, b)])


def isolators(n_rates: int):
    """Every routine that promises all zeros, `rolle` where its tower is not too high."""
    found = {
        "zeros": exponential_sums.zeros,
        "bounds": lambda *args: exponential_sums.bounds(*args, first_only=False),
    }
    if n_rates <= exponential_sums.TOWER_LIMIT:
        found["rolle"] = exponential_sums.rolle
    return found


def sums_of(most: int, highest: int):
    return st.tuples(
        st.integers(-12, 12),
        st.dictionaries(
            st.integers(1, highest), st.integers(-9, 9).filter(bool), min_size=1, max_size=most
        ),
    )


def check_all_zeros(a: int, b: dict[int, int]) -> None:
    p, expected = zeros_in_z(a, b)
    assume(p.is_sqf)  # no multiple zero
    terms = {int(power): int(value) for (power,), value in p.terms()}
    for name, routine in isolators(len(b)).items():
        crossings = routine(*arrays(a, b)).crossings[0]
        crossings = crossings[np.isfinite(crossings)]
        assert len(crossings) == expected, name
        for z in (Fraction(float(np.exp(-t))) for t in crossings):
            width = Fraction(1, 10**7)
            assert exact.zeros_between(terms, z * (1 - width), z * (1 + width)) >= 1, name


@pytest.mark.parametrize(("most", "highest"), [(6, 8), (11, 14)])
@settings(EXACT, max_examples=40)
@given(data=st.data())
def test_every_zero_is_found(most, highest, data) -> None:
    check_all_zeros(*data.draw(sums_of(most, highest)))


@EXACT
@given(st.integers(2, 14), st.integers(10, 19), st.integers(1, 15), st.booleans())
def test_two_zeros_close_together_are_two(sixteenths, power, other, up) -> None:
    # (z - r)(z - r - gap)(z - s) in exact doubles; between the two close zeros f is about gap^2.
    assume(abs(other - sixteenths) > 1)
    r, gap, s = Fraction(sixteenths, 16), Fraction(1, 2**power), Fraction(other, 16)
    p = [Fraction(1 if up else -1)]
    for zero in (r, r + gap, s):
        p = [u - zero * v for u, v in zip([0, *p], [*p, 0], strict=True)]
    a, b = np.array([float(sum(p))]), np.array([[-float(v) for v in p[1:]]])
    assert sum(map(Fraction, p)) == Fraction(a[0])  # nothing was rounded
    for name, routine in isolators(3).items():
        found = routine(a, b, np.arange(1.0, 4), np.sign(a)).crossings[0]
        expected = np.sort([-log(z) for z in (r, r + gap, s)])
        assert np.isfinite(found).sum() == 3, name
        np.testing.assert_allclose(found[np.isfinite(found)], expected, atol=1e-6)


@pytest.mark.parametrize("gap", [0.0, 2.0**-28])
@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_double_zero_is_never_stepped_over(gap, up) -> None:
    # up * (z - 1/2)(z - 1/2 - gap): f and its two zeros, if two they are, within rounding.
    rates = np.array([1.0, 2.0])
    p = up * np.array([0.25 + 0.5 * gap, -1.0 - gap, 1.0])
    for name, routine in isolators(2).items():
        found = routine(np.array([p.sum()]), -p[None, 1:], rates, np.array([up]))
        times = np.concatenate([found.crossings[0], found.touches[0]])
        times = times[np.isfinite(times)]
        assert len(times) >= 1, name
        np.testing.assert_allclose(times, log(2.0), atol=1e-6, err_msg=name)


@EXACT
@given(sums_of(4, 6), sums_of(4, 6), sums_of(4, 6))
def test_the_first_zero_is_the_first_of_all(one, two, three) -> None:
    # Three sums at once: the earliest zero among them is that of the three taken alone.
    cases = (one, two, three)
    rates = np.array(sorted(set().union(*(c[1] for c in cases))), float)
    assume(len(rates) <= exponential_sums.TOWER_LIMIT)
    a = np.array([float(c[0]) for c in cases])
    b = np.array([[c[1].get(int(k), 0) for k in rates] for c in cases], float)
    sign0 = np.array([sign_after_zero(*c) for c in cases])
    alone = []
    for c in cases:
        assume(zeros_in_z(*c)[0].is_sqf)
        alone.append(exponential_sums.zeros(*arrays(*c)).crossings.min(initial=np.inf))
    for routine in (
        exponential_sums.first_zeros,
        lambda *args: exponential_sums.bounds(*args, first_only=True),
        lambda *args: exponential_sums.rolle(*args, first_only=True),
    ):
        found = routine(a, b, rates, sign0).crossings
        assert found.min(initial=np.inf) == pytest.approx(min(alone), rel=1e-12)
        # The same sum has it: no other claims an earlier one.
        if np.isfinite(min(alone)):
            assert found[int(np.argmin(alone))].min() == pytest.approx(min(alone), rel=1e-12)


def alternating_sums(decades: int, count: int, seed: int):
    """Sums whose rates span so many decades; every other one has weights of alternating signs, so
    that zeros are many and the limits of the derivatives small against their terms. A fifth of them
    begin next to zero, and a fifth have rates next to each other."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        r = int(rng.integers(2, exponential_sums.TOWER_LIMIT + 1))
        exponents = np.sort(rng.uniform(0.0, decades, r))
        exponents[0], exponents[-1] = 0.0, decades
        if k % 5 == 0:
            exponents[1:] = np.log10(1.0 + np.sort(10.0 ** rng.uniform(-10, -1, r - 1)))
        a, b = rng.standard_normal(1), rng.standard_normal((1, r))
        if k % 2:
            b = np.abs(b) * rng.choice([-1.0, 1.0]) * (-1.0) ** np.arange(r)
            a = -0.3 * np.sign(b[:, -1]) * np.abs(a)
        if k % 5 == 1:
            a *= 10.0 ** rng.uniform(-300, -5)
        yield a, b, 10.0**exponents, np.sign(a)


@pytest.mark.parametrize("decades", range(1, 9))
def test_tower_and_bounds_agree_however_stiff_the_sum(decades) -> None:
    for k, problem in enumerate(alternating_sums(decades, 40, seed=decades)):
        expected = exponential_sums.bounds(*problem, first_only=False).crossings[0]
        found = exponential_sums.rolle(*problem).crossings[0]
        found, expected = found[np.isfinite(found)], expected[np.isfinite(expected)]
        # Late zeros of what has all but faded, where rates are next to each other, are rounding.
        last = 1 if k % 5 == 0 else None
        np.testing.assert_allclose(found[:last], expected[:last], rtol=1e-6)
        first = exponential_sums.rolle(*problem, first_only=True).crossings.min()
        assert first == pytest.approx(min(expected, default=np.inf), rel=1e-6)


def test_the_limit_of_a_derivative_is_not_drowned_by_fast_terms() -> None:
    # The limits -0.03 and -2.3 of the two derivatives against terms of 1e9 and 1e18.
    a, b = np.array([0.3814488]), np.array([[-0.03098588, 1.61260799, -0.94567505]])
    rates = np.array([1.0, 1.80441991, 1e9])
    found = exponential_sums.rolle(a, b, rates, np.array([1.0])).crossings[0]
    np.testing.assert_allclose(found[:2], [5.1644369e-10, 0.24217319], rtol=1e-7)
    near = found[:2] * np.array([[1.0 - 1e-6], [1.0 + 1e-6]])
    values = [sum(b[0] * -np.expm1(-rates * t)) + a[0] for t in near.ravel()]
    assert np.sign(values).tolist() == [1.0, -1.0, -1.0, 1.0]
    # Past the fast term exp(t) f'(t) is -0.03 + 2.9 exp(-0.8 t): its own zero has all its digits.
    da, db, drates, dlimit = exponential_sums.derivative(b, rates)
    late = exponential_sums.rolle(da, db, drates, np.sign(da), limit=dlimit).crossings[0].tolist()
    expected = log(-b[0, 1] * rates[1] / b[0, 0]) / (rates[1] - rates[0])
    assert min(abs(t / expected - 1.0) for t in late) < 1e-12


def test_a_zero_right_after_the_start_keeps_its_digits() -> None:
    # f = -c + 3 (1 - exp(-2t)) with tiny c: t = c/6 to many digits, where 3 - c would be 3.
    for c in (1e-300, 1e-100, 1e-20):
        for routine in (
            exponential_sums.rolle,
            exponential_sums.bounds,
            exponential_sums.first_zeros,
        ):
            b = np.array([[3.0, 0.0]])
            found = routine(np.array([-c]), b, np.array([2.0, 5.0]), np.array([-1.0]))
            assert found.crossings.min() == pytest.approx(c / 6, rel=1e-12)


def test_no_exponentials_or_no_sums() -> None:
    for routine in (
        exponential_sums.zeros,
        exponential_sums.first_zeros,
        exponential_sums.bounds,
        exponential_sums.rolle,
    ):
        still = routine(np.ones(3), np.zeros((3, 0)), np.zeros(0), np.ones(3))
        assert still.crossings.shape == still.touches.shape == (3, 0)
        none = routine(np.zeros(0), np.zeros((0, 8)), np.arange(1.0, 9), np.zeros(0))
        assert len(none.crossings) == 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_zero_in_the_limit_only_is_none(sign) -> None:
    # The slow amplitude is rounding: whether f crosses, far out in its tail, cannot be told.
    a = sign * np.array([1584.01937466])
    b = sign * np.array([[1.44852309e-12, -1584.01937466]])
    with np.errstate(all="raise", under="ignore"):
        found = exponential_sums.rolle(a, b, np.array([56.0, 170.0]), np.array([sign]))
    assert np.isinf(found.crossings).all()


@pytest.mark.parametrize("r", [2, 3, 8])
@pytest.mark.parametrize("noise", [0.0, 1e-18, -1e-18, 3e-16, -3e-16, 1e-13, -1e-13])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_tangential_start_is_no_zero(r, noise, sign) -> None:
    # f(0) = 0 and f'(0) = 0 but for rounding, f''(0) has the given sign: as where sliding ends.
    # f = sign * ((1 - e^-t) 2 - (1 - e^-2t)) = sign * (1 - e^-t)^2 > 0, and rates without weight.
    b = np.zeros((1, r))
    b[0, :2] = sign * np.array([2.0 + noise, -1.0])
    rates = np.arange(1.0, r + 1)
    for name, routine in isolators(r).items():
        found = routine(np.zeros(1), b, rates, np.array([sign]))
        assert np.isinf(found.crossings).all(), name
        assert np.isinf(found.touches).all(), name


def test_a_touch_before_a_crossing_changes_no_sign() -> None:
    """(z - 1/2)^2 (z - 1/4): the first critical point is a touch, and the sum ends below 0."""
    p = np.array([-1 / 16, 1 / 2, -5 / 4, 1.0])
    found = exponential_sums.rolle(
        p.sum(keepdims=True), -p[None, 1:], np.array([1.0, 2.0, 3.0]), np.ones(1)
    )
    crossings = found.crossings[0]
    np.testing.assert_allclose(crossings[np.isfinite(crossings)], [log(4.0)], rtol=1e-9)
