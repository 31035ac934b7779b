"""Toys and two digits: descents, what is seen and counted of them, and the records."""

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow import images
from reluflow.figures.vector import cut_off
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.papers.min2024early import figures, mnist, own_data, toys
from reluflow.papers.min2024early.setting import LOSSES
from reluflow.papers.min2024early.toys import chance_astray, ensemble, euler, normal_starts
from scipy.integrate import quad

FORMULAS = {
    "exponential": lambda q: torch.exp(-q),
    "logistic": lambda q: torch.nn.functional.softplus(-q),
    "twice logistic": lambda q: 2.0 * torch.nn.functional.softplus(-q),
}

# The loss and its descent: by hand, by groups of data, by batches.


def draw(seed: int, n: int, d: int, h: int, name="exponential", size=0.3):
    """Two clouds of data, and neurons of this size."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
    X = rng.standard_normal((n, d)) + 1.5 * y[:, None] * rng.standard_normal(d)
    start = mnist.Neurons(size * rng.standard_normal((h, d)), size * rng.standard_normal(h))
    return mnist.ShallowLoss(X, y, LOSSES[name], 1.0 / n), start


@given(
    st.integers(0, 10**6), st.integers(1, 1300), st.integers(1, 9), st.integers(1, 7),
    st.sampled_from(sorted(LOSSES)), st.sampled_from([1e-9, 1e-3, 0.3, 2.0]),
)  # fmt: skip
def test_the_slope_is_autograds(seed, n, d, h, name, size) -> None:
    """With a datum and a neuron that are 0, on the boundaries of all others."""
    problem, start = draw(seed, n, d, h, name, size=size)
    problem.X[0], start.W[0] = 0.0, 0.0
    found, slope = problem.value_and_slope(start)
    W, v = (torch.tensor(part, requires_grad=True) for part in (start.W, start.v))
    outputs = torch.relu(torch.tensor(problem.X) @ W.T) @ v
    loss = FORMULAS[name](torch.tensor(problem.y) * outputs).mean()
    assert found == pytest.approx(loss.item(), rel=1e-10)
    there = np.concatenate([-g.numpy().ravel() for g in torch.autograd.grad(loss, (W, v))])
    np.testing.assert_allclose(slope.flat, there, atol=1e-9 * max(np.abs(there).max(), 1e-300))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([1e-12, 1e-6, 1.0, 1e3]))
def test_groups_of_data_keep_to_jumping_weights(seed: int, unit: float) -> None:
    problem, start = draw(seed, 200, 3, 4, size=0.3)
    ours, rng = mnist.GroupedLoss(problem), np.random.default_rng(seed)
    for k in range(7):
        W = start.W + 10.0 ** (k % 5 - 4) * rng.standard_normal((4, 3))
        at = mnist.Neurons(unit * W, start.v / unit)
        loss, slope = ours.value_and_slope(at)
        expected, there = problem.value_and_slope(at)
        assert loss == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(slope.W, there.W, atol=1e-10 * np.abs(there.W).max())
        np.testing.assert_allclose(slope.v, there.v, atol=1e-10 * np.abs(there.v).max())


def test_an_epoch_takes_every_datum_once_and_the_mean_of_each_batch() -> None:
    problem, start = draw(2, 23, 3, 4)
    path = mnist.stochastic_descent(problem, start, 0.1, 0.0, 10, np.random.default_rng(7))
    end = next(islice(path, 1, None))
    rng, at = np.random.default_rng(7), start
    order = rng.permutation(23)
    for rows in (order[:10], order[10:20], order[20:]):
        part = mnist.ShallowLoss(problem.X[rows], problem.y[rows], problem.loss, 1.0 / len(rows))
        at = at.moved(part.value_and_slope(at)[1], 0.1, 0.0)
    np.testing.assert_allclose(end.flat, at.flat, rtol=1e-12)


# What is seen of a run, and what is counted of the images.


DIGITS = images.digits()
SMALL = mnist.Setting(3, 8, width=7, sigma=1e-3, n_steps=40)


@pytest.fixture(scope="module")
def task() -> mnist.Task:
    return mnist.Task(SMALL, DIGITS)


def test_dropped_pixels_change_nothing_of_what_is_seen(task: mnist.Task) -> None:
    """With all 64 pixels, by numpy, one neuron at a time; no datum moves a weight of the others."""
    X = np.array([task.pair.picture(x).ravel() for x in task.pair.X])
    y, (start, still), moves = task.pair.y, task.start(4), task.pair.moves
    W = SMALL.sigma * np.random.default_rng(4).standard_normal((7, 64))
    assert not X[:, ~moves].any()
    x_plus, x_minus = X[y > 0].sum(axis=0), X[y < 0].sum(axis=0)
    for state in islice(mnist.descent(task.loss, start, 0.05), 0, 60, 20):
        W[:, moves], v = state.neurons.W, state.neurons.v
        seen, values = task.seen(state, still), np.linalg.svd(W, compute_uv=False)
        assert seen.spectral == pytest.approx(values[0] ** 2)
        assert seen.stable_rank == pytest.approx((values**2).sum() / values[0] ** 2)
        assert seen.loss == pytest.approx(np.exp(-y * (np.maximum(X @ W.T, 0.0) @ v)).mean())
        assert seen.positive == (v > 0).sum()
        for side, group, x in ((seen[5:8], v > 0, x_plus), (seen[8:], v < 0, x_minus)):
            each = [w @ x / np.linalg.norm(w) / np.linalg.norm(x) for w in W[group]]
            mean = W[group].mean(axis=0)
            together = mean @ x / np.linalg.norm(mean) / np.linalg.norm(x)
            assert side == pytest.approx((together, min(each), max(each)))


def test_pairs_are_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = images.pair(mnist.first_of(DIGITS, 13), 4, 9)
    products, same = pair.X @ pair.X.T, np.equal.outer(pair.y, pair.y)
    slow, sizes = {}, np.linalg.norm(pair.X, axis=1)
    for name, own, sign in (("equal", same, 1.0), ("different", ~same, -1.0)):
        above = np.triu(own, 1)
        slow |= {name: above.sum(), f"{name}_right": (above & (sign * products > 0.0)).sum()}
    cosines = np.outer(pair.y, pair.y) * products / np.outer(sizes, sizes)
    for block in (1000, 7):
        monkeypatch.setattr(mnist, "_BLOCK", block)
        kept = mnist.record(pair)
        assert (kept["shares"], kept["left_over"]) == (slow, 0)
        assert kept["least_before"] == (pair.levels.astype(int) @ pair.levels.T)[~same].min()
        assert kept["least_after"] == pytest.approx(products[~same].min())
        assert kept["mu"] == pytest.approx(cosines.min())
    shown, exact = mnist.recorded_heatmap(kept), mnist.heatmap(pair)
    assert np.abs(shown - exact).max() <= 0.51 * np.abs(exact).max() / 127


def test_changes_are_the_derivatives_along_the_flow() -> None:
    """By differences, of the weights with one coordinate more, that no gradient moves."""
    problem, at = draw(3, 9, 4, 5)
    still = np.random.default_rng(3).uniform(size=5)
    found, slope = mnist.rates(3, problem, at, still), problem.value_and_slope(at)[1].W
    ahead, now, back = (
        np.hstack([at.W + t * slope, np.sqrt(still)[:, None]]) for t in (1e-6, 0.0, -1e-6)
    )
    units = [W / np.linalg.norm(W, axis=1, keepdims=True) for W in (ahead, back)]
    turns = np.linalg.norm(units[0] - units[1], axis=1).sum() / 2e-6
    assert found.norms == pytest.approx(((ahead**2).sum() - (back**2).sum()) / 2e-6, rel=1e-6)
    assert found.directions == pytest.approx(turns, rel=1e-6)
    assert found.loss == pytest.approx(problem.value_and_slope(at)[0])
    assert found.squares == pytest.approx((now**2).sum())


# The records: they come out again.


NAMES = tuple(mnist.FIGURES)


@pytest.fixture(scope="module")
def training() -> images.Images:
    if images.mnist_folder() is None:
        pytest.skip(f"no MNIST: neither {images.VARIABLE} nor {images.BESIDE}")
    return images.mnist(images.mnist_folder())


def apart(kept: mnist.Record, task: mnist.Task, late: bool, steps: int) -> float:
    """Recorded steps from the start, or from the weights kept, taken again: the largest difference
    of a loss, over the loss's own change or, where that is less, over a thousandth of it."""
    at, facts = task.start(kept.facts["seed"])[0], kept.facts["kept" if late else "first"]
    if late:
        flat = mnist.unpacked(facts["weights"], "<f2") * facts["unit"]
        at = at.like(flat)
    losses = np.array(facts["losses"][: steps + 1])
    found = [state.loss for state in islice(task.descent(at), steps + 1)]
    return np.abs(found - losses).max() / max(np.ptp(losses), 1e-3 * losses[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_each_figure_comes_out_again(training, name) -> None:
    kept = mnist.load(name)
    task = mnist.Task(kept.setting, training, np.float32)
    assert kept.facts["images"] == task.loss.n
    for late in (False, True):
        assert apart(kept, task, late, 5) < 1e-3
    start, still = task.start(kept.facts["seed"])
    first = task.seen(mnist.State(0, start, task.loss.value_and_slope(start)[0]), still)
    assert mnist.row_of(first) == pytest.approx(kept.curves.iloc[0].tolist(), rel=1e-5)
    data = kept.facts["data"]
    assert mnist.left_over(task.pair) == data["left_over"] == 0
    assert task.pair.X.shape[1] == data["pixels"]
    exact = mnist.heatmap(task.pair)
    assert np.abs(mnist.recorded_heatmap(data) - exact).max() < np.abs(exact).max() / 120
    few = images.pair(mnist.first_of(training, 1000), kept.setting.positive, kept.setting.negative)
    assert mnist.least_before(few) >= data["least_before"] >= 0
    shares = zip(mnist._shares(mnist.shares(few)), mnist._shares(data["shares"]), strict=True)
    assert all(some == pytest.approx(every, abs=0.01) for some, every in shares)


@pytest.mark.parametrize("name", tuple(mnist.PHASES))
def test_the_first_epochs_come_out_again(training, name) -> None:
    kept = mnist.load_phases(name)
    task = mnist.Task(mnist.Setting(**kept.attrs["setting"]), training, np.float32)
    for k, now in enumerate(islice(mnist.PHASES[name](task, kept.attrs["seed"], 2), 3)):
        assert now.loss == pytest.approx(kept.loss[k], rel=1e-3)
        assert now.norms == pytest.approx(kept.norms[k], rel=1e-3)
        assert now.directions == pytest.approx(kept.directions[k], rel=1e-2)


@pytest.mark.parametrize("name", ["levels", "sum-levels"])
def test_a_reading_comes_out_again(training, name) -> None:
    kept = mnist.load_readings()
    now = mnist.tried(*mnist.candidates(mnist.FIRST)[name][1:], training, kept["seed"])
    assert now == pytest.approx({k: kept["rows"][name][k] for k in now}, rel=1e-4)


def test_the_records_are_of_the_papers_setting() -> None:
    for name in NAMES:
        kept = mnist.load(name)
        assert kept.setting == mnist.FIGURES[name]
        assert kept.curves.step.tolist() == list(range(0, 15001, mnist.EVERY))
        assert kept.curves.loss[0] == pytest.approx(1.0, abs=1e-6)
        half, (steps, losses) = kept.facts["kept"], kept.curves[["step", "loss"]].to_numpy().T
        expected = np.interp(half["step"], steps, losses)
        assert half["losses"][0] == pytest.approx(expected, rel=1e-2)
        for key in ("w_plus", "w_minus"):
            w, x = (kept.picture(name).ravel() for name in (key, "x_plus"))
            shown = w @ x / np.linalg.norm(w) / np.linalg.norm(x)
            listed = kept.facts["cosines"][key][kept.setting.positive]
            assert shown == pytest.approx(listed, abs=1e-3)
            assert (shown > 0) == (key == "w_plus")
    for kept in map(mnist.load_phases, mnist.PHASES):
        assert kept.epoch.tolist() == list(range(mnist.EPOCHS + 1))
        assert mnist.Setting(**kept.attrs["setting"]) == mnist.FIGURES["figure-5"]


def test_a_record_is_the_plain_loop(monkeypatch, tmp_path) -> None:
    tiny = mnist.Setting(3, 8, width=5, sigma=0.3, n_steps=400)
    monkeypatch.setattr(mnist, "FIGURES", {"tiny": tiny, "figure-5": tiny})
    monkeypatch.setattr(mnist, "mnist", lambda folder: DIGITS)
    monkeypatch.setattr(mnist, "KEPT", 0.999)
    monkeypatch.setattr(mnist, "EPOCHS", 2)
    for name in ("tiny", "figure-12"):
        shelf = mnist.SHELF.at(name, 0, root=tmp_path)
    kept, task = mnist.load("tiny", shelf), mnist.Task(tiny, DIGITS)
    plain, last = mnist.stepped(task, 0, mnist.EVERY)
    np.testing.assert_allclose(kept.curves, plain, rtol=1e-3)
    exact = mnist.Task(tiny, DIGITS, np.float32)
    assert max(apart(kept, exact, late, 20) for late in (False, True)) < 1e-5
    assert mnist.load_phases("figure-12", shelf).epoch.tolist() == [0, 1, 2]
    w_plus = task.pair.picture(last.W[last.v > 0].mean(axis=0))
    np.testing.assert_allclose(kept.picture("w_plus"), w_plus, atol=2e-3 * np.abs(w_plus).max())


# Many networks side by side, against one network at a time.


X = np.array([[1.0, 0.2, 0.8], [0.4, 0.9, 0.9], [-0.8, -0.7, 1.0], [-0.2, -1.1, 0.7]])
Y = np.array([1.0, 1.0, -1.0, -1.0])


def test_as_one_network_at_a_time() -> None:
    """By the descent of the page `mnist`, whose slope is autograd's."""
    W, v = normal_starts(3, 3, 9, 3, 0.4)
    run, problem = ensemble(X, Y, W, v, LOGISTIC, 0.05, [0, 201, 250], 50, euler), (X, Y, LOGISTIC)
    assert np.array_equal(run.clock, np.arange(0, 251, 50))
    for k, start in enumerate(map(mnist.Neurons, W, v)):
        states = list(islice(mnist.descent(mnist.ShallowLoss(*problem, 1.0), start, 0.05), 251))
        np.testing.assert_allclose(run.loss[:, k], [s.loss for s in states[::50]], rtol=1e-12)
        for step in (0, 201, 250):
            found = mnist.Neurons(*(part[k] for part in run.at(step))).flat
            np.testing.assert_allclose(found, states[step].neurons.flat, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="was not recorded"):
        run.at(4)


def test_order_four_away_from_boundaries() -> None:
    W, v = np.array([[[0.5, 0.6], [0.7, 0.4]]]), np.array([[0.3, 0.8]])
    x, y = np.array([[1.0, 0.1], [0.2, 1.0]]), np.ones(2)
    ends = [ensemble(x, y, W, v, EXPONENTIAL, 2.0 / k, [k]).W for k in (5, 10, 20, 160)]
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert errors[0] > 8.0 * errors[1] > 64.0 * errors[2] > 0.0


# Places, the law and the falls.


def test_places_one_neuron_at_a_time() -> None:
    X, y = toys.FIGURE_6["two and two"]
    W, v = normal_starts(0, 3, 40, 2, 1.0)
    found = toys.places((X, y), W, v)
    for at in np.ndindex(3, 40):
        on, own = [float(x @ W[at]) > 0.0 for x in X], y == np.sign(v[at])
        goal, home = X[own].sum(axis=0), on == own.tolist()
        told = found.live[at], found.arrived[at], found.astray[at]
        assert told == (any(on), home, any(on) and not home)
        cosine = goal @ W[at] / np.linalg.norm(goal) / np.linalg.norm(W[at])
        assert found.aligned[at] == pytest.approx(cosine)


@pytest.mark.parametrize(("tau", "angle"), [(0.5, 1.0), (3.0, 0.1), (7.0, 0.001), (2.0, 0.0)])
def test_the_law_by_quadrature(tau: float, angle: float) -> None:
    C, S = math.cosh(tau), math.sinh(tau)

    def density(t: float) -> float:
        a = math.tan(angle) * (C * math.cos(t) + S * math.sin(t))
        return (1.0 - a / math.hypot(1.0, a)) / (2.0 * math.pi)

    value, _ = quad(density, -math.atan(S / C), math.pi / 2, limit=500, points=[0.0])
    assert chance_astray(tau, angle) == pytest.approx(value, rel=1e-6)


def test_falls_are_counted_by_the_rule() -> None:
    """The fifth set has a fall that is too low, the sixth a shallow valley."""
    for count, *falls in (
        (1, (300, 1.0)), (2, (300, 1.0), (700, 1.0)), (3, (200, 1.0), (500, 0.5), (800, 1.0)),
        (2, (300, 1.0), (460, 1.0)), (1, (300, 1.0), (700, 0.05)), (1, (300, 1.0), (380, 1.0)),
    ):  # fmt: skip
        curves = [size / (1.0 + np.exp((np.arange(1000.0) - at) / 20.0)) for at, size in falls]
        found = toys.falls(np.sum(curves, axis=0))
        assert len(found) == count, falls
        assert len(falls) > 1 or abs(found[0] - falls[0][0]) <= 1


def test_excluded_directions_are_recognised() -> None:
    (test,) = toys.all_arrive_or_die().hypotheses.values()
    X, y = np.array([[1.0, 0.0], [-1.0, 1.0], [-2.0, 0.0]]), np.array([1.0, -1.0, -1.0])
    assert not test({"X": X, "y": y, "w": np.array([-6.0, 2.0])})
    assert test({"X": X, "y": y, "w": np.array([6.0, -2.0])})
    assert test({"X": X, "y": y, "w": np.array([-6.0, 2.1])})


def test_a_curve_ends_on_the_boundary_whichever_way_its_end_was_rounded() -> None:
    X, y = toys.FIGURE_7
    edge = np.arctan2(X[1, 0], -X[1, 1])  # where <x_2, w> = 0 beside S_dead
    for off in (3e-16, -3e-16, 0.0):
        turn = np.concatenate([np.linspace(edge - 0.5, edge, 20), np.full(10, edge)]) + off
        W = np.stack([np.cos(turn), np.sin(turn)], axis=1)[:, None]
        fig = figures.angles(X, y, np.arange(30.0), W, np.ones((30, 1)), "time")
        (line,) = [line for line in fig.axes[0].lines if len(line.get_xdata()) == 30]
        assert np.isfinite(line.get_ydata()).sum() == 20


def test_a_training_without_a_direction_is_drawn() -> None:
    """The data of either label may cancel, and then no cosine says how far a neuron is turned."""
    own = own_data.experiment("figure-6", h=12, iterations=50)
    square = np.vstack([np.eye(2), -np.eye(2)])
    curves = own_data.descend(replace(own, X=square, y=np.array([1.0, -1.0, 1.0, -1.0])))
    assert np.isnan(curves[["plus", "minus"]]).all(axis=None)
    assert cut_off(figures.training(curves)) == []
