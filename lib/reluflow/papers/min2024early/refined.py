"""Appendix D.2 and Section 3.1: within S_+ the neurons turn to x_+, until the loss falls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.geometry.separability import separation, serves
from reluflow.ledger import Evidence, Reading, bound, deviation, fact, note
from reluflow.losses import EXPONENTIAL, Loss
from reluflow.papers.min2024early import constants
from reluflow.papers.min2024early.late_neuron import AT_THE_NUMBER, LateNeuron
from reluflow.papers.min2024early.loss_decay import inside_cone
from reluflow.papers.min2024early.low_rank import max_margins
from reluflow.papers.min2024early.whole import Begun, Start, Whole, begin, follow
from reluflow.papers.min2024early.whole_draws import Survey, data_draws, followed
from reluflow.separable import separable

SCALES = (-10.0, -13.0, -16.0)
"""Values of ln eps over which the best alignment is compared."""
_AT_ONCE = 1e-3
"""t_1 of starts whose neurons are in their cones at once."""
POWER, POWER_ON_A_RAY = 2.0 / 3.0, 1.0
"""The angle to x_+ falls to the order of eps^(2/3), and to that of eps where all <x_i, x_+> are
equal: then the pull of neurons along x_+ is along x_+, whatever the outputs."""
FIT = 0.05
"""How near the fitted power must be to it."""


WHILE_WAITING = Reading(
    "It is said of the time before the loss falls, and of ever smaller ε.",
    "Not for ever: the pull turns away from x₊ as the outputs grow, the angle is least before the "
    "loss falls, and at the end the neurons point along the max-margin vector of their label, "
    "whose cosine with x₊ may be as near to μ as one likes. It is true for ever for data of the "
    "label that are parallel or symmetric about x₊, or for which all ⟨xᵢ, x₊⟩ are equal, as for "
    "one datum.",
)
"""How "always drawn to x_+" is read."""


def cosines(each: Begun, U: NDArray, sign: float) -> NDArray:
    """cos(w_j, x_+) (m, k) of the neurons of S_+ (sign 1), or those with x_- of S_-."""
    x = each.given.centre(sign)
    return np.asarray(U[:, each.own(sign)] @ (x / np.linalg.norm(x)))


def least_cosine(each: Whole, sign: float) -> float:
    """The least cos(w_j, x_+) from t_1 + 6/(sqrt(mu) n_+ X_min) to t_2^+; infinite where there is
    no such time."""
    t = np.exp(each.waiting.log_time)
    first = each.t_1 + constants.refined_delay(each.given.data, sign)
    kept = (t >= first) & (t <= each.t_2[sign])
    return float(cosines(each, each.waiting.U[kept], sign).min(initial=np.inf))


def turned_by_then(survey: Survey, late: LateNeuron) -> list[Evidence]:
    """ea.thm1.refined.1: cos(w_j, x_+) >= 1/4 for all neurons of S_+ from
    t_1 + 6/(sqrt(mu) n_+ X_min) to t_2^+, and the same for S_- and x_- (D.2, eqs 36-40)."""
    least = [least_cosine(each, sign) for each in survey.found for sign in (1.0, -1.0)]
    tried = [c for c in least if np.isfinite(c)]
    return [
        fact("groups with a neuron that is further away", sum(c < 0.25 for c in tried), 0,
             tried=len(tried)),
        note("least cosine in that time, of all groups", min(tried, default=np.nan), digits=3),
        note(f"{AT_THE_NUMBER}, a neuron of V₊ still in S₋ there leaves it, and x₋, at the "
             "time", late.leaves, digits=4),
        *followed(survey),
    ]  # fmt: skip


def turns_towards(loss: Loss) -> Statement:
    """d/dt cos(x_+, w) >= (1/3 - cos(x_+, w)) sqrt(mu) n_+ X_min / 2 in S_+, eq (37), whenever the
    outputs q on I_+ are within [0, 1/4]; the slack is the difference over |x_+|."""

    def one(draw: Draw, rng: np.random.Generator) -> dict[str, NDArray]:
        item = draw(rng)
        X, y = np.asarray(item["X"]), np.asarray(item["y"])
        q = 0.25 * rng.choice([rng.uniform(size=len(y)), rng.integers(0, 2, len(y))])
        return {"X": X, "y": y, "w": inside_cone(X, y, 1.0, 1, rng)[0], "q": q}

    def slack(item: Instance) -> float:
        X, y, w = item["X"], item["y"], item["w"] / np.linalg.norm(item["w"])
        own, data = X[y > 0.0], constants.data_constants(X, y)
        pull = loss.pull(item["q"][y > 0.0], np.ones(len(own)), relative=False)
        x, g = own.sum(axis=0), pull @ own
        size = float(np.linalg.norm(x))
        cosine = float(w @ x) / size
        rate = float(g @ x) / size - cosine * float(g @ w)
        least = (1.0 / 3.0 - cosine) * np.sqrt(data.mu) * data.n_plus * data.X_min / 2.0
        return (rate - least) / size

    return Statement(
        f"{loss.name} loss: neurons of S₊ turn to x₊ at the rate of (37)",
        {name: partial(one, draw) for name, draw in data_draws().items()},
        slack,
        {"data of both labels, μ > 1e-6": lambda item: bool(
            len(set(item["y"])) == 2 and separation(item["X"], item["y"]) > 1e-6),
         "w in S₊": lambda item: bool(serves(item["X"], item["y"], item["w"])),
         "outputs at most 1/4": lambda item: bool(np.all((item["q"] >= 0) & (item["q"] <= 0.25)))},
        fixed=("y",),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Best:
    """How near the neurons of S_+ come to x_+ before the loss falls, from eps = e^log_eps (k,).

    times   (m,) t / t_2^+
    curves  (k, m) the largest angle of a neuron to x_+
    angles  (k,) the least value of each curve
    shares  (k,) where it is taken
    end     cos(w, x_+) where L = e^-1e6
    limit   cos(u_+, x_+), u_+ the max-margin vector of the positive data
    """

    log_eps: NDArray
    times: NDArray
    curves: NDArray
    end: float
    limit: float

    @property
    def angles(self) -> NDArray:
        return self.curves.min(axis=1)

    @property
    def shares(self) -> NDArray:
        return self.times[self.curves.argmin(axis=1)]


def spread_start(rng: np.random.Generator, plus: int = 3) -> Start:
    """`plus` positive and one negative datum in space, four neurons that start active on their own:
    neurons on more sides of x_+ than one, so that no angle passes through 0."""
    X, y = separable(plus + 1, 3, 0.3, rng, 0.2)
    y_new = np.append(np.ones(plus), -1.0)
    X = X * (y * y_new)[:, None]
    W0 = np.vstack([inside_cone(X, y_new, 1.0, 3, rng), inside_cone(X, y_new, -1.0, 1, rng)])
    return Start(X, y_new, W0, np.array([1.0, 1.0, 1.0, -1.0]), EXPONENTIAL, SCALES[0])


def best_alignment(given: Start, scales: Sequence[float] = SCALES) -> Best:
    """How well the neurons of S_+ align before the loss falls, from each of the scales ln eps."""
    plus = max_margins(given.X, given.y)[0]
    x = given.centre(1.0) / np.linalg.norm(given.centre(1.0))
    times, curves = np.linspace(0.005, 1.0, 400), []
    for log_eps in scales:
        each = begin(replace(given, log_eps=log_eps), rtol=1e-7, t_1=_AT_ONCE)
        assert each is not None
        U = each.at(times * each.t_2[1.0]).U[:, each.own(1.0)]
        curves.append(np.linalg.norm(U - x, axis=-1).max(axis=1))
    whole = follow(replace(given, log_eps=scales[0]), t_1=_AT_ONCE)
    assert whole is not None
    end = float(cosines(whole, whole.falling.U[-1:], 1.0).min())
    return Best(np.array(scales), times, np.array(curves), end, float(plus.direction @ x))


def spread_runs(seed: int, count: int, plus: int = 3) -> list[Best]:
    """`best_alignment` from `count` starts in space, with `plus` positive data."""
    rng = np.random.default_rng(seed)
    return [best_alignment(spread_start(rng, plus)) for _ in range(count)]


def power(each: Best) -> float:
    """The power of eps with which the least angle falls."""
    return float(np.polyfit(each.log_eps, np.log(each.angles), 1)[0])


def aligns_until_the_fall(found: Sequence[Best], single: Sequence[Best]) -> list[Evidence]:
    """ea.thm1.refined.2: in S_+ a neuron is always drawn to x_+, so that all come to
    cos(w_j, x_+) near 1 (Section 3.1).

    `found` has three positive data in general position, `single` one, for which it is true for
    ever: across the datum a neuron does not move, and along it grows.
    """
    powers, lone = [power(each) for each in found], [power(each) for each in single]
    return [
        bound("largest angle of the neurons of S₊ to x₊, at its least, from ε = e⁻¹⁶",
              max(each.angles[-1] for each in found), "<=", 1e-2, "", digits=2),
        bound("least power of ε with which it falls", min(powers), ">=", POWER - FIT, "", digits=2),
        bound("largest power", max(powers), "<=", POWER + FIT, "", digits=2),
        deviation("the power where there is one positive datum, against 1",
                  max(abs(each - POWER_ON_A_RAY) for each in lone), "", digits=2),
        fact("flows with one positive datum in which the angle grows before t₂",
             sum(bool(np.any(np.diff(each.curves) > 0.0)) for each in single), 0,
             tried=sum(len(each.curves) for each in single)),
        note("when it is least, as a share of t₂: mean", float(np.mean([each.shares[-1]
                                                                      for each in found])),
             digits=2),
        deviation("cos(w, x₊) where ln L = -10⁶ against cos(u₊, x₊) of the max-margin vector u₊",
                  max(abs(each.end - each.limit) for each in found), "", digits=2),
        note("the least of these", min(each.limit for each in found), digits=2),
    ]  # fmt: skip
