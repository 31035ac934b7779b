"""A planted input for each claim of the paper that is settled without a Statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import count, cycle
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
from papers.faults import but, seen, sees, where
from reluflow.ledger import Evidence
from reluflow.papers.phuong2021inductive import cnn, flows, limit, networks, sectors
from reluflow.papers.phuong2021inductive.cnn import BEFORE, MINUS, PLUS, Pairs, Shown
from reluflow.papers.phuong2021inductive.flows import Late, Survey
from reluflow.papers.phuong2021inductive.networks import Case, Course, Ended, Seen

# --- flows: one that comes to its limit, and one that ends where it was just before the bar -------


@cache
def _late() -> Late:
    return flows.near_zero(0, 1).found[0]


def _short(column: int, part: float = 0.0) -> Late:
    """The flow with its last state from when (8) or (9) was not yet near, or not yet this part of
    what it was at L = e^-1000."""
    late, far = _late(), _late().distances[:, column]
    bar = part * np.interp(3.0, np.log10(late.tau), far) or limit.NEAR_LIMIT
    last = int(np.flatnonzero(far > bar)[-1])
    U, R = late.U.copy(), late.R.copy()
    U[-1], R[-1] = U[last], R[last]
    return replace(late, U=U, R=R)


def _flows(
    id: str, check: Callable[[Survey], list[Evidence]], *more: Late, column: int = 0
) -> list[Evidence]:
    """One flow of two that is short of its limit, and one that is lost."""
    bad = (_short(column), *more)
    made = (*(Survey([_late(), one], 0) for one in bad), Survey([_late()], 1))
    return seen(id, *map(check, made))


def _other_sign() -> Late:
    """A flow of which one neuron ends on the wrong side of its own vector."""
    late, U = _late(), _late().U.copy()
    w, own = late.limit.vectors[1.0], late.given.X[late.given.y > 0.0]
    U[-1, late.own(1.0)[0]] = own[0] - 1.001 * (own[0] @ w) / (w @ w) * w
    return replace(late, U=U)


def _linear() -> list[Evidence]:
    good, bad = _late(), replace(_late())
    check = partial(limit.groups_become_linear, Survey([good, bad], 0))
    lost = partial(limit.groups_become_linear, Survey([good], 1))
    right: dict[str, Any] = {"settles": lambda each: 0.0, "linear_group": lambda each, sign: 0.0,
                             "home": lambda each: np.ones((2, 4), bool)}  # fmt: skip
    ways: list[dict[str, Any]] = [
        {"settles": lambda each: 1001.0 * (each is bad)},
        {"linear_group": lambda each, sign: 2e-3 * (each is bad and sign < 0.0)},
        {"home": lambda each: np.array([[True] * 4, [True, True, True, each is good]])},
    ]
    return seen("os.eq15-16", *(where(check, limit, **(right | way)) for way in ways),
                where(lost, limit, **right), *_waits())  # fmt: skip


def _waits() -> list[list[Evidence]]:
    """Neurons that are home one after the other, and one that is for a moment."""
    large = np.array([[True, False, True], [True, True, False]])
    small = np.array([[True, False, True], [False, True, True]])
    check = partial(sectors.waiting_size_comes_last, (large, small))
    return [where(check, sectors, home=lambda late: late)]


def _prune() -> list[Evidence]:
    calls, check = count(), partial(limit.two_neurons_suffice, seed=0)
    off = but(limit.two_neurons, lambda *_: next(calls) == 0, lambda f: f - 1e-8)
    unequal = where(partial(check, Survey([_late()] * 2, 0)), limit, two_neurons=off)
    made = Survey([_late(), _short(0)], 0), Survey([_late()], 1)
    return seen("os.prune", unequal, *map(check, made))


# --- many runs: seven of ten are more than half, and not surely -----------------------------------

SEEN = Seen(
    500, 0.01, [[2.0, 1.0, 0.1, 0.1]] * 3, [0.01] * 3, [0.95] * 3, [120.0] * 3, [0.95] * 3,
    [0.95] * 4, 0.9, [0.95] * 2, 0.9, 0.0, 0.5, [0.9] * 2,
)  # fmt: skip


def _runs(good: int, **fault: Any) -> list[Course]:
    """Ten runs, all but the first few with a fault."""
    start = replace(SEEN, epoch=0, singular=[[0.3, 0.2, 0.2, 0.1]] * 3)
    return [Course((start, SEEN if k < good else replace(SEEN, **fault))) for k in range(10)]


def _most(
    id: str, check: Callable[..., list[Evidence]], *faults: Mapping[str, Any]
) -> list[Evidence]:
    """Each of the faults in three runs of ten."""
    return seen(id, *(check(_runs(7, **fault)) for fault in faults))


CLEAR: Sequence[Mapping[str, Any]] = tuple(
    {"singular": [s] * 3} for s in ([2.0, 1.0, 0.21, 0.1], [2.0, 0.19, 0.1, 0.1])
)
RANK: Sequence[Mapping[str, Any]] = tuple(
    {"singular": [s] * 3} for s in ([2.0, 1.0, 0.4, 0.1], [2.0, 0.5, 0.1, 0.1])
)
ALIGNED: Sequence[Mapping[str, Any]] = ({"near": [0.89] * 3}, {"agreement": [0.89] * 3})


def _angles() -> list[Evidence]:
    turns = Mock(side_effect=cycle((turn, 90.0, (20, 20)) for turn in [9.9] * 3 + [90.0] * 7))
    return seen("os.data.2", where(partial(networks.are_apart, 0, 10), networks, turns=turns))


def _violations() -> list[Evidence]:
    X, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    draws = Mock(return_value=[(X, y), (X - [[0.0, 0.0], [0.0, 0.1], [0.0, 0.0]], y)])
    return seen("os.data.1", where(partial(networks.are_separable, 0, 2), networks, draws=draws))


def _not_enough() -> list[Evidence]:
    right = Case(0.5, 1, False, True, 0.01)
    found = [*[right] * 9, replace(right, partial=True)]
    found += [replace(right, mu=mu, partial=k < 3) for mu in (-0.9, -0.6, -0.4, -0.1)
              for k in range(10)]  # fmt: skip
    check = partial(networks.linear_is_not_enough, found)
    X = networks.X.copy()
    X[1] = 1.0, -4.0
    behind = networks.X * [[-1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    short = Mock(return_value=SimpleNamespace(distances=np.full((1, 2), 0.1)))
    made = ({"X": X}, {"X": behind})
    return seen("os.assumptions.2", *(where(check, networks, followed=short, **one)
                                      for one in made))  # fmt: skip


def _steps() -> list[Evidence]:
    """One limit of one step; too few runs of the rates and factors that count, others all right."""

    def ended(seed: int, step: float, ratios: Sequence[float], count: int) -> list[list[Ended]]:
        far = 1.1 * networks.NEAR * (step == 1.0)
        return [[Ended(far * k, True, 0) for k in range(2)] for _ in ratios]

    rates = {"0.01": _runs(10), "0.1": _runs(5, high=0.5), "1": _runs(4, high=0.4), "3": _runs(10)}
    outer = {"1": _runs(7, high=0.5), "1000": _runs(10)}
    check = partial(networks.survives, 0, 2, rates, outer)
    return seen("os.assumptions.3", where(check, networks, ended=ended))


# --- the record of the convolutional network ------------------------------------------------------


@cache
def _shown() -> Shown:
    return cnn.recorded("taken")


def _layers(change: Callable[[int, Pairs], Pairs]) -> Shown:
    """The record with other pairs before the ReLU, layer by layer."""
    layers = [{**each, BEFORE: change(k, each[BEFORE])} for k, each in enumerate(_shown().layers)]
    return replace(_shown(), layers=layers)


def _to_the_right() -> list[Evidence]:
    """At each layer by itself the chance of one class alone is one half."""
    even = {PLUS: 0.5, MINUS: 1.0}, {PLUS: 1.0, MINUS: 0.5}
    made = (_layers(lambda k, pairs, at=at: replace(pairs, right=even[at % 2] if k == at
                                                    else pairs.right))
            for at in range(1, cnn.FIRST + 1))  # fmt: skip
    return seen("os.fig3.1", *(cnn.same_class_to_the_right(run, {}) for run in made))


def _apart() -> list[Evidence]:
    turned = replace(_shown(), layers=_shown().layers[::-1])
    return seen("os.fig3.2", cnn.layers_separate(turned, {}))


def _one_pair() -> list[Evidence]:
    whole = _shown().whole
    none = dict.fromkeys(whole[BEFORE].violations, 0)
    one = replace(whole[BEFORE], violations={**none, MINUS: 1})
    run = replace(_shown(), whole={**whole, BEFORE: one})
    return seen("os.fig3.3", cnn.separable_features(run, {}))


def _values() -> list[Evidence]:
    many, gap = np.r_[np.full(11, 0.1), 1.0][::-1], np.r_[1.0, 0.9, 0.2, 0.09, np.full(9, 0.08)]
    four = np.r_[1.0, np.full(3, 0.1), np.full(9, 0.09)]
    made = (replace(_shown(), singular=s) for s in (many, gap, four))
    synthetic = np.array([2.0, 1.0, 0.3, 0.2])
    return seen("os.fig4a", *(cnn.few_singular_values(run, {}, synthetic) for run in made))


def _clusters() -> list[Evidence]:
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    plane = centres + 0.01 * rng.standard_normal((60, 2))
    second = np.r_[np.tile([1.0, -1.0], 10), np.ones(20), -np.ones(20)]
    wide = centres + 0.2 * rng.standard_normal((60, 2))
    rays = np.r_[np.outer(np.linspace(0.0, 1.0, 30), [1.0, 0.0]),
                 np.outer(np.linspace(0.0, 1.0, 30), [0.0, 1.0])]  # fmt: skip
    near, plus, minus = np.split(second, 3)
    one, some = (np.r_[np.ones(20 - k), -np.ones(k)] for k in (1, 3))
    signs = ((one, plus, minus), (-one, plus, minus), (near, some, minus), (near, plus, -some))

    def run(plane: Any, second: Any) -> Shown:
        return replace(_shown(), plane=plane, second=second)

    check = cnn.three_clusters
    return seen("os.fig4b", check(run(wide, second), (rays, second)),
                check(run(plane, second), (plane, second)),
                *(check(run(plane, np.r_[found]), (rays, second)) for found in signs))  # fmt: skip


# --- neurons --------------------------------------------------------------------------------------


def _at_home() -> list[Evidence]:
    right, alive = sectors.align, count()

    def astray(*given: Any) -> Any:
        found = right(*given)
        off = 2e-5 * (found.status != "dead" and next(alive) == 0)
        return SimpleNamespace(status=found.status, end=found.end + off)

    return seen(
        "os.lem1",
        where(partial(sectors.small_enough, (19, 20), 0, 8), sectors, align=astray),
        *_waits(),
    )


def _minima() -> list[Evidence]:
    right = sectors.align
    turned = but(sectors.direction, lambda *_: True, lambda w: w + 3e-4 * np.eye(len(w))[0])

    def astray(X: Any, y: Any, w: Any, sign: float) -> Any:
        found = right(X, y, w, sign)
        end = X[0] if found.status == "dead" else -found.end
        return SimpleNamespace(status=found.status, end=end)

    check = partial(sectors.come_to_the_minimum, 0, 12)
    made: list[dict[str, Any]] = [{"align": astray}, {"direction": turned}]
    return seen("os.lem2.neg", *(where(check, sectors, **one) for one in made), *_waits())


def _local_formula() -> list[Evidence]:
    beyond = but(sectors.eps_max, lambda *_: True, lambda eps: eps and 3 * eps)
    return seen("os.lemA.2", where(partial(sectors.local_formula, 0, 60), sectors, eps_max=beyond))


def _sizes() -> list[Evidence]:
    other = (*cnn.CONVOLUTIONS[:-1], cnn.CONVOLUTIONS[-1]._replace(padding=1))
    return seen("os.tab1", where(cnn.sizes_fit, cnn, CONVOLUTIONS=other))


def _groups() -> list[Evidence]:
    def learnt(p: int) -> Any:
        far = np.array([[0.5, 0.5], [0.0, 1.1e-3 * (p == 3)]])
        return SimpleNamespace(distances=far, log_loss=lambda sign: np.zeros(2))

    flat = sectors.ONE_GROUP_X * [[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, 1.0]]
    made = {"positive_only": learnt, "ONE_GROUP_X": flat}
    return seen("os.thm1.nonempty", where(sectors.one_or_two, sectors, **made))


def _often_dead() -> list[Evidence]:
    """With one sign alone; and a neuron whose cosine to no datum of its label is above 1e-3."""
    fair, often, seldom = (np.arange(300) % 4 < k for k in (2, 3, 1))
    right = sectors.align

    def blind(X: Any, y: Any, w: Any, sign: float, **how: Any) -> Any:
        own = X[y == sign] / np.linalg.norm(X[y == sign], axis=1, keepdims=True)
        seen = (own @ w > 1e-3 * np.linalg.norm(w)).any()
        return right(X, y, w, sign, **how) if seen else SimpleNamespace(status="dead")

    judge = partial(sectors.at_most, seed=0, count=20)
    assert all(item.holds for item in judge([sectors.Fates(fair, fair)]))
    made = (judge([sectors.Fates(*each)]) for each in ((often, seldom), (seldom, often)))
    unseen = partial(judge, [sectors.Fates(fair, fair)])
    return seen("os.thm1.prob", *made, where(unseen, sectors, align=blind))


PLANTED: dict[str, Callable[[], Iterable[Evidence]]] = {
    "os.assumptions.2": _not_enough, "os.assumptions.3": _steps,
    "os.assumptions.4": partial(_flows, "os.assumptions.4", limit.span_can_go, column=1),
    "os.cor1": partial(_flows, "os.cor1", partial(limit.functions_converge, seed=0)),
    "os.data.1": _violations, "os.data.2": _angles, "os.eq15-16": _linear,
    "os.fig1a": partial(_most, "os.fig1a", networks.two_singular_values, *CLEAR),
    "os.fig1b": partial(_most, "os.fig1b", networks.two_main_directions, *ALIGNED),
    "os.fig1c": partial(_most, "os.fig1c", networks.high_correlations, {"high": 0.5}),
    "os.fig2abc": partial(_most, "os.fig2abc", networks.deep_rank_two, *RANK),
    "os.fig2def": partial(_most, "os.fig2def", networks.deep_directions, *ALIGNED),
    "os.fig2g.1": partial(_most, "os.fig2g.1", lambda runs: networks.deep_correlations(
        runs, runs), {"high": 0.5}),
    "os.fig2g.2": partial(_most, "os.fig2g.2", networks.deep_limits, {"high": 0.5}),
    "os.fig3.1": _to_the_right, "os.fig3.2": _apart, "os.fig3.3": _one_pair, "os.fig4a": _values,
    "os.fig4b": _clusters, "os.lem1": _at_home, "os.lem2.neg": _minima, "os.lemA.2": _local_formula,
    "os.norm.log.1": partial(_flows, "os.norm.log.1", limit.norms_grow_like_log),
    "os.prune": _prune, "os.tab1": _sizes,
    "os.thm1.W": lambda: _flows("os.thm1.W", limit.directions_converge, _short(0, 0.1)),
    "os.thm1.a": lambda: _flows("os.thm1.a", limit.outer_weights_converge, _other_sign(), column=1),
    "os.thm1.nonempty": _groups, "os.thm1.prob": _often_dead,
}  # fmt: skip

test_a_planted_input_is_seen = sees(PLANTED)
