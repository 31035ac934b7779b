"""Theorem 1, part 2, Appendix D.2: from t_2 on the loss falls at least like 1/t."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.flows.late_time import log_steepness
from reluflow.geometry.separability import separation, serves
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import Loss
from reluflow.margin.max_margin import max_margin
from reluflow.papers.min2024early import constants
from reluflow.papers.min2024early.late_neuron import AT_THE_NUMBER, OnlyLate
from reluflow.papers.min2024early.whole import Whole
from reluflow.papers.min2024early.whole_draws import Survey, data_draws, followed

_NEURONS = 3


def inside_cone(
    X: NDArray, y: NDArray, sign: float, count: int, rng: np.random.Generator
) -> NDArray:
    """Directions (count, d) in S_+ (sign 1) or S_-, up to the boundary: a point of K or -K, moved
    by a part of the way to where it leaves the cone."""
    Z = y[:, None] * X
    W = sign * rng.exponential(size=(count, len(y))) @ Z
    moves = rng.standard_normal(W.shape)
    before, rates = sign * W @ Z.T, sign * moves @ Z.T
    with np.errstate(divide="ignore"):
        room = np.where(rates < 0.0, before / -rates, np.inf).min(axis=1)
    step = np.where(np.isfinite(room), room, 1.0) * rng.uniform(0.0, 1.0, count) ** 0.3
    W = W + (1.0 - 1e-9) * step[:, None] * moves
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def in_cones(rng: np.random.Generator, draw: Draw) -> dict[str, NDArray]:
    """Data, and neurons "plus" (3, d) in S_+ and "minus" (3, d) in S_-, with the squared lengths
    of either group adding up to 1/(4 X_max) times a factor from 1 to 1000."""
    item = draw(rng)
    X, y = np.asarray(item["X"]), np.asarray(item["y"])
    made = {"X": X, "y": y}
    for name, sign in (("plus", 1.0), ("minus", -1.0)):
        W = inside_cone(X, y, sign, _NEURONS, rng) * rng.exponential(size=(_NEURONS, 1))
        factor = float(rng.choice([1.0 + 1e-9, 10.0 ** rng.uniform(0.0, 3.0)]))
        made[name] = W * np.sqrt(factor / (4.0 * _longest(X)) / np.sum(W * W))
    return made


def _longest(X: NDArray) -> float:
    return float(np.linalg.norm(X, axis=1).max())


CONES = {
    "S₊ holds the one group": lambda item: bool(serves(item["X"], item["y"], item["plus"]).all()),
    "S₋ the other": lambda item: bool(serves(item["X"], item["y"], item["minus"], -1.0).all()),
}
"""Hypotheses of an instance of `in_cones`."""


def steep_enough(loss: Loss) -> Statement:
    """|grad L|^2 >= alpha L^2 with alpha = (mu X_min)^2 / (32 X_max) (D.2, from Lemma 15), wherever
    either group's squared lengths add up to 1/(4 X_max). The slack is the log of the quotient."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        steep = _steepness(X, y, np.vstack([item["plus"], item["minus"]]), loss)
        return steep - float(np.log(constants.decay(constants.data_constants(X, y))))

    return Statement(
        f"{loss.name} loss: |∇L|² ≥ α L² where both groups have grown",
        {name: partial(in_cones, draw=draw) for name, draw in data_draws().items()},
        slack,
        {"data of both labels, μ > 1e-6": lambda item: bool(
            len(set(item["y"])) == 2 and separation(item["X"], item["y"]) > 1e-6),
         **CONES,
         "both groups have grown": lambda item: bool(min(
             np.sum(item[name] ** 2) for name in ("plus", "minus")) >= 0.25 / _longest(item["X"]))},
        fixed=("y",),
    )  # fmt: skip


def _steepness(X: NDArray, y: NDArray, W: NDArray, loss: Loss) -> float:
    """log |grad log L|^2 at balanced neurons W (6, d), the first three with v_j > 0."""
    signs = np.repeat([1.0, -1.0], _NEURONS)
    sizes = np.linalg.norm(W, axis=1)
    return log_steepness(W / sizes[:, None], np.log(sizes), signs, X, y, loss)


def slack_of_decay(each: Whole) -> NDArray:
    """log of (1/L(t) - 1/L(t_2)) / (alpha (t - t_2)), (m,) >= 0 by Theorem 1, at moments after t_2.

    By D.2, L(t) <= L(t_2) / (1 + alpha L(t_2) (t - t_2)) says just that.
    """
    moments = each.falling
    tau = -moments.log_loss
    with np.errstate(divide="ignore", invalid="ignore"):
        gained = tau + np.log(-np.expm1(tau[0] - tau))
        slack = gained - moments.log_time - np.log(constants.decay(each.given.data))
    return slack[1:]


def times_loss(each: Whole) -> float:
    """t L log t at the end of a trajectory, over its limit (1/gamma_+ + 1/gamma_-)/2.

    gamma_+ is the largest min over I_+ of <x_i, u> for a unit u, gamma_- that of I_-. Of either
    group 1/L grows like 2 gamma t log t.
    """
    moments, given = each.falling, each.given
    lengths = [max_margin(given.X[given.y == s], np.ones(int(np.sum(given.y == s)))).length
               for s in (1.0, -1.0)]  # fmt: skip
    log_t = moments.log_time[-1]
    log_product = log_t + np.log(log_t) + moments.log_loss[-1]
    return float(np.exp(log_product - np.log(0.5 * sum(lengths))))


def falls_like_one_over_t(survey: Survey, only: OnlyLate) -> list[Evidence]:
    """ea.thm1.loss.1: L(t) <= L(t_2) / (1 + alpha L(t_2) (t - t_2)) for all t >= t_2,
    alpha = (mu X_min)^2 / (32 X_max), t_2 the first time at which the outputs on both labels have
    exceeded 1/4 (Theorem 1, part 2; D.2)."""
    found = survey.found
    slacks = [slack_of_decay(each) for each in found]
    least = min((float(s.min()) for s in slacks), default=np.nan)
    limits = [times_loss(each) for each in found]
    return [
        fact("trajectories that break the bound somewhere up to ln L = -10⁶",
             sum(not bool(np.all(s >= 0.0)) for s in slacks), 0, tried=len(found)),
        note("least factor between the two sides of the bound", float(np.exp(least)), digits=2),
        note("t L log t where ln L = -10⁶, over its limit (1/γ₊ + 1/γ₋)/2: median",
             float(np.median(limits)), digits=2),
        note(f"{AT_THE_NUMBER}, where a late neuron of V₊ is alone in S₋: the loss at last, "
             "which began at 2 and does not come below 1", only.loss, digits=3),
        *followed(survey),
    ]  # fmt: skip
