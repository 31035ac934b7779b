"""Theorem E.1, Corollary E.2 and the sentence after it: what reducing data to their span keeps.

The span of the data is range(H) of the linear neuron; phi projects onto it. With an orthonormal
basis B (d, r) of it, the reduced data are X B (n, r).
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from reluflow.falsify import Instance, Statement, given, planted
from reluflow.flows.affine import affine_flow
from reluflow.geometry import rank
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.networks import loss
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.linear import ROUNDING
from reluflow.papers.lee2022support.linear_limits import FULL_FACTORS, data_of, factored_draws


def basis_of_span(instance: Instance) -> NDArray:
    """An orthonormal basis B (d, r) of the span of the data, the rows of A B."""
    return np.linalg.qr(instance["B"].T)[0]


def _sizes(X: NDArray, y: NDArray, *weights: NDArray) -> float:
    return float(y @ y) + sum(float(np.sum((X @ w) ** 2)) for w in weights)


PART_ONE = Reading(
    taken="part 1 says L(w) = L(w + v), as its proof does",
    others="It is printed as L(w) = L(w' + v) with a w' of the span, for which w is not "
    "said; for a w of its own it is false.",
)
FOR_RELU = Reading(
    taken="parts 1 and 2 of Theorem E.1, and the projected flow is the flow of the reduced data; "
    "the space is the span of all data",
    others="Its proof is said to be the proof of Theorem E.1, but parts 3 and 4 do not carry over: "
    "the reduced ReLU loss may have several minima, and the range of H changes from cell to cell. "
    "A1 does not carry over either (the next claim).",
)


def linear_reduction() -> list[Statement]:
    """sv.thmE.1: the loss is constant across the span, the flow stays along it, its projection is
    the reduced data's flow, and all minima project to one."""
    return [*_kept("linear"), minima_project_to_one()]


def relu_reduction() -> list[Statement]:
    """sv.corE.2: for the ReLU neuron, all of Theorem E.1 but what it says of minima."""
    return _kept("relu")


def _kept(activation: str) -> list[Statement]:
    parts = (loss_is_constant_across, flow_stays_along_span, flow_is_reduced_flow)
    return [part(activation) for part in parts]


def loss_is_constant_across(activation: str) -> Statement:
    """E.1, part 1: L(w + v) = L(w) for every v orthogonal to the data."""

    def slack(instance: Instance) -> float:
        X, y = data_of(instance)
        B = basis_of_span(instance)
        v = instance["z"] - B @ (B.T @ instance["z"])
        before, after = (loss(X, y, w, activation) for w in (instance["w0"], instance["w0"] + v))
        return -float(abs(planted(instance) * after - before)) / _sizes(X, y, instance["w0"])

    return _statement(f"E.1 part 1, {activation}: L(w + v) = L(w) across the span",
                      activation, slack)  # fmt: skip


def flow_stays_along_span(activation: str) -> Statement:
    """E.1, part 2: w(t) - w0 lies in the span of the data."""

    def slack(instance: Instance) -> float:
        X, y = data_of(instance)
        B = basis_of_span(instance)
        path = affine_flow(X, y, instance["w0"], activation)
        moved = path.at(path.grid(20)) - instance["w0"]
        across = moved - planted(instance) * moved @ B @ B.T
        return -float(np.abs(across).max() / (np.linalg.norm(instance["w0"]) + np.abs(moved).max()))

    return _statement(f"E.1 part 2, {activation}: the flow stays in w0 + span", activation, slack)


def minima_project_to_one() -> Statement:
    """E.1, parts 3 and 4: X B has rank r, so its minimiser is unique, and phi sends all minimisers
    of L to it. A minimiser is the limit of the flow from w0, which differs from start to start."""

    def slack(instance: Instance) -> float:
        X, y = data_of(instance)
        B = basis_of_span(instance)
        reduced = X @ B
        unique = planted(instance) * np.linalg.solve(reduced.T @ reduced, reduced.T @ y)
        ends = [affine_flow(X, y, instance[name], "linear").end for name in ("w0", "z")]
        unit = np.linalg.norm(unique) + np.linalg.norm(instance["w0"])
        return -max(float(np.linalg.norm(B.T @ end - unique) / unit) for end in ends)

    return _statement("E.1 parts 3 and 4: all minima project to one", "linear", slack)


def flow_is_reduced_flow(activation: str) -> Statement:
    """E.1 and E.2: phi(w(t)) is the flow of the reduced data from phi(w0), events included."""

    def slack(instance: Instance) -> float:
        X, y = data_of(instance)
        B = basis_of_span(instance)
        path = affine_flow(X, y, instance["w0"], activation)
        shadow = affine_flow(X @ B, y, B.T @ instance["w0"], activation)
        # Datum by datum: parallel data change at one moment, in an order that rounding decides.
        events = [sorted(p.events, key=lambda e: e.datum) for p in (path, shadow)]
        happened = [[(e.datum, e.kind) for e in some] for some in events]
        if happened[0] != happened[1]:
            return -1.0
        t = np.union1d(path.grid(20), shadow.grid(20))
        apart = np.abs(planted(instance) * path.at(t) @ B - shadow.at(t)).max()
        return -float(apart / (np.linalg.norm(instance["w0"]) + np.linalg.norm(shadow.end)))

    return _statement(f"E.1, E.2, {activation}: the projected flow is the reduced data's flow",
                      activation, slack)  # fmt: skip


def _statement(says: str, activation: str, slack) -> Statement:
    """Rank-deficient data; under A1 and A2 for the ReLU neuron, of any sign for the linear one."""
    return Statement(
        says=says,
        draws=factored_draws(False, signs=activation == "linear"),
        slack=slack,
        hypotheses=FULL_FACTORS,
        tolerance=ROUNDING,
    )


def orthogonal_pairs(X: ArrayLike) -> NDArray:
    """Booleans (n, n): which whole-number data X (n, d) are orthogonal to each other."""
    X = np.asarray(X, int)
    return (X @ X.T) == 0


def supports_exist(X: ArrayLike, width: int) -> bool:
    """Whether nonnegative vectors with `width` entries can have the zero products of X (n, d).

    Nonnegative vectors are orthogonal exactly if their supports are disjoint, so all families of
    n nonempty supports are tried. A necessary condition for nonnegative coordinates.
    """
    zero = orthogonal_pairs(X)
    pairs = list(combinations(range(len(zero)), 2))
    return any(
        all(((s[i] & s[j]) == 0) == zero[i, j] for i, j in pairs)
        for s in product(range(1, 2**width), repeat=len(zero))
    )


def search_nonnegative(X: ArrayLike, seed: int, count: int) -> NDArray:
    """Coordinates (n, r) of X (n, d) in the orthonormal basis of its span that makes their smallest
    entry largest, of `count` random bases and of the best ones, improved.

    Improvement is a random walk of shrinking rotations. Only ranks 2 and 3 are searched.
    Raises ValueError for other ranks.
    """
    X = np.asarray(X, float)
    _, values, Vt = np.linalg.svd(X, full_matrices=False)
    r = int(np.sum(values > 1e-9 * values[0]))
    if r not in (2, 3):
        raise ValueError(f"rank {r}: only ranks 2 and 3 are searched")
    Z = X @ Vt[:r].T
    rng = np.random.default_rng(seed)
    best = _best(Z, _rotations(r, count, 1.0, rng))
    size = 0.3
    for _ in range(40):
        best = _best(Z, np.concatenate([best[None], best @ _rotations(r, 60, size, rng)]))
        size *= 0.75
    return Z @ best


def _rotations(r: int, count: int, size: float, rng: np.random.Generator) -> NDArray:
    """Rotations (count, r, r), by angles of order `size` (1: all of them)."""
    if r == 2:
        angle = size * rng.uniform(-np.pi, np.pi, count)
        turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        return np.moveaxis(np.array(turn), 2, 0)
    if size == 1.0:
        return Rotation.from_quat(rng.normal(size=(count, 4))).as_matrix()
    return Rotation.from_rotvec(size * rng.normal(size=(count, 3))).as_matrix()


def _best(Z: NDArray, bases: NDArray) -> NDArray:
    """The basis of (k, r, r) with the largest smallest coordinate, each column with its better
    sign."""
    columns = Z @ bases
    up, down = columns.min(axis=1), (-columns).min(axis=1)
    k = int(np.argmax(np.maximum(up, down).min(axis=1)))
    return bases[k] * np.where(up[k] >= down[k], 1.0, -1.0)


def loses_its_sign(X: ArrayLike, seed: int, count: int) -> Counterexample:
    """sv.reduction.positive: A1 survives the reduction, against data X (n, 4) of rank 3: no
    orthonormal coordinates of their span are nonnegative."""
    X = np.asarray(X, int)
    smallest = float(search_nonnegative(X, seed, count).min() / np.linalg.norm(X, axis=1).max())
    zero = orthogonal_pairs(X)
    apart = [f"x_{i + 1} and x_{j + 1}" for i, j in zip(*np.nonzero(np.triu(zero)), strict=True)]
    return Counterexample(
        instance={"X": X},
        assumptions={
            "A1": assumptions(X, np.ones(len(X), int))["A1"],
            "rank X = 3 < d = 4": rank(X) == 3 and X.shape[1] == 4,
        },
        breaks=(bound("largest smallest coordinate over all orthonormal bases tried",
                      smallest, ">=", 0.0, "of |x_i|"),),
        recheck=(
            fact("four nonempty supports among three coordinates, disjoint exactly for the "
                 "orthogonal pairs, exist", supports_exist(X, 3), True),
            note("orthogonal pairs of data", tuple(apart)),
            note("such supports among four coordinates exist", supports_exist(X, 4)),
        ),
        route="nonnegative vectors are orthogonal exactly if their supports are disjoint; all "
        "families of supports are tried, no number is computed",
    )  # fmt: skip


def not_nonnegative(case: Counterexample, seed: int, count: int) -> list[Evidence]:
    """What decides against the claim: the search of `loses_its_sign`."""
    says = "the counterexample's data have nonnegative orthonormal coordinates of their span"
    tried = (note("bases tried", count), note("seed", seed))
    return [fact(says, case.breaks[0].holds, True), *tried]


def plane_coordinates(X: ArrayLike) -> NDArray:
    """Nonnegative orthonormal coordinates (n, 2) of data under A1 whose span is a plane.

    Angles between such data are at most 90 degrees, so one axis along the first edge of their cone
    and the other at a right angle, on the data's side, will do.
    """
    X = np.asarray(X, float)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    i, _ = np.unravel_index(np.argmin(unit @ unit.T), (len(X), len(X)))
    across = X - np.outer(X @ unit[i], unit[i])
    longest = across[np.argmax(np.linalg.norm(across, axis=1))]
    return np.column_stack([X @ unit[i], X @ (longest / np.linalg.norm(longest))])


def plane_keeps_sign(count: int) -> Statement:
    """sv.ours.reduction.plane: data of rank 2 in R^d keep A1 in coordinates of their span.

    That is, some orthonormal ones are nonnegative; `count` is the largest number of data.
    """

    def draw(kind: str):
        def one(rng: np.random.Generator) -> Instance:
            n, d = int(rng.integers(2, count + 1)), int(rng.integers(3, 7))
            whole = kind == "whole numbers"
            while True:
                A = rng.integers(0, 4, (n, 2)).astype(float) if whole else rng.uniform(size=(n, 2))
                if kind == "beyond the cone":  # data that are no mixtures of the rows of B
                    A = rng.normal(size=(n, 2))
                B = rng.integers(0, 3, (2, d)).astype(float) if whole else rng.uniform(size=(2, d))
                B = B * (rng.uniform(size=(2, d)) < 0.6)
                X = A @ B
                if (X >= 0).all() and X.any(axis=1).all() and np.linalg.matrix_rank(X) == 2:
                    return {"A": A, "B": B}

        return one

    def slack(instance: Instance) -> float:
        X = instance["A"] @ instance["B"]
        Z = plane_coordinates(X)
        same = np.abs(Z @ Z.T - X @ X.T).max() <= ROUNDING * np.abs(X @ X.T).max()
        return float(Z.min() / np.abs(Z).max()) if same else -1.0

    def plane(instance: Instance) -> bool:
        X = instance["A"] @ instance["B"]
        units = X / np.linalg.norm(X, axis=1, keepdims=True)
        return bool((X >= 0).all() and np.linalg.matrix_rank(units, tol=1e-6) == 2)

    return Statement(
        says="data of rank 2 keep A1 in orthonormal coordinates of their span",
        draws={kind: draw(kind) for kind in ("entries", "whole numbers", "beyond the cone")},
        slack=slack,
        hypotheses=given("sv.ours.reduction.plane", data=plane),
        tolerance=ROUNDING,
    )
