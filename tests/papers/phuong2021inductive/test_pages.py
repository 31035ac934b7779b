"""The pages of chapter 4 on a reader's data and with other seeds, figures left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow import pages
from reluflow.ledger import Ledger
from reluflow.papers.phuong2021inductive.setting import supported
from reluflow.places import CHAPTERS

PAGE = CHAPTERS / "04_orthogonal_separability.ipynb"

pytestmark = pytest.mark.long


def csv(X: np.ndarray, y: np.ndarray, path: Path) -> str:
    rows = [",".join(f"{v:.17g}" for v in (*x, label)) for x, label in zip(X, y, strict=True)]
    header = ",".join([*(f"x{k}" for k in range(1, X.shape[1] + 1)), "y"])
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def separable(tmp_path: Path) -> str:
    """A CSV of data in space that are (OS), with too few support examples of one label."""
    item = supported(3, (3, 2), np.random.default_rng(5))
    return csv(item["X"], item["y"], tmp_path / "separable.csv")


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """A CSV of eight data in the plane, some of one label opposite to each other."""
    rng = np.random.default_rng(6)
    y = np.where(np.arange(8) % 3, 1.0, -1.0)
    return csv(rng.standard_normal((8, 2)), y, tmp_path / "mixed.csv")


@pytest.mark.parametrize(
    ("data", "values"),
    [
        ("separable", {"width": 12, "scale": 1.0, "seed": 3}),
        ("mixed", {"width": 7, "scale": 1e-6}),
        ("mixed", {"width": 3, "optimiser": "sgd", "epochs": 20, "seed": 2}),
    ],
)
def test_own_data(data: str, values: dict[str, Any], request: pytest.FixtureRequest) -> None:
    given = {"dataset": request.getfixturevalue(data), "effort": 0.05, **values}
    names, failed = pages.run(pages.code_cells(PAGE), PAGE.parent, given)
    assert failed == []
    assert len(names["trained"].own.signs) == values["width"]
    (claims,) = {id(v): v for v in names.values() if isinstance(v, Ledger)}.values()
    assert all(row.verdict != "not-applicable" for row in claims.settled.values())


@pytest.mark.parametrize(
    "values",
    [
        {"dataset": "plane", "width": 1},
        {"dataset": "digits:3-8", "width": 100, "optimiser": "sgd", "epochs": 30},
        {"d": 3, "n": 30, "width": 6, "scale": 3.0, "seed": 5},
    ],
)
def test_the_named_data(values: dict[str, Any]) -> None:
    values = {"effort": 0.05, **values}
    assert pages.run(pages.code_cells(PAGE), PAGE.parent, values)[1] == []


@pytest.mark.parametrize("page", pages.sections(PAGE), ids=lambda page: page.stem)
def test_a_section_finishes_with_another_seed_and_little_effort(page: Path) -> None:
    names, failed = pages.run(pages.code_cells(page), page.parent, {"seed": 3, "effort": 0.05})
    assert failed == []
    assert any(isinstance(value, Ledger) and value.settled for value in names.values())
