"""Table 1 of Phuong & Lampert 2021: its network, and whether its sizes fit together."""

from __future__ import annotations

from math import prod

import pandas as pd

from reluflow.networks.convolutional import Convolution, ConvolutionalNetwork

CONVOLUTIONS = (
    Convolution(32, 3, 1, 1),
    Convolution(32, 3, 1, 1),
    Convolution(32, 5, 2, 2),
    Convolution(64, 3, 1, 1),
    Convolution(64, 3, 1, 1),
    Convolution(64, 5, 2, 2),
)
"""conv(n, k, s, p): n kernels of k x k pixels, stride s, p rows or columns of padding."""
PRINTED = (3136, 128)
"""What the first fully connected layer takes, and what it gives."""


def network(side: int, biases: bool = True) -> ConvolutionalNetwork:
    """Table 1's network for images of side x side pixels; the paper's have 28 x 28."""
    return ConvolutionalNetwork(CONVOLUTIONS, PRINTED[1], side, biases)


def sizes(net: ConvolutionalNetwork) -> pd.DataFrame:
    """A row a layer: the numbers of Table 1, what comes out of the layer, and its weights."""
    convolved = [f"conv({c.kernels}, {c.size}, {c.stride}, {c.padding})" for c in net.convolutions]
    shapes = net.shapes
    out = [f"{c.kernels} x {m} x {m}" for c, m in zip(net.convolutions, net.sides, strict=True)]
    return pd.DataFrame(
        {
            "layer": [*convolved, f"fc({net.flat}, {net.hidden})", f"fc({net.hidden}, 1)"],
            "gives": [*out, f"{net.hidden}", "1"],
            "weights": [prod(shape) for shape in shapes],
        },
        index=pd.Index(range(1, net.depth + 1), name="l"),
    )
