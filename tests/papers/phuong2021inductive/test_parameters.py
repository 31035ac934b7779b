"""The parameters of chapter 4 and the experiment that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.papers.phuong2021inductive.own_data import (
    data,
    experiment,
    of_parameters,
)
from reluflow.papers.phuong2021inductive.setting import PARAMETERS
from reluflow.parameters import check

DEFAULTS: dict[str, Any] = {
    "dataset": "section-5.1", "d": 20, "n": 500, "width": 10, "scale": 0.05, "optimiser": "flow",
    "epochs": 500, "seed": 0,
}  # fmt: skip


def test_few_data_of_the_page_have_both_labels() -> None:
    for seed in range(20):  # so few that a label is often missing
        y = data("section-5.1", 2, 4, np.random.default_rng(seed))[2]
        assert set(y.tolist()) == {1.0, -1.0}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"dataset": "section-5.2"}, 'did you mean "section-5.1"'),
        ({"width": 50}, 'parameter "width": the flow of 50 neurons on 500 data .* or "sgd"'),
        ({"dataset": "plane", "width": 200}, None),
        ({"n": 1000, "width": 21}, r"width n <= 20000"),
        ({"width": 50, "optimiser": "sgd"}, None),
        ({"n": 500, "epochs": 5001, "optimiser": "sgd"}, "are 50010 steps, and this page takes"),
        ({"n": 500, "epochs": 5001}, None),
        ({"n": 501, "epochs": 5000, "optimiser": "sgd"}, "are 55000 steps"),
        ({"n": 1000, "width": 20}, None),
    ],
)
def test_parameters_that_do_not_fit(changed: dict[str, Any], told: str | None) -> None:
    values = {**DEFAULTS, "effort": 1.0, **changed}
    if told is None:
        of_parameters(check(values, PARAMETERS))
        return
    with pytest.raises(InputError, match=told) as caught:
        of_parameters(check(values, PARAMETERS))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("x1,x2,y\n1,2,1\n1,1,0\n", r"my, data row 2 .*: the label is 0, and must be 1 or -1"),
        ("x1,x2,y\n1,2,1\n0,0,-1\n", r"my, data row 2 .* has the length 0"),
        ("x1,x2,y\n1,2,1\n5000,0,-1\n", r"my, data row 2 .* length 5e\+03"),
        ("x1,x2,y\n1,2,1\n", 'dataset "my" has 1 data, and the page takes 2 to 1000'),
        ("x1,x2,y\n" + "1,2,1\n" * 1001, "has 1001 data, and the page takes 2 to 1000"),
        ("x1,x2,y\n1,2,1\n2,2,1\n", 'dataset "my" has no datum with the label -1'),
        ("x1,x2,y\n1,2,-1\n2,2,-1\n", 'dataset "my" has no datum with the label 1'),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used(table: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=told) as caught:
        experiment(**{**DEFAULTS, "dataset": str(tmp_path / "my.csv")})
    assert "\n" not in str(caught.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x1,y\n2,1\n-3,-1\n", encoding="utf-8")
    found = experiment(**{**DEFAULTS, "dataset": str(tmp_path / "my.csv")})
    assert (found.name, found.X.tolist(), found.y.tolist()) == ("my", [[2.0], [-3.0]], [1.0, -1.0])
    assert found.W0.shape == (10, 1)


def test_a_start_is_what_the_page_says() -> None:
    found = experiment("plane", width=199, scale=0.3)
    assert np.linalg.norm(found.W0, axis=1) == pytest.approx(np.full(199, 0.3))
    assert int(np.sum(found.signs < 0.0)) == 99
    turns = np.arctan2(found.W0[:, 1], found.W0[:, 0])
    assert np.histogram(turns, 4, (-np.pi, np.pi))[0].min() > 25
    assert experiment("plane", width=1).signs.tolist() == [1.0]
