"""Table 1 of Phuong & Lampert 2021: its network, and whether its sizes fit together."""

from __future__ import annotations

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
