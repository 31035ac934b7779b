"""The reader's own data of chapter 5: parameters, networks and flows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.margin.limits import limit
from reluflow.papers.vardi2022margin import own_data, setting
from reluflow.papers.vardi2022margin.own_data import Experiment
from reluflow.papers.vardi2022margin.setting import NETWORKS

DEFAULTS: dict[str, Any] = {
    "dataset": "theorem-3.2", "network": "fully connected", "depth": 2, "width": 2,
    "activation": "relu", "start": None, "scale": 1.0, "loss": "exponential", "reach": 1e5,
    "seed": 0,
}  # fmt: skip


def experiment(**changed: Any) -> Experiment:
    return own_data.of_parameters(SimpleNamespace(**{**DEFAULTS, **changed}))


@pytest.fixture(scope="module")
def own() -> Experiment:
    """Theorem 3.2's network from its own start, from one that ends well, and from a dead one."""
    paper, printed = experiment(), setting.theorem_3_2()
    assert np.array_equal(paper.starts, printed.start[None])
    assert np.array_equal(paper.X, printed.X)
    well, dead = [1.0, 0.5, -1.0, 0.4, 1.0, 1.0], [0.0, -1.0, 0.1, -1.0, 1.0, 1.0]
    return replace(paper, starts=np.array([*paper.starts, well, dead]))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"dataset": "theorem-3.3"}, 'did you mean "theorem-3.2"'),
        ({"network": "convolutional", "width": 3}, "a filter of 3 weights does not divide inputs"),
        ({"activation": "linear", "dataset": "theorem-4.2"}, "no hyperplane through 0 separates"),
    ],
)
def test_parameters_that_do_not_fit_together(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        experiment(**changed)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("1,2,1\n1,1,0\n", r"data row 2 .* the label is 0, and must be 1 or -1"),
        ("1,2,1\n-1,2,1\n2,4,-1\n", "data rows 1 and 3 have one direction and different"),
        ("1,2,1\n1e4,0,-1\n", r"data row 2 .* length 1e\+04: .* choose another unit"),
    ],
)
def test_data_that_cannot_be_used(table: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x1,x2,y\n" + table, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        own_data.data(str(tmp_path / "my.csv"))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("depth", [2, 5])
def test_families_are_what_they_say(name: str, depth: int) -> None:
    rng = np.random.default_rng([depth, NETWORKS.index(name)])
    network = own_data.family(name, depth, 2, 6, "relu", rng)
    assert network.degree == depth
    numbers = [g[g > 0] for g in network.maps]
    shared = [len(v) != len(set(v.tolist())) for v in numbers]
    assert shared == [name == "convolutional"] + [False] * (depth - 1)
    assert all((g > 0).any(axis=k).all() for g in network.maps for k in (0, 1))
    if name == "diagonal":
        theta, x = np.arange(1.0, network.size + 1), np.full(6, 0.5)
        beta = theta.reshape(depth, 6).prod(axis=0)
        assert network.output(theta, x[None])[0] == pytest.approx(beta @ x)


def test_each_flow_has_its_verdict(own: Experiment) -> None:
    found = own_data.follow(replace(own, starts=np.array([*own.starts, np.zeros(6)])))
    assert [one.optimum and one.optimum.verdict for one in found] == [
        "not local", "global", None, None]  # fmt: skip
    squares = [float(one.limit.theta @ one.limit.theta) for one in found if one.limit]
    assert squares == pytest.approx([8.0, 16 / 17**0.5])
    assert found[-1].status.startswith("not followed: ")


def test_what_is_too_much_work_is_left_out(own: Experiment) -> None:
    """The first start may take half of the work, the last all that is left."""
    network = own.network
    purse = [1e9]
    metered = own_data.Metered(network.maps, network.activation, purse)
    end = limit(metered, own.loss, own.X, own.y, own.starts[0], reach=own.reach)
    cost = 1e9 - purse[0]
    plain = limit(network, own.loss, own.X, own.y, own.starts[0], reach=own.reach)
    assert np.array_equal(end.theta, plain.theta)
    twice = replace(own, starts=own.starts[[0, 0]])
    assert [one.status for one in own_data.follow(twice, 2.1 * cost)] == ["converged"] * 2
    assert all(one.limit is None for one in own_data.follow(twice, 1.9 * cost))
