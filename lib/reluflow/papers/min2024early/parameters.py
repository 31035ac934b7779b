"""What the parameters cells of chapter 3 may hold: that of its page, and those of its sections."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter, between

LOSSES = ("exponential", "logistic", "twice logistic")

SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str,
        'a figure\'s data such as "figure-6", two digits such as "digits:0-1", or the path of a '
        "CSV file with labels +1 and -1",
        bool,
        "a name or a path, not empty",
    ),
    "scale": Parameter(float, "factor of the inputs", *between(1e-6, 1e6)),
    "h": Parameter(int, "number of neurons", *between(2, 200)),
    "log_eps": Parameter(
        float,
        "ln of the factor eps of the balanced start, for the flow; None for the largest eps that "
        "the theorem allows",
        *between(-1e6, -1),
        optional=True,
    ),
    "sigma": Parameter(
        float, "standard deviation of the descent's first weights", *between(1e-12, 1)
    ),
    "step": Parameter(float, "step of the descent", *between(1e-8, 1)),
    "iterations": Parameter(int, "number of its steps", *between(10, 100_000)),
    "loss": Parameter(
        str,
        "the loss of one datum",
        lambda value: value in LOSSES,
        '"exponential", "logistic" or "twice logistic"',
    ),
    "seed": SEED,
    "effort": EFFORT,
}
