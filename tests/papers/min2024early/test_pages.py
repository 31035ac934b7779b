"""The pages of chapter 3 on a reader's data and with other seeds, figures left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow import pages
from reluflow.ledger import Ledger
from reluflow.papers.min2024early.setting import separable
from reluflow.places import CHAPTERS

PAGE = CHAPTERS / "03_early_alignment.ipynb"

pytestmark = pytest.mark.long


def csv(X: np.ndarray, y: np.ndarray, path: Path) -> str:
    rows = [",".join(f"{v:.17g}" for v in (*x, label)) for x, label in zip(X, y, strict=True)]
    header = ",".join([*(f"x{k}" for k in range(1, X.shape[1] + 1)), "y"])
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def separated(tmp_path: Path) -> str:
    """A CSV of six data in space that satisfy (A1)."""
    return csv(*separable(6, 3, 0.2, np.random.default_rng(5)), tmp_path / "separated.csv")


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """A CSV of eight data in the plane that break (A1)."""
    rng = np.random.default_rng(6)
    y = np.where(np.arange(8) % 3, 1.0, -1.0)
    return csv(rng.standard_normal((8, 2)), y, tmp_path / "mixed.csv")


@pytest.mark.parametrize(
    ("data", "values"),
    [
        ("separated", {"h": 12, "loss": "logistic", "scale": 10.0}),
        ("mixed", {"h": 7, "log_eps": -50.0, "sigma": 1e-3, "iterations": 500}),
    ],
)
def test_own_data(data: str, values: dict[str, Any], request: pytest.FixtureRequest) -> None:
    given = {"dataset": request.getfixturevalue(data), "effort": 0.05, **values}
    names, failed = pages.run(pages.code_cells(PAGE), PAGE.parent, given)
    assert failed == []
    assert len(names["turned"].paths) == values["h"]
    (claims,) = {id(v): v for v in names.values() if isinstance(v, Ledger)}.values()
    assert all(row.verdict != "not-applicable" for row in claims.settled.values())


@pytest.mark.parametrize("dataset", ["figure-8", "figure-9", "digits:3-8"])
def test_the_named_data(dataset: str) -> None:
    values = {"dataset": dataset, "h": 10, "effort": 0.05, "iterations": 300}
    assert pages.run(pages.code_cells(PAGE), PAGE.parent, values)[1] == []


@pytest.mark.parametrize("page", pages.sections(PAGE), ids=lambda page: page.stem)
def test_a_section_finishes_with_another_seed_and_little_effort(page: Path) -> None:
    names, failed = pages.run(pages.code_cells(page), page.parent, {"seed": 3, "effort": 0.05})
    assert failed == []
    assert any(isinstance(value, Ledger) and value.settled for value in names.values())
