"""Work against precision where a flow is not one neuron's: alignment, two layers.

Each problem has its true end, from closed forms in arithmetic with 40 digits, and
ways to it: one for each method and tolerance, which return an end and how often they evaluated.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from growth import Recorded
from mpmath import mp, mpf
from numpy.typing import NDArray
from peers import EVALUATIONS, GaveUp
from reluflow.flows.alignment import align
from reluflow.flows.charts import LOG_LOG, LOG_LOSS, Polar
from reluflow.flows.integrate import integrate, then
from reluflow.losses import EXPONENTIAL
from reluflow.networks.indexed import fully_connected
from scipy.integrate import solve_ivp

TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
METHODS = ("RK45", "DOP853", "LSODA", "Radau")
OURS = "this book"
BITS = 160
End = tuple[NDArray, int]
Ways = dict[tuple[str, float], Callable[[], End]]
_digits = np.vectorize(mpf, otypes=[object])
_root = np.vectorize(mp.sqrt, otypes=[object])


def problems(depths: tuple[float, ...]) -> Iterator[tuple[str, NDArray, Ways]]:
    """Name, the true end and the ways; flows of two layers go to the losses 10^-depth."""
    mp.dps = 40
    yield "alignment", *alignment()
    for depth in depths:
        yield f"two layers, 1e-{depth:.0f}", *two_layers(depth)


def alignment() -> tuple[NDArray, Ways]:
    """A direction, half as long again as its last event takes; labels 1, so that none slides."""
    rng = np.random.default_rng(0)
    X, u, y = rng.normal(size=(50, 5)), rng.normal(size=5), np.ones(50)
    u /= np.linalg.norm(u)
    at = 1.5 * align(X, y, u).time

    def velocity(_: float, u: NDArray) -> NDArray:
        b = (X @ u > 0.0) @ X
        return b - (b @ u) * u

    ways = by_scipy(velocity, None, u, at)
    ways[OURS, 0.0] = lambda: ((path := align(X, y, u)).at(at), len(path.events) + 1)
    return aligned(_digits(X), _digits(u), mpf(at)), ways


def aligned(X: NDArray, u: NDArray, left: mpf) -> NDArray:
    """The direction, from cell to cell: x.u(t) is a multiple of a quadratic in e^(|b| t)."""
    on = X @ u > 0
    while True:
        b = on.astype(int) @ X
        rate = mp.sqrt(b @ b)
        a, along, h = b @ u / rate, X @ b / rate, X @ u
        A, B, C = along * (1 + a), 2 * (h - a * along), along * (a - 1)
        root = _root(np.maximum(B * B - 4 * A * C, 0))
        E = ((-B + [root, -root]) / (2 * A)).ravel()
        E = np.where(1 + mpf(10) ** -30 >= E, mp.inf, E)
        k = int(np.argmin(E))
        q = min(mp.log(E[k]), rate * left)
        u = u + (mp.sinh(q) + a * (mp.cosh(q) - 1)) * b / rate
        u, left = u / mp.sqrt(u @ u), left - q / rate
        if left <= 0:
            return u.astype(float)
        on[k % len(X)] ^= True


def two_layers(depth: float) -> tuple[NDArray, Ways]:
    """Directions of six neurons, two to each of three orthogonal data, at the loss 10^-depth."""
    rng, network, to = np.random.default_rng(0), fully_connected([3, 6]), depth * np.log(10.0)
    lengths, turn = np.array([0.7, 1.0, 1.4]), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X, y, chart, own = lengths[:, None] * turn, np.ones(3), Polar(network), np.arange(6) // 2
    parts, v = 0.5 * np.abs(rng.normal(size=(6, 3))), 0.5 * np.abs(rng.normal(size=6))
    parts *= np.where(own[:, None] == np.arange(3), 1.0, -1.0)
    start = np.append(parts @ turn, v)

    def velocity(_: float, z: NDArray) -> NDArray:
        h = X @ z[:18].reshape(6, 3).T
        on = h > 0.0
        c = np.exp(-(h * on) @ z[18:])
        return np.append(((on * z[18:]) * c[:, None]).T @ X, c @ (h * on))

    def jacobian(_: float, z: NDArray) -> NDArray:
        c = np.exp(-network.output(z, X))
        bend, moves = network.turned(z, X, c, np.eye(24))
        return bend - (moves * c) @ moves.T

    def above(_: float, z: NDArray) -> float:
        return to + float(EXPONENTIAL.log_value(network.output(z, X), y))

    def ours(rtol: float) -> End:
        slow, fast = (Recorded(chart, EXPONENTIAL, X, y, clock) for clock in (LOG_LOSS, LOG_LOG))
        path = integrate(slow, chart.coordinates(start), 1.0, rtol=rtol)
        end = then(path, fast, np.log(to), rtol=rtol).end[:-1]
        return end, len(slow.asked) + len(fast.asked)

    above.terminal = True  # type: ignore[attr-defined]
    ways = by_scipy(velocity, jacobian, start, 1e300, above)
    ways |= {(OURS, rtol): partial(ours, rtol) for rtol in TOLERANCES}
    a, v = separate(_digits(lengths), _digits(parts[np.arange(6), own]), _digits(v), mpf(to))
    parts[np.arange(6), own] = a
    return np.append(parts @ turn, v), ways


@mp.workdps(26)
def separate(x: NDArray, a: NDArray, v: NDArray, to: mpf) -> tuple[NDArray, NDArray]:
    """The neurons' parts a along their own data, and v, where log(1/L) = `to`.

    In s, ds = e^-z dt, they are hyperbolic functions of |x| s. So dz/ds = 2 |x| sqrt(z^2 + |x|^2
    (S^2 - C^2)), S = sum (a^2 + v^2) / 2 and C = sum a v at the start, and the integral of e^z
    over it is t: the same for all data.
    """
    S, C = (a * a + v * v).reshape(3, 2).sum(axis=1) / 2, (a * v).reshape(3, 2).sum(axis=1)

    def output(k: int, log_t: mpf) -> mpf:
        def late(z: mpf) -> mpf:
            far, D = z - x[k] * C[k], x[k] ** 2 * (S[k] ** 2 - C[k] ** 2)
            ends = [r for r in (0, 1, 5, 20, 50) if r < far] + [min(far, mpf(100))]
            whole = mp.quad(lambda r: mp.exp(-r) / mp.sqrt((z - r) ** 2 + D), ends)
            return z + mp.log(whole / (2 * x[k])) - log_t

        return mp.findroot(late, log_t + mp.log(2 * log_t), tol=1e-20, verify=False)

    def short(log_t: mpf) -> mpf:
        return mp.log(sum(mp.exp(-output(k, log_t)) for k in range(3))) + to

    log_t = mp.findroot(short, to, tol=1e-20, verify=False)
    z = np.array([output(k, log_t) for k in range(3)]) / x
    E = np.repeat(_root((z + _root(z * z + S * S - C * C)) / (S + C)), 2)
    cosh, sinh = (E + 1 / E) / 2, (E - 1 / E) / 2
    return (a * cosh + v * sinh).astype(float), (v * cosh + a * sinh).astype(float)


def by_scipy(
    velocity: Callable, jacobian: Callable | None, z: NDArray, until: float, stop: object = None
) -> Ways:
    """`solve_ivp` by each method and tolerance; no end where it does not come to one."""

    def run(method: str, rtol: float) -> End:
        count = 0

        def counted(t: float, z: NDArray) -> NDArray:
            nonlocal count
            count += 1
            if count > EVALUATIONS:
                raise GaveUp
            return velocity(t, z)

        more = {"jac": jacobian} if jacobian and method in ("LSODA", "Radau") else {}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = solve_ivp(counted, (0.0, until), z, method, rtol=rtol,
                                  atol=1e-3 * rtol, events=stop, **more)  # fmt: skip
        except (GaveUp, ValueError, np.linalg.LinAlgError):
            return z * np.nan, count
        return found.y[:, -1] * (1 if found.status == (stop is not None) else np.nan), count

    return {(f"SciPy {m}", rtol): partial(run, m, rtol) for m in METHODS for rtol in TOLERANCES}
