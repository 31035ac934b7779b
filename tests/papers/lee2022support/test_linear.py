"""Appendices D and E, Lemma F.10, Theorem F.11: the statements hold, false ones are caught."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from reluflow import exact, figures
from reluflow.falsify import Statement, falsify
from reluflow.flows.affine import affine_flow
from reluflow.ledger import Evidence
from reluflow.papers.lee2022support import figures as figures_page
from reluflow.papers.lee2022support import hyperplanes, linear
from reluflow.papers.lee2022support.setting import integrate

RING = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
FOUR = np.array([[1, 0, 0, 0], [4, 9, 2, 9], [0, 6, 4, 9], [2, 2, 2, 3], [8, 4, 0, 3]])
FOUR_LABELS = np.array([5, 22, 26, 20, 2])


def broken(statement: Statement, count: int = 20) -> bool:
    return not falsify(statement, 0, count).survives


@pytest.mark.parametrize(
    ("false", "count"),
    [
        (replace(linear.rectangle_in_ellipsoid(3), strict=True), 40),
        (linear.norm_grows_from_zero(start=0.1), 20),
        (hyperplanes.points_of_zeros(zero_exponent=True), 10),
        (hyperplanes.crossings_bound(3, prescribed=True, most=2), 20),
    ],
    ids=lambda value: getattr(value, "says", ""),
)
def test_a_false_variant_is_found(false: Statement, count: int) -> None:
    assert broken(false, count)


def negated(statement: Statement) -> Statement:
    return replace(statement, slack=lambda item: -statement.slack(item))


def with_instance(statement: Statement, **change) -> Statement:
    """The statement on instances of which some arrays were replaced by functions of themselves."""

    def slack(item):
        return statement.slack({**item, **{name: f(item[name]) for name, f in change.items()}})

    return replace(statement, slack=slack)


def test_wrong_parts_of_proposition_d4_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken(negated(linear.norm_grows_inside(3)))
    outside = {"place": lambda place: 1.02 * place}
    assert broken(with_instance(linear.rectangle_is_invariant(3), **outside))
    assert broken(with_instance(linear.rectangle_in_ellipsoid(3), **outside))
    right = linear.neuron

    def turned(item):
        net = right(item)
        return replace(net, axes=net.axes @ np.linalg.qr(np.vander([1.0, 2.0, 3.0]))[0])

    monkeypatch.setattr(linear, "neuron", turned)
    assert broken(linear.subset_is_ellipsoid(3))


def test_axes_that_are_no_eigenvectors_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = linear.neuron

    def turned(item):  # the same minimum, so the same centre
        net = right(item)
        axes = net.axes @ np.linalg.qr(np.vander([1.0, 2.0, 3.0]))[0]
        return replace(net, axes=axes, c=axes.T @ net.minimum)

    monkeypatch.setattr(linear, "neuron", turned)
    assert broken(linear.subset_is_ellipsoid(3))


def test_a_norm_that_does_not_follow_g_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = linear.LinearNeuron.g
    shifted = lambda net, w: right(net, w) + 0.1 * net.height  # noqa: E731
    monkeypatch.setattr(linear.LinearNeuron, "g", shifted)
    assert broken(linear.norm_grows_inside(3), 60)


def test_a_wrong_ellipsoid_is_found_although_its_axes_are_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        linear.LinearNeuron, "g", lambda net, w: np.sum((w @ net.axes) ** 4, axis=-1) - net.height
    )
    assert broken(linear.subset_is_ellipsoid(2))


@pytest.mark.parametrize("off", [1e-3, -1e-3])
def test_an_ellipsoid_about_another_centre_is_found(
    off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linear part moves the centre and keeps the curvature; it is seen from either side."""
    right = linear.LinearNeuron.g
    moved = lambda net, w: right(net, w) + off * (np.asarray(w) @ net.axes.sum(axis=1))  # noqa: E731
    monkeypatch.setattr(linear.LinearNeuron, "g", moved)
    report = falsify(linear.subset_is_ellipsoid(1), 0, 20, 0)
    assert sum(report.violations.values()) == report.tried


@pytest.mark.parametrize("off", [1e-3, -1e-3])
def test_a_curvature_that_the_axes_do_not_tell_is_found(
    off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """|a b| bends g between its axes a and b and not along them; it is seen up and down."""
    right = linear.LinearNeuron.g

    def bent(net, w):
        sides = (np.asarray(w) - 0.5 * net.minimum) @ net.axes
        return right(net, w) + off * abs(sides.prod())

    monkeypatch.setattr(linear.LinearNeuron, "g", bent)
    report = falsify(linear.subset_is_ellipsoid(2), 0, 20, 0)
    assert sum(report.violations.values()) == report.tried


def test_neuron_of_an_instance_has_the_prescribed_spectrum_and_minimum() -> None:
    rng = np.random.default_rng(1)
    for draw in linear.spectral_draws(3, lambda d, rng: {}).values():
        item = draw(rng)
        net = linear.neuron(item)
        values = np.linalg.svd(net.X, compute_uv=False) ** 2
        assert np.allclose(np.sort(values), np.sort(item["s"]), rtol=1e-6)
        assert np.allclose(np.linalg.lstsq(net.X, net.y, rcond=None)[0], net.minimum, atol=1e-6)
        assert np.allclose(net.X.T @ net.X @ net.axes, net.axes * net.eigenvalues, atol=1e-8)


def test_linear_neuron_of_data() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]), np.array([3.0, -1.0, 2.0])
    for labels in (y, -y, y[::-1]):
        net = linear.linear_neuron(X, labels)
        assert np.all(net.c >= 0)
        assert np.allclose(net.minimum, np.linalg.lstsq(X, labels, rcond=None)[0])
        assert np.allclose(net.vertices[[0, 3]], [np.zeros(2), net.minimum])
        assert np.allclose(net.g(net.vertices), 0.0, atol=1e-12)
        assert net.g(0.5 * net.minimum) == pytest.approx(-net.height)
    with pytest.raises(ValueError, match="rank d"):
        linear.linear_neuron(X[:1], y[:1])


def holding(evidence: list[Evidence]) -> list[bool]:
    return [item.holds for item in evidence if item.decides]


def test_exact_checks_of_appendix_d_hold() -> None:
    assert holding(linear.manifolds(1, 60)) == [True]
    assert holding(linear.norm_turns(1, 8)) == [True]
    points = linear.rectangle_points(1, 12)
    assert holding(linear.rectangles(points)) == [True] * 3
    moving = points[points.vertex & points.moves]
    assert moving.enters.all()
    assert len(moving) > 0
    assert (~points.vertex).sum() > 0
    for change in ({"g": points.g + 1}, {"lopsided": True}):
        assert not all(holding(linear.rectangles(points.assign(**change))))


def test_exact_norm_check_needs_all_eigenvalues() -> None:
    H, q = exact.fractions(np.diag([4, 1])), exact.fractions(np.array([4, 1]))
    assert linear.grows(H, q, [1, 4])
    with pytest.raises(ArithmeticError):
        linear.grows(H, q, [4])


def test_small_but_nonzero_starts_overshoot_the_norm_of_the_minimum() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0])
    for eps in (1e-1, 1e-2, 1e-3):
        t = np.linspace(0.0, 6.0, 400)
        along, across = (
            np.sqrt(2) - np.exp(-9 * t) * (np.sqrt(2) - eps / np.sqrt(2)),
            eps * np.exp(-t) / np.sqrt(2),
        )
        by_hand = (along**2 + across**2).max() - 2.0
        W = affine_flow(X, y, [eps, 0.0], "linear").at(t)
        assert 0.0 < by_hand < eps**2
        assert (W**2).sum(axis=1).max() - 2.0 == pytest.approx(by_hand, rel=1e-6)
    assert not broken(linear.norm_grows_from_zero())


def test_late_states_agree_with_the_flow_at_any_rank() -> None:
    rng = np.random.default_rng(3)
    for full in (True, False):
        for draw in linear.factored_draws(full).values():
            item = draw(rng)
            X, y = linear.data_of(item)
            assert (np.linalg.matrix_rank(X) == X.shape[1]) == full
            state = linear.late(X, y, item["w0"], decays=2.0)
            slowest = np.linalg.svd(X, compute_uv=False)[np.linalg.matrix_rank(X) - 1] ** 2
            path = affine_flow(X, y, item["w0"], "linear")
            assert np.allclose(path.at(2.0 / slowest), state, atol=1e-8)


def test_reduced_relu_flow_agrees_with_an_ode_solver_in_the_whole_space() -> None:
    y, w0 = np.array([1.0, 0.3, 2.0, 0.4]), np.array([0.4, -0.3, 0.2, 0.1])
    B = np.linalg.svd(RING)[2][:3].T
    state = integrate(RING, y, w0, 0.7)
    reduced = affine_flow(RING @ B, y, B.T @ w0).at(0.7)
    assert np.allclose(B.T @ state, reduced, atol=1e-9)
    assert np.allclose(state - B @ reduced, w0 - B @ (B.T @ w0), atol=1e-9)


def test_reduction_statements_are_caught_where_the_span_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = linear.basis_of_span
    monkeypatch.setattr(linear, "basis_of_span", lambda item: np.roll(right(item), 1, 0))
    for activation in ("linear", "relu"):
        assert broken(linear.loss_is_constant_across(activation), 20)
        assert broken(linear.flow_stays_along_span(activation), 20)
        assert broken(linear.flow_is_reduced_flow(activation), 20)


def test_the_first_rotations_are_uniform() -> None:
    """The mean trace of a uniform rotation of space is 0; turns of smaller order stay near 1."""
    rng = np.random.default_rng(0)
    traces = [
        np.trace(linear._rotations(3, 4000, size, rng), axis1=1, axis2=2).mean()
        for size in (1.0, 1e-3)
    ]
    assert abs(traces[0]) < 0.1  # a hundredth, by chance
    assert traces[1] == pytest.approx(3.0, abs=1e-4)


def test_the_ring_has_no_nonnegative_coordinates_and_smaller_data_have() -> None:
    assert linear.search_nonnegative(RING, 0, 2000).min() < -0.05
    assert not linear.supports_exist(RING, 3)
    assert linear.supports_exist(RING, 4)
    rng = np.random.default_rng(0)
    for _ in range(5):
        three = rng.uniform(0.05, 1.0, (3, 5))
        assert linear.search_nonnegative(three, 0, 2000).min() >= 0.0
    X = np.array([[1.0, 0, 1, 0], [0, 1.0, 0, 1], [1, 2, 1, 2]])
    found = linear.search_nonnegative(X, 0, 500)
    assert np.allclose(found @ found.T, X @ X.T)
    assert found.min() == pytest.approx(0.0, abs=1e-4)
    with pytest.raises(ValueError, match="rank 4"):
        linear.search_nonnegative(np.eye(4), 0, 10)


def test_coordinates_in_the_plane_keep_products_and_signs() -> None:
    X = np.array([[1.0, 0, 1, 0, 2], [0, 1.0, 0, 1, 0], [1, 3, 1, 3, 2]])
    Z = linear.plane_coordinates(X)
    assert np.allclose(Z @ Z.T, X @ X.T)
    assert Z.min() >= -1e-12
    assert not broken(linear.plane_keeps_sign(6))
    rotated = lambda A: A @ np.array([[1.0, 0.0], [-0.4, 1.0]])  # noqa: E731
    assert broken(with_instance(linear.plane_keeps_sign(6), A=rotated))


def test_zeros_by_isolation_agree_with_sturm() -> None:
    touching = exact.ExponentialEquation((1, -4), (2, 1), -4)  # (u - 2)^2
    assert touching.zeros() == hyperplanes.zeros_by_isolation(touching) == 1
    both = exact.ExponentialEquation((1, 1), (1, -1), Fraction(5, 2))  # u + 1/u = 5/2
    assert both.zeros() == hyperplanes.zeros_by_isolation(both) == 2
    assert holding(hyperplanes.zeros_counted(7, 15)) == [True, True]


def test_the_bound_of_lemma_f10_is_attained() -> None:
    assert holding(hyperplanes.zeros_attained()) == [True]
    assert "checked" in hyperplanes.some_constants().others
    assert "not so" not in hyperplanes.some_constants().others


def test_alternation_agrees_with_all_choices_of_values() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        f, k = rng.normal(size=7), int(rng.integers(1, 5))
        slow = {
            first: max(
                min(first * (-1) ** step * v for step, v in enumerate(chosen))
                for chosen in combinations(f, k)
            )
            for first in (1, -1)
        }
        slow[None] = max(slow.values())
        for first, depth in slow.items():
            found = hyperplanes.alternation(f, k, first)
            assert found == depth if depth > 0.0 else found <= 0.0


def test_rounding_is_no_crossing() -> None:
    # q is an eigenvector of H, so the flow from 0 is a straight line, and the hyperplane through
    # two of its points contains it: v.w(t) - c is nothing but rounding.
    line = {"X": np.array([[2.0, 3.0], [1.0, 0.0], [2.0, 0.0]]), "y": np.array([5.0, 1.0, 2.0]),
            "w0": np.zeros(2), "places": np.array([0.2, 0.7]), "free": np.ones(3)}  # fmt: skip
    flow = hyperplanes.spectrum(line["X"], line["y"], line["w0"])
    v, c = hyperplanes.through(flow.at(np.array([0.01, 1.0])))
    f = flow.at(flow.times(300)) @ v - c
    assert 0.0 < np.abs(f).max() <= flow.rounding(v, c) < 1e-13
    statement = hyperplanes.crossings_bound(2, True)
    assert np.isnan(statement.slack(line))
    assert not statement.broken_by(line)
    # One sign change less than the limit is found all the same, on a flow that is bent.
    bent = {**line, "y": np.array([5.0, 1.0, 6.0])}
    assert hyperplanes.crossings_bound(2, True, most=1).broken_by(bent)
    assert not statement.broken_by(bent)


def test_alternation_is_asked_of_what_has_a_sign() -> None:
    f = np.array([1.0, -0.25, 0.5, -1e-3, 1.0])
    assert hyperplanes.share_of_alternation(f, 1e-2, 3) == 0.25
    assert hyperplanes.share_of_alternation(f, 1e-2, 4) <= 0.0
    assert hyperplanes.share_of_alternation(f, 1e-4, 5) == 1e-3
    assert np.isnan(hyperplanes.share_of_alternation(f, 1.0, 2))


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_diagonal_example_is_crossed_where_it_should_be(d: int) -> None:
    equation, v = hyperplanes.diagonal_example(d)
    k = np.arange(1.0, d + 1)
    path = affine_flow(np.diag(k), k, np.zeros(d), "linear")
    times = np.log(2.0) * np.arange(1, d + 1)
    normal = np.array([float(c) for c in v])
    assert np.allclose(path.at(times) @ normal, 1.0, atol=1e-9)
    assert equation.zeros(Fraction(0), Fraction(1)) == d
    t = np.linspace(0.05, 0.7 * (d + 1), 500)
    assert hyperplanes.alternation(path.at(t) @ normal - 1.0, d + 1) > 0.0


def test_spectrum_is_the_linear_flow() -> None:
    rng = np.random.default_rng(2)
    X, y, w0 = rng.uniform(size=(4, 3)), rng.uniform(size=4), rng.normal(size=3)
    t = np.array([0.0, 0.3, 2.0, 50.0])
    assert np.allclose(
        hyperplanes.spectrum(X, y, w0).at(t), affine_flow(X, y, w0, "linear").at(t), atol=1e-9
    )


def test_four_dimensions_allow_three_crossings_of_a_boundary_from_zero() -> None:
    path = affine_flow(FOUR, FOUR_LABELS, np.zeros(4), "linear")
    assert np.sign(path.at([1e-3, 0.1, 1.0, 10.0]) @ FOUR[0]).tolist() == [1, -1, 1, -1]
    assert [e.kind for e in path.events if e.datum == 0] == ["deactivate", "activate", "deactivate"]


def test_the_ring_refutes_the_remark() -> None:
    case = linear.loses_its_sign(RING, 7, 500)
    case.check()
    assert all(case.assumptions.values())
    assert holding(linear.not_nonnegative(case, 7, 500)) == [False]


def test_statements_of_appendices_survive() -> None:
    for statement in (
        *linear.linear_reduction(),
        *linear.relu_reduction(),
        linear.every_flow_is_optimal(),
        linear.limit_from_zero_is_shortest(),
        hyperplanes.points_of_zeros(),
    ):
        assert not broken(statement, 8)


def test_examples_attain_the_bounds() -> None:
    assert holding(hyperplanes.diagonal_crossings((1, 2, 3))) == [True, True]


def test_figures_show_everything() -> None:
    space = linear.linear_neuron(np.eye(3) + 0.3, [1.0, 2.0, 0.5])
    plane = linear.linear_neuron([[2.0, 1.0], [0.5, 1.5]], [1.0, 2.5])
    X, y = np.array([[2.0, 0.5, 0.5], [0.2, 1.0, 0.6]]), np.array([2.0, 1.5])
    drawn = {
        "hyperrectangle of $H$": figures_page.hyperrectangles(space, plane),
        "line of minima": figures_page.reduction(X, y, [[-0.5, 0.2, 0.3], [0.5, 0.2, 1.0]]),
        "crossing of the boundary": figures_page.boundary_crossings({"d = 4": (FOUR, FOUR_LABELS)}),
    }
    for word, fig in drawn.items():
        text = figures.fingerprint_of(fig)
        assert word in text
        assert "cut off" not in text
