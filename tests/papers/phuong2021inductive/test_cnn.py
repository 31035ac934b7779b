"""Appendix D of Phuong & Lampert 2021: its network, its record, and what its claim is asked of."""

import json
from dataclasses import asdict, replace
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reluflow.falsify import falsify
from reluflow.images import VARIABLE, digits, mnist, mnist_folder
from reluflow.networks.torch_threads import one_thread
from reluflow.papers.phuong2021inductive import cnn

SHORT = replace(cnn.PAPER, epochs=2)


def test_a_start_without_biases_and_its_scale():
    plain = [replace(cnn.PAPER, biases=False, scale=scale) for scale in (1.0, 0.5)]
    nets = [cnn.started(setting, 8, np.random.default_rng(1)) for setting in plain]
    for k, (w, v) in enumerate(zip(*(net.parameters() for net in nets), strict=True)):
        layer, bias = divmod(k, 2)
        torch.testing.assert_close(v, 0.0 * w if bias else (0.5 if layer > 5 else 1.0) * w)
        assert v.requires_grad == (not bias)


@pytest.fixture(scope="module")
def data():
    return cnn.task(digits())


def test_looks_features_and_what_is_kept_are_of_one_network(data):
    with one_thread():
        net, looks = cnn.train(data, SHORT, 0, [0, 3, 6], data)
        features = cnn.layer_features(net, data, [6, 7, 8], batch=7)
    X, hidden = features[1], np.maximum(features[0], 0.0)
    first, (second,) = (cnn.weights(net, layer) for layer in (7, 8))
    bias, outer = (cnn.weighted(net)[k].bias.detach().double().numpy() for k in (6, 7))
    np.testing.assert_allclose(X, hidden @ first.T + bias, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(
        features[2][:, 0], np.maximum(X, 0.0) @ second + outer, rtol=1e-3, atol=1e-5
    )
    facts = {"setting": asdict(SHORT), "seed": 0, "looks": looks, **cnn.summary(net, data)}
    short = cnn.shown(json.loads(json.dumps(facts)))
    assert (short.steps.tolist(), short.epochs.tolist()) == ([0, 3, 6], [0, 1, 2])
    for side, Z in ((cnn.BEFORE, X), (cnn.AFTER, np.maximum(X, 0.0))):
        kept, pairs = short.whole[side], cnn.pair_products(Z, data.y)
        assert kept.means == pytest.approx(pairs.means, rel=1e-3, abs=1e-6)
        assert kept.number == 360 * 359 // 2
        assert short.violated[side][-1] == pytest.approx(kept.share)
    singular = np.linalg.svdvals(first)
    np.testing.assert_allclose(short.singular, singular, rtol=1e-4)
    np.testing.assert_allclose(short.spectra[-1], singular[:12], rtol=1e-4)
    top = np.linalg.svd(first, full_matrices=False)[2][:2]
    np.testing.assert_allclose(np.abs(short.plane), np.abs(first @ top.T), rtol=1e-3, atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("name", ["digits-adam", "digits-descent", "taken"])
def test_the_first_recorded_steps_come_out_again(name, data):
    if name == "taken":
        folder = mnist_folder()
        if folder is None:
            pytest.skip(f"MNIST is not on this machine: name its folder by {VARIABLE}")
        data = cnn.task(mnist(folder))
    facts = json.loads(cnn.SHELF.file(name).read_text(encoding="utf-8"))
    steps = [look["step"] for look in facts["looks"][:2] if look["step"] <= 60]
    setting = cnn.RECORDED[name][0]
    assert cnn.recorded(name).setting == setting
    sample = data.some(cnn.LOOKED)
    with one_thread():
        _, looks = cnn.train(data, setting, facts["seed"], steps, sample)
    for kept, found in zip(facts["looks"], looks, strict=False):
        np.testing.assert_allclose(found["singular"], kept["singular"], rtol=2e-3)
        assert found.get("loss", 0.0) == pytest.approx(kept.get("loss", 0.0), rel=1e-3)
        for side in (cnn.BEFORE, cnn.AFTER):
            counts = (each[side]["violations"] for each in (found, kept))
            np.testing.assert_allclose(*counts, atol=0.001 * len(sample.y) ** 2)


def test_pixels_may_be_standardised():
    wide = cnn.task(digits(), cnn.READINGS["pixels standardised"]).images
    assert float(wide.min()) == pytest.approx(-0.1307 / 0.3081)
    assert float(wide.max()) == pytest.approx(0.8693 / 0.3081)


def two_layers(spread, loss=0.0):
    """Six long neurons of either sign, whose norms have this deviation over their mean."""
    W = np.repeat([[1.0 - spread], [1.0 + spread]], 6, axis=0) * np.eye(1, 64)
    return cnn.Neurons(W, np.tile([1.0, -1.0], 6), loss)


def test_clusters_are_asked_of_trained_networks_on_all_images():
    """A start that stays untrained is left out, and not the others with it."""
    X, y = cnn.zeros_and_ones(digits())
    good, bad = ((k, {"Adam": two_layers(0.01), "plain descent": two_layers(spread)})
                 for k, spread in enumerate((0.3, 0.1)))  # fmt: skip
    lost = 2, {"Adam": two_layers(0.3, 0.02), "plain descent": two_layers(0.0)}
    for some, survives in (
        ([good], True), ([bad], False), ([bad, bad, good], False), ([good, good, bad, bad], False),
        ([good, good, bad], True), ([good, lost, lost], True), ([bad, lost], False),
    ):  # fmt: skip
        report = falsify(cnn.adam_makes_clusters(X, y, some), 0, 1, 0)
        assert (report.survives, report.tried) == (survives, 1)
    assert falsify(cnn.adam_makes_clusters(X, y, [lost]), 0, 1, 0).tried == 0
    assert falsify(cnn.adam_makes_clusters(X[1:], y[1:], [good]), 0, 1, 0).tried == 0
    assert cnn.measured([good, lost])[-1].value == 1


def test_the_start_that_does_not_make_rays():
    X, y = cnn.zeros_and_ones(digits())
    assert 0.18 < cnn.clusters_trained(X, y, "plain descent", 360).spread(1.0) < cnn.WIDE


def cost(P, rows):
    return sum(min(np.hypot(*(p - P[m])) for m in rows) for p in P)


@settings(max_examples=30)
@given(st.integers(3, 8), st.integers(0, 10**6), st.sampled_from([1e-9, 1.0, 1e6]))
def test_no_triple_is_better(n, seed, scale):
    P = scale * np.random.default_rng(seed).integers(-4, 5, (n, 2)).astype(float)
    rows, labels = cnn.three_medoids(P)
    best = min(cost(P, triple) for triple in combinations(range(n), 3))
    assert cost(P, rows) == pytest.approx(best)
    for p, label in zip(P, labels, strict=True):
        assert np.hypot(*(p - P[rows[label]])) <= min(np.hypot(*(p - P[m])) for m in rows)


few = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        arrays(float, (n, 3), elements=st.integers(-3, 3).map(float)),
        arrays(float, n, elements=st.sampled_from([-1.0, 1.0])),
    )
)


def by_kind(X, y):
    i, j = np.triu_indices(len(y), 1)
    products, same = (X[i] * X[j]).sum(axis=1), np.where(y[i] > 0, cnn.PLUS, cnn.MINUS)
    kinds = np.where(y[i] == y[j], same, cnn.ACROSS)
    return {kind: products[kinds == kind].tolist() for kind in (cnn.PLUS, cnn.MINUS, cnn.ACROSS)}


@given(few, st.integers(1, 5))
@settings(max_examples=30)
def test_all_pairs_one_at_a_time(drawn, rows):
    X, y = drawn
    X, y = np.vstack([X, np.eye(4, 3)]), np.r_[y, 1.0, 1.0, -1.0, -1.0]
    with patch.object(cnn, "_ROWS", rows):
        found = cnn.pair_products(X, y)
    expect = by_kind(X, y)
    assert found.square == pytest.approx(np.mean([x @ x for x in X]), rel=1e-5)
    for kind, values in expect.items():
        assert found.pairs[kind] == len(values)
        assert found.violations[kind] == sum(
            v > 0 if kind == cnn.ACROSS else v <= 0 for v in values
        )
        assert found.means[kind] * found.square == pytest.approx(np.mean(values), rel=1e-4)
        bins = found.square * np.linspace(*found.edges, 81)
        inside = sum(bins[0] - 4e-4 <= v <= bins[-1] + 4e-4 for v in values)
        assert sum(found.counts[kind]) == inside
    for kind in (cnn.PLUS, cnn.MINUS):
        wins = [(a > b) + (a == b) / 2 for a in expect[kind] for b in expect[cnn.ACROSS]]
        assert found.right[kind] == pytest.approx(np.mean(wins), rel=1e-5)
    least, most = (f(np.quantile(v, q) for v in expect.values()) / found.square
                   for f, q in ((min, 0.001), (max, 0.999)))  # fmt: skip
    assert found.edges == pytest.approx([least, most], rel=1e-4, abs=1e-9)
    assert found.number == sum(map(len, expect.values()))


@given(few, st.integers(1, 5))
@settings(max_examples=30)
def test_what_has_to_be_left_out_by_trying_all_subsets(drawn, rows):
    X, y = drawn
    with patch.object(cnn, "_ROWS", rows):
        low, high = cnn.left_out(X, y)
    n = len(y)

    def separable(kept):
        pairs = [(i, j, X[i] @ X[j]) for i in kept for j in kept if j <= i]
        return all(v > 0 if y[i] == y[j] else v <= 0 for i, j, v in pairs)

    least = min(out for out in range(n + 1) if any(map(separable, combinations(range(n), n - out))))
    assert low <= least <= high
    assert least > 1 or high == least
