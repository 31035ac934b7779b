"""The book's first picture: Example 5.1, small enough for half a page and for a phone."""

from __future__ import annotations

from matplotlib.figure import Figure

from reluflow.figures.style import in_house_style
from reluflow.figures.weight_flow import annotate_minima, flow, stationary_sets
from reluflow.figures.weight_space import loss_levels, weight_plane
from reluflow.geometry import StationarySet
from reluflow.papers.lee2022support.examples import Experiment
from reluflow.papers.lee2022support.pictures.flows import window_of_interest


@in_house_style
def surprise(run: Experiment) -> Figure:
    """The flows of an experiment in the plane, and its isolated local minima with their ranks."""
    minima = [minimum for minimum in run.minima if minimum.dimension == 0]
    fig = Figure(figsize=(4.9, 3.4), layout="constrained")
    ax = fig.subplots()
    weight_plane(ax, window_of_interest(minima, run.flows))
    loss_levels(ax, run.X, run.y, floor=minima[0].loss)
    stationary_sets(ax, minima, run.X)
    for path in run.flows:
        flow(ax, path, events=False)
    ax.annotate("small start", (0.0, 0.0), (8.0, -9.0), textcoords="offset points")
    annotate_minima(ax, minima, _rank)
    return fig


def _rank(minimum: StationarySet) -> str:
    return "global minimum" if minimum.rank == 1 else f"rank {minimum.rank}"
