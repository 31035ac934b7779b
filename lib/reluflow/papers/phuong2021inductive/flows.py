"""(GF) from balanced starts of any size, and draws of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import BDF, DOP853

from reluflow.flows.charts import LOG_LOG, TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate, log_elapsed, log_steepness, then
from reluflow.geometry.separability import cosines
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import LOGISTIC, Loss
from reluflow.papers.phuong2021inductive.setting import Limit, limit, such, support_draws

# --- (GF) from any balanced start, of any size, to L = e^-reach: one trajectory on two clocks -----
#
# Time carries it until the loss of every label that has neurons to serve it is below e^-2, then
# log log(1/L). Sizes are logarithms throughout.

REACH = 1e6
"""log(1/L) at the end, unless another is asked for."""
_BEGUN = 2.0
"""log(1/L) from which the clock is log log(1/L)."""
_LONG_FLOW_POINTS, _LONG_FLOW_RTOL = 81, 1e-8
_ROUNDING = 1e-14
_BARELY = 1e-6


class Lost(Exception):
    """A flow that could not be followed to its end."""


class Waiting(Lost):
    """A flow that is not followed for a reason that is known: a datum that no neuron sees waits for
    one, for a time of the order of 1 over the loss of the others, which after a large start is
    tiny; or a neuron slides along a boundary."""


@dataclass(frozen=True)
class Start:
    """Data X (n, d), y (n,), directions W0 (p, d), log norms (p,) of w_j(0), signs (p,) of a_j."""

    X: NDArray
    y: NDArray
    W0: NDArray
    log_norms: NDArray
    signs: NDArray
    loss: Loss = LOGISTIC


@dataclass(frozen=True, eq=False)
class Late:
    """A flow from loss e^-2 to its end: moments evenly on the axis log log(1/L).

    alive   the signs of the groups that are not empty; losses are those of their data alone
    path    both legs; `begun` is the time at which the second begins
    tau     (m,) log(1/L);  log_t (m,) log of time
    U, R    (m, p, d) unit directions and (m, p) log norms of all neurons
    """

    given: Start
    alive: tuple[float, ...]
    path: FlowPath
    begun: float
    tau: NDArray
    log_t: NDArray
    U: NDArray
    R: NDArray

    @cached_property
    def limit(self) -> Limit:
        return limit(self.given.X, self.given.y, self.alive)

    @cached_property
    def distances(self) -> NDArray:
        """The norms in (8) and (9) at the moments, (m, 2)."""
        return self.limit.distances(self.U, self.R, self.given.signs)

    def own(self, sign: float) -> NDArray:
        """Indices of the neurons of a sign that are active on data of it at the end."""
        return np.flatnonzero(_serving(self.given, self.U[-1], sign))

    def growing(self, sign: float) -> NDArray:
        """Those of them that are active on all data of it, and so grow without bound: one that
        waits on a part of it for ever does not."""
        return np.flatnonzero(_serving(self.given, self.U[-1], sign, np.all))

    def outputs(self, sign: float) -> NDArray:
        """The outputs on the data of one label, (m, k)."""
        return _outputs(self.given.X[self.given.y == sign], self.U, self.R, self.given.signs)

    def log_loss(self, sign: float) -> NDArray:
        """log of the loss of the data of one label, (m,)."""
        outputs = self.outputs(sign)
        return self.given.loss.log_value(outputs, np.full(outputs.shape[-1], sign))

    def log_square(self, sign: float) -> NDArray:
        """log |W_+|_F^2 or log |W_-|_F^2, (m,)."""
        return np.logaddexp.reduce(2.0 * self.R[:, self.own(sign)], axis=1)


def follow_long(given: Start, reach: float = REACH) -> Late | None:
    """The flow of a start to log(1/L) = `reach`; None where all neurons die. Raises Lost where the
    flow cannot be followed, and Waiting where that is why."""
    chart = Neurons(given.signs, given.X.shape[1])
    field = GradientFlow(chart, given.loss, given.X, given.y, TIME)
    # From a small start nothing is stiff on this clock; from a large one a datum may wait for ages.
    method = DOP853 if given.log_norms.max() < 0.0 else BDF
    first = integrate(field, chart.along(given.W0, given.log_norms), 1e300, at_zero=0.0,
                      rtol=_LONG_FLOW_RTOL, method=method,
                      stop=lambda _, z: _left(given, chart, z))  # fmt: skip
    U = chart.split(first.end)[0]
    alive = tuple(s for s in (1.0, -1.0) if _serving(given, U, s).any())
    if first.status == "converged" and not alive:
        return None
    if first.status != "stopped":
        lost = Waiting if first.status == "sliding" or _unseen(given, U) else Lost
        raise lost(f"before L = e^-2: {first.detail}")
    if not alive:
        return None
    kept = np.isin(given.y, alive)
    late = replace(field, X=given.X[kept], y=given.y[kept], clock=LOG_LOG)
    path = then(first, late, float(np.log(reach)), at_zero=0.0, rtol=_LONG_FLOW_RTOL)
    if path.status != "horizon":
        lost = Waiting if path.status == "sliding" else Lost
        raise lost(f"after L = e^-2: {path.detail}")
    leg = path.legs[-1]
    Z = leg.interpolant(np.linspace(leg.t[0], leg.t[-1], _LONG_FLOW_POINTS))
    V, R = chart.split(Z)
    V = V / np.linalg.norm(V, axis=-1, keepdims=True)
    if any(_serving(given, V[-1], sign).any() for sign in {1.0, -1.0} - set(alive)):
        raise Waiting("a neuron comes to a label that had none, long after the other is fitted")
    tau = -given.loss.log_value(_outputs(late.X, V, R, given.signs), late.y)
    steep = log_steepness(V, R, given.signs, late.X, late.y, given.loss)
    with np.errstate(divide="ignore"):  # a start whose loss is small already has begun at 0
        log_t = np.logaddexp(np.log(first.t[-1]), log_elapsed(tau, steep))
    return Late(given, alive, path, float(first.t[-1]), tau, log_t, V, R)


def followed(given: Start, reach: float = REACH) -> Late:
    """The same of a start from which some neuron lives."""
    late = follow_long(given, reach)
    assert late is not None
    return late


def patterns(late: Late) -> list[tuple[float, NDArray]]:
    """The path's clock and the active data (n, p) at the start and behind every event, in which
    the data of a label without neurons count as inactive once they are left out."""
    chart = cast(Neurons, late.path.field.chart)
    products = late.given.X @ chart.split(late.path.states[0])[0].T
    # A neuron that starts as a datum is orthogonal to others up to rounding, which is no activity.
    active = products > _ROUNDING * np.linalg.norm(late.given.X, axis=1, keepdims=True)
    kept = np.flatnonzero(np.isin(late.given.y, late.alive))
    found = [(float(late.path.t[0]), active)]
    for event in late.path.events:
        datum = event.datum if event.t <= late.begun else int(kept[event.datum])
        active = active.copy()
        active[datum, event.neuron] = event.kind == "activate"
        found.append((event.t, active))
    return found


def _outputs(X: NDArray, U: NDArray, R: NDArray, signs: NDArray) -> NDArray:
    """Of neurons U (..., p, d), R (..., p) on data X (n, d): (..., n)."""
    sizes = signs * np.exp(2.0 * R)
    return np.asarray((sizes[..., None, :] @ np.maximum(U @ X.T, 0.0))[..., 0, :])


def _serving(
    given: Start, U: NDArray, sign: float, some: Callable[..., NDArray] = np.any
) -> NDArray:
    """Whether neurons (p,) of a sign are active on `some` datum of their label."""
    own = given.X[given.y == sign]
    return np.asarray(some(own @ U.T > 0.0, axis=0) & (given.signs == sign))


def _unseen(given: Start, U: NDArray) -> bool:
    """Whether a datum of a label that neurons serve is seen by none of them, but for cosines that
    the others will hardly have moved since."""
    for sign in (1.0, -1.0):
        serving, own = _serving(given, U, sign), given.X[given.y == sign]
        edge = _BARELY * np.linalg.norm(own, axis=1, keepdims=True)
        seen = (own @ U[serving].T > edge).any(axis=1)
        if serving.any() and not seen.all():
            return True
    return False


def _left(given: Start, chart: Neurons, z: NDArray) -> float:
    """What is still to come before the clock changes, <= 0 when nothing is: log l + 2 of every
    label that neurons serve, and that these are off the data of a label that none serves."""
    U, R = chart.split(z)
    left = [-1.0]
    for sign in (1.0, -1.0):
        X = given.X[given.y == sign]
        if _serving(given, U, sign).any():
            outputs = _outputs(X, U, np.clip(R, None, 300.0), given.signs)
            value = float(given.loss.log_value(outputs, np.full(len(X), sign)))
            left.append(value + _BEGUN)
        elif len(X) and np.any((X @ U.T > 0.0)[:, _serving(given, U, -sign)]):
            left.append(1.0)
    return max(left)


# --- Starts of flows: orthogonally separable data of every kind, neurons of every size ------------

LINE = Start(np.array([[2.0], [-3.0]]), np.array([1.0, -1.0]), np.array([[1.0], [-1.0], [-1.0]]),
             np.array([0.0, -25.0, 3.0]), np.array([1.0, -1.0, 1.0]))  # fmt: skip
"""On the line, of norms 1, e^-25 and e^3: the third neuron is active on the wrong datum alone, and
stays so for ever."""
DRAWN_ANEW = note(
    "data drawn anew, which the argument covers",
    "on the line, where one flow is followed instead; with data opposite to one of the other "
    "label, or at right angles to all of them, where the integrator stops",
)
NEAR_ZERO = -20.0
"""ln of the largest norm at the start that counts as near zero, 2e-9."""


@dataclass(frozen=True)
class Survey:
    """The flows `found`, the number of flows `lost`, and of starts drawn anew because a datum that
    no neuron sees keeps the flow `waiting`, or a neuron slides."""

    found: list[Late]
    lost: int
    waiting: int = 0

    @property
    def followed(self) -> list[Evidence]:
        """That no flow was lost: a part of every claim's evidence."""
        return self._lost(len(self.found) + self.lost)

    @property
    def kept(self) -> list[Evidence]:
        """The same where the flows are counted elsewhere."""
        return self._lost()

    def _lost(self, tried: int | None = None) -> list[Evidence]:
        left_out = note("starts left out, from which a datum waits without end for a neuron that "
                        "sees it, or a neuron slides along a boundary", self.waiting)  # fmt: skip
        lost = fact("flows that could not be followed to the end", self.lost, 0, tried=tried)
        return [lost, left_out] if self.waiting else [lost]


def together(*surveys: Survey) -> Survey:
    """The flows of all surveys, in their order."""
    found = [late for each in surveys for late in each.found]
    return Survey(found, sum(e.lost for e in surveys), sum(e.waiting for e in surveys))


def start(X: NDArray, y: NDArray, log_norm: float, rng: np.random.Generator) -> Start:
    """Four Gaussian directions of lengths e^log_norm times 1/2 to 1, or from its square on where it
    is below 1/2; a_j > 0 for every second one; the first two are active on a datum of their label,
    so that no group is empty."""
    W0, signs = rng.standard_normal((4, X.shape[1])), np.array([1.0, -1.0, 1.0, -1.0])
    for j, sign in enumerate(signs[:2]):
        W0[j] *= np.sign(W0[j] @ X[rng.choice(np.flatnonzero(y == sign))])
    shares = max(1.0, -log_norm / np.log(2.0)) * np.log(rng.uniform(0.5, 1.0, 4))
    return Start(X, y, W0, log_norm + shares, signs)


def flows(seed: int, count: int, kinds: Sequence[str], sizes: Sequence[float]) -> Survey:
    """`count` flows of every one of the `kinds` of `support_draws`, from ln sizes in turn."""
    rng = np.random.default_rng(seed)
    draws = [partial(such, support_draws(3)[kind], _followed) for kind in kinds]
    found, lost, waiting, k = list[Late](), 0, 0, 0
    while k < count * len(kinds):
        item = draws[k % len(kinds)](rng)
        try:
            late = follow_long(start(item["X"], item["y"], sizes[k % len(sizes)], rng))
        except Waiting:
            waiting += 1
            continue
        except Lost:
            late, lost = None, lost + 1
        k += 1
        if late is not None:
            found.append(late)
    return Survey(found, lost, waiting)


def _followed(X: NDArray, y: NDArray) -> bool:
    """Two dimensions or more, no opposite data and none at right angles to all those of the other
    label: on the line a neuron never leaves the wrong label, and on the boundary of a datum of
    those kinds it slides, which the integrator does not follow."""
    C, other = np.outer(y, y) * cosines(X), np.not_equal.outer(y, y)
    repelled = np.any(other & (C > 1e-12), axis=1)
    return bool(X.shape[1] > 1 and repelled.all() and not np.any(other & (C > 1.0 - 1e-12)))


near_zero = partial(flows, kinds=["spanning"], sizes=[NEAR_ZERO])
"""Flows in the setting of Theorem 1: spanning support examples, starts near zero."""
not_spanning = partial(flows, kinds=["few", "right angles"], sizes=[NEAR_ZERO])
"""The same with too few support examples, and with right angles between the labels."""


def spanning_of_sizes(seed: int, count: int) -> Survey:
    """Flows from norms 0.1, 1 and 10 on data whose support examples span."""
    return flows(seed, 3 * count, ["spanning"], np.log([0.1, 1.0, 10.0]).tolist())


# --- (GF) on many data, from any balanced start, without a look at each crossing ------------------
#
# `follow_long` stops where a neuron crosses a boundary, thousands of times on many data. Here
# one stiff integrator runs over them all. The slope of the ReLU goes from 0 to 1 over cosines
# of up to `WIDTH`, so that a neuron may also slide along a boundary, which data that are not (OS)
# make it do: as the width goes to 0 such a path tends to one of the solutions of (4) on any stretch
# of time, but not for ever: the cosine of a neuron that grows at a right angle to a datum that it
# does not see tends to 0 from below, into every width. So a hundredth of it is asked, too.

WIDTH = 1e-3
"""Cosines up to this are on a boundary."""
_HOLDS, _SEES = 0.05, 0.5
"""A neuron with a smaller slope than the first lets a datum go: dying ones fall as slowly as e^-t.
It sees one from the second on: where nothing else turns it, its growth leads a neuron up to there,
as cosines below 0 tend to 0, and no further."""
_WALL = 10.0
"""How hard a datum that is not seen pulls, over the loss and by the longest datum's length."""
_LONGEST = 1e6
"""The longest time, in units of 1 over the squared length of the shortest datum."""
MOST = 3.3e10
"""The work after which a flow is given up: half a minute of one core, or a little more."""
_A_RUN = 4e7
"""The work of a stretch besides its steps; sliding neurons may change the clock without end."""
_LEAST = -300.0
"""ln of the least norm that is shown: one that shrinks for ever leaves the floats."""
_RTOL = 1e-6
_NEARLY = 1.0 - 1e-6  # the share of log(1/loss) at which an end that is looked for is found
_OWN_FLOW_POINTS = 121

FOLLOWED, RESTS, SLOW = (
    "followed to a loss of e^-1000000",
    "stops at a loss above 0",
    "given up at this loss, after too many steps",
)
UNTOLD = "not told: what neurons come to see hangs on how wide a boundary is taken"


@dataclass(frozen=True, eq=False)
class Path:
    """A network along its training.

    status  how it ended, in words
    clock   (m,) time, or epochs, in the first phase
    early   (m, p, d) the weights W there
    kept    (n,) the data that some neuron sees at the end: of these is the loss
    tau     (k,) log(1/loss) at the moments of the last phase, k >= 1
    W, a    (k, p, d) and (k, p) the weights there
    """

    status: str
    clock: NDArray
    early: NDArray
    kept: NDArray
    tau: NDArray
    W: NDArray
    a: NDArray


def slopes(cosines: NDArray, width: float = WIDTH) -> NDArray:
    """The slope of the ReLU at cosines (...) of neurons and data: 0 to 1 over -width to width."""
    return np.clip(0.5 + 0.5 * cosines / width, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Walled(Loss):
    """The loss of the data with a wall of 0. Any other has none, and pulls with its wall times L:
    the loss of a datum that is not seen stays, while that of the others falls, so that in the limit
    its pull is as much as keeps a neuron from crossing its boundary."""

    walls: NDArray  # of the data, (n,)

    def log_value(self, z: NDArray, y: NDArray) -> NDArray:
        return super().log_value(self._far(z, y), y)

    def pull(self, z: NDArray, y: NDArray, log_unit: NDArray | float = 0.0) -> NDArray:
        found = super().pull(self._far(z, y), y, log_unit)
        return np.asarray(np.where(self.walls > 0.0, self.walls * y, found))

    def bend(self, z: NDArray, y: NDArray, log_unit: NDArray | float = 0.0) -> NDArray:
        return super().bend(self._far(z, y), y, log_unit)

    def _far(self, z: NDArray, y: NDArray) -> NDArray:
        return np.asarray(np.where(self.walls > 0.0, np.inf * y, z))


@dataclass(frozen=True)
class Smoothed(GradientFlow):
    """The flow with `slopes` in place of steps, and so without switching surfaces. `left` holds one
    number: the work that it may still do, in units of about a nanosecond."""

    loss: Walled
    left: list[float] = field(default_factory=lambda: [MOST])
    width: float = WIDTH

    @cached_property
    def units(self) -> NDArray:
        return self.X / np.linalg.norm(self.X, axis=1, keepdims=True)

    @property
    def moves(self) -> NDArray:
        return 1.0 * (self.loss.walls == 0.0)

    def cosines(self, z: NDArray) -> NDArray:
        """Of data and neurons, (n, p)."""
        return self.units @ cast(Neurons, self.chart).split(z)[0].T

    def surfaces(self, z: NDArray) -> NDArray:
        return np.zeros((0, 0))

    def reach(self, z: NDArray, v: NDArray) -> float:
        return np.inf

    def velocity(self, z: NDArray, active: NDArray) -> NDArray:
        self.left[0] -= len(z) * len(self.X) + 2e5
        return super().velocity(z, slopes(self.cosines(z), self.width))

    def jacobian(self, z: NDArray, active: NDArray) -> NDArray:
        self.left[0] -= len(z) ** 2 * (len(self.X) + len(z) / 2.0)  # and factorisations with it
        found = self.cosines(z)
        bends = 0.5 / self.width * (np.abs(found) < self.width)
        return self.linearised(z, slopes(found, self.width), bends)[1]

    def seen_by(self, z: NDArray, slope: float) -> NDArray:
        """The data (n,) at which some neuron has more than this slope."""
        return slopes(self.cosines(z).max(axis=1), self.width) > slope

    def of(self, seen: NDArray) -> Smoothed:
        """The flow on the loss of the data that are seen, (n,), on the clock log log(1/loss)."""
        sizes = np.linalg.norm(self.X, axis=1)
        loss = replace(self.loss, walls=np.where(seen, 0.0, _WALL * sizes.max() / sizes))
        return replace(self, loss=loss, clock=LOG_LOG)

    def small(self, z: NDArray) -> bool:
        """Whether some data are seen, and all that are not let go have a loss below e^-2."""
        most = slopes(self.cosines(z).max(axis=1), self.width)
        outputs = np.where(most > _HOLDS, self.chart.outputs(z, self.X), np.inf * self.y)
        return bool(most.max() > _SEES and self.loss.log_value(outputs, self.y) < -_BEGUN)


def follow_own(X: NDArray, y: NDArray, W0: NDArray, signs: NDArray, most: float = MOST) -> Path:
    """The flow of the summed logistic loss from rows W0 (p, d), none 0, and a_j = signs_j |w_j|, on
    data X (n, d), y (n,); it is given up after so much work. Where a neuron may have come to a
    boundary by its growth alone, the flow is followed again with a hundredth of `WIDTH`; where that
    comes to an end elsewhere, the status says so.
    """
    wide, straight = _follow(X, y, W0, signs, most, WIDTH)
    first, last = (slopes(between(X, W)) > 0.0 for W in wide.W[[0, -1]])
    plain = straight and wide.kept.all() and not (last & ~first).any()
    if wide.status == SLOW or (wide.status == FOLLOWED and plain):
        return wide
    narrow, _ = _follow(X, y, W0, signs, most, 0.01 * WIDTH)
    if narrow.status == SLOW:
        return wide
    ends = [np.append(path.W[-1].ravel(), path.a[-1]) for path in (wide, narrow)]
    one, two = (end / np.linalg.norm(end) for end in ends)
    alike = bool((wide.kept == narrow.kept).all()) and np.linalg.norm(one - two) < 0.05
    return wide if alike else replace(wide, status=UNTOLD)


def between(X: NDArray, W: NDArray) -> NDArray:
    """The cosines (n, p) of data X (n, d) and neurons W (p, d); 0 for a neuron that is 0."""
    sizes = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(W, axis=1))
    return np.asarray(X @ W.T / np.where(sizes > 0.0, sizes, 1.0))


def _follow(
    X: NDArray, y: NDArray, W0: NDArray, signs: NDArray, most: float, width: float
) -> tuple[Path, bool]:
    """On the clock of time until the loss of the data that some neuron sees is below e^-2; from
    there on of these alone, on log log(1/loss). Back to time where a neuron comes to see another;
    the path, and whether it went without that."""
    chart = Neurons(signs, X.shape[1])
    loss = Walled(**vars(LOGISTIC), walls=np.zeros(len(y)))
    whole = Smoothed(chart, loss, X, y, TIME, [most], width)
    horizon = _LONGEST / float(np.sum(X * X, axis=1).min())
    first: tuple[NDArray, NDArray] | None = None
    z = chart.along(W0, np.log(np.linalg.norm(W0, axis=1)))
    while True:
        straight = first is None
        clock, states, status = _run(whole, z, horizon, whole.small)
        first = first or (clock, _weights(chart, states)[0])
        z, seen, flow = states[-1], whole.seen_by(states[-1], _HOLDS), whole
        words, states = (RESTS if status == "horizon" else SLOW), states[-1:]
        if status == "stopped":
            seen = whole.seen_by(z, _SEES)
            flow = whole.of(seen)
            until = max(float(np.log(REACH)), flow.begin(z) + 1.0)
            # Walls push, too: where there are any the clock runs ahead of the loss, or behind it.
            stop = partial(_ended, whole, flow, seen, until)
            _, states, status = _run(flow, z, until + (not seen.all()), stop)
            if status == "stopped" and flow.log_loss(states[-1]) <= -_NEARLY * np.exp(until):
                status = "horizon"
            words = FOLLOWED if status == "horizon" else SLOW
        if status != "stopped":
            tau = np.array([-flow.log_loss(z) for z in states])
            return Path(words, *first, seen, tau, *_weights(chart, states)), straight
        z = states[-1]


def _ended(whole: Smoothed, flow: Smoothed, seen: NDArray, until: float, z: NDArray) -> bool:
    """Whether the flow of the data that are seen has come to its end, or a neuron sees more."""
    more = not seen.all() and bool((whole.seen_by(z, _SEES) & ~seen).any())
    return more or bool(not seen.all() and flow.log_loss(z) <= -np.exp(until))


def _weights(chart: Neurons, Z: NDArray) -> tuple[NDArray, NDArray]:
    U, R = chart.split(Z)
    sizes = np.exp(np.maximum(R, _LEAST))
    return sizes[..., None] * U, chart.signs * sizes


def _run(
    flow: Smoothed, z: NDArray, until: float, stop: Callable[[NDArray], bool]
) -> tuple[NDArray, NDArray, str]:
    """Clock values (m,), states (m, k), and how it ended: "horizon" at `until`, "stopped" where
    `stop` holds of a later state, else "slow"."""
    begin = flow.begin(z)
    flow.left[0] -= _A_RUN

    def goes_on(t: float, z: NDArray) -> float:
        return 1.0 if t == begin or not (flow.left[0] < 0.0 or stop(flow.restored(z))) else -1.0

    path = integrate(flow, z, until, goes_on, rtol=_RTOL)
    ended = "horizon" if path.status in ("horizon", "converged") else path.status
    end = until if ended == "horizon" else float(path.t[-1])
    moments = np.linspace(begin, end, _OWN_FLOW_POINTS)
    if flow.clock == TIME:  # from 0 on, evenly on a logarithmic axis
        moments = end * np.append(0.0, np.geomspace(1e-4, 1.0, _OWN_FLOW_POINTS - 1))
    states = np.array([flow.restored(z) for z in path.at(moments)])
    return moments, states, "slow" if flow.left[0] < 0.0 else ended
