"""t_2 of k equal data and one neuron along them, without an integrator.

With unit data, f = z = |w|^2 on each of them and the exponential loss, dz/dt = 2 k z e^(-z), so
that z comes from eps^2 to 1/4 in the time (Ei(1/4) - Ei(eps^2)) / (2 k).
"""

from __future__ import annotations

from flint import arb, ctx


def collinear_fall(n_plus: int, n_minus: int, log_eps: float, h: float) -> float:
    """t_2 / log(1/(sqrt(h) eps)) of n_plus data (1, 0) against n_minus data (-1, 0).

    That of the label with fewer data: the groups do not feel each other. Enclosed in ball
    arithmetic of 200 bits; Ei(eps^2) is Euler's constant plus 2 log eps plus less than 2 eps^2.
    Raises ValueError for a label without data and for eps above e^(-40).
    """
    fewer = min(n_plus, n_minus)
    if fewer < 1 or not log_eps < -40.0:
        raise ValueError("at least one datum of either label, and eps below e^(-40), are needed")
    bits, ctx.prec = ctx.prec, 200
    try:
        begins = arb.const_euler() + 2 * arb(log_eps) + arb(0, 2) * arb(2.0 * log_eps).exp()
        time = ((arb(1) / 4).ei() - begins) / (2 * fewer)
        return float((time / -(arb(log_eps) + arb(h).log() / 2)).mid())
    finally:
        ctx.prec = bits
