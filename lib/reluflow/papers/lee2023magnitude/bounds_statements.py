"""Theorems 3.3, 3.4, 3.8 and 3.9, and what is true instead, as statements for `falsify`.

An instance is a start "psi0", "rho0" in the coordinates log tan(phi/2) and log(|w|/|w*|), the
teacher's size "target" and the number "m" of factors. A bound is tried at all points of the orbit,
which resolve the first moments and the last. The flow is taken from its closed form (`orbit`), so
thousands of starts cost seconds; `orbit_evidence` holds that form against the integrated flow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from reluflow.falsify import Draw, Statement
from reluflow.flows.orbit import Orbit, orbits
from reluflow.flows.population import pull
from reluflow.papers.lee2023magnitude import bounds
from reluflow.papers.lee2023magnitude.comparison import implicit_printed, level

Item = Mapping[str, NDArray]

NOISE = 1e-11
"""Relative rounding error of a magnitude or an angle; a slack below it is not told."""

FAR = 14.0
"""Beyond, phi_0 as a number keeps no digits of its distance to pi."""


@dataclass(frozen=True)
class Flow:
    """The balanced flow of one start: times t > 0, psi = log tan(phi/2), magnitude v, all (n,)."""

    t: NDArray
    psi: NDArray
    v: NDArray
    phi0: float
    v0: float
    target: float
    m: int

    @property
    def phi(self) -> NDArray:
        """The angle pi - angle(w, w*), shape (n,)."""
        return 2.0 * np.arctan(np.exp(self.psi))

    @property
    def theta(self) -> NDArray:
        """The angle between w and w*, shape (n,), with all its digits where it is small."""
        return 2.0 * np.arctan(np.exp(-self.psi))

    @property
    def smallest(self) -> float:
        """The infimum of |w(t)|, less a part in 500 at a dip, where it is interpolated.

        There v^(m+1) falls below (1 - eps) v*^(m+1), which grows. Between points rho is taken as a
        cubic in psi, with drho/dpsi = -pi/phi (e^((m+1) rho) - 1 + eps).
        """
        psi = np.append(np.log(np.tan(0.5 * self.phi0)), self.psi)
        phi, rho = 2.0 * np.arctan(np.exp(psi)), np.log(np.append(self.v0, self.v) / self.target)
        excess = np.exp((self.m + 1) * rho) - pull(phi)
        turn = np.flatnonzero((excess[:-1] > 0.0) & (excess[1:] <= 0.0))
        if not turn.size:
            return min(self.v0, self.target)
        ends = slice(turn[0], turn[0] + 2)
        dip = CubicHermiteSpline(psi[ends], rho[ends], -np.pi / phi[ends] * excess[ends])
        least = float(dip(np.linspace(*psi[ends], 65)).min())
        return min(self.v0, self.target, 0.998 * self.target * math.exp(least))

    @property
    def largest(self) -> float:
        """The supremum of |w(t)|: the magnitude never turns from growth to decay."""
        return max(self.v0, self.target)


def flows(items: Sequence[Item]) -> list[Flow]:
    """The flow of every instance."""
    psi0, rho0, target, m = (
        np.array([item[name] for item in items], float) for name in ("psi0", "rho0", "target", "m")
    )
    # The bounds take the number phi_0, so the orbit starts at that number, rounding and all.
    phi0 = 2.0 * np.arctan(np.exp(psi0))
    paths = orbits(np.log(np.tan(0.5 * phi0)), rho0, m)
    return [_flow(paths, k, float(phi0[k]), float(target[k]), int(m[k])) for k in range(len(items))]


def _flow(paths: Orbit, k: int, phi0: float, target: float, m: int) -> Flow:
    psi, v = paths.psi[k], target * np.exp(paths.rho[k])
    t = paths.s[k, 1:] / target ** (2 * m)
    return Flow(t, psi[1:], v[1:], phi0, float(v[0]), target, m)


def starts(layers: Sequence[int], largest: float = 12.0) -> dict[str, Draw]:
    """Draws of starts, rho_0 cut at `largest`: generic, phi_0 near 0 or pi, tiny and huge |w_0|."""
    ranges = {
        "generic": ((-2.0, 2.0), (-2.0, 2.0)),
        "phi_0 near 0": ((-12.0, -2.0), (-4.0, 4.0)),
        "phi_0 near pi": ((2.0, 10.0), (-4.0, 4.0)),
        "|w_0| tiny": ((-2.0, 4.0), (-15.0, -4.0)),
        "|w_0| huge": ((-2.0, 4.0), (4.0, 12.0)),
        "|w_0| = |w*|": ((-4.0, 8.0), (0.0, 0.0)),
    }

    def draw(psi: tuple[float, float], rho: tuple[float, float]) -> Callable:
        def one(rng: np.random.Generator) -> dict[str, NDArray]:
            return {
                "psi0": np.array(rng.uniform(*psi)),
                "rho0": np.array(min(rng.uniform(*rho), largest)),
                "target": np.array(10.0 ** rng.uniform(-1.0, 1.0)),
                "m": np.array(int(rng.choice(list(layers)))),
            }

        return one

    return {kind: draw(*pair) for kind, pair in ranges.items()}


_INSIDE: Mapping[str, Callable[[Item], bool]] = {
    "phi_0 and |w_0| in the range of floats": lambda item: bool(
        abs(item["psi0"]) <= FAR and abs(item["rho0"]) <= 16.0 and 0.01 <= item["target"] <= 100.0
    )
}


def _statement(
    says: str, layers: Sequence[int], slack: Callable[[Flow], float], **more: object
) -> Statement:
    """A statement on the flows of m in `layers`."""
    return Statement(
        says,
        more.pop("draws", None) or starts(layers),
        lambda item: slack(flows([item])[0]),
        {**_INSIDE, **more.pop("hypotheses", {})},
        batch=lambda items: np.array([slack(flow) for flow in flows(items)]),
        **more,
    )


def enclosed(v: NDArray, lower: NDArray, upper: NDArray) -> float:
    """The least distance of v (n,) to a bound, as a share of their gap.

    Moments at which rounding hides the sign do not count; NaN if none is left.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.minimum(v - lower, upper - v) / (upper - lower)
        told = np.abs(share) > NOISE * v / np.abs(upper - lower)
    return float(share[told].min()) if told.any() else np.nan


def magnitude() -> Statement:
    """Theorem 3.3, for t > 0 and 0 < phi_0 < pi."""
    return _statement(
        "Theorem 3.3",
        (0,),
        lambda f: enclosed(f.v, *bounds.magnitude_bounds(f.t, f.phi0, f.v0, f.target)),
    )


def small_magnitude_lower() -> Statement:
    """The lower half of eq. (8), for any |w_0| > 0."""

    def slack(f: Flow) -> float:
        return enclosed(f.v, bounds.small_magnitude_bounds(f.t, f.phi0, f.target)[0], 2.0 * f.v)

    return _statement("eq. (8), lower bound, any |w_0|", (0,), slack)


def two_layers() -> Statement:
    """Theorem 3.8 for m = 1, its explicit bounds."""
    return _statement(
        "Theorem 3.8, m = 1",
        (1,),
        lambda f: enclosed(f.v, *bounds.two_layer_magnitude_bounds(f.t, f.phi0, f.v0, f.target)),
    )


def layered() -> Statement:
    """Theorem 3.8 with the solutions of the comparison equation, on both sides of the branch."""
    return _statement(
        "Theorem 3.8 repaired",
        (2, 3, 4, 6),
        lambda f: enclosed(f.v, *bounds.layered_magnitude_bounds(f.t, f.phi0, f.v0, f.target, f.m)),
    )


BELOW_BRANCH = "the formula's argument at v_0 is below 1"
"""The hypothesis of Theorem 3.8 as printed: elsewhere it has no real value."""


def _below_branch(item: Item) -> bool:
    phi0 = 2.0 * np.arctan(np.exp(item["psi0"]))
    return bool(np.exp(item["rho0"]) < level(pull(phi0), 1.0, int(item["m"])))


def printed(side: str) -> Statement:
    """Theorem 3.8 as printed, its "lower" or its "upper" bound, where the formula has a value."""

    def slack(f: Flow) -> float:
        kappa = float(pull(f.phi0)) if side == "lower" else 1.0
        u = implicit_printed(f.t, f.phi0, f.v0, f.target, f.m, kappa)
        ends = (u, 2.0 * f.v) if side == "lower" else (np.zeros(len(u)), u)
        return enclosed(f.v, *ends)

    return _statement(
        f"Theorem 3.8 as printed, {side} bound",
        (2, 3, 4, 6),
        slack,
        hypotheses={BELOW_BRANCH: _below_branch},
    )


def _angles(f: Flow, least: NDArray, most: NDArray, fastest: float) -> float:
    """Smallest distance of log(pi - phi) to the logarithms of its bounds; an upper bound of phi
    that is no less than pi says nothing. Moments hidden by rounding do not count."""
    noise = NOISE * (1.0 + fastest * f.t)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        apart = np.log(np.stack([most / f.theta, np.where(least > 0.0, f.theta / least, np.inf)]))
    told = np.abs(apart) > noise
    return float(apart[told].min()) if told.any() else np.nan


def _within(f: Flow) -> float:
    r, R = f.smallest, f.largest
    most = bounds.gap_bounds(f.t, f.phi0, r, R, f.target, f.m)
    return _angles(f, *most, bounds.angle_rates(f.phi0, r, R, f.target, f.m)[1])


def one_layer_angle() -> Statement:
    """Theorem 3.4, with the closest r and R."""
    return _statement("Theorem 3.4", (0,), _within)


def small_angle() -> Statement:
    """Theorem 3.4, its special case, for |w_0| <= |w*|."""

    def slack(f: Flow) -> float:
        lower, _ = bounds.small_angle_bounds(f.t, f.phi0)
        # pi less the bound keeps its digits only where it is not small.
        most = np.where(f.theta > 1e-4, np.pi - lower, np.inf)
        return _angles(f, np.zeros(len(f.t)), most, 1.0)

    return _statement(
        "Theorem 3.4, its case |w_0| near 0, for all |w_0| <= |w*|",
        (0,),
        slack,
        draws=starts((0,), largest=0.0),
        hypotheses={"|w_0| <= |w*|": lambda item: bool(item["rho0"] <= 0.0)},
    )


def layered_angle() -> Statement:
    """Theorem 3.9, with the closest r and R."""
    return _statement("Theorem 3.9", (1, 2, 3, 4, 6), _within)
