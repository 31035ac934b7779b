"""What the sections of chapter 3 share: data, the constants of Theorem 1, (GF) from (Init)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import rationals
from reluflow.falsify import Draws, Instance
from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, Stop, integrate
from reluflow.geometry.separability import cosines, separation, signed
from reluflow.ledger import Evidence, fact
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.parameters import SECTION, Parameter, between

# --- Random orthogonally separable data of a given separation, ordinary and adversarial -----------


def separable(
    n: int, d: int, mu: float, rng: np.random.Generator, decades: float = 0.5
) -> tuple[NDArray, NDArray]:
    """X (n, d) and y (n,), both labels where n > 1, with the separation `mu` up to rounding, and
    lengths from 10^-decades to 10^decades. z_i / |z_i| = a c + sqrt(1 - a^2) r_i with a random axis
    c, unit r_i orthogonal to it, drawn again where they are too near to each other, and a so that
    the least cosine is mu. In the plane two are the ends of an arc. Needs d >= 2, mu in (0, 1]."""
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    for _ in count():
        R = rng.standard_normal((n, d - 1))
        R /= np.linalg.norm(R, axis=1, keepdims=True)
        if d == 2:
            R[: min(n, 2), 0] = [1.0, -1.0][: min(n, 2)]
        least = float((R @ R.T).min())
        if n == 1 or least < min(mu, 0.9):
            break
    share = 1.0 if n == 1 else (mu - least) / (1.0 - least)
    U = np.hstack([np.full((n, 1), np.sqrt(share)), np.sqrt(1.0 - share) * R]) @ Q.T
    if d == 2 and n > 2:  # the first two at the ends of the arc, the others between them
        inside = rng.uniform(size=(n - 2, 1))
        U[2:] = (1.0 - inside) * U[0] + inside * U[1]
        U /= np.linalg.norm(U, axis=1, keepdims=True)
    y = _labels(n, rng)
    return y[:, None] * U * 10.0 ** rng.uniform(-decades, decades, (n, 1)), y


def _labels(n: int, rng: np.random.Generator) -> NDArray:
    """Labels y (n,), both of them where n > 1."""
    y = rng.choice([-1.0, 1.0], n)
    y[: min(n, 2)] = [1.0, -1.0][: min(n, 2)]
    return rng.permutation(y)


def separable_draws(dims: tuple[int, int] = (2, 50), sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Draws of {"X", "y"} with mu > 0, d in `dims` and n in `sizes` (both ends), for `falsify`.
    "wide" mu from 0.1 to 0.9; "narrow" mu from 1e-6 to 0.1; "integers" small whole numbers;
    "lengths" over twelve decades; "parallel" data, many of them multiples of each other; "one
    against many", a single datum of one label."""

    def drawn(
        rng: np.random.Generator, low: float = 1e-3, high: float = 0.9, decades: float = 0.5
    ) -> Instance:
        mu = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        n, d = (int(rng.integers(least, most + 1)) for least, most in (sizes, dims))
        X, y = separable(n, d, mu, rng, decades)
        return {"X": X, "y": y}

    def integers(rng: np.random.Generator) -> Instance:
        few = (sizes[0], min(sizes[1], 5)), (2, min(dims[1], 4))
        n, d = (int(rng.integers(least, most + 1)) for least, most in few)
        while True:
            Z = rng.integers(-2, 4, (n, d)).astype(float)
            y = _labels(n, rng)
            if Z.any(axis=1).all() and separation(Z, np.ones(n)) > 1e-12:
                return {"X": y[:, None] * Z, "y": y}

    def parallel(rng: np.random.Generator) -> Instance:
        item = drawn(rng)
        twin = rng.integers(0, len(item["y"]), len(item["y"]))
        twin[:2] = 0, 1
        Z = (item["X"] * item["y"][:, None])[twin] * 2.0 ** rng.integers(-3, 4, (len(twin), 1))
        return {"X": item["y"][:, None] * Z, "y": item["y"]}

    def against_many(rng: np.random.Generator) -> Instance:
        item = drawn(rng)
        y = rng.choice([-1.0, 1.0]) * np.where(np.arange(len(item["y"])) == 0, -1.0, 1.0)
        return {"X": item["X"] * (item["y"] * y)[:, None], "y": y}

    return {"wide": partial(drawn, low=0.1), "narrow": partial(drawn, low=1e-6, high=0.1),
            "integers": integers, "lengths": partial(drawn, low=1e-2, decades=6.0),
            "parallel": parallel, "one against many": against_many}  # fmt: skip


def few(rng: np.random.Generator) -> dict[str, NDArray]:
    """A single datum, or data on a line, under (A1): lengths over twelve decades."""
    n, d = (1, int(rng.integers(1, 5))) if rng.random() < 0.5 else (int(rng.integers(2, 5)), 1)
    Z = np.abs(rng.standard_normal((n, d))) * 10.0 ** rng.uniform(-6.0, 6.0, (n, 1))
    y = rng.choice([-1.0, 1.0], n)
    return {"X": y[:, None] * Z, "y": y}


# --- Second route: the limit flow in exact arithmetic: a polygon in weight space ------------------
#
# With dw/dsigma = s b(w), b(w) the sum of y_i x_i over the data with <x_i, w> > 0, the direction of
# w runs along the path of du/dt = s (b(u) - <b(u), u> u), only at another speed. Between two events
# w moves on a line, so that rational data and starts have rational crossings.


class Polygon(NamedTuple):
    """The path of one neuron's weights. Its events are the changes, (datum, whether it is active
    behind it), together where they coincide."""

    status: str  # "serves", "dead", "rests", "sliding" or "unfinished", as in `flows.alignment`
    events: tuple[tuple[tuple[int, bool], ...], ...]
    corners: tuple[tuple[Fraction, ...], ...]  # w at the start and at the events
    patterns: tuple[tuple[bool, ...], ...]  # the active data before, between and behind the events
    ways: tuple[Fraction, ...]  # how far along its pulls b, w' = b, w has come at the events


def polygon(X: object, y: object, start: object, sign: int = 1) -> Polygon:
    """Follow w from `start` until no boundary is ahead, at most 200 events. X (n, d), y (n,) and
    start (d,) are read as decimals: 0.1 is 1/10."""
    X, y, w = (np.array(rationals(each), object) for each in (X, y, start))
    active, fresh = X @ w > 0, set[int]()
    events, corners, patterns = list[tuple[tuple[int, bool], ...]](), [tuple(w)], [tuple(active)]
    ways = [Fraction(0)]

    def path(status: str) -> Polygon:
        return Polygon(status, tuple(events), tuple(corners), tuple(patterns), tuple(ways[1:]))

    while len(events) < 200:
        b = sign * (y * active) @ X
        ahead = {i: -h / rate for i, (h, rate) in enumerate(zip(X @ w, X @ b, strict=True))
                 if (rate < 0 if active[i] else rate > 0)}  # fmt: skip
        if not ahead:
            return path(_ended(active, y, sign))
        step = min(ahead.values())
        crossed = {i for i, value in ahead.items() if value == step}
        if step > 0:
            w, fresh = w + step * b, set()
        if crossed & fresh or not any(w):
            return path("sliding" if any(w) else "rests")
        left = active & ~np.isin(np.arange(len(X)), list(crossed))
        after = active ^ np.isin(np.arange(len(X)), list(crossed)) if left.any() else left
        if (after == active).all():  # silent, and held so
            return path(_ended(active, y, sign))
        fresh |= crossed
        changed = [i for i in sorted(crossed) if after[i] != active[i]]
        events.append(tuple((i, bool(after[i])) for i in changed))
        active = after
        corners.append(tuple(w))
        ways.append(ways[-1] + step)
        patterns.append(tuple(active))
    return path("unfinished")


def _ended(active: NDArray, y: NDArray, sign: int) -> str:
    if not active.any():
        return "dead"
    return "serves" if (active == (y == sign)).all() else "rests"


# --- Evidence that nothing goes wrong -------------------------------------------------------------


def none_of(what: str, wrong: ArrayLike) -> Evidence:
    """That there are none: `wrong` has, for each one tried, whether it is such, or how many are."""
    return fact(what, int(np.sum(wrong)), 0, tried=np.size(wrong))


def none_lost(statuses: Iterable[str]) -> Evidence:
    """That the integrator loses no flow: of each one the `status`. A flow on which nothing pulls is
    at its end."""
    lost = [each not in ("horizon", "converged") for each in statuses]
    return fact("of these flows, those that the integrator loses", sum(lost), 0)


# --- What the parameters cell of chapter 3 may hold -----------------------------------------------

LOSSES: Mapping[str, Loss] = {
    "exponential": EXPONENTIAL,
    "logistic": LOGISTIC,
    "twice logistic": TWICE_LOGISTIC,
}

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(str, 'a figure\'s data such as "figure-6", two digits such as '
                         '"digits:0-1", or the path of a CSV file with labels +1 and -1',
                         bool, "a name or a path, not empty"),
    "scale": Parameter(float, "factor of the inputs", *between(1e-6, 1e6)),
    "h": Parameter(int, "number of neurons", *between(2, 200)),
    "log_eps": Parameter(float, "ln of the factor eps of the balanced start, for the flow; None "
                         "for the largest eps that the theorem allows", *between(-1e6, -1),
                         optional=True),
    "sigma": Parameter(float, "standard deviation of the descent's first weights",
                       *between(1e-12, 1)),
    "step": Parameter(float, "step of the descent", *between(1e-8, 1)),
    "iterations": Parameter(int, "number of its steps", *between(10, 100_000)),
    "loss": Parameter(str, "the loss of one datum", lambda value: value in LOSSES,
                      '"exponential", "logistic" or "twice logistic"'),
    **SECTION,
}  # fmt: skip


# --- The data of the paper's figures in the plane, and a reader's own -----------------------------


@dataclass(frozen=True, eq=False)
class Labelled:
    """n inputs X (n, d), one a row, with labels y (n,), +1 or -1."""

    name: str
    X: NDArray
    y: NDArray


def _two_positive(name: str, angle: float) -> Labelled:
    """(1, 0) and (sin angle, cos angle), both positive: mu = sin angle (Appendices A.2, A.3)."""
    return Labelled(name, np.array([[1.0, 0.0], [np.sin(angle), np.cos(angle)]]), np.ones(2))


PRINTED: Mapping[str, Labelled] = {
    "figure-6": Labelled("figure-6", np.array([[2.0, 0.0], [2.0, 1.0], [-1.0, -1.0], [-1.0, -3.0]]),
                         np.array([1.0, 1.0, -1.0, -1.0])),
    "figure-7": _two_positive("figure-7", 0.1),
    "figure-8": _two_positive("figure-8", 0.001),
    "figure-9": _two_positive("figure-9", 0.0),
}  # fmt: skip
"""Data of Figures 6 to 9. Those of Figure 6 are not printed: these are ours, with mu = 1/sqrt 10,
two data of each label, and a cone S_dead that is neither empty nor large."""


# --- Every constant of Theorem 1: of the data, of the start, times and scales ---------------------
#
# Everything follows from mu, the shortest and the longest datum, and the squared sines zeta_1
# (Lemma 8), zeta_2 (eq 26) and xi (Lemma 9), which is mu^2 by the page `cones`. The text takes
# zeta = max(zeta_1, zeta_2); its proof needs the minimum. Each function of zeta is given the one
# that the caller means. eps is too small for a float, and is given by its logarithm.


@dataclass(frozen=True)
class DataConstants:
    """What the data alone decide: n, n_plus, n_minus, mu, X_min, X_max, zeta_1 and xi."""

    n: int
    n_plus: int
    n_minus: int
    mu: float
    X_min: float
    X_max: float
    zeta_1: float
    xi: float

    def number(self, sign: float) -> int:
        """n_plus for the sign 1, n_minus for -1."""
        return self.n_plus if sign > 0.0 else self.n_minus


def data_constants(X: NDArray, y: NDArray) -> DataConstants:
    """The constants of data X (n, d) with labels y (n,). They mean what they say under (A1), mu >
    0. Raises InputError for a datum 0 or another label."""
    lengths = np.linalg.norm(signed(X, y), axis=1)
    mu = separation(X, y)
    y = np.asarray(y)
    return DataConstants(len(y), int(np.sum(y > 0.0)), int(np.sum(y < 0.0)), mu,
                         float(lengths.min()), float(lengths.max()), cap(X, y),
                         mu**2)  # fmt: skip


def centres(X: NDArray, y: NDArray) -> dict[float, NDArray]:
    """{1: x_+, -1: -x_-}, each (d,), of the labels that occur."""
    Z, y = signed(X, y), np.asarray(y, float)
    return {sign: Z[y == sign].sum(axis=0) for sign in (1.0, -1.0) if np.any(y == sign)}


def cap(X: NDArray, y: NDArray) -> float:
    """zeta_1: min cos(u, z_i)^2 over all i and over u = x_+, -x_-. Every smaller zeta puts S_+^zeta
    in S_+ and S_-^zeta in S_- (Lemma 8), no larger one does."""
    kept = centres(X, y).values()
    least = min(float(cosines(np.vstack([u, signed(X, y)]))[0].min()) for u in kept)
    return max(least, 0.0) ** 2


def clearance(X: NDArray, y: NDArray, W: NDArray, signs: NDArray) -> float:
    """zeta_2: the least squared sine between w_j (h, d) and x_- (signs 1) or x_+ (signs -1), eq 26.
    A neuron at a right angle or more counts as 1, and so do all of a sign that nothing is forbidden
    to, since no datum has the other label. Sines come from chords, so that a small angle is as
    exact as the directions are."""
    W, signs, least = np.asarray(W, float), np.asarray(signs), 1.0
    for label, u in centres(X, y).items():
        if len(kept := W[signs == -label]):
            kept = kept / np.abs(kept).max(axis=1, keepdims=True)
            away = label * u / np.abs(u).max()
            chords = kept / np.linalg.norm(kept, axis=1, keepdims=True)
            chords = chords - away / np.linalg.norm(away)
            squared = np.einsum("ij,ij->i", chords, chords)
            sines = np.where(squared < 2.0, squared * (1.0 - squared / 4.0), 1.0)
            least = min(least, float(sines.min()))
    return least


def alignment_time(data: DataConstants, zeta: float) -> float:
    """t_1 = 16 log n / (m_2 sqrt(mu) X_min), m_2 = min(zeta, xi): Appendix C.2."""
    return 16.0 * math.log(data.n) / (min(zeta, data.xi) * math.sqrt(data.mu) * data.X_min)


def decay(data: DataConstants) -> float:
    """alpha = (mu X_min)^2 / (32 X_max) of L(t) <= L(t_2)/(1 + alpha L(t_2) (t - t_2)), D.2."""
    return (data.mu * data.X_min) ** 2 / (32.0 * data.X_max)


# --- (GF) from (Init): balanced neurons of given directions, signs and norms ----------------------


@dataclass(frozen=True, eq=False)
class Start:
    """(Init), eq (3): w_j = eps W0_j and v_j = signs_j |w_j|, with W0 (h, d), a row a neuron and
    none of them 0, signs (h,), and ln eps. Data X (n, d), y (n,); `leak`, the activation's slope
    below 0. The theorem's constants mean what they say where `leak` is 0."""

    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray
    log_eps: float = 0.0
    loss: Loss = EXPONENTIAL
    leak: float = 0.0

    @property
    def h(self) -> int:
        return len(self.W0)

    @cached_property
    def data(self) -> DataConstants:
        return data_constants(self.X, self.y)

    @cached_property
    def zeta_2(self) -> float:
        return clearance(self.X, self.y, self.W0, self.signs)

    @property
    def printed_zeta(self) -> float:
        """zeta = max(zeta_1, zeta_2), as Appendix C.2 has it."""
        return max(self.data.zeta_1, self.zeta_2)

    @property
    def needed_zeta(self) -> float:
        """min(zeta_1, zeta_2), for the proof needs a cap in S_- with all neurons outside it."""
        return min(self.data.zeta_1, self.zeta_2)

    @property
    def lengths(self) -> NDArray:
        """Of the rows of W_0, (h,): from W_min to W_max."""
        return np.asarray(np.linalg.norm(self.W0, axis=1))

    def centre(self, sign: float) -> NDArray:
        """x_+ (sign 1) or x_- (sign -1), (d,)."""
        return np.asarray(self.X[self.y == sign].sum(axis=0))

    @property
    def X_max(self) -> float:
        return float(np.linalg.norm(self.X, axis=1).max())

    @property
    def T(self) -> float:
        """log(1/(sqrt(h) eps)) / (4 n X_max), the end of Lemmas 1 and 3; <= 0 for a large eps."""
        return -(0.5 * math.log(self.h) + self.log_eps) / (4.0 * len(self.X) * self.X_max)

    def log_eps_of_outputs(self, zeta: float) -> float:
        """ln of the first bound of eq (28), m_1 sqrt(mu) X_min / (4 sqrt(h) n X_max^2 W_max^2)."""
        data, W_max = self.data, float(self.lengths.max())
        m_1 = min(data.mu, zeta, data.xi)
        return (
            math.log(m_1) + 0.5 * math.log(data.mu) + math.log(data.X_min)
            - math.log(4.0 * data.n) - 0.5 * math.log(self.h)
            - 2.0 * math.log(data.X_max) - 2.0 * math.log(W_max)
        )  # fmt: skip

    def log_eps_allowed(self, zeta: float) -> float:
        """ln of the largest eps that eq (28), (Small), allows: the lesser of its two bounds, the
        second of which is h^(-1/2) exp(-64 n X_max log n / (m_2 sqrt(mu) X_min))."""
        needed = 4.0 * self.data.n * self.data.X_max * alignment_time(self.data, zeta)
        return min(self.log_eps_of_outputs(zeta), -0.5 * math.log(self.h) - needed)

    def fit_time(self, t_1: float, sign: float) -> float:
        """The bound of eqs (36)-(39) on t_2^+ (sign 1) or t_2^- (sign -1), from t_1: t_1 + 6/g +
        (4/g) (log(2/(eps^2 sqrt(mu) X_min W_min^2)) + 4 n X_max t_1), g = sqrt(mu) n_+ X_min.
        Raises ZeroDivisionError where no datum has that label."""
        data, root = self.data, math.sqrt(self.data.mu)
        rate = root * data.number(sign) * data.X_min
        start_size = -2.0 * self.log_eps - 2.0 * math.log(self.lengths.min())
        growth = math.log(2.0) + start_size - math.log(root * data.X_min)
        return t_1 + 6.0 / rate + 4.0 / rate * (growth + 4.0 * data.n * data.X_max * t_1)

    def flow(self, until: float, stop: Stop | None = None, at_zero: float | None = 0.0,
             **options: Any) -> FlowPath:  # fmt: skip
        """The regular solution of (GF), eq (2), in the chart of the neurons, `until` or `stop` on
        the clock "time"; options those of `integrate`. `neurons` takes its states apart."""
        chart = Neurons(self.signs, self.W0.shape[1], self.leak)
        field = GradientFlow(chart, self.loss, self.X, self.y, TIME)
        start = chart.along(self.W0, self.log_eps + np.log(self.lengths))
        return integrate(field, start, until, stop=stop, at_zero=at_zero, **options)


def parts(path: FlowPath) -> tuple[GradientFlow, Neurons]:
    """The flow that a path follows, and its chart."""
    field = path.field
    assert isinstance(field, GradientFlow)
    assert isinstance(field.chart, Neurons)
    return field, field.chart


def neurons(path: FlowPath, t: ArrayLike | None = None) -> tuple[NDArray, NDArray]:
    """Directions (..., h, d) and log |w_j| (..., h) at times t (...), or at the path's end."""
    return parts(path)[1].split(path.end if t is None else path.at(t))


def patterns(path: FlowPath) -> Iterator[tuple[float, NDArray]]:
    """The time and the active data (n, h) at the start, and behind every event. They follow the
    events, not the signs of <x_i, w_j>: a neuron that has died lies on a boundary."""
    U = neurons(path, path.t[0])[0]
    active = parts(path)[0].X @ U.T > 0.0
    yield float(path.t[0]), active
    for event in path.events:
        active = active.copy()
        active[event.datum, event.neuron] = event.kind == "activate"
        yield event.t, active


def alignment_times(path: FlowPath) -> NDArray:
    """Since when each neuron (h,) is in S_+ (S_- for v_j < 0) or in S_dead; infinite where not."""
    field, chart = parts(path)
    own = field.y[:, None] == chart.signs
    times = np.full(own.shape[1], np.inf)
    for t, active in patterns(path):
        home = np.all(active == own, axis=0) | ~active.any(axis=0)
        times = np.where(home, np.minimum(times, t), np.inf)
    return times
