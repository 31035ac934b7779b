"""A slack that is the least of several parts sees each of them: one at a time is made wrong."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from papers.faults import at_call
from reluflow.papers.lee2022support import dynamics, linear, norm, starts, theorem_3_6
from reluflow.papers.lee2022support import setting as support
from reluflow.papers.lee2023magnitude import descent, laws, layers, population, setting
from reluflow.papers.min2024early import alignment, theorem_1
from reluflow.papers.phuong2021inductive import limit
from reluflow.papers.vardi2022margin import tables

LOSING = SimpleNamespace(pull=lambda outputs, y: -y)


def then(wrong, at=None):
    """What this makes of what is right, always or at one call."""
    return lambda was: (lambda *of: wrong(was(*of))) if at is None else at_call(was, at, wrong)


def gained(own, number):
    """So many times a datum of the neuron's label, or of the other."""

    def path(item):
        (datum, *_) = np.flatnonzero((item["y"] == item["sign"]) == own)
        return SimpleNamespace(events=number * [SimpleNamespace(kind="activate", datum=datum)])

    return lambda _: path


def worse(pairs):
    """Two minima of which the one with fewer data costs less."""
    return [(pairs[0][0], replace(pairs[0][1], loss=-1e9))]


@pytest.mark.parametrize(
    ("statement", "module", "name", "wrong"),
    [
        *((dynamics.deactivation_repaired, dynamics, "displaced_sides",
           then(lambda sides, turned=turned: np.multiply(turned, sides)))
          for turned in ((-1, 1), (1, -1))),
        *((linear.rectangle_in_ellipsoid, linear.LinearNeuron, "g", lambda _, g=g: lambda *_: g)
          for g in np.array([[1.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [-1.0, -1.0, 1.0]])),
        (linear.rectangle_is_invariant, linear, "affine_flow",
         lambda right: lambda X, y, w0, kind: right(X, y, -w0, kind)),
        (linear.every_flow_is_optimal, linear, "loss", then(lambda value: 2.0 * value + 9.0, 0)),
        *((linear.minima_project_to_one, linear, "affine_flow",
           then(lambda path: SimpleNamespace(end=path.end + 1.0), k)) for k in (0, 1)),
        *((each, theorem_3_6, "_pairs", then(others))
          for each in (theorem_3_6.larger_where_fitted, theorem_3_6.within_bound)
          for others in (lambda two: two + worse(two), lambda two: worse(two) + two)),
        *((norm.norm_drops_little, norm, "norm_lost", then(lambda drop: drop + 1e9, k))
          for k in range(len(norm.NORMS))),
        (starts.protected_stay, starts, "affine_flow",
         then(lambda path: replace(path, end=1.001 * path.end))),
        (starts.small_starts_agree, support, "small_flows", lambda right: lambda item, norms: [
            replace(path, end=path.end * (1.0 + np.array_equal(item["u"], item["U"][-1])))
            for path in right(item, norms)]),
        (descent.magnitude, descent, "magnitude_bounds", then(lambda both: (both[1], np.inf))),
        *((laws.falls_above_nullcline, population, "quadrature_gradient",
           then(lambda pair, turned=turned: [s * g for s, g in zip(turned, pair, strict=True)]))
          for turned in ((-1, 1), (1, -1))),
        (layers.corrected_angle, descent.Descent, "ranges",
         then(lambda three: (99.0 * three[1], *three[1:]))),
        (layers.corrected_two_layers, population.PopulationPath, "length",
         lambda _: property(lambda path: 0.0 * path.v)),
        (layers.corrected_two_layers, setting, "two_layer_magnitude_bounds",
         then(lambda both: (both[0], 0.5 * both[1]), 1)),
        *((alignment.turns_across, alignment, loss, lambda _: LOSING)
          for loss in ("EXPONENTIAL", "TWICE_LOGISTIC")),
        *((alignment.changes_one_way, theorem_1, "path", gained(*given))
          for given in ((True, 99), (False, 1))),
        *((partial(tables.least_length, tables.FULL), tables, "predictor",
           then(lambda beta: 1e9 * beta, k)) for k in (0, 1)),
        (limit.both_ends_equal, limit, "rates", then(lambda all: (all[0] + 1.0, *all[1:]))),
        *((limit.is_kkt_point, limit, "point", then(lambda at, by=by: [by * part for part in at]))
          for by in (0.9, 1.1)),
    ],
)  # fmt: skip
def test_each_part_is_seen(statement, module, name, wrong, monkeypatch) -> None:
    made, rng = statement(), np.random.default_rng(0)
    items = (draw(rng) for _ in range(40) for draw in made.draws.values())
    item = next(at for at in items if made.unmet(at) is None and made.slack(at) > -1e-9)
    monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    assert made.fails(made.slack(item))
