"""Lemma 2.1 and Propositions B.1, B.2, C.1 and 3.5 of Lee, Sim & Ye 2022b, and our repairs."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.papers.lee2023magnitude import laws, rates

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
    assert only or not symmetric


CORNER = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, -1, -1)]
CROSS = [(1, 0), (0, 1), (-1, 0), (0, -1)]


@pytest.mark.parametrize(
    ("points", "target", "only"),
    [
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


def test_corners_tell_two_neurons_apart():
    law = laws.smeared([(-3, 1), (1, 2), (2, -3)], Fraction(3, 2))
    assert not law.sum(axis=(0, 1)).any()
    assert laws.told_apart(law, (1, 0), (1, 0)) == 0
    # First entries of the corners: -3/2, -3, -9/2; 5/2, 1, -1/2; 7/2, 2, 1/2.
    assert laws.told_apart(law, (1, 0), (0, 0)) == 5
    assert laws.told_apart(law, (-1, 0), (-2, 0)) == 4


# --- Proposition C.1 ---


def test_tail_at_its_ends_and_bounds():
    assert laws.upper_tail([0.5, 1.0, 1.1], 1) == pytest.approx([0.5, 0.5, 0.0])
    assert laws.upper_tail([1.0, 7.0], 5) == pytest.approx([0.0, 0.0])
    low, high = laws.central_angles(100, 0.95)
    assert 2 * laws.upper_tail(math.cos(math.radians(low)), 100) == pytest.approx(0.05)
    assert low + high == pytest.approx(180.0)


# --- Proposition 3.5 ---


@pytest.mark.parametrize("m", [2, 3])
def test_the_flow_of_a_product_goes_down_its_loss(m):
    """Its first step against autograd through the ReLUs of the chain."""
    rng = RNG(m)
    X, y, w, v = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3), rng.random(m) + 1
    tw, tv = torch.tensor(w, requires_grad=True), torch.tensor(v, requires_grad=True)
    a = torch.relu(torch.tensor(X) @ tw)
    for k in range(m - 1, 0, -1):
        a = torch.relu(tv[k] * a)
    torch.mean(0.5 * (tv[0] * a - torch.tensor(y)) ** 2).backward()
    path = rates.product_flow(X, y, w, v, 1e-6)
    slope = np.concatenate([tw.grad.numpy(), tv.grad.numpy()])
    assert (path.y[:, 0] - path.y[:, -1]) / 1e-6 == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_a_slow_decay_is_no_change_of_sign():
    """Where all labels are 0, v_2 decays for ever; with a negative one it passes 0, and is kept."""
    for horizon in (5.0, 500.0):
        path = rates.product_flow([[1.0]], [0.0], [3.0], [2.0, 1.0], horizon)
        assert path.status == 0
    path = rates.product_flow([[1.0]], [-1.0], [3.0], [2.0, 1.0], 5.0)
    assert path.status == 1
    assert path.y[2, -1] == pytest.approx(0.0, abs=1e-5)
    assert path.y[1, -1] ** 2 - path.y[2, -1] ** 2 == pytest.approx(3.0, abs=1e-5)
