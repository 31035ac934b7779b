"""Arrays as text, for records in JSON."""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray


def packed(values: NDArray, kind: str) -> str:
    """The bytes of an array as text; `kind`, how a number is kept, such as "<f2" or "i1"."""
    return base64.b64encode(values.astype(kind).tobytes()).decode()


def unpacked(text: str, kind: str) -> NDArray[np.float64]:
    """The array (m,) behind such a text, in double precision."""
    return np.frombuffer(base64.b64decode(text), kind).astype(float)
