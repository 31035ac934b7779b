"""The limits of a reader's flows and the tables that tell of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reluflow.margin.limits import limit
from reluflow.papers.vardi2022margin import own_data, setting
from reluflow.papers.vardi2022margin.own_data import Experiment, experiment


@pytest.fixture(scope="module")
def own() -> Experiment:
    """Theorem 3.2's network from its own start, from one that ends well, and from a dead one."""
    paper = experiment(
        "theorem-3.2", "fully connected", 2, 2, "relu", None, 1.0, "exponential", 1e5, 0
    )
    well, dead = [1.0, 0.5, -1.0, 0.4, 1.0, 1.0], [0.0, -1.0, 0.1, -1.0, 1.0, 1.0]
    return replace(paper, starts=np.array([*paper.starts, well, dead]))


@pytest.fixture(scope="module")
def found(own: Experiment) -> list[own_data.Found]:
    return own_data.follow(own)


def test_each_flow_has_its_verdict(found: list[own_data.Found]) -> None:
    assert [one.optimum and one.optimum.verdict for one in found] == ["not local", "global", None]
    assert [one.limit is None for one in found] == [False, False, True]
    squares = [float(one.limit.theta @ one.limit.theta) for one in found if one.limit]
    assert squares == pytest.approx([8.0, 16 / 17**0.5])


def test_the_tables_have_a_row_for_each(found: list[own_data.Found]) -> None:
    limits, verdicts = own_data.limits_table(found), own_data.verdicts_table(found)
    assert list(limits.index) == ["start 1", "start 2", "start 3"]
    assert limits["squared length"].tolist() == ["≈8.00000", "≈3.88057", ""]
    assert limits["limit"].iloc[0].startswith("(0, ≈2.0000, ")
    assert verdicts["optimum of Problem (2)?"].tolist() == ["not local", "global"]
    assert "shorter points" in verdicts["certificate"].iloc[0]
    assert "everywhere" in verdicts["certificate"].iloc[1]
    ends = own_data.ends_table(found)
    assert ends.index.tolist()[:2] == ["global", "not local"]
    assert ends["flows"].tolist() == ["≈1"] * 3
    assert own_data.verdicts_table(found[2:]).empty


def test_errors_fall_towards_the_limit(found: list[own_data.Found]) -> None:
    runs = own_data.approaches(found)
    assert [name for name, _, _ in runs] == ["start 1", "start 2"]
    decades, errors = runs[0][1:]
    assert np.all(np.diff(errors) < 0.0)
    slope = np.diff(np.log(errors[-10:])) / np.diff(np.log(decades[-10:]))
    assert np.allclose(slope, -0.5, atol=0.05)


def test_a_start_that_cannot_be_followed_is_told(own: Experiment) -> None:
    (one,) = own_data.follow(replace(own, starts=np.zeros((1, 6))))
    assert one.limit is None
    assert one.status.startswith("not followed: ")


def test_what_is_too_much_work_is_left_out(own: Experiment) -> None:
    """The first start may take half of the work, the last all that is left."""
    network = own.network
    purse = [1e9]
    metered = own_data.Metered(network.maps, network.activation, network.rectified, purse)
    end = limit(metered, own.loss, own.X, own.y, own.starts[0], reach=own.reach)
    cost = 1e9 - purse[0]
    plain = limit(network, own.loss, own.X, own.y, own.starts[0], reach=own.reach)
    assert np.array_equal(end.theta, plain.theta)
    twice = replace(own, starts=own.starts[[0, 0]])
    assert [one.status for one in own_data.follow(twice, 2.1 * cost)] == ["converged"] * 2
    table = own_data.limits_table(own_data.follow(twice, 1.9 * cost))
    assert table["how the flow ended"].tolist() == ["left out: too much work"] * 2


def test_parameters_at_times() -> None:
    paper = setting.theorem_3_2()
    before, after = own_data.at_times(paper, paper.start, [0.0, 2.0])
    assert np.allclose(before, paper.start)
    # The second neuron rests, the first grows.
    assert np.allclose(after[[2, 3, 5]], paper.start[[2, 3, 5]], atol=1e-9)
    assert after[1] > paper.start[1]
    step = 1e-6
    near = own_data.at_times(paper, paper.start, [step])[0]
    z = paper.network.output(paper.start, paper.X)
    pull = paper.network.gradient(paper.start, paper.X, np.exp(-z))
    assert np.allclose((near - paper.start) / step, pull, atol=1e-4)
