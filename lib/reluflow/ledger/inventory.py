"""The claims that can be settled: what each paper says, where, and what its check holds it against.

The inventory lives in `data/claims/*.yml`, one file for each paper and one for each set of claims
of our own. It is read afresh on every call: nothing here remembers anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from reluflow.ledger.bibliography import year
from reluflow.ledger.errors import LedgerError
from reluflow.ledger.limits import Limit
from reluflow.ledger.limits import read as read_limits
from reluflow.places import CLAIMS

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

    Parameters: `folder`, the place of the `*.yml` files. Returns a tuple of `Inventory`.
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
    limits = read_limits(entry.get("limits", {}), here)
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
