"""Theorem 3.2 and Figure 1: a neuron that is active on no datum rests."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, statement
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.networks.indexed import Network, fully_connected
from reluflow.papers.vardi2022margin.constructions import judged
from reluflow.papers.vardi2022margin.setting import LOSSES, settled_limit

# --- Where the flow of Theorem 3.2's neurons goes, for any two data of label 1 --------------------
#
# While the first neuron is active on both data and the second on none, the second one stays, and
# the first one is a linear network of width one. It keeps both from every start if x_1.(x_1 + x_2)
# and x_2.(x_1 + x_2) are positive; if one of them is negative, it does not from w.x_1 = w.x_2 > 0
# small enough, where both slopes of the loss are nearly equal.

PRINTED = np.array([[1.0, 0.25], [-1.0, 0.25]])
"""x_1 and x_2 of Theorem 3.2."""


def pair_limit(X: NDArray) -> NDArray:
    """theta~ = (w~_1, w~_2, v~) of Theorem 3.2 for data X (2, 2) at an obtuse angle, not opposite:
    w~_1 = u / |u|^(1/2), v~_1 = |u|^(1/2) with the least u of u.x_i >= 1, and zeros."""
    u = np.linalg.solve(X, np.ones(2))
    size = float(np.linalg.norm(u)) ** 0.5
    return np.array([*(u / size), 0.0, 0.0, size, 0.0])


# --- Theorem 3.2 and Figure 1: a silent neuron rests, and the other one grows ---------------------

LABELS = np.ones(2)
CLOSE = 1e-7
"""The limit found may differ from the exact one by this, over |theta~|."""


def two_neurons() -> Network:
    """The network of Theorem 3.2: theta = (w_1, w_2, v_1, v_2)."""
    return fully_connected((2, 2))


def draw_start(X: NDArray, rng: np.random.Generator, sizes: tuple[float, float]) -> NDArray:
    """theta(0) (6,) with w_1 active on both data X (2, 2), w_2 on neither, v_1 > 0.

    The lengths |w_1|, |w_2|, v_1, |v_2| are powers of ten drawn between `sizes`, apart from each
    other; the two inputs of a neuron have ratios up to 1e9.
    """
    inputs = 10.0 ** rng.uniform(-9.0, 0.0, (2, 2)) * np.array([[1.0], [-1.0]])
    W = np.linalg.solve(X, inputs.T).T
    lengths = 10.0 ** rng.uniform(*sizes, 4)
    W *= (lengths[:2] / np.linalg.norm(W, axis=1))[:, None]
    return np.array([*W.ravel(), lengths[2], lengths[3] * rng.choice([-1.0, 1.0])])


def _start(loss: str, sizes: tuple[float, float], rng: np.random.Generator) -> Instance:
    return {"theta": draw_start(PRINTED, rng, sizes), "loss": loss}


@statement(f"the flow's limit is, to {CLOSE:g}, (0, 2), 2, 0, 0, and no local optimum",
           {f"{loss}, {name}": partial(_start, loss, sizes) for loss in LOSSES
            for name, sizes in (("lengths near 1", (-0.5, 0.5)), ("unbalanced", (-3.0, 3.0)))}
           )  # fmt: skip
def dies_on_the_way(theta: NDArray, loss: str) -> float:
    """mm.thm3.2: what CLOSE leaves of the distance of the limit to w~_1 = (0, 2), v~_1 = 2, w~_2 =
    0, v~_2 = 0, from every start of the theorem; -1 where no exact certificate proves that the
    limit is no local optimum."""
    return to_the_limit(two_neurons(), loss, PRINTED, theta, pair_limit(PRINTED))


def to_the_limit(network: Network, loss: str, X: NDArray, theta: NDArray, exact: NDArray) -> float:
    """What CLOSE leaves of the distance of the limit to the `exact` one, over its length, of the
    flow from theta (p,) on data X (n, d) of label 1; NaN where it is not found, -1 for a local
    optimum."""
    y = np.ones(len(X))
    found = settled_limit(network, str(loss), X, y, theta)
    if not found.converged:
        return np.nan
    off = float(np.linalg.norm(found.theta - exact) / np.linalg.norm(exact))
    return CLOSE - off if judged(network, found.theta, X, y).verdict == "not local" else -1.0


def between_the_data() -> list[Evidence]:
    """The inequality of Theorem 3.2's proof (C.3) at three w that it allows for w_1(0) = (1, 5)."""
    inputs = PRINTED @ np.array([[1.0, 5.0], [1.0, 0.0], [0.0, 5.0]]).T
    ordered = (inputs[0] > inputs[1]) & (inputs[1] > 0.0)
    return [fact("w of (1, 5), (1, 0), (0, 5) with ⟨w, x₁⟩ > ⟨w, x₂⟩ > 0, for w₁(0) = (1, 5)",
                 int(ordered.sum()), 3)]  # fmt: skip


def second_datum_is_not_met() -> Counterexample:
    """mm.thm3.2.margins: w = (1, 0), which C.3 allows, is not active on x_2."""
    start, w, quarter = np.array([1.0, 5.0]), np.array([1.0, 0.0]), Fraction(1, 4)
    return Counterexample(
        instance={"x₁": (1, quarter), "x₂": (-1, quarter), "w₁(0)": (1, 5), "w": (1, 0)},
        assumptions={"⟨w₁(0), x₁⟩ > 0 and ⟨w₁(0), x₂⟩ > 0": bool((PRINTED @ start > 0.0).all()),
                     "w[2] ≥ 0 and 0 ≤ w[1] ≤ w₁(0)[1]": bool(w[1] >= 0.0 <= w[0] <= start[0])},
        breaks=(bound("⟨w, x₂⟩ in floats", float(PRINTED[1] @ w), ">", 0.0, ""),),
        recheck=(bound("⟨w, x₂⟩ = -w[1] + w[2]/4 in fractions", -1 + 0 * quarter, ">", 0, ""),),
        route="x₂ by hand",
    )  # fmt: skip


def figure_path(decades: NDArray) -> tuple[NDArray, NDArray]:
    """theta(t) (k, 6) at the times when the exponential loss is 10^-decades (k,), and the start,
    for w_1 = (1/2, 3), w_2 = (3/10, -2), v = (1, 3/2)."""
    start = np.array([0.5, 3.0, 0.3, -2.0, 1.0, 1.5])
    end = settled_limit(two_neurons(), "exponential", PRINTED, LABELS, start)
    last = (end.path.legs or (end.path,))[-1]  # on the clock log log(1/L), in the polar chart
    z = last.at(np.log(np.log(10.0) * decades))
    u = z[:, :-1] / np.linalg.norm(z[:, :-1], axis=1)[:, None]
    return np.exp(z[:, -1:]) * u, start


def one_grows_one_rests() -> list[Evidence]:
    """mm.fig1: |u_1| grows, u_1/|u_1| tends to (0, 1), u_2 = v_2 w_2 is constant and u_2/|theta|
    tends to 0, along a flow to a loss of 1e-100000."""
    theta, start = figure_path(10.0 ** np.arange(6.0))
    u1, u2 = theta[:, 4, None] * theta[:, :2], theta[:, 5, None] * theta[:, 2:4]
    tilt = np.abs(np.arctan2(u1[:, 0], u1[:, 1]))
    share = np.linalg.norm(u2, axis=1) / np.linalg.norm(theta, axis=1)
    still = two_neurons().gradient(start, PRINTED, np.ones(2))[[2, 3, 5]]
    return [
        fact("the gradient of the second neuron, active on no datum", tuple(map(int, still)),
             (0, 0, 0)),
        bound("|u₁| at the last over log(1/L) / h, h = 1/4, from 1",
              abs(np.linalg.norm(u1[-1]) / (4e5 * np.log(10.0)) - 1.0), "<=", 1e-4, "", digits=2),
        bound("the largest angle from L = 1e-100 on", tilt[2:].max(), "<=", 1e-6, ""),
        bound("|u₂|/|θ| at L = 1e-100000 over that at 1e-10", share[-1] / share[1], "<=", 0.02, "",
              digits=2),
        note("|u₂|/|θ| at L = 1e-1, 1e-10, ..., 1e-100000", tuple(map(float, share)), digits=2),
    ]  # fmt: skip


def taken_over(first: NDArray, second: NDArray) -> NDArray:
    """theta (..., 6) near the limit: the first neuron lets go by `first` (...), the second takes
    over `second` >= 0 (...); the paper's points (C.3) have first = second."""
    root, none = np.sqrt(2.0 * second), np.zeros(np.shape(first))
    parts = [0.5 * first, 2.0 - 2.0 * first, -root, none, none + 2.0, root]
    return np.stack(parts, axis=-1)
