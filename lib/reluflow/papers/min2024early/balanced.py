"""Section 2.1: (Init) is balanced, the flow keeps it so, and no output weight changes its sign.

With the pulls c_i = -dl/df_i, half the rate of v_j^2 is v_j sum_i c_i s(<x_i, w_j>) and half that
of |w_j|^2 is sum_i c_i s'(<x_i, w_j>) v_j <x_i, w_j>. They are equal since s(p) = s'(p) p, whatever
s' is at p = 0. And sum_i |c_i| <= L <= L(0), so that d/dt log |v_j| >= -X_max L(0).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.exact import fractions
from reluflow.falsify import Statement, planted, survey
from reluflow.flows.charts import Plain
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.networks.indexed import fully_connected
from reluflow.separable import separable

LOSSES = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)
TOLERANCES = (1e-3, 1e-5, 1e-7)
"""The integrator's, of the flows whose drift is measured."""
LARGEST = 1e-4
"""Drifts up to this part of |w|^2 are the integrator's, at its smallest tolerance."""
SPAN = 5.0
"""Flows are followed for the time SPAN / (X_max L(0)), in which |v_j| can lose a factor e^-SPAN."""
ROUNDING = 1e-4
"""A bound on |v_j| is passed where it exceeds |v_j| by more than this part of it."""
_POINTS = 60


def exact_rates(item: Mapping[str, Any]) -> tuple[NDArray, NDArray]:
    """Half the rates of v_j^2 and of |w_j|^2, as fractions (h,), at X (n, d), c (n,), W (h, d), v
    (h,) with the derivative `at_zero` of the ReLU at 0."""
    X, c, W, v = (fractions(item[name]) for name in ("X", "c", "W", "v"))
    before, at_zero = W @ X.T, Fraction(float(item["at_zero"]))
    above, on = (before > 0).astype(int), (before == 0).astype(int)
    dW = v[:, None] * (((above + on * at_zero) * c) @ X)
    dv = (above * before) @ c
    return v * dv, (W * dW).sum(axis=1)


def rates_agree() -> Statement:
    """ea.balanced.1: v_j^2 and |w_j|^2 have the same rate, in rational arithmetic, for any loss, on
    boundaries too (Section 2.1)."""

    def draw(whole: bool):
        def one(rng: np.random.Generator) -> dict[str, Any]:
            n, d, h = (int(rng.integers(1, top)) for top in (6, 5, 5))
            X, W = rng.standard_normal((n, d)), rng.standard_normal((h, d))
            if whole:
                X, W = np.round(2.0 * X), np.round(2.0 * W)
            c = rng.standard_normal(n) * 10.0 ** rng.uniform(-6.0, 6.0, n)
            at_zero = np.array(rng.choice([0.0, 0.25, 1.0]))
            return {"X": X, "c": c, "W": W, "v": rng.standard_normal(h), "at_zero": at_zero}

        return one

    def slack(item: Mapping[str, Any]) -> float:
        outgoing, incoming = exact_rates(item)
        return -float(np.abs(planted(item) * outgoing - incoming).max())

    draws = {"floats": draw(False), "whole numbers, some on boundaries": draw(True)}
    return Statement("vⱼ² and |wⱼ|² change alike", draws, slack)


def starts(seed: int, count: int) -> Iterator[tuple[str, Loss, NDArray, NDArray, NDArray]]:
    """Balanced starts: kind, loss, X (n, d), y (n,) and parameters (p,), W row by row and then v.

    Kinds in turn: data without an assumption; orthogonally separable data; and "shrinking", data of
    one direction and of the label opposite to v, which pull every neuron towards 0.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        n, d, h = int(rng.integers(1, 6)), int(rng.integers(2, 5)), int(rng.integers(1, 5))
        kind = ("any", "separable", "shrinking")[k % 3]
        X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
        W = rng.standard_normal((h, d)) * 10.0 ** rng.uniform(-1.0, 0.3)
        signs = rng.choice([-1.0, 1.0], h)
        if kind == "separable":
            X, y = separable(n, d, float(rng.uniform(0.01, 0.9)), rng)
        elif kind == "shrinking":
            X, y, signs = np.tile(X[:1], (n, 1)), np.full(n, -1.0), np.ones(h)
            W = X[0] * rng.uniform(0.01, 0.5, (h, 1))
        X *= 10.0 ** rng.uniform(-1.0, 1.0)
        theta = np.concatenate([W.ravel(), signs * np.linalg.norm(W, axis=1)])
        yield kind, LOSSES[k // 3 % 3], X, y, theta


def drifts(seed: int, count: int) -> pd.DataFrame:
    """One row a flow of `starts` in the parameters themselves: the largest |v_j^2 - |w_j|^2| at
    each tolerance over the largest |w_j|^2, whether a sign of v changes, and the least of log|v_j|
    above its bound log|v_j(0)| - X_max L(0) t, at the smallest tolerance."""

    def measured(
        start: tuple[str, Loss, NDArray, NDArray, NDArray],
    ) -> dict[str, float | str | bool]:
        kind, loss, X, y, theta = start
        d = X.shape[1]
        h = len(theta) // (d + 1)
        field = GradientFlow(Plain(fully_connected([d, h])), loss, X, y)
        pace = float(np.linalg.norm(X, axis=1).max() * np.exp(field.log_loss(theta)))
        row: dict[str, float | str | bool] = {"kind": kind, "loss": loss.name}
        for tolerance in TOLERANCES:
            path = integrate(field, theta, SPAN / pace, at_zero=0.0, rtol=tolerance, method=DOP853)
            times = np.linspace(0.0, path.t[-1], _POINTS) if path.t[-1] > 0.0 else path.t
            Z = path.at(times)
            W, v = Z[:, : h * d].reshape(-1, h, d), Z[:, h * d :]
            squares = (W**2).sum(axis=-1)
            row[f"{tolerance:g}"] = float(np.abs(v**2 - squares).max() / squares.max())
        with np.errstate(divide="ignore"):
            above = np.log(np.abs(v / theta[h * d :])) + (pace * times)[:, None]
        return {
            **row,
            "flips": bool(np.any(np.sign(v) != np.sign(theta[h * d :]))),
            "above": float(above.min()),
            "shrunk": float(np.abs(v / theta[h * d :]).min()),
            "status": path.status,
        }

    return survey(starts(seed, count), measured)


def stays_balanced(found: pd.DataFrame) -> list[Evidence]:
    """The drift of v_j^2 - |w_j|^2 under refinement of the solver."""
    first, last = found[f"{TOLERANCES[0]:g}"], found[f"{TOLERANCES[-1]:g}"]
    moved = first > 1e-9
    return [
        fact(f"flows along which v² - |w|² leaves 0 by {LARGEST:g} of |w|² at the tolerance "
             f"{TOLERANCES[-1]:g}",
             int((last > LARGEST).sum()), 0, tried=len(found)),
        bound("median factor by which a tolerance 10000 times smaller lessens the drift",
              float(np.median(first[moved] / np.maximum(last[moved], 1e-16))), ">=", 25.0, "",
              digits=2),
        note("flows, and those that end on a boundary where (GF) has no solution any more",
             (len(found), int((found.status == "sliding").sum()))),
    ]  # fmt: skip


def signs_stay(found: pd.DataFrame) -> list[Evidence]:
    """ea.balanced.2: sign v_j(t) = sign v_j(0), and |v_j(t)| >= |v_j(0)| e^(-X_max L(0) t)."""
    shrinking = found[found.kind == "shrinking"]
    return [
        fact("flows along which an output weight changes its sign", int(found.flips.sum()), 0,
             tried=len(found)),
        fact("flows along which |vⱼ| falls below its bound",
             int((found.above < -ROUNDING).sum()), 0, tried=len(found)),
        bound("the least |vⱼ(t)| / |vⱼ(0)| of a neuron that all data shrink",
              float(shrinking.shrunk.min()), ">", 0.0, "", digits=2),
        bound("one neuron along one datum of the other label, |w(0)| = 1e-3: its decay over the "
              "bounded one", shrinking_share(1e-3), ">", 0.999, ""),
    ]  # fmt: skip


def shrinking_share(norm: float, span: float = SPAN) -> float:
    """log(|v(0)| / |v(t)|) over its bound X_max L(0) t at t = span / L(0): exponential loss, x = 1,
    y = -1, w = v = `norm` > 0 at the start, in closed form.

    u = v^2 obeys u' = -2 u e^u, so that 2 t = E_1(u) - E_1(u_0).
    """
    start = mpmath.mpf(norm) ** 2
    time = span / mpmath.exp(start)
    guess = mpmath.log(start) - 2 * span
    end = mpmath.findroot(lambda s: mpmath.e1(mpmath.exp(s)) - mpmath.e1(start) - 2 * time, guess)
    return float((mpmath.log(start) - end) / 2 / span)
