"""Lemmas 1, 3, 4, 10, 15, eqs. (46), (50), balance: differences, closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.flows.charts import Neurons
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early import cones, lemmas
from reluflow.papers.min2024early.setting import Start
from scipy.special import expit

LOSSES = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)


@pytest.mark.parametrize("loss", [*LOSSES, SQUARE], ids=lambda loss: loss.name)
@given(power=st.floats(-250.0, 0.3), positive=st.booleans(), label=st.sampled_from([-1.0, 1.0]))
def test_the_excess_has_all_digits(loss: Loss, power: float, positive: bool, label: float) -> None:
    """It is the gap of Lemma 2, which has a closed form."""
    f = (1.0 if positive else -1.0) * 10.0**power
    q = label * f
    gaps = {name.replace("twice the", "2"): -np.sign(q) * gap(q)
            for name, (gap, *_) in cones.GAPS.items()}  # fmt: skip
    gaps[LOGISTIC.name] = -expit(q)
    found = lemmas.excess(loss, np.array([f]), np.array([label]))[0]
    assert found == pytest.approx(label * gaps[loss.name], rel=1e-11, abs=0.0)


def test_a_neuron_on_a_boundary_is_inactive_whichever_way_it_was_rounded() -> None:
    w = np.array([[1.0, 1.0, 1.0]])
    fixed = {"y": np.ones(1), "signs": np.ones(1), "R": np.zeros(1), "leak": np.array(0.0)}
    for off in (-1e-16, 0.0, 1e-16):
        state = {**fixed, "X": np.array([[0.1 + off, 0.2, -0.3]]), "U": w}
        assert not lemmas.active(state).any()
        assert not lemmas.turning(state, np.ones(1)).any()
    tiny = {**fixed, "X": np.array([[1.0, 1e-20]]), "U": np.array([[0.0, 1.0]])}
    assert lemmas.active(tiny).all()


@given(st.integers(0, 2**32 - 1))
def test_at_every_seed_some_flows_begin_on_a_boundary(seed: int) -> None:
    """The first neuron of a start in whole numbers, to the rounding that the integrator allows."""
    _, start = lemmas.problems(seed, 2)
    units, data = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (start.W0, start.X))
    assert np.abs(units[0] @ data[0]) <= 1e-15


def test_slack_is_that_of_the_flow_by_differences() -> None:
    """The direction's rate from the path itself, and the three bounds as they are printed."""
    rng = np.random.default_rng(8)
    X, y, W0 = rng.normal(size=(3, 2)), np.array([1.0, -1.0, 1.0]), rng.normal(size=(2, 2))
    log_eps = lemmas.largest_log_eps(X, W0)
    start = Start(X, y, W0, np.array([1.0, -1.0]), log_eps, leak=0.3)
    eps, h, n = np.exp(log_eps), 2, 3
    X_max, W_max = (np.linalg.norm(A, axis=1).max() for A in (X, W0))
    assert eps == pytest.approx(1.0 / (4.0 * h**0.5 * X_max * W_max**2))
    printed = [4 * eps * n * h**0.5 * X_max**2 * W_max**2, 2 * eps * W_max**2 / h**0.5,
               2 * eps * h**0.5 * X_max * W_max**2]  # fmt: skip
    np.testing.assert_allclose(np.exp(lemmas.log_bounds(start)), printed)
    assert pytest.approx(np.log(1 / (h**0.5 * eps)) / (4 * n * X_max)) == start.T
    flow, along = start.flow(1.5 * start.T, rtol=1e-8), lemmas.slack(start)
    chart, k, step = Neurons(start.signs, 2, 0.3), 20, 1e-4 * start.T
    t = along.times[k] * start.T
    before, now, after = (chart.split(flow.at(t + s * step))[0] for s in (-1.0, 0.0, 1.0))
    slopes = np.where(now @ X.T > 0.0, 1.0, 0.3)
    x_a = (slopes * y) @ X
    limit = start.signs[:, None] * (x_a - (x_a * now).sum(axis=1)[:, None] * now)
    error = np.linalg.norm((after - before) / (2 * step) - limit, axis=1).max()
    assert np.exp(along.log_ratios[k, 0]) * printed[0] == pytest.approx(error, rel=1e-3)
    R = chart.split(flow.at(t))[1]
    assert np.exp(along.log_ratios[k, 1]) * printed[1] == pytest.approx(np.exp(2 * R.max()))


def test_a_network_with_an_output_weight_of_zero_is_asked_too() -> None:
    item = {"X": np.ones((1, 1)), "y": np.ones(1), "W": np.ones((2, 1)), "v": np.array([1.0, 0.0])}
    assert lemmas.linear_loss_falls(EXPONENTIAL).unmet(item) is None


@pytest.mark.parametrize(("off", "slack"), [(0.0, np.inf), (1e-9, -np.inf)])
def test_where_the_outputs_cancel_the_error_is_rounding(off, slack, monkeypatch) -> None:
    """f = 0 on both data: 1e-16 was once taken for a counterexample."""
    state = {"X": np.array([[1.0, -1.0], [0.0, 1.0]]), "y": -np.ones(2), "R": np.zeros(3),
             "U": np.array([[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]]), "leak": np.array(0.0),
             "signs": np.array([1.0, 1.0, -1.0]), "reference": np.array([0.0, 1.0])}  # fmt: skip
    rate, limit = lemmas.rates_of_cosines(state, EXPONENTIAL)
    assert np.nanmax(np.abs(rate - limit)) > 0.0
    monkeypatch.setattr(lemmas, "rates_of_cosines", lambda *_: (rate + off, limit))
    assert lemmas.cosines_near_the_limit(EXPONENTIAL).slack(state) == slack
