"""Equations (19)-(22): the norms, the normalised margin and the loss of a group, with constants.

With gamma = 1/|w_+| the largest margin, log(1/l) ~ gamma |W_+|_F^2 and
d(1/l)/dt ~ 2 gamma log(1/l): so nu_+ = |w_+|, the normalised margin tends to gamma / 2, and
t log t l to |w_+| / 2.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement, given, planted
from reluflow.ledger import Evidence, bound, fact
from reluflow.losses import LOGISTIC
from reluflow.papers.phuong2021inductive.convergence import NEAR as CLOSE
from reluflow.papers.phuong2021inductive.convergence import (
    balanced,
    function_gap,
    functions_converge,
    replayed,
    separable,
    spoiled,
)
from reluflow.papers.phuong2021inductive.long_flow import REACH, Late
from reluflow.papers.phuong2021inductive.start_draws import Survey
from reluflow.supports import support_draws

NEAR = 1e-3
"""How near |W_+|^2 / log t must be to its limit where log(1/L) = 1e6: it is off by
log log t / log t."""
NEAR_MARGIN = 1e-3
_PLACE = 1e4
_SAG = 1e-5
"""log(1/L) at which t log t l is read: further on a float's log l says too little of l itself."""
NEAR_LOSS = 0.1


def log_gap(log_loss: NDArray) -> NDArray:
    """g(log 1/l) = -log(e^l - 1), from log l."""
    small = np.exp(log_loss)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(small > 1e-12, np.expm1(small) / small, 1.0)
    return np.asarray(-log_loss - np.log(ratio))


def normalised_margin(each: Late, sign: float) -> NDArray:
    """gamma~ = g(log 1/l) / (2 |W_+|_F^2) (eq 19) at the moments of a flow, (m,)."""
    return np.asarray(log_gap(each.log_loss(sign)) * np.exp(-each.log_square(sign)) / 2.0)


def _groups(survey: Survey) -> list[tuple[Late, float, float]]:
    """Every living group: its flow, sign and |w_+| or |w_-|."""
    return [(each, sign, float(np.linalg.norm(w))) for each in survey.found
            for sign, w in each.limit.vectors.items()]  # fmt: skip


def norms_grow_like_log(survey: Survey) -> list[Evidence]:
    """os.norm.log.1: |W_+|_F^2 / log t -> nu_+ > 0, |W_-|_F^2 / log t -> nu_-, |W|_F^2 / log t ->
    nu_+ + nu_- (eqs 20-22)."""
    off = [float(np.exp(each.log_square(sign)[-1])) / each.log_t[-1] / size - 1.0
           for each, sign, size in _groups(survey)]  # fmt: skip
    whole = [float(np.exp(np.logaddexp.reduce(2.0 * e.R[-1]))) / e.log_t[-1] / e.limit.total - 1.0
             for e in survey.found]  # fmt: skip
    return [
        bound("|W_±|² / log t where L = e^(-1e6), largest relative distance from |w_±|",
              max(map(abs, off)), "<=", NEAR, "", digits=2),
        bound("|W|² / log t, largest relative distance from |w₊| + |w₋|", max(map(abs, whole)),
              "<=", NEAR, "", digits=2),
        *survey.followed,
    ]  # fmt: skip


def loss_and_margin(survey: Survey) -> list[Evidence]:
    """os.norm.log.2: the normalised margin converges to 1 / (2 nu_+), and l^+ = Theta(1/(t log t))
    (eqs 19-21)."""
    margins, products, drops = [], [], 0
    for each, sign, size in _groups(survey):
        found = normalised_margin(each, sign)
        margins.append(float(abs(2.0 * size * found[-1] - 1.0)))
        drops += bool(np.any(np.diff(found) < -_SAG * found[-1]))
        k = int(np.searchsorted(each.tau, _PLACE))
        log_t = each.log_t[k]
        product = np.exp(log_t + np.log(log_t) + each.log_loss(sign)[k])
        products.append(float(2.0 * product / size))
    return [
        fact(f"groups whose normalised margin falls somewhere by more than {_SAG:g} of it", drops,
             0, tried=len(margins)),
        bound("normalised margin where L = e^(-1e6), largest relative distance from 1 / (2 |w_±|)",
              max(margins), "<=", NEAR_MARGIN, "", digits=2),
        bound("2 t log t ℓ / |w_±| at log(1/L) = 1e4: largest distance from 1",
              max(abs(v - 1.0) for v in products), "<=", NEAR_LOSS, "", digits=2),
        *survey.followed,
    ]  # fmt: skip


def grown(rng: np.random.Generator, kind: str) -> Instance:
    """Positive data of a kind, and three neurons (3, d) active on all of them, of lengths 0.1 to
    30."""
    item = support_draws()[kind](rng)
    X = item["X"][item["y"] > 0.0]
    W = rng.exponential(size=(3, len(X))) @ X
    W = W + 0.3 * rng.standard_normal(W.shape) * np.linalg.norm(W, axis=1, keepdims=True)
    lengths = 10.0 ** rng.uniform(-1.0, 1.5, (3, 1))
    return {"X": X, "W": W / np.linalg.norm(W, axis=1, keepdims=True) * lengths}


def margin_rises() -> Statement:
    """The normalised margin does not decrease where a group is linear, at random places.

    With c_i = -l'_i its rate has the sign of |grad l|^2 / (1 - e^-l) |W|^2 - 2 g sum_i c_i f_i.
    The slack is that difference over the sizes of its terms; where l >= log 2 the second is <= 0.
    """

    def parts(item: Instance) -> tuple[NDArray, NDArray, NDArray]:
        a = np.linalg.norm(item["W"], axis=1)
        f = item["X"] @ (a @ item["W"])
        return a, f, np.ones(len(f))

    def slack(item: Instance) -> float:
        a, f, y = parts(item)
        X, W = item["X"], item["W"]
        log_l = float(LOGISTIC.log_value(f, y))
        c = LOGISTIC.pull(f, y, relative=True)  # over l
        G = c @ X
        square = (a @ a) * (G @ G) + float(np.sum((W @ G) ** 2))
        loss = np.exp(log_l)
        factor = loss / -np.expm1(-loss) if loss > 1e-300 else 1.0
        first = factor * square * float(np.sum(W * W))
        second = 2.0 * float(log_gap(np.array(log_l))) * float(c @ f)
        return (first - second) / (first + abs(second))

    return Statement(
        "the normalised margin rises",
        {kind: partial(grown, kind=kind) for kind in support_draws()},
        slack,
        {"all neurons are active on all positive data":
            lambda item: bool(np.all(item["X"] @ item["W"].T > 0.0))},
        tolerance=1e-9,
        fixed=("X",),
    )  # fmt: skip


def constants_hold(survey: Survey, seed: int, points: int = 200) -> Statement:
    """os.ours.constants: nu_+ = |w_+|, |u|^2 = 1/(|w_+| s), both constants of (10) 1/(2 s), and
    t log t l^+ -> |w_+| / 2; a group that is empty has the constant 0, and its data keep a loss of
    log 2 each. The slack is what is left of the bars, in parts of them."""

    def slack(item: Instance) -> float:
        late, one = item["flow"], replace(survey, found=[item["flow"]], lost=0)
        places = np.random.default_rng(seed).standard_normal((points, late.given.X.shape[1]))
        deep = late.tau[-1] >= 0.99 * REACH
        off = [function_gap(late, places) / (CLOSE if deep else NEAR_LOSS)]
        if deep:
            off += [e.value / e.limit for e in [*norms_grow_like_log(one)[:2],
                                                *loss_and_margin(one)[2:3]]]  # fmt: skip
        for sign in {1.0, -1.0} - set(late.alive):
            least = np.log(2.0) * np.sum(late.given.y == sign)
            off.append(0.0 if np.exp(late.log_loss(sign).min()) >= least * (1.0 - 1e-9) else 2.0)
        return 1.0 - planted(item) * max(off)

    return Statement(
        "norms, losses and f come to the closed form",
        replayed(survey),
        slack,
        given("os.ours.constants", data=separable, flow=balanced,
              alive=lambda item: any(len(item["flow"].own(s)) for s in item["flow"].alive)),
        witness=spoiled(survey),
    )  # fmt: skip


def of_constants(survey: Survey, seed: int) -> list[Evidence]:
    """How near the flows come that have both groups."""
    measured = [*norms_grow_like_log(survey)[:2], *loss_and_margin(survey)[2:3],
                *functions_converge(survey, seed)[:1]]  # fmt: skip
    return [*measured, *survey.kept]
