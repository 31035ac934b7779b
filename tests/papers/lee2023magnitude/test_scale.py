"""What k and the loss of D.3 are: typical starts, progress, and the readings that fit."""

from __future__ import annotations

import math

import pytest
from reluflow.papers.lee2023magnitude import experiments
from reluflow.papers.lee2023magnitude.runs import NORMS


def test_readings_of_k() -> None:
    assert experiments.sizes(experiments.DEVIATION, 2, 2.0) == pytest.approx((5.0, 10.0))
    assert experiments.sizes(experiments.VARIANCE, 2, 2.0) == pytest.approx((math.sqrt(50), 10.0))
    assert experiments.exceeds(experiments.DEVIATION, 2.0, 2.0) == pytest.approx(0.5)
    drawn = experiments.ratios(0, 20_000, experiments.VARIANCE)[:, 2] * 1.25
    share = float((drawn > 2.0).mean())  # 1.25 sqrt 2: often enough for a count
    assert experiments.exceeds(experiments.VARIANCE, 2.0, 1.6) == pytest.approx(share, abs=0.01)
    assert experiments.ratios(1, 500, experiments.DEVIATION).mean(axis=0) == pytest.approx(
        list(NORMS), rel=0.03
    )


def test_progress_is_the_flows_own_time() -> None:
    assert experiments.progress(experiments.DEVIATION, "half the mean", 3) == pytest.approx(
        0.2 * 81
    )
    assert experiments.progress(experiments.VARIANCE, "mean", 2) == pytest.approx(2 * 0.8 * 50)


def test_steps_on_a_sum_are_stable_where_curvature_says_so() -> None:
    # One layer: w -> (1 - step/2) w + ..., which comes to rest for a step below 4 only.
    assert experiments.arrives(experiments.DEVIATION, "half the sum", 1, 1.0)  # step 3
    assert not experiments.arrives(experiments.DEVIATION, "sum", 1, 1.0)  # step 6
