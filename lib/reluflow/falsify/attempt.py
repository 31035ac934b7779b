"""One attempt to falsify a statement: draw, minimise the slack, shrink."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize

from reluflow.falsify.statement import Instance, Statement, slack_at, witness
from reluflow.ledger import Counterexample, Evidence, Ledger, Row, bound, fact, note

# --- What an attempt to falsify a statement found, and that as evidence for the ledger ------------

RARE = 0.01  # a claim that a smaller share of the draws can test is reported as nearly vacuous

WITNESS, FIXED = "slack at an instance that must break it", "slack at a fixed instance"
"""What the slack at a witness is called, and at one at which only a stronger statement fails."""

QUANTILES = (0.05, 0.5, 0.95)
"""The shares of the entries drawn that are below the sizes that a record tells."""


@dataclass(frozen=True)
class Report:
    """What an attempt to falsify a statement did and found.

    rejected        {hypothesis: draws that did not meet it}
    violations      drawn instances that contradict the statement, by kind
    smallest        smallest slack of the drawn instances; infinite if there is none
    evaluations     of the search from the instance that has it
    search_breaks   whether that search ended at a violation
    counterexample  the smallest readable instance found that contradicts the statement, or None
    outside         instances of the search that did not meet the hypotheses
    lowest          smallest slack of all, draws and search
    sizes           the QUANTILES of the sizes of all entries of the instances that were tried, but
                    for zeros; empty if there are none
    witnessed       WITNESS or FIXED, and the slack at the statement's witness
                    (`reluflow.falsify.witness`); None for one that falls, or has no witness
    """

    statement: Statement
    seed: int
    drawn: int
    rejected: Mapping[str, int]
    undecided: int
    violations: Mapping[str, int]
    smallest: float
    evaluations: int
    search_breaks: bool
    counterexample: Instance | None
    outside: int
    lowest: float
    sizes: tuple[float, ...]
    witnessed: tuple[str, float] | None

    @property
    def says(self) -> str:
        """The statement's phrase."""
        return self.statement.says

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
    def told(self) -> list[float]:
        """The smallest slack, 0 where it is rounding; None if it is not the same on every CPU."""
        if not (self.statement.steady and np.isfinite(self.smallest)):
            return []
        return [0.0 if abs(self.smallest) <= self.statement.tolerance else float(self.smallest)]

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
        tried, given = self.tried, tuple(self.statement.hypotheses)
        items = [fact(f"{says}: instances that break it", sum(self.violations.values()), 0,
                      tried=tried, given=given, rounding=self.statement.tolerance)]  # fmt: skip
        if self.evaluations:
            search = f"a search of {self.evaluations} evaluations from the worst"
            items.append(fact(f"{says}: broken by {search}", self.search_breaks, False))
        items.append(note("instances tried, and drawn", (tried, self.drawn)))
        if self.sizes:
            items.append(note("sizes of 5, 50 and 95 % of their entries, at most", self.sizes))
        if self.undecided:
            items.append(note("instances that could not be decided", self.undecided))
        if self.vacuous:
            says = "share of the draws that meet the hypotheses and test the claim"
            share = tried / self.drawn if np.isfinite(self.smallest) else 0.0
            items.append(bound(says, share, ">=", RARE, "", digits=2))
        items += [note("smallest slack of those", slack, digits=2) for slack in self.told]
        return items + ([note(*self.witnessed, digits=2)] if self.witnessed else [])


def survived(*reports: Report) -> list[Evidence]:
    """Evidence that statements survive; of several their notes are told together."""
    items = [item for report in reports for item in report.checks()]
    if len(reports) > 1:
        items = [item for item in items if item.decides]
        items.append(note("instances tried", tuple(report.tried for report in reports)))
        items.append(note("instances drawn", tuple(report.drawn for report in reports)))
        slacks = tuple(slack for each in reports for slack in each.told)
        items.append(note("smallest slacks", slacks, digits=2))
        known = [each.witnessed for each in reports if each.witnessed]
        for name in (WITNESS, FIXED):
            if at := tuple(slack for what, slack in known if what == name):
                items.append(note(name, at, digits=2))
    return items + [note("seed", seed) for seed in dict.fromkeys(r.seed for r in reports)]


def table(reports: Iterable[Report]) -> pd.DataFrame:
    """One row a statement: how often its hypotheses hold, what was tried and what came out."""
    columns = ["statement", "drawn", "hypotheses met", "tried", "broken by", "search"]
    rows = []
    for each in reports:
        search = "breaks it" if each.search_breaks else f"does not, in {each.evaluations}"
        told = each.says, each.drawn, f"{100 * each.rate:.3g} %", each.tried
        broken = sum(each.violations.values())
        rows.append((*told, broken, search if each.evaluations else "none"))
    return pd.DataFrame(rows, columns=columns).set_index("statement")


# --- Descent of a statement's slack from the worst instances that were drawn ----------------------

_SHARE = 20
_HUGE = 1e300
_FAR = 30.0


class Found(NamedTuple):
    """A drawn instance that meets the hypotheses, and its slack."""

    slack: float
    kind: str
    instance: Instance


class Search:
    """Descent of the slack: where it is lowest (`at`), how low, and what was evaluated."""

    def __init__(self, statement: Statement, known: Sequence[Found]) -> None:
        self.statement = statement
        self.at = known[0].instance if known else None
        self.lowest = known[0].slack if known else np.inf
        self.signed = {
            name
            for item in known
            for name, value in item.instance.items()
            if np.asarray(value).dtype.kind == "f" and np.any(np.asarray(value) < 0)
        }
        self.used = self.outside = 0

    def lower(self, starts: Sequence[Instance], budget: int) -> None:
        """Run the simplex from each start, from as many as can have _SHARE steps a variable."""
        paths = [_Coordinates(item, self.statement.fixed, self.signed) for item in starts]
        paths = [path for path in paths if path.size]
        if not paths:
            return
        number = min(max(budget // (_SHARE * paths[0].size), 1), len(paths))
        for k, path in enumerate(paths[:number]):
            self._simplex(path, (budget - self.used) // (number - k))

    def _simplex(self, path: _Coordinates, share: int) -> None:
        """Nelder-Mead, started again with a simplex to the other side wherever it has closed.

        The plain coefficients beat the adaptive ones, Powell's method and differential evolution on
        planted claims of 6 to 12 variables.
        """
        z, step, end = np.zeros(path.size), 0.2, self.used + share
        while self.used < end:
            left = end - self.used
            options = {
                "initial_simplex": np.vstack([z, z + step * np.eye(path.size)]),
                "maxfev": left,
                "maxiter": left,
                "xatol": 1e-4,
                "fatol": 1e-6 * min(abs(self.lowest), 1.0),
            }
            z = minimize(
                lambda at: self._slack(path.instance(at)), z, method="Nelder-Mead", options=options
            ).x
            step = -step

    def _slack(self, moved: Instance) -> float:
        """The slack, huge outside the hypotheses or undecided; finite, for simplex differences."""
        self.used += 1
        instance = self.statement.derived(moved)
        if self.statement.unmet(instance) is not None:
            self.outside += 1
            return _HUGE
        slack = float(self.statement.slack(instance))
        if slack < self.lowest:
            self.at, self.lowest = instance, slack
        return _HUGE if np.isnan(slack) else float(np.clip(slack, -_HUGE, _HUGE))


class _Coordinates:
    """Coordinates around an instance: the logarithms of the positive entries of an array without
    negative ones, so that signs and zeros stay, and multiples of its size for the entries of a
    `signed` array or one with a negative entry. Only arrays of floats move."""

    def __init__(
        self, start: Instance, fixed: tuple[str, ...], signed: Collection[str] = ()
    ) -> None:
        self.start = start
        self.moving: list[tuple[str, NDArray, NDArray, float]] = []
        for name, given in start.items():
            value = np.asarray(given)
            if name in fixed or value.dtype.kind != "f" or not np.isfinite(value).all():
                continue
            negative = name in signed or np.any(value < 0)
            length = float(np.sqrt(np.mean(value**2))) if negative else 0.0
            free = np.full(value.shape, True) if length else value > 0
            self.moving.append((name, value, free, length))
        self.ends = np.cumsum([free.sum() for _, _, free, _ in self.moving], dtype=int)
        self.size = int(self.ends[-1]) if self.moving else 0

    def instance(self, z: NDArray) -> dict[str, NDArray]:
        out = dict(self.start)
        parts = np.split(z, self.ends[:-1])
        for (name, value, free, length), part in zip(self.moving, parts, strict=True):
            step = np.zeros(value.shape)
            step[free] = part
            grown = np.exp(np.clip(step, -_FAR, _FAR))
            out[name] = value + length * step if length else value * grown
        return out


# --- The smallest readable instance that contradicts a statement ----------------------------------


def shrink(statement: Statement, found: Instance, seed: int, examples: int = 3000) -> Instance:
    """A small readable instance that contradicts the statement, at worst `found` itself.

    Hypothesis seeks one among `examples` of the statement's readable instances and simplifies it;
    failing that, the arrays of `found` are rounded to the fewest significant digits that still
    contradict, first all of them alike and then each by itself. Raises ValueError where `found`
    does not contradict the statement.
    """
    if not statement.broken_by(found):
        raise ValueError(f"the instance does not contradict: {statement.says}")
    small = readable(statement, seed, examples)
    if small is not None:
        return small
    best = found
    for names in (list(found), *([name] for name in found)):
        for digits in range(1, 17):
            shorter = {name: _significant(best[name], digits) for name in names}
            rounded = statement.derived({**best, **shorter})
            if statement.broken_by(rounded):
                best = rounded
                break
    return best


def readable(statement: Statement, seed: int, examples: int) -> Instance | None:
    """The simplest of the readable instances that contradict the statement, if one is found."""
    if statement.readable is None:
        return None
    from hypothesis import HealthCheck, Phase, errors, find, settings  # most pages seek none

    raised: list[Exception] = []  # Hypothesis would shrink an error, or hide it behind another

    def breaks(instance: Instance) -> bool:
        try:
            return statement.broken_by(instance)
        except Exception as error:
            raised.append(error)
            return False

    quiet = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    found = None
    with suppress(errors.NoSuchExample):
        found = find(statement.readable, breaks, settings=quiet, random=random.Random(seed))
    if raised:
        raise raised[0]
    return found


def _significant(given: Any, digits: int) -> Any:
    values = np.asarray(given)
    if values.dtype.kind != "f":
        return given
    flat = [float(f"{v:.{digits - 1}e}") for v in values.ravel()]
    return np.array(flat).reshape(values.shape)


STARTS = 3  # the search starts from at most this many of the worst instances

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
    worst: dict[str, Instance] = {}  # of each kind, the worst of all first
    for item in decided:
        worst.setdefault(item.kind, item.instance)
    search.lower(list(worst.values())[:STARTS], budget)
    counterexample, examples = None, max(_EXAMPLES, count)
    if failing or search.lowest < -statement.tolerance:
        lowest = failing[0].instance if failing else search.at
        assert lowest is not None  # an infinite slack does not fail
        counterexample = shrink(statement, lowest, seed, examples)
    elif statement.fails(search.lowest):
        counterexample = readable(statement, seed, examples)
    broken = Counter(item.kind for item in failing)
    return Report(
        statement=statement,
        seed=seed,
        drawn=count,
        rejected=dict(rejected),
        undecided=len(found) - len(decided),
        violations={kind: broken[kind] for kind in statement.draws if broken[kind]},
        smallest=decided[0].slack if decided else np.inf,
        evaluations=search.used,
        search_breaks=search.used > 0 and counterexample is not None,
        counterexample=counterexample,
        outside=search.outside,
        lowest=search.lowest,
        sizes=_sizes([item.instance for item in found]),
        witnessed=_witnessed(statement) if counterexample is None else None,
    )


def _witnessed(statement: Statement) -> tuple[str, float] | None:
    known = witness(statement)
    if known is None:
        return None
    return FIXED if known.stands else WITNESS, slack_at(statement, known)


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


# --- Try to falsify, and settle the claim with what came out --------------------------------------

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


# --- Many instances measured: one row each --------------------------------------------------------

T = TypeVar("T")


def survey(
    instances: Iterable[T], measure: Callable[[T], Mapping[str, Any] | None]
) -> pd.DataFrame:
    """What `measure` says of every instance, a row each; None leaves an instance out.

    Counts, shares and extremes are then one expression: `(found.gap < 0).sum()`.
    """
    return pd.DataFrame([row for item in instances if (row := measure(item)) is not None])
