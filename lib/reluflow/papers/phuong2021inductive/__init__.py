"""Phuong & Lampert 2021: two-layer ReLU networks on orthogonally separable data, to the limit."""
