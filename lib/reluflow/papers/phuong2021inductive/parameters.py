"""What the parameters cells of chapter 4 may hold: that of its page, and those of its sections."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter, between

SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}

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
