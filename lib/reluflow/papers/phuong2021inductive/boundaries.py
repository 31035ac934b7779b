"""Lemma A.3: the velocity of a neuron off its boundaries, and along those on which it slides.

Where <w(t), x_i> = 0 on a set of times, its derivative is 0 at almost all of them. So the velocity
is orthogonal to those x_i; projected, any member of the Clarke subdifferential is (46). No
position of the data is asked for.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import expit

from reluflow.falsify import Instance, Statement, planted
from reluflow.ledger import Counterexample, Evidence, bound, deviation, fact, note
from reluflow.papers.phuong2021inductive.boundaries_exact import squared_area

STEP = 1e-4
SPAN = 0.5
"""Length of a sliding motion, and the step of the descent beside it."""
_TIE = 1e-9


def velocity(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> tuple[NDArray, NDArray]:
    """The right sides of (46) and (45), (p, d) and (p,), of the loss log(1 + e^-yf)."""
    before = X @ W.T
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(W, axis=1)
    zero = np.abs(before) <= _TIE * lengths
    outputs = np.maximum(before, 0.0) @ a
    pull = y * expit(-y * outputs)
    dW = np.empty_like(W)
    for j in range(len(W)):
        active = (before[:, j] > 0.0) & ~zero[:, j]
        along = a[j] * (pull * active) @ X
        dW[j] = (
            along - np.linalg.pinv(X[zero[:, j]]) @ X[zero[:, j]] @ along
            if zero[:, j].any()
            else along
        )
    return dW, np.maximum(before, 0.0).T @ pull


def off_boundaries() -> Statement:
    """os.lemA.3: (45) and (46) against automatic derivatives where no <w_j, x_i> is 0; any data and
    any parameters, balanced or not. The slack is what 1e-9 leaves of the relative difference."""

    def draw(spread: float):  # type: ignore[no-untyped-def]
        def one(rng: np.random.Generator) -> Instance:
            n, d, p = (int(rng.integers(1, top)) for top in (7, 5, 5))
            X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-spread, spread, (n, 1))
            W, a = rng.standard_normal((p, d)), rng.standard_normal(p)
            return {"X": X, "y": rng.choice([-1.0, 1.0], n), "W": W, "a": a}

        return one

    def slack(item: Instance) -> float:
        X, y = torch.from_numpy(item["X"]), torch.from_numpy(item["y"])
        W = torch.tensor(item["W"], requires_grad=True)
        a = torch.tensor(item["a"], requires_grad=True)
        outputs = torch.relu(X @ W.T) @ a
        # PyTorch's softplus is linear from 20 on, unless it is told a later threshold.
        losses = torch.nn.functional.softplus(-y * outputs, threshold=700.0)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        assert W.grad is not None
        assert a.grad is not None
        dW, da = velocity(item["X"], item["y"], item["W"], item["a"])
        gap = np.abs(planted(item) * dW + W.grad.numpy()).max() + np.abs(da + a.grad.numpy()).max()
        return float(1e-9 - gap / (1.0 + np.abs(dW).max() + np.abs(da).max()))

    return Statement("(45) and (46) are the derivatives", {"gaussian": draw(0.0),
                     "lengths": draw(2.0)}, slack, fixed=("y",))  # fmt: skip


def sliding_start(rng: np.random.Generator, repeated: bool) -> dict[str, NDArray]:
    """A neuron w (1, d), a = |w|, on the boundary of a datum of label -1 that keeps it there.

    x_1 (label 1) is active, x_2 (label -1) is on the boundary, and 0.1 < <x_1, x_2> < 0.8 |x_2|^2:
    the first pulls to the side where the second, with a pull of 1/2 at least, pushes back.
    `repeated` adds 2 x_2 and 3 x_2, which lie on a line with 0.
    """
    while True:
        d = int(rng.integers(2, 5))
        x_1, x_2, w = rng.standard_normal((3, d))
        w -= (w @ x_2) / (x_2 @ x_2) * x_2
        w *= 0.3 / np.linalg.norm(w)
        if w @ x_1 > 0.05 and 0.1 < x_1 @ x_2 < 0.8 * (x_2 @ x_2) and np.linalg.norm(x_1) < 3.0:
            X = np.vstack([x_1, x_2, *([2.0 * x_2, 3.0 * x_2] if repeated else [])])
            y = np.where(np.arange(len(X)) == 0, 1.0, -1.0)
            return {"X": X, "y": y, "W": w[None], "a": np.array([0.3])}


def slides(item: dict[str, NDArray], step: float = STEP, span: float = SPAN) -> tuple[float, float]:
    """How far descent with tiny steps, which knows no projection, ends from the solution of
    (45)-(46), and how far that one has moved, both in (w, a)."""
    X, y = item["X"], item["y"]
    d = X.shape[1]
    w, a = item["W"][0].copy(), float(item["a"][0])
    for _ in range(round(span / step)):
        before = X @ w
        pull = y * expit(-y * a * np.maximum(before, 0.0))
        w, a = w + step * a * (pull * (before > 0.0)) @ X, a + step * pull @ np.maximum(before, 0.0)

    def rate(_: float, z: NDArray) -> NDArray:
        dW, da = velocity(X, y, on_the_boundary(z[:d])[None], z[d:])
        return np.append(dW[0], da)

    def on_the_boundary(v: NDArray) -> NDArray:
        return np.asarray(v - (v @ X[1]) / (X[1] @ X[1]) * X[1])

    start = np.append(item["W"][0], item["a"])
    end = solve_ivp(rate, (0.0, span), start, rtol=1e-9, atol=1e-12).y[:, -1]
    return float(np.linalg.norm(end - np.append(w, a))), float(np.linalg.norm(end - start))


def sliding_motions(seed: int, count: int) -> list[Evidence]:
    """Along boundaries: descent against (45)-(46), a half of the data in general position and a
    half with three data and 0 on one line."""
    rng = np.random.default_rng(seed)
    found = [slides(sliding_start(rng, k % 2 == 1)) for k in range(count)]
    return [
        deviation(f"end of descent with steps of {STEP:g} from that of (45)-(46), of {count} "
                  f"sliding "
                  "neurons: the largest", max(gap for gap, _ in found), "", digits=2),
        note("way of the neuron that moves least", min(way for _, way in found), digits=2),
    ]  # fmt: skip


def flat(points: NDArray) -> int:
    """The dimension of the smallest flat that holds points (k, d)."""
    return int(np.linalg.matrix_rank(points[1:] - points[0]))


def position(seed: int, count: int) -> list[Evidence]:
    """os.lemA.3.position: of data sets with (Span), those of whose points, 0 included, no k lie on
    a
    flat of dimension k - 2. For k = n + 1 >= d + 2 all of them do; for k <= d + 1 none do."""
    rng = np.random.default_rng(seed)
    general = limited = 0
    for _ in range(count):
        d = int(rng.integers(1, 4))
        points = np.vstack([np.zeros(d), rng.standard_normal((2 * d, d))])
        general += flat(points) > len(points) - 2
        limited += flat(points[: d + 1]) == d
    return [
        fact("random data sets of 2d points, none k of them and 0 on a flat of dimension k − 2, "
             "any k",
             general, count, tried=count),
        note("the same for the first k = d + 1 points", limited),
    ]  # fmt: skip


def three_on_a_line() -> Counterexample:
    """x_1 = 1 and x_2 = -1 in R^1, with 0: k = 3 points on a line, which has dimension k - 2."""
    points = np.array([[0.0], [1.0], [-1.0]])
    return Counterexample(
        instance={"x_1": 1, "y_1": 1, "x_2": -1, "y_2": -1, "k": 3},
        assumptions={
            "(OS)": float(points[1, 0] * points[2, 0]) <= 0.0,
            "(Span): a support example of either label is not 0": bool(points[1:].all()),
        },
        breaks=(bound("dimension of the flat through 0, x_1 and x_2, which must exceed k − 2",
                      flat(points), ">", 1, ""),),
        recheck=(bound("16 times the squared area of their triangle, by its sides",
                       squared_area(0, 1, -1), ">", 0, ""),),
        route="Heron's formula: points of a line span no area, and that holds after every small "
              "motion "
        "of them in R¹",
    )  # fmt: skip
