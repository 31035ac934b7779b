"""Remark 4: the bounds of Appendix B for the square loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.ledger import Evidence, bound
from reluflow.losses import SQUARE
from reluflow.papers.min2024early.flows import flow, neurons


def directions_near() -> Statement:
    """Lemma 4 with the loss (y - z)^2/2: |d/dt u_j - s_j P x_a(w_j)| <= 2 n X_max max_i |f(x_i)| at
    balanced parameters, here as its proof gives it, with 1 in place of 2.

    No assumption on the data. Slack relative to the bound; infinite where it is 0.
    """
    return Statement(
        "Lemma 4 with the square loss",
        {"ordinary": _parameters(0.5, 1), "spread": _parameters(4.0, 1),
         "one datum": _parameters(0.5, 0)},
        _room,
        {"max |f| ≤ 1": lambda item: float(np.abs(_outputs(item)).max()) <= 1.0},
        tolerance=1e-12,
        fixed=("y", "signs"),
    )  # fmt: skip


def norms_along_flows(seed: int, count: int) -> list[Evidence]:
    """Lemma 3 with the square loss: max_j |w_j|^2 and max_i |f(x_i)| up to T, from the largest eps
    allowed, each as a share of its bound."""
    rng, norm, output = np.random.default_rng(seed), 0.0, 0.0
    for _ in range(count):
        n, d, h = (int(k) for k in rng.integers((2, 2, 3), (7, 6, 9)))
        X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
        W, signs = rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)
        longest, widest = (float(np.linalg.norm(A, axis=1).max()) for A in (X, W))
        log_eps = -np.log(4.0 * np.sqrt(h) * longest * widest**2)
        end = -(0.5 * np.log(h) + log_eps) / (4.0 * n * longest)
        path = flow(X, y, W, signs, log_eps, end, SQUARE)
        U, logs = neurons(path, np.linspace(0.0, float(path.t[-1]), 30))
        squares = np.exp(2.0 * logs)
        inputs = np.maximum(U @ X.T, 0.0)
        outputs = np.einsum("tjn,tj,j->tn", inputs, squares, signs)
        eps = np.exp(log_eps)
        norm = max(norm, float(squares.max() * np.sqrt(h) / (2.0 * eps * widest**2)))
        most = 2.0 * eps * np.sqrt(h) * longest * widest**2
        output = max(output, float(np.abs(outputs).max() / most))
    says = "with the square loss, as a share of Lemma 3's bound:"
    return [
        bound(f"{says} largest ‖w_j‖²", norm, "<=", 1.0, "", digits=2),
        bound(f"{says} largest |f(xᵢ)|", output, "<=", 1.0, "", digits=2),
    ]


def _parameters(decades: float, more: int) -> Draw:
    """Data X (n, d) of lengths over `decades` to either side, balanced W (h, d), max |f| <= 1."""

    def one(rng: np.random.Generator) -> dict[str, Any]:
        n, d, h = (int(k) for k in rng.integers(1, (1 + 6 * more, 8, 7), endpoint=True))
        X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-decades, decades, (n, 1))
        item = {
            "X": X, "y": rng.choice([-1.0, 1.0], n), "W": rng.standard_normal((h, d)),
            "signs": rng.choice([-1.0, 1.0], h),
        }  # fmt: skip
        size = float(np.abs(_outputs(item)).max())
        scale = np.sqrt(10.0 ** rng.uniform(-9.0, 0.0) / size) if size else 1.0
        return {**item, "W": (1.0 - 1e-12) * scale * item["W"]}

    return one


def _outputs(item: Instance) -> NDArray:
    v = item["signs"] * np.linalg.norm(item["W"], axis=1)
    return np.maximum(item["X"] @ item["W"].T, 0.0) @ v


def _room(item: Instance) -> float:
    X, W = item["X"], item["W"]
    f, norms = _outputs(item), np.linalg.norm(W, axis=1)
    most = len(X) * float(np.linalg.norm(X, axis=1).max() * np.abs(f).max())
    if most == 0.0 or not norms.all():
        return np.inf
    units, active = W / norms[:, None], X @ W.T > 0.0
    error = -(active * f[:, None]).T @ X  # -dl/dz - y is -f
    error -= np.sum(error * units, axis=1, keepdims=True) * units
    return 1.0 - float(np.linalg.norm(error, axis=1).max()) / most
