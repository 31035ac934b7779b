"""Lemma 2.1 and Propositions B.1, B.2, C.1 and 3.5 of Lee, Sim & Ye 2022b, and our repairs."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.exact import fractions
from reluflow.papers.lee2023magnitude import chains, laws, rates

RNG = np.random.default_rng
MERCEDES = laws.finite_law([(1, 0), (0, 1), (-1, -1)])
CROSS = laws.finite_law([(1, 0), (0, 1), (-1, 0), (0, -1)])


def pair(theta, d, seed=0):
    u, e = np.linalg.qr(RNG(seed).normal(size=(d, 2)))[0].T
    return u, math.cos(theta) * u + math.sin(theta) * e


# --- Lemma 2.1 and Proposition B.1 ---


@pytest.mark.parametrize("theta", [1e-3, 0.4, math.pi / 2, 2.7])
def test_sector_moments_against_a_sum_over_the_plane(theta):
    """Polar midpoints: E r^2 = 2 in the plane, and all of the sector's matrix is of degree 2."""
    u, v = pair(theta, 2)
    alpha = (np.arange(200_000) + 0.5) * math.pi / 100_000
    x = np.column_stack([np.cos(alpha), np.sin(alpha)])
    inside = (x @ u > 0) & (x @ v > 0)
    slow = 2.0 * x[inside].T @ x[inside] / len(x)
    for fast in (
        laws.printed_sector_moment(u, v),
        laws.sector_moment(u, v),
        laws.gaussian_sector(laws.sectors_angle(u, v), u, v),
    ):
        assert fast == pytest.approx(slow, abs=3e-5)


@given(st.floats(1e-5, math.pi - 1e-5), st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_printed_and_regular_forms_agree(theta, d):
    u, v = pair(theta, d)
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    regular = laws.sector_moment(u, v)
    assert laws.printed_sector_moment(u, v) == pytest.approx(regular, abs=1e-10)
    assert u @ regular @ v == pytest.approx(float(laws.relu_correlation(theta)), abs=1e-10)
    assert regular + laws.sector_moment(u, -v) == pytest.approx(0.5 * np.eye(d), abs=1e-12)


def test_sector_moment_at_equal_and_opposite_vectors():
    u = np.array([0.6, 0.8])
    assert np.isnan(laws.printed_sector_moment(u, -u)).all()
    assert laws.sector_moment(u, -u) == pytest.approx(np.zeros((2, 2)))
    assert laws.sector_moment(u, u) == pytest.approx(0.5 * np.eye(2))


# --- Proposition B.2 ---


def slow_only(law, target):
    """No direction v keeps the loss at 0: in the plane the rays to try are orthogonal to points."""
    X = np.array(law.points)
    ahead, edge = X[X @ target > 0], X[X @ target == 0]
    kept = (v for v in product(range(-12, 13), repeat=law.d) if any(v) and not (ahead @ v).any())
    return not any((edge @ v <= 0).all() for v in kept)


@given(st.integers(0, 10**6), st.integers(1, 2), st.booleans())
@settings(max_examples=25, deadline=None)
def test_only_minimiser_against_enumeration(seed, d, symmetric):
    rng = RNG(seed)
    law = laws.random_law(rng, d, int(rng.integers(d, d + 3)), symmetric)
    assert law.has_zero_mean
    assert law.has_full_rank
    assert law.is_symmetric or not symmetric
    if max(abs(a) for x in law.points for a in x) > 12:
        return
    target = [Fraction(int(a)) for a in rng.integers(-2, 3, d)]
    only = laws.is_only_minimiser(law, target)
    assert only == slow_only(law, target)
    assert only == (laws.width(law, target) < 1e-7)
    assert only or not symmetric


def test_minimisers_of_small_laws():
    assert not laws.is_only_minimiser(MERCEDES, (-1, -1))
    assert laws.extent(MERCEDES, (-1, -1), (1.0, 0.0)) == pytest.approx((-2.0, 0.0))
    assert laws.is_only_minimiser(MERCEDES, (0, 0))
    # One active point, and the boundary's two do the rest.
    assert laws.is_only_minimiser(CROSS, (1, 0))
    # Without (0, -1), and no mean of zero, the boundary leaves a ray.
    ray = laws.finite_law([(1, 0), (0, 1), (-1, 0)])
    assert not laws.is_only_minimiser(ray, (1, 0))
    assert laws.width(ray, (1, 0)) == math.inf
    assert not laws.spans_every_side(MERCEDES)
    assert laws.spans_every_side(CROSS)
    # Three dimensions: the boundary's points span the plane positively, or all but positively.
    corner = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, -1, -1)]
    assert laws.is_only_minimiser(laws.finite_law(corner), (1, 0, 0))
    assert not laws.is_only_minimiser(laws.finite_law(corner[:3]), (1, 0, 0))


def test_spread_points_lift_the_loss_by_a_square():
    for size in (Fraction(1, 2), Fraction(1, 7)):
        law = laws.smeared(MERCEDES.points, size)
        assert not law.sum(axis=(0, 1)).any()
        assert laws.density_loss(law, (-2, 0), (-1, -1)) == size**2 / 12
        assert laws.density_loss(law, (-1, -1), (-1, -1)) == 0


def test_triangle_moments():
    square = fractions([[(0, 0), (1, 0), (1, 1)], [(0, 0), (0, 1), (1, 1)]])  # the unit square
    third, quarter = Fraction(1, 3), Fraction(1, 4)
    whole = [[third, quarter], [quarter, third]]
    assert laws.active_moment(square).tolist() == whole
    assert laws.active_moment(square, (1, 1), (2, 1)).tolist() == whole
    assert not laws.active_moment(square, (-1, 0)).any()
    law = laws.smeared([(-3, 1), (1, 2), (2, -3)], Fraction(3, 2))
    w, target = (1, -2), (-1, -1)
    sides = laws.active_moment(law, w) + laws.active_moment(law, (-1, 2))
    assert (sides == laws.active_moment(law)).all()
    rng = RNG(0)
    chosen = law.astype(float)[rng.integers(0, len(law), 300_000)]
    x = np.einsum("nk,nkd->nd", rng.dirichlet([1, 1, 1], 300_000), chosen)
    residual = np.maximum(x @ w, 0) - np.maximum(x @ target, 0)
    exact = float(laws.density_loss(law, w, target))
    assert 0.5 * np.mean(residual**2) == pytest.approx(exact, rel=0.02)


# --- Proposition C.1 ---


def test_tail_at_its_ends_and_bounds():
    assert laws.upper_tail([0.5, 1.0, 1.1], 1) == pytest.approx([0.5, 0.5, 0.0])
    assert laws.upper_tail([1.0, 7.0], 5) == pytest.approx([0.0, 0.0])
    assert laws.printed_bound(0.2, 100) == pytest.approx(2 * math.exp(-2))
    low, high = laws.central_angles(100, 0.95)
    assert 2 * laws.upper_tail(math.cos(math.radians(low)), 100) == pytest.approx(0.05)
    assert low + high == pytest.approx(180.0)
    shares = laws.sampled_shares((0.1, 0.5), (1, 4), 4000, 0)
    assert shares[0.5] == pytest.approx(laws.upper_tail(0.5, [1, 4]), abs=0.03)


# --- Proposition 3.5 ---


def test_chain_gradient_against_autograd_with_zeros():
    rng = RNG(0)
    for _ in range(40):
        n, d, m = (int(k) for k in rng.integers(1, 5, 3))
        X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.normal(size=n)
        w, v = rng.integers(-2, 3, d).astype(float), rng.integers(-1, 4, m).astype(float)
        tw, tv = torch.tensor(w, requires_grad=True), torch.tensor(v, requires_grad=True)
        a = torch.relu(torch.tensor(X) @ tw)
        for k in range(m - 1, 0, -1):
            a = torch.relu(tv[k] * a)
        output = tv[0] * a
        torch.mean(0.5 * (output - torch.tensor(y)) ** 2).backward()
        in_w, in_v = chains.chain_gradient(X, y)(w, v)
        assert in_w == pytest.approx(tw.grad.numpy())
        assert in_v == pytest.approx(tv.grad.numpy())
        assert chains.chain_output(X, w, v) == pytest.approx(output.detach().numpy())


def test_population_gradient_of_a_chain_against_a_circle():
    """The loss is of degree 2 in x, so the circle of radius sqrt 2 stands for N(0, I)."""
    alpha = (np.arange(20_000) + 0.5) * math.pi / 10_000
    X = math.sqrt(2.0) * np.column_stack([np.cos(alpha), np.sin(alpha)])
    target = np.array([0.7, -0.4])
    for v in ([2.0, 0.5], [-1.0, 3.0, 0.2], [1.0, -0.5, 2.0], [1.0, 0.0]):
        y = -1.5 * np.maximum(X @ target, 0.0)
        slow = chains.chain_gradient(X, y)(np.array([0.3, 1.0]), np.array(v))
        fast = chains.chain_population_gradient(target, -1.5)(np.array([0.3, 1.0]), np.array(v))
        for a, b in zip(slow, fast, strict=True):
            assert b == pytest.approx(a, abs=2e-4)


def test_negative_target_silences_at_the_time_of_the_quadrature():
    for v, w in (((2.0, 1.0), 3.0), ((2.0, 4.0, 0.5), 1.5), ((0.9, 0.8), 1.0)):
        path = chains.chain_flow(chains.chain_gradient([[1.0]], [-1.0]), [w], v, 50.0)
        assert path.factor == 1 + int(np.argmin(v))
        assert path.zero == pytest.approx(rates.reached_zero_at(v, w), rel=1e-5)
        squares = np.column_stack([path.v, path.w]) ** 2
        assert squares - squares[:, :1] == pytest.approx(
            np.tile(squares[0] - squares[0, 0], (len(squares), 1)), abs=1e-5
        )


def test_slow_decay_is_no_zero():
    """Opposite to the target v_2 = e^(-ct): 1e-90 at t = 50 is still positive."""
    for horizon in (5.0, 50.0, 500.0):
        gradient = chains.chain_population_gradient([1.0], 1.0)
        path = chains.chain_flow(gradient, [-3.0], [2.0, 1.0], horizon)
        assert path.keeps_signs
        assert path.zero == math.inf
        assert 0.0 < path.smallest_share < 1e-3
    tied = chains.chain_population_gradient([1.0], -1.0)
    tie = chains.chain_flow(tied, [3.0], [2.0, 1.0, 1.0], 20.0)
    assert tie.keeps_signs
    assert rates.reached_zero_at([2.0, 1.0, 1.0], 3.0) == math.inf


def test_positive_target_and_silent_starts():
    gradient = chains.chain_gradient([[1.0], [-1.0]], [1.0, 0.0])
    path = chains.chain_flow(gradient, [3.0], [2.0, 0.01], 20.0)
    assert path.keeps_signs
    assert path.w[-1, 0] * np.prod(path.v[-1]) == pytest.approx(1.0, abs=1e-3)
    for v in ([1.0, 0.0], [1.0, -2.0, 3.0], [-1.0, 2.0, 0.0]):
        still = chains.chain_flow(gradient, [3.0], v, 10.0)
        assert still.keeps_signs
        assert still.v[-1] == pytest.approx(v)
    # relu'(0) = 1 lets a factor leave 0.
    moving = chains.chain_flow(
        chains.chain_gradient([[1.0]], [1.0], at_zero=1.0), [1.0], [1.0, 0.0], 1.0
    )
    assert not moving.keeps_signs
    with pytest.raises(InputError, match="at least one factor"):
        chains.chain_flow(gradient, [1.0], [], 1.0)


def test_a_start_that_should_be_silent_moves_downhill():
    """One datum x = y = 1, w = 1, v = (1, 0): with relu'(0) = 1, dL/dv_2 = -1 and v_2 alone moves;
    with the label -1 it falls."""
    for label, end in ((1.0, 0.25), (-1.0, -0.25)):
        gradient = chains.chain_gradient([[1.0]], [label], at_zero=1.0)
        path = chains.chain_flow(gradient, [1.0], [1.0, 0.0], 0.25)
        assert path.w.ravel() == pytest.approx([1.0, 1.0])
        assert path.v[-1] == pytest.approx([1.0, end])
        assert path.factor == 2


def test_the_statements_notice_a_sign_that_changes():
    statement = rates.positive_target()
    item = {"X": np.ones((1, 1)), "w0": np.array([3.0]), "v0": np.array([2.0, 1.0]),
            "target": np.ones(1), "factors": np.ones(1)}  # fmt: skip
    assert not statement.broken_by(item)
    negative = {**item, "factors": -np.ones(1)}
    assert statement.unmet(negative) == "v_1*, ..., v_m* > 0"
    assert statement.fails(statement.slack(negative))
    # v_1 alone passes through 0, of which the proposition does not speak.
    first = {**negative, "v0": np.array([1.0, 2.0])}
    assert statement.slack(first) > 0.0
    # Opposite signs of v_1 and the target are what matters.
    both = {**negative, "v0": np.array([-2.0, 1.0])}
    assert statement.slack(both) > 0.0
    assert statement.unmet({**item, "v0": np.array([-2.0, 1.0])}) == "v_1 > 0"
    assert statement.fails(statement.slack({**item, "v0": np.array([-2.0, 1.0])}))


def test_relu_correlation_against_mpmath():
    for theta in (0.0, 0.7, 2.0, math.pi):
        exact = mpmath.quad(
            lambda a, t=theta: max(mpmath.cos(a), 0) * max(mpmath.cos(a - t), 0),
            [-mpmath.pi / 2, theta - math.pi / 2, mpmath.pi / 2],
        ) / mpmath.pi if theta else mpmath.mpf(1) / 2  # fmt: skip
        assert laws.relu_correlation(theta) == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize(("d", "eps"), [(2, 0.3), (3, 0.9), (5, 0.01), (30, 0.5), (400, 0.2)])
def test_tail_against_mpmath(d, eps):
    def density(c):
        return (1 - c * c) ** (mpmath.mpf(d - 3) / 2)

    exact = mpmath.quad(density, mpmath.linspace(eps, 1, 9)) / mpmath.quad(
        density, mpmath.linspace(-1, 1, 17)
    )
    assert laws.upper_tail(eps, d) == pytest.approx(float(exact), rel=1e-6)


def test_one_point_without_its_mirror_makes_a_law_lopsided() -> None:
    assert CROSS.is_symmetric
    assert not laws.finite_law([(1, 0), (-1, 0), (0, 1)]).is_symmetric
