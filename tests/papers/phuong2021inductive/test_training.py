"""Minibatches; convolutional networks against PyTorch's modules, and their sizes by counting."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.phuong2021inductive.cnn import (
    Convolution,
    ConvolutionalNetwork,
    as_images,
    minibatch_steps,
)
from torch import nn

convolutions = st.builds(
    Convolution,
    kernels=st.integers(1, 3),
    size=st.integers(1, 4),
    stride=st.integers(1, 3),
    padding=st.integers(1, 3),
)
networks = st.builds(
    ConvolutionalNetwork,
    convolutions=st.lists(convolutions, min_size=1, max_size=3).map(tuple),
    hidden=st.integers(1, 4),
    side=st.integers(4, 7),
    biases=st.booleans(),
)


def modules(network, weights):
    """The same network made of PyTorch's layers; what comes out of each before the ReLU."""
    layers, channels = [], 1
    for c in network.convolutions:
        layers.append(nn.Conv2d(channels, c.kernels, c.size, c.stride, c.padding))
        channels = c.kernels
    layers += [nn.LazyLinear(network.hidden), nn.LazyLinear(1)]

    def features(x):
        found = []
        for k, layer in enumerate(layers):
            if k == len(network.convolutions):
                x = torch.flatten(x, 1)
            x = layer(x)
            found.append(x)
            x = torch.clamp(x, min=0.0)
        return found

    with torch.no_grad():
        features(torch.zeros(1, 1, network.side, network.side))
        for layer, w, b in zip(layers, weights[::2], weights[1::2], strict=True):
            layer.weight.copy_(w)
            layer.bias.copy_(b)
    return features


@settings(max_examples=25, deadline=None)
@given(networks, st.integers(0, 10**6))
def test_features_are_those_of_pytorchs_modules(network, seed):
    rng = np.random.default_rng(seed)
    weights = network.start(rng, 0.5, 2.0)
    images = as_images(rng.standard_normal((3, network.side**2)), network.side)
    found = network.features(weights, images)
    for ours, theirs in zip(found, modules(network, weights)(images), strict=True):
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(network.output(weights, images), found[-1].flatten())


@settings(max_examples=25, deadline=None)
@given(networks)
def test_sizes_by_counting(network):
    side = network.side
    for c, found in zip(network.convolutions, network.sides, strict=True):
        places = [k for k in range(side + 2 * c.padding) if k % c.stride == 0]
        assert found == sum(k + c.size <= side + 2 * c.padding for k in places)
        side = found
    weights = network.start(np.random.default_rng(0))
    assert [tuple(w.shape) for w in weights[::2]] == network.shapes


@given(st.booleans(), st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_a_start_is_pytorchs_with_the_last_two_layers_scaled(biases, scale, bias_scale):
    network = ConvolutionalNetwork((Convolution(8, 3, 1, 1),), 50, 6, biases)
    plain, scaled = (
        network.start(np.random.default_rng(1), *factors)
        for factors in ((1.0, 1.0), (scale, bias_scale))
    )
    for k, (w, v) in enumerate(zip(plain, scaled, strict=True)):
        factor = (1.0, 1.0, scale, bias_scale, scale, bias_scale)[k]
        torch.testing.assert_close(v, factor * w, rtol=1e-5, atol=1e-8)
        fan_in = (9, 9, 8 * 36, 8 * 36, 50, 50)[k]
        if k % 2 and not biases:
            assert not w.any()
        elif w.numel() > 1:
            assert 0.7 / fan_in**0.5 < float(w.abs().max()) <= (1.0 + 1e-6) / fan_in**0.5
    assert len(network.trained(plain)) == (6 if biases else 3)
    assert all(w.ndim > 1 for w in network.trained(plain)[:: 2 if biases else 1])


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="does not fit an image of 2 rows"):
        Convolution(1, 5, 1, 1).side(2)
    with pytest.raises(InputError, match='no device "abacus"'):
        as_images(np.zeros((1, 4)), 2, "abacus")


@pytest.mark.parametrize(("n", "batch"), [(10, 4), (9, 4), (12, 4), (3, 8), (1, 1)])
def test_an_epoch_takes_every_datum_once(n, batch):
    seen = []

    def loss(rows):
        seen.append(rows.tolist())
        return w.sum() * 0.0

    w = torch.zeros(2, requires_grad=True)
    steps = minibatch_steps(torch.optim.SGD([w], 1.0), loss, n, batch, np.random.default_rng(0))
    each = -(-n // batch)
    list(islice(steps, 2 * each))
    first, second = seen[:each], seen[each:]
    for epoch in (first, second):
        assert sorted(k for rows in epoch for k in rows) == list(range(n))
        assert [len(rows) for rows in epoch[:-1]] == [batch] * (each - 1)
    if n > 3:
        assert first != second


def test_images_keep_their_pixels_where_they_are():
    levels = np.arange(32.0).reshape(2, 16)
    images = as_images(levels, 4)
    assert images.shape == (2, 1, 4, 4)
    np.testing.assert_array_equal(images.numpy().reshape(2, 16), levels)
