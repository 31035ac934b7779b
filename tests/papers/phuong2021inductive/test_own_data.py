"""The main page of chapter 4 on any data: what they are, what is promised, what the flow does."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from reluflow.approx import written
from reluflow.errors import InputError
from reluflow.figures.vector import svg
from reluflow.flows.alignment import align
from reluflow.flows.charts import Neurons
from reluflow.losses import LOGISTIC
from reluflow.margin.kkt import kkt
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive import figures, flows, own_data
from reluflow.papers.phuong2021inductive.flows import Start, follow_long
from reluflow.papers.phuong2021inductive.limit import point
from reluflow.papers.phuong2021inductive.own_data import LABELS, PARAMETERS, PLANE, Experiment
from reluflow.papers.phuong2021inductive.sectors import velocity
from reluflow.papers.phuong2021inductive.setting import breaks, right_angles, supported
from reluflow.parameters import check
from scipy.optimize import approx_fprime

DEFAULTS: dict[str, Any] = {
    "dataset": "plane", "d": 20, "n": 500, "width": 10, "scale": 0.05, "optimiser": "flow",
    "epochs": 500, "seed": 0,
}  # fmt: skip


def experiment(**changed: Any) -> Experiment:
    return own_data.of_parameters(SimpleNamespace(**{**DEFAULTS, **changed}))


def given(X: Any, y: Any, width: int = 6, scale: float = 0.01, seed: int = 0) -> Experiment:
    own = experiment(width=width, scale=scale, seed=seed)
    rng, X = np.random.default_rng(seed), np.asarray(X, float)
    W0 = rng.standard_normal((width, X.shape[1]))
    W0 *= scale / np.linalg.norm(W0, axis=1, keepdims=True)
    return replace(own, X=X, y=np.asarray(y, float), W0=W0)


MIXED = np.array([[2.0, 1.0], [-1.0, 3.0], [1.0, -2.0], [-2.0, -1.0], [-1.0, 0.5]])
MIXED_LABELS = np.array([1.0, 1.0, 1.0, -1.0, -1.0])


@pytest.mark.parametrize("seed", range(12))
def test_pairs_that_break_the_condition(seed: int) -> None:
    """In whole numbers, right angles among them: allowed across the labels alone."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (9, 2)).astype(float)
    X = X[X.any(axis=1)]
    y = rng.choice([-1.0, 1.0], len(X))
    found, bad = own_data.violations(X, y), np.triu(breaks(X, y), 1)
    for pairs, kind in zip(found, (np.equal.outer(y, y), np.not_equal.outer(y, y)), strict=True):
        assert {*map(tuple, pairs)} == {*map(tuple, np.argwhere(bad & kind))}
    assert found.none == (not bad.any())
    item = right_angles(rng)
    assert own_data.violations(item["X"], item["y"]).none


def test_max_margin_vectors_and_their_support_examples() -> None:
    near = own_data.vectors_table(given([[1, 0], [1.001, 0.5], [-1, 0]], [1, 1, -1]))
    assert near["support examples"].iloc[0] == "1 of 2"
    lone = given([[1, 0], [-1, 0], [0, 1]], [1, 1, -1])
    assert own_data.vectors_table(lone)["norm"].tolist() == ["there is none", "≈1.000"]


@pytest.mark.parametrize("x", [(3.0, 1.0), (0.1, -0.7)])
def test_between_opposite_data_nobody_dies(x: tuple[float, float]) -> None:
    """A neuron that leaves -x comes to x at the same place, which draws it on."""
    own = given([x, np.multiply(-2.0, x)], [1, -1], 8)
    table = own_data.death_table(own, 10)
    assert [v.split()[0] for v in table["directions that die"]] == ["0", "0", "0"]
    assert table["closed form"].tolist() == ["0", "0", "0"]
    assert own_data.summary(own_data.train(own))[""]["neurons that live"] == "8 of 8"
    X, y = np.array([[1.0, 0], [-1, 0]]), np.ones(2)  # both draw a neuron with a < 0 back
    assert align(X, y, (0.6, 0.8), -1.0, goes_on=True).status == "dead"


@pytest.mark.parametrize(("d", "counts", "scale"), [(3, (3, 2), 1e-12), (2, (1, 2), 2.0)])
def test_the_flow_is_the_one_that_stops_at_each_boundary(d, counts, scale) -> None:
    item = supported(d, counts, np.random.default_rng(5))
    own = given(item["X"], item["y"], 6, scale)
    path = flows.follow_own(own.X, own.y, own.W0, own.signs)
    assert path.early[0] == pytest.approx(own.W0, rel=1e-9, abs=0.0)
    late = follow_long(Start(own.X, own.y, own.W0, np.full(6, np.log(scale)), own.signs))
    assert late is not None
    assert path.status == flows.FOLLOWED
    assert path.tau[-1] == pytest.approx(1e6, rel=1e-2)
    assert path.kept.all()
    W = np.exp(late.R[-1])[:, None] * late.U[-1]
    assert np.linalg.norm(path.W[-1] - W) < 0.02 * np.linalg.norm(W)
    assert np.abs(path.a[-1]) == pytest.approx(np.linalg.norm(path.W[-1], axis=1))
    assert np.array_equal(np.sign(path.a[-1]), own.signs)


def test_data_of_very_different_lengths() -> None:
    """All lengths that the page takes: both labels are learned, however long one of them takes."""
    own = given([[90.0, 30.0], [-90e-5, 0.0]], [1, -1])
    trained = own_data.train(own)
    assert trained.path.status == flows.FOLLOWED
    assert trained.distances[-1] < 1e-3
    told = own_data.separability_table(own)["plane"]["linearly separable"]
    assert written(told.split()[-1]) == pytest.approx(90e-5, rel=2e-3)


def test_a_neuron_slides_where_it_must() -> None:
    """As in the limit of small weights, which finds the boundary exactly."""
    starts = [np.array([np.cos(t), np.sin(t)]) for t in np.linspace(0, 6.2, 40)]
    w, s = next((w, s) for w in starts for s in (1.0, -1.0)
                if align(MIXED, MIXED_LABELS, w, s).status == "sliding")  # fmt: skip
    path = flows.follow_own(MIXED, MIXED_LABELS, 1e-9 * w[None], np.array([s]))
    end = align(MIXED, MIXED_LABELS, w, s).end
    cosines = path.early[:, 0] @ end / np.linalg.norm(path.early[:, 0], axis=1)
    assert cosines.max() > 1.0 - 1e-4
    assert np.sum(np.arccos(np.clip(cosines, -1.0, 1.0)) < 0.01) > 5


def test_flows_that_do_not_come_to_the_end() -> None:
    X = np.array([[1.0, 0.2], [1.0, 0.2], [0.3, 1.0]])
    path = flows.follow_own(X, np.array([1.0, -1, 1]), 0.1 * np.eye(2), np.ones(2))
    assert path.status == flows.RESTS
    assert path.tau[-1] == pytest.approx(-np.log(2 * np.log(2)), abs=0.01)
    assert own_data.gap(X, np.array([1.0, -1, 1]), path.W[-1], path.a[-1]) != 0.0
    told = own_data.summary(own_data.train(given([[1, 2], [1, 2]], [1, -1], 4)))[""]
    assert told["KKT gap"] == "none, data are on the wrong side"
    own = experiment()
    assert flows.follow_own(own.X, own.y, own.W0, own.signs, 1e8).status == flows.SLOW


@pytest.mark.parametrize(("n", "d", "p"), [(1000, 30, 20), (20, 50, 12)])
def test_the_work_of_a_flow_is_bounded(n, d, p, monkeypatch) -> None:
    """On data that no hyperplane separates the flow is given up, one step past its bound at most;
    and no step is a large part of the bound that the page has."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
    k = p * (d + 1)
    step = 20.0 * (k * n + 2e5) + 2.0 * k**2 * (n + k)
    assert step < 0.1 * flows.MOST
    made, smoothed = list[Any](), flows.Smoothed
    monkeypatch.setattr(flows, "Smoothed", lambda *of: made.append(smoothed(*of)) or made[-1])
    W0 = 0.05 * rng.standard_normal((p, d)) / d**0.5
    path = flows.follow_own(X, y, W0, np.where(np.arange(p) % 2, 1.0, -1.0), 2e8)
    assert path.status == flows.SLOW
    assert -step <= made[0].left[0] < 0.0


@pytest.mark.parametrize("scale", [0.1, 1e-12])
@pytest.mark.parametrize(
    ("X", "y", "W", "end"),
    [([[1, 0], [0, 1]], [1, -1], [[1, 1], [2, 1]], [1, 0]),
     ([[1, 0], [-1, 0], [0, 1]], [1, 1, -1], [[1, 0.5], [-1, 0.5]], [1, 0]),
     ([[1, 1], [-1, 2]], [1, -1], [[0, 1], [1, 3]], [2, 1])],
)  # fmt: skip
def test_a_neuron_stays_on_the_boundary_of_a_datum_that_none_sees(X, y, W, end, scale, monkeypatch):
    """At a right angle to the last datum, between two opposite ones, and held there by its pull."""
    runs, plain = list[str](), flows._run
    monkeypatch.setattr(flows, "_run", lambda *of: runs.append(of[0].clock) or plain(*of))
    X, y = np.array(X, float), np.array(y, float)
    path = flows.follow_own(X, y, scale * np.array(W, float), np.ones(2), 1e9)
    assert (path.status, len(runs)) == (flows.FOLLOWED, 4)
    assert path.kept.tolist() == [True] * (len(X) - 1) + [False]
    assert path.tau[-1] == pytest.approx(1e6, rel=1e-5)
    u = path.W[-1, 0] / np.linalg.norm(path.W[-1, 0])
    assert u == pytest.approx(np.array(end) / np.linalg.norm(end), abs=2e-3)


def test_what_hangs_on_the_width_of_a_boundary_is_not_told() -> None:
    """The neuron grows at a right angle to the second datum, and w_2 = -0.2 stays; its cosine tends
    to 0 from below, into a boundary of any width: it was "followed" to an end at (1, 1)."""
    path = flows.follow_own(np.eye(2), np.ones(2), np.array([[0.5, -0.2]]), np.ones(1))
    assert path.status == flows.UNTOLD


def test_a_flow_beside_walls_is_followed_to_the_loss_that_it_tells() -> None:
    """Two walls turn the neuron; the clock, which counts what they push, is a quarter ahead."""
    X = np.array([[-0.942, 1.078, 1.135], [-1.131, 1.359, 1.031], [-0.695, -0.174, 1.686]])
    W = 1e-12 * np.array([[0.361, -0.513, 0.870], [-0.087, 0.981, -0.678]])
    path = flows.follow_own(X, np.array([1.0, -1, -1]), W, np.ones(2), 4e9)
    assert (path.status, path.kept.tolist()) == (flows.FOLLOWED, [True, False, False])
    assert path.tau[-1] == pytest.approx(1e6, rel=1e-5)


def test_the_walls_of_a_flow_are_in_its_derivative() -> None:
    own = given(MIXED, MIXED_LABELS, 4, 1.0)
    loss = flows.Walled(**vars(LOGISTIC), walls=np.zeros(5))
    whole = flows.Smoothed(Neurons(own.signs, 2), loss, MIXED, MIXED_LABELS)
    flow = whole.of(np.array([True, True, True, False, True]))
    z = flow.chart.along(np.vstack([own.W0[:3], [-1.0, 2.0005]]), np.full(4, 0.3))
    active = np.ones((5, 4))
    numeric = approx_fprime(z, lambda v: flow.velocity(v, active), 1e-8)
    np.testing.assert_allclose(flow.jacobian(z, active), numeric, atol=1e-3 * np.abs(numeric).max())


def test_the_gap_is_that_of_chapter_five() -> None:
    """0 at a KKT point, and the residual of `margin.kkt` at another point."""
    u, z = np.array([1.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0])
    W, a = point(PLANE, LABELS, u, z)
    assert own_data.gap(PLANE, LABELS, 3.0 * W, 3.0 * a) < 1e-7
    rng = np.random.default_rng(0)
    for _ in range(5):
        V = W + 0.1 * rng.standard_normal(W.shape)
        b = np.array([1.0, 1.0, -1.0]) * np.linalg.norm(V, axis=1)
        theta = np.append(V.ravel(), b)
        known = kkt(fully_connected([2, 3]), theta, PLANE, LABELS)
        if np.sum(known.margins < 1.02) == 1:  # else a hundredth counts as equal
            assert own_data.gap(PLANE, LABELS, V, b) == pytest.approx(known.residual, rel=1e-6)
    assert np.isnan(own_data.gap(PLANE, -LABELS, W, a))


def test_a_neuron_on_data_of_the_other_label_alone_does_not_live() -> None:
    """The plane's data have their label as the sign of their first coordinate; and neurons whose
    squared length no float holds have no rays."""
    trained = own_data.train(experiment(width=8, scale=0.01))
    for size, living, rays in ((1.0, 8, 2), (-1.0, 0, 0), (1e-200, 0, 0)):
        W = np.zeros((1, 8, 2))
        W[0, :, 0] = size * trained.own.signs
        there = replace(trained, path=replace(trained.path, W=W))
        assert own_data.summary(there)[""]["neurons that live"] == f"{living} of 8"
        assert len(own_data.rays(there)) == rays


def test_a_network_that_dies_and_data_without_a_vector() -> None:
    silent = replace(given(PLANE, LABELS, 2), W0=np.array([[0.26, -0.97], [0.27, -0.96]]))
    trained = own_data.train(silent)
    assert own_data.summary(trained)[""]["neurons that live"] == "0 of 2"
    assert own_data.rays(trained).empty
    assert svg(figures.training(trained))
    other = own_data.train(given([[1, 0], [-1, 0], [0, 1]], [1, 1, -1], 6))
    assert other.goal is None
    assert own_data.summary(other)[""]["distance of (8)"] == "no w₊ or w₋"
    assert other.cosines(1.0).shape[1] == 0


@pytest.mark.filterwarnings("error")
def test_descent_of_one_epoch_and_one_that_kills_all() -> None:
    short = own_data.train(replace(experiment(width=4), optimiser="sgd", epochs=1))
    assert own_data.summary(short)[""]["the training"] == "1 epoch of minibatches"
    own, path = short.own, short.path  # six data are one minibatch, and their mean the loss
    a = own.signs * np.linalg.norm(own.W0, axis=1)
    dW, da = velocity(own.X, own.y, own.W0, a)
    assert path.W[-1] == pytest.approx(own.W0 + 0.1 * dW / 6.0)
    assert path.a[-1] == pytest.approx(a + 0.1 * da / 6.0)
    outputs = np.maximum(own.X @ path.W[-1].T, 0.0) @ path.a[-1]
    assert path.tau[-1] == pytest.approx(-np.log(np.log1p(np.exp(-own.y * outputs)).sum()))
    assert path.clock.tolist() == [0.0, 1.0]
    long = given([[900, 300], [-500, 200]], [1, -1], 10, 0.05)
    dead = own_data.train(replace(long, optimiser="sgd", epochs=50))
    assert set(own_data.rays(dead).dtypes) == {np.dtype(object)}
    assert svg(figures.training(dead))


def test_few_data_of_the_page_have_both_labels() -> None:
    for seed in range(20):  # so few that a label is often missing
        y = own_data.data("section-5.1", 2, 4, np.random.default_rng(seed))[2]
        assert set(y.tolist()) == {1.0, -1.0}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"dataset": "section-5.2"}, 'did you mean "section-5.1"'),
        ({"width": 50}, 'parameter "width": the flow of 50 neurons on 500 data .* or "sgd"'),
        ({"dataset": "plane", "width": 200}, None),
        ({"n": 1000, "width": 21}, r"width n <= 20000"),
        ({"n": 500, "epochs": 2501}, "from 1 to 2 500"),
        ({"n": 1000, "width": 20}, None),
        ({"dataset": "x1,x2,y\n1,2,1\n0,0,-1\n"}, r"my.csv, data row 2 .* has the length 0"),
        ({"dataset": "x1,x2,y\n1,2,1\n5000,0,-1\n"}, r"my.csv, data row 2 .* length 5e\+03"),
        (
            {"dataset": "x1,x2,y\n1,2,1\n"},
            '"my.csv": the page takes 2 to 1000 data, not 1',
        ),
        ({"dataset": "x1,x2,y\n1,2,1\n2,2,1\n"}, 'dataset "my.csv" has no datum with the label -1'),
    ],
)
def test_what_does_not_fit(changed: dict[str, Any], told: str | None, tmp_path: Path) -> None:
    values = {**DEFAULTS, "dataset": "section-5.1", "effort": 1.0, **changed}
    if "\n" in (table := values["dataset"]):
        values["dataset"] = str(tmp_path / "my.csv")
        (tmp_path / "my.csv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=told) if told else nullcontext() as caught:
        own_data.of_parameters(check(values, PARAMETERS))
    assert not told or "\n" not in str(caught.value)
