"""What the parameters cells of chapter 5 may hold: that of its page, and those of its sections."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter, between

NETWORKS = ("fully connected", "diagonal", "convolutional", "sparse")
ACTIVATIONS = ("relu", "linear")
LOSSES = ("exponential", "logistic")
STARTS = ("paper", "gaussian", "uniform", "xavier")


def _one_of(meaning: str, words: tuple[str, ...], optional: bool = False) -> Parameter:
    named = ", ".join(f'"{word}"' for word in words[:-1]) + f' or "{words[-1]}"'
    return Parameter(str, meaning, lambda value: value in words, named, optional)


SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str,
        "the name of a printed data set, or the path of a CSV file with labels +1 and -1",
        bool,
        "a name or a path, not empty",
    ),
    "network": _one_of("the family of the network", NETWORKS),
    "depth": Parameter(int, "number of layers m", *between(2, 8)),
    "width": Parameter(
        int,
        "hidden units in each layer; weights of the filter of a convolutional network; not used by "
        "a diagonal one",
        *between(1, 64),
    ),
    "activation": _one_of("what the hidden units do", ACTIVATIONS),
    "start": _one_of(
        "where the flow starts; None for the printed start where there is one, else gaussian",
        STARTS,
        optional=True,
    ),
    "scale": Parameter(float, "factor of the weights of a drawn start", *between(1e-3, 10)),
    "loss": _one_of("the loss", LOSSES),
    "reach": Parameter(
        float, "how far the flow is followed at first, as log10(1/loss)", *between(10, 1e9)
    ),
    "seed": SEED,
    "effort": EFFORT,
}
