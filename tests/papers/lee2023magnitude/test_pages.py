"""The pages of chapter 2 on a reader's network and with other seeds, figures left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reluflow import pages
from reluflow.ledger import Ledger
from reluflow.places import CHAPTERS

PAGE = CHAPTERS / "02_magnitude_angle.ipynb"
FIGURES = ("ma.fig1", "ma.fig2")

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    "values",
    [
        {"layers": [2, 5], "norms": [0.3], "n": 300, "d": 4, "steps": 400, "learning_rate": 0.01},
        {"layers": [1], "norms": [1, 3], "steps": 300, "data": "population", "seed": 5},
    ],
    ids=["data", "population"],
)
def test_own_network(values: dict[str, Any]) -> None:
    names, failed = pages.run(pages.code_cells(PAGE), PAGE.parent, {"effort": 0.05, **values})
    assert failed == []
    runs = names["trained_runs"]
    assert len(runs) == len(values["layers"]) * len(values["norms"])
    assert all(len(run.trained.t) == values["steps"] + 1 for run in runs)
    (claims,) = {id(v): v for v in names.values() if isinstance(v, Ledger)}.values()
    open_ones = {id for id, row in claims.settled.items() if row.verdict == "not-applicable"}
    assert open_ones == set(FIGURES)


@pytest.mark.parametrize("page", pages.sections(PAGE), ids=lambda page: page.stem)
def test_a_section_finishes_with_another_seed_and_little_effort(page: Path) -> None:
    names, failed = pages.run(pages.code_cells(page), page.parent, {"seed": 3, "effort": 0.05})
    assert failed == []
    assert any(isinstance(value, Ledger) and value.settled for value in names.values())
