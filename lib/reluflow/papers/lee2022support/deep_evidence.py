"""What Appendices B and C of Lee et al. 2022 come to, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow import rational
from reluflow.falsify import Report
from reluflow.ledger import Counterexample, bound, fact, note
from reluflow.networks import backpropagate, gradient
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.deep import LayerSurvey, autograd
from reluflow.papers.lee2022support.deep_training import BalanceSurvey, LabelSurvey

Settlement = dict[str, Any]


def layers_and_neurons(report: Report, survey: LayerSurvey) -> Settlement:
    """Appendix B: losses and gradients of layers by `report`, whole trainings by `survey`."""
    return {
        "evidence": [
            *report.evidence(),
            bound("largest distance of a layer's descent from its neurons' own", survey.descent,
                  "<=", 1e-9, "of |W|"),
            bound("largest distance of a layer's flow from its neurons' exact flows", survey.flow,
                  "<=", 1e-6, "of |W|"),
            note("layers trained, and their neurons", (survey.layers, survey.neurons)),
            note("changes of activation on these flows", survey.events),
        ]
    }  # fmt: skip


def printed_gradient(report: Report) -> Settlement:
    """Appendix B's gradient as printed, against draws and against one inactive datum on the line:
    x = 1, y = 1, w = -1."""
    X, y, w = np.array([[1]]), np.array([1]), np.array([-1])
    printed = (max(int(w @ X[0]), 0) - y[0]) * X[0]
    single = float(np.abs(printed - gradient(X, y, w)).max())
    torch = float(np.abs(printed - autograd([w[None]], X, y[:, None], "relu")[1][0][0]).max())
    h = Fraction(1, 100)
    near = [rational.neuron_loss(X, y, [Fraction(-1) + k * h]) for k in (-1, 1)]
    slope = (near[1] - near[0]) / (2 * h)
    return {
        "evidence": report.evidence(),
        "counterexample": Counterexample(
            instance={"X": X, "y": y, "w": w},
            assumptions={**assumptions(X, y), "w lies on no boundary": bool((X @ w != 0).all())},
            breaks=(bound("distance of the printed gradient from eq. (2)", single, "<=", 0, ""),),
            recheck=(
                bound("distance of the printed gradient from torch's", torch, "<=", 0, ""),
                bound("distance of the printed gradient from the loss's own slope",
                      abs(Fraction(int(printed[0])) - slope), "<=", 0, ""),
            ),
            route="automatic differentiation, and a difference quotient in rational arithmetic",
        ),
    }  # fmt: skip


def with_indicator(report: Report) -> Settlement:
    """Our repair of Appendix B's gradient."""
    return {"evidence": report.evidence()}


def back_propagation(
    report: Report, weights: Sequence[NDArray], x: NDArray, y: NDArray
) -> Settlement:
    """Proposition C.1 and Figure 5: `report`, and the figure's network, whose numbers are whole."""
    found = backpropagate(weights, x[None], y[None])
    _, G = autograd(weights, x[None], y[None])
    apart = max(
        float(np.abs(g - delta.T @ inputs).max())
        for g, delta, inputs in zip(G, found.deltas, found.inputs, strict=True)
    )
    return {
        "evidence": [
            *report.evidence(),
            bound("the figure's network: distance of torch's gradients from eqs. (9) and (10)",
                  apart, "<=", 0, ""),
        ]
    }  # fmt: skip


def label_signs(report: Report, survey: LabelSurvey) -> Settlement:
    """Ours: what the back-propagated labels of hidden units are like, and that they move."""
    share = survey.interval
    looks = (0, -1)
    suited, negative = ([share(v[k]) for k in looks] for v in (survey.suited, survey.negative))
    positive = [share(survey.positive[k]) for k in looks]
    active = [share(survey.active[k]) for k in looks]
    return {
        "evidence": [
            *report.evidence(),
            fact("units with an inactive datum that meet A2", int(survey.idle.sum()), 0),
            bound("active pairs with a label that is not positive, before and after training: "
                  "least lower end", min(low for _, low, _ in negative), ">", 0, "of them"),
            bound("hidden units that meet A2, before and after training: largest upper end",
                  max(high for _, _, high in suited), "<", 1.0, "of all"),
            fact("networks that train and whose labels do not move",
                 int((survey.moved < 1e-6).sum()), 0),
            *_ends("pairs with a positive label", positive),
            *_ends("pairs that are active", active),
            *_ends("active pairs with a label that is not positive", negative),
            *_ends("hidden units that meet A2", suited),
            note("networks, and those that train", (survey.suited.shape[1], survey.moved.size)),
            note("steps of descent", survey.steps[-1]),
        ]
    }  # fmt: skip


def _ends(what: str, intervals: Sequence[tuple[float, float, float]]) -> list:
    """Notes of the mean and its 95 % interval at the first and at the last look, in per cent."""
    names = ("before training", "after training")
    return [
        note(f"{what}, {name}: mean and 95 % interval", tuple(100 * v for v in ends), "%", 3)
        for name, ends in zip(names, intervals, strict=True)
    ]


def balanced_layers(report: Report, survey: BalanceSurvey) -> Settlement:
    """Lemma C.2: the identity at single points, and the drift under refinement of the step."""
    # A median: the order shows where steps are short for a network, and a few it makes oscillate.
    trains = survey.drift.all(axis=0)
    factors = [float(np.median(a[trains] / b[trains])) for a, b in pairwise(survey.drift)]
    unit = "of the largest |W_m|^2"
    return {
        "evidence": [
            *report.evidence(),
            bound("drift of descent: largest distance from step^2 sum (|G_m|^2 - |G_m+1|^2)",
                  survey.identity, "<=", 1e-10, unit),
            bound("least factor by which half the step lessens the drift, median of the networks",
                  min(factors), ">=", 1.8, ""),
            bound("largest such factor", max(factors), "<=", 2.2, ""),
            bound("largest drift of a flow by DOP853", survey.flow, "<=", 1e-9, unit),
            note("steps", survey.steps, "", None),
            note("median drift of descent", tuple(np.median(survey.drift, axis=1)), unit, digits=2),
            note("networks, and those whose descent changes an activation",
                 (survey.drift.shape[1], survey.flips)),
            note("flows, and those stopped by a change of activation",
                 (survey.flows, survey.reached)),
        ]
    }  # fmt: skip


def balanced_units(report: Report, survey: BalanceSurvey) -> Settlement:
    """Ours: the balance holds unit by unit, and the units of one layer may move opposite ways."""
    return {
        "evidence": [
            *report.evidence(),
            bound("networks with units of one layer whose norms move opposite ways",
                  survey.opposed, ">", 0, ""),
            note("networks", survey.drift.shape[1]),
        ]
    }  # fmt: skip
