"""Figures of the book: one house style, drawing functions, and the text that tests compare.

Every figure is made by `panels`, drawn by functions that take computed objects, and shown by
`show`, which also writes down what was drawn.
"""

from reluflow.figures.curves import loss_curves, preactivations
from reluflow.figures.fingerprint import cut_off, fingerprint_of
from reluflow.figures.frame import name_curves, point_out
from reluflow.figures.style import (
    datum_colour,
    datum_name,
    house,
    legend_below,
    panels,
    share_points,
)
from reluflow.figures.vector import show
from reluflow.figures.weight_space import (
    activation_boundaries,
    annotate_minima,
    cells,
    flow,
    loss_levels,
    mark_events,
    solution_lines,
    stationary_sets,
    weight_plane,
)

__all__ = [
    "activation_boundaries",
    "annotate_minima",
    "cells",
    "cut_off",
    "datum_colour",
    "datum_name",
    "fingerprint_of",
    "flow",
    "house",
    "legend_below",
    "loss_curves",
    "loss_levels",
    "mark_events",
    "name_curves",
    "panels",
    "point_out",
    "preactivations",
    "share_points",
    "show",
    "solution_lines",
    "stationary_sets",
    "weight_plane",
]
