"""Section 2: losses for which the results are said to hold, and the linear one, for which not.

l_i(u) = -y_i u has bounded and Lipschitz slopes of the right sign. With s the sum of the positive
data, a group of neurons obeys dw/dt = a s, da/dt = <w, s>: all directions go to s / |s|.
"""

from __future__ import annotations

import numpy as np

from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Counterexample, Evidence, bound, note
from reluflow.losses import Loss
from reluflow.papers.phuong2021inductive import general_loss_exact
from reluflow.papers.phuong2021inductive.limit import limit
from reluflow.papers.phuong2021inductive.long_flow import Start, follow

LINEAR = Loss(
    "linear",
    lambda z, y: np.full(np.shape(z), np.nan),  # -y z has no logarithm; no clock of the loss here
    lambda z, y: np.zeros(np.shape(z)),
    lambda z, y: np.broadcast_to(np.sign(y), np.shape(z)),
    lambda z, y: np.full(np.shape(z), -np.inf),
)
"""l = -y z: the pull is y everywhere."""
X = np.array([[2.0, 1.0], [1.0, 2.0], [3.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]])
Y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
NEURONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])
_UNTIL = 12.0
_LOG_NORM = -20.0


def ends() -> tuple[float, float, float]:
    """For four neurons of norm e^-20 on five data in the plane: the distance of W / |W|_F from all
    u w_+^T + z w_-^T, whatever u and z; that of the positive directions from the sum of the
    positive data; and that sum's cosine with w_+."""
    chart = Neurons(SIGNS, 2)
    field = GradientFlow(chart, LINEAR, X, Y, TIME)
    path = integrate(field, chart.along(NEURONS, _LOG_NORM), _UNTIL, at_zero=0.0, rtol=1e-8)
    U, R = chart.split(path.end)
    goal = limit(X, Y)
    s = X[Y > 0.0].sum(axis=0)
    w = goal.vectors[1.0]
    off = np.abs(U[:2] - s / np.linalg.norm(s)).max()
    cosine = float(s @ w / (np.linalg.norm(s) * np.linalg.norm(w)))
    W = np.exp(R - R.max())[:, None] * U
    W /= np.linalg.norm(W)
    rays = np.array([goal.vectors[sign] / np.linalg.norm(goal.vectors[sign]) for sign in SIGNS])
    left = W - np.maximum((W * rays).sum(axis=1), 0.0)[:, None] * rays
    return float(np.linalg.norm(left)), float(off), cosine


def goes_to_the_sum() -> list[Evidence]:
    """os.loss.general: with l_i(u) = -y_i u the distance of (8) should tend to 0 (Section 2)."""
    distance, off, cosine = ends()
    return [
        bound("linear loss: distance of (8), outputs past 1e30", distance, "<=", 1e-2,
              "", digits=3),
        note("directions of the positive neurons, less that of the sum of the positive data, below "
             "1e-9", off < 1e-9),
        note("cosine of that sum with w₊", cosine, digits=3),
        note("log(1 + e^(-c_i f)) on (1, 0) and (1/10, 1), c = (1, 3): angle to which a neuron "
             "turns, and angle of w₊", other_rates(), "degrees", digits=3),
    ]  # fmt: skip


def other_rates() -> tuple[float, float]:
    """Two tail rates in one label, by a flow on the data c_i x_i, which have the same loss: where a
    neuron of it is for a loss of e^-1e6, and w_+, as angles in degrees."""
    X, y = np.array([[1.0, 0.0], [0.1, 1.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    W0, signs = np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([1.0, -1.0])
    rates = np.array([[1.0], [3.0], [1.0]])
    late = follow(Start(rates * X, y, W0, np.full(2, _LOG_NORM), signs))
    assert late is not None
    ends = late.U[-1, 0], limit(X, y).vectors[1.0]
    first, second = (float(np.degrees(np.arctan2(v[1], v[0]))) for v in ends)
    return first, second


def linear_loss() -> Counterexample:
    """The instance: by the flow, and from its solution in closed form."""
    distance, _, _ = ends()
    goal = limit(X, Y)
    spans = all(np.linalg.matrix_rank(X[np.flatnonzero(s == Y)][
        np.abs(X[s == Y] @ w - 1.0) < 1e-9]) == 2 for s, w in goal.vectors.items())  # fmt: skip
    return Counterexample(
        instance={"X": X, "y": Y, "W(0) e^20": NEURONS, "signs of a(0)": SIGNS, "l_i(u)": "-y_i u"},
        assumptions={
            "(OS)": bool(np.all((X @ X.T) * np.outer(Y, Y) >= 0.0)),
            "(Span)": spans,
            "the slopes -y_i are bounded, Lipschitz, and -y_i l_i' = 1 > 0": "they are constants",
        },
        breaks=(bound("distance of (8) when the outputs have passed 1e30", distance, "<=", 1e-2, "",
                      digits=3),),
        recheck=(bound("tangent of the angle between w₊ and the limit of the positive neurons",
                       general_loss_exact.tangent(), "<=", 0, ""),),
        route="the linear flow solved: a group's directions tend to the sum of its data; both "
              "directions in whole numbers",
    )  # fmt: skip
