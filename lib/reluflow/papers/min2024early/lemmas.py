"""The page `lemmas`: Section 2.1, Lemmas 1, 3, 4, 10 and 15, Appendices E and F."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.errors import InputError
from reluflow.exact import fractions
from reluflow.falsify import Instance, Statement, extended, planted, statement, survey
from reluflow.flows.charts import LOG_LOSS, Neurons, Plain
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate, then
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.margin.max_margin import max_margin
from reluflow.networks.indexed import fully_connected
from reluflow.papers.min2024early import setting
from reluflow.papers.min2024early.alignment import departure_residual, leaving
from reluflow.papers.min2024early.setting import Start, none_lost, none_of, parts, polygon

# --- Random balanced parameters with small outputs, no assumption on data -------------------------
#
# A state is a mapping of X (n, d), y (n,), directions U (h, d), log norms R (h,), the `signs` of v
# (h,) and the `leak`, of outputs at most 1 in size. U and R may have axes in front, for moments of
# a flow.

State = Mapping[str, Any]
LEAKS = (0.0, 0.3, 1.0)
"""ReLU, a leaky one, and the linear network."""
NOT_MOVED = ("y", "signs", "leak")
"""The arrays of a state that a search leaves alone."""
_ZERO = 1e-13
"""A product <x, w> this small beside its terms is 0, whichever way their sum was rounded."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


def directions(state: State) -> NDArray:
    """u_j = w_j / |w_j|, shape (..., h, d)."""
    return state["U"] / np.linalg.norm(state["U"], axis=-1)[..., None]


def outputs(state: State) -> NDArray:
    """f(x_i), shape (..., n)."""
    before = state["X"] @ np.swapaxes(directions(state), -1, -2)
    after = before * np.where(before > 0.0, 1.0, state["leak"])
    return (after @ (state["signs"] * np.exp(2.0 * state["R"]))[..., None])[..., 0]


def largest_output(state: State) -> float:
    """max_i |f(x_i)|."""
    return float(np.abs(outputs(state)).max())


def active(state: State) -> NDArray:
    """Which data activate which neurons, shape (..., h, n); none does on whose boundary it is."""
    U, X = directions(state), state["X"]
    return _ZERO * (np.abs(U) @ np.abs(X).T) < U @ X.T


def turning(state: State, c: NDArray) -> NDArray:
    """d/dt w_j / |w_j| for the pulls c (..., n) at the outputs, shape (..., h, d)."""
    U, slopes = directions(state), np.where(active(state), 1.0, state["leak"])
    g = (slopes * c[..., None, :]) @ state["X"]
    along = (g * U).sum(axis=-1) / (U * U).sum(axis=-1)
    return state["signs"][:, None] * (g - along[..., None] * U)


def excess(loss: Loss, f: NDArray, y: NDArray) -> NDArray:
    """-dl/df - y, shape (..., n) as f: by how much the pull of a datum differs from its label, for
    |f| <= 1/2 by the integral of l'', which keeps all digits where f is tiny."""
    at_zero = loss.pull(np.zeros_like(f), y) - y
    bends = loss.bend(np.multiply.outer(0.5 * (1.0 + _NODES), f), y)
    bend = np.tensordot(_WEIGHTS, bends, axes=1)
    near = np.where(np.abs(at_zero) < 1e-15, 0.0, at_zero) - 0.5 * f * bend
    return np.where(np.abs(f) <= 0.5, near, loss.pull(f, y) - y)


def balanced_states(leaks: Sequence[float] = LEAKS, least: float = 1e-12) -> dict[str, Callable]:
    """Draws of states whose largest output is 1, or between `least` and 1. "gaussian"; "aspect",
    coordinates in units 1e-6 to 1e6; "lengths", data and neurons over twelve decades; "parallel"
    data, with neurons about them or along them; "integers", small whole numbers, with neurons on
    boundaries."""

    def drawn(rng: np.random.Generator, kind: str) -> dict[str, Any]:
        n, d, h = int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
        R = np.zeros(h)
        if kind == "gaussian":
            X, U = rng.standard_normal((n, d)), rng.standard_normal((h, d))
        elif kind == "aspect":
            units = 10.0 ** rng.uniform(-6.0, 6.0, d)
            U = rng.standard_normal((h, d)) / np.where(rng.random((h, 1)) < 0.5, units, 1.0)
            X = rng.standard_normal((n, d)) * units
        elif kind == "lengths":
            X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-6.0, 6.0, (n, 1))
            U, R = rng.standard_normal((h, d)), rng.uniform(-14.0, 14.0, h)
        elif kind == "parallel":
            X = np.outer(rng.choice([-2.0, 1.0, 1.0, 3.0], n), rng.standard_normal(d))
            away = rng.choice([0.0, 0.3]) * np.abs(X).max()
            U = X[rng.integers(0, n, h)] + away * rng.standard_normal((h, d))
        else:
            X = rng.integers(-2, 3, (n, d)).astype(float)
            X[~X.any(axis=1)] = 1.0
            U = rng.integers(-1, 2, (h, d)).astype(float)
        state = {"X": X, "y": rng.choice([-1.0, 1.0], n),
                 "U": np.where(U.any(axis=1, keepdims=True), U, 1.0), "R": R,
                 "signs": rng.choice([-1.0, 1.0], h),
                 "leak": np.array(rng.choice(leaks))}  # fmt: skip
        largest, target = largest_output(state), 10.0 ** rng.uniform(np.log10(least), 0.0)
        target = rng.choice([1.0, target])
        terms = np.abs(state["X"] @ directions(state).T) @ np.exp(2.0 * R)
        if largest > 1e-9 * terms.max():  # else they cancel, to rounding
            state["R"] = R + 0.5 * np.log(0.999999 * target / largest)
        return state

    kinds = ("gaussian", "aspect", "lengths", "parallel", "integers")
    return {kind: partial(drawn, kind=kind) for kind in kinds}


# --- Section 2.1: the flow stays balanced, and no output weight changes its sign ------------------

LOSSES = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)


def exact_rates(item: Mapping[str, Any]) -> tuple[NDArray, NDArray]:
    """Half the rates of v_j^2 and of |w_j|^2, as fractions (h,), at X (n, d), c (n,), W (h, d), v
    (h,) with the derivative `at_zero` of the ReLU at 0."""
    X, c, W, v = (fractions(item[name]) for name in ("X", "c", "W", "v"))
    before, at_zero = W @ X.T, Fraction(float(item["at_zero"]))
    above, on = (before > 0).astype(int), (before == 0).astype(int)
    dW = v[:, None] * (((above + on * at_zero) * c) @ X)
    dv = (above * before) @ c
    return v * dv, (W * dW).sum(axis=1)


def unbalanced() -> dict[str, Callable[..., Instance]]:
    """Draws of parameters W (h, d), v (h,) that need not be balanced, on the data of
    `balanced_states`, with pulls c (n,) and a derivative `at_zero` of the ReLU at 0."""

    def drawn(rng: np.random.Generator, draw: Callable[..., State]) -> Instance:
        state = draw(rng)
        sizes = np.exp(state["R"]) * 10.0 ** rng.uniform(-1.0, 1.0)
        return {"X": state["X"], "y": state["y"], "W": state["U"] * sizes[:, None],
                "v": rng.standard_normal(len(sizes)) * sizes,
                "c": state["y"] * 10.0 ** rng.uniform(-6.0, 6.0, len(state["y"])),
                "at_zero": np.array(rng.choice([0.0, 0.25, 1.0]))}  # fmt: skip

    return {kind: partial(drawn, draw=draw) for kind, draw in balanced_states().items()}


@statement("vⱼ² and |wⱼ|² change alike", unbalanced())
def rates_agree(item: Instance) -> float:
    """ea.balanced.1: how far the rates of v_j^2 and |w_j|^2 are apart, negated, in rational
    arithmetic, for any loss, on boundaries too (Section 2.1)."""
    outgoing, incoming = exact_rates(item)
    return -float(np.abs(planted(item) * outgoing - incoming).max())


def balanced_starts(seed: int, count: int) -> Iterator[tuple[str, Loss, NDArray, NDArray, NDArray]]:
    """Balanced starts: kind, loss, X (n, d), y (n,) and parameters (p,), W row by row and then v.
    Kinds in turn: data without an assumption; orthogonally separable data; and "shrinking", data of
    one direction and of the label opposite to v, which pull every neuron towards 0."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n, d, h = int(rng.integers(1, 6)), int(rng.integers(2, 5)), int(rng.integers(1, 5))
        kind = ("any", "separable", "shrinking")[k % 3]
        X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
        W = rng.standard_normal((h, d)) * 10.0 ** rng.uniform(-1.0, 0.3)
        signs = rng.choice([-1.0, 1.0], h)
        if kind == "separable":
            X, y = setting.separable(n, d, float(rng.uniform(0.01, 0.9)), rng)
        elif kind == "shrinking":
            X, y, signs = np.tile(X[:1], (n, 1)), np.full(n, -1.0), np.ones(h)
            W = X[0] * rng.uniform(0.01, 0.5, (h, 1))
        X *= 10.0 ** rng.uniform(-1.0, 1.0)
        theta = np.concatenate([W.ravel(), signs * np.linalg.norm(W, axis=1)])
        yield kind, LOSSES[k // 3 % 3], X, y, theta


def drifts(seed: int, count: int) -> pd.DataFrame:
    """One row a flow of `balanced_starts` in the parameters themselves: whether a sign of v
    changes, the least of log|v_j| above its bound log|v_j(0)| - X_max L(0) t, the least |v_j| over
    that at the start, and its status. Flows are followed for 5 / (X_max L(0)), in which |v_j| can
    lose a factor e^-5."""

    def measured(start: tuple[str, Loss, NDArray, NDArray, NDArray]) -> dict[str, Any]:
        kind, loss, X, y, theta = start
        h = len(theta) // (X.shape[1] + 1)
        field = GradientFlow(Plain(fully_connected([X.shape[1], h])), loss, X, y)
        pace = float(np.linalg.norm(X, axis=1).max() * np.exp(field.log_loss(theta)))
        path = integrate(field, theta, 5.0 / pace, at_zero=0.0, rtol=1e-7, method=DOP853)
        times = np.linspace(0.0, path.t[-1], 60) if path.t[-1] > 0.0 else path.t
        v = path.at(times)[:, -h:] / theta[-h:]
        with np.errstate(divide="ignore"):
            above = np.log(np.abs(v)) + (pace * times)[:, None]
        return {"kind": kind, "flips": bool(np.any(v <= 0.0)), "above": float(above.min()),
                "shrunk": float(np.abs(v).min()), "status": path.status}  # fmt: skip

    return survey(balanced_starts(seed, count), measured)


def signs_stay(found: pd.DataFrame) -> list[Evidence]:
    """ea.balanced.2: sign v_j(t) = sign v_j(0), and |v_j(t)| >= |v_j(0)| e^(-X_max L(0) t)."""
    shrinking = found[found.kind == "shrinking"]
    return [
        none_of("flows along which an output weight changes its sign", found.flips),
        none_of("flows along which |vⱼ| falls below its bound",  # by more than a rounding
                found.above < -1e-4),
        note("the least |vⱼ(t)| / |vⱼ(0)| of a neuron that all data shrink",
             float(shrinking.shrunk.min()), digits=2),
        *_to_the_end(found),
    ]  # fmt: skip


def _to_the_end(found: pd.DataFrame) -> list[Evidence]:
    """That no flow is lost, and how many end where a neuron slides along a boundary: no solution
    goes on from there."""
    slides = found.status == "sliding"
    return [none_lost(found.status[~slides]),
            note("flows besides that end where a neuron slides along a boundary",
                 int(slides.sum()))]  # fmt: skip


# --- Lemmas 1 and 3: while t <= T neurons and outputs are small, directions obey eq. (6) ----------

BOUNDS = ("direction", "norm", "output")
"""The bound of Lemma 1, and the two of Lemma 3."""
HORIZON_ROUNDING = 1e-6
"""A bound is passed where what it bounds exceeds it by more than this part of it."""


def log_bounds(start: Start) -> NDArray:
    """Logarithms (3,) of the `BOUNDS`: on the errors of directions, |w_j|^2 and |f(x_i)|."""
    size = start.log_eps + 2.0 * np.log(start.lengths.max())
    n, h, X = len(start.X), np.log(start.h), np.log(start.X_max)
    return np.array([np.log(4.0 * n) + size + 0.5 * h + 2.0 * X,
                     np.log(2.0) + size - 0.5 * h,
                     np.log(2.0) + size + 0.5 * h + X])  # fmt: skip


def largest_log_eps(X: NDArray, W0: NDArray) -> float:
    """The logarithm of the largest eps that Lemmas 1 and 3 allow, 1 / (4 sqrt(h) X_max W_max^2)."""
    X_max, W_max = (np.linalg.norm(A, axis=1).max() for A in (X, W0))
    return float(-np.log(4.0 * X_max * W_max**2) - 0.5 * np.log(len(W0)))


@dataclass(frozen=True)
class Slack:
    """What Lemmas 1 and 3 bound over its bound, along a flow: logarithms (k, 3) at times t / T."""

    times: NDArray
    log_ratios: NDArray
    status: str = "horizon"

    @property
    def largest(self) -> NDArray:
        """The largest ratio (3,) for t <= T."""
        return np.exp(self.log_ratios[self.times <= 1.0 + 1e-12].max(axis=0))

    @property
    def holds(self) -> NDArray:
        """t / T up to which each bound holds, shape (3,); infinite where it held to the end."""
        passed = self.log_ratios > np.log1p(HORIZON_ROUNDING)
        return np.where(passed.any(axis=0), self.times[passed.argmax(axis=0)], np.inf)


def slack(start: Start) -> Slack:
    """The slack of all three bounds along the flow from a start with T > 0, up to the time 3 T or
    where it slides along a boundary; s'(0) is the leak."""
    found = start.flow(3.0 * start.T, rtol=1e-8, method=DOP853)
    times = np.linspace(0.0, found.t[-1], 91) if found.t[-1] > 0.0 else np.zeros(1)
    U, R = Neurons(start.signs, start.X.shape[1], start.leak).split(found.at(times))
    along = {"X": start.X, "U": U, "R": R, "signs": start.signs, "leak": start.leak}
    f = outputs(along)
    pulls = excess(start.loss, f, start.y)
    errors = np.linalg.norm(turning(along, pulls), axis=-1).max(axis=-1)
    # A neuron along its data does not turn: what is left of its error there is the integrator's.
    noise = 1e-6 * len(start.X) * start.X_max * np.abs(pulls).max(axis=1)
    errors = np.where(errors > noise, errors, 0.0)
    with np.errstate(divide="ignore"):
        sizes = np.log([errors, np.ones(len(times)), np.abs(f).max(axis=1)]).T
    sizes[:, 1] = 2.0 * R.max(axis=1)
    return Slack(times / start.T, sizes - log_bounds(start), found.status)


def horizon_starts(seed: int, count: int) -> Iterator[Start]:
    """`count` random starts with T > 0 from the draws of `balanced_states`, half of them at the
    largest eps that the lemmas allow, the others down to e^-60. Half of the parallel data have one
    label, and v_j of its sign."""
    rng, draws = np.random.default_rng(seed), list(balanced_states().values())
    for k in range(count):
        state = draws[k % len(draws)](rng)
        X, W0 = state["X"] * 10.0 ** rng.uniform(-3.0, 3.0), state["U"]
        W0 = W0 * 10.0 ** rng.uniform(-2.0, 2.0)
        y, signs = state["y"], state["signs"]
        if k % (2 * len(draws)) == 3:
            y, signs = np.ones_like(y), np.ones_like(signs)
        allowed = min(largest_log_eps(X, W0), -0.5 * np.log(len(W0)) - 0.5)
        shrunk = 0.0 if k % 2 else rng.choice([rng.uniform(0.0, 6.0), rng.uniform(0.0, 60.0)])
        loss = LOSSES[k // 2 % len(LOSSES)]
        yield Start(X, y, W0, signs, allowed - shrunk, loss, float(state["leak"]))


Followed = list[tuple[Start, Slack]]


def followed(seed: int, count: int) -> Followed:
    """The flows of `starts`, with their slacks."""
    return [(start, slack(start)) for start in horizon_starts(seed, count)]


def table(found: Followed) -> pd.DataFrame:
    """One row a flow: the largest ratios up to T and 2 T, and how many T each bound holds."""

    def row(pair: tuple[Start, Slack]) -> dict[str, Any]:
        start, along = pair
        cells: dict[str, Any] = {"loss": start.loss.name, "status": along.status}
        for name, at_T, holds in zip(BOUNDS, along.largest, along.holds, strict=True):
            cells |= {name: at_T, f"{name} holds": holds}
        return cells

    return survey(found, row)


def one_neuron(log_eps: float) -> Start:
    """One datum x = y = 1 and one neuron along it, which grows as fast as any can."""
    one = np.ones((1, 1))
    return Start(one, np.ones(1), one, np.ones(1), log_eps)


def _passed(found: pd.DataFrame, names: tuple[str, ...], until: float) -> pd.Series:
    """Along which flows one of these bounds is passed before `until` T."""
    return (found[[f"{name} holds" for name in names]] <= until).any(axis=1)


def directions_follow_their_limit(found: pd.DataFrame) -> list[Evidence]:
    """ea.lem1: |d/dt w_j/|w_j| - s_j P_j x_a(w_j)| <= 4 eps n sqrt(h) X_max^2 W_max^2, t <= T."""
    proved, other = found[found.loss != LOGISTIC.name], found[found.loss == LOGISTIC.name]
    return [
        none_of("flows along which the direction's error passes its bound before T",
                _passed(proved, ("direction",), 1.0)),
        bound("the largest error over its bound", float(proved.direction.max()), "<=", 1.0, "",
              digits=2),
        note("flows with the loss log(1 + exp(-y f)) that pass it, and flows with that loss",
             (int(_passed(other, ("direction",), 1.0).sum()), len(other))),
        *_followed(found),
    ]  # fmt: skip


def neurons_stay_small(found: pd.DataFrame) -> list[Evidence]:
    """ea.lem3: |w_j|^2 <= 2 eps W_max^2 / sqrt(h) and |f(x_i)| <= 2 eps sqrt(h) X_max W_max^2 for
    t <= T (eq. 10); the proof itself gives both without the factor 2."""
    sizes = ["norm", "output"]
    past = (found[sizes] > 0.5 * (1.0 + HORIZON_ROUNDING)).any(axis=1)
    return [
        none_of("flows along which |wⱼ|² or |f| passes its bound before T",
                _passed(found, ("norm", "output"), 1.0)),
        none_of("flows along which one passes 0.5 of its bound before T, which the proof excludes",
                past),
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
             int(_passed(found, ("norm", "output"), 2.0).sum()), 0),
        fact(f"of {len(proved)}, those along which the direction's error passes its bound before "
             "2 T", int(_passed(proved, ("direction",), 2.0).sum()), 0),
        bound("one datum, one neuron along it, ln ε = -1000: when |w|² passes, over T",
              last[-1000.0], "<", 2.002, ""),
        note("the same for ln ε = -10, -100, -1000", tuple(last.values())),
        *_to_the_end(found),
    ]  # fmt: skip


def passing_time(log_eps: float) -> float:
    """When |w|^2 passes 2 eps along the flow of `one_neuron`, over T: u = |w|^2 obeys u' = 2 u
    e^(-u) from eps^2, so that 2 t = Ei(2 eps) - Ei(eps^2)."""
    eps = mpmath.exp(log_eps)
    return float(0.5 * (mpmath.ei(2 * eps) - mpmath.ei(eps**2)) / (-mpmath.mpf(log_eps) / 4))


def _followed(found: pd.DataFrame) -> list[Evidence]:
    return [note("flows: exponential loss, 2 log(1 + e⁻ʸᶠ), log(1 + e⁻ʸᶠ)",
                 tuple(int((found.loss == loss.name).sum()) for loss in LOSSES)),
            *_to_the_end(found)]  # fmt: skip


# --- Lemmas 4 and 10: how far directions are from their motion in the limit of small eps ----------

_SMALL = {"max |f| ≤ 1": lambda state: largest_output(state) <= 1.0}


def errors(state: State, loss: Loss) -> NDArray:
    """|d/dt w_j/|w_j| - s_j P_j x_a(w_j)| of every neuron, shape (h,) (eq. 11)."""
    return np.linalg.norm(turning(state, excess(loss, outputs(state), state["y"])), axis=1)


def _slack(error: float, state: State, rounding: float = 0.0) -> float:
    """2 - error / (n X_max max |f|), without an error of `rounding` n X_max: infinite where the
    outputs are 0, and with them the error."""
    data = len(state["X"]) * np.linalg.norm(state["X"], axis=1).max()
    error, scale = max(error - rounding * data, 0.0), data * largest_output(state)
    if scale == 0.0:
        return np.inf if error == 0.0 else -np.inf
    with np.errstate(over="ignore"):
        return float(2.0 - error / scale)


def near_the_limit(loss: Loss) -> Statement:
    """ea.lem4: the error is at most 2 n X_max max |f| whenever max |f| <= 1 (eq. 11)."""
    return Statement(f"{loss.name} loss: the error of the direction is at most 2 n Xₘₐₓ max|f|",
                     balanced_states(),
                     lambda state: _slack(float(errors(state, loss).max()), state), _SMALL,
                     tolerance=1e-9, fixed=NOT_MOVED)  # fmt: skip


def rates_of_cosines(state: State, loss: Loss) -> tuple[NDArray, NDArray]:
    """The rate of psi_rj = cos(x_r, w_j), and its limit s_j (psi_ra - psi_rj psi_aj) |x_a|, (h,).
    x_r is the state's "reference" over its length; NaN in the limit where x_a(w_j) = 0."""
    r = state["reference"] / np.linalg.norm(state["reference"])
    U = state["U"] / np.linalg.norm(state["U"], axis=1)[:, None]
    slopes = np.where(active(state), 1.0, state["leak"])
    x_a = (slopes * state["y"]) @ state["X"]
    size = np.linalg.norm(x_a, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        psi_ra, psi_aj = x_a @ r / size, (x_a * U).sum(axis=1) / size
    rate = turning(state, loss.pull(outputs(state), state["y"])) @ r
    return rate, state["signs"] * (psi_ra - (U @ r) * psi_aj) * size


def cosines_near_the_limit(loss: Loss) -> Statement:
    """ea.lem10: the rate of cos(x_r, w_j) is within 2 n X_max max |f| of its limit (eq. 24)."""

    def reference(state: State, rng: np.random.Generator) -> Instance:
        among = [*state["X"], *state["U"], rng.standard_normal(state["X"].shape[1])]
        return {"reference": among[int(rng.integers(len(among)))]}

    def slack(state: State) -> float:
        rate, limit = rates_of_cosines(state, loss)
        gaps = np.abs(rate - limit)[~np.isnan(limit)]
        return _slack(float(gaps.max()), state, 1e-13) if gaps.size else np.inf

    return Statement(
        f"{loss.name} loss: the rate of cos(xᵣ, wⱼ) is within 2 n Xₘₐₓ max|f| of its limit",
        extended(balanced_states((0.0,), least=1e-6), reference),
        slack,
        _SMALL,
        tolerance=1e-7,  # 1e-13 at |f| = 1e-6
        fixed=NOT_MOVED,
    )


def at_forty_five_degrees(loss: Loss, log_norm: float = -5.0) -> tuple[float, float, float]:
    """Error, its bound 2 n X_max |f|, and |f|, for x = (1, 0), y = 1 and w at 45 degrees, v > 0."""
    one = np.ones(1)
    state = {"X": np.array([[1.0, 0.0]]), "y": one, "U": np.ones((1, 2)),
             "R": np.array([log_norm]), "signs": one, "leak": np.array(0.0)}  # fmt: skip
    f = largest_output(state)
    return float(errors(state, loss)[0]), 2.0 * f, f


def appendix_loss() -> Reading:
    """Which logistic loss Lemma 1 means, and what the other one does: h = n = W_max = 1."""
    error, _, _ = at_forty_five_degrees(LOGISTIC)
    allowed = 4.0 * np.exp(-5.0)
    return Reading(
        "the logistic loss is 2 log(1 + exp(-y f)), as in Appendix B, whose pull at f = 0 is y",
        "with log(1 + exp(-y f)), as in Section 2.1, the pull at f = 0 is y/2, and the error tends "
        "to half of |P xₐ| as the weights shrink: x = (1, 0), y = 1 and one neuron at 45 degrees "
        f"have at t = 0 an error of {error:.3f}, where {allowed:.3f} is allowed for "
        "ε = |w(0)| = e⁻⁵",
    )


IN_INPUT_SPACE = Reading(
    "xᵣ is a unit vector of the space of inputs (the sphere's dimension is printed as n - 1), "
    "and xₐ(wⱼ) is not 0",
    "where xₐ(wⱼ) = 0 the angle to it is not defined; with its product with |xₐ| read as 0 "
    "the bound holds there too",
)


# --- Speeds against losses: Lemma 15 from below and eq. (50) from above ---------------------------
#
# Both rest on |l'| against l, with q = y f: for the exponential loss |l'| = l, for the logistic
# one, of either factor, c l <= |l'| <= l where q >= 0, with c = 1 / (2 log 2), reached at q = 0.


def rate_of_decay(item: Instance, loss: Loss) -> float:
    """-(dL/dt) / (|v|^2 L^2 gamma^2) of the linear network W (h, d), v (h,), with the largest
    margin gamma of the data: the factor of eq. (31), computed without L. NaN where the margin is
    too small for the solver."""
    X, y, W, v = item["X"], item["y"], item["W"], item["v"]
    f = X @ W.T @ v
    pull = loss.pull(f, y, loss.log_value(f, y)) @ X
    speed = (v @ v) * (pull @ pull) + float(np.sum((W @ pull) ** 2))
    try:
        return speed / (v @ v) * max_margin(X, y).length ** 2
    except InputError:
        return np.nan


def linear_loss_falls(loss: Loss) -> Statement:
    """ea.lem15: dL/dt <= -|v|^2 L^2 gamma^2 / 4 for a linear network that classifies all data
    correctly (eq. 31), gamma being any margin; the largest one is asked for, and the best factor,
    the square of the least |l'| / l, which is not less than 1/4."""
    factor = 1.0 if loss is EXPONENTIAL else 0.25 / np.log(2.0) ** 2
    return Statement(
        f"{loss.name} loss: the loss of a linear network falls at {factor:.4g} |v|² L² γ² "
        "or faster",
        extended(unbalanced(), lambda item, _: {
            "y": np.where(item["X"] @ item["W"].T @ item["v"] > 0.0, 1.0, -1.0)}),
        lambda at: rate_of_decay(at, loss) - factor,
        {"all data are classified correctly":
            lambda at: bool(np.all(at["y"] * (at["X"] @ at["W"].T @ at["v"]) > 0.0)),
         "v is not 0": lambda at: bool(at["v"].any())},
        tolerance=1e-6,  # of the largest margin
        fixed=("y", "c", "at_zero"),
    )  # fmt: skip


def velocity(item: Instance, loss: Loss) -> NDArray:
    """F / L of the ReLU network W (h, d), v (h,), without L, W row by row, then v; s'(0) = 0."""
    X, y, W, v = item["X"], item["y"], item["W"], item["v"]
    network, theta = fully_connected([X.shape[1], len(v)]), np.concatenate([W.ravel(), v])
    f = network.output(theta, X)
    return network.gradient(theta, X, loss.pull(f, y, loss.log_value(f, y)))


def speed_is_bounded(loss: Loss) -> Statement:
    """ea.eq50: |F(W, v)| <= X_max L(W(0), v(0)) |(W, v)| where L <= L(W(0), v(0)) (eqs. 48 to 50);
    L itself stands for L(W(0), v(0)), the case that asks most. The slack is relative."""

    def slack(item: Instance) -> float:
        length = np.sqrt(np.sum(item["W"] ** 2) + np.sum(item["v"] ** 2))
        speed = np.linalg.norm(velocity(item, loss))
        return 1.0 - float(speed / (np.linalg.norm(item["X"], axis=1).max() * length))

    return Statement(
        f"{loss.name} loss: |F| ≤ Xₘₐₓ L |(W, v)|",
        unbalanced(),
        slack,
        tolerance=1e-12,
        fixed=("y", "c", "at_zero"),
    )


# --- Appendix E.2: under (A1) each boundary is crossed at most once in all time -------------------

DECADES = 10.0
"""Flows are followed until the loss has fallen by this many powers of ten, or falls no more."""
_ON = 1e-9
"""Cosines up to this size are 0: within it an event is located, and a dead neuron rests."""
_KINDS = ("wide", "integers", "parallel", "one against many")
_HOW: Mapping[str, Any] = {"max_steps": 3000, "method": DOP853}


def far(start: Start) -> FlowPath:
    """The flow until the loss has fallen by many powers of ten, or falls no more. In time while
    neurons are small and turn within a moment of log(1/L); then on that clock."""
    early = start.flow(30.0 / start.X_max, rtol=1e-6, **_HOW,
                       stop=lambda _, z: -1.0 - z[start.W0.size :].max())  # fmt: skip
    field = parts(early)[0]
    late = replace(field, clock=LOG_LOSS)
    until = late.begin(early.end) + DECADES * np.log(10.0)
    return then(early, late, until, at_zero=0.0, rtol=1e-6, **_HOW)


def problems(seed: int, count: int) -> Iterator[Start]:
    """Random starts on orthogonally separable data. Norms from e^-6 to 2 over the size of the data;
    whole-number data come with whole-number weights, the first of which is `across` a datum;
    another quarter starts along the data."""
    rng, draws = np.random.default_rng(seed), setting.separable_draws((2, 6), (2, 6))
    for k in range(count):
        item = draws[_KINDS[k % 4]](rng)
        X, y, h = item["X"], item["y"], int(rng.integers(2, 7))
        W = rng.standard_normal((h, X.shape[1]))
        if _KINDS[k % 4] == "integers":
            W = np.round(W)
            W[~W.any(axis=1)] = X[0]
            W[0] = across(X[0], W[0])
        elif _KINDS[k % 4] == "parallel":
            W[::2] = -X[rng.integers(0, len(X), len(W[::2]))]
        size = rng.uniform(-6.0, 0.7, h) - 0.5 * np.log(np.linalg.norm(X, axis=1).max())
        W *= (np.exp(size) / np.linalg.norm(W, axis=1))[:, None]
        yield Start(X, y, W, np.resize([1.0, -1.0], h), loss=LOSSES[k // 4 % 3])


def across(x: NDArray, w: NDArray) -> NDArray:
    """w (d,), or an axis if it is along x (d,), without its part along x: whole numbers, d > 1."""
    away = (x @ x) * w - (w @ x) * x
    return away if away.any() else across(x, np.eye(len(x))[np.abs(x).argmin()])


def crossings(path: FlowPath) -> Counter[tuple[int, int]]:
    """How often each (datum, neuron) changes its activity along a path. A neuron that has died
    within rounding of its boundary may be switched off once more where a leg begins; the same
    change twice in a row is one."""
    times: Counter[tuple[int, int]] = Counter()
    last: dict[tuple[int, int], str] = {}
    for event in path.events:
        pair = event.datum, event.neuron
        if event.kind != "slide" and last.get(pair) != event.kind:
            times[pair] += 1
            last[pair] = event.kind
    return times


def backward(path: FlowPath, start: Start) -> int:
    """How many changes of activity go against y_i sign(v_j): the wrong way by eq. (46)."""
    ways = (1.0 if e.kind == "activate" else -1.0 for e in path.events)
    right = (start.y[e.datum] * start.signs[e.neuron] for e in path.events)
    return sum(way != sign for way, sign in zip(ways, right, strict=True))


def revived(path: FlowPath) -> bool:
    """Whether a neuron is active on a datum after it was active on none."""
    field, chart = parts(path)
    cosines = [chart.cosines(z, field.X)[0] for z in path.at(path.grid(40)[:-1])]
    silent = np.array([np.all(of <= _ON, axis=0) for of in cosines], bool)
    return bool(np.any(silent[:-1] & ~silent[1:]))


def across_boundaries(seed: int, count: int) -> pd.DataFrame:
    """One row a flow of `problems`, followed `far`: its status, the number of changes of activity,
    the most of one boundary, those that go backward, whether a dead neuron revives, and whether one
    starts on a boundary, and is active on another datum."""

    def measured(start: Start) -> dict[str, Any]:
        path = far(start)
        times, (field, chart) = crossings(path), parts(path)
        cosines = chart.cosines(path.at(path.t[0]), field.X)[0]  # (n, h)
        on = np.any(np.abs(cosines) <= _ON, axis=0)
        return {"status": path.status, "changes": sum(times.values()),
                "most": max(times.values(), default=0), "backward": backward(path, start),
                "revived": revived(path),
                "on": bool(on.any()),
                "awake": bool(np.any(on & np.any(cosines > _ON, axis=0)))}  # fmt: skip

    return survey(problems(seed, count), measured)


# A boundary that is crossed twice where (A1) fails.

TWICE = (np.array([[3, 0, 0], [-1, 0, 1], [1, 5, 5]]), np.ones(3), np.array([1, -4, 2]))
"""Data, labels and one neuron with v > 0: it loses the second datum and regains it."""


def exact_changes(X: NDArray, y: NDArray, w: NDArray) -> list[tuple[Fraction, int]]:
    """The changes of activity of a neuron of V_+ in the limit of small weights, in exact numbers:
    the way of w along the sums of y_i x_i over the active data up to a change, and its datum."""
    path = polygon(X, y, w)
    changes = zip(path.ways, path.events, strict=True)
    return [(way, datum) for way, event in changes for datum, _ in event]


def crossed_once(found: pd.DataFrame) -> list[Evidence]:
    """ea.eq46.2: under (A1) each <x_i, w_j> = 0 is crossed at most once (E.2), but not without."""
    return [
        none_of("flows in which some boundary is crossed twice", found.most > 1),
        fact("changes of activity against the direction of eq. (46)", int(found.backward.sum()), 0,
             tried=int(found.changes.sum())),
        fact("without (A1): changes of activity by datum in the example, exactly",
             tuple(datum + 1 for _, datum in exact_changes(*TWICE)), (2, 3, 2)),
        note("most changes of activity in one flow", int(found.changes.max())),
    ]  # fmt: skip


# --- Appendix E.2 and E.5: under (A1) a regular Caratheodory solution exists for all times --------

ANTIPARALLEL = Start(
    np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]),
    np.array([[1.0, 1.0]]), -np.ones(1), -0.5 * np.log(2.0),
)  # fmt: skip
"""A neuron of V_- that is active on the positive datum only. Where it loses that, the other one
would wake: at this moment it is in S_dead. The regular solution keeps it there."""


def solutions_exist(found: pd.DataFrame) -> list[Evidence]:
    """ea.eq46.3: under (A1) a regular Caratheodory solution, s'(0) = 0, exists for all t >= 0."""
    stuck = ~found.status.isin(["horizon", "converged", "stalled"])
    lives = tuple(revived(ANTIPARALLEL.flow(3.0, at_zero=at_zero, rtol=1e-8, **_HOW))
                  for at_zero in (0.0, None))  # fmt: skip
    return [
        none_of("flows that do not go on for ever: that slide, branch or come to a stop", stuck),
        none_of("flows in which a dead neuron comes to life", found.revived),
        note("flows that start on a boundary, and of these with a neuron there that is active",
             (int(found.on.sum()), int(found.awake.sum()))),
        fact("antiparallel data: the neuron revives, along the regular solution and along another",
             lives, (False, True)),
    ]  # fmt: skip


# --- Eq. (46): under (A1) a neuron moves the same way across all boundaries -----------------------

VELOCITY = Reading(
    "the gradient in (46) is the velocity of the flow: Appendix E.2 writes the flow as θ' = F(θ) "
    "with F = ∇L, and (46) as a product with F",
    "with the gradient of L itself, which is the opposite of the velocity of (2), every active "
    "neuron breaks the inequality: x = 1, y = 1 and w = v = 1 have -1/e for the exponential loss",
)
_DRAWS = {**setting.separable_draws((2, 12), (2, 7)), "few": setting.few}
_A1 = {"(A1)": lambda item: bool(separation(item["X"], item["y"]) > 0.0)}


def _cosines(item: Instance, loss: Loss) -> NDArray:
    """y_i sign(v_j) <x_i, F_j> over |x_i| |F_j|, (n, j), j active on some datum."""
    X, y, W = item["X"], item["y"], item["W"]
    awake = np.any(W @ X.T > 0.0, axis=1)
    Z = y[:, None] * X / np.linalg.norm(X, axis=1)[:, None]
    moving = velocity(item, loss)[: W.size].reshape(W.shape)[awake]
    moving = moving * np.sign(item["v"][awake])[:, None]
    return Z @ (moving / np.linalg.norm(moving, axis=1)[:, None]).T


def _with_weights(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Data of one label in a fifth of the draws, and weights of any size, some whole numbers."""
    X, y = item["X"], item["y"]
    if rng.random() < 0.2:
        X, y = y[:, None] * X, np.ones(len(y))
    h, d = int(rng.integers(1, 5)), X.shape[1]
    W, v = rng.standard_normal((h, d)), rng.standard_normal(h)
    if np.all(np.round(X) == X):
        W = np.round(2.0 * W)
    size = 10.0 ** rng.uniform(-6.0, 1.5) / np.linalg.norm(X, axis=1).max()
    return {"X": X, "y": y, "W": W * size, "v": v}


def velocity_points_inward(loss: Loss) -> Statement:
    """ea.eq46.1: y_i sign(v_j) <x_i, F_j> > 0 for all i, active j; F_j = -grad_(w_j) L."""
    return Statement(
        f"{loss.name} loss: yᵢ sign(vⱼ) ⟨xᵢ, −∇L⟩ > 0 for active neurons",
        extended(_DRAWS, _with_weights),
        lambda item: float(_cosines(item, loss).min()),
        {**_A1,
         "a neuron is active": lambda item: bool(np.any(item["W"] @ item["X"].T > 0.0)),
         "no vⱼ is 0": lambda item: bool(item["v"].all())},
        strict=True,
        fixed=("y",),
    )  # fmt: skip


# --- Second route: E.3 and E.4 settled exactly: one neuron on the boundary of one datum -----------
#
# x = (1, 0) and w = (p, q): only p and v move. While v > 0 the sign of p' is that of y s'(p): a
# number for p > 0, one for p = 0 and one for p < 0, which decide all (the page has the proof).


def slopes(at_zero: Fraction, leak: Fraction = Fraction()) -> dict[str, Fraction]:
    """The derivative of the activation for p > 0, at p = 0 and for p < 0."""
    return {"above": Fraction(1), "at": at_zero, "below": leak}


def ways(label: int, at_zero: Fraction, leak: Fraction = Fraction()) -> tuple[str, ...]:
    """What a solution from p = 0, v = 1 can do: "stay" at 0, leave "above", leave "below". No way
    at all means that there is no Caratheodory solution on any interval [0, t_0]."""
    pushes = {side: label * slope for side, slope in slopes(at_zero, leak).items()}
    possible = {"stay": pushes["at"] == 0, "above": pushes["above"] > 0,
                "below": pushes["below"] < 0}  # fmt: skip
    return tuple(way for way, can in possible.items() if can)


def euler(at_zero: Fraction, step: Fraction, count: int) -> list[Fraction]:
    """p along `count` explicit Euler steps of E.3, y = -1, from p = 0, v = 1. At p <= 0 the output
    is 0 and the exponential 1, and v stays: p' = -s'(p), and every step is rational."""
    found = [0 * step]
    for _ in range(count):
        found.append(found[-1] - step * slopes(at_zero)["below" if found[-1] else "at"])
    return found


# --- The two examples of Appendix E on a boundary: no solution (E.3), and too many (E.4) ----------
#
# The same neuron: w(0) = (0, 1), v(0) = 1, exponential loss.

SLOPES = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
"""Values of s'(0) for which E.3 is tried; its argument needs only that s'(0) > 0."""


def no_solution() -> list[Evidence]:
    """ea.E3: with s'(0) = a > 0 and y = -1 there is no Caratheodory solution; with s'(0) = 0 there
    is the constant one and no other (Appendix E.3)."""
    left = tuple(len(ways(-1, a)) for a in SLOPES)
    ends = tuple(euler(SLOPES[1], Fraction(1, 10**k), 10)[-1] for k in (1, 2, 3))
    return [
        fact("ways to leave p = 0 or to stay, for s'(0) = 1/4, 1/2, 1", left, (0, 0, 0)),
        fact("with s'(0) = 0, the ways", ways(-1, Fraction(0)), ("stay",)),
        fact("s'(0) = 1/2: p after ten explicit steps of 1/10, 1/100, 1/1000",
             ends, tuple(Fraction(-1, 2 * 10**k) for k in (1, 2, 3))),
    ]  # fmt: skip


def many_solutions() -> list[Evidence]:
    """ea.E4: s'(0) = 0, y = 1: the neuron may rest for ever, or leave at any time (eq. 47)."""
    return [
        fact("ways to go on from p = 0 with s'(0) = 0", ways(1, Fraction(0)),
             ("stay", "above")),
        bound("p = sinh s, v = cosh s, dt = eᵖᵛ ds: residual of its integral equation at s = 1",
              departure_residual(1.0), "<=", 1e-7, ""),
        note("loss at t = 8 of the one that leaves at t_0 = 0; it stays 1 for the constant one",
             float(np.exp(-np.prod(leaving(8.0)))), digits=3),
    ]  # fmt: skip


# --- Appendix F: under (A1) a regular solution of the inclusion is the equation's -----------------


def _on_boundaries(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """A neuron w on the boundaries of some data (`on`), each of which takes a slope in [0, 1]; the
    pulls c are any positive numbers. Not all slopes are 0."""
    X, (n, d) = item["X"], item["X"].shape
    on = np.zeros(n, bool)
    on[rng.permutation(n)[: int(rng.integers(1, min(n, d) + 1))]] = True
    basis = np.linalg.svd(X[on] / np.linalg.norm(X[on], axis=1)[:, None])
    free = basis[2][int((basis[1] > 1e-9).sum()) :]
    w = free.T @ (free @ rng.standard_normal(d))  # whichever basis of its space `free` is
    w = np.where(np.abs(w) > 1e-12, w, 0.0)  # 0 but for rounding
    size = np.linalg.norm(X, axis=1) * max(float(np.linalg.norm(w)), 1e-300)
    active = X @ w > 1e-9 * size  # a multiple of a datum `on` has 0 up to rounding
    slopes = rng.choice([0.0, 1.0, rng.uniform()], n)
    slopes[rng.choice(np.flatnonzero(on))] = rng.uniform(1e-3, 1.0)
    c = 10.0 ** rng.uniform(-3.0, 3.0, n)
    return {"w": w, "on": on, "slopes": np.where(on, slopes, active), "c": c}


@statement("every element of the inclusion that is not 0 crosses the boundaries the same way",
           extended(_DRAWS, _on_boundaries),
           {**_A1, "an element that is not 0": lambda item: bool(np.any(item["slopes"] > 0.0))},
           strict=True, fixed=("y", "on"))  # fmt: skip
def selections_point_inward(X: NDArray, y: NDArray, slopes: NDArray, c: NDArray) -> float:
    """ea.appF: on a boundary every element of the differential inclusion that is not 0 crosses it
    the way eq. (46) says, so that a regular solution of Filippov is one of Caratheodory:
    the least cosine of that element and the z_i."""
    Z = y[:, None] * X
    Z = Z / np.linalg.norm(Z, axis=1)[:, None]
    moved = (slopes * c / (slopes * c).max()) @ Z
    return float((Z @ moved).min() / np.linalg.norm(moved))
