"""The pictures of chapter 4 show what their captions say."""

import numpy as np
from matplotlib.text import Annotation
from reluflow.figures import cut_off
from reluflow.papers.phuong2021inductive import figures

X = np.array([[3.0, 1], [2, 3], [4, 7], [-5, 2], [-5, -1], [-8, 4]])
Y = np.array([1.0, 1, 1, -1, -1, -1])
LONGEST = np.array([2.0, 1.0]) / 7.0  # w_+: (3, 1) and (2, 3) have the margin 1


def test_forces_add_up_or_lead_off_the_datum() -> None:
    fig = figures.forces(X, Y, LONGEST, np.array([-1.0, 3.2]))
    assert cut_off(fig) == []
    held, not_held = (
        np.array([(a.xyann, a.xy) for a in ax.texts if isinstance(a, Annotation)])
        for ax in fig.axes
    )
    assert np.allclose(held[:-1, 1].sum(0) - held[:-1, 0].sum(0), held[-1, 1])
    assert np.allclose(held[-1, 1], LONGEST)
    assert np.all(not_held[:-1, 1] @ np.array([-8.0, 4.0]) <= 1e-12)  # of all that see x_-
    assert not_held[-1, 1] @ np.array([-8.0, 4.0]) > 0.0
