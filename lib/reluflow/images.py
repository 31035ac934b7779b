"""Images of handwritten digits, and the task to tell two of them apart.

`digits` are scikit-learn's 1797 images of 8 x 8 pixels, which come with the package. `mnist` are
28 x 28, read from two IDX files of a folder (plain or compressed), or fetched by scikit-learn from
OpenML into its cache; either way their bytes must be those of the published set.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import struct
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError

VARIABLE = "RELUFLOW_MNIST"  # the environment variable that may name the folder of MNIST's files
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "mnist"
_SHA256 = {
    "images": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    "labels": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
}
_IMAGES, _LABELS = 2051, 2049  # the first four bytes of the two kinds of IDX file


@dataclass(frozen=True, eq=False)
class Images:
    """n grey images with one digit each.

    name    of the set
    levels  (n, d) grey levels, whole numbers from 0 to `white`, an image a row
    digit   (n,) what each shows
    shape   (rows, columns) of an image, d = rows * columns
    white   the largest level
    """

    name: str
    levels: NDArray[np.uint8]
    digit: NDArray[np.uint8]
    shape: tuple[int, int]
    white: int


@dataclass(frozen=True, eq=False)
class Pair:
    """Two digits to be told apart: centred images x_i with labels y_i, those of +1 first.

    X       (n, k) images less their mean, on the k pixels that are not the same in all of them: on
            the others all x_i are 0
    levels  (n, k) their grey levels on these pixels, before
    y       (n,) labels, +1 and then -1
    mean    (d,) the mean of the images before
    moves   (d,) which pixels are among the k
    shape   (rows, columns) of an image
    """

    X: NDArray[np.float64]
    levels: NDArray[np.uint8]
    y: NDArray[np.float64]
    mean: NDArray[np.float64]
    moves: NDArray[np.bool_]
    shape: tuple[int, int]

    def picture(self, x: NDArray) -> NDArray:
        """A vector (k,) of pixels as an image (rows, columns), 0 where all images agree."""
        full = np.zeros(self.moves.shape)
        full[self.moves] = x
        return full.reshape(self.shape)


def digits() -> Images:
    """Scikit-learn's digits: 1797 images of 8 x 8 pixels, levels 0 to 16."""
    package = find_spec("sklearn")  # of which nothing else is needed: to import it takes a second
    assert package is not None
    assert package.origin is not None
    table = Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz"
    found = np.loadtxt(table, np.uint8, delimiter=",")
    return Images("digits", found[:, :-1], found[:, -1], (8, 8), 16)


def mnist(folder: Path | None) -> Images:
    """MNIST's training part of 60000 images of 28 x 28 pixels.

    folder  where the IDX files are, as published or without their ending .gz (`mnist_folder`);
            for None scikit-learn asks OpenML and keeps the answer in its cache.
    Raises InputError, in one sentence, for a file that is missing, corrupt or truncated, for bytes
    that are not the published ones, and where OpenML gives no answer.
    """
    if folder:
        levels = _idx(folder, "train-images-idx3-ubyte", _IMAGES)
        digit = _idx(folder, "train-labels-idx1-ubyte", _LABELS)
    else:
        levels, digit = _from_openml()
    for kind, array in (("images", levels), ("labels", digit)):
        if hashlib.sha256(array.tobytes()).hexdigest() != _SHA256[kind]:
            source = f'in "{folder}"' if folder else "from OpenML"
            raise InputError(f"mnist: the {kind} {source} are not those published.")
    return Images("mnist", levels.reshape(-1, 784), digit, (28, 28), 255)


def mnist_folder() -> Path | None:
    """Where MNIST lies on this machine: what RELUFLOW_MNIST names, or shared/mnist beside the
    checkout; None where it is in neither place."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    return BESIDE if BESIDE.is_dir() else None


def pair(images: Images, positive: int, negative: int, scale: float = 1.0) -> Pair:
    """The task to tell two digits apart, centred by the mean of all its images.

    Parameters: the digit with label +1 and that with label -1; `scale`, what white becomes.
    Raises InputError for equal digits, and for a digit of which there is no image.
    """
    if positive == negative:
        raise InputError(f"two different digits are needed, not {positive} twice.")
    rows = []
    for digit in (positive, negative):
        rows.append(np.nonzero(images.digit == digit)[0])
        if not rows[-1].size:
            raise InputError(f"{images.name} has no image of the digit {digit}.")
    levels = images.levels[np.concatenate(rows)]
    raw = levels * (scale / images.white)
    mean = raw.mean(axis=0)
    moves = (levels != levels[0]).any(axis=0)
    y = np.repeat([1.0, -1.0], [len(rows[0]), len(rows[1])])
    return Pair(raw[:, moves] - mean[moves], levels[:, moves], y, mean, moves, images.shape)


def two_digits(name: str) -> Pair | None:
    """The task that a name such as "digits:0-1" is of, on scikit-learn's digits, the first with
    label +1; None for a name of another form. Raises InputError for one digit twice."""
    named = re.fullmatch(r"digits:([0-9])-([0-9])", name)
    if named is None:
        return None
    if named[1] == named[2]:
        raise InputError(f'dataset "{name}" must name two different digits.')
    return pair(digits(), int(named[1]), int(named[2]))


def _idx(folder: Path, name: str, magic: int) -> NDArray[np.uint8]:
    """The bytes (m,) that an IDX file holds behind its head, the file compressed or not."""
    found = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if not found:
        raise InputError(f'mnist: there is no file {name} or {name}.gz in "{folder}".')
    path = found[0]
    try:
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error):
        raise InputError(f"mnist: {path} cannot be read, or is corrupt or truncated.") from None
    sizes = 3 if magic == _IMAGES else 1
    head = 4 * (1 + sizes)
    if len(raw) < head or struct.unpack(">i", raw[:4])[0] != magic:
        raise InputError(f"mnist: {path} is not an IDX file of the kind that its name says.")
    expected = int(np.prod(struct.unpack(f">{sizes}i", raw[4:head]), dtype=np.int64))
    if len(raw) - head != expected:
        raise InputError(
            f"mnist: {path} is truncated or too long: it says that {expected} bytes follow its "
            f"head, and there are {len(raw) - head}."
        )
    return np.frombuffer(raw, np.uint8, offset=head)


def _from_openml() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The training part: of all images the first 60000 (60000, 784), and their digits."""
    from sklearn.datasets import fetch_openml

    try:
        found = fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff")
    except (OSError, ValueError) as error:
        raise InputError(
            f"mnist could not be fetched from OpenML ({type(error).__name__}): name a folder with "
            f"its two files by the environment variable {VARIABLE}."
        ) from None
    return found.data[:60000].astype(np.uint8), found.target[:60000].astype(np.uint8)
