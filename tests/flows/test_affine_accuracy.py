"""`affine_flow` against the 50-digit reference: events, their times, the path and its limit.

Targets: 1e-12 relative on the paper's data and on well-conditioned random instances, 1e-9 at
cond(H) = 1e8. The list of events (datum, kind) must agree exactly, its order included.
"""

import numpy as np
import pytest
from mpmath import mpf
from reference_flow import ReferenceFlow, assert_same, reference_flow
from reluflow.datasets import load
from reluflow.flows.affine import affine_flow

RELU_AND_LINEAR = pytest.mark.parametrize("activation", ["relu", "linear"])


def assert_agrees(X, y, w0, activation: str, tolerance: float) -> ReferenceFlow:
    """Hold the library's flow against the reference, which is returned."""
    expected = reference_flow(X, y, w0, activation)
    flow = affine_flow(X, y, w0, activation=activation)
    assert flow.status == "converged", flow.detail
    assert len({e.t for e in flow.events}) == len(set(expected.times))
    assert_same(flow, expected, tolerance)
    far = max(np.linalg.norm(w0), np.linalg.norm(flow.end))
    for t in [event.t for event in flow.events]:
        # Evaluated at the double t, so that the error of the event's time does not enter.
        w = np.array(expected.at(mpf(t)), float).ravel()
        scale = max(np.linalg.norm(w), far)
        np.testing.assert_allclose(flow.at(t), w, rtol=0, atol=tolerance * scale)
    return expected


def worst_condition(flow: ReferenceFlow) -> float:
    """Return the largest cond(H), on the range of H, over the cells that the flow visits."""
    return max(float(max(s.rates) / min(s.rates)) for s in flow.segments if s.rates)


STARTS_1 = [(1e-4, 1e-4), (0, 8), (0, 45), (-0.05, 0.15), (0.1, -0.1), (-0.15, 0.15), (-0.25, 0.02),
            (0.01, -0.1), (0.1, -0.2), (0.17, 0.1)]  # fmt: skip
STARTS = [(5e-5, 2.5e-5, 7.5e-5), (9e-5, 1e-5, 3e-5), (5e-6, 8e-5, 4e-5), (1, 2, -1.5), (-3, 5, 2)]
PAPER = [*(("example-5.1", w0) for w0 in STARTS_1),
         *((f"example-5.{k}", w0) for k in (2, 3) for w0 in STARTS)]  # fmt: skip


@RELU_AND_LINEAR
@pytest.mark.parametrize(("name", "w0"), PAPER)
def test_the_papers_examples(name, w0, activation):
    data = load(name)
    assert_agrees(data.X, data.y, np.array(w0, float), activation, 1e-12)


# Random data, well-conditioned.


def random_data(seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(2, 5))
    return rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n), rng


@RELU_AND_LINEAR
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", [0, 4, 18, 52])
def test_random_data(seed, size, activation):
    X, y, rng = random_data(seed)
    expected = assert_agrees(X, y, size * rng.normal(size=X.shape[1]), activation, 1e-12)
    assert worst_condition(expected) < 1e3


@RELU_AND_LINEAR
@pytest.mark.parametrize("seed", [5, 14, 18, 26])
def test_parallel_data_cross_together(seed, activation):
    X, y, rng = random_data(seed)
    X = np.vstack([X, 2.0 * X[0], -X[1], X[2], -0.5 * X[0]])
    y = np.append(y, rng.uniform(0.2, 2.0, 4))
    flow = assert_agrees(X, y, 3.0 * rng.normal(size=X.shape[1]), activation, 1e-12)
    assert len(set(flow.times)) < len(flow.times)


@pytest.mark.parametrize("power", [20, 34, 46])
def test_a_crossing_so_slow_that_the_velocity_nearly_vanishes(power):
    # w = (1 - exp(-t)/2, -1 + 2^-power), so x_2 is reached at the speed 2^-power. Its time depends
    # on rounding errors through 1/speed, and is the only number with a wider tolerance.
    X, y = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 1.0])
    flow = affine_flow(X, y, np.array([0.5, -1.0 + 2.0**-power]))
    assert flow.status == "converged"
    ((t, j, kind),) = [(e.t, e.datum, e.kind) for e in flow.events]
    assert (j, kind) == (1, "activate")
    assert abs(t - (power - 1) * np.log(2.0)) <= 1e-14 + 1e-15 * 2.0**power
    np.testing.assert_allclose(flow.end, [1.0, 0.0], rtol=0, atol=1e-12)


def test_a_crossing_slower_than_the_rounding_of_its_force():
    # x_5.w leaves at 1e-7, beside forces of 1e6: where it does, only its side of coming tells how
    # it goes on.
    X = np.array([[8.7e-4, 6.1e-4, 2.0e-4], [1.0, 0.93, 0.84], [490.0, 920.0, 1200.0],
                  [2.3e-4, 8.6e-6, 6.9e-5], [1.5e-5, 3.2e-5, 2.3e-5]])  # fmt: skip
    y = np.array([4.5e-5, 1.5e5, 3e3, 2.5e-4, 1.6e-6])
    assert_agrees(X, y, np.array([0.051, -0.025, -0.036]), "relu", 1e-9)


# cond(H) = 1e8: X = U diag(s) V^T with s from 1 to 1e-4.


def ill_conditioned(seed: int, labels: str) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Data with cond(H) = 1e8.

    "generic" labels, positive, put the limit at a length near 1e4. "residual" ones, positive too,
    have a limit of moderate length and a residual of length 1. "wide residual" ones have a residual
    three times as long as X w, and either sign: there rounding errors in X alone, times cond(H),
    move the limit by more than the tolerance, and a plain SVD misses it.
    """
    rng = np.random.default_rng(seed)
    n, d = [(6, 3), (8, 4)][seed % 2]
    M = rng.normal(size=(n, n))
    M[:, 0] = rng.uniform(0.5, 1.5, n)
    U = np.linalg.qr(M)[0]
    U[:, 0] *= np.sign(U[0, 0])
    V = np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = (U[:, :d] * np.geomspace(1.0, 1e-4, d)) @ V.T
    if labels == "generic":
        return X, rng.uniform(0.2, 2.0, n), rng
    residual = U[:, d:] @ rng.normal(size=n - d)
    residual /= np.linalg.norm(residual)
    if labels == "wide residual":
        return X, X @ V @ np.ones(d) + 3.0 * residual, rng
    return X, X @ V @ np.append(3.0 * np.sqrt(n), np.ones(d - 1)) + residual, rng


@RELU_AND_LINEAR
@pytest.mark.parametrize("size", [1e-3, 1e3])
@pytest.mark.parametrize("labels", ["generic", "residual"])
@pytest.mark.parametrize("seed", [1, 2])
def test_condition_number_of_1e8(seed, labels, size, activation):
    X, y, rng = ill_conditioned(seed, labels)
    w0 = size * rng.normal(size=X.shape[1])
    w0 *= np.sign(X[0] @ w0)  # not a dead start
    expected = assert_agrees(X, y, w0, activation, 1e-9)
    assert worst_condition(expected) > 0.9e8


@pytest.mark.parametrize("seed", [1, 2, 5, 7])
def test_condition_number_of_1e8_with_a_wide_residual(seed):
    X, y, rng = ill_conditioned(seed, "wide residual")
    expected = assert_agrees(X, y, rng.normal(size=X.shape[1]), "linear", 1e-9)
    assert worst_condition(expected) > 0.9e8


# Features in different units: columns of very different size. Whatever their ratio, no direction is
# taken for rounding, and no digits are lost.


@RELU_AND_LINEAR
@pytest.mark.parametrize("decades", [8, 16])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_columns_in_different_units(seed, decades, activation):
    rng = np.random.default_rng(seed)
    units = 10.0 ** np.array([0.0, -decades, -decades / 2.0])
    X, y = rng.normal(size=(6, 3)) * units, rng.uniform(0.2, 2.0, 6)
    w0 = rng.normal(size=3) / units
    expected, flow = reference_flow(X, y, w0, activation), affine_flow(X, y, w0, activation)
    assert_same(flow, expected, 1e-12)
    # Each weight is large as its column is small, and right to 1e-12 of its own size.
    np.testing.assert_allclose(flow.end, np.array(expected.end, float), 1e-12)


ACROSS, ALONG = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
BEGIN = 1e-9 * (ACROSS + ALONG), np.array([1e-3, 1e3]), np.array([1e-8, 1e-7, 1e-6, 1e-5]), 1e-12
FAR = 1e6 * ACROSS + 2.0 * ALONG, np.array([1e3, 1e-3]), np.array([1e6]), 1e-9


@RELU_AND_LINEAR
@pytest.mark.parametrize(("w0", "y", "times", "tolerance"), [BEGIN, FAR])
def test_a_fit_keeps_its_digits_beside_one_a_million_times_as_far(
    w0, y, times, tolerance, activation
):
    """Rates 1e6 and 1e-6. The difference to a limit that is a million away tells the near fit to
    1e-10; its force does better. A start far along the slow direction leaves the force without
    digits, and its limit does better."""
    X = np.array([1e3 * ACROSS, 1e-3 * ALONG])
    exact = reference_flow(X, y, w0, activation)
    for t, w in zip(times, affine_flow(X, y, w0, activation).at(times), strict=True):
        known = np.array(exact.at(mpf(t)), float).ravel()
        assert np.linalg.norm(w - known) <= tolerance * np.linalg.norm(known)
