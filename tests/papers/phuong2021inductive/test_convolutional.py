"""Appendix D of Phuong & Lampert 2021: its network, its record, and that its evidence can fail."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from reluflow.images import VARIABLE, digits, mnist, mnist_folder
from reluflow.networks.dense import one_thread
from reluflow.papers.phuong2021inductive import cnn, convolutional_record
from reluflow.papers.phuong2021inductive.cnn import all_recorded, recorded, shown, table
from reluflow.papers.phuong2021inductive.cnn import convolutional_shown_trained as trained_network
from reluflow.papers.phuong2021inductive.convolutional_record import AFTER, BEFORE, PAPER, READINGS
from reluflow.papers.phuong2021inductive.setting import ACROSS, MINUS, PLUS, pair_products

SHORT = replace(PAPER, epochs=2)


def failing(evidence):
    return {item.what for item in evidence if item.decides and not item.holds}


@pytest.fixture(scope="module")
def data():
    return convolutional_record.task(digits())


@pytest.fixture(scope="module")
def short(data):
    with one_thread():
        return trained_network(data, SHORT, 0, 2)


@pytest.fixture(scope="module")
def paper():
    return recorded("taken")


def test_labels_and_pixels(data):
    found = digits()
    rows = found.digit <= 1
    assert data.images.shape == (360, 1, 8, 8)
    np.testing.assert_array_equal(data.y > 0, found.digit[rows] == 1)
    np.testing.assert_allclose(data.images.numpy().reshape(360, 64), found.levels[rows] / 16.0)
    wide = convolutional_record.task(found, READINGS["pixels -1 to 1"]).images
    assert (float(wide.min()), float(wide.max())) == (-1.0, 1.0)
    some = data.some(7)
    assert list(some.y) == [1.0] * 7 + [-1.0] * 7
    assert torch.equal(some.images[0], data.images[np.flatnonzero(data.y > 0)[0]])


def test_a_run_is_its_seeds(data):
    with one_thread():
        runs = [convolutional_record.train(data, SHORT, seed, [0, 3]) for seed in (5, 5, 6)]
    a, b, c = (torch.cat([w.flatten() for w in run.weights]) for run in runs)
    assert torch.equal(a, b)
    assert not torch.allclose(a, c)
    assert [look.step for look in runs[0].looks] == [0, 3]
    first = runs[0].looks[0]
    assert np.isnan(first.loss)
    assert first.singular[0] < 0.06 < runs[0].looks[1].singular[0]


def test_looks_and_features_are_of_the_same_network(data):
    with one_thread():
        run = convolutional_record.train(data, SHORT, 0, [4])
        features = convolutional_record.layer_features(
            run.network, run.weights, data, [6, 7, 8], batch=7
        )
    found, X = run.looks[-1], features[1]
    hidden = np.maximum(features[0], 0.0)
    bias = run.weights[2 * convolutional_record.FIRST - 1].double().numpy()
    np.testing.assert_allclose(X, hidden @ run.first.T + bias, rtol=1e-3, atol=1e-5)
    for side, Z in ((found.before, X), (found.after, np.maximum(X, 0.0))):
        for kind, values in pair_products(Z, data.y).products.items():
            np.testing.assert_allclose(side.products[kind], values, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found.singular, np.linalg.svd(run.first)[1], rtol=1e-4)
    last = run.weights[-1].double().numpy()
    np.testing.assert_allclose(
        features[2][:, 0], np.maximum(X, 0.0) @ run.second + last, rtol=1e-3, atol=1e-5
    )


def test_readings_change_what_their_names_say(data):
    starts = {}
    for name, setting in READINGS.items():
        net = convolutional_record.network(8, setting.biases)
        starts[name] = net.start(np.random.default_rng(0), setting.scale, setting.bias_scale)
    taken = starts["taken"]
    assert not any(w.any() for w in starts["no biases"][1::2])
    for w, v in zip(taken[13::2], starts["biases times 0.05"][13::2], strict=True):
        torch.testing.assert_close(0.05 * w, v)
    torch.testing.assert_close(20.0 * taken[12], starts["nothing times 0.05"][12])
    assert {s.rate for s in READINGS.values()} == {1e-4, 1e-3, 1e-2}
    assert convolutional_record.Setting(50, 128, 0.05, 1e-3, "0 to 1", True, 1.0) == PAPER


@pytest.mark.parametrize(
    ("name", "setting", "seed"),
    [
        ("taken", PAPER, 0),
        ("taken-10-1", replace(PAPER, epochs=10), 1),
        ("rate 1e-4-5-0", replace(READINGS["rate 1e-4"], epochs=5), 0),
        ("pixels -1 to 1-5-2", replace(READINGS["pixels -1 to 1"], epochs=5), 2),
    ],
)
def test_a_name_says_reading_epochs_and_seed(name, setting, seed):
    assert convolutional_record.parsed(name) == (setting, seed)


def test_what_is_kept_is_what_was_found(data, short):
    with one_thread():
        run = convolutional_record.train(data, SHORT, 0, [0, 3, 6])
    assert short.steps.tolist() == [0, 3, 6]
    assert short.epochs.tolist() == [0, 1, 2]
    last = run.looks[-1]
    for side, pairs in ((BEFORE, last.before), (AFTER, last.after)):
        kept = short.whole["train"][side]
        assert kept.violating == sum(map(pairs.violations, pairs.products))
        assert kept.number == pairs.pairs == 360 * 359 // 2
        assert short.violated[side][-1] == pytest.approx(pairs.violated)
        assert kept.right[PLUS] == pytest.approx(pairs.right_of_across(PLUS), rel=1e-5)
        assert all(sum(kept.counts[k]) >= 0.99 * kept.pairs[k] for k in kept.pairs)
    np.testing.assert_allclose(short.singular, last.singular, rtol=1e-4)
    W = run.first
    top = np.linalg.svd(W, full_matrices=False)[2][:2]
    np.testing.assert_allclose(np.abs(short.plane), np.abs(W @ top.T), rtol=1e-3, atol=1e-5)
    assert json.loads(json.dumps(convolutional_record.summary(run, data, 0)))["images"] == 360


def test_a_network_of_two_kinds_of_neuron_has_separable_features():
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 30)
    X = y[:, None] * rng.uniform(0.1, 1.0, (30, 5))
    w = {sign: X[y == sign].mean(axis=0) for sign in (1.0, -1.0)}
    u, z = np.array([1.0, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 2.0, 0.3])
    features = X @ (np.outer(u, w[1.0]) + np.outer(z, w[-1.0])).T
    assert pair_products(features, y).violated == 0.0
    across = pair_products(np.maximum(features, 0.0), y).products[ACROSS]
    assert not across.any()


def test_the_record_is_of_the_papers_run(paper):
    assert (paper.setting, paper.seed, paper.images) == (PAPER, 0, 12665)
    assert paper.steps[-1] == 50 * 99
    assert paper.epochs[-1] == 50
    for side in (BEFORE, AFTER):
        kept = paper.whole["train"][side]
        assert kept.pairs == {PLUS: 6742 * 6741 // 2, MINUS: 5923 * 5922 // 2, ACROSS: 6742 * 5923}
        assert all(0 <= kept.violations[k] <= kept.pairs[k] for k in kept.pairs)
    assert len(paper.layers) == 8
    np.testing.assert_allclose(paper.spectra[-1], paper.singular[:12], rtol=1e-4)
    energy = np.linalg.norm(paper.plane, axis=0)
    np.testing.assert_allclose(energy, paper.singular[:2], rtol=1e-3)


def test_records_are_small():
    found = sorted(convolutional_record.FOLDER.glob("phuong2021inductive-cnn-*.json"))
    assert found
    for file in found:
        assert file.stat().st_size <= 150_000
        assert shown(json.loads(file.read_text(encoding="utf-8"))).steps[0] == 0


def test_all_readings_are_told_apart():
    runs = all_recorded()
    assert next(iter(runs)) == "taken, seed 0"
    assert (
        len(runs)
        == len(list(convolutional_record.FOLDER.glob("phuong2021inductive-cnn-*.json"))) - 1
    )
    found = table(runs)
    assert list(found.index) == list(runs)
    assert found.loc["taken, seed 0", "end"] == 50


@pytest.mark.long
def test_the_run_without_adam_comes_out_again(data):
    facts = json.loads(
        convolutional_record.file_of(convolutional_record.DIGITS).read_text(encoding="utf-8")
    )
    steps = [look["step"] for look in facts["looks"][:3]]
    with one_thread():
        run = convolutional_record.train(data, convolutional_record.DESCENT, facts["seed"], steps)
    for kept, found in zip(facts["looks"], run.looks, strict=False):
        np.testing.assert_allclose(found.singular[:12], kept["singular"], rtol=2e-3)
    kept = recorded(convolutional_record.DIGITS)
    assert kept.setting == convolutional_record.DESCENT
    assert kept.losses[-1] < 0.01


@pytest.mark.long
def test_the_first_recorded_steps_come_out_again():
    folder = mnist_folder()
    if folder is None:
        pytest.skip(f"MNIST is not on this machine: name its folder by {VARIABLE}")
    facts = json.loads(convolutional_record.file_of("taken").read_text(encoding="utf-8"))
    steps = [look["step"] for look in facts["looks"][:3]]
    data = convolutional_record.task(mnist(folder))
    with one_thread():
        run = convolutional_record.train(
            data, PAPER, facts["seed"], steps, data.some(convolutional_record.LOOKED)
        )
    for kept, found in zip(facts["looks"], run.looks, strict=False):
        np.testing.assert_allclose(found.singular[:12], kept["singular"], rtol=2e-3)
        if "loss" in kept:
            assert found.loss == pytest.approx(kept["loss"], rel=1e-3)
        for side, pairs in ((BEFORE, found.before), (AFTER, found.after)):
            counts = [pairs.violations(kind) for kind in (PLUS, MINUS, ACROSS)]
            np.testing.assert_allclose(counts, kept[side]["violations"], atol=0.002 * pairs.pairs)
            means = [pairs.mean(kind) for kind in (PLUS, MINUS, ACROSS)]
            np.testing.assert_allclose(means, kept[side]["means"], rtol=5e-3, atol=1e-4)


def test_table_1_and_that_another_padding_does_not_fit(monkeypatch):
    assert not failing(cnn.sizes_fit())
    wrong = replace(
        convolutional_record.network(28),
        convolutions=convolutional_record.network(27).convolutions[:-1],
    )
    monkeypatch.setattr(cnn, "network", lambda side: wrong)
    assert len(failing(cnn.sizes_fit())) == 2


def test_evidence_of_figure_3_can_fail(paper):
    before = paper.before()
    assert failing(cnn.layers_separate(paper, {})) == {_MOVES}
    assert not failing(cnn.other_moves(paper))
    turned = replace(paper, layers=_with_before(before[::-1]))
    assert len(failing(cnn.layers_separate(turned, {}))) == 2
    assert len(failing(cnn.other_moves(turned))) == 2
    told = _moving(before, {MINUS: 1.0, PLUS: 2.0, ACROSS: -1.0})
    assert not failing(cnn.layers_separate(replace(paper, layers=told), {}))
    for kind in (MINUS, PLUS, ACROSS):
        moves = {MINUS: 1.0, PLUS: 2.0, ACROSS: -1.0}
        one = replace(paper, layers=_moving(before, {**moves, kind: -moves[kind]}))
        assert failing(cnn.layers_separate(one, {})) == {_MOVES}
    low = replace(before[3], right={PLUS: 0.3, MINUS: 0.6})
    layers = [{BEFORE: p, AFTER: p} for p in (*before[:3], low, *before[4:])]
    assert len(failing(cnn.same_class_to_the_right(replace(paper, layers=layers)))) == 1
    whole = paper.whole["train"][BEFORE]
    many = replace(whole, violations={**whole.violations, ACROSS: whole.number // 50})
    train = {**paper.whole["train"], BEFORE: many}
    worse = replace(paper, whole={**paper.whole, "train": train})
    assert len(failing(cnn.nearly_separable(worse, {}))) == 1
    assert len(failing(cnn.nearly_separable(paper, {"another start": worse}))) == 1
    none = {BEFORE: replace(whole, violations=dict.fromkeys(whole.violations, 0))}
    clean = replace(paper, whole={**paper.whole, "train": {**paper.whole["train"], **none}})
    assert not failing(cnn.separable_features(clean, {"another start": clean}))
    one = "pairs that violate (OS), before the ReLU"
    assert failing(cnn.separable_features(paper, {"another start": clean})) == {one}
    assert len(failing(cnn.separable_features(clean, {"another start": paper}))) == 1


_MOVES = "units, of the two, in which either class moves right and the pairs across move left"


def _with_before(layers):
    return [{BEFORE: pairs, AFTER: pairs} for pairs in layers]


def _moving(layers, steps):
    """The layers with means that move by these steps, in any unit as the square is 1."""
    return _with_before(
        [replace(p, square=1.0, means={kind: k * step for kind, step in steps.items()})
         for k, p in enumerate(layers)]
    )  # fmt: skip


def _rays(rng):
    """128 neurons on two opposite rays, and their signs."""
    signs = np.where(np.arange(128) < 64, 1.0, -1.0)
    return np.outer(signs * rng.exponential(size=128), [1.0, 0.3]), signs


def test_evidence_of_figure_4_can_fail(paper):
    crisp = np.r_[1.0, 0.9, 1e-3 * np.ones(18)]
    assert not failing(cnn.few_singular_values(paper, {"another": paper}, crisp))
    assert len(failing(cnn.few_singular_values(paper, {}, np.ones(20)))) == 1
    for singular in (np.r_[1.0, 0.5, 0.01 * np.ones(126)], np.ones(128)):
        other = replace(paper, singular=singular)
        assert len(failing(cnn.few_singular_values(other, {}, crisp))) == 1
    assert cnn.clear(np.array([2.0, 1.0, 0.2, 0.19])) == 3
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [5.0, 1.0], [-4.0, 2.0]])
    plane = np.repeat(centres, 20, axis=0) + 0.1 * rng.standard_normal((60, 2))
    signs = np.r_[np.tile([1.0, -1.0], 10), np.ones(20), -np.ones(20)]
    ray = _rays(rng)
    assert not failing(cnn.three_clusters(replace(paper, plane=plane, second=signs), ray, 0))
    assert failing(cnn.three_clusters(paper, (plane, signs), 0)) == {
        "the same of the rays of Section 5.1"
    }
    for _ in range(5):
        drawn = dict(zip(("plane", "second"), _rays(rng), strict=True))
        found = failing(cnn.three_clusters(replace(paper, **drawn), ray, 0))
        assert found == {"silhouette of the three clusters"}
    near, (plus, minus) = cnn.clusters(plane, signs)
    assert (near.nonzero()[0].max(), plus.nonzero()[0].min(), minus.sum()) == (19, 20, 20)
    means = cnn.by_means(plane, signs, 3)
    np.testing.assert_array_equal([near, plus, minus], [means[0], *means[1]])
    same = np.r_[np.tile([1.0, -1.0], 10), np.ones(40)]
    assert len(failing(cnn.three_clusters(replace(paper, plane=plane, second=same), ray, 0))) == 1
    alone = np.r_[np.ones(40), -np.ones(20)]
    assert len(failing(cnn.three_clusters(replace(paper, plane=plane, second=alone), ray, 0))) == 1
