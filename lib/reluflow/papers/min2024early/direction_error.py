"""Lemmas 4 and 10: how far the direction of a neuron is from its motion in the limit of small eps.

In the limit d/dt (w_j/|w_j|) = s_j P_j x_a(w_j) with x_a(w) = sum_i s'(<x_i, w>) y_i x_i. The true
rate has -dl/df in place of y_i, so that by linearity the error is s_j P_j sum_i s' e_i x_i with the
excess e_i = -dl/df_i - y_i, at most n X_max max_i |e_i|; and Lemma 2 bounds |e_i| by 2 |f_i|.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Statement
from reluflow.ledger import Evidence, Reading, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early.states import (
    NOT_MOVED,
    State,
    active,
    balanced_states,
    excess,
    largest_output,
    outputs,
    turning,
)

PROVED = (EXPONENTIAL, TWICE_LOGISTIC)
"""The losses of Appendix B: the pull at the output 0 is the label."""
LOG_NORM = -5.0
"""log |w| of the neuron that shows what the loss of Section 2.1 does."""
_SMALL = {"max |f| ≤ 1": lambda state: largest_output(state) <= 1.0}


def errors(state: State, loss: Loss) -> NDArray:
    """|d/dt w_j/|w_j| - s_j P_j x_a(w_j)| of every neuron, shape (h,) (eq. 11)."""
    return np.linalg.norm(turning(state, excess(loss, outputs(state), state["y"])), axis=1)


def _slack(error: float, state: State) -> float:
    """2 - error / (n X_max max |f|): infinite where the outputs are 0, and with them the error."""
    scale = len(state["X"]) * np.linalg.norm(state["X"], axis=1).max() * largest_output(state)
    if scale == 0.0:
        return np.inf if error == 0.0 else -np.inf
    with np.errstate(over="ignore"):
        return float(2.0 - error / scale)


def near_the_limit(loss: Loss) -> Statement:
    """ea.lem4: the error is at most 2 n X_max max |f| whenever max |f| <= 1 (eq. 11)."""
    return Statement(
        f"{loss.name} loss: the error of the direction is at most 2 n Xₘₐₓ max|f|",
        balanced_states(),
        lambda state: _slack(float(errors(state, loss).max()), state),
        _SMALL,
        tolerance=1e-9,
        fixed=NOT_MOVED,
    )


def rates_of_cosines(state: State, loss: Loss) -> tuple[NDArray, NDArray]:
    """The rate of psi_rj = cos(x_r, w_j), and its limit s_j (psi_ra - psi_rj psi_aj) |x_a|, (h,).

    x_r is the state's "reference" over its length; NaN in the limit where x_a(w_j) = 0.
    """
    r = state["reference"] / np.linalg.norm(state["reference"])
    U = state["U"] / np.linalg.norm(state["U"], axis=1)[:, None]
    slopes = np.where(active(state), 1.0, state["leak"])
    x_a = (slopes * state["y"]) @ state["X"]
    size = np.linalg.norm(x_a, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        psi_ra, psi_aj = x_a @ r / size, (x_a * U).sum(axis=1) / size
    rate = turning(state, loss.pull(outputs(state), state["y"])) @ r
    return rate, state["signs"] * (psi_ra - (U @ r) * psi_aj) * size


def cosines_near_the_limit(loss: Loss) -> Statement:
    """ea.lem10: the rate of cos(x_r, w_j) is within 2 n X_max max |f| of its limit (eq. 24)."""

    def with_reference(draw):
        def one(rng: np.random.Generator) -> dict:
            state = draw(rng)
            d = state["X"].shape[1]
            among = [*state["X"], *state["U"], rng.standard_normal(d)]
            return {**state, "reference": among[int(rng.integers(len(among)))]}

        return one

    def slack(state: State) -> float:
        rate, limit = rates_of_cosines(state, loss)
        gaps = np.abs(rate - limit)[~np.isnan(limit)]
        return _slack(float(gaps.max()), state) if gaps.size else np.inf

    draws = balanced_states((0.0,), least=1e-6)
    return Statement(
        f"{loss.name} loss: the rate of cos(xᵣ, wⱼ) is within 2 n Xₘₐₓ max|f| of its limit",
        {kind: with_reference(draw) for kind, draw in draws.items()},
        slack,
        _SMALL,
        tolerance=1e-7,  # of rounding, at |f| = 1e-6
        fixed=NOT_MOVED,
    )


def at_forty_five_degrees(loss: Loss, log_norm: float) -> tuple[float, float, float]:
    """Error, its bound 2 n X_max |f|, and |f|, for x = (1, 0), y = 1 and w at 45 degrees, v > 0."""
    state = {
        "X": np.array([[1.0, 0.0]]),
        "y": np.ones(1),
        "U": np.ones((1, 2)),
        "R": np.array([log_norm]),
        "signs": np.ones(1),
        "leak": np.array(0.0),
    }
    f = largest_output(state)
    return float(errors(state, loss)[0]), 2.0 * f, f


def with_half_the_pull() -> Evidence:
    """The logistic loss of Section 2.1 keeps an error of half the speed, however small f is."""
    error, allowed, _ = at_forty_five_degrees(LOGISTIC, LOG_NORM)
    return note("with log(1 + exp(-y f)) of Section 2.1, x = (1, 0), y = 1, w at 45 degrees and "
                "|w| = e⁻⁵: the error, and 2 n Xₘₐₓ|f|", (error, allowed), digits=3)  # fmt: skip


def appendix_loss() -> Reading:
    """Which logistic loss Lemma 1 means, and what the other one does: h = n = W_max = 1."""
    error, _, _ = at_forty_five_degrees(LOGISTIC, LOG_NORM)
    allowed = 4.0 * np.exp(LOG_NORM)
    return Reading(
        "the logistic loss is 2 log(1 + exp(-y f)), as in Appendix B, whose pull at f = 0 is y",
        "with log(1 + exp(-y f)), as in Section 2.1, the pull at f = 0 is y/2, and the error tends "
        "to half of |P xₐ| as the weights shrink: x = (1, 0), y = 1 and one neuron at 45 degrees "
        f"have at t = 0 an error of {error:.3f}, where {allowed:.3f} is allowed for "
        "ε = |w(0)| = e⁻⁵",
    )


def reference_in_input_space() -> Reading:
    """How Lemma 10 is read."""
    return Reading(
        "xᵣ is a unit vector of the space of inputs (the sphere's dimension is printed as n - 1), "
        "and xₐ(wⱼ) is not 0",
        "where xₐ(wⱼ) = 0 the angle to it is not defined; with its product with |xₐ| read as 0 "
        "the bound holds there too",
    )
