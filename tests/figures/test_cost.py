"""The page on costs: what it says follows from its records, and these from the list of flows."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reluflow import cost

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from hard_cases import CASES, Answer, Case, by_affine_flow, judged
from other_flows import OURS, problems


def test_the_list_is_what_the_page_says() -> None:
    assert len(CASES) == len({case.name for case in CASES}) == 60
    assert all(len(case.ends) or case.reference.end for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_answer_is_found_out(case: Case) -> None:
    ends, _, changes = case.truth
    answer = Answer(ends[0], changes)
    assert judged(case, answer) == "right"
    far = ends[0] + 0.01 * max(case.unit, np.abs(ends).max())
    assert judged(case, replace(answer, end=far)) == "silent"
    assert judged(case, replace(answer, end=far, said="gave up")) == "said so"
    assert judged(case, replace(answer, end=np.full(len(far), np.nan))) == "said so"
    if changes is not None:
        assert judged(case, replace(answer, changes=changes + 1)) == "silent"


def test_every_solver_was_asked_every_flow() -> None:
    table = cost.record("silent")
    assert set(table["verdict"]) <= set(cost.VERDICTS)
    for _, part in table.groupby("solver"):
        assert list(part["case"]) == [case.name for case in CASES]
        assert list(part["kind"]) == [case.kind for case in CASES]


def test_the_row_of_the_exact_flow_comes_out_again() -> None:
    table = cost.record("silent")
    row = table[table["solver"] == cost.OURS].set_index("case")["verdict"]
    assert row.to_dict() == {case.name: judged(case, by_affine_flow(case)) for case in CASES}
    assert set(row) == {"right"}


def test_an_axis_of_seconds_has_two_ticks() -> None:
    for ax in cost.precision(name="flows").axes:
        low, high = ax.get_xlim()
        assert sum(low <= tick <= high for tick in ax.get_xticks()) >= 2


def test_a_target_is_met_on_the_right_side(monkeypatch: pytest.MonkeyPatch) -> None:
    senses, floors = ["at most", "at least", "at most"], ["1.25", "", ""]
    table = pd.DataFrame({"target": [*"abc"], "aim": 4.0, "measured": [4.5, 4.5, 3.9]})
    table = table.assign(floor=floors, sense=senses)
    monkeypatch.setattr(cost, "record", lambda name: table)
    assert list(cost.targets()["met"]) == ["no", "yes", "yes"]
    assert list(cost.targets()["floor"]) == floors


@pytest.mark.long
def test_the_true_ends_are_those_of_the_book() -> None:
    """Closed forms against the library, which shares no code with them."""
    for _, truth, ways in problems((3.0,)):
        end, _ = ways[min(key for key in ways if key[0] == OURS)]()  # the smallest tolerance
        unit = np.linalg.norm(end) / np.linalg.norm(truth) if len(end) > 20 else 1.0
        assert np.linalg.norm(end / unit - truth) < 1e-9 * np.linalg.norm(truth)
