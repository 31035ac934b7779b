"""The parameters of chapter 3 and the experiment that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow import images
from reluflow.errors import InputError
from reluflow.geometry.separability import separation
from reluflow.papers.min2024early.own_data import LOSSES, data, experiment, of_parameters
from reluflow.papers.min2024early.setting import LOSSES as NAMED
from reluflow.papers.min2024early.setting import PARAMETERS, PRINTED, SECTION
from reluflow.parameters import check

DEFAULTS: dict[str, Any] = {
    "dataset": "figure-6", "scale": 1.0, "h": 50, "log_eps": None, "sigma": 1e-6, "step": 2e-3,
    "iterations": 15_000, "loss": "exponential", "seed": 0,
}  # fmt: skip


def test_the_defaults_fit() -> None:
    p = check({**DEFAULTS, "effort": 1.0}, PARAMETERS)
    found = of_parameters(p)
    again = experiment("figure-6")
    assert (again.step, again.iterations, again.loss.name) == (2e-3, 15_000, "exponential")
    for name in ("X", "y", "W0", "signs", "W", "v"):
        assert np.array_equal(getattr(found, name), getattr(again, name))
    assert (found.log_eps, found.step, found.iterations) == (None, 2e-3, 15_000)
    check({"seed": 3, "effort": 0.05}, SECTION)
    assert set(LOSSES) == set(NAMED)


def test_a_start_is_what_the_page_says() -> None:
    found = experiment(**{**DEFAULTS, "h": 199, "sigma": 0.01})
    assert found.W0.shape == found.W.shape == (199, 2)
    assert set(found.signs.tolist()) == {1.0, -1.0}
    assert int(np.sum(found.signs < 0)) == 99
    assert found.W0.std() == pytest.approx(0.5**0.5, rel=0.1)
    assert found.W.std() == pytest.approx(0.01, rel=0.1)
    assert found.v.std() == pytest.approx(0.01, rel=0.2)
    other = experiment(**{**DEFAULTS, "h": 199, "seed": 1})
    assert not np.array_equal(found.W0, other.W0)


@pytest.mark.parametrize(
    ("name", "mu"),
    [
        ("figure-6", 10**-0.5),
        ("figure-7", np.sin(0.1)),
        ("figure-8", np.sin(0.001)),
        ("figure-9", 0),
    ],
)
def test_the_data_of_the_figures_have_the_separation_that_is_said(name: str, mu: float) -> None:
    assert separation(PRINTED[name].X, PRINTED[name].y) == pytest.approx(mu, abs=1e-15)
    assert data(name) is PRINTED[name]
    scaled = experiment(**{**DEFAULTS, "dataset": name, "scale": 3.0})
    assert np.array_equal(scaled.X, 3.0 * PRINTED[name].X)


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
    ("changed", "told"),
    [
        ({"dataset": "figure-5"}, 'did you mean "figure-'),
        ({"dataset": "iris"}, "the names are figure-6"),
        ({"scale": 1e-6, "dataset": "figure-7"}, None),
        ({"scale": 1e6}, "times the scale its input has the length 2e[+]06"),
    ],
)
def test_parameters_that_do_not_fit_together(changed: dict[str, Any], told: str | None) -> None:
    if told is None:
        experiment(**{**DEFAULTS, **changed})
        return
    with pytest.raises(InputError, match=told) as caught:
        experiment(**{**DEFAULTS, **changed})
    assert "\n" not in str(caught.value)


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
