"""A planted input for each claim of the paper that is settled without a Statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import sympy
from numpy.typing import NDArray
from reluflow.ledger import Evidence
from reluflow.ledger.inventory import Claim, claims_by_id, held, load_inventories
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC
from reluflow.papers.min2024early import (
    alignment,
    cones,
    convergence,
    inclusions,
    lemmas,
    mnist,
    own_data,
    theorem_1,
    toys,
    trajectories,
)

Faults = Iterator[tuple[str, Sequence[Evidence]]]
"""How the evidence that must fail begins, and the evidence of an input in which it is wrong."""


@cache
def claims() -> Mapping[str, Claim]:
    return claims_by_id(load_inventories())


def each_is_seen(id: str, faults: Callable[[], Faults]) -> list[Evidence]:
    """What fails, of each of the faults; AssertionError for one that is not seen."""
    limits, seen = claims()[id].limits, list[Evidence]()
    for k, (what, evidence) in enumerate(faults()):
        judged = [item for item in held(tuple(evidence), limits, id) if item.what.startswith(what)]
        failed = [item for item in judged if item.decides and not item.holds]
        assert failed, f"{id}: fault {k}, that of {what!r}, is not seen: {judged}"
        seen += failed
    return seen


def put(values: NDArray, where: Any, value: Any) -> NDArray:
    """A copy with other values there."""
    changed = np.array(values)
    changed[where] = value
    return changed


def put_row(found: pd.DataFrame, row: int, **cells: Any) -> pd.DataFrame:
    """A copy with other cells in one row."""
    changed = found.astype(dict.fromkeys(cells, object))
    for name, value in cells.items():
        changed.iloc[row, changed.columns.get_loc(name)] = value
    return changed.infer_objects()


def at_call(function: Callable, number: int, change: Callable[[Any], Any]) -> Callable:
    """The same function, but for the result of one of its calls."""
    calls = iter(range(10**9))

    def called(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        return change(result) if next(calls) == number else result

    return called


# --- Records of the MNIST figures -----------------------------------------------------------------


@cache
def records() -> dict[str, mnist.Record]:
    return {name: mnist.load(name) for name in mnist.FIGURES}


def curves(name: str, **changed: NDArray) -> mnist.Record:
    """A record with other curves."""
    return replace(records()[name], curves=replace(records()[name].curves, **changed))


def data(name: str, **changed: Any) -> dict[str, mnist.Record]:
    """All records, one of them with other facts of its data."""
    kept = records()[name]
    facts = kept.facts | {"data": kept.facts["data"] | changed}
    return records() | {name: replace(kept, facts=facts)}


def likeness(name: str, side: str, digit: int) -> mnist.Record:
    """A record in which another digit's mean is a little nearer to a mean neuron."""
    kept = records()[name]
    cosines = kept.facts["cosines"]
    nearer = put(cosines[side], digit, max(cosines[side]) + 1e-6).tolist()
    return replace(kept, facts=kept.facts | {"cosines": cosines | {side: nearer}})


def right_signs() -> Faults:
    shares = records()["figure-5"].facts["data"]["shares"]
    right = round(0.8995 * (shares["equal"] + shares["different"])) - shares["different_right"]
    yield (
        "share of all",
        mnist.right_signs(data("figure-5", shares=shares | {"equal_right": right})),
    )


def centring() -> Faults:
    for name, digits in (
        ("figure-5", "1 and 0"),
        ("figure-10", "3 and 8"),
        ("figure-11", "1 and 7"),
    ):
        yield f"{digits}: least product", mnist.centring(data(name, least_before=-1))


def antipodal() -> Faults:
    for name, digits, most in (
        ("figure-5", "1 and 0", 1.1), ("figure-10", "3 and 8", 2.0), ("figure-11", "1 and 7", 2.0),
    ):  # fmt: skip
        yield f"{digits}: n (x₊", mnist.antipodal(data(name, left_over=1))
        wide = put(records()[name].curves.stable_rank, -1, most)
        yield (
            f"{digits}: stable rank",
            mnist.antipodal(records() | {name: curves(name, stable_rank=wide)}),
        )


def begins_and_drops(name: str, judge: Callable[..., Sequence[Evidence]]) -> Faults:
    """One neuron that is not orthogonal at the start; a mean neuron that stays as well aligned."""
    kept = records()[name].curves
    for side in ("plus", "minus"):
        seen = getattr(kept, side)
        sign = "x₊" if side == "plus" else "x₋"
        for column, cosine in ((1, -0.201), (2, 0.201)):
            turned = curves(name, **{side: put(seen, (0, column), cosine)})
            yield "largest cosine", judge(turned, [])
        kept_up = put(seen, (-1, 0), seen[:, 0].max() - 0.0099)
        yield (
            f"drop of the mean neuron's cosine to {sign}",
            judge(curves(name, **{side: kept_up}), []),
        )


def grows(name: str, judge: Callable[[mnist.Record], Sequence[Evidence]]) -> Faults:
    """A norm that ends where it began to grow; a loss, or a norm, that turns once."""
    kept = records()[name].curves
    begun = kept.spectral[kept.step <= kept.fallen(0.1)][-1]
    yield "‖W‖₂² at the end", judge(curves(name, spectral=put(kept.spectral, -1, begun)))
    for curve in ("loss", "spectral"):
        values = getattr(kept, curve)
        turned = curves(name, **{curve: put(values, -100, values[-101])})
        yield "both the loss and", judge(turned)


def aligns() -> Faults:
    name, kept = "figure-5", records()["figure-5"].curves
    judge = partial(mnist.aligns, starts=[{"aligned": 2000.0, "falls": 3000.0}])
    yield from begins_and_drops(name, lambda record, _: judge(record))
    soon, late = kept.step >= 1450, kept.step < 2550
    both = {side: put(getattr(kept, side), (soon, 1), 0.95) for side in ("plus", "minus")}
    yield "first step at which all", judge(curves(name, **both))
    for side in both:
        seen = getattr(kept, side)
        slow = np.where(late[:, None], np.minimum(seen, 0.89), seen)
        yield "the same", judge(curves(name, **{side: slow}))
    fallen = put(kept.loss, kept.step == kept.aligned(0.9), 0.9 * kept.loss[0])
    yield "all are aligned before", judge(curves(name, loss=fallen))


def falls() -> Faults:
    name, kept = "figure-5", records()["figure-5"].curves
    early = put(kept.loss, kept.step >= 2450, np.minimum(kept.loss, 0.9)[kept.step >= 2450])
    yield "first step at which a tenth", mnist.falls(curves(name, loss=early))
    late = put(kept.loss, kept.step < 3550, 1.0)
    yield "the same", mnist.falls(curves(name, loss=late))
    yield from grows(name, mnist.falls)
    wide = put(kept.stable_rank, -1, 1.11)
    yield "stable rank", mnist.falls(curves(name, stable_rank=wide))


def looks(name: str, judge: Callable[[mnist.Record], Sequence[Evidence]]) -> Faults:
    for side, sign, digit in (("w_plus", "w₊", 9), ("w_minus", "w₋", 2)):
        yield f"of all ten digits' means the nearest to {sign}", judge(likeness(name, side, digit))


def alike(name: str) -> Faults:
    kept, judge = records()[name].curves, partial(mnist.alike, starts=[])
    yield from begins_and_drops(name, mnist.alike)
    yield from grows(name, judge)
    yield from looks(name, judge)
    for side in ("plus", "minus"):
        seen, late = getattr(kept, side), kept.step < kept.fallen(0.1)
        slow = np.where(late[:, None], np.minimum(seen, 0.89), seen)
        raised = put(slow, (~late, 1), np.maximum(slow[~late, 1], 0.9))
        yield "first step at which all", judge(curves(name, **{side: raised}))
    wide = put(kept.stable_rank, -1, 2.0)
    yield "stable rank", judge(curves(name, stable_rank=wide))


def two_phases() -> Faults:
    both = mnist.load_phases("figure-12")
    early = both.epoch < 300
    loud = np.where(early, both.norms.max(), both.norms)
    yield "epochs at which only", mnist.two_phases(replace(both, norms=loud))
    loudest = both.directions[1:].max()
    slow = put(np.where(early, 0.099 * loudest, both.directions), 477, loudest)
    yield "epochs at which only", mnist.two_phases(replace(both, directions=slow))
    at_once = put(loud, 0, 0.0)  # the start is the end of no epoch
    yield "epochs at which only", mnist.two_phases(replace(both, norms=at_once))
    quiet = put(both.loss, 290, 0.899 * both.loss[0])
    yield "the loss over its start", mnist.two_phases(replace(both, loss=quiet))
    peak = put(both.norms, 291, 1.01 * both.norms.max())
    turns = put(both.directions, 292, loudest)
    turned = replace(both, norms=put(peak, 292, 0.0), directions=turns)
    yield "epoch of the largest", mnist.two_phases(turned)
    yield (
        "sum of |wⱼ|²",
        mnist.two_phases(replace(both, squares=put(both.squares, -1, both.squares[0]))),
    )
    yield "loss at the end", mnist.two_phases(replace(both, loss=put(both.loss, -1, 0.101)))


def one_phase() -> Faults:
    first = mnist.load_phases("figure-13")
    norms = put(first.norms, 700, -0.0099 * np.abs(first.norms[1:]).max())
    turns = put(first.directions, 700, 0.101 * first.directions[1:].max())
    yield "epochs at whose end", mnist.one_phase(replace(first, norms=norms, directions=turns))
    yield "loss at the end", mnist.one_phase(replace(first, loss=put(first.loss, -1, 0.101)))


FAULTS: Mapping[str, Callable[[], Faults]] = {
    "ea.asm1.mnist": right_signs,
    "ea.asm1.centre": centring,
    "ea.fig5.align": aligns,
    "ea.fig5.loss": falls,
    "ea.fig5.antipodal": antipodal,
    "ea.fig5.vis": partial(looks, "figure-5", mnist.image_figures_visible),
    "ea.fig10": partial(alike, "figure-10"),
    "ea.fig11": partial(alike, "figure-11"),
    "ea.fig12": two_phases,
    "ea.fig13": one_phase,
}
PLANTED: dict[str, Callable[[], Iterable[Evidence]]] = {
    id: partial(each_is_seen, id, faults) for id, faults in FAULTS.items()
}
