"""The main page's answers for any data: what is promised, what the neurons do, and its pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reluflow.approx import written
from reluflow.errors import InputError
from reluflow.figures import cut_off, fingerprint_of
from reluflow.geometry.separability import serves
from reluflow.losses import LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early import figures, own_data
from reluflow.papers.min2024early.own_data import Experiment, experiment
from reluflow.papers.min2024early.setting import read

DEFAULTS: dict[str, Any] = {
    "dataset": "figure-6", "scale": 1.0, "h": 12, "log_eps": -40.0, "sigma": 1e-6, "step": 2e-3,
    "iterations": 9000, "loss": "exponential", "seed": 0,
}  # fmt: skip


def given(**changed: Any) -> Experiment:
    return experiment(**{**DEFAULTS, **changed})


@pytest.fixture(scope="module")
def own() -> Experiment:
    return given()


@pytest.fixture(scope="module")
def turned(own: Experiment) -> own_data.Turned:
    return own_data.turn(own)


def test_separated_data_are_told_from_others(own: Experiment) -> None:
    table = own_data.assumption(own)
    assert table.loc["(A1)"].tolist() == ["holds", "holds"]
    assert table.loc["data", "as given"] == "4: 2 positive, 2 negative"
    assert table.loc["pairs that break (A1)"].tolist() == ["none", "none"]
    wrong = replace(own, y=own.y * [1, 1, 1, -1])
    table = own_data.assumption(wrong)["as given"]
    assert table["(A1)"] == "does not hold"
    assert table["pairs that break (A1)"] == "3 of 6"
    assert table["the worst of them"].startswith("3 and 4, 2 and 4")
    assert own_data.promise(wrong).empty
    assert own_data.constants_table(wrong).empty
    assert own_data.promises_alignment_times(wrong) == ()
    assert own_data.log_eps(replace(wrong, log_eps=None)) == -50.0


def test_the_mean_is_taken_off(own: Experiment) -> None:
    shifted = replace(own, X=own.X + 100.0)
    table = own_data.assumption(shifted)
    assert table.loc["(A1)"].tolist() == ["does not hold", "holds"]
    one = replace(own, X=np.array([[1.0, 0], [2.0, 0], [2.0, 0], [3.0, 0]]), y=np.ones(4))
    assert own_data.assumption(one).loc["data", "centred"] == "2: 2 positive, 0 negative"


def test_a_right_angle_breaks_the_assumption() -> None:
    table = own_data.assumption(given(dataset="figure-9"))["as given"]
    assert table[["μ", "(A1)", "pairs that break (A1)"]].tolist() == [
        "0",
        "does not hold",
        "1 of 1",
    ]


def test_the_promise_is_made_of_the_constants(own: Experiment) -> None:
    table, constants = own_data.promise(own), own_data.constants_table(own)
    assert written(constants["μ"].iloc[0]) == pytest.approx(10**-0.5, rel=1e-3)
    assert written(constants["ξ"].iloc[0]) == pytest.approx(0.1, rel=1e-3)
    zetas = [written(constants[name].iloc[0]) for name in ("ζ₁", "ζ₂")]
    rows = [[read(cell) for cell in row] for row in table.to_numpy()]
    for zeta, (t_1, log_eps) in zip((max(zetas), min(zetas)), rows[:2], strict=True):
        wanted = 16 * np.log(4) / (min(zeta, 0.1) * 10**-0.25 * 2**0.5)
        assert t_1 == pytest.approx(wanted, rel=1e-3)
        allowed = -0.5 * np.log(12) - 16 * 10**0.5 * wanted
        assert log_eps == pytest.approx(allowed, rel=1e-3)
    times = [time for _, time in own_data.promises_alignment_times(own)]
    assert times == pytest.approx([time for time, _ in rows], rel=1e-3)
    assert own_data.log_eps(own) == -40.0
    chosen = own_data.log_eps(replace(own, log_eps=None))
    assert chosen == pytest.approx(rows[2][1], rel=1e-3)


def test_the_proved_time_is_enough_for_each_loss(own: Experiment) -> None:
    """Also for the logistic loss, whose flow is half as fast."""
    for loss, factor in ((TWICE_LOGISTIC, 1.0), (LOGISTIC, 2.0)):
        other = replace(own, loss=loss, log_eps=None)
        (_, t_1), _, (_, time) = own_data.promises_alignment_times(other)
        (_, same), _, (_, wanted) = own_data.promises_alignment_times(own)
        assert (t_1, time) == (same, pytest.approx(factor * wanted))
        grown = own_data.grow(other)
        needed = written(own_data.growth_table(other, grown)[""]["the last of them at t"])
        assert factor * 0.1 * wanted < needed < time


def test_the_neurons_end_where_the_table_says(turned: own_data.Turned) -> None:
    own, table = turned.own, own_data.ends_table(turned)
    late = turned.directions(np.array([0.0, 2.0 * turned.homes.max()]))[1]
    for sign, name in ((1.0, "v > 0"), (-1.0, "v < 0")):
        mine = own.signs == sign
        cone = serves(own.X, own.y, late[mine], sign)
        row = table.loc[name]
        assert row["in their cone"] == cone.sum()
        assert row["dead"] == mine.sum() - cone.sum()
        assert row["elsewhere"] == 0
        assert row[["active on own label", "on the other"]].tolist() == ["≈100 %", "≈0 %"]
        assert written(row["last at t"]) == pytest.approx(turned.homes[mine].max(), rel=1e-3)


def test_a_weaker_pull_takes_longer(turned: own_data.Turned) -> None:
    """The logistic loss pulls with 1/2 where the exponential one pulls with 1."""
    other = own_data.turn(replace(turned.own, loss=LOGISTIC))
    assert other.homes == pytest.approx(2.0 * turned.homes)
    t = np.array([0.1, 0.4])
    assert np.allclose(other.directions(2.0 * t), turned.directions(t))


def test_the_flow_from_a_small_eps_turns_as_the_limit_does(turned: own_data.Turned) -> None:
    own = turned.own
    grown = own_data.grow(own)
    table = own_data.growth_table(own, grown)[""]
    assert grown.status == "followed"
    assert table["neurons in their cone or dead"] == "12 of 12"
    assert written(table["the last of them at t"]) == pytest.approx(turned.homes.max(), rel=1e-3)
    assert grown.path is not None
    W = grown.path.field.chart.parameters(grown.path.end)[0][:24].reshape(12, 2)
    values = np.linalg.eigvalsh(W.T @ W)
    rank = written(table["stable rank of W at L = 1e-100"])
    assert rank == pytest.approx(values.sum() / values[-1], rel=1e-3)
    assert grown.path.log_loss[-1] == pytest.approx(-100 * np.log(10), rel=1e-5)
    first = grown.path.legs[0]
    assert first.log_loss[-1] == pytest.approx(np.log(2.0))  # half of n = 4
    assert written(table["half of the loss is gone at t"]) == pytest.approx(first.t[-1], rel=1e-3)


def test_a_flow_that_is_too_large_is_told() -> None:
    grown = own_data.grow(given(h=200))
    assert grown.path is None
    assert own_data.growth_table(given(h=200), grown)[""]["the flow"].startswith("not followed")
    many = replace(given(), X=np.ones((90, 2)), y=np.ones(90))
    assert own_data.grow(many).status == "not followed: n h = 1080 > 1000"


def test_steps_that_would_take_too_long_are_left_out_and_told(own: Experiment) -> None:
    assert own_data.left_out(own) == f"All {own.iterations} steps are taken."
    wide = replace(own, X=np.tile(own.X, (1000, 1)), y=np.tile(own.y, 1000), iterations=10**7)
    steps = own_data.steps_taken(wide)
    assert steps * wide.X.size * len(wide.v) <= 1e11 < (steps + 1) * wide.X.size * len(wide.v)
    assert own_data.left_out(wide).startswith(f"Of 10000000 steps {steps} are taken")
    short = replace(own, iterations=300)
    assert own_data.descend(short).step[-1] == 300


def test_the_first_step_is_that_of_the_mean_loss(own: Experiment) -> None:
    big = replace(own, W=1e5 * own.W, v=1e5 * own.v, iterations=10)
    curves = own_data.descend(big)
    W, v = big.W.copy(), big.v.copy()
    for _ in range(10):
        before = big.X @ W.T
        outputs = np.maximum(before, 0.0) @ v
        pull = big.y * np.exp(-big.y * outputs) / 4.0
        active = (before > 0.0) * pull[:, None]
        W, v = (
            W + big.step * v[:, None] * (active.T @ big.X),
            v + big.step * np.sum(active * before, axis=0),
        )
    outputs = np.maximum(big.X @ W.T, 0.0) @ v
    assert curves.loss[-1] == pytest.approx(np.mean(np.exp(-big.y * outputs)))
    values = np.linalg.svd(W, compute_uv=False)
    assert curves.spectral[-1] == pytest.approx(values[0] ** 2)
    assert curves.positive[-1] == np.sum(v > 0.0)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_steps_that_diverge_are_told(own: Experiment, loss: str) -> None:
    far = given(scale=1e5, step=1.0, iterations=200, loss=loss)
    with pytest.raises(InputError, match='parameter "step": descent by steps of 1 diverges within'):
        own_data.descend(far)


def whole(fig: Any) -> None:
    assert cut_off(fig) == []
    assert fingerprint_of(fig)


@pytest.mark.parametrize("dataset", ["figure-6", "figure-7"])
def test_a_training_is_drawn_as_far_as_there_are_labels(dataset: str) -> None:
    curves = own_data.descend(given(dataset=dataset, iterations=400))
    fig = figures.training(curves)
    whole(fig)
    drawn = [line for line in fig.axes[0].lines if len(line.get_xdata())]
    assert len(drawn) == (4 if dataset == "figure-6" else 2)
    loss = fig.axes[1].lines[0].get_ydata()
    assert np.allclose(loss, curves.loss / curves.loss[0])


def test_a_training_without_a_direction_is_drawn(own: Experiment) -> None:
    """The data of either label may cancel, and then no cosine says how far a neuron is turned."""
    square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    curves = own_data.descend(replace(own, X=square, y=np.array([1.0, 1, -1, -1]), iterations=50))
    assert np.isnan(curves.plus).all()
    assert np.isnan(curves.minus).all()
    whole(figures.training(curves))
