"""Remark 3.2 on Theorem 5.1: in a deep diagonal network the coordinates race, and one wins.

One datum x with x_k > 0, label 1, and a start whose layers are equal, alpha_k(0) > 0 in every
layer, stay so: alpha_k' = g x_k alpha_k^(m-1), g > 0 the slope of the loss. With G the integral of
g, and m >= 3,

    alpha_k^(2-m) = alpha_k(0)^(2-m) - (m-2) x_k G,

so that alpha_k is infinite at G = c_k / ((m-2) x_k), c_k = alpha_k(0)^(2-m). The first coordinate
for which that happens is the limit's only one, unless there is a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad

from reluflow.ledger import Evidence, Reading, bound, fact
from reluflow.margin.certificates import Shorter
from reluflow.margin.check import check
from reluflow.margin.kkt import kkt
from reluflow.margin.problem import quotient, scaled
from reluflow.networks.indexed import diagonal
from reluflow.papers.vardi2022margin.race_exact import followed_race

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


@dataclass(frozen=True)
class Race:
    """How the race ends, in rational numbers.

    leaders  the coordinates that grow without bound
    powers   alpha_k^(2-m) in the end, 0 for the leaders
    """

    leaders: tuple[int, ...]
    powers: tuple[Fraction, ...]


def race(x: Sequence[Fraction], powers: Sequence[Fraction]) -> Race:
    """The end of the race for a datum x (d,), x > 0, and alpha_k(0)^(2-m) = powers (d,) > 0.

    It is the same for every depth m >= 3 and for every loss of negative slope that vanishes only at
    infinity.
    """
    times = [c / v for c, v in zip(powers, x, strict=True)]
    first = min(times)
    rest = tuple(c - v * first for c, v in zip(powers, x, strict=True))
    return Race(tuple(k for k, time in enumerate(times) if time == first), rest)


def limit_of(x: NDArray, depth: int, leaders: Sequence[int], ratios: NDArray) -> NDArray:
    """theta~ (m d,) in which only the `leaders` are left, alpha in the given ratios (d,), scaled to
    margin 1."""
    alpha = np.zeros(len(x))
    alpha[list(leaders)] = ratios[list(leaders)]
    return scaled(diagonal(len(x), depth, "linear"), np.tile(alpha, depth), x[None], np.ones(1))


def least_squared_norm(x: NDArray, depth: int) -> float:
    """min |theta|^2 of Problem (2) for a diagonal network and one datum x: m max |x_k|^(-2/m).

    By the means |theta|^2 >= m sum_k |beta_k|^(2/m), beta the predictor, and with t_k = |beta_k
    x_k|, sum t_k >= 1, t^(2/m) >= t on [0, 1]: each |beta_k|^(2/m) >= t_k max |x|^(-2/m) (if some
    t_k > 1 it alone is enough). With ReLU the output is at most sum |beta_k x_k| too.
    """
    return depth * float(np.abs(x).max()) ** (-2.0 / depth)


def robust(seed: int, tried: int = 24) -> list[Evidence]:
    """mm.rem3.2.4: for every x > 0 the starts alpha_k(0)^(2-m) = c x_k have a limit that is no
    local optimum. `tried` random data.

    Then what holds under the other reading: from the printed start alpha = 1 the limit for x = (1 +
    delta, 1 - delta) is ((1 + delta)^(-1/m), 0) in every layer, a global optimum, for every
    0 < delta < 1, and in general both coordinates are left from a null set of starts: see
    `tied_data`, of which a sixth as many starts are tried.
    """
    one = (Fraction(1), Fraction(1))
    ends = [race((1 + d, 1 - d), one) for d in DECADES]
    # |theta~|^2 = m x_k^(-2/m) of the leader k, and |theta*|^2 = m max x^(-2/m).
    best = sum(end.leaders == (0,) for end in ends)
    return [
        fact("x = (1, 1): coordinates left in the limit", len(race(one, one).leaders), 2),
        *starts_that_keep_both(seed, tried),
        fact("of δ = 1e-1, ..., 1e-300, from the printed start: limits that are global optima, "
             "|θ̃|² = m max x_k^(-2/m), the least |θ|² there is", best, len(DECADES),
             tried=len(DECADES)),
        *other_starts(seed, max(tried // 6, 2)),
    ]  # fmt: skip


def starts_that_keep_both(seed: int, tried: int) -> list[Evidence]:
    """For every x > 0 there is a start whose limit keeps both coordinates and is no local optimum:
    alpha_k(0)^(2-m) = c x_k. Random data in units of 1e-6 to 1e6; the shorter points move
    some of the margin from one coordinate to the other."""
    rng = np.random.default_rng(seed)
    tied, proved, residuals = 0, 0, [0.0]
    for k in range(tried):
        depth, activation = DEPTHS[k % len(DEPTHS)], ("linear", "relu")[k // len(DEPTHS) % 2]
        # Ratios of alpha up to 10: floats show that a coordinate of 1e-6 could help, not how much.
        values = 10.0 ** (rng.uniform(-0.5, 0.5, 2) * (2 - depth) + rng.uniform(-6.0, 6.0))
        x = [Fraction(v) for v in values]
        tied += race(x, [7 * v for v in x]).leaders == (0, 1)
        # alpha_k ~ x_k^(-1/(m-2)), and so in the limit.
        theta = limit_of(values, depth, (0, 1), values ** (-1.0 / (depth - 2)))
        network, y = diagonal(2, depth, activation), np.ones(1)
        residuals.append(kkt(network, theta, values[None], y).residual)
        proof = traded(theta, values, depth)
        proved += check(network, theta, values[None], y, proof).verdict == "not local"
    return [
        fact("starts α(0) ∝ x^(-1/(m-2)) for random x > 0 that keep both coordinates", tied, tried,
             tried=tried),
        bound("largest KKT residual of their limits", max(residuals), "<=", 1e-9, ""),
        fact("certificates of their limits, no local optima, that the exact checker accepts",
             proved, tried, tried=tried),
    ]  # fmt: skip


def traded(theta: NDArray, x: NDArray, depth: int) -> Shorter:
    """Points near theta, of equal layers alpha, in which the coordinate that earns more margin for
    its length has a bit more of the margin.

    |theta|^2 = m sum t_k^(2/m) x_k^(-2/m) with t_k x_k-share of the margin is concave in t: along
    one of the two directions it falls.
    """
    alpha = theta[: len(x)]
    shares = alpha**depth * x
    value, points, distances = float(theta @ theta), [], []
    for step in 4.0 ** -np.arange(1.0, 14.0):
        for sign in (1.0, -1.0):
            moved = shares + sign * step * shares.min() * np.array([1.0, -1.0])
            point = np.tile((moved / x) ** (1.0 / depth), depth)
            network = diagonal(len(x), depth, "linear")
            if quotient(network, point, x[None], np.ones(1)) < value * (1.0 - 1e-13):
                point = scaled(network, point, x[None], np.ones(1))
                points.append(point)
                distances.append(float(np.linalg.norm(point - theta)) / value**0.5)
                break
    return Shorter(np.array(points), np.array(distances))


def blow_up(layers: NDArray) -> float:
    """G at which a coordinate with x_k = 1 is infinite, from weights (m,) > 0 that need not be
    equal: the integral of dr / (2 sqrt(prod_l (r + d_l))), d_l = w_l^2 - min w^2, from min w^2."""
    squares = np.sort(layers**2)
    gaps = squares - squares[0]
    low = float(np.log(squares[0]))

    def rate(u: float) -> float:  # in u = log r it is smooth and falls fast
        logs = u - 0.5 * np.sum(np.logaddexp(u, np.log(np.maximum(gaps, 1e-300))))
        return 0.5 * float(np.exp(logs))

    turn = float(np.log(squares[-1])) + 1.0
    return quad(rate, low, turn + 120.0, limit=400, points=[turn])[0]


def tied_data(first: NDArray, second: NDArray) -> float:
    """The one ratio x_1 / x_2 for which a start of positive weights (m,) and (m,) of the two
    coordinates keeps both: the ratio of their `blow_up` times. So for every start the data of the
    negative result lie on a line, and for every x its starts are a hypersurface."""
    return blow_up(first) / blow_up(second)


def other_starts(seed: int, tried: int) -> list[Evidence]:
    """Starts of unequal layers: data on both sides of `tied_data` have different leaders, by the
    integrated flow."""
    rng = np.random.default_rng(seed)
    right = 0
    for k in range(tried):
        depth = DEPTHS[k % 3]
        weights = np.exp(rng.normal(0.0, 0.7, (2, depth)))
        ratio = tied_data(*weights)
        for side, leader in ((1.02, 0), (0.98, 1)):
            found = followed_race(np.array([ratio * side, 1.0]), depth, weights.T)
            right += found.leader == leader
    return [fact("starts of unequal layers, x₁/x₂ 2 % above and below that of the tie: the limit "
                 "has the one coordinate that the blow-up times tell", right, 2 * tried,
                 tried=2 * tried)]  # fmt: skip
