"""The flow in closed form against the integrated flow, and against SymPy and mpmath."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import survey
from reluflow.flows.orbit import one_layer, orbits
from reluflow.flows.population import PopulationPath
from reluflow.ledger import Evidence, deviation, fact, note
from reluflow.papers.lee2023magnitude import closed_form_exact as exact
from reluflow.papers.lee2023magnitude.flow_bounds import RANGES
from reluflow.papers.lee2023magnitude.starts import Start, drawn

LAYERS = (0, 1, 2, 3, 5)


def closed_form(seed: int, count: int) -> list[Evidence]:
    """ma.ours.orbit: the flow in closed form, by SymPy, and against the integrated flow at `count`
    starts, with mpmath's integral at four of them."""
    rng = np.random.default_rng(seed)
    draws = list(drawn(LAYERS, RANGES, (-1.0, 1.0)).values())[:3]

    def measure(k: int) -> Mapping[str, float]:
        item, m = draws[k % 3](rng), LAYERS[k % len(LAYERS)]
        start = Start(float(item["psi"]), float(item["rho"]), m)
        path = orbits(start.psi, start.rho, m)
        chosen = np.arange(1, np.searchsorted(path.psi[0], max(start.psi, 0.0) + 5.0), 4)
        s, psi, rho = (column[0, chosen] for column in (path.s, path.psi, path.rho))
        flow = start.flow(s)
        row = {"apart": _apart(flow, psi, rho)}
        if k < 4:  # mpmath is slow
            half = len(s) // 2
            ends = ((start.psi, start.rho), (float(flow.psi[half]), float(flow.rho[half])))
            row["curve"] = exact.off_phase_curve(*ends, m)
        if m == 0:
            row["single"] = _apart(flow, *one_layer(s, start.psi, start.rho))
        return row

    found = survey(range(count), measure)
    return [
        fact("d/dt log(v sin φ / φ) + v^(2m)/2 vanishes along (9)-(10), by SymPy",
             exact.bernoulli(), True),
        fact("cot φ and v as given solve (6)-(7), by SymPy", exact.explicit(), True),
        deviation("phase curve with mpmath's integral, at a point of the integrated flow",
                  float(found.curve.max()), "relative"),
        deviation("angle and magnitude by quadrature, from the integrated flow",
                  float(found.apart.max()), ""),
        deviation("one layer, explicit in t: from the integrated flow",
                  float(found.single.max()), ""),
        note("starts", count),
        note("seed", seed),
    ]  # fmt: skip


def _apart(flow: PopulationPath, psi: NDArray, rho: NDArray) -> float:
    """The largest distance of psi and rho from the flow's; late changes are known in proportion to
    the time waited for them."""
    m = flow.layers.shape[1]
    waited = 1.0 + flow.t * np.exp((m - 1) * flow.rho) * (1.0 + np.exp((m + 1) * flow.rho))
    return float((np.abs(np.stack([flow.psi - psi, flow.rho - rho])) / waited).max())
