"""A linear network on whose flow both data are right, and L does not go to 0."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from reluflow.papers.vardi2022margin import tables


def left_by(b: str) -> int:
    """-1, 1 or 0 as the flow from w = v = (2, b) leaves the strip below, above, or not by t = 80:
    Heun's method on four parameters, 40 digits, each patch by itself."""
    with mpmath.workdps(40):
        patches = [mpmath.matrix(rows) for rows in ([[1, -1], [-1, 0]], [[0, 0], [0, 1]])]
        w = v = mpmath.matrix([2, mpmath.mpf(b)])
        h = mpmath.mpf("0.02")

        def rate(w, v):  # type: ignore[no-untyped-def]
            pulls = [1 / (1 + mpmath.exp((v.T * A * w)[0])) for A in patches]
            turn = [c * (A.T * v) for c, A in zip(pulls, patches, strict=True)]
            rise = [c * (A * w) for c, A in zip(pulls, patches, strict=True)]
            return turn[0] + turn[1], rise[0] + rise[1]

        for _ in range(4000):
            dw, dv = rate(w, v)
            ew, ev = rate(w + h * dw, v + h * dv)
            w, v = w + h / 2 * (dw + ew), v + h / 2 * (dv + ev)
            if not 0 < w[1] < mpmath.mpf("0.25"):
                return 1 if w[1] > 0 else -1
    return 0


def test_flows_beside_the_one_that_stays_leave_by_both_edges() -> None:
    assert [left_by(b) for b in ("0.0727", "0.0728")] == [-1, 1]
    b, loss, theta = tables._between()
    assert 0.0727 < b < 0.0728
    assert theta[:2] == pytest.approx(theta[2:])
    assert np.log(2.0) < loss < 0.7


@pytest.mark.parametrize(
    ("name", "value", "failing"),
    [
        ("A", 1, tables.edges_lead_out),
        ("EDGE", Fraction(9, 10), tables.edges_lead_out),
        ("EDGE", Fraction(1), tables.enters_below_one),
        ("EDGE", Fraction(2), tables.loss_is_large),
    ],
)
def test_another_strip_is_refused(name, value, failing, monkeypatch) -> None:
    assert failing()
    monkeypatch.setattr(tables, name, value)
    assert not failing()
