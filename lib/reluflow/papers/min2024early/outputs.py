"""Appendix C.2, eqs (28) and (29): what (Small) grants, with either zeta.

eq (29) follows from the proof of Lemma 3, |f(x_i)| <= eps sqrt(h) X_max W_max^2 for t <= T, and the
first bound of (Small) to the letter. Lemma 3 as it is stated has twice that, and would give 2 n
X_max where eq (29) has 4 n X_max. t_1 <= T is the second bound. Neither asks what zeta is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.falsify import survey
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL, TWICE_LOGISTIC
from reluflow.papers.min2024early.constants import (
    alignment_time,
    data_constants,
    horizon,
    log_eps_allowed,
    log_eps_of_outputs,
    needed_zeta,
    printed_zeta,
    start_constants,
)
from reluflow.papers.min2024early.flows import flow, parts
from reluflow.separable import separable


def under_small(seed: int, count: int) -> pd.DataFrame:
    """Flows to T at the largest eps of the first bound of (Small), which is far larger than that of
    both, and t_1 / T at the largest of both; each start with the printed zeta, and with the
    minimum.

    Columns: share (max |f| over the bound of eq (29), largest at 40 times up to T), ratio (t_1/T),
    serves (whether zeta is at most zeta_1 and at most zeta_2, as the proof needs), printed.
    """
    rng = np.random.default_rng(seed)

    def drawn() -> tuple[NDArray, NDArray, NDArray, NDArray]:
        n, d, h = int(rng.integers(2, 6)), int(rng.integers(2, 6)), int(rng.integers(1, 6))
        X, y = separable(n, d, float(rng.uniform(0.2, 0.9)), rng)
        return X, y, rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)

    made = [drawn() for _ in range(count)]

    def one(k: int) -> Mapping[str, Any]:
        X, y, W, signs = made[k // 2]
        h = len(W)
        data, begin = data_constants(X, y), start_constants(X, y, W, signs)
        zeta = (printed_zeta, needed_zeta)[k % 2](data, begin)
        log_eps = log_eps_of_outputs(data, begin, zeta)
        T = horizon(data, h, log_eps)
        loss = (EXPONENTIAL, TWICE_LOGISTIC)[k // 2 % 2]
        path = flow(X, y, W, signs, log_eps, T, loss, method=DOP853)
        m_1 = min(data.mu, zeta, data.xi)
        allowed = m_1 * np.sqrt(data.mu) * data.X_min / (4.0 * data.n * data.X_max)
        chart, times = parts(path)[1], np.linspace(0.0, path.t[-1], 40)
        f = np.array([chart.outputs(z, X) for z in path.at(times)])
        both = log_eps_allowed(data, begin, zeta)
        return {
            "share": float(np.abs(f).max() / allowed),
            "ratio": alignment_time(data, zeta) / horizon(data, h, both),
            "serves": bool(zeta <= data.zeta_1 and zeta <= begin.zeta_2),
            "printed": k % 2 == 0,
        }

    return survey(range(2 * count), one)


def small_grants_both(found: pd.DataFrame) -> list[Evidence]:
    """ea.thm1.t1.constants: eq (29) up to T, and t_1 <= T, with the printed zeta, and with the
    other; how often the printed one serves where the proof uses it."""
    printed, other = found[found.printed], found[~found.printed]
    return [
        fact("flows under the first bound of (Small) with an output above eq (29) before T",
             int((~(printed.share <= 1.0)).sum()), 0, tried=len(printed)),
        bound("largest t₁ / T - 1", float(printed.ratio.max()) - 1.0, "<=", 1e-9, ""),
        note("largest |f| over the bound of eq (29)", float(printed.share.max()), digits=2),
        fact("the same flows with min(ζ₁, ζ₂): an output above eq (29) before T, or t₁ above T",
             int((~((other.share <= 1.0) & (other.ratio <= 1.0 + 1e-9))).sum()), 0),
        note("starts for which max(ζ₁, ζ₂) is at most both of ζ₁ and ζ₂, as the proof needs",
             f"{int(printed.serves.sum())} of {len(printed)}"),
    ]  # fmt: skip
