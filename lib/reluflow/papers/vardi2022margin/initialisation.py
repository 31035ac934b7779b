"""The page `initialisation`: how likely a start is that Theorem 3.2 asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.special import ndtr

from reluflow.ledger import Evidence, bound, deviation, fact, note
from reluflow.statistics import wilson

# --- Second route: the probabilities of Theorem 3.2's start by other routes: areas in
# fractions, quadrature ----------------------------------------------------------------------------


Point = tuple[Fraction, Fraction]

SQUARE: tuple[Point, ...] = tuple(
    (Fraction(a), Fraction(b)) for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))
)
"""The corners of the square on which uniform weights of a neuron lie, in units of their bound."""


def clipped(corners: Sequence[Point], x: Point) -> list[Point]:
    """The part w.x >= 0 of a convex polygon, by its corners in order."""
    kept: list[Point] = []
    for a, b in pairwise([*corners, corners[0]]):
        h, k = (w[0] * x[0] + w[1] * x[1] for w in (a, b))
        if h >= 0:
            kept.append(a)
        if h * k < 0:
            s = h / (h - k)
            kept.append((a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])))
    return kept


def area(corners: Sequence[Point]) -> Fraction:
    """The area of a polygon, by its corners in order."""
    if len(corners) < 3:
        return Fraction(0)
    terms = (a[0] * b[1] - b[0] * a[1] for a, b in pairwise([*corners, corners[0]]))
    return abs(sum(terms, Fraction(0))) / 2


def square_share(data: Sequence[Point]) -> Fraction:
    """The part of the square on which w.x > 0 for all of these data."""
    corners: Sequence[Point] = SQUARE
    for x in data:
        corners = clipped(corners, x) if corners else []
    return area(corners) / area(SQUARE)


def gaussian_share(slope: float) -> float:
    """P(|w_1| < slope w_2) for standard normal w, by quadrature over w_2."""

    def density(b: float) -> float:
        inside = 2.0 * float(ndtr(slope * b)) - 1.0
        return inside * math.exp(-0.5 * b * b) / math.sqrt(2.0 * math.pi)

    return float(quad(density, 0.0, math.inf, epsabs=1e-14)[0])


# --- How likely a random initialisation gives the start that Theorem 3.2 asks for -----------------
#
# With x_1 = (1, 1/4), x_2 = (-1, 1/4) the start needs w_1 in the cone C = {w : w.x_1, w.x_2 > 0},
# w_2 in -C, and v_1 > 0. C and -C have the angle 2 atan(1/4), the law of each scheme is symmetric,
# and a cone does not care for scale.


DATA = np.array([[1.0, 0.25], [-1.0, 0.25]])
"""x_1 and x_2 of Theorem 3.2."""
SURE = 1.0 - 1e-6
"""Confidence of the intervals: of a million runs one misses a probability that is right."""


def cone_angle(data: ArrayLike) -> float:
    """The angle of {w in R^2 : w.x_i > 0} for two data (2, 2): pi less the angle between them."""
    (a, b), (c, d) = np.asarray(data, float)
    return math.pi - abs(math.atan2(a * d - b * c, a * c + b * d))


def isotropic_probability(data: ArrayLike = DATA) -> float:
    """1/2 (angle / 2 pi)^2: w_1 in C, w_2 in -C and v_1 > 0, independent and of isotropic law."""
    return 0.5 * (cone_angle(data) / (2.0 * math.pi)) ** 2


def uniform_probability() -> Fraction:
    """1/2 (1/16)^2: the same for weights that are uniform in an interval around 0.

    In the square [-a, a]^2 the cone |w[1]| < w[2] / 4 is a triangle of base a / 2 and height a.
    """
    return Fraction(1, 2) * Fraction(1, 16) ** 2


def asked_for(W: NDArray, v: NDArray, data: ArrayLike = DATA) -> NDArray:
    """Whether starts W (..., 2, 2), v (..., 2) have w_1 active on both data and w_2 on none, and
    v_1 > 0."""
    h = W @ np.asarray(data, float).T
    return (h[..., 0, :] > 0).all(axis=-1) & (h[..., 1, :] < 0).all(axis=-1) & (v[..., 0] > 0)


Draw = Callable[[int, int], torch.Tensor]
"""A weight matrix of a layer (out, in), in as many independent copies, stacked as rows."""


@dataclass(frozen=True)
class Scheme:
    """A scheme of initialisation for torch.

    weights      (copies, out): the matrices of that many layers of `out` units on 2 inputs, a
                 tensor (copies * out, 2) filled in one call
    probability  what the closed form says
    """

    name: str
    weights: Draw
    probability: float


def _by(fill: Callable[..., torch.Tensor]) -> Draw:
    """He's schemes look at the number of inputs alone, which stacking leaves as it is."""
    return lambda copies, out: fill(torch.empty(copies * out, 2))


def _xavier(fill: Callable[..., torch.Tensor]) -> Draw:
    """Xavier's look at the number of outputs too, for which the gain makes up."""

    def draw(copies: int, out: int) -> torch.Tensor:
        return fill(torch.empty(copies * out, 2), gain=math.sqrt((2 + copies * out) / (2 + out)))

    return draw


def _default(copies: int, out: int) -> torch.Tensor:
    return torch.nn.Linear(2, copies * out, bias=False).weight.detach()


def schemes() -> tuple[Scheme, ...]:
    """Xavier's and He's, normal and uniform, and torch's default for a layer without bias."""
    init, isotropic, uniform = torch.nn.init, isotropic_probability(), float(uniform_probability())
    return (
        Scheme("Xavier, normal", _xavier(init.xavier_normal_), isotropic),
        Scheme("Xavier, uniform", _xavier(init.xavier_uniform_), uniform),
        Scheme("He, normal", _by(init.kaiming_normal_), isotropic),
        Scheme("He, uniform", _by(init.kaiming_uniform_), uniform),
        Scheme("PyTorch's default", _default, uniform),
    )


def starts(scheme: Scheme, seed: int, count: int) -> tuple[NDArray, NDArray]:
    """`count` starts of the network of Theorem 3.2: W (count, 2, 2) and v (count, 2)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        W, v = scheme.weights(count, 2), scheme.weights(count, 1)
    return W.double().numpy().reshape(count, 2, 2), v.double().numpy()


def orthogonal_starts(seed: int, count: int) -> NDArray:
    """`count` first layers (count, 2, 2) by torch's orthogonal initialisation."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        found = [torch.nn.init.orthogonal_(torch.empty(2, 2)) for _ in range(count)]
    return torch.stack(found).double().numpy()


def positive_probability(seed: int, count: int) -> list[Evidence]:
    """mm.thm3.2.prob: the start has a positive probability that depends on no scale.

    Closed forms by two routes each, and `count` draws of every scheme. Exchanging the two neurons
    gives another start with the same limit, and the two exclude each other: twice the probability.
    """
    exact = [(Fraction(1), Fraction(1, 4)), (Fraction(-1), Fraction(1, 4))]
    shares = [square_share([(s * a, s * b) for a, b in exact]) for s in (1, -1)]
    both, missed, rescaled, least = 0, 0, 0, 1.0
    rows, exchanged = [], []
    # Draws of their own: one stream would give all uniform schemes the same starts but for scale.
    for k, scheme in enumerate(schemes()):
        W, v = starts(scheme, 10 * seed + k, count)
        met = asked_for(W, v)
        other = asked_for(W[:, ::-1], v[:, ::-1])
        both += int((met & other).sum())
        for hits, probability in ((met, scheme.probability), (other, scheme.probability)):
            low, high = wilson(hits.sum(), count, SURE)
            missed += not low <= probability <= high
            least = min(least, float(low))
        rescaled += sum(int((asked_for(W * s, v * s) != met).sum()) for s in (2.0**-40, 2.0**40))
        rows.append(float(met.mean()))
        exchanged.append(float((met | other).mean()))
    orthogonal = asked_for(orthogonal_starts(seed, count // 100), np.ones((count // 100, 2)))
    return [
        fact("share of the square in the cone and in its negative, by areas", shares,
             [Fraction(1, 16)] * 2),
        deviation("share of an isotropic law in the cone, angle over 2 pi against quadrature",
                  abs(cone_angle(DATA) / (2.0 * math.pi) - gaussian_share(0.25)), ""),
        fact("schemes and orders of the neurons whose interval misses the closed form", missed, 0,
             tried=2 * len(rows)),
        bound("least lower end of the intervals", least, ">", 0.0, "", digits=2),
        fact("starts that change sides when scaled by 2^40 or 2^-40", rescaled, 0,
             tried=2 * count * len(rows)),
        fact("starts that are as asked for with the neurons in either order", both, 0),
        note("probability, isotropic and uniform weights",
             (isotropic_probability(), float(uniform_probability()))),
        note("schemes", "; ".join(scheme.name for scheme in schemes())),
        note("their shares among the draws", tuple(rows), "", digits=2),
        note("with the neurons in either order", tuple(exchanged), "", digits=2),
        note("draws of each scheme", count),
        note("orthogonal initialisation, where w_1 and w_2 are orthogonal, and how many draws",
             (int(orthogonal.sum()), count // 100)),
        note("seed", seed),
    ]  # fmt: skip
