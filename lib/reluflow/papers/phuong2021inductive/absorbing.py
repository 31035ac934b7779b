"""Lemma B.1 and Lemma 3: along (GF) <w_j, x_k> moves one way, at every size of the weights.

For a_j > 0 each summand c_i <x_i, x_k> of its rate, c_i = -l_i', has the sign of y_k or is 0,
whatever share of it Clarke's subdifferential takes where <w_j, x_i> = 0. So no positive datum is
lost, no negative one is gained; for a_j < 0 it is the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.geometry.separability import cosines
from reluflow.ledger import Evidence, fact, note
from reluflow.papers.phuong2021inductive.extremal import sector
from reluflow.papers.phuong2021inductive.long_flow import Late, follow, patterns
from reluflow.papers.phuong2021inductive.start_draws import start
from reluflow.papers.phuong2021inductive.two_extremal import half_way, lengthened
from reluflow.supports import support_draws, supported

_ROUNDING = 1e-12


def _draws() -> Mapping[str, Draw]:
    return {**support_draws(), "orthogonal to all": half_way}


def _with_pulls(draw: Draw, within: bool) -> Draw:
    """Data, pulls -l_i' of any size with the sign of y_i, shares of the data in [0, 1], and a sign.

    `within`: the shares are those of a neuron in the extremal sector of the sign, 1 on its data, 0
    on those that are strictly inactive, anything where the sector has a 0.
    """

    def one(rng: np.random.Generator) -> Instance:
        item = draw(rng)
        n, sign = len(item["y"]), float(rng.choice([-1.0, 1.0]))
        shares = rng.choice([0.0, 1.0, rng.random()], n)
        if within:
            own = sector(item["X"], item["y"], sign)
            shares = np.where(own > 0, 1.0, 0.0)
        pulls = item["y"] * 10.0 ** rng.uniform(-6.0, 3.0, n)
        return {**item, "pulls": pulls, "shares": shares, "sign": sign}

    return one


def _rates(item: Instance) -> NDArray:
    """y_k s d<w, x_k>/dt for each datum (n,), over the sum of the sizes of its summands."""
    y, s = item["y"], float(item["sign"])
    terms = s * (item["shares"] * item["pulls"])[:, None] * (item["X"] @ item["X"].T)
    size = np.abs(item["shares"] * item["pulls"]) @ np.outer(
        np.linalg.norm(item["X"], axis=1), np.linalg.norm(item["X"], axis=1)
    )
    moved = y * s * terms.sum(axis=0)
    return np.asarray(np.divide(moved, size, out=np.zeros_like(moved), where=size > 0.0))


def one_way() -> Statement:
    """os.lemB.1: <w_j, x_k> does not decrease where a_j > 0 and y_k = 1, nor where a_j < 0 and y_k
    = -1.

    At any parameters and for any choice in Clarke's subdifferential; data of the other label do not
    come nearer to being active.
    """
    return Statement("the rates have the signs y_k a_j, or are 0",
                     {kind: _with_pulls(draw, False) for kind, draw in {
                         **_draws(), "lengths": lengthened(_spanning, 6.0)}.items()},
                     lambda item: float(_rates(item).min()), tolerance=_ROUNDING,
                     fixed=("X", "y", "sign", "pulls", "shares"))  # fmt: skip


def stays_in_the_sector() -> Statement:
    """os.lem3: within the extremal sector of its sign, a neuron's <w, x_k> grows on its own data,
    falls on those with a negative product, and rests on those orthogonal to all of its data.

    There (GF) leaves no choice: data with <w, x_k> = 0 could only push themselves back, all of them
    together, and so do not act. The slack is what the rates have beyond 0 in the direction of
    sigma_k.
    """

    def slack(item: Instance) -> float:
        sigma = sector(item["X"], item["y"], float(item["sign"]))
        moved = _rates(item) * item["y"] * float(item["sign"])
        strict = moved * sigma
        if np.any(np.abs(moved[sigma == 0]) > _ROUNDING):
            return -1.0
        return float(strict[sigma != 0].min())

    return Statement("rates in the sector have the signs of the sector",
                     {kind: _with_pulls(draw, True) for kind, draw in _draws().items()}, slack,
                     strict=True, tolerance=_ROUNDING / 100,
                     fixed=("X", "y", "sign", "pulls", "shares"),
                     hypotheses={"no product is 0 by rounding alone": _clear})  # fmt: skip


def _clear(item: Instance) -> bool:
    C = np.abs(cosines(item["X"]))
    return bool(np.all((C > 1e-9) | (C < 1e-14)))


def log_of(found: Sequence[Late]) -> tuple[int, int, int, float]:
    """Of flows: own data lost, and others' gained, while the flow lasts (Lemma B.1); changes after
    a neuron is in its extremal sector (Lemma 3); the least log(1/L) at their ends."""
    lost = gained = left = 0
    for late in found:
        own = late.given.y[:, None] == late.given.signs
        log = patterns(late)
        for (_, before), (_, after) in pairwise(log):
            lost += int(np.sum(before & ~after & own))
            gained += int(np.sum(~before & after & ~own))
            left += int(np.sum((before == own).all(axis=0) & (before != after).any(axis=0)))
    return lost, gained, left, min(float(late.tau[-1]) for late in found)


def no_own_datum_is_lost(found: Sequence[Late]) -> list[Evidence]:
    """Lemma B.1 in event logs of flows from starts of every size."""
    lost, gained, _, reach = log_of(found)
    return [
        fact("events in which a neuron loses a datum of its sign", lost, 0, tried=len(found)),
        fact("events in which it gains one of the other", gained, 0),
        note("events in all", sum(len(patterns(late)) - 1 for late in found)),
        note("least log(1/ℓ) at the end of a flow", reach, digits=2),
    ]


def no_sector_is_left(found: Sequence[Late]) -> list[Evidence]:
    """Lemma 3 in the same logs."""
    _, _, left, reach = log_of(found)
    inside = 0
    for late in found:
        own = late.given.y[:, None] == late.given.signs
        inside += int((patterns(late)[-1][1] == own).all(axis=0).sum())
    return [
        fact("changes of a neuron in the extremal sector of its sign", left, 0, tried=inside),
        note("least log(1/ℓ) at the end of a flow", reach, digits=2),
    ]


SIZES = (-14.0, -4.0, 0.7)
"""ln of the norms at the start: all sizes, from near zero to where the lemmas need no small
start."""
DEEP = 300.0
"""log(1/loss) at the end, a loss of 1e-130."""


def flows(seed: int, count: int) -> list[Late]:
    """`count` flows of four neurons on (OS) data in the plane and in space, to a loss of e^-300."""
    rng, found = np.random.default_rng(seed), list[Late]()
    kinds = (_spanning, _few, one_right_angle)
    while len(found) < count:
        k = len(found)
        item = kinds[k % 3](rng)
        given = start(item["X"], item["y"], SIZES[(k // 3) % 3], rng, 4)
        W0 = np.vstack([given.W0[:2], item["X"][item["y"] > 0.0][0], item["X"][item["y"] < 0.0][0]])
        late = follow(replace(given, W0=W0), DEEP)
        if late is not None:
            found.append(late)
    return found


def _spanning(rng: np.random.Generator) -> Instance:
    d = int(rng.integers(2, 4))
    return supported(d, (d, d), rng)


def _few(rng: np.random.Generator) -> Instance:
    return supported(int(rng.integers(2, 4)), (1, 2), rng)


def one_right_angle(rng: np.random.Generator) -> Instance:
    """Two data of each label in the plane, unit vectors, of which one pair has the product 0."""
    wide, other = rng.uniform(0.1, 0.6, 2)
    c, s = np.cos(wide), np.sin(wide)
    far = wide + 0.5 * np.pi + other
    X = np.array([[c, s], [c, -s], [-s, c], [np.cos(far), np.sin(far)]])
    return {"X": X, "y": np.array([1.0, 1.0, -1.0, -1.0])}
