"""What a settled claim may add to its evidence: a reading, or a counterexample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reluflow.ledger.errors import LedgerError
from reluflow.ledger.evidence import Evidence, from_json, pieces, recorded, to_json
from reluflow.ledger.limits import Limit, held
from reluflow.ledger.numbers import as_instance, encoded, printed


@dataclass(frozen=True)
class Reading:
    """How the book reads something that the paper leaves open or misprints.

    `taken` says what was read, `others` what happens under the other readings; both are texts.
    """

    taken: str
    others: str

    def __post_init__(self) -> None:
        for field in ("taken", "others"):
            text = getattr(self, field)
            if not isinstance(text, str) or not text.strip():
                raise LedgerError(f"a reading needs a text {field!r}")

    def to_json(self) -> dict[str, str]:
        """Write the reading as JSON data."""
        return {"taken": self.taken, "others": self.others}


def with_this_seed(failed: Sequence[str]) -> str:
    """What appears instead where a claim on something drawn fails: the part of its evidence that
    did, by name, so that no seed ends in an error."""
    return "with this seed it is otherwise: " + "; ".join(failed)


@dataclass(frozen=True)
class Counterexample:
    """An instance inside the claim's assumptions on which the claim fails, by two routes.

    instance     name -> number, array or text; printed exactly, floats with their shortest digits
    assumptions  name -> whether the instance satisfies it, computed; all must be true. Where there
                 is nothing to compute, a text that says why
    breaks       evidence of what the claim asks of the instance, by route one; must not hold
    recheck      the same asked by a second route that shares no code with the first; must not hold
    route        one sentence that names the second route
    """

    instance: Mapping[str, Any]
    assumptions: Mapping[str, bool | str]
    breaks: tuple[Evidence, ...]
    recheck: tuple[Evidence, ...] = ()
    route: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.instance, Mapping) or not self.instance:
            raise LedgerError("a counterexample needs an instance that a reader can check")
        if not isinstance(self.assumptions, Mapping) or not self.assumptions:
            raise LedgerError("a counterexample needs the assumptions that its instance satisfies")
        if not self.recheck or not isinstance(self.route, str) or not self.route.strip():
            raise LedgerError("a counterexample needs a recheck and the route that it takes")
        instance = {k: as_instance(v, f"instance {k!r}") for k, v in self.instance.items()}
        assumptions: dict[str, bool | str] = {}
        for name, met in self.assumptions.items():
            if isinstance(met, str) and met.strip():
                assumptions[name] = met
                continue
            met = met.item() if hasattr(met, "item") else met
            if not isinstance(met, bool):
                raise LedgerError(
                    f"assumption {name!r} must be true or false, or a text that says why there is "
                    f"nothing to compute, not {met!r}"
                )
            if not met:
                raise LedgerError(f"the instance does not satisfy assumption {name!r}")
            assumptions[name] = met
        # Copies, so that the counterexample cannot change after it was checked.
        object.__setattr__(self, "instance", instance)
        object.__setattr__(self, "assumptions", assumptions)
        object.__setattr__(self, "breaks", pieces(self.breaks, "breaks of a counterexample"))
        object.__setattr__(self, "recheck", pieces(self.recheck, "recheck of a counterexample"))

    def held(self, limits: Mapping[str, Limit] | None, id: str) -> Counterexample:
        """Hold its evidence against the limits of the claim `id`."""
        breaks, recheck = (held(items, limits, id) for items in (self.breaks, self.recheck))
        return replace(self, breaks=breaks, recheck=recheck)

    def recorded(self) -> Counterexample:
        """Round the evidence for the record; the instance stays exact."""
        breaks, recheck = (tuple(map(recorded, items)) for items in (self.breaks, self.recheck))
        return replace(self, breaks=breaks, recheck=recheck)

    def check(self) -> None:
        """Raise `LedgerError` unless the claim fails by both routes, and the routes are two."""
        for route, items in (("breaks", self.breaks), ("recheck", self.recheck)):
            _must_fail(route, items)
        named = {item.what for item in self.breaks if item.decides}
        for item in self.recheck:
            if item.decides and item.what in named:
                raise LedgerError(f"breaks and recheck both measure {item.what!r}: name the route")

    def to_json(self) -> dict[str, Any]:
        """Write the counterexample as JSON data."""
        return {
            # Lists, because a notebook's file sorts the keys of a mapping.
            "instance": [{"name": k, "value": encoded(v)} for k, v in self.instance.items()],
            "assumptions": [
                {"name": k, "met": True} | ({"why": met} if isinstance(met, str) else {})
                for k, met in self.assumptions.items()
            ],
            "breaks": [to_json(item, "breaks") for item in self.breaks],
            "recheck": [to_json(item, "recheck") for item in self.recheck],
            "route": self.route,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Counterexample:
        """Read a counterexample back from JSON data."""
        breaks, recheck = (tuple(map(from_json, data[key])) for key in ("breaks", "recheck"))
        instance = {item["name"]: item["value"] for item in data["instance"]}
        assumptions = {i["name"]: i.get("why", i["met"]) for i in data["assumptions"]}
        return cls(instance, assumptions, breaks, recheck, data["route"])

    def met(self) -> list[str]:
        """The assumptions, each with why there was nothing to compute where there was not."""
        given = self.assumptions.items()
        return [f"{k} ({met})" if isinstance(met, str) else k for k, met in given]

    def lines(self) -> list[str]:
        """Print the instance, one `name = value` a line."""
        return [f"{name} = {printed(value)}" for name, value in self.instance.items()]


def _must_fail(route: str, items: tuple[Evidence, ...]) -> None:
    deciding = [item for item in items if item.decides]
    if not deciding:
        raise LedgerError(f"{route} of a counterexample needs evidence that is not a note")
    for item in deciding:
        if item.is_nan:
            raise LedgerError(f"{route} of a counterexample was not measured: {item.what!r} is NaN")
        if item.holds:
            raise LedgerError(f"the counterexample breaks nothing: {item.what!r} holds in {route}")
