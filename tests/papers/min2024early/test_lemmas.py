"""The lemmas: cones, hull and caps, constants, lemmas 1 to 15; exact values, differences, forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.flows.charts import Neurons
from reluflow.geometry.separability import cosines, serves, signed, silent, violations
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, Loss
from reluflow.papers.min2024early import cones, lemmas, setting
from scipy.special import expit

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.sampled_from(["wide", "integers", "one against many"]))
def test_exact_cosines_and_memberships_agree_with_floats(seed: int, kind: str) -> None:
    """On boundaries, too: small whole numbers lie on many."""
    rng = np.random.default_rng(seed)
    X, y = setting.separable_draws((2, 6))[kind](rng).values()
    assert cones.separable_exactly(X, y)
    W = np.vstack([rng.standard_normal((3, X.shape[1])), X, -X, X.sum(axis=0)[None]])
    W = np.vstack([W, np.eye(X.shape[1]), -np.eye(X.shape[1])])
    between = cosines(np.vstack([W, X]))[: len(W), len(W) :]
    squared = cones.squared_cosines(cones.whole(W), cones.whole(X)).astype(float)
    np.testing.assert_allclose(squared, between * np.abs(between), atol=1e-12)
    for w in W:
        for sign in (1.0, -1.0):
            exact = cones.serves_exactly(X, y, cones.whole(w), sign)
            assert exact == serves(X, y, w, sign)
        assert cones.serves_exactly(X, y, cones.whole(w), 0.0) == silent(X, w)


def test_hypotheses_end_where_they_say() -> None:
    near = {"X": np.array([[1.0, 0.0], [1.0, 1.0]]), "y": np.ones(2), "a": np.array([1.0, 0.0])}
    assert cones._is_near(**{**near, "e": np.array([0.0, -0.7071])})
    assert not cones._is_near(**{**near, "e": np.array([0.0, -0.7072])})
    X, y = np.array([[1.0, 1.0], [0.0, -1.0], [-3.0, -1.0]]), np.array([1.0, -1.0, -1.0])
    for square, inside in ((0.3076, True), (0.3078, False)):
        across, along = np.sqrt(square), np.sqrt(1.0 - square)
        w = along * np.array([1.0, 1.0]) + across * np.array([1.0, -1.0])
        assert cones._is_in_cap(X, y, w, np.array(1.0)) is inside
    assert not cones._is_in_cap(X, y, -X[0], np.array(1.0))
    turned = cones.WITHOUT[0] @ [[1.0, 2.0], [0.0, 1.0]]
    other = turned * [[1.0], [1.0], [-1.0]]
    for rows, empty in ((turned, True), (turned[:2], False), (other, False),
                        (np.array([[1.0, 0.0], [-1.0, 0.0]]), False),  # w = (0, 1) is on both
                        (np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), False)):  # fmt: skip
        assert cones.only_zero(rows) is empty
    assert not cones.separable_exactly(np.eye(2), np.ones(2))


UNITS = st.sampled_from([1e-150, 1.0, 1e150])


@given(SEEDS, st.integers(2, 12), st.integers(2, 30), st.floats(-6, -0.01), UNITS)
def test_drawn_data_have_the_constants_asked_for(seed, n, d, decade, unit) -> None:
    X, y = setting.separable(n, d, 10.0**decade, np.random.default_rng(seed))
    data = setting.data_constants(unit * X, y)
    assert set(y) == {-1.0, 1.0}
    assert data.mu == pytest.approx(10.0**decade, rel=1e-6)
    assert data.xi == data.mu**2
    assert data.zeta_1 >= data.xi * (1 - 1e-9)
    assert data.zeta_1 == pytest.approx(float(cones.cap_exactly(X, y)), rel=1e-9, abs=0)


@given(SEEDS, st.integers(2, 6), st.integers(1, 9), UNITS)
def test_zeta_2_is_its_definition_in_every_unit(seed: int, d: int, h: int, unit: float) -> None:
    """The largest zeta with cos <= sqrt(1 - zeta) for each neuron, by arccos."""
    rng = np.random.default_rng(seed)
    X, y = setting.separable(5, d, 0.2, rng)
    W, signs = rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)
    pairs = [np.vstack([w, X[y == -s].sum(axis=0)]) for w, s in zip(W, signs, strict=True)]
    angles = [np.arccos(cosines(pair)[0, 1]) for pair in pairs]
    expected = min((np.sin(a) ** 2 for a in angles if a < np.pi / 2), default=1.0)
    found = setting.clearance(unit * X, y, unit**1.4 * W, signs)
    assert found == pytest.approx(expected, abs=1e-12)


def test_small_angles_keep_their_digits() -> None:
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    for angle in (1e-3, 1e-9, 1e-100):
        found = setting.clearance(X, y, np.array([[-1.0, angle]]), np.array([1.0]))
        assert found == pytest.approx(math.sin(math.atan(angle)) ** 2, rel=1e-12, abs=0)
    away = setting.clearance(X, y, np.array([[1.0, 1e-9]]), np.array([1.0]))
    assert away == 1.0
    assert setting.clearance(X, y, np.array([[-2.0, 0.0]]), np.array([1.0])) == 0.0


def test_lengths_and_labels_are_told_apart() -> None:
    X, y = np.array([[3.0, 0.0], [4.0, 3.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    data = setting.data_constants(X, y)
    assert (data.n_plus, data.n_minus) == (2, 1)
    assert [data.X_min, data.X_max] == pytest.approx([2**0.5, 5.0])
    assert data.mu == pytest.approx(0.5**0.5)
    mu, start = data.mu, setting.Start(X, y, np.diag([5.0, 1.0]), np.array([1.0, -1.0]), -300.0)
    g = {1.0: 2 * mu**0.5 * 2**0.5, -1.0: mu**0.5 * 2**0.5}
    for sign, rate in g.items():
        growth = math.log(2 / (mu**0.5 * 2**0.5)) + 600 + 4 * 3 * 5 * 7
        assert start.fit_time(7.0, sign) == pytest.approx(7 + 6 / rate + 4 / rate * growth)


def test_a_neuron_at_rest_on_a_boundary_is_silent_up_to_rounding() -> None:
    X, off = np.array([[3.0, 1.0]]), np.array([1e-15, -1e-15, 1e-6])
    W = np.array([-1.0, 3.0]) + off[:, None] * [0.0, 1.0]
    assert silent(X, W).tolist() == [False, True, False]
    assert silent(X, W, 1e-9).tolist() == [True, True, False]
    assert silent(X, W[0], 1e-9)


def test_violations_are_listed_worst_first() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.1]]), np.ones(3)
    assert violations(X, y).tolist() == [[0, 2], [0, 1]]


@pytest.mark.parametrize(("X", "y", "told"), [(np.eye(2), [1.0, 3.0], "row 2 has the label 3"),
    (np.diag([0.0, 1.0]), [1.0, 1.0], "row 1 is 0")])  # fmt: skip
def test_bad_rows_are_named(X, y, told) -> None:
    with pytest.raises(InputError, match=told):
        signed(X, np.array(y))


@pytest.mark.parametrize("loss", [*lemmas.LOSSES, SQUARE], ids=lambda loss: loss.name)
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


@given(SEEDS)
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
    start = setting.Start(X, y, W0, np.array([1.0, -1.0]), log_eps, leak=0.3)
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
