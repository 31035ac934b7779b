"""The rule that turns evidence into a verdict; there is no other way to get one."""

from __future__ import annotations

from reluflow.ledger.argument import Counterexample, Reading
from reluflow.ledger.errors import LedgerError
from reluflow.ledger.evidence import Evidence, sentence
from reluflow.ledger.inventory import Claim
from reluflow.ledger.known import CITED as BY_CITATION
from reluflow.ledger.known import PROVED as BY_PROOF
from reluflow.ledger.known import Known

REPRODUCED = "reproduced"
WITH_READING = "reproduced-with-reading"
REFUTED = "refuted"
NOT_REPRODUCED = "not-reproduced"
OUT_OF_REACH = "out-of-reach"
NOT_APPLICABLE = "not-applicable"
# Those of a claim of our own, beside `refuted`.
PROVED = "proved"
PROVED_WITH_CITATION = "proved-with-citation"
SURVIVED = "survived"
VERDICTS = (
    REPRODUCED,
    WITH_READING,
    PROVED,
    PROVED_WITH_CITATION,
    SURVIVED,
    REFUTED,
    NOT_REPRODUCED,
    OUT_OF_REACH,
    NOT_APPLICABLE,
)


def judge(
    claim: Claim,
    evidence: tuple[Evidence, ...],
    reading: Reading | None,
    counterexample: Counterexample | None,
    instead: tuple[Evidence, ...],
    said: Known | None = None,
) -> str:
    """Compute the verdict on a claim.

    All the evidence holds: `reproduced`, or `reproduced-with-reading` under a reading. Some of it
    fails: a counterexample makes it `refuted`; for anything but a theorem, `instead` makes it
    `not-reproduced`. A claim of our own is `proved`, `proved-with-citation` or `survived` where all
    the evidence holds, and the instances that were tried met its own hypotheses and no others.

    Parameters: the claim; the evidence, the counterexample's evidence and `instead` (what appeared
    instead, empty if nothing is said), all with their limits; how the claim is said to be known.
    Returns one of `VERDICTS`. Raises `LedgerError` for everything else.
    """
    if counterexample is not None:
        counterexample.check()
    deciding = [item for item in evidence if item.decides]
    if not deciding:
        raise LedgerError(f"{claim.id}: notes decide nothing, so give a deviation, fact or bound")
    failed = [item for item in deciding if not item.holds]
    if not failed:
        if counterexample is not None:
            raise LedgerError(f"{claim.id}: a counterexample was given, but all the evidence holds")
        if instead:
            raise LedgerError(f"{claim.id}: 'instead' was given, but all the evidence holds")
        if claim.given is not None:
            return _of_our_own(claim, deciding, reading, said)
        return REPRODUCED if reading is None else WITH_READING
    first = sentence(failed[0])
    if counterexample is not None:
        if instead:
            raise LedgerError(f"{claim.id}: give a counterexample or 'instead', not both")
        return REFUTED
    if claim.kind == "theorem":
        raise LedgerError(f"{claim.id}: evidence fails ({first}), so give a counterexample")
    if not instead:
        raise LedgerError(f"{claim.id}: evidence fails ({first}), so say what appeared 'instead'")
    for item in instead:
        if item.decides and not item.holds:
            raise LedgerError(f"{claim.id}: {item.what!r} did not appear instead: it does not hold")
    return NOT_REPRODUCED


def _of_our_own(
    claim: Claim, deciding: list[Evidence], reading: Reading | None, said: Known | None
) -> str:
    """The verdict on a claim of our own, all evidence of which holds."""
    assert claim.given is not None
    if reading is not None:
        raise LedgerError(f"{claim.id}: a claim of our own says what it means, without a reading")
    tried = [item for item in deciding if item.tried]
    for item in tried:
        tested, printed = set(item.given), set(claim.given.values())
        for named, hypotheses in (("tests", tested - printed), ("does not test", printed - tested)):
            if hypotheses:
                raise LedgerError(
                    f"{claim.id}: {item.what!r} {named} the hypothesis {min(hypotheses)!r}; "
                    f"the claim's 'given' and its statement's hypotheses must be the same"
                )
    how = said.how if said else ""
    if how in (BY_PROOF, BY_CITATION):
        return PROVED if how == BY_PROOF else PROVED_WITH_CITATION
    if how or not tried:
        raise LedgerError(f"{claim.id}: a claim of our own is proved, or survives instances")
    return SURVIVED
