"""Appendix D of Phuong & Lampert 2021: its network, its record, and that its evidence can fail."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from reluflow.images import VARIABLE, digits, mnist, mnist_folder
from reluflow.networks.dense import one_thread
from reluflow.papers.phuong2021inductive import cnn
from reluflow.papers.phuong2021inductive.cnn import AFTER, BEFORE, PAPER, READINGS, recorded
from reluflow.papers.phuong2021inductive.cnn import convolutional_shown_trained as trained_network
from reluflow.papers.phuong2021inductive.setting import ACROSS, MINUS, PLUS, pair_products

SHORT = replace(PAPER, epochs=2)


def failing(evidence):
    return {item.what for item in evidence if item.decides and not item.holds}


@pytest.fixture(scope="module")
def data():
    return cnn.task(digits())


@pytest.fixture(scope="module")
def paper():
    return recorded("taken")


def test_looks_and_features_are_of_the_same_network(data):
    with one_thread():
        run = cnn.train(data, SHORT, 0, [4])
        features = cnn.layer_features(run.network, run.weights, data, [6, 7, 8], batch=7)
    found, X = run.looks[-1], features[1]
    hidden = np.maximum(features[0], 0.0)
    bias = run.weights[2 * cnn.FIRST - 1].double().numpy()
    np.testing.assert_allclose(X, hidden @ run.first.T + bias, rtol=1e-3, atol=1e-5)
    for side, Z in ((found.before, X), (found.after, np.maximum(X, 0.0))):
        for kind, values in pair_products(Z, data.y).products.items():
            np.testing.assert_allclose(side.products[kind], values, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found.singular, np.linalg.svd(run.first)[1], rtol=1e-4)
    last = run.weights[-1].double().numpy()
    np.testing.assert_allclose(
        features[2][:, 0], np.maximum(X, 0.0) @ run.second + last, rtol=1e-3, atol=1e-5
    )


def test_what_is_kept_is_what_was_found(data):
    with one_thread():
        short = trained_network(data, SHORT, 0, 2)
        run = cnn.train(data, SHORT, 0, [0, 3, 6])
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
    top = np.linalg.svd(run.first, full_matrices=False)[2][:2]
    np.testing.assert_allclose(np.abs(short.plane), np.abs(run.first @ top.T), rtol=1e-3, atol=1e-5)
    assert json.loads(json.dumps(cnn.summary(run, data, 0, {"train": data})))["images"] == 360


@pytest.mark.long
def test_the_run_without_adam_comes_out_again(data):
    facts = json.loads(cnn.SHELF.file(cnn.DIGITS).read_text(encoding="utf-8"))
    steps = [look["step"] for look in facts["looks"][:3]]
    with one_thread():
        run = cnn.train(data, cnn.DESCENT, facts["seed"], steps)
    for kept, found in zip(facts["looks"], run.looks, strict=False):
        np.testing.assert_allclose(found.singular[:12], kept["singular"], rtol=2e-3)
    kept = recorded(cnn.DIGITS)
    assert kept.setting == cnn.DESCENT
    assert kept.losses[-1] < 0.01


@pytest.mark.long
def test_the_first_recorded_steps_come_out_again():
    folder = mnist_folder()
    if folder is None:
        pytest.skip(f"MNIST is not on this machine: name its folder by {VARIABLE}")
    facts = json.loads(cnn.SHELF.file("taken").read_text(encoding="utf-8"))
    steps = [look["step"] for look in facts["looks"][:3]]
    data = cnn.task(mnist(folder))
    with one_thread():
        run = cnn.train(data, PAPER, facts["seed"], steps, data.some(cnn.LOOKED))
    for kept, found in zip(facts["looks"], run.looks, strict=False):
        np.testing.assert_allclose(found.singular[:12], kept["singular"], rtol=2e-3)
        if "loss" in kept:
            assert found.loss == pytest.approx(kept["loss"], rel=1e-3)
        for side, pairs in ((BEFORE, found.before), (AFTER, found.after)):
            counts = [pairs.violations(kind) for kind in (PLUS, MINUS, ACROSS)]
            np.testing.assert_allclose(counts, kept[side]["violations"], atol=0.002 * pairs.pairs)
            means = [pairs.mean(kind) for kind in (PLUS, MINUS, ACROSS)]
            np.testing.assert_allclose(means, kept[side]["means"], rtol=5e-3, atol=1e-4)


def test_evidence_that_layers_separate_can_fail(paper):
    def layered(each):
        return replace(paper, layers=[{BEFORE: pairs, AFTER: pairs} for pairs in each])

    def moving(**moves):  # means that move by these steps, in any unit as the square is 1
        steps = {MINUS: 1.0, PLUS: 2.0, ACROSS: -1.0} | moves
        return layered(
            [replace(p, square=1.0, means={kind: k * step for kind, step in steps.items()})
             for k, p in enumerate(before)]
        )  # fmt: skip

    before = paper.before()
    assert len(failing(cnn.other_moves(layered(before[::-1])))) == 2
    assert not failing(cnn.layers_separate(moving(), {}))
    moves = {"units, of the two, in which either class moves right and the pairs across move left"}
    for kind, wrong in ((MINUS, -1.0), (PLUS, -2.0), (ACROSS, 1.0)):
        assert failing(cnn.layers_separate(moving(**{kind: wrong}), {})) == moves


def test_evidence_that_features_are_separable_can_fail(paper):
    def with_violations(violations):
        train = {**paper.whole["train"], BEFORE: replace(whole, violations=violations)}
        return replace(paper, whole={**paper.whole, "train": train})

    whole = paper.whole["train"][BEFORE]
    worse = with_violations({**whole.violations, ACROSS: whole.number // 50})
    assert len(failing(cnn.nearly_separable(worse, {}))) == 1
    assert len(failing(cnn.nearly_separable(paper, {"another start": worse}))) == 1
    clean = with_violations(dict.fromkeys(whole.violations, 0))
    assert not failing(cnn.separable_features(clean, {"another start": clean}))
    assert len(failing(cnn.separable_features(clean, {"another start": paper}))) == 1


def test_a_task_keeps_labels_and_pixels(data):
    found = digits()
    rows = found.digit <= 1
    np.testing.assert_array_equal(data.y > 0, found.digit[rows] == 1)
    np.testing.assert_allclose(data.images.numpy().reshape(360, 64), found.levels[rows] / 16.0)
    wide = cnn.task(found, READINGS["pixels standardised"]).images
    assert float(wide.min()) == pytest.approx(-0.1307 / 0.3081)
    assert float(wide.max()) == pytest.approx(0.8693 / 0.3081)
    some = data.some(7)
    assert list(some.y) == [1.0] * 7 + [-1.0] * 7
    assert torch.equal(some.images[0], data.images[np.flatnonzero(data.y > 0)[0]])


def test_readings_change_what_their_names_say():
    net = cnn.network(8, READINGS["no biases"].biases)
    assert not any(w.any() for w in net.start(np.random.default_rng(0), 0.05, 1.0)[1::2])
    assert {s.rate for s in READINGS.values()} == {1e-4, 1e-3}
    assert cnn.Setting(50, 128, 0.05, 1e-3, "0 to 1", True, 1.0) == PAPER


def test_a_killed_record_goes_on_behind_its_last_epoch(monkeypatch, tmp_path):
    def killed(*given, training=cnn.training):
        yield from islice(training(*given), 3)
        raise KeyboardInterrupt

    def noted(*given, steps=cnn.minibatch_steps):
        for loss in steps(*given):
            seen.append(loss)
            yield loss

    seen: list[float] = []
    monkeypatch.setattr(cnn, "RECORDED", {cnn.DIGITS: (replace(cnn.DESCENT, epochs=4), 0)})
    monkeypatch.setattr(cnn, "APART", 1)
    whole = cnn.SHELF.at(cnn.DIGITS, 3, root=tmp_path / "whole").read(cnn.DIGITS)
    with monkeypatch.context() as patch:
        patch.setattr(cnn, "training", killed)
        with pytest.raises(KeyboardInterrupt):
            cnn.SHELF.at(cnn.DIGITS, 3, root=tmp_path)
    monkeypatch.setattr(cnn, "minibatch_steps", noted)
    again = cnn.SHELF.at(cnn.DIGITS, 3, root=tmp_path).read(cnn.DIGITS)
    assert {k for k in whole if whole[k] != again[k]} <= {"wall_s", "cpu_s"}
    assert len(seen) == 2 * cnn.steps_of(cnn.DESCENT, 360)  # two of four epochs had been kept
