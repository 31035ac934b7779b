"""Propositions 3.1 and 3.6: the equations of w, of its magnitude and of its angle.

m is the number of factors v_1, ..., v_m besides w, phi = pi - angle(w, w*) and v = |w|. The teacher
is balanced: v_1* = ... = v_m* = |w*| = v*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import survey
from reluflow.flows.gaussian import imbalance, parameter_flow, quadrature_gradient
from reluflow.flows.half_angles import angle
from reluflow.flows.population import coordinates, population_flow, population_gradient
from reluflow.ledger import Evidence, deviation, fact, note
from reluflow.papers.lee2023magnitude.dynamics_exact import identities, turning_of_field


def vector_rate(w: ArrayLike, target: ArrayLike, m: int = 0) -> NDArray:
    """dw/dt of eq. (5), for m >= 1 of Proposition 3.6 (balanced, v = |w|):

        -1/2 v^(2m) w + 1/2 v^m v*^m (phi/pi w* + v*/v sin(phi)/pi w).

    Parameters: w and target (d,), not 0. Returns (d,).
    """
    w, target = np.asarray(w, float), np.asarray(target, float)
    v, best = float(np.linalg.norm(w)), float(np.linalg.norm(target))
    phi = angle(coordinates(w, target)[0])
    toward = (phi * target + best / v * np.sin(phi) * w) / np.pi
    return -0.5 * v ** (2 * m) * w + 0.5 * (v * best) ** m * toward


def magnitude_rate(v: ArrayLike, phi: ArrayLike, target: float, m: int = 0) -> NDArray:
    """dv/dt of (6), for m >= 1 of (9): -1/2 v^m (v^(m+1) - v*^(m+1) (sin phi - phi cos phi)/pi).

    Parameters: v and phi of one shape, target = v*. Returns that shape.
    """
    v, phi = np.asarray(v, float), np.asarray(phi, float)
    pull = (np.sin(phi) - phi * np.cos(phi)) / np.pi
    return -0.5 * v**m * (v ** (m + 1) - target ** (m + 1) * pull)


def angle_rate(v: ArrayLike, phi: ArrayLike, target: float, m: int = 0) -> NDArray:
    """dphi/dt of (7), for m >= 1 of (10): v^(m-1) v*^(m+1) phi sin(phi) / (2 pi).

    Parameters: v and phi of one shape, target = v*. Returns that shape.
    """
    v, phi = np.asarray(v, float), np.asarray(phi, float)
    return v ** (m - 1.0) * target ** (m + 1) * phi * np.sin(phi) / (2.0 * np.pi)


# --- Against the loss by quadrature ---------------------------------------------------------------


def field_errors(seed: int, count: int, m: int) -> pd.Series:
    """Largest relative distance of the quadrature's gradient from each formula, at `count` random
    weights of 2 to 6 dimensions, every fourth along +-w*.

    vector     the vector equation (5), for m >= 1 of Proposition 3.6
    magnitude  (6) or (9), for |w| and for every v_k
    angle      (7) or (10), from the part of the gradient across w
    general    the library's gradient in all parameters, where nothing is balanced
    """
    rng = np.random.default_rng(seed)

    def at(k: int) -> dict[str, float]:
        d = int(rng.integers(2, 7))
        w, target = rng.normal(size=(2, d)) * np.exp(rng.uniform(-1.0, 1.0, (2, 1)))
        if k % 4 == 0:
            w = rng.choice([-1.0, 1.0]) * np.exp(rng.uniform(-1.0, 1.0)) * target
        v, best = float(np.linalg.norm(w)), float(np.linalg.norm(target))
        phi = float(angle(coordinates(w, target)[0]))
        slope, slopes_v = quadrature_gradient(w, target, np.full(m, v), np.full(m, best))
        around = float(np.linalg.norm(slope @ w / v**2 * w - slope))
        free = np.exp(rng.uniform(-1.0, 1.0, (2, m)))
        pairs = zip(quadrature_gradient(w, target, *free),
                    population_gradient(w, target, *free), strict=True)  # fmt: skip
        return {
            "vector": _relative(-slope, vector_rate(w, target, m)),
            "magnitude": _relative(np.array([-(slope @ w) / v, *(-slopes_v)]),
                                   np.full(m + 1, magnitude_rate(v, phi, best, m))),
            "angle": abs(around - v * float(angle_rate(v, phi, best, m)))
            / max(1.0, float(np.linalg.norm(slope))),
            "general": max(_relative(a, b) for a, b in pairs if len(a)),
        }  # fmt: skip

    return survey(range(count), at).max()


def _relative(found: NDArray, expected: NDArray) -> float:
    """Largest difference, in units of the larger of 1 and the largest entry expected."""
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def flow_errors(seed: int, count: int, m: int) -> pd.Series:
    """Largest distances along flows of the quadrature's gradient to t = 6, from `count` random
    starts of 2 to 6 dimensions, |w*| = 1.

    system     from the flow of (6)-(7) or (9)-(10), in psi and rho
    balance    of v_k^2 - |w|^2 from its start
    imbalance  the same from factors that are out of balance, m >= 1
    """
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 6.0, 7)

    def along(_: int) -> dict[str, float]:
        d = int(rng.integers(2, 7))
        w0, target = rng.normal(size=(2, d))
        target /= np.linalg.norm(target)
        w0 *= np.exp(rng.uniform(-1.0, 0.5)) / np.linalg.norm(w0)
        w, v = parameter_flow(w0, target, np.full(m, np.linalg.norm(w0)), np.ones(m), t)
        psi, rho = coordinates(w, target)
        planar = population_flow(psi[0], rho[0], m, t)
        found = {
            "system": float(np.abs([psi - planar.psi, rho - planar.rho]).max()),
            "balance": imbalance(w, v),
        }
        if m:
            v0, target_v = np.exp(rng.uniform(-0.5, 0.5, (2, m)))
            found["imbalance"] = imbalance(*parameter_flow(w0, target, v0, target_v, t))
        return found

    return survey(range(count), along).max()


def _deviations(
    what: Mapping[str, str], seed: int, count: int, flows: int, layers: Sequence[int]
) -> list[Evidence]:
    """The largest errors over the layers, in the words of `what` {error: words}."""
    found = [pd.concat([field_errors(seed + m, count, m), flow_errors(seed + m, flows, m)])
             for m in layers]  # fmt: skip
    worst = pd.concat(found, axis=1).max(axis=1)
    return [deviation(words, float(worst[name]), "") for name, words in what.items()]


def one_layer_system(seed: int, count: int) -> list[Evidence]:
    """ma.prop3.1: (5)-(7) follow from the loss, and (5) has one solution (Proposition 3.1).

    By SymPy, by quadrature at `count` weights and along a tenth as many trajectories.
    """
    proved = identities(0)
    what = {
        "vector": "gradient by quadrature against (5)",
        "magnitude": "its part along w against (6)",
        "angle": "its part across w against (7)",
        "system": "vector flow against the flow of (6)-(7), in psi and rho",
    }
    return [
        fact("identities of (5)-(7) that follow from the loss (SymPy)", sum(proved.values()),
             len(proved)),
        fact("(5) is Lipschitz away from 0: its bent part turns by sin(φ)/π (SymPy)",
             turning_of_field() == 0, True),
        *_deviations(what, seed, count, max(count // 10, 1), (0,)),
        note("weights compared; every fourth along w* or -w*", count),
        note("seed", seed),
    ]  # fmt: skip


def layered_system(seed: int, count: int, layers: Sequence[int] = (1, 2, 3, 4)) -> list[Evidence]:
    """ma.prop3.6: (9)-(10) follow from the loss in all parameters, and balance is kept
    (Proposition 3.6).

    By SymPy, by quadrature at `count` weights for each m in `layers` and along trajectories.
    """
    proved = [holds for m in layers for holds in identities(m).values()]
    what = {
        "vector": "gradient by quadrature against the vector equation",
        "magnitude": "rates of |w| and of every v_k against (9)",
        "angle": "rate of φ against (10)",
        "system": "flow in all parameters against (9)-(10), in psi and rho",
        "balance": "|v_k² - |w|²| along balanced flows",
        "imbalance": "change of v_k² - |w|² along flows out of balance",
        "general": "gradient by quadrature against the closed form out of balance",
    }
    return [
        fact("identities that follow from the loss, m = 1..4 (SymPy)", sum(proved), len(proved)),
        *_deviations(what, seed, count, max(count // 40, 1), layers),
        note("weights compared for each m", count),
        note("m", tuple(layers)),
        note("seed", seed),
    ]
