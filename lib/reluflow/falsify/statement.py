"""A universally quantified claim: draws of instances, hypotheses as code, and a slack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

Instance = Mapping[str, Any]
"""Named arrays, such as X (n, d), y (n,) and w0 (d,)."""

PLANTED = "planted"
"""The name under which a witness carries a factor."""


def planted(instance: Instance) -> float:
    """The factor by which a witness makes one side of an equation wrong; 1 for what is drawn.

    An equation, or an inequality without hypotheses, fails at no instance. Its slack takes one side
    times this factor, so that a witness can show that the check would see it fail.
    """
    return float(instance.get(PLANTED, 1.0))


Draw = Callable[[np.random.Generator], Instance]


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
    steady      whether the least slack of the draws is the same on every CPU, but for its last
                digit: not where rounding decides which of them can be decided
    witness     an instance outside of the statement at which it must fail, where the one in
                `data/witnesses` does not serve (`reluflow.falsify.witness`)
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
    steady: bool = True
    witness: Instance | None = None

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
        for k in np.flatnonzero(np.isnan(values) | [self.fails(v) for v in values]).tolist():
            values[k] = self.slack(instances[k])
        return values

    def derived(self, instance: Instance) -> Instance:
        """The instance with its dependent arrays computed again."""
        return instance if self.derive is None else self.derive(instance)
