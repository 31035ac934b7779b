"""The record of how often small starts miss, and the sweep that makes it."""

from __future__ import annotations

import pandas as pd
import pytest
from reluflow import pages
from reluflow.papers.lee2022support import figures, starts
from reluflow.places import RECORDS
from reluflow.statistics import wilson

RUNS = pd.read_csv(RECORDS / "small_starts.csv")


@pytest.mark.parametrize(("n", "d", "seed"), [(4, 2, 0), (8, 2, 7), (6, 3, 9)])
def test_a_run_of_the_record_comes_out_again(n: int, d: int, seed: int) -> None:
    notebook = RECORDS / "small_starts.ipynb"
    cells = pages.code_cells(notebook)
    given = {"n": n, "d": d, "draws": 50, "seed": seed}
    names, failed = pages.run(cells, notebook.parent, given)
    assert failed == []
    (row,) = RUNS[(RUNS.n == n) & (RUNS.d == d) & (RUNS.seed == seed)].to_dict("records")
    excess = names["excess"]
    assert (excess > names["MISSED"]).sum() == row["glued: missed"]
    assert excess.mean() == pytest.approx(row["glued: mean excess"], rel=1e-9)


def test_the_record_is_whole() -> None:
    """Every point of the grid, ten seeds of fifty draws each, all of one code, none failed."""
    assert set(RUNS["run.status"]) == {"done"}
    assert not RUNS["run.stale"].any()
    counts = RUNS.groupby(["n", "d"])["draws"].agg(["sum", "size"])
    assert len(counts) == 12
    assert (counts["sum"] == 500).all()
    assert (counts["size"] == 10).all()


def test_the_shares_are_over_all_draws_of_a_point() -> None:
    found = starts.recorded_misses().set_index(["n", "d"])
    missed = RUNS[(RUNS.n == 4) & (RUNS.d == 3)]["glued: missed"].sum()
    low, high = map(float, wilson(missed, 500))
    assert tuple(found.loc[(4, 3)]) == pytest.approx((missed / 500, low, high))


def test_the_map_has_a_cell_for_each_point() -> None:
    (ax, _) = figures.missed(starts.recorded_misses()).axes
    assert len(ax.texts) == 12
    assert all(" %\n(" in text.get_text() for text in ax.texts)
