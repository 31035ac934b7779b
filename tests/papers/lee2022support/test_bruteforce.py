"""The plain loops and the general solver, against hand calculation and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from flows import best_of_many
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from reluflow.flows.affine import affine_flow
from reluflow.networks import loss
from reluflow.papers.lee2022support import setting
from reluflow.papers.lee2022support.setting import integrate, plain_descent

# Example 5.2 of Lee, Sim & Ye (2022a): the flow deactivates x_1 at t = 0.78 and never returns.
TWO = (np.array([[1.0, 0, 2], [1, 2, 0], [2, 0, 0]]), np.array([0.05, 6, 0.5]))
# Three data whose best minimum, (2, -1), drops the second.
THREE = (np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([2.0, 1, 1]))


def by_scalars(X, y, w0, step: float, n_steps: int, relu: bool = True) -> list[list[float]]:
    """Descent once more, number by number."""
    w = [float(v) for v in w0]
    path = [list(w)]
    for _ in range(n_steps):
        h = [sum(a * b for a, b in zip(x, w, strict=True)) for x in X]
        pull = [(v - t) if (v > 0 or not relu) else 0.0 for v, t in zip(h, y, strict=True)]
        w = [v - step * sum(p * x[k] for p, x in zip(pull, X, strict=True))
             for k, v in enumerate(w)]  # fmt: skip
        path.append(list(w))
    return path


def test_one_datum_by_hand() -> None:
    # w <- w - 0.1 * 2 (2 w - 3): from 0.5 to 0.9, 1.14, 1.284, towards 3/2 by the factor 0.6.
    path = plain_descent([[2]], [3], [0.5], 0.1, 3)
    assert path == pytest.approx(np.array([[0.5], [0.9], [1.14], [1.284]]))
    long = plain_descent([[2]], [3], [0.5], 0.1, 50)
    assert long[:, 0] == pytest.approx(1.5 - 0.6 ** np.arange(51))


@pytest.mark.parametrize("start", [-1.0, 0.0])
def test_an_inactive_datum_does_not_pull(start: float) -> None:
    """On its boundary too: the derivative of ReLU at 0 is taken as 0."""
    assert np.all(plain_descent([[2]], [3], [start], 0.1, 5) == start)
    moved = plain_descent([[2]], [3], [start], 0.1, 1, activation="linear")
    assert moved[1, 0] == pytest.approx(start - 0.1 * 2 * (2 * start - 3))


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_a_path_number_by_number(activation: str) -> None:
    X, y = TWO
    start = [1e-4, 2e-4, 5e-5]
    path = plain_descent(X, y, start, 0.005, 400, activation)
    expected = by_scalars(X, y, start, 0.005, 400, activation == "relu")
    assert path.shape == (401, 3)
    assert path == pytest.approx(np.array(expected), rel=1e-10, abs=1e-14)
    # x_1 has left the ReLU neuron by then, so that the two activations differ.
    assert (X[0] @ path[-1] < 0) == (activation == "relu")
    assert np.all(path[0] == start)


floats = st.floats(-2, 2).map(lambda v: round(v, 3))


@settings(max_examples=40)
@given(arrays(float, (4, 3), elements=floats), arrays(float, 4, elements=floats),
       arrays(float, 3, elements=floats))  # fmt: skip
def test_a_step_follows_the_slope_of_the_loss(X: NDArray, y: NDArray, w: NDArray) -> None:
    assume(np.abs(X @ w).min() > 1e-2)  # off the boundaries, where the loss is smooth
    small = 1e-4
    slope = [
        (loss(X, y, w + small * e) - loss(X, y, w - small * e)) / (2 * small) for e in np.eye(3)
    ]
    moved = plain_descent(X, y, w, 0.01, 1)[1] - w
    assert moved == pytest.approx(-0.01 * np.array(slope), abs=1e-8)


def test_descent_leaves_its_arguments_alone() -> None:
    X, y = (v.copy() for v in THREE)
    w0, starts = np.array([1.0, 1.0]), np.array([[1.0, 1.0], [2.0, -3.0]])
    plain_descent(X, y, w0, 0.1, 20)
    best_of_many(X, y, starts, 0.1, 20)
    integrate(X, y, w0, 0.05)
    assert np.array_equal(X, THREE[0])
    assert np.array_equal(y, THREE[1])
    assert np.array_equal(w0, [1.0, 1.0])
    assert np.array_equal(starts, [[1.0, 1.0], [2.0, -3.0]])


def test_no_steps() -> None:
    assert plain_descent(*THREE, [3, 4], 0.1, 0).tolist() == [[3.0, 4.0]]


@settings(max_examples=40)
@given(arrays(float, (5, 2), elements=st.floats(-3, 3)))
def test_many_starts_are_many_descents(starts: NDArray) -> None:
    X, y = THREE
    ends = [plain_descent(X, y, w0, 0.1, 7)[-1] for w0 in starts]
    losses = [float(loss(X, y, end)) for end in ends]
    w, least = best_of_many(X, y, starts, 0.1, 7)
    assert least == pytest.approx(min(losses), rel=1e-9, abs=1e-12)
    assert float(loss(X, y, w)) == pytest.approx(least, rel=1e-12)


def test_integrate_one_datum_by_hand() -> None:
    # dw/dt = 2 (3 - 2 w): w = 3/2 - e^(-4t).
    assert integrate([[2]], [3], [0.5], 0.3) == pytest.approx([1.5 - np.exp(-1.2)], rel=1e-10)
    assert integrate([[2]], [3], [-0.5], 0.3) == pytest.approx([-0.5])


def test_integrate_agrees_with_the_exact_flow_past_a_deactivation() -> None:
    X, y = TWO
    w0 = np.array([1e-4, 2e-4, 5e-5])
    path = affine_flow(X, y, w0)
    assert [e.kind for e in path.events] == ["deactivate"]
    assert path.t[1] < 1.0
    assert integrate(X, y, w0, 1.0) == pytest.approx(path.at(1.0), abs=1e-6)
    assert setting.integrate(X, y, w0, 0.5) == pytest.approx(path.at(0.5), rel=1e-9)
