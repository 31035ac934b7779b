"""Theorem 3.1: fully connected linear networks converge in direction to W^(l) = C a_l a_(l-1)'.

a_0 is the direction of the max-margin vector u, C^m = |u|, and |theta|^2 = m C^2 is the least that
Problem (2) allows: |u'| is at most the product of the layers' norms (Lemma C.5).

Every feasible KKT point has this form. With g = sum_i lambda_i y_i x_i the conditions say W^(l) =
(W^(m)...W^(l+1))' (W^(l-1)...W^(1) g)', of rank one, each layer's columns along the next one's rows
and all of one length; so beta is along g, which are the conditions of the convex problem for beta.
A limit that was polished to a KKT point proves nothing of the flow: that is measured too.

The loss goes to 0 from every L < n l(0), if the data are separable: `reaches_the_optimum`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.falsify import Draw, Instance, Statement, given, survey
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.margin.limits import CONVERGED, UNDECIDED, limit
from reluflow.margin.max_margin import MaxMargin, max_margin
from reluflow.margin.problem import scaled
from reluflow.networks.indexed import Network, fully_connected

REACH = (1e3, 1e5)
"""Values of log10(1/L) at which the flow is compared with its limit."""
_ROUNDING = 1e-9
"""Relative errors of |theta|^2."""


def aligned_limit(u: ArrayLike, hidden: Sequence[ArrayLike]) -> list[NDArray]:
    """W^(l) = C a_l a_(l-1)' with a_0 = u / |u|, C^m = |u| and a_m = 1 (proof of Theorem 3.1).

    Parameters: u (d,), and the unit vectors a_1, ..., a_(m-1) of the hidden layers. Returns the m
    matrices (h_l, h_(l-1)), whose product is u.
    """
    u = np.asarray(u, float)
    length = float(np.linalg.norm(u))
    a = [u / length, *(np.asarray(v, float) for v in hidden), np.ones(1)]
    C = length ** (1.0 / (len(a) - 1))
    return [C * np.outer(after, before) for before, after in pairwise(a)]


@dataclass(frozen=True)
class Structure:
    """How far parameters, scaled to the least margin 1, are from the limit of Theorem 3.1.

    excess   |theta|^2 / (m C^2) - 1, never below 0
    second   largest ratio of a layer's second singular value to its first; 0 for vectors
    lengths  largest | |W^(l)|_F / C - 1 |
    angle    |a_0 - u/|u||, a_0 the first right singular vector of W^(1) with its better sign
    away     |theta - theta'| / |theta|, theta' the aligned limit with a_l the direction of W^(l)
             a_(l-1)
    """

    excess: float
    second: float
    lengths: float
    angle: float
    away: float


def structure(
    network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike, best: MaxMargin
) -> Structure:
    """The `Structure` of theta (p,), for data X (n, d), y (n,) with max-margin vector `best`.

    Raises InputError unless theta classifies every datum correctly.
    """
    point = scaled(network, theta, X, y)
    W, m = network.weights(point), network.degree
    C = best.length ** (1.0 / m)
    values = [np.linalg.svd(w, compute_uv=False) for w in W]
    right = np.linalg.svd(W[0])[2][0]
    a, hidden = best.direction, []
    for w in W[:-1]:
        a = w @ a
        a = a / (np.linalg.norm(a) or 1.0)
        hidden.append(a)
    limit = aligned_limit(best.u, hidden)
    apart = sum(float(((w - c) ** 2).sum()) for w, c in zip(W, limit, strict=True))
    return Structure(
        excess=float(point @ point) / (m * C**2) - 1.0,
        second=max((float(s[1] / s[0]) for s in values if len(s) > 1), default=0.0),
        lengths=max(abs(float(np.linalg.norm(w)) / C - 1.0) for w in W),
        angle=min(float(np.linalg.norm(s * right - best.direction)) for s in (-1.0, 1.0)),
        away=float(np.sqrt(apart / (point @ point))),
    )


@dataclass(frozen=True)
class Case:
    """A fully connected linear network, data that a vector separates, and a start (p,)."""

    kind: str
    network: Network
    loss: Loss
    X: NDArray
    y: NDArray
    theta: NDArray


def _tilted(rng: np.random.Generator, W: list[NDArray]) -> list[NDArray]:
    """Layers of sizes from 1e-3 to 1e3, of unchanged product; nearer to another in deep networks,
    which forget their start more slowly."""
    logs = rng.uniform(-3.0, 3.0, len(W)) / (len(W) - 1)
    return [w * 10.0**s for w, s in zip(W, logs - logs.mean(), strict=True)]


def _of_rank_one(rng: np.random.Generator, W: list[NDArray]) -> list[NDArray]:
    """The first layer's rows are multiples of one vector."""
    return [np.outer(rng.standard_normal(len(W[0])), W[0][0]), *W[1:]]


def _with_dead_units(rng: np.random.Generator, W: list[NDArray]) -> list[NDArray]:
    """A unit of the first layer has no weights at all, neither in nor out."""
    first, second = W[0].copy(), W[1].copy()
    if len(first) > 1:
        first[-1], second[:, -1] = 0.0, 0.0
    return [first, second, *W[2:]]


Change = Callable[[np.random.Generator, list[NDArray]], list[NDArray]]
STARTS: dict[str, Change] = {
    "normal": lambda rng, W: W,
    "unbalanced": _tilted,
    "rank one": _of_rank_one,
    "dead unit": _with_dead_units,
}


def cases(seed: int, count: int) -> Iterator[Case]:
    """Depths 2 to 4, both losses and the kinds of STARTS in turn; 1 to 5 data in 1 to 3 dimensions.

    The labels are those of the start, or in a third of the cases those of another vector, so that
    the start is wrong about some data. The data are normal, each of a length from 1e-1 to 1e1; a
    fifth is scaled by 1e3 or 1e-3 and a fifth holds multiples of one datum. Starts that are right
    are scaled until L < 1/2, the others to outputs of at most 3.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        kind = list(STARTS)[k % 4]
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
        theta = network.parameters(W)
        z = network.output(theta, X)
        if not np.all(z != 0.0):
            continue  # L = n l(0) is not below 1
        wrong = k % 3 == 2
        scale = 3.0 / np.abs(z).max() if wrong else (1.0 + np.log(2.0 * len(X))) / np.abs(z).min()
        theta = theta * scale ** (1.0 / m)
        z = X @ rng.standard_normal(widths[0]) if wrong else z
        yield Case(kind, network, loss, X, np.where(z > 0.0, 1.0, -1.0), theta)


def _row(case: Case) -> dict[str, Any]:
    """One flow: how far it is from the prediction at each of REACH, and its limit."""
    found = limit(case.network, case.loss, case.X, case.y, case.theta, REACH[-1])
    row: dict[str, Any] = {"kind": case.kind, "depth": case.network.degree, "status": found.status}
    if found.status not in (CONVERGED, UNDECIDED):
        return row
    best = max_margin(case.X, case.y)
    points = [*found.directions(REACH), found.theta]
    for at, theta in zip((*map(str, REACH), "limit"), points, strict=True):
        seen = structure(case.network, theta, case.X, case.y, best)
        row |= {f"{name} {at}": value for name, value in vars(seen).items()}
    return row


def flows(seed: int, count: int) -> pd.DataFrame:
    """The flows of `count` cases, a row each: `kind`, `depth`, the `status` of the limit, and where
    the loss goes to 0 the fields of `Structure` at each of REACH, `excess 1000.0`, and of the limit
    that was found, `excess limit`."""
    return survey(cases(seed, count), _row)


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
    """The largest value at the last of REACH, and the least factor by which values above 1e-6 fall
    from the first to the last."""
    early, late = (some[f"{name} {at}"].to_numpy() for at in REACH)
    slow = early > 1e-6
    factors = early[slow] / np.maximum(late[slow], 1e-16)
    return float(late.max(initial=0.0)), float(factors.min(initial=1e10))


def global_in_the_limit(found: pd.DataFrame) -> list[Evidence]:
    """mm.thm3.1: |theta|^2, scaled to the least margin 1, tends to its least value m C^2."""
    ended, sure, notes = _ended(found)
    unbalanced = ended.kind == "unbalanced"
    points = ended[[f"excess {at}" for at in REACH]].to_numpy()
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
    near = ended[ended.kind != "unbalanced"]
    words = {
        "second": "a second singular value",
        "lengths": "layers of other norms than C",
        "angle": "a_0 apart from u / |u|",
        "away": "another form than C a_l a_(l-1)'",
    }
    items = []
    for name, says in words.items():
        last, factor = _fall(near, name)
        items += [
            fact(f"confirmed limits with {says}", int((sure[f"{name} limit"] > 1e-6).sum()), 0,
                 tried=len(sure)),
            bound(f"{says}: least factor by which the measure falls along a flow from L = 1e-1000 "
                  "to 1e-100000, where above 1e-6, unbalanced starts apart", factor, ">=", 1.5, "",
                  digits=2),
            note(f"{says}: the largest at L = 1e-100000", last, "", digits=1),
        ]  # fmt: skip
    return items + notes


GLOSS = Reading(
    "(Fit) is read with what Theorem 2.1 adds to it, that Φ classifies every datum correctly when "
    "L < 1",
    "by L < 1 alone it is false for the logistic loss: Φ = v w x, x = y = 1, w(0) = -1/2 and "
    "v(0) = 1/2 have L(0) = 0.826, and θ(t) → 0. For separable data L < n ℓ(0) is enough",
)


# Below n l(0).


def reaches_the_optimum() -> Statement:
    """mm.ours.linear: from L < n l(0) on separable data the loss of a fully connected linear
    network goes to 0, and theta to the direction of a global optimum.

    The slack is what is left of 1e-6 by |theta|^2 / (m C^2) - 1, and -1 where the loss stops.
    """

    def slack(item: Instance) -> float:
        end = limit(item["network"], item["loss"], item["X"], item["y"], item["theta"], REACH[0])
        if end.status not in (CONVERGED, UNDECIDED):
            return -1.0
        best, m = max_margin(item["X"], item["y"]), item["network"].degree
        excess = float(end.theta @ end.theta) / (m * best.length ** (2.0 / m)) - 1.0
        return 1e-6 - abs(excess) if end.converged else np.nan

    return Statement(
        "the flow comes to zero loss and to the direction of a global optimum",
        {f"{name}, {loss.name}": _separable(name, loss)
         for loss in (EXPONENTIAL, LOGISTIC) for name in ("normal", "parallel", "of all sizes")},
        slack,
        given("mm.ours.linear", network=lambda item: _is_full(item["network"]),
              data=_are_separable, flow=lambda item: item["loss"] in (EXPONENTIAL, LOGISTIC),
              start=lambda item: _log_loss(item, 1.0) < _log_loss(item, 0.0)),
        witness={"network": fully_connected([1, 1], "linear"), "loss": LOGISTIC,
                 "X": np.ones((1, 1)), "y": np.ones(1), "theta": np.array([-0.5, 0.5])},
    )  # fmt: skip


def _separable(kind: str, loss: Loss) -> Draw:
    """1 to 5 data in 1 to 3 dimensions, depth 2 to 5, widths 1 to 3; starts of all sizes, on the
    side on which the sum of the margins is positive."""

    def draw(rng: np.random.Generator) -> Instance:
        n, d, m = (int(rng.integers(low, high)) for low, high in ((1, 6), (1, 4), (2, 6)))
        network = fully_connected([d, *rng.integers(1, 4, m - 1).tolist()], "linear")
        X = rng.standard_normal((n, d))
        if kind == "parallel":
            X = X[:1] * rng.choice([-2.0, 0.5, 1.0, 1.0, 3.0], (n, 1))
        if kind == "of all sizes":
            X *= 10.0 ** (rng.uniform(-3.0, 3.0) + rng.uniform(-1.0, 1.0, (n, 1)))
        y = np.where(X @ rng.standard_normal(d) > 0.0, 1.0, -1.0)
        W = network.weights(rng.standard_normal(network.size))
        z = network.output(network.parameters(W), X)
        W[0] *= 1.0 if y @ z > 0.0 else -1.0
        size = 10.0 ** rng.uniform(-2.0, 0.7) / np.abs(z).max()
        theta = network.parameters(W) * size ** (1.0 / m)
        return {"network": network, "loss": loss, "X": X, "y": y, "theta": theta}

    return draw


def _is_full(network: Network) -> bool:
    full = fully_connected([g.shape[1] for g in network.maps], "linear")
    same = all(np.array_equal(a, b) for a, b in zip(network.maps, full.maps, strict=True))
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


def no_more_is_enough() -> list[Evidence]:
    """mm.ours.linear, its constant: for data x_i = y_i = 1, widths 1 and theta = r (-1, 1, ..., 1)
    the velocity is -c n r^(m-2) theta, and L is larger than n l(0) by as little as one likes."""
    tried = [(n, m) for n in (1, 2, 5) for m in (2, 3, 4, 5)]
    back = 0
    for n, m in tried:
        theta = np.array([-1.0, *np.ones(m - 1)])
        rates = fully_connected([1] * m, "linear").gradient(theta, np.ones((n, 1)), np.ones(n))
        back += np.array_equal(rates, -n * theta)
    return [fact("networks of width 1, for n = 1, 2, 5 data x = y = 1 and m = 2, ..., 5, that "
                 "r (-1, 1, ..., 1) moves straight to 0", int(back), len(tried))]  # fmt: skip
