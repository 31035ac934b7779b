"""The parameters of chapter 5 and the experiment that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.papers.vardi2022margin import setting
from reluflow.papers.vardi2022margin.own_data import (
    PRINTED,
    data,
    drawn,
    experiment,
    family,
    of_parameters,
)
from reluflow.papers.vardi2022margin.setting import NETWORKS, PARAMETERS, SECTION
from reluflow.parameters import check

DEFAULTS: dict[str, Any] = {
    "dataset": "theorem-3.2", "network": "fully connected", "depth": 2, "width": 2,
    "activation": "relu", "start": None, "scale": 1.0, "loss": "exponential", "reach": 1e5,
    "seed": 0,
}  # fmt: skip


def test_the_defaults_are_the_paper_s() -> None:
    p = check({**DEFAULTS, "effort": 1.0}, PARAMETERS)
    assert np.array_equal(of_parameters(p).starts, experiment(**DEFAULTS).starts)
    check({"seed": 3, "effort": 0.05}, SECTION)
    found = experiment(**DEFAULTS)
    paper = setting.theorem_3_2()
    assert found.printed is not None
    assert found.printed.name == paper.name
    assert np.array_equal(found.starts, paper.start[None])
    assert np.array_equal(found.X, paper.X)
    assert found.reach == 1e5


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"dataset": "theorem-3.3"}, 'did you mean "theorem-3.2"'),
        ({"dataset": "iris"}, "the names are theorem-3.2"),
        ({"width": 3, "start": "paper"}, "no start is printed for this network"),
        ({"network": "convolutional", "width": 3}, "a filter of 3 weights does not divide inputs"),
        ({"width": 64, "depth": 4}, "the page takes 600: choose a smaller width"),
        ({"activation": "linear", "dataset": "theorem-4.2"}, "no hyperplane through 0 separates"),
    ],
)
def test_parameters_that_do_not_fit_together(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        experiment(**{**DEFAULTS, **changed})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("x1,x2,y\n1,2,1\n1,1,0\n", r"data row 2 .* the label is 0, and must be 1 or -1"),
        ("x1,x2,y\n1,2,1\n0,0,1\n", r"data row 2 .* is 0 in every column"),
        ("x1,x2,y\n1,2,1\n-1,2,1\n2,4,-1\n", "data rows 1 and 3 have one direction and different"),
        ("x1,x2,y\n" + "1,2,1\n" * 1001, "has 1001 data, and the page takes 1 to 1000"),
        ("x1,y\n1,a\n", "is not a number"),
        ("x1,x2,y\n1,2,1\n1e4,0,-1\n", r"data row 2 .* length 1e\+04: .* choose another unit"),
        ("x1,x2,y\n1e-4,1e-5,1\n", "choose another unit"),
    ],
)
def test_data_that_cannot_be_used(table: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        data(str(tmp_path / "my.csv"))


def test_a_reader_s_data(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x1,x2,y\n1,2e-9,1\n-1,1,-1\n2,4e-9,1\n", encoding="utf-8")
    path = str(tmp_path / "my.csv")
    found = experiment(**{**DEFAULTS, "dataset": path, "network": "sparse", "depth": 3, "width": 4})
    assert found.printed is None
    assert found.name == "my"
    assert found.starts.shape == (6, found.network.size)
    again = experiment(**{**DEFAULTS, "dataset": path, "network": "sparse", "depth": 3, "width": 4})
    assert np.array_equal(found.starts, again.starts)
    with pytest.raises(InputError, match="no start is printed"):
        experiment(**{**DEFAULTS, "dataset": path, "start": "paper"})


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("theorem-4.1", {"network": "diagonal", "activation": "linear"}),
        ("theorem-4.1", {"network": "diagonal"}),
        ("theorem-4.2", {"width": 4}),
        ("lemma-c.6", {}),
        ("theorem-4.4", {"network": "convolutional"}),
        ("theorem-5.1", {"network": "diagonal", "depth": 3}),
        ("theorem-5.1", {"network": "diagonal", "depth": 5, "activation": "linear"}),
    ],
)
def test_every_printed_start_can_be_asked_for(name: str, changed: dict[str, Any]) -> None:
    found = experiment(**{**DEFAULTS, **changed, "dataset": name})
    assert found.printed is not None
    assert found.starts.shape == (1, found.network.size)
    assert found.printed.exact_X == PRINTED[name]().exact_X


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("depth", [2, 3, 5])
def test_families_are_what_they_say(name: str, depth: int) -> None:
    rng = np.random.default_rng([depth, NETWORKS.index(name)])
    network = family(name, depth, 2, 6, "relu", rng)
    assert network.degree == depth
    assert network.maps[0].shape[1] == 6
    numbers = [g[g > 0] for g in network.maps]
    shared = [len(v) != len(set(v.tolist())) for v in numbers]
    assert shared == [name == "convolutional"] + [False] * (depth - 1)
    for g in network.maps:
        assert (g > 0).any(axis=0).all()
        assert (g > 0).any(axis=1).all()
    if name == "diagonal":
        theta = np.arange(1.0, network.size + 1)
        beta = theta.reshape(depth, 6).prod(axis=0)
        x = np.full(6, 0.5)
        assert network.output(theta, x[None])[0] == pytest.approx(beta @ x)


def test_the_schemes_have_their_scales() -> None:
    network = family("fully connected", 3, 20, 5, "relu", np.random.default_rng(0))
    first, last = slice(0, 100), slice(500, 520)
    for scheme, wanted in {
        "gaussian": (1.0, 1.0),
        "uniform": (3**-0.5, 3**-0.5),
        "xavier": ((2 / 25) ** 0.5, (2 / 21) ** 0.5),
    }.items():
        theta = drawn(network, scheme, 400, np.random.default_rng(1))
        assert (theta[:, first].std(), theta[:, last].std()) == pytest.approx(wanted, rel=0.03)
        assert (np.abs(theta).max() <= 1.0) == (scheme == "uniform")
