"""One attempt to falsify a statement: draw, minimise the slack, shrink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from reluflow.falsify.report import QUANTILES, Report
from reluflow.falsify.search import Found, Search, worst
from reluflow.falsify.shrink import readable, shrink
from reluflow.falsify.statement import Instance, Statement
from reluflow.falsify.witness import slack_at, witness

STARTS = 3
"""The search starts from at most this many of the worst instances."""

_CHUNK = 256
_EXAMPLES = 500


def falsify(statement: Statement, seed: int, count: int, evaluations: int | None = None) -> Report:
    """Try to contradict the statement with `count` draws and a search of `evaluations` more.

    By default the search evaluates half as many instances as were drawn. Instances that contradict
    the statement are shrunk. A strict statement is not contradicted by a search that only comes
    near to equality, which a limit does too: there a readable instance of equality must exist.
    Raises ValueError for count < 1, evaluations < 0, a statement without draws, and one that stands
    and is not broken at its witness.
    """
    budget = count // 2 if evaluations is None else evaluations
    if count < 1:
        raise ValueError(f"count = {count} must be at least 1")
    if budget < 0:
        raise ValueError(f"evaluations = {budget} must not be negative")
    if not statement.draws:
        raise ValueError("the statement has no draws")
    rejected: Counter[str] = Counter()
    found = list(_drawn(statement, seed, count, rejected))
    decided = [item for item in found if not np.isnan(item.slack)]
    decided.sort(key=lambda item: item.slack)
    failing = [item for item in decided if statement.fails(item.slack)]
    search = Search(statement, decided)
    search.lower(worst(decided, STARTS), budget)
    counterexample, examples = None, max(_EXAMPLES, count)
    if failing or search.lowest < -statement.tolerance:
        lowest = failing[0].instance if failing else search.at
        assert lowest is not None  # an infinite slack does not fail
        counterexample = shrink(statement, lowest, seed, examples)
    elif statement.fails(search.lowest):
        counterexample = readable(statement, seed, examples)
    known = witness(statement) if counterexample is None else None
    broken = Counter(item.kind for item in failing)
    met = Counter(item.kind for item in decided)
    return Report(
        says=statement.says,
        seed=seed,
        drawn=count,
        rejected=dict(rejected),
        undecided=len(found) - len(decided),
        violations={kind: broken[kind] for kind in statement.draws if broken[kind]},
        smallest=decided[0].slack if decided else np.inf,
        rounding=statement.tolerance,
        steady=statement.steady,
        worst=decided[0].instance if decided else None,
        evaluations=search.used,
        search_breaks=search.used > 0 and counterexample is not None,
        counterexample=counterexample,
        met={kind: met[kind] for kind in statement.draws},
        outside=search.outside,
        lowest=search.lowest,
        lowest_at=search.at,
        sizes=_sizes([item.instance for item in found]),
        given=tuple(statement.hypotheses),
        witnessed=None if known is None else slack_at(statement, known),
        stands=known is not None and known.stands,
    )


def _sizes(instances: Sequence[Instance]) -> tuple[float, ...]:
    """Quantiles of the sizes of the entries that are not zero: how tame the draws were.

    They are entries, not means of neighbours, so that a rounding of one moves one by as much.
    """
    arrays = [np.asarray(value) for item in instances for value in item.values()]
    flat = [np.abs(a.ravel().astype(float)) for a in arrays if a.dtype.kind in "iuf"]
    entries = np.concatenate(flat) if flat else np.zeros(0)
    entries = entries[(entries > 0) & np.isfinite(entries)]
    if not entries.size:
        return ()
    return tuple(np.quantile(entries, QUANTILES, method="inverted_cdf").tolist())


def _drawn(statement: Statement, seed: int, count: int, rejected: Counter[str]) -> Iterator[Found]:
    """The draws that meet the hypotheses, with their slack; the others are counted."""
    rng = np.random.default_rng(seed)
    kinds = list(statement.draws)
    for first in range(0, count, _CHUNK):
        kept = []
        for k in range(first, min(first + _CHUNK, count)):
            kind = kinds[k % len(kinds)]
            instance = statement.draws[kind](rng)
            unmet = statement.unmet(instance)
            if unmet is None:
                kept.append((kind, instance))
            else:
                rejected[unmet] += 1
        slacks = statement.slacks([instance for _, instance in kept])
        for (kind, instance), slack in zip(kept, slacks, strict=True):
            yield Found(float(slack), kind, instance)
