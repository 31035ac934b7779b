"""A settled claim, its record in a notebook, and the object that settles claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from reluflow.ledger.argument import Counterexample, Reading
from reluflow.ledger.display import INSTANCE, RECORD, Parts, card, text
from reluflow.ledger.errors import LedgerError
from reluflow.ledger.evidence import (
    Evidence,
    from_json,
    note,
    pieces,
    recorded,
    sentence,
    to_json,
)
from reluflow.ledger.inventory import Claim, claims_by_id, load_inventories
from reluflow.ledger.known import COMPUTED, COUNTEREXAMPLE, SAID, Known, survival
from reluflow.ledger.limits import held
from reluflow.ledger.verdict import NOT_APPLICABLE, OUT_OF_REACH, judge


@dataclass(frozen=True)
class Row:
    """One settled claim; a notebook shows it as a card and stores its record.

    `evidence` is what decided, `instead` what appeared instead, `why` the reason of a verdict that
    needs no evidence; `said` is how the claim is known, where that is more than its evidence tells;
    `chapter` and `cell` are known once the row was read from a notebook.
    """

    claim: Claim
    verdict: str
    evidence: tuple[Evidence, ...] = ()
    reading: Reading | None = None
    counterexample: Counterexample | None = None
    instead: tuple[Evidence, ...] = ()
    why: str | None = None
    said: Known | None = None
    chapter: str = ""
    cell: str = ""

    @property
    def all_evidence(self) -> tuple[Evidence, ...]:
        """The evidence, what appeared instead, and the counterexample's by both routes."""
        case = self.counterexample
        return self.evidence + self.instead + (case.breaks + case.recheck if case else ())

    @property
    def known(self) -> tuple[Known, ...]:
        """How the claim is known, the strongest way first; nothing for a row without evidence."""
        if self.why:
            return ()
        if self.counterexample is not None:
            return (Known(COUNTEREXAMPLE, self.counterexample.route),)
        ways = tuple(way for way in (self.said, survival(self.evidence)) if way)
        return ways or (Known(COMPUTED),)

    def record(self) -> dict[str, Any]:
        """Write the row as JSON data; what appeared instead, and why, stand among the evidence."""
        evidence = [to_json(item, "measured") for item in self.evidence]
        evidence += [to_json(item, "instead") for item in self.instead]
        evidence += [to_json(note("why", self.why), "why")] if self.why else []
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "at": self.claim.at,
            "kind": self.claim.kind,
            "verdict": self.verdict,
            "known": [way.to_json() for way in self.known],
            "evidence": evidence,
            "reading": self.reading and self.reading.to_json(),
            "counterexample": self.counterexample and self.counterexample.to_json(),
        }

    @property
    def parts(self) -> Parts:
        """Title and lines of each part of the row, in reading order; the first has no title."""
        parts = [("", [_marked(item) for item in self.evidence])] if self.evidence else []
        if self.known:
            parts.append(("how it is known", [str(way) for way in self.known]))
        if self.why:
            parts.append(("why", [self.why]))
        if self.reading:
            parts.append(("reading", [self.reading.taken]))
            parts.append(("under other readings", [self.reading.others]))
        if self.instead:
            parts.append(("what appeared instead", [_instead(item) for item in self.instead]))
        if case := self.counterexample:
            parts.append((INSTANCE, case.lines()))
            parts.append(("inside the assumptions", [f"✓ {name}" for name in case.met()]))
            parts.append(("the claim fails there", [_marked(item) for item in case.breaks]))
            parts.append((f"second route: {case.route}", [_marked(item) for item in case.recheck]))
        return parts

    def __str__(self) -> str:
        return text(self.claim, self.verdict, self.parts)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The three forms in which a notebook stores a row."""
        html = card(self.claim, self.verdict, self.parts)
        return {"text/plain": str(self), "text/html": html, RECORD: self.record()}


def _marked(item: Evidence) -> str:
    if not item.decides:
        return f"· {sentence(item)}"
    return f"{'✓' if item.holds else '✗'} {sentence(item)}"


def _instead(item: Evidence) -> str:
    told = item.form == "note" and item.what == "appeared instead"
    return str(item.value) if told else _marked(item)


def row_from_record(record: Mapping[str, Any], claims: Mapping[str, Claim]) -> Row:
    """Read a row back from its record, and reach its verdict again from its evidence.

    Parameters: `record`, as `Row.record` writes it; `claims`, the inventory by id.
    Raises `LedgerError` when the id is unknown or the verdict does not follow from the evidence.
    """
    claim = claims.get(str(record.get("id")))
    if claim is None:
        raise LedgerError(f"row {record.get('id')!r} is in no inventory")
    try:
        row = _decode(record, claim)
    except (KeyError, TypeError, AttributeError) as error:
        raise LedgerError(f"the row of {claim.id} cannot be read: {error!r}") from None
    if row.why is None:
        verdict = judge(claim, row.evidence, row.reading, row.counterexample, row.instead, row.said)
        if verdict != row.verdict:
            raise LedgerError(
                f"the row of {claim.id} says {row.verdict!r}, and its evidence says {verdict!r}"
            )
    elif row.verdict not in (OUT_OF_REACH, NOT_APPLICABLE):
        raise LedgerError(f"the row of {claim.id} says {row.verdict!r} and gives no evidence")
    elif row != _without_evidence(claim, row.verdict, row.why):
        raise LedgerError(f"the row of {claim.id} says {row.verdict!r} and gives evidence")
    if row.record()["known"] != record["known"]:
        raise LedgerError(f"the row of {claim.id} is not known in the way that it says")
    return row


def _decode(record: Mapping[str, Any], claim: Claim) -> Row:
    by_role: dict[str, list[Evidence]] = {"measured": [], "instead": [], "why": []}
    for item in record["evidence"]:
        by_role[item["role"]].append(from_json(item))
    reading, counterexample = record["reading"], record["counterexample"]
    said = [Known(**way) for way in record["known"] if way["how"] in SAID and way["text"]]
    return Row(
        claim,
        record["verdict"],
        tuple(by_role["measured"]),
        reading and Reading(**reading),
        counterexample and Counterexample.from_json(counterexample),
        tuple(by_role["instead"]),
        by_role["why"][0].value if by_role["why"] else None,
        said[0] if said else None,
    )


@dataclass(frozen=True, repr=False)
class Ledger:
    """The claims of one paper, and our own ones about it, while a chapter settles them.

    `seed` is that of the chapter's attempts to falsify them.
    """

    paper: str
    claims: Mapping[str, Claim]
    seed: int = 0
    settled: dict[str, Row] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ledger of {self.paper}: {len(self.settled)} of {len(self.claims)} claims settled>"

    def settle(
        self,
        id: str,
        evidence: Sequence[Evidence],
        reading: Reading | None = None,
        counterexample: Counterexample | None = None,
        instead: str | Sequence[Evidence] | Callable[[Sequence[str]], str] | None = None,
        known: Known | None = None,
    ) -> Row:
        """Settle one claim; the verdict is computed from the evidence (`reluflow.ledger.verdict`).

        Parameters: `id` of the claim; `evidence`, a list of `deviation`, `fact`, `bound`, `note`,
        held against the limits that the inventory has for the claim; `reading` of what the paper
        leaves open; `counterexample` when the claim is false; `instead`, what appeared in place of
        the claim (a text, evidence, or a function that makes the text of the names of what failed,
        called only then), when something other than a theorem did not come out; `known`, made by
        `proved`, `cited`, `exhausted`, `exact` or `computed`, where the claim is known by more than
        its instances (a refuted claim is known by its counterexample).
        Returns the `Row`, which a notebook shows. Raises `LedgerError` for an unknown id, a claim
        settled before, a limit other than the inventory's, and evidence that decides nothing.
        """
        claim = self._open_claim(id)
        measured = held(pieces(evidence, "evidence"), claim.limits, id)
        if callable(instead):
            failed = [item.what for item in measured if item.decides and not item.holds]
            instead = instead(failed) if failed else None
        if isinstance(instead, str):
            instead = [note("appeared instead", instead)] if instead.strip() else ()
        appeared = pieces(instead or (), "instead")
        given = ((reading, Reading), (counterexample, Counterexample), (known, Known))
        for value, kind in given:
            if value is not None and not isinstance(value, kind):
                raise LedgerError(f"{id}: {value!r} is no {kind.__name__}")
        appeared = held(appeared, claim.limits, id)
        counterexample = counterexample and counterexample.held(claim.limits, id)
        if claim.given is None:  # a paper's hypotheses stand in its sentence
            measured = tuple(replace(item, given=()) for item in measured)
        verdict = judge(claim, measured, reading, counterexample, appeared, known)
        if known is not None and (known.how not in SAID or counterexample is not None):
            raise LedgerError(f"{id}: that it is known as {known.how!r} cannot be said here")
        case = counterexample and counterexample.recorded()
        told = (tuple(map(recorded, measured)), reading, case, tuple(map(recorded, appeared)))
        return self._add(Row(claim, verdict, *told, said=known))

    def settle_with(
        self, id: str, run: object | None, build: Callable[..., Any], *more: object, **how: Any
    ) -> Row:
        """Settle a claim about a paper's own experiment with what `build(run, *more)` measured.

        `build` returns the evidence, or with it other arguments of `settle`; the rest of them are
        `how`. `run` is None where a reader's parameters put something else in the experiment's
        place, and then the claim is not applicable.
        """
        if run is None:
            return self.not_applicable(id, "this run has other data or settings than the paper's")
        found = build(run, *more)
        found = found if isinstance(found, Mapping) else {"evidence": found}
        return self.settle(id, **found, **how)

    def out_of_reach(self, id: str, why: str) -> Row:
        """Say that no computation settles the claim, and why."""
        return self._add(_without_evidence(self._open_claim(id), OUT_OF_REACH, why))

    def not_applicable(self, id: str, why: str) -> Row:
        """Say why the claim does not speak of the data at hand, a reader's own."""
        return self._add(_without_evidence(self._open_claim(id), NOT_APPLICABLE, why))

    def _open_claim(self, id: str) -> Claim:
        if str(id) not in self.claims:
            close = get_close_matches(str(id), self.claims, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise LedgerError(f"no claim {id!r} in the inventory of {self.paper}{hint}")
        if id in self.settled:
            raise LedgerError(f"claim {id} is settled already, and a claim is settled once")
        return self.claims[id]

    def _add(self, row: Row) -> Row:
        self.settled[row.claim.id] = row
        return row


def _without_evidence(claim: Claim, verdict: str, why: str) -> Row:
    if not isinstance(why, str) or not why.strip():
        raise LedgerError(f"{claim.id}: {verdict} needs a text that says why")
    return Row(claim, verdict, why=why)


def open_ledger(paper: str, seed: int = 0) -> Ledger:
    """Open the ledger of one paper; a name that `data/claims` does not have is a `LedgerError`."""
    inventories = load_inventories()
    chosen = [inventory for inventory in inventories if inventory.paper == paper]
    if not chosen:
        known = ", ".join(i.paper for i in inventories if not i.ours)
        raise LedgerError(f"no paper {paper!r} in the inventory, which has {known}")
    return Ledger(paper, claims_by_id(chosen), seed)
