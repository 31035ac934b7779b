"""The maximum-margin problem of a homogeneous network: where gradient flow ends, and whether that
is an optimum."""
