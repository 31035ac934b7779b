"""Attempts to falsify a universally quantified claim: draw, minimise the slack, shrink.

A claim is a `Statement`: draws of instances, hypotheses as code, and a slack that is negative where
the conclusion fails. `falsify` draws instances of every kind in turn, rejects and counts those
outside the hypotheses, lets SciPy's Nelder-Mead simplex lower the slack from the worst of them, and
lets Hypothesis find the smallest readable instance that fails. An exception that a draw, a
hypothesis or a slack raises is never swallowed.
"""

from reluflow.falsify.attempt import Report, falsify, settle, survey, survived, table
from reluflow.falsify.statement import (
    PLANTED,
    Draw,
    Draws,
    Instance,
    Statement,
    extended,
    given,
    planted,
    statement,
)

__all__ = [
    "PLANTED",
    "Draw",
    "Draws",
    "Instance",
    "Report",
    "Statement",
    "extended",
    "falsify",
    "given",
    "planted",
    "settle",
    "statement",
    "survey",
    "survived",
    "table",
]
