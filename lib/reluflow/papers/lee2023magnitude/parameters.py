"""What the parameters cells of chapter 2 may hold: that of its page, and those of its sections."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter, between, few, number, whole

SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}

PARAMETERS: Mapping[str, Parameter] = {
    "layers": Parameter(
        list,
        "numbers of layers m + 1 of the networks of Figures 1 and 2",
        lambda value: few(value, lambda v: whole(v) and 1 <= v <= 12),
        "a list of one to six different whole numbers from 1 to 12",
    ),
    "norms": Parameter(
        list,
        "scale of the start over scale of the target, k / k*, one column of the figures each",
        lambda value: few(value, lambda v: number(v) and 1e-6 <= v <= 1000),
        "a list of one to six different numbers from 1e-6 to 1000",
    ),
    "d": Parameter(int, "dimension of the data", *between(2, 1000)),
    "n": Parameter(int, "number of data", *between(1, 100_000)),
    "steps": Parameter(int, "steps of descent", *between(10, 1_000_000)),
    "learning_rate": Parameter(
        float,
        "learning rate of every panel; None for the paper's",
        *between(1e-12, 1000),
        optional=True,
    ),
    "data": Parameter(
        str,
        '"empirical" for n drawn data, "population" for the Gaussian law itself',
        lambda value: value in ("empirical", "population"),
        '"empirical" or "population"',
    ),
    "seed": SEED,
    "effort": EFFORT,
}
