"""The page `suboptimality`: Remarks 3.1, 3.2 and 4.1, how likely is the start of Theorem 3.2."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from reluflow.approx import MARK, approx
from reluflow.falsify import Instance, Statement, statement
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL
from reluflow.margin.kkt import kkt, scaled
from reluflow.margin.limits import UNDECIDED
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from reluflow.papers.vardi2022margin import dead_neuron, setting
from reluflow.papers.vardi2022margin.constructions import judged, keeps_its_ray
from reluflow.papers.vardi2022margin.local_optima import fitted, span
from reluflow.papers.vardi2022margin.own_data import Experiment, Found, drawn, follow
from reluflow.papers.vardi2022margin.setting import Construction
from reluflow.statistics import SURE, wilson

# --- Families of data on which the flow's limit is worse and worse (Remark 3.1) -------------------


@dataclass(frozen=True)
class Family:
    """Data X(h) (n, d) of labels 1 in the setting of a theorem, `name`, with a start (p,), the
    limit of its flow, of least margin 1, and a `better` feasible point (p,) for small h; of one
    `layer`, from 1, where it is named."""

    name: str
    network: Network
    data: Callable[[float], NDArray]
    start: Callable[[float], NDArray]
    limit: Callable[[float], NDArray]
    better: Callable[[float], NDArray]
    layer: int | None = None

    def ratio(self, h: float) -> float:
        """|theta~| / |theta'| with the better point scaled to the least margin 1, or that of the
        layer, the others as in theta~; 0 where the point is not feasible at any scale."""
        X, where = self.data(h), span(self.network, self.layer)
        own, point = self.limit(h), self.limit(h).copy()
        point[where] = self.better(h)[where]
        feasible = fitted(self.network, point, X, np.ones(len(X)), self.layer)
        if feasible is None:
            return 0.0
        return float(np.linalg.norm(own[where]) / np.linalg.norm(feasible[where]))


def opening_angle() -> Family:
    """x_1 = (1, h), x_2 = (-1, h), at the angle psi = 2 atan(1/h): Theorem 3.2."""
    return Family(
        "Theorem 3.2", fully_connected((2, 2)),
        lambda h: np.array([[1.0, h], [-1.0, h]]),
        lambda h: np.array([0.0, 2.0, 0.0, -1.0, 2.0, 1.0]),
        lambda h: np.array([0.0, h**-0.5, 0.0, 0.0, h**-0.5, 0.0]),
        lambda h: _balanced([1.0, h], [-1.0, h]),
    )  # fmt: skip


def longer_coordinate(activation: str) -> Family:
    """x = (1, 1/h) and a start without the second coordinate: Theorem 4.1."""
    return Family(
        "Theorem 4.1", diagonal(2, 2, activation),
        lambda h: np.array([[1.0, 1.0 / h]]),
        lambda h: np.array([1.0, 0.0, 1.0, 0.0]),
        lambda h: np.array([1.0, 0.0, 1.0, 0.0]),
        lambda h: np.array([0.0, 1.0, 0.0, 1.0]),
    )  # fmt: skip


def paired_data() -> Family:
    """x_1 = (1, h), x_2 = (-1, h), x_3 = (0, -1), the first two with one neuron: Theorem 4.3."""
    return Family(
        "Theorem 4.3", fully_connected((2, 2)),
        lambda h: np.array([[1.0, h], [-1.0, h], [0.0, -1.0]]),
        lambda h: np.array([0.0, 3.0, 0.0, -2.0, 3.0, 2.0]),
        lambda h: np.array([0.0, h**-0.5, 0.0, -1.0, h**-0.5, 1.0]),
        lambda h: _balanced([1.0 + h / 2.0, -0.5], [-1.0 - h / 2.0, -0.5]),
    )  # fmt: skip


def paired_layer() -> Family:
    """The same data and limit for Problem (4) of the first layer: Theorem 5.4."""
    return replace(
        paired_data(), name="Theorem 5.4", layer=1,
        better=lambda h: np.array([h**0.5 * (1.0 + h), -(h**0.5), *np.array([-1.0, h])
                                   / (1.0 + h * h), 0.0, 0.0]),
    )  # fmt: skip


def flat_patches(activation: str) -> Family:
    """x = (1, h, -1, h), two patches and one filter that starts upright: Theorem 4.4."""
    start, linear = np.array([0.0, 1.0, 0.5**0.5, 0.5**0.5]), activation == "linear"
    return Family(
        "Theorem 4.4", convolutional(2, 2, activation),
        lambda h: np.array([[1.0, h, -1.0, h]]),
        lambda h: start,
        lambda h: (np.sqrt(2.0) * h) ** -0.5 * start,
        (lambda h: np.array([1.0, 0.0, 0.5**0.5, -(0.5**0.5)])) if linear else
        (lambda h: np.array([1.0, h, np.hypot(1.0, h), 0.0])),
    )  # fmt: skip


def _balanced(*u: list[float]) -> NDArray:
    """theta (p,) of neurons v_j w_j = u_j, all v_j = |w_j|."""
    roots = np.linalg.norm(u, axis=1) ** 0.5
    return np.append(np.array(u) / roots[:, None], roots)


# --- Remark 3.1: the limit can be as much longer than the optimum as one likes, over the data -----
#
# A feasible point is as long as the optimum or longer, so that what the limit is longer than it is
# a lower bound.

FACTORS = (10, 100, 1000)
"""The paper's M."""
SIZES = tuple(0.25 / m**2 for m in FACTORS)
"""A value of h for each M."""


def grows_without_inputs_0(family: Family) -> list[Evidence]:
    """mm.rem3.1.3, mm.rem3.1.5: |theta~| / |theta*| in the settings of Theorems 4.3 and 5.4, where
    no input is zero; in the latter that of the first layer."""
    inputs = [family.network.preactivations(family.limit(h), family.data(h))[0] for h in SIZES]
    least = float(np.abs(inputs).min())
    return [*unbounded(family), bound(
        f"{family.name}: least |input| of a hidden neuron in θ̃", least, ">", 0.0, "")]  # fmt: skip


def unbounded(*families: Family) -> list[Evidence]:
    """mm.rem3.1.1, mm.rem3.1.2, mm.rem3.1.4: that the flow's limit is the closed form's, and that a
    feasible point is shorter by every M."""
    told = []
    for family in families:
        who = f"{family.name}, {family.network.activation}"
        flows = []
        for h, loss in {0.5: "exponential", 0.25: "logistic"}.items():
            exact, X = family.limit(h), family.data(h)
            found = setting.settled_limit(
                family.network, loss, X, np.ones(len(X)), family.start(h))  # fmt: skip
            flows.append(float(np.linalg.norm(found.theta - exact) / np.linalg.norm(exact)))
        residual = max(kkt(family.network, family.limit(h), X := family.data(h),
                           np.ones(len(X))).residual for h in SIZES)  # fmt: skip
        told += [
            bound(f"{who}: the flow's limit against θ̃, over |θ̃|, at h = 1/2 and 1/4", max(flows),
                  "<=", 1e-6, ""),
            bound(f"{who}: largest KKT residual of θ̃, over |θ̃|, at h = 1/(4M²)", residual, "<=",
                  1e-9, ""),
            *(bound(f"{who}: |θ̃|/|θ'| for M = {m}, θ' feasible, at h = 1/(4M²)", family.ratio(h),
                    ">=", m, "") for m, h in zip(FACTORS, SIZES, strict=True)),
        ]  # fmt: skip
    return told


# --- Remark 3.2 on Theorems 4.1 and 3.2: data moved up to the edge of what their proofs ask for ---

FAR = np.geomspace(0.05, 10.0, 5000)
"""Distances from the printed data; all hypotheses hold up to the first."""


def _moved(
    printed: NDArray, meets: Callable[[NDArray], NDArray], near: bool, rng: np.random.Generator
) -> NDArray:
    """The printed data moved in a random direction, nearly as far as they meet (...) the hypotheses
    on data (..., *shape), or `near`: to 1e-9 of that."""
    direction = _direction(rng, printed.shape)
    moved = printed + FAR.reshape(-1, *[1] * printed.ndim) * direction
    edge = FAR[np.append(np.flatnonzero(~meets(moved)), len(FAR))[0] - 1]
    return printed + edge * 10.0 ** (rng.uniform(-9.0, 0.0) * near) * direction


def _direction(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    direction = rng.normal(size=shape)
    return direction / np.linalg.norm(direction)


PRINTED_DATUM = np.array([1.0, 2.0])
FIRST_ALONE = np.array([1.0, 0.0, 1.0, 0.0])
"""theta of the first coordinate alone: the printed start."""


def second_is_worth_more(x: NDArray) -> NDArray:
    """Whether x_2 > x_1 > 0, for data x (..., 2)."""
    return (x[..., 1] > x[..., 0]) & (x[..., 0] > 0.0)


def _moved_datum(activation: str, loss: str, rng: np.random.Generator) -> Instance:
    x = _moved(PRINTED_DATUM, second_is_worth_more, rng.random() < 0.5, rng)
    return {"x": x, "activation": activation, "loss": loss}


@statement(f"the limit for the moved datum is, to {dead_neuron.CLOSE:g}, (x₁^(-1/2), 0) twice, "
           "and no local optimum",
           {f"{activation}, {loss}": partial(_moved_datum, activation, loss)
            for activation in ("linear", "relu") for loss in setting.LOSSES},
           {"x₂ > x₁ > 0": second_is_worth_more})  # fmt: skip
def silent_nearby(x: NDArray, activation: str, loss: str) -> float:
    """mm.rem3.2.2: what CLOSE leaves of the distance of the limit to (x_1^(-1/2), 0) twice, from
    the printed start and for a datum with x_2 > x_1 > 0; -1 for a local optimum."""
    network, exact = diagonal(2, 2, str(activation)), x[0] ** -0.5 * FIRST_ALONE
    return dead_neuron.to_the_limit(network, loss, x[None], FIRST_ALONE, exact)


def keeps_both(X: NDArray) -> NDArray:
    """Whether x_i.(x_1 + x_2) > 0 for both data X (..., 2, 2)."""
    return (X * X.sum(axis=-2, keepdims=True)).sum(axis=-1).min(axis=-1) > 0.0


def are_far_apart(X: NDArray) -> NDArray:
    """Whether the data X (..., 2, 2) enclose more than 120 degrees."""
    return (X[..., 0, :] * X[..., 1, :]).sum(axis=-1) < -0.5 * np.linalg.norm(X, axis=-1).prod(-1)


def _moved_data(near: bool, loss: str, rng: np.random.Generator) -> Instance:
    X = _moved(dead_neuron.PRINTED, lambda X: keeps_both(X) & are_far_apart(X), near, rng)
    return {"X": X, "theta": dead_neuron.draw_start(X, rng, (-2.0, 2.0)), "loss": loss}


@statement(f"the limit of the moved data is, to {dead_neuron.CLOSE:g}, that of the first neuron "
           "alone, and no local optimum",
           {f"{loss}, {name}": partial(_moved_data, name == "near", loss)
            for loss in setting.LOSSES for name in ("near", "as far as it holds")},
           {"xᵢ · (x₁ + x₂) > 0 for both": keeps_both,
            "an angle above 120°": are_far_apart,
            "the start is as asked": lambda theta, X: bool(
                asked_for(theta[:4].reshape(2, 2), theta[4:], X))})  # fmt: skip
def holds_nearby(X: NDArray, theta: NDArray, loss: str) -> float:
    """mm.rem3.2.1: what CLOSE leaves of the distance of the limit to `pair_limit`, for data that
    the first neuron keeps and the second would help with; -1 for a local optimum."""
    network, exact = dead_neuron.two_neurons(), dead_neuron.pair_limit(X)
    return dead_neuron.to_the_limit(network, loss, X, theta, exact)


# --- Remark 3.2 on Theorems 4.3 and 5.4: the data of Lemma C.6 moved, from the printed start ------

NEAR = 0.1
"""Data nearer than this to the printed ones, in R^6, are near."""


def _moved_triple(loss: str, rng: np.random.Generator) -> Instance:
    size = 10.0 ** rng.uniform(-9.0, np.log10(NEAR))
    return {"X": setting.lemma_C_6().X + size * _direction(rng, (3, 2)), "loss": loss}


def stays_beaten(layer: int | None = None) -> Statement:
    """mm.rem3.2.3, mm.rem3.2.5: the share of |theta~|^2, or of that of its layer 1, that a neuron
    for x_1 beside one for x_2 and x_3 saves, less 1e-6; -1 where the flow has no limit."""
    c = setting.lemma_C_6()
    where = span(c.network, layer)

    def slack(item: Instance) -> float:
        X = item["X"]
        found = setting.settled_limit(c.network, str(item["loss"]), X, c.y, c.start)
        if not found.converged:
            return np.nan if found.status == UNDECIDED else -1.0
        u = np.array([X[0] / (X[0] @ X[0]), np.linalg.solve(X[1:], np.ones(2))])
        v = found.theta[4:]
        point = _balanced(*u) if layer is None else np.append(u / v[:, None], v)
        better = fitted(c.network, point, X, c.y, layer)
        sizes = [np.inf if part is None else float(part[where] @ part[where])
                 for part in (better, found.theta)]  # fmt: skip
        return 1.0 - 1e-6 - sizes[0] / sizes[1]

    whose = "the limit" if layer is None else f"layer {layer} of the limit"
    return Statement(
        f"{whose} of the moved data is longer than a feasible one, by 1e-6 of its squared length",
        {loss: partial(_moved_triple, loss) for loss in setting.LOSSES}, slack,
        {f"nearer than {NEAR:g}": lambda item: bool(np.linalg.norm(item["X"] - c.X) < NEAR)},
    )  # fmt: skip


# --- Remark 4.1: the limit's predictor and the shortest one, Problem (3) --------------------------


def longer_predictor() -> list[Evidence]:
    """mm.rem4.1.1: from the start of Theorem 4.1 the flow stays on the ray of (1, 0, 1, 0), and its
    predictor (1, 0) is longer than (0, 1/2), the optimum of Problem (3)."""
    c = setting.theorem_4_1("linear")
    x = [setting.fraction(value) for value in c.exact_X[0]]
    beta = [setting.fraction(c.exact_limit[k] * c.exact_limit[2 + k]) for k in (0, 1)]
    half = Fraction(1, 2)
    return [
        fact("the flow from the start stays on the ray of the limit, exactly",
             keeps_its_ray(c, 0.0), True),
        fact("the margin of β = (0, 1/2)", half * x[1], 1),
        fact("no |x_k|/2 is above 1, so that a feasible β has ‖β‖₁ ≥ β·x/2 ≥ 1/2",
             max(map(abs, x)) * half <= 1, True),
        bound("‖β̃‖₁ of the limit, against the optimum", sum(map(abs, beta)), ">", half, ""),
    ]  # fmt: skip


# --- Remark 4.1: the limit's predictor against the linear programme of Problem (3) ----------------


def _full(rng: np.random.Generator) -> NDArray:
    """One datum for each coordinate, mostly along it: every coordinate is needed."""
    d = int(rng.integers(2, 5))
    X = np.eye(d) + rng.uniform(-0.4, 0.4, (d, d)) / d
    return X * 10.0 ** (rng.uniform(-3.0, 3.0) + rng.uniform(-0.2, 0.2, (d, 1)))


def _tied(rng: np.random.Generator) -> NDArray:
    """One datum of entries that are as large as one another: the optima are a face, and a limit has
    full support."""
    return rng.uniform(0.1, 10.0) * rng.choice([-1.0, 1.0], (1, int(rng.integers(2, 6))))


def _diagonal_limit(
    data: Callable[[np.random.Generator], NDArray], loss: str, rng: np.random.Generator
) -> Instance:
    X = data(rng)
    d = X.shape[1]
    y = np.sign(X @ rng.normal(size=d))
    start = 10.0 ** rng.uniform(-2.0, 0.5) * rng.normal(size=2 * d)
    end = setting.settled_limit(diagonal(d, 2, "linear"), loss, X, y, start)
    return {"X": X, "y": y, "theta": end.theta if end.converged else np.full(2 * d, np.nan)}


@statement("‖β̃‖₁ of a limit is, to 1e-7, the linear programme's",
           {f"{kind}, {loss}": partial(_diagonal_limit, data, loss) for loss in setting.LOSSES
            for kind, data in (("as many data as coordinates", _full), ("a tie", _tied))},
           {"no coordinate vanishes": lambda theta: (theta != 0.0).all()})  # fmt: skip
def shortest_without_zeros(X: NDArray, y: NDArray, theta: NDArray) -> float:
    """mm.rem4.1.2: what 1e-7 leaves of the share by which |beta~|_1 of the limit theta (2 d,) is
    off the optimum of Problem (3), for data X (n, d), y (n,)."""
    A, (first, last) = y[:, None] * X, theta.reshape(2, -1)
    least = linprog(np.ones(2 * len(first)), np.hstack([-A, A]), -np.ones(len(y))).fun
    return 1e-7 - abs(float(np.abs(first * last).sum()) / least - 1.0)


# --- Remark 3.2 on Theorem 5.1: in a deep diagonal network the coordinates race, and one wins -----
#
# With alpha_k' = g x_k alpha_k^(m-1) it is infinite at G = c_k / ((m-2) x_k), G the integral of g
# and c_k = alpha_k(0)^(2-m). The first coordinate for which that happens is the limit's only one,
# unless there is a tie.

DEPTHS = (3, 4, 5, 10)
DECADES = tuple(Fraction(1, 10**k) for k in range(1, 301))
"""delta of x = (1 + delta, 1 - delta)."""
OWN_START = Reading(
    "the start moves with the inputs, since Theorem 5.1 says that a dataset and an initialization "
    "exist: α(0) ∝ x^(-1/(m-2)) in every layer for x = (x₁, x₂) > 0",
    "with one start fixed, as in Theorem 3.2's half of the remark, it is false: from the printed "
    "one the limit for x = (1 + δ, 1 - δ) is a global optimum for every δ ≠ 0, a knife's edge. For "
    "each x the starts that keep both coordinates are a null set; any other ratio α₁(0)/α₂(0) of "
    "equal layers leads to a global optimum, or to another KKT point of one coordinate, which is a "
    "strict local optimum",
)


def race(x: Sequence[Fraction], powers: Sequence[Fraction]) -> tuple[int, ...]:
    """The coordinates that grow without bound, for a datum x (d,), x > 0, and alpha_k(0)^(2-m) =
    powers (d,) > 0: the same for every depth m >= 3 and every loss of negative slope."""
    times = [c / v for c, v in zip(powers, x, strict=True)]
    return tuple(k for k, time in enumerate(times) if time == min(times))


def limit_of(x: NDArray, depth: int, leaders: Sequence[int], ratios: NDArray) -> NDArray:
    """theta~ (m d,), only the `leaders` left, alpha in the given ratios (d,), of margin 1."""
    alpha = np.zeros(len(x))
    alpha[list(leaders)] = ratios[list(leaders)]
    return scaled(diagonal(len(x), depth, "linear"), np.tile(alpha, depth), x[None], np.ones(1))


def robust(seed: int, tried: int) -> list[Evidence]:
    """mm.rem3.2.4: for every x > 0 the starts alpha_k(0)^(2-m) = c x_k have a limit that keeps both
    coordinates and is no local optimum, for `tried` random data in units of 1e-6 to 1e6; and what
    holds under the other reading."""
    one = (Fraction(1), Fraction(1))
    # |theta~|^2 = m x_k^(-2/m) of the leader k, and |theta*|^2 = m max x^(-2/m).
    best = sum(race((1 + d, 1 - d), one) == (0,) for d in DECADES)
    rng = np.random.default_rng(seed)
    tied, proved, residuals = 0, 0, [0.0]
    for k in range(tried):
        depth, activation = DEPTHS[k % len(DEPTHS)], ("linear", "relu")[k // len(DEPTHS) % 2]
        # Ratios of alpha up to 10: floats show that a coordinate of 1e-6 could help, not how much.
        values = 10.0 ** (rng.uniform(-0.5, 0.5, 2) * (2 - depth) + rng.uniform(-6.0, 6.0))
        x = [Fraction(v) for v in values]
        tied += race(x, [7 * v for v in x]) == (0, 1)
        # alpha_k ~ x_k^(-1/(m-2)), and so in the limit.
        theta = limit_of(values, depth, (0, 1), values ** (-1.0 / (depth - 2)))
        given = diagonal(2, depth, activation), theta, values[None], np.ones(1)
        residuals.append(kkt(*given).residual)
        proved += judged(*given).verdict == "not local"
    return [
        fact("starts α(0) ∝ x^(-1/(m-2)) for random x > 0 that keep both coordinates", tied, tried,
             tried=tried),
        bound("largest KKT residual of their limits", max(residuals), "<=", 1e-9, ""),
        fact("certificates of their limits, no local optima, that the exact checker accepts",
             proved, tried, tried=tried),
        fact("of δ = 1e-1, ..., 1e-300, from the printed start: limits that are global optima, "
             "|θ̃|² = m max x_k^(-2/m), the least |θ|² there is", best, len(DECADES),
             tried=len(DECADES)),
    ]  # fmt: skip


# --- How likely a random initialisation gives the start that Theorem 3.2 asks for -----------------
#
# The start needs w_1 in the cone C = {w : w.x_1, w.x_2 > 0}, w_2 in -C, and v_1 > 0.


def isotropic_probability() -> float:
    """1/2 (angle / 2 pi)^2: w_1 in C, w_2 in -C and v_1 > 0, independent and of isotropic law. The
    angle of C is pi less that between the data."""
    (a, b), (c, d) = dead_neuron.PRINTED
    angle = math.pi - abs(math.atan2(a * d - b * c, a * c + b * d))
    return 0.5 * (angle / (2.0 * math.pi)) ** 2


def uniform_probability() -> Fraction:
    """1/2 (1/16)^2: the same for weights that are uniform in an interval around 0."""
    return Fraction(1, 512)


def asked_for(W: NDArray, v: NDArray, X: NDArray = dead_neuron.PRINTED) -> NDArray:
    """Whether W (..., 2, 2), v (..., 2): w_1 is active on both data, w_2 on none, and v_1 > 0."""
    h = W @ X.T
    return (h[..., 0, :] > 0).all(axis=-1) & (h[..., 1, :] < 0).all(axis=-1) & (v[..., 0] > 0)


SCHEMES: Mapping[str, tuple[str, float, float]] = {
    "Xavier, normal": ("normal", (2 / 4) ** 0.5, (2 / 3) ** 0.5),
    "Xavier, uniform": ("uniform", (6 / 4) ** 0.5, (6 / 3) ** 0.5),
    "He, normal": ("normal", 1.0, 1.0),
    "He, uniform": ("uniform", 3**0.5, 3**0.5),
    "PyTorch's default": ("uniform", 0.5**0.5, 0.5**0.5),
}
"""Schemes of initialisation: the law of a weight, and its standard deviation or largest value, of
two units on two inputs and of one."""


def starts(scheme: str, seed: int, count: int) -> tuple[NDArray, NDArray]:
    """`count` starts of the network of Theorem 3.2: W (count, 2, 2) and v (count, 2)."""
    rng, (law, first, second) = np.random.default_rng(seed), SCHEMES[scheme]
    draw = rng.standard_normal if law == "normal" else lambda shape: rng.uniform(-1.0, 1.0, shape)
    return first * draw((count, 2, 2)), second * draw((count, 2))


def positive_probability(seed: int, count: int) -> list[Evidence]:
    """mm.thm3.2.prob: the probability of the start by closed forms, and by `count` draws of every
    scheme, with the neurons in either order."""
    missed, least, shares = 0, 1.0, []
    told = {"normal": isotropic_probability(), "uniform": float(uniform_probability())}
    # Draws of their own: one stream would give all uniform schemes the same starts but for scale.
    for k, (scheme, (law, *_)) in enumerate(SCHEMES.items()):
        W, v = starts(scheme, 10 * seed + k, count)
        met, other = asked_for(W, v), asked_for(W[:, ::-1], v[:, ::-1])
        low, high = wilson([met.sum(), other.sum()], count, SURE)
        missed += int(((told[law] < low) | (high < told[law])).sum())
        least = min(least, float(low.min()))
        shares.append((float(met.mean()), float((met | other).mean())))
    first, either = zip(*shares, strict=True)
    return [
        fact("schemes and orders of the neurons whose interval misses the closed form", missed, 0,
             tried=2 * len(SCHEMES)),
        bound("least lower end of the intervals", least, ">", 0.0, "", digits=2),
        note("probability, isotropic and uniform weights",
             tuple(told.values())),
        note("schemes", "; ".join(SCHEMES)),
        note("their shares among the draws", first, "", digits=2),
        note("with the neurons in either order", either, "", digits=2),
        note("draws of each scheme", count),
        note("seed", seed),
    ]  # fmt: skip


INDEPENDENT = Reading(
    "the usual schemes draw the weights independently, as those of Xavier and He do",
    "orthogonal initialisation makes w_1 and w_2 orthogonal, and two vectors of the two opposite "
    "cones, which are 28° wide, never are: its probability is 0",
)
"""How mm.thm3.2.prob is read."""


# --- Where flows from random starts end -----------------------------------------------------------


def from_random_starts(made: Construction, count: int, seed: int) -> list[Found]:
    """The limits of `count` flows of a construction's network on its data, from normal weights."""
    starts = drawn(made.network, "gaussian", count, np.random.default_rng(seed))
    given = made.name, made.network, made.X, made.y
    return follow(Experiment(*given, EXPONENTIAL, starts, 1e5, None))


def ends_table(found: Sequence[Found]) -> pd.DataFrame:
    """How many flows end at which kind of point, with 95 % Wilson intervals of the shares."""
    ends = Counter(
        one.optimum.verdict if one.optimum is not None else f"no limit: {one.status}"
        for one in found
    )
    order = ("global", "local", "not local", "undecided")
    names = [*(name for name in order if name in ends), *sorted(ends.keys() - set(order))]
    shares = zip(*wilson([ends[name] for name in names], len(found)), strict=True)
    told = {"flows": [f"{MARK}{ends[name]}" for name in names],
            "share": [f"{approx(a, 2)} to {approx(b, 2)}" for a, b in shares]}  # fmt: skip
    return pd.DataFrame(told, index=names)
