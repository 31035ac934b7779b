"""The maximum-margin problem of a homogeneous network, where gradient flow ends."""
