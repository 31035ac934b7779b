"""Appendix E.2: under (A1) each boundary is crossed at most once in all time.

By eq. (46) y_i sign(v_j) <x_i, w_j> grows while the neuron is active and rests while it is not: it
changes its sign at most once, from - to +. So there are at most n h changes of activity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.exact import fractions
from reluflow.falsify import survey
from reluflow.flows.charts import LOG_LOSS, TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, Stop, integrate
from reluflow.flows.legs import then
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.separable import separable_draws

LOSSES = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)
DECADES = 10.0
"""Flows are followed until the loss has fallen by this many powers of ten, or falls no more."""
_KINDS = ("wide", "integers", "parallel", "one against many")
_STEPS = 3000


@dataclass(frozen=True)
class Problem:
    """Data X (n, d), y (n,) and balanced neurons: directions W (h, d), signs and log norms (h,)."""

    kind: str
    X: NDArray
    y: NDArray
    W: NDArray
    signs: NDArray
    log_norms: NDArray
    loss: Loss

    @property
    def chart(self) -> Neurons:
        """Coordinates of the neurons."""
        return Neurons(self.signs, self.X.shape[1])

    def field(self, clock: str) -> GradientFlow:
        """The gradient flow on this clock."""
        return GradientFlow(self.chart, self.loss, self.X, self.y, clock)

    def path(
        self,
        span: float,
        rtol: float = 1e-8,
        stop: Stop | None = None,
        at_zero: float | None = 0.0,
    ) -> FlowPath:
        """The flow over the time `span`: with s'(0) = 0 the regular one."""
        z = self.chart.along(self.W, self.log_norms)
        options = {"rtol": rtol, "max_steps": _STEPS, "method": DOP853}
        return integrate(self.field(TIME), z, span, stop, at_zero, **options)

    def far(self, decades: float = DECADES) -> FlowPath:
        """The flow until the loss has fallen by many powers of ten, or falls no more.

        In time while neurons are small and turn within a moment of log(1/L); then on that clock.
        """
        span = 30.0 / float(np.linalg.norm(self.X, axis=1).max())
        early = self.path(span, 1e-6, lambda _, z: -1.0 - self.chart.split(z)[1].max())
        late = self.field(LOG_LOSS)
        until = late.begin(early.end) + decades * np.log(10.0)
        options = {"rtol": 1e-6, "max_steps": _STEPS, "method": DOP853}
        return then(early, late, until, at_zero=0.0, **options)


def problems(seed: int, count: int, separated: bool = True) -> Iterator[Problem]:
    """Random starts on orthogonally separable data, or with `separated` False on random data that
    are not. Norms from e^-6 to 2 over the size of the data; whole-number data come with
    whole-number weights, many of which lie on boundaries; another quarter starts along the data.
    """
    rng, draws = np.random.default_rng(seed), separable_draws((2, 6), (2, 6))
    for k in range(count):
        kind = _KINDS[k % 4]
        item = draws[kind](rng)
        X, y, h = item["X"], item["y"], int(rng.integers(2, 7))
        if not separated:  # the same data in random orthants
            X, kind = X * rng.choice([-1.0, 1.0], X.shape), "not separated"
        W = rng.standard_normal((h, X.shape[1]))
        if _KINDS[k % 4] == "integers":
            W = np.round(W)
            W[~W.any(axis=1)] = X[0]
        elif _KINDS[k % 4] == "parallel":
            W[::2] = -X[rng.integers(0, len(X), len(W[::2]))]
        size = rng.uniform(-6.0, 0.7, h) - 0.5 * np.log(np.linalg.norm(X, axis=1).max())
        yield Problem(kind, X, y, W, np.resize([1.0, -1.0], h), size, LOSSES[k // 4 % 3])


def crossings(path: FlowPath) -> Counter[tuple[int, int]]:
    """How often each (datum, neuron) changes its activity along a path.

    A neuron that has died within rounding of its boundary may be switched off once more where a leg
    begins; the same change twice in a row is one.
    """
    times: Counter[tuple[int, int]] = Counter()
    last: dict[tuple[int, int], str] = {}
    for event in path.events:
        pair = event.datum, event.neuron
        if event.kind != "slide" and last.get(pair) != event.kind:
            times[pair] += 1
            last[pair] = event.kind
    return times


def backward(path: FlowPath, problem: Problem) -> int:
    """How many changes of activity go against y_i sign(v_j): the wrong way by eq. (46)."""
    ways = (1.0 if e.kind == "activate" else -1.0 for e in path.events)
    right = (problem.y[e.datum] * problem.signs[e.neuron] for e in path.events)
    return sum(way != sign for way, sign in zip(ways, right, strict=True))


def followed(seed: int, count: int, separated: bool = True) -> pd.DataFrame:
    """One row a flow of `problems`, followed `far`: its status, the number of changes of activity,
    the most of one boundary, those that go backward, and whether it starts on a boundary."""

    def measured(problem: Problem) -> dict[str, float | str]:
        path = problem.far()
        times = crossings(path)
        return {
            "kind": problem.kind,
            "loss": problem.loss.name,
            "status": path.status,
            "changes": sum(times.values()),
            "most": max(times.values(), default=0),
            "backward": backward(path, problem),
            "on boundaries": int(np.any(problem.W @ problem.X.T == 0.0)),
        }

    return survey(problems(seed, count, separated), measured)


# A boundary that is crossed twice where (A1) fails.

TWICE = (
    np.array([[3, 0, 0], [-1, 0, 1], [1, 5, 5]]),
    np.ones(3),
    np.array([1, -4, 2]),
)
"""Data, labels and one neuron with v > 0: it loses the second datum and regains it."""
SEPARATED = (
    np.array([[3, 0, 0], [1, 0, 1], [1, 5, 5]]),
    np.ones(3),
    np.array([1, -4, -2]),
)
"""Nearly the same data with (A1), and a neuron that begins with one of them."""


def exact_changes(X: NDArray, y: NDArray, w: NDArray, most: int = 20) -> list[tuple[Fraction, int]]:
    """The changes of activity of a neuron of V_+ in the limit of small weights, in exact numbers.

    Within a pattern w moves along sum y_i x_i of the active data: (length of the way, datum) each.
    Ends where nothing changes any more. The field must cross the boundaries that are met.
    """
    Z, w = fractions(y)[:, None] * fractions(X), fractions(w)
    X = fractions(X)
    active, way, found = X @ w > 0, Fraction(0), []
    for _ in range(most):
        v = sum((z for z, on in zip(Z, active, strict=True) if on), 0 * w)
        h, rate = X @ w, X @ v
        ahead = [(-a / b, i) for i, (a, b) in enumerate(zip(h, rate, strict=True))
                 if b and (b > 0) != active[i]]  # fmt: skip
        if not ahead:
            break
        step, i = min(ahead)
        w, way = w + step * v, way + step
        active[i] = not active[i]
        found.append((way, i))
    return found


def alone(X: NDArray, y: NDArray, w: NDArray, span: float) -> tuple[FlowPath, Problem]:
    """The flow of one neuron along w (d,), |w| = e^-12, v > 0, over the time `span`."""
    X, W = np.asarray(X, float), np.asarray(w, float)[None]
    problem = Problem("one neuron", X, y, W, np.ones(1), np.array([-12.0]), EXPONENTIAL)
    return problem.path(span), problem


def crossed_once(found: pd.DataFrame, others: pd.DataFrame) -> list[Evidence]:
    """ea.eq46.2: under (A1) each <x_i, w_j> = 0 is crossed at most once (Appendix E.2); without it
    a neuron may cross back."""
    path, _ = alone(*TWICE, 1.2)
    return [
        fact("flows in which some boundary is crossed twice", int((found.most > 1).sum()), 0,
             tried=len(found)),
        fact("changes of activity against the direction of eq. (46)", int(found.backward.sum()), 0,
             tried=int(found.changes.sum())),
        fact("without (A1): changes of activity by datum in the example, exactly",
             tuple(datum + 1 for _, datum in exact_changes(*TWICE)), (2, 3, 2)),
        fact("and along its flow", tuple(e.datum + 1 for e in path.events), (2, 3, 2)),
        note("most changes of activity in one flow", int(found.changes.max())),
        note("data that are not separated: changes of activity, and those against eq. (46)",
             (int(others.changes.sum()), int(others.backward.sum()))),
    ]  # fmt: skip
