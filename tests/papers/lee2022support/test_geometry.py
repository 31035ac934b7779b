"""Cells and their minima, the linear neuron and layers: what unfit evidence would let pass."""

import numpy as np
import pytest
from reluflow.falsify import falsify
from reluflow.papers.lee2022support import deep, dynamics, geometry, linear, theorem_3_6
from reluflow.papers.lee2022support.landscape import loss
from reluflow.papers.lee2022support.setting import DataSet, draw_many

FOUR = np.array([[6.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 6.0]])


def instance(X, y) -> DataSet:
    return DataSet(np.array(X, float), np.array(y, float), "by hand")


@pytest.mark.parametrize("X", [FOUR, [[1, 0]], [[0, 2], [0, 1]], [[1, 1], [2, 2], [1, 3], [1, 0]]])
def test_cells_of_a_quadrant_agree_with_a_walk_through_it(X):
    X = np.array(X, float)
    for quadrant, (u, v) in {2: (-1, 1), 4: (1, -1)}.items():
        t = np.deg2rad(np.arange(0.05, 90.0, 0.1))
        W = np.column_stack([u * np.cos(t), v * np.sin(t)])
        walked = {frozenset(np.flatnonzero(X @ w > 0).tolist()) for w in W}
        assert geometry.quadrant_cells(X, quadrant) == walked


def test_the_fall_is_the_difference_of_losses():
    rng = np.random.default_rng(5)
    for _ in range(40):
        X, y = rng.uniform(0, 1, (4, 2)), rng.uniform(0.1, 2, 4)
        w, eps = rng.normal() * np.array([-X[0, 1], X[0, 0]]), rng.uniform(0.01, 1.0)
        fall, promise, _ = geometry.fall_from_boundary(X, y, w, 0, eps)
        plain = loss(X, y, w) - min(loss(X, y, w + eps * X[0]), loss(X, y, w - eps * X[0]))
        assert fall == pytest.approx(plain, abs=1e-12)
        kappa = sum(float(x @ X[0]) ** 2 for x in X)
        assert promise == pytest.approx(0.5 * eps * (y[0] * X[0] @ X[0] - eps * kappa))
    assert geometry.fall_from_boundary([[1.0]], [-1.0], [0.0], 0, 0.1)[0] <= 0.0  # without A2


@pytest.mark.parametrize(
    ("statement", "seed"),
    [(geometry.relu_below_linear_where_unfit, 16), (dynamics.deactivates_only_if, 13),
     (dynamics.deactivates_only_if, 20)],
)  # fmt: skip
def test_as_few_draws_as_a_low_effort_makes_try_a_statement(statement, seed) -> None:
    """With labels, or with points, that were not made for it these seeds gave no such draw."""
    report = falsify(statement(), seed, 30, 0)
    assert report.tried >= 5
    assert report.survives


def test_no_kind_of_draws_takes_the_place_of_another() -> None:
    """Two that had one name left whole numbers of either sign, and full rank in space, undrawn."""
    rng = np.random.default_rng(0)
    adjacent, strict = geometry.one_class_between_cells(), geometry.relu_below_linear_where_unfit()
    assert adjacent.draws["signed, integers, d = 3"](rng)["X"].min() < 0.0
    assert np.linalg.matrix_rank(strict.draws["unfit, uniform, d = 3"](rng)["X"]) == 3


def test_half_of_the_bend_beside_a_boundary_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise of 1/2 eps (y_j |x_j|^2 - 1/2 eps kappa_j): only nearly equal sides deny it."""
    right = geometry.fall_from_boundary

    def half(X, y, w, j, eps):
        fall, promise, size = right(X, y, w, j, eps)
        return fall, promise + 0.25 * eps**2 * float(np.sum((X @ X[j]) ** 2)), size

    monkeypatch.setattr(geometry, "fall_from_boundary", half)
    assert falsify(geometry.lower_beside_boundaries(), 0, 150, 0).violations


def test_cells_that_doubles_do_not_decide_are_no_violations() -> None:
    """One is within rounding of equality; or lengths go over twelve orders of magnitude, and L_P
    hardly feels where the short data lie."""
    X = [[1, 1], [1, 0], [0, 1]]
    edges = [geometry.survey_cells([instance(X, [2, b, 1])]) for b in (2.1, 2)]
    assert len(edges[0]) - len(edges[1]) == 1
    found = geometry.survey_cells(list(draw_many(30, 2, 6))[26:27]).query("not deficient")
    assert (found.agree.all(), len(found)) == (True, 8)


# --- The linear neuron and layers, Appendices B to E ---


def test_linear_neuron_of_data() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]), np.array([3.0, -1.0, 2.0])
    for labels in (y, -y, y[::-1]):
        net = linear.linear_neuron(X, labels)
        assert np.all(net.c >= 0)
        assert np.allclose(net.vertices[[0, 3]], [np.zeros(2), np.linalg.lstsq(X, labels)[0]])
        assert np.allclose(net.g(net.vertices), 0.0, atol=1e-12)
        assert net.g(0.5 * net.minimum) == pytest.approx(-net.height)
    with pytest.raises(ValueError, match="rank d"):
        linear.linear_neuron([[1.0, 2.0]], [3.0])


def test_coordinates_that_can_be_nonnegative_are_found_so() -> None:
    three = np.random.default_rng(0).uniform(0.05, 1.0, (3, 5))
    found = linear.search_nonnegative(three, 0, 2000)
    assert found.min() >= 0.0
    assert np.allclose(found @ found.T, three @ three.T)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_a_flow_beside_the_span_is_seen_on_either_side(factor: float) -> None:
    item = {"A": np.eye(1), "B": np.ones((1, 2)), "y": np.ones(1), "w0": np.array([0.1, 0.1])}
    assert linear.flow_stays_along_span("linear", item) > -1e-12
    assert linear.flow_stays_along_span("linear", {**item, "planted": factor}) < -0.1


@pytest.mark.parametrize("off", [1e-3, -1e-3])
@pytest.mark.parametrize(
    ("statement", "name", "rounded"),
    # Beside a loss of 1e9 and more, 1e-3 is rounding: a draw or two of the widest kinds.
    [(deep.independent_neurons, "gradient", 2), (deep.independent_neurons, "loss", 2),
     (deep.label_backpropagation, "gradient", 0), (deep.label_backpropagation, 0, 0),
     (deep.balance, 0, 0), (deep.balance, 1, 0), (deep.balance, -1, 0)],
)  # fmt: skip
def test_both_sides_are_compared_both_ways(statement, name, rounded, off, monkeypatch):
    """An error of either sign is an error: each of these checks was once one-sided unnoticed. A
    gradient with a part along W, in one layer, adds or takes |w|^2, in every unit."""
    layer, name = (name, "by_complex_steps") if isinstance(name, int) else (None, name)
    right = getattr(deep, name)

    def wrong(*given):
        if layer is None:
            return right(*given) + off
        value, gradients = right(*given)
        pairs = enumerate(zip(gradients, given[0], strict=True))
        return value, [g + off * w * (k == layer % len(gradients)) for k, (g, w) in pairs]

    monkeypatch.setattr(deep, name, wrong)
    report = falsify(statement(), seed=0, count=30, evaluations=0)
    assert sum(report.violations.values()) >= report.tried - rounded


def test_the_bound_of_two_nested_minima_is_the_printed_one() -> None:
    """Of w_2 = (2, -1) on the counterexample's data: 1/2 + 1/2 (1 + 2) - 2/3, over 3 + 3/2."""
    item = {"X": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), "y": np.array([2.0, 1.0, 1.0])}
    assert theorem_3_6.within_bound().slack(item) == pytest.approx(8 / 27)
