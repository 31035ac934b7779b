"""Images: what is read is what was published, and what is not is refused in one sentence."""

import gzip
import hashlib
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from reluflow import images
from reluflow.errors import InputError

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
def test_a_spoilt_file_is_refused_in_one_sentence(
    folder: Path, name: str, ending: str, spoil, said: str
) -> None:
    raw = (folder / f"train-{name}").read_bytes()
    (folder / f"train-{name}").unlink()
    (folder / f"train-{name}{ending}").write_bytes(spoil(raw))
    with pytest.raises(InputError, match=said) as error:
        images.mnist(folder)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_without_a_folder_openml_is_asked_and_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fetch(name: str, version: int, as_frame: bool, parser: str):
        assert (name, version, as_frame) == ("mnist_784", 1, False)
        return sklearn.utils.Bunch(
            data=LEVELS.astype(float), target=DIGIT.astype(str).astype(object)
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    np.testing.assert_array_equal(images.mnist(None).levels, LEVELS)
    monkeypatch.setitem(images._SHA256, "images", "0" * 64)
    with pytest.raises(InputError, match="from OpenML are not those published"):
        images.mnist(None)

    def offline(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
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
