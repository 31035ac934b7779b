"""Attempts to falsify a universally quantified claim: draw, minimise the slack, shrink.

A claim is a `Statement`: draws of instances, hypotheses as code, and a slack that is negative where
the conclusion fails. `falsify` draws instances of every kind in turn, rejects and counts those
outside the hypotheses, lets SciPy's Nelder-Mead simplex lower the slack from the worst of them, and
lets Hypothesis find the smallest readable instance that fails. An exception that a draw, a
hypothesis or a slack raises is never swallowed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray
from scipy.optimize import minimize

from reluflow.ledger import Evidence, bound, fact, note

Instance = Mapping[str, NDArray]
"""Named arrays, such as X (n, d), y (n,) and w0 (d,)."""

Draw = Callable[[np.random.Generator], Instance]

RARE = 0.01
"""A claim that a smaller share of the draws can test is reported as nearly vacuous."""

STARTS = 3
"""The search starts from at most this many of the worst instances."""

_CHUNK = 256
_EXAMPLES = 500
_SHARE = 20
_HUGE = 1e300
_FAR = 30.0


@dataclass(frozen=True)
class Statement:
    """For every instance that meets the hypotheses, the slack is at least zero.

    says        the claim in one phrase
    draws       {kind: draw}, each a function of a generator; the kinds are drawn in turn
    slack       a function of the instance: negative where the conclusion fails, NaN if undecided,
                infinite where the conclusion has nothing to say
    hypotheses  {phrase: test}; an instance that fails one is rejected and counted under its phrase
    strict      the slack must exceed zero
    tolerance   rounding: a slack of at most this size counts as zero
    batch       the slack of a sequence of instances at once, shape (k,), where that is faster; what
                it says of a failing or undecided instance is asked again of `slack`, which decides
    readable    Hypothesis strategy of small instances, in which a counterexample is sought
    fixed       names of arrays that the search leaves as they are
    derive      puts an instance that was moved or rounded back onto hypotheses that are equations,
                such as y = X w_GM (the names that it computes are best listed in `fixed`)
    """

    says: str
    draws: Mapping[str, Draw]
    slack: Callable[[Instance], float]
    hypotheses: Mapping[str, Callable[[Instance], bool]] = field(default_factory=dict)
    strict: bool = False
    tolerance: float = 0.0
    batch: Callable[[Sequence[Instance]], NDArray] | None = None
    readable: SearchStrategy | None = None
    fixed: tuple[str, ...] = ()
    derive: Callable[[Instance], Instance] | None = None

    def unmet(self, instance: Instance) -> str | None:
        """The first hypothesis that the instance does not meet, or None."""
        return next((name for name, test in self.hypotheses.items() if not test(instance)), None)

    def fails(self, slack: float) -> bool:
        """Whether a slack contradicts the conclusion; NaN does not."""
        return bool(slack <= self.tolerance if self.strict else slack < -self.tolerance)

    def broken_by(self, instance: Instance) -> bool:
        """Whether the instance meets all hypotheses and contradicts the conclusion."""
        return self.unmet(instance) is None and self.fails(float(self.slack(instance)))

    def slacks(self, instances: Sequence[Instance]) -> NDArray:
        """The slack of every instance, shape (k,). Raises ValueError for a batch of other shape."""
        if self.batch is None or not instances:
            return np.array([float(self.slack(item)) for item in instances])
        values = np.array(self.batch(instances), float)
        if values.shape != (len(instances),):
            raise ValueError(f"batch gave shape {values.shape} for {len(instances)} instances")
        for k in np.nonzero(np.isnan(values) | [self.fails(v) for v in values])[0]:
            values[k] = self.slack(instances[k])
        return values

    def derived(self, instance: Instance) -> Instance:
        """The instance with its dependent arrays computed again."""
        return instance if self.derive is None else self.derive(instance)


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
    def survives(self) -> bool:
        """Whether neither a draw nor the search contradicts the statement."""
        return not self.violations and not self.search_breaks

    def checks(self, name: str | None = None) -> list[Evidence]:
        """What decides, and on how many instances; `name` stands for the statement's own phrase.

        The search's slack is chaotic in the last digits, so only its sign is recorded. A search
        that was not made decides nothing.
        """
        says = self.says if name is None else name
        broken = sum(self.violations.values())
        items = [fact(f"{says}: instances that break it", broken, 0, tried=self.tried)]
        if self.evaluations:
            search = f"a search of {self.evaluations} evaluations from the worst"
            items.append(fact(f"{says}: broken by {search}", self.search_breaks, False))
        items.append(note("instances tried, and drawn", (self.tried, self.drawn)))
        if self.undecided:
            items.append(note("instances that could not be decided", self.undecided))
        if self.vacuous:
            says = "share of the draws that meet the hypotheses and test the claim"
            share = self.tried / self.drawn if np.isfinite(self.smallest) else 0.0
            items.append(bound(says, share, ">=", RARE, "", digits=2))
        return items

    def evidence(self, name: str | None = None) -> list[Evidence]:
        """The report as evidence for the ledger: its checks, its smallest slack and its seed.

        Of a slack at rounding level it is recorded that it is zero.
        """
        items = self.checks(name)
        if np.isfinite(self.smallest):
            items.append(note("smallest slack of those", float(self.smallest), digits=2))
        return [*items, note("seed", self.seed)]


def survived(*reports: Report) -> list[Evidence]:
    """Evidence that several statements survive, without their slacks; drawn with one seed."""
    if len(reports) == 1:
        return [*reports[0].checks(), note("seed", reports[0].seed)]
    return [
        *(item for report in reports for item in report.checks() if item.decides),
        note("instances tried", tuple(report.tried for report in reports)),
        note("instances drawn", tuple(report.drawn for report in reports)),
        note("seed", reports[0].seed),
    ]


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


@dataclass(frozen=True)
class _Found:
    """A drawn instance that meets the hypotheses, and its slack."""

    slack: float
    kind: str
    instance: Instance


def falsify(statement: Statement, seed: int, count: int, evaluations: int | None = None) -> Report:
    """Try to contradict the statement with `count` draws and a search of `evaluations` more.

    By default the search evaluates half as many instances as were drawn. Instances that contradict
    the statement are shrunk. A strict statement is not contradicted by a search that only comes
    near to equality, which a limit does too: there a readable instance of equality must exist.
    Raises ValueError for count < 1, evaluations < 0 or a statement without draws.
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
    search = _Search(statement, decided)
    search.lower(_worst(decided, STARTS), budget)
    counterexample, examples = None, max(_EXAMPLES, count)
    if failing or search.lowest < -statement.tolerance:
        at = failing[0].instance if failing else search.at
        counterexample = shrink(statement, at, seed, examples)
    elif statement.fails(search.lowest):
        counterexample = _readable(statement, seed, examples)
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
        worst=decided[0].instance if decided else None,
        evaluations=search.used,
        search_breaks=search.used > 0 and counterexample is not None,
        counterexample=counterexample,
        met={kind: met[kind] for kind in statement.draws},
        outside=search.outside,
        lowest=search.lowest,
        lowest_at=search.at,
    )


def _drawn(statement: Statement, seed: int, count: int, rejected: Counter[str]) -> Iterator[_Found]:
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
            yield _Found(float(slack), kind, instance)


def _worst(found: Sequence[_Found], number: int) -> list[Instance]:
    """The worst instance of each of `number` kinds, the worst first; `found` is in order."""
    first: dict[str, Instance] = {}
    for item in found:
        first.setdefault(item.kind, item.instance)
    return list(first.values())[:number]


class _Search:
    """Descent of the slack: where it is lowest (`at`), how low, and what was evaluated."""

    def __init__(self, statement: Statement, known: Sequence[_Found]) -> None:
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
        """The slack, huge outside the hypotheses and where it is undecided; never infinite, for the
        simplex takes differences."""
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
        self.size = 0
        for name, given in start.items():
            value = np.asarray(given)
            if name in fixed or value.dtype.kind != "f" or not np.isfinite(value).all():
                continue
            length = 0.0
            if name in signed or np.any(value < 0):
                length = float(np.sqrt(np.mean(value**2)))
            free = np.full(value.shape, True) if length else value > 0
            self.moving.append((name, value, free, length))
            self.size += int(free.sum())

    def instance(self, z: NDArray) -> dict[str, NDArray]:
        out, first = dict(self.start), 0
        for name, value, free, length in self.moving:
            step = np.zeros(value.shape)
            last = first + int(free.sum())
            step[free] = z[first:last]
            first = last
            grown = np.exp(np.clip(step, -_FAR, _FAR))
            out[name] = value + length * step if length else value * grown
        return out


def shrink(statement: Statement, found: Instance, seed: int, examples: int = 3000) -> Instance:
    """A small readable instance that contradicts the statement, at worst `found` itself.

    Hypothesis seeks one among `examples` of the statement's readable instances and simplifies it;
    failing that, the arrays of `found` are rounded to the fewest significant digits that still
    contradict, first all of them alike and then each by itself. Raises ValueError where `found`
    does not contradict the statement.
    """
    if not statement.broken_by(found):
        raise ValueError(f"the instance does not contradict: {statement.says}")
    small = _readable(statement, seed, examples)
    if small is not None:
        return small
    best = found
    for names in (list(found), *([name] for name in found)):
        for digits in range(1, 17):
            rounded = {**best, **{name: _significant(best[name], digits) for name in names}}
            rounded = statement.derived(rounded)
            if statement.broken_by(rounded):
                best = rounded
                break
    return best


def _readable(statement: Statement, seed: int, examples: int) -> Instance | None:
    """The simplest of the readable instances that contradict the statement, if one is found."""
    if statement.readable is None:
        return None

    def breaks(instance: Instance) -> bool:
        try:
            return statement.broken_by(instance)
        except Exception as error:
            raise _Raised(error) from error

    quiet = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        return find(statement.readable, breaks, settings=quiet, random=random.Random(seed))
    except NoSuchExample:
        return None
    except _Raised as stop:
        raise stop.error from None


class _Raised(BaseException):
    """Carries an exception out of Hypothesis, which would shrink it, or hide it behind another."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def _significant(given: Any, digits: int) -> Any:
    values = np.asarray(given)
    if values.dtype.kind != "f":
        return given
    flat = [float(f"{v:.{digits - 1}e}") for v in values.ravel()]
    return np.array(flat).reshape(values.shape)
