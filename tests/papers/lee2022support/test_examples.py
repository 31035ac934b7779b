"""The experiments of Section 5: runs, tables, and evidence that can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reluflow import datasets, rational
from reluflow.approx import MARK
from reluflow.datasets import Dataset
from reluflow.errors import InputError
from reluflow.flows.descent import path_distance
from reluflow.ledger.inventory import claims_by_id, held, load_inventories
from reluflow.papers.lee2022support import examples
from reluflow.papers.lee2022support.setting import plain_descent

STEP = 0.005
FIVE, LEAVES, RETURNS = (datasets.load(name) for name in datasets.PAPER)
THREE = datasets.Dataset(
    "three", np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([2.0, 1.0, 1.0]), False, ""
)


# --- The experiments ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paper() -> examples.Study:
    return examples.study("paper", None, STEP, 0)


def test_the_papers_study(paper: examples.Study) -> None:
    assert paper.main.dataset.name == "example-5.1"
    assert [run.dataset.name for run in paper.others] == ["example-5.2", "example-5.3"]
    for run, item in zip((paper.main, *paper.others), (FIVE, LEAVES, RETURNS), strict=True):
        assert np.array_equal(run.X, item.X)
        assert np.array_equal(run.y, item.y)
        assert run.as_printed
        assert paper.printed(run.dataset.name) is run
    assert paper.printed("example-5.4") is None
    assert [run.iterations for run in (paper.main, *paper.others)] == [200_000, 10_000, 20_000]
    assert paper.main.starts.tolist() == [[1e-4, 1e-4], [0, 8], [0, 45]]


def test_the_seed_draws_the_start() -> None:
    first, again, other = (
        examples.study("example-5.2", None, STEP, s).main.starts for s in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (1, 3)
    assert np.all((first > 0) & (first < 1e-4))


def test_a_changed_run_is_not_as_printed() -> None:
    assert examples.study("example-5.2", None, STEP, 3).printed("example-5.2") is not None
    slower = examples.study("example-5.2", None, 0.001, 0)
    assert not slower.main.as_printed
    assert slower.printed("example-5.2") is None
    assert slower.main.step == 0.001
    moved = examples.study("example-5.2", [[1, 2, 3]], STEP, 0)
    assert not moved.main.as_printed
    assert moved.main.starts.tolist() == [[1, 2, 3]]
    assert moved.others == ()


def write(folder: Path, text: str) -> str:
    path = folder / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_readers_data(tmp_path: Path) -> None:
    found = examples.study(write(tmp_path, "a,b,y\n1,0,2\n0,1,1\n1,1,1\n"), None, 0.01, 0)
    run = found.main
    assert found.others == ()
    assert not run.as_printed
    assert run.iterations == examples.OWN_ITERATIONS
    assert np.array_equal(run.X, THREE.X)
    assert run.starts.shape == (3, 2)
    # The small start ends in the second best minimum of the three data.
    assert (run.limits[0].rank, run.limits[0].support) == (2, (0, 1, 2))
    assert run.limits[0].loss == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,y\n1,0,2\n0,-1,1\n", "A1"),
        ("a,b,y\n1,0,2\n0,0,1\n", "A1"),
        ("a,b,y\n1,0,2\n0,1,0\n", "A2"),
    ],
)
def test_data_outside_the_assumptions(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"assumption {message}"):
        examples.study(write(tmp_path, text), None, STEP, 0)


def test_data_that_span_less_are_followed_in_their_span(tmp_path: Path) -> None:
    """A3 is a choice of coordinates (Corollary E.2): the flow leaves what it cannot see alone."""
    run = examples.study(write(tmp_path, "a,b,y\n1,1,2\n2,2,1\n"), [[0.3, 0.1]], STEP, 0).main
    (limit,) = run.limits
    assert limit.w == pytest.approx([0.4 + 0.1, 0.4 - 0.1])  # x.w: (2 * 1 + 1 * 2) / 5 = 4/5
    assert (limit.rank, limit.support) == (1, (0, 1))


def test_many_data_with_too_many_cells_are_refused(tmp_path: Path) -> None:
    def text(n: int, d: int) -> str:
        rows = np.random.default_rng(0).uniform(0.1, 1, (n, d + 1)).round(4)
        names = ",".join([f"x{k}" for k in range(d)] + ["y"])
        return names + "\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n"

    most = examples.MOST_DATA
    with pytest.raises(InputError, match=f"n = {most + 1} data in d = 4 .* too many to enumerate"):
        examples.study(write(tmp_path, text(most + 1, 4)), None, STEP, 0)
    # The same number in the plane has few cells, and as many as MOST_DATA go on without theirs.
    assert examples.study(write(tmp_path, text(most + 1, 2)), None, STEP, 0).main.y.size == most + 1
    assert examples.study(write(tmp_path, text(most, 4)), None, STEP, 0).main.minima == ()


def test_cells_that_take_too_long_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "a,b,y\n1,0.2,2\n0.3,1,1\n1,1,3\n")
    assert examples.study(path, [[0.3, 0.1]], STEP, 0).main.minima
    monkeypatch.setattr(examples, "MOST_CELLS", 1)
    run = examples.study(path, [[0.3, 0.1]], STEP, 0).main
    assert (run.minima, run.limits[0].rank) == ((), 0)


def test_a_readers_data_are_followed_with_a_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []

    def watched(items, total, unit):
        shown.append((total, unit))
        return items

    monkeypatch.setattr(examples, "progress", watched)
    run = examples.study(write(tmp_path, "a,b,y\n1,0.2,2\n0.3,1,1\n"), None, STEP, 0).main
    assert len(run.flows) == len(run.starts)
    assert run.minima
    assert [unit for _, unit in shown] == ["flows", "cells"]
    assert examples.study("example-5.1", None, STEP, 0).main.flows
    assert len(shown) == 2


def test_starts_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="initial_points need one data set"):
        examples.study("paper", [[0, 1]], STEP, 0)
    with pytest.raises(InputError, match="point 1 has 3 coordinates"):
        examples.study("example-5.1", [[0, 1, 2]], STEP, 0)
    with pytest.raises(InputError, match="point 2"):
        examples.study("example-5.1", [[0, 1], [0, float("nan")]], STEP, 0)
    with pytest.raises(InputError, match="neither a known name nor a CSV"):
        examples.study("example-5.4", None, STEP, 0)
    with pytest.raises(InputError, match="initial_points must be"):
        examples.experiment(Dataset("mine", THREE.X.copy(), THREE.y.copy(), False, ""), [], STEP, 0)


def test_limits_and_their_ranks(paper: examples.Study) -> None:
    limits = paper.main.limits
    assert [v.rank for v in limits] == [3, 2, 1]
    assert [v.support for v in limits] == [(0, 1, 2, 3, 4), (1, 3, 4), (3, 4)]
    assert [v.start.tolist() for v in limits] == paper.main.starts.tolist()
    assert {v.status for v in limits} == {"converged"}
    for limit in limits:  # the exact fit of its support, which lies in its cell
        exact = rational.fit(FIVE.X, FIVE.y, limit.support)
        assert rational.is_local_minimum(exact, limit.support)
        assert limit.w == pytest.approx([float(v) for v in exact.w])
        assert limit.loss == pytest.approx(float(exact.loss))
    leaves, returns = (run.limits[0] for run in paper.others)
    assert (leaves.rank, leaves.support) == (2, (1, 2))
    assert (returns.rank, returns.support) == (1, (0, 1, 2, 3))


def own(X, y, starts: list | None) -> examples.Experiment:
    data = Dataset("mine", np.array(X, float), np.array(y, float), False, "")
    return examples.experiment(data, starts, STEP, 0)


def test_ranks_of_limits_that_are_no_isolated_minimum() -> None:
    X, y = [[1, 0], [0, 1]], [1, 2]
    # Losses 0, 1/2, 2 and 5/2 of the four cells' minima.
    dead, half, stuck = own(X, y, [[-1, -1], [0.5, -1], [0, 0.5]]).limits
    assert (dead.rank, dead.support, dead.loss) == (4, (), 2.5)
    assert (half.rank, half.support, half.loss) == (3, (0,), 2.0)
    # From x_1's own boundary two flows leave: where that one stops is no minimum.
    assert (stuck.status, stuck.rank, stuck.support) == ("non-unique", 0, (1,))
    # Not even where its loss happens to be that of a minimum, 2, with another support.
    (level,) = own(X, y, [[0, 2 - 3**0.5]]).limits
    assert level.loss == pytest.approx(half.loss)
    assert (level.status, level.rank) == ("non-unique", 0)


def test_a_limit_that_is_not_a_minimum_of_its_support_has_no_rank(paper: examples.Study) -> None:
    run = paper.main
    moved = replace(run.flows[2], end=run.flows[2].end * 1.01)
    assert run._limit(run.flows[2]).rank == 1
    assert run._limit(moved).rank == 0


def test_too_many_cells_leave_the_rank_open() -> None:
    rng = np.random.default_rng(0)
    run = own(rng.uniform(size=(30, 6)), np.ones(30), [[1e-3] * 6])
    assert run.minima == ()
    assert run.limits[0].rank == 0
    assert run.limits[0].status == "converged"
    assert own(FIVE.X, FIVE.y, None).minima != ()


def test_the_linear_flows_and_descents_of_a_run(paper: examples.Study) -> None:
    run = paper.others[0]
    (line,) = run.linear_flows
    assert line.end == pytest.approx(np.linalg.solve(run.X, run.y))
    (descent,) = run.descents
    assert descent.clock == "steps"
    assert descent.t[-1] == 10_000
    loop = plain_descent(run.X, run.y, run.starts[0], STEP, 10_000)
    assert descent.end == pytest.approx(loop[-1], rel=1e-9)


def test_the_first_event_is_when_the_loop_crosses(paper: examples.Study) -> None:
    run = paper.others[0]
    h = plain_descent(run.X, run.y, run.starts[0], STEP, 400) @ run.X[0]
    crossed = int(np.argmax(h <= 0))
    found = run.flows[0].first_time(0, "deactivate") / STEP
    assert found == pytest.approx(crossed, abs=3)


def read(shown: str) -> float:
    """A number as a table shows it, the mark of a measured one left out."""
    return float(shown.removeprefix(MARK))


def test_small_labels_have_small_losses_with_all_their_digits(paper: examples.Study) -> None:
    """Labels in another unit: losses are the old ones times its square, none is 0.000000."""
    unit = 2.0**-20
    small = replace(paper.main.dataset, y=unit * paper.main.dataset.y, printed=False)
    run = examples.experiment(small, (unit * paper.main.starts).tolist(), 0.005, 0)
    for table in (examples.limits_table, examples.minima_table):
        losses, others = (table(r)["loss"].map(read) for r in (run, paper.main))
        assert (losses / unit**2).tolist() == pytest.approx(others.tolist(), rel=1e-5)


def test_tables(paper: examples.Study) -> None:
    limits = examples.limits_table(paper.main)
    assert limits["rank"].tolist() == ["3", "2", "1"]
    assert limits["support vectors"].tolist() == ["{1, 2, 3, 4, 5}", "{2, 4, 5}", "{4, 5}"]
    assert limits["events"].tolist() == ["0", "2", "3"]
    assert limits.index.tolist() == ["flow 1", "flow 2", "flow 3"]
    assert read(limits["loss"].iloc[2]) == pytest.approx(2.375568, abs=1e-6)
    minima = examples.minima_table(paper.main)
    assert len(minima) == len(paper.main.minima)
    assert minima.index.tolist() == [f"rank {m.rank}" for m in paper.main.minima]
    assert minima["loss"].map(read).is_monotonic_increasing
    assert minima["support vectors"].tolist()[0] == "{4, 5}"
    assert "none" in minima["support vectors"].tolist()
    assert len(examples.minima_table(paper.main, most=2)) == 2
    wide = own(np.random.default_rng(0).uniform(size=(30, 6)), np.ones(30), [[1e-3] * 6])
    assert examples.limits_table(wide)["rank"].tolist() == ["unknown"]
    # At most 2 sum_k C(29, k) cells, k = 0..5: the table says why it is empty.
    assert "293192" in examples.minima_table(wide).to_string()


def test_a_minimum_that_rounding_makes_is_marked() -> None:
    # 3 * 0.1 is not 0.3: what was parallel before it was computed is fitted far away.
    starts = [[1e-3, 1e-3]]
    computed = own(np.array([[0.1, 0.3], [3 * 0.1, 0.9]]), np.ones(2), starts)
    shapes = examples.minima_table(computed)["shape"].tolist()
    assert shapes[0] == "point, by the last digits of the data"
    printed = own(np.array([[0.1, 0.3], [0.3, 0.9]]), np.ones(2), starts)
    assert not any("digits" in shape for shape in examples.minima_table(printed)["shape"])
    assert examples.limits_table(printed)["rank"].tolist() == ["1"]


@pytest.mark.parametrize("ratio", [1e6, 1e12])
def test_limits_are_named_where_columns_have_different_units(ratio: float) -> None:
    X = np.array([[0.31, 0.72], [0.9, 0.05], [0.44, 0.48], [0.07, 0.66]])
    units = np.array([1.0, ratio])
    for y in ([1.2, 0.7, 2.5, 0.9], [0.5, 3.0, 0.8, 1.9]):
        one, other = (own(X * u, np.array(y), [(1e-4 / u).tolist()]) for u in (np.ones(2), units))
        assert [m.support for m in one.minima] == [m.support for m in other.minima]
        assert other.limits[0].rank > 0


# --- Evidence -------------------------------------------------------------------------------------


def verdicts(settlement: dict) -> dict[str, bool]:
    """Which deciding pieces hold, under the limits of the paper's inventory."""
    claims = claims_by_id(load_inventories()).values()
    limits = {k: v for c in claims if c.id.startswith("sv.") for k, v in c.limits.items()}
    pieces = tuple(e for e in settlement["evidence"] if e.decides)
    return {e.what: e.holds for e in held(pieces, limits, "sv")}


def value(settlement: dict, words: str):
    (found,) = (e.value for e in (*settlement["evidence"], *settlement.get("instead", ()))
                if words in e.what)  # fmt: skip
    return found


def test_evidence_on_the_three_starts(paper: examples.Study) -> None:
    """The paper has them the wrong way round: the small start's limit is the worst of the three."""
    found = examples.three_starts(paper.main)
    assert list(verdicts(found).values()) == [True, False, True, False, False]
    above = rational.fit(FIVE.X, FIVE.y, range(5)).loss - rational.fit(FIVE.X, FIVE.y, (3, 4)).loss
    assert value(found, "above the least loss") == pytest.approx(float(above))
    assert value(found, "their support vectors") == ((1, 2, 3, 4, 5), (2, 4, 5), (4, 5))
    broken = found["counterexample"]
    assert len(broken.recheck) == 2
    for piece in (*broken.breaks, *broken.recheck):
        assert not piece.holds
    exact, by_fits, by_loops = (e.value for e in (*broken.breaks, *broken.recheck))
    assert (exact, by_fits) == pytest.approx((float(above), float(above)))
    # The loop from (0, 45) creeps along a direction of small curvature and has not quite settled.
    assert by_loops == pytest.approx(float(above), abs=0.05)
    assert all(broken.assumptions.values())
    # With the starts in reverse order the same claim would hold, and have no counterexample.
    reverse = examples.three_starts(replace(paper.main, starts=paper.main.starts[::-1]))
    assert list(verdicts(reverse).values()) == [True, True, True, True, True]
    # The second start's limit may not be the global minimum, either.
    exchanged = examples.three_starts(replace(paper.main, starts=paper.main.starts[[0, 2, 1]]))
    assert list(verdicts(exchanged).values())[2:4] == [False, True]
    mended = reverse["counterexample"]
    assert all(piece.holds for piece in (*mended.breaks, *mended.recheck))


def test_evidence_on_the_seven_starts(
    paper: examples.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "LOOP_STEPS", 4000)  # enough for the sign, in a fifth of the time
    starts = datasets.settings("example-5.1").small_points
    found = examples.seven_starts(paper.main, starts)
    ends = [plain_descent(FIVE.X, FIVE.y, w0, 0.2, 500)[-1] for w0 in starts]
    ranks = {
        next(m.rank for m in paper.main.minima if np.allclose(m.w, w, atol=1e-3)) for w in ends
    }
    assert value(found, "ranks") == tuple(sorted(ranks)) == (3,)
    assert value(found, "spread") < 1e-9
    force = min(
        float((np.where(FIVE.X @ w > 0, FIVE.y - FIVE.X @ w, 0) @ FIVE.X).min()) for w in starts
    )
    assert value(found, "-grad L") == pytest.approx(force)
    assert not any(piece.holds for piece in found["counterexample"].recheck)
    # Six of them are no seven, and one that is not small counts.
    moved = np.vstack([starts[:5], [[0, 45]]])
    other = examples.seven_starts(paper.main, moved)
    assert value(other, "ranks") == (1, 3)
    assert value(other, "spread") > 1
    assert value(other, "largest norm") == 45
    # The worst of the losses counts, although one of the limits is the least.
    losses = {m.rank: m.loss for m in paper.main.minima}
    assert value(other, "loss above the least") == pytest.approx(losses[3] - losses[1])
    assert sum(verdicts(other).values()) < sum(verdicts(found).values())


def test_evidence_on_descent_for_the_flow(paper: examples.Study) -> None:
    found = examples.descent_for_flow(paper.main)
    assert all(verdicts(found).values())
    assert value(found, "left") < 1e-3
    assert value(found, "order") == 3
    pairs = zip(paper.main.flows, paper.main.descents, strict=True)
    apart = [path_distance(flow, descent, STEP) for flow, descent in pairs]
    assert value(found, "whole path") == max(apart) > min(apart)
    # Stopped early, or with a step too long, it does not stand for the flow.
    early = examples.descent_for_flow(replace(paper.main, iterations=500))
    assert value(early, "left") > 0.05
    assert not all(verdicts(early).values())
    long = examples.descent_for_flow(replace(paper.main, step=0.5, iterations=1000))
    assert not all(verdicts(long).values())


def test_evidence_on_the_deactivation(paper: examples.Study) -> None:
    run = paper.others[0]
    found = examples.deactivation(run)
    assert all(verdicts(found).values())


def test_evidence_on_the_captions(paper: examples.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both captions, by one rule: the best of three normalisations for the farther of the two."""
    counts = []
    for run, datum, steps in ((paper.others[0], 0, 300), (paper.others[1], 3, 6000)):
        h = plain_descent(run.X, run.y, run.starts[0], STEP, steps) @ run.X[datum]
        off = int(np.argmax(h <= 0))
        once, n = off if datum == 0 else off + int(np.argmax(h[off:] > 0)), len(run.y)
        counts.append([once, n * once, n * once / 2])
    off = np.abs(np.array(counts) / [[500], [8500]] - 1)
    for run in paper.others:
        found = examples.caption_iteration(run, 0)
        assert next(iter(verdicts(found).values())) is False
        assert (
            pytest.approx(np.array(counts), rel=0.02)
            == np.array([e.value for e in found["instead"]]).T
        )
        assert found["evidence"][0].value == pytest.approx(off.max(axis=0).min(), abs=0.02)
    # Captions that one normalisation suits pass; with the other 6 % off they do not.
    for second, holds in ((2 * 8062, True), (2 * 8062 * 1.06, False)):
        told = {"example-5.2": (0, "deactivate", 469), "example-5.3": (3, "activate", second)}
        monkeypatch.setattr(examples, "CAPTIONS", told)
        found = examples.caption_iteration(paper.others[0], 0)
        assert next(iter(verdicts(found).values())) == holds


def test_evidence_on_the_reactivation(paper: examples.Study) -> None:
    run = paper.others[1]
    found = examples.reactivation(run)
    assert all(verdicts(found).values())
    h = plain_descent(run.X, run.y, run.starts[0], STEP, 6000) @ run.X[3]
    off = int(np.argmax(h <= 0))
    on = off + int(np.argmax(h[off:] > 0))
    assert value(found, "iterations of the two events") == pytest.approx((off, on), abs=15)


def test_evidence_on_the_asymptotes(paper: examples.Study) -> None:
    run = paper.others[1]
    found = examples.caption_asymptotes(run)
    assert not any(verdicts(found).values())
    h = rational.fit(RETURNS.X, RETURNS.y, range(4)).preactivations
    off = max(abs(a - b) / b for a, b in zip(h, rational.rationals(RETURNS.y), strict=True))
    (deviation,) = (e.value for e in found["evidence"])
    assert deviation == pytest.approx(float(off))
    # One label is fitted: x_1 - x_2 + 2 x_4 = 0 has no x_3 in it.
    residual = [a - b for a, b in zip(h, rational.rationals(RETURNS.y), strict=True)]
    assert [60 * r for r in residual] == [-1, 1, 0, -2]
    assert value({"evidence": found["instead"]}, "data i whose label is fitted") == (3,)
    # Where the data are fitted exactly the dashed lines are the asymptotes.
    exact = own(RETURNS.X, RETURNS.X @ [1.0, 0.5, 0.25], [[0.1, 0.1, 0.1]])
    assert all(verdicts(examples.caption_asymptotes(exact)).values())


def test_the_table_of_many_draws(paper: examples.Study) -> None:
    data = [run.dataset for run in paper.others]
    table = examples.draws_table(data, STEP, 4, 0)
    assert table.index.tolist() == ["example-5.2", "example-5.3"]
    assert table["starts"].tolist() == [4, 4]
    events = table["events (share of the starts)"].tolist()
    assert events == ["x_1 deactivates (100 %)", "x_4 deactivates, x_4 activates (100 %)"]
    assert table["rank of the limit"].tolist() == ["2 (4)", "1 (4)"]
    # In units of the step: near 156 for Example 5.2, and from near 9 to near 4031 for 5.3.
    low, high = map(read, table["iteration of the first event"].iloc[0].split(" to "))
    assert 150 < low <= high < 160
    slow = examples.draws_table(data, 2 * STEP, 4, 0)["iteration of the first event"].iloc[0]
    assert read(slow.split(" to ")[0]) == pytest.approx(low / 2, abs=1)
    assert read(table["iteration of the first event"].iloc[1].split(" to ")[1]) < 20
    assert read(table["of the last"].iloc[1].split(" to ")[1]) == pytest.approx(4031, abs=30)
