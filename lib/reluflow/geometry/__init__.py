"""Activation cells of one neuron's weight space, and all stationary sets of its loss.

A cell is a largest open cone of weights on which no datum changes its activation. Inside it the
loss is a convex quadratic, so the whole landscape is known once the cells are (Lee et al. 2022a,
Section 3).

exact   how data are read as rational numbers, and what is decided with them
cells   the cells of an arrangement
minima  virtual minima and whether they lie in their cells, minima on boundaries, and the sets of
        all local minima
"""

from reluflow.geometry.cells import CELL_LIMIT, Cells, cell_bound, enumerable, enumerate_cells
from reluflow.geometry.exact import rank
from reluflow.geometry.minima import (
    StationarySet,
    local_minima,
    nested_pairs,
)

__all__ = [
    "CELL_LIMIT",
    "Cells",
    "StationarySet",
    "cell_bound",
    "enumerable",
    "enumerate_cells",
    "local_minima",
    "nested_pairs",
    "rank",
]
