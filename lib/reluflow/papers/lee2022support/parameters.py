"""What the parameters cells of chapter 1 may hold: that of its page, and those of its sections."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter

SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}

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
