"""Theorem 2.1 and sigma'(0): the counterexamples by both routes, and statements that can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reluflow.losses import LOGISTIC
from reluflow.papers.vardi2022margin import certificates
from scipy.integrate import solve_ivp


@pytest.fixture(scope="module")
def fitted() -> list[certificates.Fitted]:
    return certificates.fitted_flows(1, 12)


def test_flows_that_fail_are_noticed(fitted) -> None:
    """One whose loss stops, one whose limit is no KKT point, one that starts too high, many that
    turn away."""
    stuck = replace(fitted[0], limit=replace(certificates._right_once(), status="converged"))
    off = replace(fitted[0], limit=replace(fitted[0].limit, residual=1e-3))
    slack = certificates.repaired(fitted).slack
    assert slack({"flow": fitted[0]}) > 0.0 > slack({"flow": stuck})
    assert slack({"flow": off}) < 0.0
    lost = replace(fitted[0], loss=LOGISTIC, limit=certificates._right_once())
    assert "ell(0)" in str(certificates.repaired(fitted).unmet({"flow": lost}))
    away = replace(fitted[0], angles=np.array([0.1, 0.2]))
    for bad in ([off], [away] * len(fitted)):
        failed = [item for item in certificates.directions_are_kkt([*fitted, *bad])
                  if item.decides and not item.holds]  # fmt: skip
        assert len(failed) == 2  # and the flow of one neuron


def test_the_second_datum_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against SciPy's integrator, which knows nothing of enclosures."""
    X, _, start = certificates.BOTH_RIGHT

    def rate(_: float, z: np.ndarray) -> np.ndarray:
        h = X @ z[:2]
        pull = np.where(h > 0.0, 1.0 / (1.0 + np.exp(z[2] * np.maximum(h, 0.0))), 0.0)
        return np.append(z[2] * (pull @ X), pull @ h)

    end = solve_ivp(rate, (0.0, 50.0), start, max_step=1e-2).y[:, -1]
    assert X[1] @ end[:2] < 0.0 < X[0] @ end[:2]
    assert certificates.second_is_lost()
    monkeypatch.setattr(certificates, "NEAR", 300 * certificates.NEAR)
    assert not certificates.second_is_lost()
