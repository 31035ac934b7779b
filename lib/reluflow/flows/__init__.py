"""Gradient flow and descent: the result type and the integrators."""
