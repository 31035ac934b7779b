"""Section 3.3: how a neuron changes its active data, and for how long it keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.falsify import Draw, Statement, survey
from reluflow.flows.alignment import Alignment
from reluflow.ledger import Evidence, Reading, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early.alignment import Zeta, started
from reluflow.papers.min2024early.constants import (
    centres,
    data_constants,
    needed_zeta,
)
from reluflow.papers.min2024early.flows import flow, patterns
from reluflow.papers.min2024early.limit_time import everywhere, path, separated
from reluflow.separable import separable, separable_draws

ROUNDING = 1e-8


APPENDIX_LOSS = Reading(
    "the logistic loss is 2 log(1 + e^(-yf)), as in Appendix B",
    "with log(1 + e^(-yf)) of Section 2.1 the sign is the same and the rate half as large: for μ "
    "near 1 it can be just below the bound of the proof, at outputs that eq (29) allows",
)
"""How the number of eqs (7) and (8) is read."""


def on_a_boundary() -> dict[str, Draw]:
    """Networks X, y, W (h, d), signs: neuron 1 lies on the boundary of datum 1, and the outputs are
    as large as eq (29) allows."""

    def of(data: Draw) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = data(rng)
            X = item["X"]
            h = int(rng.integers(1, 6))
            W = rng.standard_normal((h, X.shape[1])) * 10.0 ** rng.uniform(-2.0, 2.0, (h, 1))
            return {**item, "W": W, "signs": rng.choice([-1.0, 1.0], h)}

        return one

    return {name: of(draw) for name, draw in separable_draws().items()}


def placed(item: Mapping[str, Any]) -> tuple[NDArray, NDArray]:
    """W (h, d) with its first row on the boundary of datum 1, at the scale of eq (29), and the
    outputs (n,)."""
    X, y, signs, W = item["X"], item["y"], item["signs"], np.array(item["W"])
    x = X[0] / np.linalg.norm(X[0])
    W[0] -= (W[0] @ x) * x
    active = X @ W.T > 0.0
    active[0, 0] = False
    outputs = ((X @ W.T) * active) @ (signs * np.linalg.norm(W, axis=1))
    data = data_constants(X, y)
    most = data.mu**2 * np.sqrt(data.mu) * data.X_min / (4.0 * data.n * data.X_max)
    size = np.abs(outputs).max()
    return (W * np.sqrt(most / size), outputs * most / size) if size > 0.0 else (W, outputs)


def turns_across() -> Statement:
    """ea.eq7-8.1: on the boundary of x_i, s d/dt cos(w_j, y_i x_i) >= mu^(3/2) X_min / 2.

    There d/dt cos(w, z_i) = s <z_i, g> / |z_i|, g = sum of -l'(f_k) x_k over the active data: in K,
    so that it is at least mu |g|; and |g| >= sqrt(mu) X_min e^-|f|. The slack is relative.
    """

    def slack(item: Mapping[str, Any]) -> float:
        X, y = item["X"], item["y"]
        W, outputs = placed(item)
        active = X @ W[0] > 0.0
        active[0] = False
        if not active.any():
            return np.inf
        data, worst = data_constants(X, y), np.inf
        for loss in (EXPONENTIAL, TWICE_LOGISTIC):
            g = (loss.pull(outputs, y) * active) @ X
            rate = y[0] * float(X[0] @ g) / float(np.linalg.norm(X[0]))
            worst = min(worst, rate / (0.5 * data.mu**1.5 * data.X_min) - 1.0)
        return worst

    return Statement(
        "on a boundary the neuron turns to the right side, by the rate of the proof",
        on_a_boundary(),
        slack,
        {"(A1)": separated},
        tolerance=ROUNDING,
        fixed=("y", "signs"),
    )


def wrong_changes(found: Alignment, y: NDArray, sign: float) -> int:
    """Events that lose an active datum of the neuron's own label or gain one of the other."""
    kinds = {True: "activate", False: "deactivate"}
    return sum(event.kind != kinds[y[event.datum] == sign] for event in found.events)


def changes_one_way() -> Statement:
    """ea.eq7-8.2: as eps -> 0 no neuron loses a datum of its own label or gains another one, and
    each makes at most n changes; the slack counts what is wrong."""

    def slack(item: Mapping[str, Any]) -> float:
        found, y = path(item), item["y"]
        over = max(len(found.events) - len(y), 0)
        return -float(wrong_changes(found, y, float(item["sign"])) + over)

    return Statement(
        "own data are only gained, others only lost, n changes at most",
        everywhere(),
        slack,
        {"(A1)": separated},
        fixed=("y", "sign", "log_angle"),
    )


def pattern_durations(zeta: Zeta, says: str) -> Statement:
    """ea.pattern-time: no pattern but that of the own cone lasts longer than 4/(m_2 sqrt(mu) X_min
    n_a), m_2 = min(zeta, xi); the slack is relative."""

    def slack(item: Mapping[str, Any]) -> float:
        found, data = path(item), data_constants(item["X"], item["y"])
        m_2 = min(zeta(data, started(item)), data.xi)
        active = found.patterns.sum(axis=1)[:-1]
        allowed = 4.0 / (m_2 * np.sqrt(data.mu) * data.X_min * active)
        return float(np.min(1.0 - found.durations / allowed, initial=1.0))

    return Statement(
        says, everywhere(), slack, {"(A1)": separated}, fixed=("y", "sign", "log_angle")
    )


def needed_durations() -> Statement:
    """With min(zeta_1, zeta_2)."""
    return pattern_durations(needed_zeta, "a pattern ends in time, ζ = min(ζ_1, ζ_2)")


def never_nearer() -> Statement:
    """A neuron of V_+ never comes nearer to x_- than it began, so that it enters no cap S_-^zeta.

    Let N be the sum of the active negative data, P that of the positive ones, x_- = N + N'. As long
    as <x_-, w> > 0, d/dt cos(w, x_-) has the sign of <x_-, w> <w, N - P> - |w|^2 <x_-, N - P>. The
    first product is at most <N, w>^2 <= |N|^2 |w|^2, for <N', w> <= 0 <= <P, w>; the second one at
    least |N|^2 |w|^2, for <N', N> >= 0 >= <x_-, P>.
    """

    def slack(item: Mapping[str, Any]) -> float:
        found, sign = path(item), float(item["sign"])
        u = -sign * centres(item["X"], item["y"])[-sign]
        grid = np.linspace(0.0, found.time, 20) if found.time > 0.0 else np.zeros(1)
        cosines = found.at(np.union1d(grid, found.times)) @ u / np.linalg.norm(u)
        return float(max(cosines[0], 0.0) - cosines.max())

    return Statement(
        "a neuron comes no nearer to the centre of the other label",
        everywhere(),
        slack,
        {"(A1)": separated},
        tolerance=ROUNDING,
        fixed=("y", "sign", "log_angle"),
    )


def departures(seen: Sequence[NDArray], own: NDArray) -> int:
    """How often a neuron leaves its own cone or S_dead.

    Parameters: `seen` the patterns (n, h) of activity in their order, true where a neuron is
    active on a datum; `own` (n, h), true where their signs agree.
    """
    home = np.array([np.all(active == own, axis=0) | ~active.any(axis=0) for active in seen])
    return int(np.sum(home[:-1] & ~home[1:]))


def logs(seed: int, count: int) -> pd.DataFrame:
    """The events of (GF) far beyond the alignment, from norms of 1e-6 to 10, both losses.

    Columns: wrong (events that lose an own datum or gain another one), changes (most of a neuron,
    over n), left (neurons that leave their own cone or S_dead), caught (neurons that end in the
    cone of the other label), full (neurons that make all n changes).
    """
    rng = np.random.default_rng(seed)

    def one(k: int) -> Mapping[str, Any]:
        n, d = int(rng.integers(2, 7)), int(rng.integers(2, 7))
        X, y = separable(n, d, float(rng.uniform(0.05, 0.8)), rng)
        signs = np.array([1.0, -1.0, 1.0, -1.0])
        W = rng.standard_normal((4, d))
        W[:2] = 0.2 * W[:2] + np.array([y[y == -s] @ X[y == -s] * -s for s in signs[:2]])
        log_eps = float(rng.uniform(-6.0, 1.0) * np.log(10.0))
        found = flow(X, y, W, signs, log_eps, 20.0, (EXPONENTIAL, LOGISTIC)[k % 2], method=DOP853)
        own = y[:, None] == signs
        wrong = sum(
            (event.kind == "activate") != bool(own[event.datum, event.neuron])
            for event in found.events
        )
        seen = [active for _, active in patterns(found)]
        changes = np.array([sum(e.neuron == j for e in found.events) for j in range(4)])
        return {
            "wrong": wrong,
            "changes": float(changes.max() / n),
            "left": departures(seen, own),
            "began": int(np.sum(np.all(seen[0] != own, axis=0))),
            "full": int(np.sum(changes == n)),
            "caught": int(np.sum(np.all(seen[-1] != own, axis=0))),
        }

    return survey(range(count), one)


def logs_are_one_way(found: pd.DataFrame) -> list[Evidence]:
    """What `logs` shows for the changes."""
    return [
        fact("flows of (GF): events that lose an own datum or gain another one",
             int(found.wrong.sum()), 0, tried=len(found)),
        fact("flows with a neuron that changes more than n times",
             int((found.changes > 1.0).sum()), 0, tried=len(found)),
        note("neurons that make all n changes, of those that start in the cone of the other label",
             (int(found.full.sum()), int(found.began.sum()))),
    ]  # fmt: skip


def cones_are_not_left(found: pd.DataFrame) -> list[Evidence]:
    """ea.thm1.trap.1: in `logs` no neuron leaves the cone of its label, and nearly all leave the
    other one: what holds them is not that cones are wide.

    On the boundary of x_i the rate of <y_i x_i, w> is s |w| <y_i x_i, g> with g in K: positive for
    V_+ whatever eps, as long as a datum is active.
    """
    return [
        fact("flows of (GF): neurons that leave the cone of their label or S_dead",
             int(found.left.sum()), 0, tried=len(found)),
        note("neurons that begin in the cone of the other label, and that end there",
             (int(found.began.sum()), int(found.caught.sum()))),
    ]  # fmt: skip
