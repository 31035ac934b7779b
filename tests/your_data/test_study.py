"""A reader's data: what is refused, which assumptions hold, and what is said of the promises."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.papers.min2024early import own_data as early
from reluflow.papers.min2024early.figures import turning
from reluflow.papers.phuong2021inductive.figures import training
from reluflow.papers.vardi2022margin import own_data as margin
from reluflow.papers.vardi2022margin.figures import approach
from reluflow.your_data import figures, promises
from reluflow.your_data import study as your_data
from reluflow.your_data.promises import BROKEN, KEPT, OPEN, SILENT, Line
from reluflow.your_data.study import Followed, OneNeuron, Study, assumptions, study
from sklearn.datasets import load_breast_cancer


def written(folder: Path, rows: list[list[float]]) -> str:
    """A CSV file with these rows, the label last."""
    header = ",".join([*(f"x{k}" for k in range(1, len(rows[0]))), "y"])
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (folder / "my.csv").write_text("\n".join(lines), encoding="utf-8")
    return str(folder / "my.csv")


def told(given: Study) -> tuple[OneNeuron, Followed | None, list[Line]]:
    """The flows of a study, and all its lines."""
    neuron, layers = your_data.one_neuron(given), your_data.follow(given)
    return neuron, layers, promises.lines(given, neuron, layers)


def verdict(lines: list[Line], words: str) -> str:
    (found,) = {line.verdict for line in lines if words in line.theorem}
    return found


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([[1, 2, 0], [3, 4, 1]], "data row 1 (counted from 1 below the header): the label is 0"),
        ([[1, 2, 1], [3, 4, 0]], "write -1 for 0"),
        ([[0, 0, 1], [0, 0, -1]], "has only inputs 0"),
        ([[1, 2, 0], [3, 4, 0]], "has only labels 0"),
        ([[float("nan"), 2, 1]], "is not a finite number"),
        ([[k, 1] for k in range(1001)], "has 1001 data of 1 features"),
        ([[1] * 102], "has 1 data of 101 features"),
        ([["0" * 20_000_001]], "more than 20 MB"),
    ],
    ids=lambda given: "" if isinstance(given, list) else given[:9],
)
def test_data_that_cannot_be_used(rows: list, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        study(written(tmp_path, rows))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # (1, 0) and (0, 1) are at a right angle; (1, 1) with -1 is at less than that to both.
        ([[1, 0, 1], [0, 1, 1], [-1, -1, -1], [1, 1, -1]],
         {"A1": (False, "^row 3$"), "A2": (False, "^rows 3, 4$"), "A3": (True, "^rank 2 of 2$"),
          "(OS)": (False, "^4 of 6 pairs .* 3 and 4, 1 and 2, 1 and 4$"),
          "separable": (False, "rule it out$")}),
        # A right angle, of which rounding makes less.
        ([[0.1, 0.2, 0.3, 1], [0.3, 0.3, -0.3, 1]], {"(A1)": (False, "^least cosine 0")}),
        ([[3, 1, 1], [2, 3, 1], [-5, 2, -1]],
         {"(Span)": (False, "^rank of those of w₊ 2 of 2, w₋ 1 of 2$")}),
    ],
)  # fmt: skip
def test_rows_that_break_an_assumption_are_named(rows, expected, tmp_path):
    found = {a.name: a for a in assumptions(study(written(tmp_path, rows)))}
    for name, (holds, where) in expected.items():
        assert found[name].holds is holds
        assert re.search(where, found[name].where)


@pytest.mark.parametrize(
    ("X", "apart"),
    [
        ([[1.0, 1e-4], [-1.0, 1e-4]], True),
        ([[1.0, 1e-10], [-1.0, 1e-10]], True),  # in the units of the columns this is far from 0
        ([[1.0, 1e-10, 1.0], [-1.0, 1e-10, -1.0], [0.0, 1.0, 0.0]], None),
        ([[1.0, 0.0], [-1.0, 0.0]], False),
        ([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], False),
    ],
)
def test_a_margin_next_to_0_is_neither_there_nor_not(X: list, apart: bool | None) -> None:
    given = Study("", np.array(X), np.ones(len(X)), 2, 1, 0)
    found, how = your_data.separated(given)
    assert found is apart
    assert how.startswith("margin at least") == (given.linear is None and apart is True)


def test_columns_of_unequal_units_have_their_max_margin_vector() -> None:
    found = load_breast_cancer()
    given = Study("", found.data, np.where(found.target, 1.0, -1.0), 2, 1, 0)
    apart, how = your_data.separated(given)
    assert (apart, how[:8]) == (True, "margin ≈")


def test_the_repair_without_span_is_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(margin, "follow", lambda *given: [])  # whose theorems are not asked here
    _, _, lines = told(study(written(tmp_path, [[3, 1, 1], [2, 3, 1], [-5, 2, -1]]), h=3))
    assert verdict(lines, "without (Span) as it is proved here") == KEPT


def test_no_network_tells_two_labels_of_one_direction_apart(tmp_path: Path) -> None:
    given = study(written(tmp_path, [[1, 2, 1], [2, 4, -1], [-1, 1, 1]]), h=2)
    assert given.contradicts
    _, _, lines = told(given)
    assert {verdict(lines, each) for each in ("2.1", "4.3", "3.1")} == {SILENT}


def test_opposite_data_may_have_one_label_and_long_ones_another_unit(tmp_path: Path) -> None:
    given = study(written(tmp_path, [[1, 2, 1], [-1, -2, 1], [-2, 1, -1]]))
    assert (given.mu, given.contradicts) == (pytest.approx(-1.0), False)
    given = study(written(tmp_path, [[1e9, 2e9, 1], [-1e9, -2e9, 1]]))  # whose fit is 0 but rounded
    run = your_data.one_neuron(given).run
    assert np.linalg.norm(run.starts[-1]) == pytest.approx(10 / np.sqrt(5) / 1e9, rel=1e-6, abs=0)
    given = study(written(tmp_path, [[2000, 0, 1], [0, 3000, -1]]))
    assert given.unit == 1000.0
    assert your_data.in_their_unit(given).X.tolist() == [[2.0, 0.0], [0.0, 3.0]]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1, 2, 0.5], [2, 1, 3]], "not all 1 or -1"),
        ([[1, 2, 1]], "one datum"),
        ([[1, 1], [-1, -1]], "one feature"),
        ([[1, 2, 1], [2, 1, 1]], "No datum has the label -1"),
        ([[1, 2, 1], [0, 0, -1]], "has the input 0"),
        ([[1e6, 2, 1], [1, 0, -1]], "has the length 1, too little"),
        ([[1, 1, 1], [1, 1, -1]], ""),
    ],
)
def test_data_without_two_layers_are_studied_all_the_same(rows, words, tmp_path):
    given = study(written(tmp_path, rows), h=2)
    assert words in given.obstacle
    assert bool(words) == bool(given.obstacle)
    neuron, layers, lines = told(given)
    assert (layers is None) == bool(words)
    assert len(promises.summary(given, neuron, layers, lines).text.splitlines()) == 5
    assert {line.verdict for line in lines} <= {KEPT, BROKEN, OPEN, SILENT}
    # What is not followed is open where the theorem speaks of such labels.
    assert not words or verdict(lines, "Phuong") == (OPEN if given.signs else SILENT)
    assert figures.one_neuron(neuron).axes
    if layers:
        assert turning(layers.turned).axes
        assert training(layers.trained).axes
        assert approach(margin.approaches(layers.found), "distance").axes


def test_the_papers_example_breaks_what_the_book_says() -> None:
    _, _, lines = told(study("example-5.1"))
    words = ("global minimum", "Theorem 3.6", "Lemma F.5", "Min et al.")
    assert [verdict(lines, each) for each in words] == [BROKEN, BROKEN, KEPT, SILENT]


def test_four_data_keep_what_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    given = study("figure-6", h=4)
    neuron, layers, lines = told(given)
    words = ("alignment", "rank", "Phuong", "Theorem 2.1", "Theorem 3.1")
    assert [verdict(lines, each) for each in words] == [KEPT] * 5
    # A time that is too short is noticed.
    monkeypatch.setattr(early, "promises_alignment_times", lambda own: [("t", 1e-9)] * 3)
    assert verdict(promises.lines(given, neuron, layers), "alignment") == BROKEN
    # But not by a flow that was not followed to its end, nor by a limit that is local at least.
    first, *others = layers.turned.paths
    lost = replace(layers.turned, paths=(replace(first, status="unfinished"), *others))
    local = [replace(each, optimum=replace(each.optimum, verdict="local"))
             for each in layers.straight]  # fmt: skip
    unsure = promises.lines(given, neuron, replace(layers, turned=lost, straight=local))
    assert verdict(unsure, "alignment") == verdict(unsure, "Theorem 3.1") == OPEN
    large = replace(layers, grown=replace(layers.grown, log_eps=0.0))  # nothing is promised of it
    assert verdict(promises.lines(given, neuron, large), "rank") == OPEN
    # Theorem 4.3 is not about a limit of which one neuron's input is 0 at one datum.
    one = next(each for each in layers.found if each.limit)
    h = len(one.limit.theta) // 3
    for last, applies in (([0.3, 1.0], True), (given.X[0] @ [[0, 1], [-1, 0]], False)):
        theta = np.append(np.vstack([np.tile([0.3, 1.0], (h - 1, 1)), last]).ravel(), np.ones(h))
        at = replace(one, limit=replace(one.limit, theta=theta))
        assert promises._inputs_are_not_zero(layers, at) == applies
