"""Theorem 4.7, repaired: where small starts end, as evidence for the ledger."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Report, survived
from reluflow.flows.affine import affine_flow
from reluflow.ledger import fact, note, proved
from reluflow.papers.lee2022support.small_plane import PlanarSurvey, resting_point
from reluflow.papers.lee2022support.small_starts import guaranteed_radius

Settlement = dict[str, Any]


def at_rest(report: Report, survey: PlanarSurvey, X: NDArray, y: NDArray, w0: ArrayLike
            ) -> Settlement:  # fmt: skip
    """Theorem 4.7, repaired: where small starts end. From w0 on the data X, y the flow ends
    elsewhere: q(w0) > 0, but |w0| exceeds delta_0."""
    end, (_, rest) = affine_flow(X, y, w0).end, resting_point(X, y)
    return {
        "evidence": [
            *survived(report),
            fact("flows of the survey that end elsewhere", sum(survey.elsewhere.values()), 0),
            fact("of them that take a datum back", sum(survey.reactivating.values()), 0),
            note("flows of the survey", float(sum(survey.flows.values()))),
            note("|w0| / delta_0 of the start below, whose flow ends elsewhere",
                 float(np.linalg.norm(w0) / guaranteed_radius(X, y))),
            fact("it does end elsewhere",
                 bool(np.linalg.norm(end - rest) > 1e-3 * np.linalg.norm(rest)), True),
        ],
        "known": proved("this section, 'Why it holds'"),
    }  # fmt: skip
