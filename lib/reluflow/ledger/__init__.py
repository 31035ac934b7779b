"""The ledger: claims, evidence, computed verdicts, and rows that live in executed notebooks.

claims = ledger.open("lee2022support")
claims.settle("sv.ex5.1.a", [ledger.deviation("limit against the minimum", 2e-9, "|w|")])
"""

from reluflow.ledger.evidence import Evidence, LedgerError, bound, deviation, fact, note
from reluflow.ledger.rows import (
    Counterexample,
    Known,
    Ledger,
    Reading,
    Row,
    cited,
    computed,
    exact,
    proved,
    with_this_seed,
)
from reluflow.ledger.rows import open_ledger as open
from reluflow.ledger.scoreboard import Scoreboard, read, scoreboard, summary, verdict_bar

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
    "fact",
    "note",
    "open",
    "proved",
    "read",
    "scoreboard",
    "summary",
    "verdict_bar",
    "with_this_seed",
]
