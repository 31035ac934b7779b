"""Norms along the flow: g, crossings and B1-B4, and the statements on small starts in the plane."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import count

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import sympy
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.instances import draw_many
from reluflow.ledger import LedgerError
from reluflow.ledger.inventory import claims_by_id, load_inventories
from reluflow.networks import loss
from reluflow.papers.lee2022support import crossings as crossings_page
from reluflow.papers.lee2022support import norm
from reluflow.papers.lee2022support import small_flows as small_flows_page
from reluflow.papers.lee2022support.crossings import conditions_at_the_origin
from reluflow.papers.lee2022support.norm import late_sign, rate_polynomial
from reluflow.papers.lee2022support.setting import (
    Crossing,
    crossings,
    guaranteed_radius,
    integrate,
    small_flows,
    visited_cells,
)
from reluflow.papers.lee2022support.small_flows import conditions, norm_lost
from reluflow.papers.lee2022support.small_flows import norm_rate as g

THREE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([2.0, 1.0, 1.0])
RNG = np.random.default_rng


def test_rate_is_the_quadratic_form_of_the_active_data():
    rng = RNG(0)
    for item in draw_many(20, 3, 1):
        w = rng.normal(size=3)
        H, q = np.zeros((3, 3)), np.zeros(3)
        for x, label in zip(item.X, item.y, strict=True):
            if x @ w > 0:
                H += np.outer(x, x)
                q += label * x
        assert g(item.X, item.y, w) == pytest.approx(w @ (H @ w - q))


def slow_conditions(X, y, step):
    """B1-B4 as the paper prints them, entry by entry, eigenvectors matched by order."""
    H = sum(np.outer(X[i], X[i]) for i in np.nonzero(step.before)[0])
    K = sum(np.outer(X[i], X[i]) for i in np.nonzero(step.after)[0])
    old = np.linalg.inv(H) @ sum(y[i] * X[i] for i in np.nonzero(step.before)[0])
    new = np.linalg.inv(K) @ sum(y[i] * X[i] for i in np.nonzero(step.after)[0])
    (l, E), (_, F) = np.linalg.eigh(H), np.linalg.eigh(K)  # noqa: E741
    x, w0 = X[step.datum], step.w
    b1, b2 = [], []
    for k in range(len(l)):
        e = E[:, k] if E[:, k] @ old >= 0 else -E[:, k]
        change = min(np.linalg.norm(F[:, k] - e), np.linalg.norm(F[:, k] + e))
        c, target = e @ w0, e @ old
        b1.append(l.min() / l.max() * c / np.linalg.norm(w0) - change)
        ratio = np.linalg.norm(new - w0) / np.linalg.norm(w0)
        b2.append(((target / c - 1) / l[k] - ratio / l.max()) * c * l[k] ** 2)
    right = x @ old + (1 - x @ np.linalg.inv(H) @ x) / np.linalg.norm(x) * min(b2)
    return min(b1), right - y[step.datum], x @ old


def test_conditions_against_their_printed_form():
    seen, rng = 0, RNG(5)
    for _ in range(25):
        item = crossings_page.built_crossings(rng)
        path = small_flows(item, [0.9])[0]
        for step in crossings(item["X"], path):
            found = conditions(item["X"], item["y"], step)
            b1, b2, at = slow_conditions(item["X"], item["y"], step)
            assert found.full
            assert pytest.approx(b1, abs=1e-9) == found.B1
            assert found.B2 * item["y"][step.datum] == pytest.approx(b2, rel=1e-6, abs=1e-9)
            assert (found.B4 > 0) == (at < 0)
            assert found.hold == (b1 > 0 and b2 > 0 and at < 0)
            seen += found.hold
    assert seen >= 3


PARALLEL = {k: np.array(v, float) for k, v in zip("Xyu", crossings_page.TOGETHER, strict=True)}


def test_parallel_data_are_one_boundary_with_one_label_each():
    """The cells on either side are true ones, and B2 asks of each label what is printed."""
    (path,) = small_flows(PARALLEL, [1e-2])
    steps = crossings(PARALLEL["X"], path)
    assert [step.datum for step in steps] == [2, 3]
    for step in steps:
        assert (step.before.tolist(), step.after.tolist()) == ([True] * 2 + [False] * 2, [True] * 4)
        b1, b2, at = slow_conditions(PARALLEL["X"], PARALLEL["y"], step)
        found = conditions(PARALLEL["X"], PARALLEL["y"], step)
        assert pytest.approx(b1, rel=1e-6) == found.B1
        assert pytest.approx(b2, rel=1e-6) == 8 * found.B2
        assert found.hold
        assert min(b1, b2, -at) > 0


def test_the_numbers_of_the_page_on_crossings():
    B1, B2, B4 = map(float, conditions_at_the_origin([[6, 7], [4, 1], [0, 1], [0, 1]],
                                                     [5, 7, 8, 8], [2, -1]))  # fmt: skip
    assert pytest.approx(0.0360 - 0.0109, abs=1e-4) == B1
    assert (pytest.approx(8.277, abs=1e-3), 1) == (8 + B2, B4)
    one = crossings_page.merged(PARALLEL)
    ((step, met),) = small_flows_page.at_crossings(one, 1e-6)
    assert (1 + met.B2) * one["y"][2] == pytest.approx(4.36, abs=5e-3)
    assert step.w / (1e-6 * guaranteed_radius(one["X"], one["y"])) * np.sqrt(5) == pytest.approx(
        [3.38, 0.0], abs=5e-3
    )


def test_one_crossing_that_misses_a_condition_is_enough_to_reject(monkeypatch):
    statement = crossings_page.strict_under_conditions()
    ((step, _),) = small_flows_page.at_crossings(crossings_page.merged(PARALLEL), 1e-6)
    good = small_flows_page.Conditions(1.0, 1.0, True, 1.0, 1.0)
    for bad, missed in (({"inner": -1e-9}, "inner"), ({"B1": -1e-9}, "conditions")):
        met = [(step, good), (step, replace(good, **bad))]
        monkeypatch.setattr(crossings_page, "at_crossings", lambda item, met=met: met)
        given = claims_by_id(load_inventories())["sv.ours.crossing.norm"].given
        assert statement.unmet(PARALLEL) == given[missed]


def test_merged_data_have_the_same_flow_and_none_parallel():
    rng = RNG(2)
    for _ in range(10):
        base = crossings_page.built_crossings(rng, int(rng.integers(2, 4)))
        item = {**base, **crossings_page.with_parallels(base, rng)}
        one = crossings_page.merged(item)
        assert len(one["X"]) == len(base["X"]) < len(item["X"])
        ways = RNG(3).normal(size=(20, base["X"].shape[1]))
        losses = loss(item["X"], item["y"], ways)
        apart = losses - loss(one["X"], one["y"], ways)
        assert np.ptp(apart) < 1e-12 * losses.max() < 1e-9 * np.ptp(losses)
    alone = {"X": THREE[0], "y": THREE[1]}
    assert all(np.array_equal(crossings_page.merged(alone)[k], v) for k, v in alone.items())


def test_the_four_data_by_their_closed_form():
    """From (p, 0) on the flow is c* - (c* - p/sqrt 2) e^(-98t), p/sqrt 2 e^(-6t) along (1, 1) and
    (1, -1); p from the flow before, by mpmath."""
    eps = mp.mpf("0.01")
    H, w = mp.matrix([[52, 46], [46, 50]]), mp.matrix([2, -1])

    def early(t):
        return w - mp.expm(-H * t) * w * (1 - eps)

    p = early(mp.findroot(lambda t: early(t)[1], eps / 42))[0] / mp.sqrt(2)
    top, t = 29 * np.sqrt(2) / 49, np.linspace(0.0, 0.5, 1_000_001)
    squares = (top - (top - float(p)) * np.exp(-98 * t)) ** 2 + float(p) ** 2 * np.exp(-12 * t)
    found = crossings_page.drop_on_parallel_data()[0].value
    assert found == pytest.approx((squares.max() - top**2) / (5 * float(eps) ** 2), rel=1e-6)


def test_conditions_allow_another_order_of_eigenvectors_and_ask_for_rank():
    X, y = np.array([[1.0, 0.0], [0.0, 1.1], [0.5, 0.0]]), np.ones(3)
    before, after = np.array([True, True, False]), np.array([True, True, True])
    step = Crossing(0.0, 2, np.array([0.3, 0.3]), before, after)
    assert conditions(X, y, step).B1 > 0.5  # eigenvalues 1 and 1.21 become 1.25 and 1.21
    flat = Crossing(0.0, 1, np.array([0.3, 0.0]), np.array([True, True, True]),
                          np.array([True, False, True]))  # fmt: skip
    assert not conditions(X, y, flat).full
    assert not conditions(X, y, flat).hold


def test_a_flow_that_doubles_cannot_follow_is_undecided(monkeypatch):
    first = norm.converges_in_first_resting_cell()
    item = {"X": np.eye(2), "y": np.array([1.0, 2.0]), "u": np.array([0.6, 0.8])}
    assert first.slack(item) == 1.0
    lost = lambda *given: [replace(path, status="non-unique") for path in small_flows(*given)]  # noqa: E731
    monkeypatch.setattr(norm, "small_flows", lost)
    assert np.isnan(first.slack(item))
    assert not first.broken_by(item)


def test_the_first_resting_cell_counts_from_the_start():
    def places(X, y, cells):
        return norm.first_resting(X, y, cells), len(cells) - 1

    X, y = THREE
    assert places(X, y, visited_cells(X, affine_flow(X, y, [1e-4, 1e-4]))) == (0, 0)
    other = np.array([4.0, 1.0, 1.0])
    path = affine_flow(X, other, [1e-4, 1e-4])
    assert [e.datum for e in path.events] == [1]
    assert places(X, other, visited_cells(X, path)) == (1, 1)
    on = np.array([True, False, True])
    assert places(X, y, [on, ~on, on]) == (0, 2)
    assert places(X, np.array([1.0, 4.0, 1.0]), [np.ones(3, bool)]) == (-1, 0)


def test_overshoot_by_three_routes():
    X, y, v = norm.OVERSHOOT
    polynomial, eps = rate_polynomial(X.tolist(), y.tolist(), v.tolist())
    assert polynomial.coeff_monomial(polynomial.gen**2) == eps**2 / 2
    path, t = affine_flow(X, y, 0.01 * v), np.array([0.3, 1.0, 3.0])
    value = sympy.lambdify((polynomial.gen, eps), polynomial.as_expr())
    assert g(X, y, path.at(t)) == pytest.approx(value(np.exp(-t), 0.01), rel=1e-6)
    early, late = (np.linalg.norm(integrate(X, y, 0.1 * v, s)) for s in (1.2, 2.2))
    assert early > late > np.sqrt(2.0)
    assert late_sign(polynomial, eps, Fraction(1, 10**10)) == 1
    # A start on the axis of w* overshoots nothing.
    along, _ = rate_polynomial(X.tolist(), y.tolist(), [1, 1])
    assert late_sign(along, eps, Fraction(1, 10**10)) == -1


def test_batches_say_what_single_flows_say():
    rng = RNG(3)
    for make in (small_flows_page.keeps_all_data, norm.realisable_is_global,
                 norm.norm_never_drops,
                 norm.converges_in_first_resting_cell):  # fmt: skip
        statement = make()
        items = [one(rng) for one in statement.draws.values() for _ in range(2)]
        items = [item for item in items if statement.unmet(item) is None]
        together = statement.batch(items)
        alone = [statement.slack(item) for item in items]
        sure = ~np.isnan(together)
        assert sure.mean() > 0.5
        assert np.array(alone)[sure] == pytest.approx(together[sure], abs=1e-7)


@pytest.mark.parametrize("off", [1e-6, -1e-6])
def test_rates_at_minima_are_shares_of_the_datas_size(off, monkeypatch):
    """|Xw|^2 + |y|^2 has the unit of g, so a share of it is told as it is, for data of any size."""

    def shifted(X, y, w):
        return g(X, y, w) + off * (np.sum((X @ w) ** 2) + np.sum(y**2))

    monkeypatch.setattr(small_flows_page, "norm_rate", shifted)
    largest = small_flows_page.rate_at_minima(0, 5)[0]
    assert largest.value == pytest.approx(1e-6, rel=1e-3)
    assert not largest.holds


def test_an_activation_is_no_deactivation():
    """Both data end active and fitted; the one that starts inactive becomes active on the way."""
    item = {"X": np.array([[1.0, 0.2], [0.2, 1.0]]), "y": np.ones(2), "u": np.array([1.0, -0.5])}
    ((step, _),) = small_flows_page.at_crossings(item, 1e-3)
    assert (step.before.tolist(), step.after.tolist()) == ([True, False], [True, True])
    assert small_flows_page.first_deactivation(item, 1e-3) == []


def test_flows_meet_the_conditions_where_all_their_crossings_do():
    found = pd.DataFrame({"flow": [0, 0, 3, 4], "all four": [True, False, True, True]})
    assert crossings_page.crossed(found) == (3, 2)


def test_norm_lost_compares_all_pairs_of_times():
    X, y = np.eye(2), np.array([1.0, 1.0])
    path = affine_flow(X, y, [2.0, 0.1])  # c_1 falls from 2 to 1, c_2 rises from 0.1 to 1
    t = np.linspace(0.0, 40.0, 4001)
    squares = (path.at(t) ** 2).sum(axis=1)
    slow = max(squares[i] - squares[i:].min() for i in range(0, len(t), 10))
    assert norm_lost(X, y, path) == pytest.approx(slow, rel=1e-4)


def test_norm_lost_is_no_value_of_a_grid():
    """On the two data of the overshoot |w|^2 is a polynomial in u = exp(-t), maximised by hand."""
    X, y, v = norm.OVERSHOOT
    for eps in (mp.mpf("0.03") / mp.sqrt(5), mp.mpf("0.3")):
        peak = mp.findroot(lambda u, e=eps: e**2 * u - 36 * (1 - (1 - e / 2) * u**9) * (1 - e / 2)
                           * u**8, (eps**2 / 36) ** (mp.mpf(1) / 7))  # fmt: skip
        true = 2 * (1 - (1 - eps / 2) * peak**9) ** 2 + eps**2 * peak**2 / 2 - 2
        found = norm_lost(X, y, affine_flow(X, y, float(eps) * v))
        assert found == pytest.approx(float(true), rel=1e-8)
    case = norm.overshoot()
    assert case.breaks[0].value == pytest.approx(0.0119146, rel=1e-5)


def test_norm_lost_against_fine_grids_across_events():
    events = 0
    for item in draw_many(80, 2, 4):
        path = affine_flow(item.X, item.y, 0.3 * RNG(1).normal(size=2))
        t, size = path.grid(400), 1e-12
        for _ in range(4):  # the grid, made ever finer around the largest drop
            fine = (path.at(t) ** 2).sum(axis=1)
            end = int(np.argmax(np.maximum.accumulate(fine) - fine))
            top = int(np.argmax(fine[: end + 1]))
            slow, size = float(fine[top] - fine[end]), 1e-12 * fine.max()
            near = [np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], 400)
                    for k in (top, end)]  # fmt: skip
            t = np.unique([*t, *np.ravel(near)])
        found = norm_lost(item.X, item.y, path)
        assert slow - size <= found <= slow * 1.001 + size
        events += len(path.events) > 0 and slow > size
    assert events > 3


def test_least_planar_loss_against_the_enumeration():
    for item in draw_many(40, 2, 8):
        best = local_minima(item.X, item.y)[0].loss
        found, scale = norm.least_planar_loss(item.X, item.y), 0.5 * float(item.y @ item.y)
        assert found <= best + 1e-9 * scale
        if item.kind != "extreme":  # there the enumeration drops minima that rounding may own
            assert found == pytest.approx(best, abs=1e-9 * scale)


@pytest.mark.parametrize(
    ("field", "name"),
    [("B1", "B1"), ("B2", "B2"), ("full", "B3"), ("B4", "B4"), ("inner", "x_0.H")],
)
def test_the_conditions_have_to_hold_at_every_crossing(monkeypatch, field, name):
    asked = count()

    def fails_at_one(*args):
        changed = {field: False if field == "full" else -1.0} if next(asked) == 1 else {}
        return replace(conditions(*args), **changed)

    monkeypatch.setattr(crossings_page, "conditions", fails_at_one)
    with pytest.raises(LedgerError, match=re.escape(name)):
        crossings_page.two_at_once()
