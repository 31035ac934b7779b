"""Figures 6 to 8: do the neurons reach S_+ and S_- in time, and how many stay astray?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from reluflow.flows.ensembles import Ensemble, ensemble_flow, normal_starts
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL
from reluflow.papers.min2024early.astray_exact import chance_astray, chance_astray_after
from reluflow.papers.min2024early.toys import (
    ALIKE,
    EARLY,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
    LATE,
    SIGMA,
    STEP,
    WELL,
    WIDTH,
    Data,
    as_the_loss_begins_to_fall,
    flow_from,
    places,
    typical,
)
from reluflow.statistics import share_interval, wilson

_MOST = 0.9
_GROWN = 100
"""What "the neurons" do, nine of ten of them must."""
_SPREAD = 4.0
"""A count may differ from the law's by so many standard deviations of a Poisson variable."""


def all_in_their_cones(runs: Mapping[str, Ensemble], descended: Ensemble) -> list[Evidence]:
    """ea.fig6.1: as the loss begins to fall all neurons are in S_+, S_- or S_dead, well aligned.

    Parameters: a run of the flow for each of the data sets `toys.FIGURE_6`, and one of descent for
    the first of them from the same starts. The sets of comparable lengths decide, together; the one
    with a short datum is told beside them.
    """
    complete, well, rows = [], [], []
    for name, run in runs.items():
        at = places(FIGURE_6[name], *as_the_loss_begins_to_fall(run))
        whole = _none(at.astray)
        rows.append(f"{name}: {int(whole.sum())} of {len(whole)}")
        if name in ALIKE:
            complete.append(whole)
            well.append(at.aligned[at.arrived] >= WELL)
    aligned = np.concatenate(well)
    return [
        *typical("every neuron is in its cone or dead", np.concatenate(complete),
                 after="that the set with a short datum is left out"),
        bound(f"share of the neurons in S₊ and S₋ with a cosine of {WELL} or more",
              float(aligned.mean()), ">", _MOST, "", digits=2),
        *_alike(FIGURE_6[ALIKE[0]], runs[ALIKE[0]], descended, descended.knots.tolist()),
        note("starts without a neuron astray, set by set", "; ".join(rows)),
    ]  # fmt: skip


def all_arrive_and_grow(run: Ensemble) -> list[Evidence]:
    """ea.fig7: at mu = sin 0.1 the live neurons with v_j > 0 come to S_+, align, and then grow."""
    W, v = as_the_loss_begins_to_fall(run)
    early, late = places(FIGURE_7, W, v), places(FIGURE_7, *run.at(LATE))
    growth = np.linalg.norm(run.at(LATE)[0], axis=-1) / np.linalg.norm(run.at(0)[0], axis=-1)
    ended_negative = late.live & (run.at(LATE)[1] < 0.0)
    return [
        *typical("no live neuron is outside S₊ as the loss begins to fall",
                 _none(early.astray)),
        *typical("none is outside at iteration 21000", _none(late.astray)),
        bound(f"share of the neurons in S₊ with a cosine of {WELL} or more as the loss begins to "
              "fall", float((early.aligned[early.arrived] >= WELL).mean()), ">", _MOST, "",
              digits=2),
        bound(f"share of them that grow to {_GROWN} times their norm by iteration {LATE}",
              float((growth[early.arrived] > _GROWN).mean()), ">", _MOST, "", digits=2),
        fact("live neurons with vⱼ < 0 at iteration 21000", int(ended_negative.sum()), 0),
        *_by_the_flow(FIGURE_7, run),
    ]  # fmt: skip


def slower_when_nearly_orthogonal(near: Ensemble, tiny: Ensemble) -> list[Evidence]:
    """ea.fig8.1: at iteration 7000 some live neurons are outside S_+ at mu = sin 0.001, along x_1
    or x_2, and none at mu = sin 0.1.

    Parameters: runs of the data of Figures 7 and 8 from the same starts.
    """
    arrived = _none(places(FIGURE_7, *near.at(EARLY)).astray)
    W, v = tiny.at(EARLY)
    astray = places(FIGURE_8, W, v).astray
    towards = (W @ FIGURE_8[0].T / np.linalg.norm(W, axis=-1)[..., None]).max(axis=-1)
    rate = 0.5 * STEP
    law = WIDTH * len(astray) * chance_astray_after(EARLY, rate, 0.001)
    return [
        *typical("some are outside at sin 0.001, and none at sin 0.1",
                 astray.any(axis=1) & arrived),
        bound(f"share of those outside with a cosine of {WELL} or more with x₁ or x₂",
              float((towards[astray] >= WELL).mean()), ">", _MOST, "", digits=2),
        bound("their number against the law of this page, in standard deviations",
              abs(float(astray.sum()) - law) / law**0.5, "<", _SPREAD, "", digits=2),
        note("neurons of 50 outside, on average, and by the law",
             (float(astray.sum(axis=1).mean()), law / len(astray)), "", digits=3),
        note("the same at sin 0.1, by the law",
             WIDTH * chance_astray_after(EARLY, rate, 0.1), "", digits=2),
        *_by_the_flow(FIGURE_8, tiny),
    ]  # fmt: skip


def left_behind(run: Ensemble) -> list[Evidence]:
    """ea.fig8.2: at mu = sin 0.001 a neuron is still outside S_+ at iteration 21 000.

    One instance cannot be wrong; what can be asked is whether it is rare.
    """
    count = places(FIGURE_8, *run.at(LATE)).astray.sum(axis=1)
    hits, starts = int((count > 0).sum()), len(count)
    low, _ = wilson(hits, starts)
    law = _law(run)
    mean = starts * float(law @ np.arange(len(law)))
    return [
        bound("share of starts with a neuron outside S₊, lower end of the interval", float(low),
              ">", 0.05, "", digits=2),
        note("starts with a neuron outside, and the interval of the share",
             f"{hits} of {starts}, {share_interval(hits, starts)}"),
        note("starts with one, two, more of them",
             tuple(int(k) for k in (np.sum(count == 1), np.sum(count == 2), np.sum(count > 2)))),
        note("the share by the law of this page", float(1.0 - law[0]), "", digits=2),
        bound("number of these neurons against the law, in standard deviations",
              abs(float(count.sum()) - mean) / mean**0.5, "<", _SPREAD, "", digits=2),
    ]  # fmt: skip


def work(run: Ensemble, until: float, unit: float) -> NDArray:
    """tau (S,), the integral of the pull of x_1 up to the clock value `until`, for a pair of data.

    Both have nearly the same output f, so that the sum of the exponential loss is L = 2 e^-f, and
    the pull is L/2. `unit` is the time of one step of the clock, in that of the sum's flow.
    """
    done = run.clock < until
    spacing = unit * (run.clock[1] - run.clock[0])
    return np.asarray(spacing * 0.5 * run.loss[done].sum(axis=0))


def _law(run: Ensemble) -> NDArray:
    """The probabilities (h + 1,) of 0, 1, ... neurons outside S_+ at iteration 21 000."""
    chances = [chance_astray(float(tau), 0.001) for tau in work(run, LATE, 0.5 * STEP)]
    return np.mean([binom.pmf(np.arange(WIDTH + 1), WIDTH, p) for p in chances], axis=0)


def counts_and_law(run: Ensemble, most: int = 4) -> tuple[NDArray, NDArray]:
    """Neurons outside S_+ in each start (S,), and the law (most + 1,) of 0, ..., `most` or more."""
    law = _law(run)
    return (places(FIGURE_8, *run.at(LATE)).astray.sum(axis=1),
            np.append(law[:most], law[most:].sum()))  # fmt: skip


def _none(astray: NDArray) -> NDArray:
    """The starts (S,) without a neuron astray, of astray (S, h)."""
    return np.asarray(astray.sum(axis=1) == 0)


def _by_the_flow(data: Data, run: Ensemble) -> list[Evidence]:
    """The first starts of a run of descent by the gradient flow."""
    W, v = (part[:20] for part in run.at(0))
    return _alike(data, flow_from(data, W, v, [EARLY, LATE]), run, [EARLY, LATE])


def _alike(data: Data, flow: Ensemble, run: Ensemble, looks: Sequence[float]) -> list[Evidence]:
    """That a flow and a descent from the same first starts put the neurons at the same places."""
    networks, moved = min(flow.v.shape[1], run.v.shape[1]), []
    for k in looks:
        here, there = (places(data, W[:networks], v[:networks]) for W, v in (run.at(k), flow.at(k)))
        moved.append((here.astray != there.astray) | (here.live != there.live))
    return [
        bound("share of neurons that the flow puts elsewhere than descent",
              float(np.mean(moved)), "<", 0.01, ""),
    ]  # fmt: skip


def astray_at_the_end(
    angles: NDArray, sigma: float, seed: int, networks: int
) -> list[tuple[float, int, int, float, float]]:
    """How many live neurons of two positive data at the cosine sin(angle) stay outside S_+.

    Follows the flow to twice the time at which the loss has fallen to a half. Returns for each
    angle (angle, neurons outside, neurons, chance by the law, work): the work tau of the pull, or
    rather -log of the mean e^-tau over the starts, as the law goes with e^-tau.
    """
    found = []
    until = float(np.round(20.0 * np.log(sigma) / np.log(SIGMA)))
    for k, angle in enumerate(angles.tolist()):
        X = np.array([[1.0, 0.0], [np.sin(angle), np.cos(angle)]])
        data = X, np.ones(2)
        W, v = normal_starts(100 * seed + k, networks, WIDTH, 2, sigma)
        run = ensemble_flow(*data, W, v, EXPONENTIAL, 0.05, [until])
        astray = places(data, *run.at(until)).astray
        done = work(run, until, 1.0)
        law = float(np.mean([chance_astray(float(t), angle) for t in done]))
        tau = -float(np.log(np.mean(np.exp(-done))))
        found.append((angle, int(astray.sum()), astray.size, law, tau))
    return found
