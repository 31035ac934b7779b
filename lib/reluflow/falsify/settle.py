"""The one verb for the common case: try to falsify, and settle the claim with what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reluflow.falsify.attempt import falsify
from reluflow.falsify.report import Report, survived
from reluflow.falsify.statement import Statement
from reluflow.ledger import Counterexample, Evidence, Ledger, Row

Try = Report | tuple[Statement, int] | tuple[Statement, int, int]
"""A report, or the statement with the number of its draws and of the search's evaluations."""


def settle(
    claims: Ledger,
    id: str,
    *tries: Try,
    case: Counterexample | Callable[[Report], Counterexample] | None = None,
    more: Sequence[Evidence] = (),
    **how: Any,
) -> Row:
    """Settle a claim by attempts to falsify it, drawn with the ledger's seed.

    tries    statements with their numbers of draws and evaluations, or reports made before
    case     the counterexample, or what makes it of the first report
    more     evidence beside the reports
    how      `reading`, `known` and `instead` of `Ledger.settle`

    Raises LedgerError as `Ledger.settle` does, and ValueError as `falsify`.
    """
    reports = [each if isinstance(each, Report) else falsify(each[0], claims.seed, *each[1:])
               for each in tries]  # fmt: skip
    case = case(reports[0]) if callable(case) else case
    return claims.settle(id, [*survived(*reports), *more], counterexample=case, **how)
