"""Starts, where small ones end, how their norm goes and conditions B1-B4; the record of starts."""

import re
from dataclasses import replace
from itertools import count

import numpy as np
import pandas as pd
import pytest
from reluflow import pages
from reluflow.flows.affine import affine_flow
from reluflow.ledger import LedgerError
from reluflow.ledger.inventory import claims_by_id, load_inventories
from reluflow.papers.lee2022support import norm, setting, small_flows, starts
from reluflow.papers.lee2022support.landscape import local_minima, loss
from reluflow.papers.lee2022support.norm import conditions, norm_rate
from reluflow.places import RECORDS

X3 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
PARALLEL = {k: np.array(v, float) for k, v in zip("Xyu", norm.TOGETHER, strict=True)}
RNG = np.random.default_rng

# A double zero of x_1.w(t) on the all-active flow from 0.
TANGENT = np.vstack([np.eye(3), [[1, 0, 1], [0, 1, 1]]]), np.array([9, 40, 13, 3, 53])
RUNS = pd.read_csv(RECORDS / "small_starts.csv")


def test_protected_at_the_edge_of_the_ball() -> None:
    # Radii y_j / |x_j| of 1 and 7/5 around w_GM = (1, 1).
    X, y, w_gm = [[1, 0], [3, 4]], [1, 7], [1, 1]
    for height, kept in ((1.5, [True, True]), (2, [False, True]), (2.5, [False, False])):
        assert starts.protected(X, y, [1, height], w_gm).tolist() == kept  # it is strict
    # x_j.w0 > 0 is asked by itself: with X w_GM = y it follows from (6), so here it does not.
    assert starts.protected([[1, 0], [0, 1]], [9, 9], [-1, 1], [1, 1]).tolist() == [False, True]


def test_entry_is_into_the_cell_of_all_data() -> None:
    paths = [affine_flow(np.eye(2), np.ones(2), w0) for w0 in ([1, -1], [1, 1])]
    assert [starts.entered(np.eye(2), path) for path in paths] == [False, True]


def test_a_touch_is_outside_the_repair_and_just_missed_it_is_undecided() -> None:
    repair = starts.small_starts_agree()
    touching = {"X": TANGENT[0], "y": TANGENT[1], "U": np.array([[1.0, 1, 1], [1, 1, 3]])}
    assert not any(test(touching) for test in list(repair.hypotheses.values())[1:])
    missed = {**touching, "y": TANGENT[1] + [1e-3, 0, 0, 0, 0]}
    assert repair.unmet(missed) is None
    assert np.isnan(repair.slack(missed))


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_crossing_without_speed_on_one_side_leaves_no_room(side, monkeypatch) -> None:
    right, y, rooms = setting.crossings, np.array([4.0, 1.0, 1.0]), starts._limit_rooms.__wrapped__
    slow = {side: np.array([True, False, False])}
    assert rooms(X3, y)[1] > 0.0
    monkeypatch.setattr(setting, "crossings", lambda *of: [replace(s, **slow) for s in right(*of)])
    assert rooms(X3, y)[1] == 0.0


def test_a_path_that_is_recorded_once_more_at_its_end_has_no_cell_more() -> None:
    """As a flow is that is followed past its last event before its limit is known."""
    X, y = np.vstack([np.eye(3), [1, 1, 0]]), np.array([4.0, 1.0, 1.0, 1.0])
    path = affine_flow(X, y, 1e-6 * np.ones(3))
    twice = path.states[[*range(len(path.t)), -1]]
    more = replace(path, t=np.append(path.t, 2 * path.t[-1]), states=twice)
    assert 0.0 <= starts._least_turn(X, y, path) == starts._least_turn(X, y, more) < 1.0


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


def test_the_data_tell_what_enumeration_and_flows_tell() -> None:
    rng = RNG(0)
    for item in setting.draw_many(60, 2, 8):
        told = small_flows.planar_data(item.X[None], item.y[None])
        told = small_flows.PlanarData(*(v[0] for v in told))
        radius = setting.guaranteed_radius(item.X, item.y)
        w = told.limit
        zero = 0.5 * float(item.y @ item.y)
        assert told.loss == pytest.approx(float(loss(item.X, item.y, w)), abs=1e-6 * zero)
        minima = local_minima(item.X, item.y)
        assert told.least <= minima[0].loss + 1e-9 * zero
        if item.kind != "extreme":  # there the enumeration drops minima that rounding may own
            assert told.least == pytest.approx(minima[0].loss, abs=1e-9 * zero)
        if item.kind in ("uniform", "directions", "integers"):
            assert told.most == max(len(m.support) for m in minima)
            u = setting.start_direction(item.X, item.y, rng)
            end = affine_flow(item.X, item.y, 0.99 * radius * u).end
            assert np.linalg.norm(end - w) <= 1e-6 * np.linalg.norm(w)


def test_a_minimum_on_a_boundary_is_decided_exactly() -> None:
    X, y = np.array([X3, 3.0 * X3]), np.array([(3, 1, 1), (0.9, 0.3, 0.3)])  # no three tenths
    told = small_flows.planar_data(X, y)
    # As doubles are, x_2 is beyond its boundary, by the rounding of three tenths.
    assert told.kept.sum(axis=1).tolist() == [3, 2]
    assert (told.loss[0], told.least[0]) == pytest.approx((1.5, 0.5))


def test_a_datum_that_is_given_up_counts_where_none_may_be() -> None:
    item = {"X": X3, "y": np.array([4.0, 1.0, 1.0]), "u": np.ones(2)}
    assert norm.keeps_all_data().slack(item) == -1.0
    assert starts.ends_at_rest().slack(item) > 0.0


# --- The norm -------------------------------------------------------------------------------------


def test_norm_lost_against_fine_grids_across_events():
    events = 0
    for item in setting.draw_many(80, 2, 4):
        path = affine_flow(item.X, item.y, 0.3 * RNG(1).normal(size=2))
        t, size = path.grid(400), 1e-12
        for _ in range(4):  # the grid, made ever finer around the largest drop
            fine = (path.at(t) ** 2).sum(axis=1)
            end = int(np.argmax(np.maximum.accumulate(fine) - fine))
            top = int(np.argmax(fine[: end + 1]))
            slow, size = float(fine[top] - fine[end]), 1e-12 * fine.max()
            near = [np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], 400)
                    for k in (top, end)]  # fmt: skip
            t = np.unique([*t, *np.ravel(near)])
        assert slow - size <= norm.norm_lost(item.X, item.y, path) <= slow * 1.001 + size
        events += len(path.events) > 0 and slow > size
    assert events > 3


@pytest.mark.parametrize("off", [1e-6, -1e-6])
def test_rates_at_minima_are_shares_of_the_datas_size(off, monkeypatch):
    """|Xw|^2 + |y|^2 has the unit of g, so a share of it is told as it is, for data of any size."""

    def shifted(X, y, w):
        return norm_rate(X, y, w) + off * (np.sum((X @ w) ** 2) + np.sum(y**2))

    monkeypatch.setattr(norm, "norm_rate", shifted)
    largest = norm.rate_at_minima(0, 5)[0]
    assert largest.value == pytest.approx(1e-6, rel=1e-3)
    assert not largest.holds


# --- Conditions B1-B4 -----------------------------------------------------------------------------


def test_conditions_against_their_printed_form():
    """The last data are parallel: one boundary, and B2 asks of each label what is printed."""
    rng = RNG(5)
    cases = [(norm.built_crossings(rng), 0.9) for _ in range(25)]
    seen = 0
    for item, size in [*cases, (PARALLEL, 1e-2)]:
        for step in setting.crossings(item["X"], setting.small_flows(item, [size])[0]):
            found = norm.conditions(item["X"], item["y"], step)
            at = step.datum, step.w, step.before, step.after
            b1, b2, b4 = norm.printed_conditions(item["X"], item["y"], *at)
            assert found.full
            assert pytest.approx(b1, abs=1e-9) == found.B1
            assert found.B2 * item["y"][step.datum] == pytest.approx(b2, rel=1e-6, abs=1e-9)
            assert (found.B4 > 0) == (b4 > 0)
            assert found.hold == (min(b1, b2, b4) > 0)
            seen += found.hold
    assert seen >= 3 + 2
    assert (step.before.tolist(), step.after.tolist()) == ([True] * 2 + [False] * 2, [True] * 4)


def test_conditions_allow_another_order_of_eigenvectors_and_ask_for_rank():
    X, y = np.array([[1.0, 0.0], [0.0, 1.1], [0.5, 0.0]]), np.ones(3)
    all_on = np.ones(3, bool)
    step = setting.Crossing(0.0, 2, np.array([0.3, 0.3]), np.array([True, True, False]), all_on)
    assert norm.conditions(X, y, step).B1 > 0.5  # eigenvalues 1 and 1.21 become 1.25 and 1.21
    flat = setting.Crossing(0.0, 1, np.array([0.3, 0.0]), all_on, np.array([True, False, True]))
    assert not norm.conditions(X, y, flat).full
    assert not norm.conditions(X, y, flat).hold


def test_one_crossing_that_misses_a_condition_is_enough_to_reject(monkeypatch):
    statement = norm.strict_under_conditions()
    ((step, _),) = norm.at_crossings(norm.merged(PARALLEL), 1e-6)
    good = norm.Conditions(1.0, 1.0, True, 1.0, 1.0)
    for bad, missed in (({"inner": -1e-9}, "inner"), ({"B1": -1e-9}, "conditions")):
        met = [(step, good), (step, replace(good, **bad))]
        monkeypatch.setattr(norm, "at_crossings", lambda item, met=met: met)
        given = claims_by_id(load_inventories())["sv.ours.crossing.norm"].given
        assert statement.unmet(PARALLEL) == given[missed]


@pytest.mark.parametrize(
    ("field", "name"),
    [("B1", "B1"), ("B2", "B2"), ("full", "B3"), ("B4", "B4"), ("inner", "x_0.H")],
)
def test_the_conditions_have_to_hold_at_every_crossing(monkeypatch, field, name):
    asked = count()

    def fails_at_one(*args):
        changed = {field: False if field == "full" else -1.0} if next(asked) == 1 else {}
        return replace(conditions(*args), **changed)

    monkeypatch.setattr(norm, "conditions", fails_at_one)
    with pytest.raises(LedgerError, match=re.escape(name)):
        norm.two_at_once()
