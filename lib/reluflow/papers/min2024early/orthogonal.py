"""Figure 9: two orthogonal data. What a start is active on decides where it ends, and who grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.ensembles import Ensemble, ensemble_descent
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL
from reluflow.papers.min2024early.toys import (
    FIGURE_7,
    FIGURE_9,
    IN_MOST_STARTS,
    LATE,
    SIGMA,
    WELL,
    as_the_loss_begins_to_fall,
    mean_step,
    places,
    typical,
)

TARGETS = ("$x_1$", "$x_2$", "$x_+$")
"""What a live neuron with v_j > 0 aligns with, in the order of the numbers of `group`."""


BY_OUTPUT = Reading(
    f"who grows is read off the outputs: nearly all of f comes from the neurons along x₊; "
    f"{IN_MOST_STARTS.taken}",
    "every live neuron grows, those along x₁ and x₂ more slowly; where no neuron starts in the "
    "quadrant of x₊ they fit the data by themselves",
)


def group(W: NDArray, v: NDArray) -> NDArray:
    """0, 1, 2 for neurons with v > 0 active on x_1 alone, x_2 alone, both; -1 for the rest.

    Parameters: W (..., 2), v (...), for the data (1, 0) and (0, 1).
    """
    on = W > 0.0
    found = np.where(
        on[..., 0] & on[..., 1], 2, np.where(on[..., 0], 0, np.where(on[..., 1], 1, -1))
    )
    return np.where(v > 0.0, found, -1)


def predicted(W: NDArray, v: NDArray) -> NDArray:
    """The group in which the flow from a tiny start W (..., 2), v (...) ends.

    With v > 0 it is that of the start: an inactive inner product never changes, an active one
    grows. With v < 0 the active inner products fall at one rate, and the square of their norm less
    v^2 is conserved, also where one of them comes to 0. So v comes to 0 first, and the neuron turns
    round, if their norm exceeds |v|; before either has come to 0, if 2 w_1 w_2 > v^2.
    """
    inner = np.maximum(W, 0.0)
    turns = (inner**2).sum(axis=-1) > v**2
    both = 2.0 * inner[..., 0] * inner[..., 1] > v**2
    larger = np.where(inner[..., 0] >= inner[..., 1], 0, 1)
    backwards = np.where(turns, np.where(both, 2, larger), -1)
    return np.where(v > 0.0, group(W, v), backwards)


def where_each_ends(run: Ensemble) -> list[Evidence]:
    """ea.fig9.1: each live neuron with v_j > 0 aligns with x_1, x_2 or x_+, as its start has it."""
    (W0, v0), (W, v) = run.at(0), run.at(LATE)
    expected, found = predicted(W0, v0), group(W, v)
    positive = v0 > 0.0
    Wb, vb = as_the_loss_begins_to_fall(run)
    mine = group(Wb, vb)
    axes = np.array([[1.0, 0.0], [0.0, 1.0], [0.5**0.5, 0.5**0.5]])
    cosines = (Wb / np.linalg.norm(Wb, axis=-1)[..., None] * axes[mine]).sum(axis=-1)
    moved = W - W0
    kept = (np.where(W0 <= 0.0, moved, 0.0) != 0.0).any(axis=-1)
    return [
        fact("neurons with vⱼ > 0 that end in another group than the one they start in",
             int((found != expected)[positive].sum()), 0, tried=int(positive.sum())),
        fact("neurons for which an inner product that was not positive has changed",
             int(kept.sum()), 0, tried=kept.size),
        bound("share of the neurons with vⱼ < 0 that end elsewhere than the conserved quantity "
              "says", float((found != expected)[~positive].mean()), "<", 0.01, ""),
        bound(f"share of the live ones with a cosine of {WELL} or more with x₁, x₂ or x₊ as "
              "the loss begins to fall", float((cosines[mine >= 0] >= WELL).mean()), ">", 0.9, "",
              digits=2),
        note("neurons of 50 at the end with x₁, x₂, x₊, on average",
             tuple(float((found == k).sum(axis=1).mean()) for k in range(3)), "", digits=3),
        note("of these, neurons that began with vⱼ < 0",
             float(((found >= 0) & ~positive).sum(axis=1).mean()), "", digits=2),
    ]  # fmt: skip


def who_fits(orthogonal: Ensemble, near: Ensemble) -> list[Evidence]:
    """ea.fig9.2: only the neurons along x_+ grow and fit the data; they are fewer than for mu > 0.

    Parameters: runs of the data of Figures 9 and 7 from the same starts. Who fits is read off the
    outputs. All live neurons grow; those along x_+ at the rate sqrt 2 and the others at 1, so that
    it is a race, which the others win where nobody else runs.
    """
    W, v = orthogonal.at(LATE)
    mine = group(W, v)
    parts = np.maximum(W, 0.0) * v[..., None]
    theirs = np.where(mine[..., None] == 2, parts, 0.0).sum(axis=1) / parts.sum(axis=1)
    some = (mine == 2).any(axis=1)
    fewer = (mine == 2).sum(axis=1) < places(FIGURE_7, *near.at(LATE)).arrived.sum(axis=1)
    size = np.linalg.norm(W, axis=-1)
    medians = tuple(float(np.median(size[mine == k])) for k in range(3))
    return [
        bound("least share of an output that comes from the neurons along x₊",
              float(theirs[some].min()), ">", 0.95, "", digits=2),
        *typical("fewer neurons are along x₊ than at sin 0.1", fewer),
        note("starts without a neuron along x₊", int((~some).sum())),
        note("median norm at iteration 21000 of the neurons along x₁, x₂, x₊", medians, "",
             digits=2),
        note("how many neurons are along x₊, on average, and at sin 0.1 in S₊",
             (float((mine == 2).sum(axis=1).mean()),
              float(places(FIGURE_7, *near.at(LATE)).arrived.sum(axis=1).mean())), "", digits=3),
        *_without_them(orthogonal),
    ]  # fmt: skip


def _without_them(run: Ensemble) -> list[Evidence]:
    """The same starts, ten of them, without the neurons that end along x_+."""
    W, v = (part[:10].copy() for part in run.at(0))
    v[predicted(W, v) == 2] = 0.0
    W[v == 0.0] = -SIGMA
    step = mean_step(FIGURE_9)
    again = ensemble_descent(*FIGURE_9, W, v, EXPONENTIAL, step, [LATE], every=LATE)
    return [
        note("the same starts without these neurons: what is left of the loss at iteration 21000, "
             "at most", float((again.loss[-1] / again.loss[0]).max()), "", digits=1),
    ]  # fmt: skip
