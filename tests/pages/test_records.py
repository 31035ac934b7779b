"""Records are made again by a page's parameter `scale`: what is asked, and where it is written."""

import pickle
from pathlib import Path

import pytest
from reluflow import records
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import deep_network
from reluflow.papers.min2024early import mnist
from reluflow.papers.phuong2021inductive import cnn, networks
from reluflow.parameters import check
from reluflow.places import RECORDS

DEFAULTS = {"device": "cpu", "scale": "page", "seed": 0, "effort": 1.0}
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
        check(DEFAULTS | more, cnn.PARAMETERS)
    assert check(DEFAULTS | {"scale": "taken"}, cnn.PARAMETERS).scale == "taken"


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
