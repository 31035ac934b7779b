"""Lemma 1 and equation (15) with the size of the start fixed first: (OS) and (Span) data on which
they fail.

One neuron of each sign is home from the start. A third one, a_j > 0, starts beside the ridge of the
negative data and leaves it late, by when the positive data are fitted. On its way home it meets a
far positive datum, whose pull is integrable, and loses all others: it stays where it is for ever.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow.ledger import Evidence, Reading, bound, fact
from reluflow.papers.phuong2021inductive import waiting_exact
from reluflow.papers.phuong2021inductive.long_flow import Late, Start, follow, patterns

X, Y = np.array(waiting_exact.X, dtype=float), np.array([1.0, 1.0, 1.0, -1.0, -1.0])
SIGNS = np.array([1.0, 1.0, -1.0])
ANGLE, LARGE, SMALL = 0.1, 1e-2, 1e-12
"""The waiting neuron's angle from the ridge, and two sizes of the start."""
SIZE_LAST = (
    "for almost all directions of the start there is a size below which it holds, and this size "
    "may depend on the directions"
)
_FIRST = (
    "With the size first it is false, in the setting of Theorem 1, too: for every size up to 1 "
    "there is an open set of data and of directions, near those of the instance, from which a "
    "neuron comes to see one datum of its label and no other, and stays so for ever."
)
READING = Reading(
    SIZE_LAST,
    f"{_FIRST} For data that are not (OS), which the lemma speaks of as well, a neuron that is "
    "home may even leave: of three data in the plane, from norm 0.01, one is home only until one "
    "datum is fitted, and another one that starts within the angle 0.001 of where it is driven "
    "away from comes after that.",
)
"""How os.lem1 is read."""
EARLY = Reading(f"of the neurons: {SIZE_LAST}", _FIRST)
"""How os.lem2.neg is read."""
LINEAR = Reading(
    f"two dimensions or more, and: {SIZE_LAST}",
    f"{_FIRST} It is in none of J_0, J_+ and J_-, and adds to f on that datum. On the line a "
    "neuron that starts on the wrong side keeps its direction and only shrinks: it is active on "
    "the wrong label for ever, at any size.",
)
"""How os.eq15-16 is read."""


def start(size: float, sign: float = 1.0) -> Start:
    """Neurons of norm `size` along e_1, at ANGLE from the ridge and along it; `sign` -1 exchanges
    the labels, and the signs of a."""
    turns = np.array([0.0, 1.25 * np.pi - ANGLE, 1.25 * np.pi])
    W0 = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return Start(X, sign * Y, W0, np.full(3, np.log(size)), sign * SIGNS)


def ends(sign: float = 1.0) -> tuple[Late, Late]:
    """The flows from the norms LARGE and SMALL to a loss of e^-1e6."""
    large, small = (follow(start(size, sign)) for size in (LARGE, SMALL))
    assert large is not None
    assert small is not None
    return large, small


def home(late: Late) -> NDArray:
    """At the start and behind every event of a flow, whether each neuron is dead, or active on
    all data of its label and on no others, (m, p)."""
    own = late.given.y[:, None] == late.given.signs
    return np.array([np.all(active == own, axis=0) | ~active.any(axis=0)
                     for _, active in patterns(late)])  # fmt: skip


def meeting(size: float) -> tuple[float, NDArray]:
    """Where the waiting neuron meets x_3, by a plain integration of (w, a): the mean output of the
    first neuron on x_1 and x_2, and on which data the waiting one is active, (5,)."""

    def velocity(clock: float, z: NDArray) -> NDArray:
        W, a = z[:6].reshape(3, 2), z[6:]
        before = X @ W.T
        pull = Y / (1.0 + np.exp(Y * (np.maximum(before, 0.0) @ a)))
        dW = a[:, None] * (((before > 0.0) * pull[:, None]).T @ X)
        return np.exp(clock) * np.append(dW.ravel(), np.maximum(before, 0.0).T @ pull)

    def meets(_: float, z: NDArray) -> float:
        return float(X[2] @ z[2:4])

    meets.terminal, meets.direction = True, 1.0  # type: ignore[attr-defined]
    given = start(size)
    z = np.append(size * given.W0.ravel(), size * SIGNS)
    end = solve_ivp(velocity, (-10.0, 20.0), z, "LSODA", events=meets, rtol=1e-9, atol=1e-15).y[
        :, -1
    ]
    before = X @ end[:6].reshape(3, 2).T
    return float(end[6] * before[:2, 0].mean()), before[:, 1] > 1e-9 * size


def size_comes_last(found: Sequence[Late]) -> list[Evidence]:
    """That the size of the start has to be chosen after its directions, on data that are (OS) and
    (Span): the flows of `ends`, and a plain integration with the page's inequality."""
    large, small = found
    told, active = meeting(LARGE)
    where = f"(OS) and (Span), three neurons, one at the angle {ANGLE:g} from the ridge"
    return [
        fact(f"{where}: from norm {SMALL:g} all are home at one time",
             bool(home(small).all(axis=1).any()), True),
        fact(f"{where}: from norm {LARGE:g} this one is home at some time, to L = e^(-1e6)",
             bool(home(large)[:, 1].any()), False),
        fact("a plain integration: the data on which it is active when it meets the far positive "
             "datum x₃", tuple(np.flatnonzero(active) + 1), (4,)),
        bound("there: mean output of the first neuron on x₁ and x₂", told, ">=",
              waiting_exact.LEAST, "", digits=2),
        fact("from such a place it comes to see neither x₁ nor x₂, by the inequality of the proof "
             "in fractions", waiting_exact.stays(waiting_exact.LEAST), True),
    ]  # fmt: skip
