"""Any data, slides among them, over up to twelve decades: the flow of 100 digits, or a sentence.

What doubles cannot decide is said, and never guessed: before the singular vectors told where fitted
data are, one of ten flows of lengths over twelve decades ended elsewhere in silence.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reference_flow import NotTransversal, reference_flow
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow

WIDE = {
    "plain": lambda n, d: (0, 0),
    "lengths": lambda n, d: (n, 1),
    "entries": lambda n, d: (n, d),
}


def draw(seed: int, kind: str):
    """Data whose `kind` varies over twelve decades, labels of either sign, any start."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    X, y = rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n, p=[0.2, 0.8])
    if kind == "plain":
        return X, y * rng.uniform(0.2, 2.0, n), rng.normal(size=d)
    X *= 10.0 ** rng.uniform(-6.0, 6.0, WIDE[kind](n, d))
    y *= 10.0 ** rng.uniform(-6.0, 6.0, n)
    fit = float(np.linalg.norm(np.linalg.lstsq(X, y, rcond=None)[0])) or 1.0
    return X, y, fit * 10.0 ** rng.uniform(-8.0, 4.0) * rng.normal(size=d)


@pytest.mark.parametrize("kind", WIDE)
@settings(max_examples=15, suppress_health_check=[HealthCheck.filter_too_much])
@given(seed=st.integers(0, 10**6))
def test_any_data_go_as_in_100_digits_or_are_said_to_be_undecided(seed, kind) -> None:
    assume(follows(*draw(seed, kind)))


@pytest.mark.parametrize("seed", [0, 41, 50, 72, 205, 276, 381])
def test_flows_that_ended_elsewhere_in_silence(seed) -> None:
    assert follows(*draw(seed, "lengths"))


def follows(X, y, w0) -> bool:
    """Whether both decide; and then they agree."""
    path = affine_flow(X, y, w0, max_events=500)
    if not path.has_limit:
        assert path.detail
        return False
    try:
        exact = reference_flow(X, y, w0, digits=130)
    except NotTransversal:
        return False
    changes = [(e.datum, e.kind) for e in path.events]
    assert changes == list(zip(exact.data, exact.kinds, strict=True))
    times, end = np.array(exact.times, float), np.array(exact.end, float)
    np.testing.assert_allclose([e.t for e in path.events], times, rtol=1e-6)
    scale = np.linalg.norm(end) + 1e-15 * np.linalg.norm(w0)
    np.testing.assert_allclose(path.end, end, rtol=0, atol=1e-6 * scale)
    return True


def test_data_that_are_dependent_but_for_a_few_roundings_are_refused() -> None:
    X = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-47]])
    with pytest.raises(InputError, match="so nearly dependent that double precision cannot tell"):
        affine_flow(X, [1.0, 2.0], [1.0, 1.0])


def test_a_slide_whose_end_is_below_rounding_is_asked_of_rational_numbers() -> None:
    """In the end x_2 is pushed off with 1e-6, beside forces of 1e9."""
    rng = np.random.default_rng(709)
    n, d = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, (n, 1))
    y = 10.0 ** rng.uniform(-6, 6, n) * rng.choice([-1, 1], n, p=[0.2, 0.8])
    fit = np.linalg.norm(np.linalg.lstsq(X, y, rcond=None)[0])
    path = affine_flow(X, y, fit * 10.0 ** rng.uniform(-8, 4) * rng.normal(size=d))
    assert path.status == "non-unique"
    assert path.detail == "rounding hides how x_2 ends: undecided"
