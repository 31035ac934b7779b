"""Activation cells of one neuron's weight space.

A cell is a largest open cone of weights on which no datum changes its activation. Inside it the
square loss is a convex quadratic (Lee et al. 2022a, Section 3).

exact         how data are read as rational numbers, and what is decided with them
cells         the cells of an arrangement, and sets of minima in them
separability  orthogonally separable data
"""

from reluflow.geometry.cells import (
    CELL_LIMIT,
    Cells,
    StationarySet,
    cell_bound,
    enumerable,
    enumerate_cells,
    nested_pairs,
)
from reluflow.geometry.exact import rank

__all__ = [
    "CELL_LIMIT",
    "Cells",
    "StationarySet",
    "cell_bound",
    "enumerable",
    "enumerate_cells",
    "nested_pairs",
    "rank",
]
