"""One trajectory of several legs: the chart and the clock may change on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.flows.fields import Field, GradientFlow
from reluflow.flows.integrate import FlowPath, integrate


def then(path: FlowPath, field: GradientFlow, until: float, **options: Any) -> FlowPath:
    """Go on from the end of `path` with another chart or clock: one trajectory of several legs.

    Parameters: a path that came to its horizon or was stopped (any other one is returned as it
    is); the field to follow, `until` on its own clock, and the options of `integrate`. The clock
    runs on: the last leg's own clock value is t - t_switch + its value at the switch. States are
    in the coordinates of the last chart.
    """
    if path.status not in ("horizon", "stopped"):
        return path
    leg = integrate(field, _carried(path.end, path.field, field), until, **options)
    shift = path.t[-1] - leg.t[0]
    before = [_carried(z, path.field, field) for z in path.states[:-1]]
    legs = (*(path.legs or (path,)), leg)
    clocks = dict.fromkeys(one.field.clock for one in legs)
    return replace(
        leg,
        t=np.append(path.t, leg.t[1:] + shift),
        states=np.array([*before, *leg.states]),
        events=(*path.events, *(replace(e, t=e.t + shift) for e in leg.events)),
        clock=", then ".join(clocks),
        interpolant=_Joined(path, leg, shift),
        settled=leg.settled + shift,
        legs=legs,
    )


def _carried(z: NDArray, here: Field, there: Field) -> NDArray:
    """Coordinates z (k,) of one field's chart in another one's."""
    if not (isinstance(here, GradientFlow) and isinstance(there, GradientFlow)):
        raise InputError("only the gradient flow of a network has a chart to change.")
    if here.chart is there.chart:
        return z
    return there.chart.coordinates(*here.chart.parameters(z))


@dataclass(frozen=True)
class _Joined:
    """A path, and behind it a leg whose own clock is behind by `shift`."""

    path: FlowPath
    leg: FlowPath
    shift: float

    def __call__(self, t: NDArray) -> NDArray:
        early = t < self.path.t[-1]
        out = np.empty((len(t), self.leg.states.shape[1]))
        for k in np.nonzero(early)[0]:
            z = self.path.interpolant(t[k : k + 1])[0]
            out[k] = _carried(z, self.path.field, self.leg.field)
        out[~early] = self.leg.interpolant(np.maximum(t[~early] - self.shift, self.leg.t[0]))
        return out
