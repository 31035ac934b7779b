"""The paper's positive statements: limits that must be global or local optima, tried on random
networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reluflow.falsify import Instance, Report, Statement, falsify
from reluflow.ledger import Evidence, bound
from reluflow.papers.vardi2022margin import trained_networks
from reluflow.papers.vardi2022margin.ends import End, Judged, ended, replayed, trained

GAP = 1e-6
"""A bound that meets the value up to this share proves an optimum."""

Ends = tuple[tuple[str, Instance], ...]
Claimed = Callable[[Ends], Statement]
"""A statement about trained networks, which are its draws."""


@dataclass(frozen=True)
class Survey:
    """Trained networks of each family, with their limits and what these are.

    full_2, full  fully connected linear ones of depth 2, and of depths 3 and 4
    sparse        linear, depth 2, without shared weights
    relu          ReLU, depth 2, without shared weights
    shared        linear, depths 2 to 4, with holes and shared weights, judged layer by layer
    shared_relu   the same with ReLU
    """

    seed: int
    full_2: Ends
    full: Ends
    sparse: Ends
    relu: Ends
    shared: Ends
    shared_relu: Ends

    @property
    def all(self) -> Ends:
        """All of them."""
        return (*self.full_2, *self.full, *self.sparse, *self.relu, *self.shared,
                *self.shared_relu)  # fmt: skip


def survey(seed: int, count: int) -> Survey:
    """Train `count` networks of the sparse linear family; more where flows are quick, fewer where
    they are slow."""
    few, some, many = (max(1, count * share // 3) for share in (1, 2, 4))
    shared = trained_networks.shared
    return Survey(
        seed,
        trained(trained_networks.full_linear((2, 2)), seed, few),
        trained(trained_networks.full_linear((3, 4)), seed, few),
        trained(trained_networks.sparse_linear(), seed, count),
        trained(trained_networks.sparse_relu(), seed, many),
        trained(shared("linear"), seed, some, by_layer=True),
        trained(shared("relu"), seed, many, by_layer=True),
    )


def full_linear_is_global(ends: Ends) -> Statement:
    """Fully connected linear networks end at a global optimum of Problem (2) (Theorem 3.1, as in
    the tables)."""
    return _optimal("the limit is a global optimum", ends, "global", lambda end: end.judged)


def sparse_linear_is_global(ends: Ends) -> Statement:
    """mm.thm4.2.1: depth-2 linear networks without shared weights whose hidden neurons all have
    weights that are not 0 in the limit end at a global optimum of Problem (2).

    A neuron that no weight joins to the output does not move, so that its weights are 0 in the
    limit, and the hypothesis leaves it out.
    """
    return _optimal("with no neuron 0 in the limit it is a global optimum", ends, "global",
                    lambda end: end.judged, weights=lambda end: end.weights)  # fmt: skip


def sparse_linear_with_inputs_is_global(ends: Ends) -> Statement:
    """The same where the inputs to all neurons are not 0 in the limit (Table 1, row 4)."""
    return _optimal("with no input 0 in the limit it is a global optimum", ends, "global",
                    lambda end: end.judged, inputs=lambda end: end.inputs_from(1))  # fmt: skip


def relu_is_local(ends: Ends) -> Statement:
    """mm.thm4.3.local: depth-2 ReLU networks without shared weights end at a local optimum of
    Problem (2) if no input to a hidden neuron is 0 in the limit."""
    return _optimal("with no input 0 in the limit it is a local optimum", ends, "local",
                    lambda end: end.judged, inputs=lambda end: end.inputs_from(1))  # fmt: skip


def linear_layers_are_global(ends: Ends) -> Statement:
    """mm.thm5.2: every layer of the limit of a linear network, weights shared or missing, is a
    global optimum of Problem (4)."""
    return _optimal("every layer of the limit is a global optimum of its problem", ends, "global",
                    lambda end: end.judged, by_layer=True)  # fmt: skip


def linear_layers_with_inputs_are_global(ends: Ends) -> Statement:
    """The same where the inputs to all neurons are not 0 in the limit (Table 2, row 4)."""
    return _optimal("with no input 0 in the limit every layer is a global optimum of its problem",
                    ends, "global", lambda end: end.judged, by_layer=True,
                    inputs=lambda end: end.inputs_from(1))  # fmt: skip


def relu_layers_are_local(ends: Ends) -> Statement:
    """mm.thm5.4.local: a layer of the limit of a ReLU network is a local optimum of Problem (4) if
    no input to a neuron of this layer, or of those above, is 0 there; below it may be."""

    def layers(end: End) -> Sequence[Judged]:
        return [one for one in end.judged if one.layer and end.inputs_from(one.layer)]

    return _optimal("layers from which on no input is 0 are local optima of their problem", ends,
                    "local", layers, by_layer=True)  # fmt: skip


def relu_layers_with_inputs_are_local(ends: Ends) -> Statement:
    """The same where the inputs to all neurons are not 0 in the limit (Table 2, row 4)."""
    return _optimal("with no input 0 in the limit every layer is a local optimum of its problem",
                    ends, "local", lambda end: end.judged, by_layer=True,
                    inputs=lambda end: end.inputs_from(1))  # fmt: skip


def tried(statement: Claimed, ends: Ends, seed: int, evaluations: int = 0) -> Report:
    """A statement tried on trained networks, and on those of a search from the worst of them.

    The search moves data and start, and every step of it is a flow of its own.
    """
    return falsify(statement(ends), seed, len(ends), evaluations)


def gaps(statement: Claimed, ends: Ends) -> Evidence:
    """The largest share by which value and bound differ, among the limits that are spoken of."""
    made = statement(ends)
    found = [-made.slack(item) for _, item in ends if made.unmet(item) is None]
    told = [gap for gap in found if np.isfinite(gap)]
    return bound("largest share by which a limit could still be shortened, in rational arithmetic",
                 max(told, default=0.0), "<=", GAP, "", digits=2)  # fmt: skip


def spoken_of(statement: Claimed, ends: Ends) -> list[Judged]:
    """The problems at the limits that meet a statement's hypotheses and could be decided."""
    made = statement(ends)
    return [one for _, item in ends
            if made.unmet(item) is None and np.isfinite(made.slack(item))
            for one in item["end"].judged]  # fmt: skip


def _optimal(
    says: str,
    ends: Ends,
    claimed: str,
    of: Callable[[End], Sequence[Judged]],
    by_layer: bool = False,
    **asked: Callable[[End], bool | None],
) -> Statement:
    """The statement that the problems `of` an end are optima; `asked` are its hypotheses, which may
    be True, False or not told. The slack is minus the largest share that could be saved."""
    right = ("global",) if claimed == "global" else ("global", "local")
    names = {"weights": "no hidden neuron is 0 in the limit",
             "inputs": "no input to a hidden neuron is 0 in the limit"}  # fmt: skip

    def slack(item: Instance) -> float:
        end: End = item["end"]
        told = [test(end) for test in asked.values()]
        found = of(end)
        open_ = any(one.verdict == "undecided" for one in found)
        if not end.limit.converged or None in told or open_:
            return np.nan
        wrong = [max(one.gap, 2.0 * GAP) for one in found if one.verdict not in right]
        return -max([*wrong, *(one.gap for one in found)], default=-np.inf)

    def test(hypothesis: Callable[[End], bool | None]) -> Callable[[Instance], bool]:
        return lambda item: hypothesis(item["end"]) is not False

    hypotheses: dict[str, Callable[[Instance], bool]] = {
        "the flow does not come to rest": lambda item: item["end"].fits,
        "a problem is spoken of": lambda item: (
            not item["end"].limit.converged or bool(of(item["end"]))),
        **{names[key]: test(hypothesis) for key, hypothesis in asked.items()},
    }  # fmt: skip
    found = Statement(
        says,
        replayed(ends) or {"none": _nothing},
        slack,
        hypotheses,
        tolerance=GAP,
        fixed=("y",),
        derive=lambda item: ended(item, by_layer),
    )
    return replace(found, witness=_spoiled(found, ends))


def _spoiled(statement: Statement, ends: Ends) -> Instance | None:
    """The first instance that the statement speaks of, its last problem said to be no optimum, by
    half."""
    for _, item in ends:
        if statement.unmet(item) is None and np.isfinite(statement.slack(item)):
            *others, last = item["end"].judged
            wrong = replace(last, verdict="not local", gap=0.5)
            return {**item, "end": replace(item["end"], judged=(*others, wrong))}
    return None


def _nothing(rng: np.random.Generator) -> Instance:
    raise ValueError("there is no trained network")
