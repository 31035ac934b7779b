"""The main page's parameters and its answers for any data: promises, neurons, pictures."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reluflow.approx import written
from reluflow.errors import InputError
from reluflow.figures.vector import cut_off
from reluflow.losses import LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early import figures, own_data
from reluflow.papers.min2024early.own_data import Experiment, experiment


def given(**changed: Any) -> Experiment:
    start = {"dataset": "figure-6", "h": 12, "log_eps": -40.0, "iterations": 9000}
    return experiment(**start | changed)


@pytest.fixture(scope="module")
def own() -> Experiment:
    return given()


def test_the_promise_is_made_of_the_constants(own: Experiment) -> None:
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


def test_the_descent_is_that_of_the_mean_loss(own: Experiment) -> None:
    """Each datum twice changes nothing."""
    once = replace(own, W=1e5 * own.W, v=1e5 * own.v, iterations=10)
    twice = replace(once, X=np.tile(own.X, (2, 1)), y=np.tile(own.y, 2))
    pd.testing.assert_frame_equal(own_data.descend(once), own_data.descend(twice))


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_steps_that_diverge_are_told(own: Experiment, loss: str) -> None:
    far = given(scale=1e5, step=1.0, iterations=200, loss=loss)
    with pytest.raises(InputError, match='parameter "step": descent by steps of 1 diverges within'):
        own_data.descend(far)


def test_a_training_without_a_direction_is_drawn(own: Experiment) -> None:
    """The data of either label may cancel, and then no cosine says how far a neuron is turned."""
    square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    curves = own_data.descend(replace(own, X=square, y=np.array([1.0, 1, -1, -1]), iterations=50))
    assert np.isnan(curves.plus).all()
    assert np.isnan(curves.minus).all()
    fig = figures.training(curves)
    assert cut_off(fig) == []


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("x1,y\n1,1\n-1,-1\n", 'dataset "my" has one feature: the page takes 2 or more'),
        ("x1,x2,y\n" + "1,2,1\n" * 1000, r"101 neurons on 1000 data .* choose a smaller h"),
    ],
)
def test_data_that_cannot_be_used(table: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        experiment(str(tmp_path / "my.csv"), h=101)
