"""The page `linear`: the linear neuron, Appendices D and E, and how often it crosses a hyperplane,
Lemma F.10 and Theorem F.11."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np
from flint import fmpq_poly
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from reluflow.exact import over_q
from reluflow.falsify import Draws, Instance, Statement, given, planted, statement
from reluflow.flows.affine import affine_flow
from reluflow.geometry import rank
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2022support.landscape import gradient, loss
from reluflow.papers.lee2022support.rational import (
    crosses,
    equation,
    fitted,
    solve,
    zeros_between,
)
from reluflow.papers.lee2022support.setting import assumptions

# --- Proposition D.4: the hyperrectangle and the norm-increasing subset of the linear neuron ------
#
# Its loss is 1/2 |X w - y|^2, its flow w' = q - H w with H = X^T X and q = X^T y (eqs. 11, 12; the
# rows of X are the data). Signs of data and labels are free: Appendix D assumes none of A1 to A3.

ROUNDING = 1e-8
"""Relative error granted to quantities that pass through an eigenbasis or a least-squares fit."""


@dataclass(frozen=True)
class LinearNeuron:
    """Data X (n, d), y (n,) of full rank with the eigenvalues (d,) of H, its eigenvectors e_k, the
    columns of `axes`, and c_k* = e_k.w* >= 0, the sides of its hyperrectangle (Definition D.2)."""

    X: NDArray
    y: NDArray
    eigenvalues: NDArray
    axes: NDArray
    c: NDArray

    @property
    def minimum(self) -> NDArray:
        """w* = H^-1 q, shape (d,)."""
        return self.axes @ self.c

    @property
    def height(self) -> float:
        """1/4 w*.H w*, by which g lies below zero in the centre w*/2 of the ellipsoid."""
        return 0.25 * float(self.eigenvalues @ self.c**2)

    @property
    def vertices(self) -> NDArray:
        """The vertices (2^d, d) of the hyperrectangle; bit k of the row's number chooses c_k*."""
        d = len(self.c)
        return self.at(((np.arange(2**d)[:, None] >> np.arange(d)) & 1) * self.c)

    def g(self, w: ArrayLike) -> NDArray:
        """g(w) = -w.w' = w.grad L(w), negative inside the norm-increasing subset (D.3)."""
        w = np.asarray(w, float)
        return np.sum(w * gradient(self.X, self.y, w, "linear"), axis=-1)

    def at(self, coordinates: ArrayLike) -> NDArray:
        """The weight with the given coordinates (..., d) in the eigenbasis."""
        return np.asarray(coordinates, float) @ self.axes.T


def linear_neuron(X: ArrayLike, y: ArrayLike) -> LinearNeuron:
    """The neuron of data X (n, d), y (n,). Raises ValueError for data of rank below d."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    values, axes = np.linalg.eigh(X.T @ X)
    if values[0] <= 1e-12 * values[-1]:
        raise ValueError("the data do not have rank d, so that H has no inverse")
    c = axes.T @ np.linalg.lstsq(X, y, rcond=None)[0]
    return LinearNeuron(X, y, values, axes * np.where(c < 0, -1.0, 1.0), np.abs(c))


def neuron(instance: Instance) -> LinearNeuron:
    """The neuron with prescribed spectrum and minimum that an instance describes: s (d,)
    eigenvalues, c (d,) sides, V (d, d) and U (n, d) whose orthogonalised columns are the
    eigenvectors and the left singular vectors, e (n,) what no weight can fit."""
    V, U = np.linalg.qr(instance["V"])[0], np.linalg.qr(instance["U"])[0]
    root, e = np.sqrt(instance["s"]), instance["e"]
    y = U @ (root * instance["c"]) + e - U @ (U.T @ e)
    return LinearNeuron((U * root) @ V.T, y, instance["s"], V, instance["c"])


DIM = 3
"""The dimension d in which Proposition D.4 is tried."""


def spectral_draws(more: Callable[[np.random.Generator], Instance]) -> Draws:
    """Draws for `neuron`, each with the arrays of `more(rng)`: eigenvalues over two decades, all or
    all but one equal, 1e-6 apart, over six decades; "flat" with some c_k* = 0 (w* not zero)."""

    def one(kind: str, rng: np.random.Generator) -> Instance:
        n = DIM + int(rng.integers(0, 3))
        s = 10.0 ** rng.uniform(-1.0, 1.0, DIM)
        c = rng.uniform(0.05, 2.0, DIM)
        if kind == "tied":
            s = np.full(DIM, s[0])
            s[0] *= rng.choice([1.0, 4.0])
        elif kind == "close":
            s = s[0] * (1.0 + 1e-6 * rng.uniform(size=DIM))
        elif kind == "stiff":
            s = 10.0 ** rng.uniform(-3.0, 3.0, DIM)
        elif kind == "flat":
            c[rng.permutation(DIM)[: rng.integers(1, DIM)]] = 0.0
        base = {"s": s, "c": c, "V": rng.normal(size=(DIM, DIM)), "U": rng.normal(size=(n, DIM))}
        return {**base, "e": rng.normal(size=n), **more(rng)}

    return {kind: partial(one, kind) for kind in ("spread", "tied", "close", "stiff", "flat")}


def _near_boundary(rng: np.random.Generator) -> Instance:
    near = rng.choice([1.0 - 1e-3, 1.0 + 1e-3, rng.uniform(0.0, 0.9), rng.uniform(1.1, 3.0)])
    return {"u": rng.normal(size=DIM), "rho": np.array([near])}


@statement("1: the norm grows where g < 0 and falls where g > 0", spectral_draws(_near_boundary),
           strict=True)  # fmt: skip
def norm_grows_inside(item: Instance) -> float:
    """sv.propD.4.1: how the norm changes along the exact flow, against the sign of g(w), at `rho`
    times the ellipsoid's reach along u (d,), over a time in which it cannot turn round."""
    net = neuron(item)
    u = item["u"] / np.sqrt(net.eigenvalues)
    u = u * np.sqrt(net.height / (net.eigenvalues @ u**2))
    w = net.at(0.5 * net.c + item["rho"] * u)
    g, v = float(net.g(w)), np.linalg.norm(gradient(net.X, net.y, w, "linear"))
    reach = np.linalg.norm(w) + np.linalg.norm(w - net.minimum)
    bend = 2.0 * v**2 + 2.0 * net.eigenvalues.max() * reach * v  # of |w|^2 along the flow
    later = affine_flow(net.X, net.y, w, "linear").at(np.array([2.0 * abs(g) / bend]))[0]
    growth = float((later - w) @ (later + w)) / float(w @ w)
    return np.nan if abs(growth) < 1e-13 else -np.sign(g) * growth


AT_AN_INSTANT = Reading(
    taken="the norm increases at an instant if its derivative is positive",
    others="From w0 = 0, as from every vertex but w*, the norm increases from t = 0 on although "
    "g = 0 there.",
)
NOT_ZERO = Reading(
    taken="w* is not 0",
    others="For w* = 0 the subset is empty, and no ellipsoid (A1 and A2 exclude it).",
)


@statement("2: the subset is an ellipsoid along the eigenvectors",
           spectral_draws(lambda rng: {"u": rng.normal(size=DIM)}), tolerance=ROUNDING)  # fmt: skip
def subset_is_ellipsoid(item: Instance) -> float:
    """sv.propD.4.2: with the distance r(u) from w*/2 to g = 0, by values of g along u, how far
    1/r(u)^2 is from sum_k u_k^2 / r(e_k)^2; -1 where r(u) is not r(-u)."""
    net = neuron(item)
    centre, u, curvature = 0.5 * net.minimum, item["u"] / np.linalg.norm(item["u"]), []
    middle, step = float(net.g(centre)), np.linalg.norm(centre)
    for direction in (net.at(u), *net.axes.T):
        ahead, behind = (float(net.g(centre + k * step * direction)) for k in (1.0, -1.0))
        curvature.append(0.5 * (ahead + behind) - middle)
        if middle >= 0.0 or abs(ahead - behind) > ROUNDING * (abs(ahead) + net.height):
            return -1.0
    expected = float(u**2 @ np.array(curvature[1:]))
    return -abs(curvature[0] / expected - 1.0) if min(curvature) > 0.0 else -1.0


def _in_rectangle(rng: np.random.Generator) -> Instance:
    place = rng.uniform(size=DIM)
    if rng.uniform() < 0.5:  # a face, an edge or a vertex
        place = np.where(rng.uniform(size=DIM) < 0.6, np.round(place), place)
    return {"place": place}


_INSIDE = {"w0 in the hyperrectangle": lambda place: bool((place <= 1.0).all())}


@statement("3: the flow stays in the hyperrectangle", spectral_draws(_in_rectangle), _INSIDE,
           tolerance=ROUNDING)  # fmt: skip
def rectangle_is_invariant(item: Instance) -> float:
    """sv.propD.4.3: the least of c_k(t) and c_k* - c_k(t) from w0 = sum_k place_k c_k* e_k."""
    net = neuron(item)
    path = affine_flow(net.X, net.y, net.at(item["place"] * net.c), "linear")
    c = path.at(path.grid(40)) @ net.axes
    return float(min(c.min(), (net.c - c).min()) / np.linalg.norm(net.c))


CLOSED = Reading(
    taken="w* is not 0, and the ellipsoid is the closed one",
    others="The set g < 0 as defined is open and misses the vertices, so it does not contain the "
    "hyperrectangle. For w* = 0 the set g < 0 is empty and has no boundary.",
)


@statement("4: the closed ellipsoid contains the hyperrectangle", spectral_draws(_in_rectangle),
           _INSIDE, tolerance=ROUNDING)  # fmt: skip
def rectangle_in_ellipsoid(item: Instance) -> float:
    """sv.propD.4.4: g <= 0 on the hyperrectangle, 0 at the vertex nearest to the point, the same
    where the point is mirrored in w*/2."""
    net = neuron(item)
    w, vertex = net.at(item["place"] * net.c), net.at(np.round(item["place"]) * net.c)
    g, mirrored, corner = net.g([w, net.minimum - w, vertex])
    return -float(max(g, abs(g - mirrored), abs(corner))) / net.height


# --- Where the flows of the linear neuron end: Proposition D.1 and Theorem D.5, at any rank -------
#
# Data X (n, d) of rank r are drawn as a product A B, so that a search keeps the rank.


def factored_draws(deficient: bool, signs: bool = True) -> Draws:
    """Draws of data X = A B of rank r: A (n, r), B (r, d), y (n,), w0 (d,), z (d,), with r < d if
    `deficient`; n below, at or above d. With `signs` the entries have any sign, else X satisfies A1
    and y satisfies A2."""

    def factor(kind: str, n: int, m: int, rng: np.random.Generator) -> NDArray:
        while True:
            if kind == "whole numbers":
                M = rng.integers(-2 if signs else 0, 4, (n, m)).astype(float)
            else:
                M = rng.normal(size=(n, m)) if signs else rng.uniform(size=(n, m))
            if M.any() and np.linalg.cond(M) <= 30.0:
                return M

    def one(kind: str, rng: np.random.Generator) -> Instance:
        d = int(rng.integers(1 + deficient, 6))
        r = 1 if kind == "single" else int(rng.integers(1, d + 1 - deficient))
        n = r + int(rng.integers(0, 4))
        A, B = factor(kind, n, r, rng), factor(kind, r, d, rng)
        y = rng.normal(size=n) if signs else rng.uniform(0.1, 2.0, n)
        return {"A": A, "B": B, "y": y, "w0": rng.normal(size=d), "z": rng.normal(size=d)}

    return {kind: partial(one, kind) for kind in ("entries", "whole numbers", "single")}


def data_of(instance: Instance) -> tuple[NDArray, NDArray]:
    """X = A B (n, d) and y (n,)."""
    return instance["A"] @ instance["B"], instance["y"]


FULL_FACTORS = {
    "the factors have full rank beyond rounding": lambda item: bool(
        np.linalg.cond(item["A"]) <= 1e2 and np.linalg.cond(item["B"]) <= 1e2
    )
}


def late(X: NDArray, y: NDArray, w0: NDArray, decays: float = 40.0) -> NDArray:
    """The linear flow's state (d,) after `decays` units of its slowest time, without an eigenbasis:
    SciPy's matrix exponential (a Pade approximant) of the generator [[-H, q], [0, 0]]."""
    H, q = X.T @ X, X.T @ y
    values = np.linalg.svd(X, compute_uv=False)
    slowest = values[values > 1e-9 * values[0]].min() ** 2
    generator = np.zeros((len(q) + 1, len(q) + 1))
    generator[:-1, :-1], generator[:-1, -1] = -H, q
    return (expm(generator * (decays / slowest)) @ np.append(w0, 1.0))[:-1]


MANIFOLD = Reading(
    taken="(i) every flow converges to a global minimum; (ii) r = d; (iii) a linear manifold is an "
    "affine one",
    others="(i) for r < d there is no single global minimum: the limit is the one nearest to w0. "
    "(ii) r > d cannot be. (iii) The manifold contains 0 only if q = 0.",
)


@statement("D.1 (i): every flow reaches the least loss", factored_draws(False), FULL_FACTORS,
           tolerance=ROUNDING)  # fmt: skip
def every_flow_is_optimal(item: Instance) -> float:
    """sv.propD.1: from every w0 the flow's late state has the least loss, whatever the rank (i)."""
    X, y = data_of(item)
    fitted = np.linalg.lstsq(X, y, rcond=1e-9)[0]
    w = planted(item) * late(X, y, item["w0"])
    excess = float(loss(X, y, w, "linear") - loss(X, y, fitted, "linear"))
    apart = np.linalg.norm(w - affine_flow(X, y, item["w0"], "linear").end)
    unit = np.linalg.norm(item["w0"]) + np.linalg.norm(fitted)
    return -max(excess / (0.5 * float(y @ y)), float(apart / unit))


@statement("D.5, 1: from 0 the limit is the shortest minimiser", factored_draws(False),
           FULL_FACTORS, tolerance=ROUNDING)  # fmt: skip
def limit_from_zero_is_shortest(item: Instance) -> float:
    """sv.thmD.5: from w0 = 0 the limit is the minimiser of least norm (part 1; LAPACK's gelsd)."""
    X, y = data_of(item)
    shortest = np.linalg.lstsq(X, y, rcond=1e-9)[0]
    limit = planted(item) * late(X, y, np.zeros(X.shape[1]))
    apart = np.linalg.norm(limit - shortest)
    return -float(apart / np.linalg.norm(shortest))


@statement("D.5, 2: from 0 the norm never falls", factored_draws(False), FULL_FACTORS,
           tolerance=1e-14)  # fmt: skip
def norm_grows_from_zero(item: Instance) -> float:
    """D.5, part 2: |w(t)| never falls along the flow from 0."""
    X, y = data_of(item)
    path = affine_flow(X, y, (planted(item) - 1.0) * item["w0"], "linear")
    W = path.at(path.grid(60))
    growth = np.sum(np.diff(W, axis=0) * (W[1:] + W[:-1]), axis=1)
    return float(growth.min() / (path.end @ path.end))


# --- Theorem E.1, Corollary E.2: what reducing data to their span keeps ---------------------------
#
# The span of the data is range(H) of the linear neuron; phi projects onto it. With an orthonormal
# basis B (d, r) of it, the reduced data are X B (n, r).


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


def loss_is_constant_across(activation: str, item: Instance) -> float:
    """E.1, part 1: L(w + v) = L(w) for every v orthogonal to the data."""
    (X, y), B = data_of(item), basis_of_span(item)
    v = item["z"] - B @ (B.T @ item["z"])
    before, after = (loss(X, y, w, activation) for w in (item["w0"], item["w0"] + v))
    return -float(abs(planted(item) * after - before)) / _sizes(X, y, item["w0"])


def flow_stays_along_span(activation: str, item: Instance) -> float:
    """E.1, part 2: w(t) - w0 lies in the span of the data."""
    (X, y), B = data_of(item), basis_of_span(item)
    path = affine_flow(X, y, item["w0"], activation)
    moved = path.at(path.grid(20)) - item["w0"]
    across = moved - planted(item) * moved @ B @ B.T
    return -float(np.abs(across).max() / (np.linalg.norm(item["w0"]) + np.abs(moved).max()))


@statement("E.1 parts 3 and 4: all minima project to one", factored_draws(True), FULL_FACTORS,
           tolerance=ROUNDING)  # fmt: skip
def minima_project_to_one(item: Instance) -> float:
    """E.1, parts 3 and 4: phi sends the limits of two starts to the minimiser of the data X B."""
    (X, y), B = data_of(item), basis_of_span(item)
    reduced = X @ B
    unique = planted(item) * np.linalg.solve(reduced.T @ reduced, reduced.T @ y)
    ends = [affine_flow(X, y, item[name], "linear").end for name in ("w0", "z")]
    unit = np.linalg.norm(unique) + np.linalg.norm(item["w0"])
    return -max(float(np.linalg.norm(B.T @ end - unique) / unit) for end in ends)


def flow_is_reduced_flow(activation: str, item: Instance) -> float:
    """E.1 and E.2: phi(w(t)) is the flow of the reduced data from phi(w0), events included."""
    (X, y), B = data_of(item), basis_of_span(item)
    path = affine_flow(X, y, item["w0"], activation)
    shadow = affine_flow(X @ B, y, B.T @ item["w0"], activation)
    # Datum by datum: parallel data change at one moment, in an order that rounding decides.
    events = [sorted(p.events, key=lambda e: e.datum) for p in (path, shadow)]
    happened = [[(e.datum, e.kind) for e in some] for some in events]
    if happened[0] != happened[1]:
        return -1.0
    t = np.union1d(path.grid(20), shadow.grid(20))
    apart = np.abs(planted(item) * path.at(t) @ B - shadow.at(t)).max()
    return -float(apart / (np.linalg.norm(item["w0"]) + np.linalg.norm(shadow.end)))


_KEPT = {
    "E.1 part 1, {}: L(w + v) = L(w) across the span": loss_is_constant_across,
    "E.1 part 2, {}: the flow stays in w0 + span": flow_stays_along_span,
    "E.1, E.2, {}: the projected flow is the reduced data's flow": flow_is_reduced_flow,
}
"""Asked on rank-deficient data: under A1 and A2 for the ReLU neuron, of any sign for the linear."""


def _kept(activation: str) -> list[Statement]:
    draws = factored_draws(True, signs=activation == "linear")
    return [Statement(says.format(activation), draws, partial(slack, activation), FULL_FACTORS,
                      tolerance=ROUNDING) for says, slack in _KEPT.items()]  # fmt: skip


def linear_reduction() -> list[Statement]:
    """sv.thmE.1: its four parts, and that the projected flow is the reduced data's flow."""
    return [*_kept("linear"), minima_project_to_one()]


def relu_reduction() -> list[Statement]:
    """sv.corE.2: for the ReLU neuron, all of Theorem E.1 but what it says of minima."""
    return _kept("relu")


def supports_exist(X: ArrayLike, width: int) -> bool:
    """Whether nonnegative vectors with `width` entries can have the zero products of X (n, d)."""
    products = np.asarray(X, int) @ np.transpose(X)
    pairs = list(combinations(range(len(products)), 2))
    return any(
        all(((s[i] & s[j]) == 0) == (products[i, j] == 0) for i, j in pairs)
        for s in product(range(1, 2**width), repeat=len(products))
    )


def search_nonnegative(X: ArrayLike, seed: int, count: int) -> NDArray:
    """Coordinates (n, 3) of X (n, d), of rank 3, in the orthonormal basis of its span that makes
    their smallest entry largest, of `count` random bases and of the best ones, improved by a random
    walk of shrinking rotations."""
    X = np.asarray(X, float)
    Z = X @ np.linalg.svd(X, full_matrices=False)[2][:3].T
    rng = np.random.default_rng(seed)
    best = _best(Z, Rotation.from_quat(rng.normal(size=(count, 4))).as_matrix())
    size = 0.3
    for _ in range(40):
        turns = Rotation.from_rotvec(size * rng.normal(size=(60, 3))).as_matrix()
        best = _best(Z, np.concatenate([best[None], best @ turns]))
        size *= 0.75
    return Z @ best


def _best(Z: NDArray, bases: NDArray) -> NDArray:
    """The one of (k, r, r) with the largest smallest coordinate, columns with their better sign."""
    columns = Z @ bases
    up, down = columns.min(axis=1), (-columns).min(axis=1)
    k = int(np.argmax(np.maximum(up, down).min(axis=1)))
    return bases[k] * np.where(up[k] >= down[k], 1.0, -1.0)


def loses_its_sign(X: ArrayLike, seed: int, count: int) -> tuple[list[Evidence], Counterexample]:
    """sv.reduction.positive: against data X (n, 4) of rank 3, by `count` bases and a search."""
    X = np.asarray(X, int)
    smallest = float(search_nonnegative(X, seed, count).min() / np.linalg.norm(X, axis=1).max())
    pairs = zip(*np.nonzero(np.triu(X @ X.T == 0)), strict=True)
    apart = [f"x_{i + 1} and x_{j + 1}" for i, j in pairs]
    says = "the counterexample's data have nonnegative orthonormal coordinates of their span"
    evidence = [fact(says, smallest >= 0.0, True), note("bases tried", count), note("seed", seed)]
    return evidence, Counterexample(
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


def plane_coordinates(X: ArrayLike) -> NDArray:
    """Nonnegative orthonormal coordinates (n, 2) of data under A1 whose span is a plane: one axis
    along the first edge of their cone, the other at a right angle on the data's side."""
    X = np.asarray(X, float)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    edge = unit[np.argmin(unit @ unit.T) // len(X)]
    across = X - np.outer(X @ edge, edge)
    longest = across[np.argmax(np.linalg.norm(across, axis=1))]
    return np.column_stack([X @ edge, X @ (longest / np.linalg.norm(longest))])


def plane_keeps_sign() -> Statement:
    """sv.ours.reduction.plane: the least of `plane_coordinates` of up to 6 data of rank 2."""

    def draw(kind: str, rng: np.random.Generator) -> Instance:
        n, d = int(rng.integers(2, 7)), int(rng.integers(2, 7))
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

    def slack(instance: Instance) -> float:
        X = instance["A"] @ instance["B"]
        Z = plane_coordinates(X)
        same = np.abs(Z @ Z.T - X @ X.T).max() <= ROUNDING * np.abs(X @ X.T).max()
        return float(Z.min() / np.abs(Z).max()) if same else -1.0

    def plane(instance: Instance) -> bool:
        X = instance["A"] @ instance["B"]
        units = X / np.linalg.norm(X, axis=1, keepdims=True)
        return bool((X >= 0).all() and np.linalg.matrix_rank(units, tol=1e-6) == 2)

    says = "data of rank 2 keep A1 in orthonormal coordinates of their span"
    draws = {kind: partial(draw, kind) for kind in ("entries", "whole numbers", "beyond the cone")}
    tests = given("sv.ours.reduction.plane", data=plane)
    return Statement(says, draws, slack, tests, tolerance=ROUNDING)


# --- Second route: Proposition D.1 in whole numbers, Lemma F.10 and Theorem F.11 over the rationals
#
# With whole exponents a sum of exponentials is a polynomial in u = exp(t), whose zeros Sturm's
# theorem counts; that no sum has more zeros than the lemma says is a determinant.


def manifolds(seed: int, count: int) -> list[Evidence]:
    """D.1 (ii), (iii): whole-number data on which not rank [H q] = rank H = rank X."""
    rng = np.random.default_rng(seed)
    wrong = 0
    for _ in range(count):
        (n, d), inner = rng.integers(1, 6, 2), rng.integers(1, 5)
        X = rng.integers(-2, 3, (n, inner)) @ rng.integers(-2, 3, (inner, d))
        H, q = X.T @ X, X.T @ rng.integers(-5, 6, n)
        wrong += not rank(np.column_stack([H, q])) == rank(H) == rank(X)
    says = "whole-number data sets whose stationary set is not affine of dimension d - r"
    return [fact(says, wrong, 0), note("such data sets", count)]


def _zeros(first: int, most: int, rng: np.random.Generator) -> Instance:
    """Exponents "b" (n,), and n + 1 of the `most` whole "points" from `first` on."""
    n = int(rng.integers(1, 6))
    b = rng.permutation(np.delete(np.arange(-6, 7), 6))[:n]
    return {"b": b, "points": first + rng.permutation(most)[: n + 1]}


@statement("no sum of 1 and n exponentials vanishes at n + 1 points",
           {"wide": partial(_zeros, 1, 60), "close": partial(_zeros, 10**4, 12)},
           strict=True)  # fmt: skip
def points_of_zeros(b: NDArray, points: NDArray) -> float:
    """sv.lemF.10: the sign of det u_j^(b_i), exponents 0, b_1, ..., b_n and points ascending."""
    exponents = sorted([0, *map(int, b)])
    det = over_q(
        [[Fraction(u, 12) ** k for k in exponents] for u in sorted(map(int, points))]
    ).det()
    return float((det > 0) - (det < 0))


def zeros_attained() -> list[Evidence]:
    """The construction in the proof of Lemma F.10: n zeros, all simple, for n = 1..6."""
    attained = []
    for n in range(1, 7):
        b = [(k + 1) // 2 * (-1) ** k for k in range(1, n + 1)]  # -1, 1, -2, 2, ...
        zeros = [2**k for k in range(n)]  # t = 0, 1, ..., n - 1 in units of log 2
        p = fitted(b, zeros)
        attained.append(zeros_between(p) if crosses(p, zeros) else -1)
    says = "zeros of the Vandermonde equations for n = 1, 2, ..., all simple"
    return [fact(says, tuple(attained), (1, 2, 3, 4, 5, 6))]


def diagonal_example(d: int) -> fmpq_poly:
    """Data k e_k with labels k, k = 1..d: v.w(t) = 1 as an equation in u = exp(-t), for the
    hyperplane met at u = 1/2, ..., 1/2^d."""
    zeros = [Fraction(1, 2**k) for k in range(1, d + 1)]
    powers = [k * k for k in range(1, d + 1)]
    v = solve([[1 - u**k for k in powers] for u in zeros], [1] * d)
    return equation([-c for c in v], powers, 1 - sum(v))


def _rates(rng: np.random.Generator) -> Instance:
    d = int(rng.integers(1, 6))
    return {"rates": 1 + rng.permutation(9)[:d], "points": 1 + rng.permutation(11)[:d],
            "d": np.array(d)}  # fmt: skip


@statement("a hyperplane through d points of the path is crossed at most d times",
           {"whole rates": _rates},
           {"the space has d dimensions": lambda rates, d: len(rates) == d})  # fmt: skip
def crossings_of_hyperplane(rates: NDArray, points: NDArray, d: NDArray) -> float:
    """sv.thmF.11.1: d less the zeros in t > 0 of v.w(t) - c = sum_k a_k u^(l_k) - 1, u = exp(-t),
    l_k the eigenvalues of H, for a hyperplane that the flow meets at d points, by Sturm."""
    p = fitted(rates.tolist(), [Fraction(int(point), 12) for point in points])
    return float(d - zeros_between(p, 0, 1))


def diagonal_crossings(dimensions: Sequence[int]) -> list[Evidence]:
    """sv.thmF.11.2: d crossings at t > 0 on data that satisfy A1 to A3, in these dimensions."""
    equations = {d: diagonal_example(d) for d in dimensions}
    turning = [
        crosses(p, (Fraction(1, 2**k) for k in range(1, d + 1))) for d, p in equations.items()
    ]
    return [
        fact(f"crossings at t > 0 of the diagonal example, d = {tuple(dimensions)} (Sturm)",
             tuple(zeros_between(p, 0, 1) for p in equations.values()), tuple(dimensions)),
        fact("each of them changes the sign", all(turning), True),
    ]  # fmt: skip


def some_constants() -> Reading:
    """Which constants Lemma F.10 can mean, and two equations that every t solves."""
    constant, stuck = equation([1], [0], 1), fitted((0, 1, 2), [1, 2, 4])
    checked = ["not so" if each else "checked" for each in (constant, stuck)]
    return Reading(
        taken="some constants: any constants, b_i different and not zero, not all of a_i and c "
        "zero",
        others="Literally, that such constants exist, it says nothing. For all constants it is "
        f"false: exp(0 t) = 1 is an identity ({checked[0]}), and so is what "
        f"the construction gives once some b_i is 0 ({checked[1]}).",
    )


AT_MOST = Reading(
    taken="no linear flow crosses a hyperplane more than d times, unless it lies in it",
    others="As printed, there is a data set whose flow crosses V at most d times: true of every "
    "data set, and of a flow that never meets V.",
)
ATTAINED = Reading(
    taken="some data set under A1 to A3, some w0 and some V attain d",
    others="As printed, at most d crossings are claimed, and none need be there.",
)
