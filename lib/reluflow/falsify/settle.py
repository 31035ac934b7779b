"""The one verb for the common case: try to falsify, and settle the claim with what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reluflow.falsify.attempt import falsify
from reluflow.falsify.report import Report
from reluflow.falsify.statement import Statement
from reluflow.ledger import Counterexample, Evidence, Known, Ledger, Reading, Row, note

Try = Report | tuple[Statement, int] | tuple[Statement, int, int]
"""A report, or the statement with the number of its draws and of the search's evaluations."""


def settle(
    claims: Ledger,
    id: str,
    *tries: Try,
    case: Callable[[Report], Counterexample] | None = None,
    more: Sequence[Evidence] = (),
    tolerance: float | None = None,
    reading: Reading | None = None,
    known: Known | None = None,
    instead: str | Sequence[Evidence] | None = None,
) -> Row:
    """Settle a claim by attempts to falsify it, drawn with the ledger's seed.

    tries    statements with their numbers of draws and evaluations, or reports made before
    case     the counterexample, from the first report, whose `counterexample` is the smallest found
    more     evidence beside the reports
    Others as for `Ledger.settle`. Raises LedgerError as that does, and ValueError as `falsify`.
    """
    reports = [each if isinstance(each, Report) else falsify(each[0], claims.seed, *each[1:])
               for each in tries]  # fmt: skip
    evidence = [item for report in reports for item in report.evidence()]
    seeds = {report.seed: note("seed", report.seed) for report in reports}
    evidence = [item for item in evidence if item.what != "seed"]
    return claims.settle(
        id,
        [*evidence, *more, *seeds.values()],
        tolerance,
        reading,
        counterexample=case and case(reports[0]),
        instead=instead,
        known=known,
    )
