"""The attempt to falsify: planted false claims are found, true ones survive, nothing is hidden; and
every check can fail: at its statement's witness it does, and nothing weakens it in silence."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import example
from hypothesis import given as drawn_of
from hypothesis import strategies as st
from papers.faults import settled_without
from reluflow import ledger
from reluflow.falsify import Report, Statement, falsify, given, settle, statement
from reluflow.falsify.attempt import FIXED, WITNESS
from reluflow.falsify.statement import Witness, decoded, encoded, slack_at, witness
from reluflow.ledger.cards import page_card
from reluflow.ledger.evidence import SURVEY
from reluflow.ledger.inventory import Claim, Inventory
from reluflow.ledger.rows import Ledger, Row, row_from_record
from reluflow.places import CHAPTERS, LIBRARY, WITNESSES


def floats(size: int = 2):
    return {"uniform": lambda rng: {"x": rng.uniform(0.0, 1.0, size)}}


def tried(slack, count: int = 40, evaluations: int | None = None, seed: int = 0, **given) -> Report:
    """What is found of the statement that this slack is not negative, of two numbers in (0, 1)."""
    parts = {"says": "x", "draws": floats(), "slack": slack, **given}
    return falsify(Statement(**parts), seed, count, evaluations)


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


def test_a_bound_stands_and_one_that_is_tightened_falls() -> None:
    """|x|_1 <= sqrt(12) |x|_2 in twelve dimensions, and 0.99 of that."""

    def slack(item, factor: float = 1.0) -> float:
        x = np.abs(item["x"])
        return float(1.0 - x.sum() / (factor * np.sqrt(x.size) * np.linalg.norm(x)))

    parts = {"draws": floats(size=12), "tolerance": 1e-9}
    report = tried(slack, 200, **parts)
    assert report.survives
    assert not report.vacuous
    assert report.counterexample is None
    assert report.evaluations == 100
    assert report.outside < report.evaluations
    assert all(item.holds for item in report.checks() if item.decides)
    with pytest.raises(ValueError, match="no instance was found"):
        _ = report.shrunk
    tight = {**parts, "slack": lambda item: slack(item, 0.99)}
    for seed in range(4):  # some failures only the search finds
        assert tried(count=400, evaluations=0, seed=seed, **tight).survives
        report = tried(count=400, seed=seed, **tight)
        assert (report.violations, report.search_breaks, report.survives) == ({}, True, False)
        assert Statement("x", **tight).broken_by(report.counterexample)
        assert False in [item.holds for item in report.checks() if item.decides]


def test_rounding_where_nothing_is_readable() -> None:
    one = {"one": lambda rng: {"x": np.array([0.71239, 0.1234])}}
    small = tried(lambda i: 0.7 - i["x"][0], 1, 0, draws=one).counterexample
    # One digit gives 0.7, which obeys; two give 0.71, and the other entry is of the same array.
    assert small["x"].tolist() == [0.71, 0.12]
    entries = {"x": np.array(0.71239), "y": np.array([0.1234]), "k": np.array(3)}
    one = {"one": lambda rng: entries}
    small = tried(lambda i: 0.7 - float(i["x"]), 1, 0, draws=one).counterexample
    assert (float(small["x"]), small["y"].tolist(), small["k"]) == (0.71, [0.1], 3)


def test_rounding_keeps_equations() -> None:
    draws = {"one": lambda rng: {"x": np.array([0.7123, 0.2345]), "y": np.array(0.7123 + 0.2345)}}
    equation = {"y = sum x": lambda i: bool(i["y"] == i["x"].sum())}
    parts = {"draws": draws, "hypotheses": equation, "slack": lambda i: 0.9 - float(i["y"])}
    report = tried(**parts, count=4, evaluations=8, derive=lambda i: {**i, "y": i["x"].sum()})
    assert report.outside == 0
    small = report.counterexample
    assert 0.9 < small["y"] == small["x"].sum()
    assert small["x"].tolist() != [0.7123, 0.2345]
    # Without it, neither the search nor the rounding can move.
    stuck = tried(**parts, count=4, evaluations=8)
    assert stuck.outside > 0
    assert stuck.counterexample["x"].tolist() == [0.7123, 0.2345]


def test_the_readable_instance_meets_the_hypotheses() -> None:
    report = tried(
        lambda i: 6.5 - float(i["k"]),
        draws={"whole": lambda rng: {"k": rng.integers(0, 100)}},
        hypotheses={"even": lambda i: i["k"] % 2 == 0},
        readable=st.integers(0, 1000).map(lambda k: {"k": k}),
    )
    assert report.counterexample == {"k": 8}
    assert 0 < report.rejected["even"] < 40
    # An unreadable failure still comes with an instance.
    far = tried(lambda i: 0.9 - i["x"][0], readable=st.just({"x": np.zeros(2)}))
    assert far.counterexample["x"][0] > 0.9


SLACKS = (-np.inf, -1.0, -1e-9, 0.0, 1e-9, 0.5, np.inf, np.nan)


@example([(np.inf, True, True)], 50, 1, False, True, False, 0.0)
@example([(0.5, True, True), *[(0.5, False, True)] * 299], 600, 1, False, True, False, 0.0)
@example([(0.5, True, True), *[(0.5, False, True)] * 29], 600, 1, False, True, False, 0.0)
@drawn_of(
    st.lists(st.tuples(st.sampled_from(SLACKS), st.booleans(), st.booleans()), min_size=1),
    st.integers(1, 600),
    st.integers(1, 3),
    *(st.booleans(),) * 3,
    st.sampled_from([0.0, 1e-9]),
)
def test_a_report_counts_what_was_drawn(table, count, kinds, strict, steady, batched, tolerance):
    """Of whole numbers k, with a table of their slacks and of whether they meet two hypotheses.
    What a batch cannot tell, or says is broken, the slack decides."""

    def fails(slack: float) -> bool:
        return slack <= tolerance if strict else slack < -tolerance

    def batch(items) -> np.ndarray:
        asked.append(len(items))
        return np.resize([np.nan, -1.0], len(items))

    def draw(rng) -> dict:
        return {"k": int(rng.integers(len(table)))}

    asked: list[int] = []
    report = tried(
        lambda item: table[item["k"]][0], count, 0, 3, strict=strict, tolerance=tolerance,
        draws=dict.fromkeys("abc"[:kinds], draw), batch=batch if batched else None, steady=steady,
        hypotheses={name: lambda item, j=j: table[item["k"]][j] for j, name in enumerate("xy", 1)},
    )  # fmt: skip
    rng = np.random.default_rng(3)
    drawn = [("abc"[k % kinds], *table[rng.integers(len(table))]) for k in range(count)]
    unmet = ["" if x and y else "y" if x else "x" for *_, x, y in drawn]
    known = [(kind, v) for (kind, v, x, y) in drawn if x and y]
    decided, broken = [v for _, v in known if v == v], [kind for kind, v in known if fails(v)]
    least = min(decided, default=np.inf)
    assert report.rejected == {name: unmet.count(name) for name in "xy" if name in unmet}
    assert (report.tried, report.undecided) == (len(decided), len(known) - len(decided))
    assert report.violations == {kind: broken.count(kind) for kind in "abc" if kind in broken}
    assert report.smallest == report.lowest == least
    assert report.rate == pytest.approx(len(known) / count)
    assert report.vacuous == (len(decided) < max(1, 0.01 * count) or least == np.inf)
    assert report.survives == (report.counterexample is None) == (not broken)
    if broken:
        slack, *met = table[report.counterexample["k"]]
        assert all([fails(slack), *met])
    noted = {item.what: item.value for item in report.checks()}.get("smallest slack of those")
    told = steady and np.isfinite(least)
    assert noted == ((0.0 if abs(least) <= tolerance else least) if told else None)
    holds = [item.holds for item in report.checks() if item.decides]
    assert all(holds) == (not broken and not report.vacuous)
    assert not batched or (sum(asked) == len(known) and len(asked) <= 3)


@pytest.mark.filterwarnings("error")
def test_the_search_stays_among_what_is_decided_and_takes_infinite_slacks() -> None:
    report = tried(lambda i: np.nan if i["x"][0] < 0.5 else i["x"][0] - 0.4, 100)
    assert report.lowest == pytest.approx(0.1, abs=0.01)
    assert report.survives
    for slack in (np.inf, -np.inf):
        assert tried(lambda i, v=slack: v, 50, 400).lowest == slack


def test_exceptions_come_out() -> None:
    def bad(item):
        raise ZeroDivisionError

    def later(item):  # no draw goes there, the search does
        return bad(item) if item["x"][0] > 1.05 else 2.0 - item["x"][0]

    for name, part in (("draws", {"one": bad}), ("slack", bad), ("hypotheses", {"bad": bad}),
                       ("slack", later)):  # fmt: skip
        with pytest.raises(ZeroDivisionError):
            tried(**{"slack": lambda i: 1.0, name: part}, count=100)
    for arguments, word in (((0,), "count"), ((3, -1), "evaluations")):
        with pytest.raises(ValueError, match=word):
            tried(lambda i: 1.0, *arguments)
    for wrong, said in (({"draws": {}}, "has no draws"),
                        ({"batch": lambda items: np.ones(3)}, "argument 2 is longer")):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            tried(lambda i: 1.0, **wrong)
    readable = st.integers(0, 9).map(lambda k: {"x": np.array([k, 0])})
    with pytest.raises(ZeroDivisionError):  # no draw is above 1, a readable instance is
        tried(lambda i: later(i) - 1.5, 40, 0, readable=readable)


def test_strict_claims_need_equality_and_not_its_limit() -> None:
    whole = st.tuples(st.integers(1, 5), st.integers(1, 5))
    readable = whole.map(lambda v: {"x": np.array(v, float)})
    kinds = {"strict": True, "tolerance": 1e-9, "readable": readable}
    found = tried(lambda i: float(abs(i["x"][0] - i["x"][1])), 40, 400, **kinds)
    assert (found.violations, found.search_breaks) == ({}, True)
    assert found.counterexample["x"].tolist() == [1.0, 1.0]
    report = tried(lambda i: float(i["x"][0]), 40, 1000, **kinds)
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

    def slack(item) -> float:
        """The worst is (0.3, 1), and lower slacks lie beyond zero; at (-30, 1) it is flat."""
        return 2.0 - np.exp(-((item["x"][0] + 0.2) ** 2))

    assert tried(slack, 2, 200, draws=draws).lowest == pytest.approx(1.0, abs=1e-3)
    alone = tried(slack, 2, 200, draws={"above": draws["above"]})
    assert alone.lowest > 2.0 - np.exp(-0.04)  # the slack at 0


def test_the_search_stays_inside_the_hypotheses() -> None:
    inside = {"x > 1/4": lambda i: i["x"][0] > 0.25}
    report = tried(lambda i: i["x"][0] - 0.2, 100, hypotheses=inside)
    assert report.survives
    assert report.outside > 5
    assert 0.05 < report.lowest < 0.051


def test_the_seed_decides_which_readable_instances_are_tried() -> None:
    draws = {"one": lambda rng: {"x": (5.0, 5)}}
    readable = st.tuples(st.floats(0.0, 5.0), st.integers(0, 5)).map(lambda v: {"x": v})
    runs = ([], [], [])
    for seen, seed in zip(runs, (5, 5, 6), strict=True):
        tried(lambda i, s=seen: s.append(i["x"]) or 9.5 - sum(i["x"]), 1, 0, seed,
              draws=draws, readable=readable)  # fmt: skip
    assert runs[0] == runs[1] != runs[2]


def test_zeros_cost_the_search_nothing() -> None:
    start = {"x": np.append(np.zeros(40), [1.0, 2.0])}
    assert tried(lambda i: i["x"].sum(), 1, 40, draws={"one": lambda rng: start}).lowest < 0.1


@pytest.mark.parametrize(
    ("kinds", "count", "evaluations", "more"),
    [("a", 40, None, 20), ("a", 401, None, 200), ("a", 40, 7, 7), ("abcd", 40, 200, 200)],
)
def test_the_budget(kinds, count, evaluations, more) -> None:
    seen = []
    draws = {kind: floats()["uniform"] for kind in kinds}
    report = tried(lambda i: seen.append(i) or 1.0, count, evaluations, draws=draws)
    assert (report.evaluations, len(seen)) == (more, count + more)


def test_settling_tries_with_the_ledgers_seed() -> None:
    claims = ledger.open("lee2022support", seed=7)
    sure = Statement("x > 0", floats(), lambda item: item["x"][0])
    row = settle(claims, "sv.lem4.5", (sure, 40, 0), more=[ledger.note("n", 1)])
    assert claims.settled["sv.lem4.5"] is row
    assert row.verdict == "reproduced"
    told = {item.what: item.value for item in row.evidence}
    assert (told["seed"], told["n"], told["x > 0: instances that break it"]) == (7, 1, 0)
    # A report that was made before counts with its own seed, and a seed is told once.
    report = falsify(sure, 7, 40, 0)
    again = settle(claims, "sv.lemF.7", report, report)
    assert [item.value for item in again.evidence if item.what == "seed"] == [7]
    other = settle(claims, "sv.lemF.10", report, falsify(sure, 8, 40, 0))
    assert [item.value for item in other.evidence if item.what == "seed"] == [7, 8]


# --- Claims of our own: their hypotheses are printed and tested, their verdicts are theirs --------


SENTENCES = {"positive": "$x > 0$.", "small": "$x < 10$."}
CLAIM = Claim("sv.ours.x", "paper", "repaired", "theorem", "$x^2 > 0$.", None, SENTENCES)
TESTS = {"$x > 0$.": lambda item: item["x"] > 0, "$x < 10$.": lambda item: item["x"] < 10}


def ledger_of_our_own() -> Ledger:
    return Ledger("paper", {CLAIM.id: CLAIM})


def squares(hypotheses: dict) -> Statement:
    draws = {"any": lambda rng: {"x": rng.normal()}}
    return Statement("squares", draws, lambda item: item["x"] ** 2, hypotheses, strict=True)


def settled(tests: dict) -> Row:
    return settle(ledger_of_our_own(), CLAIM.id, (squares(tests), 20, 0))


def returned(row: Row, claim: Claim = CLAIM) -> Row:
    """The row after its record went through a notebook's file."""
    return row_from_record(json.loads(json.dumps(row.record())), {CLAIM.id: claim})


def test_a_survey_under_the_printed_hypotheses_settles_and_under_others_does_not() -> None:
    row = settled(TESTS)
    assert row.verdict == "survived"
    assert returned(row) == row
    for left_out in TESTS:
        tests = {sentence: test for sentence, test in TESTS.items() if sentence != left_out}
        message = re.escape(f"does not test the hypothesis {left_out!r}")
        with pytest.raises(ledger.LedgerError, match=message):
            settled(tests)
    with pytest.raises(ledger.LedgerError, match=r"tests the hypothesis '\$d = 5\$\.'"):
        settled(TESTS | {"$d = 5$.": lambda item: True})
    # A sentence that is narrowed in the inventory no longer fits the record.
    with pytest.raises(ledger.LedgerError, match="the hypothesis"):
        returned(row, replace(CLAIM, given=SENTENCES | {"small": "$x < 1$."}))


@pytest.mark.parametrize(
    ("known", "verdict"),
    [
        (ledger.proved("this section"), "proved"),
        (ledger.cited("this section", "Theorem 1 of Some One"), "proved-with-citation"),
    ],
)
def test_a_proof_is_its_own_verdict_and_never_reproduced(known, verdict: str) -> None:
    row = ledger_of_our_own().settle(CLAIM.id, [ledger.fact("identity", True, True)], known=known)
    assert row.verdict == verdict
    assert returned(row) == row
    with pytest.raises(ledger.LedgerError, match="its evidence says"):
        returned(replace(row, verdict="reproduced"))


def test_what_was_chosen_after_seeing_is_told_and_recorded() -> None:
    late = ledger.fact("bar", 1, 1, after="set when a fifth of the run was over")
    row = ledger_of_our_own().settle(CLAIM.id, [late], known=ledger.proved("here"))
    told = "chosen after seeing: set when a fifth of the run was over"
    assert told in str(row)
    assert told in page_card(row, [], "chapters/x")
    assert returned(row) == row


# The hypotheses in the inventory


def test_a_statement_takes_its_hypotheses_from_the_inventory(monkeypatch) -> None:
    ours = Inventory("paper", "t", "", True, (CLAIM,))
    monkeypatch.setattr(sys.modules[given.__module__], "load_inventories", lambda: [ours])
    tests = dict(zip(SENTENCES, TESTS.values(), strict=True))
    found = given(CLAIM.id, **dict(reversed(tests.items())))
    assert [*found.items()] == [*TESTS.items()]
    assert falsify(squares(found), 0, 20, 0).checks()[0].given == tuple(SENTENCES.values())
    with pytest.raises(ValueError, match="the hypothesis 'positive' is only in the inventory"):
        given(CLAIM.id, small=tests["small"])
    with pytest.raises(ValueError, match="the hypothesis 'tame' is only tested"):
        given(CLAIM.id, **tests, tame=lambda item: True)
    with pytest.raises(ValueError, match=r"no claim of our own 'sv\.ours\.y'"):
        given("sv.ours.y", **tests)


# --- Witnesses ------------------------------------------------------------------------------------


SUM = Statement(
    "x₁ + x₂ is at most 2",
    floats(),
    lambda item: float(2.0 - item["x"].sum()),
    {"at most 1": lambda item: bool((item["x"] <= 1.0).all())},
    witness={"x": np.array([3.0, 0.5])},
)
AT = Witness({"x": np.array([3.0, 0.5])}, rejects={"at most 1": {"x": np.array([2.0, 0.0])}})


@pytest.mark.long
def test_every_statement_that_stands_has_a_witness() -> None:
    lacking = {}
    for row in (row for row in ledger.read(CHAPTERS) if row.counterexample is None):
        # Surveys that found nothing, and how little was missing at which witnesses.
        stand = [e for e in row.evidence if e.tried and e.holds and SURVEY.fullmatch(e.what)]
        told = [e.value for e in row.evidence if e.what in (WITNESS, FIXED) and not e.decides]
        if len(stand) > sum(len(v) if isinstance(v, tuple) else 1 for v in told):
            lacking[row.claim.id] = stand
    assert lacking == {}


def test_every_claim_that_is_settled_without_one_has_planted_faults() -> None:
    papers = [file.parent.name for file in (LIBRARY / "papers").glob("*/setting.py")]
    planted = [import_module(f"papers.{paper}.test_planted").PLANTED for paper in papers]
    assert settled_without().keys() == set().union(*planted)


def entries() -> Iterator[tuple[str, dict]]:
    for file in sorted(WITNESSES.glob("*.json")):
        yield from json.loads(file.read_text("utf-8")).items()


def test_witnesses_are_readable() -> None:
    found = list(entries())
    assert len(found) == len({says for says, _ in found}) > 100
    for says, entry in found:
        assert entry.keys() <= {"at", "stands", "outside", "rejects"}, says
        assert encoded(decoded(entry["at"])) == entry["at"]


def test_the_slack_at_the_witness_is_told() -> None:
    """Also at an instance at which only a stronger statement fails."""
    report = falsify(SUM, 0, 20)
    assert slack_at(SUM, AT) == -1.5
    fixed = Witness({"x": np.array([0.5, 0.25])}, stands=True)
    assert slack_at(SUM, fixed) == 1.25
    with pytest.raises(ValueError, match="which breaks it"):
        slack_at(replace(SUM, slack=lambda item: -1.0), fixed)
    assert report.witnessed == (WITNESS, -1.5)
    told = {item.what: item.value for item in report.checks()}
    assert told[WITNESS] == -1.5
    assert witness(replace(SUM, witness=None)) is None
    assert falsify(replace(SUM, witness=None), 0, 20).witnessed is None


@pytest.mark.parametrize(
    ("weaker", "message"),
    [
        (replace(SUM, slack=lambda item: 1.0), "breaks nothing"),
        (replace(SUM, slack=lambda item: float(4.0 - item["x"].sum())), "breaks nothing"),
        (replace(SUM, slack=lambda item: float(2.0 - item["x"].min())), "breaks nothing"),
        (replace(SUM, tolerance=2.0), "breaks nothing"),
        (replace(SUM, slack=lambda item: float("nan")), "breaks nothing"),
        (replace(SUM, hypotheses={}), "'at most 1' is gone"),
        (replace(SUM, hypotheses={"at most 1": lambda item: True}), "does not reject"),
    ],
)
def test_a_check_that_was_weakened_ends_in_an_error(weaker: Statement, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slack_at(weaker, AT)


@pytest.mark.parametrize(
    "value",
    [np.array([[1.0, -0.0]]), np.array(3), np.array([True]), 2, 0.5, "relu", (np.ones(2), 1)],
)
def test_instances_return_from_their_data(value: object) -> None:
    data = json.loads(json.dumps(encoded({"it": value})))
    back = decoded(data)["it"]
    assert type(back) is type(value)
    assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
    assert encoded({"it": back}) == encoded({"it": value})
