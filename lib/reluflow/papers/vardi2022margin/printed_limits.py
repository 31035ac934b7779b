"""The printed examples: the flow from the printed start, its limit, and what optimum that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reluflow.ledger import Evidence, bound, fact, note
from reluflow.margin.check import Checked, check
from reluflow.margin.layer_problem import layer_optimum
from reluflow.margin.limits import Limit, limit
from reluflow.margin.optimum import Optimum, classify_optimum, global_optimum
from reluflow.papers.vardi2022margin import far_points, perturbations
from reluflow.papers.vardi2022margin.ends import LOSSES
from reluflow.papers.vardi2022margin.instances import (
    Construction,
    fraction,
    lemma_C_6,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_5_1,
)
from reluflow.papers.vardi2022margin.rays import (
    keeps_its_ray,
    starts_on_its_limit,
)

BOTH = ("linear", "relu")
AT_ZERO = (0.0, 0.5, 1.0)
"""Values of sigma'(0)."""
AS_PRINTED = 1e-9
"""How far, over its length, a computed limit may be from the printed one."""
RESIDUAL = 1e-9
"""The largest KKT residual of a limit, over its length."""


@dataclass(frozen=True)
class Followed:
    """One flow of a construction: how it was run, its limit, and what the limit is of Problem (2)
    or (4), with the exact checker's word for the certificate."""

    how: str
    limit: Limit
    optimum: Optimum
    checked: Checked


def followed(
    construction: Construction, layer: int | None = None, at_zero: Sequence[float] = AT_ZERO
) -> list[Followed]:
    """The flow of a construction from its start, for both losses and, with ReLU, for each of these
    values of sigma'(0)."""
    c = construction
    found = []
    for name, loss in LOSSES.items():
        for value in _values(c, at_zero):
            end = limit(c.network, loss, c.X, c.y, c.start, at_zero=value)
            seen = classify_optimum(c.network, end.theta, c.X, c.y, layer)
            # "Not local" is proved for all that is so near; an optimum for the point itself.
            error = end.error if seen.verdict == "not local" else 0.0
            proof = seen.certificate
            word = Checked("refused", np.inf, "there is none")
            if proof is not None:
                word = check(c.network, seen.theta, c.X, c.y, proof, error)
            relu = c.network.activation == "relu"
            how = f"{name}, σ'(0) = {value:g}" if relu else name
            found.append(Followed(how, end, seen, word))
    return found


Runs = Sequence[tuple[Construction, Followed]]


def flows(
    constructions: Iterable[Construction],
    layer: int | None = None,
    at_zero: Sequence[float] = AT_ZERO,
) -> Runs:
    """All flows of some constructions, judged in Problem (2) or (4)."""
    return [(c, run) for c in constructions for run in followed(c, layer, at_zero)]


def ends_as_printed(
    constructions: Construction | Sequence[Construction], verdict: str, layer: int | None = None
) -> list[Evidence]:
    """That the flows of constructions end where the paper says, at KKT points that are what the
    paper says: "not local" or "local", of Problem (2) or of that of one layer."""
    given = [constructions] if isinstance(constructions, Construction) else constructions
    return as_printed(flows(given, layer), verdict, layer)


def as_printed(runs: Runs, verdict: str, layer: int | None = None) -> list[Evidence]:
    """The same of flows that were followed before."""
    given = list({c.name + c.network.activation: c for c, _ in runs}.values())
    off = max(float(np.linalg.norm(run.limit.theta - c.limit) / np.linalg.norm(c.limit))
              for c, run in runs)  # fmt: skip
    problem = "" if layer is None else f" of Problem (4), layer {layer}"
    words = {"not local": "no local optimum", "local": "local optima", "global": "global optima"}
    near = " (shorter points within 1e-3 of it)" if verdict == "not local" else ""
    found = [
        fact("flows that come to zero loss and a KKT point", _count(
            run.limit.converged for _, run in runs), len(runs), tried=len(runs)),
        bound("the least log10(1/L) reached", min(
            run.limit.reached for _, run in runs), ">=", 1e4, "", digits=3),
        bound("limits from the printed one, over its length", off, "<=", AS_PRINTED, ""),
        bound("KKT residuals over the length", max(
            run.limit.residual for _, run in runs), "<=", RESIDUAL, ""),
        fact(f"limits that are {words[verdict]}{problem}{near}, by certificates checked in "
             "rational arithmetic", _count(run.checked.verdict == verdict for _, run in runs),
             len(runs), tried=len(runs)),
    ]  # fmt: skip
    kept = [keeps_its_ray(c, value) for c in given if starts_on_its_limit(c)
            for value in _values(c, AT_ZERO)]  # fmt: skip
    if kept:
        says = "starts on the printed limit's ray, σ'(0) = 0, 1/2, 1, that stay there, exactly"
        found.append(fact(says, _count(kept), len(kept), tried=len(kept)))
    how = "; ".join(dict.fromkeys(run.how for _, run in runs))
    return [*found, note("runs", f"{'; '.join(dict.fromkeys(map(_named, given)))}: {how}")]


def silent_coordinate() -> list[Evidence]:
    """mm.thm4.1: depth-2 diagonal networks, linear and ReLU, end at (1, 0), (1, 0), which is no
    local optimum (Theorem 4.1, C.4)."""
    both = [theorem_4_1(name) for name in BOTH]
    return [*ends_as_printed(both, "not local"), *perturbations.silent_coordinate_helps()]


def four_neurons() -> list[Evidence]:
    """mm.thm4.2.2.start: four ReLU neurons along four data end there, none is 0, and the limit is
    no local optimum, nor is its first layer (C.5.2, C.10)."""
    c = theorem_4_2()
    return [*ends_as_printed(c, "not local"), *neurons_not_zero([c]),
            *perturbations.turning_helps()]  # fmt: skip


def two_groups() -> list[Evidence]:
    """mm.thm4.3.notglobal: Lemma C.6's network ends at a local optimum with no input 0, alpha = 2
    and beta = 1, and a feasible point far from it is shorter (Theorem 4.3)."""
    c = lemma_C_6()
    best = global_optimum(c.network, c.X, c.y)
    assert best.certificate is not None
    word = check(c.network, best.theta, c.X, c.y, best.certificate)
    return [
        *ends_as_printed(c, "local"),
        *inputs_not_zero([c]),
        *far_points.far_point_is_shorter(),
        fact("the least |θ|² over all patterns, by a certificate in rational arithmetic",
             word.verdict, "global"),
        bound("the least |θ|²", float(best.theta @ best.theta), "<=",
              float(fraction(sum(v**2 for v in c.exact_better))), ""),
    ]  # fmt: skip


def shared_filter() -> list[Evidence]:
    """mm.thm4.4: one filter on two patches, linear and ReLU, stays at its start, where no input is
    0 and which is no local optimum (Theorem 4.4, C.7)."""
    both = [theorem_4_4(name) for name in BOTH]
    return [*ends_as_printed(both, "not local"), *inputs_not_zero(both),
            *perturbations.tilting_helps()]  # fmt: skip


def deep_diagonal(depths: Sequence[int] = (3, 4, 5, 6)) -> list[Evidence]:
    """mm.thm5.1: diagonal networks of depth m >= 3, linear and ReLU, stay on the ray of their
    start, where no input is 0 and which is no local optimum (Theorem 5.1, C.8)."""
    all_of = [theorem_5_1(depth, name) for depth in depths for name in BOTH]
    return [*ends_as_printed(all_of, "not local"), *inputs_not_zero(all_of),
            *perturbations.uneven_coordinates_help(depths)]  # fmt: skip


def first_layer_of_two_groups() -> list[Evidence]:
    """mm.thm5.4.notglobal: the first layer of Lemma C.6's limit is a local optimum of Problem (4)
    and no global one: the shorter point there differs in this layer only (Theorem 5.4)."""
    c = lemma_C_6()
    first = fraction(sum(v**2 for v in c.exact_better[: c.network.sizes[0]]))
    return [
        *ends_as_printed(c, "local", layer=1),
        *inputs_not_zero([c]),
        *far_points.far_first_layer_is_shorter(),
        bound("the least |u⁽¹⁾|² over all patterns", global_layer(c, 1), "<=", float(first), ""),
    ]


def global_layer(construction: Construction, layer: int) -> float:
    """The least |u|^2 of one layer at a construction's limit, by enumeration of its cells."""
    c = construction
    return 2.0 * layer_optimum(c.network, c.limit, c.X, c.y, layer).value


def inputs_not_zero(constructions: Sequence[Construction]) -> list[Evidence]:
    """That no input to a hidden neuron is 0 at the printed limits."""
    least = np.inf
    for c in constructions:
        h = c.X
        for matrix in c.network.weights(c.limit)[:-1]:
            h = h @ matrix.T
            least = min(least, float(np.abs(h).min()))
            h = np.maximum(h, 0.0) if c.network.activation == "relu" else h
    return [bound("the smallest |input| to a hidden neuron at the limits", least, ">", 0, "")]


def neurons_not_zero(constructions: Sequence[Construction]) -> list[Evidence]:
    """That no hidden neuron of depth-2 networks has weights 0 at the printed limits."""
    first = [c.network.weights(c.limit)[0] for c in constructions]
    alive = [bool(w.any()) for matrix in first for w in matrix]
    return [fact("hidden neurons whose weights are not 0", _count(alive), len(alive))]


def _named(construction: Construction) -> str:
    relu = construction.network.activation == "relu"
    return f"{construction.name}, {'ReLU' if relu else 'linear'}"


def _values(construction: Construction, at_zero: Sequence[float]) -> Sequence[float]:
    """The values of sigma'(0) to try; a linear network has no use for more than one."""
    return at_zero if construction.network.activation == "relu" else at_zero[:1]


def _count(told: Iterable[bool]) -> int:
    return sum(map(bool, told))
