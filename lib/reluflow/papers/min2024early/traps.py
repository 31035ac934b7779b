"""Lemma 12 without (R): a solution of (GF) that begins in S_dead and leaves it.

It is the paper's own example E.4, eq (47), with a second datum, so that there are both labels.

x_1 = (1, 0) with label 1, x_2 = (-1, 0) with label -1, w(0) = (0, 1), v(0) = 1: the neuron lies on
both boundaries, in S_dead, and may rest there. But with tau' = exp(-sinh tau cosh tau), tau(0) = 0,

    w = (sinh tau, 1),    v = cosh tau

solves the equation at every t > 0 too, where x_1 is active: f(x_1) = sinh(tau) cosh(tau). A
Caratheodory solution need not solve it at t = 0. (It may also rest first, until any t_0.)
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from reluflow.ledger import Counterexample, Evidence, bound, fact
from reluflow.papers.min2024early.traps_exact import followed

X = np.array([[1.0, 0.0], [-1.0, 0.0]])
Y = np.array([1.0, -1.0])
START = np.array([0.0, 1.0])
TIME = 1.0


def clock(tau: float) -> float:
    """t(tau) = integral of exp(sinh s cosh s) over s from 0 to tau."""
    return float(quad(lambda s: np.exp(np.sinh(s) * np.cosh(s)), 0.0, tau)[0])


def leaving(t: float) -> tuple[float, float]:
    """(w_1, v) at time t >= 0 of the solution that leaves S_dead at once."""
    tau = float(brentq(lambda s: clock(s) - t, 0.0, 3.0)) if t > 0.0 else 0.0
    return float(np.sinh(tau)), float(np.cosh(tau))


def defect(t: float = TIME) -> float:
    """How far w_1(t) and v(t) - 1 are from the integrals of their velocities over [0, t]."""

    def pull(s: float) -> tuple[float, float]:
        w, v = leaving(s)
        return (v * np.exp(-v * w), w * np.exp(-v * w)) if w > 0.0 else (0.0, 0.0)

    w, v = leaving(t)
    integrals = [quad(lambda s, k=k: pull(s)[k], 0.0, t, epsabs=1e-10)[0] for k in (0, 1)]
    return float(max(abs(w - integrals[0]), abs(v - 1.0 - integrals[1])))


def rests_and_leaves() -> Evidence:
    """ea.thm1.trap.2: every solution that is in S_dead once stays there; of two from one start, the
    constant one does, whose velocity is 0 as no datum is active, and the other one does not."""
    rests = not np.any(X @ START > 0.0)
    stays = leaving(TIME)[0] <= 0.0
    return fact("of two solutions from one start in S_dead stay there", int(rests) + int(stays), 2,
                tried=2)  # fmt: skip


def leaves_the_dead() -> Counterexample:
    """The neuron is in S_dead at t = 0 and not at t = 1."""
    return Counterexample(
        instance={"x_1": (1, 0), "y_1": 1, "x_2": (-1, 0), "y_2": -1, "w_1(0)": (0, 1),
                  "v_1(0)": 1, "solution (E.4, eq (47))": "w = (sinh τ, 1), v = cosh τ, "
                  "τ' = exp(-sinh τ cosh τ), τ(0) = 0"},
        assumptions={
            "(A1), μ = 1": bool(np.all(np.outer(Y, Y) * (X @ X.T) == 1.0)),
            "(A2): w₁(0) is no multiple of x₋ = x₂":
                bool(np.linalg.matrix_rank([START, X[1]]) == 2),
            "(Init): |w₁(0)| = v₁(0)": bool(np.linalg.norm(START) == 1.0),
            "w₁(0) is in S_dead": bool(np.all(X @ START <= 0.0)),
            "(GF): the integral equation holds on [0, 1], to 1e-7": defect() <= 1e-7,
        },
        breaks=(
            bound("⟨x₁, w₁(1)⟩ of the solution written down", leaving(TIME)[0], "<=", 0, ""),
        ),
        recheck=(
            bound("⟨x₁, w₁(1)⟩ by integrating the velocity of the active side from the same start",
                  followed(TIME), "<=", 0, ""),
        ),
        route="an integrator that starts at the edge, with the velocity that (GF) has at all t > 0 "
        "where ⟨x₁, w₁⟩ > 0",
    )  # fmt: skip
