"""Figure 4 of Lee et al. 2023, judged on the record of its run at full scale.

Each function returns the arguments of `Ledger.settle`. The bars were set before the run: a curve is
monotone as far as a figure shows where it goes back by at most SHOWN of its ways, and has converged
where the last tenth of the steps moves it by at most SHOWN of its whole way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.figures.shares import wilson
from reluflow.ledger import Evidence, Reading, bound, computed, fact, note
from reluflow.papers.lee2023magnitude.deep_networks import SHOWN, Overshoots
from reluflow.papers.lee2023magnitude.record import Record, again

Settlement = dict[str, Any]
FIRST = "first layer |W_1|"
_AGAIN = 20
_TAKEN = (
    "k is a standard deviation; the magnitude is |W_1|, the analogue of |w|; the teacher, whose "
    "scale D.3 does not give here, has k* = 0.22, so that 0.44 = 2 k* as in Figure 1"
)


def small_start(record: Record, falls_first: NDArray) -> Settlement:
    """Panel (a): |W_1| increases. `falls_first` (starts,) tells of many starts whether their |W_1|
    falls at first."""
    ways = record.facts["monotone"][FIRST]
    first = ways["first"][0]
    at_first = int(first[1]) if first[3] < first[2] else 0
    return {
        "evidence": [
            *_run(record),
            bound("share of the ways of |W_1| that goes down, over all steps",
                  record.back(FIRST, 1), "<=", SHOWN, ""),
            bound("|W_1| at the end over its start", growth(record), ">", 1.0, "times"),
            note("steps at which |W_1| falls, and all", (ways["falls"], _steps(record))),
            note("of them at the start, one after another", at_first),
            note("other starts whose |W_1| falls at first, and all tried",
                 (int(falls_first.sum()), len(falls_first))),
            note("95 % interval of their share", interval(falls_first)),
            *_others(record, 1),
        ],
        "reading": Reading(
            taken=f"{_TAKEN}; strictly, up to what a figure can show: a hundredth of the way",
            others="at every single step it is false from this start and from about every second "
            "one: |W_1| moves at first as the start's outputs correlate with the labels, by chance "
            "with either sign",
        ),
        "known": computed("a recorded run, all steps at the paper's scale"),
    }  # fmt: skip


def large_start(record: Record, starts: Overshoots) -> Settlement:
    """Panel (b): |W_1| decreases; `starts` are the first steps from many others."""
    ways = record.facts["monotone"][FIRST]
    return {
        "evidence": [
            *_run(record),
            fact("steps at which |W_1| does not fall", _steps(record) - ways["falls"], 0),
            bound("|W_1| at the end over its start", growth(record), "<", 1.0, "times"),
            note("other starts whose |W_1| falls at each of the first ten steps, and all tried",
                 (int(starts.fell.sum()), len(starts.fell))),
            note("95 % interval of their share", interval(starts.fell)),
            note("steps at which the loss rises", record.facts["monotone"]["loss"]["rises"]),
            *_others(record, -1),
        ],
        "reading": Reading(
            taken=_TAKEN,
            others="k a variance: descent diverges at once. The product of the layers' norms rises "
            "before it falls. From a few starts in a hundred the first steps throw |W_1| up",
        ),
        "known": computed("a recorded run, all steps at the paper's scale"),
    }  # fmt: skip


def converges(records: Mapping[str, Record]) -> Settlement:
    """That the magnitudes of both panels converge within the printed numbers of steps."""
    evidence: list[Evidence] = []
    for name, record in records.items():
        left, loss = abs(record.share_of_way(0.9)), _loss(record)
        evidence += [
            bound(f"({name}) way of |W_1| in the last tenth of the steps, of its whole way", left,
                  "<=", SHOWN, ""),
            note(f"({name}) loss at the end over the zero function's", f"{loss:.2g}"),
            note(f"({name}) steps", _steps(record)),
        ]  # fmt: skip
    found: Settlement = {"evidence": evidence}
    if all(item.holds for item in evidence if item.decides):
        return found | {"reading": Reading(_TAKEN), "known": computed()}
    return found | {
        "instead": "With k* = 0.22 the magnitudes still move when the steps are used up, and "
        "neither network has learnt the teacher. D.3 does not give k* for this figure; with "
        "another teacher it may come out.",
        "known": computed("a recorded run, all steps at the paper's scale"),
    }


def slower(records: Mapping[str, Record]) -> Settlement:
    """D.2: small norm slows down convergence, in steps and in time, as the magnitude shows it."""
    small, large = records["a"], records["b"]
    steps = [record.run.arrived(0.9) for record in (small, large)]
    rates = [record.run.setting.step for record in (small, large)]
    level = max(record.run.losses[-1] for record in (small, large))
    losses = [record.first_below(level) for record in (small, large)]
    return {
        "evidence": [
            bound("steps until |W_1| has nine tenths of its way behind it: small over large",
                  steps[0] / max(steps[1], 1.0), ">", 1.0, ""),
            bound("times eta T of the same: small over large",
                  steps[0] * rates[0] / (max(steps[1], 1.0) * rates[1]), ">", 1.0, ""),
            note("these steps, (a) and (b)", tuple(round(k) for k in steps)),
            note("steps until the loss is at most (b)'s at the end, (a) and (b)",
                 tuple(round(k) for k in losses)),
            note("times eta T of the same, (a) and (b)",
                 tuple(f"{k * rate:.3g}" for k, rate in zip(losses, rates, strict=True))),
        ],
        "reading": Reading(
            taken=f"{_TAKEN}; the speed is that of the magnitude, which alone Figure 4 shows",
            others="by the loss the two notes decide: the steps until (a) is as low as (b) ends, "
            "against those that (b) takes; in steps the small start may be the faster one",
        ),
        "known": computed("a recorded run, all steps at the paper's scale"),
    }  # fmt: skip


def interval(hits: NDArray) -> str:
    """Wilson's 95 % interval for the share of hits (k,)."""
    low, high = (float(end[0]) for end in wilson([int(hits.sum())], [len(hits)]))
    return f"{low:.2f} to {high:.2f}"


def growth(record: Record) -> float:
    """|W_1| at the end over that at the start."""
    return float(record.run.norms[-1, 0] / record.run.norms[0, 0])


def _steps(record: Record) -> int:
    return int(record.run.setting.n_steps)


def _loss(record: Record) -> float:
    return float(record.run.losses[-1] / record.run.labels)


def _run(record: Record) -> list[Evidence]:
    """What the record is, and that it comes out again from the start and from half-way on."""
    facts, setting = record.facts, record.run.setting
    gap = max(again(record, _AGAIN, half) for half in (False, True))
    return [
        note("plain steps of descent, all recorded in part; data", (setting.n_steps, setting.n)),
        note("minutes of one core", round(facts["cpu_s"] / 60)),
        note("torch, numpy", (facts["versions"]["torch"], facts["versions"]["numpy"])),
        note("seed", facts["seed"]),
        bound(f"{_AGAIN} steps from the start and from half-way again, in double precision: "
              "difference of a norm over its way, at most", gap, "<=", 0.01, ""),
    ]  # fmt: skip


def _others(record: Record, sign: int) -> list[Evidence]:
    """The other magnitudes: how much of their ways goes back."""
    names = [name for name in record.facts["monotone"] if name not in (FIRST, "loss")]
    backs = {name: record.back(name, sign) for name in names}
    return [
        note(f"share of the way back, {name}", f"{back:.2g}" if back >= 1e-4 else "below 0.0001")
        for name, back in backs.items()
    ]
