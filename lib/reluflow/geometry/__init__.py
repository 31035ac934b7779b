"""Activation cells of one neuron's weight space, and all stationary sets of its loss.

A cell is a largest open cone of weights on which no datum changes its activation. Inside it the
loss is a convex quadratic, so the whole landscape is known once the cells are (Lee et al. 2022a,
Section 3).

exact      how data are read as rational numbers, and what is decided with them
cells      the cells of an arrangement
adjacency  which cells are neighbours, and a count without a look at them
fits       virtual minima, and whether they lie in their cells
excess     the same question as a constrained minimum
kinks      minima on boundaries, where labels are negative
minima     the sets of all local minima
"""

from reluflow.geometry.adjacency import (
    adjacent_pairs,
    count_by_ranks,
    parallel_classes,
)
from reluflow.geometry.cells import (
    CELL_LIMIT,
    ENTRY_LIMIT,
    Cells,
    cell_bound,
    enumerable,
    enumerate_cells,
)
from reluflow.geometry.exact import rank
from reluflow.geometry.excess import excess_in_cell
from reluflow.geometry.fits import meets_cell, virtual_minimum
from reluflow.geometry.minima import StationarySet, local_minima, nested_pairs, restricted_minima

__all__ = [
    "CELL_LIMIT",
    "ENTRY_LIMIT",
    "Cells",
    "StationarySet",
    "adjacent_pairs",
    "cell_bound",
    "count_by_ranks",
    "enumerable",
    "enumerate_cells",
    "excess_in_cell",
    "local_minima",
    "meets_cell",
    "nested_pairs",
    "parallel_classes",
    "rank",
    "restricted_minima",
    "virtual_minimum",
]
