"""What the parameters cells of chapter 4 may hold: that of its page, and those of its sections."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter, between

SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}

OPTIMISERS = ("flow", "sgd")

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str,
        '"section-5.1", "plane", two digits such as "digits:0-1", or the path of a CSV file with '
        "labels +1 and -1",
        bool,
        "a name or a path, not empty",
    ),
    "d": Parameter(int, 'dimension of the data "section-5.1"', *between(2, 100)),
    "n": Parameter(int, 'number of the data "section-5.1"', *between(4, 1000)),
    "width": Parameter(int, "number of neurons", *between(1, 200)),
    "scale": Parameter(float, "norm of every neuron at the start", *between(1e-12, 10)),
    "optimiser": Parameter(
        str,
        'what trains: gradient "flow", or "sgd", descent on minibatches',
        lambda value: value in OPTIMISERS,
        '"flow" or "sgd"',
    ),
    "epochs": Parameter(int, 'how often "sgd" goes through the data', *between(1, 10_000)),
    **SECTION,
}

CNN: Mapping[str, Parameter] = {
    "images": Parameter(
        str,
        'images of 0 and 1 to train on: "digits", which is at hand, or "mnist", half an hour',
        lambda value: value in ("digits", "mnist"),
        '"digits" or "mnist"',
    ),
    "epochs": Parameter(int, "how often training goes through the images", *between(1, 1000)),
    "device": Parameter(str, 'where PyTorch computes: "cpu", "cuda"', bool, "a device's name"),
    **SECTION,
}
