"""Which counterexamples are one neuron in the plane, and the link that shows them in the explorer.

The explorer is a page of the book that draws the flow of such a neuron; it reads its setting from
the end of its address: `#X=1,0;0,1&y=2,1&w=0.1,0.1`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from reluflow.ledger.numbers import printed
from reluflow.ledger.rows import Row
from reluflow.ledger.verdict import REFUTED

EXPLORER = "chapters/explorer.html"
SMALL = 10_000
"""A start of which the instance says only that it is small is its direction divided by this."""

_DIRECTION = re.compile(r"eps \((-?\d+), (-?\d+)\), eps > 0")


@dataclass(frozen=True)
class Setting:
    """Data X (n, 2), labels y (n,) and a start w (2,): all that the explorer draws."""

    X: tuple[tuple[float, float], ...]
    y: tuple[float, ...]
    w: tuple[float, float]

    @property
    def fragment(self) -> str:
        """The end of the explorer's address that shows the setting."""
        X, y, w = (";".join(map(_numbers, self.X)), _numbers(self.y), _numbers(self.w))
        return f"X={X}&y={y}&w={w}"


def setting(row: Row) -> Setting | None:
    """A refuted claim's counterexample as a setting; None where it is not one neuron in the plane
    under the square loss.

    That loss on data X, y is the first paper's; where the second one has a finite law of inputs and
    a teacher, these are data and labels. Without a start a small one along the velocity at 0 is
    taken, from where the flow goes as from any small start in its cell.
    """
    if row.verdict != REFUTED or row.counterexample is None:
        return None
    found = _data(row.claim.paper, row.counterexample.instance)
    if found is None or any(len(x) != 2 for x in found[0]):
        return None
    X, y = found
    start = row.counterexample.instance.get("w0")
    if isinstance(start, str):
        direction = _DIRECTION.fullmatch(start)
        if direction is None:
            raise ValueError(f"{row.claim.id}: no start can be read from {start!r}")
        start = [int(v) / SMALL for v in direction.groups()]
    if start is None:
        pull = [sum(label * x[c] for x, label in zip(X, y, strict=True)) for c in (0, 1)]
        start = [v / SMALL for v in pull]
    first, second = map(float, start)
    return Setting(tuple((float(a), float(b)) for a, b in X), tuple(map(float, y)), (first, second))


def open_in_explorer(row: Row, page: str) -> str:
    """The link beside a planar counterexample, for a card on `page`; empty for any other claim."""
    found = setting(row)
    if found is None:
        return ""
    to = posixpath.relpath(EXPLORER, posixpath.dirname(page) or ".")
    return (
        f'<p><a class="explore" href="{to}#{escape(found.fragment)}">Open in the explorer</a>: '
        "drag the start, and see where the flow goes.</p>"
    )


def _data(paper: str, instance: Mapping[str, Any]) -> tuple[Sequence[Any], Sequence[Any]] | None:
    if paper == "lee2022support" and {"X", "y"} <= set(instance):
        return instance["X"], instance["y"]
    law = next((v for k, v in instance.items() if k.startswith("x, each with probability")), None)
    if paper == "lee2023magnitude" and law is not None and "w*" in instance:
        teacher = instance["w*"]
        return law, [max(sum(a * b for a, b in zip(x, teacher, strict=True)), 0) for x in law]
    return None


def _numbers(values: Sequence[float]) -> str:
    return ",".join(map(printed, values))
