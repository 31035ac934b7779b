"""Whether two PNGs show the same, on a screen just so coarse that rounding does not matter."""

from __future__ import annotations

import base64
import io

import numpy as np
from matplotlib.image import imread
from numpy.typing import NDArray

BLOCK = 4  # pixels, a fortieth of an inch of the book's figures: less than a letter
# Of 255. Another CPU's last digits move a line by thousandths of a pixel; the minus of an index,
# the least that a reader could miss, is two pixels high.
TOLERANCE = 16.0


def grey(png: str) -> NDArray | None:
    """The picture (height, width) in base64, 0 black and 255 white; None where it is none."""
    try:
        read = imread(io.BytesIO(base64.b64decode(png)), format="png")
    except (ValueError, OSError, SyntaxError):  # no base64, no picture, a broken one
        return None
    return 255.0 * (read[..., :3].mean(axis=-1) if read.ndim == 3 else read)


def alike(one: str, other: str) -> bool:
    """Whether two PNGs in base64 have one size and the same mean brightness in every block."""
    if one == other:
        return True
    a, b = grey(one), grey(other)
    if a is None or b is None or a.shape != b.shape:
        return False
    off = np.abs(_blocks(a) - _blocks(b))
    return float(off.max()) <= TOLERANCE


def _blocks(picture: NDArray) -> NDArray:
    """Means over squares of BLOCK pixels; those at the edge may be cut."""
    for axis, length in enumerate(picture.shape):
        edges = np.arange(0, length, BLOCK)
        counts = np.diff(np.append(edges, length))
        picture = np.add.reduceat(picture, edges, axis=axis) / np.expand_dims(counts, 1 - axis)
    return picture
