"""What an attempt to falsify a statement found, and that as evidence for the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from reluflow.falsify.statement import Instance
from reluflow.ledger import Evidence, bound, fact, note

RARE = 0.01
"""A claim that a smaller share of the draws can test is reported as nearly vacuous."""

WITNESS, FIXED = "slack at an instance that must break it", "slack at a fixed instance"
"""What the slack at a witness is called, and at one at which only a stronger statement fails."""

QUANTILES = (0.05, 0.5, 0.95)
"""The shares of the entries drawn that are below the sizes that a record tells."""


@dataclass(frozen=True)
class Report:
    """What an attempt to falsify a statement did and found.

    drawn           instances drawn
    rejected        {hypothesis: draws that did not meet it}
    undecided       instances whose slack could not be told
    violations      drawn instances that contradict the statement, by kind
    smallest        smallest slack of the drawn instances; infinite if there is none
    worst           the instance that has it
    evaluations     instances that the search from the worst evaluated
    search_breaks   whether that search ended at a violation
    counterexample  the smallest readable instance found that contradicts the statement, or None
    met             drawn instances that were tried, by kind; a kind never tried has 0
    outside         instances of the search that did not meet the hypotheses
    lowest          smallest slack of all, draws and search
    lowest_at       the instance that has it
    steady          whether the smallest slack is the same on every CPU, so that a record tells it
    rounding        a slack of at most this size counts as zero
    sizes           the QUANTILES of the sizes of all entries of the instances that were tried, but
                    for zeros; empty if there are none
    given           the hypotheses, in words
    witnessed       the slack at the statement's witness (`reluflow.falsify.witness`), None for a
                    statement that falls, or has none
    stands          whether only a stronger statement fails there
    """

    says: str
    seed: int
    drawn: int
    rejected: Mapping[str, int]
    undecided: int
    violations: Mapping[str, int]
    smallest: float
    worst: Instance | None
    evaluations: int
    search_breaks: bool
    counterexample: Instance | None
    met: Mapping[str, int] = field(default_factory=dict)
    outside: int = 0
    lowest: float = np.inf
    lowest_at: Instance | None = None
    rounding: float = 0.0
    steady: bool = True
    sizes: tuple[float, ...] = ()
    given: tuple[str, ...] = ()
    witnessed: float | None = None
    stands: bool = False

    @property
    def shrunk(self) -> Instance:
        """The counterexample, for a claim that fell. Raises ValueError where there is none."""
        if self.counterexample is None:
            raise ValueError(f"no instance was found that contradicts: {self.says}")
        return self.counterexample

    @property
    def tried(self) -> int:
        """Drawn instances that met all hypotheses and could be decided."""
        return self.drawn - sum(self.rejected.values()) - self.undecided

    @property
    def rate(self) -> float:
        """Share of the draws that met all hypotheses."""
        return 1.0 - sum(self.rejected.values()) / self.drawn if self.drawn else 0.0

    @property
    def vacuous(self) -> bool:
        """Whether the draws hardly test the claim, so that surviving says little.

        Its hypotheses almost never hold, or almost no slack is decided, or none is finite.
        """
        return self.tried < max(1.0, RARE * self.drawn) or self.smallest == np.inf

    @property
    def told(self) -> float:
        """The smallest slack, zero where it is rounding."""
        return 0.0 if abs(self.smallest) <= self.rounding else float(self.smallest)

    @property
    def survives(self) -> bool:
        """Whether neither a draw nor the search contradicts the statement."""
        return not self.violations and not self.search_breaks

    def checks(self, name: str | None = None) -> list[Evidence]:
        """What decides, and on how many instances; `name` stands for the statement's own phrase.

        The search's slack is chaotic in the last digits, so only its sign is recorded, and of the
        draws the smallest. A search that was not made decides nothing.
        """
        says = self.says if name is None else name
        broken = sum(self.violations.values())
        survey = f"{says}: instances that break it"
        tried, given, rounding = self.tried, self.given, self.rounding
        items = [fact(survey, broken, 0, tried=tried, given=given, rounding=rounding)]
        if self.evaluations:
            search = f"a search of {self.evaluations} evaluations from the worst"
            items.append(fact(f"{says}: broken by {search}", self.search_breaks, False))
        items.append(note("instances tried, and drawn", (self.tried, self.drawn)))
        if self.sizes:
            items.append(note("sizes of 5, 50 and 95 % of their entries, at most", self.sizes))
        if self.undecided:
            items.append(note("instances that could not be decided", self.undecided))
        if self.vacuous:
            says = "share of the draws that meet the hypotheses and test the claim"
            share = self.tried / self.drawn if np.isfinite(self.smallest) else 0.0
            items.append(bound(says, share, ">=", RARE, "", digits=2))
        if np.isfinite(self.smallest) and self.steady:
            items.append(note("smallest slack of those", self.told, digits=2))
        if self.witnessed is not None:
            items.append(note(FIXED if self.stands else WITNESS, self.witnessed, digits=2))
        return items


def survived(*reports: Report) -> list[Evidence]:
    """Evidence that statements survive; of several their notes are told together."""
    items = [item for report in reports for item in report.checks()]
    if len(reports) > 1:
        items = [item for item in items if item.decides]
        items.append(note("instances tried", tuple(report.tried for report in reports)))
        items.append(note("instances drawn", tuple(report.drawn for report in reports)))
        slacks = tuple(each.told for each in reports if each.steady and np.isfinite(each.smallest))
        items.append(note("smallest slacks", slacks, digits=2))
        for what, stands in ((WITNESS, False), (FIXED, True)):
            known = tuple(each.witnessed for each in reports
                          if each.witnessed is not None and each.stands == stands)  # fmt: skip
            items += [note(what, known, digits=2)] if known else []
    return items + [note("seed", seed) for seed in dict.fromkeys(r.seed for r in reports)]


def table(reports: Iterable[Report]) -> pd.DataFrame:
    """One row a statement: how often its hypotheses hold, what was tried and what came out."""
    rows = [
        {
            "statement": report.says,
            "drawn": report.drawn,
            "hypotheses met": f"{100 * report.rate:.3g} %",
            "tried": report.tried,
            "broken by": sum(report.violations.values()),
            "search": "none"
            if not report.evaluations
            else "breaks it"
            if report.search_breaks
            else f"does not, in {report.evaluations}",
        }
        for report in reports
    ]
    columns = ["statement", "drawn", "hypotheses met", "tried", "broken by", "search"]
    return pd.DataFrame(rows, columns=columns).set_index("statement")
