"""`python -m reluflow.papers.phuong2021inductive.synthetic_record [NAME ...]`: Section 5, recorded.

"deep" is the four-layer net, "readings" and "scales" train the two-layer one under other readings
and from other sizes of the start, "steps" and "balance" with other rates and layers of other sizes,
"long" goes on for longer. All take seven minutes of one core.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from reluflow.networks.dense import one_thread
from reluflow.papers.phuong2021inductive.synthetic import DEEP, PAPER, READINGS, Setting, train
from reluflow.papers.phuong2021inductive.synthetic_seen import Course, course, from_record, kept
from reluflow.places import RECORDS as FOLDER

SCALES = (1.0, 0.2, 0.05, 0.01, 0.001)
RATES = (0.01, 0.1, 1.0, 3.0, 10.0)
"""With as many epochs that the product is the paper's. At a rate of 30 descent diverges."""
OUTER = (1e-3, 1.0, 10.0, 100.0, 1000.0)
"""Further factors of the last layer; at 10 the |a_j| are about as large as the |w_j|."""
SEED = 0


@dataclass(frozen=True)
class Survey:
    """A setting, how many networks are trained in it, and the epochs of the looks on the way."""

    setting: Setting
    networks: int
    epochs: tuple[int, ...] = ()


SURVEYS: Mapping[str, Mapping[str, Survey]] = {
    "deep": {
        "500 epochs": Survey(DEEP, 20),
        "5000 epochs": Survey(replace(DEEP, epochs=5000), 3, (500,)),
    },
    "readings": {name: Survey(setting, 10) for name, setting in READINGS.items()},
    "scales": {
        f"{scale:g}": Survey(replace(PAPER, scale=scale, epochs=5000), 5, (50, 500))
        for scale in SCALES
    },
    "steps": {
        f"{rate:g}": Survey(replace(PAPER, rate=rate, epochs=round(50 / rate)), 10)
        for rate in RATES
    },
    "balance": {f"{outer:g}": Survey(replace(PAPER, outer=outer), 10) for outer in OUTER},
    "long": {"taken": Survey(replace(PAPER, epochs=50_000), 5, (5, 10, 20, 50, 100, 500, 5000))},
}


def file_of(name: str) -> Path:
    """Where a record lies."""
    return FOLDER / f"phuong2021inductive-networks-{name}.json"


def courses(survey: Survey) -> list[Course]:
    """Train the networks of a survey."""
    runs = train(survey.setting, SEED, range(survey.networks), survey.epochs)
    return [course(run) for run in runs]


def record(name: str) -> dict[str, Any]:
    """Train, and write the record."""
    with one_thread():
        facts = {
            "what": "Phuong & Lampert 2021, Section 5",
            "command": f"python -m reluflow.papers.phuong2021inductive.synthetic_record {name}",
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
            "seed": SEED,
            "surveys": {
                key: {"setting": asdict(survey.setting), "networks": list(map(kept, found))}
                for key, survey in SURVEYS[name].items()
                if (found := courses(survey))
            },
        }
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(facts).replace(', "', ',\n"')
    file_of(name).write_text(text + "\n", "utf-8")
    return facts


def recorded(name: str) -> dict[str, list[Course]]:
    """The courses of a record, by the keys of its surveys."""
    facts = json.loads(file_of(name).read_text(encoding="utf-8"))["surveys"]
    return {key: [from_record(looks) for looks in each["networks"]] for key, each in facts.items()}


if __name__ == "__main__":
    for each in sys.argv[1:] or SURVEYS:
        record(each)
