"""What surveys and counterexamples say of the paper's statements, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`. A refutation is measured twice: by the
floating-point landscape or flow, and by a route of `rational` or `bruteforce`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow import rational
from reluflow.bruteforce import integrate, plain_descent
from reluflow.falsify import Report, survived
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.ledger import Counterexample, bound, fact, note, proved
from reluflow.networks import loss
from reluflow.papers.lee2022support.activity import LossOfDataSurvey, NormSurvey, ProtectionSurvey
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.small_plane import PlanarSurvey
from reluflow.papers.lee2022support.small_starts import (
    full_rank_along,
    preactivation_polynomial,
    smallest_force,
)

Settlement = dict[str, Any]


def no_reactivation(
    survey: PlanarSurvey, report: Report, margin: float, followed: int
) -> Settlement:
    """Lemma 4.6: the survey, starts in all directions that lose a datum (`report`), and the
    smallest margin that a search found in `followed` flows."""
    return {
        "evidence": [
            fact("flows of the survey that re-activate a datum",
                 sum(survey.reactivating.values()), 0),
            bound("smallest margin found by the search", margin, ">", 0.0, "cosine"),
            *report.checks(),
            note("flows of the survey", float(sum(survey.flows.values()))),
            note("of them with a deactivation", float(sum(survey.deactivating.values()))),
            note("flows of the search", followed),
            note("seed", report.seed),
        ],
        "known": proved("'Why it holds', under Theorem 4.7"),
    }  # fmt: skip


def small_start_is_global(survey: PlanarSurvey, seed: int, X: NDArray, y: NDArray) -> Settlement:
    """Theorem 4.7, against a survey and the three data X, y of Theorem 3.6's counterexample."""
    w0 = np.array([1e-4, 1e-4])
    end, best = affine_flow(X, y, w0).end, rational.fit(X, y, [0, 2])
    above = float(loss(X, y, end)) - local_minima(X, y)[0].loss
    loop = plain_descent(X, y, w0, 0.01, 5000)[-1]
    by_loop = rational.neuron_loss(X, y, rational.rationals(loop)) - best.loss
    return {
        "evidence": [
            fact("data sets whose limit is not a global minimum", sum(survey.missed.values()), 0),
            fact("the limit is global on the data below", above <= 1e-9, True),
            note("data sets", sum(survey.sets.values())),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
            instance={"X": X.astype(int), "y": y.astype(int), "w0": w0},
            assumptions={**assumptions(X, y), "q(w0) > 0": smallest_force(X, y, [w0]) > 0},
            breaks=(bound("L(limit) - least loss, exact flow and enumerated minima",
                          above, "<=", 0, ""),),
            recheck=(bound("L(limit) - L(2, -1), limit by a plain descent loop", float(by_loop),
                           "<=", 0, ""),),
            route="5000 plain steps of descent from w0, losses in rational arithmetic",
        ),
    }  # fmt: skip


def agreement_of_small_starts(
    X: NDArray, y: NDArray, lose: ArrayLike, keep: ArrayLike
) -> Settlement:
    """Proposition 4.4, against integer data whose limiting flow touches the boundary of x_1.

    From eps `lose` (d,) the flow loses x_1, from eps `keep` (d,) it keeps it, however small eps.
    """
    starts = [np.asarray(v, float) for v in (lose, keep)]
    paths = [affine_flow(X, y, 1e-9 * v) for v in starts]
    apart = float(np.linalg.norm(paths[0].end - paths[1].end))
    exact = [preactivation_polynomial(X, y, 0, list(v)) for v in (lose, keep)]
    zeros = [polynomial.zeros(Fraction(1, 10**9)) for polynomial in exact]
    states = [integrate(X, y, 1e-3 * v, 2.0) for v in starts]
    return {
        "evidence": [bound("distance of the limits of two small starts", apart, "<=", 1e-6, "")],
        "counterexample": Counterexample(
            instance={"X": X, "y": y, "w0": f"eps {tuple(lose)} and eps {tuple(keep)}, eps > 0"},
            assumptions={
                **assumptions(X, y),
                "-grad L(w0) > 0 at both": smallest_force(X, y, [1e-9 * v for v in starts]) > 0,
                "H of full rank along both flows": all(full_rank_along(X, p) for p in paths),
            },
            breaks=(bound("distance of the limits, exact flows, eps = 1e-9", apart,
                          "<=", 1e-6, ""),),
            recheck=(
                fact("both starts keep x_1 active, or both lose it (exact polynomials)",
                     (zeros[0] == 0) == (zeros[1] == 0), True),
                note("zeros of x_1.w on t > 0 from the two starts, eps = 1e-9", tuple(zeros)),
                bound("distance at t = 2 by DOP853, eps = 1e-3",
                      float(np.linalg.norm(states[0] - states[1])), "<=", 1e-6, ""),
            ),
            route="Sturm's theorem on exact polynomials in exp(-3t), and SciPy's DOP853",
        ),
    }  # fmt: skip


def generic_agreement(report: Report) -> Settlement:
    """Our repair of Proposition 4.4: small starts agree if the limiting flow crosses at speed."""
    return {"evidence": survived(report)}


def protection(survey: ProtectionSurvey, losses: LossOfDataSurvey, seed: int) -> Settlement:
    """Theorem 4.2: starts inside the ball of (6), and starts built to lose a datum from near it.

    Where no flow loses a datum there is no nearest one: NaN, which meets no bound.
    """
    nearest = losses.smallest if losses.lost and np.isfinite(losses.smallest) else np.nan
    return {
        "evidence": [
            fact("protected data that were deactivated", survey.deactivated, 0),
            bound("smallest slack of x_j.w(t) >= y_j - |x_j| |w_0 - w_GM|", survey.smallest,
                  ">=", -1e-8, "of y_j"),
            bound("all data protected: largest distance to the linear flow", survey.gap,
                  "<=", 1e-8, "of |w_GM|"),
            bound("all data protected: largest loss in the limit", survey.final_loss,
                  "<=", 1e-8, "of L(0)"),
            note("flows", survey.flows),
            fact("flows built to lose a datum lose one", losses.lost > 0, True),
            bound("smallest |x_j| |w_0 - w_GM| / y_j of a datum that a flow loses", nearest,
                  ">=", 1.0, ""),
            note("protected data", survey.protected),
            note("flows built to lose a datum", losses.flows),
            note("flows with all data protected", survey.all_active),
            note("seed", seed),
        ]
    }  # fmt: skip


def norm_of_start(survey: NormSurvey, seed: int) -> Settlement:
    """Sections 4.1 and 5: small starts gain active data, large ones lose them."""
    gain = [survey.interval(survey.share[k] - survey.start[k]) for k in (0, -1)]
    spread = survey.interval(survey.share[0] - survey.share[-1])
    gaps = np.round(survey.excess.mean(axis=1)[[0, -1]], 3).tolist()
    evidence = [
        bound("smallest norm: gain of active data, lower end of the interval", gain[0][1],
              ">", 0, "of n"),
        bound("largest norm: gain of active data, upper end", gain[1][2], "<", 0, "of n"),
        bound("support at the smallest norm less that at the largest, lower end", spread[1],
              ">", 0, "of n"),
        note("data sets", survey.share.shape[1]),
        note("mean loss gap at the smallest and at the largest norm", tuple(gaps), "of L(0)"),
        note("seed", seed),
    ]  # fmt: skip
    if all(item.holds for item in evidence if item.decides):
        return {"evidence": evidence}
    means = [note("mean gain at the smallest norm", gain[0][0], "of n"),
             note("mean gain at the largest norm", gain[1][0], "of n")]  # fmt: skip
    return {"evidence": evidence, "instead": means}
