"""Two flows from the printed start of Theorem 4.2 (2), and a start of which there is only one."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.figures import cut_off
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin.kkt import quotient
from reluflow.papers.vardi2022margin import counterexamples, figures
from reluflow.papers.vardi2022margin.setting import theorem_4_2

KINKS = theorem_4_2()


@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC], ids=["exponential", "logistic"])
def test_the_closed_form_against_differences(loss: object) -> None:
    """Central differences of L, which know neither the network's gradient nor its kinks."""

    def total(theta: np.ndarray) -> float:
        first, v = theta[:8].reshape(4, 2), theta[8:]
        margins = np.maximum(KINKS.X @ first.T, 0.0) @ v
        return float(
            (np.exp(-margins) if loss is EXPONENTIAL else np.log1p(np.exp(-margins))).sum()
        )

    for s in (1.01, 1.3, 1.8):
        v = np.sqrt(2.0 * s**2 + 2.0)
        theta, h = np.array(counterexamples.turning(s, v)), 1e-5
        slope = [(total(theta + h * e) - total(theta - h * e)) / (2 * h) for e in np.eye(12)]
        g = np.exp(-2 * s * v) / (1.0 if loss is EXPONENTIAL else 1.0 + np.exp(-2 * s * v))
        assert -np.array(slope) / g == pytest.approx(np.array(counterexamples.turning(v, 2 * s, 0)))


def test_both_begin_at_the_printed_start_and_end_apart() -> None:
    stays, turns = counterexamples.both(np.array([1.0, 1e8]))
    assert stays[0] == pytest.approx(KINKS.start)
    assert turns[0] == pytest.approx(KINKS.start)
    values = [quotient(KINKS.network, end, KINKS.X, KINKS.y) for end in (stays[1], turns[1])]
    assert values == pytest.approx([8.0, 32.0**0.5])
    fig = figures.ways(
        KINKS.network, KINKS.X, counterexamples.both(np.linspace(1, 2, 5)), ["a", "b"]
    )
    assert cut_off(fig) == []
    ends = [line.get_xydata()[-1] for line in fig.axes[1].lines if "w_" in str(line.get_label())]
    assert np.array(ends) == pytest.approx(np.array([[1, 3], [3, -1], [-1, -3], [-3, 1]]))
