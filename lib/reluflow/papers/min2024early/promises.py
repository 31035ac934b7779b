"""What the theorem says of any data and start: whether it applies, and what it then promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.geometry.separability import separation, violations
from reluflow.papers.min2024early import constants
from reluflow.papers.min2024early.constants import DataConstants, StartConstants
from reluflow.papers.min2024early.experiment import Experiment
from reluflow.papers.min2024early.small_scale import enough_log_eps, enough_time

LEAST_LOG_EPS = -1e6
"""The flow of the page starts at no smaller ln eps."""
_WITHOUT = -50.0
"""ln eps of the flow's start where the theorem allows none, because (A1) does not hold."""
_FEW = 3


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
    return {
        "data": f"{n}: {np.sum(y > 0)} positive, {np.sum(y < 0)} negative",
        "μ": approx(mu) if abs(mu) > 1e-12 else "0",
        "pairs that break (A1)": f"{len(bad)} of {pairs}" if len(bad) else "none",
        "the worst of them": _named(bad),
        "(A1)": "holds" if mu > 0.0 else "does not hold",
    }


def _named(pairs: NDArray) -> str:
    """The first pairs by their rows, counted from 1."""
    told = ", ".join(f"{i + 1} and {j + 1}" for i, j in pairs[:_FEW])
    return told if len(pairs) <= _FEW else f"{told}, …"


def constants_table(own: Experiment) -> pd.DataFrame:
    """The constants of the data and of the start; one row, and none where (A1) does not hold."""
    columns = ["μ", "ξ", "ζ₁", "ζ₂", "X min", "X max"]
    if separation(own.X, own.y) <= 0.0:
        return pd.DataFrame(columns=columns)
    data, start = _constants(own)
    row = (data.mu, data.xi, data.zeta_1, start.zeta_2, data.X_min, data.X_max)
    return pd.DataFrame([[approx(value) for value in row]], columns=columns, index=[own.name])


def promise(own: Experiment) -> pd.DataFrame:
    """By when all neurons are home, and from which eps: t_1 and (Small) with the maximum of zeta_1
    and zeta_2 as it is printed and with the minimum as the proof needs it, and T_* of
    `small_scale`; no rows where (A1) does not hold."""
    columns = ["home by t", "if ln ε is at most"]
    if separation(own.X, own.y) <= 0.0:
        return pd.DataFrame(columns=columns)
    rows = {name: [approx(time), approx(scale)] for name, time, scale in _promises(own)}
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _promises(own: Experiment) -> list[tuple[str, float, float]]:
    """(name, time, ln eps) of each promise."""
    data, start = _constants(own)
    found = []
    for name, zeta in (("t₁, max(ζ₁, ζ₂) as printed", constants.printed_zeta(data, start)),
                       ("t₁, min(ζ₁, ζ₂)", constants.needed_zeta(data, start))):  # fmt: skip
        time = constants.alignment_time(data, zeta)
        found.append((name, time, constants.log_eps_allowed(data, start, zeta)))
    given = own.X, own.y, own.W0, own.signs
    # log(1 + e^-z) pulls with 1/2 at z = 0: its flow is that of 2 log(1 + e^-z) at half the speed.
    pull = float(own.loss.pull(np.zeros(1), np.ones(1))[0])
    found.append(("T*, proved here", enough_time(*given) / pull, enough_log_eps(*given)))
    return found


def _constants(own: Experiment) -> tuple[DataConstants, StartConstants]:
    data = constants.data_constants(own.X, own.y)
    return data, constants.start_constants(own.X, own.y, own.W0, own.signs)


def alignment_times(own: Experiment) -> Sequence[tuple[str, float]]:
    """The times of `promise`, by name; none without (A1)."""
    if separation(own.X, own.y) <= 0.0:
        return ()
    return tuple((name, time) for name, time, _ in _promises(own))


def log_eps(own: Experiment) -> float:
    """ln eps of the flow's start: the reader's, else the largest of `promise`'s last row, which is
    proved; -50 without (A1), where nothing is."""
    if own.log_eps is not None:
        return own.log_eps
    if separation(own.X, own.y) <= 0.0:
        return _WITHOUT
    return max(_promises(own)[-1][2], LEAST_LOG_EPS)
