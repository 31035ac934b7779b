"""Lemma 2.1 and Propositions B.1, B.2, C.1 and 3.5 of Lee, Sim & Ye 2022b, and our repairs."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.exact import fractions
from reluflow.papers.lee2023magnitude import chains, laws

RNG = np.random.default_rng


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


CORNER = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, -1, -1)]
CROSS = [(1, 0), (0, 1), (-1, 0), (0, -1)]


@pytest.mark.parametrize(
    ("points", "target", "only"),
    [
        (laws.MERCEDES, (-1, -1), False),
        (laws.MERCEDES, (0, 0), True),
        (CROSS, (1, 0), True),  # one active point, and the boundary's two do the rest
        (CROSS[:3], (1, 0), False),  # without (0, -1) the boundary leaves a ray
        (CORNER, (1, 0, 0), True),  # the boundary's points span the plane positively,
        (CORNER[:3], (1, 0, 0), False),  # or all but positively
    ],
)
def test_minimisers_of_small_laws(points, target, only):
    assert laws.is_only_minimiser(laws.finite_law(points), target) == only


def test_sides_of_small_laws():
    mercedes, cross = laws.finite_law(laws.MERCEDES), laws.finite_law(CROSS)
    assert (laws.spans_every_side(mercedes), laws.spans_every_side(cross)) == (False, True)
    # One point without its mirror makes a law lopsided.
    assert (cross.is_symmetric, laws.finite_law(CROSS[:3]).is_symmetric) == (True, False)


def test_triangle_moments():
    square = fractions([[(0, 0), (1, 0), (1, 1)], [(0, 0), (0, 1), (1, 1)]])  # the unit square
    third, quarter = Fraction(1, 3), Fraction(1, 4)
    whole = [[third, quarter], [quarter, third]]
    assert laws.active_moment(square).tolist() == whole
    assert laws.active_moment(square, (1, 1), (2, 1)).tolist() == whole
    assert not laws.active_moment(square, (-1, 0)).any()
    law = laws.smeared([(-3, 1), (1, 2), (2, -3)], Fraction(3, 2))
    sides = laws.active_moment(law, (1, -2)) + laws.active_moment(law, (-1, 2))
    assert (sides == laws.active_moment(law)).all()


# --- Proposition C.1 ---


def test_tail_at_its_ends_and_bounds():
    assert laws.upper_tail([0.5, 1.0, 1.1], 1) == pytest.approx([0.5, 0.5, 0.0])
    assert laws.upper_tail([1.0, 7.0], 5) == pytest.approx([0.0, 0.0])
    low, high = laws.central_angles(100, 0.95)
    assert 2 * laws.upper_tail(math.cos(math.radians(low)), 100) == pytest.approx(0.05)
    assert low + high == pytest.approx(180.0)


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


def test_slow_decay_is_no_zero():
    """Where all labels are 0, v_2 = e^(-ct): 1e-90 is still positive."""
    for horizon in (5.0, 50.0, 500.0):
        gradient = chains.chain_gradient([[-1.0]], [0.0])
        path = chains.chain_flow(gradient, [-3.0], [2.0, 1.0], horizon)
        assert not path.factor
        assert 0.0 < path.smallest_share < 1e-3


def test_positive_target_and_silent_starts():
    gradient = chains.chain_gradient([[1.0], [-1.0]], [1.0, 0.0])
    path = chains.chain_flow(gradient, [3.0], [2.0, 0.01], 20.0)
    assert not path.factor
    assert path.w[-1, 0] * np.prod(path.v[-1]) == pytest.approx(1.0, abs=1e-3)
    for v in ([1.0, 0.0], [1.0, -2.0, 3.0], [-1.0, 2.0, 0.0]):
        still = chains.chain_flow(gradient, [3.0], v, 10.0)
        assert not still.factor
        assert still.v[-1] == pytest.approx(v)


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_a_start_that_should_be_silent_moves_downhill(label):
    """One datum x = 1, w = 1, v = (1, 0): with relu'(0) = 1, dL/dv_2 = -y and v_2 alone moves."""
    gradient = chains.chain_gradient([[1.0]], [label], at_zero=1.0)
    path = chains.chain_flow(gradient, [1.0], [1.0, 0.0], 0.25)
    assert path.w.ravel() == pytest.approx([1.0, 1.0])
    assert path.v[-1] == pytest.approx([1.0, 0.25 * label])
    assert path.factor == 2
