"""The pages of chapter 5 on a reader's data and with other seeds, figures left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow import pages
from reluflow.ledger import Ledger
from reluflow.places import CHAPTERS

PAGE = CHAPTERS / "05_margin_maximization.ipynb"

pytestmark = pytest.mark.long


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A CSV of eight separable data in space."""
    X = np.random.default_rng(5).standard_normal((8, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] > 0.0, 1, -1)
    rows = [",".join([*(f"{v:.4f}" for v in x), str(label)]) for x, label in zip(X, y, strict=True)]
    (tmp_path / "my.csv").write_text("\n".join(["a,b,c,label", *rows]) + "\n", encoding="utf-8")
    return str(tmp_path / "my.csv")


@pytest.mark.parametrize(
    "values",
    [
        {"activation": "linear", "depth": 3, "width": 3, "loss": "logistic"},
        {"network": "diagonal", "activation": "linear", "start": "xavier"},
        {"network": "convolutional", "width": 3, "start": "uniform", "scale": 0.1},
    ],
)
def test_own_data(values: dict[str, Any], own: str) -> None:
    names, failed = pages.run(
        pages.code_cells(PAGE), PAGE.parent, {"dataset": own, "effort": 0.05, **values}
    )
    assert failed == []
    found = names["found"]
    assert len(found) == 6
    for one in found:
        assert (one.optimum is None) == (one.limit is None) == (one.status != "converged")
    (claims,) = {id(v): v for v in names.values() if isinstance(v, Ledger)}.values()
    assert all(row.verdict != "not-applicable" for row in claims.settled.values())


@pytest.mark.parametrize("page", pages.sections(PAGE), ids=lambda page: page.stem)
def test_a_section_finishes_with_another_seed_and_little_effort(page: Path) -> None:
    names, failed = pages.run(pages.code_cells(page), page.parent, {"seed": 3, "effort": 0.05})
    assert failed == []
    assert any(isinstance(value, Ledger) and value.settled for value in names.values())
