"""The page `convergence`: Theorem 1, part 2, Appendices D.2 and D.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from reluflow.errors import InputError
from reluflow.falsify import Draws, Instance, Statement, extended, given, statement
from reluflow.flows.alignment import Beside, align
from reluflow.flows.charts import LOG_LOG, LOG_LOSS, TIME, Neurons
from reluflow.flows.integrate import FlowPath, log_elapsed, log_steepness, then
from reluflow.geometry.separability import separation, serves
from reluflow.ledger import Evidence, Reading, bound, deviation, fact, note
from reluflow.losses import LOGISTIC, Loss
from reluflow.margin.max_margin import MaxMargin, max_margin
from reluflow.papers.min2024early import setting
from reluflow.papers.min2024early.lemmas import LOSSES
from reluflow.papers.min2024early.setting import Start, none_lost, none_of
from reluflow.papers.min2024early.theorem_1 import both_labels, odd

# --- One trajectory from ln eps through the alignment to L = e^-reach -----------------------------
#
# Three clocks carry it: time up to t_2, then log(1/L), then log log(1/L). All sizes are logarithms,
# so that eps = e^-100000 and times of 10^100 are ordinary numbers.

_POINTS = 160
"""Moments of a stretch of a trajectory."""


T = TypeVar("T")


class Lost(Exception):
    """A trajectory that could not be followed to its end."""


class Survey(list[T]):
    """What is known of each trajectory that was followed to its end, and how many were `lost`."""

    lost = 0

    @classmethod
    def of(cls, follow: Callable[[Start], T | None], starts: Iterable[Start]) -> Survey[T]:
        """What `follow` makes of the starts; None leaves one out."""
        found: Survey[T] = cls()
        for start in starts:
            try:
                each = follow(start)
            except Lost:
                found.lost += 1
            else:
                found += [] if each is None else [each]
        return found

    @property
    def none_lost(self) -> Evidence:
        """That the integrator loses none: a part of the evidence of each claim about them."""
        return none_lost(["horizon"] * len(self) + ["lost"] * self.lost)


@dataclass(frozen=True)
class Moments:
    """States of a trajectory at m moments: directions U (m, h, d), log norms R (m, h), log L (m,),
    and log_time (m,), log t before t_2 and log(t - t_2) from there on."""

    U: NDArray
    R: NDArray
    log_loss: NDArray
    log_time: NDArray


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A flow with neurons in S_+ and in S_- at t_1 and all others in S_dead, up to t_2 or further.
    Legs of its path: time up to t_1, up to the first t_2, up to the second; log(1/L);
    log log(1/L)."""

    given: Start
    t_1: float  # the time of Theorem 1, part 1
    t_2: dict[float, float]  # {1: t_2^+, -1: t_2^-}
    lives: NDArray  # whether a neuron is in the cone of its sign at t_1, (h,)
    path: FlowPath

    @property
    def fall(self) -> float:
        """t_2, from which the bound on the loss holds."""
        return max(self.t_2.values())

    @property
    def bounds(self) -> dict[float, float]:
        """{1: bound (39) on t_2^+, -1: that on t_2^-}."""
        return {s: self.given.fit_time(self.t_1, s) for s in self.t_2}

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
        signed = np.maximum(U @ field.X.T, 0.0) * chart.signs[:, None]
        outputs = (np.exp(2.0 * R)[:, None] @ signed)[:, 0]
        return U, R, field.loss.log_value(outputs, field.y)

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
        steep = log_steepness(U[:, on], R[:, on], given.signs[on], given.X, given.y, given.loss)
        return Moments(U, R, log_loss, log_elapsed(-log_loss, steep))


def begin(given: Start, rtol: float = 1e-8, t_1: float | None = None) -> Trajectory | None:
    """The trajectory of a start up to t_2, with t_1 as printed unless it is given. None where the
    hypotheses fail: where at t_1 a neuron is in none of its cones, so that part 1 does not hold
    (the printed t_1 does not know the start), or where S_+ or S_- has no neuron. Raises Lost where
    the flow cannot be followed, or has no t_2 up to four times the paper's bound."""
    if t_1 is None:
        t_1 = setting.alignment_time(given.data, given.printed_zeta)
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
        last = max(given.fit_time(t_1, s) for s in left)
        path = then(path, field, 4.0 * last, at_zero=0.0, rtol=rtol,
                    stop=lambda _, z, left=left: 0.25 - max(_largest_output(given, chart, z, s)
                                                            for s in left))  # fmt: skip
        if path.status != "stopped":
            raise Lost(f"before t₂: {path.detail}")
        first = max(left, key=lambda s: _largest_output(given, chart, path.end, s))
        t_2[first] = float(path.t[-1])
    return Trajectory(given, t_1, t_2, lives, path)


def follow(
    given: Start, reach: float = 1e6, rtol: float = 1e-8, t_1: float | None = None
) -> Trajectory | None:
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
    return replace(begun, path=path)


def _largest_output(given: Start, chart: Neurons, z: NDArray, sign: float) -> float:
    return float(np.abs(chart.outputs(z, given.X)[given.y == sign]).max())


# --- Starts of whole trajectories at the largest eps that (Small) allows --------------------------


def data_draws() -> Draws:
    """Draws of {"X", "y"} with data of both labels: mu from 0.03 to 0.9, up to 8 dimensions.
    Lengths that differ by more than 100 would ask for an eps below e^(-10^9), whose log norms have
    no digit left after the point: those draws are left to the lemmas."""
    kept = setting.separable_draws((2, 8), (2, 6))

    def narrow(rng: np.random.Generator) -> dict[str, NDArray]:
        mu = float(10.0 ** rng.uniform(-1.5, -1.0))
        n, d = int(rng.integers(2, 5)), int(rng.integers(2, 9))
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
        made = Start(X, y, neurons(X, y, signs, rng), signs, loss=LOSSES[k % 3])
        yield replace(made, log_eps=allowed(made))


def allowed(given: Start) -> float:
    """ln of the largest eps that (Small) allows, with zeta = max(zeta_1, zeta_2) as printed."""
    return given.log_eps_allowed(given.printed_zeta)


def trajectories(seed: int, count: int) -> Survey[Trajectory]:
    """The trajectories of those of `count` starts that meet the hypotheses."""
    return Survey.of(follow, starts(seed, count))


# --- Why t_1 in part 2 must be a time at which part 1 holds, and not the number in its proof ------


def late_neuron() -> tuple[float, float]:
    """Of the page's example, with neurons a and b: when a leaves S_-, and log(|a|^2 / |b|^2) at
    t_1, which is positive where f(x_2) > 0. At t_1 the angle of a to x_2 is below 1e-70, so that
    cosines with x_2 are 1."""
    log_angle, log_size = -230.0, -130.0  # at the start: of that angle, and of |b| / |a|
    X, y = np.array([[1.0, 0.0], [-0.5, 0.75**0.5]]), np.array([1.0, -1.0])
    data = setting.data_constants(X, y)
    t_1 = setting.alignment_time(data, max(data.zeta_1, np.exp(2.0 * log_angle)))
    path = align(X, y, Beside(np.array([1.0, 0.0]), log_angle), 1.0)
    return float(path.times[1]), -2.0 * log_size - 4.0 * t_1


# --- Theorem 1, part 2, Appendix D.2: from t_2 on the loss falls at least like 1/t ----------------


def inside_cone(
    X: NDArray, y: NDArray, sign: float, count: int, rng: np.random.Generator
) -> NDArray:
    """Directions (count, d) in S_+ (sign 1) or S_-, up to the boundary: a point of K or -K, moved
    by a part of the way to where it leaves the cone."""
    Z = y[:, None] * X
    W = sign * rng.exponential(size=(count, len(y))) @ Z
    moves = rng.standard_normal(W.shape)
    before, rates = sign * W @ Z.T, sign * moves @ Z.T
    with np.errstate(divide="ignore"):
        room = np.where(rates < 0.0, before / -rates, np.inf).min(axis=1)
    step = np.where(np.isfinite(room), room, 1.0) * rng.uniform(0.0, 1.0, count) ** 0.3
    W = W + (1.0 - 1e-9) * step[:, None] * moves
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def slack_of_decay(each: Trajectory) -> NDArray:
    """log of (1/L(t) - 1/L(t_2)) / (alpha (t - t_2)), (m,) >= 0 by D.2, at moments after t_2."""
    moments = each.falling
    tau = -moments.log_loss
    with np.errstate(divide="ignore", invalid="ignore"):
        gained = tau + np.log(-np.expm1(tau[0] - tau))
        slack = gained - moments.log_time - np.log(setting.decay(each.given.data))
    return slack[1:]


def times_loss(each: Trajectory) -> float:
    """t L log t at the end of a trajectory, over its limit (1/gamma_+ + 1/gamma_-)/2. gamma_+ is
    the largest min over I_+ of <x_i, u> for a unit u, gamma_- that of I_-. Of either group 1/L
    grows like 2 gamma t log t."""
    moments, log_t = each.falling, each.falling.log_time[-1]
    lengths = [margin.length for margin in max_margins(each.given.X, each.given.y)]
    log_product = log_t + np.log(log_t) + moments.log_loss[-1]
    return float(np.exp(log_product - np.log(0.5 * sum(lengths))))


def falls_like_one_over_t(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.thm1.loss.1: L(t) <= L(t_2) / (1 + alpha L(t_2) (t - t_2)) for all t >= t_2,
    alpha = (mu X_min)^2 / (32 X_max), t_2 the first time at which the outputs on both labels have
    exceeded 1/4 (Theorem 1, part 2; D.2)."""
    slacks = [slack_of_decay(each) for each in found]
    least = min((float(s.min()) for s in slacks), default=np.nan)
    limits = [times_loss(each) for each in found]
    return [
        none_of("trajectories that break the bound somewhere up to ln L = -10⁶",
                [not np.all(s >= 0.0) for s in slacks]),
        note("least factor between the two sides of the bound", float(np.exp(least)), digits=2),
        note("t L log t where ln L = -10⁶, over its limit (1/γ₊ + 1/γ₋)/2: median",
             float(np.median(limits)), digits=2),
        found.none_lost,
    ]  # fmt: skip


# --- Lemmas 13 and 14, and the sign of the outputs: how the neurons in S_+ and S_- grow -----------


def shrinks_little(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.lem13: over the neurons of a cone, the sum of |w_j(t_1)|^2 is at least exp(-4 n X_max t_1)
    times that of |w_j(0)|^2 (Lemma 13)."""
    slacks = list[float]()
    for each in found:
        given, at = each.given, each.waiting.R[0]
        began = given.log_eps + np.log(np.linalg.norm(given.W0, axis=1))
        rate = 4.0 * given.data.n * given.data.X_max * each.t_1
        slacks += [float(logsumexp(2.0 * at[own]) - logsumexp(2.0 * began[own]) + rate) / rate
                   for own in (each.own(1.0), each.own(-1.0))]  # fmt: skip
    return [
        none_of("groups that shrink by more", np.array(slacks) < 0.0),
        note("1 + log of the growth over 4 n Xₘₐₓ t₁: least, largest", (min(slacks), max(slacks)),
             digits=2),
        found.none_lost,
    ]  # fmt: skip


def grows_from_t_1(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.lem14: the sum of |w_j|^2 over a cone's neurons does not decrease from t_1 on (eq 30)."""
    falls = left = 0
    for each in found:
        for moments in (each.waiting, each.falling):
            for sign in (1.0, -1.0):
                sums = logsumexp(2.0 * moments.R[:, each.own(sign)], axis=-1)
                falls += bool(np.any(sums < np.maximum.accumulate(sums) - 1e-3))
                active = np.einsum("nd,mjd->mnj", each.given.X, moments.U[:, each.own(sign)]) > 0.0
                left += not np.all(active == (each.given.y == sign)[:, None])
    return [
        fact("groups whose sum falls by a thousandth below an earlier one", falls, 0,
             tried=2 * len(found)),
        fact("groups with a neuron that leaves its cone", left, 0, tried=2 * len(found)),
        note("with the number in the proof, 16 log n / (m₂ √μ Xₘᵢₙ), for t₁, a neuron of V₊ "
             "still in S₋ there: when it leaves, and log of its |w|² at t₁ over that of the other "
             "neuron of S₋", late_neuron(), digits=4),
        found.none_lost,
    ]  # fmt: skip


def log_margins(each: Trajectory, moments: Moments) -> NDArray:
    """log(y_i f(x_i)) (m, n) of the living neurons at moments; -inf where y_i f(x_i) <= 0."""
    given, on = each.given, np.flatnonzero(each.lives)
    before = np.einsum("nd,mjd->mnj", given.X, moments.U[:, on])
    parts = np.maximum(before, 0.0) * given.y[:, None] * given.signs[on]
    with np.errstate(divide="ignore", invalid="ignore"):
        log, sign = logsumexp(2.0 * moments.R[:, None, on], b=parts, axis=-1, return_sign=True)
    return np.where(sign > 0.0, log, -np.inf)


def classified(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.thm1.classify: the sign of f classifies all data correctly from t_1 on (Section 3.1)."""
    each = [(log_margins(one, one.waiting), log_margins(one, one.falling)) for one in found]
    wrong = [not all(np.isfinite(margins).all() for margins in both) for both in each]
    least = [float(waiting[0].min()) for waiting, _ in each]
    return [
        none_of("trajectories that classify a datum wrongly at some moment from t₁ on", wrong),
        note("log of the least y f(x) at t₁: least, largest", (min(least), max(least)), digits=2),
        found.none_lost,
    ]  # fmt: skip


# --- When the loss begins to fall: t_2 of Theorem 1, part 2, and eqs (36)-(39) of D.2 -------------

GAP = 0.05
"""By how much |x| t_2 - log(1/eps) may change from the largest eps allowed to its tenth power."""
OF_THE_DATA = Reading(
    "The constants may depend on the whole data set, n₊ and n₋ among it, as the theorem says of "
    "its orders; that of t₂ is then log(1/ε), and the factor 1/n says nothing.",
    "With constants that do not know n the order is wrong: for one negative datum against n - 1 "
    "positive ones n t₂ / log(1/(√h ε)) grows like n. (The letter of the order is hard to read in "
    "the text that we have; the proof bounds from above.)",
)
"""How the order of t_2 is read."""


def falls_in_time(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.thm1.loss.2: t_2^+ <= t_1 + 6/g + (4/g) (log(2/(eps^2 sqrt(mu) X_min W_min^2)) +
    4 n X_max t_1), g = sqrt(mu) n_+ X_min, the same for t_2^- with n_- (D.2, eqs 36-39)."""
    shares = [limit / each.t_2[s] for each in found for s, limit in each.bounds.items()]
    early = sum(min(each.t_2.values()) < each.t_1 for each in found)
    return [
        none_of("times t_2 of either label beyond their bounds", np.array(shares) < 1.0),
        fact("times t_2 before t_1", early, 0, tried=len(shares)),
        note("the bound is larger by a factor from, to", (min(shares), max(shares)), digits=2),
        found.none_lost,
    ]  # fmt: skip


def one_against(many: int) -> Start:
    """`many` positive data (1, 0) against one negative datum (-1, 0), a neuron along each: mu = 1.
    eps is the largest that (Small) allows."""
    X = np.append(np.tile([1.0, 0.0], (many, 1)), [[-1.0, 0.0]], axis=0)
    y = np.append(np.ones(many), -1.0)
    made = Start(X, y, np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]))
    return replace(made, log_eps=allowed(made))


def exact_order_of_the_data(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.thm1.loss.3: t_2 is of exact order log(1/(sqrt(h) eps)) / n, with constants that depend
    on the data and the start (Theorem 1, part 2). That they are not free of n is seen along
    `one_against`."""
    early = [each.fall / each.given.T for each in found]
    above = [each.fall > max(each.bounds.values()) for each in found]
    log_eps = one_against(99).log_eps
    few, many = (begin(replace(one_against(k), log_eps=log_eps)) for k in (1, 99))
    assert few is not None
    assert many is not None
    return [
        bound("least t₂ over log(1/(√h ε)) / (4 n X_max)", min(early), ">=", 1.0, "", digits=2),
        none_of("trajectories with t₂ above the bounds of the proof, which have n₊ and n₋", above),
        note("n t₂ / log(1/(√h ε)) at n = 100 over that at n = 2, one negative datum, by flows",
             100.0 * many.fall / (2.0 * few.fall)),
        found.none_lost,
    ]  # fmt: skip


def gap(each: Trajectory) -> NDArray:
    """|x_+-| t_2^+- / k - log(1/eps) for either label, (2,): k = 1, and 2 for the loss
    log(1 + e^(-y f)), whose pull at 0 is half as large."""
    given, rate = each.given, 0.5 if each.given.loss is LOGISTIC else 1.0
    return given.log_eps + rate * np.array(
        [float(np.linalg.norm(given.centre(s))) * each.t_2[s] for s in (1.0, -1.0)]
    )


def exact_order(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.ours.fall: |x_+-| t_2^+- - log(1/eps) stays bounded as eps goes to 0, with twice the time
    for the loss log(1 + e^(-y f)). Each loss has a trajectory, `one_against` where none is found.
    """
    # Tenth powers of an eps below e^-100000 are not followed.
    ours = [one for one in reversed(found) if one.given.log_eps >= -1e5]
    each = {one.given.loss.name: one for one in ours}  # the first of each loss

    def measured(start: Start) -> tuple[NDArray, NDArray] | None:
        near = each.get(start.loss.name) or begin(start, 1e-7)
        far = near and begin(replace(near.given, log_eps=10.0 * near.given.log_eps), 1e-7)
        return (gap(far) - gap(near), gap(far)) if near and far else None

    both = Survey.of(measured, [replace(one_against(2), loss=loss) for loss in LOSSES])
    changes, sizes = np.abs(both).reshape(-1, 2, 2).transpose(1, 0, 2)
    return [
        fact("of the values of |x₊| t₂⁺ - log(1/ε) and of |x₋| t₂⁻ - log(1/ε), those that change "
             f"by more than {GAP:g} from the largest ε that is allowed to its tenth power",
             int((~(changes <= GAP)).sum()), 0),
        fact("these values, two for each of the three losses", changes.size, 2 * len(LOSSES)),
        note("largest size of that difference", float(sizes.max(initial=0.0)), digits=2),
        both.none_lost,
    ]  # fmt: skip


# --- Theorem 1, part 2, Appendix D.3: the first layer comes down to two directions, and less ------

ROUNDING = 1e-9
"""Singular values of unit vectors in floats, relatively."""
CITED = "Ji and Telgarsky 2020, Theorem 3.1, and Lyu and Li 2020 on points of KKT"
"""Directional convergence of homogeneous networks, and where they go."""


def max_margins(X: NDArray, y: NDArray) -> tuple[MaxMargin, MaxMargin]:
    """The shortest u_+ with <x_i, u_+> >= 1 on I_+, and the shortest u_- with the same on I_-."""
    plus, minus = (max_margin(X[y == s], np.ones(int(np.sum(y == s)))) for s in (1.0, -1.0))
    return plus, minus


def limit_rank(X: NDArray, y: NDArray) -> float:
    """The limit of |W|_F^2 / |W|_2^2: the groups point along u_+ and u_-, and their squared lengths
    are as |u_+| to |u_-|, since log(1/L) of either is its squared length over |u|."""
    (p, a), (q, b) = ((each.u, each.length) for each in max_margins(X, y))
    cosine = float(p @ q) / float(np.linalg.norm(p) * np.linalg.norm(q))
    root = np.sqrt((a - b) ** 2 + 4.0 * a * b * cosine**2)
    return float(2.0 * (a + b) / (a + b + root))


def _scaled(moments: Moments) -> NDArray:
    """W (m, h, d) at moments, over the largest norm of a neuron."""
    return np.exp(moments.R - moments.R.max(axis=1)[:, None])[..., None] * moments.U


def _largest(W: NDArray) -> NDArray:
    """|W|_2^2 (m,) of W (m, h, d)."""
    return np.asarray(np.linalg.svd(W, compute_uv=False)[:, 0] ** 2)


def stable_ranks(moments: Moments) -> NDArray:
    """|W|_F^2 / |W|_2^2 (m,) at moments."""
    W = _scaled(moments)
    return np.asarray((W**2).sum(axis=(1, 2)) / _largest(W))


def excesses(each: Trajectory, moments: Moments) -> NDArray:
    """(2 |W|_2^2 + 4 sqrt(h) eps W_max^2 - |W|_F^2) / |W|_F^2 (m,) at moments, >= 0 by D.3."""
    W, given = _scaled(moments), each.given
    with np.errstate(over="ignore"):
        room = np.exp(given.log_eps - 2.0 * moments.R.max(axis=1))
        room *= 4.0 * np.sqrt(given.h) * given.lengths.max() ** 2
    whole = (W**2).sum(axis=(1, 2))
    return (2.0 * _largest(W) + room - whole) / whole


def nearly_two(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.thm1.rank.1: |W|_F^2 <= 2 |W|_2^2 + 4 sqrt(h) eps W_max^2 for all t >= t_1 (Theorem 1,
    part 2, with the constant of D.3)."""
    both = [(excesses(each, each.waiting), excesses(each, each.falling)) for each in found]
    late = [float(falling[-1]) for _, falling in both]
    return [
        none_of("trajectories on which the bound fails from t₁ to ln L = -10⁶",
                [min(part.min() for part in each) < -ROUNDING for each in both]),
        note("2 |W|₂² / |W|_F² - 1 at the end: least, largest", (min(late), max(late)), digits=2),
        found.none_lost,
    ]  # fmt: skip


def at_most_two(found: Survey[Trajectory]) -> list[Evidence]:
    """ea.thm1.rank.2: |W| -> infinity, and limsup |W|_F^2 / |W|_2^2 <= 2 (Theorem 1, part 2)."""
    ends = [_end(each) for each in found]
    sizes = [float(np.exp(2.0 * each.falling.R[-1]).sum()) for each in found]
    return [
        bound("largest stable rank where ln L = -10⁶", max(rank for rank, _ in ends), "<=", 2.0,
              "", digits=3),
        note("least ‖W‖_F² there", min(sizes, default=np.nan), digits=2),
        bound("largest relative deviation there from the limit in closed form",
              max(abs(rank / limit - 1.0) for rank, limit in ends), "<=", 1e-3, "", digits=2),
        found.none_lost,
    ]  # fmt: skip


def _end(each: Trajectory) -> tuple[float, float]:
    return float(stable_ranks(each.falling)[-1]), limit_rank(each.given.X, each.given.y)


def below_two() -> Statement:
    """ea.ours.rank: the stable rank tends to a limit, at most 2/(1 + mu) < 2 (sharpens D.3). The
    slack is 2/(1 + mu) less the limit in closed form."""

    @statement("the limit of |W|_F² / |W|₂² is at most 2 / (1 + μ)",
               {**setting.separable_draws(sizes=(2, 8)), "odd": odd},
               given("ea.ours.rank", setting=both_labels), tolerance=1e-7,
               fixed=("y",))  # fmt: skip
    def slack(X: NDArray, y: NDArray) -> float:
        mu = separation(X, y)
        try:
            return 2.0 / (1.0 + mu) - limit_rank(X, y) if mu > 1e-6 else np.nan
        except InputError:  # lengths over twelve decades: no margin that rounding can tell
            return np.nan

    return slack()


def reaches_its_limit(found: Survey[Trajectory]) -> list[Evidence]:
    """Flows against the closed form, the last from eps = 1, and the pair of data on which
    2/(1 + mu) is reached."""
    four, W0 = setting.PRINTED["figure-6"], np.array([[1.0, 0.2], [2.0, -0.5], [-1, -2], [-2, 0.5]])
    large = follow(Start(four.X, four.y, W0, np.array([1.0, 1.0, -1.0, -1.0])), t_1=1e-3)
    assert large is not None  # its neurons are home at once
    ends = [_end(each) for each in (*found, large)]
    X, y = np.array([[5.0, 0.0], [-3.0, 4.0]]), np.array([1.0, -1.0])
    return [
        deviation("stable rank where ln L = -10⁶ against its limit, relatively",
                  max(abs(rank / limit - 1.0) for rank, limit in ends), "", digits=2),
        deviation("the limit for the data (5, 0) and (-3, 4) against 2/(1 + 3/5)",
                  abs(limit_rank(X, y) - 1.25), ""),
        found.none_lost,
    ]  # fmt: skip


# --- Appendix D.2 and Section 3.1: within S_+ the neurons turn to x_+, until the loss falls -------

SCALES = (-10.0, -13.0, -16.0)
"""Values of ln eps over which the best alignment is compared."""
POWER, FIT = 2.0 / 3.0, 0.05
"""The angle to x_+ falls to the order of eps^(2/3); how near the fitted power must be to it."""
WHILE_WAITING = Reading(
    "It is said of the time before the loss falls, and of ever smaller ε.",
    "Not for ever: the pull turns away from x₊ as the outputs grow, the angle is least before the "
    "loss falls, and at the end the neurons point along the max-margin vector of their label, "
    "whose cosine with x₊ may be as near to μ as one likes. It is true for ever for parallel data "
    "of the label, as for one datum; where they are symmetric about x₊, or all ⟨xᵢ, x₊⟩ are "
    "equal, the neurons end along x₊, but one may turn from it on the way.",
)
"""How "always drawn to x_+" is read."""


def cosines(each: Trajectory, U: NDArray, sign: float) -> NDArray:
    """cos(w_j, x_+) (m, k) of the neurons of S_+ (sign 1), or those with x_- of S_-."""
    x = each.given.centre(sign)
    return np.asarray(U[:, each.own(sign)] @ (x / np.linalg.norm(x)))


def turns_towards(loss: Loss) -> Statement:
    """ea.thm1.refined.1: d/dt cos(x_+, w) >= (1/3 - cos(x_+, w)) sqrt(mu) n_+ X_min / 2 in S_+ (37)
    where the outputs q on I_+ are within [0, 1/4]; the slack is the difference over |x_+|."""

    def more(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        X, y = item["X"], item["y"]
        q = 0.25 * rng.choice([rng.uniform(size=len(y)), rng.integers(0, 2, len(y))])
        return {"w": inside_cone(X, y, 1.0, 1, rng)[0], "q": q}

    @statement(f"{loss.name} loss: neurons of S₊ turn to x₊ at the rate of (37)",
               extended({**setting.separable_draws((2, 8), (2, 6)), "odd": odd}, more),
               {"data of both labels, μ > 0":
                    lambda X, y: len(set(y)) == 2 and separation(X, y) > 0.0,
                "w in S₊": lambda X, y, w: serves(X, y, w),
                "outputs at most 1/4": lambda q: np.all((q >= 0) & (q <= 0.25))},
               fixed=("y",))  # fmt: skip
    def slack(X: NDArray, y: NDArray, w: NDArray, q: NDArray) -> float:
        if separation(X, y) <= 1e-6:
            return float("nan")
        w = w / np.linalg.norm(w)
        own, data = X[y > 0.0], setting.data_constants(X, y)
        pull = loss.pull(q[y > 0.0], np.ones(len(own)))
        x, g = own.sum(axis=0), pull @ own
        size = float(np.linalg.norm(x))
        cosine = float(w @ x) / size
        rate = float(g @ x) / size - cosine * float(g @ w)
        least = (1.0 / 3.0 - cosine) * np.sqrt(data.mu) * data.n_plus * data.X_min / 2.0
        return (rate - least) / size

    return slack()


@dataclass(frozen=True, eq=False)
class Best:
    """How near the neurons of S_+ come to x_+ before the loss falls, from eps = e^log_eps (k,)."""

    log_eps: NDArray
    times: NDArray  # t / t_2^+, (m,)
    curves: NDArray  # the largest angle of a neuron to x_+, (k, m)
    end: float  # cos(w, x_+) where L = e^-1e6
    limit: float  # cos(u_+, x_+), u_+ the max-margin vector of the positive data

    @property
    def angles(self) -> NDArray:
        """The least value of each curve, (k,)."""
        return self.curves.min(axis=1)

    @property
    def power(self) -> float:
        """The power of eps with which it falls."""
        return float(np.polyfit(self.log_eps, np.log(self.angles), 1)[0])


def best_alignment(given: Start) -> Best:
    """How well the neurons of S_+ align before the loss falls, from each of the scales ln eps. All
    neurons are in their cones at once."""
    plus = max_margins(given.X, given.y)[0]
    x = given.centre(1.0) / np.linalg.norm(given.centre(1.0))
    times, curves = np.linspace(0.005, 1.0, 400), []
    starts = [replace(given, log_eps=log_eps) for log_eps in SCALES]
    whole = follow(starts[0], rtol=1e-7, t_1=1e-3)
    for each in (whole, *(begin(start, rtol=1e-7, t_1=1e-3) for start in starts[1:])):
        assert each is not None
        U = each.at(times * each.t_2[1.0]).U[:, each.own(1.0)]
        curves.append(np.linalg.norm(U - x, axis=-1).max(axis=1))
    assert whole is not None
    end = float(cosines(whole, whole.falling.U[-1:], 1.0).min())
    return Best(np.array(SCALES), times, np.array(curves), end, float(plus.direction @ x))


def spread_runs(seed: int, count: int) -> Survey[Best]:
    """`best_alignment` from `count` starts in space: three positive data and a negative one, four
    neurons active on their own, on more sides of x_+ than one, so that no angle passes through 0.
    """
    rng, signs = np.random.default_rng(seed), np.array([1.0, 1.0, 1.0, -1.0])

    def drawn() -> Start:
        X, y = setting.separable(4, 3, 0.3, rng, 0.2)
        X = X * (y * signs)[:, None]
        W0 = np.vstack([inside_cone(X, signs, s, k, rng) for s, k in ((1.0, 3), (-1.0, 1))])
        return Start(X, signs, W0, signs, SCALES[0])

    return Survey.of(best_alignment, (drawn() for _ in range(count)))


def aligns_until_the_fall(found: Survey[Best]) -> list[Evidence]:
    """ea.thm1.refined.2: in S_+ a neuron is always drawn to x_+, so that all come to cos(w_j, x_+)
    near 1 (Section 3.1). `found` has three positive data in general position."""
    powers = [each.power for each in found]
    return [
        bound("largest angle of the neurons of S₊ to x₊, at its least, from ε = e⁻¹⁶",
              max(each.angles[-1] for each in found), "<=", 1e-2, "", digits=2),
        bound("least power of ε with which it falls", min(powers), ">=", POWER - FIT, "", digits=2),
        bound("largest power", max(powers), "<=", POWER + FIT, "", digits=2),
        note("when it is least, as a share of t₂⁺: mean",
             float(np.mean([each.times[each.curves[-1].argmin()] for each in found])), digits=2),
        deviation("cos(w, x₊) where ln L = -10⁶ against cos(u₊, x₊) of the max-margin vector u₊",
                  max(abs(each.end - each.limit) for each in found), "", digits=2),
        note("the least of these", min(each.limit for each in found), digits=2),
        found.none_lost,
    ]  # fmt: skip
