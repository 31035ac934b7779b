"""The norm of the start: the survey, and what its evidence says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import local_minima
from reluflow.ledger import Evidence
from reluflow.networks import loss
from reluflow.papers.lee2022support import theorem_3_6
from reluflow.papers.lee2022support.theorem_3_6 import norm_of_start, survey_norms


def arrays(found: pd.DataFrame) -> list[NDArray]:
    return [found[name].to_numpy() for name in ("start", "share", "excess")]


def framed(start: NDArray, share: NDArray) -> pd.DataFrame:
    """A survey of two norms with these shares; the losses miss by 0 and by 1/2."""
    excess = np.repeat([[0.0], [0.5]], start.shape[1], axis=1)
    tables = {"start": start, "share": share, "excess": excess}
    return pd.concat({k: pd.DataFrame(v, index=[0.1, 10]) for k, v in tables.items()}, axis=1)


def verdicts(evidence: Sequence[Evidence]) -> list[bool]:
    return [item.holds for item in evidence if item.decides]


def test_what_a_survey_of_norms_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = []

    def recorded(X, y, w0) -> Trajectory:
        flows.append((X, y, np.array(w0), affine_flow(X, y, w0)))
        return flows[-1][-1]

    monkeypatch.setattr(theorem_3_6, "affine_flow", recorded)
    start, share, excess = arrays(survey_norms(4, 9, 5, 3, (0.1, 2, 50)))
    assert len(flows) == 12
    for k in range(4):
        for row, norm in enumerate((0.1, 2, 50)):
            X, y, w0, path = flows[3 * k + row]
            assert X.shape == (5, 3)
            fit = np.linalg.solve(X.T @ X, X.T @ y)
            assert np.linalg.norm(w0) == pytest.approx(norm * np.linalg.norm(fit))
            first = flows[3 * k]
            assert X is first[0]
            assert w0 / norm == pytest.approx(first[2] / 0.1)
            assert start[row, k] == np.mean(X @ w0 > 0)
            assert share[row, k] == np.mean(X @ path.end > 0)
            least = min(float(loss(X, y, m.w)) for m in local_minima(X, y))
            above = (float(loss(X, y, path.end)) - least) / float(loss(X, y, np.zeros(3)))
            assert excess[row, k] == pytest.approx(above, abs=1e-12)
    assert excess.max() > 0.01


def test_statement_on_the_norm_of_the_start() -> None:
    start = np.tile([0.5, 0.5, 0.25, 0.75], (2, 1))
    end = np.array([[1.0, 1.0, 1.0, 1.0], [0.25, 0.0, 0.25, 0.5]])
    found, means = norm_of_start(framed(start, end), 0)
    assert means is None
    assert verdicts(found) == [True] * 3
    # Gains 1/2 and -1/4 in the mean, 3/4 between the norms: the end of each interval that decides.
    half = 1.96 * np.std([0.5, 0.5, 0.75, 0.25], ddof=1) / 2
    values = [e.value for e in found if e.decides]
    assert values == pytest.approx([0.5 - half, -0.25 + half, 0.75 - half])
    assert next(e.value for e in found if "loss gap" in e.what) == (0.0, 0.5)
    # Were it the other way round, no clause would hold.
    found, means = norm_of_start(framed(start, end[::-1]), 0)
    assert verdicts(found) == [False] * 3
    assert [e.value for e in means or ()] == pytest.approx([-0.25, 0.5])
