"""A datum and its opposite: where the regular flow dies, and descent goes on.

Assumption 1 allows x_k = -c x_i with other labels, c > 0. Both boundaries are one hyperplane. A
neuron with v > 0 that is active on the negative one of the pair alone comes to it in finite time;
there it is active on nothing, so a regular solution stays for ever (Definition 1). A step of
descent, however small, leads across, and the neuron is active on the positive one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

from reluflow.flows.ensembles import balanced_starts, ensemble_descent
from reluflow.geometry.separability import separation, serves, silent
from reluflow.losses import LOGISTIC
from reluflow.papers.min2024early.orthogonal_exact import fate
from reluflow.papers.min2024early.toys import SIGMA, WIDTH, Data

EXAMPLES: Mapping[str, Data] = {
    "(2, 1)+, (-2, -1)-": (np.array([[2.0, 1.0], [-2.0, -1.0]]), np.array([1.0, -1.0])),
    "and (1, 2)+": (np.array([[2.0, 1.0], [-2.0, -1.0], [1.0, 2.0]]), np.array([1.0, -1.0, 1.0])),
    "(2, 1)+, (-2, -1.1)-": (np.array([[2.0, 1.0], [-2.0, -1.1]]), np.array([1.0, -1.0])),
}
"""Two sets with such a pair, and one in which it is not quite opposite."""


def dead_and_alive(seed: int, networks: int, steps: Sequence[float]) -> pd.DataFrame:
    """Of balanced neurons with v > 0: how many the regular flow of tiny weights leads to S_dead
    that were live, in fractions, and how many of these descent at each of `steps` leads to S_+."""
    rows = []
    for name, (X, y) in EXAMPLES.items():
        W, v = balanced_starts(seed, networks, WIDTH, X.shape[1], SIGMA)
        data = [[Fraction(a) for a in x] for x in X.tolist()]
        labels = y.astype(int).tolist()
        ends = [fate(data, labels, [Fraction(a) for a in w])[0] for w in W.reshape(-1, 2).tolist()]
        dies = (np.array(ends) == "dead").reshape(v.shape) & ~silent(X, W)
        row = {"data": name, "mu": round(separation(X, y), 4), "neurons": dies.size,
               "die": int(dies.sum())}  # fmt: skip
        for step in steps:
            run = ensemble_descent(X, y, W, np.abs(v), LOGISTIC, step, [round(16.0 / step)], 1000)
            row[f"S_+ at {step:g}"] = int((dies & serves(X, y, run.W[-1])).sum())
        rows.append(row)
    return pd.DataFrame(rows).set_index("data")
