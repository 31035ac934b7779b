"""The check of a chapter's parameters cell, and how its errors look in a notebook; records are made
again by the parameter `scale`: what is asked, and where it is written."""

import dataclasses
import math
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow import parameters, records
from reluflow.errors import InputError
from reluflow.papers.lee2022support.setting import PARAMETERS as SUPPORT_VECTORS
from reluflow.papers.lee2023magnitude import deep_network
from reluflow.papers.lee2023magnitude.setting import PARAMETERS as MAGNITUDE_ANGLE
from reluflow.papers.min2024early import mnist
from reluflow.papers.min2024early.setting import PARAMETERS as ALIGNMENT
from reluflow.papers.phuong2021inductive import cnn, networks
from reluflow.papers.phuong2021inductive.own_data import PARAMETERS as SEPARABILITY
from reluflow.papers.vardi2022margin.setting import PARAMETERS as MARGIN
from reluflow.places import RECORDS
from reluflow.your_data.study import PARAMETERS as STUDY

TABLES = (SUPPORT_VECTORS, MAGNITUDE_ANGLE, ALIGNMENT, SEPARABILITY, cnn.PARAMETERS, MARGIN, STUDY)
ALL = {f"{n}: {name}": p for n, table in enumerate(TABLES) for name, p in table.items()}
RANGES = {name: p for name, p in ALL.items() if p.rule.startswith("from ")}
CHOICES = {name: p for name, p in ALL.items() if p.rule.startswith('"')}
DEFAULTS = {"dataset": "paper", "initial_points": None, "step": 0.005, "seed": 0, "effort": 1.0}


def test_defaults_pass() -> None:
    for values in (DEFAULTS, DEFAULTS | {"step": "5e-3"}):
        checked = parameters.check(values, SUPPORT_VECTORS)
        assert dataclasses.asdict(checked) == DEFAULTS
    with pytest.raises(dataclasses.FrozenInstanceError):
        checked.step = 1.0


def test_what_a_notebook_holds_besides_is_no_parameter() -> None:
    history, others = ["", "x"], "_ __ ___ _i _ii _iii _i1 _12 _dh _exit_code PAPERMILL_OUTPUT_PATH"
    namespace = {
        **DEFAULTS,
        **dict.fromkeys(("In", "_ih", "Out", "_oh"), history),
        **dict.fromkeys(("__name__", *others.split()), "x"),
        **{"math": math, "check": parameters.check, "Parameter": parameters.Parameter},
    }
    parameters.check(namespace, SUPPORT_VECTORS)


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ({"datset": "my.csv"}, 'unknown parameter "datset": did you mean "dataset"?'),
        ({"_seed": 3}, 'unknown parameter "_seed": did you mean "seed"?'),
        ({"In": 3, "_ih": [""]}, 'unknown parameter "In"'),
        ({"dataset": 5}, 'parameter "dataset" must be text, not 5 ('),
        ({"dataset": ""}, 'parameter "dataset" must be a name or a path, not empty'),
        ({"step": True}, 'parameter "step" must be a number, not True ('),
        ({"step": "small"}, "parameter \"step\" must be a number, not 'small' ("),
        ({"dataset": [9] * 99}, "must be text, not [9, 9, 9, 9, 9, 9, ...] ("),
        ({"step": 5e-324}, 'parameter "step" must be from 1e-12 to 1e12, not 5e-324 ('),
        ({"step": math.inf}, 'parameter "step" must be a finite number, not inf ('),
        ({"step": 10**400}, 'parameter "step" must be a finite number ('),
        ({"seed": -1}, 'parameter "seed" must be at least 0, not -1 (seed of every random draw).'),
        ({"initial_points": "[[1, 2]]"}, 'with papermill, write -y "initial_points: [[1, 2]]"'),
    ],
)
def test_one_sentence_for_bad_values(extra: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parameters.check({**DEFAULTS, **extra}, SUPPORT_VECTORS)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


plain = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.none())
)


@given(value=plain)
def test_a_value_comes_back_with_its_type_or_not_at_all(value: object) -> None:
    for name, parameter in SUPPORT_VECTORS.items():
        try:
            checked = getattr(parameters.check({**DEFAULTS, name: value}, SUPPORT_VECTORS), name)
        except InputError:
            continue
        assert (checked is None and parameter.optional) or type(checked) is parameter.type
        assert checked == value or checked == float(value)  # YAML 1.1 takes 1e-3 for text


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("layers", [[], [1, 1], [1000], 2]),
        ("norms", [[0.0], [math.inf], [k / 10 for k in range(1, 13)]]),
        ("learning_rate", [5e-324, [0.1]]),
        ("data", ["mnist"]),
    ],
)
def test_lists_are_refused_for_an_element_their_length_or_their_type(name: str, bad: list) -> None:
    for value in bad:
        with pytest.raises(InputError, match=f'"{name}" must be'):
            parameters.check({name: value}, {name: MAGNITUDE_ANGLE[name]})


@pytest.mark.parametrize("parameter", RANGES.values(), ids=RANGES)
def test_a_range_is_the_one_that_its_rule_names(parameter: parameters.Parameter) -> None:
    least, most = (float(end.replace(" ", "")) for end in parameter.rule[5:].split(" to "))
    asked = (least, most, least - 0.1 * abs(least), most + 0.1 * abs(most))
    assert [parameter.check(value) for value in asked] == [True, True, False, False]


@pytest.mark.parametrize("parameter", CHOICES.values(), ids=CHOICES)
def test_a_choice_is_one_of_those_that_its_rule_names(parameter: parameters.Parameter) -> None:
    named = re.findall('"([^"]+)"', parameter.rule)
    assert all(map(parameter.check, named))
    assert not any(map(parameter.check, ["", "no such", named[0].upper(), named[0] + " "]))


# --- Records --------------------------------------------------------------------------------------

ASKED = {"device": "cpu", "scale": "page", "seed": 0, "effort": 1.0}
SHELF = records.Shelf("page", "name-", lambda name, *given: {"sum": name}, ("one", "two"))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"scale": "papr"}, '"scale" must be one of "page", "paper", .*, not \'papr\''),
        ({"device": "cuda:99"}, '"device" must be "cpu", or a device that PyTorch finds on this '),
    ],
)
def test_another_scale_or_device_is_refused(more: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parameters.check(ASKED | more, cnn.PARAMETERS)
    assert parameters.check(ASKED | {"scale": "taken"}, cnn.PARAMETERS).scale == "taken"


@pytest.mark.parametrize(
    "page", [deep_network, mnist, cnn, networks], ids=lambda page: page.__name__
)
def test_a_page_reads_the_committed_records_and_can_make_all_of_them(page, tmp_path) -> None:
    assert page.SHELF.at("page", 5, root=tmp_path) is page.SHELF
    kept = {file.stem for file in RECORDS.glob(f"{page.SHELF.prefix}*.json")}
    assert kept == {page.SHELF.prefix + name for name in page.SHELF.names}
    assert not list(tmp_path.iterdir())


def test_paper_makes_all_and_a_name_one_once_with_the_same_code(monkeypatch, tmp_path) -> None:
    one = SHELF.at("one", 3, root=tmp_path)
    assert {file.name for file in one.folder.iterdir()} == {"name-one.json"}
    assert one.file("two") == RECORDS / "name-two.json"
    every = SHELF.at("paper", 3, root=tmp_path)
    assert every.folder == one.folder
    assert [every.read(name)["sum"] for name in every.names] == ["one", "two"]
    assert every.read("two")["command"].endswith("page.ipynb out.ipynb -p scale two -p seed 3")
    every.file("two").write_text('{"sum": "kept"}', "utf-8")
    assert SHELF.at("two", 3, root=tmp_path).read("two") == {"sum": "kept"}
    monkeypatch.setattr(records, "code", lambda: "changed")
    assert SHELF.at("two", 3, root=tmp_path).read("two")["sum"] == "two"


def test_pieces_outlive_a_killed_run_and_add_up_its_time(tmp_path: Path) -> None:
    def killed() -> int:
        raise KeyboardInterrupt

    pieces = records.Pieces(tmp_path)
    assert pieces("a", lambda: 1) == 1
    with pytest.raises(KeyboardInterrupt):
        pieces("b", killed)
    (tmp_path / "seconds.pickle").write_bytes(pickle.dumps((7.0, 5.0)))
    again = records.Pieces(tmp_path)
    assert [again("a", killed), again("b", lambda: 2)] == [1, 2]
    wall, cpu = pickle.loads((tmp_path / "seconds.pickle").read_bytes())
    assert wall > 7.0
    assert cpu > 5.0


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InputError, match=r"name-one\.json cannot be written: Not a directory\."):
        SHELF.at("one", 0, root=tmp_path / "file")
