"""The claims that can be settled: what each paper says, where, and what its check holds it against.

The inventory lives in `data/claims/*.yml`, one file for each paper and one for each set of claims
of our own. It is read afresh on every call: nothing here remembers anything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import yaml

from reluflow.ledger.evidence import SIGNS, Evidence, LedgerError, Number, printed
from reluflow.places import BIBLIOGRAPHY, CLAIMS

# --- The year by which the book cites a paper -----------------------------------------------------


def year(key: str) -> str:
    """The year of an entry of the bibliography, with the letter that tells two papers of one year
    apart; empty where there is no such entry."""
    entry = rf"@\w+\{{{re.escape(key)},(?:(?!\n@).)*?\byear\s*=\s*\{{(\w+)\}}"
    found = re.search(entry, BIBLIOGRAPHY.read_text(encoding="utf-8"), flags=re.DOTALL)
    return found[1] if found else ""


# --- What measured values are held against: the limits of a claim, fixed in the inventory ---------

ROUNDING = "rounding"
"""In the place of a sign: a slack of at most this size counts as none."""

MEASURED = "measured"
"""In the place of a number: another value of the same run."""

ANYTHING = "…"
"""In the name of what is measured: any text, a parameter of the run."""

_WRITTEN = re.compile(rf"(<=|>=|<|>|{ROUNDING}) (\S+)")


@dataclass(frozen=True)
class Limit:
    """What one measured value is held against.

    `sign` is one of < <= > >= or `rounding`; `number` is None where it is another measured value;
    `after` says what of it was chosen after something had been seen.
    """

    sign: str
    number: Number | None
    after: str = ""

    def __str__(self) -> str:
        number = MEASURED if self.number is None else printed(self.number)
        return f"{SIGNS.get(self.sign, self.sign)} {number}"


def read(entry: object, here: str) -> dict[str, Limit]:
    """Read the field `limits` of a claim, what is measured -> "<= 1e-6"; `here` is for errors.

    A limit that was chosen after something had been seen is a mapping with the keys `is` and
    `after`. Raises LedgerError for anything else.
    """
    if not isinstance(entry, Mapping):
        raise LedgerError(f"{here}: field 'limits' must be a mapping, what is measured: its limit")
    found = {}
    for what, given in entry.items():
        after = given.get("after", "") if isinstance(given, Mapping) else ""
        text = given.get("is") if isinstance(given, Mapping) else given
        written = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
        if not isinstance(what, str) or written is None or not isinstance(after, str):
            raise LedgerError(f"{here}: the limit of {what!r} must be written like '<= 1e-6'")
        found[what] = Limit(written[1], _number(written[2], f"{here}: {what!r}"), after)
    return found


def _number(text: str, here: str) -> Number | None:
    if text == MEASURED:
        return None
    try:
        number: Number = Fraction(text) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError):
        raise LedgerError(f"{here} has the limit {text!r}, which is no number") from None
    if not math.isfinite(number):
        raise LedgerError(f"{here} has the limit {text!r}, which is not finite")
    return number


def named(limits: Mapping[str, Limit], what: str) -> str | None:
    """The name in `limits` that what was measured goes by, if there is one."""
    if what in limits:
        return what
    patterns = (name for name in limits if ANYTHING in name)
    parts = ((name, ".*".join(map(re.escape, name.split(ANYTHING)))) for name in patterns)
    return next((name for name, part in parts if re.fullmatch(part, what, re.DOTALL)), None)


def held(
    items: tuple[Evidence, ...], limits: Mapping[str, Limit] | None, id: str
) -> tuple[Evidence, ...]:
    """Hold evidence against the limits of the claim `id`.

    A deviation takes its limit from there; that of a bound, and the rounding of a survey, must be
    the same as there. `limits` is None for a claim that is in no inventory.
    Raises LedgerError for a limit that is not in the inventory, or another one there.
    """
    return tuple(_held(item, limits, id) for item in items)


def _held(item: Evidence, limits: Mapping[str, Limit] | None, id: str) -> Evidence:
    # What somebody chose a number for: no sign (a bound that is 0) and no exact fact.
    chosen = item.limit != 0 if item.form == "bound" else item.rounding > 0
    if item.form != "deviation" and (limits is None or not chosen):
        return item
    name = named(limits or {}, item.what)
    if limits is None or name is None:
        raise LedgerError(f"{id}: the inventory has no limit for {item.what!r}")
    limit = limits[name]
    if item.form == "deviation":
        item = replace(item, limit=limit.number)
    same = item.op == limit.sign and limit.number in (None, item.limit)
    if not (item.rounding == limit.number if limit.sign == ROUNDING else same):
        raise LedgerError(
            f"{id}: {item.what!r} is held against {asked(item)}, and the inventory says {limit}"
        )
    if limit.after and item.after != limit.after:
        return replace(item, after="; ".join(filter(None, (item.after, limit.after))))
    return item


def asked(item: Evidence) -> Limit:
    """What the evidence is held against."""
    return Limit(ROUNDING, item.rounding) if item.rounding else Limit(item.op, item.limit)


KINDS = ("theorem", "figure", "example", "table", "text")

# The same safe loader, ten times faster where PyYAML was built with its C library.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_REQUIRED = {"id", "at", "kind", "says", "check"}
_OPTIONAL = {"limits", "given"}
_ID = re.compile(r"[a-z]+(\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True)
class Claim:
    """One statement that a computer can check, as the inventory has it.

    `check` is what an honest check does, and `limits` what it holds measured values against, by the
    name of what is measured (None for a claim that stands in no inventory); `given` are the
    hypotheses of a claim of our own, name -> sentence: those that its card prints and those that
    its statements test are the same. None for a claim of a paper.
    """

    id: str
    paper: str
    at: str
    kind: str
    says: str
    limits: Mapping[str, Limit] | None = None
    given: Mapping[str, str] | None = None
    check: str = ""

    @property
    def full(self) -> str:
        """The claim with its hypotheses in front of it."""
        if not self.given:
            return self.says
        return f"Given: {' '.join(self.given.values())} Then: {self.says}"

    @property
    def anchor(self) -> str:
        """The id of the HTML element that shows the claim's row, such as `claim-sv-thm4-7`."""
        return "claim-" + self.id.replace(".", "-")


@dataclass(frozen=True)
class Inventory:
    """The claims of one file: those of a paper, or those of our own about that paper.

    `setting` is what its statements share: notation and named assumptions, in paragraphs.
    """

    paper: str
    title: str
    authors: str
    ours: bool
    claims: tuple[Claim, ...]
    setting: str = ""

    @property
    def label(self) -> str:
        """A short name such as `Lee, Sim & Ye 2022a`, with the year by which the book cites the
        paper; the title, where no authors are given."""
        surnames = [name.split()[-1] for name in self.authors.split(",")] if self.authors else []
        if not surnames:
            return self.title
        names = " & ".join([", ".join(surnames[:-1]), surnames[-1]] if surnames[1:] else surnames)
        return f"{names} {year(self.paper)}".rstrip()


def load_inventories(folder: Path = CLAIMS) -> tuple[Inventory, ...]:
    """Read every inventory, papers in the order of their names and each followed by our own claims.

    Raises `LedgerError` for a file that breaks the format, naming file and claim.
    """
    files = sorted(folder.glob("*.yml"))
    if not files:
        raise LedgerError(
            "no claims inventory found: the ledger needs the book's data/claims folder, "
            "so install the library in place (-e ./lib)"
        )
    inventories = sorted((_load(file) for file in files), key=lambda i: (i.paper, i.ours))
    papers = [i.paper for i in inventories if not i.ours]
    for inventory in inventories:
        if papers.count(inventory.paper) != 1:
            raise LedgerError(f"paper {inventory.paper!r} needs one inventory that is not our own")
    claims_by_id(inventories)
    return tuple(inventories)


def claims_by_id(inventories: list[Inventory] | tuple[Inventory, ...]) -> dict[str, Claim]:
    """Index the claims of several inventories by id; an id that occurs twice is a `LedgerError`."""
    index: dict[str, Claim] = {}
    for claim in (claim for inventory in inventories for claim in inventory.claims):
        if claim.id in index:
            raise LedgerError(f"claim {claim.id!r} stands twice in the inventory")
        index[claim.id] = claim
    return index


def _load(file: Path) -> Inventory:
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), Loader=LOADER)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise LedgerError(f"{file.name} is not YAML: {' '.join(str(error).split())}") from None
    for field in ("paper", "title"):
        if not isinstance(content, Mapping) or not isinstance(content.get(field), str):
            raise LedgerError(f"{file.name} needs a text field {field!r}")
    if not isinstance(content.get("claims"), list):
        raise LedgerError(f"{file.name} needs a list 'claims', empty or not")
    ours = file.name.startswith("ours_")
    claims = tuple(_claim(entry, content["paper"], ours, file.name) for entry in content["claims"])
    authors = str(content.get("authors", ""))
    setting = str(content.get("setting", ""))
    return Inventory(content["paper"], content["title"], authors, ours, claims, setting)


def _claim(entry: object, paper: str, ours: bool, file: str) -> Claim:
    if not isinstance(entry, Mapping):
        raise LedgerError(f"{file}: every claim is a mapping, and {entry!r} is not")
    here = f"{file}, claim {entry.get('id')!r}"
    if missing := sorted(_REQUIRED - entry.keys()):
        raise LedgerError(f"{here}: field {missing[0]!r} is missing")
    if unknown := sorted(entry.keys() - _REQUIRED - _OPTIONAL):
        raise LedgerError(f"{here}: field {unknown[0]!r} is unknown")
    for field in sorted(_REQUIRED):
        if not isinstance(entry[field], str) or not entry[field].strip():
            raise LedgerError(f"{here}: field {field!r} must be a text")
    if not _ID.fullmatch(entry["id"]):
        raise LedgerError(f"{here}: an id is made of letters, digits and hyphens, parted by dots")
    if (".ours." in entry["id"]) != ours:
        raise LedgerError(f"{here}: ids with '.ours.' and files named ours_* belong together")
    if entry["kind"] not in KINDS:
        raise LedgerError(f"{here}: kind {entry['kind']!r} is none of {', '.join(KINDS)}")
    given = _given(entry, ours, here)
    limits = read(entry.get("limits", {}), here)
    at, kind, says = entry["at"], entry["kind"], entry["says"]
    return Claim(entry["id"], paper, at, kind, says, limits, given, entry["check"])


def _given(entry: Mapping[str, object], ours: bool, here: str) -> Mapping[str, str] | None:
    """The hypotheses of a claim of our own, None for a claim of a paper."""
    if not ours and "given" in entry:
        raise LedgerError(f"{here}: 'given' is for claims of our own; a paper's are in 'says'")
    if not ours:
        return None
    given = entry.get("given")
    if not isinstance(given, Mapping) or not given:
        raise LedgerError(f"{here}: field 'given' must be a mapping, name: sentence")
    for name, sentence in given.items():
        if not (isinstance(name, str) and name.isidentifier()):
            raise LedgerError(f"{here}: {name!r} in 'given' must be a name of letters and digits")
        if not isinstance(sentence, str) or not sentence.strip():
            raise LedgerError(f"{here}: {name!r} in 'given' must be a sentence")
    return dict(given)
