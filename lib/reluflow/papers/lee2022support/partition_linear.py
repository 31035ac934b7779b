"""Theorem 3.4: the least losses of the ReLU and the linear neuron, as statements to falsify."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow import rational
from reluflow.falsify import Instance, Report, Statement, given
from reluflow.geometry import local_minima
from reluflow.instances import Draws, extended, in_dimensions, readable_data
from reluflow.ledger import Counterexample, Evidence, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions, meets


def linear_fit(X: ArrayLike, y: ArrayLike) -> tuple[NDArray, float]:
    """The fitted values X w (n,) of the linear neuron's least-squares fit, and its loss L_l."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    h = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return h, 0.5 * float(np.sum((h - y) ** 2))


def gain_of_relu(item: Instance) -> float:
    """How far the ReLU neuron's least loss is below the linear neuron's, in units of |y|^2 / 2."""
    X, y = item["X"], item["y"]
    least = least_relu_loss(X, y)
    return (linear_fit(X, y)[1] - least) / (0.5 * float(y @ y))


def least_relu_loss(X: ArrayLike, y: ArrayLike) -> float:
    """The least loss of the ReLU neuron, from the enumeration of all its local minima."""
    return local_minima(X, y)[0].loss


def _signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"X": item["X"] * rng.choice([-1.0, 1.0], item["X"].shape, p=[0.2, 0.8])}


def _unequal(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"y": 10.0 ** rng.uniform(-2.0, 1.0, len(item["y"]))}


def _unfit(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """Labels whose linear fit is negative on a datum, where some labels do that: h = P y with the
    projector P onto the columns of X, and y_k is so large that P_jk < 0 decides the sign of h_j."""
    X, y = item["X"], item["y"].copy()
    P = X @ np.linalg.pinv(X)
    # P is symmetric: which of two equal entries is the least, rounding must not decide.
    j, k = np.unravel_index(np.argmin(np.triu(np.round(P, 9))), P.shape)
    if P[j, k] < -1e-3:
        y[k] = 0.0
        y[k] = max(P[j] @ y / -P[j, k], y.max()) * 10.0 ** rng.uniform(0.1, 1.0)
    return {"y": y}


def _under_A2() -> Draws:
    """A1-A3 in dimensions 1 to 3, labels of one size or not, and inputs with entries below zero."""
    kinds = ("uniform", "directions", "integers")
    plain = in_dimensions((1, 2, 3), 5, kinds)
    signed = extended(in_dimensions((2,), 5, kinds), _signed)
    unequal = extended(in_dimensions((2, 3), 5, kinds[:2]), _unequal)
    more = {"signed": signed, "labels unequal": unequal}
    extra = {f"{word}, {k}": one for word, draws in more.items() for k, one in draws.items()}
    return {**plain, **extra}


def relu_below_linear() -> Statement:
    """sv.thm3.4.1: under A2 the least loss of the ReLU neuron is smaller (Theorem 3.4)."""
    return Statement(
        says="the ReLU neuron's least loss is smaller",
        draws=_under_A2(),
        hypotheses={"A2": lambda item: bool(np.all(item["y"] > 0))},
        slack=gain_of_relu,
        strict=True,
        tolerance=1e-12,
        readable=readable_data(1, (1, 3)),
        fixed=("X", "y"),
    )


def zero_linear_loss(report: Report) -> Counterexample:
    """Against Theorem 3.4 as printed, the smallest data that `report` found."""
    X, y = report.shrunk["X"], report.shrunk["y"]
    gain = linear_fit(X, y)[1] - least_relu_loss(X, y)
    exact = rational.fit(X, y, range(len(y)))
    linear = sum((h - v) ** 2 for h, v in zip(exact.preactivations, rational.rationals(y),
                                              strict=True)) / 2  # fmt: skip
    return Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int)},
        assumptions={**assumptions(X, y), "n = 1": len(y) == 1},
        breaks=(fact("the ReLU neuron's least loss is smaller by more than 1e-12 (enumeration)",
                     gain > 1e-12, True),),
        recheck=(fact("there is room below the linear neuron's least loss (rational arithmetic)",
                      linear > 0, True),),
        route="the linear fit in rational arithmetic: its loss is zero, and no loss is below",
    )  # fmt: skip


def relu_not_above_linear() -> Statement:
    """sv.thm3.4.2: under A2 the least loss of the ReLU neuron is smaller or equal."""
    return replace(
        relu_below_linear(),
        says="the ReLU neuron's least loss is at most the linear one's",
        strict=False,
        fixed=(),
        readable=None,
    )


def relu_below_linear_where_unfit() -> Statement:
    """sv.ours.linear.strict: under A2, data not zero, it is smaller as soon as the linear fit is
    zero or negative on a datum."""

    def not_positive(item: Instance) -> bool:
        h, _ = linear_fit(item["X"], item["y"])
        return bool(np.any(h <= 1e-12 * np.linalg.norm(item["y"])))

    printed = relu_below_linear()
    draws = {kind: one for kind, one in _under_A2().items() if "d = 1" not in kind}
    unfit = {f"unfit, {kind}": one for kind, one in extended(draws, _unfit).items()}
    return replace(
        printed,
        says="it is smaller where the linear fit is zero or negative on a datum",
        draws={**printed.draws, **unfit},
        hypotheses=given(
            "sv.ours.linear.strict",
            data=lambda item: meets(item, "A2") and bool(item["X"].any(axis=1).all()),
            fit=not_positive,
        ),
        fixed=(),
        readable=None,
    )


def fit_zero_on_second(X: NDArray, y: NDArray) -> list[Evidence]:
    """Our repair of Theorem 3.4 on data X (n, 2), y whose linear fit is exactly zero on x_2."""
    line = rational.fit(X, y, range(len(y)))
    without = rational.fit(X, y, [i for i in range(len(y)) if i != 1])
    return [
        fact("data below: value of the linear fit on x_2 (rational)",
             line.preactivations[1], Fraction(0)),
        fact("data below: a smaller loss without x_2 (rational)", without.loss < line.loss, True),
        note("X", X.astype(int).tolist()),
        note("y", y.astype(int).tolist()),
        note("losses, linear and ReLU", (line.loss, without.loss)),
    ]  # fmt: skip
