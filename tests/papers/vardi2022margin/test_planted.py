"""A planted input for each claim of the paper that is settled without a Statement."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import sympy
from numpy.typing import NDArray
from papers.faults import Check, Found, Planted, at, put, sees, under, where
from reluflow.margin.limits import CONVERGED, DECADE, UNDECIDED, Limit
from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin import (
    certificates,
    constructions,
    dead_neuron,
    setting,
    suboptimality,
    tables,
)
from reluflow.papers.vardi2022margin.constructions import End, Followed, Judged, Runs
from reluflow.papers.vardi2022margin.setting import EPS, Construction

Change = Callable[[Construction], Construction]
ONE = sympy.Integer(1)


# --- flows that miss the bars by little, and other constructions ----------------------------------


def _run(c: Construction, how: str, verdict: str, bad: str) -> Followed:
    """A flow that ends as printed, or that just misses each bar, or one of them."""

    def misses(bar: str) -> bool:
        return bad in ("all", bar)

    field = SimpleNamespace(log_loss=lambda _: -DECADE * (9.9e3 if misses("reach") else 1e5))
    path: Any = SimpleNamespace(field=field, end=None)
    theta = c.limit * (1.0 + 2e-9 * misses("limit"))
    status, off = UNDECIDED if misses("status") else CONVERGED, 2e-9 * misses("residual")
    end = Limit(theta, off, np.ones(1), path, status, 0.0, "")
    told = {"not local": "local", "local": "global"}[verdict] if misses("verdict") else verdict
    return Followed(how, end, Judged(None, told, 0.0, "planted"))


def _ends(verdict: str, *bad: str) -> dict[str, Any]:
    """Flows for both losses, of which these miss the bars."""
    bad = bad or ("", "")

    def flows(constructions: Iterable[Construction], layer: Any = None, **options: Any) -> Runs:
        return [(c, _run(c, how, verdict, one)) for c in constructions
                for how, one in zip(LOSSES, bad, strict=True)]  # fmt: skip

    return {"flows": flows}


LOSSES = ("exponential", "logistic")


def _other(name: str, relu: Change | None = None, linear: Change | None = None) -> dict[str, Any]:
    """A maker of constructions, with a change for an activation."""
    maker = getattr(setting, name)

    def made(*given: Any) -> Construction:
        c: Construction = maker(*given)
        change = relu if c.network.activation == "relu" else linear
        return change(c) if change else c

    return {name: made}


def _printed(check: Check, verdict: str, *made: dict[str, Any], more: Check = list) -> Planted:
    """What a check says of flows of which one misses the bars, and of other constructions."""
    right, one_misses = _ends(verdict), _ends(verdict, "", "all")
    found = at(check, constructions, one_misses, *(right | one for one in made))
    return lambda: (*found(), *filter(None, [more()]))


def _longer(*factors: Any) -> Change:
    """The better point's parameters times these; the last is for all that follow."""

    def change(c: Construction) -> Construction:
        more = [*factors, *[factors[-1]] * (len(c.exact_better) - len(factors))]
        longer = (f * v for f, v in zip(more, c.exact_better, strict=True))
        return replace(c, exact_better=tuple(longer))

    return change


def _put(field: str, values: dict[int, Any]) -> Change:
    """A construction with these entries of a field in place of its own."""

    def change(c: Construction) -> Construction:
        own = getattr(c, field)
        new = (sympy.sympify(values[k]) if k in values else v for k, v in enumerate(own))
        return replace(c, **{field: tuple(new)})

    return change


def _reach(numerator: int, denominator: int) -> Change:
    return lambda c: replace(c, reach=sympy.Rational(numerator, denominator))


def _both(*changes: Change) -> Change:
    return lambda c: reduce(lambda made, change: change(made), changes, c)


def _off_its_ray(c: Construction) -> Construction:
    """From the limit with one entry doubled, or 1 where it was 0, as if that were the limit."""
    first, *more = c.exact_limit
    other = (2 * first if first else ONE, *more)
    return replace(c, exact_start=other, exact_limit=other)


def _turning(s: Any, v: Any, apart: Any = 1) -> tuple:
    """Apart: the first neuron's input from the first datum is 0. Else the end of the other flow."""
    known = TURNING(s, v)
    return (known[0], 0 * s, *known[2:]) if apart else setting.theorem_4_2().exact_limit


def _second(relu: Change, linear: Change) -> dict[str, Any]:
    """Changes of the second one of two."""
    right, other = setting.theorem_5_1, _other("theorem_5_1", relu, linear)["theorem_5_1"]
    return {"theorem_5_1": lambda m, name: (right if m == 3 else other)(3, name)}


def _two_data(*changes: Change) -> dict[str, Any]:
    right = constructions.two_data
    return {"two_data": lambda: _both(*changes)(right())}


TURNING = constructions.turning
ZERO = _put("exact_limit", {0: 0, 1: 0})
SILENT = _put("exact_limit", {0: 1 / sympy.sqrt(2), 1: -4})
ONE_FLOW = (
    _two_data(_put("exact_start", {0: 0})), _two_data(_put("exact_start", {8: -1})),
    _two_data(_put("exact_better", {11: 1})), _two_data(_put("exact_X", {0: (1, 1)}), ZERO),
)  # fmt: skip
# A better point longer, or too short; a limit shorter, with an input 0; other sizes.
GROUPS = [_other("lemma_C_6", one) for one in (
    _longer(2), _longer(ONE / 2), _put("exact_limit", {1: ONE / 2, 2: ONE / 4}),
    _put("exact_limit", {4: ONE * 19 / 10, 5: ONE * 9 / 10}))]  # fmt: skip
SEVERAL = partial(constructions.deep_diagonal, (3, 2))
DEEP_ENDS = _printed(partial(constructions.deep_diagonal, (3,)), "not local")
DEEPER = at(
    SEVERAL, constructions, *(_ends("not local") | one for one in (
        _second(_longer(1, 1, 2, 1), _both(_put("exact_limit", {0: 0}), _longer(2))),
        _second(_off_its_ray, _longer(1, 1, 2, 1)))),
)  # fmt: skip
PRINTED: dict[str, Planted] = {
    "mm.thm4.1": _printed(
        constructions.silent_coordinate, "not local",
        _other("theorem_4_1", relu=_longer(1, 1, 2),
               linear=lambda c: replace(_off_its_ray(c), exact_better=c.exact_limit))),
    "mm.thm4.2.2": _printed(
        constructions.one_flow_only, "not local", *ONE_FLOW),
    "mm.thm4.2.2.start": _printed(
        constructions.four_neurons, "not local",
        *(_other("theorem_4_2", one) for one in (
            _reach(101, 100), _both(_put("exact_better", {11: 1 + EPS}), ZERO), _off_its_ray)),
        more=under(constructions, "turning", _turning, constructions.turns_away)),
    "mm.thm4.3.notglobal": _printed(
        constructions.printed_limits_two_groups, "local", *GROUPS),
    "mm.thm4.4": _printed(
        constructions.shared_filter, "not local",
        _other("theorem_4_4", _both(SILENT, _longer(1, 1, ONE / 2))),
        _other("theorem_4_4", linear=_reach(51, 100)),
        _other("theorem_4_4", _off_its_ray, _longer(2))),
    "mm.thm5.3": _printed(
        partial(constructions.one_flow_only, 1), "not local", *ONE_FLOW),
    "mm.thm5.4.notglobal": _printed(
        constructions.first_layer_of_two_groups, "local", *GROUPS),
    "mm.thm5.1": lambda: (*DEEP_ENDS(), *DEEPER()),
}  # fmt: skip
# A layer moved across itself by 1e-4, and one that is longer by 1e-4.
OFF = sympy.Rational(1, 10**4)
OFF_ITS_GRADIENT = at(
    partial(constructions.layers_put_back, (3,)), constructions,
    *(_other("theorem_4_1", linear=_put("exact_limit", one)) for one in ({1: OFF}, {0: 1 + OFF})),
)  # fmt: skip


# --- the two tables -------------------------------------------------------------------------------


@cache
def _table(number: int, *bad: str) -> tables.Table:
    """Table 1 or 2 of planted limits and flows; those that a hypothesis leaves out change none."""
    c, path = setting.theorem_4_1(), cast(Any, SimpleNamespace())
    found = Limit(c.limit, 0.0, np.ones(1), path, CONVERGED, 0.0, "")
    given = {"network": c.network, "X": c.X, "y": c.y, "start": c.start, "logistic": np.array(0),
             "end": End(found, True, (True,), (Judged(1, "global", 0.0, "planted"),))}  # fmt: skip
    survey = tables.Survey(*[(("planted", given),) * 2] * 6)
    table = partial((tables.table_1, tables.table_2)[number - 1], survey)
    made: Any = where(lambda: cast(Any, [table()]), constructions, **_ends("not local", *bad))
    return made[0]


def _entry(number: int, name: str) -> Iterator[Found]:
    """The evidence of a table's entry, of flows of which one misses the bars, and all do."""
    return (_table(number, bad, "all")[name].evidence for bad in ("", "all"))


ENTRIES = {
    f"mm.tab{number}.{name}": partial(_entry, number, name)
    for number, names in (
        (1, ("fc.relu", "noshare.linear", "noshare.relu", "nonzerow.relu", "shared.linear",
             "shared.relu")),
        (2, ("fc.relu", "noshare.linear", "noshare.relu", "layer.relu")),
    )
    for name in names
}  # fmt: skip
# That of the construction has a claim of its own.
OWN = "starts on", "the smallest", "hidden neurons", "curves", "layers in"


# --- pictures, remarks, and flows of the page on certificates -------------------------------------


@cache
def _path() -> tuple[NDArray, NDArray]:
    return dead_neuron.figure_path(10.0 ** np.arange(6.0))


def _figure_1() -> Iterator[Found]:
    theta, start = _path()
    for path, w in (
        (put(theta, (-1, [0, 1]), 1.00015 * theta[-1, :2]), start),  # far
        (put(theta, (3, 0), -2e-6 * theta[3, 1]), start),  # late
        (put(theta, (1, [0, 1, 4]), 2.2 * theta[1, [0, 1, 4]]), start),  # stays
        (theta, start * [1, 1, 1, -1, 1, 1]),  # awake
    ):
        made = path, w
        yield where(dead_neuron.one_grows_one_rests, dead_neuron, figure_path=lambda _, m=made: m)


def _length(gap: tuple[float, float]) -> tuple[str, dict[str, Any]]:
    """A flow whose neurons have the lengths 1 and 1 - gap, early and late."""
    end = SimpleNamespace(reached=1e4, directions=lambda _: np.array([[1.0, 1.0 - g] for g in gap]))
    network = fully_connected((1, 1), "linear")
    given = {"network": network, "start": np.ones(2), "end": SimpleNamespace(limit=end)}
    return "planted", given


def _family(right: suboptimality.Family) -> suboptimality.Family:
    """A family whose limits are off at one h, and too short, or on a boundary, at the others."""

    def off(h: float) -> NDArray:
        theta = right.limit(h) * (1.0 + 2e-6 if h == 0.5 else 0.25 if h < 0.25 else 1.0)
        theta[0] += 1e-8 * (h == suboptimality.SIZES[1]) * np.linalg.norm(theta)
        if right.name in ("Theorem 4.3", "Theorem 5.4") and h == suboptimality.SIZES[0]:
            theta[2] = 0.25 * h  # the first datum is on the second neuron's boundary
        return theta

    return replace(right, limit=off)


def _remark(check: Callable[..., Found], *families: suboptimality.Family) -> Planted:
    return lambda: [check(*map(_family, families))]


def _race() -> Iterator[Found]:
    right, first, calls = suboptimality.limit_of, suboptimality.race, count()

    def breaks_ties(x: Any, powers: Any) -> tuple[int, ...]:
        return first(x, powers)[: 1 + next(calls) % 2]

    def bent(x: NDArray, depth: int, leaders: Any, ratios: NDArray) -> NDArray:
        """Of starts of depth 4 alone; without the second coordinate at depth 5."""
        ratios = ratios * (1.0 + 1e-6 * (depth == 4) * np.arange(2))
        return right(x, depth, leaders[: 1 if depth == 5 else 2], ratios)

    check = partial(suboptimality.robust, 0, 4)
    tie = (*suboptimality.DECADES[:3], Fraction(0))
    yield from at(check, suboptimality, {"DECADES": tie}, {"race": breaks_ties},
                  {"limit_of": bent})()  # fmt: skip


MOVED = {"exact_X": ((ONE, 4 * ONE),)}, {"exact_limit": (ONE / 2, 0 * ONE, ONE, 0 * ONE)}
PRINTED_4_1 = setting.theorem_4_1
PREDICTOR = at(suboptimality.longer_predictor, setting, *(
    {"theorem_4_1": lambda name, one=one: replace(PRINTED_4_1(name), **one)} for one in MOVED
))  # fmt: skip


def _slopes() -> Iterator[Found]:
    """A neuron that wakes with sigma'(0) > 0 alone; of the flows that with 1 does not quite end."""
    c = setting.theorem_3_2()
    woken = _put("exact_start", {2: 0, 3: 0})(c)

    def ends(network: Any, loss: Any, X: Any, y: Any, start: Any, reach: float, at: float) -> Any:
        return _run(c, loss.name, "local", "all" if at == 1.0 else "").limit

    for one in (woken, c):
        made = {"printed": lambda one=one: (c, one), "limit": ends}
        yield where(certificates.no_effect, certificates, **made)


def _connected(check: Callable[[pd.DataFrame], Found], *limits: dict[str, Any]) -> Iterator[Found]:
    """Two flows; the second falls too little and ends too far, or has a limit that is not exact."""
    first, last = certificates.FULLY_CONNECTED_REACH
    good: dict[str, Any] = {"kind": ["normal"] * 2, "status": [CONVERGED] * 2, "depth": [2, 3]}
    names = ("excess", "away")
    for name in names:
        good |= {f"{name} {first}": [0.2] * 2, f"{name} {last}": [0.01] * 2}
        good |= {f"{name} limit": [0.0] * 2}
    far = good | {f"{name} {at}": [low, high] for name in names
                  for at, low, high in ((first, 0.2, 0.14), (last, 0.01, 0.11))}  # fmt: skip
    return (check(pd.DataFrame(good | one)) for one in (far, *limits))


FIRST, LAST = (f"excess {reach}" for reach in certificates.FULLY_CONNECTED_REACH)
EXCESS: list[dict[str, Any]] = [
    {"excess limit": [0.0, 2e-6]}, {"excess limit": [0.0, -2e-6]}, {FIRST: [0.2, -2e-9]},
    {LAST: [0.01, -2e-9]},
]  # fmt: skip
HELPS = at(constructions.dead_neuron_helps, constructions, *(
    _other("theorem_3_2", one)
    for one in (_reach(95, 100), _reach(12, 10), _put("exact_better", {5: sympy.sqrt(EPS)}))
))  # fmt: skip
LIKELY = at(partial(suboptimality.positive_probability, 1, 200), suboptimality,
            {"uniform_probability": lambda: Fraction(1, 8)})  # fmt: skip
UNBOUNDED: dict[str, tuple[Any, ...]] = {
    "mm.rem3.1.1": (suboptimality.unbounded, suboptimality.opening_angle()),
    "mm.rem3.1.2": (suboptimality.unbounded,
                    *map(suboptimality.longer_coordinate, constructions.BOTH)),
    "mm.rem3.1.3": (suboptimality.grows_without_inputs_0, suboptimality.paired_data()),
    "mm.rem3.1.4": (suboptimality.unbounded, *map(suboptimality.flat_patches, constructions.BOTH)),
    "mm.rem3.1.5": (suboptimality.grows_without_inputs_0, suboptimality.paired_layer()),
}  # fmt: skip

PLANTED: dict[str, Planted] = {
    "mm.fig1": _figure_1,
    "mm.lemC.4": lambda: (tables.balanced_in_the_limit((_length((0.1, 0.01)), _length(late)))
                          for late in ((0.1, 0.025), (0.9, 0.15))),
    **{id: _remark(*what) for id, what in UNBOUNDED.items()}, **ENTRIES, **PRINTED,
    "mm.rem3.2.4": _race, "mm.rem4.1.1": PREDICTOR, "mm.sigma0": _slopes,
    "mm.thm3.1": partial(_connected, certificates.global_in_the_limit, *EXCESS),
    "mm.thm3.1.structure": partial(_connected, certificates.aligned_in_the_limit,
                                   {"away limit": [0.0, 2e-6]}),
    "mm.thm3.2.perturbation": HELPS, "mm.thm3.2.prob": LIKELY,
    "mm.thm5.2.two-layers": OFF_ITS_GRADIENT,
}  # fmt: skip

test_a_planted_input_is_seen = sees(PLANTED, dict.fromkeys(ENTRIES, OWN))
