"""The claims that can be settled: what each paper says, where, and what its check holds it against.

The inventory lives in `data/claims/*.yml`, one file for each paper and one for each set of claims
of our own. It is read afresh on every call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from reluflow.ledger.evidence import SIGNS, Evidence, LedgerError, Number, is_finite, need, printed
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

_WRITTEN = re.compile(rf"(<=|>=|<|>|{ROUNDING}(?! {MEASURED})) (\S+)")


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


def read(entry: Any, here: str) -> dict[str, Limit]:
    """Read the field `limits` of a claim, what is measured -> "<= 1e-6"; `here` is for errors.

    A limit that was chosen after something had been seen is a mapping with the keys `is` and
    `after`. Raises LedgerError for anything else.
    """
    wrong = f"{here}: field 'limits' must be a mapping, what is measured: its limit"
    need(isinstance(entry, Mapping), wrong)
    found = {}
    for what, given in entry.items():
        given = given if isinstance(given, Mapping) else {"is": given}
        written = _WRITTEN.fullmatch(str(given.get("is")))
        if written is None or not isinstance(given.get("after", ""), str):
            raise LedgerError(f"{here}: the limit of {what!r} must be written like '<= 1e-6'")
        sign, text = written.groups()
        try:
            number = None if text == MEASURED else Fraction(text) if "/" in text else float(text)
        except (ValueError, ZeroDivisionError):
            number = math.nan
        wrong = f"{here}: the limit {text!r} of {what!r} is no finite number"
        need(number is None or is_finite(number), wrong)
        found[str(what)] = Limit(sign, number, given.get("after", ""))
    return found


def named(limits: Mapping[str, Limit], what: str) -> str | None:
    """The name in `limits` that what was measured goes by, if there is one."""
    if what in limits:
        return what
    patterns = (name for name in limits if ANYTHING in name)
    parts = ((name, ".*".join(map(re.escape, name.split(ANYTHING)))) for name in patterns)
    return next((name for name, part in parts if re.fullmatch(part, what, re.DOTALL)), None)


def held(item: Evidence, limits: Mapping[str, Limit] | None, id: str) -> Evidence:
    """Hold evidence against the limits of the claim `id`.

    A deviation takes its limit from there; that of a bound, and the rounding of a survey, must be
    the same as there. `limits` is None for a claim that is in no inventory.
    Raises LedgerError for a limit that is not in the inventory, or another one there.
    """
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
    asked = Limit(ROUNDING, item.rounding) if item.rounding else Limit(item.op, item.limit)
    same = asked.sign == limit.sign and limit.number in (None, asked.number)
    need(same, f"{id}: {item.what!r} is held against {asked}, and the inventory says {limit}")
    after = dict.fromkeys(filter(None, (item.after, limit.after)))
    return replace(item, after="; ".join(after))


KINDS = ("theorem", "figure", "example", "table", "text")

# The same safe loader, ten times faster where PyYAML was built with its C library.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TEXT = r"\s*\S.*"
_REQUIRED = {
    "id": (r"[a-z]+(\.[A-Za-z0-9-]+)+", "made of letters, digits and hyphens, parted by dots"),
    "at": (TEXT, "a text"),
    "kind": ("|".join(KINDS), f"one of {', '.join(KINDS)}"),
    "says": (TEXT, "a text"),
    "check": (TEXT, "a text"),
}
_OPTIONAL = {"limits", "given"}


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
    absent = "no claims inventory found: the ledger needs the book's data/claims folder, "
    need(files, f"{absent}so install the library in place (-e ./lib)")
    inventories = sorted(
        (_load(file.name, file.read_bytes()) for file in files), key=lambda i: (i.paper, i.ours)
    )
    papers = [i.paper for i in inventories if not i.ours]
    for paper in (inventory.paper for inventory in inventories):
        need(papers.count(paper) == 1, f"paper {paper!r} needs one inventory that is not our own")
    claims_by_id(inventories)
    return tuple(inventories)


def claims_by_id(inventories: list[Inventory] | tuple[Inventory, ...]) -> dict[str, Claim]:
    """Index the claims of several inventories by id; an id that occurs twice is a `LedgerError`."""
    index: dict[str, Claim] = {}
    for claim in (claim for inventory in inventories for claim in inventory.claims):
        need(claim.id not in index, f"claim {claim.id!r} stands twice in the inventory")
        index[claim.id] = claim
    return index


def fields(entry: Mapping[str, Any], forms: Mapping[str, tuple[str, str]], here: str) -> None:
    """Raise LedgerError unless each of these fields is a text of its form, a pattern; the words
    beside the pattern say what it must be."""
    for field, (form, words) in forms.items():
        need(field in entry, f"{here}: field {field!r} is missing")
        right = isinstance(entry[field], str) and re.fullmatch(form, entry[field], re.DOTALL)
        need(right, f"{here}: field {field!r} must be {words}, not {entry[field]!r}")


@cache
def _load(file: str, text: bytes) -> Inventory:
    """The inventory in the text of a file; what stands there is the same on every call."""
    try:
        content = yaml.load(text, Loader=LOADER)
    except (yaml.YAMLError, RecursionError) as error:
        raise LedgerError(f"{file} is not YAML: {' '.join(str(error).split())}") from None
    need(isinstance(content, Mapping), f"{file} must be a mapping")
    fields(content, {"paper": (TEXT, "a text"), "title": (TEXT, "a text")}, file)
    paper, ours = content["paper"], file.startswith("ours_")
    need(isinstance(content.get("claims"), list), f"{file} needs a list 'claims', empty or not")
    claims = tuple(_claim(entry, paper, ours, file) for entry in content["claims"])
    authors, setting = (str(content.get(field, "")) for field in ("authors", "setting"))
    return Inventory(paper, content["title"], authors, ours, claims, setting)


def _claim(entry: Any, paper: str, ours: bool, file: str) -> Claim:
    need(isinstance(entry, Mapping), f"{file}: every claim is a mapping, and {entry!r} is not")
    here = f"{file}, claim {entry.get('id')!r}"
    fields(entry, _REQUIRED, here)
    unknown = sorted(entry.keys() - _REQUIRED - _OPTIONAL)
    need(not unknown, f"{here}: field {''.join(unknown[:1])!r} is unknown")
    wrong = f"{here}: ids with '.ours.', files named ours_* and the field 'given' belong together"
    need((".ours." in entry["id"]) == ours == ("given" in entry), wrong)
    if ours:
        given = entry["given"]
        need(isinstance(given, Mapping) and given, f"{here}: 'given' must be a mapping")
        fields(given, dict.fromkeys(given, (TEXT, "a sentence")), f"{here}, 'given'")
        need(
            all(str(name).isidentifier() for name in given),
            f"{here}: the keys of 'given' must be names",
        )
    return Claim(paper=paper, **{**entry, "limits": read(entry.get("limits", {}), here)})
