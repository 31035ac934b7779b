"""The experiments of Section 5: a reader's data, ranks, and evidence that can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reluflow import datasets
from reluflow.approx import MARK
from reluflow.datasets import Dataset
from reluflow.errors import InputError
from reluflow.ledger.inventory import claims_by_id, held, load_inventories
from reluflow.papers.lee2022support import examples

STEP = 0.005
RETURNS = datasets.load("example-5.3")
THREE = datasets.Dataset(
    "three", np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([2.0, 1.0, 1.0]), False, ""
)


@pytest.fixture(scope="module")
def paper() -> examples.Study:
    return examples.study("paper", None, STEP, 0)


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


def write(folder: Path, text: str, name: str = "mine.csv") -> str:
    path = folder / name
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


def test_cells_that_take_too_long_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,y\n1,0.2,2\n0.3,1,1\n1,1,3\n")
    run = examples.study(path, [[0.3, 0.1]], STEP, 0).main
    assert run.minima
    run = replace(run, most_cells=1)
    assert (run.minima, run.limits[0].rank) == ((), 0)


def test_starts_and_data_that_do_not_fit(tmp_path: Path) -> None:
    for name, starts, message in (
        ("paper", [[0, 1]], "initial_points need one data set"),
        ("example-5.1", [[0, 1, 2]], "point 1 has 3 coordinates"),
        ("example-5.1", [[0, 1], [0, float("nan")]], "point 2"),
        ("example-5.4", None, "neither a known name nor a CSV"),
        (write(tmp_path, "a,b,y\n1,0,2\n0,-1,1\n"), None, "assumption A1"),
        (write(tmp_path, "a,b,y\n1,0,2\n0,0,1\n", "z.csv"), None, "assumption A1"),
        (write(tmp_path, "a,b,y\n1,0,2\n0,1,0\n", "y.csv"), None, "assumption A2"),
    ):
        with pytest.raises(InputError, match=message):
            examples.study(name, starts, STEP, 0)
    with pytest.raises(InputError, match="initial_points must be"):
        own(THREE.X.copy(), THREE.y.copy(), [])


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


def test_a_minimum_that_rounding_makes_is_marked() -> None:
    # 3 * 0.1 is not 0.3: what was parallel before it was computed is fitted far away.
    starts = [[1e-3, 1e-3]]
    computed = own(np.array([[0.1, 0.3], [3 * 0.1, 0.9]]), np.ones(2), starts)
    shapes = examples.minima_table(computed)["shape"].tolist()
    assert shapes[0] == "point, by the last digits of the data"
    printed = own(np.array([[0.1, 0.3], [0.3, 0.9]]), np.ones(2), starts)
    assert not any("digits" in shape for shape in examples.minima_table(printed)["shape"])
    assert examples.limits_table(printed)["rank"].tolist() == ["1"]


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


def test_other_starts_are_no_seven_small_ones(
    paper: examples.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "LOOP_STEPS", 4000)  # enough for the sign, in a fifth of the time
    starts = datasets.settings("example-5.1").small_points
    found = examples.seven_starts(paper.main, starts)
    # Six of them are no seven, and one that is not small counts.
    other = examples.seven_starts(paper.main, np.vstack([starts[:5], [[0, 45]]]))
    assert value(other, "ranks") == (1, 3)
    assert value(other, "spread") > 1
    assert value(other, "largest norm") == 45
    # The worst of the losses counts, although one of the limits is the least.
    losses = {m.rank: m.loss for m in paper.main.minima}
    assert value(other, "loss above the least") == pytest.approx(losses[3] - losses[1])
    assert sum(verdicts(other).values()) < sum(verdicts(found).values())


def test_the_seed_draws_the_start() -> None:
    first, again, other = (
        examples.study("example-5.2", None, STEP, s).main.starts for s in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (1, 3)
    assert np.all((first > 0) & (first < 1e-4))


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
