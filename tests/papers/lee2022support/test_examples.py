"""The experiments of Section 5: a reader's data, and the ranks of limits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reluflow.approx import MARK
from reluflow.datasets import Dataset
from reluflow.errors import InputError
from reluflow.papers.lee2022support import examples
from reluflow.papers.lee2022support.setting import plain_descent

STEP = 0.005


@pytest.fixture(scope="module")
def paper() -> examples.Experiment:
    return examples.study("paper", None, STEP, 0).main


def write(folder: Path, text: str) -> str:
    path = folder / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def own(X, y, starts: list | None, **other) -> examples.Experiment:
    data = Dataset("mine", np.array(X, float), np.array(y, float), False)
    return replace(examples.experiment(data, starts, STEP, 0), **other)


@pytest.mark.parametrize(("starts", "step"), [(None, 0.001), ([[1, 2, 3]], STEP)])
def test_a_changed_run_is_not_as_printed(starts, step) -> None:
    assert examples.study("example-5.2", None, STEP, 3).printed("example-5.2") is not None
    changed = examples.study("example-5.2", starts, step, 0)
    assert changed.printed("example-5.2") is None
    assert changed.main.step == step
    assert changed.main.starts.tolist() == (starts or changed.main.starts.tolist())


def test_data_that_span_less_are_followed_in_their_span(tmp_path: Path) -> None:
    """A3 is a choice of coordinates (Corollary E.2): the flow leaves what it cannot see alone."""
    run = examples.study(write(tmp_path, "a,b,y\n1,1,2\n2,2,1\n"), [[0.3, 0.1]], STEP, 0).main
    (limit,) = run.limits
    assert limit.w == pytest.approx([0.4 + 0.1, 0.4 - 0.1])  # x.w: (2 * 1 + 1 * 2) / 5 = 4/5
    assert (limit.rank, limit.support) == (1, (0, 1))


def test_many_data_with_too_many_cells_are_refused(tmp_path: Path) -> None:
    """The same number in the plane has few cells, and as many as MOST_DATA go on without theirs;
    so do those whose cells would take too long."""

    def file(n: int, d: int) -> str:
        rows = np.random.default_rng(0).uniform(0.1, 1, (n, d + 1)).round(4)
        names = ",".join([f"x{k}" for k in range(d)] + ["y"])
        return write(tmp_path, names + "\n" + "\n".join(",".join(map(str, row)) for row in rows))

    most = examples.MOST_DATA
    with pytest.raises(InputError, match=f"n = {most + 1} data in d = 4 .* too many to enumerate"):
        examples.study(file(most + 1, 4), None, STEP, 0)
    assert examples.study(file(most + 1, 2), None, STEP, 0).main.y.size == most + 1
    assert examples.study(file(most, 4), None, STEP, 0).main.minima == ()
    few = own([[1, 0.2], [0.3, 1], [1, 1]], [2, 1, 3], [[0.3, 0.1]])
    assert few.minima
    few = replace(few, most_cells=1)
    assert (few.minima, few.limits[0].rank) == ((), 0)


def test_starts_need_one_data_set_and_settings_a_printed_one() -> None:
    with pytest.raises(InputError, match='settings for dataset "mine"'):
        examples.settings("mine")
    with pytest.raises(InputError, match="initial_points need one data set"):
        examples.study("paper", [[0, 1]], STEP, 0)


def test_ranks_of_limits_that_are_no_isolated_minimum(paper: examples.Experiment) -> None:
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
    best = paper.flows[2]
    assert [paper._limit(replace(best, end=k * best.end)).rank for k in (1.0, 1.01)] == [1, 0]


def test_small_labels_have_small_losses_with_all_their_digits(paper: examples.Experiment) -> None:
    """Labels in another unit: losses are the old ones times its square, none is 0.000000."""
    unit = 2.0**-20
    small = own(paper.X, unit * paper.y, (unit * paper.starts).tolist())
    for table in (examples.limits_table, examples.minima_table):
        losses, others = (
            [float(v.removeprefix(MARK)) for v in table(run)["loss"]] for run in (small, paper)
        )
        assert losses == pytest.approx([v * unit**2 for v in others], rel=1e-5, abs=0)


def test_a_minimum_that_rounding_makes_is_marked() -> None:
    # 3 * 0.1 is not 0.3: what was parallel before it was computed is fitted far away.
    computed, printed = (
        examples.minima_table(own([[0.1, 0.3], [third, 0.9]], [1, 1], [[1e-3, 1e-3]]))["shape"]
        for third in (3 * 0.1, 0.3)
    )
    assert computed.iloc[0] == "point, by the last digits of the data"
    assert not any("digits" in shape for shape in printed)


def mine(d: int) -> Dataset:
    X = np.eye(d) + 1.0
    return Dataset("mine", X, np.ones(d), printed=False)


@pytest.mark.parametrize("d", [1, 2, 9])
def test_default_initial_points_for_own_data(d: int) -> None:
    data = mine(d)
    points = examples.starting_points(data, seed=d)
    radius = np.linalg.norm(np.linalg.solve(data.X, data.y))
    assert points.shape == (3, d)
    assert np.all(points >= 0)
    assert np.all(points[0] < 1e-4 * radius)
    assert np.allclose(np.linalg.norm(points[1:], axis=1), [2 * radius, 10 * radius])


@pytest.mark.parametrize(
    ("given_points", "sentence"),
    [
        ([], "must be a list of points"),
        ([[1, 2], [1, 2, 3]], r'point 2 has 3 coordinates, but dataset "mine" has d = 2'),
        ([[1, float("nan")]], "point 1: nan is not a finite"),
        ([[1, "2"]], "point 1 holds '2'"),
        ([[1, True]], "point 1 holds True"),
        ([[1, -1e-300]], "point 1: -1e-300 is too small"),
        ([[1, 10**400]], "point 1: a number is too large"),
    ],
)
def test_bad_initial_points(given_points: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        examples.starting_points(mine(2), given_points)


def test_flips_are_told_by_the_step_after_which_a_datum_has_changed() -> None:
    """On its boundary, as at the first state, a datum is inactive."""
    X, path = [[1.0, 0.0], [0.0, 1.0]], np.array([(0, 1), (1, 1), (1, 1), (-1, 0), (-1, 2)])
    assert examples.flips(X, path) == [
        (1, 0, "activate"), (3, 0, "deactivate"), (3, 1, "deactivate"), (4, 1, "activate"),
    ]  # fmt: skip


def test_descent_by_the_map_of_many_steps_is_descent_as_a_loop(paper: examples.Experiment) -> None:
    """Data switch after 10 to 680 steps, and the run ends inside a block."""
    for w0 in (*paper.starts, [-0.2, 0.3]):
        for steps in (1, 2, 37, 3000):
            slow = plain_descent(paper.X, paper.y, w0, STEP, steps)
            fast = examples.descent(paper.X, paper.y, np.array(w0), STEP, steps)
            np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-12)
