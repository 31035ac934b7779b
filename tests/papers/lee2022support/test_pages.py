"""The pages of chapter 1 on a reader's data and with another seed, figures left out."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluflow import pages
from reluflow.ledger import Ledger
from reluflow.places import CHAPTERS

PAGE = CHAPTERS / "01_support_vectors.ipynb"
PRINTED = {
    "01_support_vectors": {"sv.ex5.1.a"},
    "examples": {
        *("sv.ex5.1.b", "sv.ex5.1.gd", "sv.ex5.2", "sv.ex5.3"),
        *("sv.fig12.iteration", "sv.fig13.iteration", "sv.fig13.asymptotes"),
    },
}
"""The claims on the paper's own data, by the page that settles them."""

BY_NAME = attrgetter("stem")

pytestmark = pytest.mark.long


def verdicts(names: dict[str, Any]) -> dict[str, str]:
    (claims,) = {id(v): v for v in names.values() if isinstance(v, Ledger)}.values()
    return {id: row.verdict for id, row in claims.settled.items()}


@pytest.mark.parametrize("d", [2, 4])
@pytest.mark.parametrize(
    "page", [PAGE, PAGE.with_suffix("") / "examples.ipynb"], ids=lambda page: page.stem
)
def test_own_data(page: Path, d: int, tmp_path: Path) -> None:
    """Claims on the printed data are not judged on others; all others are."""
    rng = np.random.default_rng(d)
    table = np.column_stack([rng.uniform(size=(7, d)), rng.uniform(0.1, 3.0, 7)])
    rows = [",".join(f"{v:.4f}" for v in row) for row in table]
    head = ",".join([*(f"x{k + 1}" for k in range(d)), "y"])
    (tmp_path / "my.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    given = {
        "dataset": str(tmp_path / "my.csv"),
        "initial_points": [[0.1] * d, [1.0] * d],
        "step": 0.01,
        "effort": 0.05,
    }
    names, failed = pages.run(pages.code_cells(page), page.parent, given)
    assert failed == []
    assert len(names["study"].main.limits) == 2
    assert names["study"].others == ()
    found = verdicts(names)
    assert {id for id, v in found.items() if v == "not-applicable"} == PRINTED[page.stem]


@pytest.mark.parametrize("page", pages.sections(PAGE), ids=BY_NAME)
def test_a_section_finishes_with_another_seed_and_little_effort(page: Path) -> None:
    names, failed = pages.run(pages.code_cells(page), page.parent, {"seed": 3, "effort": 0.05})
    assert failed == []
    assert verdicts(names)
