"""Paths of the angle and the magnitude of a neuron under a teacher, on a clock of time or steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.half_angles import angle
from reluflow.flows.trajectory import Trajectory

_LARGE = 700.0
"""Where exp is about to overflow."""


@dataclass(frozen=True)
class PopulationPath(Trajectory):
    """A path of angle and magnitude; its states (k, 2) are (psi, rho).

    t       (k,) times, or steps where `clock` is "steps"
    layers  (k, m) the factors v_1, ..., v_m; in the flow all are |w|
    target  |w*|
    """

    layers: NDArray
    target: float

    @property
    def psi(self) -> NDArray:
        """log tan(phi/2), shape (k,)."""
        return self.states[:, 0]

    @property
    def rho(self) -> NDArray:
        """log(|w| / |w*|), shape (k,)."""
        return self.states[:, 1]

    @property
    def phi(self) -> NDArray:
        """The angle pi - angle(w, w*), shape (k,)."""
        return angle(np.minimum(self.psi, _LARGE))

    @property
    def theta(self) -> NDArray:
        """The angle between w and w*, shape (k,), with all its digits where it is small."""
        return angle(np.minimum(-self.psi, _LARGE))

    @property
    def length(self) -> NDArray:
        """The magnitude |w|, shape (k,)."""
        return self.target * np.exp(self.rho)


@dataclass(frozen=True)
class _Recorded:
    """States (k, d) that are known at their knots t (k,) only."""

    t: NDArray
    states: NDArray

    def __call__(self, t: NDArray) -> NDArray:
        if not np.isin(t, self.t).all():
            raise ValueError("the path is known at its knots only")
        return self.states[np.searchsorted(self.t, t)]


def recorded_path(
    t: NDArray, psi: NDArray, rho: NDArray, layers: NDArray, target: float, clock: str
) -> PopulationPath:
    """A path that is known at its knots t (k,) only: psi and rho (k,), layers (k, m), |w*|."""
    states = np.column_stack([psi, rho])
    return PopulationPath(
        t=t,
        states=states,
        events=(),
        status="horizon",
        clock=clock,
        end=states[-1],
        detail=f"stopped after {t[-1]:g} ({clock})",
        interpolant=_Recorded(t, states),
        settled=float(t[-1]),
        layers=layers,
        target=float(target),
    )
