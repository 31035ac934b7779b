"""The page `certificates`: Section 2, Theorems 2.1 and 3.1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from reluflow.errors import InputError
from reluflow.falsify import PLANTED, Instance, Statement, given, planted
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.margin.kkt import kkt, scaled
from reluflow.margin.limits import CONVERGED, UNDECIDED, Limit, limit
from reluflow.margin.max_margin import MaxMargin, max_margin
from reluflow.networks.indexed import Network, fully_connected
from reluflow.papers.vardi2022margin import setting
from reluflow.papers.vardi2022margin.checker import check
from reluflow.papers.vardi2022margin.constructions import replayed, values
from reluflow.papers.vardi2022margin.setting import Construction, global_optimum

# --- Flows from a loss below that of one datum with output 0 --------------------------------------

LOG_2 = float(np.log(2.0))
THRESHOLD = {EXPONENTIAL.name: 1.0, LOGISTIC.name: LOG_2}
"""A loss below this means that every datum is classified correctly."""
FITTED_FLOWS_REACH = 1e4
"""log10(1/L) to which flows are followed."""
Flows = list[tuple[str, Instance]]
"""Kinds, and {"network", "loss", "X" (n, d), "y" (n,), "theta" (p,)} with the "end", a `Limit`."""


def fitted_flows(seed: int, count: int) -> Flows:
    """`count` flows: fully connected, sparse and shared networks, linear and ReLU, depth 2 to 4, in
    turn with both losses.

    The labels are those of the start, whose size is such that L is 1 - 1e-6, 0.5 or 1e-3 of the
    threshold. Every third start is unbalanced by a factor of up to 30 between layers.
    """
    rng, found = np.random.default_rng(seed), list[tuple[str, Instance]]()
    kinds = {"fully connected": setting.full, "sparse": setting.unshared,
             "shared": setting.network_draws_shared}  # fmt: skip
    while (k := len(found)) < count:
        kind, activation = list(kinds)[k % 3], ("linear", "relu")[k // 3 % 2]
        loss = (EXPONENTIAL, LOGISTIC)[k // 6 % 2]
        drawn = setting.class_n_draws([kinds[kind]])[f"normal, {activation}"](rng)
        network, X, theta = drawn["network"], drawn["X"], drawn["theta"]
        if k % 3 == 0:
            theta *= np.repeat(10.0 ** rng.uniform(-0.75, 0.75, network.degree), network.sizes)
        z = network.output(theta, X)
        if not np.all(np.abs(z) > 1e-2 * np.abs(z).max(initial=0.0)) or not z.any():
            continue
        goal = np.log(THRESHOLD[loss.name] * rng.choice([1.0 - 1e-6, 0.5, 1e-3]))
        low, high = -40.0 - np.log(np.abs(z).min()), 10.0 - np.log(np.abs(z).min())
        stretch = brentq(_above, low, high, args=(loss, np.abs(z), goal))
        item = {"network": network, "loss": loss, "X": X, "y": np.sign(z),
                "theta": theta * np.exp(float(stretch) / network.degree)}  # fmt: skip
        item["end"] = limit(**_flow(item), reach=FITTED_FLOWS_REACH)
        found.append((f"{kind}, {activation}", item))
    return found


def _flow(item: Instance) -> dict[str, Any]:
    return {name: item[name] for name in ("network", "loss", "X", "y")} | {"start": item["theta"]}


def _slid(item: Instance) -> bool:
    """Whether the flow ended where the field pushes back to a kink from both sides."""
    return item["end"].status in ("sliding", "non-unique")


def _far(item: Instance) -> bool:
    """Whether the flow came to L = 1e-10000."""
    return bool(item["end"].reached >= 0.99 * FITTED_FLOWS_REACH)


def _above(stretch: float, loss: Loss, q: NDArray, goal: float) -> float:
    """By how much log L is above the goal where the margins are q (n,) times e^stretch."""
    return float(loss.log_value(np.exp(stretch) * q, np.ones(len(q)))) - goal


# --- Second route: A logistic loss below 1 and a flow, without an integrator ----------------------
#
# Phi = v relu(<w, x>) from w = (3/2, NEAR), v = 1 for x_1 = (1, -4), x_2 = (0, 1), labels 1: with
# h_i = <w, x_i> and s_i = 1 / (1 + e^(v h_i)), while both data are active,
#
#     h_1' = v (17 s_1 - 4 s_2),    h_2' = v (s_2 - 4 s_1),    v' = s_1 h_1 + s_2 h_2.

HALF = Fraction(1, 2)
"""|w(0)| and v(0)."""
NEAR = Fraction(1, 1000)
"""<w(0), x_2>."""


def second_is_lost() -> bool:
    """Whether h_2 comes down to 0 and below, for every sigma'(0) in [0, 1], by enclosures.

    In the box |h_1 - h_1(0)|, |v - 1| <= 1/10, 0 <= h_2 <= NEAR the speed of h_2 is at most some
    -c < 0, and the flow cannot leave it by h_1 or v within the time NEAR / c. At h_2 = 0 the
    datum pulls with a part of s_2 only. Below, h_1' = 17 v s_1, v' = s_1 h_1 and h_2' = -4 v s_1.
    """
    h_1, v = ball(Fraction(3, 2) - 4 * NEAR, Fraction(1, 10)), ball(Fraction(1), Fraction(1, 10))
    h_2 = ball(NEAR / 2, NEAR / 2)
    s_1, s_2 = (1 / (1 + (v * h).exp()) for h in (h_1, h_2))
    slowest = (v * (4 * s_1 - s_2)).lower()
    if not slowest > 0:
        return False
    moved = [abs(rate).upper() * ball(NEAR) / slowest
             for rate in (v * (17 * s_1 - 4 * s_2), s_1 * h_1 + s_2 * h_2)]  # fmt: skip
    return all(bool(each < ball(Fraction(1, 10))) for each in moved)


def ball(centre: Fraction, radius: Fraction = Fraction(0)) -> arb:
    """An enclosure of the numbers within `radius` of `centre`."""
    low, high = (arb(fmpq(q.numerator, q.denominator)) for q in (centre - radius, centre + radius))
    return low.union(high)


# --- Theorem 2.1: L goes to 0, and theta in direction to a KKT point of Problem (2) ---------------
#
# It asks for L < 1, "namely" that every datum is classified correctly, which does not follow for
# the logistic loss. A start that meets both may lose a datum for ever: `loses_a_datum`.

CONVERGENCE_RESIDUAL = 1e-8
"""Largest KKT residual of a limit, over |theta|."""


def classifies(loss: Loss, threshold: float) -> Statement:
    """mm.thm2.1.fit: the least margin where L < `threshold`; any q (n,) is some network's."""

    def scaled(scale: float, rng: np.random.Generator) -> dict[str, NDArray]:
        q = rng.standard_normal(int(rng.integers(1, 6))) * scale
        return {"q": q + (-q.min() * rng.choice([0.5, 0.9, 1.0, 1.5]))}

    def one_short(rng: np.random.Generator) -> dict[str, NDArray]:
        return {"q": np.append(rng.uniform(-0.6, 0.1), rng.uniform(5.0, 40.0, 3))}

    return Statement(
        f"{loss.name} loss, L < {'log 2' if threshold == LOG_2 else f'{threshold:g}'}: "
        "all data are classified correctly",
        {"margins of size 1": partial(scaled, 1.0), "large": partial(scaled, 100.0),
         "small": partial(scaled, 1e-3), "one is short": one_short},
        lambda item: float(item["q"].min()),
        {f"L < {threshold:.3g}": lambda item: bool(
            loss.log_value(item["q"], np.ones(len(item["q"]))) < np.log(threshold))},
        strict=True,
    )  # fmt: skip


def misclassified() -> Counterexample:
    """A start with a wrong datum breaks "L < 1, namely all are classified correctly"."""
    below = bool((1 + arb(fmpq(1, 4)).exp()).log() < 1)
    q = fully_connected([1, 1], "linear").output([-0.5, 0.5], np.ones((1, 1)))
    return Counterexample(
        instance={"network": "v w x, linear, depth 2, one neuron", "loss": "logistic", "x": 1,
                  "y": 1, "w(0)": -HALF, "v(0)": HALF},
        assumptions={"logistic loss, L < 1": bool(np.exp(LOGISTIC.log_value(q, np.ones(1))) < 1.0)},
        breaks=(bound("y Φ of the network in floats", float(q[0]), ">", 0.0, ""),),
        recheck=(fact("L < 1 and y Φ > 0, by enclosures", below and -HALF * HALF > 0, True),),
        route="w v x as fractions, and log(1 + e^(1/4)) < 1 in ball arithmetic",
    )  # fmt: skip


BOTH_RIGHT = (np.array([[1.0, -4.0], [0.0, 1.0]]), np.ones(2), np.array([1.5, float(NEAR), 1.0]))
"""Two data, their labels, and w(0), v(0) of one ReLU neuron."""


def loses_a_datum() -> Counterexample:
    """mm.thm2.1.1, mm.thm2.1.2: a ReLU neuron that is right on two data, at L(0) = 0.895. The
    first pulls it off the second, which is inactive from then on and costs log 2 for ever."""
    X, y, start = BOTH_RIGHT
    found = _right_once()
    margins = _margins(found)
    losses = ((1 + (-ball(q)).exp()).log() for q in (Fraction(3, 2) - 4 * NEAR, NEAR))
    return Counterexample(
        instance={"network": "v σ(⟨w, x⟩), one ReLU neuron", "loss": "logistic", "x_1": (1, -4),
                  "x_2": (0, 1), "y_1, y_2": (1, 1), "w(0)": (Fraction(3, 2), NEAR), "v(0)": 1},
        assumptions={
            "homogeneous ReLU network, logistic loss, gradient flow": "the instance is one",
            "L(θ(0)) < 1": bool(sum(losses, arb(0)) < 1),
            "both data are classified correctly at the start":
                bool(np.all(y * fully_connected([2, 1]).output(start, X) > 0.0)),
        },
        breaks=(
            bound("L where the flow's clock stops", float(np.exp(found.path.field.log_loss(
                found.path.end))), "<", 0.5, "", digits=2),
            bound("y₂ Φ(x₂) at the direction where the integrated flow ends", margins[1], ">", 0.0,
                  ""),
        ),
        recheck=(
            fact("x₂ is active for ever", not second_is_lost(), True),
        ),
        route="enclosures: near the start ⟨w, x₂⟩ falls, whatever σ'(0), faster than v and "
        "⟨w, x₁⟩ leave their surroundings; without x₂ each step of w is a multiple of x₁, and "
        "⟨x₁, x₂⟩ = -4",
    )  # fmt: skip


@cache
def _right_once() -> Limit:
    return limit(fully_connected([2, 1]), LOGISTIC, *BOTH_RIGHT)


def _margins(found: Limit) -> list[float]:
    X, y, _ = BOTH_RIGHT
    return [float(m) for m in y * fully_connected([2, 1]).output(found.path.end[:-1], X)]


def loss_vanishes(found: Flows) -> list[Evidence]:
    """The flows of `fitted_flows` come to L = 1e-10000; that of `BOTH_RIGHT` does not."""
    followed = [item for _, item in found if not _slid(item)]
    return [
        fact("flows from starts that classify all data correctly whose loss is not taken to "
             "1e-10000", sum(not _far(item) for item in followed), 0, tried=len(followed)),
        fact("logistic loss, L(0) = 0.895, a ReLU neuron that is right on both data at the start: "
             "the loss goes to 0", _right_once().reached > 100.0, True),
        note("flows that slide along a kink and were not followed", len(found) - len(followed)),
    ]  # fmt: skip


def directions_are_kkt(found: Flows) -> list[Evidence]:
    """The flows of `fitted_flows` have limits that are KKT points; `BOTH_RIGHT`'s has none."""
    decided = [(kind, item["end"].residual) for kind, item in found if item["end"].converged]
    worst = max((residual for _, residual in decided), default=np.nan)
    followed = sum(not _slid(item) for _, item in found)
    return [
        bound("largest KKT residual of a limit, over |θ|", worst, "<=", CONVERGENCE_RESIDUAL, ""),
        fact("logistic loss, L(0) = 0.895, a ReLU neuron that is right on both data at the start: "
             "the direction where it ends is feasible, up to its length",
             min(_margins(_right_once())) > 0.0, True),
        note("limits, of flows followed", (len(decided), followed)),
        note("kinds of networks", tuple(sorted({kind for kind, _ in decided}))),
    ]  # fmt: skip


def repaired(found: Flows) -> Statement:
    """mm.ours.fit: what CONVERGENCE_RESIDUAL leaves of the residual of the limits of
    `fitted_flows`; -1 for a flow that does not come to L = 1e-10000."""

    def slack(item: Instance) -> float:
        if _slid(item):
            return np.nan
        if not _far(item):
            return -1.0
        left = CONVERGENCE_RESIDUAL - item["end"].residual - (planted(item) - 1.0)
        return float(left) if item["end"].converged else np.nan

    return Statement(
        "the loss goes to 0, and the direction to that of a KKT point",
        replayed(found),
        slack,
        given("mm.ours.fit", network=lambda item: item["network"].degree >= 2,
              flow=lambda item: item["loss"].name in THRESHOLD,
              start=lambda item: _log_loss(item, 1.0) < np.log(THRESHOLD[item["loss"].name])),
        witness={**found[0][1], PLANTED: 2.0} if found else None,
    )  # fmt: skip


# --- Theorem 3.1: fully connected linear networks tend to W^(l) = C a_l a_(l-1)' ------------------
#
# a_0 is the direction of the max-margin vector u, C^m = |u|. Every feasible KKT point has this
# form, so that a limit that was polished to one proves nothing of the flow: that is measured too.

FULLY_CONNECTED_REACH = (1e3, 1e5)
"""Values of log10(1/L) at which the flow is compared with its limit."""
_ROUNDING = 1e-9
"""Relative errors of |theta|^2."""


def aligned_limit(u: ArrayLike, hidden: Sequence[ArrayLike]) -> list[NDArray]:
    """The m matrices W^(l) = C a_l a_(l-1)', whose product is u (d,), of the unit vectors a_1, ...,
    a_(m-1) of the hidden layers."""
    u = np.asarray(u, float)
    length = float(np.linalg.norm(u))
    a = [u / length, *(np.asarray(v, float) for v in hidden), np.ones(1)]
    C = length ** (1.0 / (len(a) - 1))
    return [C * np.outer(after, before) for before, after in pairwise(a)]


class Structure(NamedTuple):
    """How far parameters, scaled to the least margin 1, are from the limit of Theorem 3.1.

    excess   |theta|^2 / (m C^2) - 1, never below 0
    away     |theta - theta'| / |theta|, theta' the aligned limit with a_l the direction of W^(l)
             a_(l-1): 0 only for layers of rank one and of the norm C, the first along a_0
    """

    excess: float
    away: float


def structure(
    network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike, best: MaxMargin
) -> Structure:
    """The `Structure` of theta (p,) on data X (n, d), y (n,) with max-margin vector `best`. Raises
    InputError unless theta classifies every datum correctly."""
    point, m = scaled(network, theta, X, y), network.degree
    a, hidden = best.direction, []
    for w in network.weights(point)[:-1]:
        a = w @ a
        a = a / (np.linalg.norm(a) or 1.0)
        hidden.append(a)
    apart = point - network.parameters(aligned_limit(best.u, hidden))
    square = float(point @ point)
    return Structure(square / (m * best.length ** (2.0 / m)) - 1.0,
                     float(np.sqrt(apart @ apart / square)))  # fmt: skip


def _tilted(rng: np.random.Generator, W: list[NDArray]) -> list[NDArray]:
    """Layers of sizes from 1e-3 to 1e3, of unchanged product; nearer to another in deep networks,
    which forget their start more slowly."""
    logs = rng.uniform(-3.0, 3.0, len(W)) / (len(W) - 1)
    return [w * 10.0**s for w, s in zip(W, logs - logs.mean(), strict=True)]


def _with_dead_units(rng: np.random.Generator, W: list[NDArray]) -> list[NDArray]:
    first, second = W[0].copy(), W[1].copy()
    if len(first) > 1:
        first[-1], second[:, -1] = 0.0, 0.0
    return [first, second, *W[2:]]


Change = Callable[[np.random.Generator, list[NDArray]], list[NDArray]]
STARTS: dict[str, Change] = {
    "normal": lambda rng, W: W,
    "unbalanced": _tilted,
    "rank one": lambda rng, W: [np.outer(rng.standard_normal(len(W[0])), W[0][0]), *W[1:]],
    "dead unit": _with_dead_units,
}


def connected_flows(seed: int, count: int) -> Flows:
    """`count` flows: depths 2 to 4, both losses and the kinds of STARTS in turn; 1 to 5 data
    in 1 to 3 dimensions.

    The labels are those of the start, or in two of five cases those of another vector: then the
    start is wrong about some data, and right about others. The data are normal, each of a length
    from 1e-1 to 1e1; a fifth is scaled by 1e3 or 1e-3, a fifth holds multiples of one datum, and
    half have the label 1 only. Starts that are right are scaled until L < 1/2, the others, of
    outputs of at most 3, or of 3e-3 so that L is nearly n l(0), until L < n l(0).
    """
    rng, found = np.random.default_rng(seed), list[tuple[str, Instance]]()
    while (k := len(found)) < count:
        kind, wrong = list(STARTS)[k % 4], k % 5 >= 3
        m, loss = 2 + k % 3, (EXPONENTIAL, LOGISTIC)[k // 2 % 2]
        widths = [int(rng.integers(1, 4)), *rng.integers(1, 5, m - 1).tolist()]
        network = fully_connected(widths, "linear")
        X = rng.standard_normal((int(rng.integers(1, 6)), widths[0]))
        X *= 10.0 ** rng.uniform(-1.0, 1.0, (len(X), 1))
        if k % 5 == 1:
            X = X[:1] * rng.choice([-2.0, 1.0, 3.0], (len(X), 1))
        if k % 5 == 2:
            X *= rng.choice([1e-3, 1e3])
        W = STARTS[kind](rng, network.weights(rng.standard_normal(network.size)))
        z = network.output(network.parameters(W), X)
        y = np.sign(X @ rng.standard_normal(widths[0]) if wrong else z)
        q = y * z
        if not q.all() or (wrong and q.min() * q.max() > 0.0):
            continue
        if k % 2:
            X, y = y[:, None] * X, np.ones(len(X))
        if wrong and q.sum() < 0.0:
            W[0] = -W[0]  # so that L is below n l(0) where the outputs are small enough
        most = 3.0 if k % 2 else 3e-3
        scale = most / np.abs(q).max() if wrong else (1.0 + np.log(2.0 * len(X))) / q.min()
        item = {"network": network, "loss": loss, "X": X, "y": y,
                "theta": network.parameters(W) * scale ** (1.0 / m)}  # fmt: skip
        while _log_loss(item, 1.0) >= _log_loss(item, 0.0):
            item["theta"] = item["theta"] * 0.5 ** (1.0 / m)
        item["end"] = limit(**_flow(item), reach=FULLY_CONNECTED_REACH[-1])
        found.append((kind, item))
    return found


def structures(found: Flows) -> pd.DataFrame:
    """The flows, a row each: `kind`, `depth`, the `status` of the limit, and where the loss goes to
    0 the fields of `Structure` at each of REACH, `excess 1000.0`, and of the limit that was found,
    `excess limit`."""
    rows = []
    for kind, item in found:
        end: Limit = item["end"]
        row: dict[str, Any] = {"kind": kind, "depth": item["network"].degree, "status": end.status}
        if end.status in (CONVERGED, UNDECIDED):
            best = max_margin(item["X"], item["y"])
            points = [*end.directions(FULLY_CONNECTED_REACH), end.theta]
            for at, theta in zip((*map(str, FULLY_CONNECTED_REACH), "limit"), points, strict=True):
                seen = structure(item["network"], theta, item["X"], item["y"], best)
                row |= {f"{name} {at}": value for name, value in seen._asdict().items()}
        rows.append(row)
    return pd.DataFrame(rows)


def _ended(found: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, list[Evidence]]:
    """The flows whose loss goes to 0; those of them with a confirmed limit; notes on both."""
    ended = found[found.status.isin([CONVERGED, UNDECIDED])]
    sure = ended[ended.status == CONVERGED]
    if not len(sure):
        raise InputError("no flow came to a limit.")
    return ended, sure, [
        note("flows, those of them whose loss goes to 0, and whose limit is confirmed",
             (len(found), len(ended), len(sure))),
        note("depths 2, 3 and 4", tuple(int((ended.depth == m).sum()) for m in (2, 3, 4))),
    ]  # fmt: skip


def _fall(some: pd.DataFrame, name: str) -> tuple[float, float]:
    """The largest value at REACH's last, and by what values above 1e-6 fall from its first."""
    early, late = (some[f"{name} {at}"].to_numpy() for at in FULLY_CONNECTED_REACH)
    slow = early > 1e-6
    factors = early[slow] / np.maximum(late[slow], 1e-16)
    return float(late.max(initial=0.0)), float(factors.min(initial=1e10))


def global_in_the_limit(found: pd.DataFrame) -> list[Evidence]:
    """mm.thm3.1: |theta|^2, scaled to the least margin 1, tends to its least value m C^2."""
    ended, sure, notes = _ended(found)
    unbalanced = ended.kind == "unbalanced"
    points = ended[[f"excess {at}" for at in FULLY_CONNECTED_REACH]].to_numpy()
    return [
        fact("points of flows that are shorter than m C^2", int((points < -_ROUNDING).sum()), 0,
             tried=points.size),
        fact("confirmed limits whose |theta|^2 is not m C^2",
             int((np.abs(sure["excess limit"]) > 1e-6).sum()), 0, tried=len(sure)),
        bound("largest |theta|^2 / (m C^2) - 1 of a flow at L = 1e-100000, unbalanced starts apart",
              _fall(ended[~unbalanced], "excess")[0], "<=", 0.1, "", digits=2),
        bound("least factor by which it falls from L = 1e-1000 on, where above 1e-6, for all "
              "starts", _fall(ended, "excess")[1], ">=", 2.0, "", digits=2),
        note("the largest with unbalanced starts", _fall(ended[unbalanced], "excess")[0], "",
             digits=1),
        *notes,
    ]  # fmt: skip


def aligned_in_the_limit(found: pd.DataFrame) -> list[Evidence]:
    """mm.thm3.1.structure: the layers tend to rank one, to equal norms and to u's direction."""
    ended, sure, notes = _ended(found)
    last, factor = _fall(ended[ended.kind != "unbalanced"], "away")
    says = "another form than C a_l a_(l-1)'"
    return [
        fact(f"confirmed limits with {says}", int((sure["away limit"] > 1e-6).sum()), 0,
             tried=len(sure)),
        bound(f"{says}: least factor by which the measure falls along a flow from L = 1e-1000 "
              "to 1e-100000, where above 1e-6, unbalanced starts apart", factor, ">=", 1.5, "",
              digits=2),
        note(f"{says}: the largest at L = 1e-100000", last, "", digits=1),
        *notes,
    ]  # fmt: skip


GLOSS = Reading(
    "(Fit) is read with what Theorem 2.1 adds to it, that Φ classifies every datum correctly when "
    "L < 1",
    "by L < 1 alone it is false for the logistic loss: Φ = v w x, x = y = 1, w(0) = -1/2 and "
    "v(0) = 1/2 have L(0) = 0.826, and θ(t) → 0. For separable data L < n ℓ(0) is enough",
)


def _is_full(network: Network) -> bool:
    full = fully_connected([g.shape[1] for g in network.maps], "linear").maps
    same = all(map(np.array_equal, network.maps, full))
    return network.activation == "linear" and network.degree >= 2 and same


def _are_separable(item: Instance) -> bool:
    try:
        max_margin(item["X"], item["y"])
    except InputError:
        return False
    return True


def _log_loss(item: Instance, factor: float) -> float:
    z = item["network"].output(item["theta"], item["X"])
    return float(item["loss"].log_value(factor * z, item["y"]))


def reaches_the_optimum(found: Flows) -> Statement:
    """mm.ours.linear: what 1e-6 leaves of |theta|^2 / (m C^2) - 1 in the limits of the flows of
    `connected_flows`, from L < n l(0) on separable data; -1 where the loss stops."""

    def slack(item: Instance) -> float:
        end: Limit = item.get("end") or limit(**_flow(item), reach=FULLY_CONNECTED_REACH[0])
        if end.status not in (CONVERGED, UNDECIDED):
            return -1.0
        best, m = max_margin(item["X"], item["y"]), item["network"].degree
        excess = float(end.theta @ end.theta) / (m * best.length ** (2.0 / m)) - 1.0
        return 1e-6 - abs(excess) if end.converged else np.nan

    return Statement(
        "the flow comes to zero loss and to the direction of a global optimum",
        replayed([("flows", item) for _, item in found]),
        slack,
        given("mm.ours.linear", network=lambda item: _is_full(item["network"]), data=_are_separable,
              flow=lambda item: item["loss"] in (EXPONENTIAL, LOGISTIC),
              start=lambda item: _log_loss(item, 1.0) < _log_loss(item, 0.0)),
        witness={"network": fully_connected([1, 1], "linear"), "loss": LOGISTIC,
                 "X": np.ones((1, 1)), "y": np.ones(1), "theta": np.array([-0.5, 0.5])},
    )  # fmt: skip


def no_more_is_enough() -> list[Evidence]:
    """mm.ours.linear, its constant: from theta = r (-1, 1, ..., 1), widths 1 and data x_i = y_i =
    1, the velocity is -c n r^(m-2) theta."""
    tried = [(n, m) for n in (1, 2, 5) for m in (2, 3, 4, 5)]
    back = 0
    for n, m in tried:
        theta = np.array([-1.0, *np.ones(m - 1)])
        rates = fully_connected([1] * m, "linear").gradient(theta, np.ones((n, 1)), np.ones(n))
        back += np.array_equal(rates, -n * theta)
    return [fact("networks of width 1, for n = 1, 2, 5 data x = y = 1 and m = 2, ..., 5, that "
                 "r (-1, 1, ..., 1) moves straight to 0", int(back), len(tried))]  # fmt: skip


# --- Local optima of Problem (2) are KKT points (Section 2), with Clarke's subdifferential --------

NECESSITY_RESIDUAL = 1e-4
"""An optimum whose value is known to 1e-8 is known to the root of that, and so is its residual."""
NEAR_KINK = 1e-5
"""An input of a neuron that is so small, as a cosine, is 0 in the optimum itself."""


def optima_are_kkt_points() -> Statement:
    """mm.kkt.necessary: NECESSITY_RESIDUAL less the KKT residual of a global optimum of Problem
    (2), depth 2 without shared weights, found by enumeration of activation patterns and proved by
    its certificate; NaN where the enumeration was cut off."""

    def slack(item: Instance) -> float:
        network, X, y = item["network"], item["X"], item["y"]
        try:
            best = global_optimum(network, X, y)
        except (InputError, ArithmeticError):
            return np.nan
        assert best.certificate
        if check(network, best.theta, X, y, best.certificate).verdict != "global":
            return np.nan
        theta = on_kinks(network, best.theta, X)
        value, other = values(network, np.array([best.theta, theta]), X, y)
        if not abs(other - value) <= 1e-8 * value:
            return np.nan  # the kinks of data so nearly parallel are not told by the digits
        theta[: network.sizes[0]] *= planted(item)
        return NECESSITY_RESIDUAL - kkt(network, theta, X, y).residual

    kinds = {f"linear, {kind}": each for kind, each in setting.sparse_linear().items()}
    for number, (kind, each) in enumerate(setting.sparse_relu().items()):
        kinds[f"ReLU, {kind}"] = each
        kinds[f"ReLU, alternating labels, {number}"] = alternating
    return Statement(f"a global optimum of Problem (2) is a KKT point, to {NECESSITY_RESIDUAL:g}",
                     kinds, slack)  # fmt: skip


def alternating(rng: np.random.Generator) -> dict[str, Any]:
    """Data in a half plane whose labels alternate with the angle, as many neurons as data: what
    serves one datum must be silent on its neighbours, so that many an optimum has inputs 0."""
    n = int(rng.integers(2, 4))
    angles = np.sort(rng.uniform(0.0, np.pi, n))
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.5, 2.0, (n, 1))
    y = np.where(np.arange(n) % 2, -1.0, 1.0)
    return {"network": fully_connected([2, n], "relu"), "X": X, "y": y}


def on_kinks(network: Network, theta: NDArray, X: NDArray) -> NDArray:
    """theta (p,) of a network of depth 2 with inputs that are nearly 0 made so, by the nearest
    weights, and neurons that are nearly 0 made 0."""
    W, v = network.weights(theta)
    W, v = W.copy(), v.copy()
    size = np.linalg.norm(theta)
    small = np.linalg.norm(W, axis=1) <= NEAR_KINK * size
    W[small], v[:, small] = 0.0, 0.0
    for h in network.cosines(theta, X):
        for j in np.flatnonzero(~small):
            there = network.maps[0][j] > 0
            rows = X[np.abs(h[:, j]) <= NEAR_KINK][:, there]
            rows = rows[rows.any(axis=1)]
            if len(rows):
                W[j, there] -= np.linalg.pinv(rows) @ (rows @ W[j, there])
    return network.parameters([W, v])


# --- Section 2: the value of sigma'(0) in [0, 1] has no effect on the results ---------------------
#
# The flows compared here have one constant for all units and times; that the start of 4.2 (2) has
# others tells `turns_away`.

VALUES = (0.0, 0.5, 1.0)
"""Values of sigma'(0)."""
SAME = 1e-9
"""Limits nearer than this, over |theta|, are one."""

PROVED_THERE = Reading(
    "'our results' are what the paper states and proves in Sections 3 to 5 and Appendix C",
    "of Theorem 2.1, which it quotes and uses throughout, it is false: with weights shared and "
    "σ'(0) = 0 a flow of the exponential loss converges to the direction of no KKT point",
)


def printed() -> tuple[Construction, ...]:
    """The printed ReLU instances."""
    deep = (setting.theorem_5_1(m, "relu") for m in (3, 4))
    shallow = setting.theorem_3_2(), setting.theorem_4_1("relu"), setting.theorem_4_2()
    return *shallow, setting.theorem_4_4("relu"), *deep, setting.lemma_C_6()


def no_effect() -> list[Evidence]:
    """mm.sigma0: every printed ReLU instance with sigma'(0) in {0, 1/2, 1}: the limit, and the
    velocity at the start and in the limit. Both losses are followed from starts at a kink, the
    exponential one from the others, which never meet one."""
    moved, wrong, unsettled, starts, runs = 0, 0, 0, 0, 0
    given = printed()
    for c in given:
        on = [np.abs(h) <= 0.0 for h in c.network.preactivations(c.start, c.X)]
        kink = any(h.any() for h in on)
        starts += kink
        for point in (c.start, c.limit):
            rates = [_velocity(c, point, value) for value in VALUES]
            moved += any(not np.array_equal(rate, rates[0]) for rate in rates)
        for loss in (EXPONENTIAL, LOGISTIC) if kink else (EXPONENTIAL,):
            ends = [limit(c.network, loss, c.X, c.y, c.start, 1e3, value) for value in VALUES]
            unsettled += sum(not end.converged for end in ends)
            gaps = np.linalg.norm([end.theta - c.limit for end in ends], axis=1)
            wrong += int((~(gaps <= SAME * np.linalg.norm(c.limit))).sum())
            runs += len(ends)
    return [
        fact("printed instances whose velocity at the start or in the limit depends on σ'(0)",
             moved, 0, tried=len(given)),
        fact("flows with σ'(0) in {0, 1/2, 1} whose limit is not confirmed", unsettled, 0,
             tried=runs),
        fact("flows whose limit is not the printed one", wrong, 0, tried=runs),
        note("instances that start with a unit at 0", starts),
    ]  # fmt: skip


def _velocity(c: Construction, theta: NDArray, value: float) -> NDArray:
    """d theta/dt (p,) with equal pulls of all data, sigma'(0) = value."""
    active = setting.slopes(c.network, theta, c.X, value)
    return c.network.gradient(theta, c.X, c.y, active)


# --- A constant sigma'(0), as Section 2 allows, that leads gradient flow to no KKT point ----------
#
# One filter w in R^2 looks at four patches, and two output weights a, b serve two patches each.
# Where w = (0, beta), a = alpha, b = -alpha, the first two patches of A have input 0, and there Phi
# has the slope alpha in w_1, which the flow with sigma'(0) = 0 takes to be 0.

PATCHES = 4
NETWORK = Network(
    (np.kron(np.eye(PATCHES, dtype=int), np.array([[1, 2]])), np.array([[1, 2, 1, 2]]))
)
X = np.array([[1.0, 0, -1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]])
Y = np.array([1.0, -1.0])
SLOPE_START = np.array([0.0, 2.0, 1.0, -1.0])
"""w = (0, 2), a = 1, b = -1."""
SLOPE = 0.0
"""sigma'(0) of the counterexample."""


@cache
def ended(value: float) -> Limit:
    """Where the flow goes with sigma'(0) = value."""
    return limit(NETWORK, EXPONENTIAL, X, Y, SLOPE_START, at_zero=value)


def effect() -> list[Evidence]:
    """Whether this network's flow goes to a KKT point for every sigma'(0) in {0, 1/2, 1}."""
    ends = map(ended, VALUES)
    return [fact("values of σ'(0) in {0, 1/2, 1} with which a flow with shared weights converges "
                 "to no KKT point", sum(not end.converged for end in ends), 0)]  # fmt: skip


def no_kkt_point() -> Counterexample:
    """mm.thm2.1.slope: with sigma'(0) = 0 the flow of the exponential loss converges in direction
    to no KKT point, and with 1/2 to a shorter one that is."""
    stays, leaves = ended(SLOPE), ended(0.5)
    seen = kkt(NETWORK, stays.theta, X, Y)
    lengths = [float(end.theta @ end.theta) for end in (stays, leaves)]
    alpha, beta = 2.0**-0.25, 2.0**0.25
    return Counterexample(
        instance={"network": "a [σ(⟨w, p_1⟩) + σ(⟨w, p_3⟩)] + b [σ(⟨w, p_2⟩) + σ(⟨w, p_4⟩)]: a "
                  "filter w on four patches", "loss": "exponential",
                  "p_1, ..., p_4 of datum A": X[0].reshape(PATCHES, 2).astype(int),
                  "p_1, ..., p_4 of datum B": X[1].reshape(PATCHES, 2).astype(int),
                  "labels of A and B": (1, -1), "w(0)": (0, 2), "(a, b)(0)": (1, -1),
                  "σ'(0)": int(SLOPE)},
        assumptions={"the network is in the class N, of depth 2, with shared weights":
                         len(NETWORK.maps) == 2 and NETWORK.size < sum((g > 0).sum()
                                                                       for g in NETWORK.maps),
                     "L(0) = 2 e⁻² < 1":
                         bool(np.exp(-NETWORK.output(SLOPE_START, X) * Y).sum() < 1.0),
                     "σ'(0) is a constant in [0, 1]": 0.0 <= SLOPE <= 1.0},
        breaks=(
            bound("distance of the limit from the KKT conditions, over |θ|", seen.residual, "<=",
                  1e-9, "", digits=4),
            bound("|θ|² of the limit with σ'(0) = 0, less that with σ'(0) = 1/2",
                  lengths[0] - lengths[1], "<=", 1e-6, "", digits=4),
        ),
        recheck=(
            fact("slope of Φ in w₁ for A at the start: difference quotients at h = ±1/8, ±1/64",
                 slopes(Fraction(2), Fraction(1)), (0, 0, 0, 0)),
            bound("λ_A α in the equation of w₁, with λ_A = α/β from that of a, at α = 2^(-1/4), "
                  "β = 2^(1/4)", alpha**2 / beta, "<=", 0, "", digits=4),
        ),
        route="Φ at the start in fractions: the slope that σ'(0) = 0 gives is 0, and the true one "
        "is 1; and the KKT equations of the ray by hand",
    )  # fmt: skip


def slopes(beta: Fraction, alpha: Fraction) -> tuple[int, ...]:
    """Difference quotients of Phi(.; A) in w_1 at w = (0, beta), a = alpha, b = -alpha."""
    found = []
    for h in (Fraction(1, 8), Fraction(-1, 8), Fraction(1, 64), Fraction(-1, 64)):
        quotient = (_value((h, beta), alpha) - _value((Fraction(0), beta), alpha)) / h
        found.append(int(quotient) if quotient.denominator == 1 else 10**9)
    return tuple(found)


def _value(w: Sequence[Fraction], alpha: Fraction) -> Fraction:
    first, second, third = (max(z, Fraction(0)) for z in (w[0], -w[0], w[1]))
    return alpha * (first + third) - alpha * second
