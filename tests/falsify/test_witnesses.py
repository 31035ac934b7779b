"""Every check can fail: at its statement's witness it does, and nothing weakens it in silence."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from papers.faults import settled_without
from reluflow.falsify import Statement, falsify, planted
from reluflow.falsify.attempt import FIXED, WITNESS
from reluflow.falsify.statement import Witness, decoded, encoded, slack_at, witness
from reluflow.ledger import read
from reluflow.ledger.evidence import SURVEY
from reluflow.ledger.rows import Row
from reluflow.places import CHAPTERS, LIBRARY, WITNESSES


def uniform(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"x": rng.uniform(0.0, 1.0, 2)}


SUM = Statement(
    "x₁ + x₂ is at most 2",
    {"uniform": uniform},
    lambda item: float(2.0 - item["x"].sum()),
    {"at most 1": lambda item: bool((item["x"] <= 1.0).all())},
    witness={"x": np.array([3.0, 0.5])},
)
AT = Witness({"x": np.array([3.0, 0.5])}, rejects={"at most 1": {"x": np.array([2.0, 0.0])}})


def values(row: Row, *names: str) -> list[float]:
    found = [item.value for item in row.evidence if item.what in names and not item.decides]
    return [v for value in found for v in (value if isinstance(value, tuple) else (value,))]


def surveys(row: Row) -> int:
    """Surveys of statements that found nothing, and told how little was missing."""
    facts = [item for item in row.evidence if item.decides and item.tried and item.holds]
    return len([item for item in facts if SURVEY.fullmatch(item.what)])


@pytest.mark.long
def test_every_statement_that_stands_has_a_witness() -> None:
    rows = [row for row in read(CHAPTERS) if row.counterexample is None]
    lacking = {row.claim.id: n for row in rows
               if (n := surveys(row) - len(values(row, WITNESS, FIXED))) > 0}  # fmt: skip
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


def test_an_equation_fails_where_a_fault_is_planted() -> None:
    def both(item: dict) -> float:
        return -abs(float(planted(item) * item["x"].sum() - item["x"].sum()))

    equal = Statement("the same", {"uniform": uniform}, both, tolerance=1e-9,
                      witness={"x": np.ones(2), "planted": 1.5})  # fmt: skip
    assert falsify(equal, 0, 20).witnessed == (WITNESS, -1.0)
    assert falsify(equal, 0, 20).survives


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
