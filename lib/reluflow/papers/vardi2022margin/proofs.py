"""Certificates of optimality: plain numbers that someone can check who trusts nothing.

A point theta of the margin problem min 1/2 |theta|^2 s.t. y_i f(theta; x_i) >= 1, with least margin
1, is no local optimum if shorter feasible points lie as near as one likes (`Shorter`), and it is an
optimum if a bound from below meets 1/2 |theta|^2: for all parameters, or for those near theta
(`Cellwise`, `Aligned`, `Layer`).
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray


@dataclass(frozen=True)
class Shorter:
    """Parameters nearer and nearer to theta whose direction costs less than theta's.

    points  (k, p); each, scaled to the least margin 1, is feasible and shorter than theta; for the
            problem of one layer only this layer differs from theta, and is what is scaled
    layer   the layer of the problem, counted from 1, or None for all parameters
    """

    points: NDArray
    layer: int | None = None


@dataclass(frozen=True)
class Column:
    """A closed cell of one neuron of a network of depth 2, on which its term is linear.

    active  (n,) whether the neuron is taken as active on the datum, w.x_i >= 0
    rows    (n,) on which data that is a condition of the cell; none for a linear network
    sign    of the output weight, +1 or -1; a linear network needs one sign only
    slopes  (n,) multipliers >= 0 of the conditions (2 active - 1) w.x_i >= 0; 0 outside `rows`
    """

    active: NDArray
    rows: NDArray
    sign: int
    slopes: NDArray


@dataclass(frozen=True)
class Cellwise:
    """One dual point for all combinations of a column of every neuron of a network of depth 2.

        1/2 |theta|^2 >= sum_j |v_j| |w_j| >= sum_i lambda_i

    for every feasible theta with neuron j in one of columns[j], if for each of these, with the data
    x^j that the neuron sees,

        | sum_i (sign lambda_i y_i active_i + slopes_i (2 active_i - 1)) x_i^j | <= 1.

    multipliers  lambda (n,) >= 0
    columns      of each neuron: all of its cells, or those that meet theta
    everywhere   whether all cells are there, so that theta is a global optimum and not only a local
    """

    multipliers: NDArray
    columns: tuple[tuple[Column, ...], ...]
    everywhere: bool


@dataclass(frozen=True)
class Aligned:
    """A bound for fully connected linear networks of depth m, whatever their widths:

        1/2 |theta|^2 >= m/2 |beta|^(2/m),    |beta| >= sum_i lambda_i / |sum_i lambda_i y_i x_i|,

    with beta the predictor: |beta| is at most the product of the layers' norms.
    """

    multipliers: NDArray


@dataclass(frozen=True)
class Layer:
    """A dual point for one layer's parameters u, where no input of a unit of this layer or above it
    is 0, so that f is linear in u around theta:

        1/2 |u|^2 >= sum_i lambda_i - 1/2 |sum_i lambda_i y_i grad f_i|^2

    for all u nearby with y_i f >= 1; for all u if the network is linear in the layer.

    multipliers  lambda (n,) >= 0
    """

    layer: int
    multipliers: NDArray


Certificate = Shorter | Cellwise | Aligned | Layer
