"""Lemmas 13 and 14, and the sign of the outputs: how the neurons in S_+ and S_- grow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from reluflow.falsify import Instance, Statement
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import Loss
from reluflow.papers.min2024early.late_neuron import AT_THE_NUMBER, LateNeuron, OnlyLate
from reluflow.papers.min2024early.loss_decay import CONES, in_cones
from reluflow.papers.min2024early.whole import Moments, Whole
from reluflow.papers.min2024early.whole_draws import Survey, data_draws, followed

_STEP = 1e-6
"""Tolerance of the integrator, relative to a log norm."""


def log_sum(R: NDArray) -> NDArray:
    """log of the sum of |w_j|^2 over the last axis of log norms R (..., k)."""
    return np.asarray(logsumexp(2.0 * R, axis=-1))


def shrinks_little(survey: Survey, only: OnlyLate) -> list[Evidence]:
    """ea.lem13: over the neurons of a cone, the sum of |w_j(t_1)|^2 is at least
    exp(-4 n X_max t_1) times that of |w_j(0)|^2 (Lemma 13).

    Each neuron has d log|w_j|^2 / dt >= -2 n X_max max |l'|, and |l'| <= 2 while |f| <= 1/2, up to
    T >= t_1 by eq (29): wherever it is, so that a late neuron is among what is tried.
    """
    slacks = []
    each_alone = [1.0 + only.shrunk]
    for each in survey.found:
        given, at = each.given, each.waiting.R[0]
        began = given.log_eps + np.log(np.linalg.norm(given.W0, axis=1))
        rate = 4.0 * given.data.n * given.data.X_max * each.t_1
        each_alone += (1.0 + 2.0 * (at - began) / rate).tolist()
        for own in (each.own(1.0), each.own(-1.0)):
            slacks.append(float(log_sum(at[own]) - log_sum(began[own]) + rate) / rate)
    return [
        fact("groups that shrink by more", sum(s < 0.0 for s in slacks), 0, tried=len(slacks)),
        fact("neurons that shrink by more, each for itself, a late one among them",
             sum(s < 0.0 for s in each_alone), 0, tried=len(each_alone)),
        note("1 + log of the growth over 4 n Xₘₐₓ t₁: least, largest", (min(slacks), max(slacks)),
             digits=2),
        *followed(survey),
    ]  # fmt: skip


def grows_in_its_cone(loss: Loss) -> Statement:
    """The derivative of a group's squared lengths is not negative in its cone (Lemma 14).

    Instances as in `loss_decay.in_cones`; the slack is the lesser of both groups, over X_max."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        W = np.vstack([item["plus"], item["minus"]])
        sizes = np.linalg.norm(W, axis=1)
        signs = np.repeat([1.0, -1.0], [len(item["plus"]), len(item["minus"])])
        before = np.maximum(X @ W.T, 0.0)
        pull = loss.pull(before @ (signs * sizes), y, relative=True)
        rates = 2.0 * signs * sizes * (pull @ before)
        half = len(item["plus"])
        return float(min(rates[:half].sum(), rates[half:].sum()))

    return Statement(
        f"{loss.name} loss: either group grows in its cone",
        {name: partial(in_cones, draw=draw) for name, draw in data_draws().items()},
        slack,
        {"data of both labels, μ > 1e-6": lambda item: bool(
            len(set(item["y"])) == 2 and separation(item["X"], item["y"]) > 1e-6), **CONES},
        fixed=("y",),
    )  # fmt: skip


def grows_from_t_1(survey: Survey, late: LateNeuron) -> list[Evidence]:
    """ea.lem14: the sum of |w_j|^2 over the neurons of a cone does not decrease from t_1 on
    (Lemma 14, eq 30)."""
    falls = left = 0
    for each in survey.found:
        for moments in (each.waiting, each.falling):
            for sign in (1.0, -1.0):
                sums = log_sum(moments.R[:, each.own(sign)])
                falls += bool(np.any(np.diff(sums) < -_STEP * np.abs(sums[1:])))
                left += not _in_cone(each, moments, sign)
    return [
        fact("groups whose sum falls between two moments", falls, 0, tried=2 * len(survey.found)),
        fact("groups with a neuron that leaves its cone", left, 0, tried=2 * len(survey.found)),
        note(f"{AT_THE_NUMBER}, a neuron of V₊ still in S₋ there: its |w|² over that of the "
             "other neuron of S₋, as a logarithm; it falls", late.log_ratio, digits=3),
        *followed(survey),
    ]  # fmt: skip


def _in_cone(each: Whole, moments: Moments, sign: float) -> bool:
    """Whether the group of `sign` is active on all data of its label and on no other."""
    before = np.einsum("nd,mjd->mnj", each.given.X, moments.U[:, each.own(sign)])
    return bool(np.all((before > 0.0) == (each.given.y == sign)[:, None]))


def log_margins(each: Whole, moments: Moments) -> NDArray:
    """log(y_i f(x_i)) (m, n) of the living neurons at moments; minus infinity where it is not
    positive."""
    given, on = each.given, np.flatnonzero(each.lives)
    before = np.einsum("nd,mjd->mnj", given.X, moments.U[:, on])
    parts = np.maximum(before, 0.0) * given.y[:, None] * given.signs[on]
    with np.errstate(divide="ignore", invalid="ignore"):
        log, sign = logsumexp(2.0 * moments.R[:, None, on], b=parts, axis=-1, return_sign=True)
    return np.where(sign > 0.0, log, -np.inf)


def classified(survey: Survey, late: LateNeuron) -> list[Evidence]:
    """ea.thm1.classify: all data are classified correctly by the sign of f from t_1 on
    (Section 3.1)."""
    wrong, least = 0, list[float]()
    for each in survey.found:
        for moments in (each.waiting, each.falling):
            margins = log_margins(each, moments)
            wrong += int(np.any(~np.isfinite(margins)))
        least.append(float(log_margins(each, each.waiting)[0].min()))
    return [
        fact("trajectories that classify a datum wrongly at some moment from t₁ on", wrong, 0,
             tried=len(survey.found)),
        note("log of the least y f(x) at t₁: least, largest", _range(least), digits=2),
        note(f"{AT_THE_NUMBER}, a neuron of V₊ still in S₋ there: log of its output on x₂ over "
             "that of the neuron that should win", late.log_ratio, digits=3),
        *followed(survey),
    ]  # fmt: skip


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
