"""Figure 6: how often the loss falls, and how many directions the grown neurons have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.signal import find_peaks

from reluflow.flows.ensembles import Ensemble
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.min2024early.toys import FIGURE_6, UNEQUAL, Data, points, typical

_LOW = 0.1
"""A peak of the rate of fall counts from this share of the highest peak on."""
_VALLEY = 0.5
"""Two peaks are two falls where the rate between them goes below this share of the lower one."""
_APART = 1.4
"""Lengths of x_+ and x_- that differ by this factor give falls well apart."""
_COUNTS = ["one fall", "two", "more"]
_LARGE = 0.1
"""A neuron is large from this share of the largest norm on."""


def falls(loss: NDArray) -> NDArray:
    """The places (k,) in a curve loss (m,), taken at equal distances, at which it falls sharply.

    They are the peaks of the rate of fall: as high as a tenth of the highest, and apart from a
    higher one by a valley of less than half their height.
    """
    rate = np.concatenate([[0.0], -np.diff(loss), [0.0]])
    peaks, told = find_peaks(rate, height=_LOW * rate.max(), prominence=0.0)
    return peaks[told["prominences"] >= _VALLEY * told["peak_heights"]] - 1


def ratio_of_sums(data: Data) -> float:
    """The longer of x_+ and x_- over the shorter."""
    X, y = data
    lengths = [float(np.linalg.norm(X[y == sign].sum(axis=0))) for sign in (1.0, -1.0)]
    return max(lengths) / min(lengths)


def falls_table(runs: Mapping[str, Ensemble]) -> pd.DataFrame:
    """For each data set its data, the ratio of |x_+| and |x_-|, and the starts with one, two, more
    falls."""
    rows = []
    sets = FIGURE_6 | UNEQUAL
    for name, run in runs.items():
        counts = np.array([len(falls(loss)) for loss in run.loss.T])
        rows.append({"set": name, "data": points(sets[name]),
                     "ratio of the sums": round(ratio_of_sums(sets[name]), 2),
                     "one fall": int((counts == 1).sum()), "two": int((counts == 2).sum()),
                     "more": int((counts > 2).sum())})  # fmt: skip
    return pd.DataFrame(rows).set_index("set")


def two_sharp_falls(
    runs: Mapping[str, Ensemble], unequal: Mapping[str, Ensemble]
) -> list[Evidence]:
    """ea.fig6.2: after the alignment the loss falls twice, where |x_+| and |x_-| differ enough.

    The classes are fitted by neurons of their own, which grow like e^(c |x_+| t) and e^(c |x_-| t):
    each has a fall of its own, as high as n_+ |x_+| or n_- |x_-|, and two falls are seen where they
    do not overlap and the lower one counts. `unequal` are runs on classes of very different size.
    """
    told, other = falls_table(runs), falls_table(unequal)
    apart = told[told["ratio of the sums"] >= _APART]
    near = told[told["ratio of the sums"] < _APART]
    hits, starts = int(apart["two"].sum()), int(apart[_COUNTS].to_numpy().sum())
    return [
        *typical(f"the loss falls twice, where the sums differ by {_APART}",
                 np.arange(starts) < hits,
                 after=f"the {_APART}, read off these sets, and that no class is more than twice "
                 "as large as the other"),
        note("starts with one fall where they differ by less",
             f"{int(near['one fall'].sum())} of {int(near[_COUNTS].to_numpy().sum())}"),
        *(note(f"starts with two falls, {name} data of length 1, where they differ by "
               f"{row['ratio of the sums']:g}", f"{row['two']} of {row[_COUNTS].sum()}")
          for name, row in other.iterrows()),
    ]  # fmt: skip


def spread(W: NDArray, v: NDArray) -> float:
    """The largest angle, in degrees, between two large neurons of one sign; W (h, d), v (h,)."""
    size = np.linalg.norm(W, axis=1)
    widest = 0.0
    for sign in (1.0, -1.0):
        mine = (np.sign(v) == sign) & (size >= _LARGE * size.max())
        U = W[mine] / size[mine, None]
        if len(U) > 1:
            chord = np.linalg.norm(U[:, None] - U[None], axis=-1).max()
            widest = max(widest, float(np.degrees(2.0 * np.arcsin(0.5 * chord))))
    return widest


def few_directions(runs: Mapping[str, Ensemble]) -> list[Evidence]:
    """ea.fig6.3: when the loss is near 0 the first layer has low rank: its large neurons have one
    direction for each sign.

    In the plane no matrix has a rank above 2, so the directions are counted.
    """
    widest, remaining, many, ratios = 0.0, 0.0, [], []
    for name, run in runs.items():
        W, v = run.W[-1], run.v[-1]
        widest = max([widest, *(spread(*each) for each in zip(W, v, strict=True))])
        remaining = max(remaining, float((run.loss[-1] / run.loss[0]).max()))
        size = np.linalg.norm(W, axis=-1)
        many.append((size >= _LARGE * size.max(axis=-1, keepdims=True)).sum(axis=-1).mean())
        singular = np.linalg.svd(W, compute_uv=False)
        ratios.append(f"{name}: {np.median(singular[:, 1] / singular[:, 0]):.2f}")
    return [
        bound("widest angle between two large neurons of one sign", widest, "<", 1.0, "degrees",
              digits=2),
        bound("what is left of the loss, at most", remaining, "<", 0.05, "of its first value",
              digits=2),
        note("large neurons of 50, on average", float(np.mean(many)), "", digits=2),
        note("second singular value over the first, median", "; ".join(ratios)),
        fact("largest rank of a first layer with two inputs",
             max(int(np.linalg.matrix_rank(W).max()) for W in (r.W[0] for r in runs.values())), 2),
    ]  # fmt: skip
