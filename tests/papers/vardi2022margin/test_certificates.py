"""Theorems 2.1 and 3.1: what their checks see, and closed forms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.losses import LOGISTIC
from reluflow.margin.max_margin import max_margin
from reluflow.networks.indexed import diagonal, fully_connected
from reluflow.papers.vardi2022margin import certificates

X = np.array([[2.0, 1.0], [-1.0, -3.0], [0.5, 0.5]])
Y = np.array([1.0, -1.0, 1.0])


def unit(rng: np.random.Generator, d: int) -> np.ndarray:
    v = rng.normal(size=d)
    return v / np.linalg.norm(v)


# --- Theorem 2.1 ----------------------------------------------------------------------------------


def test_flows_that_fail_are_noticed() -> None:
    """One whose loss stops, one whose limit is no KKT point, one that starts too high."""
    ((kind, good),) = fitted = certificates.fitted_flows(1, 1)
    lost = certificates._right_once()
    stuck, off = replace(lost, status="converged"), replace(good["end"], residual=1e-3)
    made = certificates.repaired(fitted)
    assert made.slack(good) > 0.0 > max(made.slack({**good, "end": end}) for end in (stuck, off))
    X, y, start = certificates.BOTH_RIGHT
    high = {"network": fully_connected([2, 1]), "loss": LOGISTIC, "X": X, "y": y, "theta": start}
    assert "ell(0)" in str(made.unmet(high))
    found = certificates.directions_are_kkt([*fitted, (kind, {**good, "end": off})])
    assert sum(one.decides and not one.holds for one in found) == 2  # and that of one neuron


def test_the_second_datum_is_lost_from_near_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert certificates.second_is_lost()
    monkeypatch.setattr(certificates, "NEAR", 300 * certificates.NEAR)
    assert not certificates.second_is_lost()


def test_the_slope_at_the_kink() -> None:
    assert certificates.slopes(Fraction(5), Fraction(3)) == (3, 3, 3, 3)


def test_weights_are_put_on_kinks() -> None:
    net, at = fully_connected([2, 2]), np.eye(2)
    theta = certificates.on_kinks(net, np.array([1e-7, 1.0, 1e-7, 1e-7, 1.0, 1.0]), at)
    assert theta.tolist() == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    far = np.array([1e-2, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert certificates.on_kinks(net, far, at).tolist() == far.tolist()


# --- Theorem 3.1 ----------------------------------------------------------------------------------


def test_full_is_linear_of_two_layers_or_more_and_without_holes() -> None:
    full = [fully_connected([2], "linear"), fully_connected([2, 2]), diagonal(2, 3, "linear")]
    assert not any(map(certificates._is_full, full))
    assert certificates._is_full(fully_connected([2, 3], "linear"))


def test_each_fault_of_the_form_is_seen() -> None:
    """Layers of other lengths, of rank two, and off the max-margin vector's direction."""
    rng = np.random.default_rng(1)
    network, best = fully_connected([2, 3, 2], "linear"), max_margin(X, Y)
    hidden = [unit(rng, 3), unit(rng, 2)]
    W = certificates.aligned_limit(best.u, hidden)

    def seen(*matrices: np.ndarray) -> certificates.Structure:
        return certificates.structure(network, network.parameters(matrices), X, Y, best)

    assert max(map(abs, seen(*W))) < 1e-7
    longer = seen(2.0 * W[0], W[1], 0.5 * W[2])
    assert longer.excess == pytest.approx((4 + 1 + 0.25) / 3 - 1)
    assert longer.away == pytest.approx(np.sqrt((1 + 0.25) / 5.25))
    across = np.array([-best.direction[1], best.direction[0]])
    other = np.cross(hidden[0], [1.0, 0.0, 0.0])
    more = 0.1 * np.linalg.norm(W[0]) / np.linalg.norm(other) * np.outer(other, across)
    assert seen(W[0] + more, W[1], W[2]).away == pytest.approx(0.1 / np.sqrt(3.01))
    angle = seen(np.outer(hidden[0], best.direction + 0.1 * across) * np.linalg.norm(W[0]), *W[1:])
    assert min(angle.away, angle.excess) > 1e-3
    with pytest.raises(InputError, match="classify"):
        seen(-W[0], W[1], W[2])


def test_what_is_asked_of_linear_networks_is_tested() -> None:
    """Beside the start: that of the witness is beyond the constant."""
    statement = certificates.reaches_the_optimum([])
    item = {**statement.witness, "theta": np.array([0.5, 0.5])}
    assert statement.unmet(item) is None
    apart = {**item, "X": np.array([[1.0], [1.0]]), "y": np.array([1.0, -1.0])}
    assert "separable" in str(statement.unmet(apart))
    assert "linear network" in str(statement.unmet({**item, "network": fully_connected([1, 1])}))


def test_starts_that_are_wrong_about_some_data_are_below_the_constant() -> None:
    """Only they tell L < n l(0) from what Theorem 3.1 asks for."""
    found = [item for _, item in certificates.connected_flows(0, 5)]
    statement = certificates.reaches_the_optimum([])
    assert [statement.unmet(item) for item in found] == [None] * 5
    signs = [{*np.sign(item["y"] * item["network"].output(item["theta"], item["X"]))}
             for item in found]  # fmt: skip
    assert signs == [{1}, {1}, {1}, {-1, 1}, {-1, 1}]
