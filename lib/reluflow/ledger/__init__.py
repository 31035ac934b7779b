"""The ledger: claims, evidence, computed verdicts, and rows that live in executed notebooks.

claims = ledger.open("lee2022support")
claims.settle("sv.ex5.1.a", [ledger.deviation("limit against the minimum", 2e-9, "|w|")])
"""

from reluflow.ledger.argument import Counterexample, Reading, with_this_seed
from reluflow.ledger.errors import LedgerError
from reluflow.ledger.evidence import Evidence, bound, deviation, fact, note
from reluflow.ledger.findings import findings, verdict_bar
from reluflow.ledger.known import Known, cited, computed, exact, exhausted, proved
from reluflow.ledger.notebooks import read
from reluflow.ledger.rows import Ledger, Row
from reluflow.ledger.rows import open_ledger as open
from reluflow.ledger.scoreboard import Scoreboard, scoreboard, summary

__all__ = [
    "Counterexample",
    "Evidence",
    "Known",
    "Ledger",
    "LedgerError",
    "Reading",
    "Row",
    "Scoreboard",
    "bound",
    "cited",
    "computed",
    "deviation",
    "exact",
    "exhausted",
    "fact",
    "findings",
    "note",
    "open",
    "proved",
    "read",
    "scoreboard",
    "summary",
    "verdict_bar",
    "with_this_seed",
]
