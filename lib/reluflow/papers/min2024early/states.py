"""Random balanced parameters with small outputs, ordinary and adversarial: no assumption on data.

A state is a mapping of X (n, d), y (n,), directions U (h, d), log norms R (h,), the `signs` of v
(h,) and the `leak`, of outputs at most 1 in size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.charts import TIME, Neurons
from reluflow.losses import Loss

State = Mapping[str, Any]
LEAKS = (0.0, 0.3, 1.0)
"""ReLU, a leaky one, and the linear network."""
NOT_MOVED = ("y", "signs", "leak")
"""The arrays of a state that a search leaves alone."""
_ZERO = 1e-13
"""A product <x, w> this small beside its terms is 0, whichever way their sum was rounded."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


def chart(state: State) -> Neurons:
    """The coordinates of the state's neurons."""
    return Neurons(state["signs"], state["X"].shape[1], float(state["leak"]))


def coordinates(state: State) -> NDArray:
    """z (k,) of a state in its chart."""
    return chart(state).along(state["U"], state["R"])


def outputs(state: State) -> NDArray:
    """f(x_i), shape (n,)."""
    return chart(state).outputs(coordinates(state), state["X"])


def largest_output(state: State) -> float:
    """max_i |f(x_i)|."""
    return float(np.abs(outputs(state)).max())


def active(state: State) -> NDArray:
    """Which data activate which neurons, shape (h, n); none does on whose boundary it is."""
    U, X = chart(state).split(coordinates(state))[0], state["X"]
    return _ZERO * (np.abs(U) @ np.abs(X).T) < U @ X.T


def turning(state: State, c: NDArray) -> NDArray:
    """d/dt w_j / |w_j| for the pulls c (n,) at the outputs, shape (h, d)."""
    neurons, z = chart(state), coordinates(state)
    rates = neurons.velocity(z, state["X"], c, TIME, [active(state).T])
    return neurons.split(rates)[0]


def excess(loss: Loss, f: NDArray, y: NDArray) -> NDArray:
    """-dl/df - y, shape (..., n) as f: by how much the pull of a datum differs from its label.

    For |f| <= 1/2 as -l'(0) - y less the integral of l'' from 0 to f, which keeps all digits where
    f is tiny; beyond by the difference itself.
    """
    at_zero = loss.pull(np.zeros_like(f), y) - y
    bends = loss.bend(np.multiply.outer(0.5 * (1.0 + _NODES), f), y)
    bend = np.tensordot(_WEIGHTS, bends, axes=1)
    near = np.where(np.abs(at_zero) < 1e-15, 0.0, at_zero) - 0.5 * f * bend
    return np.where(np.abs(f) <= 0.5, near, loss.pull(f, y) - y)


def balanced_states(leaks: Sequence[float] = LEAKS, least: float = 1e-12) -> dict[str, Callable]:
    """Draws of states whose largest output is 1, or between `least` and 1.

    "gaussian"; "aspect", coordinates in units 1e-6 to 1e6; "lengths", data and neurons over twelve
    decades; "parallel" data; "integers", small whole numbers, with neurons on boundaries.
    """

    def sized(rng: np.random.Generator, X: NDArray, U: NDArray, R: NDArray) -> dict[str, Any]:
        U = np.where(U.any(axis=1, keepdims=True), U, 1.0)
        state = {
            "X": X,
            "y": rng.choice([-1.0, 1.0], len(X)),
            "U": U,
            "R": R,
            "signs": rng.choice([-1.0, 1.0], len(U)),
            "leak": np.array(rng.choice(leaks)),
        }
        largest = largest_output(state)
        if largest > 0.0:
            target = rng.choice([1.0, 10.0 ** rng.uniform(np.log10(least), 0.0)])
            state["R"] = R + 0.5 * np.log(0.999999 * target / largest)
        return state

    def shapes(rng: np.random.Generator) -> tuple[int, int, int]:
        return int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(rng.integers(1, 5))

    def gaussian(rng: np.random.Generator) -> dict[str, Any]:
        n, d, h = shapes(rng)
        return sized(rng, rng.standard_normal((n, d)), rng.standard_normal((h, d)), np.zeros(h))

    def aspect(rng: np.random.Generator) -> dict[str, Any]:
        n, d, h = shapes(rng)
        units = 10.0 ** rng.uniform(-6.0, 6.0, d)
        U = rng.standard_normal((h, d)) / np.where(rng.random((h, 1)) < 0.5, units, 1.0)
        return sized(rng, rng.standard_normal((n, d)) * units, U, np.zeros(h))

    def lengths(rng: np.random.Generator) -> dict[str, Any]:
        n, d, h = shapes(rng)
        X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-6.0, 6.0, (n, 1))
        return sized(rng, X, rng.standard_normal((h, d)), rng.uniform(-14.0, 14.0, h))

    def parallel(rng: np.random.Generator) -> dict[str, Any]:
        n, d, h = shapes(rng)
        X = np.outer(rng.choice([-2.0, 1.0, 1.0, 3.0], n), rng.standard_normal(d))
        U = X[rng.integers(0, n, h)] + 0.3 * rng.standard_normal((h, d)) * np.abs(X).max()
        return sized(rng, X, U, np.zeros(h))

    def integers(rng: np.random.Generator) -> dict[str, Any]:
        n, d, h = shapes(rng)
        X = rng.integers(-2, 3, (n, d)).astype(float)
        X[~X.any(axis=1)] = 1.0
        return sized(rng, X, rng.integers(-1, 2, (h, d)).astype(float), np.zeros(h))

    return {
        "gaussian": gaussian,
        "aspect": aspect,
        "lengths": lengths,
        "parallel": parallel,
        "integers": integers,
    }
