"""A universally quantified claim: draws of instances, hypotheses as code, and a slack."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial, wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger.inventory import claims_by_id, load_inventories
from reluflow.places import WITNESSES

Instance = Mapping[str, Any]
"""Named arrays, such as X (n, d), y (n,) and w0 (d,)."""

PLANTED = "planted"  # the name under which a witness carries a factor


def planted(instance: Instance) -> float:
    """The factor by which a witness makes one side of an equation wrong; 1 for what is drawn.

    An equation, or an inequality without hypotheses, fails at no instance. Its slack takes one side
    times this factor, so that a witness can show that the check would see it fail.
    """
    return float(instance.get(PLANTED, 1.0))


Draw = Callable[[np.random.Generator], Instance]
Draws = dict[str, Draw]


def extended(draws: Draws, more: Callable[[Instance, np.random.Generator], Instance]) -> Draws:
    """The draws, each instance with the arrays that `more(instance, rng)` adds or replaces."""

    def one(rng: np.random.Generator, base: Draw) -> Instance:
        item = base(rng)
        return {**item, **more(item, rng)}

    return {kind: partial(one, base=base) for kind, base in draws.items()}


@dataclass(frozen=True)
class Statement:
    """For every instance that meets the hypotheses, the slack is at least zero.

    says        the claim in one phrase
    draws       {kind: draw}, each a function of a generator; the kinds are drawn in turn
    slack       a function of the instance: negative where the conclusion fails, NaN if undecided,
                infinite where the conclusion has nothing to say
    hypotheses  {phrase: test}; an instance that fails one is rejected and counted under its phrase
    strict      the slack must exceed zero
    tolerance   rounding: a slack of at most this size counts as zero
    batch       the slack of a sequence of instances at once, shape (k,), where that is faster; of a
                failing or undecided instance `slack` is asked again, and decides
    readable    Hypothesis strategy of small instances, in which a counterexample is sought
    fixed       names of arrays that the search leaves as they are
    derive      puts an instance that was moved or rounded back onto hypotheses that are equations,
                such as y = X w_GM (the names that it computes are best listed in `fixed`)
    steady      whether the least slack of the draws is the same on every CPU, but for its last
                digit: not where rounding decides which of them can be decided
    witness     an instance outside of the statement at which it must fail, where the one in
                `data/witnesses` does not serve (`reluflow.falsify.witness`)
    """

    says: str
    draws: Mapping[str, Draw]
    slack: Callable[[Instance], float]
    hypotheses: Mapping[str, Callable[[Instance], bool]] = field(default_factory=dict)
    strict: bool = False
    tolerance: float = 0.0
    batch: Callable[[Sequence[Instance]], NDArray] | None = None
    readable: Any = None
    fixed: tuple[str, ...] = ()
    derive: Callable[[Instance], Instance] | None = None
    steady: bool = True
    witness: Instance | None = None

    def unmet(self, instance: Instance) -> str | None:
        """The first hypothesis that the instance does not meet, or None."""
        return next((name for name, test in self.hypotheses.items() if not test(instance)), None)

    def fails(self, slack: float) -> bool:
        """Whether a slack contradicts the conclusion; NaN does not."""
        return bool(slack <= self.tolerance if self.strict else slack < -self.tolerance)

    def broken_by(self, instance: Instance) -> bool:
        """Whether the instance meets all hypotheses and contradicts the conclusion."""
        return self.unmet(instance) is None and self.fails(float(self.slack(instance)))

    def slacks(self, instances: Sequence[Instance]) -> NDArray:
        """The slack of every instance, shape (k,)."""
        quick = self.batch(instances) if self.batch and instances else [np.nan] * len(instances)
        pairs = zip(quick, instances, strict=True)
        return np.array(
            [self.slack(i) if np.isnan(v) or self.fails(v) else v for v, i in pairs], float
        )

    def derived(self, instance: Instance) -> Instance:
        """The instance with its dependent arrays computed again."""
        return instance if self.derive is None else self.derive(instance)


def statement(
    says: str,
    draws: Mapping[str, Draw],
    hypotheses: Mapping[str, Callable[..., Any]] | None = None,
    **how: Any,
) -> Callable[[Callable[..., Any]], Callable[[], Statement]]:
    """Makes a Statement of the slack below it; `how` are further fields of Statement.

    The slack and the hypotheses take the arrays of an instance by name, an argument with a default
    where the instance may lack it, or the whole instance as `item`.
    """
    tests = {phrase: _by_name(test, bool) for phrase, test in (hypotheses or {}).items()}

    def of(slack: Callable[..., Any]) -> Callable[[], Statement]:
        made = Statement(says, draws, _by_name(slack, float), tests, **how)
        return wraps(slack)(lambda: made)

    return of


def _by_name(function: Callable[..., Any], kind: type) -> Callable[[Instance], Any]:
    asked = signature(function).parameters
    if tuple(asked) == ("item",):
        return lambda item: kind(function(item))
    needed = {name for name, one in asked.items() if one.default is Parameter.empty}
    return lambda item: kind(function(**{k: item[k] for k in asked if k in needed or k in item}))


# --- The hypotheses of a claim of our own: printed in the inventory, tested by its statements -----


def given(id: str, **tests: Callable[[Instance], bool]) -> dict[str, Callable[[Instance], bool]]:
    """The hypotheses of a statement on a claim of our own: each sentence of its `given` with the
    test of that name.

    Parameters: `id` of the claim; `tests`, one for each name in the claim's `given`.
    Raises ValueError for a claim without `given`, and where the names are others.
    """
    claim = claims_by_id(load_inventories()).get(id)
    if claim is None or not claim.given:
        raise ValueError(f"no claim of our own {id!r} has hypotheses in the inventory")
    if unlike := sorted(claim.given.keys() ^ tests.keys()):
        where = "tested" if unlike[0] in tests else "in the inventory"
        raise ValueError(f"{id}: the hypothesis {unlike[0]!r} is only {where}")
    return {sentence: tests[name] for name, sentence in claim.given.items()}


# --- Witnesses: an instance at which a statement fails, for every statement that stands -----------
#
# A check that cannot fail proves nothing. So a statement has an instance outside its hypotheses, or
# outside of what it is drawn from, at which its slack must be negative; one whose conclusion no
# instance breaks has an instance at which a stronger one would fail. The record has the slack
# there. Each hypothesis has an instance that it must reject. An attempt to falsify ends in an error
# where one of this does not come out.
#
# They stand in `data/witnesses`, one file a paper, by the statement's phrase, and were found by
# `tests/witnesses.py`; some stand in the code.


@dataclass(frozen=True)
class Witness:
    """The instance of a statement; `stands` where only a stronger statement fails there; `rejects`,
    hypothesis -> an instance that does not meet it."""

    at: Instance
    stands: bool = False
    rejects: Mapping[str, Instance] = field(default_factory=dict)


def witness(statement: Statement) -> Witness | None:
    """The witness of a statement, if it has one."""
    if statement.witness is not None:
        return Witness(statement.witness)
    for file in sorted(WITNESSES.glob("*.json")):
        if found := _entries(file.read_bytes()).get(statement.says):
            rejects = {name: decoded(at) for name, at in found.get("rejects", {}).items()}
            return Witness(decoded(found["at"]), "stands" in found, rejects)
    return None


_entries = cache(json.loads)


def slack_at(statement: Statement, known: Witness) -> float:
    """The slack at the witness.

    Raises ValueError where the statement does not fail there though it must, and for a hypothesis
    that is gone or does not reject its instance any more.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a witness may lie where no code expects an instance
        slack = float(statement.slack(known.at))
        if statement.fails(slack) == known.stands:
            breaks = "breaks it" if known.stands else "breaks nothing"
            raise ValueError(
                f"{statement.says}: the slack at its witness is {slack:.3g}, which {breaks}: the "
                "check is another one than that for which the witness was found"
            )
        for name, at in known.rejects.items():
            test = statement.hypotheses.get(name)
            if test is None or test(at):
                wrong = "does not reject the instance that it must" if test else "is gone"
                raise ValueError(f"{statement.says}: the hypothesis {name!r} {wrong}")
    return slack


def encoded(instance: Instance) -> dict[str, Any]:
    """An instance of arrays, numbers and texts as JSON data. Raises TypeError for other values."""
    return {name: _encoded(value) for name, value in instance.items()}


def _encoded(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "ifb":
        return {"array": value.tolist(), "of": value.dtype.kind}
    if isinstance(value, np.generic) and value.dtype.kind in "iufb":
        return value.item()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_encoded(item) for item in value]}
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        parts = {part.name: _encoded(getattr(value, part.name)) for part in fields(value)}
        return {"made": f"{kind.__module__}:{kind.__qualname__}", "of": parts}
    raise TypeError(f"{value!r} is no array, number or text, and not made of those")


def decoded(data: Mapping[str, Any]) -> dict[str, Any]:
    """The instance that `encoded` wrote."""
    return {name: _decoded(value) for name, value in data.items()}


def _decoded(data: Any) -> Any:
    if not isinstance(data, Mapping):
        return data
    if "array" in data:
        return np.array(data["array"], dtype={"i": int, "f": float, "b": bool}[data["of"]])
    if "made" in data:
        module, name = data["made"].split(":")
        return getattr(import_module(module), name)(**decoded(data["of"]))
    return tuple(map(_decoded, data["tuple"]))
