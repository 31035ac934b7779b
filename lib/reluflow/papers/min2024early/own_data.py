"""The main page on a reader's own data: experiment, promises of the theorem, flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow import datasets, images
from reluflow.approx import DIGITS, approx, on_grain
from reluflow.errors import InputError
from reluflow.falsify import survey
from reluflow.flows.alignment import Alignment, align
from reluflow.flows.charts import LOG_LOSS, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, then
from reluflow.flows.segment import one_thread
from reluflow.geometry.separability import separation, silent, violations
from reluflow.ledger import Evidence, bound, note
from reluflow.losses import EXPONENTIAL, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early import setting
from reluflow.papers.min2024early.mnist import Neurons as Shallow
from reluflow.papers.min2024early.mnist import Seen, ShallowLoss, curves, descent, seen
from reluflow.papers.min2024early.setting import LOSSES, PRINTED, Start, none_lost, none_of
from reluflow.papers.min2024early.theorem_1 import enough_log_eps, enough_time
from reluflow.progress import progress

# --- The main page's experiment: data, a start, and a training ------------------------------------

_MOST_DATA, _MOST_NUMBERS = 1000, 100_000
"""What a page does in seconds."""
_SHORTEST, _LONGEST = 1e-6, 1e6
"""Lengths of inputs whose powers and quotients stay floats."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the page computes: h neurons on data X (n, d), y (n,) of +-1; the loss is a sum."""

    name: str
    X: NDArray
    y: NDArray
    W0: NDArray  # the shape of a start, (h, d), entries N(0, 1/d): the flow's is e^log_eps W0
    signs: NDArray  # of the second layer there, (h,): v_j(0) = sign |w_j(0)|
    log_eps: float | None  # ln eps; None for the largest eps that the theorem allows
    W: NDArray  # the start of the descent, (h, d), entries N(0, sigma^2): not balanced
    v: NDArray  # the same, (h,)
    step: float
    iterations: int
    loss: Loss

    @cached_property
    def at(self) -> Start:
        """The shape of the flow's start."""
        return Start(self.X, self.y, self.W0, self.signs, loss=self.loss)


def experiment(
    dataset: str, scale: float = 1.0, h: int = 50, log_eps: float | None = None,
    sigma: float = 1e-6, step: float = 2e-3, iterations: int = 15_000, loss: str = "exponential",
    seed: int = 0,
) -> Experiment:  # fmt: skip
    """The experiment of the page's parameters, which `setting.PARAMETERS` describes; the defaults
    are the page's. Half of the neurons (rounded down) start with v_j < 0. Raises InputError, in one
    sentence, for data that cannot be used."""
    found = data(dataset)
    X = scale * found.X
    lengths = np.linalg.norm(X, axis=1)
    for i in np.flatnonzero((lengths < _SHORTEST) | (lengths > _LONGEST)).tolist():
        raise InputError(
            f"{found.name}, {datasets.data_row(i + 1)}: times the scale its input has the length "
            f"{lengths[i]:.3g}, and the page takes {_SHORTEST:g} to {_LONGEST:g}."
        )
    n, d = X.shape
    if n * h > _MOST_NUMBERS or d * h > _MOST_NUMBERS:
        raise InputError(
            f"{h} neurons on {n} data of {d} numbers are more than this page takes: choose a "
            "smaller h."
        )
    rng = np.random.default_rng(seed)
    W0 = rng.standard_normal((h, d)) / np.sqrt(d)
    signs = rng.permutation(np.where(np.arange(h) < h // 2, -1.0, 1.0))
    W, v = sigma * rng.standard_normal((h, d)), sigma * rng.standard_normal(h)
    return Experiment(
        found.name, X, found.y, W0, signs, log_eps, W, v, step, iterations, LOSSES[loss]
    )


def of_parameters(p: Any) -> Experiment:
    """The experiment of the checked parameters of the page; InputError as `experiment`."""
    return experiment(
        p.dataset, p.scale, p.h, p.log_eps, p.sigma, p.step, p.iterations, p.loss, p.seed
    )


def data(dataset: str) -> setting.Labelled:
    """The data of a figure, two digits, or a CSV file with labels +1 and -1 in its last column. Of
    "digits:0-1" the zeros have the label +1; the images are centred, white is 1 (`images.pair`).
    Raises InputError for an unknown name, a file that cannot be read, other labels, fewer than two
    data or features, and an input 0."""
    if dataset in PRINTED:
        return PRINTED[dataset]
    if pair := images.two_digits(dataset):
        return setting.Labelled(dataset, pair.X, pair.y)
    given = datasets.load_signs(dataset, (*PRINTED, "digits:0-1"), (2, _MOST_DATA))
    if given.d < 2:
        raise InputError(
            f'dataset "{given.name}" has one feature: the page takes 2 or more, for on a line '
            "a neuron has two directions, of which (A2) forbids one."
        )
    return setting.Labelled(given.name, given.X, given.y)


# --- Appendix C.2, eqs (28) and (29): what (Small) grants, with either zeta -----------------------


def under_small(seed: int, count: int) -> pd.DataFrame:
    """Flows to T at the largest eps of the first bound of (Small), which is far larger than that of
    both, and t_1 / T at the largest of both, with the printed zeta. Columns: share (max |f| over
    the bound of eq (29), largest at 40 times up to T), status (of the flow), ratio (t_1/T)."""
    rng = np.random.default_rng(seed)

    def one(k: int) -> Mapping[str, Any]:
        n, d, h = (int(rng.integers(least, 6)) for least in (2, 2, 1))
        X, y = setting.separable(n, d, float(rng.uniform(0.2, 0.9)), rng)
        W, signs = rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)
        at = Start(X, y, W, signs, loss=(EXPONENTIAL, TWICE_LOGISTIC)[k % 2])
        data, zeta = at.data, at.printed_zeta
        small = replace(at, log_eps=at.log_eps_of_outputs(zeta))
        path = small.flow(small.T, method=DOP853)
        m_1 = min(data.mu, zeta, data.xi)
        allowed = m_1 * np.sqrt(data.mu) * data.X_min / (4.0 * data.n * data.X_max)
        chart, times = setting.parts(path)[1], np.linspace(0.0, path.t[-1], 40)
        f = np.array([chart.outputs(z, at.X) for z in path.at(times)])
        both = replace(at, log_eps=at.log_eps_allowed(zeta))
        return {"share": float(np.abs(f).max() / allowed), "status": path.status,
                "ratio": setting.alignment_time(data, zeta) / both.T}  # fmt: skip

    return survey(range(count), one)


def small_grants_both(found: pd.DataFrame) -> list[Evidence]:
    """ea.thm1.t1.constants: eq (29) up to T, and t_1 <= T, with the printed zeta."""
    return [
        none_of("flows under the first bound of (Small) with an output above eq (29) before T",
                ~(found.share <= 1.0)),
        bound("largest t₁ / T - 1", float(found.ratio.max()) - 1.0, "<=", 1e-9, ""),
        note("largest |f| over the bound of eq (29)", float(found.share.max()), digits=2),
        none_lost(found.status),
    ]  # fmt: skip


# --- What the theorem says of any data and start: whether it applies, what it promises ------------


def assumption(own: Experiment) -> pd.DataFrame:
    """Whether (A1) holds of the data, and whether it would if the mean of the inputs, which is
    0 for centred images, were taken off: mu, and the pairs that break it."""
    centred = own.X - own.X.mean(axis=0)
    keep = np.linalg.norm(centred, axis=1) > 1e-12 * np.linalg.norm(own.X, axis=1).max()
    return pd.DataFrame(
        {"as given": _separated(own.X, own.y), "centred": _separated(centred[keep], own.y[keep])}
    )


def _separated(X: NDArray, y: NDArray) -> dict[str, str]:
    n, bad = len(y), violations(X, y)
    pairs = n * (n - 1) // 2
    mu = separation(X, y) if n else np.nan
    told = [f"{i + 1} and {j + 1}" for i, j in bad[:3]]  # by their rows, counted from 1
    return {
        "data": f"{n}: {np.sum(y > 0)} positive, {np.sum(y < 0)} negative",
        "μ": approx(mu) if abs(mu) > 1e-12 else "0",
        "pairs that break (A1)": f"{len(bad)} of {pairs}" if len(bad) else "none",
        "the worst of them": ", ".join(told) + (", …" if len(bad) > 3 else ""),
        "(A1)": "holds" if mu > 0.0 else "does not hold",
    }


def constants_table(own: Experiment) -> pd.DataFrame:
    """The constants of the data and of the start; one row, and none where (A1) does not hold."""
    columns = ["μ", "ξ", "ζ₁", "ζ₂", "least ‖xᵢ‖", "largest ‖xᵢ‖"]
    if separation(own.X, own.y) <= 0.0:
        return pd.DataFrame(columns=columns)
    data = own.at.data
    row = (data.mu, data.xi, data.zeta_1, own.at.zeta_2, data.X_min, data.X_max)
    return pd.DataFrame([[approx(value) for value in row]], columns=columns, index=[own.name])


def promise(own: Experiment) -> pd.DataFrame:
    """By when all neurons are home, and from which eps: t_1 and (Small) with the maximum of zeta_1
    and zeta_2 as it is printed and with the minimum as the proof needs it, and T_* of
    `theorem_1`; no rows where (A1) does not hold or a label has no datum. Closed forms have all
    their digits: up to ten million they are written to the unit, and no power of ten."""

    def told(value: float) -> str:
        return approx(value, max(DIGITS, len(f"{abs(value):.0f}")) if abs(value) < 1e7 else DIGITS)

    return _promises(own).map(told)


def _promises(own: Experiment) -> pd.DataFrame:
    rows = {}
    if separation(own.X, own.y) > 0.0 and len(set(own.y)) == 2:
        at = own.at
        for name, zeta in (("t₁, max(ζ₁, ζ₂) as printed", at.printed_zeta),
                           ("t₁, min(ζ₁, ζ₂)", at.needed_zeta)):  # fmt: skip
            rows[name] = [setting.alignment_time(at.data, zeta), at.log_eps_allowed(zeta)]
        # log(1 + e^-z) pulls with 1/2 at z = 0: its flow is that of its double at half the speed.
        pull = float(own.loss.pull(np.zeros(1), np.ones(1))[0])
        rows["T⁎, proved here"] = [enough_time(at) / pull, enough_log_eps(at)]
    columns = ["home by t", "if ln ε is at most"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def promises_alignment_times(own: Experiment) -> Sequence[tuple[str, float]]:
    """The times of `promise`, by name."""
    return tuple(_promises(own)["home by t"].items())


def log_eps(own: Experiment) -> float:
    """ln eps of the flow's start: the reader's, else the largest of `promise`'s last row, which is
    proved, but at least -1e6; -50 where nothing is."""
    if own.log_eps is not None:
        return own.log_eps
    found = _promises(own)
    return max(float(found.iloc[-1, 1]), -1e6) if len(found) else -50.0


# --- The main page's flows: the limit of tiny weights, one small eps, and descent -----------------

_RTOL = 1e-6
"""Relative tolerance of the flow, of which three or four digits are shown."""


@dataclass(frozen=True)
class Turned:
    """The neurons in the limit eps -> 0: what becomes of their directions."""

    own: Experiment
    paths: Sequence[Alignment]  # of the h neurons, for pulls of size 1
    pull: float  # the size |dl/df| of the loss at f = 0; all times are the paths' over it

    @property
    def homes(self) -> NDArray:
        """When each neuron came to the set of active data that it keeps, (h,)."""
        return np.array([path.time for path in self.paths]) / self.pull

    def directions(self, t: NDArray) -> NDArray:
        """Unit vectors (k, h, d) at times t (k,)."""
        return np.stack([path.at(self.pull * t) for path in self.paths], axis=1)


def turn(own: Experiment) -> Turned:
    """The limit flow of every neuron of the start."""
    pairs = zip(own.W0, own.signs, strict=True)
    pull = float(own.loss.pull(np.zeros(1), np.ones(1))[0])
    return Turned(own, [align(own.X, own.y, w, float(s)) for w, s in pairs], pull)


def ends_table(turned: Turned) -> pd.DataFrame:
    """Where the neurons of either sign end in the limit eps -> 0, and when the last one is there.
    The last two columns are means over the neurons that live: the share of the data of their own
    label, and of the other one, on which they are active at their end."""
    own, rows = turned.own, {}
    for sign, name in ((1.0, "v > 0"), (-1.0, "v < 0")):
        mine = own.signs == sign
        paths = [path for path, own_sign in zip(turned.paths, mine, strict=True) if own_sign]
        ends = [path.status for path in paths]
        live = [path.patterns[-1] for path in paths if path.status != "dead"]
        served, dead = ends.count("serves"), ends.count("dead")
        shares = [_share(live, own.y == sign), _share(live, own.y != sign)]
        rows[name] = {"in their cone": served, "dead": dead,
                      "elsewhere": len(paths) - served - dead,
                      "last at t": approx(turned.homes[mine].max()),
                      "active on own label": shares[0], "on the other": shares[1]}  # fmt: skip
    return pd.DataFrame(rows).T


def _share(patterns: Sequence[NDArray], data: NDArray) -> str:
    """The mean share of these data on which the patterns are active, in per cent."""
    if not patterns or not data.any():
        return ""
    return f"{on_grain(100.0 * float(np.array(patterns)[:, data].mean()), 1.0)} %"


@dataclass(frozen=True)
class Grown:
    """A flow from ln eps: until its loss is halved on the clock "time", and on to a tiny loss."""

    log_eps: float
    status: str  # "followed", or why it is not
    path: FlowPath | None = None  # None where it was not even begun


def grow(own: Experiment) -> Grown:
    """The flow from e^log_eps W_0 until L = 1e-100, where it goes so far."""
    start, h = log_eps(own), len(own.W0)
    # What the integrator makes a trajectory of in seconds: coordinates, and pairs of a datum and a
    # neuron, each of which may end a stretch of it.
    for what, count, most in (("h (D + 1)", own.W0.size + h, 320), ("n h", len(own.y) * h, 1000)):
        if count > most:
            return Grown(start, f"not followed: {what} = {count} > {most}")
    outset = float(own.loss.log_value(np.zeros(len(own.y)), own.y))
    longest = float(np.linalg.norm(own.X, axis=1).max())

    chart = Neurons(own.signs, own.X.shape[1])
    field = GradientFlow(chart, own.loss, own.X, own.y)
    path = replace(own.at, log_eps=start).flow(
        1e12 / longest, lambda _, z: field.log_loss(z) - outset + float(np.log(2.0)), rtol=_RTOL
    )
    if path.status == "stopped":
        clock = replace(path.field, clock=LOG_LOSS)
        path = then(path, clock, 100.0 * np.log(10.0), at_zero=0.0, rtol=_RTOL)
    return Grown(start, "followed" if path.status == "horizon" else f"ends: {path.status}", path)


def growth_table(own: Experiment, grown: Grown) -> pd.DataFrame:
    """What the flow from a small eps does: when it has aligned, when its loss is half of that at
    the start, and the first layer at its end."""
    told = {"ln ε": approx(grown.log_eps), "the flow": grown.status}
    if grown.path is not None and grown.path.legs:
        first = grown.path.legs[0]
        times = setting.alignment_times(first)
        home = np.isfinite(times)
        told["neurons in their cone or dead"] = f"{home.sum()} of {len(home)}"
        if home.any():
            told["the last of them at t"] = approx(float(times[home].max()))
        told["half of the loss is gone at t"] = approx(float(first.t[-1]))
    if grown.status == "followed" and grown.path is not None:
        U, R = setting.neurons(grown.path)
        values = np.linalg.svd(np.exp(R - R.max())[:, None] * U, compute_uv=False)
        told["stable rank of W at L = 1e-100"] = approx(float(np.sum(values**2) / values[0] ** 2))
    return pd.DataFrame({"": told})


def steps_taken(own: Experiment) -> int:
    """How many steps the descent takes: those asked for, or what a minute allows, which are 1e11
    products of an input's number and a weight."""
    return min(own.iterations, int(1e11 / (own.X.size * len(own.v))))


def left_out(own: Experiment) -> str:
    """What of the descent is left out, in a sentence."""
    if (steps := steps_taken(own)) == own.iterations:
        return f"All {steps} steps are taken."
    return (
        f"Of {own.iterations} steps {steps} are taken: more would last longer than a minute. With "
        "fewer neurons or data there are more."
    )


def descend(own: Experiment) -> pd.DataFrame:
    """Descent of the mean loss from weights N(0, sigma^2), neurons that are dead left out of the
    cosines; the weights of 150 steps are looked at. Raises InputError where the steps are so large
    that the weights leave the floats."""
    last = steps_taken(own)
    wanted = set(np.linspace(0, last, 150).astype(int).tolist())
    problem, shown = ShallowLoss(own.X, own.y, own.loss, 1.0 / len(own.y)), list[Seen]()
    x_plus, x_minus = own.at.centre(1.0), own.at.centre(-1.0)
    with one_thread():
        states = islice(descent(problem, Shallow(own.W, own.v), own.step), last + 1)
        for state in progress(states, last + 1, "states"):
            if state.step in wanted:
                if not (np.isfinite(state.loss) and np.abs(state.neurons.flat).max() < 1e50):
                    raise InputError(
                        f'parameter "step": descent by steps of {own.step:g} diverges within its '
                        f"first {state.step} steps: choose a smaller one, or a smaller scale or "
                        "sigma."
                    )
                W = state.neurons.W
                shown.append(seen(state, W @ W.T, x_plus, x_minus, ~silent(own.X, W)))
    return curves(shown)
