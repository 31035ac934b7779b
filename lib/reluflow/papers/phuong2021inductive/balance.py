"""Lemma A.4: balanced neurons stay balanced and keep their signs; and the rate it prints."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement, planted
from reluflow.flows.charts import TIME, Plain
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Counterexample, Evidence, bound, deviation, fact, note
from reluflow.losses import LOGISTIC
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive import balance_exact
from reluflow.supports import support_draws

DRIFT = 1e-6
"""How far an integrator of relative tolerance 1e-9 may drift from balance."""
_LOST = 1e-4
"""A neuron shorter than this, over the longest: a drift of DRIFT could turn it round."""


def rates(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """d|w_j|^2/dt, d a_j^2/dt, and what (58) prints for both, each (p,)."""
    before = X @ W.T
    c = LOGISTIC.pull(np.maximum(before, 0.0) @ a, y)
    dW = (((before > 0.0) * c[:, None]).T @ X) * a[:, None]
    da = c @ np.maximum(before, 0.0)
    printed = a * (c @ np.maximum(before, 0.0))
    return 2.0 * np.sum(W * dW, axis=1), 2.0 * a * da, printed


def places(rng: np.random.Generator, draw: Draw) -> Instance:
    """Data, and three balanced neurons "W" (3, d), "a" (3,), of lengths from 0.01 to 10."""
    item = draw(rng)
    W = rng.standard_normal((3, item["X"].shape[1])) * 10.0 ** rng.uniform(-2.0, 1.0, (3, 1))
    return {"X": item["X"], "y": item["y"], "W": W,
            "a": rng.choice([-1.0, 1.0], 3) * np.linalg.norm(W, axis=1)}  # fmt: skip


def both_ends_equal() -> Statement:
    """d|w_j|^2/dt = d a_j^2/dt = 2 times what (58) prints: the ends agree, with the factor 2."""

    def slack(item: Instance) -> float:
        inner, outer, printed = rates(item["X"], item["y"], item["W"], item["a"])
        size = np.sum(item["a"] ** 2) * np.abs(item["X"]).max() * len(item["y"])
        return (
            -float(
                max(np.abs(inner - outer).max(), np.abs(outer - 2 * planted(item) * printed).max())
            )
            / size
        )

    return Statement("d|w|²/dt = da²/dt = twice what (58) prints",
                     {k: partial(places, draw=d) for k, d in support_draws().items()},
                     slack, tolerance=1e-9, fixed=("y", "a"))  # fmt: skip


def stays_balanced(seed: int, count: int) -> list[Evidence]:
    """os.lemA.4: a_j(t) = sign(a_j(0)) |w_j(t)| (eq 57), along flows in plain coordinates that do
    not know of it, for a positive, a dying and a shrinking neuron."""
    rng = np.random.default_rng(seed)
    draws, worst, flips, below = list(support_draws().values()), 0.0, 0, 0
    for k in range(count):
        item = places(rng, draws[k % len(draws)])
        d, p = item["X"].shape[1], 3
        field = GradientFlow(Plain(fully_connected([d, p])), LOGISTIC, item["X"], item["y"], TIME)
        path = integrate(field, np.append(item["W"].ravel(), item["a"]), 20.0, at_zero=0.0)
        Z = path.at(np.linspace(0.0, path.t[-1], 200))
        W, a = Z[:, : p * d].reshape(-1, p, d), Z[:, p * d :]
        sizes = np.linalg.norm(W, axis=-1)
        worst = max(worst, float(np.max(np.abs(np.abs(a) - sizes) / sizes.max())))
        # A neuron that has shrunk to the integrator's accuracy is lost: the error itself may grow.
        told = np.logical_and.accumulate(np.abs(a) > _LOST * sizes.max(), axis=0)
        flips += bool(np.any(told & (np.sign(a) != np.sign(item["a"]))))
        V = np.linalg.norm(item["X"], axis=1).max()
        t = np.linspace(0.0, path.t[-1], 200)[:, None]
        floor = -2.0 * len(item["y"]) * V * t + 2.0 * np.log(np.abs(item["a"]))
        below += bool(np.any(told & (2.0 * np.log(np.abs(a)) < floor - 1e-6)))
    return [
        bound("largest | |a_j| - |w_j| |, over the largest norm", worst, "<=", DRIFT, "", digits=2),
        fact(f"flows on which an a_j changes its sign while above {_LOST:g} of the longest",
             flips, 0, tried=count),
        fact("flows below a_j(0)² exp(-2nBVt), the proof's bound with its factor 2 restored", below,
             0, tried=count),
    ]  # fmt: skip


def lacks_a_factor() -> list[Evidence]:
    """os.lemA.4.rate: d|w|^2/dt and d a^2/dt against (58), for one neuron w = a = 1 on one datum
    x = y = 1, and what follows for the bound that the proof draws from it."""
    one = np.ones((1, 1))
    inner, outer, printed = rates(one, np.ones(1), one, np.ones(1))
    return [
        deviation("w = a = x = y = 1: d|w|²/dt less what (58) prints",
                  float(abs(inner[0] - printed[0])), "", digits=3),
        note("d|w|²/dt, da²/dt and the printed rate",
             (float(inner[0]), float(outer[0]), float(printed[0])), digits=3),
    ]  # fmt: skip


def half_the_rate() -> Counterexample:
    """The instance: in floats, and by the symbolic derivative of w(t)^2."""
    w, a, x = np.ones((1, 1)), np.ones(1), np.ones((1, 1))
    inner, _, printed = rates(w, a, x, np.ones(1))
    return Counterexample(
        instance={"x": 1, "y": 1, "w": 1, "a": 1},
        assumptions={"balanced, logistic loss": bool(np.linalg.norm(w) == abs(a[0])),
                     "differentiable there": bool(np.all(x @ w.T != 0.0))},
        breaks=(bound("d|w|²/dt over what (58) prints, less 1",
                      float(abs(inner[0] / printed[0] - 1.0)), "<=", 1e-6, "", digits=3),),
        recheck=(fact("quotient of the two, in exact arithmetic", balance_exact.quotient(), "1"),),
        route="the flow of one neuron on one datum differentiated symbolically",
    )  # fmt: skip
