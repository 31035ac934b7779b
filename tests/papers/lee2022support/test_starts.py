"""Starts: Propositions 3.1 and 4.4, Theorems 4.2 and 4.3, Lemmas 4.6 and F.5, the record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reluflow import pages
from reluflow.falsify import falsify
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support import dynamics, setting, starts
from reluflow.papers.lee2022support.setting import plain_descent
from reluflow.papers.lee2022support.starts import protected
from reluflow.places import RECORDS

# A double zero of x_1.w(t) on the all-active flow from 0.
TANGENT = np.vstack([np.eye(3), [[1, 0, 1], [0, 1, 1]]]), np.array([9, 40, 13, 3, 53])
RUNS = pd.read_csv(RECORDS / "small_starts.csv")


@pytest.mark.parametrize("seed", [13, 20])
def test_draws_for_the_only_if_make_flows_deactivate(seed):
    """As few as a low effort makes; with points of any length these seeds drew no such flow."""
    report = falsify(dynamics.deactivates_only_if(), seed, 30, 0)
    assert report.tried >= 5
    assert report.survives


def test_small_starts_enter_as_plain_loops_do() -> None:
    """Two data in the plane: directions on a plain grid, each flow by a plain loop."""
    X, y = np.array([[1.0, 0.3], [0.3, 1.0]]), np.array([1.0, 0.5])
    radius = setting.guaranteed_radius(X, y)
    angles = np.linspace(0, 2 * np.pi, 13)
    for u in np.column_stack([np.cos(angles), np.sin(angles)]):
        path = plain_descent(X, y, 0.99 * radius * u, 0.01, 3000)
        enters = bool(np.any((path @ X.T > 0).all(axis=1)))
        assert starts.entered(X, affine_flow(X, y, 0.99 * radius * u)) == enters
        assert enters or np.any(np.where(X @ u > 0, y, 0.0) @ X <= 0)


def test_protected_at_the_edge_of_the_ball() -> None:
    # Radii y_j / |x_j| of 1 and 7/5 around w_GM = (1, 1).
    X, y, w_gm = [[1, 0], [3, 4]], [1, 7], [1, 1]
    for height, kept in ((1.5, [True, True]), (2, [False, True]), (2.5, [False, False])):
        assert protected(X, y, [1, height], w_gm).tolist() == kept  # it is strict
    # x_j.w0 > 0 is asked by itself: with X w_GM = y it follows from (6), so here it does not.
    assert protected([[1, 0], [0, 1]], [9, 9], [-1, 1], [1, 1]).tolist() == [False, True]


def test_a_touch_is_outside_the_repair_and_just_missed_it_is_undecided() -> None:
    repair = starts.small_starts_agree()
    touching = {"X": TANGENT[0], "y": TANGENT[1], "U": np.array([[1.0, 1, 1], [1, 1, 3]])}
    assert not any(test(touching) for test in list(repair.hypotheses.values())[1:])
    missed = {**touching, "y": TANGENT[1] + [1e-3, 0, 0, 0, 0]}
    assert repair.unmet(missed) is None
    assert np.isnan(repair.slack(missed))


def test_a_path_that_is_recorded_once_more_at_its_end_has_no_cell_more() -> None:
    """As a flow is that is followed past its last event before its limit is known."""
    statement = starts.small_starts_agree()
    rng, kinds = np.random.default_rng(7), list(statement.draws)
    item = [statement.draws[kinds[k % len(kinds)]](rng) for k in range(7)][-1]
    (path,) = setting.small_flows(item, starts.SHARES[-1:])
    more = replace(
        path, t=np.append(path.t, 2 * path.t[-1]), states=path.states[[*range(len(path.t)), -1]]
    )
    turns = [starts._least_turn(item["X"], item["y"], each) for each in (path, more)]
    assert turns[0] == turns[1]
    assert 0.0 <= turns[0] <= 1.0


def test_a_run_of_the_record_comes_out_again() -> None:
    n, d, seed = 6, 3, 9
    notebook = RECORDS / "small_starts.ipynb"
    given = {"n": n, "d": d, "draws": 50, "seed": seed}
    names, failed = pages.run(pages.code_cells(notebook), notebook.parent, given)
    assert failed == []
    (row,) = RUNS[(RUNS.n == n) & (RUNS.d == d) & (RUNS.seed == seed)].to_dict("records")
    assert (names["excess"] > names["MISSED"]).sum() == row["glued: missed"]
    assert names["excess"].mean() == pytest.approx(row["glued: mean excess"], rel=1e-9)


def test_the_record_is_whole() -> None:
    """Every point of the grid, ten seeds of fifty draws each, all of one code, none failed."""
    assert set(RUNS["run.status"]) == {"done"}
    assert not RUNS["run.stale"].any()
    counts = RUNS.groupby(["n", "d"])["draws"].agg(["sum", "size"])
    assert counts.to_numpy().tolist() == [[500, 10]] * 12
    row = starts.recorded_misses().query("n == 4 and d == 3")
    assert row.share.item() == RUNS.query("n == 4 and d == 3")["glued: missed"].sum() / 500
