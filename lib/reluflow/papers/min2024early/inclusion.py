"""Appendix F: under (A1) the inclusion (2) has the same regular solutions as the equation.

On a boundary the inclusion lets s' be anything in [0, 1]. The velocity is s_j |v_j| sum_k s'_k c_k
z_k, and by (A1) <z_i, sum_k s'_k c_k z_k> > 0 for all i unless all s'_k are 0. A neuron that is
active on some datum hence leaves each of its boundaries at once: it is on them for a set of times
of measure zero, where the choice of s' changes no integral. A neuron that is active on none is in
S_dead. There a regular solution keeps it, so s_j <z_i, w> must not move, and all s'_k are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from reluflow.falsify import Statement
from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.geometry.separability import separation, silent
from reluflow.ledger import Evidence, fact
from reluflow.papers.min2024early.crossings import Problem, problems
from reluflow.separable import separable_draws

Item = Mapping[str, Any]


def selections_point_inward() -> Statement:
    """ea.appF: on a boundary every element of the differential inclusion that is not 0 crosses it
    the way eq. (46) says, so that regular solutions of Caratheodory and of Filippov are the same
    ones.

    A neuron w lies on the boundaries of some data (`on`), each of which takes a slope in [0, 1];
    the pulls c are any positive numbers. Not all slopes are 0.
    """

    def on_boundaries(draw: Callable) -> Callable:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = draw(rng)
            X, (n, d) = item["X"], item["X"].shape
            on = np.zeros(n, bool)
            on[rng.permutation(n)[: int(rng.integers(1, min(n, d) + 1))]] = True
            basis = np.linalg.svd(X[on] / np.linalg.norm(X[on], axis=1)[:, None])
            rank = int((basis[1] > 1e-9).sum())
            free = basis[2][rank:]
            w = free.T @ (free @ rng.standard_normal(d))  # whichever basis of its space `free` is
            w = np.where(np.abs(w) > 1e-12, w, 0.0)  # 0 but for rounding
            size = np.linalg.norm(X, axis=1) * max(float(np.linalg.norm(w)), 1e-300)
            active = X @ w > 1e-9 * size  # a multiple of a datum `on` has 0 up to rounding
            slopes = rng.choice([0.0, 1.0, rng.uniform()], n)
            slopes[rng.choice(np.flatnonzero(on))] = rng.uniform(1e-3, 1.0)
            c = 10.0 ** rng.uniform(-3.0, 3.0, n)
            return {**item, "w": w, "on": on, "slopes": np.where(on, slopes, active), "c": c}

        return one

    def slack(item: Item) -> float:
        Z = item["y"][:, None] * item["X"]
        Z = Z / np.linalg.norm(Z, axis=1)[:, None]
        pulls = item["slopes"] * item["c"]
        moved = (pulls / pulls.max()) @ Z
        return float((Z @ moved).min() / np.linalg.norm(moved))

    draws = separable_draws((2, 12), (2, 7))
    return Statement(
        "every element of the inclusion that is not 0 crosses the boundaries the same way",
        {kind: on_boundaries(draw) for kind, draw in draws.items()},
        slack,
        {
            "(A1)": lambda item: separation(item["X"], item["y"]) > 0.0,
            "an element that is not 0": lambda item: bool(np.any(item["slopes"] > 0.0)),
        },
        strict=True,
        fixed=("y", "on"),
    )


def from_boundaries(seed: int, count: int) -> list[str]:
    """How the integrator goes on from boundaries where s'(0) may be anything in [0, 1].

    Starts of `crossings.problems` on whole-number data, without neurons in S_dead. Returns the
    statuses of short flows.
    """

    def begun(problem: Problem) -> str:
        kept = ~silent(problem.X, problem.W)
        chart = Neurons(problem.signs[kept], problem.X.shape[1])
        field = GradientFlow(chart, problem.loss, problem.X, problem.y, TIME)
        z = chart.along(problem.W[kept], problem.log_norms[kept])
        until = 0.2 / float(np.linalg.norm(problem.X, axis=1).max())
        return integrate(field, z, until, at_zero=None, rtol=1e-8, method=DOP853).status

    def on_boundaries(problem: Problem) -> bool:
        on = np.any(problem.W @ problem.X.T == 0.0, axis=1)
        return problem.kind == "integers" and bool(np.any(on & ~silent(problem.X, problem.W)))

    return [begun(problem) for problem in problems(seed, count) if on_boundaries(problem)]


def no_choice(found: list[str]) -> list[Evidence]:
    """Live neurons on boundaries have one way to go, whatever s'(0)."""
    open_ends = sum(status in ("non-unique", "sliding") for status in found)
    return [
        fact("starts of live neurons on boundaries from which s'(0) in [0, 1] leaves a choice, or "
             "no way", open_ends, 0, tried=len(found)),
    ]  # fmt: skip
