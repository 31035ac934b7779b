"""How far a long computation is: a bar on a terminal, a line in a notebook, nothing elsewhere."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TypeVar

from IPython import get_ipython
from IPython.display import DisplayHandle, Pretty, display
from tqdm import tqdm

T = TypeVar("T")


def progress(items: Iterable[T], total: int, unit: str) -> Iterator[T]:
    """The items, `total` of them, while tqdm shows how many are done and how long the rest takes.

    A notebook's line ends as it began, with the total alone: no time of one machine is stored.
    """
    if get_ipython() is None:
        yield from tqdm(items, total=total, unit=unit, disable=None)
        return
    line = Pretty(f"{total} {unit}")
    handle = display(line, display_id=True)
    try:
        yield from tqdm(items, total=total, unit=unit, file=_Screen(handle))
    finally:
        handle.update(line)


class _Screen(io.StringIO):
    """What tqdm writes its bar to: each one takes the place of the one before."""

    def __init__(self, handle: DisplayHandle) -> None:
        super().__init__()
        self._handle = handle

    def write(self, text: str) -> int:
        if text.strip():
            self._handle.update(Pretty(text.strip()))
        return len(text)
