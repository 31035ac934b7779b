"""The printed data, a reader's CSV and the assumptions."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reluflow import datasets
from reluflow.errors import InputError
from reluflow.papers.lee2022support.setting import check_assumptions

# Appendix G of Lee, Sim & Ye (2022), typed a second time, here with the paper's columns.
PRINTED = {
    "example-5.1": (
        [[0.8858, 0.4338, 0.6739, 0.0221, 0.2322], [0.0244, 0.8852, 0.0399, 0.4778, 0.8717]],
        [0.6111, 0.9397, 1.8694, 2.7104, 1.3089],
    ),
    "example-5.2": ([[1, 1, 2], [0, 2, 0], [2, 0, 0]], [0.05, 6, 0.5]),
    "example-5.3": ([[1, 1, 1, 0], [0, 2, 0, 1], [1, 1, 2, 0]], [0.1, 0.2, 4, 0.1]),
}


def write(folder: Path, text: str, name: str = "my.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", PRINTED)
def test_printed_data(name: str) -> None:
    columns, labels = PRINTED[name]
    data = datasets.load(name)
    assert (data.printed, data.name, (data.n, data.d)) == (True, name, data.X.shape)
    assert np.array_equal(data.X, np.transpose(columns))
    assert np.array_equal(data.y, labels)
    check_assumptions(data.X, data.y)


usable = st.just(0.0) | st.floats(1e-30, 1e30) | st.floats(-1e30, -1e-30)


@given(table=arrays(float, st.tuples(st.integers(1, 8), st.integers(2, 5)), elements=usable))
def test_csv_comes_back_exactly(
    table: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = [*(f"x{k}" for k in range(1, table.shape[1])), "y"]
    text = "\n".join(map(",".join, [names, *(map(repr, row) for row in table.tolist())]))
    data = datasets.load(write(tmp_path_factory.mktemp("csv"), text, "round trip.csv"))
    assert np.array_equal(data.X, table[:, :-1])
    assert np.array_equal(data.y, table[:, -1])
    assert not data.printed
    assert data.name == "round trip.csv"


@pytest.mark.parametrize(
    "cell",
    ["nan", "-inf", "", "one", "1,2", "0x1", "1_000", "٣", "１", "1e300", "1e-300", "1e999"],
)
@pytest.mark.parametrize(("n", "broken"), [(1, 0), (12, 0), (12, 7), (12, 11)])
def test_the_broken_row_is_named(n: int, broken: int, cell: str, tmp_path: Path) -> None:
    lines = ["x1,x2,y"] + [f"1,{cell if i == broken else 2},3" for i in range(n)]
    with pytest.raises(InputError, match=rf"data row {broken + 1} \(counted from 1"):
        datasets.load(write(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("x1,x2,y\n", r"no data rows \(n = 0\)"),
        ("y\n1\n", "no feature column"),
        ("1,2,3\n4,5,6\n", "no header"),
        ("x1,y,x2\n1,2,3\n", 'label "y" in column 2'),
        ("x1,x2,y\n1,2,3\n1,2\n", "data row 2 .* there are 2 values where the header has 3"),
        ("x1,x2,y\n1,2,3\n\n1,2,3\n", "data row 2 .* the line is empty"),
        ("x1,y\n" + "9" * 40 + "z,1\n", '"9{20}…" is not a number; write a number'),
        ("x1,y\n ,1\n", "data row 1 .*, column x1: there is no value; write a number"),
        ("Label,x1,x2\n1,2,3\n", 'label "Label" in column 1: the label must be the last'),
        ("x1,x1,y\n1,2,3\n", 'two columns with the name "x1"'),
        (",x1,y\n0,2,3\n", "no name for column 1"),
    ],
)
def test_bad_csv(text: str, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=sentence) as caught:
        datasets.load(path)
    assert "\n" not in str(caught.value)


def test_csv_of_a_spreadsheet(tmp_path: Path) -> None:
    """A byte-order mark, Windows line ends, spaces and an ending in capitals do no harm."""
    path = tmp_path / "SHEET.CSV"
    path.write_bytes(b"\xef\xbb\xbfx1, x2, y\r\n1, 2, 3\r\n4, 5, 6\r\n\r\n")
    data = datasets.load(str(path))
    assert np.array_equal(data.X, [[1, 2], [4, 5]])
    assert np.array_equal(data.y, [3, 6])
    path.write_bytes(b"\xef\xbb\xbf1,2,3\r\n")
    with pytest.raises(InputError, match="no header"):
        datasets.load(str(path))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("absent.csv", r'there is no file "absent\.csv"'),
        ("folder.csv", "cannot be read"),
        ("image.csv", "not a CSV text file"),
        ("pipe.csv", "is a pipe or a device"),  # and nobody waits for it
        # The system's own errors for such names say nothing of a data set.
        ("n" * 300, "neither a known name"),
        ("a\0b", "neither a known name"),
        ("n" * 300 + ".csv", "there is no file"),
        ("a\0b.csv", "there is no file"),
        ("example-51", r'"example-51" is neither .* mean "example-5\.1"\?'),
    ],
)
def test_what_is_no_csv_file(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    Path("image.csv").write_bytes(b"\x89PNG\xff\xfe")
    os.mkfifo("pipe.csv")
    with pytest.raises(InputError, match=sentence) as caught:
        datasets.load(name)
    assert "\0" not in str(caught.value)
