"""Why t_1 in part 2 must be a time at which part 1 holds, and not the number in its proof.

The text means such a time (Theorem 1, Lemmas 13 and 14). At 16 log n / (m_2 sqrt(mu) X_min) with
zeta = max(zeta_1, zeta_2) part 1 may fail, and then these statements do, too.

The sign of a datum: x_1 = (1, 0), positive, x_2 = (-1/2, sqrt(3)/2), negative, mu = 1/2, eps -> 0.
A neuron a of V_+ that starts beside x_2 is still in S_- at t_1. There its angle to x_2 grows like
e^t and its norm falls like e^-t, while a neuron b of V_- along x_2 grows like e^t.

No t_2 at all: the two data and the late neuron a of `excluded_direction`, with a second neuron b of
V_+ along x_1. At t_1 a is in S_- and b in S_+, as part 2 asks. But no v_j is negative: f(x_2) >= 0
for ever, so that L >= 1, and it is 0 from the time on at which a is home.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853

from reluflow.flows.alignment import Beside, align
from reluflow.flows.legs import then
from reluflow.losses import EXPONENTIAL
from reluflow.papers.min2024early import constants, excluded_direction
from reluflow.papers.min2024early.flows import alignment_times, flow, parts, patterns
from reluflow.papers.min2024early.whole import Start

X = np.array([[1.0, 0.0], [-0.5, 0.75**0.5]])
y = np.array([1.0, -1.0])
LOG_ANGLE = -230.0
"""log of the angle between neuron a and x_2 at the start: 1e-100."""
LOG_SIZE = -130.0
"""log of |b| / |a| at the start, W_min / W_max."""
AT_THE_NUMBER = "with the number in the proof, 16 log n / (m₂ √μ Xₘᵢₙ), for t₁"
_HOME, _FITTED = 20.0, 270.0
"""Times at which neuron a of the second example is home, and at which neuron b has fitted x_1."""
_RTOL = 1e-12
"""Tolerance up to the first of them; the first angle is 2e-7."""


@dataclass(frozen=True)
class LateNeuron:
    """t_1 as printed; when a leaves S_-; log(|a|^2 / |b|^2) at t_1, both being in S_- along x_2:
    where it is positive, f(x_2) > 0, and the sum of squares over S_- falls."""

    t_1: float
    leaves: float
    log_ratio: float


def late_neuron() -> LateNeuron:
    """The first example in numbers; at t_1 the angle is below 1e-70, so that cosines with x_2 are
    1."""
    data = constants.data_constants(X, y)
    t_1 = constants.alignment_time(data, max(data.zeta_1, np.exp(2.0 * LOG_ANGLE)))
    path = align(X, y, Beside(np.array([1.0, 0.0]), LOG_ANGLE), 1.0)
    return LateNeuron(t_1, float(path.times[1]), -2.0 * LOG_SIZE - 4.0 * t_1)


@dataclass(frozen=True)
class OnlyLate:
    """The second example, as it goes on to t = 270.

    t_1     as printed
    cones   whether at t_1 neuron a is in S_- and b in S_+
    home    when a is home
    output  the largest f(x_2) from then on
    loss    L at the end
    rank    the stable rank there
    bound   the bound of eqs (36)-(39) on t_2^-
    shrunk  log of |a|^2 at t_1 over that at the start, over 4 n X_max t_1 (Lemma 13: >= -1)
    """

    t_1: float
    cones: bool
    home: float
    output: float
    loss: float
    rank: float
    bound: float
    shrunk: float


def only_late_start() -> Start:
    """Its start: a beside x_2 and b along x_1, both with v_j > 0, at ln eps = -200."""
    W0 = np.vstack([excluded_direction.start(), excluded_direction.X[:1]])
    return Start(excluded_direction.X, excluded_direction.Y, W0, np.ones(2), EXPONENTIAL,
                 excluded_direction.LOG_EPS)  # fmt: skip


def only_late() -> OnlyLate:
    """The second example in numbers, by the flow."""
    given = only_late_start()
    data, start = given.data, given.start
    t_1 = constants.alignment_time(data, constants.printed_zeta(data, start))
    path = flow(given.X, given.y, given.W0, given.signs, given.log_eps, _HOME, rtol=_RTOL,
                method=DOP853)  # fmt: skip
    field, chart = parts(path)
    active = [pattern for t, pattern in patterns(path) if t <= t_1][-1]
    home = float(alignment_times(path).max())
    path = then(path, field, _FITTED - _HOME, at_zero=0.0, rtol=1e-9, method=DOP853)
    outputs = [chart.outputs(z, given.X)[1] for z in path.at(np.linspace(home, _FITTED, 100)[1:])]
    U, R = chart.split(path.end)
    values = np.linalg.svd(np.exp(R)[:, None] * U, compute_uv=False) ** 2
    shrunk = 2.0 * float(chart.split(path.at(np.array([t_1]))[0])[1][0] - given.log_eps)
    return OnlyLate(
        t_1,
        bool(np.array_equal(active, [[False, True], [True, False]])),
        home,
        float(np.max(outputs)),
        float(np.exp(field.log_loss(path.end))),
        float(values.sum() / values[0]),
        constants.fit_time(data, start, given.log_eps, t_1, -1.0),
        shrunk / (4.0 * data.n * data.X_max * t_1),
    )
