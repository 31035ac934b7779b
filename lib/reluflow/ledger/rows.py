"""A settled claim, its record in a notebook, and the object that settles claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from html import escape
from typing import Any

from reluflow.ledger.evidence import (
    FINITE,
    Evidence,
    LedgerError,
    Line,
    encoded,
    from_json,
    is_small,
    is_text,
    need,
    note,
    pieces,
    plain,
    recorded,
    sentence,
    to_json,
    told,
    vector,
)
from reluflow.ledger.inventory import Claim, claims_by_id, held, load_inventories

# --- How the book knows what it says: a proof, a computation, or draws ----------------------------
#
# `proved`, `cited`, `exact` and `computed` are said by whoever settles the claim. That it fell to a
# counterexample, or survived so many instances, follows from the evidence and cannot be said.

PROVED_HERE = "proved here"
CITED = "proved with a cited theorem"
EXACT = "exact computation"
COMPUTED = "computed"
SURVIVED = "survived"
COUNTEREXAMPLE = "counterexample"
SAID = (PROVED_HERE, CITED, EXACT, COMPUTED)
WAYS = (*SAID, SURVIVED, COUNTEREXAMPLE)


@dataclass(frozen=True)
class Known:
    """How a claim is known (`how`, one of `WAYS`), and in words where or by what (`text`)."""

    how: str
    text: str = ""

    def __post_init__(self) -> None:
        known = self.how in WAYS
        need(known, f"a claim is known as one of {', '.join(WAYS)}, not {self.how!r}")
        said = is_text(self.text) or (self.text == "" and self.how not in SAID[:-1])
        need(said, f"{self.how!r} needs a text that says where or by what")

    def __str__(self) -> str:
        return f"{self.how}: {self.text}" if self.text else self.how


def proved(where: str) -> Known:
    """The book proves the claim; `where` names the place of the argument."""
    return Known(PROVED_HERE, where)


def cited(where: str, theorem: str) -> Known:
    """The book proves the claim at the place `where`, with a `theorem` that it cites."""
    need(is_text(theorem), "a proof with a cited theorem names the theorem")
    return Known(CITED, f"{where}, with {theorem}")


def exact(how: str) -> Known:
    """Decided without rounding; `how` names the arithmetic or the algorithm."""
    return Known(EXACT, how)


def computed(what: str) -> Known:
    """Computed in floating point; `what` says what, and how accurately."""
    return Known(COMPUTED, what)


# --- What a settled claim may add to its evidence: a reading, or a counterexample -----------------


@dataclass(frozen=True)
class Reading:
    """How the book reads something that the paper leaves open or misprints.

    `taken` says what was read, `others` what happens under the other readings; both are texts.
    """

    taken: str
    others: str

    def __post_init__(self) -> None:
        both = is_text(self.taken) and is_text(self.others)
        need(both, "a reading says what was taken, and what happens under the others")


def with_this_seed(failed: Sequence[str]) -> str:
    """What appears instead where a claim on something drawn fails: the part of its evidence that
    did, by name, so that no seed ends in an error on which some instance could tell."""
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
        shown = isinstance(self.instance, Mapping) and self.instance
        need(shown, "a counterexample needs an instance that a reader can check")
        inside = isinstance(self.assumptions, Mapping) and self.assumptions
        need(inside, "a counterexample needs the assumptions that its instance satisfies")
        second = self.recheck and is_text(self.route)
        need(second, "a counterexample needs a recheck and the route that it takes")
        instance = {k: plain(v, f"instance {k!r}", FINITE) for k, v in self.instance.items()}
        assumptions: dict[str, bool | str] = {}
        for name, met in self.assumptions.items():
            met = met.item() if hasattr(met, "item") else met
            said = f"assumption {name!r} must be true or false, or a text that says why there is "
            need(isinstance(met, (bool, str)), f"{said}nothing to compute, not {met!r}")
            holds = met is True or is_text(met)
            need(holds, f"the instance does not satisfy assumption {name!r}")
            assumptions[name] = met
        # Copies, so that the counterexample cannot change after it was checked.
        object.__setattr__(self, "instance", instance)
        object.__setattr__(self, "assumptions", assumptions)
        for name in ("breaks", "recheck"):
            listed = pieces(getattr(self, name), f"{name} of a counterexample")
            object.__setattr__(self, name, listed)

    def check(self) -> None:
        """Raise `LedgerError` unless the claim fails by both routes, and the routes are two."""
        for route, items in (("breaks", self.breaks), ("recheck", self.recheck)):
            deciding = [item for item in items if item.decides]
            need(deciding, f"{route} of a counterexample needs evidence that is not a note")
            for item in deciding:
                what = f"{route} of a counterexample: {item.what!r}"
                need(item.value == item.value, f"{what} was not measured, it is NaN")
                need(not item.holds, f"{what} holds, so it breaks nothing")
        first, second = (
            {i.what for i in items if i.decides} for items in (self.breaks, self.recheck)
        )
        for what in first & second:
            raise LedgerError(f"breaks and recheck both measure {what!r}: name the route")

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


# --- The rule that turns evidence into a verdict; there is no other way to get one ----------------

REPRODUCED = "reproduced"
WITH_READING = "reproduced-with-reading"
REFUTED = "refuted"
NOT_REPRODUCED = "not-reproduced"
NOT_APPLICABLE = "not-applicable"
# Those of a claim of our own, beside `refuted`.
PROVED = "proved"
PROVED_WITH_CITATION = "proved-with-citation"
OPEN = "open"
# White text on each of these has a contrast of at least 4.5.
COLOURS = {
    REPRODUCED: "#1a7f37",
    WITH_READING: "#0b6e80",
    PROVED: "#1f3f8f",
    PROVED_WITH_CITATION: "#0a62c4",
    SURVIVED: "#8a3ffc",
    REFUTED: "#b42318",
    NOT_REPRODUCED: "#8f5200",
    NOT_APPLICABLE: "#57606a",
    OPEN: "#6b5b95",
}
VERDICTS = tuple(COLOURS)[:-1]


def judge(row: Row) -> str:
    """Compute the verdict on a claim from the other parts of its row.

    All the evidence holds: `reproduced`, or `reproduced-with-reading` under a reading. Some of it
    fails: a counterexample makes it `refuted`; for anything but a theorem, `instead` makes it
    `not-reproduced`. A claim of our own is `proved`, `proved-with-citation` or `survived` where all
    the evidence holds, and the instances that were tried met its own hypotheses and no others. A
    row that says `why` is not applicable, and has no evidence.

    Returns one of `VERDICTS`. Raises `LedgerError` for everything else.
    """
    claim, case, instead = row.claim, row.counterexample, row.instead

    def asked(truth: object, otherwise: str) -> None:
        need(truth, f"{claim.id}: {otherwise}")

    if row.why is not None:
        asked(is_text(row.why), f"{row.verdict} needs a text that says why")
        asked(row.verdict == NOT_APPLICABLE, f"{row.verdict} needs evidence")
        asked(row == Row(claim, row.verdict, why=row.why), f"{row.verdict} takes no evidence")
        return row.verdict
    if case is not None:
        case.check()
    deciding = [item for item in row.evidence if item.decides]
    asked(deciding, "notes decide nothing, so give a deviation, fact or bound")
    failed = [item for item in deciding if not item.holds]
    if not failed:
        asked(case is None, "a counterexample was given, but all the evidence holds")
        asked(not instead, "'instead' was given, but all the evidence holds")
        if claim.given is not None:
            return _of_our_own(row, set(claim.given.values()))
        return REPRODUCED if row.reading is None else WITH_READING
    untold = all(item.tried == 0 for item in failed)
    asked(not untold, f"no instance could tell ({sentence(failed[0])}), so nothing is settled")
    if case is not None:
        asked(not instead, "give a counterexample or 'instead', not both")
        return REFUTED
    first = f"evidence fails ({sentence(failed[0])}), so"
    asked(claim.kind != "theorem", f"{first} give a counterexample")
    asked(instead, f"{first} say what appeared 'instead'")
    for item in (item for item in instead if item.decides):
        asked(item.holds, f"{item.what!r} did not appear instead: it does not hold")
    return NOT_REPRODUCED


def _of_our_own(row: Row, printed: set[str]) -> str:
    id, how = row.claim.id, row.said.how if row.said else ""
    need(row.reading is None, f"{id}: a claim of our own says what it means, without a reading")
    for item in (item for item in row.evidence if item.decides and item.tried):
        for hypothesis in sorted(printed.symmetric_difference(item.given)):
            named = "does not test" if hypothesis in printed else "tests"
            raise LedgerError(
                f"{id}: {item.what!r} {named} the hypothesis {hypothesis!r}; "
                "the claim's 'given' and its statement's hypotheses must be the same"
            )
    if how in (PROVED_HERE, CITED):
        return PROVED if how == PROVED_HERE else PROVED_WITH_CITATION
    need(row.tried and not how, f"{id}: a claim of our own is proved, or survives instances")
    return SURVIVED


# --- How a settled claim looks: a card for a reader, lines for a terminal, a record ---------------
#
# Card and lines follow from the record, so that a row read back from a notebook can be compared
# with what the notebook shows.

Parts = list[tuple[str, list[Line]]]
"""Title and lines of each part of a card, in reading order; a part may have no title."""

RECORD = "application/vnd.reluflow.claim+json"
# Themes colour code and links for their own background, which need not be that of a cell's output.
PLAIN = "color:inherit;background:none"


def badge(verdict: str) -> str:
    """The verdict as a coloured word."""
    return (
        f'<span style="background:{COLOURS[verdict]};color:#fff;border-radius:.6em;'
        f'padding:.05em .55em;display:inline-block">{escape(verdict)}</span>'
    )


def mathematics(words: str) -> str:
    """Words as HTML, with what stands between dollars set as a formula by the page's MathJax."""
    formula = r'<span class="math notranslate nohighlight">\(\1\)</span>'
    return re.sub(r"\$([^$]+)\$", formula, escape(words, quote=False))


@dataclass(frozen=True)
class Row:
    """One settled claim; a notebook shows it as a card and stores its record.

    `evidence` is what decided, `instead` what appeared instead, `why` why the claim is not
    applicable; `said` is how it is known, where that is more than its evidence tells; `chapter` and
    `cell` are known once the row was read from a notebook.
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
    def tried(self) -> list[int]:
        """On how many instances each statement of the evidence was tried."""
        return [item.tried for item in self.evidence if item.tried]

    @property
    def known(self) -> tuple[Known, ...]:
        """How the claim is known, the strongest way first; nothing for a row without evidence. Of
        several statements that it survived the one tried on the fewest instances counts."""
        if self.why:
            return ()
        if self.counterexample is not None:
            return (Known(COUNTEREXAMPLE, self.counterexample.route),)
        ways: tuple[Known, ...] = (self.said,) if self.said else ()
        if tried := self.tried:
            many = f"{min(tried)} instance{'s' * (min(tried) > 1)}"
            several = f" or more, of each of {len(tried)} statements" * (len(tried) > 1)
            ways += (Known(SURVIVED, many + several),)
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
            "known": [asdict(way) for way in self.known],
            "evidence": evidence,
            "reading": self.reading and asdict(self.reading),
            "counterexample": self.counterexample and self.counterexample.to_json(),
        }

    @property
    def parts(self) -> Parts:
        """Title and lines of each part of the row, in reading order; the first has no title."""
        case, reading = self.counterexample, self.reading
        parts = [("", told(self.evidence)), ("Why", _said(self.why))]
        if reading:
            parts += [("Read as", _said(reading.taken))]
            parts += [("Under other readings", _said(reading.others))]
        parts.append(("What appeared instead", told(self.instead)))
        if case:
            parts += [
                (
                    "Counterexample",
                    _said(*(f"{k} = {vector(v)}" for k, v in case.instance.items())),
                ),
                ("Inside the assumptions", [Line("✓", name) for name in case.met()]),
                ("The claim fails there", told(case.breaks)),
                (f"By a second route, {case.route}", told(case.recheck)),
            ]
        else:
            parts.append(("How it is known", _said(*map(str, self.known))))
        drawn = dict.fromkeys(sentence(item) for item in self.all_evidence if is_small(item))
        parts.append(("How instances were drawn", _said("; ".join(drawn))))
        return [(title, lines) for title, lines in parts if lines]

    def __str__(self) -> str:
        lines = [f"{self.claim.id} | {self.claim.at} | {self.verdict}"]
        lines += [f"  given: {sentence}" for sentence in (self.claim.given or {}).values()]
        for title, items in self.parts:
            lines += [f"  {title}:"] if title else []
            lines += [f"  {'  ' if title else ''}{item}" for item in items]
        return "\n".join(lines)

    def card(self) -> str:
        """The row as an HTML element with the claim's anchor."""
        shown = ""
        for title, lines in self.parts:
            shown += f"<div><em>{escape(title)}</em></div>" if title else ""
            shown += "".join(f"<div>{escape(str(line))}</div>" for line in lines)
        return (
            f'<div id="{self.claim.anchor}" style="border:1px solid rgba(128,128,128,.45);'
            f"border-left:.35em solid {COLOURS[self.verdict]};border-radius:.3em;"
            "padding:.4em .8em;margin:.4em 0;line-height:1.45;scroll-margin-top:5em;"
            f'overflow-x:auto"><div><code style="{PLAIN}">{self.claim.id}</code> '
            f"{escape(self.claim.at)} {badge(self.verdict)}</div>"
            f'<div style="margin:.2em 0">{mathematics(self.claim.full)}</div>{shown}</div>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": self.card(), RECORD: self.record()}


def _said(*words: str | None) -> list[Line]:
    return [Line("", each) for each in words if each]


def row_from_record(record: Mapping[str, Any], claims: Mapping[str, Claim]) -> Row:
    """Read a row back from its record, and reach its verdict again from its evidence.

    Raises `LedgerError` when the id is unknown or the verdict does not follow from the evidence.
    """
    claim = claims.get(str(record.get("id")))
    if claim is None:
        raise LedgerError(f"row {record.get('id')!r} is in no inventory")
    try:
        row = _decode(record, claim)
    except (KeyError, TypeError, AttributeError) as error:
        raise LedgerError(f"the row of {claim.id} cannot be read: {error!r}") from None
    says, verdict = f"the row of {claim.id} says {row.verdict!r}", judge(row)
    need(verdict == row.verdict, f"{says}, and its evidence says {verdict!r}")
    need(row.record()["known"] == record["known"], f"{says}, which is not known in the way it says")
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
        """Settle one claim; its evidence decides the verdict (`reluflow.ledger.rows.judge`).

        Parameters: `id` of the claim; `evidence`, a list of `deviation`, `fact`, `bound`, `note`,
        held against the limits that the inventory has for the claim; `reading` of what the paper
        leaves open; `counterexample` when the claim is false; `instead`, what appeared in place of
        the claim (a text, evidence, or a function that makes the text of the names of what failed,
        called only then), when something other than a theorem did not come out; `known`, made by
        `proved`, `cited`, `exact` or `computed`, where the claim is known by more than
        its instances (a refuted claim is known by its counterexample).
        Returns the `Row`, which a notebook shows. Raises `LedgerError` for an unknown id, a claim
        settled before, a limit other than the inventory's, and evidence that decides nothing.
        """
        claim = self._open_claim(id)

        def kept(items: Any, where: str) -> tuple[Evidence, ...]:
            return tuple(recorded(held(item, claim.limits, id)) for item in pieces(items, where))

        for value, kind in ((reading, Reading), (counterexample, Counterexample), (known, Known)):
            right = value is None or isinstance(value, kind)
            need(right, f"{id}: {value!r} is no {kind.__name__}")
        measured = kept(evidence, "evidence")
        if claim.given is None:  # a paper's hypotheses stand in its sentence
            measured = tuple(replace(item, given=()) for item in measured)
        if callable(instead):
            failed = [item.what for item in measured if item.decides and not item.holds]
            instead = instead(failed) if failed else None
        if isinstance(instead, str):
            instead = [note("appeared instead", instead)] if instead.strip() else ()
        appeared = kept(instead or (), "instead")
        if case := counterexample:
            breaks, recheck = kept(case.breaks, "breaks"), kept(case.recheck, "recheck")
            counterexample = replace(case, breaks=breaks, recheck=recheck)
        said = known is None or (known.how in SAID and counterexample is None)
        need(said, f"{id}: that it is known as {known and known.how!r} cannot be said here")
        return self._add(Row(claim, "", measured, reading, counterexample, appeared, said=known))

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

    def not_applicable(self, id: str, why: str) -> Row:
        """Say why the claim does not speak of the data at hand, a reader's own."""
        return self._add(Row(self._open_claim(id), NOT_APPLICABLE, why=why))

    def _open_claim(self, id: str) -> Claim:
        if str(id) not in self.claims:
            close = get_close_matches(str(id), self.claims, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise LedgerError(f"no claim {id!r} in the inventory of {self.paper}{hint}")
        need(id not in self.settled, f"claim {id} is settled already, and a claim is settled once")
        return self.claims[id]

    def _add(self, row: Row) -> Row:
        self.settled[row.claim.id] = row = replace(row, verdict=judge(row))
        return row


def open_ledger(paper: str, seed: int = 0) -> Ledger:
    """Open the ledger of one paper; a name that `data/claims` does not have is a `LedgerError`."""
    inventories = load_inventories()
    chosen = [inventory for inventory in inventories if inventory.paper == paper]
    known = ", ".join(i.paper for i in inventories if not i.ours)
    need(chosen, f"no paper {paper!r} in the inventory, which has {known}")
    return Ledger(paper, claims_by_id(chosen), seed)
