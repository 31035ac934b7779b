"""The page `toys`: Appendices A.1 to A.3, Figures 6 to 9."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import cos, sin

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import fractions
from reluflow.falsify import Instance, extended, statement
from reluflow.flows.segment import check_steps
from reluflow.geometry.separability import separation, serves, silent
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.papers.min2024early.setting import PRINTED, none_of, polygon, separable_draws
from reluflow.statistics import share_interval, wilson

# --- Many two-layer ReLU networks side by side on a few data: descents and flows ------------------
#
# The networks f(x) = sum_j v_j [w_j.x]_+ know nothing of each other; they share the loop, in which
# all neurons W (d, S h), v (S h,) stand in one row, network by network.

Data = tuple[NDArray, NDArray]
"""Inputs X (n, 2) with labels y (n,); or the weights W and v of neurons."""
Rates = Callable[[NDArray, NDArray], Data]
Move = Callable[[Rates, NDArray, NDArray, float], Data]


@dataclass(frozen=True)
class Ensemble:
    """Paths of S networks of h neurons, on a clock that counts steps."""

    knots: NDArray  # the recorded values of the clock, (r,)
    W: NDArray  # there, (r, S, h, d)
    v: NDArray  # there, (r, S, h)
    clock: NDArray  # the values at which the loss was taken, (m,)
    loss: NDArray  # there, (m, S)

    def at(self, knot: float) -> Data:
        """W (S, h, d) and v (S, h) at one of the recorded values; ValueError for another one."""
        (found,) = np.nonzero(np.isclose(self.knots, knot, rtol=1e-9))
        if not found.size:
            raise ValueError(f"{knot} was not recorded")
        return self.W[found[0]], self.v[found[0]]


def normal_starts(seed: int, networks: int, h: int, d: int, sigma: float) -> Data:
    """W (networks, h, d) and v (networks, h) with independent normal entries of deviation sigma;
    network k is the same for every number of networks."""
    drawn = [np.random.default_rng([seed, k]).standard_normal((h, d + 1)) for k in range(networks)]
    theta = sigma * np.array(drawn)
    return theta[..., :d], theta[..., d]


def balanced_starts(seed: int, networks: int, h: int, d: int, sigma: float) -> Data:
    """`normal_starts` with v_j made as large as |w_j|, of the same sign."""
    W, v = normal_starts(seed, networks, h, d, sigma)
    return W, np.sign(v) * np.linalg.norm(W, axis=2)


def euler(rates: Rates, W: NDArray, v: NDArray, step: float) -> Data:
    """A step of gradient descent in all w_j and v_j at once."""
    dW, dv = rates(W, v)
    return W + step * dW, v + step * dv


def runge_kutta(rates: Rates, W: NDArray, v: NDArray, step: float) -> Data:
    """A step of the gradient flow, by the method of order 4. It loses its order where a neuron
    crosses a boundary: an error of a fraction of `step` in the time of the crossing, which the
    alignment then shrinks."""
    slopes = [rates(W, v)]
    for share in (0.5, 0.5, 1.0):
        dW, dv = slopes[-1]
        slopes.append(rates(W + share * step * dW, v + share * step * dv))
    dW, dv = (step / 6.0 * (a + 2.0 * b + 2.0 * c + e)
              for a, b, c, e in zip(*slopes, strict=True))  # fmt: skip
    return W + dW, v + dv


def ensemble(
    X: ArrayLike, y: ArrayLike, W0: ArrayLike, v0: ArrayLike, loss: Loss, step: float,
    record: ArrayLike, every: int = 1, move: Move = runge_kutta,
) -> Ensemble:  # fmt: skip
    """Steps of descent or flow of L = sum_i l(f(x_i), y_i). Parameters: X (n, d), y (n,), W0 (S, h,
    d), v0 (S, h), step > 0, `record` the steps whose weights are kept (the last of them is the
    end), `every` the steps from one loss to the next."""
    record = np.unique(np.round(np.asarray(record, float)).astype(int))
    check_steps(step, int(record[-1]))
    X, y, W0, v0 = (np.asarray(a, float) for a in (X, y, W0, v0))
    W, v, shape = W0.reshape(-1, W0.shape[2]).T, v0.ravel(), (len(y), *v0.shape)

    def outputs(H: NDArray, v: NDArray) -> NDArray:
        """f (S, n) of the products H (n, S h) of data and neurons."""
        return (np.maximum(H, 0.0) * v).reshape(shape).sum(axis=2).T

    def rates(W: NDArray, v: NDArray) -> Data:
        H = X @ W
        pull = loss.pull(outputs(H, v), y).T[..., None]
        C = (pull * (H > 0.0).reshape(shape)).reshape(H.shape)
        return (X.T @ C) * v, np.einsum("ij,ij->j", C, H)

    states, losses, wanted = [], [], set(record.tolist())
    for k in range(int(record[-1]) + 1):
        if k % every == 0:
            losses.append(loss.value(outputs(X @ W, v), y))
        if k in wanted:
            states.append((W.T.reshape(W0.shape), v.reshape(v0.shape)))
        W, v = move(rates, W, v, step)
    kept_W, kept_v = (np.array(part) for part in zip(*states, strict=True))
    return Ensemble(record, kept_W, kept_v, every * np.arange(len(losses)), np.array(losses))


# --- The experiments in the plane (Appendices A.1 to A.3): data, readings, runs -------------------
#
# The paper leaves open which loss it uses, whether it is summed or averaged, and the data of its
# Figure 6. The chapter runs the mean of the exponential loss, the one that gives the paper's
# numbers on MNIST; `readings` compares the candidates with what A.2 says of its runs.

STEP, WIDTH, SIGMA = 2e-3, 50, 1e-6
"""The paper's step of descent, number of neurons, and standard deviation of a weight."""
EARLY, LATE = 7000, 21_000
"""The iterations at which A.2 looks."""
WELL = 0.99
"""A neuron is well aligned from this cosine on."""
EVERY = 100
"""A step of the flow's integrator in steps of descent."""
BEGUN = 0.99
"""The loss begins to fall where it leaves this share of its first value."""

_LOSS = (
    "the loss is the mean of e⁻ʸᶠ over the data, the reading that gives the paper's numbers on "
    "MNIST"
)
_MOST_STARTS = "a claim about one start holds if more than half of all starts show it"
_SPEEDS = (
    "the sum of log(1 + e⁻ʸᶠ), as Section 2.1 prints it, and the mean of 2 log(1 + e⁻ʸᶠ) give "
    "nearly the same counts; the sums of e⁻ʸᶠ and of 2 log(1 + e⁻ʸᶠ) are twice as fast, so that "
    "iteration 7000 lies behind the fall of the loss; the mean of log(1 + e⁻ʸᶠ) is half as fast, "
    "and at sin 0.1 some neurons are still astray at iteration 7000 in nearly every start"
)
MEAN_LOSS = Reading(_LOSS, _SPEEDS)
ONE_IN_TWENTY = Reading(
    f"{_LOSS}; the paper's instance is not ours, and what is asked is whether one start in twenty "
    "or more shows such a neuron",
    f"about half of all starts show none. The loss: {_SPEEDS}",
)
"""How "in this particular instance" is read."""
IN_MOST_STARTS = Reading(
    f"{_LOSS}; {_MOST_STARTS}",
    f"of every start it is not true: a line of the card counts those of which it is. The loss: "
    f"{_SPEEDS}",
)
"""How a word such as "all" is read, too."""
CHOSEN_DATA = Reading(
    "the data, which the paper does not print, are sets of ours whose lengths are within a factor "
    f"of 3 of each other; {_LOSS}; {_MOST_STARTS}",
    "of every start it is not true: the card counts those of each set of which it is. With one "
    "datum five times shorter than another, some neurons are still on their way when the loss "
    "begins to fall: the last set of the card, which is not counted. Another loss changes the "
    "speed",
)
OWN_FALLS = Reading(
    "the data are those of our sets whose x₊ and x₋ differ in length by a factor of 1.4 or more, "
    f"with no class more than twice as large as the other; {_LOSS}; {_MOST_STARTS}",
    "each class is fitted by neurons of its own, so with sums of nearly the same length the two "
    "falls are one. Where one class is much larger its fall is so much higher that the other's "
    "does not count: one datum against four of the same length shows one fall. The paper does not "
    "print its data",
)
DIRECTIONS = Reading(
    f"low rank is counted in directions: the large neurons of each sign have one; the data are "
    f"sets of ours, for the paper prints none; {_LOSS}",
    "as a matrix, every first layer with two inputs has a rank of at most 2, trained or not",
)


def _data(points: Sequence[Sequence[float]], labels: Sequence[int]) -> Data:
    return np.array(points, float), np.array(labels, float)


FIGURE_7, FIGURE_8, FIGURE_9 = (
    (PRINTED[name].X, PRINTED[name].y) for name in ("figure-7", "figure-8", "figure-9")
)
FIGURE_6: dict[str, Data] = {
    "unequal sums": _data([[1, 0], [2, 1], [-1, 1]], [1, 1, -1]),
    "two and two": _data([[1, 0], [2, 1], [-1, 0.5], [-2, 2]], [1, 1, -1, -1]),
    "two and two, nearer": _data([[1, 0], [1, 0.5], [-1, 0.5], [-1, 1]], [1, 1, -1, -1]),
    "mirrored": _data([[2, 0], [2, 1], [-2, 0], [-2, 1]], [1, 1, -1, -1]),
    "opposite": _data([[1, 0], [1, 1], [-1, 0], [-1, -1]], [1, 1, -1, -1]),
    "one short datum": _data([[2, 0], [0.05, 0.4], [-1, -1]], [1, 1, -1]),
}
"""Data chosen here that satisfy Assumption 1; the paper does not print its own."""


UNEQUAL: dict[str, Data] = {
    name: _data([[1, 0], *([-cos(a), sin(a)] for a in angles)], [1, *(-1 for _ in angles)])
    for name, angles in (("one against three", (-0.2, 0.0, 0.2)),
                         ("one against four", (-0.2, -0.1, 0.1, 0.2)))
}  # fmt: skip
"""(1, 0) against unit data at these angles from (-1, 0): sums differ in length by 3 and 4."""


def points(data: Data) -> str:
    """The data in words, the positive ones first: "(1, 0), (2, 1) against (−1, 1)"."""
    X, y = data
    sides = (", ".join(f"({a:g}, {b:g})" for a, b in X[y == sign]) for sign in (1.0, -1.0))
    return " against ".join(sides).replace("-", "−")


ALIKE = tuple(FIGURE_6)[:-1]
"""Those of Figure 6 whose lengths are within a factor of 3 of each other."""


def descent(data: Data, seed: int, networks: int, record: ArrayLike) -> Ensemble:
    """The paper's experiment from `networks` starts: plain normal weights, both layers trained by
    the mean of the exponential loss. The run's loss is the sum. `flow` stands for it elsewhere."""
    W, v = normal_starts(seed, networks, WIDTH, 2, SIGMA)
    return ensemble(*data, W, v, EXPONENTIAL, mean_step(data), record, 20, euler)


def mean_step(data: Data) -> float:
    """A step along the gradient of the mean of the loss, as one along that of its sum."""
    return STEP / len(data[1])


def flow(data: Data, seed: int, networks: int, record: ArrayLike) -> Ensemble:
    """The gradient flow from the same starts, on the clock of the descent's iterations. `record`
    are multiples of 100 iterations; the loss is taken every 100."""
    W, v = normal_starts(seed, networks, WIDTH, 2, SIGMA)
    step, looks = EVERY * mean_step(data), np.asarray(record) / EVERY
    run = ensemble(*data, W, v, EXPONENTIAL, step, looks)
    return replace(run, knots=EVERY * run.knots, clock=EVERY * run.clock)


@dataclass(frozen=True)
class Places:
    """Where neurons are, arrays (..., h)."""

    live: NDArray  # active on some datum
    arrived: NDArray  # live and in the cone of their own sign: S_+ where v_j > 0, else S_-
    astray: NDArray  # live and not arrived
    aligned: NDArray  # the cosine with x_+ where v_j > 0, else x_-; NaN where that sum is 0

    @property
    def complete(self) -> NDArray:
        """The starts without a neuron astray, (S,)."""
        return np.asarray(~self.astray.any(axis=1))


def places(data: Data, W: NDArray, v: NDArray) -> Places:
    """The `Places` of neurons W (..., h, d), v (..., h)."""
    X, y = data
    live = ~silent(X, W)
    own = np.where(v > 0.0, serves(X, y, W, 1.0), serves(X, y, W, -1.0))
    sums = np.stack([X[y > 0].sum(axis=0), X[y < 0].sum(axis=0)])
    lengths = np.linalg.norm(sums, axis=1)
    units = sums / np.where(lengths > 0.0, lengths, np.nan)[:, None]
    cosines = (W @ units.T) / np.linalg.norm(W, axis=-1)[..., None]
    aligned = np.where(v > 0.0, cosines[..., 0], cosines[..., 1])
    return Places(live, live & own, live & ~own, aligned)


def as_the_loss_begins_to_fall(run: Ensemble) -> Data:
    """W (S, h, d), v (S, h) of each network at the last knot at which its loss has not begun."""
    high = run.loss >= BEGUN * run.loss[0]
    last = run.clock[high.shape[0] - 1 - np.argmax(high[::-1], axis=0)]
    at = np.searchsorted(run.knots, last, side="right") - 1, np.arange(len(last))
    return run.W[at], run.v[at]


def typical(what: str, hits: NDArray, after: str = "") -> list[Evidence]:
    """That more than half of all starts do so: Wilson's interval of the share lies above 1/2.
    Parameters: what they do, `hits` (S,) which of the starts drawn did, or (k, S) on k data sets,
    whose mean share is that of S starts and no more; `after` as `bound` has it. A picture of one
    run is called typical where this holds."""
    starts, told = hits.shape[-1], f"{int(hits.sum())} of {hits.size}"
    low, _ = wilson(int(hits.sum()) * starts // hits.size, starts)
    told += f", {starts} starts on each of {len(hits)} data sets" if hits.ndim > 1 else ""
    return [
        bound(f"share of starts in which {what}, lower end of the interval", float(low), ">", 0.5,
              "", digits=2, after=after),
        note(f"starts in which {what}", told),
    ]  # fmt: skip


def readings(seed: int, networks: int) -> pd.DataFrame:
    """What A.2 says of iterations 7000 and 21 000, under six readings of the loss. A mean over two
    data is the sum at half the speed, and 2 log(1 + e^(-yf)) is log(1 + e^(-yf)) at twice the
    speed: the six are two flows, looked at at different times."""
    W, v = normal_starts(seed, networks, WIDTH, 2, SIGMA)
    looks = [35, 70, 105, 140, 210]
    exponential, logistic = (
        [ensemble(*data, W, v, loss, EVERY * STEP, steps) for data in (FIGURE_7, FIGURE_8)]
        for loss, steps in ((EXPONENTIAL, looks), (LOGISTIC, [*looks, 420]))
    )
    rows = []
    for words, (near, tiny), speed in (
        ("exponential", exponential, 1.0),
        ("log(1 + e⁻ʸᶠ)", logistic, 1.0),
        ("2 log(1 + e⁻ʸᶠ)", logistic, 2.0),
    ):
        for total, share in (("sum", 1.0), ("mean", 0.5)):
            unit = speed * share / EVERY
            high = tiny.loss >= 0.5 * tiny.loss[0]
            fall = float(np.median(tiny.clock[high.sum(axis=0) - 1])) / unit
            strayed = [
                places(data, *run.at(unit * k)).astray.sum(axis=1)
                for data, run, k in ((FIGURE_7, near, EARLY), (FIGURE_8, tiny, EARLY),
                                     (FIGURE_8, tiny, LATE))
            ]  # fmt: skip
            rows.append({
                "reading": f"{total}, {words}",
                "loss halved at": int(round(fall, -2)),
                "all arrived by 7000, sin 0.1": f"{np.mean(strayed[0] == 0):.2f}",
                "astray at 7000, sin 0.001": f"{np.mean(strayed[1]):.2f}",
                "some astray at 21 000, sin 0.001": f"{np.mean(strayed[2] > 0):.2f}",
            })  # fmt: skip
    return pd.DataFrame(rows).set_index("reading")


# --- Second route: how many neurons have not reached S_+: a law in closed form --------------------
#
# Two positive unit data at the cosine sin(angle), a neuron with standard normal w and v: the page
# derives the law from the work tau, the integral of the pull c of x_1.


def chance_astray(tau: float, angle: float) -> float:
    """The probability that a neuron is live, with v > 0, and outside S_+ after the work tau. About
    e^-tau / (sqrt 2 pi tan(angle)) where that is small. A neuron that starts with v < 0 and turns
    is counted too. Parameters: tau > 0, angle in [0, pi/2). It is twice the probability of p(tau) >
    0, v(tau) > 0, w.x_2 <= 0: x_1 and x_2 may change places. The page has the law."""
    A, phi = math.tan(angle) * math.sqrt(math.cosh(2.0 * tau)), math.atan(math.tanh(tau))
    k = A / math.hypot(1.0, A)
    turned = math.asin(k * math.cos(phi)) + math.asin(k * math.sin(2.0 * phi))
    return (0.5 * math.pi + phi - turned) / (2.0 * math.pi)


# --- Figures 6 to 8: do the neurons reach S_+ and S_- in time, and how many stay astray? ----------

_MOST = 0.9
_GROWN = 100
"""What "the neurons" do, nine of ten of them must."""
_SPREAD = 4.0
"""A count may differ from the law's by so many standard deviations of a Poisson variable."""


def elsewhere(data: Data, run: Ensemble, descended: Ensemble) -> float:
    """The share of neurons, at the looks of a descent and in its starts, the first of the flow's,
    that the flow puts elsewhere."""
    found = []
    for k in descended.knots.tolist():
        here, there = (places(data, *(part[: descended.v.shape[1]] for part in each.at(k)))
                       for each in (descended, run))  # fmt: skip
        found.append((here.astray != there.astray) | (here.live != there.live))
    return float(np.mean(found))


def all_in_their_cones(runs: Mapping[str, Ensemble], descended: Ensemble) -> list[Evidence]:
    """ea.fig6.1: as the loss begins to fall all neurons are in S_+, S_- or S_dead, well aligned.
    Parameters: a run of the flow for each of the data sets `toys.FIGURE_6`, and one of descent for
    the first of them from the same starts. The sets of comparable lengths decide, together; the one
    with a short datum is told beside them."""
    complete, well, rows = [], [], []
    for name, run in runs.items():
        at = places(FIGURE_6[name], *as_the_loss_begins_to_fall(run))
        whole = at.complete
        rows.append(f"{name}: {int(whole.sum())} of {len(whole)}")
        if name in ALIKE:
            complete.append(whole)
            well.append(at.aligned[at.arrived] >= WELL)
    return [
        *typical("every neuron is in its cone or dead", np.array(complete),
                 after="that the set with a short datum is left out"),
        bound(f"share of the neurons in S₊ and S₋ with a cosine of {WELL} or more",
              float(np.concatenate(well).mean()), ">", _MOST, "", digits=2),
        bound("share of neurons that the flow puts elsewhere than descent, in starts of the first "
              "set", elsewhere(FIGURE_6[ALIKE[0]], runs[ALIKE[0]], descended), "<", 0.01, ""),
        note("starts without a neuron astray, set by set", "; ".join(rows)),
    ]  # fmt: skip


def all_arrive_and_grow(run: Ensemble) -> list[Evidence]:
    """ea.fig7: at mu = sin 0.1 the live neurons with v_j > 0 come to S_+, align, and then grow."""
    W, v = as_the_loss_begins_to_fall(run)
    early, late = places(FIGURE_7, W, v), places(FIGURE_7, *run.at(LATE))
    growth = np.linalg.norm(run.at(LATE)[0], axis=-1) / np.linalg.norm(run.at(0)[0], axis=-1)
    return [
        *typical("no live neuron is outside S₊ as the loss begins to fall", early.complete),
        *typical("none is outside at iteration 21000", late.complete),
        bound(f"share of the neurons in S₊ with a cosine of {WELL} or more as the loss begins to "
              "fall", float((early.aligned[early.arrived] >= WELL).mean()), ">", _MOST, "",
              digits=2),
        bound(f"share of them that grow to {_GROWN} times their norm by iteration {LATE}",
              float((growth[early.arrived] > _GROWN).mean()), ">", _MOST, "", digits=2),
    ]  # fmt: skip


def slower_when_nearly_orthogonal(
    near: Ensemble, tiny: Ensemble, descended: Ensemble
) -> list[Evidence]:
    """ea.fig8.1: at iteration 7000 some live neurons are outside S_+ at mu = sin 0.001, along x_1
    or x_2, and none at mu = sin 0.1. Parameters: flows of the data of Figures 7 and 8 from the same
    starts, and a descent of the latter."""
    arrived = places(FIGURE_7, *near.at(EARLY)).complete
    W, v = tiny.at(EARLY)
    astray = places(FIGURE_8, W, v).astray
    towards = (W @ FIGURE_8[0].T / np.linalg.norm(W, axis=-1)[..., None]).max(axis=-1)
    work = 0.5 * STEP * EARLY
    law = WIDTH * len(astray) * chance_astray(work, 0.001)
    return [
        *typical("some are outside at sin 0.001, and none at sin 0.1",
                 astray.any(axis=1) & arrived),
        bound(f"share of those outside with a cosine of {WELL} or more with x₁ or x₂",
              float((towards[astray] >= WELL).mean()), ">", _MOST, "", digits=2),
        bound("their number against the law of this page, in standard deviations",
              abs(float(astray.sum()) - law) / law**0.5, "<", _SPREAD, "", digits=2),
        note("neurons of 50 outside, on average, and by the law",
             (float(astray.sum(axis=1).mean()), law / len(astray)), "", digits=3),
        note("the same at sin 0.1, by the law",
             WIDTH * chance_astray(work, 0.1), "", digits=2),
        bound("share of neurons that the flow puts elsewhere than descent at sin 0.001",
              elsewhere(FIGURE_8, tiny, descended), "<", 0.01, ""),
    ]  # fmt: skip


def left_behind(run: Ensemble) -> list[Evidence]:
    """ea.fig8.2: at mu = sin 0.001 a neuron is still outside S_+ at iteration 21 000. One instance
    cannot be wrong; what can be asked is whether it is rare."""
    count = places(FIGURE_8, *run.at(LATE)).astray.sum(axis=1)
    hits, starts = int((count > 0).sum()), len(count)
    low, _ = wilson(hits, starts)
    law = _law(run)
    mean = starts * float(law @ np.arange(len(law)))
    return [
        bound("share of starts with a neuron outside S₊, lower end of the interval", float(low),
              ">", 0.05, "", digits=2),
        note("starts with a neuron outside, and the interval of the share",
             f"{hits} of {starts}, {share_interval(hits, starts)}"),
        note("starts with one, two, more of them",
             tuple(int(k) for k in (np.sum(count == 1), np.sum(count == 2), np.sum(count > 2)))),
        note("the share by the law of this page", float(1.0 - law[0]), "", digits=2),
        bound("number of these neurons against the law, in standard deviations",
              abs(float(count.sum()) - mean) / mean**0.5, "<", _SPREAD, "", digits=2),
    ]  # fmt: skip


def work(run: Ensemble, until: float, unit: float) -> NDArray:
    """tau (S,), the integral of the pull of x_1 up to the clock value `until`, for a pair of data.
    Both have nearly the same output f, so that the sum of the exponential loss is L = 2 e^-f, and
    the pull is L/2. `unit` is the time of one step of the clock, in that of the sum's flow."""
    done = run.clock <= until
    return np.asarray(np.trapezoid(0.5 * run.loss[done], unit * run.clock[done], axis=0))


def _law(run: Ensemble) -> NDArray:
    """The probabilities (h + 1,) of 0, 1, ... neurons outside S_+ at iteration 21 000."""
    chances = [chance_astray(float(tau), 0.001) for tau in work(run, LATE, 0.5 * STEP)]
    return np.mean([[math.comb(WIDTH, k) * p**k * (1.0 - p) ** (WIDTH - k)
                     for k in range(WIDTH + 1)] for p in chances], axis=0)  # fmt: skip


def counts_and_law(run: Ensemble) -> Data:
    """Neurons outside S_+ in each start (S,), and the law (5,) of 0, ..., 3 and of 4 or more."""
    law = _law(run)
    astray = places(FIGURE_8, *run.at(LATE)).astray.sum(axis=1)
    return astray, np.append(law[:4], law[4:].sum())


def astray_at_the_end(
    angles: NDArray, sigma: float, seed: int, networks: int
) -> list[tuple[float, int, int, float]]:
    """How many live neurons of two positive data at the cosine sin(angle) are outside S_+ at twice
    the time at which the loss has fallen to a half: for each angle (angle, neurons outside,
    neurons, chance by the law)."""
    found = []
    until = 10.0 * round(20.0 * np.log(sigma) / np.log(SIGMA))
    for k, angle in enumerate(angles.tolist()):
        X = np.array([[1.0, 0.0], [np.sin(angle), np.cos(angle)]])
        data = X, np.ones(2)
        W, v = normal_starts(100 * seed + k, networks, WIDTH, 2, sigma)
        run = ensemble(*data, W, v, EXPONENTIAL, 0.1, [until])
        astray = places(data, *run.at(until)).astray
        law = np.mean([chance_astray(float(t), angle) for t in work(run, until, 0.1)])
        found.append((angle, int(astray.sum()), astray.size, float(law)))
    return found


# --- Figure 6: how often the loss falls, and how many directions the grown neurons have -----------

_APART = 1.4
"""Lengths of x_+ and x_- that differ by this factor give falls well apart."""
_COUNTS = ["one fall", "two", "more"]
_LARGE = 0.1
"""A neuron is large from this share of the largest norm on."""


def falls(loss: NDArray) -> NDArray:
    """The places (k,) in a curve loss (m,), taken at equal distances, at which it falls sharply.
    They are the peaks of the rate of fall: as high as a tenth of the highest, and apart from a
    higher one by a valley of less than half their height."""
    from scipy.signal import find_peaks  # half a second, for which no other page waits

    rate = np.concatenate([[0.0], -np.diff(loss), [0.0]])
    peaks, told = find_peaks(rate, height=0.1 * rate.max(), prominence=0.0)
    return peaks[told["prominences"] >= 0.5 * told["peak_heights"]] - 1


def ratio_of_sums(data: Data) -> float:
    """The longer of x_+ and x_- over the shorter."""
    X, y = data
    lengths = [float(np.linalg.norm(X[y == sign].sum(axis=0))) for sign in (1.0, -1.0)]
    return max(lengths) / min(lengths)


def falls_table(runs: Mapping[str, Ensemble]) -> pd.DataFrame:
    """For each data set: its data, |x_+| : |x_-|, and the starts with one, two, more falls."""
    rows = []
    sets = FIGURE_6 | UNEQUAL
    for name, run in runs.items():
        counts = np.array([len(falls(loss)) for loss in run.loss.T])
        rows.append({"set": name, "data": points(sets[name]),
                     "ratio of the sums": round(ratio_of_sums(sets[name]), 2),
                     "one fall": int((counts == 1).sum()), "two": int((counts == 2).sum()),
                     "more": int((counts > 2).sum())})  # fmt: skip
    return pd.DataFrame(rows).set_index("set")


def two_sharp_falls(
    runs: Mapping[str, Ensemble], unequal: Mapping[str, Ensemble]
) -> list[Evidence]:
    """ea.fig6.2: after the alignment the loss falls twice, where |x_+| and |x_-| differ enough.
    `unequal` are runs on classes of very different size."""
    told, other = falls_table(runs), falls_table(unequal)
    apart = told[told["ratio of the sums"] >= _APART]
    near = told[told["ratio of the sums"] < _APART]
    starts = int(apart[_COUNTS].iloc[0].sum())
    return [
        *typical(f"the loss falls twice, where the sums differ by {_APART}",
                 np.arange(starts) < apart[["two"]].to_numpy(),
                 after=f"the {_APART}, read off these sets, and that no class is more than twice "
                 "as large as the other"),
        note("starts with one fall where they differ by less",
             f"{int(near['one fall'].sum())} of {int(near[_COUNTS].to_numpy().sum())}"),
        *(note(f"starts with two falls, {name} data of length 1, where they differ by "
               f"{row['ratio of the sums']:g}", f"{row['two']} of {row[_COUNTS].sum()}")
          for name, row in other.iterrows()),
    ]  # fmt: skip


def spread(W: NDArray, v: NDArray) -> float:
    """The largest angle, in degrees, between two large neurons of one sign; W (h, d), v (h,)."""
    size = np.linalg.norm(W, axis=1)
    widest = 0.0
    for sign in (1.0, -1.0):
        mine = (np.sign(v) == sign) & (size >= _LARGE * size.max())
        U = W[mine] / size[mine, None]
        if len(U) > 1:
            chord = np.linalg.norm(U[:, None] - U[None], axis=-1).max()
            widest = max(widest, float(np.degrees(2.0 * np.arcsin(0.5 * chord))))
    return widest


def few_directions(runs: Mapping[str, Ensemble]) -> list[Evidence]:
    """ea.fig6.3: when the loss is near 0 the first layer has low rank: its large neurons have one
    direction for each sign. In the plane no matrix has a rank above 2, so the directions are
    counted."""
    widest, remaining, many, ratios = 0.0, 0.0, [], []
    for name, run in runs.items():
        W, v = run.W[-1], run.v[-1]
        widest = max([widest, *(spread(*each) for each in zip(W, v, strict=True))])
        remaining = max(remaining, float((run.loss[-1] / run.loss[0]).max()))
        size = np.linalg.norm(W, axis=-1)
        many.append((size >= _LARGE * size.max(axis=-1, keepdims=True)).sum(axis=-1).mean())
        singular = np.linalg.svd(W, compute_uv=False)
        ratios.append(f"{name}: {np.median(singular[:, 1] / singular[:, 0]):.2f}")
    return [
        bound("widest angle between two large neurons of one sign", widest, "<", 1.0, "degrees",
              digits=2),
        bound("what is left of the loss, at most", remaining, "<", 0.05, "of its first value",
              digits=2),
        note("large neurons of 50, on average", float(np.mean(many)), "", digits=2),
        note("second singular value over the first, median", "; ".join(ratios)),
    ]  # fmt: skip


# --- Figure 9: two orthogonal data: what decides where a neuron ends, and who grows ---------------

BY_OUTPUT = Reading(
    f"who grows is read off the outputs: nearly all of f comes from the neurons along x₊; "
    f"{IN_MOST_STARTS.taken}",
    "every live neuron grows, those along x₁ and x₂ more slowly; where no neuron starts in the "
    "quadrant of x₊ they fit the data by themselves",
)


def group(W: NDArray, v: NDArray) -> NDArray:
    """0, 1, 2 for neurons with v > 0 active on x_1 alone, x_2 alone, both; -1 for the rest.
    Parameters: W (..., 2), v (...), for the data (1, 0) and (0, 1)."""
    on = W > 0.0
    alone = np.where(on[..., 0], 0, np.where(on[..., 1], 1, -1))
    return np.where(v > 0.0, np.where(on.all(axis=-1), 2, alone), -1)


def predicted(W: NDArray, v: NDArray) -> NDArray:
    """The group in which the flow from a tiny start W (..., 2), v (...) ends: with v > 0 that of
    the start; with v < 0 the neuron turns round if the norm of its active inner products exceeds
    |v|, and with both of them still active if 2 w_1 w_2 > v^2."""
    inner = np.maximum(W, 0.0)
    turns = (inner**2).sum(axis=-1) > v**2
    both = 2.0 * inner[..., 0] * inner[..., 1] > v**2
    larger = np.where(inner[..., 0] >= inner[..., 1], 0, 1)
    backwards = np.where(turns, np.where(both, 2, larger), -1)
    return np.where(v > 0.0, group(W, v), backwards)


def where_each_ends(run: Ensemble) -> list[Evidence]:
    """ea.fig9.1: each live neuron with v_j > 0 aligns with x_1, x_2 or x_+, as its start has it."""
    (W0, v0), (W, v) = run.at(0), run.at(LATE)
    expected, found = predicted(W0, v0), group(W, v)
    positive = v0 > 0.0
    Wb, vb = as_the_loss_begins_to_fall(run)
    mine = group(Wb, vb)
    axes = np.array([[1.0, 0.0], [0.0, 1.0], [0.5**0.5, 0.5**0.5]])
    cosines = (Wb / np.linalg.norm(Wb, axis=-1)[..., None] * axes[mine]).sum(axis=-1)
    return [
        none_of("neurons with vⱼ > 0 that end in another group than the one they start in",
                (found != expected)[positive]),
        bound("share of the neurons with vⱼ < 0 that end elsewhere than the conserved quantity "
              "says", float((found != expected)[~positive].mean()), "<", 0.01, ""),
        bound(f"share of the live ones with a cosine of {WELL} or more with x₁, x₂ or x₊ as "
              "the loss begins to fall", float((cosines[mine >= 0] >= WELL).mean()), ">", 0.9, "",
              digits=2),
        note("neurons of 50 at the end with x₁, x₂, x₊, on average",
             tuple(float((found == k).sum(axis=1).mean()) for k in range(3)), "", digits=3),
        note("of these, neurons that began with vⱼ < 0",
             float(((found >= 0) & ~positive).sum(axis=1).mean()), "", digits=2),
    ]  # fmt: skip


def who_fits(orthogonal: Ensemble, near: Ensemble) -> list[Evidence]:
    """ea.fig9.2: only the neurons along x_+ grow and fit the data; they are fewer than for mu > 0.
    Parameters: runs of the data of Figures 9 and 7 from the same starts. Who fits is read off the
    outputs."""
    W, v = orthogonal.at(LATE)
    mine = group(W, v)
    parts = np.maximum(W, 0.0) * v[..., None]
    theirs = np.where(mine[..., None] == 2, parts, 0.0).sum(axis=1) / parts.sum(axis=1)
    some = (mine == 2).any(axis=1)
    fewer = (mine == 2).sum(axis=1) < places(FIGURE_7, *near.at(LATE)).arrived.sum(axis=1)
    size = np.linalg.norm(W, axis=-1)
    medians = tuple(float(np.median(size[mine == k])) for k in range(3))
    return [
        bound("least share of an output that comes from the neurons along x₊",
              float(theirs[some].min()), ">", 0.95, "", digits=2),
        *typical("fewer neurons are along x₊ than at sin 0.1", fewer),
        note("starts without a neuron along x₊", int((~some).sum())),
        note("median norm at iteration 21000 of the neurons along x₁, x₂, x₊", medians, "",
             digits=2),
        note("how many neurons are along x₊, on average, and at sin 0.1 in S₊",
             (float((mine == 2).sum(axis=1).mean()),
              float(places(FIGURE_7, *near.at(LATE)).arrived.sum(axis=1).mean())), "", digits=3),
    ]  # fmt: skip


# --- Orthogonal data beside separable ones (Section 3.2, A.3): who comes to S_+ -------------------

OFF_THE_BOUNDARIES = Reading(
    "no neuron starts orthogonal to a datum, which has probability 0",
    "where ⟨wⱼ, xᵢ⟩ = 0 at the start the equation has, besides the solution on which it stays 0, "
    "one on which it grows at once, as in E.4, and with it the neuron may come to S₊",
)
WITH_ASSUMPTION_2 = Reading(
    "Assumption 2 holds, and how small ε must be depends on μ",
    "a neuron of V₊ along x₋ shrinks on its line for ever; at a fixed scale the neurons left "
    "outside become, as μ tends to 0, those of orthogonal data",
)


def start_decides(seed: int, networks: int) -> list[Evidence]:
    """ea.orth.compare.1: flows of orthogonal data with both labels: in S_+ end those neurons of V_+
    that start active on all positive data, and no others; the same for V_- and S_-. The data are
    along the axes: then their inner products with the weights are free of rounding."""
    others, missing, tried = 0, 0, 0
    for k, (plus, minus) in enumerate(((2, 1), (1, 3), (3, 2))):
        lengths = np.random.default_rng([seed, k]).uniform(0.7, 1.4, plus + minus)
        X, y = np.diag(lengths), np.repeat([1.0, -1.0], [plus, minus])
        W, v = balanced_starts(seed + k, networks, 40, plus + minus, 1e-6)
        run = ensemble(X, y, W, v, EXPONENTIAL, 0.1, [400])
        for sign in (1.0, -1.0):
            full = np.all(W @ X[y == sign].T > 0.0, axis=-1)
            ends = serves(X, y, run.W[-1], sign)
            mine = v * sign > 0.0
            others += int((ends & ~full & mine).sum())
            missing += int((full & ~ends & mine).sum())
            tried += int(mine.sum())
    return [
        fact("neurons that end in their cone without having started active on all data of their "
             "label", others, 0, tried=tried),
        fact("neurons that started so and do not end there", missing, 0, tried=tried),
    ]  # fmt: skip


def _whole_start(item: Instance, rng: np.random.Generator) -> Instance:
    d = item["X"].shape[1]
    w = rng.integers(-3, 4, d).astype(float)
    if rng.uniform() < 0.3:  # hardly off the direction of x_-, which is excluded
        w = 1024.0 * item["X"][item["y"] < 0].sum(axis=0) + rng.integers(-1, 2, d)
    return {"w": w}


def _free_of_x_minus(X: NDArray, y: NDArray, w: NDArray) -> bool:
    minus, w = fractions(X)[y < 0].sum(axis=0), fractions(w)
    along = minus @ w
    return not (along > 0 and along**2 == (minus @ minus) * (w @ w))


@statement("every neuron comes to S₊ or dies",
           extended({kind: separable_draws((2, 4), (2, 6))[kind] for kind in
                     ("integers", "wide", "narrow", "parallel", "one against many")}, _whole_start),
           {"w is no positive multiple of x₋": _free_of_x_minus},
           fixed=("X", "y", "w"))  # fmt: skip
def all_arrive_or_die(X: NDArray, y: NDArray, w: NDArray) -> float:
    """ea.orth.compare.2: under Assumption 1, for tiny weights, every neuron of V_+ ends in S_+ or
    dead; in S_+ if it starts active on one positive datum."""
    X, w = fractions(X), fractions(w)
    end = polygon(X, y, w).status
    return 1.0 if end == "serves" or (end == "dead" and not (X[y > 0] @ w > 0).any()) else -1.0


def widths_needed(seed: int, networks: int) -> list[Evidence]:
    """The width m for which one of m neurons has what each has by the chance 2^-n, with a
    probability of 1/2 or more; what a fixed scale leaves of the chance as mu tends to 0."""
    lasting = astray_at_the_end(np.array([1e-1, 1e-4]), 1e-6, seed, networks)
    few, many = (astray / tried for _, astray, tried, _ in lasting)
    widths = [math.ceil(math.log(0.5) / math.log1p(-(0.5**n))) for n in range(1, 11)]
    return [
        fact("neurons needed for an even chance, if one datum is enough",
             widths[0], 1),
        fact("the width needed if all n are, grows by a factor of 7/4 at least with each n > 2",
             all(4 * more >= 7 * less for less, more in pairwise(widths[1:])), True),
        note("that width for n = 1, ..., 10", ", ".join(map(str, widths))),
        bound("share of neurons left astray at weights of 1e-6 and μ = sin 0.1", few, "<", 0.01,
              ""),
        bound("the same at μ = sin 0.0001", many, ">", 0.05, "", digits=2),
    ]  # fmt: skip


# --- A datum and its opposite: where the regular flow dies, and descent goes on -------------------

EXAMPLES: Mapping[str, Data] = {
    "(2, 1) against (−2, −1)": _data([[2, 1], [-2, -1]], [1, -1]),
    "(2, 1), (1, 2) against (−2, −1)": _data([[2, 1], [-2, -1], [1, 2]], [1, -1, 1]),
    "(2, 1) against (−2, −1.1)": _data([[2, 1], [-2, -1.1]], [1, -1]),
}
"""Two sets with such a pair, and one in which it is not quite opposite."""


def dead_and_alive(seed: int, networks: int, step: float = 2e-2) -> pd.DataFrame:
    """Of balanced neurons with v > 0: how many the regular flow of tiny weights leads to S_dead
    that were live, in fractions, and how many of these descent leads to S_+."""
    rows = []
    for name, (X, y) in EXAMPLES.items():
        W, v = balanced_starts(seed, networks, WIDTH, X.shape[1], SIGMA)
        ends = [polygon(fractions(X), y, fractions(w)).status for w in W.reshape(-1, 2)]
        dies = (np.array(ends) == "dead").reshape(v.shape) & ~silent(X, W)
        run = ensemble(X, y, W, np.abs(v), LOGISTIC, step, [16.0 / step], 1000, euler)
        alive = int((dies & serves(X, y, run.W[-1])).sum())
        rows.append({"data": name, "μ": round(separation(X, y), 4), "neurons": dies.size,
                     "die": int(dies.sum()), f"to S₊ at the step {step:g}": alive})  # fmt: skip
    return pd.DataFrame(rows).set_index("data")
