"""The limit of Theorem 1: closed forms, flows to e^(-1e6), KKT points, and what breaks; extremal
directions, sectors and dead starts: parity, planted errors, certificates."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.flows.integrate import integrate, log_steepness
from reluflow.losses import LOGISTIC
from reluflow.papers.phuong2021inductive import flows, sectors, setting
from reluflow.papers.phuong2021inductive import limit as limit_page
from scipy.integrate import solve_ivp

SEEDS = st.integers(0, 2**32 - 1)
LINE = flows.Start(
    np.array([[2.0, 0.0], [-1.0, 0.0]]),
    np.array([1.0, -1.0]),
    np.array([[1.0, 0.0], [-1.0, 0.0]]),
    np.full(2, -3.0),
    np.array([1.0, -1.0]),
)


@pytest.fixture(scope="module")
def of_sizes() -> flows.Survey:
    return flows.flows(3, 1, ["spanning"], [np.log(10.0)])


def test_one_datum_a_label_against_a_plain_integrator() -> None:
    """z = |w|^2 of the neuron on x = 2 obeys dz/dt = 4 z / (1 + e^(2 z))."""
    late = flows.follow_long(LINE, reach=1e3)
    assert late is not None
    k = 5
    t = float(np.exp(late.log_t[k]))
    found = solve_ivp(lambda _, z: 4.0 * z / (1.0 + np.exp(2.0 * z)), (0.0, t), [np.exp(-6.0)],
                      rtol=1e-10, atol=1e-14).y[0, -1]  # fmt: skip
    assert np.exp(late.log_square(1.0)[k]) == pytest.approx(found, rel=1e-3)
    assert np.exp(late.log_square(1.0)[-1]) / late.log_t[-1] == pytest.approx(0.5, rel=2e-2)


def test_log_steepness_is_that_of_the_velocity() -> None:
    rng, y, signs = np.random.default_rng(6), np.tile([1.0, -1.0], 3), np.array([1, 1, -1, -1])
    X, W = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    sizes = np.linalg.norm(W, axis=1)
    parts = sectors.velocity(X, y, W, signs * sizes)
    loss = LOGISTIC.value(np.maximum(X @ W.T, 0.0) @ (signs * sizes), y)
    found = log_steepness(W / sizes[:, None], np.log(sizes), signs, X, y, LOGISTIC)
    assert found == pytest.approx(np.log(sum(np.sum(part**2) for part in parts) / loss**2))


def test_a_group_that_is_empty_is_left_out() -> None:
    X = np.array([[2.0, 0.1], [-1.0, -0.1]])
    dying = replace(LINE, W0=np.array([[1.0, 0.0], [-0.07, 1.3]]), X=X)
    late = flows.follow_long(dying, reach=1e3)
    assert late is not None
    assert late.alive == (1.0,)
    assert late.distances[-1, 0] < 0.05
    assert not flows.patterns(late)[-1][1][1].any()
    assert flows.follow_long(replace(dying, W0=np.array([[-0.07, 1.3], [-0.07, 1.3]]))) is None


def test_hypotheses_of_our_own_claims_are_tested(of_sizes: flows.Survey) -> None:
    late = of_sizes.found[-1]
    given = late.given
    every, law = limit_page.every_start(of_sizes, 0), limit_page.follows_the_law(of_sizes)
    for changed in ({"y": np.ones(len(given.y))}, {"loss": limit_page.LINEAR},
                    {"signs": np.ones(len(given.signs))}):  # fmt: skip
        item = {"flow": replace(late, given=replace(given, **changed))}
        assert every.unmet(item)
        assert law.unmet(item)
    assert every.unmet({"flow": late}) is None
    assert not limit_page.both_alive({"flow": replace(late, given=replace(given, y=-given.y))})
    X, y = np.vstack([given.X, 9.0 * given.X[:1]]), np.append(given.y, -given.y[0])
    assert not limit_page.separable({"flow": replace(late, given=replace(given, X=X, y=y))})
    few = {"flow": flows.flows(3, 1, ["few"], [flows.NEAR_ZERO]).found[0]}
    assert law.unmet(few)
    assert every.unmet(few) is None


def test_each_datum_of_a_lost_label_and_the_rate_of_the_loss(of_sizes, monkeypatch) -> None:
    """One datum fitted and one missed by more have a loss of 2 log 2 and more; t^(-0.99), or a hump
    on the way, is no O(1/t); and of (8) and (9), which (10) does not show, is asked as well."""
    one, late = limit_page.leaves_the_other(), of_sizes.found[-1]
    claim, every = limit_page.constants_hold(of_sizes, 0), limit_page.every_start(of_sizes, 0)
    hump = late.log_t + 9.0 * (np.arange(len(late.tau)) == 70)
    for log_t in (1.01 * late.tau, hump):
        assert every.slack({"flow": replace(late, log_t=log_t)}) == -1.0
    assert every.slack({"flow": late}) > 0.05
    assert min(claim.slack({"flow": each}) for each in (one, late)) > 0.4
    with monkeypatch.context() as other:
        other.setattr(limit_page, "function_gap", lambda *_: 0.2)
        assert every.slack({"flow": late}) == pytest.approx(-0.1)
        high = limit_page.bound("loss", 3.0, "<=", 1.0, "")
        other.setattr(limit_page, "loss_and_margin", lambda *_: [high, high])
        assert claim.slack({"flow": late}) == -2.0
    for column, begin in ((0, 0.2), (0, 99.0), (1, 0.2), (1, 99.0)):
        far = late.distances.copy()
        far[:, column] = np.geomspace(begin, 0.2, len(far))
        with monkeypatch.context() as other:
            other.setattr(type(late), "distances", property(lambda _, far=far: far))
            assert max(one.slack({"flow": late}) for one in (claim, every)) < -0.05
    outputs = type(late).outputs
    monkeypatch.setattr(type(late), "outputs", lambda late, sign: outputs(late, sign) if sign > 0.0
                        else np.tile([3.0, -1.0], (len(late.tau), 1)))  # fmt: skip
    assert claim.slack({"flow": one}) == -1.0


def test_faces_of_the_plane() -> None:
    X, y = limit_page.PLANE.astype(int), limit_page.PLANE_LABELS.astype(int)
    assert limit_page.other_faces(X, y) == 0
    ones = np.ones(3, int)
    # (0, 1) = (1, 1) + (-1, 0) lies on the boundary of the second datum, which has a part in it.
    faces = limit_page.possible(np.array([[1, 1], [-1, 0]]), ones[:2])
    assert [0, 1] in np.array(faces).tolist()
    # Not orthogonally separable: other faces can hold a neuron.
    assert limit_page.other_faces(np.array([[1, 0], [-1, 1], [-1, -1]]), ones) > 0
    one_label = {"X": np.eye(2, dtype=int) + 1, "y": np.ones(2, dtype=int)}
    assert limit_page.no_other_points().unmet(one_label)


def test_a_start_that_leaves_a_datum_unseen_is_said_to_wait(monkeypatch) -> None:
    """From norm 20 the datum (1, 8), which the neuron does not see, waits until e^-400 moves it."""
    monkeypatch.setattr(flows, "integrate", partial(integrate, max_steps=600))
    X, y = np.array([[8.0, 1.0], [1.0, 8.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    W0 = np.array([[1.0, -0.2], [-1.0, -1.0]]) / np.hypot(1.0, 0.2)
    start = flows.Start(X, y, W0, np.full(2, np.log(20.0)), np.array([1.0, -1.0]))
    with pytest.raises(flows.Waiting):
        flows.follow_long(start)
    small = replace(start, log_norms=np.full(2, -5.0))
    assert flows.follow_long(small, 100.0) is not None


def test_a_neuron_that_comes_to_its_label_late_is_said_to_wait() -> None:
    """No half-plane holds these data: the second neuron comes to see (1, 0) when the others have
    long been fitted. Without its label the flow ended at a limit that is not that of Theorem 1."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.9], [-1.0, -0.9]]), np.array([1.0, -1.0, -1.0])
    W0, signs = np.array([[-1.0, 0.0], [-1.0, 5.0]]), np.array([-1.0, 1.0])
    with pytest.raises(flows.Waiting, match="had none"):
        flows.follow_long(flows.Start(X, y, W0, np.log([10.0, 5.1]), signs))


def test_a_neuron_that_waits_is_left_behind_in_the_law() -> None:
    """It is active on one datum of its label, and bounded: its norm is a part of W_0."""
    late = sectors.followed(sectors.waiting_start(1.0))
    assert len(late.own(1.0)) == 2
    assert limit_page.follows_the_law(flows.Survey([late], 0)).slack({"flow": late}) > 0.04


def test_what_is_drawn_is_all_that_the_sentences_allow() -> None:
    """Data that are not (OS), where it is not asked for; one datum; neurons of unequal sizes."""
    rng = np.random.default_rng(0)
    drawn = [draw(rng) for draw in limit_page.both_ends_equal().draws.values() for _ in range(9)]
    assert not all(sectors.is_separable(item["X"], item["y"]) for item in drawn)
    whole = [sectors._whole(rng) for _ in range(40)]
    assert {len(item["y"]) for item in whole} == {1, 2, 3, 4}
    assert {len(set(item["y"])) for item in whole if len(item["y"]) == 4} == {1, 2}
    start = flows.start(LINE.X, LINE.y, flows.NEAR_ZERO, rng)
    assert np.ptp(start.log_norms) > 3.0


def test_no_flow_is_not_that_none_was_lost() -> None:
    assert not flows.Survey([], 0).followed[0].holds


def test_a_late_beginning_does_not_count_in_the_slope(of_sizes, monkeypatch) -> None:
    """distance² = K / (log(1/L) + c) has the slope K whatever c is."""
    late = of_sizes.found[-1]
    distances = np.sqrt(7.0 / (late.tau + 0.4 * late.tau[-1]))[:, None]
    monkeypatch.setattr(type(late), "distances", property(lambda _: distances))
    assert limit_page.by_slope(late) == pytest.approx(7.0, rel=1e-9)
    assert distances[-1, 0] ** 2 * late.tau[-1] < 6.0


def test_data_that_carry_nothing_span_nothing() -> None:
    """(Span) asks for support examples: (3, 1) lies beyond the margin of (1, 0)."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    X = np.array([[1.0, 0.0], [3.0, 1.0], [-1.0, 0.2], [-1.0, -0.2]])
    assert [sectors.spans(X, y, sign) for sign in (1.0, -1.0)] == [False, True]


def test_both_halves_of_eq_79_are_asked() -> None:
    """Where <w_+, x> > 0 on positive data, <w_-, x> must not be positive there, too."""
    X, y = np.array([[1.0, 0.1], [0.1, 1.0]]), np.array([1.0, -1.0])
    one, other = limit_page.products(X, y, 1.0)
    assert min(one.min(), other.min()) > 0.1
    assert limit_page.on_positive_data().slack({"X": X, "y": y}) < -0.1


@given(SEEDS)
@settings(max_examples=10)
def test_enumerated_directions_in_space_are_strict_maxima(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((5, 3)), rng.choice([-1.0, 1.0], 5)
    for sign in (1.0, -1.0):
        for w in setting.extremal_directions(X, y, sign):
            steps = rng.standard_normal((300, 3)) * 1e-4
            steps -= np.outer(steps @ w, w)
            around = w + steps
            around /= np.linalg.norm(around, axis=1)[:, None]
            heights = sign * setting.height(X, y, around)
            assert np.all(heights < sign * setting.height(X, y, w))


@pytest.mark.parametrize("kind", sectors.ANY_DATA)
def test_the_enumeration_lists_the_summits_of_a_grid(kind: str) -> None:
    """All of them and no others: the grid does not use Lemma A.1, the enumeration does."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, y = sectors.ANY_DATA[kind](rng).values()
        for sign in (1.0, -1.0):
            grid, listed = (of(X, y, sign) for of in (sectors.summits, setting.extremal_directions))
            assert len(grid) == len(listed)
            for w in grid:
                assert np.min(np.linalg.norm(listed - w, axis=1)) < 1e-5


def test_horns_matrix_is_copositive_as_its_two_forms_say() -> None:
    rng = np.random.default_rng(0)
    for v in rng.integers(-9, 10, (50, 5)):
        a, b, c, d, e = v.tolist()
        value = v @ sectors.HORN @ v
        assert value == (a - b + c + d - e) ** 2 + 4 * b * d + 4 * c * (e - d)
        assert value == (a - b + c - d + e) ** 2 + 4 * b * e + 4 * a * (d - e)


@given(SEEDS)
@settings(max_examples=20)
def test_points_of_an_orthant_have_no_certificate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert sectors.certificate(rng.integers(0, 9, (5, 4)).tolist()) >= 0


@given(SEEDS)
@settings(max_examples=4)
def test_arcs_by_hand_are_the_fates_of_the_limit_flow(seed: int) -> None:
    """Whichever way the data lie, whatever their unit; and a neuron that sees its label lives."""
    X, y = setting.supported(2, (1, 2), np.random.default_rng(seed)).values()
    around = 180
    U = sectors.unit(2.0 * np.pi * (np.arange(around) + 0.5) / around)
    for share, sign in zip(sectors.chances(1e-3 * X, y), (1.0, -1.0), strict=False):
        dead = [sectors.align(X, y, u, sign).status == "dead" for u in U]
        assert abs(sum(dead) / around - share) <= 2.0 / around
    alone, by_lemma = (sectors.fates(X, y, 40, np.random.default_rng(0), lives)
                       for lives in (False, True))  # fmt: skip
    assert np.array_equal(alone, by_lemma)


def test_neurons_are_at_home_at_one_size_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not each at a size of its own, where at each size another one is astray."""
    monkeypatch.setattr(sectors, "at_home", lambda _, size: np.arange(5) != int(-size) // 12 % 5)
    home, total = sectors.homecomings(0, 1)
    assert (home, total) == (4, 5)
