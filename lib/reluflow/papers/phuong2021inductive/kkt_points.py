"""The KKT points of the margin problem (77) under (OS): those of Lemma C.1 and no others.

A neuron with a > 0 of a KKT point is w = a sum_i lambda_i y_i s_i x_i with slopes s_i of the ReLU.
On a negative x_k that is a sum of terms <= 0, and < 0 if lambda_k s_k > 0; so no negative datum has
a part in w. Hence <w, x_i> > 0 on all positive data, w = a sum over them of lambda_i x_i, the same
for all such neurons: their sum of a w is w_+, by the KKT conditions of (6).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement, given
from reluflow.geometry.separability import violations
from reluflow.ledger import Counterexample, Evidence, bound, fact
from reluflow.margin.kkt import kkt
from reluflow.margin.max_margin import max_margin
from reluflow.margin.optimum import classify_optimum, global_optimum
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive.kkt_points_exact import other_faces, wrong_sign
from reluflow.papers.phuong2021inductive.limit import limit
from reluflow.papers.phuong2021inductive.two_extremal import spans
from reluflow.supports import right_angles, support_draws

ROUNDING = 1e-7
"""Residuals and values of problems that are solved to 1e-9."""


def point(X: NDArray, y: NDArray, u: NDArray, z: NDArray) -> tuple[NDArray, NDArray]:
    """W (p, d) and a (p,) of eqs (75)-(76), for u, z (p,) >= 0 of disjoint support, which are
    scaled to |u|^2 = 1/|w_+| and |z|^2 = 1/|w_-|."""
    w = limit(X, y).vectors
    sizes = {s: np.linalg.norm(w[s]) for s in w}
    u = u / np.linalg.norm(u) / np.sqrt(sizes[1.0])
    z = z / np.linalg.norm(z) / np.sqrt(sizes[-1.0])
    return np.outer(u, w[1.0]) + np.outer(z, w[-1.0]), sizes[1.0] * u - sizes[-1.0] * z


def with_coefficients(rng: np.random.Generator, draw: Draw) -> Instance:
    """Data, and u, z (5,) of disjoint support, with a neuron that has neither."""
    item = draw(rng)
    u, z = rng.exponential(size=(2, 5)) * 10.0 ** rng.uniform(-3.0, 0.0, (2, 5))
    return {"X": item["X"], "y": item["y"], "u": u * [1, 1, 0, 0, 0], "z": z * [0, 0, 1, 1, 0]}


def residual(item: Instance) -> float:
    """By how much the point of Lemma C.1 breaks the KKT conditions with the multipliers of eq (89)
    and the slopes of eq (90), over |theta|, and the constraints of (77)."""
    X, y = item["X"], item["y"]
    W, a = point(X, y, item["u"], item["z"])
    multipliers = np.zeros(len(y))
    for sign in (1.0, -1.0):
        found = max_margin(X[y == sign], np.ones(int(np.sum(y == sign))))
        multipliers[y == sign] = found.multipliers / found.length
    before = X @ W.T
    f = np.maximum(before, 0.0) @ a
    slope = before > 1e-9 * np.linalg.norm(X, axis=1).max() * np.linalg.norm(W, axis=1).max()
    c = multipliers * y
    left = np.append((W - a[:, None] * ((slope * c[:, None]).T @ X)).ravel(),
                     a - c @ np.maximum(before, 0.0))  # fmt: skip
    size = np.sqrt(np.sum(W * W) + a @ a)
    slackness = float(np.abs(multipliers * (y * f - 1.0)).max() / multipliers.max())
    return max(float(np.linalg.norm(left) / size), slackness, float(1.0 - (y * f).min()))


def is_kkt_point() -> Statement:
    """os.lemC.1: (75)-(76) is a KKT point of (77), by the multipliers of the proof."""
    return Statement(
        "the KKT conditions of (77) hold",
        {kind: partial(with_coefficients, draw=draw)
         for kind, draw in support_draws().items()},
        lambda item: -residual(item),
        tolerance=ROUNDING,
        fixed=("X", "y", "u", "z"),
    )  # fmt: skip


def is_global(seed: int, count: int) -> list[Evidence]:
    """The same point by chapter 5's certificates, which know nothing of (OS): KKT, and optimal."""
    rng = np.random.default_rng(seed)
    draws = list(support_draws(3).values())
    residuals, verdicts = [], []
    for k in range(count):
        item = with_coefficients(rng, draws[k % len(draws)])
        W, a = point(item["X"], item["y"], item["u"], item["z"])
        kept = [0, 2]  # one neuron of either group: the certificates list all cells
        W = (
            W[kept]
            * np.sqrt(np.array([np.sum(a[:2] ** 2), np.sum(a[2:4] ** 2)]) / a[kept] ** 2)[:, None]
        )
        a = np.array([1.0, -1.0]) * np.linalg.norm(W, axis=1)
        network = fully_connected([item["X"].shape[1], 2])
        theta = np.append(W.ravel(), a)
        residuals.append(kkt(network, theta, item["X"], item["y"]).residual)
        verdicts.append(classify_optimum(network, theta, item["X"], item["y"]).verdict)
    return [
        bound("largest KKT residual by nonnegative least squares over all cells", max(residuals),
              "<=", ROUNDING, "", digits=2),
        fact(f"points of the family, of {count}, that are no global optimum of (77)",
             sum(v != "global" for v in verdicts), 0),
    ]  # fmt: skip


def planar(rng: np.random.Generator) -> tuple[list[list[int]], list[int]]:
    """Data of whole numbers in the plane that satisfy (OS), with right angles or without."""
    while True:
        if rng.random() < 0.5:
            item = right_angles(rng)
            if item["X"].shape[1] != 2:
                continue
            X, y = item["X"].astype(int), item["y"].astype(int)
        else:
            y = rng.permutation(np.where(np.arange(int(rng.integers(2, 7))) % 2 == 0, 1, -1))
            X = rng.integers(-5, 6, (len(y), 2))
        products = (X @ X.T) * np.outer(y, y)
        if np.all(np.where(np.equal.outer(y, y), products > 0, products >= 0)):
            return X.tolist(), y.tolist()


def no_other_points() -> Statement:
    """os.ours.kkt: under (OS) every KKT point of (77) is one of Lemma C.1. The slack is minus the
    number of faces of the arrangement, other than those of (8), that can hold a neuron of one."""

    def draw(rng: np.random.Generator) -> Instance:
        X, y = planar(rng)
        return {"X": np.array(X), "y": np.array(y)}

    def os(item: Instance) -> bool:
        X, y = item["X"], item["y"]
        products, same = (X @ X.T) * np.outer(y, y), np.equal.outer(y, y)
        return bool(np.all(np.where(same, products > 0, products >= 0)) and not same.all())

    return Statement(
        "no face, but those of (8), holds a neuron of a KKT point (exact, in the plane)",
        {"whole numbers": draw},
        lambda item: -float(other_faces(item["X"].tolist(), item["y"].tolist())),
        given("os.ours.kkt", data=os),
        fixed=("X", "y"),
    )  # fmt: skip


def least_norms(seed: int, count: int) -> list[Evidence]:
    """The optimum of (77) over all cells by convex programs: |theta|^2 = 2 (|w_+| + |w_-|), and the
    certificates of `is_global`."""
    rng = np.random.default_rng(seed)
    draws, gaps = list(support_draws(2).values()), []
    for k in range(count):
        item = draws[k % len(draws)](rng)
        best = global_optimum(fully_connected([item["X"].shape[1], 2]), item["X"], item["y"]).theta
        gaps.append(abs(float(best @ best) / (2.0 * limit(item["X"], item["y"]).total) - 1.0))
    return [
        bound("least |theta|² of (77) over all cells, relative distance from 2 (|w₊| + |w₋|)",
              max(gaps), "<=", ROUNDING, "", digits=2),
        *is_global(seed, max(3, count)),
    ]  # fmt: skip


def products(item: Instance, sign: float) -> tuple[NDArray, NDArray]:
    """<w_+, x_i> and y_i <w_-, x_i> for the data of one label, over |w| |x_i|."""
    w = limit(item["X"], item["y"]).vectors
    X = item["X"][item["y"] == sign]
    size = np.linalg.norm(X, axis=1)
    one, other = (X @ w[s] / (size * np.linalg.norm(w[s])) for s in (1.0, -1.0))
    return one, sign * other


def on_positive_data() -> Statement:
    """os.eq79-80.1: <w_+, x_i> > 0 and y_i <w_-, x_i> <= 0 where y_i = 1 (eq 79)."""

    def slack(item: Instance) -> float:
        one, other = products(item, 1.0)
        return float(min(one.min(), -other.max() if other.max() > ROUNDING else 1.0))

    return Statement("⟨w₊, xᵢ⟩ > 0 and yᵢ⟨w₋, xᵢ⟩ ≤ 0 on positive data",
                     dict(support_draws()), slack, strict=True, fixed=("X", "y"))  # fmt: skip


def on_negative_data() -> Statement:
    """os.eq79-80.2: <w_+, x_i> <= 0 and y_i <w_-, x_i> > 0 where y_i = -1 (eq 80)."""

    def slack(item: Instance) -> float:
        one, other = products(item, -1.0)
        return float(min(other.min(), -one.max() if one.max() > ROUNDING else 1.0))

    return Statement("⟨w₊, xᵢ⟩ ≤ 0 and yᵢ⟨w₋, xᵢ⟩ > 0 on negative data",
                     dict(support_draws()), slack, strict=True, fixed=("X", "y"))  # fmt: skip


def sign_of_80() -> Counterexample:
    """The instance: two data on a line."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    w = limit(X, y).vectors[-1.0]
    return Counterexample(
        instance={"X": X, "y": y, "w_-": -1},
        assumptions={"(OS)": not violations(X, y).size,
                     "(Span)": all(spans(X, y, sign) for sign in (1.0, -1.0))},
        breaks=(bound("y_2 ⟨w₋, x_2⟩", float(y[1] * (X[1] @ w)), ">", 0, ""),),
        recheck=(bound("the same in whole numbers", wrong_sign(), ">", 0, ""),),
        route="w_- = -1 is the shortest number with w (-1) >= 1; its product in whole numbers",
    )  # fmt: skip


def breaks_80(seed: int, count: int = 30) -> list[Evidence]:
    """How many of `count` data sets satisfy (80) as printed: none can, by (7)."""
    rng = np.random.default_rng(seed)
    statement = on_negative_data()
    draws = list(statement.draws.values())
    broken = sum(statement.broken_by(draws[k % len(draws)](rng)) for k in range(count))
    return [fact("data sets that break (80)", broken, 0, tried=count)]
