"""The next contact of a flow, against a search among all data and against real data."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reluflow.flows import affine
from reluflow.flows import segment as segments
from reluflow.flows.affine import affine_flow
from reluflow.flows.exponential_sums import zeros
from reluflow.flows.segment import Data, Moment, products_of, segment
from threadpoolctl import threadpool_info, threadpool_limits

FEW = settings(suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 10**6)


def random_flow(seed: int):
    """A flow and its sides: many data, few or many rates."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 80)), int(rng.integers(1, 13))
    X = rng.random((n, d)) if seed % 2 else rng.normal(size=(n, d))
    X *= 10.0 ** rng.uniform(-1.5 * (seed % 3), 0.0, d)
    y, w = rng.uniform(0.2, 3.0, n), rng.normal(size=d) * 10.0 ** rng.uniform(-6, 2)
    on = X @ w > 0
    return segment(Data(X, y), w, on), np.where(on, 1.0, -1.0)


def among_all(flow, sides):
    """The time of the first contact, and the datum that has it, found by looking at all data."""
    rows = np.flatnonzero(sides)
    found = zeros(flow.sums(rows), sides[rows])
    return found.t.min(initial=np.inf), rows[found.row[found.t.argmin()]] if found.t.size else -1


@settings(FEW, max_examples=120)
@given(SEEDS, st.booleans())
def test_the_first_contact_is_the_first_of_all_data(seed, stays) -> None:
    """Of all that do not stay on their boundary."""
    flow, sides = random_flow(seed)
    assume(flow.rates.size)
    time, datum = among_all(flow, sides)
    if stays and datum >= 0:
        held, sides[datum] = datum, 0.0
        time, datum = among_all(flow, sides)
    contact = affine.first_contact(flow, sides)
    if np.isinf(time):
        assert contact is None
        return
    assert contact.moment.s == pytest.approx(time, rel=1e-9)
    assert contact.data[datum]
    assert contact.came[datum] in (0.0, sides[datum])
    assert not stays or contact.data[held]
    rounding = 1e-14 * contact.moment.summed * flow.data.norms
    error = np.abs(contact.moment.products[0] - flow.data.X @ contact.moment.state)
    assert (error <= rounding).all()


@settings(FEW, max_examples=100)
@given(SEEDS, st.floats(0.0, 8.0))
def test_a_flow_is_called_free_only_where_it_meets_no_boundary_any_more(seed, part) -> None:
    flow, sides = random_flow(seed)
    assume(flow.rates.size)
    moment = Moment(flow, part / flow.span[0])
    assume((sides * moment.products[0] > 0.0).all())
    wait = np.append(np.geomspace(1e-3, 50, 99) / flow.span[0], 1e300)
    later = sides * (flow.after(moment.s + wait) @ flow.data.X.T)
    if affine._free(moment, sides):
        assert (later > 0.0).all()
    elif flow.rates.size == 1:  # where the flow is straight, nothing else can be said
        assert (later[-1] <= 1e-12 * flow.data.norms * (1 + moment.summed)).any()


@pytest.mark.parametrize(("n", "d"), [(5, 2), (500, 20)])
def test_a_flow_runs_on_one_thread_of_blas(n, d, monkeypatch) -> None:
    inside: list[int] = []

    def looked_at(step, *given, **named):
        inside.extend(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")
        return step(*given, **named)

    for module, name in ((affine, "opening"), (segments, "dgejsv")):
        monkeypatch.setattr(module, name, partial(looked_at, getattr(module, name)))
    rng = np.random.default_rng(3)
    X, y = rng.random((n, d)), rng.random(n)
    ends = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            before = threadpool_info()
            ends.append(affine_flow(X, y, np.ones(d), max_events=9).end)
            affine_flow(X, y, np.ones(d), "linear")
            assert threadpool_info() == before
    assert set(inside) == {1}
    np.testing.assert_array_equal(*ends)


def test_data_that_are_dependent_but_for_rounding_have_one_rate() -> None:
    A, w = np.outer(np.arange(1.0, 8.0), [0.1, 0.3, 0.7]), np.ones(3)
    for k in range(1, 8):
        data, on = Data(A[:k], np.ones(k)), np.ones(k, bool)
        flow, _ = segments.opening(data, w, on, 0.0, products_of(A[:k], w))
        np.testing.assert_allclose(flow.rates, [np.sum(A[:k] ** 2)], rtol=1e-13)


def test_a_limit_that_is_rounding_alone_is_zero() -> None:
    """Of a datum with label 0, as many data as dimensions: its limit is its label."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X, on = rng.standard_normal((3, 3)), np.ones(3, bool)
        flow = segment(Data(X, np.array([1.0, 1.0, 0.0])), rng.standard_normal(3), on)
        limit = flow.sums(np.arange(3)).limit
        np.testing.assert_allclose(limit[:2], 1.0, rtol=1e-9)
        assert limit[2] == 0.0
