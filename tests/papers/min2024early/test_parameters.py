"""The parameters of chapter 3 and the experiment that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow import images
from reluflow.errors import InputError
from reluflow.papers.min2024early.own_data import data, experiment

DEFAULTS: dict[str, Any] = {
    "dataset": "figure-6", "scale": 1.0, "h": 50, "log_eps": None, "sigma": 1e-6, "step": 2e-3,
    "iterations": 15_000, "loss": "exponential", "seed": 0,
}  # fmt: skip


def test_two_digits_are_the_images_of_the_two() -> None:
    found, digits = data("digits:3-8"), images.digits()
    counts = [int(np.sum(digits.digit == digit)) for digit in (3, 8)]
    assert [int(np.sum(found.y == label)) for label in (1.0, -1.0)] == counts
    raw = digits.levels[digits.digit == 3] / 16.0
    three = found.X[found.y > 0.0]
    moves = digits.levels[np.isin(digits.digit, (3, 8))].std(axis=0) > 0.0
    assert np.allclose(three - three[0], (raw - raw[0])[:, moves])
    assert np.abs(found.X.mean(axis=0)).max() < 1e-12
    with pytest.raises(InputError, match='dataset "digits:1-1" must name two different digits'):
        data("digits:1-1")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("x1,x2,y\n1,2,1\n1,1,0\n", r"my, data row 2 .*: the label is 0, and must be 1 or -1"),
        ("x1,x2,y\n1,2,1\n0,0,1\n", r"my, data row 2 .* has the length 0"),
        ("x1,x2,y\n1,2,1\n", 'dataset "my" has 1 data, and the page takes 2 to 1000'),
        ("x1,x2,y\n" + "1,2,1\n" * 1001, "has 1001 data, and the page takes 2 to 1000"),
        ("x1,y\n1,a\n", "is not a number"),
        ("x1,y\n1,1\n-1,-1\n", 'dataset "my" has one feature: the page takes 2 or more'),
    ],
)
def test_data_that_cannot_be_used(table: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        experiment(**{**DEFAULTS, "dataset": str(tmp_path / "my.csv")})


def test_a_width_that_the_page_does_not_take(tmp_path: Path) -> None:
    rows = "\n".join(["x1,x2,y", *["1,2,1"] * 999, "2,1,1"])
    (tmp_path / "my.csv").write_text(rows + "\n", encoding="utf-8")
    given = {**DEFAULTS, "dataset": str(tmp_path / "my.csv")}
    assert experiment(**{**given, "h": 100}).X.shape == (1000, 2)
    with pytest.raises(InputError, match=r"101 neurons on 1000 data .* choose a smaller h"):
        experiment(**{**given, "h": 101})
