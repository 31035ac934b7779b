"""Equations (15)-(16): from some time on the two groups are linear networks on their own data."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.phuong2021inductive.long_flow import Late, patterns
from reluflow.papers.phuong2021inductive.start_draws import Survey

CLOSE = 1e-3
"""How near linear networks must come to the groups of the full flow: both are followed at 1e-6."""
_HORIZON = 100.0


def settles(each: Late) -> float:
    """log10(1/L) behind which no pattern changes any more, at most that of the end."""
    last = patterns(each)[-1][0]
    if last <= each.begun:
        return float(each.tau[0] / np.log(10.0))
    leg = each.path.legs[-1]
    return float(np.exp(leg.t[0] + last - each.begun) / np.log(10.0))


def groups_are_clean(each: Late) -> bool:
    """Whether every neuron ends dead, or active on all data of its label and on no other."""
    own = each.given.y[:, None] == each.given.signs
    active = patterns(each)[-1][1]
    return bool(np.all(np.all(active == own, axis=0) | ~active.any(axis=0)))


def linear_group(each: Late, sign: float) -> float:
    """How far a linear network that is trained on the data of one label alone, from where the
    group is at L = e^-2, is from the group after 100 units of time: largest difference of
    directions and log norms."""
    field = cast(GradientFlow, each.path.legs[0].field)
    chart = cast(Neurons, field.chart)
    U, R = chart.split(each.path.legs[0].end)
    mine = each.own(sign)
    kept = each.given.y == sign
    linear = Neurons(each.given.signs[mine], chart.d, leak=1.0)
    alone = GradientFlow(linear, each.given.loss, each.given.X[kept], each.given.y[kept], TIME)
    end = integrate(alone, linear.along(U[mine], R[mine]), _HORIZON, rtol=1e-6).end
    whole = integrate(field, each.path.legs[0].end, _HORIZON, at_zero=0.0, rtol=1e-6).end
    return _difference(linear.split(end), chart.split(whole), mine)


def _difference(
    found: tuple[NDArray, NDArray], whole: tuple[NDArray, NDArray], mine: NDArray
) -> float:
    U, R = whole[0][mine], whole[1][mine]
    return float(max(np.abs(found[0] - U).max(), np.abs(found[1] - R).max()))


def groups_become_linear(survey: Survey) -> list[Evidence]:
    """os.eq15-16: from some time T on no pattern changes, and each group moves as a linear network
    trained on the data of its label alone (eqs 15, 16)."""
    early = [each for each in survey.found if settles(each) <= each.tau[0] / np.log(10.0)]
    gaps = [linear_group(each, sign) for each in early for sign in each.alive]
    tried = len(survey.found)
    return [
        fact("flows that end with a neuron active on some, not all, of its data or on others",
             sum(not groups_are_clean(each) for each in survey.found), 0, tried=tried),
        fact("flows with a change of pattern past log10(1/L) = 1000",
             sum(settles(each) > 1000.0 for each in survey.found), 0, tried=tried),
        note("flows without a change once every label's loss is below e^-2", len(early)),
        bound("largest distance of a linear network from its group, t = 100 later",
              max(gaps, default=np.nan), "<=", CLOSE, "", digits=2),
        *survey.followed,
    ]  # fmt: skip
