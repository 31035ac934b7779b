"""The attempt to falsify: planted false claims are found, true ones survive, nothing is hidden."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st
from reluflow import ledger
from reluflow.falsify import (
    Report,
    Statement,
    falsify,
    settle,
    statement,
    survived,
)
from reluflow.flows.affine import affine_flow
from reluflow.geometry import cell_bound, enumerate_cells, local_minima, nested_pairs
from reluflow.instances import (
    ORDINARY,
    any_start,
    data_draws,
    extended,
    interpolated,
    near_boundary_start,
    readable_data,
    realisable,
)
from reluflow.networks import gradient, loss
from reluflow.papers.lee2022support.setting import flows_of, nontrivial, small_flows, unit_of_norm
from reluflow.papers.lee2022support.small_flows import nontrivial_draws

COUNT, FLOWS = 400, 80
"""Draws of an instance, and of one that an exact flow is followed from: about a second each."""


def floats(name: str = "x", size: int = 2, low: float = 0.0):
    return {"uniform": lambda rng: {name: rng.uniform(low, 1.0, size)}}


def budget(statement: Statement) -> int:
    instance = next(iter(statement.draws.values()))(np.random.default_rng(0))
    return FLOWS if "w0" in instance and "w_gm" in instance else COUNT


def test_a_statement_takes_arrays_by_name() -> None:
    tests = {"x is positive": lambda x: min(x) > 0, "two": lambda item: len(item["x"]) == 2}

    @statement("x is at most 1", floats(), tests, strict=True)
    def at_most(x, planted=1.0):
        """The room below 1."""
        return planted - max(x)

    made = at_most()
    assert made is at_most()
    assert at_most.__doc__ == "The room below 1."
    assert (made.says, made.strict, made.fixed) == ("x is at most 1", True, ())
    assert made.slack({"x": [0.25, 0.5]}) == 0.5
    assert made.slack({"x": [0.25, 0.5], "planted": 0.5}) == 0.0
    assert made.unmet({"x": [0.0, 0.5]}) == "x is positive"
    assert made.unmet({"x": [0.5]}) == "two"
    with pytest.raises(KeyError, match="x"):
        made.slack({"planted": 1.0})


# --------------------------------------------------------------------------- planted false claims


def room_of_cells(item) -> float:
    return cell_bound(*item["X"].shape) - len(enumerate_cells(item["X"]))


def path_of(item, points: int = 20):
    path = affine_flow(item["X"], item["y"], item["w0"])
    return path.at(np.unique(np.append(path.grid(points), [0.0, *(e.t for e in path.events)])))


def ball(item, factor: float = 1.0) -> float:
    """x_j.w(t) - y_j + factor |x_j| |w0 - w_GM| >= 0, the floor in Theorem 4.2's proof."""
    radius = np.linalg.norm(item["w0"] - item["w_gm"])
    floor = item["y"] - factor * np.linalg.norm(item["X"], axis=1) * radius
    room = path_of(item, 5) @ item["X"].T - floor
    return float((room / (item["y"] + np.abs(floor))).min())


def smoothness(item) -> float:
    """|grad L(w + e) - grad L(w)| <= 2 |X|^2 |e|, e a thousandth of w along the first datum."""
    X, y, w = item["X"], item["y"], item["w0"]
    e = 1e-6 * np.linalg.norm(w) * X[0] / np.linalg.norm(X[0])
    change = np.linalg.norm(gradient(X, y, w + e) - gradient(X, y, w))
    return float(2.0 - change / np.linalg.norm(X, 2) ** 2 / np.linalg.norm(e))


def nesting(item) -> float:
    pairs = nested_pairs(local_minima(item["X"], item["y"]))
    scale = 0.5 * item["y"] @ item["y"]
    return min([(fewer.loss - more.loss) / scale for more, fewer in pairs], default=np.inf)


def force(item, factor: float = 1.0) -> float:
    """The gradient is X^T times the residuals of the active data, so at most |X|_F sqrt(2 L)."""
    X, y, w = item["X"], item["y"], item["w0"]
    size = np.linalg.norm(X) * np.sqrt(2.0 * loss(X, y, w))
    return float(factor - np.linalg.norm(gradient(X, y, w)) / size)


def norms(item, factor: float = 1.0) -> float:
    x = np.abs(item["x"])
    return float(1.0 - x.sum() / (factor * np.sqrt(x.size) * np.linalg.norm(x)))


def hadamard(item, factor: float = 1.0) -> float:
    X = item["X"]
    return float(factor - abs(np.linalg.det(X)) / np.prod(np.linalg.norm(X, axis=1)))


STARTED = extended(data_draws(2), any_start)
FITTED = extended(extended(data_draws(2), realisable), any_start)
SQUARE = {"normal": lambda rng: {"X": rng.normal(size=(3, 3))}}
FALSE = [
    Statement("tightened by 0.1 %: |grad L|^2 <= 2 L |X|_F^2",
              extended(data_draws(3, (3, 3), ("uniform",)),
                       lambda item, rng: {"w0": 1e-3 * any_start(item, rng)["w0"]}),
              lambda i: force(i, 0.999), fixed=("w0",)),
    Statement("tightened by 1 %: the one-norm", floats(size=12), lambda i: norms(i, 0.99)),
    Statement("tightened by 1 %: Hadamard's bound", SQUARE, lambda i: hadamard(i, 0.99)),
    Statement("tightened by 1 %: the floor of Theorem 4.2",
              extended(extended(data_draws(4, (4, 5), ("uniform",)), realisable), any_start),
              lambda i: ball(i, 0.99), tolerance=1e-9, fixed=("y",), derive=interpolated),
    Statement("strict where equality is generic: Lemma F.2", data_draws(2), room_of_cells,
              strict=True, readable=readable_data(2, (1, 4))),
    Statement("only near boundaries: the gradient is Lipschitz",
              extended(data_draws(2), near_boundary_start), smoothness, tolerance=1e-6),
]  # fmt: skip
NESTING = Statement(
    "Theorem 3.6", data_draws(2, (2, 5)), nesting, tolerance=1e-9, readable=readable_data(2, (1, 4))
)


@pytest.mark.parametrize("statement", FALSE, ids=lambda s: s.says)
def test_planted_false_claims_are_found(statement: Statement) -> None:
    report = falsify(statement, 0, budget(statement))
    assert not report.survives
    assert statement.broken_by(report.counterexample)
    decisive = [item.holds for item in report.checks() if item.decides]
    assert False in decisive


@pytest.mark.parametrize("name", ["the one-norm", "2 L |X|_F^2"])
def test_some_failures_only_the_search_finds(name: str) -> None:
    statement = next(s for s in FALSE if name in s.says)
    for seed in range(3):
        alone = falsify(statement, seed, COUNT, evaluations=0)
        assert alone.survives
        assert (alone.evaluations, alone.counterexample) == (0, None)
        report = falsify(statement, seed, COUNT)
        assert not report.violations
        assert report.search_breaks
        assert not report.survives
        assert statement.broken_by(report.counterexample)


# --------------------------------------------------------------------------- true claims


TRUE = [
    Statement("Lemma F.2 in space", data_draws(3, (3, 6)), room_of_cells),
    Statement("the floor of Theorem 4.2", FITTED, ball, tolerance=1e-9, fixed=("y",),
              derive=interpolated),
    Statement("the one-norm", floats(size=12), norms, tolerance=1e-14),
    Statement("|grad L|^2 <= 2 L |X|_F^2", STARTED, force, tolerance=1e-14),
    Statement("Hadamard's bound", SQUARE, hadamard, tolerance=1e-14),
]  # fmt: skip


@pytest.mark.parametrize("statement", TRUE, ids=lambda s: s.says)
def test_true_claims_survive(statement: Statement) -> None:
    report = falsify(statement, 0, budget(statement) // 2)
    assert report.survives
    with pytest.raises(ValueError, match="no instance was found"):
        _ = report.shrunk
    assert not report.vacuous
    assert report.counterexample is None
    assert report.evaluations == budget(statement) // 4
    assert report.outside < report.evaluations
    assert all(item.holds for item in report.checks() if item.decides)
    assert all(report.met[kind] > 0 for kind in statement.draws)


def test_a_claim_of_ours_that_was_false_is_found() -> None:
    """It took 1e-4 min y_i / |x_i| for small: limits at that norm and at 1e-10 would agree."""
    norms = (1e-4, 1e-7, 1e-10)

    def slack(item) -> float:
        paths = small_flows(item, norms, unit_of_norm)
        if any(path.status != "converged" for path in paths):
            return np.nan
        return agreement(np.array([path.end for path in paths]))

    def agreement(ends) -> float:
        return float(1e-6 - np.ptp(ends, axis=0).max() / np.linalg.norm(ends[-1]))

    def batch(items):
        ends = np.stack([flows.ends for flows in flows_of(items, norms, unit_of_norm)], axis=1)
        return np.array([agreement(row) for row in ends])

    old = Statement("limits at three norms agree", nontrivial_draws(2), slack,
                    {"q(w0) > 0": nontrivial}, batch=batch, fixed=("u",))  # fmt: skip
    for seed in (0, 1, 2):
        report = falsify(old, seed, 300, evaluations=0)  # as many data sets as the page drew
        assert not report.survives
        assert not set(report.violations) & set(ORDINARY)


# --------------------------------------------------------------------------- the counterexample


def test_the_smallest_counterexample_to_theorem_3_6() -> None:
    """Data (1, 0), (1, 1), (0, 1) with labels 2, 1, 1, up to order and to the exchange of axes."""
    report = falsify(NESTING, 0, 40)
    assert sum(report.violations.values()) > 1
    small = report.shrunk
    data = sorted([*map(int, x), int(t)] for x, t in zip(small["X"], small["y"], strict=True))
    swapped = sorted([b, a, t] for a, b, t in data)
    assert [[0, 1, 1], [1, 0, 2], [1, 1, 1]] in (data, swapped)


def test_rounding_where_nothing_is_readable() -> None:
    statement = Statement("x < 0.7", {"one": lambda rng: {"x": np.array([0.71239, 0.1234])}},
                          lambda i: 0.7 - i["x"][0])  # fmt: skip
    small = falsify(statement, 0, 1, evaluations=0).counterexample
    # One digit gives 0.7, which obeys; two give 0.71, and the other entry is of the same array.
    assert small["x"].tolist() == [0.71, 0.12]
    entries = {"x": np.array(0.71239), "y": np.array([0.1234]), "k": np.array(3)}
    apart = Statement("x < 0.7", {"one": lambda rng: entries}, lambda i: 0.7 - float(i["x"]))
    small = falsify(apart, 0, 1, evaluations=0).counterexample
    assert (float(small["x"]), small["y"].tolist(), small["k"]) == (0.71, [0.1], 3)


def test_rounding_keeps_equations() -> None:
    draws = {"one": lambda rng: {"x": np.array([0.7123, 0.2345]), "y": np.array(0.7123 + 0.2345)}}
    equation = {"y = sum x": lambda i: bool(i["y"] == i["x"].sum())}
    statement = Statement("y < 0.9", draws, lambda i: 0.9 - float(i["y"]), equation,
                          derive=lambda i: {**i, "y": i["x"].sum()})  # fmt: skip
    report = falsify(statement, 0, 4, evaluations=8)
    assert report.outside == 0
    small = report.counterexample
    assert statement.broken_by(small)
    assert small["y"] == small["x"].sum()
    assert small["x"].tolist() != [0.7123, 0.2345]
    # Without it, neither the search nor the rounding can move.
    stuck = falsify(Statement("y < 0.9", draws, lambda i: 0.9 - float(i["y"]), equation), 0, 4, 8)
    assert stuck.outside > 0
    assert stuck.counterexample["x"].tolist() == [0.7123, 0.2345]


def test_the_readable_instance_meets_the_hypotheses() -> None:
    statement = Statement(
        "even numbers stay below 7",
        {"whole": lambda rng: {"k": rng.integers(0, 100)}},
        lambda i: 6.5 - float(i["k"]),
        {"even": lambda i: i["k"] % 2 == 0},
        readable=st.integers(0, 1000).map(lambda k: {"k": k}),
    )
    report = falsify(statement, 0, 50)
    assert report.counterexample == {"k": 8}
    assert 0 < report.rejected["even"] < 50
    # An unreadable failure still comes with an instance.
    far = Statement("x < 0.9", floats(), lambda i: 0.9 - i["x"][0],
                    readable=st.just({"x": np.zeros(2)}))  # fmt: skip
    assert far.broken_by(falsify(far, 0, 50).counterexample)


# --------------------------------------------------------------------------- corner cases


def test_hypotheses_that_never_hold() -> None:
    statement = Statement("empty", floats(), lambda i: -1.0, {"never": lambda i: False})
    report = falsify(statement, 0, 30)
    assert report.rejected == {"never": 30}
    assert (report.tried, report.rate, report.evaluations) == (0, 0.0, 0)
    assert report.vacuous
    assert report.survives
    assert report.smallest == report.lowest == np.inf
    assert report.worst is report.lowest_at is report.counterexample is None
    (share,) = [item for item in report.checks() if "share" in item.what]
    assert (share.value, share.holds) == (0.0, False)


def test_the_first_hypothesis_unmet_is_counted() -> None:
    tests = {"first": lambda i: i["x"][0] > 0.5, "second": lambda i: i["x"][1] > 0.5}
    report = falsify(Statement("two", floats(), lambda i: 1.0, tests), 0, 400, 0)
    assert report.rejected["first"] == pytest.approx(200, abs=40)
    assert report.rejected["second"] == pytest.approx(100, abs=40)
    assert report.tried == 400 - sum(report.rejected.values())


def test_undecided_slacks() -> None:
    some = Statement("half", floats(), lambda i: np.nan if i["x"][0] < 0.5 else i["x"][0] - 0.4)
    report = falsify(some, 0, 100)
    assert 20 < report.undecided < 80
    assert report.tried == 100 - report.undecided
    # The worst is the least of those that are decided, and the search stays among them.
    assert 0.5 <= report.worst["x"][0] < 0.6
    assert report.lowest == pytest.approx(0.1, abs=0.01)
    assert report.survives
    notes = [e.value for e in report.checks() if "not be decided" in e.what]
    assert notes == [report.undecided]
    never = falsify(Statement("none", floats(), lambda i: np.nan), 0, 100)
    assert never.undecided == 100
    assert never.vacuous
    assert never.smallest == np.inf
    assert not all(item.holds for item in never.checks() if item.decides)


@pytest.mark.filterwarnings("error")
def test_infinite_slacks() -> None:
    silent = falsify(Statement("nothing to say", floats(), lambda i: np.inf), 0, 50, 400)
    assert silent.vacuous
    assert silent.survives
    assert not all(item.holds for item in silent.checks() if item.decides)
    broken = falsify(Statement("far", floats(), lambda i: -np.inf), 0, 50, 400)
    assert sum(broken.violations.values()) == 50
    assert broken.smallest == broken.lowest == -np.inf
    assert broken.counterexample is not None
    only_draws = falsify(Statement("far", floats(), lambda i: -1.0), 0, 50, 0)
    assert (only_draws.search_breaks, only_draws.survives) == (False, False)
    mixed = Statement("half", floats(), lambda i: np.inf if i["x"][0] < 0.5 else 1.0)
    assert not falsify(mixed, 0, 50).vacuous


class Planted(Exception):
    """What a test raises."""


def test_exceptions_come_out() -> None:
    def bad(item):
        raise Planted

    with pytest.raises(Planted):
        falsify(Statement("draw", {"one": bad}, lambda i: 1.0), 0, 5)
    with pytest.raises(Planted):
        falsify(Statement("slack", floats(), bad), 0, 5)
    with pytest.raises(Planted):
        falsify(Statement("hypothesis", floats(), lambda i: 1.0, {"bad": bad}), 0, 5)

    def later(item):
        if item["x"][0] > 1.05:  # no draw goes there, the search does
            raise Planted
        return 2.0 - item["x"][0]

    with pytest.raises(Planted):
        falsify(Statement("search", floats(), later), 0, 100)


def test_arguments_that_are_refused() -> None:
    fine = Statement("fine", floats(), lambda i: 1.0)
    for count in (0, -3):
        with pytest.raises(ValueError, match="count"):
            falsify(fine, 0, count)
    with pytest.raises(ValueError, match="evaluations"):
        falsify(fine, 0, 3, -1)
    with pytest.raises(ValueError, match="draws"):
        falsify(Statement("no draws", {}, lambda i: 1.0), 0, 3)


def test_strict_and_tolerance() -> None:
    def at(value: float, **kinds) -> Report:
        draws = {"one": lambda rng: {"k": np.array(1)}}
        return falsify(Statement("edge", draws, lambda i: value, **kinds), 0, 2)

    assert at(0.0).survives
    assert not at(-1e-300).survives
    assert not at(0.0, strict=True).survives
    assert at(1e-300, strict=True).survives
    assert at(-1e-9, tolerance=1e-9).survives
    assert not at(-1.001e-9, tolerance=1e-9).survives
    assert not at(1e-9, strict=True, tolerance=1e-9).survives
    assert at(1.001e-9, strict=True, tolerance=1e-9).survives


def test_strict_claims_need_equality_and_not_its_limit() -> None:
    def slack(item):
        return float(abs(item["x"][0] - item["x"][1]))

    whole = st.tuples(st.integers(1, 5), st.integers(1, 5))
    readable = whole.map(lambda v: {"x": np.array(v, float)})
    statement = Statement("x_1 is not x_2", floats(), slack, strict=True, tolerance=1e-2)
    near = falsify(statement, 0, 40)
    if near.survives:  # no draw is that near
        assert near.lowest <= 1e-2
    exact = Statement("x_1 is not x_2", floats(), slack, strict=True, tolerance=1e-9,
                      readable=readable)  # fmt: skip
    found = falsify(exact, 0, 40, evaluations=400)
    assert not found.violations
    assert found.search_breaks
    assert found.counterexample["x"].tolist() == [1.0, 1.0]
    limit = Statement("x_1 is positive", floats(), lambda i: float(i["x"][0]), strict=True,
                      tolerance=1e-9, readable=readable)  # fmt: skip
    report = falsify(limit, 0, 40, evaluations=1000)
    assert 0 < report.lowest < 1e-9
    assert report.survives
    assert report.counterexample is None


def test_the_search_moves_floats_and_nothing_else() -> None:
    seen = []

    def slack(item) -> float:
        seen.append(item)
        return float(item["positive"].sum() + np.abs(item["signed"]).sum() + item["fixed"].sum())

    start = {
        "positive": np.array([[1.0, 0.0], [2.0, 3.0]]),
        "signed": np.array([1.0, -1.0, 0.0]),
        "zero": np.zeros(2),
        "fixed": np.ones(2),
        "whole": np.array([1, 2]),
        "number": 3,
        "scalar": np.array(2.0),
        "text": "name",
    }
    statement = Statement("moves", {"one": lambda rng: start}, slack, fixed=("fixed",))
    report = falsify(statement, 0, 1, evaluations=300)
    moved = seen[1:]
    assert len(moved) == 300
    for name in ("zero", "fixed", "whole", "number", "text"):
        assert all(np.array_equal(item[name], start[name]) for item in moved)
        assert type(moved[0][name]) is type(start[name])
    positive = np.array([item["positive"] for item in moved])
    assert np.all(positive[:, 0, 1] == 0)
    assert np.all(np.delete(positive.reshape(-1, 4), 1, axis=1) > 0)
    assert np.ptp(positive[:, 1, 1]) > 0.5
    signed = np.array([item["signed"] for item in moved])
    assert np.ptp(signed[:, 2]) > 0.01  # zeros of a signed array move
    assert np.ptp([float(item["scalar"]) for item in moved]) > 0.01
    assert report.lowest < 0.5 * slack(start)
    assert start["positive"].tolist() == [[1.0, 0.0], [2.0, 3.0]]


def test_an_array_that_has_a_negative_entry_somewhere_may_change_sign() -> None:
    values = {"above": 0.3, "below": -30.0}
    draws = {k: lambda rng, v=v: {"x": np.array([v, 1.0])} for k, v in values.items()}
    # The worst is (0.3, 1), and lower slacks lie beyond zero; at (-30, 1) the slack is flat.
    statement = Statement("sign", draws, lambda i: 2.0 - np.exp(-((i["x"][0] + 0.2) ** 2)))
    report = falsify(statement, 0, 2, 200)
    assert report.worst["x"][0] == 0.3
    assert report.lowest == pytest.approx(1.0, abs=1e-3)
    assert report.lowest_at["x"][0] == pytest.approx(-0.2, abs=0.05)
    alone = falsify(Statement("sign", {"above": draws["above"]}, statement.slack), 0, 2, 200)
    assert alone.lowest_at["x"][0] > 0


def test_the_search_stays_inside_the_hypotheses() -> None:
    statement = Statement("x > 1/4", floats(), lambda i: i["x"][0] - 0.2,
                          {"x > 1/4": lambda i: i["x"][0] > 0.25})  # fmt: skip
    report = falsify(statement, 0, 100)
    assert report.survives
    assert report.outside > 5
    assert 0.05 < report.lowest < 0.051
    assert statement.unmet(report.lowest_at) is None


def test_starts_of_several_kinds() -> None:
    """The worst instances of one kind lie where the slack is flat; another kind leads down."""
    draws = {
        "flat": lambda rng: {"x": np.array([5.0]), "k": np.array(0)},
        "steep": lambda rng: {"x": rng.uniform(1.0, 2.0, 1), "k": np.array(1)},
    }
    statement = Statement("kinds", draws, lambda i: 0.5 if i["k"] == 0 else float(i["x"][0] - 0.4))
    report = falsify(statement, 0, 20, 200)
    assert report.worst["k"] == 0
    assert report.search_breaks
    assert report.counterexample["k"] == 1


def test_the_seed_decides() -> None:
    statement = next(s for s in FALSE if "Hadamard" in s.says)
    first, again, other = (falsify(statement, seed, 100) for seed in (3, 3, 4))
    assert np.array_equal(first.worst["X"], again.worst["X"])
    assert np.array_equal(first.counterexample["X"], again.counterexample["X"])
    assert (first.smallest, first.lowest, first.evaluations) == (
        again.smallest,
        again.lowest,
        again.evaluations,
    )
    assert first.smallest != other.smallest


def test_the_seed_decides_which_readable_instances_are_tried() -> None:
    def tried(seed: int) -> list[tuple[float, int]]:
        seen = []

        def slack(item) -> float:
            seen.append(item["x"])
            return 9.5 - sum(item["x"])

        draws = {"one": lambda rng: {"x": (5.0, 5)}}
        readable = st.tuples(st.floats(0.0, 5.0), st.integers(0, 5)).map(lambda v: {"x": v})
        falsify(Statement("sum", draws, slack, readable=readable), seed, 1, 0)
        return seen

    assert tried(5) == tried(5)
    assert tried(5) != tried(6)


def test_zeros_cost_the_search_nothing() -> None:
    start = {"x": np.append(np.zeros(40), [1.0, 2.0])}
    statement = Statement("sum", {"one": lambda rng: start}, lambda i: float(i["x"].sum()))
    assert falsify(statement, 0, 1, 40).lowest < 0.1


@pytest.mark.filterwarnings("error")
def test_arrays_that_are_not_finite_stay() -> None:
    start = {"x": np.ones(1), "limits": np.array([-np.inf, np.inf, np.nan])}
    seen = []

    def slack(item) -> float:
        seen.append(item["limits"])
        return float(item["x"][0])

    report = falsify(Statement("limits", {"one": lambda rng: start}, slack), 0, 1, 50)
    assert report.lowest < 0.1
    assert all(np.array_equal(v, start["limits"], equal_nan=True) for v in seen)


def test_the_budget() -> None:
    calls = Counter()

    def slack(item) -> float:
        calls["slack"] += 1
        return 1.0 + float(item["x"].sum())

    for count, evaluations in ((40, None), (401, None), (40, 7), (600, 0)):
        calls.clear()
        report = falsify(Statement("budget", floats(), slack), 0, count, evaluations)
        more = count // 2 if evaluations is None else evaluations
        assert report.evaluations == more
        assert calls["slack"] == count + more
    calls.clear()
    several = {kind: floats()["uniform"] for kind in ("a", "b", "c", "d")}
    report = falsify(Statement("budget", several, slack), 0, 40, 200)
    assert (report.evaluations, calls["slack"]) == (200, 240)


def test_batches() -> None:
    sizes = []

    def batch(items):
        sizes.append(len(items))
        return np.array([i["x"][0] for i in items])

    def slack(item) -> float:
        return float(item["x"][0])

    plain = falsify(Statement("plain", floats(), slack), 0, 600, 0)
    fast = falsify(Statement("fast", floats(), slack, batch=batch), 0, 600, 0)
    assert sum(sizes) == 600
    assert len(sizes) < 10
    assert (fast.smallest, fast.tried) == (plain.smallest, plain.tried)
    none = Statement("none", floats(), slack, {"never": lambda i: False}, batch=batch)
    assert falsify(none, 0, 20).vacuous

    # What the batch cannot tell, or says is broken, the slack decides.
    def careless(items):
        return np.array([np.nan if k % 2 else -1.0 for k in range(len(items))])

    asked = falsify(Statement("asked", floats(), slack, batch=careless), 0, 30, 0)
    assert (asked.undecided, asked.violations) == (0, {})
    for shape in ((3,), (30, 1), ()):
        wrong = Statement("shape", floats(), slack, batch=lambda items, s=shape: np.ones(s))
        with pytest.raises(ValueError, match="shape"):
            falsify(wrong, 0, 30)


def test_kinds_come_in_turn_and_are_reported() -> None:
    draws = {
        "low": lambda rng: {"x": np.array(-1.0)},
        "high": lambda rng: {"x": np.array(1.0)},
        "out": lambda rng: {"x": np.array(9.0)},
    }
    statement = Statement("x > 0", draws, lambda i: float(i["x"]), {"x < 5": lambda i: i["x"] < 5})
    report = falsify(statement, 0, 8)
    assert report.met == {"low": 3, "high": 3, "out": 0}
    assert report.violations == {"low": 3}
    assert report.rejected == {"x < 5": 2}


# --------------------------------------------------------------------------- what is reported


def test_evidence() -> None:
    told = Statement("good", floats(), lambda i: 0.123456)
    sizes = "sizes of 5, 50 and 95 % of their entries, at most"
    says = {item.what: item.value for item in falsify(told, 7, 40).checks("mine")}
    assert says == {
        "mine: instances that break it": 0,
        "mine: broken by a search of 20 evaluations from the worst": False,
        "instances tried, and drawn": (40, 40),
        sizes: says[sizes],
        "smallest slack of those": 0.12,
    }
    # An aggregation that was turned round tells another slack.
    turned = {
        item.what: item.value
        for item in falsify(replace(told, slack=lambda i: 1.0), 7, 40).checks("mine")
    }
    assert {name for name in says if says[name] != turned[name]} == {"smallest slack of those"}
    unsteady = falsify(replace(told, steady=False), 7, 40).checks()
    assert "smallest slack of those" not in [item.what for item in unsteady]
    loose = falsify(replace(told, tolerance=0.2), 7, 40).checks()
    assert [item.value for item in loose if item.what == "smallest slack of those"] == [0.0]
    # Rounding differs from CPU to CPU: it is recorded as zero.
    tiny = falsify(Statement("tiny", floats(), lambda i: 1.7e-17), 7, 40)
    assert {item.what: item.value for item in tiny.checks()}["smallest slack of those"] == 0.0
    bad = falsify(Statement("bad", floats(), lambda i: -1.0), 7, 40).checks()
    assert [item.holds for item in bad if item.decides] == [False, False]
    assert bad[0].what == "bad: instances that break it"


# --- settle and survey ----------------------------------------------------------------------------


def positive(**given: object) -> Statement:
    """That a number between 0 and 1 is above a quarter, or what is given in place of that."""
    parts = {"says": "x > 1/4", "draws": {"uniform": lambda rng: {"x": rng.uniform(0, 1, 1)}}}
    return Statement(**{**parts, "slack": lambda item: item["x"][0] - 0.25, **given})


def test_settling_tries_with_the_ledgers_seed() -> None:
    claims = ledger.open("lee2022support", seed=7)
    sure = positive(says="x > 0", slack=lambda item: item["x"][0])
    row = settle(claims, "sv.lem4.5", (sure, 40, 0), more=[ledger.note("n", 1)])
    assert claims.settled["sv.lem4.5"] is row
    assert row.verdict == "reproduced"
    told = {item.what: item.value for item in row.evidence}
    assert told["seed"] == 7
    assert told["n"] == 1
    assert told["x > 0: instances that break it"] == 0
    # A report that was made before counts with its own seed, and a seed is told once.
    report = falsify(sure, 7, 40, 0)
    again = settle(claims, "sv.lemF.7", report, report)
    assert [item.value for item in again.evidence if item.what == "seed"] == [7]
    other = settle(claims, "sv.lemF.10", report, falsify(sure, 8, 40, 0))
    assert [item.value for item in other.evidence if item.what == "seed"] == [7, 8]


def test_several_statements_are_counted_together_with_the_slack_of_each() -> None:
    sure = positive(says="x > 0", slack=lambda item: item["x"][0])
    report, other = (
        falsify(sure, 7, 40, 0),
        falsify(positive(says="x > -1/2", slack=lambda item: item["x"][0] + 0.5), 7, 40, 0),
    )
    told = {item.what: item.value for item in survived(report, other) if not item.decides}
    assert told["instances drawn"] == told["instances tried"] == (40, 40)
    assert told["smallest slacks"][1] == pytest.approx(told["smallest slacks"][0] + 0.5, abs=0.01)
    assert told["seed"] == 7


def test_settling_a_false_claim_takes_its_counterexample() -> None:
    claims = ledger.open("lee2022support")

    def case(report: Report) -> ledger.Counterexample:
        x = float(report.counterexample["x"][0])
        broken, again = (ledger.bound(name, x - 0.25, ">=", 0, "") for name in ("x", "x, again"))
        return ledger.Counterexample({"x": x}, {"0 < x < 1": True}, (broken,), (again,), "again")

    row = settle(claims, "sv.lem4.5", (positive(), 40, 0), case=case)
    assert row.verdict == "refuted"
    assert row.counterexample.breaks[0].value < 0
    made = settle(claims, "sv.lemF.9.1", (positive(), 40, 0), case=row.counterexample)
    assert made.counterexample == row.counterexample
    with pytest.raises(ledger.LedgerError):  # it is false, and no counterexample is shown
        settle(claims, "sv.lemF.7", (positive(), 40, 0))
