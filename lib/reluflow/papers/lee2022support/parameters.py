"""What the parameters cell of chapter 1 may hold."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str,
        '"paper" for the printed data sets, the name of one of them, or the path of a CSV file',
        bool,
        "a name or a path, not empty",
    ),
    "initial_points": Parameter(
        list,
        "points w_0 where the flows start, each a list of d numbers; None for the chapter's own",
        bool,
        "a list of at least one point",
        optional=True,
    ),
    "step": Parameter(
        float,
        "step of the gradient descent",
        lambda value: 1e-12 <= value <= 1e12,
        "from 1e-12 to 1e12",
    ),
    "seed": SEED,
    "effort": EFFORT,
}
