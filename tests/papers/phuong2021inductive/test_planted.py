"""A planted input for each claim of the paper that is settled without a Statement."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import count, cycle
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
from papers.faults import Found, Planted, at, at_call, but, put, sees, where
from reluflow.papers.phuong2021inductive import cnn, flows, limit, networks, sectors
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
    return replace(late, U=put(late.U, -1, late.U[last]), R=put(late.R, -1, late.R[last]))


def _flows(check: Callable[[Survey], Found], *more: Late, column: int = 0) -> Iterator[Found]:
    """One flow of two that is short of its limit, and one that is lost."""
    for bad in (_short(column), *more):
        yield check(Survey([_late(), bad], 0))
    yield check(Survey([_late()], 1))


def _other_sign() -> Late:
    """A flow of which one neuron ends on the wrong side of its own vector."""
    late = _late()
    w, own = late.limit.vectors[1.0], late.given.X[late.given.y > 0.0]
    other = own[0] - 1.001 * (own[0] @ w) / (w @ w) * w
    return replace(late, U=put(late.U, (-1, late.own(1.0)[0]), other))


def _linear() -> Iterator[Found]:
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
    yield from at(check, limit, *(right | way for way in ways))()
    yield where(lost, limit, **right)
    yield from WAITS()


# Neurons that are home one after the other, and one that is for a moment.
LARGE, SMALL = (np.array(home, bool) for home in ([[1, 0, 1], [1, 1, 0]], [[1, 0, 1], [0, 1, 1]]))
WAITS = at(partial(sectors.waiting_size_comes_last, (LARGE, SMALL)), sectors,
           {"home": lambda late: late})  # fmt: skip


def _prune() -> Iterator[Found]:
    check = partial(limit.two_neurons_suffice, seed=0)
    off = at_call(limit.two_neurons, 0, lambda f: f - 1e-8)
    yield where(partial(check, Survey([_late()] * 2, 0)), limit, two_neurons=off)
    yield from _flows(check)


# --- many runs: seven of ten are more than half, and not surely -----------------------------------

SEEN = Seen(
    500, 0.01, [[2.0, 1.0, 0.1, 0.1]] * 3, [0.01] * 3, [0.95] * 3, [120.0] * 3, [0.95] * 3,
    [0.95] * 4, 0.9, [0.95] * 2, 0.9, 0.0, 0.5, [0.9] * 2,
)  # fmt: skip


def _runs(good: int, **fault: Any) -> list[Course]:
    """Ten runs, all but the first few with a fault."""
    start = replace(SEEN, epoch=0, singular=[[0.3, 0.2, 0.2, 0.1]] * 3)
    return [Course((start, SEEN if k < good else replace(SEEN, **fault))) for k in range(10)]


def _most(check: Callable[..., Found], *faults: Mapping[str, Any]) -> Planted:
    """Each of the faults in three runs of ten."""
    return lambda: (check(_runs(7, **fault)) for fault in faults)


CLEAR, RANK = (
    [{"singular": [s] * 3} for s in both]
    for both in ([[2.0, 1.0, 0.21, 0.1], [2.0, 0.19, 0.1, 0.1]],
                 [[2.0, 1.0, 0.4, 0.1], [2.0, 0.5, 0.1, 0.1]])
)  # fmt: skip
ALIGNED: Sequence[Mapping[str, Any]] = ({"near": [0.89] * 3}, {"agreement": [0.89] * 3})
TURNS = Mock(side_effect=cycle((turn, 90.0, (20, 20)) for turn in [9.9] * 3 + [90.0] * 7))
X, Y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, -1.0]]), np.array([1.0, 1.0, -1.0])
DRAWS = Mock(return_value=[(X, Y), (put(X, (1, 1), -0.1), Y)])


def _not_enough() -> Iterator[Found]:
    right = Case(0.5, 1, False, True, 0.01)
    found = [*[right] * 9, replace(right, partial=True)]
    found += [replace(right, mu=mu, partial=k < 3) for mu in (-0.9, -0.6, -0.4, -0.1)
              for k in range(10)]  # fmt: skip
    check = partial(networks.linear_is_not_enough, found)
    behind = networks.X * [[-1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    short = Mock(return_value=SimpleNamespace(distances=np.full((1, 2), 0.1)))
    for X in (put(networks.X, 1, (1.0, -4.0)), behind):
        yield where(check, networks, followed=short, X=X)


def _steps() -> Iterator[Found]:
    """One limit of one step; too few runs of the rates and factors that count, others all right."""

    def ended(seed: int, step: float, ratios: Sequence[float], count: int) -> list[list[Ended]]:
        far = 1.1 * networks.NEAR * (step == 1.0)
        return [[Ended(far * k, True, 0) for k in range(2)] for _ in ratios]

    rates = {"0.01": _runs(10), "0.1": _runs(5, high=0.5), "1": _runs(4, high=0.4), "3": _runs(10)}
    outer = {"1": _runs(7, high=0.5), "1000": _runs(10)}
    check = partial(networks.survives, 0, 2, rates, outer)
    yield where(check, networks, ended=ended)


# --- the record of the convolutional network ------------------------------------------------------


@cache
def _shown() -> cnn.Shown:
    return cnn.recorded("taken")


def _taken(check: Callable[..., Found], *changes: Mapping[str, Any]) -> Iterator[Found]:
    return (check(replace(_shown(), **change), {}) for change in changes)


def _to_the_right() -> Iterator[Found]:
    """At each layer by itself the chance of one class alone is one half."""
    even = {cnn.PLUS: 0.5, cnn.MINUS: 1.0}, {cnn.PLUS: 1.0, cnn.MINUS: 0.5}
    for k in range(1, cnn.FIRST + 1):
        layers = [dict(pairs) for pairs in _shown().layers]
        layers[k][cnn.BEFORE] = replace(layers[k][cnn.BEFORE], right=even[k % 2])
        yield from _taken(cnn.same_class_to_the_right, {"layers": layers})


def _one_pair() -> Iterator[Found]:
    whole = _shown().whole
    none = dict.fromkeys(whole[cnn.BEFORE].violations, 0)
    one = replace(whole[cnn.BEFORE], violations={**none, cnn.MINUS: 1})
    bad = replace(_shown(), whole={**whole, cnn.BEFORE: one})
    yield cnn.separable_features(bad, {})
    yield cnn.separable_features(_shown(), {"taken, seed 1": bad})


def _clusters() -> Iterator[Found]:
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    plane = centres + 0.01 * rng.standard_normal((60, 2))
    second = np.r_[np.tile([1.0, -1.0], 10), np.ones(20), -np.ones(20)]
    wide = centres + 0.2 * rng.standard_normal((60, 2))
    rays = np.kron(np.eye(2), np.linspace(0.0, 1.0, 30)[:, None])
    near, plus, minus = np.split(second, 3)
    one, some = (np.r_[np.ones(20 - k), -np.ones(k)] for k in (1, 3))
    signs = ((one, plus, minus), (-one, plus, minus), (near, some, minus), (near, plus, -some))
    for other, shown, outer in (
        (rays, wide, second), (plane, plane, second),
        *((rays, plane, np.r_[found]) for found in signs),
    ):  # fmt: skip
        made = replace(_shown(), plane=shown, second=outer)
        yield cnn.three_clusters(made, (other, second))


SYNTHETIC = np.array([2.0, 1.0, 0.3, 0.2])
# W_7 with too many singular values, too few, and with a gap.
VALUES = (
    np.r_[1.0, np.full(11, 0.1)], np.r_[1.0, np.full(3, 0.1), np.full(9, 0.09)],
    np.r_[1.0, 0.9, 0.2, 0.09, np.full(9, 0.08)],
)  # fmt: skip


# --- neurons --------------------------------------------------------------------------------------


RIGHT = sectors.align


def _at_home() -> Iterator[Found]:
    alive = count()

    def astray(*given: Any) -> Any:
        found = RIGHT(*given)
        off = 2e-5 * (found.status != "dead" and next(alive) == 0)
        return SimpleNamespace(status=found.status, end=found.end + off)

    yield where(partial(sectors.small_enough, (19, 20), 0, 8), sectors, align=astray)
    yield from WAITS()


def _minima() -> Iterator[Found]:
    turned = but(sectors.direction, lambda *_: True, lambda w: w + 3e-4 * np.eye(len(w))[0])

    def astray(X: Any, y: Any, w: Any, sign: float) -> Any:
        found = RIGHT(X, y, w, sign)
        end = X[0] if found.status == "dead" else -found.end
        return SimpleNamespace(status=found.status, end=end)

    check = partial(sectors.come_to_the_minimum, 0, 12)
    yield from at(check, sectors, {"align": astray}, {"direction": turned})()
    yield from WAITS()


BEYOND = but(sectors.eps_max, lambda *_: True, lambda eps: eps and 3 * eps)
PADDED = (*cnn.CONVOLUTIONS[:-1], cnn.CONVOLUTIONS[-1]._replace(padding=1))


def _groups() -> Iterator[Found]:
    def learnt(p: int) -> Any:
        far = np.array([[0.5, 0.5], [0.0, 1.1e-3 * (p == sectors.ONE_GROUP_WIDTHS[-1])]])
        return SimpleNamespace(distances=far, log_loss=lambda sign: np.zeros(2))

    flat = sectors.ONE_GROUP_X * [[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, 1.0]]
    yield where(sectors.one_or_two, sectors, positive_only=learnt, ONE_GROUP_X=flat)


def _often_dead() -> Iterator[Found]:
    """With one sign alone; and a neuron whose cosine to no datum of its label is above 1e-3."""
    fair, often, seldom = (np.arange(300) % 4 < k for k in (2, 3, 1))

    def blind(X: Any, y: Any, w: Any, sign: float, **how: Any) -> Any:
        own = X[y == sign] / np.linalg.norm(X[y == sign], axis=1, keepdims=True)
        seen = (own @ w > 1e-3 * np.linalg.norm(w)).any()
        return RIGHT(X, y, w, sign, **how) if seen else SimpleNamespace(status="dead")

    judge = partial(sectors.at_most, seed=0, count=20)
    assert all(item.holds for item in judge([sectors.Fates(fair, fair)]))
    yield from (judge([sectors.Fates(*each)]) for each in ((often, seldom), (seldom, often)))
    yield where(partial(judge, [sectors.Fates(fair, fair)]), sectors, align=blind)


PLANTED: dict[str, Planted] = {
    "os.assumptions.2": _not_enough, "os.assumptions.3": _steps,
    "os.assumptions.4": partial(_flows, limit.span_can_go, column=1),
    "os.cor1": partial(_flows, partial(limit.functions_converge, seed=0)),
    "os.data.1": at(partial(networks.are_separable, 0, 2), networks, {"draws": DRAWS}),
    "os.data.2": at(partial(networks.are_apart, 0, 10), networks, {"turns": TURNS}),
    "os.eq15-16": _linear,
    "os.fig1a": _most(networks.two_singular_values, *CLEAR),
    "os.fig1b": _most(networks.two_main_directions, *ALIGNED),
    "os.fig1c": _most(networks.high_correlations, {"high": 0.5}),
    "os.fig2abc": _most(networks.deep_rank_two, *RANK),
    "os.fig2def": _most(networks.deep_directions, *ALIGNED),
    "os.fig2g.1": _most(lambda runs: networks.deep_correlations(runs, runs), {"high": 0.5}),
    "os.fig2g.2": _most(networks.deep_limits, {"high": 0.5}),
    "os.fig3.1": _to_the_right, "os.fig3.3": _one_pair, "os.fig4b": _clusters,
    "os.fig3.2": lambda: _taken(cnn.layers_separate, {"layers": _shown().layers[::-1]}),
    "os.fig4a": partial(_taken, partial(cnn.few_singular_values, synthetic=SYNTHETIC),
                        *({"singular": each} for each in VALUES)),
    "os.lem1": _at_home, "os.lem2.neg": _minima,
    "os.lemA.2": at(partial(sectors.local_formula, 0, 60), sectors, {"eps_max": BEYOND}),
    "os.norm.log.1": partial(_flows, limit.norms_grow_like_log), "os.prune": _prune,
    "os.tab1": at(cnn.sizes_fit, cnn, {"CONVOLUTIONS": PADDED}),
    "os.thm1.W": lambda: _flows(limit.directions_converge, _short(0, 0.1)),
    "os.thm1.a": lambda: _flows(limit.outer_weights_converge, _other_sign(), column=1),
    "os.thm1.nonempty": _groups, "os.thm1.prob": _often_dead,
}  # fmt: skip

test_a_planted_input_is_seen = sees(PLANTED)
