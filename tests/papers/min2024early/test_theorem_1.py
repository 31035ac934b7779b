"""Theorem 1: times and scales, trajectories against closed forms and a plain integrator; and what
the main page says of any data: promises, neurons, pictures."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pytest
from reluflow.approx import written
from reluflow.errors import InputError
from reluflow.flows.alignment import Beside, align
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early import alignment, convergence, mnist, own_data, setting, theorem_1
from scipy.integrate import solve_ivp

PLANE, LABELS = setting.PRINTED["figure-6"].X, setting.PRINTED["figure-6"].y
SIGNS = np.array([1.0, -1.0, 1.0, -1.0])


def test_one_datum_a_label_has_a_closed_form() -> None:
    """z = |w|^2 obeys dz/dt = 2 z e^-z, and L = 2 e^-z: times up to 10^400000."""
    start = convergence.one_against(1)
    each = convergence.follow(start)
    assert each is not None
    expected = (mpmath.ei(0.25) - mpmath.euler - 2 * start.log_eps) / 2
    assert each.fall == pytest.approx(float(expected), rel=1e-5)
    assert each.t_2[1.0] == pytest.approx(each.t_2[-1.0], rel=1e-9)
    falling = each.falling
    for k in (40, 120, 200, -1):
        z = mpmath.mpf(-falling.log_loss[k] + np.log(2.0))
        log_time = float(mpmath.log((mpmath.ei(z) - mpmath.ei(0.25)) / 2))
        assert falling.log_time[k] == pytest.approx(log_time, rel=1e-4, abs=1e-3)
        np.testing.assert_allclose(np.exp(2.0 * falling.R[k]), float(z), rtol=1e-4)
    assert convergence.times_loss(each) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC], ids=lambda loss: loss.name)
def test_against_a_plain_integrator_of_all_weights(loss) -> None:
    """From eps = e^-6, where floats hold the weights, by the slope that is autograd's."""
    rng = np.random.default_rng(5)
    W0 = convergence.neurons(PLANE, LABELS, SIGNS, rng)
    W0[2] = [1.0, 2.0]
    W0 /= np.linalg.norm(W0, axis=1, keepdims=True)
    each = convergence.begin(setting.Start(PLANE, LABELS, W0, SIGNS, -6.0, loss), t_1=1.0)
    assert each is not None

    problem = mnist.ShallowLoss(PLANE, LABELS, loss, 1.0)
    start = mnist.Neurons(np.exp(-6.0) * W0, np.exp(-6.0) * SIGNS)
    path = solve_ivp(lambda _, z: problem.value_and_slope(start.like(z))[1].flat,
                     (0.0, each.fall), start.flat, rtol=1e-10, atol=1e-14)  # fmt: skip
    moment, end = each.at(np.array([each.fall])), start.like(path.y[:, -1])
    ours = np.exp(moment.R[0])[:, None] * moment.U[0]
    np.testing.assert_allclose(ours, end.W, rtol=1e-3, atol=1e-4)
    outputs = np.abs(np.maximum(PLANE @ end.W.T, 0.0) @ end.v)
    assert min(outputs[:2].max(), outputs[2:].max()) == pytest.approx(0.25, abs=1e-3)


def test_hypotheses_that_fail_at_t_1_are_told() -> None:
    """A cone without a neuron; a neuron that is late; a flow that is lost."""
    alone = setting.Start(PLANE, LABELS, np.array([[1.0, 0.2], [1.0, 0.1]]), np.ones(2), -2000.0)
    assert convergence.begin(alone, t_1=5.0) is None
    x = PLANE[2:].sum(axis=0)
    W0 = np.array([[1.0, 0.2], [-1.0, -2.0], x + 1e-9 * np.array([1.0, 0.0])])
    behind = setting.Start(PLANE, LABELS, W0, np.array([1.0, -1.0, 1.0]), -2000.0)
    assert convergence.begin(behind, t_1=0.5) is None
    assert convergence.begin(behind, t_1=30.0) is not None


@pytest.mark.parametrize("lost", [0, 2])
def test_a_flow_that_is_lost_is_told(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before t_2, and on the way down."""
    legs, then = iter(range(9)), convergence.then
    monkeypatch.setattr(convergence, "then", lambda *at, **how: then(
        *at, **how, **({"max_steps": 1} if next(legs) == lost else {})))  # fmt: skip
    with pytest.raises(convergence.Lost):
        convergence.follow(convergence.one_against(1))


def test_the_enclosure_holds_the_limit_flow() -> None:
    certain = theorem_1.enclosed(Fraction(1, 10**7), -200)
    found = align(theorem_1.X, theorem_1.Y, Beside([1.0, 0.0], np.log(2e-7))).times[1]
    assert float(certain.exit.mid()) == pytest.approx(found, abs=1e-9)
    assert not theorem_1.enclosed(Fraction(1, 10**7), -1).small
    assert not theorem_1.enclosed(Fraction(1, 10), -200).exit > certain.t_1


def test_the_flow_of_a_tiny_start_is_the_limit() -> None:
    rng = np.random.default_rng(4)
    X, y = setting.separable(4, 3, 0.2, rng)
    W, signs = rng.standard_normal((5, 3)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    limit = [align(X, y, w, s) for w, s in zip(W, signs, strict=True)]
    found = setting.Start(X, y, W, signs, -300.0).flow(3.0)
    assert np.allclose(setting.alignment_times(found), [one.time for one in limit], atol=1e-6)
    ends = setting.neurons(found, 2.0)[0]
    assert np.allclose(ends, [one.at(2.0) for one in limit], atol=1e-6)
    last = list(setting.patterns(found))[-1][1]
    assert np.array_equal(last.T, [one.patterns[-1] for one in limit])


def test_outputs_on_a_boundary_are_the_largest_of_eq_29() -> None:
    item = alignment.turns_across().draws["wide"](np.random.default_rng(8))
    data, (W, outputs) = setting.data_constants(item["X"], item["y"]), alignment.placed(item)
    of_neurons = item["signs"] * np.linalg.norm(W, axis=1)
    assert set(item["signs"]) == {1.0, -1.0}
    told = np.maximum(item["X"] @ W.T, 0.0) @ of_neurons
    assert outputs / np.abs(outputs).max() == pytest.approx(told / np.abs(told).max())
    most = data.mu**2.5 * data.X_min / (4.0 * data.n * data.X_max)
    assert np.abs(outputs).max() == pytest.approx(most, rel=1e-9, abs=0)
    assert abs(item["X"][0] @ W[0]) < 1e-12


def test_the_excluded_angle_is_that_of_the_neuron_in_the_wrong_cone() -> None:
    start = theorem_1.start()
    other = replace(start, signs=-start.signs)
    assert theorem_1.excluded_angle(start) == pytest.approx(2e-7, rel=1e-6, abs=0)
    assert theorem_1.excluded_angle(other) == np.pi / 2
    plain = theorem_1.enough_time(other)
    assert plain == pytest.approx(1.5 * theorem_1.uniform_time(start.data.mu), rel=1e-14, abs=0)
    assert theorem_1.enough_time(start) == pytest.approx(plain + 2.0 * np.log(1e7), rel=1e-6)


# A reader's data.


def given(**changed: Any) -> own_data.Experiment:
    start = {"dataset": "figure-6", "h": 12, "log_eps": -40.0, "iterations": 9000}
    return own_data.experiment(**start | changed)


@pytest.fixture(scope="module")
def own() -> own_data.Experiment:
    return given()


def test_the_promise_is_made_of_the_constants(own: own_data.Experiment) -> None:
    rows, constants = own_data._promises(own).to_numpy().tolist(), own_data.constants_table(own)
    mu, xi, *zetas = (written(constants[name].iloc[0]) for name in ("μ", "ξ", "ζ₁", "ζ₂"))
    assert [mu, xi] == pytest.approx([10**-0.5, 0.1], rel=1e-3)
    for zeta, row in zip((max(zetas), min(zetas)), rows[:2], strict=True):
        t_1 = 16 * np.log(4) / (min(zeta, 0.1) * 10**-0.25 * 2**0.5)
        assert row == pytest.approx([t_1, -0.5 * np.log(12) - 16 * 10**0.5 * t_1], rel=1e-3)
    times = [time for _, time in own_data.promises_alignment_times(own)]
    assert times == pytest.approx([time for time, _ in rows], rel=1e-3)
    assert own_data.log_eps(own) == -40.0
    chosen = own_data.log_eps(replace(own, log_eps=None))
    assert chosen == pytest.approx(rows[2][1], rel=1e-3)


def test_for_one_label_nothing_is_promised() -> None:
    own = given(dataset="figure-7", log_eps=None)
    assert (len(own_data.promise(own)), own_data.log_eps(own)) == (0, -50.0)


def test_the_proved_time_is_enough_for_each_loss(own: own_data.Experiment) -> None:
    """Also for the logistic loss, whose flow is half as fast."""
    for loss, factor in ((TWICE_LOGISTIC, 1.0), (LOGISTIC, 2.0)):
        other = replace(own, loss=loss, log_eps=None)
        (_, t_1), _, (_, time) = own_data.promises_alignment_times(other)
        (_, same), _, (_, wanted) = own_data.promises_alignment_times(own)
        assert (t_1, time) == (same, pytest.approx(factor * wanted))
        grown = own_data.grow(other)
        needed = written(own_data.growth_table(other, grown)[""]["the last of them at t"])
        assert factor * 0.1 * wanted < needed < time


def test_the_descent_is_that_of_the_mean_loss(own: own_data.Experiment) -> None:
    """Each datum twice changes nothing."""
    once = replace(own, W=1e5 * own.W, v=1e5 * own.v, iterations=10)
    twice = replace(once, X=np.tile(own.X, (2, 1)), y=np.tile(own.y, 2))
    pd.testing.assert_frame_equal(own_data.descend(once), own_data.descend(twice))


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_steps_that_diverge_are_told(own: own_data.Experiment, loss: str) -> None:
    far = given(scale=1e5, step=1.0, iterations=200, loss=loss)
    with pytest.raises(InputError, match='parameter "step": descent by steps of 1 diverges within'):
        own_data.descend(far)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("x1,y\n1,1\n-1,-1\n", 'dataset "my.csv" has one feature: the page takes 2 or more'),
        ("x1,x2,y\n" + "1,2,1\n" * 1000, r"101 neurons on 1000 data .* choose a smaller h"),
    ],
)
def test_data_that_cannot_be_used(table: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        own_data.experiment(str(tmp_path / "my.csv"), h=101)
