"""Theorem 1, part 2: trajectories against closed forms and a plain integrator, and what breaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from reluflow.flows.integrate import FlowPath
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.papers.min2024early import convergence
from reluflow.papers.min2024early.setting import PRINTED, Start
from scipy.integrate import solve_ivp

PLANE, LABELS = PRINTED["figure-6"].X, PRINTED["figure-6"].y
SIGNS = np.array([1.0, -1.0, 1.0, -1.0])


def test_one_datum_a_label_has_a_closed_form() -> None:
    """z = |w|^2 obeys dz/dt = 2 z e^-z, and L = 2 e^-z: times up to 10^400000."""
    start = convergence.one_against(1)
    each = convergence.follow(start)
    assert each is not None
    expected = (mpmath.ei(0.25) - mpmath.euler - 2 * start.log_eps) / 2
    assert each.fall == pytest.approx(float(expected), rel=1e-5)
    assert each.t_2[1.0] == pytest.approx(each.t_2[-1.0], rel=1e-9)
    falling = each.falling
    for k in (40, 120, 200, -1):
        z = mpmath.mpf(-falling.log_loss[k] + np.log(2.0))
        log_time = float(mpmath.log((mpmath.ei(z) - mpmath.ei(0.25)) / 2))
        assert falling.log_time[k] == pytest.approx(log_time, rel=1e-4, abs=1e-3)
        np.testing.assert_allclose(np.exp(2.0 * falling.R[k]), float(z), rtol=1e-4)
    assert convergence.times_loss(each) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC], ids=lambda loss: loss.name)
def test_against_a_plain_integrator_of_all_weights(loss) -> None:
    """From eps = e^-3, where floats hold the weights, with the loss written out again."""
    rng = np.random.default_rng(5)
    W0 = convergence.neurons(PLANE, LABELS, SIGNS, rng)
    W0 /= np.linalg.norm(W0, axis=1, keepdims=True)
    W0[2] = [1.0, 2.0]
    each = convergence.begin(Start(PLANE, LABELS, W0, SIGNS, -3.0, loss), t_1=1.0)
    assert each is not None

    def rate(_: float, z: np.ndarray) -> np.ndarray:
        W, v = z[:8].reshape(4, 2), z[8:]
        before = W @ PLANE.T
        q = LABELS * (v @ np.maximum(before, 0.0))
        pull = LABELS * (np.exp(-q) if loss is EXPONENTIAL else 1.0 / (1.0 + np.exp(q)))
        on = (before > 0.0) * pull
        return np.concatenate([(v[:, None] * (on @ PLANE)).ravel(), (on * before).sum(axis=1)])

    start = np.exp(-3.0) * np.concatenate([W0.ravel(), SIGNS * np.linalg.norm(W0, axis=1)])
    end = solve_ivp(rate, (0.0, each.fall), start, rtol=1e-10, atol=1e-14).y[:, -1]
    moment = each.at(np.array([each.fall]))
    ours = np.exp(moment.R[0])[:, None] * moment.U[0]
    np.testing.assert_allclose(ours, end[:8].reshape(4, 2), rtol=1e-3, atol=1e-4)
    outputs = np.maximum(ours @ PLANE.T, 0.0).T @ (SIGNS * np.exp(moment.R[0]))
    assert np.abs(outputs).min() < 2.0
    assert max(np.abs(outputs[:2]).max(), np.abs(outputs[2:]).max()) >= 0.25 - 1e-6


def test_the_law_of_t_2_for_the_logistic_loss() -> None:
    """dz/dt = 2 z / (1 + e^z) for log(1 + e^-z): t = (Ei + log)(z) / 2, half as fast at 0."""
    given = replace(convergence.one_against(4), loss=LOGISTIC)
    time = (mpmath.ei(0.25) + mpmath.log(0.25) - mpmath.euler - 4 * given.log_eps) / 2
    found = convergence.begin(given, 1e-7)
    assert found is not None
    assert convergence.gap(found)[1] == pytest.approx(float(time) / 2.0 + given.log_eps, abs=1e-3)


def test_hypotheses_that_fail_at_t_1_are_told() -> None:
    """A cone without a neuron; a neuron that is late; a flow that is lost."""
    alone = Start(PLANE, LABELS, np.array([[1.0, 0.2], [1.0, 0.1]]), np.ones(2), -2000.0)
    assert convergence.begin(alone, t_1=5.0) is None
    x = PLANE[2:].sum(axis=0)
    W0 = np.array([[1.0, 0.2], [-1.0, -2.0], x + 1e-9 * np.array([1.0, 0.0])])
    behind = Start(PLANE, LABELS, W0, np.array([1.0, -1.0, 1.0]), -2000.0)
    assert convergence.begin(behind, t_1=0.5) is None
    assert convergence.begin(behind, t_1=30.0) is not None


def test_a_flow_that_is_lost_is_evidence_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The integrator gives up in the second of three flows, and the others are told."""
    whole, begun = convergence.then, iter(range(100))

    def then(path: FlowPath, *args: Any, **options: Any) -> FlowPath:
        steps = {"max_steps": 1} if next(begun) == 4 else {}
        return whole(path, *args, **options, **steps)

    monkeypatch.setattr(convergence, "then", then)
    found = convergence.trajectories(0, 3)
    assert (len(found), found.lost) == (2, 1)
    assert not convergence.reaches_its_limit(found)[-1].holds
