"""Examples 5.2 and 5.3, and the captions of Figures 12 and 13."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reluflow.datasets import load
from reluflow.ledger import bound, deviation, fact, note
from reluflow.papers.lee2022support.examples import Experiment, experiment


def deactivation(run: Experiment) -> dict[str, Any]:
    """sv.ex5.2: x_1 leaves the ReLU flow for good, and returns to the linear one."""
    relu, line, limit = run.flows[0], run.linear_flows[0], run.limits[0]
    off = relu.first_time(0, "deactivate")
    common, later = np.linspace(0.0, off, 200), np.array([off + 1.0])
    zero = [m for m in run.minima if m.rank == 1]
    return {
        "evidence": [
            fact("x_1 is deactivated, and nothing else happens to the ReLU flow",
                 [(e.datum + 1, e.kind) for e in relu.events] == [(1, "deactivate")], True),
            fact("the linear flow re-activates x_1",
                 [(e.datum + 1, e.kind) for e in line.events]
                 == [(1, "deactivate"), (1, "activate")], True),
            bound("largest distance of the two flows up to then",
                  float(np.abs(relu.at(common) - line.at(common)).max()), "<=", 1e-8, ""),
            bound("their distance one unit of time later",
                  float(np.linalg.norm(relu.at(later) - line.at(later))), ">", 1e-3, ""),
            bound("rank of the ReLU limit", limit.rank, ">=", 2, ""),
            fact("x_1 is a support vector of it", 0 in limit.support, False),
            fact("global minima of the ReLU loss", len(zero), 1),
            fact("the global minimum has all data active",
                 len(zero[0].support) == len(run.y) and zero[0].dimension == 0, True),
            note("loss of the ReLU limit", limit.loss),
        ],
    }  # fmt: skip


def reactivation(run: Experiment) -> dict[str, Any]:
    """sv.ex5.3: x_4 leaves early and comes back; both flows end in the one global minimum."""
    relu, line, limit = run.flows[0], run.linear_flows[0], run.limits[0]
    off, on = relu.first_time(3, "deactivate"), relu.first_time(3, "activate")
    times = np.linspace(0.0, on, 400)
    best = [m for m in run.minima if m.rank == 1]
    return {
        "evidence": [
            fact("events of the ReLU flow",
                 tuple(f"x_{e.datum + 1} {e.kind}" for e in relu.events),
                 ("x_4 deactivate", "x_4 activate")),
            bound("x_4 is deactivated after this share of the path's iterations", off / on,
                  "<", 0.01, ""),
            bound("largest distance of the linear and the ReLU flow",
                  float(np.linalg.norm(relu.at(times) - line.at(times), axis=1).max()),
                  ">", 1e-3, ""),
            bound("distance of their limits", float(np.linalg.norm(relu.end - line.end)),
                  "<=", 1e-8, ""),
            fact("rank of the limit", limit.rank, 1),
            fact("global minima", len(best), 1),
            fact("data active there", len(limit.support), len(run.y)),
            note("iterations of the two events under eq. (1)",
                 tuple(round(t / run.step) for t in (off, on))),
        ],
    }  # fmt: skip


CAPTIONS = {"example-5.2": (0, "deactivate", 500), "example-5.3": (3, "activate", 8500)}
"""Which first event of which datum (from 0) the captions of Figures 12 and 13 put near which
iteration."""

NORMALISATIONS: Mapping[str, Callable[[int], float]] = {
    "1/2 of the sum, eq. (1)": lambda n: 1.0,
    "1/(2n) of the sum": lambda n: float(n),
    "1/n of the sum, PyTorch's mean": lambda n: n / 2,
}
"""Of the loss of n data: how many times as many iterations an event then takes as under eq. (1)."""


def caption_iteration(run: Experiment, seed: int) -> dict[str, Any]:
    """sv.fig12.iteration, sv.fig13.iteration: the two events come near the printed iterations,
    under that one normalisation of the loss, of the usual ones, which suits both captions best."""
    counts: dict[str, list[float]] = {name: [] for name in NORMALISATIONS}
    for name, (datum, kind, _) in CAPTIONS.items():
        one = experiment(load(name), None, run.step, seed)
        once = one.flows[0].first_time(datum, kind) / run.step
        for each, factor in NORMALISATIONS.items():
            counts[each].append(factor(len(one.y)) * once)
    printed = np.array([number for *_, number in CAPTIONS.values()])
    off = {name: np.abs(found / printed - 1.0) for name, found in counts.items()}
    apart = min(float(each.max()) for each in off.values())
    settlement = {
        "evidence": [
            deviation("distance of the farther of the two events from the printed 500 and 8500, "
                      "under the one normalisation that suits both best", apart, "of the number",
                      after="that the two captions are judged together"),
            note("the same for each event by itself, each under its own best normalisation",
                 tuple(map(float, np.min(list(off.values()), axis=0))), "of the number"),
        ],
    }  # fmt: skip
    notes = [
        note(f"iterations of the two events if the loss is {name}", tuple(map(round, found)))
        for name, found in counts.items()
    ]
    return settlement | ({} if apart <= 0.05 else {"instead": notes})


def caption_asymptotes(run: Experiment) -> dict[str, Any]:
    """sv.fig13.asymptotes: the dashed lines h_i = y_i are the curves' asymptotes."""
    h = run.X @ run.flows[0].end
    return {
        "evidence": [
            deviation("largest |h_i(inf) - y_i| / y_i", float((np.abs(h - run.y) / run.y).max()),
                      "")
        ],
        "instead": [
            note("limits of h_i", tuple(map(float, h))),
            note("labels y_i", tuple(float(v) for v in run.y), "", None),
            note("data i whose label is fitted, to 1e-9",
                 tuple(i + 1 for i, off in enumerate(np.abs(h - run.y)) if off < 1e-9), "", None),
        ],
    }  # fmt: skip
