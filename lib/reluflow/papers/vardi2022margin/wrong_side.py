"""Theorem 3.1 as printed and the logistic loss: a start with L < 1 that stays wrong for ever."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from reluflow.flows.charts import Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact
from reluflow.losses import LOGISTIC
from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin.wrong_side_exact import (
    largest_margin_on_the_line,
    leaves_the_line,
    loss_is_below_one,
)

START = (Fraction(-7, 10), Fraction(7, 10))
"""w(0) and v(0)."""


def wrong_side() -> Counterexample:
    """Depth 2, one neuron, x = y = 1, logistic loss, w(0) = -7/10, v(0) = 7/10: L(0) < 1, but w =
    -v for ever, so that Phi = -w^2, and the direction tends to no feasible point of Problem (2)."""
    network, X, y = fully_connected([1, 1], "linear"), np.ones((1, 1)), np.ones(1)
    theta = np.array([float(part) for part in START])
    chart = Polar(network)
    path = integrate(GradientFlow(chart, LOGISTIC, X, y), chart.coordinates(theta), 20.0)
    direction = path.end[:-1]
    return Counterexample(
        instance={"X": [[1]], "y": [1], "w(0)": START[0], "v(0)": START[1]},
        assumptions={
            "fully connected linear network of depth 2, logistic loss": True,
            "L(theta(0)) < 1": loss_is_below_one(*START),
            "a vector separates the data": True,
        },
        breaks=(
            bound("y Phi at the flow's direction at t = 20",
                  float(network.output(direction, X)[0]), ">", 0.0, ""),
            bound("L at t = 20", float(np.exp(path.log_loss[-1])), "<", 0.69, ""),
        ),
        recheck=(
            fact("the flow leaves the line w = -v (symbolically)", leaves_the_line(), True),
            fact("y Phi > 0 somewhere on that line", largest_margin_on_the_line() > 0, True),
        ),
        route="d(w + v)/dt = c (w + v) with c = 1 / (1 + exp(v w)), and y Phi = -w^2 where v = -w",
    )  # fmt: skip


def printed_fit() -> list[Evidence]:
    """What Theorem 3.1 as printed says of that start: at no time is its datum classified."""
    example = wrong_side()
    met = not any(item.holds for item in (*example.breaks, *example.recheck))
    return [fact("logistic loss, x = y = 1, w(0) = -7/10, v(0) = 7/10, where L < 1: the datum is "
                 "classified at some time", not met, True)]  # fmt: skip


def fits() -> Reading:
    """What (Fit) has to mean for the logistic loss."""
    return Reading(
        taken="(Fit) is read as what the paper takes it to mean: at some time every datum is "
        "classified correctly, as L < 1 says for the exponential loss and L < log 2 for the "
        "logistic one",
        others="letter by letter, with L < 1 for the logistic loss, it is false: x = y = 1, "
        "w(0) = -7/10, v(0) = 7/10 stays on the wrong side for ever",
    )
