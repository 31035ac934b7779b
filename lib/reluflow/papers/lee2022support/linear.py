"""The linear neuron's hyperrectangle and norm-increasing subset: the four parts of Proposition D.4.

Its loss is 1/2 |X w - y|^2, its flow w' = q - H w with H = X^T X and q = X^T y (eqs. 11, 12; the
rows of X are the data). Signs of data and labels are free: Appendix D assumes none of A1 to A3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.flows.affine import affine_flow
from reluflow.instances import Draws
from reluflow.ledger import Reading
from reluflow.networks import gradient

ROUNDING = 1e-8
"""Relative error granted to quantities that pass through an eigenbasis or a least-squares fit."""


@dataclass(frozen=True)
class LinearNeuron:
    """Data X (n, d), y (n,) of full rank with an eigenbasis of H (Definition D.2).

    eigenvalues  (d,) of H
    axes         (d, d), columns e_k, signs chosen such that c_k* >= 0
    c            (d,) c_k* = e_k.w*, the sides of the hyperrectangle of H
    """

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
    """The neuron of data X (n, d), y (n,), its axes chosen such that c_k* >= 0 (Definition D.2).

    Raises ValueError for data of rank below d.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    values, axes = np.linalg.eigh(X.T @ X)
    if values[0] <= 1e-12 * values[-1]:
        raise ValueError("the data do not have rank d, so that H has no inverse")
    c = axes.T @ np.linalg.lstsq(X, y, rcond=None)[0]
    return LinearNeuron(X, y, values, axes * np.where(c < 0, -1.0, 1.0), np.abs(c))


def neuron(instance: Instance) -> LinearNeuron:
    """The neuron with prescribed spectrum and minimum that an instance describes.

    s (d,) eigenvalues, c (d,) sides, V (d, d) and U (n, d) whose orthogonalised columns are the
    eigenvectors and the left singular vectors, e (n,) what no weight can fit: then
    X = U sqrt(s) V^T and y = U sqrt(s) c + (I - U U^T) e. For repeated eigenvalues V is one of
    many eigenbases, and an arbitrary one.
    """
    V, U = np.linalg.qr(instance["V"])[0], np.linalg.qr(instance["U"])[0]
    root, e = np.sqrt(instance["s"]), instance["e"]
    y = U @ (root * instance["c"]) + e - U @ (U.T @ e)
    return LinearNeuron((U * root) @ V.T, y, instance["s"], V, instance["c"])


def spectral_draws(d: int, more: Callable[[int, np.random.Generator], Instance]) -> Draws:
    """Draws for `neuron`, each with the arrays of `more(d, rng)`.

    "spread" eigenvalues over two decades, "tied" all or all but one equal, "close" 1e-6 apart,
    "stiff" over six decades, "flat" with some c_k* = 0 (but w* not zero).
    """

    def one(kind: str) -> Callable[[np.random.Generator], Instance]:
        def draw(rng: np.random.Generator) -> Instance:
            n = d + int(rng.integers(0, 3))
            s = 10.0 ** rng.uniform(-1.0, 1.0, d)
            c = rng.uniform(0.05, 2.0, d)
            if kind == "tied":
                s = np.full(d, s[0])
                s[0] *= rng.choice([1.0, 4.0])
            elif kind == "close":
                s = s[0] * (1.0 + 1e-6 * rng.uniform(size=d))
            elif kind == "stiff":
                s = 10.0 ** rng.uniform(-3.0, 3.0, d)
            elif kind == "flat":
                c[rng.permutation(d)[: rng.integers(1, d)]] = 0.0
            base = {"s": s, "c": c, "V": rng.normal(size=(d, d)), "U": rng.normal(size=(n, d))}
            return {**base, "e": rng.normal(size=n), **more(d, rng)}

        return draw

    kinds = ("spread", "tied", "close", "stiff", "flat")
    return {kind: one(kind) for kind in kinds if d > 1 or kind != "flat"}


def _near_boundary(d: int, rng: np.random.Generator) -> Instance:
    near = rng.choice([1.0 - 1e-3, 1.0 + 1e-3, rng.uniform(0.0, 0.9), rng.uniform(1.1, 3.0)])
    return {"u": rng.normal(size=d), "rho": np.array([near])}


def norm_grows_inside(d: int) -> Statement:
    """sv.propD.4.1: the norm grows at w if g(w) < 0 and falls if g(w) > 0.

    Weights lie at `rho` times the ellipsoid's reach in the direction of the coordinates u (d,).
    The norm is followed by the exact flow over a time in which it cannot turn round.
    """

    def slack(instance: Instance) -> float:
        net = neuron(instance)
        u = instance["u"] / np.sqrt(net.eigenvalues)
        u = u * np.sqrt(net.height / (net.eigenvalues @ u**2))
        w = net.at(0.5 * net.c + instance["rho"] * u)
        g, v = float(net.g(w)), np.linalg.norm(gradient(net.X, net.y, w, "linear"))
        reach = np.linalg.norm(w) + np.linalg.norm(w - net.minimum)
        bend = 2.0 * v**2 + 2.0 * net.eigenvalues.max() * reach * v  # of |w|^2 along the flow
        later = affine_flow(net.X, net.y, w, "linear").at(np.array([2.0 * abs(g) / bend]))[0]
        growth = float((later - w) @ (later + w)) / float(w @ w)
        return np.nan if abs(growth) < 1e-13 else -np.sign(g) * growth

    return Statement(
        says="1: the norm grows where g < 0 and falls where g > 0",
        draws=spectral_draws(d, _near_boundary),
        slack=slack,
        strict=True,
    )


NOT_ZERO = Reading(
    taken="w* is not 0",
    others="For w* = 0 the subset is empty, and no ellipsoid (A1 and A2 exclude it).",
)


def subset_is_ellipsoid(d: int) -> Statement:
    """sv.propD.4.2: {g < 0} is an ellipsoid about w*/2 with axes along the eigenvectors of H.

    g is quadratic, so its values at w*/2 and at w*/2 +- u give the distance r(u) to the boundary;
    an ellipsoid with those axes has 1/r(u)^2 = sum_k u_k^2 / r(e_k)^2 and r(u) = r(-u).
    """

    def slack(instance: Instance) -> float:
        net = neuron(instance)
        centre, middle = 0.5 * net.minimum, None
        u = instance["u"] / np.linalg.norm(instance["u"])
        curvature = []
        middle = float(net.g(centre))
        step = np.linalg.norm(centre)
        for direction in (net.at(u), *net.axes.T):
            ahead, behind = (float(net.g(centre + k * step * direction)) for k in (1.0, -1.0))
            curvature.append(0.5 * (ahead + behind) - middle)
            if middle >= 0.0 or abs(ahead - behind) > ROUNDING * (abs(ahead) + net.height):
                return -1.0
        expected = float(u**2 @ np.array(curvature[1:]))
        return -abs(curvature[0] / expected - 1.0) if min(curvature) > 0.0 else -1.0

    return Statement(
        says="2: the subset is an ellipsoid along the eigenvectors",
        draws=spectral_draws(d, lambda d, rng: {"u": rng.normal(size=d)}),
        slack=slack,
        tolerance=ROUNDING,
    )


def _in_rectangle(d: int, rng: np.random.Generator) -> Instance:
    place = rng.uniform(size=d)
    if rng.uniform() < 0.5:  # a face, an edge or a vertex
        place = np.where(rng.uniform(size=d) < 0.6, np.round(place), place)
    return {"place": place}


_INSIDE = {"w0 in the hyperrectangle": lambda item: bool((item["place"] <= 1.0).all())}


def rectangle_is_invariant(d: int) -> Statement:
    """sv.propD.4.3: from w0 = sum_k place_k c_k* e_k the flow keeps 0 <= c_k(t) <= c_k*."""

    def slack(instance: Instance) -> float:
        net = neuron(instance)
        path = affine_flow(net.X, net.y, net.at(instance["place"] * net.c), "linear")
        c = path.at(path.grid(40)) @ net.axes
        return float(min(c.min(), (net.c - c).min()) / np.linalg.norm(net.c))

    return Statement(
        says="3: the flow stays in the hyperrectangle",
        draws=spectral_draws(d, _in_rectangle),
        slack=slack,
        hypotheses=_INSIDE,
        tolerance=ROUNDING,
    )


CLOSED = Reading(
    taken="the ellipsoid is the closed one",
    others="The set g < 0 as defined is open and misses the vertices, so it does not contain the "
    "hyperrectangle.",
)


def rectangle_in_ellipsoid(d: int) -> Statement:
    """sv.propD.4.4: g <= 0 on the hyperrectangle; the closed ellipsoid contains it."""

    def slack(instance: Instance) -> float:
        net = neuron(instance)
        return -float(net.g(net.at(instance["place"] * net.c))) / net.height

    return Statement(
        says="4: the closed ellipsoid contains the hyperrectangle",
        draws=spectral_draws(d, _in_rectangle),
        slack=slack,
        hypotheses=_INSIDE,
        tolerance=ROUNDING,
    )
