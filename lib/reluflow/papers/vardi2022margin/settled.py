"""The limit of a flow, followed again with smaller steps where the first ones leave it open."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin.limits import UNDECIDED, Limit, limit
from reluflow.networks.indexed import Network

LOSSES = {"exponential": EXPONENTIAL, "logistic": LOGISTIC}
"""The losses of the paper by name."""
_FINER = 1e-8


def settled_limit(
    network: Network, loss: str, X: ArrayLike, y: ArrayLike, start: ArrayLike, **options: Any
) -> Limit:
    """The limit in direction of the flow on "exponential" or "logistic", as
    `reluflow.margin.limits.limit` takes and tells it."""
    found = limit(network, LOSSES[loss], X, y, start, **options)
    if found.status == UNDECIDED:
        found = limit(network, LOSSES[loss], X, y, start, **{**options, "rtol": _FINER})
    return found
