"""The page `crossings`: Theorem F.6."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray
from sympy import Matrix, Rational, sqrt

from reluflow.falsify import Instance, Statement, given
from reluflow.flows.affine import affine_flow
from reluflow.geometry import parallel_classes
from reluflow.instances import Arrays, Draws, extended
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2022support.norm import OVERSHOOT, ROUNDING, SMALL, rate_polynomial
from reluflow.papers.lee2022support.setting import (
    NORMS,
    assumptions,
    crossings,
    integrate,
    meets,
    small_flows,
    smallest_force,
)
from reluflow.papers.lee2022support.small_flows import (
    at_crossings,
    conditions,
    norm_lost,
)

# --- Second route: Theorem F.6's conditions at a crossing next to the origin, in surds ------------


def conditions_at_the_origin(
    X: Sequence[Sequence[int]], y: Sequence[int], v: Sequence[int]
) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    """The least slacks of B1, of B2 and of B4 as eps -> 0, where the planar flow from eps v
    activates all data that are inactive at v; B2 and B4 for each of them in turn. On the way w =
    eps v + t q. Signs of e_k as in Definition D.2, those of H~ the nearest to them, both spectra in
    descending order."""
    rows, start = [Matrix(x) for x in X], Matrix(v)
    on = [i for i, x in enumerate(rows) if x.dot(start) > 0]
    switched = [i for i in range(len(rows)) if i not in on]
    (H, q), (K, r) = (_sums(rows, y, some) for some in (on, range(len(rows))))
    x = rows[switched[0]]
    w = start - Rational(x.dot(start), x.dot(q)) * q
    u, old, new = w / _norm(w), H.LUsolve(q), K.LUsolve(r)
    spectrum = [(s, e * sympy.sign(e.dot(old))) for s, e in _spectrum(H)]
    (top, _), (least, _) = spectrum
    apart = [
        sympy.Min(_norm(f - e), _norm(f + e))
        for (_, e), (_, f) in zip(spectrum, _spectrum(K), strict=True)
    ]
    B1 = [least / top * e.dot(u) - gap for (_, e), gap in zip(spectrum, apart, strict=True)]
    # The bracket of B2 times c_k; c_k and w_0 vanish with eps, c_k / |w_0| is e_k.u.
    brackets = [(e.dot(old) / s - _norm(new) / top * e.dot(u)) * s**2 for s, e in spectrum]
    B2, B4 = [], []
    for i in switched:
        x = rows[i]
        inner = 1 - x.dot(H.LUsolve(x))
        B2 += [x.dot(old) + inner / _norm(x) * value - y[i] for value in brackets]
        B4.append(-x.dot(old))
    return sympy.Min(*B1), sympy.Min(*B2), sympy.Min(*B4)


def _sums(rows: Sequence[Matrix], y: Sequence[int], some: Sequence[int]) -> tuple[Matrix, Matrix]:
    """H (2, 2) and q (2, 1) of some of the data."""
    H = sum((rows[i] * rows[i].T for i in some), sympy.zeros(2))
    return H, sum((y[i] * rows[i] for i in some), sympy.zeros(2, 1))


def _norm(v: Matrix) -> sympy.Expr:
    return sqrt(v.dot(v))


def _spectrum(H: Matrix) -> list[tuple[sympy.Expr, Matrix]]:
    """Eigenvalues of H, not diagonal, and unit eigenvectors, the larger one first."""
    root = sqrt((H[0, 0] - H[1, 1]) ** 2 + 4 * H[0, 1] ** 2)
    found = []
    for s in ((H.trace() + root) / 2, (H.trace() - root) / 2):
        e = Matrix([H[0, 1], s - H[0, 0]])
        found.append((s, e / _norm(e)))
    return found


# --- Parallel data cross together: Theorem F.6 fails on them --------------------------------------


TOGETHER = (np.array([[6, 7], [4, 1], [0, 1], [0, 1]]), np.array([5, 7, 8, 8]), np.array([2, -1]))
"""Data X, y and a direction v: from w0 = eps v the last two data are activated together."""


def merged(item: Instance) -> Arrays:
    """The same flow with no two data parallel: a class a_i u, a_i > 0, with labels y_i becomes the
    datum |a| u with the label a.y / |a|, which changes the loss by a constant."""
    X, y = np.asarray(item["X"], float), np.asarray(item["y"], float)
    rows, labels = [], []
    for members in map(sorted, parallel_classes(X)):
        sizes = np.linalg.norm(X[members], axis=1)
        size = np.linalg.norm(sizes)
        alone = len(members) == 1
        rows.append(X[members[0]] if alone else X[members[0]] / sizes[0] * size)
        labels.append(y[members[0]] if alone else sizes @ y[members] / size)
    return {**item, "X": np.array(rows), "y": np.array(labels)}


def _shares(X: ArrayLike, y: ArrayLike, v: ArrayLike) -> list[float]:
    """The drop of |w|^2 along the flows from eps v, eps in `SMALL`, as shares of |w0|^2."""
    starts = [eps * np.asarray(v, float) for eps in SMALL]
    return [norm_lost(X, y, affine_flow(X, y, w0)) / float(w0 @ w0) for w0 in starts]


def drop_on_parallel_data() -> list[Evidence]:
    """sv.thmF.6: with B1-B4 at every crossing the norm never drops (Theorem F.6); by how much it
    does on four data of which two are equal."""
    shares = _shares(*TOGETHER)
    return [
        bound("drop of |w|^2 on the counterexample's data, with B1-B4 at its one crossing",
              shares[0], "<=", 0, "of |w0|^2"),
        bound("drop of |w|^2 along the flow from eps (1, 0), eps = 0.01, on x = (1, 2), (2, 1), "
              "y = (3, 3), which crosses no boundary", _shares(*OVERSHOOT)[0], "<=", 0,
              "of |w0|^2"),
        note(f"the same from eps (2, -1), eps = {', '.join(f'{e:g}' for e in SMALL)}",
             tuple(shares)),
    ]  # fmt: skip


def one_datum() -> Reading:
    """What x_0 and H~ are where data share a boundary, and what the theorem says otherwise."""
    X, y, v = TOGETHER
    alone = merged({"X": X, "y": y})
    (step,) = crossings(alone["X"], affine_flow(alone["X"], alone["y"], SMALL[-1] * v))
    label = alone["y"][-1]
    most = label * (1.0 + conditions(alone["X"], alone["y"], step).B2)
    return Reading(
        "x_0 is one datum of the boundary that is crossed, H~ is the printed sum over the data "
        "active in P~, to which equal data give a term each, and a flow that crosses nothing meets "
        "the conditions",
        "If equal data count as one, as Lemma F.1 has it, B2 fails on the counterexample: it asks "
        f"for {label:.1f} < {most:.1f}. Without parallel data the flow from eps (1, 0) on x = "
        "(1, 2), (2, 1), y = (3, 3) is left: it crosses no boundary, so that there is no "
        "condition, and its norm drops. If at least one crossing is meant, too, and no two data "
        "are parallel, the theorem is true wherever x_0.H^-1 x_0 < 1, and in the plane always.",
    )


def _largest_drop(X: NDArray, y: NDArray, w0: NDArray, horizon: float, stops: int) -> float:
    """The drop of |w|^2 along DOP853's flow, read at equal times, as a share of |w0|^2."""
    states = [w0]
    for t0, t1 in pairwise(np.linspace(0.0, horizon, stops + 1)):
        states.append(integrate(X, y, states[-1], t1 - t0))
    squares = (np.array(states) ** 2).sum(axis=1)
    return float(np.max(np.maximum.accumulate(squares) - squares)) / float(w0 @ w0)


def two_at_once() -> Counterexample:
    """B1-B4 hold at the one crossing for either x_0, and the norm drops, however small the start:
    w* of all data is along the top eigenvector of their H."""
    X, y, v = TOGETHER
    paths = [affine_flow(X, y, eps * v) for eps in SMALL]
    steps = [step for path in paths for step in crossings(X, path)]
    met = [conditions(X, y, step) for step in steps]
    exact = conditions_at_the_origin(X.tolist(), y.tolist(), v.tolist())
    rate, eps = rate_polynomial(X.tolist(), y.tolist(), [1, 0])
    last = rate.coeffs()[-1]  # in eps, of g's slowest term along the all-active flow
    shares = _shares(*TOGETHER)
    return Counterexample(
        instance={"X": X, "y": y, "w0": "eps (2, -1), eps > 0"},
        assumptions={
            **assumptions(X, y),
            "q(w0) > 0": smallest_force(X, y, [1e-6 * v]) > 0,
            "one boundary is crossed, once, x_3 and x_4 becoming active": all(
                [step.datum for step in crossings(X, path)] == [2, 3] for path in paths
            ),
            "B1 there": min(m.B1 for m in met) > 0,
            "B2 there, for x_0 = x_3 and for x_0 = x_4": min(m.B2 for m in met) > 0,
            "B3 there": all(m.full for m in met),
            "B4 there": min(m.B4 for m in met) > 0,
            "x_0.H^-1 x_0 < 1 there": min(m.inner for m in met) > 0,
        },
        breaks=(bound("drop of |w|^2 on the exact flow from eps (2, -1), eps = 0.01",
                      shares[0], "<=", 0, "of |w0|^2"),),
        recheck=(
            note("slacks of B1, B2 and B4 as eps -> 0, in surds",
                 tuple(float(value) for value in exact)),
            fact("one of B1, B2, B4 fails for small eps", any(value <= 0 for value in exact), True),
            fact("for every crossing point (p, 0): coefficient of exp(-12t) in g is 3p^2 > 0",
                 bool((last - 3 * eps**2).equals(0)), False),
            bound("drop of |w|^2 by DOP853 from eps = 0.01",
                  _largest_drop(X, y, SMALL[0] * v, 0.6, 60), "<=", 0, "of |w0|^2"),
        ),
        route="B1, B2 and the last piece of the flow in surds, by SymPy; and SciPy's DOP853",
    )  # fmt: skip


# --- Theorem F.6: a flow that crosses under conditions B1-B4 gains norm; how often they hold ------


SHARES = (0.9, 0.1, NORMS[1])
"""Norms of the starts, in units of delta_0; from smaller ones a loss is lost in rounding."""


def built_crossings(rng: np.random.Generator, d: int = 2) -> Arrays:
    """Data made to meet B1-B4: d data fitted by w_P^*, whose last entry is negative, and one more
    almost orthogonal to w_P^*, on whose inactive side the start is."""
    tilt = rng.uniform(0.1, 0.7)
    flat = _units(rng, d - 1)[0]  # w_P^* but for its last entry
    target = np.append(np.cos(tilt) * flat, -np.sin(tilt))
    sides = _units(rng, d - 1, d)
    angles = rng.uniform(0.0, np.arctan(sides @ flat / np.tan(tilt)) - 0.05)
    sizes = 10.0 ** rng.uniform(-0.5, 0.5, (d, 1))
    X = sizes * np.column_stack([np.cos(angles)[:, None] * sides, np.sin(angles)])
    over = np.pi / 2 - tilt + tilt * 10.0 ** rng.uniform(-4.0, -1.0)
    x = 10.0 ** rng.uniform(0.0 - d, 2.0 - d) * np.append(np.cos(over) * flat, np.sin(over))
    beyond = -float(x @ target)
    inner = float(x @ np.linalg.solve(X.T @ X, x))
    label = beyond / inner * (1.0 + 10.0 ** rng.uniform(-2.0, 1.0))
    along = np.append(np.sin(over) * flat, -np.cos(over))  # in the boundary of x
    return {"X": np.vstack([X, x]), "y": np.append(X @ target, label),
            "u": along - 0.1 * tilt * rng.uniform(0.0, 1.0) * x / np.linalg.norm(x)}  # fmt: skip


def _units(rng: np.random.Generator, d: int, n: int = 1) -> NDArray:
    """n random unit vectors (n, d) of the positive orthant, none near its boundary."""
    v = np.ones((n, 1)) if d == 1 else rng.uniform(0.2, 1.0, (n, d))
    units: NDArray = v / np.linalg.norm(v, axis=1, keepdims=True)
    return units


def with_parallels(item: Arrays, rng: np.random.Generator) -> Arrays:
    """The same with its last datum x, y made two or three, a x and labels of their own, such that
    they pull together as hard as y x would."""
    sizes = 2.0 ** -rng.integers(0, 3, int(rng.integers(2, 4)))
    shares = rng.uniform(0.2, 1.0, sizes.size)
    labels = item["y"][-1] * shares / (sizes @ shares)
    return {"X": np.vstack([item["X"][:-1], sizes[:, None] * item["X"][-1]]),
            "y": np.append(item["y"][:-1], labels), "u": item["u"]}  # fmt: skip


def crossing_draws() -> Draws:
    """Data built to meet B1-B4, in the plane and in space, also with parallel data."""
    plain: Draws = {f"d = {d}": partial(built_crossings, d=d) for d in (2, 3)}
    return {**plain, **{f"{k}, parallel": v for k, v in extended(plain, with_parallels).items()}}


def strict_under_conditions() -> Statement:
    """sv.ours.crossing.norm: among flows that do cross boundaries, one at a time, with B1-B4 and
    x_0.H^-1 x_0 < 1 at each, parallel data counted as one, the norm never drops."""

    def alone(item: Instance) -> bool:
        found = at_crossings(merged(item))
        return bool(found) and all((s.before != s.after).sum() == 1 for s, _ in found)

    def slack(item: Instance) -> float:
        paths = small_flows(item, SHARES)
        lost = [norm_lost(item["X"], item["y"], path) / (path.end @ path.end) for path in paths]
        return -float(min(lost))

    return Statement(
        "under B1-B4 at one crossing or more the norm never drops",
        crossing_draws(),
        slack,
        given(
            "sv.ours.crossing.norm",
            data=lambda item: meets(merged(item), "A1", "A2", "A3"),
            crossings=alone,
            conditions=lambda item: all(met.hold for _, met in at_crossings(merged(item))),
            inner=lambda item: all(met.inner > 0.0 for _, met in at_crossings(merged(item))),
        ),
        tolerance=ROUNDING,
    )
