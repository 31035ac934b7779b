"""The printed examples and Tables 1 and 2: what fills them, and that a wrong entry is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import sympy
from reluflow.ledger import Evidence
from reluflow.margin.kkt import kkt, margins, quotient
from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin import constructions, setting, tables
from reluflow.papers.vardi2022margin.constructions import (
    Judged,
    S,
    better_is_shorter,
    keeps_its_ray,
    shorter_all_the_way,
    starts_on_its_limit,
)
from reluflow.papers.vardi2022margin.setting import EPS, Construction

RAYS = {
    "theorem_4_1": True, "theorem_4_2": True, "theorem_4_4": True, "theorem_5_1": True,
    "theorem_3_2": False, "lemma_C_6": False,
}  # fmt: skip


def failed(evidence: list[Evidence]) -> list[str]:
    return [item.what for item in evidence if item.decides and not item.holds]


# --- printed examples -----------------------------------------------------------------------------


def test_every_convention_and_loss_is_run() -> None:
    runs = constructions.followed(setting.theorem_4_1("relu"))
    assert len({run.how for run in runs}) == len(runs) == 6
    assert len(constructions.followed(setting.theorem_4_1())) == 2


@pytest.mark.parametrize("name", RAYS)
@pytest.mark.parametrize("at_zero", [0.0, 0.5, 1.0])
def test_rays(name: str, at_zero: float) -> None:
    c = getattr(setting, name)()
    assert starts_on_its_limit(c) == RAYS[name]
    assert keeps_its_ray(c, at_zero) == RAYS[name]
    if RAYS[name]:
        other = (c.exact_start[0] + 1, *c.exact_start[1:])
        assert not keeps_its_ray(replace(c, exact_start=other), at_zero)


def test_rays_know_the_convention() -> None:
    """Without the fourth datum nothing holds the first neuron's kink in balance."""
    rows = tuple(setting._numbers(x) for x in ("0 1", "1 0", "0 -1"))
    start = tuple(2 * value for row in rows for value in row) + setting._numbers("2 2 2")
    three = replace(setting.theorem_4_2(), network=fully_connected([2, 3]), exact_X=rows,
                    labels=(1, 1, 1), exact_start=start, exact_limit=start)  # fmt: skip
    assert [keeps_its_ray(three, value) for value in (0.0, 0.5, 1.0)] == [True, False, False]


def test_a_ray_needs_equal_margins_and_the_printed_limit() -> None:
    c = setting.theorem_4_1()
    point = setting._numbers("2 1 2 1")
    apart = replace(c, exact_X=(setting._numbers("1 0"), setting._numbers("0 1")),
                    labels=(1, 1), exact_start=point, exact_limit=point)  # fmt: skip
    assert not keeps_its_ray(apart, 0.0)
    assert keeps_its_ray(replace(apart, exact_start=(1,) * 4, exact_limit=(2,) * 4), 0.0)
    assert not keeps_its_ray(replace(c, exact_limit=point), 0.0)


def test_better_points_must_be_feasible_and_shorter() -> None:
    c = setting.lemma_C_6()
    assert better_is_shorter(c)
    assert not better_is_shorter(replace(c, exact_better=c.exact_limit))
    half = tuple(value / 2 for value in c.exact_better)
    assert not better_is_shorter(replace(c, exact_better=half))


# --- a third layer --------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [constructions.dead_neuron, constructions.deeper_two_groups])
def test_a_third_layer(made: Callable[[], Construction]) -> None:
    c = made()
    assert c.network.degree == 3
    assert margins(c.network, c.limit, c.X, c.y).min() == pytest.approx(1.0)
    assert kkt(c.network, c.limit, c.X, c.y).residual < 1e-12
    sizes = np.split(c.limit**2, np.cumsum(c.network.sizes)[:-1])
    assert [float(s.sum()) for s in sizes] == pytest.approx([float(sizes[0].sum())] * 3)


@pytest.mark.parametrize(
    ("made", "length"),
    [(constructions.dead_neuron, S**2 / 2), (constructions.two_data, S),
     (constructions.two_data_deeper, S)],
)  # fmt: skip
def test_shorter_points_all_the_way(made: Callable[[], Construction], length: sympy.Expr) -> None:
    c = made()
    assert failed(shorter_all_the_way((c, length))) == []
    for eps in (1e-3, 0.05):
        better = c.better(eps)
        assert margins(c.network, better, c.X, c.y) == pytest.approx(np.ones(len(c.y)))
        assert better @ better < c.limit @ c.limit
    long = tuple(sympy.Rational(101, 100) * value for value in c.exact_better)
    far = replace(c, exact_better=long)
    short = replace(c, exact_better=tuple((1 - EPS) * value for value in c.exact_limit))
    for wrong in (far, short):
        assert failed(shorter_all_the_way((wrong, length)))


def test_the_better_first_layer_of_depth_3() -> None:
    c = constructions.deeper_two_groups()
    better = setting.floats(c.exact_better)
    assert margins(c.network, better, c.X, c.y).min() == pytest.approx(1.0)
    assert quotient(c.network, better, c.X, c.y) < quotient(c.network, c.limit, c.X, c.y)
    first = c.network.sizes[0]
    assert better[first:] == pytest.approx(c.limit[first:])


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "weights", "inputs"),
    [(tables.sparse_linear_is_global, False, (True,)),
     (tables.sparse_linear_with_inputs_is_global, True, (False, True)),
     (tables.relu_is_local, True, (True, False)),
     (tables.linear_layers_with_inputs_are_global, True, (False, True)),
     (tables.relu_layers_with_inputs_are_local, True, (True, False))],
)  # fmt: skip
def test_limits_that_a_hypothesis_leaves_out_change_no_entry(
    statement: tables.Claimed, weights: bool, inputs: tuple[bool, ...]
) -> None:
    (kind, one), *_ = tables.trained(setting.sparse_linear(), 7, 1)
    best = replace(one["end"], weights=True, inputs=(True, True),
                   judged=(Judged(1, "global", 0.0, "planted"),))  # fmt: skip
    other = replace(best, weights=weights, inputs=inputs,
                    judged=(Judged(1, "not local", 0.5, "planted"),))  # fmt: skip
    ends = tuple((kind, {**one, "end": end}) for end in (best, other))
    assert [found.verdict for found in tables.spoken_of(statement, ends)] == ["global"]
    assert tables.gaps(statement, ends).value == 0.0


def test_entries_follow_from_verdicts() -> None:
    assert tables._weakest(["global", "local", "not local"]) == tables.NOT_LOCAL
    assert tables._weakest(["global", "local"]) == tables.LOCAL
    assert tables._weakest(["global"]) == tables.GLOBAL
    assert tables._weakest([]) == "no limit"


def test_a_positive_example_does_not_fill_a_negative_entry() -> None:
    cell = tables._one("", tables._flows([setting.lemma_C_6()]), "here")
    assert cell.found == tables.LOCAL
    assert failed(list(cell.evidence))
