"""Figures of the book: one house style, drawing functions, and the text that tests compare.

Every figure is made by `panels`, drawn by functions that take computed objects, and shown by
`show`, which also writes down what was drawn.
"""

from reluflow.figures.curves import loss_curves, preactivations
from reluflow.figures.description import cut_off, fingerprint_of
from reluflow.figures.fingerprint import show
from reluflow.figures.shares import share_bars, share_points
from reluflow.figures.style import datum_colour, datum_name, house, legend_below, panels
from reluflow.figures.weight_flow import annotate_minima, flow, mark_events, stationary_sets
from reluflow.figures.weight_space import (
    activation_boundaries,
    cells,
    loss_levels,
    solution_lines,
    weight_plane,
)
from reluflow.figures.weight_space3d import (
    box_around,
    flow3d,
    plane,
    stationary_sets3d,
    weight_box,
)

__all__ = [
    "activation_boundaries",
    "annotate_minima",
    "box_around",
    "cells",
    "cut_off",
    "datum_colour",
    "datum_name",
    "fingerprint_of",
    "flow",
    "flow3d",
    "house",
    "legend_below",
    "loss_curves",
    "loss_levels",
    "mark_events",
    "panels",
    "plane",
    "preactivations",
    "share_bars",
    "share_points",
    "show",
    "solution_lines",
    "stationary_sets",
    "stationary_sets3d",
    "weight_box",
    "weight_plane",
]
