"""Theorems 4.2 (2) and 5.3 from a start that meets no kink, so that there is one flow only.

Two data at right angles, four ReLU neurons. Each is active on one datum, its own, and silent on the
other one; all v_j > 0. Then w_j moves along its own datum alone, outwards, and v_j grows: the input
from the other datum never changes, no input is ever 0, and the gradient is smooth along the flow.
With a_j the input from the own datum a_j' = g v_j and v_j' = g a_j, and g is one for both neurons
of a datum: a_j + v_j keep their ratio, here 4 : 3. The limit is w_j = v_j x_own, v_j in 4/5, 3/5.
"""

from __future__ import annotations

import numpy as np
import sympy
from numpy.typing import NDArray

from reluflow.ledger import Evidence, fact
from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin.curves import S
from reluflow.papers.vardi2022margin.deeper import deeper
from reluflow.papers.vardi2022margin.instances import EPS, Construction
from reluflow.papers.vardi2022margin.perturbations import changed_layers, shorter_all_the_way
from reluflow.papers.vardi2022margin.printed_limits import (
    AS_PRINTED,
    followed,
    neurons_not_zero,
)

DECADES = (1.0, 10.0, 1e3, 1e5)
"""Values of log10(1/L) at which the activity along a flow is read."""


def two_data() -> Construction:
    """Data (0, 1), (1, 0), labels 1; neurons in turn for the first and the second datum. The better
    point tilts each neuron towards the other datum."""
    x = ((0, 1), (1, 0))
    share = [sympy.Rational(k, 5) for k in (4, 4, 3, 3)]
    tilted = ((EPS, 1 - EPS), (1 - EPS, EPS))
    first = [c * value for j, c in enumerate(share) for value in x[j % 2]]
    better = [c * value for j, c in enumerate(share) for value in tilted[j % 2]]
    start = (-1, 2, 2, -1, -1, 1, 1, -1, 2, 2, 2, 2)
    return Construction(
        "off the kinks", fully_connected((2, 4)),
        tuple(tuple(map(sympy.Integer, row)) for row in x), (1, 1),
        tuple(map(sympy.Integer, start)),
        (*first, *share),
        (*better, *share),
        sympy.Integer(1),
    )  # fmt: skip


def two_data_deeper() -> Construction:
    """The same with a third layer of one unit, 4 at the start: c times as long in the limit, below
    v = sqrt(2) c, with sqrt(2) c^3 = 1."""
    root = sympy.sqrt(2)
    c = sympy.Rational(1, 2) ** sympy.Rational(1, 6)
    below = two_data()
    limit, better = ((*(c * value for value in values), root * c)
                     for values in (below.exact_limit, below.exact_better))  # fmt: skip
    return deeper(below, (*below.exact_start, sympy.Integer(4)), limit, better)


def one_flow_only(layer: int | None = None) -> list[Evidence]:
    """mm.thm4.2.2, mm.thm5.3: the flow from the start of `two_data` meets no kink and ends at no
    local optimum, no neuron 0, of Problem (2) or of that of one layer."""
    c = two_data()
    runs = followed(c, layer, at_zero=(0.0,))
    paths = [*(theta for run in runs for theta in run.limit.directions(DECADES)), c.start]
    off = [np.linalg.norm(run.limit.theta - c.limit) / np.linalg.norm(c.limit) for run in runs]
    ended = [run.limit.converged and run.checked.verdict == "not local" and gap <= AS_PRINTED
             for run, gap in zip(runs, off, strict=True)]  # fmt: skip
    at = "" if layer is None else f" of Problem (4), layer {layer}"
    return [
        fact("off the kinks: ⟨x₁, x₂⟩, so that no neuron moves along another's datum",
             int(c.X[0] @ c.X[1]), 0),
        fact("off the kinks: points of its flows at which each v > 0, and each neuron is active on "
             "its own datum and silent on the other one", sum(map(each_sees_one, paths)),
             len(paths), tried=len(paths)),
        fact(f"off the kinks: flows to the limit in closed form, no local optimum{at}", sum(ended),
             len(runs), tried=len(runs)),
        *shorter_all_the_way((c, S)),
        fact("off the kinks: layers of θ' that differ from θ̃'s", changed_layers(c), (1,)),
        *neurons_not_zero([c]),
    ]  # fmt: skip


def each_sees_one(theta: NDArray) -> bool:
    """Whether every neuron of `two_data`'s network at theta (p,) is active on its own datum and
    silent on the other, and all v > 0."""
    c = two_data()
    first, second = c.network.weights(theta)
    own = np.where(c.network.weights(c.limit)[0] @ c.X.T > 0.0, 1.0, -1.0)
    return bool((own * (first @ c.X.T) > 0.0).all() and (second > 0.0).all())
