"""The pictures of the page on a reader's data."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reluflow.figures import style
from reluflow.figures.style import in_house_style, legend_below, panels
from reluflow.papers.lee2022support import figures as support
from reluflow.papers.phuong2021inductive.figures import NEGATIVE, POSITIVE
from reluflow.your_data.study import OneNeuron, Study

_MARKS = (1.0, "label 1", POSITIVE, "+"), (-1.0, "label −1", NEGATIVE, "_")


@in_house_style
def data(study: Study) -> Figure:
    """The inputs by their labels: in the plane as they are, on a line against the label, else in
    the plane of their two largest singular vectors; and the lengths of the inputs."""
    fig, (left, right) = panels(1, 2, height=3.6, titles=("(a) inputs", "(b) lengths"))
    places, names = _places(study)
    _scatter(left, study, places)
    left.axhline(0.0, color=style.QUIET, lw=0.6)
    left.axvline(0.0, color=style.QUIET, lw=0.6)
    left.set(xlabel=names[0], ylabel=names[1])
    _scatter(right, study, np.stack([study.lengths, study.y], axis=1))
    right.set(xlabel="length of the input", ylabel="label")
    if study.signs:
        for _, name, colour, mark in _MARKS:
            style.legend_entry(left, name, ls="", marker=mark, color=colour, ms=7)
        legend_below(fig)
    return fig


def _places(study: Study) -> tuple[NDArray, tuple[str, str]]:
    X = study.X
    if X.shape[1] == 1:
        return np.stack([X[:, 0], study.y], axis=1), ("feature", "label")
    if X.shape[1] == 2:
        return X, ("feature 1", "feature 2")
    rows = np.linalg.svd(X, full_matrices=False)[2][:2]
    rows *= np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])[:, None]
    return X @ rows.T, ("along the first singular vector", "along the second")


def _scatter(ax, study: Study, places: NDArray) -> None:
    if study.signs:
        for sign, _, colour, mark in _MARKS:
            ax.plot(*places[study.y == sign].T, ls="", marker=mark, ms=7, mew=1.4, color=colour)
    else:
        ax.plot(*places.T, ls="", marker="o", ms=3.5, color=style.INK, alpha=0.7)


def one_neuron(neuron: OneNeuron) -> Figure:
    """The exact flows in weight space, or where that has more than two dimensions their curves;
    so where an input is 0, which has no boundary to be drawn."""
    if not neuron.run.X.any(axis=1).all():
        return support.activity_curves(neuron.run)
    return support.weight_space(neuron.run)
