"""Lemmas 1 and 3: while t <= T neurons are small, outputs are small, and directions obey eq. (6).

With m = max_j |w_j|^2 the proof's inequality is m' <= 2 n X_max (1 + 2 max|f|) m and max|f| <=
h X_max m. It freezes 2 max|f| at its largest value. Kept as it is, q = 2 h X_max m obeys q' <=
2 n X_max q (1 + q), so that

    q / (1 + q) <= q_0 / (1 + q_0) e^(2 n X_max t),    q_0 = 2 h X_max eps^2 W_max^2.

At t = 2 T the exponential is 1 / (sqrt(h) eps), the right side at most 2 sqrt(h) eps X_max W_max^2
<= 1/2, hence q <= 1 and m <= 2 eps W_max^2 / sqrt(h): what Lemma 3 says at T is true up to 2 T, and
with it, by Lemma 4, Lemma 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import mpmath
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.falsify import survey
from reluflow.flows.charts import Neurons
from reluflow.flows.integrate import FlowPath
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early.flows import flow
from reluflow.papers.min2024early.states import LEAKS, excess, outputs, turning

LOSSES = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)
BOUNDS = ("direction", "norm", "output")
"""The bound of Lemma 1, and the two of Lemma 3."""
ROUNDING = 1e-6
# Lemma 3's proof gives its two bounds without their factor 2.
PROVED_PART = 0.5
"""A bound is passed where what it bounds exceeds it by more than this part of it."""
REACH = 3.0
"""Flows are followed to this multiple of T."""
_POINTS = 91
_NOISE = 1e-6


@dataclass(frozen=True)
class Start:
    """(Init): W(0) = e^log_eps W0 with W0 (h, d), v_j(0) = signs_j |w_j(0)|; data X (n, d), y (n,).

    `leak` of the activation. `kind` names how it was drawn.
    """

    kind: str
    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray
    leak: float
    loss: Loss
    log_eps: float

    @property
    def h(self) -> int:
        return len(self.W0)

    @property
    def X_max(self) -> float:
        return float(np.linalg.norm(self.X, axis=1).max())

    @property
    def W_max(self) -> float:
        return float(np.linalg.norm(self.W0, axis=1).max())

    @property
    def T(self) -> float:
        """log(1 / (sqrt(h) eps)) / (4 n X_max); not positive for a large eps."""
        room = -self.log_eps - 0.5 * np.log(self.h)
        return float(room / (4.0 * len(self.X) * self.X_max))

    @property
    def log_bounds(self) -> NDArray:
        """Logarithms (3,) of the `BOUNDS`: on the errors of directions, |w_j|^2 and |f(x_i)|."""
        size = self.log_eps + 2.0 * np.log(self.W_max)
        n, h, X = len(self.X), np.log(self.h), np.log(self.X_max)
        return np.array([np.log(4.0 * n) + size + 0.5 * h + 2.0 * X,
                         np.log(2.0) + size - 0.5 * h,
                         np.log(2.0) + size + 0.5 * h + X])  # fmt: skip


def largest_log_eps(X: NDArray, W0: NDArray) -> float:
    """The logarithm of the largest eps that Lemmas 1 and 3 allow, 1 / (4 sqrt(h) X_max W_max^2)."""
    X_max, W_max = (np.linalg.norm(A, axis=1).max() for A in (X, W0))
    return float(-np.log(4.0 * X_max * W_max**2) - 0.5 * np.log(len(W0)))


def path(start: Start, reach: float = REACH) -> FlowPath:
    """The flow from a start up to the time `reach` T, with s'(0) the leak.

    Ends before that where it slides along a boundary: there (GF) has no solution any more.
    """
    return flow(start.X, start.y, start.W0, start.signs, start.log_eps, reach * start.T, start.loss,
                leak=start.leak, rtol=1e-8, method=DOP853)  # fmt: skip


@dataclass(frozen=True)
class Slack:
    """What Lemmas 1 and 3 bound over its bound, along a flow: logarithms (k, 3) at times t / T."""

    times: NDArray
    log_ratios: NDArray
    status: str

    def largest(self, until: float) -> NDArray:
        """The largest ratio (3,) for t <= `until` T."""
        return np.exp(self.log_ratios[self.times <= until + 1e-12].max(axis=0))

    @property
    def holds(self) -> NDArray:
        """t / T up to which each bound holds, shape (3,); infinite where it held to the end."""
        passed = self.log_ratios > np.log1p(ROUNDING)
        return np.where(passed.any(axis=0), self.times[passed.argmax(axis=0)], np.inf)


def slack(start: Start, reach: float = REACH) -> Slack:
    """The slack of all three bounds along the flow from a start with T > 0."""
    found = path(start, reach)
    times = np.linspace(0.0, found.t[-1], _POINTS) if found.t[-1] > 0.0 else np.zeros(1)
    U, R = Neurons(start.signs, start.X.shape[1], start.leak).split(found.at(times))
    fixed = {"X": start.X, "y": start.y, "signs": start.signs, "leak": np.array(start.leak)}
    states = [{**fixed, "U": u, "R": r} for u, r in zip(U, R, strict=True)]
    f = np.array([outputs(state) for state in states])
    pulls = excess(start.loss, f, start.y)
    turns = np.array([turning(state, c) for state, c in zip(states, pulls, strict=True)])
    errors = np.linalg.norm(turns, axis=-1).max(axis=-1)
    # A neuron along its data does not turn: what is left of its error there is the integrator's.
    noise = _NOISE * len(start.X) * start.X_max * np.abs(pulls).max(axis=1)
    errors = np.where(errors > noise, errors, 0.0)
    with np.errstate(divide="ignore"):
        sizes = np.log([errors, np.ones(len(times)), np.abs(f).max(axis=1)]).T
    sizes[:, 1] = 2.0 * R.max(axis=1)
    return Slack(times / start.T, sizes - start.log_bounds, found.status)


def starts(seed: int, count: int, losses: tuple[Loss, ...] = LOSSES) -> Iterator[Start]:
    """`count` random starts with T > 0, half of them at the largest eps that the lemmas allow.

    Data without any assumption: "gaussian"; "aspect", coordinates in units 1e-3 to 1e3; "integers",
    some neurons on boundaries; "parallel", where data of one direction and label pull all neurons
    along it; "one", a single datum. Lengths of data over six decades and of W0 over four. A seventh
    of the others has eps down to e^-60.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        kind = ("gaussian", "aspect", "integers", "parallel", "one")[k % 5]
        n, d, h = (int(rng.integers(1, top)) for top in (7, 6, 6))
        X, W0 = rng.standard_normal((n, d)), rng.standard_normal((h, d))
        y, signs = rng.choice([-1.0, 1.0], n), rng.choice([-1.0, 1.0], h)
        if kind == "aspect":
            X *= 10.0 ** rng.uniform(-3.0, 3.0, d)
        elif kind == "integers":
            X, W0 = np.round(2.0 * X), np.round(W0)
            X[~X.any(axis=1)], W0[~W0.any(axis=1)] = 1.0, 1.0
        elif kind == "parallel":
            X = np.outer(rng.choice([1.0, 1.0, 0.5], n), X[0])
            y, signs = np.ones(n), np.ones(h)
            W0 = X[0] + 0.3 * np.abs(X[0]).max() * W0 * rng.choice([0.0, 1.0])
        elif kind == "one":
            X, y = X[:1], y[:1]
        X, W0 = X * 10.0 ** rng.uniform(-3.0, 3.0), W0 * 10.0 ** rng.uniform(-2.0, 2.0)
        allowed = min(largest_log_eps(X, W0), -0.5 * np.log(h) - 0.5)
        shrunk = 0.0 if k % 2 else rng.choice([rng.uniform(0.0, 6.0), rng.uniform(0.0, 60.0)])
        leak = LEAKS[k // 5 % 3]
        yield Start(kind, X, y, W0, signs, leak, losses[k // 2 % len(losses)], allowed - shrunk)


Followed = list[tuple[Start, Slack]]


def followed(seed: int, count: int) -> Followed:
    """The flows of `starts`, with their slacks."""
    return [(start, slack(start)) for start in starts(seed, count)]


def table(found: Followed) -> pd.DataFrame:
    """One row a flow: the largest ratios up to T and up to 2 T, and how long each bound holds, in
    units of T."""

    def row(pair: tuple[Start, Slack]) -> dict[str, float | str]:
        start, along = pair
        at_T, holds = along.largest(1.0), along.holds
        cells: dict[str, float | str] = {"loss": start.loss.name, "leak": start.leak}
        cells["status"] = along.status
        for k, name in enumerate(BOUNDS):
            cells |= {name: at_T[k], f"{name} holds": holds[k]}
        return cells

    return survey(found, row)


def one_neuron(log_eps: float) -> Start:
    """One datum x = y = 1 and one neuron along it, which grows as fast as any can."""
    one = np.ones((1, 1))
    return Start("one", one, np.ones(1), one, np.ones(1), 0.0, EXPONENTIAL, log_eps)


def _passed(found: pd.DataFrame, names: tuple[str, ...], until: float) -> int:
    """Flows along which one of these bounds is passed before `until` T."""
    return int((found[[f"{name} holds" for name in names]] <= until).any(axis=1).sum())


def directions_follow_their_limit(found: pd.DataFrame) -> list[Evidence]:
    """ea.lem1: |d/dt w_j/|w_j| - s_j P_j x_a(w_j)| <= 4 eps n sqrt(h) X_max^2 W_max^2, t <= T."""
    proved, other = found[found.loss != LOGISTIC.name], found[found.loss == LOGISTIC.name]
    return [
        fact("flows along which the direction's error passes its bound before T",
             _passed(proved, ("direction",), 1.0), 0, tried=len(proved)),
        bound("the largest error over its bound", float(proved.direction.max()), "<=", 1.0, "",
              digits=2),
        note("flows with the loss log(1 + exp(-y f)) that pass it, and flows with that loss",
             (_passed(other, ("direction",), 1.0), len(other))),
        *_followed(found),
    ]  # fmt: skip


def neurons_stay_small(found: pd.DataFrame) -> list[Evidence]:
    """ea.lem3: |w_j|^2 <= 2 eps W_max^2 / sqrt(h) and |f(x_i)| <= 2 eps sqrt(h) X_max W_max^2 for
    t <= T (eq. 10); the proof itself gives both without the factor 2."""
    sizes = ["norm", "output"]
    past = int((found[sizes] > PROVED_PART * (1.0 + ROUNDING)).any(axis=1).sum())
    return [
        fact("flows along which |wⱼ|² or |f| passes its bound before T",
             _passed(found, ("norm", "output"), 1.0), 0, tried=len(found)),
        fact(f"flows along which one passes {PROVED_PART:g} of its bound before T, which the proof "
             "excludes", past, 0, tried=len(found)),
        bound("the largest of both over its bound", float(found[sizes].max().max()), "<=", 1.0, "",
              digits=2),
        *_followed(found),
    ]  # fmt: skip


def twice_as_long(found: pd.DataFrame) -> list[Evidence]:
    """ea.ours.horizon: Lemmas 1 and 3 hold as printed for t <= 2 T, and 2 is the best factor."""
    proved = found[found.loss != LOGISTIC.name]
    last = {log_eps: passing_time(log_eps) for log_eps in (-10.0, -100.0, -1000.0)}
    return [
        fact(f"of {len(found)} flows, those along which |wⱼ|² or |f| passes its bound before 2 T",
             _passed(found, ("norm", "output"), 2.0), 0),
        fact(f"of {len(proved)}, those along which the direction's error passes its bound before "
             "2 T", _passed(proved, ("direction",), 2.0), 0),
        bound("one datum, one neuron along it, ln ε = -1000: when |w|² passes, over T",
              last[-1000.0], "<", 2.002, ""),
        note("the same for ln ε = -10, -100, -1000", tuple(last.values())),
    ]  # fmt: skip


def passing_time(log_eps: float) -> float:
    """When |w|^2 passes 2 eps along the flow of `one_neuron`, over T, in closed form.

    u = |w|^2 obeys u' = 2 u e^(-u) from eps^2, so that 2 t = Ei(2 eps) - Ei(eps^2).
    """
    eps = mpmath.exp(log_eps)
    return float(0.5 * (mpmath.ei(2 * eps) - mpmath.ei(eps**2)) / (-mpmath.mpf(log_eps) / 4))


def _followed(found: pd.DataFrame) -> list[Evidence]:
    """What kind of flows these were."""
    return [
        note("flows: exponential loss, 2 log(1 + e⁻ʸᶠ), log(1 + e⁻ʸᶠ)",
             tuple(int((found.loss == loss.name).sum()) for loss in LOSSES)),
        note("leaks of the activation", tuple(sorted(set(found.leak))), digits=None),
        note("flows that end on a boundary, where (GF) has no solution any more",
             int((found.status == "sliding").sum())),
    ]  # fmt: skip
