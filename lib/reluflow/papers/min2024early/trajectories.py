"""One trajectory from ln eps through the alignment and the fall of the loss, and its starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.charts import LOG_LOG, LOG_LOSS, TIME, Neurons
from reluflow.flows.integrate import FlowPath, log_elapsed, log_steepness, then
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early import setting
from reluflow.papers.min2024early.theorem_1 import enough_log_eps, enough_time

# --- One trajectory from ln eps through the alignment to L = e^-reach -----------------------------
#
# Three clocks carry it: time up to t_2, then log(1/L), then log log(1/L). All sizes are logarithms,
# so that eps = e^-100000 and times of 10^100 are ordinary numbers.

_POINTS = 160
"""Moments of a stretch of a trajectory."""


class Lost(Exception):
    """A trajectory that could not be followed to its end."""


@dataclass(frozen=True)
class Start:
    """Data X (n, d), y (n,), the matrix W0 (h, d), a row a neuron, signs (h,) of v_j, ln eps."""

    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray
    loss: Loss
    log_eps: float

    @property
    def data(self) -> setting.DataConstants:
        return setting.data_constants(self.X, self.y)

    @property
    def start(self) -> setting.StartConstants:
        return setting.start_constants(self.X, self.y, self.W0, self.signs)

    def centre(self, sign: float) -> NDArray:
        """x_+ or x_-, (d,)."""
        return self.X[self.y == sign].sum(axis=0)

    def flow(self, until: float, **options: Any) -> FlowPath:
        """The flow from this start over the time `until`."""
        start = self.X, self.y, self.W0, self.signs, self.log_eps
        return setting.flow(*start, until, self.loss, **options)


@dataclass(frozen=True)
class Moments:
    """States of a trajectory at m moments: directions U (m, h, d), log norms R (m, h), log L (m,),
    and log_time (m,), log t before t_2 and log(t - t_2) from there on."""

    U: NDArray
    R: NDArray
    log_loss: NDArray
    log_time: NDArray


@dataclass(frozen=True, eq=False)
class Begun:
    """A trajectory up to t_2, with neurons in S_+ and in S_- at t_1 and all others in S_dead."""

    given: Start
    t_1: float  # the time of Theorem 1, part 1
    t_2: dict[float, float]  # {1: t_2^+, -1: t_2^-}
    lives: NDArray  # whether a neuron is in the cone of its sign at t_1, (h,)
    path: FlowPath  # legs: time up to t_1, up to the first t_2, up to the second

    @property
    def fall(self) -> float:
        """t_2, from which the bound on the loss holds."""
        return max(self.t_2.values())

    def own(self, sign: float) -> NDArray:
        """Indices of the neurons in S_+ (sign 1) or S_- (sign -1) from t_1 on."""
        return np.flatnonzero(self.lives & (self.given.signs == sign))

    def at(self, t: NDArray) -> Moments:
        """Moments at times t (m,) from 0 to t_2."""
        with np.errstate(divide="ignore"):
            return Moments(*self._moments(self.path.interpolant(t)), np.log(t))

    def _moments(self, Z: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """U, R and log L at states Z (m, k)."""
        field, chart = setting.parts(self.path)
        U, R = chart.split(Z)
        U = U / np.linalg.norm(U, axis=-1, keepdims=True)
        return U, R, np.array([field.log_loss(z) for z in Z])


@dataclass(frozen=True, eq=False)
class Whole(Begun):
    """A trajectory to its end: two more legs, on the clocks log(1/L) and log log(1/L)."""

    @cached_property
    def aligning(self) -> Moments:
        """Moments from 1e-4 t_1 to t_1, evenly on a logarithmic axis."""
        return self.at(np.geomspace(1e-4 * self.t_1, self.t_1, _POINTS))

    @cached_property
    def waiting(self) -> Moments:
        """Moments from t_1 to t_2, half of them dense towards either end."""
        share = np.concatenate([[0.0], np.geomspace(1e-5, 0.5, _POINTS // 2)])
        share = np.unique(np.concatenate([share, 1.0 - share]))
        return self.at(self.t_1 + (self.fall - self.t_1) * share)

    @cached_property
    def falling(self) -> Moments:
        """Moments from t_2 on, evenly in log(1/L), then in log log(1/L); the first has t = t_2."""
        legs = [leg for leg in self.path.legs if leg.field.clock != TIME]
        Z = np.vstack([leg.interpolant(np.linspace(leg.t[0], leg.t[-1], _POINTS)) for leg in legs])
        Z = np.delete(Z, _POINTS * np.arange(1, len(legs)), axis=0)
        U, R, log_loss = self._moments(Z)
        on, given = np.flatnonzero(self.lives), self.given
        steep = [log_steepness(u[on], r[on], given.signs[on], given.X, given.y, given.loss)
                 for u, r in zip(U, R, strict=True)]  # fmt: skip
        return Moments(U, R, log_loss, log_elapsed(-log_loss, np.array(steep)))


def reduced(given: Start) -> Start:
    """The same data and neurons in coordinates of their span, in which the flow stays."""
    k = len(given.X) + len(given.W0)
    if given.X.shape[1] <= k:
        return given
    Q = np.linalg.qr(np.vstack([given.X, given.W0]).T)[0]
    return replace(given, X=given.X @ Q, W0=given.W0 @ Q)


def begin(given: Start, rtol: float = 1e-8, t_1: float | None = None) -> Begun | None:
    """The trajectory of a start up to t_2, with t_1 as printed unless it is given. None where the
    hypotheses fail: where at t_1 a neuron is in none of its cones, so that part 1 does not hold
    (the printed t_1 does not know the start), or where S_+ or S_- has no neuron. Raises Lost where
    the flow cannot be followed, or has no t_2 up to four times the paper's bound."""
    given = reduced(given)
    data, start = given.data, given.start
    if t_1 is None:
        t_1 = setting.alignment_time(data, setting.printed_zeta(data, start))
    path = given.flow(t_1, rtol=rtol)
    field, chart = setting.parts(path)  # one chart for all legs: no number is as small as e^(-1e5)
    active = [pattern for _, pattern in setting.patterns(path)][-1]
    lives = np.all(active == (given.y[:, None] == given.signs), axis=0)
    both = all(np.any(lives & (given.signs == sign)) for sign in (1.0, -1.0))
    if path.status != "horizon":
        raise Lost(f"before t₁: {path.detail}")
    if not both or not np.all(lives | ~active.any(axis=0)):
        return None
    t_2: dict[float, float] = {}
    while len(t_2) < 2:
        left = [sign for sign in (1.0, -1.0) if sign not in t_2]
        last = max(setting.fit_time(data, start, given.log_eps, t_1, s) for s in left)
        path = then(path, field, 4.0 * last, at_zero=0.0, rtol=rtol,
                    stop=lambda _, z, left=left: 0.25 - max(_largest(given, chart, z, s)
                                                            for s in left))  # fmt: skip
        if path.status != "stopped":
            raise Lost(f"before t₂: {path.detail}")
        first = max(left, key=lambda s: _largest(given, chart, path.end, s))
        t_2[first] = float(path.t[-1])
    return Begun(given, t_1, t_2, lives, path)


def follow(
    given: Start, reach: float = 1e6, rtol: float = 1e-8, t_1: float | None = None
) -> Whole | None:
    """The trajectory of a start to log(1/L) = `reach`; `t_1`, None and Lost as for `begin`."""
    begun = begin(given, rtol, t_1)
    if begun is None:
        return None
    path, field = begun.path, setting.parts(begun.path)[0]
    tau = -field.log_loss(path.end)
    path = then(path, replace(field, clock=LOG_LOSS), max(2.0, tau + 0.1), at_zero=0.0, rtol=rtol)
    path = then(path, replace(field, clock=LOG_LOG), float(np.log(reach)), at_zero=0.0, rtol=rtol)
    if path.status != "horizon":
        raise Lost(f"after t₂: {path.detail}")
    return Whole(begun.given, begun.t_1, begun.t_2, begun.lives, path)


def _largest(given: Start, chart: Neurons, z: NDArray, sign: float) -> float:
    """max |f(x_i)| over the data of one label."""
    return float(np.abs(chart.outputs(z, given.X)[given.y == sign]).max())


# --- Starts of whole trajectories at the largest eps that (Small) allows --------------------------

LOSSES: tuple[Loss, ...] = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)
"""The exponential loss and the logistic one of Appendix B and of Section 2.1."""
LATE = 1e-9
"""Tolerance of flows from late starts, whose angles are 1e-8 at first."""


def data_draws() -> setting.Draws:
    """Draws of {"X", "y"} with data of both labels: mu from 0.03 to 0.9, up to 50 dimensions.
    Lengths that differ by more than 100 would ask for an eps below e^(-10^9), whose log norms have
    no digit left after the point: those draws are left to the lemmas."""
    kept = setting.separable_draws(sizes=(2, 6))

    def narrow(rng: np.random.Generator) -> dict[str, NDArray]:
        mu = float(10.0 ** rng.uniform(-1.5, -1.0))
        n, d = int(rng.integers(2, 5)), int(rng.integers(2, 51))
        return dict(zip(("X", "y"), setting.separable(n, d, mu, rng, 0.3), strict=True))

    names = ("wide", "integers", "parallel", "one against many")
    return {**{name: kept[name] for name in names}, "narrow": narrow}


def neurons(X: NDArray, y: NDArray, signs: NDArray, rng: np.random.Generator) -> NDArray:
    """W_0 (h, d): the first of either sign active on a datum of its label, the third at an angle of
    1e-6 from the direction that (A2) forbids it; lengths over six decades."""
    W0 = rng.standard_normal((len(signs), X.shape[1]))
    for k, sign in enumerate(signs[:2]):
        x = X[rng.choice(np.flatnonzero(y == sign))]
        W0[k] *= np.sign(W0[k] @ x)
    forbidden = X[y == -signs[2]].sum(axis=0)
    W0[2] = forbidden / np.linalg.norm(forbidden) + 1e-6 * W0[2]
    lengths = 10.0 ** rng.uniform(-6.0, 0.0, (len(signs), 1))
    return W0 / np.linalg.norm(W0, axis=1, keepdims=True) * lengths


def starts(seed: int, count: int) -> Iterator[Start]:
    """`count` starts of four neurons, two of either sign, the kinds of data and the losses in turn.
    eps is the largest that (Small) allows with the constants as printed; for a mu below 0.03 it is
    less than e^(-10^8), whose log norms are too coarse."""
    rng = np.random.default_rng(seed)
    draws, signs = list(data_draws().values()), np.array([1.0, -1.0, 1.0, -1.0])
    for k in range(count):
        while True:
            item = draws[k % len(draws)](rng)
            X, y = np.asarray(item["X"]), np.asarray(item["y"])
            if len(set(y)) == 2 and separation(X, y) > 0.03:
                break
        made = Start(X, y, neurons(X, y, signs, rng), signs, LOSSES[k % 3], 0.0)
        yield replace(made, log_eps=allowed(made))


def late_starts(seed: int, count: int) -> Iterator[tuple[Start, float]]:
    """`count` starts that are not home at the printed t_1, each with a time at which they are.

    Two data in the plane, one of them up to twice as long, with mu from 0.88 to 0.99, and three
    neurons: one so near to the direction that (A2) forbids it that it stays in the wrong cone for
    longer than t_1, and one along either datum. eps is the largest that (Small) allows as printed,
    or that of `theorem_1` if it is less; the time is T_*, at which all neurons are home by it.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        mu, turn, side = rng.uniform(0.88, 0.99), rng.uniform(0.0, 2.0 * np.pi), 1.0 - 2.0 * (k % 2)
        across = np.array([np.sqrt(1.0 - mu**2), mu])
        X = np.array([[rng.uniform(1.0, 2.0), 0.0], [-mu, across[0]]])
        y, signs = side * np.array([1.0, -1.0]), side * np.array([1.0, 1.0, -1.0])
        data = setting.data_constants(X, y)
        angle = np.exp(-1.0 - rng.uniform(1.1, 1.2) * setting.alignment_time(data, data.xi))
        W0 = np.vstack([X[1] + angle * across, X]) * 10.0 ** rng.uniform(-3.0, 0.0, (3, 1))
        turned = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        made = Start(X @ turned, y, W0 @ turned, signs, LOSSES[k % 3], 0.0)
        given = made.X, made.y, made.W0, made.signs
        pull = float(made.loss.pull(np.zeros(1), np.ones(1), relative=False)[0])
        log_eps = min(allowed(made), enough_log_eps(*given))
        yield replace(made, log_eps=log_eps), enough_time(*given) / pull


def allowed(given: Start) -> float:
    """ln of the largest eps that (Small) allows, with zeta = max(zeta_1, zeta_2) as printed."""
    data, start = given.data, given.start
    return setting.log_eps_allowed(data, start, setting.printed_zeta(data, start))


@dataclass(frozen=True)
class Survey:
    """The trajectories `found`, the number of starts `outside` the hypotheses, and of those `lost`
    although they meet them."""

    found: list[Whole]
    outside: int
    lost: int


def trajectories(seed: int, count: int) -> Survey:
    """The trajectories of `count` starts."""
    found, lost = list[Whole | None](), 0
    for each in starts(seed, count):
        try:
            found.append(follow(each))
        except Lost:
            lost += 1
    kept = [each for each in found if each is not None]
    return Survey(kept, len(found) - len(kept), lost)


def late_trajectories(seed: int, count: int) -> Survey:
    """The trajectories of `count` late starts, from the time at which they are home; `outside` are
    those that are not, or that are home at the printed t_1 already."""
    found = []
    for given, t_1 in late_starts(seed, count):
        each = follow(given, rtol=LATE, t_1=t_1)
        if each is not None and begin(given) is None:
            found.append(each)
    return Survey(found, count - len(found), 0)


def late(survey: Survey) -> Evidence:
    """That late starts are what they should be: not home at the printed t_1, and home at T_*."""
    drawn = len(survey.found) + survey.outside
    return fact("of these, late starts: not home at the printed t₁, home at T⁎; and all drawn",
                (len(survey.found), drawn), (drawn, drawn))  # fmt: skip


def followed(survey: Survey) -> list[Evidence]:
    """How many trajectories there are, and that none was lost: a part of every claim's evidence."""
    return [
        fact("trajectories that meet the hypotheses and were lost", survey.lost, 0,
             tried=len(survey.found) + survey.lost),
        note("starts left out, since at t_1 a neuron is not where part 1 says or a cone is empty",
             survey.outside),
    ]  # fmt: skip
