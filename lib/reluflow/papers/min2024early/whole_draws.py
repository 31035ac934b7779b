"""Starts of whole trajectories at the largest eps that (Small) allows, ordinary and adversarial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early import constants
from reluflow.papers.min2024early.small_scale import enough_log_eps, enough_time
from reluflow.papers.min2024early.whole import Lost, Start, Whole, begin, follow
from reluflow.separable import Draws, separable, separable_draws

LOSSES: tuple[Loss, ...] = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)
"""The exponential loss and the logistic one of Appendix B and of Section 2.1."""
LEAST_MU = 0.03
"""Below this the eps that is allowed is less than e^(-10^8), whose log norms are too coarse."""
_NEURONS = 4
LATE = 1e-9
"""Tolerance of flows from late starts, whose angles are 1e-8 at first."""
_FORBIDDEN = 1e-6
"""Angle between an adversarial neuron and the direction that (A2) forbids it."""


def data_draws() -> Draws:
    """Draws of {"X", "y"} with data of both labels: mu from 0.03 to 0.9, up to 50 dimensions.

    Lengths that differ by more than 100 would ask for an eps below e^(-10^9), whose log norms have
    no digit left after the point: those draws are left to the lemmas.
    """
    kept = separable_draws(sizes=(2, 6))

    def narrow(rng: np.random.Generator) -> dict[str, NDArray]:
        mu = float(10.0 ** rng.uniform(-1.5, -1.0))
        n, d = int(rng.integers(2, 5)), int(rng.integers(2, 51))
        return dict(zip(("X", "y"), separable(n, d, mu, rng, 0.3), strict=True))

    names = ("wide", "integers", "parallel", "one against many")
    return {**{name: kept[name] for name in names}, "narrow": narrow}


def neurons(X: NDArray, y: NDArray, signs: NDArray, rng: np.random.Generator) -> NDArray:
    """W_0 (h, d): the first of either sign active on a datum of its label, the third next to the
    direction that (A2) forbids it; lengths over six decades."""
    W0 = rng.standard_normal((len(signs), X.shape[1]))
    for k, sign in enumerate(signs[:2]):
        x = X[rng.choice(np.flatnonzero(y == sign))]
        W0[k] *= np.sign(W0[k] @ x)
    forbidden = X[y == -signs[2]].sum(axis=0)
    W0[2] = forbidden / np.linalg.norm(forbidden) + _FORBIDDEN * W0[2]
    lengths = 10.0 ** rng.uniform(-6.0, 0.0, (len(signs), 1))
    return W0 / np.linalg.norm(W0, axis=1, keepdims=True) * lengths


def starts(seed: int, count: int) -> Iterator[Start]:
    """`count` starts of four neurons, two of either sign, the kinds of data and the losses in turn.

    eps is the largest that (Small) allows with the constants as printed.
    """
    rng = np.random.default_rng(seed)
    draws = list(data_draws().values())
    signs = np.where(np.arange(_NEURONS) % 2 == 0, 1.0, -1.0)
    for k in range(count):
        while True:
            item = draws[k % len(draws)](rng)
            X, y = np.asarray(item["X"]), np.asarray(item["y"])
            if len(set(y)) == 2 and separation(X, y) > LEAST_MU:
                break
        made = Start(X, y, neurons(X, y, signs, rng), signs, LOSSES[k % 3], 0.0)
        yield replace(made, log_eps=allowed(made))


def late_starts(seed: int, count: int) -> Iterator[tuple[Start, float]]:
    """`count` starts that are not home at the printed t_1, each with a time at which they are.

    Two data in the plane, one of them up to twice as long, with mu from 0.88 to 0.99, and three
    neurons: one so near to the direction that (A2) forbids it that it stays in the wrong cone for
    longer than t_1, and one along either datum. eps is the largest that (Small) allows as printed,
    or that of `small_scale` if it is less; the time is T_*, at which all neurons are home by it.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        mu, turn, side = rng.uniform(0.88, 0.99), rng.uniform(0.0, 2.0 * np.pi), 1.0 - 2.0 * (k % 2)
        across = np.array([np.sqrt(1.0 - mu**2), mu])
        X = np.array([[rng.uniform(1.0, 2.0), 0.0], [-mu, across[0]]])
        y, signs = side * np.array([1.0, -1.0]), side * np.array([1.0, 1.0, -1.0])
        data = constants.data_constants(X, y)
        angle = np.exp(-1.0 - rng.uniform(1.1, 1.2) * constants.alignment_time(data, data.xi))
        W0 = np.vstack([X[1] + angle * across, X]) * 10.0 ** rng.uniform(-3.0, 0.0, (3, 1))
        turned = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        made = Start(X @ turned, y, W0 @ turned, signs, LOSSES[k % 3], 0.0)
        given = made.X, made.y, made.W0, made.signs
        pull = float(made.loss.pull(np.zeros(1), np.ones(1), relative=False)[0])
        log_eps = min(allowed(made), enough_log_eps(*given))
        yield replace(made, log_eps=log_eps), enough_time(*given) / pull


def allowed(given: Start) -> float:
    """ln of the largest eps that (Small) allows, with zeta = max(zeta_1, zeta_2) as printed."""
    data, start = given.data, given.start
    return constants.log_eps_allowed(data, start, constants.printed_zeta(data, start))


@dataclass(frozen=True)
class Survey:
    """The trajectories `found`, the number of starts `outside` the hypotheses, and of those `lost`
    although they meet them."""

    found: list[Whole]
    outside: int
    lost: int


def trajectories(seed: int, count: int) -> Survey:
    """The trajectories of `count` starts."""
    found, lost = list[Whole | None](), 0
    for each in starts(seed, count):
        try:
            found.append(follow(each))
        except Lost:
            lost += 1
    kept = [each for each in found if each is not None]
    return Survey(kept, len(found) - len(kept), lost)


def late_trajectories(seed: int, count: int) -> Survey:
    """The trajectories of `count` late starts, from the time at which they are home; `outside` are
    those that are not, or that are home at the printed t_1 already."""
    found = []
    for given, t_1 in late_starts(seed, count):
        each = follow(given, rtol=LATE, t_1=t_1)
        if each is not None and begin(given) is None:
            found.append(each)
    return Survey(found, count - len(found), 0)


def late(survey: Survey) -> Evidence:
    """That late starts are what they should be: not home at the printed t_1, and home at T_*."""
    drawn = len(survey.found) + survey.outside
    return fact("of these, late starts: not home at the printed t₁, home at T⁎; and all drawn",
                (len(survey.found), drawn), (drawn, drawn))  # fmt: skip


def followed(survey: Survey) -> list[Evidence]:
    """How many trajectories there are, and that none was lost: a part of every claim's evidence."""
    return [
        fact("trajectories that meet the hypotheses and were lost", survey.lost, 0,
             tried=len(survey.found) + survey.lost),
        note("starts left out, since at t_1 a neuron is not where part 1 says or a cone is empty",
             survey.outside),
    ]  # fmt: skip
