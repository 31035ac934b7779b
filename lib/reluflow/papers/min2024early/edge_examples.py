"""The two examples of Appendix E on a boundary: no solution (E.3), and too many (E.4).

x = (1, 0), one neuron w(0) = (0, 1), v(0) = 1, exponential loss: the neuron is orthogonal to the
datum. With w = (p, q) the flow is p' = y e^(-y v s(p)) v s'(p), q' = 0, v' = y e^(-y v s(p)) s(p).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853, cumulative_simpson, quad
from scipy.optimize import brentq

from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL
from reluflow.papers.min2024early import edge_exact

SLOPES = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
"""Values of s'(0) for which E.3 is tried; its argument needs only that s'(0) > 0."""

CHART = Neurons(np.ones(1), 2)


def velocity(p: NDArray, v: NDArray, label: float, at_zero: float) -> tuple[NDArray, NDArray]:
    """p' and v', of the shape of p and v."""
    slope = np.where(p > 0.0, 1.0, np.where(p < 0.0, 0.0, at_zero))
    pull = label * np.exp(-label * v * np.maximum(p, 0.0))
    return pull * v * slope, pull * np.maximum(p, 0.0)


def flow(label: float, at_zero: float | None, start: float = 0.0, until: float = 5.0) -> FlowPath:
    """The house's integrator from w = (start, 1), balanced; `at_zero` None for every s'(0)."""
    field = GradientFlow(CHART, EXPONENTIAL, np.array([[1.0, 0.0]]), np.array([label]), TIME)
    z = CHART.along([[start, 1.0]], 0.5 * np.log1p(start**2))
    return integrate(field, z, until, at_zero=at_zero, rtol=1e-10, method=DOP853)


def departure(points: int = 400, until: float = 8.0) -> tuple[NDArray, NDArray, NDArray]:
    """The path of the active side from p = 0, v = 1 (eq. 47), up to the time `until`: times, p and
    v.

    p = sinh s, v = cosh s, and the time is the integral of e^(p v) = e^(sinh(2 s) / 2).
    """
    s = np.linspace(0.0, 1.5, points)
    t = cumulative_simpson(np.exp(0.5 * np.sinh(2.0 * s)), x=s, initial=0.0)
    kept = t < until
    return t[kept], np.sinh(s[kept]), np.cosh(s[kept])


def loss_after(t: float) -> float:
    """The loss of `departure` at the time t."""

    def late(s: float) -> float:
        return float(quad(lambda r: np.exp(0.5 * np.sinh(2.0 * r)), 0.0, s, epsrel=1e-12)[0]) - t

    return float(np.exp(-0.5 * np.sinh(2.0 * brentq(late, 0.0, 2.0, xtol=1e-12))))


def departure_residual(end: float) -> float:
    """The residual of the integral equation along `departure` up to s = `end`, s'(0) = 0.

    By Gauss' rule, which does not touch p = 0: one moment more or less changes no integral.
    """
    nodes, weights = np.polynomial.legendre.leggauss(40)
    s = 0.5 * end * (1.0 + nodes)
    rates = velocity(np.sinh(s), np.cosh(s), 1.0, 0.0)
    dt = 0.5 * end * weights * np.exp(0.5 * np.sinh(2.0 * s))
    gaps = np.sinh(end) - rates[0] @ dt, np.cosh(end) - 1.0 - rates[1] @ dt
    return float(np.abs(gaps).max())


def resting_residual(label: float, at_zero: float, end: float) -> float:
    """The residual at t = `end` of the constant p = 0, v = 1."""
    rates = velocity(np.zeros(1), np.ones(1), label, at_zero)
    return float(np.abs(rates).max() * end)


def euler(step: float, at_zero: float, until: float) -> tuple[NDArray, NDArray]:
    """Explicit Euler polygon of E.3, y = -1: times and p, (k,)."""
    times = step * np.arange(round(until / step) + 1)
    p, v, found = np.zeros(1), np.ones(1), [0.0]
    for _ in times[1:]:
        dp, dv = velocity(p, v, -1.0, at_zero)
        p, v = p + step * dp, v + step * dv
        found.append(float(p[0]))
    return times, np.array(found)


def no_solution() -> list[Evidence]:
    """ea.E3: with s'(0) = a > 0 and y = -1 there is no Caratheodory solution; with s'(0) = 0 there
    is the constant one and no other (Appendix E.3)."""
    left = tuple(len(edge_exact.ways(-1, a)) for a in SLOPES)
    implicit = tuple(edge_exact.implicit_steps(-1, a) for a in SLOPES)
    ends = [edge_exact.euler_ends(SLOPES[1], Fraction(1, 10**k), 10) for k in (1, 2, 3)]
    rest = resting_residual(-1.0, float(SLOPES[1]), 1.0)
    return [
        fact("ways to leave p = 0 or to stay, for s'(0) = 1/4, 1/2, 1", left, (0, 0, 0)),
        fact("solutions p of an implicit Euler step, for the same", implicit, (0, 0, 0)),
        fact("with s'(0) = 0, the ways", edge_exact.ways(-1, Fraction(0)), ("stay",)),
        fact("s'(0) = 1/2: p after ten explicit steps of 1/10, 1/100, 1/1000",
             tuple(p for p, _ in ends), tuple(Fraction(-1, 2 * 10**k) for k in (1, 2, 3))),
        bound("their limit, the constant: residual of its integral equation at t = 1", rest, ">",
              0.0, ""),
        fact("what the integrator says for s'(0) = 1/2", flow(-1.0, 0.5).status, "sliding"),
        fact("and for s'(0) = 0", flow(-1.0, 0.0).status, "converged"),
    ]  # fmt: skip


def many_solutions() -> list[Evidence]:
    """ea.E4: with s'(0) = 0 and y = 1 the neuron may rest for ever, or leave at any time t_0
    (Appendix E.4, eq. 47)."""
    gaps = [departure_residual(end) for end in (0.25, 0.5, 1.0)]
    leaving = flow(1.0, 1.0, until=8.0)
    times, p, _ = departure()
    U, R = CHART.split(leaving.at(times))
    apart = np.abs(np.exp(R[:, 0]) * U[:, 0, 0] - p).max()
    return [
        fact("ways to go on from p = 0 with s'(0) = 0", edge_exact.ways(1, Fraction(0)),
             ("stay", "above")),
        fact("p = sinh s, v = cosh s, dt = eᵖᵛ ds solve the active side, as identities",
             edge_exact.departure_solves_the_equation(), True),
        bound("residual of the constant solution", resting_residual(1.0, 0.0, 8.0), "<=", 0.0, ""),
        bound("largest residual of the one that leaves, until s = 1/4, 1/2, 1", max(gaps), "<=",
              1e-9, ""),
        bound("the integrator's path of the active side, away from the closed form", float(apart),
              "<=", 1e-6, "", digits=2),
        fact("what the integrator says where s'(0) is not chosen", flow(1.0, None).status,
             "non-unique"),
        note("loss at t = 8 of the one that leaves at t_0 = 0; it stays 1 for the constant one",
             loss_after(8.0), digits=3),
    ]  # fmt: skip
