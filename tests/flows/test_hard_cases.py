"""The fixed list of hard flows (benchmarks/hard_cases.py): a wrong answer is found out.

That the exact flow gets every one right is asked of the record of the page on costs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reluflow.flows.affine import affine_flow

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from hard_cases import CASES, Answer, Case, judged


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


@pytest.mark.parametrize("scale", [1e-250, 1e-200, 1e-170, 1.0, 1e100])
def test_a_start_whose_square_underflows_is_not_the_origin(scale) -> None:
    flow = affine_flow(np.eye(3), scale * np.array([1, 1, -1]), scale * np.array([1e-3, -1e-3, 1]))
    assert [(e.datum, e.kind) for e in flow.events] == [(2, "deactivate")]
    np.testing.assert_allclose(flow.end, scale * np.array([1, -1e-3, 0]), atol=1e-15 * scale)
