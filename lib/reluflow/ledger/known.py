"""How the book knows what it says of a claim: a proof, an enumeration, a computation, or draws.

`proved`, `cited`, `exhausted`, `exact` and `computed` are said by whoever settles the claim. That
it fell to a counterexample, or survived so many instances, follows from the evidence and cannot be
said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reluflow.ledger.errors import LedgerError
from reluflow.ledger.evidence import Evidence

PROVED = "proved here"
CITED = "proved with a cited theorem"
EXHAUSTED = "exhausted"
EXACT = "exact computation"
COMPUTED = "computed"
SURVIVED = "survived"
COUNTEREXAMPLE = "counterexample"
SAID = (PROVED, CITED, EXHAUSTED, EXACT, COMPUTED)
WAYS = (*SAID, SURVIVED, COUNTEREXAMPLE)


@dataclass(frozen=True)
class Known:
    """How a claim is known (`how`, one of `WAYS`), and in words where or by what (`text`)."""

    how: str
    text: str = ""

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise LedgerError(f"a claim is known as one of {', '.join(WAYS)}, not {self.how!r}")
        if not isinstance(self.text, str):
            raise LedgerError(f"{self.how!r} needs a text, not {self.text!r}")
        if self.how in SAID and self.how != COMPUTED and not self.text.strip():
            raise LedgerError(f"{self.how!r} needs a text that says where or by what")

    def __str__(self) -> str:
        return f"{self.how}: {self.text}" if self.text else self.how

    def to_json(self) -> dict[str, str]:
        """Write it as JSON data."""
        return {"how": self.how, "text": self.text}


def proved(where: str) -> Known:
    """The book proves the claim; `where` names the place of the argument."""
    return Known(PROVED, where)


def cited(where: str, theorem: str) -> Known:
    """The book proves the claim at the place `where`, with a `theorem` that it cites."""
    if not theorem.strip():
        raise LedgerError("a proof with a cited theorem names the theorem")
    return Known(CITED, f"{where}, with {theorem}")


def exhausted(what: str) -> Known:
    """Every case was tried; `what` says which cases there are."""
    return Known(EXHAUSTED, what)


def exact(how: str) -> Known:
    """Decided without rounding; `how` names the arithmetic or the algorithm."""
    return Known(EXACT, how)


def computed(what: str) -> Known:
    """Computed in floating point; `what` says what, and how accurately."""
    return Known(COMPUTED, what)


def survival(evidence: Sequence[Evidence]) -> Known | None:
    """That the claim survived attempts to break it, if the evidence holds any.

    Of several statements the one tried on the fewest instances counts.
    """
    tried = [item.tried for item in evidence if item.tried]
    if not tried:
        return None
    each = f"{min(tried)} instances or more, of each of {len(tried)} statements"
    return Known(SURVIVED, each if len(tried) > 1 else f"{tried[0]} instances")
