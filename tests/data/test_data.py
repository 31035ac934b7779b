"""The printed data and a reader's CSV; images: what is read is what was published."""

import gzip
import hashlib
import os
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import ANY, Mock

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reluflow import datasets, images
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
def test_csv_comes_back_exactly(table, tmp_path_factory) -> None:
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
def test_what_is_no_csv_file(name, sentence, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    Path("image.csv").write_bytes(b"\x89PNG\xff\xfe")
    os.mkfifo("pipe.csv")
    with pytest.raises(InputError, match=sentence) as caught:
        datasets.load(name)
    assert "\0" not in str(caught.value)


# --- Images ---------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
LEVELS = RNG.integers(0, 256, (7, 784), dtype=np.uint8)
DIGIT = np.array([3, 1, 4, 1, 5, 9, 2], dtype=np.uint8)
IMAGES, LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"


def idx(array: np.ndarray, magic: int, sizes: tuple[int, ...]) -> bytes:
    return struct.pack(f">{1 + len(sizes)}i", magic, *sizes) + array.tobytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small set in place of MNIST, its sums in place of the published ones."""
    monkeypatch.delenv(images.VARIABLE, raising=False)
    (tmp_path / f"train-{IMAGES}").write_bytes(idx(LEVELS, 2051, (7, 28, 28)))
    (tmp_path / f"train-{LABELS}").write_bytes(idx(DIGIT, 2049, (7,)))
    for kind, array in (("images", LEVELS), ("labels", DIGIT)):
        monkeypatch.setitem(images._SHA256, kind, hashlib.sha256(array.tobytes()).hexdigest())
    return tmp_path


def test_a_folder_is_read_plain_or_compressed(folder: Path) -> None:
    plain = images.mnist(folder)
    for file in list(folder.iterdir()):
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    for found in (plain, images.mnist(folder)):
        np.testing.assert_array_equal(found.levels, LEVELS)
        np.testing.assert_array_equal(found.digit, DIGIT)
        assert (found.shape, found.white) == ((28, 28), 255)


def test_digits_are_those_of_the_package() -> None:
    ours, theirs = images.digits(), sklearn.datasets.load_digits()
    np.testing.assert_array_equal(ours.levels, theirs.data)
    np.testing.assert_array_equal(ours.digit, theirs.target)


def flipped(raw: bytes, place: int) -> bytes:
    return raw[:place] + bytes([raw[place] ^ 255]) + raw[place + 1 :]


@pytest.mark.parametrize(
    ("name", "ending", "spoil", "said"),
    [
        (LABELS, ".gone", lambda raw: raw, "there is no file train-labels"),
        (IMAGES, ".gz", lambda raw: gzip.compress(raw)[:-40], "corrupt or truncated"),
        (LABELS, ".gz", lambda raw: flipped(gzip.compress(raw), 12), "corrupt or truncated"),
        (IMAGES, "", lambda raw: raw[:-1], "truncated or too long"),
        (LABELS, "", lambda raw: raw + b"x", "truncated or too long"),
        (IMAGES, "", lambda raw: raw[:9], "not an IDX file"),
        (IMAGES, "", lambda raw: b"\0\0\x08\x01" + raw[4:], "not an IDX file"),
        (LABELS, "", lambda raw: b"", "not an IDX file"),
        (IMAGES, "", lambda raw: raw[:7] + b"\1\0\0\0\1\0\0\0\5" + raw[16:21], "not those"),
        (IMAGES, "", lambda raw: flipped(raw, len(raw) - 1), "not those published"),
    ],
)
def test_a_spoilt_file_is_refused_in_one_sentence(folder, name, ending, spoil, said) -> None:
    raw = (folder / f"train-{name}").read_bytes()
    (folder / f"train-{name}").unlink()
    (folder / f"train-{name}{ending}").write_bytes(spoil(raw))
    with pytest.raises(InputError, match=said) as error:
        images.mnist(folder)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_without_a_folder_openml_is_asked_and_checked(folder: Path, monkeypatch) -> None:
    given = {"data": LEVELS.astype(float), "target": DIGIT.astype(str).astype(object)}
    fetch = Mock(return_value=SimpleNamespace(**given))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    np.testing.assert_array_equal(images.mnist(None).levels, LEVELS)
    fetch.assert_called_once_with("mnist_784", version=1, as_frame=False, parser=ANY)
    monkeypatch.setitem(images._SHA256, "images", "0" * 64)
    with pytest.raises(InputError, match="from OpenML are not those published"):
        images.mnist(None)
    fetch.side_effect = OSError("no network")
    with pytest.raises(InputError, match=images.VARIABLE):
        images.mnist(None)


def test_mnist_where_it_is_found() -> None:
    where = images.mnist_folder()
    if where is None:
        pytest.skip(f"no MNIST: neither {images.VARIABLE} nor {images.BESIDE}")
    train = images.mnist(where)
    assert len(train.digit) == 60000
    assert train.digit[:5].tolist() == [5, 0, 4, 1, 9]
    assert np.bincount(train.digit)[:2].tolist() == [5923, 6742]


@pytest.mark.parametrize("scale", [1.0, 255.0, 1e-6])
def test_a_pair_is_centred_and_complete(scale: float) -> None:
    digits = images.digits()
    grey = np.where(np.arange(64) == 9, 5, digits.levels)  # a pixel that is grey in all of them
    digits = replace(digits, levels=grey.astype(np.uint8))
    with pytest.raises(InputError, match="two different digits"):
        images.pair(digits, 3, 3)
    pair = images.pair(digits, 3, 8, scale)
    chosen = [digits.levels[digits.digit == k] * (scale / 16) for k in (3, 8)]
    raw = np.concatenate(chosen)
    assert pair.y.tolist() == [1.0] * len(chosen[0]) + [-1.0] * len(chosen[1])
    centred = raw - raw.mean(axis=0)
    full = np.array([pair.picture(x).ravel() for x in pair.X])
    np.testing.assert_allclose(full, centred, atol=1e-14 * scale)
    assert np.abs(pair.X.sum(axis=0)).max() < 1e-11 * scale
    assert (np.ptp(raw[:, ~pair.moves], axis=0) == 0).all()
    assert (np.ptp(raw[:, pair.moves], axis=0) > 0).all()
    np.testing.assert_array_equal(pair.levels, (raw[:, pair.moves] * 16 / scale).round())
